"""muAP and NDCNG against naive computations."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from gainful import Policy, Qrels, evaluate, parse
from gainful.measures.catalog import FAMILIES

Spec = dict[str, Any]


def average_precision(ranked: list[float | None], judged: list[float], threshold: float) -> Fraction:
    """0 where no judged document reaches the threshold."""
    base = sum(grade >= threshold for grade in judged)
    found, total = 0, Fraction(0)
    for rank, grade in enumerate(ranked, start=1):
        if grade is not None and grade >= threshold:
            found += 1
            total += Fraction(found, rank)
    return total / base if base else Fraction(0)


def mu_ap(ranked: list[float | None], judged: list[float], levels: list[float]) -> float | None:
    """By the levels that are given, each with its own AP."""
    if not any(grade > 0 for grade in judged):
        return None
    weighted, distances, lower = Fraction(0), Fraction(0), Fraction(0)
    for level in sorted({level for level in levels if level > 0}):
        distance = Fraction(str(level)) - lower
        weighted += distance * average_precision(ranked, judged, level)
        distances, lower = distances + distance, Fraction(str(level))
    return float(weighted / distances)


def ndcng(ranked: list[float | None], judged: list[float], spec: Spec) -> float | None:
    m = max(judged, default=0)
    if m <= 0:
        return None

    def gains(grades: list[float | None]) -> list[float]:
        return [2 ** (grade / m) - 1 if grade is not None and grade > 0 else 0.0 for grade in grades]

    run, ideal = gains(ranked), sorted(gains(list(judged)), reverse=True)
    k = spec.get("k") or max(len(run), len(ideal))

    def dcg(values: list[float], depth: int) -> float:
        return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(values[:depth], start=1))

    if spec.get("average") == "ranks":
        return sum(dcg(run, depth) / dcg(ideal, depth) for depth in range(1, k + 1)) / k
    return dcg(run, k) / dcg(ideal, k)


SPECS: list[Spec] = [
    *({"name": "muAP", **levels, **view} for levels in ({}, {"levels": "all"}) for view in ({}, {"unjudged": "zero"})),
    {"name": "muAP", "unjudged": "condensed"},
    *({"name": "NDCNG", **end} for end in ({}, {"k": 1}, {"k": 3}, {"k": 30})),
    *({"name": "NDCNG", "average": "ranks", "k": k} for k in (1, 4, 40)),
    {"name": "NDCNG", "unjudged": "condensed", "k": 5},
]


def text_of(spec: Spec) -> str:
    inside = ", ".join(f"{key}={value}" for key, value in spec.items() if key not in ("name", "k"))
    return spec["name"] + (f"({inside})" if inside else "") + (f"@{spec['k']}" if "k" in spec else "")


def expected_of(lists: Any, query: str, spec: Spec, all_levels: list[float]) -> float | None:
    view = spec.get("unjudged")
    documents = lists.ranked(query, None if view is None else view == "condensed")
    if documents is None:
        return None
    grades = lists.grades(query)
    ranked, judged = [grades.get(document) for document in documents], list(grades.values())
    if spec["name"] == "NDCNG":
        return ndcng(ranked, judged, spec)
    return mu_ap(ranked, judged, all_levels if spec.get("levels") == "all" else judged)


def compare(lists: Any, specs: list[Spec], queries: list[str] | None = None) -> None:
    policy = Policy(**lists.policy, missing="skip", undefined="skip")
    result = evaluate(lists.qrels, lists.run, [text_of(spec) for spec in specs], policy=policy)
    levels = [grade for query in lists.qrels for grade in lists.grades(query).values()]
    for spec in specs:
        values = result.by_query(text_of(spec))
        for query in queries or lists.qrels:
            expected, found = expected_of(lists, query, spec, levels), values[query]
            where = f"{text_of(spec)}, {query}: expected {expected}, found {found}"
            assert (found is None) == (expected is None), where
            assert expected is None or math.isclose(found, expected, rel_tol=1e-12, abs_tol=1e-12), where


def test_the_family_is_covered() -> None:
    assert {spec["name"] for spec in SPECS} == set(FAMILIES["Many grades"])


@pytest.mark.parametrize("seed", range(24))
def test_random_lists(seed: int, random_lists: Callable[[int], Any]) -> None:
    compare(random_lists(seed), SPECS)


@pytest.mark.parametrize("name", ["web", "covid", "robust"])
def test_real_lists(name: str, real_lists: Callable[[str], Any]) -> None:
    lists = real_lists(name)
    compare(lists, SPECS[::3], sorted(lists.qrels)[::5])


class TestLevels:
    QRELS = {"a": {"x": 1, "y": 2}, "b": {"x": 4, "z": -1}, "c": {"x": 0}}
    RUN = {query: ["y", "x"] for query in QRELS}

    def test_levels_of_the_whole_file_lower_what_a_query_can_reach(self) -> None:
        """Query a has AP 1 from grade 1 and 2 on and nothing of grade 4: (1 * 1 + 1 * 1 + 2 * 0) / 4."""
        result = evaluate(self.QRELS, self.RUN, ["muAP", "muAP(levels=all)"])
        assert result.by_query("muAP")["a"] == 1
        assert result.by_query("muAP(levels=all)") == {"a": 0.5, "b": 0.5, "c": 0}

    def test_nothing_relevant_is_undefined_with_either(self) -> None:
        result = evaluate(self.QRELS, self.RUN, ["muAP", "muAP(levels=all)"])
        assert result.undefined("muAP") == result.undefined("muAP(levels=all)") == ["c"]

    def test_the_whole_file_stays_the_whole_when_queries_are_selected(self) -> None:
        part = Qrels.from_dict(self.QRELS).select(["a"])
        assert evaluate(part, self.RUN, "muAP(levels=all)").mean("muAP(levels=all)") == 0.5

    def test_levels_count_from_grade_zero(self) -> None:
        """grade-zero=1 makes levels 1 and 3 of the file's 2 and 4: query a has AP 1 at level 1 of 3."""
        result = evaluate(self.QRELS, self.RUN, "muAP(levels=all)", policy=Policy(grade_zero=1))
        assert result.by_query("muAP(levels=all)")["a"] == pytest.approx(1 / 3, abs=1e-12)

    def test_a_given_scale_is_no_level(self) -> None:
        assert parse("muAP(levels=all)").score([2, 1], scale=10) == 1


def test_as_many_levels_as_documents() -> None:
    grades = [round(math.sin(i) ** 2, 3) + 0.001 * i for i in range(60)]
    assert len(set(grades)) == 60
    expected = mu_ap(list(grades), grades, grades)
    assert parse("muAP").score(grades) == pytest.approx(expected, abs=1e-12)
