"""Numbers compared as in exact arithmetic: rounding decides nothing, and equals are told from what rises or falls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np

from gainful.stats.settled import settle

Course: TypeAlias = Literal["rises", "falls", "ties"]


def settled(values: Sequence[float], scale: float | None = None) -> list[float]:
    """The values, equal where they are equal but for rounding. ``scale`` is how large what they were made of is.

    >>> settled([0.1 + 0.2, 0.3])
    [0.3, 0.3]
    """
    # + 0.0 makes -0.0 a 0.0, which prints without a sign.
    return [float(value) + 0.0 for value in settle(np.array(values, np.float64), scale)]


def course(values: Sequence[float], scale: float | None = None) -> Course:
    """Whether values rise from each to the next, fall somewhere, or, if they never fall, are somewhere equal.

    >>> course([1, 2, 3]), course([1, 3, 2]), course([0.3, 0.1 + 0.2, 1])
    ('rises', 'falls', 'ties')
    """
    steps = list(pairwise(settled(values, scale)))
    if any(after < before for before, after in steps):
        return "falls"
    return "rises" if all(before < after for before, after in steps) else "ties"


def highest(values: Mapping[str, float], scale: float | None = None) -> tuple[str, ...]:
    """The names that share the highest value.

    >>> highest({"a": 0.3, "b": 0.1, "c": 0.1 + 0.2})
    ('a', 'c')
    """
    known = dict(zip(values, settled(list(values.values()), scale), strict=True))
    most = max(known.values())
    return tuple(name for name, value in known.items() if value == most)
