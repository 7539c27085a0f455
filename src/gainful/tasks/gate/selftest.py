"""Self-test of a gate on its own collection: the rate of false alarms, and the faults that it detects.

Faults are injected into the baseline's run: the top document dropped, two of the top ten swapped, some documents lost.
Each draw resamples queries, adds the noise of harmless changes (differences of random sign, as large as past changes;
flips of scores of 0 and 1), and injects a fault into some queries. Without a fault, larger noise is also tried.
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

#: Shares of queries with a fault, and those shown in the table.
_SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0)
_SHOWN = (0.05, 0.2, 1.0)
#: Draws per fault and share, harmless draws per kind, sign flips per test, and orders of ties.
_DRAWS, _HARMLESS, _FLIPS, _TIES = 40, 1000, 1000, 5
#: Sizes of harmless changes, relative to small ones; the last affect only one group.
_CHANGES = {"small changes": 1.0, "larger ones": 2.5, (_IN_GROUP := "larger ones in one group"): 2.5}
_TOP, _LOST_SHARE, _CAUGHT = 10, 0.05, 0.9
_DROPPED, _SWAPPED, _LOST = "top document dropped", "two of the top ten swapped", "5% of documents lost"
_FAULTS = (_DROPPED, _SWAPPED, _LOST)
#: Harmless changes are modelled on the first of these faults that changes any score.
_NOISY = (_SWAPPED, _LOST, _DROPPED)
_BINS = 12


class Trial(NamedTuple):
    """A draw: the fault, the share of queries with it, the drop of the mean, and whether the gate detected it."""

    fault: str
    share: float
    drop: float
    is_caught: bool


class MeasureTest(NamedTuple):
    """The trials of one measure, with faults and with harmless changes."""

    measure: str
    baseline: float
    margin: float
    trials: tuple[Trial, ...]

    @property
    def alarms(self) -> list[tuple[str, int, int]]:
        """The kinds of harmless changes, the number reported as regressions, and the number tried."""
        tried = ((kind, [each.is_caught for each in self.trials if each.fault == kind]) for kind in _CHANGES)
        return [(kind, sum(caught), len(caught)) for kind, caught in tried if caught]

    @property
    def curve(self) -> list[tuple[float, float]]:
        """The middle of each bin of drops, and the share of faults detected."""
        drops = np.array([each.drop for each in self.trials])
        caught = np.array([each.is_caught for each in self.trials], float)
        if not drops.size or drops.max() <= 0:
            return []
        edges = np.linspace(0, min(drops.max(), 4 * self.margin), _BINS + 1)
        inside = [(low, high, (drops > low) & (drops <= high)) for low, high in pairwise(edges.tolist())]
        return [((low + high) / 2, float(caught[rows].mean())) for low, high, rows in inside if rows.any()]


@dataclass(frozen=True, eq=False, repr=False)
class SelfTest(Showable):
    """The self-test of a gate, by measure; ``tie_alarms`` of ``ties`` reordered runs were reported as regressions."""

    measures: tuple[MeasureTest, ...]
    tie_alarms: int
    ties: int

    def __repr__(self) -> str:
        return f"<SelfTest of {', '.join(each.measure for each in self.measures)}>"

    def page(self) -> Page:
        sentences, rows, lines = [], [], []
        for test in self.measures:
            bins, size = test.curve, "no drop reliably"
            # The drop above which nine of ten faults are detected.
            above = (middle for i, (middle, _) in enumerate(bins) if all(share >= _CAUGHT for _, share in bins[i:]))
            if (fires := next(above, None)) is not None:
                size = f"9 of 10 drops above {fires:.3f} ({fires / test.baseline:.1%})"
            sentences.append(f"{test.measure} detects {size}; the margin is {test.margin:.3f}.")
            rates = [f"1 in {n / hits:.0f} {kind}" if hits else f"0 in {n:,} {kind}" for kind, hits, n in test.alarms]
            sentences.append(f"False alarms: {', '.join(rates)}.")
            for fault, share in product(dict.fromkeys(each.fault for each in test.trials), _SHOWN):
                own = [each for each in test.trials if each.fault == fault and each.share == share]
                if any(each.drop for each in own):
                    drop = math.fsum(each.drop for each in own) / len(own)
                    rows.append((test.measure, fault, share, len(own), drop, sum(e.is_caught for e in own) / len(own)))
            middles, shares = zip(*bins, strict=True) if bins else ((), ())
            lines.append(Line(test.measure, middles, shares))
        verb = "was" if self.tie_alarms == 1 else "were"
        sentences.append(f"Of {self.ties} runs with reordered ties, {self.tie_alarms} {verb} reported as a regression.")
        columns = head("measure | fault | in queries %0 | draws # | mean drop . | found %0")
        axes = Axis("drop of the mean", 0.0), Axis("share detected", 0.0, 1.0)
        chart = Plot("Faults detected by drop of the mean", *axes, tuple(lines), rules=(Guide("9 of 10", y=_CAUGHT),))
        note = (
            "draws: resampled queries, with noise of small harmless changes (larger ones: 2.5 times as much) and a "
            f"fault in a share of the queries; {_FLIPS:,} sign flips per test"
        )
        table = Table(columns, rows, title="Faults detected")
        return Page("gate", ("\n".join(sentences), table, chart), (note,))


def selftest(gate: Gate, qrels: QrelsLike | Judged, run: RunLike, *, seed: int = 0) -> SelfTest:
    """Test a gate on the run of its own baseline."""
    progress = current_progress()
    generator = np.random.default_rng(seed)
    judged, read = judged_for(gate, qrels), Run.of(run, policy=gate.conventions)
    given = comparable(gate, judged, {"run": read})
    for measure, frozen, scores in zip(gate.measures, frozen_scores(gate, given.queries), given.scores, strict=True):
        if not np.allclose(frozen, scores[:, 0], rtol=0, atol=1e-9, equal_nan=True):
            raise InputError(f"the run is not the baseline: its {measure} differs", "`gainful gate history` names it")
    found = evaluate_runs(judged, _faulty_runs(read, generator), gate.parsed, queries=Queries(only=list(gate.queries)))
    tests, tie_alarms = [], [False] * _TIES
    draws = (len(_CHANGES) - (gate.rule.by is None)) * _HARMLESS + len(_FAULTS) * len(_SHARES) * _DRAWS
    progress.total += len(gate.measures) * draws
    for parsed in gate.parsed:
        # The scores of each variant of the run; missing scores are those of the original run.
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
    """Whether the gate reports new scores of resampled queries as a regression."""
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
    """Run the trials of one measure, with and without faults."""
    measure, baseline, n = compared.measure, compared.baseline, compared.baseline.size
    weights = np.ones(n) if compared.weights is None else compared.weights
    mean = weighted_mean(baseline, weights)
    sign = 1.0 if measure.better == "higher" else -1.0
    spread = usual_spread(gate, str(measure), baseline, mean)
    sizes = next((size for fault in _NOISY if (size := np.abs(scores[fault] - baseline)).any()), np.ones(n))
    groups = [] if compared.groups is None else list(dict.fromkeys(compared.groups.tolist()))

    def draw(fault: Floats, kind: str = "small changes") -> tuple[float, bool]:
        """Resample queries, with a fault and a harmless change: noise of random sign, or flips of scores of 0 or 1."""
        rows = generator.integers(0, n, n)
        start, faults = baseline[rows], fault[rows]
        if are_zero_or_one(baseline):
            turned = min((_CHANGES[kind] * spread) ** 2 / 2, mean, 1 - mean)  # share of queries, in each direction
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
    """Return the run, variants with reordered ties, and variants with each fault in every list; scores are ranks."""
    counts, places = np.diff(run.list_offsets), np.arange(len(run))
    list_of = np.repeat(np.arange(counts.size), counts)
    key = -run.score if run.has_scores else run.rank if run.has_ranks else places.astype(float)

    def ranked(rows: Ints, kept: Bools | slice = slice(None)) -> Run:
        sizes = np.bincount(list_of[kept], minlength=counts.size)
        offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        score = -(np.arange(offsets[-1]) - np.repeat(offsets[:-1], sizes)).astype(float)
        return replace(run.with_rows(rows[kept], offsets), score=score, rank=np.empty(0))

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
