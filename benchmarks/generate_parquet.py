"""Writes parquet: `python benchmarks/generate_parquet.py FOLDER ROWS DEPTH`, results sorted by query with judgments;
or `python benchmarks/generate_parquet.py RUN PARQUET`, a run in TREC text as parquet."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

RELEVANT = 10
#: Rows that are in memory at a time.
CHUNK = 1_000_000


def generate(folder: Path, rows: int, depth: int) -> None:
    """Queries with this many results each, and ten relevant documents, some of which are retrieved."""
    rng = np.random.default_rng(0)
    queries, at_a_time = rows // depth, CHUNK // depth
    with pq.ParquetWriter(folder / "results.parquet", _schema("score")) as writer:
        for first in range(0, queries, at_a_time):
            query = np.arange(first, min(queries, first + at_a_time))
            writer.write_table(_table(query, depth, 7919, "score", rng.random(query.size * depth)))
    with pq.ParquetWriter(folder / "judgments.parquet", _schema("grade")) as writer:
        for first in range(0, queries, at_a_time):
            query = np.arange(first, min(queries, first + at_a_time))
            writer.write_table(_table(query, RELEVANT, 7919 * 13, "grade", np.ones(query.size * RELEVANT)))


def _table(queries: np.ndarray, depth: int, step: int, name: str, values: np.ndarray) -> pa.Table:
    query = np.repeat(queries, depth)
    document = (np.tile(np.arange(depth) * step, queries.size) + query * 31) % 1_000_003
    return pa.table([pa.array(query).cast("string"), pa.array(document).cast("string"), values], schema=_schema(name))


def _schema(value: str) -> pa.Schema:
    return pa.schema([("query", pa.string()), ("document", pa.string()), (value, pa.float64())])


def convert(run: Path, target: Path) -> None:
    """A run in TREC text, with its ids as texts."""
    names = ["query", "Q0", "document", "rank", "score", "tag"]
    table = csv.read_csv(
        run,
        csv.ReadOptions(column_names=names),
        csv.ParseOptions(delimiter=" "),
        csv.ConvertOptions(
            column_types={"query": pa.string(), "document": pa.string()}, include_columns=["query", "document", "score"]
        ),
    )
    pq.write_table(table, target)


if __name__ == "__main__":
    if len(sys.argv) == 4:
        generate(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
    else:
        convert(Path(sys.argv[1]), Path(sys.argv[2]))
