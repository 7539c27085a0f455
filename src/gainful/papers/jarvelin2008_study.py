"""Table 2 and Figures 1 to 4 of Järvelin et al. 2008 on any sessions."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, cast

import numpy as np

from gainful.curves.gain_curves import Resampling
from gainful.curves.session_curves import SUBSET_QUERIES, SessionCurves, WantedCurves
from gainful.data.judged import Judged
from gainful.data.session_topics import SessionTopics, TopicsLike
from gainful.data.sessions import Sessions, SessionsLike
from gainful.errors import InputError, UsageError
from gainful.gains import Gain
from gainful.measures.base import Measure
from gainful.measures.parameters import read_whole
from gainful.measures.session_gain import NSDCG, SDCG
from gainful.notation import bytes_of_id, count_of, printable
from gainful.papers.claims import Claim, claims_tables
from gainful.papers.jarvelin2008_readings import (
    ABOUT_EACH,
    ABOUT_FEW,
    ABOUT_LAST,
    ABOUT_SUBSETS,
    average_readings,
    individual_readings,
    last_readings,
    subset_readings,
)
from gainful.papers.jarvelin2008_table import paper_systems
from gainful.papers.sections import Section, Study
from gainful.progress import Progress
from gainful.render.charts import Chart, Plot
from gainful.render.page import Table
from gainful.render.report import Report
from gainful.render.session_curves_page import curves_notes, curves_parts
from gainful.render.session_page import length_tables
from gainful.sensitivity.levels import GradeLevels
from gainful.sessions.choice import SessionChoice
from gainful.sessions.study import SessionStudy, study_judged_sessions

_PAPER_WEIGHTS = "0-1-10-100"
#: How many queries Figures 3 and 4 show.
_FEW_QUERIES = 6
#: From more levels than these no weights are made, each ten times the one below.
_MOST_LEVELS = 9
#: In tables gains of up to 100 have so many decimal places.
_PLACES = 2
_ABOUT_BASES = "b = 2, bq = 4, as in the paper; a document that comes again counts every time"
_NO_TOPICS = (
    "Warning: these sessions name no topics, so that gains of different topics, which have different ideals, are "
    "averaged here. --topics FILE (topics in Python) reads them from a table."
)
#: The paper's curves have no bands; those of its averages over all sessions are worth having.
_NO_BANDS, _BANDS = Resampling(0, 0, 0.95), Resampling(1000, 0, 0.95)


def study(
    judged: Judged,
    sessions: Mapping[str, SessionsLike | Iterable[Sessions]],
    *,
    judged_by: str | None = None,
    topic: str | None = None,
    topics: TopicsLike | None = None,
    at_least: int = SUBSET_QUERIES,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Study:
    """Table 2 and Figures 1 to 4 on these sessions: by name, whatever describes them, or parts of them in any iterable.

    Where sessions name their systems, each of these is one. The figures choose different sessions, so that all parts
    are held in memory together; each source is read once. ``topics`` are those of the sessions, where these do not name
    them: by session, or the file of a table. ``topic`` is that of Figures 3 and 4, otherwise the one with the most
    sessions; ``at_least`` is from how many queries on a session belongs to the lower curves of Figure 3.

    >>> from gainful import Policy, Qrels
    >>> from gainful.sessions.lists import sessions_from_lists
    >>> found = sessions_from_lists({"s1": [["x"], ["a"]], "s2": [["a"]]}, {"s1": "t", "s2": "t"})
    >>> [each.name for each in study(Judged(Qrels.of({"t": {"a": 2}}), Policy()), {"mine": [found]}).sections]
    ['Table 2', 'Figure 1', 'Figure 2', 'Figure 3', 'Figure 4']
    """
    if not isinstance(sessions, Mapping) or not sessions:
        raise UsageError("jarvelin2008: expected sessions of at least one system, found none", "--sessions FILE")
    at_least = read_whole(at_least, "at_least")
    given = None if topics is None else SessionTopics.of(topics)
    parts = {name: _parts(each) for name, each in sessions.items()}
    if given is not None:
        parts = {name: list(each) for name, each in given.given_to_all(parts).items()}
    gain, about_gain = _gain(judged, parts)
    top_10, top_100, share = SDCG(gain, cutoff=10), SDCG(gain, cutoff=100), NSDCG(gain, cutoff=10)

    def looked_at(measures: Sequence[Measure], curves: WantedCurves, of: Iterable[bytes] = ()) -> SessionStudy:
        return study_judged_sessions(
            judged,
            parts,
            measures,
            judged_by=judged_by,
            choice=SessionChoice(topics=of),
            curves=curves,
            by_system=True,
            threads=threads,
            progress=progress,
        )

    by_session = looked_at([top_10, share], WantedCurves.of(share, average="both", resampling=_BANDS))
    _check_judged(judged, by_session)
    by_query = looked_at([top_100], WantedCurves.of(top_100, kind="positions", resampling=_NO_BANDS))
    chosen, about_topic = _topic(parts, by_session, topic)
    notes = (*(given.notices() if given else ()), *(() if chosen else (_NO_TOPICS,)))
    queries = min(_FEW_QUERIES, _curves(by_session).queries)
    subsets = WantedCurves.of(top_10, kind="subset", queries=queries, at_least=at_least, resampling=_NO_BANDS)
    individuals = WantedCurves.of(top_10, kind="individual", queries=queries, resampling=_NO_BANDS)
    together, each = (looked_at([top_10], wanted, chosen) for wanted in (subsets, individuals))
    return Study(
        _about_data(judged, by_session),
        (
            _lengths(by_session),
            _last_queries(by_query, _longest_list(parts)),
            _averages(by_session),
            _subsets(together, about_topic, notes),
            _individuals(each, about_topic, notes),
        ),
        by_session.evaluations,
        (about_gain, _ABOUT_BASES, *Report(by_session.evaluations).signatures),
    )


def _parts(sessions: SessionsLike | Iterable[Sessions]) -> list[Sessions]:
    """A source's sessions, in the parts in which they come."""
    if isinstance(sessions, (list, tuple, Iterator)):
        found: list[Any] = list(sessions)
        if all(isinstance(part, Sessions) for part in found):
            return found
        sessions = found
    return [Sessions.of(cast(SessionsLike, sessions))]


def _check_judged(judged: Judged, found: SessionStudy) -> None:
    """Refuses judgments of other sessions that happen to have the same names."""
    facts = [evaluation.facts for evaluation in found.evaluations.values()]
    if all(each.unjudged_at_10 == each.shown_at_10 for each in facts) and any(each.shown_at_10 for each in facts):
        raise InputError(
            f"{judged.qrels.name}: jarvelin2008 expects judgments of what the sessions show, "
            "found none of any document in their first 10",
            "judgments are by topic, session or query (--judged-by), of the documents that these sessions list",
        )


def _gain(judged: Judged, parts: Mapping[str, Sequence[Sessions]]) -> tuple[Gain, str]:
    """Weights tenfold from level to level, as many as there are levels; the grades themselves where these are none."""
    grades = set(judged.levels.tolist())
    for part in chain(*parts.values()):
        # Sessions may tell what their users thought of a document, in the units that the judgments had when read.
        grades.update((part.grade[~np.isnan(part.grade)] - judged.policy.grade_zero).tolist())
    levels = GradeLevels.of_grades(sorted(grades))
    if not levels.levels:
        raise InputError(f"{judged.qrels.name}: jarvelin2008 expects grades above 0, found none")
    if not levels.is_whole or len(levels.levels) > _MOST_LEVELS:
        return Gain(
            "linear"
        ), f"gains are the grades themselves; the paper's are {_PAPER_WEIGHTS} for its grades 0 to 3"
    gain = levels.named("tenfold")
    if str(gain) == _PAPER_WEIGHTS:
        return gain, f"gains are {gain}, as in the paper"
    return (
        gain,
        f"gains are {gain} for the grades 0 to {len(levels.levels)}; the paper's are {_PAPER_WEIGHTS} for 0 to 3",
    )


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


def _longest_list(parts: Mapping[str, Sequence[Sessions]]) -> int:
    return max(int(np.diff(part.lists.list_offsets).max(initial=0)) for part in chain(*parts.values()))


def _about_data(judged: Judged, found: SessionStudy) -> str:
    systems = ", ".join(f"{printable(name)} {each.sessions}" for name, each in found.queries.items())
    by = next(iter(found.evaluations.values())).judged_by
    count = sum(each.sessions for each in found.queries.values())
    name = os.path.basename(judged.qrels.name)
    return (
        f"{count_of(count, 'session')} ({systems}), judged by {by} in {printable(name, 80)}. The paper's "
        "own (30 physicians, 4 scenarios, 2 systems) are not public: its figures are of other data, for orientation."
    )


def _lengths(found: SessionStudy) -> Section:
    systems = {**found.queries, **paper_systems("the paper's ")}
    about = "How many sessions have exactly 1, 2, ... queries, and how many they have on average."
    return Section("Table 2", about, tuple(length_tables(systems)))


def _last_queries(found: SessionStudy, longest_list: int) -> Section:
    about = "What the last queries of sessions give down to rank 100, and what all earlier ones give (not normalised)."
    words = ABOUT_LAST
    if any(queries.unjudged for queries in found.queries.values()):
        words += " Queries without judgments do not count."
    return Section("Figure 1", about, _figure("Figure 1", _curves(found), last_readings(found, longest_list), words))


def _averages(found: SessionStudy) -> Section:
    curves = _curves(found)
    about = (
        "The top 10 of every query one after the other, as a share of what ideal sessions give, over all sessions: the "
        "mean of the sessions' ratios, and the ratio of the means."
    )
    return Section("Figure 2", about, _figure("Figure 2", curves, average_readings(curves), places=4))


def _subsets(found: SessionStudy, about_topic: str, notes: Sequence[str]) -> Section:
    about = f"The top 10 of up to {_FEW_QUERIES} queries, not normalised, of {about_topic}."
    parts = _figure("Figure 3", _curves(found), subset_readings(found), ABOUT_SUBSETS)
    return Section("Figure 3", about, (*notes, *_left_out(found), *parts))


def _individuals(found: SessionStudy, about_topic: str, notes: Sequence[str]) -> Section:
    curves = _curves(found)
    first = next(iter(found.evaluations))
    own = replace(
        curves,
        curves=tuple(curve for curve in curves.curves if curve.run == first),
        evaluations={first: found.evaluations[first]},
    )
    about = f"Every session of {printable(first)}: the top 10 of up to {_FEW_QUERIES} queries, of {about_topic}."
    parts = _figure("Figure 4", own, individual_readings(found, own), ABOUT_EACH)
    return Section("Figure 4", about, (*notes, *parts))


def _curves(found: SessionStudy) -> SessionCurves:
    assert found.curves is not None  # they were asked for
    return found.curves


def _left_out(found: SessionStudy) -> tuple[str, ...]:
    names = ", ".join(map(printable, found.left_out))
    return (f"{names}: no session of this topic, left out",) if names else ()


def _figure(
    name: str, curves: SessionCurves, readings: Iterable[Claim], words: str = "", places: int = _PLACES
) -> tuple[Table | Chart | str, ...]:
    """Charts, tables and values, then what the paper reads off the figure, and what its words are taken to mean."""
    parts = tuple(curves_parts(curves, places))
    captions = {part.caption for part in parts if isinstance(part, Plot)}
    notes = (note for note in curves_notes(curves) if note not in captions)
    read = tuple(readings)
    tables = claims_tables(f"What the paper reads off {name}", read) if read else ()
    return (*parts, *notes, *tables, *((f"{words} {ABOUT_FEW}",) if words else ()))
