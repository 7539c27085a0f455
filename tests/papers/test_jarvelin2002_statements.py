"""`gainful papers jarvelin2002`: general statements hold or fail, by rules that are printed."""

from __future__ import annotations

import numpy as np

from gainful import Policy, Qrels
from gainful.data.judged import Judged
from gainful_papers.claims import Study
from gainful_papers.jarvelin2002 import study

from .paper_sections import claims, section

QUERIES = [f"q{i}" for i in range(6)]
#: Every query has three documents of each grade: a0 to a2 (grade 0), b (1), c (2), d (3); z is not judged.
QRELS = {query: {f"{letter}{i}": g for g, letter in enumerate("abcd") for i in range(3)} for query in QUERIES}


def studied(qrels: dict, runs: dict) -> Study:
    return study(Judged(Qrels.from_dict(qrels), Policy()), runs)


def row(found: Study, name: str, what: str) -> dict[str, object]:
    return claims(section(found, name))[what]


def everywhere(**ranked: str) -> dict[str, dict[str, list[str]]]:
    """Runs that have the same list for every query; every z in it is another document."""
    lists = {
        run: [f"z{i}" if each == "z" else each for i, each in enumerate(documents.split())]
        for run, documents in ranked.items()
    }
    return {run: dict.fromkeys(QUERIES, documents) for run, documents in lists.items()}


IDEAL = "d0 d1 d2 c0 c1 c2 b0 b1 b2"


def test_ndcg_never_reaches_1_or_does():
    what, rule = "highest value at ranks 2 to 100", "holds if no run has 1 at any of these ranks"
    found = row(studied(QRELS, everywhere(one=IDEAL, two="a0 b0")), "Figure 4", what)
    assert (found["gainful finds"], found["verdict"]) == ("(a) 1.000, (b) 1.000", "not seen")
    assert found["note"] == rule
    # All relevant documents by rank 10, one rank late: nCG is 1 at all later ranks, nDCG never after rank 1.
    late = studied(QRELS, everywhere(one=f"d0 a0 {IDEAL[3:]}", two="a0 b0"))
    assert row(late, "Figure 3", "highest value at rank 100")["gainful finds"] == "(a) 1.000, (b) 1.000"
    found = row(late, "Figure 4", what)
    assert (found["verdict"], found["note"]) == ("holds", rule)


def test_curves_that_do_not_start_lower():
    what = "curves that start lower in (b)"
    # d0 is worth the most with either weights, b0 is with flat ones only, and z has nothing that could be lower.
    found = row(studied(QRELS, everywhere(top="d0 b0", low="b0 d0", none="z d0")), "Figure 3", what)
    assert (found["gainful finds"], found["verdict"]) == ("1 of 2", "not seen")
    assert found["note"] == "of the runs with gain at rank 1; holds if all start lower"
    found = row(studied(QRELS, everywhere(low="b0 d0", none="z d0")), "Figure 3", what)
    assert (found["gainful finds"], found["verdict"]) == ("1 of 1", "holds")


def test_a_share_that_is_the_same_in_another_rounding_is_not_lower():
    """Of six queries one to five have d0 at rank 1, the others nothing: shares of 1/6 to 5/6 with either weights."""
    runs = {
        f"in {k}": {query: ["d0" if i < k else "z"] for i, query in enumerate(QUERIES)} for k in range(1, len(QUERIES))
    }
    found = row(studied(QRELS, runs), "Figure 3", "curves that start lower in (b)")
    assert (found["gainful finds"], found["verdict"]) == ("0 of 5", "not seen")


def test_gaps_that_a_discount_narrows_or_does_not():
    what = "widest gap between two runs, Figures 1 and 2"
    # The furthest apart at rank 1, which is not discounted: 1 point in (a), 100 in (b), in both figures.
    found = row(studied(QRELS, everywhere(one="d0 z z", two="z z d0")), "Figure 2", what)
    assert (found["gainful finds"], found["verdict"]) == ("(a) 1.00, 1.00; (b) 100, 100", "not seen")
    assert "holds if smaller in Figure 2, in (a) and in (b)" in found["note"]
    # At rank 4 and 8 of discount 2 and 3: 2 points become 1/2 + 1/3.
    found = row(studied(QRELS, everywhere(one="z z z d0 z z z d1", two="z")), "Figure 2", what)
    assert (found["gainful finds"], found["verdict"]) == ("(a) 2.00, 0.83; (b) 200, 83.3", "holds")
    # Level in (a), where there is nothing to narrow.
    found = row(studied(QRELS, everywhere(one="z z z d0", two="z z z b0")), "Figure 2", what)
    assert (found["gainful finds"], found["verdict"]) == ("(a) 0, 0; (b) 99.0, 49.5", "holds")
    # Nothing after rank 2, so that nothing is discounted.
    found = row(studied(QRELS, everywhere(one="d0 d1", two="z b0")), "Figure 2", what)
    assert (found["gainful finds"], found["verdict"]) == ("(a) 1.00, 1.00; (b) 199, 199", "not seen")


def test_the_greatest_distance_is_before_rank_100_in_both_panels():
    what, rule = "rank of the greatest distance from the ideal", "holds if both are before rank 100"
    # The ideal is level from rank 9 (a) on; a run that finds nothing more is furthest below it there.
    found = row(studied(QRELS, everywhere(one="d0 d1", two="d0")), "Figure 1", what)
    assert (found["gainful finds"], found["verdict"]) == ("(a) 9, (b) 9", "holds")
    assert found["note"].endswith(rule)
    # One of grade 3 and 119 of grade 1: the ideal gains by every rank, the run by every second; it has d0 late.
    qrels = {query: {"d0": 3, **{f"b{i}": 1 for i in range(119)}} for query in QUERIES}
    one = " ".join(["z", "z", "d0", *(f"b{i}" if i % 2 else "z" for i in range(97))])
    found = row(studied(qrels, everywhere(one=one, two="z")), "Figure 1", what)
    assert (found["gainful finds"], found["verdict"]) == ("(a) 100, (b) 2", "not seen")
    assert found["note"].endswith(rule)
    found = row(studied(QRELS, everywhere(one=IDEAL, two="d0")), "Figure 1", what)
    assert (found["gainful finds"], found["verdict"]) == ("the best run is never below the ideal", "not seen")


def test_bases_that_make_another_order():
    """Two runs in another order by base 10 than by base 2, in all of six queries."""
    # Averages over 200 ranks with weights 0-1-10-100: one document of grade 3 at rank 1, or three starting at rank 11.
    runs = everywhere(early="d0", late=" ".join(["z"] * 10 + ["d0", "d1", "d2"]))

    def average(base: float, gains: list[int], ideal: list[int]) -> float:
        def curve(values: list[int]) -> np.ndarray:
            ranks = np.arange(1, 201)
            divisors = np.where(ranks < base, 1.0, np.log(np.maximum(ranks, 2)) / np.log(base))
            return np.cumsum(np.array(values + [0] * (200 - len(values))) / divisors)

        return float((curve(gains) / curve(ideal)).mean())

    ideal = [100] * 3 + [10] * 3 + [1] * 3
    signs = [np.sign(average(base, [100], ideal) - average(base, [0] * 10 + [100] * 3, ideal)) for base in (2.0, 10.0)]
    assert signs == [1, -1]
    found = row(studied(QRELS, runs), "Section 3.3", "bases 2 and 10")
    assert (found["gainful finds"], found["verdict"]) == ("1 of 1 pair swaps places, 1 beyond noise", "not seen")
    assert str(found["note"]).endswith("holds if all swaps are within noise")


def test_an_order_of_means_alone_is_no_other_order():
    """In one of six queries the discount decides, and the means with it: nothing that a test would show."""
    early, late = "d0", " ".join(["z"] * 10 + ["d0", "d1", "d2"])
    runs = everywhere(one=early, two=early, three="b0")
    runs["two"]["q0"] = everywhere(two=late)["two"]["q0"]
    found = studied(QRELS, runs)
    cells = row(found, "Section 3.3", "bases 2 and 10")
    assert (cells["gainful finds"], cells["verdict"]) == ("1 of 3 pairs swaps places, within noise", "holds")


def test_weights_that_reverse_an_order_or_only_widen_it():
    """One of grade 3 against two of grade 1: behind with flat weights, ahead with 0-1-10-100."""
    what = "runs at rank 100, (a) and (b)"
    found = studied(QRELS, everywhere(high="d0 z", many="b0 b1", none="z"))
    for figure in ("Figure 1", "Figure 4"):
        cells = row(found, figure, what)
        assert (cells["gainful finds"], cells["verdict"]) == (
            "1 of 3 pairs swaps places, 1 beyond noise",
            "holds",
        )
    found = studied(QRELS, everywhere(high="d0 b0", many="b0 z", none="z"))
    cells = row(found, "Figure 4", what)
    assert (cells["gainful finds"], cells["verdict"]) == ("no pair swaps places", "not seen")
