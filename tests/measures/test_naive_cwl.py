"""C/W/L by plain loops: how likely the user goes on after each rank, and what follows from it."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from functools import cache

import numpy as np
import pytest

from gainful import Evaluation, Qrels, UsageError, evaluate, parse
from gainful.measures.cwl import MODELS as CONTINUATIONS, User

Grades = list[float | None]
parsed = cache(parse)


def goes_on(model: str, gains: list[float], rank: int, t: float, effort: float, p: float) -> float:
    """The probability to go on from a rank."""
    gain, had = gains[rank - 1], math.fsum(gains[:rank])
    patient = ((rank + 2 * t - 1) / (rank + 2 * t)) ** 2
    if model == "AP":
        rest = [math.fsum(each / i for i, each in enumerate(gains, 1) if i >= first) for first in (rank, rank + 1)]
        return rest[1] / rest[0] if rest[0] > 0 else 0.0
    return {
        "P": 1.0,
        "RR": float(had == 0),
        "RBP": p,
        "INST": ((rank + 2 * t - had - 1) / (rank + 2 * t - had)) ** 2,
        "INSQ": patient,
        "BPM": float(had < t - 1e-10 and rank < effort),
        "ScaledDCG": math.log2(rank + 1) / math.log2(rank + 2),
        "NERR8": 1 - gain,
        "NERR9": rank / (rank + 1) * (1 - gain),
        "NERR10": p * (1 - gain),
        "NERR11": patient * (1 - gain),
    }[model]


def expected(model: str, gains: list[float], t: float, effort: float, p: float) -> dict[str, float]:
    reached = [1.0]
    for rank in range(1, len(gains)):
        reached.append(reached[-1] * goes_on(model, gains, rank, t, effort, p))
    total = math.fsum(v * gain for v, gain in zip(reached, gains, strict=True))
    depth = math.fsum(reached)
    return {"utility": total / depth, "total": total, "depth": depth, "cost": 2 * depth}


OWN = {
    "INST": ("INST@25", "INST(T=2.5)@25"),
    "INSQ": ("INSQ@25", "INSQ(T=2.5)@25"),
    "BPM": ("BPM@25", "BPM(T=2.5, K=6)@25"),
    "ScaledDCG": ("ScaledDCG@25",),
    "NERR8": ("NERR8@25",),
    "NERR9": ("NERR9@25",),
    "NERR10": ("NERR10@25",),
    "NERR11": ("NERR11@25", "NERR11(T=2.5)@25"),
}
MODELS = ("P", "AP", "RR", "RBP", *OWN)


REPORTS = ("utility", "total", "depth", "cost", "residual", "total-residual", "depth-residual", "cost-residual")


def drawn(seed: int, choices: Grades, longest: int) -> dict[str, Grades]:
    """Lists of grades, each as a query."""
    rng = random.Random(seed)
    return {f"q{i}": rng.choices(choices, k=rng.randint(1, longest)) for i in range(30)}


def evaluated(lists: dict[str, Grades], missed: float, scale: float, texts: Iterable[str]) -> Evaluation:
    """One document of a grade is missed by each."""
    qrels = {
        query: {"missed": missed, **{f"d{i}": grade for i, grade in enumerate(grades) if grade is not None}}
        for query, grades in lists.items()
    }
    run = {query: [f"d{i}" for i in range(len(grades))] for query, grades in lists.items()}
    return evaluate(Qrels.from_dict(qrels, scale=scale), run, list(texts))


def test_random_lists() -> None:
    reports = {
        (model, report): f"CWL(model={model}, report={report}, T=2, K=7, p=0.6, cost_document=2)@25"
        for model in MODELS
        for report in REPORTS
    }
    lists = {**drawn(3, [None, -1, 0, 0, 1, 2, 3], 30), "nothing": [0, None, -1], "one": [3]}
    own = [(model, text, parse(text)) for model, texts in OWN.items() for text in texts]
    found = evaluated(lists, 3, 3, [*reports.values(), *(text for _, text, _ in own)])
    by_text = {text: found.by_query(text) for text in (*reports.values(), *(text for _, text, _ in own))}
    for query, grades in lists.items():
        gains = [max(grade or 0, 0) / 3 for grade in grades[:25]]
        gains += [0.0] * (25 - len(gains))
        for model, text, measure in own:
            t, effort, p = (getattr(measure, name, default) for name, default in (("T", 1), ("K", 10), ("p", 0.9)))
            value = expected(model, gains, t, effort, p)["utility"]
            assert by_text[text][query] == pytest.approx(value, abs=1e-12), (text, grades)
        at_best = [1.0 if grade is None else max(grade, 0) / 3 for grade in grades[:25]]
        at_best += [1.0] * (25 - len(at_best))
        for model in MODELS:
            values = expected(model, gains, 2.0, 7, 0.6)
            best = expected(model, at_best, 2.0, 7, 0.6)
            values |= {f"{of}-residual".removeprefix("utility-"): best[of] - value for of, value in values.items()}
            assert set(values) == set(REPORTS)
            for report, value in values.items():
                text = reports[model, report]
                assert by_text[text][query] == pytest.approx(value, abs=1e-12), (text, grades)


def test_the_equalities_of_the_page() -> None:
    """The direct measures cut sums at k; who reads down to k has all looks there."""
    lists, cuts = drawn(7, [None, 0, 1], 12), ("@1", "@3", "@20", "")
    models = [f"CWL(model={name}){at}" for name in ("P", "RR", "RBP", "RBP, report=residual") for at in cuts if at]
    models += ["CWL(model=RBP)", "CWL(model=RBP, report=residual)", "CWL(model=AP)"]
    direct = [f"{name}{at}" for name in ("P", "RR", "RBP", "RBPResidual", "DCG", "ScaledDCG") for at in cuts if at]
    found = evaluated(lists, 0, 1, [*models, *direct, "RBP", "RBPResidual", "AP"])
    by_text = {str(measure): found.by_query(measure) for measure in found.measures}
    for query, grades in lists.items():

        def score(text: str, query: str = query) -> float:
            value = by_text[str(parsed(text))][query]
            assert value is not None
            return value

        for k in (1, 3, 20):
            for name, model in (("P", "P"), ("RR", "RR")):
                assert score(f"CWL(model={model})@{k}") == pytest.approx(score(f"{name}@{k}"))
            within = 1 - 0.8**k
            assert score(f"CWL(model=RBP)@{k}") == pytest.approx(score(f"RBP@{k}") / within)
            residual = (score(f"RBPResidual@{k}") - 0.8**k) / within
            assert score(f"CWL(model=RBP, report=residual)@{k}") == pytest.approx(residual, abs=1e-12)
            looks = sum(1 / math.log2(rank + 1) for rank in range(1, k + 1))
            assert score(f"ScaledDCG@{k}") == pytest.approx(score(f"DCG@{k}") / looks)
        assert score("CWL(model=RBP)") == pytest.approx(score("RBP"))
        assert score("CWL(model=RBP, report=residual)") == pytest.approx(score("RBPResidual"))
        if 1 in grades:
            assert score("CWL(model=AP)") == pytest.approx(score("AP"))


def test_every_model_has_its_own_parameters() -> None:
    for model in OWN:
        found, expected_ = (parse(text).score([1, 0, 2, None, 1]) for text in (f"CWL(model={model})@20", f"{model}@20"))
        assert found == expected_, model


def test_nobody_goes_on_with_a_probability_above_1() -> None:
    gains, ranks = np.tril(np.ones((30, 30))), np.arange(1.0, 31.0)
    for model, continuation in CONTINUATIONS.items():
        goes_on = continuation(gains, ranks, User(t=0.25))
        assert goes_on.min() >= 0, model
        assert goes_on.max() <= 1, model
    for text in ("INST(T=0.2)", "CWL(model=INST, T=0.2)"):
        with pytest.raises(UsageError, match=r"at least 0\.25, found 0\.2: with less, a user of INST"):
            parse(text)


@pytest.mark.parametrize(
    "text", ["CWL@1000000000", "INST@1000000000", "ScaledDCG@1000000000", "alpha-DCG@1000000000", "ERR-IA@1000000000"]
)
def test_no_end_is_too_far(text: str) -> None:
    with pytest.raises(UsageError, match="expected a cutoff of at most 1,000,000, found 1,000,000,000"):
        parse(text)
    assert parse("nDCG@1000000000").score([1]) == 1  # nothing comes after the list


def test_what_is_not_judged_may_gain_as_much_as_the_map_gives() -> None:
    """Grades up to 4 there are, though none of it was given."""
    assert parse("CWL(model=P, gain=0..4, report=residual)@2").score([1, None]) == 0.5
