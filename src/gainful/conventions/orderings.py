"""The ranked lists that different ways of reading make of one run; what comes out the same is kept once."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gainful.arrays import Bools, Ints
from gainful.conventions.dimensions import DataFacts
from gainful.conventions.repeats import Repeats
from gainful.data.graded import GradedRun, join
from gainful.data.judged import Judged
from gainful.data.qrels import Qrels
from gainful.data.run import Run
from gainful.policy import Policy


@dataclass(frozen=True, eq=False)
class RankedLists:
    """A run's lists as one way of reading makes them.

    ``shared`` says that documents of equal score share gains, ``repeated`` that documents may count twice.
    """

    number: int
    graded: GradedRun
    shared: bool
    repeated: bool

    @cached_property
    def groups(self) -> Ints:
        """For every retrieved document of all lists, in rank order, its group of equal scores."""
        return np.cumsum(_opens_group(self.graded)) - 1


class _Reading(NamedTuple):
    """How a run is read and ordered, without what has no effect beside the rest."""

    order: str
    ties: str
    scores: str
    duplicates: str
    negative: str


class Orderings:
    """Joins a run with judgments in every way that is asked for, and recognises what comes out the same."""

    def __init__(self, qrels: Qrels, run: Run, policy: Policy, *, keeps_scores: bool, threads: int) -> None:
        self._qrels = qrels
        self._run = run
        # Duplicates are found by dropping them; the rest is done to the lists afterwards.
        self._policy = policy.replace(duplicates="first", unjudged="zero")
        self._keeps_scores = keeps_scores
        self._threads = threads
        self._judged: dict[str, Judged] = {}
        self._joined: dict[tuple[_Reading, bool], GradedRun] = {}
        self._lists: dict[tuple[_Reading, bool, str], RankedLists] = {}
        self._different: dict[bytes, RankedLists] = {}

    @cached_property
    def first(self) -> GradedRun:
        """The lists as the policy has them, duplicates dropped."""
        return self._join(self._way({}), self._keeps_scores)

    @property
    def answered(self) -> Bools:
        return self.first.answered

    @cached_property
    def facts(self) -> DataFacts:
        """What the data can show differences in."""
        judged = self._judged_with("judged")
        return DataFacts(
            has_scores=self._run.has_scores,
            has_ranks=self._run.has_ranks and not bool(np.isnan(self._run.rank).any()),
            has_duplicates=self.first.facts.duplicate_count > 0,
            has_negative=bool((judged.grade < 0).any()),
            levels=tuple(judged.levels.tolist()),
        )

    def lists(self, settings: Mapping[str, str]) -> RankedLists | None:
        """The lists under some settings; None where these contradict each other."""
        way, shared = self._way(settings), settings.get("ties") == "averaged"
        if shared and way.order != "score":
            return None
        key = (way, shared, settings.get("unjudged", "zero"))
        if key not in self._lists:
            graded = self._join(way, shared or self._keeps_scores)
            graded = graded.condensed() if key[2] == "condensed" else graded
            self._lists[key] = self._kept_once(graded, shared, way.duplicates == "all")
        return self._lists[key]

    def _way(self, settings: Mapping[str, str]) -> _Reading:
        policy = self._policy
        start = "input" if policy.order == "score" and not self._run.has_scores else policy.order
        order, ties = settings.get("order", start), settings.get("ties", policy.ties)
        scores = settings.get("scores", policy.scores)
        # The order of documents that share their gains is of no importance; the input is never tied, and so on.
        if order == "input" or ties == "averaged" or (order == "rank" and ties == "rank"):
            ties = "docid-desc"
        return _Reading(
            order,
            ties,
            scores if order == "score" else "float64",
            settings.get("duplicates", "first"),
            settings.get("negative", policy.negative),
        )

    def _join(self, way: _Reading, want_scores: bool) -> GradedRun:
        if (way, want_scores) not in self._joined:
            policy = self._policy.replace(
                order=way.order, ties=way.ties, scores=way.scores, negative=way.negative, duplicates="first"
            )
            judged = self._judged_with(way.negative)
            if way.duplicates == "all":
                graded = self._join_copies(judged, policy, want_scores)
            else:
                run = self._repeats.without_earlier() if way.duplicates == "last" else self._run
                graded = join(judged, run, policy, want_scores=want_scores, threads=self._threads)
            self._joined[way, want_scores] = graded
        return self._joined[way, want_scores]

    def _join_copies(self, judged: Judged, policy: Policy, want_scores: bool) -> GradedRun:
        """Documents count as often as a list has them; the ideal and the recall base know every document once."""
        run, qrels, original = self._repeats.told_apart(self._qrels)
        copied = Judged(qrels, policy)
        graded = join(copied, run, policy, want_scores=want_scores, threads=self._threads)
        item = np.empty(copied.grade.size, np.int64)
        item[copied.item] = judged.item[original]
        return replace(graded, judged=judged, hit_item=item[graded.hit_item])

    @cached_property
    def _repeats(self) -> Repeats:
        return Repeats(self._run)

    def _judged_with(self, negative: str) -> Judged:
        if negative not in self._judged:
            known = next(iter(self._judged.values()), None)
            policy = self._policy.replace(negative=negative)
            self._judged[negative] = Judged(self._qrels, policy, known.index if known else None)
        return self._judged[negative]

    def _kept_once(self, graded: GradedRun, shared: bool, repeated: bool) -> RankedLists:
        shared = shared and not bool(_opens_group(graded).all())
        if not shared and not self._keeps_scores:
            graded = replace(graded, score=np.zeros(0))
        # Where scores count, it matters whether they made the order: only then are equal ones tied.
        tied = self._keeps_scores and graded.policy.order == "score"
        digest = hashlib.blake2b(str((shared, repeated, tied)).encode())
        for column in (graded.retrieved, graded.hit_offsets, graded.hit_rank, graded.hit_grade, graded.score):
            digest.update(np.ascontiguousarray(column).tobytes())
        return self._different.setdefault(digest.digest(), RankedLists(len(self._different), graded, shared, repeated))


def _opens_group(graded: GradedRun) -> Bools:
    """Which documents of all lists have another score than the one before them, or are the first of their list."""
    score = graded.score
    opens = np.ones(score.size, bool)
    opens[1:] = score[1:] != score[:-1]
    starts = np.cumsum(graded.retrieved) - graded.retrieved
    opens[starts[graded.retrieved > 0]] = True
    return opens
