"""Names of pytrec_eval and ir_measures give those tools' values, ties included, under the matching policy."""

from __future__ import annotations

import math
import random
import shutil
from functools import cache

import ir_measures
import pytest
import pytrec_eval

from gainful import Qrels, evaluate
from gainful.measures.catalog import translation_of
from gainful.measures.names_ir_measures_ranx import (
    NAMES as IR_MEASURES,
    OTHER_NAMES,
)
from gainful.measures.names_trec_eval import (
    NAMES as TREC_EVAL,
    WITHOUT_EQUAL as NOT_OF_TREC_EVAL,
    Translation,
    trec_eval_name,
)

Grades = dict[str, dict[str, int]]
Lists = dict[str, dict[str, float]]

#: Some tie, some only as 32-bit floats.
SCORES = [0.0, 1.0, 1.0 + 1e-9, 2.0, 2.5, 3.0, -1.0]


@cache
def made_up(seed: int, lowest: int = -1) -> tuple[Grades, Lists]:
    """Judgments and a run; some queries are not answered, some answered ones not judged. Ids are in no order."""
    luck = random.Random(seed)
    documents = [f"d{i}" for i in range(40)]
    qrels: Grades = {}
    run: Lists = {}
    for number in range(1, 16):
        judged = luck.sample(documents, luck.randint(2, 25))
        grades = [0, *luck.choices(range(lowest, 5), k=len(judged) - 1)]
        if number < 13:
            qrels[str(number)] = dict(zip(judged, grades, strict=True))
        if number > 2:
            retrieved = luck.sample(documents, luck.randint(1, 40))
            run[str(number)] = {document: luck.choice(SCORES) for document in retrieved}
    return qrels, run


def translated(name: str) -> Translation:
    translation = translation_of(name)
    assert translation is not None
    return translation


# -- trec_eval, through pytrec_eval ------------------------------------------------------------------------------------

OLD_NAMES = (
    *("num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret"),
    *("map", "gm_map", "map_cut", "Rprec", "Rprec_mult", "bpref", "gm_bpref", "infAP", "recip_rank"),
    *("iprec_at_recall", "11pt_avg", "P", "relative_P", "recall", "success"),
    *("ndcg", "ndcg_cut", "ndcg_rel", "Rndcg", "G", "binG"),
    *("set_P", "set_recall", "set_F", "set_map", "set_relative_P", "utility"),
)
#: What pytrec_eval is asked for, beside every name by itself.
WITH_PARAMETERS = [
    *("P.1,3,50", "P_7", "recall.2,30", "ndcg_cut_3", "map_cut.4", "relative_P_6", "success.2,3", "set_F_2"),
    *("set_F.0.5", "iprec_at_recall.0.05,0.25,0.33", "Rprec_mult.0.3,0.35,1.1", "11pt_avg.0.2,0.55,0.9"),
]


def test_the_names_are_all_that_pytrec_eval_has() -> None:
    assert {*OLD_NAMES, "relstring", "runid"} == pytrec_eval.supported_measures
    assert set(OLD_NAMES) == {name for name, known in TREC_EVAL.items() if not known.is_new}
    assert NOT_OF_TREC_EVAL.keys() >= {"relstring", "runid"}


@pytest.mark.parametrize("name", [*OLD_NAMES, *WITH_PARAMETERS])
def test_names_of_pytrec_eval(name: str) -> None:
    translation = translated(f"pytrec_eval:{name}")
    (setting,) = translation.settings
    for seed in range(4):
        qrels, run = made_up(seed)
        expected = pytrec_eval.RelevanceEvaluator(qrels, {name}).evaluate(run)
        ours = evaluate(qrels, run, translation.measures, policy=setting.policy)
        for query, values in expected.items():
            # In its order of parameters, which is ascending, as here.
            for measure, value in zip(translation.measures, values.values(), strict=True):
                mine = ours.by_query(measure)[query]
                assert mine is not None
                is_logarithm = measure.aggregate == "geometric"
                found = math.log(max(mine, 1e-5)) if is_logarithm else mine
                assert found == pytest.approx(value, abs=1e-12), f"{measure} of query {query}, seed {seed}"
        for measure in translation.measures:
            answered = [query for query, value in ours.by_query(measure).items() if value is not None]
            assert sorted(answered) == sorted(expected)


@pytest.mark.parametrize("name", ["official", "set", "all_trec"])
def test_groups_of_pytrec_eval(name: str) -> None:
    expected = pytrec_eval.RelevanceEvaluator({"q": {"a": 1}}, {name}).evaluate({"q": {"a": 1.0}})["q"]
    names = {trec_eval_name(measure) for measure in translated(f"pytrec_eval:{name}").measures}
    # pytrec_eval leaves the parameters of these out of the name.
    assert names == expected.keys() - {"runid", "relstring"}


# -- ir_measures -------------------------------------------------------------------------------------------------------

THROUGH_PYTREC_EVAL = [
    *("AP", "AP@5", "MAP(rel=2)", "AP(judged_only=True)@7", "Bpref", "BPref(rel=3)", "infAP", "infAP(rel=2)"),
    *("IPrec@0.0", "IPrec@0.3", "IPrec@0.125", "IPrec(rel=2)@0.5", "IPrec(judged_only=True)@0.5", "P@1"),
    *("Precision(rel=2)@5", "P(judged_only=True)@5", "R@5", "Recall(rel=3)@20", "Success@1", "Success(rel=2)@3"),
    *("RR", "MRR(rel=2)", "RR(judged_only=True)", "Rprec", "RPrec(rel=2)", "SetAP", "SetAP(rel=2,judged_only=True)"),
    *("SetF", "SetF(rel=2,beta=2.0)", "SetF(beta=0.25)", "SetP", "SetP(rel=2)", "SetP(relative=True)", "SetRelP"),
    *("SetR", "SetR(rel=2)", "nDCG", "NDCG@5", "nDCG(dcg='log2')@5", "nDCG(judged_only=True)@5"),
    *("nDCG(gains={1:5,2:6,4:9})@5", "nDCG(gains={0:0,1:1,2:1,3:1,4:0})"),
]
COUNTS = ["NumQ", "NumRel", "NumRet", "NumRet(rel=1)", "NumRet(rel=3)", "NumRelRet"]
TIES_ASCENDING = ["RR@1", "RR@3", "RR(rel=2)@5", "Judged@1", "Judged@10", "Judged"]
THROUGH_GDEVAL = ["ERR@1", "ERR@5", "ERR@20", "nDCG(dcg='exp-log2')@1", "nDCG(dcg='exp-log2')@10"]
OF_PAIRS_AND_IDEALS = ["Accuracy", "Accuracy(rel=2)@5", "Compat", "Compat(p=0.8)", "Compat(normalize=False)"]
#: Through cwl-eval, grades from -1 to 4 among them.
THROUGH_CWL_EVAL = [
    *("RBP(rel=1)", "RBP(rel=2,p=0.5)", "BPM(max_rel=4)@10", "BPM(T=2.0,max_rel=3)@5", "INSQ(max_rel=2)"),
    *("INST(max_rel=3)", "INST(min_rel=1,max_rel=3)", "INST(T=2.5,max_rel=4)", "NERR8(max_rel=3)@10"),
    *("NERR9(max_rel=4)@5", "NERR10(max_rel=3)", "NERR11(max_rel=4)", "SDCG(max_rel=3)@10"),
    "SDCG(min_rel=2,max_rel=4)@4",
]
#: Through pyndeval, of judgments with sub-topics.
DIVERSE = [
    *("AP_IA", "MAP_IA(rel=2)", "ERR_IA@10", "nERR_IA@20", "NRBP", "NRBP(alpha=0.2,beta=0.7)", "nNRBP", "P_IA@5"),
    *("StRecall@5", "StRecall(rel=2)@3", "alpha_DCG@10", "α_DCG(alpha=0.3)@5", "alpha_nDCG@20", "α_nDCG(rel=2)@10"),
]


def test_every_name_of_ir_measures_is_known() -> None:
    assert {*IR_MEASURES, *OTHER_NAMES} == set(ir_measures.measures.registry)
    tried = [*THROUGH_PYTREC_EVAL, *COUNTS, *TIES_ASCENDING, *THROUGH_GDEVAL]
    tried += [*OF_PAIRS_AND_IDEALS, *THROUGH_CWL_EVAL, *DIVERSE]
    assert {name.split("(")[0].split("@")[0] for name in tried} == {*IR_MEASURES, *OTHER_NAMES}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [*OF_PAIRS_AND_IDEALS, *THROUGH_CWL_EVAL, *DIVERSE])
def test_names_that_ir_measures_asks_others_for(name: str) -> None:
    """The setting that is stated gives the number: of every query, and of all."""
    pytest.importorskip("pyndeval" if name in DIVERSE else "cwl")
    ((measure,), (setting,)) = translated(f"ir_measures:{name}").measures, translated(f"ir_measures:{name}").settings
    theirs, others = ir_measures.parse_measure(name), ir_measures.DefaultPipeline.providers
    provider = ir_measures.providers.FallbackProvider([each for each in others if each.NAME != "gainful"])
    for seed in range(3):
        qrels, run = made_up(seed, lowest=0 if name in DIVERSE else -1)
        rows, luck = [(q, d, g) for q, grades in qrels.items() for d, g in grades.items()], random.Random(seed)
        judged = [(*row, str(luck.randint(1, 3)) if name in DIVERSE else "0") for row in rows]
        # ndeval divides by 0 where nothing is relevant.
        judged += [(query, "other", 4, "1") for query in qrels if name in DIVERSE]
        given = [ir_measures.Qrel(*row) for row in judged]
        if name.startswith("Compat"):  # what it is said not to order as gainful does
            run = {query: {d: i + 1.0 for i, d in enumerate(scores)} for query, scores in run.items()}
        expected = provider.calc([theirs], given, run)
        text = "".join(f"{query} {subtopic} {document} {grade}\n" for query, document, grade, subtopic in judged)
        ours = evaluate(Qrels.read(text.encode()), run, measure, policy=setting.policy)
        by_query = ours.by_query(measure)
        for score in expected.per_query:
            mine = by_query.get(score.query_id)
            assert (mine or 0.0) == pytest.approx(score.value, abs=1e-12), f"{measure} of {score.query_id}, {seed}"
        assert ours.aggregate(measure) == pytest.approx(expected.aggregated[theirs], abs=1e-12)


@pytest.mark.parametrize("name", [*THROUGH_PYTREC_EVAL, *COUNTS, *TIES_ASCENDING, *THROUGH_GDEVAL])
def test_names_of_ir_measures(name: str) -> None:
    in_perl = name in THROUGH_GDEVAL
    if in_perl and not shutil.which("perl"):
        pytest.skip("no Perl to run gdeval")
    translation = translated(f"ir_measures:{name}")
    ((measure,), (setting,)) = translation.measures, translation.settings
    theirs = ir_measures.parse_measure(name)
    for seed in range(2 if in_perl else 4):
        qrels, run = made_up(seed)
        expected = ir_measures.calc([theirs], qrels, run)
        ours = evaluate(Qrels.from_dict(qrels, scale=setting.scale), run, measure, policy=setting.policy)
        places = 5e-6 if in_perl else 1e-12
        by_query = ours.by_query(measure)
        for score in expected.per_query:
            mine = by_query.get(score.query_id)
            assert (mine or 0.0) == pytest.approx(score.value, abs=places), f"{measure} of {score.query_id}, {seed}"
        assert ours.aggregate(measure) == pytest.approx(expected.aggregated[theirs], abs=places)
