"""UDCG, in which documents of negative grades cost utility."""

from __future__ import annotations

import math

import pytest

from gainful import Policy, UsageError, evaluate, parse

#: Sample data of the authors' code: probabilities that a model abstains from relevant and from other passages, and UDCG
#: with 0.333 as the weight of distractors (the code's default is 1/3).
AUTHORS = [
    (
        [2.086162567138672e-06, 1.341104507446289e-05],
        [0.1318359375, 0.1812744140625, 0.02081298828125],
        0.5553808928170055,
    ),
    (
        [5.960464477539063e-08, 6.616115570068359e-06],
        [0.00018215179443359375, 0.006114959716796875, 0.0093536376953125],
        0.5501411475208001,
    ),
    (
        [3.0100345611572266e-05],
        [0.00010311603546142578, 0.007602691650390625, 0.01299285888671875, 0.00013053417205810547],
        0.4837510250741193,
    ),
]


@pytest.mark.parametrize(("relevant", "others", "udcg"), AUTHORS)
def test_sample_data_of_the_authors(relevant: list[float], others: list[float], udcg: float) -> None:
    utility = [*(1 - abstains for abstains in relevant), *(abstains - 1 for abstains in others)]
    assert parse("UDCG(gamma=0.333)@5").score(utility) == pytest.approx(udcg, abs=1e-15)
    assert parse("UDCG(gamma=0.333)@5").score(utility[::-1]) == pytest.approx(udcg, abs=1e-15)


def test_ends_of_the_scale() -> None:
    assert parse("UDCG@3").score([None, 0.0]) == 0.5
    assert parse("UDCG@2").score([-1, -1, 1]) == pytest.approx(1 / (1 + math.exp(1 / 3)))
    assert parse("UDCG@2").score([1, 1, -1]) == pytest.approx(1 / (1 + math.exp(-1)))
    assert parse("UDCG@1").score([-1e6]) == 0 and parse("UDCG@1").score([1e6]) == 1
    assert parse("UDCG(gain=scaled)@2").score([3, -3]) == pytest.approx(1 / (1 + math.exp(-1 / 3)))
    with pytest.raises(UsageError, match="a cutoff is required"):
        parse("UDCG")


def test_other_gains_do_not_see_distractors() -> None:
    qrels, lists = {"q": {"a": 1, "bad": -1, "b": 1}}, ({"q": ["a", "bad", "b"]}, {"q": ["a", "x", "b"]})
    for measure in ("nDCG@3", "DCG@3", "RBP", "ERR", "AP"):
        one, other = (evaluate(qrels, run, measure).mean(measure) for run in lists)
        assert one == other, measure
    one, other = (evaluate(qrels, run, "UDCG@3").mean("UDCG@3") for run in lists)
    assert one < other
    unjudged = evaluate(qrels, lists[0], "UDCG@3", policy=Policy(negative="unjudged"))
    assert unjudged.mean("UDCG@3") == other
