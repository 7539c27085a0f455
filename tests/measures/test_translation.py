"""Names of other tools: our equivalents, and errors for names without one."""

from __future__ import annotations

import math
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import pytest

from gainful import Block, Evaluation, Measure, Policy, UsageError, evaluate, explain, parse
from gainful.kernel.arrays import Floats
from gainful.measures import catalog, names_ir_measures_ranx as ir_measures, names_trec_eval as trec_eval
from gainful.measures.catalog import MEASURES, SHORT_NAMES, parse_all, translation_of
from gainful.measures.names_trec_eval import TOOLS, Setting


def texts(name: str) -> list[str]:
    return [str(measure) for measure in parse_all(name)]


def said(text: str) -> str:
    with pytest.raises(UsageError) as caught:
        parse_all(text)
    return str(caught.value)


# -- trec_eval ---------------------------------------------------------------------------------------------------------

CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)

TREC_EVAL = {
    "num_q": ["NumQ"],
    "num_ret": ["NumRet"],
    "num_rel": ["NumRel"],
    "num_rel_ret": ["NumRelRet"],
    "num_nonrel_judged_ret": ["NumNonRelJudgedRet"],
    "map": ["AP"],
    "map_cut_10": ["AP@10"],
    "map_cut.5,10": ["AP@5", "AP@10"],
    "gm_map": ["GMAP"],
    "gm_bpref": ["GMBpref"],
    "bpref": ["Bpref"],
    "infAP": ["InfAP"],
    "recip_rank": ["RR"],
    "Rprec_mult_0.20": ["RprecMult@0.2"],
    "Rprec_mult.0.2,1.5": ["RprecMult@0.2", "RprecMult@1.5"],
    "iprec_at_recall_0.10": ["IPrec@0.1"],
    "iprec_at_recall.0.1,.25": ["IPrec@0.1", "IPrec@0.25"],
    "iprec_at_recall": [f"IPrec@{i / 10:g}" for i in range(11)],
    "11pt_avg": ["IAP"],
    "11pt_avg_.25,.5,.75": ["IAP(points=0.25-0.5-0.75)"],
    "P_5": ["P@5"],
    "P.5,10": ["P@5", "P@10"],
    "P.10,5": ["P@10", "P@5"],
    "recall_100": ["R@100"],
    "recall": [f"R@{k}" for k in CUTOFFS],
    "relative_P_5": ["RelP@5"],
    "success_5": ["Success@5"],
    "success": ["Success@1", "Success@5", "Success@10"],
    "unj": ["Unjudged@5", "Unjudged@10", "Unjudged@20"],
    "ndcg": ["nDCG"],
    "ndcg_1=3,2=9,4=4.5": ["nDCG(gain={0:0,1:3,2:9,3:3,4:4.5})"],
    "ndcg.1=3": ["nDCG(gain={0:0,1:3})"],
    "ndcg_cut_10": ["nDCG@10"],
    "ndcg_cut.10": ["nDCG@10"],
    "ndcg_cut": [f"nDCG@{k}" for k in CUTOFFS],
    "ndcg_rel": ["nDCGrel"],
    "Rndcg": ["RnDCG"],
    "dcg": ["DCG"],
    "ideal_dcg": ["idealDCG"],
    "set_P": ["SetP"],
    "set_recall": ["SetR"],
    "set_relative_P": ["SetRelP"],
    "set_map": ["SetAP"],
    "set_F": ["SetF"],
    "set_F_1": ["SetF"],
    "set_F_4": ["SetF(beta=2)"],
    "set_F.0.25": ["SetF(beta=0.5)"],
    "utility": ["Utility"],
    "utility_2,-1,0,0": ["Utility(a=2)"],
    "rbp": ["RBP(p=0.9, gain=linear, scale=query)"],
    "rbp_p=0.95": ["RBP(p=0.95, gain=linear, scale=query)"],
    "rbp_resid": ["RBPResidual(p=0.9)"],
}


@pytest.mark.parametrize(("theirs", "ours"), TREC_EVAL.items())
def test_names_of_trec_eval(theirs: str, ours: list[str]) -> None:
    assert texts(theirs) == texts(f"trec_eval:{theirs}") == texts(f" trec_eval: {theirs} ") == ours


@pytest.mark.parametrize("name", ["P", "G", "binG", "Rprec"])
def test_names_shared_with_trec_eval(name: str) -> None:
    """Without a prefix it is our measure; with one, trec_eval's."""
    assert texts(f"trec_eval:{name}") == ([f"P@{k}" for k in CUTOFFS] if name == "P" else [name])
    if name == "P":
        assert said("P").startswith("P: a cutoff is required")
    else:
        assert translation_of(name) is None


def test_every_name_of_the_tables_is_one_of_ours() -> None:
    known = [entry.ours for entry in (*trec_eval.NAMES.values(), *ir_measures.NAMES.values())]
    known += [name for entry in ir_measures.RANX_NAMES.values() for name in (entry.whole, entry.cut) if name]
    assert set(known) <= set(MEASURES)
    assert all(texts(f"trec_eval:{name}") for name in trec_eval.NAMES)


def test_names_in_trec_eval_read_back() -> None:
    for name, (whole, with_at) in trec_eval.trec_eval_forms().items():
        measure = MEASURES[name]
        if whole is not None:
            assert parse(f"trec_eval:{whole}") == measure() and trec_eval.trec_eval_name(measure()) == whole
        if with_at is not None:
            cut = measure.from_parameters({str(measure.at): 0.25 if "f" in with_at else 7})
            assert parse(trec_eval.trec_eval_name(cut) or "") == cut


def test_our_names_are_ours() -> None:
    assert [name for name in (*MEASURES, *SHORT_NAMES) if translation_of(name) or translation_of(f"{name}@10")] == []


def test_groups() -> None:
    official = texts("official")
    assert official[:4] == ["NumQ", "NumRet", "NumRel", "NumRelRet"]
    assert len(official) == 9 + 11 + 9
    assert set(official) | {"R@5", "nDCG@1000", "Unjudged@20", "RprecMult@1.4", "IAP"} <= set(texts("all_trec"))
    assert "SetF" in texts("set") and "AP" not in texts("set")
    without = set(texts("all_trec")) - set(texts("pytrec_eval:all_trec"))
    assert {text.split("@")[0].split("(")[0] for text in without} == {"RBP", "RBPResidual", "Unjudged"}


def test_several_instead_of_one() -> None:
    with pytest.raises(UsageError) as caught:
        parse("P.5,10")
    assert str(caught.value) == "measure: 'P.5,10' denotes 2 measures, not one\nhint: the first is P@5"


def test_repetitions_are_dropped_whatever_their_names() -> None:
    assert texts("AP") == ["AP"]
    assert [str(m) for m in parse_all(["AP", "map", "ranx:map", "P.5,10", "P@5", "ir_measures:MAP"])] == [
        "AP",
        "P@5",
        "P@10",
    ]


# -- pytrec_eval, ir_measures, ranx ------------------------------------------------------------------------------------

OTHERS = {
    "pytrec_eval:ndcg_cut_10": "nDCG@10",
    "pytrec_eval:set_F_4": "SetF(beta=2)",
    "pytrec_eval:utility": "Utility",
    "ir_measures:AP": "AP",
    "ir_measures:MAP@10": "AP@10",
    "ir_measures:AP(rel=1)": "AP",
    "ir_measures:AP(rel=2)@5": "AP(rel=2)@5",
    "ir_measures:P(judged_only=True, rel=2)@5": "P(rel=2, unjudged=condensed)@5",
    "ir_measures:P(cutoff=5)": "P@5",
    "ir_measures:P(cutoff=3)@5": "P@5",
    "ir_measures:Precision@5": "P@5",
    "ir_measures:nDCG": "nDCG",
    "ir_measures:NDCG@10": "nDCG@10",
    "ir_measures:nDCG(dcg='exp-log2')@10": "nDCG(gain=exp2)@10",
    "ir_measures:nDCG(dcg='log2', judged_only=False)@10": "nDCG@10",
    "ir_measures:nDCG(gains={1:1,2:10,4:100})@10": "nDCG(gain={0:0,1:1,2:10,3:3,4:100})@10",
    "ir_measures:IPrec@0.1": "IPrec@0.1",
    "ir_measures:IPrec@0.125": "IPrec@0.12",
    "ir_measures:RR(rel=2)@10": "RR(rel=2)@10",
    "ir_measures:INST(max_rel=3)": "INST(gain=0..3)",
    "ir_measures:NERR8(min_rel=1, max_rel=4)@10": "NERR8(gain=1..4)@10",
    "ntcireval:GAP": "GAP(gain=0-2-6-12-20-30-42-56-72)",
    "ir_measures:SetF(beta=4.0)": "SetF(beta=2)",
    "ir_measures:SetP(relative=True)": "SetRelP",
    "ir_measures:SetRelP": "SetRelP",
    "ir_measures:SetP(relative=False, rel=2)": "SetP(rel=2)",
    "ir_measures:SetAP": "SetAP",
    "ir_measures:NumRet": "NumRet",
    "ir_measures:NumRet(rel=1)": "NumRelRet",
    "ir_measures:NumRet(rel=2)": "NumRelRet(rel=2)",
    "ir_measures:NumRelRet": "NumRelRet",
    "ir_measures:RBP(p=0.8,rel=1)": "RBP(rel=1)",
    "ir_measures:RBP(p=0.5,rel=2)": "RBP(p=0.5, rel=2)",
    "ir_measures:ERR@20": "ERR@20",
    "ir_measures:BPref(rel=2)": "Bpref(rel=2)",
    "ir_measures:infAP": "InfAP",
    "ir_measures:Judged@10": "Judged@10",
    "ir_measures:Accuracy(rel=2)@5": "PairAccuracy(rel=2)@5",
    "ir_measures:Compat(p=0.8)": "Compat(p=0.8, depth=lists)",
    "ir_measures:Compat(normalize=False)": "Compat(normalize=false, depth=lists)",
    "ir_measures:BPM(T=2.0,min_rel=0,max_rel=2)@20": "BPM(gain=0..2, T=2, K=20)",
    "ir_measures:SDCG(max_rel=2)@5": "ScaledDCG(gain=0..2)@5",
    "ir_measures:NERR10(max_rel=1)": "NERR10(gain=0..1)",
    "ir_measures:INST(T=3.0,max_rel=1)": "INST(gain=0..1, T=3)",
    "ir_measures:alpha_nDCG(alpha=0.3)@10": "alpha-nDCG(alpha=0.3)@10",
    "ir_measures:MAP_IA": "AP-IA",
    "ntcireval:Q-measure": "Q",
    "ntcireval:Q@0010": "Q@10",
    "ntcireval:MSnDCG@0010": "nDCG@10",
    "ntcireval:nDCG@0010": "nDCG(discount=jarvelin2002)@10",
    "ntcireval:NCUrb,P": "NCU(beta=0, stop=rank, gamma=0.95)",
    "ntcireval:Prec@0010": "P@10",
    "ntcireval:D#-nDCG@0010": "D-nDCG(gamma=0.5)@10",
    "ir_measures:StRecall@10": "StRecall@10",
    "ranx:ndcg@10-l2": "nDCG(rel=2)@10",
    "ranx:ndcg@10-l1": "nDCG@10",
    "ranx:ndcg@10": "nDCG@10",
    "ranx:ndcg": "nDCG",
    "ranx:ndcg@0": "nDCG",
    "ranx:ndcg_burges@10": "nDCG(gain=exp2)@10",
    "ranx:dcg@5": "DCG@5",
    "ranx:dcg_burges-l3": "DCG(gain=exp2, rel=3)",
    "ranx:precision": "SetP",
    "ranx:precision@5-l2": "P(rel=2)@5",
    "ranx:recall": "SetR",
    "ranx:recall@5": "R@5",
    "ranx:f1": "SetF",
    "ranx:f1@5": "F@5",
    "ranx:hit_rate": "Success",
    "ranx:hit_rate@5": "Success@5",
    "ranx:mrr@10": "RR@10",
    "ranx:map": "AP",
    "ranx:map@100": "AP@100",
    "ranx:r-precision": "Rprec",
    "ranx:r-precision-l2": "Rprec(rel=2)",
    "ranx:bpref-l2": "Bpref(rel=2)",
    "ranx:rbp.95": "RBP(p=0.95, gain=linear)",
    "ranx:rbp@5": "RBP(p=0.5, gain=linear)",
}


@pytest.mark.parametrize(("theirs", "ours"), OTHERS.items())
def test_names_of_others(theirs: str, ours: str) -> None:
    assert str(parse(theirs)) == ours
    translation = translation_of(theirs)
    assert translation is not None
    assert translation.claim == f"{theirs} is {ours} here."
    assert translation.tool == theirs.partition(":")[0]


# -- What is refused ---------------------------------------------------------------------------------------------------

REFUSED = {
    "P_5@10": "P_5@10: names of trec_eval take no @",
    "P_five": "P: expected a number, found 'five'",
    "P_0": "P: cutoff: expected a whole number from 1 to 2^53, found 0",
    "P_": "P_: expected parameters after '_'",
    "ndcg_cut_23.4": "ndcg_cut: expected integer cutoffs, found 23.4\n"
    "hint: trec_eval truncates it to 23: write ndcg_cut_23",
    "ndcg_-1=2": "ndcg: expected integer grades of at least 0, found '-1'",
    "set_F_-1": "set_F: expected a number of at least 0, found -1",
    "utility_1,2": "utility: expected four weights, found 2\nhint: for example utility_2,-1,0,0",
    "utility_1,2,3,0.5": "utility: the fourth weight requires the size of the collection, set by -N in trec_eval\n"
    "hint: write Utility(a=1, b=2, c=3, d=0.5, N=100000)",
    "relstring_10": "relstring_10: no equivalent here: it is a string of grades, not a number\n"
    "hint: the nearest is `gainful explain` with a query",
    "trec_eval:runid": "trec_eval:runid: no equivalent here: it is the name of the run, not a number\n"
    "hint: the nearest is the first column of every table",
    "trec_eval:prefs_simp": "trec_eval:prefs_simp: no equivalent here: it requires judgments of pairs, not grades\n"
    "hint: the nearest is NDPM",
    "rbp_p=0.9,1=2": "rbp_p=0.9,1=2: no equivalent here: trec_eval scales gains by the highest in the table, "
    "even if no document has it\nhint: the nearest is rbp_p=0.9 without a table",
    "trec_eval:nDCG@10": "trec_eval:nDCG@10: trec_eval has no such measure\nhint: without the prefix, nDCG@10 is ours",
    "trec_eval:recip_ranks": "trec_eval:recip_ranks: trec_eval has no such measure\n"
    "hint: did you mean recip_rank or rbp_resid?",
    "trec_eval:xyz": "trec_eval:xyz: trec_eval has no such measure",
    "set_10": "unknown measure 'set_10'\nhint: did you mean SetP or SetR or SetF?",
    "pytrec_eval:unj_5": "pytrec_eval:unj_5: pytrec_eval has no such measure\n"
    "hint: trec_eval 10 has it: trec_eval:unj_5",
    "pytrec_eval:ndcg_1=3": "pytrec_eval:ndcg_1=3: pytrec_eval does not support parameters '1=3'\n"
    "hint: trec_eval does: trec_eval:ndcg_1=3",
    "pytrec_eval:utility_1,2,3,0": "pytrec_eval:utility_1,2,3,0: pytrec_eval does not support parameters "
    "'1,2,3,0'\nhint: trec_eval does: trec_eval:utility_1,2,3,0",
    "ir_measures:ndcg_cut_10": "ir_measures:ndcg_cut_10: ir_measures has no such measure\nhint: did you mean nDCG?",
    "ir_measures:alpha_nDCG": "ir_measures:alpha_nDCG: alpha_nDCG of ir_measures requires cutoff",
    "ir_measures:SDCG@5": "ir_measures:SDCG@5: SDCG of ir_measures requires max_rel",
    "ir_measures:RBP(p=0.8)": "ir_measures:RBP(p=0.8): RBP of ir_measures requires rel",
    "ir_measures:P": "ir_measures:P: P of ir_measures requires cutoff",
    "ir_measures:P@five": "ir_measures:P@five: expected Name(parameter=value, ...)@x as in ir_measures, found "
    "'P@five'\nhint: words need quotes: ir_measures:nDCG(dcg='exp-log2')@10",
    "ir_measures:nDCG(dcg=exp-log2)@10": "ir_measures:nDCG(dcg=exp-log2)@10: expected Name(parameter=value, ...)@x "
    "as in ir_measures, found 'nDCG(dcg=exp-log2)@10'\n"
    "hint: words need quotes: ir_measures:nDCG(dcg='exp-log2')@10",
    "ir_measures:nDCG(dcg='exp')@10": "ir_measures:nDCG(dcg='exp')@10: dcg: expected 'log2' | 'exp-log2', found 'exp'",
    "ir_measures:nDCG(dcg='exp-log2', gains={1:2})@10": "ir_measures:nDCG(dcg='exp-log2', gains={1:2})@10: gains "
    "and dcg cannot be combined in ir_measures\nhint: leave one of them out",
    "ir_measures:nDCG(gains={1:0.5})": "ir_measures:nDCG(gains={1:0.5}): gains: expected integer gains for integer "
    "grades, as in {1:1,2:10}, found {1: 0.5}",
    "ir_measures:P(judged_only=1)@5": "ir_measures:P(judged_only=1)@5: judged_only: expected False | True, found 1",
    "ir_measures:P(rel=True)@5": "ir_measures:P(rel=True)@5: rel: expected a whole number, found True",
    "ir_measures:P@5.0": "ir_measures:P@5.0: cutoff: expected a whole number, found 5.0",
    "ir_measures:SetF(beta='a')": "ir_measures:SetF(beta='a'): beta: expected a number, found 'a'",
    "ir_measures:SetF(beta=-1.0)": "ir_measures:SetF(beta=-1.0): beta: expected a number of at least 0, found -1.0",
    "ir_measures:nDCG(gains={-1:1})": "ir_measures:nDCG(gains={-1:1}): gains: expected grades of at least 0, found -1",
    "ir_measures:P(**{'rel':2})@5": "ir_measures:P(**{'rel':2})@5: expected Name(parameter=value, ...)@x "
    "as in ir_measures, found 'P(**{'rel':2})@5'\n"
    "hint: words need quotes: ir_measures:nDCG(dcg='exp-log2')@10",
    "ir_measures:NumQ(rel=2)": "ir_measures:NumQ(rel=2): NumQ of ir_measures has no parameter 'rel'\n"
    "hint: it takes none",
    "ir_measures:P(5)": "ir_measures:P(5): expected Name(parameter=value, ...)@x as in ir_measures, found "
    "'P(5)'\nhint: words need quotes: ir_measures:nDCG(dcg='exp-log2')@10",
    "ir_measures:nDCG(rel=2)": "ir_measures:nDCG(rel=2): nDCG of ir_measures has no parameter 'rel'\n"
    "hint: it takes cutoff, dcg, gains, judged_only",
    "ranx:hits@10": "ranx:hits@10: no equivalent here: ranx averages this count\n"
    "hint: the nearest is NumRelRet, which sums it over queries",
    "ranx:rbp": "ranx:rbp: a persistence is required\nhint: write ranx:rbp.95",
    "ranx:ndcg.5": "ranx:ndcg.5: ranx has no such measure\nhint: did you mean ndcg or dcg or ndcg_burges?",
    "ranx:nDCG@10": "ranx:nDCG@10: ranx has no such measure\nhint: without the prefix, nDCG is ours",
    "ranx:ndcg@ten": "ranx:ndcg@ten: expected metric@k-lN as in ranx, found 'ndcg@ten'\n"
    "hint: for example ranx:ndcg@10-l2",
    "ranx:bpref@10": "ranx:bpref@10: bpref has no cutoff in ranx\nhint: write ranx:bpref",
    "ranks:ndcg": "measure: expected trec_eval: | pytrec_eval: | ir_measures: | ranx: | ntcireval: before another "
    "tool's name, found 'ranks:ndcg'\nhint: did you mean ranx?",
    "ranx:": "ranx: expected the name of a measure after the colon",
}


@pytest.mark.parametrize(("text", "message"), REFUSED.items())
def test_messages(text: str, message: str) -> None:
    assert said(text) == message


@pytest.mark.parametrize("name", [*trec_eval.WITHOUT_EQUAL])
def test_names_without_an_equivalent_have_a_reason_and_a_hint(name: str) -> None:
    assert ": no equivalent here: " in said(name)
    assert "hint: the nearest is " in said(name)


@dataclass(frozen=True)
class Lookalike(Measure):
    """A package's own measure with a name that looks like trec_eval's."""

    name = "P_five"

    def compute(self, block: Block) -> Floats:
        return block.retrieved * 5.0


def test_a_package_may_have_a_name_that_looks_like_another_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "_offered", {"P_five": Lookalike, "map": Lookalike}.get)
    assert parse("P_five") == Lookalike()
    assert str(parse("map")) == "AP"  # trec_eval's names stay what they are


# -- No cost for our own names -----------------------------------------------------------------------------------------


def test_translations_are_loaded_when_needed() -> None:
    program = "import sys, gainful\n" + "".join(
        f"gainful.parse({text!r}); print('gainful.measures.names_trec_eval' in sys.modules)\n"
        for text in ("nDCG(gain=exp2)@10", "MAP", "map")
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False", "True"]


# -- What gives the same number ----------------------------------------------------------------------------------------


def test_settings() -> None:
    setting = Setting("a tool", "trec_eval-9", {"missing": "zero", "recall-cut": "round"}, "a note", 4)
    assert setting.flags == "--like trec_eval-9 --missing zero --recall-cut round --scale 4"
    assert setting.policy == Policy.like("trec_eval-9", missing="zero", recall_cut="round")
    assert Setting("a tool", None, {"ties": "input"}).policy == Policy(ties="input")
    assert str(Setting("a tool")) == "To reproduce a tool: the defaults."
    assert str(Setting("a tool", "trec_eval-10", note="and so on")) == (
        "To reproduce a tool: --like trec_eval-10 (missing=error, negative=unjudged, recall-cut=round); and so on."
    )


@pytest.mark.parametrize(
    ("name", "flags"),
    [
        ("map", ["--like trec_eval-10", "--like trec_eval-9"]),
        ("unj_5", ["--like trec_eval-10"]),
        ("pytrec_eval:map", ["--like trec_eval-9"]),
        ("ir_measures:AP", ["--like trec_eval-9 --missing zero"]),
        ("ir_measures:RR", ["--like trec_eval-9 --missing zero"]),
        ("ir_measures:RR@10", ["--ties docid-asc"]),
        ("ir_measures:ERR@10", ["--scale 4"]),
        ("ir_measures:nDCG(dcg='exp-log2')@10", [""]),
        ("ir_measures:NumRel", ["--like trec_eval-9"]),
        ("ranx:map", ["--ties input"]),
    ],
)
def test_settings_of_the_tools(name: str, flags: list[str]) -> None:
    translation = translation_of(name)
    assert translation is not None
    assert [setting.flags for setting in translation.settings] == flags


def test_explanations_show_the_translation() -> None:
    assert str(explain("trec_eval:ndcg_cut_10")).startswith("trec_eval:ndcg_cut_10 is nDCG@10 here.\n")
    assert "is nDCG" not in str(explain("nDCG@10"))
    explained = explain("ranx:map-l2", {"q": {"a": 2, "b": 1}}, {"q": {"b": 2.0, "a": 1.0}}, "q")
    assert explained.value == 0.5
    assert str(explained).startswith("ranx:map-l2 is AP(rel=2) here.\n")


def test_evaluations_know_both_names() -> None:
    result = evaluate({"q": {"a": 1}}, {"q": {"b": 2.0, "a": 1.0}}, ["recip_rank", "P.1,2"])
    assert [str(measure) for measure in result.measures] == ["RR", "P@1", "P@2"]
    assert result.aggregate("trec_eval:recip_rank") == result.aggregate("RR") == 0.5


# -- ranx, by its formulas ---------------------------------------------------------------------------------------------

Grades = dict[str, int]


def gains_of(qrels: Grades, ranking: list[str], level: int) -> list[int]:
    """The gains in ranx: grades at or above the level, in list order."""
    return [qrels.get(document, 0) if qrels.get(document, 0) >= level else 0 for document in ranking]


def ranx_dcg(gains: list[int], k: int, burges: bool) -> float:
    cut = gains[:k] if k else gains
    return sum((2**gain - 1 if burges else gain) / math.log2(rank + 1) for rank, gain in enumerate(cut, 1))


def ranx_ndcg(qrels: Grades, ranking: list[str], k: int, level: int, burges: bool = False) -> float:
    ideal = ranx_dcg(sorted((g for g in qrels.values() if g >= level), reverse=True), k, burges)
    return ranx_dcg(gains_of(qrels, ranking, level), k, burges) / ideal if ideal else 0.0


def ranx_precision(qrels: Grades, ranking: list[str], k: int, level: int) -> float:
    hits = sum(gain > 0 for gain in gains_of(qrels, ranking, level)[: k or len(ranking)])
    return hits / (k or len(ranking)) if ranking else 0.0


def ranx_recall(qrels: Grades, ranking: list[str], k: int, level: int) -> float:
    relevant = sum(grade >= level for grade in qrels.values())
    hits = sum(gain > 0 for gain in gains_of(qrels, ranking, level)[: k or len(ranking)])
    return hits / relevant if relevant else 0.0


def ranx_f1(qrels: Grades, ranking: list[str], k: int, level: int) -> float:
    precision, recall = ranx_precision(qrels, ranking, k, level), ranx_recall(qrels, ranking, k, level)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def ranx_map(qrels: Grades, ranking: list[str], k: int, level: int) -> float:
    relevant = sum(grade >= level for grade in qrels.values())
    marks = [gain > 0 for gain in gains_of(qrels, ranking, level)]
    precisions = [sum(marks[:rank]) / rank for rank in range(1, len(marks[: k or None]) + 1) if marks[rank - 1]]
    return sum(precisions) / relevant if relevant else 0.0


def ranx_mrr(qrels: Grades, ranking: list[str], k: int, level: int) -> float:
    ranks = [rank for rank, gain in enumerate(gains_of(qrels, ranking, level)[: k or None], 1) if gain > 0]
    return 1 / ranks[0] if ranks else 0.0


def ranx_bpref(qrels: Grades, ranking: list[str], k: int, level: int) -> float:
    relevant = sum(grade >= level for grade in qrels.values())
    others = len(qrels) - relevant
    above, total = 0, 0.0
    for document in ranking:
        if document in qrels and qrels[document] < level:
            above += 1
        elif document in qrels:
            total += 1 - min(above, relevant) / min(relevant, others)
    return total / relevant


def ranx_rbp(qrels: Grades, ranking: list[str], p: float, level: int) -> float:
    return (1 - p) * sum(gain * p**rank for rank, gain in enumerate(gains_of(qrels, ranking, level)))


RANX: dict[str, Callable[[Grades, list[str], int, int], float]] = {
    "precision": ranx_precision,
    "recall": ranx_recall,
    "f1": ranx_f1,
    "hit_rate": lambda qrels, ranking, k, level: float(ranx_recall(qrels, ranking, k, level) > 0),
    "mrr": ranx_mrr,
    "map": ranx_map,
    "dcg": lambda qrels, ranking, k, level: ranx_dcg(gains_of(qrels, ranking, level), k, False),
    "dcg_burges": lambda qrels, ranking, k, level: ranx_dcg(gains_of(qrels, ranking, level), k, True),
    "ndcg": ranx_ndcg,
    "ndcg_burges": lambda qrels, ranking, k, level: ranx_ndcg(qrels, ranking, k, level, burges=True),
}
OF_WHOLE_LISTS: dict[str, Callable[[Grades, list[str], int, int], float]] = {
    "r-precision": lambda qrels, ranking, _, level: ranx_precision(
        qrels, ranking, sum(grade >= level for grade in qrels.values()), level
    ),
    "bpref": ranx_bpref,
}


def made_up(seed: int) -> tuple[Grades, dict[str, float], list[str]]:
    """Judgments, scores with ties, and the list as ranx orders it: by score, ties as they come.

    Of every level from 1 to 3 something is judged below and from it on: nothing is divided by 0.
    """
    luck = random.Random(seed)
    documents = [f"d{i}" for i in range(20)]
    luck.shuffle(documents)
    qrels = dict(zip(documents, [0, 1, 2, 3, *luck.choices([0, 0, 1, 2, 3], k=6)], strict=False))
    retrieved = luck.sample(documents, luck.randint(1, 20))
    scores = {document: float(luck.randint(0, 6)) for document in retrieved}
    return qrels, scores, sorted(retrieved, key=lambda document: -scores[document])


MADE_UP = {str(seed): made_up(seed) for seed in range(20)}


def evaluated(measures: list[str], grades: Callable[[Grades], Grades] = dict) -> Evaluation:
    """Random cases, each as a query."""
    judged = {query: grades(qrels) for query, (qrels, _, _) in MADE_UP.items()}
    run = {query: scores for query, (_, scores, _) in MADE_UP.items()}
    return evaluate(judged, run, measures, policy=Policy(ties="input"))


@pytest.mark.parametrize("metric", RANX)
def test_ranx(metric: str) -> None:
    ends = list(product([0, 1, 5, 50], [1, 2, 3]))
    names = [f"ranx:{metric}{f'@{k}' if k else ''}{f'-l{level}' if level > 1 else ''}" for k, level in ends]
    found = evaluated(names)
    for name, (k, level) in zip(names, ends, strict=True):
        expected = {query: RANX[metric](qrels, ranking, k, level) for query, (qrels, _, ranking) in MADE_UP.items()}
        assert found.by_query(name) == pytest.approx(expected, abs=1e-12), name


@pytest.mark.parametrize("level", [1, 2, 3])
@pytest.mark.parametrize("metric", OF_WHOLE_LISTS)
def test_ranx_of_whole_lists(metric: str, level: int) -> None:
    name, naive = f"ranx:{metric}-l{level}", OF_WHOLE_LISTS[metric]
    expected = {query: naive(qrels, ranking, 0, level) for query, (qrels, _, ranking) in MADE_UP.items()}
    assert evaluated([name]).by_query(name) == pytest.approx(expected, abs=1e-12)


def test_ranx_rbp() -> None:
    """With grades 0 and 1 the values are equal; otherwise it is the highest grade times ours with gain=scaled."""

    def binary(qrels: Grades) -> Grades:
        return {document: min(grade, 1) for document, grade in qrels.items()}

    same = evaluated(["ranx:rbp.95"], binary).by_query("ranx:rbp.95")
    scaled = evaluated(["RBP(p=0.95, gain=scaled)"]).by_query("RBP(p=0.95, gain=scaled)")
    for query, (qrels, _, ranking) in MADE_UP.items():
        assert same[query] == pytest.approx(ranx_rbp(binary(qrels), ranking, 0.95, 1))
        assert 3 * scaled[query] == pytest.approx(ranx_rbp(qrels, ranking, 0.95, 1))


def test_the_same_small_case_in_several_tools() -> None:
    """Values printed by the tools for one case; the third document is unjudged."""
    qrels, run = {"q": {"d1": 2, "d2": 0, "d3": 1, "d4": 1}}, {"q": ["d3", "d2", "x", "d1"]}
    expected = {
        "trec_eval:ndcg": 0.594505,
        "trec_eval:ndcg_cut_5": 0.594505,
        "ranx:ndcg@5": 0.594505,
        "ranx:ndcg_burges@5": 0.554846,
        "ir_measures:nDCG(dcg='exp-log2')@5": 0.554846,
        "ir_measures:RBP(rel=1, p=0.95)": 0.092869,
        "nDCG(discount=jarvelin2002)@5": 0.550823,
        "ntcireval:MSnDCG@0005": 0.594505,
        "ntcireval:nDCG@0005": 0.550823,
        "ntcireval:ERR": 0.444444,
        "ntcireval:RBP": 0.067869,
        "RBP(p=0.95, gain=linear, scale=query)": 0.067869,  # trec_eval 10 rbp, by its comments
    }
    result = evaluate(qrels, run, list(expected))
    for name, value in expected.items():
        assert result.aggregate(name) == pytest.approx(value, abs=5e-7), name
    assert parse("ERR@5").score([1, 0, None, 2], [1], scale=4) == pytest.approx(0.10645, abs=5e-6)  # gdeval err@5
    assert set(TOOLS) == {"trec_eval", "pytrec_eval", "ir_measures", "ranx", "ntcireval"}


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("rbp.95", "ranx:rbp.95 is RBP(p=0.95, gain=linear) here; with grades above 1 write RBP(p=0.95, gain=scaled)"),
        ("ndcg@10-l2", "ranx:ndcg@10-l2 is nDCG(rel=2)@10 here"),
        ("nDCG(dcg='exp-log2')@10", "ir_measures:nDCG(dcg='exp-log2')@10 is nDCG(gain=exp2)@10 here"),
    ],
)
def test_syntax_of_other_tools_is_recognised(text: str, hint: str) -> None:
    with pytest.raises(UsageError) as error:
        parse(text)
    assert error.value.hint == hint
