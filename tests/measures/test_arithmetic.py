"""A measure's arithmetic adds up to its score, whatever the list and the parameters."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

from gainful import Block, Measure, Policy, Qrels, parse
from gainful.data.graded import join
from gainful.data.judged import Judged
from gainful.measures.arithmetic import Arithmetic, Step, figure
from gainful.measures.catalog import FAMILIES, MEASURES

GAINS = ["", "gain=exp2", "gain=binary", "gain=scaled", "gain=0-1-10-100", "gain=0-3-0-1"]
DISCOUNTS = [
    "discount=burges2005, base=10",
    "discount=jarvelin2002, base=2",
    "discount=jarvelin2002, base=3.5",
    "discount=jarvelin2000, base=10",
    "discount=jarvelin2008, base=e",
    "discount=rank",
    "discount=none",
]
CHOSEN = ["", "rel=2", "level=1"]
ESTIMATES = [
    *("over=retrieved", "over=relevant", "over=judged", "over=100"),
    *("srs=minmax", "srs=max, over=judged", "srs=ratio", "srs=exp, over=relevant", "urs=exp2", "urs=0-1-10-100"),
    *("srs_levels=2, urs_levels=4", "srs=minmax, srs_levels=10"),
]
#: Parameters that only some measures have.
OTHERS = {
    "F": ["beta=2", "beta=0"],
    "SetF": ["beta=2", "beta=0"],
    "muAP": ["levels=all"],
    "NDCNG": ["average=ranks"],
    "Novelty": ["share=interactions"],
    **{name: ["coef=jaccard"] for name in ("ILD", "Serendipity")},
    **{name: [*ESTIMATES, "distance=squared, srs=minmax"] for name in ("ADM", "ADP", "ADR")},
    **{name: [*ESTIMATES, "t=0.4, over=100"] for name in ("Pstar", "Rstar")},
    **{name: [*ESTIMATES, "srs_threshold=0.2"] for name in ("ThresholdP", "ThresholdR", "PRmean")},
}
CUTS = ["@1", "@4", "@50"]


def written(name: str, *insides: str, at: str = "") -> str:
    inside = ", ".join(filter(None, insides))
    return f"{name}({inside}){at}" if inside else name + at


def variants(name: str) -> Iterator[str]:
    """A measure with many parameters."""
    known = MEASURES[name].parameters()
    chosen = [choice for choice in CHOSEN if choice.partition("=")[0] in ("", *known)]
    if name in FAMILIES["Earlier measures"]:
        yield from earlier_variants(name, chosen)
        return
    if name.startswith("RBP"):
        graded = ["", "p=0.5, gain=scaled", "p=0, gain=0-0.5-0.25-1", "p=0.95, gain=linear, scale=query"]
        for inside, choice, at in product(graded, chosen, ["", *CUTS]):
            yield written(name, inside, choice, at=at)
        return
    if name in FAMILIES["Diversity"]:
        texts = ("gain=exp2", "alpha=0.9", "gamma=0.5")
        own = ["", *(text for text in texts if text.split("=")[0] in known)]
        cuts = CUTS if MEASURES[name].needs_at else ["", *CUTS] if MEASURES[name].at_parameter() else [""]
        yield from (written(name, inside, at=at) for inside in own for at in cuts)
        return
    if name in FAMILIES["C/W/L"]:
        reports = [f"model=INST, report={what}" for what in ("total", "depth", "cost", "residual", "depth-residual")]
        own = ["", "gain=0-0.5-0.25-1", *(["T=2.5"] if "T" in known else []), *(reports if name == "CWL" else [])]
        for inside, choice, at in product(own, chosen, CUTS if MEASURES[name].needs_at else ["", *CUTS]):
            yield written(name, inside, choice, at=at)
        return
    if "gain" in known and (name not in FAMILIES["Generalised precision and recall"]):
        cuts = ["", *CUTS] if "cutoff" in known else [""]
        discounts = ["", *DISCOUNTS] if "discount" in known else [""]
        for gain, discount, choice in product(GAINS, discounts, chosen):
            if not (gain and discount and choice):
                yield from (written(name, gain, discount, choice, at=at) for at in cuts)
                if "average" in known:
                    yield from (written(name, gain, discount, "average=ranks", choice, at=at) for at in CUTS)
        return
    others = ["", "beta=2", "beta=0"] if "beta" in known else [""]
    if name == "Utility":
        others = ["", "a=2, b=-0.5, c=-1", "d=0.25, N=1000"]
    elif name == "IAP":
        others = ["", "points=0.25-0.5-0.75", "points=1"]
    elif name in OTHERS or "gain" in known:
        others = ["", *OTHERS.get(name, GAINS[1:])]
    if MEASURES[name].at_parameter() == "recall":
        ats = ["@0", "@0.3", "@0.5", "@1"]
    elif MEASURES[name].at_parameter() == "multiple":
        ats = ["@0.01", "@0.2", "@1", "@2.5"]
    elif "cutoff" in known:
        ats = CUTS if MEASURES[name].needs_at else ["", *CUTS]
    else:
        ats = [""]
    for choice, other, at in product(chosen, others, ats):
        if at or "average" not in other:
            yield written(name, other, choice, at=at)


#: What parameters of the earlier measures are tried with.
OWN: dict[str, list[str]] = {
    "N": ["N=100", "N=100, unretrieved=bottom", "N=100, tied=expected", "tied=expected"],
    "n": ["n=2", "n=2, N=100, count=all", "n=4, N=100", "n=4, N=100, unretrieved=bottom", "n=2, tied=policy"],
    "average": ["average=ranks"],
    "w": ["w=0", "w=0.2", "w=1", "w=0.7, average=ranks"],
    "coef": ["coef=jaccard"],
    "alpha": ["alpha=0", "alpha=0.2", "alpha=1"],
}


def earlier_variants(name: str, chosen: list[str]) -> Iterator[str]:
    known = MEASURES[name].parameters()
    own = [text for key, texts in OWN.items() if key in known for text in texts]
    own = [text for text in own if all(part.split("=")[0] in known for part in text.split(", "))]
    ats = CUTS if MEASURES[name].needs_at else ["", *CUTS] if "cutoff" in known else [""]
    for gain, inside, choice in product(GAINS if "gain" in known else [""], ["", *own], chosen):
        yield from (written(name, gain, inside, choice, at=at) for at in ats)


def test_every_measure_has_variants() -> None:
    assert all(any(parse(text).name == name for text in variants(name)) for name in MEASURES)


def one_block(judgments: dict[str, float], run: object, scale: float | None = None, **policy: Any) -> Block:
    settled = Policy(**policy, subtopics=True)  # one for all documents, for measures of diversity
    # Items and what users had before are for measures of recommendation.
    genres = {f"{kind}{i}": f"a{i % 3}|b{i % 2}" if kind == "d" else "" for kind in "dx" for i in range(50)}
    qrels = Qrels.from_dict({"q": judgments}, scale=scale).with_items(genres, {"q": ["d1", "d2", "d7"], "r": ["d7"]})
    judged = Judged(qrels, settled)
    graded = join(judged, {"q": run}, settled, want_scores=isinstance(run, dict), want_rows=True)
    return Block(graded.condensed() if settled.unjudged == "condensed" else graded, np.array([0]))


def random_query(seed: int) -> tuple[dict[str, float], dict[str, float]]:
    """Judgments with negative grades, and a list with unjudged documents and ties; short, long, or empty."""
    rng = random.Random(seed)
    judged = {f"d{i}": rng.choice([-1, 0, 0, 1, 1, 2, 3]) for i in range(rng.choice([1, 3, 12, 30]))}
    pool = [*judged, *(f"x{i}" for i in range(rng.choice([0, 2, 20])))]
    found = rng.sample(pool, min(len(pool), rng.choice([0, 1, 4, 9, 40])))
    return judged, {document: float(rng.randrange(5)) for document in found}


POLICIES: list[dict[str, Any]] = [
    {},
    {"unjudged": "condensed"},
    {"depth": 3},
    {"negative": "unjudged", "recall_cut": "ceil0.9"},
    {"grade_zero": 1, "ties": "docid-asc", "unjudged": "condensed", "depth": 6},
]


@cache
def random_block(seed: int, policy: int = 0) -> Block:
    """As in an evaluation, all measures look at the same block."""
    return one_block(*random_query(seed), scale=3, **POLICIES[policy])


def test_adds_up_to_the_score() -> None:
    failures = []
    measures = [parse(text) for name in MEASURES for text in variants(name)]
    for seed in range(48):
        block = random_block(seed, seed % len(POLICIES))
        # Each with two queries and policies.
        for measure in measures[seed % 24 :: 24]:
            found, score = explained(measure, block).value, float(measure.compute(block)[0])
            is_same = math.isclose(found, score, rel_tol=1e-12, abs_tol=1e-15)
            if not is_same and not (math.isnan(found) and math.isnan(score)):
                failures.append((str(measure), seed, found, score))
    assert not failures


def explained(measure: Measure, block: Block) -> Arithmetic:
    arithmetic = measure.arithmetic(block)
    assert arithmetic is not None
    sizes = {values.size for values in arithmetic.columns.values()}
    assert len(sizes) <= 1
    for column in (arithmetic.adds, arithmetic.running):
        assert column is None or column in arithmetic.columns
    return arithmetic


def test_a_rank_that_adds_nothing_can_be_left_out() -> None:
    # Without the documents that add nothing, found counts and gains stay the same: `adds` tells the truth.
    for name in MEASURES:
        for seed in range(10):
            arithmetic = explained(parse(next(variants(name))), random_block(seed))
            if arithmetic.adds is None or "found" not in arithmetic.columns:
                continue
            rises = np.diff(arithmetic.columns["found"], prepend=0.0) != 0
            assert (rises == (arithmetic.columns[arithmetic.adds] != 0)).all()


class TestPaper:
    """jarvelin2002, section 2: G' = 3 2 3 0 0 1 2 2 3 0, and its ideal vector."""

    JUDGED = {f"found{i}": g for i, g in enumerate([3, 2, 3, 0, 0, 1, 2, 2, 3, 0])} | {
        f"missed{i}": 1 for i in range(3)
    }
    BLOCK_RUN = [f"found{i}" for i in range(10)]

    def columns(self, measure: str) -> dict[str, list[float]]:
        arithmetic = parse(measure).arithmetic(one_block(self.JUDGED, self.BLOCK_RUN))
        assert arithmetic is not None
        return {name: [round(value, 2) for value in values.tolist()] for name, values in arithmetic.columns.items()}

    def test_cumulated_gain(self) -> None:
        columns = self.columns("nCG@10")
        assert columns["gain"] == [3, 2, 3, 0, 0, 1, 2, 2, 3, 0]
        assert columns["ideal gain"] == [3, 3, 3, 2, 2, 2, 1, 1, 1, 1]
        assert columns["CG"] == [3, 5, 8, 8, 8, 9, 11, 13, 16, 16]
        assert columns["ideal CG"] == [3, 6, 9, 11, 13, 15, 16, 17, 18, 19]
        assert columns["nCG"] == [1, 0.83, 0.89, 0.73, 0.62, 0.6, 0.69, 0.76, 0.89, 0.84]
        assert "discount" not in columns

    def test_discounted(self) -> None:
        columns = self.columns("nDCG(discount=jarvelin2002)@10")
        assert columns["DCG"] == [3, 5, 6.89, 6.89, 6.89, 7.28, 7.99, 8.66, 9.61, 9.61]
        assert columns["ideal DCG"] == [3, 6, 7.89, 8.89, 9.75, 10.53, 10.88, 11.22, 11.53, 11.83]
        assert columns["discount"][:4] == [1, 1, 1.58, 2]
        assert columns["gain/discount"][:4] == [3, 2, 1.89, 0]


NO_DOCUMENT = "RprecMult@0.01 = 0 / 0 is undefined (no document to look at)"


class TestSteps:
    @pytest.mark.parametrize(
        ("measure", "grades", "missed", "lines"),
        [
            ("P@4", [2, 0, 1, 0], [], ["P@4 = 2 / 4 = 0.5000"]),
            ("R@4", [2, 0, 1, 0], [1], ["R@4 = 2 / 3 = 0.6667"]),
            ("R@4", [0], [], ["R@4 = 0 / 0 is undefined (nothing is relevant)"]),
            ("CG@4", [2, 0, 1, 3], [], ["CG@4 = 2 + 1 + 3 = 6"]),
            ("CG(average=ranks)@4", [2, 1], [], ["CG(average=ranks)@4 = (2 + 3 + 3 + 3) / 4 = 2.7500"]),
            (
                "nDCG@3",
                [1, 0, 2],
                [3],
                [
                    "DCG@3 = 1 + 1 = 2",
                    "ideal DCG@3 = 3 + 1.2619 + 0.5000 = 4.7619",
                    "nDCG@3 = 2 / 4.7619 = 0.4200",
                ],
            ),
            (
                "nDCG@3",
                [0],
                [],
                ["DCG@3 = 0", "ideal DCG@3 = 0", "nDCG@3 = 0 / 0 is undefined (no document has a gain above 0)"],
            ),
            ("AP", [1, 0, 1], [1], ["sum of precisions = 1 + 0.6667 = 1.6667", "AP = 1.6667 / 3 = 0.5556"]),
            ("RR", [0, 0, 1], [], ["RR = 1 / 3 = 0.3333 (the first relevant document is at rank 3)"]),
            ("RR@2", [0, 0, 1], [], ["RR@2 = 0 (no relevant document in the top 2)"]),
            (
                "F@4",
                [2, 0, 1, 0],
                [1],
                [
                    "P@4 = 2 / 4 = 0.5000",
                    "R@4 = 2 / 3 = 0.6667",
                    "F@4 = (1 + 1) * 0.5000 * 0.6667 / (1 * 0.5000 + 0.6667) = 0.5714",
                ],
            ),
            ("SetF", [0], [1], ["SetP = 0 / 1 = 0", "SetR = 0 / 1 = 0", "SetF = 0 (nothing was found)"]),
            (
                "IPrec@1",
                [1, 0, 1],
                [],
                [
                    "IPrec@1 = 0.6667 (the highest precision with 2 or more of 2 relevant documents found, at rank 3; "
                    "2 = ceil(1 * 2))",
                ],
            ),
            (
                "IPrec@0.5",
                [1, 0],
                [1, 1, 1],
                ["IPrec@0.5 = 0 (never with 2 or more of 4 relevant documents found; 2 = ceil(0.5 * 4))"],
            ),
            ("Success@2", [0, 2, 1], [], ["Success@2 = min(1, 1) = 1"]),
            ("Judged@4", [1, None, 0], [], ["Judged@4 = 2 / 3 = 0.6667"]),
            ("NumRel", [1, 0], [1], ["NumRel = 2 (the size of the recall base)"]),
            ("Unjudged@4", [1, None, 0], [], ["Unjudged@4 = 1 / 4 = 0.2500"]),
            ("RelP@4", [2, 0, 1], [1], ["RelP@4 = 2 / 3 = 0.6667"]),
            ("SetRelP", [], [1], ["SetRelP = 0 / 0 is undefined (nothing was retrieved)"]),
            ("RprecMult@2", [1, 0], [1], ["documents = floor(2 * 2 + 0.9) = 4", "RprecMult@2 = 1 / 4 = 0.2500"]),
            ("RprecMult@0.01", [1], [], ["documents = floor(0.0100 * 1 + 0.9) = 0", NO_DOCUMENT]),
            (
                "SetAP",
                [1, 0],
                [1],
                ["SetP = 1 / 2 = 0.5000", "SetR = 1 / 2 = 0.5000", "SetAP = 0.5000 * 0.5000 = 0.2500"],
            ),
            ("Utility(a=2)", [1, 0, 0], [1], ["Utility(a=2) = 2 * 1 + -1 * 2 + 0 * 1 = 0"]),
            ("Utility(d=1, N=9)", [1, 0], [], ["Utility(d=1, N=9) = 1 * 1 + -1 * 1 + 0 * 0 + 1 * 7 = 7"]),
            (
                "IAP(points=0.5-1)",
                [1, 0, 1],
                [],
                [
                    "IPrec@0.5 = 1 (1 document needed)",
                    "IPrec@1 = 0.6667 (2 documents needed)",
                    "IAP(points=0.5-1) = (1 + 0.6667) / 2 = 0.8333",
                ],
            ),
            ("Bpref", [1, 0, None, 1, 0], [1], ["sum of shares = 1 + 0.5000 = 1.5000", "Bpref = 1.5000 / 3 = 0.5000"]),
            (
                "InfAP",
                [1, 0, 1],
                [],
                ["sum of expected precisions = 1 + 0.6667 = 1.6667", "InfAP = 1.6667 / 2 = 0.8333"],
            ),
            ("binG", [1, 0, 1], [], ["sum = 1 + 0.6309 = 1.6309", "binG = 1.6309 / 2 = 0.8155"]),
            ("G", [0, 2], [], ["sum = 1.2619", "all gains = 2", "G = 1.2619 / 2 = 0.6309"]),
            (
                "nDCGrel",
                [0, 1],
                [1],
                ["sum of nDCG = 0.3869", "nDCGrel = (0.3869 + 1 * 0.3869) / 2 = 0.3869"],
            ),
            ("RnDCG", [1, 2], [], ["nDCG@1 = 0.5000", "nDCG@2 = 0.8597", "RnDCG = (0.5000 + 0.8597) / 2 = 0.6799"]),
            ("RBP(p=0.5)", [1, 0, 1], [], ["RBP(p=0.5) = 0.5000 + 0.1250 = 0.6250"]),
            (
                "RBPResidual(p=0.5)",
                [1, None, 0],
                [],
                [
                    "unjudged weight = 0.2500",
                    "weight after rank 3 = 0.5000^3 = 0.1250",
                    "RBPResidual(p=0.5) = 0.2500 + 0.1250 = 0.3750",
                ],
            ),
            ("ERR", [1, 2], [], ["ERR = 0.2500 + 0.2812 = 0.5312"]),
            (
                "nERR@2",
                [1, 2],
                [],
                [
                    "ERR@2 = 0.2500 + 0.2812 = 0.5312",
                    "ideal ERR@2 = 0.7500 + 0.0312 = 0.7812",
                    "nERR@2 = 0.5312 / 0.7812 = 0.6800",
                ],
            ),
        ],
    )
    def test_in_words(self, measure: str, grades: list[float | None], missed: list[float], lines: list[str]) -> None:
        judged = {f"d{i}": g for i, g in enumerate(grades) if g is not None} | {
            f"m{i}": g for i, g in enumerate(missed)
        }
        arithmetic = parse(measure).arithmetic(one_block(judged, [f"d{i}" for i in range(len(grades))]))
        assert arithmetic is not None
        assert [str(step) for step in arithmetic.steps] == lines

    def test_long_sums_have_dots_and_say_how_long_they_are(self) -> None:
        step = Step.sum_of("CG", np.arange(0.0, 13.0), 78.0)
        assert str(step) == "CG = 1 + 2 + 3 + 4 + 5 + 6 + ... + 12 = 78 (12 terms)"

    def test_places(self) -> None:
        assert Step("P@3", "{} / {}", (2, 3), 2 / 3).text(2) == "P@3 = 2 / 3 = 0.67"
        assert (figure(0.00001234, 2), figure(1e20), figure(-0.5, 1)) == ("1.23e-05", "1e+20", "-0.5")

    def test_numbers_without_end(self) -> None:
        assert (figure(math.inf), figure(-math.inf)) == ("inf", "-inf")

    def test_a_value_that_is_undefined(self) -> None:
        assert str(Step("X", "", (), math.nan)) == "X is undefined"


def test_own_measures_need_no_arithmetic() -> None:
    class Own(Measure):
        name = "Own"

        def compute(self, block: Block) -> Any:
            return np.zeros(block.size)

    assert Own().arithmetic(one_block({"d": 1}, ["d"])) is None
