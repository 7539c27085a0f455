"""`gainful eval`: tables, JSON lines, names, policy flags and notices, on examples that can be checked by hand."""

from __future__ import annotations

import gzip
import math
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from typing import Any

import numpy as np
import pytest

from gainful import Measure, Policy, Signature, __version__
from gainful.measures import catalog
from gainful.policy import CHOICES

# q1 has a document of grade 2 and one of grade 1, q2 one of grade 1, q3 nothing relevant.
QRELS = "q1 0 d1 2\nq1 0 d2 1\nq1 0 d3 0\nq2 0 d1 1\nq3 0 d9 0\n"
# Run a: q1 grades 1 2 -, q2 grade 1, q3 not answered, q9 not judged. Run b: q1 grade 2, q2 grades - 1, q3 grade 0.
RUN_A = "q1 Q0 d2 1 3.0 t\nq1 Q0 d1 2 2.0 t\nq1 Q0 dx 3 1.0 t\nq2 Q0 d1 1 1 t\nq9 Q0 d1 1 1 t\n"
RUN_B = "q1 Q0 d1 1 3.0 t\nq2 Q0 dz 1 1 t\nq2 Q0 d1 2 .5 t\nq3 Q0 d9 1 1 t\n"

LOG3 = math.log2(3)
NDCG_A = [(1 + 2 / LOG3) / (2 + 1 / LOG3), 1.0, 0.0]
NDCG_B = [2 / (2 + 1 / LOG3), 1 / LOG3, 0.0]

POLICY = (
    "order:score|ties:docid-desc|scores:float64|duplicates:error|parent:none|parent-of:run|spans:none|depth:all|unjudged:zero|negative:judged|grade-zero:0"
    "|judges:error|subtopics:no|missing:zero|undefined:zero|extra:ignore|recall-cut:exact"
)
FACTS = f"scale:2|queries:3|gainful:{__version__}"
SHORT = f"conventions: all default | scale:2 | queries:3 | gainful:{__version__}"


@pytest.fixture
def example(command):
    command.write("qrels.txt", QRELS)
    command.write("a.run", RUN_A)
    command.write("b.run", RUN_B)
    return command


# -- Tables ------------------------------------------------------------------------------------------------------------


def test_default_table(example):
    result = example("eval", "qrels.txt", "a.run", "b.run")
    assert result.code == 0
    assert result.out == (
        "run  nDCG@10       AP       RR     P@10    R@100  Judged@10\n"
        "---  -------  -------  -------  -------  -------  ---------\n"
        "a    0.6199*  0.6667*  0.6667*  0.1000*  0.6667*    0.5556\n"
        "b    0.4637   0.3333   0.5000   0.0667   0.5000     0.8333\n"
        "\n"
        "* best in column\n"
        f"{SHORT}\n"
    )


def test_the_same_in_a_process_of_its_own(example):
    here = example("eval", "qrels.txt", "a.run", "b.run")
    there = example.process("eval", "qrels.txt", "a.run", "b.run")
    assert there.returncode == 0
    assert there.stdout.decode() == here.out
    assert there.stderr.decode() == here.err


def test_one_run_has_no_best(example):
    result = example("eval", "qrels.txt", "a.run", "-m", "AP")
    assert result.out == f"run       AP\n---  -------\na    0.6667\n\n{SHORT}\n"


def test_a_run_in_place_of_judgments(command):
    """Overlap with another run, under its name; both lists have b at the end."""
    command.write("a.run", "q1 Q0 a 1 3 x\nq1 Q0 b 2 2 x\n")
    command.write("c.run", "q1 Q0 c 1 3 x\nq1 Q0 b 2 2 x\n")
    extrapolated = "RBO(p=0.5, extrapolate=true)"
    wanted = ("-m", "RBO(p=0.5, depth=2)", "-m", extrapolated, "--qrels-format", "run", "--quiet")
    result = command("eval", "a.run", "a.run", "c.run", *wanted)
    assert result.code == 0, result.err
    assert result.out.splitlines()[0].split("  ") == ["run", "RBO(p=0.5, depth=2)", extrapolated]
    # c.run: 1 of 2 at depth 2, with weight 1/2 of 3/2; then half of it goes on being shared.
    assert [line.replace("*", "").split() for line in result.out.splitlines()[2:4]] == [
        ["a", "1.0000", "1.0000"],
        ["c", "0.1667", "0.2500"],
    ]


def test_by_query_table(example):
    result = example("eval", "qrels.txt", "b.run", "a.run", "-m", "AP", "-m", "NumRet", "--by-query")
    assert result.out.split("\n\n")[0].splitlines() == [
        "run  query       AP  NumRet",
        "---  -----  -------  ------",
        "b    q1     0.5000       1",
        "b    q2     0.5000       2",
        "b    q3     0.0000       1",
        "b    (all)  0.3333       4",
        "a    q1     1.0000       3",
        "a    q2     1.0000       1",
        "a    q3     0.0000       0",
        "a    (all)  0.6667*      4",
    ]


@pytest.mark.parametrize(("places", "shown"), [("0", "1"), ("1", "0.7"), ("6", "0.666667"), ("17", f"{2 / 3:.17f}")])
def test_places(example, places, shown):
    result = example("eval", "qrels.txt", "a.run", "-m", "AP", "--places", places)
    assert result.out.splitlines()[2].split() == ["a", shown]


def test_places_leave_counts_and_json_alone(example):
    table = example("eval", "qrels.txt", "a.run", "-m", "NumRet", "--places", "6")
    assert table.out.splitlines()[2].split() == ["a", "4"]
    json_lines = example("eval", "qrels.txt", "a.run", "-m", "AP", "--places", "1", "--format", "jsonl")
    assert json_lines.value("AP") == 2 / 3


def test_baseline_table(example):
    result = example("eval", "qrels.txt", "a.run", "b.run", "-m", "AP", "-m", "RR", "--baseline", "b", "--places", "2")
    header, _, row_a, row_b, _, footer, _ = result.out.splitlines()
    assert header.split() == ["run", "AP", "RR"]
    assert row_a.split() == ["a", "0.67*", "(+0.33)", "0.67*", "(+0.17)"]
    assert row_b.split() == ["b", "0.33", "0.50"]
    assert footer == "* best in column; (+/-) difference from b"


def test_baseline_by_query_table(example):
    result = example("eval", "qrels.txt", "a.run", "b.run", "-m", "NumRet", "-m", "AP", "--baseline", "a", "--by-query")
    rows = [line.split() for line in result.out.split("\n\n")[0].splitlines()[2:]]
    assert [row[:3] for row in rows[:4]] == [["a", "q1", "3"], ["a", "q2", "1"], ["a", "q3", "0"], ["a", "(all)", "4"]]
    assert rows[4:] == [
        ["b", "q1", "1", "(-2)", "0.5000", "(-0.5000)"],
        ["b", "q2", "2", "(+1)", "0.5000", "(-0.5000)"],
        ["b", "q3", "1", "(+1)", "0.0000", "(+0.0000)"],
        ["b", "(all)", "4", "(+0)", "0.3333", "(-0.3333)"],
    ]


def test_values_left_out_are_dashes(example):
    result = example("eval", "qrels.txt", "a.run", "-m", "AP", "--by-query", "--missing", "skip", "--undefined", "skip")
    assert [line.split() for line in result.out.splitlines()[2:6]] == [
        ["a", "q1", "1.0000"],
        ["a", "q2", "1.0000"],
        ["a", "q3", "-"],
        ["a", "(all)", "1.0000"],
    ]
    last = result.out.split("\n\n")[-1]
    assert last.startswith("conventions: missing:skip, undefined:skip | scale:")


def test_equal_runs_are_all_best(example):
    example.write("c.run", RUN_A)
    result = example("eval", "qrels.txt", "a.run", "b.run", "c.run", "-m", "AP")
    assert [line.endswith("*") for line in result.out.splitlines()[2:5]] == [True, False, True]


@dataclass(frozen=True, repr=False)
class MissesFirst(Measure):
    """1 where the first document is not relevant. Lower is better, at most 1."""

    name = "MissesFirst"
    better = "lower"
    at = None

    def compute(self, block):
        relevant = block.relevant(None, None)
        return 1.0 - np.bincount(relevant.row[relevant.rank == 1], minlength=block.size)


@dataclass(frozen=True, repr=False)
class FirstRank(Measure):
    """The rank of the first relevant document. Lower is better, without an upper bound."""

    name = "FirstRank"
    better = "lower"
    bounds = (1.0, math.inf)
    at = None

    def compute(self, block):
        relevant = block.relevant(None, None)
        ranks = np.full(block.size, np.inf)
        np.minimum.at(ranks, relevant.row, relevant.rank)
        return np.where(np.isinf(ranks), np.nan, ranks)


@pytest.fixture
def lower_measures(monkeypatch):
    # As if an installed package offered them.
    offered = {measure.name: measure for measure in (MissesFirst, FirstRank)}
    monkeypatch.setattr(catalog, "_offered", offered.get)


def test_the_lowest_is_best_where_lower_is_better(example, lower_measures):
    # MissesFirst: a 0, 0, missing 1; b 0, 1, 1. Judged@10 has no better direction.
    result = example("eval", "qrels.txt", "a.run", "b.run", "-m", "MissesFirst", "-m", "AP", "-m", "Judged@10")
    assert [line.split() for line in result.out.splitlines()[2:4]] == [
        ["a", "0.3333*", "0.6667*", "0.5556"],
        ["b", "0.6667", "0.3333", "0.8333"],
    ]


def test_zero_is_the_worst_value(example, lower_measures):
    result = example(
        "eval", "qrels.txt", "a.run", "b.run", "-m", "MissesFirst", "-m", "FirstRank", "--by-query", "--format", "jsonl"
    )
    assert result.value("MissesFirst", "q3", "a") == 1.0
    # Without an upper bound there is no worst value: the query is left out, missing or undefined.
    assert [result.value("FirstRank", "q3", run) for run in "ab"] == [None, None]
    assert [result.value("FirstRank", None, run) for run in "ab"] == [1.0, 1.5]


# -- JSON lines --------------------------------------------------------------------------------------------------------


def test_jsonl_header(example):
    result = example("eval", "qrels.txt", "a.run", "b.run", "-m", "NDCG@10", "-m", "MAP", "--format", "jsonl")
    header = result.lines[0]
    hashes = [sha256(text.encode()).hexdigest() for text in (QRELS, RUN_A, RUN_B)]
    assert list(header) == ["gainful", "numpy", "scipy", "signature", "judgments", "measures", "runs", "names"]
    assert header.pop("names") == {"nDCG@10": "NDCG@10", "AP": "MAP"}
    assert header == {
        "gainful": __version__,
        "numpy": version("numpy"),
        "scipy": version("scipy"),
        "judgments": {"sha256": hashes[0]},
        "signature": f"{POLICY}|{FACTS}",
        "measures": {
            "nDCG@10": f"nDCG(gain=linear, discount=burges2005, base=2)@10|{POLICY}|{FACTS}",
            "AP": f"AP|{POLICY}|{FACTS}",
        },
        "runs": [
            {
                "run": "a",
                "path": "a.run",
                "sha256": hashes[1],
                "queries": 3,
                "missing": 1,
                "extra": 1,
                "unjudged@10": 0.25,
            },
            {
                "run": "b",
                "path": "b.run",
                "sha256": hashes[2],
                "queries": 3,
                "missing": 0,
                "extra": 0,
                "unjudged@10": 0.25,
            },
        ],
    }


def test_hashes_are_those_of_the_stored_files(example):
    packed = gzip.compress(RUN_A.encode())
    example.write("a.run.gz", packed)
    result = example("eval", "qrels.txt", "a.run.gz", "--format", "jsonl")
    assert result.lines[0]["runs"][0]["sha256"] == sha256(packed).hexdigest()
    result = example("eval", "qrels.txt", "-", "--format", "jsonl", stdin=RUN_A.encode())
    assert result.lines[0]["runs"][0]["sha256"] == sha256(RUN_A.encode()).hexdigest()


def test_jsonl_values(example):
    result = example("eval", "qrels.txt", "a.run", "b.run", "-m", "nDCG@10", "--by-query", "--format", "jsonl")
    rows = result.lines[1:]
    assert [(row["run"], row["query"], row["measure"]) for row in rows] == [
        (run, query, "nDCG@10") for run in "ab" for query in ("q1", "q2", "q3", None)
    ]
    expected = [*NDCG_A, sum(NDCG_A) / 3, *NDCG_B, sum(NDCG_B) / 3]
    assert [row["value"] for row in rows] == pytest.approx(expected, abs=1e-15)
    assert [row.get("status") for row in rows] == [None, None, "missing", None, None, None, "undefined", None]
    assert all(
        list(row) == [key for key in ("run", "query", "measure", "value", "status") if key in row] for row in rows
    )


def test_jsonl_is_at_full_precision(command):
    qrels = "".join(f"q{i} 0 d 1\n" for i in range(3))
    result = command.evaluate(qrels, "q0 Q0 d 1 1 t\n", "-m", "P@10", "--format", "jsonl")
    assert f'"value": {0.1 / 3!r}}}' in result.out


def test_jsonl_counts_are_integers(example):
    result = example("eval", "qrels.txt", "a.run", "-m", "NumQ", "-m", "NumRel", "--by-query", "--format", "jsonl")
    assert all(isinstance(row["value"], int) for row in result.lines[1:])
    assert (result.value("NumQ"), result.value("NumRel")) == (3, 3)


def test_jsonl_difference(example):
    result = example(
        "eval", "qrels.txt", "a.run", "b.run", "-m", "AP", "--baseline", "a", "--by-query", "--format", "jsonl"
    )
    rows = {(row["run"], row["query"]): row for row in result.lines[1:]}
    assert all("difference" not in row for (run, _), row in rows.items() if run == "a")
    assert [rows["b", query]["difference"] for query in ("q1", "q2", "q3")] == [-0.5, -0.5, 0.0]
    assert rows["b", None]["difference"] == pytest.approx(-1 / 3, abs=1e-15)


def test_no_difference_where_a_value_is_left_out(example):
    arguments = ("-m", "AP", "--baseline", "b", "--by-query", "--format", "jsonl", "--undefined", "skip")
    rows = {
        (row["run"], row["query"]): row for row in example("eval", "qrels.txt", "a.run", "b.run", *arguments).lines[1:]
    }
    assert rows["a", "q3"] == {"run": "a", "query": "q3", "measure": "AP", "value": 0.0, "status": "missing"}
    assert rows["b", "q3"] == {"run": "b", "query": "q3", "measure": "AP", "value": None, "status": "undefined"}
    assert rows["b", None]["value"] == 0.5


def test_nothing_left_is_null(command):
    result = command.evaluate("q 0 d 0\n", "q Q0 d 1 1 t\n", "-m", "AP", "--undefined", "skip", "--format", "jsonl")
    assert result.lines[1] == {"run": "r", "query": None, "measure": "AP", "value": None}


def test_ids_that_are_not_utf8(command):
    command.write("qrels", b"q\xff 0 d\xfe 1\nq\xc3\xa9 0 d 1\n")
    command.write("r.run", b"q\xff Q0 d\xfe 1 1 t\n")
    table = command.process("eval", "qrels", "r.run", "-m", "RR", "--by-query", "-q")
    assert b"\nr    q\\xff  1.0000\n" in table.stdout
    json_lines = command("eval", "qrels", "r.run", "-m", "RR", "--by-query", "--format", "jsonl")
    assert [row["query"] for row in json_lines.lines[1:]] == ["qé", "q\udcff", None]
    assert json_lines.value("RR", "q\udcff") == 1.0


def test_the_table_ends_with_a_signature(example):
    result = example("eval", "qrels.txt", "a.run", "--missing", "skip", "--depth", "5")
    line = result.out.splitlines()[-1]
    assert line.startswith("conventions: depth:5, missing:skip | scale:2 | ")
    assert Signature.parse(line) == Signature(None, Policy(missing="skip", depth=5), 2.0, 3)
    whole = example("eval", "qrels.txt", "a.run", "--missing", "skip", "--depth", "5", "--signature")
    assert whole.out.splitlines()[-1] == str(Signature.parse(line))


# -- Names -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["bm25.run"], ["bm25"]),
        (["bm25.res", "dense.trec"], ["bm25", "dense"]),
        (["a.txt", "b.json", "c.jsonl", "d.tsv", "e.csv", "f.parquet"], ["a", "b", "c", "d", "e", "f"]),
        (["bm25.0.9.run"], ["bm25.0.9"]),
        (["bm25.run.txt"], ["bm25.run"]),
        (["bm25"], ["bm25"]),
        (["bm25.out"], ["bm25.out"]),
        (["deep/down/bm25.run"], ["bm25"]),
        (["x/bm25.run", "y/bm25.run"], ["x/bm25", "y/bm25"]),
        (["x/bm25.run", "y/bm25.res", "z/dense.run"], ["x/bm25", "y/bm25", "dense"]),
        (["x/bm25.run", "x/bm25.res"], ["x/bm25.run", "x/bm25.res"]),
    ],
)
def test_names(command, paths, names):
    command.write("qrels", "q1 0 d1 1\n")
    for path in paths:
        command.write(path, "q1 Q0 d1 1 1 t\n")
    result = command("eval", "qrels", *paths, "--format", "jsonl")
    assert [run["run"] for run in result.lines[0]["runs"]] == names
    assert [run["path"] for run in result.lines[0]["runs"]] == paths
    assert list(dict.fromkeys(row["run"] for row in result.lines[1:])) == names


def test_clashing_links_take_the_folder_they_stand_in(command):
    command.write("qrels", "q1 0 d1 1\n")
    for folder in "xy":
        target = command.write(f"store/{folder}.run", "q1 Q0 d1 1 1 t\n")
        (command.directory / folder).mkdir()
        (command.directory / folder / "bm25.run").symlink_to(target)
    result = command("eval", "qrels", "x/bm25.run", "y/bm25.run", "--format", "jsonl")
    assert [run["run"] for run in result.lines[0]["runs"]] == ["x/bm25", "y/bm25"]


def test_given_names(example):
    arguments = ("--name", "first", "--name", "b", "--baseline", "first", "-m", "AP", "--format", "jsonl")
    result = example("eval", "qrels.txt", "a.run", "b.run", *arguments)
    assert [run["run"] for run in result.lines[0]["runs"]] == ["first", "b"]
    assert result.lines[2]["difference"] == pytest.approx(-1 / 3, abs=1e-15)


def test_given_names_part_equal_files(example):
    result = example("eval", "qrels.txt", "a.run", "a.run", "--name", "one", "--name", "two", "-m", "AP")
    assert [line.split()[0] for line in result.out.splitlines()[2:4]] == ["one", "two"]


# -- Inputs ------------------------------------------------------------------------------------------------------------


def test_run_from_standard_input(example):
    plain = example("eval", "qrels.txt", "a.run", "--name", "stdin")
    assert example("eval", "qrels.txt", "-", stdin=RUN_A.encode()) == plain
    assert example("eval", "qrels.txt", "-", stdin=gzip.compress(RUN_A.encode())) == plain
    process = example.process("eval", "qrels.txt", "-", stdin=RUN_A.encode())
    assert (process.returncode, process.stdout.decode(), process.stderr.decode()) == (0, plain.out, plain.err)


def test_judgments_from_standard_input(example):
    assert example("eval", "-", "a.run", stdin=QRELS.encode()) == example("eval", "qrels.txt", "a.run")


def test_options_may_stand_anywhere(example):
    expected = example("eval", "qrels.txt", "a.run", "b.run", "-m", "AP", "-q")
    assert example("eval", "-q", "-m", "AP", "qrels.txt", "a.run", "b.run") == expected
    assert example("eval", "qrels.txt", "--measure=AP", "a.run", "--quiet", "b.run") == expected


def test_repeated_measures_count_once(example):
    result = example("eval", "qrels.txt", "a.run", "-m", "AP", "-m", "MAP", "-m", "AP()", "--format", "jsonl")
    assert list(result.lines[0]["measures"]) == ["AP"]


# -- --rel, --scale ----------------------------------------------------------------------------------------------------


def test_rel_goes_to_every_measure_that_has_none(example):
    measures = ("AP", "P(level=1)@2", "RR(rel=1)", "Judged@10", "nDCG@10", "NumRel")
    flags = [text for measure in measures for text in ("-m", measure)]
    result = example("eval", "qrels.txt", "a.run", *flags, "--rel", "2", "--format", "jsonl", "--by-query")
    assert list(result.lines[0]["measures"]) == [
        "AP(rel=2)",
        "P(level=1)@2",
        "RR(rel=1)",
        "Judged@10",
        "nDCG(rel=2)@10",
        "NumRel(rel=2)",
    ]
    # Only d1 has grade 2, at rank 2 of q1.
    assert result.value("AP(rel=2)", "q1") == 0.5
    assert result.value("nDCG(rel=2)@10", "q1") == pytest.approx(1 / LOG3)
    assert result.value("P(level=1)@2", "q1") == 0.5
    assert result.value("RR(rel=1)", "q1") == 1.0
    assert result.value("NumRel(rel=2)") == 1


def test_rel_merges_measures_that_become_equal(example):
    result = example("eval", "qrels.txt", "a.run", "-m", "AP", "-m", "AP(rel=2)", "--rel", "2", "--format", "jsonl")
    assert list(result.lines[0]["measures"]) == ["AP(rel=2)"]


def test_scale(command):
    qrels, lines = "q 0 d1 2\nq 0 d2 1\n", "q Q0 d1 1 2 t\nq Q0 d2 2 1 t\n"
    assert command.score(qrels, lines, "CG(gain=scaled)@2") == 1.5
    assert command.score(qrels, lines, "CG(gain=scaled)@2", "--scale", "4") == 0.75
    header = command("eval", "qrels", "r.run", "--scale", "4", "--format", "jsonl").lines[0]
    assert Signature.parse(header["signature"]).scale == 4.0


# -- The policy --------------------------------------------------------------------------------------------------------

ORDER = ("q 0 d2 1\n", "q Q0 d3 2 1 t\nq Q0 d1 3 3 t\nq Q0 d2 1 2 t\n", "RR")
FLOAT32 = ("q 0 d1 1\n", "q Q0 d1 1 1.00000001 t\nq Q0 d2 2 1 t\n", "RR")
DUPLICATES = ("q 0 d2 1\n", "q Q0 d1 1 3 t\nq Q0 d1 2 2 t\nq Q0 d2 3 1 t\n", "RR")
UNJUDGED = ("q 0 d1 1\n", "q Q0 d0 1 2 t\nq Q0 d1 2 1 t\n", "RR")
MISSING = ("q1 0 d 1\nq2 0 d 1\n", "q1 Q0 d 1 1 t\n", "RR")
UNDEFINED = ("q1 0 d 1\nq2 0 d 0\n", "q1 Q0 d 1 1 t\nq2 Q0 d 1 1 t\n", "AP")


def test_every_flag_sets_its_choice(example):
    """What the choices do is asked of :func:`gainful.evaluate`, in tests/test_policy.py."""
    example.write("all.run", RUN_A.replace("q9", "q3"))
    texts = {choice.name: [*choice.values] for choice in CHOICES}
    texts["depth"], texts["grade-zero"] = ["all", "2"], ["0", "2.5"]
    for name, values in texts.items():
        for value in values:
            flags = (
                [f"--{name}", value] if name != "subtopics" else ["--subtopics" if value == "yes" else "--no-subtopics"]
            )
            header = example("eval", "qrels.txt", "all.run", "-m", "RR", *flags, "--format", "jsonl").lines[0]
            assert Signature.parse(header["signature"]).policy == Policy(**{name.replace("-", "_"): value}), flags


@pytest.mark.parametrize(
    ("texts", "flags", "expected"),
    [
        (FLOAT32, "--scores float32", 1 / 2),
        (UNJUDGED, "--depth 1", 0.0),
        (UNDEFINED, "--undefined skip", 1.0),
        # Dialects, and explicit flags that beat them.
        (FLOAT32, "--like trec_eval-9", 1 / 2),
        (FLOAT32, "--like trec_eval-9 --scores float64", 1.0),
        (FLOAT32, "--scores float64 --like trec_eval-9", 1.0),
        (FLOAT32, "--like trec_eval-10", 1.0),
        (MISSING, "--like trec_eval-9", 1.0),
        (MISSING, "--like trec_eval-9 --missing zero", 1 / 2),
        (MISSING, "--like trec_eval-10 --missing skip", 1.0),
    ],
)
def test_policy_flags(command, texts, flags, expected):
    qrels, lines, measure = texts
    assert command.score(qrels, lines, measure, *flags.split()) == expected


@pytest.mark.parametrize(
    ("flags", "changed"),
    [
        ("--like trec_eval-9", "scores:float32, negative:unjudged, missing:skip, recall-cut:ceil0.9"),
        ("--like trec_eval-10 --missing zero", "negative:unjudged, recall-cut:round"),
        (
            "--like trec_eval-9 --missing zero --depth 9",
            "scores:float32, depth:9, negative:unjudged, recall-cut:ceil0.9",
        ),
        ("--subtopics --grade-zero .5", "grade-zero:0.5, subtopics:yes"),
    ],
)
def test_the_signature_says_what_was_asked_for(example, flags, changed):
    assert f"conventions: {changed} | scale:" in example("eval", "qrels.txt", "a.run", *flags.split()).words


def test_a_rank_column_that_is_not_needed_may_hold_anything(command, core):
    assert command.score("q 0 d1 1\n", "q Q0 d1 - 1 t\nq Q0 d2 nan .5 t\n", "RR") == 1.0


@pytest.mark.parametrize("number", ["2", "+2", "2.", "2.0", "02", "0.2e1", "20E-1", ".2e+1"])
def test_numbers(command, core, number):
    qrels = f"q 0 d1 {number}\nq 0 d2 0\n"
    lines = f"q Q0 d1 1 {number} t\nq Q0 d2 2 1.9 t\n"
    assert command.score(qrels, lines, "CG@1") == 2.0


def test_underflow_is_zero(command, core):
    assert command.score("q 0 d1 1\nq 0 d2 1e-400\n", "q Q0 d1 1 -1e-400 t\nq Q0 d2 2 0 t\n", "RR") == 0.5


# -- Notices -----------------------------------------------------------------------------------------------------------


def noticed(result: Any) -> list[str]:
    assert result.code == 0, result.err
    return result.err.splitlines()


def test_notices_of_the_example(example, core):
    expected = [
        "notice: a: 1 judged query not answered, given the worst score (missing=zero): q3",
        "notice: a: 1 query without judgments, ignored (extra=ignore): q9",
        "notice: b: 1 query with nDCG@10, AP, R@100 undefined, given the worst score (undefined=zero): q3",
        "notice: unjudged documents in the top 10: a 25.0%, b 25.0%; "
        "Judged@10 also counts queries without results, as 0",
    ]
    assert noticed(example("eval", "qrels.txt", "a.run", "b.run")) == expected
    assert noticed(example("eval", "qrels.txt", "a.run", "b.run", "--format", "jsonl")) == expected


@pytest.mark.parametrize("flag", ["-q", "--quiet"])
def test_quiet(example, flag):
    loud = example("eval", "qrels.txt", "a.run", "b.run")
    quiet = example("eval", "qrels.txt", "a.run", "b.run", flag)
    assert (quiet.code, quiet.out, quiet.err) == (0, loud.out, "")


def test_quiet_does_not_silence_errors(example):
    assert example("eval", "qrels.txt", "nothing.run", "-q").err == "nothing.run: no such file\n"


@pytest.mark.parametrize(
    ("texts", "flags", "expected"),
    [
        (MISSING, "--missing skip", ["r: 1 judged query not answered, left out (missing=skip): q2"]),
        (UNDEFINED, "--undefined skip", ["r: 1 query with AP undefined, left out (undefined=skip): q2"]),
        (UNDEFINED, "-m RR", []),
        (DUPLICATES, "--duplicates first", ["r: 1 repeated document dropped (duplicates=first)"]),
        (
            FLOAT32,
            "--scores float32",
            ["r: 2 documents tied only because scores are float32", "r: ties leave RR between 0.5000 and 1.0000"],
        ),
        (FLOAT32, "", []),
        (FLOAT32, "--scores float32 --order rank", []),
        (ORDER, "", ["r: the rank column contradicts the scores in 2 lines; order=score uses the scores"]),
        (ORDER, "--order rank", []),
        (ORDER, "--order input", []),
    ],
)
def test_single_notices(command, core, texts, flags, expected):
    qrels, lines, measure = texts
    measures = () if "-m" in flags else ("-m", measure)
    found = noticed(command.evaluate(qrels, lines, *measures, *flags.split()))
    assert [line for line in found if "unjudged in the top 10" not in line] == [f"notice: {line}" for line in expected]


def test_one_line_against_the_scores(command, core):
    result = command.evaluate("q 0 d1 1\nq 0 d2 1\n", "q Q0 d1 2 2 t\nq Q0 d2 1 1 t\n")
    assert noticed(result) == [
        "notice: r: the rank column contradicts the scores in 1 line; order=score uses the scores"
    ]


def test_ranks_among_equal_scores_contradict_nothing(command, core):
    lines = "q Q0 d1 2 1 t\nq Q0 d2 1 1 t\nq Q0 d3 3 0 t\nq Q0 d4 4 -1 t\n"
    assert noticed(command.evaluate("q 0 d1 1\nq 0 d2 1\nq 0 d3 1\nq 0 d4 1\n", lines)) == []


def test_more_than_five_queries_are_cut_short(command, core):
    qrels = "a 0 d 1\n" + "".join(f"m{i} 0 d 1\n" for i in range(7))
    lines = "a Q0 d 1 1 t\n" + "".join(f"x{i} Q0 d 1 1 t\n" for i in range(1200))
    assert noticed(command.evaluate(qrels, lines)) == [
        "notice: r: 7 judged queries not answered, given the worst score (missing=zero): m0, m1, m2, m3, m4, ...",
        "notice: r: 1,200 queries without judgments, ignored (extra=ignore): x0, x1, x10, x100, x1000, ...",
    ]


def test_measures_undefined_for_different_queries(command, core):
    # q1 has no relevant document; q2 has one of grade 1, so that with rel=2 it has none either.
    qrels, lines = "q1 0 d 0\nq2 0 d 1\n", "q1 Q0 d 1 1 t\nq2 Q0 d 1 1 t\n"
    flags = ("-m", "AP", "-m", "AP(rel=2)", "-m", "R@5")
    assert noticed(command.evaluate(qrels, lines, *flags)) == [
        "notice: no grade reaches 2; the highest is 1",
        "notice: r: 1 query with AP, R@5 undefined, given the worst score (undefined=zero): q1",
        "notice: r: 2 queries with AP(rel=2) undefined, given the worst score (undefined=zero): q1, q2",
    ]


def test_share_of_unjudged(command, core):
    # q1: 8 of the first 10 unjudged, whatever comes after; q2: 1 of 5. Together 9 of 15.
    lines = "".join(f"q1 Q0 d{i:02d} {i} {-i} t\n" for i in range(1, 13))
    lines += "".join(f"q2 Q0 d{i:02d} {i} {-i} t\n" for i in range(1, 6))
    qrels = "q1 0 d01 1\nq1 0 d10 0\nq2 0 d01 1\nq2 0 d02 0\nq2 0 d03 0\nq2 0 d04 -1\n"
    result = command.evaluate(qrels, lines, "--format", "jsonl")
    assert noticed(result) == ["notice: unjudged documents in the top 10: r 60.0%"]
    assert result.lines[0]["runs"][0]["unjudged@10"] == 0.6
    assert noticed(command("eval", "qrels", "r.run", "--negative", "unjudged")) == [
        "notice: unjudged documents in the top 10: r 66.7%"
    ]


def test_nothing_suspicious_nothing_said(command, core):
    assert noticed(command.evaluate("q 0 d 1\n", "q Q0 d 1 1 t\n")) == []


# -- Help --------------------------------------------------------------------------------------------------------------


def test_the_help_names_every_flag_and_default(command):
    text = " ".join(command("eval", "--help-all").out.split())
    for choice in CHOICES:
        assert f"--{choice.name} " in text
    for flag in ("--measure", "--rel", "--format", "--by-query", "--places", "--baseline", "--name", "--scale"):
        assert f"{flag} " in text
    assert "[default: nDCG@10, AP, RR, P@10, R@100, Judged@10]" in text
    assert "Maximum length of lists; all, or a number. [default: all]" in text


def test_differences_in_latex_are_not_tested(command):
    command.write("qrels", "q 0 d 1\n")
    command.write("a.run", "q Q0 d 1 1 t\n")
    command.write("b.run", "q Q0 d 1 1 t\n")
    found = command("eval", "qrels", "a.run", "b.run", "--baseline", "a", "--format", "latex")
    assert "gainful compare --baseline a --format latex" in found.err


def test_a_run_below_a_floor_fails(command):
    command.write("qrels", "q 0 d 1\nq 0 e 1\n")
    command.write("a.run", "q Q0 d 1 2 t\nq Q0 e 2 1 t\n")
    command.write("b.run", "q Q0 d 1 2 t\n")
    for floors, code, err in (
        (["recall@5>=0.6"], 1, "b: R@5 is 0.5000, below its floor of 0.6\n"),
        (["R@5>=0.5", "P@1>=1"], 0, ""),
        (["ESL<=0"], 0, ""),
        (["ESL(n=2)<=1"], 1, "b: ESL(n=2) is undefined for all queries\n"),
    ):
        options = [part for floor in floors for part in ("--floor", floor)]
        found = command("eval", "qrels", "a.run", "b.run", "--quiet", "--undefined", "skip", *options)
        assert (found.code, found.err) == (code, err)
    only = command("eval", "qrels", "a.run", "--floor", "R@5>=0.5", "--quiet")
    assert only.out.split()[:2] == ["run", "R@5"]
    assert command("eval", "qrels", "a.run", "-m", "AP", "--floor", "R@5>=0.5").out.split()[:3] == ["run", "AP", "R@5"]
    assert "expected a floor such as nDCG@10>=0.40" in command("eval", "qrels", "a.run", "--floor", "0.5").err


def test_trec_evals_q_is_hinted_at(example):
    hint = "hint: -q means --quiet; --by-query prints per-query values, like trec_eval -q\n"
    assert example("eval", "-q", "qrels.txt", "a.run", "-m", "map").err == hint
    for typed in (("-q", "qrels.txt", "a.run", "-m", "AP"), ("qrels.txt", "a.run", "-m", "map", "-q")):
        assert example("eval", *typed).err == ""
