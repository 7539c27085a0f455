"""Measures are shown under the names that users typed, or their labels: `-m` and `--label`."""

from __future__ import annotations

import json

import pytest

QRELS = "".join(f"q{i} 0 d{j} {j % 3}\n" for i in range(6) for j in range(4))
RUNS = {"a": (0, 1, 2, 3), "b": (3, 2, 1, 0)}


@pytest.fixture
def files(command):
    command.write("qrels", QRELS)
    for name, order in RUNS.items():
        ranked = "".join(f"q{i} Q0 d{(j + i) % 4} 1 {9 - k} t\n" for i in range(6) for k, j in enumerate(order))
        command.write(f"{name}.run", ranked)
    return command


ASKED = ("-m", "HitRate@1", "-m", "MRR", "-m", "map", "-m", "nDCG@3", "--label", "nDCG@3=Quality")


def test_headings(files):
    found = files("eval", "qrels", "a.run", "b.run", *ASKED)
    header, _, first, *_ = found.out.splitlines()
    assert header.split() == ["run", "HitRate@1", "MRR", "map", "Quality"] and first.startswith("a ")
    whole = files("eval", "qrels", "a.run", "b.run", *ASKED, "--format", "csv", "--signature").out.splitlines()
    assert whole[0].startswith("# order:score|") and whole[1] == "run,HitRate@1,MRR,map,Quality"
    trec = files("eval", "qrels", "a.run", *ASKED, "--format", "trec").out
    assert "recip_rank" in trec and "Quality" not in trec


def test_machines_get_our_names_and_the_others_beside(files):
    header, *lines = map(json.loads, files("eval", "qrels", "a.run", *ASKED, "--format", "jsonl").out.splitlines())
    assert header["names"] == {"Success@1": "HitRate@1", "RR": "MRR", "AP": "map", "nDCG@3": "Quality"}
    assert [line["measure"] for line in lines[:4]] == ["Success@1", "RR", "AP", "nDCG@3"] and lines[0]["run"] == "a"


def test_sentences_and_figures(files):
    found = files("compare", "qrels", "a.run", "b.run", "-m", "MRR", "--label", "MRR=Rank", "--figure", "f.svg")
    sentence = " ".join(found.out.split("\n\n")[0].split())
    assert " Rank" in sentence and " RR" not in sentence
    drawn = (files.directory / "f.svg").read_text()
    assert "Rank" in drawn and ">RR" not in drawn


def test_a_label_of_an_asked_name_and_of_nothing(files):
    assert "Rank" in files("eval", "qrels", "a.run", "-m", "MRR", "--label", "MRR=Rank").out.splitlines()[0]
    wrong = files("eval", "qrels", "a.run", "--label", "c=C")
    assert (wrong.code, wrong.out, wrong.err) == (
        2,
        "",
        "--label: unknown measure 'c'\nhint: use NAME=FILE to name a run\n",
    )
    assert files("eval", "qrels", "a.run", "--label", "tab:a").code == 2  # of LaTeX
    found = files("eval", "qrels", "a.run", "--label", "tab:a", "--format", "latex").out
    assert r"\label{tab:a}" in found


def test_names_within_others_stay(files):
    out = files("eval", "qrels", "a.run", "-m", "map", "-m", "AP@2", "-m", "AP(rel=2)", "-m", "GAP").out
    assert out.splitlines()[0].split() == ["run", "map", "AP@2", "AP(rel=2)", "GAP"]
