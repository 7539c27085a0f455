"""The sentences of comparisons, and formatting of their numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import count
from typing import TYPE_CHECKING

from gainful.notation import count_of, listed, number_text, percent_text, plural_of, printable, units, worth_text
from gainful.pages.charts import shortened
from gainful.pages.page import Column, head
from gainful.stats.catalogues import bound_text, p_figures
from gainful.stats.paired import FEW_QUERIES, signed_verdict

if TYPE_CHECKING:
    from gainful.stats.families import RankInterval
    from gainful.stats.findings import Interval
    from gainful.stats.paired import PairResult, PracticalSize
    from gainful.stats.unpaired import UnpairedResult

_PLACES, _MOST_PLACES = 3, 8
_MOST_LACKING = 3
_NOTHING = 1e-9
_BY_INTERVAL = ("equivalent", "non-inferior", "non-superior")
_FOR_A = ("better", "superior")
_LONGEST, _READ = 40, 200  # characters of a name in a sentence, and those that are looked at
_NEEDS_MARGIN = "For a verdict, set a margin: the smallest difference that matters."


def name_text(name: str, among: Iterable[str]) -> str:
    """Format a name for a sentence: long names lose their middle but stay distinct among the names of all systems.

    >>> name_text("a-run-of-the-university-of-somewhere-2", ["x"]), name_text("x" * 45 + "1", ["x" * 45 + "2"])[-5:]
    ('a-run-of-the-university-of-somewhere-2', 'xxxx1')
    """
    return shortened(printable(name, _READ), _LONGEST, among=[printable(each, _READ) for each in (name, *among)])


def decision_sentence(found: PairResult | UnpairedResult) -> str:
    """Summarise a test of two means in one sentence without statistics."""
    a, b = (name_text(name, found.names) for name in found.names)
    gain = found.difference if found.better == "higher" else -found.difference
    by = gap_text(gain, found.practical.relative if found.practical else None, found.measure)
    ahead = f"{a} is {by} {'ahead of' if gain > 0 else 'behind'} {b}"
    if not gain:
        return f"No clear winner: {a} and {b} have the same mean {found.measure}."
    if not found.is_significant:
        return f"No clear winner: {ahead}, which may be due to chance."
    if found.verdict == "margin required":
        return f"{ahead}. The difference is real, but may be too small to matter."
    return f"{a} {'beats' if gain > 0 else 'is behind'} {b} by {by}, clearly."


def gap_text(difference: float, relative: float | None, measure: str) -> str:
    """Format the difference between two means, as a percentage if ``relative`` is known."""
    if not relative:
        return f"{abs(difference):.{places_for(difference)}f} {measure}"
    share = abs(100 * relative)
    return f"{share:,.0f}%" if share >= 1 else f"{share:.1g}%"


def difference_sentence(found: PairResult | UnpairedResult) -> str:
    """Summarise a comparison in one sentence; a non-significant result is never reported as "no difference"."""
    a, b = (name_text(name, found.names) for name in found.names)
    if found.is_alike:
        return f"{a} and {b} have the same {found.measure} on each of {_over(found)}: there is nothing to test."
    verdict, test = found.verdict, found.test.test
    within = "" if found.margin is None else f"within {number_text(found.margin.margin)} {found.measure}"
    if test.is_of_ranks and verdict not in _BY_INTERVAL:
        return _rank_sentence(found)
    # A trimmed mean may differ in sign from the mean.
    difference = found.direction if test.of == "trimmed mean" and verdict not in _BY_INTERVAL else found.difference
    measure = f"trimmed mean {found.measure}" if difference != found.difference else found.measure
    places = places_for(difference)
    gain = difference if found.better == "higher" else -difference
    ahead = f"{a} is {abs(gain):.{places}f} {'ahead of' if gain > 0 else 'behind'} {b}" if gain else "equal means"
    inside, after = _brackets(found, places), _sizes(found, places)
    if verdict in _BY_INTERVAL:
        claim = f"{a} and {b} are equivalent" if verdict == "equivalent" else f"{a} is {verdict} to {b}"
        # Equivalent systems may differ significantly, by less than the margin.
        signed, yet = signed_verdict(found.is_significant, found.direction, found.better), ""
        if signed != "inconclusive":
            by = "" if test.of == "mean" else f"by {test.noun} "
            yet = f"; yet {by}{a if signed == 'better' else b} is ahead: {found.test.p_text}"
        return f"{claim} {within}: {ahead} {inside}{yet}.{after}"
    if verdict in ("better", "worse", "superior", "inferior"):
        is_less = found.margin is not None and verdict in ("better", "worse")
        verb = ("is ahead of" if is_less else "beats") if verdict in _FOR_A else "is behind"
        than = "perhaps by less" if is_less else "by more"
        by = f", {than} than {number_text(found.margin.margin)}" if found.margin else ""
        claim = f"{a} {verb} {b} by {abs(gain):.{places}f} {measure}{by} {inside}.{after}"
        return f"{claim} {_against_mean(found)}" if found.is_against_mean else claim
    if verdict == "margin required" and gain:
        return f"{ahead} in {measure} {inside}.{after} {_NEEDS_MARGIN}"
    ahead = ahead if gain else f"their mean {measure} is the same"
    return f"{a} and {b} are not significantly different in {measure}: {ahead} {inside}.{after}"


def _rank_sentence(found: PairResult | UnpairedResult) -> str:
    a, b = (name_text(name, found.names) for name in found.names)
    test = found.test.test
    signed = signed_verdict(found.is_significant, found.direction, found.better)
    from gainful.stats import paired  # imported late, because gates do not need it

    if isinstance(found, paired.PairResult):
        counts = f"{a} is better on {found.wins:,}, worse on {found.losses:,} and equal on {found.ties:,} of "
    else:
        share = 100 * found.effect.superiority
        counts = f"a session of {a} is better than one of {b} in {share:.0f}% of pairs of "
    counts += _over(found)
    if test.of == "ranks":
        favour = found.direction if found.better == "higher" else -found.direction
        counts += f", {test.statistic} {favour:+.2f}"
    ahead = "beats" if found.verdict != "margin required" else "is ahead of"
    claim = f"{a} {ahead if signed == 'better' else 'is behind'} {b} in {found.measure}"
    if signed == "inconclusive":
        claim = f"{a} and {b} are not significantly different in {found.measure}"
    after = f" {_against_mean(found)}" if found.is_against_mean else ""
    needs = f" {_NEEDS_MARGIN}" if found.verdict == "margin required" else ""
    return f"By {test.noun}, {claim}: {counts} ({found.test.p_text}).{after}{needs}"


def _against_mean(found: PairResult | UnpairedResult) -> str:
    if not found.difference:
        return f"However, their mean {found.measure} is the same."
    is_a = (found.difference > 0) == (found.better == "higher")
    better = name_text(found.names[0 if is_a else 1], found.names)
    return f"However, the mean of {better} is better by {abs(found.difference):.{places_for(found.difference)}f}."


def _over(found: PairResult | UnpairedResult) -> str:
    from gainful.stats import paired

    if isinstance(found, paired.PairResult):
        runs = f", {found.runs[0]} and {found.runs[1]} runs" if max(found.runs) > 1 else ""
        lacking = zip(found.names, found.unanswered, strict=True)
        return units_text(found.n, found.left_out, found.unit, lacking, found.effective) + runs
    within = f" of {count_of(found.topics, 'topic')}" if found.topics else ""
    return f"{found.sizes[0]:,} and {found.sizes[1]:,} sessions{within}"


def units_text(
    count: int, left_out: int, unit: str, unanswered: Iterable[tuple[str, int]] = (), effective: float | None = None
) -> str:
    """Describe the number of queries (or sessions): left out, unanswered, and effective if they have weights.

    >>> units_text(48, 2, "session"), units_text(50, 0, "query", [("late", 20)], 6.8)
    ('48 of 50 sessions, the others lack a score', \
'50 queries, 20 of which late did not answer, effective sample size 6.8')
    """
    others = "the other lacks a score" if left_out == 1 else "the others lack a score"
    text = f"{count:,} of {units(count + left_out, unit)}, {others}" if left_out else units(count, unit)
    verb = "did not answer" if unit == "query" else "does not have"
    lacking = [f"{number:,} of which {printable(name, 40)} {verb}" for name, number in unanswered if number]
    if len(lacking) > _MOST_LACKING:
        lacking = [f"some of which {len(lacking)} systems {verb.replace('does', 'do')}"]
    return text + (f", {listed(lacking)}" if lacking else "") + worth_text(count, effective)


def places_for(difference: float) -> int:
    """Return the decimal places of a difference: three, or enough for two significant figures.

    >>> places_for(0.0412), places_for(0.00087)
    (3, 5)
    """
    size = abs(difference)
    if not size or size >= 0.01:
        return _PLACES
    return min(_MOST_PLACES, 1 - math.floor(math.log10(size)))


def interval_text(interval: Interval, places: int) -> str:
    """Format an interval."""
    return limits_text(interval.low, interval.high, places) if interval.is_bounded else "unbounded"


def interval_column(first: Interval, places: int) -> Column:
    """Return a column of the intervals of results, titled like the interval ``first``."""

    def text(result: PairResult | UnpairedResult) -> str:
        is_guide = result.interval.is_stopgap and result.interval.is_bounded
        return interval_text(result.interval, places) + (" (approximate)" if is_guide else "")

    of_what = "" if first.of == "mean" else f" of the {first.of}"
    return Column(f"{level_text(first)} CI{of_what}", get=text)


def limits_or_none(interval: Interval | None, places: int) -> str:
    """Format an interval; ``-`` for None."""
    return "-" if interval is None else interval_text(interval, places)


def relative_text(size: PracticalSize | None) -> str:
    """Format a relative difference with its interval and label."""
    if size is None:
        return "-"
    limits = f" ({limits_text(100 * size.low, 100 * size.high, 1)})" if math.isfinite(size.low) else ""
    return f"{100 * size.relative:+.1f}%{limits}" + (f", {size.label}" if size.label else "")


def limits_text(low: float, high: float, places: int) -> str:
    """Format two limits. A nonzero limit is never printed as 0, unless it is negligible compared with the other limit.

    >>> limits_text(-0.0002, 0.1, 3), limits_text(-1e-12, 0.1, 3), limits_text(-1e-12, 2e-12, 3)
    ('-0.0002 to 0.1000', '0.000 to 0.100', '-1e-12 to 2e-12')
    """
    if not math.isfinite(low):
        return "unbounded"
    if math.isfinite(high):
        least = _NOTHING * max(abs(low), abs(high))
        low, high = (0.0 if abs(limit) < least else limit for limit in (low, high))
    for limit in (low, high):
        if limit and abs(limit) < 0.5 * 10.0**-places:
            places = min(_MOST_PLACES, -math.floor(math.log10(abs(limit))))
    # + 0.0 turns -0.0 into 0.0.
    shown = ((limit, round(limit, places) + 0.0) for limit in (low, high))
    return " to ".join(f"{short:.{places}f}" if short or not limit else f"{limit:.1g}" for limit, short in shown)


def level_text(interval: Interval) -> str:
    """Return the level of an interval as a percentage."""
    return percent_text(interval.level)


def direction_text(better: str) -> str:
    """Return a remark if lower is better."""
    return " (lower is better)" if better == "lower" else ""


def p_words(p: float, floor: float | None = None) -> str:
    """Format p with four places or two figures; the smallest possible p, ``floor``, is printed as a bound.

    >>> p_words(0.02109), p_words(0.00002), p_words(1 / 10_001, 1 / 10_000)
    ('0.0211', '0.00002', '< 0.0001')
    """
    if floor is not None and p <= floor:
        return f"< {bound_text(floor)}"
    return p_figures(p)


def places_text(interval: RankInterval) -> str:
    """Format a range of ranks."""
    best, worst = interval
    return f"{best}-{worst}" if best < worst else str(best)


def detectable_text(found: PairResult | UnpairedResult, some: str) -> str:
    """Format the minimum detectable difference with ``some``; if there is none, state how many units it takes."""
    if found.detectable is not None and math.isfinite(found.detectable):
        return some.format(found.detectable)
    if not (found.test.is_enumerated and found.test.least_p >= found.alpha) or getattr(found, "topics", False):
        return "no difference is detectable"
    is_unpaired = found.test.test.draws == "shuffle"
    least = next(n for n in count(1) if 2 / (math.comb(2 * n, n) if is_unpaired else 2**n) < found.alpha)
    if is_unpaired:
        return f"no difference is detectable: more sessions are needed, such as {least} per system"
    all_units = plural_of(found.unit)
    return f"no difference is detectable: at least {least} {all_units} on which the systems differ are needed"


def _brackets(found: PairResult | UnpairedResult, places: int) -> str:
    """Return the interval, p and the number of queries, in parentheses."""
    interval = found.margin.interval if found.margin and found.margin.verdict in _BY_INTERVAL else found.interval
    of = "" if interval.of == "mean" else f" of the {interval.of}"
    guide = " by Student's t, approximate" if interval.is_stopgap else ""
    shown = f"{level_text(interval)} CI{of}"
    parts = [f"{shown} {interval_text(interval, places)}{guide}" if interval.is_bounded else f"no {shown}"]
    if not found.test.test.is_of_ranks:  # a rank test's p is not about the mean
        parts.append(found.test.p_text)
    return f"({', '.join([*parts, _over(found)])})"


def _sizes(found: PairResult | UnpairedResult, places: int) -> str:
    """Return sentences on the relative difference and the minimum detectable difference."""
    size, text = found.practical, ""
    if size is not None and math.isfinite(size.low):
        relative, label = 100 * size.relative, f" ({size.label})" if size.label else ""
        text = f" Relative difference: {relative:+.{0 if abs(relative) >= 1 else 1}f}%{label}."
    # With few queries, the conclusion begins with the minimum detectable difference.
    if found.detectable is not None and getattr(found, "effective", math.inf) >= FEW_QUERIES:
        detectable = detectable_text(found, f"minimum detectable difference: {{:.{places}f}}")
        text += f" {detectable[0].upper()}{detectable[1:]}."
    return text


def anova_columns(places: int) -> tuple[Column, ...]:
    """Return the columns of an analysis of variance: sources and their effects."""
    names = f"source ← 0 | sum of squares .{places} ← 1.sum_of_squares | df # ← 1.df"
    return (
        *head(f"{names} | mean square .{places + 2} ← 1.mean_square | F .3 ← 1.f"),
        Column("p", get=lambda row: "" if row[1].p is None else p_words(row[1].p)),
        *head("p value . ← 1.p", for_machines=True),
    )
