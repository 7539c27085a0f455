"""`gainful stability`: every format, the flags, charts, exit codes and messages; published score matrices."""

from __future__ import annotations

import math
import random
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ttest_rel

from gainful import Qrels, ScoreMatrix, assess_documents, assess_stability, evaluate
from gainful.pages.charts import Plot
from gainful.tasks.stability import Thinning

PUBLISHED = Path(__file__).parents[2].parent / "shared" / "data" / "published-tables"

_RANDOM = random.Random(5)
SYSTEMS = {"a": 0.5, "b": 0.45, "c": 0.3, "d": 0.1}
SCORES = {
    system: {f"q{i:02d}": min(1.0, max(0.0, round(mean + _RANDOM.uniform(-0.3, 0.3), 3))) for i in range(20)}
    for system, mean in SYSTEMS.items()
}
TABLE = "query," + ",".join(SCORES) + "\n"
TABLE += "".join(
    query + "," + ",".join(str(SCORES[system][query]) for system in SCORES) + "\n" for query in SCORES["a"]
)
QRELS = "".join(f"q{q} 0 d{d} {(q + d) % 3}\n" for q in range(4) for d in range(12))
RUNS = {
    name: "".join(f"q{q} Q0 d{(step * d + q) % 13} {d} {20 - d} t\n" for q in range(4) for d in range(10))
    for name, step in (("x", 1), ("y", 2), ("z", 5))
}


@pytest.fixture
def files(command):
    command.write("s.csv", TABLE)
    command.write("qrels", QRELS)
    for name, text in RUNS.items():
        command.write(f"{name}.run", text)
    return command


def run(files, *arguments, fmt="jsonl"):
    result = files("stability", "--from", "s.csv", *arguments, "--format", fmt)
    assert result.code == 0, result.err
    return result


def on_documents(files, *arguments):
    runs = [f"{name}.run" for name in RUNS]
    result = files("stability", "qrels", *runs, *arguments, "--documents", "--format", "jsonl", "-q")
    assert result.code == 0, result.err
    return result


QUERIES = "The order on parts of the queries"
BOTH = "The order on parts of the queries and of the judged documents"


def tau(x, y):
    """Without ties."""
    pairs = list(combinations(x, 2))
    return sum(math.copysign(1, (x[one] - x[other]) * (y[one] - y[other])) for one, other in pairs) / len(pairs)


def means(queries):
    return {system: sum(by_query[query] for query in queries) for system, by_query in SCORES.items()}


class TestParts:
    def test_first_queries(self, files):
        half, fifth = run(files, "--topics", "first").rows(QUERIES)
        queries = sorted(SCORES["a"])
        assert (half["part"], half["size"], fifth["part"], fifth["size"]) == ("first 50%", 10, "first 20%", 4)
        assert half["part-whole"] == pytest.approx(tau(means(queries[:10]), means(queries)))
        assert half["split-half"] == pytest.approx(tau(means(queries[:10]), means(queries[10:])))
        assert fifth["split-half"] == pytest.approx(tau(means(queries[:4]), means(queries[4:8])))
        assert half["part-whole sd"] is None
        assert half["draws"] == 1

    def test_random_queries(self, files):
        asked = ("--draws", "50", "--shares", "0.5,0.6")
        result = run(files, *asked)
        half, more = result.rows(QUERIES)
        assert (half["size"], half["draws"], half["part"]) == (10, 50, "random 50%")
        assert half["part-whole lowest"] <= half["part-whole"] <= half["part-whole highest"]
        assert half["split-half"] < half["part-whole"] and half["part-whole sd"] > 0
        assert more["split-half"] is None  # two parts of 60% do not fit into the whole
        assert result.out == run(files, *asked).out != run(files, *asked, "--seed", "1").out
        assert run(files, *asked, "--coefficient", "pearson").rows(QUERIES)[0]["part-whole"] != half["part-whole"]

    @pytest.mark.parametrize(("prefix", "firsts"), [("", [1, 2, 3, 4, 5, 6]), ("q", [1, 10, 11, 12, 2, 3])])
    def test_the_first_queries_are_by_number_if_ids_are_numbers(self, command, prefix, firsts):
        rng = np.random.default_rng(4)
        scores = {i: rng.random(5).round(3).tolist() for i in range(1, 13)}
        lines = [",".join(map(str, [f"{prefix}{i}", *row])) for i, row in scores.items()]
        command.write("t.csv", "\n".join(["query,a,b,c,d,e", *lines]) + "\n")
        asked = ("stability", "--from", "t.csv", "--rows", "queries", "--topics", "first", "--shares", "0.5", "-q")
        [row] = command(*asked, "--format", "jsonl").rows(QUERIES)
        part, whole = (
            dict(enumerate(np.mean([scores[i] for i in chosen], axis=0).tolist())) for chosen in (firsts, scores)
        )
        assert row["part-whole"] == pytest.approx(tau(part, whole))
        assert f"first: queries by {'byte order of their IDs' if prefix else 'number'}" in command(*asked).out


class TestDocuments:
    def test_rows(self, files):
        result = on_documents(files, "-m", "ADM", "-m", "nDCG@10", "--document-draws", "3", "--draws", "20")
        rows = result.rows(BOTH)
        parts = [(of, f"random {share}%") for of in ("queries", "documents") for share in (50, 20)]
        only = [("documents", "retrieved only"), ("documents", "relevant only")]
        assert [(row["of"], row["part"]) for row in rows] == [*parts, *only, *parts]
        assert [row["measure"] for row in rows] == ["ADM"] * 6 + ["nDCG@10"] * 4
        assert (rows[2]["size"], rows[2]["draws"]) == (24, 3)
        # The parts of one kind of document alone are other parameters of the measure.
        means = {
            over: {name: evaluate("qrels", f"{name}.run", f"ADM{over}").mean(f"ADM{over}") for name in RUNS}
            for over in ("", "(over=retrieved)", "(over=relevant)")
        }
        for row in rows[4:6]:
            assert row["part-whole"] == pytest.approx(tau(means[f"(over={row['part'].split()[0]})"], means[""]))

    def test_random_parts_are_scored_again(self, files):
        found = assess_documents("qrels", {name: f"{name}.run" for name in RUNS}, "AP", [0.5], draws=4)["AP"]
        thinning = Thinning(Qrels.read("qrels"))
        whole = {name: evaluate("qrels", f"{name}.run", "AP").mean("AP") for name in RUNS}
        expected, halves = [], []
        for draw in range(4):
            part, other = (
                {name: evaluate(half, f"{name}.run", "AP").mean("AP") for name in RUNS}
                for half in thinning.parts(0.5, draw=draw)
            )
            expected.append(tau(part, whole))
            halves.append(tau(part, other))
        assert found.parts[0].part_whole.mean == pytest.approx(sum(expected) / 4)
        assert found.parts[0].split_half.mean == pytest.approx(sum(halves) / 4)
        assert found.only == ()

    def test_a_part_without_a_grade_that_the_measure_names(self, files):
        # P(level=2) of a part without grade 2 is 0 everywhere: no order, not an error.
        asked = ("-m", "P(level=2)@5", "--document-draws", "3", "--draws", "2", "--shares", "0.02")
        assert on_documents(files, *asked).rows(BOTH)[1]["of"] == "documents"


class TestSwapsAndPower:
    def test_discriminative_power_is_of_the_t_test(self, files):
        result = run(files, "--draws", "20")
        [row] = result.rows("Discriminative power")
        values = [list(by_query.values()) for by_query in SCORES.values()]
        expected = sorted(ttest_rel(one, other).pvalue for one, other in combinations(values, 2))
        assert [row["p"] for row in result.rows("Sorted p")] == pytest.approx(expected)
        significant = sum(p <= 0.05 for p in expected)
        assert (row["test"], row["pairs"], row["significant"]) == ("paired t", 6, significant)
        assert row["share"] == pytest.approx(significant / 6)
        [other] = run(files, "--draws", "20", "--alpha", "0.45").rows("Discriminative power")
        assert other["significant"] == sum(p <= 0.45 for p in expected)
        [other] = run(files, "--draws", "20", "--test", "rthsd").rows("Discriminative power")
        assert other["test"] == "randomised Tukey HSD"

    def test_swaps(self, files):
        few = run(files, "--draws", "100", "--set-size", "5", "--fuzziness", "0")
        assert few.rows("Swaps of two systems")[0]["difference needed"] is None
        out = files("stability", "--from", "s.csv", "--draws", "20").out
        assert "requires at least 5 systems, found 4." in " ".join(out.split())
        worse = [f"{line},{float(line.rsplit(',', 1)[1]) / 2:g}" for line in TABLE.splitlines()[1:]]
        files.write("s.csv", "\n".join([TABLE.splitlines()[0] + ",e", *worse]) + "\n")
        result = run(files, "--draws", "100", "--set-size", "5", "--fuzziness", "0")
        [row] = result.rows("Swaps of two systems")
        bins = [each for each in result.rows("Swaps by difference") if each["comparisons"] >= 20]
        assert row["set"] == 5 and all(each["rate"] == each["swaps"] / each["comparisons"] for each in bins)
        needed = row["difference needed"]
        beyond, before = (
            [each["rate"] for each in bins if (each["from difference"] >= needed) == is_beyond]
            for is_beyond in (True, False)
        )
        assert max(beyond) <= 0.05 and (not before or before[-1] > 0.05)
        fuzzy = run(files, "--draws", "100", "--set-size", "5", "--fuzziness", "0.5").rows("Swaps of two systems")[0]
        assert fuzzy["tie rate"] > row["tie rate"] and fuzzy["error rate"] <= row["error rate"]

    def test_bins_follow_the_scale(self, files):
        files.write("big.csv", "query,a,b,c\n" + "".join(f"q{i},{20 + i},{15 + i % 3},{i}\n" for i in range(8)))
        result = files("stability", "--from", "big.csv", "--draws", "10", "--format", "jsonl", "-q")
        assert result.rows("Swaps by difference")[1]["from difference"] == pytest.approx(1.0)

    def test_header(self, files):
        header = run(files, "--draws", "10").lines[0]
        assert (header["command"], header["draws"], header["seed"], header["topics"]) == ("stability", 10, 0, "random")
        assert (header["queries"], header["systems"], header["set_size"]) == (20, ["a", "b", "c", "d"], 10)

    def test_charts(self):
        report = assess_stability(ScoreMatrix.of("s", SCORES), draws=30)
        swaps, curve = report.page().charts
        assert isinstance(swaps, Plot) and isinstance(curve, Plot)
        closed = [each for each in report.swap_rates["s"].bins if each.rate is not None and math.isfinite(each.high)]
        assert swaps.lines[0].y == pytest.approx([100 * each.rate for each in closed])
        assert swaps.lines[0].x == pytest.approx([(each.low + each.high) / 2 for each in closed])
        assert (swaps.rules[0].y, curve.rules[0].y, curve.y.is_log) == (5, 0.05, True)
        assert curve.lines[0].x == (1, 2, 3, 4, 5, 6) and list(curve.lines[0].y) == sorted(curve.lines[0].y)
        assert "Not corrected" in curve.caption

    def test_alike_systems(self, files):
        files.write("same.csv", "query,a,b\nq1,1,1\nq2,0,0\nq3,1,1\n")
        asked = ("stability", "--from", "same.csv", "--draws", "5")
        assert files(*asked, "--figure", "same.svg").code == 2  # there is no chart to draw
        result = files(*asked)
        assert result.code == 0 and "tau-b is undefined, because all systems are tied" in result.words
        assert "No two systems differ on any set of 1 query." in result.words


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("--from s.csv --documents", 2, "existing scores cannot be computed again"),
        ("--from s.csv --document-draws 5", 2, "--document-draws: needs documents"),
        ("--from s.csv --shares 0", 2, "share: expected a number above 0 and up to 1"),
        ("--from s.csv --shares half", 2, "--shares: expected a number, found 'half'"),
        ("--from s.csv --set-size 11", 2, "set size: expected 1 to 10"),
        ("--from s.csv --fuzziness 1", 2, "fuzziness: expected at least 0 and below 1"),
        ("--from s.csv --swaps 0", 2, "swaps: expected a rate between 0 and 1"),
        ("--from one.csv", 3, "one.csv: expected at least 2 queries, found 1"),
        ("qrels x.run", 3, "expected at least 2 systems, found 1"),
        ("qrels x.run - --documents", 2, "run 'stdin' is a stream and cannot be read twice"),
    ],
)
def test_errors(files, line, code, said):
    files.write("one.csv", "query,a,b\nq1,1,0\n")
    result = files("stability", *line.split(), stdin=RUNS["x"].encode())
    assert (result.code, result.out) == (code, "") and said in result.err


class TestPublished:
    """G7 of the specification, with its values under other resamples."""

    @pytest.fixture
    def stability(self, command):
        if not PUBLISHED.is_dir():
            pytest.skip("no published tables beside the checkout (../shared/data/published-tables)")

        def found(name, *arguments):
            source = str(PUBLISHED / f"urbano.{name}.csv")
            result = command("stability", "--from", source, *arguments, "--format", "jsonl", "-q")
            assert result.code == 0, result.err
            return result.rows(QUERIES)

        return found

    @pytest.mark.parametrize(
        ("name", "half", "fifth"), [("adhoc8_ap", 0.909620, 0.800533), ("web2013_ndcg20", 0.650624, 0.383244)]
    )
    def test_first_topics(self, stability, name, half, fifth):
        found = [row["part-whole"] for row in stability(name, "--topics", "first", "--draws", "10")]
        assert found == pytest.approx([half, fifth], abs=5e-7)

    @pytest.mark.parametrize(
        ("name", "part_whole", "split_half"), [("adhoc8_ap", 0.887, 0.773), ("web2013_ndcg20", 0.751, 0.504)]
    )
    def test_random_halves(self, stability, name, part_whole, split_half):
        [row] = stability(name, "--shares", "0.5", "--draws", "400")
        assert row["part-whole"] == pytest.approx(part_whole, abs=0.01)
        assert row["split-half"] == pytest.approx(split_half, abs=0.015)


def test_the_first_sentence_is_in_plain_words(files):
    words = run(files, fmt="table").words
    assert "On a random 50% of the queries (10 of 20), the order of systems has an agreement of " in words
    assert "with the order on another such part, " in words and "; 1 is the same order (tau-b)." in words
