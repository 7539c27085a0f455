"""Golden values of published score matrices, computed with other libraries."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from gainful import UsageError, compare
from gainful.evaluation.score_matrix import ScoreMatrix, aligned
from gainful.stats.paired import PairResult, compare_pair
from gainful.stats.paired_tests import PairedScores, PairPlan
from tests.stats.two_systems import compare_family

Read = Callable[[str], ScoreMatrix]

FIVE = ["uogTrDwl", "Terran", "CiirAll1", "utbase", "udel_itu"]

#: WEB14GD: difference, paired t, Holm, Benjamini-Hochberg, randomisation and step-down maxT (400,000 flips).
PAIRS = {
    ("uogTrDwl", "Terran"): (0.030275, 0.192924, 0.578773, 0.241156, 0.1931, 0.5030),
    ("uogTrDwl", "CiirAll1"): (0.074327, 0.00852411, 0.0596687, 0.0213103, 0.00805, 0.0332),
    ("uogTrDwl", "utbase"): (0.100199, 0.000177370, 0.00159633, 0.000886848, 0.00018, 0.00215),
    ("uogTrDwl", "udel_itu"): (0.124915, 7.54643e-05, 0.000754643, 0.000754643, 0.00005, 0.00009),
    ("Terran", "CiirAll1"): (0.044052, 0.112893, 0.451572, 0.161276, 0.1134, 0.2630),
    ("Terran", "utbase"): (0.069924, 0.0139739, 0.0838435, 0.0279478, 0.0140, 0.0435),
    ("Terran", "udel_itu"): (0.0946398, 0.00234999, 0.0187999, 0.00783331, 0.00236, 0.00438),
    ("CiirAll1", "utbase"): (0.025872, 0.353178, 0.578773, 0.353178, 0.3540, 0.5030),
    ("CiirAll1", "udel_itu"): (0.0505878, 0.0850767, 0.425384, 0.141795, 0.0844, 0.2008),
    ("utbase", "udel_itu"): (0.0247158, 0.243647, 0.578773, 0.270719, 0.2480, 0.5030),
}


@pytest.fixture(scope="module")
def read(shared_data: Path) -> Read:
    """A published matrix by the name of its file."""
    folder = shared_data / "published-tables"
    if not folder.is_dir():
        pytest.skip("no published tables beside the checkout")

    @cache
    def get(name: str) -> ScoreMatrix:
        return ScoreMatrix.read(folder / f"{name}.csv")

    return get


def pair(matrix: ScoreMatrix, a: str, b: str, **options: object) -> PairResult:
    return compare_pair(matrix, a, b, PairPlan(**options))  # type: ignore[arg-type]


def within_error(found: float, expected: float, draws: int, their_draws: int) -> bool:
    variance = max(expected, 1 / their_draws) * (1 - expected)
    return abs(found - expected) <= 5 * math.sqrt(variance * (1 / draws + 1 / their_draws)) + 1 / draws


class TestFiles:
    def test_systems_by_queries(self, read: Read) -> None:
        for name, queries, systems in (("NewBestSub.WEB14GD", 50, 30), ("NewBestSub.R04", 249, 110)):
            matrix = read(name)
            assert matrix.values.shape == (queries, systems)
            assert "rows are treated as systems" in matrix.reading
        assert read("NewBestSub.WEB14GD").measure == "ndcg_at_20"
        assert read("NewBestSub.WEB14AP-Binary-01-0").values.shape == (50, 30)

    def test_queries_by_systems(self, read: Read) -> None:
        matrix = read("urbano.adhoc8_p10")
        assert (matrix.values.shape, matrix.is_numbered) == ((50, 129), True)

    def test_identical_systems(self, read: Read) -> None:
        for name, one, other in (
            ("NewBestSub.R04", "pircRB04d3", "pircRB04d5"),
            ("NewBestSub.WEB14GD", "webisWt14axMax", "webisWt14axSyn"),
            ("urbano.robust2004_ap", "run67", "run69"),
        ):
            assert (read(name).column(one) == read(name).column(other)).all()

    def test_different_orders_are_paired_by_id(self, read: Read) -> None:
        ndcg, ap = aligned([read("NewBestSub.WEB14GD"), read("NewBestSub.WEB14AP-Binary-01-0")])
        assert np.corrcoef(ndcg.column("uogTrDwl"), ap.column("uogTrDwl"))[0, 1] == pytest.approx(0.519161, abs=5e-7)


class TestTwoSystems:
    """urbano.web2013_ndcg20, run1 and run15."""

    def test_t(self, read: Read) -> None:
        found = pair(read("urbano.web2013_ndcg20"), "run1", "run15", test="t")
        assert found.test.statistic == pytest.approx(2.38291, abs=5e-6)
        assert found.p == pytest.approx(0.0210988, abs=5e-8)
        assert (found.interval.low, found.interval.high) == pytest.approx((0.0102875, 0.121038), abs=5e-7)

    def test_rank_tests(self, read: Read) -> None:
        matrix = read("urbano.web2013_ndcg20")
        ranked = pair(matrix, "run1", "run15", test="wilcoxon")
        assert (ranked.test.statistic, ranked.direction) == (377, (799 - 377) / (799 + 377))
        assert ranked.p == pytest.approx(0.0299503, abs=5e-8)
        assert pair(matrix, "run1", "run15", test="sign").p == pytest.approx(0.111403, abs=5e-7)

    def test_bootstrap(self, read: Read) -> None:
        matrix = read("urbano.web2013_ndcg20")
        found = pair(matrix, "run1", "run15", test="bootstrap", draws=100_000)
        assert found.p == pytest.approx(0.0224, abs=0.0025)
        percentile = pair(matrix, "run1", "run15", interval="percentile", draws=100_000).interval
        assert (percentile.low, percentile.high) == pytest.approx((0.0128, 0.1198), abs=0.0012)

    def test_ten_queries(self, read: Read) -> None:
        matrix = read("urbano.web2013_ndcg20")
        first = matrix.select(["run1", "run15"], matrix.queries[:10])
        found = pair(first, "run1", "run15")
        assert (found.p, found.test.is_enumerated) == (532 / 1024, True)
        assert (found.interval.low, found.interval.high) == pytest.approx((-0.085980, 0.160397), abs=6e-7)
        student = pair(first, "run1", "run15", test="t")
        assert student.p == pytest.approx(0.510628, abs=5e-7)
        assert (student.interval.low, student.interval.high) == pytest.approx((-0.083713, 0.156423), abs=5e-7)
        ranks = pair(first, "run1", "run15", test="wilcoxon")
        assert (ranks.test.statistic, ranks.p) == (18, pytest.approx(0.652344, abs=5e-7))


class TestManyTies:
    """urbano.adhoc8_p10: floats that are equal in exact arithmetic only."""

    def test_exact_values_within_error(self, read: Read) -> None:
        matrix = read("urbano.adhoc8_p10")
        for a, b, exact in (("run83", "run21", 0.816930), ("run95", "run83", 0.0496901)):
            found = pair(matrix, a, b)
            assert within_error(found.p, exact, 100_000, 10**9)

    def test_wilcoxon(self, read: Read) -> None:
        matrix = read("urbano.adhoc8_p10")
        d = PairedScores(matrix.column("run98"), matrix.column("run90")).differences
        found = pair(matrix, "run98", "run90", test="wilcoxon")
        assert found.test.statistic == 172.5
        # Zero by zero, sign by sign: the counted distribution over the same ranks, convolved here once more.
        ranks = [float(r) for r in _mid_ranks([abs(x) for x in d.tolist() if x])]
        ways = {0.0: 1}
        for rank in ranks:
            moved = dict(ways)
            for total, count in ways.items():
                moved[total + rank] = moved.get(total + rank, 0) + count
            ways = moved
        exact = 2 * sum(count for total, count in ways.items() if total <= 172.5) / 2 ** len(ranks)
        assert found.p == pytest.approx(exact, rel=1e-12)

    def test_rank_tests_answer_another_question(self, read: Read) -> None:
        matrix = read("NewBestSub.R04")
        systems = ("pircRB04td2", "pircRB04td3")
        assert pair(matrix, *systems, test="t").p == pytest.approx(0.451544, abs=5e-7)
        d = PairedScores(*(matrix.column(system) for system in systems))
        assert d.mean == pytest.approx(0.001076, abs=5e-7)
        assert pair(matrix, *systems, test="wilcoxon").p == pytest.approx(0.0434526, abs=5e-8)
        assert pair(matrix, *systems, test="sign").p == pytest.approx(0.00600154, abs=5e-9)


def _mid_ranks(values: list[float]) -> list[float]:
    return [(sum(v < x for v in values) + 1 + sum(v <= x for v in values)) / 2 for x in values]


class TestFiveSystems:
    """NewBestSub.WEB14GD."""

    def test_t_and_corrections(self, read: Read) -> None:
        five = read("NewBestSub.WEB14GD").select(FIVE)
        assert five.means == pytest.approx([0.324300, 0.294025, 0.249973, 0.224101, 0.199385], abs=6e-7)
        holm, bh = (compare_family(five, test="t", correction=correction) for correction in ("holm", "bh"))
        for (a, b), (difference, p, by_holm, by_bh, _, _) in PAIRS.items():
            assert holm.pair(a, b).difference == pytest.approx(difference, abs=6e-7)
            assert holm.pair(a, b).p == pytest.approx(p, rel=6e-6)
            assert holm.pair(a, b).adjusted == pytest.approx(by_holm, rel=6e-6)
            assert bh.pair(a, b).adjusted == pytest.approx(by_bh, rel=6e-6)

    def test_randomisation_and_max_t(self, read: Read) -> None:
        found = compare_family(read("NewBestSub.WEB14GD").select(FIVE), draws=100_000)
        for (a, b), (*_, randomised, adjusted) in PAIRS.items():
            assert within_error(found.pair(a, b).p, randomised, 100_000, 400_000), (a, b)
            assert within_error(found.pair(a, b).adjusted, adjusted, 100_000, 400_000), (a, b)
        assert found.rank_intervals == ((1, 2), (1, 3), (2, 5), (3, 5), (3, 5))
        assert found.may_be_best == ("uogTrDwl", "Terran")
        assert found.half_width == pytest.approx(np.full(10, 0.0713), abs=0.0005)

    def test_against_a_baseline(self, read: Read) -> None:
        five = read("NewBestSub.WEB14GD").select(FIVE)
        for correction, expected in (
            ("holm", (0.225786, 0.225786, 0.0419218, 0.00939997)),
            ("bh", (0.192924, 0.150524, 0.0279478, 0.00939997)),
        ):
            found = compare_family(five, baseline="Terran", test="t", correction=correction)
            assert found.adjusted == pytest.approx(expected, rel=6e-6)
        max_t = compare_family(five, baseline="Terran", draws=100_000)
        assert max_t.adjusted == pytest.approx([0.195, 0.159, 0.0233, 0.0030], abs=0.006)

    def test_by_place_it_would_be_another_p(self, read: Read) -> None:
        one, other = aligned([read("NewBestSub.WEB14GD"), read("NewBestSub.WEB14AP-Binary-01-0")])
        found = compare({"nDCG": one.select(FIVE), "AP": other.select(FIVE)}, test="t", correction="none").systems
        assert found["nDCG"].family.pair("uogTrDwl", "CiirAll1").p == pytest.approx(0.00852411, rel=6e-6)
        assert found["nDCG"].family.pair("uogTrDwl", "udel_itu").p == pytest.approx(7.54643e-05, rel=6e-6)

    def test_identical_systems_in_the_family(self, read: Read) -> None:
        whole = read("NewBestSub.WEB14GD")
        six, seven = whole.select([*FIVE, "webisWt14axMax"]), whole.select([*FIVE, "webisWt14axMax", "webisWt14axSyn"])
        with_twins, without = (compare_family(each, test="t", correction="holm") for each in (seven, six))
        assert with_twins.pair("webisWt14axMax", "webisWt14axSyn").p == 1.0
        assert (with_twins.tests, without.tests) == (21, 15)
        for a, b in PAIRS:
            assert with_twins.pair(a, b).p == without.pair(a, b).p


class TestMany:
    def test_all_pairs_of_110_systems(self, read: Read) -> None:
        matrix = read("NewBestSub.R04")
        found = compare_family(matrix, draws=30_000)
        assert found.tests == 5_995
        # 3,574 with other flips; uncorrected 4,888.
        assert abs(np.count_nonzero(found.is_significant) - 3_574) < 40
        assert abs(np.count_nonzero(found.p < 0.05) - 4_888) < 15
        assert np.count_nonzero(compare_family(matrix, test="t", correction="holm").is_significant) == 3_547
        with pytest.raises(UsageError, match="at least 1,199,000 sign flips"):
            compare_family(matrix, correction="holm")

    def test_who_may_be_the_best(self, read: Read) -> None:
        found = compare_family(read("urbano.web2013_ndcg20"), draws=50_000)
        assert abs(np.count_nonzero(found.is_significant) - 64) <= 2
        assert abs(len(found.may_be_best) - 15) <= 1
        # One threshold: no smaller difference is significant where a larger one is not.
        sizes = np.abs(found.difference)
        assert sizes[found.is_significant].min() > sizes[~found.is_significant].max()
