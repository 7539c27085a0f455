"""`gainful whydiff`: its page, options and exit codes."""

from __future__ import annotations

import csv
import gzip
import io
import math
import re
import shlex
from collections.abc import Callable

import pytest

from gainful.tasks import whydiff as conventions
from tests.together import together

# The grades of the documents, as they come: 3 2 3 0 1 2; two more, of grades 3 and 2, were not retrieved.
QRELS = "".join(f"q 0 d{i} {grade}\n" for i, grade in enumerate([3, 2, 3, 0, 1, 2, 3, 2], 1))
RUN = "".join(f"q Q0 d{i} {i} {10 - i} t\n" for i in range(1, 7))

#: Queries with ties, without answer, without anything relevant.
GAPS = "a 0 d1 1\na 0 d2 3\na 0 d3 2\nb 0 d1 2\nc 0 d1 0\nd 0 d1 1\nd 0 d2 2\n"
ANSWERS = "a Q0 d1 1 5 t\na Q0 d2 2 5 t\na Q0 d3 3 5 t\nc Q0 d1 1 1 t\nd Q0 d3 1 3 t\nd Q0 d2 2 2 t\nd Q0 d1 3 1 t\n"


def discounted(gains: list[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


@pytest.fixture
def whydiff(command) -> Callable:
    def run(*arguments: str, qrels: str = QRELS, lines: str = RUN, stdin: bytes = b""):
        command.write("qrels", qrels)
        command.write("r.run", lines)
        return command("whydiff", "qrels", "r.run", *arguments, stdin=stdin)

    return run


def rows(result) -> list[dict[str, object]]:
    """Return the lines of the table among the JSON lines."""
    return [line for line in result.lines if "conventions" in line]


# -- The page ----------------------------------------------------------------------------------------------------------


def test_two_figures(whydiff) -> None:
    result = whydiff("--mine", "0.961", "--theirs", "0.785", "-m", "nDCG@6")
    assert (result.code, result.err) == (0, "")
    text = " ".join(result.out.split())
    assert "nDCG@6 is 0.785002 at the start." in text
    assert re.search(r"mine +0\.961 +0\.96081 +-0\.00019 +1 +ideal=retrieved +scikit-learn, torchmetrics", result.out)
    assert re.search(r"theirs +0\.785 +0\.78500 +0\.00000 +0 +none +gainful, trec_eval 9", result.out)
    assert "ideal=retrieved: the ideal list contains retrieved documents only" in text
    assert "The data do not distinguish: all values of missing, undefined," in text
    assert "mine 0.961: ideal=retrieved (as scikit-learn, torchmetrics). The same with ideal=shown." in text
    assert "theirs 0.785: no changes (as gainful, trec_eval 9.0.8 and 8 more)." in text
    assert text.endswith("The figures differ in: ideal (retrieved, judged).")


CUT = "the figure is its first digits, truncated"


@together(
    ("figures", "code", "expected", "absent"),
    [
        ("--mine 0.961", 0, "mine 0.961: ideal=retrieved", "The figures"),
        ("--theirs 0.961", 0, "theirs 0.961: ideal=retrieved", "The figures"),
        ("--mine 0.79 --theirs 0.785", 0, "The same conventions give both figures.", "The figures differ"),
        (
            "--mine 0.961 --theirs 0.1234",
            1,
            "theirs 0.1234: not reproduced; the nearest is off by",
            "The figures differ",
        ),
        # The value is 0.9608082: that was rounded, cut off, and neither.
        ("--mine 0.96081", 0, "mine 0.96081: ideal=retrieved", CUT),
        ("--mine 0.96080", 1, CUT, "The figures"),
        ("--mine 0.96082", 1, "not reproduced", CUT),
        ("--theirs 0.5", 0, "With several changes this may be a coincidence (", "not reproduced"),
        (
            "--mine 96.1",
            0,
            "96.1 lies outside 0..1; as a percentage it is 0.961, which can be reproduced: ideal",
            CUT,
        ),
        (
            "--mine 12.34",
            1,
            "12.34 lies outside 0..1; as a percentage it is 0.1234: not reproduced; the nearest is",
            CUT,
        ),
        ("--mine -0.785", 1, "mine -0.785 lies outside 0..1: not reproduced; the nearest is off by +", "percentage"),
        ("--mine -1 -m DCG@6", 1, "mine -1 lies outside 0..: not reproduced; the nearest is off by +", "percentage"),
    ],
)
def test_conclusions(whydiff, figures: str, code: int, expected: str, absent: str) -> None:
    result = whydiff(*([] if "-m" in figures.split() else ["-m", "nDCG@6"]), *figures.split())
    text = " ".join(result.out.split())
    assert (result.code, expected in text, absent in text) == (code, True, False), text


def test_the_rows_of_a_figure(whydiff) -> None:
    value = discounted([3, 2, 3, 0, 1, 2]) / discounted([3, 3, 2, 2, 1, 0])
    assert f"{value:.7f}" == "0.9608082"
    nearest = whydiff("--theirs", "0.1234", "-m", "nDCG@6").out
    row = next(line.split() for line in nearest.splitlines() if line.startswith("theirs"))
    assert float(row[3]) == pytest.approx(float(row[2]) - 0.1234, abs=1e-6)
    assert re.search(r"theirs: \d+ more ways to obtain 0\.5", whydiff("--theirs", "0.5", "-m", "nDCG@6").out)
    per_cent = whydiff("--mine", "96.1", "-m", "nDCG@6").out
    assert re.search(r"mine +96\.1% +0\.96081 +-0\.00019 +1 +ideal=retrieved", per_cent)


@pytest.mark.parametrize(
    ("gains", "measure", "options"),
    [
        (([1, 7, 3], [0, 3, 1]), "nDCG@3", ["gain=exp2", "--ties docid-asc", "--missing skip"]),
        (([1, 3, 2], [0, 2, 1]), "nDCG@3", ["--ties docid-asc", "--missing skip"]),
        (([2, 3, 1], [0, 2, 1]), "nDCG(gain=exp2)@3", ["-m nDCG@3", "--missing skip"]),
    ],
)
def test_eval_prints_the_value_on_the_page(whydiff, command, gains, measure: str, options: list[str]) -> None:
    # The mean over the three answered queries, one of which has nothing relevant.
    mean = sum(discounted(list_) / discounted(sorted(list_, reverse=True)) for list_ in gains) / 3
    result = whydiff("--theirs", f"{mean:.6f}", "-m", measure, qrels=GAPS, lines=ANSWERS)
    assert result.code == 0
    said = re.search(r"prints it with (.*?)\.( |$)", " ".join(result.out.split()))
    assert said is not None and all(option in said[1] for option in options)
    row = command("eval", "qrels", "r.run", *shlex.split(said[1]), "--format", "jsonl").lines[1]
    assert row["value"] == pytest.approx(mean, abs=1e-12)


def command_said(result) -> list[str]:
    """Return the command in the text, with file names filled in."""
    said = re.search(r"gainful (explain .*) prints it\.", " ".join(result.out.split()))
    assert said is not None
    return shlex.split(said[1].replace("QRELS", "qrels").replace("RUN", "r.run"))


def test_explain_prints_the_value_of_a_query_on_the_page(whydiff, command) -> None:
    value = discounted([1, 7, 3]) / discounted([7, 3, 1])
    arguments = ("--theirs", f"{value:.6f}", "--query", "a", "-m", "nDCG@3")
    said = command_said(whydiff(*arguments, qrels=GAPS, lines=ANSWERS))
    assert said == [
        *("explain", "nDCG(gain=exp2)@3", "--qrels", "qrels", "--run", "r.run", "--query", "a", "--ties", "docid-asc")
    ]
    [explanation] = command(*said, "--format", "jsonl").lines[0]["explanations"]
    assert explanation["runs"][0]["value"] == pytest.approx(value, abs=1e-12)


def test_the_command_that_prints_it_has_the_scale(whydiff, command) -> None:
    # Grades as shares of the scale 5, by which nothing but the scale can tell how much they are.
    value = discounted([grade / 5 for grade in [3, 2, 3, 0, 1, 2]])
    result = whydiff("--theirs", f"{value:.6f}", "-m", "DCG@6", "--scale", "5")
    said = re.search(r"gainful eval prints it with (.*?)\.( |$)", " ".join(result.out.split()))
    assert said is not None and said[1] == "-m 'DCG(gain=scaled)@6' --scale 5"
    row = command("eval", "qrels", "r.run", *shlex.split(said[1]), "--format", "jsonl").lines[1]
    assert row["value"] == pytest.approx(value, abs=1e-12)


def test_the_command_that_prints_it_takes_duplicates(whydiff, command) -> None:
    # Nothing departs from the start, but eval refuses such a run unless it is told what to do.
    lines = "q Q0 d1 1 9 t\nq Q0 d1 2 8 t\nq Q0 d4 3 7 t\n"
    result = whydiff("--mine", "0.3333", "-m", "P@3", lines=lines)
    assert "mine 0.3333: no changes" in result.out
    assert "gainful eval prints it with -m P@3 --duplicates first." in " ".join(result.out.split())
    printed = command("eval", "qrels", "r.run", "-m", "P@3", "--duplicates", "first", "--format", "jsonl").lines[1]
    assert printed["value"] == pytest.approx(1 / 3)


# -- Options -----------------------------------------------------------------------------------------------------------


def test_the_search_starts_from_the_policy(whydiff) -> None:
    a, d = discounted([2, 3, 1]) / discounted([3, 2, 1]), discounted([0, 2, 1]) / discounted([2, 1])
    figure = f"{(a + d) / 2:.5f}"
    arguments = ("--theirs", figure, "-m", "nDCG@3", "--format", "jsonl")
    plain = whydiff(*arguments, qrels=GAPS, lines=ANSWERS)
    assert rows(plain)[0]["conventions"] == "missing=skip, undefined=skip"
    flags = ("--missing", "skip", "--undefined", "skip")
    assert rows(whydiff(*arguments, *flags, qrels=GAPS, lines=ANSWERS))[0]["conventions"] == "none"
    like = whydiff(*arguments, "--like", "trec_eval-9", qrels=GAPS, lines=ANSWERS)
    assert rows(like)[0]["conventions"] == "undefined=skip"
    assert like.lines[0]["start"]["scores"] == "float32"


def test_a_query(whydiff) -> None:
    value = discounted([1, 7, 3]) / discounted([7, 3, 1])
    result = whydiff("--theirs", f"{value:.4f}", "--query", "a", "-m", "nDCG(gain=exp2)@3", qrels=GAPS, lines=ANSWERS)
    assert result.code == 0 and "of query a" in result.out
    assert "theirs" in result.out and "ties=docid-asc" in result.out


def test_how_many_are_shown_and_how_far_is_searched(whydiff) -> None:
    arguments = ("-m", "nDCG@6", "--format", "jsonl")
    for number in (1, 2):
        assert len(rows(whydiff("--mine", "0.8", *arguments, "--most", str(number)))) == number
        found = rows(whydiff("--mine", "0.5", *arguments, "--most", "1000", "--departures", str(number)))
        # A known tool is tried however many departures it has.
        assert max([row["changes"] for row in found if row["known as"] is None], default=0) <= number


def test_formats(whydiff, command, found_once) -> None:
    found_once(conventions, "find_conventions")
    arguments = ("--mine", "0.961", "--theirs", "0.785", "-m", "nDCG@6")
    lines = rows(whydiff(*arguments, "--format", "jsonl"))
    table = list(csv.DictReader(io.StringIO(whydiff(*arguments, "--format", "csv").out)))
    assert [row["conventions"] for row in table] == [row["conventions"] for row in lines]
    assert [float(row["value"]) for row in table] == [row["value"] for row in lines]
    assert lines[0]["value"] == pytest.approx(discounted([3, 2, 3, 0, 1, 2]) / discounted([3, 3, 2, 2, 1, 0]))
    for format_ in ("markdown", "latex", "html", "trec"):
        assert "ideal" in whydiff(*arguments, "--format", format_).out
    whydiff(*arguments, "--output", "why.md")
    assert (command.directory / "why.md").read_text() == whydiff(*arguments, "--format", "markdown").out


def test_scale(whydiff) -> None:
    # Of a scale to 5 the highest gain is 5 at each of six ranks.
    value = discounted([3, 2, 3, 0, 1, 2]) / discounted([5] * 6)
    result = whydiff("--mine", f"{value:.5f}", "-m", "nDCG@6", "--scale", "5", "--format", "jsonl")
    assert rows(result)[0]["conventions"] == "ideal=highest"


def test_compressed_files_and_standard_input(whydiff, command) -> None:
    expected = whydiff("--mine", "0.961", "-m", "nDCG@6").out
    command.write("r.gz", gzip.compress(RUN.encode()))
    for files, stdin in ((("qrels", "r.gz"), ""), (("qrels", "-"), RUN), (("-", "r.run"), QRELS)):
        assert command("whydiff", *files, "--mine", "0.961", "-m", "nDCG@6", stdin=stdin.encode()).out == expected


def test_both_cores_and_any_threads_say_the_same(whydiff, use_core) -> None:
    lines = ANSWERS + "a Q0 d3 4 6 t\nd Q0 d2 4 9 t\n"
    outputs = set()
    for core in ("c++", "python"):
        use_core(core)
        for threads in ("1", "3"):
            result = whydiff("--mine", "0.4", "-m", "nDCG@3", "--threads", threads, qrels=GAPS, lines=lines)
            assert result.code == 0, result.err
            outputs.add(result.out)
    assert len(outputs) == 1


def test_the_order_of_lines_of_different_queries_does_not_matter(whydiff) -> None:
    arguments = ("--mine", "0.4", "-m", "nDCG@3")
    first = whydiff(*arguments, qrels=GAPS, lines=ANSWERS)
    groups = [line for query in "dca" for line in ANSWERS.splitlines(keepends=True) if line.startswith(query)]
    judgments = "".join(reversed(GAPS.splitlines(keepends=True)))
    assert whydiff(*arguments, qrels=judgments, lines="".join(groups)).out == first.out


# -- What is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((), 2, "--mine, --theirs or both are required"),
        (("--mine", "high"), 2, "--mine: expected a number, found 'high'"),
        (("--theirs", "nan"), 2, "--theirs: expected a number, found 'nan'"),
        (("--mine", "0.5", "--query", "nobody"), 2, "qrels: query 'nobody' is not judged"),
        (("--mine", "0.5", "--query", "q1"), 2, "hint: did you mean q?"),
        (("--mine", "0.5", "-m", "AP", "-m", "RR"), 2, "--measure: expected one measure, found 2: AP, RR"),
        (("--mine", "46.4%"), 2, "--mine: expected a number, found '46.4%'\nhint: write 0.464"),
        (("--theirs", "0,464"), 2, "--theirs: expected a number, found '0,464'\nhint: write 0.464"),
        (("--mine", "0.5", "-m", "nDGC"), 2, "unknown measure 'nDGC'"),
        (("--mine", "0.5", "-m", "nDCG(gain=0-1)@5"), 3, "no weight for these grades"),
        (("--mine", "0.5", "--departures", "0"), 2, "--departures"),
        (("--mine", "0.5", "--most", "0"), 2, "--most"),
        (("--mine", "0.5", "--scale", "1"), 3, "expected grades up to the scale 1"),
    ],
)
def test_refused(whydiff, arguments: tuple[str, ...], code: int, message: str) -> None:
    result = whydiff(*arguments)
    assert (result.code, result.out) == (code, "")
    assert message in result.err


def test_refused_files(whydiff, command) -> None:
    whydiff("--mine", "0.5")
    assert command("whydiff", "-", "-", "--mine", "0.5").code == 2
    assert command("whydiff", "qrels", "nowhere", "--mine", "0.5").code == 3
    command.write("bad.run", "q Q0 d1 1\n")
    result = command("whydiff", "qrels", "bad.run", "--mine", "0.5")
    assert result.code == 3 and "bad.run:1: expected 6 fields, found 4" in result.err
