"""Studies for docs/explanation/beyond-p.md: posteriors and confidence sequences on real scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
from matrices import markdown, read, share
from scipy.special import stdtrit

from gainful import ScoreMatrix
from gainful.kernel.arrays import Floats
from gainful.stats.without_p import ConfidenceSequence, confidence_sequence, posterior

MATRICES = {"AP": "NewBestSub.R04", "RR": "urbano.adhoc8_rr", "nDCG@20": "urbano.web2010_ndcg20"}
MARGIN, ALPHA = 0.01, 0.05


def _drawn(scores: Floats, n: int, samples: int, seed: int) -> Iterator[tuple[float, Floats]]:
    """The true mean difference of two random systems, and their differences on n queries drawn from all."""
    rng = np.random.default_rng(seed)
    for _ in range(samples):
        a, b = rng.choice(scores.shape[1], 2, replace=False)
        differences = scores[:, a] - scores[:, b]
        yield float(differences.mean()), differences[rng.integers(0, len(scores), n)]


def _two(differences: Floats) -> ScoreMatrix:
    """Two systems with this mean difference and nonnegative scores."""
    sides = {"a": np.maximum(differences, 0).tolist(), "b": np.maximum(-differences, 0).tolist()}
    return ScoreMatrix.of("score", sides)


def posterior_coverage(folder: Path, samples: int = 4000, draws: int = 2000) -> str:
    """Measure the coverage of 95% credible intervals: Student's t posterior, the Bayesian bootstrap."""
    rng = np.random.default_rng(6)
    rows = []
    for measure, file in MATRICES.items():
        for n in (10, 25, 50):
            student = bootstrap = of = 0
            for truth, sample in _drawn(read(folder, file).values, n, samples, 5):
                of += 1
                student += truth in posterior(_two(sample), "a", "b", MARGIN).interval
                weights = rng.standard_exponential((draws, n))
                low, high = np.quantile(weights @ sample / weights.sum(axis=1), [0.025, 0.975])
                bootstrap += bool(low <= truth <= high)
            rows.append([measure, str(n), share(student, of), share(bootstrap, of)])
    return markdown(["measure", "queries", "Student's t", "Bayesian bootstrap"], rows)


def posterior_calibration(folder: Path, samples: int = 4000) -> str:
    """Measure the calibration of probabilities that a system is better by more than a margin."""
    edges = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
    found: list[list[str]] = [[f"{low:g} to {high:g}"] for low, high in pairwise(edges)]
    for n in (10, 25, 50):
        said: list[list[tuple[float, bool]]] = [[] for _ in found]
        for file in MATRICES.values():
            for truth, sample in _drawn(read(folder, file).values, n, samples, 5):
                shares = posterior(_two(sample), "a", "b", MARGIN).probabilities
                if shares is not None:
                    place = min(int(np.searchsorted(edges, shares.better, "right")) - 1, len(found) - 1)
                    said[place].append((shares.better, truth > MARGIN))
        for row, cases in zip(found, said, strict=True):
            mean, true = np.mean(cases, axis=0) if cases else (0.0, 0.0)
            row.append(f"{100 * mean:.0f}% / {100 * true:.0f}%")
    return markdown(["probability of better", *(f"{n} queries" for n in (10, 25, 50))], found)


def sequence_widths(folder: Path, samples: int = 40) -> str:
    """Measure the width of intervals after some queries: fixed-sample intervals and several confidence sequences."""
    sizes = (50, 200, 1000)
    rows = []
    for measure, file in MATRICES.items():
        widths: dict[str, list[list[float]]] = {kind: [] for kind in _KINDS}
        for _, sample in _drawn(read(folder, file).values, max(sizes), samples, 8):
            for kind, limits in _KINDS.items():
                low, high = limits(sample)
                widths[kind].append([float(high[n - 1] - low[n - 1]) for n in sizes])
        for kind, found in widths.items():
            rows.append([measure, kind, *(f"{width:.3f}" for width in np.mean(found, axis=0))])
    return markdown(["measure", "interval", *(f"{n:,} queries" for n in sizes)], rows)


def _student_limits(sample: Floats) -> tuple[Floats, Floats]:
    """The interval of the t test after every query, on those until then; without limits after one."""
    n = np.arange(1, len(sample) + 1)
    means = np.cumsum(sample) / n
    squares = np.cumsum(sample**2) - n * means**2
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = stdtrit(n - 1, 1 - ALPHA / 2) * np.sqrt(np.maximum(squares, 0) / (n - 1) / n)
    reach[0] = np.inf
    return means - reach, means + reach


def _stakes(values: Floats) -> tuple[Floats, Floats]:
    """Predictable plug-in stakes and means of values between 0 and 1 (Waudby-Smith & Ramdas 2023, section 3.2)."""
    n = np.arange(1, len(values) + 1)
    means = (0.5 + np.cumsum(values)) / (n + 1)
    variances = (0.25 + np.cumsum((values - means) ** 2)) / (n + 1)
    before = np.concatenate(([0.25], variances[:-1]))
    return np.sqrt(2 * np.log(2 / ALPHA) / (before * n * np.log(n + 1))), np.concatenate(([0.5], means[:-1]))


def _bernstein_limits(sample: Floats) -> tuple[Floats, Floats]:
    """The predictable plug-in empirical Bernstein confidence sequence, intersected so far."""
    values = (sample + 1) / 2
    stakes, before = _stakes(values)
    stakes = np.minimum(stakes, 0.5)
    weights = np.cumsum(stakes)
    spread = np.cumsum((values - before) ** 2 * (-np.log1p(-stakes) - stakes))
    reach = (np.log(2 / ALPHA) + spread) / weights
    centre = np.cumsum(stakes * values) / weights
    low, high = np.maximum.accumulate(centre - reach), np.minimum.accumulate(centre + reach)
    return np.maximum(2 * low - 1, -1), np.minimum(2 * high - 1, 1)


def _hedged_limits(sample: Floats, most: float) -> tuple[Floats, Floats]:
    """The hedged capital process with the same stakes, on a grid of means, intersected so far."""
    means = np.arange(1, 2000) / 2000
    found = []
    for values in ((sample + 1) / 2, (1 - sample) / 2):
        stakes = np.minimum(_stakes(values)[0][:, np.newaxis], most / means)
        won = np.cumsum(np.log1p(stakes * (values[:, np.newaxis] - means)), axis=0) >= np.log(2 / ALPHA)
        found.append(np.maximum.accumulate(np.where(won, means, 0).max(axis=1)))
    return 2 * found[0] - 1, 1 - 2 * found[1]


def _sequence(sample: Floats) -> ConfidenceSequence:
    return confidence_sequence(_two(sample), "a", "b", (0, 1), alpha=ALPHA)


def _betting_limits(sample: Floats) -> tuple[Floats, Floats]:
    """The confidence sequence of gainful, after every query."""
    found = _sequence(sample)
    places = np.searchsorted(found.looks, np.arange(1, len(sample) + 1), "right") - 1
    return np.array(found.lows)[places], np.array(found.highs)[places]


_KINDS: dict[str, Callable[[Floats], tuple[Floats, Floats]]] = {
    "Student's t, for one look": _student_limits,
    "diversified bets": _betting_limits,
    "hedged capital, c = 0.75": partial(_hedged_limits, most=0.75),
    "hedged capital, c = 0.9": partial(_hedged_limits, most=0.9),
    "empirical Bernstein": _bernstein_limits,
}


def sequence_errors(folder: Path, samples: int = 500, n: int = 1000) -> str:
    """Count the sequences of queries in which an interval ever excludes the true difference after 10 or more."""
    rows = []
    for measure, file in MATRICES.items():
        last = ever = sequence = of = 0
        for truth, sample in _drawn(read(folder, file).values, n, samples, 9):
            low, high = _student_limits(sample)
            missed = (truth < low) | (truth > high)
            of, last, ever = of + 1, last + bool(missed[-1]), ever + bool(missed[9:].any())
            sequence += truth not in _sequence(sample).interval
        rows.append([measure, share(last, of), share(ever, of), share(sequence, of)])
    head = ["Student's t, one look", "Student's t, after every query", "confidence sequence, after every query"]
    return markdown(["measure", *head], rows)
