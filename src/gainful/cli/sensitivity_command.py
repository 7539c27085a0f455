"""`gainful sensitivity`: whether other gains, discounts and depths would change the order of systems."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from gainful.cli.inputs import collection_from, collection_options
from gainful.cli.options import figure_from, figure_options, measure_option, output_from, output_options
from gainful.cli.progress_bar import ProgressBar
from gainful.errors import UsageError

if TYPE_CHECKING:
    from gainful.tasks.sensitivity.scenarios import Scenario

_PATH = click.Path(allow_dash=True)
_GRID = ("gain", "discount", "base", "at", "vary")


@click.command("sensitivity")
@click.argument("qrels", type=_PATH)
@click.argument("runs", type=_PATH, nargs=-1, required=True)
@measure_option("nDCG")
@click.option(
    "--gain",
    multiple=True,
    metavar="G,...",
    help="What grades are worth: weights like 0-1-10-100, linear, exp2, binary, or flat, tenfold, top for any scale; "
    "of ADM the values of the categories (urs).  [default: 0-1-1-1, 0-1-2-3, exp2, 0-1-10-100, 0-0-0-1, for as many "
    "levels as there are]",
)
@click.option(
    "--discount",
    multiple=True,
    metavar="D,...",
    help="jarvelin2002, burges2005 (no base can change nDCG with it: it cancels), ...  [default: jarvelin2002, none]",
)
@click.option("--base", multiple=True, metavar="B,...", help="Bases of the discounts' logarithms.  [default: 2, e, 10]")
@click.option("--at", multiple=True, metavar="K,...", help="Depths.  [default: 10, 30, 100, 200]")
@click.option("--vary", multiple=True, metavar="NAME=V,...", help="Another parameter of the measure: srs=rank,minmax.")
@click.option(
    "--sweep",
    metavar="LOW-HIGH",
    help="The weight of the highest grade from LOW to HIGH, at the first value of all else; none.  [default: 1-1000]",
)
@click.option(
    "--scenario",
    "scenario_names",
    multiple=True,
    metavar="NAME",
    help="Only this: impatient (depth 30, 0-1-10-100, base 2), patient (depth 200, 0-1-2-3, base 10), or one of "
    "--scenarios; may be repeated.",
)
@click.option("--scenarios", "scenario_file", metavar="FILE", help="A TOML file that defines scenarios.")
@click.option("--places", type=click.IntRange(0, 17), default=4, show_default=True, help="Decimal places in tables.")
@figure_options
@output_options
@collection_options
def command(qrels: str, runs: tuple[str, ...], **options: Any) -> None:
    """Ask whether other gains, discounts and depths would change the order of RUNS judged by QRELS.

    Every combination is evaluated: who wins where, what changes the winner, how alike the orders are (Kendall's tau),
    and at which weight of the highest grade systems change places. What -m sets, as in nDCG(gain=exp2)@20, stays.

    Example: gainful sensitivity qrels.txt bm25.run dense.run --gain flat,tenfold --at 10,100

    Example: gainful sensitivity qrels.txt bm25.run dense.run --scenario impatient --scenario patient

    Example: gainful sensitivity qrels.txt bm25.run dense.run -m ADM --figure adm.svg
    """
    file = options.pop("scenario_file")
    output, figure = output_from(options, qrels, *runs, file), figure_from(options, qrels, *runs, file)
    given = {name: _split(options.pop(name), name) for name in _GRID}
    sweep = _sweep(options.pop("sweep"))
    scenarios = _scenarios(options.pop("scenario_names"), file, [name for name in _GRID if given[name]], sweep)
    measure, places = options.pop("measure"), options.pop("places")
    collection = collection_from(qrels, runs, options)
    from gainful.measures.catalog import parse
    from gainful.tasks.sensitivity.assessment import assess_judged
    from gainful.tasks.sensitivity.sensitivity_grid import Wanted
    from gainful.tasks.sensitivity.sensitivity_page import sensitivity_page

    with ProgressBar("reading runs", wanted=not collection.quiet) as progress:
        found = assess_judged(
            collection.judged,
            collection.runs,
            parse(measure),
            Wanted(
                given["gain"] or None,
                given["discount"] or None,
                given["base"] or None,
                given["at"] or None,
                _varied(given["vary"]) or None,
            ),
            sweep=True if sweep is None else sweep,
            scenarios=scenarios,
            threads=collection.threads,
            progress=progress,
        )
    page = sensitivity_page(found, places)
    figure.write(page)
    output.write(page)
    collection.notices.extend(found.notices)
    collection.print_notices()


def _split(texts: Sequence[str], name: str) -> list[str]:
    """The values of an option that may be repeated, several of them between commas (not those in a map's braces)."""
    parts = [part.strip() for text in texts for part in re.findall(r"(?:\{[^}]*\}|[^,])+", text)]
    if texts and not all(parts):
        raise UsageError(f"--{name}: expected values between commas, found '{','.join(texts)}'")
    if texts and not parts:
        raise UsageError(f"--{name}: expected a value, found none")
    return parts


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


def _sweep(text: str | None) -> tuple[float, float] | bool | None:
    if text is None or text == "none":
        return None if text is None else False
    match = re.fullmatch(r"\s*([\d.]+(?:e\d+)?)\s*-\s*([\d.]+(?:e\d+)?)\s*", text)
    if not match:
        raise UsageError(f"--sweep: expected two weights like 1-1000, or none, found '{text}'")
    from gainful.tasks.sensitivity.scenarios import WeightRange

    return WeightRange.of(match[1], match[2])


def _scenarios(
    names: tuple[str, ...], file: str | None, grid: Sequence[str], sweep: tuple[float, float] | bool | None
) -> list[Scenario]:
    if not names and file is None:
        return []
    unused = [*grid, *(["sweep"] if sweep else [])]
    if unused:
        raise UsageError(f"--{unused[0]}: has no meaning with scenarios, which say everything themselves")
    from gainful.tasks.sensitivity.scenarios import choose_scenarios, read_scenarios

    return choose_scenarios(names, {} if file is None else read_scenarios(file))
