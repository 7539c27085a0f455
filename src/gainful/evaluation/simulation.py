"""Simulated test collections: a seeded source of runs and pooled, incomplete judgments.

For query q with difficulty t, uniform on [0, 1]; document d; system s; L grade levels 0 .. L-1::

    R(q)            = min(60 - 50 t, documents / 2)              expected number of relevant documents
    P(grade >= g)   = R(q) / documents * 0.4 ** (g - 1)          for g = 1 .. L-1
    signal(q, s, d) = (1.3 - 0.6 t) * quality(s) * grade(q, d) / (L - 1)
    noise(q, s, d)  = own(q, s, d)                               a system without a family
                    = sqrt(1/2) * (family(q, d) + own(q, s, d))  a system of a family
    score(q, s, d)  = signal + noise, rounded to 4 decimals

``own`` and ``family`` are independent standard logistic variables. The pool of a query is the union of the systems'
first ``pool_depth`` documents; each pooled document is judged with probability ``judged_share``, and no other document
is judged.

>>> collection = simulate(queries=2, documents=200, depth=5, pool_depth=5, seed=0)
>>> list(collection.runs)
['tfidf', 'bm25', 'dense', 'hybrid', 'reranker']
>>> [len(ranking) for ranking in collection.runs["bm25"].values()]
[5, 5]
>>> collection == simulate(queries=2, documents=200, depth=5, pool_depth=5, seed=0)
True
"""

from __future__ import annotations

import gzip
import hashlib
import io
import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np

from gainful.errors import UsageError
from gainful.frozen import dataclass
from gainful.kernel.arrays import Floats

__all__ = ["DEMO_SYSTEMS", "Collection", "System", "simulate"]

Judgments: TypeAlias = dict[str, dict[str, int]]
Run: TypeAlias = dict[str, dict[str, float]]

#: Expected relevant documents of the easiest and the hardest query.
MOST_RELEVANT, FEWEST_RELEVANT = 60.0, 10.0
#: The factor on every system's quality for the easiest and for the hardest query. The mean is 1, so that quality is the
#: value at medium difficulty.
STRONGEST_SIGNAL, WEAKEST_SIGNAL = 1.3, 0.7
#: Below one half, so that every level, the highest included, is rarer than the level under it.
NEXT_LEVEL_SHARE = 0.4
#: Both parts of a family member's noise weigh the same, and the variance equals that of a system without a family.
FAMILY_WEIGHT = math.sqrt(0.5)
SCORE_STEPS = 10_000  # scores have 4 decimals
#: Six digits in every document id make the order of ids the order of document numbers.
MOST_DOCUMENTS = 999_999
#: The name is a field of the run format and the stem of a file name: no white space, no path separator.
NAME_PATTERN = re.compile(r"[A-Za-z0-9._-]+")


@dataclass(frozen=True)
class System:
    """A retrieval system, described by how well its scores follow the true grade.

    At medium difficulty a document of the highest grade scores ``quality`` higher, in expectation, than one of grade 0,
    where the noise is of standard logistic size. 0 is a random order. Systems of one ``family`` share half of their
    noise variance, so that they make similar errors.

    >>> System("my run", quality=5.0)
    Traceback (most recent call last):
    ...
    gainful.errors.UsageError: system name: expected one or more of the characters A-Z a-z 0-9 . _ -, found 'my run'
    """

    name: str
    quality: float
    family: str | None = None

    def __post_init__(self) -> None:
        if NAME_PATTERN.fullmatch(self.name) is None:
            expected = "one or more of the characters A-Z a-z 0-9 . _ -"
            raise UsageError(f"system name: expected {expected}, found {self.name!r}")
        if not (math.isfinite(self.quality) and self.quality >= 0):
            raise UsageError(f"quality of system {self.name}: expected a finite number >= 0, found {self.quality!r}")


DEMO_SYSTEMS: tuple[System, ...] = (
    System("tfidf", quality=5.0, family="lexical"),
    System("bm25", quality=6.0, family="lexical"),
    System("dense", quality=7.0, family="neural"),
    System("hybrid", quality=8.0, family="neural"),
    System("reranker", quality=9.5, family="neural"),
)


@dataclass(frozen=True)
class Collection:
    """Judgments and runs: ``qrels[query][document]`` is a grade, ``runs[system][query][document]`` a score.

    :func:`simulate` lists the documents of a ranking by descending score and, among equal scores, by descending
    document id. A query is absent from ``qrels`` when none of its documents is judged, as it is from the text.
    """

    qrels: Judgments
    runs: dict[str, Run]

    def write(self, directory: Path, compressed: Iterable[str] = ()) -> list[Path]:
        """Write the collection as TREC text and return the paths: the judgments, then the runs in their order.

        The runs of systems named in ``compressed`` become ``<system>.run.gz``. Equal collections give equal bytes.

        >>> import tempfile
        >>> collection = Collection(qrels={"q001": {"d000007": 2}}, runs={"bm25": {"q001": {"d000007": 1.5}}})
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     paths = collection.write(Path(directory))
        ...     [path.name for path in paths], paths[1].read_text()
        (['qrels.txt', 'bm25.run'], 'q001 Q0 d000007 1 1.5000 bm25\\n')
        """
        compressed_systems = set(compressed)
        unknown = sorted(compressed_systems - self.runs.keys())
        if unknown:
            raise UsageError(f"compressed: expected names among {', '.join(self.runs)}, found {', '.join(unknown)}")
        lines = [
            f"{query} 0 {each} {grade}\n" for query, grades in self.qrels.items() for each, grade in grades.items()
        ]
        contents = {"qrels.txt": "".join(lines).encode()}
        for system, run in self.runs.items():
            lines = []
            for query, scores in run.items():
                ranking = sorted(scores, key=lambda document: (scores[document], document), reverse=True)
                for rank, document in enumerate(ranking, start=1):
                    lines.append(f"{query} Q0 {document} {rank} {scores[document]:.4f} {system}\n")
            text = "".join(lines).encode()
            if system not in compressed_systems:
                contents[f"{system}.run"] = text
                continue
            # Not gzip.compress: with mtime=0 some versions of Python let the header name the operating system.
            buffer = io.BytesIO()
            with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=buffer, mtime=0) as stream:
                stream.write(text)
            contents[f"{system}.run.gz"] = buffer.getvalue()
        directory.mkdir(parents=True, exist_ok=True)
        # Bytes, not text: the line end is the same on every platform.
        for file_name, content in contents.items():
            (directory / file_name).write_bytes(content)
        return [directory / file_name for file_name in contents]


def simulate(
    queries: int = 50,
    documents: int = 2000,
    depth: int = 100,
    systems: Sequence[System] = DEMO_SYSTEMS,
    levels: int = 4,
    pool_depth: int = 30,
    judged_share: float = 0.9,
    seed: int = 0,
) -> Collection:
    """Draw a collection from the model described in this module.

    Every system ranks its best ``depth`` of the ``documents`` documents for each query; grades run from 0 to
    ``levels - 1``; every judged document is among the first ``pool_depth`` of at least one system. The draws of a query
    depend only on the seed and the query's number; those of a system also on its name and its family. Adding queries or
    systems therefore leaves existing runs unchanged. A query may end up without relevant judged documents, as in
    practice.

    >>> collection = simulate(queries=3, documents=300, depth=20, pool_depth=10, levels=2, seed=7)
    >>> list(collection.qrels)
    ['q001', 'q002', 'q003']
    >>> sorted({grade for grades in collection.qrels.values() for grade in grades.values()})
    [0, 1]
    >>> simulate(depth=5000)
    Traceback (most recent call last):
    ...
    gainful.errors.UsageError: depth: expected an integer from 1 to 2000 (documents), found 5000
    """
    _require_integer("queries", queries, 1)
    _require_integer("documents", documents, 1, MOST_DOCUMENTS)
    _require_integer("depth", depth, 1, documents, "documents")
    _require_integer("pool_depth", pool_depth, 1, depth, "depth")
    _require_integer("levels", levels, 2)
    _require_integer("seed", seed, 0)
    if not 0 < judged_share <= 1:
        raise UsageError(f"judged_share: expected a number > 0 and <= 1, found {judged_share!r}")
    names = [system.name for system in systems]
    if not names:
        raise UsageError("systems: at least one is needed")
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise UsageError(f"systems: duplicate names: {', '.join(repeated)}")

    ids = [f"d{number:06d}" for number in range(1, documents + 1)]
    collection = Collection(qrels={}, runs={system.name: {} for system in systems})
    for number in range(1, queries + 1):
        # Three digits at least, not as many as the last query needs: an id must not depend on later queries.
        query = f"q{number:03d}"
        difficulty = float(_uniform(seed, number, "difficulty", 1)[0])
        relevant = min(MOST_RELEVANT + (FEWEST_RELEVANT - MOST_RELEVANT) * difficulty, documents / 2)
        # Shares of documents with at least the highest grade, the next lower one, ..., grade 1: ascending.
        shares = [relevant / documents * NEXT_LEVEL_SHARE ** (grade - 1) for grade in range(levels - 1, 0, -1)]
        levels_missed = np.searchsorted(shares, _uniform(seed, number, "grades", documents), side="right")
        grades = levels - 1 - levels_missed
        strength = STRONGEST_SIGNAL + (WEAKEST_SIGNAL - STRONGEST_SIGNAL) * difficulty
        rankings = []
        for system in systems:
            noise = _logistic(_uniform(seed, number, f"system/{system.name}", documents))
            if system.family is not None:
                shared = _logistic(_uniform(seed, number, f"family/{system.family}", documents))
                noise = FAMILY_WEIGHT * (shared + noise)
            signal = strength * system.quality * (grades / (levels - 1))
            # Rounded before anything is ordered by it: the last bit of a logarithm, in which machines may differ, then
            # decides neither a rank nor a pool. Adding 0.0 turns -0.0 into 0.0, which the text shows without a sign.
            scores = np.rint((signal + noise) * SCORE_STEPS) / SCORE_STEPS + 0.0
            # Best first; among equal scores the later document comes first.
            ranking = np.argsort(scores, kind="stable")[::-1][:depth]
            rankings.append(ranking)
            values = scores.tolist()
            collection.runs[system.name][query] = {ids[place]: values[place] for place in ranking.tolist()}
        pool = np.unique(np.concatenate([ranking[:pool_depth] for ranking in rankings]))
        # Drawn for all documents, so that a document's fate does not depend on which others are in the pool.
        is_judged = _uniform(seed, number, "judged", documents) < judged_share
        judged = {ids[place]: int(grades[place]) for place in pool[is_judged[pool]].tolist()}
        if judged:
            collection.qrels[query] = judged
    return collection


def _uniform(seed: int, query_number: int, purpose: str, size: int) -> Floats:
    """Doubles in [0, 1): each purpose of a query has a stream of its own, so that none shifts another."""
    # Uniform doubles of a named bit generator are the part of the random module that stays the same between
    # versions; its normal variates, choices and shuffles may change. Python's hash() changes between processes.
    purpose_key = int.from_bytes(hashlib.sha256(purpose.encode()).digest()[:8], "little")
    sequence = np.random.SeedSequence(seed, spawn_key=(query_number, purpose_key))
    return np.random.Generator(np.random.PCG64(sequence)).random(size)


def _logistic(uniform: Floats) -> Floats:
    """Standard logistic variates by inversion: log(u / (1 - u))."""
    # 0 is a possible draw (1 is not) whose logarithm is infinite; half of the smallest positive draw stands for it.
    positive = np.maximum(uniform, 2.0**-54)
    return np.log(positive / (1.0 - positive))


def _require_integer(name: str, value: int, low: int, high: int | None = None, high_name: str = "") -> None:
    is_integer = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if is_integer and value >= low and (high is None or value <= high):
        return
    limits = f">= {low}" if high is None else f"from {low} to {high}"
    origin = f" ({high_name})" if high_name else ""
    raise UsageError(f"{name}: expected an integer {limits}{origin}, found {value!r}")
