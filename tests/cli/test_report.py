"""`gainful report`: the page is written atomically and opened on request; errors have hints."""

from __future__ import annotations

import gzip

import pytest

QRELS = "q1 0 d1 2\nq1 0 d2 0\nq2 0 d3 1\n"
OLD = "q1 Q0 d2 1 3 t\nq1 Q0 d1 2 2 t\nq2 Q0 x 1 1 t\n"
NEW = "q1 Q0 d1 1 3 t\nq1 Q0 d2 2 2 t\nq2 Q0 d3 1 1 t\n"


@pytest.fixture
def files(command):
    command.write("qrels.txt", QRELS)
    command.write("old.run", OLD)
    (command.directory / "new.run.gz").write_bytes(gzip.compress(NEW.encode()))
    return ("qrels.txt", "old.run", "new.run.gz")


def test_it_writes_a_page_and_names_it(command, files):
    command.write("titles.csv", "movieId,title\nd1,First\n")
    command.write("queries.csv", "query_id,text\nq1,foxes\nq2,tea\n")
    more = ("--baseline", "old", "--queries", "queries.csv", "--documents", "titles.csv", "-m", "AP", "--ranks", "5")
    result = command("report", *files, *more)
    assert (result.code, result.out) == (0, "Wrote report.html: new and old: AP on 2 queries\n")
    assert result.err == "notice: unjudged documents in the top 10: old 33.3%\n"
    page = (command.directory / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and "new and old are not significantly different in AP" in page
    assert '<th scope="row">new.run.gz</th>' in page
    quiet = command("report", *files, "-o", "other.html", "--quiet")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")
    assert (command.directory / "other.html").exists()


def test_documents_that_are_left_out(command, files):
    command.write("seen.csv", "user_id,item_id\nq1,d2\n")
    result = command("report", *files, "--exclude", "seen.csv", "-m", "P@1")
    assert (result.code, result.out) == (0, "Wrote report.html: new and old: P@1 on 2 queries\n"), result.err
    assert "notice: old: 1 retrieved document removed (exclude)\n" in result.err


def test_sessions(command):
    command.write("qrels.txt", "t1 0 d1 2\nt1 0 d2 1\n")
    command.write("sessions.csv", "session,query,rank,document\n" + "".join(f"{s},1,1,d{s}\n" for s in (1, 2)))
    command.write("topics.csv", "session,topic\n1,t1\n2,t1\n")
    files = ("qrels.txt", "sessions.csv", "--sessions", "--topics", "topics.csv")
    result = command("report", *files, "--judged-by", "topic")
    assert (result.code, result.out) == (0, "Wrote report.html: sessions: nsDCG@10 on 2 sessions\n"), result.err
    # The ideal gains 2 + 1/2: the sessions have 2 and 1 of it.
    assert "sessions has nsDCG@10 0.6000" in (command.directory / "report.html").read_text(encoding="utf-8")
    refused = command("report", *files, "--documents", "topics.csv")
    assert (refused.code, refused.err) == (2, "--documents cannot be used with --sessions\n")


def test_it_opens_a_browser(command, files, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
    assert command("report", *files, "--open", "--quiet").code == 0
    assert opened == [(command.directory / "report.html").as_uri()]
    monkeypatch.setattr("webbrowser.open", lambda _: False)
    assert "notice: no browser was found to open the page\n" in command("report", *files, "--open").err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["qrels.txt"], 2, "report needs judgments and at least one run\nhint: gainful report QRELS"),
        (["--baseline", "odl"], 2, "--baseline: no run is called 'odl'; runs: old, new\nhint: did you mean old?"),
        (["--documents", "titles.csv"], 3, "titles.csv: no titles of documents in the report, such as d2, d1, x, ..."),
        (["--documents", "titles.csv", "-o", "titles.csv"], 2, "--output: titles.csv is also an input file"),
        (["-o", "nowhere/report.html"], 3, "nowhere/report.html: cannot be written (folder nowhere does not exist)"),
        (["-o", "x.pdf"], 2, "x.pdf: expected a file that ends in .html, found .pdf\nhint: to get a PDF"),
        (["-m", "sDCG"], 2, "sDCG evaluates sessions, not single queries"),
    ],
)
def test_what_cannot_be_done_leaves_the_old_page(command, files, arguments, code, said):
    command.write("titles.csv", "id,title\nD1,First\n")
    command.write("report.html", "the old page")
    result = command("report", *([] if arguments == ["qrels.txt"] else files), *arguments)
    assert (result.code, result.out) == (code, "")
    assert result.err.startswith(said)
    assert (command.directory / "report.html").read_text() == "the old page"


def test_titles_by_the_names_that_columns_gives(command):
    command.write("q.csv", "Suche,Artikel,Note\n1,d1,2\n")
    command.write("r.csv", "Suche,Artikel\n1,d1\n")
    command.write("artikel.csv", "Artikel,Titel\nd1,Erster\n")
    asked = ("report", "q.csv", "r.csv", "--documents", "artikel.csv", "--columns")
    assert command(*asked, "query=Suche,document=Artikel,grade=Note,documents.text=Titel").code == 0
    refused = command(*asked, "query=Suche,document=Artikel,grade=Note")
    assert refused.code == 3 and refused.err.startswith("artikel.csv: expected a column for its title or text")
    assert "--columns documents.text=NAME names it" in refused.err


def test_both_cores_write_the_same_page(command, files, use_core, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    pages = []
    for name in ("c++", "python"):
        use_core(name)
        assert command("report", *files).code == 0
        pages.append((command.directory / "report.html").read_bytes())
    assert pages[0] == pages[1]
