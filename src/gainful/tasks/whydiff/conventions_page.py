"""What a search over conventions has to say, as a page: a table, what its words mean, and a conclusion."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence

from gainful.notation import count_of, number_text, printable
from gainful.pages.page import Cell, Column, Page, Table
from gainful.tasks.whydiff.conventions import Explained, Findings, Way
from gainful.tasks.whydiff.dimensions import meaning, usual_divisor
from gainful.tasks.whydiff.search import Variant

_MOST_NAMES, _MOST_INSTEAD, _MOST_PLACES = 3, 2, 15

#: What only this search computes; no choice of the policy and no parameter of a measure does.
_NOT_OFFERED = {
    "ideal": ("retrieved", "shown", "uncut", "highest"),
    "ties": ("averaged",),
    "undefined": ("one",),
    "duplicates": ("last", "all"),
}
#: The dimensions that are choices of the policy.
_CHOICES = ("missing", "undefined", "ties", "unjudged", "order", "scores", "duplicates", "negative", "recall-cut")


def page_of(findings: Findings) -> Page:
    """The page of some findings."""
    indifferent = _indifferent(findings)
    parts: list[Table | str] = [_beginning(findings), _table(findings)]
    if indifferent:
        parts.append(_not_told_apart(findings, indifferent))
    parts.append(
        "\n".join([*(_conclusion(findings, each, indifferent) for each in findings.figures), *_differences(findings)])
    )
    start = {dimension.name: dimension.values[0] for dimension in findings.dimensions}
    header = {"measure": str(findings.measure), "query": findings.query, "start": start, "value": findings.start}
    return Page("whydiff", tuple(parts), header=header)


def _beginning(findings: Findings) -> str:
    of_query = "" if findings.query is None else f" of query {printable(findings.query)}"
    value = "has no value" if findings.start is None else f"is {findings.start:.6g}"
    return (
        f"{findings.measure}{of_query} {value} where the search starts. {count_of(findings.tried, 'combination')} of "
        f"conventions give {count_of(findings.different, 'different result')}."
    )


def _table(findings: Findings) -> Table:
    places = min(_MOST_PLACES, max(4, *(each.read_as.places + 2 for each in findings.figures)))
    columns = (
        Column("figure"),
        Column("reported"),
        Column("value", "number", places),
        Column("off by", "number", places),
        Column("departures", "count"),
        Column("conventions"),
        Column("known as", none=""),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            each.figure.name,
            each.figure.text if each.per_cent is None else f"{each.figure.text} %",
            way.value,
            way.value - each.read_as.value,
            len(way.departed),
            _departures(way),
            ", ".join(way.dialects) or None,
        )
        for each in findings.figures
        for way in each.ways
    ]
    return Table(columns, tuple(rows), notes=tuple(_table_notes(findings.figures)))


def _departures(way: Way) -> str:
    return ", ".join(f"{name}={way.settings[name]}" for name in way.departed) or "no departure"


def _some(names: Sequence[str]) -> str:
    """The first names, and how many there are beside them."""
    if len(names) <= _MOST_NAMES:
        return ", ".join(names)
    return f"{', '.join(names[: _MOST_NAMES - 1])} and {len(names) - _MOST_NAMES + 1} more"


def _same_as(way: Way, indifferent: Mapping[str, Sequence[str]]) -> str | None:
    """What gives the same scores, apart from what makes no difference for any figure."""
    texts = [f"{name}={'|'.join(values)}" for name, values in way.alike.items() if name not in indifferent]
    for settings in way.instead[:_MOST_INSTEAD]:
        changed = [(name, value) for name, value in settings.items() if way.settings[name] != value]
        texts.append(" with ".join(f"{name}={value}" for name, value in changed))
    return " or ".join(texts) or None


def _table_notes(figures: Iterable[Explained]) -> Iterator[str]:
    figures = list(figures)
    ways = [way for each in figures for way in each.ways]
    departed = {(name, e.settings[name]): None for e in ways for name in e.departed}
    yield from (f"{name}={value}: {meaning(name, value)}" for name, value in departed)
    for each in figures:
        if each.found > len(each.ways):
            more = count_of(each.found - len(each.ways), "more way")
            yield f"{each.figure.name}: {more} to {each.figure.text}"


def _indifferent(findings: Findings) -> dict[str, list[str]]:
    """The values between which no figure can decide, by dimension."""
    ways = [each.ways[0] for each in findings.figures]
    found = {}
    for dimension in findings.dimensions:
        sets = {frozenset({e.settings[dimension.name], *e.alike.get(dimension.name, ())}) for e in ways}
        if len(sets) == 1 and len(values := sets.pop()) > 1:
            found[dimension.name] = [value for value in dimension.values if value in values]
    return found


def _not_told_apart(findings: Findings, indifferent: Mapping[str, Sequence[str]]) -> str:
    counts = {dimension.name: len(dimension.values) for dimension in findings.dimensions}
    alike = [name for name, values in indifferent.items() if len(values) == counts[name]]
    partly = [f"{name} ({', '.join(values)})" for name, values in indifferent.items() if name not in alike]
    wholly = [f"all values of {', '.join(alike)}"] if alike else []
    return f"The data cannot tell apart: {'; '.join([*wholly, *partly])}."


def _conclusion(findings: Findings, explained: Explained, indifferent: Mapping[str, Sequence[str]]) -> str:
    figure, first = explained.read_as, explained.ways[0]
    if not explained.reproduced:
        off = first.value - figure.value
        text = f"off by {off:+.{min(_MOST_PLACES, figure.places + 2)}f} ({_departures(first)})"
        cut = ", and the figure is its first digits, not rounded" if figure.cuts(first.value) else ""
        return f"{_opening(explained)}: not reproduced; the nearest is {text}{cut}."
    tools = _some(first.dialects)
    text = f"{_opening(explained)}: {_departures(first)}" + (f" (as {tools})." if tools else ".")
    same = _same_as(first, indifferent)
    text += f" The same with {same}." if same else ""
    # A run with duplicates is refused unless a choice is made, even if it is the one that the search starts from.
    printed = printing(findings, first.settings) if first.departed or "duplicates" in first.settings else None
    text += f" {printed}." if printed else ""
    if len(first.departed) > 1 and not tools:
        text += (
            f" With several departures it may be chance ({explained.found} of {findings.different} results round to "
            f"{figure.text}); more digits would tell."
        )
    return text


def _opening(explained: Explained) -> str:
    """The figure, and how it has to be read where the measure cannot have such a value."""
    text = f"{explained.figure.name} {explained.figure.text}"
    if explained.outside is None:
        return text
    low, high = (number_text(bound) if math.isfinite(bound) else "" for bound in explained.outside)
    text += f" lies outside {low}..{high}"
    if explained.per_cent is None:
        return text
    which = ", which is reproduced" if explained.reproduced else ""
    return f"{text}; as a per cent it is {explained.per_cent.text}{which}"


def _differences(findings: Findings) -> Iterator[str]:
    if len(findings.figures) != 2 or not findings.reproduced:
        return
    one, other = (each.ways[0] for each in findings.figures)
    names = one.differs_from(other)
    listed = ", ".join(f"{name} ({one.settings[name]}, {other.settings[name]})" for name in names)
    yield f"They differ in: {listed}." if names else "They do not differ: the same conventions give both."


def printing(findings: Findings, settings: Mapping[str, str]) -> str | None:
    """Which command prints the value of some settings; None where none offers them."""
    measure, policy = findings.measure, findings.policy
    usual = usual_divisor(measure)
    refused = any(settings.get(name) in values for name, values in _NOT_OFFERED.items())
    if refused or settings.get("divisor", usual) != usual:
        return None
    changes = {name.replace("-", "_"): settings[name] for name in _CHOICES if name in settings}
    variant = Variant.of(measure, settings, policy.recall_cut)
    flags = [
        f"--{name} {value}" for name, value in policy.replace(**changes).differences().items() if name != "subtopics"
    ]
    flags += ["--subtopics"] if policy.subtopics else []
    flags += [] if findings.scale is None else [f"--scale {number_text(findings.scale)}"]
    name = shlex.quote(str(variant.measure))
    if findings.query is None:
        return " ".join(["gainful eval prints it with -m", name, *flags])
    query = shlex.quote(printable(findings.query))
    return " ".join(["gainful explain", name, "--qrels QRELS --run RUN --query", query, *flags, "prints it"])
