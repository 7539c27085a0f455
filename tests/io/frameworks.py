"""Checks for documents of frameworks, whatever their classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gainful import InputError, evaluate

GOLD = {"q1": {"c1": 1}, "q2": {"c3": 1}}
#: The ids of retrieved chunks and the document of each.
LISTS = {"q1": [("c2", "a.pdf"), ("c1", "b.pdf")], "q2": [("c3", "b.pdf"), ("c4", "b.pdf")]}
Make = Callable[[str | None, float | None, dict[str, Any]], Any]


def lists_of(make: Make, with_id: bool, **about: Any) -> dict[str, list[Any]]:
    return {
        query: [
            make(chunk if with_id else None, 1 - i / 10, {"source": source, **({} if with_id else {"chunk_id": chunk})})
            for i, (chunk, source) in enumerate(chunks)
        ]
        for query, chunks in LISTS.items()
    }


def check_documents(make: Make, path: str, has_own_id: bool) -> None:
    """The mean reciprocal rank of :data:`LISTS` is (1/2 + 1) / 2, by chunks and by their documents."""
    run = lists_of(make, True)
    assert evaluate(GOLD, run, "RR").mean("RR") == 3 / 4
    by_document = {"q1": ["b.pdf"], "q2": ["b.pdf"]}
    assert evaluate(by_document, run, "RR", parent=f"{path}.source").mean("RR") == 3 / 4
    apart = lists_of(make, False)
    assert evaluate(GOLD, apart, "RR", id=f"{path}.chunk_id").mean("RR") == 3 / 4
    assert evaluate(GOLD, apart, "RR", columns={"run.document": f"{path}.chunk_id"}).mean("RR") == 3 / 4
    if has_own_id:  # made up where none was given: which one is meant has to be said
        with pytest.raises(InputError, match=f"no unique id for this document.*\n.*use id='{path}.chunk_id'"):
            evaluate(GOLD, apart, "RR")
    else:
        assert evaluate(GOLD, apart, "RR").mean("RR") == 3 / 4
