"""`gainful measures`: the catalogue."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TextIO

import click

from gainful.cli.options import Output, quiet_option, takes_output
from gainful.errors import UsageError
from gainful.measures.base import Measure
from gainful.measures.catalog import ALL_FAMILIES, ALL_MEASURES, SHORT_NAMES, find, long_text, offered_names
from gainful.measures.help import Help
from gainful.pages.page import Column, Page, Table

_Found = Mapping[str, Sequence[type[Measure]]]


@click.command("measures")
@click.argument("text", required=False, default="")
@takes_output
@quiet_option("No notices.")
def command(text: str, output: Output, quiet: bool) -> None:
    """List the measures, or those whose name, description or family contains TEXT."""
    found = {
        family: [ALL_MEASURES[name] for name in names if _matches(text, family, ALL_MEASURES[name])]
        for family, names in ALL_FAMILIES.items()
    }
    found["From installed packages"] = [
        measure for measure in (find(name).measure for name in offered_names()) if _matches(text, "", measure)
    ]
    if not any(found.values()):
        raise UsageError(f"no measure matches '{text}'", "`gainful measures` lists all")
    short = "" if text else "Short names: " + ", ".join(f"{name} = {long_text(name)}" for name in SHORT_NAMES)
    if output.format not in ("table", "jsonl"):
        output.write(_page(found, short))
        return
    with output.opened() as out:
        if output.format == "table":
            _write_list(found, short, out)
        else:
            out.writelines(json.dumps(row) + "\n" for row in _rows(found))


def _write_list(found: _Found, short: str, out: TextIO) -> None:
    """Two lines a measure: what it says, and how it is written."""
    width = max(len(measure.name) for measures in found.values() for measure in measures)
    for family, measures in found.items():
        out.write(f"{family}\n" if measures else "")
        for measure in measures:
            out.write(f"  {measure.name:<{width}}  {Help.of(measure).claim}\n")
            out.write(f"  {'':<{width}}  {_parameters(measure)}\n")
    out.write(f"\n{short}\n" if short else "")


def _page(found: _Found, short: str) -> Page:
    names = ("measure", "family", "what it says", "written", "better", "over queries")
    rows = tuple(
        (measure.name, family, Help.of(measure).claim, _parameters(measure), measure.better, measure.aggregate)
        for family, measures in found.items()
        for measure in measures
    )
    return Page("measures", (Table(tuple(map(Column, names)), rows),), (short,) if short else ())


def _rows(found: _Found) -> list[dict[str, object]]:
    return [_row(family, measure) for family, measures in found.items() for measure in measures]


def _matches(text: str, family: str, measure: type[Measure]) -> bool:
    names = [short for short, (name, _) in SHORT_NAMES.items() if name == measure.name]
    return text.casefold() in " ".join([family, measure.name, *names, measure.help_text()]).casefold()


def _parameters(measure: type[Measure]) -> str:
    parameter = measure.at_parameter()
    known = [name for name in measure.parameters() if name != parameter]
    at = f"@{'k' if parameter == 'cutoff' else 'r'}" if parameter else ""
    needed = at if measure.needs_at else f"[{at}]" if at else ""
    return f"{measure.name}({', '.join(known)}){needed}" if known else f"{measure.name}{needed}"


def _row(family: str, measure: type[Measure]) -> dict[str, object]:
    return {
        "name": measure.name,
        "family": family,
        "claim": Help.of(measure).claim,
        "parameters": {name: None if value is None else str(value) for name, value in measure.parameters().items()},
        "better": measure.better,
        "bounds": [None if abs(bound) == float("inf") else bound for bound in measure.bounds],
        "aggregate": measure.aggregate,
    }
