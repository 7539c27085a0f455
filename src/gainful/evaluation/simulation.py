"""Simulated test collections: a seeded source of runs and pooled, incomplete judgments.

Claim
    ``simulate`` returns the runs of several retrieval systems and the graded judgments of a pool of what they
    found. The result is a function of the arguments alone: equal arguments give equal collections, a larger
    number of queries extends a smaller one, and a system added to the list leaves the runs of the others as
    they were.

Model
    For query q with difficulty t, uniform on [0, 1]; document d; system s; L grade levels 0 .. L-1::

        R(q)            = min(60 - 50 t, documents / 2)              expected number of relevant documents
        P(grade >= g)   = R(q) / documents * 0.4 ** (g - 1)          for g = 1 .. L-1
        signal(q, s, d) = (1.3 - 0.6 t) * quality(s) * grade(q, d) / (L - 1)
        noise(q, s, d)  = own(q, s, d)                               a system without a family
                        = sqrt(1/2) * (family(q, d) + own(q, s, d))  a system of a family
        score(q, s, d)  = signal + noise, rounded to 4 decimals

    ``own`` and ``family`` are independent standard logistic variables. The pool of a query is the union of the
    systems' first ``pool_depth`` documents; each pooled document is judged with probability ``judged_share``, and
    no other document is judged.

Example
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
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, TypeVar

import numpy as np

from gainful.errors import UsageError
from gainful.kernel.arrays import Floats, Ints

__all__ = ["DEMO_SYSTEMS", "Collection", "System", "simulate"]

Judgments: TypeAlias = dict[str, dict[str, int]]
Run: TypeAlias = dict[str, dict[str, float]]
Value = TypeVar("Value", int, float)

MOST_RELEVANT = 60.0  # expected relevant documents of the easiest query ...
FEWEST_RELEVANT = 10.0  # ... and of the hardest one
STRONGEST_SIGNAL = 1.3  # factor on the quality of every system for the easiest query ...
WEAKEST_SIGNAL = 0.7  # ... and for the hardest one; the mean is 1, so that quality is the value at medium difficulty
# Below one half, so that every level, the highest included, is rarer than the level under it.
NEXT_LEVEL_SHARE = 0.4
# Both parts of a family member's noise weigh the same, and the variance equals that of a system without a family.
FAMILY_WEIGHT = math.sqrt(0.5)
SCORE_STEPS = 10_000  # scores have 4 decimals
# Six digits in every document id make the order of ids the order of document numbers.
MOST_DOCUMENTS = 999_999
# The name is a field of the run format and the stem of a file name: no white space, no path separator.
NAME_PATTERN = re.compile(r"[A-Za-z0-9._-]+")


@dataclass(frozen=True)
class System:
    """A retrieval system, described by how well its scores follow the true grade.

    Claim
        At medium difficulty a document of the highest grade scores ``quality`` higher, in expectation, than one of
        grade 0, where the noise is of standard logistic size. 0 is a random order. Systems of one ``family`` share
        half of their noise variance, so that they make similar errors.

    Example
        >>> System("bm25", quality=5.0, family="lexical")
        System(name='bm25', quality=5.0, family='lexical')
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

    Claim
        ``simulate`` lists the documents of a ranking by descending score and, among equal scores, by descending
        document id. A query is absent from ``qrels`` when none of its documents is judged, as it is from the text.

    Example
        >>> collection = Collection(qrels={"q001": {"d000007": 2}}, runs={"bm25": {"q001": {"d000007": 1.5}}})
        >>> collection.qrels["q001"]["d000007"]
        2
    """

    qrels: Judgments
    runs: dict[str, Run]

    def write(self, directory: Path, compressed: Iterable[str] = ()) -> list[Path]:
        """Write the collection as TREC text and return the paths: the judgments, then the runs in their order.

        Claim
            ``qrels.txt`` has lines ``query 0 document grade``; ``<system>.run`` has lines
            ``query Q0 document rank score system`` with ranks from 1 and scores to 4 decimals. The runs of the
            systems named in ``compressed`` become ``<system>.run.gz``, whose header has neither time nor file name,
            so that equal runs give equal bytes. The directory is created where it is missing.

        Example
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
        directory.mkdir(parents=True, exist_ok=True)
        contents = {"qrels.txt": _judgments_text(self.qrels).encode()}
        for system, run in self.runs.items():
            text = _run_text(system, run).encode()
            if system in compressed_systems:
                contents[f"{system}.run.gz"] = _gzipped(text)
            else:
                contents[f"{system}.run"] = text
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
    """Draw a collection from the model that the module describes.

    Claim
        Every system ranks its best ``depth`` of the ``documents`` documents for each query; grades run from 0 to
        ``levels - 1``; every judged document is among the first ``pool_depth`` of at least one system. The draws of
        a query depend on the seed and on the query's number, those of a system also on its name (and its family's),
        and on nothing else. A query may end up without any relevant judged document, as in practice.

    Example
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
        raise UsageError("systems: expected at least one system, found none")
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise UsageError(f"systems: expected distinct names, found more than one {', '.join(repeated)}")

    document_ids = [f"d{number:06d}" for number in range(1, documents + 1)]
    collection = Collection(qrels={}, runs={system.name: {} for system in systems})
    for query_number in range(1, queries + 1):
        # Three digits at least, not as many as the last query needs: an id must not depend on later queries.
        query = f"q{query_number:03d}"
        draws = _QueryDraws(seed, query_number, documents)
        difficulty = draws.difficulty()
        grades = draws.grades(difficulty, levels)
        rankings = []
        for system in systems:
            scores = draws.scores(system, difficulty, grades, levels)
            # Best first; among equal scores the later document comes first.
            ranking = np.argsort(scores, kind="stable")[::-1][:depth]
            rankings.append(ranking)
            collection.runs[system.name][query] = _by_id(ranking, scores.tolist(), document_ids)
        pool = np.unique(np.concatenate([ranking[:pool_depth] for ranking in rankings]))
        judged = draws.judged(pool, judged_share)
        if judged.size:
            collection.qrels[query] = _by_id(judged, grades.tolist(), document_ids)
    return collection


@dataclass(frozen=True)
class _QueryDraws:
    """The random draws of one query: each purpose has a stream of its own, so that none shifts another."""

    seed: int
    query_number: int
    documents: int

    def difficulty(self) -> float:
        """0 for the easiest query, 1 for the hardest."""
        return float(self._uniform("difficulty", 1)[0])

    def grades(self, difficulty: float, levels: int) -> Ints:
        """The true grade of every document, by inversion of the distribution function."""
        expected_relevant = min(_between(MOST_RELEVANT, FEWEST_RELEVANT, difficulty), self.documents / 2)
        share_relevant = expected_relevant / self.documents
        # Shares of documents with at least the highest grade, the next lower one, ..., grade 1: ascending.
        shares_at_least = [share_relevant * NEXT_LEVEL_SHARE ** (grade - 1) for grade in range(levels - 1, 0, -1)]
        uniform = self._uniform("grades", self.documents)
        levels_missed = np.searchsorted(np.asarray(shares_at_least), uniform, side="right")
        return (levels - 1 - levels_missed).astype(np.int64)

    def scores(self, system: System, difficulty: float, grades: Ints, levels: int) -> Floats:
        """The system's score of every document, to 4 decimals."""
        strength = _between(STRONGEST_SIGNAL, WEAKEST_SIGNAL, difficulty)
        signal = strength * system.quality * (grades / (levels - 1))
        # Rounded before anything is ordered by it: the last bit of a logarithm, in which machines may differ, then
        # decides neither a rank nor a pool. Adding 0.0 turns -0.0 into 0.0, which the text shows without a sign.
        return np.rint((signal + self._noise(system)) * SCORE_STEPS) / SCORE_STEPS + 0.0

    def judged(self, pool: Ints, judged_share: float) -> Ints:
        """The documents of the pool that were judged."""
        # Drawn for all documents, so that a document's fate does not depend on which others are in the pool.
        chosen = self._uniform("judged", self.documents) < judged_share
        return pool[chosen[pool]]

    def _noise(self, system: System) -> Floats:
        own = _logistic(self._uniform(f"system/{system.name}", self.documents))
        if system.family is None:
            return own
        shared = _logistic(self._uniform(f"family/{system.family}", self.documents))
        return FAMILY_WEIGHT * (shared + own)

    def _uniform(self, purpose: str, size: int) -> Floats:
        """Doubles in [0, 1) from the stream of this seed, query and purpose."""
        # Uniform doubles of a named bit generator are the part of the random module that stays the same between
        # versions; its normal variates, choices and shuffles may change. Python's hash() changes between processes.
        purpose_key = int.from_bytes(hashlib.sha256(purpose.encode()).digest()[:8], "little")
        sequence = np.random.SeedSequence(self.seed, spawn_key=(self.query_number, purpose_key))
        return np.random.Generator(np.random.PCG64(sequence)).random(size)


def _between(easiest: float, hardest: float, difficulty: float) -> float:
    return easiest + (hardest - easiest) * difficulty


def _logistic(uniform: Floats) -> Floats:
    """Standard logistic variates by inversion: log(u / (1 - u))."""
    # 0 is a possible draw (1 is not) whose logarithm is infinite; half of the smallest positive draw stands for it.
    positive = np.maximum(uniform, 2.0**-54)
    return np.log(positive / (1.0 - positive))


def _by_id(positions: Ints, values: Sequence[Value], document_ids: Sequence[str]) -> dict[str, Value]:
    """The values at the positions, in their order, keyed by document id."""
    return {document_ids[position]: values[position] for position in positions.tolist()}


def _judgments_text(qrels: Judgments) -> str:
    return "".join(
        f"{query} 0 {document} {grade}\n" for query, grades in qrels.items() for document, grade in grades.items()
    )


def _run_text(system: str, run: Run) -> str:
    lines = []
    for query, scores in run.items():
        ranking = sorted(scores, key=lambda document: (scores[document], document), reverse=True)
        for rank, document in enumerate(ranking, start=1):
            lines.append(f"{query} Q0 {document} {rank} {scores[document]:.4f} {system}\n")
    return "".join(lines)


def _gzipped(content: bytes) -> bytes:
    # Not gzip.compress: with mtime=0 some versions of Python let the header name the operating system.
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=buffer, mtime=0) as stream:
        stream.write(content)
    return buffer.getvalue()


def _require_integer(name: str, value: int, low: int, high: int | None = None, high_name: str = "") -> None:
    is_integer = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if is_integer and value >= low and (high is None or value <= high):
        return
    limits = f">= {low}" if high is None else f"from {low} to {high}"
    origin = f" ({high_name})" if high_name else ""
    raise UsageError(f"{name}: expected an integer {limits}{origin}, found {value!r}")
