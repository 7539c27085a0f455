"""`gainful explain`: definitions, arithmetic, several runs and queries, formats and errors."""

from __future__ import annotations

import json
import math
import re

import pytest

from gainful.evaluation.explained_page import running_plots
from gainful.evaluation.explanation import Board
from gainful.measures.help import differences
from gainful.policy import Policy
from tests.together import together

QRELS = "q1 0 a 3\nq1 0 b 2\nq1 0 c 0\nq1 0 d 1\nq2 0 a 1\nq3 0 a 0\n"
ONE = "q1 Q0 b 1 9 t\nq1 Q0 x 2 8 t\nq1 Q0 a 3 7 t\nq3 Q0 a 1 1 t\n"
TWO = "q1 Q0 a 1 9 t\nq1 Q0 b 2 8 t\nq2 Q0 a 1 2 t\n"


@pytest.fixture
def explain(command):
    """Runs the command on the files above."""
    command.write("qrels", QRELS)
    command.write("one.run", ONE)
    command.write("two.run", TWO)

    def run(measure, *arguments, stdin=b""):
        return command("explain", measure, "--qrels", "qrels", *arguments, stdin=stdin)

    return run


# -- Definitions -------------------------------------------------------------------------------------------------------


def test_definition(command):
    result = command("explain", "nDCG@10")
    assert (result.code, result.err) == (0, "")
    lines = result.out.splitlines()
    assert lines[0].startswith("nDCG@10: Normalised discounted cumulated gain")
    assert "formula      nDCG[k] = DCG[k] / DCG[k] of the ideal list" in lines
    assert any(line.startswith("discount   burges2005 (default)  a gain at rank j is divided by") for line in lines)
    assert "Higher is better; values from 0 to 1; averaged over queries." in lines
    assert lines[-1] == "In full: nDCG(gain=linear, discount=burges2005, base=2)@10"


def test_several_definitions(command):
    result = command("explain", "AP", "MRR@5", "AP")
    assert [line.split(":")[0] for line in result.out.splitlines() if line.startswith(("AP:", "RR@5:"))] == [
        "AP",
        "RR@5",
    ]


def test_definition_as_json(command):
    [header, *_] = command("explain", "P@5", "--format", "jsonl").lines
    [definition] = header["explanations"]
    assert (definition["measure"], definition["better"], definition["bounds"]) == ("P@5", "higher", [0.0, 1.0])
    assert definition["formula"] == ["P@k = relevant documents in the top k / k"]
    assert definition["parameters"] == {"rel": None, "level": None, "unjudged": None, "cutoff": "5"}


def test_definition_on_the_python_core(command, use_core):
    use_core("python")
    result = command("explain", "AP")
    assert (result.code, result.err) == (0, "")


# -- Names of other tools, and differences to them ---------------------------------------------------------------------


def test_a_name_of_another_tool(command):
    result = command("explain", "trec_eval:ndcg_cut_10")
    assert (result.code, result.err) == (0, "")
    paragraphs = [" ".join(paragraph.split()) for paragraph in result.out.split("\n\n")]
    assert paragraphs[:4] == [
        "trec_eval:ndcg_cut_10 is nDCG@10 here.",
        "To reproduce trec_eval 10.0: --like trec_eval-10 (missing=error, negative=unjudged, recall-cut=round); ties "
        "are ordered by descending document ID, the default here.",
        "To reproduce trec_eval 9.0.8: --like trec_eval-9 (scores=float32, missing=skip, negative=unjudged, "
        "recall-cut=ceil0.9); ties are ordered by descending document ID, the default here.",
        "nDCG@10: Normalised discounted cumulated gain: DCG divided by the DCG of the ideal list.",
    ]


def test_several_names_of_other_tools(command):
    """What a name stands for is said before its first measure, once; a measure of several names is defined once."""
    lines = command("explain", "P.5,10", "P@5", "ranx:precision@5").out.splitlines()
    starts = ("trec_eval's", "ranx:p", "P@5:", "P@10:")
    assert [line for line in lines if line.startswith(starts)] == [
        "trec_eval's P.5,10 is P@5 and P@10 here.",
        "ranx:precision@5 is P@5 here.",
        "P@5: Precision: the share of the first k documents that are relevant.",
        "P@10: Precision: the share of the first k documents that are relevant.",
    ]


def test_a_name_of_another_tool_with_a_query_and_a_level(explain):
    result = explain("map", "--run", "one.run", "--query", "q1", "--query", "q2", "--rel", "3")
    assert (result.code, result.err) == (0, "")
    lines = result.out.splitlines()
    assert lines[0] == "trec_eval's map is AP here."
    assert result.out.count("is AP here") == 1
    assert "AP(rel=3) = 0.3333 / 1 = 0.3333" in lines


@pytest.mark.parametrize(
    "name",
    ["map", "pytrec_eval:map", "ir_measures:NumQ", "ir_measures:ERR@5", "ir_measures:RR@5", "ir_measures:RBP(rel=1)"],
)
def test_the_flags_that_are_named_exist(command, name):
    command.write("qrels", QRELS)
    command.write("one.run", ONE + "q2 Q0 a 1 2 t\n")
    [header, *_] = command("explain", name, "--format", "jsonl").lines
    for setting in header["explanations"][0]["translations"][0]["settings"]:
        result = command("eval", "qrels", "one.run", "-m", name, "--quiet", *setting["flags"].split())
        assert (result.code, result.err) == (0, "")


def test_names_of_other_tools_as_json(command):
    [header, *_] = command("explain", "ir_measures:RR@10", "RR", "--format", "jsonl").lines
    first, second = header["explanations"]
    setting = {"tool": "ir_measures, which follows MS MARCO", "flags": "--ties docid-asc", "note": ""}
    assert first["translations"] == [{"name": "ir_measures:RR@10", "measures": ["RR@10"], "settings": [setting]}]
    assert "translations" not in second


def test_a_name_without_an_equal(command):
    result = command("explain", "trec_eval:yaap")
    assert (result.code, result.out) == (2, "")
    assert result.err == (
        "trec_eval:yaap: no equivalent here: trec_eval takes the logit of smoothed average precision\n"
        "hint: the nearest is AP\n"
    )


@pytest.mark.parametrize("name", ["SetF", "IPrec", "nDCG", "NumQ", "CG"])
def test_differences_are_printed_below_the_definition(command, name):
    """All that are known and that the docstring does not tell, once."""
    text = name + ("@0.5" if name == "IPrec" else "")
    known = [each for each in differences() if name in each.ours and name not in each.told]
    assert "How other tools differ" not in command("explain", text).out
    out = command("explain", text, "--detail").out
    said = " ".join(re.sub(r"^\S.*?  +", "", line) for line in out.splitlines())
    for each in known:
        assert f"\n{each.tool}: {each.measure}  " in out
        assert re.sub(r"\s+", " ", each.why) in re.sub(r"\s+", " ", said)
    assert out.count("tool  ") == bool(known)
    [header, *_] = command("explain", text, "--format", "jsonl").lines
    assert header["explanations"][0]["differences"] == [
        {"tool": each.tool, "measure": each.measure, "why": each.why, "recorded": each.recorded} for each in known
    ]


# -- Arithmetic --------------------------------------------------------------------------------------------------------


def test_arithmetic(explain):
    result = explain("nCG@3", "--run", "one.run", "--query", "q1")
    assert (result.code, result.err) == (0, "")
    assert (
        result.out
        == """\
nCG@3: Normalised cumulated gain: CG divided by the CG of the ideal list.

nCG[k] = CG[k] / CG[k] of the ideal list

Gain: the grade itself.

nCG@3 of one for query q1
rank  document  grade  gain  CG  ideal gain  ideal CG     nCG
----  --------  -----  ----  --  ----------  --------  ------
   1  b             2     2   2           3         3  0.6667
   2  x             -     0   2           2         5  0.4000
   3  a             3     3   5           1         6  0.8333

Judgments of query q1
documents  gain  judged  retrieved  in the top 3
---------  ----  ------  ---------  ------------
grade 3       3       1          1             1
grade 2       2       1          1             1
grade 1       1       1          0             0
grade 0       0       1          0             0
unjudged      0                  1             1

Recall base: 3 of 4 judged documents have a gain above 0; one retrieved 2 of
them, 2 in the top 3.

Unjudged: 1 of 3 documents, 1 in the top 3 (rank 2).

Steps of nCG@3 for query q1
step         value  from
----------  ------  ---------
CG@3        5.0000  2 + 3
ideal CG@3  6.0000  3 + 2 + 1
nCG@3       0.8333  5 / 6

nCG@3 = 5 / 6 = 0.8333

nCG@3 | conventions: all default | scale:3 | queries:3 | gainful:1.0.0rc1
"""
    )


def test_it_explains_what_eval_prints(explain, command):
    for query in ("q1", "q2", "q3"):
        header = explain("AP", "--run", "one.run", "--query", query, "--missing", "skip", "--format", "jsonl").lines[0]
        [explanation] = header["explanations"]
        evaluated = command(
            "eval", "qrels", "one.run", "-m", "AP", "--by-query", "--format", "jsonl", "--missing", "skip", "-q"
        )
        assert explanation["runs"][0]["value"] == evaluated.value("AP", query)
        [row] = [row for row in evaluated.lines[1:] if row["query"] == query]
        assert explanation["runs"][0]["status"] == row.get("status")


def test_several_queries_one_after_the_other(explain):
    out = explain("RR", "--run", "one.run", "--query", "q3", "--query", "q1").out
    assert out.index("RR of one for query q3") < out.index("RR of one for query q1")
    assert out.count("RR: Reciprocal rank") == 1
    assert out.count("RR | conventions: all default |") == 1


@together(
    "arguments, lines",
    [
        (
            "CG@2 --run one.run --run two.run --query q1",
            [
                "rank  one: document  one: grade  one: gain  one: CG  two: document  two: grade  two: gain  two: CG",
                "The lists differ from rank 1: b (one), a (two).",
                "one: CG@2 = 2\n",
                "two: CG@2 = 3 + 2 = 5\n",
            ],
        ),
        (
            "P@1 --run one.run --run two.run --query q1 --name mine --name theirs",
            ["mine: P@1 = 1 / 1 = 1", "theirs: P@1"],
        ),
        (
            "P@1 --run one.run --query q2 --like trec_eval-9",
            ["one does not answer query q2: missing=skip leaves it out of the mean."],
        ),
        ("CG@2 --run one.run --query q1 --unjudged condensed --grade-zero 1", ["CG@2 = 1 + 2 = 3"]),
        ("R@3 --run one.run --query q1 --rel 3", ["R(rel=3)@3 = 1 / 1 = 1"]),
        ("CG(gain=scaled)@1 --run one.run --query q1 --scale 4", ["CG(gain=scaled)@1 = 0.5000"]),
        ("RR --run - --query q1", ["RR of stdin for query q1"]),
    ],
)
def test_what_options_change(explain, arguments, lines):
    out = explain(*arguments.split(), stdin=ONE.encode() if "--run -" in arguments else b"").out
    assert [line for line in lines if line not in out] == []


def test_all_ranks_and_places(explain, command):
    command.write("long.run", "".join(f"q1 Q0 d{i} {i} {100 - i} t\n" for i in range(1, 41)))
    short = explain("AP", "--run", "long.run", "--query", "q1")
    assert "\n11-40  30 documents that add nothing\n" in short.out
    long = explain("AP", "--run", "long.run", "--query", "q1", "--all", "--places", "2")
    assert "\n  40  d40 " in long.out
    assert "AP = 0 / 3 = 0" in long.out


def test_json_lines_hold_everything(explain):
    lines = explain("nDCG@2", "--run", "one.run", "--query", "q1", "--format", "jsonl").lines
    [explanation] = lines[0]["explanations"]
    assert (lines[0]["command"], explanation["judged"], explanation["recall_base"]) == ("explain", 4, 3)
    assert [step["name"] for step in explanation["runs"][0]["steps"]] == ["DCG@2", "ideal DCG@2", "nDCG@2"]
    ranks = [line for line in lines if line.get("table") == "nDCG@2 of one for query q1"]
    assert [(row["rank"], row["document"], row["grade"], row["gain"]) for row in ranks] == [
        (1, "b", 2, 2),
        (2, "x", None, 0),
    ]
    steps = [line for line in lines if line.get("table") == "Steps of nDCG@2 for query q1"]
    assert [row["step"] for row in steps] == ["DCG@2", "ideal DCG@2", "nDCG@2"]
    assert all("table" in line for line in lines[1:] if not line.keys() & {"text", "note"})
    assert json.dumps(explanation)


def test_tables_of_several_definitions_are_told_apart(command):
    out = command("explain", "P@5", "AP", "--format", "csv").out
    assert [line for line in out.splitlines() if line.startswith("# ")] == [
        "# Definition of P@5",
        "# P@5 and other tools",
        "# How other tools differ from P",
        "# Parameters of P@5",
        "# Definition of AP",
        "# AP and other tools",
        "# How other tools differ from AP",
        "# Parameters of AP",
    ]


@pytest.mark.parametrize("flag", ["-q", "--quiet"])
def test_quiet_as_other_commands(explain, command, flag):
    arguments = ("AP", "--run", "one.run", "--query", "q1")
    assert explain(*arguments, flag) == explain(*arguments)
    assert command("measures", flag) == command("measures")
    assert command("measures", flag).code == 0


def test_lines_of_ranks_and_of_grades_are_told_apart(explain):
    lines = explain("P@3", "--run", "one.run", "--query", "q1", "--format", "trec").out.splitlines()
    keys = [tuple(field.strip() for field in line.split("\t")[:2]) for line in lines]
    assert len(set(keys)) == len(keys)
    assert {("relevant", "3"), ("relevant", "grade 3"), ("value", "P@3")} <= set(keys)


def test_the_score_is_in_every_format(explain):
    rows = explain("P@3", "--run", "one.run", "--query", "q1", "--format", "csv").out.splitlines()
    assert rows[-2:] == ["step,value,from", f"P@3,{2 / 3!r},2 / 3"]


def test_both_cores(explain, core):
    out = explain("AP", "--run", "one.run", "--query", "q1").out
    assert "AP = 1.6667 / 3 = 0.5556" in out


def test_ids_that_cannot_be_printed(command):
    command.write("qrels", b"q\xff 0 d\x1b 1\n")
    command.write("r.run", b"q\xff Q0 d\x1b 1 1 t\n")
    result = command.process(
        "explain", "P@1", "--qrels", "qrels", "--run", "r.run", "--query", b"q\xff".decode("utf-8", "surrogateescape")
    )
    assert result.returncode == 0
    assert rb"P@1 of r for query q\xff" in result.stdout
    assert rb"   1  d\x1b " in result.stdout


# -- Refusals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "--qrels, --run and --query are needed together; missing: --run, --query"),
        (("--run", "one.run"), "--qrels, --run and --query are needed together; missing: --query"),
        (("--run", "one.run", "--query", "q9"), "qrels: query 'q9' is not judged"),
        (("--run", "-", "--run", "-", "--query", "q1"), "standard input (-) is given twice, but can be read only once"),
        (("nDGC@5", "--run", "one.run", "--query", "q1"), "unknown measure 'nDGC'\nhint: did you mean nDCG or "),
    ],
)
def test_wrong_usage(explain, arguments, message):
    result = explain("AP", *arguments)
    assert (result.code, result.out) == (2, "") and result.err.startswith(message)


def test_bad_input(explain, command):
    command.write("bad.run", "q1 Q0 a 1 t\n")
    result = explain("AP", "--run", "bad.run", "--query", "q1")
    assert (result.code, result.err.splitlines()[0]) == (3, "bad.run:1: expected 6 fields, found 5")
    assert explain("AP", "--run", "none.run", "--query", "q1").code == 3


# -- A list of grades, without files -----------------------------------------------------------------------------------


def test_a_list_of_grades(command):
    """DCG@5 is 3 + 2 / log2(3) + 1 / log2(5); the ideal list begins with the 3 that was not found."""
    found = 3 + 2 / math.log2(3) + 1 / math.log2(5)
    ideal = 3 + 3 / math.log2(3) + 2 / 2 + 1 / math.log2(5)
    result = command("explain", "nDCG@5", "--grades", "3,2,0,1", "--unretrieved", "3")
    assert command("explain", "nDCG@5", "--grades", "3 2 0 1", "--unretrieved", "3").out == result.out
    assert (result.code, result.err) == (0, "")
    assert f"\nnDCG@5 = {found:.4f} / {ideal:.4f} = {found / ideal:.4f}\n" in result.out
    assert "nDCG@5 of the list for these grades" in result.out


def _dcg(grades, gain=float, discount=lambda rank: math.log2(rank + 1)):
    return sum(gain(grade) / discount(rank) for rank, grade in enumerate(grades, 1))


def test_a_list_as_others_compute_it(command):
    """One ranking, five values of nDCG: other gains, another discount, and ideal lists of what was retrieved."""
    listed, missed = [3, 2, 3, 0, 1, 2], [3, 2]
    best, shown = sorted(listed + missed, reverse=True)[:6], sorted(listed, reverse=True)

    def power(grade: int) -> int:
        return 2**grade - 1

    def log(rank: int) -> float:
        return max(1.0, math.log2(rank))

    expected = {
        "trec_eval 10.0": _dcg(listed) / _dcg(best),
        "ranx ndcg_burges": _dcg(listed, power) / _dcg(best, power),
        "Järvelin and Kekäläinen 2002": _dcg(listed, discount=log) / _dcg(best, discount=log),
        "scikit-learn": _dcg(listed) / _dcg(shown),
        "LightGBM": _dcg(listed, power) / _dcg(shown, power),
    }
    assert [round(value, 3) for value in expected.values()] == [0.785, 0.751, 0.769, 0.961, 0.949]
    asked = ("explain", "nDCG@6", "--grades", "3,2,3,0,1,2", "--unretrieved", "3,2")
    assert "as others compute it" not in command(*asked).out
    rows = [line for line in command(*asked, "--detail", "--format", "jsonl").lines if "computed by" in line]
    found = {name: row for row in rows for name in row["computed by"].split(", ")}
    for name, value in expected.items():
        assert found[name]["nDCG@6"] == pytest.approx(value), name
    assert found["gainful"] is found["trec_eval 10.0"] and not found["gainful"]["differences"]
    assert found["scikit-learn"]["differences"] == "the ideal list contains retrieved documents only"


def test_lists_of_runs_as_others_compute_them(command):
    command.write("qrels", "q 0 a 1\nq 0 b 1\nq 0 c 1\n")
    command.write("one.run", "q Q0 a 1 3 x\nq Q0 x 2 2 x\n")
    command.write("two.run", "q Q0 x 1 3 x\nq Q0 b 2 2 x\n")
    of_query = ("--qrels", "qrels", "--run", "one.run", "--run", "two.run", "--query", "q", "--detail")
    out = command("explain", "AP@2", *of_query).out
    one, two = (out[out.index(f"AP@2 of {name} for query q, as others") :] for name in ("one", "two"))
    capped = "divided by min(relevant documents, k)"
    assert re.search(r"NTCIREVAL +0\.5000 +" + re.escape(capped), one)
    assert re.search(r"NTCIREVAL +0\.2500 +" + re.escape(capped), two)
    assert "as others" not in command("explain", "ERR@2", *of_query).out  # of which no tool is known


def test_unjudged_documents_of_a_list_of_grades(command):
    """Two of the three judged documents of 1,-,0,2 are relevant; without the unjudged one they are at ranks 1 and 3."""
    arguments = ("explain", "AP", "--grades=1,-,0,2", "--format", "jsonl")
    for flags, value in ((), (1 + 2 / 4) / 2), (("--unjudged", "condensed"), (1 + 2 / 3) / 2):
        [header, *_] = command(*arguments, *flags).lines
        assert header["explanations"][0]["runs"][0]["value"] == pytest.approx(value)


def _changed(command, *arguments):
    lines = command("explain", *arguments, "--format", "jsonl").lines
    ranks = [line for line in lines if line.get("table", "").endswith("rank by rank") and "rank" in line]
    return lines[0]["changes"][0], ranks


def test_a_swap_term_by_term(command):
    """The first two documents of 3,1,0 change places: 3 loses what log2(3) takes, 1 wins that."""
    change, ranks = _changed(command, "DCG@3", "--grades", "3,1,0", "--swap", "1,2")
    by_rank = [1 - 3, 3 / math.log2(3) - 1 / math.log2(3), 0]
    assert [row["difference"] for row in ranks] == pytest.approx(by_rank)
    assert [(row["before"], row["after"]) for row in ranks[:2]] == [
        ("d1: 3", "d2: 1"),
        ("d2: 1", "d1: 3"),
    ]
    assert [row["discount"] for row in ranks] == pytest.approx([1, math.log2(3), 2])
    of_ndcg = _changed(command, "nDCG@3", "--grades", "0,1", "--unretrieved", "3", "--swap", "1,2")[1]
    assert [row["ideal gain"] for row in of_ndcg] == [3, 1, 0]
    assert change["difference"] == pytest.approx(sum(by_rank))
    assert change["difference"] == change["after"]["value"] - change["before"]["value"]


def test_a_swap_that_changes_nothing(command):
    result = command("explain", "P@2", "--grades", "1,0", "--swap", "1,2")
    assert "\nSwapping ranks 1 and 2 leaves P@2 at 0.5000.\n" in result.out


def test_before_and_after_fit_a_terminal(command):
    out = command("explain", "nDCG@5", "AP", "P@5", "ERR@5", "RBP", "--grades", "3,2,-,1", "--swap", "1,3").out
    assert max(len(line) for table in out.split("\n\n") if "---" in table for line in table.splitlines()) <= 80


def test_a_figure_of_typed_grades_and_of_runs(command, explain):
    """DCG of grades 3,0,2 is 3, 3 and 4; that of the ideal list 3, 3 + 2/log2(3) and no more. nDCG is their ratio."""
    plot, ratio = running_plots([Board.read("3,0,2").explain("nDCG@3", Policy())])
    best = 3 + 2 / math.log2(3)
    drawn = {line.name: line.y for line in plot.lines}
    assert drawn == {"ideal": pytest.approx((3, best, best)), "the list": pytest.approx((3, 3, 4))}
    assert plot.y.label == "DCG" and plot.caption == f"nDCG@3 = 4 / {best:.4f} = {4 / best:.4f}"
    assert {line.name: line.y for line in ratio.lines} == {
        "ideal": (1, 1, 1),
        "the list": pytest.approx((1, 3 / best, 4 / best)),
    }
    [alone] = running_plots([Board.read("3,0,2").explain("P@3", Policy())])
    assert [line.name for line in alone.lines] == ["the list"]
    assert command("explain", "nDCG@3", "--grades", "3,0,2", "--swap", "1,3", "--figure", "typed.svg").code == 0
    asked = ("--run", "one.run", "--run", "two.run", "--query", "q1", "--query", "q2")
    assert explain("nDCG@3", *asked, "--figure", "runs.svg").code == 0
    for name in ("typed", "runs"):
        assert (command.directory / f"{name}.svg").read_bytes().startswith(b"<?xml")


def test_a_gain_vector_as_papers_write_it_and_what_the_paper_has_for_it(command):
    """Järvelin and Kekäläinen (2002), TOIS: their G', the ideal I, DCG and nDCG at rank 10 (9.61 / 11.83 = 0.81)."""
    vector = ("--grades", "<3, 2, 3, 0, 0, 1, 2, 2, 3, 0, ...>", "--unretrieved", "<1,1,1>")
    said = "With the discount of Järvelin and Kekäläinen (2002), nDCG(discount=jarvelin2002)@10 is 0.8117."
    assert said in " ".join(command("explain", "nDCG@10", *vector).out.split())
    ideal = "The ideal list contains only these grades; --unretrieved GRADES adds others."
    assert [
        ideal in command("explain", *each).words
        for each in (("nDCG@10", *vector), ("nDCG@10", *vector[:2]), ("DCG@10", *vector[:2]))
    ] == [False, True, False]
    others = command("explain", "nDCG(discount=jarvelin2002)@10", "P@5", *vector)
    assert others.code == 0 and "(2002)" not in others.out


def test_what_others_compute_before_and_after(command):
    """Rank 1 and 3 exchanged: Burges' gains give another number, in both lists."""
    out = command("explain", "nDCG@3", "--grades", "3,0,2", "--swap", "1,3", "--detail").out
    for name, first, third in (("before", 7, 3), ("after", 3, 7)):
        table = out.split(f"nDCG@3 of {name} for these grades, as others compute it")[1].split("\n\n")[0]
        assert f"{(first + third / 2) / (7 + 3 / math.log2(3)):.4f}" in table


def test_how_another_tool_reads_files_is_not_said_of_typed_grades(command):
    words = command("explain", "ndcg", "--grades", "3,2").words
    assert words.startswith("trec_eval's ndcg is nDCG here. nDCG: Normalised")


def test_a_list_of_grades_has_no_scores(command):
    result = command("explain", "SwetsE", "--grades", "3,2,0,1")
    assert (result.code, result.err) == (3, "--grades: the run has no scores\n")


@together(
    "arguments, message",
    [
        ((), ""),
        (("nDCG@3", "--figure", "f.svg"), "nDCG@3: a definition has no chart\n"),
        (("P@1", "--swap", "1,2"), "--swap needs --grades"),
        (("P@1", "--unretrieved", "3"), "--unretrieved needs --grades"),
        (("P@1", "--grades", "3,x"), "--grades: expected a number, found 'x'"),
        (("P@1", "--grades", "-"), "--grades: at least one document must have a grade"),
        (("P@1", "--grades", "3,2", "--swap", "1"), "--swap: expected two ranks such as 1,3, found '1'"),
        (("P@1", "--grades", "3,2", "--swap", "1,3"), "--swap: expected a rank in the list, found 3 in 2 documents"),
        (
            ("P@1", "--grades", "3", "--run", "r"),
            "--grades: a list of grades cannot be combined with --qrels, --run or --query",
        ),
    ],
)
def test_wrong_lists_of_grades(command, arguments, message):
    result = command("explain", *arguments)
    assert (result.code, result.out) == (2, "") and result.err.startswith(message)
