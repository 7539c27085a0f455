"""The order of systems with fewer judged documents: random parts of the judgments, or one kind of document only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gainful.arrays import Floats
from gainful.data.judged import Judged
from gainful.data.qrels import Qrels, QrelsLike
from gainful.data.run import Run, RunLike
from gainful.errors import InputError, UsageError
from gainful.evaluation import MeasuresLike, check_measures, evaluate_graded, join_each
from gainful.measures.base import Measure
from gainful.measures.grammar import parse_all
from gainful.policy import Policy
from gainful.progress import Progress
from gainful.results import Evaluation
from gainful.stats.common_scores import upward
from gainful.stats.draws import check_draws
from gainful.stats.measure_agreement import Coefficient
from gainful.stats.scores import ScoreMatrix
from gainful.stats.stability import Spread, SubsetStability, Thinning, settled_means
from gainful.stats.stability_coefficients import coefficient_of

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
    qrels: QrelsLike,
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
    that means. Split halves are two parts without a common document.

    >>> qrels = {"q": {f"d{i}": 1 for i in range(40)}}
    >>> runs = {"all": {"q": [f"d{i}" for i in range(40)]}, "few": {"q": ["d1", "x", "y"]}, "none": {"q": ["x"]}}
    >>> found = assess_documents(qrels, runs, "AP", [0.5], draws=3)["AP"]
    >>> found.judged, found.parts[0].part_whole.lowest > 0.8
    (40, True)
    """
    judged = Judged(Qrels.of(qrels), Policy.of(policy))
    wanted = parse_all(measures)
    return assess_judged_documents(
        judged,
        runs,
        wanted,
        shares,
        draws=draws,
        seed=seed,
        coefficient=coefficient,
        threads=threads,
        progress=progress,
    )


def assess_judged_documents(
    judged: Judged,
    runs: Mapping[str, RunLike],
    measures: Sequence[Measure],
    shares: Sequence[float] = (0.5, 0.2),
    *,
    draws: int = 20,
    seed: int = 0,
    coefficient: str = "tau_b",
    threads: int | None = None,
    progress: Progress | None = None,
) -> dict[str, DocumentStability]:
    """:func:`assess_documents` for judgments that are already prepared, under the policy they were prepared for."""
    check_draws(draws, seed)
    if len(runs) < 2:
        raise UsageError(f"runs: expected at least 2, found {len(runs)}: one system alone has no order")
    agree = coefficient_of(coefficient)
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
