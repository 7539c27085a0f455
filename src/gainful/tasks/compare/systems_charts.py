"""The charts of several systems: the leaderboard, the critical-difference diagram, and p."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gainful.notation import printable, units
from gainful.pages.charts import Axis, CriticalDiagram, HeatMap, IntervalRow, Intervals, Rule
from gainful.tasks.compare.compare_words import p_words, places_text

if TYPE_CHECKING:
    from gainful.stats.families import SystemsResult

#: More systems make no readable chart: the best are shown.
_MOST_ROWS, _MOST_BARS, _MOST_CELLS, _MOST_TEXTS = 60, 30, 40, 12
#: Darker would say no more: the scale of -log10 p ends here.
_STRONGEST = 4.0


def leaderboard_chart(found: SystemsResult) -> Intervals:
    """Means with the reach of differences that are not significant, or differences to the baseline, or places."""
    family = found.family
    if family.baseline is not None:
        return _baseline_differences(found, family.baseline)
    order = family.order[:_MOST_ROWS]
    places = [family.rank_intervals[i] for i in order]
    texts = [places_text(place) for place in places]
    cut = _cut(found, _MOST_ROWS)
    if family.threshold is not None and math.isfinite(family.threshold):
        reach = family.threshold / 2
        rows = tuple(
            IntervalRow(family.systems[i], mean := float(family.means[i]), mean - reach, mean + reach, text)
            for i, text in zip(order, texts, strict=True)
        )
        what = "mean rank (1 is best)" if found.friedman is not None else f"mean {family.measure}"
        is_smaller = np.abs(family.difference[family.is_significant]) < family.threshold
        others = " So are some that do: maxT goes on in steps." if is_smaller.any() else ""
        caption = f"Lines that do not overlap: significantly different ({found.tested}).{others}{cut}"
        return Intervals(_title(found), Axis(what), rows, "rank range", caption=caption)
    rows = tuple(
        # Rank tests may put a system elsewhere than its mean does.
        IntervalRow(
            family.systems[i],
            float(min(max(rank, place.best), place.worst)),
            float(place.best),
            float(place.worst),
            text,
        )
        for rank, (i, place, text) in enumerate(zip(order, places, texts, strict=True), 1)
    )
    count = len(family.systems)
    ticks = tuple((float(i), str(i)) for i in range(1, count + 1)) if count <= _MOST_TEXTS else ()
    return Intervals(
        _title(found), Axis("rank", 1.0, ticks=ticks), rows, "rank range", caption="Lines: rank ranges." + cut
    )


def _baseline_differences(found: SystemsResult, baseline: str) -> Intervals:
    family = found.family
    rows = []
    for system in (family.systems[i] for i in family.order if family.systems[i] != baseline):
        pair = family.pair(system, baseline)
        low, high = (math.nan if end is None else end for end in (pair.low, pair.high))
        ends = (pair.difference, pair.difference) if math.isnan(low) else (low, high)
        rows.append(IntervalRow(system, pair.difference, *ends, f"p {p_words(pair.adjusted, found.least_p)}"))
    zero = printable(baseline, 40)
    level = f"{100 * (1 - family.alpha):g} %"
    caption = f"Lines: simultaneous {level} intervals." if family.half_width is not None else ""
    return Intervals(
        f"{family.measure}: difference to {zero}",
        Axis("difference"),
        tuple(rows[:_MOST_ROWS]),
        "adjusted",
        (Rule(zero, x=0.0),),
        caption + _cut(found, _MOST_ROWS),
    )


def critical_diagram(found: SystemsResult) -> CriticalDiagram:
    """Systems at their means (or mean ranks), and bars over neighbours that are not significantly different."""
    family = found.family
    order = family.order[:_MOST_BARS]
    is_ranks = found.friedman is not None
    return CriticalDiagram(
        _title(found),
        Axis("mean rank" if is_ranks else family.measure),
        tuple(family.systems[i] for i in order),
        tuple(float(family.means[i]) for i in order),
        found.bars(_MOST_BARS),
        math.inf if family.threshold is None else family.threshold,
        family.better == "higher",
        f"Bars: systems that are not significantly different ({found.deciding}), which does not make them equal."
        + _cut(found, _MOST_BARS),
    )


def p_map(found: SystemsResult) -> HeatMap:
    """The adjusted p of every pair, dark where it is small; outlined where the pair differs."""
    family = found.family
    order = family.order[:_MOST_CELLS]
    names = [family.systems[i] for i in order]
    floor = found.least_p
    size = len(order)
    values = [[math.nan] * size for _ in range(size)]
    texts = [[""] * size for _ in range(size)]
    outlined = set()
    for i, one in enumerate(names):
        for j, other in enumerate(names):
            if i == j or (family.baseline is not None and family.baseline not in (one, other)):
                continue
            p = family.pair(one, other).adjusted
            values[i][j] = min(_STRONGEST, -math.log10(p)) + 0.0
            texts[i][j] = p_words(p, floor).replace("< ", "<") if p < 0.001 else f"{p:.3f}"
            if p < family.alpha:
                outlined.add((i, j))
    has_texts = size <= _MOST_TEXTS
    below = (
        f"outlined: below {family.alpha:g}" if has_texts else f"{family.alpha:g} is at {-math.log10(family.alpha):.2f}"
    )
    return HeatMap(
        f"{family.measure}: adjusted p of every pair",
        tuple(names),
        tuple(names),
        tuple(map(tuple, values)),
        tuple(map(tuple, texts)) if has_texts else (),
        value_label="-log10 of the adjusted p",
        low=0.0,
        high=_STRONGEST,
        outlined=frozenset(outlined if has_texts else ()),
        caption=f"{found.deciding}; {below}." + _cut(found, _MOST_CELLS),
    )


def _title(found: SystemsResult) -> str:
    return f"{found.family.measure}, {units(found.family.n, found.family.unit)}"


def _cut(found: SystemsResult, most: int) -> str:
    count = len(found.family.systems)
    return f" The best {most} of {count}." if count > most else ""
