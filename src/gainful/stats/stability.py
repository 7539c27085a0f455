"""Whether the order of systems would be the same on other queries, or with fewer judged documents."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from gainful.arrays import Bools, Floats, Ints
from gainful.data.qrels import Qrels
from gainful.errors import UsageError
from gainful.notation import choose
from gainful.stats.anova import checked, column_means
from gainful.stats.draws import check_draws, stream
from gainful.stats.measure_agreement import Coefficient, kendall_tau
from gainful.stats.settled import settle

#: How the queries of a subset are chosen: at random, or the first ones in order.
TOPICS = ("random", "first")


class Spread(NamedTuple):
    """Coefficients over draws: their mean, standard deviation and ends; ``undefined`` draws had none."""

    mean: float
    sd: float  # 0 for one draw
    lowest: float
    highest: float
    draws: int
    undefined: int

    @classmethod
    def of(cls, values: Sequence[float | None]) -> Spread | None:
        """The spread of what is defined; None if nothing is."""
        found = [value for value in values if value is not None]
        if not found:
            return None
        mean = math.fsum(found) / len(found)
        spread = math.fsum((value - mean) ** 2 for value in found)
        sd = math.sqrt(spread / (len(found) - 1)) if len(found) > 1 else 0.0
        return cls(mean, sd, min(found), max(found), len(found), len(values) - len(found))


@dataclass(frozen=True)
class SubsetStability:
    """The order of systems on a part of the queries or of the judged documents.

    ``part_whole`` compares the part with the whole that it is a part of, which flatters it; ``split_half`` with another
    part of the same size that has nothing in common with it, and is None where there is no such part.
    """

    share: float
    size: float  # queries, or judged documents on average
    part_whole: Spread | None
    split_half: Spread | None


def stability_over_queries(
    scores: Floats,
    shares: Sequence[float] = (0.5, 0.2),
    *,
    topics: str = "random",
    draws: int = 1000,
    seed: int = 0,
    coefficient: Coefficient = kendall_tau,
) -> tuple[SubsetStability, ...]:
    """The order of systems recomputed on subsets of the queries (rows, in the order of their ids), for every share.

    ``topics="first"`` takes the first ones, as Della Mea and Mizzaro (2004) did, against all and against the next ones:
    one comparison each. ``topics="random"`` draws them without replacement.

    >>> scores = np.array([[0.1, 0.2, 0.3], [0.1, 0.2, 0.3], [0.9, 0.5, 0.4], [0.1, 0.2, 0.3]])
    >>> [found] = stability_over_queries(scores, [0.5], topics="first")
    >>> found.size, found.part_whole.mean, round(found.split_half.mean, 4)
    (2, 0.3333333333333333, -0.8165)
    """
    scores = checked(scores)
    queries = scores.shape[0]
    whole = settled_means(scores)
    is_random = choose(topics, TOPICS, "topics") == "random"
    found = []
    for share in shares:
        size = _size(share, queries)
        orders = random_orders(queries, draws, seed) if is_random else np.arange(queries)[np.newaxis]
        parts = [settled_means(scores[order[:size]]) for order in orders]
        others = [settled_means(scores[order[size : 2 * size]]) for order in orders] if 2 * size <= queries else []
        found.append(
            SubsetStability(
                share,
                size,
                Spread.of([coefficient(part, whole) for part in parts]),
                Spread.of([coefficient(part, other) for part, other in zip(parts, others, strict=False)]),
            )
        )
    return tuple(found)


def order_of_topics(queries: Sequence[str]) -> tuple[Ints, bool]:
    """In which order queries are the first ones, and whether it is that of numbers: so if all ids are whole numbers.

    >>> order_of_topics(["1", "10", "2"])[0].tolist(), order_of_topics(["q1", "q10", "q2"])[0].tolist()
    ([0, 2, 1], [0, 1, 2])
    """
    are_numbers = all(query.isascii() and query.isdigit() for query in queries)
    # Byte order, which is the one of a matrix, decides between 7 and 07.
    key = (lambda i: int(queries[i])) if are_numbers else (lambda i: i)
    return np.array(sorted(range(len(queries)), key=key), np.int64), are_numbers


class Thinning:
    """Judgments of which some are left out, at random: a pair of query and document is kept or not for all systems.

    What is kept depends on the ids and the seed, not on the order of the judgments; all rows of a pair (judges,
    sub-topics) go together, and every query stays judged, if need be with nothing.

    >>> thinning = Thinning(Qrels.from_dict({"q": {f"d{i}": 1 for i in range(100)}}))
    >>> part, other = thinning.parts(0.5)
    >>> thinning.pairs, len(part) + len(other), 30 < len(part) < 70
    (100, 100, True)
    """

    def __init__(self, qrels: Qrels) -> None:
        self.qrels = qrels
        keys = [(query, qrels.document(row)) for row, query in enumerate(qrels.query.tolist())]
        place = {key: number for number, key in enumerate(sorted(set(keys)))}
        self.pairs = len(place)
        self._pair: Ints = np.array([place[key] for key in keys], np.int64)

    def parts(self, share: float, *, draw: int = 0, seed: int = 0) -> tuple[Qrels, Qrels | None]:
        """Judgments with each pair kept with chance ``share``, and others, as many, with none of these.

        The second is None where two such parts do not fit into the whole. A larger share keeps what a smaller one does.
        """
        if not 0 < share <= 1:
            raise UsageError(f"share: expected a number above 0 and up to 1, found {share!r}")
        chance = stream(seed, draw).random(self.pairs)[self._pair]
        other = self._keep((chance >= share) & (chance < 2 * share)) if 2 * share <= 1 else None
        return self._keep(chance < share), other

    def _keep(self, kept: Bools) -> Qrels:
        qrels, rows = self.qrels, np.flatnonzero(kept)
        return replace(
            qrels,
            query=qrels.query[rows],
            document_start=qrels.document_start[rows],
            document_length=qrels.document_length[rows],
            subtopic=qrels.subtopic[rows],
            grade=qrels.grade[rows],
            origin=None if qrels.origin is None else qrels.origin.take(rows),
        )


def settled_means(scores: Floats) -> Floats:
    """The means of the systems, equal where they differ by no more than what adding up loses."""
    return settle(column_means(scores), float(np.max(np.abs(scores), initial=0.0)))


def _size(share: float, queries: int) -> int:
    if not 0 < share <= 1:
        raise UsageError(f"share: expected a number above 0 and up to 1, found {share!r}")
    return max(1, math.floor(share * queries + 0.5))


def random_orders(queries: int, draws: int, seed: int) -> Ints:
    """Random orders of the queries: the first of them are a random subset, the next ones another."""
    check_draws(draws, seed)
    return np.argsort(stream(seed).random((draws, queries)), axis=1, kind="stable")
