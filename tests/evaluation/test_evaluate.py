"""What is one run, and what is several: the values of a dict say so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

from gainful import Evaluation, Evaluations, Run, UsageError, evaluate

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
    with pytest.raises(UsageError, match="name: expected with one run"):
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


def test_lists_of_objects_are_read_by_their_path() -> None:
    objects: Any = [{"id": "q", "expected": ["a"]}]
    with pytest.raises(UsageError, match=r"found list\nhint: a file of objects .*: Qrels.read\(path\)"):
        evaluate(objects, {"q": ["a"]})
