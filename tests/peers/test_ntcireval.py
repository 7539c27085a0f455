"""The numbers of pyNTCIREVAL, NTCIR's tool in Python."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from gainful import parse

ntcireval = pytest.importorskip("pyNTCIREVAL.metrics")

GAINS = {"linear": [1, 2, 3], "exp2": [1, 3, 7]}
STOPS = [1, 10, 100]

#: Ours, with {} for the gain map, and NTCIREVAL's of how many documents each level has, and the gains.
MEASURES: dict[str, Callable[[list[int], list[int]], Any]] = {
    "AP": ntcireval.AP,
    "ERR(gain={})": ntcireval.ERR,
    "nERR(gain={})@5": lambda levels, gains: ntcireval.nERR(levels, gains, 5),
    "nDCG(gain={})@5": lambda levels, gains: ntcireval.MSnDCG(levels, gains, 5),
    "nDCG(gain={}, discount=jarvelin2002)@5": lambda levels, gains: ntcireval.nDCG(levels, gains, 2, 5),
    "nDCG(gain={}, discount=jarvelin2002, base=10)@7": lambda levels, gains: ntcireval.nDCG(levels, gains, 10, 7),
    "Q(gain={})": lambda levels, gains: ntcireval.QMeasure(levels, gains, 1.0),
    "Q(gain={}, beta=10)": lambda levels, gains: ntcireval.QMeasure(levels, gains, 10.0),
    "Q(gain={})@4": lambda levels, gains: ntcireval.QMeasure(levels, gains, 1.0, 4),
    "O(gain={})": lambda levels, gains: ntcireval.OMeasure(levels, gains, 1.0),
    "P-measure(gain={})": lambda levels, gains: ntcireval.PMeasure(levels, gains, 1.0),
    "P+(gain={})": lambda levels, gains: ntcireval.PPlusMeasure(levels, gains, 1.0),
    "NCU(gain={}, stops=0-1-10-100)": lambda levels, gains: ntcireval.NCUguBR(levels, gains, STOPS, 1.0),
    "NCUguP(gain={}, stops=0-1-10-100)": lambda levels, gains: ntcireval.NCUguP(levels, gains, STOPS),
    "NCUrbBR(gain={}, gamma=0.95)": lambda levels, gains: ntcireval.NCUrbBR(levels, gains, 0.95, 1.0),
    "NCUrbP(gain={}, gamma=0.95)": lambda levels, gains: ntcireval.NCUrbP(levels, gains, 0.95),
}


@pytest.mark.parametrize("ours", MEASURES)
def test_random_lists(ours: str) -> None:
    rng = random.Random(5)
    for gain, gains in GAINS.items():
        measure = parse(ours.replace("{}", gain))
        for _ in range(40):
            judged = [3, *rng.choices([0, 1, 2, 3], k=rng.randint(1, 12))]
            ranked: list[int | None] = rng.sample([*judged, *[None] * 4], rng.randint(1, len(judged)))
            missed = list(judged)
            for grade in ranked:
                if grade is not None:
                    missed.remove(grade)
            if not any(ranked):
                continue  # there it fails
            theirs = MEASURES[ours]([judged.count(level) for level in range(4)], gains)
            expected = theirs.compute([(f"d{place}", grade) for place, grade in enumerate(ranked)])
            assert measure.score(ranked, missed, scale=3) == pytest.approx(expected, abs=1e-12), (ranked, missed)
