"""Evaluations as data frames: the same numbers in pandas, polars, pyarrow and duckdb."""

from __future__ import annotations

import math
import sys

import duckdb
import polars
import pyarrow
import pytest

from gainful import MissingExtraError, Policy, evaluate

# q1 is fine, q2 has nothing relevant, the third is not answered and its id is not UTF-8.
QRELS = {"q1": {"a": 2, "b": 1}, "q2": {"a": 0}, b"q\xff": {"a": 1}}
RUN = {"q1": ["x", "a"], "q2": ["a"]}
QUERIES = ["q1", "q2", r"q\xff"]
MEASURES = ["AP", "NumRet"]


@pytest.fixture(scope="module")
def whole():
    return evaluate(QRELS, RUN, MEASURES, name="mine")


@pytest.fixture(scope="module")
def partial():
    """An evaluation that leaves queries out."""
    return evaluate(QRELS, RUN, MEASURES, name="mine", policy=Policy(missing="skip", undefined="skip"))


def test_pandas(whole, partial):
    frame = whole.to_pandas()
    assert list(frame.columns) == ["run", "query", "AP", "NumRet"]
    assert frame["run"].tolist() == ["mine"] * 3 and frame["query"].tolist() == QUERIES
    assert (frame["AP"].tolist(), frame["NumRet"].tolist()) == ([0.25, 0.0, 0.0], [2, 1, 0])
    assert [str(frame[name].dtype) for name in MEASURES] == ["float64", "int64"]
    frame = partial.to_pandas()
    assert [None if math.isnan(value) else value for value in frame["AP"]] == [0.25, None, None]
    assert [None if math.isnan(value) else value for value in frame["NumRet"]] == [2, 1, None]
    assert frame["AP"].mean() == partial.mean("AP")


def test_polars(whole, partial):
    for evaluation, ap, retrieved in ((whole, [0.25, 0, 0], [2, 1, 0]), (partial, [0.25, None, None], [2, 1, None])):
        for frame in (evaluation.to_polars(), polars.DataFrame(evaluation)):
            assert frame.to_dict(as_series=False) == {
                "run": ["mine"] * 3,
                "query": QUERIES,
                "AP": ap,
                "NumRet": retrieved,
            }
            assert frame.dtypes == [polars.String, polars.String, polars.Float64, polars.Int64]


def test_arrow(whole, partial):
    for evaluation, ap, retrieved in ((whole, [0.25, 0, 0], [2, 1, 0]), (partial, [0.25, None, None], [2, 1, None])):
        for table in (evaluation.to_arrow(), pyarrow.table(evaluation)):
            assert table.to_pydict() == {"run": ["mine"] * 3, "query": QUERIES, "AP": ap, "NumRet": retrieved}
            assert [str(field.type) for field in table.schema] == ["string", "string", "double", "int64"]


def test_duckdb(partial):
    rows = duckdb.sql('select query, "NumRet", "AP" from partial order by query').fetchall()
    assert rows == [("q1", 2, 0.25), ("q2", 1, None), (r"q\xff", None, None)]


def test_a_requested_schema_is_passed_on(whole):
    wanted = pyarrow.schema([("run", "string"), ("query", "string"), ("AP", "float32"), ("NumRet", "int32")])
    reader = pyarrow.RecordBatchReader.from_stream(whole, schema=wanted)
    assert reader.read_all().schema == wanted


def test_a_column_without_any_value_keeps_its_type():
    nothing = evaluate({"q": {"a": 0}}, {"q": ["a"]}, "AP", policy=Policy(undefined="skip"))
    assert str(nothing.to_pandas()["AP"].dtype) == "float64"
    assert nothing.to_polars()["AP"].dtype == polars.Float64
    assert nothing.to_arrow().schema.field("AP").type == pyarrow.float64()


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_without_the_library(whole, monkeypatch, library):
    monkeypatch.setitem(sys.modules, library, None)
    method = {"pandas": whole.to_pandas, "polars": whole.to_polars, "pyarrow": whole.to_arrow}[library]
    with pytest.raises(MissingExtraError, match=rf"needs the package {library}\nhint: .*gainful\[frames\]"):
        method()
