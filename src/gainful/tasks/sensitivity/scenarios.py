"""Scenarios: settings with a name, because somebody argued for them.

"If one is evaluating IR methods for very busy users ..." (Järvelin and Kekäläinen, TOIS 2002, section 4): the two
scenarios of that article are built in, others come from a TOML file.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gainful.data.judged import Judged
from gainful.discounts import DISCOUNTS, Base, read_base
from gainful.errors import InputError, UsageError
from gainful.gains import Gain
from gainful.measures.base import Measure
from gainful.measures.catalog import parse
from gainful.notation import choose, nearest, printable, read_whole
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
