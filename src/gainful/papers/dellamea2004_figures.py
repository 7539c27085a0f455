"""Figures 7 to 9 of Della Mea and Mizzaro (2004): systems by ADM and by the reference measures, in three groups."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from gainful.arrays import Floats
from gainful.papers.claims import Claim, claims_tables, remark, statement, undecided
from gainful.papers.dellamea2004_experiment import Experiment
from gainful.papers.dellamea2004_sets import MEASURES
from gainful.papers.dellamea2004_systems import GROUPS, REFERENCES
from gainful.papers.dellamea2004_tables import ALL_MEASURES
from gainful.papers.sections import Section
from gainful.render.charts import Axis, Boxes, Line, Percentiles, Plot, Points
from gainful.render.page import Cell, Column, Table
from gainful.stats.ellipses import density_ellipse

_SHARE = 0.95
_PERCENTILES = (10, 25, 50, 75, 90)


def figure_7(found: Experiment) -> Section:
    """Each ADM against each reference measure, groups with their ellipses."""
    plots, inside = [], []
    for name in MEASURES:
        for reference in REFERENCES:
            lines, row = _ellipses(found, reference, name)
            points = tuple(_points(found, group, reference, name) for group in _largest_first(found))
            plots.append(Plot(f"{name} and {reference}", Axis(reference), Axis(name), lines, points))
            inside.append((f"{name} and {reference}", *row))
    counts = Table(
        (Column("panel"), *(Column(group, none="no ellipse") for group in GROUPS)),
        tuple(inside),
        "Systems inside the ellipses",
        (f"ellipses have the shape of a group's covariance and hold at least {100 * _SHARE:g} % of its systems",),
    )
    parts: tuple[Plot | Table, ...] = (
        *plots,
        counts,
        *claims_tables("The best system", [_rightmost(found)]),
        _scores_table(found),
    )
    return Section("Figure 7", "ADMs are drawn against reference measures, with the groups' 95 % ellipses.", parts)


def _points(found: Experiment, group: str, x: str, y: str) -> Points:
    places = found.systems.places(group)
    return Points(group, _tuple(found.scores[x][places]), _tuple(found.scores[y][places]))


def _ellipses(found: Experiment, x: str, y: str) -> tuple[tuple[Line, ...], tuple[Cell, ...]]:
    """The outlines of the groups that have one, and how many systems each holds."""
    lines: list[Line] = []
    row: list[Cell] = []
    for group in GROUPS:
        places = found.systems.places(group)
        outline = density_ellipse(_tuple(found.scores[x][places]), _tuple(found.scores[y][places]), _SHARE)
        row.append(None if outline is None else f"{outline.inside} of {places.size}")
        if outline is not None:
            lines.append(Line(group, outline.x, outline.y))
    order = _largest_first(found)
    return tuple(sorted(lines, key=lambda line: order.index(line.name))), tuple(row)


def _largest_first(found: Experiment) -> list[str]:
    """The groups that have members; the points of a large group would cover those of a small one."""
    members = {group: len(names) for group, names in found.systems.groups.items() if names}
    return sorted(members, key=lambda group: -members[group])


def _rightmost(found: Experiment) -> Claim:
    """The system that is best by all reference measures, and where ADM'' has it."""
    what, says = "the best system by all three reference measures", "not so good by ADM"
    firsts = [set(np.flatnonzero(scores == scores.max())) for scores in map(found.scores.__getitem__, REFERENCES)]
    if any(len(first) > 1 for first in firsts):
        return undecided(what, says, "several are equally good", "by some reference measure")
    if len(set.union(*firsts)) > 1:
        return undecided(what, says, "another one by each" if len(set.union(*firsts)) == 3 else "not the same by all")
    [best] = firsts[0]
    rank = 1 + int(np.count_nonzero(found.scores["ADM''"] > found.scores["ADM''"][best]))
    finds = f"{found.systems.kept[best]}: rank {rank} of {len(found.systems.kept)} by ADM''"
    note = "seen if it is not the first by ADM'', which the last panel of its Figure 7 is taken to show"
    return remark(what, says, finds, rank > 1, note)


def _scores_table(found: Experiment) -> Table:
    group_of = {name: group for group, members in found.systems.groups.items() for name in members}
    columns = (
        Column("system", for_machines=True),
        Column("group", for_machines=True),
        *(Column(name, "number", for_machines=True) for name in ALL_MEASURES),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (name, group_of[name], *(float(found.scores[measure][i]) for measure in ALL_MEASURES))
        for i, name in enumerate(found.systems.kept)
    )
    return Table(columns, rows, "Scores of the systems")


def figure_8(found: Experiment) -> Section:
    """The groups' percentiles."""
    charts, claims = [], []
    rows: list[tuple[Cell, ...]] = []
    for name in MEASURES:
        groups = found.by_group(name)
        percentiles = {group: np.percentile(values, _PERCENTILES).tolist() for group, values in groups.items()}
        boxes = tuple(Percentiles(group, tuple(points), groups[group].size) for group, points in percentiles.items())
        charts.append(Boxes(f"{name} of the groups", Axis(name), boxes))
        rows += [(name, group, int(groups[group].size), *points) for group, points in percentiles.items()]
        if len(groups) > 1:
            claims.append(_medians_claim(name, {group: points[2] for group, points in percentiles.items()}))
    table = Table(
        (
            Column("measure"),
            Column("group"),
            Column("systems", "count"),
            *(Column(f"{point} %", "number") for point in _PERCENTILES),
        ),
        tuple(rows),
        "Percentiles",
        ("linear between neighbouring values",),
    )
    return Section(
        "Figure 8",
        "ADMs of the groups are drawn as 10, 25, 50, 75 and 90 % points.",
        (*charts, table, *claims_tables("Medians", claims)),
    )


def _medians_claim(name: str, medians: dict[str, float]) -> Claim:
    """The order of the groups that there are."""
    what, says = f"{name}: medians of the groups", " above ".join(medians)
    finds = ", ".join(f"{group} {median:.4f}" for group, median in medians.items())
    if len(set(medians.values())) == 1:
        return undecided(what, says, finds, "all the same")
    note = "to be seen in its Figure 8, not in its text; the groups were made from average precision"
    return statement(what, says, finds, all(one > other for one, other in pairwise(medians.values())), note)


def figure_9(found: Experiment) -> Section:
    """ADMs on the whole set against those on sets 1 and 3."""
    sets = {"set 1": found.sets.set_1, "set 3": found.sets.set_3}
    topics = found.sets.first_topics[0]
    names = {"set 1": f"set 1 (first {topics} queries)", "set 3": "set 3 (half of the documents)"}
    plots = [
        Plot(
            f"{name}: the whole and {which}",
            _axis(f"{name}, whole set", found.sets.whole[place]),
            _axis(f"{name}, {names[which]}", values[place]),
            (_diagonal(found.sets.whole[place], values[place]),),
            tuple(
                Points(group, _tuple(found.sets.whole[place][places]), _tuple(values[place][places]))
                for group in _largest_first(found)
                if (places := found.systems.places(group)).size
            ),
        )
        for place, name in enumerate(MEASURES)
        for which, values in sets.items()
    ]
    columns = (
        Column("system", for_machines=True),
        *(
            Column(f"{name}, {which}", "number", for_machines=True)
            for name in MEASURES
            for which in ("whole set", *sets)
        ),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            system,
            *(
                float(values[place][i])
                for place in range(len(MEASURES))
                for values in (found.sets.whole, *sets.values())
            ),
        )
        for i, system in enumerate(found.systems.kept)
    )
    taus = {row.number: row.tau for row in found.sets.rows}
    read = Table(
        (Column("measure"), *(Column(f"tau with {which}", "number", 3) for which in sets)),
        tuple((name, *(taus[number][place] for number in (1, 3))) for place, name in enumerate(MEASURES)),
        "Read off the figure, as in Table 4",
        for_people=True,
    )
    table = Table(columns, rows, "Scores on the whole and on sets 1 and 3")
    return Section("Figure 9", "ADMs on the whole set are drawn against those on sets 1 and 3.", (*plots, read, table))


def _axis(label: str, values: Floats) -> Axis:
    """A little more than the values need, so that points at its ends stand free."""
    low, high = float(values.min()), float(values.max())
    aside = 0.03 * (high - low) or 0.01
    return Axis(label, low - aside, high + aside)


def _diagonal(x: Floats, y: Floats) -> Line:
    """Where both are the same, as far as both reach."""
    low, high = max(float(x.min()), float(y.min())), min(float(x.max()), float(y.max()))
    ends = (low, high) if low < high else ()
    return Line("equal", ends, ends, "guide")


def _tuple(values: Floats) -> tuple[float, ...]:
    return tuple(values.tolist())
