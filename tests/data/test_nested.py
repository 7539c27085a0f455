"""Runs and judgments from dicts: one way for what is plain, another for what has to be looked at, the same columns."""

from __future__ import annotations

import random
from collections import OrderedDict, defaultdict
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from gainful import InputError, Qrels, Run, UsageError, evaluate


def rows(columns: Run | Qrels) -> list[tuple[bytes, bytes, float]]:
    """Query, document and value of every row, in their order."""
    if isinstance(columns, Run):
        return [(columns.query_of(i), columns.document(i), float(columns.score[i])) for i in range(len(columns))]
    return [
        (columns.query_ids[int(columns.query[i])], columns.document(i), float(columns.grade[i]))
        for i in range(len(columns))
    ]


def made_up(seed: int) -> dict[str, dict[str, float]]:
    luck = random.Random(seed)
    return {
        f"q{number}": {f"d{luck.randrange(100)}é": float(np.float32(luck.random())) for _ in range(luck.randrange(9))}
        for number in range(12)
    }


#: The same entries in clothes that are not plain.
CLOTHES: dict[str, Any] = {
    "ordered": OrderedDict,
    "read-only": MappingProxyType,
    "float32": lambda found: {key: np.float32(value) for key, value in found.items()},
    "default": lambda found: defaultdict(float, found),
    "bytes": lambda found: {key.encode(): value for key, value in found.items()},
    "surrogates": lambda found: {**found, "\udc80": 1.0},
}


@pytest.mark.parametrize("kind", [Run, Qrels])
@pytest.mark.parametrize("clothes", list(CLOTHES))
@pytest.mark.parametrize("seed", range(3))
def test_every_kind_of_dict_gives_the_same_columns(kind: Any, clothes: str, seed: int) -> None:
    plain = made_up(seed)
    columns = kind.from_dict({query: CLOTHES[clothes](found) for query, found in plain.items()})
    expected = [(q.encode(), d.encode(), value) for q, found in plain.items() for d, value in found.items()]
    assert [row for row in rows(columns) if row[1] != b"\x80"] == expected
    assert list(columns.query_ids) == (list if kind is Run else sorted)(query.encode() for query in plain)
    assert rows(kind.from_dict(plain)) == expected


def test_numbers_as_ids_are_their_texts() -> None:
    assert rows(Run.from_dict({7: {12: 1, "x": 2.5}})) == [(b"7", b"12", 1.0), (b"7", b"x", 2.5)]


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ({"q": {"d": "high"}}, r"<dict>\['q'\]\['d'\]: expected a finite number as score, found 'high'"),
        ({"q": {"d": float("nan")}}, "expected a finite number as score, found nan"),
        ({"q": {"d": 10**400}}, "expected a finite number as score, found 1000"),
        ({"q": {"d": 10**5000}}, r"<dict>\['q'\]\['d'\]: expected a number of at most 4,300 digits"),
        ({"q": {10**5000: 1}}, r"<dict>\['q'\]: expected a number of at most 4,300 digits"),
        ({"q": {"": 1.0}}, r"<dict>\['q'\]: expected an id, found an empty one"),
        ({"q": {"a": 1.0, True: 1.0}}, "expected a text, bytes or an integer as id, found True"),
        ({"1": {"a": 1.0}, 1: {"a": 1.0}}, r"<dict>\[1\]: expected every query once, found 1 again"),
        ({1.5: {"a": 1.0}}, r"<dict>\[1.5\]: query: expected a text"),
        ({"q": {"a": 1.0}, "p": None}, r"<dict>\['p'\]: expected a dict of documents and scores"),
    ],
)
def test_a_closer_look_says_what_is_wrong(lists: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Run.from_dict(lists)


def test_lists_of_relevant_documents_are_shown_what_is_expected() -> None:
    with pytest.raises(InputError, match=r"found \['a', 'b'\]\nhint: .*\{document: 1 for document in \.\.\.\}"):
        Qrels.from_dict({"q": ["a", "b"]})


def test_reading_a_dict_says_what_takes_it() -> None:
    with pytest.raises(UsageError, match=r"found dict\nhint: from_dict takes a dict"):
        Run.read({"q": ["a"]})  # type: ignore[arg-type]


def test_places_of_plain_dicts_are_named() -> None:
    lists = {"q1": {"a": 1.0}, "q2": {"b": 2.0, 3: 1.5, "3": 1.0}}
    with pytest.raises(InputError, match=r"<dict>\['q2'\]: item 3: .*'3'.*item 2"):
        evaluate({"q2": {"b": 1}}, lists, "AP")
    origin = Run.from_dict(lists).origin
    assert origin is not None
    chosen = origin.take(np.array([2, 0]))
    assert [chosen.where(row) for row in range(2)] == ["<dict>['q2']: item 2", "<dict>['q1']: item 1"]
