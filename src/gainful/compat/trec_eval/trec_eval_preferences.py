"""trec_eval's measures of preferences: which documents judges prefer to which, and how often a ranking agrees.

A judge (trec_eval: judgment group) prefers a document to another if its level is higher. Judges may say so in parts
(sub-groups), each about some of the documents; then what follows from two parts together is preferred, too. All
measures are ratios of fulfilled to possible preferences, and differ in which documents and judges they count.
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
    """A line of judgments of preferences, or by several judges. They are ordered as trec_eval goes through them."""

    topic: bytes
    judge: bytes
    part: bytes
    document: bytes
    level: float


#: The pairs that count: all, those of which both documents are retrieved, those of which one at least is.
Scope = Literal["all", "both", "one"]


class Count(NamedTuple):
    """How many preferences are fulfilled, of how many."""

    fulfilled: int
    possible: int

    @property
    def ratio(self) -> float:
        """NaN where none is possible."""
        return self.fulfilled / self.possible if self.possible else math.nan


def counted(prefers: Bools, retrieved: int) -> Mapping[Scope, Count]:
    """Counts the preferences (row to column) between documents in the order of their ranks.

    A preference is fulfilled if the preferred document is retrieved and stands before the other, or the other is not
    retrieved at all.

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
    """What a judge says about a topic's documents: a row of levels for every part, NaN where it says nothing."""

    name: bytes
    documents: Ints  # places among the documents of the topic in the order of their ids
    levels: Floats

    def preferences(self) -> Bools:
        """Whether the document of a row is preferred to that of a column, by itself or by way of others."""
        prefers = np.logical_or.reduce([row[:, None] > row for row in self.levels])
        if len(self.levels) > 1:
            for between in range(len(prefers)):
                prefers |= prefers[:, between, None] & prefers[between]
        return np.asarray(prefers)

    @property
    def last_level(self) -> Floats:
        """The level in the last part that has a document."""
        last = len(self.levels) - 1 - np.argmax(~np.isnan(self.levels[::-1]), axis=0)
        return np.asarray(self.levels[last, np.arange(last.size)])

    def contradiction(self) -> str | None:
        """What is wrong with the parts taken together, if anything is."""
        if len(self.levels) == 1:
            return None
        if bool(((self.levels == 0).any(axis=0) & (self.levels > 0).any(axis=0)).any()):
            return "gives a document level 0 in one part and more in another"
        prefers = self.preferences()
        return "prefers a document to another and the other to it" if (prefers & prefers.T).any() else None


@dataclass(frozen=True)
class Ranked:
    """A judge's documents in the order of their ranks, and how many of them are retrieved."""

    judge: Judge
    order: Ints
    retrieved: int

    @cached_property
    def prefers(self) -> Bools:
        """The preferences between documents in this order."""
        return np.asarray(self.judge.preferences()[np.ix_(self.order, self.order)])

    @cached_property
    def counts(self) -> Mapping[Scope, Count]:
        """All that can be counted."""
        return counted(self.prefers, self.retrieved)

    def balanced(self, scope: Scope) -> float:
        """The ratio as if as many documents were not relevant as are relevant, R.

        Where there are less of them, more are taken to stand after all others; where there are more, only the first R
        count. trec_eval sets them, in a judgment of one part, against each other as well.
        """
        level = self.judge.last_level[self.order]
        is_relevant = level > 0
        is_one_part = len(self.judge.levels) == 1
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
    """The preferences of all judges of a topic, and a ranking of its documents."""

    def __init__(self, judges: Sequence[Judge], documents: int, hits: Ints) -> None:
        """``hits`` are the retrieved ones of so many judged documents, by rank."""
        order = np.concatenate((hits, np.setdiff1d(np.arange(documents), hits)))
        place = np.argsort(order)
        self._places = [np.sort(place[judge.documents]) for judge in judges]
        self._judges = [
            Ranked(judge, np.argsort(place[judge.documents]), int(np.count_nonzero(places < hits.size)))
            for judge, places in zip(judges, self._places, strict=True)
        ]
        self._documents, self._retrieved = documents, hits.size

    def total(self, scope: Scope) -> Count:
        """The preferences of all judges together."""
        counts = [judge.counts[scope] for judge in self._judges]
        return Count(sum(count.fulfilled for count in counts), sum(count.possible for count in counts))

    def simple(self, scope: Scope) -> float:
        """The ratio of all preferences, however many judges share one."""
        return _or_zero(self.total(scope).ratio)

    def by_judge(self, scope: Scope) -> float:
        """The mean of the judges' ratios; a judge without any counts 0."""
        return sum(_or_zero(judge.counts[scope].ratio) for judge in self._judges) / len(self._judges)

    def balanced(self, scope: Scope) -> float:
        """The mean of the judges' balanced ratios; 0 if one of them has none."""
        return _or_zero(sum(judge.balanced(scope) for judge in self._judges) / len(self._judges))

    @cached_property
    def _pairs(self) -> tuple[Ints, Ints, Floats]:
        """The pairs of documents that a judge prefers one of, as places, and the share of judges for the first."""
        votes = np.zeros((self._documents, self._documents), np.int32)
        for judge, places in zip(self._judges, self._places, strict=True):
            votes[np.ix_(places, places)] += judge.prefers
        first, second = np.nonzero(np.triu(votes + votes.T))
        return first, second, votes[first, second] / (votes[first, second] + votes[second, first])

    def by_pair(self, scope: Scope) -> float:
        """The mean over pairs of documents of the share of judges whose preference is fulfilled."""
        first, second, share = self._pairs
        both, one = second < self._retrieved, first < self._retrieved
        counts = int(np.count_nonzero({"both": both, "one": one, "all": np.ones_like(one)}[scope]))
        # In trec_eval's order, so that the last bits are its own.
        shares = share[both] if scope == "both" else np.concatenate((share[both], share[one & ~both]))
        return float(np.cumsum(shares)[-1]) / counts if shares.size else 0.0


def _or_zero(value: float) -> float:
    return 0.0 if math.isnan(value) else value


Formula = Callable[[TopicPreferences, Scope], float]

#: The scope that the end of a name stands for.
_SCOPES: Mapping[str, Scope] = {"": "all", "_ret": "both", "_imp": "one"}
_RATIOS: Mapping[str, Formula] = {
    "prefs_simp": TopicPreferences.simple,
    "prefs_pair": TopicPreferences.by_pair,
    "prefs_avgjg": TopicPreferences.by_judge,
    "prefs_avgjg_Rnonrel": TopicPreferences.balanced,
    "prefs_num_prefs_ful": lambda topic, scope: topic.total(scope).fulfilled,
    "prefs_num_prefs_poss": lambda topic, scope: topic.total(scope).possible,
}
#: Every formula in every scope; trec_eval has 14 of them.
FORMULAS: Mapping[str, tuple[Formula, Scope]] = {
    name + end: (formula, scope) for name, formula in _RATIOS.items() for end, scope in _SCOPES.items()
}


class Preferences:
    """All judgments of preferences, by topic; topics and documents are in the order of their ids."""

    def __init__(self, judgments: Sequence[Judgment]) -> None:
        """From judgments in their order, no document twice in a part."""
        self.documents: dict[bytes, list[bytes]] = {}
        self.judges: dict[bytes, list[Judge]] = {}
        for topic, of_topic in groupby(judgments, key=lambda row: row.topic):
            rows = list(of_topic)
            documents = sorted({row.document for row in rows})
            place = {document: number for number, document in enumerate(documents)}
            self.documents[topic] = documents
            self.judges[topic] = [
                _judge(name, list(of_judge), place) for name, of_judge in groupby(rows, key=lambda row: row.judge)
            ]

    def scores(self, names: Iterable[str], hits: Mapping[bytes, Ints]) -> Mapping[str, Floats]:
        """The values of measures for topics with the places of their retrieved documents, by rank."""
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
