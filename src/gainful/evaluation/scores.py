"""Scores by measure with their provenance: the one form from which systems are compared, planned for and ranked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from gainful.errors import InputError, UsageError
from gainful.evaluation.evaluations import Evaluation
from gainful.evaluation.report import conventions_of
from gainful.evaluation.score_files import of_sessions
from gainful.evaluation.score_matrix import Better, ScoreMatrix, aligned, matrix_notices, read_all
from gainful.evaluation.session_scores import SessionScores, read_session_scores, scores_of_sessions
from gainful.io.sources import Source, open_source
from gainful.measures.base import Measure
from gainful.notation import count_of, plural_of, printable, some_of

if TYPE_CHECKING:
    from gainful.data.queries import Queries

#: Anything that has scores: evaluations by name, matrices by measure, several matrices of one measure each, or one.
ScoresLike: TypeAlias = (
    "Scores | Mapping[str, ScoreMatrix] | Mapping[str, Evaluation] | Iterable[ScoreMatrix] | ScoreMatrix"
)


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
            return given
        if isinstance(given, Mapping) and given and isinstance(next(iter(given.values())), Evaluation):
            evaluations: Mapping[str, Evaluation] = given  # type: ignore[assignment]
            return cls._of_evaluations(evaluations, measures)
        found = _matrices_by_measure(given)  # type: ignore[arg-type]
        if measures is not None:
            for name in map(str, measures):
                if name not in found:
                    raise UsageError(f"measures: no scores by '{printable(name)}'; there are {', '.join(found)}")
            found = {str(measure): found[str(measure)] for measure in measures}
        return cls(found, notices=tuple(matrix_notices(found)))

    @classmethod
    def _of_evaluations(cls, evaluations: Mapping[str, Evaluation], measures: Sequence[str | Measure] | None) -> Scores:
        first = next(iter(evaluations.values()))
        if first.unit == "session":
            sessions = scores_of_sessions(evaluations, measures)
            lines = [line for each in sessions.values() for line in each.notices()]
            return cls(sessions=sessions, evaluations=evaluations, notices=tuple(lines))
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
        texts = [open_source(file) for file in files]
        names = tuple(text.name for text in texts)
        if any(map(of_sessions, texts)):
            if rows is not None:
                raise UsageError("rows: has no meaning with scores of sessions")
            if queries is not None:
                raise UsageError("queries: has no meaning with sessions")
            sessions = read_session_scores(texts, measures=measures, better=better)
            lines = [line for each in sessions.values() for line in each.notices()]
            return cls(sessions=sessions, files=names, notices=tuple(lines))
        matrices = read_all(texts, measures=measures, rows=rows, better=better)
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

    @cached_property
    def matrices(self) -> Mapping[str, ScoreMatrix]:
        """A matrix per measure; of sessions those that all systems have, which must be the same sessions."""
        if not self.sessions:
            return self.queries
        return {name: each.matrix() for name, each in self.sessions.items()}

    @property
    def conventions(self) -> tuple[str, ...]:
        """The notes that say by which conventions scores were computed; none of scores from files."""
        if not self.evaluations:
            return ()
        if self.sessions:  # of which systems may have more or fewer
            return tuple(conventions_of(self.evaluations.items()))
        return (next(iter(self.evaluations.values())).signature().note(),)

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
        if self.evaluations:
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
        found = replace(self, notices=tuple(lines))
        found.__dict__["matrices"] = common
        return found


def _matrices_by_measure(
    given: Mapping[str, ScoreMatrix] | Iterable[ScoreMatrix] | ScoreMatrix,
) -> dict[str, ScoreMatrix]:
    """Matrices by name, each with a measure of its own."""
    if isinstance(given, Mapping):
        found = dict(given)
    else:
        matrices = [given] if isinstance(given, ScoreMatrix) else list(given)
        found = {matrix.measure: matrix for matrix in matrices}
        if len(found) < len(matrices):
            names = [matrix.measure for matrix in matrices]
            twice = next(name for name in names if names.count(name) > 1)
            raise UsageError(f"scores: two matrices are by '{printable(twice)}'", "a dict gives names")
    if not found:
        raise UsageError("scores: expected at least one matrix, found none")
    return found


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
