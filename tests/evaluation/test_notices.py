"""Notices: run by run, and once for what is so of many runs."""

from __future__ import annotations

from gainful import evaluate
from gainful.evaluation.notices import notices

QRELS = {"q1": {"d1": 1}, "q2": {"d1": 0}, "q3": {"d1": 1}}
WHOLE = {"q1": ["d1"], "q2": ["d1"], "q3": ["d1"]}
SHORT = {"q1": ["d1"], "q2": ["d1"]}


def said(runs: dict[str, dict[str, list[str]]]) -> list[str]:
    return notices(evaluate(QRELS, runs, "AP").values())


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


def test_of_many_runs_those_with_most_unjudged_documents_are_named() -> None:
    runs = {f"r{i}": {query: ["d1", *(f"x{j}" for j in range(i))] for query in QRELS} for i in range(1, 8)}
    assert said(runs)[-1] == (
        "unjudged in the top 10: r7 87.5%, r6 85.7%, r5 83.3%, r4 80.0%, r3 75.0%, 2 more less than these"
    )


def test_queries_that_differ_only_in_their_normal_form_are_told_apart() -> None:
    qrels = {"caf\u00e9": {"d1": 1}, "q2": {"d1": 1}}
    run = {"cafe\u0301": ["d1"], "q2": ["d1"]}
    lines = notices(evaluate(qrels, {"a": run}, "AP").values())
    assert lines[2] == (
        "a: 1 query not written as in the judgments, different only in Unicode normal form: "
        r"cafe\u0301 (judged: caf\xe9)"
    )
    other = notices(evaluate(qrels, {"a": {"th\u00e9": ["d1"], "q2": ["d1"]}}, "AP").values())
    assert not [line for line in other if "normal form" in line]
