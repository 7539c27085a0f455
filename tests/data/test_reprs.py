"""Judgments, runs and sessions say in one short line what they are, however large."""

from __future__ import annotations

from gainful import Qrels, Run, Sessions


def test_one_short_line() -> None:
    documents = {f"d{i}": i % 3 for i in range(1_000)}
    assert repr(Qrels.from_dict({"q1": documents, "q2": {"d1": 1}})) == "<Qrels <dict>: 2 queries, 1,001 judgments>"
    assert repr(Run.from_dict({"q1": documents}, name="bm25")) == "<Run bm25: 1 query, 1,000 documents>"
    sessions = Sessions.of([{"session": "s1", "queries": [{"results": ["d1", "d2"]}, {"results": []}]}])
    assert repr(sessions).endswith(": 1 session, 2 queries>") and len(repr(sessions)) < 60


def test_a_name_that_cannot_be_printed_is_escaped() -> None:
    assert "\n" not in repr(Run.from_dict({"q": ["d"]}, name="two\nlines"))
