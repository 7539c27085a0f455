"""Measures of pairs: which of two documents the user prefers, and which one the system puts first."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from gainful.arrays import Floats, Ints
from gainful.data.lists import ordinal_in_row
from gainful.measures.arithmetic import Arithmetic, Step, seen
from gainful.measures.base import Measure
from gainful.measures.block import Block
from gainful.measures.precision import ratio

#: Up to so many different grades pairs are counted grade by grade.
FEW_LEVELS = 12


@dataclass(frozen=True, eq=False, repr=False)
class NDPM(Measure):
    """Normalised distance-based performance measure: how often the system contradicts the user's preferences.

    Formula:
        NDPM = (2 C- + Cu) / (2 C)

    C counts the pairs of judged documents with different grades, C- those in which the worse one comes first, Cu those
    that the system does not tell apart.

    Conventions:
        - lower is better: 0 for the order of the grades, 1 for its reverse, 0.5 where all scores are equal
        - documents of equal score are not told apart; neither are the judged documents that were not retrieved, which
          come after the retrieved ones
        - unjudged documents are in no pair; a grade below 0 is worse than 0
        - no two different grades: undefined
        - in a run without scores every document stands alone

    Agrees with:
        (1 - D) / 2, D being Somers' D of the system's order given the grades (scipy.stats.somersd)

    Reference:
        Yao, Measuring retrieval effectiveness based on user preference of documents, JASIS 46, 1995

    Example:
        Grades 1, 2, 0 in this order: of three pairs one is reversed.

        >>> from gainful import parse
        >>> round(parse("NDPM").score([1, 2, 0]), 4)
        0.3333
    """

    name = "NDPM"
    better = "lower"
    needs = frozenset({"ties"})
    at = None
    exempt = {
        "perfect": "grades below 0 and 0 are told apart, so that not only relevant documents count",
        "swap": "an unjudged document is in no pair: where it changes places, one document moves alone",
    }

    def compute(self, block: Block) -> Floats:
        levels = block.graded.judged.levels
        reversed_pairs, tied, pairs = (by_level if levels.size <= FEW_LEVELS else by_bits)(block, levels)
        return ratio(2.0 * reversed_pairs + tied, 2.0 * pairs)

    def arithmetic(self, block: Block) -> Arithmetic:
        hits = block.hits
        found = sorted(zip(block.hit_ties[0].tolist(), hits.rank.tolist(), hits.grade.tolist(), strict=True))
        worse_before, worse_tied = np.zeros(seen(block)), np.zeros(seen(block))
        before: list[float] = []
        for _, group in groupby(found, key=lambda document: document[0]):
            level = list(group)
            grades = sorted(grade for _, _, grade in level)
            for _, rank, grade in level:
                worse_before[rank - 1], worse_tied[rank - 1] = bisect_left(before, grade), bisect_left(grades, grade)
            for grade in grades:
                insort(before, grade)
        counts = 2.0 * worse_before + worse_tied
        columns = {
            "worse ones before": worse_before,
            "worse ones of equal score": worse_tied,
            "2 C- + Cu": counts,
            "so far": np.cumsum(counts),
        }
        missed = sorted(block.missed.grade.tolist())
        late, apart = (float(sum(bisect_left(others, grade) for grade in missed)) for others in (before, missed))
        everything = sorted(before + missed)
        pairs = float(sum(bisect_left(everything, grade) for grade in everything))
        wrong, tied = float(worse_before.sum()) + late, float(worse_tied.sum()) + apart
        steps = [
            Step("C", "", (), pairs, "pairs of different grade"),
            Step("C-", "{} + {}", (wrong - late, late), wrong, "reversed: among the retrieved, with the missed"),
            Step("Cu", "{} + {}", (tied - apart, apart), tied, "not told apart: among the retrieved, the missed"),
        ]
        if pairs:
            value = (2 * wrong + tied) / (2 * pairs)
            steps.append(Step(str(self), "(2 * {} + {}) / (2 * {})", (wrong, tied, pairs), value))
        else:
            steps.append(Step(str(self), "", (), math.nan, "no two documents have different grades"))
        return Arithmetic(columns, tuple(steps), adds="2 C- + Cu", running="so far")


def by_level(block: Block, levels: Floats) -> tuple[Floats, Floats, Floats]:
    """Of each list's pairs of different grade those that it reverses, those that it does not tell apart, and all.

    Level by level, how many worse documents stand before those of the level, and how many among them.
    """
    hits, missed, size = block.hits, block.missed, block.size
    code = np.searchsorted(levels, hits.grade)
    row_start = np.concatenate(([0], np.cumsum(np.bincount(hits.row, minlength=size))))[:-1]
    group_start, group_end = _stretches(hits.row, block.hit_ties[0])
    wrong, tied = np.zeros(size), np.zeros(size)
    for level in range(1, levels.size):
        at = np.flatnonzero(code == level)
        not_worse = np.concatenate(([0], np.cumsum(code >= level)))
        row, start, end = hits.row[at], group_start[at], group_end[at]
        first = row_start[row]
        wrong += np.bincount(row, start - first - (not_worse[start] - not_worse[first]), minlength=size)
        tied += np.bincount(row, end - start - (not_worse[end] - not_worse[start]), minlength=size)
    found, lost = (
        np.bincount(row * levels.size + codes, minlength=size * levels.size).reshape(size, levels.size)
        for row, codes in ((hits.row, code), (missed.row, np.searchsorted(levels, missed.grade)))
    )
    wrong += (lost * (np.cumsum(found, axis=1) - found)).sum(axis=1)
    return wrong, tied + _different(lost), _different(found + lost)


def _stretches(row: Ints, key: Ints) -> tuple[Ints, Ints]:
    """For every element where the stretch of its row in which the key stays the same starts, and where it ends."""
    starts = np.flatnonzero((np.diff(row, prepend=-1) != 0) | (np.diff(key, prepend=-1) != 0))
    sizes = np.diff(starts, append=row.size)
    return np.repeat(starts, sizes), np.repeat(starts + sizes, sizes)


def _different(counts: Ints) -> Floats:
    """How many pairs of different kind there are, row by row, from the counts of every kind."""
    return np.asarray((counts.sum(axis=1) ** 2 - (counts**2).sum(axis=1)) / 2.0)


def by_bits(block: Block, levels: Floats) -> tuple[Floats, Floats, Floats]:
    """The same for any number of levels: in the order of the system, which pairs rise."""
    hits, missed, size = block.hits, block.missed, block.size
    row, first, code = hits.row, block.hit_ties[0], np.searchsorted(levels, hits.grade)
    # What the system does not tell apart is put best first, so that no such pair rises.
    code = code[np.lexsort((-code, first, row))]
    missed_code = np.searchsorted(levels, missed.grade)
    tied = _pairs_in_runs(size, row, first) - _pairs_in_runs(size, row, first, code)
    tied += _pairs_in_runs(size, missed.row) - _pairs_in_runs(size, missed.row, missed_code)
    found, lost = np.bincount(row, minlength=size), np.bincount(missed.row, minlength=size)
    start = np.cumsum(found + lost) - found - lost
    codes = np.empty(row.size + missed.row.size, np.int64)
    codes[start[row] + ordinal_in_row(row) - 1] = code
    codes[(start + found)[missed.row] + missed.rank - 1] = missed_code
    rows = np.repeat(np.arange(size), found + lost)
    alike = np.sort(rows * levels.size + codes)
    pairs = _pairs_in_runs(size, rows) - _pairs_in_runs(size, alike // levels.size, alike)
    return _rising_pairs(rows, codes, size), tied, pairs


def _pairs_in_runs(size: int, row: Ints, *keys: Ints | Floats) -> Floats:
    """How many pairs each row has within stretches in which all keys stay the same."""
    if not row.size:
        return np.zeros(size)
    changes = row[1:] != row[:-1]
    for key in keys:
        changes = changes | (key[1:] != key[:-1])
    starts = np.concatenate(([0], np.flatnonzero(changes) + 1))
    lengths = np.diff(starts, append=row.size)
    return np.asarray(np.bincount(row[starts], lengths * (lengths - 1) / 2.0, minlength=size), np.float64)


def _rising_pairs(row: Ints, codes: Ints, size: int) -> Floats:
    """How many pairs of each row rise: the earlier code is lower than the later one.

    From the highest bit of the codes to the lowest: two codes with the same higher bits rise if the earlier has a 0 and
    the later a 1. Then those with a 0 and those with a 1 go their own ways, in their order. That takes as many steps as
    the number of levels has bits, whatever the lists.

    >>> _rising_pairs(np.array([0, 0, 0, 1, 1]), np.array([1, 0, 2, 0, 5]), 2).tolist()
    [2.0, 1.0]
    """
    rising = np.zeros(size)
    if not row.size:
        return rising
    length = np.bincount(row, minlength=size)
    end = np.cumsum(length)[row]
    start = end - length[row]
    for bit in reversed(range(int(codes.max()).bit_length())):
        is_one = (codes >> bit) & 1 == 1
        zeros = np.concatenate(([0], np.cumsum(~is_one)))
        before = zeros[:-1] - zeros[start]
        rising += np.bincount(row[is_one], before[is_one], minlength=size)
        if bit:
            middle = start + zeros[end] - zeros[start]
            place = np.where(is_one, middle + np.arange(row.size) - start - before, start + before)
            moved = np.empty((3, row.size), np.int64)
            moved[:, place] = codes, np.where(is_one, middle, start), np.where(is_one, end, middle)
            codes, start, end = moved
    return rising
