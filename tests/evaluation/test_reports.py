"""Evaluations in every format, read back by independent parsers: the same numbers for any IDs."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest

from gainful import Policy, Report, UsageError, __version__, evaluate
from gainful.render import text as render_text

#: Ids that are somebody's syntax, and how people are shown them.
HOSTILE = {
    "a|b": "a|b",
    'c,"d"': 'c,"d"',
    "<b>&amp;": "<b>&amp;",
    r"x_y%$#{}~^\z": r"x_y%$#{}~^\z",
    "[i]": "[i]",
    "*star*": "*star*",
    "`tick`": "`tick`",
    "one--two": "one--two",
    "line\nbreak": r"line\nbreak",
    "carriage\rreturn": r"carriage\rreturn",
    "tab\tin": "tab in",
    "not\udcffutf8": r"not\xffutf8",
    "esc\x1b[1m": r"esc\x1b[1m",
    "日本": "日本",
    "=1+1": "=1+1",
}
QRELS = {query: {"d1": 2, "d2": 1, "d3": 0} for query in HOSTILE} | {"nothing": {"d1": 0}}
RUNS = {
    "first|\udcfe": {query: ["d3", "d1", "x", "d2"][i % 3 :] for i, query in enumerate(QRELS)},
    "second": {query: ["d1", "d2", "d3"][: i % 4] for i, query in enumerate(QRELS)},
}
SHOWN = {**HOSTILE, "nothing": "nothing", "first|\udcfe": r"first|\xfe", "second": "second"}
MEASURES = ["nDCG@10", "AP", "NumRet", "Judged@10"]


@pytest.fixture(scope="module")
def evaluations():
    return evaluate(QRELS, RUNS, MEASURES, policy=Policy(undefined="skip"))


@pytest.fixture(scope="module")
def report(evaluations):
    return Report(evaluations, by_query=True, places=17)


@pytest.fixture(scope="module")
def expected(evaluations):
    """(run, query or None, measure) -> value, straight from the evaluations."""
    values = {}
    for run, evaluation in evaluations.items():
        for measure in MEASURES:
            values |= {(run, query, measure): value for query, value in evaluation.by_query(measure).items()}
            values[run, None, measure] = evaluation.aggregate(measure)
    assert None in values.values()
    return values


def as_shown(expected):
    return {
        (SHOWN[run], SHOWN.get(query, "(all)"), measure): value for (run, query, measure), value in expected.items()
    }


def values_of(rows, header):
    """(run, query, measure) -> value of a table for people, texts as they are."""
    assert header == ["run", "query", *MEASURES]
    values = {}
    for run, query, *texts in rows:
        for measure, text in zip(MEASURES, texts, strict=True):
            assert (run, query, measure) not in values
            values[run, query, measure] = None if text == "-" else float(text)
    return values


# -- Formats for people ------------------------------------------------------------------------------------------------


def table_rows(text):
    lines = text.split("\n\n")[0].split("\n")
    ends = [(match.start(), match.end()) for match in re.finditer("-+", lines[1])]
    rows = [[line[start:end].strip() for start, end in ends] for line in lines]
    return rows[0], [[*row[:2], *(value.rstrip("*") for value in row[2:])] for row in rows[2:]]


def markdown_rows(text):
    lines = text.split("\n\n")[0].split("\n")
    rows = []
    for line in lines:
        assert line.startswith("| ") and line.endswith(" |")
        cells = [cell.strip() for cell in re.split(r"(?<!\\)(?:\\\\)*\|", line)[1:-1]]
        rows.append([re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", cell) for cell in cells])
    assert all(re.fullmatch("-{2,}[:-]", cell) for cell in rows[1])
    return rows[0], [[*row[:2], *(value.strip("*") for value in row[2:])] for row in rows[2:]]


LATEX = {r"\textbackslash{}": "\\", r"\textasciitilde{}": "~", r"\textasciicircum{}": "^", r"\textasciigrave{}": "`"}
LATEX |= {r"\textless{}": "<", r"\textgreater{}": ">", r"\textbar{}": "|", "{}": "", "{[}": "[", "{]}": "]", "{*}": "*"}
LATEX |= {f"\\{character}": character for character in "&%$#_{}"}
LATEX_TOKEN = re.compile("|".join(map(re.escape, sorted(LATEX, key=len, reverse=True))))


def latex_text(cell):
    bold = re.fullmatch(r"\\textbf\{(.*)\}", cell)
    cell = bold[1] if bold else cell
    # Nothing that is special may be left over when all escapes are taken away.
    assert not re.search(r"[\\{}$&#^_~%<>|]", LATEX_TOKEN.sub("", cell).replace("$-$", "")), cell
    return "-" if cell == "--" else LATEX_TOKEN.sub(lambda match: LATEX[match[0]], cell.replace("$-$", "-"))


def latex_rows(text):
    lines = text.split("\n")
    assert lines[0] == r"% \usepackage{booktabs,graphicx}"  # the names are so long that it has to be made to fit
    begin, end = lines.index(r"\toprule"), lines.index(r"\bottomrule")
    assert lines[begin - 1] == r"\begin{tabular}{@{}llrrrr@{}}" and lines[end + 1] == r"\end{tabular}}"
    assert lines[begin + 2] == r"\midrule"
    rows = [line.removesuffix(r" \\").split(" & ") for line in lines[begin + 1 : end] if line != r"\midrule"]
    assert all(line.startswith("% ") for line in lines[end + 2 :] if line)
    texts = [[latex_text(cell) for cell in row] for row in rows]
    return texts[0], texts[1:]


class TableParser(HTMLParser):
    """The rows of all tables, and which cells are marked."""

    def __init__(self):
        super().__init__()
        self.rows, self.marked, self.open = [], [], []

    def handle_starttag(self, tag, attributes):
        self.open += [tag] if tag != "meta" else []
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            if "marked" in (dict(attributes).get("class") or "").split():
                self.marked.append((len(self.rows) - 1, len(self.rows[-1]) - 1))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def html_rows(text):
    parser = TableParser()
    parser.feed(text)
    assert parser.open == []
    return parser.rows[0], parser.rows[1:]


READERS = {"table": table_rows, "markdown": markdown_rows, "latex": latex_rows, "html": html_rows}


@pytest.mark.parametrize("format_", READERS)
def test_formats_for_people_read_back(report, expected, format_):
    header, rows = READERS[format_](report.text(format_))
    assert values_of(rows, header) == as_shown(expected)


@pytest.mark.parametrize("format_", ["table", "markdown", "latex", "html"])
def test_the_conventions_stand_below(report, format_):
    signature = report.evaluations[0].signature().short()
    assert "undefined:skip | scale:" in signature
    wrapped = {"table": "{}", "markdown": "`{}`", "latex": "% {}", "html": '<p class="note"><code>{}</code></p>'}
    # A table breaks the line at the width of the terminal.
    text = " ".join(report.text(format_).split()) if format_ == "table" else report.text(format_)
    assert text.count(wrapped[format_].format(signature)) == 1


def test_the_best_is_emphasised_everywhere(evaluations):
    report = Report(evaluations)
    best = [max(e.aggregate(measure) for e in evaluations.values()) for measure in ("nDCG@10", "AP")]
    texts = [f"{value:.4f}" for value in best]
    assert [text for text in texts if f" {text}*" in report.text("table")] == texts
    assert re.findall(r"\*\*(.+?)\*\*", report.text("markdown")) == texts
    assert re.findall(r"\\textbf\{(.+?)\}", report.text("latex")) == texts
    parser = TableParser()
    parser.feed(report.text("html"))
    assert [parser.rows[row][column] for row, column in parser.marked] == texts
    for format_ in ("markdown", "latex", "html"):
        assert "bold: best in column" in report.text(format_)


def test_numbers_stand_to_the_right(evaluations):
    report = Report(evaluations)
    assert re.fullmatch(r"\| -+ (\| -+: ){4}\|", report.text("markdown").splitlines()[1])
    assert r"\begin{tabular}{@{}lrrrr@{}}" in report.text("latex")
    assert report.text("html").count('<th scope="col" class="number">') == 4


def test_differences_stand_behind_their_values(evaluations):
    one, other = (evaluations[run].aggregate("AP") for run in RUNS)
    report = Report(evaluations, baseline="second")
    value, difference = f"{one:.4f}", f"({one - other:+.4f})"
    assert re.search(rf"{re.escape(value)}[* ] {re.escape(difference)}", report.text("table"))
    assert re.search(rf"{re.escape(value)}(\*\*)? {re.escape(difference)} \|", report.text("markdown"))
    sign = difference.replace("-", "$-$")
    assert re.search(rf"{re.escape(value)}\}}? & {re.escape(sign)} ", report.text("latex"))
    assert f'{value} <span class="difference">{difference}</span>' in report.text("html")
    # The columns of a LaTeX row are as many as its head says.
    head, *rows = [line for line in report.text("latex").splitlines() if line.endswith(r"\\")]
    assert {row.count("&") for row in rows} == {8} and head.count(r"\multicolumn{2}{r}{") == 4
    assert r"{@{}lr@{ }rr@{ }rr@{ }rr@{ }r@{}}" in report.text("latex")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_latex_compiles(tmp_path, evaluations):
    text = Report(evaluations, by_query=True, baseline="second").text("latex").replace("日本", "Nihon")
    document = "\n".join(
        [r"\documentclass{article}", r"\usepackage{booktabs}", r"\begin{document}", text, r"\end{document}"]
    )
    (tmp_path / "x.tex").write_text(document)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "x.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


# -- Formats for machines ----------------------------------------------------------------------------------------------


def test_csv_reads_back(report, expected):
    _, header, *rows = csv.reader(io.StringIO(report.text("csv"), newline=""), strict=True)
    assert header == ["run", "query", *MEASURES]
    found = {
        (run, query.replace("'=1", "=1") or None, measure): None if text == "" else float(text)
        for run, query, *texts in rows
        for measure, text in zip(MEASURES, texts, strict=True)
    }
    assert found == expected
    assert {text for *_, text, _ in rows} <= {str(number) for number in range(100)}, "counts have no decimal point"
    assert "\r" not in report.text("csv").replace("carriage\rreturn", "")


def test_csv_is_wide(evaluations):
    conventions, *lines = Report(evaluations, baseline="second").text("csv").splitlines()
    assert conventions.startswith("# order:")
    assert lines[0] == "run," + ",".join(f"{measure},{measure} difference" for measure in MEASURES)
    first, second = (evaluations[run] for run in RUNS)
    fields = [f"{first.aggregate(m)!r},{first.aggregate(m) - second.aggregate(m)!r}" for m in ("nDCG@10", "AP")]
    assert lines[1].startswith(f"first|\udcfe,{','.join(fields)},")
    assert lines[2].split(",")[2::2] == [""] * 4
    counts = [int(e.aggregate("NumRet")) for e in (first, second)]
    assert lines[1].split(",")[5:7] == [str(counts[0]), str(counts[0] - counts[1])]


def test_jsonl_reads_back(report, expected):
    _, *rows, _ = map(json.loads, report.text("jsonl").splitlines())
    assert {(row["run"], row["query"], row["measure"]): row["value"] for row in rows} == expected


def trec_rows(text):
    for line in text.split("\n")[:-1]:
        name, query, value = line.split("\t")
        assert len(name) >= 22 and line.startswith(f"{name.rstrip():<22}\t")
        yield name.rstrip(), query, value


TREC_NAMES = {"nDCG@10": "ndcg_cut_10", "AP": "map", "NumRet": "num_ret", "Judged@10": "Judged@10"}


def test_trec_reads_back(report, expected):
    found, run = {}, ""
    for name, query, value in trec_rows(report.text("trec")):
        if name == "runid":
            assert query == "all"
            run = value
        else:
            assert (run, query, name) not in found
            found[run, query, name] = float(value)
    escapes = str.maketrans({"\t": r"\t", "\n": r"\n", "\r": r"\r"})
    assert found == {
        (run, "all" if query is None else query.translate(escapes), TREC_NAMES[measure]): value
        for (run, query, measure), value in expected.items()
        if value is not None
    }


def test_trec_has_all_queries_before_the_aggregates(evaluations):
    text = Report(evaluations["second"], by_query=True).text("trec")
    queries = [query for _, query, _ in trec_rows(text)]
    assert queries[0] == "all" and queries[-4:] == ["all"] * 4 and "all" not in queries[1:-4]


def test_trec_numbers():
    report = Report(evaluate({"q": {"d": 1}}, {"q": ["x", "x2", "d"]}, ["RR", "NumRel", "NumQ"], name="r"), True, 2)
    assert report.text("trec").splitlines() == [
        "runid                 \tall\tr",
        "recip_rank            \tq\t  0.33",
        "num_rel               \tq\t1",
        "recip_rank            \tall\t  0.33",
        "num_rel               \tall\t1",
        "num_q                 \tall\t1",
    ]


# -- What a report is made of ------------------------------------------------------------------------------------------

SMALL_QRELS, SMALL_RUN = {"q1": {"d": 1}, "q2": {"d": 1}}, {"q1": ["d"]}


def test_one_evaluation_several_or_a_dict():
    one = evaluate(SMALL_QRELS, SMALL_RUN, "AP", name="one")
    assert Report(one).text("csv") == Report([one]).text("csv") == Report({"one": one}).text("csv")
    assert Report(one).text("csv").endswith("\nrun,AP\none,0.5\n")
    assert Report({"mine": one}).text("csv").endswith("\nrun,AP\nmine,0.5\n")
    assert one.run == "one"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda one: Report([]), "no evaluations"),
        (lambda one: Report([one, one]), "duplicate run '<dict>'"),
        (
            lambda one: Report({"a": one, "b": evaluate(SMALL_QRELS, SMALL_RUN, "RR")}),
            "runs have different measures: AP for 'a', and RR for 'b'",
        ),
        (
            lambda one: Report({"a": one, "b": evaluate({"q1": {"d": 1}}, SMALL_RUN, "AP")}),
            "2 queries for 'a', and other 1 query for 'b'",
        ),
        (lambda one: Report({"bm25": one}, baseline="bm52"), "(?s)no run is called 'bm52'.*did you mean bm25"),
        (lambda one: Report(one).text("excel"), "(?s)format: expected table | trec .* found 'excel'"),
        (lambda one: Report(one).save("results.xls"), r"results.xls: expected a name that ends in .*, found '.xls'"),
    ],
)
def test_what_makes_no_sense_is_refused(make, message):
    with pytest.raises(UsageError, match=message):
        make(evaluate(SMALL_QRELS, SMALL_RUN, "AP"))


def test_different_conventions_are_all_shown():
    one = evaluate(SMALL_QRELS, SMALL_RUN, "AP")
    other = evaluate(SMALL_QRELS, SMALL_RUN, "AP", policy=Policy(missing="skip"))
    lines = Report({"one": one, "also": one, "other": other}).text().splitlines()
    assert " ".join(lines[-5:]) == (
        "* best in column; means over different numbers of queries: one 2, also 2, other 1 "
        f"one, also: conventions: order:input | scale:1 | queries:2 | gainful:{__version__} "
        f"other: conventions: order:input, missing:skip | scale:1 | queries:2 | gainful:{__version__}"
    )


def test_printing_a_report_prints_its_table():
    report = Report(evaluate(SMALL_QRELS, SMALL_RUN, "AP", name="r"))
    assert str(report) + "\n" == report.text("table")


def test_notebooks_show_tables_with_their_conventions():
    evaluation = evaluate(SMALL_QRELS, SMALL_RUN, "AP", name="<r>")
    for content in (evaluation, Report(evaluation)):
        html = content._repr_html_()
        assert html_rows(html) == (["run", "AP"], [["<r>", "0.5000"]])
        assert "<html" not in html and str(evaluation.signature().short()) in html


@pytest.mark.parametrize(
    ("ending", "format_"),
    [
        ("txt", "table"),
        ("trec", "trec"),
        ("jsonl", "jsonl"),
        ("csv", "csv"),
        ("md", "markdown"),
        ("tex", "latex"),
        ("html", "html"),
        ("HTML", "html"),
    ],
)
def test_saving_goes_by_the_ending(tmp_path, report, ending, format_):
    path = tmp_path / f"results.{ending}"
    report.save(path)
    whole = render_text(report.page().with_whole_conventions(), format_)
    assert path.read_bytes() == whole.encode("utf-8", "surrogateescape")
    report.save(path, "jsonl")
    assert path.read_text() == report.text("jsonl")
    assert list(tmp_path.iterdir()) == [path]
