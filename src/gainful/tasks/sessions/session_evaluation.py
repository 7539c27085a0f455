"""Evaluation of sessions of several systems in one pass: each part is read once, scored and passed to watchers.

Also selects sessions, and finds judged queries and whole sessions that were not answered.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, compress, islice, pairwise, zip_longest
from operator import eq
from os import PathLike
from typing import TypeAlias, Unpack, overload

import numpy as np

from gainful.data.graded import JoinFacts
from gainful.data.judged import Judged
from gainful.data.qrels import Qrels, QrelsLike
from gainful.data.run import Run
from gainful.data.session_table import PART_SIZE, turn_ids
from gainful.data.sessions import JUDGED_BY, Sessions, judged_sessions, judged_turns, rank_sessions
from gainful.errors import InputError, UsageError, option, warns
from gainful.evaluation.beside import KINDS, Beside, loss_of, with_ends
from gainful.evaluation.evaluate import BesideOptions, MeasuresLike
from gainful.evaluation.evaluations import Evaluation, Evaluations
from gainful.evaluation.results import QUERIES, factors_together
from gainful.frozen import dataclass, field, replace
from gainful.io.session_records import MOST_QUERIES
from gainful.io.sources import Source
from gainful.kernel.arrays import Bools, Floats, offsets_of
from gainful.kernel.core import thread_count
from gainful.kernel.parallel import Progress, current_progress
from gainful.measures.base import Measure
from gainful.measures.catalog import DEFAULT_SESSION_MEASURES, parse_all
from gainful.measures.holes import has_exact_bounds, session_bound
from gainful.measures.loss import best_of_sessions, ends_of, is_split
from gainful.measures.session_block import (
    WHOLE,
    SessionBlock,
    SessionMeasure,
    check_session_measures,
    raw_session_scores,
    session_blocks,
)
from gainful.measures.session_gain import NSDCG, SessionGain
from gainful.notation import bytes_of_id, choose, nearest, printable, read_whole, some_of, text_of_id
from gainful.policy import Policy, PolicyLike

#: One system's sessions: all of them, a file, or an iterable of parts, which are processed one at a time.
SessionsLike: TypeAlias = Sessions | Iterable[Sessions] | Source
SystemsLike: TypeAlias = Mapping[str, SessionsLike]

#: Receives a system's judged sessions: a part, the slice of it in the block, and the block.
SystemWatch: TypeAlias = Callable[[Sessions, slice, SessionBlock], None]


class _Options(BesideOptions, total=False):
    judged_by: str | None


@overload
def evaluate_sessions(
    qrels: QrelsLike, sessions: SystemsLike, measures: MeasuresLike = ..., **options: Unpack[_Options]
) -> Evaluations: ...
@overload
def evaluate_sessions(
    qrels: QrelsLike,
    sessions: SessionsLike,
    measures: MeasuresLike = ...,
    *,
    name: str | None = ...,
    **options: Unpack[_Options],
) -> Evaluation: ...
@warns
def evaluate_sessions(
    qrels: QrelsLike,
    sessions: SessionsLike | SystemsLike,
    measures: MeasuresLike = DEFAULT_SESSION_MEASURES,
    *,
    judged_by: str | None = None,
    policy: PolicyLike = None,
    name: str | None = None,
    bounds: bool = False,
    chance: bool = False,
    loss: bool = False,
    loss_ranks: Sequence[int] = (100, 1000),
    threads: int | None = None,
) -> Evaluation | Evaluations:
    """Score sessions of one system, or of several in a dict by name, against judgments by topic, session, query or
    query text.

    By default, ``judged_by`` is the first of these under which the most sessions are judged. Sessions may come in
    parts, which need not be in memory together, or as a path that :meth:`gainful.Sessions.read` can read. ``bounds``,
    ``chance`` and ``loss`` (split at ``loss_ranks``) are as in :func:`gainful.evaluate`, for sDCG and nsDCG.

    >>> from gainful.data.sessions import sessions_from_lists
    >>> sessions = sessions_from_lists({"s1": [["d1", "d2"], ["d3"]]})
    >>> found = evaluate_sessions({"s1": {"d2": 2, "d3": 1}}, sessions, "sDCG(query_base=2)@10")
    >>> found.by_query("sDCG(query_base=2)@10")
    {'s1': 1.5}
    """
    systems = sessions if isinstance(sessions, Mapping) else {name or "": sessions}
    if systems is sessions and name is not None:
        raise UsageError("name: cannot be used with a dict of systems, which has names")
    judged, wanted = Judged.of(qrels, policy), session_measures(parse_all(measures))
    beside = Beside(bounds=bounds, chance=chance, loss=loss, loss_ranks=loss_ranks)
    found, _ = score_systems(judged, systems, wanted, judged_by=judged_by, beside=beside, threads=threads)
    return Evaluations(found) if systems is sessions else found[name or ""]


def session_measures(measures: Sequence[Measure]) -> tuple[SessionMeasure, ...]:
    """Return the measures; refuse measures of single queries and duplicates."""
    wanted: dict[str, SessionMeasure] = {}
    for measure in measures:
        if not isinstance(measure, SessionMeasure):
            hint = "`gainful measures session` lists the measures of sessions, such as nsDCG@10"
            raise UsageError(f"{measure}: a measure of single queries cannot score sessions", hint)
        if str(measure) in wanted:
            raise UsageError(f"duplicate measure '{measure}'")
        wanted[str(measure)] = measure
    return tuple(wanted.values())


def parts_of(name: str, sessions: SessionsLike) -> Iterator[Sessions]:
    """Yield a system's sessions in parts."""
    parts: object = [sessions] if isinstance(sessions, Sessions) else sessions
    if isinstance(sessions, (str, bytes, PathLike)):
        parts = Sessions.read_parts(sessions)
    if not isinstance(parts, Iterable) or isinstance(parts, Mapping):
        raise UsageError(f"sessions{f' of {name}' if name else ''}: expected Sessions, found {type(sessions).__name__}")
    for part in parts:
        if not isinstance(part, Sessions):
            raise UsageError(f"sessions: expected Sessions, found {type(part).__name__}")
        yield part
        del part  # before the next one is read, so that only one is in memory


def score_systems(
    judged: Judged,
    sources: Mapping[str, SessionsLike],
    measures: Sequence[SessionMeasure],
    watchers: Sequence[Callable[[str], SystemWatch]] = (),
    *,
    judged_by: str | None = None,
    choice: SessionChoice | None = None,
    by_system: bool = False,
    beside: Beside | None = None,
    threads: int | None = None,
) -> tuple[dict[str, Evaluation], list[str]]:
    """Return every system's evaluation, and the systems without a selected session.

    Each source is one system under its name. With ``by_system``, each system that sessions name is a system, in any
    source. ``watchers`` are called once per system and return the function that receives its blocks.
    """
    choice = choice or SessionChoice()
    cores = thread_count(threads)
    parts = {name: parts_of(name, each) for name, each in sources.items()}
    is_automatic = judged_by is None
    if judged_by is None:
        # The first part of every system is the sample.
        first = {name: list(islice(each, 1)) for name, each in parts.items()}
        judged_by = choose_judged_by(judged.qrels, list(chain(*first.values())))
        parts = {name: chain(_emptied(first[name]), each) for name, each in parts.items()}
    choose(judged_by, JUDGED_BY, "judged_by")
    besides = beside or Beside()
    further = [(measure, *each) for measure in measures for each in _further_values(measure, besides)]
    settings = choice, cores, current_progress(), besides, further
    how = _Scoring(judged, tuple(measures), judged_by, is_automatic, *settings)
    systems: dict[str, _System] = {}
    for name, each in parts.items():
        for system, part in _by_system(name, each, by_system):
            if system not in systems:
                systems[system] = _System(how, system, [watch(system) for watch in watchers])
            systems[system].add(name, part)
            del part  # before the next one is read
        if name not in how.found:
            raise InputError(f"{name or 'sessions'}: the input has no sessions")
    choice.check(sum(each.count for each in systems.values()), ", ".join(map(printable, sources)))
    left_out = [name for name, system in systems.items() if not system.count and not choice.is_all]
    return {name: each.evaluation() for name, each in systems.items() if name not in left_out}, left_out


def _emptied(parts: list[Sessions]) -> Iterator[Sessions]:
    """Yield the parts, releasing each."""
    while parts:
        yield parts.pop(0)


def _by_system(name: str, parts: Iterable[Sessions], by_system: bool) -> Iterator[tuple[str, Sessions]]:
    """Yield each part of a source with its system: the one named by its sessions, or the source."""
    has_systems: bool | None = None if by_system else False
    for part in parts:
        if has_systems is None:
            has_systems = any(system is not None for system in part.systems)
        if by_system:
            found = part.systems or (None,) * len(part)
            odd = next((i for i, system in enumerate(found) if (system is not None) != has_systems), None)
            if odd is not None:
                system = found[odd]
                which = "has no system" if system is None else f"has the system '{printable(str(system))}'"
                others = "others name one" if has_systems else "others name none"
                raise InputError(f"{part.name}: session '{part.ids[odd]}' {which}, but {others}")
        yield from part.by_system() if has_systems else [(name, part)]


def choose_judged_by(qrels: Qrels, parts: Sequence[Sessions]) -> str:
    """Return the first of topic, session, query and text under which the most sessions are judged.

    Only the first sessions, up to one part, are used, so files and memory give the same result. If two ways give all
    sessions judgments, but different ones, the choice is ambiguous and refused.
    """
    parts = [part if len(part) <= PART_SIZE else part.part(0, PART_SIZE) for part in parts]
    count = sum(map(len, parts))
    turns = {judged_by: [judged_turns(qrels, part, judged_by) for part in parts] for judged_by in JUDGED_BY}
    met = {}
    for judged_by, of_parts in turns.items():
        found = map(judged_sessions, (part.turn_offsets for part in parts), of_parts)
        met[judged_by] = sum(int(each.sum()) for each in found)
    chosen = max(JUDGED_BY, key=lambda judged_by: met[judged_by])  # the first of equals
    for other in JUDGED_BY:
        is_full = met[chosen] == met[other] == count
        if is_full and not all(map(np.array_equal, turns[chosen], turns[other])):
            hint = f"use --judged-by {chosen} or --judged-by {other}"
            raise UsageError(f"{qrels.name}: judgments by {chosen} and by {other} both match all sessions", hint)
    return chosen


@dataclass(frozen=True)
class _Scoring:
    """Scoring parameters of a call. ``is_automatic``: ``judged_by`` was not given, so all ways were tried."""

    judged: Judged
    measures: tuple[SessionMeasure, ...]
    judged_by: str
    is_automatic: bool
    choice: SessionChoice
    threads: int
    progress: Progress
    beside: Beside
    #: Measure, kind, name and computation of the values that follow the scores of all measures.
    further: list[tuple[SessionMeasure, str, str, Callable[[SessionBlock], Floats]]]
    found: dict[str, set[bytes]] = field(default_factory=dict)  # session IDs by source


def _further_values(
    measure: SessionMeasure, wanted: Beside
) -> Iterator[tuple[str, str, Callable[[SessionBlock], Floats]]]:
    if wanted.bounds and has_exact_bounds(measure):
        for end, name in enumerate(("lowest", "highest")):
            yield "bounds", name, partial(session_bound, measure=measure, end=end)
    if wanted.chance and isinstance(measure, SessionGain) and measure.is_linear:
        yield "chance", "chance", measure.expected
    if wanted.loss and isinstance(measure, NSDCG) and is_split(measure):
        for name, last in ends_of(measure, wanted.loss_ranks, WHOLE).items():
            yield "loss", name, partial(best_of_sessions, measure=measure, last=last)


def _settled(scored: Evaluation, kind: str, measure: Measure, raw: Mapping[str, Floats]) -> Mapping[str, Floats]:
    if kind == "bounds":
        return with_ends(scored, measure, *raw.values())
    if kind == "chance":
        return {"chance": scored.settled(measure, raw["chance"])}
    # An ideal session scores 1, unless it has no gain.
    score = scored.raw[scored.measures.index(measure)]
    return loss_of(scored, measure, raw, np.where(np.isnan(score) & scored.answered, np.nan, 1.0))


class _System:
    """Scorer of one system's sessions, part by part; only scores and facts are kept.

    Finds judged sessions and turns that the system should have answered but did not. Judged by session, each session
    belongs to one system, so only a session that no system has is missing, for all of them. Judged by query, every
    system should answer every judged session (except those that its source assigns to another system), up to the last
    judged turn. Judged by topic, no session is expected.
    """

    def __init__(self, how: _Scoring, name: str, watches: Sequence[SystemWatch]) -> None:
        self._how, self._name, self._watches = how, name, watches
        # For every part: whether its sessions exist, the IDs of judged sessions, their scores and factors.
        self._parts: list[tuple[bool, tuple[bytes, ...], Floats, Mapping[str, tuple[str | None, ...]]]] = []
        self._facts = [JoinFacts()]
        self._first: tuple[str, Policy, float | None] | None = None  # of the first part: source, policy, gap
        self._disjoint: InputError | None = None
        self._sources: set[str] = set()
        self._separators: set[bytes | None] = set()
        self._met: set[bytes] = set()  # existing turns
        self._added: set[bytes] = set()  # turns added after a session's end, up to the last judged one
        self.count = 0  # number of existing sessions

    def add(self, source: str, sessions: Sessions) -> None:
        """Score the selected sessions; missing=zero adds judged turns after their ends as empty pages."""
        how = self._how
        found_before = how.found.setdefault(source, set())
        if how.judged_by != "topic":  # topics imply no sessions
            found_before.update(sessions.session_ids)
        self._sources.add(source)
        separator = None
        if how.judged_by == "query":
            separator = separator_of(sessions)
            self._separators.add(separator)
            self._met.update(sessions.lists.query_ids)
        if separator is None:
            self._score(how.choice.of(sessions))
            return
        whole, added = self._completed(sessions, separator)
        chosen = how.choice.of(whole if how.judged.policy.missing == "zero" else sessions)
        kept = set(chosen.session_ids)
        self._added.update(turn for turn in added if turn.rpartition(separator)[0] in kept)
        self._score(chosen)

    def _score(self, sessions: Sessions, *, is_there: bool = True) -> None:
        """Score the system's sessions, or (unless ``is_there``) empty sessions for missing ones."""
        if not len(sessions):
            return
        self.count += len(sessions) if is_there else 0
        judged, measures, progress = self._how.judged, self._how.measures, self._how.progress
        ranked = rank_sessions(judged, sessions, self._how.judged_by, self._how.threads)
        check_session_measures(judged, ranked, measures)
        progress.total += len(sessions.lists)
        further = [compute for *_, compute in self._how.further]
        raw, met = np.zeros((len(measures) + len(further), len(sessions))), np.zeros(len(sessions), bool)
        shown = unjudged = 0
        extra_turns: list[bytes] = []
        # Threads are used in the core only: the rest holds the interpreter's lock most of the time.
        for chosen, block in session_blocks(judged, ranked, self._how.threads):
            met[chosen] = block.is_judged
            near = int(np.minimum(block.shown, 10)[block.is_judged_turn].sum())
            shown, unjudged = shown + near, unjudged + near - int(np.count_nonzero(block.documents.rank <= 10))
            raw[:, chosen] = [*raw_session_scores(block, measures), *(compute(block) for compute in further)]
            if is_there:  # added turns without judgments are not reported
                extra = np.flatnonzero(block.is_judged[block.session] & ~block.is_judged_turn)
                first = int(sessions.turn_offsets[chosen.start])
                extra_turns += [sessions.lists.query_ids[i] for i in (extra + first).tolist()]
            for watch in self._watches:
                watch(sessions, chosen, block)
            progress.advance(int(block.list_offsets[-1]))
        facts = replace(
            ranked.facts,
            extra_ids=tuple(sessions.session_ids[i] for i in np.flatnonzero(~met).tolist()),
            shown_at_10=shown,
            unjudged_at_10=unjudged,
            extra_turns=tuple(extra_turns),
            notes=(*judged.qrels.notes, *sessions.lists.notes),
            others_judged=judged.qrels.levels[0] <= 0,
        )
        texts = {topic: None if topic is None else text_of_id(topic) for topic in set(sessions.topics)}
        factors: dict[str, tuple[str | None, ...]] = {
            "topic": tuple(map(texts.__getitem__, sessions.topics)),
            "user": sessions.users,
            QUERIES: () if sessions.gap is None else sessions.asked,
        }
        factors, ids = {name: each for name, each in factors.items() if each}, sessions.session_ids
        if not met.all():
            kept = np.flatnonzero(met)
            factors = {name: tuple(each[i] for i in kept.tolist()) for name, each in factors.items()}
            ids, raw = tuple(ids[i] for i in kept.tolist()), raw[:, kept]
        self._parts.append((is_there, ids, raw, factors))
        self._facts.append(facts)
        self._first = self._first or (sessions.name, ranked.policy, sessions.gap)
        if not ids:
            # Build the error now: keeping the sessions would keep the part in memory.
            self._disjoint = self._disjoint or _disjoint(self._how, sessions)

    def evaluation(self) -> Evaluation:
        """Return one evaluation of all parts and of missing sessions; refuse sessions if none is judged."""
        how, parts, qrels = self._how, self._parts, self._how.judged.qrels
        if self._first is None:
            raise InputError(f"{self._name or 'sessions'}: the input has no sessions")
        if self._disjoint is not None and not any(ids for _, ids, *_ in parts) and not qrels.is_part:
            raise self._disjoint
        source, policy, gap = self._first
        separator, missing = self._separator, self._missing()
        if missing and separator is not None and how.judged.policy.missing == "zero":
            # As empty pages, because the number of turns is known.
            none = np.zeros(0, np.int64)
            lists = Run(self._name, (), np.zeros(1, np.int64), np.zeros(0, np.uint8), none, none, np.zeros(0))
            without_turns = Sessions(self._name, missing, np.zeros(len(missing) + 1, np.int64), lists)
            self._score(self._completed(without_turns, separator)[0], is_there=False)
        elif missing:  # with unknown lengths
            rows = len(how.measures) + len(how.further)
            parts.append((False, missing, np.full((rows, len(missing)), np.nan), {}))
        are_there, of_parts, raw, factors = zip(*parts, strict=True)
        found, sizes = list(chain(*of_parts)), list(map(len, of_parts))
        ids = sorted(found)
        again = next(compress(ids, map(eq, ids, ids[1:])), None)
        if again is not None:
            raise InputError(f"{source}: duplicate session '{printable(again)}' in two parts")
        unplaced: set[bytes] = set()  # unanswered judged turns that cannot be assigned to a session by their IDs
        if how.judged_by == "query" and separator is None and how.choice.is_all:
            unplaced = set(qrels.query_ids) - self._met - self._added
        facts = self._facts
        while len(facts) > 1:  # in pairs: many parts one by one would sort the same IDs again and again
            pairs = zip_longest(facts[::2], facts[1::2], fillvalue=JoinFacts())
            facts = [one.merge(other, set()) for one, other in pairs]
        # Sessions are sorted within a part, so a single part, the usual case, needs no reordering.
        order = slice(None) if ids == found else sorted(range(len(found)), key=found.__getitem__)
        values, count = np.concatenate(raw, axis=1)[:, order], len(how.measures)
        scored = Evaluation(
            self._name or source,
            source,
            tuple(ids),
            how.measures,
            values[:count],
            np.repeat(are_there, sizes)[order],
            policy,
            qrels.scale,
            replace(
                facts[0],
                extra_turns=tuple(turn for turn in facts[0].extra_turns if turn not in self._added),
                unanswered_turns=tuple(sorted(self._added.intersection(qrels.query_ids))),
                unplaced_turns=tuple(sorted(unplaced)),
            ),
            judged_by=how.judged_by,
            factors=factors_together(list(zip(sizes, factors, strict=True)), order),
            session_gap=gap,
        )
        raws: dict[str, dict[Measure, dict[str, Floats]]] = {kind: {} for kind in KINDS if getattr(how.beside, kind)}
        for (measure, kind, name, _), row in zip(how.further, values[count:], strict=True):
            raws[kind].setdefault(measure, {})[name] = row
        besides = {kind: {str(m): _settled(scored, kind, m, raw) for m, raw in of.items()} for kind, of in raws.items()}
        return replace(scored, besides=besides)

    def _completed(self, sessions: Sessions, separator: bytes) -> tuple[Sessions, tuple[bytes, ...]]:
        """Return the sessions with an empty page for every turn up to the last judged one, and these turns."""
        judged, counts = _judged_turns(self._how.judged, separator), sessions.query_counts
        ends = [max(judged.get(session, ()), default=0) for session in sessions.session_ids]
        wanted = np.maximum(counts, np.array(ends, np.int64))
        if np.array_equal(wanted, counts):
            return sessions, ()
        offsets = offsets_of(wanted)
        place = np.arange(int(counts.sum())) + np.repeat(offsets[:-1] - sessions.turn_offsets[:-1], counts)
        # Turns keep their ID from the judgments; others are session, separator, number.
        ids = turn_ids(sessions.session_ids, offsets, separator)
        for session, first in zip(sessions.session_ids, offsets.tolist(), strict=False):
            for number, identifier in judged.get(session, {}).items():
                ids[first + number - 1] = identifier
        is_added = np.ones(len(ids), bool)
        is_added[place] = False
        added = tuple(ids[i] for i in np.flatnonzero(is_added).tolist())
        return sessions.with_turns(offsets, place, ids), added

    @property
    def _separator(self) -> bytes | None:
        """The separator between session and number in all query IDs, if there is only one."""
        return next(iter(self._separators)) if len(self._separators) == 1 else None

    def _missing(self) -> tuple[bytes, ...]:
        how, expected = self._how, frozenset[bytes]()
        sources: Collection[str] = self._sources
        if how.judged_by == "session":
            expected, sources = how.choice.expected(how.judged.qrels.query_ids), how.found
        elif self._separator is not None:
            expected = how.choice.expected(_judged_turns(how.judged, self._separator))
        return tuple(sorted(expected.difference(*(how.found[source] for source in sources))))


def _disjoint(how: _Scoring, sessions: Sessions) -> InputError:
    qrels, judged_by = how.judged.qrels, None if how.is_automatic else how.judged_by
    ids = [f"session '{printable(sessions.session_ids[0])}'"]
    if sessions.topics and sessions.topics[0] is not None:
        ids.append(f"topic '{printable(sessions.topics[0])}'")
    if sessions.lists.query_ids:
        ids.append(f"query '{printable(sessions.lists.query_ids[0])}'")
    ways = f"{', '.join(JUDGED_BY[:-1])} or {JUDGED_BY[-1]}"
    return InputError(
        f"{sessions.name}: no session is judged by {judged_by or ways}: the first has "
        f"{', '.join(ids)}; {qrels.name} judges '{printable(qrels.query_ids[0])}'",
        f"choose {ways} with judged_by (--judged-by)"
        if judged_by
        else next((note for note in sessions.lists.notes if "text" in note), None)
        or f"{', '.join(JUDGED_BY[:-1])} and {JUDGED_BY[-1]} were all tried; --session-separator changes the query "
        "IDs of a run",
    )


class SessionChoice:
    """A selection of sessions that records the IDs it was given, for error messages.

    >>> choice = SessionChoice(topics=["t1"], at_least=2)
    >>> queries = [{"results": ["d1"]}] * 2
    >>> sessions = Sessions.of([{"session": t, "topic": t, "queries": queries} for t in ("t1", "t2")])
    >>> choice.of(sessions).ids
    ['t1']
    """

    def __init__(
        self, sessions: Iterable[str | bytes] = (), topics: Iterable[str | bytes] = (), at_least: int | None = None
    ) -> None:
        self.sessions, self.topics = (
            frozenset(each if isinstance(each, bytes) else bytes_of_id(each) for each in ids)
            for ids in (sessions, topics)
        )
        self.at_least = 1 if at_least is None else read_whole(at_least, "at_least")
        self.is_all = not self.sessions and not self.topics and self.at_least == 1
        self._met_sessions: set[bytes] = set()
        self._met_topics: set[bytes] = set()
        self._near_sessions: list[str] = []
        self._longest = 0

    def expected(self, judged: Collection[bytes]) -> frozenset[bytes]:
        """Return the judged sessions that must be present."""
        # The topic and length of an absent session are unknown.
        if self.topics or self.at_least > 1:
            return frozenset()
        return self.sessions.intersection(judged) if self.sessions else frozenset(judged)

    def of(self, sessions: Sessions) -> Sessions:
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
        """Refuse names that no session has, and an empty selection."""
        for wanted, met, known, what in (
            (self.sessions, self._met_sessions, self._near_sessions, "session"),
            (self.topics, self._met_topics, sorted(map(text_of_id, self._met_topics)), "topic"),
        ):
            unknown = sorted(map(text_of_id, wanted - met))
            if unknown:
                shown = some_of(known)
                there = f"there {'is' if len(known) == 1 else 'are'} {shown}" if known else f"no session has a {what}"
                message = f"{name}: unknown {what} '{printable(unknown[0])}'; {there}"
                raise InputError(message, nearest(unknown[0], known))
        if not found and not self.is_all:
            if self._longest:
                raise InputError(f"{name}: no session has {self.at_least} queries; the longest has {self._longest}")
            raise InputError(f"{name}: no session matches both {option('session')} and {option('topic')}")


def _members(ids: Sequence[bytes | None], wanted: frozenset[bytes]) -> Bools:
    return np.fromiter((identifier in wanted for identifier in ids), bool, len(ids))


def separator_of(sessions: Sessions) -> bytes | None:
    """Return the separator of session and number that the IDs of all turns share; None if there is none.

    >>> from gainful.data.sessions import sessions_from_lists
    >>> separator_of(sessions_from_lists({"s": [["a"], ["b"]]}, separator="/"))
    b'/'
    >>> separator_of(Sessions.of([{"session": "s", "queries": [{"id": "mine", "results": []}]}]))
    """
    found: bytes | None = None
    ids, offsets = sessions.lists.query_ids, sessions.turn_offsets.tolist()
    for session, (first, end) in zip(sessions.session_ids, pairwise(offsets), strict=True):
        for number, identifier in enumerate(ids[first:end], 1):
            if found is None:
                found = identifier[len(session) :].rstrip(b"0123456789")
            prefix = session + found
            if not found or not identifier.startswith(prefix) or _turn_number(identifier[len(prefix) :]) != number:
                return None
    return found


def _turn_number(text: bytes) -> int:
    """Return the number of a turn, or 0 if the text is not one."""
    number = int(text) if text.isdigit() and len(text) <= len(str(MOST_QUERIES)) else 0
    return number if number <= MOST_QUERIES else 0


def _judged_turns(judged: Judged, separator: bytes) -> dict[bytes, dict[int, bytes]]:
    def index_turns() -> dict[bytes, dict[int, bytes]]:
        found: dict[bytes, dict[int, bytes]] = {}
        for identifier in judged.qrels.query_ids:
            session, _, text = identifier.rpartition(separator)
            number = _turn_number(text)
            if session and number:
                found.setdefault(session, {})[number] = identifier
        return found

    return judged.cached(("judged turns", separator), index_turns)
