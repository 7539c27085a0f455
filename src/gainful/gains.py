"""Gain maps: the value of a document of a grade to the user."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from gainful.errors import InputError, UsageError
from gainful.frozen import dataclass, field
from gainful.kernel.arrays import Floats, distinct
from gainful.notation import nearest, number_text, read_number

#: Named gain maps, with their definitions.
NAMED_GAINS: Mapping[str, str] = {
    "linear": "the grade itself",
    "exp2": "2^grade - 1",
    "binary": "1 if the grade is above 0",
    "scaled": "grade / scale",
}

#: Gains up to this limit have finite sums at any list length.
_LARGEST = 1e290

_WEIGHTS = re.compile(r"(\d+\.?\d*|\.\d+)((-|,\s*)(\d+\.?\d*|\.\d+))+", re.ASCII)
_ENDS = re.compile(r"(?P<low>\d+(\.\d+)?)\.\.(?P<high>\d+(\.\d+)?)", re.ASCII)


#: Other tools' names of gain maps.
_ELSEWHERE = dict.fromkeys(("exponential", "burges", "2^g-1", "2^rel-1"), "exp2 is 2^grade - 1") | dict.fromkeys(
    ("identity", "raw", "grade"), "linear is the grade itself"
)


@dataclass(frozen=True)
class Gain:
    """A gain map. ``weights`` has the gain per grade, and is empty for named maps; between ``ends``, if given, gains
    grow linearly from 0 to 1.

    Negative grades and unjudged documents have gain 0 in every map.

    >>> Gain.of("0-1-10-100").of_grades(np.array([3.0, 0.0, -2.0]), scale=3.0)
    array([100.,   0.,   0.])
    >>> str(Gain.of({0: 0, 0.3: 1, 1: 10}))
    '{0:0,0.3:1,1:10}'
    >>> Gain.of("1..3").of_grades(np.array([0.0, 1.0, 2.5, 4.0]), scale=4.0)
    array([0.  , 0.  , 0.75, 1.  ])
    """

    text: str
    weights: tuple[tuple[float, float], ...] = ()
    ends: tuple[float, float] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not self.weights and self.ends is None and self.text not in NAMED_GAINS:
            parsed = Gain.of(self.text)
            for name in ("text", "weights", "ends"):
                object.__setattr__(self, name, getattr(parsed, name))

    @classmethod
    def of(cls, value: object, what: str = "gain") -> Gain:
        """Parse a gain map from text or a mapping of grades to gains."""
        if isinstance(value, Gain):
            return value
        if isinstance(value, Mapping):
            return cls._from_pairs(list(value.items()), what)
        if isinstance(value, str):
            text = value.strip()
            if text in NAMED_GAINS:
                return cls(text)
            if _WEIGHTS.fullmatch(text):
                numbers = [read_number(part, what) for part in re.split("[-,]", text)]
                # Avoid exponents, whose minus signs would look like separators.
                plain = [np.format_float_positional(number, trim="-") for number in numbers]
                return cls("-".join(plain), tuple(enumerate(numbers)))
            if match := _ENDS.fullmatch(text):
                low, high = float(match["low"]), float(match["high"])
                if low >= high:
                    raise UsageError(f"{what}: expected a lower grade before .. than after it, found {text}")
                return cls(f"{number_text(low)}..{number_text(high)}", ends=(low, high))
            if text.startswith("{") and text.endswith("}"):
                return cls._from_pairs([_pair(part, what) for part in text[1:-1].split(",") if part], what)
        raise UsageError(
            f"{what}: expected {' | '.join(NAMED_GAINS)}, weights by level like 0-1-10-100, or a map like "
            f"{{0:0,0.3:1,1:10}}, found {value if isinstance(value, str) else repr(value)}",
            _ELSEWHERE.get(str(value).casefold()) or nearest(str(value), NAMED_GAINS),
        )

    @classmethod
    def _from_pairs(cls, pairs: list[tuple[object, object]], what: str) -> Gain:
        read = sorted((read_number(g, f"{what}: grade"), read_number(w, f"{what}: weight")) for g, w in pairs)
        if not read:
            raise UsageError(f"{what}: the map of grades to gains is empty")
        for number in (number for pair in read for number in pair):
            if number < 0:
                raise UsageError(f"{what}: expected numbers of 0 or more in the map, found {number_text(number)}")
        if len({grade for grade, _ in read}) < len(read):
            raise UsageError(f"{what}: duplicate grade in the map")
        return cls("{" + ",".join(f"{number_text(g)}:{number_text(w)}" for g, w in read) + "}", tuple(read))

    def __str__(self) -> str:
        return self.text

    def of_grades(self, grades: Floats, scale: float) -> Floats:
        """Return the gain of every grade; ``scale`` is the highest possible grade."""
        clipped = np.maximum(grades, 0.0)
        if self.weights:
            gains = self._looked_up(clipped, grades >= 0)
        elif self.ends is not None:
            low, high = self.ends
            gains = (np.clip(clipped, low, high) - low) / (high - low)
        elif self.text == "linear":
            gains = clipped
        elif self.text == "exp2":
            # Near 0 the difference would lose digits; at integer grades the power is exact.
            gains = np.where(clipped < 1.0, np.expm1(clipped * np.log(2.0)), np.exp2(clipped) - 1.0)
        elif self.text == "binary":
            gains = (clipped > 0).astype(np.float64)
        else:
            gains = clipped / scale if scale > 0 else np.zeros_like(clipped)
        return gains

    def highest(self, scale: float) -> float:
        """Return the highest gain: the largest weight, or the gain of the highest possible grade.

        >>> Gain.of("0-1-10").highest(scale=1.0), Gain.of("exp2").highest(scale=3.0), Gain.of("0..4").highest(scale=3.0)
        (10.0, 7.0, 1.0)
        """
        if self.ends is not None:
            return 1.0
        if self.weights:
            return max(weight for _, weight in self.weights)
        with np.errstate(over="ignore"):
            return float(self.of_grades(np.array([scale]), scale)[0])

    def scaled_to_1(self, grades: Floats, scale: float) -> Floats:
        """Return the gain of every grade as a share of the highest, from 0 to 1.

        >>> Gain.of("0-1-10").scaled_to_1(np.array([2.0, 1.0, -1.0]), scale=2.0)
        array([1. , 0.1, 0. ])
        """
        return self.of_grades(grades, scale) / (self.highest(scale) or 1.0)

    def check(self, levels: Floats) -> None:
        """Raise InputError if a distinct grade of the judgments has no finite gain."""
        levels = levels[levels >= 0]
        with np.errstate(over="ignore"):
            gains = self.of_grades(levels, 1.0)
        if gains.size and not gains.max() <= _LARGEST:
            raise InputError(f"gain={self}: the gain of grade {number_text(levels[-1])} is too large")

    def _looked_up(self, grades: Floats, counts: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Floats:
        known, weights = np.array(self.weights).T
        places = np.minimum(np.searchsorted(known, grades), known.size - 1)
        unknown = counts & (known[places] != grades)
        if unknown.any():
            without = distinct(grades[unknown])
            listed = ", ".join(number_text(grade) for grade in without[:10])
            hint = "include the weight of grade 0" if without[0] == 0 else None
            raise InputError(f"gain={self}: no weight for these grades in the judgments: {listed}", hint)
        return np.where(counts, weights[places], 0.0)


def _pair(text: str, what: str) -> tuple[object, object]:
    grade, colon, weight = text.partition(":")
    if not colon:
        raise UsageError(f"{what}: expected grade:gain pairs in the map, found '{text}'")
    return grade, weight
