"""Coverage of intervals for scores by human judgments, where a model judges all queries and people some."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matrices import markdown, share

import gainful
from gainful.kernel.arrays import Floats
from gainful.stats.distributions import t_quantile
from gainful.stats.prediction_powered import powered_mean


def _population(queries: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return nDCG@10 by human and by model judgments, queries x two systems.

    The model errs by up to one grade, on some queries more than on others, and favours the second system.
    """
    documents = 30
    grade = np.searchsorted((0.7, 0.82, 0.94), rng.random((queries, documents)), side="right")
    grade[:, 0] = np.maximum(grade[:, 0], 1)  # something is relevant
    runs = [grade + sd * rng.normal(size=grade.shape) for sd in (2.0, 1.6)]
    wrong = rng.random(grade.shape) < rng.beta(2, 6, (queries, 1))
    model = np.where(wrong, grade + rng.choice([-1, 1], grade.shape), grade)
    top = np.argsort(np.argsort(-runs[1], axis=1), axis=1) < 5
    model = np.clip(model + (top & (rng.random(grade.shape) < 0.4)), 0, 3)

    def scores(judged: Floats) -> Floats:
        judged = judged.astype(float)
        return np.nan_to_num(np.stack([gainful.evaluate_arrays(run, judged, "nDCG@10").raw[0] for run in runs], axis=1))

    return scores(grade), scores(model)


def _t_interval(values: Floats) -> tuple[float, float]:
    reach = t_quantile(0.975, values.size - 1) * float(values.std(ddof=1)) / np.sqrt(values.size)
    return float(values.mean()) - reach, float(values.mean()) + reach


def calibration(folder: Path, samples: int = 3000, draws: int = 200, population: int = 20_000) -> str:
    """Measure coverage and width of intervals for means and differences of nDCG@10."""
    rng = np.random.default_rng(36)
    human, model = _population(population, rng)
    kinds = ("calibrated", "calibrated, bootstrap", "human queries alone", "model alone")
    rows = []
    for title, y, f in (
        ("mean", human[:, 1], model[:, 1]),
        ("difference", human[:, 1] - human[:, 0], model[:, 1] - model[:, 0]),
    ):
        truth = float(y.mean())
        for n, every in ((20, 100), (50, 100), (50, 500), (200, 1000)):
            held, width = dict.fromkeys(kinds, 0), dict.fromkeys(kinds, 0.0)
            for _ in range(samples):
                drawn = rng.integers(0, population, every)
                trusted = np.where(np.arange(every) < n, y[drawn], np.nan)
                found = powered_mean(trusted, f[drawn][None])
                resampled = _bootstrap(y[drawn[:n]], f[drawn], found.weight, rng, draws)
                ends = (found[1:3], resampled, _t_interval(y[drawn[:n]]), _t_interval(f[drawn]))
                for kind, (low, high) in zip(kinds, ends, strict=True):
                    held[kind] += low <= truth <= high
                    width[kind] += (high - low) / samples
            rows.append([title, str(n), str(every), *(f"{share(held[e], samples)} ({width[e]:.3f})" for e in kinds)])
    return markdown(["nDCG@10", "human queries", "all queries", *kinds], rows)


def _bootstrap(y: Floats, f: Floats, weight: float, rng: np.random.Generator, draws: int) -> tuple[float, float]:
    """Return percentiles of the calibrated mean over resampled queries, with its weight."""
    n = y.size
    both, alone = rng.integers(0, n, (draws, n)), rng.integers(n, f.size, (draws, f.size - n))
    means = (y - weight * f[:n])[both].mean(axis=1) + weight * f[alone].mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)
