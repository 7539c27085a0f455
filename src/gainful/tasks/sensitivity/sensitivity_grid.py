"""The grid: what is varied, and the measure in every cell; gains from flat to steep for as many levels as there are."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from gainful.data.judged import Judged
from gainful.discounts import DISCOUNTS, read_base
from gainful.errors import InputError, UsageError
from gainful.gains import Gain
from gainful.measures.base import Measure, value_text
from gainful.notation import choose, count_of, nearest, number_text, read_whole

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


DISCOUNTS_TRIED = ("jarvelin2002", "none")
BASES_TRIED: tuple[float | str, ...] = (2.0, "e", 10.0)
DEPTHS_TRIED = (10, 30, 100, 200)

_MOST_CELLS = 1000


class Option(NamedTuple):
    """A value of an axis: what people call it, and the parameters that it sets."""

    label: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class Axis:
    """What is varied: ``gain`` (or ``urs``), ``discount``, ``depth``, or another parameter of the measure."""

    name: str
    options: tuple[Option, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(option.label for option in self.options)

    def label(self, place: int) -> str:
        """A value as it stands in a list of several axes' values."""
        label = self.options[place].label
        if self.name == "depth":
            return f"@{label}"
        return label if self.name in ("gain", "urs", "discount") else f"{self.name}={label}"


class Wanted(NamedTuple):
    """What a user wants to be varied; None is what is usually tried."""

    gains: Sequence[object] | None = None
    discounts: Sequence[str] | None = None
    bases: Sequence[object] | None = None
    depths: Sequence[object] | None = None
    vary: Mapping[str, Sequence[object]] | None = None


class Setting(NamedTuple):
    """A cell of the grid: its place on every axis, and the measure there."""

    place: tuple[int, ...]
    measure: Measure


@dataclass(frozen=True)
class Grid:
    """The axes, the measure in every cell (the last axis runs fastest), and what a user should know about them."""

    measure: Measure
    axes: tuple[Axis, ...]
    settings: tuple[Setting, ...]
    notices: tuple[str, ...]

    @classmethod
    def of(cls, measure: Measure, judged: Judged, wanted: Wanted) -> Grid:
        """The grid of a measure. What the measure itself says (``nDCG(gain=exp2)@20``) is not varied."""
        if measure.better == "neither":
            raise UsageError(f"{measure}: expected a measure that can order systems, found one without a better side")
        drawing = _Drawing(measure, judged)
        axes = drawing.axes(wanted)
        cells = math.prod(len(axis.options) for axis in axes)
        if not axes:
            names = list(measure.parameters())
            raise UsageError(
                f"{measure.name}: takes neither gain, discount nor depth, so there is nothing to vary",
                f"--vary {names[0]}=... varies another parameter: it has {', '.join(names)}" if names else None,
            )
        if cells > _MOST_CELLS:
            raise UsageError(f"expected at most {_MOST_CELLS:,} cells, found {cells:,}", "give fewer values")
        settings = []
        for place in product(*(range(len(axis.options)) for axis in axes)):
            chosen = [axis.options[i].parameters for axis, i in zip(axes, place, strict=True)]
            changes = {name: value for parameters in chosen for name, value in parameters.items()}
            settings.append(Setting(place, measure.replace(**changes)))
        return cls(measure, axes, tuple(settings), tuple(drawing.notices))

    def label(self, setting: Setting) -> str:
        """What people call a cell."""
        return ", ".join(axis.label(place) for axis, place in zip(self.axes, setting.place, strict=True))


def gain_parameter(measure: Measure) -> str | None:
    """The parameter that says what grades are worth: ``gain``, or ``urs`` of the distance measures."""
    return next((name for name in ("gain", "urs") if name in measure.parameters()), None)


def takes_up_to_1(measure: Measure, judged: Judged) -> bool:
    """Whether the measure refuses gains above 1, as RBP does."""
    parameter, levels = gain_parameter(measure), GradeLevels.of(judged)
    if parameter is None or not levels.can_be_weighed:
        return False
    try:
        measure.replace(**{parameter: levels.weighted([2.0] * len(levels.levels))}).check(judged.levels)
    except InputError:
        return True
    return False


class _Drawing:
    """Draws up the axes of a grid."""

    def __init__(self, measure: Measure, judged: Judged) -> None:
        self.measure, self.judged = measure, judged
        self.levels = GradeLevels.of(judged)
        self.parameters = measure.parameters()
        self.notices: list[str] = []

    def axes(self, wanted: Wanted) -> tuple[Axis, ...]:
        drawn = {gain_parameter(self.measure) or "gain": self._gains(wanted.gains)}
        drawn["discount"] = self._discounts(wanted.discounts, wanted.bases)
        drawn |= {name: self._others(name, values) for name, values in (wanted.vary or {}).items()}
        drawn["depth"] = self._depths(wanted.depths)
        axes = []
        for name, options in drawn.items():
            once: dict[str, Option] = {}  # a value that is given twice counts once
            for each in options:
                once.setdefault(each.label, each)
            axes += [Axis(name, tuple(once.values()))] if once else []
        return tuple(axes)

    def _fixed(self, parameter: str, given: object) -> object | None:
        """The value that the measure itself has, if it is not the default."""
        value: object = getattr(self.measure, parameter)
        if value == self.parameters[parameter]:
            return None
        if given is not None:
            raise UsageError(
                f"{self.measure}: expected {parameter} once, found it in the measure and as something to vary"
            )
        return value

    def _leave_out(self, axis: str, given: object) -> list[Option]:
        """An axis that the measure has no parameter for."""
        if given is not None:
            raise UsageError(f"{self.measure.name}: takes no {axis}, so it cannot be varied", self._hint())
        self.notices.append(f"{self.measure.name} takes no {axis}: it is not varied")
        return []

    def _hint(self) -> str:
        return f"{self.measure.name} takes {', '.join(self.parameters) or 'no parameters'}"

    def _gains(self, given: Sequence[object] | None) -> list[Option]:
        parameter = gain_parameter(self.measure)
        if parameter is None:
            return self._leave_out("gain", given)
        fixed = self._fixed(parameter, given)
        if fixed is not None:
            return [Option(value_text(fixed), {parameter: fixed})]
        if given is not None:
            read: list[object] = []
            for value in _some(given, "gains"):
                is_given = parameter == "urs" and value == "given"
                read.append("given" if is_given else self.levels.read(value, "gain"))
                if isinstance(read[-1], Gain):
                    self.levels.check(read[-1], self.judged)
            return [Option(str(gain), {parameter: gain}) for gain in read]
        free = all(getattr(self.measure, name, None) is None for name in ("rel", "level"))
        has_rel = parameter == "gain" and "rel" in self.parameters and free
        options = [
            Option(str(gain), {parameter: gain})
            if rel is None
            else Option(f"{gain} from {number_text(rel)}", {parameter: gain, "rel": rel})
            for gain, rel in self.levels.defaults()
            if rel is None or has_rel
        ]
        if takes_up_to_1(self.measure, self.judged):
            # Gains as shares of their highest, under the names that they are known by.
            options = [
                Option(label, {**parameters, parameter: self.levels.up_to_1(parameters[parameter])})
                for label, parameters in options
            ]
        if len(options) == 1:
            self.notices.append("the judgments have at most one level above 0: gains cannot make a difference")
        return options

    def _discounts(self, given: Sequence[str] | None, given_bases: Sequence[object] | None) -> list[Option]:
        if "discount" not in self.parameters:
            return self._leave_out("discount", given if given is not None else given_bases)
        fixed = self._fixed("discount", given)
        discounts = [choose(each, DISCOUNTS, "discount") for each in _some(given or DISCOUNTS_TRIED, "discounts")]
        discounts = discounts if fixed is None else [str(fixed)]
        has_base = "base" in self.parameters
        fixed_base = self._fixed("base", given_bases) if has_base else None
        bases = [read_base(base, "base") for base in _some(given_bases or BASES_TRIED, "bases")]
        bases = bases if fixed_base is None else [read_base(fixed_base)]
        logarithmic = [discount for discount in discounts if DISCOUNTS[discount].has_base]
        if given_bases is not None and not (logarithmic and has_base):
            raise UsageError(f"base: expected a discount that has one, found {', '.join(discounts)}")
        options = []
        usual_base = {"base": self.parameters["base"]} if has_base else {}
        for discount in discounts:
            # The base divides run and ideal alike: log_b(j + 1) is log(j + 1) / log b at every rank.
            cancels = discount == "burges2005" and getattr(self.measure, "normalised", False)
            if cancels and given_bases is not None:
                self.notices.append(
                    f"no base changes {self.measure.name} with discount={discount}, it cancels: evaluated once "
                    "(jarvelin2002 is where the base matters)"
                )
            if discount not in logarithmic or not has_base or cancels:
                options.append(Option(discount, {"discount": discount, **usual_base}))
            else:
                prefix = f"{discount} " if len(set(logarithmic)) > 1 else ""
                options += [
                    Option(f"{prefix}base {value_text(base)}", {"discount": discount, "base": base}) for base in bases
                ]
        return options

    def _others(self, name: str, values: Sequence[object]) -> list[Option]:
        if name not in self.parameters:
            raise UsageError(
                f"{self.measure.name}: unknown parameter '{name}'", nearest(name, self.parameters) or self._hint()
            )
        taken = {"gain": "gains", "urs": "gains", "discount": "discounts", "base": "bases", "cutoff": "depths"}
        if name in taken:
            raise UsageError(f"vary: {name} has an axis of its own, the {taken[name]}")
        self._fixed(name, values)
        read = [getattr(self.measure.replace(**{name: value}), name) for value in _some(values, name)]
        return [Option(value_text(value), {name: value}) for value in read]

    def _depths(self, given: Sequence[object] | None) -> list[Option]:
        if self.measure.at_parameter() != "cutoff":
            return self._leave_out("depth", given)
        usual, needs_depth = self.parameters["cutoff"], False
        try:
            self.measure.replace(cutoff=usual)
        except UsageError:
            needs_depth = True
        # A measure that cannot do without a depth (P, average=ranks) may have been given one only for that.
        fixed = None if given is not None and needs_depth else self._fixed("cutoff", given)
        # What a measure cuts at by itself belongs to what is tried.
        tried = (*DEPTHS_TRIED, usual) if isinstance(usual, int) and usual not in DEPTHS_TRIED else DEPTHS_TRIED
        depths = [fixed] if fixed is not None else _some(tried if given is None else given, "depths")
        read = [read_whole(depth, "depth") for depth in depths]
        return [Option(str(depth), {"cutoff": depth}) for depth in read]


def _some(values: Sequence[object], what: str) -> list[Any]:
    """The values as a list; none at all, and a lone text, are refused."""
    if isinstance(values, (str, bytes, Gain, Mapping)) or not isinstance(values, Iterable):
        raise UsageError(f"{what}: expected several values, found {values!r}")
    found = list(values)
    if not found:
        raise UsageError(f"{what}: expected at least one, found {count_of(0, 'value')}")
    return found
