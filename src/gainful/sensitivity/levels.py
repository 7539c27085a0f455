"""The gains that are worth trying: from flat to steep, for as many grade levels as the judgments have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gainful.data.judged import Judged
from gainful.errors import InputError, UsageError
from gainful.gains import Gain
from gainful.notation import number_text

#: With more levels than this nobody reads weights by level, and with more than that they are no levels.
_MOST_SHOWN, _MOST_WEIGHED = 6, 30
#: 2^grade - 1 beyond this grade is a gain for the top level alone.
_HIGHEST_EXP2 = 20

#: Gains that are written by what they are meant for: they become weights for as many levels as there are.
GAIN_WORDS = {
    "flat": "1 for every level above 0: 0-1-1-1",
    "tenfold": "every level is worth ten times the one below: 0-1-10-100",
    "top": "only the highest level counts: 0-0-0-1",
}


@dataclass(frozen=True)
class GradeLevels:
    """The grade levels above 0, ascending: of whole numbers all up to the highest, else those that occur.

    >>> GradeLevels.of_grades([0, 1, 3]).named("tenfold"), GradeLevels.of_grades([0.5, 1]).named("top")
    (Gain(text='0-1-10-100', weights=((0, 0.0), (1, 1.0), (2, 10.0), (3, 100.0))), \
Gain(text='{0:0,0.5:0,1:1}', weights=((0.0, 0.0), (0.5, 0.0), (1.0, 1.0))))
    """

    levels: tuple[float, ...]
    is_whole: bool

    @classmethod
    def of(cls, judged: Judged) -> GradeLevels:
        """The levels of prepared judgments."""
        return cls.of_grades(judged.levels.tolist())

    @classmethod
    def of_grades(cls, grades: Sequence[float]) -> GradeLevels:
        """The levels among some grades."""
        found = sorted({float(grade) for grade in grades if grade > 0})
        if found and found[-1] <= _MOST_WEIGHED and all(grade.is_integer() for grade in found):
            return cls(tuple(float(grade) for grade in range(1, int(found[-1]) + 1)), True)
        return cls(tuple(found), False)

    @property
    def can_be_weighed(self) -> bool:
        """Whether there are few enough levels for a weight each."""
        return 0 < len(self.levels) <= _MOST_WEIGHED

    def weighted(self, weights: Sequence[float]) -> Gain:
        """The gain map that gives the levels these weights, and 0 to grade 0."""
        pairs = zip((0.0, *self.levels), (0.0, *weights), strict=True)
        if not self.is_whole:
            return Gain.of(dict(pairs))
        return Gain.of("-".join(np.format_float_positional(weight, trim="-") for _, weight in pairs))

    def named(self, word: str, what: str = "gain") -> Gain:
        """The gain map that a word stands for."""
        if not self.can_be_weighed:
            raise UsageError(
                f"{what}: '{word}' expects grades of up to {_MOST_WEIGHED} levels, found {len(self.levels)}",
                "linear, exp2, binary and scaled go with any grades",
            )
        count = len(self.levels)
        weights = {"flat": [1.0] * count, "tenfold": [10.0**i for i in range(count)], "top": [0.0] * (count - 1) + [1]}
        return self.weighted(weights[word])

    def linear(self) -> Gain:
        """The grade itself, written by level where people can read that."""
        return self.weighted(self.levels) if self.is_whole and len(self.levels) <= _MOST_SHOWN else Gain("linear")

    def top_weighing(self, weight: float, *, up_to_1: bool = False) -> Gain:
        """The highest level has this weight, those below it have 1; ``up_to_1`` all as shares of the largest."""
        gain = self.weighted([*([1.0] * (len(self.levels) - 1)), weight])
        return self.up_to_1(gain) if up_to_1 else gain

    def up_to_1(self, gain: Gain) -> Gain:
        """The gain map as shares of its highest gain, for measures that take gains from 0 to 1 only.

        >>> str(GradeLevels.of_grades([1, 2]).up_to_1(Gain("0-1-10")))
        '0-0.1-1'
        """
        values = gain.of_grades(np.array(self.levels), self.levels[-1])
        return self.weighted((values / (values.max() or 1.0)).tolist())

    def read(self, value: object, what: str) -> Gain:
        """A gain map from its text, a mapping, or one of :data:`GAIN_WORDS`."""
        return self.named(value, what) if isinstance(value, str) and value in GAIN_WORDS else Gain.of(value, what)

    def defaults(self) -> list[tuple[Gain, float | None]]:
        """The gains to try, flat to steep, each once, with the grade from which on documents count (None: any)."""
        highest = self.levels[-1] if self.levels else 0.0
        exponential = [Gain("exp2")] if highest <= _HIGHEST_EXP2 else []
        if len(self.levels) <= _MOST_SHOWN:
            words = [self.named(word) for word in GAIN_WORDS] if self.levels else []
            tried = [*words[:1], self.linear(), *exponential, *words[1:]]
            return [(gain, None) for gain in self._different(tried)]
        thresholds: list[float] = [highest / 2, *([highest] if self.is_whole else [])]
        named: list[tuple[Gain, float | None]] = [
            (gain, None) for gain in (Gain("binary"), Gain("linear"), *exponential)
        ]
        return [*named, *((Gain("binary"), threshold) for threshold in thresholds)]

    def _different(self, gains: Sequence[Gain]) -> list[Gain]:
        """Without those that are multiples of another: what is compared or normalised cannot tell them apart."""
        kept: dict[tuple[float, ...], Gain] = {}
        for gain in gains:
            values = gain.of_grades(np.array(self.levels), 1.0)
            highest = values.max() if values.size else 0.0
            kept.setdefault(tuple(np.round(values / (highest or 1.0), 12).tolist()), gain)
        return list(kept.values())

    def check(self, gain: Gain, judged: Judged) -> None:
        """Refuses a gain map that lacks a grade of the judgments, and says what could be written."""
        try:
            gain.check(judged.levels)
        except InputError as error:
            if not (gain.weights and self.can_be_weighed and len(self.levels) <= _MOST_SHOWN):
                raise InputError(error.message, error.hint or "linear, exp2 and binary go with any grades") from None
            hint = f"these judgments go up to {number_text(self.levels[-1])}: for example {self.named('tenfold')}"
            raise InputError(error.message, f"{hint}, or the word tenfold, flat or top") from None
