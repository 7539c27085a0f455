"""Sessions of several systems in one pass: every part is read once, scored, and shown to whoever watches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, pairwise
from os import PathLike
from typing import NamedTuple, TypeAlias, overload

import numpy as np

from gainful.data.graded import JoinFacts
from gainful.data.judged import Judged
from gainful.data.qrels import Qrels, QrelsLike
from gainful.data.session_gathering import PART_SIZE
from gainful.data.sessions import JUDGED_BY, Sessions, judged_sessions, judged_turns, rank_sessions
from gainful.errors import InputError, UsageError, warns
from gainful.evaluation.evaluate import MeasuresLike
from gainful.evaluation.evaluations import Evaluation, Evaluations
from gainful.evaluation.results import factors_together
from gainful.evaluation.score_files import QUERIES
from gainful.io.sources import Source
from gainful.kernel.arrays import Floats
from gainful.kernel.core import thread_count
from gainful.kernel.parallel import Progress, current_progress
from gainful.measures.base import Measure
from gainful.measures.catalog import DEFAULT_SESSION_MEASURES, parse_all
from gainful.measures.session_block import (
    SessionBlock,
    SessionMeasure,
    check_session_measures,
    raw_session_scores,
    session_blocks,
)
from gainful.notation import choose, printable, text_of_id
from gainful.policy import Policy
from gainful.tasks.sessions.session_choice import ExpectedSessions, SessionChoice

#: One system's sessions: all of them, a file of them, or in parts that are looked at one after the other.
SessionsLike: TypeAlias = Sessions | Iterable[Sessions] | Source

#: What looks at a system's sessions that have met the judgments: those of a part, which of them a block holds, and the
#: block.
SystemWatch: TypeAlias = Callable[[Sessions, slice, SessionBlock], None]


@overload
def evaluate_sessions(
    qrels: QrelsLike,
    sessions: Mapping[str, SessionsLike],
    measures: MeasuresLike = ...,
    *,
    judged_by: str | None = ...,
    policy: Policy | str | None = ...,
    threads: int | None = ...,
    progress: Progress | None = ...,
) -> Evaluations: ...
@overload
def evaluate_sessions(
    qrels: QrelsLike,
    sessions: SessionsLike,
    measures: MeasuresLike = ...,
    *,
    judged_by: str | None = ...,
    policy: Policy | str | None = ...,
    name: str | None = ...,
    threads: int | None = ...,
    progress: Progress | None = ...,
) -> Evaluation: ...
@warns
def evaluate_sessions(
    qrels: QrelsLike,
    sessions: SessionsLike | Mapping[str, SessionsLike],
    measures: MeasuresLike = DEFAULT_SESSION_MEASURES,
    *,
    judged_by: str | None = None,
    policy: Policy | str | None = None,
    name: str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Evaluation | Evaluations:
    """Scores one system's sessions, or those of several in a dict of their names, against judgments by topic, by
    session, by query or by the queries' texts.

    Without ``judged_by`` it is what gives the most sessions judgments: their topics, their ids, those of their
    queries, or what was typed, in this order. Sessions may come in parts, which need not be in memory together, or as
    a path that :meth:`gainful.Sessions.read` can read.

    >>> from gainful.data.sessions import sessions_from_lists
    >>> sessions = sessions_from_lists({"s1": [["d1", "d2"], ["d3"]]})
    >>> found = evaluate_sessions({"s1": {"d2": 2, "d3": 1}}, sessions, "sDCG(query_base=2)@10")
    >>> found.by_query("sDCG(query_base=2)@10")
    {'s1': 1.5}
    """
    systems = sessions if isinstance(sessions, Mapping) else {name or "": sessions}
    if systems is sessions and name is not None:
        raise UsageError("name: expected with the sessions of one system, found several, which have names")
    judged, wanted = Judged.of(qrels, policy), session_measures(parse_all(measures))
    scored = score_systems(judged, systems, wanted, judged_by=judged_by, threads=threads, progress=progress)
    found = scored.evaluations
    return Evaluations(found) if systems is sessions else found[name or ""]


def session_measures(measures: Sequence[Measure]) -> tuple[SessionMeasure, ...]:
    """The measures, all of sessions; refuses those of single queries, and those that cannot be distinguished."""
    wanted: dict[str, SessionMeasure] = {}
    for measure in measures:
        if not isinstance(measure, SessionMeasure):
            raise UsageError(
                f"{measure}: evaluates single queries, found sessions",
                "`gainful measures session` lists the measures of sessions, such as nsDCG@10",
            )
        if str(measure) in wanted:
            raise UsageError(f"expected different measures, found '{measure}' twice")
        wanted[str(measure)] = measure
    return tuple(wanted.values())


def parts_of(name: str, sessions: SessionsLike) -> Iterator[Sessions]:
    """A system's sessions in parts."""
    parts: object = [sessions] if isinstance(sessions, Sessions) else sessions
    if isinstance(sessions, (str, bytes, PathLike)):
        parts = Sessions.read_parts(sessions)
    if not isinstance(parts, Iterable) or isinstance(parts, Mapping):
        raise UsageError(f"sessions{f' of {name}' if name else ''}: expected Sessions, found {type(sessions).__name__}")
    for part in parts:
        if not isinstance(part, Sessions):
            raise UsageError(f"sessions: expected Sessions, found {type(part).__name__}")
        yield part
        del part  # before the next one is made, so that there are never two


class Scored(NamedTuple):
    """Every system's evaluation, and the systems of which no session was chosen."""

    evaluations: dict[str, Evaluation]
    left_out: list[str]


def score_systems(
    judged: Judged,
    sources: Mapping[str, SessionsLike],
    measures: Sequence[SessionMeasure],
    watch: Callable[[str], SystemWatch] | None = None,
    *,
    judged_by: str | None = None,
    choice: SessionChoice | None = None,
    by_system: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Scored:
    """Scores sources of sessions in parts, each one system under its name.

    ``by_system``: where sessions name their systems, each of these is one, whatever sources its sessions come from.
    ``watch`` is asked once for every system what is to see its blocks.
    """
    choice = choice or SessionChoice()
    cores = thread_count(threads)
    parts = {name: parts_of(name, each) for name, each in sources.items()}
    is_automatic = judged_by is None
    if judged_by is None:
        # The first part of every system decides.
        first = {name: list(islice(each, 1)) for name, each in parts.items()}
        judged_by = choose_judged_by(judged.qrels, list(chain(*first.values())))
        parts = {name: chain(_emptied(first[name]), each) for name, each in parts.items()}
    how = _Scoring(
        judged,
        tuple(measures),
        choose(judged_by, JUDGED_BY, "judged_by"),
        is_automatic,
        cores,
        progress or current_progress(),
    )
    expected = ExpectedSessions(judged, judged_by, choice)
    systems: dict[str, _System] = {}
    for name, each in parts.items():
        of_source: dict[str, _System] = {}
        for system, given in _by_system(name, each, by_system):
            if system not in systems and system not in of_source:
                of_source[system] = _System(how, system, None if watch is None else watch(system))
            part = expected.chosen(name, system, given)
            (of_source.get(system) or systems[system]).add(part)
            del given, part  # so that the next one is not read beside it
        if not of_source and not expected.has_met(name):
            raise InputError(f"{name or 'sessions'}: expected at least one session, found none")
        systems.update(of_source)
    choice.check(sum(each.count for each in systems.values()), ", ".join(map(printable, sources)))
    left_out = [name for name, system in systems.items() if not system.count and not choice.is_all]
    return Scored({name: each.evaluation(expected) for name, each in systems.items() if name not in left_out}, left_out)


def _emptied(parts: list[Sessions]) -> Iterator[Sessions]:
    """The parts, each of which is held no longer than needed."""
    while parts:
        yield parts.pop(0)


def _by_system(name: str, parts: Iterable[Sessions], by_system: bool) -> Iterator[tuple[str, Sessions]]:
    """The parts of a source, each with its system: the one that sessions name, or the source itself."""
    if not by_system:
        yield from ((name, part) for part in parts)
        return
    has_systems: bool | None = None
    for part in parts:
        if has_systems is None:
            has_systems = any(system is not None for system in part.systems)
        found = part.systems or (None,) * len(part)
        odd = next((i for i, system in enumerate(found) if (system is not None) != has_systems), None)
        if odd is not None:
            what = "none" if has_systems else f"'{printable(str(found[odd]))}'"
            raise InputError(
                f"{part.name}: expected a system for every session or for none, found {what} for '{part.ids[odd]}'"
            )
        if not has_systems:
            yield name, part
            continue
        yield from part.by_system()


def choose_judged_by(qrels: Qrels, parts: Sequence[Sessions]) -> str:
    """What gives the most sessions judgments: topic, session, query or text; where several do, the first of these.

    Only the first sessions decide, as many as are read at a time: it is the same for a file and for all in memory.
    Where two give all sessions judgments, and not the same ones, nobody can tell: somebody has to say.
    """
    parts = [part if len(part) <= PART_SIZE else part.part(0, PART_SIZE) for part in parts]
    count = sum(map(len, parts))
    turns = {judged_by: [judged_turns(qrels, part, judged_by) for part in parts] for judged_by in JUDGED_BY}
    met = {
        judged_by: sum(int(judged_sessions(part, found).sum()) for part, found in zip(parts, of_parts, strict=True))
        for judged_by, of_parts in turns.items()
    }
    chosen = max(JUDGED_BY, key=lambda judged_by: met[judged_by])  # the first of equals
    for other in JUDGED_BY:
        is_full = met[chosen] == met[other] == count
        if is_full and not all(map(np.array_equal, turns[chosen], turns[other])):
            raise UsageError(
                f"{qrels.name}: the judgments may be by {chosen} or by {other}: both kinds of ids are judged",
                f"--judged-by {chosen} or --judged-by {other} says which",
            )
    return chosen


@dataclass(frozen=True)
class _Scoring:
    """How all sessions of a call are scored. ``is_automatic``: nobody said what judgments are by, all was tried."""

    judged: Judged
    measures: tuple[SessionMeasure, ...]
    judged_by: str
    is_automatic: bool
    threads: int
    progress: Progress

    def scored(self, sessions: Sessions, watch: SystemWatch | None, is_there: bool) -> _Part:
        """Ranks sessions, lets them meet the judgments, and scores them block by block."""
        judged, measures = self.judged, self.measures
        ranked = rank_sessions(judged, sessions, self.judged_by, judged.policy, self.threads)
        check_session_measures(judged, ranked, measures)
        self.progress.total += len(sessions.lists)
        raw, met = np.full((len(measures), len(sessions)), np.nan), np.zeros(len(sessions), bool)
        shown = unjudged = 0
        extra_turns: list[bytes] = []
        # Threads are for the core: what is left holds the interpreter's lock most of the time.
        for chosen, make in session_blocks(judged, ranked, self.threads):
            block = make()
            met[chosen] = block.is_judged
            near = int(np.minimum(block.shown, 10)[block.is_judged_turn].sum())
            shown, unjudged = shown + near, unjudged + near - int(np.count_nonzero(block.documents.rank <= 10))
            raw[:, chosen] = raw_session_scores(block, measures)
            if is_there:  # queries without judgments that nobody asked are nothing to tell
                extra = np.flatnonzero(block.is_judged[block.session] & ~block.is_judged_turn)
                first = int(sessions.turn_offsets[chosen.start])
                extra_turns += [sessions.lists.query_ids[i] for i in (extra + first).tolist()]
            if watch is not None:
                watch(sessions, chosen, block)
            self.progress.advance(int(block.list_offsets[-1]))
        facts = replace(
            ranked.facts,
            extra_ids=tuple(sessions.session_ids[i] for i in np.flatnonzero(~met).tolist()),
            shown_at_10=shown,
            unjudged_at_10=unjudged,
            extra_turns=tuple(extra_turns),
            notes=(*judged.qrels.notes, *sessions.lists.notes),
            others_judged=judged.qrels.levels[0] <= 0,
        )
        kept = np.flatnonzero(met)
        ids = sessions.session_ids if met.all() else tuple(sessions.session_ids[i] for i in kept.tolist())
        texts = {topic: None if topic is None else text_of_id(topic) for topic in set(sessions.topics)}
        known = {
            "topic": tuple(map(texts.__getitem__, sessions.topics)),
            "user": sessions.users,
            QUERIES: () if sessions.gap is None else sessions.asked,
        }
        factors = {
            name: each if met.all() else tuple(each[i] for i in kept.tolist()) for name, each in known.items() if each
        }
        raw = raw if met.all() else raw[:, kept]
        return _Part(sessions.name, ids, raw, ranked.policy, facts, is_there, factors, sessions.gap)


class _Part(NamedTuple):
    """What was found in some sessions; only the judged ones have a column in ``raw``."""

    name: str
    session_ids: tuple[bytes, ...]
    raw: Floats
    policy: Policy
    facts: JoinFacts
    is_there: bool
    factors: Mapping[str, tuple[str | None, ...]]
    gap: float | None


class _System:
    """Scores one system's sessions part by part; of the parts only scores and facts are kept."""

    def __init__(self, how: _Scoring, name: str, watch: SystemWatch | None) -> None:
        self._how, self._name, self._watch = how, name, watch
        self._parts: list[_Part] = []
        self._disjoint: InputError | None = None
        #: How many sessions are there.
        self.count = 0

    def add(self, sessions: Sessions, *, is_there: bool = True) -> None:
        """Scores some sessions: the system's own, or missing ones, which stand for what it should have answered."""
        if not len(sessions):
            return
        self.count += len(sessions) if is_there else 0
        self._parts.append(self._how.scored(sessions, self._watch, is_there))
        if not self._parts[-1].session_ids:
            # Not the sessions themselves: a part that is scored need not stay in memory.
            self._disjoint = self._disjoint or _disjoint(self._how, sessions)

    def evaluation(self, expected: ExpectedSessions) -> Evaluation:
        """One evaluation of all parts and of what is missing; refuses sessions of which none is judged."""
        how, parts, qrels = self._how, self._parts, self._how.judged.qrels
        if not parts:
            raise InputError(f"{self._name or 'sessions'}: expected at least one session, found none")
        if self._disjoint is not None and not any(part.session_ids for part in parts) and not qrels.is_part:
            raise self._disjoint
        missing, first = expected.missing(self._name), parts[0]
        empty = expected.empty(self._name, missing)
        if empty is not None:
            self.add(empty, is_there=False)
        elif missing:  # nothing is known of them
            unknown = np.full((len(how.measures), len(missing)), np.nan)
            parts.append(_Part(first.name, missing, unknown, first.policy, JoinFacts(), False, {}, None))
        facts = JoinFacts()
        for part in parts:
            facts = facts.merge(part.facts, set())
        after = set(expected.unanswered(self._name))
        found = [identifier for part in parts for identifier in part.session_ids]
        order = sorted(range(len(found)), key=found.__getitem__)
        again = next((found[i] for i, j in pairwise(order) if found[i] == found[j]), None)
        if again is not None:
            raise InputError(f"{first.name}: expected every session once, found '{printable(again)}' in two parts")
        return Evaluation(
            self._name or first.name,
            first.name,
            tuple(found[i] for i in order),
            how.measures,
            np.concatenate([part.raw for part in parts], axis=1)[:, order],
            np.repeat([part.is_there for part in parts], [len(part.session_ids) for part in parts])[order],
            first.policy,
            qrels.scale,
            replace(
                facts,
                extra_turns=tuple(turn for turn in facts.extra_turns if turn not in after),
                unanswered_turns=tuple(sorted(after.intersection(qrels.query_ids))),
                unplaced_turns=tuple(expected.unplaced(self._name)),
            ),
            judged_by=how.judged_by,
            factors=factors_together([(len(part.session_ids), part.factors) for part in parts], order),
            session_gap=first.gap,
        )


def _disjoint(how: _Scoring, sessions: Sessions) -> InputError:
    qrels, judged_by = how.judged.qrels, None if how.is_automatic else how.judged_by
    ids = [f"session '{printable(sessions.session_ids[0])}'"] if len(sessions) else ["no session"]
    if sessions.topics and sessions.topics[0] is not None:
        ids.append(f"topic '{printable(sessions.topics[0])}'")
    if sessions.lists.query_ids:
        ids.append(f"query '{printable(sessions.lists.query_ids[0])}'")
    ways = f"{', '.join(JUDGED_BY[:-1])} or {JUDGED_BY[-1]}"
    return InputError(
        f"{sessions.name}: expected sessions that are judged by {judged_by or ways}, found none: there is "
        f"{', '.join(ids)}; {qrels.name} judges '{printable(qrels.query_ids[0])}'",
        f"judgments are by {ways}: judged_by (--judged-by) says which"
        if judged_by
        else next((note for note in sessions.lists.notes if "text" in note), None)
        or f"{', '.join(JUDGED_BY[:-1])} and {JUDGED_BY[-1]} were all tried; --session-separator changes how the "
        "queries of a run are called",
    )
