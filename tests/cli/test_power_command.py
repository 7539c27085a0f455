"""`gainful power`: formats, flags, charts, notices, exit codes, messages; published score matrices."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import f as f_distribution, ncf, nct, studentized_range, t

from gainful import assess_power
from gainful.pages.charts import Plot

PUBLISHED = Path(__file__).parents[2].parent / "shared" / "data" / "published-tables"

VALUES = np.random.default_rng(2).uniform(0, 1, (12, 3)).round(3)
RESIDUALS = VALUES - VALUES.mean(axis=0) - VALUES.mean(axis=1, keepdims=True) + VALUES.mean()
TWO_WAY, ONE_WAY = (RESIDUALS**2).sum() / (2 * 11), ((VALUES - VALUES.mean(axis=0)) ** 2).sum() / (3 * 11)
TABLE = "query,a,b,c\n" + "".join(f"q{i:02d},{','.join(map(str, row))}\n" for i, row in enumerate(VALUES.tolist()))


@pytest.fixture
def files(command):
    command.write("s.csv", TABLE)
    command.write("two.csv", "\n".join(",".join(line.split(",")[:3]) for line in TABLE.splitlines()) + "\n")
    return command


def run(files, *arguments, fmt="jsonl"):
    result = files("power", *arguments, "--format", fmt)
    assert result.code == 0, result.err
    return result


def power_of_t(n, difference, sd, alpha=0.05):
    """Power from both tails of SciPy's noncentral t."""
    critical, noncentrality = t.isf(alpha / 2, n - 1), difference / sd * math.sqrt(n)
    return nct.sf(critical, n - 1, noncentrality) + nct.cdf(-critical, n - 1, noncentrality)


def power_of_anova(need, systems, per_query, variance):
    """Power from SciPy's noncentral F; every query adds ``per_query`` residual degrees of freedom."""
    n, df = need["anova queries"], systems - 1
    against = per_query * (n - 1)
    return ncf.sf(f_distribution.isf(0.05, df, against), df, against, n * 0.2**2 / (2 * variance))


class TestValues:
    def test_bare_sd(self, files):
        result = run(files, "--sd", "0.2", "--queries", "50,100", "--difference", "0.05", "--width", "0.1")
        shown = result.rows("Detectable differences")
        assert [row["queries"] for row in shown] == [50, 100]
        for row in shown:
            assert power_of_t(row["queries"], row["difference"], 0.2) == pytest.approx(0.8, abs=1e-6)
        [need] = result.rows("Queries needed for 80% power")
        assert power_of_t(need["queries"], 0.05, 0.2) >= 0.8 > power_of_t(need["queries"] - 1, 0.05, 0.2)
        assert need["power"] == pytest.approx(power_of_t(need["queries"], 0.05, 0.2), abs=1e-6)
        assert need["one less"] == pytest.approx(power_of_t(need["queries"] - 1, 0.05, 0.2), abs=1e-6)
        [wide] = result.rows("Queries needed for a 95% CI of some width")

        def width(n):
            shrunk = math.gamma(n / 2) / math.gamma((n - 1) / 2) * math.sqrt(2 / (n - 1))
            return 2 * t.isf(0.025, n - 1) * 0.2 * shrunk / math.sqrt(n)

        assert width(wide["queries"]) <= 0.1 < width(wide["queries"] - 1)
        assert wide["expected width"] == pytest.approx(width(wide["queries"]))

    def test_a_number_of_variance_is_its_square(self, files):
        one = run(files, "--sd", "0.2", "--queries", "50").out
        other = run(files, "--variance", "0.04", "--queries", "50").out
        assert one == other

    def test_two_systems_are_a_pair(self, files):
        sd = float(np.std(VALUES[:, 0] - VALUES[:, 1], ddof=1))
        for arguments in (["--from", "two.csv"], ["--from", "s.csv", "--pair", "a,b"]):
            [basis] = run(files, *arguments).lines[0]["bases"]
            assert (basis["variance"], basis["pair"], basis["queries"], basis["systems"]) == ("pair", ["a", "b"], 12, 2)
            assert basis["sd"] == pytest.approx(sd)

    def test_several_systems_have_the_residual(self, files):
        result = run(files, "--from", "s.csv", "--difference", "0.2")
        [basis] = result.lines[0]["bases"]
        assert (basis["variance"], basis["systems"]) == ("residual", 3)
        spread = result.rows("SD of the difference between two systems on a query")
        assert [(row["variance"], row["sd"]) for row in spread] == [
            ("residual", pytest.approx(basis["sd"])),
            ("sakai2016", pytest.approx(math.sqrt(2 * ONE_WAY))),
        ]
        assert basis["sd"] == pytest.approx(math.sqrt(2 * TWO_WAY))
        [need] = result.rows("Queries needed for 80% power")
        n = need["tukey queries"]
        tukey = nct.sf(
            studentized_range.isf(0.05, 3, 2 * n - 2) / math.sqrt(2), 2 * n - 2, 0.2 * math.sqrt(n / 2 / TWO_WAY)
        )
        assert 0.8 <= need["tukey power"] == pytest.approx(tukey, abs=1e-6)
        assert 0.8 <= need["anova power"] == pytest.approx(power_of_anova(need, 3, 2, TWO_WAY), abs=1e-6)
        table = run(files, "--from", "s.csv", "--difference", "0.2", fmt="table")
        assert "between two of them by Tukey HSD" in table.words

    def test_sakai_2016_is_one_way(self, files):
        result = run(files, "--from", "s.csv", "--variance", "sakai2016", "--difference", "0.2", "--systems", "5")
        [need] = result.rows("Queries needed for 80% power")
        assert need["systems"] == 5
        assert 0.8 <= need["anova power"] == pytest.approx(power_of_anova(need, 5, 5, ONE_WAY), abs=1e-6)


class TestTexts:
    def test_the_difference_that_was_found_is_noticed(self, files):
        found, said = abs(float((VALUES[:, 0] - VALUES[:, 1]).mean())), "is the observed difference"
        assert said in files("power", "--from", "two.csv", "--difference", f"{found:.6f}").err
        assert said not in files("power", "--from", "two.csv", "--difference", "0.9").err

    def test_charts(self):
        by_queries, by_difference = assess_power(sd=0.2, queries=[50], difference=[0.05, 0.1]).page().charts
        assert isinstance(by_queries, Plot) and isinstance(by_difference, Plot)
        assert [line.name for line in by_queries.lines] == ["difference 0.05", "difference 0.1"]
        for line, difference in zip(by_queries.lines, (0.05, 0.1), strict=True):
            for n, power in list(zip(line.x, line.y, strict=True))[5::10]:
                assert power == pytest.approx(power_of_t(int(n), difference, 0.2), abs=1e-6)
        assert [rule.y for rule in by_queries.rules] == [0.8, None]
        assert [line.name for line in by_difference.lines] == ["50 queries", "100 queries", "200 queries"]
        assert by_difference.lines[0].y[0] == 0.05 and by_difference.lines[0].y[-1] > 0.99
        [alone] = assess_power(sd=0.2, difference=[0.05]).page().charts
        assert alone.title == "Power by number of queries"


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("", 2, "power: scores or a standard deviation are required"),
        ("--sd 0.2", 2, "power: queries, difference or width is required"),
        ("--sd 0 --queries 5", 2, "sd: expected a number above 0, found 0"),
        ("--sd 0.2 --variance 0.1 --queries 5", 2, "sd cannot be used with a variance"),
        ("--sd 0.2 -m AP --queries 5", 2, "--measure needs scores: QRELS and RUNS, or --from"),
        ("--sd 0.2 --missing skip --queries 5", 2, "--missing needs scores: QRELS and RUNS, or --from"),
        ("--sd 0.2 --from s.csv", 2, "sd cannot be used with scores"),
        ("--sd 0.2 --queries 1", 2, "queries: expected at least 2, found 1"),
        ("--sd 0.2 --queries 5.5", 2, "--queries: expected whole numbers, found '5.5'"),
        ("--sd 0.2 --difference 0", 2, "difference: expected a number above 0"),
        ("--sd 0.2 --width -1", 2, "width: expected a number above 0"),
        ("--sd 0.2 --queries 5 --power 0.05", 2, "power: expected a number between alpha"),
        ("--sd 0.2 --queries 5 --pair a,b", 2, "pair requires scores"),
        ("--from s.csv --variance pair", 2, "variance: expected two systems for 'pair', found 3"),
        ("--from s.csv --variance all", 2, "expected pair | residual | sakai2016 or a number"),
        ("--from s.csv --pair a,x", 2, "unknown system 'x'"),
        ("--from s.csv --pair a,a", 2, "pair: expected two systems, found 'a' twice"),
        ("--from s.csv --pair a", 2, "--pair: expected two systems like bm25,dense, found 'a'"),
        ("--from same.csv", 3, "all systems differ by the same on every query"),
        ("--from one.csv", 3, "expected at least 2 queries, found 1"),
    ],
)
def test_errors(files, line, code, said):
    files.write("same.csv", "query,a,b\nq1,1,0\nq2,1,0\n")
    files.write("one.csv", "query,a,b\nq1,1,0\n")
    result = files("power", *line.split())
    assert (result.code, result.out) == (code, "") and said in result.err


class TestPublished:
    """Published values for run1 and run15 of web2013_ndcg20, and for designs over all systems."""

    @pytest.fixture
    def power(self, command):
        if not PUBLISHED.is_dir():
            pytest.skip("no published tables beside the checkout (../shared/data/published-tables)")

        def found(name, *arguments):
            return run(command, "--from", str(PUBLISHED / f"urbano.{name}.csv"), *arguments, "-q")

        return found

    def test_a_pair(self, power):
        result = power("web2013_ndcg20", "--pair", "run1,run15", "--difference", "0.05")
        assert result.lines[0]["bases"][0]["sd"] == pytest.approx(0.194848, abs=5e-7)
        assert result.rows("Detectable differences")[0]["difference"] == pytest.approx(0.0787541, abs=5e-8)
        [need] = result.rows("Queries needed for 80% power")
        assert need["queries"] == 122
        assert need["power"] == pytest.approx(0.802847, abs=5e-7)
        assert need["one less"] == pytest.approx(0.799574, abs=5e-7)

    @pytest.mark.parametrize(
        ("name", "residual", "sakai"), [("adhoc8_ap", 0.165, 0.283), ("web2013_ndcg20", 0.186, 0.258)]
    )
    def test_designs(self, power, name, residual, sakai):
        table = power(name).rows("SD of the difference between two systems on a query")
        assert [row["sd"] for row in table] == pytest.approx([residual, sakai], abs=5e-4)
