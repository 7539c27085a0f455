"""Measures of the system's scores, not only of their order.

Also the base of distance measures: two scores per document from 0 to 1, the user's (URS) and the system's (SRS).
"""

from __future__ import annotations

import math
from typing import NamedTuple, cast

import numpy as np

from gainful.data.lists import Documents, is_relevant, ordinal_in_row
from gainful.errors import InputError
from gainful.gains import Gain
from gainful.kernel.arrays import Bools, Floats, Ints
from gainful.measures.base import OfGains, Usual
from gainful.measures.block import Block, ratios
from gainful.notation import number_text, printable

#: Tolerance for comparing scores with limits.
ROUNDING = 1e-12

_MOST = np.finfo(np.float64).max

#: Range of scores that each SRS can be made from: lowest, highest, description, hint.
_NEEDED = {
    "score": (0.0, 1.0, "from 0 to 1", "srs=minmax, max, ratio or exp rescale them"),
    "minmax": (-_MOST, _MOST, "that are finite", None),
    **dict.fromkeys(("max", "ratio", "exp"), (0.0, _MOST, "of at least 0", "srs=minmax accepts any")),
}


class Compared(NamedTuple):
    """The documents that count, with both scores: first retrieved ones by rank, then missed ones."""

    row: Ints
    rank: Ints  # of retrieved documents
    srs: Floats
    urs: Floats
    documents: Ints  # number that count, per query
    rest: Ints  # number of these left out because both scores are 0

    def number(self, chosen: Bools) -> Ints:
        """Count the chosen documents of each query."""
        return np.bincount(self.row[chosen], minlength=self.documents.size)


class _CutLists(NamedTuple):
    """The row and rank of all documents down to the cutoff, and the start of each list."""

    row: Ints
    rank: Ints
    start: Ints

    @classmethod
    def of(cls, block: Block, cutoff: int) -> _CutLists:
        length = np.minimum(block.retrieved, cutoff)
        start = np.cumsum(length) - length
        row = np.repeat(np.arange(block.size), length)
        return cls(row, np.arange(1, row.size + 1) - start[row], start)

    def place(self, row: Ints, rank: Ints) -> Ints:
        """Return the index of the documents at these ranks."""
        return self.start[row] + rank - 1


class Estimating(Usual):
    """A measure that compares two scores per document; subclasses take these parameters and the usual ones."""

    exempt = {
        "perfect": "a perfect order need not have correct estimates",
        "swap": "a document that moves up may become overestimated, or start to count",
        "append": "an added unjudged document counts, and changes the minimum of srs=minmax",
    }

    over, srs = cast("str | int", "retrieved+relevant"), "rank"
    urs = cast("Gain | str", Gain("scaled"))
    srs_levels = urs_levels = cast("int | None", None)
    cutoff = 1000

    def needed(self) -> frozenset[str]:
        return super().needed() | ({"scores"} if self.srs != "rank" else frozenset())

    def check(self, levels: Floats) -> None:
        if isinstance(self.urs, Gain):
            self.urs.check(levels)
        elif levels.size and levels[-1] > 1:
            message = f"{self}: expected grades up to 1 with urs=given, found {number_text(levels[-1])}"
            raise InputError(message, "urs=scaled divides them by the scale")

    def compared(self, block: Block) -> Compared:
        """Return the documents that count, with their scores."""
        key = (self.over, self.srs, self.urs, self.srs_levels, self.urs_levels, self.rel, self.cutoff)
        return block.cached(("compared", *key), lambda: self._compare(block))

    def _compare(self, block: Block) -> Compared:
        hits, missed = self._hits(block), self.missed(block)
        urs = self._urs(hits.grade, block.scale)
        if self.over in ("relevant", "judged"):
            row, rank = hits.row, hits.rank
        else:
            lists = self._lists(block)
            row, rank, of_hits = lists.row, lists.rank, urs
            urs = np.zeros(row.size)
            urs[lists.place(hits.row, hits.rank)] = of_hits
        srs, row_of_all = self._srs(block, row, rank), np.concatenate((row, missed.row))
        count = np.bincount(row_of_all, minlength=block.size)
        rest = np.zeros(block.size, np.int64)
        if isinstance(self.over, int):
            rest = self.over - count
            if rest.min(initial=0) < 0:
                worst = int(rest.argmin())
                query = printable(block.graded.query_ids[block.queries[worst]])
                raise InputError(
                    f"{block.graded.source}: {self}: query '{query}' has {count[worst]:,} documents retrieved or "
                    "relevant, more than the collection",
                    "over is the number of documents that the system searched",
                )
        return Compared(
            row_of_all,
            rank,
            np.concatenate((_in_levels(srs, self.srs_levels), np.zeros(missed.row.size))),
            _in_levels(np.concatenate((urs, self._urs(missed.grade, block.scale))), self.urs_levels),
            count + rest,
            rest,
        )

    def _lists(self, block: Block) -> _CutLists:
        return block.cached(("cut lists", self.cutoff), lambda: _CutLists.of(block, self.cutoff))

    def _hits(self, block: Block) -> Documents:
        """Return the judged documents in the lists that count."""
        hits = block.hits
        counts = hits.rank <= self.cutoff
        if self.over == "relevant":
            counts &= is_relevant(hits.grade, self.rel, None)
        return Documents(hits.row[counts], hits.rank[counts], hits.grade[counts])

    def missed(self, block: Block) -> Documents:
        """Return the missed documents that count; ``rank`` is their rank among all missed, best first."""
        if self.over == "retrieved":
            return Documents(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
        missed = block.missed_after(self.cutoff)
        return missed if self.over == "judged" else missed.relevant(self.rel, None)

    def _urs(self, grades: Floats, scale: float) -> Floats:
        if isinstance(self.urs, Gain):
            return self.urs.scaled_to_1(grades, scale)
        return np.maximum(grades, 0.0)

    def _srs(self, block: Block, row: Ints, rank: Ints) -> Floats:
        if self.srs == "rank":
            by_rank = (self.cutoff - np.arange(0.0, float(rank.max(initial=0)))) / self.cutoff
            return np.asarray(by_rank[rank - 1])
        lists = self._lists(block)
        estimates = block.cached(("SRS", self.srs, self.cutoff), lambda: self._by_score(block, lists))
        return estimates if rank is lists.rank else np.asarray(estimates[lists.place(row, rank)])

    def _by_score(self, block: Block, lists: _CutLists) -> Floats:
        scores: Floats = block.graded.score[block.graded.list_offsets[block.queries][lists.row] + lists.rank - 1]
        low, high, expected, hint = _NEEDED[self.srs]
        wrong = np.flatnonzero((scores < low) | (scores > high))
        if wrong.size:
            query = block.graded.query_ids[block.queries[lists.row[wrong[0]]]]
            raise InputError(
                f"{block.graded.source}: expected scores {expected} for {self}, found {scores[wrong[0]]:g} at rank "
                f"{lists.rank[wrong[0]]} of query '{printable(query)}'",
                hint,
            )
        if self.srs == "score":
            return scores
        if self.srs == "ratio":
            return np.asarray(scores / (1.0 + scores))
        if self.srs == "exp":
            return np.asarray(-np.expm1(-scores))
        return _relative(scores, lists, from_lowest=self.srs == "minmax")


def _in_levels(scores: Floats, levels: int | None) -> Floats:
    """Round scores down to equal parts of [0, 1], and spread these over [0, 1]."""
    if levels is None:
        return scores
    return np.minimum(np.floor(scores * levels + ROUNDING * levels), levels - 1.0) / (levels - 1.0)


def _relative(scores: Floats, lists: _CutLists, *, from_lowest: bool) -> Floats:
    """Scale scores to the highest of their list, and to the lowest or to 0."""
    if not scores.size:
        return scores
    size = lists.start.size
    filled = np.bincount(lists.row, minlength=size) > 0
    low, high = np.zeros(size), np.zeros(size)
    high[filled] = np.maximum.reduceat(scores, lists.start[filled])
    if from_lowest:
        low[filled] = np.minimum.reduceat(scores, lists.start[filled])
    # Halves, because the difference between two finite numbers can overflow.
    spread, above = (high / 2 - low / 2)[lists.row], scores / 2 - (low / 2)[lists.row]
    same = spread == 0
    return np.where(same, 1.0 if from_lowest else 0.0, above / np.where(same, 1.0, spread))


#: Below the exponent of any float.
_LOWEST = -(1 << 12)


class RelativeRelevance(OfGains, takes="gain coef rel level unjudged"):
    """Relative relevance: the similarity of the system's scores and the user's grades.

    Formula:
        RelativeRelevance = sum of s u / sqrt(sum of s^2 * sum of u^2)

    With coef=jaccard it is sum of s u / (sum of s^2 + sum of u^2 - sum of s u). Sums are over retrieved documents; s is
    a document's score, u its gain (by default the user's grade).

    Conventions:
        - the papers call it RR, which here is reciprocal rank
        - unjudged documents and negative grades have u = 0; unjudged=condensed removes unjudged documents
        - scores count, including negative ones; the order of the list does not
        - undefined if all scores or all gains of the list are 0; with coef=jaccard, if both are
        - a run without scores is an error

    Agrees with:
        scikit-learn cosine_similarity

    Reference:
        Borlund and Ingwersen, Measures of relative relevance and ranked half-life, SIGIR 1998; Järvelin and Kekäläinen,
        TOIS 2002, section 2.4

    Example:
        Scores 2 and 1, grades 1 and 2: (2 * 1 + 1 * 2) / sqrt(5 * 5).

        >>> result = gainful.evaluate({"q": {"a": 1, "b": 2}}, {"q": {"a": 2.0, "b": 1.0}}, "RelativeRelevance")
        >>> round(result.mean("RelativeRelevance"), 4)
        0.8
    """

    name = "RelativeRelevance"
    bounds = (-1.0, 1.0)
    needs = frozenset({"scores"})
    exempt = {
        "perfect": "scores in perfect order need not be proportional to the grades",
        "append": "an added unjudged document has a score but gain 0",
    }
    coef = "cosine"

    def compute(self, block: Block) -> Floats:
        lists, (row, scores) = self._run_lists(block), block.list_scores
        places = np.concatenate(([0], np.cumsum(block.retrieved)))[lists.row] + lists.rank - 1
        of_scores, of_gains = _exponents(row, scores, block.size), _exponents(lists.row, lists.gain, block.size)
        if self.coef == "jaccard":  # unchanged only if both are divided by the same number
            of_scores = of_gains = np.maximum(of_scores, of_gains)
        s, u = _scaled(row, scores, of_scores), _scaled(lists.row, lists.gain, of_gains)
        with np.errstate(invalid="ignore"):
            su = np.bincount(lists.row, s[places] * u, minlength=block.size)
            ss = np.bincount(row, s * s, minlength=block.size)
            uu = np.bincount(lists.row, u * u, minlength=block.size)
            divisor = ss + uu - su if self.coef == "jaccard" else np.sqrt(ss) * np.sqrt(uu)
            return np.clip(ratios(su, divisor), -1.0, 1.0)


def _exponents(row: Ints, values: Floats, size: int) -> Ints:
    """Return the power of 2 just above the largest value of each row; a very low one if all are 0."""
    exponents = np.full(size, _LOWEST)
    if row.size:
        starts = np.flatnonzero(np.diff(row, prepend=-1))
        largest = np.maximum.reduceat(np.abs(values), starts)
        exponents[row[starts]] = np.where(largest > 0, np.frexp(largest)[1], _LOWEST)
    return exponents


def _scaled(row: Ints, values: Floats, exponents: Ints) -> Floats:
    """Divide values by powers of 2, which is exact, if their squares would overflow or underflow."""
    shift = np.where(np.abs(exponents) > 300, exponents, 0)[row]
    return np.ldexp(values, -shift) if shift.any() else values


class SwetsE(Usual, takes="rel level"):
    """Swets's E: the separation between the scores of relevant and non-relevant documents.

    Formula:
        SwetsE = (m1 - m2) / ((s1 + s2) / 2)

    m1 and s1 are the mean and standard deviation of the scores of relevant documents, m2 and s2 of non-relevant ones.

    Conventions:
        - only retrieved judged documents count
        - population standard deviations: the sum of squares is divided by the number of documents
        - undefined without relevant or non-relevant documents, or if both deviations are 0
        - higher is better; 0 if the means are equal, negative if relevant documents have lower scores
        - relevant is grade > 0, with rel=g grade >= g, with level=g grade = g
        - a run without scores is an error

    Reference:
        Swets, Effectiveness of Information Retrieval Methods, 1967

    Example:
        Relevant documents score 5 and 3, others 2 and 0: means 4 and 1, deviations 1 and 1.

        >>> qrels = {"q": {"a": 1, "b": 2, "c": 0, "d": 0}}
        >>> gainful.evaluate(qrels, {"q": {"a": 5.0, "b": 3.0, "c": 2.0, "d": 0.0}}, "SwetsE").mean("SwetsE")
        3.0
    """

    name = "SwetsE"
    bounds = (-math.inf, math.inf)
    needs = frozenset({"scores"})
    exempt = {
        "perfect": "it measures distances of scores, and requires non-relevant documents",
        "swap": "a higher score for a relevant document can raise the deviation more than the mean",
    }

    def compute(self, block: Block) -> Floats:
        hits = block.hits
        relevant = is_relevant(hits.grade, self.rel, self.level)
        scores = _scaled(hits.row, block.hit_scores, _exponents(hits.row, block.hit_scores, block.size))
        kinds = (_spread(hits.row[kind], scores[kind], block.size) for kind in (relevant, ~relevant))
        (ours, deviation), (theirs, deviation_of_theirs) = kinds
        with np.errstate(invalid="ignore"):
            return ratios(ours - theirs, (deviation + deviation_of_theirs) / 2.0)


def _spread(row: Ints, scores: Floats, size: int) -> tuple[Floats, Floats]:
    """Return the mean and the standard deviation of scores per row; NaN without scores."""
    count, first, starts = np.bincount(row, minlength=size), np.zeros(size), ordinal_in_row(row) == 1
    first[row[starts]] = scores[starts]
    # Distances from the first score, so that equal scores deviate by exactly 0.
    with np.errstate(invalid="ignore"):
        distance = scores - first[row]
        mean = ratios(np.bincount(row, distance, minlength=size), count)
        squares = np.bincount(row, (distance - mean[row]) ** 2, minlength=size)
        return first + mean, np.sqrt(ratios(squares, count))
