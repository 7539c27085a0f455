"""What jarvelin2002 reads off its figures, read off those of any runs.

Figures 1 to 4 of jarvelin2002: gain by rank, as it is and beside the ideal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gainful.data.judged import Judged
from gainful.data.run import RunLike
from gainful.kernel.parallel import Progress
from gainful.pages.charts import Axis, Chart, Line, Plot, shortened
from gainful.pages.page import Cell, Column, Table
from gainful.papers.claims import Claim, Section, beside, claims_tables, remark, statement, undecided
from gainful.papers.jarvelin2002.setting import DEPTH, Panel, Weights, measure
from gainful.papers.readings import with_few_names
from gainful.tasks.curves.gain_curves import GainCurves, gain_curves
from gainful.tasks.curves.gain_page import table_ranks
from gainful.tasks.sensitivity.sensitivity_findings import tau_of_ranks

_ROUNDING = 1e-12
#: The most letters of a run's name.
_NAME = 16
#: Where the best run is read, to see how much further the worst one has to be read.
_READ_AT = (5, 10, 20)
#: What a run that finds nothing leaves to be said.
_NOTHING = "no run gains anything"


def said_of_gain(a: Panel, b: Panel) -> tuple[Claim, ...]:
    """Figure 1 (section 3.4): distances to the ideal, and how far one has to read for what it gives."""
    assert b.ideal is not None
    by_50 = float(b.ideal.values[49] / b.ideal.values[-1])
    tau = tau_of_ranks(a.places(), b.places())
    return (
        _order_claim("runs at rank 100, (a) and (b)", "weights change the curves' places", a, b, tau),
        remark(
            "(b) ideal at rank 50, of that at 100",
            "most of the higher levels found",
            f"{100 * by_50:.0f} % of the gain",
            by_50 > 0.5,
            "it holds where that is more than half",
        ),
        *_distance_claims(a, "0 to 39", "0 to 6"),
        *_distance_claims(b, "70 to 894", "0 to 197"),
        _greatest_distance(a, b),
        *_reach_claims(a, 10, "30", "90"),
        *_reach_claims(b, 5, "35", "not within 100"),
    )


def said_of_discounted(a: Panel, b: Panel, figure_1: tuple[Panel, Panel]) -> tuple[Claim, ...]:
    """Figure 2 (section 3.5): the same with a discount, and what the discount changes."""
    tau = tau_of_ranks(figure_1[0].places(), b.places())
    return (
        _narrower_gaps((a, b), figure_1),
        _order_claim("runs at rank 100, Figures 1(a) and 2(b)", "discount and weights change it", figure_1[0], b, tau),
        *_distance_claims(a, "0.5 to 10", "0.25 to 1"),
        *_distance_claims(b, "71 to 408", "13 to 40"),
        *_reach_claims(a, 5, "40", "about 95"),
        *_reach_claims(b, 5, "not within 100", "not within 100"),
        _catching_up(b, 10, "50"),
        _more_to_read((*figure_1, a, b)),
    )


def said_of_shares(a: Panel, b: Panel) -> tuple[Claim, ...]:
    """Figure 3 (section 3.6): where curves start, and whether they reach the ideal."""
    highest = [max(panel.at(DEPTH)) for panel in (a, b)]
    return (
        _lower_starts(a, b),
        remark(
            "highest value at rank 100",
            "1 in due course",
            f"(a) {highest[0]:.3f}, (b) {highest[1]:.3f}",
            max(highest) > 1 - _ROUNDING,
        ),
    )


def said_of_discounted_shares(a: Panel, b: Panel, figure_3: tuple[Panel, Panel]) -> tuple[Claim, ...]:
    """Figure 4 (section 3.6): what discount and weights do to the order of runs."""
    taus = [tau_of_ranks(one.places(), two.places()) for one, two in zip(figure_3, (a, b), strict=True)]
    is_other = [one.places() != two.places() for one, two in zip(figure_3, (a, b), strict=True)]
    highest = [max(max(panel.at(rank)) for rank in range(2, DEPTH + 1)) for panel in (a, b)]
    found = ", ".join(f"{panel.letter} tau {_tau(tau)}" for panel, tau in zip((a, b), taus, strict=True))
    return (
        remark("runs at rank 100, Figures 3 and 4", "the order changes", found, any(is_other)),
        statement(
            "highest value at ranks 2 to 100",
            "never 1",
            ", ".join(f"{panel.letter} {value:.3f}" for panel, value in zip((a, b), highest, strict=True)),
            max(highest) < 1 - _ROUNDING,
            "it holds where no run has 1 at any of these ranks",
        )
        if a.has_gain
        else undecided("highest value at ranks 2 to 100", "never 1", _NOTHING),
        _order_claim(
            "runs at rank 100, (a) and (b)", "weighting affects the order", a, b, tau_of_ranks(a.places(), b.places())
        ),
    )


def _order_claim(what: str, says: str, one: Panel, other: Panel, tau: float | None) -> Claim:
    moved = sum(x != y for x, y in zip(one.places(), other.places(), strict=True))
    return remark(what, says, f"{moved} of {len(one.runs)} move, tau {_tau(tau)}", moved > 0)


def _greatest_distance(a: Panel, b: Panel) -> Claim:
    what, says = "rank of the greatest distance to the ideal", "often before 100"
    if not a.has_gain:
        return undecided(what, says, _NOTHING)
    distances = [panel.below_ideal() for panel in (a, b)]
    if min(map(max, distances)) < _ROUNDING:
        return undecided(what, says, "the best run is never below it")
    greatest = [of_panel.index(max(of_panel)) + 1 for of_panel in distances]
    return remark(
        what,
        says,
        f"(a) {greatest[0]}, (b) {greatest[1]}",
        max(greatest) < DEPTH,
        f"of the best run at rank {DEPTH}; it holds where both are before rank {DEPTH}",
    )


def _narrower_gaps(figure_2: tuple[Panel, Panel], figure_1: tuple[Panel, Panel]) -> Claim:
    what, says = "widest gap between two runs, Figures 1 and 2", "discounting seems to narrow it"
    gaps = [(one.widest(), two.widest()) for one, two in zip(figure_1, figure_2, strict=True)]
    # Runs that differ in grades only are level with flat weights: there is nothing to narrow in that panel.
    open_gaps = [(one, two) for one, two in gaps if one > _ROUNDING]
    if not open_gaps:
        return undecided(what, says, "no two runs differ")
    if not any(_differ(one, two) for one, two in zip(figure_1, figure_2, strict=True)):
        return undecided(what, says, "the discount changes nothing")
    found = "; ".join(f"{p.letter} {_short(x)}, {_short(y)}" for p, (x, y) in zip(figure_2, gaps, strict=True))
    return statement(
        what,
        says,
        found,
        all(two < one * (1 - _ROUNDING) for one, two in open_gaps),
        "points where two runs are furthest apart; it holds where these are fewer in Figure 2, in (a) and in (b)",
    )


def _differ(one: Panel, other: Panel) -> bool:
    """Whether any run has another curve."""
    return any((x.values != y.values).any() for x, y in zip(one.runs, other.runs, strict=True))


def _lower_starts(a: Panel, b: Panel) -> Claim:
    """Of the runs that can start lower: nothing is lower than nothing."""
    what, says = "curves that start lower in (b)", "all"
    lower = [two < one * (1 - _ROUNDING) for one, two in zip(a.at(1), b.at(1), strict=True) if one]
    if not lower:
        return undecided(what, says, "no run gains anything at rank 1")
    note = "of the runs that gain something at rank 1; it holds where all do"
    return statement(what, says, f"{sum(lower)} of {len(lower)}", all(lower), note)


def _distance_claims(panel: Panel, ideal: str, best: str) -> tuple[Claim, ...]:
    whats = (f"{panel.letter} best run below the ideal, points", f"{panel.letter} others below the best run, points")
    if not panel.has_gain:
        return undecided(whats[0], ideal, _NOTHING), undecided(whats[1], best, _NOTHING)
    run = shortened(str(panel.best.run), _NAME)
    return (
        beside(whats[0], ideal, f"{_span(panel.below_ideal())} ({run})"),
        beside(whats[1], best, _span(panel.below_best())),
    )


def _reach_claims(panel: Panel, at: int, first: str, last: str) -> tuple[Claim, ...]:
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


def _behind_the_best(panel: Panel, at: int) -> dict[str, int | None]:
    """By run, at which rank it has what the run that is best by a rank gives there; empty if that gives nothing."""
    values = panel.at(at)
    if not max(values):
        return {}
    best = str(panel.runs[values.index(max(values))].run)
    reading = panel.curves.sideways(panel.measure, reference=best, at=[at])
    return {run: reading.rank(run, at) for run in reading.runs}


def _first_at(panel: Panel, at: int) -> int:
    """Where the most that any run gives by a rank is there first: before that rank where curves are level."""
    goal = max(panel.at(at)) * (1 - _ROUNDING)
    return next(rank for rank in range(1, at + 1) if max(panel.at(rank)) >= goal)


def _more_to_read(panels: Sequence[Panel]) -> Claim:
    """How much further than with the best run a user has to read with the worst one (section 4)."""
    more: list[float] = []
    what, says, never = "more documents by the worst run", "100 to 500 %", 0
    for panel in panels:
        for at in _READ_AT:
            ranks = list(_behind_the_best(panel, at).values())
            reached = [rank for rank in ranks if rank is not None]
            if len(reached) < len(ranks):
                never += 1
            elif reached:
                more.append(100 * (max(reached) / _first_at(panel, at) - 1))
    if not more and not never:
        return undecided(what, says, _NOTHING)
    found = f"{_span(more, '.0f')} %" if more else ""
    if never:
        found += f"{', ' if found else ''}{never} of {never + len(more)} not in {DEPTH}"
    ranks_read = ", ".join(map(str, _READ_AT))
    note = f"for what the best run gives by ranks {ranks_read}, in Figures 1 and 2 (section 4)"
    return beside(what, says, found, note)


def _catching_up(panel: Panel, at: int, says: str) -> Claim:
    """How many documents the slowest run needs for what the best one gives by a rank."""
    what = f"{panel.letter} documents for the best run's gain at {at}, worst run"
    ranks = _behind_the_best(panel, at)
    if not ranks:
        return undecided(what, says, f"{_NOTHING} by rank {at}")
    late = [run for run, rank in ranks.items() if rank is None]
    finds = f"not within 100 ({len(late)} of {len(ranks)})" if late else ""
    if not late:
        there = {run: rank for run, rank in ranks.items() if rank is not None}
        finds = _by(there, max(there.values()))
    return beside(what, says, finds)


def _by(ranks: Mapping[str, int], rank: int) -> str:
    runs = [run for run, reached in ranks.items() if reached == rank]
    return f"{rank} ({shortened(runs[0], _NAME)})" if len(runs) == 1 else f"{rank} ({len(runs)} runs)"


def _span(values: Sequence[float], form: str = "") -> str:
    low, high = (format(value, form) if form else _short(value) for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def _short(value: float) -> str:
    text = f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
    return "0" if float(text) == 0 else text


def _tau(tau: float | None) -> str:
    return "undefined" if tau is None else f"{tau:.2f}"


#: The measure of each figure.
KINDS = {"Figure 1": "CG", "Figure 2": "DCG", "Figure 3": "nCG", "Figure 4": "nDCG"}


def figure_curves(
    judged: Judged,
    runs: Mapping[str, RunLike],
    weights: Weights,
    threads: int | None,
    progress: Progress | None,
) -> GainCurves:
    """The curves of all four figures; normalised ones as ratios of means, as the article has them."""
    wanted = [measure(kind, gain, DEPTH) for kind in KINDS.values() for gain in (weights.flat, weights.tenfold)]
    return gain_curves(judged, runs, wanted, average="means", draws=0, threads=threads, progress=progress)


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
