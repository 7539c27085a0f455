"""Precision by recall level by level on real collections, query by query as trec_eval has it.

trec_eval knows levels only as thresholds (-l, for documents of at least a grade). For a grade by itself it gets
judgments that were rewritten for it: this grade is 1, all others are 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import pytrec_eval

from gainful import RecallLevels, recall_levels

TOLERANCE = 1e-9
TENTHS = tuple(tenth / 10 for tenth in range(11))
THEIRS = {"map", "iprec_at_recall." + ",".join(f"{tenth:.1f}" for tenth in TENTHS)}

Judgments = dict[str, dict[str, int]]
Scores = dict[str, dict[str, float]]


def theirs_of(qrels: Judgments, run: Scores, mode: str, grade: int) -> Scores:
    """What trec_eval says at a level."""
    if mode == "rel":
        return dict(pytrec_eval.RelevanceEvaluator(qrels, THEIRS, relevance_level=grade).evaluate(run))
    alone = {
        query: {document: int(found == grade) for document, found in grades.items()} for query, grades in qrels.items()
    }
    return dict(pytrec_eval.RelevanceEvaluator(alone, THEIRS).evaluate(run))


def is_relevant(found: int, mode: str, grade: int) -> bool:
    return found == grade if mode == "level" else found >= grade


class Pair(NamedTuple):
    """A collection, what we make of some of its runs with trec_eval's conventions, and what trec_eval makes of them."""

    real: Any
    found: RecallLevels
    expected: list[tuple[str, Any, Scores]]


@pytest.fixture(scope="module", params=["robust2005", "trec-web-2012"])
def pair(request: pytest.FixtureRequest, collection: Callable[[str], Any]) -> Pair:
    real = collection(request.param)
    names = list(real.run_paths)[::4]
    found = recall_levels(
        real.qrels_path, {name: real.run_paths[name] for name in names}, policy="trec_eval-9", baseline=names[-1]
    )
    expected = [
        (name, base, theirs_of(real.qrels, real.run(name), base.mode, int(base.grade)))
        for name in found.runs
        for base in found.bases
    ]
    return Pair(real, found, expected)


def test_every_query_and_point(pair: Pair) -> None:
    real, found, expected = pair
    compared = 0
    evaluations = dict(zip(found.runs, found.evaluations, strict=True))
    for name, base, theirs in expected:
        filled = {
            query
            for query in theirs
            if any(is_relevant(grade, base.mode, base.grade) for grade in real.qrels[query].values())
        }
        measures = {"map": base.average_precision}
        measures |= {f"iprec_at_recall_{tenth:.2f}": base.precision_at(tenth) for tenth in TENTHS}
        for their_name, measure in measures.items():
            ours = evaluations[name].by_query(measure)
            for query, scores in theirs.items():
                value = ours[query]
                if query in filled:
                    where = (name, str(measure), query)
                    assert value is not None and abs(value - scores[their_name]) <= TOLERANCE, where
                    compared += 1
                else:
                    # trec_eval scores 0 where nothing is relevant; a table by level leaves the query out.
                    assert (value, scores[their_name]) == (None, 0.0)
    assert compared > 5000
