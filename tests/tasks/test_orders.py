"""The order of systems under two sets of judgments."""

from __future__ import annotations

import io
import random
import sys
from typing import Any

import pytest
from scipy.stats import kendalltau

from gainful import GainfulWarning, InputError, Policy, Qrels, UsageError, compare_judgments, evaluate, parse, simulate
from gainful.data.judged import Judged
from gainful.measures.base import Measure
from gainful.stats.agreement import Swap
from gainful.tasks.judgments.judges import OrderComparison, compare_orders

LISTS = {"ab": {"q": ["a", "b"]}, "ba": {"q": ["b", "a"]}, "xa": {"q": ["x", "a"]}}


def judged(judgments: Any, **policy: str) -> Judged:
    return Judged(Qrels.from_dict(judgments), Policy(**policy))  # type: ignore[arg-type]


def compared(a: Judged, b: Judged, runs: Any, measures: list[Measure]) -> tuple[OrderComparison, ...]:
    return compare_orders(a, b, runs, measures)[0]


class TestOrders:
    def test_a_swap(self) -> None:
        a, b = judged({"q": {"a": 1, "b": 0}}), judged({"q": {"a": 0, "b": 1}})
        [found] = compared(a, b, LISTS, [parse("RR")])
        # By A: ab 1, ba and xa 1/2. By B: ba 1, ab 1/2, xa 0.
        assert found.systems == (("ab", 1, 0.5, 1, 2), ("ba", 0.5, 1, 2, 1), ("xa", 0.5, 0, 2, 3))
        assert found.swaps == (Swap("ab", "ba", 0.5, 0.5),)
        # Pairs: ab-ba opposite, ab-xa same, ba-xa tied in A: (1 - 1) / ... = 0.
        assert found.tau == 0
        assert (found.pairs, found.queries) == (3, 1)

    def test_the_same_judgments(self) -> None:
        a = judged({"q": {"a": 2, "b": 1}})
        [found] = compared(a, a, LISTS, [parse("nDCG@2")])
        assert (found.tau, found.swaps, [system.name for system in found.systems]) == (1, (), list(LISTS))

    def test_several_measures(self) -> None:
        a, b = judged({"q": {"a": 1, "b": 0}}), judged({"q": {"a": 1, "b": 1}})
        found = compared(a, b, LISTS, [parse("RR"), parse("P@2")])
        assert [str(order.measure) for order in found] == ["RR", "P@2"]
        assert [order.systems[0].mean_b for order in found] == [1, 1]

    def test_only_queries_that_both_judge(self) -> None:
        a = judged({"q": {"a": 1}, "r": {"a": 1}})
        b = judged({"q": {"a": 1}, "s": {"a": 1}})
        [order] = compared(a, b, {"one": {"q": ["a"], "s": ["a"]}}, [parse("RR")])
        assert (order.queries, order.systems[0].mean_a) == (1, 1)  # r would have made it 1/2

    def test_means_are_those_of_evaluate(self) -> None:
        made = simulate(queries=10, seed=3)
        source = random.Random(1)
        changed = {
            query: {document: source.choice([grade, grade, 0, 3]) for document, grade in grades.items()}
            for query, grades in made.qrels.items()
        }
        a, b = judged(made.qrels), judged(changed)
        measure = parse("nDCG@10")
        [found] = compared(a, b, made.runs, [measure])
        for system in found.systems:
            assert system.mean_a == evaluate(a.qrels, made.runs[system.name], measure).mean(measure)
            assert system.mean_b == evaluate(b.qrels, made.runs[system.name], measure).mean(measure)
        columns = list(zip(*found.systems, strict=True))
        assert found.tau == pytest.approx(kendalltau(columns[1], columns[2]).statistic, abs=1e-12)
        opposite = {
            frozenset((x.name, y.name))
            for x in found.systems
            for y in found.systems
            if (x.mean_a - y.mean_a) * (x.mean_b - y.mean_b) < 0  # type: ignore[operator]
        }
        assert opposite and {frozenset(swap[:2]) for swap in found.swaps} == opposite
        leads = [min(swap.lead_a, swap.lead_b) for swap in found.swaps]
        assert leads == sorted(leads, reverse=True)

    def test_a_run_without_a_mean_is_in_no_order(self) -> None:
        a, b = judged({"q": {"a": 1}}, missing="skip"), judged({"q": {"a": 0, "b": 1}}, missing="skip")
        runs = {**LISTS, "none": {"z": ["a"]}}
        [found] = compared(a, b, runs, [parse("RR")])
        assert found.systems[-1] == ("none", None, None, None, None)
        assert found.tau is not None

    def test_rounding_makes_no_order(self) -> None:
        # As floats .1 + .2 is above .3 + 0, but no mean is better for it.
        a = judged({query: {f"d{i}": 1 for i in range(10)} for query in ("q", "r")})
        one = {"q": ["d0"], "r": ["d0", "d1"]}
        two = {"q": ["d0", "d1", "d2"], "r": ["x"]}
        [found] = compared(a, a, {"one": one, "two": two}, [parse("P@10")])
        means = [system.mean_a for system in found.systems]
        assert means[0] != means[1]
        assert [system.rank_a for system in found.systems] == [1, 1]
        assert (found.tau, found.swaps) == (None, ())

    def test_standard_input_serves_both(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"q Q0 a 1 1 t\n")))
        [found] = compared(judged({"q": {"a": 1}}), judged({"q": {"a": 2}}), {"r": "-"}, [parse("RR")])
        assert found.systems == (("r", 1, 1, 1, 1),)

    def test_part_of_the_comparison_of_judgments(self) -> None:
        a, b = {"q": {"a": 1, "b": 0}}, {"q": {"a": 0, "b": 1}}
        with pytest.warns(GainfulWarning, match=r"by A: .*\n?"):
            found = compare_judgments(a, b, runs=LISTS, measures="RR", draws=0)
        assert found.orders == compared(judged(a), judged(b), LISTS, [parse("RR")])
        assert "1 of 3 pairs of systems swaps by RR" in str(found)
        assert "of systems" not in str(compare_judgments(a, b, draws=0))
        with pytest.raises(UsageError, match="measures: runs to score are missing"):
            compare_judgments(a, b, measures="RR")

    def test_no_common_query(self) -> None:
        with pytest.raises(InputError, match="<dict> has 'q', <dict> has 'r'"):
            compare_orders(judged({"q": {"a": 1}}), judged({"r": {"a": 1}}), LISTS, [parse("RR")])
