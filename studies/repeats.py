"""Tests of systems with repeated runs, simulated from the scores of real systems and noise."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matrices import markdown, read, share

from gainful.stats.catalogues import STUDENT
from gainful.stats.paired_tests import PairedScores
from gainful.stats.run_noise import noise_of_means

#: The true difference, and the standard deviation of the noise per query and run.
_SHIFT, _OWN = 0.05, 0.05
#: Queries, runs per system, and the standard deviations of the noise shared by all queries of a run.
_DESIGNS = [
    *((50, runs, noise) for runs in ((2, 2), (3, 3), (5, 5), (3, 1)) for noise in (0.0, 0.01, 0.03)),
    *((200, (3, 3), noise) for noise in (0.0, 0.01, 0.03)),
]


def repeats(folder: Path, samples: int = 2000) -> str:
    """How often a difference is found that is not there, and one of 0.05 that is; one run only: a system that does not
    vary from run to run."""
    scores = read(folder, "NewBestSub.R04").values
    rng = np.random.default_rng(15)
    rows = []
    for n, runs, noise in _DESIGNS:
        found = {(test, shift): 0 for test in ("one", "means", "runs") for shift in (0.0, _SHIFT)}
        for _ in range(samples):
            systems = rng.choice(scores.shape[1], 2, replace=False)
            pair = (scores - scores.mean(axis=0))[rng.integers(0, len(scores), n)][:, systems]
            sides = []
            for column, count in zip(pair.T, runs, strict=True):
                spread, own = (noise, _OWN) if count > 1 else (0.0, 0.0)
                varied = rng.normal(0, spread, count) + rng.normal(0, own, (n, count))
                sides.append(column[:, np.newaxis] + varied)
            for test, shift in found:
                kept = [side[:, :1] if test == "one" else side for side in sides]
                kept[0] = kept[0] + shift
                means = [side.mean(axis=1) for side in kept]
                several = [side if side.shape[1] > 1 and test == "runs" else None for side in kept]
                pair_of = PairedScores(means[0], means[1], runs=noise_of_means(several))
                found[test, shift] += STUDENT.formula(pair_of).p < 0.05
        tests = ("one", "means", "runs")
        cells = [f"{share(found[test, 0.0], samples)} / {share(found[test, _SHIFT], samples)}" for test in tests]
        rows.append([f"{n}", f"{runs[0]} and {runs[1]}", f"{noise:g}", *cells])
    return markdown(["queries", "runs", "noise", "one run of each", "means of runs", "queries and runs"], rows)
