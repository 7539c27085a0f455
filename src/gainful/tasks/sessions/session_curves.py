"""Sessions as curves: gain up to every position of a session, averaged by system.

Reference: K. Järvelin, S. Price, L. Delcambre and M. Lykke Nielsen, Discounted cumulated gain based evaluation of
multiple-query IR sessions, ECIR 2008, Figures 1 to 4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from gainful.data.judged import Judged
from gainful.data.sessions import Sessions
from gainful.errors import UsageError, warns
from gainful.evaluation.evaluate import MeasuresLike
from gainful.evaluation.evaluation_page import Report
from gainful.evaluation.evaluations import Evaluation
from gainful.frozen import asdict, dataclass
from gainful.kernel.arrays import Floats, Ints
from gainful.kernel.exact_sums import RankSums
from gainful.measures.base import Measure
from gainful.measures.catalog import parse_all
from gainful.measures.session_block import SessionBlock, check_session_measures
from gainful.measures.session_gain import NSDCG, SDCG, SessionGain, gained_and_ideal, same_positions
from gainful.notation import bytes_of_id, choose, count_of, grouped, printable, text_of_id
from gainful.pages.charts import Axis, Chart, Plot, Rule
from gainful.pages.page import Column, Row, RowsOnDemand, Table, head, values_of
from gainful.question import question
from gainful.render import Page
from gainful.tasks.curves.averages import (
    AVERAGES,
    FEWEST,
    MEAN,
    RATIO_OF_MEANS,
    Band,
    Curve,
    Curves,
    Resampling,
    band_ranks,
    curve_line,
    rows_by_place,
    table_ranks,
    value_columns,
    widened,
)
from gainful.tasks.run_questions import SESSION_CURVES, SessionCurveOptions, SessionStudyOptions
from gainful.tasks.sessions.session_evaluation import SessionChoice, SystemWatch, score_systems, session_measures

#: Default and highest number of queries in a curve.
MOST_QUERIES, LIMIT_OF_QUERIES = 20, 1000
#: Default for the minimum number of queries of a session in the subset.
SUBSET_QUERIES = 4
#: Limits on the number of single sessions that have a named line, a line, and a table row.
MOST_NAMED, MOST_DRAWN, MOST_ROWS = 12, 200, 50
#: Limits on the number of queries with a column, a tick (one-digit and longer labels), and a rule.
_MOST_COLUMNS, _MOST_SHORT_TICKS, _MOST_TICKS, _MOST_RULES = 12, 9, 6, 20
#: Maximum number of systems with several lines each in one chart.
_MOST_TOGETHER = 3
#: Up to this number of positions, the band has a value at each.
_EVERY_POSITION_TO = 200

SessionCurve: TypeAlias = Curve[SessionGain]


@warns
@question(SessionCurveOptions)
def session_curves(asked: SessionCurveOptions) -> SessionCurves:
    """Return curves of sDCG or nsDCG over whole sessions: k documents per query, one query after the other.

    A session that has ended keeps its value. ``queries`` is the number shown (by default that of the longest session,
    at most 20). Kinds: ``"average"`` over sessions; ``"subset"``: over all sessions and over those with ``at_least``
    (4) queries; ``"individual"``: every session; ``"positions"``: the last query of sessions and the earlier ones, by
    rank, not normalised. ``session``, ``topic`` and (except for subset) ``at_least`` select sessions. Normalised curves
    are averaged as ``"ratios"``, ``"means"`` or ``"both"``. Bands have level ``confidence`` (95%), from ``draws``
    resamples (1000) of the sessions; 0 draws omit them.

    >>> from gainful.data.sessions import sessions_from_lists
    >>> found = sessions_from_lists({"s1": [["x", "a"], ["a"]], "s2": [["a"]]}, {"s1": "t", "s2": "t"})
    >>> curves = session_curves({"t": {"a": 2}}, {"mine": found}, "sDCG(query_base=2)@2")
    >>> curves.curve("mine").values.tolist()  # the mean of 0, 1, 2, 2 and of 2, 2, 2, 2
    [1.0, 1.5, 2.0, 2.0]
    """
    if not isinstance(asked.systems, Mapping) or not asked.systems:
        raise UsageError(f"systems: expected a dict of names and sessions, found {asked.systems!r}")
    gathering = CurveGathering(asked, asked.measures, asked.kind)
    judged, measures = Judged.of(asked.qrels, asked.policy), session_measures(gathering.measures)
    choice = SessionChoice(asked.session, asked.topic, None if asked.kind == "subset" else asked.at_least)
    how = values_of(asked, "judged_by | threads")
    evaluations, _ = score_systems(judged, asked.systems, measures, [gathering.watch], choice=choice, **how)
    return gathering.curves(evaluations)


class CurveGathering:
    """Collector of the curves' data, block by block. Checks options before any session is read."""

    def __init__(
        self, asked: SessionCurveOptions | SessionStudyOptions, measures: MeasuresLike, kind: str = "average"
    ) -> None:
        self.resampling = Resampling.of(
            1000 if asked.draws is None else asked.draws,
            asked.seed or 0,
            0.95 if asked.confidence is None else asked.confidence,
        )
        self._kind, self._queries = choose(kind, SESSION_CURVES, "kind"), asked.queries
        found = [_checked_vector(measure) for measure in parse_all(measures)]
        if kind == "positions":
            found = [not_normalised(measure) for measure in found]
        if not found:
            raise UsageError("measures: at least one is required")
        self.measures = tuple(dict.fromkeys(found))
        if asked.queries is not None and asked.queries > LIMIT_OF_QUERIES:
            raise UsageError(f"queries: expected at most {LIMIT_OF_QUERIES} in a curve, found {asked.queries}")
        self._averages = AVERAGES[choose(asked.average or "ratios", AVERAGES, "average")]
        self._groups: tuple[int, ...] = (0,)  # minimum numbers of queries of a session
        if kind == "subset":
            self._groups += (SUBSET_QUERIES if asked.at_least is None else asked.at_least,)
        self._gathered: dict[str, list[_PositionVectors | _SessionVectors]] = {}  # by system, one per measure

    def watch(self, system: str) -> SystemWatch:
        gathered = self._gathered[system] = [
            _PositionVectors(measure)
            if self._kind == "positions"
            else _SessionVectors(measure, self._queries or MOST_QUERIES)
            for measure in self.measures
        ]

        def add(part: Sessions, chosen: slice, block: SessionBlock) -> None:
            check_session_measures(block.judged, block.sessions, self.measures)
            for each in gathered:
                each.add(part, chosen, block)

        return add

    def curves(self, evaluations: Mapping[str, Evaluation]) -> SessionCurves:
        """Return the curves of all scored systems, by measure, with the same last position."""
        longest = max(each.longest for name in evaluations for each in self._gathered[name])
        # An ideal session may be longer than every real one.
        ends = [int(measure.ideal_queries) for measure in self.measures if measure.ideal_queries != "session"]
        queries = self._queries or min(MOST_QUERIES, max(longest, 1, *ends))
        curves: list[SessionCurve] = []
        for i, measure in enumerate(self.measures):
            for name, evaluation in evaluations.items():
                vectors = self._gathered[name][i]
                if isinstance(vectors, _PositionVectors):
                    curves += vectors.curves(name)
                    continue
                vectors.settle(evaluation, queries)
                if self._kind == "individual":
                    curves += vectors.each(name)
                    continue
                for average in self._averages if measure.normalised else (MEAN,):
                    curves += [vectors.average(name, average, least, self.resampling) for least in self._groups]
        return SessionCurves(tuple(curves), evaluations, self.resampling, self._kind, queries, longest)


def _checked_vector(measure: Measure) -> SessionGain:
    """Return the measure; refuse those without a vector over the positions of a session."""
    if not isinstance(measure, SessionGain):
        raise UsageError(f"curves: expected sDCG or nsDCG, found {measure}")
    if measure.summary != "final":
        hint = f"use {measure.replace(summary='final')}"
        raise UsageError(f"curves: expected a measure with summary=final, found {measure}", hint)
    if measure.normalise == "query":
        hint = f"use {measure.replace(normalise='session')}"
        raise UsageError(f"curves: expected a measure with normalise=session, found {measure}", hint)
    same_positions(measure)
    return measure


def not_normalised(measure: SessionGain) -> SessionGain:
    """Return sDCG with the parameters of nsDCG."""
    if not measure.normalised:
        return measure
    return SDCG(**{name: getattr(measure, name) for name in SDCG.parameters()})


def drawable(measures: Sequence[Measure], kind: str) -> list[SessionGain]:
    """Return the measures that have curves, or nsDCG with the first cutoff (10 if there is none).

    For subsets and single sessions, measures that are not normalised are preferred.
    """
    gains = [measure for measure in measures if isinstance(measure, SessionGain) and measure.cutoff]
    found = [each for each in gains if (each.summary, each.scan, each.normalise) == ("final", "k", "session")]
    if kind in ("subset", "individual"):
        found = [measure for measure in found if not measure.normalised] or found
    return found or [NSDCG(cutoff=gains[0].cutoff if gains else 10)]


@dataclass(frozen=True, eq=False, repr=False)
class OneSession(Curve[SessionGain]):
    """The vector of one session and its number of queries, None if the session is missing."""

    session: str = ""
    queries: int | None = None


class _PositionVectors:
    """Sums of the vectors of last queries, earlier queries and each session's best query, later if equal; only judged
    queries count."""

    def __init__(self, measure: SessionGain) -> None:
        self._measure, self._depth = measure, same_positions(measure)
        self._sums = {of: RankSums(self._depth) for of in ("last query", "earlier queries", "best query")}
        self._counts = dict.fromkeys(self._sums, 0)
        self.longest = 0

    def add(self, part: Sessions, chosen: slice, block: SessionBlock) -> None:
        measure, is_last = self._measure, block.is_last_turn
        for which, some in block.seen_by(measure).parts(block.queries * self._depth):
            first = int(block.turn_offsets[which.start])
            turns = slice(first, first + some.session.size)
            worth = measure.worth(some, measure.depths(some))
            steps = np.zeros((some.session.size, self._depth))
            inside = worth.rank <= self._depth  # a recorded depth can exceed k
            values = worth.value / measure.divisors_at(some.position)[worth.turn]
            steps[worth.turn[inside], worth.rank[inside] - 1] = values[inside]
            vectors, counted = np.cumsum(steps, axis=1), block.is_judged_turn[turns]
            places = np.flatnonzero(counted)
            order = places[np.lexsort((places, vectors[places, -1], some.session[places]))]
            is_best = np.zeros(some.session.size, bool)
            is_best[order[np.flatnonzero(np.diff(some.session[order], append=-1))]] = True
            for of, wanted in zip(self._sums, (is_last[turns], ~is_last[turns], is_best), strict=True):
                rows = vectors[wanted & counted]
                self._sums[of].add(rows)
                self._counts[of] += rows.shape[0]
        self.longest = max(self.longest, int(block.queries[block.is_judged].max(initial=0)))

    def curves(self, run: str) -> Iterator[SessionCurve]:
        """Yield the means; NaN if there is no such query."""
        for of, sums in self._sums.items():
            count = self._counts[of]
            yield Curve(run, self._measure, MEAN, of, sums.total / (count or np.nan), count)


class _SessionVectors:
    """The vectors of every judged session and of its ideal, for a limited number of queries."""

    def __init__(self, measure: SessionGain, queries: int) -> None:
        self._measure, self._queries = measure, queries
        self._ids: list[bytes] = []
        self._counts: list[Ints] = []
        self._gained: list[Floats] = []
        self._ideal: list[Floats] = []
        self.longest = 0

    def add(self, part: Sessions, chosen: slice, block: SessionBlock) -> None:
        measure, counted = self._measure, block.is_judged
        # Vectors end with the longest session, unless the ideal one may be longer.
        queries = self._queries
        if measure.ideal_queries == "session":
            queries = min(queries, max(1, int(block.queries.max(initial=1))))
        gained, ideal = gained_and_ideal(block.seen_by(measure), measure, queries)
        ids = part.session_ids[chosen]
        self._ids += [each for each, is_judged in zip(ids, counted.tolist(), strict=True) if is_judged]
        self._counts.append(block.queries[counted])
        self._gained.append(gained[counted])
        if measure.normalised:
            self._ideal.append(ideal[counted])
        self.longest = max(self.longest, int(block.queries[counted].max(initial=0)))

    def settle(self, evaluation: Evaluation, queries: int) -> None:
        """Join all vectors, extended to the given number of queries, sorted by session ID, after the policy."""
        width, policy = queries * (self._measure.cutoff or 0), evaluation.policy
        order = sorted(range(len(self._ids)), key=self._ids.__getitem__)
        known = set(self._ids)

        def joined(parts: Sequence[Floats]) -> Floats:
            return np.concatenate([np.zeros((0, width)), *(widened(part, width) for part in parts)])[order]

        self._undefined_is_zero = policy.undefined == "zero"
        # Missing sessions gain nothing; their numbers of queries are unknown.
        self._missing = [s for s in evaluation.missing if policy.missing == "zero" and bytes_of_id(s) not in known]
        self._sessions = [text_of_id(self._ids[i]) for i in order]
        self._lengths: Ints = np.concatenate([np.zeros(0, np.int64), *self._counts])[order]
        self._gains = self._values = joined(self._gained)
        if self._measure.normalised:
            self._ideals = joined(self._ideal)
            self._values = self._shares(self._gains, self._ideals)

    def _shares(self, gained: Floats, ideal: Floats) -> Floats:
        """Return the ratios to the ideal, after the policy."""
        shares = self._measure.ratio(gained, ideal)
        return np.where(np.isnan(shares), 0.0, shares) if self._undefined_is_zero else shares

    def each(self, run: str) -> Iterator[SessionCurve]:
        nothing = np.zeros(self._values.shape[1])
        found: dict[str, tuple[int | None, Floats]] = dict.fromkeys(self._missing, (None, nothing))
        found.update(zip(self._sessions, zip(self._lengths.tolist(), self._values, strict=True), strict=True))
        for session in sorted(found, key=bytes_of_id):
            queries, values = found[session]
            yield OneSession(run, self._measure, "", f"session {session}", values, 1, None, session, queries)

    def average(self, run: str, average: str, at_least: int, resampling: Resampling) -> SessionCurve:
        chosen = self._lengths >= at_least
        if average == RATIO_OF_MEANS:
            # A missing session is excluded: the length of its ideal is unknown.
            parts, wholes = self._gains[chosen], self._ideals[chosen]
            count = int(np.count_nonzero(chosen))
            values = self._shares(_sums(parts), _sums(wholes))
        else:
            # The number of queries of a missing session is unknown, so it never qualifies for a subset.
            nothing = np.zeros((0 if at_least else len(self._missing), self._values.shape[1]))
            known = np.concatenate((self._values[chosen], nothing))
            parts, wholes, values = _mean_of_known(known)
            count = int(wholes[:, -1].sum()) if wholes.size else 0
        of = f"at least {at_least} queries" if at_least else "all sessions"
        if not count:
            return Curve(run, self._measure, average, of, np.full(values.size, np.nan), 0)
        band: Band | None = None
        if count >= FEWEST:
            places = np.arange(1, values.size + 1) if values.size <= _EVERY_POSITION_TO else band_ranks(values.size)
            below = wholes[:, places - 1]
            below = below[:, 0] if (below == below[:, :1]).all() else below
            band = resampling.band(places, parts[:, places - 1], below)
        return Curve(run, self._measure, average, of, values, count, band)


def _mean_of_known(rows: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the values (0 if undefined), 1 where they are defined, and their mean: a ratio may be defined late."""
    counted = ~np.isnan(rows)
    parts, wholes = np.where(counted, rows, 0.0), counted.astype(np.float64)
    with np.errstate(invalid="ignore"):
        return parts, wholes, np.asarray(_sums(parts) / _sums(wholes))


def _sums(rows: Floats) -> Floats:
    sums = RankSums(rows.shape[1])
    sums.add(rows)
    return sums.total


@dataclass(frozen=True, eq=False, repr=False)
class SessionCurves(Curves[SessionGain]):
    """Curves of several systems, all of one kind.

    ``queries`` is the number of queries shown (for ``positions``, unused: ranks are 1 to k), ``longest`` the number of
    the longest session. ``evaluations`` are the sessions' scores, with their notices.
    """

    kind: str
    queries: int
    longest: int

    def __repr__(self) -> str:
        measures = ", ".join(map(str, self.measures))
        return f"<SessionCurves of {', '.join(map(printable, self.runs))}: {self.kind} of {measures}>"

    def curve(
        self,
        run: str | None,
        measure: str | Measure | None = None,
        average: str | None = None,
        of: str | None = None,
        session: str | None = None,
    ) -> SessionCurve:
        """Return the curve of a system, or of one of its sessions; parameters default to the first available."""
        return super().curve(run, measure, average, of if session is None else f"session {session}")

    def page(self, places: int = 4) -> Page:
        """Return charts, tables of values after every query, and every value for machines."""
        report = Report(self.evaluations)
        first = report.evaluations[0]
        header: dict[str, object] = {
            "signature": str(first.signature()),
            "measures": {str(measure): str(first.signature(measure)) for measure in first.measures},
            **self.header(),
        }
        return Page("sessions", tuple(self.parts(places)), (*self.notes(), *report.signatures), header)

    def header(self) -> dict[str, object]:
        return {"curves": self.kind, "queries": self.queries, **asdict(self.resampling)}

    def notes(self) -> Iterator[str]:
        """Yield notes on the bands and on hidden queries."""
        if any(curve.band is not None for curve in self.curves):
            yield self.resampling.about("sessions")
        if self.kind != "positions" and self.queries < self.longest:
            yield f"the first {self.queries} queries of each session are shown; the longest has {self.longest}"

    def parts(self, places: int) -> Iterator[Table | Chart | str]:
        # A chart has all systems; of many systems, the curves over the same sessions; or one system's sessions.
        by = "run" if self.kind == "individual" else "of" if len(self.runs) > _MOST_TOGETHER else "measure"
        for shown in grouped(((curve.measure, curve.average), curve) for curve in self.curves).values():
            for group in grouped((str(getattr(curve, by)), curve) for curve in shown).values():
                yield _session_plot(self, group)
                yield _session_table(self, group, places)
        over = "queries" if self.kind == "positions" else "sessions"
        labels, numbers = f"run | measure | average | of | session | {over} #", "value . | low . | high ."
        rows = RowsOnDemand(sum(curve.depth for curve in self.curves), lambda: _every_value(self))
        columns = head(f"{labels} | position # | query # | rank # | {numbers}", for_machines=True)
        yield Table(columns, rows, "Curves")


def _session_title(curves: SessionCurves, group: Sequence[SessionCurve], where: str = "") -> str:
    first, measure = group[0], f"{group[0].measure}{where}"
    if curves.kind == "individual":
        return f"{measure}, {count_of(len(group), 'session')} of {first.run}"
    kinds, counts = {curve.of for curve in group}, {curve.count for curve in group}
    if curves.kind == "positions":
        only = first.of if first.of.endswith("queries") else first.of.replace("query", "queries")
        return f"{measure}, " + ("last, earlier and best queries" if len(kinds) > 1 else only)
    over = count_of(first.count, "session") if len(counts) == 1 else "sessions"
    only = f" with {first.of}" if len(kinds) == 1 and first.of != "all sessions" else ""
    return f"{measure}, {first.average} over {over}{only}"


def _session_plot(curves: SessionCurves, group: Sequence[SessionCurve]) -> Plot:
    measure, depth = group[0].measure, group[0].depth
    x, rules = Axis("rank", 1.0, float(depth)), tuple[Rule, ...]()
    if curves.kind != "positions":
        ends = _query_ends(curves, measure)
        label = f"query ({measure.cutoff} documents each)" if ends else "position in the session"
        named = _some_queries(ends, _MOST_SHORT_TICKS if len(ends) < 10 else _MOST_TICKS)
        x = Axis(label, 1.0, float(depth), ticks=tuple((float(at), f"Q{q}") for q, at in named))
        rules = tuple(Rule("", x=float(at)) for _, at in (ends if len(ends) <= _MOST_RULES else named) if at < depth)
    y = Axis(str(measure), None if measure.variant == "jiang2016" else 0.0, _highest(curves, measure))
    caption = ""
    if curves.kind == "individual" and len(group) > MOST_NAMED:
        # The table names the sessions; the chart shows their common shape.
        lines = [curve_line("", curve.values, role="guide") for curve in group[:MOST_DRAWN]]
        lines.append(curve_line("mean", _mean_of_known(np.array([curve.values for curve in group]))[2]))
        if len(group) > MOST_DRAWN:
            caption = f"{MOST_DRAWN} sessions drawn; mean over all"
    else:
        has_bands = curves.kind == "average"
        lines = [curve_line(_line_name(curves, each), each.values, each.band if has_bands else None) for each in group]
        if any(line.band for line in lines):
            caption = curves.resampling.about("sessions")
    return Plot(_session_title(curves, group), x, y, tuple(lines), rules=rules, caption=caption)


def _line_name(curves: SessionCurves, curve: SessionCurve) -> str:
    if isinstance(curve, OneSession):
        return curve.session
    if curves.kind == "average" or curve.of == "all sessions" or len(curves.runs) > _MOST_TOGETHER:
        return str(curve.run)
    if curves.kind == "positions":
        return f"{curve.run}, {curve.of.partition(' ')[0]}"
    return f"{curve.run}, {curve.of.removeprefix('at least ').replace(' ', '+ ', 1)}"


def _highest(curves: SessionCurves, measure: SessionGain) -> float | None:
    """Return the upper end of the vertical axis, the same for all charts to be compared."""
    if measure.normalised:
        return 1.0 if measure.repeats == "every" and measure.variant == "jarvelin2008" else None
    values = [value for curve in curves.curves if curve.measure == measure for value in curve.values.tolist()]
    highest = max(values, default=0.0)
    is_split = curves.kind == "individual" or len(curves.runs) > _MOST_TOGETHER
    return 1.05 * highest if is_split and curves.kind != "average" and highest > 0 else None


def _query_ends(curves: SessionCurves, measure: SessionGain) -> list[tuple[int, int]]:
    """Return every query with its last position; empty if lists are not padded to the same length."""
    if measure.short != "pad":
        return []
    return [(q, q * (measure.cutoff or 0)) for q in range(1, curves.queries + 1)]


def _some_queries(ends: Sequence[tuple[int, int]], most: int) -> list[tuple[int, int]]:
    step = next((step for step in (1, 5, 10, 20, 50, 100, 200, 500) if len(ends) <= step * most), len(ends))
    return [(q, at) for q, at in ends if q == 1 or q % step == 0]


def _session_table(curves: SessionCurves, group: Sequence[SessionCurve], places: int) -> Table:
    ends = [] if curves.kind == "positions" else _query_ends(curves, group[0].measure)
    if ends:
        shown = [(f"Q{q}", at) for q, at in dict.fromkeys((*_some_queries(ends, _MOST_COLUMNS), ends[-1]))]
        where = " after each query"
    else:
        shown = [(str(at), at) for at in table_ranks(group[0].depth)]
        where = " at selected ranks" if curves.kind == "positions" else " at selected positions"
    labels, most, notes = [Column("run"), Column("of")], None, tuple[str, ...]()
    if curves.kind == "individual":
        labels, most = [Column("session"), Column("queries", "count")], MOST_ROWS
        notes = (f"the first {most} of {len(group):,} sessions",) if len(group) > most else ()
    else:
        over = "queries" if curves.kind == "positions" else "sessions"
        labels = [*labels[: 1 if curves.kind == "average" else 2], Column(over, "count", get=lambda curve: curve.count)]
    columns = (*labels, *value_columns(shown, group, f"{curves.resampling.per_cent} CI at the end", places))
    return Table.of(columns, group, title=_session_title(curves, group, where), notes=notes, most=most, for_people=True)


def _every_value(curves: SessionCurves) -> Iterator[Row]:
    for curve in curves.curves:
        of, session = ("session", curve.session) if isinstance(curve, OneSession) else (curve.of, None)
        k, labels = curve.measure.cutoff or 1, (curve.run, str(curve.measure), curve.average or None, of, session)
        for i, (place, *values) in enumerate(rows_by_place(curve.values, curve.band)):
            query, rank = (i // k + 1, i % k + 1) if curve.measure.short == "pad" else (None, None)
            if curves.kind == "positions":
                query, rank = None, i + 1
            yield (*labels, curve.count, place, query, rank, *values)
