"""gainful.compat.pytrec_eval compared with pytrec_eval: the same keys, values and kinds of errors, without its bugs."""

from __future__ import annotations

import math
import pickle
import random
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
import pytrec_eval

import gainful.compat.pytrec_eval as ours
from gainful import GainfulError

Grades = dict[str, dict[str, Any]]
Lists = dict[str, dict[str, float]]
Scores = dict[str, dict[str, float]]

NEAR = (1.0, 1.0 + 1e-9, 1.0 - 1e-9, 16777216.0, 16777217.0, 1e39, 1e40, -0.0, 0.0)

level_and_flag = pytest.mark.parametrize(
    ("level", "judged_only"), [(1, False), (2, False), (3, False), (1, True), (2, True)]
)


def made_up(seed: int) -> tuple[Grades, Lists]:
    """Short and longer lists with ties, some only between 32-bit floats; grades below 0; unanswered and extra queries.

    Every query has a grade of at least 0: without one pytrec_eval may crash, see differences.toml.
    """
    luck = random.Random(seed)
    qrels: Grades = {}
    run: Lists = {}
    for number in luck.sample(range(40), 12):
        documents = [f"d{i}" for i in range(luck.choice((2, 5, 12, 60)))]
        if luck.random() < 0.85:
            judged = luck.sample(documents, luck.randint(1, len(documents)))
            qrels[f"q{number}"] = {document: luck.choice((-2, -1, 0, 0, 0, 1, 1, 2, 3, 4)) for document in judged}
            qrels[f"q{number}"][luck.choice(judged)] = luck.choice((0, 1, 3))
        if luck.random() < 0.85 or not run:
            retrieved = luck.sample(documents, luck.randint(1, len(documents)))
            run[f"q{number}"] = {d: luck.choice((*NEAR, luck.random(), luck.randint(-3, 3))) for d in retrieved}
    return qrels, run


def theirs(qrels: Grades, run: Lists, measures: Iterable[str], level: int = 1, judged_only: bool = False) -> Scores:
    # A new evaluator for every run: the second call of one and the same is not reliable.
    return pytrec_eval.RelevanceEvaluator(qrels, measures, level, judged_only).evaluate(run)


def assert_same(found: Scores, expected: Scores) -> None:
    """The same queries, keys and values, all in the same order."""
    assert list(found) == list(expected)
    for query, values in expected.items():
        assert list(found[query]) == list(values)
        for name, value in values.items():
            # Where -J leaves nothing of a list, trec_eval divides 0 by 0: see differences.toml.
            wanted = 0.0 if math.isnan(value) and name.startswith(("iprec", "11pt")) else value
            assert type(found[query][name]) is float
            assert abs(found[query][name] - wanted) <= 1e-9, f"{name} of {query}"


# -- The same keys and values ------------------------------------------------------------------------------------------


def test_names() -> None:
    assert ours.supported_measures == pytrec_eval.supported_measures
    assert ours.supported_nicknames == pytrec_eval.supported_nicknames
    assert set(pytrec_eval.__all__) <= set(ours.__all__)


@level_and_flag
def test_all_measures(level: int, judged_only: bool) -> None:
    for seed in range(15):
        qrels, run = made_up(seed)
        expected = theirs(qrels, run, pytrec_eval.supported_measures, level, judged_only)
        found = ours.RelevanceEvaluator(qrels, ours.supported_measures, level, judged_only).evaluate(run)
        assert_same(found, expected)


@pytest.mark.parametrize("nickname", ["official", "set", "all_trec"])
def test_nicknames(nickname: str) -> None:
    qrels, run = made_up(7)
    expected = theirs(qrels, run, [nickname])
    assert_same(ours.RelevanceEvaluator(qrels, [nickname]).evaluate(run), expected)


@pytest.mark.parametrize("nickname", ["all_prefs", "prefs", "qrels_jg"])
def test_nicknames_of_what_is_not_supported(nickname: str) -> None:
    for module in (pytrec_eval, ours):
        with pytest.raises(ValueError, match="unsupported measure"):
            module.RelevanceEvaluator({"q": {"a": 1}}, [nickname])


@pytest.mark.parametrize(
    "measures",
    [
        ["P.5,10", "P_7", "recall.3"],
        ["P", "P.5"],
        ["official", "P.5"],
        ["ndcg_cut.10", "ndcg_cut_3,4", "map_cut_100,20,3", "ndcg", "map"],
        ["success.2", "relative_P_3,1", "success_9,10"],
        ["iprec_at_recall.0.15,0.2", "iprec_at_recall_1", "iprec_at_recall.0"],
        ["iprec_at_recall.0.333,0.334"],
        ["Rprec_mult.0.3,5", "Rprec_mult_0.333", "Rprec_mult.0"],
        ["set_F.2"],
        ["set_F.0.5", "set_F_0.25"],
        ["set_F.2,10"],
        ["set_F_0"],
        ["utility.1,2,3,4"],
        ["utility.4,0.5,3,2", "utility"],
        ["11pt_avg.0.25,0.5,0.75"],
        ["11pt_avg_1", "11pt_avg"],
        ["relstring.3", "runid"],
        ["map.10", "bpref_3", "num_q.2"],
        ["P_5.7", "P_6 and more"],
        [],
    ],
    ids=" ".join,
)
def test_parameters(measures: list[str]) -> None:
    qrels, run = made_up(3)
    expected = theirs(qrels, run, set(measures))
    for kind in (list, tuple, set, iter):
        assert_same(ours.RelevanceEvaluator(qrels, kind(measures)).evaluate(run), expected)


@pytest.mark.parametrize("name", ["robust2005", "trec-covid/round1", "dl-hard/passage", "trec-web-2012"])
def test_real_runs(name: str, collection: Callable[[str], Any]) -> None:
    data = collection(name)
    with data.qrels_path.open() as lines:
        evaluator = ours.RelevanceEvaluator(ours.parse_qrel(lines), ours.supported_measures, relevance_level=2)
    for run_name in sorted(data.run_paths)[:2]:
        run = data.run(run_name)
        expected = theirs(data.qrels, run, pytrec_eval.supported_measures, 2)
        assert_same(evaluator.evaluate(run), expected)


def test_infinite_scores() -> None:
    qrels = {"q": {"a": 1, "b": 0, "c": 2, "d": 0}}
    run = {"q": {"a": math.inf, "d": math.inf, "b": 1e300, "c": -math.inf, "e": -1e308}}
    expected = theirs(qrels, run, ["map", "ndcg", "recip_rank"])
    assert_same(ours.RelevanceEvaluator(qrels, ["map", "ndcg", "recip_rank"]).evaluate(run), expected)


@pytest.mark.parametrize("run", [{}, None, [], {"other": {"a": 1.0}}])
def test_nothing_to_evaluate(run: Any) -> None:
    for module in (pytrec_eval, ours):
        assert module.RelevanceEvaluator({"q": {"a": 1}}, ["map"]).evaluate(run) == {}


@pytest.mark.parametrize("qrels", [{}, {"q": {}}, {"q": {}, "p": {"a": 1}}])
def test_queries_without_judgments(qrels: Grades) -> None:
    run = {"q": {"a": 1.0}, "p": {"a": 1.0}}
    found = ours.RelevanceEvaluator(qrels, ["map"]).evaluate(run)
    assert found == theirs(qrels, run, ["map"])


@pytest.mark.parametrize("measure", ["num_ret", "gm_map", "ndcg_cut_10"])
def test_aggregates(measure: str) -> None:
    values = [0.25, -3.5, 11.0, 0.1]
    expected = pytrec_eval.compute_aggregated_measure(measure, values)
    assert ours.compute_aggregated_measure(measure, values) == pytest.approx(expected, rel=1e-15)
    assert ours.compute_aggregated_measure(measure, np.array(values)) == pytest.approx(expected, rel=1e-15)


def test_aggregates_of_nothing() -> None:
    assert ours.compute_aggregated_measure("num_ret", []) == 0
    assert math.isnan(ours.compute_aggregated_measure("map", []))
    assert math.isnan(ours.compute_aggregated_measure("gm_map", []))


# -- The same kinds of errors ------------------------------------------------------------------------------------------

QRELS: Grades = {"q": {"a": 1, "b": 0}}


@pytest.mark.parametrize(
    "call",
    [
        lambda module: module.RelevanceEvaluator(QRELS, ["foo"]),
        lambda module: module.RelevanceEvaluator(QRELS, "map"),
        lambda module: module.RelevanceEvaluator(QRELS, ["official.5"]),
        lambda module: module.RelevanceEvaluator(QRELS, None),
        lambda module: module.RelevanceEvaluator(QRELS, [5]),
        lambda module: module.RelevanceEvaluator(None, ["map"]),
        lambda module: module.RelevanceEvaluator([1], ["map"]),
        lambda module: module.RelevanceEvaluator({"q": {"a": "1"}}, ["map"]),
        lambda module: module.RelevanceEvaluator({"q": {"a": None}}, ["map"]),
        lambda module: module.RelevanceEvaluator({1: {"a": 1}}, ["map"]),
        lambda module: module.RelevanceEvaluator({b"q": {"a": 1}}, ["map"]),
        lambda module: module.RelevanceEvaluator({"q": {1: 1}}, ["map"]),
        lambda module: module.RelevanceEvaluator({"q": ["a"]}, ["map"]),
        lambda module: module.RelevanceEvaluator(QRELS, ["map"], relevance_level=0),
        lambda module: module.RelevanceEvaluator(QRELS, ["map"], relevance_level="1"),
        lambda module: module.RelevanceEvaluator(QRELS, ["map"], judged_docs_only_flag=None),
        lambda module: module.RelevanceEvaluator(QRELS, ["map"], judged_docs_only_flag="yes"),
        lambda module: module.RelevanceEvaluator(QRELS),
        lambda module: module.RelevanceEvaluator(QRELS, ["map"]).evaluate([1]),
        lambda module: module.RelevanceEvaluator(QRELS, ["map"]).evaluate({"q": ["a"]}),
        lambda module: module.RelevanceEvaluator(QRELS, ["map"]).evaluate({"q": {"a": "1"}}),
        lambda module: module.RelevanceEvaluator(QRELS, ["map"]).evaluate({"q": {"a": None}}),
        lambda module: module.RelevanceEvaluator(QRELS, ["map"]).evaluate({"q": {1: 1.0}}),
        lambda module: module.RelevanceEvaluator(QRELS, ["map"]).evaluate({1: {"a": 1.0}}),
        lambda module: module.RelevanceEvaluator(QRELS, ["map"]).evaluate({"q": {"a": 1.0}, "p": {1: 1.0}}),
        lambda module: module.RelevanceEvaluator(QRELS, ["map"]).evaluate({"q": {"a": 1.0}, "p": {"a": "1"}}),
        lambda module: module.parse_run(["q Q0 a 1 1.0 tag", "q Q0 a 2 0.5 tag"]),
        lambda module: module.parse_run(["q Q0 a 1 1.0"]),
        lambda module: module.parse_run(["q Q0 a 1 high tag"]),
        lambda module: module.parse_qrel(["q 0 a 1", "q 0 a 1"]),
        lambda module: module.parse_qrel(["q 0 a"]),
        lambda module: module.parse_qrel(["q 0 a good"]),
    ],
)
def test_errors(call: Callable[[Any], object]) -> None:
    with pytest.raises(Exception) as expected:
        call(pytrec_eval)
    with pytest.raises(expected.type):
        call(ours)


@pytest.mark.parametrize(
    "measure", ["P_0", "P_05,5", "ndcg.10", "ndcg_10", "G.1", "Rndcg.2", "ndcg_rel.1", "iprec_at_recall.1.0,1"]
)
def test_where_pytrec_eval_aborts_the_process(measure: str) -> None:
    with pytest.raises(ValueError, match=r"expected|duplicate cutoff"):
        ours.RelevanceEvaluator(QRELS, [measure])


def test_messages_say_where() -> None:
    with pytest.raises(GainfulError, match=r"qrel\['q'\]\['a'\]: expected a number as grade, found '1'"):
        ours.RelevanceEvaluator({"q": {"a": "1"}}, ["map"])
    with pytest.raises(GainfulError, match=r"run\['q'\]: expected texts as documents, found 7"):
        ours.RelevanceEvaluator(QRELS, ["map"]).evaluate({"q": {"a": 1.0, 7: 2.0}})
    with pytest.raises(GainfulError, match=r"run:2: expected `query Q0 document rank score tag`, found 'q Q0 b'"):
        ours.parse_run(["q Q0 a 1 1.0 tag", "q Q0 b"])
    with pytest.raises(GainfulError, match=r"unsupported measure ndcg_at\n.*did you mean ndcg_cut"):
        ours.RelevanceEvaluator(QRELS, ["ndcg_at"])


def test_scores_that_are_no_numbers() -> None:
    """pytrec_eval puts them anywhere."""
    with pytest.raises(ValueError, match="expected a finite number as score, found nan"):
        ours.RelevanceEvaluator(QRELS, ["map"]).evaluate({"q": {"a": math.nan, "b": 1.0}})


# -- Without its faults ------------------------------------------------------------------------------------------------


def test_every_call_gives_the_same_answer() -> None:
    qrels, run = made_up(11)
    _, other = made_up(12)
    evaluator = ours.RelevanceEvaluator(qrels, ours.supported_measures)
    first = evaluator.evaluate(run)
    evaluator.evaluate(other)
    evaluator.evaluate({query: {} for query in qrels})
    assert evaluator.evaluate(run) == first
    assert pickle.loads(pickle.dumps(evaluator)).evaluate(run) == first


def test_arguments_are_left_alone_and_copied() -> None:
    qrels, run = made_up(5)
    before = pickle.dumps((qrels, run))
    evaluator = ours.RelevanceEvaluator(MappingProxyType(qrels), ["map"])
    first = evaluator.evaluate(MappingProxyType(run))
    assert pickle.dumps((qrels, run)) == before
    for grades in qrels.values():
        grades.clear()
    assert evaluator.evaluate(run) == first


def test_a_query_without_documents_is_an_empty_list() -> None:
    evaluator = ours.RelevanceEvaluator({"q": {"a": 1, "b": 3, "c": 0}}, ours.supported_measures)
    values = evaluator.evaluate({"q": {}})["q"]
    assert values.keys() == evaluator.evaluate({"q": {"a": 1.0}})["q"].keys()
    expected = {"num_q": 1.0, "num_rel": 2.0, "gm_map": math.log(1e-5), "gm_bpref": math.log(1e-5)}
    assert values == {name: expected.get(name, 0.0) for name in values}


def test_a_query_with_grades_below_0_only() -> None:
    values = ours.RelevanceEvaluator({"q": {"a": -1}}, ["num_ret", "num_rel", "map"]).evaluate({"q": {"a": 1.0}})
    assert values == {"q": {"num_ret": 1.0, "num_rel": 0.0, "map": 0.0}}


def test_threads_may_share_an_evaluator() -> None:
    qrels, _ = made_up(21)
    runs = [{query: found for query, found in made_up(seed)[1].items() if query in qrels} for seed in range(12)]
    expected = [ours.RelevanceEvaluator(qrels, ours.supported_measures).evaluate(run) for run in runs]
    for _ in range(5):
        evaluator = ours.RelevanceEvaluator(qrels, ours.supported_measures)  # with nothing prepared yet
        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(evaluator.evaluate, runs)) == expected


def test_real_grades() -> None:
    qrels = {"q": {"a": 0.5, "b": 1.25, "c": 0.0, "d": 0.75}}
    with pytest.raises(TypeError):
        pytrec_eval.RelevanceEvaluator(qrels, ["ndcg"])
    run = {"q": {"c": 4.0, "a": 3.0, "b": 2.0, "x": 1.0}}
    found = ours.RelevanceEvaluator(qrels, ["ndcg", "map", "num_rel"], relevance_level=0.75).evaluate(run)["q"]
    dcg = 0.5 / math.log2(3) + 1.25 / math.log2(4)
    ideal = 1.25 + 0.75 / math.log2(3) + 0.5 / math.log2(4)
    assert found == {"num_rel": 2.0, "map": pytest.approx(1 / 3 / 2), "ndcg": pytest.approx(dcg / ideal)}
    # A document of at least the level is relevant, as the level says.
    assert ours.RelevanceEvaluator(qrels, ["num_rel"]).evaluate(run) == {"q": {"num_rel": 1.0}}


def test_numbers_of_numpy() -> None:
    qrels, run = made_up(2)
    other_qrels = {query: {d: np.int16(grade) for d, grade in found.items()} for query, found in qrels.items()}
    with np.errstate(over="ignore"):
        other_run = {query: {d: np.float32(score) for d, score in found.items()} for query, found in run.items()}
    expected = ours.RelevanceEvaluator(qrels, ours.supported_measures).evaluate(run)
    assert ours.RelevanceEvaluator(other_qrels, ours.supported_measures).evaluate(other_run) == expected


# -- Reading -----------------------------------------------------------------------------------------------------------


def test_files_are_read_alike() -> None:
    qrels, run = made_up(8)
    qrel_lines = [f"{q} 0 {d} {grade}\n" for q, grades in qrels.items() for d, grade in grades.items()]
    run_lines = [f" {q}\tQ0 {d} 1 {score!r} tag \n" for q, scores in run.items() for d, score in scores.items()]
    assert ours.parse_qrel(qrel_lines) == pytrec_eval.parse_qrel(qrel_lines) == qrels
    assert ours.parse_run(run_lines) == pytrec_eval.parse_run(run_lines) == run
    assert all(type(grade) is int for grades in ours.parse_qrel(qrel_lines).values() for grade in grades.values())
    assert ours.parse_run(iter(run_lines))["not there"] == {} == pytrec_eval.parse_run(run_lines)["not there"]


def test_real_grades_and_blank_lines_are_read() -> None:
    assert ours.parse_qrel(["q 0 a 0.5\n", "\n", "q 0 b -1\n"]) == {"q": {"a": 0.5, "b": -1}}
    assert ours.parse_run(["\n", "q Q0 a 1 3 tag\n", "  "]) == {"q": {"a": 3.0}}
