"""Sessions of several systems in one pass: every part is read once, scored, and shown to whoever watches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
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
from gainful.session_choice import SessionChoice
from gainful.session_evaluation import SessionScorer, choose_judged_by

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
        first = {name: next(each, None) for name, each in parts.items()}
        judged_by = choose_judged_by(judged.qrels, [part for part in first.values() if part is not None])
        parts = {name: each if (part := first[name]) is None else chain([part], each) for name, each in parts.items()}
    choose(judged_by, JUDGED_BY, "judged_by")
    expected = choice.expected(judged.qrels.query_ids if judged_by == "session" else ())
    scorers: dict[str, SessionScorer] = {}
    watches: dict[str, SystemWatch | None] = {}
    counts: dict[str, int] = {}
    for name, each in parts.items():
        of_source: dict[str, SessionScorer] = {}
        for system, whole in _by_system(name, each, by_system):
            if system not in scorers and system not in of_source:
                of_source[system] = SessionScorer(
                    judged, system, measures, judged_by, expected=expected, threads=threads, progress=progress
                )
                watches[system] = watch(system)
            part = choice.of(whole)
            counts[system] = counts.get(system, 0) + len(part)
            if len(part):
                _add(of_source.get(system) or scorers[system], part, watches[system])
        # Which system of a source came first says nothing: the order of its sessions is nobody's choice.
        scorers.update(sorted(of_source.items()))
    choice.check(sum(counts.values()), ", ".join(map(printable, sources)))
    left_out = [system for system in scorers if not counts[system] and not choice.is_all]
    evaluations = {system: scorer.evaluation() for system, scorer in scorers.items() if system not in left_out}
    return Scored(evaluations, left_out)


def _add(scorer: SessionScorer, part: Sessions, watch: SystemWatch | None) -> None:
    scorer.add(part, None if watch is None else lambda chosen, block: watch(part, chosen, block))


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
