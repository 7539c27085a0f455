"""A run as the doctor sees it: what is remarkable about its lists, and what they share with the judgments."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gainful.ahead import ReadRun
from gainful.arrays import Bools, Ints
from gainful.core import core
from gainful.data.graded import fitting_policy, join_columns, open_run
from gainful.data.judged import Judged
from gainful.data.run import Run, RunLike, empty_run
from gainful.doctor.places import Places, Row, RowPlaces, TextPlaces
from gainful.io.sources import Text
from gainful.io.trec import raise_faults
from gainful.policy import Policy
from gainful.progress import Progress

if TYPE_CHECKING:
    from gainful._core import Joined, ListFacts

TOP = 10


@dataclass(frozen=True, eq=False)
class InspectedRun:
    """One run, list by list. ``policy`` is the user's, as this run can carry it."""

    name: str
    judged: Judged
    policy: Policy
    joined: Joined
    lists: ListFacts
    places: Places
    has_scores: bool

    @property
    def size(self) -> int:
        """How many lists there are."""
        return len(self.lists["query_ids"])

    @property
    def by_score(self) -> bool:
        """Whether scores decide the order of the lists."""
        return self.policy.order == "score"

    @cached_property
    def is_judged(self) -> Bools:
        """The lists whose queries have judgments."""
        return np.asarray(self.lists["query"] >= 0)

    @cached_property
    def counts(self) -> Bools:
        """The lists that make numbers: those with judgments; all of them when none has any."""
        return self.is_judged if self.is_judged.any() else np.ones(self.size, bool)

    def total(self, lists: Bools | None = None) -> int:
        """How many distinct documents some lists hold, before depth; those of all lists that count by default."""
        distinct = self.lists["rows"] - self.lists["duplicates"]
        return int(distinct[self.counts if lists is None else lists].sum())

    def rows_at(self, lists: Bools, *places: str) -> list[Row]:
        """The rows of the example that stands first in the input, among some lists."""
        chosen = np.flatnonzero(lists)
        where = self.column(places[0])[chosen]
        first = chosen[int(np.argmin(where))]
        return [self.places.row(int(self.column(place)[first])) for place in places]

    def column(self, name: str) -> Ints:
        """One fact of all lists."""
        values: Ints = self.lists[name]  # type: ignore[literal-required]
        return values

    @property
    def missing(self) -> list[bytes]:
        """Judged queries that the run does not answer, in byte order."""
        unanswered = np.flatnonzero(~self.joined["answered"]).tolist()
        return [self.judged.qrels.query_ids[i] for i in unanswered]

    @cached_property
    def _counting_hits(self) -> Bools:
        """The retrieved documents that are judged, except those that the policy counts as unjudged."""
        return np.asarray(~np.isnan(self.judged.grade[self.joined["hit_item"]]))

    @cached_property
    def hits(self) -> int:
        """How many retrieved documents are judged."""
        return int(np.count_nonzero(self._counting_hits))

    @cached_property
    def possible_hits(self) -> int:
        """How many could be: as many as are judged, and as many as are retrieved."""
        items = np.diff(self.judged.item_offsets)
        return int(np.minimum(items, self.joined["retrieved"]).sum())

    @cached_property
    def shown(self) -> int:
        """How many documents stand in the first ten of the judged lists."""
        return int(np.minimum(self.joined["retrieved"], TOP).sum())

    @cached_property
    def unjudged(self) -> int:
        """How many of them are unjudged."""
        seen = self._counting_hits & (self.joined["hit_rank"] <= TOP)
        return self.shown - int(np.count_nonzero(seen))

    @cached_property
    def usual_depth(self) -> int:
        """The median length of the lists that count."""
        return int(np.median(self.lists["retrieved"][self.counts])) if self.counts.any() else 0

    def fingerprint(self) -> bytes:
        """Equal for runs that have the same judged documents at the same ranks, and as many others."""
        digest = hashlib.blake2b(digest_size=16)
        for name in ("answered", "retrieved", "hit_offsets", "hit_rank", "hit_item"):
            digest.update(self.joined[name].tobytes())
        return digest.digest()


def inspect(
    judged: Judged,
    run: RunLike | Text | ReadRun,
    name: str,
    policy: Policy,
    *,
    threads: int = 1,
    progress: Progress | None = None,
) -> InspectedRun:
    """Orders a run's lists as the judgments' policy says, and looks each of them over."""
    progress = progress or Progress()
    opened = open_run(run, name, threads=threads)
    if isinstance(opened, Run):
        progress.total += len(opened)
        fitting = fitting_policy(opened, judged.policy)
        joined = join_columns(judged, opened, fitting, (False, False), threads, progress, want_facts=True)
        return _inspected(name, judged, fitting_policy(opened, policy), joined, RowPlaces(opened), opened.has_scores)
    if isinstance(opened, ReadRun):
        text, joined = opened.text, opened.joined()
    else:
        text = opened
        progress.total += text.data.size
        options = judged.policy.join_options()
        joined = core.join_text(text.data, judged.index, *options, False, False, threads, progress.cells, True)
    raise_faults(text.name, text.data, joined["faults"], joined["fault_count"], run=True)
    if not joined["list_count"]:
        raise empty_run(text.name)
    return _inspected(name, judged, policy, joined, TextPlaces(text.data), True)


def _inspected(
    name: str, judged: Judged, policy: Policy, joined: Joined, places: Places, has_scores: bool
) -> InspectedRun:
    lists = joined["facts"]
    if lists is None:
        raise TypeError("the join was not asked for facts")
    return InspectedRun(name, judged, policy, joined, lists, places, has_scores)
