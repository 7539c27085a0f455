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
RANKS = range(1, 11)

CG = [3, 5, 8, 8, 8, 9, 11, 13, 16, 16]
IDEAL_CG = [3, 6, 9, 11, 13, 15, 16, 17, 18, 19]
DCG = [3, 5, 6.89, 6.89, 6.89, 7.28, 7.99, 8.66, 9.61, 9.61]
IDEAL_DCG = [3, 6, 7.89, 8.89, 9.75, 10.53, 10.88, 11.22, 11.53, 11.83]
NCG = [1, 0.83, 0.89, 0.73, 0.62, 0.6, 0.69, 0.76, 0.89, 0.84]

QRELS = {"q": {f"found{i}": grade for i, grade in enumerate(GAINS)} | {f"missed{i}": 1 for i in range(3)}}
RUN = {"q": {f"found{i}": 100.0 - i for i in range(len(GAINS))}}


def vector(measure: str) -> list[float]:
    """The sample list's vector over ranks 1 to 10, from lists of grades as from judgments and a run."""
    names = [f"{measure}@{k}" for k in RANKS]
    found = evaluate(QRELS, RUN, names)
    values = [parse(name).score(GAINS, unretrieved=MISSED) for name in names]
    assert [found.mean(name) for name in names] == values
    return values


def to_two_places(values: list[float]) -> list[float]:
    return [round(value, 2) for value in values]


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        # jarvelin2000 section 2.2 and jarvelin2002 section 2.1, after eq. 1: CG'.
        ("CG", CG),
        # jarvelin2002 section 2.3, after eq. 5: nCG'.
        ("nCG", NCG),
        # jarvelin2000 section 2.2 and jarvelin2002 section 2.2, after eq. 2, b = 2: DCG' (the same in both).
        ("DCG(discount=jarvelin2002, base=2)", DCG),
        ("DCG(discount=jarvelin2000, base=2)", DCG),
        # jarvelin2002 section 2.3: nDCG' "in a similar way".
        ("nDCG(discount=jarvelin2002, base=2)", [1, 0.83, 0.87, 0.78, 0.71, 0.69, 0.73, 0.77, 0.83, 0.81]),
        # jarvelin2002 section 2.2: no discount "for ranks less than the logarithm base"; at b it is 1.
        ("DCG(discount=jarvelin2002, base=10)", CG),
        # jarvelin2002 section 4: "if b approaches infinity, then DCG approaches CG".
        ("DCG(discount=jarvelin2002, base=1e300)", CG),
        # jarvelin2008 appendix, after eq. 2, b = 4: the printed vector does not follow from the formula.
        ("DCG(discount=jarvelin2008, base=4)", [3, 4.33, 6.01, 6.01, 6.01, 6.44, 7.28, 8.08, 9.24, 9.24]),
    ],
)
def test_vectors_of_the_sample_list(measure: str, expected: list[float]) -> None:
    assert to_two_places(vector(measure)) == expected


def test_averages_over_ranks() -> None:
    """jarvelin2002 eq. 6, avg-pos: from exact vectors, and from printed ones."""
    ratios = [own / best for own, best in zip(CG, IDEAL_CG, strict=True)]
    assert vector("nCG") == ratios
    assert vector("CG(average=ranks)")[9] == pytest.approx(sum(CG) / 10, abs=1e-12)
    assert vector("AnCG") == pytest.approx([sum(ratios[:k]) / k for k in RANKS], abs=1e-12)
    assert vector("DCG(discount=jarvelin2002, average=ranks)")[9] == pytest.approx(sum(DCG) / 10, abs=5e-3)
    ratios = [own / best for own, best in zip(DCG, IDEAL_DCG, strict=True)]
    assert vector("AnDCG(discount=jarvelin2002)")[9] == pytest.approx(sum(ratios) / 10, abs=1e-3)
    # Past the end vectors keep their last value: section 3.6 averages vectors of length 200, most of which are flat.
    ratios = [own / best for own, best in zip(CG, [3, 6, 9, 11, 13, 15, 16, 16, 16, 16], strict=True)]
    assert parse("AnCG@200").score(GAINS) == pytest.approx((sum(ratios) + 190) / 200, abs=1e-12)


def test_weights() -> None:
    """Weighting schemes of jarvelin2002 (section 3, Table 2), and the levels of jarvelin2000 (section 3.4)."""
    assert parse("CG(gain=0-1-10-100)@10").score(GAINS) == 3 * 100 + 3 * 10 + 1
    # The ideal has three documents of grade 3, the list its third at rank 9.
    assert vector("nCG(gain=0-0-0-1)") == [1, 1 / 2, 2 / 3, 2 / 3, 2 / 3, 2 / 3, 2 / 3, 2 / 3, 1, 1]
    assert [parse(f"CG(gain={w})@10").score(GAINS) for w in ("0-1-2-3", "0-0-2-3", "0-0-0-3")] == [16, 15, 9]


def test_with_the_discount_of_2005_the_base_changes_no_order() -> None:
    """Every divisor has the same factor: 1 v 3/log2(5) = 1.29 keeps its order and its ratio."""
    for base in ("1.2", "2", "e", "10", "100"):
        measure = parse(f"DCG(base={base})")
        assert measure.score([0, 0, 0, 3]) / measure.score([1, 0, 0, 0]) == pytest.approx(3 / math.log2(5), abs=1e-12)


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        ("nDCG@5", 0.594505),  # trec_eval ndcg_cut_5, ranx ndcg@5, NTCIREVAL MSnDCG@5
        ("nDCG", 0.594505),  # trec_eval ndcg
        ("nDCG(gain=exp2)@5", 0.554846),  # ranx ndcg_burges@5, gdeval
        ("nDCG(discount=jarvelin2002, base=2)@5", 0.550823),  # pyNTCIREVAL, logb=2
        ("nDCG(discount=jarvelin2002, base=10)@5", 0.75),  # pyNTCIREVAL, logb=10
    ],
)
def test_what_peers_print(measure: str, value: float) -> None:
    """The same name, different numbers: d1=2, d2=0, d3=1, d4=1 and the ranking d3, d2, x, d1."""
    assert round(parse(measure).score([1, 0, None, 2], unretrieved=[1]), 6) == value
    qrels = {"q": {"d1": 2, "d2": 0, "d3": 1, "d4": 1}}
    assert round(evaluate(qrels, {"q": ["d3", "d2", "x", "d1"]}, measure).mean(measure), 6) == value
    text = b"q 0 d1 2\nq 0 d2 0\nq 0 d3 1\nq 0 d4 1\n"
    run = b"q Q0 d3 1 4 t\nq Q0 d2 2 3 t\nq Q0 x 3 2 t\nq Q0 d1 4 1 t\n"
    assert round(evaluate(text, run, measure).mean(measure), 6) == value
