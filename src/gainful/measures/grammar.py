"""``Name(key=value, ...)@k``: from text to measures and back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from gainful.errors import UsageError
from gainful.measures.base import Measure
from gainful.measures.catalog import find, is_offered, is_ours

if TYPE_CHECKING:
    from gainful.measures.translations import Translation

_MEASURE = re.compile(r"\s*(?P<name>[\w+#-]+)\s*(\((?P<parameters>.*)\))?\s*(@\s*(?P<at>[^\s()@]+))?\s*", re.DOTALL)
_PARAMETER = re.compile(r"""\s*(?P<key>\w+)\s*=\s*(?P<value>"[^"]*"|'[^']*'|\{[^}]*\}|[^,"'{}]*?)\s*(,|$)""")


def parse(text: str | Measure) -> Measure:
    """The measure that a text names; a measure is returned as it is.

    >>> parse("nDCG(base = 2.0, gain='exp2')@10")
    nDCG(gain=exp2)@10
    >>> str(parse("AnDCG(gain=0-1-10-100)@50"))
    'nDCG(gain=0-1-10-100, average=ranks)@50'

    Names of other tools are read, too: trec_eval's as they are, others after the tool's name.

    >>> parse("ndcg_cut_10"), parse("ranx:ndcg@10-l2")
    (nDCG@10, nDCG(rel=2)@10)
    """
    measures = _named(text)
    if len(measures) != 1:
        raise UsageError(
            f"measure: expected one, found '{text}', which stands for {len(measures)}",
            f"one of them is {measures[0]}",
        )
    return measures[0]


def parse_all(measures: str | Measure | Iterable[str | Measure]) -> list[Measure]:
    """One measure or several, without repetitions, in their order.

    >>> parse_all(["AP", "P.5,10", "map"])
    [AP, P@5, P@10]
    """
    if isinstance(measures, (str, Measure)):
        measures = [measures]
    parsed = list(dict.fromkeys(measure for text in measures for measure in _named(text)))
    if not parsed:
        raise UsageError("measures: expected at least one, found none")
    return parsed


def _named(text: str | Measure) -> Sequence[Measure]:
    """The measures that a text stands for: one, unless it is a list of trec_eval's."""
    if isinstance(text, Measure):
        return [text]
    if not isinstance(text, str):
        raise UsageError(f"measure: expected a text or a Measure, found {text!r}")
    match = _MEASURE.fullmatch(text)
    if match and is_ours(match["name"]):
        return [_built(match)]
    foreign = _translated(text, match["name"] if match else None)
    if foreign is not None:
        return foreign.measures
    if not match:
        raise UsageError(
            f"measure: expected Name, Name@k or Name(parameter=value, ...)@k, found '{text}'",
            "for example nDCG@10 or nDCG(gain=0-1-10-100, discount=jarvelin2002)@100",
        )
    return [_built(match)]


def _translated(text: str, name: str | None) -> Translation | None:
    # Loaded here: our own names, which are nearly all, do without.
    from gainful.measures.translations import translate

    try:
        return translate(text)
    except UsageError:
        if name is not None and is_offered(name):
            return None  # it only looks like a name of another tool
        raise


def translation_of(text: str | Measure) -> Translation | None:
    """What a text of another tool means here; None where it is a text of ours.

    >>> translation_of("map").claim, translation_of("AP")
    ("trec_eval's map is AP here.", None)
    """
    match = _MEASURE.fullmatch(text) if isinstance(text, str) else None
    if not isinstance(text, str) or (match and is_ours(match["name"])):
        return None
    return _translated(text, match["name"] if match else None)


def _built(match: re.Match[str]) -> Measure:
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
