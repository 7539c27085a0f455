"""Scores of several systems on sessions, by one measure. A session may be one system's own, as in a study with users,
or all systems may have answered the same ones: this decides whether anything is paired."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from gainful.errors import InputError, UsageError
from gainful.evaluation.score_files import QUERIES, FileScores, read_scores
from gainful.evaluation.score_matrix import Better, ScoreMatrix, better_of, checked_measure, chosen_measures, of_ids
from gainful.kernel.arrays import Floats
from gainful.measures.base import Measure
from gainful.notation import bytes_of_id, count_of, printable, some_of, units

if TYPE_CHECKING:
    from gainful.evaluation.evaluations import Evaluation
    from gainful.io.sources import Source, Text


@dataclass(frozen=True, eq=False, repr=False)
class SessionScores:
    """Scores by system and session, and what is known of sessions: ``factors`` (topic, user) by system and session.

    ``missing`` are scores of judged sessions that a system does not have: where sessions are paired they count against
    it, where they are not nobody knows whose they would have been. ``asked`` are the queries of sessions that were cut
    from logs: their ids say the same only where these do.

    >>> scores = SessionScores("nsDCG@10", "higher", {"old": {"u1": 0.5, "u2": 0.25}, "new": {"u3": 1.0}})
    >>> scores.pairing, scores.values("old").tolist()
    ('none', [0.5, 0.25])
    """

    measure: str
    better: Better
    scores: Mapping[str, Mapping[str, float]]
    factors: Mapping[str, Mapping[tuple[str, str], str]] = field(default_factory=dict)
    undefined: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    source: str = ""
    bounds: tuple[float, float] | None = None
    missing: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    asked: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for system, values in self.scores.items():
            if not values:
                origin = self.source or self.measure
                raise InputError(f"{origin}: expected sessions of '{printable(system)}' with a score, found none")

    def __repr__(self) -> str:
        sessions = ", ".join(f"{printable(name)} {len(each)}" for name, each in self.scores.items())
        return f"<SessionScores of {self.measure}: {sessions}>"

    @classmethod
    def of(
        cls,
        measure: str,
        scores: Mapping[str, Mapping[str, float | None]],
        better: Better | None = None,
        factors: Mapping[str, Mapping[tuple[str, str], str]] | None = None,
        source: str = "",
        missing: Iterable[tuple[str, str]] = (),
    ) -> SessionScores:
        """Scores in byte order of their sessions; those without a value are left out, and named."""
        absent, nobody = set(missing), dict[str, dict[str, float]]()
        known: dict[str, dict[str, float]] = {}
        undefined: dict[str, tuple[str, ...]] = {}
        for system, values in scores.items():
            given = {session: values[session] for session in sorted(values, key=bytes_of_id)}
            undefined[system] = tuple(session for session, value in given.items() if value is None)
            there = {session: value for session, value in given.items() if value is not None}
            known[system] = {session: value for session, value in there.items() if (system, session) not in absent}
            nobody[system] = {session: value for session, value in there.items() if (system, session) in absent}
        others = dict(factors or {})
        asked = others.pop(QUERIES, {})
        direction = better or better_of(measure)
        return cls(measure, direction, known, others, undefined, source, missing=nobody, asked=asked)

    @classmethod
    def from_evaluations(cls, evaluations: Mapping[str, Evaluation], measure: str | Measure) -> SessionScores:
        """What :func:`gainful.evaluate_sessions` found, after the policy."""
        found = checked_measure(evaluations, measure)
        factors: dict[str, dict[tuple[str, str], str]] = {}
        for system, evaluation in evaluations.items():
            for name, values in evaluation.factors.items():
                named = zip(evaluation.queries, values, strict=True)
                factors.setdefault(name, {}).update({(system, s): value for s, value in named if value is not None})
        scores = {system: evaluation.by_query(found) for system, evaluation in evaluations.items()}
        missing = [(system, session) for system, evaluation in evaluations.items() for session in evaluation.missing]
        assert found.better != "neither"
        return replace(cls.of(str(found), scores, found.better, factors, missing=missing), bounds=found.bounds)

    @property
    def systems(self) -> tuple[str, ...]:
        return tuple(self.scores)

    def values(self, system: str) -> Floats:
        """A system's scores, in byte order of their sessions."""
        return np.array(list(self.scores[system].values()), np.float64)

    def mean(self, system: str) -> float:
        """The mean of a system's scores, correctly rounded."""
        return math.fsum(self.scores[system].values()) / len(self.scores[system])

    def factor(self, name: str, system: str) -> list[str | None]:
        """The topic or user of each of a system's sessions."""
        known = self.factors.get(name, {})
        return [known.get((system, session)) for session in self.scores[system]]

    @cached_property
    def common(self) -> frozenset[str]:
        """The sessions that all systems have."""
        first, *others = (frozenset(each) for each in self.scores.values())
        return first.intersection(*others)

    @property
    def pairing(self) -> Literal["all", "some", "none"]:
        """Whether systems have the same sessions: most of them, some, or none that is under two systems."""
        every = [session for each in self.scores.values() for session in each]
        if len(set(every)) == len(every) or self._difference(QUERIES, self.asked):
            return "none"
        return "all" if 2 * len(self.common) > min(map(len, self.scores.values())) else "some"

    @cached_property
    def conflict(self) -> str | None:
        """What shows that ids which systems share are not of the same sessions: topics, users or queries differ."""
        differ = (self._difference(name, known) for name, known in [*self.factors.items(), (QUERIES, self.asked)])
        return next(filter(None, differ), None)

    def _difference(self, name: str, known: Mapping[tuple[str, str], str]) -> str | None:
        """The first session of which systems know something different."""
        seen: dict[str, tuple[str, str]] = {}
        for system in self.systems:
            for session in self.scores[system]:
                level = known.get((system, session))
                if level is None:
                    continue
                first, other = seen.setdefault(session, (system, level))
                if other != level:
                    return (
                        f"'{printable(session)}' with {name} {printable(other)} of {printable(first, 40)} and "
                        f"{printable(level)} of {printable(system, 40)}"
                    )
        return None

    def matrix(self) -> ScoreMatrix:
        """The scores of the sessions that all systems have; refuses ids that are not of the same sessions."""
        if self.conflict is not None:
            raise InputError(
                f"{self.source or self.measure}: systems share ids of sessions that are not the same: found "
                f"{self.conflict}",
                "give each system's sessions ids of their own, or gainful compare --test labels, which needs no pairs",
            )
        if not self.common:
            raise InputError(
                f"{self.source or self.measure}: expected sessions that all systems have, found none: each system has "
                "its own",
                "gainful compare compares such systems, by tests that need no pairs",
            )
        scores: dict[str, dict[str, float | None]] = {
            name: {**each, **self.missing.get(name, {}), **dict.fromkeys(self.undefined.get(name, ()))}
            for name, each in self.scores.items()
        }
        return replace(of_ids(self.measure, scores, self.better, self.source, "session"), bounds=self.bounds)

    def notices(self) -> list[str]:
        """Which sessions take no part."""
        return [
            f"{self.measure}: {units(len(sessions), 'session')} of {printable(system, 80)} without a score, left out: "
            f"{some_of(sessions)}"
            for system, sessions in self.undefined.items()
            if sessions
        ]


def read_session_scores(
    sources: Sequence[Source | Text], *, measures: Sequence[str] = (), better: Better | None = None
) -> dict[str, SessionScores]:
    """The scores of files that ``gainful sessions --by-session`` wrote, by measure: those named, or all as they come.

    A system's sessions may be spread over files.
    """
    files: dict[str, list[FileScores]] = {}
    for source in sources:
        for each in read_scores(source, None, None, None, any_measure=better is not None):
            if each.unit != "session":
                raise InputError(
                    f"{each.source}: expected scores of sessions as in other files, found those of queries"
                )
            files.setdefault(each.measure, []).append(each)
    found = {name: _together(name, parts, better) for name, parts in files.items()}
    return {name: found[name] for name in chosen_measures(measures, list(found))} if measures else found


def _together(measure: str, parts: Sequence[FileScores], better: Better | None) -> SessionScores:
    scores: dict[str, dict[str, float | None]] = {}
    factors: dict[str, dict[tuple[str, str], str]] = {}
    missing: set[tuple[str, str]] = set()
    for part in parts:
        missing.update(part.missing)
        for system, values in part.scores.items():
            before = scores.setdefault(system, {})
            again = sorted(before.keys() & values.keys())
            if again:
                raise InputError(
                    f"{part.source}: expected sessions that earlier files do not have, found "
                    f"{count_of(len(again), 'session')} of '{printable(system)}' again, '{printable(again[0])}' first"
                )
            before.update(values)
        for name, known in part.factors.items():
            factors.setdefault(name, {}).update(known)
    source = ", ".join(dict.fromkeys(part.source for part in parts))
    return SessionScores.of(measure, scores, better, factors, source, missing)


def scores_of_sessions(
    evaluations: Mapping[str, Evaluation], measures: Sequence[str | Measure] | None = None
) -> dict[str, SessionScores]:
    """By measure what was found of sessions: the measures named, or all that order systems by their means."""
    first = next(iter(evaluations.values()))
    wanted = measures or [each for each in first.measures if each.better != "neither"]
    if not wanted:
        raise UsageError("measures: expected one whose mean orders systems, found none")
    return {str(measure): SessionScores.from_evaluations(evaluations, measure) for measure in wanted}
