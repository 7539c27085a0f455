"""Scores of several systems on the same queries by one measure, the input of every comparison.

Systems from different files are matched by query ID; several measures are compared on their common systems and queries.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from gainful.errors import InputError, UsageError
from gainful.frozen import dataclass, field, replace
from gainful.kernel.arrays import Floats, freeze
from gainful.kernel.exact_sums import effective_number, weighted_mean
from gainful.measures.base import Measure
from gainful.notation import bytes_of_id, choose, count_of, nearest, numbered, printable, some_of, units

if TYPE_CHECKING:
    from gainful.data.queries import Queries
    from gainful.evaluation.evaluations import Evaluation
    from gainful.evaluation.score_files import FileScores
    from gainful.io.sources import Source

Better: TypeAlias = Literal["higher", "lower"]


@dataclass(frozen=True, eq=False, repr=False)
class ScoreMatrix:
    """One finite score per query and system, by one measure.

    Attributes:
        queries: In byte order of their IDs.
        left_out: Queries that lack a score of some system.
        is_numbered: Whether the source had no query IDs; they are then positions.
        reading: How an ambiguous file was interpreted, in words.
        bounds: The bounds of the measure, if it is known.
        unit: The unit of scores: query or session.
        about: Query attributes and weights.
        worth: The effective number of queries, if scores are multiplied by weights.
        repeats: The scores of each run (queries x runs) of systems with several runs; ``values`` has their means.
        missing: Systems with queries that they did not answer.
    """

    measure: str
    better: Better
    queries: tuple[str, ...]
    systems: tuple[str, ...]
    values: Floats
    left_out: tuple[str, ...] = ()
    source: str = ""
    is_numbered: bool = False
    reading: str = ""
    bounds: tuple[float, float] | None = None
    unit: str = "query"
    about: Queries | None = None
    worth: float | None = None
    repeats: Mapping[str, Floats] = field(default_factory=dict)
    missing: frozenset[tuple[str, str]] = frozenset()

    def __post_init__(self) -> None:
        choose(self.better, ("higher", "lower"), f"{self.measure}: better")
        where = self.origin
        if self.values.shape != (len(self.queries), len(self.systems)):
            shape = " x ".join(map(str, self.values.shape))
            raise UsageError(
                f"{where}: expected {len(self.queries)} x {len(self.systems)} scores (queries x systems), found {shape}"
            )
        for what, names in ((self.unit, self.queries), ("system", self.systems)):
            if not names:
                raise InputError(f"{where}: no {what} has scores")
            if len(set(names)) < len(names):
                twice = next(name for i, name in enumerate(names) if name in names[:i])
                raise InputError(f"{where}: duplicate {what} '{printable(twice)}'")
        if not np.isfinite(self.values).all():
            query, system = np.argwhere(~np.isfinite(self.values))[0].tolist()
            raise InputError(
                f"{where}: expected finite scores, found {self.values[query, system]} "
                f"for {self.unit} '{printable(self.queries[query])}' of system '{printable(self.systems[system])}'"
            )
        order = sorted(range(len(self.queries)), key=lambda i: bytes_of_id(self.queries[i]))
        object.__setattr__(self, "queries", tuple(self.queries[i] for i in order))
        object.__setattr__(self, "values", np.ascontiguousarray(self.values[order], np.float64))
        object.__setattr__(self, "repeats", {name: each[order] for name, each in self.repeats.items()})
        freeze(self.values)

    def __repr__(self) -> str:
        systems, queries = count_of(len(self.systems), "system"), units(len(self.queries), self.unit)
        return f"<ScoreMatrix of {self.measure}: {queries}, {systems}>"

    @classmethod
    def of(
        cls,
        measure: str | Measure,
        scores: Mapping[str, Mapping[str, float | None] | Sequence[float | None]],
        queries: Sequence[str] | None = None,
        *,
        better: Better | None = None,
        source: str = "",
        unit: str = "query",
        **others: Any,
    ) -> ScoreMatrix:
        """Make a matrix from each system's scores, by query ID or in the order of ``queries``; None is no score.

        Only queries with a score of every system are kept. ``others`` are further fields.

        >>> matrix = ScoreMatrix.of("RR", {"bm25": {"q1": 1, "q2": 0.5}, "dense": {"q2": 0.25, "q1": 1, "q3": 1}})
        >>> matrix.queries, matrix.values.tolist(), matrix.left_out
        (('q1', 'q2'), [[1.0, 1.0], [0.5, 0.25]], ('q3',))
        """
        measure, names = str(measure), queries
        by_id: dict[str, Mapping[str, float | None]] = {}
        for system, values in scores.items():
            if isinstance(values, Mapping):
                by_id[system] = values
                continue
            if not hasattr(values, "__len__"):
                raise UsageError(f"{source or measure}: {printable(system)}: expected scores by query, not {values!r}")
            if names is None:
                names, others = numbered(len(values)), {**others, "is_numbered": True}
            if len(values) != len(names):
                raise UsageError(
                    f"{source or measure}: expected {count_of(len(names), 'score')} for system '{printable(system)}', "
                    f"found {len(values):,}"
                )
            by_id[system] = dict(zip(names, values, strict=True))
        union = {query for values in by_id.values() for query in values}
        complete, left_out = list[str](), list[str]()
        for query in sorted(union, key=bytes_of_id):
            found = [by_query.get(query) for by_query in by_id.values()]
            (left_out if any(value is None or math.isnan(value) for value in found) else complete).append(query)
        if union and not complete:
            hint = f"check that all systems use the same {unit} IDs"
            raise InputError(f"{source or measure}: no {unit} has a score of every system", hint)
        table = np.array([[by_query[query] for by_query in by_id.values()] for query in complete], np.float64)
        return cls(
            measure,
            better or better_of(measure),
            tuple(complete),
            tuple(by_id),
            table.reshape(len(complete), len(by_id)),
            tuple(left_out),
            source,
            unit=unit,
            **others,
        )

    @classmethod
    def from_evaluations(cls, evaluations: Mapping[str, Evaluation], measure: str | Measure) -> ScoreMatrix:
        """Collect the scores of several runs under the policy; a query left out for one system is left out for all.

        >>> from gainful import evaluate
        >>> runs = {"one": {"q": ["a", "b"]}, "two": {"q": ["b", "a"]}}
        >>> ScoreMatrix.from_evaluations(evaluate({"q": {"a": 1}}, runs, "RR"), "RR").values.tolist()
        [[1.0, 0.5]]
        """
        found = checked_measure(evaluations, measure)
        assert found.better != "neither"
        scores = {system: evaluation.by_query(found) for system, evaluation in evaluations.items()}
        first = next(iter(evaluations.values()))
        missing = frozenset((system, query) for system, each in evaluations.items() for query in each.missing)
        how: dict[str, Any] = {"bounds": found.bounds, "about": first.about, "missing": missing}
        return cls.of(found, scores, better=found.better, unit=first.unit, **how)

    @classmethod
    def read(
        cls,
        source: Source,
        *,
        rows: str | None = None,
        measure: str | None = None,
        better: Better | None = None,
        queries: Iterable[str] | None = None,
    ) -> ScoreMatrix:
        """Read the only matrix of a file (or that of ``measure``): CSV, TSV, or JSON lines of ``eval --by-query``.

        ``rows`` is ``queries`` or ``systems``; by default it is inferred from IDs: ``queries``, if given, or a side
        whose names are all numbers. A table without row names has queries as rows.
        """
        from gainful.evaluation.score_files import read_files  # not needed to score runs

        found = read_files(
            [source],
            () if measure is None else [measure],
            rows=rows,
            any_measure=better is not None,
            queries=queries or (),
        )
        first, *others = found.values()
        if others:
            raise UsageError(f"{first.source}: several measures", f"set measure to one of {', '.join(found)}")
        return cls.of_file(first, better)

    @classmethod
    def of_file(cls, file: FileScores, better: Better | None = None) -> ScoreMatrix:
        """Make the matrix of scores read from files."""
        how: dict[str, Any] = {"is_numbered": file.is_numbered, "reading": file.reading, "missing": file.missing}
        return cls.of(file.measure, file.scores, better=better, source=file.source, **how)

    @property
    def origin(self) -> str:
        """The name in messages: the source, or else the measure."""
        return self.source or self.measure

    def place(self, system: str) -> int:
        """Return the column index of a system."""
        if system not in self.systems:
            raise UsageError(f"unknown system '{printable(system)}'", nearest(system, self.systems))
        return self.systems.index(system)

    def column(self, system: str) -> Floats:
        """Return a system's scores, in the order of the queries."""
        return self.values[:, self.place(system)]

    @cached_property
    def means(self) -> Floats:
        """The mean (or weighted mean) of each system, correctly rounded."""
        weights, columns = self.weights, self.values.T
        means = np.array(
            [math.fsum(each) / each.size if weights is None else weighted_mean(each, weights) for each in columns]
        )
        freeze(means)
        return means

    @cached_property
    def weights(self) -> Floats | None:
        """The weight of each query, 1 on average; None if all are equal."""
        weights = None if self.about is None else self.about.weights_of(self.queries)
        return None if weights is None or weights.min() == weights.max() else weights

    @cached_property
    def unanswered(self) -> Mapping[str, int]:
        """The number of unanswered queries, for systems that have any."""
        known = set(self.queries)
        counts = Counter(system for system, query in self.missing if query in known)
        return {system: counts[system] for system in self.systems if counts[system]}

    @cached_property
    def farthest(self) -> float:
        """The largest possible difference between two scores."""
        return farthest_apart(self.measure, self.bounds, self.means)

    @property
    def best_first(self) -> list[str]:
        """The systems ordered by mean, best first."""
        downward = -self.means if self.better == "higher" else self.means
        return [self.systems[i] for i in downward.argsort(kind="stable").tolist()]

    def times_weights(self) -> ScoreMatrix:
        """Multiply every score by its query's weight: plain means are then the weighted means."""
        if self.weights is None:
            return self
        counts, worth = self.weights[:, np.newaxis], effective_number(self.weights)
        repeats = {name: each * counts for name, each in self.repeats.items()}
        return replace(self, values=self.values * counts, about=None, bounds=None, worth=worth, repeats=repeats)

    def with_repeats(self, runs_of: Mapping[str, Sequence[str]]) -> ScoreMatrix:
        """Average the runs of each system; the systems of this matrix are the runs.

        >>> ScoreMatrix.of("RR", {"a1": [1, 0.5], "a2": [0.5, 0], "b": [1, 0]}).with_repeats(
        ...     {"a": ["a1", "a2"], "b": ["b"]}).values.tolist()
        [[0.75, 1.0], [0.25, 0.0]]
        """
        runs = {name: self.values[:, [self.place(run) for run in each]] for name, each in runs_of.items()}
        means = [[math.fsum(row) / len(row) for row in each.tolist()] for each in runs.values()]
        repeats = {name: each for name, each in runs.items() if each.shape[1] > 1}
        # A query is missing if no run of the system answers it; notices report the others.
        lacking = Counter((name, q) for name, each in runs_of.items() for run, q in self.missing if run in each)
        missing = frozenset(pair for pair, number in lacking.items() if number == len(runs_of[pair[0]]))
        return replace(self, systems=tuple(runs), values=np.array(means).T, repeats=repeats, missing=missing)

    def chosen(self, about: Queries) -> ScoreMatrix:
        """Return the matrix on the selected queries, with their attributes and weights."""
        about.check(self.queries)
        kept = about.kept(self.queries)
        queries = None if kept is None else [query for query, keep in zip(self.queries, kept, strict=True) if keep]
        reading = "\n".join(filter(None, (self.reading, *about.passed_over(self.queries))))
        return replace(self.select(queries=queries), about=about, reading=reading)

    def select(self, systems: Sequence[str] | None = None, queries: Iterable[str] | None = None) -> ScoreMatrix:
        """Select systems, in the order given, and queries."""
        columns = [self.place(system) for system in (self.systems if systems is None else systems)]
        wanted = set(self.queries if queries is None else queries)
        unknown = sorted(wanted.difference(self.queries))
        if unknown:
            raise UsageError(f"unknown query '{printable(unknown[0])}'", nearest(unknown[0], self.queries))
        rows = [i for i, query in enumerate(self.queries) if query in wanted]
        return replace(
            self,
            queries=tuple(self.queries[i] for i in rows),
            systems=tuple(self.systems[i] for i in columns),
            values=self.values[np.ix_(rows, columns)],
            repeats={name: each[rows] for name, each in self.repeats.items() if systems is None or name in systems},
        )


def aligned(matrices: Sequence[ScoreMatrix]) -> list[ScoreMatrix]:
    """Restrict matrices to their common systems and queries, by ID, in the order of the first.

    >>> one = ScoreMatrix.of("P@5", {"a": {"q1": 1, "q2": 0}, "b": {"q1": 0, "q2": 0}})
    >>> other = ScoreMatrix.of("RR", {"b": {"q2": 0.5}, "a": {"q2": 1}})
    >>> [each.values.tolist() for each in aligned([one, other])]
    [[[0.0, 0.0]], [[1.0, 0.5]]]
    """
    if len(matrices) < 2:
        return list(matrices)
    first, *others = matrices
    for other in others:
        if first.is_numbered != other.is_numbered:
            with_ids, without = (other, first) if first.is_numbered else (first, other)
            raise InputError(
                f"{without.origin}: no query IDs to match with {with_ids.origin}: scores are never paired by position"
            )
        if first.is_numbered and len(first.queries) != len(other.queries):
            raise InputError(
                f"{other.origin}: {len(other.queries):,} rows, but {first.origin} has {len(first.queries):,}; without "
                "query IDs, rows are paired by position only if their numbers are equal"
            )
    systems = reduce(set.intersection, (set(matrix.systems) for matrix in matrices))
    queries = reduce(set.intersection, (set(matrix.queries) for matrix in matrices))
    for what, common in (("systems", systems), ("queries", queries)):
        if not common:
            raise InputError(f"scores: the measures have no {what} in common")
    in_order = [system for system in first.systems if system in systems]
    return [
        replace(
            matrix.select(in_order, queries),
            left_out=(*matrix.left_out, *(query for query in matrix.queries if query not in queries)),
        )
        for matrix in matrices
    ]


def checked_measure(evaluations: Mapping[str, Evaluation], measure: str | Measure) -> Measure:
    """Return the evaluated measure; raise UsageError if its mean cannot order systems."""
    if not evaluations:
        raise UsageError("evaluations: none were given")
    found = next(iter(evaluations.values()))._measure(measure)
    if found.better == "neither":
        raise UsageError(f"{found} cannot order systems, because neither direction is better")
    found.require_scores()
    if found.aggregate == "geometric":
        hint = "use its arithmetic form, such as AP for GMAP, which has the same per-query scores"
        raise UsageError(f"{found} cannot be compared by its mean, because it is a geometric mean", hint)
    return found


def better_of(measure: str) -> Better:
    """Return which direction is better for a named measure: from the catalogue, else higher.

    >>> better_of("nDCG@10"), better_of("ndcg_at_20")
    ('higher', 'higher')
    """
    from gainful.measures.catalog import parse

    try:
        found = parse(measure).better
    except UsageError:
        return "higher"
    if found == "neither":
        raise UsageError(f"{measure} cannot order systems, because neither direction is better")
    return found


def bounds_of(matrix: ScoreMatrix) -> tuple[float, float]:
    """Return the bounds of the scores, from the measure or its name; raise UsageError unless both are finite.

    >>> bounds_of(ScoreMatrix.of("nDCG@10", {"a": [0.5]}))
    (0.0, 1.0)
    """
    from gainful.measures.catalog import parse

    bounds = matrix.bounds
    if bounds is None:
        try:
            bounds = parse(matrix.measure).bounds
        except UsageError:
            raise UsageError(
                f"{matrix.origin}: the bounds of '{printable(matrix.measure)}' are unknown",
                "-m names the measure of a table of scores, such as -m nDCG@20",
            ) from None
    if not all(map(math.isfinite, bounds)):
        hint = "choose a bounded measure, such as nDCG, AP, RR or P"
        raise UsageError(f"{matrix.measure}: scores have no finite bounds", hint)
    return bounds


def farthest_apart(measure: str, bounds: tuple[float, float] | None, means: Sequence[float] | Floats) -> float:
    """Return the largest possible difference between scores, from bounds or the measure's name; infinite if unknown, or
    if means show that scores are on another scale.

    >>> [farthest_apart(name, None, means) for name, means in (("AP", [0.3]), ("AP", [30.0]), ("my own", [0.3]))]
    [1.0, inf, inf]
    """
    from gainful.measures.catalog import parse

    low, high = bounds or (-math.inf, math.inf)
    with suppress(UsageError):
        low, high = bounds or parse(measure).bounds
    return high - low if low <= min(means) and max(means) <= high else math.inf


def matrix_notices(matrices: Mapping[str, ScoreMatrix]) -> list[str]:
    """Return notes on how files were interpreted and which queries were left out."""
    lines = [f"{matrix.source}: {line}" for matrix in matrices.values() for line in matrix.reading.splitlines()]
    for measure, matrix in matrices.items():
        if matrix.left_out:
            queries = units(len(matrix.left_out), matrix.unit)
            shown = some_of(matrix.left_out)
            lines.append(f"{measure}: {queries} without a score of every system, left out: {shown}")
    return list(dict.fromkeys(lines))


def upward(matrix: ScoreMatrix) -> Floats:
    """Return the scores, negated if lower is better.

    >>> upward(ScoreMatrix.of("rank", {"a": [3.0], "b": [1.0]}, better="lower")).tolist()
    [[-3.0, -1.0]]
    """
    return matrix.values if matrix.better == "higher" else -matrix.values
