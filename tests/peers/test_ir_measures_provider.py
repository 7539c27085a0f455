"""gainful as a provider of ir_measures: ordinary calls, other providers' values, one rule for ties."""

from __future__ import annotations

import math
import random
import subprocess
import sys
from collections import defaultdict, namedtuple
from pathlib import Path
from typing import Any

import ir_measures
import pandas
import pytest
from ir_measures import ERR, RBP, RR, Bpref, GenericQrel, Judged, Qrel, R, ScoredDoc, SetF, SetP, nDCG

import gainful
import gainful.compat.ir_measures as ours

Grades = dict[str, dict[str, Any]]
Lists = dict[str, dict[str, float]]

#: Measures that both have, by ir_measures' texts.
SHARED = [
    *("AP", "AP@5", "AP(rel=2)", "AP(rel=2)@3", "AP(judged_only=True)", "AP(judged_only=True)@4", "MAP"),
    *("Bpref", "Bpref(rel=2)", "infAP", "infAP(rel=2)"),
    *("IPrec@0.0", "IPrec@0.3", "IPrec(rel=2)@0.5", "IPrec(judged_only=True)@0.5", "IPrec@1.0"),
    *("Judged", "Judged@1", "Judged@5", "Judged@100"),
    *("nDCG", "nDCG@5", "nDCG@100", "nDCG(judged_only=True)", "nDCG(judged_only=True)@5"),
    *("nDCG(gains={1:1,2:10,3:100})@5", "nDCG(gains={0:2,3:0})", "nDCG(gains={2:7},judged_only=True)@3"),
    *("NumQ", "NumRel", "NumRet", "NumRelRet", "NumRet(rel=2)"),
    *("P@1", "P@5", "P@100", "P(rel=2)@5", "P(judged_only=True)@5", "P(rel=3,judged_only=True)@2"),
    *("R@5", "R(rel=3)@5", "R(judged_only=True)@5"),
    *("RR", "RR(rel=2)", "RR(judged_only=True)", "RR@3", "RR(rel=2)@3"),
    *("Rprec", "Rprec(rel=2)", "Rprec(judged_only=True)"),
    *("SetAP", "SetAP(rel=2)", "SetAP(judged_only=True)", "SetF", "SetF(rel=2)", "SetF(beta=2.0)"),
    "SetF(beta=0.5,judged_only=True)",
    *("SetP", "SetP(rel=2)", "SetP(judged_only=True)", "SetRelP", "SetP(relative=True,rel=2)", "SetR", "SetR(rel=2)"),
    *("Success@1", "Success(rel=2)@3", "Success(judged_only=True)@2"),
]
#: Those of cwl-eval, of ideal lists and of pairs: grades up to 3, scores above 0.
GRADED = [
    *("Compat", "Compat(p=0.8,normalize=False)", "Accuracy", "Accuracy(rel=2)@10", "SetF(beta=2.0)"),
    *("BPM(T=1.0,max_rel=3)@10", "SDCG(max_rel=3)@10", "NERR8(max_rel=3)@10", "NERR9(max_rel=2)@10"),
    *("NERR10(max_rel=3)", "NERR11(T=2.0,max_rel=3)", "INST(max_rel=3)", "INST(min_rel=1,max_rel=2)"),
    "INSQ(max_rel=1)",
]
#: Those of sub-topics.
DIVERSE = [
    *("alpha_nDCG@10", "alpha_DCG(alpha=0.3)@5", "alpha_nDCG(rel=2)@10", "ERR_IA@10", "nERR_IA@20", "StRecall@5"),
    *("NRBP", "nNRBP(alpha=0.2,beta=0.7)", "AP_IA", "P_IA@10"),
]
#: Those that ir_measures gives with five digits.
ROUNDED = ["ERR@1", "ERR@5", "ERR@100", "nDCG(dcg='exp-log2')@5", "nDCG(dcg='exp-log2')@100"]

OWN = ir_measures.providers.FallbackProvider(
    [each for each in ir_measures.DefaultPipeline.providers if each.NAME != "gainful"]
)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch, providers_of_ir_measures: None) -> None:
    """ir_measures after the import."""
    pipeline = ir_measures.DefaultPipeline
    monkeypatch.setattr(pipeline, "providers", [ours.GainfulProvider(), *pipeline.providers])


def made_up(seed: int, *, ties: bool = False) -> tuple[Grades, Lists]:
    """Judgments and a run; some queries are not answered, some answered ones not judged."""
    luck = random.Random(seed)
    qrels: Grades = {}
    run: Lists = {}
    for number in range(30):
        documents = [f"d{i}" for i in range(luck.randint(1, 30))]
        retrieved = luck.sample(documents, luck.randint(1, len(documents)))
        scores = luck.choices(range(4), k=len(retrieved)) if ties else luck.sample(range(-500, 500), len(retrieved))
        if number < 25:
            judged = luck.sample(documents, luck.randint(1, len(documents)))
            qrels[f"{number}"] = {document: luck.choice((-1, 0, 0, 0, 1, 1, 2, 3)) for document in judged}
            # pytrec_eval may crash where all grades are below 0, see differences.toml.
            qrels[f"{number}"][judged[0]] = luck.choice((0, 1))
        if number >= 5:
            run[f"{number}"] = {d: score / 8 for d, score in zip(retrieved, scores, strict=True)}
    return qrels, run


def values(calculated: Any) -> dict[tuple[str, Any], float]:
    found = {(score.query_id, score.measure): score.value for score in calculated}
    assert len(found) == len(calculated)
    return found


def provider_of(measure: Any) -> str:
    """The provider from which ir_measures would take a measure."""
    return next(each.NAME for each in ir_measures.DefaultPipeline.providers if each.supports(measure))


# -- It is used --------------------------------------------------------------------------------------------------------


def test_importing_is_enough() -> None:
    program = (
        "import ir_measures\n"
        "before = [provider.NAME for provider in ir_measures.DefaultPipeline.providers]\n"
        "import gainful.compat.ir_measures\n"
        "print([provider.NAME for provider in ir_measures.DefaultPipeline.providers] == ['gainful', *before])\n"
        "print(ir_measures.providers.registry['gainful'].NAME, type(ir_measures.P(cutoff=5).evaluator({})).__name__)\n"
        "import importlib\n"
        "importlib.reload(gainful.compat.ir_measures)\n"
        "print([provider.NAME for provider in ir_measures.DefaultPipeline.providers] == ['gainful', *before])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("True\ngainful GainfulEvaluator\nTrue\n", "")


@pytest.mark.usefixtures("installed")
def test_what_gainful_has_comes_from_it_and_the_rest_from_others() -> None:
    alone = ["RBP", "RBP(p=0.9)@10", "RBP(rel=2)", "NumRel(rel=2)", "ERR", "nDCG(dcg='exp-log2')"]
    for text in [*SHARED, *ROUNDED, *GRADED, *DIVERSE, *alone]:
        assert provider_of(ir_measures.parse_measure(text)) == "gainful", text
    assert provider_of(nDCG(gains={-1: 1})) == "pytrec_eval"
    own = ir_measures.define_byquery(lambda qrels, run: 1.0, name="P")
    assert provider_of(own) == "runtime"


@pytest.mark.usefixtures("installed")
def test_beside_other_providers() -> None:
    qrels, run = made_up(1)
    count = ir_measures.define_byquery(lambda qrels, run: float(len(run)), name="Count")
    measures = [nDCG @ 10, count]
    found, expected = ir_measures.calc(measures, qrels, run), OWN.calc(measures, qrels, run)
    assert found.aggregated == pytest.approx(expected.aggregated, abs=1e-12)
    assert values(found.per_query) == pytest.approx(values(expected.per_query), abs=1e-12)


def test_wrong_parameters_are_refused() -> None:
    with pytest.raises(AssertionError, match="invalid param cutoff"):
        ours.GainfulProvider().supports(ir_measures.P)
    with pytest.raises(ValueError, match="cutoff: expected a whole number"):
        ours.GainfulProvider().supports(ir_measures.P @ 0)
    with pytest.raises(ValueError, match="unsupported measure nDCG"):
        ours.GainfulProvider().evaluator([nDCG(gains={-1: 1})], {"q": {"a": 1}})


# -- The same values ---------------------------------------------------------------------------------------------------


def assert_same(texts: list[str], qrels: Grades, run: Lists) -> None:
    """All measures together have the values that ir_measures gives each by itself.

    Together its own differ: see differences.toml.
    """
    measures = [ir_measures.parse_measure(text) for text in texts]
    found = ir_measures.calc(measures, qrels, run)
    by_measure: dict[Any, dict[Any, float]] = defaultdict(dict)
    for (query, measure), value in values(found.per_query).items():
        by_measure[measure][query, measure] = value
    for measure in measures:
        expected = OWN.calc([measure], qrels, run)
        # Where a list has nothing judged, trec_eval divides 0 by 0: see differences.toml.
        defined = {key: 0.0 if math.isnan(value) else value for key, value in values(expected.per_query).items()}
        assert by_measure[measure] == pytest.approx(defined, abs=1e-9)
        if not math.isnan(expected.aggregated[measure]):
            assert found.aggregated[measure] == pytest.approx(expected.aggregated[measure], abs=1e-9)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("seed", range(3))
def test_values(seed: int) -> None:
    assert_same(SHARED, *made_up(seed))


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("ties", [False, True])
def test_values_of_gdeval(ties: bool) -> None:
    qrels, run = made_up(3, ties=ties)
    measures = [ir_measures.parse_measure(text) for text in ROUNDED]
    try:
        expected = OWN.calc(measures, qrels, run)
    except ValueError:
        pytest.skip("gdeval needs perl")
    found = ir_measures.calc(measures, qrels, run)
    assert values(found.per_query) == pytest.approx(values(expected.per_query), abs=0.51e-5)


#: Measures whose ties ir_measures breaks as we do: those that pytrec_eval computes.
DESCENDING = [text for text in SHARED if not text.startswith(("Judged", "RR@", "RR(rel=2)@"))]


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("seed", range(3))
def test_values_of_tied_runs(seed: int) -> None:
    assert_same(DESCENDING, *made_up(seed, ties=True))


@pytest.mark.usefixtures("installed")
def test_reciprocal_ranks_agree_with_each_other_on_ties() -> None:
    qrels, run = made_up(4, ties=True)
    measures = [RR, RR @ 1000]
    found, own = (values(each.calc(measures, qrels, run).per_query) for each in (ir_measures, OWN))
    assert all(found[query, RR] == found[query, RR @ 1000] for query in qrels)
    assert any(own[query, RR] != own[query, RR @ 1000] for query in qrels)
    assert all(found[query, RR] == pytest.approx(own[query, RR], abs=1e-12) for query in qrels)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("rel", [1, 2])
def test_rank_biased_precision(rel: int) -> None:
    """cwl_eval is no test dependency: the definition, over lists in the one order of ties."""
    qrels, run = made_up(5, ties=True)
    measures = [RBP(rel=rel), RBP(rel=rel, p=0.5) @ 3, RBP(p=0.9)]
    found = values(list(ir_measures.iter_calc(measures, qrels, run)))
    scale = max(grade for grades in qrels.values() for grade in grades.values())
    for query, grades in qrels.items():
        ranked = sorted(run.get(query, {}), key=lambda d, query=query: (run[query][d], d), reverse=True)
        of_list = [grades.get(document, 0) for document in ranked]
        binary = [float(grade >= rel) for grade in of_list]
        assert found[query, measures[0]] == pytest.approx(sum(0.2 * 0.8**i * g for i, g in enumerate(binary)))
        assert found[query, measures[1]] == pytest.approx(sum(0.5 * 0.5**i * g for i, g in enumerate(binary[:3])))
        graded = sum(0.1 * 0.9**i * max(grade, 0) / scale for i, grade in enumerate(of_list))
        assert found[query, measures[2]] == pytest.approx(graded)


@pytest.mark.usefixtures("installed")
def test_the_highest_grade_of_err_is_4_or_more() -> None:
    run = {"1": {"a": 1.0}}
    assert ERR.calc_aggregate({"1": {"a": 3}}, run) == pytest.approx(7 / 16)
    assert (ERR @ 5).calc_aggregate({"1": {"a": 3}, "2": {"b": 5}}, run) == pytest.approx(7 / 32 / 2)


@pytest.mark.usefixtures("installed")
def test_a_grade_below_0_is_judged_when_that_is_the_question() -> None:
    qrels, run = {"1": {"a": -1, "b": 1}}, {"1": {"a": 3.0, "b": 2.0, "x": 1.0}}
    assert ir_measures.calc_aggregate([Judged @ 2, Bpref], qrels, run) == {Judged @ 2: 1.0, Bpref: 1.0}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", [*GRADED, *DIVERSE])
def test_the_values_of_cwl_eval_ndeval_and_others(text: str) -> None:
    rng, measure = random.Random(3), ir_measures.parse_measure(text)
    rows = [
        GenericQrel(str(query), f"d{document:02}", rng.choice([0, 0, 1, 2, 3]), str(subtopic))
        for query in range(20)
        for document in range(rng.randint(3, 25))
        for subtopic in range(rng.randint(1, 4) if text in DIVERSE else 1)
    ]
    run = [
        ScoredDoc(str(query), f"d{document:02}", 100.0 - rank)
        for query in range(20)
        for rank, document in enumerate(rng.sample(range(40), 20))
    ]
    expected = values(list(OWN.iter_calc([measure], rows, run)))
    found = values(list(ours.GainfulProvider().iter_calc([measure], rows, run)))
    assert found == pytest.approx(expected, abs=1e-14)
    if text.startswith("SetF"):
        assert found == expected


@pytest.mark.filterwarnings("ignore")
def test_no_judgments_and_judgments_twice() -> None:
    """As of other measures: no number where nothing is judged, and of several grades the last one."""
    measures, run = [ir_measures.parse_measure(text) for text in DIVERSE[:8]], [ScoredDoc("q", "a", 1.0)]
    twice = [GenericQrel("q", "a", 1, "1"), GenericQrel("q", "b", 1, "2"), GenericQrel("q", "a", 0, "1")]
    for rows in ([], twice):
        expected = OWN.calc_aggregate(measures, rows, run)
        assert ours.GainfulProvider().calc_aggregate(measures, rows, run) == pytest.approx(expected, nan_ok=True)


def test_what_gainful_refuses_comes_from_others() -> None:
    assert not ours.GainfulProvider().supports(ir_measures.parse_measure("INST(T=0.1,max_rel=3)"))


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("compat", ("Compat", "Compat(p=0.8)", "Compat(normalize=False)")),
        ("cwl", tuple(text.replace("max_rel=3", "max_rel=1").replace("max_rel=2", "max_rel=1") for text in GRADED[5:])),
    ],
)
def test_the_files_of_ir_measures_own_tests(name: str, texts: tuple[str, ...], shared_data: Path) -> None:
    folder = shared_data / "ir_measures-tests"
    qrels, run = (
        list(read(str(folder / f"{name}.{kind}")))
        for read, kind in ((ir_measures.read_trec_qrels, "qrels"), (ir_measures.read_trec_run, "run"))
    )
    measures = [ir_measures.parse_measure(text) for text in texts if "min_rel=1" not in text]
    expected = values(list(OWN.iter_calc(measures, qrels, run)))
    found = values(list(ours.GainfulProvider().iter_calc(measures, qrels, run)))
    assert found == pytest.approx(expected, abs=1e-12)


# -- However data is given ---------------------------------------------------------------------------------------------

MIXED = [nDCG @ 5, RR, Judged @ 3, SetP, R(rel=2) @ 4, ERR @ 3, SetF(beta=2.0)]


def all_forms(qrels: Grades, run: Lists) -> list[tuple[Any, Any]]:
    qrel_rows = [(q, d, grade) for q, grades in qrels.items() for d, grade in grades.items()]
    run_rows = [(q, d, score) for q, scores in run.items() for d, score in scores.items()]
    other = namedtuple("other", "tag doc_id query_id score")
    frame = pandas.DataFrame(qrel_rows, columns=["query_id", "doc_id", "relevance"])
    return [
        ([Qrel(*row) for row in qrel_rows], [ScoredDoc(*row) for row in run_rows]),
        ((Qrel(*row, "7") for row in qrel_rows), (other("x", d, q, score) for q, d, score in run_rows)),
        (frame, pandas.DataFrame(run_rows, columns=["query_id", "doc_id", "score"])),
        (
            frame.assign(iteration="0", note=1)[["note", "relevance", "iteration", "doc_id", "query_id"]],
            pandas.DataFrame(run_rows, columns=["query_id", "doc_id", "score"]).assign(rank=1, query="some words"),
        ),
        (qrels, pandas.DataFrame(run_rows, columns=["query_id", "doc_id", "score"])),
    ]


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("form", range(5))
def test_forms(form: int) -> None:
    qrels, run = made_up(6, ties=True)
    expected = values(list(ir_measures.iter_calc(MIXED, qrels, run)))
    given_qrels, given_run = all_forms(qrels, run)[form]
    assert values(list(ir_measures.iter_calc(MIXED, given_qrels, given_run))) == expected


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("form", [0, 2])
def test_one_evaluator_for_several_runs(form: int) -> None:
    qrels, run = made_up(6)
    given_qrels, given_run = all_forms(qrels, run)[form]
    evaluator = ir_measures.evaluator(MIXED, given_qrels)
    expected = ir_measures.calc_aggregate(MIXED, qrels, run)
    assert evaluator.calc_aggregate(given_run) == expected
    assert set(evaluator.calc_aggregate({}).values()) == {0.0}
    assert evaluator.calc_aggregate(run) == expected


@pytest.mark.usefixtures("installed")
def test_queries_keep_the_form_in_which_they_were_given() -> None:
    frame = pandas.DataFrame({"query_id": [7, 7, 8], "doc_id": [1, 2, 1], "relevance": [1, 0, 2]})
    run = pandas.DataFrame({"query_id": [7, 7], "doc_id": [2, 1], "score": [2.5, 1.5]})
    assert values(list(ir_measures.iter_calc([RR], frame, run))) == {(7, RR): 0.5, (8, RR): 0.0}


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("empty", [{}, [], pandas.DataFrame({"query_id": [], "doc_id": [], "score": []})], ids=type)
def test_nothing_retrieved(empty: Any) -> None:
    qrels, _ = made_up(2)
    found = values(list(ir_measures.iter_calc([nDCG, Judged @ 5], qrels, empty)))
    assert found == {(query, measure): 0.0 for query in qrels for measure in (nDCG, Judged @ 5)}
    other = values(list(ir_measures.iter_calc([nDCG], qrels, {"another": {"a": 1.0}})))
    assert other == {(query, nDCG): 0.0 for query in qrels}


@pytest.mark.usefixtures("installed")
def test_nothing_judged() -> None:
    columns = pandas.DataFrame({"query_id": [], "doc_id": [], "relevance": []})
    for qrels in ({}, [], columns):
        assert list(ir_measures.iter_calc([nDCG], qrels, {"q": {"a": 1.0}})) == []
    found = ir_measures.calc([ir_measures.NumQ, RR], {"q": {}, "p": {"a": 1}}, {"q": {"a": 1.0}})
    assert found.aggregated == {ir_measures.NumQ: 0.0, RR: 0.0}


@pytest.mark.usefixtures("installed")
def test_the_last_of_several_counts_as_in_ir_measures() -> None:
    rows = [("1", "a", 1), ("1", "b", 2), ("1", "a", 3)]
    qrels = pandas.DataFrame(rows, columns=["query_id", "doc_id", "relevance"])
    run = pandas.DataFrame([("1", "a", 1.0), ("1", "b", 2.0), ("1", "a", 3.0)], columns=["query_id", "doc_id", "score"])
    for given_qrels, given_run in ((qrels, run), ([Qrel(*row) for row in rows], run)):
        found = ir_measures.calc_aggregate([nDCG @ 1, RR(rel=3)], given_qrels, given_run)
        assert found == OWN.calc_aggregate([nDCG @ 1, RR(rel=3)], given_qrels, given_run) == {nDCG @ 1: 1, RR(rel=3): 1}


@pytest.mark.usefixtures("installed")
def test_real_grades_are_kept() -> None:
    qrels, run = {"1": {"a": 0.5, "b": 1.5}}, {"1": {"a": 2.0, "b": 1.0}}
    dcg, ideal = 0.5 + 1.5 / math.log2(3), 1.5 + 0.5 / math.log2(3)
    for given in (qrels, pandas.DataFrame({"query_id": ["1"] * 2, "doc_id": ["a", "b"], "relevance": [0.5, 1.5]})):
        assert nDCG.calc_aggregate(given, run) == pytest.approx(dcg / ideal)
    mapped = nDCG(gains={1.5: 3})
    assert mapped.calc_aggregate(qrels, run) == pytest.approx((0.5 + 3 / math.log2(3)) / (3 + 0.5 / math.log2(3)))


def test_measures_of_ir_measures_are_measures_here() -> None:
    qrels = {"1": {"a": 2, "b": 1}, "2": {"c": 1}}
    run = {"1": {"b": 2.0, "x": 1.5, "a": 1.0}, "2": {"x": 1.0, "c": 0.5}}
    measures = [nDCG @ 2, RR(rel=2), nDCG(dcg="exp-log2") @ 3, SetF(beta=2.0)]
    found = gainful.evaluate(qrels, run, measures)
    expected = ir_measures.calc_aggregate(measures, qrels, run)
    assert [str(measure) for measure in found.measures[:3]] == ["nDCG@2", "RR(rel=2)", "nDCG(gain=exp2)@3"]
    for theirs in measures:
        assert found.mean(gainful.parse(theirs)) == pytest.approx(expected[theirs], abs=5e-6)
    assert gainful.evaluate(qrels, run, nDCG @ 2).measures == found.measures[:1]
