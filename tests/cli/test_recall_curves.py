"""`gainful curves --kind recall` and `--kind generalised`: rows, pages, exit codes and messages."""

from __future__ import annotations

import pytest

QRELS = """\
q1 0 a 2
q1 0 b 1
q1 0 c 0
q2 0 a 1
q2 0 b 0
"""
# Relevant documents of q1 at ranks 1 (grade 1) and 2 (grade 2), of q2 at rank 2.
ONE = "q1 Q0 b 1 3 t\nq1 Q0 a 2 2 t\nq1 Q0 c 3 1 t\nq2 Q0 b 1 2 t\nq2 Q0 a 2 1 t\n"
# Of q1 at ranks 1 (grade 2) and 3 (grade 1), of q2 at rank 1; q9 is not judged.
TWO = "q1 Q0 a 1 3 t\nq1 Q0 c 2 2 t\nq1 Q0 b 3 1 t\nq2 Q0 a 1 1 t\nq9 Q0 a 1 1 t\n"


@pytest.fixture
def files(command):
    command.write("qrels", QRELS)
    command.write("one.run", ONE)
    command.write("two.run", TWO)
    return command


def curves(files, kind, *arguments):
    return files("curves", "qrels", "one.run", "two.run", "--kind", kind, *arguments)


def rows(result, table):
    """The rows of a table, from JSON lines."""
    return [{name: value for name, value in row.items() if name != "table"} for row in result.rows(table)]


def test_places(files):
    for kind, value in (("gain", "1.500*"), ("recall", "1.000*"), ("generalised", "0.659*")):
        out = curves(files, kind, "--places", "3").out
        assert value in out.split() and value.replace("*", "0") not in out, kind


class TestRecall:
    def test_averages(self, files):
        result = curves(files, "recall", "--format", "jsonl")
        averages = {(row["run"], row["mode"], row["grade"]): row for row in rows(result, "AvP")}
        assert len(averages) == 8
        assert averages["two", "level", "2"] == {
            "run": "two",
            "mode": "level",
            "grade": "2",
            "measure": "AP(level=2)",
            "AvP": 1.0,
            "queries": 1,
            "points": 50.0,
            "percent": 100.0,
        }
        assert averages["one", "level", "2"]["points"] is None  # the baseline

    def test_header(self, files):
        header = curves(files, "recall", "--format", "jsonl", "--baseline", "two").lines[0]
        assert (header["command"], header["kind"], header["baseline"]) == ("curves", "recall", "two")
        assert header["recall"] == [tenth / 10 for tenth in range(11)]
        assert "undefined:skip" in header["signature"]
        assert header["measures"]["AP(level=2)"].startswith("AP(level=2)|")
        assert [run["run"] for run in header["runs"]] == ["one", "two"]

    def test_by_query(self, files):
        result = curves(files, "recall", "--format", "jsonl", "--by-query", "--points", "2", "--by", "level")
        averages = {(row["run"], row["query"], row["grade"]): row for row in rows(result, "AvP by query")}
        assert len(averages) == 2 * 2 * 2
        assert averages["one", "q1", "2"]["AvP"] == 0.5
        assert (averages["one", "q2", "2"]["AvP"], averages["one", "q2", "2"]["status"]) == (None, "undefined")
        points = rows(result, "Precision at recall by query")
        assert [(row["query"], row["recall"], row["precision"]) for row in points if row["grade"] == "1"] == [
            ("q1", 0.0, 1.0),
            ("q1", 1.0, 1.0),
            ("q2", 0.0, 0.5),
            ("q2", 1.0, 0.5),
            ("q1", 0.0, 1 / 3),
            ("q1", 1.0, 1 / 3),
            ("q2", 0.0, 1.0),
            ("q2", 1.0, 1.0),
        ]

    def test_some_queries(self, files):
        files.write("two.run", TWO.replace("q9 Q0 a 1 1 t\n", ""))
        result = curves(files, "recall", "--format", "jsonl", "--query", "q2", "--extra", "error")
        assert {row["grade"] for row in rows(result, "AvP")} == {"1"}
        assert [row["AvP"] for row in rows(result, "AvP") if row["mode"] == "level"] == [0.5, 1.0]
        assert "without judgments" not in result.err

    def test_notices(self, files):
        files.write("two.run", TWO.replace("q2 Q0 a 1 1 t\n", ""))
        result = curves(files, "recall")
        assert "notice: two: 1 judged query not answered, given the worst score (missing=zero): q2" in result.err
        assert "notice: two: 1 query without judgments, ignored (extra=ignore): q9" in result.err
        assert "undefined" not in result.err  # the page has the empty bases
        assert curves(files, "recall", "--quiet").err == ""

    @pytest.mark.parametrize(
        ("arguments", "code", "message"),
        [
            (["--undefined", "error"], 3, "qrels: 1 query has no document of grade 2 ('q2' first)"),
            (["--levels", ""], 2, "levels: expected a number, found ''"),
            (["--points", "1"], 2, "--points"),
            (["--baseline", "three"], 2, "no run is called 'three'; runs: one, two"),
            (["--query", "q7"], 2, "1 query not judged, such as 'q7'"),
            (["-m", "AP"], 2, "--measure cannot be used with --kind recall"),
        ],
    )
    def test_refused(self, files, arguments, code, message):
        result = curves(files, "recall", *arguments)
        assert (result.code, result.out) == (code, "")
        assert message in result.err

    def test_undefined_zero_is_replaced_by_skip_with_a_note(self, files):
        assert curves(files, "recall", "--undefined", "zero").out == curves(files, "recall").out
        assert "undefined=skip" in files("curves", "--help-all").out


class TestGeneralised:
    # Scale 2. Of one: q1 has gP 1/2, 3/4, 1/2 and gR 1/3, 1, 1; q2 has gP 0, 1/4 and gR 0, 1.
    # Of two: q1 has gP 1, 1/2, 1/2 and gR 2/3, 2/3, 1; q2 has gP 1/2 and gR 1.

    def test_averages(self, files):
        result = curves(files, "generalised", "--format", "jsonl", "--points", "2")
        # Of two, q1 has 1 at the seven recalls up to 0.6 and 1/2 at the other four.
        two = ((7 + 4 / 2) / 11 + 1 / 2) / 2
        [one_row, two_row] = rows(result, "Average over eleven points: gIAP")
        assert one_row == {
            "run": "one",
            "measure": "gIAP",
            "gIAP": pytest.approx(1 / 2),
            "queries": 2,
            "points": None,
            "percent": None,
        }
        assert two_row["gIAP"] == pytest.approx(two)
        assert two_row["points"] == pytest.approx(100 * (two - 1 / 2))
        assert two_row["percent"] == pytest.approx(200 * (two - 1 / 2))

    def test_gain(self, files):
        """With gain=binary q1 of one has gP 1, 1, 2/3."""
        result = curves(files, "generalised", "--format", "jsonl", "--points", "2", "-m", "gIPrec(gain=binary)")
        [first, *_] = rows(result, "Generalised precision at recall, as rows")
        assert (first["measure"], first["precision"]) == ("gIPrec(gain=binary)@0", pytest.approx((1 + 1 / 2) / 2))
        assert list(result.lines[0]["measures"]) == ["gIAP(gain=binary)"]
        again = curves(files, "generalised", "--format", "jsonl", "--points", "2", "-m", "gIAP(gain=binary)")
        assert again.out == result.out

    def test_notices(self, files):
        files.write("qrels", QRELS + "q3 0 a 0\n")
        files.write("one.run", ONE + "q3 Q0 a 1 1 t\n")
        result = curves(files, "generalised")
        assert "notice: one: 1 query with gIAP undefined, given the worst score (undefined=zero): q3" in result.err
        assert "gIPrec" not in result.err
        assert curves(files, "generalised", "-q").err == ""

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["-m", "gIPrec@0.5"], "--measure: expected gIPrec without @, found 'gIPrec@0.5'"),
            (["-m", "gP@5"], "--measure: expected gIPrec | gIAP, found 'gP'"),
            (["-m", "gIPrec", "-m", "gIAP"], "--measure: expected one measure, found 2"),
            (["-m", "gIPrec(gian=exp2)"], "unknown parameter 'gian'"),
            (["--by", "rel"], "--by cannot be used with --kind generalised"),
            (["--baseline", "three"], "no run is called 'three'"),
        ],
    )
    def test_refused(self, files, arguments, message):
        result = curves(files, "generalised", *arguments)
        assert (result.code, result.out) == (2, "")
        assert message in result.err
