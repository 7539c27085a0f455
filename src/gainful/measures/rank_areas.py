"""Normalised recall and precision: where a ranking of the collection lies between the best one and the worst."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gainful.arrays import Floats, Ints
from gainful.measures.arithmetic import Arithmetic, Step, last
from gainful.measures.block import Block
from gainful.measures.collection import RankedCollection, collection_size, unknown_size
from gainful.measures.precision import ratio

_EXEMPT = {"append": "a longer list leaves less for what it misses; without N it is a larger collection"}
_UNDEFINED = "nothing is relevant, or everything is"


@dataclass(frozen=True, eq=False, repr=False)
class NormRecall(RankedCollection):
    """Normalised recall: the chance that a relevant document stands before a non-relevant one (the ROC area).

    Formula:
        NormRecall = 1 - (sum of the ranks of all relevant documents - n (n + 1) / 2) / (n (N - n))

    N is the size of the collection, n the number of relevant documents.

    Conventions:
        - a relevant document that was not retrieved stands anywhere after the m retrieved ones: it has rank
          (m + 1 + N) / 2; with unretrieved=bottom such documents have the last ranks
        - without N the list is taken for the whole collection, and a relevant document that was not retrieved makes it
          undefined
        - tied=expected gives documents of equal score the mean of their ranks
        - nothing relevant, or the whole collection: undefined

    Agrees with:
        scikit-learn roc_auc_score over all documents of the collection (tied=expected)

    Reference:
        Rocchio, Document retrieval systems, 1966; Salton and McGill, Introduction to Modern Information Retrieval, 1983

    Example:
        Ranks 1 and 3 of 5 instead of 1 and 2: 1 - (4 - 3) / (2 * 3).

        >>> from gainful import parse
        >>> round(parse("NormRecall(N=5)").score([2, 0, 1, 0]), 4)
        0.8333
    """

    name = "NormRecall"
    at = None
    exempt = _EXEMPT
    N: int | None = None
    unretrieved: str = "expected"
    tied: str = "policy"
    rel: float | None = None
    level: float | None = None
    unjudged: str | None = None

    def compute(self, block: Block) -> Floats:
        size, base = collection_size(self, block, self.N), self._base(block).astype(np.float64)
        worse = self._rank_sum(block, size) - base * (base + 1.0) / 2.0
        return 1.0 - ratio(worse, base * ((block.retrieved if size is None else size) - base))

    def arithmetic(self, block: Block) -> Arithmetic:
        columns, base = self._by_rank(block), int(self._base(block)[0])
        size = int(block.retrieved[0]) if self.N is None else self.N
        ranks = np.nan_to_num(columns["counted rank"])
        columns["sum of ranks"] = np.cumsum(ranks)
        total = last(columns["sum of ranks"])
        steps = [Step.sum_of("ranks of the retrieved", ranks, total)]
        missed = self._missed_step(block, self.N)
        if missed is not None:
            steps.append(missed)
            total += missed.value
        if math.isnan(total):
            final = unknown_size(str(self))
        elif base in (0, size):
            final = Step(str(self), "", (), math.nan, _UNDEFINED)
        else:
            value = 1 - (total - base * (base + 1) / 2) / (base * (size - base))
            numbers = (total, base, base, base, size, base)
            final = Step(str(self), "1 - ({} - {} * ({} + 1) / 2) / ({} * ({} - {}))", numbers, value)
        return Arithmetic(columns, (*steps, final), adds="relevant", running="sum of ranks")


@dataclass(frozen=True, eq=False, repr=False)
class NormPrecision(RankedCollection):
    """Normalised precision: as normalised recall, but by the logarithms of ranks, so that the top counts most.

    Formula:
        NormPrecision = 1 - (sum of ln(rank) of all relevant documents - ln n!) / ln C(N, n)

    N is the size of the collection, n the number of relevant documents, C(N, n) = N! / (n! (N - n)!).

    Conventions:
        - a relevant document that was not retrieved stands anywhere after the m retrieved ones: its ln(rank) is the
          mean of ln j for j = m + 1 to N; with unretrieved=bottom such documents have the last ranks
        - without N the list is taken for the whole collection, and a relevant document that was not retrieved makes it
          undefined
        - tied=expected gives documents of equal score the mean of the logarithms of their ranks
        - nothing relevant, or the whole collection: undefined

    Reference:
        Rocchio, Document retrieval systems, 1966; Salton and McGill, Introduction to Modern Information Retrieval, 1983

    Example:
        Ranks 1 and 3 of 5: 1 - (ln 3 - ln 2) / ln 10.

        >>> from gainful import parse
        >>> round(parse("NormPrecision(N=5)").score([2, 0, 1, 0]), 4)
        0.8239
    """

    name = "NormPrecision"
    at = None
    exempt = _EXEMPT
    N: int | None = None
    unretrieved: str = "expected"
    tied: str = "policy"
    rel: float | None = None
    level: float | None = None
    unjudged: str | None = None

    def compute(self, block: Block) -> Floats:
        size, base, missed = collection_size(self, block, self.N), self._base(block), self._missed(block)
        factorials = _log_factorials(block.width)
        row, logs = self._logs(block, factorials)
        worse = np.bincount(row, logs, minlength=block.size) - factorials[base]
        worse += self._missed_logs(missed, block.retrieved)
        all_retrieved = np.maximum(block.retrieved, base)  # where less was retrieved it is undefined anyway
        falling = (
            factorials[all_retrieved] - factorials[all_retrieved - base]
            if size is None
            else _log_falling(size, int(base.max(initial=0)))[base]
        )
        length = block.retrieved if size is None else size
        # Between the best and the worst ranking; only rounding could make it more or less.
        scores = 1.0 - ratio(worse, np.where((base == 0) | (base == length), 0.0, falling - factorials[base]))
        return np.clip(scores, 0.0, 1.0)

    def _logs(self, block: Block, factorials: Floats) -> tuple[Ints, Floats]:
        """ln(rank) of the relevant documents that were retrieved."""
        places = self._places(block)
        logs = np.log(places.rank)
        shared = places.last > places.first
        first, end = places.first[shared], places.last[shared]
        logs[shared] = (factorials[end] - factorials[first - 1]) / (end - first + 1.0)
        return places.row, logs

    def _missed_logs(self, missed: Ints, retrieved: Ints) -> Floats:
        """The sum of ln(rank) of the relevant documents that were not."""
        if self.N is None:
            return np.where(missed > 0, np.nan, 0.0)
        if self.unretrieved == "bottom":
            return _log_falling(self.N, int(missed.max(initial=0)))[missed]
        rest = np.maximum(self.N - retrieved, 1)
        before = np.array([math.lgamma(length + 1.0) for length in retrieved.tolist()])
        return missed * (math.lgamma(self.N + 1.0) - before) / rest

    def arithmetic(self, block: Block) -> Arithmetic:
        columns, base = self._by_rank(block), int(self._base(block)[0])
        columns.pop("counted rank")
        relevant = columns["relevant"] > 0
        columns["ln(rank)"] = np.full(relevant.size, np.nan)
        columns["ln(rank)"][relevant] = self._logs(block, _log_factorials(block.width))[1]
        logs = np.nan_to_num(columns["ln(rank)"])
        columns["sum of ln(rank)"] = np.cumsum(logs)
        total = last(columns["sum of ln(rank)"])
        steps = [Step.sum_of("logarithms of the retrieved", logs, total)]
        missed, size = self._missed(block), int(block.retrieved[0]) if self.N is None else self.N
        if missed[0]:
            name, value = "logarithms of the unretrieved", float(self._missed_logs(missed, block.retrieved)[0])
            where = (
                f"ln j, j = {size - missed[0] + 1} to {size}"
                if self.unretrieved == "bottom"
                else f"{missed[0]} times the mean of ln j, j = {block.retrieved[0] + 1} to {size}"
            )
            steps.append(unknown_size(name) if self.N is None else Step(name, "", (), value, where))
            total += value
        if math.isnan(total):
            final = unknown_size(str(self))
        elif base in (0, size):
            final = Step(str(self), "", (), math.nan, _UNDEFINED)
        else:
            best, ways = math.lgamma(base + 1), float(_log_falling(size, base)[base]) - math.lgamma(base + 1)
            steps += [Step("ln n!", "", (), best, f"n = {base}"), Step("ln C(N, n)", "", (), ways, f"N = {size}")]
            value = min(1.0, max(0.0, 1 - (total - best) / ways))
            final = Step(str(self), "1 - ({} - {}) / {}", (total, best, ways), value)
        return Arithmetic(columns, (*steps, final), adds="relevant", running="sum of ln(rank)")


def _log_factorials(highest: int) -> Floats:
    """ln 0!, ln 1!, ..., ln highest!"""
    return np.concatenate(([0.0], np.cumsum(np.log(np.arange(1.0, highest + 1.0)))))


def _log_falling(size: int, most: int) -> Floats:
    """ln(N! / (N - i)!) for i = 0 to ``most``: added up, because the difference of large factorials has lost digits."""
    return np.concatenate(([0.0], np.cumsum(np.log(size - np.arange(float(most))))))
