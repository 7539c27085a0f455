"""A difference of two systems in one plain sentence, and its numbers as people read them.

The charts of a comparison: differences by query, the leaderboard, the critical-difference diagram, and p.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gainful.notation import count_of, number_text, printable
from gainful.pages.charts import Axis, CriticalDiagram, HeatMap, IntervalRow, Intervals, Plot, Points, Rule
from gainful.stats.effects import bound_text, signed_verdict
from gainful.stats.settled import settled_differences

if TYPE_CHECKING:
    from gainful.evaluation.score_matrix import ScoreMatrix
    from gainful.stats.effects import PairResult, PracticalSize
    from gainful.stats.intervals import Interval
    from gainful.stats.procedures import SystemsResult

#: What decides which systems are told apart, in words.
DECIDING = {
    "maxt": "step-down maxT",
    "holm": "Holm",
    "bonferroni": "Bonferroni",
    "bh": "Benjamini-Hochberg",
    "by": "Benjamini-Yekutieli",
    "none": "no correction",
    "tukey": "Tukey HSD",
    "rthsd": "randomised Tukey HSD",
    "nemenyi": "Nemenyi",
}

#: Tests that may be for the system whose mean is the worse one.
_TEST_NAMES = {"wilcoxon": "Wilcoxon's test", "sign": "the sign test"}

_PLACES, _MOST_PLACES = 3, 8


def difference_sentence(found: PairResult) -> str:
    """What was found of two systems, in one sentence; that nothing was found is never called no difference."""
    a, b = (printable(name, 40) for name in found.names)
    queries = count_of(found.n, "query", "queries")
    if not found.nonzero:
        return f"{a} and {b} have the same {found.measure} on every one of {queries}: there is nothing to test."
    places = places_for(found.difference)
    gain = found.difference if found.better == "higher" else -found.difference
    ahead = f"{a} is {abs(gain):.{places}f} {'ahead of' if gain > 0 else 'behind'} {b}"
    verdict = found.verdict
    inside = _brackets(found, places, 1 if found.difference >= 0 else -1)
    size = _size(found.practical)
    if verdict == "equivalent" and found.margin is not None:
        within = f"within {number_text(found.margin.margin)} {found.measure}"
        means = ahead if gain else "equal means"
        return f"{a} and {b} are equivalent {within}: {means} {inside}{size}{_yet_ahead(found)}."
    if verdict in ("better", "worse"):
        verb = "beats" if verdict == "better" else "is behind"
        told = f"{a} {verb} {b} by {abs(gain):.{places}f} {found.measure}"
        return f"{_against_mean(found, verdict, places) if found.is_against_mean else told} {inside}{size}."
    if not gain:
        return (
            f"It cannot be told which of {a} and {b} is better: their mean {found.measure} is the same {inside}{size}."
        )
    if verdict is None:
        return f"{ahead} in {found.measure} {inside}{size}. Only a margin that matters to you makes a verdict."
    return f"It cannot be told whether {a} and {b} differ in {found.measure}: {ahead} {inside}{size}."


def _against_mean(found: PairResult, verdict: str, places: int) -> str:
    """A rank test's verdict where the mean points the other way."""
    a, b = (printable(name, 40) for name in found.names)
    ahead, behind, won = (a, b, found.wins) if verdict == "better" else (b, a, found.losses)
    # Wilcoxon's may be for the system that wins fewer queries.
    on = f" on {won:,} of {count_of(found.n, 'query', 'queries')}" if found.test.name == "sign" else ""
    word = "higher" if found.better == "higher" else "lower (better)"
    mean = f"{behind}'s mean {found.measure} is {word} by {abs(found.difference):.{places}f}"
    if not found.difference:
        mean = f"their mean {found.measure} is the same"
    return f"By {_TEST_NAMES[found.test.name]} {ahead} beats {behind}{on}, although {mean}"


def _yet_ahead(found: PairResult) -> str:
    """Equivalent says that a difference is too small to matter, not that there is none."""
    verdict = signed_verdict(found.is_significant, found.direction, found.better)
    if verdict == "cannot tell":
        return ""
    by = f"by {_TEST_NAMES[found.test.name]} " if found.test.name in _TEST_NAMES else ""
    ahead = printable(found.names[0 if verdict == "better" else 1], 40)
    return f"; yet {by}{ahead} is ahead: {found.test.p_text}"


def places_for(difference: float) -> int:
    """Three decimal places, or as many as two figures of a small difference take.

    >>> places_for(0.0412), places_for(0.00087)
    (3, 5)
    """
    size = abs(difference)
    if not size or size >= 0.01:
        return _PLACES
    return min(_MOST_PLACES, 1 - math.floor(math.log10(size)))


def interval_text(interval: Interval, places: int, sign: int = 1) -> str:
    """The limits of an interval, seen from either system."""
    seen = interval if sign > 0 else interval.negated()
    if not interval.is_bounded:
        return "without limits"
    # + 0.0 makes -0.0 a 0.0.
    low, high = (round(limit, places) + 0.0 for limit in (seen.low, seen.high))
    return f"{low:.{places}f} to {high:.{places}f}"


def level_text(interval: Interval) -> str:
    """An interval's level in per cent."""
    return f"{number_text(round(100 * interval.level, 10))} %"


def p_words(p: float, floor: float | None = None) -> str:
    """p for a table: four places or two figures; the least that draws can give is a bound.

    >>> p_words(0.02109), p_words(0.00002), p_words(1 / 10_001, 1 / 10_000)
    ('0.0211', '2e-05', '< 0.0001')
    """
    if floor is not None and p <= floor:
        return f"< {bound_text(floor)}"
    if p < 1e-15:
        return "< 1e-15"
    return f"{p:.4f}" if p >= 0.001 else f"{p:.2g}"


def listed(words: Sequence[str]) -> str:
    """Words with commas and an ``and``.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _brackets(found: PairResult, places: int, sign: int) -> str:
    interval = found.margin.interval if found.margin and found.margin.verdict == "equivalent" else found.interval
    parts = [f"{level_text(interval)} interval {interval_text(interval, places, sign)}", found.test.p_text]
    parts.append(count_of(found.n, "query", "queries"))
    if found.detectable is not None:
        parts.append(f"detectable from {found.detectable:.{places}f}")
    return f"({', '.join(parts)})"


def _size(practical: PracticalSize | None) -> str:
    """How large that is in words, and what else the interval allows."""
    if practical is None:
        return ""
    per_cent = 100 * practical.relative
    text = f"{per_cent:+.0f}" if abs(per_cent) >= 1 else f"{per_cent:+.1f}"
    also = [*practical.also, *(["the opposite"] if practical.either_way else [])]
    allows = f", the interval also allows {listed(also)}" if also else ""
    return f"; {practical.label} ({text} %){allows}"


#: More systems make no readable chart: the best are shown.
_MOST_ROWS, _MOST_BARS, _MOST_CELLS, _MOST_TEXTS = 60, 30, 40, 12
_NAMED = 1
#: Darker would say no more: the scale of -log10 p ends here.
_STRONGEST = 4.0


def difference_plot(matrix: ScoreMatrix, found: PairResult) -> Plot:
    """The difference of every query, the largest first; the queries that decide it are named."""
    a, b = found.names
    differences = settled_differences(matrix.column(a), matrix.column(b))
    order = np.argsort(-differences, kind="stable").tolist()
    values = [float(differences[i]) for i in order]
    named = {matrix.queries[i] for i in (*order[:_NAMED], *order[-_NAMED:]) if differences[i]}
    labels = [matrix.queries[i] if matrix.queries[i] in named else "" for i in order]
    sides: dict[str, list[int]] = {}
    for place, value in enumerate(values):
        favours = value if found.better == "higher" else -value
        name = "equal" if not value else f"{printable(a if favours > 0 else b, 40)} is better"
        sides.setdefault(name, []).append(place)
    points = tuple(
        Points(
            name,
            tuple(float(place + 1) for place in places),
            tuple(values[place] for place in places),
            tuple(labels[place] for place in places),
            "guide" if name == "equal" else "system",
        )
        for name, places in sides.items()
    )
    rules = [Rule("", y=0.0)]
    if found.difference:
        rules.append(Rule("mean", y=found.difference))
    return Plot(
        f"{found.measure}: {printable(a, 40)} - {printable(b, 40)} for each query",
        Axis("queries, the largest difference first", 0.0, float(found.n + 1)),
        Axis("difference"),
        points=points,
        rules=tuple(rules),
    )


def leaderboard_chart(found: SystemsResult) -> Intervals:
    """Means with the reach within which systems are not told apart, or differences to the baseline, or places."""
    if found.family.baseline is not None:
        return _against_baseline(found)
    family = found.family
    order = family.order[:_MOST_ROWS]
    places = [family.rank_intervals[i] for i in order]
    texts = [f"{place.best}-{place.worst}" if place.best < place.worst else f"{place.best}" for place in places]
    cut = _cut(found, _MOST_ROWS)
    if family.threshold is not None and math.isfinite(family.threshold):
        reach = family.threshold / 2
        rows = tuple(
            IntervalRow(family.systems[i], mean := float(family.means[i]), mean - reach, mean + reach, text)
            for i, text in zip(order, texts, strict=True)
        )
        what = "mean rank (1 is best)" if found.friedman is not None else f"mean {family.measure}"
        caption = "Lines that do not overlap: told apart." + cut
        return Intervals(_title(found), Axis(what), rows, "places", caption=caption)
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
        _title(found), Axis("place", 1.0, ticks=ticks), rows, "places", caption="The places it may have." + cut
    )


def _against_baseline(found: SystemsResult) -> Intervals:
    family = found.family
    rows = []
    for i in family.order:
        if family.systems[i] != family.baseline:
            pair = family.pair(family.systems[i], family.baseline or "")
            low, high = (math.nan if end is None else end for end in (pair.low, pair.high))
            ends = (pair.difference, pair.difference) if math.isnan(low) else (low, high)
            rows.append(IntervalRow(pair.a, pair.difference, *ends, f"p {p_words(pair.adjusted, p_floor(found))}"))
    name = printable(family.baseline or "", 40)
    level = f"{100 * (1 - family.alpha):g} %"
    caption = f"Lines: simultaneous {level} intervals." if family.half_width is not None else ""
    return Intervals(
        f"{family.measure}: difference to {name}",
        Axis("difference"),
        tuple(rows[:_MOST_ROWS]),
        "adjusted",
        (Rule(name, x=0.0),),
        caption + _cut(found, _MOST_ROWS),
    )


def critical_diagram(found: SystemsResult) -> CriticalDiagram:
    """Systems at their means (or mean ranks), and bars over neighbours that are not told apart."""
    family = found.family
    order = family.order[:_MOST_BARS]
    is_ranks = found.friedman is not None
    return CriticalDiagram(
        _title(found),
        Axis("mean rank" if is_ranks else family.measure),
        tuple(family.systems[i] for i in order),
        tuple(float(family.means[i]) for i in order),
        bars_over(found),
        math.inf if family.threshold is None else family.threshold,
        family.better == "higher",
        f"Bars: systems that {DECIDING[family.correction]} does not tell apart, which does not make them equal."
        + _cut(found, _MOST_BARS),
    )


def bars_over(found: SystemsResult) -> tuple[tuple[int, int], ...]:
    """The longest stretches of the leaderboard in which no two are told apart, from first to last place."""
    apart = found.apart[:_MOST_BARS, :_MOST_BARS]
    bars: list[tuple[int, int]] = []
    for first in range(len(apart)):
        last = first
        while last + 1 < len(apart) and not apart[first : last + 1, last + 1].any():
            last += 1
        if last > first and (not bars or last > bars[-1][1]):
            bars.append((first, last))
    return tuple(bars)


def p_map(found: SystemsResult) -> HeatMap:
    """The adjusted p of every pair, dark where it is small; outlined where the pair differs."""
    family = found.family
    order = family.order[:_MOST_CELLS]
    names = [family.systems[i] for i in order]
    floor = p_floor(found)
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
        caption=f"{DECIDING[family.correction]}; {below}." + _cut(found, _MOST_CELLS),
    )


def p_floor(found: SystemsResult) -> float | None:
    """The least p that draws can give, as a bound; None where p are exact."""
    if found.randomised is not None:
        return 1 / found.randomised.draws
    family = found.family
    is_drawn = (
        family.draws is not None and not family.is_enumerated and family.correction in ("maxt", "none", "bh", "by")
    )
    return 1 / family.draws if is_drawn and family.draws and found.procedure in ("maxt", "anova") else None


def _title(found: SystemsResult) -> str:
    return f"{found.family.measure}, {count_of(found.family.n, 'query', 'queries')}"


def _cut(found: SystemsResult, most: int) -> str:
    count = len(found.family.systems)
    return f" The best {most} of {count}." if count > most else ""
