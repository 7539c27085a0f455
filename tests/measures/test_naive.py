"""Every measure of the catalogue against a naive computation: loops over plain Python values, no arrays.

The naive part follows the definitions word by word and knows nothing of the package: it takes the rows of judgments and
run, orders and joins them itself, and settles missing and undefined queries itself.
"""

from __future__ import annotations

import math
import random
import re
import struct
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from gainful import Policy, Qrels, evaluate, parse
from gainful.measures.catalog import MEASURES

# --- The naive part -------------------------------------------------------------------------------------------------

Row = dict[str, Any]

DEFAULTS: dict[str, Any] = {
    "order": "score",
    "ties": "docid-desc",
    "scores": "float64",
    "duplicates": "error",
    "depth": None,
    "unjudged": "zero",
    "negative": "judged",
    "grade_zero": 0,
    "judges": "error",
    "subtopics": "no",
    "missing": "zero",
    "undefined": "zero",
    "recall_cut": "exact",
}


@dataclass(frozen=True)
class Case:
    """Rows of judgments (query, subtopic, document, grade) and of a run (query, document, rank, score)."""

    judgments: list[tuple[str, str, str, float]]
    run: list[tuple[str, str, int, float]]
    policy: dict[str, Any] = field(default_factory=dict)
    empty_lists: tuple[str, ...] = ()  # queries that the run answers with nothing; only a dict can say that

    def choice(self, name: str) -> Any:
        return self.policy.get(name, DEFAULTS[name])


def one_grade(grades: list[float], judges: str) -> float:
    if len(set(grades)) == 1:
        return grades[0]
    ordered = sorted(grades)
    if judges == "mean":
        return sum(ordered) / len(ordered)
    if judges == "median":
        half = len(ordered) // 2
        return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
    return {"max": ordered[-1], "min": ordered[0]}[judges]


def naive_grades(case: Case) -> dict[str, dict[str, float]]:
    """Query -> document -> the grade that counts; documents that count as unjudged are not there."""
    collected: dict[str, dict[str, dict[str, list[float]]]] = {}
    for query, subtopic, document, grade in case.judgments:
        group = subtopic if case.choice("subtopics") == "yes" else "all"
        collected.setdefault(query, {}).setdefault(document, {}).setdefault(group, []).append(grade)
    settled: dict[str, dict[str, float]] = {}
    for query, documents in collected.items():
        settled[query] = {}
        for document, groups in documents.items():
            grade = max(one_grade(grades, case.choice("judges")) for grades in groups.values())
            if case.choice("grade_zero"):
                grade = max(grade - case.choice("grade_zero"), 0)
            if grade < 0 and case.choice("negative") == "unjudged":
                continue
            settled[query][document] = grade
    return settled


def naive_scale(case: Case) -> float:
    highest = max(grade for _, _, _, grade in case.judgments)
    return max(highest - case.choice("grade_zero"), 0) if case.choice("grade_zero") else highest


def naive_ranking(case: Case, query: str) -> list[str] | None:
    """The documents of a query in rank order; None where the run does not answer it."""
    rows = [
        {"document": document, "rank": rank, "score": score, "place": place}
        for place, (of, document, rank, score) in enumerate(case.run)
        if of == query
    ]
    if not rows:
        return [] if query in case.empty_lists else None
    if case.choice("scores") == "float32":
        for row in rows:
            row["score"] = struct.unpack("f", struct.pack("f", row["score"]))[0]

    def before(one: Row, other: Row) -> bool:
        if case.choice("order") == "input":
            return bool(one["place"] < other["place"])
        if case.choice("order") == "rank":
            return bool(one["rank"] < other["rank"])
        if one["score"] != other["score"]:
            return bool(one["score"] > other["score"])
        ties = case.choice("ties")
        if ties == "rank":
            return bool(one["rank"] < other["rank"])
        ids = one["document"].encode(), other["document"].encode()
        if ties == "input" or ids[0] == ids[1]:
            return bool(one["place"] < other["place"])
        return ids[0] > ids[1] if ties == "docid-desc" else ids[0] < ids[1]

    ordered: list[Row] = []
    for row in rows:  # insertion, so that no sort function is trusted
        at = 0
        while at < len(ordered) and before(ordered[at], row):
            at += 1
        ordered.insert(at, row)
    documents: list[str] = []
    for row in ordered:
        if row["document"] not in documents:
            documents.append(row["document"])
    return documents[: case.choice("depth")]


def is_relevant(grade: float | None, spec: Row) -> bool:
    if grade is None:
        return False
    if "level" in spec:
        return bool(grade == spec["level"])
    return bool(grade >= spec["rel"]) if "rel" in spec else grade > 0


def gain_of(grade: float | None, spec: Row, scale: float) -> float:
    if grade is None or grade < 0:
        return 0.0
    if ("rel" in spec or "level" in spec) and not is_relevant(grade, spec):
        return 0.0
    gain = spec.get("gain", "linear")
    if isinstance(gain, dict):
        return float(gain[grade])
    if gain == "linear":
        return float(grade)
    if gain == "exp2":
        return 2.0**grade - 1
    if gain == "binary":
        return 1.0 if grade > 0 else 0.0
    assert gain == "scaled"
    return grade / scale if scale > 0 else 0.0


def divisor(rank: int, spec: Row) -> float:
    if spec["name"] in ("CG", "nCG"):
        return 1.0
    base = spec.get("base", 2)
    base = math.e if base == "e" else base
    discount = spec.get("discount", "burges2005")
    if discount == "burges2005":
        return math.log(rank + 1) / math.log(base)
    if discount == "jarvelin2002":
        return 1.0 if rank < base else math.log(rank) / math.log(base)
    if discount == "jarvelin2000":
        return 1.0 if rank == 1 else math.log(rank) / math.log(base)
    if discount == "jarvelin2008":
        return 1 + math.log(rank) / math.log(base)
    return {"rank": float(rank), "none": 1.0}[discount]


def cumulated(gains: list[float], spec: Row, k: int) -> list[float]:
    """The vector up to rank k, constant past the end of the list."""
    vector: list[float] = []
    for rank in range(1, k + 1):
        gain = gains[rank - 1] if rank <= len(gains) else 0.0
        vector.append((vector[-1] if vector else 0.0) + gain / divisor(rank, spec))
    return vector


def cumulated_gain(ranked: list[float | None], judged: list[float], spec: Row, scale: float) -> float:
    gains = [gain_of(grade, spec, scale) for grade in ranked]
    ideal = sorted((gain_of(grade, spec, scale) for grade in judged), reverse=True)
    k = spec.get("cutoff") or max(len(gains), len(ideal), 1)
    vector = cumulated(gains, spec, k)
    if spec["name"] in ("nCG", "nDCG"):
        if not any(gain > 0 for gain in ideal):
            return math.nan
        vector = [own / best for own, best in zip(vector, cumulated(ideal, spec, k), strict=True)]
    return sum(vector) / k if spec.get("average") == "ranks" else vector[-1]


def f_of(precision: float, recall: float, beta: float) -> float:
    below = beta**2 * precision + recall
    return (1 + beta**2) * precision * recall / below if below else 0.0


def naive_raw(documents: list[str], grades: dict[str, float], spec: Row, scale: float, policy: dict[str, Any]) -> float:
    """The score of one list by the definition; NaN where it divides by 0."""
    name, k = spec["name"], spec.get("cutoff")
    whole = [grades.get(document) for document in documents]
    if name == "Judged":
        seen = whole if k is None else whole[:k]
        return sum(grade is not None for grade in seen) / len(seen) if seen else math.nan
    condensed = spec.get("unjudged", policy.get("unjudged", "zero")) == "condensed"
    ranked = [grade for grade in whole if grade is not None] if condensed else whole
    if name in ("CG", "DCG", "nCG", "nDCG"):
        return cumulated_gain(ranked, list(grades.values()), spec, scale)
    base = sum(is_relevant(grade, spec) for grade in grades.values())
    marks = [is_relevant(grade, spec) for grade in ranked]
    shown = marks if k is None else marks[:k]
    found, retrieved = sum(shown), len(ranked)
    ranks = [rank for rank, mark in enumerate(shown, start=1) if mark]
    if name in ("NumQ", "NumRet", "NumRel", "NumRelRet"):
        return float({"NumQ": 1, "NumRet": retrieved, "NumRel": base, "NumRelRet": found}[name])
    if name == "P":
        return found / k
    if name == "Success":
        return 1.0 if found else 0.0
    if name == "RR":
        return 1 / ranks[0] if ranks else 0.0
    if name == "SetP":
        return found / retrieved if retrieved else math.nan
    if base == 0:
        return math.nan
    if name in ("R", "SetR"):
        return found / base
    if name == "F":
        return f_of(found / k, found / base, spec.get("beta", 1))
    if name == "SetF":
        return f_of(found / retrieved, found / base, spec.get("beta", 1)) if found else 0.0
    if name == "Rprec":
        return sum(marks[:base]) / base
    if name == "AP":
        return sum(sum(marks[:rank]) / rank for rank in ranks) / base
    assert name == "IPrec"
    add = {"round": 0.5, "ceil0.9": 0.9}.get(policy.get("recall_cut", "exact"))
    exact = Fraction(str(spec["recall"])) * base
    needed = math.ceil(exact) if add is None else math.floor(spec["recall"] * base + add)
    precisions = [sum(marks[:i]) / i for i in range(1, len(marks) + 1) if sum(marks[:i]) >= needed]
    return max(precisions, default=0.0)


Values = dict[str, tuple[float | None, str | None]]


class Naive:
    """All queries of a case, joined."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.grades = naive_grades(case)
        self.scale = naive_scale(case)
        self.rankings = {query: naive_ranking(case, query) for query in self.grades}

    def values(self, spec: Row) -> Values:
        """Query -> value after the policy and what the policy had to do."""
        return {query: self.value(query, spec) for query in self.grades}

    def value(self, query: str, spec: Row) -> tuple[float | None, str | None]:
        documents = self.rankings[query]
        raw = naive_raw(documents or [], self.grades[query], spec, self.scale, self.case.policy)
        if documents is None:
            if self.case.choice("missing") == "skip":
                return None, "missing"
            return (0.0 if math.isnan(raw) else raw), "missing"
        if math.isnan(raw):
            return (0.0 if self.case.choice("undefined") == "zero" else None), "undefined"
        return raw, None

    def has_weights(self, spec: Row) -> bool:
        """Whether the spec gives every grade in the judgments a weight."""
        gain = spec.get("gain")
        grades = {grade for documents in self.grades.values() for grade in documents.values()}
        return not isinstance(gain, dict) or all(grade < 0 or grade in gain for grade in grades)


# --- What is compared -----------------------------------------------------------------------------------------------

LEVELS = {0: 0, 1: 1, 2: 10, 3: 100}
UNSORTED = {0: 0, 1: 5, 2: 2.5, 3: 1}
REAL_MAP = {0: 0.5, 0.25: 1, 0.5: 4, 1: 2, 1.5: 8, 3: 16}


def written(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{grade}:{gain}" for grade, gain in value.items()) + "}"
    return str(value)


def text_of(spec: Row) -> str:
    inside = ", ".join(f"{key}={written(value)}" for key, value in spec.items() if key not in ("name", "at"))
    return f"{spec['name']}({inside})" if inside else spec["name"]


#: Every text is read once for all cases.
measure_of = cache(parse)


def combine(name: str, *options: Row) -> list[Row]:
    return [{"name": name, **option} for option in options]


def gain_specs() -> list[Row]:
    gains: list[Row] = [{}, {"gain": "exp2"}, {"gain": "binary"}, {"gain": "scaled"}]
    gains += [{"gain": LEVELS}, {"gain": UNSORTED}, {"gain": REAL_MAP}]
    ends: list[Row] = [
        {},
        {"cutoff": 1},
        {"cutoff": 4},
        {"cutoff": 50},
        {"average": "ranks", "cutoff": 1},
        {"average": "ranks", "cutoff": 5},
        {"average": "ranks", "cutoff": 60},
    ]
    chosen: list[Row] = [{"rel": 2}, {"rel": 0.5}, {"rel": 0}, {"level": 1}, {"level": 3}, {"level": 0}]
    chosen += [{"unjudged": "condensed"}, {"unjudged": "zero"}, {"rel": 1, "unjudged": "condensed"}]
    discounts: list[Row] = [
        {"discount": discount, "base": base}
        for discount in ("burges2005", "jarvelin2002", "jarvelin2000", "jarvelin2008")
        for base in (1.5, 2, 4, 10, "e")
    ]
    discounts += [{"discount": "rank"}, {"discount": "none"}]
    specs: list[Row] = []
    for name in ("CG", "DCG", "nCG", "nDCG"):
        specs += combine(name, *({**gain, **end} for gain in gains for end in ends))
        specs += combine(name, *({**choice, **end} for choice in chosen for end in (ends[0], ends[2], ends[5])))
        specs += combine(name, {"gain": UNSORTED, "rel": 2, "cutoff": 3}, {"gain": REAL_MAP, "level": 0})
    for name in ("DCG", "nDCG"):
        specs += combine(name, *({**discount, **end} for discount in discounts for end in (ends[0], ends[2], ends[6])))
    return specs


def binary_specs() -> list[Row]:
    chosen: list[Row] = [{}, {"rel": 2}, {"rel": 0.5}, {"rel": 0}, {"level": 1}, {"level": 0}]
    listed: list[Row] = [{}, {"unjudged": "condensed"}, {"unjudged": "zero"}]
    both = [{**choice, **view} for choice in chosen for view in listed]
    cut: list[Row] = [{"cutoff": k} for k in (1, 3, 10, 50)]
    specs: list[Row] = []
    for name in ("P", "R", "F", "Success", "AP", "RR"):
        specs += combine(name, *({**choice, **end} for choice in both for end in cut))
    for name in ("Success", "AP", "RR", "Rprec", "SetP", "SetR", "SetF"):
        specs += combine(name, *both)
    for beta in (0, 0.5, 2):
        specs += combine("F", {"beta": beta, "cutoff": 5}) + combine("SetF", {"beta": beta})
    specs += combine("IPrec", *({**choice, "recall": r / 10} for choice in both for r in (0, 1, 3, 5, 10)))
    specs += combine("IPrec", *({"recall": r / 10} for r in range(11)))
    specs += combine("Judged", {}, *cut) + combine("NumQ", {}) + combine("NumRet", *listed)
    specs += combine("NumRel", *chosen) + combine("NumRelRet", *chosen)
    return specs


SPECS = gain_specs() + binary_specs()

INTEGERS = [-2, -1, 0, 0, 0, 1, 1, 2, 3]
REALS = [-0.5, 0, 0, 0.25, 0.5, 1, 1.5, 3]


def random_case(seed: int) -> Case:
    """Everything at once, small: ids that sort by bytes, ties, short lists, unjudged documents, repeated judgments."""
    rng = random.Random(seed)
    grades = rng.choice([INTEGERS, REALS])
    subtopics, several_judges = rng.random() < 0.2, rng.random() < 0.4
    documents = [f"{rng.choice(['D', 'd', 'é', '-'])}{i}" for i in range(25)]
    judgments, run = [], []
    queries = [f"q{i}" for i in range(7)]
    for query in queries:
        pool = [0, -1] if query == "q3" else grades  # a query without anything relevant
        for document in rng.sample(documents, rng.randint(1, 12)):
            judgments.append((query, "a", document, float(rng.choice(pool))))
            if several_judges and rng.random() < 0.5:
                judgments += [(query, "a", document, float(rng.choice(pool))) for _ in range(rng.randint(1, 3))]
            if subtopics and rng.random() < 0.5:
                judgments.append((query, "b", document, float(rng.choice(pool))))
    duplicates = rng.random() < 0.3
    for query in [*queries, "unjudged"]:
        if rng.random() < 0.2 and query != "q0":
            continue
        listed = rng.sample(documents, rng.randint(1, 20))
        if duplicates and len(listed) > 2:
            listed.append(listed[0])
        ranks = rng.sample(range(1, 100), len(listed))
        for document, rank in zip(listed, ranks, strict=True):
            score = rng.choice([0.5, 0.25, 1.0, 2.0, -1.0, rng.random(), 1.0 + rng.randint(1, 3) * 1e-9])
            run.append((query, document, rank, score))
    rng.shuffle(judgments)
    rng.shuffle(run)
    policy: dict[str, Any] = {
        "order": rng.choice(["score", "score", "rank", "input"]),
        "ties": rng.choice(["docid-desc", "docid-asc", "rank", "input"]),
        "scores": rng.choice(["float64", "float32"]),
        "duplicates": "first" if duplicates else "error",
        "depth": rng.choice([None, None, 1, 5, 12]),
        "unjudged": rng.choice(["zero", "zero", "condensed"]),
        "negative": rng.choice(["judged", "unjudged"]),
        "grade_zero": rng.choice([0, 0, 0, 1, 0.5]),
        "judges": rng.choice(["mean", "median", "max", "min"]) if several_judges or subtopics else "error",
        "subtopics": "yes" if subtopics else "no",
        "missing": rng.choice(["zero", "skip"]),
        "undefined": rng.choice(["zero", "skip"]),
        "recall_cut": rng.choice(["exact", "round", "ceil0.9"]),
    }
    return Case(judgments, run, policy)


def as_text(case: Case) -> tuple[bytes, bytes]:
    judgments = "".join(f"{q} {subtopic} {d} {grade!r}\n" for q, subtopic, d, grade in case.judgments)
    run = "".join(f"{q} Q0 {d} {rank} {score!r} tag\n" for q, d, rank, score in case.run)
    return judgments.encode(), run.encode()


def as_dicts(case: Case) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, float]]]:
    judgments: dict[str, dict[str, float]] = {}
    run: dict[str, dict[str, float]] = {query: {} for query in case.empty_lists}
    for query, _, document, grade in case.judgments:
        judgments.setdefault(query, {})[document] = grade
    for query, document, _, score in case.run:
        run.setdefault(query, {})[document] = score
    return judgments, run


def share(seed: int) -> list[Row]:
    """A quarter of the specs, so that every one meets many cases but no case takes long."""
    return SPECS[seed % 4 :: 4]


def agree(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-12)


def compare(case: Case, judgments: Any, run: Any, specs: list[Row] = SPECS) -> None:
    naive = Naive(case)
    specs = [spec for spec in specs if naive.has_weights(spec)]
    measures = [measure_of(text_of(spec)) for spec in specs]
    result = evaluate(judgments, run, measures, policy=Policy(**case.policy))
    for spec, measure in zip(specs, measures, strict=True):
        name, expected = text_of(spec), naive.values(spec)
        scores = {score.query: score for score in result.scores(measure)}
        assert list(scores) == sorted(expected, key=str.encode)
        for query, (value, status) in expected.items():
            got = scores[query]
            assert agree(got.value, value), f"{name}, {query}: expected {value}, found {got.value}"
            assert got.status == status, f"{name}, {query}"
        counted = [value for value, _ in expected.values() if value is not None]
        if spec["name"].startswith("Num"):
            assert result.aggregate(measure) == sum(counted), name
        elif counted:
            assert agree(result.aggregate(measure), sum(counted) / len(counted)), name
        else:
            assert math.isnan(result.aggregate(measure)), name


def test_naive_computations_cover_the_catalogue() -> None:
    """Families have files of their own beside this one."""
    texts = "".join(path.read_text() for path in Path(__file__).parent.glob("test_naive*.py"))
    assert [name for name in MEASURES if not re.search(rf'"{re.escape(name)}[("@]', texts)] == []


@pytest.mark.parametrize("seed", range(20))
def test_text(seed: int) -> None:
    case = random_case(seed)
    compare(case, *as_text(case), share(seed))


@pytest.mark.parametrize("seed", range(60, 68))
def test_dicts(seed: int) -> None:
    """A dict has no rank column, no sub-topics, no duplicates and one judge; but lists may be empty."""
    drawn = random_case(seed)
    judgments = {(query, document): (query, "a", document, grade) for query, _, document, grade in drawn.judgments}
    run = {(query, document): (query, document, rank, score) for query, document, rank, score in drawn.run}
    policy = {**drawn.policy, "judges": "error", "subtopics": "no", "duplicates": "error"}
    policy.update({name: "input" for name in ("order", "ties") if policy[name] == "rank"})
    answered = {query for query, _ in run}
    empty = tuple(query for query in ("q4", "q5", "q6") if query not in answered)
    case = replace(
        drawn,
        judgments=list(judgments.values()),
        run=list(run.values()),
        policy=policy,
        empty_lists=empty,
    )
    compare(case, *as_dicts(case), share(seed))


@pytest.mark.parametrize("seed", range(85, 89))
def test_lists_without_scores(seed: int) -> None:
    drawn = random_case(seed)
    run = {(query, document): (query, document, rank, score) for query, document, rank, score in drawn.run}
    ties = "docid-asc" if drawn.policy["ties"] == "rank" else drawn.policy["ties"]
    case = replace(drawn, run=list(run.values()), policy={**drawn.policy, "order": "input", "ties": ties})
    lists: dict[str, list[str]] = {}
    for query, document, _, _ in case.run:
        lists.setdefault(query, []).append(document)
    compare(case, as_text(case)[0], lists, share(seed))


@pytest.mark.parametrize("seed", range(90, 92))
def test_one_query_at_a_time(seed: int) -> None:
    """A query's value is the same whether it is evaluated alone or among others; the scale is the whole file's."""
    case = random_case(seed)
    judgments, run = as_text(case)
    qrels, naive = Qrels.read(judgments), Naive(case)
    specs = [spec for spec in share(seed) if naive.has_weights(spec)]
    measures = [measure_of(text_of(spec)) for spec in specs]
    for query in sorted({query for query, _, _, _ in case.run} - {"unjudged"}):
        alone = evaluate(qrels.select([query]), run, measures, policy=Policy(**case.policy))
        for measure, spec in zip(measures, specs, strict=True):
            value, _ = naive.value(query, spec)
            assert agree(alone.by_query(measure)[query], value), f"{measure}, {query}"


@pytest.mark.parametrize("negative", ["judged", "unjudged"])
def test_all_grades_negative(negative: str) -> None:
    case = Case(
        [("q", "0", "a", -1.0), ("q", "0", "b", -2.0)],
        [("q", "a", 1, 2.0), ("q", "x", 2, 1.0)],
        {"negative": negative},
    )
    compare(case, *as_text(case))


def test_nothing_relevant_and_nothing_retrieved() -> None:
    case = Case([("q", "0", "a", 0.0), ("r", "0", "a", 1.0)], [("r", "a", 1, 2.0)], {}, ("q",))
    compare(case, *as_dicts(case))
