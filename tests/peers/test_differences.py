"""Every known difference to a peer is listed in differences.toml, and is still there."""

from __future__ import annotations

import gzip
import math
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ir_measures
import pytest
import pytrec_eval

from gainful import Policy, evaluate

LISTED = tomllib.loads(Path(__file__).with_name("differences.toml").read_text())["difference"]

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


def nothing_judged_retrieved() -> None:
    unjudged = {"q": {"x": 1.0}}
    assert math.isnan(in_pytrec_eval("iprec_at_recall.0.0", run=unjudged, judged_docs_only_flag=True))
    assert ours("IPrec@0", run=unjudged, unjudged="condensed") == 0.0


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


def level_of_the_summary(collection: Callable[[str], Any]) -> None:
    data = collection("dl-hard/passage")
    path = data.run_paths["bm25.run"]
    lines = gzip.decompress(path.with_name("bm25.run.eval.gz").read_bytes()).decode().splitlines()
    counts = {query: int(value) for name, query, value in map(str.split, lines) if name == "num_rel"}
    summary = counts.pop("all")
    result = evaluate(data.qrels_path, path, ["NumRel", "NumRel(rel=2)"])
    assert counts == result.by_query("NumRel(rel=2)")
    assert sum(counts.values()) == result.aggregate("NumRel(rel=2)") < summary == result.aggregate("NumRel")


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


CHECKS: dict[tuple[str, str], Callable[..., None]] = {
    ("pytrec_eval", "set_F_2"): set_f_parameter,
    ("pytrec_eval", "ndcg, relevance level 2"): level_of_ndcg,
    ("pytrec_eval", "iprec_at_recall_0.00, judged documents only"): nothing_judged_retrieved,
    ("pytrec_eval", "num_ret, negative grades only"): only_negative_grades,
    ("trec_eval", "num_rel, summary with -c and -l 2"): level_of_the_summary,
    ("ir_measures", "SetF(beta=2.0)"): set_f_parameter_of_ir_measures,
    ("ir_measures", "RR@2"): ties_of_rr_at_k,
    ("ir_measures", "Judged@1"): ties_of_judged_at_k,
    ("ir_measures", "NumRel"): counts_of_unanswered_queries,
    ("ir_measures", "AP"): near_scores,
}
#: Checks that look at published files.
ON_REAL_DATA = {level_of_the_summary}


@pytest.mark.parametrize("entry", LISTED, ids=lambda entry: f"{entry['tool']}: {entry['measure']}")
def test_difference_is_still_there(entry: dict[str, str], request: pytest.FixtureRequest) -> None:
    check = CHECKS[entry["tool"], entry["measure"]]
    if check in ON_REAL_DATA:
        check(request.getfixturevalue("collection"))
    else:
        check()


def test_every_entry_says_why_and_has_a_check() -> None:
    assert all(entry.keys() == {"tool", "measure", "why"} and entry["why"] for entry in LISTED)
    assert [(entry["tool"], entry["measure"]) for entry in LISTED] == list(CHECKS)
