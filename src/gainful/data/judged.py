"""Judgments prepared under a policy: one grade per query and document, with an index."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from gainful.data.lists import Documents, GainLists, is_relevant
from gainful.data.parents import with_parents
from gainful.data.qrels import Qrels, QrelsLike
from gainful.errors import InputError, UsageError, for_asker, option
from gainful.gains import Gain
from gainful.io.rows import MOST_SHOWN, input_error
from gainful.kernel import core
from gainful.kernel.arrays import Bools, Floats, Ints, distinct, offsets_of
from gainful.notation import number_text, printable
from gainful.policy import Policy, PolicyLike

if TYPE_CHECKING:
    from gainful.kernel.core import JudgmentIndex

_ZERO = np.zeros(1)

#: The number of gain maps whose ideal lists are cached.
_MOST_IDEALS = 64

_T = TypeVar("_T")


class UnlistedError(Exception):
    """The result depends on judged documents of grade 0 that were left out: retry with all of them."""


class HasCache:
    """An object that caches values that several measures need."""

    _cache: dict[object, object]

    def cached(self, key: object, make: Callable[[], _T]) -> _T:
        if key not in self._cache:
            self._cache[key] = make()
        return self._cache[key]  # type: ignore[return-value]


class Judged(HasCache):
    """Judgments prepared once and shared by all runs.

    Every distinct document of a query is an *item*. ``grade`` holds one grade per item, after ``judges``, ``subtopics``
    and ``grade-zero``, or NaN if ``negative=unjudged`` makes it count as unjudged. If documents of grade 0 were left
    out, ``unlisted`` holds their number per query and a function that returns the judgments with them.
    """

    def __init__(
        self,
        qrels: Qrels,
        policy: Policy,
        index: JudgmentIndex | None = None,
        unlisted: tuple[Ints, Callable[[], Qrels]] | None = None,
    ) -> None:
        # Chunks of a document are not disagreeing judges: its best chunk counts.
        is_credited = policy.has_parents and policy.parent_of == "both"
        self._judges = "max" if is_credited and policy.judges == "error" else policy.judges
        self.qrels = with_parents(qrels, policy.parent) if is_credited else qrels
        self.policy = policy
        self.unlisted = unlisted
        if index is not None:
            self.__dict__["index"] = index  # built in advance; otherwise built on first use
        self._ideal_lists: dict[object, GainLists] = {}
        self._cache = {}
        self.item: Ints = self.index.item
        self.item_offsets: Ints = self.index.item_offsets
        self.grade = self.settled(self._one_grade_an_item())
        #: The highest possible grade, in the units of ``grade``.
        self.scale = max(qrels.scale - policy.grade_zero, 0.0) if policy.grade_zero else qrels.scale

    @classmethod
    def of(
        cls, judgments: QrelsLike | Judged, policy: PolicyLike = None, columns: Mapping[str, str] | None = None
    ) -> Judged:
        """Return judgments prepared under a policy; prepared judgments have their own and accept no other."""
        if not isinstance(judgments, Judged):
            settled = Policy.of(policy)
            return cls(Qrels.of(judgments, columns), settled)
        if policy is not None:
            raise UsageError("policy: cannot be combined with prepared judgments, which have their own")
        return judgments

    @property
    def query_ids(self) -> tuple[bytes, ...]:
        return self.qrels.query_ids

    def __getstate__(self) -> dict[str, object]:
        # The native index is rebuilt on demand, so that prepared judgments can be pickled.
        return {name: value for name, value in self.__dict__.items() if name != "index"}

    @cached_property
    def index(self) -> JudgmentIndex:
        return core.JudgmentIndex(list(self.qrels.query_ids), self.qrels.query, *self.qrels.document_spans)

    @cached_property
    def counts(self) -> Ints:
        """Number of judged documents per query."""
        counts = np.diff(offsets_of(~np.isnan(self.grade))[self.item_offsets])
        return counts if self.unlisted is None else counts + self.unlisted[0]

    def _require_all(self, zero_counts: object = True) -> None:
        if self.unlisted is not None and zero_counts:
            raise UnlistedError

    @property
    def best_first(self) -> tuple[Ints, Documents]:
        """Judged documents of every query, best first: offsets by query, and the documents."""
        self._require_all()
        return self._listed

    @cached_property
    def _listed(self) -> tuple[Ints, Documents]:
        return self._best_first_of(None)

    @cached_property
    def _order(self) -> tuple[Ints, Ints]:
        """Items with a grade, best first within their queries, and the query of each."""
        query = np.repeat(np.arange(len(self.query_ids)), np.diff(self.item_offsets))
        order, counts = np.lexsort((-self.grade, query)), ~np.isnan(self.grade)
        # Items are sorted by query before and after, so the query column is the same in both orders.
        return (order, query) if counts.all() else (order[counts[order]], query[counts])

    def best_first_of(self, chosen: Bools | None) -> tuple[Ints, Documents]:
        """Return the chosen judged items, or all, best first: offsets by query, and the documents."""
        self._require_all()
        return self._best_first_of(chosen)

    def _best_first_of(self, chosen: Bools | None) -> tuple[Ints, Documents]:
        (order, row), queries = self._order, len(self.query_ids)
        if chosen is not None:
            order, row = order[chosen[order]], row[chosen[order]]
        offsets = offsets_of(np.bincount(row, minlength=queries))
        rank = np.arange(1, row.size + 1)
        rank -= offsets[row]
        return offsets, Documents(row, rank, self.grade[order])

    def items_best_first(self, chosen: Bools) -> Ints:
        """Return the chosen items with a grade, in the order of :meth:`best_first_of`."""
        order = self._order[0]
        return np.asarray(order[chosen[order]])

    def recall_base(self, rel: float | None, level: float | None) -> Ints:
        """Return the number of relevant judged documents per query."""
        if self.unlisted is not None:
            self._require_all(is_relevant(_ZERO, rel, level))

        def count() -> Ints:
            judged = self._listed[1]
            return np.bincount(judged.row[is_relevant(judged.grade, rel, level)], minlength=len(self.query_ids))

        return self.cached(("recall base", rel, level), count)

    def ideal_lists(self, gain: Gain | str, rel: float | None, level: float | None) -> GainLists:
        """Return the ideal lists of all queries, which are the same for every run."""
        ideal = self._ideal_lists.get((gain, rel, level))
        if ideal is None:
            if self.unlisted is not None:
                self._require_all(is_relevant(_ZERO, rel, level) or Gain.of(gain).of_grades(_ZERO, self.scale) > 0)
            judged, queries = self._listed[1], len(self.query_ids)
            ideal = GainLists.of(judged, queries, gain, self.scale, rel, level).best_first()
            self._ideal_lists[gain, rel, level] = ideal
            if len(self._ideal_lists) > _MOST_IDEALS:
                # Sweeps over gains do not return to the oldest. Copy first, because several threads may be here.
                oldest, *_ = tuple(self._ideal_lists)
                self._ideal_lists.pop(oldest, None)
        return ideal

    @cached_property
    def by_subtopic(self) -> tuple[Ints, Ints, Floats]:
        """Item, sub-topic and grade, with one grade per item and sub-topic; items ascend."""
        self._require_all()
        item, subtopic, grade = self._one_grade_a_subtopic
        return item, subtopic, self.settled(grade)

    @cached_property
    def levels(self) -> Floats:
        """The distinct grades, ascending."""
        found = distinct(self.grade if self.unlisted is None else np.append(self.grade, 0.0))
        return found[~np.isnan(found)]

    def settled(self, grade: Floats) -> Floats:
        if self.policy.grade_zero:
            grade = np.maximum(grade - self.policy.grade_zero, 0.0)
        if self.policy.negative == "unjudged" and (grade < 0).any():
            grade = np.where(grade < 0, np.nan, grade)
        return grade

    def _one_grade_an_item(self) -> Floats:
        qrels, items = self.qrels, int(self.item_offsets[-1])
        if items == len(qrels):
            if (self.item[1:] > self.item[:-1]).all():
                return qrels.grade  # in the order of the items, as most judgments are
            grade = np.empty(items)
            grade[self.item] = qrels.grade
            return grade
        if not self.policy.subtopics:
            return self._combined(self.item, qrels.grade)
        # Judges may disagree on the grade for a sub-topic; across sub-topics, a document's highest grade counts.
        item, _, grade = self._one_grade_a_subtopic
        return np.maximum.reduceat(grade, np.flatnonzero(np.diff(item, prepend=-1)))

    @cached_property
    def _one_grade_a_subtopic(self) -> tuple[Ints, Ints, Floats]:
        """Item, sub-topic and grade, by item, then by sub-topic."""
        qrels, subtopics = self.qrels, len(self.qrels.subtopic_ids)
        pairs = self.item * subtopics + qrels.subtopic
        order = np.argsort(pairs)  # several times as fast as np.unique
        pairs = pairs[order]
        is_first = np.diff(pairs, prepend=-1) > 0
        if is_first.all():
            return pairs // subtopics, pairs % subtopics, qrels.grade[order]
        group = np.empty_like(order)
        group[order] = np.cumsum(is_first) - 1
        return pairs[is_first] // subtopics, pairs[is_first] % subtopics, self._combined(group, qrels.grade)

    def _combined(self, group: Ints, grade: Floats) -> Floats:
        """Return one grade per group; grades are sorted first, so that the order of the input does not matter."""
        order, judges = np.lexsort((grade, group)), self._judges
        starts, ascending = np.flatnonzero(np.diff(group[order], prepend=-1)), grade[order]
        counts = np.diff(starts, append=grade.size)
        lowest, highest = ascending[starts], ascending[starts + counts - 1]
        if judges == "mean":
            return np.asarray(np.add.reduceat(ascending, starts) / counts)
        if judges == "median":
            return np.asarray((ascending[starts + (counts - 1) // 2] + ascending[starts + counts // 2]) / 2)
        if judges == "turn":
            return self._in_turn(group, grade, lowest != highest)
        if judges == "error" and np.any(lowest != highest):
            raise self._conflict()
        return np.asarray(lowest if judges == "min" else highest)

    def _in_turn(self, group: Ints, grade: Floats, differs: Bools) -> Floats:
        """Take differing grades from the judges in turn, in the order of document IDs (jarvelin2000, section 3.2).
        Judges are identified by column 2, or else ordered by their grades."""
        qrels, subtopics = self.qrels, self.qrels.subtopic_ids
        place = np.empty(len(subtopics), np.int64)
        place[sorted(range(len(subtopics)), key=subtopics.__getitem__)] = np.arange(len(subtopics))
        judge = place[qrels.subtopic]
        order = np.lexsort((grade, judge, group))
        starts = np.flatnonzero(np.diff(group[order], prepend=-1))
        counts, rows = np.diff(starts, append=grade.size), order[starts]
        differing = sorted(
            np.flatnonzero(differs).tolist(),
            key=lambda at: (
                int(qrels.query[rows[at]]),
                qrels.document(int(rows[at])),
                int(judge[rows[at]]),  # with sub-topics, column 2 holds these
            ),
        )
        for turn, at in enumerate(differing):
            starts[at] += turn % counts[at]
        return np.asarray(grade[order[starts]])

    @cached_property
    def first_rows(self) -> Ints:
        """For every judgment, the row of the first one for its document (and sub-topic, if these are distinguished)."""
        group = self.item
        if self.policy.subtopics:
            group = group * len(self.qrels.subtopic_ids) + self.qrels.subtopic
        _, first, place = np.unique(group, return_index=True, return_inverse=True)
        return np.asarray(first[place])

    def _conflict(self) -> InputError:
        qrels, first_of = self.qrels, self.first_rows
        rows = np.flatnonzero(qrels.grade != qrels.grade[first_of])
        conflicts = list(zip(rows.tolist(), first_of[rows].tolist(), strict=True))
        messages = []
        for row, first in conflicts[:MOST_SHOWN]:
            query, document = qrels.query_ids[int(qrels.query[row])], qrels.document(row)
            subtopic = printable(qrels.subtopic_ids[int(qrels.subtopic[row])])
            within = f", sub-topic '{subtopic}'," if self.policy.subtopics else ""
            message = (
                f"conflicting grades for query '{printable(query)}'{within} and document '{printable(document)}': "
                f"{number_text(qrels.grade[row])} after {number_text(qrels.grade[first])}"
            )
            place = f" ({qrels.origin.place(first)})"
            messages.append(f"{qrels.origin.where(row)}: {message}{place}{qrels.origin.shown(row)}")
        by_subtopic = all(qrels.subtopic[row] != qrels.subtopic[first] for row, first in conflicts)
        hint = (
            f"column 2 differs: if it is the sub-topic, use {for_asker('--subtopics', 'subtopics=True')}"
            if by_subtopic
            else f"combine them with {option('judges', 'mean')}, median, max, min or turn"
        )
        return input_error(messages, len(conflicts), hint)
