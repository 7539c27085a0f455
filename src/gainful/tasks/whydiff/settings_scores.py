"""The scores of a measure under any settings of the search, by the engine that `evaluate` uses.

Most settings are choices of a :class:`Policy` or parameters of the measure. The few that nobody should choose are made
of the engine's own inputs: judgments without the documents that a list misses, and grades that are gains already.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from typing import NamedTuple, TypeAlias

import numpy as np

from gainful.data.graded import GradedRun, join
from gainful.data.judged import Judged
from gainful.data.lists import highest_gain, is_relevant
from gainful.data.qrels import Qrels
from gainful.data.run import Run
from gainful.discounts import divisors
from gainful.gains import Gain
from gainful.kernel import core
from gainful.kernel.arrays import Floats
from gainful.measures.average_precision import AP
from gainful.measures.base import Measure
from gainful.measures.block import raw_scores
from gainful.measures.cumulated_gain import CG, DCG, NCG, NDCG, CumulatedGain
from gainful.measures.precision import P, R
from gainful.policy import Policy
from gainful.tasks.whydiff.dimensions import discount_of, is_cumulated, is_normalised, usual_divisor

#: Gain, rel and level by which documents of equal score share their gains.
_Sharing: TypeAlias = tuple[Gain, float | None, float | None]

#: The dimensions that decide which lists there are, and those that decide by which formula they are scored.
_DECIDE_LISTS = ("order", "ties", "scores", "duplicates", "negative", "unjudged")
DECIDE_FORMULA = ("gain", "ideal", "divisor", "discount", "rel", "recall-cut")


class Formula(NamedTuple):
    """A measure, the ideal list and the divisor that no measure has, and the policy's ``recall_cut``."""

    measure: Measure
    ideal: str
    divisor: str
    recall_cut: str

    @classmethod
    def of(cls, measure: Measure, settings: Mapping[str, str], recall_cut: str) -> Formula:
        changes: dict[str, object] = {"gain": settings["gain"]} if "gain" in settings else {}
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


@dataclass(frozen=True, eq=False)
class RankedLists:
    """A run's lists under some settings. ``averages_ties``: documents of equal score share their gains."""

    graded: GradedRun
    averages_ties: bool

    def scores(self, formulas: Sequence[Formula]) -> list[Floats]:
        """The raw scores of all queries for every formula, NaN where it is undefined."""
        together: dict[tuple[float | None, _Sharing | None, str], list[Formula]] = {}
        for formula in formulas:
            together.setdefault((*self._judged_to(formula), formula.recall_cut), []).append(formula)
        found: dict[Formula, Floats] = {}
        for (last, shared, recall_cut), alike in together.items():
            graded = self.graded
            if last is not None:
                shown = graded.hit_rank <= last
                grade = np.full(graded.judged.grade.size, np.nan)
                grade[graded.hit_item[shown]] = graded.hit_grade[shown]
                graded = replace(graded, judged=_with_grades(graded.judged, grade))
            if shared is not None:
                graded = _with_shared_gains(graded, *shared)
            graded = replace(graded, policy=graded.policy.replace(recall_cut=recall_cut))
            measures = [self._computed(formula) for formula in alike]
            with np.errstate(invalid="ignore", divide="ignore"):
                for formula, measure, raw in zip(alike, measures, raw_scores(graded, measures), strict=True):
                    found[formula] = raw / _divisor(formula, measure, graded)
        return [found[formula] for formula in formulas]

    def _judged_to(self, formula: Formula) -> tuple[float | None, _Sharing | None]:
        """The last rank whose documents count as judged, if what the list misses does not; how gains are shared."""
        measure = formula.measure
        last: float | None = None
        if formula.ideal == "shown" or (formula.divisor == "retrieved" and isinstance(measure, AP)):
            last = measure.rank_cutoff or np.inf
        elif formula.ideal == "retrieved":
            last = np.inf
        if self.averages_ties and isinstance(measure, CumulatedGain):
            return last, (measure.gain, measure.rel, measure.level)
        return last, None

    def _computed(self, formula: Formula) -> Measure:
        """The measure that the engine computes: linear where grades are gains, a sum where the ideal is another."""
        measure = formula.measure
        if not is_cumulated(measure):
            return measure
        if self.averages_ties:
            measure = measure.replace(gain="linear", rel=None, level=None)
        kind: type[Measure] = type(measure)
        if formula.ideal in ("uncut", "highest"):
            kind = CG if isinstance(measure, NCG) else DCG
        elif is_normalised(measure) and self.averages_ties:
            kind = _BeatableNCG if isinstance(measure, NCG) else _BeatableNDCG
        if kind is type(measure):
            return measure
        return kind(**{field.name: getattr(measure, field.name) for field in fields(measure)})


class _Beatable(CumulatedGain):
    """The ideal list of what is shown can be beaten: by documents that have gains of others below the cutoff."""

    def capped(self, scores: Floats) -> Floats:
        return np.where(np.isfinite(scores), scores, np.nan)


class _BeatableNCG(_Beatable, NCG):
    pass


class _BeatableNDCG(_Beatable, NDCG):
    pass


def _divisor(formula: Formula, computed: Measure, graded: GradedRun) -> Floats | float:
    """What the computed scores are divided by to have a formula's ideal list or divisor."""
    measure, k = formula.measure, formula.measure.rank_cutoff or 1
    if isinstance(computed, (CG, DCG)) and computed.name != measure.name:
        discounts = partial(divisors, computed.discount, computed.base)
        if formula.ideal == "highest":
            best = highest_gain(measure.gain, graded.judged.scale)  # type: ignore[attr-defined]
            return float((best / discounts(np.arange(1.0, k + 1.0))).sum())
        return graded.judged.ideal_lists(computed.gain, computed.rel, computed.level).total(discounts, None)
    if isinstance(measure, P) and formula.divisor == "retrieved":
        return np.minimum(graded.retrieved, k) / k
    if isinstance(measure, (AP, R)) and formula.divisor in ("capped", "k"):
        base = graded.judged.recall_base(measure.rel, measure.level)
        return np.asarray((np.minimum(base, k) if formula.divisor == "capped" else k) / base)
    return 1.0


def _with_grades(judged: Judged, grade: Floats) -> Judged:
    """The same judgments with other grades; NaN is not judged."""
    changed = Judged(judged.qrels, judged.policy, judged.index)
    changed.grade = grade
    return changed


def _with_shared_gains(graded: GradedRun, gain: Gain, rel: float | None, level: float | None) -> GradedRun:
    """Lists whose grades are gains, of which documents of equal score have their mean."""

    def gains(grade: Floats) -> Floats:
        counts = ~np.isnan(grade) if rel is None and level is None else is_relevant(grade, rel, level)
        found = np.where(np.isnan(grade), np.nan, 0.0)
        found[counts] = gain.of_grades(grade[counts], graded.judged.scale)
        return found

    first, _ = graded.tie_groups
    group = np.cumsum(first == np.arange(1, first.size + 1) - np.repeat(graded.list_offsets[:-1], graded.retrieved)) - 1
    sums = np.zeros(first.size)
    sums[graded.hit_place] = gains(graded.hit_grade)
    mean = (np.bincount(group, sums) / np.bincount(group))[group]
    place = np.flatnonzero(mean > 0)
    counts = np.searchsorted(place, graded.list_offsets)
    return replace(
        graded,
        judged=_with_grades(graded.judged, gains(graded.judged.grade)),
        hit_offsets=counts,
        hit_rank=place - np.repeat(graded.list_offsets[:-1], np.diff(counts)) + 1,
        hit_grade=mean[place],
        hit_item=np.zeros(place.size, np.int64),
    )


class ListsBySettings:
    """Joins a run with judgments under the settings that are asked for, and keeps once what comes out the same."""

    def __init__(self, qrels: Qrels, run: Run, policy: Policy, *, keeps_scores: bool, threads: int) -> None:
        self._qrels = qrels
        self._run = run
        # A run with duplicates has numbers, too; unjudged documents are removed from the joined lists.
        self._policy = policy.replace(duplicates="first", unjudged="zero")
        if policy.order == "score" and not run.has_scores:
            self._policy = self._policy.replace(order="input")
        self._keeps_scores = keeps_scores
        self._threads = threads
        self._joined: dict[object, GradedRun] = {}
        self._lists: dict[object, RankedLists | None] = {}
        self._different: dict[bytes, RankedLists] = {}

    @cached_property
    def first(self) -> GradedRun:
        """The lists as the policy has them, duplicates dropped."""
        return self._join(self._policy, self._run, self._keeps_scores)

    def lists(self, settings: Mapping[str, str]) -> RankedLists | None:
        """The lists of some settings; None where these contradict each other."""
        key = tuple(settings.get(name) for name in _DECIDE_LISTS)
        if key not in self._lists:
            self._lists[key] = self._new_lists(settings)
        return self._lists[key]

    def _new_lists(self, settings: Mapping[str, str]) -> RankedLists | None:
        averages = settings.get("ties") == "averaged"
        policy = self._policy.replace(
            **{name: settings[name] for name in ("order", "scores", "negative") if name in settings},
            ties="docid-desc" if averages else settings.get("ties", self._policy.ties),
        )
        if averages and policy.order != "score":
            return None
        # What has no effect beside the rest is not tried again.
        if policy.order != "score":
            ties = "docid-desc" if policy.order == "input" or policy.ties == "rank" else policy.ties
            policy = policy.replace(scores="float64", ties=ties)
        run = self._last_lines if settings.get("duplicates") == "last" else self._run
        graded = self._join(policy, run, averages or self._keeps_scores)
        graded = graded.condensed() if settings.get("unjudged") == "condensed" else graded
        averages = averages and bool((np.diff(graded.tie_groups, axis=0) > 0).any())
        if not averages and not self._keeps_scores:
            graded = replace(graded, score=np.zeros(0))
        # Where scores count, it matters whether they made the order: only then are equal ones tied.
        tied = self._keeps_scores and policy.order == "score"
        digest = hashlib.blake2b(str((averages, tied)).encode())
        for column in (graded.retrieved, graded.hit_offsets, graded.hit_rank, graded.hit_grade, graded.score):
            digest.update(np.ascontiguousarray(column).tobytes())
        return self._different.setdefault(digest.digest(), RankedLists(graded, averages))

    def _join(self, policy: Policy, run: Run, want_scores: bool) -> GradedRun:
        key = policy, id(run), want_scores
        if key not in self._joined:
            judged = Judged(self._qrels, policy)
            self._joined[key] = join(judged, run, policy, want_scores=want_scores, threads=self._threads)
        return self._joined[key]

    @cached_property
    def _last_lines(self) -> Run:
        """The run as a dict keeps it: later lines of a document overwrite earlier ones."""
        run = self._run
        order = sorted(range(len(run.query_ids)), key=run.query_ids.__getitem__)
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        lists = np.repeat(place, np.diff(run.list_offsets))
        # What indexes judgments numbers the documents of lists, too: equal ones of a list share a number.
        ids = [run.query_ids[i] for i in order]
        item = core.JudgmentIndex(ids, lists, run.data, run.document_start, run.document_length).item
        last = np.zeros(int(item.max(initial=-1)) + 1, np.int64)
        last[item] = np.arange(len(run))
        rows = np.sort(last)
        return run.with_rows(rows, np.searchsorted(rows, run.list_offsets))
