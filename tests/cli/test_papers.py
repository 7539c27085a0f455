"""`gainful papers`: the list, options and errors of each paper, and the folder written."""

from __future__ import annotations

import html
import re
import sys
from dataclasses import replace

import pytest

from gainful.errors import InputError, UsageError
from gainful.pages.charts import Axis, Line, Plot
from gainful.pages.page import Column, Page, Table
from gainful.render import FORMATS, text as render_text
from gainful_papers import reproduce, reproduction
from gainful_papers.catalogue import PAPERS
from gainful_papers.claims import Claim, Section, Study, claims_tables
from gainful_papers.papers_command import run_paths
from gainful_papers.reproduction import Reproduction

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
        (["jarvelin2003"], "No such command 'jarvelin2003'\nhint: did you mean jarvelin2000 or jarvelin2002 or"),
        (["--qrels", "qrels"], "no option --qrels"),
        (["--format", "csv", "jarvelin2000"], "hint: gainful papers jarvelin2000 --format ..."),
        (["jarvelin2002", "--qrels", "qrels"], "jarvelin2002: missing runs"),
        (["dellamea2004", "--runs", "runs"], "dellamea2004: missing judgments"),
        (["jarvelin2008", "--qrels", "qrels"], "jarvelin2008: missing sessions"),
        (
            ["jarvelin2008", "--qrels", "qrels", "--runs", "runs"],
            "no option --runs\n",
        ),
        (["jarvelin2002", "--draws", "3"], "no option --draws"),
        (
            ["jarvelin2002", "--qrels", "qrels", "--runs", "runs", "--items", "i.csv"],
            "--items cannot be used with papers",
        ),
        (["jarvelin2000", "--missing", "skip"], "--missing cannot be used without data"),
        (["scheel2011", "--feature", "3"], "--feature cannot be used without data"),
        (["jarvelin2000", "--figures", "png"], "--figures cannot be used without --out"),
    ],
)
def test_what_a_paper_does_not_take_is_refused(files, arguments, message):
    refused = files("papers", *arguments)
    assert refused.code == 2
    assert message in refused.err
    assert refused.out == ""


def test_every_refusal_of_data_says_what_is_needed(files):
    for key, paper in PAPERS.items():
        refused = files("papers", key, "--reference" if key == "scheel2011" else "--qrels", "qrels")
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


def test_a_run_under_two_names_is_one_run(files, monkeypatch):
    monkeypatch.chdir(files.directory)
    (files.directory / "runs/alias.run").symlink_to("x.run")
    assert run_paths(["runs/x.run", "./runs/x.run", str(files.directory / "runs")], "qrels") == [
        "runs/x.run",
        *(str(files.directory / "runs" / name) for name in ("y.run", "z.run")),
    ]


def test_a_link_that_leads_nowhere_is_an_error(files):
    (files.directory / "runs/gone.run").symlink_to("nothing")
    for runs in ("runs", "runs/*.run"):
        refused = files("papers", "jarvelin2000", "--qrels", "qrels", "--runs", runs)
        assert refused.code == 3
        assert refused.err.startswith("runs/gone.run: ")


@pytest.mark.parametrize("paper", ["jarvelin2000", "jarvelin2002", "dellamea2004"])
def test_a_paper_with_data_in_every_format(files, paper, monkeypatch, found_once):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)  # drawing takes time, and is tested elsewhere
    data = ("papers", paper, "--qrels", "qrels", "--runs", "runs", "--quiet")
    assert files(*data, "--threads", "1").out == files(*data, "--threads", "2").out
    found_once(reproduction, "reproduce")
    sections = files(*data, "--format", "jsonl").lines[0]["sections"]
    assert len(sections) > 5
    for format_ in FORMATS if paper == "jarvelin2000" else ("table", "latex"):
        shown = files(*data, "--format", format_)
        assert (shown.code, shown.err) == (0, "")
        if format_ in ("table", "markdown", "html", "jsonl"):
            assert [shown.out.count(name) > 0 for name in sections] == [True] * len(sections)
    last = files(*data, "--only", sections[-1])
    assert f"{sections[-1]}\n{'=' * len(sections[-1])}" in last.out
    assert f"{sections[0]}\n=" not in last.out


def test_sessions_with_data_in_a_folder(files):
    files.write("s.jsonl", '{"session": "q1", "queries": [{"query": "a", "results": ["d1", "d2"]}]}\n')
    shown = files(
        "papers", "jarvelin2008", "--qrels", "qrels", "--sessions", "s.jsonl", "--name", "mine", "--out", "new"
    )
    assert shown.code == 0
    assert "start with report.md" in shown.err
    report = (files.directory / "new/report.md").read_text()
    linked = set(re.findall(r"\]\(([^)]+)\)", report))
    assert linked == {path.name for path in (files.directory / "new").iterdir()} - {"report.md", "report.html"}
    assert "mine" in report


def test_topics_of_sessions_come_from_a_table(files):
    queries = '"queries": [{"query": "a", "results": ["d1", "d2"]}]'
    files.write("s.jsonl", "".join(f'{{"session": "q{i}", {queries}}}\n' for i in (1, 2, 3)))
    files.write("topics.csv", "session,topic\nq1,war\nq2,peace\nq3,war\n")
    data = ("papers", "jarvelin2008", "--qrels", "qrels", "--sessions", "s.jsonl", "--only", "Figure 3")
    assert "war" in files(*data, "--topics", "topics.csv").out
    assert "peace" in files(*data, "--topics", "topics.csv", "--topic", "peace").out
    assert "war" not in files(*data).out


def test_sections_without_data_stand_alone(files):
    alone = files("papers", "jarvelin2000", "--only", "Section 2.2")
    beside = files("papers", "jarvelin2000", "--qrels", "qrels", "--runs", "runs", "--only", "section-2.2", "--quiet")
    assert alone.out == beside.out


def test_without_matplotlib_a_folder_has_all_tables_and_says_so(files, monkeypatch):
    data = ("papers", "jarvelin2000", "--qrels", "qrels", "--runs", "runs", "--only", "Figure 2", "--quiet")
    assert files(*data, "--out", "with").code == 0
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    shown = files(*data, "--out", "without")
    assert shown.code == 0
    assert "No figures: they need the package matplotlib" in " ".join(shown.out.split())
    names = [{path.name for path in (files.directory / folder).iterdir()} for folder in ("with", "without")]
    assert names[0] - names[1] == {name for name in names[0] if name.endswith(".svg")} != set()
    assert re.search(r"\bA x +B y", (files.directory / "without/report.md").read_text())  # a chart as text
    reports = [(files.directory / folder / "report.html").read_text() for folder in ("with", "without")]
    assert [report.count("<svg") for report in reports] == [2, 0]
    refused = files(*data, "--out", "newer", "--figures", "png")
    assert refused.code == 2 and "matplotlib" in refused.err
    assert not (files.directory / "newer").exists()


def test_data_begin_with_what_was_run_what_fails_and_where_figures_are(files):
    data = ("papers", "jarvelin2002", "--qrels", "qrels", "--runs", "runs", "--quiet")
    shown = files(*data)
    [beginning, *rest] = shown.out.split("\n\n")
    lines = beginning.splitlines()
    assert max(map(len, lines)) <= 80
    told = " ".join(beginning.split())
    assert (
        told.startswith("Järvelin and Kekäläinen: Cumulated gain")
        and "qrels: 4 queries, 3 runs, grades up to 3." in told
    )
    rows = [line for line in files(*data, "--format", "jsonl").lines if line.get("verdict") in ("fails", "differs")]
    assert rows and all(row["what"] in told for row in rows)
    assert " ".join(lines).endswith("Figure 1, Figure 2, Figure 3, Figure 4. --out DIR writes them as figures.")
    assert any(part.startswith("Figure 1\n========") for part in rest)


def test_weights_bases_and_the_last_rank_are_the_users(files):
    data = ("papers", "jarvelin2002", "--qrels", "qrels", "--runs", "runs", "--quiet", "--only", "Table 2")
    told = " ".join(files(*data, "--gain", "0-1-5-7,flat", "--base", "3,10", "--at", "30").out.split())
    assert "nCG and nDCG (b = 3), averaged over ranks 1 to 30" in told
    assert "Weights: 0-1-5-7 and 0-1-1-1; in the paper:" in told
    assert "at: expected a rank from 20 to 200, found 5" in files(*data, "--at", "5").err
    assert "base: expected a number, found 'x'" in files(*data, "--base", "x").err


def test_with_a_folder_people_see_the_beginning_and_files_have_all(files):
    data = ("papers", "jarvelin2000", "--qrels", "qrels", "--runs", "runs", "--only", "Figure 2", "--quiet")
    shown = files(*data, "--out", "new")
    told = " ".join(shown.out.split())
    assert "Figures in new: figure-2.svg. The full report is in report.md and report.html." in told
    assert "Figure 2\n========" not in shown.out
    report = (files.directory / "new/report.html").read_text()
    titles = [html.unescape(title) for title in re.findall("<svg[^>]*>\n<title>(.*)</title>", report)]
    assert titles == ["2A: CG, levels 2&3 (0-0-2-3)", "2B: CG, level 3 (0-0-0-3)"]
    assert "<pre>" not in report
    files(*data, "--out", "new", "-o", "all.txt")
    assert "Figure 2\n========" in (files.directory / "all.txt").read_text()


def test_python_says_what_is_wrong():
    with pytest.raises(UsageError, match="runs: expected a mapping of names to runs, found list"):
        reproduce("jarvelin2000", qrels={"q": {"d": 1}}, runs=[])
    with pytest.raises(UsageError, match="policy cannot be used without data"):
        reproduce("jarvelin2000", policy="trec_eval-9")
    with pytest.raises(UsageError, match="no setting beast"):
        reproduce("dellamea2004", beast=["x"])
    assert repr(reproduce("jarvelin2000")).startswith("<Reproduction of jarvelin2000: Section 2.2;")
    assert [section.name for section in reproduce("jarvelin2000").only("Section 2.2").sections] == ["Section 2.2"]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("none", "no such folder, run or pattern"),
        ("empty", "the folder contains no files"),
        ("*.none", "no file matches this pattern"),
        ("qrels", "no runs other than the judg"),
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
    assert "select files with a pattern: --runs 'runs/*.run*'" in refused.err
    assert files("papers", "jarvelin2000", "--qrels", "qrels", "--runs", "runs/*.run").code == 0


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "written",
    [
        ["--runs", "runs", "--out", "runs"],
        ["--runs", "runs/*.run", "--out", "runs"],
        ["--runs", "runs/x.run", "--runs", "runs/y.run", "--out", "./runs"],
        ["--runs", "runs", "--out", "."],  # the judgments are there
        ["--runs", "runs", "-o", "runs/x.run", "--format", "csv"],
        ["--runs", "runs/*", "-o", "runs/x.run", "--format", "csv"],
        ["--runs", "runs", "--out", "new", "-o", "new/report.md"],
        ["--runs", "runs", "--out", "linked"],  # its report.md is a link to the judgments
        ["--runs", "runs", "--out", "real", "-o", "alias/report.md"],
        ["--runs", "runs", "-o", "runs/report.txt"],
    ],
)
def test_what_is_read_is_not_written(files, written):
    for folder in ("linked", "real"):
        (files.directory / folder).mkdir()
    (files.directory / "linked/report.md").symlink_to("../qrels")
    (files.directory / "alias").symlink_to("real")
    before = contents(files.directory)
    refused = files("papers", "jarvelin2000", "--qrels", "qrels", *written)
    assert refused.code in (2, 3)
    assert contents(files.directory) == before


def test_files_of_a_letor_folder_are_not_written(files):
    files.write("letor/Feature-null/Fold1.txt", "0 qid:1 1:0.5 #docid = 7\n")
    for written, why in (
        (["-o", "letor/Feature-null/Fold1.txt"], "is also an input file"),
        (["--out", "letor/Feature-null"], "which is an input"),
    ):
        refused = files("papers", "scheel2011", "--letor", "letor", *written)
        assert refused.code == 2
        assert why in refused.err
    assert list(contents(files.directory / "letor")) == ["Feature-null/Fold1.txt"]


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
            claims_tables("Vectors", [Claim.vector("CG", (3, 5), (3, 5), 0), Claim.number("x", 1.5, 1.6, 1)]),
        ),
    ),
    Study(
        "Other data than the paper's.",
        (
            Section("Figure 1", "a curve", (PLOT, CURVE)),
            Section("Table 1", "", claims_tables("Said", [Claim.statement("it grows", "yes", "no", holds=False)])),
        ),
    ),
)


def test_a_folder_has_the_report_every_table_and_every_figure(tmp_path):
    written = MADE.save_all(tmp_path / "out")
    assert written == ["report.md", "report.html", "section-2.1.csv", "figure-1.svg", "figure-1.csv", "table-1.csv"]
    assert sorted(written) == sorted(path.name for path in (tmp_path / "out").iterdir())
    assert (tmp_path / "out/figure-1.csv").read_text() == "rank,a\n1,0.5\n2,1.0\n"
    report = (tmp_path / "out/report.md").read_text()
    assert "--out DIR" not in report and "--out DIR" not in (tmp_path / "out/report.html").read_text()
    assert report.index("Other data than") < report.index("## Section 2.1") < report.index("![Figure 1](figure-1.svg)")


def test_a_page_has_all_sections_or_those_that_are_asked_for():
    page = MADE.page()
    beginning, summary = page.parts[:2]
    _, data, counted, failed, figures = beginning.splitlines()
    assert data == "Other data than the paper's."
    assert counted == "Verdicts: agrees 1, differs 1, fails 1."
    assert failed == "Disagreements with the paper: Section 2.1: x. Table 1: it grows."
    assert figures == "Drawn below: Figure 1. --out DIR writes them as figures."
    assert [column.name for column in summary.columns] == ["section", "agrees", "differs", "fails"]
    assert summary.rows == [("Section 2.1", 1, 1, None), ("Table 1", None, None, 1)]
    assert page.header["verdicts"] == {"agrees": 1, "differs": 1, "fails": 1}
    assert len(list(page.charts)) == 1
    assert not list(replace(MADE, folder="out", written=("figure-1.svg",)).page().charts)
    chosen = MADE.only(["table 1", "section-2.1"])
    assert [section.name for section in chosen.sections] == ["Section 2.1", "Table 1"]
    with pytest.raises(UsageError, match="no section 'Table 9'; sections are Section"):
        MADE.only(["Table 9"])


def test_a_part_of_a_reproduction():
    assert [section.name for section in MADE.part(examples=True, data=False).sections] == ["Section 2.1"]
    assert [section.name for section in MADE.part(examples=False, data=True).sections] == ["Figure 1", "Table 1"]


def test_examples_need_no_data_and_data_do(command):
    alone = command("papers", "jarvelin2000")
    assert command("papers", "jarvelin2000", "--examples").out == alone.out
    refused = command("papers", "jarvelin2000", "--data")
    assert refused.code == 2 and refused.err.startswith("--data cannot be used without data\n")
    assert alone.out.split("\n\n")[1].startswith("Verdicts: agrees ")


def test_claims_say_what_agrees():
    assert Claim.vector("v", (1.234,), (1.2344999,), 3).verdict == "agrees"
    assert Claim.vector("v", (1.234,), (1.2349,), 3).verdict == "truncated"
    assert Claim.vector("v", (1.234, 2.0), (1.2349, 2.2), 3).verdict == "differs"
    assert Claim.vector("v", (1.0,), (2.0,), 1, "misprint").verdict == "erratum"
    assert Claim.text("t", "D > A*", "D > A**").verdict == "differs"
    with pytest.raises(UsageError, match="there is no erratum"):
        Claim.vector("v", (1.0,), (1.0,), 1, "misprint")


def test_long_claims_stand_below_each_other_for_people_and_side_by_side_for_machines():
    long = Claim.vector("v", tuple(range(30)), tuple(range(30)), 1)
    page = Page("papers", claims_tables("Vectors", [long]))
    assert "the paper says  0.0 1.0" in render_text(page)
    assert render_text(page, "csv").splitlines()[0] == "what,the paper says,gainful finds,verdict"
    assert len(render_text(page, "csv").splitlines()) == 2


def test_any_scores_play_the_user(command, tmp_path):
    """Ratings under names of their own, a run, and a feature of LETOR; a reference is never written over."""
    (tmp_path / "stars.csv").write_text("visitor,film,liked\nu1,a,5\nu1,b,1.5\nu2,a,2\nu2,c,4\n")
    (tmp_path / "runs").mkdir()
    for name in ("near", "far"):
        (tmp_path / f"runs/{name}.csv").write_text("user,item,score\nu1,a,0.9\nu1,b,0.3\nu2,a,0.1\nu2,c,-2\n")
    asked = "papers", "scheel2011", "--data", "--runs", "runs", "--reference", "stars.csv", "--reference", "near"
    asked += "--columns", "qrels.query=visitor,qrels.document=film,qrels.grade=liked"
    shown = command(*asked)
    assert shown.code == 0, shown.err
    assert "2 references (stars, near) and 2 runs: scores of references" in shown.out
    by_flag = [
        "--qrels" if before == "stars.csv" else each for each, before in zip(asked, (*asked[1:], ""), strict=True)
    ]
    assert "--qrels" in by_flag and "2 references (near, stars) and 2 runs" in command(*by_flag).out
    assert "is also an input file" in command(*asked, "--output", "stars.csv").err
    assert "no run is called 'nera'; runs: far, near" in command(*asked, "--reference", "nera").err
    (tmp_path / "small.letor").write_text("2 qid:1 1:0.1 2:0.9 #docid = a\n0 qid:1 1:0.7 2:0.2 #docid = b\n")
    features = "papers", "scheel2011", "--data", "--runs", "small.letor", "--feature", "all"
    shown = command(*features, "--reference", "small.letor", "--reference", "small:2")
    assert shown.code == 0, shown.err
    assert "small:2  1.0000     1.0000      1.0000" in shown.out
