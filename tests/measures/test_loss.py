"""The parts of 1 - score, checked by trying every order of the first documents."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any

import pytest
from scipy import stats

from gainful import Measure, Queries, UsageError, compare, evaluate
from gainful.evaluation.evaluation_page import Report
from gainful.measures.loss import is_split
from tests.laws.test_laws import ALL, worths

SPLIT = [measure for measure in ALL if is_split(measure)]
RANKS = (2, 4)
SCALE = {"scale": {"top": 3}}


def collection(rng: random.Random, queries: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Lists of up to five documents; some are unjudged, others are judged but not retrieved."""
    qrels, run = {}, {}
    for query in (f"q{i}" for i in range(queries)):
        run[query] = [f"d{i}" for i in range(rng.randrange(1, 6))]
        judged = {each: rng.choice([0, 1, 2, 3]) for each in run[query] if rng.random() < 0.8}
        qrels[query] = judged | {f"missed{i}": rng.choice([0, 1, 3]) for i in range(rng.randrange(3))} or {"other": 0}
    return qrels, run


def ends_of(measure: Measure, longest: int) -> dict[str, int]:
    """The name of each part, and the rank at which it ends."""
    k = measure.rank_cutoff
    names = {"order": k} if k else {"1-2": 2}
    before = k or 2
    for rank in [rank for rank in RANKS if rank > before]:
        names[f"{before + 1}-{rank}" if rank > before + 1 else str(rank)] = before = rank
    return names | ({f"after {before}": longest} if longest > before else {})


@pytest.mark.filterwarnings("ignore::gainful.GainfulWarning")
@pytest.mark.parametrize("is_condensed", [False, True])
def test_parts_are_differences_between_the_best_orders(is_condensed: bool) -> None:
    qrels, run = collection(random.Random(1), 10)
    split = [measure for measure in SPLIT if (getattr(measure, "unjudged", None) == "condensed") == is_condensed]
    found = evaluate(qrels | SCALE, run | {"scale": ["top"]}, split, loss=True, loss_ranks=RANKS)
    if is_condensed:
        run = {query: [each for each in documents if each in qrels[query]] for query, documents in run.items()}
    longest = max(map(len, run.values()))
    many_qrels: dict[str, Any] = dict(SCALE)
    many_runs: dict[str, Any] = {}
    for query, documents in run.items():
        for end in range(1, 6):
            for i, order in enumerate(itertools.permutations(documents[:end])):
                many_qrels[f"{query}|{end}|{i}"] = qrels[query]
                many_runs[f"{query}|{end}|{i}"] = [*order, *documents[end:]]
    scores = evaluate(many_qrels, many_runs, split)
    for measure in split:
        best: dict[tuple[str, int], float] = {}
        for name, value in scores.by_query(measure).items():
            if name != "scale":
                query, end, _ = name.split("|")
                best[query, int(end)] = max(best.get((query, int(end)), 0.0), value or 0.0)
        values = found.by_query(measure)
        for query, parts in found.beside_by_query("loss", measure).items():
            assert sum(parts.values()) == pytest.approx(1 - values[query], abs=4e-16), (measure, query)  # type: ignore[operator, arg-type]
            assert min(parts.values()) >= 0  # type: ignore[type-var]
            if query == "scale":
                continue
            score = values[query] or 0.0
            expected: dict[str, float] = {}
            for name, end in ends_of(measure, longest).items():
                above = best[query, min(end, 5)]
                expected[name], score = above - score, above
            worth = worths(measure)
            ideal = sorted(qrels[query], key=lambda each: (-worth[qrels[query][each]], -qrels[query][each]))
            top = evaluate({"q": qrels[query]} | SCALE, {"q": ideal}, measure).by_query(measure)["q"] or 0.0
            expected |= {"not retrieved": top - score, "out of reach": 1 - top}
            assert dict.fromkeys(expected, 0.0) | parts == pytest.approx(expected, abs=1e-12), (
                measure,
                query,
                run[query],
            )


def test_a_list_by_hand() -> None:
    # One relevant document at rank 2, one at rank 12, one at rank 120 and one missed; ranks count 1, 1/log2(3), ...
    documents = [f"x{i}" for i in range(1, 131)]
    documents[1], documents[11], documents[119] = "a", "b", "c"
    found = evaluate({"q": dict.fromkeys("abcd", 1)}, {"q": documents}, ["nDCG@10", "SetR", "R@2"], loss=True)
    discounts = [1.0, 0.6309297535714575, 0.5, 0.43067655807339306]
    ideal = sum(discounts)
    assert found.beside("loss", "nDCG@10") == pytest.approx(
        {
            "order": (1 - discounts[1]) / ideal,
            "11-100": discounts[1] / ideal,
            "101-1000": discounts[2] / ideal,
            "not retrieved": discounts[3] / ideal,
        },
        abs=1e-15,
    )
    assert math.isnan(found.beside_margins("loss", "nDCG@10")["order"])  # a single query has no interval
    assert found.beside("loss", "SetR") == {"1-100": 0, "101-1000": 0, "not retrieved": 0.25}
    # Two of four relevant documents are the most that two ranks can hold.
    assert found.beside("loss", "R@2") == {
        "order": 0,
        "3-100": 0.25,
        "101-1000": 0,
        "not retrieved": 0,
        "out of reach": 0.5,
    }


def test_conventions_decide_about_queries_without_a_score() -> None:
    qrels, run = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 0}}, {"q1": ["a"], "q3": ["a"]}
    zero = evaluate(qrels, run, "nDCG@1", loss=True).beside_by_query("loss", "nDCG@1")
    assert zero["q2"] == {"order": 0, "2-100": 0, "101-1000": 0, "not retrieved": 1, "out of reach": 0}
    assert zero["q3"] == {"order": 0, "2-100": 0, "101-1000": 0, "not retrieved": 0, "out of reach": 1}
    skipped = evaluate(qrels, run, "nDCG@1", loss=True, missing="skip", undefined="skip")
    assert skipped.beside("loss", "nDCG@1") == {"order": 0, "2-100": 0, "101-1000": 0, "not retrieved": 0}
    assert set(skipped.beside_by_query("loss", "nDCG@1")["q2"].values()) == {None}


def test_partitions_with_different_parts_merge() -> None:
    qrels, run = {"q1": {"a": 1}, "q2": {"a": 1, "b": 1}}, {"q1": ["x", "a"], "q2": ["b", "a"]}
    both = evaluate(qrels, run, "P@2", loss=True)
    one, other = (evaluate({query: qrels[query]}, {query: run[query]}, "P@2", loss=True) for query in qrels)
    assert both.beside("loss", "P@2")["out of reach"] == 0.25
    for merged in (one.merge(other), other.merge(one)):
        assert merged.beside("loss", "P@2") == both.beside("loss", "P@2")


def test_margins_of_means() -> None:
    # Relevant documents at ranks 1, 2, 2 and 1001 lose 0, 0, 0 and 1 after rank 1000. With weights 3, 1, 2, 2 the
    # effective number of queries is 64 / 18. Other runs lack that part.
    far = [f"n{i}" for i in range(1000)]
    qrels = {f"q{i}": {"x": 1} for i in range(4)}
    run = dict(zip(qrels, (["x"], ["n", "x"], ["n", "x"], [*far, "x"]), strict=True))
    both = evaluate(qrels, {"a": run, "b": {query: ["x"] for query in qrels}}, "Success@1", loss=True)
    assert both["a"].beside_margins("loss", "Success@1") == pytest.approx(
        {"order": 0, "2-100": stats.t.ppf(0.975, 3) * stats.sem([0, 1, 1, 0]), "101-1000": 0, "not retrieved": 0}
        | {"after 1000": stats.t.ppf(0.975, 3) * stats.sem([0, 0, 0, 1])}
    )
    assert [line.split()[2:] for line in both.text().splitlines() if line.startswith("b    Success@1")] == [
        ["1.0000", *["0.0000"] * 5],
        ["0.0000"] * 5,
    ]
    weighted = Queries({query: {"w": w} for query, w in zip(qrels, (3, 1, 2, 2), strict=True)}, weights="w")
    found = evaluate(qrels, run, "Success@1", loss=True, queries=weighted).beside_margins("loss", "Success@1")
    df, mean = 64 / 18 - 1, 3 / 8
    expected = stats.t.ppf(0.975, df) * math.sqrt((5 * mean**2 + 3 * (1 - mean) ** 2) / 8 / df)
    assert found["2-100"] == pytest.approx(expected)
    many = {f"q{i}": {"x": 1} for i in range(1000)}
    lists = {query: ["x", "n"] if i % 3 else ["n", "x"] for i, query in enumerate(many)}
    margins = evaluate(many, lists, "Success@1", loss=True).beside_margins("loss", "Success@1")
    lost = [i % 3 == 0 for i in range(1000)]
    assert margins["2-100"] == pytest.approx(stats.t.ppf(0.975, 999) * stats.sem(lost), rel=1e-13)


def test_measures_without_a_split() -> None:
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": ["b", "a"]}
    measures = ["Bpref", "DCG", "Q", "nDCG(discount=jarvelin2000, base=10)@5", "SetP", "RR"]
    found = evaluate(qrels, run, measures, loss=True)
    assert [name for name in measures if found.beside("loss", name)] == ["RR"]
    budget = evaluate(qrels, run, "nDCG@9t", items={"a": {"tokens": 3}, "b": {"tokens": 3}}, loss=True)
    assert budget.beside("loss", "nDCG@9t") == {} and "\nnDCG@9t: not under a budget\n" in budget.text()


def test_unjudged_documents_are_removed_first() -> None:
    # Of u1, u2, a, u3, b only a (grade 0) and b (grade 1) are left: b at rank 2 instead of 1, and no part below.
    qrels, run = {"q": {"a": 0, "b": 1}}, {"q": ["u1", "u2", "a", "u3", "b"]}
    lost = pytest.approx({"order": 1 - 0.6309297535714575, "3-100": 0, "101-1000": 0, "not retrieved": 0}, abs=1e-15)
    own = "nDCG(unjudged=condensed)@2"
    assert evaluate(qrels, run, own, loss=True).beside("loss", own) == lost
    assert evaluate(qrels, run, "nDCG@2", unjudged="condensed", loss=True).beside("loss", "nDCG@2") == lost


def test_means_over_orders_are_not_split() -> None:
    found = evaluate({"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}, "RR", ties="expected", loss=True)
    assert found.beside("loss", "RR") == {}
    assert "RR: no exact split of means over orders (ties=expected)" in found.text()


def test_evaluations_with_and_without_a_loss() -> None:
    qrels, run = {"x": {"a": 1}}, {"x": ["b", "a"]}
    with_loss = evaluate(qrels, run, "RR", loss=True, name="r")
    other_query = evaluate({"y": {"a": 1}}, {"y": ["b", "a"]}, "RR")
    other_run = evaluate(qrels, run, "RR", name="s")
    for one, other in ((with_loss, other_query), (other_query, with_loss)):
        with pytest.raises(UsageError, match=r"merge: different further values: (none|loss) and (none|loss)"):
            one.merge(other)
    for both in ([with_loss, other_run], [other_run, with_loss]):
        text = Report(both).text()
        assert text.count("is worth") == 1 and "is worth +0.5000 (r)\n" in text
    with pytest.raises(UsageError, match=r"expected bounds \| chance \| loss, found 'los'"):
        with_loss.beside("los", "RR")


def test_ranks_are_checked() -> None:
    found = evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, "AP", loss=True, loss_ranks=())
    assert found.beside("loss", "AP") == {"1-2": 0.5, "not retrieved": 0}
    for ranks in ((0,), (1.5,), 10, "10,20"):
        with pytest.raises(UsageError, match="loss_ranks"):
            evaluate({"q": {"a": 1}}, {"q": ["a"]}, "AP", loss=True, loss_ranks=ranks)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="loss_ranks= needs loss=True"):
        evaluate({"q": {"a": 1}}, {"q": ["a"]}, "AP", loss_ranks=[5])


def test_a_difference_is_found_or_ordered() -> None:
    # Two relevant documents: b has both in the top 2, a one of them at rank 1; in every other query a has both, b one
    # at rank 2. With four nonzero differences in order, its interval is Student's.
    qrels = {f"q{i}": {"x": 1, "y": 1} for i in range(8)}
    lists = {"a": (["x", "n", "y"], ["x", "y"]), "b": (["x", "y"], ["n", "x"])}
    runs = {name: {query: each[i % 2] for i, query in enumerate(qrels)} for name, each in lists.items()}
    result = compare(qrels, runs, ["nDCG@2", "P@1"], loss=True)
    [found], second = result.loss, 0.6309297535714575
    order, miss = (1 - second) / (1 + second) / 2, second / (1 + second) / 2
    error = 2.3646242515927844 * order / math.sqrt(7)
    expected = {
        "order": (order, 0.0, -order, -order - error, -order + error),
        "3-100": (0.0, miss, miss),
        "101-1000": (0.0, 0.0, 0.0, 0.0, 0.0),
        "not retrieved": (miss, 0.0, -miss),
        "finding": (miss, miss, 0.0),
    }
    assert [row[:2] for row in found.rows] == [("nDCG@2", part) for part in expected]
    for _, part, *values in found.rows:
        assert values[: len(expected[part])] == pytest.approx(expected[part], abs=1e-12)
    assert f'"part": "order", "system": {found.rows[0][2]!r}, ' in result.text("jsonl")
    low, high = found.rows[-1][-2:]
    assert low == -high and found.notes[0] == (
        f"b gains 0.000 nDCG@2 by finding relevant documents (95% CI {low:.3f} to {high:.3f}) and loses 0.113 by "
        f"ordering its top 2 (95% CI {-order - error:.3f} to {error - order:.3f}); a perfect reranker of the top 100 "
        "is worth +0.1131 (b), +0.1934 (a)."
    )


def test_equal_systems_have_equal_parts() -> None:
    qrels, lists = {"q": {"x": 1}}, {"q": ["n", "x"]}
    [found] = compare(qrels, {"a": lists, "b": lists}, "P@1", loss=True).loss
    assert found.notes[0].startswith("b and a lose the same P@1 in every part; a perfect reranker")


def test_a_difference_on_weighted_queries() -> None:
    qrels, lists = {"q1": {"x": 1}, "q2": {"x": 1}, "q3": {"x": 1}}, ["n", "x"]
    runs = {"a": {query: ["x"] for query in qrels}, "b": {"q1": lists, "q2": ["n"], "q3": ["n"]}}
    queries = Queries({"q1": {"w": 3}, "q2": {"w": 1}, "q3": {"w": 9}}, weights="w", only=["q1", "q2"])
    [found] = compare(evaluate(qrels, runs, "P@1"), queries=queries, loss=True).loss
    lost = {part: theirs for _, part, theirs, *_ in found.rows if theirs}
    assert lost == pytest.approx({"2-100": 0.75, "not retrieved": 0.25, "finding": 1.0})


def test_only_two_systems_with_runs_and_a_split_have_a_loss() -> None:
    qrels, lists = {"q": {"x": 1}}, {"q": ["x", "y"]}
    with pytest.raises(UsageError, match="the loss of Bpref cannot be split exactly"):
        compare(qrels, {"a": lists, "b": lists}, "Bpref", loss=True)
    with pytest.raises(UsageError, match="loss cannot be used with several systems"):
        compare(qrels, {"a": lists, "b": lists, "c": lists}, "P@2", loss=True)


def test_lists_with_scores_have_the_same_loss() -> None:
    qrels, run = {"q": {"a": 1, "b": 0, "c": 2, "d": 1}}, {"q": {"x": 3.0, "b": 2.0, "a": 1.0}}
    condensed = "nDCG(unjudged=condensed)@2"
    alone, beside = (evaluate(qrels, run, names, loss=True) for names in (condensed, [condensed, "SwetsE"]))
    assert beside.beside("loss", condensed) == alone.beside("loss", condensed)
