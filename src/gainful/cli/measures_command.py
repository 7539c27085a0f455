"""`gainful measures`: the list of available measures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, TextIO, TypeAlias

import click

from gainful.cli import help_groups
from gainful.cli.flags import takes
from gainful.cli.options import Output
from gainful.errors import UsageError
from gainful.measures.catalog import ALL_FAMILIES, ALL_MEASURES, SHORT_NAMES, find, long_text, offered_names
from gainful.notation import nearest
from gainful.pages.page import Column, Page, Table, head
from gainful.render.text_formats import hanging, prose_width, write_counted

if TYPE_CHECKING:
    from gainful.measures.base import Measure

#: Measures, each with its family.
_Found: TypeAlias = "Sequence[tuple[str, type[Measure]]]"


@help_groups.command("measures")
@click.argument("text", required=False, default="")
@takes(output=Output)
def command(text: str, output: Output) -> None:
    """List the available measures, or those whose name, description or family contains TEXT."""
    found = [
        (family, ALL_MEASURES[name])
        for family, names in ALL_FAMILIES.items()
        for name in names
        if _matches(text, family, ALL_MEASURES[name])
    ]
    offered = [find(name).measure for name in offered_names()]
    found += [("From installed packages", measure) for measure in offered if _matches(text, "", measure)]
    if not found:
        close = nearest(text, [*ALL_MEASURES, *SHORT_NAMES])
        raise UsageError(f"no measure matches '{text}'", close or "`gainful measures` lists all")
    short = "" if text else "Short names: " + ", ".join(f"{name} = {long_text(name)}" for name in SHORT_NAMES)
    if output.chosen_format not in ("table", "jsonl"):
        columns = (
            *head("measure ← 1.name | family ← 0"),
            Column("description", get=lambda each: _claim(each[1])),
            Column("syntax", get=lambda each: _parameters(each[1])),
            *head("better ← 1.better | aggregate ← 1.aggregate"),
        )
        output.show(Page("measures", (Table.of(columns, found),), (short,) if short else ()))
        return
    with output.opened() as out:
        if output.chosen_format == "table":
            _write_list(found, short, out)
        else:
            write_counted((json.dumps(_row(family, measure)) + "\n" for family, measure in found), out)


def _write_list(found: _Found, short: str, out: TextIO) -> None:
    """Write two lines per measure: its description and its syntax."""
    width = max(len(measure.name) for _, measure in found)
    lines: list[str] = []
    for family, measures in groupby(found, key=lambda each: each[0]):
        lines.append(family)
        for _, measure in measures:
            lines.append(f"  {measure.name:<{width}}  {_claim(measure)}")
            lines.append(f"  {'':<{width}}  {_parameters(measure)}")
    lines += ["", short] if short else []
    out.writelines(f"{piece}\n" for line in lines for piece in hanging(line, prose_width(out)))


def _claim(measure: type[Measure]) -> str:
    from gainful.measures.help import Help

    return Help.of(measure).claim


def _matches(text: str, family: str, measure: type[Measure]) -> bool:
    from gainful.measures.help import Help

    names = [short for short, (name, _) in SHORT_NAMES.items() if name == measure.name]
    about = Help.of(measure)
    return text.casefold() in " ".join([family, measure.name, *names, about.claim, *about.sections.values()]).casefold()


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
        "claim": _claim(measure),
        "parameters": {name: None if value is None else str(value) for name, value in measure.parameters().items()},
        "better": measure.better,
        "bounds": [None if abs(bound) == float("inf") else bound for bound in measure.bounds],
        "aggregate": measure.aggregate,
    }
