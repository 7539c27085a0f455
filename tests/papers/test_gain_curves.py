"""The worked vectors of jarvelin2002 (Järvelin and Kekäläinen, TOIS 20(4), 2002, section 2), rank by rank as curves.

The article truncates some digits; here they are rounded. The sideways numbers follow from its vectors by looking.
"""

from __future__ import annotations

import pytest

from gainful import gain_curves

# The article's list, and the documents of grade 1 that it does not show within ten ranks.
GRADES = [3, 2, 3, 0, 0, 1, 2, 2, 3, 0]
QRELS = {"q": {f"found{i}": grade for i, grade in enumerate(GRADES)} | {f"missed{i}": 1 for i in range(3)}}
RUN = {"q": [f"found{i}" for i in range(len(GRADES))]}

CG = [3, 5, 8, 8, 8, 9, 11, 13, 16, 16]
IDEAL_CG = [3, 6, 9, 11, 13, 15, 16, 17, 18, 19]
DCG = [3, 5, 6.89, 6.89, 6.89, 7.28, 7.99, 8.66, 9.61, 9.61]
IDEAL_DCG = [3, 6, 7.89, 8.89, 9.75, 10.53, 10.88, 11.22, 11.53, 11.83]
NCG = [1, 0.83, 0.89, 0.73, 0.62, 0.6, 0.69, 0.76, 0.89, 0.84]
DISCOUNTED = "DCG(discount=jarvelin2002)"


@pytest.fixture(scope="module")
def curves():
    return gain_curves(QRELS, {"article": RUN}, ["CG@10", "nCG@10", f"{DISCOUNTED}@10", f"n{DISCOUNTED}@10"])


def test_cumulated_gain(curves):
    assert curves.curve("article", "CG").values.tolist() == CG
    assert curves.ideal("CG").values.tolist() == IDEAL_CG


def test_discounted(curves):
    assert curves.curve("article", DISCOUNTED).values.round(2).tolist() == DCG
    assert curves.ideal(DISCOUNTED).values.round(2).tolist() == IDEAL_DCG


def test_normalised(curves):
    assert curves.curve("article", "nCG").values.round(2).tolist() == NCG
    own, ideal = curves.curve("article", DISCOUNTED).values, curves.ideal(DISCOUNTED).values
    assert curves.curve("article", f"n{DISCOUNTED}").values.tolist() == (own / ideal).tolist()


def test_sideways(curves):
    # The ideal has 6, 9 and 13 at ranks 2, 3 and 5; the list 8 at 3, 9 at 6, 13 at 8. It never has the ideal's 17.
    read = curves.sideways("CG", at=[2, 3, 5, 8])
    assert [read.rank("article", at) for at in (2, 3, 5, 8)] == [3, 6, 8, None]
    assert read.areas[0].area == sum(IDEAL_CG) - sum(CG)
    assert read.distances[0].most == 6  # 15 - 9 at rank 6
    assert read.stopping_rank is None  # the tenth document of the ideal list still adds 1
