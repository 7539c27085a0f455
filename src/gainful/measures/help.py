"""Help on measures: sections of docstrings, and known differences from other tools.

The same text serves the command line and the documentation. Differences are data, verified by tests.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from gainful.discounts import DISCOUNTS
from gainful.gains import NAMED_GAINS, Gain
from gainful.measures.base import Measure, value_text
from gainful.measures.names_trec_eval import trec_eval_forms
from gainful.measures.parameters import PARAMETERS
from gainful.notation import number_text

SECTIONS = ("Formula", "Conventions", "Agrees with", "Differs from", "Reference", "Example")
_HEADING = re.compile(rf"^({'|'.join(SECTIONS)}):$")


@dataclass(frozen=True)
class Help:
    """The summary line (claim) of a measure, and its sections by name."""

    claim: str
    sections: Mapping[str, str]

    @classmethod
    def of(cls, measure: Measure | type[Measure]) -> Help:
        """Return the help of a measure, with its own formula for these parameters if it has one.

        Sections of base classes are appended; in these, ``{name}`` is the name of the measure. For measures of
        trec_eval, its name and file are what they agree with and refer to, unless their sections say more.
        """
        kind = type(measure) if isinstance(measure, Measure) else measure
        families = [each for each in kind.__mro__[1:] if issubclass(each, Measure) and "name" not in vars(each)]
        sections: dict[str, str] = {}
        for each in (kind, *families):
            for name, text in _sections_of(each).items():
                before = sections.get(name, "")
                between = "" if not before else "\n" if text.lstrip().startswith("- ") else "\n\n"
                sections[name] = before + between + text.replace("{name}", kind.name)
        for form in filter(None, trec_eval_forms().get(kind.name, ())):
            # If nothing else is said, the measure is trec_eval's, as defined in its file.
            sections.setdefault("Agrees with", f"    trec_eval {re.sub('{.*}', 'k', form)}")
            sections.setdefault("Reference", f"    trec_eval, m_{form.partition('_{')[0]}.c")
        if isinstance(measure, Measure) and measure.own_formula():
            sections["Formula"] = measure.own_formula()
        return cls(kind.help_text().partition("\n")[0], sections)

    def paragraphs(self, section: str) -> list[str]:
        """Return a section's paragraphs, points and lines of code, each joined into one line.

        >>> from gainful.measures.catalog import MEASURES
        >>> Help.of(MEASURES["P"]).paragraphs("Conventions")[1]
        'no relevant documents: 0'
        """
        found: list[str] = []
        goes_on = False
        for line in self.sections.get(section, "").splitlines():
            text = line.strip()
            is_code = text.startswith((">>>", "...")) or (section == "Formula" and line.startswith("    "))
            if not text:
                goes_on = False
            elif goes_on and not is_code and not text.startswith("- "):
                found[-1] += " " + text
            else:
                found.append(text.removeprefix("- "))
                goes_on = not is_code
        return found


def _sections_of(kind: type[Measure]) -> dict[str, str]:
    sections: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in kind.help_text().splitlines():
        heading = _HEADING.match(line)
        if heading:
            lines = sections.setdefault(heading[1], [])
        else:
            lines.append(line)
    return {name: "\n".join(text).strip("\n") for name, text in sections.items()}


def reading(measure: Measure | type[Measure]) -> str:
    """Describe a measure's values: direction, range and aggregation."""
    low, high = measure.bounds
    if math.isfinite(high):
        bounds = f"from {number_text(low)} to {number_text(high)}"
    else:
        bounds = f"{number_text(low)} or more" if math.isfinite(low) else "of any size"
    better = {"higher": "Higher is better", "lower": "Lower is better", "neither": "Neither direction is better"}
    over = "sessions" if measure.unit == "session" else "queries"
    how = {"mean": f"averaged over {over}", "sum": f"summed over {over}", "whole": "one value for all lists together"}
    aggregated = how.get(measure.aggregate, f"aggregated over {over} by geometric mean")
    return f"{better[measure.better]}; values {bounds}; {aggregated}."


def about_parameter(measure: Measure | type[Measure], parameter: str) -> str:
    """Return the meaning of a parameter for any value; empty if unknown."""
    shared = PARAMETERS.get(parameter)
    about = measure.meanings.get(parameter) or (shared.meaning if shared else "")
    if parameter == "cutoff" and not measure.why_no_budget():
        about += "; `@4000t`: those within a budget (ideal lists stay whole)"
    return about


def meaning(measure: Measure, parameter: str) -> str:
    """Return the meaning of a measure's parameter, including that of its value for gains and discounts."""
    about, value = about_parameter(measure, parameter).replace("`", ""), getattr(measure, parameter)
    if isinstance(value, Gain):
        return f"{about}: {gain_meaning(value)}"
    if parameter == "discount" and value in DISCOUNTS:
        return f"a gain at rank j is divided by {DISCOUNTS[value].formula} ({DISCOUNTS[value].source})"
    if parameter in measure._unused():
        return "not used with the other parameters"
    return about


def gain_meaning(gain: Gain) -> str:
    """Describe a gain map in words.

    >>> gain_meaning(Gain.of("0-1-10"))
    'grade 0 gives 0, 1 gives 1, 2 gives 10'
    """
    if gain.ends is not None:
        low, high = map(number_text, gain.ends)
        return f"(grade - {low}) / ({high} - {low}), at least 0 and at most 1"
    if not gain.weights:
        return NAMED_GAINS[gain.text]
    return "grade " + ", ".join(f"{number_text(grade)} gives {number_text(weight)}" for grade, weight in gain.weights)


def parameter_text(measure: Measure, parameter: str) -> str:
    """Format a parameter's value, marking defaults."""
    value = measure._given(parameter)
    text = "none" if value is None else value_text(value)
    return f"{text} (default)" if value == measure.parameters()[parameter] else text


class Difference(NamedTuple):
    """A difference from another tool: its name for the measure, our measures concerned, and the reason.

    ``recorded`` is the source for tools that are not available to tests; None if a test shows the difference. ``told``
    are our measures whose docstring already mentions it.
    """

    tool: str
    measure: str
    ours: Sequence[str]
    why: str
    recorded: str | None = None
    told: Sequence[str] = ()

    def __str__(self) -> str:
        """Return the reason with its source."""
        return self.why + (f" ({self.recorded})" if self.recorded else "")


@cache
def differences() -> tuple[Difference, ...]:
    """Return all known differences, by tool."""
    import tomllib

    text = files("gainful.measures").joinpath("differences.toml").read_text(encoding="utf-8")
    return tuple(Difference(**entry) for entry in tomllib.loads(text)["difference"])


def differences_of(name: str) -> tuple[Difference, ...]:
    """Return the differences of one of our measures that its docstring does not mention.

    >>> [difference.tool for difference in differences_of("IPrec")][:1]
    ['pytrec_eval']
    """
    return tuple(each for each in differences() if name in each.ours and name not in each.told)
