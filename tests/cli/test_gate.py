"""`gainful gate`: exit codes, files and formats, as used in continuous integration."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys

import pytest

QRELS = "".join(f"q{i} 0 a 2\nq{i} 0 b 1\nq{i} 0 c 0\n" for i in range(100))
RUN = "".join(f"q{i} Q0 a 1 3 t\nq{i} Q0 b 2 2 t\nq{i} Q0 c 3 1 t\n" for i in range(100))
WORSE = RUN.replace("Q0 a 1 3", "Q0 a 1 0")  # a comes last


@pytest.fixture
def gate(command):
    command.write("qrels.txt", QRELS)
    command.write("base.run", RUN)
    command.write("worse.run", WORSE)
    command.write("part.run", "".join(line + "\n" for line in RUN.splitlines() if not line.startswith("q7 ")))
    command.write("queries.csv", "qid,text,kind\n" + "".join(f"q{i},text {i},k{i % 2}\n" for i in range(100)))
    made = command("gate", "init", "qrels.txt", "base.run", "-m", "nDCG@10", "-m", "RR", "--margin", "6%")
    assert (made.code, made.out) == (0, "Wrote gate.json: nDCG@10 1.0000, RR 1.0000 over 100 queries, margin 6%\n")
    return command


def test_exit_codes(gate):
    assert gate("gate", "check", "gate.json", "qrels.txt", "base.run").code == 0
    worse = gate("gate", "check", "gate.json", "qrels.txt", "worse.run")
    assert worse.code == 1
    assert worse.out.startswith("Regression: nDCG@10 fell by 0.")
    part = gate("gate", "check", "gate.json", "qrels.txt", "part.run")
    assert part.code == 3
    assert part.out.startswith("Cannot be measured: part: no results for 1 of 100 queries (q7); the gate")


def test_machine_formats_go_to_a_file_and_people_see_a_table(gate):
    done = gate("gate", "check", "gate.json", "qrels.txt", "worse.run", "--format", "json", "-o", "out.json")
    assert done.code == 1
    assert done.out.startswith("Regression")
    assert json.loads((gate.directory / "out.json").read_text())["verdict"] == "regression"
    alone = gate("gate", "check", "gate.json", "qrels.txt", "worse.run", "--format", "json")
    assert json.loads(alone.out)["exit"] == 1


def test_a_gate_is_not_overwritten_by_init(gate):
    before = (gate.directory / "gate.json").read_text()
    again = gate("gate", "init", "qrels.txt", "worse.run", "--margin", "9%")
    assert again.code == 2
    assert "gainful gate update" in again.err
    assert (gate.directory / "gate.json").read_text() == before


def test_update_finds_its_judgments_and_keeps_reasons(gate):
    done = gate("gate", "update", "gate.json", "worse.run", "--reason", "accepted, see the ticket")
    assert done.code == 0
    assert gate("gate", "check", "gate.json", "qrels.txt", "worse.run").code == 0
    history = gate("gate", "history", "gate.json").out
    assert "first baseline" in history
    assert "accepted, see the ticket" in history
    assert gate("gate", "update", "gate.json", "worse.run").code == 2


def test_other_judgments_are_refused_with_the_way_out(gate):
    gate.write("other.txt", QRELS + "q100 0 a 1\n")
    gate.write("more.run", RUN + "q100 Q0 a 1 3 t\n")
    refused = gate("gate", "check", "gate.json", "other.txt", "more.run")
    assert refused.code == 3
    assert "1 query added (q100)" in " ".join(refused.out.split())
    update = ("gate", "update", "gate.json", "other.txt", "more.run", "--reason", "new query")
    before = (gate.directory / "gate.json").read_text()
    assert gate(*update).code == 3
    assert (gate.directory / "gate.json").read_text() == before
    assert gate(*update, "--new-judgments").code == 0
    assert gate("gate", "check", "gate.json", "other.txt", "more.run").code == 0


def test_groups_and_texts(gate):
    groups = ("--queries", "queries.csv", "--by", "kind", "-o", "groups.json")
    done = gate("gate", "init", "qrels.txt", "base.run", "-m", "nDCG@10", "--margin", "6%", *groups)
    assert done.code == 0
    text = gate("gate", "check", "groups.json", "qrels.txt", "worse.run").out
    assert "By kind" in text
    assert "text 0" in text


def test_queries_that_are_not_judged_are_said(gate):
    gate.write("some.txt", "".join(f"q{i}\n" for i in range(60)) + "x1\nx2\nx3\nx4\n")
    line = ("gate", "init", "qrels.txt", "base.run", "--margin", "10%", "--only-queries", "some.txt", "-o")
    done = gate(*line, "some.json")
    assert done.code == 0
    assert done.err == "notice: --only-queries: 4 queries not judged, ignored: x1, x2, x3, ...\n"
    assert gate(*line, "quiet.json", "--quiet").err == ""
    assert gate("gate", "check", "some.json", "qrels.txt", "base.run").code == 0
    gate.write("none.txt", "x1\n")
    none = gate("gate", "init", "qrels.txt", "base.run", "--only-queries", "none.txt", "-o", "none.json")
    assert none.code == 3
    assert "hint: lines must begin with query ids as in the judgments" in none.err


def test_a_reader_who_has_seen_enough_does_not_change_the_verdict(gate):
    pipe_in, pipe_out = os.pipe()
    os.close(pipe_in)
    line = [sys.executable, "-m", "gainful", "gate", "check", "gate.json", "qrels.txt", "worse.run"]
    with os.fdopen(pipe_out, "w") as closed:
        done = subprocess.run(line, check=False, stdout=closed, stderr=subprocess.PIPE, text=True, cwd=gate.directory)
    assert (done.returncode, done.stderr) == (1, "")


def test_wrong_usage(gate):
    gate.write("part.json", '{"gainful-gate": 1, "gainful": "0.1')
    for line, words in (
        (("init", "qrels.txt", "base.run", "--margin", "x", "-o", "n.json"), "a number"),
        (("init", "qrels.txt", "base.run", "--floor", "nDCG@10", "-o", "n.json"), "nDCG@10>=0.40"),
        (("init", "qrels.txt", "base.run", "-m", "NumRel", "--margin", "9%", "-o", "n.json"), "cannot be gated"),
        (("init", "qrels.txt", "base.run", "--by", "kind", "--margin", "9%", "-o", "n.json"), "a table of queries"),
        (("check", "qrels.txt", "qrels.txt", "base.run"), "qrels.txt: not a gate file\nhint: the gate comes first"),
        (("check", "part.json", "qrels.txt", "base.run"), "part.json:1: expected JSON, found unterminated string"),
        (("check", "no.json", "qrels.txt", "base.run"), "hint: gainful gate init QRELS RUN -o no.json creates it"),
        (("check", "gate.json", "qrels.txt", "base.run", "--bounds"), "no option --bounds"),
        (("check", "gate.json", "qrels.txt", "base.run", "--bounds"), "the gate uses bounds"),
    ):
        done = gate("gate", *line)
        assert done.code in (2, 3), line
        assert words in done.err, line


#: Golden questions: what is relevant and nothing else; two of forty are not answered.
GOLDEN = json.dumps([{"question": f"q{i}?", "expected_chunks": [f"c{i}", f"e{i}"]} for i in range(40)])


def retrieved(found: int) -> str:
    """The first questions have both chunks, the others one."""
    lists = [[f"c{i}", *([f"e{i}"] if i < found else []), "x", "y", "z"] for i in range(2, 40)]
    return "".join(json.dumps({"question": f"q{i}?", "results": each}) + "\n" for i, each in enumerate(lists, 2))


@pytest.fixture
def golden(command):
    command.write("golden.json", GOLDEN)
    command.write("old.jsonl", retrieved(40))
    command.write("bad.jsonl", retrieved(0))
    command.write("part.jsonl", retrieved(0).partition("\n")[2])
    return command


def test_a_refused_gate_lists_all_errors_and_a_command_that_works(golden):
    refused = golden("gate", "init", "golden.json", "old.jsonl", "-m", "recall@5", "--margin=1%")
    assert refused.code == 3
    wrong, hint = refused.err.splitlines()
    assert "no results for 2 of 40 queries (q0?, q1?); the gate allows none" in wrong
    assert "40 queries can only detect drops above" in wrong
    pasted = shlex.split(hint.partition("allow it: ")[2])
    assert pasted[:6] == ["gainful", "gate", "init", "golden.json", "old.jsonl", "-m"]
    assert "--margin=1%" not in pasted
    assert golden(*pasted[1:]).code == 0
    assert golden("gate", "check", "gate.json", "golden.json", "old.jsonl").code == 0


def test_fewer_relevant_documents_are_a_regression_if_only_those_are_judged(golden):
    init = ("gate", "init", "golden.json", "old.jsonl", "-m", "R@5", "--missing-at-most", "2", "--margin", "15%")
    assert golden(*init).code == 0
    bad = golden("gate", "check", "gate.json", "golden.json", "bad.jsonl")
    assert (bad.code, bad.out.split(":")[0]) == (1, "Regression")
    assert "unjudged" not in bad.err


def test_the_default_margin_is_detectable(gate):
    gate.write("mixed.run", RUN.replace("Q0 a 1 3", "Q0 a 1 1.5"))  # no nDCG of 0 or 1
    made = gate("gate", "init", "qrels.txt", "mixed.run", "-o", "mixed.json")
    # 2.3263 * 13% / sqrt(100) = 3.02%, and (2.3263 * 13 / 2)^2 = 228.6
    assert (made.code, made.out.endswith("over 100 queries, margin 3.1%\n")) == (0, True)
    notice = "margin 3.1%: the drop of nDCG@10 that 100 queries can detect; judge about 229 queries for 2%"
    assert made.err == f"notice: {notice}\n"
    assert gate("gate", "check", "mixed.json", "qrels.txt", "mixed.run").code == 0
    refused = gate("gate", "init", "qrels.txt", "mixed.run", "-o", "two.json", "--margin", "2%")
    assert (refused.code, "100 queries can only detect drops above" in refused.err) == (3, True)


def test_a_floor_needs_no_margin_and_fails_regardless_of_refusals(golden):
    init = ("gate", "init", "golden.json", "old.jsonl", "-m", "R@5", "--missing-at-most", "2", "--floor", "R@5>=0.9")
    made = golden(*init)
    assert (made.code, "margin 14.5%: the drop of R@5 that 40 queries can detect" in made.err) == (0, True)
    two = golden(*init, "--margin", "2%", "-o", "two.json")
    assert (two.code, "40 queries can only detect drops above 0.138 (14.5%)" in two.err) == (0, True)
    part = golden("gate", "check", "gate.json", "golden.json", "part.jsonl")
    assert part.code == 1
    said = " ".join(part.out.split())
    # One of two chunks of 37 of 40 questions.
    assert said.startswith(
        f"Regression: R@5 is {37 / 80:.4f}, below its floor of 0.9. Not compared with the baseline: "
    )
    assert "no results for 3 of 40 queries" in said
    assert f"R@5 0.9500 {37 / 80:.4f}" in said


def test_a_warning_names_the_strict_option(gate):
    gate.write("almost.run", RUN.replace("q1 Q0 a 1 3", "q1 Q0 a 1 0").replace("q2 Q0 a 1 3", "q2 Q0 a 1 0"))
    gate("gate", "init", "qrels.txt", "base.run", "--margin", "1%", "--floor", "nDCG@10>=0.5", "-o", "small.json")
    line = ("gate", "check", "small.json", "qrels.txt", "almost.run")
    found = gate(*line)
    assert (found.code, found.out.split(":")[0], "use --strict to make them fail" in found.out) == (0, "Warning", True)
    assert "cannot be excluded" in found.out
    assert gate(*line, "--strict").code == 1
