"""Figures 1 to 4 of jarvelin2002: gain by rank, as it is and beside the ideal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gainful.ahead import ReadRun
from gainful.curves.gain_curves import GainCurves, gain_curves_judged
from gainful.data.judged import Judged
from gainful.data.run import RunLike
from gainful.papers.claims import Claim, claims_tables
from gainful.papers.jarvelin2002_panels import DEPTH, Panel
from gainful.papers.jarvelin2002_readings import (
    said_of_discounted,
    said_of_discounted_shares,
    said_of_gain,
    said_of_shares,
)
from gainful.papers.jarvelin2002_setting import Weights, measure
from gainful.papers.many_runs import with_few_names
from gainful.papers.sections import Section
from gainful.progress import Progress
from gainful.render.charts import Axis, Chart, Line, Plot
from gainful.render.gain_page import table_ranks
from gainful.render.page import Cell, Column, Table

#: The measure of each figure.
KINDS = {"Figure 1": "CG", "Figure 2": "DCG", "Figure 3": "nCG", "Figure 4": "nDCG"}


def figure_curves(
    judged: Judged,
    runs: Mapping[str, RunLike | ReadRun],
    weights: Weights,
    threads: int | None,
    progress: Progress | None,
) -> GainCurves:
    """The curves of all four figures; normalised ones as ratios of means, as the article has them."""
    wanted = [measure(kind, gain, DEPTH) for kind in KINDS.values() for gain in (weights.flat, weights.tenfold)]
    return gain_curves_judged(judged, runs, wanted, average="means", draws=0, threads=threads, progress=progress)


def figure_sections(curves: GainCurves, weights: Weights) -> tuple[Section, ...]:
    """Figures 1 to 4."""
    panels = {
        name: (Panel(curves, "(a)", kind, weights.flat), Panel(curves, "(b)", kind, weights.tenfold))
        for name, kind in KINDS.items()
    }
    one, two, three, four = panels.values()
    said = {
        "Figure 1": said_of_gain(*one),
        "Figure 2": said_of_discounted(*two, one),
        "Figure 3": said_of_shares(*three),
        "Figure 4": said_of_discounted_shares(*four, three),
    }
    return tuple(_section(name, figure, weights, said[name]) for name, figure in panels.items())


def _section(name: str, panels: tuple[Panel, Panel], weights: Weights, said: Sequence[Claim]) -> Section:
    is_share = panels[0].ideal is None
    averaged = (
        "ratios of means: the average vector over the average ideal one"
        if is_share
        else "means over queries, with the ideal"
    )
    about = f"{panels[0].kind} by rank, {averaged}. (a) is {weights.flat}, (b) is {weights.tenfold}."
    last = [{str(curve.run): float(curve.values[-1]) for curve in panel.runs} for panel in panels]
    parts: list[Table | Chart | str] = [
        *with_few_names([_plot(panel) for panel in panels], last),
        *(_some_ranks(panel) for panel in panels),
    ]
    parts += claims_tables(f"Said of {name}", said)
    return Section(name, about, (*parts, _all_ranks(panels)))


def _plot(panel: Panel) -> Plot:
    ranks = tuple(float(rank) for rank in range(1, DEPTH + 1))
    return Plot(
        f"{panel.letter} {panel.kind}, {panel.gain}",
        Axis("rank", 1.0, float(DEPTH), is_whole=True),
        Axis(panel.kind, 0.0, 1.0 if panel.ideal is None else None),
        tuple(
            Line(curve.run or "ideal", ranks, tuple(curve.values.tolist()), "system" if curve.run else "ideal")
            for curve in panel.all
        ),
    )


def _some_ranks(panel: Panel) -> Table:
    ranks = table_ranks(DEPTH)
    highest = max(float(curve.values[-1]) for curve in panel.all)
    places = 3 if highest <= 1 else 2 if highest < 100 else 1
    columns = (Column("run"), *(Column(str(rank), "number", places) for rank in ranks))
    rows: list[tuple[Cell, ...]] = [
        ("(ideal)" if curve.run is None else curve.run, *(float(curve.values[rank - 1]) for rank in ranks))
        for curve in panel.all
    ]
    first = len(rows) - len(panel.runs)
    marked = {
        (first + i, column)
        for column, rank in enumerate(ranks, 1)
        for i, value in enumerate(panel.at(rank))
        if value == max(panel.at(rank)) > 0
    }
    title = f"{panel.letter} {panel.kind} at some ranks, {panel.gain}"
    return Table(columns, tuple(rows), title, ("* best of its column",), frozenset(marked), for_people=True)


def _all_ranks(panels: Sequence[Panel]) -> Table:
    """Every value, for machines."""
    columns = (
        *(Column(name, for_machines=True) for name in ("panel", "measure", "average", "run")),
        Column("rank", "count", for_machines=True),
        Column("value", "number", for_machines=True),
    )
    rows = tuple(
        (panel.letter, str(panel.measure), curve.average, "(ideal)" if curve.run is None else curve.run, rank, value)
        for panel in panels
        for curve in panel.all
        for rank, value in enumerate(curve.values.tolist(), 1)
    )
    return Table(columns, rows)
