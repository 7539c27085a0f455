"""The earlier measures against naive computations: loops over plain Python values, no arrays.

What is expected of tied and of unretrieved documents is found by looking at every way in which they could stand.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, groupby
from typing import Any

import pytest

from gainful import Policy, evaluate, parse
from gainful.measures.catalog import FAMILIES

Row = dict[str, Any]
Grade = float | None

# --- One query as a measure sees it ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Query:
    """A list as (grade, score) in rank order, None for unjudged; the grades of judged documents that it misses."""

    ranked: list[tuple[Grade, float]]
    missed: list[float]
    has_scores: bool
    scale: float

    def condensed(self) -> Query:
        kept = [(grade, score) for grade, score in self.ranked if grade is not None]
        return Query(kept, self.missed, self.has_scores, self.scale)

    @property
    def judged(self) -> list[float]:
        return [grade for grade, _ in self.ranked if grade is not None] + self.missed

    def levels(self, spec: Row, default: str = "policy") -> list[list[Grade]]:
        """The list as groups that the system does not tell apart."""
        if self.has_scores and spec.get("tied", default) == "expected":
            return [[grade for grade, _ in level] for _, level in groupby(self.ranked, key=lambda pair: pair[1])]
        return [[grade] for grade, _ in self.ranked]


def is_relevant(grade: Grade, spec: Row) -> bool:
    if grade is None:
        return False
    if "level" in spec:
        return bool(grade == spec["level"])
    return bool(grade >= spec["rel"]) if "rel" in spec else grade > 0


def gain_of(grade: Grade, spec: Row, scale: float) -> float:
    if grade is None or grade < 0:
        return 0.0
    if ("rel" in spec or "level" in spec) and not is_relevant(grade, spec):
        return 0.0
    gain = spec.get("gain", "linear")
    if isinstance(gain, dict):
        return float(gain[grade])
    return {"linear": grade, "exp2": 2.0**grade - 1, "binary": float(grade > 0), "scaled": grade / scale}[gain]


# --- Ranks of relevant documents ------------------------------------------------------------------------------------


def mean_sum(places: range, chosen: int, of: Callable[[int], float]) -> float:
    """The mean, over all ways to choose so many of the places, of the sum over the chosen ones."""
    sums = [sum(map(of, choice)) for choice in combinations(places, chosen)]
    return sum(sums) / len(sums)


def sum_over_relevant(query: Query, spec: Row, of: Callable[[int], float]) -> float:
    total, rank = 0.0, 0
    for level in query.levels(spec):
        total += mean_sum(range(rank + 1, rank + len(level) + 1), sum(is_relevant(g, spec) for g in level), of)
        rank += len(level)
    lost = sum(is_relevant(grade, spec) for grade in query.missed)
    if not lost:
        return total
    if "N" not in spec:
        return math.nan
    if spec.get("unretrieved") == "bottom":
        return total + sum(map(of, range(spec["N"] - lost + 1, spec["N"] + 1)))
    return total + mean_sum(range(rank + 1, spec["N"] + 1), lost, of)


def asl(query: Query, spec: Row) -> float:
    n = sum(is_relevant(grade, spec) for grade in query.judged)
    return sum_over_relevant(query, spec, float) / n if n else math.nan


def between_best_and_worst(query: Query, spec: Row, of: Callable[[int], float]) -> float:
    """Where the sum over the ranks lies between that of the first n and that of the last n ranks."""
    n, size = sum(is_relevant(grade, spec) for grade in query.judged), spec.get("N", len(query.ranked))
    if n == 0 or n >= size:
        return math.nan  # without N more may be relevant than was retrieved
    best, worst = sum(map(of, range(1, n + 1))), sum(map(of, range(size - n + 1, size + 1)))
    return (worst - sum_over_relevant(query, spec, of)) / (worst - best)


def norm_recall(query: Query, spec: Row) -> float:
    return between_best_and_worst(query, spec, float)


def norm_precision(query: Query, spec: Row) -> float:
    return between_best_and_worst(query, spec, math.log)


def esl(query: Query, spec: Row) -> float:
    """The non-relevant documents before the n-th relevant one, on average over all orders of its level."""
    wanted = spec.get("n", 1)
    in_vain, found = 0, 0
    levels = [[is_relevant(grade, spec) for grade in level] for level in query.levels(spec, "expected")]
    lost = sum(is_relevant(grade, spec) for grade in query.missed)
    if "N" in spec:
        others = spec["N"] - len(query.ranked) - lost
        if spec.get("unretrieved") == "bottom":
            levels += [[False]] * others + [[True]] * lost
        else:
            levels.append([True] * lost + [False] * others)
    for level in levels:
        if found + sum(level) >= wanted:
            lengths = [
                places[wanted - found - 1] - (wanted - found - 1)
                for places in combinations(range(len(level)), sum(level))
            ]
            return in_vain + sum(lengths) / len(lengths) + (wanted if spec.get("count") == "all" else 0)
        found, in_vain = found + sum(level), in_vain + level.count(False)
    return math.nan


def half_life(query: Query, spec: Row) -> float:
    # Exactly: thirds that are rounded need not add up to a half. Divided by the scale, all gains stay in proportion.
    exact = {**spec, "gain": "linear"} if spec.get("gain") == "scaled" else spec
    gains = [Fraction(gain_of(grade, exact, query.scale)) for grade, _ in query.ranked]
    half, so_far = sum(gains, Fraction(0)) / 2, Fraction(0)
    for before, gain in enumerate(gains):
        if gain and so_far + gain >= half:
            return float(before + (half - so_far) / gain)
        so_far += gain
    return math.nan


# --- A list beside itself in another order --------------------------------------------------------------------------


def vector_ratio(values: list[float], other: list[float], spec: Row) -> float:
    """The ratio of two cumulated vectors at rank k, or the mean of the ratios down to it."""
    if sum(other) == 0:
        return math.nan
    k = spec["cutoff"]
    ratios = [sum(values[:i]) / sum(other[:i]) for i in range(1, k + 1)]
    return sum(ratios) / k if spec.get("average") == "ranks" else ratios[-1]


def sliding_ratio(query: Query, spec: Row) -> float:
    gains = [gain_of(grade, spec, query.scale) for grade, _ in query.ranked]
    return vector_ratio(gains, sorted(gains, reverse=True), spec)


def satisfaction(query: Query, spec: Row) -> float:
    gains = [gain_of(g, spec, query.scale) if is_relevant(g, spec) else 0.0 for g, _ in query.ranked]
    return vector_ratio(gains, sorted(gains, reverse=True), spec)


def frustration(query: Query, spec: Row) -> float:
    wrong = [0.0 if is_relevant(grade, spec) else 1.0 for grade, _ in query.ranked]
    return vector_ratio(wrong, sorted(wrong, reverse=True), spec)


def sf_total(query: Query, spec: Row) -> float:
    w = spec.get("w", 0.5)
    parts = [(w, satisfaction(query, spec)), (1 - w, 1 - frustration(query, spec))]
    return sum(weight * part for weight, part in parts if weight)


def ndpm(query: Query, spec: Row) -> float:
    del spec
    placed = []
    for place, level in enumerate(query.levels({"tied": "expected"})):
        placed += [(float(place), grade) for grade in level if grade is not None]
    placed += [(math.inf, grade) for grade in query.missed]
    pairs = [(one, other) for one, other in combinations(placed, 2) if one[1] != other[1]]
    if not pairs:
        return math.nan
    tied = sum(one[0] == other[0] for one, other in pairs)
    wrong = sum((one[0] - other[0]) * (one[1] - other[1]) > 0 for one, other in pairs if one[0] != other[0])
    return (2 * wrong + tied) / (2 * len(pairs))


# --- Scores, and sets -----------------------------------------------------------------------------------------------


def relative_relevance(query: Query, spec: Row) -> float:
    s = [score for _, score in query.ranked]
    u = [gain_of(grade, spec, query.scale) for grade, _ in query.ranked]
    su, ss, uu = (math.fsum(a * b for a, b in zip(x, y, strict=True)) for x, y in ((s, u), (s, s), (u, u)))
    divisor = math.sqrt(ss * uu) if spec.get("coef", "cosine") == "cosine" else ss + uu - su
    return su / divisor if divisor else math.nan


def swets_e(query: Query, spec: Row) -> float:
    judged = [(grade, score) for grade, score in query.ranked if grade is not None]
    ours = [score for grade, score in judged if is_relevant(grade, spec)]
    theirs = [score for grade, score in judged if not is_relevant(grade, spec)]
    if not ours or not theirs or len(set(ours)) == len(set(theirs)) == 1:
        return math.nan
    spread = (statistics.pstdev(ours) + statistics.pstdev(theirs)) / 2
    return (statistics.fmean(ours) - statistics.fmean(theirs)) / spread


def van_rijsbergen_e(query: Query, spec: Row) -> float:
    k, n = spec.get("cutoff"), sum(is_relevant(grade, spec) for grade in query.judged)
    found = sum(is_relevant(grade, spec) for grade, _ in query.ranked[:k])
    if not n:
        return math.nan
    if not found:
        return 1.0
    alpha, precision, recall = spec.get("alpha", 0.5), found / (k or len(query.ranked)), found / n
    return 1 - 1 / (alpha / precision + (1 - alpha) / recall)


def fallout(query: Query, spec: Row) -> float:
    wrong = sum(not is_relevant(grade, spec) for grade, _ in query.ranked[: spec.get("cutoff")])
    others = spec.get("N", math.nan) - sum(is_relevant(grade, spec) for grade in query.judged)
    return wrong / others if others else math.nan


def generality(query: Query, spec: Row) -> float:
    return sum(is_relevant(grade, spec) for grade in query.judged) / spec.get("N", math.nan)


NAIVE: dict[str, Callable[[Query, Row], float]] = {
    "ASL": asl,
    "ESL": esl,
    "RankedHalfLife": half_life,
    "NormRecall": norm_recall,
    "NormPrecision": norm_precision,
    "SlidingRatio": sliding_ratio,
    "Satisfaction": satisfaction,
    "Frustration": frustration,
    "SFTotal": sf_total,
    "NDPM": ndpm,
    "RelativeRelevance": relative_relevance,
    "SwetsE": swets_e,
    "VanRijsbergenE": van_rijsbergen_e,
    "Fallout": fallout,
    "Generality": generality,
}

# --- What is compared -----------------------------------------------------------------------------------------------

LEVELS = [-1.0, 0.0, 0.25, 1.0, 1.5, 2.0, 3.0]
MAP = {0.0: 0.5, 0.25: 1.0, 1.0: 0.0, 1.5: 8.0, 2.0: 2.0, 3.0: 4.0}
CHOSEN: list[Row] = [{}, {"rel": 1.5}, {"rel": 0}, {"level": 1}, {"unjudged": "condensed"}]
CHOSEN += [{"rel": 2, "unjudged": "condensed"}]
GAINS: list[Row] = [{}, {"gain": "exp2"}, {"gain": "binary"}, {"gain": "scaled"}, {"gain": MAP}]
ENDS: list[Row] = [{"cutoff": k} for k in (1, 3, 40)] + [{"average": "ranks", "cutoff": k} for k in (1, 4, 40)]


def specs(size: int) -> list[Row]:
    """Every measure with many parameters; ``size`` is the collection's."""
    found: list[Row] = []
    ranked: list[Row] = [{}, {"N": size}, {"N": size + 3, "unretrieved": "bottom"}]
    for name in ("ASL", "NormRecall", "NormPrecision", "ESL"):
        ties: list[Row] = [{"tied": "policy"}, {"tied": "expected"}, {}]
        own: list[Row] = [{}, {"n": 2}, {"n": 3, "count": "all"}] if name == "ESL" else [{}]
        found += [{"name": name, **a, **b, **c, **d} for a in own for b in ranked for c in ties for d in CHOSEN]
    for name in ("SlidingRatio", "Satisfaction", "SFTotal"):
        own = [{}, {"w": 0}, {"w": 0.3}, {"w": 1}] if name == "SFTotal" else [{}]
        found += [{"name": name, **a, **b, **c} for a in own for b in GAINS for c in ENDS]
        found += [{"name": name, **a, **b} for a in CHOSEN[1:] for b in ENDS]
    found += [{"name": "Frustration", **a, **b} for a in CHOSEN for b in ENDS]
    found += [{"name": "RankedHalfLife", **a, **b} for a in GAINS for b in CHOSEN]
    found += [{"name": "NDPM"}]
    for coefficient in ({}, {"coef": "jaccard"}):
        found += [{"name": "RelativeRelevance", **coefficient, **a, **b} for a in GAINS for b in CHOSEN]
    found += [{"name": "SwetsE", **a} for a in CHOSEN if "unjudged" not in a]
    cuts: list[Row] = [{}, {"cutoff": 1}, {"cutoff": 4}, {"cutoff": 40}]
    found += [
        {"name": "VanRijsbergenE", **({} if a is None else {"alpha": a}), **b, **c}
        for a in (None, 0, 0.2, 1)
        for b in CHOSEN
        for c in cuts
    ]
    found += [{"name": "Fallout", **a, **b, **c} for a in ({}, {"N": size}) for b in CHOSEN for c in cuts]
    found += [{"name": "Generality", **a, **b} for a in ({}, {"N": size}) for b in CHOSEN if "unjudged" not in b]
    return found


def text_of(spec: Row) -> str:
    def written(value: object) -> str:
        return "{" + ",".join(f"{g}:{w}" for g, w in value.items()) + "}" if isinstance(value, dict) else str(value)

    inside = ", ".join(f"{key}={written(value)}" for key, value in spec.items() if key != "name")
    return f"{spec['name']}({inside})" if inside else spec["name"]


def test_the_specs_cover_the_family() -> None:
    assert {spec["name"] for spec in specs(9)} == set(NAIVE) == set(FAMILIES["Earlier measures"])


SIZE = 11


@dataclass(frozen=True)
class Case:
    qrels: dict[str, dict[str, float]]
    run: dict[str, dict[str, float]]
    policy: dict[str, Any]

    def query(self, name: str, with_scores: bool) -> Query:
        """A query, joined by hand: ordered by score, then by descending id, cut, met with the grades."""
        scores = self.run.get(name, {})
        ids = sorted(scores, reverse=True)
        ordered = sorted(ids, key=lambda document: -scores[document])[: self.policy.get("depth")]
        grades = self.qrels[name]
        if self.policy.get("negative") == "unjudged":
            grades = {document: grade for document, grade in grades.items() if grade >= 0}
        scale = max(grade for documents in self.qrels.values() for grade in documents.values())
        return Query(
            [(grades.get(document), scores[document]) for document in ordered],
            [grade for document, grade in grades.items() if document not in ordered],
            with_scores,
            scale,
        )


def random_case(seed: int) -> Case:
    """Ties, unjudged documents, negative and real grades, short and empty lists, missing queries."""
    rng = random.Random(seed)
    qrels, run = {}, {}
    for i in range(6):
        judged = rng.sample(range(SIZE - 2), rng.randint(1, 7))
        few = rng.choice([LEVELS, LEVELS, [0.0, -1.0], [1.0], [0.0, 1.0]])
        qrels[f"q{i}"] = {f"d{d}": rng.choice(few) for d in judged}
        if i == 0 or rng.random() < 0.85:
            listed = rng.sample([f"d{d}" for d in range(SIZE - 2)] + ["x1", "x2"], rng.choice([0, 1, 3, 6, 8]))
            values = rng.choice([[0.0, 1.0, 2.0], [0.1, -0.7, 3.0, 2.5], [0.1], [rng.gauss(0, 2) for _ in range(9)]])
            run[f"q{i}"] = {document: rng.choice(values) for document in listed}
    qrels["q5"]["d0"] = 3.0  # the scale is the same in all cases
    policy = {"depth": rng.choice([None, None, 4]), "negative": rng.choice(["judged", "judged", "unjudged"])}
    return Case(qrels, run, {name: value for name, value in policy.items() if value is not None})


parsed = cache(parse)


def compare(case: Case, run: Any, wanted: list[Row], with_scores: bool, **policy: Any) -> None:
    measures = [parsed(text_of(spec)) for spec in wanted]
    result = evaluate(case.qrels, run, measures, policy=Policy(**case.policy, **policy))
    places = {measure: place for place, measure in enumerate(result.measures)}  # a default may be given as well
    queries = {name: case.query(name, with_scores) for name in case.qrels}
    condensed = {name: query.condensed() for name, query in queries.items()}
    for spec, measure in zip(wanted, measures, strict=True):
        views = condensed if spec.get("unjudged") == "condensed" else queries
        for name, raw in zip(result.queries, result.raw[places[measure]].tolist(), strict=True):
            expected = NAIVE[spec["name"]](views[name], spec)
            is_same = math.isclose(raw, expected, rel_tol=1e-11, abs_tol=1e-12)
            assert is_same or (math.isnan(raw) and math.isnan(expected)), (str(measure), name, raw, expected)


@pytest.mark.parametrize("seed", range(20))
def test_scored_lists(seed: int) -> None:
    case = random_case(seed)
    compare(case, case.run, specs(SIZE)[seed % 4 :: 4], with_scores=True)


@pytest.mark.parametrize("seed", range(48, 52))
def test_lists_without_scores(seed: int) -> None:
    """Nothing is tied in a list that came in its order."""
    case = random_case(seed)
    lists = {
        name: sorted(sorted(scores, reverse=True), key=lambda document: -scores[document])
        for name, scores in case.run.items()
    }
    wanted = [spec for spec in specs(SIZE) if spec["name"] not in ("RelativeRelevance", "SwetsE")]
    compare(case, lists, wanted[seed % 2 :: 2], with_scores=False, order="input")


@pytest.mark.parametrize("seed", range(54, 58))
def test_pairs_of_many_grades(seed: int) -> None:
    """Real grades, nearly all different, and lists of any length."""
    rng = random.Random(seed)
    qrels, run = {}, {}
    for query in ("q1", "q2", "q3", "q4"):
        qrels[query] = {f"d{d}": rng.choice([rng.random(), float(rng.randrange(3))]) for d in range(60)}
        run[query] = {f"d{d}": float(rng.randrange(30)) for d in rng.sample(range(80), rng.randrange(81))}
    compare(Case(qrels, run, {}), run, [{"name": "NDPM"}], with_scores=True)
