"""Tools named for a figure, tools not named, and conventions tried around a tool."""

from __future__ import annotations

import math
from typing import Any

import pytest

from gainful import Run, find_conventions
from gainful.tasks.whydiff import Explained, Way
from tests.together import together

# Query "none" has nothing relevant, "lost" is not answered; "p" has ties, an unjudged document and one not retrieved.
QRELS: dict[str, dict[str, int]] = {
    "p": {"a": 1, "b": 3, "c": 2, "x": 3, "n": 0},
    "q": {"a": 0, "b": 2, "d": 1, "e": 1},
    "none": {"a": 0, "b": 0},
    "lost": {"a": 1, "b": 2},
}
RUN: dict[str, dict[str, float]] = {
    "p": {"a": 4.0, "b": 4.0, "u": 3.0, "c": 2.0, "n": 2.0},
    "q": {"d": 9.0, "b": 8.0, "a": 8.0, "u": 1.0},
    "none": {"b": 2.0, "a": 1.0},
}


def explained(figure: float | str, measure: str, run: Any = RUN, **more: Any) -> Explained:
    text = figure if isinstance(figure, str) else f"{figure:.6f}"
    return find_conventions(QRELS, run, {"theirs": text}, measure, **more).figures[0]


def first(figure: float | str, measure: str, run: Any = RUN, **more: Any) -> Way:
    found = explained(figure, measure, run, **more)
    assert found.reproduced
    return found.ways[0]


def in_order(query: str, ties: str) -> list[str]:
    """Return the documents of a query by score; ties in input order, or by ID descending."""
    documents = list(RUN[query]) if ties == "input" else sorted(RUN[query], reverse=True)
    return sorted(documents, key=lambda document: -RUN[query][document])


def discounted(gains: list[float], k: int) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains[:k], 1))


def list_only(k: int, ties: str, empty: float) -> list[float]:
    """nDCG with exponential gains, of the retrieved documents only; ``empty`` if none of them has a gain."""
    scores = []
    for query in RUN:
        gains = [2.0 ** QRELS[query].get(document, 0) - 1 for document in in_order(query, ties)]
        best = discounted(sorted(gains, reverse=True), k)
        scores.append(discounted(gains, k) / best if best else empty)
    return scores


def average_precisions(k: int, divisor: str) -> list[float]:
    scores = []
    for query in RUN:
        relevant = {document for document, grade in QRELS[query].items() if grade > 0}
        ranks = [r for r, document in enumerate(in_order(query, "docid-desc")[:k], 1) if document in relevant]
        below = {"k": k, "relevant": len(relevant)}[divisor]
        scores.append(sum(nth / rank for nth, rank in enumerate(ranks, 1)) / below if relevant else 0.0)
    return scores


def test_only_known_tools_divide_average_precision_by_k() -> None:
    way = first(sum(average_precisions(4, "k")) / 4, "AP@4")
    assert (way.departed, way.settings["divisor"], way.dialects) == (("divisor",), "k", ())
    answered = first(sum(average_precisions(4, "k")) / 3, "AP@4")
    assert answered.departed == ("divisor", "missing") and answered.dialects == ("RecTools (divide_by_k)",)
    plain = first(sum(average_precisions(4, "relevant")) / 4, "AP@4")
    assert plain.departed == () and plain.dialects[:2] == ("gainful", "trec_eval 9.0.8 -c")


def test_precision_is_divided_by_k_by_everybody() -> None:
    precisions = [sum(QRELS[q].get(d, 0) > 0 for d in in_order(q, "docid-desc")[:2]) / 2 for q in RUN]
    way = first(sum(precisions) / 4, "P@2")
    assert way.departed == () and {"gainful", "trec_eval 10.0 -c", "ir_measures"} <= set(way.dialects)
    # It ends with an error, and prints no number, where a query of the judgments is not answered.
    assert "trec_eval 10.0" not in way.dialects
    assert "trec_eval 10.0" in first(precisions[0], "P@2", query=next(iter(RUN))).dialects


@pytest.mark.parametrize("queries", [3, 4])
def test_tools_that_see_only_lists_skip_unanswered_queries_or_not(queries: int) -> None:
    way = first(sum(list_only(4, "input", 1.0)) / queries, "nDCG@4")
    assert way.dialects == ("LightGBM",)
    assert {"gain", "ideal", "undefined", "ties"} == set(way.departed) - {"missing"}
    assert ("missing" in way.departed) is (queries == 3)


def test_one_step_from_a_tool_in_an_open_dimension() -> None:
    # TF-Ranking says nothing about ties; with what it has itself (gain, ideal, answered queries) that is four changes.
    way = first(sum(list_only(4, "input", 0.0)) / 3, "nDCG@4")
    assert way.departed == ("gain", "ideal", "missing", "ties")
    assert way.dialects == ("TF-Ranking with ties=input",)


def test_a_tool_does_not_explain_dimensions_that_it_leaves_open() -> None:
    # Papers, gdeval and elinor say nothing about unanswered queries; trec_eval leaves them out.
    gains = {q: [float(QRELS[q].get(d, 0)) for d in in_order(q, "docid-desc")] for q in RUN}
    ideals = {q: discounted(sorted(map(float, QRELS[q].values()), reverse=True), 4) for q in RUN}
    figure = sum(discounted(gains[q], 4) / ideals[q] for q in RUN if ideals[q]) / 3
    way = first(figure, "nDCG@4")
    assert way.departed == ("missing",)
    assert way.dialects == ("trec_eval 9.0.8", "pytrec_eval")


def test_trec_eval_has_no_discounted_gain_that_is_cut() -> None:
    gains = {q: [float(QRELS[q].get(d, 0)) for d in in_order(q, "docid-desc")] for q in RUN}
    cut = first(sum(discounted(gains[q], 3) for q in RUN) / 4, "DCG@3")
    assert cut.departed == () and cut.dialects[0] == "gainful"
    assert not [name for name in cut.dialects if "trec_eval" in name or "ir_measures" in name]
    whole = first(sum(discounted(gains[q], 9) for q in RUN) / 4, "DCG")
    assert "trec_eval 10.0 -c" in whole.dialects and "pytrec_eval" not in whole.dialects


@pytest.mark.parametrize(("figure", "departed"), [("1.000", ()), ("0.500", ("duplicates",))])
def test_tools_that_refuse_duplicates_are_not_named_for_them(figure: str, departed: tuple[str, ...]) -> None:
    run = Run.read(b"p Q0 b 1 3 t\np Q0 u 2 2 t\np Q0 b 3 1 t\nq Q0 u 1 1 t\n")
    way = first(figure, "RR", run, query="p")
    assert way.departed == departed
    assert not [name for name in way.dialects if "trec_eval" in name or name in ("gainful", "ir_measures")]


def test_a_figure_that_no_value_can_have_is_tried_as_a_per_cent() -> None:
    share = sum(average_precisions(4, "relevant")) / 4
    found = explained(f"{100 * share:.3f}", "AP@4")
    assert found.reproduced and found.ways[0].departed == ()
    assert found.outside == (0.0, 1.0)
    assert found.per_cent is not None and found.per_cent.text == f"{share:.5f}"
    assert found.read_as.holds(share) and not found.read_as.holds(share + 0.00001)


@together(
    ("figure", "measure", "outside", "per_cent"),
    [
        ("-0.3", "AP", (0.0, 1.0), None),
        ("346.4", "AP", (0.0, 1.0), None),
        ("-2", "DCG", (0.0, math.inf), None),
        ("250", "DCG", None, None),
        ("0.999", "AP", None, None),
        ("99.99", "AP", (0.0, 1.0), "0.9999"),
        ("7000", "NumRel", None, None),
    ],
)
def test_figures_outside_the_bounds(figure: str, measure: str, outside: Any, per_cent: str | None) -> None:
    found = explained(figure, measure)
    assert not found.reproduced and found.outside == outside
    assert (found.per_cent and found.per_cent.text) == per_cent


def test_more_than_the_bound_that_is_reproduced_is_no_per_cent() -> None:
    # Of two documents of equal score the first alone is shown, and has half of the gain of the second.
    found = explained("1.5", "nDCG@1", {"q": {"b": 3.0, "d": 3.0}}, query="q")
    assert found.reproduced and found.outside is None
    assert found.ways[0].departures == "ideal=shown, ties=expected"


def test_unreproduced_figures_are_ordered_by_distance() -> None:
    found = explained("0.987654321", "nDCG@4", most=40)
    distances = [abs(way.value - 0.987654321) for way in found.ways]
    assert not found.reproduced and len(distances) == 40 and distances == sorted(distances)
    assert [len(way.departed) for way in found.ways] != sorted(len(way.departed) for way in found.ways)
