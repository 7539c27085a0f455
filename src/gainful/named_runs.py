"""Runs by name: what is said where they are not, and of names that no run has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gainful.errors import UsageError
from gainful.notation import nearest, printable


def require_runs(runs: object, *, at_least_one: bool = True) -> None:
    """Refuses what is no dict of names and runs, and an empty one."""
    if not isinstance(runs, Mapping):
        raise UsageError(
            f"runs: expected a dict of names and runs, found {type(runs).__name__}", 'give it a name: {"bm25": run}'
        )
    if at_least_one and not runs:
        raise UsageError("runs: expected at least one, found none")


def no_such_run(name: str, names: Iterable[str], what: str = "") -> UsageError:
    """What is said of a name that none of the runs has; ``what`` asked for it.

    >>> print(no_such_run("bm52", ["bm25", "dense"], "baseline"))
    baseline: no run is called 'bm52'; there are bm25, dense
    hint: did you mean bm25?
    """
    names = list(names)
    where, listed = f"{what}: " if what else "", ", ".join(map(printable, names))
    return UsageError(f"{where}no run is called '{printable(name)}'; there are {listed}", nearest(name, names))
