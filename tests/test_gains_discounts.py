"""Gain maps and discounts: values, texts and errors."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

from gainful import Gain, InputError, UsageError, evaluate, parse
from gainful.discounts import DISCOUNTS, divisors, read_base
from gainful.gains import NAMED_GAINS
from tests.together import together

RANKS = np.arange(1.0, 11.0)


def gains(gain: object, grades: list[float], scale: float = 3) -> list[float]:
    return [float(value) for value in Gain.of(gain).of_grades(np.array(grades, np.float64), scale)]


class TestGains:
    @together(
        ("gain", "expected"),
        [
            ("linear", [0, 0, 0.5, 1, 2, 3]),
            ("exp2", [0, 0, math.sqrt(2) - 1, 1, 3, 7]),
            ("binary", [0, 0, 1, 1, 1, 1]),
            ("scaled", [0, 0, 0.5 / 3, 1 / 3, 2 / 3, 1]),
            ("0..2", [0, 0, 0.25, 0.5, 1, 1]),
            ("0.5..2.5", [0, 0, 0, 0.25, 0.75, 1]),
        ],
    )
    def test_named_maps(self, gain: str, expected: list[float]) -> None:
        assert gains(gain, [-2, 0, 0.5, 1, 2, 3]) == pytest.approx(expected, abs=1e-15)

    @together(
        ("gain", "expected"),
        [
            ("0-1-10-100", [0, 0, 1, 10, 100]),
            ("0-0-0-1", [0, 0, 0, 0, 1]),
            ("0-5-2.5-.5", [0, 0, 5, 2.5, 0.5]),
            ("1-1-1-1", [0, 1, 1, 1, 1]),  # a negative grade gains nothing even where grade 0 does
            ({0: 0, 1: 2, 2: 4, 3: 8}, [0, 0, 2, 4, 8]),
            ("{0:0.5, 1:2, 2:4, 3:8}", [0, 0.5, 2, 4, 8]),
        ],
    )
    def test_weights(self, gain: object, expected: list[float]) -> None:
        assert gains(gain, [-1, 0, 1, 2, 3]) == expected

    def test_ends_in_the_wrong_order(self) -> None:
        with pytest.raises(UsageError, match=r"gain: expected a lower grade before \.\. than after it, found 2\.\.2"):
            Gain.of("2..2")

    def test_a_map_of_real_grades(self) -> None:
        assert gains({1: 10, 0.3: 1, 0: 0}, [0.3, 1, 0, 0.3]) == [1, 10, 0, 1]

    def test_scaled_takes_the_given_scale(self) -> None:
        assert gains("scaled", [1, 2], scale=4) == [0.25, 0.5]
        assert parse("CG(gain=scaled)").score([1, 2], scale=4) == 0.75

    def test_scaled_without_a_positive_scale_gains_nothing(self) -> None:
        assert gains("scaled", [0, -1], scale=0) == [0, 0]

    def test_grades_are_never_truncated(self) -> None:
        assert parse("CG").score([0.1, 1.7, 2.2]) == pytest.approx(4.0, abs=1e-15)

    def test_small_grades_have_a_gain(self) -> None:
        """2^g - 1 is about g ln 2 for small g, and never 0 for g > 0."""
        assert gains("exp2", [1e-17]) == pytest.approx([1e-17 * math.log(2)], rel=1e-6)

    @together(
        ("given", "text"),
        [
            ("linear", "linear"),
            (" exp2 ", "exp2"),
            ("0-1-10-100", "0-1-10-100"),
            ("0-1.50-.5", "0-1.5-0.5"),
            ("0-0.0000001", "0-0.0000001"),
            ({1: 10, 0: 0}, "{0:0,1:10}"),
            ("{1:1e-7,0.50:2}", "{0.5:2,1:1e-07}"),
        ],
    )
    def test_texts_are_canonical_and_read_back(self, given: object, text: str) -> None:
        gain = Gain.of(given)
        assert str(gain) == text
        assert Gain.of(text) == gain
        assert hash(Gain.of(text)) == hash(gain)
        assert pickle.loads(pickle.dumps(gain)) == gain

    def test_a_gain_is_itself(self) -> None:
        gain = Gain.of("exp2")
        assert Gain.of(gain) is gain

    @together("bad", ["exp3", "", "0-", "-1", "1", "0--1", "0-x", 3, None, "0-1e3", ["linear"]])
    def test_what_is_no_gain(self, bad: object) -> None:
        with pytest.raises(UsageError) as caught:
            Gain.of(bad)
        found = bad if isinstance(bad, str) else repr(bad)
        assert caught.value.message == (
            f"gain: expected {' | '.join(NAMED_GAINS)}, weights by level like 0-1-10-100, or a map like "
            f"{{0:0,0.3:1,1:10}}, found {found}"
        )

    @together(
        ("bad", "message"),
        [
            ({}, "gain: the map of grades to gains is empty"),
            ("{}", "gain: the map of grades to gains is empty"),
            ("{1}", "gain: expected grade:gain pairs in the map, found '1'"),
            ("{a:1}", "gain: grade: expected a number, found 'a'"),
            ("{1:b}", "gain: weight: expected a number, found 'b'"),
            ("{1:1e999}", "gain: weight: expected a finite number, found '1e999'"),
            ({1: float("inf")}, "gain: weight: expected a finite number, found inf"),
            ({1: -2}, "gain: expected numbers of 0 or more in the map, found -2"),
            ({-1: 2}, "gain: expected numbers of 0 or more in the map, found -1"),
            ("{1:1,1.0:2}", "gain: duplicate grade in the map"),
        ],
    )
    def test_bad_maps(self, bad: object, message: str) -> None:
        with pytest.raises(UsageError) as caught:
            Gain.of(bad)
        assert str(caught.value) == message

    def test_weights_that_overflow_are_refused(self) -> None:
        """Overflow is an error in every number that is read."""
        with pytest.raises(UsageError):
            Gain.of("0-" + "9" * 400)

    def test_a_grade_without_a_weight(self) -> None:
        with pytest.raises(InputError) as caught:
            evaluate({"q": {"a": 1, "b": 4, "c": 2.5, "d": -7}}, {"q": ["a"]}, "nDCG(gain=0-1-10)")
        assert str(caught.value) == ("gain=0-1-10: no weight for these grades in the judgments: 2.5, 4")

    def test_grade_0_without_a_weight(self) -> None:
        with pytest.raises(InputError) as caught:
            parse("CG(gain={1:5})").score([1, 0])
        assert str(caught.value) == (
            "gain={1:5}: no weight for these grades in the judgments: 0\nhint: include the weight of grade 0"
        )

    def test_negative_and_unjudged_documents_need_no_weight(self) -> None:
        assert parse("CG(gain={1:5})").score([1, -1, None]) == 5

    def test_exp2_of_huge_grades(self) -> None:
        with pytest.raises(InputError, match=r"\Again=exp2: the gain of grade 2000 is too large\Z"):
            parse("DCG(gain=exp2)").score([1, 2000])

    def test_the_ideal_sorts_gains_not_grades(self) -> None:
        measure = parse("nDCG(gain=0-3-1)")
        assert measure.score([1, 2]) == 1
        assert measure.score([2, 1]) < 1

    def test_grade_0_with_a_weight_is_in_the_recall_base(self) -> None:
        assert parse("nCG(gain=1-2)@1").score([0], unretrieved=[1]) == 0.5

    def test_rel_and_level_set_other_gains_to_0_before_normalising(self) -> None:
        assert parse("nCG(rel=2)@2").score([1, 2], unretrieved=[3]) == 2 / 5
        assert parse("nCG(level=2)@2").score([1, 2], unretrieved=[3]) == 1


class TestDiscounts:
    @together("base", [1.2, 2, 3.7, 10, 20, "e"])
    @together("discount", DISCOUNTS)
    def test_divisors(self, discount: str, base: float | str) -> None:
        b = math.e if base == "e" else float(base)

        def divisor(j: int) -> float:
            log = math.log(j) / math.log(b)
            return {
                "burges2005": math.log(j + 1) / math.log(b),
                "jarvelin2002": 1.0 if j < b else log,
                "jarvelin2000": 1.0 if j == 1 else log,
                "jarvelin2008": 1 + log,
                "rank": float(j),
                "none": 1.0,
            }[discount]

        assert divisors(discount, base, RANKS).tolist() == pytest.approx([divisor(j) for j in range(1, 11)], rel=1e-14)

    def test_powers_of_usual_bases_are_exact(self) -> None:
        assert divisors("jarvelin2002", 2, np.array([2.0, 8.0, 1024.0])).tolist() == [1, 3, 10]
        assert divisors("jarvelin2002", 10, np.array([9.0, 10.0, 1000.0])).tolist() == [1, 1, 3]
        assert divisors("burges2005", 2, np.array([1.0, 3.0, 7.0])).tolist() == [1, 2, 3]

    def test_bases_between_ranks(self) -> None:
        """At b = 2.5 rank 2 is before the base, rank 3 after it."""
        expected = [1, math.log(3) / math.log(2.5)]
        # Logarithms of NumPy and of Python may differ in the last bit.
        assert divisors("jarvelin2002", 2.5, np.array([2.0, 3.0])).tolist() == pytest.approx(expected, rel=1e-15)

    def test_the_table_says_which_have_a_base(self) -> None:
        assert [name for name, discount in DISCOUNTS.items() if not discount.has_base] == ["rank", "none"]

    @together(("given", "base"), [("2", 2.0), (10, 10.0), (1.0001, 1.0001), ("e", "e"), ("2.5e0", 2.5)])
    def test_bases(self, given: object, base: float | str) -> None:
        assert read_base(given) == base

    @together(
        ("bad", "message"),
        [
            (1, "base: expected a number above 1 or e, found 1"),
            ("0.5", "base: expected a number above 1 or e, found 0.5"),
            (-2, "base: expected a number above 1 or e, found -2"),
            ("pi", "base: expected a number, found 'pi'"),
            (True, "base: expected a number, found True"),
            (math.inf, "base: expected a finite number, found inf"),
            (None, "base: expected a number, found None"),
        ],
    )
    def test_bad_bases(self, bad: object, message: str) -> None:
        with pytest.raises(UsageError) as caught:
            read_base(bad)
        assert str(caught.value) == message

    def test_unknown_discount(self) -> None:
        with pytest.raises(UsageError) as caught:
            divisors("log2", 2, RANKS)
        assert caught.value.message == (
            "discount: expected burges2005 | jarvelin2002 | jarvelin2000 | jarvelin2008 | rank | none, found 'log2'"
        )

    def test_none_makes_dcg_cg(self) -> None:
        grades = [3, 2, 3, 0, 0, 1, 2, 2, 3, 0]
        assert parse("DCG(discount=none)").score(grades) == parse("CG").score(grades) == 16
        assert parse("nDCG(discount=none)@4").score(grades) == parse("nCG@4").score(grades)

    def test_the_base_cancels_out_of_ndcg_with_burges2005(self) -> None:
        grades = [0, 2, 3, 1]
        scores = [parse(f"nDCG(base={base})").score(grades) for base in (2, "e", 10)]
        assert scores == pytest.approx([scores[0]] * 3, abs=1e-15)


@together(
    ("text", "hint"),
    [
        ("nDCG(discount=log2)", "burges2005, log_b(j + 1), is what most tools have"),
        ("nDCG(discount=linear)", "rank divides by the rank j"),
        ("nDCG(gain=exponential)", "exp2 is 2^grade - 1"),
        ("nDCG(gain=identity)", "linear is the grade itself"),
    ],
)
def test_words_of_other_tools(text: str, hint: str) -> None:
    with pytest.raises(UsageError) as error:
        parse(text)
    assert error.value.hint is not None
    assert error.value.hint.startswith(hint)
