"""Figures 7 to 9 and the first hypothesis of Della Mea and Mizzaro (2004): systems by ADM, in three groups.

Ellipses around points say where a group's points lie, without its few outliers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations
from statistics import fmean

import numpy as np

from gainful.notation import listed
from gainful.pages.charts import Axis, Boxes, Line, Percentiles, Plot, Points
from gainful.pages.page import Cell, head
from gainful.stats.rank_tests import GroupComparison, compare_groups, kruskal_wallis, mann_whitney
from gainful.tasks.compare.compare_words import p_words
from gainful_papers.claims import Claim, Floats, Section, claims_tables, table
from gainful_papers.dellamea2004.adm_experiment import GROUPS, REFERENCES, Experiment
from gainful_papers.dellamea2004.adm_sets import MEASURES
from gainful_papers.dellamea2004.adm_tables import ALL_MEASURES

#: What rounding leaves of a covariance that is singular.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Ellipse:
    """An ellipse around points.

    ``x`` and ``y`` are its outline, which ends where it begins; ``half_axes`` the longer and the shorter one; ``angle``
    how far the longer one is turned from the horizontal, in radians; ``inside`` how many points lie in or on it, of
    ``count``.
    """

    x: tuple[float, ...]
    y: tuple[float, ...]
    centre: tuple[float, float]
    half_axes: tuple[float, float]
    angle: float
    inside: int
    count: int


def density_ellipse(x: Sequence[float], y: Sequence[float], share: float = 0.95, points: int = 120) -> Ellipse | None:
    """The smallest ellipse around the mean, of the shape of the covariance, that holds at least a share of the points.

    With the mean m and the sample covariance S (divided by n - 1) of the n points p, it is

        {q: (q - m)' S^-1 (q - m) <= r^2},   r = the ceil(share n)-th smallest of sqrt((p - m)' S^-1 (p - m)),

    so that its outline goes through a point. No distribution is assumed. The 95 % density ellipses of dellamea2004
    (Figure 7) are the smallest that hold at least so many points; of which shape they are it leaves open.

    A point of which a value is not finite is left out. None if there are fewer than three points, or if all are on one
    line: then the covariance has no inverse. ``points`` is how many different ones the outline has.

    >>> found = density_ellipse([1, -1, 0, 0], [0, 0, 2, -2])
    >>> found.centre, [round(half, 9) for half in found.half_axes], found.inside
    ((0.0, 0.0), [2.0, 1.0], 4)
    >>> density_ellipse([1, 2, 3], [1, 2, 3]) is None
    True
    """
    pairs = [(float(a), float(b)) for a, b in zip(x, y, strict=True) if math.isfinite(a) and math.isfinite(b)]
    if len(pairs) < 3:
        return None
    centre = fmean(a for a, _ in pairs), fmean(b for _, b in pairs)
    away = [(a - centre[0], b - centre[1]) for a, b in pairs]
    xx, xy, yy = (
        math.fsum(values) / (len(pairs) - 1) for values in zip(*((a * a, a * b, b * b) for a, b in away), strict=True)
    )
    largest = max(abs(a) for a, _ in pairs), max(abs(b) for _, b in pairs)
    determinant = xx * yy - xy * xy
    has_no_width = any(math.sqrt(value) <= _ROUNDING * far for value, far in zip((xx, yy), largest, strict=True))
    if has_no_width or determinant <= _ROUNDING * xx * yy:
        return None
    distances = sorted((yy * a * a - 2 * xy * a * b + xx * b * b) / determinant for a, b in away)
    # Of 20 points 95 % are 19, whatever rounding makes of the product.
    reach = distances[max(1, math.ceil(share * len(pairs) - 1e-9)) - 1]
    inside = sum(distance <= reach * (1 + _ROUNDING) for distance in distances)
    long = (xx + yy) / 2 + math.hypot((xx - yy) / 2, xy)
    half_axes = math.sqrt(reach * long), math.sqrt(reach * determinant / long)
    angle = math.atan2(2 * xy, xx - yy) / 2
    # In equal steps of the angle in the circle that the ellipse is a picture of; the first point comes again.
    cosine, sine = math.cos(angle), math.sin(angle)
    steps = [2 * math.pi * i / points for i in (*range(points), 0)]
    around = [(half_axes[0] * math.cos(step), half_axes[1] * math.sin(step)) for step in steps]
    outline_x = tuple(centre[0] + a * cosine - b * sine for a, b in around)
    outline_y = tuple(centre[1] + a * sine + b * cosine for a, b in around)
    return Ellipse(outline_x, outline_y, centre, half_axes, angle, inside, len(pairs))


#: What the paper calls significant.
_SIGNIFICANT = 0.0001

_Groups = dict[str, list[float]]


def first_hypothesis(found: Experiment) -> Section:
    """The groups by ADM' and ADM'': all at once, and two by two."""
    about = "The groups are compared by ADM' and ADM''."
    groups = {name: {group: each.tolist() for group, each in found.by_group(name).items()} for name in MEASURES}
    if min(map(len, groups.values())) < 2:
        return Section("First hypothesis", about, ("There is only one group with members: nothing to compare.",))
    compared = {name: compare_groups(each) for name, each in groups.items()}
    rows: list[tuple[Cell, ...]] = []
    for name, comparison in compared.items():
        overall, sizes = comparison.overall, ", ".join(map(str, comparison.overall.sizes))
        names = ", ".join(comparison.names)
        rows.append((name, names, "Kruskal-Wallis H", sizes, overall.h, p_words(overall.p), overall.p))
        for one, other, test in comparison.pairs:
            kind, both = "Mann-Whitney U" + ", exact" * test.is_exact, ", ".join(map(str, test.sizes))
            rows.append((name, f"{one}, {other}", kind, both, test.u, p_words(test.p), test.p))
    return Section.of(
        "First hypothesis",
        about,
        "Descriptive: the groups were chosen by a measure of the same runs, so that significance is foregone, and runs "
        "of one team are not independent.",
        table(
            "Groups compared by rank",
            (*head("measure | groups | test | sizes | statistic .2 | P"), *head("P value .", for_machines=True)),
            rows,
            "two-sided; Mann-Whitney is exact for groups of at most 8 without ties, else normal with continuity",
        ),
        "Claims of Mann-Whitney are judged by the exact P where no values are equal, whatever the sizes: of the "
        "paper's 7 Best and 19 Worst systems the normal approximation cannot have P below 0.0001, even if all Best are "
        "above all Worst. Where no order of the values would make P fall below 0.0001, nothing is decided.",
        claims_tables("Kruskal-Wallis and Mann-Whitney", _test_claims(groups, compared)),
    )


def _test_claims(groups: dict[str, _Groups], compared: dict[str, GroupComparison]) -> Iterator[Claim]:
    for name, comparison in compared.items():
        members = groups[name]
        yield significance_claim(
            f"{name}: Kruskal-Wallis, {' '.join(comparison.names)}", list(members.values()), _chi_square
        )
        for one, other, _ in comparison.pairs:
            yield significance_claim(f"{name}: Mann-Whitney, {one} {other}", [members[one], members[other]], _u_test)


#: A test: P of some groups, and what its P is called.
_Test = Callable[[Sequence[Sequence[float]]], tuple[float, str]]


def significance_claim(what: str, groups: Sequence[Sequence[float]], test: _Test) -> Claim:
    """Whether P is below what the paper has; not decided where no order of the values would make it so."""
    p, kind = test(groups)
    says, finds = f"P < {_SIGNIFICANT}", f"{_p_text(p)} ({kind})"
    # What a test would have if groups of these sizes did not overlap, one above the other in the best order.
    values, least = sorted(value for group in groups for value in group), 1.0
    for sizes in sorted(set(permutations(len(group) for group in groups))):
        ends = [sum(sizes[: i + 1]) for i in range(len(sizes))]
        least = min(least, test([values[end - size : end] for end, size in zip(ends, sizes, strict=True)])[0])
    if least >= _SIGNIFICANT:
        sizes_text = listed([str(len(group)) for group in groups])
        return Claim.undecided(what, says, finds, f"groups of {sizes_text} have {_p_text(least)} ({kind}) at the least")
    return Claim.statement(what, says, finds, p < _SIGNIFICANT)


def _chi_square(groups: Sequence[Sequence[float]]) -> tuple[float, str]:
    return kruskal_wallis(groups).p, "chi-square"


def _u_test(groups: Sequence[Sequence[float]]) -> tuple[float, str]:
    one, other = groups
    found = mann_whitney(one, other, math.inf)
    return (found.p, "exact") if found.is_exact else (mann_whitney(one, other).p, "normal")


def _p_text(p: float) -> str:
    words = p_words(p)
    return f"P {words}" if words.startswith("<") else f"P = {words}"


_SHARE = 0.95
_PERCENTILES = (10, 25, 50, 75, 90)


def figure_7(found: Experiment) -> Section:
    """Each ADM against each reference measure, groups with their ellipses."""
    plots, inside = [], []
    for name in MEASURES:
        for reference in REFERENCES:
            title, x, y = f"{name} and {reference}", found.scores[reference], found.scores[name]
            places = {group: found.systems.places(group) for group in GROUPS}
            outlines = {group: density_ellipse(x[of].tolist(), y[of].tolist(), _SHARE) for group, of in places.items()}
            lines = [Line(group, each.x, each.y) for group in _largest_first(found) if (each := outlines[group])]
            plots.append(Plot(title, Axis(reference), Axis(name), tuple(lines), _points(found, x, y)))
            held = (
                None if each is None else f"{each.inside} of {places[group].size}" for group, each in outlines.items()
            )
            inside.append((title, *held))
    group_of = {name: group for group, members in found.systems.groups.items() for name in members}
    return Section.of(
        "Figure 7",
        "ADMs are drawn against reference measures, with the groups' 95 % ellipses.",
        plots,
        table(
            "Systems inside the ellipses",
            (*head("panel"), *head(GROUPS, none="no ellipse")),
            inside,
            f"ellipses have the shape of a group's covariance and hold at least {100 * _SHARE:g} % of its systems",
        ),
        claims_tables("The best system", [_rightmost(found)]),
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
    """The systems of every group by two measures."""
    places = {group: found.systems.places(group) for group in _largest_first(found)}
    return tuple(Points(group, tuple(x[each].tolist()), tuple(y[each].tolist())) for group, each in places.items())


def _largest_first(found: Experiment) -> list[str]:
    """The groups that have members; the points of a large group would cover those of a small one."""
    members = {group: len(names) for group, names in found.systems.groups.items() if names}
    return sorted(members, key=lambda group: -members[group])


def _rightmost(found: Experiment) -> Claim:
    """The system that is best by all reference measures, and where ADM'' has it."""
    what, says = "the best system by all three reference measures", "not so good by ADM"
    firsts = [set(np.flatnonzero(scores == scores.max())) for scores in map(found.scores.__getitem__, REFERENCES)]
    if any(len(first) > 1 for first in firsts):
        return Claim.undecided(what, says, "several are equally good", "by some reference measure")
    if len(set.union(*firsts)) > 1:
        return Claim.undecided(
            what, says, "another one by each" if len(set.union(*firsts)) == 3 else "not the same by all"
        )
    [best] = firsts[0]
    rank = 1 + int(np.count_nonzero(found.scores["ADM''"] > found.scores["ADM''"][best]))
    finds = f"{found.systems.kept[best]}: rank {rank} of {len(found.systems.kept)} by ADM''"
    note = "seen if it is not the first by ADM'', which the last panel of its Figure 7 is taken to show"
    return Claim.remark(what, says, finds, rank > 1, note)


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
            medians = {group: points[2] for group, points in percentiles.items()}
            what, says = f"{name}: medians of the groups", " above ".join(medians)
            finds = ", ".join(f"{group} {median:.4f}" for group, median in medians.items())
            falls = all(one > other for one, other in pairwise(medians.values()))
            note = "to be seen in its Figure 8, not in its text; the groups were made from average precision"
            is_same = len(set(medians.values())) == 1
            claims.append(
                Claim.undecided(what, says, finds, "all the same")
                if is_same
                else Claim.statement(what, says, finds, falls, note)
            )
    return Section.of(
        "Figure 8",
        "ADMs of the groups are drawn as 10, 25, 50, 75 and 90 % points.",
        charts,
        table(
            "Percentiles",
            f"measure | group | systems # | {' | '.join(f'{point} % .' for point in _PERCENTILES)}",
            rows,
            "linear between neighbouring values",
        ),
        claims_tables("Medians", claims),
    )


def figure_9(found: Experiment) -> Section:
    """ADMs on the whole set against those on sets 1 and 3."""
    sets = {"set 1": found.sets.set_1, "set 3": found.sets.set_3}
    topics = found.sets.first_topics[0]
    names = {"set 1": f"set 1 (first {topics} queries)", "set 3": "set 3 (half of the documents)"}
    whole = found.sets.whole
    plots = [
        Plot(
            f"{name}: the whole and {which}",
            _axis(f"{name}, whole set", whole[place]),
            _axis(f"{name}, {names[which]}", values[place]),
            (_diagonal(whole[place], values[place]),),
            _points(found, whole[place], values[place]),
        )
        for place, name in enumerate(MEASURES)
        for which, values in sets.items()
    ]
    taus = {row.number: row.tau for row in found.sets.rows}
    every = [values[place] for place in range(len(MEASURES)) for values in (whole, *sets.values())]
    columns = " | ".join(f"{name}, {which} ." for name in MEASURES for which in ("whole set", *sets))
    return Section.of(
        "Figure 9",
        "ADMs on the whole set are drawn against those on sets 1 and 3.",
        plots,
        table(
            "Read off the figure, as in Table 4",
            "measure | tau with set 1 .3 | tau with set 3 .3",
            ((name, taus[1][place], taus[3][place]) for place, name in enumerate(MEASURES)),
            for_people=True,
        ),
        table(
            "Scores on the whole and on sets 1 and 3",
            f"system | {columns}",
            ((system, *(float(values[i]) for values in every)) for i, system in enumerate(found.systems.kept)),
            for_machines=True,
        ),
    )


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
