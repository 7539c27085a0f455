"""Values of pyNTCIREVAL, NTCIR's Python tool, and of NTCIREVAL itself for runs of NTCIR-16."""

from __future__ import annotations

import gzip
import random
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gainful import Policy, UsageError, evaluate, parse
from gainful.measures.names_ir_measures_ranx import NTCIREVAL_ONLY

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


#: Labels of the output below that are refused: NTCIREVAL divides by something else at a cutoff, or is alone with them.
OF_CUTOFFS = {f"{name}@{k}" for name in ("AP", "NCUrb,P", "NCUrb,BR") for k in ("0001", "0010")}
ALONE = {"NCUrb,IE", *(f"{name}@{k}" for name in ("NCUrb,IE", "nRBP", "nEBR", "niRBU") for k in ("0001", "0010"))}


def printed(path: Path) -> dict[str, dict[str, float]]:
    """The values that NTCIREVAL printed: by label, then by topic."""
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for line in gzip.decompress(path.read_bytes()).decode().splitlines():
        topic, label, value, *_ = line.split()
        if label != "#":
            found[label.removesuffix("=")][topic] = float(value)
    return found


@pytest.mark.parametrize("run", ["baseline", "KASYS-CO-REV-6"])
def test_every_label_of_a_real_run(run: str, shared_data: Path) -> None:
    folder = shared_data / "ntcir16-www4"
    expected = printed(folder / f"{run}.nev.gz")
    measures = {}
    for label in expected:
        if label in OF_CUTOFFS | ALONE:
            with pytest.raises(UsageError, match="no equivalent here"):
                parse(f"ntcireval:{label}")
        else:
            measures[label] = parse(f"ntcireval:{label}")
    assert len(measures) == 32
    # One of the runs begins with a description of its system.
    result = evaluate(folder / "qrels", folder / f"{run}.gz", [*measures.values()], policy=Policy.like("ntcireval"))
    for label, measure in measures.items():
        assert result.by_query(measure) == pytest.approx(expected[label], abs=0.5001e-4), label


def test_lists_are_scored_in_the_order_of_the_file(shared_data: Path) -> None:
    """Of a run with ties Q agrees for 47 of 50 topics when equal scores go by document ids."""
    folder = shared_data / "ntcir16-www4"
    expected = printed(folder / "baseline.nev.gz")["Q-measure"]

    def agree(policy: Policy) -> int:
        found = evaluate(folder / "qrels", folder / "baseline.gz", "ntcireval:Q-measure", policy=policy).by_query("Q")
        return sum(abs(found[topic] - value) < 0.5001e-4 for topic, value in expected.items())

    assert (agree(Policy()), agree(Policy.like("ntcireval"))) == (47, 50)


def gap(levels: list[int], missed: list[int]) -> float:
    """GAP as in NTCIREVAL's source: the lower of two levels l counts l (l + 1)."""
    found = sum(
        sum(min(level, above) * (min(level, above) + 1) for above in levels[:rank]) / rank
        for rank, level in enumerate(levels, 1)
        if level
    )
    return found / sum(level * (level + 1) for level in [*levels, *missed])


def test_gap() -> None:
    rng = random.Random(7)
    measure = parse("ntcireval:GAP")
    for _ in range(100):
        ranked, missed = rng.choices(range(5), k=rng.randint(1, 9)), [4, *rng.choices(range(5), k=3)]
        assert measure.score(ranked, missed) == pytest.approx(gap(ranked, missed), abs=1e-12)
    assert measure.score([1, 0, 2]) == pytest.approx((2 + (2 + 6) / 3) / 8)
    assert measure.score([1, 0, 2]) != pytest.approx(parse("GAP").score([1, 0, 2]))


@pytest.mark.parametrize("label", [*NTCIREVAL_ONLY, "AP@0010", "GAP@0010", "NCUgu,P@0010", "NCUrb,BR@0010"])
def test_what_has_no_equal_says_why_and_what_comes_nearest(label: str) -> None:
    with pytest.raises(UsageError, match=f"ntcireval:{label}: no equivalent here: ") as error:
        parse(f"ntcireval:{label}")
    assert (error.value.hint or "").startswith("the nearest is ")


def test_bpref() -> None:
    """As in NTCIREVAL's source: 1 - min(R, nonrelevant above) / min(R, N), over R, of judged documents."""
    assert parse("ntcireval:bpref").score([0, 1, None, 0, 2], [0, 1]) == pytest.approx((1 - 1 / 3 + 1 - 2 / 3) / 3)
