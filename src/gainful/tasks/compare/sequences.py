"""A comparison that was watched query by query, as a page: what can be told by now, since when, and all limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gainful.data.queries import read_ids
from gainful.errors import InputError, UsageError, option, warns
from gainful.evaluation.score_matrix import ScoreMatrix, bounds_of
from gainful.evaluation.scores import Scores
from gainful.notation import count_of, number_text, plural_of, printable
from gainful.pages.charts import Axis, Band, Chart, Line, Plot, Rule
from gainful.pages.page import Cell, Column, Table, head
from gainful.question import question
from gainful.render import Page
from gainful.stats.sequential import ConfidenceSequence, confidence_sequence
from gainful.tasks.compare import (
    FEW_PAIRS,
    Comparison,
    common_baseline,
    compared_pairs,
    interval_chart,
    paired_matrices,
)
from gainful.tasks.compare.compare_words import direction_text, level_text, limits_text, places_for, units_text
from gainful.tasks.score_questions import SequenceOptions

_CHECKPOINTS = 10
_MOST_PAIRS = 100  # that are watched at once
_VALID = "valid however often you look"


@dataclass(frozen=True, eq=False, repr=False)
class SequenceComparison(Comparison):
    """Pairs of systems watched query by query, by measure; ``is_whole``: all of many pairs are printed."""

    sequences: Mapping[str, tuple[ConfidenceSequence, ...]]
    is_whole: bool

    def page(self, *, places: int = 4) -> Page:
        parts: list[Table | Chart | str] = []
        for results in self.sequences.values():
            if len(results) == 1:
                parts += [sequence_sentence(results[0]), _checkpoints(results[0], places)]
            else:
                parts += [_sequence_conclusion(results), _sequence_pairs(results, places, self.is_whole)]
        primary = self.sequences[self.primary]
        if len(primary) == 1:
            parts.append(_path(primary[0]))
        else:
            told = ["" if each.told_after is None else str(each.told_after) for each in primary]
            lines = f"limits after all {plural_of(self.unit)}"
            parts.append(interval_chart(primary, told, "significant after", (Rule("", x=0.0),), lines))
        parts += _sequence_records(self)
        first = primary[0]
        notes = [
            f"{plural_of(self.unit)} in the order of --arrival, else of their ids; it must not depend on the scores"
        ]
        if first.pairs > 1:
            level = number_text(float(f"{first.alpha / first.pairs:.3g}"))
            notes.append(f"{first.pairs:,} pairs, each at {level}: all limits at all times hold together")
        notes += self.secondary_notes(", each by itself")
        header: dict[str, object] = {
            "sequential": True,
            "primary": self.primary,
            "alpha": first.alpha,
            "pairs": first.pairs,
            "queries_left_out": {name: results[0].left_out for name, results in self.sequences.items()},
        }
        return Page("compare", tuple(parts), (*notes, *self.scores.conventions), header)


@warns
@question(SequenceOptions)
def compare_sequentially(asked: SequenceOptions) -> SequenceComparison:
    """Intervals of differences that hold after every query, however often one looks; of bounded measures.

    ``arrival`` is the order in which queries came, or a file that has it; otherwise they come in the order of their
    ids.

    >>> from gainful import ScoreMatrix
    >>> scores = ScoreMatrix.of("P@5", {"old": [0.2, 0.4, 0.4, 0.2], "new": [0.6, 0.4, 0.8, 0.4]})
    >>> [found] = compare_sequentially(scores).sequences["P@5"]
    >>> found.looks, found.verdict
    ((1, 2, 3, 4), 'cannot tell')
    """
    scores = Scores.of(asked.scores)
    matrices = paired_matrices(scores)
    if any(matrix.weights is not None for matrix in matrices.values()):
        raise UsageError("sequential: has no meaning with weights")
    arrival = read_ids(asked.arrival, "arrival") if isinstance(asked.arrival, str) else asked.arrival
    found = {}
    for name, matrix in matrices.items():
        bounds, rows = bounds_of(matrix), _rows_by_arrival(matrix, arrival)
        pairs = compared_pairs(matrix, asked)
        if len(pairs) > _MOST_PAIRS:
            raise UsageError(
                f"sequential: expected at most {_MOST_PAIRS} pairs, found {len(pairs):,}",
                f"each makes the others' intervals wider; {option('baseline')} or {option('pairs')} chooses",
            )
        found[name] = tuple(
            confidence_sequence(matrix, a, b, bounds, rows=rows, alpha=asked.alpha, pairs=len(pairs)) for a, b in pairs
        )
    return SequenceComparison(scores, found, asked.all_pairs or bool(asked.pairs))


def _rows_by_arrival(matrix: ScoreMatrix, arrival: Sequence[str] | None) -> list[int]:
    """The rows of a matrix as their queries arrived; all of them have to be there, and more may be."""
    if arrival is None:
        return list(range(len(matrix.queries)))
    places = {query: place for place, query in enumerate(dict.fromkeys(arrival))}
    for query in matrix.queries:
        if query not in places:
            raise InputError(
                f"arrival: expected every query of {matrix.origin}, found no '{printable(query)}'",
                "a file has a line a query, its id first, as judgments do, too",
            )
    return sorted(range(len(matrix.queries)), key=lambda row: places[matrix.queries[row]])


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


def _sequence_conclusion(results: tuple[ConfidenceSequence, ...]) -> str:
    first, told = results[0], sum(each.verdict != "cannot tell" for each in results)
    baseline, rest = common_baseline(results), len(results) - told
    of = count_of(len(results), "system" if baseline else "pair")
    of += f" from {printable(baseline, 40)}" if baseline else ""
    shown = f"; for the other{'' if rest == 1 else 's'} no difference was shown yet" if rest else ""
    return (
        f"{first.measure} after {units_text(first.n, first.left_out, first.unit)}. "
        f"Significantly different: {told:,} of {of} ({level_text(first.interval)} for all together, {_VALID}){shown}."
    )


def _sequence_pairs(results: tuple[ConfidenceSequence, ...], places: int, is_whole: bool) -> Table:
    columns = (
        *head(f"system ← names.0 | against ← names.1 | difference .{places}"),
        Column("interval", get=lambda each: limits_text(each.lows[-1], each.highs[-1], places)),
        Column("significant after", "count", get=lambda each: each.told_after),
        Column("verdict"),
    )
    most = None if is_whole else FEW_PAIRS
    note = f"significant after: how many {plural_of(results[0].unit)} until 0 was first outside the interval"
    title = f"Differences, {results[0].measure}{direction_text(results[0].better)}"
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
    what = f"{found.unit.capitalize()} by {found.unit}, {found.measure}{direction_text(found.better)}"
    return Table(columns, rows, f"{what}: {' - '.join(found.names)}", for_people=True)


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


def _sequence_records(found: SequenceComparison) -> Iterator[Table]:
    everything = [each for results in found.sequences.values() for each in results]
    pair = f"measure | system | {'baseline' if common_baseline(everything) else 'other'}"
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
