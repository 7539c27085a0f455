"""Whether the order of systems would be the same with other queries or fewer judgments, as something to show.

Fewer judgments are random parts of the judged documents, or one kind of document only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gainful.data.judged import Judged
from gainful.data.qrels import Qrels, QrelsLike
from gainful.data.run import Run, RunLike
from gainful.errors import InputError, UsageError, warns
from gainful.evaluation.evaluate import MeasuresLike, check_measures, evaluate_graded, join_each
from gainful.evaluation.results import Evaluation
from gainful.evaluation.score_matrix import MatricesLike, ScoreMatrix, check_size, on_common, upward
from gainful.kernel.arrays import Floats, Ints
from gainful.kernel.parallel import Progress
from gainful.measures.base import Measure
from gainful.measures.catalog import parse_all
from gainful.notation import choose, plural_of
from gainful.policy import Policy
from gainful.render import Page, Showable
from gainful.stats.catalogues import DISCRIMINATING, SYMMETRIC, TOPICS, Coefficient
from gainful.stats.repeatable import check_alpha, check_draws, stream
from gainful.stats.stability import (
    BINS,
    DiscriminativePower,
    Spread,
    SubsetStability,
    SwapRates,
    discriminative_power,
    order_of_topics,
    settled_means,
    stability_over_queries,
    swap_rates,
    told_apart,
)
from gainful.stats.tukey import randomised_tukey

#: What measures that compare estimates of documents can be computed over, and what that is called.
_ONLY = {"retrieved": "retrieved only", "relevant": "relevant only"}


class OnlyPart(NamedTuple):
    """A measure computed over one kind of document, and how far its order agrees with that of the measure itself."""

    part: str
    measure: str
    value: float | None


@dataclass(frozen=True)
class DocumentStability:
    """The order of systems by one measure with fewer judged documents.

    ``parts`` are random parts of the ``judged`` pairs of query and document, ``only`` the retrieved and the relevant
    documents alone, for measures that can be computed over these.
    """

    judged: int
    parts: tuple[SubsetStability, ...]
    only: tuple[OnlyPart, ...]


def assess_documents(
    qrels: QrelsLike | Judged,
    runs: Mapping[str, RunLike],
    measures: MeasuresLike,
    shares: Sequence[float] = (0.5, 0.2),
    *,
    draws: int = 20,
    seed: int = 0,
    coefficient: str = "tau_b",
    policy: Policy | str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> dict[str, DocumentStability]:
    """The order of systems by each measure, evaluated anew with random parts of the judgments.

    A pair of query and document is kept with chance ``share``; one that is not is unjudged, and the policy says what
    that means; judgments that are already prepared keep the policy that they were prepared for. Split halves are two
    parts without a common document.

    >>> qrels = {"q": {f"d{i}": 1 for i in range(40)}}
    >>> runs = {"all": {"q": [f"d{i}" for i in range(40)]}, "few": {"q": ["d1", "x", "y"]}, "none": {"q": ["x"]}}
    >>> found = assess_documents(qrels, runs, "AP", [0.5], draws=3)["AP"]
    >>> found.judged, found.parts[0].part_whole.lowest > 0.8
    (40, True)
    """
    judged = qrels if isinstance(qrels, Judged) else Judged(Qrels.of(qrels), Policy.of(policy))
    measures = parse_all(measures)
    check_draws(draws, seed)
    if len(runs) < 2:
        raise UsageError(f"runs: expected at least 2, found {len(runs)}: one system alone has no order")
    agree = SYMMETRIC[choose(coefficient, SYMMETRIC, "coefficient")].formula
    kept = {name: Run.of(run) for name, run in runs.items()}  # read once, scored many times
    variants = {measure: _variants(measure) for measure in measures}
    everything = list(dict.fromkeys([*measures, *(each for found in variants.values() for each in found.values())]))
    check_measures(everything, judged)
    progress = progress or Progress()
    progress.total = draws * len(shares)
    whole = _means(_evaluated(judged, kept, everything, threads), everything)
    thinning = Thinning(judged.qrels)
    parts: dict[Measure, list[SubsetStability]] = {measure: [] for measure in measures}
    for share in shares:
        part_whole: dict[Measure, list[float | None]] = {measure: [] for measure in measures}
        split_half: dict[Measure, list[float | None]] = {measure: [] for measure in measures}
        for draw in range(draws):
            part, other = (
                None
                if half is None
                else _means(_evaluated(Judged(half, judged.policy), kept, measures, threads), measures)
                for half in thinning.parts(share, draw=draw, seed=seed)
            )
            for measure in measures:
                one = None if part is None else part[measure]
                part_whole[measure].append(_agreed(agree, one, whole[measure]))
                if other is not None:
                    split_half[measure].append(_agreed(agree, one, other[measure]))
            progress.advance(1)
        for measure in measures:
            parts[measure].append(
                SubsetStability(
                    share,
                    share * thinning.pairs,
                    Spread.of(part_whole[measure]),
                    Spread.of(split_half[measure]),
                )
            )
    return {
        str(measure): DocumentStability(
            thinning.pairs,
            tuple(parts[measure]),
            tuple(
                OnlyPart(_ONLY[over], str(variant), _agreed(agree, whole[variant], whole[measure]))
                for over, variant in variants[measure].items()
            ),
        )
        for measure in measures
    }


def _variants(measure: Measure) -> dict[str, Measure]:
    """The measure over retrieved and over relevant documents alone, if it can be computed so."""
    if "over" not in measure.parameters():
        return {}
    return {over: measure.replace(over=over) for over in _ONLY if getattr(measure, "over", None) != over}


def _evaluated(
    judged: Judged, runs: Mapping[str, RunLike], measures: Sequence[Measure], threads: int | None
) -> dict[str, Evaluation]:
    """Evaluations that are not checked again: a part of the judgments may lack a grade that a measure names."""
    needed = frozenset(need for measure in measures for need in measure.needed())
    return join_each(judged, runs, lambda _, graded: evaluate_graded(graded, measures), needed, threads=threads)


def _means(evaluations: Mapping[str, Evaluation], measures: Sequence[Measure]) -> dict[Measure, Floats | None]:
    """The systems' means by each measure, higher is better; None where no query has a score of every system."""
    found: dict[Measure, Floats | None] = {}
    for measure in measures:
        try:
            found[measure] = settled_means(upward(ScoreMatrix.from_evaluations(evaluations, measure)))
        except InputError:  # no query is left that counts for all
            found[measure] = None
    return found


def _agreed(agree: Coefficient, one: Floats | None, other: Floats | None) -> float | None:
    return None if one is None or other is None else agree(one, other)


@dataclass(frozen=True, eq=False, repr=False)
class StabilityReport(Showable):
    """How stable the order of systems is by each measure, on the same systems and queries for all of them.

    ``queries`` has subsets of the queries, ``documents`` parts of the judged documents (empty if not asked for),
    ``swaps`` how often pairs of systems change places, ``power`` how many pairs a test finds significantly different;
    all by measure. ``most_swaps`` is the rate for which ``swaps`` names the difference needed."""

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
        from gainful.tasks.stability.stability_page import stability_page

        return stability_page(self, places, notes, header or {})


@warns
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
    agree = SYMMETRIC[choose(coefficient, SYMMETRIC, "coefficient")].formula
    choose(topics, TOPICS, "topics")
    choose(test, DISCRIMINATING, "test")
    check_alpha(alpha)
    if not shares:
        raise UsageError("shares: expected at least one, found none")
    if not 0 < most_swaps < 1:
        raise UsageError(f"swaps: expected a rate between 0 and 1, found {most_swaps:g}")
    matrices, notices = on_common(scores)
    check_size(list(matrices.values()), queries=2)
    first = next(iter(matrices.values()))
    half = len(first.queries) // 2
    if set_size is not None and not 1 <= set_size <= half:
        two_fit = f"so that two sets fit into all {plural_of(first.unit)}"
        raise UsageError(f"set size: expected 1 to {half}, {two_fit}, found {set_size}")
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
        others = np.flatnonzero((chance >= share) & (chance < 2 * share))
        return self.qrels.take(np.flatnonzero(chance < share)), self.qrels.take(others) if 2 * share <= 1 else None
