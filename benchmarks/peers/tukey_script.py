"""TABLE: Tukey's p of all pairs of its systems, compared with scipy's studentised range, which its tukey_hsd calls.

scipy is asked for some of the p only, and what that takes is scaled to one a pair: tukey_hsd asks for each pair twice,
and for each system beside itself.
"""

import sys
import time

import numpy as np
from scipy.stats import studentized_range

from gainful.evaluation.score_matrix import ScoreMatrix
from gainful.stats.tukey import tukey

SAMPLE, REPETITIONS = 100, 3


def main(path: str) -> None:
    matrix = ScoreMatrix.read(path)
    times = []
    for _ in range(REPETITIONS):
        start = time.perf_counter()
        found = tukey(matrix.values)
        times.append(time.perf_counter() - start)
    chosen = np.linspace(0, found.statistic.size - 1, SAMPLE).astype(int)
    start = time.perf_counter()
    theirs = [studentized_range.sf(found.statistic[i], len(matrix.systems), found.anova.residual.df) for i in chosen]
    taken = time.perf_counter() - start
    largest = float(np.max(np.abs(found.p[chosen] - theirs)))
    if not largest < 1e-7:
        raise SystemExit(f"p differ by {largest}")
    print("seconds", "gainful", min(times), sep="\t")
    print("seconds", "scipy", taken * found.statistic.size / SAMPLE, sep="\t")


main(*sys.argv[1:])
