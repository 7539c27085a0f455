"""`gainful sensitivity`: whether other gains, discounts and depths would change the order of systems."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from gainful.cli.inputs import collection_from, collection_options
from gainful.cli.options import figure_from, figure_options, measure_option, output_from, output_options
from gainful.cli.progress_bar import ProgressBar
from gainful.errors import UsageError

if TYPE_CHECKING:
    from gainful.tasks.sensitivity.scenarios import Scenario

_PATH = click.Path(allow_dash=True)


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
def command(qrels: str, runs: tuple[str, ...], **given: Any) -> None:
    """Ask whether other gains, discounts and depths would change the order of RUNS judged by QRELS.

    Every combination is evaluated: who wins where, what changes the winner, how alike the orders are (Kendall's tau),
    and at which weight of the highest grade systems change places. What -m sets, as in nDCG(gain=exp2)@20, stays.

    Example: gainful sensitivity qrels.txt bm25.run dense.run --gain flat,tenfold --at 10,100

    Example: gainful sensitivity qrels.txt bm25.run dense.run --scenario impatient --scenario patient

    Example: gainful sensitivity qrels.txt bm25.run dense.run -m ADM --figure adm.svg
    """
    file = given["scenario_file"]
    output, figure = output_from(given, qrels, *runs, file), figure_from(given, qrels, *runs, file)
    options = _Options.taken_from(given)
    collection = collection_from(qrels, runs, given)
    from gainful.tasks.sensitivity import assess_sensitivity
    from gainful.tasks.sensitivity.sensitivity_page import sensitivity_page

    with ProgressBar("reading runs", wanted=not collection.quiet) as progress:
        found = assess_sensitivity(
            collection.judged,
            collection.runs,
            measure=options.measure,
            gains=options.gains,
            discounts=options.discounts,
            bases=options.bases,
            depths=options.depths,
            vary=options.vary,
            sweep=options.sweep,
            scenarios=options.scenarios,
            threads=collection.threads,
            progress=progress,
        )
    page = sensitivity_page(found, options.places)
    figure.write(page)
    output.write(page)
    collection.notices.extend(found.notices)
    collection.print_notices()


@dataclass(frozen=True)
class _Options:
    """What is varied, None where nothing is said of it; or scenarios, which say everything themselves."""

    measure: str
    gains: list[str] | None
    discounts: list[str] | None
    bases: list[str] | None
    depths: list[str] | None
    vary: Mapping[str, Sequence[object]] | None
    sweep: tuple[float, float] | bool
    scenarios: list[Scenario] | None
    places: int

    @classmethod
    def taken_from(cls, given: dict[str, Any]) -> _Options:
        """Takes the command's own options out of all that were given, and reads them."""
        grid = {name: _split(given.pop(name), name) for name in ("gain", "discount", "base", "at", "vary")}
        sweep = _sweep(given.pop("sweep"))
        unused = [*(name for name, values in grid.items() if values), *(["sweep"] if sweep else [])]
        scenarios = _scenarios(given.pop("scenario_names"), given.pop("scenario_file"), unused)
        return cls(
            given.pop("measure"),
            grid["gain"],
            grid["discount"],
            grid["base"],
            grid["at"],
            _varied(grid["vary"] or ()) or None,
            True if sweep is None else sweep,
            scenarios,
            given.pop("places"),
        )


def _split(texts: Sequence[str], name: str) -> list[str] | None:
    """The values of an option that may be repeated, several of them between commas (not those in a map's braces)."""
    parts = [part.strip() for text in texts for part in re.findall(r"(?:\{[^}]*\}|[^,])+", text)]
    if texts and not all(parts):
        raise UsageError(f"--{name}: expected values between commas, found '{','.join(texts)}'")
    if texts and not parts:
        raise UsageError(f"--{name}: expected a value, found none")
    return parts or None


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
    from gainful.tasks.sensitivity.sensitivity_findings import WeightRange

    return WeightRange.of(match[1], match[2])


def _scenarios(names: tuple[str, ...], file: str | None, unused: Sequence[str]) -> list[Scenario] | None:
    if not names and file is None:
        return None
    if unused:
        raise UsageError(f"--{unused[0]}: has no meaning with scenarios, which say everything themselves")
    from gainful.tasks.sensitivity.scenarios import choose_scenarios, read_scenarios

    return choose_scenarios(names, {} if file is None else read_scenarios(file))
