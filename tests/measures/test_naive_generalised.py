"""Generalised precision and recall against a naive computation in exact fractions."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from gainful import Policy, evaluate, parse
from gainful.measures.catalog import FAMILIES

Spec = dict[str, Any]


@cache
def exact(number: float) -> Fraction:
    """The number as it is written: 0.1 is one tenth."""
    return Fraction(str(number))


def relevance(grade: float | None, spec: Spec, scale: float) -> Fraction:
    if grade is None or grade < 0:
        return Fraction(0)
    if ("rel" in spec and grade < spec["rel"]) or ("level" in spec and grade != spec["level"]):
        return Fraction(0)
    gain = spec.get("gain", "scaled")
    if isinstance(gain, dict):
        return exact(gain[grade]) / exact(max(gain.values()))
    if gain == "binary":
        return Fraction(int(grade > 0))
    if scale <= 0:
        return Fraction(0)
    if gain == "exp2":
        return (Fraction(2) ** int(grade) - 1) / (Fraction(2) ** int(scale) - 1)
    return exact(grade) / exact(scale)


def naive(ranked: list[float | None], judged: list[float], spec: Spec, scale: float) -> Fraction | None:
    worth = {grade: relevance(grade, spec, scale) for grade in {*ranked, *judged}}
    found = [worth[grade] for grade in ranked]
    base = sum((worth[grade] for grade in judged), Fraction(0))
    if spec["name"] == "gP":
        return sum(found[: spec["k"]], Fraction(0)) / spec["k"]
    if not base:
        return None
    if spec["name"] == "gR":
        return sum(found[: spec["k"]], Fraction(0)) / base
    curve, total = [], Fraction(0)
    for rank, r in enumerate(found, start=1):
        total += r
        if r:  # what adds nothing lowers precision
            curve.append((total / base, total / rank))

    def interpolated(level: Fraction) -> Fraction:
        return max((precision for recall, precision in curve if recall >= level), default=Fraction(0))

    if spec["name"] == "gIPrec":
        return interpolated(exact(spec["r"]))
    return sum((interpolated(Fraction(tenth, 10)) for tenth in range(11)), Fraction(0)) / 11


WEIGHTS = {0: 0, 1: 1, 2: 10, 3: 100}
UNSORTED = {0: 0.5, 1: 5, 2: 2.5, 3: 0}
CHOSEN: list[Spec] = [{}, {"rel": 2}, {"rel": 0.5}, {"level": 1}, {"level": 0.3}, {"unjudged": "condensed"}]
ENDS: list[Spec] = [
    *({"name": name, "k": k} for name in ("gP", "gR") for k in (1, 3, 10, 50)),
    *({"name": "gIPrec", "r": r} for r in (0, 0.1, 0.3, 0.5, 0.7, 1)),
    {"name": "gIAP"},
]
GAINS: list[Spec] = [{}, {"gain": "linear"}, {"gain": "binary"}]
WHOLE_GAINS: list[Spec] = [{"gain": "exp2"}, {"gain": WEIGHTS}, {"gain": UNSORTED}]


def text_of(spec: Spec) -> str:
    def written(value: object) -> str:
        return "{" + ",".join(f"{g}:{w}" for g, w in value.items()) + "}" if isinstance(value, dict) else str(value)

    inside = ", ".join(f"{key}={written(value)}" for key, value in spec.items() if key not in ("name", "k", "r"))
    at = f"@{spec['k']}" if "k" in spec else f"@{spec['r']}" if "r" in spec else ""
    return f"{spec['name']}({inside}){at}" if inside else spec["name"] + at


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
                expected = naive([grades.get(d) for d in ranked], list(grades.values()), spec, scale)
            found = by_query[query]
            where = f"{text_of(spec)}, {query}: expected {expected}, found {found}"
            assert (found is None) == (expected is None), where
            assert expected is None or math.isclose(found, expected, rel_tol=1e-12, abs_tol=1e-12), where


def test_the_family_is_covered() -> None:
    assert {spec["name"] for spec in ENDS} == set(FAMILIES["Generalised precision and recall"])


@pytest.mark.parametrize("seed", range(28))
def test_random_lists(seed: int, random_lists: Callable[[int], Any]) -> None:
    lists = random_lists(seed)
    counted = [grade for query in lists.qrels for grade in lists.grades(query).values() if grade >= 0]
    is_whole = all(grade == int(grade) for grade in counted) and lists.scale == int(lists.scale)
    gains = [*GAINS, *(WHOLE_GAINS if is_whole else [])]
    specs = [{**end, **gain, **chosen} for end in ENDS for gain in gains for chosen in CHOSEN]
    compare(lists, specs[seed % 7 :: 7])  # every spec meets many lists, but no list meets all


@pytest.mark.parametrize("name", ["web", "covid", "robust"])
def test_real_lists(name: str, real_lists: Callable[[str], Any]) -> None:
    lists = real_lists(name)
    specs = [{**end, **gain} for end in ENDS[2::3] for gain in ({}, {"gain": "exp2"}, {"rel": 2})]
    compare(lists, specs, sorted(lists.qrels)[::12])


@pytest.mark.parametrize("tenths", [[1, 2, 7], [7, 2, 1], [3, 3, 4], [1] * 10, [2, 1] * 3 + [1]])
def test_rounding_does_not_decide_what_recall_is_reached(tenths: list[int]) -> None:
    """0.1 + 0.2 is above 0.3 and 0.7 * 10 above 7 in binary; recalls are what the grades say."""
    grades = [tenth / 10 for tenth in tenths]
    for level in range(11):
        reached = [i for i in range(1, len(tenths) + 1) if sum(tenths[:i]) * 10 >= level * sum(tenths)]
        best = max(Fraction(sum(tenths[:i]), max(tenths) * i) for i in reached)
        assert parse(f"gIPrec@{level / 10}").score(grades) == pytest.approx(float(best), abs=1e-12)


def test_a_map_is_scaled_by_its_largest_weight() -> None:
    assert parse("gP(gain=0-1-10-100)@1").score([2]) == pytest.approx(0.1)
    assert parse("gP(gain=0-4-2-0)@2").score([2, 1]) == pytest.approx(0.75)
    assert parse("gP(gain=exp2)@1").score([2], scale=3) == pytest.approx(3 / 7)
    assert parse("gP(gain=linear)@1").score([2], scale=4) == parse("gP@1").score([2], scale=4) == 0.5
    assert parse("gP(gain=0-0-0)@1").score([2]) == 0


@pytest.mark.parametrize("k", [1, 3, 10])
def test_binary_gains_are_precision_and_recall(k: int) -> None:
    grades, missed = [3, 0, None, 1, 2, -1], [1, 2, 0]
    for general, plain in (("gP(gain=binary)", "P"), ("gR(gain=binary)", "R")):
        assert parse(f"{general}@{k}").score(grades, missed) == parse(f"{plain}@{k}").score(grades, missed)


def test_binary_interpolation_asks_for_the_whole_recall() -> None:
    """A third of the recall base of three is one document; 0.4 takes two: the best precision from there is 3/5."""
    assert parse("IPrec@0.4").score([1, 0, 0, 1, 1]) == pytest.approx(3 / 5)
    assert parse("gIPrec(gain=binary)@0.4").score([1, 0, 0, 1, 1]) == pytest.approx(3 / 5)
