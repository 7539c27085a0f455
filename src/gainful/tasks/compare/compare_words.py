"""A difference of two systems in one plain sentence, and the numbers of comparisons as people read them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gainful.notation import count_of, listed, number_text, printable
from gainful.stats.catalogues import INTERVALS
from gainful.stats.paired_tests import bound_text, signed_verdict

if TYPE_CHECKING:
    from gainful.stats.family_results import RankInterval
    from gainful.stats.paired import PairResult, PracticalSize
    from gainful.stats.paired_tests import Interval

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
    """The verdict of a test that does not go by the mean, where that points the other way."""
    a, b = (printable(name, 40) for name in found.names)
    ahead, behind, won = (a, b, found.wins) if verdict == "better" else (b, a, found.losses)
    # Wilcoxon's may be for the system that wins fewer queries.
    on = f" on {won:,} of {count_of(found.n, 'query', 'queries')}" if found.test.test.of == "median" else ""
    word = "higher" if found.better == "higher" else "lower (better)"
    mean = f"{behind}'s mean {found.measure} is {word} by {abs(found.difference):.{places}f}"
    if not found.difference:
        mean = f"their mean {found.measure} is the same"
    return f"By {found.test.test.said} {ahead} beats {behind}{on}, although {mean}"


def _yet_ahead(found: PairResult) -> str:
    """Equivalent says that a difference is too small to matter, not that there is none."""
    verdict = signed_verdict(found.is_significant, found.direction, found.better)
    if verdict == "cannot tell":
        return ""
    by = f"by {found.test.test.said} " if found.test.test.of != "mean" else ""
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
    return limits_text(seen.low, seen.high, places)


def limits_text(low: float, high: float, places: int) -> str:
    """Two limits, or that there are none."""
    if not math.isfinite(low):
        return "without limits"
    # + 0.0 makes -0.0 a 0.0.
    low, high = (round(limit, places) + 0.0 for limit in (low, high))
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


def places_text(interval: RankInterval) -> str:
    """The places that a system may have."""
    best, worst = interval
    return f"{best}-{worst}" if best < worst else str(best)


def _brackets(found: PairResult, places: int, sign: int) -> str:
    interval = found.margin.interval if found.margin and found.margin.verdict == "equivalent" else found.interval
    of = "" if (what := INTERVALS[interval.method].of) == "mean" else f" of the {what}"
    parts = [f"{level_text(interval)} interval{of} {interval_text(interval, places, sign)}", found.test.p_text]
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
