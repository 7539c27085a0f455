"""Whether the order of systems would be the same with other queries or fewer judgments, as something to show."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gainful.arrays import Floats
from gainful.errors import UsageError
from gainful.notation import choose
from gainful.progress import Progress
from gainful.render.page import Page, Showable
from gainful.stats.common_scores import MatricesLike, check_size, on_common, upward
from gainful.stats.document_stability import DocumentStability
from gainful.stats.noncentral import check_alpha
from gainful.stats.scores import ScoreMatrix
from gainful.stats.stability import TOPICS, SubsetStability, order_of_topics, stability_over_queries
from gainful.stats.stability_coefficients import coefficient_of
from gainful.stats.swap_rates import (
    BINS,
    DiscriminativePower,
    SwapRates,
    discriminative_power,
    swap_rates,
    told_apart,
)
from gainful.stats.tukey import randomised_tukey

#: The tests that discriminative power can be by.
TESTS = ("t", "rthsd")


@dataclass(frozen=True, eq=False, repr=False)
class StabilityReport(Showable):
    """How stable the order of systems is by each measure, on the same systems and queries for all of them.

    ``queries`` has subsets of the queries, ``documents`` parts of the judged documents (empty if not asked for),
    ``swaps`` how often pairs of systems change places, ``power`` how many pairs a test tells apart; all by measure.
    ``most_swaps`` is the rate for which ``swaps`` names the difference needed.
    """

    matrices: Mapping[str, ScoreMatrix]
    coefficient: str
    topics: str
    draws: int
    seed: int
    queries: Mapping[str, tuple[SubsetStability, ...]]
    documents: Mapping[str, DocumentStability]
    swaps: Mapping[str, SwapRates]
    most_swaps: float
    power: Mapping[str, DiscriminativePower]
    notices: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<StabilityReport of {', '.join(self.matrices)}: {len(self.first.systems)} systems>"

    @property
    def first(self) -> ScoreMatrix:
        """The matrix of the first measure: systems and queries are the same in all."""
        return next(iter(self.matrices.values()))

    def page(self, places: int = 4, notes: Sequence[str] = (), header: Mapping[str, object] | None = None) -> Page:
        """Sentences, the order on parts, swaps, and discriminative power, with their curves."""
        from gainful.render.stability_page import stability_page

        return stability_page(self, places, notes, header or {})


def assess_stability(
    scores: MatricesLike,
    *,
    shares: Sequence[float] = (0.5, 0.2),
    topics: str = "random",
    draws: int = 1000,
    seed: int = 0,
    coefficient: str = "tau_b",
    documents: Mapping[str, DocumentStability] | None = None,
    set_size: int | None = None,
    fuzziness: float = 0.05,
    most_swaps: float = 0.05,
    test: str = "t",
    alpha: float = 0.05,
    threads: int | None = None,
    progress: Progress | None = None,
) -> StabilityReport:
    """Whether the order of systems would be the same on other queries: subsets, swap rates, discriminative power.

    ``topics`` takes the ``first`` or ``random`` queries for subsets of the given ``shares``; first by number where all
    ids are whole numbers, else in byte order. Swap rates are over sets
    of ``set_size`` queries (half of all unless given); ``fuzziness`` is the share of the higher mean below which two
    systems are tied. ``documents`` is what :func:`gainful.assess_documents` found, to be shown beside.

    >>> matrix = ScoreMatrix.of("P@5", {"a": [0.4, 0.6, 0.4, 0.6], "b": [0.2, 0.4, 0.4, 0.2], "c": [0, 0.2, 0, 0]})
    >>> report = assess_stability(matrix, draws=10)
    >>> report.queries["P@5"][0].part_whole.mean > 0.8, report.swaps["P@5"].error_rate
    (True, 0.0)
    """
    agree = coefficient_of(coefficient)
    choose(topics, TOPICS, "topics")
    choose(test, TESTS, "test")
    check_alpha(alpha)
    if not shares:
        raise UsageError("shares: expected at least one, found none")
    if not 0 < most_swaps < 1:
        raise UsageError(f"swaps: expected a rate between 0 and 1, found {most_swaps:g}")
    matrices, notices = on_common(scores)
    check_size(list(matrices.values()), queries=2)
    half = len(next(iter(matrices.values())).queries) // 2
    if set_size is not None and not 1 <= set_size <= half:
        raise UsageError(f"set size: expected 1 to {half}, so that two sets fit into all queries, found {set_size}")
    progress = progress or Progress()
    progress.total = 3 * len(matrices)
    subsets, swaps, power = {}, {}, {}
    for name, matrix in matrices.items():
        values = upward(matrix)
        ordered = values[order_of_topics(matrix.queries)[0]] if topics == "first" else values
        subsets[name] = stability_over_queries(
            ordered, shares, topics=topics, draws=draws, seed=seed, coefficient=agree
        )
        progress.advance(1)
        swaps[name] = swap_rates(
            values, queries=set_size, fuzziness=fuzziness, draws=draws, bins=_bins(values), seed=seed
        )
        progress.advance(1)
        power[name] = _power(values, test, alpha, seed, threads)
        progress.advance(1)
    return StabilityReport(
        matrices,
        coefficient,
        topics,
        draws,
        seed,
        subsets,
        dict(documents or {}),
        swaps,
        most_swaps,
        power,
        tuple(notices),
    )


def _bins(values: Floats) -> tuple[float, ...]:
    """Bins of 0.01 for scores up to 1; of scores beyond, as many that are larger by a power of 10."""
    largest = float(abs(values).max())
    unit = 10.0 ** math.ceil(math.log10(largest)) if largest > 1 else 1.0
    return tuple(edge * unit for edge in BINS)


def _power(values: Floats, test: str, alpha: float, seed: int, threads: int | None) -> DiscriminativePower:
    if test == "t":
        return discriminative_power(values, alpha=alpha)
    found = randomised_tukey(values, seed=seed, alpha=alpha, threads=threads)
    return told_apart(found.p, found.difference, test="randomised Tukey HSD", alpha=alpha)
