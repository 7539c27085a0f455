"""Per-query values of pytrec_eval, which runs the code of trec_eval 9.0.8."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import pytest
import pytrec_eval
from hypothesis import given, settings, strategies as st

from gainful import Evaluation, Measure, Policy, evaluate, parse

TOLERANCE = 1e-12

MEASURES = (
    *("num_ret", "num_rel", "num_rel_ret", "map", "map_cut.5,10,20,100,1000", "ndcg", "ndcg_cut.5,10,20,100,1000"),
    *("recip_rank", "Rprec", "P.1,5,10,20,100,1000", "recall.5,10,20,100,1000", "success.1,5,10", "11pt_avg"),
    *("iprec_at_recall.0.0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1.0", "set_P", "set_recall", "set_F", "set_map"),
    *("set_relative_P", "utility", "bpref", "infAP", "binG", "G", "ndcg_rel", "Rndcg", "relative_P.5,10,20,100,1000"),
    *("Rprec_mult.0.2,0.4,0.6,0.8,1.0,1.2,1.4,1.6,1.8,2.0", "num_nonrel_judged_ret"),
)

#: What -J makes NaN where a list has nothing judged.
ZERO_BY_ZERO = ("iprec_at_recall", "11pt_avg")

Grades = Mapping[str, Mapping[str, int]]
Lists = Mapping[str, Mapping[str, float]]
Scores = dict[str, dict[str, float]]

#: trec_eval's -l, and whether -J is given.
SETTINGS = {"plain": (1, False), "-l2": (2, False), "-J": (1, True), "-l2 -J": (2, True)}


def expand(measures: tuple[str, ...]) -> list[str]:
    """The names under which trec_eval reports measures: ``P.5,10`` becomes P_5 and P_10."""
    names = []
    for measure in measures:
        family, _, parameters = measure.partition(".")
        for parameter in filter(None, parameters.split(",")):
            names.append(f"{family}_{float(parameter):.2f}" if "." in parameter else f"{family}_{parameter}")
        if not parameters:
            names.append(family)
    return names


def theirs(qrels: Grades, run: Lists, level: int, judged_only: bool) -> Scores:
    # A new evaluator for every run: the second call of one and the same is not reliable.
    evaluator = pytrec_eval.RelevanceEvaluator(
        qrels, set(MEASURES), relevance_level=level, judged_docs_only_flag=judged_only
    )
    scores = evaluator.evaluate(run)
    for values in scores.values():
        if judged_only:
            # Where a list has nothing judged, trec_eval divides 0 by 0: see differences.toml.
            values.update({name: 0.0 for name in values if name.startswith(ZERO_BY_ZERO) and math.isnan(values[name])})
        if values["num_rel"] == 0:
            # Where nothing reaches the level, trec_eval has no Rndcg, although -l does not touch its gains.
            del values["Rndcg"]
    return scores


def like_trec_eval(judged_only: bool) -> Policy:
    return Policy.like("trec_eval-9", unjudged="condensed" if judged_only else "zero")


def assert_equal(ours: Evaluation, expected: Scores, names: Mapping[str, Measure]) -> None:
    """Both score the same queries, and every score is the same."""
    for name, measure in names.items():
        found = {query: value for query, value in ours.by_query(measure).items() if value is not None}
        assert found.keys() == expected.keys(), f"{ours.run}: queries of {measure}"
        for query, value in found.items():
            if name in expected[query]:
                assert abs(value - expected[query][name]) <= TOLERANCE, f"{ours.run}: {measure} of query {query}"


def names_for(our_name: Callable[..., str], level: int) -> dict[str, str]:
    return {name: our_name(name, level) for name in expand(MEASURES)}


def measures_for(our_name: Callable[..., str], level: int) -> dict[str, Measure]:
    return {name: parse(ours) for name, ours in names_for(our_name, level).items()}


# -- Real collections --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("level", "judged_only"), SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("name", ["robust2005", "trec-covid/round1", "dl-hard/passage", "trec-web-2012"])
def test_real_runs(
    name: str,
    level: int,
    judged_only: bool,
    collection: Callable[[str], Any],
    our_name: Callable[..., str],
) -> None:
    data, names = collection(name), measures_for(our_name, level)
    # Settings differ by measure, not by run: some runs in the plain one, one in the others.
    paths = dict(list(data.run_paths.items())[: 4 if (level, judged_only) == (1, False) else 1])
    evaluations = evaluate(data.qrels_path, paths, names.values(), policy=like_trec_eval(judged_only))
    for run, evaluation in evaluations.items():
        assert_equal(evaluation, theirs(data.qrels, data.run(run), level, judged_only), names)


@pytest.mark.parametrize(("theirs", "ours"), [("gm_map", "GMAP"), ("gm_bpref", "GMBpref")])
def test_geometric_means(theirs: str, ours: str, collection: Callable[[str], Any]) -> None:
    data = collection("robust2005")
    evaluations = evaluate(data.qrels_path, dict(list(data.run_paths.items())[:2]), [ours], policy="trec_eval-9")
    for run, evaluation in evaluations.items():
        # Theirs are logarithms until they are aggregated: see differences.toml.
        scores = pytrec_eval.RelevanceEvaluator(data.qrels, {theirs}).evaluate(data.run(run))
        mean = pytrec_eval.compute_aggregated_measure(theirs, [values[theirs] for values in scores.values()])
        assert abs(evaluation.aggregate(ours) - mean) <= TOLERANCE, run


# -- Generated collections ---------------------------------------------------------------------------------------------

DOCUMENTS = ["a", "b", "c", "d", "A", "Z", "a1", "a10", "a2", "a-1", "a_1", "10", "2", "~", "é", "ß", "日", "😀"]
#: Many ties, some of them only between 32-bit floats.
TYING = [0.0, -0.0, 1.0, 1.0 + 1e-9, 1.0 - 1e-9, 1.0 + 1e-7, 16777216.0, 16777217.0, -2.5, 0.1, 0.1 + 1e-10]
TYING += [1e-50, 1e39, 1e40, -1e39]

# Every query has a grade of at least 0: without one trec_eval may crash, see differences.toml.
graded = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-2, 4), min_size=1).filter(
    lambda grade_of: max(grade_of.values()) >= 0
)
scored = st.dictionaries(
    st.sampled_from(DOCUMENTS), st.sampled_from(TYING) | st.floats(-1, 1, allow_subnormal=False), min_size=1
)
queries = ["q1", "q10", "q2", "é"]


@st.composite
def collections(draw: st.DrawFn) -> tuple[Grades, Lists]:
    """Judgments and a run that share a query, and maybe have others to themselves."""
    shared = draw(st.sampled_from(queries))
    qrels = draw(st.dictionaries(st.sampled_from(queries), graded)) | {shared: draw(graded)}
    run = draw(st.dictionaries(st.sampled_from(queries), scored)) | {shared: draw(scored)}
    return qrels, run


def test_generated_runs(our_name: Callable[..., str]) -> None:
    names = {level: measures_for(our_name, level) for level in (1, 2)}

    @settings(max_examples=30, deadline=None, derandomize=True, database=None)
    @given(collections())
    def compare(generated: tuple[Grades, Lists]) -> None:
        qrels, run = generated
        for level, judged_only in SETTINGS.values():
            expected = theirs(qrels, run, level, judged_only)
            ours = evaluate(qrels, run, names[level].values(), policy=like_trec_eval(judged_only))
            assert_equal(ours, expected, names[level])

    compare()
