# ruff: noqa: E501 - a case a line reads better
"""The same judgments and run give the same scores in every format."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import shlex
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pytest

import gainful
from gainful import InputError, Qrels, Run, UsageError, evaluate
from gainful.data.queries import read_ids
from gainful.io.formats import Reading, format_of
from gainful.io.sources import open_source
from tests.together import together

from .conftest import Collection, json_lines, rows_of, rows_read, table, trec_qrels, trec_run, write_ntcir

pytestmark = pytest.mark.usefixtures("core")

MEASURES = ["nDCG@10", "AP", "P@5", "RR(rel=2)", "DCG(gain=exp2)", "NumRet", "NumRelRet"]


def scores(qrels: Any, run: Any) -> dict[str, dict[str, float | None]]:
    result = evaluate(qrels, run, MEASURES)
    return {measure: result.by_query(measure) for measure in MEASURES}


def qrels_texts(qrels: dict[str, dict[str, float]]) -> dict[str, bytes]:
    rows = [(q, d, g) for q, d, g, _ in rows_of(qrels)]
    nested = [{"query": q, "judgments": grades} for q, grades in qrels.items()]
    return {
        "csv": table(rows, ["query", "document", "grade"], ","),
        "csv, CRLF, other names and order": table(
            [(g, d, q, "x,y") for q, d, g in rows],
            ["Relevance", "Doc_ID", "query-id", "comment"],
            ",",
            lineterminator="\r\n",
        ),
        "csv of a spreadsheet": b"\xef\xbb\xbf" + table(rows, ["qid", "docno", "label"], ";"),
        "csv, all quoted": table(rows, ["topic", "doc", "rel"], ",", quoting=1),
        "tsv as BEIR writes it": table(rows, ["query-id", "corpus-id", "score"], "\t"),
        "json": json.dumps(qrels).encode(),
        "json, pretty": json.dumps(qrels, indent=2).encode(),
        "jsonl": json_lines(nested),
        "json list of entries": json.dumps(nested).encode(),
        "jsonl of rows": json_lines([{"query_id": q, "doc_id": d, "relevance": g} for q, d, g in rows]),
    }


def run_texts(run: dict[str, dict[str, float]]) -> dict[str, bytes]:
    rows = [(q, d, s, rank) for q, d, s, rank in rows_of(run)]
    return {
        "csv": table([(q, d, s) for q, d, s, _ in rows], ["query", "document", "score"], ","),
        "tsv with rank": table([(rank, q, d, s) for q, d, s, rank in rows], ["rank", "qid", "docid", "score"], "\t"),
        "csv, ranks only": table([(q, d, rank) for q, d, _, rank in rows], ["q_id", "pid", "rank"], ","),
        "json": json.dumps(run).encode(),
        "json, ids only": json.dumps({q: list(scores) for q, scores in run.items()}).encode(),
        "jsonl, ids": json_lines([{"query": q, "results": list(scores)} for q, scores in run.items()]),
        "jsonl, pairs": json_lines([{"query": q, "results": list(scores.items())} for q, scores in run.items()]),
        "jsonl, dict": json_lines([{"query": q, "results": scores} for q, scores in run.items()]),
        "jsonl, objects": json_lines(
            [{"qid": q, "results": [{"id": d, "score": s} for d, s in scores.items()]} for q, scores in run.items()]
        ),
        "jsonl of rows": json_lines([{"query": q, "document": d, "score": s} for q, d, s, _ in rows]),
        "jsonl of rows with ranks": json_lines([{"qid": q, "docno": d, "rank": rank} for q, d, _, rank in rows]),
        "csv with an index": table(
            [(i, q, d, s) for i, (q, d, s, _) in enumerate(rows)], ["", "query", "document", "score"], ","
        ),
        "csv of a spreadsheet that says so": b"sep=;\r\n"
        + table([(q, d, s) for q, d, s, _ in rows], ["Query ID", "Doc ID", "Score"], ";"),
    }


@pytest.mark.parametrize("kind", qrels_texts({}))
def test_judgments_in_any_format(collection: Collection, kind: str) -> None:
    expected = scores(collection.qrels, collection.run)
    text = qrels_texts(collection.qrels)[kind]
    assert scores(text, collection.run) == expected
    assert scores(gzip.compress(text, mtime=0), collection.run) == expected


@pytest.mark.parametrize("kind", run_texts({}))
def test_runs_in_any_format(collection: Collection, kind: str) -> None:
    text = run_texts(collection.run)[kind]
    assert scores(collection.qrels, text) == scores(collection.qrels, collection.run)


def test_formats_without_quotes(plain: Collection, tmp_path: Path) -> None:
    expected = scores(plain.qrels, plain.run)
    rel, res = write_ntcir(tmp_path, plain)
    one_file = "".join(f"{q} {d} L{int(g)}\n" for q, d, g, _ in rows_of(plain.qrels)).encode()
    msmarco = "".join(f"{q}\t{d}\t{rank}\n" for q, d, _, rank in rows_of(plain.run)).encode()
    assert scores(trec_qrels(plain.qrels), trec_run(plain.run)) == expected
    assert scores(rel, res) == expected
    assert scores(one_file, msmarco) == expected


def test_one_topic_of_ntcir_is_named_by_its_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the folder contains no \.rel files"):
        Qrels.read(tmp_path)
    (tmp_path / "0001.rel").write_text("d1 L2\nd2 L0\n")
    (tmp_path / "0001.mine.res").write_text("d2\nd1\n")
    assert evaluate(tmp_path / "0001.rel", tmp_path / "0001.mine.res", "RR").by_query("RR") == {"0001": 0.5}
    (tmp_path / "0002.rel.gz").write_bytes(gzip.compress(b"d1 L1\n", mtime=0))
    (tmp_path / "others.rel").write_text("0003 d1 L1\n0004 d1 L1\n")  # another form of line
    assert Qrels.read(tmp_path).queries == ["0001", "0002", "0003", "0004"]
    (tmp_path / "0001.mine.res").write_bytes(b"d1\rd2\r")
    with pytest.raises(InputError, match=r"0001.mine.res:1: expected lines that end in .*CR alone\nhint: .*\n    d1"):
        Run.read(tmp_path)


@pytest.mark.usefixtures("core")
def test_a_run_for_ntcir_may_begin_with_its_description(plain: Collection, tmp_path: Path) -> None:
    expected, text = scores(plain.qrels, plain.run), trec_run(plain.run)
    described = b"<SYSDESC>BM25, then a cross-encoder</SYSDESC>\n" + text
    path, packed = tmp_path / "one.run", tmp_path / "one.run.gz"
    path.write_bytes(described)
    packed.write_bytes(gzip.compress(described, mtime=0))
    for source in (described, path, packed, gzip.compress(described, mtime=0)):
        assert scores(plain.qrels, source) == expected
    path.write_bytes(described + b"q1 Q0 d1\n")
    with pytest.raises(InputError, match=f"one.run:{described.count(10) + 1}: expected 6 fields, found 3"):
        Run.read(path)
    with pytest.raises(InputError, match="2: expected 6 fields, found 5"):
        Run.read(text.split(b"\n")[0] + b"\n<SYSDESC>not the first line</SYSDESC> b\n")


def letor(qrels: dict[str, dict[str, float]], run: dict[str, dict[str, float]], comment: str = "#docid = {}") -> bytes:
    """Feature 1 is the run's score, feature 2 its negative; documents not in the run are NULL."""
    lines = []
    for query, grades in qrels.items():
        for document, grade in grades.items():
            score = run[query].get(document)
            features = f"1:{score} 2:{-score}" if score is not None else "1:NULL 2:NULL"
            lines.append(f"{int(grade)} qid:{query} {features} 7:1 {comment.format(document)}\n")
    return "".join(lines).encode()


def test_letor_is_judgments_and_as_many_systems_as_features(plain: Collection) -> None:
    text = letor(plain.qrels, plain.run, "#docid = {} inc = 1 prob = 0.5")
    # All documents are retrieved; those without a value come last, by descending id as equal scores do.
    as_run = {q: {d: plain.run[q].get(d, -1e9) for d in grades} for q, grades in plain.qrels.items()}
    opposite = {q: {d: -plain.run[q].get(d, 1e9) for d in grades} for q, grades in plain.qrels.items()}
    assert scores(text, as_run) == scores(plain.qrels, as_run)
    assert scores(plain.qrels, Run.read(text, feature=1)) == scores(plain.qrels, as_run)
    assert scores(text, Run.read(text, feature=2)) == scores(plain.qrels, opposite)
    assert set(Run.read(text, feature=3).score) == {0.0}  # not in the file: 0, as sparse vectors are
    with pytest.raises(InputError, match="no feature 8; the file has 7 features"):
        Run.read(text, feature=8)
    for feature in (-1, 0, 1.5, 2**70, True, "first"):
        with pytest.raises(UsageError, match=r"feature: expected a (whole )?number"):
            Run.read(text, feature=feature)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="a LETOR run needs a feature as its score"):
        Run.read(text)


def test_an_answered_query_without_results_is_not_missing() -> None:
    result = evaluate(
        {"q1": {"d": 1}, "q2": {"d": 1}}, b'{"query": "q1", "results": []}\n', "P@1", policy="trec_eval-9"
    )
    assert result.missing == ["q2"]
    assert result.by_query("P@1") == {"q1": 0.0, "q2": None}


RANKED: dict[str, list[Any]] = {"query": ["q1", "q1"], "document": ["a", "b"], "rank": [2, 1]}


@together(
    "run",
    [
        *(b"query,doc,rank\nq1,a,2\nq1,b,1\n", b"q1 a 2\nq1 b 1\n"),
        *(pandas.DataFrame(RANKED), polars.DataFrame(RANKED), pyarrow.table(RANKED)),
    ],
)
def test_lists_without_scores_go_by_their_ranks_or_stay_as_they_came(run: Any) -> None:
    result = evaluate({"q1": {"b": 1}}, run, "RR")
    assert (result.mean("RR"), result.policy.order, result.facts.rank_conflicts) == (1.0, "rank", 0)
    assert str(result.signature()).startswith("order:rank|")
    by_line = evaluate({"q1": {"b": 1}}, run, "RR", policy=gainful.Policy(order="input"))
    assert (by_line.mean("RR"), by_line.facts.rank_conflicts) == (0.5, 1)
    assert evaluate({"q1": {"b": 1}}, {"q1": ["a", "b"]}, "RR").policy.order == "input"
    unbroken = gainful.Policy(ties="rank")
    assert evaluate({"q1": {"b": 1}}, {"q1": ["a", "b"]}, "RR", policy=unbroken).mean("RR") == 0.5


def test_rows_keep_their_ranks_and_subtopics() -> None:
    run = json_lines([{"query": "q", "document": d, "score": s, "rank": r} for d, s, r in [("a", 9, 2), ("b", 1, 1)]])
    by_rank = gainful.Policy(order="rank")
    assert evaluate({"q": {"b": 1}}, run, "RR", policy=by_rank).mean("RR") == 1.0
    assert evaluate({"q": {"b": 1}}, run, "RR").mean("RR") == 0.5
    rows = [{"query": "q", "subtopic": t, "document": "a", "grade": g} for g, t in [(1, 1), (3, 2)]]
    for qrels in (json_lines(rows), b"query,subtopic,document,grade\nq,1,a,1\nq,2,a,3\n"):
        assert evaluate(qrels, {"q": ["a"]}, "CG", policy=gainful.Policy(subtopics=True)).mean("CG") == 3.0
        with pytest.raises(InputError, match="column 2 differs"):
            evaluate(qrels, {"q": ["a"]}, "CG")


def test_long_first_lines_are_recognised() -> None:
    results = [[f"https://example.org/{i:060}", 1.0 / (i + 1)] for i in range(1500)]
    text = json_lines([{"query": q, "results": results} for q in ("q1", "q2")])
    assert text.index(b"\n") > 1 << 16
    assert Run.read(text).queries == ["q1", "q2"]


# -- Recognised by content -------------------------------------------------------------------------------------------


@together(
    ("head", "run", "expected"),
    [
        (b"q1 0 d1 2\n", False, "trec"),
        (b"# a comment\n\nq1 Q0 d1 1 0.5 tag\n", True, "trec"),
        (b"q1\td1\t1\n", True, "msmarco"),
        (b"196\t242\t3\t881250949\n", False, "movielens"),
        (b"1::1193::5::978300760\n", False, "movielens"),
        (b"1\t0\t3\t2\n", False, "trec"),
        (b"q1 d1 x\n", True, "trec"),
        (b"PAR1\x15", False, "parquet"),
        (b'{"q1": {"d1": 1}}', False, "json"),
        (b'{"query": {"d1": 1}}', False, "json"),
        (b'{"id": "q1", "hits": []}', True, "jsonl"),
        (b'{"user": "u1", "results": [', True, "jsonl"),
        (b"\tquery\tdoc\tscore\n", True, "tsv"),
        (b'{\n  "q1": {', True, "json"),
        (b'[{"query": "q1", "results": []}]', True, "json"),
        (b'{"query": "q1", "results": []}\n{', True, "jsonl"),
        (b'\xef\xbb\xbf{"qid": 3, "docno": "d", "score": 1}\n', True, "jsonl"),
        (b"query,doc,grade\n", False, "csv"),
        (b"QID;Doc_Id;Rel\r\n", False, "csv"),
        (b'"query_id","doc_id","score"\n', True, "csv"),
        (b"query-id\tcorpus-id\tscore\n", False, "tsv"),
        (b"query doc score\n", True, "trec"),  # blanks separate no header
        (b"0 qid:85 1:2.0 #docid = 57950\n", False, "letor"),
        (b"0 qid:85 1:2.0\n", True, "letor"),
        (b"0101 doc1 L2\n", False, "ntcir"),
        (b"doc1 L0\n", False, "ntcir"),
        (b"doc1\n", True, "trec"),
        (b"", False, "trec"),
    ],
)
def test_recognised_by_content(head: bytes, run: bool, expected: str) -> None:
    assert format_of(open_source(head, "file"), Reading(), run=run) == expected
    if head == b"doc1\n":
        assert format_of(open_source(head, "a/0001.x.res"), Reading(), run=run) == "ntcir"


@together("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"])
@together(
    ("format_", "text"),
    [
        ("json", '{"q1": {"d1": 1}}'),
        ("jsonl", '{"query": "q1", "judgments": {"d1": 1}}\n{"query": "q2", "judgments": {"d1": 1}}\n'),
    ],
)
def test_json_is_utf8_with_and_without_a_given_format(encoding: str, format_: str, text: str) -> None:
    messages = set()
    for given in (None, format_):
        with pytest.raises(InputError) as error:
            Qrels.read(text.encode(encoding), format=given)
        messages.add(str(error.value))
    name = encoding[:6]
    hint = f"this looks like {name.upper()}; convert it: iconv -f {name} -t utf-8"
    assert messages == {f"<bytes>: expected UTF-8 text, found other bytes\nhint: {hint}"}


def test_a_given_format_does_not_turn_binary_into_text() -> None:
    for encoding, mark in (("utf-16", ""), ("utf-16-be", "\ufeff"), ("utf-32", ""), ("utf-32-be", "\ufeff")):
        table = f"{mark}query,doc,grade\nq1,d1,1\n".encode(encoding)
        for read in (lambda table: Qrels.read(table, format="csv"), lambda table: read_ids(table, "only")):
            with pytest.raises(InputError, match=f"looks like {encoding[:6].upper()}"):
                read(table)
    with pytest.raises(InputError, match="found binary content"):
        read_ids("q1\nq2\n".encode("utf-16-le"), "only")
    with pytest.raises(InputError, match="found a zip file or a spreadsheet"):
        Qrels.read(b"PK\x03\x04 and so on", format="csv")


def test_a_given_format_overrides_the_content() -> None:
    text = b"q1,d1,2\n"
    with pytest.raises(
        InputError, match=r"no column for the query among q1, d1, 2; use columns={'query': 'q1', 'document': 'd1'"
    ):
        Qrels.read(text, format="csv")
    with pytest.raises(UsageError, match=r"expected trec \| msmarco"):
        Qrels.read(text, format="excel")
    assert Run.read(b"1 2 3\n", format="msmarco").document(0) == b"2"
    with pytest.raises(InputError, match=r"<bytes>:1: expected the names of columns, found 1, 798, 4\.5"):
        Qrels.read(b"1\t798\t4.5\n2\t798\t3\n", format="tsv")
    with pytest.raises(InputError, match="'document': 'clicked_doc', 'rank': 'position'}"):
        Run.read(CLICKS, columns={"query": "query"})
    given = {"qrels.grade": "score", "run.score": "score"}
    assert gainful.evaluate(b"query,doc,rank,score\nq,d,1,2\n", b"query,doc,score\nq,d,2\n", "P@1", columns=given)
    with pytest.raises(UsageError, match="msmarco is a format for runs"):
        Qrels.read(b"1 2 3\n", format="msmarco")


# -- Columns ----------------------------------------------------------------------------------------------------------


@together(
    ("text", "run", "rows"),
    [
        (b'{"query": "some words", "qid": "q1", "results": ["d1"]}\n', True, [("q1", "d1", None)]),
        (b"qid,query,docid,docno,score\n1,port arthur,77,D1,2.5\n", True, [("1", "D1", 2.5)]),
        (b'{"id": "q1", "query": "some text", "gold": ["d1"]}\n', False, [("q1", "d1", 1)]),
        (b'{"query_id": "q", "positive_passages": [{"docid": "d", "text": "t"}]}\n', False, [("q", "d", 1)]),
        (b'{"query": 7, "judgments": {"12": 1}}\n', False, [("7", "12", 1)]),
        (b'{"query": "7", "results": [[13, 0.5], [12, 0.25]]}\n', True, [("7", "13", 0.5), ("7", "12", 0.25)]),
        (b"2 qid:1 1:0.5\n0 qid:1 1:0.9\n1 qid:2 1:0.1 # nothing here\n", False, [("1", "1", 2), ("1", "2", 0), ("2", "1", 1)]),
        (b"q1 0 a,b 1\n", False, [("q1", "a,b", 1)]),  # no header
        (b"q1\t0\td;x\t1\n", False, [("q1", "d;x", 1)]),
        (b"query,user,item,rating\nq,u,i,1\n", False, [("q", "i", 1)]),
        (b"qid,docid,score,relevance\n1,a,0.25,3\n", False, [("1", "a", 3)]),
        (b"query\tdoc\tscore\nq\td\t1,25\n", True, [("q", "d", 1.25)]),
        (b'query,doc\nq1,"Paris, Texas the film"\nq2,Solaris\n', False, [("q1", "Paris, Texas the film", 1), ("q2", "Solaris", 1)]),
        (b"query,relevant_docs,grade\nq1,d1;d2,2\nq1,d3,1\n", False, [("q1", "d1", 2), ("q1", "d2", 2), ("q1", "d3", 1)]),
        (b"question,retrieved\nq1,d3; d1\nq2,d2\n", True, [("q1", "d3", None), ("q1", "d1", None), ("q2", "d2", None)]),
        (b"query,doc,score\nq1,d3;d1,1\nq2,d2,1\n", True, [("q1", "d3;d1", 1), ("q2", "d2", 1)]),
        (b"user,items,points\nu,i;j,5\nv,j,1\n", False, [("u", "i", 1), ("u", "j", 1), ("v", "j", 1)]),
        (b"SessionID\tURL\tRelevance\n22\thttp://a\t2\n22\thttp://b\t-1\n", False, [("22", "http://a", 2), ("22", "http://b", -1)]),
        (b"SessionID\trank\tURL\n22\t1\thttp://a\n", True, [("22", "http://a", None)]),
    ],
)  # fmt: skip
def test_rows_that_are_read(text: bytes, run: bool, rows: list[tuple[str, str, float | None]]) -> None:
    assert rows_read((Run if run else Qrels).read(text)) == rows


def test_columns_by_other_names() -> None:
    text = b"SessionID\tURL\tRelevance\n22\thttp://a\t1\n"
    qrels = Qrels.read(text, columns={"query": "SessionID", "document": "URL"})
    assert (qrels.queries, qrels.document(0), qrels.grade.tolist()) == (["22"], b"http://a", [1.0])
    assert Run.read(b"qid,doc_id,pid,score\n1,a,b,2\n", columns={"document": "pid"}).document(0) == b"b"
    given = {"query": "user", "document": "item", "score": "pred"}
    nested = b'{"user": "u1", "results": [{"item": 5, "pred": 0.5}]}\n'
    nearest = b'{"query": "q", "results": [{"id": "b", "distance": 0.9}, {"id": "a", "distance": 0.1}]}\n'
    assert rows_read(Run.read(nearest, columns={"rank": "distance"})) == [("q", "a", None), ("q", "b", None)]
    for line in (nested, b'{"user": "u1", "item": 5, "pred": 0.5}\n'):
        assert rows_read(Run.read(line, columns=given)) == [("u1", "5", 0.5)]
    with pytest.raises(InputError, match="no column 'Url' for document; columns: SessionID, URL, Relevance"):
        Qrels.read(text, format="tsv", columns={"query": "SessionID", "document": "Url"})
    with pytest.raises(UsageError, match=r"columns: expected query \| document"):
        Run.read(b"qid,docid,score\n1,a,2\n", columns={"user": "qid"})
    with pytest.raises(InputError, match="2 columns are named 'score'"):
        Run.read(b"qid,docid,score,score\n1,a,2,3\n", columns={"score": "score"})


ROLES = {
    "query": "user user_id userId qid query_id topic question_id session",
    "document": "item item_id itemId movieId doc docid doc_id pid passage_id chunk_id product_id sku url asin product",
    "grade": "rating grade relevance label rel judgment gain",
    "score": "score similarity sim prediction pred weight",
    "rank": "rank position pos",
}
RECOGNISED = [(role, name) for role, names in ROLES.items() for name in names.split()]


@together(("role", "name"), RECOGNISED)
def test_columns_are_recognised_by_usual_names(role: str, name: str) -> None:
    is_run = role in ("score", "rank")
    names = {"query": "query", "document": "document"}
    if role != "rank":
        names["score" if is_run else "grade"] = "score" if is_run else "grade"
    for form in {name, name.upper(), name.replace("_", "-"), name.replace("_", "")}:
        text = ",".join({**names, role: form}.values()).encode() + b"\nq1,d1,2\n"
        found = Run.read(text) if is_run else Qrels.read(text)
        assert (found.queries, found.document(0)) == (["q1"], b"d1"), form
        value = found.grade if isinstance(found, Qrels) else found.rank if role == "rank" else found.score
        assert value.tolist() == [2.0], form


def test_a_table_with_unknown_names_is_an_error_and_never_read_as_trec() -> None:
    for mark in ",;\t":
        text = f"visitor{mark}film{mark}stars\n7{mark}1{mark}4\n".encode()
        for read, value in ((Qrels.read, "grade"), (Run.read, "score")):
            with pytest.raises(InputError) as error:
                read(text)
            assert error.value.message == (
                "<bytes>:1: no column for the query among visitor, film, stars; "
                f"use columns={{'query': 'visitor', 'document': 'film', '{value}': 'stars'}}"
                # A position taken for a score would turn the list upside down.
                + (", or rank=stars if 1 is best" if value == "score" else "")
            )
    with pytest.raises(InputError, match=r"use columns={'query': 'userID', 'document': 'film', 'grade': 'stars'}"):
        Qrels.read(b"userID,film,stars\n7,1,4\n")


@together(
    ("text", "run", "asked"),
    [
        # Numbers are grades, what stands in runs is the query, in whatever order.
        (b"film,stars,who\nf1,4,7\nf2,3,7\nf3,5,8\n", False, {"query": "who", "document": "film", "grade": "stars"}),
        (b"when,who,film,stars\n5,u,f1,4\n6,u,f2,4\n7,v,f3,3\n", False, {"query": "who", "document": "film", "grade": "stars"}),
        (b"a,b,c\n0.5,x,d1\n0.25,x,d2\n0.75,y,d3\n", True, {"query": "b", "document": "c", "score": "a"}),
        (b"film;stars;who\nf1;4,5;7\nf2;3,0;7\n;;\n", False, {"query": "who", "document": "film", "grade": "stars"}),
        (b"n,who,film\n1,u,f1\n2,u,f2\n1,v,f3\n", True, {"query": "who", "document": "film", "rank": "n"}),
    ],
)  # fmt: skip
def test_columns_are_proposed_by_their_values(text: bytes, run: bool, asked: dict[str, str]) -> None:
    with pytest.raises(InputError, match=re.escape(f"use columns={asked}")):
        (Run if run else Qrels).read(text)
    records = list(csv.DictReader(io.StringIO(text.decode()), delimiter=";" if b";" in text else ","))
    with pytest.raises(InputError, match=re.escape(f"use columns={asked}")):
        (Run if run else Qrels).of(pandas.DataFrame(records))
    assert (Run if run else Qrels).read(text, columns=asked).queries


@together(("number", "hint"), [("1.234,5", "write numbers without thousands separators"), ("a,b", "decimal")])
def test_errors_quote_numbers_with_commas_as_they_stand(number: str, hint: str) -> None:
    with pytest.raises(InputError, match=f"found '{number}'(.|\n)*{hint}(.|\n)*q1;d2;{number}"):
        Run.read(f"query;doc;score\nq1;d1;0,5\nq1;d2;{number}\n".encode())


def test_proposed_columns_can_be_pasted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gold, found = tmp_path / "gold.csv", tmp_path / "found.csv"
    rows = [(f"wort {q}", f"SKU-{q}{d}", d, "an" if q < 3 else "aus") for q in range(5) for d in range(4)]
    gold.write_bytes(table(rows, ["Such Wort", "Artikel", "Stufe (0-3)", "Licht"], ";"))
    found.write_bytes(
        table([(q, i % 4 + 1, d) for i, (q, d, *_) in enumerate(rows)], ["Such Wort", "Position", "Artikel"], ";")
    )
    from gainful.cli.main import run

    assert run(["eval", str(gold), str(found)]) == 3
    said = capsys.readouterr().err
    assert said.endswith("use --columns 'query=Such Wort,document=Artikel,grade=Stufe (0-3)'\n")
    assert run(["eval", str(gold), str(found), "-m", "P@4", *shlex.split(said.rpartition("use ")[2])]) == 0
    assert "0.7500" in capsys.readouterr().out


KEYS_OF_JUDGED = [
    *("judgments", "relevant", "relevant_ids", "relevant_docs", "relevant_chunks", "expected", "expected_chunks"),
    *("positive_passages", "positives", "gold", "gold_doc_ids", "ground_truth", "answers_ids", "Expected-Docs", "docs"),
]
KEYS_OF_FOUND = ["results", "retrieved", "hits", "documents", "contexts", "docs", "chunks", "passages", "ranking"]


@together(("key", "run"), [*((key, False) for key in KEYS_OF_JUDGED), *((key, True) for key in KEYS_OF_FOUND)])
def test_keys_of_lists(key: str, run: bool) -> None:
    items = [{"chunk_id": "d2", "similarity": 0.9, "text": "so"}, {"chunk_id": "d1", "similarity": 0.4, "text": "no"}]
    lines = [
        {"id": "q1", "question": "why is it so", "answer": "none", key: items if run else ["d2", "d1"]},
        {"id": "q2", "question": "what else", "answer": "all", key: items[1:] if run else ["d1"]},
    ]
    values = [0.9, 0.4, 0.4] if run else [1, 1, 1]
    expected = list(zip(["q1", "q1", "q2"], ["d2", "d1", "d1"], values, strict=True))
    for text in (json_lines(lines), json.dumps(lines).encode()):
        assert rows_read((Run if run else Qrels).read(text)) == expected


def test_lists_under_any_key_and_of_pairs_or_objects() -> None:
    line = json_lines([{"nr": 7, "query": "some text", "soll": ["d1", "d2"], "other": [1]}])
    for role in ("document", "judgments"):
        qrels = Qrels.read(line, columns={"query": "nr", role: "soll"})
        assert (qrels.queries, len(qrels)) == (["7"], 2)
    pairs, objects = [["d1", 2], ["d2", 0]], [{"docid": "d1", "grade": 2}, {"docid": "d2", "grade": 0}]
    for listed in (pairs, objects):
        for source in ({"q1": listed}, json.dumps({"q1": listed}).encode()):
            assert Qrels.of(source).grade.tolist() == [2, 0]


@together(
    "cells",
    [
        ("d1", "d2; d3"),
        ("d1", "d2|d3"),
        ("d1", '"d2,d3"'),
        ("d1", '"[""d2"", ""d3""]"'),
        ("['d1']", "\"['d2', 'd3']\""),
        ("d1", "['d2' 'd3']"),
    ],
)
@together("column", ["relevant_chunks", "Antwort"])
def test_several_documents_in_a_cell(cells: tuple[str, str], column: str) -> None:
    text = f"question,{column}\nwhy so,{cells[0]}\nwhat else,{cells[1]}\n".encode()
    run = {"why so": ["d1"], "what else": ["x", "d2", "d4"]}
    with pytest.warns(gainful.GainfulWarning, match=rf"cells with several documents split \(column '{column}'\)"):
        found = evaluate(text, run, "R@3", columns={"document": column})
    assert found.by_query("R@3") == {"why so": 1.0, "what else": 0.5}


@together(
    "text",
    [
        b"query,doc,grade\nq1,d1;d2,1\nq2,d3,1\nq3,d4;d5,1\n",  # with a grade it may be one id
        b"query,doc\nq1,a|d1\nq2,a|d3\n",  # every id may have such a part
        b"query,doc\nq1,d1;d2\nq1,d3\nq2,d4;d5\n",  # rows of one document each
    ],
)
def test_possible_lists_are_kept_with_a_note(text: bytes) -> None:
    qrels = Qrels.read(text)
    assert len(qrels) == text.count(b"\n") - 1
    assert any(
        "was read as one document ID; if it holds several, name the column relevant_ids" in note for note in qrels.notes
    )


def test_judgments_without_grades_are_all_relevant() -> None:
    frame = pandas.DataFrame({"user": ["u", "u"], "item": ["i", "j"]})
    for gold in (b"user,item\nu,i\nu,j\n", frame):
        with pytest.warns(
            gainful.GainfulWarning, match="no column for the grade; every listed document counts as relevant"
        ):
            found = gainful.evaluate(gold, {"u": ["i", "x", "j"]}, "P@3")
        assert found.mean("P@3") == pytest.approx(2 / 3)


def test_tables_of_spreadsheets() -> None:
    judgments = Qrels.read(b"query;doc;grade\r\nq,1;d1;0,5\r\n;;\r\nq,1;d2;2\r\n;;\r\n;;\r\n")
    assert judgments.grade.tolist() == [0.5, 2.0]
    assert judgments.queries == ["q,1"]
    assert judgments.notes == ("<bytes>: 3 blank rows skipped", "<bytes>: 1 decimal comma read as decimal points")


@together(
    "text",
    [
        b"query;grade;doc\r\nGood;Good;d\r\nq;bad;e\r\n;;\r\nq;PERFECT;f\r\n",
        b'query,doc,"grade"\n"Good","d","Good"\nq,e,"bad"\nq,f,"PERFECT"\n',
        b"query\tdoc\tgrade\nGood\td\tGood\nq\te\tbad\nq\tf\tPERFECT\n",
    ],
)
def test_words_of_a_known_scale_are_read_as_numbers(text: bytes) -> None:
    found = Qrels.read(text)
    assert found.grade.tolist() == [2, 0, 3] and found.query_ids == (b"Good", b"q")
    assert found.notes[-1] == "<bytes>: grades are words, read as grades={'bad': 0, 'Good': 2, 'PERFECT': 3}"
    words = pandas.DataFrame({"query": ["q", "q"], "doc": ["d", "e"], "grade": ["Not relevant", "Relevant"]})
    for frame in (words, pyarrow.Table.from_pandas(words), polars.from_pandas(words)):
        judged = Qrels.from_frame(frame)
        assert judged.grade.tolist() == [0, 1] and "{'Not relevant': 0, 'Relevant': 1}" in judged.notes[-1]


@together(
    ("words", "grades"),
    [
        ("Bad Fair Good Perfect", [0, 1, 2, 3]),
        ("Perfect Excellent Good Fair Bad", [4, 3, 2, 1, 0]),
        ("Fair Excellent", [1, 3]),
        ("Exact Substitute Complement Irrelevant", [3, 2, 1, 0]),
        ("e s c i", [3, 2, 1, 0]),
    ],
)
def test_scales_of_words(words: str, grades: list[float]) -> None:
    """The Shopping Queries labels (Reddy et al. 2022) are E, S, C, I; fewer letters are ambiguous."""
    documents = {f"d{i}": word for i, word in enumerate(words.split())}
    table = "".join(f"q,{document},{word}\n" for document, word in documents.items())
    for judgments in (f"query,doc,grade\n{table}".encode(), {"q": documents}):
        assert Qrels.of(judgments).grade.tolist() == grades
    with pytest.raises(InputError, match="give each word a grade"):
        Qrels.of(b"query,doc,grade\nq,a,C\nq,b,E\n")


@together(
    "judgments",
    [
        b"query,doc,grade\nq,a,Top\nq,b,0.5\nq,c,flop\n",
        b"query;doc;grade\nq;a;Top\n;;\nq;b;0.5\nq;c;flop\n",
        b"q 0 a Top\nq 0 b 0.5\nq 0 c flop\n",
        {"q": {"a": "Top", "b": 0.5, "c": "flop"}},
        b'{"query": "q", "judgments": {"a": "Top", "b": 0.5, "c": "flop"}}',
        [{"query": "q", "doc": doc, "grade": grade} for doc, grade in (("a", "Top"), ("b", "0.5"), ("c", "flop"))],
    ],
)
def test_words_that_a_caller_gives_numbers(judgments: Any) -> None:
    grades = {"Top": 7, "Flop": 0}
    assert Qrels.of(judgments, grades=grades).grade.tolist() == [7, 0.5, 0]
    with pytest.raises(UsageError, match="none of its words occurs in the grades"):
        Qrels.of(judgments, grades={"Best": 1})
    with pytest.raises(UsageError, match="cannot be used with a Qrels"):
        Qrels.of(Qrels.of(judgments, grades=grades), grades=grades)


def test_all_words_that_are_no_grades_are_named() -> None:
    words = ["Schlecht", "Mäßig", "Gut", "Sehr gut", "Perfekt", "Übel"]
    asked = "grades=" + repr(dict.fromkeys(sorted(words), "N"))
    rows = "\n".join(f"q;d{i};{word}" for i, word in enumerate(words))
    with pytest.raises(InputError) as caught:
        Qrels.read(f"query;doc;grade\n{rows}\nq;e;2\n".encode())
    assert str(caught.value.hint).endswith(asked)
    frame = pandas.DataFrame({"query": "q", "doc": words, "grade": words})
    with pytest.raises(InputError) as caught:
        Qrels.from_frame(frame)
    assert str(caught.value.hint).endswith(asked)
    with pytest.raises(InputError) as caught:
        Qrels.from_frame(frame, grades={"Gut": 2})
    assert str(caught.value.hint).endswith(asked.replace("'Gut': 'N'", "'Gut': 2"))
    with pytest.raises(InputError, match="found an empty cell"):
        Qrels.read(b"query,doc,grade\nq,e,\nq,d,Good\n")
    with pytest.raises(InputError):
        Qrels.from_frame(pandas.DataFrame({"query": ["q", "q"], "doc": ["d", "e"], "grade": ["Good", None]}))


# -- Errors name file, line and field -----------------------------------------------------------------------------------

CLICKS = b"timestamp,user_id,query,clicked_doc,position\n2024-01-01 10:00:00,u1,red shoes,d1,3\n"


@together(
    ("text", "run", "message"),
    [
        (b"query,doc,grade\nq1,d1,1\nq1,d2,x\n", False, "<bytes>:3: expected a number as grade (field 3), found 'x'\n    q1,d2,x"),
        (b"query,doc,grade\nq1,d1\n", False, "<bytes>:2: expected 3 fields, found 2\n    q1,d1"),
        (b"query,doc,grade\nq1,,1\n", False, "<bytes>:2: expected an id as document (field 2), found nothing\n    q1,,1"),
        (b'query,doc,grade\nq1,"d1,1\n', False, '<bytes>:2: expected a closing " at the end of the field'),
        (b"query,doc,grade\nq1,d1,\"0,5\"\n", False, "expected a number as grade (field 3), found '0,5'"),
        (b"query,doc,score\nq1,d1,1e999\n", True, "expected a number that fits a 64-bit float as score (field 3), found '1e999'"),
        (b"query,doc,rank\nq1,d1,first\n", True, "<bytes>:2: expected a number as rank (field 3), found 'first'"),
        (b"Term;Item;Points;Comment\nred;A1;3;\nblue;A2;1;\n", False, "<bytes>:1: no column for the query among Term, Item, Points, Comment; use columns={'query': 'Term', 'document': 'Item', 'grade': 'Points'}"),
        (b"query,doc,what\nq1,d1,x\n", False, "<bytes>:1: no column for the grade among query, doc, what; use columns={'query': 'query', 'document': 'doc', 'grade': 'what'}"),
        (b"1 2 3\n1 2\n", True, "<bytes>:2: expected 3 fields, found 2\n    1 2"),
        (b'{"q1": {"d1": "x"}}', False, "<bytes>['q1']['d1']: expected a finite number as grade, found 'x'"),
        (b'{"q1": [["d1", 1, 2]]}', False, "<bytes>['q1'][0]: expected [document, grade], found"),
        (b'{"q1": [{"id": "d1", "similarity": 0.5}]}', False, "<bytes>['q1'][0]: expected judgments, found scores: id, similarity\nhint: this looks like a run"),
        (b'{"query": "q1", "results": ["d1"]}\n', False, "<bytes>:1: expected an object with query and judgments, found query, results\nhint: this looks like a run; give judgments first"),
        (b'{"query": "q1", "expected": ["d1"]}\n', True, "<bytes>:1: expected an object with query and results, found query, expected\nhint: this looks like judgments; give judgments first"),
        (b"query,retrieved_ids\nq1,d1\n", False, "<bytes>:1: expected judgments, found retrieved_ids: query, retrieved_ids\nhint: this looks like a run"),
        (b'question,relevant_ids\nq1,d1\nq2,[]\n', False, "<bytes>:3: expected an id as document, found an empty list\nhint: delete the rows"),
        (b'{"q1": {"d1": 1}, "q1": {}}', False, "<bytes>: expected JSON, found duplicate key 'q1' in one object"),
        (b'{"q1": {"d1": NaN}}', False, "<bytes>: expected JSON, found NaN, which is not a number"),
        (b'{"q1": {"d1": ' + b"9" * 5000 + b"}}", False, "<bytes>: expected JSON, found a number of more than 4,300 digits"),
        (b'{"q1": {"\\ud800": 1}}', False, "<bytes>: expected JSON, found unpaired surrogate \\ud800"),
        (b'{"query": "q1", "results": ["\\uDFFF"]}\n', True, "<bytes>:1: expected JSON, found unpaired surrogate \\udfff"),
        (b'{"q1": {"d1": 1}\n', False, '<bytes>:1: expected JSON, found the end of the text at column 17\n    {"q1": {"d1": 1}'),
        (b"[" * 100_000, True, "<bytes>: expected JSON, found values nested too deeply to read"),
        (b'{"q1": {"d1": 1}', False, "<bytes>:1: expected JSON, found the end of the text at column 17"),
        (b'{"query": "q1", "results": []}\nx\n', True, "<bytes>:2: expected JSON, found expecting value at column 1\n    x"),
        (b'{"query": "q1", "results": [["d1", "x"]]}\n', True, "<bytes>:1: results['d1']: expected a finite number as score, found 'x'"),
        (b'{"q1": {"d1": 1, "d2": true}}', False, "<bytes>['q1']['d2']: expected a finite number as grade, found true"),
        (b'{"q1": {"d1": false}}', True, "<bytes>['q1']['d1']: expected a finite number as score, found false"),
        (b'{"query": "q1", "results": [["d1", true]]}\n', True, "<bytes>:1: results['d1']: expected a finite number as score, found true"),
        (b'{"query": "q1", "results": [{"doc": "d1", "score": true}]}\n', True, "<bytes>:1: results['d1']: expected a finite number as score, found true"),
        (b'{"query": "q1", "judgments": {"d1": 1}}\n{"query": "q2", "judgments": {"d1": false}}\n', False, "<bytes>:2: judgments['d1']: expected a finite number as grade, found false"),
        (b'{"query": "q1", "doc": "a", "grade": 1}\n{"query": "q1", "doc": "b", "grade": true}\n', False, "<bytes>:2: expected a finite number as grade, found true"),
        (b'{"query": "q1", "results": [["d1"]]}\n', True, '<bytes>:1: results[0]: expected [document, score], found ["d1"]'),
        (b'{"query": "q1", "results": []}\n{"query": "q1", "results": []}\n', True, "<bytes>:2: results: duplicate query 'q1'"),
        (b'{"query": "q1", "found": []}\n', True, "<bytes>:1: expected an object with query and results, found query, found"),
        (b'{"query": null, "results": []}\n', True, "query: expected a text, bytes or an integer as id, found None"),
        (b"2 qid:1 1:x #docid = a\n", False, "<bytes>:1: expected feature:value (field 3), found '1:x'"),
        (b"x qid:1 1:1 #docid = a\n", False, "<bytes>:1: expected a number as grade, found 'x'"),
        (b"2 qid:1 1:1\n2 1:1\n", False, "<bytes>:2: expected `grade qid:query` at the start of the line"),
        (b"2 qid:1 1:1 #docid = a\r0 qid:1 1:2 #docid = b\r1 qid:1 1:3 #docid = c\r", False, "<bytes>:1: expected lines that end in LF or CR LF, found CR alone"),
        (b"2 qid:1 1:1 #docid = a\n0 qid:1 1:2 #docid = b\r1 qid:1 1:3 #docid = c\r\n", False, "<bytes>:2: expected lines that end in LF or CR LF, found CR alone"),
        (b"2 qid:1 1:1 #docid = a\n0 qid:1 1:2 #do\n", False, "<bytes>:2: expected #docid = as on other lines\nhint: is the file truncated? a line is `grade qid:"),
        (b"0 qid:1 1:2\n2 qid:1 1:1 #docid = a\n", False, "<bytes>:1: expected #docid = as on other lines"),
        (b"0101 d1 L2\n0101 d2 2\n", False, "<bytes>:2: expected a level such as L2, found '2'"),
        (b"0101 d1 L2\n# a comment\nd2 L1\n", False, "<bytes>:3: expected 3 fields as on line 1, found 2\n    d2 L1"),
        (b"d1 L2\n0101 d2 L1\n", False, "<bytes>:2: expected 2 fields as on line 1, found 3\n    0101 d2 L1"),
        (b"d1 L2\nq1 0 d2 L1 x\n", False, "<bytes>:2: expected 2 fields as on line 1, found 5\n    q1 0 d2 L1 x"),
        (b"d1 L" + b"9" * 400 + b"\n", False, "<bytes>:1: expected a level that fits a 64-bit float, found 'L9999"),
        (b"d1 L" + b"9" * 5000 + b"\n", False, "<bytes>:1: expected a level that fits a 64-bit float, found 'L9999"),
        (b"query,doc,score\nq1,d1,1\nq1,d1,2\n", True, "duplicate document 'd1' for query 'q1' (first: line 2)\n    q1,d1,2"),
        (b"query,doc,grade\nq1,d1,1\nq1,d1,2\n", False, "<bytes>:3: conflicting grades for query 'q1' and document 'd1': 2 after 1 (line 2)\n    q1,d1,2"),
        (b"query,doc,closeness\nq1,d1,1\n", True, "<bytes>:1: no column for the score or rank among query, doc, closeness; use columns={'query': 'query', 'document': 'doc', 'score': 'closeness'}"),
        (b"query,doc,rating\nq1,d1,1\n", True, "<bytes>:1: expected a run, found grades and no scores: query, doc, rating\nhint: this looks like judgments; give judgments first, then runs (if not: columns={'run.score': 'rating'})"),
        (b"query,doc,score,score\nq1,d1,1,2\n", True, "<bytes>:1: several columns for score: score and score\nhint: rename all but one"),
        (b"query,doc,score\rq1,d1,1\r", True, "<bytes>: expected lines that end in LF or CR LF, found CR alone"),
        (b'query,text,doc,score\nq1,"' + b"x" * 200_000 + b'",d1,zz\n', True, "<bytes>:2: expected a number as score (field 4), found 'zz'"),
        (b'{"query": "q1", "results": ["a", "b", "a"]}\n', True, "<bytes>:1: results: item 3: duplicate document 'a' for query 'q1' (first: item 1)"),
        (b'{"query": "q1", "doc": "a", "score": 1}\n{"query": "q1", "doc": "a", "score": 2}\n', True, "<bytes>:2: duplicate document 'a' for query 'q1' (first: line 1)"),
        (b'{"query": "q1", "doc": "a", "score": 1}\n{"query": "q1", "doc": "a"}\n', True, "<bytes>:2: expected a finite number as score, found null"),
        (b"q1 a L1\nq1 a L2\n", False, "<bytes>:2: conflicting grades for query 'q1' and document 'a': 2 after 1 (line 1)"),
        (b'{"query": "q1", "results": [["a", 1]]}\n{"query": "q2", "results": ["a"]}\n', True, "<bytes>:2: results: no scores, but other lists have them"),
        (b'{"query": "q1", "results": ["\xff"]}\n', True, "<bytes>:1: expected JSON, found 'utf-8' codec can't decode byte 0xff"),
        (b"num_q all 50\nmap all 0.3\n", True, "<bytes>:1: expected 6 fields, found 3\nhint: this looks like trec_eval output"),
        (b'{"nr": "q1", "treffer": ["d1"]}\n', True, "<bytes>:1: expected an object with query and results, found nr, treffer\nhint: use columns={'query': 'nr', 'document': 'treffer'}"),
        (b'{"query": "q1", "results": [{"thing": "d1", "score": 1}]}\n', True, "<bytes>:1: results[0]: expected an object with document and score, found thing, score"),
        (b"query,doc,grade\n", False, "<bytes>: no judgments"),
        (b"d0 L1\r\nd1 L2\rd2 L1\r", False, "<bytes>:2: expected lines that end in LF or CR LF, found CR alone\nhint: convert it: tr '\\r' '\\n'\n    d1 L2"),
        (b"qid,doc_id,pid,score\n1,a,b,2\n", True, "several columns for document: doc_id and pid"),
        (b"user,session_id,item,rating\nu,s,i,1\n", False, "several columns for query: user and session_id"),
        (b"query,doc,distance\nq1,d1,0.1\nq1,d2,0.3\n", True, "'document': 'doc', 'rank': 'distance'}"),
        (b"user,items,points\nu,i,5\nu,j,1\n", False, "no column for the grade among user, items, points"),
        (b"query,doc,grade\nq,d,1\nq,e,\n", False, "found an empty cell\nhint: delete the rows of unjudged documents"),
        (b"query;doc;grade\nq;d;Gut\nq;e;Schlecht\n", False, "give each word a grade, 0 for not relevant: grades={'Gut': 'N', 'Schlecht': 'N'}"),
        (b"query,doc,rank,score\nq,d,1,2.5\n", False, "expected judgments, found ranks and no grades: query, doc, rank, score\nhint: this looks like a run"),
        (b"userId,movieId,prediction\n1,31,3.2\n", False, "expected judgments, found scores and no grades: userId, movieId, prediction\nhint: this looks like a run"),
        (b"PK\x03\x04 and so on", False, "found a zip file or a spreadsheet\nhint: save the sheet as CSV"),
        ("q1 0 d1 1\n".encode("utf-16"), False, "looks like UTF-16"),
        (CLICKS, True, "looks like a click log: timestamp, user_id, query, clicked_doc, position\nhint: use `gainful sessions`"),
        (CLICKS, False, "'document': 'clicked_doc'}"),
        # A session has several lists: as one list they would be mixed.
        (b"SessionID\tQno\trank\tURL\n22\t1\t1\thttp://a\n", True, "<bytes>:1: expected one list per query, found sessions of several queries: Sess"),
        (b"query,doc,score\n", True, "<bytes>: no ranked documents"),
    ],
)  # fmt: skip
def test_errors_name_file_line_and_field(text: bytes, run: bool, message: str) -> None:
    with pytest.raises(InputError) as error:
        evaluate(b"q1 0 d1 1\n" if run else text, text if run else {"q1": {"d1": 1.0}}, "P@1")
    assert message in str(error.value) or message in error.value.message


MANY = 100_000


@pytest.mark.parametrize(
    ("text", "run", "message"),
    [
        (b"x " * MANY + b"\n", False, "<bytes>:1: expected 4 fields, found 100000"),
        (b"x\t" * MANY + b"\n", True, "<bytes>:1: expected 6 fields, found 100000"),
        (b"d1 L2\n" + b"x " * MANY + b"\n", False, "<bytes>:2: expected 2 fields as on line 1, found 100000"),
        (b"q1 d1 1\nq1 d2 x" + b" " * 2 * MANY + b"\n", True, "<bytes>:2: expected a number as rank (field 3), found 'x'"),
        (b"query,doc,grade\nq1,d1,1\n" + b"x," * MANY + b"\n", False, "<bytes>:3: expected 3 fields, found 100001"),
        (b'query,doc,grade,text\nq1,d1,x,"' + b'""' * MANY + b'"\n', False, "<bytes>:2: expected a number as grade (field 3), found 'x'"),
        (b"query,doc,grade," + b"," * (1 << 22) + b"\n", False, "<bytes>: expected a header of at most 4,194,304 bytes, found 4,194,320"),
        (b"1 qid:1 " + b"1:1 " * MANY + b"x\n", False, "<bytes>:1: expected feature:value (field 100003), found 'x'"),
        (b"q1 0 d1 " + b"\xff" * 2 * MANY + b"\n", False, "<bytes>:1: expected a number as grade, found '\\xff"),
    ],
)  # fmt: skip
def test_a_bad_line_takes_little_memory_however_long_it_is(
    text: bytes, run: bool, message: str, core: str, request: pytest.FixtureRequest
) -> None:
    if core == "python" and (b"," in text or b"qid:" in text):
        pytest.skip("the Python core splits tables and LETOR into objects")
    tracemalloc.start()
    request.addfinalizer(tracemalloc.stop)
    with pytest.raises(InputError) as error:
        (Run if run else Qrels).read(text)  # type: ignore[attr-defined]
    assert message in str(error.value) or message in error.value.message
    assert tracemalloc.get_traced_memory()[1] < 4 * len(text) + 1_000_000


@together("kind", [Qrels, Run])
def test_arguments_of_other_types_are_refused_by_name(kind: Any) -> None:
    with pytest.raises(UsageError, match=r'expected a dict of roles and names, found list\nhint: such as {"query": "'):
        kind.read(b"q1,d1,1\n", columns=["query", "document"])
    with pytest.raises(UsageError, match=r"expected a path, bytes, .* found NoneType"):
        kind.read(None)
    for value in (True, np.False_):
        with pytest.raises(
            InputError, match=r"<dict>\['q1'\]\['d1'\]: expected a finite number as (grade|score), found "
        ):
            kind.from_dict({"q1": {"d1": value, "d2": 1}})
    for value in (None, [1], "q1"):
        with pytest.raises(UsageError, match=f"<dict>: expected a dict keyed by query, found {type(value).__name__}"):
            kind.from_dict(value)
    with pytest.raises(UsageError, match="<dict>: expected several queries to select, found None"):
        kind.from_dict({"q1": {"d1": 1}}).select(None)


def test_three_bad_lines_then_a_count() -> None:
    text = b"query,doc,grade\n" + b"".join(b"q1,d%d,poor\n" % i for i in range(25))
    with pytest.raises(InputError) as error:
        Qrels.read(text)
    assert str(error.value).count("found 'poor'") == 3
    assert "... and 22 more like these" in str(error.value)


@pytest.mark.parametrize("mark", ["\t", "::"])
def test_ratings_as_movielens_has_them(mark: str, tmp_path: Path) -> None:
    """User, item, rating and time, as judgments and as items already seen."""
    rows = [("1", "7", "4.5", "889750020"), ("1", "8", "2", "889750021"), ("2", "9", "3", "889750022")]
    path = tmp_path / "u.data"
    path.write_text("".join(mark.join(row) + "\n" for row in rows))
    run = {"1": ["5", "7"], "2": ["9"]}
    found = evaluate(path, run, ["DCG(discount=none)@2", "RR(rel=3)"])
    assert found.by_query("DCG(discount=none)@2") == {"1": 4.5, "2": 3.0}
    assert found.by_query("RR(rel=3)") == {"1": 0.5, "2": 1.0}
    assert "every rating counts as relevant, even 2 of 4.5" in evaluate(path, run, "RR").notices[0]
    assert Qrels.read(b"user,item,rating\nu,a,4\nu,b,5\n").notes == ()
    assert evaluate({"1": {"5": 1}, "2": {"9": 1}}, run, "NumRet", exclude=path).by_query("NumRet") == {"1": 1, "2": 0}
    path.write_text(path.read_text() + "1" + mark + "x\n")
    with pytest.raises(InputError, match=r"u\.data:4: expected . fields, found"):
        evaluate(path, run)
    with pytest.raises(UsageError, match="movielens is a format for judgments"):
        Run.read(path, format="movielens")


def test_a_collection_of_ir_datasets(collection: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import NamedTuple

    # The real package is large and its collections are downloads; what is used of it is three calls.
    ir_datasets: Any = ModuleType("ir_datasets")
    ir_datasets.__spec__ = ModuleSpec("ir_datasets", None)
    monkeypatch.setitem(sys.modules, "ir_datasets", ir_datasets)

    class Judgment(NamedTuple):
        query_id: str
        doc_id: str
        relevance: float
        iteration: str = "0"

    class Dataset:
        def __init__(self, judged: bool) -> None:
            self.judged = judged

        def has_qrels(self) -> bool:
            return self.judged

        def qrels_iter(self) -> Any:
            return iter(Judgment(q, d, g) for q, d, g, _ in rows_of(collection.qrels))

    known = {"mine/test": Dataset(True), "mine": Dataset(False)}
    ir_datasets.registry, ir_datasets.load = known, known.__getitem__
    expected = scores(collection.qrels, collection.run)
    assert scores("irds:mine/test", collection.run) == scores("mine/test", collection.run) == expected
    with pytest.raises(InputError, match="irds:mine: this collection has no judgments"):
        Qrels.read("irds:mine")
    with pytest.raises(InputError, match="ir_datasets has no collection with this ID"):
        Qrels.read("irds:other")
    with pytest.raises(InputError, match="other: no such file"):
        Qrels.read("other")


# -- Judgments by session ----------------------------------------------------------------------------------------------


@together(
    ("qrels", "run", "message"),
    [
        (5, {"q": ["d"]}, "expected a path, bytes, a dict, a data frame or Qrels, found int"),
        (np.zeros((1, 2)), np.zeros((1, 2)), "found ndarray\nhint: use gainful.evaluate_arrays"),
        ({"q": {"d": 1}}, {"d"}, "expected a path, bytes, a dict, a data frame or a Run, found set"),
        ({"q": {"d": 1}}, polars.LazyFrame({"query": ["q"]}), "found LazyFrame\nhint: call .collect() first"),
        ({"q": {"d": 1}}, {"q": "d", "r": "e"}, "runs['q']: 'd' is not a file\nhint: the documents of a query are a list or a dict: {'q': ['d']}"),
        ({"q": {"d": 1}}, {"dense": "dense.run"}, "dense.run: no such file"),
    ],
)  # fmt: skip
def test_values_that_are_not_a_source(qrels: Any, run: Any, message: str) -> None:
    with pytest.raises((InputError, UsageError)) as error:
        evaluate(qrels, run)
    assert message in str(error.value)


def test_values_that_are_nearly_valid() -> None:
    with pytest.raises(UsageError, match=r"policy: unknown choice 'mising'\nhint: did you mean missing"):
        evaluate({"q": {"d": 1}}, {"q": ["d"]}, policy={"mising": "skip"})
    with pytest.raises(UsageError, match=r"grades\[1\]: expected a number, or None if unjudged, found 'a'"):
        gainful.parse("nDCG@3").score([3, "a"])  # type: ignore[list-item]
