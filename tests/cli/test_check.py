"""`gainful check`: exit codes, the table, advice, formats, and agreement with eval."""

from __future__ import annotations

import gzip

import pytest

# Two queries with two judged documents each, and a run that has them in order.
QRELS = "q1 0 d1 2\nq1 0 d2 0\nq2 0 d1 1\nq2 0 d2 0\n"
CLEAN = "q1 Q0 d1 1 2 t\nq1 Q0 d2 2 1 t\nq2 Q0 d1 1 2 t\nq2 Q0 d2 2 1 t\n"
REPEATS = CLEAN + "q2 Q0 d1 3 0.5 t\n"
COLUMNS = "severity,check,run,count,of,example,consequence,remedy"

pytestmark = pytest.mark.usefixtures("core")


@pytest.fixture
def files(command):
    command.write("qrels.txt", QRELS)
    command.write("clean.run", CLEAN)
    command.write("repeats.run", REPEATS)
    return command


def test_clean_files(files):
    result = files("check", "qrels.txt", "clean.run")
    assert (result.code, result.err) == (0, "")
    assert result.out == "2 queries, 4 judgments, 1 run: no problems found.\n"
    assert files("check", "qrels.txt", "clean.run", "--format", "csv").out == COLUMNS + "\n"
    header, summary = files("check", "qrels.txt", "clean.run", "--format", "jsonl").lines
    assert (header["serious"], summary["text"][-18:]) == (0, "no problems found.")


def test_something_serious(files):
    result = files("check", "qrels.txt", "repeats.run")
    assert (result.code, result.err) == (1, "")
    assert result.out == (
        "2 queries, 4 judgments, 1 run: 1 serious finding.\n"
        "\n"
        "severity  check               run      count  of  example\n"
        "--------  ------------------  -------  -----  --  -----------------------------------\n"
        "serious   repeated-documents  repeats      1   5  line 5: q2 d1 again (first: line 3)\n"
        "\n"
        "repeated-documents: gainful eval refuses the run. Remove the repeats, or use\n"
        "--duplicates first to keep the best rank.\n"
    )


def test_the_same_in_a_process_of_its_own(files):
    here = files("check", "qrels.txt", "clean.run", "repeats.run")
    there = files.process("check", "qrels.txt", "clean.run", "repeats.run")
    assert (there.returncode, there.stdout.decode(), there.stderr.decode()) == (here.code, here.out, here.err)
    assert here.code == 1


def test_the_policy_decides(files):
    first = ("check", "qrels.txt", "repeats.run", "--duplicates", "first")
    assert (files(*first).code, "1 note." in files(*first).out) == (0, True)
    assert files(*first, "--quiet").out == "2 queries, 4 judgments, 1 run: no problems found.\n"
    files.write("half.run", CLEAN[: len(CLEAN) // 2])
    assert files("check", "qrels.txt", "half.run").code == 0  # a warning is no failure
    assert files("check", "qrels.txt", "half.run", "--missing", "error").code == 1
    assert files("check", "qrels.txt", "half.run", "--like", "trec_eval-10").code == 1
    files.write("twice.txt", QRELS + "q1 1 d1 0\n")
    assert files("check", "twice.txt", "clean.run").code == 1
    assert files("check", "twice.txt", "clean.run", "--subtopics").code == 0
    assert files("check", "twice.txt", "clean.run", "--judges", "max").code == 0


def test_grades_above_the_scale_are_a_finding(files):
    result = files("check", "qrels.txt", "clean.run", "--scale", "1")
    assert result.code == 1
    assert "serious   grades-above-scale  -        1   4  line 1: q1 d1, grade 2" in result.out.splitlines()
    assert files("check", "qrels.txt", "clean.run", "--scale", "2").code == 0
    assert files("eval", "qrels.txt", "clean.run", "--scale", "1").code == 3


def test_json_lines(files):
    header, summary, row, advice = files("check", "qrels.txt", "repeats.run", "--format", "jsonl").lines
    assert (header["command"], header["judgments"], header["runs"]) == ("check", "qrels.txt", ["repeats"])
    assert [header[severity] for severity in ("serious", "warning", "note")] == [1, 0, 0]
    assert summary["text"].endswith("1 serious finding.")
    assert (",".join(row), row["count"], row["of"]) == (COLUMNS, 1, 5)
    assert advice["text"].startswith("repeated-documents: gainful eval refuses the run.")


def test_other_formats_and_files(files):
    result = files("check", "qrels.txt", "repeats.run", "--output", "found.csv")
    assert (result.code, result.out) == (1, "")
    lines = (files.directory / "found.csv").read_text().splitlines()
    assert lines[0] == COLUMNS
    assert lines[1].startswith("serious,repeated-documents,repeats,1,5,")
    assert lines[1].endswith('the run.,"Remove the repeats, or use --duplicates first to keep the best rank."')
    trec = [
        line.split("\t") for line in files("check", "qrels.txt", "repeats.run", "--format", "trec").out.splitlines()
    ]
    assert [name.strip() for name, _, _ in trec] == COLUMNS.split(",")[3:]
    assert "repeated-documents" in files("check", "qrels.txt", "repeats.run", "--format", "markdown").out


@pytest.mark.parametrize("format_", ["table", "markdown", "html", "latex"])
def test_people_read_the_advice_once(files, format_):
    out = files("check", "qrels.txt", "repeats.run", "--format", format_).out
    assert " ".join(out.replace("%", "").split()).count("Remove the repeats, or use") == 1
    clean = files("check", "qrels.txt", "clean.run", "--format", format_).out
    assert "no problems found" in clean and "severity" not in clean and "tabular}" not in clean


def test_compressed_files_and_standard_input(files):
    files.write("repeats.run.gz", gzip.compress(REPEATS.encode()))
    plain = files("check", "qrels.txt", "repeats.run")
    assert files("check", "qrels.txt", "repeats.run.gz").out == plain.out
    assert files("check", "qrels.txt", "-", "--name", "repeats", stdin=REPEATS.encode()).out == plain.out
    assert files("check", "-", "repeats.run", stdin=QRELS.encode()).out == plain.out


def test_line_ends_and_comments_count_as_lines(files):
    text = ("# made by hand\n\n" + REPEATS).replace("\n", "\r\n")
    files.write("dos.run", b"\xef\xbb\xbf" + text.encode())
    assert "line 7: q2 d1 again (first: line 5)" in files("check", "qrels.txt", "dos.run").out


def test_bad_input_is_an_error_as_everywhere(files):
    files.write("bad.run", "q1 Q0 d1 1 1\n")
    result = files("check", "qrels.txt", "bad.run")
    assert (result.code, result.out) == (3, "")
    assert result.err.startswith("bad.run:1: expected 6 fields, found 5\n")
    assert files("check", "qrels.txt", "none.run").err == "none.run: no such file\n"


def test_wrong_usage(files):
    assert files("check", "qrels.txt").code == 2
    assert files("check", "-", "-").code == 2
    assert files("check", "qrels.txt", "clean.run", "--scale", "high").code == 2
    assert files("check", "qrels.txt", "clean.run", "--name", "a", "--name", "b").code == 2


def test_the_demo_is_clean(files, demo_files):
    names = ("tfidf.run", "bm25.run", "dense.run.gz", "hybrid.run", "reranker.run")
    result = files("check", *(str(demo_files / name) for name in ("qrels.txt", *names)))
    assert (result.code, result.out) == (0, "50 queries, 4,657 judgments, 5 runs: no problems found.\n")
