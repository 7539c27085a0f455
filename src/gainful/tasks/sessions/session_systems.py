"""Judged turns that nobody answers: at the end of sessions that are there, and whole sessions that are not.

Sessions of several systems in one pass: every part is read once, scored, and shown to whoever watches.
Sessions made by hand, from lists of documents or of grades.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from typing import NamedTuple

import numpy as np

from gainful.data.judged import Judged
from gainful.data.run import Run
from gainful.data.sessions import JUDGED_BY, Sessions
from gainful.errors import InputError
from gainful.evaluation.results import Evaluation
from gainful.io.session_records import MOST_QUERIES
from gainful.kernel.arrays import Ints
from gainful.kernel.parallel import Progress
from gainful.measures.session_block import SessionBlock, SessionMeasure
from gainful.notation import choose, printable
from gainful.tasks.sessions.session_evaluation import SessionChoice, SessionScorer, choose_judged_by

_DIGITS = b"0123456789"
_LONGEST = len(str(MOST_QUERIES))


def separator_of(sessions: Sessions) -> bytes | None:
    """What stands between session and number in the ids of all turns; None where these are made in another way.

    >>> from gainful.data.sessions import sessions_from_lists
    >>> separator_of(sessions_from_lists({"s": [["a"], ["b"]]}, separator="/"))
    b'/'
    >>> separator_of(Sessions.of([{"session": "s", "queries": [{"id": "mine", "results": []}]}]))
    """
    found: bytes | None = None
    ids, offsets = sessions.lists.query_ids, sessions.turn_offsets.tolist()
    for session, first, end in zip(sessions.session_ids, offsets, offsets[1:], strict=False):
        for number, identifier in enumerate(ids[first:end], 1):
            if found is None:
                found = identifier[len(session) :].rstrip(_DIGITS)
            prefix = session + found
            if not found or not identifier.startswith(prefix) or _number(identifier[len(prefix) :]) != number:
                return None
    return found


def _number(text: bytes) -> int:
    """The number of a turn, 0 where it is none."""
    number = int(text) if text.isdigit() and len(text) <= _LONGEST else 0
    return number if number <= MOST_QUERIES else 0


class JudgedTurns:
    """The turns that judgments by query name, by session, wherever a separator tells which session that is."""

    def __init__(self, query_ids: Iterable[bytes]) -> None:
        self._query_ids = tuple(query_ids)
        self._by_separator: dict[bytes, dict[bytes, dict[int, bytes]]] = {}

    def by_session(self, separator: bytes) -> Mapping[bytes, Mapping[int, bytes]]:
        """For every judged session the ids of its judged turns, by number."""
        if separator not in self._by_separator:
            found: dict[bytes, dict[int, bytes]] = {}
            for identifier in self._query_ids:
                session, _, text = identifier.rpartition(separator)
                number = _number(text)
                if session and number:
                    found.setdefault(session, {})[number] = identifier
            self._by_separator[separator] = found
        return self._by_separator[separator]

    def completed(self, sessions: Sessions, separator: bytes) -> tuple[Sessions, tuple[bytes, ...]]:
        """The sessions with an empty page for every turn up to the last judged one, and these turns.

        >>> from gainful.data.sessions import sessions_from_lists
        >>> whole, added = JudgedTurns([b"s_1", b"s_3"]).completed(sessions_from_lists({"s": [["a"]]}), b"_")
        >>> whole.lists.queries, added
        (['s_1', 's_2', 's_3'], (b's_2', b's_3'))
        """
        judged, counts = self.by_session(separator), sessions.query_counts
        ends = [max(judged.get(session, ()), default=0) for session in sessions.session_ids]
        wanted = np.maximum(counts, np.array(ends, np.int64))
        if np.array_equal(wanted, counts):
            return sessions, ()
        offsets = np.append(0, np.cumsum(wanted))
        place = np.arange(int(counts.sum())) + np.repeat(offsets[:-1] - sessions.turn_offsets[:-1], counts)
        lists = sessions.lists
        ids = self._ids(sessions.session_ids, offsets, separator)
        shown, scanned = np.zeros(len(ids), np.int64), np.full(len(ids), -1)
        shown[place] = np.diff(lists.list_offsets)
        texts = [""] * len(ids)
        is_added = np.ones(len(ids), bool)
        is_added[place] = False
        added = tuple(ids[i] for i in np.flatnonzero(is_added).tolist())
        for turn, at in enumerate(place.tolist()):
            ids[at] = lists.query_ids[turn]
            texts[at] = sessions.texts[turn] if sessions.texts else ""
        if sessions.scanned.size:
            scanned[place] = sessions.scanned
        found = replace(
            sessions,
            turn_offsets=offsets,
            lists=replace(lists, query_ids=tuple(ids), list_offsets=np.append(0, np.cumsum(shown))),
            scanned=scanned if sessions.scanned.size else sessions.scanned,
            texts=tuple(texts) if sessions.texts else (),
        )
        return found, added

    def empty(self, name: str, session_ids: Collection[bytes], separator: bytes) -> Sessions:
        """Judged sessions that show nothing: an empty page for every turn up to the last judged one."""
        judged = self.by_session(separator)
        ordered = tuple(sorted(session_ids))
        offsets = np.append(0, np.cumsum(np.array([max(judged[session]) for session in ordered], np.int64)))
        ids = tuple(self._ids(ordered, offsets, separator))
        none = np.zeros(0, np.int64)
        lists = Run(name, ids, np.zeros(len(ids) + 1, np.int64), np.zeros(0, np.uint8), none, none, np.zeros(0))
        return Sessions(name, ordered, offsets, lists)

    def _ids(self, session_ids: Collection[bytes], offsets: Ints, separator: bytes) -> list[bytes]:
        """What turns are called: as the judgments have it, or session, separator, number."""
        judged = self.by_session(separator)
        return [
            judged.get(session, {}).get(number) or b"%b%b%d" % (session, separator, number)
            for session, count in zip(session_ids, np.diff(offsets).tolist(), strict=True)
            for number in range(1, count + 1)
        ]


class ExpectedSessions:
    """What the systems of a call should answer, because it is judged, and what each of them does not.

    Judged by session, a session that any of the systems has is nobody else's: only one that none has is missing, for
    all of them. Judged by query, every system should answer every judged session (but for those that its own source
    says to be another system's), and each to its last judged turn. By topic nobody knows who should have searched.
    """

    def __init__(self, judged: Judged, judged_by: str, choice: SessionChoice) -> None:
        self._judged, self._judged_by, self._choice = judged, judged_by, choice
        self._turns = JudgedTurns(judged.qrels.query_ids if judged_by == "query" else ())
        self._found: dict[str, set[bytes]] = {}  # by source
        self._sources: dict[str, set[str]] = {}  # by system
        self._separators: dict[str, set[bytes | None]] = {}  # by system
        self._added: dict[str, set[bytes]] = {}  # by system: the turns after the ends of its sessions
        self._met: dict[str, set[bytes]] = {}  # by system: the turns that are there

    def has_met(self, source: str) -> bool:
        """Whether a source has any sessions."""
        return source in self._found

    def chosen(self, source: str, system: str, sessions: Sessions) -> Sessions:
        """A system's sessions that are chosen; missing=zero adds judged turns after their ends as empty pages."""
        found_before = self._found.setdefault(source, set())
        if self._judged_by != "topic":  # of a topic no session is expected
            found_before.update(sessions.session_ids)
        self._sources.setdefault(system, set()).add(source)
        if self._judged_by != "query":
            return self._choice.of(sessions)
        separator = separator_of(sessions)
        self._separators.setdefault(system, set()).add(separator)
        self._met.setdefault(system, set()).update(sessions.lists.query_ids)
        if separator is None:
            return self._choice.of(sessions)
        whole, added = self._turns.completed(sessions, separator)
        found = self._choice.of(whole if self._judged.policy.missing == "zero" else sessions)
        if added:
            kept = set(found.session_ids)
            self._added.setdefault(system, set()).update(t for t in added if t.rpartition(separator)[0] in kept)
        return found

    def missing(self, system: str) -> tuple[bytes, ...]:
        """The judged sessions that a system should have and has not."""
        if self._judged_by == "session":
            expected: Collection[bytes] = self._judged.qrels.query_ids
            sources: Collection[str] = self._found
        else:
            separator = self._separator(system)
            expected = () if separator is None else self._turns.by_session(separator)
            sources = self._sources[system]
        wanted = self._choice.expected(expected)
        return tuple(sorted(wanted.difference(*(self._found[source] for source in sources))))

    def empty(self, system: str, missing: Collection[bytes]) -> Sessions | None:
        """Missing sessions as empty pages, where it is known how many they have and the policy wants them."""
        separator = self._separator(system)
        if not missing or separator is None or self._judged.policy.missing != "zero":
            return None
        return self._turns.empty(system, missing, separator)

    def unanswered(self, system: str) -> list[bytes]:
        """The turns after the ends of a system's sessions, up to the last judged one."""
        return sorted(self._added.get(system, ()))

    def unplaced(self, system: str) -> list[bytes]:
        """Judged turns that a system does not answer, where their ids do not tell whose they are."""
        if self._judged_by != "query" or self._separator(system) is not None or not self._choice.is_all:
            return []
        met = self._met[system].union(self._added.get(system, ()))
        return sorted(set(self._judged.qrels.query_ids) - met)

    def _separator(self, system: str) -> bytes | None:
        found = self._separators.get(system, set())
        return next(iter(found)) if len(found) == 1 else None


#: What looks at a system's sessions: those of a part, which of them a block holds, and the block.
SystemWatch = Callable[[Sessions, slice, SessionBlock], None]


class Scored(NamedTuple):
    """Every system's evaluation, and the systems of which no session was chosen."""

    evaluations: dict[str, Evaluation]
    left_out: list[str]


def score_systems(
    judged: Judged,
    sources: Mapping[str, Iterable[Sessions]],
    measures: Sequence[SessionMeasure],
    watch: Callable[[str], SystemWatch | None],
    *,
    judged_by: str | None = None,
    choice: SessionChoice | None = None,
    by_system: bool = False,
    threads: int = 1,
    progress: Progress | None = None,
) -> Scored:
    """Scores sources of sessions in parts, each one system under its name.

    ``by_system``: where sessions name their systems, each of these is one, whatever sources its sessions come from.
    ``watch`` is asked once for every system what is to see its blocks.
    """
    choice, progress = choice or SessionChoice(), progress or Progress()
    parts = {name: iter(each) for name, each in sources.items()}
    if judged_by is None:
        # The first part of every system decides.
        first = {name: list(islice(each, 1)) for name, each in parts.items()}
        judged_by, is_automatic = choose_judged_by(judged.qrels, list(chain(*first.values()))), True
        parts = {name: chain(_emptied(first[name]), each) for name, each in parts.items()}
    else:
        choose(judged_by, JUDGED_BY, "judged_by")
        is_automatic = False
    make = partial(SessionScorer, judged, judged_by=judged_by, threads=threads, progress=progress)
    expected = ExpectedSessions(judged, judged_by, choice)
    systems: dict[str, _System] = {}
    for name, each in parts.items():
        of_source: dict[str, _System] = {}
        for system, given in _by_system(name, each, by_system):
            if system not in systems and system not in of_source:
                scorer = make(name=system, measures=measures, is_automatic=is_automatic)
                of_source[system] = _System(scorer, watch(system))
            part = expected.chosen(name, system, given)
            (of_source.get(system) or systems[system]).add(part)
            del given, part  # so that the next one is not read beside it
        if not of_source and not expected.has_met(name):
            raise InputError(f"{name or 'sessions'}: expected at least one session, found none")
        # Which system of a source came first says nothing: the order of its sessions is nobody's choice.
        systems.update(sorted(of_source.items()))
    choice.check(sum(each.count for each in systems.values()), ", ".join(map(printable, sources)))
    left_out = [name for name, system in systems.items() if not system.count and not choice.is_all]
    evaluations = {
        name: _evaluation(name, system, expected) for name, system in systems.items() if name not in left_out
    }
    return Scored(evaluations, left_out)


def _emptied(parts: list[Sessions]) -> Iterator[Sessions]:
    """The parts, each of which is held no longer than needed."""
    while parts:
        yield parts.pop(0)


@dataclass
class _System:
    """What scores a system's sessions, what looks at them, and how many there are."""

    scorer: SessionScorer
    watch: SystemWatch | None
    count: int = 0

    def add(self, part: Sessions, is_there: bool = True) -> None:
        watch = self.watch
        self.count += len(part) if is_there else 0
        if len(part):
            seen = None if watch is None else lambda chosen, block: watch(part, chosen, block)
            self.scorer.add(part, seen, is_there=is_there)


def _evaluation(name: str, system: _System, expected: ExpectedSessions) -> Evaluation:
    system.scorer.check()
    missing = expected.missing(name)
    empty = expected.empty(name, missing)
    if empty is not None:
        system.add(empty, is_there=False)
        missing = ()
    return system.scorer.evaluation(missing, expected.unanswered(name), expected.unplaced(name))


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
        places: dict[str, list[int]] = {}
        for i, system in enumerate(found):
            places.setdefault(str(system), []).append(i)
        for system in sorted(places):
            yield system, part if len(places) == 1 else part.take(places[system])
