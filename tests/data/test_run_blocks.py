"""Large files are read in pieces if sorted by query, and whole otherwise."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gainful import Evaluation, InputError, Run, evaluate
from gainful.io import delimited
from gainful.io.sources import open_source

pytestmark = pytest.mark.filterwarnings("ignore::gainful.GainfulWarning")
QUERIES = 30


def table(order: str) -> pa.Table:
    """Thirty queries of twenty documents; some IDs need quotes, others contain a line feed."""
    random = np.random.default_rng(3)
    query = np.repeat([f"q{i}" for i in random.permutation(QUERIES)], 20).tolist()
    document = [f'd "{i}", é' if i % 7 == 0 else f"d\n{i}" if i % 7 == 1 else f"d{i}" for i in range(len(query))]
    rows = {"query": query, "note": ["x"] * len(query), "document": document, "score": random.random(len(query))}
    whole = pa.table(rows)
    return whole if order == "sorted" else whole.take(np.arange(len(query)).reshape(QUERIES, 20).T.reshape(-1))


def as_parquet(rows: pa.Table, path: Path) -> Path:
    pq.write_table(rows, path / "run.parquet", row_group_size=37)
    return path / "run.parquet"


def as_csv(rows: pa.Table, path: Path) -> Path:
    polars.DataFrame(rows).write_csv(path / "run.csv")
    return path / "run.csv"


def as_msmarco(rows: pa.Table, path: Path) -> Path:
    lines = zip(rows["query"].to_pylist(), range(rows.num_rows), strict=True)
    (path / "run.txt").write_text("".join(f"{query} d{at} {at % 20 + 1}\n" for query, at in lines))
    return path / "run.txt"


QRELS = {f"q{i}": {f"d{at}": at % 3 for at in range(0, 600, 3)} for i in range(0, QUERIES + 3, 2)}


@pytest.fixture
def count_runs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Treat every file as large; record the number of rows of each block."""
    monkeypatch.setattr("gainful.io.readers.LARGE", 1)
    monkeypatch.setattr("gainful.data.graded.BLOCK", 50)
    monkeypatch.setattr("gainful.io.frames._BATCH", 50)
    monkeypatch.setattr(delimited, "_PIECE", 1000)
    monkeypatch.setattr("gainful.io.sources._PIECE", 300)
    sizes: list[int] = []
    original = Run.from_rows.__func__  # type: ignore[attr-defined]

    def counted(cls: type[Run], *values: Any, **options: Any) -> Run:
        run: Run = original(cls, *values, **options)
        sizes.append(len(run))
        return run

    monkeypatch.setattr(Run, "from_rows", classmethod(counted))
    return sizes


@pytest.mark.parametrize("write", [as_parquet, as_csv, as_msmarco])
def test_large_files(write: Callable[[pa.Table, Path], Path], tmp_path: Path, count_runs: list[int]) -> None:
    file = write(table("sorted"), tmp_path)
    whole = Run.read(file)
    assert count_runs.pop() == 600
    expected = evaluate(QRELS, whole, ["nDCG@10", "AP"])
    for exclude in (None, {"q2": ["d1", "d4"]}):
        found = evaluate(QRELS, file, ["nDCG@10", "AP"], exclude=exclude)
        assert sum(count_runs) == 600 and len(count_runs) > 5 and max(count_runs) <= 120
        count_runs.clear()
        if exclude is None:
            same(found, expected)
    assert found.facts.excluded_count == evaluate(QRELS, whole, "AP", exclude=exclude).facts.excluded_count
    several = evaluate(QRELS, {"a": file, "b": str(file)}, ["nDCG@10", "AP"])
    same(several["a"], expected)
    same(several["b"], expected)
    assert several["a"].explain("AP", "q2").value == expected.by_query("AP")["q2"]
    assert several["a"].sha256["run"] is not None


def same(one: Evaluation, other: Evaluation) -> None:
    np.testing.assert_array_equal(one.raw, other.raw)
    assert one.facts == other.facts


@pytest.mark.parametrize("write", [as_parquet, as_csv, as_msmarco])
def test_unsorted_files_are_read_whole(
    write: Callable[[pa.Table, Path], Path], tmp_path: Path, count_runs: list[int]
) -> None:
    file = write(table("mixed"), tmp_path)
    found = evaluate(QRELS, file, "AP")
    assert count_runs[-1] == 600
    assert f"{file}: not sorted by query, so read whole; sorting it would save memory" in found.notices
    np.testing.assert_array_equal(found.raw, evaluate(QRELS, Run.read(file), "AP").raw)


def test_faults_are_those_of_the_whole(tmp_path: Path, count_runs: list[int]) -> None:
    rows = table("sorted")
    bad = rows.set_column(3, "score", pa.array([None if i in (77, 500) else 1.0 for i in range(600)]))
    with pytest.raises(InputError, match=r"(?s)row 77 .*finite number as score.*row 500"):
        evaluate(QRELS, as_parquet(bad, tmp_path), "AP")
    (tmp_path / "bad.parquet").write_bytes(as_parquet(rows, tmp_path).read_bytes()[:-20])
    with pytest.raises(InputError, match="expected parquet, found a file that cannot be read"):
        evaluate(QRELS, tmp_path / "bad.parquet", "AP")
    text = "query;document;score\n" + "".join(f"q{i // 20};d{i};{i % 20},5\n" for i in range(600))
    (tmp_path / "run.csv").write_text(text)
    found = evaluate(QRELS, tmp_path / "run.csv", "AP")  # mended, as a small one is
    assert any(each.endswith("600 decimal commas read as decimal points") for each in found.notices)
    (tmp_path / "run.csv").write_text(text + "q29;d1;x\n")
    with pytest.raises(InputError, match=r"run\.csv:602: expected a number as score"):
        evaluate(QRELS, tmp_path / "run.csv", "AP")
    (tmp_path / "long.csv").write_text("query,document,score," + "x" * (1 << 17) + "\nq2,d3,1.0,\n")
    assert evaluate(QRELS, tmp_path / "long.csv", "RR").by_query("RR")["q2"] == 0.0


def test_without_pyarrow_parquet_is_read_whole(
    tmp_path: Path, count_runs: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = as_parquet(table("sorted"), tmp_path)
    expected = evaluate(QRELS, file, "AP")
    count_runs.clear()
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    same(evaluate(QRELS, file, "AP"), expected)
    assert count_runs == [600]


def test_what_is_packed_is_large_by_its_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Read whole, each takes more than the limit, although its file is small.
    rows = {"query": np.repeat([f"q{i}" for i in range(500)], 1000), "document": np.tile(np.arange(1000), 500)}
    table = pa.table({**rows, "score": np.tile(np.arange(1000.0, 0, -1), 500)})
    pq.write_table(table, tmp_path / "run.parquet", compression="zstd", row_group_size=50_000)
    csv = polars.DataFrame(table).write_csv()
    (tmp_path / "run.csv.gz").write_bytes(gzip.compress(csv.encode()))
    monkeypatch.setenv("GAINFUL_MAX_MEMORY", "60MB")
    qrels = {"q3": {"5": 1, "7": 2}, "q499": {"1": 1}}
    expected = {"q3": 0.5 * (1 / 6 + 2 / 8), "q499": 1 / 2}
    for name in ("run.parquet", "run.csv.gz"):
        assert evaluate(qrels, tmp_path / name, ["AP"]).by_query("AP") == pytest.approx(expected)


def test_pieces_under_a_low_limit_are_no_larger_than_they_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GAINFUL_MAX_MEMORY", "20MB")
    text = b"".join(b"q%d,d,1\n" % (at // 1000) for at in range(400_000))
    pieces = list(delimited._whole_lines(open_source(text)))
    assert b"".join(pieces) == text
    assert max(map(len, pieces)) < 2 * 20_000_000 // 4 // 8
