"""Scenarios: settings with a name, because somebody argued for them.

"If one is evaluating IR methods for very busy users ..." (Järvelin and Kekäläinen, TOIS 2002, section 4): the two
scenarios of that article are built in, others come from a TOML file.

The weight of the highest level from light to heavy, and at which weights systems change places.
"""

from __future__ import annotations

import math
import os
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any, NamedTuple, TypeAlias

from gainful.data.judged import Judged
from gainful.discounts import DISCOUNTS, Base, read_base
from gainful.errors import InputError, UsageError
from gainful.gains import Gain
from gainful.measures.base import Measure, read_whole
from gainful.measures.catalog import parse
from gainful.notation import choose, nearest, number_text, printable, read_number
from gainful.tasks.sensitivity.sensitivity_cells import Cell, is_tie
from gainful.tasks.sensitivity.sensitivity_grid import GAIN_WORDS, GradeLevels, gain_parameter

_KEYS = ("about", "measure", "gain", "discount", "base", "depth")


@dataclass(frozen=True)
class Scenario:
    """How a user searches, as parameters of a measure. ``gain`` may be a word (flat, tenfold, top) for any scale.

    What is None stays as the measure has it, except that the discount is then jarvelin2002.

    >>> from gainful import Policy, Qrels
    >>> judged = Judged(Qrels.from_dict({"q": {"d": 2, "e": 1}}), Policy())
    >>> Scenario("hurried", gain="tenfold", depth=5).measure_for(judged, parse("nDCG"))
    nDCG(gain=0-1-10, discount=jarvelin2002)@5
    """

    name: str
    gain: str | Gain | None = None
    discount: str | None = None
    base: Base | None = None
    depth: int | None = None
    measure: Measure | None = None
    about: str = ""
    where: str = ""

    def measure_for(self, judged: Judged, usual: Measure) -> Measure:
        """The measure of the scenario, with gains for the levels of these judgments. ``usual`` if it names none."""
        measure, levels = self.measure or usual, GradeLevels.of(judged)
        changes: dict[str, Any] = {}
        if self.gain is not None:
            gain = self._gain(levels, judged)
            changes[self._taken(measure, gain_parameter(measure), "gain")] = gain
        if self.discount is not None or self.base is not None:
            self._taken(measure, "discount" if "discount" in measure.parameters() else None, "discount and base")
        takes_discount = "discount" in measure.parameters()
        if takes_discount and measure.discount == measure.parameters()["discount"]:  # type: ignore[attr-defined]
            changes["discount"] = self.discount or "jarvelin2002"
        elif self.discount is not None:
            changes["discount"] = self.discount
        if self.base is not None:
            changes["base"] = self.base
        if self.depth is not None:
            changes[self._taken(measure, measure.at_parameter(), "depth")] = self.depth
        try:
            return measure.replace(**changes)
        except UsageError as error:
            raise UsageError(f"{self._at()}{error.message}", error.hint) from None

    def _gain(self, levels: GradeLevels, judged: Judged) -> Gain:
        # The article's 0-1-2-3 is the grade itself on any scale.
        gain = levels.linear() if self.gain == "linear" else levels.read(self.gain, f"{self._at()}gain")
        try:
            levels.check(gain, judged)
        except InputError as error:
            raise InputError(f"{self._at()}{error.message}", error.hint) from None
        return gain

    def _taken(self, measure: Measure, parameter: str | None, key: str) -> str:
        if parameter is None:
            raise UsageError(f"{self._at()}{key}: {measure.name} takes none")
        return parameter

    def _at(self) -> str:
        return f"{self.where}: " if self.where else f"scenario {self.name}: "


#: The scenarios of Järvelin and Kekäläinen, TOIS 2002, section 4.
SCENARIOS: Mapping[str, Scenario] = {
    scenario.name: scenario
    for scenario in (
        Scenario(
            "impatient",
            "tenfold",
            "jarvelin2002",
            2.0,
            30,
            about="a very busy user, who looks at the best answers only",
        ),
        Scenario(
            "patient",
            "linear",
            "jarvelin2002",
            10.0,
            200,
            about="a patient user, who reads on to late and marginal answers",
        ),
    )
}


def read_scenarios(path: str | os.PathLike[str]) -> dict[str, Scenario]:
    """The scenarios of a TOML file, each a table: ``[name]`` with gain, discount, base, depth, measure, about."""
    name = os.fspath(path)
    try:
        with open(path, "rb") as file:
            content = tomllib.load(file)
    except OSError as error:
        raise InputError(f"{name}: cannot be read ({error.strerror or error})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{name}: expected TOML, found something else: {error}") from None
    if not content:
        raise InputError(f"{name}: expected at least one scenario, found none", "[hurried] and below it depth = 10")
    return {key: _read(key, values, name) for key, values in content.items()}


def _read(key: str, values: object, file: str) -> Scenario:
    where = f"{file}: {printable(key)}"
    if not isinstance(values, dict):
        raise InputError(
            f"{where}: expected a table of a scenario's values, found {values!r}",
            "write [name] and below it depth = 10, gain = ...",
        )
    if key in SCENARIOS:
        raise InputError(f"{where}: expected a name of its own, found that of a scenario that is built in")
    for name in values:
        if name not in _KEYS:
            raise InputError(
                f"{where}.{printable(name)}: unknown, a scenario has {', '.join(_KEYS)}", nearest(name, _KEYS)
            )
    read = {name: _value(name, value, f"{where}.{name}") for name, value in values.items()}
    return Scenario(key, where=where, **read)


def _value(name: str, value: object, where: str) -> Any:
    readers: Mapping[str, Callable[[], object]] = {
        "about": lambda: _text(value, where),
        "measure": lambda: _measure(value, where),
        "gain": lambda: value if value in (*GAIN_WORDS, "linear") else Gain.of(value, where),
        "discount": lambda: choose(value, DISCOUNTS, where),
        "base": lambda: read_base(value, where),
        "depth": lambda: read_whole(value, where),
    }
    try:
        return readers[name]()
    except UsageError as error:
        raise InputError(error.message, error.hint) from None


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise UsageError(f"{where}: expected a text, found {value!r}")
    return value


def _measure(value: object, where: str) -> Measure:
    try:
        return parse(_text(value, where))
    except UsageError as error:
        message = error.message if error.message.startswith(where) else f"{where}: {error.message}"
        raise UsageError(message, error.hint) from None


def choose_scenarios(names: Iterable[str], defined: Mapping[str, Scenario]) -> list[Scenario]:
    """The scenarios of these names, built in or defined; without names all that are defined."""
    wanted = list(dict.fromkeys(names)) or list(defined)
    known = {**SCENARIOS, **defined}
    for name in wanted:
        if name not in known:
            raise UsageError(
                f"scenario: expected {' | '.join(known)}, found '{name}'",
                nearest(name, known) or "others are defined in a TOML file",
            )
    return [known[name] for name in wanted]


#: Steps between the points that are evaluated, and into how many each is divided where systems change places: from 1 to
#: 1000 these steps are less than one per cent.
_STEPS, _PARTS = 24, 32
_WIDEST = 1e12

#: The means of some systems (by name) at some weights.
Values: TypeAlias = Mapping[tuple[float, str], float | None]
Means: TypeAlias = Callable[[Mapping[float, Sequence[str]]], Values]


class WeightRange(NamedTuple):
    """Where the sweep begins and ends."""

    low: float = 1.0
    high: float = 1000.0

    @classmethod
    def of(cls, low: object, high: object) -> WeightRange:
        """Two weights above 0, the lower one first."""
        read = cls(read_number(low, "sweep"), read_number(high, "sweep"))
        found = f"{number_text(read.low)} and {number_text(read.high)}"
        if not 0 < read.low < read.high:
            raise UsageError(
                f"sweep: expected two weights above 0, the lower one first, found {found}", "such as 1-1000"
            )
        if read.high / read.low > _WIDEST:
            raise UsageError(f"sweep: expected weights that differ at most by a factor of 1e12, found {found}")
        return read

    def weight(self, place: int) -> float:
        """The weight at a place of the fine scale, 0 to 768, evenly by ratio; four digits."""
        exact = self.low * (self.high / self.low) ** (place / (_STEPS * _PARTS))
        return exact if place in (0, _STEPS * _PARTS) else float(f"{exact:.4g}")

    def points(self) -> list[float]:
        """The weights that are evaluated in any case."""
        return [self.weight(place) for place in range(0, _STEPS * _PARTS + 1, _PARTS)]


class Overtaking(NamedTuple):
    """``overtaken`` is ahead at the weight ``low`` and no longer at ``high``; further on ``overtaking`` leads.

    ``for_first`` if the one wins before and the other one after.
    """

    overtaken: str
    overtaking: str
    low: float
    high: float
    for_first: bool


@dataclass(frozen=True)
class Sweep:
    """The order of systems while the weight of the highest level grows; all levels below it have weight 1.

    ``points`` are evenly spaced by ratio; ``changes`` say where two systems change places, to about one per cent. What
    changes and changes back between two points is not seen.
    """

    grade: float
    weights: tuple[float, ...]
    points: tuple[Cell, ...]
    changes: tuple[Overtaking, ...]

    @property
    def setting(self) -> str:
        """What the other axes are set to."""
        return self.points[0].label


def sweep_measures(
    parameter: str, levels: GradeLevels, weights: Iterable[float], setting: Measure, *, up_to_1: bool
) -> dict[float, Measure]:
    """The measure at every weight; ``up_to_1`` if it takes no gains above 1."""
    return {weight: setting.replace(**{parameter: levels.top_weighing(weight, up_to_1=up_to_1)}) for weight in weights}


def find_changes(
    points: Sequence[Cell], span: WeightRange, means: Means, *, lower_is_better: bool
) -> tuple[Overtaking, ...]:
    """Where two systems change places, from light to heavy; every change is closed in on between two points."""
    brackets = _brackets(points, lower_is_better)
    known: dict[tuple[float, str], float | None] = {}
    while open_ones := [bracket for bracket in brackets if bracket.high - bracket.low > 1]:
        needed: dict[float, list[str]] = {}
        for bracket in open_ones:
            weight = span.weight(bracket.middle)
            names = needed.setdefault(weight, [])
            names += [run for run in bracket.runs if (weight, run) not in known and run not in names]
        known.update(means({weight: runs for weight, runs in needed.items() if runs}))
        for bracket in open_ones:
            one, other = (known[span.weight(bracket.middle), run] for run in bracket.runs)
            if _sign(one, other, lower_is_better) == 1:
                bracket.low = bracket.middle
            else:
                bracket.high = bracket.middle
    found = [
        Overtaking(*bracket.runs, span.weight(bracket.low), span.weight(bracket.high), bracket.for_first)
        for bracket in brackets
    ]
    return tuple(sorted(found, key=lambda change: (change.low, not change.for_first)))


@dataclass
class _Bracket:
    """Two systems of which the first leads at the fine scale's place ``low``, and the second at ``high``."""

    runs: tuple[str, str]
    low: int
    high: int
    for_first: bool

    @property
    def middle(self) -> int:
        return (self.low + self.high) // 2


def _brackets(points: Sequence[Cell], lower_is_better: bool) -> list[_Bracket]:
    runs = [score.run for score in points[0].scores]
    values = [[score.value for score in cell.scores] for cell in points]
    found = []
    for i, j in combinations(range(len(runs)), 2):
        signs = [_sign(row[i], row[j], lower_is_better) for row in values]
        told_apart = [k for k, sign in enumerate(signs) if sign]
        for before, after in pairwise(told_apart):
            if signs[before] != signs[after]:
                pair = (runs[i], runs[j]) if signs[before] > 0 else (runs[j], runs[i])
                first = points[before].winners == pair[:1] and pair[1] in points[after].winners
                found.append(_Bracket(pair, before * _PARTS, after * _PARTS, first))
    return found


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _sign(one: float | None, other: float | None, lower_is_better: bool) -> int:
    """1 if the first is ahead, -1 if the second is, 0 if neither (or one has no mean)."""
    x, y = _number(one), _number(other)
    if math.isnan(x) or math.isnan(y) or is_tie(x, y):
        return 0
    return 1 if (x < y) == lower_is_better else -1
