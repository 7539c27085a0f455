"""A gate proved on its own collection: how often it is alarmed by nothing, and which faults it finds.

Faults are put into the baseline's run: its top document dropped, documents swapped in the top ten, some lost. Each draw
takes queries with replacement, adds the noise that harmless changes have (differences of either sign, as large as past
changes were), and puts a fault into some of the queries.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from gainful.data.judged import Judged
from gainful.data.qrels import QrelsLike
from gainful.data.queries import Queries
from gainful.data.run import Run, RunLike
from gainful.errors import InputError
from gainful.evaluation.evaluate import evaluate_runs
from gainful.evaluation.results import Evaluation
from gainful.kernel.arrays import Floats, Ints
from gainful.kernel.exact_sums import weighted_mean
from gainful.kernel.parallel import Progress
from gainful.measures.base import Measure
from gainful.pages.charts import Axis, Line, Plot, Rule as Guide
from gainful.pages.page import Table, head
from gainful.render import Page, Showable
from gainful.stats.regression_rule import KNOWN_FROM, LEVEL, assess_change
from gainful.tasks.gate import comparable, judged_for
from gainful.tasks.gate.gate_file import Gate
from gainful.tasks.gate.measured import Measured, as_number

#: Shares of queries that a fault is put into, draws for each, harmless draws, and flips in each test.
_SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0)
_SHOWN = (0.05, 0.2, 1.0)
_DRAWS, _HARMLESS, _FLIPS, _TIES = 40, 1000, 1000, 5
_TOP, _LOST, _CAUGHT = 10, 0.05, 0.9
_FAULTS = {
    "top document dropped": "drop",
    "two of the top ten swapped": "swap",
    "5 % of documents lost": "lose",
}
#: What harmless changes look like: the first of these that moves anything.
_NOISY = ("two of the top ten swapped", "5 % of documents lost", "top document dropped")
_BINS = 12


@dataclass(frozen=True)
class Trial:
    """A draw with a fault: which, in what share of the queries, by how much the mean fell for it, and was it found."""

    fault: str
    share: float
    drop: float
    is_caught: bool


@dataclass(frozen=True)
class MeasureTest:
    """A measure's gate: false alarms in harmless draws, and all draws with a fault."""

    measure: str
    baseline: float
    margin: float
    harmless: int
    alarms: int
    trials: tuple[Trial, ...]

    @property
    def curve(self) -> list[tuple[float, float, int]]:
        """Drops in bins of equal size: the middle of each, the share of faults found, and of how many."""
        drops = np.array([each.drop for each in self.trials])
        caught = np.array([each.is_caught for each in self.trials], float)
        if not drops.size or drops.max() <= 0:
            return []
        edges = np.linspace(0, min(drops.max(), 4 * self.margin), _BINS + 1)
        found = []
        for low, high in pairwise(edges.tolist()):
            inside = (drops > low) & (drops <= high)
            if inside.any():
                found.append(((low + high) / 2, float(caught[inside].mean()), int(inside.sum())))
        return found

    @property
    def fires_above(self) -> float | None:
        """The drop above which nine of ten faults are found; None where none is."""
        bins = self.curve
        for place, (middle, _, _) in enumerate(bins):
            if all(share >= _CAUGHT for _, share, _ in bins[place:]):
                return middle
        return None


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
        sentences = "\n".join(_sentence(each) for each in self.measures)
        ties = f"Of {self.ties} runs with ties in another order, {self.tie_alarms} were called a regression."
        parts: list[Table | Plot | str] = [f"{sentences}\n{ties}", _table(self.measures), _chart(self.measures)]
        note = (
            "draws: queries with replacement, noise as harmless changes have it, and a fault in a share of the "
            f"queries; {_FLIPS:,} flips a test"
        )
        return Page("gate", tuple(parts), (note,))


def _sentence(test: MeasureTest) -> str:
    fires = test.fires_above
    size = "no drop that was tried" if fires is None else f"drops above {fires:.3f} ({fires / test.baseline:.1%})"
    found = f"{test.measure} fires on {size}" + ("" if fires is None else " in 9 of 10")
    rate = f"1 in {test.harmless / test.alarms:.0f}" if test.alarms else f"none in {test.harmless:,}"
    return f"{found}; false alarms {rate}; the margin is {test.margin:.3f}."


def _table(tests: tuple[MeasureTest, ...]) -> Table:
    rows: list[tuple[str, str, float, int, float, float]] = []
    for test in tests:
        for fault in dict.fromkeys(each.fault for each in test.trials):
            for share in _SHOWN:
                own = [each for each in test.trials if each.fault == fault and each.share == share]
                if any(each.drop for each in own):
                    drop = math.fsum(each.drop for each in own) / len(own)
                    rows.append((test.measure, fault, share, len(own), drop, sum(e.is_caught for e in own) / len(own)))
    columns = head("measure | fault | in queries %0 | draws # | mean drop . | found %0")
    return Table(columns, rows, title="Faults and how many are found")


def _chart(tests: tuple[MeasureTest, ...]) -> Plot:
    lines = tuple(
        Line(test.measure, tuple(x for x, _, _ in test.curve), tuple(y for _, y, _ in test.curve)) for test in tests
    )
    axes = Axis("drop of the mean", 0.0), Axis("share found", 0.0, 1.0)
    return Plot("Faults found by size of the drop", *axes, lines, rules=(Guide("9 of 10", y=_CAUGHT),))


def selftest(
    gate: Gate, qrels: QrelsLike | Judged, run: RunLike, *, seed: int = 0, progress: Progress | None = None
) -> SelfTest:
    """Tries a gate on its own baseline's run, which it has to be given."""
    progress = progress or Progress()
    generator = np.random.default_rng(seed)
    judged, read = judged_for(gate, qrels), Run.of(run)
    _refuse_others(gate, comparable(gate, judged, {"run": read}, None, None))
    lists = _Lists.of(read)
    runs = {
        "": lists.ranked(),
        **{f"ties {i}": lists.shuffled(generator) for i in range(_TIES)},
        **{fault: lists.with_fault(kind, generator) for fault, kind in _FAULTS.items()},
    }
    found = evaluate_runs(judged, runs, gate.parsed, queries=Queries(only=list(gate.queries)))
    tests, tie_alarms = [], [False] * _TIES
    progress.total = len(gate.measures) * (_HARMLESS + len(_FAULTS) * len(_SHARES) * _DRAWS)
    for measure in gate.parsed:
        scores = _scores(gate, measure, found)
        tested = _Tested(gate, measure, scores[""], _group_codes(gate), _weights(gate))
        tests.append(_tried(tested, scores, generator, progress))
        for i in range(_TIES):
            tie_alarms[i] |= tested.fires(np.arange(scores[""].size), scores[f"ties {i}"])
    return SelfTest(tuple(tests), sum(tie_alarms), _TIES)


def _refuse_others(gate: Gate, found: Measured) -> None:
    """Refuses a run whose scores are not the baseline's."""
    for i, measure in enumerate(gate.measures):
        frozen = [as_number(gate.queries[query].scores[i]) for query in found.queries]
        if not np.allclose(frozen, found.scores[i][:, 0], rtol=0, atol=1e-9, equal_nan=True):
            raise InputError(
                f"the run is not the baseline's: its {measure} differs from the gate's",
                "`gainful gate history` says which run it was",
            )


def _scores(gate: Gate, measure: Measure, found: Mapping[str, Evaluation]) -> dict[str, Floats]:
    """The scores by variant of the run, in the order of the gate's queries; where there is none, as without a fault."""
    values = {name: each.by_query(measure) for name, each in found.items()}
    usual = np.array([as_number(values[""][query]) for query in gate.queries])
    usual = np.where(np.isnan(usual), np.nanmean(usual), usual)
    scores = {name: np.array([as_number(each[query]) for query in gate.queries]) for name, each in values.items()}
    return {name: np.where(np.isnan(each), usual, each) for name, each in scores.items()}


def _weights(gate: Gate) -> Floats:
    return np.array([each.weight or 1.0 for each in gate.queries.values()])


def _group_codes(gate: Gate) -> Ints:
    """The number of each query's group: 0 of all where there is but one."""
    groups = list(dict.fromkeys(each.group for each in gate.queries.values()))
    return np.array([groups.index(each.group) for each in gate.queries.values()], np.int64)


@dataclass(frozen=True, eq=False)
class _Tested:
    """A measure of a gate, with its baseline's scores, the numbers of queries' groups, and their weights."""

    gate: Gate
    measure: Measure
    baseline: Floats
    codes: Ints
    weights: Floats

    def mean(self, values: Floats, rows: Ints) -> float:
        """The weighted mean of some queries' values."""
        return weighted_mean(values[rows], self.weights[rows])

    def fires(self, rows: Ints, new: Floats) -> bool:
        """Whether the gate calls new scores of some queries a regression: of all, or of a group at the level of their
        number."""
        codes = self.codes[rows]
        groups = [np.flatnonzero(codes == code) for code in np.flatnonzero(np.bincount(codes)).tolist()]
        parts = [(np.arange(rows.size), 1), *((part, len(groups)) for part in groups if len(groups) > 1)]
        return any(self._is_regression(rows[part], new[part], of) for part, of in parts)

    def _is_regression(self, rows: Ints, new: Floats, groups: int) -> bool:
        mean = self.mean(self.baseline, rows)
        weights = self.weights[rows] * (rows.size / self.weights[rows].sum())
        return assess_change(
            self.baseline[rows],
            new,
            self.gate.rule.margin_of(mean),
            better=self.measure.better,
            weights=None if self.gate.rule.weights is None else weights,
            spread=self.gate.known_spread(str(self.measure), mean, KNOWN_FROM),
            level=LEVEL / groups,
            draws=_FLIPS,
            runs=self.gate.run_noise(str(self.measure)),
        ).is_regression


def _tried(
    tested: _Tested, scores: Mapping[str, Floats], generator: np.random.Generator, progress: Progress
) -> MeasureTest:
    gate, measure, baseline, codes = tested.gate, tested.measure, tested.baseline, tested.codes
    n = baseline.size
    mean = tested.mean(baseline, np.arange(n))
    sign = 1.0 if measure.better == "higher" else -1.0
    spread = gate.known_spread(str(measure), mean, KNOWN_FROM) or gate.rule.spread * abs(mean)
    sizes = next((size for fault in _NOISY if (size := np.abs(scores[fault] - baseline)).any()), np.ones(n))
    scale = spread / math.sqrt(float(np.mean(sizes**2)))

    def draw(fault: Floats) -> tuple[float, bool]:
        """A sample of queries with a fault, and differences of either sign as large as those of past changes."""
        rows = generator.integers(0, n, n)
        harmless = scale * generator.permutation(sizes) * generator.choice((-1.0, 1.0), n)
        drop = -sign * tested.mean(fault, rows)
        is_caught = tested.fires(rows, baseline[rows] + fault[rows] + harmless)
        progress.advance(1)
        return drop, is_caught

    alarms = sum(draw(np.zeros(n))[1] for _ in range(_HARMLESS))
    trials = []
    for fault in _FAULTS:
        effect = scores[fault] - baseline
        for share in _SHARES:
            for _ in range(_DRAWS):
                hit = generator.permutation(n) < max(1, round(share * n))
                trials.append(Trial(fault, share, *draw(np.where(hit, effect, 0.0))))
    worst = scores["top document dropped"] - baseline
    for code in range(1 + int(codes.max()) if codes.max() else 0):
        in_group = np.where(codes == code, worst, 0.0)
        trials += [Trial("top document dropped in one group", 1.0, *draw(in_group)) for _ in range(_DRAWS)]
    return MeasureTest(str(measure), mean, gate.rule.margin_of(mean), _HARMLESS, alarms, tuple(trials))


@dataclass(frozen=True, eq=False)
class _Lists:
    """The rows of a run in the order of its ranks, list by list."""

    run: Run
    rows: Ints
    list_of: Ints
    place: Ints

    @classmethod
    def of(cls, run: Run) -> _Lists:
        return cls._sorted(run, np.arange(len(run)))

    @classmethod
    def _sorted(cls, run: Run, among_ties: Ints) -> _Lists:
        counts = np.diff(run.list_offsets)
        list_of = np.repeat(np.arange(counts.size), counts)
        by_rank = run.rank if run.has_ranks else np.arange(len(run), dtype=float)
        key = -run.score if run.has_scores else by_rank
        rows = np.lexsort((among_ties, key, list_of))
        place = np.arange(len(run)) - np.repeat(run.list_offsets[:-1], counts)
        return cls(run, rows, list_of, place)

    def shuffled(self, generator: np.random.Generator) -> Run:
        """The run with what is tied in another order."""
        return self._sorted(self.run, generator.permutation(len(self.run))).ranked()

    def ranked(self, kept: Ints | None = None) -> Run:
        """The run with its ranks as scores; of all rows, or of those at some places."""
        kept = np.arange(self.rows.size) if kept is None else kept
        counts = np.bincount(self.list_of[kept], minlength=len(self.run.query_ids))
        offsets = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        made = self.run.with_rows(self.rows[kept], offsets)
        score = -(np.arange(kept.size) - np.repeat(offsets[:-1], counts)).astype(float)
        return replace(made, score=score, rank=np.empty(0))

    def with_fault(self, kind: str, generator: np.random.Generator) -> Run:
        """The run with a fault in every list."""
        if kind == "drop":
            return self.ranked(np.flatnonzero(self.place > 0))
        if kind == "lose":
            return self.ranked(np.flatnonzero(generator.random(self.rows.size) >= _LOST))
        rows = self.rows.copy()
        starts = self.run.list_offsets[:-1]
        for start, count in zip(starts.tolist(), np.diff(self.run.list_offsets).tolist(), strict=True):
            if count > 1:
                one, other = generator.choice(min(count, _TOP), 2, replace=False).tolist()
                rows[[start + one, start + other]] = rows[[start + other, start + one]]
        return replace(self, rows=rows).ranked()
