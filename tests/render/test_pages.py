"""Pages of any command in every format: tables, paragraphs and notes."""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import shutil
import subprocess
from dataclasses import replace
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

from gainful._version import __version__
from gainful.pages.page import Column, Conventions, Detail, Heading, Page, Table
from gainful.render import FORMATS, Page as ShownPage, text as render_text, write
from gainful.render.markup import fragment

LEVELS = Table(
    (Column("grade", "number", 1), Column("documents", "count"), Column("share", "share"), Column("remark")),
    ((0.0, 1200, 0.9375, "not relevant"), (1.0, 80, 0.0625, None), (2.5, 0, None, "a, b")),
    title="Levels of qrels.txt",
    notes=("* most",),
    marked=frozenset({(0, 1)}),
)
AGREEMENT = Table(
    (Column("a"), Column("b"), Column("kappa", "number", 3), Column("kappa difference", "difference", 3)),
    (("first", "second", 0.5, None), ("first", "third", -1 / 3, -5 / 6)),
)
PAGE = Page(
    "judgments",
    ("Two sets of judgments.", LEVELS, AGREEMENT),
    ("order:score|ties:docid-desc",),
    {"judgments": ["qrels.txt"]},
)


def test_every_format_has_an_example_and_is_in_the_docs():
    here, page = Path(__file__).read_text(), (Path(__file__).parents[2] / "docs" / "how-to" / "evaluate.md").read_text()
    for name, (writer, ending, _) in FORMATS.items():
        module, _, function = writer.partition(".")
        doc = getattr(import_module(f"gainful.render.{module}"), function).__doc__
        assert ">>>" in doc or f'(PAGE, "{name}")' in here, f"{writer}: no example in its docstring"
        assert f"`{name}`" in page and f"`{ending}`" in page, (
            f"docs/how-to/evaluate.md does not name `{name}` and `{ending}`"
        )


def test_what_is_so_is_a_boolean_for_machines_and_a_yes_for_people():
    page = Page("check", (Table((Column("run"), Column("sorted", none="")), (("one", True), ("two", False))),))
    assert render_text(page, "table").splitlines()[2:] == ["one  yes", "two"]
    assert [json.loads(line).get("sorted") for line in render_text(page, "jsonl").splitlines()[1:3]] == [True, False]
    assert render_text(page, "csv") == "run,sorted\none,true\ntwo,false\n"
    assert "sorted                \ttwo\tfalse\n" in render_text(page, "trec")


def test_table():
    assert render_text(PAGE, "table") == (
        "Two sets of judgments.\n"
        "\n"
        "Levels of qrels.txt\n"
        "grade  documents  share  remark\n"
        "-----  ---------  -----  ------------\n"
        "  0.0      1200*  93.8%  not relevant\n"
        "  1.0        80    6.2%  -\n"
        "  2.5         0       -  a, b\n"
        "\n"
        "* most\n"
        "\n"
        "a      b                 kappa\n"
        "-----  ------  ---------------\n"
        "first  second   0.500\n"
        "first  third   -0.333 (-0.833)\n"
        "\n"
        "order:score|ties:docid-desc\n"
    )


def test_csv():
    first, second = render_text(PAGE, "csv").split("\n\n")
    title, first = first.split("\n", 1)
    assert title == "# Levels of qrels.txt"
    assert list(csv.reader(io.StringIO(first))) == [
        ["grade", "documents", "share", "remark"],
        ["0.0", "1200", "0.9375", "not relevant"],
        ["1.0", "80", "0.0625", ""],
        ["2.5", "0", "", "a, b"],
    ]
    assert second == f"a,b,kappa,kappa difference\nfirst,second,0.5,\nfirst,third,{-1 / 3!r},{-5 / 6!r}\n"


def test_conventions_are_short_for_people_and_whole_for_machines_and_files(tmp_path):
    table = Table((Column("run"), Column("n", "count")), (("a", 1),), "one")
    page = ShownPage("x", (table, table), (Conventions("conventions: all default", "order:score|ties:input"),))
    for format_ in FORMATS:
        text = render_text(page, format_)
        assert ("conventions: all default" in text) == (not FORMATS[format_].is_for_machines)
        assert ("order:score|ties:input" in text) == (format_ in ("csv", "jsonl"))
    assert render_text(page, "csv").startswith("# order:score|ties:input\n# one\nrun,n\n")
    for ending in (".txt", ".md", ".tex", ".html"):
        page.save(tmp_path / f"file{ending}")
        assert "order:score|ties:input" in (tmp_path / f"file{ending}").read_text()
    # A number means nothing without them, in one table as in several, in a file as in a pipe.
    single = ShownPage("x", (table,), page.notes)
    assert render_text(single, "csv") == "# order:score|ties:input\nrun,n\na,1\n"
    single.save(tmp_path / "file.csv")
    assert (tmp_path / "file.csv").read_text() == render_text(single, "csv")


def test_a_note_is_printed_once_for_people():
    tables = tuple(Table((Column("run"),), (("a",),), title, ("letters: what they mean",)) for title in ("one", "two"))
    hidden = Detail((Table((Column("run"),), (("a",),), "zero", ("letters: what they mean",)),))
    page = Page("x", (hidden, *tables), ("letters: what they mean", "all else"))
    for format_ in (name for name, each in FORMATS.items() if not each.is_for_machines):
        assert render_text(page, format_).count("letters: what") == 1
    assert render_text(replace(page, label="tab"), "latex").count("letters: what") == 3  # tables that stand alone


@pytest.mark.parametrize("format_", FORMATS)
def test_details_are_for_who_asks_and_for_machines(format_):
    table = Table((Column("run"), Column("because", "count")), (("a", 1),))
    page = ShownPage("x", ("answer", Detail((table,))))
    assert ("because" in page.text(format_)) == FORMATS[format_].is_for_machines
    assert "because" in page.text(format_, detail=True)


def test_nothing_in_csv_is_a_formula():
    texts = ["=1+1", "+cmd|' /C calc'!A0", "-x", "@SUM(A1)", "\tx", "\r=x", "'=x", "-1.5", "+3", "a=1", "-", "'tis"]
    table = Table((Column("=name"), Column("n", "number")), tuple((text, -0.5) for text in texts), "levels,=1+1 of a,b")
    first, _ = render_text(Page("x", (table, table)), "csv").split("\n\n")
    title, *rows = csv.reader(io.StringIO(first, newline=""))
    assert title == ["# levels", " =1+1 of a", "b"]
    assert rows[0] == ["'=name", "n"]
    assert rows[1:] == [[f"'{text}" if text in texts[:7] else text, "-0.5"] for text in texts]


def test_the_title_of_a_single_table_is_left_out_of_csv():
    assert render_text(Page("x", (LEVELS,)), "csv").startswith("grade,documents,")


@pytest.mark.parametrize("format_", FORMATS)
def test_columns_for_machines(format_):
    table = Table((Column("run"), Column("n", "count"), Column("why", for_machines=True)), (("a", 1, "because"),))
    text = render_text(Page("x", ("some text", table)), format_)
    assert ("because" in text) == ("why" in text) == FORMATS[format_].is_for_machines
    hidden = Table((Column("why", for_machines=True),), (("because",),), "title")
    assert render_text(Page("x", ("some text", hidden)), "markdown") == "some text\n"


def test_an_empty_line_only_separates_tables():
    one_column = Table((Column("only"),), ((None,), ("",), ("x",)))
    assert render_text(Page("x", (one_column, one_column)), "csv") == 'only\n""\n""\nx\n\nonly\n""\n""\nx\n'


def test_jsonl():
    assert [json.loads(line) for line in render_text(PAGE, "jsonl").splitlines()] == [
        {
            "gainful": __version__,
            "numpy": np.__version__,
            "scipy": version("scipy"),
            "command": "judgments",
            "judgments": ["qrels.txt"],
        },
        {"text": "Two sets of judgments."},
        {"table": "Levels of qrels.txt", "grade": 0.0, "documents": 1200, "share": 0.9375, "remark": "not relevant"},
        {"table": "Levels of qrels.txt", "grade": 1.0, "documents": 80, "share": 0.0625, "remark": None},
        {"table": "Levels of qrels.txt", "grade": 2.5, "documents": 0, "share": None, "remark": "a, b"},
        {"table": "Levels of qrels.txt", "note": "* most"},
        {"a": "first", "b": "second", "kappa": 0.5, "kappa difference": None},
        {"a": "first", "b": "third", "kappa": -1 / 3, "kappa difference": -5 / 6},
        {"note": "order:score|ties:docid-desc"},
        {"complete": True, "lines": 9},
    ]


def test_trec():
    assert render_text(PAGE, "trec").splitlines() == [
        "documents             \t0.0\t1200",
        "share                 \t0.0\t0.9375",
        "remark                \t0.0\tnot relevant",
        "documents             \t1.0\t80",
        "share                 \t1.0\t0.0625",
        "documents             \t2.5\t0",
        "remark                \t2.5\ta, b",
        "kappa                 \tfirst second\t0.500",
        "kappa                 \tfirst third\t-0.333",
        "kappa difference      \tfirst third\t-0.833",
    ]


def test_markdown():
    assert render_text(PAGE, "markdown") == (
        "Two sets of judgments.\n"
        "\n"
        "### Levels of qrels.txt\n"
        "\n"
        "| grade | documents | share | remark       |\n"
        "| ----: | --------: | ----: | ------------ |\n"
        "|   0.0 |  **1200** | 93.8% | not relevant |\n"
        "|   1.0 |        80 |  6.2% | -            |\n"
        "|   2.5 |         0 |     - | a, b         |\n"
        "\n"
        "bold: most\n"
        "\n"
        "| a     | b      |           kappa |\n"
        "| ----- | ------ | --------------: |\n"
        "| first | second |           0.500 |\n"
        "| first | third  | -0.333 (-0.833) |\n"
        "\n"
        "`order:score|ties:docid-desc`\n"
    )


def test_latex_has_commands_for_what_its_fonts_lack():
    """Greek letters and signs of formulas; what Latin alphabets have stays as it is."""
    page = Page("x", (Table((Column("αβ"), Column("n", "number", 1)), (("|α| ≥ 2 × µ – Järvelin…", 1.0),)),))
    assert "$\\alpha$$\\beta$ & n \\\\" in render_text(page, "latex")
    row = r"\textbar{}$\alpha$\textbar{} $\geq$ 2 $\times$ $\mu$ -- Järvelin\ldots{} & 1.0 \\"
    assert row in render_text(page, "latex").splitlines()


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_every_command_for_a_sign_compiles(tmp_path):
    signs = "αβγδεζηθικλμνξοπρςστυφχψωΓΔΘΛΞΠΣΥΦΨΩµ×±·≤≥≠≈∞∈∑√→←↑↓†‡–—…−′″"
    text = Page("x", (Table((Column("signs"),), ((signs[:30],), (signs[30:],))),)).text("latex")
    assert not set(text) & set(signs)
    frame = (r"\documentclass{article}", r"\usepackage{booktabs}", r"\begin{document}", text, r"\end{document}")
    (tmp_path / "x.tex").write_text("\n".join(frame))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "x.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_latex():
    assert render_text(PAGE, "latex") == (
        "% \\usepackage{booktabs}\n"
        "% Two sets of judgments.\n"
        "\n"
        "% Levels of qrels.txt\n"
        "\\begin{tabular}{@{}rrrl@{}}\n"
        "\\toprule\n"
        "grade & documents & share & remark \\\\\n"
        "\\midrule\n"
        "0.0 & \\textbf{1200} & 93.8\\% & not relevant \\\\\n"
        "1.0 & 80 & 6.2\\% & -- \\\\\n"
        "2.5 & 0 & -- & a, b \\\\\n"
        "\\bottomrule\n"
        "\\end{tabular}\n"
        "% bold: most\n"
        "\n"
        "\\begin{tabular}{@{}llr@{ }r@{}}\n"
        "\\toprule\n"
        "a & b & \\multicolumn{2}{r}{kappa} \\\\\n"
        "\\midrule\n"
        "first & second & 0.500 &  \\\\\n"
        "first & third & $-$0.333 & ($-$0.833) \\\\\n"
        "\\bottomrule\n"
        "\\end{tabular}\n"
        "\n"
        "% order:score|ties:docid-desc\n"
    )


def test_latex_as_a_whole_environment():
    """The caption is LaTeX already; further tables go by their titles. What marks mean stands below for readers."""
    first, second = list(PAGE.tables)
    page = replace(PAGE, parts=(first, replace(second, title="Kappa & co")), caption=r"On \emph{levels}", label="tab:x")
    lines = render_text(page, "latex").splitlines()
    begin = [i for i, line in enumerate(lines) if line == r"\begin{table}"]
    assert [lines[i + 1 : i + 4] for i in begin] == [
        [r"\centering", r"\caption{On \emph{levels}}", r"\label{tab:x}"],
        [r"\centering", r"\caption{Kappa \& co}", r"\label{tab:x-2}"],
    ]
    end = lines.index(r"\end{table}")
    assert lines[end - 3 : end] == [r"\end{tabular}", r"\par\smallskip\footnotesize", "bold: most"]
    assert lines.count(r"\end{table}") == 2


@pytest.mark.parametrize(("columns", "fits"), [(3, True), (9, False)])
def test_latex_makes_wide_tables_fit_the_text_column(columns, fits):
    """Nine columns of eight letters are 360 points and the room between them, more than a column of a paper."""
    table = Table(tuple(Column(f"measure{i}") for i in range(columns)), (("12345678",) * columns,))
    text = render_text(Page("x", (table,)), "latex")
    assert (r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%" in text) is not fits
    assert text.count("{") == text.count("}")
    assert text.startswith(r"% \usepackage{booktabs}" if fits else r"% \usepackage{booktabs,graphicx}")


def test_html():
    html = render_text(PAGE, "html")
    assert html.startswith('<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n')
    assert "<title>gainful judgments</title>" in html
    assert "<p>Two sets of judgments.</p>\n<table>\n<caption>Levels of qrels.txt</caption>\n<thead>\n" in html
    assert '<td class="number">0.0</td><td class="number marked">1200</td><td class="number">93.8%</td>' in html
    assert '<p class="note">bold: most</p>' in html
    assert '<p class="note"><code>order:score|ties:docid-desc</code></p>\n</body>\n</html>\n' in html


def test_printing_a_page_prints_its_table():
    page = ShownPage(PAGE.command, PAGE.parts, PAGE.notes, PAGE.header)
    assert str(page) + "\n" == page.text() == render_text(PAGE)
    assert page._repr_html_() == fragment(PAGE)


def cell_of(format_, cell, column):
    """How a format writes one value of a table that has only this one."""
    text = render_text(Page("x", (Table((column,), ((cell,),)),)), format_)
    if format_ == "jsonl":
        return json.loads(text.splitlines()[1])[column.name]
    return text.splitlines()[{"csv": 1, "table": 2}[format_]].strip()


@pytest.mark.parametrize(
    ("column", "cell", "shown", "exact", "parsed"),
    [
        (Column("x", "number"), 2 / 3, "0.6667", repr(2 / 3), 2 / 3),
        (Column("x", "number", 0), 2 / 3, "1", repr(2 / 3), 2 / 3),
        (Column("x", "number"), np.float64(0.1), "0.1000", "0.1", 0.1),
        (Column("x", "number"), math.nan, "-", '""', None),
        (Column("x", "number"), math.inf, "inf", "inf", "inf"),
        (Column("x", "number"), None, "-", '""', None),
        (Column("x", "number", none="never"), None, "never", '""', None),
        (Column("x", "count"), 3.0, "3", "3", 3),
        (Column("x", "count"), np.int64(3), "3", "3", 3),
        (Column("x", "count", 4), 123456789, "123456789", "123456789", 123456789),
        (Column("x", "share"), 0.731, "73.1%", "0.731", 0.731),
        (Column("x", "share", 0), 1, "100%", "1.0", 1.0),
        (Column("x"), 7, "7", "7", "7"),
        (Column("x"), "", "", '""', ""),
    ],
)
def test_values(column, cell, shown, exact, parsed):
    assert cell_of("table", cell, column) == shown
    assert cell_of("csv", cell, column) == exact
    value = cell_of("jsonl", cell, column)
    assert (value, type(value)) == (parsed, type(parsed))


@pytest.mark.parametrize("format_", FORMATS)
def test_what_is_empty_is_no_fault(format_):
    for page in (Page("x", ()), Page("x", (Table((Column("a"), Column("b", "count")), ()),)), Page("x", ("",))):
        assert render_text(page, format_).endswith("\n") or not render_text(page, format_)


# -- Long texts --------------------------------------------------------------------------------------------------------

WORDS = " ".join(f"word{i}" for i in range(40))


class Terminal(io.StringIO):
    """What is written to a terminal."""

    def isatty(self) -> bool:
        return True


def on_terminal(page: Page, width: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The lines that a terminal of some width shows."""
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("NO_COLOR", "1")
    write(page, "table", terminal := Terminal())
    return terminal.getvalue().splitlines()


def is_wrapped(lines: list[str], width: int) -> bool:
    """Whether all lines fit, and no word would have had room on the line before."""
    return max(map(len, lines)) <= width < min(len(f"{a} {b.split()[0]}") for a, b in itertools.pairwise(lines))


@pytest.mark.parametrize("page", [Page("x", (WORDS,)), Page("x", (), (WORDS,))], ids=["paragraph", "note"])
def test_prose_is_wrapped(page, monkeypatch):
    lines = render_text(page).splitlines()
    assert " ".join(lines) == WORDS and is_wrapped(lines, 80)
    assert is_wrapped(on_terminal(page, 60, monkeypatch), 60)
    assert is_wrapped(on_terminal(page, 200, monkeypatch), 100)  # wider is hard to read


def test_a_signature_is_broken_by_terminals_only_and_after_a_bar(monkeypatch):
    signature = "|".join(f"name{i}:value" for i in range(12))
    assert render_text(Page("x", (), (signature,))).splitlines() == [signature]
    lines = on_terminal(Page("x", (), (signature,)), 60, monkeypatch)
    assert len(lines) == 3 and "".join(lines) == signature and all(line.endswith("|") for line in lines[:-1])


def test_a_verbatim_line_goes_on_below_its_value(monkeypatch):
    lines = on_terminal(Page("x", (f"    needs   {WORDS}",)), 60, monkeypatch)
    assert lines[0].startswith("    needs   word0 ") and is_wrapped(lines, 60)
    assert all(line.startswith(" " * 12 + "word") for line in lines[1:])


def test_a_table_that_is_too_wide_shows_its_columns_in_turn(monkeypatch):
    columns = (Column("run"), *(Column(f"measure{i}", "number") for i in range(8)))
    page = Page("x", (Table(columns, (("a", *[0.5] * 8), ("b", *[0.25] * 8)), "Means", ("a note",)),))
    lines = on_terminal(page, 60, monkeypatch)
    assert max(map(len, lines)) <= 60
    assert lines[:5] == [
        "Means",
        "run  measure0  measure1  measure2  measure3  measure4",
        "---  --------  --------  --------  --------  --------",
        "a      0.5000    0.5000    0.5000    0.5000    0.5000",
        "b      0.2500    0.2500    0.2500    0.2500    0.2500",
    ]
    assert lines[5:7] == ["", "run  measure5  measure6  measure7"] and lines[-2:] == ["", "a note"]
    assert "measure7" in on_terminal(page, 120, monkeypatch)[1]


def test_words_get_narrower_before_columns_move(monkeypatch):
    table = Table((Column("what"), Column("n in all", "count"), Column("remedy")), (("a", 1, WORDS), ("b", 2, "none")))
    lines = on_terminal(Page("x", (table,)), 40, monkeypatch)
    assert lines[0].split() == ["what", "n", "in", "all", "remedy"] and max(map(len, lines)) <= 40
    assert " ".join(line[16:] for line in lines[2:-1]) == WORDS
    narrow = Table(tuple(Column(f"n of all {i}", "count") for i in range(6)), ((1,) * 6,))
    assert on_terminal(Page("x", (narrow,)), 40, monkeypatch)[:2] == [
        " n of   n of   n of   n of   n of   n of",
        "all 0  all 1  all 2  all 3  all 4  all 5",
    ]


def test_long_texts_in_tables_take_several_lines():
    table = Table((Column("what"), Column("n", "count"), Column("remedy")), (("a", 1, WORDS), ("b", 2, "none")))
    lines = render_text(Page("x", (table,))).splitlines()
    assert " ".join(line[9:] for line in lines[2:-1]) == WORDS
    assert all(line.startswith(" " * 9) for line in lines[3:-1])
    assert lines[2].startswith("a     1  word0 ") and lines[-1] == "b     2  none"
    assert max(map(len, lines)) <= 9 + 60


def test_long_ids_are_cut(monkeypatch):
    table = Table((Column("run"), Column("n", "count")), (("x" * 100, 1),))
    assert render_text(Page("x", (table,))).splitlines()[2] == "x" * 77 + "...  1"
    assert "x" * 100 in render_text(Page("x", (table,)), "csv")
    assert on_terminal(Page("x", (table,)), 60, monkeypatch)[2] == "x" * 54 + "...  1"


def test_paragraphs_with_several_lines():
    page = Page("x", ("first\nsecond & third", "    a = b\n\n      / <c>"))
    assert render_text(page) == "first\nsecond & third\n\n    a = b\n\n      / <c>\n"
    assert render_text(page, "markdown") == "first\nsecond \\& third\n\n```text\na = b\n\n  / <c>\n```\n"
    assert "<p>first<br>\nsecond &amp; third</p>\n<pre>a = b\n\n  / &lt;c&gt;</pre>" in render_text(page, "html")
    assert all(line.startswith("%") or not line for line in render_text(page, "latex").splitlines())


# -- Terminals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format_", FORMATS)
def test_control_bytes_are_escaped_on_a_terminal(format_):
    hostile = "a\x1b[2J\x07\x9b\udc9b\u202eb"
    page = Page("x", (Table((Column("run"), Column("AP", "number")), ((hostile, 0.5),), hostile), hostile), (hostile,))
    out = Terminal()
    write(page, format_, out)
    assert all(character.isprintable() or character in "\t\n" for character in out.getvalue())
    assert hostile in render_text(page, "trec")  # files and pipes get what it is


@pytest.mark.parametrize("variable", [None, "NO_COLOR", "TERM"])
def test_marked_cells_are_bold_on_a_terminal(monkeypatch, variable):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    if variable:
        monkeypatch.setenv(variable, {"NO_COLOR": "1", "TERM": "dumb"}[variable])
    table = Table(
        (Column("run"), Column("AP", "number"), Column("d", "difference", 1)),
        (("a*", 0.25, None), ("b", 0.5, 0.25)),
        marked=frozenset({(1, 1)}),
    )
    out = Terminal()
    write(Page("x", (table,)), "table", out)
    lines = out.getvalue().splitlines()
    assert lines[2] == "a*   0.2500"
    assert lines[3] == ("b    0.5000* (+0.2)" if variable else "b    \x1b[1m0.5000*\x1b[0m (+0.2)")


def test_numbers_in_texts_are_those_of_formulas_in_latex():
    cells = ("5e-05", "< 1e-15", "run2e-05b", "-0.82 (-1.22 to -0.42), a-1")
    table = Table((Column("p"), Column("n", "number", 1)), tuple((cell, i + 1.0) for i, cell in enumerate(cells)))
    text = render_text(Page("x", (table,)), "latex")
    assert "$-$0.82 ($-$1.22 to $-$0.42), a-1" in text
    assert r"$5\times10^{-5}$ & 1.0" in text
    assert r"\textless{} $1\times10^{-15}$" in text
    assert "run2e-05b" in text


def test_a_table_in_pieces_repeats_all_that_tells_its_rows_apart(monkeypatch):
    """Who and against whom; where these are the same in two rows, the value, too."""
    long = "a-system-with-a-name"
    columns = (Column("system"), Column("other"), *(Column(f"measure{i}", "number") for i in range(4)), Column("p"))
    pairs = [(long, "b"), (long, "c"), ("b", "c")]
    lines = on_terminal(Page("x", (Table(columns, [(*pair, *[0.5] * 4, "0.01") for pair in pairs]),)), 60, monkeypatch)
    headers = [line.split() for line in lines if line.startswith("system")]
    assert len(headers) == 2 and [header[:2] for header in headers] == [["system", "other"]] * 2
    shown = [" ".join(line.split()[:2]) for line in lines if line.split()[-1:] in (["0.01"], ["0.5000"])]
    assert shown == [" ".join(pair) for pair in pairs] * 2
    ways = [("mine", 0.25, "1", "x" * 20, "y" * 20), ("mine", 0.5, "1", "x" * 20, "z" * 20)]
    table = Table((Column("figure"), Column("value", "number"), *map(Column, ("by", "ways", "known as"))), ways)
    below = on_terminal(Page("x", (table,)), 50, monkeypatch)[-2:]
    assert [line.split()[:2] for line in below] == [["mine", "0.2500"], ["mine", "0.5000"]]


# -- Headings ----------------------------------------------------------------------------------------------------------

HEADED = Table((Column("run"), Column("AP", "number")), (("a", 0.5),), "Means")
SECTIONS = Page("demo", ("first", Heading("Table 2 & more"), "below", HEADED, Heading("Next"), HEADED))


def test_text_underlines_them():
    assert "\n\nTable 2 & more\n==============\n\nbelow\n\nMeans\n" in render_text(SECTIONS)


def test_markdown_html_and_latex():
    assert "\n\n## Table 2 \\& more\n\nbelow\n\n### Means\n" in render_text(SECTIONS, "markdown")
    assert "<h2>Table 2 &amp; more</h2>\n<p>below</p>" in render_text(SECTIONS, "html")
    assert "% Table 2 & more" in render_text(SECTIONS, "latex")


def test_tables_of_machines_say_what_they_stand_under():
    assert render_text(SECTIONS, "csv") == "# Table 2 & more: Means\nrun,AP\na,0.5\n\n# Next: Means\nrun,AP\na,0.5\n"
    lines = [json.loads(line) for line in render_text(SECTIONS, "jsonl").splitlines()]
    assert [line["heading"] for line in lines if "heading" in line] == ["Table 2 & more", "Next"]
    assert [line["text"] for line in lines if "text" in line] == ["first", "below"]
