"""Every known difference from a peer is listed in differences.toml and still exists."""

from __future__ import annotations

import gzip
import io
import math
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest
import pytrec_eval
import sklearn.metrics

from gainful import InputError, Policy, Qrels, evaluate, parse
from gainful.compat.trec_eval import main as trec_eval
from gainful.measures.catalog import MEASURES
from gainful.measures.help import Help, differences, differences_of

Grades = dict[str, dict[str, int]]
Lists = dict[str, dict[str, float]]

# One of three documents found is relevant, one relevant document is missed: P = 1/3, R = 1/2.
QRELS: Grades = {"q": {"a": 1, "b": 0, "c": 2}}
RUN: Lists = {"q": {"a": 3.0, "b": 2.0, "x": 1.0}}


def in_pytrec_eval(measure: str, qrels: Grades = QRELS, run: Lists = RUN, **options: Any) -> float:
    """The only value of a measure with at most one parameter."""
    (value,) = pytrec_eval.RelevanceEvaluator(qrels, {measure}, **options).evaluate(run)["q"].values()
    return value


def in_ir_measures(measure: str, qrels: Grades = QRELS, run: Lists = RUN) -> float:
    parsed = ir_measures.parse_measure(measure)
    return ir_measures.calc_aggregate([parsed], qrels, run)[parsed]


def in_drop_in(measure: str, qrels: Grades = QRELS, run: Lists = RUN) -> float:
    """What `gainful trec_eval` prints, to four places."""
    judgments = "".join(
        f"{query} 0 {document} {grade}\n" for query in qrels for document, grade in qrels[query].items()
    )
    rows = "".join(f"{query} Q0 {document} 0 {score} tag\n" for query in run for document, score in run[query].items())
    out, errors = io.StringIO(), io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("qrels", "run")]
        for path, text in zip(paths, (judgments, rows), strict=True):
            path.write_text(text)
        assert trec_eval(["-m", measure, *map(str, paths)], out, errors) == 0
    return float(out.getvalue().split("\t")[-1])


def ours(measure: str, qrels: Grades = QRELS, run: Lists = RUN, like: str | None = None, **policy: str) -> float:
    settled = Policy.like(like, **policy) if like else Policy(**policy)
    return evaluate(qrels, run, measure, policy=settled).aggregate(measure)


# -- pytrec_eval and trec_eval -----------------------------------------------------------------------------------------


def set_f_parameter() -> None:
    assert in_pytrec_eval("set_F.2") == pytest.approx(3 * (1 / 6) / (2 / 3 + 1 / 2))
    assert ours("SetF(beta=2)") == pytest.approx(5 * (1 / 6) / (4 / 3 + 1 / 2))
    assert in_pytrec_eval("set_F.2") == pytest.approx(ours(f"SetF(beta={math.sqrt(2)})"))
    assert in_pytrec_eval("set_F.4") == pytest.approx(ours("SetF(beta=2)"))


def level_of_ndcg() -> None:
    assert in_pytrec_eval("ndcg", relevance_level=2) == in_pytrec_eval("ndcg") == pytest.approx(ours("nDCG"))
    assert in_pytrec_eval("ndcg") > ours("nDCG(rel=2)") == 0.0


def level_of_rndcg() -> None:
    assert in_pytrec_eval("Rndcg", relevance_level=3) == 0.0
    assert in_pytrec_eval("Rndcg", relevance_level=2) == in_pytrec_eval("Rndcg") == pytest.approx(ours("RnDCG"))
    assert ours("RnDCG") > ours("RnDCG(rel=2)") == 0.0


def nothing_judged_retrieved() -> None:
    unjudged = {"q": {"x": 1.0}}
    assert math.isnan(in_pytrec_eval("iprec_at_recall.0.0", run=unjudged, judged_docs_only_flag=True))
    assert math.isnan(in_pytrec_eval("11pt_avg", run=unjudged, judged_docs_only_flag=True))
    assert ours("IPrec@0", run=unjudged, unjudged="condensed") == ours("IAP", run=unjudged, unjudged="condensed") == 0.0


def only_negative_grades() -> None:
    # In a process of its own: what trec_eval does then depends on what it did before.
    program = (
        "import pytrec_eval\n"
        "evaluator = pytrec_eval.RelevanceEvaluator({'q': {'a': -1}}, {'num_ret'})\n"
        "print(evaluator.evaluate({'q': {'a': 1.0}}))\n"
    )
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert finished.returncode != 0 or finished.stdout.strip() == "{'q': {'num_ret': 0.0}}"
    assert ours("NumRet", {"q": {"a": -1}}, {"q": {"a": 1.0}}, like="trec_eval-9") == 1.0


def geometric_means() -> None:
    assert in_pytrec_eval("gm_map") == pytest.approx(math.log(in_pytrec_eval("map")))
    assert in_pytrec_eval("gm_bpref") == pytest.approx(math.log(in_pytrec_eval("bpref")))
    for name in ("GMAP", "GMBpref"):
        assert evaluate(QRELS, RUN, name).by_query(name)["q"] == pytest.approx(0.5)


def weights_of_utility() -> None:
    # Five for the relevant document retrieved, minus one for each of the two others.
    assert in_pytrec_eval("utility.5,-1,0,0") == 0.0
    assert ours("Utility(a=5, b=-1)") == 3.0


def real_grades() -> None:
    graded: Any = {"q": {"a": 0.5, "b": 2.7}}
    with pytest.raises(TypeError):
        in_pytrec_eval("ndcg", graded)
    assert ours("DCG", graded, {"q": {"a": 2.0, "b": 1.0}}) == pytest.approx(0.5 + 2.7 / math.log2(3))


def level_of_the_summary(collection: Callable[[str], Any]) -> None:
    data = collection("dl-hard/passage")
    path = data.run_paths["bm25.run"]
    lines = gzip.decompress(path.with_name("bm25.run.eval.gz").read_bytes()).decode().splitlines()
    counts = {query: int(value) for name, query, value in map(str.split, lines) if name == "num_rel"}
    summary = counts.pop("all")
    result = evaluate(data.qrels_path, path, ["NumRel", "NumRel(rel=2)"])
    assert counts == result.by_query("NumRel(rel=2)")
    assert sum(counts.values()) == result.aggregate("NumRel(rel=2)") < summary == result.aggregate("NumRel")


def printed(path: Path, measure: str) -> dict[str, float]:
    """What a report of trec_eval has of a measure, by query."""
    lines = [line.split() for line in path.read_text().splitlines()]
    return {query: float(value) for name, query, value in lines if name == measure}


def gains_of_rbp(shared_data: Path) -> None:
    folder = shared_data / "trec_eval-tests"
    theirs = printed(folder / "out.test.aql", "rbp")
    by_file, by_query = "RBP(p=0.9, gain=scaled)", "trec_eval:rbp"
    result = evaluate(folder / "qrels.rel_level", folder / "results.test", [by_file, by_query], policy="trec_eval-10")
    assert result.aggregate(by_query) == pytest.approx(theirs["all"], abs=0.5e-4)
    # The highest grade of query 302 is 3, that of the file 4.
    assert result.by_query(by_file)["302"] == pytest.approx(theirs["302"] * 3 / 4, abs=0.5e-4)


def residual_of_nothing(shared_data: Path) -> None:
    folder = shared_data / "trec_eval-tests"
    assert printed(folder / "out.test.aqc", "num_ret")["302"] == 0
    assert printed(folder / "out.test.aqc", "rbp_resid")["302"] == 0
    assert parse("RBPResidual(p=0.9)").score([]) == 1.0
    assert parse("RBPResidual(p=0.9)").score([1, 0]) == pytest.approx(0.9**2)


def fractional_gains() -> None:
    # trec_eval prints 0.0000; pytrec_eval takes no gains at all. Found 0.9, missed 0.2.
    value = in_drop_in("ndcg.1=0.9,2=0.2")
    assert value == pytest.approx(0.9 / (0.9 + 0.2 / math.log2(3)), abs=0.5e-4)


# -- ir_measures -------------------------------------------------------------------------------------------------------


def set_f_parameter_of_ir_measures() -> None:
    assert in_ir_measures("SetF(beta=2.0)") == pytest.approx(in_pytrec_eval("set_F.2"))
    assert in_ir_measures("SetF(beta=2.0)") != pytest.approx(ours("SetF(beta=2)"))
    assert in_ir_measures("SetF(beta=4.0)") == pytest.approx(ours("SetF(beta=2)"))


def ties_of_rr_at_k() -> None:
    tied = {"q": {"a": 1.0, "b": 1.0}}
    assert in_ir_measures("RR@2", run=tied) == ours("RR@2", run=tied, ties="docid-asc") == 1.0
    assert in_ir_measures("RR", run=tied) == ours("RR@2", run=tied) == 0.5


def ties_of_judged_at_k() -> None:
    tied = {"q": {"a": 1.0, "x": 1.0}}
    assert in_ir_measures("Judged@1", run=tied) == ours("Judged@1", run=tied, ties="docid-asc") == 1.0
    assert ours("Judged@1", run=tied) == 0.0


def counts_of_unanswered_queries() -> None:
    qrels = {**QRELS, "not answered": {"a": 1}}
    assert in_ir_measures("NumRel", qrels) == ours("NumRel", qrels, missing="skip") == 2.0
    assert ours("NumRel", qrels) == 3.0
    assert in_ir_measures("RR", qrels) == ours("RR", qrels) == 0.5


def near_scores() -> None:
    near = {"q": {"a": 1.0 + 1e-9, "b": 1.0}}
    assert in_ir_measures("AP", run=near) == ours("AP", run=near, scores="float32") == 0.25
    assert ours("AP", run=near) == 0.5


def documents_of_the_pool() -> None:
    pooled = {"q": {"x": -1, "a": 1}}
    after_pooled = {"q": {"x": 2.0, "a": 1.0}}
    theirs = in_ir_measures("infAP", pooled, after_pooled)
    assert theirs == ours("InfAP", pooled, after_pooled, negative="unjudged") == pytest.approx(0.75)
    assert ours("InfAP", pooled, after_pooled) == pytest.approx(0.5, abs=1e-4)


def recall_level_of_three_places() -> None:
    # Of 125 relevant documents 16 make a recall of 0.125, and 15 make 0.12.
    qrels = {"q": {f"r{i}": 1 for i in range(125)}}
    run = {"q": {f"r{i}": 200.0 - i for i in range(15)} | {"x": 100.0} | {"r15": 50.0}}
    assert in_ir_measures("IPrec@0.125", qrels, run) == ours("IPrec@0.12", qrels, run, like="trec_eval-9") == 1.0
    assert ours("IPrec@0.125", qrels, run, like="trec_eval-9") == pytest.approx(16 / 17)


def rounded_by_gdeval() -> None:
    qrels: Grades = {"1": {"a": 1, "b": 2}}
    run: Lists = {"1": {"a": 2.0, "b": 1.0}}
    exact = (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3))
    found = in_ir_measures("nDCG(dcg='exp-log2')@2", qrels, run)
    assert found == round(exact, 5) != pytest.approx(exact, abs=1e-7)
    assert ours("nDCG(gain=exp2)@2", qrels, run) == pytest.approx(exact)


def highest_grade_of_err() -> None:
    qrels: Grades = {"1": {"a": 1, "b": 2}}
    run: Lists = {"1": {"a": 2.0}}
    assert in_ir_measures("ERR@5", qrels, run) == round((2**1 - 1) / 2**4, 5)
    assert ours("ERR@5", qrels, run) == (2**1 - 1) / 2**2
    scaled = evaluate(Qrels.from_dict(qrels, scale=4), run, "ERR@5").aggregate("ERR@5")
    assert in_ir_measures("ERR@5", qrels, run) == pytest.approx(scaled, abs=5e-6)


def in_turn(*measures: str) -> dict[str, float]:
    """In this order: ir_measures' own pipeline takes them in any."""
    parsed = [ir_measures.parse_measure(measure) for measure in measures]
    found = ir_measures.pytrec_eval.calc_aggregate(parsed, QRELS, RUN)
    return dict(zip(measures, (found[measure] for measure in parsed), strict=True))


def counts_beside_other_measures() -> None:
    assert in_turn("NumRet", "P(judged_only=True)@5")["NumRet"] == ours("NumRet") == 3.0
    assert in_turn("P(judged_only=True)@5", "NumRet")["NumRet"] == ours("NumRet", unjudged="condensed") == 2.0


def ndcg_beside_other_gains() -> None:
    assert in_turn("nDCG", "nDCG(gains={1:0})")["nDCG"] == pytest.approx(ours("nDCG"))
    assert in_turn("nDCG(gains={1:0})", "nDCG")["nDCG"] == ours("nDCG(gain=0-0-2)") == 0.0


# -- scikit-learn ------------------------------------------------------------------------------------------------------


def ideal_of_what_is_passed() -> None:
    found = sklearn.metrics.ndcg_score(np.array([[1, 0]]), np.array([[2.0, 1.0]]))
    assert found == pytest.approx(parse("nDCG").score([1, 0])) == 1.0
    assert parse("nDCG").score([1, 0], unretrieved=[2]) < 1.0


def averaged_ties() -> None:
    both = [parse("nDCG").score(grades) for grades in ([1, 0], [0, 1])]
    found = sklearn.metrics.ndcg_score(np.array([[1, 0]]), np.array([[1.0, 1.0]]))
    assert found == pytest.approx(sum(both) / 2)
    tied = {"q": {"a": 1.0, "b": 1.0}}
    assert ours("nDCG", {"q": {"a": 1, "b": 0}}, tied) == both[1] != pytest.approx(found)


def grades_below_zero() -> None:
    with pytest.raises(ValueError, match="negative"):
        sklearn.metrics.ndcg_score(np.array([[-1, 1]]), np.array([[1.0, 2.0]]))
    assert parse("nDCG").score([1, -1]) == 1.0


def base_of_the_logarithm() -> None:
    grades = [3, 2, 3]
    found = sklearn.metrics.dcg_score(np.array([grades]), np.array([[3.0, 2.0, 1.0]]), log_base=10)
    assert found == pytest.approx(parse("DCG(base=10)").score(grades))
    assert found == pytest.approx(parse("DCG").score(grades) * math.log2(10))
    assert parse("DCG(discount=jarvelin2002, base=10)").score(grades) == 8.0 != pytest.approx(found)


def precision_of_groups() -> None:
    def average(relevant: list[int], scores: list[float]) -> float:
        return float(sklearn.metrics.average_precision_score(np.array(relevant), np.array(scores)))

    assert average([1, 0, 1], [3.0, 2.0, 1.0]) == pytest.approx(parse("AP").score([1, 0, 1]))
    assert parse("AP").score([1, 0, 1], unretrieved=[1]) < average([1, 0, 1], [3.0, 2.0, 1.0])
    tied: Lists = {"q": {"a": 1.0, "b": 1.0}}
    assert average([1, 0], [1.0, 1.0]) == 0.5
    assert ours("AP", {"q": {"a": 0, "b": 1}}, tied) == 1.0


# -- Tools that are not there: their numbers are recorded, as in test_recorded.py --------------------------------------


def stop_probability() -> None:
    assert parse("ERR(gain=linear)").score([1, 0, None, 2], [1]) == pytest.approx(0.444444, abs=1e-6)
    assert parse("ERR").score([1, 0, None, 2], [1]) == pytest.approx(1 / 4 + 3 / 4 * 3 / 4 / 4)


def gains_above_one() -> None:
    in_ranx = 0.135738
    assert parse("RBP(p=0.95, gain=scaled)").score([1, 0, None, 2], [1]) == pytest.approx(in_ranx / 2, abs=1e-6)
    with pytest.raises(InputError, match="expected gains from 0 to 1, found 2 for grade 2"):
        parse("ranx:rbp.95").score([1, 0, None, 2], [1])


def weights_of_levels() -> None:
    assert parse("ntcireval:GAP").score([1, 0, 2]) == pytest.approx((2 + (2 + 6) / 3) / 8)
    assert parse("GAP").score([1, 0, 2]) == pytest.approx((1 + (1 + 2) / 3) / 3)


def soon_content() -> None:
    assert parse("ntcireval:NCUrb,P").score([1], [1]) == pytest.approx(1 / (1 + 0.95))
    assert parse("NCUrbP").score([1], [1]) == pytest.approx(1 / (1 + 0.99))


CHECKS: dict[tuple[str, str], Callable[..., None]] = {
    ("pytrec_eval", "set_F_2"): set_f_parameter,
    ("pytrec_eval", "ndcg, relevance level 2"): level_of_ndcg,
    ("pytrec_eval", "Rndcg, relevance level 3"): level_of_rndcg,
    ("pytrec_eval", "iprec_at_recall_0.00, judged documents only"): nothing_judged_retrieved,
    ("pytrec_eval", "num_ret, negative grades only"): only_negative_grades,
    ("pytrec_eval", "gm_map, gm_bpref"): geometric_means,
    ("pytrec_eval", "utility with parameters"): weights_of_utility,
    ("pytrec_eval", "non-integer grades"): real_grades,
    ("trec_eval", "num_rel, summary with -c and -l 2"): level_of_the_summary,
    ("trec_eval", "rbp, grades above 1"): gains_of_rbp,
    ("trec_eval", "rbp_resid, every document judged"): residual_of_nothing,
    ("trec_eval", "ndcg_1=0.9,2=0.2"): fractional_gains,
    ("ir_measures", "NumRet, after P(judged_only=True)@5"): counts_beside_other_measures,
    ("ir_measures", "nDCG, after nDCG(gains={1:0})"): ndcg_beside_other_gains,
    ("ir_measures", "SetF(beta=2.0)"): set_f_parameter_of_ir_measures,
    ("ir_measures", "RR@2"): ties_of_rr_at_k,
    ("ir_measures", "Judged@1"): ties_of_judged_at_k,
    ("ir_measures", "NumRel"): counts_of_unanswered_queries,
    ("ir_measures", "every measure, close scores"): near_scores,
    ("ir_measures", "infAP, negative grades"): documents_of_the_pool,
    ("ir_measures", "IPrec@0.125"): recall_level_of_three_places,
    ("ir_measures", "nDCG(dcg='exp-log2')@2"): rounded_by_gdeval,
    ("ir_measures", "ERR@5"): highest_grade_of_err,
    ("scikit-learn", "ndcg_score, documents not retrieved"): ideal_of_what_is_passed,
    ("scikit-learn", "ndcg_score, equal scores"): averaged_ties,
    ("scikit-learn", "ndcg_score, negative grades"): grades_below_zero,
    ("scikit-learn", "dcg_score(log_base=10)"): base_of_the_logarithm,
    ("scikit-learn", "average_precision_score"): precision_of_groups,
    ("ranx", "rbp.95"): gains_above_one,
    ("NTCIREVAL", "ERR, nERR"): stop_probability,
    ("NTCIREVAL", "GAP"): weights_of_levels,
    ("NTCIREVAL", "NCUrb,P, NCUrb,BR"): soon_content,
}
#: Checks that look at published files, with the fixture they need, and those that run gdeval, which is written in Perl.
ON_REAL_DATA = {level_of_the_summary: "collection", gains_of_rbp: "shared_data", residual_of_nothing: "shared_data"}
IN_PERL = {rounded_by_gdeval, highest_grade_of_err}


@pytest.mark.parametrize("key", CHECKS, ids=": ".join)
def test_difference_is_still_there(key: tuple[str, str], request: pytest.FixtureRequest) -> None:
    check = CHECKS[key]
    if check in IN_PERL and not shutil.which("perl"):
        pytest.skip("no Perl to run gdeval")
    if check in ON_REAL_DATA:
        check(request.getfixturevalue(ON_REAL_DATA[check]))
    else:
        check()


def test_every_difference_has_a_check_or_says_where_it_was_read() -> None:
    keys = [(difference.tool, difference.measure) for difference in differences()]
    assert len(set(keys)) == len(keys)
    assert [key for key in keys if key in CHECKS] == list(CHECKS)
    assert all(difference.why and difference.recorded != "" for difference in differences())
    assert all(key in CHECKS or each.recorded for key, each in zip(keys, differences(), strict=True))


#: Peers that are there when the tests run.
INSTALLED = {"pytrec_eval", "ir_measures", "scikit-learn"}


def test_what_can_be_tested_is_not_only_recorded() -> None:
    recorded = {(each.tool, each.measure) for each in differences() if each.recorded and each.tool in INSTALLED}
    # ir_measures' RBP comes from a package of its own, which is no dependency of the tests.
    assert recorded == {("ir_measures", "RBP(rel=1)")}


@pytest.mark.parametrize("name", sorted({name for each in differences() for name in each.ours}))
def test_differences_are_to_measures_that_there_are(name: str) -> None:
    assert name in MEASURES
    told = [each for each in differences() if name in each.told]
    assert not any(each in told for each in differences_of(name))
    said = " ".join(Help.of(MEASURES[name]).paragraphs("Differs from"))
    for each in told:
        assert name in each.ours
        assert each.tool.removeprefix("py") in said, f"{name} does not tell of {each.tool}"
