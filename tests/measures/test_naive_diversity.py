"""Measures of diversity with graded judgments, any alpha and any cutoff, against naive computations."""

from __future__ import annotations

import math
import random

import pytest

from gainful import InputError, Policy, Qrels, UsageError, evaluate, parse
from gainful.measures.catalog import FAMILIES

#: Document -> sub-topic -> grade.
Judged = dict[str, dict[str, int]]


def gain_of(grade: int, linear: bool) -> float:
    return float(max(grade, 0)) if linear else float(grade > 0)


def novel_gains(judged: Judged, ranked: list[str], alpha: float, linear: bool) -> list[float]:
    seen: dict[str, int] = {}
    found = []
    for document in ranked:
        total = 0.0
        for subtopic, grade in judged.get(document, {}).items():
            total += gain_of(grade, linear) * (1 - alpha) ** seen.get(subtopic, 0)
        for subtopic, grade in judged.get(document, {}).items():
            seen[subtopic] = seen.get(subtopic, 0) + (grade > 0)
        found.append(total)
    return found


def greedy(judged: Judged, alpha: float, linear: bool) -> list[str]:
    ranked: list[str] = []
    left = sorted(judged, reverse=True)
    while left:
        best = max(left, key=lambda document: (round(novel_gains(judged, [*ranked, document], alpha, linear)[-1], 9),))
        ranked.append(best)
        left.remove(best)
    return ranked


def cascade(name: str, judged: Judged, ranked: list[str], k: int, alpha: float, linear: bool) -> float:
    def weight(rank: int) -> float:
        return {"D": 1 / math.log2(rank + 1), "E": 1 / rank, "N": 0.5 ** (rank - 1)}[kind]

    kind = "D" if "DCG" in name else "E" if "ERR" in name else "N"

    def total(gains: list[float]) -> float:
        return sum(gain * weight(rank) for rank, gain in enumerate(gains[:k], start=1))

    found = total(novel_gains(judged, ranked, alpha, linear))
    if name in ("alpha-nDCG", "nERR-IA", "nNRBP"):
        return found / total(novel_gains(judged, greedy(judged, alpha, linear), alpha, linear))
    highest = max(gain_of(grade, linear) for grades in judged.values() for grade in grades.values())
    everything = [
        highest * len(subtopics_of(judged)) * (1 - alpha) ** place for place in range(k if kind != "N" else 200)
    ]
    return found / sum(gain * weight(rank) for rank, gain in enumerate(everything, start=1))


def subtopics_of(judged: Judged) -> set[str]:
    return {subtopic for grades in judged.values() for subtopic, grade in grades.items() if grade > 0}


def global_gain(judged: Judged, document: str, linear: bool) -> float:
    gains = [gain_of(grade, linear) for grade in judged.get(document, {}).values()]
    return sum(gains) / len(subtopics_of(judged))


def d_ndcg(judged: Judged, ranked: list[str], k: int) -> float:
    ideal = sorted((global_gain(judged, document, True) for document in judged), reverse=True)
    gains = [global_gain(judged, document, True) for document in ranked]

    def dcg(values: list[float]) -> float:
        return sum(value / math.log2(rank + 1) for rank, value in enumerate(values[:k], start=1))

    return dcg(gains) / dcg(ideal)


def d_q(judged: Judged, ranked: list[str], k: int) -> float:
    ideal = sorted((global_gain(judged, document, True) for document in judged), reverse=True)
    gains, total = [global_gain(judged, document, True) for document in ranked], 0.0
    for rank, gain in enumerate(gains[:k], start=1):
        if gain > 0:
            found = sum(each > 0 for each in gains[:rank])
            total += (found + sum(gains[:rank])) / (rank + sum(ideal[:rank]))
    return total / min(k, sum(each > 0 for each in ideal))


def recall(judged: Judged, ranked: list[str], k: int) -> float:
    return len(subtopics_of({document: judged.get(document, {}) for document in ranked[:k]})) / len(
        subtopics_of(judged)
    )


def precision(judged: Judged, ranked: list[str], k: int) -> float:
    found = [
        sum(judged.get(document, {}).get(subtopic, 0) > 0 for document in ranked[:k])
        for subtopic in subtopics_of(judged)
    ]
    return sum(found) / len(found) / k


def average_precision(judged: Judged, ranked: list[str], k: int) -> float:
    values = []
    for subtopic in subtopics_of(judged):
        relevant = {document for document, grades in judged.items() if grades.get(subtopic, 0) > 0}
        hits = [rank for rank, document in enumerate(ranked[:k], start=1) if document in relevant]
        values.append(sum(place / rank for place, rank in enumerate(hits, start=1)) / len(relevant))
    return sum(values) / len(values)


def query(rng: random.Random) -> tuple[Judged, list[str]]:
    subtopics = [str(number) for number in range(rng.randint(1, 5))]
    judged = {
        f"d{number:02}": {subtopic: rng.choice([0, 0, 1, 2, 3]) for subtopic in subtopics if rng.random() < 0.7}
        for number in range(rng.randint(2, 9))
    }
    judged["d00"] = {"0": 3}
    return {document: grades for document, grades in judged.items() if grades}, rng.sample(
        [f"d{number:02}" for number in range(12)], rng.randint(1, 10)
    )


@pytest.mark.parametrize("seed", range(30))
def test_random_lists(seed: int) -> None:
    judged, ranked = query(random.Random(seed))
    text = "\n".join(f"q {s} {document} {grade}" for document, grades in judged.items() for s, grade in grades.items())
    expected: dict[str, float] = {}
    for name in ("alpha-DCG", "alpha-nDCG", "ERR-IA", "nERR-IA"):
        for k in (1, 4, 30):
            expected[f"{name}@{k}"] = cascade(name, judged, ranked, k, 0.5, linear=False)
            expected[f"{name}(gain=linear, alpha=0.25)@{k}"] = cascade(name, judged, ranked, k, 0.25, linear=True)
    for name in ("NRBP", "nNRBP"):
        expected[name] = cascade(name, judged, ranked, 1000, 0.5, linear=False)
        expected[f"{name}(gain=linear, alpha=0.75)"] = cascade(name, judged, ranked, 1000, 0.75, linear=True)
    for k in (1, 3, 20):
        covered = recall(judged, ranked, k)
        expected |= {f"StRecall@{k}": covered, f"P-IA@{k}": precision(judged, ranked, k)}
        expected |= {f"AP-IA@{k}": average_precision(judged, ranked, k)}
        expected |= {f"D-nDCG@{k}": d_ndcg(judged, ranked, k), f"D-Q@{k}": d_q(judged, ranked, k)}
        expected |= {f"D#-nDCG@{k}": (covered + d_ndcg(judged, ranked, k)) / 2}
        expected |= {f"D#-Q@{k}": (covered + d_q(judged, ranked, k)) / 2}
    found = evaluate(Qrels.read(text.encode()), {"q": ranked}, list(expected), policy=Policy(subtopics=True))
    for name, value in expected.items():
        assert found.mean(name) == pytest.approx(value, abs=1e-12), name
    assert {name.partition("@")[0].partition("(")[0] for name in expected} >= {*FAMILIES["Diversity"]}


def test_judgments_without_subtopics_are_refused() -> None:
    with pytest.raises(UsageError, match="expected judgments with sub-topics, found subtopics=no"):
        evaluate({"q": {"a": 1}}, {"q": ["a"]}, "alpha-nDCG@10")


def test_subtopics_that_are_several_judges_conflict() -> None:
    with pytest.raises(InputError, match="expected one grade"):
        evaluate(Qrels.read(b"q 1 a 1\nq 1 a 0\n"), {"q": ["a"]}, "StRecall@5", policy=Policy(subtopics=True))


def test_parameters_are_those_that_do_something() -> None:
    with pytest.raises(UsageError, match="NRBP: unknown parameter 'cutoff'"):
        parse("NRBP(cutoff=3)")
    with pytest.raises(UsageError, match="nNRBP: expected a beta below 1, found 1"):
        parse("nNRBP(beta=1)")
    for name in ("P-IA@5", "AP-IA", "StRecall"):
        assert "gain" not in parse(name).parameters()
