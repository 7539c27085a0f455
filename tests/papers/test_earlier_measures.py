"""What the papers say of the earlier measures, on the list of their worked example.

jarvelin2002: Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques, TOIS 20(4), 2002, section 2.4.
They print no numbers for them: the numbers here follow from the definitions and the sample gain vector of section 2.1.
dellamea2004: Della Mea and Mizzaro, Measuring retrieval effectiveness: a new proposal and a first experimental
validation, JASIST 55(6), 2004.
"""

from __future__ import annotations

import pytest

from gainful import evaluate, parse

# jarvelin2002, section 2.1: the sample gain vector G'; three more documents of grade 1 are in its ideal vector.
GAINS = [3, 2, 3, 0, 0, 1, 2, 2, 3, 0]
MISSED = [1, 1, 1]


def test_sliding_ratio() -> None:
    """jarvelin2002 section 2.4: the cumulated gain normalised "by the ideal cumulated gain for the same retrieval
    result": CG'[5] = 8, and 3 + 3 + 3 + 2 + 2 = 13 in ideal order."""
    assert parse("SlidingRatio@5").score(GAINS, MISSED) == 8 / 13


def test_sliding_ratio_depends_on_the_size_of_the_list() -> None:
    """jarvelin2002 section 2.4: "with a longer list the ideal cumulated gain may change essentially and this affects
    all normalized SR ratios from rank one onwards"; nCG's first ranks are "not affected at all"."""
    longer, judged = [1, 0, 0, 3], [3]
    assert parse("SlidingRatio@1").score(longer[:3], judged) == 1
    assert parse("SlidingRatio@1").score(longer, []) == 1 / 3
    assert parse("nCG@1").score(longer[:3], judged) == parse("nCG@1").score(longer, []) == 1 / 3


def test_ranked_half_life() -> None:
    """jarvelin2002 section 2.4: "the median point of accumulated relevance": of 16 the list has 8 after rank 3."""
    assert parse("RankedHalfLife").score(GAINS, MISSED) == 3.0


def test_half_life_may_be_the_same_for_quite_different_lists() -> None:
    """jarvelin2002 section 2.4: "the RHL may also be the same for quite differently performing queries"."""
    assert parse("RankedHalfLife").score([1, 0]) == parse("RankedHalfLife").score([3, 0]) == 0.5


def test_average_search_length() -> None:
    """jarvelin2002 section 2.4: the "average position of a relevant document": ranks 1 2 3 6 7 8 9."""
    assert parse("ASL").score(GAINS) == (1 + 2 + 3 + 6 + 7 + 8 + 9) / 7


def test_average_search_length_is_dependent_on_outliers() -> None:
    """jarvelin2002 section 2.4: "heavily dependent on outliers (relevant documents found late)"."""
    late = [1, 1, *[0] * 97, 1]
    assert parse("ASL").score(late) == (1 + 2 + 100) / 3
    assert parse("ASL").score([*late[:99], 0]) == 1.5


def test_expected_search_length() -> None:
    """jarvelin2002 section 2.4: the "number of documents that must be examined to retrieve a given number of relevant
    documents"; Cooper counts those in vain. The fourth relevant document stands at rank 6, after two others."""
    assert parse("ESL(n=4, count=all)").score(GAINS, MISSED) == 6
    assert parse("ESL(n=4)").score(GAINS, MISSED) == 2


def test_both_search_lengths_and_normalised_recall_are_dichotomous() -> None:
    """jarvelin2002 section 2.4: they "do not take the degree of document relevance into account"."""
    flat = [min(grade, 1) for grade in GAINS]
    for measure in ("ASL(N=20)", "ESL(n=5)", "NormRecall(N=20)", "NormPrecision(N=20)"):
        assert parse(measure).score(GAINS, MISSED) == parse(measure).score(flat, MISSED)


def test_normalised_recall() -> None:
    """jarvelin2002 section 2.4: the "area between the ideal and the actual curves". The list lies below the ideal one
    at ranks 4 to 8, by 1, 2, 2, 2 and 1 documents; between the ideal and the worst there are 7 * (20 - 7)."""
    relevant = [grade > 0 for grade in GAINS] + [False] * 10
    below = sum(min(rank, 7) - sum(relevant[:rank]) for rank in range(1, 21))
    assert below == 8
    assert parse("NormRecall(N=20)").score(GAINS) == pytest.approx(1 - 8 / (7 * 13))


def test_satisfaction_frustration_total() -> None:
    """jarvelin2002 section 2.4: satisfaction "only considers the retrieved relevant documents", frustration "only the
    irrelevant documents", and the total is "a weighted combination of the two"."""
    assert parse("Satisfaction@5").score(GAINS, MISSED) == 8 / 13
    assert parse("Frustration@5").score(GAINS, MISSED) == 2 / 3
    assert parse("SFTotal@5").score(GAINS, MISSED) == pytest.approx(0.5 * 8 / 13 + 0.5 * (1 - 2 / 3))


def test_relative_relevance_does_not_look_at_the_order() -> None:
    """jarvelin2002 section 2.4: the cosine of two vectors of relevance weights; "the ranked order of documents is not
    taken into account": scores in proportion to the grades match them wherever the documents stand."""
    qrels = {"q": {"a": 1, "b": 3, "c": 2}}
    measure = "RelativeRelevance"
    assert evaluate(qrels, {"q": {"a": 0.2, "b": 0.6, "c": 0.4}}, measure).mean(measure) == pytest.approx(1)
    by_input = evaluate(qrels, {"q": {"c": 4.0, "a": 2.0, "b": 6.0}}, measure)
    assert by_input.mean(measure) == pytest.approx(1)


def test_fallout_and_generality() -> None:
    """dellamea2004, the four sectors of the plane of figure 2 (alpha retrieved only, beta both, gamma neither, delta
    relevant only): fallout is alpha / (alpha + gamma), generality (beta + delta) / all."""
    alpha, beta, gamma, delta = 3, 7, 87, 3
    size = alpha + beta + gamma + delta
    assert parse(f"Fallout(N={size})").score(GAINS, MISSED) == alpha / (alpha + gamma)
    assert parse(f"Generality(N={size})").score(GAINS, MISSED) == (beta + delta) / size
