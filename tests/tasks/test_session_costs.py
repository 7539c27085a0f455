"""Costs of sessions: recorded costs, gain by cost, and the page."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from gainful import InputError, Sessions, UsageError, evaluate_sessions
from gainful.tasks.sessions import study_sessions

QRELS = {"t": {"a": 2, "b": 1}}
COST = "GainPerCost(cost_query=10, cost_document=2)@3"


def log(*sessions: list[tuple[list[str], float | None]]) -> Sessions:
    return Sessions.of(
        [
            {
                "session": f"s{i}",
                "topic": "t",
                "queries": [{"results": shown, **({} if cost is None else {"cost": cost})} for shown, cost in queries],
            }
            for i, queries in enumerate(sessions)
        ]
    )


class TestRecorded:
    @pytest.mark.parametrize(
        "text",
        [
            '{"session": "s", "queries": [{"results": ["a"], "cost": 30.5}, {"results": [], "cost": 0}]}\n',
            "session,topic,query,rank,document,cost\ns,t,1,1,a,30.5\ns,t,2,0,-,0\n",
            "session,topic,time,text,document,cost\ns,t,1,first,a,30.5\ns,t,2,second,,0\n",
            '{"session": "s", "time": 1, "text": "first", "doc": "a", "cost": 30.5}\n'
            '{"session": "s", "time": 2, "text": "second", "doc": "b", "cost": 0}\n',
        ],
        ids=["json lines", "table", "log", "log in json lines"],
    )
    def test_formats(self, text: str) -> None:
        assert Sessions.read(text.encode()).costs.tolist() == [30.5, 0.0]

    def test_other_names_and_taking_some(self) -> None:
        table = b"session,query,rank,document,tokens\ns,1,1,a,7\nr,1,1,a,\nr,2,1,a,9\n"
        found = Sessions.read(table, columns={"cost": "tokens"})
        assert found.ids == ["r", "s"] and found.costs[1:].tolist() == [9.0, 7.0] and math.isnan(found.costs[0])
        assert found.select(["s"]).costs.tolist() == [7.0]
        assert Sessions.read(table).costs.size == 0

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ('{"session": "s", "queries": [{"results": [], "cost": -1}]}\n', "cost: expected a number of at least 0"),
            ("session,query,rank,document,cost\ns,1,1,a,-3\n", "expected a number of at least 0 as cost, found -3"),
            ("session,query,rank,document,cost\ns,1,1,a,3\ns,1,2,b,4\n", "cost"),
        ],
    )
    def test_refused(self, text: str, message: str) -> None:
        with pytest.raises(InputError, match=message):
            Sessions.read(text.encode())

    def test_measures(self) -> None:
        sessions = log([(["x", "a"], 30.0), (["b"], 5.0)], [(["a"], None)])
        measures = [f"{name}(cost_query=recorded, cost_document=1)" for name in ("SessionCost", "GainPerCost")]
        found = evaluate_sessions(QRELS, sessions, measures)
        assert found.by_query(measures[0]) == {"s0": 38.0, "s1": None}
        assert found.by_query(measures[1])["s0"] == 3 / 38
        with pytest.raises(InputError, match="no costs of queries are recorded"):
            evaluate_sessions(QRELS, log([(["a"], None)]), measures)


def naive_gained(queries: list[list[str]], by: float, k: int = 3) -> float:
    """Query by query and document by document until the money is spent."""
    spent = gained = 0.0
    for shown in queries:
        spent += 10
        for document in shown[:k]:
            spent += 2
            if spent <= by + 1e-9:
                gained += QRELS["t"].get(document, 0)
    return gained


def test_the_mean_gain_by_every_cost() -> None:
    rng = random.Random(3)
    lists = [[rng.sample("abxyz", rng.randint(0, 5)) for _ in range(rng.randint(1, 4))] for _ in range(9)]
    sessions = log(*([(shown, None) for shown in queries] for queries in lists))
    study = study_sessions(QRELS, {"mine": sessions}, ["sDCG@3", COST], curves="cost", draws=50, seed=1, confidence=0.9)
    assert study.costs is not None
    [curve] = study.costs.curves
    expected = [np.mean([naive_gained(queries, by) for queries in lists]) for by in curve.x.tolist()]
    assert curve.values.tolist() == pytest.approx(expected, abs=1e-12)
    assert curve.cost.tolist() == [10.0 * len(q) + 2 * sum(len(shown[:3]) for shown in q) for q in lists]
    assert curve.rate == pytest.approx(curve.gain.sum() / curve.cost.sum()) and curve.band is not None
    low, high = np.array(curve.band.low), np.array(curve.band.high)
    assert ((low <= curve.values) & (curve.values <= high)).all()


def test_sessions_without_a_cost_take_no_part() -> None:
    measure = "GainPerCost(cost_query=recorded)"
    study = study_sessions(QRELS, {"mine": log([(["a"], 4.0)], [(["b"], None)])}, measure)
    assert study.costs is not None and study.costs.curves[0].unknown == 1
    text = " ".join(study.text("table").split())
    assert "sessions without a recorded cost, omitted: mine 1" in text and "Mean gain by cost" not in text


def test_curves_need_a_cost() -> None:
    with pytest.raises(UsageError, match="costs of queries and documents are missing"):
        study_sessions(QRELS, {"mine": log([(["a"], None)])}, "sDCG@3", curves="cost", draws=0)
