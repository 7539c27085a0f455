"""Bounds of scores whose unjudged documents may have any grade.

Only the unjudged documents of the list are judged, all of them and independently; docs/explanation/unjudged.md has the
derivations. A score that is a sum of gains times weights of ranks, such as DCG, P or RBP, is extreme if every gain is.
If it is divided by the value of the ideal list, as nDCG is, a judgment raises that as well. The quotient is lowest if
the last n unjudged documents have the highest gain and the others the lowest, for some n. For the highest quotient, the
first n(g) documents reach gain g, with a separate n(g) for each gain g among the judgments; Dinkelbach's method (1967)
finds these numbers exactly. AP is extreme if the first or the last n unjudged documents are relevant, for some n.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gainful.data.completions import completed, unjudged_ranks
from gainful.data.graded import GradedRun
from gainful.data.judged import Judged
from gainful.data.lists import count_to, cumulated, in_columns, is_relevant, ordinal_in_row, sum_by
from gainful.errors import UsageError, option
from gainful.gains import Gain
from gainful.kernel.arrays import Bools, Floats, Ints, distinct
from gainful.measures.base import Measure
from gainful.measures.block import condenses, gains_of, ratios, raw_scores
from gainful.measures.session_block import SessionBlock, SessionMeasure, raw_session_scores
from gainful.notation import count_of, number_text
from gainful.policy import BY_GRADE

#: Measures that are extreme if all unjudged documents down to the cutoff are relevant and no later ones, or vice versa.
_AT_ENDS = frozenset("F RelP SetP SetR SetF SetAP SetRelP NumRelRet Success Complete Leak RR ERR".split())  # noqa: SIM905 - shorter

_CONDENSED = "{}: unjudged=condensed removes unjudged documents, so that it has no bounds"

#: Arrays of queries x gains x documents have at most this many cells.
_CELLS = 1 << 20


class Linear(NamedTuple):
    """A score that is a sum of gains times weights of ranks, divided by the value of the ideal list if it has one."""

    weights: Callable[[Ints], Floats]  # maps ranks to weights; rank 0 is not retrieved
    ideal: Callable[[Ints], Floats] | None = None  # maps n to the value of an ideal list of n documents of gain 1


def linear_form(measure: Measure) -> Linear | None:
    """Return the measure as a sum over ranks, or None if it is none."""
    k, parameters = measure.rank_cutoff, measure.parameters()

    def down_to(at: Callable[[Floats], Floats]) -> Callable[[Ints], Floats]:
        return lambda rank: np.where(
            (rank > 0) & (rank <= (k or rank)), at(np.maximum(rank, 1).astype(np.float64)), 0.0
        )

    is_best = measure.name != "nDCG" or not getattr(measure, "favours_rank_2", False)  # the ideal list
    if measure.name in ("CG", "DCG", "nCG", "nDCG") and is_best and getattr(measure, "average", None) is None:
        divide: Callable[[Floats], Floats] = measure._divisors  # type: ignore[attr-defined]

        def ideal(number: Ints) -> Floats:
            number = np.minimum(number, k or number)
            each = 1.0 / divide(np.arange(1.0, int(number.max(initial=0)) + 1.0))
            return np.append(0.0, np.cumsum(each))[number]

        return Linear(down_to(lambda rank: 1.0 / divide(rank)), ideal if measure.name[0] == "n" else None)
    if measure.name == "RBP" and getattr(measure, "scale", None) is None:
        p: float = getattr(measure, "p")  # noqa: B009 - not a field of all measures
        return Linear(down_to(lambda rank: (1.0 - p) * p ** (rank - 1.0)))
    if measure.name == "P" and "rel" in parameters:
        return Linear(down_to(lambda rank: np.full(rank.shape, 1.0 / (k or 1))))
    if measure.name == "R":
        return Linear(down_to(np.ones_like), lambda number: number.astype(np.float64))
    return None


def end_grades(measure: Measure, judged: Judged) -> tuple[float, float]:
    """Return the lowest grade with the lowest gain, the highest with the highest: of the judgments, 0 or the scale."""
    gain, level = getattr(measure, "gain", None), getattr(measure, "level", None)
    weights = dict(gain.weights) if isinstance(gain, Gain) else {}
    # Without a weight of grade 0, a document that is not relevant has no grade; negative ones also have gain 0.
    named = [*weights, 0.0 if 0.0 in weights else -1.0] if weights else [0.0, judged.scale]
    grades = distinct(np.array([*judged.levels, *named, *([] if level is None else [level])]))
    grades = grades[grades <= judged.scale]
    gains = gains_of(measure, grades, judged.scale)
    if gains.min() == gains.max():
        message = f"{measure}: all grades up to the scale {number_text(judged.scale)} have the same gain"
        hint = f"{option('scale', judged.scale + 1)} sets a higher scale"
        raise UsageError(message, None if gains.any() else hint)
    return float(grades[gains.argmin()]), float(grades[gains == gains.max()][-1])


def refuse_bounds(measure: Measure, graded: GradedRun) -> None:
    """Raise UsageError for conventions that decide something about unjudged documents."""
    policy = graded.policy
    if condenses(measure, policy):
        raise UsageError(_CONDENSED.format(measure))
    if measure.budget is not None:
        raise UsageError(f"{measure}: no bounds under a budget")
    for name, value, others in (("ties", policy.ties, {"expected", *BY_GRADE}), ("spans", policy.spans, {"share"})):
        if value in others:
            raise UsageError(f"{measure}: the effect of unjudged documents cannot be computed with {name}={value}")
    end_grades(measure, graded.judged)


def refuse_undefined(measure: Measure, scores: Floats, answered: Bools) -> None:
    """Raise UsageError if queries are left out that judgments could define."""
    count = int(np.count_nonzero(np.isnan(scores) & answered))
    if count and measure.worst is not None:
        left_out = f"{count_of(count, 'query', 'queries')} left out as undefined, which judgments could define"
        raise UsageError(f"{measure}: {left_out}", f"{option('undefined', 'zero')} counts undefined scores")


def has_exact_bounds(measure: Measure) -> bool:
    """Whether :func:`score_bounds` returns attainable scores, not the range of the measure."""
    if measure.name == "sDCG":  # without a cutoff, the average is over a number of positions that judgments change
        return getattr(measure, "summary", None) != "average" or measure.rank_cutoff is not None
    return measure.name in _AT_ENDS | {"AP", "GMAP"} or linear_form(measure) is not None


def session_bound(block: SessionBlock, measure: SessionMeasure, end: int) -> Floats:
    """Return the lowest (0) or highest (1) raw score of every session by sDCG, which rises with every gain."""
    if condenses(measure, block.judged.policy):
        raise UsageError(_CONDENSED.format(measure))
    return np.asarray(raw_session_scores(block.filled(end_grades(measure, block.judged)[end]), [measure])[0])


def score_bounds(
    graded: GradedRun, measure: Measure, documents: tuple[Ints, Ints] | None = None
) -> tuple[Floats, Floats]:
    """Return the lowest and the highest raw score of every query.

    ``documents`` are the queries and ranks of the documents whose grades are free: by default the unjudged ones of the
    list. Rank 0 is not retrieved; these come last within their query. Scores that are undefined do not count; NaN if
    all are.
    """
    refuse_bounds(measure, graded)
    judged, form, size = graded.judged, linear_form(measure), graded.retrieved.size
    row, rank = documents or unjudged_ranks(graded)
    if form is not None:
        hits = np.repeat(np.arange(size), np.diff(graded.hit_offsets))
        gains = gains_of(measure, graded.hit_grade, judged.scale)
        fixed = sum_by(hits, gains * form.weights(graded.hit_rank), size)
        if measure.name == "R":  # only unjudged documents after the cutoff are relevant, or only those before it
            is_seen, base = form.weights(rank) > 0, judged.recall_base(*(getattr(measure, n) for n in ("rel", "level")))
            later, before = (np.bincount(row[each], minlength=size) for each in (~is_seen, is_seen))
            low, high = ratios(fixed, base + later), ratios(fixed + before, base + before)
            return np.where(np.isnan(low), high, low), np.where(np.isnan(high), low, high)
        return quotient_bounds(measure, form, judged, row, form.weights(rank), fixed)
    if measure.name in ("AP", "GMAP"):
        return _precision_bounds(graded, measure, row, rank)
    if measure.name in _AT_ENDS:
        seen, ends = (rank > 0) & (rank <= (measure.rank_cutoff or rank)), end_grades(measure, judged)
        grades = np.where(seen, *ends), np.where(seen, *ends[::-1])
        ended = [completed(graded, np.arange(size), row, rank, grade) for grade in grades]
        return raw_scores(ended[0], [measure])[0], raw_scores(ended[1], [measure])[0]
    least, most = measure.bounds[0], np.inf if getattr(measure, "favours_rank_2", False) else measure.bounds[1]
    return np.full(size, least), np.full(size, most)


def quotient_bounds(
    measure: Measure, form: Linear, judged: Judged, row: Ints, weight: Floats, fixed: Floats
) -> tuple[Floats, Floats]:
    """Return the extremes, per query, of (fixed + the sum of gains * weights of documents) / the ideal value.

    ``row`` is the query of each document, whose gain is free; ``fixed`` is the sum over judged documents. Weights and
    ``fixed`` may be differences of two lists'.
    """
    lowest, highest = gains_of(measure, np.array(end_grades(measure, judged)), judged.scale).tolist()
    size = fixed.size
    fixed = fixed + lowest * sum_by(row, weight, size)
    if form.ideal is None:
        span = highest - lowest
        ups, downs = (sum_by(row, np.maximum(sign * weight, 0.0), size) for sign in (1.0, -1.0))
        return fixed - span * downs, fixed + span * ups
    offsets, best = judged.best_first
    gains, limit = gains_of(measure, best.grade, judged.scale), measure.rank_cutoff
    if limit is not None and measure.name != "R":
        # The ideal list has only ``limit`` documents, so that more of no weight change nothing.
        idle = weight == 0
        kept = np.ones(row.size, bool)
        order = np.argsort(row[idle], kind="stable")
        kept[np.flatnonzero(idle)[order]] = ordinal_in_row(row[idle][order]) <= limit
        row, weight = row[kept], weight[kept]
    low, high = np.full((2, size), np.nan)
    free, steps = np.bincount(row, minlength=size), np.diff(offsets) + 1
    cells, first = np.cumsum(steps * (free + 1)), 0
    while first < size:
        before = cells[first - 1] if first else 0
        end = max(first + 1, int(np.searchsorted(cells, before + _CELLS, "right")))
        here, there = (row >= first) & (row < end), slice(int(offsets[first]), int(offsets[end]))
        levels = _levels(best.row[there] - first, gains[there], lowest, highest, end - first)
        of_rows = form.ideal, levels, row[here] - first, fixed[first:end]
        base = lowest * form.ideal(np.diff(offsets)[first:end] + free[first:end])
        high[first:end] = _highest_quotient(*of_rows, weight[here], base)
        low[first:end] = -_highest_quotient(*of_rows[:3], -of_rows[3], -weight[here], base)
        first = end
    return low, high


def _levels(row: Ints, gain: Floats, lowest: float, highest: float, size: int) -> tuple[Floats, Ints]:
    """Return the steps between the gains above the lowest, and the number of judged documents that reach each."""
    rows, gains = np.append(row, np.arange(size)), np.append(gain, np.full(size, highest))
    order = np.lexsort((gains, rows))
    rows, gains, is_judged = rows[order], gains[order], order < row.size
    counts = np.bincount(row, minlength=size)
    below = np.cumsum(is_judged) - is_judged - (np.cumsum(counts) - counts)[rows]
    first = np.append(True, (rows[1:] != rows[:-1]) | (gains[1:] != gains[:-1])) & (gains > lowest)
    rows, gains, reach = rows[first], gains[first], (counts[rows] - below)[first]
    previous = np.append(lowest, gains[:-1])
    is_first = np.append(True, rows[1:] != rows[:-1])[: rows.size]
    lift = gains - np.where(is_first, lowest, previous[: rows.size])
    return in_columns(rows, lift, size)[0], in_columns(rows, reach.astype(np.float64), size)[0].astype(np.int64)


def _highest_quotient(
    ideal: Callable[[Ints], Floats], levels: tuple[Floats, Ints], row: Ints, fixed: Floats, weight: Floats, base: Floats
) -> Floats:
    """Return the highest value of (fixed + gains) / ideal for each query; NaN if the ideal value is always 0."""
    lift, reach = levels
    order = np.lexsort((-weight, row))
    weights, _ = in_columns(row[order], weight[order], fixed.size)
    number, free = np.arange(weights.shape[1] + 1), np.bincount(row, minlength=fixed.size)
    gained = np.concatenate([np.zeros((fixed.size, 1)), np.cumsum(weights, axis=1)], axis=1)
    is_possible = number <= free[:, None]
    values = ideal(reach[:, :, None] + np.minimum(number, free[:, None])[:, None, :])

    def quotient(chosen: Ints) -> Floats:
        above = (lift * np.take_along_axis(gained, chosen, axis=1)).sum(axis=1)
        below = (lift * np.take_along_axis(values, chosen[:, :, None], axis=2)[:, :, 0]).sum(axis=1)
        return ratios(fixed + above, base + below)

    found = quotient(np.repeat(free[:, None], lift.shape[1], axis=1))
    while True:
        gains = np.where(is_possible[:, None, :], gained[:, None, :] - found[:, None, None] * values, -np.inf)
        # The ideal value is concave in the numbers: below 0 the best ones are the same for all gains.
        alike = np.where(
            is_possible, (lift[:, :, None] * np.where(is_possible[:, None, :], gains, 0.0)).sum(axis=1), -np.inf
        )
        chosen = np.where(found[:, None] < 0, alike.argmax(axis=1)[:, None], gains.argmax(axis=2))
        better = quotient(chosen)
        is_better = better > found
        if not is_better.any():
            return found
        found = np.where(is_better, better, found)


def _precision_bounds(graded: GradedRun, measure: Measure, row: Ints, rank: Ints) -> tuple[Floats, Floats]:
    """Return the extremes of AP: the first or the last n unjudged documents are relevant, for some n from 0."""
    rel, level, cutoff = (getattr(measure, name) for name in ("rel", "level", "cutoff"))
    size = graded.retrieved.size
    query = np.repeat(np.arange(size), np.diff(graded.hit_offsets))
    relevant = is_relevant(graded.hit_grade, rel, level)
    hits = query[relevant], graded.hit_rank[relevant]
    weigh = np.where(hits[1] <= (cutoff or hits[1]), 1.0 / hits[1], 0.0)
    start = sum_by(hits[0], weigh * ordinal_in_row(hits[0]), size)
    base = graded.judged.recall_base(rel, level)
    is_there, rank = rank > 0, np.where(rank > 0, rank, graded.retrieved[row] + 1)
    before = count_to(hits, row, rank)
    # The reciprocal ranks of relevant documents after each unjudged one.
    sums = np.append(0.0, np.cumsum(weigh))
    ends = np.searchsorted(hits[0], np.arange(size), "right")
    after = sums[ends[row]] - sums[np.searchsorted(hits[0], row) + before]
    own = np.where(is_there & (rank <= (cutoff or rank)), 1.0 / rank, 0.0)

    def from_end(values: Floats) -> Floats:
        return cumulated(row[::-1], values[::-1], size)[::-1]

    # Precision at a document's own rank, and what it adds to the precisions at later ranks.
    count, count_from_end = ordinal_in_row(row), ordinal_in_row(row[::-1])[::-1]
    of_first = cumulated(row, own * (before + count) + after, size)
    of_last = from_end(own * (before + 1) + after + from_end(own) - own)
    low, high = np.tile(ratios(start, base), (2, 1))
    np.fmax.at(high, row, ratios(start[row] + of_first, base[row] + count))
    np.fmin.at(low, row, ratios(start[row] + of_last, base[row] + count_from_end))
    return low, high
