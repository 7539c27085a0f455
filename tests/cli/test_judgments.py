"""`gainful judgments`: sentences, numbers, exit codes and messages."""

from __future__ import annotations

import gzip

import pytest

from tests.together import together

A = """\
q1 0 d1 0
q1 0 d2 1
q1 0 d3 2
q1 0 d4 0
q2 0 d1 2
q2 0 d2 1
q2 0 d3 0
q3 0 d1 1
"""
# d2 of q1 one level lower, d3 of q1 two levels lower, d3 of q2 one level higher; d4 of q1 is A's alone, q4 is B's.
B = """\
q1 0 d1 0
q1 0 d2 0
q1 0 d3 0
q2 0 d1 2
q2 0 d2 1
q2 0 d3 1
q3 0 d1 1
q4 0 d1 2
"""
ONE = "q1 Q0 d2 1 2 t\nq1 Q0 d3 2 1 t\nq2 Q0 d1 1 2 t\nq3 Q0 d1 1 1 t\n"
NEGATIVE = "q 0 d1 -1\nq 0 d2 -2\nq 0 d3 1\n"
REPEATS = "1 judgment repeats an earlier one of the document"
APART = "Of 1 document judged more than once 0.0% have one grade, 100.0% differ by up to 1, 0.0% by more."
SIX = [1, 2] * 3
TWO = "q1 Q0 d9 1 3 t\nq1 Q0 d3 2 2 t\nq2 Q0 d3 1 2 t\nq2 Q0 d2 2 1 t\n"


@pytest.fixture
def files(command):
    command.write("a.txt", A)
    command.write("b.txt", B)
    command.write("one.run", ONE)
    command.write("two.run", TWO)
    return command


def rows(result, table):
    """The rows of a table, from JSON lines."""
    assert result.code == 0, result.err
    return [line for line in result.lines if line.get("table") == table and "note" not in line]


def texts(result):
    return [line["text"] for line in result.lines if "text" in line]


class TestOneSet:
    def test_page(self, files):
        result = files("judgments", "a.txt", "--format", "jsonl")
        header = result.lines[0]
        assert (header["command"], header["judgments"]) == ("judgments", "a.txt")
        assert (header["documents"], header["queries"], header["scale"]) == (8, 3, 2)
        assert [(row["grade"], row["documents"], row["share"], row["queries"]) for row in rows(result, "Grades")] == [
            ("0", 3, 3 / 8, 2),
            ("1", 3, 3 / 8, 3),
            ("2", 2, 2 / 8, 2),
        ]
        spread = {row["documents"]: row for row in rows(result, "Documents per query")}
        assert list(spread) == ["judged", "relevant", "grade 0", "grade 1", "grade 2"]
        assert [spread["judged"][name] for name in ("lowest", "median", "highest")] == [1, 3, 4]
        assert (spread["judged"]["lowest in"], spread["judged"]["highest in"]) == ("q3", "q1")
        assert spread["relevant"]["highest in"] == "q1 and 1 more"
        assert texts(result) == [
            "a.txt judges 8 documents for 3 queries, 1 to 4 per query (median 3).",
            "Relevant documents (grade above 0): 1 to 2 per query (median 2).",
        ]
        assert result.lines[-1]["note"].startswith("negative:judged|grade-zero:0|judges:error|subtopics:no|gainful:")

    def test_by_query(self, files):
        result = files("judgments", "a.txt", "--by-query", "--format", "csv")
        assert result.out.split("\n\n")[1] == (
            "# Documents by query\n"
            "query,judged,relevant,grade 0,grade 1,grade 2\nq1,4,2,2,1,1\nq2,3,2,1,1,1\nq3,1,1,0,1,0\n"
        )

    def test_judges_who_differ(self, command):
        """Of five documents judged twice, two have one grade, two are 1 and one is 2 apart; d9 is judged once."""
        pairs = [(3, 3), (2, 1), (0, 0), (3, 1), (1, 2)]
        lines = [f"q A d{i} {a}\nq B d{i} {b}\n" for i, (a, b) in enumerate(pairs)]
        command.write("a.txt", "".join([*lines, "q A d9 1\n"]))
        result = command("judgments", "a.txt", "--judges", "turn", "--format", "jsonl")
        assert texts(result)[-1] == (
            "5 judgments repeat an earlier one of the document; 3 documents have different grades, merged by "
            "judges=turn. Of 5 documents judged more than once 40.0% have one grade, 40.0% differ by up to 1, "
            "20.0% by more."
        )
        # d1 goes to A, d3 to B, d4 to A again: 2, 1, 1.
        counted = {row["grade"]: row["documents"] for row in result.lines if "documents" in row and "grade" in row}
        assert counted == {"0": 1, "1": 3, "2": 1, "3": 1}

    @together(
        ("content", "arguments", "sentence"),
        [
            (NEGATIVE, "", "2 grades are below 0: -2 and -1. They count as judged, not relevant (negative=judged)."),
            (
                NEGATIVE,
                "--negative unjudged",
                "2 grades are below 0: -2 and -1. 2 documents count as unjudged (negative=unjudged).",
            ),
            ("q 0 d1 1\nq 0 d2 0.5\nq 0 d3 1\n", "", "1 grade is fractional, although most are whole numbers: 0.5."),
            ("q 0 d1 1\n", "--scale 3", "No document reaches the scale 3; the highest grade is 1."),
            ("q 0 d1 1\nq 0 d1 1\n", "", f"{REPEATS}, always with the same grade."),
            (
                "q 0 d1 1\nq 0 d1 2\n",
                "",
                f"{REPEATS}; 1 document has different grades, of which the highest is used here (gainful eval "
                f"refuses conflicts). {APART}",
            ),
            (
                "q 0 d1 1\nq 0 d1 2\n",
                "--judges mean",
                f"{REPEATS}; 1 document has different grades, merged by judges=mean. {APART}",
            ),
            ("q 1 d1 1\nq 2 d2 1\n", "", "Column 2 has 2 different values, not used as the sub-topic (--subtopics)."),
            (
                "q 1 d1 1\nq 2 d1 0\n",
                "--subtopics",
                "Column 2 has 2 different values, used as the sub-topic (subtopics=yes).",
            ),
        ],
    )
    def test_unusual_grades(self, command, content, arguments, sentence):
        command.write("a.txt", content)
        result = command("judgments", "a.txt", "--format", "jsonl", *arguments.split())
        assert result.code == 0, result.err
        assert texts(result)[2:] == [sentence]
        assert rows(result, "Documents per query") == []  # of one query there is no spread

    def test_grades_above_the_scale_are_odd_and_not_refused(self, command):
        command.write("a.txt", "q 0 d1 1\nq 0 d2 3\nr 0 d1 4\nr 0 d2 0\nr 0 d3 3\n")
        sentence = "3 grades are above the scale 2 (60.0% of 5 judgments): 3 and 4; the first is a.txt:2"
        sentence += " (query q, document d2)."
        alone = command("judgments", "a.txt", "--scale", "2", "--format", "jsonl")
        assert alone.code == 0 and sentence in texts(alone)
        assert not [text for text in texts(alone) if "reaches the scale" in text]
        command.write("b.txt", "q 0 d1 2\nr 0 d1 1\n")
        both = command("judgments", "a.txt", "b.txt", "--scale", "2", "--format", "jsonl")
        assert both.code == 0 and f"A: {sentence}" in texts(both)
        assert not [text for text in texts(both) if text.startswith("B: ") and "above the scale" in text]

    def test_queries_without_relevant_documents(self, command):
        command.write("a.txt", "".join(f"q{i} 0 d 0\n" for i in range(7)) + "r 0 d 1\n")
        result = command("judgments", "a.txt", "--format", "jsonl")
        assert texts(result)[1].endswith("; 7 queries have none: q0, q1, q2, q3, q4 and 2 more.")
        assert result.lines[0]["without_relevant"] == [f"q{i}" for i in range(7)]
        one = texts(command("judgments", "a.txt", "--rel", "2", "--format", "jsonl"))[1]
        assert one.startswith("Relevant documents (grade 2 or more): 0 per query; 8 queries have none:")

    def test_real_grades_are_shown_by_their_spread(self, command):
        command.write("a.txt", "".join(f"q{i % 2} 0 d{i} {i / 8}\n" for i in range(1, 17)))
        result = command("judgments", "a.txt", "--format", "jsonl")
        places = ["lowest", "lower quartile", "median", "upper quartile", "highest"]
        assert [row["documents"] for row in rows(result, "Grades")] == places
        assert [row["grade"] for row in rows(result, "Grades")] == [0.125, 0.5, 1.0, 1.5, 2.0]

    def test_from_standard_input_and_compressed(self, files):
        files.write("a.txt.gz", gzip.compress(A.encode()))
        plain = files("judgments", "a.txt", "--format", "csv").out
        assert files("judgments", "a.txt.gz", "--format", "csv").out == plain
        assert files("judgments", "-", "--format", "csv", stdin=A.encode()).out == plain

    def test_table(self, files):
        assert "0              3  37.5%        2\n" in files("judgments", "a.txt").out


class TestTwoSets:
    def test_sentences(self, files):
        result = files("judgments", "a.txt", "b.txt", "--format", "jsonl")
        # Of 7 common documents 4 are equal, 2 one level apart, 1 further; B is lower twice and higher once.
        assert texts(result)[:3] == [
            "A is a.txt, B is b.txt. Both judge 7 documents for 3 queries; only A judges 1 more; only B judges 1 more.",
            "The judges agree exactly on 57.1% of 7 documents; 28.6% differ by one level, 14.3% by more. "
            "Neither is clearly stricter: B grades 28.6% lower and 14.3% higher.",
            "On relevance (grade above 0) they agree on 57.1%: 71.4% are relevant in A, 57.1% in B.",
        ]
        assert texts(result)[3:] == [
            "A: relevant documents (grade above 0): 1 to 2 per query (median 2).",
            "B: relevant documents (grade above 0): 0 to 3 per query (median 1); 1 query has none: q1.",
        ]
        header = result.lines[0]
        assert (header["a"], header["b"], header["only_a"], header["only_b"]) == ("a.txt", "b.txt", 1, 1)
        assert (header["documents"], header["queries"], header["draws"], header["seed"]) == (7, 3, 1000, 0)

    def test_cross_table_with_column_per_cent(self, files):
        result = files("judgments", "a.txt", "b.txt", "--format", "jsonl")
        table = rows(result, "Grades by B for each level of A")
        assert list(table[0])[1:] == [
            "B",
            "A 0",
            "% of A 0",
            "A 1",
            "% of A 1",
            "A 2",
            "% of A 2",
            "total",
            "% of total",
        ]
        assert list(table[0].values())[1:] == ["0", 1, 0.5, 1, 1 / 3, 1, 0.5, 3, 3 / 7]
        assert [row["A 0"] for row in table] == [1, 1, 0, 2]
        assert [row["A 2"] for row in table] == [1, 0, 1, 2]
        assert [row["B"] for row in table] == ["0", "1", "2", "total"]
        assert table[-1]["% of A 1"] == table[-1]["% of total"] == 1

    def test_a_level_without_common_documents(self, command):
        command.write("a.txt", "q 0 d1 0\nq 0 d2 1\nq 0 d3 2\n")
        command.write("b.txt", "q 0 d1 0\nq 0 d2 2\n")
        table = rows(command("judgments", "a.txt", "b.txt", "--format", "jsonl"), "Grades by B for each level of A")
        assert [(row["A 2"], row["% of A 2"]) for row in table] == [(0, None), (0, None), (0, None)]

    def test_statistics(self, files):
        result = files("judgments", "a.txt", "b.txt", "--format", "jsonl")
        value = {row["statistic"]: row["value"] for row in rows(result, "Agreement")}
        assert (value["exact agreement"], value["mean difference, B - A"]) == (4 / 7, pytest.approx(-2 / 7))
        for row in rows(result, "Agreement"):
            assert row["low"] <= row["value"] <= row["high"]
        notes = [line["note"] for line in result.lines if line.get("table") == "Agreement" and "note" in line]
        assert notes[0] == "low, high: 95% CI, 1,000 resamples of the queries, seed 0"

    def test_by_query(self, files):
        result = files("judgments", "a.txt", "b.txt", "--by-query", "--format", "jsonl")
        found = [(row["query"], row["documents"], row["mean difference"]) for row in rows(result, "Agreement by query")]
        assert found == [("q1", 3, -1), ("q2", 3, 1 / 3), ("q3", 1, 0)]
        assert [row["query"] for row in rows(result, "Documents of B by query")] == ["q1", "q2", "q3", "q4"]

    def test_spread_of_queries_and_levels_of_both(self, files):
        result = files("judgments", "a.txt", "b.txt", "--format", "jsonl")
        spread = rows(result, "Agreement by query")
        assert [row["statistic"] for row in spread] == ["agreement", "mean difference", "mean absolute difference"]
        ends = (spread[0]["lowest in"], spread[0]["highest in"], spread[0]["median"])
        assert ends == ("q1", "q3", pytest.approx(2 / 3))
        table = rows(result, "All documents by level")
        assert [(row["grade"], row["A"], row["B"]) for row in table] == [("0", 3, 3), ("1", 3, 3), ("2", 2, 2)]

    @together(
        ("a", "b", "sentence"),
        [
            (SIX, [1, 2] * 3, "No grade differs."),
            (SIX, [2, 3] * 3, "B is more generous: it grades 100.0% higher and 0.0% lower."),
            (SIX, [0, 1] * 3, "B is stricter: it grades 100.0% lower and 0.0% higher."),
            # One query alone has no interval.
            ([2], [1], "B is stricter on these documents: it grades 100.0% lower and 0.0% higher."),
        ],
    )
    def test_direction(self, command, a, b, sentence):
        for name, grades in (("a.txt", a), ("b.txt", b)):
            command.write(name, "".join(f"q{i} 0 d {grade}\n" for i, grade in enumerate(grades)))
        result = command("judgments", "a.txt", "b.txt", "--scale", "3", "--format", "jsonl")
        assert texts(result)[1].endswith(f" {sentence}")

    def test_different_scales(self, command):
        command.write("a.txt", "q 0 d1 1\nq 0 d2 0\n")
        command.write("b.txt", "q 0 d1 3\nq 0 d2 0\n")
        result = command("judgments", "a.txt", "b.txt", "--format", "jsonl")
        assert texts(result)[1:4] == [
            "The highest grade is 1 in A and 3 in B. If these are different scales, equal grades differ in meaning, "
            "and only relevance can be compared; use --scale if both share one scale.",
            "The judges agree exactly on 50.0% of 2 documents; 50.0% differ by one level, 0.0% by more.",
            "On relevance (grade above 0) they agree on 100.0%: 50.0% are relevant in A, 50.0% in B. "
            "Neither is clearly stricter.",
        ]
        same = command("judgments", "a.txt", "b.txt", "--scale", "3", "--format", "jsonl")
        assert texts(same)[:3] == [
            texts(result)[0],
            f"{texts(result)[2]} B is more generous on these documents: it grades 50.0% higher and 0.0% lower.",
            texts(result)[3].removesuffix(" Neither is clearly stricter."),
        ]

    def test_different_scales_are_judged_by_relevance(self, command):
        """As in Table 1 of jarvelin2002: B has higher grades on more levels, but fewer relevant documents."""
        command.write("a.txt", "".join(f"q{q} 0 d{i} {int(i < 5)}\n" for q in range(6) for i in range(10)))
        command.write("b.txt", "".join(f"q{q} 0 d{i} {3 * int(i < 3)}\n" for q in range(6) for i in range(10)))
        result = command("judgments", "a.txt", "b.txt", "--format", "jsonl")
        value = {row["statistic"]: row["value"] for row in rows(result, "Agreement")}
        assert value["mean difference, B - A"] == pytest.approx(0.9 - 0.5)
        assert value["difference in relevant, B - A"] == pytest.approx(0.3 - 0.5)
        assert texts(result)[3].endswith("50.0% are relevant in A, 30.0% in B. B is stricter.")
        assert "generous" not in result.out

    @together(
        ("a", "b", "undefined", "note"),
        [
            ("q 0 d 1\nr 0 d 1\n", "q 0 d 1\nr 0 d 1\n", "Cohen's kappa", "only one level occurs"),
            (
                "q 0 d 1\nq 0 e 2\nr 0 d 1\n",
                "q 0 d 2\nq 0 e 2\nr 0 d 1\n",
                "kappa on relevance",
                "all documents are relevant in both, or in neither",
            ),
        ],
    )
    def test_what_is_undefined(self, command, a, b, undefined, note):
        command.write("a.txt", a)
        command.write("b.txt", b)
        result = command("judgments", "a.txt", "b.txt", "--format", "jsonl")
        value = {row["statistic"]: row["value"] for row in rows(result, "Agreement")}
        assert value[undefined] is None and value["exact agreement"] is not None
        assert {"table": "Agreement", "note": f"undefined (-): {note}"} in result.lines

    def test_real_grades(self, command):
        command.write("a.txt", "".join(f"q{i % 3} 0 d{i} {i / 20}\n" for i in range(21)))
        command.write("b.txt", "".join(f"q{i % 3} 0 d{i} {i // 20}\n" for i in range(21)))
        result = command("judgments", "a.txt", "b.txt", "--format", "jsonl")
        # Mean distance: (0 + 1 + ... + 19) / 20 of the 20 documents below 1, over 21 documents.
        assert f"their grades are {9.5 / 21:.4f} apart on average." in texts(result)[1]
        assert rows(result, "Grades by B for each level of A") == []
        assert "one level apart" not in {row["statistic"] for row in rows(result, "Agreement")}
        assert [row["grade"] for row in rows(result, "Grades of A")] == [0, 0.25, 0.5, 0.75, 1]
        assert [row["grade"] for row in rows(result, "Grades of B")] == ["0", "1"]

    def test_seed_and_draws(self, files):
        def agreement(*arguments):
            return rows(files("judgments", "a.txt", "b.txt", "--format", "jsonl", *arguments), "Agreement")

        assert agreement("--draws", "20") != agreement("--draws", "20", "--seed", "1")
        assert all(row["low"] is row["high"] is None for row in agreement("--draws", "0"))

    def test_policy_applies(self, files):
        files.write("b.txt", B + "q1 0 d1 1\n")
        refused = files("judgments", "a.txt", "b.txt")
        assert refused.code == 3
        assert refused.out == ""
        assert refused.err.startswith(
            "b.txt:9: conflicting grades for query 'q1' and document 'd1': 1 after 0 (line 1)\n"
        )
        result = files("judgments", "a.txt", "b.txt", "--judges", "min", "--format", "jsonl")
        assert texts(result)[1].startswith("The judges agree exactly on 57.1% of 7 documents;")
        assert result.lines[-1]["note"].startswith("negative:judged|grade-zero:0|judges:min|")


class TestOrders:
    def test_order_of_systems(self, files):
        result = files(
            "judgments", "a.txt", "b.txt", "--run", "one.run", "--run", "two.run", "-m", "RR", "--format", "jsonl", "-q"
        )
        assert texts(result)[-1] == "No two systems swap by RR: Kendall's tau is 1.0000."
        assert "queries:3" in result.lines[-1]["note"]

    def test_systems_that_change_places(self, command):
        command.write("a.txt", "q 0 d1 1\nq 0 d2 0\n")
        command.write("b.txt", "q 0 d1 0\nq 0 d2 1\n")
        command.write("x.run", "q Q0 d1 1 2 t\nq Q0 d2 2 1 t\n")
        command.write("y.run", "q Q0 d2 1 2 t\nq Q0 d1 2 1 t\n")
        arguments = ("judgments", "a.txt", "b.txt", "--run", "x.run", "--run", "y.run", "-m", "RR", "-m", "P@1")
        result = command(*arguments, "--format", "jsonl")
        assert [row["run"] for row in rows(result, "Systems by P@1")] == ["x", "y"]
        [swap] = rows(result, "Systems that swap by RR")
        assert [swap[name] for name in ("better by A", "better by B", "lead by A", "lead by B")] == ["x", "y", 0.5, 0.5]
        assert "1 of 1 pair of systems swaps by RR: Kendall's tau is -1.0000." in texts(result)
        assert "1*" in command(*arguments).out  # the places by B that are others than by A

    def test_default_measure_and_names(self, files):
        result = files("judgments", "a.txt", "b.txt", "--run", "one.run", "--name", "mine", "--format", "jsonl")
        assert [row["run"] for row in rows(result, "Systems by nDCG@10")] == ["mine"]
        assert texts(result)[-1] == "A single system has no order."

    def test_notices_say_by_which_judgments(self, files):
        result = files("judgments", "a.txt", "b.txt", "--run", "two.run", "-m", "RR")
        assert result.err.splitlines() == [
            "notice: by A: two: 1 judged query not answered, given the worst score (missing=zero): q3",
            "notice: by A: unjudged documents in the top 10: two 25.0%",
            "notice: by B: two: 1 judged query not answered, given the worst score (missing=zero): q3",
            "notice: by B: unjudged documents in the top 10: two 25.0%",
        ]
        assert files("judgments", "a.txt", "b.txt", "--run", "two.run", "--quiet").err == ""

    def test_scales_that_differ_have_two_signatures(self, files):
        files.write("b.txt", B + "q5 0 d1 3\n")
        result = files("judgments", "a.txt", "b.txt", "--run", "one.run", "--format", "jsonl", "-q")
        assert [line["note"][:3] for line in result.lines[-2:]] == ["A: ", "B: "]
        assert ("scale:2" in result.lines[-2]["note"], "scale:3" in result.lines[-1]["note"]) == (True, True)

    def test_clearest_of_many_swaps(self, command):
        # 8 systems, each with one document first; A and B grade the documents in opposite order.
        command.write("a.txt", "".join(f"q 0 d{i} {i + 1}\n" for i in range(8)))
        command.write("b.txt", "".join(f"q 0 d{i} {8 - i}\n" for i in range(8)))
        runs = []
        for i in range(8):
            command.write(f"r{i}.run", f"q Q0 d{i} 1 1 t\n")
            runs += ["--run", f"r{i}.run"]
        result = command("judgments", "a.txt", "b.txt", *runs, "-m", "CG@1", "--format", "jsonl")
        found = rows(result, "Systems that swap by CG@1")
        assert (len(found), found[0]["better by A"], found[0]["better by B"]) == (20, "r7", "r0")
        assert {"table": "Systems that swap by CG@1", "note": "the clearest of 28"} in result.lines
        assert "28 of 28 pairs of systems swap by CG@1: Kendall's tau is -1.0000." in texts(result)


@together(
    ("arguments", "code", "lines"),
    [
        (
            ["a.txt", "common.txt"],
            3,
            [
                "common.txt: no document is also judged in a.txt: a.txt has document 'd1' for query "
                "'q1', common.txt has document 'D1' for query 'q1'",
                "hint: check that both judge the same queries and documents; IDs must be equal byte by byte",
            ],
        ),
        (
            ["a.txt", "--run", "one.run"],
            2,
            [
                "--run: two sets of judgments are needed to compare orders of systems",
                "hint: gainful judgments A B --run RUN; to score runs with one set, use gainful eval",
            ],
        ),
        *(
            ([*files, "-m", "AP"], 2, ["--measure: runs to score are missing", "hint: add --run FILE"])
            for files in (["a.txt"], ["a.txt", "b.txt"])
        ),
        (
            ["a.txt", "b.txt", "--run", "one.run", "-m", "NumRet"],
            2,
            ["NumRet: the measure cannot order systems: neither higher nor lower is better"],
        ),
        (["a.txt", "--scale", "0"], 2, ["scale: expected a number above 0, found 0"]),
        (["a.txt", "--rel", "high"], 2, ["--rel: expected a number, found 'high'"]),
        (["a.txt", "--scale", "high"], 2, ["--scale: expected a number, found 'high'"]),
    ],
)
def test_messages(files, arguments, code, lines):
    files.write("common.txt", "q1 0 D1 1\nq9 0 d1 1\n")
    result = files("judgments", *arguments)
    assert (result.code, result.out, result.err.splitlines()) == (code, "", lines)


def test_either_core_says_the_same(files, use_core):
    arguments = ("judgments", "a.txt", "b.txt", "--run", "one.run", "--run", "two.run", "--by-query")
    use_core("c++")
    compiled = files(*arguments)
    use_core("python")
    assert compiled.code == 0 and compiled.out
    assert files(*arguments) == compiled


def test_calibration(command):
    """People judge half of the queries that a model judges, which finds every document relevant."""
    command.write("human", "".join(f"q{i} 0 a {i % 2}\n" for i in range(6)))
    command.write("model", "".join(f"q{i} 0 a 1\n" for i in range(12)))
    command.write("again", "".join(f"q{i} 0 a {int(i > 0)}\n" for i in range(12)))
    command.write("one.run", "".join(f"q{i} Q0 a 1 1 t\n" for i in range(12)))
    command.write("two.run", "".join(f"q{i} Q0 b 1 1 t\n" for i in range(12)))
    runs = "one.run", "two.run", "-m", "P@1", "--format", "jsonl"
    result = command("judgments", "--calibrate", "human", "model", *runs)
    rows = result.rows("P@1 as human judgments would give it, for queries like these")
    assert [(row["run"], row["from"], row["value"], row["by model"]) for row in rows] == [
        ("one", None, 0.5, 1),
        ("two", None, 0, 0),
        ("two", "one", -0.5, -1),
    ]
    assert [(row["order"], row["rank by model"]) for row in rows] == [
        ("rank 1 to 2", 1),
        ("rank 1 to 2", 2),
        ("inconclusive", None),
    ]
    assert rows[0]["noise"] is None
    repeated = command("judgments", "--calibrate", "human", "m=model,again", *runs)
    assert repeated.rows("P@1 as human judgments would give it, for queries like these")[0]["noise"] > 0
    for wrong, message in (
        (("--calibrate", "human", "model"), "--calibrate needs human judgments, model judgments and runs"),
        (("--calibrate", "human", "model", "one.run", "--draws", "9"), "--draws cannot be used with --calibrate"),
        (("--calibrate", "human", "model", "one.run", "--by-query"), "--by-query cannot be used with --calibrate"),
        (("human", "model", "one.run", "--baseline", "one"), "--baseline requires --calibrate"),
    ):
        found = command("judgments", *wrong)
        assert found.code == 2 and message in found.err


def test_merge(command):
    """Words are graded in either file or both; what does not apply is refused."""
    command.write("a", "q1 0 a 1\nq1 0 b 0\n")
    command.write("words", "q1 0 a Maybe\nq1 0 c Sure\n")
    for first in ("a", "words"):
        result = command("judgments", first, "--merge", "words", "--grades", "Maybe=1,Sure=2", "-q", "--format", "trec")
        assert result.code == 0 and sorted(result.out.splitlines()[-2:])[1] == "q1 0 c 2"
    command.write("b.csv", "query,document,grade\nq1,c,good\n")
    assert "b.csv: grades are words, read as --grades good=2" in command("judgments", "a", "--merge", "b.csv").err
    for wrong, message in (
        (("--merge", "a", "--grades", "Sure=2"), "--grades: none of its words occurs"),
        (("--merge", "a", "--calibrate"), "--calibrate cannot be used with --merge"),
        (("--merge", "a", "-m", "AP"), "--measure cannot be used with --merge"),
        (("--merge", "a", "--draws", "1000"), "--draws cannot be used with --merge"),
        (("--merge", "a", "-o", "m.csv"), "--merge writes TREC text, not csv"),
    ):
        found = command("judgments", "a", *wrong)
        assert found.code == 2 and message in found.err


def test_runs_may_follow_both_sets(command):
    command.write("a", "q1 0 a 1\nq1 0 b 0\n")
    command.write("b", "q1 0 a 0\nq1 0 b 1\n")
    command.write("one.run", "q1 Q0 a 1 1 t\n")
    assert command("judgments", "a", "b", "one.run").out == command("judgments", "a", "b", "--run", "one.run").out
