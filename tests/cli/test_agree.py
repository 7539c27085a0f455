"""`gainful agree`: every format, the flags, charts, notices, exit codes and messages; published score matrices."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr

from gainful import ScoreMatrix, assess_agreement
from gainful.pages.charts import HeatMap, Plot

PUBLISHED = Path(__file__).parents[2].parent / "shared" / "data" / "published-tables"

# By P, a > b > c > d; by RR, b > a > c > d; by NDCG, d > c > b > a. Queries and systems stand in different orders.
P = "query,a,b,c,d\nq1,0.8,0.6,0.4,0.2\nq2,0.6,0.6,0.2,0.2\nq3,1.0,0.6,0.6,0.0\n"
RR = "query,d,c,b,a\nq3,0.1,0.2,1.0,0.5\nq1,0.1,0.3,1.0,0.9\nq2,0.2,0.3,0.9,0.5\n"
WORST = "query,a,b,c,d\nq2,0.1,0.2,0.3,0.4\nq1,0.1,0.2,0.3,0.4\nq3,0.1,0.3,0.5,0.6\n"


@pytest.fixture
def files(command):
    command.write("p.csv", P)
    command.write("rr.csv", RR)
    command.write("worst.csv", WORST)
    return command


def run(files, *arguments, fmt="jsonl", measures=("p", "rr", "worst")):
    sources = [argument for name in measures for argument in ("--from", f"{name}.csv")]
    result = files("agree", *sources, *arguments, "--format", fmt)
    assert result.code == 0, result.err
    return result


def coefficient(result, name, a, b, field="value"):
    [row] = [
        row
        for row in result.rows("Coefficients")
        if row["coefficient"] == name and {row["measure"], row["other"]} == {a, b}
    ]
    return row[field]


class TestValues:
    def test_by_hand(self, files):
        result = run(files, "--draws", "0")
        # b before a is one of six pairs: tau (5 - 1) / 6; the last measure turns the first round.
        assert coefficient(result, "tau_b", "p", "rr") == pytest.approx(2 / 3)
        assert coefficient(result, "tau_b", "p", "worst") == pytest.approx(-1)
        # B A C D against A B C D: 2 / 3 (0 + 1 + 1) - 1, either way; RBO as in the specification's hand example.
        assert coefficient(result, "tau_ap", "p", "rr") == pytest.approx(1 / 3)
        assert coefficient(result, "tau_ap_reverse", "p", "rr") == pytest.approx(1 / 3)
        assert coefficient(result, "rbo", "p", "rr") == pytest.approx(0.9)
        by_chance = 0.9**4 + 0.1 / 0.9 * sum(d / 4 * 0.9**d for d in range(1, 5))
        assert coefficient(result, "rbo", "p", "rr", "expected by chance") == pytest.approx(by_chance)
        means_p, means_rr = [0.8, 0.6, 0.4, 0.4 / 3], [1.9 / 3, 2.9 / 3, 0.8 / 3, 0.4 / 3]
        assert coefficient(result, "pearson", "p", "rr") == pytest.approx(pearsonr(means_p, means_rr)[0])

    def test_counts_that_have_a_better_side(self, command):
        """Table 3 of dellamea2004 by hand: Rel-Ret and average precision, in different orders."""
        command.write("qrels", "".join(f"q{q} 0 r{i} 1\n" for q in (1, 2) for i in range(4)))
        found = {"early": ["r0", "r1"], "late": ["x", "y", "z", "r0", "r1", "r2"], "one": ["r3"], "none": ["x"]}
        for name, documents in found.items():
            lines = [f"q{q} Q0 {d} {i} {9 - i} t\n" for q in (1, 2) for i, d in enumerate(documents, 1)]
            command.write(f"{name}.run", "".join(lines))
        runs = [f"{name}.run" for name in found]
        result = command("agree", "qrels", *runs, "-m", "NumRelRet", "-m", "AP", "--draws", "0", "--format", "jsonl")
        assert result.code == 0, result.err
        precision = [(1 + 1) / 4, (1 / 4 + 2 / 5 + 3 / 6) / 4, 1 / 4, 0]
        tau = kendalltau([2, 3, 1, 0], precision).statistic
        assert 0 < tau < 1
        assert coefficient(result, "tau_b", "NumRelRet", "AP") == pytest.approx(tau)
        assert command("agree", "qrels", *runs, "-m", "NumRet", "-m", "AP").code == 2  # more is not better

    def test_matrix(self, files):
        result = run(files)
        matrix = {row["measure"]: row for row in result.rows("tau-b between measures")}
        assert list(matrix) == ["p", "rr", "worst"]
        for one, other in combinations(matrix, 2):
            assert matrix[one][one] == 1 and matrix[one][other] == matrix[other][one]
            assert matrix[one][other] == coefficient(result, "tau_b", one, other)

    def test_matrix_of_tau_ap_has_both_ways(self, files):
        # By x: A B C D; by y: C A B D. Read from y: 0; read from x: 1/3 (the specification's hand example).
        files.write("x.csv", "query,A,B,C,D\nq,4,3,2,1\n")
        files.write("y.csv", "query,A,B,C,D\nq,3,2,4,1\n")
        matrix = run(files, "--coefficient", "tau-ap", measures=("x", "y")).rows("tau_AP between measures")
        by_row = {row["measure"]: row for row in matrix}
        assert by_row["y"]["x"] == pytest.approx(0)
        assert by_row["x"]["y"] == pytest.approx(1 / 3)

    def test_lower_is_better_turns_the_order_round(self, files):
        files.write("esl.csv", "query,a,b,c,d\nq1,1,2,3,4\nq2,1,2,3,5\nq3,1,2,4,6\n")
        result = files(
            "agree", "--from", "worst.csv", "--from", "esl.csv", "--better", "lower", "--format", "jsonl", "-q"
        )
        assert coefficient(result, "tau_b", "worst", "esl") == pytest.approx(1)
        first = result.rows("Means and ranks")[0]
        assert (first["system"], first["worst rank"], first["esl rank"]) == ("a", 1, 1)

    def test_interval_holds_the_value_and_depends_on_the_seed_only(self, files):
        names = ("p", "rr")
        result, again, other = (run(files, "--seed", seed, measures=names) for seed in ("0", "0", "1"))
        assert result.out == again.out != other.out
        value, low, high, bias = (coefficient(result, "tau_b", *names, f) for f in ("value", "low", "high", "bias"))
        assert low < value < high and bias is not None

    def test_runs_are_evaluated(self, files):
        files.write("qrels", "q1 0 a 1\nq1 0 b 2\nq2 0 a 1\n")
        files.write("one.run", "q1 Q0 a 1 3 t\nq1 Q0 b 2 2 t\nq2 Q0 x 1 1 t\n")
        files.write("two.run", "q1 Q0 b 1 3 t\nq1 Q0 x 2 2 t\nq2 Q0 x 1 9 t\nq2 Q0 a 2 1 t\n")
        result = files("agree", "qrels", "one.run", "two.run", "-m", "AP", "-m", "RR", "--format", "jsonl", "-q")
        assert result.code == 0, result.err
        places = {row["system"]: row for row in result.rows("Means and ranks")}
        assert (places["one"]["AP"], places["two"]["AP"]) == (0.5, 0.5)
        assert (places["one"]["RR"], places["two"]["RR"]) == (0.5, 0.75)
        assert "|queries:2|" in result.lines[0]["signature"]
        assert result.lines[0]["sources"] == ["qrels", "one.run", "two.run"]


class TestTexts:
    def test_two_measures_have_no_matrix_for_people(self, files):
        text = run(files, fmt="table", measures=("p", "rr")).out
        assert "p and rr: 1 of 6 pairs of systems swap, tau-b 0.6667" in text and "tau-b between measures" not in text
        assert run(files, measures=("p", "rr")).rows("tau-b between measures")

    def test_rbo_names_its_chance_level(self, files):
        text = run(files, "--coefficient", "rbo", "--persistence", "0.5", fmt="table").words
        assert "two random orders of 4 systems have" in text and "(persistence 0.5)" in text

    def test_top_weighted_coefficients_have_no_interval(self, files):
        text = run(files, "--coefficient", "tau-ap-b", fmt="table").words
        assert "standard error 0." in text and "95% CI" not in text
        assert "none based on the standard error reaches 95% coverage for tau_AP,b" in text

    def test_ties_are_noted(self, files):
        files.write("tied.csv", "query,a,b,c,d\nq1,1,1,0,0\n")
        text = run(files, "--coefficient", "tau-ap", "--draws", "0", fmt="table", measures=("p", "tied")).words
        assert "tau_AP is undefined between all measures: orders have ties; tau-ap-b allows them." in text

    def test_swaps_say_by_how_much(self, files):
        [swap] = run(files, measures=("p", "rr")).rows("Systems that swap")
        assert (swap["system"], swap["other system"], swap["by"], swap["but by"]) == ("a", "b", "p", "rr")
        assert swap["ahead by"] == pytest.approx(0.2)
        assert swap["behind by"] == pytest.approx(1 / 3)
        assert swap["clearness"] == pytest.approx(min(0.2 / (0.8 - 0.4 / 3), 1 / 2.5))


class TestFormatsAndCharts:
    def test_charts(self):
        scores = {"p": P, "rr": RR, "worst": WORST}
        matrices = {name: ScoreMatrix.read(text.encode(), measure=name) for name, text in scores.items()}
        report = assess_agreement(matrices, draws=0)
        heat, plot = report.page().charts
        assert isinstance(heat, HeatMap) and isinstance(plot, Plot)
        assert heat.values[0] == pytest.approx((1, 2 / 3, -1))
        assert (heat.low, heat.high, heat.texts[0][1]) == (-1, 1, "0.67")
        assert report.scatters == (("p", "worst"),)
        [clear] = plot.points
        assert sorted(clear.labels) == ["a", "b", "c", "d"]
        a = clear.labels.index("a")
        assert (clear.x[a], clear.y[a]) == pytest.approx((0.8, 0.1))
        # Of few systems all are named, whether they swap or not.
        [_, second] = assess_agreement(matrices, draws=0, scatter=[("p", "rr")]).page().charts
        assert {points.name: set(points.labels) for points in second.points} == {
            "clearest swaps": {"a", "b"},
            "no swaps": {"c", "d"},
        }
        assert "1 of 6 pairs of systems swap" in second.caption

    def test_figure(self, files):
        run(files, "--figure", "agree.svg")
        text = (files.directory / "agree.svg").read_text()
        assert "clearest swaps" in text
        assert "tau-b between the orders of 4 systems" in text


class TestErrorsAndNotices:
    def test_queries_that_not_all_measures_score_are_omitted_with_a_notice(self, files):
        files.write("part.csv", "query,a,b,e\nq1,1,0,2\nq2,1,0,1\nq9,0,1,1\n")
        result = run(files, measures=("p", "part"))
        assert "notice: 3 systems not scored by all measures, left out: c, d, e" in result.err
        assert "notice: 2 queries not scored by all measures, left out: q3, q9" in result.err
        assert result.lines[0]["queries"] == 2

    def test_one_query_has_no_interval(self, files):
        files.write("one.csv", "query,a,b,c,d\nq1,1,0,2,4\n")
        result = run(files, measures=("p", "one"))
        assert "no intervals: resamples of a single query" in result.err
        assert coefficient(result, "tau_b", "p", "one", "low") is None

    @pytest.mark.parametrize(
        ("line", "code", "said"),
        [
            ("--from p.csv", 2, "at least two measures are needed, found only p"),
            ("BOTH --persistence 1", 2, "persistence: expected a number between"),
            ("BOTH --scatter p x", 2, "scatter: unknown measure 'x'"),
            ("BOTH --scatter p p", 2, "'p' cannot be plotted against itself"),
            ("BOTH --coefficient rho", 2, "found 'rho'"),
            ("--from single.csv --from p.csv", 3, "expected at least 2 systems, found 1"),
            ("", 2, "no judgments and runs were given"),
        ],
    )
    def test_errors(self, files, line, code, said):
        files.write("single.csv", "query,a\nq1,1\nq2,0\n")
        result = files("agree", *line.replace("BOTH", "--from p.csv --from rr.csv").split())
        assert (result.code, result.out) == (code, "") and said in result.err


class TestPublished:
    """G6 of the specification: means settled, systems and queries by name and id."""

    GOLDEN = (
        ("urbano.web2013_ndcg20", "urbano.web2013_err20", 34, 0.796791, 0.803865, 0.963630),
        ("urbano.robust2004_ndcg", "urbano.robust2004_ap", 110, 0.904571, 0.864261, 0.964628),
        ("urbano.adhoc8_ap", "urbano.adhoc8_p10", 129, 0.826563, 0.750427, 0.971946),
        ("urbano.adhoc8_ap", "urbano.adhoc8_rr", 129, 0.684600, 0.615764, 0.926070),
        ("NewBestSub.WEB14GD", "NewBestSub.WEB14AP-Binary-01-0", 30, 0.593533, 0.536510, 0.792024),
    )

    @pytest.fixture
    def agree(self, command):
        if not PUBLISHED.is_dir():
            pytest.skip("no published tables beside the checkout (../shared/data/published-tables)")

        def agreed(*names, draws="0"):
            sources = [argument for name in names for argument in ("--from", str(PUBLISHED / f"{name}.csv"))]
            result = command("agree", *sources, "--draws", draws, "--format", "jsonl")
            assert result.code == 0, result.err
            return result

        return agreed

    @pytest.mark.parametrize(("one", "other", "systems", "tau", "tau_ap", "r"), GOLDEN)
    def test_coefficients(self, agree, one, other, systems, tau, tau_ap, r):
        result = agree(one, other)
        measures = result.lines[0]["measures"]
        assert len(result.lines[0]["systems"]) == systems
        assert coefficient(result, "tau_b", *measures) == pytest.approx(tau, abs=5e-7)
        assert coefficient(result, "tau_ap_b", *measures) == pytest.approx(tau_ap, abs=5e-7)
        assert coefficient(result, "pearson", *measures) == pytest.approx(r, abs=5e-7)
        if one.endswith("adhoc8_ap") and other.endswith("p10"):
            assert coefficient(result, "tau_a", *measures) == pytest.approx(0.824007, abs=5e-7)
        places = result.rows("Means and ranks")
        means = [[row[measure] for row in places] for measure in measures]
        assert kendalltau(*np.round(means, 12)).statistic == pytest.approx(tau, abs=5e-7)

    def test_both_ways_of_tau_ap(self, agree):
        names = ("urbano.web2013_ndcg20", "urbano.web2013_err20")
        result = agree(*names)
        assert coefficient(result, "tau_ap", *names) == pytest.approx(0.791101, abs=5e-7)
        assert coefficient(result, "tau_ap_reverse", *names) == pytest.approx(0.816629, abs=5e-7)
        assert coefficient(result, "tau_ap_a", *names) == pytest.approx(0.791101, abs=5e-7)
        assert coefficient(result, "rbo", *names) == pytest.approx(0.911325, abs=5e-7)
        assert coefficient(result, "rbo", *names, "expected by chance") == pytest.approx(0.29, abs=0.005)

    def test_bias_of_resamples(self, agree):
        names = ("urbano.web2013_ndcg20", "urbano.web2013_err20")
        result = agree(*names, draws="1000")
        value, low, high, bias = (coefficient(result, "tau_b", *names, f) for f in ("value", "low", "high", "bias"))
        # Measured for the specification with other draws: the mean of draws is .744.
        assert value + bias == pytest.approx(0.744, abs=0.01)
        assert low < value < high
        # Around the value, not around the draws: the upper end lies beyond the percentile interval's .836.
        assert high > 0.84
