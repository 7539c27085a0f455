"""A comparison that was watched query by query, as a page: what can be told by now, since when, and all limits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gainful.notation import count_of, number_text, plural_of, printable
from gainful.pages.charts import Axis, Band, Chart, Line, Plot, Rule
from gainful.pages.page import Cell, Column, Table, head
from gainful.render import Page
from gainful.tasks.compare.belief_page import FEW_PAIRS, common_baseline, interval_chart, role_of_other
from gainful.tasks.compare.compare_words import level_text, limits_text, places_for, units_text

if TYPE_CHECKING:
    from gainful.stats.sequential import ConfidenceSequence
    from gainful.tasks.compare.comparison import Comparison

_CHECKPOINTS = 10
_VALID = "valid however often you look"


def sequence_page(found: Comparison) -> Page:
    """Measure by measure, the primary one first."""
    parts: list[Table | Chart | str] = []
    for results in found.sequences.values():
        if len(results) == 1:
            parts += [sequence_sentence(results[0]), _checkpoints(results[0], found.places)]
        else:
            parts += [_conclusion(results), _pairs(results, found)]
    primary = found.sequences[found.primary]
    if len(primary) == 1:
        parts.append(_path(primary[0]))
    else:
        told = ["" if each.told_after is None else str(each.told_after) for each in primary]
        parts.append(
            interval_chart(
                primary, told, "significant after", (Rule("", x=0.0),), f"limits after all {plural_of(found.unit)}"
            )
        )
    parts += _for_machines(found)
    header: dict[str, object] = {
        "sequential": True,
        "primary": found.primary,
        "alpha": primary[0].alpha,
        "pairs": primary[0].pairs,
        "queries_left_out": {name: results[0].left_out for name, results in found.sequences.items()},
    }
    return Page("compare", tuple(parts), (*_notes(found), *found.signatures), header)


def sequence_sentence(found: ConfidenceSequence) -> str:
    """What can be told by now, the limits, and since when."""
    a, b = (printable(name, 40) for name in found.names)
    queries, places = units_text(found.n, found.left_out, found.unit), places_for(found.difference)
    if found.is_empty:
        return (
            f"After {queries} every difference of {a} and {b} is excluded, so that there is no verdict: the order of "
            f"the {plural_of(found.unit)} depends on the scores, or this is the rare case "
            f"({number_text(found.alpha)}) of a miss."
        )
    limits = (
        f"{level_text(found.interval)} interval {limits_text(found.lows[-1], found.highs[-1], places)}, {_VALID}; "
        f"mean difference {found.difference:.{places}f}"
    )
    if found.told_after is None:
        return f"{a} and {b} are not yet significantly different in {found.measure}: after {queries} {limits}."
    verb = "is ahead of" if found.verdict == "better" else "is behind"
    since = f"significant since {found.unit} {found.told_after:,}"
    return f"{a} {verb} {b} in {found.measure} after {queries} ({since}): {limits}."


def _conclusion(results: tuple[ConfidenceSequence, ...]) -> str:
    first, told = results[0], sum(each.verdict != "cannot tell" for each in results)
    baseline = common_baseline(results)
    of = (
        f"{count_of(len(results), 'system')} from {printable(baseline, 40)}"
        if baseline
        else count_of(len(results), "pair")
    )
    rest = len(results) - told
    shown = (
        "; for the other no difference was shown yet" if rest == 1 else "; for the others no difference was shown yet"
    )
    return (
        f"{first.measure} after {units_text(first.n, first.left_out, first.unit)}. "
        f"Significantly different: {told:,} of {of} ({level_text(first.interval)} for all together, {_VALID})"
        f"{shown if rest else ''}."
    )


def _pairs(results: tuple[ConfidenceSequence, ...], found: Comparison) -> Table:
    columns = (
        *head(f"system ← names.0 | against ← names.1 | difference .{found.places}"),
        Column("interval", get=lambda each: limits_text(each.lows[-1], each.highs[-1], found.places)),
        Column("significant after", "count", get=lambda each: each.told_after),
        Column("verdict"),
    )
    most = None if found.shown is None else FEW_PAIRS
    note = f"significant after: how many {plural_of(found.unit)} until 0 was first outside the interval"
    title = f"Differences, {results[0].measure}{_direction(results[0])}"
    return Table.of(columns, results, title=title, notes=(note,), most=most, for_people=True)


def _checkpoints(found: ConfidenceSequence, places: int) -> Table:
    count = len(found.looks)
    wanted = {max(1, round(count * tenth / _CHECKPOINTS)) - 1 for tenth in range(1, _CHECKPOINTS + 1)}
    if found.told_after is not None:
        wanted.add(found.looks.index(found.told_after))
    rows: list[tuple[Cell, ...]] = []
    for i in sorted(wanted):
        is_told = found.lows[i] > 0 or found.highs[i] < 0
        limits = limits_text(found.lows[i], found.highs[i], places)
        rows.append((found.looks[i], found.means[i], limits, "outside" if is_told else "inside"))
    columns = head(f"{plural_of(found.unit)} # | difference .{places} | {level_text(found.interval)} interval | 0 is")
    title = f"{found.unit.capitalize()} by {found.unit}, {found.measure}{_direction(found)}: {' - '.join(found.names)}"
    return Table(columns, rows, title, for_people=True)


def _direction(found: ConfidenceSequence) -> str:
    return " (lower is better)" if found.better == "lower" else ""


def _path(found: ConfidenceSequence) -> Plot:
    """The mean difference and its limits by the number of queries, from where they say something on."""
    widest = found.highs[0] - found.lows[0]
    begin = next((i for i, low in enumerate(found.lows) if found.highs[i] - low <= widest / 2), 0)
    x = tuple(float(look) for look in found.looks[begin:])
    lows, highs = found.lows[begin:], found.highs[begin:]
    lines = (
        Line("mean difference", x, found.means[begin:], band=Band(x, lows, highs)),
        # A band is seen in figures only.
        Line(f"{level_text(found.interval)} limits", x, lows, "guide"),
        Line("", x, highs, "guide"),
    )
    title = f"{found.measure}: {' - '.join(printable(name, 40) for name in found.names)}"
    axes = Axis(plural_of(found.unit), 0.0, float(found.n), is_whole=True), Axis("difference")
    return Plot(title, *axes, lines, rules=(Rule("", y=0.0),), caption=f"Limits are {_VALID}.")


def _notes(found: Comparison) -> list[str]:
    first = found.sequences[found.primary][0]
    lines = [f"{plural_of(found.unit)} in the order of --arrival, else of their ids; it must not depend on the scores"]
    if first.pairs > 1:
        level = number_text(float(f"{first.alpha / first.pairs:.3g}"))
        lines.append(f"{first.pairs:,} pairs, each at {level}: all limits at all times hold together")
    if len(found.sequences) > 1:
        others = ", ".join(list(found.sequences)[1:])
        lines.append(f"{found.primary} is the primary measure; {others}: secondary, each by itself")
    return lines


def _for_machines(found: Comparison) -> Iterator[Table]:
    """What was found of every pair, and every look at it."""
    everything = [each for results in found.sequences.values() for each in results]
    pair = f"measure | system | {role_of_other(everything)}"
    names = f"{pair} | better | verdict | queries # | significant_after # | difference . | low . | high . | alpha ."
    rows: list[tuple[Cell, ...]] = [
        (
            *(each.measure, *each.names, each.better, each.verdict, each.n, each.told_after),
            *(each.difference, each.lows[-1], each.highs[-1], each.alpha),
        )
        for each in everything
    ]
    yield Table(head(names, for_machines=True), rows, "sequences")
    names = f"{pair} | query | queries # | difference . | low . | high ."
    steps: list[tuple[Cell, ...]] = [
        (each.measure, *each.names, each.queries[look - 1], look, *numbers)
        for each in everything
        for look, *numbers in zip(each.looks, each.means, each.lows, each.highs, strict=True)
    ]
    yield Table(head(names, for_machines=True), steps, "steps")
