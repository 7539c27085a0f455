"""Sequences of queries: `gainful sessions`.

One pass over the sessions of several systems gives scores, lengths, positions, curves and correlations with ratings.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from gainful.data.judged import Judged
from gainful.data.sessions import Sessions, SessionTopics
from gainful.errors import InputError, UsageError, option, warns
from gainful.evaluation.evaluation_page import Report
from gainful.evaluation.evaluations import Evaluation
from gainful.evaluation.notices import notices
from gainful.evaluation.score_files import FACTORS, SESSIONS_TABLE
from gainful.frozen import dataclass
from gainful.measures.base import Measure
from gainful.measures.catalog import parse, parse_all
from gainful.measures.session_block import SessionBlock, check_session_measures
from gainful.measures.session_gain import NSDCG, SDCG, SessionGain
from gainful.measures.session_measures import GainPerCost
from gainful.notation import nearest, printable
from gainful.pages.charts import Chart
from gainful.pages.page import Table, head, values_of
from gainful.question import question
from gainful.render import Page, Showable
from gainful.tasks.run_questions import SessionStudyOptions
from gainful.tasks.sessions.ratings import RatingCorrelations, correlate_ratings
from gainful.tasks.sessions.session_curves import CurveGathering, SessionCurves, drawable, not_normalised
from gainful.tasks.sessions.session_evaluation import (
    SessionChoice,
    SystemWatch,
    parts_of,
    score_systems,
    session_measures,
)
from gainful.tasks.sessions.session_positions import (
    CostCurves,
    CostsGathered,
    QueryValues,
    SystemQueries,
    length_tables,
    position_tables,
)


@dataclass(frozen=True, eq=False, repr=False)
class SessionStudy(Showable):
    """Results for the sessions of several systems. ``measure`` gives the value of a query by position."""

    evaluations: Mapping[str, Evaluation]
    measure: SessionGain
    queries: Mapping[str, SystemQueries]
    curves: SessionCurves | None = None
    ratings: RatingCorrelations | None = None
    left_out: tuple[str, ...] = ()  # systems without a selected session
    topics: SessionTopics | None = None  # topics given separately from the sessions
    costs: CostCurves | None = None

    def __repr__(self) -> str:
        systems = ", ".join(f"{printable(name)} {found.sessions}" for name, found in self.queries.items())
        return f"<SessionStudy of sessions: {systems}>"

    def report(self, by_session: bool = False, places: int = 4, baseline: str | None = None) -> Report:
        """Return scores as in ``gainful eval``, followed by all other results, for any format."""
        report = Report(self.evaluations, by_session, places, baseline)
        report.further = tuple(self._below_scores(by_session, places))
        if self.curves is not None:
            report.further_notes, report.further_header = tuple(self.curves.notes()), self.curves.header()
        return report

    def page(self) -> Page:
        return self.report().page()

    @property
    def notices(self) -> tuple[str, ...]:
        lines = [f"{printable(name, 80)}: no session selected, system omitted" for name in self.left_out]
        lines += notices(self.evaluations.values())
        lines += self.topics.notices() if self.topics else []
        if self.curves is not None:
            measures = next((found.measures for found in self.evaluations.values()), ())
            gains = {measure for measure in measures if isinstance(measure, SessionGain)}
            if not gains.union(map(not_normalised, gains)).intersection(self.curves.measures):
                drawn, found = (", ".join(map(str, each)) for each in (self.curves.measures, measures))
                lines.append(f"curves show {drawn}, because {found} cannot be drawn")
        return (*lines, *(self.ratings.notices() if self.ratings else ()))

    def _below_scores(self, by_session: bool, places: int) -> Iterator[Table | Chart | str]:
        factors = [name for name in FACTORS if any(name in each.factors for each in self.evaluations.values())]
        if by_session and factors:
            # The factors of every session, for machines: comparisons of systems use them.
            rows: list[tuple[str | None, ...]] = []
            for run, each in self.evaluations.items():
                known = [each.factors.get(name, (None,) * len(each.queries)) for name in factors]
                rows += [(run, *row) for row in zip(each.queries, *known, strict=True)]
            yield Table(head(["run", "session", *factors], for_machines=True), tuple(rows), SESSIONS_TABLE)
        yield from length_tables(self.queries)
        yield from position_tables(self.queries, self.measure, places)
        if self.ratings is not None:
            yield self.ratings.table(places)
        if self.costs is not None:
            yield from self.costs.parts(places)
        if self.curves is not None:
            yield from self.curves.parts(places)


@warns
@question(SessionStudyOptions)
def study_sessions(asked: SessionStudyOptions) -> SessionStudy:
    """Score sessions, count their queries and summarise these by position.

    A system's sessions may come in parts. ``ratings`` are by session; a name alone, as ``rating``, refers to a rating
    recorded in the sessions. ``confidence`` is the level of the correlations' intervals. ``topics``, by session or as a
    file of sessions and topics, are for sessions that do not name theirs. ``session``, ``topic`` and ``at_least``
    select sessions. ``curves`` is a kind of session_curves for ``curve_measures`` (by default, the measures that can be
    drawn), or ``"cost"``: gain by cost, which needs costs or GainPerCost. With ``by_system``, each system that sessions
    name is a system.

    >>> sessions = Sessions.of([{"session": "s1", "topic": "t", "queries": [{"results": ["x"]}, {"results": ["a"]}]}])
    >>> study = study_sessions({"t": {"a": 1}}, {"mine": sessions}, "sDCG(query_base=2)@10")
    >>> study.queries["mine"].last, study.queries["mine"].earlier, study.queries["mine"].average
    (0.5, 0.0, 2.0)
    """
    rating, kind = asked.rating, asked.curves
    wanted = session_measures(_with_costs(parse_all(asked.measures), asked))
    curves = costs_drawn = None
    if kind == "cost":
        costs_drawn = CurveGathering(asked, NSDCG(cutoff=10)).resampling
    elif kind is not None:
        curves = CurveGathering(asked, asked.curve_measures or drawable(wanted, kind), kind)
    judged = Judged.of(asked.qrels, asked.policy)
    parts: Mapping[str, Iterable[Sessions]] = {name: parts_of(name, each) for name, each in asked.systems.items()}
    topics = None if asked.topics is None else SessionTopics.of(asked.topics)
    if topics is not None:
        parts = topics.given_to_all(parts)
    # The value of a query by position: the first sDCG (of an nsDCG, its sDCG), or sDCG@10.
    gains = sorted((each for each in wanted if isinstance(each, SessionGain)), key=lambda each: each.normalised)
    measure = not_normalised(gains[0]).replace(summary="final") if gains else SDCG(cutoff=10)
    assert isinstance(measure, SessionGain)
    priced = next((each for each in wanted if isinstance(each, GainPerCost)), None)
    seen: dict[str, _SystemSeen] = {}

    def watch(system: str) -> SystemWatch:
        seen[system] = _SystemSeen(measure, priced, rating if asked.ratings is None else None)
        return seen[system].add

    watchers = [watch, *([] if curves is None else [curves.watch])]
    choice = SessionChoice(asked.session, asked.topic, None if kind == "subset" else asked.at_least)
    how = values_of(asked, "judged_by | by_system | threads")
    found, left_out = score_systems(judged, parts, wanted, watchers, choice=choice, beside=asked, **how)
    correlations = None
    if rating is not None:
        given = {name: seen[name].ratings if asked.ratings is None else asked.ratings for name in found}
        _check_ratings(rating, given, seen, found)
        correlations = correlate_ratings(found, given, rating, 0.95 if asked.confidence is None else asked.confidence)
    by_position = {}
    for name, evaluation in found.items():
        # Sessions made of empty pages have already been counted.
        expected = None if evaluation.policy.missing == "skip" else len(evaluation.query_ids)
        by_position[name] = seen[name].values.found(expected)
    of_costs = {name: costs for name in found if (costs := seen[name].costs) is not None}
    return SessionStudy(
        found,
        measure,
        by_position,
        None if curves is None else curves.curves(found),
        correlations,
        tuple(left_out),
        topics,
        None if priced is None else CostCurves.of(priced, of_costs, costs_drawn),
    )


def _with_costs(measures: Sequence[Measure], asked: SessionStudyOptions) -> list[Measure]:
    """Return the measures and, if costs are given, SessionCost and GainPerCost at the depth of the others."""
    costs = {"cost_query": asked.cost_query, "cost_document": asked.cost_document}
    if all(value is None for value in costs.values()):
        if asked.curves == "cost" and not any(isinstance(measure, GainPerCost) for measure in measures):
            raise UsageError(
                f"{option('curves', 'cost')}: costs of queries and documents are missing",
                f"{option('cost_query', 20)} {option('cost_document', 5)}, or {option('cost_query', 'recorded')} for "
                "the column cost of the log",
            )
        return list(measures)
    depth = next((cutoff for each in measures if (cutoff := getattr(each, "cutoff", None))), None)
    known = ", ".join(f"{name}={0 if value is None else value}" for name, value in costs.items())
    at = "" if depth is None else f"@{depth}"
    return [*measures, *(parse(f"{name}({known}){at}") for name in ("SessionCost", "GainPerCost"))]


class _SystemSeen:
    """Positions, costs and ratings collected for one system."""

    def __init__(self, measure: SessionGain, priced: GainPerCost | None, rating: str | None) -> None:
        self.values = QueryValues(measure)
        self.costs = None if priced is None else CostsGathered(priced)
        self.ratings: dict[str, float] = {}
        self.known_ratings: set[str] = set()
        self._rating = rating

    def add(self, part: Sessions, chosen: slice, block: SessionBlock) -> None:
        check_session_measures(block.judged, block.sessions, [self.values.measure])
        self.values.add(block)
        if self.costs is not None:
            self.costs.add(block)
        self.known_ratings.update(part.ratings)
        if self._rating is not None and self._rating in part.ratings:
            given = zip(part.ids[chosen], part.ratings[self._rating][chosen].tolist(), strict=True)
            self.ratings.update((session, value) for session, value in given if not math.isnan(value))


def _check_ratings(
    rating: str,
    given: Mapping[str, Mapping[str, float]],
    seen: Mapping[str, _SystemSeen],
    evaluations: Mapping[str, Evaluation],
) -> None:
    if any(session in given[name] for name, found in evaluations.items() for session in found.queries):
        return
    systems = ", ".join(map(printable, evaluations))
    rated = next((session for each in given.values() for session in sorted(each)), None)
    if rated is not None:
        there = next(session for found in evaluations.values() for session in found.queries)
        raise InputError(
            f"{systems}: no scored session has a rating: there is session '{printable(there)}', but "
            f"'{printable(rated)}' has a rating called '{printable(rating)}'"
        )
    known = sorted({name for each in seen.values() for name in each.known_ratings})
    there = f"the sessions have {', '.join(map(printable, known))}" if known else "the sessions have no ratings"
    message = f"{systems}: no session has a rating called '{printable(rating)}'; {there}"
    raise InputError(message, nearest(rating, known) or "--ratings FILE reads ratings from a table")
