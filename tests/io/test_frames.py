# ruff: noqa: E501 - a case a line reads better
"""Data frames of every kind give the same scores as dicts."""

from __future__ import annotations

import builtins
import io
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from gainful import InputError, Qrels, Run, Sessions, UsageError, evaluate
from tests.together import together

from .conftest import Collection, rows_of, rows_read

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

pytestmark = pytest.mark.usefixtures("core")

MEASURES = ["nDCG@10", "AP", "RR(rel=2)", "NumRet"]
Columns = dict[str, list[Any]]


def columns_of(lists: dict[str, dict[str, float]], value: str) -> Columns:
    rows = rows_of(lists)
    return {"query": [r[0] for r in rows], "document": [r[1] for r in rows], value: [float(r[2]) for r in rows]}


def split(table: Any) -> Any:
    """The same table in many chunks, one of them empty."""
    pieces = [table.slice(0, 1), table.slice(1, 0), table.slice(1, 50), table.slice(51)]
    return pyarrow.concat_tables(pieces)


def typed(columns: Columns, ids: Any, values: Any) -> Any:
    *names, value = columns
    arrays = [pyarrow.array(columns[name], ids) for name in names]
    return pyarrow.table([*arrays, pyarrow.array(columns[value], values)], [*names, value])


def within_a_longer_one(table: Any) -> Any:
    """A slice from the middle, so that every array has an offset."""
    return pyarrow.concat_tables([table.slice(0, 3), table, table.slice(5, 2)]).combine_chunks().slice(3, len(table))


def parquet_bytes(table: Any) -> bytes:
    out = io.BytesIO()
    parquet.write_table(table, out, row_group_size=7)
    return out.getvalue()


FRAMES: dict[str, Callable[[Columns], Any]] = {
    "pandas": pandas.DataFrame,
    "pandas objects": lambda c: pandas.DataFrame({k: pandas.Series(v, dtype=object) for k, v in c.items()}),
    "pandas strings in pyarrow": lambda c: pandas.DataFrame(c).astype(
        {k: pandas.ArrowDtype(pyarrow.large_string()) for k in list(c)[:2]}
    ),
    "pandas categories": lambda c: pandas.DataFrame(c).astype({"query": "category", "document": "category"}),
    "pandas float32 and nullable": lambda c: pandas.DataFrame(c).convert_dtypes(),
    "pandas, an index of its own": lambda c: pandas.DataFrame(c, index=range(900, 900 + len(c["query"]))),
    "pandas, every other row of a view": lambda c: pandas.DataFrame(
        {k: [x for value in v for x in (value, value)] for k, v in c.items()}
    ).iloc[::2],
    "polars": polars.DataFrame,
    "polars categories": lambda c: polars.DataFrame(c).with_columns(
        polars.col("query").cast(polars.Categorical), polars.col("document").cast(polars.Categorical)
    ),
    "polars chunks": lambda c: polars.concat(
        [polars.DataFrame(c)[:9], polars.DataFrame(c)[9:]], rechunk=False
    ),
    "pyarrow": pyarrow.table,
    "pyarrow chunks": lambda c: split(pyarrow.table(c)),
    "pyarrow large strings": lambda c: typed(c, pyarrow.large_string(), pyarrow.float64()),
    "pyarrow string views": lambda c: split(typed(c, pyarrow.string_view(), pyarrow.float64())),
    "pyarrow dictionaries": lambda c: typed(c, pyarrow.dictionary(pyarrow.int8(), pyarrow.string()), pyarrow.float64()),
    "pyarrow dictionaries that differ": lambda c: pyarrow.concat_tables(
        [
            typed({k: v[:40] for k, v in c.items()}, pyarrow.dictionary(pyarrow.int16(), pyarrow.string()), pyarrow.float64()),
            typed({k: v[40:] for k, v in c.items()}, pyarrow.dictionary(pyarrow.int16(), pyarrow.string()), pyarrow.float64()),
        ]
    ),
    "pyarrow views": lambda c: within_a_longer_one(pyarrow.table(c)),
    "pyarrow dictionary views": lambda c: within_a_longer_one(
        typed(c, pyarrow.dictionary(pyarrow.int32(), pyarrow.string()), pyarrow.float64())
    ),
    "pyarrow reader": lambda c: split(pyarrow.table(c)).to_reader(),
    "parquet": lambda c: parquet_bytes(pyarrow.table(c)),
}  # fmt: skip


def scores(qrels: Any, run: Any) -> dict[str, dict[str, float | None]]:
    result = evaluate(qrels, run, MEASURES)
    return {measure: result.by_query(measure) for measure in MEASURES}


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_equal_dicts(collection: Collection, kind: str) -> None:
    make = FRAMES[kind]
    expected = scores(collection.qrels, collection.run)
    assert scores(make(columns_of(collection.qrels, "grade")), make(columns_of(collection.run, "score"))) == expected


@pytest.mark.parametrize("kind", ["pandas", "pandas objects", "pandas categories", "pandas float32 and nullable"])
def test_pandas_without_pyarrow(collection: Collection, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    qrels, run = (FRAMES[kind](columns_of(*pair)) for pair in ((collection.qrels, "grade"), (collection.run, "score")))
    expected = scores(collection.qrels, collection.run)
    monkeypatch.setattr(pandas.DataFrame, "__arrow_c_stream__", _no_pyarrow)
    assert scores(qrels, run) == expected


def _no_pyarrow(*_: Any, **__: Any) -> Any:
    raise ImportError("pyarrow is not there")


def test_duckdb_relations(collection: Collection) -> None:
    duckdb = pytest.importorskip("duckdb")
    frame = pyarrow.table(columns_of(collection.run, "score"))
    assert builtins.len(frame)
    relation = duckdb.sql("select * from frame")
    assert scores(collection.qrels, relation) == scores(collection.qrels, collection.run)


@together("bits", [8, 16, 32, 64])
@together("kind", ["int", "uint"])
def test_integers_of_all_widths_are_ids_and_numbers(kind: str, bits: int) -> None:
    kind_of_column = getattr(pyarrow, f"{kind}{bits}")()
    columns = [pyarrow.array(values, kind_of_column) for values in ([1, 1], [10, 11], [0, 2])]
    for value, kind_read in (("rel", Qrels), ("score", Run)):
        assert [each[2] for each in rows_read(kind_read.of(pyarrow.table(columns, ["qid", "docid", value])))] == [0, 2]
    assert evaluate(pyarrow.table(columns, ["qid", "docid", "rel"]), {"1": ["10", "11"]}, "RR").mean("RR") == 0.5


@together(
    ("frame", "rows"),
    [
        *(
            (pyarrow.table([["q", "q"], ["a", "b"], pyarrow.array([0, 1]).cast(kind)], ["query", "doc", "score"]), [("q", "a", 0), ("q", "b", 1)])
            for kind in (pyarrow.float16(), pyarrow.float32(), pyarrow.float64(), pyarrow.bool_())
        ),
        (polars.DataFrame({"topic": ["7"], "doc_id": [12], "score": [1]}), [("7", "12", 1)]),
        (pandas.DataFrame({"query": ["1", 1, "2"], "document": ["a", "b", "c"], "score": [1, 2, 3]}), [("1", "a", 1), ("1", "b", 2), ("2", "c", 3)]),
        (pandas.DataFrame([["q", "d", 1.0]]), [("q", "d", 1)]),
        # What Arrow cannot hold is read column by column.
        (pandas.DataFrame({"query": ["1", "1"], "document": pandas.Series([10**30, 11], dtype=object), "score": [2, 1]}), [("1", str(10**30), 2), ("1", "11", 1)]),
        (pandas.DataFrame({"query": ["1"], "document": pandas.Series(["\udcff"], dtype=object), "score": [2]}), [("1", "\udcff", 2)]),
    ],
)  # fmt: skip
def test_rows_that_are_read(frame: Any, rows: list[tuple[str, str, float]]) -> None:
    numbered: dict[str, Any] = {"query": 0, "document": 1, "score": 2}
    is_numbered = isinstance(frame, pandas.DataFrame) and 0 in frame
    assert rows_read(Run.from_frame(frame, columns=numbered if is_numbered else None)) == rows


def with_null(column: str) -> Columns:
    columns: Columns = {"query": ["q1", "q1", "q2"], "document": ["a", "b", "c"], "score": [3.0, 2.0, 1.0]}
    columns[column][1] = None
    return columns


@together("make", [pandas.DataFrame, polars.DataFrame, pyarrow.table, FRAMES["pandas objects"]])
@together("column", ["query", "document", "score"])
def test_a_null_is_an_error_that_names_its_row(make: Callable[[Columns], Any], column: str) -> None:
    with pytest.raises(InputError) as error:
        Run.of(make(with_null(column)))
    message = str(error.value)
    assert message.startswith("<frame>: row 1 (counting from 0): expected ")
    assert f" as {column} in column '{column}', found n" in message.replace("None", "none")


def test_columns_by_other_names() -> None:
    frame = polars.DataFrame({"visitor": ["u1", "u1"], "film": [5, 6], "stars": [0, 4]})
    names = {"query": "visitor", "document": "film", "grade": "stars"}
    qrels = Qrels.from_frame(frame, columns=names)
    assert evaluate(qrels, {"u1": ["5", "6"]}, "RR").mean("RR") == 0.5
    with pytest.raises(InputError) as error:
        Qrels.from_frame(frame)
    assert str(error.value) == f"<frame>: no column for the query among visitor, film, stars; use columns={names}"


def test_columns_of_both_sides(tmp_path: Path) -> None:
    names = {"query": "visitor", "document": "film", "qrels.grade": "stars", "run.score": "guess"}
    judged = pandas.DataFrame({"visitor": [7, 7], "film": [1, 2], "stars": [0, 4]})
    run = {"visitor": [7, 7], "film": [1, 2], "guess": [0.9, 0.1]}
    path = tmp_path / "run.csv"
    pandas.DataFrame(run).to_csv(path, index=False)
    for described in (pandas.DataFrame(run), polars.DataFrame(run), path, str(path), path.read_bytes()):
        assert evaluate(judged, described, "RR", columns=names).mean("RR") == 0.5
        assert evaluate(judged, {"mine": described}, "RR", columns=names)["mine"].mean("RR") == 0.5
    assert evaluate(judged, {"7": ["2"]}, "RR", columns=names).mean("RR") == 1.0  # a dict has no columns
    with pytest.raises(UsageError, match=r"columns: expected query \| document"):
        evaluate(judged, path, "RR", columns={"reader": "visitor"})
    with pytest.raises(UsageError, match="columns: expected a dict of roles and names, found list"):
        evaluate(judged, path, "RR", columns=["visitor"])  # type: ignore[arg-type]


def test_repeated_documents_are_named_by_their_rows() -> None:
    frame = polars.DataFrame({"query": ["q", "x", "q"], "document": ["a", "a", "a"], "score": [1, 2, 3]})
    with pytest.raises(InputError) as error:
        evaluate({"q": {"a": 1}}, frame, "RR")
    assert "row 2 (counting from 0): duplicate document 'a'" in str(error.value)
    assert "(first: row 0 (counting from 0))" in str(error.value)


def run_with(make: Callable[[Columns], Any], **columns: Any) -> Any:
    return make({"query": ["q1", "q1"], "document": ["a", "b"], "score": [2.0, 1.0], **columns})


ROW_1 = "<frame>: row 1 (counting from 0): expected "


@together(
    ("frame", "message"),
    [
        *(
            (run_with(make, score=[1.0, value]), f"{ROW_1}a finite number as score")
            for make in (polars.DataFrame, pyarrow.table, pandas.DataFrame)
            for value in (float("nan"), float("inf"))
        ),
        (run_with(pandas.DataFrame, score=pandas.Series([1, 10**400], dtype=object)), f"{ROW_1}a finite number as score"),
        (run_with(pandas.DataFrame, document=["a", None]).astype({"document": "category"}), f"{ROW_1}an id as document"),
        (run_with(pandas.DataFrame, query=pandas.array([1, None], dtype="Int64")), f"{ROW_1}an id as query in column 'query', found <NA>"),
        (run_with(polars.DataFrame, score=["high", "low"]), "<frame>: expected a number as score in column 'score', found texts\nhint: cast the column to float64"),
        (run_with(pyarrow.table, score=[Decimal("1.5")] * 2), "in column 'score', found decimals\nhint: cast the column to float64"),
        (run_with(polars.DataFrame, document=[1.5, 2]), "expected an id as document in column 'document', found float64\nhint: cast the column to text or integers"),
        (run_with(pandas.DataFrame, document=[1.5, 2]), "expected an id as document in column 'document', found 1.5"),
        (run_with(pandas.DataFrame, document=[1.0, 2]), "hint: cast the column to text or integers"),
        (run_with(polars.DataFrame, document=["a", ""]), f"{ROW_1}an id as document in column 'document', found null or an empty text"),
        (run_with(polars.DataFrame)[:0], "<frame>: no ranked documents"),
    ],
)  # fmt: skip
def test_invalid_frames_are_errors(frame: Any, message: str) -> None:
    with pytest.raises(InputError) as error:
        Run.of(frame)
    assert message in str(error.value)


@together("read", [Qrels.from_frame, Run.from_frame, Sessions.from_frame])
def test_other_types_are_refused_by_name(read: Callable[..., object]) -> None:
    expected = r"<frame>: expected a data frame \(pandas, polars, pyarrow, \.\.\.\), found "
    for value in (None, {"q1": {"d1": 1}}, [1], "run.csv"):
        with pytest.raises(UsageError, match=rf"\A{expected}{type(value).__name__}\Z"):
            read(value)
    with pytest.raises(UsageError, match=rf"\A{expected}LazyFrame\nhint: call \.collect\(\) first\Z"):
        read(polars.LazyFrame({"query": ["q"], "document": ["d"], "score": [1.0]}))
    frame = polars.DataFrame({"query": ["q"], "document": ["d"], "score": [1.0]})
    with pytest.raises(UsageError, match="columns: expected a dict of roles and names, found list"):
        read(frame, columns=["query", "document"])


def test_parquet_as_spark_writes_it(tmp_path: Path) -> None:
    """A folder of parts, and recommendations as a list of structures in one row per user."""
    run = {1: {7: 0.5, 8: 0.9, 9: 0.1}, 2: {9: 2.5, 7: 1.0}}
    qrels = {"1": {"7": 1, "9": 2}, "2": {"7": 1}}
    expected = evaluate(qrels, {str(u): {str(i): s for i, s in each.items()} for u, each in run.items()}, "nDCG@2")
    folder = tmp_path / "recs.parquet"
    folder.mkdir()
    (folder / "_SUCCESS").touch()
    for user, each in run.items():
        part = pyarrow.table({"userId": [user] * len(each), "movieId": list(each), "prediction": list(each.values())})
        parquet.write_table(part, folder / f"part-0000{user}.parquet")
    structures = [[{"movieId": i, "rating": s} for i, s in each.items()] for each in run.values()]
    parquet.write_table(pyarrow.table({"userId": list(run), "recommendations": structures}), tmp_path / "als.parquet")
    ranked = [sorted(each, key=each.get, reverse=True) for each in run.values()]  # type: ignore[arg-type]
    parquet.write_table(pyarrow.table({"userId": list(run), "recommendations": ranked}), tmp_path / "ids.parquet")
    for path in (folder, tmp_path / "als.parquet", tmp_path / "ids.parquet"):
        assert evaluate(qrels, path, "nDCG@2").by_query("nDCG@2") == expected.by_query("nDCG@2")
    (folder / "part-00003.parquet").write_bytes(b"no parquet")
    with pytest.raises(InputError, match=r"recs\.parquet: expected parquet, found a file that cannot be read"):
        evaluate(qrels, folder)
