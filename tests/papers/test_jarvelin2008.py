"""Järvelin, Price, Delcambre and Lykke Nielsen, ECIR 2008: the formulas, their extremes, and the appendix's example."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gainful import Qrels, parse, session_curves
from gainful.data.sessions import sessions_from_lists
from gainful.measures.session_block import SessionMeasure, hand_made
from gainful.measures.session_gain import gained_and_ideal
from gainful.tasks.sessions import study_sessions

GRADES = [3, 2, 3, 0, 0, 1, 2, 2, 3, 0]


def score(measure: str, lists: list[list[int | None]], **rest: object) -> float:
    found = parse(measure)
    assert isinstance(found, SessionMeasure)
    return found.score_session(lists, **rest)  # type: ignore[arg-type]


@pytest.mark.parametrize("k", [1, 3, 10, 100])
@pytest.mark.parametrize("base", ["1.5", "2", "4", "e", "10"])
def test_a_session_of_one_query_is_dcg(k: int, base: str) -> None:
    of_query = parse(f"DCG(discount=jarvelin2008, base={base})@{k}").score(GRADES, [3, 1])
    assert score(f"sDCG(base={base})@{k}", [GRADES], unretrieved=[3, 1]) == of_query
    normalised = parse(f"nDCG(discount=jarvelin2008, base={base})@{k}").score(GRADES, [3, 1])
    assert score(f"nsDCG(base={base})@{k}", [GRADES], unretrieved=[3, 1]) == pytest.approx(normalised, rel=1e-14)


def test_the_query_discount() -> None:
    """Equation 1: the q-th query is worth 1 / (1 + log_bq q) of its DCG."""
    for q in range(1, 12):
        lists: list[list[int | None]] = [[] for _ in range(q - 1)] + [[2]]
        assert score("sDCG@10", lists) == pytest.approx(2 / (1 + math.log(q, 4)))
        assert score("sDCG(query_base=10)@10", lists) == pytest.approx(2 / (1 + math.log10(q)))


def test_extremes_of_both_bases() -> None:
    """Close to 1 nothing but the first rank and the first query counts; the larger the base, the less is discounted."""
    lists: list[list[int | None]] = [[1, 1], [1, 1]]
    assert score("sDCG(base=1.0000001, query_base=1.0000001)@2", lists) == pytest.approx(1, abs=1e-6)
    whole = score("sDCG(base=1e300, query_base=999.999)@2", lists)
    assert whole == pytest.approx(2 * (1 + math.log(1e300) / (math.log(1e300) + math.log(2))) / 2 * 1, rel=1)
    per_query = 1 + 1 / (1 + math.log(2) / math.log(1e300))
    assert whole == pytest.approx(per_query * (1 + 1 / (1 + math.log(2) / math.log(999.999))))
    growing = [score(f"sDCG(query_base={base})@2", lists) for base in ("1.1", "2", "4", "10", "100", "999")]
    assert growing == sorted(growing) and len(set(growing)) == len(growing)


def test_concatenated_vectors() -> None:
    """Two queries of which the first fails: by hand with b = bq = 2."""
    qrels = Qrels.from_dict({"s": {"a": 2, "b": 1}})
    block = hand_made(qrels, {"s": [["x", "y"], ["a", "b"]]})
    measure, normalised = parse("sDCG(query_base=2)@2"), parse("nsDCG(query_base=2)@2")
    # The second query's gains are halved, and that at its second rank once more.
    assert gained_and_ideal(block, measure, 3)[0].tolist() == [[0, 0, 1, 1.25, 1.25, 1.25]]
    assert gained_and_ideal(block, measure, 3)[1].tolist() == [[2, 2.5, 3.5, 3.75, 3.75, 3.75]]
    gained, ideal = gained_and_ideal(block, normalised, 3)
    expected = [0, 0, 1 / 3.5, 1.25 / 3.75, 1.25 / 3.75, 1.25 / 3.75]
    assert (gained / ideal)[0].tolist() == pytest.approx(expected)
    # The ideal goes on for a third query, worth 1 / (1 + log2(3)).
    goes_on = gained_and_ideal(block, parse("nsDCG(query_base=2, ideal_queries=3)@2"), 3)[1][0]
    third = 1 / (1 + math.log2(3))
    assert goes_on.tolist() == pytest.approx([2, 2.5, 3.5, 3.75, 3.75 + 2 * third, 3.75 + 2.5 * third])


def test_padding_changes_what_a_position_is() -> None:
    """Figure 2 pads to the same length; `asis` counts documents only, `min:m` at least m positions."""
    block = hand_made(Qrels.from_dict({"s": {"a": 2, "b": 2}}), {"s": [["a"], [], ["b"]]})
    third = 2 / (1 + math.log2(3))
    vectors = {
        short: gained_and_ideal(block, parse(f"sDCG(query_base=2, short={short})@3"), 3)[0][0].tolist()
        for short in ("pad", "asis", "min:2")
    }
    assert vectors["pad"] == pytest.approx([2] * 6 + [2 + third] * 3)
    assert vectors["asis"] == pytest.approx([2] + [2 + third] * 8)
    assert vectors["min:2"] == pytest.approx([2] * 4 + [2 + third] * 5)


def test_last_queries_against_earlier_ones() -> None:
    """Figure 1: means over sessions, and over all earlier queries pooled; one-query sessions have none."""
    lists = {"s1": [["x"], ["a", "b"], ["b", "a"]], "s2": [["a"]], "s3": [["b", "x"], []]}
    topics = dict.fromkeys(lists, "t")
    given = {"mine": sessions_from_lists(lists, topics)}
    last, earlier, _ = session_curves({"t": {"a": 3, "b": 1}}, given, "sDCG@2", kind="positions").curves
    q2, q3 = 1 + math.log(2, 4), 1 + math.log(3, 4)
    assert (last.count, earlier.count) == (3, 3)
    assert last.values.tolist() == pytest.approx([(1 / q3 + 3 + 0) / 3, ((1 + 3 / 2) / q3 + 3 + 0) / 3])
    assert earlier.values.tolist() == pytest.approx([(0 + 3 / q2 + 1) / 3, (0 + 3.5 / q2 + 1) / 3])


def test_queries_by_their_position() -> None:
    lists = {"s1": [["x"], ["a", "b"], ["b", "a"]], "s2": [["a"]], "s3": [["b", "x"], []]}
    given = {"mine": sessions_from_lists(lists, dict.fromkeys(lists, "t"))}
    found = study_sessions({"t": {"a": 3, "b": 1}}, given, "sDCG@2").queries["mine"].by_position
    q2, q3 = 1 + math.log(2, 4), 1 + math.log(3, 4)
    assert found.counts.tolist() == [3, 2, 1]
    assert found.means.tolist() == pytest.approx([(0 + 3 + 1) / 3, 3.5 / q2 / 2, 2.5 / q3])


def test_without_earlier_queries_there_is_no_vector() -> None:
    given = {"mine": sessions_from_lists({"s": [["a"]]})}
    last, earlier, _ = session_curves({"s": {"a": 1}}, given, "sDCG@2", kind="positions").curves
    assert earlier.count == 0 and np.isnan(earlier.values).all() and last.values.tolist() == [1, 1]
