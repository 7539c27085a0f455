"""Table 2 and Figures 1 to 4 of Järvelin et al. 2008 on any sessions, and what the paper reads off its own."""

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

#: Sessions with exactly 1 to 11 queries, by system.
_COUNTS = {"System 1": (28, 7, 10, 4, 5, 4, 1, 1, 0, 0, 0), "System 2": (21, 7, 9, 11, 2, 4, 2, 2, 0, 1, 1)}
#: What is printed beside them: queries per session, sessions of each system, and queries in all.
PAPER_AVERAGES = (2.53, 3.18)
PAPER_SESSIONS = 60
PAPER_QUERIES = 343


def paper_systems(prefix: str = "") -> dict[str, SystemQueries]:
    """The paper's systems, of which only the lengths of sessions are known.

    >>> {name: round(found.average, 2) for name, found in paper_systems().items()}
    {'System 1': 2.53, 'System 2': 3.18}
    """
    nothing = ByPosition(np.zeros(0, np.int64), np.zeros(0))
    unknown = Queries(0, math.nan)
    return {
        prefix + name: SystemQueries(np.array(counts, np.int64), nothing, unknown, unknown)
        for name, counts in _COUNTS.items()
    }


#: What words of the paper are taken to mean.
_LITTLE, _NEARLY_ALWAYS, _LEVEL = 0.5, 0.9, 0.95
_LEVEL_RANK = 20
#: Of fewer sessions in a group that is compared nothing is concluded.
LEAST_SESSIONS = 5

#: Figure 1 goes to this rank, all others to rank 10 of every query.
_LAST_RANK, _TOP = 100, 10
#: How many queries Figures 3 and 4 show.
_FEW_QUERIES = 6
_NO_TOPICS = (
    "Warning: these sessions name no topics, so that gains of different topics, which have different ideals, are "
    "averaged here. --topics FILE (topics in Python) reads them from a table."
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
    """Table 2 and Figures 1 to 4 on these sessions: by name, whatever describes them, or parts of them in any iterable.

    Where sessions name their systems, each of these is one. The figures choose different sessions, so that all parts
    are held in memory together; each source is read once. ``topics`` are those of the sessions, where these do not name
    them: by session, or the file of a table. ``topic`` is that of Figures 3 and 4, otherwise the one with the most
    sessions; ``at_least`` is from how many queries on a session belongs to the lower curves of Figure 3. ``gain``
    are weights instead of 0-1-10-100, ``base`` and ``query_base`` b and bq, ``at`` the last rank of every query.
    """
    if not isinstance(sessions, Mapping) or not sessions:
        raise UsageError("jarvelin2008: expected sessions of at least one system, found none", "--sessions FILE")
    at_least = read_whole(at_least, "at_least")
    given = None if topics is None else SessionTopics.of(topics)
    parts = {name: _parts(each) for name, each in sessions.items()}
    if given is not None:
        parts = {name: list(each) for name, each in given.given_to_all(parts).items()}
    levels = _levels(judged, parts)
    # Weights tenfold from level to level, unless there are too many levels, or others are given.
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
        # These are judgments of other sessions that happen to have the same names.
        raise InputError(
            f"{judged.qrels.name}: jarvelin2008 expects judgments of what the sessions show, "
            "found none of any document in their first 10",
            "judgments are by topic, session or query (--judged-by), of the documents that these sessions list",
        )
    by_query = study_sessions(judged, parts, [top_100], curves="positions", draws=0, **how)
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
        f"{printable(os.path.basename(judged.qrels.name), 80)}. The paper's "
        "own (30 physicians, 4 scenarios, 2 systems) are not public: its figures are of other data, for orientation. "
        f"{worth_text(levels, worth) if gain is None else ''}"
    ).rstrip()
    about = f"gains are {worth}, b = {base}, bq = {query_base}; the paper's are 0-1-10-100, 2 and 4"
    return Study(
        data,
        (
            Section.of(
                "Table 2",
                "How many sessions have exactly 1, 2, ... queries, and how many they have on average.",
                length_tables({**by_session.queries, **paper_systems("the paper's ")}),
            ),
            _last_queries(by_query, longest_list),
            _averages(by_session),
            _subsets(together, about_topic, notes),
            _individuals(each, about_topic, notes),
        ),
        by_session.evaluations,
        (f"{about}; a document that comes again counts every time", *Report(by_session.evaluations).signatures),
    )


def _parts(sessions: SessionsLike | Iterable[Sessions]) -> list[Sessions]:
    """A source's sessions, in the parts in which they come."""
    if isinstance(sessions, (list, tuple, Iterator)):
        found: list[Any] = list(sessions)
        if all(isinstance(part, Sessions) for part in found):
            return found
        sessions = found
    return [Sessions.of(cast(SessionsLike, sessions))]


def _levels(judged: Judged, parts: Mapping[str, Sequence[Sessions]]) -> GradeLevels:
    """The levels of the judgments, and of what users thought of a document, in the units of the judgments as read."""
    grades = set(judged.levels.tolist())
    for part in chain(*parts.values()):
        grades.update((part.grade[~np.isnan(part.grade)] - judged.policy.grade_zero).tolist())
    return GradeLevels.of_grades(sorted(grades))


def _topic(
    parts: Mapping[str, Sequence[Sessions]], found: SessionStudy, wanted: str | None
) -> tuple[tuple[bytes, ...], str]:
    """The topic of Figures 3 and 4, and which that is in words."""
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


def _last_queries(found: SessionStudy, longest_list: int) -> Section:
    """Figure 1: the last query of sessions and the earlier ones."""
    claims = [_little(name, each, "until the last query they gain little") for name, each in found.queries.items()]
    for name, queries in found.queries.items():
        best, says = queries.last_against_best, "nearly always the best"
        for how, count in (("", best.last_is_best), (" as a list", best.last_is_best_list)):
            what = f"{name}: the last query{how}"
            if best.sessions:
                finds = f"{count} of {count_of(best.sessions, 'session')}, {count / best.sessions:.0%}"
                is_so = not _below(count, _NEARLY_ALWAYS * best.sessions)
                claims.append(_decided(what, says, finds, is_so, best.sessions))
            else:
                claims.append(Claim.undecided(what, says, "no session of several queries gains"))
    for curve in _curves(found).curves:
        if curve.of != "last query":
            continue
        what, says, whole = f"{curve.run}: last queries", f"level off at rank {_LEVEL_RANK}", float(curve.values[-1])
        if longest_list <= _LEVEL_RANK:
            claims.append(Claim.undecided(what, says, f"no list is longer than {longest_list}"))
        elif not whole > 0:
            claims.append(Claim.undecided(what, says, "nothing is gained"))
        else:
            share = float(curve.values[_LEVEL_RANK - 1]) / whole
            finds = f"{share:.1%} of the gain by rank {_LEVEL_RANK}"
            claims.append(_decided(what, says, finds, not _below(share, _LEVEL), curve.count))
    if len(found.queries) > 1:
        lasts = {name: queries.last for name, queries in found.queries.items()}
        says = "System 2 somewhat better than System 1"
        claims.append(Claim.beside("last queries by system", says, _in_order(lasts, 2)))
    about = (
        f"What the last queries of sessions give down to rank {_cutoff(found)}, what all earlier ones give, and beside "
        "them the best query of each session (not normalised)."
    )
    words = (
        "Gaining little: less than half of what last queries give. Nearly always: in at least 90% of the sessions "
        "that have several queries and gain anything; as a list: without the discount by query. Levelling off: 95% of "
        "the gain of 100 ranks."
    )
    if any(queries.unjudged for queries in found.queries.values()):
        words += " Queries without judgments do not count."
    return Section.of("Figure 1", about, _figure("Figure 1", _curves(found), claims, words))


def _averages(found: SessionStudy) -> Section:
    """Figure 2: all sessions of every system."""
    curves, claims = _curves(found), []
    [measure] = curves.measures
    for average in curves.averages(measure) if len(curves.runs) > 1 else ():
        ends = {run: float(curves.curve(run, measure, average=average).values[-1]) for run in curves.runs}
        claims.append(Claim.beside(f"at the end, {average}", "System 2 is better on average", _in_order(ends, 4)))
    about = (
        f"The top {measure.cutoff} of every query one after the other, as a share of what ideal sessions give, over "
        "all sessions: the mean of the sessions' ratios, and the ratio of the means."
    )
    words = "When a session stops, its ideal is held, as its gain is. The paper says only that the gain is held."
    return Section.of("Figure 2", about, _figure("Figure 2", curves, claims, places=4), words)


def _subsets(found: SessionStudy, about_topic: str, notes: Sequence[str]) -> Section:
    """Figure 3: all sessions, and those with several queries."""
    curves, says, claims = _curves(found), "initially very ineffective", []
    k = _cutoff(found)
    for name in curves.runs:
        whole, several = (curve for curve in curves.curves if curve.run == name)
        what = f"{name}: after Q1, {several.of}"
        if several.count in (0, whole.count):
            finds = "all sessions are" if several.count else "there is no such session"
            claims.append(Claim.undecided(what, says, finds))
            continue
        first, first_of_all = (float(curve.values[k - 1]) for curve in (several, whole))
        finds = f"{first:.2f} (of {several.count}), all {first_of_all:.2f} (of {whole.count})"
        claims.append(_decided(what, says, finds, _below(first, _LITTLE * first_of_all), several.count))
    about = f"The top {k} of up to {_FEW_QUERIES} queries, not normalised, of {about_topic}."
    names = ", ".join(map(printable, found.left_out))
    left_out = f"{names}: no session of this topic, left out" if names else ""
    words = "Very ineffective: after the first query less than half of what all sessions have then."
    return Section.of("Figure 3", about, notes, left_out, _figure("Figure 3", curves, claims, words))


def _individuals(found: SessionStudy, about_topic: str, notes: Sequence[str]) -> Section:
    """Figure 4: every session of one system."""
    curves, name = _curves(found), next(iter(found.evaluations))
    own = tuple(curve for curve in curves.curves if curve.run == name)
    ends = [float(curve.values[-1]) for curve in own if not math.isnan(curve.values[-1])]
    what, says = "where sessions end", "great variability"
    if len(ends) > 1 and max(ends) > 0:
        finds = f"from {min(ends):.2f} to {max(ends):.2f}, median {median(ends):.2f}"
        claim = _decided(what, says, finds, _below(median(ends), max(ends) - min(ends)), len(ends))
    else:
        claim = Claim.undecided(what, says, "one session" if len(ends) == 1 else "nothing is gained")
    claims = (claim, _little(name, found.queries[name], "the last query far more effective"))
    top = f"the top {_cutoff(found)} of up to {_FEW_QUERIES} queries"
    about = f"Every session of {printable(name)}: {top}, of {about_topic}."
    words = (
        "Great variability: the best and the worst session are further apart than the median is high. Far more "
        "effective: more than twice of what earlier queries give."
    )
    shown = replace(curves, curves=own, evaluations={name: found.evaluations[name]})
    return Section.of("Figure 4", about, notes, _figure("Figure 4", shown, claims, words))


def _little(name: str, queries: SystemQueries, says: str) -> Claim:
    what, last, earlier = f"{name}: earlier and last", queries.last_queries, queries.earlier_queries
    if not earlier.number or not last.number:
        return Claim.undecided(what, says, "no session has several queries")
    finds = f"earlier {earlier.mean:.2f}, last {last.mean:.2f}"
    sessions = min(last.number, earlier.number, int(queries.session_counts[1:].sum()))
    return _decided(what, says, finds, _below(earlier.mean, _LITTLE * last.mean), sessions)


def _decided(what: str, says: str, finds: str, holds: bool, sessions: int) -> Claim:
    """What the paper saw, if the smallest group that is compared has so many sessions that it can be seen."""
    if sessions >= LEAST_SESSIONS:
        return Claim.remark(what, says, finds, holds)
    return Claim.undecided(what, says, finds, f"fewer than {LEAST_SESSIONS} sessions in a group decide nothing")


def _below(value: float, limit: float) -> bool:
    """Whether a value is below a limit by more than rounding."""
    one, other = settled([value, limit])
    return one < other


def _in_order(values: Mapping[str, float], places: int) -> str:
    """The systems, best first, with their values."""
    ordered = sorted(values, key=lambda name: (math.inf if math.isnan(values[name]) else -values[name], name))
    return ", ".join(f"{name} {values[name]:.{places}f}" for name in ordered)


def _curves(found: SessionStudy) -> SessionCurves:
    assert found.curves is not None  # they were asked for
    return found.curves


def _cutoff(found: SessionStudy) -> int:
    return _curves(found).measures[0].cutoff or 1


def _figure(name: str, curves: SessionCurves, claims: Sequence[Claim], words: str = "", places: int = 2) -> list[Part]:
    """Charts, tables and values, then what the paper reads off the figure, and what its words are taken to mean."""
    parts = list(curves.parts(places))
    captions = {part.caption for part in parts if isinstance(part, Plot)}
    parts += [note for note in curves.notes() if note not in captions]
    parts += claims_tables(f"What the paper reads off {name}", claims)
    few = f"Of fewer than {LEAST_SESSIONS} sessions in a group nothing is concluded (not seen)."
    return [*parts, *([f"{words} {few}"] if words else [])]
