"""Sessions as curves: what users have gained by every position of their sessions, averaged by system.

Reference: K. Järvelin, S. Price, L. Delcambre and M. Lykke Nielsen, Discounted cumulated gain based evaluation of
multiple-query IR sessions, ECIR 2008, Figures 1 to 4.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from gainful.data.judged import Judged
from gainful.data.sessions import Sessions
from gainful.errors import UsageError, warns
from gainful.evaluation.evaluate import MeasuresLike
from gainful.evaluation.evaluations import Evaluation
from gainful.evaluation.report import Report
from gainful.kernel.arrays import Floats
from gainful.measures.base import Measure
from gainful.measures.catalog import parse_all
from gainful.measures.session_block import SessionBlock
from gainful.measures.session_cumulation import SessionGain, same_positions
from gainful.measures.session_gain import NSDCG, SDCG
from gainful.notation import choose, count_of, printable, read_whole
from gainful.pages.charts import Axis, Chart, Plot, Rule
from gainful.pages.page import Column, Table, head
from gainful.question import question
from gainful.render import Page
from gainful.tasks.curve_questions import SESSION_CURVES, SessionCurveOptions, SessionStudyOptions
from gainful.tasks.curves.averages import (
    AVERAGES,
    Curves,
    Resampling,
    Row,
    RowsOnTheWay,
    curve_line,
    rows_by_place,
    table_ranks,
    value_columns,
)
from gainful.tasks.sessions.session_choice import SessionChoice
from gainful.tasks.sessions.session_evaluation import SystemWatch, score_systems, session_measures
from gainful.tasks.sessions.session_vectors import OneSession, PositionVectors, SessionCurve, SessionVectors

#: How many queries curves show where nobody says how many, if sessions have so many; and how many they can show.
MOST_QUERIES, LIMIT_OF_QUERIES = 20, 1000
#: From how many queries on a session belongs to the subset, where nobody says.
SUBSET_QUERIES = 4
#: So many single sessions are drawn in colours of their own and named, so many are drawn at all, so many have a row.
MOST_NAMED, MOST_DRAWN, MOST_ROWS = 12, 200, 50
#: So many queries have a column each, a tick each (while their numbers have one digit, and from then on), and a rule.
_MOST_COLUMNS, _MOST_SHORT_TICKS, _MOST_TICKS, _MOST_RULES = 12, 9, 6, 20
#: The most systems that have several lines each in one chart.
_MOST_TOGETHER = 3


@warns
@question(SessionCurveOptions)
def session_curves(asked: SessionCurveOptions) -> SessionCurves:
    """Curves of sDCG or nsDCG over whole sessions: k documents of every query, one query after the other.

    After its last query a session stays as it is. ``queries`` is how many of them are shown (those of the longest
    session, at most 20). Kinds: ``"average"`` over sessions; ``"subset"``: over all sessions and over those with
    ``at_least`` (4) queries; ``"individual"``: every session; ``"positions"``: the last query of sessions and the
    earlier ones, by rank, not normalised. ``session``, ``topic`` and (of other kinds) ``at_least`` choose sessions.
    Normalised curves are averaged as ``"ratios"``, ``"means"`` or ``"both"``. The bands hold ``confidence`` of the
    averages (95 %) over ``draws`` resamples (1000) of the sessions; 0 draws make none.

    >>> from gainful.data.sessions import sessions_from_lists
    >>> found = sessions_from_lists({"s1": [["x", "a"], ["a"]], "s2": [["a"]]}, {"s1": "t", "s2": "t"})
    >>> curves = session_curves({"t": {"a": 2}}, {"mine": found}, "sDCG(query_base=2)@2")
    >>> curves.curve("mine").values.tolist()  # the mean of 0, 1, 2, 2 and of 2, 2, 2, 2
    [1.0, 1.5, 2.0, 2.0]
    """
    if not isinstance(asked.systems, Mapping) or not asked.systems:
        raise UsageError(f"systems: expected a dict of names and sessions, found {asked.systems!r}")
    wanted = WantedCurves.asked(asked, asked.measures, asked.kind)
    gathered: dict[str, CurvesOfSystem] = {}

    def watch(system: str) -> SystemWatch:
        gathered[system] = CurvesOfSystem(wanted)
        return gathered[system].add

    scored = score_systems(
        Judged.of(asked.qrels, asked.policy),
        asked.systems,
        session_measures(wanted.measures),
        watch,
        judged_by=asked.judged_by,
        choice=SessionChoice.asked(asked, asked.kind),
        threads=asked.threads,
        progress=asked.progress,
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
    def asked(cls, asked: SessionCurveOptions | SessionStudyOptions, measures: MeasuresLike, kind: str) -> WantedCurves:
        """Curves of a kind, as the options say."""
        resampling = Resampling.of(
            1000 if asked.draws is None else asked.draws,
            asked.seed or 0,
            0.95 if asked.confidence is None else asked.confidence,
        )
        at_least = asked.at_least if kind == "subset" else None
        how = {"average": asked.average or "ratios", "queries": asked.queries, "at_least": at_least}
        return cls.of(measures, kind=kind, resampling=resampling, **how)  # type: ignore[arg-type]

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
        choose(kind, SESSION_CURVES, "kind")
        found = [_checked_vector(measure) for measure in parse_all(measures)]
        if kind == "positions":
            found = [not_normalised(measure) for measure in found]
        if not found:
            raise UsageError("measures: expected at least one, found none")
        if queries is not None and read_whole(queries, "queries") > LIMIT_OF_QUERIES:
            raise UsageError(f"queries: expected at most {LIMIT_OF_QUERIES} in a curve, found {queries}")
        return cls(
            tuple(dict.fromkeys(found)),
            kind,
            AVERAGES[choose(average, AVERAGES, "average")],
            queries,
            SUBSET_QUERIES if at_least is None else read_whole(at_least, "at_least"),
            resampling,
        )


def _checked_vector(measure: Measure) -> SessionGain:
    """The measure, if it has a vector over the positions of a session."""
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


def not_normalised(measure: SessionGain) -> SessionGain:
    """sDCG with the parameters of nsDCG."""
    if not measure.normalised:
        return measure
    return SDCG(**{name: getattr(measure, name) for name in SDCG.parameters()})


def drawable(measures: Sequence[Measure], kind: str) -> list[SessionGain]:
    """Those of the measures that have curves, or nsDCG with their first cut-off, 10 where they have none.

    Subsets and single sessions need not be normalised.
    """
    gains = [measure for measure in measures if isinstance(measure, SessionGain) and measure.cutoff]
    found = [each for each in gains if (each.summary, each.scan, each.normalise) == ("final", "k", "session")]
    if kind in ("subset", "individual"):
        found = [measure for measure in found if not measure.normalised] or found
    return found or [NSDCG(cutoff=gains[0].cutoff if gains else 10)]


class CurvesOfSystem:
    """Gathers what the curves of one system are made of."""

    def __init__(self, wanted: WantedCurves) -> None:
        queries = wanted.queries or MOST_QUERIES
        self.gathered: list[PositionVectors | SessionVectors] = [
            PositionVectors(measure) if wanted.kind == "positions" else SessionVectors(measure, queries)
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
        averages = wanted.averages if measure.normalised else ("mean",)
        for name, evaluation in evaluations.items():
            found = gathered[name].gathered[i]
            if isinstance(found, PositionVectors):
                curves += found.curves(name)
                continue
            vectors = found.settled(evaluation, queries)
            if wanted.kind == "individual":
                curves += vectors.each(name)
                continue
            for average in averages:
                for at_least in (0, wanted.at_least) if wanted.kind == "subset" else (0,):
                    curves.append(vectors.average(name, average, at_least, wanted.resampling))
    return SessionCurves(tuple(curves), evaluations, wanted.resampling, wanted.kind, queries, longest)


@dataclass(frozen=True, eq=False, repr=False)
class SessionCurves(Curves[SessionGain]):
    """Curves of several systems, all of one kind.

    ``queries`` is how many queries the vectors show (of ``positions`` none: there ranks are 1 to k), ``longest`` how
    many the longest session has. ``evaluations`` are the sessions' scores, with all that was noticed on the way.
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
        """The curve of a system, or of one of its sessions; what is not given is the first that there is."""
        return super().curve(run, measure, average, of if session is None else f"session {session}")

    def page(self, places: int = 4) -> Page:
        """Charts, tables of the values after every query, and for machines every value."""
        report = Report(self.evaluations)
        first = report.evaluations[0]
        header: dict[str, object] = {
            "signature": str(first.signature()),
            "measures": {str(measure): str(first.signature(measure)) for measure in first.measures},
            **self.header(),
        }
        return Page("sessions", tuple(self.parts(places)), (*self.notes(), *report.signatures), header)

    def header(self) -> dict[str, object]:
        """What made the curves, for machines."""
        return {"curves": self.kind, "queries": self.queries, **asdict(self.resampling)}

    def notes(self) -> Iterator[str]:
        """What is to be known of the curves."""
        if any(curve.band is not None for curve in self.curves):
            yield self.resampling.about("sessions")
        if self.kind != "positions" and self.queries < self.longest:
            yield f"the first {self.queries} queries of sessions; the longest session has {self.longest}"

    def parts(self, places: int) -> Iterator[Table | Chart | str]:
        """Charts, tables, and all values."""
        for measure in self.measures:
            for average in self.averages(measure):
                shown = [curve for curve in self.curves if (curve.measure, curve.average) == (measure, average)]
                # In one chart: all systems, of many systems what is over the same, or the sessions of one system.
                groups: dict[str, list[SessionCurve]] = {}
                for curve in shown:
                    over = curve.of if len(self.runs) > _MOST_TOGETHER else ""
                    groups.setdefault(str(curve.run) if self.kind == "individual" else over, []).append(curve)
                for group in groups.values():
                    yield _session_plot(self, group)
                    yield _session_table(self, group, places)
        over = "queries" if self.kind == "positions" else "sessions"
        labels, numbers = f"run | measure | average | of | session | {over} #", "value . | low . | high ."
        rows = RowsOnTheWay(sum(curve.depth for curve in self.curves), lambda: _every_value(self))
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
        # Which is which, a table says; what they have in common is easier to see.
        lines = [curve_line("", curve.values, role="guide") for curve in group[:MOST_DRAWN]]
        lines.append(curve_line("mean", _mean_vector(group)))
        if len(group) > MOST_DRAWN:
            caption = f"{MOST_DRAWN} sessions are drawn; the mean is of all"
    else:
        has_bands = curves.kind == "average"
        lines = [
            curve_line(_line_name(curves, curve), curve.values, curve.band if has_bands else None) for curve in group
        ]
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


def _mean_vector(curves: Sequence[SessionCurve]) -> Floats:
    """The mean of curves at every position, of those that have a value there."""
    columns = zip(*(curve.values.tolist() for curve in curves), strict=True)
    known = [[value for value in column if not math.isnan(value)] for column in columns]
    return np.array([math.fsum(values) / len(values) if values else math.nan for values in known])


def _highest(curves: SessionCurves, measure: SessionGain) -> float | None:
    """Where the vertical axis ends; charts that are to be compared end at the same place."""
    if measure.normalised:
        return 1.0 if measure.repeats == "every" and measure.variant == "jarvelin2008" else None
    values = [value for curve in curves.curves if curve.measure == measure for value in curve.values.tolist()]
    highest = max(values, default=0.0)
    is_split = curves.kind == "individual" or len(curves.runs) > _MOST_TOGETHER
    return 1.05 * highest if is_split and curves.kind != "average" and highest > 0 else None


def _query_ends(curves: SessionCurves, measure: SessionGain) -> list[tuple[int, int]]:
    """Every query and its last position; none where queries do not all have as many."""
    if measure.short != "pad":
        return []
    return [(q, q * (measure.cutoff or 0)) for q in range(1, curves.queries + 1)]


def _some_queries(ends: Sequence[tuple[int, int]], most: int) -> list[tuple[int, int]]:
    """The queries that are named: all, or of many the first and every fifth, tenth, ..."""
    step = next((step for step in (1, 5, 10, 20, 50, 100, 200, 500) if len(ends) <= step * most), len(ends))
    return [(q, at) for q, at in ends if q == 1 or q % step == 0]


def _session_table(curves: SessionCurves, group: Sequence[SessionCurve], places: int) -> Table:
    """The values after every query, or at some ranks."""
    ends = [] if curves.kind == "positions" else _query_ends(curves, group[0].measure)
    if ends:
        shown = [(f"Q{q}", at) for q, at in dict.fromkeys((*_some_queries(ends, _MOST_COLUMNS), ends[-1]))]
        where = " after each query"
    else:
        shown = [(str(at), at) for at in table_ranks(group[0].depth)]
        where = " at some ranks" if curves.kind == "positions" else " at some positions"
    labels, most, notes = [Column("run"), Column("of")], None, tuple[str, ...]()
    if curves.kind == "individual":
        labels, most = [Column("session"), Column("queries", "count")], MOST_ROWS
        notes = (f"the first {most} of {len(group):,} sessions",) if len(group) > most else ()
    else:
        over = "queries" if curves.kind == "positions" else "sessions"
        labels = [*labels[: 1 if curves.kind == "average" else 2], Column(over, "count", get=lambda curve: curve.count)]
    columns = (*labels, *value_columns(shown, group, f"{curves.resampling.per_cent} at the end", places))
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
