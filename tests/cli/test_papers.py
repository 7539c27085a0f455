"""`gainful papers`: the list, what each paper takes and refuses, and the folder that it writes."""

from __future__ import annotations

import pytest

from gainful.cli.run_paths import run_paths
from gainful.errors import InputError
from gainful.papers.claims import claims_tables, number_claim, statement, text_claim, vector_claim
from gainful.papers.library import PAPERS
from gainful.papers.reproduction import Reproduction
from gainful.papers.sections import Section, Study
from gainful.render.charts import Axis, Line, Plot
from gainful.render.page import Column, Page, Table

QRELS = "".join(f"q{q} 0 d{d} {(q + d) % 4}\n" for q in range(4) for d in range(12))
RUNS = {
    name: "".join(f"q{q} Q0 d{(step * d + q) % 13} {d} {20 - d} t\n" for q in range(4) for d in range(10))
    for name, step in (("x", 1), ("y", 2), ("z", 5))
}


@pytest.fixture
def files(command):
    command.write("qrels", QRELS)
    for name, text in RUNS.items():
        command.write(f"runs/{name}.run", text)
    return command


def test_without_a_paper_the_five_are_listed(command):
    shown = command("papers")
    assert shown.code == 0
    for key, paper in PAPERS.items():
        assert f"{key}: " in shown.out
        assert paper.options in shown.out
    rows = command("papers", "--format", "jsonl").lines
    assert [row["paper"] for row in rows if "paper" in row] == list(PAPERS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["jarvelin2003"], "did you mean jarvelin2008 or jarvelin2002"),
        (["--qrels", "qrels"], "--qrels: expected a paper, found none"),
        (["jarvelin2002", "--qrels", "qrels"], "expected judgments and runs, found no runs"),
        (["dellamea2004", "--runs", "runs"], "expected judgments and runs, found no judgments"),
        (["jarvelin2008", "--qrels", "qrels"], "expected judgments and sessions, found no sessions"),
        (["jarvelin2008", "--qrels", "qrels", "--runs", "runs"], "--runs: has no meaning for jarvelin2008"),
        (["scheel2011", "--qrels", "qrels"], "--qrels: has no meaning for scheel2011"),
        (["jarvelin2002", "--draws", "3"], "--draws: has no meaning for jarvelin2002"),
        (["jarvelin2002", "--collection-size", "30"], "--collection-size: has no meaning without data"),
        (["jarvelin2000", "--missing", "skip"], "--missing: has no meaning without data"),
        (["scheel2011", "--scale", "3"], "--scale: has no meaning for scheel2011"),
        (["jarvelin2000", "--figures", "png"], "--figures: expected a folder, found none"),
    ],
)
def test_what_a_paper_does_not_take_is_refused(files, arguments, message):
    refused = files("papers", *arguments)
    assert refused.code == 2
    assert message in refused.err
    assert refused.out == ""


def test_every_refusal_of_data_says_what_is_needed(files):
    for key, paper in PAPERS.items():
        wrong = "--qrels" if key == "scheel2011" else "--letor"
        refused = files("papers", key, wrong, "qrels")
        assert refused.code == 2
        assert paper.options in refused.err
        assert paper.needs in refused.err


def test_runs_are_folders_patterns_and_files(files, monkeypatch):
    monkeypatch.chdir(files.directory)
    files.write("runs/.hidden", "")
    files.write("runs/deeper/w.run", RUNS["x"])
    everything = ["runs/x.run", "runs/y.run", "runs/z.run"]
    assert run_paths(["runs"], "qrels") == everything
    assert run_paths(["runs/[yz].run"], "qrels") == everything[1:]
    assert run_paths(["runs/z.run", "runs"], "qrels") == ["runs/z.run", *everything[:2]]
    assert run_paths(["*", "runs"], "qrels") == everything  # the judgments are no run


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("none", "found nothing of that name"),
        ("empty", "found a folder without files"),
        ("*.none", "found no file of that pattern"),
        ("qrels", "only the judg"),
    ],
)
def test_no_runs_are_an_error(files, monkeypatch, source, message):
    monkeypatch.chdir(files.directory)
    (files.directory / "empty").mkdir()
    with pytest.raises(InputError, match=message):
        run_paths([source], "qrels")


def test_a_file_among_runs_that_is_none_is_named_with_a_way_out(files):
    files.write("runs/notes.txt", "these are my runs\n")
    refused = files("papers", "jarvelin2000", "--qrels", "qrels", "--runs", "runs")
    assert refused.code == 3
    assert refused.err.startswith("runs/notes.txt:1: expected 6 fields")
    assert "a pattern takes some of them: --runs 'runs/*.run*'" in refused.err
    assert files("papers", "jarvelin2000", "--qrels", "qrels", "--runs", "runs/*.run").code == 0


def test_a_folder_that_is_read_is_not_written(files):
    refused = files("papers", "jarvelin2000", "--qrels", "qrels", "--runs", "runs", "--out", "runs")
    assert refused.code == 2
    assert "expected a folder of its own" in refused.err
    assert sorted(path.name for path in (files.directory / "runs").iterdir()) == ["x.run", "y.run", "z.run"]


def test_a_folder_that_cannot_be_made_is_refused_before_the_work(files):
    assert files("papers", "jarvelin2000", "--out", "no/such").code == 3
    assert files("papers", "jarvelin2000", "--out", "qrels").code == 2


PLOT = Plot("gain", Axis("rank"), Axis("gain"), (Line("a", (1.0, 2.0), (0.5, 1.0)),))
CURVE = Table(
    (Column("rank", "count", for_machines=True), Column("a", "number", for_machines=True)), ((1, 0.5), (2, 1.0))
)
MADE = Reproduction(
    PAPERS["jarvelin2000"],
    (
        Section(
            "Section 2.1",
            "vectors",
            claims_tables("Vectors", [vector_claim("CG", (3, 5), (3, 5), 0), number_claim("x", 1.5, 1.6, 1)]),
        ),
    ),
    Study(
        "Other data than the paper's.",
        (
            Section("Figure 1", "a curve", (PLOT, CURVE)),
            Section("Table 1", "", claims_tables("Said", [statement("it grows", "yes", "no", holds=False)])),
        ),
    ),
)


def test_a_folder_has_the_report_every_table_and_every_figure(tmp_path):
    written = MADE.save_all(tmp_path / "out")
    assert written == ["report.md", "section-2.1.csv", "figure-1.csv", "figure-1.svg", "table-1.csv"]
    assert sorted(written) == sorted(path.name for path in (tmp_path / "out").iterdir())
    assert (tmp_path / "out/figure-1.csv").read_text() == "rank,a\n1,0.5\n2,1.0\n"
    report = (tmp_path / "out/report.md").read_text()
    assert report.index("## Section 2.1") < report.index("Other data than") < report.index("![Figure 1](figure-1.svg)")


def test_a_page_has_all_sections_or_those_that_are_asked_for():
    page = MADE.page()
    assert page.notes[0] == "the paper says, gainful finds: agrees 1, differs 1, fails 1"
    assert len(list(page.charts)) == 1
    assert not list(MADE.without_charts().page().charts)
    chosen = MADE.only(["table 1", "section-2.1"])
    assert [section.name for section in chosen.sections] == ["Section 2.1", "Table 1"]
    with pytest.raises(Exception, match="no section is called 'Table 9'; there are Section"):
        MADE.only(["Table 9"])


def test_claims_say_what_agrees():
    assert vector_claim("v", (1.234,), (1.2344999,), 3).verdict == "agrees"
    assert vector_claim("v", (1.234,), (1.2349,), 3).verdict == "truncated"
    assert vector_claim("v", (1.234, 2.0), (1.2349, 2.2), 3).verdict == "differs"
    assert vector_claim("v", (1.0,), (2.0,), 1, "misprint").verdict == "erratum"
    assert text_claim("t", "D > A*", "D > A**").verdict == "differs"
    with pytest.raises(Exception, match="needs an erratum"):
        vector_claim("v", (1.0,), (1.0,), 1, "misprint")


def test_long_claims_stand_below_each_other_for_people_and_side_by_side_for_machines():
    long = vector_claim("v", tuple(range(30)), tuple(range(30)), 1)
    page = Page("papers", claims_tables("Vectors", [long]))
    assert "the paper says  0.0 1.0" in page.text()
    assert page.text("csv").splitlines()[0] == "what,the paper says,gainful finds,verdict"
    assert len(page.text("csv").splitlines()) == 2
