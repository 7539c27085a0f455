"""A difference of two systems in one plain sentence, and the numbers of comparisons as people read them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import count
from typing import TYPE_CHECKING

from gainful.notation import count_of, listed, number_text, percent_text, plural_of, printable, units, worth_text
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
_NEEDS_MARGIN = "Only a margin that matters to you makes a verdict."


def decision_sentence(found: PairResult | UnpairedResult) -> str:
    """Which of two systems a test of means finds better, and by how much, for people who decide."""
    a, b = (printable(name, 40) for name in found.names)
    gain = found.difference if found.better == "higher" else -found.difference
    by = gap_text(gain, found.practical.relative if found.practical else None, found.measure)
    ahead = f"{a} is {by} {'ahead of' if gain > 0 else 'behind'} {b}"
    if not gain:
        return f"No clear winner: {a} and {b} have the same mean {found.measure}."
    if not found.is_significant:
        return f"No clear winner: {ahead}, which may be chance."
    if found.verdict == "margin required":
        return f"{ahead}, surely; whether that matters is yours to say."
    return f"{a} {'beats' if gain > 0 else 'is behind'} {b} by {by}, clearly."


def gap_text(difference: float, relative: float | None, measure: str) -> str:
    """How far two means are apart: relative to one of them, where that makes a ratio."""
    if not relative:
        return f"{abs(difference):.{places_for(difference)}f} {measure}"
    share = abs(100 * relative)
    return f"{share:,.0f}%" if share >= 1 else f"{share:.1g}%"


def difference_sentence(found: PairResult | UnpairedResult) -> str:
    """What was found of two systems, in one sentence; that nothing was found is never called no difference."""
    a, b = (printable(name, 40) for name in found.names)
    if found.is_alike:
        queries = _over(found)
        return f"{a} and {b} have the same {found.measure} on every one of {queries}: there is nothing to test."
    verdict, test = found.verdict, found.test.test
    within = "" if found.margin is None else f"within {number_text(found.margin.margin)} {found.measure}"
    if test.is_of_ranks and verdict not in _BY_INTERVAL:
        return _rank_sentence(found)
    # A trimmed mean is another number than the mean, and may have another sign.
    difference = found.direction if test.of == "trimmed mean" and verdict not in _BY_INTERVAL else found.difference
    measure = f"trimmed mean {found.measure}" if difference != found.difference else found.measure
    places = places_for(difference)
    gain = difference if found.better == "higher" else -difference
    ahead = f"{a} is {abs(gain):.{places}f} {'ahead of' if gain > 0 else 'behind'} {b}" if gain else "equal means"
    inside, after = _brackets(found, places), _sizes(found, places)
    if verdict in _BY_INTERVAL:
        told = f"{a} and {b} are equivalent" if verdict == "equivalent" else f"{a} is {verdict} to {b}"
        # Equivalent says that a difference is too small to matter, not that there is none.
        signed, yet = signed_verdict(found.is_significant, found.direction, found.better), ""
        if signed != "inconclusive":
            by = "" if test.of == "mean" else f"by {test.noun} "
            yet = f"; yet {by}{a if signed == 'better' else b} is ahead: {found.test.p_text}"
        return f"{told} {within}: {ahead} {inside}{yet}.{after}"
    if verdict in ("better", "worse", "superior", "inferior"):
        is_less = found.margin is not None and verdict in ("better", "worse")
        verb = ("is ahead of" if is_less else "beats") if verdict in _FOR_A else "is behind"
        by = (
            f", {'perhaps by less' if is_less else 'by more'} than {number_text(found.margin.margin)}"
            if found.margin
            else ""
        )
        told = f"{a} {verb} {b} by {abs(gain):.{places}f} {measure}{by} {inside}.{after}"
        return f"{told} {_against_mean(found)}" if found.is_against_mean else told
    if verdict == "margin required" and gain:
        return f"{ahead} in {measure} {inside}.{after} {_NEEDS_MARGIN}"
    ahead = ahead if gain else f"their mean {measure} is the same"
    return f"{a} and {b} are not significantly different in {measure}: {ahead} {inside}.{after}"


def _rank_sentence(found: PairResult | UnpairedResult) -> str:
    a, b = (printable(name, 40) for name in found.names)
    test = found.test.test
    signed = signed_verdict(found.is_significant, found.direction, found.better)
    from gainful.stats import paired  # loaded late: a gate needs words, and no comparison

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
    told = f"{a} {ahead if signed == 'better' else 'is behind'} {b} in {found.measure}"
    if signed == "inconclusive":
        told = f"{a} and {b} are not significantly different in {found.measure}"
    after = f" {_against_mean(found)}" if found.is_against_mean else ""
    needs = f" {_NEEDS_MARGIN}" if found.verdict == "margin required" else ""
    return f"By {test.noun} {told}: {counts} ({found.test.p_text}).{after}{needs}"


def _against_mean(found: PairResult | UnpairedResult) -> str:
    if not found.difference:
        return f"Yet their mean {found.measure} is the same."
    is_a = (found.difference > 0) == (found.better == "higher")
    better = printable(found.names[0 if is_a else 1], 40)
    return f"Yet the mean of {better} is better by {abs(found.difference):.{places_for(found.difference)}f}."


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
    """How many queries (or sessions) there were, and of how many, where some lack a score, how many of them systems did
    not answer, and how many they are worth.

    >>> units_text(48, 2, "session"), units_text(50, 0, "query", [("late", 20)], 6.8)
    ('48 of 50 sessions, the others lack a score', \
'50 queries, 20 of which late did not answer, worth 6.8 by their weights')
    """
    others = "the other lacks a score" if left_out == 1 else "the others lack a score"
    said = f"{count:,} of {units(count + left_out, unit)}, {others}" if left_out else units(count, unit)
    verb = "did not answer" if unit == "query" else "does not have"
    lacking = [f"{number:,} of which {printable(name, 40)} {verb}" for name, number in unanswered if number]
    if len(lacking) > _MOST_LACKING:
        lacking = [f"some of which {len(lacking)} systems {verb.replace('does', 'do')}"]
    return said + (f", {listed(lacking)}" if lacking else "") + worth_text(count, effective)


def places_for(difference: float) -> int:
    """Three decimal places, or as many as two figures of a small difference take.

    >>> places_for(0.0412), places_for(0.00087)
    (3, 5)
    """
    size = abs(difference)
    if not size or size >= 0.01:
        return _PLACES
    return min(_MOST_PLACES, 1 - math.floor(math.log10(size)))


def interval_text(interval: Interval, places: int) -> str:
    """The limits of an interval."""
    return limits_text(interval.low, interval.high, places) if interval.is_bounded else "without limits"


def interval_column(first: Interval, places: int) -> Column:
    """The intervals of results; ``first`` is that of one of them."""
    of_what = "" if first.of == "mean" else f" of the {first.of}"
    guide = {True: " (a guide)", False: ""}
    return Column(
        f"{level_text(first)} CI{of_what}",
        get=lambda each: (
            interval_text(each.interval, places) + guide[each.interval.is_stopgap and each.interval.is_bounded]
        ),
    )


def limits_or_none(interval: Interval | None, places: int) -> str:
    """The limits of an interval, if there is one."""
    return "-" if interval is None else interval_text(interval, places)


def relative_text(size: PracticalSize | None) -> str:
    """A difference relative to the baseline's mean and its interval, with the word for them if there is one."""
    if size is None:
        return "-"
    limits = f" ({limits_text(100 * size.low, 100 * size.high, 1)})" if math.isfinite(size.low) else ""
    return f"{100 * size.relative:+.1f}%{limits}" + (f", {size.label}" if size.label else "")


def limits_text(low: float, high: float, places: int) -> str:
    """Two limits, or that there are none; one that is not 0 does not print as 0, whose side it is on decides. What is
    next to nothing beside the other limit is 0, but for the step by which intervals are made to hold it.

    >>> limits_text(-0.0002, 0.1, 3), limits_text(-1e-12, 0.1, 3), limits_text(-1e-12, 2e-12, 3)
    ('-0.0002 to 0.1000', '0.000 to 0.100', '-1e-12 to 2e-12')
    """
    if not math.isfinite(low):
        return "without limits"
    if math.isfinite(high):
        least = _NOTHING * max(abs(low), abs(high))
        low, high = (0.0 if abs(limit) < least else limit for limit in (low, high))
    for limit in (low, high):
        if limit and abs(limit) < 0.5 * 10.0**-places:
            places = min(_MOST_PLACES, -math.floor(math.log10(abs(limit))))
    return f"{_limit_text(low, places)} to {_limit_text(high, places)}"


def _limit_text(limit: float, places: int) -> str:
    # + 0.0 makes -0.0 a 0.0.
    shown = round(limit, places) + 0.0
    return f"{shown:.{places}f}" if shown or not limit else f"{limit:.1g}"


def level_text(interval: Interval) -> str:
    """An interval's level in per cent."""
    return percent_text(interval.level)


def direction_text(better: str) -> str:
    """That lower is better, where it is, in parentheses."""
    return " (lower is better)" if better == "lower" else ""


def p_words(p: float, floor: float | None = None) -> str:
    """p for a table: four places or two figures; the least that draws can give is a bound.

    >>> p_words(0.02109), p_words(0.00002), p_words(1 / 10_001, 1 / 10_000)
    ('0.0211', '0.00002', '< 0.0001')
    """
    if floor is not None and p <= floor:
        return f"< {bound_text(floor)}"
    return p_figures(p)


def places_text(interval: RankInterval) -> str:
    """The places that a system may have."""
    best, worst = interval
    return f"{best}-{worst}" if best < worst else str(best)


def detectable_text(found: PairResult | UnpairedResult, some: str) -> str:
    """From where on a difference is detectable, or that none is; where flips or labels are too few, how many queries,
    or sessions of each system, it takes."""
    if found.detectable is not None and math.isfinite(found.detectable):
        return some.format(found.detectable)
    if not (found.test.is_enumerated and found.test.least_p >= found.alpha) or getattr(found, "topics", False):
        return "no difference is detectable"
    is_unpaired = found.test.test.draws == "shuffle"
    least = next(n for n in count(1) if 2 / (math.comb(2 * n, n) if is_unpaired else 2**n) < found.alpha)
    if is_unpaired:
        return f"no difference is detectable: it takes more sessions, such as {least} of each system"
    return f"no difference is detectable: it takes at least {least} {plural_of(found.unit)} on which the systems differ"


def _brackets(found: PairResult | UnpairedResult, places: int) -> str:
    """Interval, p and the number of queries in parentheses."""
    interval = found.margin.interval if found.margin and found.margin.verdict in _BY_INTERVAL else found.interval
    of = "" if interval.of == "mean" else f" of the {interval.of}"
    guide = " by Student's t, a guide only" if interval.is_stopgap else ""
    shown = f"{level_text(interval)} CI{of}"
    parts = [f"{shown} {interval_text(interval, places)}{guide}" if interval.is_bounded else f"no {shown}"]
    if not found.test.test.is_of_ranks:  # whose p says nothing of means
        parts.append(found.test.p_text)
    return f"({', '.join([*parts, _over(found)])})"


def _sizes(found: PairResult | UnpairedResult, places: int) -> str:
    """Sentences on the size relative to the baseline, and on what the queries can detect."""
    size, said = found.practical, ""
    if size is not None and math.isfinite(size.low):
        relative, label = 100 * size.relative, f" ({size.label})" if size.label else ""
        said = f" Relative difference: {relative:+.{0 if abs(relative) >= 1 else 1}f}%{label}."
    if found.detectable is not None and getattr(found, "effective", math.inf) >= FEW_QUERIES:  # else said before
        detectable = detectable_text(found, f"minimum detectable difference: {{:.{places}f}}")
        said += f" {detectable[0].upper()}{detectable[1:]}."
    return said


def anova_columns(places: int) -> tuple[Column, ...]:
    """The columns of an analysis of variance, of sources and their effects."""
    names = f"source ← 0 | sum of squares .{places} ← 1.sum_of_squares | df # ← 1.df"
    return (
        *head(f"{names} | mean square .{places + 2} ← 1.mean_square | F .3 ← 1.f"),
        Column("p", get=lambda row: "" if row[1].p is None else p_words(row[1].p)),
        *head("p value . ← 1.p", for_machines=True),
    )
