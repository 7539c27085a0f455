"""Groups of systems, such as all those of a kind, compared as groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike

from gainful.errors import InputError, UsageError
from gainful.evaluation.score_matrix import ScoreMatrix
from gainful.notation import nearest, printable
from gainful.stats.rank_tests import GroupComparison, compare_groups


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
