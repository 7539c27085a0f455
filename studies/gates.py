"""The studies of docs/gate.md: how often the gate's rule is alarmed by nothing, and how often it misses a drop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from matrices import markdown, read

from gainful.kernel.arrays import Floats
from gainful.stats.regression_rule import KNOWN_FROM, LEVEL, Change, assess_change
from gainful.tasks.gate import Rule as GateRule

MATRICES = {"AP": "urbano.robust2004_ap", "P@10": "urbano.adhoc8_p10"}
MARGIN, FLIPS = 0.02, 1000
SIZES, DROPS = (50, 200, 1000), (0.0, 0.02, 0.05)

Rule = Callable[[Change], bool]
RULES: dict[str, Rule] = {
    "the gate": lambda change: change.is_regression,
    "the same, but from M/2 on": lambda change: change.is_regression and change.drop >= change.margin / 2,
    "the mean fell": lambda change: change.drop > 0,
    "the mean fell by the margin": lambda change: change.drop >= change.margin,
    "a test at 1 %": lambda change: change.p_fell <= LEVEL,
}


def _tweaks(scores: Floats, most: float = GateRule.spread) -> dict[tuple[int, int], float]:
    """Pairs of systems that differ as a small change does: the spread of their differences, relative to the mean."""
    means, count = scores.mean(axis=0), len(scores)
    covariances = np.cov(scores.T)
    variances = np.diag(covariances)
    spreads = np.sqrt(np.maximum(0, variances[:, None] + variances - 2 * covariances)) / np.maximum(means, 1 / count)
    np.fill_diagonal(spreads, np.inf)
    return {(int(a), int(b)): float(spreads[a, b]) for a, b in np.argwhere((spreads > 0) & (spreads < most))}


def _changes(scores: Floats, n: int, drop: float, samples: int, seed: int) -> Iterator[Change]:
    """Changes without any effect but a drop of the baseline's scores, on queries drawn from all."""
    rng = np.random.default_rng(seed)
    found = _tweaks(scores)
    pairs, spreads = list(found), list(found.values())
    for _ in range(samples):
        a, b = pairs[rng.integers(len(pairs))]
        differences = scores[:, a] - scores[:, b]
        rows = rng.integers(0, len(scores), n)
        baseline = scores[rows, b]
        new = baseline * (1 - drop) + (differences - differences.mean())[rows]
        mean = float(baseline.mean())
        past = np.array(spreads)[rng.integers(0, len(pairs), KNOWN_FROM)]
        known = float(np.median(past)) * mean
        yield assess_change(baseline, new, MARGIN * mean, spread=known, draws=FLIPS)


def gate_errors(folder: Path, samples: int = 1500) -> str:
    """False alarms, and drops of 2 and 5 % that are missed, by rule and number of queries."""
    found: dict[str, dict[tuple[int, float], list[str]]] = {rule: {} for rule in RULES}
    for file in MATRICES.values():
        scores = read(folder, file).values
        for n in SIZES:
            for drop in DROPS:
                changes = list(_changes(scores, n, drop, samples, 7))
                for name, rule in RULES.items():
                    fired = sum(map(rule, changes)) / len(changes)
                    found[name].setdefault((n, drop), []).append(f"{fired if not drop else 1 - fired:.3f}")
    rows = []
    for name, cells in found.items():
        for n in SIZES:
            rows.append([name, str(n), *(" / ".join(cells[n, drop]) for drop in DROPS)])
    return markdown(["rule", "queries", "false alarms", "2 % drops missed", "5 % drops missed"], rows)


def gate_commits(folder: Path, samples: int = 300, commits: int = 50, n: int = 200) -> str:
    """How often any of many harmless commits in a row raises an alarm: against a frozen baseline, or the last one."""
    rows = []
    for measure, file in MATRICES.items():
        scores = read(folder, file).values
        pairs = list(_tweaks(scores))
        alarms = np.zeros(2)
        for draw in range(samples):
            rng = np.random.default_rng((8, draw))
            queries = rng.integers(0, len(scores), n)
            a, b = pairs[rng.integers(len(pairs))]
            baseline = scores[queries, b]
            sizes = np.abs(scores[queries, a] - baseline)
            margin = MARGIN * float(baseline.mean())
            fired, before = [False, False], baseline
            for _ in range(commits):
                new = before + rng.permutation(sizes) * rng.choice((-1.0, 1.0), n)
                for i, other in enumerate((baseline, before)):
                    fired[i] = fired[i] or assess_change(other, new, margin, draws=FLIPS).is_regression
                before = new
            alarms += fired
        rows.append([measure, *(f"{alarm / samples:.2f}" for alarm in alarms)])
    return markdown(["measure", "against a frozen baseline", "against the commit before"], rows)
