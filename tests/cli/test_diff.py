"""`gainful diff`: output, formats, exit codes and messages."""

from __future__ import annotations

import csv
import io

import pytest

OLD = "".join(f"q{q} Q0 d{d} 0 {10 - d} t\n" for q in (1, 2, 3) for d in range(1, 6))
#: q1 is the same, q2 in another order, q3 has one new document in the top 2; q4 is new.
NEW = OLD.replace("q2 Q0 d1 0 9", "q2 Q0 d1 0 7.5").replace("q3 Q0 d2", "q3 Q0 d9") + "q4 Q0 d1 0 1 t\n"
QUERIES = "query,text,kind\nq1,one,short\nq2,two,short\nq3,three words here,long\n"


@pytest.fixture
def files(command):
    for name, text in (("old.run", OLD), ("new.run", NEW), ("queries.csv", QUERIES), ("other.run", "q9 Q0 d 1 1 t\n")):
        command.write(name, text)
    return command


def test_the_first_sentences_have_the_answer(files):
    result = files("diff", "old.run", "new.run", "--k", "2")
    assert result.code == 0 and result.err == ""
    start = "new changes 16.7% of the top 2 (mean over 3 queries); 1 query did not change, 1 only in order."
    assert result.words.startswith(f"{start} 1 query is only in new (q4) and not counted. Changes from old")
    assert "Documents" not in result.out and len(result.out.splitlines()) <= 24


def test_queries_are_listed_with_texts_most_changed_first(files):
    result = files("diff", "old.run", "new.run", "--k", "2", "--queries", "queries.csv", "--by", "kind", "--detail")
    lines = [line.split() for line in result.out.splitlines()]
    assert ["new", "long", "1", "50.0%"] in [line[:4] for line in lines]
    begin = lines.index(["Most", "changed", "in", "the", "top", "2"])
    assert [line[0] for line in lines[begin + 3 : begin + 5]] == ["q3", "q2"]
    assert lines[begin + 3][:7] == ["q3", "three", "words", "here", "50.0%", "1", "1"]
    assert ["q3", "went", "d2", "2", "-"] in lines and ["q3", "came", "d9", "-", "2"] in lines
    assert ["q2", "moved", "d2", "2", "1"] in lines
    listed = files("diff", "old.run", "new.run", "--k", "2", "--detail", "--most", "1").out
    assert "q3 " in listed and "q2 " not in listed
    listed = files("diff", "old.run", "new.run", "--k", "2", "--detail", "--most", "0").out
    assert "Changes from old" in listed and not any(title in listed for title in ("Most changed", "Documents"))


def test_programs_get_everything(files):
    result = files("diff", "old.run", "new.run", "new.run", "--name", "a", "--name", "b", "--name", "c", "--k", "2,3",
                   "--most", "0", "--format", "jsonl")  # fmt: skip
    assert result.lines[0]["only_new"] == {"b": ["q4"], "c": ["q4"]}
    rows = result.rows("Changes from a")
    assert [(row["run"], row["top"]) for row in rows] == [(run, k) for run in "bc" for k in (2, 3)]
    assert [row["query"] for row in result.rows("Most changed in the top 2: c")] == ["q3", "q2"]
    assert len(result.rows("Documents: b")) == 4
    table = files("diff", "old.run", "new.run", "--format", "csv").out.split("# Documents\n")[1]
    assert {"query": "q2", "change": "moved", "document": "d1", "old rank": "1", "new rank": "2"}.items() <= {
        tuple(pair) for row in csv.DictReader(io.StringIO(table)) if row["document"] == "d1" for pair in row.items()
    }
    assert "| new |" in files("diff", "old.run", "new.run", "--format", "markdown").out


@pytest.mark.parametrize(("limit", "code"), [("0.16", 1), ("0.17", 0), ("0", 1), ("1", 0)])
def test_too_much_change_fails(files, limit, code):
    result = files("diff", "old.run", "new.run", "--k", "2", "--fail-above", limit)
    assert result.code == code and f"16.67% {'exceeds' if code else 'is within'} the limit of" in result.words


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("old.run other.run", 3, "old and other have no common query: old has q1, q2, q3, other has q9"),
        ("old.run new.run --k 0", 2, "--k: expected ranks like 5,10,20, found '0'"),
        ("old.run new.run --persistence 1", 2, "persistence: expected a number between 0 and 1, found 1.0"),
        ("old.run new.run --fail-above 30", 2, "--fail-above: expected a share from 0 to 1, found 30.0"),
        ("old.run new.run --ties best", 2, "ties=best needs judgments"),
        ("old.run new.run --by kind", 2, "by: requires a table of queries"),
        ("old.run new.run --only-queries other.run", 3, "--only-queries: no matching query"),
        ("old.run none.run", 3, "none.run: no such file"),
        ("old.run", 2, ""),
    ],
)
def test_what_cannot_be_compared(files, arguments, code, message):
    result = files("diff", *arguments.split())
    assert (result.code, result.out) == (code, "") and message in result.err.splitlines()[0]


def test_a_repeated_document_is_an_error_unless_the_first_is_kept(files):
    files.write("twice.run", OLD + "q1 Q0 d1 0 1 t\n")
    assert files("diff", "old.run", "twice.run").code == 3
    result = files("diff", "old.run", "twice.run", "--duplicates", "first")
    assert result.code == 0 and "conventions: duplicates:first" in result.out


@pytest.mark.usefixtures("files")
def test_only_conventions_of_lists_are_offered(command):
    text = command("diff", "--help-all").out
    assert all(flag in text for flag in ("--order", "--ties", "--scores", "--duplicates", "--parent", "--depth"))
    assert not any(flag in text for flag in ("--judges", "--missing", "--recall-cut", "--qrels-format", "--scale"))
