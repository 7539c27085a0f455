"""trec_eval's measures, RBP and ERR against naive computations: loops over plain Python values, word by word."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import permutations
from typing import Any, NamedTuple

import pytest

from gainful import InputError, Policy, UsageError, evaluate, parse

Grades = list[float | None]
Row = dict[str, Any]

ELEVEN = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]


class View:
    """One list as a measure sees it: grades by rank, None for unjudged; the judged grades; who was in the pool."""

    def __init__(self, documents: list[str], grades: dict[str, float], pool: set[str], condensed: bool) -> None:
        seen = [document for document in documents if document in grades or not condensed]
        self.ranked: Grades = [grades.get(document) for document in seen]
        self.in_pool = [document in pool for document in seen]
        self.whole: Grades = [grades.get(document) for document in documents]
        self.judged = list(grades.values())

    def __len__(self) -> int:
        return len(self.ranked)


def is_relevant(grade: float | None, spec: Row) -> bool:
    if grade is None:
        return False
    if "level" in spec:
        return bool(grade == spec["level"])
    return bool(grade >= spec["rel"]) if "rel" in spec else grade > 0


def gain_of(grade: float | None, spec: Row, scale: float) -> float:
    if grade is None or grade < 0 or (("rel" in spec or "level" in spec) and not is_relevant(grade, spec)):
        return 0.0
    gain = spec["gain"]
    if isinstance(gain, dict):
        return float(gain[grade])
    if gain == "scaled":
        return grade / scale if scale > 0 else 0.0
    return {"linear": float(grade), "exp2": 2.0**grade - 1, "binary": float(grade > 0)}[gain]


def relevant_ranks(view: View, spec: Row) -> list[int]:
    return [rank for rank, grade in enumerate(view.ranked, start=1) if is_relevant(grade, spec)]


def recall_base(view: View, spec: Row) -> int:
    return sum(is_relevant(grade, spec) for grade in view.judged)


def divided(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator else math.nan


def mean_over_base(terms: list[float], view: View, spec: Row) -> float:
    return divided(sum(terms), recall_base(view, spec))


# --- By relevance ---------------------------------------------------------------------------------------------------


def bpref(view: View, spec: Row) -> float:
    relevant = recall_base(view, spec)
    others = len(view.judged) - relevant
    terms = []
    for rank in relevant_ranks(view, spec):
        above = sum(grade is not None and not is_relevant(grade, spec) for grade in view.ranked[: rank - 1])
        terms.append(1 - min(above, relevant) / min(others, relevant) if above else 1.0)
    return mean_over_base(terms, view, spec)


def inf_ap(view: View, spec: Row) -> float:
    e, terms = 0.00001, []
    for rank in relevant_ranks(view, spec):
        above = view.ranked[: rank - 1]
        good = sum(is_relevant(grade, spec) for grade in above)
        bad = sum(grade is not None for grade in above) - good
        pool = sum(view.in_pool[: rank - 1])
        share = pool / (rank - 1) if rank > 1 else 0.0
        expected_above = share * (good + e) / (good + bad + 2 * e)
        terms.append(1 / rank + (rank - 1) / rank * expected_above)
    return mean_over_base(terms, view, spec)


def average_precision(view: View, spec: Row) -> float:
    ranks = [rank for rank in relevant_ranks(view, spec) if rank <= spec.get("cutoff", math.inf)]
    return mean_over_base([i / rank for i, rank in enumerate(ranks, start=1)], view, spec)


def interpolated(view: View, spec: Row, policy: dict[str, Any]) -> float:
    base, values = recall_base(view, spec), []
    ranks = relevant_ranks(view, spec)
    for point in spec.get("points") or ELEVEN:
        added = {"round": 0.5, "ceil0.9": 0.9}.get(policy.get("recall_cut", "exact"))
        needed = math.ceil(Fraction(str(point)) * base) if added is None else math.floor(point * base + added)
        reached = [sum(r <= rank for r in ranks) / rank for rank in range(1, len(view) + 1)]
        allowed = [p for rank, p in enumerate(reached, start=1) if sum(r <= rank for r in ranks) >= needed]
        values.append(max(allowed, default=0.0))
    return sum(values) / len(values) if base else math.nan


def at_multiple(view: View, spec: Row) -> float:
    depth = int(spec["multiple"] * recall_base(view, spec) + 0.9)
    return divided(sum(rank <= depth for rank in relevant_ranks(view, spec)), depth)


def of_sets(view: View, spec: Row) -> float:
    """RelP, SetRelP, SetAP, Utility, counts, binG."""
    name, k = spec["name"], spec.get("cutoff")
    base, ranks = recall_base(view, spec), relevant_ranks(view, spec)
    if name == "RelP":
        return divided(sum(rank <= k for rank in ranks), min(k, base))
    if name == "SetRelP":
        return divided(len(ranks), min(len(view), base))
    if name == "SetAP":
        return math.nan if not base else len(ranks) / len(view) * len(ranks) / base if len(view) else 0.0
    if name == "NumNonRelJudgedRet":
        return float(sum(grade is not None and not is_relevant(grade, spec) for grade in view.ranked))
    if name == "Unjudged":
        return sum(grade is None for grade in view.whole[:k]) / k
    if name == "binG":
        above = [rank - i for i, rank in enumerate(ranks, start=1)]
        return mean_over_base([1 / math.log2(2 + count) for count in above], view, spec)
    assert name == "Utility"
    prices = [spec.get(price, default) for price, default in zip("abcd", (1, -1, 0, 0), strict=True)]
    outside = spec.get("N", 0) - len(view) - base + len(ranks)
    counts = [len(ranks), len(view) - len(ranks), base - len(ranks), outside]
    return float(sum(price * count for price, count in zip(prices, counts, strict=True)))


# --- By gains -------------------------------------------------------------------------------------------------------


def gains_of(grades: Grades, spec: Row, scale: float) -> list[float]:
    return [gain_of(grade, {"gain": "linear", **spec}, scale) for grade in grades]


def both(view: View, spec: Row, scale: float) -> tuple[list[float], list[float]]:
    """The gains of the list, and those of the ideal one."""
    ideal = sorted(gains_of(list(view.judged), spec, scale), reverse=True)
    return gains_of(view.ranked, spec, scale), [gain for gain in ideal if gain > 0]


def dcg(gains: list[float], depth: int) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains[:depth], start=1))


def ndcg_of_points(view: View, spec: Row, scale: float) -> float:
    """nDCGrel and RnDCG."""
    gains, ideal = both(view, spec, scale)
    n = len(ideal)
    if not n:
        return math.nan

    def ndcg(depth: int) -> float:
        return dcg(gains, depth) / dcg(ideal, depth)

    if spec["name"] == "nDCGrel":
        at = [rank for rank, gain in enumerate(gains, start=1) if gain > 0]
        return (sum(map(ndcg, at)) + (n - len(at)) * ndcg(10**6)) / n
    points = [sum(gain >= level for gain in ideal) for level in sorted(set(ideal), reverse=True)]
    if len(gains) > n + 1:
        points.append(len(gains))
    return sum(map(ndcg, points)) / len(points)


def g_measure(view: View, spec: Row, scale: float) -> float:
    gains, ideal = both(view, spec, scale)
    total = 0.0
    for rank, gain in enumerate(gains, start=1):
        cost = sum(max(1.0, ideal[i] if i < len(ideal) else 0.0) for i in range(rank))
        total += gain / math.log2(2 + cost - sum(gains[:rank]))
    return divided(total, sum(ideal))


def rank_biased(view: View, spec: Row, scale: float) -> float:
    p, k = spec.get("p", 0.8), spec.get("cutoff", len(view))
    spec = {"gain": "binary", **spec}
    gains = gains_of(view.ranked, spec, scale)
    without_choice = {key: value for key, value in spec.items() if key not in ("rel", "level")}
    highest = max([1.0, *gains_of(list(view.judged), without_choice, scale)]) if "scale" in spec else 1.0
    if spec["name"] == "RBP":
        return sum((1 - p) * p**i * gain / highest for i, gain in enumerate(gains[:k]))
    shown = view.ranked[:k]
    weight = sum((1 - p) * p**i for i, grade in enumerate(shown) if grade is None) + p ** len(shown)
    return weight * most(spec, scale)


def most(spec: Row, scale: float) -> float:
    """The highest gain that a document can have."""
    if "scale" in spec or spec["gain"] == "binary":
        return 1.0
    candidates = list(spec["gain"]) if isinstance(spec["gain"], dict) else [spec.get("level", scale)]
    return max((gain_of(grade, spec, scale) for grade in candidates), default=0.0)


def err(gains: list[float], spec: Row, scale: float) -> float:
    gain = spec["gain"]
    highest = max(gain.values()) if isinstance(gain, dict) else gain_of(scale, {"gain": gain}, scale)
    going_on, total = 1.0, 0.0
    for rank, value in enumerate(gains[: spec.get("cutoff")], start=1):
        stops = value / (1 + highest)
        total += going_on * stops / rank
        going_on *= 1 - stops
    return total


def cascade(view: View, spec: Row, scale: float) -> float:
    spec = {"gain": "exp2", **spec}
    gains, ideal = both(view, spec, scale)
    if spec["name"] == "ERR":
        return err(gains, spec, scale)
    return divided(err(gains, spec, scale), err(ideal, spec, scale))


def raw_score(view: View, spec: Row, scale: float, policy: dict[str, Any]) -> float:
    name = spec["name"]
    if name in ("AP", "GMAP"):
        return average_precision(view, spec)
    if name in ("Bpref", "GMBpref"):
        return bpref(view, spec)
    if name == "InfAP":
        return inf_ap(view, spec)
    if name == "IAP":
        return interpolated(view, spec, policy)
    if name == "RprecMult":
        return at_multiple(view, spec)
    if name == "idealDCG":
        return dcg(both(view, spec, scale)[1], spec.get("cutoff", 10**6))
    if name in ("nDCGrel", "RnDCG"):
        return ndcg_of_points(view, spec, scale)
    if name == "G":
        return g_measure(view, spec, scale)
    if name in ("RBP", "RBPResidual"):
        return rank_biased(view, spec, scale)
    if name in ("ERR", "nERR"):
        return cascade(view, spec, scale)
    return of_sets(view, spec)


class Case(NamedTuple):
    """Judgments, a run of scores, and the choices that differ from the defaults."""

    judgments: dict[str, dict[str, float]]
    run: dict[str, dict[str, float]]
    policy: dict[str, Any]

    def value(self, query: str, spec: Row) -> tuple[float | None, str | None]:
        """The value of a query after the policy, and what the policy had to do."""
        scores, judged, policy = self.run.get(query), self.judgments[query], self.policy
        ranking = sorted(scores or {}, key=lambda document: (scores[document], document.encode()), reverse=True)
        unjudged = policy.get("negative") == "unjudged"
        grades = {document: grade for document, grade in judged.items() if grade >= 0 or not unjudged}
        condensed = spec.get("unjudged", policy.get("unjudged")) == "condensed"
        view = View(ranking[: policy.get("depth")], grades, set(judged), condensed)
        raw = raw_score(view, spec, self.scale, policy)
        if scores is None:
            settled = 0.0 if math.isnan(raw) else raw
            return (None if policy.get("missing") == "skip" else settled), "missing"
        if math.isnan(raw):
            return (None if policy.get("undefined") == "skip" else 0.0), "undefined"
        return raw, None

    @property
    def scale(self) -> float:
        return max(grade for judged in self.judgments.values() for grade in judged.values())

    def has_weights(self, spec: Row) -> bool:
        """Whether the spec gives every grade in the judgments a weight."""
        grades = {grade for judged in self.judgments.values() for grade in judged.values() if grade >= 0}
        return not isinstance(spec.get("gain"), dict) or grades <= set(spec["gain"])


def random_case(seed: int) -> Case:
    """Small, with ties, unjudged documents, negative and real grades, short and empty lists, queries not answered."""
    rng = random.Random(seed)
    pool = rng.choice([[-2, -1, 0, 0, 0, 1, 1, 2, 3], [-0.5, 0, 0, 0.25, 0.5, 1, 1.5, 3]])
    documents = [f"{rng.choice(['D', 'd', 'é', '-'])}{i}" for i in range(25)]
    judgments, run = {}, {}
    for number in range(8):
        chosen = [0, -1] if number == 3 else pool  # a query without anything relevant
        judgments[f"q{number}"] = {
            document: float(rng.choice(chosen)) for document in rng.sample(documents, rng.randint(1, 14))
        }
        if number == 0 or rng.random() < 0.8:
            listed = rng.sample(documents, rng.choice([0, 1, 3, 10, 20]) if number else 12)
            run[f"q{number}"] = {document: rng.choice([0.5, 0.25, -1.0, rng.random()]) for document in listed}
    judgments["q0"]["d with the highest grade"] = 3.0
    policy = {
        "depth": rng.choice([None, None, 1, 5, 12]),
        "unjudged": rng.choice(["zero", "zero", "condensed"]),
        "negative": rng.choice(["judged", "unjudged"]),
        "missing": rng.choice(["zero", "skip"]),
        "undefined": rng.choice(["zero", "skip"]),
        "recall_cut": rng.choice(["exact", "round", "ceil0.9"]),
    }
    return Case(judgments, run, policy)


# --- What is compared -----------------------------------------------------------------------------------------------

WEIGHTS = {0: 0, 1: 0.25, 2: 1, 3: 0.5}
REAL_WEIGHTS = {0: 0, 0.25: 0.5, 0.5: 0.25, 1: 0.75, 1.5: 0.5, 3: 1}
LEVELS = {0: 0, 1: 5, 2: 2.5, 3: 100}
CHOSEN: list[Row] = [{}, {"rel": 2}, {"rel": 0.5}, {"level": 1}]
BINARY = [{**choice, **view} for choice in [*CHOSEN, {"rel": 0}] for view in ({}, {"unjudged": "condensed"})]
GAINS: list[Row] = [{}, {"gain": "linear"}, {"gain": "exp2"}, {"gain": "binary"}, {"gain": "scaled"}, {"gain": LEVELS}]
CUTS: list[Row] = [{}, {"cutoff": 1}, {"cutoff": 4}, {"cutoff": 50}]
BIASED: list[Row] = [
    *({**choice, **view} for choice in CHOSEN for view in ({}, {"unjudged": "condensed"})),
    *({"p": p, "gain": "scaled", **choice} for p in (0, 0.5, 0.95) for choice in CHOSEN),
    *({"gain": gain} for gain in (WEIGHTS, REAL_WEIGHTS)),
    *({"p": 0.9, "gain": gain, "scale": "query", **more} for gain in ("linear", "exp2", LEVELS) for more in CHOSEN),
]


def specs() -> list[Row]:
    listed: list[Row] = []
    for name in ("Bpref", "GMBpref", "NumNonRelJudgedRet"):
        listed += combine(name, *CHOSEN)
    for name in ("InfAP", "SetAP", "SetRelP", "binG", "IAP", "Utility"):
        listed += combine(name, *BINARY)
    listed += combine("IAP", {"points": [0.25, 0.5, 0.75]}, {"points": [1.0], "rel": 1})
    listed += combine("Utility", {"a": 2, "b": -0.25, "c": -1}, {"d": 0.5, "N": 1000}, {"b": 0, "rel": 2})
    listed += combine("RelP", *({**choice, "cutoff": k} for choice in BINARY for k in (1, 3, 50)))
    listed += combine("RprecMult", *({**choice, "multiple": m} for choice in BINARY for m in (0.01, 0.2, 0.5, 1, 2.5)))
    listed += combine("GMAP", *({**choice, **cut} for choice in BINARY for cut in CUTS))
    listed += combine("Unjudged", *CUTS[1:])
    for name in ("nDCGrel", "RnDCG", "G"):
        listed += combine(name, *({**gain, **choice} for gain in GAINS for choice in CHOSEN))
        listed += combine(name, {"unjudged": "condensed"})
    for name in ("ERR", "nERR", "idealDCG"):
        listed += combine(name, *({**gain, **cut} for gain in GAINS for cut in CUTS))
        listed += combine(name, *({**choice, **cut} for choice in CHOSEN[1:] for cut in CUTS))
    for name in ("ERR", "nERR"):
        listed += combine(name, *({"unjudged": "condensed", **cut} for cut in CUTS))
    for name in ("RBP", "RBPResidual"):
        listed += combine(name, *({**inside, **cut} for inside in BIASED for cut in CUTS))
    return listed


def combine(name: str, *options: Row) -> list[Row]:
    return [{"name": name, **option} for option in options]


def written(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{grade}:{gain}" for grade, gain in value.items()) + "}"
    return "-".join(map(str, value)) if isinstance(value, list) else str(value)


def text_of(spec: Row) -> str:
    inside = ", ".join(f"{key}={written(value)}" for key, value in spec.items() if key != "name")
    return f"{spec['name']}({inside})"


SPECS = list({parse(text_of(spec)): spec for spec in specs()}.values())


def agree(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-12)


def check(case: Case, chosen: list[Row]) -> None:
    measures = {parse(text_of(spec)): spec for spec in chosen if case.has_weights(spec)}
    result = evaluate(case.judgments, case.run, list(measures), policy=Policy(**case.policy))
    for measure, spec in measures.items():
        counted = []
        for score in result.scores(measure):
            value, status = case.value(score.query, spec)
            assert agree(score.value, value), f"{measure}, {score.query}: expected {value}, found {score.value}"
            assert score.status == status, f"{measure}, {score.query}"
            counted += [] if value is None else [value]
        if not counted:
            assert math.isnan(result.aggregate(measure)), str(measure)
            continue
        if measure.name.startswith("GM"):
            together = math.prod(max(value, 1e-5) for value in counted) ** (1 / len(counted))
        else:
            together = sum(counted) / (1 if measure.name.startswith("Num") else len(counted))
        assert agree(result.aggregate(measure), together), str(measure)


@pytest.mark.parametrize("seed", range(20))
def test_random_cases(seed: int) -> None:
    check(random_case(seed), SPECS[seed % 4 :: 4])


@pytest.mark.parametrize("negative", ["judged", "unjudged"])
@pytest.mark.parametrize("unjudged", ["zero", "condensed"])
def test_documents_of_the_pool(negative: str, unjudged: str) -> None:
    """Inferred AP asks whether a document without a judgment was in the pool."""
    grades = {"a": -1.0, "b": 1.0, "c": -2.0, "d": 0.0, "e": 2.0, "f": -1.0}
    run = {document: -float(rank) for rank, document in enumerate("axbcydefz")}
    check(Case({"q": grades}, {"q": run}, {"negative": negative, "unjudged": unjudged}), SPECS)


def test_the_pool_counts() -> None:
    # At rank 2 of a document of the pool that nobody judged, and of one that was not in the pool.
    judged = {"q": {"pooled": -1, "good": 1}}
    policy = Policy(negative="unjudged")
    after_pooled = evaluate(judged, {"q": ["pooled", "good"]}, "InfAP", policy=policy).mean("InfAP")
    after_other = evaluate(judged, {"q": ["other", "good"]}, "InfAP", policy=policy).mean("InfAP")
    assert after_pooled == pytest.approx((1 + 1 / 2) / 2)  # nothing is known of it: relevant or not
    assert after_other == 1 / 2


@pytest.mark.parametrize("grades", [[1, 2, 3], [0, 1, 1, 3], [3, 3, 0, 1, 2]])
def test_no_order_has_a_higher_err_than_the_best_grade_first(grades: list[int]) -> None:
    err, normalised = parse("ERR"), parse("nERR")
    found = {order: err.score(order, scale=3) for order in permutations(grades)}
    best = max(found.values())
    assert best == err.score(sorted(grades, reverse=True), scale=3)
    for order, value in found.items():
        assert normalised.score(order, scale=3) == pytest.approx(value / best)


def test_a_collection_that_cannot_hold_the_list() -> None:
    with pytest.raises(UsageError, match="Utility: expected N of at least 3, the documents of one query, found 2"):
        parse("Utility(d=1, N=2)").score([1, 0], unretrieved=[1])
    assert parse("Utility(d=1, N=3)").score([1, 0], unretrieved=[1]) == 0.0


def test_gains_above_one() -> None:
    for measure in ("RBP(gain=linear)", "RBPResidual(gain=0-1-10)@5"):
        with pytest.raises(InputError, match=r"expected gains from 0 to 1, found (2|10) for grade 2"):
            parse(measure).score([2, 1])
    # Grades that are not looked at may have any gain.
    assert parse("RBP(gain=linear, level=1)").score([2, 1]) == pytest.approx(0.2 * 0.8)


@pytest.mark.parametrize("p", [0, 0.3, 0.8, 0.95])
@pytest.mark.parametrize("measure", ["RBP(p={})", "RBP(p={})@3", "RBP(p={}, gain=scaled)", "RBP(p={}, gain=0-0.5-1)"])
def test_the_residual_is_what_is_still_possible(measure: str, p: float) -> None:
    # Judge everything that is not, down to the rank at which nothing matters any more, as well as can be.
    ranking: Grades = [1, None, 0, None, 2]
    name = measure.format(p)
    full: Grades = [2 if grade is None else grade for grade in ranking] + [2] * 2000
    if name.endswith("@3"):
        full = [*full[:3], *full[5:]]
        name = name.removesuffix("@3")
    possible = parse(name).score(full, scale=2)
    residual = parse(measure.format(p).replace("RBP", "RBPResidual")).score(ranking, scale=2)
    assert parse(measure.format(p)).score(ranking, scale=2) + residual == pytest.approx(possible)
