"""Scores of a measure's variants: those that measures have parameters for, and those that no measure should have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np

from gainful.arrays import Floats
from gainful.conventions.dimensions import discount_of, is_cumulated, usual_divisor
from gainful.conventions.orderings import RankedLists
from gainful.data.lists import Documents, GainLists
from gainful.discounts import divisors
from gainful.evaluation import raw_scores
from gainful.measures.average_precision import AP
from gainful.measures.base import Measure
from gainful.measures.cumulated_gain import CG, DCG, NCG, NDCG
from gainful.measures.precision import P, R

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
