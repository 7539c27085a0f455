"""Scores of several measures on their common queries; reports are independent of input order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gainful
from gainful import (
    InputError,
    ScoreMatrix,
    UsageError,
    assess_agreement,
    assess_documents,
    assess_power,
    assess_stability,
)
from gainful.evaluation.score_matrix import upward
from gainful.evaluation.scores import Scores

RANDOM = np.random.default_rng(7)
QUERIES = [f"q{i:02d}" for i in range(16)]
SYSTEMS = ["a", "b", "c", "d", "e"]


def matrix(measure: str, values: np.ndarray, systems: list[str] = SYSTEMS, queries: list[str] = QUERIES) -> ScoreMatrix:
    by_system = {
        system: {query: float(values[QUERIES.index(query), SYSTEMS.index(system)]) for query in queries}
        for system in systems
    }
    return ScoreMatrix.of(measure, by_system)


ONE, OTHER = RANDOM.uniform(0, 1, (2, 16, 5)).round(2)


class TestOnCommon:
    def test_by_name_and_id(self) -> None:
        first = matrix("P", ONE)
        second = matrix("RR", OTHER, SYSTEMS[::-1][:4], QUERIES[::-1][3:])
        found = Scores.of({"P": first, "RR": second}).on_common()
        both, lines = found.matrices, list(found.notices)
        assert both["P"].systems == both["RR"].systems == ("b", "c", "d", "e")
        assert both["P"].queries == both["RR"].queries == tuple(QUERIES[:13])
        assert both["RR"].values.tolist() == OTHER[:13, 1:].tolist()
        assert lines == [
            "1 system not scored by all measures, left out: a",
            "3 queries not scored by all measures, left out: q13, q14, q15",
        ]

    def test_a_measure_twice_needs_names(self) -> None:
        with pytest.raises(UsageError, match="duplicate measure 'P'"):
            Scores.of([matrix("P", ONE), matrix("P", OTHER)])
        assert list(Scores.of({"old": matrix("P", ONE), "new": matrix("P", OTHER)}).matrices) == ["old", "new"]

    def test_none(self) -> None:
        with pytest.raises(UsageError, match="no matrices"):
            Scores.of([])

    def test_nothing_in_common(self) -> None:
        with pytest.raises(InputError, match="no systems in common"):
            Scores.of([matrix("P", ONE, ["a", "b"]), matrix("RR", OTHER, ["c", "d"])]).on_common()

    def test_upward(self) -> None:
        lower = ScoreMatrix.of("x", {"a": [1.0], "b": [2.0]}, better="lower")
        assert upward(lower).tolist() == [[-1.0, -2.0]]


class TestInputOrder:
    """The same numbers, whatever the order of systems and queries."""

    def test_agreement(self) -> None:
        reports = [
            assess_agreement([matrix("P", ONE, systems, queries), matrix("RR", OTHER)], draws=200)
            for systems, queries in ((SYSTEMS, QUERIES), (SYSTEMS[::-1], QUERIES[::-1]))
        ]
        for name in ("tau_b", "tau_ap_b", "rbo", "pearson"):
            one, other = (getattr(report.found.of("P", "RR"), name) for report in reports)
            assert one == pytest.approx(other, abs=1e-12)
        one_swaps, other_swaps = (sorted(report.swaps) for report in reports)
        assert [swap[:4] for swap in one_swaps] == [swap[:4] for swap in other_swaps]

    def test_stability(self) -> None:
        one, other = (
            assess_stability(matrix("P", ONE, systems, queries), draws=50)
            for systems, queries in ((SYSTEMS, QUERIES), (SYSTEMS[::-1], QUERIES[::-1]))
        )
        for subset, same in zip(one.queries["P"], other.queries["P"], strict=True):
            assert subset.part_whole == pytest.approx(same.part_whole)
            assert subset.split_half == pytest.approx(same.split_half)
        assert one.swap_rates == other.swap_rates
        assert one.power["P"].curve == pytest.approx(other.power["P"].curve)

    def test_documents(self) -> None:
        qrels = {f"q{q}": {f"d{d}": (q * d) % 3 for d in range(15)} for q in range(5)}
        turned = {query: dict(reversed(judged.items())) for query, judged in reversed(qrels.items())}
        runs = {
            name: {query: [f"d{(step * d) % 17}" for d in range(12)] for query in qrels}
            for name, step in (("x", 1), ("y", 3), ("z", 5))
        }
        one = assess_documents(qrels, runs, ["AP", "nDCG"], draws=3)
        assert one == assess_documents(turned, runs, ["AP", "nDCG"], draws=3)
        assert one != assess_documents(qrels, runs, ["AP", "nDCG"], draws=3, seed=1)
        # A measure's rows do not depend on which others are asked for beside it.
        assert one["AP"] == assess_documents(qrels, runs, "AP", draws=3)["AP"]

    def test_one_run_has_no_order(self) -> None:
        with pytest.raises(UsageError, match="at least 2 are needed to have an order"):
            assess_documents({"q": {"d": 1}}, {"x": {"q": ["d"]}}, "AP")


class TestPower:
    def test_lower_is_better_changes_nothing(self) -> None:
        higher = assess_power(ScoreMatrix.of("x", {"a": [1.0, 3.0, 2.0], "b": [2.0, 2.0, 1.0]}))
        lower = assess_power(ScoreMatrix.of("x", {"a": [1.0, 3.0, 2.0], "b": [2.0, 2.0, 1.0]}, better="lower"))
        assert higher.bases == lower.bases

    def test_each_measure_has_its_own_spread(self) -> None:
        report = assess_power([matrix("P", ONE), matrix("RR", OTHER)], queries=[20, 40], difference=[0.1])
        assert [basis.measure for basis in report.bases] == ["P", "RR"]
        assert report.bases[0].sd != report.bases[1].sd
        tables = {table.title: table for table in report.page().tables}
        assert [row[:2] for row in tables["Detectable differences"].rows] == [
            ("P", 20),
            ("P", 40),
            ("RR", 20),
            ("RR", 40),
        ]


@pytest.mark.parametrize("ask", ["compare", "assess_power", "assess_agreement", "assess_stability"])
def test_what_python_saves_has_its_conventions(ask: str, tmp_path: Path) -> None:
    qrels = {f"q{i}": {"a": 1, "b": 2} for i in range(6)}
    lists = {"x": "ab", "y": "ba", "z": "cab"}
    runs = {
        name: {query: [*(ranked if i % 2 else ranked[::-1])] for i, query in enumerate(qrels)}
        for name, ranked in lists.items()
    }
    found = gainful.evaluate(qrels, runs, ["nDCG@10", "RR"], policy=gainful.Policy(missing="skip"))
    answer = getattr(gainful, ask)(found)
    for name in ("saved.csv", "saved.md", "saved.jsonl"):
        answer.save(tmp_path / name)
        assert str(found["x"].signature()) in (tmp_path / name).read_text(), name


def test_measures_choose_among_scores() -> None:
    scores = gainful.Scores.of([matrix("P", ONE), matrix("RR", OTHER)])
    assert gainful.compare(scores, "RR", draws=50).scores.measures == ("RR",)
    with pytest.raises(UsageError, match="no measure 'AP'"):
        gainful.compare(scores, "AP")
    assert gainful.compare(scores, pairs=None, groups={}, draws=50).scores.measures == ("P", "RR")
