"""Tables of items: the catalogue and shared attributes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from gainful import InputError, Qrels, evaluate
from gainful.data.items import Items
from tests.together import together

COLUMNS = [
    b"item_id,title,genres\na,A,war|drama\nb,B,war\nc,C,(no genres listed)\n",
    b"id\tname\tgenres\na\tA\twar|drama\nb\tB\twar\nc\tC\t\n",
    b"movieId,war,drama\na,1,1\nb,1,0\nc,0,0\n",
    b'[{"item": "a", "genres": ["war", "drama"]}, {"item": "b", "genres": ["war"]}, {"item": "c"}]',
    b'{"a": {"genres": "war|drama"}, "b": {"genres": "war"}, "c": {"genres": null}}',
    {"a": ["war", "drama"], "b": "war", "c": []},
    pd.DataFrame({"sku": ["a", "b", "c"], "war": [1.0, 1.0, None], "drama": [True, False, False]}),
]


@together("table", COLUMNS)
def test_attributes(table: Any) -> None:
    items = Items(table)
    attributes = items.attributes(None)
    assert (items.ids, items.catalogue) == ([b"a", b"b", b"c"], 3)
    assert np.diff(attributes.offsets).tolist() == [2, 1, 0]
    pairs = [(one, other) for one in range(3) for other in range(3)]
    shared = attributes.shared(*(np.array(side) for side in zip(*pairs, strict=True)))
    assert shared.tolist() == [2, 1, 0, 1, 1, 0, 0, 0, 0]


def test_numbers_are_names_unless_they_are_flags() -> None:
    attributes = Items(b"item,category\na,12\nb,7\nc,12\n").attributes(None)
    assert attributes.shared(np.array([0, 0]), np.array([1, 2])).tolist() == [0, 1]


def test_the_past() -> None:
    items = Items(training=b"user,item\nu,a\nu,b\nu,a\nv,a\n")
    assert (items.catalogue, items.users, items.interactions) == (2, 2, 3)
    assert items.taken_by.tolist() == [2, 1]
    row, item = items.history([b"v", b"nobody", b"u"])
    assert (row.tolist(), item.tolist()) == ([0, 2, 2], [0, 0, 1])


def test_they_stay_with_judgments() -> None:
    qrels = Qrels.from_dict({"u": ["a"], "v": ["b"]}).with_items({"a": "x", "b": "y"})
    found = evaluate(qrels, {"u": ["a", "b"], "v": ["a"]}, ["ILD@2", "Coverage@1"])
    assert found["Coverage@1"] == 0.5
    assert found.explain("ILD@2", "u").value == 1.0
    assert qrels.select(["u"]).items is qrels.items


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (b"item,genre\na,x\na,y\n", r"items:3: duplicate item 'a' \(first: items:2\)"),
        (b"colour,genre\na,x\n", r"items: no column for document \(docno, .*\); columns: colour, genre"),
        ([], r"items: the table of items is empty"),
    ],
)
def test_bad_tables(table: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Items(table)
