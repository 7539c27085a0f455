"""Dicts of one run and of several runs are distinguished by their values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pytest

from gainful import Evaluation, Evaluations, InputError, Run, UsageError, evaluate

QRELS = {"q1": {"d1": 2, "d2": 1}, "q2": {"d1": 1}}
SCORED = {"q1": {"d2": 2.0, "d1": 1.0}, "q2": {"d1": 1.0}}
LISTED = {"q1": ["d2", "d1"], "q2": ["d1"]}
FRAME = polars.DataFrame({"query": ["q1", "q1", "q2"], "document": ["d2", "d1", "d1"], "score": [2.0, 1.0, 1.0]})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "some.run"
    file.write_text("q1 Q0 d2 1 2 x\nq1 Q0 d1 2 1 x\nq2 Q0 d1 1 1 x\n")
    return file


@pytest.mark.parametrize("empty", [{}, {"q2": {}}, {"q2": []}])
def test_one_run(path: Path, empty: dict[str, Any]) -> None:
    arrays = {query: np.array(documents) for query, documents in LISTED.items()}
    for run in (SCORED, LISTED, arrays, FRAME, path, str(path), path.read_bytes(), Run.from_dict(SCORED)):
        found = evaluate(QRELS, run, "RR")
        assert isinstance(found, Evaluation) and found.mean("RR") == 1.0
    assert isinstance(evaluate(QRELS, {"q1": {"d1": 1.0}, **empty}, "RR"), Evaluation)


def test_several_runs(path: Path) -> None:
    runs = {"a": SCORED, "b": LISTED, "c": FRAME, "d": path, "e": str(path), "f": Run.from_dict(SCORED)}
    found = evaluate(QRELS, runs, "RR")
    assert isinstance(found, Evaluations) and list(found) == list("abcdef")
    assert {name: (each.run, each.mean("RR")) for name, each in found.items()} == {name: (name, 1.0) for name in runs}
    assert list(evaluate(QRELS, {"a": SCORED, "b": {"q1": {}, "q2": {"d1": 1.0}}}, "RR")) == ["a", "b"]


def test_what_is_neither() -> None:
    with pytest.raises(UsageError, match="found 'a' with a run and 'q1' with documents"):
        evaluate(QRELS, {"a": SCORED, "q1": ["d1"]})
    with pytest.raises(UsageError, match="expected texts as names of runs, found 7"):
        evaluate(QRELS, {7: SCORED})
    with pytest.raises(UsageError, match="expected a run, or a dict of names and runs, found list"):
        evaluate(QRELS, ["bm25.run", "dense.run"])
    with pytest.raises(UsageError, match="name cannot be given for several runs"):
        evaluate(QRELS, {"a": SCORED}, name="b")  # type: ignore[call-overload]


def test_several_are_shown_together() -> None:
    found = evaluate(QRELS, {"a": SCORED, "b": LISTED}, ["P@1", "NumRet"])
    assert repr(found) == "<Evaluations of a, b by P@1, NumRet, 2 queries>"
    assert str(found).splitlines()[0].split() == ["run", "P@1", "NumRet"]
    frame = found.to_polars()
    assert frame["run"].to_list() == ["a", "a", "b", "b"] and frame["NumRet"].to_list() == [2, 1, 2, 1]
    assert found["a"].to_pandas()["run"].tolist() == ["a", "a"]


@pytest.mark.parametrize(
    ("option", "hint"),
    [
        ("metrics", "it is measures="),
        ("k", 'as in "nDCG@5"'),
        ("rel", r'as in "P\(rel=2\)@5"'),
        ("relevance_level", r'as in "P\(rel=2\)@5"'),
        ("make_comparable", r"not answered count 0 here"),
    ],
)
def test_options_of_other_tools(option: str, hint: str) -> None:
    with pytest.raises(UsageError, match=rf"evaluate: no option {option}\nhint: .*{hint}"):
        evaluate(QRELS, SCORED, **{option: 2})  # type: ignore[call-overload]


@pytest.mark.parametrize("make", [list, tuple, pandas.DataFrame, polars.DataFrame, pyarrow.Table.from_pylist])
def test_objects_are_read_as_from_files(make: Any) -> None:
    golden = [{"question": "who?", "expected_chunks": ["a", "b"]}, {"question": "why?", "expected_chunks": ["c"]}]
    results = {"who?": [("x", 0.9), ("b", 0.8)], "why?": [("c", 0.7)]}
    retrieved = [
        {"question": question, "results": [{"chunk_id": chunk, "similarity": score} for chunk, score in found]}
        for question, found in results.items()
    ]
    expected = evaluate({"who?": ["a", "b"], "why?": ["c"]}, results, ["R@5", "RR"])
    found = evaluate(make(golden), make(retrieved), ["recall@5", "MRR"])
    assert found.by_query("R@5") == expected.by_query("R@5") == {"who?": 0.5, "why?": 1.0}
    assert found.by_query("RR") == expected.by_query("RR")
    assert list(evaluate(make(golden), {"old": make(retrieved), "new": results}, "RR")) == ["old", "new"]
    renamed = [{"asked": each["question"], "got": each["results"]} for each in retrieved]
    named = evaluate(make(golden), make(renamed), "RR", columns={"run.query": "asked", "run.document": "got"})
    assert named.by_query("RR") == expected.by_query("RR")


def test_rows_in_memory() -> None:
    rows = [{"query": "q1", "doc": "d2", "score": 0.5}, {"query": "q1", "doc": "d1", "score": 0.7}]
    judged = [{"query": "q1", "doc": "d1", "grade": 0}, {"query": "q1", "doc": "d2", "grade": 2}]
    assert evaluate(judged, rows, "RR").by_query("RR") == {"q1": 0.5}


def test_lists_that_are_none_of_objects() -> None:
    lists: Any = [["a"], ["b"]]
    with pytest.raises(UsageError, match=r"found list\nhint: each dict of a list must hold a query and its documents"):
        evaluate(lists, {"q": ["a"]})
    with pytest.raises(UsageError, match=r'found list\nhint: a run is .* \[{"query": "q1", "results": '):
        evaluate(QRELS, lists)
    odd: Any = [{"id": "q", "expected": ["a"]}, 3]
    with pytest.raises(InputError, match=r"<list>\[1\]: expected an object, found 3"):
        evaluate(odd, {"q": ["a"]})
