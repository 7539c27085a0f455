"""`gainful trec_eval` prints what trec_eval prints, byte for byte."""

from __future__ import annotations

import gzip
import io
import math
import random
from pathlib import Path
from typing import Any

import pytest
import pytrec_eval

from gainful.compat.trec_eval import main

Grades = dict[str, dict[str, int]]
Lists = dict[str, dict[str, float]]

#: trec_eval's own tests: the expected output, and the arguments that make it. (Its long tests are these once more, but
#: for one that expects the output of other files.)
EXPECTED = (
    ("out.test", "qrels.test results.test"),
    ("out.test", "qrels.test.with-comments results.test"),
    ("out.test", "-m official qrels.test results.test"),
    ("out.test", "-o qrels.test results.test"),
    ("out.comment.test", "qrels.comment.test results.comment.test"),
    ("out.test.a", "-m all_trec qrels.test results.test"),
    ("out.test.aq", "-m all_trec -q qrels.test results.test"),
    ("out.test.aqc", "-m all_trec -q -c qrels.test results.trunc"),
    ("out.test.aqcM", "-m all_trec -q -c -M100 qrels.test results.trunc"),
    ("out.test.aql", "-m all_trec -mrelstring.20 -q -l2 qrels.rel_level results.test"),
    (
        "out.test.meas_params",
        "-q -miprec_at_recall..10,.20,.25,.75,.50 -m P.5,7,3 -m recall.20,2000 -m Rprec_mult.5.0,0.2,0.35 "
        "-mutility.2,-1,0,0 -m 11pt_avg..25,.5,.75 -mndcg.1=3,2=9,4=4.5 -mndcg_cut.10,20,23.4 -msuccess.2,5,20 "
        "qrels.test results.test",
    ),
    ("out.test.aqZ", "-q -m all_trec -Z zscores_file qrels.test results.test"),
    ("out.test.prefs", "-m all_prefs -q -R prefs prefs.test prefs.results.test"),
    ("out.test.prefs", "-m all_prefs -q -R prefs prefs.comment.test prefs.results.test"),
    ("out.test.qrels_prefs", "-m all_prefs -q -R qrels_prefs qrels.test results.test"),
    ("out.test.qrels_jg", "-m qrels_jg -q -R qrels_jg qrels.123 results.test"),
    ("out.test.qrels_jg", "-m qrels_jg -q -R qrels_jg qrels.comments.123 results.test"),
)


def trec_eval(*arguments: str) -> tuple[int, str, str]:
    out, errors = io.StringIO(), io.StringIO()
    return main(arguments, out, errors), out.getvalue(), errors.getvalue()


@pytest.mark.parametrize(("output", "arguments"), EXPECTED)
def test_own_tests_of_trec_eval(
    output: str, arguments: str, shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shared_data / "trec_eval-tests")
    assert trec_eval(*arguments.split()) == (0, Path(output).read_text(), "")


def test_summary_is_the_end_of_all(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shared_data / "trec_eval-tests")
    files = ("qrels.test", "results.test")
    lines = Path("out.test.aq").read_text().splitlines(keepends=True)
    by_topic = [line for line in lines if line.split("\t")[1] != "all"]
    assert trec_eval("-m", "all_trec", "-q", "-n", *files) == (0, "".join(by_topic), "")


@pytest.mark.parametrize("run", ["bm25", "bm25+rm3", "bm25+t5(zs)", "bm25+bert(zs)", "bm25+rm3+t5(zs)"])
def test_published_reports_of_version_9(run: str, shared_data: Path) -> None:
    folder = shared_data / "dl-hard"
    arguments = ("--compat", "9.0.8", "-qc", "-l2", "-m", "all_trec", str(folder / "dl_hard-passage.qrels"))
    code, out, errors = trec_eval(*arguments, str(folder / "passage" / f"{run}.run.gz"))
    published = gzip.decompress((folder / "passage" / f"{run}.run.eval.gz").read_bytes()).decode()
    if run == "bm25+bert(zs)":
        # The one report whose run had another tag than the published run.
        published = published.replace("\tall\tT5-P\n", "\tall\tBERT-P\n")
    assert (code, out, errors) == (0, published, "")


# -- Generated collections, beside the code of 9.0.8 -------------------------------------------------------------------


def generated(rng: random.Random) -> tuple[Grades, Lists]:
    """Ties, some only in 32 bits, negative grades, unjudged documents, topics that only one side has."""
    documents = [f"d{n}" for n in range(rng.choice([5, 20, 200]))]
    grades = [0, 0, -1, *range(1, rng.choice([1, 1, 2, 4]) + 1)]
    qrels: Grades = {}
    run: Lists = {}
    for number in range(rng.choice([1, 3, 16, 48])):
        judged = rng.sample(documents, rng.randint(1, len(documents)))
        qrels[f"q{number}"] = {document: rng.choice(grades) for document in judged}
        # Without a grade of at least 0 trec_eval may crash.
        qrels[f"q{number}"][judged[0]] = max(0, qrels[f"q{number}"][judged[0]])
        if number == 0 or rng.random() < 0.9:
            found = rng.sample(documents, rng.randint(1, len(documents)))
            run[f"q{number}"] = {d: rng.choice([rng.randint(1, 9), 1 + 1e-9 * rng.randint(0, 3)]) for d in found}
    run["extra"] = {"d1": 1.0}
    return qrels, run


def write(folder: Path, qrels: Grades, run: Lists) -> tuple[str, str]:
    judgments = [f"{query} 0 {document} {grade}\n" for query in qrels for document, grade in qrels[query].items()]
    rows = [f"{query} Q0 {document} 0 {score!r} tag\n" for query in run for document, score in run[query].items()]
    (folder / "qrels").write_text("".join(judgments))
    (folder / "run").write_text("".join(rows))
    return str(folder / "qrels"), str(folder / "run")


def printed(name: str, value: float) -> str:
    return str(int(value)) if name.startswith("num_") else f"{value:6.4f}"


def report(scores: dict[str, dict[str, float]], total: int) -> dict[tuple[str, str], str]:
    """What trec_eval 9.0.8 prints of values by topic, over ``total`` topics."""
    lines = {(name, topic): printed(name, value) for topic in scores for name, value in scores[topic].items()}
    names = next(iter(scores.values()))
    for name in names:
        added = 0.0
        for topic in sorted(scores):
            added += scores[topic][name]
        if name.startswith("gm_"):
            added += (total - len(scores)) * math.log(1e-5)
            lines[name, "all"] = printed(name, math.exp(added / total))
        else:
            lines[name, "all"] = printed(name, added if name.startswith("num_") else added / total)
    return lines


#: Texts, and what pytrec_eval does not count as we print it.
UNCOMPARED = {"runid", "relstring", "num_q"}
NO_TOPIC_LINES = {"gm_map", "gm_bpref"}


@pytest.mark.parametrize("options", ["", "-l 2", "-J", "-l2 -J", "-c", "-c -l 2", "-M 3"])
def test_numbers_of_version_9(options: str, tmp_path: Path) -> None:
    rng = random.Random(options)
    for _ in range(12):
        qrels, run = generated(rng)
        expected = _theirs(qrels, run, options)
        code, out, errors = trec_eval(
            "--compat", "9.0.8", "-q", "-m", "all_trec", *options.split(), *write(tmp_path, qrels, run)
        )
        assert (code, errors) == (0, "")
        found = {(name.strip(), topic): value for name, topic, value in (line.split("\t") for line in out.splitlines())}
        assert found["num_q", "all"] == str(len(qrels) if "-c" in options else len(qrels.keys() & run.keys()))
        assert found["runid", "all"] == "tag"
        compared = {key: value for key, value in found.items() if key[0] not in UNCOMPARED}
        assert compared == {
            (name, topic): value
            for (name, topic), value in expected.items()
            if name not in UNCOMPARED and (topic == "all" or name not in NO_TOPIC_LINES)
        }


def _theirs(qrels: Grades, run: Lists, options: str) -> dict[tuple[str, str], str]:
    settings: dict[str, Any] = {"relevance_level": 2 if "l" in options else 1, "judged_docs_only_flag": "J" in options}
    if "-M" in options:
        run = {query: _first_three(scores) for query, scores in run.items()}
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, pytrec_eval.supported_measures, **settings)
    scores = evaluator.evaluate(run)
    for values in scores.values():
        # 0 divided by 0 where a list has nothing judged: see differences.toml.
        values.update({name: 0.0 for name, value in values.items() if math.isnan(value)})
    lines = report(scores, len(qrels) if "-c" in options else len(scores))
    if "-c" in options:
        # Counted anew over all topics, whatever the level.
        lines["num_rel", "all"] = str(sum(grade > 0 for query in qrels for grade in qrels[query].values()))
    return lines


def _first_three(scores: dict[str, float]) -> dict[str, float]:
    import numpy as np

    ranked = sorted(scores, key=lambda document: (np.float32(scores[document]), document), reverse=True)
    return {document: scores[document] for document in ranked[:3]}
