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
        where, parameters = f"{self.where}: " if self.where else f"scenario {self.name}: ", measure.parameters()
        changes: dict[str, Any] = {}

        def taken(parameter: str | None, key: str) -> str:
            if parameter is None:
                raise UsageError(f"{where}{key}: {measure.name} takes none")
            return parameter

        takes_discount = "discount" in parameters
        try:
            if self.gain is not None:
                # The article's 0-1-2-3 is the grade itself on any scale.
                gain = levels.linear() if self.gain == "linear" else levels.read(self.gain, f"{where}gain")
                levels.check(gain, judged)
                changes[taken(gain_parameter(measure), "gain")] = gain
        except InputError as error:
            raise InputError(f"{where}{error.message}", error.hint) from None
        if self.discount is not None or self.base is not None:
            taken("discount" if takes_discount else None, "discount and base")
        if takes_discount and measure.discount == parameters["discount"]:  # type: ignore[attr-defined]
            changes["discount"] = self.discount or "jarvelin2002"
        elif self.discount is not None:
            changes["discount"] = self.discount
        if self.base is not None:
            changes["base"] = self.base
        if self.depth is not None:
            changes[taken(measure.at_parameter(), "depth")] = self.depth
        try:
            return measure.replace(**changes)
        except UsageError as error:
            raise UsageError(f"{where}{error.message}", error.hint) from None


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
    scenarios = {}
    for key, values in content.items():
        where = f"{name}: {printable(key)}"
        if not isinstance(values, dict):
            raise InputError(
                f"{where}: expected a table of a scenario's values, found {values!r}",
                "write [name] and below it depth = 10, gain = ...",
            )
        if key in SCENARIOS:
            raise InputError(f"{where}: expected a name of its own, found that of a scenario that is built in")
        for unknown in (each for each in values if each not in _READERS):
            known = ", ".join(_READERS)
            raise InputError(
                f"{where}.{printable(unknown)}: unknown, a scenario has {known}", nearest(unknown, _READERS)
            )
        try:
            read = {each: _READERS[each](value, f"{where}.{each}") for each, value in values.items()}
        except UsageError as error:
            raise InputError(error.message, error.hint) from None
        scenarios[key] = Scenario(key, where=where, **read)
    return scenarios


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise UsageError(f"{where}: expected a text, found {value!r}")
    return value


def _measure(value: object, where: str) -> Measure:
    text = _text(value, where)
    try:
        return parse(text)
    except UsageError as error:
        raise UsageError(f"{where}: {error.message}", error.hint) from None


#: How a scenario's values are read, by their keys.
_READERS: Mapping[str, Callable[[Any, str], Any]] = {
    "about": _text,
    "measure": _measure,
    "gain": lambda value, where: value if value in (*GAIN_WORDS, "linear") else Gain.of(value, where),
    "discount": lambda value, where: choose(value, DISCOUNTS, where),
    "base": read_base,
    "depth": read_whole,
}


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
