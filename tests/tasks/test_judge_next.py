"""What to judge next: movements against naive rescoring, priors, merged answers and narrower bounds."""

from __future__ import annotations

import random
import shlex
import shutil
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gainful import InputError, UsageError, evaluate, judge_next, merge_judgments
from gainful.cli.main import run

GRADES = (-1, 0, 1, 2, 3)


@pytest.fixture
def folder(demo_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the demo, as the current folder."""
    monkeypatch.chdir(shutil.copytree(demo_files, tmp_path / "demo"))
    return tmp_path


def collection(seed: int, systems: int) -> tuple[dict[str, Any], dict[str, Any]]:
    rng = random.Random(seed)
    runs = {f"s{i}": {q: rng.sample([f"d{j}" for j in range(8)], 5) for q in ("q1", "q2")} for i in range(systems)}
    qrels = {q: {f"d{j}": rng.choice(GRADES) for j in range(8) if rng.random() < 0.4} | {"top": 3} for q in runs["s0"]}
    return qrels, runs


@pytest.mark.filterwarnings("ignore::gainful.GainfulWarning")
@pytest.mark.parametrize("systems", [1, 2, 4])
@pytest.mark.parametrize("measure", ["nDCG@3", "AP", "RR@2", "ERR@3", "muAP", "Compat", "NDPM", "InfAP"])
def test_movements_are_those_of_scoring_again(core: str, systems: int, measure: str) -> None:
    qrels, runs = collection(3, systems)
    scored = evaluate(qrels, runs, measure, negative="unjudged")
    found = judge_next(scored, number=100)
    means = np.array([each.mean(measure) for each in scored.values()])
    pairs = [*combinations(range(systems), 2)] or [(0, 0)]
    gaps = np.array([abs(means[i] - means[j]) for i, j in pairs])
    weights = np.exp(-((4 * gaps / (np.median(gaps) or 1)) ** 2))
    proposed = dict(zip(found.pairs, found.proposals, strict=True))
    assert [each.expected for each in found.proposals] == sorted((e.expected for e in found.proposals), reverse=True)
    cutoff = int(measure.partition("@")[2] or 100)
    for query, judged in qrels.items():
        share = (sum(g > 0 for g in judged.values()) + 1) / (sum(g >= 0 for g in judged.values()) + 2)
        for document in {d for each in runs.values() for d in each[query][:cutoff]} - set(judged):
            moves, square = 0.0, 0.0
            for grade, chance in ((0, 1 - share), (3, share)):
                after = evaluate(qrels | {query: judged | {document: grade}}, runs, measure, negative="unjudged")
                change = np.array([each.mean(measure) for each in after.values()]) - means
                if systems == 1:
                    moves, square = max(moves, abs(change[0])), square + chance * change[0] ** 2
                    continue
                moves = max(moves, change.max() - change.min())
                squares = np.array([(change[i] - change[j]) ** 2 for i, j in pairs])
                square += chance * (weights * squares).sum() / weights.sum()
            if moves < 1e-12:
                assert (query, document) not in proposed
                continue
            each = proposed[query, document]
            assert (each.moves, each.expected) == pytest.approx((moves, square**0.5), abs=1e-12)
            assert each.ranks == {s: r[query].index(document) + 1 for s, r in runs.items() if document in r[query]}


@pytest.mark.filterwarnings("ignore::gainful.GainfulWarning")
def test_prior_decides_what_is_expected() -> None:
    qrels, runs = {"q": {"d": 2}}, {"a": {"q": ["x", "y"]}, "b": {"q": ["y", "x"]}}
    sure = {"query": "q", "document": "x", "p0": 0.0, "p1": 0.0, "p2": 1.0}
    unsure = {"query": "q", "document": "y", "p0": 0.9, "p1": 0.1, "p2": 0.0}
    found = judge_next(evaluate(qrels, runs, "P(rel=2)@1"), prior=[sure, unsure])
    assert [(each.document, each.moves, each.expected) for each in found.proposals] == [("x", 1, 1), ("y", 1, 0)]
    with pytest.raises(InputError, match="probabilities that sum to 1"):
        judge_next(evaluate(qrels, runs, "P@1"), prior=[sure | {"p1": 0.5}])
    with pytest.raises(InputError, match="expected columns query, document, p0, p1"):
        judge_next(evaluate(qrels, runs, "P@1"), prior=[{"query": "q", "document": "x", "relevance": 1}])


def test_systems_are_those_between(folder: Path) -> None:
    scored = evaluate("qrels.txt", {name: f"{name}.run" for name in ("bm25", "hybrid", "reranker")}, "P@10")
    found = judge_next(scored, between=("bm25", "hybrid"), number=5)
    assert all(set(each.ranks) <= {"bm25", "hybrid"} for each in found.proposals)
    with pytest.raises(UsageError, match="unknown system 'bm52'"):
        judge_next(scored, between=("bm25", "bm52"))


def test_answers_are_merged_and_bounds_shrink(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(shlex.split("judge-next qrels.txt bm25.run hybrid.run -n 30 -o next.csv")) == 0
    lines = Path("next.csv").read_text().splitlines()
    assert lines[1] == "query,document,bm25,hybrid,moves,expected,grade" and len(lines) == 32
    Path("answers.csv").write_text("\n".join([lines[1], *(f"{line}1" for line in lines[2:])]))
    assert run(shlex.split("judgments qrels.txt --merge answers.csv -o merged.txt")) == 0
    before, after = (
        evaluate(each, "bm25.run", "P@10", bounds=True).beside("bounds", "P@10") for each in ("qrels.txt", "merged.txt")
    )
    assert before["lowest"] <= after["lowest"] and after["highest"] <= before["highest"]  # type: ignore[operator]
    assert before != after
    proposals = judge_next(evaluate("merged.txt", {"bm25": "bm25.run", "hybrid": "hybrid.run"}, "nDCG@10"), number=99)
    assert not {tuple(line.split(",")[:2]) for line in lines[2:]} & set(proposals.pairs)
    assert run(shlex.split("judgments merged.txt --merge next.csv")) == 3
    assert "delete the rows of unjudged documents" in capsys.readouterr().err


def test_merged_judgments_lose_nothing() -> None:
    judged = b"q1 0 d1 2\nq1 0 d1 3\nq2 Q0 d1 0\n"
    assert merge_judgments(judged, {"q1": {"d1": 3, "d2": 1}, "q3": {"d": 0.5}}) == judged.decode() + (
        "q1 0 d2 1\nq3 0 d 0.5\n"
    )
    assert merge_judgments(b"q 1 d 1\nq 2 d 0\n", b"q 3 d 1\nq 2 e 1\n") == "q 1 d 1\nq 2 d 0\nq 3 d 1\nq 2 e 1\n"
    with pytest.raises(InputError, match="query q2, document d1: grade 1 in <dict>, 0 in <bytes>"):
        merge_judgments(judged, {"q2": {"d1": 1}})
    with pytest.raises(InputError, match="TREC text cannot hold"):
        merge_judgments(judged, {"q2": {"d 1": 1}})


def test_nothing_to_judge_and_scores_without_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("full.txt").write_text("q 0 a 1\nq 0 b 0\n")
    Path("one.run").write_text("q Q0 a 1 2 x\nq Q0 b 2 1 x\n")
    assert run(shlex.split("judge-next full.txt one.run")) == 0
    assert capsys.readouterr().out.startswith("No unjudged document in the top 10 can change nDCG@10.")
    assert run(shlex.split("eval qrels.txt bm25.run hybrid.run --by-query -o scores.jsonl")) == 0
    assert run(shlex.split("judge-next --from scores.jsonl -m nDCG@10")) == 2
    assert "judgments and runs" in capsys.readouterr().err


def test_measures_of_sub_topics_are_refused() -> None:
    runs = {"a": {"q": ["x", "new"]}, "b": {"q": ["new", "x"]}}
    scored = evaluate(b"q 1 x 1\nq 2 y 1\n", runs, "StRecall@1", subtopics=True)
    with pytest.raises(UsageError, match="measures of sub-topics"):
        judge_next(scored)


def test_what_cannot_be_tried_is_refused() -> None:
    qrels, runs = {"q": {"a": 2}}, {"s": {"q": {"x": 1.0, "a": 1.0}}, "t": {"q": {"a": 2.0, "x": 1.0}}}
    with pytest.raises(UsageError, match="cannot be computed with ties=expected"):
        judge_next(evaluate(qrels, runs, "P@1", ties="expected"))
    with pytest.raises(UsageError, match="expected two systems, found 's' twice"):
        judge_next(evaluate(qrels, runs, "P@1"), between=("s", "s"))
    with pytest.raises(UsageError, match="cannot use measures of ties, and s has ties"):
        judge_next(evaluate(qrels, runs, "NDPM"))
    with pytest.raises(UsageError, match="measures of tables of documents or of scores"):
        judge_next(evaluate(qrels, runs, "RelativeRelevance"))
    assert judge_next(evaluate(qrels, runs["s"], "P@1")).pairs == [("q", "x")]  # a single system


def test_priors_are_grades_of_the_judgments() -> None:
    qrels, runs = {"q": {"d": 3, "e": 1}}, {"a": {"q": ["x", "d", "new"]}, "b": {"q": ["d", "x", "new"]}}
    scored = evaluate(qrels, runs, "DCG@2", grade_zero=1)
    row = {"query": "q", "document": "x", "p0": 0.0, "p3": 1.0}
    [one] = judge_next(scored, prior=[row]).proposals
    after = evaluate({"q": qrels["q"] | {"x": 3}}, runs, "DCG@2", grade_zero=1)
    change = [after[name].mean("DCG@2") - scored[name].mean("DCG@2") for name in runs]
    assert (one.moves, one.expected) == pytest.approx((abs(change[0] - change[1]),) * 2)
    with pytest.raises(InputError, match="grade 9 is above the scale 3"):
        judge_next(scored, prior=[row | {"p9": 0.0}])
    with pytest.raises(InputError, match="duplicate document 'x'"):
        judge_next(scored, prior=[row, row])
