"""Sessions as curves: what users have gained by every position of their sessions, averaged by system.

Reference: K. Järvelin, S. Price, L. Delcambre and M. Lykke Nielsen, Discounted cumulated gain based evaluation of
multiple-query IR sessions, ECIR 2008, Figures 1 to 4.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gainful.data.judged import Judged
from gainful.data.qrels import QrelsLike
from gainful.data.sessions import Sessions
from gainful.errors import UsageError, warns
from gainful.evaluation.evaluate import MeasuresLike
from gainful.evaluation.results import Evaluation
from gainful.kernel.arrays import Floats, Ints
from gainful.kernel.exact_sums import RankSums
from gainful.kernel.parallel import Progress
from gainful.measures.base import Measure
from gainful.measures.block import condenses
from gainful.measures.catalog import parse, parse_all
from gainful.measures.session_block import SessionBlock
from gainful.measures.session_cumulation import SessionGain, gained_and_ideal, same_positions
from gainful.measures.session_gain import NSDCG, SDCG
from gainful.notation import bytes_of_id, choose, nearest, printable, read_whole, text_of_id
from gainful.policy import Policy
from gainful.render import Page
from gainful.tasks.curves.averages import (
    AVERAGES,
    FEWEST,
    MEAN,
    RATIO_OF_MEANS,
    Band,
    CurvesOfRuns,
    Resampling,
    average_called,
    band_ranks,
    percentile_band,
    resampled,
    widened,
)
from gainful.tasks.sessions.session_choice import SessionChoice
from gainful.tasks.sessions.session_evaluation import SessionsLike, SystemWatch, score_systems, session_measures
from gainful.tasks.sessions.session_positions import LastSums, longest_judged

#: The kinds of curve, and what each shows.
KINDS = {
    "average": "session vectors, averaged by system",
    "subset": "the same over all sessions and over those with at least N queries",
    "individual": "the vector of every session",
    "positions": "the last query of sessions, the earlier ones and the best one, by rank",
}
#: How many queries curves show where nobody says how many, if sessions have so many.
MOST_QUERIES = 20
#: More queries than this no curve can show.
LIMIT_OF_QUERIES = 1000
#: From how many queries on a session belongs to the subset, where nobody says.
SUBSET_QUERIES = 4
#: Up to so many positions there is a band at every one.
_EVERY_POSITION_TO = 200


@dataclass(frozen=True, eq=False, repr=False)
class SessionCurve:
    """The value at every position from 1 on: of an average over sessions or queries, or of one session.

    ``of`` says over what: ``"all sessions"``, ``"at least 4 queries"``, ``"last query"``, ``"earlier queries"``,
    ``"best query"``, or ``"session"``, whose id is then ``session``. ``count`` is how many sessions or queries these
    are; a value is NaN where none counts. ``average`` is ``"mean"``, ``"mean of ratios"`` or ``"ratio of means"``,
    of one session empty.
    """

    run: str
    measure: SessionGain
    average: str
    of: str
    values: Floats
    count: int
    session: str | None = None
    queries: int | None = None  # of one session: how many it has
    band: Band | None = None

    def __repr__(self) -> str:
        what = self.of if self.session is None else f"session {self.session}"
        return f"<SessionCurve of {printable(self.run)}, {what}: {self.measure} ({self.average or 'one session'})>"


@dataclass(frozen=True, eq=False, repr=False)
class SessionCurves(CurvesOfRuns[SessionCurve]):
    """Curves of several systems, all of one kind.

    ``queries`` is how many queries the vectors show (of ``positions`` none: there ranks are 1 to k), ``longest`` how
    many the longest session has. ``evaluations`` are the sessions' scores, with all that was noticed on the way.
    """

    kind: str
    curves: tuple[SessionCurve, ...]
    evaluations: Mapping[str, Evaluation]
    resampling: Resampling
    queries: int
    longest: int

    def __repr__(self) -> str:
        measures = ", ".join(map(str, self.measures))
        return f"<SessionCurves of {', '.join(map(printable, self.runs))}: {self.kind} of {measures}>"

    @property
    def measures(self) -> list[SessionGain]:
        """The measures that there are curves of."""
        return list(dict.fromkeys(curve.measure for curve in self.curves))

    def averages(self, measure: str | Measure | None = None) -> list[str]:
        """What the averages of a measure are called."""
        found = self.measure(measure)
        return list(dict.fromkeys(curve.average for curve in self.curves if curve.measure == found))

    def curve(
        self,
        run: str,
        measure: str | Measure | None = None,
        *,
        average: str | None = None,
        of: str | None = None,
        session: str | None = None,
    ) -> SessionCurve:
        """One of the curves; what is not given is the first that there is."""
        if run not in self.runs:
            listed = ", ".join(map(printable, self.runs))
            raise UsageError(f"no system is called '{printable(run)}'; there are {listed}", nearest(run, self.runs))
        found = self.measure(measure)
        wanted = None if average is None else average_called(average)
        for curve in self.curves:
            fits = (curve.run, curve.measure) == (run, found) and session in (None, curve.session)
            if fits and wanted in (None, curve.average) and of in (None, curve.of):
                return curve
        raise UsageError(
            f"no curve of {printable(run)} is like that; there are "
            + ", ".join(dict.fromkeys(repr(curve) for curve in self.curves if curve.run == run))
        )

    def measure(self, measure: str | Measure | None) -> SessionGain:
        """One of the measures, from its text."""
        wanted = None if measure is None else parse(measure)
        for known in self.measures:
            if wanted in (None, known):
                return known
        raise UsageError(f"no curve is of {wanted}; there are {', '.join(map(str, self.measures))}")

    def page(self, places: int = 4) -> Page:
        """Charts, tables of the values after every query, and for machines every value."""
        from gainful.tasks.sessions.session_page import session_curves_page

        return session_curves_page(self, places)


@warns
def session_curves(
    qrels: QrelsLike | Judged,
    systems: Mapping[str, SessionsLike],
    measures: MeasuresLike = "nsDCG@10",
    *,
    kind: str = "average",
    judged_by: str | None = None,
    policy: Policy | str | None = None,
    average: str = "ratios",
    queries: int | None = None,
    sessions: Iterable[str] = (),
    topics: Iterable[str] = (),
    at_least: int | None = None,
    draws: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
    threads: int | None = None,
    progress: Progress | None = None,
) -> SessionCurves:
    """Curves of sDCG or nsDCG over whole sessions: k documents of every query, one query after the other.

    After its last query a session stays as it is. ``queries`` is how many of them are shown (those of the longest
    session, at most 20). Kinds: ``"average"`` over sessions; ``"subset"``: over all sessions and over those with
    ``at_least`` (4) queries; ``"individual"``: every session; ``"positions"``: the last query of sessions and the
    earlier ones, by rank, not normalised. ``sessions``, ``topics`` and (of other kinds) ``at_least`` choose sessions.
    Normalised curves are averaged as ``"ratios"``, ``"means"`` or ``"both"``. The bands hold ``confidence`` of the
    averages over ``draws`` resamples of the sessions; 0 draws make none.

    >>> from gainful.data.sessions import sessions_from_lists
    >>> found = sessions_from_lists({"s1": [["x", "a"], ["a"]], "s2": [["a"]]}, {"s1": "t", "s2": "t"})
    >>> curves = session_curves({"t": {"a": 2}}, {"mine": found}, "sDCG(query_base=2)@2")
    >>> curves.curve("mine").values.tolist()  # the mean of 0, 1, 2, 2 and of 2, 2, 2, 2
    [1.0, 1.5, 2.0, 2.0]
    """
    if not isinstance(systems, Mapping) or not systems:
        raise UsageError(f"systems: expected a dict of names and sessions, found {systems!r}")
    wanted = WantedCurves.of(
        measures,
        kind=kind,
        average=average,
        queries=queries,
        at_least=at_least if kind == "subset" else None,
        resampling=Resampling.of(draws, seed, confidence),
    )
    gathered: dict[str, CurvesOfSystem] = {}

    def watch(system: str) -> SystemWatch:
        gathered[system] = CurvesOfSystem(wanted)
        return gathered[system].add

    scored = score_systems(
        Judged.of(qrels, policy),
        systems,
        session_measures(wanted.measures),
        watch,
        judged_by=judged_by,
        choice=SessionChoice(sessions, topics, None if kind == "subset" else at_least),
        threads=threads,
        progress=progress,
    )
    return curves_together(wanted, gathered, scored.evaluations)


@dataclass(frozen=True)
class WantedCurves:
    """What curves are to be made, checked."""

    measures: tuple[SessionGain, ...]
    kind: str
    averages: tuple[str, ...]
    queries: int | None
    at_least: int
    resampling: Resampling

    @classmethod
    def of(
        cls,
        measures: MeasuresLike,
        *,
        kind: str = "average",
        average: str = "ratios",
        queries: int | None = None,
        at_least: int | None = None,
        resampling: Resampling,
    ) -> WantedCurves:
        """Checks everything that can be checked before sessions are read."""
        choose(kind, KINDS, "kind")
        found = [_checked(measure) for measure in parse_all(measures)]
        if kind == "positions":
            found = [not_normalised(measure) for measure in found]
        if not found:
            raise UsageError("measures: expected at least one, found none")
        return cls(
            tuple(dict.fromkeys(found)),
            kind,
            AVERAGES[choose(average, AVERAGES, "average")],
            None if queries is None else _read_queries(queries),
            SUBSET_QUERIES if at_least is None else read_whole(at_least, "at_least"),
            resampling,
        )


def _read_queries(value: int) -> int:
    queries = read_whole(value, "queries")
    if queries > LIMIT_OF_QUERIES:
        raise UsageError(f"queries: expected at most {LIMIT_OF_QUERIES} in a curve, found {queries}")
    return queries


class CurvesOfSystem:
    """Gathers what the curves of one system are made of."""

    def __init__(self, wanted: WantedCurves) -> None:
        queries = wanted.queries or MOST_QUERIES
        self.gathered: list[LastSums | _VectorsGathered] = [
            LastSums(measure) if wanted.kind == "positions" else _VectorsGathered(measure, queries)
            for measure in wanted.measures
        ]

    def add(self, part: Sessions, chosen: slice, block: SessionBlock) -> None:
        """Takes the sessions of a block in."""
        for each in self.gathered:
            each.add(part, chosen, block)


def curves_together(
    wanted: WantedCurves, gathered: Mapping[str, CurvesOfSystem], evaluations: Mapping[str, Evaluation]
) -> SessionCurves:
    """The curves of all systems, measure by measure, to the same last position."""
    longest = max(each.longest for system in gathered.values() for each in system.gathered)
    # An ideal session may go on after all real ones.
    ends = [int(measure.ideal_queries) for measure in wanted.measures if measure.ideal_queries != "session"]
    queries = wanted.queries or min(MOST_QUERIES, max(longest, 1, *ends))
    curves: list[SessionCurve] = []
    for i, measure in enumerate(wanted.measures):
        for name, evaluation in evaluations.items():
            found = gathered[name].gathered[i]
            curves += _curves(name, measure, found, evaluation, wanted, queries)
    return SessionCurves(wanted.kind, tuple(curves), evaluations, wanted.resampling, queries, longest)


def _curves(
    name: str,
    measure: SessionGain,
    found: LastSums | _VectorsGathered,
    evaluation: Evaluation,
    wanted: WantedCurves,
    queries: int,
) -> list[SessionCurve]:
    if isinstance(found, LastSums):
        last = found.found()
        return [
            SessionCurve(name, measure, MEAN, "last query", last.last, last.last_count),
            SessionCurve(name, measure, MEAN, "earlier queries", last.earlier, last.earlier_count),
            SessionCurve(name, measure, MEAN, "best query", last.best, last.best_count),
        ]
    vectors = found.settled(evaluation, queries)
    if wanted.kind == "individual":
        return [
            SessionCurve(name, measure, "", "session", values, 1, session, count)
            for session, count, values in vectors.each()
        ]
    subsets = {"all sessions": 0}
    if wanted.kind == "subset":
        subsets[f"at least {wanted.at_least} queries"] = wanted.at_least
    curves = []
    for average in wanted.averages if measure.normalised else (MEAN,):
        for of, at_least in subsets.items():
            values, count, band = vectors.average(average, at_least, wanted.resampling)
            curves.append(SessionCurve(name, measure, average, of, values, count, band=band))
    return curves


def mean_vector(curves: Sequence[SessionCurve]) -> Floats:
    """The mean of curves at every position, of those that have a value there."""
    columns = zip(*(curve.values.tolist() for curve in curves), strict=True)
    known = [[value for value in column if not math.isnan(value)] for column in columns]
    return np.array([math.fsum(values) / len(values) if values else math.nan for values in known])


def not_normalised(measure: SessionGain) -> SessionGain:
    """sDCG with the parameters of nsDCG."""
    if not measure.normalised:
        return measure
    shared = {name: getattr(measure, name) for name in SDCG.parameters()}
    return SDCG(**shared)


def _checked(measure: Measure) -> SessionGain:
    if not isinstance(measure, SessionGain):
        raise UsageError(f"curves: expected sDCG or nsDCG, found {measure}")
    if measure.summary != "final":
        raise UsageError(
            f"curves: expected the whole vector of sessions, found {measure}, which is summary={measure.summary}",
            f"write {measure.replace(summary='final')}",
        )
    if measure.normalise == "query":
        raise UsageError(
            f"curves: expected vectors of whole sessions, found {measure}, which looks at queries by themselves",
            f"write {measure.replace(normalise='session')}",
        )
    same_positions(measure)
    return measure


def drawable(measures: Sequence[Measure], kind: str) -> list[SessionGain]:
    """Those of the measures that have curves, or nsDCG with their first cut-off, 10 where they have none.

    Subsets and single sessions need not be normalised.
    """
    gains = [measure for measure in measures if isinstance(measure, SessionGain) and measure.cutoff]
    found = [each for each in gains if (each.summary, each.scan, each.normalise) == ("final", "k", "session")]
    if kind in ("subset", "individual"):
        found = [measure for measure in found if not measure.normalised] or found
    return found or [NSDCG(cutoff=gains[0].cutoff if gains else 10)]


#: Up to so many positions there is a band at every one.
_EVERY_POSITION_TO = 200


class _VectorsGathered:
    """Every judged session's vector and the ideal one, down to the last of so many queries."""

    def __init__(self, measure: SessionGain, queries: int) -> None:
        self._measure, self._queries = measure, queries
        self._ids: list[bytes] = []
        self._counts: list[Ints] = []
        self._gained: list[Floats] = []
        self._ideal: list[Floats] = []
        self.longest = 0

    def add(self, part: Sessions, chosen: slice, block: SessionBlock) -> None:
        """Takes a block's sessions in."""
        measure, counted = self._measure, block.is_judged
        seen = block.condensed() if condenses(measure, block.judged.policy) else block
        # As short as they can be: after the longest session nothing changes but for an ideal one that goes on.
        queries = self._queries
        if measure.ideal_queries == "session":
            queries = min(queries, max(1, int(block.queries.max(initial=1))))
        gained, ideal = gained_and_ideal(seen, measure, queries)
        ids = part.session_ids[chosen]
        self._ids += [each for each, is_judged in zip(ids, counted.tolist(), strict=True) if is_judged]
        self._counts.append(block.queries[counted])
        self._gained.append(gained[counted])
        if measure.normalised:
            self._ideal.append(ideal[counted])
        self.longest = max(self.longest, longest_judged(block))

    def settled(self, evaluation: Evaluation, queries: int) -> _Vectors:
        """All vectors to the last of so many queries, sessions in byte order, after the policy."""
        width, policy = queries * (self._measure.cutoff or 0), evaluation.policy
        order = sorted(range(len(self._ids)), key=self._ids.__getitem__)
        gained, gathered = _joined(self._gained, width)[order], set(self._ids)
        missing = [] if policy.missing != "zero" else [s for s in evaluation.missing if bytes_of_id(s) not in gathered]
        return _Vectors(
            self._measure,
            [text_of_id(self._ids[i]) for i in order],
            np.concatenate(self._counts)[order] if order else np.zeros(0, np.int64),
            gained,
            _joined(self._ideal, width)[order] if self._measure.normalised else gained,
            policy.undefined == "zero",
            missing,
        )


@dataclass(frozen=True, eq=False)
class _Vectors:
    """Vectors of sessions x positions; ``missing`` sessions, which gain nothing, come on top of them."""

    measure: SessionGain
    sessions: Sequence[str]
    counts: Ints  # how many queries each session has
    gained: Floats
    ideal: Floats
    undefined_is_zero: bool
    missing: Sequence[str]

    @cached_property
    def _values(self) -> Floats:
        return self._ratio(self.gained, self.ideal) if self.measure.normalised else self.gained

    def _ratio(self, gained: Floats, ideal: Floats) -> Floats:
        """What the policy makes of the shares of the ideal."""
        shares = self.measure.ratio(gained, ideal)
        return np.where(np.isnan(shares), 0.0, shares) if self.undefined_is_zero else shares

    def each(self) -> Iterator[tuple[str, int | None, Floats]]:
        """Every session: its id, how many queries it has (of one that is not there nobody knows), and its vector."""
        found: dict[str, tuple[int | None, Floats]] = {s: (None, np.zeros(self._values.shape[1])) for s in self.missing}
        found.update(zip(self.sessions, zip(self.counts.tolist(), self._values, strict=True), strict=True))
        for session in sorted(found, key=bytes_of_id):
            yield session, *found[session]

    def average(self, average: str, at_least: int, resampling: Resampling) -> tuple[Floats, int, Band | None]:
        """The average over the sessions with at least so many queries, over how many it is, and its band.

        In a ratio of means a session that is not there has no part: nobody knows how long its ideal would be.
        """
        chosen = self.counts >= at_least
        if average == RATIO_OF_MEANS:
            parts, wholes = self.gained[chosen], self.ideal[chosen]
            count = int(np.count_nonzero(chosen))
            shares = self._ratio(_sums(parts), _sums(wholes))
        else:
            # How many queries a session has that is not there, nobody knows.
            nothing = np.zeros((0 if at_least else len(self.missing), self._values.shape[1]))
            values = np.concatenate((self._values[chosen], nothing))
            # Of a session without a first relevant query the ratio begins later.
            counted = ~np.isnan(values)
            parts, wholes = np.where(counted, values, 0.0), counted.astype(np.float64)
            count = int(np.count_nonzero(counted[:, -1])) if counted.size else 0
            with np.errstate(invalid="ignore"):
                shares = np.asarray(_sums(parts) / _sums(wholes))
        if not count:
            shares = np.full(shares.size, np.nan)
        return shares, count, _band(parts, wholes, resampling) if count >= FEWEST else None


def _band(parts: Floats, wholes: Floats, resampling: Resampling) -> Band | None:
    """The band of sums of parts by those of wholes, over resampled sessions."""
    resamples, width = resampling.resamples(parts.shape[0]), parts.shape[1]
    if resamples is None:
        return None
    places = np.arange(1, width + 1) if width <= _EVERY_POSITION_TO else band_ranks(width)
    below = wholes[:, places - 1]
    with np.errstate(invalid="ignore", divide="ignore"):
        drawn = resampled(resamples, parts[:, places - 1], below[:, 0] if (below == below[:, :1]).all() else below)
    return percentile_band(places, drawn[:, np.isfinite(drawn).all(axis=0)], resampling.confidence)


def _sums(rows: Floats) -> Floats:
    sums = RankSums(rows.shape[1])
    sums.add(rows)
    return sums.total


def _joined(parts: Sequence[Floats], width: int) -> Floats:
    """All parts as one, each to the same last position: there a vector stays as it was."""
    return np.concatenate([np.zeros((0, width)), *(widened(part, width) for part in parts)])
