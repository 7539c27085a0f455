"""Table 2 and Figures 1 to 4 of Järvelin et al. 2008 on any sessions, and the paper's readings."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from statistics import median
from typing import Any, cast

import numpy as np

from gainful import InputError, Report, SessionCurves, Sessions, UsageError, parse
from gainful.data.judged import Judged
from gainful.data.sessions import SessionsLike, SessionTopics, TopicsLike
from gainful.notation import bytes_of_id, count_of, printable, read_whole
from gainful.pages.charts import Plot
from gainful.tasks.sensitivity.sensitivity_grid import GradeLevels
from gainful.tasks.sessions import SessionStudy, study_sessions
from gainful.tasks.sessions.session_positions import ByPosition, Queries, SystemQueries, length_tables
from gainful_papers.claims import Claim, Part, Section, Study, claims_tables, gains_for, settled, worth_text
from gainful_papers.jarvelin2008.last_queries import LastAgainstBest, last_against_best

#: Sessions with exactly 1 to 11 queries, by system.
_COUNTS = {"System 1": (28, 7, 10, 4, 5, 4, 1, 1, 0, 0, 0), "System 2": (21, 7, 9, 11, 2, 4, 2, 2, 0, 1, 1)}
#: Printed averages: queries per session, sessions per system, and total queries.
PAPER_AVERAGES = (2.53, 3.18)
PAPER_SESSIONS = 60
PAPER_QUERIES = 343


def paper_systems(prefix: str = "") -> dict[str, SystemQueries]:
    """Return the paper's systems, for which only the lengths of sessions are known.

    >>> {name: round(found.average, 2) for name, found in paper_systems().items()}
    {'System 1': 2.53, 'System 2': 3.18}
    """
    nothing = ByPosition(np.zeros(0, np.int64), np.zeros(0))
    unknown = Queries(0, math.nan)
    return {
        prefix + name: SystemQueries(np.array(counts, np.int64), nothing, unknown, unknown)
        for name, counts in _COUNTS.items()
    }


#: Interpretation of the paper's "little", "nearly always" and "level off".
_LITTLE, _NEARLY_ALWAYS, _LEVEL = 0.5, 0.9, 0.95
_LEVEL_RANK = 20
#: Fewest sessions in a group that support a conclusion.
LEAST_SESSIONS = 5

#: Last rank of Figure 1, and of each query in the other figures.
_LAST_RANK, _TOP = 100, 10
#: Queries shown in Figures 3 and 4.
_FEW_QUERIES = 6
_NO_TOPICS = (
    "Warning: these sessions name no topics, so gains of topics with different ideals are averaged. --topics FILE "
    "(topics in Python) reads topics from a table."
)


def study(
    judged: Judged,
    sessions: Mapping[str, SessionsLike | Iterable[Sessions]],
    *,
    judged_by: str | None = None,
    topic: str | None = None,
    topics: TopicsLike | None = None,
    at_least: int = 4,
    gain: Sequence[object] | None = None,
    base: float | str = 2,
    query_base: float | str = 4,
    at: int = _TOP,
    threads: int | None = None,
) -> Study:
    """Compute Table 2 and Figures 1 to 4 for sessions by name: anything that describes sessions, or parts of them.

    Sessions that name their systems are split by system. Each source is read once, and all parts are held in memory.
    ``topics`` maps sessions to topics, or is the file of a table, if sessions do not name their topics. ``topic`` is
    the topic of Figures 3 and 4, by default the one with the most sessions; ``at_least`` is the fewest queries of the
    longer sessions in Figure 3. ``gain`` replaces the weights 0-1-10-100; ``base`` and ``query_base`` are b and bq;
    ``at`` is the last rank of each query.
    """
    if not isinstance(sessions, Mapping) or not sessions:
        raise UsageError("jarvelin2008: no sessions given", "--sessions FILE")
    at_least = read_whole(at_least, "at_least")
    given = None if topics is None else SessionTopics.of(topics)
    parts = {name: _parts(each) for name, each in sessions.items()}
    if given is not None:
        parts = {name: list(each) for name, each in given.given_to_all(parts).items()}
    levels = _levels(judged, parts)
    # By default, weights increase tenfold per level, unless there are too many levels.
    worth = gains_for("jarvelin2008", judged, levels, gain)[: 2 if gain is None else 1][-1]
    discount = {"gain": worth, "base": base, "query_base": query_base}
    kinds = (("sDCG", read_whole(at, "at")), ("sDCG", max(_LAST_RANK, at)), ("nsDCG", at))
    top_10, top_100, share = (parse(kind).replace(**discount, cutoff=k) for kind, k in kinds)

    how: dict[str, Any] = {"judged_by": judged_by, "by_system": True, "threads": threads}
    lengths = (np.diff(part.lists.list_offsets).max(initial=0) for part in chain(*parts.values()))
    longest_list = int(max(lengths, default=0))
    by_session = study_sessions(
        judged, parts, [top_10, share], curves="average", curve_measures=[share], average="both", **how
    )
    facts = [evaluation.facts for evaluation in by_session.evaluations.values()]
    if all(each.unjudged_at_10 == each.shown_at_10 for each in facts) and any(each.shown_at_10 for each in facts):
        # The judgments probably belong to other sessions with the same IDs.
        raise InputError(
            f"{judged.qrels.name}: no document in the top 10 of any session is judged",
            "judgments must match the sessions by topic, session or query (--judged-by)",
        )
    by_query = study_sessions(judged, parts, [top_100], curves="positions", draws=0, **how)
    bests = last_against_best(judged, parts, by_query.measure, **how)
    chosen, about_topic = _topic(parts, by_session, topic)
    notes = (*(given.notices() if given else ()), *(() if chosen else (_NO_TOPICS,)))
    queries = min(_FEW_QUERIES, _curves(by_session).queries)
    how |= {"topic": chosen, "queries": queries, "draws": 0}
    together = study_sessions(judged, parts, [top_10], curves="subset", at_least=at_least, **how)
    each = study_sessions(judged, parts, [top_10], curves="individual", **how)
    systems = ", ".join(f"{printable(name)} {each.sessions}" for name, each in by_session.queries.items())
    by = next(iter(by_session.evaluations.values())).judged_by
    count = sum(each.sessions for each in by_session.queries.values())
    data = (
        f"{count_of(count, 'session')} ({systems}), judged by {by} in "
        f"{printable(os.path.basename(judged.qrels.name), 80)}. The paper's sessions (30 physicians, 4 scenarios, 2 "
        "systems) are not public: its numbers are for comparison only. "
        f"{worth_text(levels, worth) if gain is None else ''}"
    ).rstrip()
    about = f"gains {worth}, b = {base}, bq = {query_base}; in the paper 0-1-10-100, 2 and 4"
    return Study(
        data,
        (
            Section.of(
                "Table 2",
                "Number of sessions with exactly 1, 2, ... queries, and average queries per session.",
                length_tables({**by_session.queries, **paper_systems("the paper's ")}),
            ),
            _last_queries(by_query, bests, longest_list),
            _averages(by_session),
            _subsets(together, about_topic, notes),
            _individuals(each, about_topic, notes),
        ),
        by_session.evaluations,
        (f"{about}; repeated documents count every time", *Report(by_session.evaluations).signatures),
    )


def _parts(sessions: SessionsLike | Iterable[Sessions]) -> list[Sessions]:
    if isinstance(sessions, (list, tuple, Iterator)):
        found: list[Any] = list(sessions)
        if all(isinstance(part, Sessions) for part in found):
            return found
        sessions = found
    return [Sessions.of(cast(SessionsLike, sessions))]


def _levels(judged: Judged, parts: Mapping[str, Sequence[Sessions]]) -> GradeLevels:
    """Return the levels of the judgments and of the users' own grades, in the units of the judgments."""
    grades = set(judged.levels.tolist())
    for part in chain(*parts.values()):
        grades.update((part.grade[~np.isnan(part.grade)] - judged.policy.grade_zero).tolist())
    return GradeLevels.of_grades(sorted(grades))


def _topic(
    parts: Mapping[str, Sequence[Sessions]], found: SessionStudy, wanted: str | None
) -> tuple[tuple[bytes, ...], str]:
    if wanted is not None:
        return (bytes_of_id(wanted),), f"topic {printable(wanted)}"
    judged = {name: set(evaluation.query_ids) for name, evaluation in found.evaluations.items()}
    counts: Counter[bytes] = Counter()
    for name, each in parts.items():
        for part in each:
            systems = part.systems or (None,) * len(part)
            for session, system, topic in zip(part.session_ids, systems, part.topics, strict=False):
                if topic is not None and session in judged.get(name if system is None else system, ()):
                    counts[topic] += 1
    if not counts:
        return (), "all sessions, because they name no topics"
    most, *others = sorted(topic for topic, count in counts.items() if count == max(counts.values()))
    among = f"the first of {len(others) + 1} with" if others else "which has"
    return (most,), f"topic {printable(most)}, {among} the most sessions"


def _last_queries(found: SessionStudy, bests: Mapping[str, LastAgainstBest], longest_list: int) -> Section:
    claims = [_little(name, each, "until the last query they gain little") for name, each in found.queries.items()]
    for name, best in bests.items():
        says = "nearly always the best"
        for how, count in (("", best.last_is_best), (" as a list", best.last_is_best_list)):
            what = f"{name}: the last query{how}"
            if best.sessions:
                finds = f"{count} of {count_of(best.sessions, 'session')}, {count / best.sessions:.0%}"
                is_so = not _below(count, _NEARLY_ALWAYS * best.sessions)
                claims.append(_decided(what, says, finds, is_so, best.sessions))
            else:
                claims.append(Claim.undecided(what, says, "no session of several queries has gain"))
    for curve in _curves(found).curves:
        if curve.of != "last query":
            continue
        what, says, whole = f"{curve.run}: last queries", f"level off at rank {_LEVEL_RANK}", float(curve.values[-1])
        if longest_list <= _LEVEL_RANK:
            claims.append(Claim.undecided(what, says, f"no list is longer than {longest_list}"))
        elif not whole > 0:
            claims.append(Claim.undecided(what, says, "no gain"))
        else:
            share = float(curve.values[_LEVEL_RANK - 1]) / whole
            finds = f"{share:.1%} of the gain by rank {_LEVEL_RANK}"
            claims.append(_decided(what, says, finds, not _below(share, _LEVEL), curve.count))
    if len(found.queries) > 1:
        lasts = {name: queries.last for name, queries in found.queries.items()}
        says = "System 2 somewhat better than System 1"
        claims.append(Claim.comparison("last queries by system", says, _in_order(lasts, 2)))
    about = (
        f"Gain to rank {_cutoff(found)} of the last query of each session, of all earlier queries, and of the best "
        "query (not normalised)."
    )
    words = (
        "Little: less than half the gain of last queries. Nearly always: in at least 90% of the sessions with several "
        "queries and any gain; as a list: without the discount by query. Levelling off: 95% of the gain at rank 100."
    )
    if any(queries.unjudged for queries in found.queries.values()):
        words += " Queries without judgments are ignored."
    return Section.of("Figure 1", about, _figure("Figure 1", _curves(found), claims, words))


def _averages(found: SessionStudy) -> Section:
    curves, claims = _curves(found), []
    [measure] = curves.measures
    for average in curves.averages(measure) if len(curves.runs) > 1 else ():
        ends = {run: float(curves.curve(run, measure, average=average).values[-1]) for run in curves.runs}
        claims.append(Claim.comparison(f"at the end, {average}", "System 2 is better on average", _in_order(ends, 4)))
    about = (
        f"The top {measure.cutoff} of each query, concatenated, relative to the gain of ideal sessions: the mean of "
        "the sessions' ratios, and the ratio of the means."
    )
    words = "When a session stops, its gain and its ideal stay constant. The paper states this only of the gain."
    return Section.of("Figure 2", about, _figure("Figure 2", curves, claims, places=4), words)


def _subsets(found: SessionStudy, about_topic: str, notes: Sequence[str]) -> Section:
    curves, says, claims = _curves(found), "initially very ineffective", []
    k = _cutoff(found)
    for name in curves.runs:
        whole, several = (curve for curve in curves.curves if curve.run == name)
        what = f"{name}: after Q1, {several.of}"
        if several.count in (0, whole.count):
            finds = "all sessions have" if several.count else "no such session"
            claims.append(Claim.undecided(what, says, finds))
            continue
        first, first_of_all = (float(curve.values[k - 1]) for curve in (several, whole))
        finds = f"{first:.2f} (of {several.count}), all {first_of_all:.2f} (of {whole.count})"
        claims.append(_decided(what, says, finds, _below(first, _LITTLE * first_of_all), several.count))
    about = f"The top {k} of up to {_FEW_QUERIES} queries, not normalised, of {about_topic}."
    names = ", ".join(map(printable, found.left_out))
    left_out = f"{names}: left out, because no session has this topic" if names else ""
    words = "Very ineffective: after the first query, less than half the gain of all sessions."
    return Section.of("Figure 3", about, notes, left_out, _figure("Figure 3", curves, claims, words))


def _individuals(found: SessionStudy, about_topic: str, notes: Sequence[str]) -> Section:
    curves, name = _curves(found), next(iter(found.evaluations))
    own = tuple(curve for curve in curves.curves if curve.run == name)
    ends = [float(curve.values[-1]) for curve in own if not math.isnan(curve.values[-1])]
    what, says = "final gain of sessions", "great variability"
    if len(ends) > 1 and max(ends) > 0:
        finds = f"from {min(ends):.2f} to {max(ends):.2f}, median {median(ends):.2f}"
        claim = _decided(what, says, finds, _below(median(ends), max(ends) - min(ends)), len(ends))
    else:
        claim = Claim.undecided(what, says, "one session" if len(ends) == 1 else "no gain")
    claims = (claim, _little(name, found.queries[name], "the last query far more effective"))
    top = f"the top {_cutoff(found)} of up to {_FEW_QUERIES} queries"
    about = f"Each session of {printable(name)}: {top}, of {about_topic}."
    words = (
        "Great variability: the range exceeds the median. Far more effective: more than twice the gain of earlier "
        "queries."
    )
    shown = replace(curves, curves=own, evaluations={name: found.evaluations[name]})
    return Section.of("Figure 4", about, notes, _figure("Figure 4", shown, claims, words))


def _little(name: str, queries: SystemQueries, says: str) -> Claim:
    what, last, earlier = f"{name}: earlier and last", queries.last_queries, queries.earlier_queries
    if not earlier.number or not last.number:
        return Claim.undecided(what, says, "no session of several queries")
    finds = f"earlier {earlier.mean:.2f}, last {last.mean:.2f}"
    sessions = min(last.number, earlier.number, int(queries.session_counts[1:].sum()))
    return _decided(what, says, finds, _below(earlier.mean, _LITTLE * last.mean), sessions)


def _decided(what: str, says: str, finds: str, holds: bool, sessions: int) -> Claim:
    """Check an observation of the paper if the smaller group has enough sessions."""
    if sessions >= LEAST_SESSIONS:
        return Claim.remark(what, says, finds, holds)
    return Claim.undecided(what, says, finds, f"undecided with fewer than {LEAST_SESSIONS} sessions in a group")


def _below(value: float, limit: float) -> bool:
    one, other = settled([value, limit])
    return one < other


def _in_order(values: Mapping[str, float], places: int) -> str:
    ordered = sorted(values, key=lambda name: (math.inf if math.isnan(values[name]) else -values[name], name))
    return ", ".join(f"{name} {values[name]:.{places}f}" for name in ordered)


def _curves(found: SessionStudy) -> SessionCurves:
    assert found.curves is not None  # requested by the caller
    return found.curves


def _cutoff(found: SessionStudy) -> int:
    return _curves(found).measures[0].cutoff or 1


def _figure(name: str, curves: SessionCurves, claims: Sequence[Claim], words: str = "", places: int = 2) -> list[Part]:
    """Return charts, tables and values, then the paper's readings and the interpretation of its words."""
    parts = list(curves.parts(places))
    captions = {part.caption for part in parts if isinstance(part, Plot)}
    parts += [note for note in curves.notes() if note not in captions]
    parts += claims_tables(f"Readings from {name}", claims)
    few = f"Groups of fewer than {LEAST_SESSIONS} sessions are undecided (not seen)."
    return [*parts, *([f"{words} {few}"] if words else [])]
