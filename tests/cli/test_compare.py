"""`gainful compare`: sentences, tables, formats, warnings, errors and guarantees."""

from __future__ import annotations

import csv
import io
import itertools
import math
import random
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import stats

from gainful.errors import UsageError

# Ten queries; all differences but one are for b.
A = [0.10, 0.20, 0.30, 0.25, 0.40, 0.15, 0.50, 0.35, 0.20, 0.10]
B = [0.20, 0.35, 0.35, 0.45, 0.50, 0.20, 0.45, 0.60, 0.30, 0.30]
IDS = [f"q{i:02d}" for i in range(1, 11)]
DIFFERENCES = [b - a for a, b in zip(A, B, strict=True)]
BEATEN = ("--marks", "beaten")
# b loses a little to a on 52 queries, and wins much on 8.
SKEWED = {"a": [0.4] * 60, "b": [*(0.4 - 0.001 * i for i in range(1, 53)), *(0.9 + 0.01 * i for i in range(8))]}


def table(systems: dict[str, list[float]], ids: list[str] | None = None, corner: str = "query") -> str:
    ids = ids or [f"q{i:04d}" for i in range(len(next(iter(systems.values()))))]
    rows = [[corner, *systems], *([query, *values] for query, *values in zip(ids, *systems.values(), strict=True))]
    return "".join(",".join(map(str, row)) + "\n" for row in rows)


def exact_p(differences: list[float]) -> float:
    """p over all sign assignments, exact because thousandths are integers."""
    whole = [round(1000 * d) for d in differences]
    signed = itertools.product(*((d, -d) for d in whole))
    return sum(abs(sum(each)) >= abs(sum(whole)) for each in signed) / 2 ** len(whole)


def scores(count: int, queries: int, seed: int = 1, step: float = 0.06) -> dict[str, list[float]]:
    rng = random.Random(seed)
    ground = [rng.random() / 2 for _ in range(queries)]
    return {f"s{i}": [round(min(1.0, g + i * step + rng.gauss(0, 0.12)), 4) for g in ground] for i in range(count)}


@dataclass(frozen=True)
class Asked:
    """`gainful compare` with the arguments shared by a test."""

    command: Any
    arguments: tuple[str, ...]

    def __call__(self, *more: str) -> Any:
        return self.command("compare", *self.arguments, *more)

    def rows(self, title: str, *more: str) -> list[dict]:
        return self(*more, "--format", "jsonl").rows(title)

    def pair(self, *more: str) -> dict:
        [row] = self.rows("pairs", *more)
        return row

    def sentence(self, *more: str) -> str:
        """The first paragraph."""
        return " ".join(self(*more).out.split("\n\n")[0].split())


@pytest.fixture
def ask(command):
    """Write a table of scores and compare its systems."""

    def write(systems: dict[str, list[float]], *arguments: str, ids: list[str] | None = None, name="two.csv") -> Asked:
        command.write(name, table(systems, ids))
        return Asked(command, ("--from", name, *arguments))

    return write


@pytest.fixture
def two(ask):
    return ask({"a": A, "b": B}, "-m", "P@20", ids=IDS)


@pytest.fixture
def five(ask):
    return ask(scores(5, 30), "-m", "AP", name="five.csv")


@pytest.mark.usefixtures("few_flips")
class TestTwoSystems:
    def test_sentence(self, two):
        first = two.sentence("--quiet")
        assert first.startswith("b beats a by 0.115 P@20 (95% CI ")
        assert f"p = {exact_p(DIFFERENCES):.4f}, 10 queries). " in first
        # 0.115 of 0.255 is 45%; the lower limit still is more than a tenth of it.
        assert ". Relative difference: +45% (substantial). Minimum detectable difference: 0." in first

    def test_numbers(self, two):
        row = two.pair()
        assert (row["system"], row["baseline"], row["better"], row["queries"]) == ("b", "a", "higher", 10)
        assert row["difference"] == pytest.approx(0.115) and row["mean_baseline"] == pytest.approx(sum(A) / 10)
        assert (row["p"], row["enumerated"], row["stopgap"], row["draws"]) == (exact_p(DIFFERENCES), True, False, 1024)
        assert (row["wins"], row["ties"], row["losses"]) == (9, 0, 1)
        assert row["d_z"] == pytest.approx(stats.ttest_rel(B, A).statistic / math.sqrt(10))
        assert row["low"] > 0 and row["verdict"] == "better" and row["relative"] == pytest.approx(0.115 / 0.255)

    def test_tests_by_name(self, two):
        row, t = two.pair("--test", "t"), stats.ttest_rel(B, A)
        assert row["p"] == pytest.approx(t.pvalue)
        assert (row["low"], row["high"]) == pytest.approx(tuple(t.confidence_interval()))
        row = two.pair("--test", "bootstrap", "--draws", "999", "--seed", "3")
        assert (row["draws"], row["seed"], row["interval"]) == (999, 3, "bootstrap-t")

    @pytest.mark.parametrize("test", ["sign", "wilcoxon"])
    def test_rank_tests_use_ranks_even_if_the_mean_disagrees(self, ask, test):
        # b loses a little on 52 queries and wins much on 8: its mean is higher, yet ranks and counts are for a.
        asked, higher = ask(SKEWED, "-m", "AP", "--test", test), math.fsum(SKEWED["b"]) / 60 - 0.4
        row = asked.pair()
        assert row["difference"] == pytest.approx(higher) and row["p"] < 0.05 and row["verdict"] == "worse"
        first, by = asked.sentence(), "the sign test" if test == "sign" else "Wilcoxon's test"
        assert first.startswith(
            f"By {by}, b is behind a in AP: b is better on 8, worse on 52 and equal on 0 of 60 queries"
        )
        # The sentence is about ranks; another one reports that the mean disagrees.
        assert first.endswith(f"). However, the mean of b is better by {higher:.3f}.") and "CI" not in first
        if test == "wilcoxon":
            # Ranks 1 to 52 are of queries lost: 1,378 of 1,830.
            assert f", rank-biserial correlation {(1830 - 2 * 1378) / 1830:.2f} (p" in first
        turned = asked.pair("--baseline", "b")
        assert turned["verdict"] == "better" and turned["p"] == row["p"]
        # A margin keeps this verdict, unless the systems are equivalent; superiority is about means only.
        assert asked.pair("--margin", "0.001")["verdict"] == "worse"

    @pytest.mark.parametrize(("test", "said"), [("sign", "the sign test"), ("wilcoxon", "Wilcoxon's signed ranks")])
    def test_families_of_rank_tests_order_by_ranks(self, ask, test, said):
        asked = ask({**SKEWED, "c": [0.1 + 0.001 * i for i in range(60)]}, "-m", "AP", "--test", test)
        pairs = {(row["system"], row["other"]): row for row in asked.rows("pairs")}
        # In order of the statistic: a wins more often than b, whose mean is higher.
        assert {pair: row["verdict"] for pair, row in pairs.items()} == dict.fromkeys(
            [("a", "b"), ("b", "c"), ("a", "c")], "better"
        )
        places = [(row["system"], row["best_place"], row["worst_place"]) for row in asked.rows("systems")]
        assert places == [("a", 1, 1), ("b", 2, 2), ("c", 3, 3)]
        row = pairs["a", "b"]
        assert (row["wins"], row["ties"], row["losses"], row["effect"]) == (52, 0, 8, None)
        # The sign test's is (52 - 8) / 60; Wilcoxon's has the ranks 1 to 52 for a, of 1,830 in all.
        assert row["statistic"] == pytest.approx(44 / 60 if test == "sign" else (2 * 1378 - 1830) / 1830)
        text = asked().words
        assert "a is significantly better than both other systems (AP, 60 queries). All 3 pairs differ" in text
        named = "sign test" if test == "sign" else "Wilcoxon's test"
        assert f"p: {named}; p adj.: Holm, 3 tests in one family." in text
        # The table is of what was tested, and so is its order: "different" is enough.
        assert "52/0/8" in text and "effect" not in text and "different: a is better" not in text
        assert f"the {test} test favours a over b, although the mean of b is better" in text
        assert "52/0/8" in asked("--baseline", "b").words
        against = asked.rows("pairs", "--baseline", "a")
        assert [row["verdict"] for row in against if row["system"] == "b"] == ["worse"]

    def test_a_rank_test_beside_a_margin_has_no_p_of_the_mean(self, ask):
        asked = ask({"a": A * 3, "b": [x + 0.02 * (-1) ** i for i, x in enumerate(A * 3)]}, "--test", "sign")
        first = asked.sentence("--margin", "0.2")
        assert "are equivalent within 0.2" in first and "90% CI" in first and "p = " not in first

    def test_systems_that_beat_each_other_in_a_circle(self, ask):
        # Non-transitive dice: each is ahead of the next on two thirds of the queries.
        dice = [(0.9, 0.5, 0.1), (0.1, 0.9, 0.5), (0.5, 0.1, 0.9)] * 40
        result = ask({name: [row[i] for row in dice] for i, name in enumerate("abc")}, "-m", "AP")("--test", "sign")
        assert result.code == 0
        assert "No system is the best: each is beaten by another (AP, 120 queries)." in result.words
        assert (
            "a cycle of systems that beat each other: no system is best by ranks" in result.words
            and "their means are equal" in result.words
        )

    def test_baseline(self, two):
        row, straight = two.pair("--baseline", "b"), two.pair()
        assert (row["system"], row["baseline"], row["verdict"]) == ("a", "b", "worse")
        assert row["difference"] == -straight["difference"] and row["p"] == straight["p"]
        assert (row["low"], row["high"]) == (-straight["high"], -straight["low"])
        assert row["relative"] == pytest.approx(-0.115 / 0.37)
        assert two("--baseline", "b").out.startswith("a is behind b by 0.115 P@20 (95% CI -0.175 to")

    def test_not_significant_is_not_no_difference(self, ask):
        text = ask({"a": A[:6], "b": [0.15, 0.15, 0.2, 0.35, 0.5, 0.25]})().words
        assert "b and a are not significantly different" in text
        assert "no difference" not in text and "inconclusive" in text

    def test_lower_is_better(self, ask):
        asked = ask({"a": A, "b": B}, "--better", "lower")
        assert asked.sentence().startswith("b is behind a by 0.115 two (95% CI 0.0")
        assert "(lower is better)" in asked().out
        row = asked.pair()
        assert (row["wins"], row["losses"], row["verdict"]) == (1, 9, "worse")

    def test_margin(self, two):
        row = two.pair("--margin", "0.2")
        assert (row["verdict"], row["margin"]) == ("equivalent", 0.2)
        assert -0.2 < row["margin_low"] < row["margin_high"] < 0.2
        first = two.sentence("--margin", "0.2")
        assert first.startswith("b and a are equivalent within 0.2 P@20: b is 0.115 ahead of a (90% CI")
        assert f"; yet b is ahead: p = {exact_p(DIFFERENCES):.4f}." in first

    def test_significant_is_not_by_more_than_the_margin(self, two):
        row = two.pair()
        assert row["verdict"] == "better" and row["low"] > 0.01
        # Just below and just above the lower limit of the 95% interval, whatever the 90% interval has.
        for margin, verdict, said in (
            (row["low"] - 1e-4, "superior", "b beats a by 0.115 P@20, by more than"),
            (row["low"] + 1e-4, "better", "b is ahead of a by 0.115 P@20, perhaps by less than"),
        ):
            given = ("--margin", f"{margin:.4f}")
            assert two.pair(*given)["verdict"] == verdict
            assert two.sentence(*given).startswith(f"{said} {margin:.4f} (95% CI")
            turned = two.pair(*given, "--baseline", "b")
            assert turned["verdict"] == {"superior": "inferior", "better": "worse"}[verdict]

    def test_deciding_queries_both_ways(self, two):
        out = two().out
        for_b, for_a = out.index("Queries that favour b"), out.index("Queries that favour a")
        assert for_b < out.index("q08 ") < for_a < out.index("q07 ")

    def test_few_differences_are_listed(self, ask):
        result = ask({"a": [0.5] * 20, "b": [0.5] * 16 + [0.6, 0.7, 0.8, 0.9]})()
        assert "note: only 4 of 20 differences are nonzero: random sign flips cannot reach 5%" in result.out
        assert "0.1250" in result.out and "(approximate)" in result.out
        # p and interval may disagree only if the sentence marks the interval as approximate.
        assert " by Student's t, approximate, p = 0.1250" in result.words
        assert all(f"q00{i}" in result.out for i in range(16, 20))

    def test_few_queries(self, ask):
        assert ask({"a": A[:8], "b": B[:8]})().out.startswith("With 8 queries, the minimum detectable difference is 0.")
        asked = ask({"a": [0.1, 0.2, 0.5, 0.1, 0.3], "b": [0.3, 0.45, 0.6, 0.4, 0.32]})
        takes = (
            "With 5 queries, no difference is detectable: at least {} queries on which the systems differ are needed."
        )
        assert asked.sentence().startswith(takes.format(6)) and asked.sentence().count("detectable") == 1
        assert asked.sentence("--alpha", "0.01").startswith(takes.format(8))
        assert asked.sentence("--test", "t").startswith("With 5 queries, the minimum detectable difference is 0.191.")
        result = ask({"a": [0.1], "b": [0.2]})()
        assert result.code == 0 and "no 95% CI" in result.out and "1 query is too few" in result.out

    def test_many_queries_need_a_margin(self, ask):
        rng = random.Random(4)
        ground = [rng.random() for _ in range(5001)]
        asked = ask({"a": ground, "b": [g + rng.gauss(0.02, 0.1) for g in ground]})
        result = asked()
        assert "For a verdict, set a margin: the smallest difference that matters." in result.words
        assert (
            "with 5,001 queries tiny differences are significant" in result.out
            and "Student's test and CI." in result.out
        )
        row = asked.pair("--margin", "0.1")
        assert (row["test"], row["interval"], row["verdict"]) == ("t", "t", "equivalent")

    def test_identical_systems_and_constant_differences(self, ask):
        asked = ask({"a": A, "b": A})
        result, row = asked(), asked.pair()
        assert result.code == 0 and "same two on each of 10 queries" in result.out
        assert "note: both systems have the same score on every query" in result.out
        assert (row["p"], row["verdict"]) == (1.0, "inconclusive")
        asked = ask({"a": [0.2] * 30, "b": [0.3] * 30}, "--draws", "999")
        row = asked.pair()
        assert row["p"] == 1 / 1000 and row["d_z"] is None and "p < 0.001" in asked().out

    def test_several_measures(self, command):
        for name in ("AP.csv", "RR.csv"):
            command.write(name, table({"a": A, "b": B}))
        asked = Asked(command, ("--from", "AP.csv", "--from", "RR.csv"))
        result = asked()
        assert "primary measure: AP; secondary: RR" in result.out
        assert "2 tests, not corrected for each other" in result.out
        assert [row["measure"] for row in asked.rows("pairs", "-m", "RR", "-m", "AP")] == ["RR", "AP"]
        told = "notice: the figure shows AP, the first measure"
        assert told in asked("--figure", "f.svg").err and told not in result.err


@pytest.mark.usefixtures("few_flips")
class TestSeveralSystems:
    def test_conclusion_and_leaderboard(self, five):
        text, found = five.sentence(), five("--format", "jsonl")
        told = [row for row in found.rows("pairs") if row["adjusted_p"] < 0.05]
        assert len(told) == 9
        assert "(AP, 30 queries). 9 of 10 pairs differ significantly at the 5% level. For the other no" in text
        details = five().words
        assert (
            "p: randomisation test, " in details
            and " sign flips, seed 0; p adj.: step-down maxT, 10 tests in" in details
        )
        # The threshold of all pairs at once; that of those which are left is smaller, and so are the intervals.
        measured, least = found.lines[0]["measures"]["AP"], min(row["difference"] for row in told)
        assert measured["half_width"] < measured["threshold"]
        some = "some smaller ones are too" if least < measured["threshold"] else "smaller ones may be"
        assert re.search(rf"; any difference above 0\.1\d+ is significant, {some}\.", details)
        means = sorted(((sum(values) / 30, name) for name, values in scores(5, 30).items()), reverse=True)
        rows = found.rows("systems")
        assert [row["system"] for row in rows] == [name for _, name in means]
        assert [row["mean"] for row in rows] == pytest.approx([mean for mean, _ in means])
        assert "Systems sharing a letter do not differ significantly; equality is not shown." in five().words
        assert " is significant. " in five("--procedure", "tukey").words  # one threshold has no steps

    def test_where_pairs_are_left_out_how_to_see_them_is_said(self, ask):
        seven, how = ask(scores(7, 30), "-m", "AP"), "To see which pairs differ: --all prints all 21, --pairs A,B one."
        assert how in seven().words and "Pairs (AP)" not in seven().out
        assert how not in seven("--all").words and how not in seven("--only", "leaderboard").words
        for asked, pairs in ((("--pairs", "s1,s6"), 1), (("--all",), 21)):
            assert len(seven(*asked).out.split("Pairs (AP)")[1].split("\n\n")[0].splitlines()) == 3 + pairs

    def test_a_letter_is_shared_just_by_those_not_told_apart(self, five):
        letters = {row["system"]: set(row["letters"]) for row in five.rows("systems")}
        pairs = five.rows("pairs")
        assert {bool(letters[p["system"]] & letters[p["other"]]) for p in pairs} == {True, False}
        assert all(bool(letters[p["system"]] & letters[p["other"]]) == (p["verdict"] == "inconclusive") for p in pairs)

    def test_baseline(self, five):
        result = five("--baseline", "s2", "--format", "jsonl")
        assert [(p["system"], p["baseline"]) for p in result.rows("pairs")] == [
            (s, "s2") for s in ("s4", "s3", "s1", "s0")
        ]
        assert result.lines[0]["baseline"] == "s2" and result.lines[0]["measures"]["AP"]["tests"] == 4
        out = five("--baseline", "s2").out
        assert "† significantly better, ‡ significantly worse than s2 (adjusted p)." in out and " baseline\n" in out

    @pytest.mark.parametrize("arguments", [(), ("--procedure", "tukey"), ("--baseline", "s2")])
    def test_margin(self, five, arguments):
        found = five("--margin", "0.12", "--format", "jsonl", *arguments)
        rows = found.rows("pairs")
        for row in rows:
            low, high = row["low"], row["high"]
            if low > -0.12 and high < 0.12:
                verdict = "equivalent"
            elif row["adjusted_p"] < 0.05:
                verdict = "better" if row["difference"] > 0 else "worse"
                if min(abs(low), abs(high)) > 0.12:
                    verdict = {"better": "superior", "worse": "inferior"}[verdict]
            elif low > -0.12:
                verdict = "non-inferior"
            else:
                verdict = "non-superior" if high < 0.12 else "inconclusive"
            assert row["verdict"] == verdict
        assert found.lines[0]["margin"] == 0.12
        text = five("--margin", "0.12", *arguments).words
        who = "the system" if arguments == ("--baseline", "s2") else "the better system"
        [said] = re.findall(rf"With a margin of 0.12, {who} is (.*?) of {len(rows)} pairs\.", text)
        for verdict in ("superior", "better", "equivalent", "non-inferior", "inferior"):
            count = sum(row["verdict"] == verdict for row in rows)
            assert bool(re.search(rf"(^|, |and ){verdict} in {count}", said)) == (count > 0)

    def test_the_best_of_very_many_queries_needs_a_margin(self, ask):
        # Every difference is significant: 0.01 of a score, and 0.2.
        base = [((i * 7919) % 5003) / 6000 for i in range(5_002)]
        above = [x + 0.01 + ((i * 104_729) % 101 - 50) / 10_000 for i, x in enumerate(base)]
        asked = ask({"a": base, "b": above, "c": [x - 0.2 for x in base]}, "--draws", "200")
        text = asked().words
        assert "significantly better than all" not in text
        assert [row["verdict"] for row in asked.rows("pairs")] == ["margin required"] * 3
        assert text.count("different") == 3
        assert (
            "b is ahead of all others; with so many queries, the difference may be negligible; "
            "--margin D sets what matters (" in text
        )
        for margin, said in (
            ("0.05", "With a margin of 0.05, the better system is superior in 2 and equivalent in 1 of 3 pairs."),
            ("0.05", "b is the best; equivalent to it within 0.05: a ("),
            ("0.001", "b is the best, by more than 0.001 ("),
            # The lead over a is 0.01, give or take the interval: superior, but not by so much for sure.
            ("0.00999", "b is the best, but perhaps not by more than 0.00999 ("),
        ):
            assert said in asked("--margin", margin).words
        # Without intervals, the hint does not suggest a margin, which requires them.
        text = asked("--test", "t").words
        assert "b is ahead of all others; with so many queries, the difference may be negligible (" in text

    def test_what_corrections_and_draws_cannot_do_is_said(self, five):
        assert (
            "the expected share of false findings is at most alpha; the probability of any false finding is not bounded"
            in five("--correction", "bh").words
        )
        assert "note: 10 resamples cannot reach 5%: at least 20 are needed" in five("--draws", "10").out
        result = five("--correction", "holm", "--draws", "1999")
        assert result.code == 2 and "1,999 sign flips are too few for 10 tests" in result.err
        assert five("--correction", "holm", "--draws", "2000").code == 0

    @pytest.mark.parametrize("procedure", ["tukey", "rthsd", "friedman"])
    def test_procedures_that_depend_on_the_pool(self, five, procedure):
        asked = ("--procedure", procedure, "--draws", "500")
        assert "p (adjusted) depends on the set of systems compared" in five(*asked).out
        found = five(*asked, "--format", "jsonl")
        assert found.lines[0]["measures"]["AP"]["depends_on_pool"] is True
        own, pairs = (
            {frozenset((p["system"], p["other"])): p["p"] for p in rows}
            for rows in (five.rows("pairs", "--draws", "500"), found.rows("pairs"))
        )
        assert own == pairs

    def test_friedman(self, five):
        result = five("--procedure", "friedman", "--format", "jsonl")
        chi2, p = stats.friedmanchisquare(*scores(5, 30).values())
        [overall, f] = result.rows("Ranks within queries, AP")
        assert overall["statistic"] == pytest.approx(chi2) and overall["p value"] == pytest.approx(p)
        assert f["statistic"] == pytest.approx(29 * chi2 / (30 * 4 - chi2))
        assert "ranks, not means" in five("--procedure", "friedman").out

    def test_anova(self, five):
        rows = five.rows("Two-way analysis of variance of AP", "--procedure", "anova")
        columns = np.array(list(scores(5, 30).values()))
        systems = 30 * ((columns.mean(axis=1) - columns.mean()) ** 2).sum()
        assert rows[0]["sum of squares"] == pytest.approx(systems)
        assert {row["source"]: row["df"] for row in rows} == {"systems": 4, "queries": 29, "residual": 116}
        out = five("--procedure", "anova").out
        assert "Greenhouse-Geisser correction: epsilon 0." in out and "SD of paired differences" in out

    def test_uneven_spread_is_warned_about(self, ask):
        data, rng = scores(4, 40, step=0.0), random.Random(5)
        data["wild"] = [round(rng.random(), 3) for _ in range(40)]
        for name in ("twin", "twin2"):
            data[name] = [round(v + 0.001 * rng.random(), 5) for v in data["s0"]]
        asked = ask(data)
        assert "variances differ between pairs of systems" in asked("--procedure", "tukey").out
        assert "vary unevenly" not in asked().out

    def test_identical_systems_are_counted(self, ask):
        data = scores(3, 20)
        asked = ask({**data, "twin": data["s1"]})
        [twins] = [p for p in asked.rows("pairs") if {p["system"], p["other"]} == {"s1", "twin"}]
        assert (twins["p"], twins["adjusted_p"], twins["verdict"]) == (1.0, 1.0, "inconclusive")
        assert asked("--format", "jsonl").lines[0]["measures"]["two"]["tests"] == 6
        assert "note: s1 = twin: the same score on every query; p = 1, counted in the family" in asked().out

    def test_too_few_queries(self, ask):
        out = ask({"a": [0.1, 0.2], "b": [0.5, 0.7], "c": [0.9, 0.8]})().words
        assert "note: with 2 queries random sign flips cannot reach 5%: no difference can be significant" in out
        assert "unbounded" in out and "Any of the 3 systems could be the best (" in out

    def test_step_down_may_tell_more_than_intervals(self, ask):
        # A giant difference makes the one step wide, and then leaves the family.
        rng = random.Random(8)
        ground = [rng.random() for _ in range(40)]
        systems = {"low": (0, 0.01), "high": (0.02, 0.01), "far": (5, 1)}
        asked = ask({name: [round(g + up + rng.gauss(0, sd), 4) for g in ground] for name, (up, sd) in systems.items()})
        [close] = [p for p in asked.rows("pairs") if {p["system"], p["other"]} == {"low", "high"}]
        assert close["verdict"] == "better" and close["low"] < 0
        assert "an interval may contain 0 although the pair differs significantly" in asked().words

    def test_groups(self, five, command):
        result = five("--groups", "low=s0,s1", "--groups", "high=s2,s3,s4", "--format", "jsonl")
        [u] = result.rows("Groups two by two, mean AP")
        means = {name: sum(values) / 30 for name, values in scores(5, 30).items()}
        low, high = ([means[s] for s in names] for names in (("s0", "s1"), ("s2", "s3", "s4")))
        theirs = stats.mannwhitneyu(low, high, method="exact")
        assert (u["Mann-Whitney U"], u["p value"]) == (theirs.statistic, pytest.approx(theirs.pvalue))
        # A line separator within a name ends no line.
        command.write("groups.txt", "# by hand\nlow\u2028est=s0,s1\nhigh=s2,s3,s4\n")
        out = five("--groups", "groups.txt").out
        assert "Descriptive: the units are systems" in out and "Kruskal-Wallis H" in out


@pytest.mark.usefixtures("few_flips")
class TestSeveralMeasures:
    @pytest.fixture
    def both(self, command):
        command.write("AP.csv", table(scores(4, 25)))
        command.write("RR.csv", table(scores(4, 25, seed=2)))
        return Asked(command, ("--from", "AP.csv", "--from", "RR.csv"))

    def test_each_has_a_family(self, both, command):
        result = both()
        assert "primary measure: AP; secondary: RR" in result.out
        assert "12 tests in 2 families (6 + 6), corrected separately" in result.out
        together = both.rows("pairs")
        alone = command("compare", "--from", "RR.csv", "--format", "jsonl").rows("pairs")
        assert [p for p in together if p["measure"] == "RR"] == alone

    def test_one_family(self, both):
        assert "12 tests in one family (6 + 6)" in both("--family", "all").out
        each, together = both.rows("pairs"), both.rows("pairs", "--family", "all")
        assert [pair["p"] for pair in each] == [pair["p"] for pair in together] and len(each) == 12
        assert sum(b["adjusted_p"] > a["adjusted_p"] for a, b in zip(each, together, strict=True)) >= 6

    def test_means_with_letters(self, both):
        assert both().out.startswith("Means\n")
        latex = both("--format", "latex").out
        assert r"\toprule" in latex and r"$^{\mathrm{a}}$" in latex and r"\textbf{" in latex

    def test_conover_is_protected_by_friedman(self, ask):
        # Nothing overall: no pair is named, although an uncorrected one would be.
        rng = random.Random(1)
        asked = ask({f"s{i}": [round(rng.random(), 3) for _ in range(20)] for i in range(6)}, "--procedure", "friedman")
        pairs, out = asked.rows("pairs"), asked().out
        assert {pair["conover_p"] for pair in pairs} == {pair["conover_holm_p"] for pair in pairs} == {None}
        assert "p Conover" not in out and "Friedman's test is not significant at 5%: Conover's comparisons" in out
        asked = ask(scores(4, 25, step=0.2), "--procedure", "friedman")
        assert all(pair["conover_p"] < 1 for pair in asked.rows("pairs")) and "p Conover" in asked().out


@pytest.mark.usefixtures("few_flips")
class TestFormats:
    def test_csv_latex_and_markdown(self, five):
        first, second = five("--format", "csv").out.split("\n\n")
        rows = list(csv.DictReader(io.StringIO(second.split("\n", 1)[1])))
        assert first.startswith("# systems\n") and len(rows) == 10 and float(rows[0]["p"]) > 0
        for format_, dagger in (("latex", r"$^{\dagger}$"), ("markdown", "<sup>†</sup>")):
            assert dagger in five("--baseline", "s0", "--format", format_).out

    def test_json_lines_say_how(self, five, two):
        result = five("--format", "jsonl", "--draws", "2000", "--seed", "9")
        header, pair = result.lines[0], result.rows("pairs")[0]
        found = header["measures"]["AP"]
        assert (header["command"], header["seed"], found["draws"]) == ("compare", 9, 2000)
        assert found["null"]["critical"] == found["threshold"] > 0
        assert pair["monte_carlo_error"] == pytest.approx(math.sqrt(pair["p"] * (1 - pair["p"]) / 2000))
        result = two("--format", "jsonl")
        sd = result.lines[0]["tests"]["P@20"]["null"]["sd"]
        assert sd == pytest.approx(math.sqrt(sum(each**2 for each in DIFFERENCES)) / 10)
        queries = [(row["query"], row["system"], row["baseline"]) for row in result.rows("queries")]
        assert queries == list(zip(IDS, B, A, strict=True))

    @pytest.mark.parametrize("chart", ["leaderboard", "critical", "p", "differences"])
    def test_figures(self, five, two, command, chart):
        for name in ("f.svg", "g.svg"):
            assert five("--chart", chart, "--figure", name).code == 0
        drawn = (command.directory / "f.svg").read_bytes()
        assert drawn.startswith(b"<?xml") and (command.directory / "g.svg").read_bytes() == drawn

    def test_one_table_and_a_figure(self, five, two, command):
        for asked in (five, two):
            assert asked("--only", "means", "-o", "t.tex", "--figure", "t.svg").code == 0
            assert all((command.directory / name).exists() for name in ("t.tex", "t.svg"))
            (command.directory / "t.svg").unlink()

    def test_a_refusal_writes_neither(self, five, command, monkeypatch):
        def refuse(*_):
            raise UsageError("the results cannot be written")

        with monkeypatch.context() as patched:
            patched.setattr("gainful.cli.options.write", refuse)
            assert five("-o", "t.tex", "--figure", "t.svg").code == 2
        assert five("-o", "t.tex", "--label", "none=X", "--figure", "t.svg").code == 2
        assert not any((command.directory / name).exists() for name in ("t.tex", "t.svg"))

    def test_a_figure_that_cannot_be_drawn_stops_before_results(self, five, command):
        many = ("--chart", "differences", "--figure", "t.svg", "--figure-size", "1")
        assert five("--pairs", "s0,s1", "-o", "t.tex", *many).code == 0
        nine = [
            part for other in ("s1", "s2", "s3", "s4") for part in ("--pairs", f"s0,{other}", "--pairs", f"{other},s0")
        ]
        assert five(*nine, "--pairs", "s1,s2", "-o", "u.tex", *many).code == 2
        assert not (command.directory / "u.tex").exists()


class TestPromises:
    def test_other_systems_change_nothing(self, ask):
        data = scores(6, 30)
        found = {(p["system"], p["other"]): p for p in ask(data, "-m", "AP").rows("pairs")}
        for pair in ask({name: data[name] for name in ("s4", "s1", "s2")}, "-m", "AP").rows("pairs"):
            same = found[pair["system"], pair["other"]]
            assert (pair["p"], pair["difference"]) == (same["p"], same["difference"])
        assert ask({name: data[name] for name in ("s1", "s4")}).pair()["p"] == found["s4", "s1"]["p"]

    def test_same_bytes_for_any_order_and_threads(self, ask):
        data, ids = scores(5, 30), [f"q{i:04d}" for i in range(30)]
        straight = ask(data, ids=ids)("--format", "jsonl").out
        turned = ask({name: values[::-1] for name, values in data.items()}, ids=ids[::-1])
        for threads in ("1", "2", "4"):
            assert turned("--threads", threads, "--format", "jsonl").out == straight
        assert len({turned("--procedure", "rthsd", "--threads", threads).out for threads in ("1", "3")}) == 1


class TestInputs:
    QRELS = "".join(f"q{i} 0 d{j} {j % 3}\n" for i in range(8) for j in range(6))

    def runs(self, command):
        command.write("qrels", self.QRELS)
        for name, step in (("x", 1), ("y", 5)):
            lines = [f"q{i} Q0 d{(step * r + i) % 6} {r} {9 - r} t\n" for i in range(8) for r in range(6)]
            command.write(f"{name}.run", "".join(lines))

    def test_runs_and_what_eval_wrote_are_the_same(self, command):
        self.runs(command)
        direct = command("compare", "qrels", "x.run", "y.run", "-m", "AP", "--format", "jsonl").rows("pairs")
        for ending in ("jsonl", "csv"):
            assert command("eval", "qrels", "x.run", "y.run", "-m", "AP", "--by-query", "-o", f"s.{ending}").code == 0
            assert command("compare", "--from", f"s.{ending}", "--format", "jsonl").rows("pairs") == direct

    def test_measures_without_a_better_side_are_left_out(self, command):
        self.runs(command)
        command("eval", "qrels", "x.run", "y.run", "-m", "AP", "-m", "Judged@10", "--by-query", "-o", "s.jsonl")
        result = command("compare", "--from", "s.jsonl")
        left_out = "notice: s.jsonl: left out, because their means cannot order systems: Judged@10"
        assert result.code == 0 and left_out in result.err

    def test_orientation_is_said(self, command):
        rows = "AP,301,302,303\nsys1,0.1,0.2,0.3\nsys2,0.3,0.2,0.5\n"
        command.write("t.csv", rows)
        result = command("compare", "--from", "t.csv")
        assert "notice: t.csv: rows are treated as systems: the names of the columns are numbers" in result.err
        assert command("compare", "--from", "t.csv", "--rows", "systems").err == ""
        assert command("compare", "--from", "t.csv", "--format", "jsonl").rows("pairs")[0]["queries"] == 3

    def test_transposed_tables_are_the_same(self, ask, command):
        data, ids = scores(4, 12), [f"q{i:04d}" for i in range(12)]
        straight = ask(data, ids=ids)("--rows", "queries", "--format", "jsonl").out
        turned = {query: [values[i] for values in data.values()] for i, query in enumerate(ids)}
        command.write("two.csv", table(turned, list(data), "system"))
        assert command("compare", "--from", "two.csv", "--rows", "systems", "--format", "jsonl").out == straight

    def test_files_that_do_not_fit_together_are_refused(self, command):
        command.write("AP.csv", table({"a": A, "b": B, "c": A}))
        command.write("RR.csv", table({"a": A, "b": B, "d": A}))
        for name in "ab":
            command.write(f"{name}.csv", f"{name}\n0.1\n0.2\n0.35\n")
        for line, said in (
            ("--from AP.csv --from RR.csv", "found 'c' only in one"),
            ("--from a.csv --from b.csv -m AP", "never paired by position"),
        ):
            result = command("compare", *line.split())
            assert result.code == 3 and said in result.err

    def test_left_out_queries_are_said(self, command):
        command.write("t.csv", table({"a": [0.1, 0.2, ""], "b": [0.3, 0.1, 0.2]}))  # type: ignore[list-item]
        result = command("compare", "--from", "t.csv")
        assert "notice: t: 1 query without a score of every system, left out: q0002" in result.err
        assert command("compare", "--from", "t.csv", "--quiet").err == ""

    def test_standard_input(self, command):
        found = command("compare", "--from", "-", stdin=table({"a": A, "b": B}).encode())
        assert found.code == 0 and "b beats a" in found.out


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "no judgments and runs were given"),
        ("two.csv", "no runs besides the judgments two.csv"),
        ("qrels --from two.csv", "--from cannot be combined with judgments and runs (qrels)"),
        ("--from one.csv", "expected at least two systems, found 1"),
        ("q r --rows queries", "--rows needs --from"),
        ("TWO --like trec_eval-9", "--like cannot be used with --from"),
        ("TWO --baseline c", "baseline: unknown system 'c'; the systems are a, b"),
        ("TWO --alpha 0", "alpha"),
        ("TWO --alpha x", "--alpha: expected a number"),
        ("TWO --margin -1", "margin: expected a number above 0"),
        ("TWO --chart p", "chart: expected differences, found 'p'"),
        ("TWO --pairs a,b", "--pairs cannot be used with two systems"),
        ("TWO --only leaderboard", "only: 'leaderboard' cannot be used with two systems"),
        ("TWO --procedure maxt --pairs a", "--pairs: expected two systems like bm25,dense"),
        ("TWO --procedure maxt --pairs a,z", "pairs: unknown system 'z'"),
        ("TWO --procedure tukey --correction bh", "correction: cannot be used with the procedure tukey"),
        ("TWO --procedure rthsd --margin 1", "margin: requires simultaneous intervals, which rand"),
        ("TWO --correction holm --test bootstrap", "test: expected randomisation | t"),
        ("TWO --correction maxt --test t", "correction maxt: requires the test randomisation"),
        ("TWO --correction bh --chart critical", "chart: 'critical' needs a procedure"),
        ("TWO --family all --procedure rthsd", "family: 'all' cannot be used"),
        ("TWO --groups x=a", "groups: expected at least two groups, found one"),
        ("TWO --groups x=a --groups y=z", "groups: unknown system 'z'"),
        ("TWO --groups x=a --groups y=a", "groups: system 'a' is in more than one group"),
        ("TWO --test bayes", "exactly equal means would have probability 0"),
        ("TWO --test bayes --margin 0.1 --correction holm", "correction cannot be used with test bayes"),
        ("TWO --test bayes --margin 0.1 --procedure tukey", "procedure cannot be used with test bayes"),
        ("TWO --test bayes --margin 0.1 --interval t", "interval cannot be used with test bayes"),
        ("TWO --test bayes --margin 0.1 --family all", "family cannot be used with test bayes"),
        ("TWO --test bayes --margin 0.1 --draws 100", "draws cannot be used with test bayes"),
        ("TWO --test bayes --margin 0.1 --seed 1", "seed cannot be used with test bayes"),
        ("TWO --test bayes --margin 0.1 --chart differences", "does not apply to this result"),
        ("TWO --sequential --test t", "test cannot be used with a sequential comparison"),
        ("TWO --sequential --test bayes", "test cannot be used with a sequential comparison"),
        ("TWO --sequential --margin 0.1", "margin cannot be used with a sequential comparison"),
        ("TWO --sequential --correction holm", "correction cannot be used with a sequential comparison"),
        ("THREE --caption x", "--caption cannot be used with --format table"),
        ("THREE --label x --format csv", "--label cannot be used with --format csv"),
        ("THREE --marks daggers", "marks: daggers require a baseline"),
        ("THREE --marks letters --baseline a", "marks: letters require all pairs of 3 to 12 systems"),
    ],
)
def test_what_is_refused(command, line, message):
    for name, systems in (("one", {"a": A}), ("two", {"a": A, "b": B}), ("three", {"a": A, "b": B, "c": A[::-1]})):
        command.write(f"{name}.csv", table(systems))
    result = command("compare", *line.replace("TWO", "--from two.csv").replace("THREE", "--from three.csv").split())
    assert (result.code, result.out) == (2, "") and message in result.err, result.err


class TestEffects:
    def test_of_two_systems_it_is_d_z_times_the_root_of_2(self, command, two):
        # With two systems the residual mean square is half the variance of the differences.
        [pair] = two.rows("pairs")
        [found] = two.rows("pairs", "--procedure", "maxt")
        for name, same in (("effect", "d_z"), ("effect_low", "d_z_low"), ("effect_high", "d_z_high")):
            assert found[name] == pytest.approx(math.sqrt(2) * pair[same], rel=1e-9)

    def test_of_several_systems(self, five):
        data = np.array(list(scores(5, 30).values())).T
        residuals = data - data.mean(axis=0) - data.mean(axis=1, keepdims=True) + data.mean()
        unit = math.sqrt((residuals**2).sum() / (29 * 4))
        for row in five.rows("pairs", "--procedure", "tukey"):
            assert row["effect"] == pytest.approx(row["difference"] / unit)
            assert row["q"] == pytest.approx(abs(row["difference"]) / (unit / math.sqrt(30)))
            t = row["effect"] * math.sqrt(15)
            # The limits are those effects of which this t, or a more extreme one, has a chance of 2.5%.
            assert stats.nct.sf(t, 116, row["effect_low"] * math.sqrt(15)) == pytest.approx(0.025, abs=1e-6)
            assert stats.nct.cdf(t, 116, row["effect_high"] * math.sqrt(15)) == pytest.approx(0.025, abs=1e-6)
        assert "Effect size: difference / residual SD; " in five().out

    def test_without_anything_left_over_there_is_none(self, ask):
        asked = ask({name: [x + i / 8 for x in (0.25, 0.5, 0.125)] for i, name in enumerate("abc")})
        assert {row["effect"] for row in asked.rows("pairs")} == {None}


class TestWhatIsPrintedHolds:
    """Bounds are rounded to the safe side, and notes claim no more than the correction allows."""

    @pytest.mark.parametrize("places", [1, 2, 3])
    def test_the_printed_threshold_holds_for_the_printed_means(self, ask, places):
        for seed in range(4):
            asked = ask(scores(5, 30, seed, 0.05), "-m", "AP", "--places", str(places), "--draws", "999")
            means = {row["system"]: row["mean"] for row in asked.rows("systems")}
            threshold = float(re.search(r"any difference above (\S+) (?:is|would be) significant", asked().words)[1])
            for row in asked.rows("pairs"):
                a, b = (float(f"{means[row[side]]:.{places}f}") for side in ("system", "other"))
                if round(abs(a - b), places) > threshold:
                    assert row["verdict"] != "inconclusive"

    @pytest.mark.parametrize("correction", ["none", "bh"])
    def test_without_simultaneous_inference_no_system_is_the_best(self, ask, correction):
        asked = ask(scores(3, 30, step=0.3), "-m", "AP")
        together, out = asked().words, asked("--correction", correction).words
        assert "s2 is significantly better than both other systems" in together and "differences, jointly." in together
        assert "better than all" not in out and "jointly" not in out
        assert (
            "No other system is significantly better than s2, unadjusted" in out and "differences, unadjusted." in out
        )

    def test_the_floor_of_p_has_two_figures(self, ask):
        out = ask(scores(3, 30, step=0.3), "-m", "AP")("--draws", "999", "--all").out
        assert "< 0.0011 " in out and "< 0.00100" not in out

    def test_limits_keep_their_side_of_0(self, ask):
        # Ten differences, the interval of t: one limit is -0.0002.
        shift = stats.t.ppf(0.975, 9) * math.sqrt(0.0011 / 9 / 10) - 0.0002
        step = math.sqrt(0.0011 / 10)
        asked = ask({"a": [0.5] * 10, "b": [0.5 + shift + side * step for side in (1, -1) * 5]}, "--test", "t")
        assert f"(95% CI -0.0002 to {2 * shift + 0.0002:.4f}, p = " in asked.sentence()

    def test_one_pair_and_one_left(self, ask):
        text = ask({"a": A, "b": B}, "--procedure", "maxt")().words
        assert "no difference was shown" not in text
        assert (
            "b is significantly better than the other system (two, 10 queries). The pair differs significantly" in text
        )
        text = ask({"a": A, "b": A[1:] + A[:1]}, "--procedure", "maxt")().words
        assert "No pair differs significantly at the 5% level. This does not show that the systems are equal." in text

    def test_queries_without_a_score_are_in_the_sentence(self, ask):
        asked, said = ask({"a": A, "b": [*B[:2], "", *B[3:]]}), "9 of 10 queries, the other lacks a score"
        assert f", {said})" in asked.sentence()
        row = asked.pair()
        assert (row["queries"], row["left_out"]) == (9, 1)
        assert f", {said})." in asked("--procedure", "maxt").words
        found = asked("--procedure", "maxt", "--format", "jsonl").lines[0]["measures"]
        assert [each["queries_left_out"] for each in found.values()] == [1]
        for mode in (("--test", "bayes", "--margin", "0.01"), ("--sequential", "-m", "P@10")):
            assert said in asked(*mode).words, mode
            assert list(asked(*mode, "--format", "jsonl").lines[0]["queries_left_out"].values()) == [1]

    def test_no_word_of_effect_where_the_interval_is_no_ground(self, ask):
        # Five differences cannot reach 5%: Student's interval is a guide only; no word and no equivalence rest on it.
        asked = ask({"a": [0.1] * 5, "b": [0.2, 0.21, 0.22, 0.23, 0.2]})
        first = asked.sentence()
        assert "approximate" in first and "substantial" not in first and "+112%" in first
        assert "with 5 queries random sign flips cannot reach 5%" in asked().out
        assert asked.pair("--margin", "0.5")["verdict"] == "inconclusive"


class TestForMachines:
    def test_randomised_tukey_has_the_error_of_its_p(self, five):
        for row in five.rows("pairs", "--procedure", "rthsd", "--draws", "500"):
            p = row["adjusted_p"]
            assert row["adjusted_p_error"] == pytest.approx(math.sqrt(p * (1 - p) / 500)) and row.get("q") is None

    def test_the_interval_of_rank_biserial_is_on_the_page(self, two):
        row = two.pair()
        assert f"{row['rank_biserial_low']:.4f} to {row['rank_biserial_high']:.4f}" in two("--detail").out

    def test_the_answer_comes_first_and_details_are_asked_for(self, two):
        answer, everything = two().out, two("--detail").out
        titles = ["Result (b - a)", "Queries that favour b", "Queries that favour a"]
        assert [line for line in answer.splitlines() if line in titles] == titles
        details = ("Effect sizes", "H0: ", "o b is better")
        assert [text for text in details if text in answer] == []
        assert [text for text in details if text in everything] == list(details)
        assert two("--chart", "differences").out.count("o b is better") == 1
        for format_ in ("csv", "jsonl"):
            assert two("--format", format_).out == two("--format", format_, "--detail").out

    def test_as_many_queries_as_asked_for(self, two, five):
        for most in (1, 3):
            rows = two("--most", str(most)).out.split("Queries that favour b\n")[1].split("\n\n")[0]
            assert len(rows.splitlines()) == 2 + most
        result = five("--most", "3")
        assert result.code == 2 and "most cannot be used with several systems" in result.err

    def test_the_command_offers_what_there_is(self):
        from gainful.cli import compare_command
        from gainful.stats.catalogues import ASKED_AS_TESTS, CORRECTIONS, INTERVALS, PROCEDURES
        from gainful.tasks.score_questions import CHARTS_OF_PAIRS, CHARTS_OF_SYSTEMS

        offered = {each.name: set(getattr(each.type, "choices", ())) for each in compare_command.command.params}
        assert offered["test"] == set(ASKED_AS_TESTS) and offered["interval"] == set(INTERVALS)
        assert offered["procedure"] == set(PROCEDURES) and offered["correction"] == set(CORRECTIONS)
        assert offered["chart"] == {*CHARTS_OF_PAIRS, *CHARTS_OF_SYSTEMS}


class TestProbabilities:
    def test_sentence(self, two):
        t = stats.t(9, 0.115, stats.sem(DIFFERENCES))
        better, low, high = t.sf(0.05), *t.interval(0.95)
        assert two.sentence("--test", "bayes", "--margin", "0.05") == (
            f"b is better than a by more than 0.05 P@20 with probability {better:.2f} (equivalent: "
            f"{t.cdf(0.05) - t.cdf(-0.05):.2f}, worse: < 0.01); mean difference 0.115, 95% credible interval "
            f"{low:.3f} to {high:.3f}, 10 queries."
        )
        assert 0.95 < better < 0.995

    @pytest.mark.parametrize(
        ("margin", "better", "beginning"),
        [
            (
                "0.1",
                "higher",
                "It is inconclusive whether b and a differ by more than 0.1 P@20: b is better with probability 0.",
            ),
            (
                "0.3",
                "higher",
                "b and a are equivalent within 0.3 P@20 with probability > 0.99 (better: < 0.01, worse: < 0.01)",
            ),
            ("0.05", "lower", "b is worse than a by more than 0.05 P@20 with probability 0.9"),
        ],
    )
    def test_other_verdicts(self, two, margin, better, beginning):
        assert two.sentence("--test", "bayes", "--margin", margin, "--better", better).startswith(beginning)

    def test_a_pair_is_the_same_alone_against_a_baseline_and_among_all(self, five):
        how, values = ("--test", "bayes", "--margin", "0.02"), scores(5, 30)
        among = {(row["system"], row["other"]): row for row in five.rows("posteriors", *how)}
        for (system, other), row in among.items():
            shares = [row[f"probability_{word}"] for word in ("worse", "equivalent", "better")]
            assert sum(shares) == pytest.approx(1) and row["difference"] >= 0 and not {"p", "adjusted_p"} & row.keys()
            t = stats.ttest_rel(values[system], values[other])
            assert (row["low"], row["high"]) == pytest.approx(tuple(t.confidence_interval()), abs=1e-9)
        against = five.rows("posteriors", *how, "--baseline", "s0")
        [alone] = five.rows("posteriors", *how, "--pairs", "s3,s0")
        assert (len(among), len(against)) == (10, 4) and list(alone.values()) == list(among["s3", "s0"].values())
        assert all(list(among[row["system"], row["baseline"]].values()) == list(row.values()) for row in against)

    def test_several_systems_note_the_missing_correction(self, five):
        out = five("--test", "bayes", "--margin", "0.02").words
        assert out.startswith("AP: in 8 of 10 pairs, one system is better by more than 0.02 with probability 0.95")
        assert "10 comparisons, not corrected for their number" in out

    def test_identical_systems(self, ask):
        out = ask({"a": A, "b": A})("--test", "bayes", "--margin", "0.1").words
        assert "have the same" in out and "there is nothing to compare" in out


@pytest.mark.usefixtures("few_flips")
class TestSequential:
    def test_what_is_told_since_when(self, ask):
        clear = ask({"a": [0.2] * 40, "b": [0.9, 0.8] * 20}, "-m", "P@20", "--sequential")
        steps, [row] = clear.rows("steps"), clear.rows("sequences")
        told = next(row["queries"] for row in steps if row["low"] > 0)
        assert len(steps) == 40 and 5 < told < 20 and (row["significant_after"], row["verdict"]) == (told, "better")
        since, low, high = f"(significant since query {told})", steps[-1]["low"], steps[-1]["high"]
        assert clear.sentence() == (
            f"b is ahead of a in P@20 after 40 queries {since}: 95% interval {low:.3f} to {high:.3f}, valid however "
            "often you look; mean difference 0.650."
        )
        assert clear.sentence("--better", "lower").startswith(f"b is behind a in P@20 after 40 queries {since}")

    def test_every_step_is_there(self, two):
        steps = two.rows("steps", "--sequential")
        assert [row["query"] for row in steps] == IDS and [row["queries"] for row in steps] == list(range(1, 11))
        for i, row in enumerate(steps, 1):
            assert row["difference"] == pytest.approx(sum(B[:i]) / i - sum(A[:i]) / i)
            assert row["low"] < row["difference"] < row["high"]
        first = two.sentence("--sequential")
        assert first.startswith("b and a are not yet significantly different in P@20: after 10 queries 95% interval -")

    def test_the_order_of_arrival(self, two, command):
        command.write("qrels.txt", "".join(f"{query} 0 d 1\n{query} 0 e 0\n" for query in ["new", *IDS[::-1]]))
        steps = two.rows("steps", "--sequential", "--arrival", "qrels.txt")
        assert [row["query"] for row in steps] == IDS[::-1] and steps[0]["difference"] == pytest.approx(B[-1] - A[-1])
        command.write("few.txt", "q01\nq02\n")
        result = two("--sequential", "--arrival", "few.txt")
        assert result.code == 3 and "arrival: query 'q03' of two.csv is missing" in result.err
        result = two("--arrival", "qrels.txt")
        assert result.code == 2 and "arrival cannot be used with two systems" in result.err

    def test_several_systems_share_alpha(self, ask):
        five = ask({name: [max(x, 0) for x in row] for name, row in scores(5, 30).items()}, "-m", "AP", "--sequential")
        found = five("--baseline", "s0", "--format", "jsonl")
        steps = found.rows("steps")
        assert found.lines[0]["pairs"] == 4 and len(steps) == 4 * 30
        alone = five.rows("steps", "--pairs", "s4,s0", "--alpha", "0.0125")
        assert [row for row in steps if row["system"] == "s4"] == alone
        assert "4 pairs, each at level 0.0125: all intervals hold simultaneously" in five("--baseline", "s0").out
        result = ask(scores(15, 3), "-m", "AP", "--sequential")()
        assert result.code == 2 and "sequential: expected at most 100 pairs, found 105" in result.err

    def test_measures_need_bounds(self, ask):
        for measure, code, said in (
            ((), 2, "-m names the measure of a table of scores"),
            (("-m", "DCG@10"), 2, "DCG@10: scores have no finite bounds"),
            (("-m", "AP"), 3, "AP: expected scores from 0 to 1, found 50 for query 'q0000'"),
        ):
            result = ask({"a": [0.5, 0.5], "b": [50, 0.5]}, *measure)("--sequential")
            assert result.code == code and said in result.err


@pytest.mark.usefixtures("few_flips")
class TestTablesOfPapers:
    """A single table, its marks and rows; complete LaTeX environments."""

    def test_only_the_means_in_the_given_order(self, five):
        result = five("--only", "means", "--sort", "given", "--quiet")
        assert (result.code, result.err) == (0, "")
        head, _, *rows = result.out.splitlines()[1:8]
        assert head.split() == ["system", "AP"]
        assert [row.split()[0] for row in rows] == ["s0", "s1", "s2", "s3", "s4"]
        assert "Pairs" not in result.out and "Leaderboard" not in result.out

    def test_marks_name_the_systems_beaten(self, five):
        """The pairs with a significant difference, from the machine-readable table."""
        beaten = {f"s{i}": "" for i in range(5)}
        for pair in five.rows("pairs"):
            if pair["verdict"] in ("better", "worse"):
                both = (pair["system"], pair["other"])
                winner, loser = both if pair["verdict"] == "better" else both[::-1]
                beaten[winner] += "abcde"[int(loser[1:])]
        assert any(beaten.values()) and not all(beaten.values())
        for only in ("means", "leaderboard"):
            lines = five("--only", only, "--marks", "beaten", "--sort", "given", "--format", "latex").out.splitlines()
            rows = [line.split(" & ") for line in lines if line.endswith(r"\\")][1:]
            marks = ["".join(re.findall(r"mathrm\{(\w)\}", row[3])) for row in rows]
            assert [row[0] for row in rows] == list("abcde")
            assert marks == ["".join(sorted(each)) for each in beaten.values()]

    def test_notes_about_intervals_stand_where_there_are_some(self, ask):
        asked, note = (
            ask(scores(5, 30, 1, 0.05), "-m", "AP", "--draws", "999"),
            "note: simultaneous intervals use a single",
        )
        for only, has_note in (((), True), (("--only", "pairs"), True), (("--only", "means"), False)):
            assert (note in asked(*only).words) == has_note
        assert note not in asked("--only", "leaderboard").words

    def test_wins_of_and_over_the_baseline_are_marked(self, five, two):
        asked = ("--only", "means", "--sort", "given", "--quiet")
        winner = two(*asked, "--marks", "beaten", "--baseline", "b").out.splitlines()[4]
        assert winner.split() == ["b", "b", "0.3700*", "a"]
        lines, daggers = (five(*asked, *marks, "--baseline", "s0").out.splitlines()[3:8] for marks in (BEATEN, ()))
        assert [line.endswith(" a") for line in lines] == [line.endswith(" †") for line in daggers]
        worse = [line.endswith("‡") for line in five(*asked, "--baseline", "s4").out.splitlines()[3:8]]
        marks = five(*asked, *BEATEN, "--baseline", "s4").out.splitlines()[7].split()[3:]
        assert any(worse) and marks == ["".join(itertools.compress("abcde", worse))]

    def test_a_table_says_by_what_its_marks_were_found(self, five, two):
        for asked in ((), ("--format", "latex")):
            found = five("--only", "means", *asked).words
            assert "significant: randomisation test, step-down maxT, 5" in found, found
        holm = five("--only", "leaderboard", "--test", "t", "--correction", "holm", "--alpha", "0.01").words
        assert "significant: Student's test, Holm, 1%" in holm
        assert "significant: randomisation test, 5%" in two("--only", "means").words

    def test_missing_marks_are_explained(self, ask):
        asked = ask(scores(13, 12, 1), "-m", "AP", "--draws", "999", "--quiet")
        said = "More than 12 systems: no letters; --marks beaten prints marks."
        assert (
            said in asked("--only", "means").words and said not in asked("--only", "means", "--marks", "beaten").words
        )
        assert "letters:" not in asked().out and "rank range" in asked().out

    def test_two_systems(self, two):
        out = two("--only", "means", "--quiet").out
        assert [line.split() for line in out.splitlines()[3:5]] == [["b", "0.3700*", "†"], ["a", "0.2550"]]
        beaten = two("--only", "means", "--marks", "beaten", "--sort", "given", "--quiet").out
        assert [line.split() for line in beaten.splitlines()[3:5]] == [["a", "a", "0.2550"], ["b", "b", "0.3700*", "a"]]
        assert two("--only", "pairs", "--quiet").out.startswith("Result (b - a)\n")

    @pytest.mark.parametrize(("only", "title"), [("leaderboard", "systems"), ("means", "systems"), ("pairs", "pairs")])
    def test_machines_have_the_same_table(self, five, only, title):
        lines = five("--only", only, "--format", "jsonl").lines
        assert {line["table"] for line in lines if "table" in line} == {title}
        assert five("--only", only, "--format", "jsonl").rows(title) == five("--format", "jsonl").rows(title)

    def test_a_whole_environment(self, five):
        out = five("--only", "means", "--format", "latex", "--caption", "Means.", "--label", "tab:m", "-q").out
        assert out.splitlines()[1:5] == [r"\begin{table}", r"\centering", r"\caption{Means.}", r"\label{tab:m}"]
        assert out.count(r"\begin{table}") == out.count(r"\end{table}") == 1


def test_no_difference_is_detectable_beyond_the_range_of_the_measure(command):
    command.write("qrels", "q1 0 d 1\nq2 0 d 1\n")
    command.write("a", "q1 Q0 d 1 1 t\nq2 Q0 x 1 1 t\n")
    command.write("b", "q1 Q0 x 1 1 t\nq2 Q0 d 1 1 t\n")
    out = command("compare", "qrels", "a", "b", "-m", "nDCG@10").out
    assert "no difference is detectable" in " ".join(out.split()).lower() and "minimum detectable" not in out.lower()


def test_a_default_that_is_typed_is_not_refused(two):
    for arguments in (["--all"], ["--sort", "best", "--test", "bayes", "--margin", "0.01"], ["--family", "each"]):
        assert two(*arguments).code == 0, arguments


class TestSentencesThatHold:
    """Sentences for scores that are few, equal, close to 0, or at the bounds of the measure."""

    def test_identical_systems_have_nothing_to_test(self, ask):
        same = [0.1 * i for i in range(8)]
        text = ask({"a": same, "b": same, "c": same}, "-m", "RR")().words
        assert "All systems have the same score on each query (RR, 8 queries): there is nothing to test." in text
        assert "differ significantly at" not in text and "any difference above" not in text

    def test_where_nothing_is_significant_something_would_be(self, ask):
        noise = {"a": A, "b": [*A[1:], A[0]], "c": [*A[2:], *A[:2]]}
        for scores, said in ((noise, "would be"), ({**noise, "d": [x / 9 for x in A]}, "is")):
            assert re.search(rf"any difference above 0\.\d+ {said} significant", ask(scores)().words)

    def test_two_queries_give_no_interval(self, ask):
        for b in ([0.3, 0.4], [0.3, 0.9]):  # by Student's t 0.2 to 0.2, and far beyond 1
            asked = ask({"a": [0.1, 0.2], "b": b}, "-m", "RR")
            assert "(no 95% CI, p = 0.5000, 2 queries)" in asked.sentence()
            assert "the interval is unbounded: 2 queries are too few for this level" in asked().words
            assert asked.pair()["low"] == "-inf"
        # Nor do equal differences, of which Student's is a point.
        assert "(no 95% CI, " in ask({"a": [0.1, 0.2, 0.3, 0.4], "b": [0.3, 0.4, 0.5, 0.6]}).sentence()

    def test_intervals_stay_in_the_range_of_the_measure(self, ask):
        scores = {"a": [0.0, 0.0, 0.1], "b": [1.0, 0.3, 1.0], "c": [0.0, 1.0, 0.2]}
        two = {name: scores[name] for name in "ab"}
        assert ask(two, "-m", "RR").pair("--test", "t")["high"] == 1.0
        assert ask(two, "-m", "my_own").pair("--test", "t")["high"] > 1.2
        in_per_cent = {name: [100 * score for score in each] for name, each in two.items()}
        assert ask(in_per_cent, "-m", "RR").pair("--test", "t")["high"] > 120
        limits = [(row["low"], row["high"]) for row in ask(scores, "-m", "RR").rows("pairs", "--procedure", "tukey")]
        assert limits and all(-1 <= low <= high <= 1 for low, high in limits) and any(1 in each for each in limits)

    def test_no_relative_difference_from_next_to_nothing(self, ask):
        b = [0.3, 0.4, 0.5, 0.6, 0.7, 0.9, 1.0]
        asked = ask({"a": [0.0, 0.01, *[0.0] * 5], "b": b}, "-m", "RR")
        assert asked.pair()["relative"] is None and "Relative" not in asked.sentence()
        far = ask({"a": [0.1] * 7, "b": b}, "-m", "RR").sentence()
        assert far.endswith(" Relative difference: +529% (substantial).")

    @pytest.mark.parametrize(
        ("test", "said"),
        [("t", None), ("yuen", None), ("sign", "the sign test cannot"), ("randomisation", "random sign flips cannot")],
    )
    def test_flips_are_spoken_of_where_there_were_some(self, ask, test, said):
        text = ask({"a": [0.1, 0.2, 0.5, 0.1, 0.3], "b": [0.3, 0.45, 0.6, 0.4, 0.32]})("--test", test).words
        assert ("flips" in text) == (test == "randomisation")
        assert f"with 5 queries {said} reach 5%" in text if said else "cannot reach" not in text
