"""The numbers that the papers print for their worked examples, and those that peers print for a tiny case.

jarvelin2000: Järvelin and Kekäläinen, IR evaluation methods for retrieving highly relevant documents, SIGIR 2000.
jarvelin2002: Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques, TOIS 20(4), 2002.
jarvelin2008: Järvelin, Price, Delcambre and Nielsen, Discounted cumulated gain based evaluation of multiple-query IR
sessions, ECIR 2008.
"""

from __future__ import annotations

import math

import pytest

from gainful import evaluate, parse

# jarvelin2002, section 2.1: the sample gain vector G', and section 2.2: the sample ideal gain vector I'. The ideal one
# has three documents of grade 1 that the list does not show within ten ranks.
GAINS = [3, 2, 3, 0, 0, 1, 2, 2, 3, 0]
MISSED = [1, 1, 1]
IDEAL_GAINS = [3, 3, 3, 2, 2, 2, 1, 1, 1, 1]
RANKS = range(1, 11)

CG = [3, 5, 8, 8, 8, 9, 11, 13, 16, 16]
IDEAL_CG = [3, 6, 9, 11, 13, 15, 16, 17, 18, 19]
DCG = [3, 5, 6.89, 6.89, 6.89, 7.28, 7.99, 8.66, 9.61, 9.61]
IDEAL_DCG = [3, 6, 7.89, 8.89, 9.75, 10.53, 10.88, 11.22, 11.53, 11.83]
IDEAL_DCG_AS_PRINTED = [3, 6, 7.89, 8.89, 9.75, 10.52, 10.88, 11.21, 11.53, 11.83]
NCG = [1, 0.83, 0.89, 0.73, 0.62, 0.6, 0.69, 0.76, 0.89, 0.84]

QRELS = {"q": {f"found{i}": grade for i, grade in enumerate(GAINS)} | {f"missed{i}": 1 for i in range(3)}}
RUN = {"q": {f"found{i}": 100.0 - i for i in range(len(GAINS))}}
IDEAL_RUN = {"q": sorted(QRELS["q"], key=QRELS["q"].__getitem__, reverse=True)}


def by_score(measure: str, grades: list[int] = GAINS, missed: list[int] = MISSED) -> list[float]:
    """The vector over ranks 1 to 10, from lists of grades."""
    return [parse(f"{measure}@{k}").score(grades, unretrieved=missed) for k in RANKS]


def by_evaluate(measure: str, run: dict[str, object] = RUN) -> list[float]:
    """The same vector, from judgments and a run."""
    names = [f"{measure}@{k}" for k in RANKS]
    result = evaluate(QRELS, run, names)
    return [result.mean(name) for name in names]


def both_ways(measure: str) -> list[float]:
    vector = by_score(measure)
    assert by_evaluate(measure) == vector
    return vector


def both_ways_ideal(measure: str) -> list[float]:
    vector = by_score(measure, IDEAL_GAINS, [])
    assert by_evaluate(measure, IDEAL_RUN) == vector
    return vector


def to_two_places(values: list[float]) -> list[float]:
    return [round(value, 2) for value in values]


class TestCumulatedGain:
    def test_cg_of_the_sample_list(self) -> None:
        """jarvelin2000 section 2.2 and jarvelin2002 section 2.1, after eq. 1: CG'."""
        assert both_ways("CG") == CG

    def test_cg_at_rank_7_may_be_read_directly(self) -> None:
        """Both papers, in the sentence after CG': "at rank 7 it is 11"."""
        assert parse("CG@7").score(GAINS, unretrieved=MISSED) == 11

    def test_the_first_gain_counts(self) -> None:
        """jarvelin2002 eq. 1 prints 0 for rank 1; its own example, and eq. 1 of jarvelin2000, have G[1]."""
        assert parse("CG@1").score(GAINS) == 3

    def test_ideal_cg(self) -> None:
        """jarvelin2002 section 2.2, after eq. 4: the ideal CG vector."""
        assert both_ways_ideal("CG") == IDEAL_CG

    def test_the_ideal_curve_turns_horizontal_after_the_recall_base(self) -> None:
        """jarvelin2002 section 2.2: the ideal CG vector goes on 19, 19, 19 and the ideal DCG vector 11.83, 11.83."""
        assert [parse(f"CG@{k}").score(IDEAL_GAINS) for k in (10, 11, 12, 13)] == [19] * 4
        dcg = [parse(f"DCG(discount=jarvelin2002)@{k}").score(IDEAL_GAINS) for k in (10, 11, 12)]
        assert to_two_places(dcg) == [11.83] * 3

    def test_ncg(self) -> None:
        """jarvelin2002 section 2.3, after eq. 5: nCG'."""
        assert to_two_places(both_ways("nCG")) == NCG

    def test_ncg_is_the_ratio_of_the_two_vectors(self) -> None:
        """jarvelin2002 eq. 5."""
        assert both_ways("nCG") == [own / best for own, best in zip(CG, IDEAL_CG, strict=True)]

    def test_the_ideal_list_normalises_to_ones(self) -> None:
        """jarvelin2002 section 2.3: norm-vect(I, I) = <1, 1, ..., 1>."""
        for measure in ("nCG", "nDCG", "nDCG(discount=jarvelin2002)", "nDCG(discount=jarvelin2002, base=10)"):
            assert both_ways_ideal(measure) == [1.0] * 10


class TestDiscountedCumulatedGain:
    @pytest.mark.parametrize("discount", ["jarvelin2002", "jarvelin2000"])
    def test_dcg_of_the_sample_list(self, discount: str) -> None:
        """jarvelin2000 section 2.2 and jarvelin2002 section 2.2, after eq. 2, b = 2: DCG' (the same in both)."""
        assert to_two_places(both_ways(f"DCG(discount={discount}, base=2)")) == DCG

    def test_ideal_dcg(self) -> None:
        """jarvelin2002 section 2.2, after eq. 4, b = 2; the article truncates ranks 6 and 8, which round up."""
        vector = both_ways_ideal("DCG(discount=jarvelin2002, base=2)")
        assert to_two_places(vector) == IDEAL_DCG
        for rank, (value, printed) in enumerate(zip(vector, IDEAL_DCG_AS_PRINTED, strict=True), start=1):
            assert (math.floor(value * 100) / 100 if rank in (6, 8) else round(value, 2)) == printed

    def test_ndcg(self) -> None:
        """jarvelin2002 section 2.3: nDCG' "in a similar way": the ratio of DCG' and the ideal DCG, b = 2."""
        vector = both_ways("nDCG(discount=jarvelin2002, base=2)")
        assert vector == pytest.approx([own / best for own, best in zip(DCG, IDEAL_DCG, strict=True)], abs=1e-3)
        assert to_two_places(vector) == [1, 0.83, 0.87, 0.78, 0.71, 0.69, 0.73, 0.77, 0.83, 0.81]

    def test_the_discount_at_rank_1024_is_ten(self) -> None:
        """Both papers, section 2.2: "a document at the position 1024 would still get one tenth of its face value"."""
        assert parse("DCG(discount=jarvelin2002)").score([None] * 1023 + [1]) == pytest.approx(0.1, abs=1e-15)

    def test_nothing_is_discounted_before_the_base(self) -> None:
        """jarvelin2002 section 2.2: no discount "for ranks less than the logarithm base"; at b it is 1."""
        vector = by_score("DCG(discount=jarvelin2002, base=10)")
        assert vector == CG

    def test_ranks_between_2_and_the_base_are_boosted_in_2000(self) -> None:
        """jarvelin2002 section 4: without the cut-off "discounting would be replaced by boosting"."""
        assert parse("DCG(discount=jarvelin2000, base=10)@2").score([0, 1]) == pytest.approx(1 / math.log10(2))

    def test_a_very_large_base_is_no_discount(self) -> None:
        """jarvelin2002 section 4: "if b approaches infinity, then DCG approaches CG"."""
        assert by_score("DCG(discount=jarvelin2002, base=1e300)") == CG

    def test_the_example_of_2008_as_its_formula_has_it(self) -> None:
        """jarvelin2008 appendix, after eq. 2, b = 4: the printed vector does not follow from the formula."""
        vector = both_ways("DCG(discount=jarvelin2008, base=4)")
        assert to_two_places(vector) == [3, 4.33, 6.01, 6.01, 6.01, 6.44, 7.28, 8.08, 9.24, 9.24]


class TestAveragesOverRanks:
    def test_of_cg(self) -> None:
        """jarvelin2002 eq. 6, avg-pos(CG', 10)."""
        assert both_ways("CG(average=ranks)")[9] == pytest.approx(sum(CG) / 10, abs=1e-12)

    def test_of_dcg(self) -> None:
        """jarvelin2002 eq. 6, avg-pos(DCG', 10), from the printed vector."""
        assert both_ways("DCG(discount=jarvelin2002, average=ranks)")[9] == pytest.approx(sum(DCG) / 10, abs=5e-3)

    def test_of_ncg(self) -> None:
        """jarvelin2002 eq. 6, avg-pos(nCG', k) for every k."""
        ratios = [own / best for own, best in zip(CG, IDEAL_CG, strict=True)]
        assert both_ways("AnCG") == pytest.approx([sum(ratios[:k]) / k for k in RANKS], abs=1e-12)

    def test_of_ndcg(self) -> None:
        """jarvelin2002 eq. 6, avg-pos(nDCG', 10), from the printed vectors."""
        ratios = [own / best for own, best in zip(DCG, IDEAL_DCG, strict=True)]
        assert both_ways("AnDCG(discount=jarvelin2002)")[9] == pytest.approx(sum(ratios) / 10, abs=1e-3)

    def test_past_the_end_vectors_keep_their_last_value(self) -> None:
        """jarvelin2002 section 3.6 averages vectors of length 200, most of which are flat."""
        assert parse("AnCG@200").score(GAINS) == pytest.approx(
            (sum(own / best for own, best in zip(CG, [3, 6, 9, 11, 13, 15, 16, 16, 16, 16], strict=True)) + 190) / 200,
            abs=1e-12,
        )


class TestWeights:
    """jarvelin2002 section 3: weighting schemes in the notation 0-1-10-100; jarvelin2000's "levels" as weights."""

    def test_weights_of_the_sample_list(self) -> None:
        """jarvelin2002 section 3.3, 0-1-10-100."""
        assert parse("CG(gain=0-1-10-100)@10").score(GAINS) == 3 * 100 + 3 * 10 + 1

    def test_only_the_highly_relevant(self) -> None:
        """jarvelin2002 Table 2, 0-0-0-1: the ideal has three such documents, the list its third at rank 9."""
        assert by_score("nCG(gain=0-0-0-1)") == [1, 1 / 2, 2 / 3, 2 / 3, 2 / 3, 2 / 3, 2 / 3, 2 / 3, 1, 1]

    def test_levels_of_2000(self) -> None:
        """jarvelin2000 section 3.4, "levels 1-3", "2&3" and "3" as 0-1-2-3, 0-0-2-3 and 0-0-0-3."""
        assert [parse(f"CG(gain={w})@10").score(GAINS) for w in ("0-1-2-3", "0-0-2-3", "0-0-0-3")] == [16, 15, 9]


class TestTheBaseAndTheOrderOfSystems:
    """jarvelin2002 section 4 says that without the cut-off at b the base cannot change the order of systems."""

    FIRST = [1, 0, 0, 0]
    LAST = [0, 0, 0, 3]

    @pytest.mark.parametrize(("base", "last"), [(1.2, 0.39), (2, 1.5)])
    def test_it_can_with_the_discount_of_2000(self, base: float, last: float) -> None:
        """Rank 1 has divisor 1 at every base, so the remark is false: 1 v .39 and 1 v 1.5."""
        measure = parse(f"DCG(discount=jarvelin2000, base={base})")
        assert measure.score(self.FIRST) == 1
        assert round(measure.score(self.LAST), 2) == last

    def test_it_can_in_a_whole_evaluation(self) -> None:
        qrels = {"q": {"one": 1, "three": 3}}
        runs = {"first": {"q": ["one", "x", "y", "z"]}, "last": {"q": ["x", "y", "z", "three"]}}
        names = ["DCG(discount=jarvelin2000, base=1.2)", "DCG(discount=jarvelin2000)"]
        first, last = (evaluate(qrels, run, names) for run in runs.values())
        assert first.mean(names[0]) > last.mean(names[0])
        assert first.mean(names[1]) < last.mean(names[1])

    @pytest.mark.parametrize("base", [1.2, 2, "e", 10, 100])
    def test_it_cannot_with_the_discount_of_2005(self, base: float | str) -> None:
        """Every divisor has the same factor, so 1 v 3/log2(5) = 1.29 keeps its order and its ratio."""
        measure = parse(f"DCG(base={base})")
        assert measure.score(self.LAST) / measure.score(self.FIRST) == pytest.approx(3 / math.log2(5), abs=1e-12)


class TestPeers:
    """The same name, different numbers: d1=2, d2=0, d3=1, d4=1 and the ranking d3, d2, x, d1."""

    CASES = [
        ("nDCG@5", 0.594505),  # trec_eval ndcg_cut_5, ranx ndcg@5, NTCIREVAL MSnDCG@5
        ("nDCG", 0.594505),  # trec_eval ndcg
        ("nDCG(gain=exp2)@5", 0.554846),  # ranx ndcg_burges@5, gdeval
        ("nDCG(discount=jarvelin2002, base=2)@5", 0.550823),  # pyNTCIREVAL, logb=2
        ("nDCG(discount=jarvelin2002, base=10)@5", 0.75),  # pyNTCIREVAL, logb=10
    ]

    @pytest.mark.parametrize(("measure", "value"), CASES)
    def test_by_score(self, measure: str, value: float) -> None:
        assert round(parse(measure).score([1, 0, None, 2], unretrieved=[1]), 6) == value

    @pytest.mark.parametrize(("measure", "value"), CASES)
    def test_by_evaluate(self, measure: str, value: float) -> None:
        qrels = {"q": {"d1": 2, "d2": 0, "d3": 1, "d4": 1}}
        assert round(evaluate(qrels, {"q": ["d3", "d2", "x", "d1"]}, measure).mean(measure), 6) == value

    @pytest.mark.parametrize(("measure", "value"), CASES)
    def test_by_evaluate_on_text(self, measure: str, value: float) -> None:
        qrels = b"q 0 d1 2\nq 0 d2 0\nq 0 d3 1\nq 0 d4 1\n"
        run = b"q Q0 d3 1 4 t\nq Q0 d2 2 3 t\nq Q0 x 3 2 t\nq Q0 d1 4 1 t\n"
        assert round(evaluate(qrels, run, measure).mean(measure), 6) == value
