"""The sweep of the highest level's weight, against single evaluations and a fine scan."""

from __future__ import annotations

import math
from itertools import combinations

import pytest

from gainful import UsageError, evaluate, parse
from gainful_papers import sweep_weight
from tests.tasks.test_sensitivity import collection
from tests.together import together

MEASURE = "nDCG(discount=jarvelin2002)@10"


@pytest.fixture(scope="module")
def data():
    return collection()


def test_points_are_single_evaluations(data):
    qrels, runs = data
    sweep = sweep_weight(qrels, runs, MEASURE)
    assert (sweep.grade, sweep.weights[0], sweep.weights[-1], len(sweep.weights)) == (3, 1, 1000, 25)
    ratios = [b / a for a, b in zip(sweep.weights, sweep.weights[1:], strict=False)]
    assert ratios == pytest.approx([1000 ** (1 / 24)] * 24, rel=1e-3)
    for weight, cell in list(zip(sweep.weights, sweep.points, strict=True))[::6]:
        measure = parse(f"nDCG(gain=0-1-1-{weight}, discount=jarvelin2002)@10")
        assert [score.value for score in cell.scores] == [
            evaluate(qrels, run, measure).mean(measure) for run in runs.values()
        ]
    [plot] = sweep.page().charts
    assert plot.x.is_log
    for i, (line, run) in enumerate(zip(plot.lines, runs, strict=True)):
        assert (line.name, line.x) == (run, sweep.weights)
        assert line.y == tuple(cell.scores[i].value for cell in sweep.points)
    assert len(plot.rules) == sum(change.for_first for change in sweep.changes)


def test_sums_are_drawn_as_shares(data):
    [plot] = sweep_weight(*data, "DCG@10").page().charts
    assert max(y for line in plot.lines for y in line.y) == 1.0
    assert min(y for line in plot.lines for y in line.y) > 0


@together("seed", range(4))
def test_changes_are_where_a_fine_scan_sees_them(seed):
    qrels, runs = collection(seed)
    changes = sweep_weight(qrels, runs, MEASURE.replace("@10", "@20")).changes
    fine = [1000 ** (i / 400) for i in range(401)]
    measures = [parse(f"nDCG(gain=0-1-1-{weight:.6f}, discount=jarvelin2002)@20") for weight in fine]
    means = {}
    for name, run in runs.items():
        evaluation = evaluate(qrels, run, measures)
        means[name] = [evaluation.mean(measure) for measure in measures]
    for one, other in combinations(runs, 2):
        ahead = [x > y for x, y in zip(means[one], means[other], strict=True)]
        seen = [i for i in range(400) if ahead[i] != ahead[i + 1]]
        ours = [change for change in changes if {change.overtaking, change.overtaken} == {one, other}]
        assert len(ours) == len(seen)
        for i, change in zip(seen, ours, strict=True):
            assert change.low / 1.01 <= fine[i + 1] and fine[i] <= change.high * 1.01
            assert change.high / change.low < 1.011
            assert change.overtaken == (one if ahead[i] else other)
            winner = max(means, key=lambda name: means[name][i])
            later = max(means, key=lambda name: means[name][i + 1])
            if (winner, later) == (change.overtaken, change.overtaking):
                assert change.for_first
    assert bool(changes) == (seed > 0)


def test_a_change_that_can_be_computed_by_hand():
    """Without a discount to depth 3: `many` gains 2, `top` gains the weight; the ideal is the same for both."""
    qrels = {"q": {"a": 1, "b": 1, "c": 2}}
    runs = {"top": {"q": ["c", "x", "y"]}, "many": {"q": ["a", "b", "x"]}}
    sweep = sweep_weight(qrels, runs, "nDCG(discount=none)@3", (0.5, 50))
    [change] = sweep.changes
    assert (change.overtaking, change.overtaken, change.for_first) == ("top", "many", True)
    assert change.low < 2 <= change.high and change.high / change.low < 1.01
    assert "top overtakes many for first place at 2." in sweep.text().replace("\n", " ")


@together(
    ("measure", "grades", "last"),
    [
        ("RBP(p=0.5)@10", (0, 1, 2, 3), "RBP(p=0.5, gain=0-0.001-0.001-1)@10"),
        ("ADM@10", (0, 0.25, 0.5, 1), "ADM(urs={0:0,0.25:1,0.5:1,1:1000})@10"),
    ],
)
def test_other_measures(measure, grades, last):
    assert str(sweep_weight(*collection(grades=grades), measure).points[-1].measure) == last


@together(
    ("measure", "sweep", "grades", "message"),
    [
        *(("nDCG@5", span, (0, 1, 2), "sweep") for span in ((0, 10), (10, 1), (5, 5), ("a", 3), (1, math.inf))),
        ("nDCG@5", "much", (0, 1, 2), "sweep: expected two weights like 1-1000"),
        ("nDCG@5", (1, 10), (0, 1), "only one level above 0"),
        ("nDCG@5", (1, 10), [i / 100 for i in range(100)], "too many for weights"),
        ("nDCG(gain=exp2)@5", (1, 10), (0, 1, 2), "sets the gains of grades"),
        ("P@5", (1, 10), (0, 1, 2), "takes no gain"),
        ("NumRel", (1, 10), (0, 1, 2), "cannot order systems"),
    ],
)
def test_refused(measure, sweep, grades, message):
    with pytest.raises(UsageError, match=message):
        sweep_weight(*collection(grades=grades), measure, sweep)


def test_systems_that_are_alike(data):
    qrels, runs = data
    found = sweep_weight(qrels, {"a": runs["one"], "b": runs["one"]})
    assert found.changes == () and "no two systems change places" in found.text().replace("\n", " ")
    assert "a single system has no order" in sweep_weight(qrels, {"a": runs["one"]}).text().replace("\n", " ")
