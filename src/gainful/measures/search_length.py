"""Search length, half-life, and normalised recall and precision.

For lengths, lower is better and no value is the worst. K. Järvelin and J. Kekäläinen, ACM TOIS 20(4), 2002, section
2.4, compare cumulated gain with these measures.
"""

from __future__ import annotations

import math

import numpy as np

from gainful.data.lists import ordinal_in_row
from gainful.kernel.arrays import Floats, Ints
from gainful.measures.base import Graded
from gainful.measures.block import Block, ratios
from gainful.measures.contingency import RankedCollection, collection_size

_ANYWHERE = "relevant documents not retrieved are expected in the middle of a smaller rest"


class _OfRanks(RankedCollection, takes="N unretrieved tied rel level unjudged"):
    """A measure of the ranks of all relevant documents, with the usual parameters."""


class ASL(_OfRanks):
    """Average search length: the mean rank of the relevant documents.

    Formula:
        ASL = (sum of the ranks of all relevant documents) / n, n = relevant judged documents

    Conventions:
        - relevant documents not retrieved have their expected rank after the m retrieved ones, (m + 1 + N) / 2, where N
          is the size of the collection; with unretrieved=bottom, the last ranks
        - undefined without relevant documents, or if one was not retrieved and N is not given
        - tied=expected gives documents with equal scores the mean of their ranks
        - no worst value: missing=zero and undefined=zero exclude the query

    Reference:
        Losee, Text Retrieval and Filtering, 1998; Järvelin and Kekäläinen, TOIS 2002, section 2.4

    Example:
        Relevant documents at ranks 1 and 3, one missed: its expected rank is (4 + 1 + 10) / 2 = 7.5.

        >>> round(gainful.parse("ASL(N=10)").score([2, 0, 1, 0], unretrieved=[1]), 4)
        3.8333
        >>> gainful.parse("ASL").score([2, 0, 1, 0])
        2.0
    """

    name = "ASL"
    better = "lower"
    bounds = (1.0, math.inf)
    exempt = {"append": f"in a longer list, {_ANYWHERE}"}

    def compute(self, block: Block) -> Floats:
        return ratios(self._rank_sum(block, collection_size(self, block, self.N)), self._base(block))


class ESL(RankedCollection, takes="n count N unretrieved tied rel level unjudged"):
    """Expected search length: non-relevant documents read until n relevant ones are found.

    Formula:
        ESL = j + i s / (r + 1); with count=all, plus n

    Documents with equal scores form a level. The n-th relevant document is in the final level, which has r relevant and
    i non-relevant documents; j non-relevant documents come before it, and s relevant ones are needed in it.

    Conventions:
        - n is 1 by default; fewer than n relevant documents: undefined
        - count=all also counts the n relevant documents
        - the N - m documents not retrieved form the last level, where N is the size of the collection and m the number
          retrieved; without N, undefined if n is reached only there
        - unretrieved=bottom puts relevant documents at the end of that level
        - with tied=policy there are no levels: the policy breaks ties, and ESL is j
        - unjudged documents are not relevant
        - no worst value: missing=zero and undefined=zero exclude the query

    Reference:
        Cooper, Expected search length, American Documentation 19, 1968; for count=all, Järvelin and Kekäläinen 2002

    Example:
        One non-relevant document, then four with equal scores, two of them relevant: 1 + 2 * 1 / (2 + 1).

        >>> scores = {"a": 2.0, "b": 1.0, "c": 1.0, "d": 1.0, "e": 1.0}
        >>> round(gainful.evaluate({"q": {"b": 1, "e": 1}}, {"q": scores}, "ESL").mean("ESL"), 4)
        1.6667
    """

    name = "ESL"
    better = "lower"
    bounds = (0.0, math.inf)
    exempt = {"append": f"in a longer list, {_ANYWHERE}"}
    n, count, tied = 1, "nonrelevant", "expected"

    def compute(self, block: Block) -> Floats:
        size, base = collection_size(self, block, self.N), self._base(block)
        relevant = base - self._missed(block)
        scores = np.full(block.size, np.nan)
        if size is not None:
            scores = self._length(
                block.retrieved - relevant, size - block.retrieved, base - relevant, self.n - relevant
            )
            if self.unretrieved == "bottom":
                scores = np.asarray(size - base, np.float64)
        row, before, length, in_level = self._final_levels(block)
        scores[row] = self._length(before[0] - before[1], length, in_level, self.n - before[1])
        scores[base < self.n] = np.nan
        return scores + (self.n if self.count == "all" else 0)

    def _length(self, before: Ints, length: Ints, relevant: Ints, needed: Ints) -> Floats:
        """Return the non-relevant documents before the final level plus those expected in it."""
        return np.asarray(before + (length - relevant) * needed / (relevant + 1.0))

    def _final_levels(self, block: Block) -> tuple[Ints, tuple[Ints, Ints], Ints, Ints]:
        """Return the row, the counts before the final level (all, relevant), and those in it, if it was retrieved."""
        places = self._places(block)
        starts = np.flatnonzero((np.diff(places.row, prepend=-1) != 0) | (np.diff(places.first, prepend=-1) != 0))
        sizes = np.diff(starts, append=places.row.size)
        found_before = ordinal_in_row(places.row)[starts] - 1
        final = (found_before < self.n) & (found_before + sizes >= self.n)
        first, end = places.first[starts][final], places.last[starts][final]
        return places.row[starts][final], (first - 1, found_before[final]), end - first + 1, sizes[final]


class RankedHalfLife(Graded):
    """Ranked half-life: the rank at which a list reaches half of its total gain.

    Formula:
        RankedHalfLife = (i - 1) + (T / 2 - CG[i - 1]) / G[i]

    T is the gain of the whole list, i the first rank with CG[i] >= T / 2, and G[i] its gain.

    Conventions:
        - relative to the list's own gain: a list with little gain can have a short half-life
        - interpolated within rank i, so generally not an integer
        - unjudged documents and negative grades have gain 0
        - no documents with a gain in the list: undefined
        - no worst value: missing=zero and undefined=zero exclude the query

    Reference:
        Borlund and Ingwersen, Measures of relative relevance and ranked half-life, SIGIR 1998

    Example:
        The total gain is 16, half of it is reached at rank 3: 2 + (8 - 5) / 3.

        >>> gainful.parse("RankedHalfLife").score([3, 2, 3, 0, 0, 1, 2, 2, 3, 0])
        3.0
    """

    name = "RankedHalfLife"
    better = "lower"
    bounds = (0.0, math.inf)
    exempt = {"perfect": "a list with less gain reaches half of it sooner"}

    #: Tolerance for sums that equal T/2 apart from rounding: the next rank with a gain could be far away.
    _ROUNDING = 1e-12

    def compute(self, block: Block) -> Floats:
        lists = self._run_lists(block)
        scores = np.full(block.size, np.nan)
        if not lists.row.size:
            return scores
        # Only ranks with a gain, as columns: the first, the second, ...
        place = ordinal_in_row(lists.row) - 1
        gains = np.zeros((block.size, int(place.max()) + 1))
        gains[lists.row, place] = lists.gain
        row, cumulated = np.flatnonzero(np.bincount(lists.row, minlength=block.size)), np.cumsum(gains, axis=1)
        total = cumulated[row, -1]
        at = (cumulated[row] >= total[:, None] * (0.5 - self._ROUNDING)).argmax(axis=1)
        before = np.where(at > 0, cumulated[row, at - 1], 0.0)
        first = np.flatnonzero(place == 0)
        scores[row] = lists.rank[first + at] - 1 + np.minimum((total / 2 - before) / gains[row, at], 1.0)
        return scores


_EXEMPT = {"append": "a longer list leaves fewer ranks for missed documents; without N it is a larger collection"}


class NormRecall(_OfRanks):
    """Normalised recall: the probability that a relevant document ranks above a non-relevant one (ROC AUC).

    Formula:
        NormRecall = 1 - (sum of the ranks of all relevant documents - n (n + 1) / 2) / (n (N - n))

    N is the size of the collection, n the number of relevant documents.

    Conventions:
        - relevant documents not retrieved have their expected rank after the m retrieved ones, (m + 1 + N) / 2; with
          unretrieved=bottom, the last ranks
        - without N, the list is the whole collection; undefined if a relevant document was not retrieved
        - tied=expected gives documents with equal scores the mean of their ranks
        - no relevant documents, or only relevant ones in the collection: undefined

    Agrees with:
        scikit-learn roc_auc_score over all documents in the collection (tied=expected)

    Reference:
        Rocchio, Document retrieval systems, 1966; Salton and McGill, Introduction to Modern Information Retrieval, 1983

    Example:
        Ranks 1 and 3 of 5 instead of 1 and 2: 1 - (4 - 3) / (2 * 3).

        >>> round(gainful.parse("NormRecall(N=5)").score([2, 0, 1, 0]), 4)
        0.8333
    """

    name = "NormRecall"
    exempt = _EXEMPT

    def compute(self, block: Block) -> Floats:
        size, base = collection_size(self, block, self.N), self._base(block).astype(np.float64)
        worse = self._rank_sum(block, size) - base * (base + 1.0) / 2.0
        return 1.0 - ratios(worse, base * ((block.retrieved if size is None else size) - base))


class NormPrecision(_OfRanks):
    """Normalised precision: normalised recall with logarithms of ranks, which emphasise the top.

    Formula:
        NormPrecision = 1 - (sum of ln(rank) of all relevant documents - ln n!) / ln C(N, n)

    N is the size of the collection, n the number of relevant documents, C(N, n) = N! / (n! (N - n)!).

    Conventions:
        - relevant documents not retrieved have their expected ln(rank) after the m retrieved ones, the mean of ln j for
          j = m + 1 to N; with unretrieved=bottom, the last ranks
        - without N, the list is the whole collection; undefined if a relevant document was not retrieved
        - tied=expected gives documents with equal scores the mean of the logarithms of their ranks
        - no relevant documents, or only relevant ones in the collection: undefined

    Reference:
        Rocchio, Document retrieval systems, 1966; Salton and McGill, Introduction to Modern Information Retrieval, 1983

    Example:
        Ranks 1 and 3 of 5: 1 - (ln 3 - ln 2) / ln 10.

        >>> round(gainful.parse("NormPrecision(N=5)").score([2, 0, 1, 0]), 4)
        0.8239
    """

    name = "NormPrecision"
    exempt = _EXEMPT

    def compute(self, block: Block) -> Floats:
        size, base, missed = collection_size(self, block, self.N), self._base(block), self._missed(block)
        factorials = np.append(0.0, np.cumsum(np.log(np.arange(1.0, block.width + 1.0))))
        places = self._places(block)
        logs = np.log(places.rank)
        shared = places.last > places.first
        first, end = places.first[shared], places.last[shared]
        logs[shared] = (factorials[end] - factorials[first - 1]) / (end - first + 1.0)
        worse = np.bincount(places.row, logs, minlength=block.size) - factorials[base]
        # Relevant documents not retrieved.
        if size is None:
            worse[missed > 0] = np.nan
        elif self.unretrieved == "bottom":
            worse += _log_falling(size, int(missed.max(initial=0)))[missed]
        else:
            before = np.array([math.lgamma(length + 1.0) for length in block.retrieved.tolist()])
            worse += missed * (math.lgamma(size + 1.0) - before) / np.maximum(size - block.retrieved, 1)
        all_retrieved = np.maximum(block.retrieved, base)  # where less was retrieved it is undefined anyway
        falling = (
            factorials[all_retrieved] - factorials[all_retrieved - base]
            if size is None
            else _log_falling(size, int(base.max(initial=0)))[base]
        )
        length = block.retrieved if size is None else size
        # Clip rounding errors beyond the best and the worst ranking.
        scores = 1.0 - ratios(worse, np.where((base == 0) | (base == length), 0.0, falling - factorials[base]))
        return np.clip(scores, 0.0, 1.0)


def _log_falling(size: int, most: int) -> Floats:
    """Return ln(N! / (N - i)!) for i = 0 to ``most``, as a sum: subtracting large log factorials loses digits."""
    return np.concatenate(([0.0], np.cumsum(np.log(size - np.arange(float(most))))))
