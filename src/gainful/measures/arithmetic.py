"""The working of a score: the contribution of each rank, and the steps from there to the value.

Measures that people compute by hand define their arithmetic; for all others it is derived (evaluation room).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from gainful.kernel.arrays import Floats
from gainful.measures.block import Block
from gainful.notation import number_text

#: Sums with more terms than this are abbreviated.
_TERMS = 8


class Step(NamedTuple):
    """One line of arithmetic; ``formula`` has a ``{}`` for each of its ``numbers``. A value of NaN is undefined.

    >>> print(Step("P@4", "{} / {}", (3, 4), 0.75))
    P@4 = 3 / 4 = 0.7500
    """

    name: str
    formula: str
    numbers: tuple[float, ...]
    value: float
    note: str = ""

    @classmethod
    def division(cls, name: str, numerator: float, divisor: float, *, undefined: str = "") -> Step:
        """Create a ratio; ``undefined`` is the reason for a divisor of 0."""
        if not divisor:
            return cls(name, "{} / 0", (numerator,), math.nan, undefined)
        return cls(name, "{} / {}", (numerator, divisor), numerator / divisor)

    @classmethod
    def undefined(cls, name: str, why: str) -> Step:
        """Create a step without a value."""
        return cls(name, "", (), math.nan, why)

    @classmethod
    def sum_of(cls, name: str, terms: Floats, value: float) -> Step:
        """Create the sum of the nonzero terms."""
        shown, formula, note = _dotted(terms[terms != 0])
        return cls(name, formula if len(shown) > 1 else "", shown, value, note)

    @classmethod
    def mean_of(cls, name: str, values: Floats, ranks: int) -> Step:
        """Create the mean over ranks 1 to ``ranks`` of values that are constant after the last one."""
        total = float(np.cumsum(values)[-1] + (ranks - values.size) * values[-1])
        rest = np.full(min(ranks - values.size, _TERMS), values[-1])
        shown, formula, _ = _dotted(np.append(values, rest))
        return cls(name, f"({formula}) / {{}}", (*shown, ranks), total / ranks)

    def capped(self) -> Step:
        """Reduce a value above 1, a rounding error, to 1."""
        return self._replace(value=1.0) if self.value > 1.0 else self

    def working(self, places: int = 4) -> str:
        """Format the formula with its numbers."""
        return self.formula.format(*(figure(number, places) for number in self.numbers))

    def text(self, places: int = 4) -> str:
        """Format the whole line."""
        parts = [self.name, self.working(places), "" if math.isnan(self.value) else figure(self.value, places)]
        end = " is undefined" if math.isnan(self.value) else ""
        return " = ".join(filter(None, parts)) + end + (f" ({self.note})" if self.note else "")

    def __str__(self) -> str:
        return self.text()


class Arithmetic(NamedTuple):
    """The working of the score of one list.

    ``columns`` have a value per rank, in display order; those in ``shared`` do not depend on the run (a discount, the
    ideal list). ``adds`` names the column that is nonzero at ranks that contribute, ``running`` the one with the value
    so far. The value of the last step is the score. ``note`` explains columns if their names do not.

    >>> Arithmetic({"relevant": np.array([1.0, 0.0])}, (Step("P@2", "{} / {}", (1, 2), 0.5),)).value
    0.5
    """

    columns: Mapping[str, Floats]
    steps: tuple[Step, ...]
    shared: frozenset[str] = frozenset()
    adds: str | None = None
    running: str | None = None
    note: str = ""

    @property
    def value(self) -> float:
        """The score."""
        return self.steps[-1].value

    @property
    def term(self) -> str | None:
        """The column before the running one, which holds its increments."""
        names = list(self.columns)
        return names[max(0, names.index(self.running) - 1)] if self.running in names else self.adds

    @property
    def depth(self) -> int:
        """The number of ranks in the columns."""
        return max((values.size for values in self.columns.values()), default=0)


def figure(number: float, places: int = 4) -> str:
    """Format a number: integers without decimals, small numbers with three significant digits.

    >>> figure(3.0), figure(2 / 3), figure(0.0000123)
    ('3', '0.6667', '1.23e-05')
    """
    if not math.isfinite(number):
        return str(number)
    if number == int(number):
        return number_text(number)
    return f"{number:.{places}f}" if abs(number) >= 10.0**-places else f"{number:.3g}"


def seen(block: Block, cutoff: int | None = None) -> int:
    """Return the number of documents in a block's only list down to the cutoff."""
    length = int(block.retrieved[0])
    return length if cutoff is None else min(length, cutoff)


def ranks_of(values: Floats) -> Floats:
    """Return the ranks 1, 2, 3, ... of values."""
    return np.arange(1.0, values.size + 1.0)


def last(values: Floats) -> float:
    """Return the last value, or 0."""
    return float(values[-1]) if values.size else 0.0


def _dotted(terms: Floats) -> tuple[tuple[float, ...], str, str]:
    """Return the displayed terms of a sum, its formula, and a note on the number of terms if some are omitted."""
    if terms.size <= _TERMS:
        return tuple(terms.tolist()), " + ".join(["{}"] * terms.size), ""
    shown = (*terms[: _TERMS - 2].tolist(), float(terms[-1]))
    return shown, " + ".join([*["{}"] * (_TERMS - 2), "...", "{}"]), f"{terms.size:,} terms"
