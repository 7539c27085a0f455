"""Budgets in place of a cutoff: `nDCG@4000t`. Their scores are compared with the naive script in test_naive.py."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import pytest

from gainful import (
    InputError,
    UsageError,
    assess_sensitivity,
    compare,
    evaluate,
    explain,
    gain_curves,
    judge_next,
    parse,
)
from gainful.data.qrels import Qrels
from gainful.measures.measure_families import ALL_MEASURES

LN2 = math.log(2)
QRELS = {"q1": {"a": 3, "b": 0, "c": 2, "x": 1}, "q2": {"a": 1}}
RUN = {"q1": ["b", "a", "d", "c"], "q2": ["d", "a"]}
TOKENS = {"a": {"tokens": 300}, "b": {"tokens": 100}, "c": {"tokens": 250}, "d": {"tokens": 600}}


def by_query(measure: str, items: Any = None, **options: Any) -> dict[str, float]:
    return evaluate(QRELS, RUN, measure, items=items or TOKENS, **options).by_query(measure)


def test_documents_that_fit() -> None:
    # Of q1, b and a fit (400 tokens), with d they are 1,000; of q2, d alone exceeds 599.
    assert by_query("P@599t") == {"q1": 0.5, "q2": 0.0}
    assert by_query("P@600t") == {"q1": 0.5, "q2": 0.0} and by_query("P@1000t") == {"q1": 1 / 3, "q2": 0.5}
    assert by_query("RR@400t") == {"q1": 0.5, "q2": 0.0}


def test_the_ideal_list_and_the_recall_base_stay_whole() -> None:
    assert by_query("R@400t")["q1"] == 1 / 3
    assert by_query("nCG@400t")["q1"] == 3 / (3 + 2 + 1)
    for measure in ("nDCG", "AP", "ERR", "nCG(gain=exp2)"):
        assert by_query(f"{measure}@9999t") == by_query(measure)


def test_money_is_not_lost_to_rounding() -> None:
    prices = {name: {"usd": 0.1} for name in "abcd"}
    assert by_query("P@0.3usd", prices)["q1"] == 1 / 3  # 0.1 + 0.1 + 0.1 is above 0.3 in floats


def test_documents_without_a_length_are_free() -> None:
    assert by_query("P@1t", {**TOKENS, "b": {"tokens": 0}})["q1"] == 0.0  # b is read, a does not fit
    assert by_query("Judged@1t", {**TOKENS, "b": {"tokens": 0}})["q1"] == 1.0


@pytest.mark.parametrize("text", ["nDCG@4000t", "P(rel=2)@0.5usd", "nDCG(gain=exp2, average=ranks)@30s", "INST@200c"])
def test_text(text: str) -> None:
    measure = parse(text)
    assert str(measure) == text and parse(measure.full_text()) == measure == pickle.loads(pickle.dumps(measure))
    assert copy.copy(measure) == measure != measure.replace(cutoff=10) and hash(measure) == hash(parse(text))
    assert parse(text.partition("@")[0] + "@10") @ str(measure.budget) == measure
    assert str(measure.replace(unjudged="condensed")).endswith(f"unjudged=condensed)@{measure.budget}")


@pytest.mark.parametrize("text", ["nDCG@0t", "nDCG@-5t", "nDCG@10k", "nDCG@t", "nDCG@1,000t", "IPrec@10t"])
def test_what_is_no_budget(text: str) -> None:
    with pytest.raises(UsageError, match="expected a number or a budget" if text == "nDCG@10k" else "expected"):
        parse(text)


def test_measures_without_a_budget() -> None:
    refused = {name for name, each in ALL_MEASURES.items() if each.at_parameter() == "cutoff" and each.why_no_budget()}
    assert {"SlidingRatio", "SFTotal", "Coverage", "nsDCG"} < refused and not {"nDCG", "P", "Novelty"} & refused
    for name in refused:
        with pytest.raises(UsageError, match=r"a budget \(4000t\) cannot cut its lists"):
            parse(f"{name}@4000t")
    with pytest.raises(UsageError, match="ranks, found nDCG@4000t"):
        gain_curves(QRELS, {"r": RUN}, ["nDCG@4000t"])
    with pytest.raises(UsageError, match="nDCG@400t: depths cannot be varied under a budget"):
        assess_sensitivity(QRELS, {"r": RUN, "s": RUN}, measure="nDCG@400t")
    with pytest.raises(UsageError, match="alpha-DCG@400t: judgments with sub-topics are required"):
        by_query("alpha-DCG@400t")
    with pytest.raises(UsageError, match="needs documents in an order"):
        by_query("P@400t", ties="expected")


def test_unknown_lengths() -> None:
    known = {name: TOKENS[name] for name in "ab"}
    with pytest.raises(InputError, match=r"items: no length of document 'd', which <dict> retrieves for query 'q2'"):
        by_query("P@1t", known)
    for unknown in ({"a": 1}, {"tokens": ""}, {"tokens": None}):
        with pytest.raises(InputError, match=r"no length of document 'b'.* for query 'q1'"):
            by_query("P@1t", {**TOKENS, "b": unknown})
    # Behind the last document that is needed, nothing has to be known.
    assert by_query("P@50t", {name: TOKENS[name] for name in ("a", "b", "d")}) == {"q1": 0.0, "q2": 0.0}
    used_up = {name: TOKENS[name] for name in "ab"}  # 400 tokens together
    assert evaluate({"q": {"a": 1}}, {"q": ["b", "a", "d"]}, "P@400t", items=used_up).mean("P@400t") == 0.5
    with pytest.raises(UsageError, match="@50t: a table of documents with their lengths is required"):
        evaluate(QRELS, RUN, "P@50t")


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        ({"n_tokens": 1, "token_count": 2}, "expected one column of lengths in 't', found n_tokens, token_count"),
        ({"pages": 3}, "expected one column of lengths in 't', found pages"),
        ({"tokens": "many"}, "item 'a': tokens: expected a number, found 'many'"),
        ({"tokens": -1}, "item 'a': tokens: expected at least 0, found -1"),
    ],
)
def test_columns(cells: dict[str, Any], says: str) -> None:
    qrels = Qrels.of({"q": {"a": 1}}).with_items({"a": cells})
    for _ in range(2):  # incomplete lengths are not kept for the next call, or for another thread
        with pytest.raises((InputError, UsageError), match=says):
            evaluate(qrels, {"q": ["a"]}, "P@5t")


def test_the_unit_names_a_column() -> None:
    for unit, column in (("t", "t"), ("t", "Token-Count"), ("c", "chars"), ("w", "words"), ("pages", "pages")):
        items = {"a": {column: "1", "title": "9"}, "b": {column: 5, "title": "9"}}
        assert evaluate({"q": {"a": 1}}, {"q": ["a", "b"]}, f"P@4{unit}", items=items).mean(f"P@4{unit}") == 1.0


def test_explanation() -> None:
    qrels = Qrels.of(QRELS).with_items(TOKENS)
    steps = {"nCG@400t": "3 / 6 = 0.5000", "P@400t": "1 / 2 = 0.5000", "gP@400t": "0.5000"}
    for measure, step in steps.items():
        explained = explain(measure, qrels, RUN, "q1")
        assert str(explained.steps[-1]) == f"{measure} = {step}" and explained.lists[0].documents == ("b", "a")
        assert explained.value == by_query(measure)["q1"]
    # Of b, a, d and c, the first two fit: counts are of these, and so are lengths.
    text = " ".join(explain("R@400t", qrels, RUN, "q1").text().split())
    assert "1 b 100 0" in text and "2 a 300 3" in text
    assert "<dict> retrieved 1 of them within 400t." in text and "Unjudged: none of 2 documents within 400t." in text
    assert "items:4 | " in text
    text = explain("R(unjudged=condensed)@650t", qrels, RUN, "q1").text().replace("\n", " ")
    assert "Unjudged: 1 of 4 documents within 650t; they are removed" in text
    for measure in "U(column=tokens)", "TBG(column=tokens)":  # q2 has nothing to read after a, at rank 2
        columns = explain(measure, qrels, {"q2": ["d", "a", "b"]}, "q2").lists[0].arithmetic.columns
        assert columns["length"][:2].tolist() == [600, 300] and columns["gain * weight"][2] == 0
        assert all(math.isnan(columns[name][2]) for name in ("length", "before", "weight"))


def test_together_with_others() -> None:
    """Measures with and without budgets, condensed and not, in one evaluation, give the scores that they have alone."""
    measures = ["nDCG@400t", "nDCG@10", "P@600t", "nDCG(unjudged=condensed)@700t", "R@0.4kt"]
    items = {name: {**cells, "kt": cells["tokens"] / 1000} for name, cells in TOKENS.items()}
    together = evaluate(QRELS, RUN, measures, items=items, threads=2, bounds=True, chance=True)
    for measure in measures:
        assert together.by_query(measure) == by_query(measure, items)
    assert together.by_query("R@0.4kt") == by_query("R@400t")
    assert together.beside("bounds", "nDCG@10") and not together.beside("bounds", "nDCG@400t")
    both = evaluate(QRELS, {"one": RUN, "two": {"q1": ["a"], "q2": ["a"]}}, "nDCG@400t", items=TOKENS)
    assert "nDCG@400t" in str(compare(both))
    with pytest.raises(UsageError, match="nDCG@400t: no bounds under a budget"):
        judge_next(both)
    with pytest.raises(UsageError, match="nDCG@400t: no bounds under a budget"):
        compare(both, bounds=True)


def test_readers_and_tables() -> None:
    """Lengths are needed down to the last relevant document, and only there."""
    items = {"a": {"words": 100, "characters": 500}, "b": {"words": 50, "characters": 250}}
    qrels, run = {"q": {"a": 1}}, {"q": ["b", "a", "z"]}
    before = 4.4 + (0.018 * 50 + 7.8) * 0.39
    assert evaluate(qrels, run, "TBG", items=items).mean("TBG") == pytest.approx(0.4928 * math.exp(-before * LN2 / 224))
    assert evaluate(qrels, run, "U", items=items).mean("U") == pytest.approx(1 - (400 + 0.2 * 500) / 132000)
    for measure, column in (("TBG", "words"), ("U", "characters")):
        with pytest.raises(InputError, match=r"items: no length of document 'z', .* for query 'q'"):
            evaluate({"q": {"z": 1}}, run, measure, items=items)
        with pytest.raises(UsageError, match=f"{measure}: a table of documents with their lengths is required"):
            evaluate(qrels, run, measure)
        with pytest.raises(UsageError, match="expected one column of lengths"):
            evaluate(qrels, run, measure, items={"a": {"pages": 3}})
        named = f"{measure}(column=len)"
        renamed = {name: {"len": cells[column]} for name, cells in items.items()}
        one, other = evaluate(qrels, run, named, items=renamed), evaluate(qrels, run, measure, items=items)
        assert one.mean(named) == other.mean(measure)


@pytest.mark.parametrize("text", ["TBG(half_life=0)", "TBG(p_click=2)", "TBG(t_word=-1)", "U(L=0)", "U(p_read=1.5)"])
def test_parameters_of_readers(text: str) -> None:
    with pytest.raises(UsageError, match="expected a number"):
        parse(text)
