"""The ranked lists that different ways of reading make of one run, and the scores of a measure's variants on them.

What comes out the same is kept once. Variants are those that measures have parameters for, and those that no measure
should have.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple, TypeAlias

import numpy as np

from gainful.data.graded import GradedRun, join
from gainful.data.judged import Judged
from gainful.data.lists import Documents, GainLists
from gainful.data.qrels import Qrels
from gainful.data.run import Run
from gainful.discounts import divisors
from gainful.io.rows import packed
from gainful.kernel import core
from gainful.kernel.arrays import Bools, Floats, Ints
from gainful.measures.average_precision import AP
from gainful.measures.base import Measure
from gainful.measures.block import raw_scores
from gainful.measures.cumulated_gain import CG, DCG, NCG, NDCG
from gainful.measures.precision import P, R
from gainful.policy import Policy
from gainful.tasks.whydiff.dimensions import DataFacts, discount_of, is_cumulated, usual_divisor


class Repeats:
    """The repeated documents of a run, row by row."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._list = np.repeat(np.arange(len(run.query_ids)), np.diff(run.list_offsets))
        self._item = _documents(run, self._list)

    def without_earlier(self) -> Run:
        """The run as a dict keeps it: of every document only its last line."""
        last = np.zeros(int(self._item.max(initial=-1)) + 1, np.int64)
        last[self._item] = np.arange(len(self._run))  # later rows overwrite earlier ones
        rows = np.sort(last)
        return self._run.with_rows(rows, np.searchsorted(rows, self._run.list_offsets))

    def told_apart(self, qrels: Qrels) -> tuple[Run, Qrels, Ints]:
        """The run with its repeated documents as documents of their own, which are judged like the first.

        With the judgments comes the row of the old ones that each of the new ones is a copy of.
        """
        run = self._run
        copies = np.flatnonzero(self._nth > 0)
        data, start, length = packed([_copy_id(run.document(int(row)), int(self._nth[row])) for row in copies], str)
        document_start, document_length = run.document_start.copy(), run.document_length.copy()
        document_start[copies], document_length[copies] = start + run.data.size, length
        renamed = replace(
            run,
            data=np.concatenate((run.data, data)),
            document_start=document_start,
            document_length=document_length,
            origin=None,
        )
        return renamed, *self._judged_alike(qrels, copies)

    @property
    def _nth(self) -> Ints:
        """How many rows of the same list and document come before each row."""
        order = np.argsort(self._item, kind="stable")
        item = self._item[order]
        starts = np.flatnonzero(np.diff(item, prepend=-1))
        nth = np.empty_like(order)
        nth[order] = np.arange(item.size) - np.repeat(starts, np.diff(starts, append=item.size))
        return nth

    def _judged_alike(self, qrels: Qrels, copies: Ints) -> tuple[Qrels, Ints]:
        run = self._run
        counts = Counter((run.query_ids[int(self._list[row])], run.document(int(row))) for row in copies)
        queries = {query for query, _ in counts}
        wanted = np.array([query in queries for query in qrels.query_ids], bool)
        rows: list[int] = []
        ids: list[bytes] = []
        for row in np.flatnonzero(wanted[qrels.query]).tolist():
            document = qrels.document(row)
            for nth in range(1, counts[qrels.query_ids[int(qrels.query[row])], document] + 1):
                rows.append(row)
                ids.append(_copy_id(document, nth))
        data, start, length = packed(ids, str)
        chosen = np.array(rows, np.int64)
        judgments = replace(
            qrels,
            data=np.concatenate((qrels.data, data)),
            query=np.append(qrels.query, qrels.query[chosen]),
            document_start=np.append(qrels.document_start, start + qrels.data.size),
            document_length=np.append(qrels.document_length, length),
            subtopic=np.append(qrels.subtopic, qrels.subtopic[chosen]),
            grade=np.append(qrels.grade, qrels.grade[chosen]),
            origin=None,
        )
        return judgments, np.append(np.arange(len(qrels)), chosen)


def _documents(run: Run, lists: Ints) -> Ints:
    """A number for every row that equal documents of one list share; what indexes judgments can tell them, too."""
    order = sorted(range(len(run.query_ids)), key=run.query_ids.__getitem__)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    ids = [run.query_ids[i] for i in order]
    return core.JudgmentIndex(ids, place[lists], run.data, run.document_start, run.document_length).item


def _copy_id(document: bytes, nth: int) -> bytes:
    """An id of its own that stands, in byte order, directly after the document's."""
    return document + b"\0" * nth


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


Cumulated: TypeAlias = CG | DCG | NCG | NDCG


class Variant(NamedTuple):
    """A measure, and what is done unlike any measure: the ideal list, the divisor; ``recall_cut`` is the policy's."""

    measure: Measure
    ideal: str
    divisor: str
    recall_cut: str

    @classmethod
    def of(cls, measure: Measure, settings: Mapping[str, str], recall_cut: str) -> Variant:
        """The variant of a measure under some settings."""
        changes: dict[str, object] = {}
        if "gain" in settings:
            changes["gain"] = settings["gain"]
        if "discount" in settings:
            changes["discount"], changes["base"] = discount_of(settings["discount"])
        if "rel" in settings:
            changes["rel"] = None if settings["rel"] == "none" else settings["rel"]
        if "unjudged" in measure.parameters():
            changes["unjudged"] = None  # lists come with or without their unjudged documents
        return cls(
            measure.replace(**changes) if changes else measure,
            settings.get("ideal", "judged"),
            settings.get("divisor", usual_divisor(measure)),
            settings.get("recall-cut", recall_cut),
        )

    @property
    def is_public(self) -> bool:
        """Whether the measure itself computes this."""
        return self.ideal == "judged" and self.divisor == usual_divisor(self.measure)


class VariantScores:
    """The scores of variants on one set of lists. What several variants need is made once."""

    def __init__(self, lists: RankedLists) -> None:
        self._lists = lists
        self._graded = lists.graded
        self._size = len(lists.graded.query_ids)
        row = np.repeat(np.arange(self._size), np.diff(lists.graded.hit_offsets))
        self._hits = Documents(row, lists.graded.hit_rank, lists.graded.hit_grade)
        self._made: dict[object, GainLists] = {}

    def of(self, variants: Sequence[Variant]) -> list[Floats]:
        """The raw scores of all queries for every variant, NaN where it is undefined."""
        measured = self._measured([variant for variant in variants if self._is_measured(variant)])
        return [measured[variant] if variant in measured else self._own(variant) for variant in variants]

    def _is_measured(self, variant: Variant) -> bool:
        # Documents that share gains, or that count twice and can so beat the ideal, are not what measures know.
        peculiar = self._lists.shared or self._lists.repeated
        return variant.is_public and not (peculiar and is_cumulated(variant.measure))

    def _measured(self, variants: Sequence[Variant]) -> dict[Variant, Floats]:
        """Those that measures compute themselves."""
        found: dict[Variant, Floats] = {}
        for recall_cut in dict.fromkeys(variant.recall_cut for variant in variants):
            chosen = [variant for variant in variants if variant.recall_cut == recall_cut]
            graded = replace(self._graded, policy=self._graded.policy.replace(recall_cut=recall_cut))
            found.update(zip(chosen, raw_scores(graded, [variant.measure for variant in chosen]), strict=True))
        return found

    def _own(self, variant: Variant) -> Floats:
        measure = variant.measure
        if isinstance(measure, (NCG, NDCG)):
            return self._normalised(measure, variant.ideal)
        if isinstance(measure, (CG, DCG)):
            return self._averaged(self._value(self._run_gains(measure), measure, measure.cutoff), measure)
        if isinstance(measure, (AP, P, R)):
            return self._divided(measure, variant.divisor)
        raise TypeError(f"{measure} has no variants of its own")

    def _normalised(self, measure: NCG | NDCG, ideal: str) -> Floats:
        run = self._value(self._run_gains(measure), measure, measure.cutoff)
        best = self._value(self._ideal_gains(measure, ideal), measure, None if ideal == "uncut" else measure.cutoff)
        with np.errstate(invalid="ignore", divide="ignore"):
            return self._averaged(np.where(best > 0, run / best, np.nan), measure)

    def _value(self, gains: GainLists, measure: Cumulated, cutoff: int | None) -> Floats:
        """The cumulated gain at the cutoff, or with average=ranks at every rank."""
        divide = partial(divisors, measure.discount, measure.base)
        if measure.average is None:
            return gains.total(divide, cutoff)
        depth = self._depth(measure)
        return np.cumsum(gains.dense(depth) / divide(np.arange(1.0, depth + 1.0)), axis=1)

    def _averaged(self, values: Floats, measure: Cumulated) -> Floats:
        if measure.average is None:
            return values
        k = measure.cutoff or values.shape[1]
        # Past the longest list nothing changes any more.
        return np.asarray((values.sum(axis=1) + (k - values.shape[1]) * values[:, -1]) / k)

    def _depth(self, measure: Cumulated) -> int:
        judged = np.diff(self._graded.judged.best_first[0])
        width = max(1, int(self._graded.retrieved.max(initial=0)), int(judged.max(initial=0)))
        return min(measure.cutoff or width, width)

    def _run_gains(self, measure: Cumulated) -> GainLists:
        key = ("run", measure.gain, measure.rel, measure.level)
        if key not in self._made:
            plain = self._gains_of(self._hits, measure)
            self._made[key] = self._shared(plain) if self._lists.shared else plain
        return self._made[key]

    def _ideal_gains(self, measure: Cumulated, ideal: str) -> GainLists:
        key = (ideal, measure.gain, measure.rel, measure.level, measure.cutoff)
        if key not in self._made:
            self._made[key] = self._new_ideal(measure, ideal)
        return self._made[key]

    def _new_ideal(self, measure: Cumulated, ideal: str) -> GainLists:
        hits = self._hits
        if ideal == "retrieved":
            return self._gains_of(hits, measure).best_first()
        if ideal == "shown":
            shown = hits.rank <= (measure.cutoff or 0)
            first = Documents(hits.row[shown], hits.rank[shown], hits.grade[shown])
            return self._gains_of(first, measure).best_first()
        if ideal == "highest":
            return self._highest(measure)
        return self._graded.judged.ideal_lists(measure.gain, measure.rel, measure.level)

    def _highest(self, measure: Cumulated) -> GainLists:
        """One list for all queries: k documents of the highest gain that there is."""
        scale, gain = self._graded.judged.scale, measure.gain
        highest = [weight for _, weight in gain.weights] or gain.of_grades(np.array([scale]), scale).tolist()
        k = measure.cutoff or 1
        return GainLists(1, np.zeros(k, np.int64), np.arange(1, k + 1), np.full(k, max(highest)))

    def _gains_of(self, documents: Documents, measure: Cumulated) -> GainLists:
        scale = self._graded.judged.scale
        return GainLists.of(documents, self._size, measure.gain, scale, measure.rel, measure.level)

    def _shared(self, gains: GainLists) -> GainLists:
        """The same lists where every document has the mean gain of the documents that have its score."""
        group, starts = self._lists.groups, np.cumsum(self._graded.retrieved) - self._graded.retrieved
        sizes = np.bincount(group)
        sums = np.bincount(group[starts[gains.row] + gains.rank - 1], gains.gain, minlength=sizes.size)
        place = np.flatnonzero(sums[group] > 0)
        row = np.searchsorted(starts + self._graded.retrieved, place, "right")
        return GainLists(self._size, row, place - starts[row] + 1, (sums / sizes)[group[place]])

    def _divided(self, measure: AP | P | R, divisor: str) -> Floats:
        relevant = self._hits.relevant(measure.rel, measure.level)
        worth = relevant.ordinal / relevant.rank if isinstance(measure, AP) else np.ones(relevant.row.size)
        seen = np.full(relevant.row.size, True) if measure.cutoff is None else relevant.rank <= measure.cutoff
        total = np.bincount(relevant.row[seen], worth[seen], minlength=self._size)
        base = self._graded.judged.recall_base(measure.rel, measure.level)
        k = measure.cutoff or 1
        if divisor == "retrieved":
            found = np.bincount(relevant.row[seen], minlength=self._size)
            below = np.minimum(self._graded.retrieved, k) if isinstance(measure, P) else found
        elif divisor == "capped":
            below = np.minimum(base, k)
        else:
            below = np.where(base > 0, k, 0)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(below > 0, total / below, np.nan)
