"""The studies of docs/beyond-p.md: what posteriors and confidence sequences do on real scores."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
from matrices import markdown, read, share

from gainful.kernel.arrays import Floats
from gainful.stats.bayes import posterior

MATRICES = {"AP": "NewBestSub.R04", "RR": "urbano.adhoc8_rr", "nDCG@20": "urbano.web2010_ndcg20"}
MARGIN = 0.01


def _drawn(scores: Floats, n: int, samples: int, seed: int) -> Iterator[tuple[float, Floats]]:
    """The true mean difference of two random systems, and their differences on n queries drawn from all."""
    rng = np.random.default_rng(seed)
    for _ in range(samples):
        a, b = rng.choice(scores.shape[1], 2, replace=False)
        differences = scores[:, a] - scores[:, b]
        yield float(differences.mean()), differences[rng.integers(0, len(scores), n)]


def posterior_coverage(folder: Path, samples: int = 4000, draws: int = 2000) -> str:
    """How often 95 % credible intervals hold the true difference: Student's t posterior, the Bayesian bootstrap."""
    rng = np.random.default_rng(6)
    rows = []
    for measure, file in MATRICES.items():
        for n in (10, 25, 50):
            student = bootstrap = of = 0
            for truth, sample in _drawn(read(folder, file).values, n, samples, 5):
                of += 1
                student += truth in posterior(sample, np.zeros(n), MARGIN).interval
                weights = rng.standard_exponential((draws, n))
                low, high = np.quantile(weights @ sample / weights.sum(axis=1), [0.025, 0.975])
                bootstrap += bool(low <= truth <= high)
            rows.append([measure, str(n), share(student, of), share(bootstrap, of)])
    return markdown(["measure", "queries", "Student's t", "Bayesian bootstrap"], rows)


def posterior_calibration(folder: Path, samples: int = 4000) -> str:
    """Of the pairs that are better by more than a margin with such a probability, how many truly are."""
    edges = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
    found: list[list[str]] = [[f"{low:g} to {high:g}"] for low, high in pairwise(edges)]
    for n in (10, 25, 50):
        said: list[list[tuple[float, bool]]] = [[] for _ in found]
        for file in MATRICES.values():
            for truth, sample in _drawn(read(folder, file).values, n, samples, 5):
                shares = posterior(sample, np.zeros(n), MARGIN).probabilities
                if shares is not None:
                    place = min(int(np.searchsorted(edges, shares.better, "right")) - 1, len(found) - 1)
                    said[place].append((shares.better, truth > MARGIN))
        for row, cases in zip(found, said, strict=True):
            mean, true = np.mean(cases, axis=0) if cases else (0.0, 0.0)
            row.append(f"{100 * mean:.0f} % / {100 * true:.0f} %")
    return markdown(["probability of better", *(f"{n} queries" for n in (10, 25, 50))], found)
