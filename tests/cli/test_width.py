"""Printed output fits the terminal; files and pipes contain complete tables."""

from __future__ import annotations

import io
import re
import shutil
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from gainful.cli import options
from gainful.cli.main import COMMANDS, run
from gainful.cli.options import Quiet
from gainful.pages.charts import Chart
from gainful.pages.page import Page
from gainful.render import FORMATS, text, write
from gainful.render.cells import Paragraph

RUNS = ("qrels.txt", "tfidf.run", "bm25.run", "dense.run.gz", "hybrid.run", "reranker.run")
PAIR = ("qrels.txt", "bm25.run", "dense.run.gz")
QUERY = "q001"
MEASURES = tuple(
    text
    for measure in ("nDCG@10", "AP", "RR", "P@10", "R@100", "ERR@10", "RBP(p=0.5)", "Rprec", "Bpref")
    for text in ("-m", measure)
)
SESSIONS = "session,query,rank,document\n" + "".join(
    f"{session},{query},{rank},d{session}{query}{rank}\n" for session in (1, 2) for query in (1, 2) for rank in (1, 2)
)
OF = ("", "one", "two")
JUDGED = "".join(f"{s}{of} 0 d{s}{query}1 {query}\n" for of in OF for s in (1, 2) for query in (1, 2))

#: Every command with what makes it print most.
COMMAND_LINES = [
    ("eval", *RUNS, "--baseline", "bm25", *MEASURES),
    ("eval", *PAIR, "--by-query", "-m", "nDCG(gain=0-1-10-100, discount=jarvelin2002)@100"),
    ("compare", *PAIR, "-m", "nDCG@10", "-m", "AP"),
    ("compare", *RUNS, "--all"),
    ("compare", *RUNS, "--baseline", "bm25", "--chart", "p"),
    ("compare", *RUNS, "--chart", "critical"),
    ("papers", "table", *RUNS),
    ("compare", *RUNS, "--procedure", "tukey"),
    ("compare", *RUNS, "--margin", "0.01"),
    ("compare", *PAIR, "--test", "bayes", "--margin", "0.01"),
    ("compare", *PAIR, "--sequential"),
    ("gate", "check", "gate.json", "qrels.txt", "reranker.run"),
    ("gate", "history", "gate.json"),
    ("compare", "--sessions", "judged.txt", "one.csv", "two.csv", "--procedure", "anova"),
    ("compare", *RUNS[:-1], "--factors", "factors.csv"),
    ("explain", "nDCG@10", "ERR@10"),
    ("explain", "AP", "--qrels", "qrels.txt", "--run", "bm25.run", "--run", "dense.run.gz", "--query", QUERY),
    ("curves", *PAIR),
    ("curves", *PAIR, "--kind", "recall"),
    ("papers", "plane", *PAIR, "--query", QUERY),
    ("sessions", "judged.txt", "sessions.csv"),
    ("sensitivity", *RUNS),
    ("whydiff", "qrels.txt", "bm25.run", "--mine", "0.464"),
    ("check", *RUNS),
    ("judgments", "qrels.txt"),
    ("judgments", "qrels.txt", "qrels.txt"),
    ("judge-next", *RUNS, "-n", "5", "--queries", "queries.csv"),
    ("diff", *RUNS[1:], "--k", "5,10", "--queries", "queries.csv", "--by", "kind", "--detail"),
    ("agree", *RUNS),
    ("stability", *RUNS),
    ("power", *PAIR),
    ("papers",),
    *(("papers", key) for key in ("jarvelin2000", "jarvelin2002", "jarvelin2008", "dellamea2004")),
]
#: Those that write lines of their own.
OWN_LINES = [("demo", "--out", "again"), ("report", *RUNS, "-o", "page.html"), ("measures",), ("--version",)]
#: What other programs read: a script, and the lines of trec_eval.
NOT_FOR_PEOPLE = {"completion", "trec_eval"}


WIDTHS = (60, 80, 120)


class Terminal(io.StringIO):
    """Output to a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory, demo_files: Path) -> Path:
    folder = shutil.copytree(demo_files, tmp_path_factory.mktemp("width") / "demo")
    files = [str(folder / name) for name in ("qrels.txt", "bm25.run", "queries.csv", "gate.json")]
    frozen = [
        "gate",
        "init",
        *files[:2],
        "--queries",
        files[2],
        "--by",
        "kind",
        "--margin",
        "5%",
        "-o",
        files[3],
        "-m",
        "AP",
    ]
    assert run(frozen) == 0
    (folder / "sessions.csv").write_text(SESSIONS)
    (folder / "judged.txt").write_text(JUDGED)
    for system in OF[1:]:
        own = SESSIONS.replace("\n1,", f"\n1{system},").replace("\n2,", f"\n2{system},")
        (folder / f"{system}.csv").write_text(own)
    (folder / "factors.csv").write_text("system,a,b\ntfidf,1,1\nbm25,1,2\ndense,2,1\nhybrid,2,2\n")
    return folder


def test_every_command_is_looked_at():
    assert {line[0] for line in (*COMMAND_LINES, *OWN_LINES)} >= set(COMMANDS) - NOT_FOR_PEOPLE


def assert_drawn(page: Page) -> None:
    """In HTML, every chart is SVG; preformatted text is a formula, not a chart."""
    html = text(page, "html")
    drawings = re.findall("<svg.*?</svg>", html, re.DOTALL)
    assert len(drawings) == sum(isinstance(part, Chart) for part in page.parts)
    assert all(ElementTree.fromstring(drawing).get("role") == "img" for drawing in drawings)
    assert html.count("<pre") == sum(isinstance(part, str) and Paragraph.of(part).is_verbatim for part in page.parts)


@pytest.mark.parametrize("line", COMMAND_LINES, ids=" ".join)
def test_text_fits_the_terminal(line, demo, monkeypatch, capsys):
    """Each command runs once and prints its result at several widths and in all formats."""
    pages = []
    monkeypatch.chdir(demo)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(options, "write", lambda content, format_, out: pages.append(content.page()))
    code = run(line)
    assert code in (0, 1) and pages, capsys.readouterr().err
    for page in pages:
        assert_drawn(page)
        texts = {format_: text(page, format_) for format_ in FORMATS}
        assert [format_ for format_ in FORMATS if not texts[format_].strip()] in (
            [],
            ["trec"],
        )  # which has numbers only
    for width in WIDTHS:
        monkeypatch.setenv("COLUMNS", str(width))
        for page in pages:
            write(page, "table", terminal := Terminal())
            assert [line for line in terminal.getvalue().splitlines() if len(line) > width] == []


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("line", OWN_LINES, ids=" ".join)
@pytest.mark.usefixtures("few_flips", "small_demo")
def test_what_is_no_page_fits_it_too(line, width, demo, monkeypatch, capsys):
    monkeypatch.chdir(demo)
    monkeypatch.setenv("COLUMNS", str(width))
    assert run(line) == 0
    # A command to be copied is one line.
    lines = [line for line in capsys.readouterr().out.splitlines() if "gainful eval" not in line]
    assert [line for line in lines if len(line) > width] == []


def test_notices_fit_it_too(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    Quiet().notify(["word " * 30, "short"])
    lines = terminal.getvalue().splitlines()
    assert lines[0].startswith("notice: word ") and lines[-1] == "notice: short" and max(map(len, lines)) <= 60


def test_errors_fit_it_too(demo, monkeypatch, capsys):
    """Except commands to be copied: only the terminal itself breaks them."""
    monkeypatch.chdir(demo)
    monkeypatch.setenv("COLUMNS", "60")
    typed = ("eval", *PAIR, "-m", "recall@5", "--fail-under", "0.45")
    command = f"gainful eval {' '.join(PAIR)} -m recall@5 --floor 'recall@5>=0.45'"
    assert run(typed) == 2
    piped = capsys.readouterr().err
    assert piped == f"no option --fail-under\nhint: {command}\n"
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    assert run(typed) == 2 and run(("eval", *PAIR, "-m", "kappa")) == 2
    lines = terminal.getvalue().splitlines()
    assert len(lines) > 3 and any(command in line for line in lines)
    assert all(len(line) <= 60 or command in line for line in lines)


def test_a_pipe_has_whole_tables(demo, monkeypatch, capsys):
    monkeypatch.chdir(demo)
    monkeypatch.delenv("COLUMNS", raising=False)
    assert run(("eval", *PAIR, *MEASURES)) == 0
    header = capsys.readouterr().out.splitlines()[0]
    assert len(header) > 80 and header.split()[1:] == list(MEASURES[1::2])


def test_a_file_has_whole_tables_whatever_the_terminal(demo, monkeypatch):
    monkeypatch.chdir(demo)
    monkeypatch.setenv("COLUMNS", "60")
    assert run(("eval", *PAIR, *MEASURES, "-o", "table.txt")) == 0
    assert Path("table.txt").read_text().splitlines()[0].split()[1:] == list(MEASURES[1::2])
