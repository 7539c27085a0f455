"""Sessions of several systems in one pass: every part is read once, scored, and shown to whoever watches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from typing import NamedTuple

from gainful.data.judged import Judged
from gainful.data.ranked_sessions import JUDGED_BY
from gainful.data.sessions import Sessions
from gainful.errors import InputError
from gainful.measures.session_base import SessionMeasure
from gainful.measures.session_block import SessionBlock
from gainful.notation import choose, printable
from gainful.progress import Progress
from gainful.results import Evaluation
from gainful.sessions.choice import SessionChoice
from gainful.sessions.evaluation import SessionScorer, choose_judged_by
from gainful.sessions.missing import ExpectedSessions

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
