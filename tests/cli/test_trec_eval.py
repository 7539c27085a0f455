"""`gainful trec_eval`: options, output, return codes and messages of trec_eval."""

from __future__ import annotations

import math
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import gainful
from gainful.compat.trec_eval.trec_eval_options import Ended, Options, parse_options

QRELS = "q1 0 a 1\nq1 0 b 0\nq1 0 c 2\nq2 0 a 1\n"
RUN = "q1 Q0 a 1 3 old\nq1 Q0 x 2 2 old\nq1 Q0 c 3 1 old\nq2 Q0 b 1 2 mine\nq2 Q0 a 2 1 mine\n"


@pytest.fixture
def trec_eval(command):
    """The command on the two files `qrels` and `run`, whose content may be given."""

    def run(*arguments, qrels=QRELS, run=RUN, files=("qrels", "run"), stdin=b""):
        command.write("qrels", qrels)
        command.write("run", run)
        return command("trec_eval", *arguments, *files, stdin=stdin)

    return run


def table(result):
    """The lines of a report: (name, topic) -> value, in their order."""
    assert result.code == 0, result.err
    fields = [line.split("\t") for line in result.out.splitlines()]
    assert all(len(name) >= 22 and len(rest) == 2 for name, *rest in fields)
    return {(name.rstrip(), topic): value for name, topic, value in fields}


def names(result):
    return list(dict.fromkeys(name for name, _ in table(result)))


# -- Options -----------------------------------------------------------------------------------------------------------


def options(*arguments):
    found = parse_options([*arguments, "qrels", "run"])
    assert isinstance(found, Options)
    return found


def test_short_options_are_joined_as_getopt_allows():
    found = options("-qcnJ", "-l2", "-M", "100", "-N30", "-mmap", "-m", "P.5,10", "-Zfile", "-o")
    assert (found.by_query, found.complete, found.summary, found.judged_only) == (True, True, False, True)
    assert (found.level, found.depth, found.documents, found.zscores) == (2, 100, 30, "file")
    assert (found.names, found.parameters) == ({"map", "P"}, {"P": "5,10"})
    assert options("-qm", "map").by_query
    assert options("-qmmap").names == {"map"}


def test_long_options_and_their_beginnings():
    found = options(
        "--query_eval_wanted",
        "--complete_rel_info_wanted",
        "--nosummary",
        "--Judged_docs_only",
        "--level_for_rel=2",
        "--Max_retrieved_per_topic",
        "100",
        "--Number_docs_in_coll=30",
        "--measure=map",
        "--Zscore=file",
        "--compat=9.0.8",
        "--Rel_info_format=qrels",
        "--Results_format",
        "trec_results",
        "--Debug_level=0",
    )
    assert (found.by_query, found.complete, found.summary, found.judged_only) == (True, True, False, True)
    assert (found.level, found.depth, found.documents, found.zscores) == (2, 100, 30, "file")
    assert (found.names, found.compat) == ({"map"}, "9.0.8")
    assert options("--query", "--lev", "3").level == 3


def test_options_may_follow_files():
    found = parse_options(["qrels", "-q", "run", "-m", "map"])
    assert isinstance(found, Options)
    assert (found.qrels, found.run, found.by_query, found.names) == ("qrels", "run", True, {"map"})
    found = parse_options(["-q", "--", "-strange-", "run"])
    assert isinstance(found, Options)
    assert found.qrels == "-strange-"


def test_numbers_are_read_as_c_does():
    assert options("-l", "2x").level == 2
    assert options("-l", "x").level == 0


def test_default_is_official():
    assert {"map", "gm_map", "bpref", "P"} <= options().names
    assert "ndcg" not in options().names
    assert options("-m", "set").names >= {"set_F", "utility"}


@pytest.mark.parametrize(
    "arguments",
    [[], ["qrels"], ["qrels", "run", "more"], ["-x", "qrels", "run"], ["--level", "qrels", "run"], ["-m"], ["--none"]],
)
def test_wrong_usage(command, arguments):
    result = command("trec_eval", *arguments)
    assert (result.code, result.out) == (1, "")
    assert "Usage: trec_eval [-h] [-q]" in result.err


def test_help_and_version(command):
    for arguments in (["-h"], ["--help"], ["-hm", "map"]):
        result = command("trec_eval", *arguments)
        assert (result.code, result.err) == (0, "")
        assert result.out.startswith("Usage: trec_eval [-h]")
        assert "--complete_rel_info_wanted" in result.out and "--link DIR" in result.out
    result = command("trec_eval", "-v")
    assert (result.code, result.out) == (0, "")
    assert result.err == f"trec_eval version 10.0 (gainful {gainful.__version__})\n"
    assert command("trec_eval", "--version", "--compat", "9.0.8").err.startswith("trec_eval version 9.0.8 ")
    assert isinstance(parse_options(["-v", "-m", "nothing"]), Ended)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["-m", "nothing"], 1, "illegal measure 'nothing'"),
        (["-m", "ndcg_cat.5"], 1, "did you mean ndcg_cut"),
        (["-m", "P."], 1, "no parameters after the dot"),
        (["-m", "rbp", "--compat", "9.0.8"], 1, "trec_eval 9.0.8 does not have it"),
        (["--compat", "8"], 1, "--compat: expected 9.0.8 | 10.0, found '8'"),
        (["-M", "0"], 1, "-M: expected a whole number of at least 1, found '0'"),
        (["-l", "-1"], 1, "-l: expected a whole number of at least 0, found '-1'"),
        (["-D", "1"], 1, "no debug output"),
        (["-D", "0.q1"], 1, "no debug output"),
        (["-R", "pref"], 2, "-R: expected qrels | qrels_jg | prefs | qrels_prefs, found 'pref'"),
        (["-T", "other"], 2, "-T: expected trec_results, found 'other'"),
        (["-M", "x"], 1, "-M: expected a whole number of at least 1, found 'x'"),
        (["-m", "ndcg.1=-1"], 2, "expected numbers of 0 or more in the map, found -1"),
        (["-m", "rbp.1=-1"], 2, "expected numbers of 0 or more in the map, found -1"),
        (["-m", "rbp.p=1"], 2, "expected a number of at least 0 and below 1, found 1"),
        (["-m", "iprec_at_recall.1.5"], 2, "expected a number from 0 to 1, found 1.5"),
        (["-m", "utility.0,0,0,1"], 2, "d requires N, the size of the collection"),
        (["-m", "utility.0,0,0,1", "-N", "2"], 1, "N=2, but a query has 3 documents"),
        (["-m", "P.5,5"], 2, "measure 'P': duplicate cutoff 5"),
        (["-m", "P.5,5.7"], 2, "duplicate cutoff 5"),
        (["-m", "P.0,5"], 2, "measure 'P': expected cutoffs above 0, found 0"),
        (["-m", "ndcg_cut.x"], 2, "expected cutoffs above 0, found 0"),
        (["-m", "iprec_at_recall.0.5,0.5"], 2, "duplicate cutoff 0.5"),
        (["-m", "ndcg.1"], 2, "measure 'ndcg': expected name=number, found '1'"),
        (["-m", "utility.1,2"], 4, "measure 'utility': expected 4 numbers, found 2"),
        (["-Z", "absent"], 255, "absent: no such file"),
    ],
)
def test_what_is_refused(trec_eval, arguments, code, words):
    result = trec_eval(*arguments)
    assert (result.code, result.out) == (code, "")
    assert result.err.startswith("trec_eval: ")
    assert words in result.err


# -- The report --------------------------------------------------------------------------------------------------------


def test_lines(trec_eval):
    result = trec_eval("-q", "-m", "num_ret", "-m", "P.2", "-m", "runid", "-m", "num_q")
    assert result.out == (
        "num_ret               \tq1\t3\n"
        "P_2                   \tq1\t0.5000\n"
        "num_ret               \tq2\t2\n"
        "P_2                   \tq2\t0.5000\n"
        "runid                 \tall\tmine\n"
        "num_q                 \tall\t2\n"
        "num_ret               \tall\t5\n"
        "P_2                   \tall\t0.5000\n"
    )


def test_of_a_measure_given_twice_the_first_counts(trec_eval):
    assert names(trec_eval("-m", "P.5", "-m", "P.10")) == ["P_5"]
    assert names(trec_eval("-m", "P", "-m", "P.10")) == ["P_10"]
    assert names(trec_eval("-m", "set_F.2", "-m", "set_F")) == ["set_F_2"]


def test_names_with_parameters(trec_eval):
    first = ("-mndcg_cut.20,10,23.4", "-miprec_at_recall..5", "-mRprec_mult.1", "-mset_F.2.0", "-m11pt_avg..25,.5")
    second = ("-mutility.2,-1,0,0", "-mndcg.1=3,2=9", "-mrbp.p=0.95", "-mmap.7")
    found = names(trec_eval(*first, *second))
    assert found == [
        "map",
        "iprec_at_recall_0.50",
        "Rprec_mult_1.00",
        "utility_2,-1,0,0",
        "11pt_avg_.25,.5",
        "ndcg_1=3,2=9",
        "ndcg_cut_10",
        "ndcg_cut_20",
        "ndcg_cut_23",
        "set_F_2.0",
        "rbp_p=0.95",
    ]


def test_values_with_parameters(trec_eval):
    found = table(trec_eval("-qmset_F.2", "-mutility.2,-1,-3,0", "-mndcg.1=3,2=9", "-mrbp.p=0.5", "-m", "dcg"))
    # q1: a (1), x, c (2) of a, c; P = 2/3, R = 1. q2: b, a of a; P = 1/2, R = 1.
    assert found["set_F_2", "q1"] == f"{3 * (2 / 3) / (2 * 2 / 3 + 1):.4f}"
    assert found["utility_2,-1,-3,0", "q1"] == "3.0000"
    assert found["ndcg_1=3,2=9", "q1"] == f"{(3 + 9 / 2) / (9 + 3 / 1.584962500721156):.4f}"
    assert found["rbp_p=0.5", "q1"] == f"{0.5 * (1 / 2 + 0.25):.4f}"
    assert found["rbp_p=0.5", "q2"] == "0.2500"
    assert table(trec_eval("-qmrbp.p=0.9,p=0.5"))["rbp_p=0.9,p=0.5", "q2"] == "0.2500"  # the last one counts
    assert found["dcg", "q1"] == "2.0000"


def test_utility_counts_the_collection(trec_eval):
    # Of 100 documents 3 are retrieved, and nothing relevant is missed.
    assert table(trec_eval("-qmutility.0,0,0,1", "-N", "100"))["utility_0,0,0,1", "q1"] == "97.0000"


def test_gain_tables_with_fractions_and_missing_levels(trec_eval):
    qrels = "q1 0 a 1\nq1 0 b 3\n"
    run = "q1 Q0 a 1 2 t\nq1 Q0 b 2 1 t\n"
    found = table(trec_eval("-m", "dcg.1=0.5,2=9", qrels=qrels, run=run))
    assert found["dcg_1=0.5,2=9", "all"] == f"{0.5 + 3 / 1.584962500721156:.4f}"


def test_rbp_goes_by_the_whole_table_of_gains(trec_eval):
    # Of a topic with grades up to 1, and one with grades up to 3: gains are divided by the highest in the table, which
    # has all grades up to the topic's highest, too.
    given = {"qrels": "q1 0 a 1\nq2 0 a 1\nq2 0 b 3\n", "run": "q1 Q0 a 1 1 t\nq2 Q0 a 1 1 t\n"}
    for table_of, first, second in (
        ("1=1,2=2", 1 / 2, 1 / 3),
        ("2=2", 1 / 2, 1 / 3),
        ("1=0.5", 0.5, 0.5 / 3),
        ("1=4,p=0.9", 1, 1),
        ("3=1,2=0.5", 1, 1),
        ("3=9,1=6", 6 / 9, 6 / 9),
        ("x=7", 1, 1 / 3),
    ):
        found = table(trec_eval("-q", f"-mrbp.{table_of}", **given))
        expected = [f"{0.1 * gain:.4f}" for gain in (first, second)]
        assert [found[f"rbp_{table_of}", topic] for topic in ("q1", "q2")] == expected, table_of


def test_smoothed_average_precision(trec_eval):
    # q1: a, x, c of a, c. q15 is not in the run: trec_eval 10 scores a list of one document for it, 9.0.8 counts 0.
    of_q1, of_q2, of_missing = math.log((1 + 1 + 2 / 3) / (3 - 1 - 2 / 3)), math.log(1.5 / 1.5), math.log(1 / 3)
    new = table(trec_eval("-qc", "-myaap", qrels=MORE))
    assert (new["yaap", "q1"], new["yaap", "q15"]) == (f"{of_q1:.4f}", f"{of_missing:.4f}")
    assert new["yaap", "all"] == f"{(of_q1 + of_q2 + of_missing) / 3:.4f}"
    old = table(trec_eval("-qc", "-myaap", "--compat", "9.0.8", qrels=MORE))
    assert old["yaap", "all"] == f"{(of_q1 + of_q2) / 3:.4f}"
    higher = table(trec_eval("-ql2", "-myaap"))
    assert higher["yaap", "q1"] == f"{math.log((1 + 1 / 3) / (2 - 1 / 3)):.4f}"


def test_grade_strings(trec_eval):
    qrels = "q1 0 a 1\nq1 0 b -1\nq1 0 c 12\nq1 0 d 0\nq1 0 e 9\n"
    run = "".join(f"q1 Q0 {document} 0 {9 - i} t\n" for i, document in enumerate("abxcde"))
    given = {"qrels": qrels, "run": run}
    assert table(trec_eval("-q", "-m", "relstring", **given)) == {("relstring", "q1"): "'1.->09'"}
    assert table(trec_eval("-q", "-m", "relstring.3", **given)) == {("relstring_3", "q1"): "'1.-'"}
    assert table(trec_eval("-q", "-m", "relstring.0", **given)) == {("relstring_0", "q1"): "''"}
    assert table(trec_eval("-qJ", "-m", "relstring", **given)) == {("relstring", "q1"): "'1>09'"}
    assert table(trec_eval("-q", "-M2", "-m", "relstring", **given)) == {("relstring", "q1"): "'1.'"}
    assert table(trec_eval("-m", "relstring", **given)) == {}


def test_z_scores(trec_eval, command):
    command.write("z", "q1 map 0.5 0.5\nq1 P_2 0.5 0\nq2 num_ret 1 2\nq2 P_2 0 0\n")
    found = table(
        trec_eval("-q", "-Zz", "-mmap", "-mP.2", "-mnum_ret", "-mrunid", "-mnum_q", "-mrelstring", "-mgm_map")
    )
    assert found["Zmap", "q1"] == f"{(5 / 6 - 0.5) / 0.5:.4f}"
    assert found["ZP_2", "q1"] == "0.0000"  # no deviation, and the mean itself
    assert found["ZP_2", "q2"] == found["Zmap", "q2"] == found["Znum_ret", "q1"] == "-1000000.0000"
    assert found["Znum_ret", "q2"] == "0.5000"
    assert found["Znum_ret", "all"] == "-999999.5000"
    assert found["ZP_2", "all"] == "-500000.0000"
    assert (found["Znum_q", "all"], found["Zgm_map", "all"]) == ("2.0000", "0.0000")
    assert (found["runid", "all"], found["relstring", "q1"]) == ("mine", "'1-2'")


def test_z_scores_that_cannot_be_read(trec_eval, command):
    for text, words in (
        ("q1 map 0.5\n", "z:1: expected topic measure mean deviation, found 3 fields"),
        ("", "is empty"),
    ):
        command.write("z", text)
        result = trec_eval("-Zz", "-m", "P.0")  # as there, measures come after them
        assert (result.code, result.out) == (255, "")
        assert words in result.err
        assert trec_eval("-Zz", files=("qrels", "absent")).code == 2  # and files before


# -- Topics that only one side has -------------------------------------------------------------------------------------

MORE = QRELS + "q15 0 a 1\nq15 0 c 3\n"


def test_a_missing_topic_ends_version_10(trec_eval):
    result = trec_eval("-qm", "map", qrels=MORE)
    assert result.code == 4
    assert result.out == "map                   \tq1\t0.8333\n"
    first, hint = result.err.splitlines()
    assert first == "trec_eval: result qid 'q15' not found in qrels"
    assert "it is the run that lacks it" in hint and "-c" in hint and "--compat 9.0.8" in hint
    assert trec_eval("-m", "map", qrels=MORE).out == ""


def test_complete(trec_eval):
    arguments = ("-qc", "-mmap", "-mgm_map", "-mnum_q", "-mnum_ret", "-mnum_rel", "-mutility", "-mrelstring", "-munj.5")
    new = table(trec_eval(*arguments, "-mrbp_resid", qrels=MORE))
    assert (new["map", "q15"], new["num_ret", "q15"], new["num_rel", "q15"]) == ("0.0000", "0", "2")
    assert (new["utility", "q15"], new["relstring", "q15"], new["unj_5", "q15"]) == ("0.0000", "''", "0.0000")
    assert new["rbp_resid", "q15"] == "0.0000"
    old = table(trec_eval(*(a for a in arguments if "unj" not in a), "--compat", "9.0.8", qrels=MORE))
    assert ("map", "q15") not in old
    for found in (new, old):
        assert found["map", "all"] == f"{(5 / 6 + 1 / 2) / 3:.4f}"
        assert found["gm_map", "all"] == f"{(5 / 6 * 1 / 2 * 1e-5) ** (1 / 3):.4f}"
        assert (found["num_q", "all"], found["num_ret", "all"], found["num_rel", "all"]) == ("3", "5", "5")


def test_made_up_document_of_version_10_stays_where_names_have_parameters(trec_eval):
    arguments = ("-qc", "-mutility.2,-1,-3,0", "-mrelstring.5", "-mrbp_resid.p=0.5")
    found = table(trec_eval(*arguments, qrels=MORE))
    assert found["utility_2,-1,-3,0", "q15"] == "-7.0000"  # one document retrieved, two missed
    assert (found["relstring_5", "q15"], found["rbp_resid_p=0.5", "q15"]) == ("'-'", "1.0000")
    found = table(trec_eval(*arguments, "-J", qrels=MORE))
    assert found["utility_2,-1,-3,0", "q15"] == "-6.0000"
    assert (found["relstring_5", "q15"], found["rbp_resid_p=0.5", "q15"]) == ("''", "0.0000")


def test_nothing_in_common(trec_eval):
    other = "q9 Q0 a 1 1 t\n"
    for arguments in ((), ("-c",)):
        result = trec_eval("--compat", "9.0.8", *arguments, run=other)
        assert (result.code, result.out) == (7, "")
        assert "no topic is both in the judgments and in the run" in result.err
    assert trec_eval(run=other).code == 4
    found = table(trec_eval("-c", run=other))
    assert (found["num_q", "all"], found["map", "all"], found["runid", "all"]) == ("2", "0.0000", "t")


def test_topics_without_judgments_are_left_aside(trec_eval):
    more = RUN + "q9 Q0 a 1 1 t\n"
    assert trec_eval("-q", "-m", "map", run=more).out == trec_eval("-q", "-m", "map").out


# -- Documents that stand twice ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("compat", ["9.0.8", "10.0"])
def test_a_document_twice_in_the_run(trec_eval, compat):
    result = trec_eval("-q", "-m", "map", "--compat", compat, run=RUN + "q2 Q0 a 7 7 t\n")
    assert result.code == 4
    assert result.out == "map                   \tq1\t0.8333\n"
    assert "the run has a document twice for topic 'q2'" in result.err


def test_a_document_twice_where_nobody_looks(trec_eval):
    expected = trec_eval("-m", "map").out
    assert trec_eval("-m", "map", run="q9 Q0 a 1 2 t\nq9 Q0 a 2 1 t\n" + RUN).out == expected
    deep = trec_eval("-M3", "-m", "map", run="q1 Q0 a 9 0 t\n" + RUN)
    assert (deep.code, deep.out) == (0, expected)
    assert trec_eval("-M4", "-m", "map", run="q1 Q0 a 9 0 t\n" + RUN).code == 4


def test_a_document_twice_in_the_judgments(trec_eval):
    result = trec_eval("-q", "-m", "map", qrels=QRELS + "q2 0 a 1\n")
    assert (result.code, result.out) == (4, "map                   \tq1\t0.8333\n")
    assert "the judgments have a document twice for topic 'q2'" in result.err
    others = QRELS + "q9 0 a 1\nq9 0 a 1\n"
    assert trec_eval("--compat", "9.0.8", qrels=others).code == 0
    assert trec_eval("--compat", "9.0.8", "-c", qrels=others).code == 0
    assert trec_eval("-c", qrels=others).code == 4


# -- Reading -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("qrels", "run", "words"),
    [
        ("", RUN, "qrels: no judgments"),
        (QRELS, "", "run: no ranked documents"),
        (QRELS + "q1 0 z\n", RUN, "qrels:5: expected 4 fields, found 3"),
        (QRELS + "q1 0 z 1 more\n", RUN, "qrels:5: expected 4 fields, found 5"),
        (QRELS, RUN + "q1 Q0 z 1 1\n", "run:6: expected at least 6 fields, found 5"),
        (QRELS, '{"q1": {"a": 1}}', "run:1: expected at least 6 fields, found 3"),
        (QRELS, RUN + "q1 Q0 z 1 nan t\n", "run:6: expected a number as score, found 'nan'"),
    ],
)
def test_malformed_files(trec_eval, qrels, run, words):
    result = trec_eval(qrels=qrels, run=run)
    assert (result.code, result.out) == (2, "")
    assert words in result.err


def test_files_that_are_not_there(trec_eval):
    for files in (("absent", "run"), ("qrels", "absent")):
        result = trec_eval(files=files)
        assert (result.code, result.out, result.err) == (2, "", "trec_eval: absent: no such file\n")
    result = trec_eval(files=(".", "run"))
    assert (result.code, result.out) == (2, "")


def test_real_grades_are_cut_with_one_notice(trec_eval):
    real = "q1 0 a 2.7\nq1 0 b 0.5\nq1 0 c 1e2\nq1 0 d x\nq1 0 e -0.5\nq1 0 f 3\nq2 0 a 1.0\n"
    whole = "q1 0 a 2\nq1 0 b 0\nq1 0 c 1\nq1 0 d 0\nq1 0 e 0\nq1 0 f 3\nq2 0 a 1\n"
    found = trec_eval("-q", "-m", "all_trec", qrels=real)
    expected = trec_eval("-q", "-m", "all_trec", qrels=whole)
    assert (found.code, found.out, expected.err) == (0, expected.out, "")
    assert found.err == "trec_eval: qrels: 6 grades not written as whole numbers, read as trec_eval does: '2.7' as 2\n"


@pytest.mark.parametrize("grade", ["10e-1", "0.1e1", "1e0", "1.0", "1."])
def test_any_grade_that_is_not_written_as_a_whole_number_is_found(trec_eval, grade):
    found = table(trec_eval("-qmrelstring", qrels=f"q1 0 a {grade}\nq2 0 a 1\n"))
    first = {"10e-1": ">", "0.1e1": "0"}.get(grade, "1")
    assert found["relstring", "q1"] == f"'{first}--'"


def test_large_whole_grades_and_signs_are_ordinary(trec_eval):
    result = trec_eval("-qmrelstring", qrels="q1 0 a +1\nq1 0 c 1000 \nq2 0 a 007")
    assert (table(result)["relstring", "q1"], table(result)["relstring", "q2"]) == ("'1->'", "'-7'")
    assert result.err == ""


def test_more_than_six_columns(trec_eval):
    wide = RUN.replace("old\n", "old with more words\n").replace("mine\n", "mine 7\n")
    result = trec_eval("-qm", "all_trec", run=wide)
    assert (result.code, result.err) == (0, "")
    assert result.out == trec_eval("-qm", "all_trec").out


def test_scores_that_are_not_numbers(trec_eval):
    odd = RUN.replace(" 3 old", " 3,5 old").replace(" 1 old", " x old")
    result = trec_eval("-qm", "map", run=odd)
    assert (result.code, result.out) == (0, trec_eval("-qm", "map").out)
    assert result.err == "trec_eval: run: 2 scores not written as numbers, read as trec_eval does: '3,5' as 3.0\n"
    for first in ("1e999", "0x1p2", "0X.Cp+3", "0x1.9,5", "0x1p99999"):
        assert trec_eval(
            "-qm", "map", run=RUN.replace(" 3 old", f" {first} old").replace(" 2 old", " 1.5 old")
        ).out == (result.out)


def test_byte_order_marks_are_no_part_of_a_topic(trec_eval):
    marked = trec_eval("-q", qrels="\ufeff" + QRELS, run="\ufeff" + RUN.replace(" 3 ", " 0x3 "))
    assert (marked.code, marked.out) == (0, trec_eval("-q").out)


def test_comments_and_line_ends(trec_eval):
    expected = trec_eval("-q").out
    comments = {"qrels": "# one\n# two\n" + QRELS, "run": "#\n" + RUN + "# a b c d e f\n"}
    assert trec_eval("-q", **comments).out == expected
    windows = {"qrels": QRELS.replace("\n", "\r\n"), "run": RUN.replace("\n", "\r\n").rstrip()}
    assert trec_eval("-q", **windows).out == expected
    for name in ("qrels", "run"):
        result = trec_eval("-q", "--compat", "9.0.8", **{name: {"qrels": QRELS, "run": RUN}[name] + "# no comment\n"})
        assert (result.code, result.out) == (2, "")
        assert "fields, found 3" in result.err
    in_document = RUN.replace(" a ", " a#1 ")
    assert trec_eval("--compat", "9.0.8", run=in_document).code == 0


def test_standard_input(trec_eval):
    expected = trec_eval("-q").out
    result = trec_eval("-q", files=("qrels", "-"), stdin=RUN.encode())
    assert (result.code, result.out) == (0, expected)
    for arguments, files in (((), ("-", "run")), (("--compat", "9.0.8"), ("qrels", "-"))):
        result = trec_eval(*arguments, files=files, stdin=RUN.encode())
        assert (result.code, result.out) == (2, "")
        assert "standard input" in result.err


def test_tag_of_the_last_line(trec_eval):
    long_line = "# " + 5000 * "x "
    assert table(trec_eval("-mrunid", run=RUN + f"\n{long_line}\n  \n"))["runid", "all"] == "mine"
    assert table(trec_eval("-mrunid", run=RUN + "q1 Q0 é 1 0 täg"))["runid", "all"] == "täg"


def test_ids_are_bytes(command):
    command.write("qrels", b"q\xff 0 a 1\n")
    command.write("run", b"q\xff Q0 a 1 1 \xfe\n")
    result = command.process("trec_eval", "-qm", "map", "-mrunid", "qrels", "run")
    assert result.stdout.startswith(b"map                   \tq\xff\t1.0000\nrunid                 \tall\t\xfe\n")


def test_both_cores_print_the_same(command, use_core):
    command.write("qrels", "# comment\n" + QRELS + "q3 0 a -1\nq3 0 b 2.5\n")
    command.write("run", RUN + "q3 Q0 a 1 2 tag more\nq3 Q0 b 1 1 tag\n")
    arguments = ("trec_eval", "-qm", "all_trec", "qrels", "run")
    use_core("c++")
    compiled = command(*arguments)
    use_core("python")
    assert compiled.code == 0 and compiled.out
    assert command(*arguments) == compiled


# -- Versions ----------------------------------------------------------------------------------------------------------


def test_all_of_version_10_and_9(trec_eval):
    new, old = names(trec_eval("-m", "all_trec")), names(trec_eval("-m", "all_trec", "--compat", "9.0.8"))
    assert new[: len(old)] == old
    assert new[len(old) :] == ["rbp", "rbp_resid", "unj_5", "unj_10", "unj_20"]
    assert len(old) == 94


# -- The executable ----------------------------------------------------------------------------------------------------


def executed(path, *arguments, environment):
    return subprocess.run([path, *arguments], capture_output=True, text=True, env=environment, timeout=60, check=False)


def test_link(command, environment):
    command.write("qrels", QRELS)
    command.write("run", RUN)
    (command.directory / "bin").mkdir()
    result = command("trec_eval", "--link", "bin")
    program = Path("bin", "trec_eval")
    assert (result.code, result.out) == (0, f"wrote {program}\n")
    assert program.stat().st_mode & stat.S_IXUSR
    assert program.read_text().startswith(f"#!{sys.executable}\n")
    assert os.listdir("bin") == ["trec_eval"]
    path = program.absolute()
    done = executed(path, "-q", "-m", "map", "qrels", "run", environment=environment())
    assert (done.returncode, done.stdout) == (0, command("trec_eval", "-q", "-m", "map", "qrels", "run").out)
    assert executed(path, environment=environment()).returncode == 1
    assert executed(path, "qrels", "absent", environment=environment()).returncode == 2
    assert executed(path, "--version", environment=environment()).stderr.startswith("trec_eval version 10.0 ")


def test_link_replaces_its_own_only(command):
    (command.directory / "bin").mkdir()
    assert command("trec_eval", "--link=bin").code == 0
    assert command("trec_eval", "--link", "bin").code == 0
    command.write("bin/trec_eval", b"\x7fELF other")
    result = command("trec_eval", "--link", "bin")
    assert result.code == 3
    assert "file already exists and was not written by gainful" in result.err
    assert Path("bin/trec_eval").read_bytes() == b"\x7fELF other"


def test_link_needs_a_folder(command):
    result = command("trec_eval", "--link", "absent")
    assert result.code == 3
    assert "cannot be written (there is no folder" in result.err
    assert command("trec_eval", "--link").code == 2
    assert command("trec_eval", "--link", "a", "b").code == 2


def test_link_of_an_interpreter_that_no_first_line_can_name(command, environment, monkeypatch):
    folder = command.directory / "with space"
    folder.mkdir()
    python = folder / "python"  # not a link to a virtual environment's, which from elsewhere is not of that environment
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    assert command("trec_eval", "--link", ".").code == 0
    done = executed(command.directory / "trec_eval", "-v", environment=environment())
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("trec_eval version 10.0 ")


def test_output_that_cannot_be_written(command, environment):
    command.write("qrels", QRELS)
    command.write("run", RUN)
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "gainful", "trec_eval", "qrels", "run"],
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment(),
            check=False,
            timeout=60,
        )
    assert done.returncode == 3
    assert b"cannot be written" in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(
    "arguments", ["trec_eval -q -m map", "eval --by-query --format trec -q -m AP", "eval --by-query -q -m AP"]
)
def test_control_bytes_reach_files_and_pipes_but_no_terminal(command, environment, arguments):
    import pty

    command.write("qrels", "q\x1b[2J 0 a 1\n")
    command.write("run", "q\x1b[2J Q0 a 1 3 t\x07\n")
    piped = command.process(*arguments.split(), "qrels", "run")
    terminal, theirs = pty.openpty()
    subprocess.run(
        [sys.executable, "-m", "gainful", *arguments.split(), "qrels", "run"],
        stdout=theirs,
        env={**environment(), "NO_COLOR": "1"},
        check=True,
        timeout=60,
    )
    shown = os.read(terminal, 1 << 16)
    for end in (terminal, theirs):
        os.close(end)
    assert rb"q\x1b[2J" in shown
    assert b"\x1b" not in shown and b"\x07" not in shown
    assert (b"q\x1b[2J" in piped.stdout) == ("trec" in arguments)  # a table is for people, wherever it goes
