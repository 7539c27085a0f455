"""Scores of a measure's variants: those that measures have parameters for, and those that no measure should have.

The search: all combinations with few departures, what they give, and which of them give the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, product
from typing import NamedTuple, TypeAlias

import numpy as np

from gainful.data.lists import Documents, GainLists
from gainful.discounts import divisors
from gainful.evaluation.results import aggregated, settled
from gainful.kernel.arrays import Floats
from gainful.kernel.parallel import Progress
from gainful.measures.average_precision import AP
from gainful.measures.base import Measure
from gainful.measures.block import raw_scores
from gainful.measures.cumulated_gain import CG, DCG, NCG, NDCG
from gainful.measures.precision import P, R
from gainful.tasks.whydiff.dimensions import Dialect, Dimension, discount_of, is_cumulated, usual_divisor
from gainful.tasks.whydiff.orderings import Orderings, RankedLists

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


#: One value, by its place, for every dimension; 0 is where the search starts.
Combination: TypeAlias = tuple[int, ...]

#: Scores whose difference is not larger than this, relative to 1 or to themselves, differ by rounding only.
_ROUNDING = 1e-11

#: What stands for the score of a query that is left out; no formula gives it.
_LEFT_OUT = -math.sqrt(3.0)

#: So many formulas are computed together.
_AT_ONCE = 64

_MISSING = ("zero", "skip")


class Outcome(NamedTuple):
    """What a combination gives: the aggregate, and a weighted sum of all queries' scores that is (but for rounding) the
    same for two combinations only if they agree on every query."""

    value: float
    trace: float

    def or_none(self) -> Outcome | None:
        """Itself, if there is a value: where every query is left out there is none."""
        return None if math.isnan(self.value) else self


class _Task(NamedTuple):
    """What is to be computed on some lists: variants, and who waits for each of them with which ending."""

    lists: RankedLists
    members: dict[Variant, list[tuple[Combination, tuple[str, str]]]]


@dataclass(frozen=True)
class Cluster:
    """Combinations that the data cannot tell apart, the simplest first."""

    value: float
    members: tuple[Combination, ...]

    @property
    def simplest(self) -> Combination:
        return self.members[0]


class Space:
    """The combinations of the dimensions' values."""

    def __init__(self, dimensions: Sequence[Dimension]) -> None:
        self.dimensions = tuple(dimensions)
        self.start: Combination = (0,) * len(dimensions)

    def settings(self, combination: Combination) -> dict[str, str]:
        """The value of every dimension."""
        return {d.name: d.values[i] for d, i in zip(self.dimensions, combination, strict=True)}

    def combination(self, settings: Mapping[str, str]) -> Combination:
        """The inverse of :meth:`settings`."""
        return tuple(dimension.values.index(settings[dimension.name]) for dimension in self.dimensions)

    def near(self, departures: int) -> Iterator[Combination]:
        """Every combination with at most so many departures, those with fewer first."""
        for count in range(min(departures, len(self.dimensions)) + 1):
            for changed in combinations(range(len(self.dimensions)), count):
                for places in product(*(range(1, len(self.dimensions[i].values)) for i in changed)):
                    combination = list(self.start)
                    for i, place in zip(changed, places, strict=True):
                        combination[i] = place
                    yield tuple(combination)

    def neighbours(self, combination: Combination) -> Iterator[Combination]:
        """Every combination with another value in exactly one dimension."""
        for i, dimension in enumerate(self.dimensions):
            for place in range(len(dimension.values)):
                if place != combination[i]:
                    yield (*combination[:i], place, *combination[i + 1 :])

    def without_one_departure(self, combination: Combination) -> Iterator[Combination]:
        """The combinations that have one departure less."""
        yield from ((*combination[:i], 0, *combination[i + 1 :]) for i, place in enumerate(combination) if place)

    def adopted(self, dialect: Dialect, combination: Combination) -> Combination | None:
        """The combination with what a dialect has otherwise put right."""
        settings = dialect.adopted(self.settings(combination), self.dimensions)
        return None if settings is None else self.combination(settings)

    def spoken(self, dialect: Dialect) -> Iterator[Combination]:
        """The ways in which a dialect is used: all that it has itself, and in what it leaves open at most one step."""
        if self.adopted(dialect, self.start) is None:
            return
        is_open = [dialect.leaves_open(dimension.name) for dimension in self.dimensions]
        places = [range(len(dimension.values)) for dimension in self.dimensions]
        own = [
            [0] if is_open[i] else [dimension.values.index(value) for value in dialect.choices(dimension)]
            for i, dimension in enumerate(self.dimensions)
        ]
        for combination in product(*own):
            yield combination
            for i in (i for i, free in enumerate(is_open) if free):
                yield from ((*combination[:i], place, *combination[i + 1 :]) for place in places[i][1:])


def departed(combination: Combination) -> int:
    """In how many dimensions a combination leaves the start."""
    return sum(place > 0 for place in combination)


def simplicity(combination: Combination) -> tuple[int, tuple[tuple[int, int], ...]]:
    """What sorts combinations: few departures first, then likely ones, by the order of dimensions and values."""
    return departed(combination), tuple((i, place) for i, place in enumerate(combination) if place)


class Outcomes:
    """What combinations give on one run. Each ordering, each formula on it, and each outcome is computed once."""

    def __init__(self, space: Space, orderings: Orderings, measure: Measure, recall_cut: str) -> None:
        self._space = space
        self._orderings = orderings
        self._measure = measure
        self._recall_cut = recall_cut
        self._variants: dict[tuple[str | None, ...], Variant] = {}
        self._settled: dict[tuple[int, Variant], dict[tuple[str, str], Outcome]] = {}
        self._known: dict[Combination, Outcome | None] = {}
        queries = len(orderings.first.query_ids)
        self._weights = (0.5 + np.mod(np.arange(1, queries + 1) * math.sqrt(5.0), 1.0)) / queries

    def of(self, wanted: Iterable[Combination], progress: Progress) -> dict[Combination, Outcome]:
        """The outcomes of those combinations that make sense and leave a query to average over."""
        wanted = list(dict.fromkeys(wanted))
        self._add([combination for combination in wanted if combination not in self._known], progress)
        found = {combination: self._known[combination] for combination in wanted}
        return {combination: outcome for combination, outcome in found.items() if outcome is not None}

    def _add(self, new: Sequence[Combination], progress: Progress) -> None:
        tasks: dict[int, _Task] = {}
        progress.total += len(new)
        for combination in new:
            settings = self._space.settings(combination)
            lists = self._orderings.lists(settings)
            self._known[combination] = None
            if lists is not None:
                task = tasks.setdefault(lists.number, _Task(lists, {}))
                ending = settings.get("missing", "zero"), settings.get("undefined", "zero")
                task.members.setdefault(self._variant(settings), []).append((combination, ending))
            progress.advance(1)
        missing = {n: [v for v in task.members if (n, v) not in self._settled] for n, task in tasks.items()}
        progress.total += sum(map(len, missing.values()))
        for number, task in tasks.items():
            self._compute(task.lists, missing[number], progress)
            for variant, members in task.members.items():
                outcomes = self._settled[number, variant]
                self._known.update((member, outcomes[ending].or_none()) for member, ending in members)

    def _variant(self, settings: Mapping[str, str]) -> Variant:
        key = tuple(settings.get(name) for name in ("gain", "ideal", "divisor", "discount", "rel", "recall-cut"))
        if key not in self._variants:
            self._variants[key] = Variant.of(self._measure, settings, self._recall_cut)
        return self._variants[key]

    def _compute(self, lists: RankedLists, variants: Sequence[Variant], progress: Progress) -> None:
        scores = VariantScores(lists)
        # A few at a time: as many as fit into memory together, and often enough to say how far it is.
        for first in range(0, len(variants), _AT_ONCE):
            chosen = variants[first : first + _AT_ONCE]
            for variant, raw in zip(chosen, scores.of(chosen), strict=True):
                self._settled[lists.number, variant] = self._endings(raw)
            progress.advance(len(chosen))

    def _endings(self, raw: Floats) -> dict[tuple[str, str], Outcome]:
        """What becomes of raw scores, for every way to deal with missing and undefined ones."""
        answered = self._orderings.answered
        worst = math.nan if self._measure.worst is None else self._measure.worst
        becomes = {"zero": worst, "skip": math.nan, "one": 1.0}
        found: dict[tuple[str, str], Outcome] = {}
        is_missing, is_undefined = not answered.all(), bool(np.isnan(raw[answered]).any())
        for missing, undefined in product(_MISSING, becomes):
            # What does not occur makes no difference.
            same = (missing if is_missing else "zero", undefined if is_undefined else "zero")
            if same not in found:
                found[same] = self._outcome(settled(raw, answered, self._measure, missing, becomes[undefined]))
            found[missing, undefined] = found[same]
        return found

    def _outcome(self, values: Floats) -> Outcome:
        left_out = np.isnan(values)
        kept = values[~left_out]
        value = aggregated(kept, self._measure) if kept.size else math.nan
        return Outcome(value, float(np.dot(self._weights, np.where(left_out, _LEFT_OUT, values))))


def alike(one: Outcome, other: Outcome) -> bool:
    """Whether two outcomes are the same for every query."""
    return abs(one.trace - other.trace) <= _ROUNDING * max(1.0, abs(one.trace))


def clusters(outcomes: Mapping[Combination, Outcome]) -> list[Cluster]:
    """Combinations that agree on every query, together."""
    found: list[list[Combination]] = []
    for combination in sorted(outcomes, key=lambda combination: outcomes[combination].trace):
        if not found or not alike(outcomes[found[-1][-1]], outcomes[combination]):
            found.append([])
        found[-1].append(combination)
    ordered = [tuple(sorted(members, key=simplicity)) for members in found]
    return [Cluster(outcomes[members[0]].value, members) for members in ordered]
