"""The studies behind docs/explanation/gate-rule.md: false alarms and missed drops of the gate."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matrices import markdown, read

from gainful.kernel.arrays import Floats
from gainful.stats.distributions import upper_normal
from gainful.stats.regression_rule import LEAST_SHARE, LEVEL, MARGIN_LEVEL, Change, assess_change, least_shown
from gainful.tasks.gate import MARGIN, Rule as GateRule

MATRICES = {
    "AP": "urbano.robust2004_ap",
    "P@10": "urbano.adhoc8_p10",
    "nDCG": "urbano.robust2004_ndcg",
    "RR": "urbano.adhoc8_rr",
}
#: Measures of 0 and 1: whether the first relevant document is among so many.
TOPS = {"Success@5": 5, "Success@1": 1}
FLIPS = 1000
SIZES, DROPS = (40, 50, 200, 1000), (0.05, 0.1)
SPREADS = ((0.0, 0.13), (0.13, 0.25), (0.25, 0.5), (0.5, 0.8))
#: Of 0 and 1, a small change turns .05 of the queries (a spread of .22); the mean of a baseline is between these.
FLIPPED, MIDDLE = 0.05, (0.2, 0.98)
#: Pairs of systems have means that differ by at most this share of the spread of their differences, and a cell needs
#: some of them.
LEVEL_WITHIN, LEAST_PAIRS = 0.15, 5


class Drawn(NamedTuple):
    """A change, the differences behind it, and the median spread of five changes that were accepted before."""

    change: Change
    differences: Floats
    past: float

    @property
    def has_small_drop(self) -> bool:
        """The clause shared by the gate and the other rules."""
        return self.change.p_fell <= LEVEL and self.change.drop >= LEAST_SHARE * self.change.margin

    def exceeds(self, spread: float) -> bool:
        """Whether the drop is at least the margin and more than chance makes of a spread."""
        noise = upper_normal(LEVEL) * spread / math.sqrt(self.change.n)
        return self.change.drop >= max(self.change.margin, noise)

    @property
    def winsorised(self) -> float:
        """The spread without the tenth of differences at either end, or the past one if that is larger."""
        cut = int(0.1 * self.differences.size)
        ends = np.sort(self.differences)[[cut, self.differences.size - 1 - cut]]
        return max(self.past, float(np.std(np.clip(self.differences, *ends), ddof=1)))


Rule = Callable[[Drawn], bool]
#: Spreads, queries and the measure.
Cell = tuple[tuple[float, float], int, str]
GATE = "the gate's rule"
RULES: dict[str, Rule] = {
    GATE: lambda drawn: drawn.change.clause is not None,
    "p <= .01, drop of M/4": lambda drawn: drawn.has_small_drop,
    "p <= .025, drop of M/4": lambda drawn: (
        drawn.change.p_fell <= MARGIN_LEVEL and drawn.change.drop >= LEAST_SHARE * drawn.change.margin
    ),
    "as the gate, but p <= .05 and beyond the past or the winsorised spread instead of p <= .025": lambda drawn: (
        drawn.has_small_drop or (drawn.exceeds(drawn.winsorised) and drawn.change.p_fell <= 0.05)
    ),
    "as the gate, but beyond the past spread instead of p <= .025": lambda drawn: (
        drawn.has_small_drop or drawn.exceeds(drawn.past)
    ),
    "drop of M": lambda drawn: drawn.change.drop >= drawn.change.margin,
}


@cache
def _scores(folder: Path, measure: str) -> Floats:
    if measure in MATRICES:
        return read(folder, MATRICES[measure]).values
    return (read(folder, MATRICES["RR"]).values >= 1 / TOPS[measure] - 1e-9).astype(float)


@cache
def _pairs(folder: Path, measure: str, least: float, most: float) -> dict[tuple[int, int], float]:
    """Pairs of systems of about the same mean whose differences have a spread between two shares of it."""
    scores = _scores(folder, measure)
    means = scores.mean(axis=0)
    covariances = np.cov(scores.T)
    variances = np.diag(covariances)
    spreads = np.sqrt(np.maximum(0, variances[:, None] + variances - 2 * covariances)) / np.maximum(means, 1e-9)
    usable = (means >= MIDDLE[0]) & (means <= MIDDLE[1]) if measure in TOPS else means >= 0.05
    np.fill_diagonal(spreads, 1e9)
    is_level = np.abs(means[:, None] - means) <= LEVEL_WITHIN * spreads * means
    found = np.argwhere((spreads > max(least, 1e-9)) & (spreads <= most) & usable & is_level)
    return {(int(b), int(a)): float(spreads[a, b]) for a, b in found}


def _harmless(
    scores: Floats, pair: tuple[int, int], rng: np.random.Generator, are_flips: bool
) -> tuple[Floats, Floats]:
    """A baseline and differences from it whose mean over all queries is 0.

    Differences are those of a pair of systems, where they differ, less their mean there. Of 0 and 1, either system's
    score is the baseline's, at random, where they differ.
    """
    b, a = pair
    baseline, differences = scores[:, b].copy(), scores[:, a] - scores[:, b]
    differ = differences != 0
    if are_flips:
        turned = differ & (rng.random(len(scores)) < 0.5)
        baseline[turned] += differences[turned]
        differences[turned] *= -1
    else:
        differences[differ] -= differences[differ].mean()
    return baseline, differences


def _changes(
    folder: Path, measure: str, spreads: tuple[float, float], n: int, drop: float, samples: int
) -> Iterator[Drawn]:
    """Changes without any effect but a drop, on queries drawn from all; of 0 and 1, a drop loses hits at random."""
    scores, are_flips = _scores(folder, measure), measure in TOPS
    pairs = _pairs(folder, measure, *spreads)
    small = list((_pairs(folder, measure, 0.0, 0.13) or _pairs(folder, measure, 0.0, 0.25) or pairs).values())
    rng = np.random.default_rng((7, n, round(1000 * spreads[0]), round(1000 * drop)))
    for _ in range(samples if len(pairs) >= LEAST_PAIRS else 0):
        pair = list(pairs)[rng.integers(len(pairs))]
        rows = rng.integers(0, len(scores), n)
        of_all, differences = _harmless(scores[rows] if are_flips else scores, pair, rng, are_flips)
        baseline, harmless = (of_all, differences) if are_flips else (of_all[rows], differences[rows])
        new = baseline + harmless
        new = np.where(rng.random(n) < drop, 0.0, new) if are_flips else new - drop * baseline
        mean = float(baseline.mean())
        if mean <= 0:
            continue
        spread = max(GateRule.spread * mean, math.sqrt(FLIPPED) if are_flips else 0.0)
        margin = max(MARGIN * mean, least_shown(spread, n, are_flips))
        past = float(np.median(rng.choice(small, 5))) * mean
        yield Drawn(assess_change(baseline, new, margin, draws=FLIPS), new - baseline, past)


@cache
def _fired(folder: Path, drop: float, samples: int) -> dict[Cell, dict[str, float]]:
    """The share of changes that each rule calls a regression: by spread, queries and measure."""
    found = {}
    for spreads in SPREADS:
        for n in SIZES:
            for measure in (*MATRICES, *TOPS):
                drawn = list(_changes(folder, measure, spreads, n, drop, samples))
                if drawn:
                    shares = {name: sum(map(rule, drawn)) / len(drawn) for name, rule in RULES.items()}
                    found[spreads, n, measure] = shares
    return found


def _by_measure(*fired: dict[Cell, dict[str, float]], shown: Callable[[float], str]) -> str:
    """Evaluate the gate in each cell; cells with too few pairs of systems are empty."""
    rows = []
    for spreads in SPREADS:
        for n in SIZES:
            cells = [
                " / ".join(shown(found[spreads, n, measure][GATE]) for found in fired if (spreads, n, measure) in found)
                for measure in (*MATRICES, *TOPS)
            ]
            rows.append([f"{100 * spreads[0]:.0f} to {100 * spreads[1]:.0f}%", str(n), *cells])
    return markdown(["spread", "queries", *MATRICES, *TOPS], rows)


def gate_errors(folder: Path, samples: int = 4000) -> str:
    """The share of harmless changes that the gate calls a regression."""
    return _by_measure(_fired(folder, 0.0, samples), shown=lambda share: f"{share:.3f}")


def gate_misses(folder: Path, samples: int = 1000) -> str:
    """The share of drops of 5 and 10% that the gate does not call a regression."""
    fired = [_fired(folder, drop, samples) for drop in DROPS]
    return _by_measure(*fired, shown=lambda share: f"{1 - share:.2f}")


def gate_rules(folder: Path, samples: int = 4000, samples_of_drops: int = 1000) -> str:
    """Compare rules: false alarms in the worst cell and on average, and missed drops."""
    harmless, dropped = _fired(folder, 0.0, samples), [_fired(folder, drop, samples_of_drops) for drop in DROPS]
    rows = []
    for name in RULES:
        alarms = [each[name] for each in harmless.values()]
        missed = []
        for chosen in (set(harmless), {cell for cell in harmless if cell[:2] == (SPREADS[2], 200)}):
            caught = (np.mean([found[cell][name] for cell in chosen]) for found in dropped)
            missed.append(" / ".join(f"{1 - share:.2f}" for share in caught))
        rows.append([name, f"{max(alarms):.3f}", f"{np.mean(alarms):.3f}", *missed])
    of_drops = "5 / 10% drops missed"
    header = ["regression if", "most false alarms", "on average", of_drops, "200 queries, 25 to 50%: " + of_drops]
    return markdown(header, rows)


def gate_commits(folder: Path, samples: int = 300, commits: int = 50, n: int = 200) -> str:
    """Measure how often a series of harmless commits raises an alarm, with a frozen or a moving baseline."""
    rows = []
    for measure in ("AP", "P@10"):
        scores = _scores(folder, measure)
        pairs = list(_pairs(folder, measure, 0.0, GateRule.spread))
        alarms = np.zeros(2)
        for draw in range(samples):
            rng = np.random.default_rng((8, draw))
            queries = rng.integers(0, len(scores), n)
            b, a = pairs[rng.integers(len(pairs))]
            baseline = scores[queries, b]
            sizes = np.abs(scores[queries, a] - baseline)
            margin = MARGIN * float(baseline.mean())
            fired, before = [False, False], baseline
            for _ in range(commits):
                new = before + rng.permutation(sizes) * rng.choice((-1.0, 1.0), n)
                for i, other in enumerate((baseline, before)):
                    fired[i] = fired[i] or assess_change(other, new, margin, draws=FLIPS).clause is not None
                before = new
            alarms += fired
        rows.append([measure, *(f"{alarm / samples:.2f}" for alarm in alarms)])
    return markdown(["measure", "against a frozen baseline", "against the commit before"], rows)
