"""`gainful sessions`: scores, tables below them, curves, ratings, formats, choices, notices, codes and messages."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math

import pytest

QRELS = "t 0 a 3\nt 0 b 1\nt 0 n 0\nu 0 c 2\n"


def session(name, *pages, topic="t", **more):
    return {"session": name, "topic": topic, "queries": [{"results": list(page)} for page in pages], **more}


def lines(*sessions):
    return "".join(json.dumps(each) + "\n" for each in sessions)


A = lines(session("s1", "xa", "ab"), session("s2", "b"), session("s3", "", "c", topic="u"))
B = lines(session("s1", "a"), session("s2", "x", "x", "b"), session("s3", "xc", topic="u"))

Q2 = 1.5  # 1 + log4(2)
Q3 = 1 + math.log(3, 4)
IDEAL_T = 3 + 1 / 2  # grades 3 and 1 at ranks 1 and 2

SDCG = {"A": {"s1": 3 / 2 + (3 + 1 / 2) / Q2, "s2": 1.0, "s3": 2 / Q2}, "B": {"s1": 3.0, "s2": 1 / Q3, "s3": 1.0}}
NSDCG = {
    "A": {"s1": SDCG["A"]["s1"] / (IDEAL_T + IDEAL_T / Q2), "s2": 1 / IDEAL_T, "s3": (2 / Q2) / (2 + 2 / Q2)},
    "B": {"s1": 3 / IDEAL_T, "s2": (1 / Q3) / (IDEAL_T * (1 + 1 / Q2 + 1 / Q3)), "s3": 1 / 2},
}


@pytest.fixture
def files(command):
    command.write("qrels", QRELS)
    command.write("A.jsonl", A)
    command.write("B.jsonl", B)
    return lambda *arguments: command("sessions", "qrels", "A.jsonl", "B.jsonl", *arguments)


def rows(result, table=None):
    assert result.code == 0, result.err
    return [row for row in result.lines[1:] if row.get("table") == table]


def scores(result):
    """By run, measure and session."""
    return {(row["run"], row["measure"], row["session"]): row["value"] for row in rows(result) if "measure" in row}


def tables(result):
    """The tables of CSV, by their titles."""
    assert result.code == 0, result.err
    found = {}
    for block in result.out.split("\n\n"):
        title, _, rest = block.partition("\n")
        name, text = (title[2:], rest) if title.startswith("# ") else ("", block)
        found[name] = list(csv.DictReader(io.StringIO(text)))
    return found


class TestScores:
    def test_every_session(self, files):
        found = scores(files("--by-session", "--format", "jsonl"))
        for run in "AB":
            for measure, expected in (("sDCG@10", SDCG[run]), ("nsDCG@10", NSDCG[run])):
                for name, value in expected.items():
                    assert found[run, measure, name] == pytest.approx(value, rel=1e-12)
                assert found[run, measure, None] == pytest.approx(sum(expected.values()) / 3, rel=1e-12)
        assert len(found) == 2 * 2 * 4

    def test_header(self, files):
        header = files("--format", "jsonl").lines[0]
        assert "judged-by:topic|sessions:3|" in header["signature"]
        assert header["measures"]["sDCG@10"].startswith("sDCG(gain=linear, base=2, query_base=4, ")
        assert [(run["run"], run["path"], run["sessions"]) for run in header["runs"]] == [
            ("A", "A.jsonl", 3),
            ("B", "B.jsonl", 3),
        ]

    def test_table(self, files):
        result = files("--places", "2")
        assert result.code == 0 and result.out.startswith("run  sDCG@10  nsDCG@10\n")
        assert "* best in column" in result.out and "judged-by:topic" in result.out

    def test_baseline_and_rel(self, files):
        found = rows(files("--baseline", "A", "--rel", "2", "-m", "sDCG@10", "--format", "jsonl"))
        # From grade 2 on only a and c gain anything.
        a, b = (3 / 2 + 3 / Q2 + 0 + 2 / Q2) / 3, (3 + 0 + 1) / 3
        assert [row["value"] for row in found] == pytest.approx([a, b])
        assert found[1]["difference"] == pytest.approx(b - a)

    def test_other_measures(self, files):
        found = scores(files("-m", "QueriesToFirst", "-m", "DocumentsToFirst@10", "--by-session", "--format", "jsonl"))
        assert [found["B", "QueriesToFirst", name] for name in ("s1", "s2", "s3")] == [1.0, 3.0, 1.0]
        assert [found["B", "DocumentsToFirst@10", name] for name in ("s1", "s2", "s3")] == [1.0, 21.0, 2.0]

    def test_trec_has_scores_only(self, files):
        text = files("--by-session", "--format", "trec").out
        assert [line.split("\t")[1:] for line in text.splitlines()[:3]] == [
            ["all", "A"],
            ["s1", f"{SDCG['A']['s1']:.4f}"],
            ["s1", f"{NSDCG['A']['s1']:.4f}"],
        ]
        assert len(text.splitlines()) == 2 * (1 + 2 * 4)

    @pytest.mark.parametrize("format_", ["markdown", "latex", "html"])
    def test_other_formats(self, files, format_):
        result = files("--format", format_, "--curves")
        assert result.code == 0
        for text in ("Sessions by number of queries", "nsDCG@10", "last queries"):
            assert text in result.out

    def test_output_file(self, files, command):
        assert files("-o", "out.csv").out == ""
        assert "\nrun,sDCG@10,nsDCG@10\nA," in (command.directory / "out.csv").read_text()


class TestTablesBelow:
    def test_sessions_by_number_of_queries(self, files):
        found = rows(files("--format", "jsonl"), "Sessions by number of queries")
        assert [(row["run"], row["queries"], row["sessions"]) for row in found] == [
            ("A", 1, 1),
            ("A", 2, 2),
            ("B", 1, 2),
            ("B", 2, 0),
            ("B", 3, 1),
        ]
        text = files().out.split("Sessions by number of queries\n")[1].split("\n\n")[0].splitlines()
        assert [line.split() for line in (text[0], *text[2:])] == [
            ["run", "sessions", "1", "2", "3", "average"],
            ["A", "3", "1", "2", "0", "1.67"],
            ["B", "3", "2", "0", "1", "1.67"],
        ]

    def test_queries_by_position(self, files):
        found = tables(files("--format", "csv"))["Queries by position"]
        expected = [
            ("A", 1, 3, (3 / 2 + 1 + 0) / 3),
            ("A", 2, 2, (3.5 / Q2 + 2 / Q2) / 2),
            ("B", 1, 3, (3 + 0 + 1) / 3),
            ("B", 2, 1, 0.0),
            ("B", 3, 1, 1 / Q3),
        ]
        for row, (run, query, count, value) in zip(found, expected, strict=True):
            assert (row["run"], int(row["query"]), int(row["sessions"])) == (run, query, count)
            assert float(row["value"]) == pytest.approx(value)

    def test_last_queries(self, files):
        a, b = tables(files("--format", "csv"))["sDCG@10 of last queries and of earlier ones"]
        assert [a["last queries"], a["earlier queries"], b["earlier queries"]] == ["3", "2", "2"]
        assert float(a["mean of last"]) == pytest.approx((3.5 / Q2 + 1 + 2 / Q2) / 3)
        assert float(a["mean of earlier"]) == pytest.approx((3 / 2 + 0) / 2)
        assert float(b["mean of earlier"]) == 0.0

    def test_it_is_the_measure_that_was_asked_for(self, files):
        assert "sDCG(base=10)@5 of last queries" in files("-m", "nsDCG(base=10)@5").out
        assert "sDCG@10 of last queries" in files("-m", "QueriesToFirst").out

    def test_long_sessions_share_a_column(self, command):
        command.write("qrels", QRELS)
        command.write("A.jsonl", lines(session("s1", *["x"] * 30), session("s2", "a")))
        out = command("sessions", "qrels", "A.jsonl").out
        assert "  more  average" in out and "the first 12 of 30 positions" in out
        found = rows(command("sessions", "qrels", "A.jsonl", "--format", "jsonl"), "Sessions by number of queries")
        assert found[29] == {**found[29], "queries": 30, "sessions": 1}


class TestSystems:
    def test_sessions_that_name_their_system(self, command):
        both = [json.loads(text) for text in (A + B).splitlines()]
        named = [
            {**each, "system": "AB"[i // 3], "session": f"{each['session']}{i // 3}"} for i, each in enumerate(both)
        ]
        command.write("qrels", QRELS)
        command.write("log.jsonl", lines(*reversed(named)))
        found = scores(command("sessions", "qrels", "log.jsonl", "--by-session", "--format", "jsonl"))
        assert list(dict.fromkeys(run for run, _, _ in found)) == ["B", "A"]  # as they stand in the file
        assert found["B", "sDCG@10", "s21"] == pytest.approx(SDCG["B"]["s2"])
        # Logs of several days make one system.
        command.write("one.jsonl", lines(*named[::2]))
        command.write("two.jsonl", lines(*named[1::2]))
        days = scores(command("sessions", "qrels", "one.jsonl", "two.jsonl", "--by-session", "--format", "jsonl"))
        assert days == found
        renamed = command("sessions", "qrels", "log.jsonl", "--name", "mine")
        assert renamed.code == 2
        assert (
            "--name: 'mine' is not one of the systems that log.jsonl names\nhint: the systems are B, A" in renamed.err
        )

    def test_some_without_a_system(self, command):
        command.write("qrels", QRELS)
        command.write("log.jsonl", lines(session("s1", "a", system="A"), session("s2", "a")))
        result = command("sessions", "qrels", "log.jsonl")
        assert result.code == 3
        assert result.err == "log.jsonl: session 's2' has no system, but others name one\n"

    def test_one_session_twice(self, command):
        command.write("qrels", QRELS)
        for day in ("one", "two"):
            command.write(f"{day}.jsonl", lines(session("s1", "a", system="A")))
        result = command("sessions", "qrels", "one.jsonl", "two.jsonl")
        assert result.code == 3 and "duplicate session 's1' in two parts" in result.err

    def test_names(self, files):
        assert files("--name", "one", "--name", "two").out.split("\n")[2].startswith("one")
        result = files("--baseline", "C")
        assert (result.code, result.err) == (2, "--baseline: no run is called 'C'; runs: A, B\n")


class TestFormats:
    table = "SessionID,Qno,rank,URL\ns1,1,1,x\ns1,1,2,a\ns1,3,1,b\n"

    def test_a_table_with_its_columns(self, command):
        command.write("qrels.csv", "sid,doc,rel\ns1,a,3\ns1,b,1\n")
        command.write("log.csv", self.table.replace("SessionID", "conv").replace("Qno", "nr").replace("URL", "seen"))
        columns = "session=conv,query=nr,rank=rank,doc=seen,qrels.query=sid,qrels.grade=rel,qrels.document=doc"
        arguments = ("sessions", "qrels.csv", "log.csv", "--columns", columns, "-m", "sDCG@10", "--format", "jsonl")
        refused = command(*arguments)
        assert refused.code == 3 and "log.csv" in refused.err and "--gaps empty" in refused.err
        found = scores(command(*arguments, "--gaps", "empty"))
        assert found["log", "sDCG@10", None] == pytest.approx(3 / 2 + 1 / Q3)

    def test_a_run_of_turns(self, command):
        command.write("turns.qrels", "c1/1 0 a 1\nc1/2 0 b 1\n")
        run = "c1/1 Q0 x 1 3 r\nc1/1 Q0 a 2 2 r\nc1/2 Q0 b 1 9 r\nc2/1 Q0 b 1 9 r\n"
        command.write("my.run.gz", gzip.compress(run.encode()))
        arguments = ("sessions", "turns.qrels", "my.run.gz", "-m", "sDCG@10", "--session-separator", "/")
        result = command(*arguments, "--format", "jsonl")
        assert "judged-by:query|sessions:1|" in result.lines[0]["signature"]
        assert scores(result)["my", "sDCG@10", None] == pytest.approx(1 / 2 + 1 / Q2)
        assert "notice: my: 1 session without judgments, ignored (extra=ignore): c2\n" in result.err

    def test_standard_input(self, command):
        command.write("qrels", QRELS)
        result = command("sessions", "qrels", "-", "--format", "jsonl", stdin=A.encode())
        assert scores(result)["stdin", "sDCG@10", None] == pytest.approx(sum(SDCG["A"].values()) / 3)
        assert command("sessions", "-", "-", stdin=A.encode()).code == 2

    def test_grades_of_appearances(self, command):
        command.write("qrels", QRELS)
        page = [{"document": "a", "grade": 1}, {"document": "x", "grade": 3}]
        command.write("A.jsonl", lines({"session": "s", "topic": "t", "queries": [{"results": page}]}))
        found = scores(command("sessions", "qrels", "A.jsonl", "-m", "sDCG@10", "--format", "jsonl"))
        assert found["A", "sDCG@10", None] == 1 + 3 / 2


class TestChoices:
    def test_at_least(self, files):
        found = scores(files("--at-least", "2", "--by-session", "--format", "jsonl"))
        assert {key[2] for key in found if key[0] == "A"} == {"s1", "s3", None}
        assert {key[2] for key in found if key[0] == "B"} == {"s2", None}

    def test_topic_and_session(self, files):
        found = scores(files("--topic", "u", "--by-session", "--format", "jsonl"))
        assert {key[2] for key in found} == {"s3", None}
        found = scores(files("--session", "s1", "--session", "s3", "--by-session", "--format", "jsonl"))
        assert {key[2] for key in found} == {"s1", "s3", None}

    def test_sessions_not_selected_are_not_missing(self, command):
        command.write("qrels", "s1 0 a 1\ns2 0 a 1\ns3 0 a 1\n")
        command.write("A.jsonl", lines(session("s1", "a"), session("s2", "a", "a")))
        base = ("sessions", "qrels", "A.jsonl", "-m", "nsDCG@10", "--format", "jsonl")

        def mean(*arguments):
            return scores(command(*base, *arguments))["A", "nsDCG@10", None]

        assert mean() == pytest.approx(2 / 3)
        assert mean("--missing", "skip") == 1.0
        assert mean("--at-least", "2") == 1.0
        assert mean("--session", "s1") == 1.0

    def test_a_system_without_any(self, command):
        command.write("qrels", QRELS)
        command.write("A.jsonl", A)
        command.write("B.jsonl", lines(session("s1", "a")))
        result = command("sessions", "qrels", "A.jsonl", "B.jsonl", "--topic", "u", "--format", "jsonl")
        assert {key[0] for key in scores(result)} == {"A"}
        assert "notice: B: no session selected, system omitted\n" in result.err

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--session", "s9"], "unknown session 's9'; there are s1, s2, s3"),
            (["--topic", "v"], "unknown topic 'v'; there are t, u"),
            (["--at-least", "4"], "no session has 4 queries; the longest has 3"),
        ],
    )
    def test_nothing_is_left(self, files, arguments, message):
        result = files(*arguments)
        assert result.code == 3 and result.err.startswith(f"A, B: {message}")


class TestCurves:
    def curve(self, result, **wanted):
        found = [row for row in rows(result, "Curves") if all(row[name] == value for name, value in wanted.items())]
        assert [row["position"] for row in found] == list(range(1, len(found) + 1))
        return [row["value"] for row in found]

    def test_averages(self, files):
        result = files("--curves", "--average", "both", "-m", "nsDCG@2", "--format", "jsonl")
        ratios = self.curve(result, run="A", average="mean of ratios")
        # B has a session of three queries: so all curves have six positions.
        assert len(ratios) == 6 and ratios[0] == pytest.approx(1 / 9)
        assert self.curve(result, run="A", average="ratio of means")[0] == pytest.approx((0 + 1 + 0) / (3 + 3 + 2))
        assert result.lines[0]["curves"] == "average" and result.lines[0]["queries"] == 3
        places = [(row["query"], row["rank"]) for row in rows(result, "Curves")[:4]]
        assert places == [(1, 1), (1, 2), (2, 1), (2, 2)]

    def test_subset(self, files):
        result = files("--curves", "subset", "--at-least", "2", "-m", "sDCG@2", "--queries", "1", "--format", "jsonl")
        assert self.curve(result, run="A", of="all sessions") == pytest.approx([1 / 3, 2.5 / 3])
        assert self.curve(result, run="A", of="at least 2 queries") == pytest.approx([0.0, 1.5 / 2])
        # The scores are over all sessions.
        assert scores(result)["A", "sDCG@2", None] == pytest.approx(sum(SDCG["A"].values()) / 3)

    def test_individual(self, files):
        result = files("--curves", "individual", "--topic", "t", "-m", "sDCG@2", "--queries", "2", "--format", "jsonl")
        assert self.curve(result, run="A", session="s1") == pytest.approx([0, 1.5, 1.5 + 3 / Q2, 1.5 + 3.5 / Q2])
        assert self.curve(result, run="B", session="s1") == [3.0, 3.0, 3.0, 3.0]

    def test_positions(self, files):
        result = files("--curves", "positions", "-m", "sDCG@3", "--format", "jsonl")
        last = [(3 / Q2 + 1 + 2 / Q2) / 3, (3.5 / Q2 + 1 + 2 / Q2) / 3]
        assert self.curve(result, run="A", of="last query") == pytest.approx([*last, last[1]])
        assert self.curve(result, run="A", of="earlier queries") == pytest.approx([0.0, 1.5 / 2, 1.5 / 2])
        found = {(row["run"], row["of"]): row["queries"] for row in rows(result, "Curves")}
        assert found["B", "last query"] == 3 and found["B", "earlier queries"] == 2

    def test_bands(self, files):
        result = files("--curves", "-m", "sDCG@2", "--draws", "50", "--seed", "3", "--confidence", "80")
        assert "band: 80% percentile bootstrap over sessions, 50 resamples, seed 3" in result.out
        none = files("--curves", "-m", "sDCG@2", "--draws", "0", "--format", "jsonl")
        assert {row["low"] for row in rows(none, "Curves")} == {None}

    def test_a_figure_asks_for_curves(self, files, command):
        result = files("--figure", "out.svg", "--format", "jsonl")
        assert result.code == 0 and rows(result, "Curves")
        text = (command.directory / "out.svg").read_text()
        assert "<!-- Q3 -->" in text and "<!-- query (10 documents each) -->" in text

    def test_measures_without_curves_have_those_of_the_default(self, files):
        result = files("--curves", "-m", "QueriesToFirst", "--format", "jsonl")
        assert {row["measure"] for row in rows(result, "Curves")} == {"nsDCG@10"}
        assert "notice: curves show nsDCG@10, because QueriesToFirst cannot be drawn\n" in result.err
        by_query = files("--curves", "-m", "nsDCG(normalise=query)@3", "--format", "jsonl")
        assert {row["measure"] for row in rows(by_query, "Curves")} == {"nsDCG@3"}
        for kind in ("average", "positions", "subset"):
            assert "curves are of" not in files("--curves", kind).err

    def test_a_file_in_the_place_of_the_kind(self, command):
        command.write("qrels", QRELS)
        command.write("A.jsonl", A)
        result = command("sessions", "--curves", "qrels", "A.jsonl")
        assert result.code == 2
        assert result.err == (
            "--curves: expected average | subset | individual | positions | cost, found 'qrels'\n"
            "hint: write --curves average before files, or put --curves last\n"
        )

    def test_too_many_queries(self, files):
        result = files("--curves", "--queries", "1001")
        assert (result.code, result.err) == (2, "queries: expected at most 1000 in a curve, found 1001\n")

    def test_long_sessions_have_a_column_for_the_last_query(self, command):
        command.write("qrels", QRELS)
        command.write("A.jsonl", lines(session("s1", *["x"] * 17)))
        out = command("sessions", "qrels", "A.jsonl", "--curves", "-m", "sDCG@2").out
        assert ["run", "sessions", "Q1", "Q5", "Q10", "Q15", "Q17"] in map(str.split, out.splitlines())

    @pytest.mark.parametrize("option", [("--average", "both"), ("--queries", "3"), ("--draws", "9"), ("--seed", "1")])
    def test_options_of_curves_alone(self, files, option):
        result = files(*option)
        assert (result.code, result.err.splitlines()[0]) == (2, f"{option[0]} requires --curves")

    def test_wrong_confidence(self, files):
        assert files("--curves", "--confidence", "100").code == 2
        assert files("--curves", "all").code == 2


class TestRatings:
    many = [session(f"s{i}", "xya"[i % 3 :], ratings={"said": i % 4}) for i in range(12)]

    def found(self, result):
        return {row["coefficient"]: row for row in rows(result, "Correlation with said") if "coefficient" in row}

    def test_of_a_table(self, command):
        from scipy import stats

        command.write("qrels", QRELS)
        command.write("A.jsonl", lines(*self.many, session("lonely", "a")))
        ratings = [(3 * i) % 7 for i in range(12)]
        text = "SessionID\tsaid\tother\n" + "".join(f"s{i}\t{value}\t0\n" for i, value in enumerate(ratings))
        command.write("ratings.tsv", text + "lonely\t\t1\n")
        arguments = ("sessions", "qrels", "A.jsonl", "-m", "sDCG@10", "--ratings", "ratings.tsv", "--format", "jsonl")
        result = command(*arguments, "--rating", "said")
        values = [3 / (1 + math.log2(3 - i % 3)) for i in range(12)]
        found = self.found(result)
        for name, theirs in (("Pearson", stats.pearsonr), ("Spearman", stats.spearmanr), ("Kendall", stats.kendalltau)):
            assert found[name]["value"] == pytest.approx(theirs(values, ratings).statistic)
            assert found[name]["low"] < found[name]["value"] < found[name]["high"]
            assert found[name]["sessions"] == 12
        assert "notice: A: 1 session without said, not in the correlation: lonely\n" in result.err
        wrong = command(*arguments, "--rating", "sad")
        assert wrong.code == 3 and "ratings.tsv" in wrong.err
        none = command(*arguments)
        assert none.code == 2 and none.err.startswith("--ratings needs --rating")

    def test_of_the_sessions_themselves(self, command):
        from scipy import stats

        command.write("qrels", QRELS)
        command.write("A.jsonl", lines(*self.many))
        given = ("sessions", "qrels", "A.jsonl", "-m", "sDCG@10", "--format", "jsonl")
        pearson = self.found(command(*given, "--rating", "said", "--confidence", "80"))["Pearson"]
        values = [3 / (1 + math.log2(3 - i % 3)) for i in range(12)]
        expected = stats.pearsonr(values, [i % 4 for i in range(12)]).confidence_interval(0.8)
        assert pearson["sessions"] == 12
        assert (pearson["low"], pearson["high"]) == pytest.approx(tuple(expected))
        alone = command(*given, "--confidence", "80")
        assert alone.code == 2 and alone.err.startswith("--confidence requires --curves or --rating\n")
        wrong = command(*given, "--rating", "sad")
        assert wrong.code == 3
        assert wrong.err.startswith("A: no session has a rating called 'sad'; the sessions have said\n")

    def test_no_ratings_at_all(self, files):
        result = files("--rating", "said")
        assert result.code == 3 and "the sessions have no ratings\nhint: --ratings FILE" in result.err

    def test_ratings_of_other_sessions(self, files, command):
        command.write("ratings.csv", "session,said\n22,3\n")
        result = files("--ratings", "ratings.csv", "--rating", "said")
        assert result.code == 3
        assert "no scored session has a rating: there is session 's1', but '22'" in result.err

    def test_undefined(self, command):
        command.write("qrels", QRELS)
        command.write("A.jsonl", lines(*(session(f"s{i}", "a", ratings={"said": i}) for i in range(5))))
        result = command("sessions", "qrels", "A.jsonl", "-m", "sDCG@10", "--rating", "said")
        assert "undefined for A: sDCG@10 is 3 for all 5 sessions" in result.out


class TestBadInput:
    def test_a_topic_that_is_not_judged(self, command):
        command.write("qrels", QRELS)
        command.write("A.jsonl", lines(session("s1", "a"), session("s2", "a", topic="v")))
        result = command("sessions", "qrels", "A.jsonl", "-m", "sDCG@10", "--format", "jsonl")
        assert scores(result) == {("A", "sDCG@10", None): 3.0}
        assert result.err.startswith("notice: A: 1 session without judgments, ignored (extra=ignore): s2\n")
        assert command("sessions", "qrels", "A.jsonl", "--quiet").err == ""
        refused = command("sessions", "qrels", "A.jsonl", "--extra", "error")
        assert refused.code == 3 and refused.err.startswith("A.jsonl: 1 session ('s2') without judgments")

    def test_no_topic_is_judged(self, command):
        command.write("qrels", QRELS)
        command.write("A.jsonl", lines(session("s1", "a", topic="v")))
        result = command("sessions", "qrels", "A.jsonl")
        assert result.code == 3
        assert "the first has session 's1', topic 'v', query 's1_1'; qrels judges 't'" in result.err

    def test_empty_pages_are_legal(self, command):
        command.write("qrels", QRELS)
        command.write("A.jsonl", lines(session("s1", "", "")))
        found = command("sessions", "qrels", "A.jsonl", "--curves", "--format", "jsonl")
        assert scores(found) == {("A", "sDCG@10", None): 0.0, ("A", "nsDCG@10", None): 0.0}

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ('{"session": "s"}\n', "A.jsonl:1"),
            ("", "A.jsonl: expected at least one session, found an empty file"),
            ('{"session": "s", "queries": [{"number": 1, "results": []}, {"number": 3, "results": []}]}\n', "--gaps"),
        ],
    )
    def test_files(self, command, text, message):
        command.write("qrels", QRELS)
        command.write("A.jsonl", text)
        result = command("sessions", "qrels", "A.jsonl")
        assert result.code == 3 and message in result.err

    def test_missing_file_and_wrong_measure(self, files, command):
        assert command("sessions", "qrels", "nothing.jsonl").code == 3
        assert "Measure, such as sDCG@10" in command("sessions", "--help").out
        result = files("-m", "nDCG@10")
        assert result.code == 2 and result.err.startswith(
            "nDCG@10: a measure of single queries cannot score sessions\n"
        )

    def test_sessions_are_read_in_parts(self, command, monkeypatch):
        import gainful.data.sessions as module

        command.write("qrels", QRELS)
        command.write("A.jsonl", A)
        whole = command("sessions", "qrels", "A.jsonl", "--curves", "--format", "jsonl").out
        monkeypatch.setitem(module.Sessions.read_parts.__func__.__kwdefaults__, "size", 1)
        assert command("sessions", "qrels", "A.jsonl", "--curves", "--format", "jsonl").out == whole


# -- Logs --------------------------------------------------------------------------------------------------------------


def test_a_users_log_judged_by_text(command):
    command.write("qrels.csv", "query,document,grade\nold maps,a,1\n")
    command.write("log.csv", "user,time,query,url,rank\nu,0,old maps,a,1\nu,60,old maps,b,1\nu,9000,old maps,a,1\n")
    arguments = ["sessions", "qrels.csv", "log.csv", "-m", "sDCG@10", "--by-session", "--format", "csv"]
    result = command(*arguments, "--session-gap", "30m")
    assert result.code == 0, result.err
    assert "\nrun,session,sDCG@10\nlog,u/1,1.0\nlog,u/2,1.0\nlog,,1.0\n" in result.out
    assert "judged-by:text" in command(*arguments[:-2], "--session-gap", "30m").out
    unasked = command(*arguments)  # half an hour is usual
    assert unasked.out == result.out
    assert "a user's session ends after 30 minutes without a query (change with --session-gap 1h)" in unasked.err


class TestCosts:
    def test_flags_add_measures_to_the_depth_of_the_others(self, files):
        result = files("-m", "sDCG@1", "--cost-query", "20", "--cost-document", "5", "--quiet")
        assert "SessionCost(cost_query=20, cost_document=5)@1" in result.out
        assert "Gain and cost, GainPerCost(cost_query=20, cost_document=5)@1" in result.out
        assert "Mean gain by cost" not in result.out

    def test_costs_default_to_0(self, files):
        """Both costs are in the heading, even if a measure's name omits defaults."""
        shown = files("-m", "sDCG@1", "--cost-document", "1", "--quiet").out
        assert "Gain and cost, GainPerCost(cost_query=0, cost_document=1)@1" in shown
        shown = files("-m", "sDCG@1", "--cost-query", "20", "--quiet").out
        assert "Gain and cost, GainPerCost(cost_query=20)@1: a query 20, a document 0" in shown

    def test_curves_by_cost(self, files):
        line = ("--cost-document", "1", "--curves", "cost", "--quiet")
        assert "Mean gain by cost" in files(*line).out
        points = rows(files(*line, "--format", "jsonl"), "Gain by cost")
        assert {row["run"] for row in points} == {"A", "B"} and points[0]["cost"] == 0

    @pytest.mark.parametrize(
        ("more", "message"),
        [
            (("--curves", "cost"), "--curves cost: costs of queries and documents are missing"),
            (("--cost-query", "-1"), "expected a number of at least 0, found -1"),
            (("--cost-query", "recorded"), "no costs of queries are recorded"),
        ],
    )
    def test_refused(self, files, more, message):
        result = files(*more)
        assert result.code in (2, 3) and message in result.err
