"""Commands that read files print the same bytes on both cores."""

from __future__ import annotations

import json
import shutil

import pytest

QRELS, BM25, HYBRID = (f"gainful-demo/{name}" for name in ("qrels.txt", "bm25.run", "hybrid.run"))
COMMANDS = [
    ("eval", QRELS, BM25, "gainful-demo/dense.run.gz", "--by-query", "--format", "jsonl"),
    ("eval", QRELS, BM25, "-m", "nDCG@10", "--order", "rank", "--ties", "docid-asc", "--scores", "float32"),
    ("eval", QRELS, BM25, "-m", "AP", "--like", "trec_eval-9", "--depth", "7"),
    ("eval", QRELS, "table.csv", "--format", "csv"),
    ("compare", QRELS, BM25, HYBRID, "--format", "jsonl"),
    ("curves", QRELS, BM25, HYBRID, "--format", "csv"),
    ("sessions", "judged.txt", "log.jsonl", "--format", "jsonl"),
    ("sensitivity", QRELS, BM25, HYBRID, "--format", "csv"),
    ("check", QRELS, BM25, HYBRID),
    ("judgments", QRELS, "other.txt", "--format", "jsonl"),
    ("diff", BM25, HYBRID, "--rbo-ties", "indecision", "--format", "jsonl"),
    ("agree", QRELS, BM25, HYBRID, "gainful-demo/tfidf.run", "--format", "csv"),
    ("trec_eval", "-q", "-m", "all_trec", QRELS, BM25),
]


@pytest.fixture(scope="module")
def files(tmp_path_factory, demo_files):
    folder = tmp_path_factory.mktemp("files")
    shutil.copytree(demo_files, folder / "gainful-demo")
    (folder / "other.txt").write_text((folder / QRELS).read_text().replace(" 1\n", " 2\n"))
    rows = (line.split() for line in (folder / BM25).read_text().splitlines())
    table = "query,document,score\n" + "".join(f"{r[0]},{r[2]},{r[4]}\n" for r in rows)
    (folder / "table.csv").write_text(table)
    (folder / "judged.txt").write_text("t 0 a 3\nt 0 b 1\nt 0 n 0\n")
    pages = {"session": "s", "topic": "t", "queries": [{"results": ["x", "a"]}, {"results": ["a", "b"]}]}
    (folder / "log.jsonl").write_text(json.dumps(pages) + "\n")
    return folder


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: " ".join(arguments[:1] + arguments[3:]))
def test_a_command_prints_the_same(command, files, monkeypatch, use_core, arguments):
    monkeypatch.chdir(files)
    results = []
    for core in ("c++", "python"):
        use_core(core)
        results.append(command(*arguments))
    assert results[0].code == 0, results[0].err
    assert results[0].out
    assert results[0] == results[1]
