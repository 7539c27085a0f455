"""Figures 1 to 4 of jarvelin2002: gain by rank, as it is and beside the ideal, and what the article reads off them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gainful.ahead import ReadRun
from gainful.curves.averages import GainCurve
from gainful.curves.gain_curves import GainCurves, gain_curves_judged
from gainful.data.judged import Judged
from gainful.data.run import RunLike
from gainful.measures.cumulated_gain import CumulatedGain
from gainful.papers.claims import Claim, beside, claims_tables, statement
from gainful.papers.jarvelin2002_setting import Weights, measure, seen
from gainful.papers.sections import Section
from gainful.progress import Progress
from gainful.render.charts import Axis, Chart, Line, Plot, shortened
from gainful.render.gain_page import table_ranks
from gainful.render.page import Cell, Column, Table
from gainful.sensitivity.cells import ranks_of, tau_of_ranks

DEPTH = 100
#: The measure of each figure.
KINDS = {"Figure 1": "CG", "Figure 2": "DCG", "Figure 3": "nCG", "Figure 4": "nDCG"}

_NAME = 16
#: Of more runs than these only the best and the worst of each panel are named; the others are grey.
_MOST_NAMED, _BEST, _WORST = 8, 3, 1


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
        name: (_Panel(curves, "(a)", kind, weights.flat), _Panel(curves, "(b)", kind, weights.tenfold))
        for name, kind in KINDS.items()
    }
    one, two, three, four = panels.values()
    said = {
        "Figure 1": _said_of_gain(*one),
        "Figure 2": _said_of_discounted(*two, one),
        "Figure 3": _said_of_shares(*three),
        "Figure 4": _said_of_discounted_shares(*four, three),
    }
    return tuple(_section(name, figure, weights, said[name]) for name, figure in panels.items())


class _Panel:
    """One half of a figure: the curves of all runs, and the ideal's, under one weighting scheme."""

    def __init__(self, curves: GainCurves, letter: str, kind: str, gain: object) -> None:
        self.letter, self.kind, self.gain = letter, kind, str(gain)
        self.curves = curves
        self.measure: CumulatedGain = curves.measure(
            next(each for each in curves.measures if each.name == kind and str(each.gain) == str(gain))
        )
        self.runs = [curves.curve(run, self.measure) for run in curves.runs]
        self.ideal = None if self.measure.normalised else curves.ideal(self.measure)

    @property
    def all(self) -> list[GainCurve]:
        """The ideal's curve, where it is not 1 everywhere, and the runs'."""
        return [*([self.ideal] if self.ideal else []), *self.runs]

    def at(self, rank: int) -> list[float]:
        """The runs' values at a rank."""
        return [float(curve.values[rank - 1]) for curve in self.runs]

    @property
    def best(self) -> GainCurve:
        """The run that has the most at the last rank."""
        values = self.at(DEPTH)
        return self.runs[values.index(max(values))]

    def places(self) -> list[int | None]:
        """The runs' places at the last rank."""
        return ranks_of(list(self.at(DEPTH)))

    def below_ideal(self) -> list[float]:
        """How far the best run is below the ideal, by rank."""
        assert self.ideal is not None
        return [float(value) for value in (self.ideal.values - self.best.values).tolist()]

    def below_best(self) -> list[float]:
        """How far the other runs are below the best one, at all ranks."""
        best = self.best
        others = [curve for curve in self.runs if curve.run != best.run]
        return [float(value) for curve in others for value in (best.values - curve.values).tolist()]

    def widest(self) -> float:
        """The largest distance between two runs at any rank."""
        ranks = range(1, DEPTH + 1)
        return max(max(self.at(rank)) - min(self.at(rank)) for rank in ranks)


def _section(name: str, panels: tuple[_Panel, _Panel], weights: Weights, said: Sequence[Claim]) -> Section:
    is_share = panels[0].ideal is None
    averaged = (
        "ratios of means: the average vector over the average ideal one"
        if is_share
        else "means over queries, with the ideal"
    )
    about = f"{panels[0].kind} by rank, {averaged}. (a) is {weights.flat}, (b) is {weights.tenfold}."
    named = _named(panels)
    parts: list[Table | Chart | str] = [
        *(_plot(panel, named) for panel in panels),
        *(_some_ranks(panel) for panel in panels),
    ]
    parts += claims_tables(f"Said of {name}", said)
    return Section(name, about, (*parts, _all_ranks(panels)))


def _named(panels: Sequence[_Panel]) -> frozenset[str | None]:
    """The runs that have a name in the figure: all, or of many the best and the worst at the last rank."""
    names = [curve.run for curve in panels[0].runs]
    if len(names) <= _MOST_NAMED:
        return frozenset(names)
    chosen: set[str | None] = set()
    for panel in panels:
        ordered = sorted(panel.runs, key=lambda curve: -float(curve.values[-1]))
        chosen.update(curve.run for curve in (*ordered[:_BEST], *ordered[-_WORST:]))
    return frozenset(chosen)


def _plot(panel: _Panel, named: frozenset[str | None]) -> Plot:
    ranks = tuple(float(rank) for rank in range(1, DEPTH + 1))
    others = [curve for curve in panel.runs if curve.run not in named]
    shown = [curve for curve in panel.all if curve.run is None or curve.run in named]
    return Plot(
        f"{panel.letter} {panel.kind}, {panel.gain}",
        Axis("rank", 1.0, float(DEPTH), is_whole=True),
        Axis(panel.kind, 0.0, 1.0 if panel.ideal is None else None),
        (
            *(Line("", ranks, tuple(curve.values.tolist()), "guide") for curve in others),
            *(
                Line(curve.run or "ideal", ranks, tuple(curve.values.tolist()), "system" if curve.run else "ideal")
                for curve in shown
            ),
        ),
        caption=f"in grey: {len(others)} other runs" if others else "",
    )


def _some_ranks(panel: _Panel) -> Table:
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


def _all_ranks(panels: Sequence[_Panel]) -> Table:
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


def _said_of_gain(a: _Panel, b: _Panel) -> tuple[Claim, ...]:
    distances = [panel.below_ideal() for panel in (a, b)]
    greatest = [of_panel.index(max(of_panel)) + 1 for of_panel in distances]
    assert b.ideal is not None
    by_50 = float(b.ideal.values[49] / b.ideal.values[-1])
    tau = tau_of_ranks(a.places(), b.places())
    return (
        _order_claim("runs at rank 100, (a) and (b)", "weights change the curves' places", a, b, tau),
        beside("(b) ideal at rank 50, of that at 100", "most of it", f"{100 * by_50:.0f} %"),
        *_distance_claims(a, "0 to 39", "0 to 6"),
        *_distance_claims(b, "70 to 894", "0 to 197"),
        seen(
            "rank of the greatest distance to the ideal",
            "often before 100",
            f"(a) {greatest[0]}, (b) {greatest[1]}",
            min(greatest) < DEPTH,
        ),
        *_reach_claims(a, 10, "30", "90"),
        *_reach_claims(b, 5, "35", "not within 100"),
    )


def _said_of_discounted(a: _Panel, b: _Panel, figure_1: tuple[_Panel, _Panel]) -> tuple[Claim, ...]:
    narrower = [(one.widest(), two.widest()) for one, two in zip(figure_1, (a, b), strict=True)]
    tau = tau_of_ranks(figure_1[0].places(), b.places())
    return (
        statement(
            "widest gap between two runs, Figures 1 and 2",
            "discounting narrows it",
            "; ".join(f"{p.letter} {_short(x)}, {_short(y)}" for p, (x, y) in zip((a, b), narrower, strict=True)),
            all(two < one for one, two in narrower),
        ),
        _order_claim("runs at rank 100, Figures 1(a) and 2(b)", "discount and weights change it", figure_1[0], b, tau),
        *_distance_claims(a, "0.5 to 10", "0.25 to 1"),
        *_distance_claims(b, "71 to 408", "13 to 40"),
        *_reach_claims(a, 5, "40", "about 95"),
        *_reach_claims(b, 5, "not within 100", "not within 100"),
        _catching_up(b, 10, "50"),
    )


def _said_of_shares(a: _Panel, b: _Panel) -> tuple[Claim, ...]:
    lower = [two < one for one, two in zip(a.at(1), b.at(1), strict=True)]
    return (
        seen(
            "curves that start lower in (b)",
            "all",
            f"{sum(lower)} of {len(lower)}",
            all(lower),
            "highly relevant documents are harder to find",
        ),
        beside(
            "highest value at rank 100",
            "1 in due course",
            f"(a) {max(a.at(DEPTH)):.3f}, (b) {max(b.at(DEPTH)):.3f}",
        ),
    )


def _said_of_discounted_shares(a: _Panel, b: _Panel, figure_3: tuple[_Panel, _Panel]) -> tuple[Claim, ...]:
    taus = [tau_of_ranks(one.places(), two.places()) for one, two in zip(figure_3, (a, b), strict=True)]
    is_other = [one.places() != two.places() for one, two in zip(figure_3, (a, b), strict=True)]
    highest = [max(max(panel.at(rank)) for rank in range(2, DEPTH + 1)) for panel in (a, b)]
    found = ", ".join(f"{panel.letter} tau {_tau(tau)}" for panel, tau in zip((a, b), taus, strict=True))
    return (
        seen("runs at rank 100, Figures 3 and 4", "the order changes", found, any(is_other)),
        seen(
            "highest value at ranks 2 to 100",
            "never 1",
            ", ".join(f"{panel.letter} {value:.3f}" for panel, value in zip((a, b), highest, strict=True)),
            max(highest) < 1,
        ),
        _order_claim(
            "runs at rank 100, (a) and (b)", "weighting affects the order", a, b, tau_of_ranks(a.places(), b.places())
        ),
    )


def _order_claim(what: str, says: str, one: _Panel, other: _Panel, tau: float | None) -> Claim:
    moved = sum(x != y for x, y in zip(one.places(), other.places(), strict=True))
    return seen(what, says, f"{moved} of {len(one.runs)} move, tau {_tau(tau)}", moved > 0)


def _distance_claims(panel: _Panel, ideal: str, best: str) -> tuple[Claim, ...]:
    run = shortened(str(panel.best.run), _NAME)
    return (
        beside(f"{panel.letter} best run below the ideal, points", ideal, f"{_span(panel.below_ideal())} ({run})"),
        beside(f"{panel.letter} others below the best run, points", best, _span(panel.below_best())),
    )


def _reach_claims(panel: _Panel, at: int, first: str, last: str) -> tuple[Claim, ...]:
    """How many documents the quickest and the slowest run need for what the ideal gives by a rank."""
    reading = panel.curves.sideways(panel.measure, at=[at])
    what = f"{panel.letter} documents for the ideal's gain at {at}"
    ranks = {run: reading.rank(run, at) for run in reading.runs}
    there = {run: rank for run, rank in ranks.items() if rank is not None}
    quickest, slowest = "not within 100", "not within 100"
    if there:
        quickest = _by(there, min(there.values()))
    if len(there) == len(ranks):
        slowest = _by(there, max(there.values()))
    elif there:
        slowest += f" ({len(ranks) - len(there)} of {len(ranks)})"
    return beside(f"{what}, best run", first, quickest), beside(f"{what}, worst run", last, slowest)


def _catching_up(panel: _Panel, at: int, says: str) -> Claim:
    """How many documents the slowest run needs for what the best one gives by a rank."""
    values = panel.at(at)
    best = str(panel.runs[values.index(max(values))].run)
    reading = panel.curves.sideways(panel.measure, reference=best, at=[at])
    ranks = {run: reading.rank(run, at) for run in reading.runs}
    late = [run for run, rank in ranks.items() if rank is None]
    finds = f"not within 100 ({len(late)} of {len(ranks)})" if late else ""
    if not late:
        there = {run: rank for run, rank in ranks.items() if rank is not None}
        finds = _by(there, max(there.values()))
    return beside(f"{panel.letter} documents for the best run's gain at {at}, worst run", says, finds)


def _by(ranks: Mapping[str, int], rank: int) -> str:
    runs = [run for run, reached in ranks.items() if reached == rank]
    return f"{rank} ({shortened(runs[0], _NAME)})" if len(runs) == 1 else f"{rank} ({len(runs)} runs)"


def _span(values: Sequence[float]) -> str:
    return f"{_short(min(values))} to {_short(max(values))}"


def _short(value: float) -> str:
    text = f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
    return "0" if float(text) == 0 else text


def _tau(tau: float | None) -> str:
    return "undefined" if tau is None else f"{tau:.2f}"
