"""Messages for bad input and wrong usage, word for word, with exit codes."""

from __future__ import annotations

import bz2
import gzip
import lzma
from functools import partial

import click
import pytest
import zstandard

from gainful.cli.flags import INPUT
from gainful.cli.main import COMMANDS, cli

QRELS = "q1 0 d1 1\n"
RUN = "q1 Q0 d1 1 1 t\n"

RUN_HINT = "hint: a run line is `query Q0 document rank score tag`"
QRELS_HINT = "hint: a judgment line is `query subtopic document grade`"
NUMBER_HINT = "hint: numbers are decimal, such as 2, -0.5 or 1e-3"
RANK_HINT = "hint: order=rank and ties=rank need the rank column"
DUPLICATE_HINT = "hint: use --duplicates first to keep the best-ranked occurrence"
JUDGES_HINT = "hint: combine them with --judges mean, median, max, min or turn"
SUBTOPICS_HINT = "hint: column 2 differs: if it is the sub-topic, use --subtopics"

NOT_NUMBERS = [
    *("nan", "NaN", "-nan", "inf", "+inf", "-Infinity", "0x10", "0x1p3", "1_000", "1,5", "1.2.3", "1e", "1e+", "e5"),
    *(".", "-", "+-1", "1d0", "1f", "1%", "None", "x", "''", "１", "٣"),
]
TOO_LARGE = ["1e309", "-1e309", "1e99999999999999999999", "2e308"]


@pytest.fixture
def files(command):
    command.write("qrels", QRELS)
    command.write("r.run", RUN)
    return command


def refused(result, *lines: str, code: int = 3) -> None:
    """The command printed these lines on standard error, the hint right behind the diagnosis, nothing else, and left
    with this code."""
    diagnosis, *others = lines
    hints = [line for line in others if line.startswith("hint: ")]
    assert result.err.splitlines() == [diagnosis, *hints, *(line for line in others if line not in hints)]
    assert result.out == ""
    assert result.code == code


# -- Lines that are not what they should be ----------------------------------------------------------------------------


TABLE = (
    "hint: a table separated by commas, semicolons or tabs needs a header with the columns query, document and {}; "
    "use --columns for other names"
)
#: Lines that tell what the whole file probably is.
MISTAKEN = {
    "q1 0 d1 1": "hint: this looks like judgments; give judgments first, then runs",
    "q1 Q0 d1 1 1 t": "hint: this looks like a run; give judgments first, then runs",
    "q1,Q0,d1,1,1,t": TABLE.format("score"),
    "query-id,d1,1": TABLE.format("grade"),
}


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("q1 Q0 d1 1 1", 5),
        ("q1 Q0 d1 1 1 t more", 7),
        ("q1", 1),
        ("q1 0 d1 1", 4),
        ("q1\tQ0\td1\t1\t1", 5),
        ("q1 Q0 d1 1  t", 5),  # an empty score
        ("q1,Q0,d1,1,1,t", 1),
        ("{", 1),
    ],
)
def test_fields_of_a_run(command, core, line, found):
    result = command.evaluate(QRELS, RUN + line + "\n")
    refused(result, f"r.run:2: expected 6 fields, found {found}", f"    {line}", MISTAKEN.get(line, RUN_HINT))


@pytest.mark.parametrize(
    ("line", "found"),
    [("q1 0 d1", 3), ("q1 0 d1 1 x", 5), ("q1 Q0 d1 1 1 t", 6), ("q1", 1), ("q1 0 d1  ", 3), ("query-id,d1,1", 1)],
)
def test_fields_of_judgments(command, core, line, found):
    result = command.evaluate(QRELS + line + "\n", RUN)
    refused(result, f"qrels:2: expected 4 fields, found {found}", f"    {line}", MISTAKEN.get(line, QRELS_HINT))


def test_utf16_is_recognised(command, core):
    result = command.evaluate(QRELS, RUN.encode("utf-16"))
    assert result.code == 3
    assert result.err.splitlines()[-1] == "hint: this looks like UTF-16; convert it: iconv -f utf-16 -t utf-8"


def test_scores_that_are_no_numbers(command, core):
    for text in NOT_NUMBERS:
        line = f"q1 Q0 d2 2 {text} t"
        refused(
            command.evaluate(QRELS, RUN + line + "\n"),
            f"r.run:2: expected a number as score, found '{text}'",
            f"    {line}",
            NUMBER_HINT,
        )


def test_grades_that_are_no_numbers(command, core):
    for text in NOT_NUMBERS:
        line = f"q1 0 d2 {text}"
        refused(
            command.evaluate(QRELS + line + "\n", RUN),
            f"qrels:2: expected a number as grade, found '{text}'",
            f"    {line}",
            NUMBER_HINT,
        )


@pytest.mark.parametrize("text", TOO_LARGE)
def test_numbers_too_large(command, core, text):
    refused(
        command.evaluate(QRELS, RUN + f"q1 Q0 d2 2 {text} t\n"),
        f"r.run:2: expected a score that fits a 64-bit float, found '{text}'",
        f"    q1 Q0 d2 2 {text} t",
        NUMBER_HINT,
    )
    refused(
        command.evaluate(QRELS + f"q1 0 d2 {text}\n", RUN),
        f"qrels:2: expected a grade that fits a 64-bit float, found '{text}'",
        f"    q1 0 d2 {text}",
        NUMBER_HINT,
    )


@pytest.mark.parametrize("flags", [("--order", "rank"), ("--ties", "rank")])
@pytest.mark.parametrize("text", ["-", "nan", "first", "1e999"])
def test_ranks_that_are_needed(command, core, flags, text):
    result = command.evaluate(QRELS, RUN + f"q1 Q0 d2 {text} 0.5 t\n", *flags)
    refused(result, f"r.run:2: expected a number as rank, found '{text}'", f"    q1 Q0 d2 {text} 0.5 t", RANK_HINT)


TWICE = "duplicate document '{}' for query '{}' (first: line {})".format
ONE_GRADE = "conflicting grades for query '{}' and document '{}': {} after 1 (line 1)".format
FITS, TOO_LONG = "q1 0 " + "d" * 115, "q1 0 " + "d" * 116


@pytest.mark.parametrize(
    ("qrels", "run", "lines"),
    [
        (
            QRELS,
            "q1 Q0 d1 1 3 t\nq2 Q0 d1 1 3 t\nq1 Q0 d2 2 2 t\nq1 Q0 d1 3 1 t\nq1 Q0 d1 4 0 t\n",
            [
                *(f"r.run:4: {TWICE('d1', 'q1', 1)}", "    q1 Q0 d1 3 1 t"),
                *(f"r.run:5: {TWICE('d1', 'q1', 1)}", "    q1 Q0 d1 4 0 t"),
                DUPLICATE_HINT,
            ],
        ),
        (  # of a query that is not judged
            QRELS,
            RUN + "q9 Q0 d1 1 3 t\nq9 Q0 d1 2 2 t\n",
            [f"r.run:3: {TWICE('d1', 'q9', 2)}", "    q9 Q0 d1 2 2 t", DUPLICATE_HINT],
        ),
        (
            "q1 0 d1 1\nq1 0 d2 1\nq1 0 d1 2\nq1 0 d1 1\nq1 0 d1 -0.5\n",
            RUN,
            [
                *(f"qrels:3: {ONE_GRADE('q1', 'd1', 2)}", "    q1 0 d1 2"),
                *(f"qrels:5: {ONE_GRADE('q1', 'd1', -0.5)}", "    q1 0 d1 -0.5"),
                JUDGES_HINT,
            ],
        ),
        ("q1 1 d1 1\nq1 2 d1 0\n", RUN, [f"qrels:2: {ONE_GRADE('q1', 'd1', 0)}", "    q1 2 d1 0", SUBTOPICS_HINT]),
        (  # three bad lines are all shown, of several kinds
            QRELS,
            "q1 Q0 d1 1 1 t\nq1 Q0 d2 2 x t\nq1 Q0 d1 3 1 t\nq1 Q0 d4 1\nq1 Q0 d5 5 1e999 t\n",
            [
                *("r.run:2: expected a number as score, found 'x'", "    q1 Q0 d2 2 x t"),
                *("r.run:4: expected 6 fields, found 4", "    q1 Q0 d4 1"),
                *("r.run:5: expected a score that fits a 64-bit float, found '1e999'", "    q1 Q0 d5 5 1e999 t"),
                NUMBER_HINT,
            ],
        ),
        (  # every line counts
            b"\xef\xbb\xbf# a comment\r\n\r\n  \t\nq1 0 d1 1\r\n#\nq1 0 d2\r\n",
            RUN,
            ["qrels:6: expected 4 fields, found 3", "    q1 0 d2", QRELS_HINT],
        ),
        (b"\xef\xbb\xbfq1 0 d2", RUN, ["qrels:1: expected 4 fields, found 3", "    q1 0 d2", QRELS_HINT]),
        (  # what cannot be shown is escaped
            QRELS,
            b"q1 Q0 d1 1 \x1b[1m\xfe t\n",
            [r"r.run:1: expected a number as score, found '\x1b[1m\xfe'", r"    q1 Q0 d1 1 \x1b[1m\xfe t", NUMBER_HINT],
        ),
        (
            QRELS,
            b"q\x07 Q0 d\xfe 1 1 t\nq\x07 Q0 d\xfe 2 1 t\n",
            ["r.run:2: " + TWICE(r"d\xfe", r"q\x07", 1), r"    q\x07 Q0 d\xfe 2 1 t", DUPLICATE_HINT],
        ),
        (
            b"q\x07 0 d\xfe 1\nq\x07 0 d\xfe 2\n",
            RUN,
            ["qrels:2: " + ONE_GRADE(r"q\x07", r"d\xfe", 2), r"    q\x07 0 d\xfe 2", JUDGES_HINT],
        ),
        (  # long lines are cut
            f"{FITS}\n{TOO_LONG}\n",
            RUN,
            [
                *("qrels:1: expected 4 fields, found 3", f"    {FITS}"),
                *("qrels:2: expected 4 fields, found 3", f"    {TOO_LONG[:117]}..."),
                QRELS_HINT,
            ],
        ),
    ],
)
def test_lines_that_are_refused(command, core, qrels, run, lines):
    refused(command.evaluate(qrels, run), *lines)


def test_conflicting_judgments_of_one_subtopic(command, core):
    result = command.evaluate("q1 1 d1 1\nq1 2 d1 5\nq1 1 d1 0\n", RUN, "--subtopics")
    where = "query 'q1', sub-topic '1', and document 'd1'"
    refused(result, f"qrels:3: conflicting grades for {where}: 0 after 1 (line 1)", "    q1 1 d1 0", JUDGES_HINT)


@pytest.mark.parametrize(("count", "rest"), [(4, "1"), (1203, "1,200")])
def test_more_than_three_bad_lines_are_counted(command, core, count, rest):
    lines = "".join(f"q1 Q0 d{i} {i} x t\n" for i in range(count))
    result = command.evaluate(QRELS, lines)
    shown = result.err.splitlines()
    assert shown[:3] == ["r.run:1: expected a number as score, found 'x'", NUMBER_HINT, "    q1 Q0 d0 0 x t"]
    assert shown[5:] == [
        "r.run:3: expected a number as score, found 'x'",
        "    q1 Q0 d2 2 x t",
        f"... and {rest} more like these",
    ]
    assert result.code == 3


def test_more_than_three_conflicts_are_counted(command, core):
    qrels = "".join(f"q1 0 d{i} 1\nq1 0 d{i} 2\n" for i in range(12))
    shown = command.evaluate(qrels, RUN).err.splitlines()
    assert len(shown) == 8
    assert [shown[1], *shown[-2:]] == [JUDGES_HINT, "    q1 0 d2 2", "... and 9 more like these"]


def test_more_than_three_duplicates_are_counted(command, core):
    shown = command.evaluate(QRELS, RUN * 13).err.splitlines()
    assert len(shown) == 8
    assert shown[5] == ("r.run:4: duplicate document 'd1' for query 'q1' (first: line 1)")
    assert [shown[1], shown[-1]] == [DUPLICATE_HINT, "... and 9 more like these"]


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (b"q1 Q0 d\xff 1 1", r"q1 Q0 d\xff 1 1"),
        (b"q1 Q0 d\x1b[31m 1 1", r"q1 Q0 d\x1b[31m 1 1"),
        (b"q1 Q0 d\x01 1 1", r"q1 Q0 d\x01 1 1"),
        (b"q1 Q0 d\x01\x02\x03 1 1", "(binary content)"),
        (b"q1 Q0 d\rd 1 1", r"q1 Q0 d\rd 1 1"),
        ("q1 Q0 \N{RIGHT-TO-LEFT OVERRIDE}d 1 1".encode(), r"q1 Q0 \u202ed 1 1"),
        ("q1 Q0 dé東 1 1".encode(), "q1 Q0 dé東 1 1"),
    ],
)
def test_bytes_that_cannot_be_shown_are_escaped(command, core, raw, shown):
    result = command.evaluate(QRELS, raw + b"\n")
    refused(result, "r.run:1: expected 6 fields, found 5", f"    {shown}", RUN_HINT)


def test_very_long_lines_do_not_fill_the_screen(command, core):
    # Every line of a message stays short, whatever the file has: a field of a line may be as long as the line.
    long = "x" * 5000
    for result in (
        command.evaluate(QRELS, f"q1 Q0 {long} 1 1\n"),
        command.evaluate(QRELS, f"q1 Q0 d1 1 {long} t\n"),
        command.evaluate(QRELS, f"q1 Q0 {long} 1 1 t\nq1 Q0 {long} 2 1 t\n"),
        command.evaluate(f"q1 0 {long} 1\nq1 0 {long} 2\n", RUN),
    ):
        assert result.code == 3
        assert max(map(len, result.err.splitlines())) < 400


def test_the_value_of_a_line_longer_than_a_mebibyte(command, core):
    result = command.evaluate(f"q1 0 {'d' * (1 << 20)} x\nq1 0 d1 1\n", RUN)
    assert result.err.splitlines()[0] == "qrels:1: expected a number as grade, found 'x'"


# -- Files that are not what they should be ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content", [b"", b"\n\n", b"# nothing\n#\n", b"\xef\xbb\xbf", b" \t\r\n", gzip.compress(b"", mtime=0)]
)
def test_files_without_content(command, core, content):
    refused(command.evaluate(content, RUN), "qrels: no judgments")
    refused(command.evaluate(QRELS, content), "r.run: no ranked documents")


def test_no_shared_query(command, core):
    refused(
        command.evaluate("302 0 d1 1\n301 0 d1 1\n", "q2 Q0 d1 1 1 t\nq1 Q0 d1 1 1 t\n"),
        "r.run: none of its queries is judged: the run has 'q1', qrels has '301'",
        "hint: do the judgments and the run belong to the same collection?",
    )


@pytest.mark.parametrize(
    ("judged", "found", "how"),
    [("001", "1", "as numbers, without leading zeros and '.0'"), ("Q1", "q1", "if case is ignored")],
)
def test_no_shared_query_says_what_check_knows(command, core, judged, found, how):
    qrels, run = f"{judged} 0 d1 1\nx9 0 d1 1\n", f"{found} Q0 d1 1 1 t\na7 Q0 d1 1 1 t\n"
    refused(
        command.evaluate(qrels, run),
        f"r.run: none of its queries is judged: the run has '{found}', qrels has '{judged}'",
        f"hint: 1 of 2 queries match {how}: write ids the same way in both files",
    )
    assert f"match {how}: write IDs" in " ".join(command("check", "qrels", "r.run").out.split())


def test_a_file_in_a_folder_below_is_named(command):
    command.write("qrels", QRELS)
    (command.directory / "demo").mkdir()
    (command.directory / "demo" / "r.run").write_text(RUN)
    refused(command("eval", "qrels", "r.run"), "r.run: no such file", "hint: r.run is in demo/")
    refused(command("eval", "qrels", "runs/r.run"), "runs/r.run: no such file")


def test_judgments_of_zeros_alone(command):
    found = command.evaluate("q1 0 d1 0\n", "q1 Q0 d1 1 1 t\n")
    assert found.code == 0
    assert found.err.startswith("notice: no relevant document in the judgments: every grade is 0 or less\n")
    assert "no relevant document" not in command.evaluate("q1 0 d1 0\nq2 0 d1 1\n", "q1 Q0 d1 1 1 t\n").err


def test_queries_that_differ_only_in_their_normal_form(command, core):
    refused(
        command.evaluate("a\u0308 0 d1 1\nq2 0 d1 1\n", "q1 Q0 d1 1 1 t\n\u00e4 Q0 d1 1 1 t\n"),
        "r.run: none of its queries is judged: the run has 'q1', qrels has 'a\u0308'",
        r"hint: '\xe4' in the run and 'a\u0308' in the judgments differ only in Unicode normal form: "
        "write ids the same way in both files",
    )
    found = command("explain", "P@1", "--qrels", "qrels", "--run", "r.run", "--query", "\u00e4")
    assert found.err.splitlines()[1] == (r"hint: did you mean a\u0308? \xe4 differs only in Unicode normal form")


def test_queries_that_differ_only_in_their_encoding(command, core):
    refused(
        command.evaluate("caf\u00e9 0 d1 1\n", "caf\u00e9 Q0 d1 1 1 t\n".encode("latin-1")),
        r"r.run: none of its queries is judged: the run has 'caf\xe9', qrels has 'caf\u00e9'".replace(
            r"\u00e9", "\u00e9"
        ),
        r"hint: 'caf\udce9' in the run and 'caf\xe9' in the judgments differ only in their encoding "
        "(UTF-8 and Latin-1): write ids the same way in both files",
    )


def test_files_that_are_not_there(files):
    refused(files("eval", "nothing", "r.run"), "nothing: no such file")
    refused(files("eval", "qrels", "runs/nothing.run"), "runs/nothing.run: no such file")
    refused(files("eval", "qrels", "r.run/x"), "r.run/x: cannot be read (Not a directory)")


def test_a_path_that_is_nearly_there_is_suggested(command):
    command.write("qrels.txt", QRELS)
    command.write("bm25.run.gz", RUN)
    (command.directory / "runs").mkdir()
    command.write("runs/dense.run", RUN)
    for wrong, right in (
        ("qrels.tx", "qrels.txt"),
        ("QRELS.txt", "qrels.txt"),
        ("bm25", "bm25.run.gz"),
        ("runs/dens.run", "runs/dense.run"),
        ("run/dense.run", "runs/dense.run"),
        ("run/dens", "runs/dense.run"),
    ):
        refused(command("eval", wrong, "bm25.run.gz"), f"{wrong}: no such file", f"hint: did you mean {right}?")
    refused(command("eval", "elsewhere/qrels.txt", "bm25.run.gz"), "elsewhere/qrels.txt: no such file")


def test_a_measure_in_the_place_of_a_file(files):
    hint = "hint: -m nDCG@10 selects it"
    refused(files("eval", "qrels", "r.run", "nDCG@10"), "nDCG@10: a measure, not a file", hint, code=2)
    files.write("nDCG@10", RUN)
    assert files("eval", "qrels", "r.run", "nDCG@10").code == 0


@pytest.mark.parametrize("name", ["--metric", "--metrics", "--measures"])
def test_options_by_the_names_of_others(files, name):
    refused(files("eval", "qrels", "r.run", name, "P@1"), f"no option {name}", "hint: use --measure", code=2)
    assert "it is" not in files("measures", name, "P@1").err


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        ("latex qrels r.run", "gainful eval --format latex qrels r.run"),
        ("compare qrels r.run", "gainful eval QRELS RUN scores one"),
        ("compare qrels r.run r.run --test t-test", "--test t"),
        ("compare qrels r.run r.run --test anova", "--procedure anova"),
        ("compare qrels r.run r.run --level 0.01", "use --alpha"),
        ("compare qrels r.run r.run --pvalue 0.01", "use --alpha"),
        ("compare qrels r.run r.run --alpha-level 0.01", "use --alpha"),
        ("eval qrels r.run --pvalue 0.01", "gainful compare QRELS RUN RUN tests"),
        ("compare qrels r.run r.run --confidence 95", "--alpha 0.05 gives 95% confidence"),
        ("compare qrels r.run r.run --min-rating 4", "use --rel"),
        ("eval qrels r.run -m p@2 --floor 0.45", "--floor 'p@2>=0.45'"),
        ("eval qrels r.run --per-query", "use --by-query"),
        ("eval qrels r.run --threshold 2", "use --rel"),
        ("eval qrels r.run --threshold 0.45", "gainful eval qrels r.run --floor 'R@5>=0.45'"),
        ("eval qrels r.run --min 0.45", "gainful eval qrels r.run --floor 'R@5>=0.45'"),
        ("eval qrels r.run --fail-under=0.45", "gainful eval qrels r.run --floor 'R@5>=0.45'"),
        ("eval qrels r.run -m p@2 --min-score 0.4", "gainful eval qrels r.run -m p@2 --floor 'p@2>=0.4'"),
        ("compare qrels r.run --fail-under 0.4", "gainful eval QRELS RUN --floor 'R@5>=0.4'"),
        ("gate qrels r.run", "gainful gate init qrels r.run -o gate.json"),
        ("gate gate.json qrels r.run", "gainful gate check gate.json qrels r.run"),
        ("gate nothing", "gainful gate --help lists all"),
        ("compare qrels r.run r.run --segments kind", "use --by"),
        ("report qrels r.run --by kind", "--queries FILE reads groups of queries"),
        ("eval qrels r.run -m AP,P(rel=2)@5", "give several measures separately: -m AP -m 'P(rel=2)@5'"),
        ("explain nDCG@5 3 2 3 0", "gainful explain nDCG@5 --grades 3,2,3,0"),
        ("eval qrels r.run --grades 3,2,0", "gainful explain nDCG@6 --grades 3,2,0 --detail takes a list of grades"),
        ("eval qrels r.run --qiuet", "did you mean --quiet"),
        ("measures ndgc", "did you mean nDCG"),
        ("eval qrels r.run -m kappa", "for agreement between judges"),
        ("eval qrels r.run --verbose", "--detail shows more"),
    ],
)
def test_messages_lead_on(files, typed, hint):
    files.write("gate.json", "{}")
    result = files(*typed.split())
    assert (result.code, result.out) == (2, "")
    assert result.err.splitlines()[1].startswith(f"hint: {hint}")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("eval qrels r.run --missing drop", "--missing: expected zero | skip | error, found 'drop'\n"),
        ("eval qrels r.run --places two", "--places: expected a whole number from 0 to 17, found 'two'\n"),
    ],
)
def test_values_of_options_are_named(files, typed, said):
    result = files(*typed.split())
    assert (result.code, result.err) == (2, said)


def test_what_is_no_run_is_named(files):
    assert files("eval", "qrels", "r.run", "-o", "scores.jsonl", "--quiet").code == 0
    refused(
        files("eval", "qrels", "scores.jsonl"),
        "scores.jsonl:1: expected a run, found scores written by gainful",
        "hint: use `gainful compare --from FILE` to compare scores",
    )
    files.write("queries.csv", "query_id,text,visits\nq1,foxes,10\nq2,tea,5\n")
    refused(
        files("eval", "qrels", "queries.csv"),
        "queries.csv:1: no column for the document among query_id, text, visits, and one row per query",
        "hint: for a table about queries, use --queries; otherwise name the documents: --columns document=NAME",
    )


def test_directories(command):
    command.write("qrels", QRELS)
    command.write("runs/r.run", RUN)
    found = "the folder contains no {} files (NTCIR)"
    refused(command("eval", "qrels", "runs"), f"runs: {found.format('.res')}", "hint: name the files: runs/*")
    refused(command("eval", "runs", "runs/r.run"), f"runs: {found.format('.rel')}", "hint: name the file")


@pytest.mark.parametrize(
    ("kind", "ending", "compress"),
    [
        ("gzip", "gz", gzip.compress),
        ("bzip2", "bz2", partial(bz2.compress, compresslevel=1)),
        ("xz", "xz", partial(lzma.compress, preset=0)),
        ("zstd", "zst", zstandard.compress),
    ],
)
def test_damaged_files(command, kind, ending, compress):
    # Whole lines could be read from the part that is there: a guess that must not be made.
    text = "".join(f"q{i} Q0 d{i * 7919 % 10007} 1 {i / 7} t\n" for i in range(30_000)).encode()
    packed = compress(text)
    command.write("qrels", QRELS)
    for damaged in (packed[: len(packed) * 9 // 10], packed[:-3], packed[:12]):
        name = f"r.run.{ending}"
        command.write(name, damaged)
        result = command("eval", "qrels", name)
        assert result.err.startswith(f"{name}: expected {kind} data, found a damaged file ("), len(damaged)
        assert result.err.endswith(")\n")
        assert result.err.count("\n") == 1
        assert (result.code, result.out) == (3, "")


def test_text_where_compressed_data_was_said_to_be(command, core):
    command.write("qrels", QRELS)
    command.write("r.run.gz", RUN)
    assert command("eval", "qrels", "r.run.gz").code == 0


def test_binary_data(command, core):
    result = command.evaluate(QRELS, b"RAP1\x15\x04\x15\x00\xff")
    refused(result, "r.run: expected text or parquet, found binary content", "hint: is this the right file?")


def test_messages_about_standard_input(files, core):
    refused(files("eval", "qrels", "-"), "<stdin>: no ranked documents")
    refused(files("eval", "-", "r.run"), "<stdin>: no judgments")
    refused(
        files("eval", "qrels", "-", stdin=b"q1 Q0\n"), "<stdin>:1: expected 6 fields, found 2", "    q1 Q0", RUN_HINT
    )


def test_nothing_is_printed_before_all_is_read(command, core):
    command.write("qrels", QRELS)
    command.write("good.run", RUN)
    command.write("bad.run", "q1 Q0 d1 1 1\n")
    for threads in "1", "2":
        refused(
            command("eval", "qrels", "good.run", "bad.run", "--threads", threads),
            "bad.run:1: expected 6 fields, found 5",
            "    q1 Q0 d1 1 1",
            RUN_HINT,
        )


def test_of_several_bad_runs_the_first_is_told(command, core):
    command.write("qrels", QRELS)
    names = [f"bad{i}.run" for i in range(6)]
    for name in names:
        command.write(name, "q1 Q0 d1 1 1\n")
    for threads in "1", "2", "8":
        result = command("eval", "qrels", *reversed(names), "--threads", threads)
        refused(result, "bad5.run:1: expected 6 fields, found 5", "    q1 Q0 d1 1 1", RUN_HINT)


def test_judgments_are_told_before_runs(command, core):
    result = command.evaluate("q1 0 d1\n", "q1 Q0 d1\n")
    refused(result, "qrels:1: expected 4 fields, found 3", "    q1 0 d1", QRELS_HINT)


# -- What the policy forbids -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("--missing error", "r.run: 1 query ('q2') not answered, and missing=error forbids it"),
        ("--like trec_eval-10", "r.run: 1 query ('q2') not answered, and missing=error forbids it"),
        (
            "--extra error",
            "r.run: 6 queries ('x0', 'x1', 'x2', 'x3', 'x4', ...) without judgments, and extra=error forbids it",
        ),
        ("--undefined error -m RR -m AP", "r.run: AP is undefined for 1 query ('q3'), and undefined=error forbids it"),
        ("--undefined error", "r.run: nDCG@10 is undefined for 1 query ('q3'), and undefined=error forbids it"),
    ],
)
def test_what_the_policy_forbids(command, core, flags, message):
    qrels = "q1 0 d1 1\nq2 0 d1 1\nq3 0 d1 0\n"
    lines = "q1 Q0 d1 1 1 t\nq3 Q0 d1 1 1 t\n" + "".join(f"x{i} Q0 d1 1 1 t\n" for i in range(6))
    choice = message.split("=error")[0].split()[-1]
    others = "ignore ignores them" if choice == "extra" else "zero scores them 0, skip leaves them out"
    refused(command.evaluate(qrels, lines, *flags.split()), message, f"hint: --{choice} {others}")


def test_what_an_error_policy_does_not_forbid(command, core):
    flags = ("--missing", "error", "--undefined", "error", "--extra", "error")
    assert command.evaluate("q1 0 d1 1\n", RUN, *flags).code == 0
    # A formula that is simply 0 without relevant documents is not undefined.
    assert command.evaluate("q1 0 d1 0\n", RUN, *flags, "-m", "RR", "-m", "P@5").code == 0


@pytest.mark.parametrize(
    ("measure", "lines"),
    [
        ("nDCG(gain=0-1-10)@10", ["gain=0-1-10: no weight for these grades in the judgments: 0.5, 3"]),
        (
            "DCG(gain={0.5:1,1:2,3:4})",
            [
                "gain={0.5:1,1:2,3:4}: no weight for these grades in the judgments: 0",
                "hint: include the weight of grade 0",
            ],
        ),
    ],
)
def test_grades_without_a_weight(command, core, measure, lines):
    refused(command.evaluate("q1 0 d1 3\nq1 0 d2 0\nq1 0 d3 .5\nq1 0 d4 1\nq1 0 d5 -1\n", RUN, "-m", measure), *lines)


def test_gains_that_are_too_large(command, core):
    assert command.evaluate("q1 0 d1 963\n", RUN, "-m", "nDCG(gain=exp2)@10").code == 0
    refused(
        command.evaluate("q1 0 d1 1024\n", RUN, "-m", "nDCG(gain=exp2)@10"),
        "gain=exp2: the gain of grade 1024 is too large",
    )


def test_grades_above_the_scale(command, core):
    refused(
        command.evaluate("q1 0 d1 2.5\n", RUN, "--scale", "2"), "qrels: expected grades up to the scale 2, found 2.5"
    )


# -- Wrong usage -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("measure", "lines"),
    [
        ("Sucess@5", ["unknown measure 'Sucess'", "hint: did you mean Success or SwetsE?"]),
        ("NumQ(rel=1)", ["NumQ: unknown parameter 'rel'", "hint: NumQ takes no parameters"]),
        ("AnCG", ["nCG: average=ranks requires a cutoff", "hint: write nCG(average=ranks)@10"]),
        ("IPrec@1.5", ["IPrec: recall: expected a number from 0 to 1, found 1.5"]),
        ("nDCG@ten", ["nDCG: cutoff: expected a number, found 'ten'"]),
        ("P(rel=-1)@5", ["P: rel: expected a number of at least 0, found -1"]),
        ("nDCG(base=1)@5", ["nDCG: base: expected a number above 1 or e, found 1"]),
        (
            "nDCG@10@5",
            [
                "measure: expected Name, Name@k or Name(parameter=value, ...)@k, found 'nDCG@10@5'",
                "hint: for example nDCG@10 or nDCG(gain=0-1-10-100, discount=jarvelin2002)@100",
            ],
        ),
    ],
)
def test_measures(command, measure, lines):
    """All that is said of them is in tests/measures/test_grammar.py."""
    refused(command.evaluate(QRELS, RUN, "-m", measure), *lines, code=2)


@pytest.mark.parametrize("name", ["nDGC", "NDGC", "Ndgc"])
def test_the_name_that_is_printed_is_the_one_suggested(command, name):
    hint = command.evaluate(QRELS, RUN, "-m", f"{name}@10").err.splitlines()[1]
    assert "nDCG" in hint.removeprefix("hint: did you mean ").removesuffix("?").split(" or ")


@pytest.mark.parametrize(
    ("flags", "lines"),
    [
        ("--rel high", ["--rel: expected a number, found 'high'"]),
        ("--rel nan", ["--rel: expected a number, found 'nan'"]),
        ("--scale x", ["--scale: expected a number, found 'x'"]),
        ("--scale 1e999", ["--scale: expected a finite number, found '1e999'"]),
        ("--depth 0", ["depth: expected 'all' or a whole number of at least 1, found '0'"]),
        ("--depth 1.5", ["depth: expected 'all' or a whole number of at least 1, found '1.5'"]),
        ("--depth some", ["depth: expected a number, found 'some'"]),
        ("--grade-zero -1", ["grade-zero: expected a number of at least 0, found -1"]),
        ("--baseline bm25", ["--baseline: no run is called 'bm25'; runs: r"]),
        ("--baseline r.run", ["--baseline: no run is called 'r.run'; runs: r"]),
        ("--name a --name b", ["--name: expected one for each of 1 run, found 2"]),
    ],
)
def test_options(command, flags, lines):
    refused(command.evaluate(QRELS, RUN, *flags.split()), *lines, code=2)


@pytest.mark.parametrize(
    "flags",
    [
        ("--places", "18"),
        ("--places", "-1"),
        ("--threads", "0"),
        ("--format", "xml"),
        ("--ties", "docid"),
        ("--judges", "mode"),
        ("--like", "trec_eval-8"),
        ("--unknown",),
    ],
)
def test_options_that_click_checks(command, flags):
    result = command.evaluate(QRELS, RUN, *flags)
    assert (result.code, result.out) == (2, "")
    message, *hint = result.err.splitlines()
    if len(flags) == 1:
        assert (message, hint) == (f"no option {flags[0]}", ["hint: gainful eval --help lists all"])
    else:
        # What the option takes is said at once.
        assert message.startswith(f"{flags[0]}: expected ") and message.endswith(f", found '{flags[1]}'") and not hint


def test_missing_arguments(command):
    example = "hint: for example: gainful eval qrels.txt bm25.run dense.run.gz -m nDCG@10 -m AP"
    refused(command("eval"), "Missing argument 'QRELS'", example, code=2)
    refused(command("eval", "qrels"), "Missing argument 'RUNS...'", example, code=2)
    message, hint = command("whydiff", "qrels", "r.run", "nDCG@10", "0.45").err.splitlines()
    assert message.startswith("Got unexpected extra arguments")
    assert hint.startswith("hint: for example: gainful whydiff")


def test_a_baseline_that_is_nearly_a_run(command):
    command.write("qrels", QRELS)
    command.write("bm25.run", RUN)
    command.write("dense.run", RUN)
    refused(
        command("eval", "qrels", "bm25.run", "dense.run", "--baseline", "BM25.run"),
        "--baseline: no run is called 'BM25.run'; runs: bm25, dense",
        "hint: did you mean bm25?",
        code=2,
    )


def test_names_that_are_not_distinct(command):
    command.write("qrels", QRELS)
    command.write("a.run", RUN)
    command.write("b.run", RUN)
    hint = "hint: use --name to choose names"
    refused(command("eval", "qrels", "a.run", "a.run"), "duplicate run name 'a.run'", hint, code=2)
    refused(
        command("eval", "qrels", "a.run", "b.run", "--name", "x", "--name", "x"), "duplicate run name 'x'", hint, code=2
    )
    refused(
        command("eval", "qrels", "a.run", "b.run", "--name", "x"),
        "--name: expected one for each of 2 runs, found 1",
        code=2,
    )


@pytest.mark.parametrize(
    "arguments",
    [
        "eval - -",
        "eval - r.run -",
        "eval qrels - -",
        "check - -",
        "compare - r.run r.run --groups -",
        "compare --from - --groups old=a,b --groups -",
        "compare --from - --from -",
        "curves - -",
        "explain RR --qrels - --run -",
        "judgments - -",
        "judgments - qrels --run -",
        "papers jarvelin2002 --qrels - --runs r.run --other-qrels -",
        "papers jarvelin2002 --qrels - --runs -",
        "papers jarvelin2002 --qrels qrels --runs - --runs -",
        "papers jarvelin2008 --qrels - --sessions -",
        "papers jarvelin2008 --qrels qrels --sessions - --topics -",
        "power - -",
        "sensitivity - r.run --scenarios -",
        "sensitivity qrels - --scenarios -",
        "sessions qrels - --topics -",
        "sessions qrels - --ratings -",
        "whydiff - - --mine 0.5",
    ],
)
def test_standard_input_twice(files, arguments):
    refused(files(*arguments.split()), "standard input (-) is given twice, but can be read only once", code=2)


def test_all_files_that_commands_read_are_known():
    """One rule refuses standard input that is named twice: it knows of all files that have this type."""
    commands = {name: cli.get_command(None, name) for name in COMMANDS}
    others = {
        option.name
        for each in commands.values()
        for option in each.params
        if isinstance(option.type, click.Path) and option.type is not INPUT
    }
    assert others == {"output", "path", "figure", "out"}


def test_codes_of_a_process(files):
    """That of success is asked where a command in a process prints what it does here."""
    files.write("bad.run", "q1 Q0 d1 1 1\n")
    assert files.process("eval", "qrels", "r.run", "-m", "zzz").returncode == 2
    bad = files.process("eval", "qrels", "bad.run")
    assert (bad.returncode, bad.stdout) == (3, b"")
    assert bad.stderr.decode().splitlines() == ["bad.run:1: expected 6 fields, found 5", RUN_HINT, "    q1 Q0 d1 1 1"]
