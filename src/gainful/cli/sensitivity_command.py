"""`gainful sensitivity`: whether other gains, discounts and depths would change the order of systems."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from gainful.cli import help_groups, options
from gainful.cli.inputs import CollectionOptions, takes_collection
from gainful.cli.progress_bar import ProgressBar
from gainful.errors import UsageError

_Command = TypeVar("_Command", bound=Callable[..., Any])


def _values_option(flag: str, name: str, metavar: str, about: str) -> Callable[[_Command], _Command]:
    """Adds an option that may be repeated, with several values between commas (not those in a map's braces)."""

    def split(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> list[str] | None:
        parts = [part.strip() for text in texts for part in re.findall(r"(?:\{[^}]*\}|[^,])+", text)]
        if texts and not all(parts):
            raise UsageError(f"{flag}: expected values between commas, found '{','.join(texts)}'")
        if texts and not parts:
            raise UsageError(f"{flag}: expected a value, found none")
        return parts or None

    return click.option(flag, name, multiple=True, metavar=metavar, callback=split, help=about)


@help_groups.command("sensitivity")
@click.argument("qrels", type=options.INPUT)
@click.argument("runs", type=options.INPUT, nargs=-1, required=True)
@options.measure_option("nDCG")
@_values_option(
    "--gain",
    "gains",
    "G,...",
    "What grades are worth: weights like 0-1-10-100, linear, exp2, binary, or flat, tenfold, top for any scale; "
    "of ADM the values of the categories (urs).  [default: 0-1-1-1, 0-1-2-3, exp2, 0-1-10-100, 0-0-0-1, for as many "
    "levels as there are]",
)
@_values_option(
    "--discount",
    "discounts",
    "D,...",
    "jarvelin2002, burges2005 (no base can change nDCG with it: it cancels), ...  [default: jarvelin2002, none]",
)
@_values_option("--base", "bases", "B,...", "Bases of the discounts' logarithms.  [default: 2, e, 10]")
@_values_option("--at", "depths", "K,...", "Depths.  [default: 10, 30, 100, 200]")
@_values_option("--vary", "vary", "NAME=V,...", "Another parameter of the measure: srs=rank,minmax.")
@options.text_option(
    "--sweep",
    "The weight of the highest grade from LOW to HIGH, at the first value of all else; none.  [default: 1-1000]",
    "LOW-HIGH",
)
@options.text_option(
    "--scenario",
    "Only this: impatient (depth 30, 0-1-10-100, base 2), patient (depth 200, 0-1-2-3, base 10), or one of "
    "--scenarios; may be repeated.",
    "NAME",
    multiple=True,
    name="scenarios",
)
@options.file_option("--scenarios", "A TOML file that defines scenarios.", name="scenario_file")
@options.places_option("Decimal places in tables.")
@options.takes_output_and_figure
@takes_collection()
def command(
    qrels: str,
    runs: tuple[str, ...],
    vary: list[str] | None,
    sweep: str | None,
    places: int,
    output: options.Output,
    figure: options.FigureOutput,
    reading: CollectionOptions,
    **asked: Any,
) -> None:
    """Ask whether other gains, discounts and depths would change the order of RUNS judged by QRELS.

    Every combination is evaluated: who wins where, what changes the winner, how alike the orders are (Kendall's tau),
    and at which weight of the highest grade systems change places. What -m sets, as in nDCG(gain=exp2)@20, stays.

    Example: gainful sensitivity qrels.txt bm25.run dense.run --gain flat,tenfold --at 10,100

    Example: gainful sensitivity qrels.txt bm25.run dense.run --scenario impatient --scenario patient

    Example: gainful sensitivity qrels.txt bm25.run dense.run -m ADM --figure adm.svg
    """
    varied = _varied(vary or ()) or None
    collection = reading.opened(qrels, runs)
    from gainful.tasks.sensitivity import assess_sensitivity

    with ProgressBar("reading runs", wanted=not collection.quiet) as progress:
        found = assess_sensitivity(
            collection.judged,
            collection.runs,
            vary=varied,
            sweep=True if sweep is None else sweep,
            threads=collection.threads,
            progress=progress,
            **asked,
        )
    page = found.page(places)
    figure.write(page)
    collection.notices.extend(found.notices)
    output.write(page, collection.notices)
    collection.print_notices()


def _varied(parts: Sequence[str]) -> dict[str, Sequence[object]]:
    """NAME=V,V,... as values by name; what has no name belongs to the one before it."""
    values: dict[str, list[object]] = {}
    name = None
    for part in parts:
        key, equals, value = part.partition("=")
        if equals:
            name = key.strip()
        if name is None or not (value.strip() if equals else part):
            raise UsageError(f"--vary: expected NAME=VALUE,VALUE,..., found '{part}'", "such as srs=rank,minmax")
        values.setdefault(name, []).append(value.strip() if equals else part)
    return dict(values)
