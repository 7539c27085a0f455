"""TABLE: all pairs of its systems with maxT and randomised Tukey HSD, compared with one matrix product of flips and
pairs; in one process and in turns.

The product is what the p of all pairs alone would take: draws x queries times queries x pairs, in float64.
"""

import sys
import time

import numpy as np

from gainful.evaluation.score_matrix import ScoreMatrix
from gainful.stats.families import SystemsPlan, families_of
from gainful.stats.tukey import randomised_tukey

DRAWS, REPETITIONS = 10_000, 3


def seconds(work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main(path: str) -> None:
    matrix = ScoreMatrix.read(path)
    first, second = np.triu_indices(len(matrix.systems), 1)
    differences = matrix.values[:, first] - matrix.values[:, second]
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (DRAWS, len(matrix.queries)))
    works = {
        "gainful": lambda: families_of([matrix], SystemsPlan(draws=DRAWS)),
        "randomised Tukey": lambda: randomised_tukey(matrix.values, draws=DRAWS),
        "product": lambda: signs @ differences,
    }
    times = {name: [] for name in works}
    for _ in range(REPETITIONS):
        for name, work in works.items():
            times[name].append(seconds(work))
    for name, taken in times.items():
        print("seconds", name, min(taken), sep="\t")


main(*sys.argv[1:])
