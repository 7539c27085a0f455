"""From judgments and sessions to evaluations."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from gainful.arrays import Bools, Floats, Ints
from gainful.core import default_threads
from gainful.data.graded import JoinFacts
from gainful.data.judged import Judged
from gainful.data.qrels import Qrels, QrelsLike
from gainful.data.ranked_sessions import JUDGED_BY, RankedSessions, judged_sessions, judged_turns, rank_sessions
from gainful.data.sessions import Sessions
from gainful.errors import InputError, UsageError
from gainful.evaluation import MeasuresLike, condenses
from gainful.measures.base import Measure
from gainful.measures.catalog import DEFAULT_SESSION_MEASURES
from gainful.measures.grammar import parse_all
from gainful.measures.parameters import read_whole
from gainful.measures.session_base import SessionMeasure
from gainful.measures.session_block import SessionBlock, session_blocks
from gainful.notation import choose, printable
from gainful.policy import Policy
from gainful.progress import Progress
from gainful.results import Evaluation

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

    >>> from gainful.session_lists import sessions_from_lists
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
    wanted = session_measures(measures)
    threads = default_threads() if threads is None else read_whole(threads, "threads")
    progress = progress or Progress()
    parts = {name: parts_of(name, sessions) for name, sessions in systems.items()}
    if judged_by is None:
        # The first part of every system decides.
        first = {name: list(islice(each, 1)) for name, each in parts.items()}
        judged_by, turns = _chosen_judged_by(judged.qrels, list(chain(*first.values())))
        given = {name: _again(first[name], turns, each) for name, each in parts.items()}
    else:
        given = {name: map(_Given, each) for name, each in parts.items()}
    choose(judged_by, JUDGED_BY, "judged_by")
    return {name: _evaluated(judged, name, each, wanted, judged_by, threads, progress) for name, each in given.items()}


def choose_judged_by(qrels: Qrels, parts: Sequence[Sessions]) -> str:
    """What gives the most sessions judgments: topic, session or query; where several do, the first of these."""
    return _chosen_judged_by(qrels, parts)[0]


def _chosen_judged_by(qrels: Qrels, parts: Sequence[Sessions]) -> tuple[str, list[Ints]]:
    """The same with what judges the turns of every part."""
    count, most = sum(map(len, parts)), -1
    for judged_by in JUDGED_BY:
        turns = [judged_turns(qrels, part, judged_by) for part in parts]
        met = sum(int(judged_sessions(*pair).sum()) for pair in zip(parts, turns, strict=True))
        if met > most:
            found, most = (judged_by, turns), met
        if met == count:
            break
    return found


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


class _Given(NamedTuple):
    """Some sessions, and what judges their turns, if that is known already."""

    sessions: Sessions
    judged_query: Ints | None = None


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


def _again(first: list[Sessions], turns: list[Ints], rest: Iterator[Sessions]) -> Iterator[_Given]:
    """The parts from the first one on, which has been looked at; ``turns`` is what judges the first parts of all."""
    while first:
        yield _Given(first.pop(), turns.pop(0))
    yield from map(_Given, rest)


class _Part(NamedTuple):
    """What was found in some sessions; only the judged ones have a column in ``raw``."""

    name: str
    session_ids: tuple[bytes, ...]
    raw: Floats
    policy: Policy
    facts: JoinFacts


def _evaluated(
    judged: Judged,
    name: str,
    parts: Iterable[_Given],
    measures: tuple[SessionMeasure, ...],
    judged_by: str,
    threads: int,
    progress: Progress,
) -> Evaluation:
    scorer = SessionScorer(judged, name, measures, judged_by, threads=threads, progress=progress)
    for part in parts:
        scorer.add(part.sessions, judged_query=part.judged_query)
        del part  # so that the next one is not read beside it
    return scorer.evaluation()


class SessionScorer:
    """Scores one system's sessions part by part; of the parts only scores and facts are kept.

    ``expected`` are the sessions that should be there: if None all that judgments by session name, by topic and query
    none.
    """

    def __init__(
        self,
        judged: Judged,
        name: str,
        measures: Sequence[SessionMeasure],
        judged_by: str,
        *,
        expected: Collection[bytes] | None = None,
        threads: int = 1,
        progress: Progress | None = None,
    ) -> None:
        self.name = name
        self._judged, self._measures, self._judged_by = judged, tuple(measures), judged_by
        self._threads, self._progress = threads, progress or Progress()
        if expected is None:
            # Only judgments by session say that a session should be there.
            expected = judged.qrels.query_ids if judged_by == "session" else ()
        self._expected = frozenset(expected)
        self._parts: list[_Part] = []
        self._disjoint: InputError | None = None

    def add(self, sessions: Sessions, watch: Watch | None = None, judged_query: Ints | None = None) -> None:
        """Scores some sessions; ``watch`` sees their blocks, one after the other, and which sessions each holds.

        ``judged_query`` is what judges their turns, if that is known already.
        """
        given = _Given(sessions, judged_query)
        found = _scored(self._judged, given, self._measures, self._judged_by, self._threads, self._progress, watch)
        self._parts.append(found)
        if not found.session_ids:
            # Not the sessions themselves: a part that is scored need not stay in memory.
            self._disjoint = self._disjoint or _disjoint(self._judged.qrels, sessions, self._judged_by)

    def evaluation(self) -> Evaluation:
        """One evaluation of all parts, sessions in byte order."""
        parts, judged = self._parts, self._judged
        if not parts:
            raise InputError(f"{self.name or 'sessions'}: expected at least one session, found none")
        if self._disjoint is not None and not any(part.session_ids for part in parts) and not judged.qrels.is_part:
            raise self._disjoint
        return _joined(judged, self.name, parts, self._measures, self._judged_by, self._expected)


def _joined(
    judged: Judged,
    name: str,
    parts: Sequence[_Part],
    measures: tuple[SessionMeasure, ...],
    judged_by: str,
    expected: frozenset[bytes],
) -> Evaluation:
    found = parts[0].session_ids + tuple(identifier for part in parts[1:] for identifier in part.session_ids)
    answered, raw = np.ones(len(found), bool), np.concatenate([part.raw for part in parts], axis=1)
    missing = tuple(sorted(expected.difference(found)))
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
    facts = parts[0].facts
    for part in parts[1:]:
        facts = facts.merge(part.facts, set())
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
    given: _Given,
    measures: tuple[SessionMeasure, ...],
    judged_by: str,
    threads: int,
    progress: Progress,
    watch: Watch | None,
) -> _Part:
    """Ranks sessions, lets them meet the judgments, and scores them block by block."""
    sessions = given.sessions
    ranked = rank_sessions(judged, sessions, judged_by, judged.policy, threads, given.judged_query)
    check_session_measures(judged, ranked, measures)
    progress.total += len(sessions.lists)
    raw, met = np.full((len(measures), len(sessions)), np.nan), np.zeros(len(sessions), bool)
    shown = unjudged = 0
    # Threads are for the core: what is left holds the interpreter's lock most of the time.
    for chosen, make in session_blocks(judged, ranked, threads):
        block = make()
        met[chosen] = block.is_judged
        shown_here, unjudged_here = _judged_at_10(block)
        shown, unjudged = shown + shown_here, unjudged + unjudged_here
        raw[:, chosen] = raw_session_scores(block, measures)
        if watch is not None:
            watch(chosen, block)
        progress.advance(int(block.list_offsets[-1]))
    facts = ranked.facts
    extra = _extra_ids(ranked, met)
    facts = JoinFacts(extra, facts.duplicate_count, facts.rank_conflicts, facts.float32_ties, shown, unjudged)
    if met.all():
        return _Part(sessions.name, sessions.session_ids, raw, ranked.policy, facts)
    kept = np.flatnonzero(met)
    return _Part(
        sessions.name, tuple(sessions.session_ids[i] for i in kept.tolist()), raw[:, kept], ranked.policy, facts
    )


def check_session_measures(judged: Judged, ranked: RankedSessions, measures: Sequence[SessionMeasure]) -> None:
    """Refuses measures that do not fit the judgments or the sessions."""
    levels = judged.levels
    if ranked.grade.size:
        given = ranked.grade[~np.isnan(ranked.grade)]
        levels = np.unique(np.concatenate((levels, given)))
    for measure in measures:
        measure.check(levels)
        measure.check_sessions(ranked)


def _extra_ids(ranked: RankedSessions, met: Bools) -> tuple[bytes, ...]:
    """What has no judgments: sessions, or where queries are judged the queries."""
    if ranked.judged_by != "query":
        return tuple(ranked.sessions.session_ids[i] for i in np.flatnonzero(~met).tolist())
    unjudged = ranked.judged_query < 0
    if ranked.grade.size:
        graded = np.concatenate(([0], np.cumsum(~np.isnan(ranked.grade))))[ranked.list_offsets]
        unjudged &= np.diff(graded) == 0
    return tuple(ranked.sessions.lists.query_ids[i] for i in np.flatnonzero(unjudged).tolist())


def _judged_at_10(block: SessionBlock) -> tuple[int, int]:
    """How many documents judged sessions show in their first 10, and how many of them have no judgment."""
    shown = int(np.minimum(block.shown, 10)[block.is_judged[block.session]].sum())
    return shown, shown - int(np.count_nonzero(block.documents.rank <= 10))


def _disjoint(qrels: Qrels, sessions: Sessions, judged_by: str) -> InputError:
    ids = [f"session '{printable(sessions.session_ids[0])}'"] if len(sessions) else ["no session"]
    if sessions.topics and sessions.topics[0] is not None:
        ids.append(f"topic '{printable(sessions.topics[0])}'")
    if sessions.lists.query_ids:
        ids.append(f"query '{printable(sessions.lists.query_ids[0])}'")
    return InputError(
        f"{sessions.name}: expected sessions that are judged by {judged_by}, found none: there is {', '.join(ids)}; "
        f"{qrels.name} judges '{printable(qrels.query_ids[0])}'",
        f"judgments are by {', '.join(JUDGED_BY[:-1])} or {JUDGED_BY[-1]}: judged_by (--judged-by) says which",
    )


def raw_session_scores(block: SessionBlock, measures: Sequence[SessionMeasure]) -> Floats:
    """Measures x sessions of a block, NaN where a formula is undefined."""
    scores = np.empty((len(measures), block.size))
    condensed: SessionBlock | None = None
    for i, measure in enumerate(measures):
        seen = block
        if condenses(measure, block.judged.policy):
            seen = condensed = condensed or block.condensed()
        values = np.asarray(measure.compute_sessions(seen), np.float64)
        if values.shape != (block.size,) or np.isinf(values).any():
            raise UsageError(
                f"{measure}: expected compute_sessions to return one finite score (or NaN) a session, found {values!r}"
            )
        scores[i] = values
    return scores
