"""A gate proved on its own collection: how often it is alarmed by nothing, and which faults it finds.

Faults are put into the baseline's run: its top document dropped, documents swapped in the top ten, some lost. Each draw
takes queries with replacement, adds the noise that harmless changes have (differences of either sign, as large as past
changes were; of 0 and 1, turned scores), and puts a fault into some of the queries; without one, noise is also larger.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np

from gainful.data.judged import Judged
from gainful.data.qrels import QrelsLike
from gainful.data.queries import Queries
from gainful.data.run import Run, RunLike
from gainful.errors import InputError
from gainful.evaluation.evaluate import evaluate_runs
from gainful.frozen import dataclass, replace
from gainful.kernel.arrays import Bools, Floats, Ints
from gainful.kernel.exact_sums import weighted_mean
from gainful.kernel.parallel import Progress, current_progress
from gainful.pages.charts import Axis, Line, Plot, Rule as Guide
from gainful.pages.page import Table, head
from gainful.render import Page, Showable
from gainful.tasks.gate import Gate
from gainful.tasks.gate.baseline import (
    Compared,
    are_zero_or_one,
    comparable,
    frozen_scores,
    judged_for,
    usual_spread,
    weights_and_groups,
)

#: Shares of queries that a fault is put into, draws for each, harmless draws, and flips in each test.
_SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0)
_SHOWN = (0.05, 0.2, 1.0)
_DRAWS, _HARMLESS, _FLIPS, _TIES = 40, 1000, 1000, 5
#: Harmless changes: how many times as large as small ones they are; the last are in one group alone.
_CHANGES = {"small changes": 1.0, "larger ones": 2.5, (_IN_GROUP := "larger ones in one group"): 2.5}
_TOP, _LOST_SHARE, _CAUGHT = 10, 0.05, 0.9
_DROPPED, _SWAPPED, _LOST = "top document dropped", "two of the top ten swapped", "5% of documents lost"
_FAULTS = (_DROPPED, _SWAPPED, _LOST)
#: What harmless changes look like: the first of these that moves anything.
_NOISY = (_SWAPPED, _LOST, _DROPPED)
_BINS = 12


class Trial(NamedTuple):
    """A draw with a fault: which, in what share of the queries, by how much the mean fell for it, and was it found."""

    fault: str
    share: float
    drop: float
    is_caught: bool


class MeasureTest(NamedTuple):
    """A measure's gate: all draws with a fault, and those without, which are harmless changes."""

    measure: str
    baseline: float
    margin: float
    trials: tuple[Trial, ...]

    @property
    def alarms(self) -> list[tuple[str, int, int]]:
        """The kinds of harmless changes, how many were called a regression, and how many were tried."""
        tried = ((kind, [each.is_caught for each in self.trials if each.fault == kind]) for kind in _CHANGES)
        return [(kind, sum(caught), len(caught)) for kind, caught in tried if caught]

    @property
    def curve(self) -> list[tuple[float, float]]:
        """Drops in bins of equal size: the middle of each, and the share of faults found."""
        drops = np.array([each.drop for each in self.trials])
        caught = np.array([each.is_caught for each in self.trials], float)
        if not drops.size or drops.max() <= 0:
            return []
        edges = np.linspace(0, min(drops.max(), 4 * self.margin), _BINS + 1)
        inside = [(low, high, (drops > low) & (drops <= high)) for low, high in pairwise(edges.tolist())]
        return [((low + high) / 2, float(caught[rows].mean())) for low, high, rows in inside if rows.any()]

    @property
    def fires_above(self) -> float | None:
        """The drop above which nine of ten faults are found; None where none is."""
        bins = self.curve
        found = (middle for i, (middle, _) in enumerate(bins) if all(share >= _CAUGHT for _, share in bins[i:]))
        return next(found, None)


@dataclass(frozen=True, eq=False, repr=False)
class SelfTest(Showable):
    """What a gate is worth on its own collection, measure by measure; ``tie_alarms`` of so many runs whose ties were
    put into another order were called a regression."""

    measures: tuple[MeasureTest, ...]
    tie_alarms: int
    ties: int

    def __repr__(self) -> str:
        return f"<SelfTest of {', '.join(each.measure for each in self.measures)}>"

    def page(self) -> Page:
        sentences, rows = [], []
        for test in self.measures:
            fires = test.fires_above
            size = "no drop that was tried"
            if fires is not None:
                size = f"drops above {fires:.3f} ({fires / test.baseline:.1%}) in 9 of 10"
            sentences.append(f"{test.measure} fires on {size}; the margin is {test.margin:.3f}.")
            rates = [
                f"1 in {of / hits:.0f} {kind}" if hits else f"none in {of:,} {kind}" for kind, hits, of in test.alarms
            ]
            sentences.append(f"False alarms: {', '.join(rates)}.")
            for fault, share in product(dict.fromkeys(each.fault for each in test.trials), _SHOWN):
                own = [each for each in test.trials if each.fault == fault and each.share == share]
                if any(each.drop for each in own):
                    drop = math.fsum(each.drop for each in own) / len(own)
                    rows.append((test.measure, fault, share, len(own), drop, sum(e.is_caught for e in own) / len(own)))
        sentences.append(f"Of {self.ties} runs with ties in another order, {self.tie_alarms} were called a regression.")
        columns = head("measure | fault | in queries %0 | draws # | mean drop . | found %0")
        lines = []
        for test in self.measures:
            middles, shares = zip(*test.curve, strict=True) if test.curve else ((), ())
            lines.append(Line(test.measure, middles, shares))
        axes = Axis("drop of the mean", 0.0), Axis("share found", 0.0, 1.0)
        chart = Plot("Faults found by size of the drop", *axes, tuple(lines), rules=(Guide("9 of 10", y=_CAUGHT),))
        note = (
            "draws: queries with replacement, noise as small harmless changes have it (larger ones: 2.5 times as "
            f"much), and a fault in a share of the queries; {_FLIPS:,} flips a test"
        )
        table = Table(columns, rows, title="Faults and how many are found")
        return Page("gate", ("\n".join(sentences), table, chart), (note,))


def selftest(gate: Gate, qrels: QrelsLike | Judged, run: RunLike, *, seed: int = 0) -> SelfTest:
    """Tries a gate on its own baseline's run, which it has to be given."""
    progress = current_progress()
    generator = np.random.default_rng(seed)
    judged, read = judged_for(gate, qrels), Run.of(run, policy=gate.conventions)
    given = comparable(gate, judged, {"run": read})
    for measure, frozen, scores in zip(gate.measures, frozen_scores(gate, given.queries), given.scores, strict=True):
        if not np.allclose(frozen, scores[:, 0], rtol=0, atol=1e-9, equal_nan=True):
            raise InputError(
                f"the run is not the baseline's: its {measure} differs from the gate's",
                "`gainful gate history` says which run it was",
            )
    found = evaluate_runs(judged, _faulty_runs(read, generator), gate.parsed, queries=Queries(only=list(gate.queries)))
    tests, tie_alarms = [], [False] * _TIES
    draws = (len(_CHANGES) - (gate.rule.by is None)) * _HARMLESS + len(_FAULTS) * len(_SHARES) * _DRAWS
    progress.total += len(gate.measures) * draws
    for parsed in gate.parsed:
        # The scores of each variant of the run; where there is none, as without a fault.
        values = {name: each.by_query(parsed) for name, each in found.items()}
        by_name = {name: np.array([each[query] for query in gate.queries], float) for name, each in values.items()}
        usual = np.where(np.isnan(by_name[""]), np.nanmean(by_name[""]), by_name[""])
        by_name = {name: np.where(np.isnan(each), usual, each) for name, each in by_name.items()}
        baseline = Compared(parsed, tuple(gate.queries), usual, usual, *weights_and_groups(gate, gate.queries))
        tests.append(_test_measure(gate, baseline, by_name, generator, progress))
        for i in range(_TIES):
            tie_alarms[i] |= _fires(gate, baseline, np.arange(usual.size), by_name[f"ties {i}"])
    return SelfTest(tuple(tests), sum(tie_alarms), _TIES)


def _fires(gate: Gate, baseline: Compared, rows: Ints, new: Floats) -> bool:
    """Whether the gate calls new scores of some queries a regression."""
    drawn = replace(
        baseline,
        baseline=baseline.baseline[rows],
        new=new[:, np.newaxis],
        weights=None if baseline.weights is None else baseline.weights[rows],
        groups=None if baseline.groups is None else baseline.groups[rows],
    )
    return any(each.change.clause is not None for each in drawn.assess(gate, draws=_FLIPS))


def _test_measure(
    gate: Gate, compared: Compared, scores: Mapping[str, Floats], generator: np.random.Generator, progress: Progress
) -> MeasureTest:
    """Draws with nothing but noise, and draws with each fault in some of the queries."""
    measure, baseline, n = compared.measure, compared.baseline, compared.baseline.size
    weights = np.ones(n) if compared.weights is None else compared.weights
    mean = weighted_mean(baseline, weights)
    sign = 1.0 if measure.better == "higher" else -1.0
    spread = usual_spread(gate, str(measure), baseline, mean)
    sizes = next((size for fault in _NOISY if (size := np.abs(scores[fault] - baseline)).any()), np.ones(n))
    groups = [] if compared.groups is None else list(dict.fromkeys(compared.groups.tolist()))

    def draw(fault: Floats, kind: str = "small changes") -> tuple[float, bool]:
        """A sample of queries with a fault and a harmless change: differences of either sign, or where scores are 0
        and 1, as many of them turned either way, where there is no fault."""
        rows = generator.integers(0, n, n)
        start, faults = baseline[rows], fault[rows]
        if are_zero_or_one(baseline):
            turned = min((_CHANGES[kind] * spread) ** 2 / 2, mean, 1 - mean)  # of all queries, either way
            is_turned = generator.random(n) * np.where(start > 0, mean, 1 - mean) < turned
            noise = (1 - 2 * start) * (is_turned & (faults == 0))
        else:
            scale = _CHANGES[kind] * spread / math.sqrt(float(np.mean(sizes**2)))
            noise = scale * generator.permutation(sizes) * generator.choice((-1.0, 1.0), n)
        if kind == _IN_GROUP and compared.groups is not None:
            noise[compared.groups[rows] != generator.choice(groups)] = 0.0
        is_caught = _fires(gate, compared, rows, start + faults + noise)
        progress.advance(1)
        return -sign * weighted_mean(faults, weights[rows]), is_caught

    trials = []
    for kind in list(_CHANGES)[: None if len(groups) > 1 else -1]:
        trials += [Trial(kind, 0.0, *draw(np.zeros(n), kind)) for _ in range(_HARMLESS)]
    for fault, share in product(_FAULTS, _SHARES):
        effect = scores[fault] - baseline
        for _ in range(_DRAWS):
            hit = generator.permutation(n) < max(1, round(share * n))
            trials.append(Trial(fault, share, *draw(np.where(hit, effect, 0.0))))
    worst = scores[_DROPPED] - baseline
    for group in groups if len(groups) > 1 else ():
        in_group = np.where(compared.groups == group, worst, 0.0)
        trials += [Trial(f"{_DROPPED} in one group", 1.0, *draw(in_group)) for _ in range(_DRAWS)]
    return MeasureTest(str(measure), mean, gate.rule.margin_of(mean), tuple(trials))


def _faulty_runs(run: Run, generator: np.random.Generator) -> dict[str, Run]:
    """The run, the run with its ties in other orders, and with each fault in every list; ranks are its scores."""
    counts, places = np.diff(run.list_offsets), np.arange(len(run))
    list_of = np.repeat(np.arange(counts.size), counts)
    key = -run.score if run.has_scores else run.rank if run.has_ranks else places.astype(float)

    def ranked(rows: Ints, kept: Bools | slice = slice(None)) -> Run:
        sizes = np.bincount(list_of[kept], minlength=counts.size)
        offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        made = run.with_rows(rows[kept], offsets)
        score = -(np.arange(offsets[-1]) - np.repeat(offsets[:-1], sizes)).astype(float)
        return replace(made, score=score, rank=np.empty(0))

    rows = np.lexsort((places, key, list_of))
    found = {"": ranked(rows)}
    for i in range(_TIES):
        found[f"ties {i}"] = ranked(np.lexsort((generator.permutation(len(run)), key, list_of)))
    found[_DROPPED] = ranked(rows, places > np.repeat(run.list_offsets[:-1], counts))
    swapped = rows.copy()
    for start, count in zip(run.list_offsets[:-1].tolist(), counts.tolist(), strict=True):
        if count > 1:
            one, other = (start + generator.choice(min(count, _TOP), 2, replace=False)).tolist()
            swapped[[one, other]] = swapped[[other, one]]
    found[_SWAPPED] = ranked(swapped)
    found[_LOST] = ranked(rows, generator.random(rows.size) >= _LOST_SHARE)
    return found
