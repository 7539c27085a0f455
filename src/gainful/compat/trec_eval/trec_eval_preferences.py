"""trec_eval's preference measures: which documents judges prefer, and how often a ranking agrees.

A judge (trec_eval: judgment group) prefers documents with a higher level. Judges may give levels in parts (sub-groups),
each for some of the documents; preferences that follow from two parts together also count. All measures are ratios of
fulfilled to possible preferences; they differ in the documents and judges that count.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from typing import Literal, NamedTuple

import numpy as np

from gainful.frozen import dataclass
from gainful.kernel.arrays import Bools, Floats, Ints


class Judgment(NamedTuple):
    """A line of preference judgments, or of several judges, ordered as trec_eval processes them."""

    topic: bytes
    judge: bytes
    part: bytes
    document: bytes
    level: float


#: Scopes of pairs: all, both documents retrieved, or at least one retrieved.
Scope = Literal["all", "both", "one"]


class Count(NamedTuple):
    """The numbers of fulfilled and possible preferences."""

    fulfilled: int
    possible: int

    @property
    def ratio(self) -> float:
        """The ratio; NaN if no preference is possible."""
        return self.fulfilled / self.possible if self.possible else math.nan


def counted(prefers: Bools, retrieved: int) -> Mapping[Scope, Count]:
    """Count the preferences (row to column) between documents in rank order.

    A preference is fulfilled if the preferred document is retrieved and ranked before the other, or the other is not
    retrieved.

    >>> counted(np.array([[0, 1, 1], [0, 0, 0], [0, 1, 0]], bool), 2)["all"]
    Count(fulfilled=2, possible=3)
    """
    found = prefers[:retrieved]
    kept, lost = int(found[:, retrieved:].sum()), int(prefers[retrieved:, :retrieved].sum())
    both = Count(int(np.triu(found[:, :retrieved], 1).sum()), int(found[:, :retrieved].sum()))
    one = Count(both.fulfilled + kept, both.possible + kept + lost)
    return {"both": both, "one": one, "all": Count(one.fulfilled, int(prefers.sum()))}


@dataclass(frozen=True)
class Judge:
    """A judge's levels of a topic's documents: one row per part, NaN without a level."""

    name: bytes
    documents: Ints  # indices of the topic's documents in ID order
    levels: Floats

    def preferences(self) -> Bools:
        """Whether the row's document is preferred to the column's, directly or through others."""
        prefers = np.logical_or.reduce([row[:, None] > row for row in self.levels])
        if len(self.levels) > 1:
            for between in range(len(prefers)):
                prefers |= prefers[:, between, None] & prefers[between]
        return np.asarray(prefers)

    def contradiction(self) -> str | None:
        """The conflict between parts; None if there is none."""
        if len(self.levels) == 1:
            return None
        if bool(((self.levels == 0).any(axis=0) & (self.levels > 0).any(axis=0)).any()):
            return "gives a document level 0 in one part and more in another"
        prefers = self.preferences()
        return "prefers a document to another and the other to it" if (prefers & prefers.T).any() else None


@dataclass(frozen=True)
class Ranked:
    """A judge's documents in rank order, and the number retrieved."""

    judge: Judge
    order: Ints
    retrieved: int

    @cached_property
    def prefers(self) -> Bools:
        """The preferences between documents in rank order."""
        return np.asarray(self.judge.preferences()[np.ix_(self.order, self.order)])

    @cached_property
    def counts(self) -> Mapping[Scope, Count]:
        return counted(self.prefers, self.retrieved)

    def balanced(self, scope: Scope) -> float:
        """Return the ratio with as many nonrelevant documents as relevant ones, R.

        Missing nonrelevant documents are added after all others; beyond R only the first count. For single-part
        judgments trec_eval also compares them with each other.
        """
        levels = self.judge.levels
        last = len(levels) - 1 - np.argmax(~np.isnan(levels[::-1]), axis=0)  # the last part that contains a document
        level = levels[last, np.arange(last.size)][self.order]
        is_relevant = level > 0
        is_one_part = len(levels) == 1
        is_other = level <= 0 if is_one_part else level == 0
        seen = self.retrieved if scope == "both" else level.size
        relevant, others = int(is_relevant[:seen].sum()), int(is_other[:seen].sum())
        if relevant >= others:
            more, found = relevant - others, int(is_relevant[: self.retrieved].sum())
            fulfilled, possible = self.counts[scope]
            return Count(fulfilled + found * more, possible + int(is_relevant.sum()) * more).ratio
        prefers = self.prefers.copy()
        if is_one_part:
            lowest = np.flatnonzero(level == level.min())
            prefers[:, lowest] = False
            prefers[:, lowest[:relevant]] = True
        else:
            dropped = np.flatnonzero(is_other)[int(is_relevant.sum()) :]
            prefers[dropped] = prefers[:, dropped] = False
        return counted(prefers, self.retrieved)[scope].ratio


class TopicPreferences:
    """The preferences of all judges of a topic, with a ranking of its documents."""

    def __init__(self, judges: Sequence[Judge], documents: int, hits: Ints) -> None:
        place = np.argsort(np.concatenate((hits, np.setdiff1d(np.arange(documents), hits))))
        self._places = [np.sort(place[judge.documents]) for judge in judges]
        self._judges = [
            Ranked(judge, np.argsort(place[judge.documents]), int(np.count_nonzero(places < hits.size)))
            for judge, places in zip(judges, self._places, strict=True)
        ]
        self._documents, self._retrieved = documents, hits.size

    def total(self, scope: Scope) -> Count:
        counts = [judge.counts[scope] for judge in self._judges]
        return Count(sum(count.fulfilled for count in counts), sum(count.possible for count in counts))

    def simple(self, scope: Scope) -> float:
        """The ratio over all preferences, counting shared ones once per judge."""
        return _or_zero(self.total(scope).ratio)

    def by_judge(self, scope: Scope) -> float:
        """The mean of the judges' ratios; judges without preferences count as 0."""
        return sum(_or_zero(judge.counts[scope].ratio) for judge in self._judges) / len(self._judges)

    def balanced(self, scope: Scope) -> float:
        """The mean of the judges' balanced ratios; 0 if a judge has none."""
        return _or_zero(sum(judge.balanced(scope) for judge in self._judges) / len(self._judges))

    @cached_property
    def _pairs(self) -> tuple[Ints, Ints, Floats]:
        """The pairs with a preference, as indices, and the share of judges who prefer the first document."""
        votes = np.zeros((self._documents, self._documents), np.int32)
        for judge, places in zip(self._judges, self._places, strict=True):
            votes[np.ix_(places, places)] += judge.prefers
        first, second = np.nonzero(np.triu(votes + votes.T))
        return first, second, votes[first, second] / (votes[first, second] + votes[second, first])

    def by_pair(self, scope: Scope) -> float:
        """The mean over pairs of the share of judges whose preference is fulfilled."""
        first, second, share = self._pairs
        both, one = second < self._retrieved, first < self._retrieved
        counts = int(np.count_nonzero({"both": both, "one": one, "all": np.ones_like(one)}[scope]))
        # Sum in trec_eval's order, to reproduce its last bits.
        shares = share[both] if scope == "both" else np.concatenate((share[both], share[one & ~both]))
        return float(np.cumsum(shares)[-1]) / counts if shares.size else 0.0


def _or_zero(value: float) -> float:
    return 0.0 if math.isnan(value) else value


Formula = Callable[[TopicPreferences, Scope], float]

#: Scopes by the suffix of a name.
_SCOPES: Mapping[str, Scope] = {"": "all", "_ret": "both", "_imp": "one"}
_RATIOS: Mapping[str, Formula] = {
    "prefs_simp": TopicPreferences.simple,
    "prefs_pair": TopicPreferences.by_pair,
    "prefs_avgjg": TopicPreferences.by_judge,
    "prefs_avgjg_Rnonrel": TopicPreferences.balanced,
    "prefs_num_prefs_ful": lambda topic, scope: topic.total(scope).fulfilled,
    "prefs_num_prefs_poss": lambda topic, scope: topic.total(scope).possible,
}
#: Every formula in every scope; trec_eval has 14 of these combinations.
FORMULAS: Mapping[str, tuple[Formula, Scope]] = {
    name + end: (formula, scope) for name, formula in _RATIOS.items() for end, scope in _SCOPES.items()
}


class Preferences:
    """All preference judgments by topic; topics and documents are in ID order."""

    def __init__(self, judgments: Sequence[Judgment]) -> None:
        self.documents: dict[bytes, list[bytes]] = {}
        self.judges: dict[bytes, list[Judge]] = {}
        for topic, of_topic in groupby(judgments, key=lambda row: row.topic):
            rows = list(of_topic)
            documents = self.documents[topic] = sorted({row.document for row in rows})
            place = {document: number for number, document in enumerate(documents)}
            by_judge = groupby(rows, key=lambda row: row.judge)
            self.judges[topic] = [_judge(name, list(of_judge), place) for name, of_judge in by_judge]

    def scores(self, names: Iterable[str], hits: Mapping[bytes, Ints]) -> Mapping[str, Floats]:
        """Return the values of measures for topics, given the indices of their retrieved documents by rank."""
        asked = {name: FORMULAS[name] for name in names}
        values: dict[str, list[float]] = {name: [] for name in asked}
        for topic, of_topic in hits.items():
            preferences = TopicPreferences(self.judges[topic], len(self.documents[topic]), of_topic)
            for name, (formula, scope) in asked.items():
                values[name].append(formula(preferences, scope))
        return {name: np.array(of_name, float) for name, of_name in values.items()}


def _judge(name: bytes, rows: Sequence[Judgment], place: Mapping[bytes, int]) -> Judge:
    parts = {part: number for number, part in enumerate(dict.fromkeys(row.part for row in rows))}
    documents = np.array(sorted({place[row.document] for row in rows}))
    levels = np.full((len(parts), documents.size), np.nan)
    columns = np.searchsorted(documents, [place[row.document] for row in rows])
    levels[[parts[row.part] for row in rows], columns] = [row.level for row in rows]
    return Judge(name, documents, levels)
