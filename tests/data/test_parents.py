"""Chunks replaced by their documents, in runs and judgments, for every kind of parent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import gainful
from gainful import InputError, Policy, UsageError, compare, evaluate, examine, explain
from gainful.cli.main import run as run_command

CHUNKS = {"q1": {"d3#1": 9, "d12#3": 8, "d12#4": 7}, "q2": {"d7#1": 9, "d7#2": 8, "d9#2": 7}}
GOLD = {"q1": {"d12": 1}, "q2": {"d7": 2, "d9": 1}}
#: The same lists by hand: the first chunk of each document, ranks closed up.
DOCUMENTS = {"q1": {"d3": 9, "d12": 8}, "q2": {"d7": 9, "d9": 7}}
MEASURES = ["RR", "nDCG@10", "AP", "R@2", "P@2"]
PATTERN = "(.+)#[0-9]+"
TABLE = {chunk: chunk.split("#")[0] for chunks in CHUNKS.values() for chunk in chunks}


def means(qrels: Any, run: Any, **options: Any) -> list[float]:
    result = evaluate(qrels, run, MEASURES, **options)
    return [result.mean(measure) for measure in MEASURES]


def write(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


def trec(lists: dict[str, dict[str, int]]) -> str:
    return "".join(f"{q} Q0 {d} 1 {score} x\n" for q, documents in lists.items() for d, score in documents.items())


@pytest.mark.parametrize("parent", [PATTERN, TABLE, lambda chunk: chunk.split("#")[0]])
def test_chunks_count_as_their_document(core: str, parent: Any) -> None:
    assert means(GOLD, CHUNKS, parent=parent) == means(GOLD, DOCUMENTS)
    # The best score of a document's chunks is the document's, whatever the order they came in.
    turned = {query: dict(reversed(chunks.items())) for query, chunks in CHUNKS.items()}
    assert means(GOLD, turned, parent=parent) == means(GOLD, DOCUMENTS)


def test_files_of_chunks_and_documents(core: str, tmp_path: Path) -> None:
    run = write(tmp_path / "chunks.run", trec(CHUNKS))
    rows = "".join(f"{chunk},{document},x\n" for chunk, document in TABLE.items())
    for name, text in {
        "table.csv": f"chunk_id,doc_id,note\n{rows}",
        "bare.tsv": rows.replace(",x", "").replace(",", "\t"),
        "table.json": json.dumps(TABLE),
        "table.jsonl": "".join(json.dumps({"chunk": c, "document": d}) + "\n" for c, d in TABLE.items()),
    }.items():
        assert means(GOLD, run, parent=write(tmp_path / name, text)) == means(GOLD, DOCUMENTS), name
    part = write(tmp_path / "part.csv", "chunk_id,doc_id\nd12#3,d12\nd7#1,d7\nd9#2,d9\n")
    with pytest.warns(gainful.GainfulWarning, match=r"3 of 6 ids not in .*part.csv, such as 'd12#4'"):
        evaluate(GOLD, run, "RR", parent=part)
    with pytest.raises(InputError, match="expected chunks and their documents, found one column"):
        evaluate(GOLD, run, "RR", parent=write(tmp_path / "one.csv", "chunk_id\nd7#1\n"))


def test_a_column_of_the_run(core: str, tmp_path: Path) -> None:
    rows = [(q, c, c.split("#")[0], score) for q, chunks in CHUNKS.items() for c, score in chunks.items()]
    lines = "".join(f"{q},{chunk},{document},{score}\n" for q, chunk, document, score in rows)
    table = write(tmp_path / "run.csv", f"query_id,chunk_id,doc_id,score\n{lines}")
    assert means(GOLD, table, parent="doc_id") == means(GOLD, DOCUMENTS)
    nested = [
        {"query": q, "results": [{"meta": {"doc": d}, "id": c, "score": s} for p, c, d, s in rows if p == q]}
        for q in CHUNKS
    ]
    lines = "".join(json.dumps(each) + "\n" for each in nested)
    assert means(GOLD, write(tmp_path / "run.jsonl", lines), parent="meta.doc") == means(GOLD, DOCUMENTS)
    for run in (write(tmp_path / "a.run", trec(CHUNKS)), CHUNKS, {"q1": ["d12#3"]}):
        with pytest.raises(InputError, match=r"parent: neither a column nor a file is named 'doc_id'\nhint: a pattern"):
            evaluate(GOLD, run, "RR", parent="doc_id")
    with pytest.raises(InputError, match=r"no column '\.\+#' for document; .*\nhint: a pattern has parentheses"):
        evaluate(GOLD, table, "RR", parent=".+#")
    with pytest.raises(UsageError, match="parent: a run in memory needs a file or a pattern"):
        evaluate(GOLD, gainful.Run.of(CHUNKS), "RR", parent="doc_id")


def test_judged_chunks(core: str) -> None:
    """The best of a document's judged chunks counts; documents among them are unchanged."""
    gold = {"q1": {"d12#1": 1, "d12#8": 2, "d3": 0}, "q2": {"d7#5": 2, "d9#9": 1}}
    by_document = {"q1": {"d12": 2, "d3": 0}, "q2": {"d7": 2, "d9": 1}}
    assert means(gold, CHUNKS, parent=PATTERN, parent_of="both") == means(by_document, DOCUMENTS)
    assert means(gold, CHUNKS, parent=PATTERN, parent_of="both", judges="min")[0] == means(by_document, DOCUMENTS)[0]
    assert means(gold, CHUNKS, parent=PATTERN) == [0] * len(MEASURES)  # the judgments as they are


def test_everything_that_reads_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = {"chunks": CHUNKS, "documents": DOCUMENTS}
    found = compare(GOLD, runs, "RR", parent=PATTERN)
    assert found.pairs["RR"].difference == 0
    assert explain("RR", GOLD, CHUNKS, "q1", policy={"parent": PATTERN}).value == 1 / 2
    assert evaluate(GOLD, CHUNKS, "RR", parent=PATTERN).explain("RR", "q1").value == 1 / 2
    gold = write(tmp_path / "qrels.txt", "".join(f"q{i} 0 d1 1\n" for i in range(60)))
    run = write(tmp_path / "run", "".join(f"q{i} Q0 d{i % 2}#{i} 1 2 x\nq{i} Q0 d1#0 2 1 x\n" for i in range(60)))
    gainful.freeze_gate(gold, run, "RR", policy={"parent": PATTERN}).save(tmp_path / "gate.json")
    gate = gainful.Gate.read(tmp_path / "gate.json")
    assert gate.conventions.parent == PATTERN
    assert gainful.check_gate(gate, gold, run).exit_code == 0
    # The command reads files ahead, but not then.
    assert run_command(["gate", "check", str(tmp_path / "gate.json"), gold, run]) == 0
    assert "Pass: RR did not change (0.7500, 60 queries)." in capsys.readouterr().out
    assert run_command(["eval", gold, run, "-m", "RR", "--parent", PATTERN]) == 0
    assert "0.7500" in capsys.readouterr().out
    curves = [gainful.gain_curves(GOLD, {"a": run}, "CG", parent=PATTERN, draws=0) for run in runs.values()]
    assert str(curves[0].page()) == str(curves[1].page())
    with pytest.raises(UsageError, match="parent= cannot be used with sessions"):
        gainful.evaluate_sessions({"s": {"d": 1}}, b"s_1 Q0 d 1 1 x\n", policy={"parent": PATTERN})


def test_exclusion_is_by_document() -> None:
    assert means(GOLD, CHUNKS, parent=PATTERN, exclude={"q1": ["d3"]}) == means(GOLD, DOCUMENTS, exclude={"q1": ["d3"]})


def test_the_signature_restores_it() -> None:
    policy = Policy(parent=r"(a|b, 50%,.+)#\d+")
    line = str(gainful.Signature(None, policy, 1.0, 2))
    assert "|parent:(a%7Cb%2C 50%25%2C.+)#\\d+|" in line
    assert gainful.Signature.parse(line).policy == policy
    assert gainful.Signature.parse(gainful.Signature(None, policy, 1.0, 2).short()).policy == policy
    with pytest.raises(UsageError, match="cannot be read back\nhint: write chunks and documents to a file"):
        Policy.from_texts(Policy(parent=TABLE).texts())


@pytest.mark.parametrize(
    ("parent", "message"),
    [
        ("(.+)#(.+)", "expected a pattern with one group, found 2"),
        ("(.+", "'(.+' is not a regular expression"),
        ("", "expected a text, a dict or a function, found ''"),
        (3, "expected a text, a dict or a function, found 3"),
    ],
)
def test_mistakes(parent: Any, message: str) -> None:
    with pytest.raises(UsageError) as error:
        Policy(parent=parent)
    assert error.value.message.startswith("parent: ") and message in error.value.message


def test_ids_that_begin_with_others_are_noticed(core: str, tmp_path: Path) -> None:
    said = r"'d12#3' begins with the judged 'd12': use parent='\(\.\+\)#\[0-9\]\+' to credit chunks to documents"
    for run in (CHUNKS, write(tmp_path / "chunks.run", trec(CHUNKS))):
        with pytest.warns(gainful.GainfulWarning, match=said):
            evaluate(GOLD, run, "RR")
    (finding,) = examine(GOLD, {"mine": CHUNKS}).about("unmatched-documents")
    assert "use parent='(.+)#[0-9]+' to credit chunks to documents" in finding.remedy
    judged = {"q1": {"d12_chunk_1": 1}, "q2": {"d7_chunk_2": 1}}
    with pytest.warns(gainful.GainfulWarning, match=r"parent='\(\.\+\)_chunk_\[0-9\]\+', parent_of='both' to credit"):
        evaluate(judged, DOCUMENTS, "RR")
    assert evaluate(judged, DOCUMENTS, "RR", parent="(.+)_chunk_[0-9]+", parent_of="both").mean("RR") == 3 / 4
    for other in ({"q1": ["d120"]}, {"q1": ["x#1"]}):
        assert not any("begins with" in line for line in evaluate({"q1": ["d12"]}, other, "RR").notices)
    # Where documents meet, nothing is said of chunks.
    assert not any("begins with" in line for line in evaluate({"q1": ["d12"]}, {"q1": ["d12", "d12#3"]}, "RR").notices)
