"""Notices: run by run, and once for what is so of many runs."""

from __future__ import annotations

from gainful import evaluate_runs
from gainful.evaluation.notices import notices

QRELS = {"q1": {"d1": 1}, "q2": {"d1": 0}, "q3": {"d1": 1}}
WHOLE = {"q1": ["d1"], "q2": ["d1"], "q3": ["d1"]}
SHORT = {"q1": ["d1"], "q2": ["d1"]}


def said(runs: dict[str, dict[str, list[str]]]) -> list[str]:
    return notices(evaluate_runs(QRELS, runs, "AP").values())


def test_a_few_runs_are_told_one_by_one() -> None:
    lines = said({"a": SHORT, "b": WHOLE})
    assert lines == [
        "a: 1 judged query not answered, scored as badly as can be (missing=zero): q3",
        "a: 1 query with AP undefined, scored as badly as can be (undefined=zero): q2",
        "b: 1 query with AP undefined, scored as badly as can be (undefined=zero): q2",
    ]


def test_what_is_so_of_many_runs_is_said_once() -> None:
    lines = said({f"r{i}": SHORT if i < 7 else WHOLE for i in range(9)})
    assert lines == [
        "r0, r1, r2, r3, r4, 2 more: 1 judged query not answered, scored as badly as can be (missing=zero): q3",
        "all 9 runs: 1 query with AP undefined, scored as badly as can be (undefined=zero): q2",
    ]
