"""`gainful measures`: the catalogue."""

from __future__ import annotations

import json

import click

from gainful.errors import UsageError
from gainful.measures.base import Measure
from gainful.measures.catalog import FAMILIES, MEASURES, SHORT_NAMES, find, long_text, offered_names
from gainful.measures.help import Help


@click.command("measures")
@click.argument("text", required=False, default="")
@click.option(
    "--format", "format_", type=click.Choice(["table", "jsonl"]), default="table", show_default=True, help="Output."
)
def command(text: str, format_: str) -> None:
    """List the measures, or those whose name, description or family contains TEXT."""
    found = {
        family: [MEASURES[name] for name in names if _matches(text, family, MEASURES[name])]
        for family, names in FAMILIES.items()
    }
    found["From installed packages"] = [
        measure for measure in (find(name).measure for name in offered_names()) if _matches(text, "", measure)
    ]
    shown = [measure for measures in found.values() for measure in measures]
    if not shown:
        raise UsageError(f"no measure matches '{text}'", "`gainful measures` lists all")
    if format_ == "jsonl":
        for family, measures in found.items():
            for measure in measures:
                click.echo(json.dumps(_row(family, measure)))
        return
    width = max(len(measure.name) for measure in shown)
    for family, measures in found.items():
        if measures:
            click.echo(family)
        for measure in measures:
            click.echo(f"  {measure.name:<{width}}  {Help.of(measure).claim}")
            click.echo(f"  {'':<{width}}  {_parameters(measure)}")
    if text:
        return
    short = ", ".join(f"{name} = {long_text(name)}" for name in SHORT_NAMES)
    click.echo(f"\nShort names: {short}")


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
