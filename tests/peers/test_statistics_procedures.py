"""Procedures for several systems on published score matrices, with values from other packages."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import tukey_hsd

from gainful.stats.agreement import agreement_of_measures, rbo, tau_ap, tau_ap_a
from gainful.stats.anova import t_of_all_pairs, two_way
from gainful.stats.families import letters
from gainful.stats.power import AnovaF, PairedT, variance_of_difference
from gainful.stats.rank_tests import conover, friedman, nemenyi
from gainful.stats.stability import discriminative_power, settled_means
from gainful.stats.tukey import randomised_tukey, tukey

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Published:
    """Queries x systems, with the systems' names; queries in the order of their ids, or of the file if it has none."""

    scores: Matrix
    systems: list[str]

    def of(self, *names: str) -> Matrix:
        return self.scores[:, [self.systems.index(name) for name in names]]


@pytest.fixture(scope="module")
def published(shared_data: Path) -> Callable[[str], Published]:
    folder = shared_data / "published-tables"
    if not folder.is_dir():
        pytest.skip("no published tables beside the checkout (../shared/data/published-tables)")

    @cache
    def read(name: str) -> Published:
        [header, *rows] = csv.reader((folder / f"{name}.csv").read_text().splitlines())
        if name.startswith("urbano"):
            return Published(np.array(rows, float), header)
        by_query = np.array([row[1:] for row in rows], float).T
        order = sorted(range(len(header) - 1), key=lambda place: header[1 + place])
        return Published(by_query[order], [row[0] for row in rows])

    return read


FIVE = ("uogTrDwl", "Terran", "CiirAll1", "utbase", "udel_itu")
#: By pair of these: difference, q, p of Tukey, randomised Tukey (200,000 draws), Conover, Nemenyi, unpaired Tukey.
PAIRS = """
0.030275  1.60661 .787214    .8245  .00228415   .0429090   .941345
0.074327  3.94432 .0454330   .0636  3.80725e-05 .00139146  .336850
0.100199  5.31728 .00207157  .00304 3.04185e-07 1.77416e-05 .0895963
0.124915  6.62887 5.05085e-05 .00005 3.59847e-09 2.60487e-07 .0160701
0.044052  2.33771 .465561    .5277  .262365     .850017    .802365
0.069924  3.71067 .0699509   .0956  .0280530    .269686    .400431
0.0946398 5.02227 .00433295  .00675 .00228415   .0429090   .124316
0.025872  1.37295 .868004    .8935  .277523     .864254    .966409
0.0505878 2.68455 .321699    .3810  .0505834    .390686    .708586
0.0247158 1.31160 .885988    .9083  .380928     .933445    .971544
"""
DIFFERENCE, Q, TUKEY, RANDOMISED, CONOVER, NEMENYI, UNPAIRED = np.array(
    [line.split() for line in PAIRS.split("\n") if line], float
).T


class TestFiveSystems:
    @pytest.fixture
    def scores(self, published: Callable[[str], Published]) -> Matrix:
        table = published("NewBestSub.WEB14GD")
        assert table.scores.shape == (50, 30)
        return table.of(*FIVE)

    def test_analysis_of_variance(self, scores: Matrix) -> None:
        table = two_way(scores)
        assert table.means == pytest.approx([0.324300, 0.294025, 0.249973, 0.224101, 0.199385], abs=5e-7)
        assert table.systems.sum_of_squares == pytest.approx(0.517106183, rel=1e-8)
        assert table.systems.f == pytest.approx(7.28117579, rel=1e-8)
        assert table.systems.p == pytest.approx(1.73644592e-05, rel=1e-7)
        assert table.queries.sum_of_squares == pytest.approx(6.20609177, rel=1e-8)
        assert table.queries.f == pytest.approx(7.13352012, rel=1e-8)
        assert table.queries.p == pytest.approx(6.70486e-24, rel=1e-5)
        assert table.residual.sum_of_squares == pytest.approx(3.47996034, rel=1e-8)
        assert (table.systems.df, table.queries.df, table.residual.df) == (4, 49, 196)
        assert table.residual.mean_square == pytest.approx(0.0177549, abs=5e-8)
        assert table.epsilon == pytest.approx(0.873917, abs=5e-7)

    def test_friedman(self, scores: Matrix) -> None:
        found = friedman(scores)
        assert found.chi2 == pytest.approx(38.0754, abs=5e-5)
        assert found.chi2_p == pytest.approx(1.08112e-07, rel=1e-5)
        assert found.f == pytest.approx(11.5220, abs=5e-5)
        assert found.p == pytest.approx(2.01942e-08, rel=1e-5)
        assert found.w == pytest.approx(0.190377, abs=5e-7)
        assert found.mean_ranks == pytest.approx([1.93, 2.81, 3.13, 3.44, 3.69])
        assert conover(found).p == pytest.approx(CONOVER, rel=1e-5)
        assert nemenyi(found).p == pytest.approx(NEMENYI, rel=1e-5)

    def test_tukey(self, scores: Matrix) -> None:
        found = tukey(scores)
        assert found.difference == pytest.approx(DIFFERENCE, abs=5e-7)
        assert found.statistic == pytest.approx(Q, abs=5e-6)
        assert found.p == pytest.approx(TUKEY, rel=1e-5)
        assert found.critical == pytest.approx(0.0733751, abs=5e-8)
        # The test for independent samples, which is not this one.
        unpaired = tukey_hsd(*scores.T).pvalue[np.triu_indices(5, 1)]
        assert unpaired == pytest.approx(UNPAIRED, rel=1e-4)
        assert (np.abs(found.p / UNPAIRED - 1) > 0.05).all()

    def test_randomised_tukey(self, scores: Matrix) -> None:
        found = randomised_tukey(scores, draws=20_000)
        allowed = 5 * np.sqrt(RANDOMISED * (1 - RANDOMISED) * (1 / 20_000 + 1 / 200_000)) + 1 / 20_001
        assert (np.abs(found.p - RANDOMISED) <= allowed).all()

    def test_pairs_depend_on_the_pool(self, published: Callable[[str], Published]) -> None:
        """Other systems beside them change Tukey's, Conover's and Nemenyi's p of the same two."""
        table = published("NewBestSub.WEB14GD")
        others = [name for name in table.systems if name not in {"uogTrDwl", "CiirAll1"}]
        rng = np.random.default_rng(0)
        pools = [table.of("uogTrDwl", "CiirAll1", *rng.choice(others, 3, replace=False)) for _ in range(15)]
        found = np.array(
            [
                (tukey(p).p[0], nemenyi(friedman(p)).p[0], conover(friedman(p)).p[0], t_of_all_pairs(p).p[0])
                for p in pools
            ]
        )
        assert (found.max(axis=0) > 2 * found.min(axis=0)).tolist() == [True, True, True, False]
        assert found[:, 3] == pytest.approx(0.00852411, abs=5e-9)

    def test_letters_of_tukey(self, scores: Matrix) -> None:
        found = tukey(scores)
        different = np.zeros((5, 5), bool)
        different[np.triu_indices(5, 1)] = found.p <= 0.05
        # By the table: 1 differs from 3, 4 and 5; 2 from 5.
        assert letters(different | different.T) == ("a", "ab", "bc", "bc", "c")


class TestTies:
    def test_friedman(self, published: Callable[[str], Published]) -> None:
        found = friedman(published("urbano.adhoc8_p10").of("run95", "run94", "run83", "run21", "run51"))
        assert found.chi2 == pytest.approx(13.680628, abs=5e-7)
        assert found.chi2_p == pytest.approx(0.00838731, abs=5e-9)
        assert found.f == pytest.approx(3.597859, abs=5e-7)
        assert found.p == pytest.approx(0.00743077, abs=5e-9)

    def test_identical_systems(self, published: Callable[[str], Published]) -> None:
        table = published("NewBestSub.WEB14GD")
        scores = table.of(*FIVE, "webisWt14axMax", "webisWt14axSyn")
        for p in (
            tukey(scores).p,
            randomised_tukey(scores, draws=200).p,
            conover(friedman(scores)).p,
            nemenyi(friedman(scores)).p,
            t_of_all_pairs(scores).p,
        ):
            assert p[-1] == 1
            assert np.isfinite(p).all()
            assert p.size == 21


class TestAllOfRobust2004:
    def test_sphericity(self, published: Callable[[str], Published]) -> None:
        table = two_way(published("NewBestSub.R04").scores)
        assert table.epsilon == pytest.approx(0.123, abs=5e-4)
        assert table.spread is not None
        assert table.spread.low == pytest.approx(0.114, abs=5e-4)
        assert table.spread.high == pytest.approx(0.202, abs=5e-4)
        assert table.spread.pooled == pytest.approx(0.162, abs=5e-4)

    def test_pairs_told_apart(self, published: Callable[[str], Published]) -> None:
        scores = published("NewBestSub.R04").scores
        assert scores.shape == (249, 110)
        assert np.count_nonzero(tukey(scores).p <= 0.05) == 3427
        # 3,152 with other draws; the threshold moves by a few pairs.
        assert np.count_nonzero(randomised_tukey(scores, draws=2000).p <= 0.05) == pytest.approx(3152, abs=70)
        assert discriminative_power(scores).pairs == 5995


class TestAgreement:
    def test_both_ways(self, published: Callable[[str], Published]) -> None:
        x, y = (settled_means(published(f"urbano.web2013_{name}").scores) for name in ("ndcg20", "err20"))
        assert tau_ap(y, x) == pytest.approx(0.791101, abs=5e-7)
        assert tau_ap_a(y, x) == pytest.approx(0.791101, abs=5e-7)
        assert tau_ap(x, y) == pytest.approx(0.816629, abs=5e-7)
        assert tau_ap(-y, -x) == pytest.approx(0.688144, abs=5e-7)  # read from the worst: what must not be printed
        assert rbo(x, y) == pytest.approx(0.911325, abs=5e-7)

    def test_bias(self, published: Callable[[str], Published]) -> None:
        tables = {name: published(f"urbano.web2013_{name}") for name in ("ndcg20", "err20")}
        scores = {name: table.scores for name, table in tables.items()}
        found = agreement_of_measures(scores, tables["err20"].systems, draws=500).agreements[0].tau_b
        assert found.bias == pytest.approx(0.744 - 0.797, abs=0.01)
        assert found.low is not None and found.high is not None and found.value is not None
        assert found.low < found.value < found.high


class TestPower:
    def test_a_pair(self, published: Callable[[str], Published]) -> None:
        scores = published("urbano.web2013_ndcg20").of("run1", "run15")
        sd = math.sqrt(variance_of_difference(scores, "pair"))
        assert sd == pytest.approx(0.194848, abs=5e-7)
        assert PairedT(sd).detectable(50) == pytest.approx(0.0787541, abs=5e-8)
        assert PairedT(sd).queries_needed(0.05) == 122
        assert PairedT(sd).power(122, 0.05) == pytest.approx(0.802847, abs=5e-7)
        assert [kind(sd).power(121, 0.05) for kind in (PairedT, AnovaF)] == pytest.approx([0.799574] * 2, abs=5e-7)

    @pytest.mark.parametrize(
        ("name", "ratio"), [("adhoc8_ap", 2.95), ("adhoc8_p10", 2.19), ("adhoc8_rr", 1.49), ("web2013_ndcg20", 1.91)]
    )
    def test_variances(self, published: Callable[[str], Published], name: str, ratio: float) -> None:
        scores = published(f"urbano.{name}").scores
        one, other = (variance_of_difference(scores, kind) for kind in ("sakai2016", "residual"))
        assert one / other == pytest.approx(ratio, abs=0.005)

    def test_pairs_vary_as_the_residual_says(self, published: Callable[[str], Published]) -> None:
        scores = published("urbano.adhoc8_ap").scores
        sds = [np.std(scores[:, i] - scores[:, j], ddof=1) for i, j in combinations(range(129), 2)]
        assert np.median(sds) == pytest.approx(0.159, abs=5e-4)
        assert math.sqrt(variance_of_difference(scores)) == pytest.approx(0.165, abs=5e-4)
        assert math.sqrt(variance_of_difference(scores, "sakai2016")) == pytest.approx(0.283, abs=5e-4)
