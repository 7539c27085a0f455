"""Figures 7 to 9 and the first hypothesis of Della Mea and Mizzaro (2004): systems by ADM, in three groups."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from gainful.pages.charts import Axis, Boxes, Line, Percentiles, Plot, Points
from gainful.pages.page import Cell
from gainful.stats.rank_tests import kruskal_wallis, mann_whitney
from gainful.tasks.compare.compare_words import p_words
from gainful_papers.claims import Claim, Floats, Section, claims_tables, table
from gainful_papers.dellamea2004.adm_experiment import MEASURES, REFERENCES, Experiment
from gainful_papers.dellamea2004.adm_tables import ALL_MEASURES

#: Relative rounding error of a singular covariance.
_ROUNDING = 1e-12
_PERCENTILES = (10, 25, 50, 75, 90)
#: The paper's significance level.
_SIGNIFICANT = 0.0001


def density_ellipse(x: Floats, y: Floats, share: float = 0.95) -> tuple[Floats, Floats] | None:
    """Return the outline of the smallest ellipse around the mean that contains at least ``share`` of the points.

    With the mean m and the sample covariance S of the n points p, it is

        {q: (q - m)' S^-1 (q - m) <= r^2},   r = the ceil(share n)-th smallest of sqrt((p - m)' S^-1 (p - m)),

    so its outline passes through a point. The paper's 95% density ellipses are the smallest that contain so many
    points; it does not define their shape. None if there are fewer than three points, or if all are on one line, so
    that the covariance has no inverse.

    >>> outline = density_ellipse(np.array([1.0, -1, 0, 0]), np.array([0.0, 0, 2, -2]))
    >>> [round(float(abs(each).max()), 6) for each in outline]
    [1.0, 2.0]
    """
    if x.size < 3:
        return None
    points = np.stack((x, y))
    covariance = np.cov(points)
    widths, largest = np.sqrt(np.diag(covariance)), np.abs(points).max(axis=1)
    if (widths <= _ROUNDING * largest).any() or np.linalg.det(covariance) <= _ROUNDING * (widths**2).prod():
        return None
    middle, shape = points.mean(axis=1, keepdims=True), np.linalg.cholesky(covariance)
    distances = np.sort((np.linalg.solve(shape, points - middle) ** 2).sum(axis=0))
    # Subtract the rounding error of the product: 95% of 20 points are 19.
    reach = distances[max(1, math.ceil(share * x.size - 1e-9)) - 1]
    steps = np.linspace(0.0, 2 * math.pi, 121)
    outline = middle + math.sqrt(reach) * shape @ np.stack((np.cos(steps), np.sin(steps)))
    return outline[0], outline[1]


def first_hypothesis(found: Experiment) -> Section:
    """Compare the groups by ADM' and ADM'', all together and in pairs."""
    about = "Comparison of the groups by ADM' and ADM''."
    claims = []
    for name in MEASURES:
        groups = {group: scores.tolist() for group, scores in found.by_group(name).items()}
        if len(groups) < 2:
            return Section("First hypothesis", about, ("Only one group has members: nothing to compare.",))
        overall = kruskal_wallis(list(groups.values())).p
        claims.append(_significance_claim(f"{name}: Kruskal-Wallis, {' '.join(groups)}", overall, "chi-square"))
        for one, other in combinations(groups, 2):
            found_p, kind = mann_whitney(groups[one], groups[other], math.inf), "exact"
            if not found_p.is_exact:
                found_p, kind = mann_whitney(groups[one], groups[other]), "normal"
            claims.append(_significance_claim(f"{name}: Mann-Whitney, {one} {other}", found_p.p, kind))
    return Section.of(
        "First hypothesis",
        about,
        "Descriptive only: the groups were chosen by a measure of the same runs, which makes significance likely, and "
        "runs of one team are not independent.",
        "Mann-Whitney uses the exact P if no values are equal: for the paper's 7 Best and 19 Worst systems, the normal "
        "approximation cannot give P below 0.0001, even if all Best are above all Worst.",
        claims_tables("Kruskal-Wallis and Mann-Whitney", claims),
    )


def _significance_claim(what: str, p: float, kind: str) -> Claim:
    words = p_words(p)
    finds = f"P {words if words.startswith('<') else f'= {words}'} ({kind})"
    return Claim.remark(what, f"P < {_SIGNIFICANT}", finds, p < _SIGNIFICANT)


def figure_7(found: Experiment) -> Section:
    """Plot each ADM against each reference measure, with the groups' ellipses."""
    plots = []
    for name in MEASURES:
        for reference in REFERENCES:
            points = _points(found, found.scores[reference], found.scores[name])
            outlines = {each.name: density_ellipse(np.array(each.x), np.array(each.y)) for each in points}
            lines = tuple(
                Line(group, tuple(outline[0].tolist()), tuple(outline[1].tolist()))
                for group, outline in outlines.items()
                if outline
            )
            plots.append(Plot(f"{name} and {reference}", Axis(reference), Axis(name), lines, points))
    group_of = {name: group for group, members in found.systems.groups.items() for name in members}
    return Section.of(
        "Figure 7",
        "ADMs against reference measures, with 95% ellipses of the groups.",
        plots,
        claims_tables("The best system", [_best_system_claim(found)]),
        table(
            "Scores of the systems",
            f"system | group | {' | '.join(f'{name} .' for name in ALL_MEASURES)}",
            (
                (name, group_of[name], *(float(found.scores[measure][i]) for measure in ALL_MEASURES))
                for i, name in enumerate(found.systems.kept)
            ),
            for_machines=True,
        ),
    )


def _points(found: Experiment, x: Floats, y: Floats) -> tuple[Points, ...]:
    """Return the points of each group by two measures, the largest group first: later points are drawn on top."""
    places = {group: found.systems.places(group) for group, members in found.systems.groups.items() if members}
    largest_first = sorted(places.items(), key=lambda each: -each[1].size)
    return tuple(Points(group, tuple(x[each].tolist()), tuple(y[each].tolist())) for group, each in largest_first)


def _best_system_claim(found: Experiment) -> Claim:
    """Check the rank by ADM'' of the system that is best by all reference measures."""
    what, says = "best system by all three reference measures", "not so good by ADM"
    firsts = [set(np.flatnonzero(scores == scores.max())) for scores in map(found.scores.__getitem__, REFERENCES)]
    if any(len(first) > 1 for first in firsts):
        return Claim.undecided(what, says, "several are equal", "by some reference measure")
    if len(set.union(*firsts)) > 1:
        return Claim.undecided(what, says, "not the same by all")
    [best] = firsts[0]
    rank = 1 + int(np.count_nonzero(found.scores["ADM''"] > found.scores["ADM''"][best]))
    finds = f"{found.systems.kept[best]}: rank {rank} of {len(found.systems.kept)} by ADM''"
    note = "holds if not first by ADM'', as the last panel of Figure 7 appears to show"
    return Claim.remark(what, says, finds, rank > 1, note)


def figure_8(found: Experiment) -> Section:
    """Plot the groups' percentiles."""
    charts = []
    rows: list[tuple[Cell, ...]] = []
    for name in MEASURES:
        groups = found.by_group(name)
        percentiles = {group: np.percentile(values, _PERCENTILES).tolist() for group, values in groups.items()}
        boxes = tuple(Percentiles(group, tuple(points), groups[group].size) for group, points in percentiles.items())
        charts.append(Boxes(f"{name} of the groups", Axis(name), boxes))
        rows += [(name, group, int(groups[group].size), *points) for group, points in percentiles.items()]
    return Section.of(
        "Figure 8",
        "Percentiles of the groups' ADMs: 10, 25, 50, 75 and 90%.",
        charts,
        table(
            "Percentiles",
            f"measure | group | systems # | {' | '.join(f'{point}% .' for point in _PERCENTILES)}",
            rows,
            "interpolated linearly",
        ),
    )


def figure_9(found: Experiment) -> Section:
    """Plot ADMs on sets 1 and 3 against ADMs on the whole set."""
    topics, whole = found.sets.first_topics[0], found.sets.whole
    sets = {"set 1": found.sets.set_1, "set 3": found.sets.set_3}
    titles = {"set 1": f"set 1 (first {topics} queries)", "set 3": "set 3 (half of the documents)"}
    plots = []
    for place, name in enumerate(MEASURES):
        for which, values in sets.items():
            x, y = whole[place], values[place]
            # The diagonal, over the common range of both axes.
            low, high = max(float(x.min()), float(y.min())), min(float(x.max()), float(y.max()))
            ends = (low, high) if low < high else ()
            axes = _axis(f"{name}, whole set", x), _axis(f"{name}, {titles[which]}", y)
            lines = (Line("equal", ends, ends, "guide"),)
            plots.append(Plot(f"{name}: whole set and {which}", *axes, lines, _points(found, x, y)))
    every = [values[place] for place in range(len(MEASURES)) for values in (whole, *sets.values())]
    columns = " | ".join(f"{name}, {which} ." for name in MEASURES for which in ("whole set", *sets))
    return Section.of(
        "Figure 9",
        "ADMs on sets 1 and 3 against ADMs on the whole set.",
        plots,
        table(
            "Scores on the whole set and on sets 1 and 3",
            f"system | {columns}",
            ((system, *(float(values[i]) for values in every)) for i, system in enumerate(found.systems.kept)),
            for_machines=True,
        ),
    )


def _axis(label: str, values: Floats) -> Axis:
    low, high = float(values.min()), float(values.max())
    aside = 0.03 * (high - low) or 0.01
    return Axis(label, low - aside, high + aside)
