"""`gainful curves --kind gain`: output in every format, notices, exit codes and messages."""

from __future__ import annotations

import pytest

# Two queries: the first has gains of 3 and 2 to offer, the second 1; the second run does not answer it.
QRELS = "q1 0 a 3\nq1 0 b 2\nq1 0 n 0\nq2 0 a 1\n"
ONE = "q1 Q0 b 1 9 t\nq1 Q0 x 2 8 t\nq1 Q0 a 3 7 t\nq2 Q0 a 1 9 t\n"
TWO = "q1 Q0 x 1 9 t\nq1 Q0 y 2 8 t\nq1 Q0 b 3 7 t\n"


@pytest.fixture
def files(command):
    command.write("qrels", QRELS)
    command.write("one.run", ONE)
    command.write("two.run", TWO)
    return lambda *arguments: command("curves", "qrels", "one.run", "two.run", *arguments)


def values(result, **wanted):
    """The values by rank of the rows that have these cells, from JSON lines."""
    assert result.code == 0, result.err
    rows = [row for row in result.lines if "rank" in row]
    chosen = [row for row in rows if all(row[name] == value for name, value in wanted.items())]
    assert [row["rank"] for row in chosen] == list(range(1, len(chosen) + 1))
    return [row["value"] for row in chosen]


class TestJsonLines:
    def test_values(self, files):
        result = files("-m", "CG@4", "-m", "nCG@4", "--average", "both", "--format", "jsonl")
        assert values(result, run=None, measure="CG") == [2.0, 3.0, 3.0, 3.0]
        assert values(result, run="one", measure="CG") == [1.5, 1.5, 3.0, 3.0]
        assert values(result, run="two", measure="CG") == [0.0, 0.0, 1.0, 1.0]
        ratios = values(result, run="one", average="mean of ratios")
        assert ratios == [(2 / 3 + 1) / 2, (2 / 5 + 1) / 2, 1.0, 1.0]
        assert values(result, run="one", average="ratio of means") == [3 / 4, 3 / 6, 1.0, 1.0]
        assert {row["query"] for row in result.lines if "rank" in row} == {None}

    def test_header(self, files):
        header = files("--draws", "20", "--seed", "7", "--confidence", "90", "--format", "jsonl").lines[0]
        assert header["command"] == "curves"
        assert header["signature"].startswith("order:score|") and "|queries:2|" in header["signature"]
        assert header["measures"]["nDCG"].startswith("nDCG(gain=linear, discount=burges2005, base=2)@3|order:score|")
        assert header["depths"] == {"CG": 3, "nDCG": 3}
        assert header["averages"] == {"CG": ["mean"], "nDCG": ["mean of ratios"]}
        assert (header["draws"], header["seed"], header["confidence"]) == (20, 7, 0.9)
        assert header["runs"][1] == {"run": "two", "path": "two.run", "missing": 1}

    def test_bands(self, files):
        result = files("-m", "CG@3", "--draws", "200", "--format", "jsonl")
        rows = [row for row in result.lines if row.get("run") == "one" and "rank" in row]
        # A mean of two drawn queries is one of three values; the middle 95% of 200 draws reach both ends.
        assert [(row["low"], row["high"]) for row in rows] == [(1.0, 2.0), (1.0, 2.0), (1.0, 5.0)]
        note = "band: 95% percentile bootstrap over 2 queries, 200 resamples, seed 0"
        assert note in [line.get("note") for line in result.lines]
        none = files("-m", "CG@3", "--draws", "0", "--format", "jsonl")
        assert {row["low"] for row in none.lines if "rank" in row} == {None}
        assert "bootstrap" not in none.out

    def test_sideways(self, files):
        result = files("-m", "CG@4", "--at", "1,2", "--regions", "2-3", "--format", "jsonl")
        [sideways] = result.lines[0]["sideways"]
        assert [(reach["run"], reach["at"], reach["rank"]) for reach in sideways["reaches"]] == [
            ("one", 1, 3),
            ("two", 1, None),
            ("one", 2, 3),
            ("two", 2, None),
        ]
        assert sideways["stopping_rank"] == 2
        assert sideways["areas"][0] == {"run": "one", "area": 2.0, "share": 2 / 11}
        assert sideways["distances"][0] == {
            "run": "one",
            "first": 2,
            "last": 3,
            "least": 0.0,
            "most": 1.5,
            "least_share": 0.0,
            "most_share": 0.5,
        }
        [text] = [line["text"] for line in result.lines if "text" in line]
        assert text.splitlines()[0] == (
            "To gain what the ideal gives in 1 document, a user reads 3 with one; with two 4 documents are not enough."
        )

    def test_nothing_to_read_sideways(self, files):
        result = files("-m", "nDCG", "--format", "jsonl")
        [read] = result.lines[0]["sideways"]
        assert (read["measure"], read["reaches"], read["last_rises"]) == ("nDCG", [], [])
        assert any(line.get("note", "").startswith("no reading by rank") for line in result.lines)
        [read] = files("-m", "nDCG", "--reference", "two", "--format", "jsonl").lines[0]["sideways"]
        assert (read["measure"], read["average"]) == ("nDCG", "mean of ratios")

    def test_all_that_can_be_read_sideways(self, files):
        result = files("-m", "DCG", "-m", "nCG", "-m", "CG", "--format", "jsonl")
        assert [read["measure"] for read in result.lines[0]["sideways"] if read["reaches"]] == ["DCG", "CG"]
        texts = [line["text"] for line in result.lines if "text" in line]
        assert [text.split(":")[0] for text in texts] == ["DCG", "CG"]


class TestOtherFormats:
    def test_csv_is_one_table(self, files):
        result = files("-m", "CG@2", "--draws", "0", "--format", "csv")
        conventions, *lines = result.out.splitlines()
        assert conventions.startswith("# order:")
        assert lines == [
            "run,measure,average,query,rank,value,low,high",
            ",CG,mean,,1,2.0,,",
            ",CG,mean,,2,3.0,,",
            "one,CG,mean,,1,1.5,,",
            "one,CG,mean,,2,1.5,,",
            "two,CG,mean,,1,0.0,,",
            "two,CG,mean,,2,0.0,,",
        ]

    def test_chart(self, files):
        from gainful import gain_curves

        page = gain_curves("qrels", {"one": "one.run", "two": "two.run"}, ["CG@25", "nDCG@25"], average="both").page()
        cg, ratios, means = page.charts
        titles = [chart.title.removesuffix(" over 2 queries") for chart in (cg, ratios, means)]
        assert titles == ["CG by rank, mean", "nDCG by rank, mean of ratios", "nDCG by rank, ratio of means"]
        assert [line.name for line in cg.lines] == ["ideal", "one", "two"]
        assert [line.role for line in cg.lines] == ["ideal", "system", "system"]
        assert (cg.x.label, cg.x.high, cg.y.label, ratios.y.high) == ("rank", 25.0, "CG", 1.0)
        assert cg.lines[0].y[:3] == (2.0, 3.0, 3.0)
        assert cg.lines[0].band is None
        assert cg.lines[1].x == tuple(float(rank) for rank in range(1, 26))
        assert cg.lines[1].band.x == (*(float(rank) for rank in range(1, 21)), 24.0, 25.0)
        assert cg.caption == "band: 95% percentile bootstrap over 2 queries, 1,000 resamples, seed 0"


class TestQueriesAndNotices:
    def test_notices_below_the_table(self, files):
        result = files()
        assert result.err.splitlines() == [
            "notice: two: 1 judged query not answered, given the worst score (missing=zero): q2",
            "notice: unjudged documents in the top 10: one 25.0%, two 66.7%",
        ]
        assert files("--quiet").err == ""

    def test_some_queries(self, files):
        result = files("-m", "CG@3", "--query", "q1", "--format", "jsonl", "--extra", "error")
        assert values(result, run="one") == [2.0, 2.0, 5.0]
        assert result.err.splitlines() == ["notice: unjudged documents in the top 10: one 33.3%, two 66.7%"]
        assert "no bands: at least 2 queries are needed, found 1" in [line.get("note") for line in result.lines]
        both = files("-m", "CG@3", "--query", "q1", "--query", "q2", "--format", "jsonl")
        assert values(both, run="one") == [1.5, 1.5, 3.0]

    def test_different_numbers_of_queries(self, files):
        out = files("--missing", "skip").out
        assert "CG at selected ranks, mean over queries" in out
        assert (
            "averages over different numbers of queries: one 2, two 1\nthe ideal is over all 2 judged queries\n" in out
        )
        assert "the ideal is over" not in files("--missing", "zero").out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["-m", "AP"], 2, "curves: expected CG, DCG, nCG or nDCG, found AP"),
        (["--at", "5,x"], 2, "--at: expected ranks like 5,10,20, found '5,x'"),
        (["--at", "0"], 2, "--at: expected ranks like 5,10,20, found '0'"),
        (["--regions", "1-2,7"], 2, "--regions: expected ranks like 1-10,11-50, found '1-2,7'"),
        (["--confidence", "0.95"], 2, "--confidence: expected a percentage from 1 to below 100, found 0.95"),
        (["-m", "CG@10000000"], 2, "curves: expected a depth of at most 1,000,000 ranks, found CG@10000000"),
        (["--points", "5"], 2, "--points cannot be used with --kind gain"),
        (["--query", "q7"], 2, "qrels: 1 query not judged, such as 'q7'"),
        (["--missing", "error"], 3, "two.run: 1 query ('q2') not answered, and missing=error forbids it"),
        (["-m", "CG(gain=0-1)"], 3, "gain=0-1"),
    ],
)
def test_messages(files, arguments, code, message):
    result = files(*arguments)
    assert (result.code, result.out) == (code, "")
    assert message in result.err


def test_one_query_has_no_band(command):
    command.write("qrels", "q1 0 d1 1\n")
    for name in ("a", "b"):
        command.write(name, "q1 Q0 d1 1 1 t\n")
    result = command("curves", "qrels", "a", "b", "--baseline", "a", "-m", "CG@3")
    assert "no band: too few queries (1)" in result.out
    assert "band: 95%" not in result.out and "in brackets" not in result.out


def test_standard_input(command):
    command.write("qrels", QRELS)
    result = command("curves", "qrels", "-", "-m", "CG@1", "--format", "jsonl", "--name", "mine", stdin=ONE.encode())
    assert values(result, run="mine") == [1.5]


def test_abstention(command):
    command.write("qrels", "".join(f"q{i} 0 a {int(i > 2)}\n" for i in range(9)))
    command.write("one.run", "".join(f"q{i} Q0 a 1 {i} t\n" for i in range(9)))
    result = command("curves", "qrels", "one.run", "--abstain", "-m", "P@1", "--level", "30", "--format", "jsonl")
    [row] = result.rows("P@1: at most 30% false answers guaranteed")
    # Three of nine answers are false: (2 + 1) / (9 + 1) <= 30% above score 0.
    assert (row["threshold"], row["answered"], row["false"], row["kept"]) == (0, 8 / 9, 2 / 9, 7 / 9)
    assert result.rows("P@1: selected thresholds")[0]["threshold"] is None
    same = command("curves", "qrels", "one.run", "--kind", "abstain", "-m", "P@1", "--level", "30", "--format", "jsonl")
    assert same.out == result.out
    found = command("curves", "qrels", "one.run", "--abstain", "-m", "P@1", "--level", "0.5", "--quiet")
    assert "at most 0.5%: at least 199 queries are needed" in " ".join(found.out.split())
    found = command("curves", "qrels", "one.run", "--abstain", "--level", "100")
    assert "--level: expected a percentage between 0 and 100, found 100\nhint: 10 is 10%" in found.err
    found = command("curves", "qrels", "one.run", "--abstain", "--kind", "recall")
    assert found.code == 2 and "--abstain cannot be used with --kind recall" in found.err
    found = command("curves", "qrels", "one.run", "--abstain", "--points", "5")
    assert found.code == 2 and "--points cannot be used with --kind abstain" in found.err
