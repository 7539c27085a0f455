"""Tests of systems with unpaired sessions, simulated from the scores of real systems."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matrices import markdown, read, share

from gainful.kernel.arrays import Floats, Ints
from gainful.stats.catalogues import UNPAIRED_TESTS
from gainful.stats.paired_tests import PairPlan
from gainful.stats.unpaired import TwoGroups

_SHIFT = 0.15

#: Designs: sessions per system, topics (0: one per session), and the ratio of B's spread to A's.
_DESIGNS = {
    "10 and 10 sessions": (10, 10, 0, 1.0),
    "25 and 25 sessions": (25, 25, 0, 1.0),
    "10 and 40 sessions": (10, 40, 0, 1.0),
    "10 and 40, the 40 vary half as much": (10, 40, 0, 0.5),
    "10 and 40, the 40 vary a quarter as much": (10, 40, 0, 0.25),
    "20 and 20 of 5 topics": (20, 20, 5, 1.0),
    "24 and 36 of 12 topics": (24, 36, 12, 1.0),
    "10 and 40 of 5 topics, the 40 vary half as much": (10, 40, 5, 0.5),
}


def unpaired(folder: Path, samples: int = 1000, draws: int = 400) -> str:
    """How often a difference is found that is not there, and one of 0.15 that is: a session is a topic and a system,
    drawn at random."""
    scores = read(folder, "NewBestSub.R04").values
    rng = np.random.default_rng(11)
    tests = ("labels", "labels, topics unused", "welch", "mann-whitney")
    rows = []
    for title, design in _DESIGNS.items():
        found = {(test, shift): 0 for test in tests for shift in (0.0, _SHIFT)}
        for sample in range(samples):
            a, b, topics = _sessions(scores, rng, *design)
            for test, shift in found:
                used = topics if design[2] and test == "labels" else None
                groups = TwoGroups(a + shift, b, used, PairPlan(draws=draws, seed=sample))
                found[test, shift] += UNPAIRED_TESTS[test.partition(",")[0]].formula(groups).p < 0.05
        both = ((share(found[test, 0.0], samples), share(found[test, _SHIFT], samples)) for test in tests)
        rows.append([title, *(f"{false} / {real}" for false, real in both)])
    return markdown(["sessions", "labels", "labels, topics unused", "Welch", "Mann-Whitney"], rows)


def _sessions(
    scores: Floats, rng: np.random.Generator, first: int, second: int, topics: int, spread: float
) -> tuple[Floats, Floats, tuple[Ints, Ints]]:
    """Scores of both systems, equally distributed except for B's spread, and their topics."""
    chosen = rng.integers(0, len(scores), topics or first + second)
    of = [chosen[np.arange(size) % topics] for size in (first, second)] if topics else np.split(chosen, [first])
    a, b = (scores[each, rng.integers(0, scores.shape[1], each.size)] for each in of)
    mean = scores.mean(axis=1)[of[1]] if topics else float(scores.mean())
    return a, mean + spread * (b - mean), (of[0], of[1])
