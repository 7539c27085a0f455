"""Sequences of queries: `gainful sessions`.

Sessions of several systems, looked at from all sides in one pass: scores, lengths, positions, curves, and whether
measures agree with what users say.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gainful.data.judged import Judged
from gainful.data.qrels import QrelsLike
from gainful.data.sessions import Sessions, SessionTopics, TopicsLike
from gainful.errors import InputError, UsageError, warns
from gainful.evaluation.evaluate import MeasuresLike
from gainful.evaluation.results import Evaluation
from gainful.kernel.arrays import Floats, Ints
from gainful.kernel.parallel import Progress
from gainful.measures.base import Measure
from gainful.measures.catalog import DEFAULT_SESSION_MEASURES, parse_all
from gainful.measures.session_block import SessionBlock, check_session_measures
from gainful.measures.session_cost import GainPerCost
from gainful.measures.session_cumulation import SessionGain
from gainful.measures.session_gain import SDCG
from gainful.notation import nearest, printable
from gainful.policy import Policy
from gainful.render import Showable
from gainful.stats.repeatable import settle
from gainful.tasks.curves.averages import Resampling
from gainful.tasks.sessions.session_choice import SessionChoice
from gainful.tasks.sessions.session_curves import (
    CurvesOfSystem,
    SessionCurves,
    WantedCurves,
    curves_together,
    not_normalised,
)
from gainful.tasks.sessions.session_evaluation import (
    SessionsLike,
    SystemWatch,
    parts_of,
    score_systems,
    session_measures,
)
from gainful.tasks.sessions.session_positions import (
    NO_SESSIONS,
    ByPosition,
    CostCurves,
    CostsGathered,
    LastAgainstBest,
    Queries,
    QueryValues,
    costed,
)

if TYPE_CHECKING:
    from gainful.render import Page
    from gainful.tasks.sessions.session_page import SessionReport

#: Pieces of so many values are compared all with all.
_SMALL = 64


class Correlation(NamedTuple):
    """A coefficient with its interval: None where it is undefined. ``n`` is how many pairs it is from."""

    coefficient: str
    value: float | None
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True)
class RatingCorrelations:
    """What ratings have to do with measures: for every system and measure the coefficients.

    ``unrated`` are, by system, the sessions with a score but without a rating; ``constant`` says of a system and
    measure why coefficients are undefined.
    """

    rating: str
    confidence: float
    found: Mapping[tuple[str, Measure], tuple[Correlation, ...]]
    unrated: Mapping[str, tuple[str, ...]]
    constant: Mapping[tuple[str, Measure], str]


def correlate(x: Sequence[float], y: Sequence[float], confidence: float = 0.95) -> tuple[Correlation, ...]:
    """Pearson's r, Spearman's rho and Kendall's tau-b of pairs, each with an interval.

    Intervals are Fisher's: atanh(r) plus or minus z times a standard error, which is sqrt(1 / (n - 3)) of Pearson's r,
    sqrt((1 + rho^2 / 2) / (n - 3)) of Spearman's rho (Bonett and Wright 2000), and sqrt(0.437 / (n - 4)) of Kendall's
    tau (Fieller, Hartley and Pearson 1957). Where either side is constant nothing is defined. What is equal but for
    rounding is equal.

    >>> [(each.coefficient, round(each.value, 4)) for each in correlate([1, 2, 3, 4, 5], [1, 3, 2, 5, 4])]
    [('Pearson', 0.8), ('Spearman', 0.8), ('Kendall', 0.6)]
    """
    if len(x) != len(y):
        raise UsageError(f"correlate: expected as many values on both sides, found {len(x)} and {len(y)}")
    if not 0 < confidence < 1:
        raise UsageError(f"confidence: expected a number between 0 and 1, found {confidence}")
    a, b = np.asarray(x, np.float64), np.asarray(y, np.float64)
    n = a.size
    equal_a, equal_b = settle(a), settle(b)
    if n < 2 or _is_constant(x) or _is_constant(y):
        return tuple(Correlation(name, None, None, None, n) for name in ("Pearson", "Spearman", "Kendall"))
    rho = _pearson(_mid_ranks(equal_a), _mid_ranks(equal_b))
    found = (
        ("Pearson", _pearson(a, b), 1.0, 3),
        ("Spearman", rho, 1.0 + rho * rho / 2.0, 3),
        ("Kendall", kendall(equal_a, equal_b), 0.437, 4),
    )
    z = NormalDist().inv_cdf(0.5 + confidence / 2.0)
    return tuple(
        Correlation(name, value, *_interval(value, z, variance, n - lost), n) for name, value, variance, lost in found
    )


def _is_constant(values: Sequence[float]) -> bool:
    return not np.ptp(settle(np.asarray(values, np.float64)))


def _interval(value: float, z: float, variance: float, freedom: int) -> tuple[float | None, float | None]:
    if freedom < 1:
        return None, None
    if abs(value) >= 1.0:
        return value, value
    middle, width = math.atanh(value), z * math.sqrt(variance / freedom)
    return math.tanh(middle - width), math.tanh(middle + width)


def _pearson(x: Floats, y: Floats) -> float:
    a, b = ((each - math.fsum(each) / each.size).tolist() for each in (x, y))
    above = math.fsum(p * q for p, q in zip(a, b, strict=True))
    below = math.sqrt(math.fsum(p * p for p in a)) * math.sqrt(math.fsum(q * q for q in b))
    return min(1.0, max(-1.0, above / below))


def _mid_ranks(values: Floats) -> Floats:
    """Ranks from 1 on; equals share the mean of theirs."""
    level, counts = _levels(values)
    ends = np.cumsum(counts)
    return np.asarray((ends - (counts - 1) / 2.0)[level])


def _levels(values: Floats | Ints) -> tuple[Ints, Ints]:
    """For every value its place among the different ones, and how often each of these is there."""
    _, level, counts = np.unique(values, return_inverse=True, return_counts=True)
    return level.reshape(-1), counts


def kendall(x: Floats, y: Floats) -> float:
    """Kendall's tau-b of many pairs, neither side constant; counted exactly.

    >>> round(kendall(np.array([1.0, 2.0, 3.0, 4.0]), np.array([2.0, 1.0, 3.0, 4.0])), 4)
    0.6667
    """
    (a, ties_a), (b, ties_b) = _levels(x), _levels(y)
    _, ties_both = _levels(a * ties_b.size + b)
    pairs, tied_a, tied_b, tied = (_pairs(each) for each in (np.array([x.size]), ties_a, ties_b, ties_both))
    # Where one side is tied the other ascends: there is nothing out of order.
    discordant = _inversions(b[np.lexsort((b, a))])[0]
    concordant = pairs - tied_a - tied_b + tied - discordant
    return (concordant - discordant) / math.sqrt((pairs - tied_a) * (pairs - tied_b))


def _pairs(counts: Ints) -> int:
    return sum(count * (count - 1) // 2 for count in counts.tolist())


def _inversions(values: Ints) -> tuple[int, Ints]:
    """How many pairs are in descending order, and the values in ascending one."""
    if values.size <= _SMALL:
        return int(np.count_nonzero(np.triu(values[:, None] > values[None, :]))), np.sort(values)
    half = values.size // 2
    (before, left), (after, right) = _inversions(values[:half]), _inversions(values[half:])
    across = int((half - np.searchsorted(left, right, "right")).sum())
    return before + after + across, np.sort(values)


def correlate_ratings(
    evaluations: Mapping[str, Evaluation],
    ratings: Mapping[str, Mapping[str, float]],
    rating: str,
    confidence: float = 0.95,
) -> RatingCorrelations:
    """Correlates every measure with a rating, over the sessions that have both. ``ratings`` are by system and session.

    Scores are those after the policy; sessions that it leaves out do not count, and sessions that are not there have
    no part.
    """
    found: dict[tuple[str, Measure], tuple[Correlation, ...]] = {}
    constant: dict[tuple[str, Measure], str] = {}
    unrated: dict[str, tuple[str, ...]] = {}
    for name, evaluation in evaluations.items():
        of_system = ratings[name]
        missing = set(evaluation.missing)
        unrated[name] = tuple(s for s in evaluation.queries if s not in of_system and s not in missing)
        for measure in evaluation.measures:
            pairs = [
                (score.value, of_system[score.query])
                for score in evaluation.scores(measure)
                if score.value is not None and score.status != "missing" and score.query in of_system
            ]
            values, said = [value for value, _ in pairs], [given for _, given in pairs]
            found[name, measure] = correlate(values, said, confidence)
            why = _why_undefined(values, said, str(measure), rating)
            if why:
                constant[name, measure] = why
    return RatingCorrelations(rating, confidence, found, unrated, constant)


def _why_undefined(values: Sequence[float], said: Sequence[float], measure: str, rating: str) -> str:
    if len(values) < 2:
        return f"{len(values)} of the sessions {'has' if len(values) == 1 else 'have'} both"
    for what, each in ((measure, values), (rating, said)):
        if _is_constant(each):
            return f"{what} is {each[0]:g} for all {len(each)} sessions"
    return ""


@dataclass(frozen=True, eq=False)
class SystemQueries:
    """What the queries of one system's judged sessions give; queries without judgments count for their places only.

    ``session_counts[i]`` is how many sessions have exactly i + 1 queries. ``missing`` more are scored as 0, but nobody
    knows how many queries they would have.
    """

    session_counts: Ints
    by_position: ByPosition
    last_queries: Queries
    earlier_queries: Queries
    missing: int = 0
    last_against_best: LastAgainstBest = NO_SESSIONS

    @property
    def last(self) -> float:
        """The mean of the sessions' last queries."""
        return self.last_queries.mean

    @property
    def earlier(self) -> float:
        """The mean of all earlier queries together, NaN if there are none."""
        return self.earlier_queries.mean

    @property
    def sessions(self) -> int:
        """How many sessions there are."""
        return int(self.session_counts.sum()) + self.missing

    @property
    def unjudged(self) -> int:
        """How many of the queries do not count, because they have no judgments."""
        return self.queries - self.last_queries.number - self.earlier_queries.number

    @property
    def queries(self) -> int:
        """How many queries they have together."""
        return int((self.session_counts * np.arange(1, self.session_counts.size + 1)).sum())

    @property
    def average(self) -> float:
        """How many queries a session has on average."""
        known = self.sessions - self.missing
        return self.queries / known if known else float("nan")


@dataclass(frozen=True, eq=False, repr=False)
class SessionStudy(Showable):
    """All that was found about the sessions of some systems. ``measure`` is what queries are worth by position."""

    evaluations: Mapping[str, Evaluation]
    measure: SessionGain
    queries: Mapping[str, SystemQueries]
    curves: SessionCurves | None = None
    ratings: RatingCorrelations | None = None
    left_out: tuple[str, ...] = ()  # systems of which no session was chosen
    topics: SessionTopics | None = None  # those that were given apart from the sessions
    costs: CostCurves | None = None

    def __repr__(self) -> str:
        systems = ", ".join(f"{printable(name)} {found.sessions}" for name, found in self.queries.items())
        return f"<SessionStudy of sessions: {systems}>"

    def report(self, by_session: bool = False, places: int = 4, baseline: str | None = None) -> SessionReport:
        """What is to be shown of it."""
        from gainful.tasks.sessions.session_page import SessionReport

        return SessionReport(self, by_session, places, baseline)

    def page(self) -> Page:
        return self.report().page()

    @property
    def notices(self) -> tuple[str, ...]:
        """What is legal but suspicious, one line each."""
        from gainful.evaluation.notices import notices
        from gainful.tasks.sessions.session_page import rating_notices

        lines = [f"{printable(name, 80)}: no session is chosen, left out" for name in self.left_out]
        lines += notices(self.evaluations.values())
        lines += self.topics.notices() if self.topics else []
        if self.curves is not None and not self._are_of_measures(self.curves):
            drawn, found = (", ".join(map(str, each)) for each in (self.curves.measures, self._measures))
            lines.append(f"curves are of {drawn}, because {found} cannot be drawn")
        return (*lines, *(rating_notices(self.ratings) if self.ratings else ()))

    @property
    def _measures(self) -> tuple[Measure, ...]:
        return next((found.measures for found in self.evaluations.values()), ())

    def _are_of_measures(self, curves: SessionCurves) -> bool:
        gains = [measure for measure in self._measures if isinstance(measure, SessionGain)]
        return any(measure in curves.measures for each in gains for measure in (each, not_normalised(each)))


@warns
def study_sessions(
    qrels: QrelsLike | Judged,
    systems: Mapping[str, SessionsLike],
    measures: MeasuresLike = DEFAULT_SESSION_MEASURES,
    *,
    judged_by: str | None = None,
    policy: Policy | str | None = None,
    choice: SessionChoice | None = None,
    curves: WantedCurves | None = None,
    cost_curves: Resampling | None = None,
    rating: str | None = None,
    ratings: Mapping[str, float] | None = None,
    topics: TopicsLike | None = None,
    confidence: float = 0.95,
    by_system: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> SessionStudy:
    """Scores sessions, counts their queries, and looks at these by their position.

    A system's sessions may come in parts. ``ratings`` are by session, or, with only their name given as ``rating``,
    those that the sessions themselves have; ``confidence`` is what the intervals of their correlations hold. ``topics``
    are by session, or the file of a table of sessions and topics, where the sessions do not name theirs. ``choice``
    takes some of the sessions only.
    ``cost_curves`` draws gain by cost, where GainPerCost is measured. ``by_system``: where sessions name their systems,
    each of these is one.

    >>> sessions = Sessions.of([{"session": "s1", "topic": "t", "queries": [{"results": ["x"]}, {"results": ["a"]}]}])
    >>> study = study_sessions({"t": {"a": 1}}, {"mine": sessions}, "sDCG(query_base=2)@10")
    >>> study.queries["mine"].last, study.queries["mine"].earlier, study.queries["mine"].average
    (0.5, 0.0, 2.0)
    """
    if ratings is not None and rating is None:
        raise UsageError("rating: expected the name of the ratings, found none")
    judged, wanted = Judged.of(qrels, policy), session_measures(parse_all(measures))
    parts: Mapping[str, Iterable[Sessions]] = {name: parts_of(name, each) for name, each in systems.items()}
    about = None if topics is None else SessionTopics.of(topics)
    if about is not None:
        parts = about.given_to_all(parts)
    measure = measure_by_query(wanted)
    priced = costed(wanted)
    if cost_curves is not None and priced is None:
        raise UsageError("cost_curves: expected GainPerCost among the measures, found none")
    seen: dict[str, _Seen] = {}

    def watch(system: str) -> SystemWatch:
        seen[system] = _Seen(measure, curves, rating if ratings is None else None, priced)
        return seen[system].add

    scored = score_systems(
        judged,
        parts,
        wanted,
        watch,
        judged_by=judged_by,
        choice=choice,
        by_system=by_system,
        threads=threads,
        progress=progress,
    )
    found = scored.evaluations
    correlations = None
    if rating is not None:
        given = {name: seen[name].ratings if ratings is None else ratings for name in found}
        _check_ratings(rating, given, seen, found)
        correlations = correlate_ratings(found, given, rating, confidence)
    return SessionStudy(
        found,
        measure,
        {name: seen[name].queries(evaluation) for name, evaluation in found.items()},
        None if curves is None else curves_together(curves, {name: seen[name].curves for name in found}, found),  # type: ignore[misc]
        correlations,
        tuple(scored.left_out),
        about,
        None
        if priced is None
        else CostCurves.of(
            priced,
            {name: gathered for name in found if (gathered := seen[name].costs) is not None},
            cost_curves or Resampling(0, 0, 0.95),
            cost_curves is not None,
        ),
    )


def measure_by_query(measures: Sequence[Measure]) -> SessionGain:
    """What queries are worth by their position: the first sDCG there is, as nsDCG has it, or sDCG@10."""
    gains = [measure for measure in measures if isinstance(measure, SessionGain)]
    for measure in sorted(gains, key=lambda each: each.normalised):
        return not_normalised(measure).replace(summary="final")  # type: ignore[return-value]
    return SDCG(cutoff=10)


class _Seen:
    """What is gathered of one system besides its scores."""

    def __init__(
        self, measure: SessionGain, curves: WantedCurves | None, rating: str | None, priced: GainPerCost | None
    ) -> None:
        self._values = QueryValues(measure)
        self._rating = rating
        self.curves = None if curves is None else CurvesOfSystem(curves)
        self.costs = None if priced is None else CostsGathered(priced)
        self._wanted = [measure, *(() if curves is None else curves.measures)]
        self.ratings: dict[str, float] = {}
        self.known_ratings: set[str] = set()

    def add(self, part: Sessions, chosen: slice, block: SessionBlock) -> None:
        check_session_measures(block.judged, block.sessions, self._wanted)
        self._values.add(part, chosen, block)
        if self.curves is not None:
            self.curves.add(part, chosen, block)
        if self.costs is not None:
            self.costs.add(part, chosen, block)
        self.known_ratings.update(part.ratings)
        if self._rating is not None and self._rating in part.ratings:
            given = part.ratings[self._rating][chosen].tolist()
            self.ratings.update(
                (session, value)
                for session, value in zip(part.ids[chosen], given, strict=True)
                if value == value  # noqa: PLR0124 - NaN: not rated
            )

    def queries(self, evaluation: Evaluation) -> SystemQueries:
        counts = self._values.session_counts()
        # Those that stand for empty pages have been seen.
        missing = 0 if evaluation.policy.missing == "skip" else len(evaluation.query_ids) - int(counts.sum())
        values = self._values
        last, earlier = values.last_and_earlier()
        return SystemQueries(counts, values.by_position(), last, earlier, missing, values.last_against_best())


def _check_ratings(
    rating: str,
    given: Mapping[str, Mapping[str, float]],
    seen: Mapping[str, _Seen],
    evaluations: Mapping[str, Evaluation],
) -> None:
    """Refuses ratings that no session has."""
    if any(session in given[name] for name, found in evaluations.items() for session in found.queries):
        return
    systems = ", ".join(map(printable, evaluations))
    rated = next((session for each in given.values() for session in sorted(each)), None)
    if rated is not None:
        there = next(session for found in evaluations.values() for session in found.queries)
        raise InputError(
            f"{systems}: expected ratings of sessions that were scored, found none: there is session "
            f"'{printable(there)}'; '{printable(rated)}' has a rating called '{printable(rating)}'"
        )
    known = sorted({name for each in seen.values() for name in each.known_ratings})
    there = f"there are {', '.join(map(printable, known))}" if known else "they have no ratings at all"
    raise InputError(
        f"{systems}: expected sessions with a rating called '{printable(rating)}', {there}",
        nearest(rating, known) or "--ratings FILE reads them from a table",
    )
