"""Some of the sessions: named ones, those of a topic, those with enough queries.

From judgments and sessions to evaluations.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from gainful.data.graded import JoinFacts
from gainful.data.judged import Judged
from gainful.data.qrels import Qrels, QrelsLike
from gainful.data.sessions import JUDGED_BY, PART_SIZE, Sessions, judged_sessions, judged_turns, rank_sessions
from gainful.errors import InputError, UsageError
from gainful.evaluation.evaluate import MeasuresLike
from gainful.evaluation.results import Evaluation
from gainful.kernel.arrays import Floats
from gainful.kernel.core import default_threads
from gainful.kernel.parallel import Progress
from gainful.measures.base import Measure, read_whole
from gainful.measures.catalog import DEFAULT_SESSION_MEASURES, parse_all
from gainful.measures.session_block import SessionBlock, SessionMeasure, session_blocks
from gainful.measures.session_scoring import check_session_measures, raw_session_scores
from gainful.notation import bytes_of_id, nearest, printable, text_of_id
from gainful.policy import Policy


class SessionChoice:
    """Which sessions are looked at. Remembers what it was shown, so that it can say why nothing was left.

    >>> choice = SessionChoice(topics=["t1"], at_least=2)
    >>> queries = [{"results": ["d1"]}] * 2
    >>> sessions = Sessions.of([{"session": t, "topic": t, "queries": queries} for t in ("t1", "t2")])
    >>> choice.of(sessions).ids
    ['t1']
    """

    def __init__(
        self, sessions: Iterable[str | bytes] = (), topics: Iterable[str | bytes] = (), at_least: int | None = None
    ) -> None:
        self.sessions = frozenset(map(_identifier, _several(sessions, "sessions")))
        self.topics = frozenset(map(_identifier, _several(topics, "topics")))
        self.at_least = 1 if at_least is None else read_whole(at_least, "at_least")
        self._met_sessions: set[bytes] = set()
        self._met_topics: set[bytes] = set()
        self._near_sessions: list[str] = []
        self._longest = 0

    @property
    def is_all(self) -> bool:
        """Whether every session is chosen."""
        return not self.sessions and not self.topics and self.at_least == 1

    def expected(self, judged: Collection[bytes]) -> frozenset[bytes]:
        """Those of the judged sessions that have to be there."""
        # Nobody knows the topic or the number of queries of a session that is not there.
        if self.topics or self.at_least > 1:
            return frozenset()
        return self.sessions.intersection(judged) if self.sessions else frozenset(judged)

    def of(self, sessions: Sessions) -> Sessions:
        """Those of the sessions that are chosen."""
        if self.is_all:
            return sessions
        kept = np.ones(len(sessions), bool)
        if self.sessions:
            kept &= _members(sessions.session_ids, self.sessions)
            self._met_sessions.update(self.sessions.intersection(sessions.session_ids))
            self._near_sessions += sessions.ids[: 200 - len(self._near_sessions)]
        if self.topics:
            topics = sessions.topics or (None,) * len(sessions)
            kept &= _members(topics, self.topics)
            self._met_topics.update(topic for topic in topics if topic is not None)
        self._longest = max(self._longest, int(sessions.query_counts[kept].max(initial=0)))
        kept &= sessions.query_counts >= self.at_least
        return sessions if kept.all() else sessions.take(np.flatnonzero(kept).tolist())

    def check(self, found: int, name: str) -> None:
        """Refuses names that no session has, and a choice that leaves nothing."""
        for wanted, met, known, what in (
            (self.sessions, self._met_sessions, self._near_sessions, "session"),
            (self.topics, self._met_topics, sorted(map(text_of_id, self._met_topics)), "topic"),
        ):
            unknown = sorted(map(text_of_id, wanted - met))
            if unknown:
                shown = ", ".join(map(printable, known[:5])) + (", ..." if len(known) > 5 else "")
                there = f"there {'is' if len(known) == 1 else 'are'} {shown}" if known else "no session has one"
                raise InputError(
                    f"{name}: no {what} is called '{printable(unknown[0])}'; {there}", nearest(unknown[0], known)
                )
        if not found and not self.is_all:
            raise InputError(
                f"{name}: expected a session with at least {self.at_least} queries, found at most {self._longest}"
                if self._longest
                else f"{name}: expected a session that is chosen by both session and topic, found none"
            )


def _several(values: Iterable[str | bytes], what: str) -> Iterable[str | bytes]:
    if isinstance(values, (str, bytes)):
        raise UsageError(f"{what}: expected several ids, found one text, {values!r}")
    return values


def _identifier(value: str | bytes) -> bytes:
    return value if isinstance(value, bytes) else bytes_of_id(value)


def _members(ids: Sequence[bytes | None], wanted: frozenset[bytes]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.fromiter((identifier in wanted for identifier in ids), bool, len(ids))


#: One system's sessions: all of them, or in parts that are looked at one after the other.
SessionsLike: TypeAlias = Sessions | Iterable[Sessions]

#: What looks at sessions that have met the judgments: which they are in their part, and their block.
Watch: TypeAlias = Callable[[slice, SessionBlock], None]


def evaluate_sessions(
    qrels: QrelsLike,
    sessions: SessionsLike,
    measures: MeasuresLike = DEFAULT_SESSION_MEASURES,
    *,
    judged_by: str | None = None,
    policy: Policy | str | None = None,
    name: str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Scores one system's sessions against judgments by topic, by session or by query.

    Without ``judged_by`` it is what gives the most sessions judgments: their topics, their ids, or those of their
    queries, in this order. Sessions may come in parts, which need not be in memory together.

    >>> from gainful.data.sessions import sessions_from_lists
    >>> sessions = sessions_from_lists({"s1": [["d1", "d2"], ["d3"]]})
    >>> found = evaluate_sessions({"s1": {"d2": 2, "d3": 1}}, sessions, "sDCG(query_base=2)@10")
    >>> found.by_query("sDCG(query_base=2)@10")
    {'s1': 1.5}
    """
    key = name or ""
    found = evaluate_session_runs(
        qrels, {key: sessions}, measures, judged_by=judged_by, policy=policy, threads=threads, progress=progress
    )
    return found[key]


def evaluate_session_runs(
    qrels: QrelsLike,
    systems: Mapping[str, SessionsLike],
    measures: MeasuresLike = DEFAULT_SESSION_MEASURES,
    *,
    judged_by: str | None = None,
    policy: Policy | str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> dict[str, Evaluation]:
    """Scores the sessions of several systems against the same judgments. Each system may have sessions of its own."""
    if not isinstance(systems, Mapping):
        raise UsageError(f"systems: expected a dict of names and sessions, found {type(systems).__name__}")
    judged, wanted = Judged(Qrels.of(qrels), Policy.of(policy)), parse_all(measures)
    return evaluate_judged_sessions(judged, systems, wanted, judged_by=judged_by, threads=threads, progress=progress)


def evaluate_judged_sessions(
    judged: Judged,
    systems: Mapping[str, SessionsLike],
    measures: Sequence[Measure],
    *,
    judged_by: str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> dict[str, Evaluation]:
    """Scores sessions against judgments that are already prepared, under the policy they were prepared for."""
    from gainful.tasks.sessions.session_systems import score_systems  # which is made of what is below

    scored = score_systems(
        judged,
        {name: parts_of(name, sessions) for name, sessions in systems.items()},
        session_measures(measures),
        lambda _: None,
        judged_by=judged_by,
        threads=default_threads() if threads is None else read_whole(threads, "threads"),
        progress=progress,
    )
    return scored.evaluations


def choose_judged_by(qrels: Qrels, parts: Sequence[Sessions]) -> str:
    """What gives the most sessions judgments: topic, session or query; where several do, the first of these.

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


def session_measures(measures: Sequence[Measure]) -> tuple[SessionMeasure, ...]:
    """The measures, all of sessions; refuses those of single queries, and those that cannot be told apart."""
    wanted: dict[str, SessionMeasure] = {}
    for measure in measures:
        if not isinstance(measure, SessionMeasure):
            raise UsageError(
                f"{measure}: evaluates single queries, found sessions",
                "`gainful measures session` lists the measures of sessions, such as nsDCG@10",
            )
        if str(measure) in wanted:
            raise UsageError(f"expected measures that can be told apart, found '{measure}' twice")
        wanted[str(measure)] = measure
    return tuple(wanted.values())


def parts_of(name: str, sessions: SessionsLike) -> Iterator[Sessions]:
    """A system's sessions in parts."""
    parts = [sessions] if isinstance(sessions, Sessions) else sessions
    if not isinstance(parts, Iterable) or isinstance(parts, (str, bytes, Mapping)):
        raise UsageError(f"sessions{f' of {name}' if name else ''}: expected Sessions, found {type(sessions).__name__}")
    for part in parts:
        if not isinstance(part, Sessions):
            raise UsageError(f"sessions: expected Sessions, found {type(part).__name__}")
        yield part
        del part  # before the next one is made, so that there are never two


class _Part(NamedTuple):
    """What was found in some sessions; only the judged ones have a column in ``raw``."""

    name: str
    session_ids: tuple[bytes, ...]
    raw: Floats
    policy: Policy
    facts: JoinFacts
    is_there: bool = True


class SessionScorer:
    """Scores one system's sessions part by part; of the parts only scores and facts are kept."""

    def __init__(
        self,
        judged: Judged,
        name: str,
        measures: Sequence[SessionMeasure],
        judged_by: str,
        *,
        is_automatic: bool = False,
        threads: int = 1,
        progress: Progress | None = None,
    ) -> None:
        self.name = name
        self._is_automatic = is_automatic  # nobody said what judgments are by: all was tried
        self._judged, self._measures, self._judged_by = judged, tuple(measures), judged_by
        self._threads, self._progress = threads, progress or Progress()
        self._parts: list[_Part] = []
        self._disjoint: InputError | None = None

    def add(self, sessions: Sessions, watch: Watch | None = None, *, is_there: bool = True) -> None:
        """Scores some sessions; ``watch`` sees their blocks, one after the other, and which sessions each holds.

        ``is_there``: they are the system's own; others are missing, and stand for what it should have answered.
        """
        found = _scored(self._judged, sessions, self._measures, self._judged_by, self._threads, self._progress, watch)
        # Queries without judgments that nobody asked are nothing to tell.
        facts = found.facts if is_there else replace(found.facts, extra_turns=())
        self._parts.append(found._replace(is_there=is_there, facts=facts))
        if not found.session_ids:
            # Not the sessions themselves: a part that is scored need not stay in memory.
            self._disjoint = self._disjoint or _disjoint(
                self._judged.qrels, sessions, None if self._is_automatic else self._judged_by
            )

    def check(self) -> None:
        """Refuses sessions of which none is judged."""
        if not self._parts:
            raise InputError(f"{self.name or 'sessions'}: expected at least one session, found none")
        is_disjoint = self._disjoint is not None and not any(part.session_ids for part in self._parts)
        if self._disjoint is not None and is_disjoint and not self._judged.qrels.is_part:
            raise self._disjoint

    def evaluation(
        self,
        missing: Collection[bytes] = (),
        unanswered: Iterable[bytes] = (),
        unplaced: Iterable[bytes] = (),
    ) -> Evaluation:
        """One evaluation of all parts, sessions in byte order. Of ``missing`` sessions no value is known.

        ``unanswered`` are queries after the ends of sessions up to the last judged one, ``unplaced`` judged ones that
        no session has.
        """
        facts = JoinFacts()
        for part in self._parts:
            facts = facts.merge(part.facts, set())
        after = set(unanswered)
        facts = replace(
            facts,
            extra_turns=tuple(turn for turn in facts.extra_turns if turn not in after),
            unanswered_turns=tuple(sorted(after.intersection(self._judged.qrels.query_ids))),
            unplaced_turns=tuple(unplaced),
        )
        return _joined(self._judged, self.name, self._parts, self._measures, self._judged_by, missing, facts)


def _joined(
    judged: Judged,
    name: str,
    parts: Sequence[_Part],
    measures: tuple[SessionMeasure, ...],
    judged_by: str,
    missing: Collection[bytes],
    facts: JoinFacts,
) -> Evaluation:
    found = parts[0].session_ids + tuple(identifier for part in parts[1:] for identifier in part.session_ids)
    answered = np.repeat([part.is_there for part in parts], [len(part.session_ids) for part in parts])
    raw = np.concatenate([part.raw for part in parts], axis=1)
    missing = tuple(missing)
    if missing:
        found += missing
        answered = np.append(answered, np.zeros(len(missing), bool))
        raw = np.concatenate((raw, np.full((len(measures), len(missing)), np.nan)), axis=1)
    if missing or len(parts) > 1:  # one part alone is in order
        order = sorted(range(len(found)), key=found.__getitem__)
        found, answered, raw = tuple(found[i] for i in order), answered[order], raw[:, order]
        again = next((one for one, other in pairwise(found) if one == other), None)
        if again is not None:
            raise InputError(f"{parts[0].name}: expected every session once, found '{printable(again)}' in two parts")
    return Evaluation(
        name or parts[0].name,
        parts[0].name,
        found,
        measures,
        raw,
        answered,
        parts[0].policy,
        judged.qrels.scale,
        facts,
        judged_by=judged_by,
    )


def _scored(
    judged: Judged,
    sessions: Sessions,
    measures: tuple[SessionMeasure, ...],
    judged_by: str,
    threads: int,
    progress: Progress,
    watch: Watch | None,
) -> _Part:
    """Ranks sessions, lets them meet the judgments, and scores them block by block."""
    ranked = rank_sessions(judged, sessions, judged_by, judged.policy, threads)
    check_session_measures(judged, ranked, measures)
    progress.total += len(sessions.lists)
    raw, met = np.full((len(measures), len(sessions)), np.nan), np.zeros(len(sessions), bool)
    shown = unjudged = 0
    extra_turns: list[bytes] = []
    # Threads are for the core: what is left holds the interpreter's lock most of the time.
    for chosen, make in session_blocks(judged, ranked, threads):
        block = make()
        met[chosen] = block.is_judged
        shown_here, unjudged_here = _judged_at_10(block)
        shown, unjudged = shown + shown_here, unjudged + unjudged_here
        raw[:, chosen] = raw_session_scores(block, measures)
        extra_turns += _extra_turns(block, sessions, chosen)
        if watch is not None:
            watch(chosen, block)
        progress.advance(int(block.list_offsets[-1]))
    facts = replace(
        ranked.facts,
        extra_ids=tuple(sessions.session_ids[i] for i in np.flatnonzero(~met).tolist()),
        shown_at_10=shown,
        unjudged_at_10=unjudged,
        extra_turns=tuple(extra_turns),
    )
    if met.all():
        return _Part(sessions.name, sessions.session_ids, raw, ranked.policy, facts)
    kept = np.flatnonzero(met)
    return _Part(
        sessions.name, tuple(sessions.session_ids[i] for i in kept.tolist()), raw[:, kept], ranked.policy, facts
    )


def _extra_turns(block: SessionBlock, sessions: Sessions, chosen: slice) -> list[bytes]:
    """Queries of judged sessions that have no judgments themselves."""
    first = int(sessions.turn_offsets[chosen.start])
    extra = np.flatnonzero(block.is_judged[block.session] & ~block.is_judged_turn)
    return [sessions.lists.query_ids[i] for i in (extra + first).tolist()]


def _judged_at_10(block: SessionBlock) -> tuple[int, int]:
    """How many documents judged queries show in their first 10, and how many of them have no judgment."""
    shown = int(np.minimum(block.shown, 10)[block.is_judged_turn].sum())
    return shown, shown - int(np.count_nonzero(block.documents.rank <= 10))


def _disjoint(qrels: Qrels, sessions: Sessions, judged_by: str | None) -> InputError:
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
        else f"{', '.join(JUDGED_BY[:-1])} and {JUDGED_BY[-1]} were all tried; --session-separator changes how the "
        "queries of a run are called",
    )
