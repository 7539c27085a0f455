"""Scores by measure with their provenance, the common input of comparison, power analysis and stability.

Sessions may belong to one system each, as in a user study, or be answered by all systems; :class:`SessionScores`
decides whether scores are paired.
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
from gainful.evaluation.score_matrix import Better, ScoreMatrix, aligned, better_of, checked_measure, matrix_notices
from gainful.frozen import dataclass, field, replace
from gainful.io.sources import Source, open_source
from gainful.kernel.arrays import Floats
from gainful.measures.base import Measure
from gainful.notation import bytes_of_id, count_of, plural_of, printable, some_of, units
from gainful.pages.page import Detail, Table
from gainful.render import Page, Showable

if TYPE_CHECKING:
    from gainful.data.judged import Judged
    from gainful.data.queries import Queries
    from gainful.data.run import RunLike
    from gainful.pages.charts import Chart

#: Evaluations by name, matrices by measure, several matrices of one measure each, or a single matrix.
ScoresLike: TypeAlias = (
    "Scores | Mapping[str, ScoreMatrix] | Mapping[str, Evaluation] | Iterable[ScoreMatrix] | ScoreMatrix | Evaluation"
)


@dataclass(frozen=True, eq=False, repr=False)
class SessionScores:
    """Scores by system and session, with facts about sessions.

    >>> scores = SessionScores("nsDCG@10", "higher", {"old": {"u1": 0.5, "u2": 0.25}, "new": {"u3": 1.0}})
    >>> scores.pairing, scores.values("old").tolist()
    ('none', [0.5, 0.25])
    """

    measure: str
    better: Better
    scores: Mapping[str, Mapping[str, float]]
    #: Topics and users, by system and session.
    factors: Mapping[str, Mapping[tuple[str, str], str]] = field(default_factory=dict)
    undefined: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    source: str = ""
    bounds: tuple[float, float] | None = None
    #: Scores of judged sessions that a system lacks. They count against the system only if sessions are paired.
    missing: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    #: The queries of sessions cut from logs, whose made-up IDs match only if the queries do.
    asked: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for system, values in self.scores.items():
            if not values:
                raise InputError(f"{self.origin}: no session of '{printable(system)}' has a score")

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
        """Order scores by session ID; drop and name sessions without a value."""
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
        """Collect the results of :func:`gainful.evaluate_sessions` under the policy."""
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
        """The name in messages: the source, or else the measure."""
        return self.source or self.measure

    @property
    def systems(self) -> tuple[str, ...]:
        return tuple(self.scores)

    @property
    def best_first(self) -> list[str]:
        """The systems ordered by mean, best first."""
        return sorted(self.systems, key=self.mean, reverse=self.better == "higher")

    def values(self, system: str) -> Floats:
        """Return a system's scores, in byte order of session IDs."""
        return np.array(list(self.scores[system].values()), np.float64)

    def mean(self, system: str) -> float:
        """Return the mean of a system's scores, correctly rounded."""
        return math.fsum(self.scores[system].values()) / len(self.scores[system])

    def factor(self, name: str, system: str) -> list[str | None]:
        """Return the topic or user of each of a system's sessions."""
        known = self.factors.get(name, {})
        return [known.get((system, session)) for session in self.scores[system]]

    def levels(self, name: str, system: str) -> int:
        """Return the number of distinct topics or users of a system's sessions."""
        return len({*self.factor(name, system)} - {None})

    @cached_property
    def common(self) -> frozenset[str]:
        """The sessions that all systems share."""
        first, *others = (frozenset(each) for each in self.scores.values())
        return first.intersection(*others)

    @property
    def pairing(self) -> Literal["all", "some", "none"]:
        """Whether systems share most sessions, some, or none."""
        every = [session for each in self.scores.values() for session in each]
        if len(set(every)) == len(every) or self._difference(QUERIES, self.asked):
            return "none"
        return "all" if 2 * len(self.common) > min(map(len, self.scores.values())) else "some"

    @cached_property
    def conflict(self) -> str | None:
        """Evidence that a shared session ID belongs to different sessions: topics, users or queries differ."""
        differ = (self._difference(name, known) for name, known in [*self.factors.items(), (QUERIES, self.asked)])
        return next(filter(None, differ), None)

    def _difference(self, name: str, known: Mapping[tuple[str, str], str]) -> str | None:
        """Describe the first session for which systems disagree."""
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
        """Return the scores of the shared sessions; raise InputError if shared IDs belong to different sessions."""
        if self.conflict is not None:
            hint = "use distinct session IDs, or gainful compare --test labels, which needs no pairs"
            raise InputError(f"{self.origin}: systems use the same IDs for different sessions: {self.conflict}", hint)
        if not self.common:
            hint = "use gainful compare, which has tests for unpaired sessions"
            raise InputError(f"{self.origin}: no session is shared by all systems", hint)
        scores: dict[str, dict[str, float | None]] = {
            name: {**each, **self.missing.get(name, {}), **dict.fromkeys(self.undefined.get(name, ()))}
            for name, each in self.scores.items()
        }
        missing = frozenset((system, session) for system, each in self.missing.items() for session in each)
        how: dict[str, Any] = {"unit": "session", "bounds": self.bounds, "missing": missing}
        return ScoreMatrix.of(self.measure, scores, better=self.better, source=self.source, **how)

    def notices(self) -> list[str]:
        """Return notices of sessions that were left out."""
        return [
            f"{self.measure}: {units(len(sessions), 'session')} of {printable(system, 80)} without a score, left out: "
            f"{some_of(sessions)}"
            for system, sessions in self.undefined.items()
            if sessions
        ]


def scores_of_sessions(
    evaluations: Mapping[str, Evaluation], measures: Sequence[str | Measure] | None = None
) -> dict[str, SessionScores]:
    """Return session scores by measure: the named measures, or all whose means order systems."""
    first = next(iter(evaluations.values()))
    wanted = measures or [each for each in first.measures if each.better != "neither"]
    if not wanted:
        raise UsageError("measures: none has a mean that orders systems")
    return {str(measure): SessionScores.from_evaluations(evaluations, measure) for measure in wanted}


@dataclass(frozen=True, eq=False, repr=False)
class Scores:
    """Scores of several systems by measure; the first measure is the primary one.

    Attributes:
        queries: A matrix per measure; empty for scores of sessions.
        sessions: The scores of sessions per measure, paired or not.
        evaluations: The evaluations that produced the scores, if any; the source of conventions.
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
        """Convert anything with scores, by all measures that order systems or by those named.

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
        if isinstance(given, Evaluation):
            given = {given.run or given.source: given}
        if isinstance(given, Mapping) and given and isinstance(next(iter(given.values())), Evaluation):
            evaluations: Mapping[str, Evaluation] = given  # type: ignore[assignment]
            return cls._of_evaluations(evaluations, measures)
        found: dict[str, ScoreMatrix]
        if isinstance(given, Mapping):
            found = dict(given)  # type: ignore[arg-type]
        else:
            matrices = [given] if isinstance(given, ScoreMatrix) else [*given]
            if not all(isinstance(each, ScoreMatrix) for each in matrices):
                raise UsageError(
                    f"scores: expected evaluations by name, or a ScoreMatrix, found {type(given).__name__}"
                )
            found = {matrix.measure: matrix for matrix in matrices}
            if len(found) < len(matrices):
                names = [matrix.measure for matrix in matrices]
                twice = next(name for name in names if names.count(name) > 1)
                raise UsageError(f"scores: duplicate measure '{printable(twice)}'", "a dict gives names")
        if not found:
            raise UsageError("scores: no matrices")
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
            raise UsageError("measures: none has a mean that orders systems")
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
        """Read existing scores from the output of ``eval --by-query`` or ``sessions --by-session``, or from tables.

        Tables have queries and systems; ``rows`` is the kind of their rows, ``better`` the better direction.
        """
        if not files:
            raise UsageError("scores: no files")
        texts = [open_source(file) for file in files]
        from gainful.evaluation.score_files import read_files

        found = read_files(texts, measures, rows=rows, any_measure=better is not None)
        names = tuple(text.name for text in texts)
        if next(iter(found.values())).unit == "session":
            if rows is not None:
                raise UsageError("rows cannot be used with session scores")
            if queries is not None:
                raise UsageError("queries cannot be used with sessions")
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
        """The unit of scores: query or session."""
        return "session" if self.sessions else next((each.unit for each in self.queries.values()), "query")

    @cached_property
    def matrices(self) -> Mapping[str, ScoreMatrix]:
        """A matrix per measure; for sessions, of the sessions that all systems share."""
        if not self.sessions:
            return self.queries
        return {name: each.matrix() for name, each in self.sessions.items()}

    @property
    def has_repeats(self) -> bool:
        """Whether a system was run several times."""
        return any(matrix.repeats for matrix in self.queries.values())

    def with_repeats(self, runs_of: Mapping[str, Sequence[str]]) -> Scores:
        """Average the runs of each system; the evaluation of the first run is kept."""
        if all(len(names) == 1 for names in runs_of.values()):
            return self
        queries = {name: matrix.with_repeats(runs_of) for name, matrix in self.queries.items()}
        evaluations = {system: self.evaluations[names[0]] for system, names in runs_of.items()}
        return replace(self, queries=queries, evaluations=evaluations)

    def judged_and_runs(self, what: str) -> tuple[Judged, dict[str, RunLike]]:
        """Return the judgments and runs that were scored; ``what`` names the option that needs them, for messages."""
        if self.has_repeats:
            raise UsageError(f"{what} cannot be used with several runs of one system")
        sources = {name: each.sources for name, each in self.evaluations.items() if each.sources is not None}
        if not sources or len(sources) < len(self.evaluations):
            hint = "give judgments and runs instead"
            raise UsageError(f"{what}: existing scores cannot be computed again with other judgments", hint)
        for name, source in sources.items():
            if source.run is None:
                raise UsageError(f"{what}: run '{printable(name)}' is a stream and cannot be read twice")
        runs = {name: source.run for name, source in sources.items() if source.run is not None}
        return next(iter(sources.values())).judged, runs

    @property
    def conventions(self) -> tuple[str, ...]:
        """The notes on conventions; empty for scores from files."""
        if not self.evaluations:
            return ()
        first = next(iter(self.evaluations.values()))
        if first.unit == "session":  # systems may have different numbers of sessions
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
        """Return the scores of the selected queries, with their attributes and weights."""
        if self.sessions:
            raise UsageError("queries cannot be used with sessions")
        if self.evaluations and not self.has_repeats:
            part = {name: each.chosen(queries) for name, each in self.evaluations.items()}
            found = Scores._of_evaluations(part, list(self.queries))
        else:
            matrices = {name: matrix.chosen(queries) for name, matrix in self.queries.items()}
            found = Scores(matrices, notices=tuple(matrix_notices(matrices)))
        return replace(found, files=self.files)

    def on_common(self) -> Scores:
        """Restrict the scores to the systems and queries that all measures have, with a notice on the rest.

        >>> one = ScoreMatrix.of("P@5", {"a": {"q1": 1, "q2": 0}, "b": {"q1": 0, "q2": 0}})
        >>> both = Scores.of([one, ScoreMatrix.of("RR", {"b": {"q2": 0.5}, "a": {"q2": 1}})]).on_common()
        >>> both.matrices["RR"].systems, both.matrices["P@5"].queries, both.notices
        (('a', 'b'), ('q2',), ('1 query not scored by all measures, left out: q1',))
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
                lines.append(f"{count_of(len(lost), singular, plural)} not scored by all measures, left out: {shown}")
        return replace(self, queries=common, sessions={}, notices=tuple(lines))


def check_size(matrices: Sequence[ScoreMatrix], *, queries: int = 1, systems: int = 2) -> None:
    """Raise InputError if there are too few queries or systems."""
    first = matrices[0]
    for least, found, one, several in (
        (systems, len(first.systems), "system", "systems"),
        (queries, len(first.queries), "query", "queries"),
    ):
        if found < least:
            message = f"{first.origin}: expected at least {count_of(least, one, several)}, found {found}"
            raise InputError(message, "a single system cannot be ordered" if one == "system" else None)


@dataclass(frozen=True, eq=False, repr=False)
class ScoreReport(Showable):
    """Base class of results computed from scores."""

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
        """The unit of scores: query or session."""
        return self.scores.unit

    def page_of(
        self, command: str, parts: Iterable[Table | Chart | Detail | str], header: Mapping[str, object]
    ) -> Page:
        """Make a page with the conventions and provenance of the scores."""
        return Page(command, tuple(parts), self.scores.conventions, {**header, **self.scores.header})
