from __future__ import annotations

import csv
import io
import json
import random
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from gainful import Qrels, Run
from gainful.notation import text_of_id

Judgments = dict[str, dict[str, float]]
Lists = dict[str, dict[str, float]]


class Collection(NamedTuple):
    """Judgments and a run with lists in rank order, real-valued grades, and IDs that are hard for formats."""

    qrels: Judgments
    run: Lists


@pytest.fixture(scope="session")
def collection() -> Collection:
    rng = random.Random(3)
    documents = [f"d{i:03}" for i in range(40)] + ['say "hi"', "a,b", "c;d", "x y", "ünïcode", "l1\nl2"]
    qrels: Judgments = {}
    run: Lists = {}
    for query in ["q2", "q10", "q1", "topic é"]:
        qrels[query] = {d: rng.choice([0, 1, 2, 3, 0.5]) for d in rng.sample(documents, 25)}
        scores = sorted((round(rng.uniform(-5, 5), 3) for _ in range(30)), reverse=True)
        run[query] = dict(zip(rng.sample(documents, 30), scores, strict=True))
    return Collection(qrels, run)


@pytest.fixture(scope="session")
def plain(collection: Collection) -> Collection:
    """The same with integer grades and IDs without blanks, for formats without quotes."""

    def plainly(text: str) -> str:
        return "_".join(text.split()).replace('"', "'")

    return Collection(
        {plainly(q): {plainly(d): int(g) for d, g in grades.items()} for q, grades in collection.qrels.items()},
        {plainly(q): {plainly(d): s for d, s in scores.items()} for q, scores in collection.run.items()},
    )


def rows_of(lists: dict[str, dict[str, float]]) -> list[tuple[str, str, float, int]]:
    """(query, document, value, rank from 1), with queries interleaved so that lists are not contiguous."""
    rows = [(q, d, v, rank) for q, values in lists.items() for rank, (d, v) in enumerate(values.items(), 1)]
    return sorted(rows, key=lambda row: row[3])


def rows_read(columns: Qrels | Run) -> list[tuple[str, str, float | None]]:
    """Query, document and grade or score (None if missing) of every row in order."""
    values = columns.grade if isinstance(columns, Qrels) else columns.score
    ids = zip(columns.query_of_rows.tolist(), columns.documents(np.arange(len(columns))), strict=True)
    return [
        (columns.queries[query], text_of_id(document), float(values[row]) if values.size else None)
        for row, (query, document) in enumerate(ids)
    ]


def trec_qrels(qrels: Judgments) -> bytes:
    return "".join(f"{q} 0 {d} {g}\n" for q, d, g, _ in rows_of(qrels)).encode()


def trec_run(run: Lists) -> bytes:
    return "".join(f"{q} Q0 {d} {rank} {s} tag\n" for q, d, s, rank in rows_of(run)).encode()


def table(rows: list[tuple[Any, ...]], header: list[str], delimiter: str, **options: Any) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, **options)
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue().encode()


def json_lines(objects: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(each) + "\n" for each in objects).encode()


def write_ntcir(folder: Path, collection: Collection) -> tuple[Path, Path]:
    rel, res = folder / "rel", folder / "res"
    for query, grades in collection.qrels.items():
        (rel / query).mkdir(parents=True)
        (rel / query / f"{query}.rel").write_text("".join(f"{d} L{int(g)}\n" for d, g in grades.items()))
    for query, scores in collection.run.items():
        (res / query).mkdir(parents=True)
        (res / query / f"{query}.system.res").write_text("".join(f"{d}\n" for d in scores))
    return rel, res
