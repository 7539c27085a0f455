"""The earlier measures by hand: small lists whose values can be worked out on paper, and what parameters must be."""

from __future__ import annotations

import math
import statistics
from typing import Any

import pytest

from gainful import InputError, Measure, Policy, UsageError, evaluate, parse
from gainful.evaluation.notices import notices
from gainful.measures.help import reading


def scored(measure: str, judged: dict[str, float], scores: Any, **policy: str) -> float:
    """The raw score of one list."""
    return float(evaluate({"q": judged}, {"q": scores}, measure, policy=Policy(**policy)).raw[0, 0])


class TestSearchLength:
    def test_mean_rank(self) -> None:
        assert parse("ASL").score([0, 1, 0, 0, 2]) == 3.5

    def test_places_of_what_was_missed(self) -> None:
        """Two of ten documents retrieved: what is missed has the mean of the ranks 3 to 10, or the last ranks."""
        assert parse("ASL(N=10)").score([1, 0], [1, 1]) == (1 + 6.5 + 6.5) / 3
        assert parse("ASL(N=10, unretrieved=bottom)").score([1, 0], [1, 1]) == (1 + 9 + 10) / 3
        assert math.isnan(parse("ASL").score([1, 0], [1, 1]))

    def test_ties(self) -> None:
        """By id c comes before b; on average both have rank 2.5, as has what else is tied with them."""
        judged, scores = {"b": 1.0}, {"a": 3.0, "b": 2.0, "c": 2.0}
        assert scored("ASL", judged, scores) == 3
        assert scored("ASL", judged, scores, ties="docid-asc") == 2
        assert scored("ASL(tied=expected)", judged, scores) == 2.5

    def test_one_document_wanted(self) -> None:
        """A non-relevant document, then a level of two relevant and two others."""
        judged, scores = {"b": 1.0, "e": 1.0}, {"a": 2.0, "b": 1.0, "c": 1.0, "d": 1.0, "e": 1.0}
        assert scored("ESL", judged, scores) == pytest.approx(1 + 2 * 1 / 3)
        assert scored("ESL(n=2)", judged, scores) == pytest.approx(1 + 2 * 2 / 3)
        assert scored("ESL(n=2, count=all)", judged, scores) == pytest.approx(1 + 2 * 2 / 3 + 2)
        assert scored("ESL(tied=policy)", judged, scores) == 1
        assert scored("ESL(tied=policy)", judged, scores, ties="docid-asc") == 1
        assert scored("ESL(n=2, tied=policy)", judged, scores) == 3
        assert math.isnan(scored("ESL(n=3)", judged, scores))

    def test_wanted_in_what_was_not_retrieved(self) -> None:
        """One of two retrieved is not relevant; of the eight others two are relevant."""
        assert parse("ESL(n=2, N=10)").score([0, 1], [1, 1]) == 1 + 6 * 1 / 3
        assert parse("ESL(n=3, N=10)").score([0, 1], [1, 1]) == 1 + 6 * 2 / 3
        assert parse("ESL(n=3, N=10, unretrieved=bottom)").score([0, 1], [1, 1]) == 7
        assert math.isnan(parse("ESL(n=2)").score([0, 1], [1, 1]))
        assert math.isnan(parse("ESL(n=4, N=10)").score([0, 1], [1, 1]))

    def test_half_of_the_gain_at_the_end_of_a_rank(self) -> None:
        assert parse("RankedHalfLife").score([2, 0, 0, 2]) == 1
        assert parse("RankedHalfLife").score([0, 4]) == 1.5
        assert parse("RankedHalfLife").score([0, 1, 3]) == 2 + (2 - 1) / 3

    def test_half_of_the_gain_but_for_rounding(self) -> None:
        """A third three times and then the same again: half of it is had at rank 3, not at rank 5."""
        grades = [1, 1, 1, 0, 0, 1, 1, 1]
        assert parse("RankedHalfLife").score(grades) == 3
        for scale in range(3, 60):
            assert parse("RankedHalfLife(gain=scaled)").score(grades, scale=scale) == pytest.approx(3, abs=1e-9)
        assert parse("RankedHalfLife").score([0.7, 0, 0, *[0.1] * 7]) == pytest.approx(1, abs=1e-9)


class TestNormalised:
    def test_best_and_worst(self) -> None:
        for name in ("NormRecall", "NormPrecision"):
            assert parse(f"{name}(N=6)").score([1, 1, 0]) == 1
            assert parse(f"{name}(N=6, unretrieved=bottom)").score([0, 0], [1, 1]) == 0
            assert parse(name).score([0, 0, 1]) == 0

    def test_a_random_order_has_half_of_the_recall(self) -> None:
        assert parse("NormRecall(N=50)").score([], [1, 1, 1]) == 0.5
        tied = dict.fromkeys("abcdefg", 1.0)
        assert scored("NormRecall(tied=expected)", {"b": 1.0, "f": 2.0}, tied) == 0.5

    def test_logarithms(self) -> None:
        """Ranks 2 and 4 of 5; C(5, 2) = 10."""
        expected = 1 - (math.log(2 * 4) - math.log(2)) / math.log(10)
        assert parse("NormPrecision").score([0, 1, 0, 1, 0]) == pytest.approx(expected)

    def test_mean_logarithm_of_what_was_missed(self) -> None:
        """One retrieved, one missed among the ranks 3 to 5."""
        missed = math.log(3 * 4 * 5) / 3
        expected = 1 - (math.log(1) + missed - math.log(2)) / math.log(10)
        assert parse("NormPrecision(N=5)").score([1, 0], [1]) == pytest.approx(expected)

    @pytest.mark.parametrize("name", ["NormRecall", "NormPrecision"])
    def test_everything_relevant(self, name: str) -> None:
        assert math.isnan(parse(name).score([1, 1]))
        assert math.isnan(parse(f"{name}(N=3)").score([1, 1], [1]))
        assert not math.isnan(parse(f"{name}(N=4)").score([1, 1], [1]))

    def test_large_collections(self) -> None:
        """ln C(10^9, 2) loses eight digits where it is made of factorials."""
        size = 10**9
        expected = 1 - (math.log(1 * 5) - math.log(2)) / math.log(size * (size - 1) / 2)
        assert parse(f"NormPrecision(N={size})").score([1, 0, 0, 0, 1]) == pytest.approx(expected, rel=1e-13)


class TestListOrder:
    LIST = [3, 2, 3, 0, 0, 1, 2, 2, 3, 0]
    RATIOS = [3 / 3, 5 / 6, 8 / 9, 8 / 11, 8 / 13, 9 / 15, 11 / 16, 13 / 16, 1, 1]

    def test_every_rank(self) -> None:
        """In its best order the list gains 3 3 3 2 2 2 1 0 0 0."""
        values = [parse(f"SlidingRatio@{k}").score(self.LIST, [3, 3]) for k in range(1, 11)]
        assert values == pytest.approx(self.RATIOS)

    def test_average_over_ranks(self) -> None:
        for k in (1, 4, 10):
            value = parse(f"SlidingRatio(average=ranks)@{k}").score(self.LIST)
            assert value == pytest.approx(sum(self.RATIOS[:k]) / k)
        assert parse("SlidingRatio(average=ranks)@20").score(self.LIST) == pytest.approx((sum(self.RATIOS) + 10) / 20)

    def test_a_longer_list_changes_the_first_rank(self) -> None:
        """jarvelin2002, section 2.4: it affects all ratios from rank one onwards."""
        assert parse("SlidingRatio@1").score([1, 0]) == 1
        assert parse("SlidingRatio@1").score([1, 0, 0, 0, 2]) == 0.5

    def test_gain_of_what_is_not_relevant(self) -> None:
        """Only the sliding ratio counts it."""
        assert parse("SlidingRatio(gain={0:1,1:2})@1").score([0, 1]) == 0.5
        assert parse("Satisfaction(gain={0:1,1:2})@1").score([0, 1]) == 0
        assert parse("Satisfaction(gain={0:1,1:2}, rel=0)@1").score([0, 1]) == 0.5

    def test_frustration_at_every_rank(self) -> None:
        """Not relevant are ranks 4, 5 and 10; in the worst order the first three."""
        values = [parse(f"Frustration@{k}").score(self.LIST) for k in range(1, 11)]
        assert values == [0, 0, 0, 1 / 3, 2 / 3, 2 / 3, 2 / 3, 2 / 3, 2 / 3, 1]
        average = parse("Frustration(average=ranks)@12").score(self.LIST)
        assert average == pytest.approx((sum(values) + 2) / 12)

    def test_unjudged_documents_frustrate(self) -> None:
        assert parse("Frustration@2").score([None, 1, 0]) == 0.5
        assert parse("Frustration(unjudged=condensed)@2").score([None, 1, 0]) == 1

    def test_total(self) -> None:
        assert parse("SFTotal@5").score(self.LIST) == pytest.approx((8 / 13 + 1 / 3) / 2)
        assert parse("SFTotal(w=0.9)@5").score(self.LIST) == pytest.approx(0.9 * 8 / 13 + 0.1 / 3)
        assert parse("SFTotal(w=1)@5").score([1, 1]) == 1
        assert parse("SFTotal(w=0)@1").score([0, None, 0]) == 0

    @pytest.mark.parametrize("name", ["SlidingRatio", "Satisfaction", "Frustration", "SFTotal"])
    def test_they_need_a_rank(self, name: str) -> None:
        with pytest.raises(UsageError, match=rf"{name}: expected a cutoff, found none\nhint: write {name}@10"):
            parse(name)


class TestPairs:
    def test_order_of_the_grades_and_its_reverse(self) -> None:
        assert parse("NDPM").score([3, 2, None, 1, 0, -1]) == 0
        assert parse("NDPM").score([-1, 0, None, 1, 2, 3]) == 1

    def test_what_is_not_told_apart(self) -> None:
        """Of grades 2, 1, 0 the first two have the same score; then all have, then none is retrieved."""
        judged = {"a": 2.0, "b": 1.0, "c": 0.0}
        assert scored("NDPM", judged, {"a": 1.0, "b": 1.0, "c": 0.0}) == 1 / (2 * 3)
        assert scored("NDPM", judged, {"a": 1.0, "b": 1.0, "c": 1.0}) == 0.5
        assert scored("NDPM", judged, {"x": 1.0}) == 0.5

    def test_what_was_not_retrieved_comes_last(self) -> None:
        """Grade 0 retrieved; 2 and 1 not: two pairs reversed, one not told apart."""
        assert parse("NDPM").score([0], [2, 1]) == (2 * 2 + 1) / (2 * 3)

    def test_equal_grades_are_no_pair(self) -> None:
        assert math.isnan(parse("NDPM").score([1, 1], [1]))
        assert parse("NDPM").score([1, 1, 2]) == 1

    def test_orders_that_no_score_made_tie_nothing(self) -> None:
        judged, scores = {"a": 2.0, "b": 1.0}, {"a": 1.0, "b": 1.0}
        assert scored("NDPM", judged, scores, order="input") == 0
        assert scored("NDPM", judged, ["b", "a"]) == 1


class TestScores:
    def test_cosine_and_jaccard(self) -> None:
        """Scores 3, 1, 2 and gains 1, 0, 2: s u = 7, s s = 14, u u = 5."""
        judged, scores = {"a": 1.0, "b": -1.0, "c": 2.0, "missed": 3.0}, {"a": 3.0, "b": 1.0, "c": 2.0}
        assert scored("RelativeRelevance", judged, scores) == pytest.approx(7 / math.sqrt(14 * 5))
        assert scored("RelativeRelevance(coef=jaccard)", judged, scores) == pytest.approx(7 / (14 + 5 - 7))

    def test_unjudged_documents(self) -> None:
        judged, scores = {"a": 1.0}, {"a": 3.0, "x": 4.0}
        assert scored("RelativeRelevance", judged, scores) == pytest.approx(3 / 5)
        assert scored("RelativeRelevance(unjudged=condensed)", judged, scores) == 1

    def test_scores_below_0(self) -> None:
        assert scored("RelativeRelevance", {"a": 1.0}, {"a": -3.0}) == -1

    @pytest.mark.parametrize("factor", [1e-200, 1e-5, 1.0, 1e160, 1e300])
    def test_scores_of_any_size(self, factor: float) -> None:
        """Cosine and E are the same for any unit of the scores; no square is lost."""
        judged, scores = {"a": 1.0, "b": 0.0, "c": 2.0, "d": 0.0}, {"a": 3.0, "b": 1.0, "c": 2.0, "d": 0.5}
        large = {name: score * factor for name, score in scores.items()}
        for measure in ("RelativeRelevance", "SwetsE"):
            assert scored(measure, judged, large) == pytest.approx(scored(measure, judged, scores), rel=1e-12)
        su, ss, uu = 7.0, 14.25, 5.0
        expected = su / (ss * factor + uu / factor - su) if factor <= 1e160 else 0.0
        assert scored("RelativeRelevance(coef=jaccard)", judged, large) == pytest.approx(expected, rel=1e-12)

    def test_distance_of_scores(self) -> None:
        judged = {"a": 2.0, "b": 1.0, "c": 1.0, "d": 0.0, "e": 0.0, "x": -1.0}
        scores = {"a": 4.0, "b": 9.0, "c": 2.0, "d": 1.0, "e": 3.0, "x": 0.0, "unjudged": 99.0}
        ours, theirs = [4.0, 9.0, 2.0], [1.0, 3.0, 0.0]
        spread = (statistics.pstdev(ours) + statistics.pstdev(theirs)) / 2
        assert scored("SwetsE", judged, scores) == pytest.approx((5 - 4 / 3) / spread)
        assert scored("SwetsE(level=1)", judged, scores) == pytest.approx(
            (5.5 - 2) / ((statistics.pstdev([9, 2]) + statistics.pstdev([4, 1, 3, 0])) / 2)
        )

    def test_scores_that_do_not_deviate(self) -> None:
        """The mean of three times 0.1 is not 0.1 in a computer; that is no deviation."""
        judged = {"a": 1.0, "b": 1.0, "c": 1.0, "d": 0.0, "e": 0.0, "f": 0.0}
        equal = {**dict.fromkeys("abc", 0.1), **dict.fromkeys("def", 0.7)}
        assert math.isnan(scored("SwetsE", judged, equal))
        assert scored("SwetsE", judged, {**equal, "f": 0.1}) < 0

    @pytest.mark.parametrize("measure", ["RelativeRelevance", "SwetsE"])
    def test_runs_without_scores(self, measure: str) -> None:
        with pytest.raises(InputError, match="expected scores, found a run without them"):
            evaluate({"q": {"a": 1}}, {"q": ["a"]}, measure)

    @pytest.mark.parametrize("measure", ["RelativeRelevance", "SwetsE"])
    def test_squares_that_are_no_numbers(self, measure: str) -> None:
        judged, run = {"q": {"a": 1, "b": 0, "c": 1}}, {"q": {"a": 3e200, "b": 1e200, "c": 1e200}}
        explanation = evaluate(judged, run, measure).explain(measure, "q")
        assert explanation.value == pytest.approx(scored(measure, {"a": 1, "b": 0, "c": 1}, {"a": 3, "b": 1, "c": 1}))


class TestSets:
    def test_e_is_what_f_leaves(self) -> None:
        grades, missed = [2, 0, 1, None, 1, 0], [1, 1]
        for alpha, beta in ((0.5, 1), (0.2, 2), (0.8, 0.5)):
            for ours, theirs in (("VanRijsbergenE", "SetF"), ("VanRijsbergenE@3", "F@3")):
                e = parse(ours).replace(alpha=alpha).score(grades, missed)
                assert e == pytest.approx(1 - parse(theirs).replace(beta=beta).score(grades, missed))

    def test_e_of_precision_or_recall_alone(self) -> None:
        assert parse("VanRijsbergenE(alpha=1)").score([1, 0, 0, 0], [1]) == 0.75
        assert parse("VanRijsbergenE(alpha=0)").score([1, 0, 0, 0], [1]) == 0.5

    def test_e_of_nothing(self) -> None:
        assert parse("VanRijsbergenE").score([0], [1]) == parse("VanRijsbergenE").score([], [1]) == 1
        assert math.isnan(parse("VanRijsbergenE").score([0]))

    def test_fallout(self) -> None:
        measure = parse("Fallout(N=20)")
        assert measure.score([1, None, 0, 2, 0], [1, 1]) == 3 / 16
        assert (measure @ 2).score([1, None, 0, 2, 0], [1, 1]) == 1 / 16
        assert (measure @ 50).score([1, None, 0, 2, 0], [1, 1]) == 3 / 16
        assert math.isnan(parse("Fallout").score([1, 0]))
        assert math.isnan(parse("Fallout(N=2)").score([1, 1]))

    def test_generality(self) -> None:
        assert parse("Generality(N=20)").score([1, None, 0, 2, 0], [1, 1]) == 0.2
        assert parse("Generality(N=20, rel=2)").score([1, None, 0, 2, 0], [1, 1]) == 0.05
        assert math.isnan(parse("Generality").score([1]))


class TestCollectionSize:
    @pytest.mark.parametrize("name", ["ASL", "ESL", "NormRecall", "NormPrecision", "Fallout", "Generality"])
    def test_must_hold_what_is_known(self, name: str) -> None:
        """Two retrieved, of which one is judged, and two judged that were not: four documents."""
        assert not math.isnan(parse(f"{name}(N=4)").score([1, None], [1, 0]))
        with pytest.raises(InputError) as raised:
            parse(f"{name}(N=3)").score([1, None], [1, 0])
        assert str(raised.value) == (
            f"{name}(N=3): expected N to be at least 4, because query 'query' has 4 documents in its list and its "
            "judgments, found 3\nhint: N is the number of documents in the collection"
        )

    @pytest.mark.parametrize("size", ["0", "2.5", "-3", "many"])
    def test_is_a_whole_number(self, size: str) -> None:
        with pytest.raises(UsageError, match=r"\AASL: N: expected a"):
            parse(f"ASL(N={size})")


class TestPolicy:
    """SPEC 1: the worst value is the upper bound where lower is better; where there is none, the query is left out."""

    QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "b": 0}, "q3": {"a": 0}}
    RUN = {"q1": {"a": 2.0, "b": 1.0}, "q3": {"a": 1.0}}

    def test_there_is_a_worst_value(self) -> None:
        names = ["NDPM", "VanRijsbergenE", "Frustration@1", "Fallout(N=2)"]
        result = evaluate(self.QRELS, self.RUN, names)
        # The frustration by q3 is no worse than it can be, and of two documents one is retrieved in vain.
        expected = {
            "NDPM": [0, 1, 1],
            "VanRijsbergenE": [pytest.approx(1 / 3), 1, 1],
            "Frustration@1": [0, 1, 1],
            "Fallout(N=2)": [1, 1, 0.5],
        }
        assert {name: list(result.by_query(name).values()) for name in names} == expected

    def test_there_is_none(self) -> None:
        for name in ("ASL", "ESL", "RankedHalfLife"):
            result = evaluate(self.QRELS, self.RUN, name)
            assert [score.status for score in result.scores(name)] == [None, "missing", "undefined"]
            values = list(result.by_query(name).values())
            assert values[0] is not None and values[1:] == [None, None]
            assert (result.mean(name), result.count(name)) == (values[0], 1)

    def test_generality_is_neither_good_nor_bad(self) -> None:
        result = evaluate(self.QRELS, self.RUN, "Generality(N=2)")
        assert list(result.by_query("Generality(N=2)").values()) == [0.5, 0.5, 0]

    def test_notices_say_what_becomes_of_queries(self) -> None:
        def said(*measures: str) -> list[str]:
            return [
                line for line in notices([evaluate(self.QRELS, self.RUN, measures, name="r")]) if "top 10" not in line
            ]

        assert said("ASL", "ESL", "AP", "NDPM") == [
            "r: 1 judged query not answered, given the worst score, by ASL, ESL left out (missing=zero): q2",
            "r: 1 query with ASL, ESL undefined, left out, because no value is the worst (undefined=zero): q3",
            "r: 1 query with AP, NDPM undefined, given the worst score (undefined=zero): q3",
        ]
        assert said("ASL")[0] == (
            "r: 1 judged query not answered, left out, because no value is the worst (missing=zero): q2"
        )


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
        ("NDPM@5", "NDPM: takes no @, found @5"),
        ("ASL(rel=1, level=1)", "ASL: expected rel or level, found both"),
    ],
)
def test_parameters(text: str, message: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse(text)
    assert raised.value.message == message


@pytest.mark.parametrize(
    ("measure", "said"),
    [
        (parse("SwetsE"), "Higher is better; values of any size; a table shows the mean over queries."),
        (parse("ASL"), "Lower is better; values 1 or more; a table shows the mean over queries."),
        (parse("NDPM"), "Lower is better; values from 0 to 1; a table shows the mean over queries."),
        (parse("RelativeRelevance"), "Higher is better; values from -1 to 1; a table shows the mean over queries."),
    ],
)
def test_how_values_are_read(measure: Measure, said: str) -> None:
    assert reading(measure) == said


@pytest.mark.parametrize(
    ("name", "words"),
    [("RR", "RR is not relative relevance"), ("RelativeRelevance", "here RR is reciprocal rank")],
)
def test_two_measures_that_papers_call_rr(name: str, words: str) -> None:
    assert words in type(parse(name)).help_text()


def test_ndpm_of_pairs() -> None:
    # Grades 1, 0, 2, 2 in this order, all scores different: each 2 is after 1 and 0, so that 4 of 5 pairs contradict.
    qrels, run = {"q": {"a": 1, "b": 0, "c": 2, "d": 2}}, {"q": {"a": 9.0, "b": 8.0, "c": 7.0, "d": 6.0}}
    assert evaluate(qrels, run, "NDPM").mean("NDPM") == 8 / (2 * 5)
