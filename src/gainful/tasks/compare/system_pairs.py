"""Which pairs of systems a comparison is about and which are printed; contrasts, groups and factors of systems, read
and checked; and pairs that are compared without a test: by probabilities, or in sequence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from os import PathLike

import numpy as np

from gainful.errors import InputError, UsageError, option
from gainful.evaluation.score_matrix import ScoreMatrix, bounds_of
from gainful.kernel.arrays import Floats
from gainful.notation import nearest, printable
from gainful.stats.bayes import Posterior, posterior
from gainful.stats.rank_tests import GroupComparison, compare_groups
from gainful.stats.sequential import ConfidenceSequence, confidence_sequence
from gainful.tasks.compare.compare_options import OF_TABLES, OF_TESTS, CompareOptions


def check_known(system: str | None, systems: Sequence[str], what: str) -> None:
    """Refuses a system that is not there; ``what`` it was named for."""
    if system is not None and system not in systems:
        raise UsageError(
            f"{what}: no system is called '{printable(system)}'; there are {', '.join(map(printable, systems[:20]))}",
            nearest(system, systems),
        )


def asked_pairs(matrix: ScoreMatrix, how: CompareOptions) -> list[tuple[str, str]]:
    """The pairs named, each system and the baseline, or all; of two systems the first is the baseline."""
    return pairs_of_systems(matrix.systems, matrix.means.tolist(), matrix.better, how)


def pairs_of_systems(
    systems: Sequence[str], means: Sequence[float], better: str, how: CompareOptions
) -> list[tuple[str, str]]:
    """The same of systems by their means."""
    if how.pairs:
        if how.baseline is not None:
            raise UsageError("pairs: expected pairs or a baseline, found both")
        return list(shown_pairs(how.pairs, None, systems) or ())
    sign = -1 if better == "higher" else 1
    best_first = sorted(systems, key=lambda system: sign * means[systems.index(system)])
    baseline = systems[0] if len(systems) == 2 and how.baseline is None else how.baseline
    if baseline is None:
        return list(combinations(best_first, 2))
    return [(system, baseline) for system in best_first if system != baseline]


def rows_shown(how: CompareOptions) -> tuple[tuple[str, str], ...] | None:
    """None, all rows, where pairs were asked for; else the page decides."""
    return None if how.pairs is None or how.pairs else ()


def shown_pairs(
    pairs: Sequence[tuple[str, str]] | None, of: str | None, systems: Sequence[str]
) -> tuple[tuple[str, str], ...] | None:
    """The pairs to print: those named, or all with one system; None for all."""
    if pairs is None:
        return None
    for pair in pairs:
        for system in pair:
            check_known(system, systems, "pairs")
        if pair[0] == pair[1]:
            raise UsageError(f"pairs: expected two systems, found '{printable(pair[0])}' twice")
    if of is not None and not pairs:
        return tuple((system, of) for system in systems if system != of)
    return tuple(pairs)


def contrasted(
    matrices: Mapping[str, ScoreMatrix], contrasts: Sequence[str]
) -> tuple[dict[str, ScoreMatrix], tuple[tuple[str, str], ...]]:
    """Matrices whose systems are the sides of contrasts, and the pairs of sides to compare."""
    sides = [read_contrast(text, next(iter(matrices.values())).systems) for text in contrasts]
    once = [frozenset(map(side_text, contrast)) for contrast in sides]
    twice = next((contrasts[i] for i, both in enumerate(once) if both in once[:i]), None)
    if twice is not None:
        raise UsageError(f"contrast: expected every contrast once, found '{printable(twice)}' again")
    columns = {side_text(side): side for contrast in sides for side in contrast}
    made = {
        name: replace(
            matrix,
            systems=tuple(columns),
            values=np.column_stack([_mean_of([matrix.column(system) for system in side]) for side in columns.values()]),
        )
        for name, matrix in matrices.items()
    }
    return made, tuple((side_text(one), side_text(other)) for one, other in sides)


def _mean_of(columns: Sequence[Floats]) -> Floats:
    """The mean of some systems' scores, query by query, correctly rounded."""
    return np.array([math.fsum(scores) / len(columns) for scores in zip(*columns, strict=True)])


def side_text(side: Sequence[str]) -> str:
    """A side of a contrast as people write it."""
    return side[0] if len(side) == 1 else f"mean({', '.join(side)})"


def read_contrast(text: str, systems: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The systems on either side of a contrast such as ``new = mean(a, b)``.

    >>> read_contrast("new = mean(a, b)", ["a", "b", "new"])
    (('new',), ('a', 'b'))
    """
    one, equals, other = text.partition("=")
    if not equals:
        raise UsageError(f"contrast: expected something like 'new = mean(a, b)', found '{printable(text)}'")
    sides = tuple(_side_of(part.strip()) for part in (one, other))
    for system in (*sides[0], *sides[1]):
        check_known(system, systems, "contrast")
    both = set(sides[0]) & set(sides[1])
    if both:
        raise UsageError(f"contrast: expected other systems on either side, found '{printable(min(both))}' on both")
    return sides[0], sides[1]


def _side_of(text: str) -> tuple[str, ...]:
    if not (text.startswith("mean(") and text.endswith(")")):
        return (text,)
    members = tuple(part.strip() for part in text[5:-1].split(","))
    if not all(members):
        raise UsageError(f"contrast: expected systems like mean(a, b), found '{printable(text)}'")
    if len(set(members)) < len(members):
        raise UsageError(f"contrast: expected every system once, found one twice in '{printable(text)}'")
    return members


def posteriors_of(matrices: Mapping[str, ScoreMatrix], how: CompareOptions) -> dict[str, tuple[Posterior, ...]]:
    """The posteriors of the pairs asked for, by measure."""
    how.refuse("the test bayes", *OF_TESTS, *OF_TABLES)
    if how.margin is None:
        raise UsageError(
            "margin: expected with the test bayes the difference below which systems count as equal, found none",
            f"{option('margin', 0.01)} says which differences matter: that means are exactly equal has no probability",
        )
    margin = how.margin
    return {
        name: tuple(posterior(matrix, a, b, margin, how.alpha) for a, b in asked_pairs(matrix, how))
        for name, matrix in matrices.items()
    }


#: So many pairs are watched at once.
MOST_IN_SEQUENCE = 100


def sequences_of(matrices: Mapping[str, ScoreMatrix], how: CompareOptions) -> dict[str, tuple[ConfidenceSequence, ...]]:
    """The confidence sequences of the pairs asked for, by measure."""
    how.refuse("sequential", "test", "margin", *OF_TESTS, *OF_TABLES)
    found = {}
    for name, matrix in matrices.items():
        bounds, rows, pairs = bounds_of(matrix), _in_order(matrix, how.arrival), asked_pairs(matrix, how)
        if len(pairs) > MOST_IN_SEQUENCE:
            raise UsageError(
                f"sequential: expected at most {MOST_IN_SEQUENCE} pairs, found {len(pairs):,}",
                f"each makes the others' intervals wider; {option('baseline')} or {option('pairs')} chooses",
            )
        found[name] = tuple(
            confidence_sequence(matrix, a, b, bounds, rows=rows, alpha=how.alpha, pairs=len(pairs)) for a, b in pairs
        )
    return found


def _in_order(matrix: ScoreMatrix, arrival: Sequence[str] | None) -> list[int]:
    """The rows of a matrix as their queries arrived; all of them have to be there, and more may be."""
    if arrival is None:
        return list(range(len(matrix.queries)))
    places = {query: place for place, query in enumerate(dict.fromkeys(arrival))}
    for query in matrix.queries:
        if query not in places:
            raise InputError(
                f"arrival: expected every query of {matrix.origin}, found no '{printable(query)}'",
                "a file has a line a query, its id first, as judgments do, too",
            )
    return sorted(range(len(matrix.queries)), key=lambda row: places[matrix.queries[row]])


def grouped(matrix: ScoreMatrix, groups: Mapping[str, Sequence[str]]) -> GroupComparison:
    """Compares groups by the means of their systems."""
    means = dict(zip(matrix.systems, matrix.means.tolist(), strict=True))
    return compare_groups({name: [means[member] for member in members] for name, members in groups.items()})


def read_groups(texts: Sequence[str], systems: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Groups of systems from ``NAME=a,b,c`` texts; each system must be there, and in one group only.

    >>> read_groups(["old=a,b", "new=c"], ["a", "b", "c"])
    {'old': ('a', 'b'), 'new': ('c',)}
    """
    found: dict[str, tuple[str, ...]] = {}
    for text in texts:
        name, equals, members = text.partition("=")
        parts = tuple(part.strip() for part in members.split(","))
        if not equals or not name.strip() or not all(parts):
            raise UsageError(f"groups: expected NAME=SYSTEM,SYSTEM,..., found '{printable(text)}'")
        if name.strip() in found:
            raise UsageError(f"groups: expected every name once, found '{printable(name.strip())}' twice")
        found[name.strip()] = parts
    check_groups(found, systems)
    return found


def read_factors(source: object) -> dict[str, dict[str, str]]:
    """By factor the level of every system: a table whose first column names systems."""
    from gainful.io.records import read_records

    path = source if isinstance(source, (str, PathLike)) else "factors"
    records = read_records(source, str(path), ("system", "run", "name"))
    names = [next(iter(record.values.values()), "") for record in records]
    if not records or any(len(record.values) < 2 or not all(record.values.values()) for record in records):
        raise InputError(
            f"{path}: expected a table with a header, the system first, then a column a factor, found none"
        )
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise InputError(f"{path}: expected every system once, found '{printable(str(twice))}' twice")
    factors = list(records[0].values)[1:]
    return {
        factor: {str(name): str(each.values[factor]) for name, each in zip(names, records, strict=True)}
        for factor in factors
    }


def check_groups(groups: Mapping[str, Sequence[str]], systems: Sequence[str]) -> None:
    """Refuses groups of unknown systems, and systems that are in two of them."""
    if len(groups) < 2:
        raise UsageError(f"groups: expected at least 2, found {len(groups)}")
    seen: set[str] = set()
    for members in groups.values():
        for member in members:
            if member not in systems:
                raise UsageError(f"groups: unknown system '{printable(member)}'", nearest(member, systems))
            if member in seen:
                raise UsageError(f"groups: expected every system in one group, found '{printable(member)}' in two")
            seen.add(member)
