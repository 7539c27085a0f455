"""Several systems compared, as a page: who may be the best, how far apart systems must be, and every pair."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from gainful.notation import count_of, number_text, printable
from gainful.pages.charts import Chart
from gainful.pages.page import Page, Table
from gainful.tasks.compare.compare_charts import DECIDING, critical_diagram, leaderboard_chart, listed, p_map
from gainful.tasks.compare.systems_tables import (
    anova_table,
    baseline_table,
    friedman_table,
    group_tables,
    leaderboard,
    machine_tables,
    measures_table,
    pair_table,
)

if TYPE_CHECKING:
    from gainful.stats.procedures import SystemsResult
    from gainful.tasks.compare import Comparison

_DRAWN: dict[str, Callable[[SystemsResult], Chart]] = {
    "leaderboard": leaderboard_chart,
    "critical": critical_diagram,
    "p": p_map,
}
_MOST_NAMES = 6
#: So many pairs are shown unasked.
_FEW_PAIRS = 15


def systems_page(found: Comparison) -> Page:
    """Measure by measure, the primary one first."""
    parts: list[Table | Chart | str] = []
    results = found.systems
    if len(results) > 1:
        parts.append(measures_table(found))
    for name, result in results.items():
        parts += _of_measure(found, name, result)
    parts += machine_tables(found)
    return Page("compare", tuple(parts), (*_notes(found), *found.signatures), _header(found))


def _of_measure(found: Comparison, name: str, result: SystemsResult) -> Iterator[Table | Chart | str]:
    yield conclusion(result, found.places)
    if result.anova is not None and result.procedure == "anova":
        yield anova_table(result, found.places)
    if result.friedman is not None:
        yield friedman_table(result)
    if result.family.baseline is not None:
        yield baseline_table(result, found.places)
    else:
        yield leaderboard(result, found.places)
    is_primary = name == found.primary
    few = is_primary and len(result.family.p) <= _FEW_PAIRS and result.family.baseline is None
    if found.shown is None or found.shown or few:
        yield pair_table(result, found.shown or None, found.places)
    if name in found.groups:
        yield from group_tables(name, found.groups[name], found.members, found.places)
    if is_primary:
        for chart in found.charts:
            yield _DRAWN[chart](result)


def conclusion(result: SystemsResult, places: int) -> str:
    """What a person wants to know first: how many pairs differ, how far apart systems must be, who may be the best."""
    family = result.family
    level = f"{number_text(round(100 * family.alpha, 10))} %"
    differ = int(family.is_significant.sum())
    what = f"by {DECIDING[family.correction]}, {level}" + _draws(result)
    queries = count_of(family.n, "query", "queries")
    systems = count_of(len(family.systems), "system")
    if family.baseline is not None:
        others = count_of(family.p.size, "system")
        baseline = printable(family.baseline, 40)
        first = f"{family.measure}: {differ:,} of {others} differ from {baseline} on {queries} ({what})."
        return " ".join([first, *_threshold(result, places), *_not_told(result)])
    first = (
        f"{family.measure}: of {systems} on {queries} {differ:,} of {count_of(family.p.size, 'pair')} differ ({what})."
    )
    best = [printable(name, 40) for name in _in_order(result)]
    if not best:
        last = "None is the best: each is beaten by another."
    elif len(best) == len(family.systems):
        last = "Any of them may be the best."
    elif len(best) == 1 and not family.is_simultaneous:
        last = f"No other is told to be better than {best[0]}, each pair by itself."
    elif len(best) == 1:
        last = f"{best[0]} is the best."
    else:
        more = [f"{len(best) - _MOST_NAMES} more"] if len(best) > _MOST_NAMES else []
        names = listed([*best[:_MOST_NAMES], *more])
        last = f"May be the best: {names}." if family.is_simultaneous else f"May be the best, each by itself: {names}."
    return " ".join([first, *_threshold(result, places), last])


def _in_order(result: SystemsResult) -> list[str]:
    may_be = set(result.family.may_be_best)
    return [result.family.systems[i] for i in result.family.order if result.family.systems[i] in may_be]


def _draws(result: SystemsResult) -> str:
    if result.randomised is not None:
        return f", {result.randomised.draws:,} permutations, seed {result.randomised.seed}"
    family = result.family
    if family.draws is None or family.correction in ("tukey", "nemenyi"):
        return ""
    return f", all {family.draws:,} flips" if family.is_enumerated else f", {family.draws:,} flips, seed {family.seed}"


def _threshold(result: SystemsResult, places: int) -> Iterator[str]:
    """The one number that decides, rounded up, so that what is said of it is true of the printed means."""
    threshold = result.family.threshold
    if threshold is None:
        return
    if not math.isfinite(threshold):
        yield "No difference is large enough to be told with so little."
        return
    # Two printed means may be one unit of the last place further apart than the means are.
    shown = (math.floor(threshold * 10**places) + 2) / 10**places
    if result.friedman is not None:
        yield f"Systems whose mean ranks are {shown:.{places}f} or more apart differ."
    elif result.family.baseline is not None:
        yield f"Systems {shown:.{places}f} or more from it differ."
    else:
        yield f"Systems {shown:.{places}f} or more apart differ."


def _not_told(result: SystemsResult) -> Iterator[str]:
    if not result.family.is_significant.all():
        yield "Of the others it cannot be told; that is not to say they are equal."


def _notes(found: Comparison) -> list[str]:
    results, several = found.systems, len(found.systems) > 1
    notes: dict[str, list[str]] = {}
    for name, result in results.items():
        for warning in result.warnings:
            notes.setdefault(warning, []).append(name)
    lines = []
    for warning, names in notes.items():
        of = f"{', '.join(names)}: " if len(names) < len(results) else ""
        lines.append(f"note: {of}{warning}")
    each = [result.family.p.size for result in results.values()]
    if several:
        first, *others = results
        lines.append(f"{first} is the primary measure; {', '.join(others)}: secondary")
    counted = " + ".join(f"{size:,}" for size in each)
    if several and found.family == "all":
        lines.append(f"{count_of(sum(each), 'test')} in one family ({counted})")
    elif several:
        lines.append(f"{count_of(sum(each), 'test')} in {len(each)} families ({counted}), each corrected by itself")
    else:
        lines.append(f"{count_of(sum(each), 'test')} in one family")
    return lines


def _header(found: Comparison) -> dict[str, object]:
    measures = {}
    for name, result in found.systems.items():
        family = result.family
        entry: dict[str, object] = {
            "procedure": result.procedure,
            "test": family.test,
            "correction": family.correction,
            "tests": family.tests,
            "pairs": int(family.p.size),
            "different": int(family.is_significant.sum()),
            "draws": family.draws,
            "enumerated": family.is_enumerated,
            "threshold": _finite(family.threshold),
            "half_width": None if family.half_width is None else _finite(float(family.half_width.max())),
            "queries": family.n,
            "depends_on_pool": result.depends_on_pool,
        }
        if result.randomised is not None:
            ranges = result.randomised.ranges
            entry["permutations"] = result.randomised.draws
            entry["null"] = {"median": float(ranges[len(ranges) // 2]), "critical": _finite(result.randomised.critical)}
        elif family.threshold is not None:
            entry["null"] = {"critical": _finite(family.threshold)}
        measures[name] = entry
    first = next(iter(found.systems.values())).family
    return {
        "systems": list(first.systems),
        "baseline": first.baseline,
        "primary": found.primary,
        "family": found.family,
        "alpha": first.alpha,
        "seed": first.seed,
        "measures": measures,
    }


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
