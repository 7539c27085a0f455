"""Generate runs and judgments with numeric IDs as in MS MARCO: `python benchmarks/generate.py [NAME ...]`.

The same name always gives the same bytes. Seven million lines are too many for a loop: a chunk of lines is a matrix of
characters in columns of fixed width, from which the padding is then removed.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from datasets import DATASETS, Dataset

Ints: TypeAlias = npt.NDArray[np.int32]
Chars: TypeAlias = npt.NDArray[np.uint8]

#: Number of IDs to draw from, as in MS MARCO.
DOCUMENTS = 8_841_823
QUERIES = 1_102_432

#: Queries that are in memory at a time.
CHUNK = 200

#: Padding of a column of fixed width; no line contains it.
PADDING = 0


def main(names: list[str]) -> None:
    for name in names or DATASETS:
        generate(DATASETS[name])


def generate(dataset: Dataset) -> None:
    """Writes the run and the judgments; each file appears when it is complete."""
    rng = np.random.default_rng(zlib.crc32(dataset.name.encode()))
    dataset.run.parent.mkdir(parents=True, exist_ok=True)
    unfinished = [file.with_name(file.name + ".unfinished") for file in (dataset.run, dataset.qrels)]
    with unfinished[0].open("wb") as run, unfinished[1].open("wb") as qrels:
        for queries in _chunks(dataset, rng):
            documents = _documents(dataset, queries.size, rng)
            run.write(_run_lines(queries, documents[:, : dataset.depth], rng))
            qrels.write(_qrels_lines(dataset, queries, documents, rng))
    for file, complete in zip(unfinished, (dataset.run, dataset.qrels), strict=True):
        file.replace(complete)


def _chunks(dataset: Dataset, rng: np.random.Generator) -> Iterator[Ints]:
    of_all = max(QUERIES, 2 * dataset.queries)
    ids = np.sort(rng.choice(of_all, dataset.queries, replace=False)).astype(np.int32) + 1
    for start in range(0, ids.size, CHUNK):
        yield ids[start : start + CHUNK]


def _documents(dataset: Dataset, queries: int, rng: np.random.Generator) -> Ints:
    """For every query different documents, in random order: first the list, then those that are judged only.

    The collection is cut into as many strips as documents are needed, and one is drawn from each.
    """
    count = dataset.depth + dataset.judged - dataset.found
    strip = DOCUMENTS // count
    drawn = np.arange(count) * strip + rng.integers(0, strip, (queries, count))
    return rng.permuted(drawn.astype(np.int32), axis=1)


def _run_lines(queries: Ints, documents: Ints, rng: np.random.Generator) -> bytes:
    depth = documents.shape[1]
    # Millionths, so that the text has exactly six decimals. The tail of a list lies closer together than its head.
    scores = (4e6 + rng.gamma(2.0, 3e6, documents.shape)).clip(max=99e6).astype(np.int32)
    scores = -np.sort(-scores, axis=1)
    return _text(
        _number(np.repeat(queries, depth)),
        " Q0 ",
        _number(documents.ravel()),
        " ",
        _number(np.tile(np.arange(1, depth + 1, dtype=np.int32), queries.size)),
        " ",
        _number(scores.ravel() // 1_000_000),
        ".",
        _number(scores.ravel() % 1_000_000, zeros=6),
        " marco\n",
    )


def _qrels_lines(dataset: Dataset, queries: Ints, documents: Ints, rng: np.random.Generator) -> bytes:
    judged = np.hstack([_found(dataset, documents, rng), documents[:, dataset.depth :]])
    if dataset.pooled and dataset.judged > 10:
        grades = rng.choice(4, judged.shape, p=[0.7, 0.15, 0.1, 0.05])
    else:
        grades = rng.integers(1, 4, judged.shape)
    return _text(
        _number(np.repeat(queries, dataset.judged)),
        " 0 ",
        _number(judged.ravel()),
        " ",
        _number(grades.astype(np.int32).ravel()),
        "\n",
    )


def _found(dataset: Dataset, documents: Ints, rng: np.random.Generator) -> Ints:
    """Judged documents in the lists, the more likely the higher: drawn without replacement with weights 1 / rank."""
    ranks = np.arange(1, dataset.depth + 1)
    keys = np.log(rng.random((documents.shape[0], dataset.depth))) * ranks
    places = np.argsort(-keys, axis=1)[:, : dataset.found]
    return np.take_along_axis(documents, places, axis=1)


def _number(values: Ints, zeros: int = 1) -> Chars:
    """A matrix of digits, a row a number, padded in front; at least `zeros` digits."""
    width = max(zeros, len(str(int(values.max()))))
    digits = np.empty((values.size, width), np.uint8)
    rest = values
    for place in range(width):
        column = digits[:, width - 1 - place]
        column[:] = rest % 10 + ord("0")
        if place >= zeros:
            column[rest == 0] = PADDING
        rest = rest // 10
    return digits


def _text(*columns: Chars | str) -> bytes:
    rows = max(len(column) for column in columns if not isinstance(column, str))
    parts = [_constant(column, rows) if isinstance(column, str) else column for column in columns]
    characters = np.hstack(parts).ravel()
    kept: Chars = characters[characters != PADDING]
    return kept.tobytes()


def _constant(text: str, rows: int) -> Chars:
    letters = np.frombuffer(text.encode(), np.uint8)
    return np.broadcast_to(letters, (rows, letters.size))


if __name__ == "__main__":
    main(sys.argv[1:])
