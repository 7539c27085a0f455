"""``Name(key=value, ...)@k``: from text to measures and back."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gainful.errors import UsageError
from gainful.measures.base import Measure
from gainful.measures.catalog import find

_MEASURE = re.compile(r"\s*(?P<name>[\w+#-]+)\s*(\((?P<parameters>.*)\))?\s*(@\s*(?P<at>[^\s()@]+))?\s*", re.DOTALL)
_PARAMETER = re.compile(r"""\s*(?P<key>\w+)\s*=\s*(?P<value>"[^"]*"|'[^']*'|\{[^}]*\}|[^,"'{}]*?)\s*(,|$)""")


def parse(text: str | Measure) -> Measure:
    """The measure that a text names; a measure is returned as it is.

    >>> parse("nDCG(base = 2.0, gain='exp2')@10")
    nDCG(gain=exp2)@10
    >>> str(parse("AnDCG(gain=0-1-10-100)@50"))
    'nDCG(gain=0-1-10-100, average=ranks)@50'
    """
    if isinstance(text, Measure):
        return text
    if not isinstance(text, str):
        raise UsageError(f"measure: expected a text or a Measure, found {text!r}")
    match = _MEASURE.fullmatch(text)
    if not match:
        raise UsageError(
            f"measure: expected Name, Name@k or Name(parameter=value, ...)@k, found '{text}'",
            "for example nDCG@10 or nDCG(gain=0-1-10-100, discount=jarvelin2002)@100",
        )
    entry = find(match["name"])
    given: dict[str, object] = {**entry.preset, **_parameters(match["parameters"] or "", match["name"])}
    if match["at"] is not None:
        at = entry.measure.at_parameter()
        if at is None:
            raise UsageError(f"{match['name']}: takes no @, found @{match['at']}")
        if at in given:
            raise UsageError(f"{match['name']}: expected {at} once, found it in the parentheses and after @")
        given[at] = match["at"]
    return entry.measure.from_parameters(given)


def parse_all(measures: str | Measure | Iterable[str | Measure]) -> list[Measure]:
    """One measure or several, without repetitions, in their order."""
    if isinstance(measures, (str, Measure)):
        measures = [measures]
    parsed = list(dict.fromkeys(parse(measure) for measure in measures))
    if not parsed:
        raise UsageError("measures: expected at least one, found none")
    return parsed


def _parameters(text: str, name: str) -> dict[str, str]:
    given: dict[str, str] = {}
    at = 0
    text = text.strip()
    while at < len(text) or text.endswith(","):
        match = _PARAMETER.match(text, at)
        if not match or not match["value"]:
            raise UsageError(f"{name}: expected parameter=value, found '{text[at:].strip()}'")
        if match["key"] in given:
            raise UsageError(f"{name}: expected every parameter once, found {match['key']} again")
        given[match["key"]] = match["value"].strip("\"'")
        at = match.end()
    return given
