"""Frequency of sessions whose last query is the best, against plain loops."""

from __future__ import annotations

import math
import random

import pytest

from gainful import parse
from gainful.data.judged import Judged
from gainful.data.sessions import sessions_from_lists
from gainful_papers.jarvelin2008.last_queries import NO_SESSIONS, LastAgainstBest, last_against_best

Lists = dict[str, list[list[str]]]


def found(qrels: dict[str, dict[str, int]], lists: Lists, measure: str = "sDCG@2", **rest: str) -> LastAgainstBest:
    sessions = sessions_from_lists(lists, dict.fromkeys(lists, "t"))
    return last_against_best(Judged.of(qrels), {"mine": [sessions]}, parse(measure), **rest)["mine"]


def test_discounted_by_position_and_as_lists() -> None:
    qrels = {"t": {"a": 3, "b": 2, "c": 1}}
    lists = {
        "s1": [["b"], ["a"]],  # 2 against 3 / 1.5: as good
        "s2": [["c"], ["a"]],  # 1 against 2: better
        "s3": [["b"], ["b"]],  # 2 against 2 / 1.5, but the same list
        "s4": [["a"], ["c"]],
        "s5": [["x"], []],  # nothing at all
        "s6": [["a"]],  # no other query
    }
    assert found(qrels, lists) == LastAgainstBest(4, 2, 3, 1)


def test_only_judged_queries_count_if_judged_by_query() -> None:
    qrels = {"s1_1": {"a": 1}, "s1_2": {"a": 2}, "s2_1": {"a": 1}, "s3_2": {"a": 1}, "s4_1": {"a": 1}, "s4_2": {"a": 1}}
    lists = {
        "s1": [["a"], ["a"]],
        "s2": [["a"], ["a"]],  # whether its last query is the best, nobody knows
        "s3": [["a"], ["a"]],  # has one judged query only
        "s4": [["x"], ["a"]],
    }
    assert found(qrels, lists, judged_by="query") == LastAgainstBest(2, 2, 2, 0)


@pytest.mark.parametrize("seed", range(3))
def test_many_sessions_against_loops(seed: int) -> None:
    rng = random.Random(seed)
    grades = {f"d{i}": i % 4 for i in range(12)}
    lists = {
        f"s{i}": [rng.sample([*grades, "x", "y"], rng.randint(0, 4)) for _ in range(rng.randint(1, 5))]
        for i in range(200)
    }
    sessions = best = best_list = nothing = 0
    for session in lists.values():
        values = [
            math.fsum(grades.get(document, 0) / (1 + math.log2(r)) for r, document in enumerate(page[:3], 1))
            for page in session
        ]
        discounted = [value / (1 + math.log(q, 4)) for q, value in enumerate(values, 1)]
        if len(session) > 1 and not any(values):
            nothing += 1
        elif len(session) > 1:
            sessions += 1
            best += discounted[-1] >= max(discounted) - 1e-9
            best_list += values[-1] >= max(values) - 1e-9
    assert found({"t": grades}, lists, "sDCG@3") == LastAgainstBest(sessions, best, best_list, nothing)
    assert best < best_list < sessions and nothing


def test_without_sessions_of_several_queries() -> None:
    assert found({"t": {"a": 1}}, {"s1": [["a"]], "s2": [[]]}) == NO_SESSIONS
