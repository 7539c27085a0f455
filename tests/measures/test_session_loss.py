"""The loss of sessions and what chance has, against plain loops over every order of every list."""

from __future__ import annotations

import itertools
import math
import random
from operator import mul
from typing import Any

import pytest

from gainful import Policy, Sessions, evaluate_sessions
from gainful.data.sessions import sessions_from_lists

MEASURES: dict[str, dict[str, Any]] = {
    "nsDCG@2": {"k": 2},
    "nsDCG": {},
    "nsDCG(normalise=query)@2": {"k": 2, "by_query": True},
    "nsDCG(summary=last)@2": {"k": 2, "only": -1},
    "nsDCG(summary=best)@2": {"k": 2, "only": None},
    "nsDCG(ideal_queries=3)@2": {"k": 2, "queries": 3},
}


def naive(lists: list[list[int]], judged: list[int], k: int | None = None, **how: Any) -> float | None:
    """The score of a session's gains, None if the ideal session has none."""

    def dcg(gains: list[int], depth: int) -> float:
        return sum(gain / (1 + math.log2(rank)) for rank, gain in enumerate(gains[:depth], 1))

    best = sorted(judged, reverse=True)
    depths = [k or max(len(gains), len(judged)) for gains in lists]
    depths += [k or len(judged)] * (how.get("queries", 0) - len(lists))
    real = [dcg(gains, depth) for gains, depth in itertools.zip_longest(lists, depths, fillvalue=[])]  # type: ignore[arg-type]
    ideal = [dcg(best, depth) for depth in depths]
    if not sum(ideal):
        return None
    weights = [1 / (1 + math.log(position, 4)) for position in range(1, len(depths) + 1)]
    ratios = [one / other for one, other in zip(real, ideal, strict=True)]
    if "only" in how:
        return max(ratios) if how["only"] is None else ratios[-1]
    above, below = (real, ideal) if "by_query" not in how else (ratios, [1.0] * len(real))
    return math.fsum(map(mul, weights, above)) / math.fsum(map(mul, weights, below))


def orders(lists: list[list[int]], end: int) -> Any:
    every = [[[*first, *gains[end:]] for first in itertools.permutations(gains[:end])] for gains in lists]
    return itertools.product(*every)


@pytest.mark.filterwarnings("ignore::gainful.GainfulWarning")
@pytest.mark.parametrize("unjudged", ["zero", "condensed"])
def test_sessions_lose_and_gain_by_chance_as_every_order_does(unjudged: str) -> None:
    rng = random.Random(3)
    lists: dict[str, list[list[str]]] = {"scale": [["top"]]}
    qrels: dict[str, Any] = {"scale": {"top": 3}}
    for name in (f"s{i}" for i in range(30)):
        lists[name] = [[f"{q}-{i}" for i in range(rng.randrange(5))] for q in range(rng.randrange(1, 4))]
        qrels[name] = {
            each: rng.choice([-1, 0, 1, 2, 3]) for each in itertools.chain(*lists[name]) if rng.random() < 0.6
        }
        qrels[name] |= {f"missed{i}": rng.choice([0, 1, 3]) for i in range(rng.randrange(3))} or {"other": 0}
    sessions, how = (
        sessions_from_lists(lists),
        {"loss": True, "loss_ranks": [3], "chance": True, "judged_by": "session"},
    )
    found = evaluate_sessions(qrels, sessions, [*MEASURES], policy=Policy(unjudged=unjudged), **how)  # type: ignore[call-overload]
    for measure, parameters in MEASURES.items():
        chances, values = found.beside_by_query("chance", measure), found.by_query(measure)
        assert bool(chances) == ("best" not in measure)
        for name, parts in found.beside_by_query("loss", measure).items():
            seen = [[x for x in each if unjudged == "zero" or x in qrels[name]] for each in lists[name]]
            gains = [[max(qrels[name].get(x, 0), 0) for x in each] for each in seen]
            judged = [max(grade, 0) for grade in qrels[name].values()]
            score = naive(gains, judged, **parameters)
            assert math.fsum(parts.values()) == pytest.approx(1 - values[name], abs=4e-16) and min(parts.values()) >= 0
            expected, reached = {"out of reach": 1.0 if score is None else 0.0}, score or 0.0
            for part, end in {**({"order": 2, "3": 3} if "k" in parameters else {"1-3": 3}), "after 3": 9}.items():
                best = max(naive([*each], judged, **parameters) or 0.0 for each in orders(gains, end))
                expected[part], reached = best - reached, best
            expected["not retrieved"] = 0.0 if score is None else 1 - reached
            assert dict.fromkeys(expected, 0.0) | parts == pytest.approx(expected, abs=1e-12), (measure, name)
            every = [naive([*each], judged, **parameters) or 0.0 for each in orders(gains, 9)]
            if chances:
                assert chances[name]["chance"] == pytest.approx(math.fsum(every) / len(every), abs=1e-12)


@pytest.mark.filterwarnings("ignore::gainful.GainfulWarning")
def test_sessions_without_a_split() -> None:
    lists = {"s": [["a", "x"]]}
    none = ["sDCG@2", "nsDCG(repeats=first)@2", "nsDCG(variant=jiang2016)@2"]
    found = evaluate_sessions({"s": {"a": 1}, "t": {"a": 1}}, sessions_from_lists(lists), ["nsDCG@2", *none], loss=True)
    assert found.beside_by_query("loss", "nsDCG@2")["t"] == {"order": 0, "3-100": 0, "101-1000": 0, "not retrieved": 1}
    assert [found.beside("loss", measure) for measure in none] == [{}] * 3
    graded = Sessions.of([{"session": "s", "queries": [{"results": [{"doc": "a", "grade": 2}]}]}])
    above = evaluate_sessions({"s": {"b": 1}, "t": {"b": 2}}, graded, "nsDCG@1", loss=True, judged_by="session")
    assert above.beside("loss", "nsDCG@1") == {} and "or of scores above" in above.text()
