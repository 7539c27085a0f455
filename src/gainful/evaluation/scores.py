"""Scores by measure with their provenance: the one form from which systems are compared, planned for and ranked.

A session may be one system's own, as in a study with users, or all systems may have answered the same ones:
:class:`SessionScores` decides whether anything is paired.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from gainful.errors import InputError, UsageError
from gainful.evaluation.evaluations import Evaluation
from gainful.evaluation.results import QUERIES, chosen_measures
from gainful.evaluation.score_matrix import (
    Better,
    ScoreMatrix,
    aligned,
    better_of,
    checked_measure,
    matrix_notices,
)
from gainful.frozen import dataclass, field, replace
from gainful.io.sources import Source, open_source
from gainful.kernel.arrays import Floats
from gainful.measures.base import Measure
from gainful.notation import bytes_of_id, count_of, plural_of, printable, some_of, units
from gainful.pages.charts import Chart
from gainful.pages.page import Detail, Table
from gainful.render import Page, Showable

if TYPE_CHECKING:
    from gainful.data.queries import Queries

#: Anything that has scores: evaluations by name, matrices by measure, several matrices of one measure each, or one.
ScoresLike: TypeAlias = (
    "Scores | Mapping[str, ScoreMatrix] | Mapping[str, Evaluation] | Iterable[ScoreMatrix] | ScoreMatrix"
)


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
                raise InputError(f"{self.origin}: expected sessions of '{printable(system)}' with a score, found none")

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
        absent = set(missing)
        known: dict[str, dict[str, float]] = {system: {} for system in scores}
        unanswered: dict[str, dict[str, float]] = {system: {} for system in scores}
        undefined: dict[str, tuple[str, ...]] = dict.fromkeys(scores, ())
        for system, values in scores.items():
            for session in sorted(values, key=bytes_of_id):
                if (value := values[session]) is None:
                    undefined[system] += (session,)
                else:
                    (unanswered if (system, session) in absent else known)[system][session] = value
        others = dict(factors or {})
        asked = others.pop(QUERIES, {})
        direction = better or better_of(measure)
        return cls(measure, direction, known, others, undefined, source, missing=unanswered, asked=asked)

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
    def origin(self) -> str:
        """What messages call it: its source if it has one."""
        return self.source or self.measure

    @property
    def systems(self) -> tuple[str, ...]:
        return tuple(self.scores)

    @property
    def best_first(self) -> list[str]:
        """The systems by their means."""
        return sorted(self.systems, key=self.mean, reverse=self.better == "higher")

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

    def levels(self, name: str, system: str) -> int:
        """How many topics or users a system's sessions have."""
        return len({*self.factor(name, system)} - {None})

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
                f"{self.origin}: systems share ids of sessions that are not the same: found {self.conflict}",
                "give each system's sessions ids of their own, or gainful compare --test labels, which needs no pairs",
            )
        if not self.common:
            raise InputError(
                f"{self.origin}: expected sessions that all systems have, found none: each system has its own",
                "gainful compare compares such systems, by tests that need no pairs",
            )
        scores: dict[str, dict[str, float | None]] = {
            name: {**each, **self.missing.get(name, {}), **dict.fromkeys(self.undefined.get(name, ()))}
            for name, each in self.scores.items()
        }
        missing = frozenset((system, session) for system, each in self.missing.items() for session in each)
        how: dict[str, Any] = {"unit": "session", "bounds": self.bounds, "missing": missing}
        return ScoreMatrix.of(self.measure, scores, better=self.better, source=self.source, **how)

    def notices(self) -> list[str]:
        """Which sessions take no part."""
        return [
            f"{self.measure}: {units(len(sessions), 'session')} of {printable(system, 80)} without a score, left out: "
            f"{some_of(sessions)}"
            for system, sessions in self.undefined.items()
            if sessions
        ]


def scores_of_sessions(
    evaluations: Mapping[str, Evaluation], measures: Sequence[str | Measure] | None = None
) -> dict[str, SessionScores]:
    """By measure what was found of sessions: the measures named, or all that order systems by their means."""
    first = next(iter(evaluations.values()))
    wanted = measures or [each for each in first.measures if each.better != "neither"]
    if not wanted:
        raise UsageError("measures: expected one whose mean orders systems, found none")
    return {str(measure): SessionScores.from_evaluations(evaluations, measure) for measure in wanted}


@dataclass(frozen=True, eq=False, repr=False)
class Scores:
    """Scores of several systems by measure, the first measure being the primary one.

    Attributes:
        queries: A matrix per measure; empty for scores of sessions.
        sessions: The scores of sessions per measure, which may or may not be paired.
        evaluations: What the scores were computed by, if they were; conventions come from it.
        files: The files that were read.
        notices: Everything legal but suspicious, one line each.
    """

    queries: Mapping[str, ScoreMatrix] = field(default_factory=dict)
    sessions: Mapping[str, SessionScores] = field(default_factory=dict)
    evaluations: Mapping[str, Evaluation] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Scores by {', '.join(self.measures)}: {', '.join(self.systems)}>"

    @classmethod
    def of(cls, given: ScoresLike, measures: Sequence[str | Measure] | None = None) -> Scores:
        """The scores of whatever has some, by all of its measures that order systems or by those named.

        >>> Scores.of([ScoreMatrix.of("RR", {"old": [0.5], "new": [1.0]})])
        <Scores by RR: old, new>
        """
        if isinstance(given, Scores):
            if measures is None:
                return given
            names = chosen_measures([str(measure) for measure in measures], given.measures)
            return replace(
                given,
                queries={name: given.queries[name] for name in names if name in given.queries},
                sessions={name: given.sessions[name] for name in names if name in given.sessions},
            )
        if isinstance(given, Mapping) and given and isinstance(next(iter(given.values())), Evaluation):
            evaluations: Mapping[str, Evaluation] = given  # type: ignore[assignment]
            return cls._of_evaluations(evaluations, measures)
        found: dict[str, ScoreMatrix]
        if isinstance(given, Mapping):
            found = dict(given)  # type: ignore[arg-type]
        else:
            matrices = [given] if isinstance(given, ScoreMatrix) else list(given)
            found = {matrix.measure: matrix for matrix in matrices}
            if len(found) < len(matrices):
                names = [matrix.measure for matrix in matrices]
                twice = next(name for name in names if names.count(name) > 1)
                raise UsageError(f"scores: two matrices are by '{printable(twice)}'", "a dict gives names")
        if not found:
            raise UsageError("scores: expected at least one matrix, found none")
        if measures is not None:
            found = {name: found[name] for name in chosen_measures(list(map(str, measures)), list(found))}
        return cls(found, notices=tuple(matrix_notices(found)))

    @classmethod
    def _of_evaluations(cls, evaluations: Mapping[str, Evaluation], measures: Sequence[str | Measure] | None) -> Scores:
        first = next(iter(evaluations.values()))
        if first.unit == "session":
            sessions = scores_of_sessions(evaluations, measures)
            lines = tuple(line for each in sessions.values() for line in each.notices())
            return cls(sessions=sessions, evaluations=evaluations, notices=lines)
        chosen = [each for each in first.measures if each.orders_by_mean] if measures is None else measures
        if not chosen:
            raise UsageError("measures: expected one whose mean orders systems, found none")
        matrices = {str(measure): ScoreMatrix.from_evaluations(evaluations, measure) for measure in chosen}
        return cls(matrices, evaluations=evaluations, notices=tuple(matrix_notices(matrices)))

    @classmethod
    def read(
        cls,
        *files: Source,
        measures: Sequence[str] = (),
        rows: str | None = None,
        better: Better | None = None,
        queries: Queries | None = None,
    ) -> Scores:
        """Existing scores from files: what ``eval --by-query`` or ``sessions --by-session`` writes, or tables.

        A table has queries and systems; ``rows`` says which of them its rows are, ``better`` which values are better.
        """
        if not files:
            raise UsageError("scores: expected at least one file, found none")
        texts = [open_source(file) for file in files]
        from gainful.evaluation.score_files import read_files

        found = read_files(texts, measures, rows=rows, any_measure=better is not None)
        names = tuple(text.name for text in texts)
        if next(iter(found.values())).unit == "session":
            if rows is not None:
                raise UsageError("rows: has no meaning with scores of sessions")
            if queries is not None:
                raise UsageError("queries: has no meaning with sessions")
            sessions = {
                name: SessionScores.of(name, each.scores, better, each.factors, each.source, each.missing)
                for name, each in found.items()
            }
            lines = tuple(line for each in sessions.values() for line in each.notices())
            return cls(sessions=sessions, files=names, notices=lines)
        matrices = {name: ScoreMatrix.of_file(each, better) for name, each in found.items()}
        if queries is not None:
            matrices = {name: matrix.chosen(queries) for name, matrix in matrices.items()}
        return cls(matrices, files=names, notices=tuple(matrix_notices(matrices)))

    @property
    def measures(self) -> tuple[str, ...]:
        return tuple(self.sessions or self.queries)

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems of the primary measure."""
        by_measure: Mapping[str, ScoreMatrix | SessionScores] = self.sessions or self.queries
        return next((each.systems for each in by_measure.values()), ())

    @property
    def unit(self) -> str:
        """What scores are of: query or session."""
        return "session" if self.sessions else next((each.unit for each in self.queries.values()), "query")

    @cached_property
    def matrices(self) -> Mapping[str, ScoreMatrix]:
        """A matrix per measure; of sessions those that all systems have, which must be the same sessions."""
        if not self.sessions:
            return self.queries
        return {name: each.matrix() for name, each in self.sessions.items()}

    @property
    def has_repeats(self) -> bool:
        """Whether a system was run several times."""
        return any(matrix.repeats for matrix in self.queries.values())

    def with_repeats(self, runs_of: Mapping[str, Sequence[str]]) -> Scores:
        """The scores of systems, whose runs these are scores of; of a system's evaluations the first stays."""
        if all(len(names) == 1 for names in runs_of.values()):
            return self
        queries = {name: matrix.with_repeats(runs_of) for name, matrix in self.queries.items()}
        evaluations = {system: self.evaluations[names[0]] for system, names in runs_of.items()}
        return replace(self, queries=queries, evaluations=evaluations)

    @property
    def conventions(self) -> tuple[str, ...]:
        """The notes that say by which conventions scores were computed; none of scores from files."""
        if not self.evaluations:
            return ()
        first = next(iter(self.evaluations.values()))
        if first.unit == "session":  # of which systems may have more or fewer
            from gainful.evaluation.evaluation_page import conventions_of

            return tuple(conventions_of(self.evaluations.items()))
        return (first.signature().note(),)

    @property
    def header(self) -> dict[str, object]:
        """The provenance that opens JSON lines."""
        found: dict[str, object] = {}
        if self.evaluations:
            found["signature"] = str(next(iter(self.evaluations.values())).signature())
        return {**found, "sources": list(self.files)} if self.files else found

    def chosen(self, queries: Queries) -> Scores:
        """The scores on some queries, with what is known of them."""
        if self.sessions:
            raise UsageError("queries: has no meaning with sessions")
        if self.evaluations and not self.has_repeats:
            part = {name: each.chosen(queries) for name, each in self.evaluations.items()}
            found = Scores._of_evaluations(part, list(self.queries))
        else:
            matrices = {name: matrix.chosen(queries) for name, matrix in self.queries.items()}
            found = Scores(matrices, notices=tuple(matrix_notices(matrices)))
        return replace(found, files=self.files)

    def on_common(self) -> Scores:
        """The scores on the systems and queries that all measures have, with a notice of what is left out.

        >>> one = ScoreMatrix.of("P@5", {"a": {"q1": 1, "q2": 0}, "b": {"q1": 0, "q2": 0}})
        >>> both = Scores.of([one, ScoreMatrix.of("RR", {"b": {"q2": 0.5}, "a": {"q2": 1}})]).on_common()
        >>> both.matrices["RR"].systems, both.matrices["P@5"].queries, both.notices
        (('a', 'b'), ('q2',), ('1 query that not all measures score, left out: q1',))
        """
        matrices = self.matrices
        common = dict(zip(matrices, aligned(list(matrices.values())), strict=True))
        first = next(iter(common.values()))
        lines = list(dict.fromkeys([*self.notices, *matrix_notices(matrices)]))
        for singular, plural, kept, names in (
            ("system", "systems", first.systems, [matrix.systems for matrix in matrices.values()]),
            (first.unit, plural_of(first.unit), first.queries, [matrix.queries for matrix in matrices.values()]),
        ):
            lost = sorted({name for each in names for name in each}.difference(kept))
            if lost:
                shown = some_of(lost)
                lines.append(f"{count_of(len(lost), singular, plural)} that not all measures score, left out: {shown}")
        return replace(self, queries=common, sessions={}, notices=tuple(lines))


def check_size(matrices: Sequence[ScoreMatrix], *, queries: int = 1, systems: int = 2) -> None:
    """Refuse scores that have too few queries or systems."""
    first = matrices[0]
    for least, found, one, several in (
        (systems, len(first.systems), "system", "systems"),
        (queries, len(first.queries), "query", "queries"),
    ):
        if found < least:
            raise InputError(
                f"{first.origin}: expected at least {count_of(least, one, several)}, found {found}",
                "one system alone has no order" if one == "system" else None,
            )


@dataclass(frozen=True, eq=False, repr=False)
class ScoreReport(Showable):
    """What was found from scores, as something to show."""

    scores: Scores

    def __repr__(self) -> str:
        systems = count_of(len(self.scores.systems), "system")
        by = f" of {systems} by {', '.join(self.scores.measures)}" if self.scores.measures else ""
        return f"<{type(self).__name__}{by}>"

    @property
    def notices(self) -> tuple[str, ...]:
        """Everything suspicious, one line each."""
        return self.scores.notices

    @property
    def matrices(self) -> Mapping[str, ScoreMatrix]:
        """The scores by measure."""
        return self.scores.matrices

    @property
    def unit(self) -> str:
        """What scores are of: query or session."""
        return self.scores.unit

    def page_of(
        self, command: str, parts: Iterable[Table | Chart | Detail | str], header: Mapping[str, object]
    ) -> Page:
        """A page with the conventions and the provenance of the scores."""
        return Page(command, tuple(parts), self.scores.conventions, {**header, **self.scores.header})
