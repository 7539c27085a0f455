"""`--format` and `--output`: the destination and format of results."""

from __future__ import annotations

import csv
import gzip
import json
import os
import shutil
import subprocess
import sys

import pytest

from gainful.evaluation import evaluate as evaluation
from gainful.measures.catalog import ALL_FAMILIES, ALL_MEASURES
from gainful.render import ENDINGS, FORMATS

QRELS = "q1 0 d1 1\nq1 0 d3 0\nq2 0 d1 1\n"
RUN = "q1 Q0 d1 1 2 t\nq1 Q0 d2 2 1 t\n"
NOTICES = (
    "notice: r: 1 judged query not answered, given the worst score (missing=zero): q2\n"
    "notice: unjudged documents in the top 10: r 50.0%; Judged@10 also counts queries without results, as 0\n"
)


@pytest.fixture
def files(command):
    command.write("qrels", QRELS)
    command.write("r.run", RUN)
    return command


@pytest.mark.parametrize("format_", FORMATS)
def test_a_file_holds_what_would_be_printed(files, format_):
    printed = files("eval", "qrels", "r.run", "--by-query", "--format", format_, "--signature")
    assert (printed.code, printed.err) == (0, NOTICES)
    result = files("eval", "qrels", "r.run", "--by-query", "--format", format_, "--output", "results")
    assert (result.code, result.out, result.err) == (0, "", NOTICES)
    assert (files.directory / "results").read_text() == printed.out


@pytest.mark.parametrize(("ending", "format_"), ENDINGS.items())
def test_the_ending_chooses_the_format(files, ending, format_):
    printed = files("eval", "qrels", "r.run", "--format", format_, "-q", "--signature")
    result = files("eval", "qrels", "r.run", "-o", f"results{ending}", "-q")
    assert (result.code, result.out, result.err) == (0, "", "")
    assert (files.directory / f"results{ending}").read_text() == printed.out


def test_a_format_beats_the_ending(files):
    assert files("eval", "qrels", "r.run", "-m", "RR", "-o", "results.csv", "--format", "trec", "-q").code == 0
    assert "\nrecip_rank            \tall\t0.5000\n" in (files.directory / "results.csv").read_text()


def test_further_values_that_cannot_be_printed(files):
    for flags, says in (
        ("--loss --format trec", "--bounds, --chance and --loss have no lines in trec_eval's format"),
        ("--loss-ranks 5", "--loss-ranks needs --loss\n"),
    ):
        result = files("eval", "qrels", "r.run", "-m", "RR", *flags.split())
        assert result.code == 2 and says in result.err and not result.out


def test_csv_for_spreadsheets(files):
    assert files("eval", "qrels", "r.run", "-m", "RR", "-m", "NumRel", "--by-query", "-o", "r.csv", "-q").code == 0
    with (files.directory / "r.csv").open(newline="") as file:
        assert file.readline().startswith("# order:score|")
        assert list(csv.reader(file)) == [
            ["run", "query", "RR", "NumRel"],
            ["r", "q1", "1.0", "1"],
            ["r", "q2", "0.0", "1"],
            ["r", "", "0.5", "2"],
        ]


def test_compressed(files):
    assert files("eval", "qrels", "r.run", "-m", "RR", "-o", "r.csv.gz", "-q").code == 0
    assert gzip.decompress((files.directory / "r.csv.gz").read_bytes()).endswith(b"\nrun,RR\nr,0.5\n")


def test_a_dash_is_standard_output(files):
    result = files("eval", "qrels", "r.run", "-o", "-", "-q")
    assert (result.code, result.out) == (0, files("eval", "qrels", "r.run", "-q").out)
    assert not (files.directory / "-").exists()


def test_bytes_that_are_not_utf8_stay_themselves(command):
    command.write("qrels", b"q\xff 0 d 1\n")
    command.write("r.run", b"q\xff Q0 d 1 1 t\n")
    for format_ in ("csv", "trec"):
        result = command.process("eval", "qrels", "r.run", "-m", "RR", "--by-query", "--format", format_)
        assert b"q\xff" in result.stdout
        assert command("eval", "qrels", "r.run", "-m", "RR", "--by-query", "--format", format_, "-o", "out").code == 0
        assert (command.directory / "out").read_bytes() == result.stdout
    for format_ in ("markdown", "latex", "html", "table"):
        shown = command("eval", "qrels", "r.run", "-m", "RR", "--by-query", "--format", format_)
        assert (shown.code, shown.err) == (0, "")
        assert "xff" in shown.out


# -- What goes wrong ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["results", "results.xlsx", ".csv"])
def test_an_ending_that_says_nothing(command, name):
    # The judgments do not exist either: it is refused before anything is read.
    result = command("eval", "no-qrels", "no-run", "-o", name)
    assert (result.code, result.out) == (2, "")
    message, hint = result.err.splitlines()
    assert message.startswith(f"{name}: expected a name that ends in {', '.join(ENDINGS)}, found ")
    assert hint == f"hint: or set the format: {' | '.join(FORMATS)}"


def test_a_folder_that_does_not_exist(command):
    result = command("eval", "no-qrels", "no-run", "-o", "none/results.csv")
    assert (result.code, result.out) == (3, "")
    assert result.err == "none/results.csv: cannot be written (folder none does not exist)\n"


def test_a_folder_is_no_file(files):
    (files.directory / "results.csv").mkdir()
    result = files("eval", "qrels", "r.run", "-o", "results.csv")
    assert (result.code, result.out) == (2, "")
    assert "'results.csv' is a directory" in result.err


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt(), 130), (ZeroDivisionError(), 70)])
def test_what_fails_leaves_the_old_file(files, monkeypatch, error, code):
    def fail(*arguments, **options):
        raise error

    files.write("results.csv", "old\n")
    before = sorted(os.listdir(files.directory))
    monkeypatch.setattr("gainful.render.text_formats._csv_line", fail)
    assert files("eval", "qrels", "r.run", "-o", "results.csv").code == code
    monkeypatch.setattr(evaluation, "evaluate_runs", fail)
    assert files("eval", "qrels", "r.run", "-o", "results.csv").code == code
    assert (files.directory / "results.csv").read_text() == "old\n"
    assert sorted(os.listdir(files.directory)) == before


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk(files, environment):
    result = files("eval", "qrels", "r.run", "-o", "/dev/full", "--format", "csv", "-q")
    assert (result.code, result.out) == (3, "")
    assert result.err == "/dev/full: cannot be written (No space left on device)\n"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_reader_who_has_seen_enough(command, environment):
    """Like `gainful eval ... -o pipe` with `head -1 < pipe`: quiet, and no failure."""
    command.write("qrels", "".join(f"q{i} 0 d 1\n" for i in range(20_000)))
    command.write("r.run", "".join(f"q{i} Q0 d 1 1 t\n" for i in range(20_000)))
    os.mkfifo(command.directory / "pipe.csv")
    with subprocess.Popen(
        [sys.executable, "-m", "gainful", "eval", "qrels", "r.run", "--by-query", "-o", "pipe.csv"],
        stderr=subprocess.PIPE,
        cwd=command.directory,
        env=environment(),
    ) as process:
        with (command.directory / "pipe.csv").open("rb") as pipe:
            assert pipe.readline().startswith(b"# order:")
        assert process.stderr is not None
        assert process.stderr.read() == b""
    assert process.returncode == 0


# -- measures ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format_", FORMATS)
def test_measures_in_every_format(command, format_):
    result = command("measures", "--format", format_)
    assert (result.code, result.err) == (0, "")
    for name in ALL_MEASURES:
        assert name in result.out
    assert command("measures", "-o", "list", "--format", format_).out == ""
    assert (command.directory / "list").read_text() == result.out


def test_measures_as_csv(command):
    assert command("measures", "-o", "measures.csv").code == 0
    with (command.directory / "measures.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["measure"], row["family"]) for row in rows] == [
        (name, family) for family, names in ALL_FAMILIES.items() for name in names
    ]
    described = {row["name"]: row["claim"] for row in command("measures", "--format", "jsonl").lines}
    assert {row["measure"]: row["description"] for row in rows} == described


@pytest.mark.usefixtures("small_demo")
def test_demo_leaves_no_half_written_results(command, demo_files, monkeypatch):
    shutil.copytree(demo_files, command.directory / "gainful-demo")
    results = command.directory / "gainful-demo/results.jsonl"
    before = results.read_bytes()
    monkeypatch.setattr(json, "dumps", lambda line: 1 / 0)
    assert command("demo", "--seed", "1").code == 70
    assert results.read_bytes() == before


@pytest.mark.parametrize("name", ["eval", "compare", "curves", "sensitivity", "stability", "agree"])
def test_pages_for_browsers_have_the_notices(command, name):
    command.write("qrels", "".join(f"q{i} 0 d1 2\nq{i} 0 d2 1\nq{i} 0 d3 0\n" for i in range(4)))
    command.write("a.run", "".join(f"q{i} Q0 d1 1 2 t\nq{i} Q0 x 2 1 t\n" for i in range(4)))
    command.write("b.run", "".join(f"q{i} Q0 d{1 + i % 2} 1 2 t\nq{i} Q0 d{2 - i % 2} 2 1 t\n" for i in range(4)))
    measures = () if name in ("curves", "sensitivity") else ("-m", "RR", "-m", "nDCG@10")
    result = command(name, "qrels", "a.run", "b.run", *measures, "-o", "page.html", "--quiet")
    assert result.code == 0, result.err
    assert "notice: unjudged documents in the top 10: a 50.0%" in (command.directory / "page.html").read_text(
        encoding="utf-8"
    )
