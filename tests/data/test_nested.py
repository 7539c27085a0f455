"""Runs and judgments from dicts: the fast path and the general one give the same columns."""

from __future__ import annotations

import random
from collections import OrderedDict, defaultdict
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from gainful import GainfulWarning, InputError, Qrels, Run, Sessions, UsageError, evaluate
from gainful.notation import bytes_of_id
from tests.io.conftest import rows_read
from tests.together import together


def rows(columns: Run | Qrels) -> list[tuple[bytes, bytes, float | None]]:
    return [(bytes_of_id(query), bytes_of_id(document), value) for query, document, value in rows_read(columns)]


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


@together("kind", [Run, Qrels])
@together("clothes", list(CLOTHES))
@together("seed", range(3))
def test_every_kind_of_dict_gives_the_same_columns(kind: Any, clothes: str, seed: int) -> None:
    plain = made_up(seed)
    columns = kind.from_dict({query: CLOTHES[clothes](found) for query, found in plain.items()})
    expected = [(q.encode(), d.encode(), value) for q, found in plain.items() for d, value in found.items()]
    assert [row for row in rows(columns) if row[1] != b"\x80"] == expected
    assert list(columns.query_ids) == (list if kind is Run else sorted)(query.encode() for query in plain)
    assert rows(kind.from_dict(plain)) == expected


@pytest.mark.parametrize("items", [[("c1", 0.5), ("c2", 2)], [{"id": "c1", "score": 0.5}, {"id": "c2", "score": 2}]])
def test_results_of_retrievers_are_a_run(items: list[Any]) -> None:
    assert rows(Run.of({"q": items})) == [(b"q", b"c1", 0.5), (b"q", b"c2", 2.0)]
    with pytest.raises(InputError, match=r"<dict>\['q'\]\[2\]: expected \[document, score\], found \[\"c3\"\]"):
        Run.of({"q": [*items, ("c3",)]})


@pytest.mark.parametrize("value", [{"q": ["c2", "c1"]}, {"q": {"c2", "c1"}}, b'{"q": ["c2", "c1"]}'])
def test_judgments_that_list_documents_call_all_of_them_relevant(value: Any) -> None:
    judgments = Qrels.of(value)
    assert sorted(rows(judgments)) == [(b"q", b"c1", 1.0), (b"q", b"c2", 1.0)]
    with pytest.warns(GainfulWarning, match="no grades; every listed document counts as relevant, with grade 1"):
        assert evaluate(value, {"q": ["c1", "x"]}, "R@2").mean("R@2") == 0.5
    with pytest.raises(InputError, match="expected a dict of documents and grades or a list of documents, found 'c1'"):
        Qrels.of({"q": "c1"})
    with pytest.raises(InputError, match="no grades, but other lists have them"):
        Qrels.of({"q": {"c1": 1}, "r": ["c2"]})


def test_options_of_other_tools_have_hints() -> None:
    untyped: Any = evaluate
    with pytest.raises(UsageError, match=r'no option like\n.*policy="trec_eval-9"'):
        untyped({"q": {"d": 1}}, {"q": ["d"]}, "RR", like="trec_eval-9")
    with pytest.raises(UsageError, match=r"no option k\n.*nDCG@5"):
        untyped({"q": {"d": 1}}, {"q": ["d"]}, "nDCG", k=5)
    with pytest.raises(TypeError, match="unexpected keyword argument 'kk'"):
        untyped({"q": {"d": 1}}, {"q": ["d"]}, "nDCG", kk=5)


@together(
    ("lists", "message"),
    [
        ({"q": {"d": "high"}}, r"<dict>\['q'\]\['d'\]: expected a finite number as score, found 'high'"),
        ({"q": {"d": float("nan")}}, "expected a finite number as score, found nan"),
        ({"q": {"d": 10**400}}, "expected a finite number as score, found 1000"),
        ({"q": {"d": 10**5000}}, r"<dict>\['q'\]\['d'\]: expected a number of at most 4,300 digits"),
        ({"q": {10**5000: 1}}, r"<dict>\['q'\]: expected a number of at most 4,300 digits"),
        ({"q": {"": 1.0}}, r"<dict>\['q'\]: expected an id, found an empty one"),
        ({"q": {"a": 1.0, True: 1.0}}, "expected a text, bytes or an integer as id, found True"),
        ({"1": {"a": 1.0}, 1: {"a": 1.0}}, r"<dict>\[1\]: duplicate query 1"),
        ({1.5: {"a": 1.0}}, r"<dict>\[1.5\]: query: expected a text"),
        ({"q": {"a", "b"}}, r"<dict>\['q'\]: expected a dict of documents and scores or a list of documents"),
        ({"q": {"a": 1.0}, "p": None}, r"<dict>\['p'\]: expected a dict of documents and scores"),
    ],
)
def test_invalid_dicts_are_errors(lists: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Run.from_dict(lists)


def test_places_of_plain_dicts_are_named() -> None:
    lists = {"q1": {"a": 1.0}, "q2": {"b": 2.0, 3: 1.5, "3": 1.0}}
    with pytest.raises(InputError, match=r"<dict>\['q2'\]: item 3: .*'3'.*item 2"):
        evaluate({"q2": {"b": 1}}, lists, "AP")
    origin = Run.from_dict(lists).origin
    assert origin is not None
    chosen = origin.take(np.array([2, 0]))
    assert [chosen.where(row) for row in range(2)] == ["<dict>['q2']: item 2", "<dict>['q1']: item 1"]


def test_judgments_and_runs_are_made_as_elsewhere() -> None:
    assert rows(Qrels({"q": {"d": 5}})) == [(b"q", b"d", 5.0)]
    assert rows(Run({"q": {"d": 0.5}}, name="mine")) == [(b"q", b"d", 0.5)]
    assert rows(Run({7: {12: 1, "x": 2.5}})) == [(b"7", b"12", 1.0), (b"7", b"x", 2.5)]
    with pytest.raises(UsageError, match=r"found dict\nhint: use from_dict for a dict"):
        Run.read({"q": ["a"]})  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"Qrels: expected a dict, found str\nhint: Qrels\.of"):
        Qrels("qrels.txt")
    for maker, ours in (("from_file", "read"), ("from_df", "from_frame")):
        with pytest.raises(AttributeError, match=rf"has no attribute '{maker}'; use Run\.{ours}"):
            getattr(Run, maker)


def test_they_are_shown_in_one_short_line_however_large() -> None:
    documents = {f"d{i}": i % 3 for i in range(1_000)}
    assert repr(Qrels.from_dict({"q1": documents, "q2": {"d1": 1}})) == "<Qrels <dict>: 2 queries, 1,001 judgments>"
    assert repr(Run.from_dict({"q1": documents}, name="bm25")) == "<Run bm25: 1 query, 1,000 documents>"
    sessions = Sessions.of([{"session": "s1", "queries": [{"results": ["d1", "d2"]}, {"results": []}]}])
    assert repr(sessions).endswith(": 1 session, 2 queries>") and len(repr(sessions)) < 60
    assert "\n" not in repr(Run.from_dict({"q": ["d"]}, name="two\nlines"))
