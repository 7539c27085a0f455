"""`gainful papers plane`, and the options of figures."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path

import pytest

from gainful.cli.main import run

QRELS = "q1 0 a 2\nq1 0 b 0\nq1 0 c 1\nq2 0 a 1\n"
LISTS = {"one.run": "q1 Q0 b 1 3 one\nq1 Q0 a 2 2 one\n", "two.run": "q1 Q0 a 1 9 two\nq2 Q0 a 1 9 two\n"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "qrels.txt").write_text(QRELS)
    for name, text in LISTS.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def plane(*arguments: str) -> int:
    return run(["papers", "plane", "qrels.txt", "one.run", "two.run", *arguments])


@pytest.fixture(autouse=True)
def _in_folder(folder: Path) -> None:
    """Every test runs where the files are."""


def test_rows_of_machines(capsys):
    assert plane("--query", "q1", "-m", "ADM@2", "--format", "csv") == 0
    first, *others = capsys.readouterr().out.split("\n\n")
    signature, _, scores = first.split("\n", 2)
    assert signature.startswith("# ADM(") and "@2|order:score|" in signature
    [one, two] = csv.DictReader(io.StringIO(scores))
    # one: b has URS 0 and SRS 1, a URS 1 and SRS .5, c URS .5 and is not retrieved.
    assert (one["run"], float(one["ADM"]), float(one["ADP"])) == ("one", pytest.approx(1 / 3), pytest.approx(2 / 3))
    assert [one[name] for name in ("documents", "over", "under", "exact")] == ["3", "1", "2", "0"]
    assert (two["run"], float(two["ADR"])) == ("two", pytest.approx(0.75))
    documents = list(csv.DictReader(io.StringIO(others[0].split("\n", 1)[1])))
    assert [(row["document"], row["rank"], row["estimate"]) for row in documents] == [
        ("b", "1", "over"),
        ("a", "2", "under"),
        ("c", "", "under"),
    ]


def test_json_lines_open_with_what_was_asked(capsys):
    assert plane("--query", "q1", "-m", "ADR@2", "--threshold", "0.4", "--format", "jsonl") == 0
    header, *rows = map(json.loads, capsys.readouterr().out.splitlines())
    assert (header["command"], header["kind"], header["measure"], header["threshold"]) == (
        "papers",
        "plane",
        "ADM@2",
        0.4,
    )
    assert [row["document"] for row in rows if "document" in row] == ["b", "a", "c", "c", "a"]


def test_several_queries(capsys):
    assert plane("--query", "q1", "--query", "q2") == 0
    out = capsys.readouterr().out
    assert [f"{name}, query {query}\n" in out for query in ("q1", "q2") for name in ("one", "two")] == [True] * 4
    assert "one does not answer query q2" in " ".join(out.split())


def test_a_query_that_is_not_answered_is_noticed(capsys):
    assert plane("--query", "q1", "--query", "q2") == 0
    expected = "notice: one: 1 judged query not answered, drawn as empty lists: q2\n"
    assert capsys.readouterr().err == expected
    assert plane("--query", "q2", "--quiet") == 0
    assert not capsys.readouterr().err
    assert plane("--query", "q1") == 0  # q2 is missed, but nobody asks for it
    assert not capsys.readouterr().err


def test_missing_error_is_obeyed_as_by_eval(capsys):
    assert plane("--query", "q1", "--query", "q2", "--missing", "error") == 3
    caught = capsys.readouterr()
    assert (
        caught.err.startswith("one.run: 1 query ('q2') not answered, and missing=error forbids it") and not caught.out
    )
    assert run(["eval", "qrels.txt", "one.run", "-m", "ADM", "--missing", "error"]) == 3
    assert capsys.readouterr().err == caught.err
    assert plane("--query", "q1", "--missing", "error") == 0


def test_undefined_error_is_obeyed(folder, capsys):
    (folder / "qrels.txt").write_text("q1 0 a 0\nq2 0 a 1\n")
    arguments = ["--query", "q1", "-m", "ADM(over=relevant)"]
    assert plane(*arguments) == 0
    assert "ADM undefined" in capsys.readouterr().out
    assert plane(*arguments, "--undefined", "error") == 3
    assert "undefined=error forbids it" in capsys.readouterr().err


def test_what_is_suspicious_about_a_run_is_noticed(folder, capsys):
    (folder / "one.run").write_text("q1 Q0 x 2 3 one\nq1 Q0 a 1 2 one\nq9 Q0 a 2 9 one\nq9 Q0 b 1 1 one\n")
    assert plane("--query", "q1") == 0
    lines = capsys.readouterr().err.splitlines()
    (folder / "qrels.txt").write_text("".join(line + "\n" for line in QRELS.splitlines() if line.startswith("q1")))
    (folder / "one.run").write_text("q1 Q0 x 2 3 one\nq1 Q0 a 1 2 one\n")
    (folder / "two.run").write_text("q1 Q0 a 1 9 two\n")
    assert run(["eval", "qrels.txt", "one.run", "two.run", "-m", "ADM"]) == 0
    assert lines == capsys.readouterr().err.splitlines()
    assert any("rank column contradicts" in line for line in lines)
    assert any("unjudged documents in the top 10: one 50.0%" in line for line in lines)


def test_progress_counts_runs():
    from gainful.kernel.parallel import Progress, reporting_to
    from gainful_papers.dellamea2004.plane import score_planes

    told: list[tuple[int, int]] = []
    with reporting_to(Progress(lambda done, total: told.append((done, total)))):
        score_planes("qrels.txt", {"one": "one.run", "two": "two.run"}, ["q1"])
    assert told == [(0, 2), (1, 2), (2, 2)]


def test_figure(folder, capsys):
    assert plane("--query", "q1", "--figure", "f.png", "--figure-size", "1") == 0
    assert (folder / "f.png").read_bytes().startswith(b"\x89PNG")
    assert "one, query q1" in capsys.readouterr().out  # what is drawn is printed, too


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "missing option --query\nhint: judged queries are q1, q2\n"),
        (["--query", "q11"], "query 'q11' is not judged\nhint: did you mean q1"),
        (["--query", "q1", "-m", "AP"], "AP: expected ADM, ADP, ADR, Pstar or Rstar"),
        (["--query", "q1", "-m", "ADM", "-m", "ADP"], "--measure: expected one measure, found 2: ADM, ADP"),
        (["--query", "q1", "--threshold", "half"], "--threshold: expected a number, found 'half'"),
        (["--query", "q1", "--threshold", "3"], "threshold: expected a score from 0 to 1, found 3"),
        (
            ["--query", "q1", "--figure", "f.jpg"],
            "f.jpg: expected a figure that ends in .svg, .png, .pdf, found '.jpg'",
        ),
        (["--query", "q1", "--figure-size", "2"], "--figure-size needs --figure"),
        (["--query", "q1", "--no-title"], "--no-title needs --figure"),
        (["--query", "q1", "--no-signature"], "--no-signature needs --figure"),
        (["--query", "q1", "--figure", "no/f.svg"], "no/f.svg: cannot be written (folder no does not exist)"),
        (["--query", "q1", "-o", "f.svg"], "hint: use --figure f.svg for figures"),
    ],
)
def test_refusals(capsys, arguments, message):
    assert plane(*arguments) in (2, 3)
    caught = capsys.readouterr()
    assert message in caught.err and not caught.out


def test_without_matplotlib_nothing_begins(monkeypatch, capsys, folder):
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    (folder / "qrels.txt").unlink()  # nobody has looked for it yet
    assert plane("--query", "q1", "--figure", "f.svg") == 2
    assert capsys.readouterr().err == (
        "figures need the package matplotlib\nhint: install it with: pip install 'gainful[plot]'\n"
    )
    assert not (folder / "f.svg").exists()


def test_a_figure_is_no_file_that_is_read(folder, capsys):
    (folder / "one.svg").write_text(LISTS["one.run"])
    arguments = ["papers", "plane", "qrels.txt", "one.svg", "--query", "q1", "--figure", "one.svg"]
    assert run(arguments) == 2
    assert "--figure: one.svg is also an input file" in capsys.readouterr().err
