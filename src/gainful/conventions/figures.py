"""Reported numbers, and how precise they are."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal

from gainful.errors import UsageError
from gainful.notation import NUMBER, read_number

#: A figure may be off by this, relative to 1 or to itself, beyond what its last digit leaves open.
_NOISE = 1e-9

_PER_CENT = re.compile(r"(.*\S)\s*%")
_WITH_COMMA = re.compile(r"[+-]?\d*,\d+")


@dataclass(frozen=True)
class Figure:
    """A number that somebody reported. Its text says how precise it is: 0.785 is anything that rounds to that.

    >>> Figure.of("theirs", "0.785").holds(0.78463), Figure.of("theirs", "0.7850").holds(0.78463)
    (True, False)
    """

    name: str
    text: str
    value: float
    slack: float  # half a unit of the last digit

    @classmethod
    def of(cls, name: str, given: float | str) -> Figure:
        """A figure from its text, or from a number, which is as precise as it prints."""
        value = _read(name, given)
        text = str(given).strip()
        return cls._of_text(name, text if NUMBER.fullmatch(text) else str(value))

    @classmethod
    def _of_text(cls, name: str, text: str) -> Figure:
        return cls(name, text, float(text), 0.5 * 10.0 ** int(Decimal(text).as_tuple().exponent))

    def as_share(self) -> Figure:
        """The figure read as a per cent: 46.4 is 0.464."""
        return self._of_text(self.name, format(Decimal(self.text).scaleb(-2), "f"))

    def cuts(self, value: float) -> bool:
        """Whether the figure is the first digits of a value, the rest cut off."""
        unit = 2.0 * self.slack
        return math.floor(value / unit + _NOISE) == round(self.value / unit)

    @property
    def places(self) -> int:
        """How many decimal places it has."""
        return max(0, -int(Decimal(self.text).as_tuple().exponent))

    def holds(self, value: float) -> bool:
        """Whether a value rounds to the figure."""
        return abs(value - self.value) <= self._room

    def is_within(self, bounds: tuple[float, float]) -> bool:
        """Whether a value between two bounds can round to the figure."""
        low, high = bounds
        return low - self._room <= self.value <= high + self._room

    @property
    def _room(self) -> float:
        return self.slack + _NOISE * max(1.0, abs(self.value))


def _read(name: str, given: float | str) -> float:
    """The number; who writes a per cent or a decimal comma is told how to write it here."""
    text = given.strip() if isinstance(given, str) else ""
    per_cent = _PER_CENT.fullmatch(text)
    number = per_cent[1] if per_cent else text
    if _WITH_COMMA.fullmatch(number):
        number = number.replace(",", ".")
    if number == text or not NUMBER.fullmatch(number):
        return read_number(given, name)
    value = Decimal(number).scaleb(-2) if per_cent else Decimal(number)
    raise UsageError(f"{name}: expected a number, found '{text}'", f"write {value:f}")
