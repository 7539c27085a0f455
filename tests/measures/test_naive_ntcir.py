"""NTCIR's measures against naive computations in exact fractions."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from gainful import Policy, evaluate, parse
from gainful.measures.catalog import FAMILIES

Spec = dict[str, Any]
Gains = list[Fraction]


def gain_of(grade: float | None, spec: Spec, scale: float, which: str = "gain") -> Fraction:
    if grade is None or grade < 0:
        return Fraction(0)
    if ("rel" in spec and grade < spec["rel"]) or ("level" in spec and grade != spec["level"]):
        return Fraction(0)
    if spec.get(which) == "exp2":
        return Fraction(2) ** int(grade) - 1
    if spec.get(which) == "binary":
        return Fraction(int(grade > 0))
    return Fraction(str(grade))


def blended(run: Gains, ideal: Gains, rank: int, beta: float) -> Fraction:
    found = sum(gain > 0 for gain in run[:rank])
    weight = Fraction(str(beta))
    return (found + weight * sum(run[:rank])) / (rank + weight * sum(ideal[:rank]))


def graded_ap(run: Gains, everything: Gains) -> Fraction | None:
    if not sum(everything):
        return None
    terms = (sum(min(gain, other) for other in run[:rank]) / rank for rank, gain in enumerate(run, start=1))
    return sum(terms, Fraction(0)) / sum(everything)


def satisfied(run: Gains, highest: Fraction) -> Gains:
    """The probability to stop at every rank."""
    goes_on, found = Fraction(1), []
    for gain in run:
        found.append(goes_on * gain / (1 + highest))
        goes_on *= 1 - gain / (1 + highest)
    return found


def stopping(run: Gains, all_gains: Gains, spec: Spec, weights: tuple[Gains, Gains], highest: Fraction) -> Gains | None:
    """The probability to stop at every rank; None where the measure has no value."""
    name, relevant = spec["name"], [gain > 0 for gain in run]
    count = sum(gain > 0 for gain in all_gains)
    if name in ("EBR", "iRBU"):
        return satisfied(run, highest)
    if name in ("O", "P-measure", "P+"):
        if not any(relevant):
            return [Fraction(0)] * len(run)
        best = relevant.index(True) if name == "O" else run.index(max(run))
        if name != "P+":
            return [Fraction(int(place == best)) for place in range(len(run))]
        inside = sum(relevant[: best + 1])
        return [Fraction(int(is_relevant and place <= best), inside) for place, is_relevant in enumerate(relevant)]
    if not count:
        return None
    if name == "Q":
        held = min(count, spec.get("k") or count)
        return [Fraction(int(is_relevant), held) for is_relevant in relevant]
    if spec.get("stop") == "rank":
        gamma = Fraction(str(spec.get("gamma", 0.99)))
        total = sum(gamma**place for place in range(count))
        return [gamma ** sum(relevant[:place]) / total * is_relevant for place, is_relevant in enumerate(relevant)]
    of_run, of_all = weights
    total = sum(weight for weight, gain in zip(of_all, all_gains, strict=True) if gain > 0)
    if not total:
        return [Fraction(0)] * len(run)
    return [weight / total * is_relevant for weight, is_relevant in zip(of_run, relevant, strict=True)]


def naive(ranked: list[float | None], judged: list[float], spec: Spec, scale: float) -> Fraction | None:
    grades = {*ranked, *judged}
    worth, weight = ({grade: gain_of(grade, spec, scale, of) for grade in grades} for of in ("gain", "stops"))
    run = [worth[grade] for grade in ranked[: spec.get("k")]]
    everything = [worth[grade] for grade in judged]
    if spec["name"] == "GAP":
        return graded_ap(run, everything)
    highest = gain_of(scale, {key: value for key, value in spec.items() if key == "gain"}, scale)
    weights = [weight[grade] for grade in ranked[: spec.get("k")]], [weight[grade] for grade in judged]
    stops = stopping(run, everything, spec, weights, highest)
    if stops is None:
        return None
    ideal, total = sorted(everything, reverse=True), Fraction(0)
    for rank, stop in enumerate(stops, start=1):
        if stop:
            ratio = blended(run, ideal, rank, spec.get("beta", 1))
            total += stop * (Fraction(str(spec.get("p", 0.99))) ** rank if spec["name"] == "iRBU" else ratio)
    return total


ENDS: list[Spec] = [
    *(
        {"name": name, **own}
        for name in ("Q", "O", "P-measure", "P+", "EBR")
        for own in ({}, {"beta": 0}, {"beta": 2.5})
    ),
    *({"name": "NCU", **own} for own in ({}, {"beta": 0}, {"stops": "exp2"}, {"stop": "rank"})),
    {"name": "NCU", "stop": "rank", "gamma": 0.5, "beta": 0},
    *({"name": "iRBU", **own} for own in ({}, {"p": 0.5})),
    {"name": "GAP"},
]
CHOSEN: list[Spec] = [{}, {"rel": 2}, {"level": 1}, {"unjudged": "condensed"}, {"k": 1}, {"k": 3}, {"k": 40}]
GAINS: list[Spec] = [{}, {"gain": "binary"}]


def text_of(spec: Spec) -> str:
    inside = ", ".join(f"{key}={value}" for key, value in spec.items() if key not in ("name", "k"))
    return spec["name"] + (f"({inside})" if inside else "") + (f"@{spec['k']}" if "k" in spec else "")


parsed = cache(parse)


def compare(lists: Any, specs: list[Spec], queries: list[str] | None = None) -> None:
    policy = Policy(**lists.policy, missing="skip", undefined="skip")
    measures = [parsed(text_of(spec)) for spec in specs]
    result = evaluate(lists.qrels, lists.run, measures, policy=policy)
    values, scale = [result.by_query(measure) for measure in measures], lists.scale
    for query in queries or lists.qrels:
        grades, as_asked, condensed = lists.grades(query), lists.ranked(query), lists.ranked(query, True)
        for spec, by_query in zip(specs, values, strict=True):
            ranked = condensed if spec.get("unjudged") == "condensed" else as_asked
            expected = None
            if ranked is not None:
                expected = naive([grades.get(each) for each in ranked], list(grades.values()), spec, scale)
            found = by_query[query]
            where = f"{text_of(spec)}, {query}: expected {expected}, found {found}"
            assert (found is None) == (expected is None), where
            assert expected is None or math.isclose(found, expected, rel_tol=1e-12, abs_tol=1e-12), where


def test_the_family_is_covered() -> None:
    assert {spec["name"] for spec in ENDS} == set(FAMILIES["NTCIR"])


@pytest.mark.parametrize("seed", range(28))
def test_random_lists(seed: int, random_lists: Callable[[int], Any]) -> None:
    lists = random_lists(seed)
    counted = [grade for query in lists.qrels for grade in lists.grades(query).values() if grade >= 0]
    is_whole = all(grade == int(grade) for grade in counted) and lists.scale == int(lists.scale)
    gains = [*GAINS, {"gain": "exp2"}] if is_whole else GAINS
    ends = [end for end in ENDS if is_whole or "stops" not in end]
    specs = [{**end, **gain, **chosen} for end in ends for gain in gains for chosen in CHOSEN]
    compare(lists, specs[seed % 7 :: 7])  # every spec meets many lists, but no list meets all


@pytest.mark.parametrize("name", ["web", "covid", "robust"])
def test_real_lists(name: str, real_lists: Callable[[str], Any]) -> None:
    lists = real_lists(name)
    compare(lists, [{**end, "k": 20} for end in ENDS[::3]], sorted(lists.qrels)[::20])


def test_gap_of_as_many_grades_as_documents() -> None:
    """Every document has a grade of its own, and twice the queries take about twice the time."""
    rng = random.Random(3)
    qrels = {f"q{i}": {f"d{j}": rng.random() for j in range(300)} for i in range(80)}
    run = {query: rng.sample(list(judged), 250) for query, judged in qrels.items()}
    began = time.process_time()
    found = evaluate(qrels, run, "GAP").by_query("GAP")
    assert time.process_time() - began < 1  # a loop over all grades of all queries takes ten times that
    for query in ("q0", "q7", "q79"):
        gains = np.array([qrels[query][document] for document in run[query]])
        shared = np.tril(np.minimum.outer(gains, gains)).sum(axis=1) / np.arange(1, gains.size + 1)
        assert found[query] == pytest.approx(shared.sum() / sum(qrels[query].values()), rel=1e-12)
