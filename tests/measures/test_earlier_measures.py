"""Properties of the earlier measures; test_naive.py and the peers compare their values."""

from __future__ import annotations

import math
from typing import Any

import pytest

from gainful import InputError, Measure, Policy, UsageError, evaluate, parse
from gainful.evaluation.notices import notices
from gainful.measures.help import reading


def scored(measure: str, judged: dict[str, float], scores: Any, **policy: str) -> float:
    """The raw score of one list."""
    return float(evaluate({"q": judged}, {"q": scores}, measure, policy=Policy(**policy)).raw[0, 0])


class TestSearchLength:
    def test_half_of_the_gain_despite_rounding(self) -> None:
        """A third three times and then the same again: half is reached at rank 3, not at rank 5."""
        grades = [1, 1, 1, 0, 0, 1, 1, 1]
        assert parse("RankedHalfLife").score(grades) == 3
        for scale in range(3, 60):
            assert parse("RankedHalfLife(gain=scaled)").score(grades, scale=scale) == pytest.approx(3, abs=1e-9)
        assert parse("RankedHalfLife").score([0.7, 0, 0, *[0.1] * 7]) == pytest.approx(1, abs=1e-9)


class TestNormalised:
    @pytest.mark.parametrize("name", ["NormRecall", "NormPrecision"])
    def test_everything_relevant(self, name: str) -> None:
        assert math.isnan(parse(name).score([1, 1]))
        assert math.isnan(parse(f"{name}(N=3)").score([1, 1], [1]))
        assert not math.isnan(parse(f"{name}(N=4)").score([1, 1], [1]))

    def test_large_collections(self) -> None:
        """ln C(10^9, 2) loses eight digits if computed from factorials."""
        size = 10**9
        expected = 1 - (math.log(1 * 5) - math.log(2)) / math.log(size * (size - 1) / 2)
        assert parse(f"NormPrecision(N={size})").score([1, 0, 0, 0, 1]) == pytest.approx(expected, rel=1e-13)


class TestListOrder:
    @pytest.mark.parametrize("name", ["SlidingRatio", "Satisfaction", "Frustration", "SFTotal"])
    def test_they_require_a_cutoff(self, name: str) -> None:
        with pytest.raises(UsageError, match=rf"{name}: a cutoff is required\nhint: write {name}@10"):
            parse(name)


class TestScores:
    @pytest.mark.parametrize("factor", [1e-200, 1e-5, 1.0, 1e160, 1e300])
    def test_scores_of_any_size(self, factor: float) -> None:
        """Cosine and E are independent of the unit of scores; no square under- or overflows."""
        judged, scores = {"a": 1.0, "b": 0.0, "c": 2.0, "d": 0.0}, {"a": 3.0, "b": 1.0, "c": 2.0, "d": 0.5}
        large = {name: score * factor for name, score in scores.items()}
        for measure in ("RelativeRelevance", "SwetsE"):
            assert scored(measure, judged, large) == pytest.approx(scored(measure, judged, scores), rel=1e-12)
        su, ss, uu = 7.0, 14.25, 5.0
        expected = su / (ss * factor + uu / factor - su) if factor <= 1e160 else 0.0
        assert scored("RelativeRelevance(coef=jaccard)", judged, large) == pytest.approx(expected, rel=1e-12)

    def test_equal_scores_have_no_deviation(self) -> None:
        """The mean of three times 0.1 is not exactly 0.1 in binary; this is not a deviation."""
        judged = {"a": 1.0, "b": 1.0, "c": 1.0, "d": 0.0, "e": 0.0, "f": 0.0}
        equal = {**dict.fromkeys("abc", 0.1), **dict.fromkeys("def", 0.7)}
        assert math.isnan(scored("SwetsE", judged, equal))
        assert scored("SwetsE", judged, {**equal, "f": 0.1}) < 0

    @pytest.mark.parametrize("measure", ["RelativeRelevance", "SwetsE"])
    def test_runs_without_scores(self, measure: str) -> None:
        with pytest.raises(InputError, match="the run has no scores"):
            evaluate({"q": {"a": 1}}, {"q": ["a"]}, measure)

    @pytest.mark.parametrize("measure", ["RelativeRelevance", "SwetsE"])
    def test_squares_that_overflow(self, measure: str) -> None:
        judged, run = {"q": {"a": 1, "b": 0, "c": 1}}, {"q": {"a": 3e200, "b": 1e200, "c": 1e200}}
        explanation = evaluate(judged, run, measure).explain(measure, "q")
        assert explanation.value == pytest.approx(scored(measure, {"a": 1, "b": 0, "c": 1}, {"a": 3, "b": 1, "c": 1}))


class TestCollectionSize:
    @pytest.mark.parametrize("name", ["ASL", "ESL", "NormRecall", "NormPrecision", "Fallout", "Generality"])
    def test_must_hold_the_known_documents(self, name: str) -> None:
        """Two documents retrieved, one of them judged, and two other judged ones: four documents."""
        assert not math.isnan(parse(f"{name}(N=4)").score([1, None], [1, 0]))
        with pytest.raises(InputError) as raised:
            parse(f"{name}(N=3)").score([1, None], [1, 0])
        assert str(raised.value) == (
            f"{name}(N=3): N is 3, but query 'query' has 4 documents in its list and judgments\n"
            "hint: N is the number of documents in the collection"
        )

    @pytest.mark.parametrize("size", ["0", "2.5", "-3", "many"])
    def test_is_a_whole_number(self, size: str) -> None:
        with pytest.raises(UsageError, match=r"\AASL: N: expected a"):
            parse(f"ASL(N={size})")


class TestPolicy:
    """SPEC 1: the worst value is the upper bound if lower is better; without one, the query is excluded."""

    QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "b": 0}, "q3": {"a": 0}}
    RUN = {"q1": {"a": 2.0, "b": 1.0}, "q3": {"a": 1.0}}

    def test_worst_value(self) -> None:
        names = ["NDPM", "VanRijsbergenE", "Frustration@1", "Fallout(N=2)"]
        result = evaluate(self.QRELS, self.RUN, names)
        # q3 has the worst frustration, and one of two documents is retrieved in vain.
        expected = {
            "NDPM": [0, 1, 1],
            "VanRijsbergenE": [pytest.approx(1 / 3), 1, 1],
            "Frustration@1": [0, 1, 1],
            "Fallout(N=2)": [1, 1, 0.5],
        }
        assert {name: list(result.by_query(name).values()) for name in names} == expected

    def test_no_worst_value(self) -> None:
        for name in ("ASL", "ESL", "RankedHalfLife"):
            result = evaluate(self.QRELS, self.RUN, name)
            assert [score.status for score in result.scores(name)] == [None, "missing", "undefined"]
            values = list(result.by_query(name).values())
            assert values[0] is not None and values[1:] == [None, None]
            assert (result.mean(name), result.count(name)) == (values[0], 1)

    def test_generality_is_neither_good_nor_bad(self) -> None:
        result = evaluate(self.QRELS, self.RUN, "Generality(N=2)")
        assert list(result.by_query("Generality(N=2)").values()) == [0.5, 0.5, 0]

    def test_notices_on_excluded_queries(self) -> None:
        def said(*measures: str) -> list[str]:
            return [
                line for line in notices([evaluate(self.QRELS, self.RUN, measures, name="r")]) if "top 10" not in line
            ]

        assert said("ASL", "ESL", "AP", "NDPM") == [
            "r: 1 judged query not answered, given the worst score, left out by ASL, ESL (missing=zero): q2",
            "r: 1 query with ASL, ESL undefined, left out, because the measure has no worst value (undefined=zero): q3",
            "r: 1 query with AP, NDPM undefined, given the worst score (undefined=zero): q3",
        ]
        assert said("ASL")[0] == (
            "r: 1 judged query not answered, left out, because the measure has no worst value (missing=zero): q2"
        )
        assert said("Leak", "AP")[:2] == [  # nothing is shown, and nothing is forbidden
            "r: 1 judged query not answered, given the worst score, 0 by Leak (missing=zero): q2",
            "r: 2 queries with Leak undefined, counted as 0 (undefined=zero): q1, q3",
        ]
        assert said("Leak")[0] == "r: 1 judged query not answered, counted as 0 (missing=zero): q2"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ASL(unretrieved=middle)", "ASL: unretrieved: expected expected | bottom, found 'middle'"),
        ("ESL(tied=both)", "ESL: tied: expected policy | expected, found 'both'"),
        ("ESL(count=some)", "ESL: count: expected nonrelevant | all, found 'some'"),
        ("ESL(n=0)", "ESL: n: expected a whole number from 1 to 2^53, found 0"),
        ("RelativeRelevance(coef=dice)", "RelativeRelevance: coef: expected cosine | jaccard, found 'dice'"),
        ("VanRijsbergenE(alpha=1.5)", "VanRijsbergenE: alpha: expected a number from 0 to 1, found 1.5"),
        ("SFTotal(w=-1)@5", "SFTotal: w: expected a number from 0 to 1, found -1"),
        ("NDPM@5", "NDPM takes no @ (@5)"),
        ("ASL(rel=1, level=1)", "ASL: rel and level cannot be combined"),
    ],
)
def test_parameters(text: str, message: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse(text)
    assert raised.value.message == message


@pytest.mark.parametrize(
    ("measure", "said"),
    [
        (parse("SwetsE"), "Higher is better; values of any size; averaged over queries."),
        (parse("ASL"), "Lower is better; values 1 or more; averaged over queries."),
        (parse("NDPM"), "Lower is better; values from 0 to 1; averaged over queries."),
        (parse("RelativeRelevance"), "Higher is better; values from -1 to 1; averaged over queries."),
    ],
)
def test_how_values_are_read(measure: Measure, said: str) -> None:
    assert reading(measure) == said


@pytest.mark.parametrize(
    ("name", "words"),
    [("RR", "abbreviate relative relevance as RR"), ("RelativeRelevance", "RR, which here is reciprocal rank")],
)
def test_help_distinguishes_the_two_measures_called_rr(name: str, words: str) -> None:
    assert words in type(parse(name)).help_text()
