"""Compute all answers of the conformance vectors naively, with plain loops over plain values.

It follows the definitions word by word and knows nothing of any package. Numbers are fractions wherever a definition is
made of them; logarithms, roots and powers are rounded once, as doubles. It is slow, and meant to be read.

    python conformance/naive.py            writes all answers into the vectors in its folder
    python conformance/naive.py --check    reports differences, and exits with 1 if there are any
"""

from __future__ import annotations

import json
import math
import re
import statistics
import struct
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, groupby, permutations, product
from pathlib import Path
from typing import Any

Json = dict[str, Any]
Number = Fraction | float
ZERO, ONE = Fraction(0), Fraction(1)


class Refusal(Exception):  # noqa: N818 (a refusal, not a fault)
    """An expected error; its text is the error's name in the vectors."""


def exact(number: object) -> Fraction:
    """Read a number exactly: 0.1 is one tenth."""
    return Fraction(str(number))


# --- The text of a measure ------------------------------------------------------------------------------------------

#: Short names and their expansions.
SHORT: dict[str, tuple[str, dict[str, str]]] = {
    "AnCG": ("nCG", {"average": "ranks"}),
    "AnDCG": ("nDCG", {"average": "ranks"}),
    "D#-Q": ("D-Q", {"gamma": "0.5"}),
    "D#-nDCG": ("D-nDCG", {"gamma": "0.5"}),
    "I-rec": ("StRecall", {}),
    "MAP-IA": ("AP-IA", {}),
    "NCUguBR": ("NCU", {}),
    "NCUguP": ("NCU", {"beta": "0"}),
    "NCUrbBR": ("NCU", {"stop": "rank"}),
    "NCUrbP": ("NCU", {"stop": "rank", "beta": "0"}),
}
#: Units of lengths that are not names of columns.
UNITS = {"t": "tokens", "c": "characters", "w": "words", "s": "seconds"}
#: The parameters set by @, if not the cutoff.
AFTER_AT = {"IPrec": "recall", "gIPrec": "recall", "RprecMult": "multiple"}


@dataclass(frozen=True)
class Spec:
    """The name and the parameters of a measure."""

    name: str
    given: dict[str, str]

    @classmethod
    def of(cls, text: str) -> Spec:
        match = re.fullmatch(r"([^(@]+)(?:\((.*)\))?(?:@(.+))?", text)
        assert match, text
        name, preset = SHORT.get(match[1], (match[1], {}))
        pairs = re.findall(r"(\w+)=(\{[^}]*\}|[^,]+)", match[2] or "")
        what = "budget" if re.fullmatch(r"[\d.]+[a-z]\w*", match[3] or "") else "cutoff"
        at = {AFTER_AT.get(name, what): match[3]} if match[3] else {}
        return cls(name, {**preset, **dict(pairs), **at})

    def __contains__(self, parameter: str) -> bool:
        return parameter in self.given

    def word(self, parameter: str, default: str = "") -> str:
        return self.given.get(parameter, default)

    def number(self, parameter: str, default: object = 0) -> Fraction:
        return exact(self.given.get(parameter, default))

    def whole(self, parameter: str) -> int:
        return int(self.given[parameter])

    @property
    def k(self) -> int | None:
        return int(self.given["cutoff"]) if "cutoff" in self.given else None

    def base(self, parameter: str, default: object) -> float:
        given = str(self.given.get(parameter, default))
        return math.e if given == "e" else float(given)


# --- Judgments and lists under a policy -----------------------------------------------------------------------------

DEFAULTS = {
    "order": "score",
    "ties": "docid-desc",
    "scores": "float64",
    "duplicates": "error",
    "parent": "none",
    "parent-of": "run",
    "spans": "none",
    "depth": "all",
    "unjudged": "zero",
    "negative": "judged",
    "grade-zero": "0",
    "judges": "error",
    "subtopics": "no",
    "missing": "zero",
    "undefined": "zero",
    "extra": "ignore",
    "recall-cut": "exact",
}
DIALECTS = {
    "trec_eval-9": {"scores": "float32", "missing": "skip", "negative": "unjudged", "recall-cut": "ceil0.9"},
    "trec_eval-10": {"missing": "error", "negative": "unjudged", "recall-cut": "round"},
    "ntcireval": {"order": "input"},
}


def parent_of(document: str, policy: dict[str, str]) -> str:
    """Return the document of a chunk; other documents are their own."""
    match = None if policy["parent"] == "none" else re.fullmatch(policy["parent"], document)
    return match[1] if match else document


def positions(identifier: str) -> set[tuple[str, int]]:
    """Return the positions of a span such as doc[120:180]; an id of another form has none."""
    match = re.fullmatch(r"(.+)\[(\d+):(\d+)\]", identifier)
    return {(match[1], at) for at in range(int(match[2]), int(match[3]))} if match else set()


def credited(document: str, spans: list[str], policy: dict[str, str]) -> tuple[str, Fraction]:
    """Return what a row of a run stands for, and the share by which its grade is multiplied."""
    if policy["spans"] == "none":
        return parent_of(document, policy), ONE
    best, most = document, ZERO
    # Of equal shares, the longest span counts.
    for span in sorted(spans, key=lambda each: (len(positions(each)), each.encode())):
        share = divided(Fraction(len(positions(span) & positions(document))), len(positions(span))) or ZERO
        if share and share >= most and (policy["spans"] == "share" or share >= exact(policy["spans"])):
            best, most = span, Fraction(share)
    return best, most if most and policy["spans"] == "share" else ONE


class Judgments:
    """Query -> document -> the grade that counts, and the same per sub-topic."""

    def __init__(self, rows: dict[str, list[list[Any]]], policy: dict[str, str]) -> None:
        if policy["parent-of"] == "both":  # the best chunk of a document counts
            policy = {**policy, "judges": "max"}
            rows = {
                query: [[parent_of(row[0], policy), *row[1:]] for row in of_query] for query, of_query in rows.items()
            }
        self.policy, self._turn = policy, 0
        self.zero = exact(policy["grade-zero"])
        self.queries = sorted(rows, key=str.encode)
        #: Query -> document -> sub-topic -> grade; a negative grade may be unjudged.
        self.by_subtopic: dict[str, dict[str, dict[str, Fraction]]] = {}
        for query in self.queries:
            collected: dict[str, dict[str, list[tuple[bytes, Fraction]]]] = {}
            for document, grade, *group in rows[query]:
                judge = str(group[0]) if group else "0"
                subtopic = judge if policy["subtopics"] == "yes" else "all"
                collected.setdefault(document, {}).setdefault(subtopic, []).append((judge.encode(), exact(grade)))
            self.by_subtopic[query] = {
                document: {
                    subtopic: self._settled(self._one(sorted(groups[subtopic])))
                    for subtopic in sorted(groups, key=str.encode)
                }
                for document, groups in sorted(collected.items(), key=lambda pair: pair[0].encode())
            }
        #: The grades of all queries.
        self.levels = [grade for query in self.queries for grade in self.grades(query).values()]
        read = [exact(grade) for judged in rows.values() for _, grade, *_ in judged]
        self.read = [grade for grade in map(self._settled, read) if self.counts(grade)]
        highest = max(read)
        self.scale = max(highest - self.zero, ZERO) if self.zero else highest

    def _one(self, judged: list[tuple[bytes, Fraction]]) -> Fraction:
        """Combine the grades of several judges."""
        grades = [grade for _, grade in judged]
        if len(set(grades)) == 1:
            return grades[0]
        rule = self.policy["judges"]
        if rule == "error":
            raise Refusal("judges")
        if rule == "turn":  # the first judge at the first disagreement, then the second, and so on
            self._turn += 1
            return grades[(self._turn - 1) % len(grades)]
        return {"mean": statistics.mean, "median": statistics.median, "max": max, "min": min}[rule](grades)

    def _settled(self, grade: Fraction) -> Fraction:
        return max(grade - self.zero, ZERO) if self.zero else grade

    def counts(self, grade: Fraction) -> bool:
        return grade >= 0 or self.policy["negative"] == "judged"

    def pool(self, query: str) -> set[str]:
        return set(self.by_subtopic[query])

    def grades(self, query: str) -> dict[str, Fraction]:
        """Return the highest grade over sub-topics of each document."""
        highest = {document: max(of.values()) for document, of in self.by_subtopic[query].items()}
        return {document: grade for document, grade in highest.items() if self.counts(grade)}


#: A document in a list, its score, and the share of its grade that counts.
Ranked = tuple[str, Fraction | None, Fraction]


def ranked_list(rows: list[list[Any]], policy: dict[str, str], spans: list[str]) -> list[Ranked]:
    """Return distinct documents in rank order, down to the depth."""
    kept: list[tuple[str, float | None, int]] = []
    shares: list[Fraction] = []
    for document, *more in rows:
        score = more[0] if more else None
        if score is not None and policy["scores"] == "float32":
            score = struct.unpack("f", struct.pack("f", score))[0]
        name, share = credited(document, spans, policy)
        kept.append((name, score, more[1] if len(more) > 1 else 0))
        shares.append(share)
    places = list(range(len(kept)))

    def before(one: int, other: int) -> bool:
        (a, a_score, a_rank), (b, b_score, b_rank) = kept[one], kept[other]
        if policy["order"] == "input" or a_score is None or b_score is None:
            return one < other
        if policy["order"] == "rank" and a_rank != b_rank:
            return a_rank < b_rank
        if policy["order"] == "score" and a_score != b_score:
            return a_score > b_score
        if policy["ties"] == "rank" and a_rank != b_rank:
            return a_rank < b_rank
        if policy["ties"] == "input" or a == b:
            return one < other
        return a.encode() < b.encode() if policy["ties"] == "docid-asc" else a.encode() > b.encode()

    ordered: list[int] = []
    for place in places:  # insertion, so that no sort has to be trusted
        at = 0
        while at < len(ordered) and before(ordered[at], place):
            at += 1
        ordered.insert(at, place)
    found: dict[str, Ranked] = {}
    for place in ordered:
        document, score, _ = kept[place]
        if document in found:
            if policy["duplicates"] == "error" and policy["parent"] == "none" and policy["spans"] == "none":
                raise Refusal("duplicates")
            continue
        found[document] = document, None if score is None else exact(score), shares[place]
    depth = None if policy["depth"] == "all" else int(policy["depth"])
    return list(found.values())[:depth]


def arrangements(ranked: list[Ranked], grade: dict[str, Fraction], policy: dict[str, str]) -> list[list[Ranked]]:
    """Return the orders of equal scores that count: all (expected), the best, the worst, or the order as it is."""
    if policy["ties"] not in ("expected", "best", "worst") or policy["order"] != "score":
        return [ranked]
    if any(score is None for _, score, _ in ranked):
        return [ranked]
    groups = [list(group) for _, group in groupby(ranked, key=lambda row: row[1])]
    orders = [[row for group in order for row in group] for order in product(*map(permutations, groups))]

    def worth(order: list[Ranked]) -> list[tuple[int, Fraction]]:  # relevant, then unjudged, then the rest
        grades = [grade.get(document) for document, _, _ in order]
        return [(1, ZERO) if each is None else (2 if each > 0 else 0, each) for each in grades]

    if policy["ties"] == "expected":
        return orders
    return [max(orders, key=worth) if policy["ties"] == "best" else min(orders, key=worth)]


@dataclass
class View:
    """One query as seen by a measure."""

    documents: list[str]
    scores: list[Fraction | None]
    grade: dict[str, Fraction]  # of judged documents
    whole: list[str]  # the list before documents are removed
    scale: Fraction
    pool: set[str]
    levels: list[Fraction]  # the grades of all queries
    recall_cut: str
    by_subtopic: dict[str, dict[str, Fraction]] | None
    by_score: bool  # whether scores order the list
    likely: dict[str, Fraction] = field(default_factory=dict)  # probabilities of sub-topics, if they differ
    items: dict[str, dict[str, str]] = field(default_factory=dict)  # columns of the table of items
    training: dict[str, list[str]] = field(default_factory=dict)  # the training table
    past: list[str] = field(default_factory=list)  # of this user
    share: dict[str, Fraction] = field(default_factory=dict)  # of its grade that counts in this list
    read: list[Fraction] = field(default_factory=list)  # the grades of all judgments, before judges are combined

    @property
    def ranked(self) -> list[Fraction | None]:
        grades = [(self.grade.get(document), self.share.get(document, ONE)) for document in self.documents]
        return [None if grade is None else grade * share for grade, share in grades]

    @property
    def judged(self) -> list[Fraction]:
        return list(self.grade.values())

    @property
    def missed(self) -> list[Fraction]:
        return [grade for document, grade in self.grade.items() if document not in self.documents]


def is_relevant(grade: Fraction | None, spec: Spec) -> bool:
    if grade is None:
        return False
    if "level" in spec:
        return grade == spec.number("level")
    return grade >= spec.number("rel") if "rel" in spec else grade > 0


def weights(text: str) -> dict[Fraction, Fraction] | None:
    """Read a gain map that lists its gains: 0-1-10 by level, {0:0,0.5:1} by grade."""
    if text.startswith("{"):
        return {exact(g): exact(w) for g, w in (pair.split(":") for pair in text[1:-1].split(","))}
    return dict(enumerate(map(exact, text.split("-")))) if "-" in text else None  # type: ignore[arg-type]


def mapped(grade: Fraction, text: str, scale: Fraction) -> Fraction:
    known = weights(text)
    if known is not None:
        return known[grade]
    if text == "exp2":
        return (2**grade if grade.denominator == 1 else exact(2 ** float(grade))) - ONE
    if text == "scaled":
        return grade / scale if scale > 0 else ZERO
    return {"linear": grade, "binary": Fraction(int(grade > 0))}[text]


def gain_of(
    grade: Fraction | None, spec: Spec, scale: Fraction, default: str = "linear", key: str = "gain"
) -> Fraction:
    if grade is None or grade < 0:
        return ZERO
    if ("rel" in spec or "level" in spec) and not is_relevant(grade, spec):
        return ZERO
    return mapped(grade, spec.word(key, default), scale)


def highest_gain(spec: Spec, scale: Fraction, default: str = "linear") -> Fraction:
    """Return the highest gain of the gain map."""
    known = weights(spec.word("gain", default))
    return max(known.values()) if known else mapped(max(scale, ZERO), spec.word("gain", default), scale)


def gains_of(view: View, spec: Spec, default: str = "linear") -> tuple[list[Fraction], list[Fraction]]:
    """Return the gains of the list and of the ideal list."""
    run = [gain_of(grade, spec, view.scale, default) for grade in view.ranked]
    judged = [gain_of(grade, spec, view.scale, default) for grade in view.judged]
    return run, sorted((gain for gain in judged if gain > 0), reverse=True)


def refuse_gains_above_1(view: View, spec: Spec, default: str) -> None:
    if any(gain_of(grade, spec, view.scale, default) > 1 for grade in view.levels):
        raise Refusal("gain-above-1")


def refuse_grades(levels: list[Fraction], spec: Spec) -> None:
    """Reject grades, of any query, for which the measure is not defined."""
    levels = [abs(grade) for grade in levels] if spec.name == "UDCG" else levels
    for known in (weights(spec.word(key)) for key in ("gain", "stops", "urs") if key in spec):
        if known is not None and any(grade >= 0 and grade not in known for grade in levels):
            raise Refusal("gain-without-weight")
    if spec.word("urs") == "given" and max(levels) > 1:
        raise Refusal("grade-above-1")


def recall_base(view: View, spec: Spec) -> int:
    return sum(is_relevant(grade, spec) for grade in view.judged)


def relevant_ranks(view: View, spec: Spec) -> list[int]:
    """Cut at the cutoff."""
    return [rank for rank, grade in enumerate(view.ranked[: spec.k], start=1) if is_relevant(grade, spec)]


def divided(numerator: Number, denominator: Number) -> Number | None:
    """Divide; None if the divisor is 0, so that the measure is undefined."""
    return numerator / denominator if denominator else None


# --- Measures of one list -------------------------------------------------------------------------------------------

Measure = Callable[[View, Spec], Number | None]
MEASURES: dict[str, Measure] = {}


def measures(*names: str) -> Callable[[Measure], Measure]:
    def enter(function: Measure) -> Measure:
        MEASURES.update(dict.fromkeys(names, function))
        return function

    return enter


def log(x: float, base: float) -> float:
    return math.log2(x) if base == 2 else math.log10(x) if base == 10 else math.log(x) / math.log(base)


def divisor(rank: int, spec: Spec) -> Fraction:
    if spec.name in ("CG", "nCG"):
        return ONE
    base, discount = spec.base("base", 2), spec.word("discount", "burges2005")
    if discount == "burges2005":
        return Fraction(log(rank + 1, base))
    if discount == "jarvelin2002":
        return ONE if rank < base else Fraction(log(rank, base))
    if discount == "jarvelin2000":
        return ONE if rank == 1 else Fraction(log(rank, base))
    if discount == "jarvelin2008":
        return Fraction(1 + log(rank, base))
    return {"rank": Fraction(rank), "none": ONE}[discount]


def cumulated(gains: list[Fraction], spec: Spec, k: int) -> list[Fraction]:
    """Return the vector down to rank k, constant past the end of the list."""
    vector: list[Fraction] = []
    for rank in range(1, k + 1):
        gain = gains[rank - 1] if rank <= len(gains) else ZERO
        vector.append((vector[-1] if vector else ZERO) + gain / divisor(rank, spec))
    return vector


@measures("CG", "DCG", "nCG", "nDCG", "idealDCG")
def cumulated_gain(view: View, spec: Spec) -> Number | None:
    run, ideal = gains_of(view, spec)
    if spec.word("ideal") == "retrieved":  # a known mistake of tools, for vectors that name it
        ideal = sorted(run, reverse=True)
    k = spec.k or max(len(run), len(ideal), 1)
    own, best = cumulated(run, spec, k), cumulated(ideal, spec, k)
    vector = best if spec.name == "idealDCG" else own
    if spec.name.startswith("n"):
        if not any(ideal):
            return None
        vector = [one / other for one, other in zip(own, best, strict=True)]
    return sum(vector) / k if spec.word("average") == "ranks" else vector[-1]


@measures("nDCGrel", "RnDCG")
def ndcg_at_points(view: View, spec: Spec) -> Number | None:
    run, ideal = gains_of(view, spec)
    if not ideal:
        return None
    n = len(ideal)

    def ndcg(depth: int) -> Fraction:
        return cumulated(run, spec, depth)[-1] / cumulated(ideal, spec, depth)[-1]

    if spec.name == "nDCGrel":
        at = [rank for rank, gain in enumerate(run, start=1) if gain > 0]
        return (sum(map(ndcg, at)) + (n - len(at)) * ndcg(max(n, len(run)))) / n
    points = [sum(gain >= level for gain in ideal) for level in sorted(set(ideal), reverse=True)]
    points += [len(run)] if len(run) > n + 1 else []
    return sum(map(ndcg, points)) / len(points)


@measures("G")
def buckley_g(view: View, spec: Spec) -> Number | None:
    run, ideal = gains_of(view, spec)
    total = 0.0
    for rank, gain in enumerate(run, start=1):
        cost = sum(max(ONE, ideal[i] if i < len(ideal) else ZERO) for i in range(rank))
        total += gain / math.log2(2 + cost - sum(run[:rank]))
    return divided(total, sum(ideal))


@measures("binG")
def binary_g(view: View, spec: Spec) -> Number | None:
    above = [rank - found for found, rank in enumerate(relevant_ranks(view, spec), start=1)]
    return divided(sum(1 / math.log2(2 + count) for count in above), recall_base(view, spec))


def f_measure(precision: Fraction, recall: Fraction, beta: Fraction) -> Fraction:
    below = beta**2 * precision + recall
    return (1 + beta**2) * precision * recall / below if below else ZERO


@measures("P", "R", "F", "RelP", "Success", "Complete", "RR", "AP", "GMAP", "NumRelRet")
def by_ranks(view: View, spec: Spec) -> Number | None:
    ranks, base, k = relevant_ranks(view, spec), recall_base(view, spec), spec.k or 1
    precisions = [Fraction(found, rank) for found, rank in enumerate(ranks, start=1)]
    if spec.name in ("P", "Success", "RR", "NumRelRet"):
        reciprocal = Fraction(1, ranks[0]) if ranks else ZERO
        shares = {"P": Fraction(len(ranks), k), "Success": Fraction(int(bool(ranks))), "RR": reciprocal}
        return shares.get(spec.name, Fraction(len(ranks)))
    if not base:
        return None
    if spec.name == "Complete":
        return ONE if len(ranks) == base else ZERO
    if spec.name == "F":
        return f_measure(Fraction(len(ranks), k), Fraction(len(ranks), base), spec.number("beta", 1))
    if spec.name == "RelP":
        return Fraction(len(ranks), min(k, base))
    return Fraction(len(ranks), base) if spec.name == "R" else sum(precisions, ZERO) / base


@measures("Leak")
def leak(view: View, spec: Spec) -> Number | None:
    def is_forbidden(grade: Fraction) -> bool:
        return grade <= spec.number("forbidden") if "forbidden" in spec else grade < 0

    if not any(map(is_forbidden, view.read)):
        return None
    judged = [document for document in view.whole[: spec.k] if document in view.grade]
    return ONE if any(is_forbidden(view.grade[each] * view.share.get(each, ONE)) for each in judged) else ZERO


@measures("UDCG")
def utility_of_readers(view: View, spec: Spec) -> Number | None:
    gamma, total = spec.number("gamma", Fraction(1, 3)), ZERO
    for grade in view.ranked[: spec.k]:
        if grade is not None:
            amount = gain_of(abs(grade), spec, view.scale)
            total += -gamma * amount if grade < 0 else amount
    return 1 / (1 + math.exp(-total / (spec.k or 1)))


@measures("Rprec", "RprecMult")
def r_precision(view: View, spec: Spec) -> Number | None:
    base = recall_base(view, spec)
    depth = base
    if spec.name == "RprecMult":  # trec_eval's rule, in its doubles: 0.7 * 3 + 0.9 is a little below 3
        depth = math.floor(float(spec.number("multiple")) * base + 0.9)
    return divided(Fraction(sum(rank <= depth for rank in relevant_ranks(view, spec))), depth)


@measures("SetP", "SetR", "SetF", "SetAP", "SetRelP", "Utility")
def of_sets(view: View, spec: Spec) -> Number | None:
    found, retrieved, base = len(relevant_ranks(view, spec)), len(view.documents), recall_base(view, spec)
    if spec.name == "Utility":
        a, b, c, d = (spec.number(*each) for each in (("a", 1), ("b", -1), ("c", 0), ("d", 0)))
        outside = spec.number("N") - retrieved - base + found
        return a * found + b * (retrieved - found) + c * (base - found) + d * outside
    if spec.name == "SetP":
        return divided(Fraction(found), retrieved)
    if not base:
        return None
    precision, recall = Fraction(found, max(retrieved, 1)), Fraction(found, base)
    if spec.name == "SetRelP":
        return divided(Fraction(found), min(retrieved, base))
    by_name = {
        "SetR": recall,
        "SetF": f_measure(precision, recall, spec.number("beta", 1)),
        "SetAP": precision * recall,
    }
    return by_name[spec.name]


@measures("IPrec", "IAP")
def interpolated_precision(view: View, spec: Spec) -> Number | None:
    base, ranks, values = recall_base(view, spec), relevant_ranks(view, spec), []
    if not base:
        return None
    points = spec.word("points", "0-0.1-0.2-0.3-0.4-0.5-0.6-0.7-0.8-0.9-1").split("-")
    for point in [spec.word("recall")] if spec.name == "IPrec" else points:
        needed = math.ceil(exact(point) * base)
        if view.recall_cut != "exact":  # other tools' rules, in their doubles
            needed = math.floor(float(point) * base + {"round": 0.5, "ceil0.9": 0.9}[view.recall_cut])
        curve = [(sum(r <= rank for r in ranks), rank) for rank in range(1, len(view.documents) + 1)]
        values.append(max((Fraction(found, rank) for found, rank in curve if found >= needed), default=ZERO))
    return sum(values) / len(values)


@measures("Bpref", "GMBpref")
def bpref(view: View, spec: Spec) -> Number | None:
    relevant, total = recall_base(view, spec), ZERO
    others = len(view.judged) - relevant
    for rank in relevant_ranks(view, spec):
        above = sum(grade is not None and not is_relevant(grade, spec) for grade in view.ranked[: rank - 1])
        total += 1 - Fraction(min(above, relevant), min(others, relevant)) if above else 1
    return divided(total, relevant)


@measures("InfAP")
def inferred_ap(view: View, spec: Spec) -> Number | None:
    tiny, total = exact("0.00001"), ZERO
    for rank in relevant_ranks(view, spec):
        above = view.ranked[: rank - 1]
        good = sum(is_relevant(grade, spec) for grade in above)
        bad = sum(grade is not None for grade in above) - good
        pooled = sum(document in view.pool for document in view.documents[: rank - 1])
        expected = Fraction(pooled, max(rank - 1, 1)) * (good + tiny) / (good + bad + 2 * tiny)
        total += Fraction(1, rank) + Fraction(rank - 1, rank) * expected
    return divided(total, recall_base(view, spec))


@measures("Judged", "Unjudged")
def judged_share(view: View, spec: Spec) -> Number | None:
    seen = [document in view.grade for document in view.whole[: spec.k]]
    return (
        divided(Fraction(sum(seen)), len(seen)) if spec.name == "Judged" else Fraction(seen.count(False), spec.k or 1)
    )


@measures("UserCoverage")
def user_coverage(view: View, spec: Spec) -> Number | None:
    return Fraction(int(len(view.whole) >= (spec.k or 1)))


@measures("NumQ", "NumRet", "NumRel", "NumNonRelJudgedRet")
def counts(view: View, spec: Spec) -> Number | None:
    wrong = sum(grade is not None and not is_relevant(grade, spec) for grade in view.ranked)
    found = {"NumQ": 1, "NumRet": len(view.documents), "NumRel": recall_base(view, spec), "NumNonRelJudgedRet": wrong}
    return Fraction(found[spec.name])


# --- User models ----------------------------------------------------------------------------------------------------


@measures("RBP", "RBPResidual")
def rank_biased_precision(view: View, spec: Spec) -> Number | None:
    p, k = spec.number("p", 0.8), spec.k if spec.k is not None else len(view.documents)
    by_query = "scale" in spec
    if not by_query:
        refuse_gains_above_1(view, spec, "binary")
    run, _ = gains_of(view, spec, "binary")
    if spec.name == "RBP":
        whole = Spec(spec.name, {key: value for key, value in spec.given.items() if key not in ("rel", "level")})
        highest = max([ONE, *gains_of(view, whole, "binary")[1]]) if by_query else ONE
        return sum(((1 - p) * p**i * gain / highest for i, gain in enumerate(run[:k])), ZERO)
    shown = view.ranked[:k]
    unknown = sum(((1 - p) * p**i for i, grade in enumerate(shown) if grade is None), ZERO) + p ** len(shown)
    return unknown * (ONE if by_query else possible_gain(view, spec, "binary"))


@measures("TBG", "U")
def gain_by_reading(view: View, spec: Spec) -> Number | None:
    """The user of TBG has spent time before a document, that of U has read characters to its end."""
    is_timed = spec.name == "TBG"
    column = spec.word("column", "w" if is_timed else "c")
    spent, total = 0.0, 0.0
    gains = gains_of(view, spec, "binary" if is_timed else "linear")[0][: spec.k]
    for i, gain in enumerate(gains):
        if not any(gains[i:]):
            break
        length = float(exact(view.items[view.documents[i]][UNITS.get(column, column)]))
        if is_timed:
            half_life, click = float(spec.number("half_life", 224)), float(spec.number("p_click", 0.64))
            total += float(gain) * click * float(spec.number("p_save", 0.77)) * 0.5 ** (spent / half_life)
            opens = click if gain else float(spec.number("p_click_other", 0.39))
            read = float(spec.number("t_word", 0.018)) * length + float(spec.number("t_document", 7.8))
            spent += float(spec.number("t_summary", 4.4)) + opens * read
        else:
            spent += float(spec.number("c_snippet", 200)) + (float(spec.number("p_read", 0.2)) * length if gain else 0)
            total += float(gain) * max(0.0, 1 - spent / float(spec.number("L", 132000)))
    return total


def possible_gain(view: View, spec: Spec, default: str) -> Fraction:
    """Return the highest possible gain of an unjudged document."""
    known = weights(spec.word("gain", default))
    if spec.word("gain", default) == "binary":
        return ONE
    candidates = [Fraction(g) for g in known] if known else [spec.number("level") if "level" in spec else view.scale]
    return max(gain_of(grade, spec, view.scale, default) for grade in candidates)


def stops(gains: list[Fraction], highest: Fraction) -> list[Fraction]:
    """Return P(stop) at each rank, for a user satisfied with probability gain / (1 + highest)."""
    goes_on, found = ONE, []
    for gain in gains:
        found.append(goes_on * gain / (1 + highest))
        goes_on *= 1 - gain / (1 + highest)
    return found


@measures("ERR", "nERR")
def expected_reciprocal_rank(view: View, spec: Spec) -> Number | None:
    highest = highest_gain(spec, view.scale, "exp2")

    def err(gains: list[Fraction]) -> Fraction:
        return sum((stop / rank for rank, stop in enumerate(stops(gains[: spec.k], highest), start=1)), ZERO)

    run, ideal = gains_of(view, spec, "exp2")
    return err(run) if spec.name == "ERR" else divided(err(run), err(ideal))


HORIZON = 1000


def goes_on(model: str, gains: list[float], spec: Spec) -> Iterator[float]:
    """Return the continuation probability at each rank."""
    t, effort = float(spec.number("T", 1)), spec.number("K", 10)
    p = float(spec.number("p", 0.9 if model == "NERR10" else 0.8))
    so_far, rest = 0.0, math.fsum(gain / rank for rank, gain in enumerate(gains, start=1))
    for i, gain in enumerate(gains, start=1):
        so_far += gain
        before, rest = (
            rest,
            math.fsum(gain / rank for rank, gain in enumerate(gains[i:], start=i + 1)) if gain else rest,
        )
        patient = ((i + 2 * t - 1) / (i + 2 * t)) ** 2
        yield {
            "P": 1.0,
            "AP": rest / before if before else 0.0,
            "RR": float(so_far == 0),
            "RBP": p,
            "INST": ((i + 2 * t - so_far - 1) / (i + 2 * t - so_far)) ** 2,
            "INSQ": patient,
            "BPM": float(so_far < t and i < effort),
            "ScaledDCG": math.log2(i + 1) / math.log2(i + 2),
            "NERR8": 1 - gain,
            "NERR9": i / (i + 1) * (1 - gain),
            "NERR10": p * (1 - gain),
            "NERR11": patient * (1 - gain),
        }[model]


@measures("INST", "INSQ", "BPM", "ScaledDCG", "NERR8", "NERR9", "NERR10", "NERR11", "CWL")
def user_model(view: View, spec: Spec) -> Number | None:
    refuse_gains_above_1(view, spec, "scaled")
    end = spec.k or HORIZON
    model = spec.word("model", "RBP") if spec.name == "CWL" else spec.name

    report = spec.word("report", "utility")

    def expected(gains: list[float]) -> float:
        seen = [1.0]
        for continues in goes_on(model, gains, spec):
            seen.append(seen[-1] * continues)
        depth = math.fsum(seen[:-1])  # all users stop at the last rank
        total = math.fsum(v * gain for v, gain in zip(seen[:-1], gains, strict=True))
        cost = depth * float(spec.number("cost_document", 1))
        by_name = {"utility": total / depth, "": total / depth, "total": total, "depth": depth, "cost": cost}
        return by_name[report.removesuffix("residual").rstrip("-")]

    grades = (view.ranked + [None] * end)[:end]
    gains = [float(gain_of(grade, spec, view.scale, "scaled")) for grade in grades]
    if not report.endswith("residual"):
        return expected(gains)
    most = float(possible_gain(view, spec, "scaled"))
    return expected([most if g is None else gain for g, gain in zip(grades, gains, strict=True)]) - expected(gains)


# --- NTCIR ----------------------------------------------------------------------------------------------------------


def blended_ratio(run: list[Fraction], ideal: list[Fraction], rank: int, beta: Fraction) -> Fraction:
    found = sum(gain > 0 for gain in run[:rank])
    return (found + beta * sum(run[:rank])) / (rank + beta * sum(ideal[:rank]))


def stopping(run: list[Fraction], view: View, spec: Spec) -> list[Fraction] | None:
    """Return P(stop) at each rank; None if the measure is undefined."""
    relevant, base = [gain > 0 for gain in run], len(gains_of(view, spec)[1])
    if spec.name in ("EBR", "iRBU"):
        return stops(run, highest_gain(spec, view.scale))
    if spec.name in ("O", "P-measure", "P+"):
        if not any(relevant):
            return []
        best = relevant.index(True) if spec.name == "O" else run.index(max(run))
        if spec.name == "P+":
            inside = sum(relevant[: best + 1])
            return [Fraction(int(is_one), inside) for is_one in relevant[: best + 1]]
        return [Fraction(int(place == best)) for place in range(len(run))]
    if not base:
        return None
    if spec.name == "Q":
        return [Fraction(int(is_one), min(base, spec.k or base)) for is_one in relevant]
    if spec.word("stop") == "rank":
        gamma = spec.number("gamma", 0.99)
        total = sum(gamma**place for place in range(base))
        return [is_one * gamma ** sum(relevant[:place]) / total for place, is_one in enumerate(relevant)]
    judged = [(gain_of(g, spec, view.scale), gain_of(g, spec, view.scale, key="stops")) for g in view.judged]
    total = sum(weight for gain, weight in judged if gain > 0)
    own = [gain_of(grade, spec, view.scale, key="stops") for grade in view.ranked[: spec.k]]
    return [is_one * weight / total if total else ZERO for is_one, weight in zip(relevant, own, strict=True)]


@measures("Q", "O", "P-measure", "P+", "NCU", "EBR", "iRBU")
def utility_where_users_stop(view: View, spec: Spec) -> Number | None:
    run, ideal = gains_of(view, spec)
    run = run[: spec.k]
    chances = stopping(run, view, spec)
    if chances is None:
        return None
    if spec.name == "iRBU":
        return sum((stop * spec.number("p", 0.99) ** rank for rank, stop in enumerate(chances, start=1)), ZERO)
    beta = spec.number("beta", 1)
    ratios = (stop * blended_ratio(run, ideal, rank, beta) for rank, stop in enumerate(chances, start=1) if stop)
    return sum(ratios, ZERO)


@measures("GAP")
def graded_average_precision(view: View, spec: Spec) -> Number | None:
    run, ideal = gains_of(view, spec)
    run = run[: spec.k]
    terms = (sum(min(gain, other) for other in run[:rank]) / rank for rank, gain in enumerate(run, start=1))
    return divided(sum(terms, ZERO), sum(ideal))


# --- Diversity ------------------------------------------------------------------------------------------------------


def intents(view: View, spec: Spec, default: str) -> dict[str, dict[str, Fraction]]:
    """Document -> sub-topic -> nonzero gain, times the sub-topic's probability relative to equal ones."""
    if view.by_subtopic is None:
        raise Refusal("no-subtopics")
    known = {
        document: {s: gain for s, grade in of.items() if (gain := gain_of(grade, spec, view.scale, default)) > 0}
        for document, of in view.by_subtopic.items()
    }
    return {document: {s: gain * weight_of(view, s, known) for s, gain in of.items()} for document, of in known.items()}


def weight_of(view: View, subtopic: str, known: dict[str, dict[str, Fraction]]) -> Fraction:
    """Return the probability of a sub-topic times their number: 1 if all are equally likely."""
    count = len({s for of in known.values() for s in of})
    return view.likely[subtopic] * count if view.likely else ONE


def novel_gains(known: dict[str, dict[str, Fraction]], ranked: list[str], alpha: Fraction) -> list[Fraction]:
    """Return by rank the gains for all sub-topics, times 1 - alpha per earlier document of the same one."""
    seen: dict[str, int] = {}
    found = []
    for document in ranked:
        of = known.get(document, {})
        found.append(sum((gain * (1 - alpha) ** seen.get(s, 0) for s, gain in of.items()), ZERO))
        for subtopic in of:
            seen[subtopic] = seen.get(subtopic, 0) + 1
    return found


def greedy(known: dict[str, dict[str, Fraction]], alpha: Fraction) -> list[str]:
    """Build the greedy list: most added gain first, ties by last ID."""
    ranked: list[str] = []
    left = sorted(known, key=str.encode, reverse=True)
    while left:
        ranked.append(max(left, key=lambda document: novel_gains(known, [*ranked, document], alpha)[-1]))
        left.remove(ranked[-1])
    return ranked


@measures("alpha-DCG", "alpha-nDCG", "ERR-IA", "nERR-IA", "NRBP", "nNRBP")
def novelty(view: View, spec: Spec) -> Number | None:
    known = intents(view, spec, "binary")
    alpha, beta = spec.number("alpha", 0.5), spec.number("beta", 0.5)

    def weight(rank: int) -> Fraction:
        if "DCG" in spec.name:
            return 1 / Fraction(math.log2(rank + 1))
        return Fraction(1, rank) if "ERR" in spec.name else beta ** (rank - 1)

    def total(gains: list[Fraction]) -> Fraction:
        return sum((gain * weight(rank) for rank, gain in enumerate(gains[: spec.k], start=1)), ZERO)

    found = total(novel_gains(known, view.documents, alpha))
    if spec.name.startswith(("alpha-n", "n")):
        return divided(found, total(novel_gains(known, greedy(known, alpha), alpha)))
    highest = highest_gain(spec, view.scale, "binary") * len({s for of in known.values() for s in of})
    if spec.name == "NRBP":  # an infinite list of documents relevant to all sub-topics
        return divided(found, highest / (1 - (1 - alpha) * beta))
    return divided(found, total([highest * (1 - alpha) ** place for place in range(spec.k or 0)]))


@measures("P-IA", "AP-IA", "StRecall", "StComplete")
def intent_aware(view: View, spec: Spec) -> Number | None:
    known = intents(view, spec, "linear" if spec.word("of") == "global gain" else "binary")
    subtopics = {s for of in known.values() for s in of}
    values = []
    for subtopic in subtopics:
        relevant = {document for document, of in known.items() if subtopic in of}
        ranks = [rank for rank, document in enumerate(view.documents[: spec.k], start=1) if document in relevant]
        precisions = sum((Fraction(found, rank) for found, rank in enumerate(ranks, start=1)), ZERO)
        by_name = {
            "P-IA": Fraction(len(ranks), spec.k or 1),
            "AP-IA": precisions / len(relevant),
            "StRecall": Fraction(int(bool(ranks))),
            "StComplete": Fraction(int(bool(ranks))),
        }
        values.append(by_name[spec.name] * (1 if spec.name.startswith("St") else weight_of(view, subtopic, known)))
    if spec.name == "StComplete":
        return min(values, default=None)
    return divided(sum(values, ZERO), len(subtopics))


@measures("D-nDCG", "D-Q")
def of_global_gain(view: View, spec: Spec) -> Number | None:
    known = intents(view, spec, "linear")
    subtopics = {s for of in known.values() for s in of}
    if not subtopics:
        return None
    totals = {document: sum(of.values(), ZERO) / len(subtopics) for document, of in known.items()}
    ideal = sorted((gain for gain in totals.values() if gain > 0), reverse=True)
    run = [totals.get(document, ZERO) for document in view.documents][: spec.k]
    if spec.name == "D-nDCG":
        plain, k = Spec("DCG", {}), spec.k or max(len(run), len(ideal))
        value = cumulated(run, plain, k)[-1] / cumulated(ideal, plain, k)[-1]
    else:
        ratios = (blended_ratio(run, ideal, rank, ONE) for rank, gain in enumerate(run, start=1) if gain > 0)
        value = sum(ratios, ZERO) / min(len(ideal), spec.k or len(ideal))
    gamma = spec.number("gamma", 0)
    recall = intent_aware(view, Spec("StRecall", {**spec.given, "of": "global gain"}))
    return gamma * (recall or 0) + (1 - gamma) * value


def extrapolated_overlap(one: list[str], other: list[str], p: float) -> float:
    """Webber, Moffat and Zobel 2010, eq. 32."""
    short, long = sorted((len(one), len(other)))
    if not short:
        return 0.0
    x = [len({*one[:d]} & {*other[:d]}) for d in range(long + 1)]
    seen = math.fsum(x[d] / d * p**d for d in range(1, long + 1))
    shorter = math.fsum(x[short] * (d - short) / (short * d) * p**d for d in range(short + 1, long + 1))
    return (1 - p) / p * (seen + shorter) + ((x[long] - x[short]) / long + x[short] / short) * p**long


# --- Similarity to the ideal ----------------------------------------------------------------------------------------


@measures("Compat", "RBO")
def compatibility(view: View, spec: Spec) -> Number | None:
    place = {document: i for i, document in enumerate(view.documents)}
    relevant = [document for document, grade in view.grade.items() if grade > 0]
    ideal = sorted(relevant, key=lambda document: (-view.grade[document], place.get(document, len(place))))
    lists = max(len(view.documents), len(ideal))
    depth = lists if spec.word("depth") == "lists" else int(spec.word("depth", "1000"))
    p = float(spec.number("p", 0.95))

    def overlap(one: list[str], other: list[str]) -> float:
        shared = (len({*one[:i]} & {*other[:i]}) for i in range(1, depth + 1))
        return math.fsum(p ** (i - 1) * count / i for i, count in enumerate(shared, start=1))

    if spec.word("extrapolate") == "true":
        return extrapolated_overlap(view.documents[:depth], ideal[:depth], p)
    if spec.name == "RBO" or spec.word("normalize") == "false":
        most = math.fsum(p ** (i - 1) for i in range(1, depth + 1))
    else:
        most = overlap(ideal, ideal)
    return overlap(view.documents, ideal) / most if most else ZERO


@measures("PairAccuracy")
def pair_accuracy(view: View, spec: Spec) -> Number | None:
    marks = [is_relevant(grade, spec) for grade in view.ranked[: spec.k]]
    pairs = [(one, other) for one, other in combinations(marks, 2) if one != other]
    return divided(Fraction(sum(one for one, _ in pairs)), len(pairs))


# --- Earlier measures -----------------------------------------------------------------------------------------------


def tied_levels(view: View, spec: Spec, default: str = "policy") -> list[list[Fraction | None]]:
    """Split the list into groups of equal scores."""
    if spec.word("tied", default) == "policy" or None in view.scores or not view.by_score:
        return [[grade] for grade in view.ranked]
    pairs = zip(view.ranked, view.scores, strict=True)
    return [[grade for grade, _ in level] for _, level in groupby(pairs, key=lambda pair: pair[1])]


def sum_over_relevant(view: View, spec: Spec, of: Callable[[int], Number]) -> Number | None:
    """Return the sum over the ranks of relevant documents, expected if a rank is unknown."""

    def on_average(places: range, relevant: int) -> Number:
        return relevant * sum(map(of, places)) / max(len(places), 1) if relevant else ZERO

    total, rank = ZERO, 0
    for level in tied_levels(view, spec):
        total += on_average(range(rank + 1, rank + len(level) + 1), sum(is_relevant(g, spec) for g in level))
        rank += len(level)
    lost = sum(is_relevant(grade, spec) for grade in view.missed)
    if lost and "N" not in spec:
        return None
    if lost and spec.word("unretrieved") == "bottom":
        return total + sum(map(of, range(spec.whole("N") - lost + 1, spec.whole("N") + 1)))
    return total + (on_average(range(rank + 1, spec.whole("N") + 1), lost) if lost else ZERO)


@measures("ASL")
def average_search_length(view: View, spec: Spec) -> Number | None:
    total = sum_over_relevant(view, spec, Fraction)
    return None if total is None else divided(total, recall_base(view, spec))


@measures("NormRecall", "NormPrecision")
def between_best_and_worst(view: View, spec: Spec) -> Number | None:
    """Place the sum over ranks between its worst (last n ranks) and best (first n ranks) value."""
    n, size = recall_base(view, spec), int(spec.word("N", str(len(view.documents))))
    if n == 0 or n >= size:
        return None
    of: Callable[[int], Number] = Fraction if spec.name == "NormRecall" else math.log
    total = sum_over_relevant(view, spec, of)
    best, worst = (sum(map(of, places)) for places in (range(1, n + 1), range(size - n + 1, size + 1)))
    return None if total is None else (worst - total) / (worst - best)


@measures("ESL")
def expected_search_length(view: View, spec: Spec) -> Number | None:
    wanted, in_vain, found = int(spec.word("n", "1")), 0, 0
    levels = [[is_relevant(grade, spec) for grade in level] for level in tied_levels(view, spec, "expected")]
    lost = sum(is_relevant(grade, spec) for grade in view.missed)
    if "N" in spec:
        others = [False] * (spec.whole("N") - len(view.documents) - lost)
        bottom = spec.word("unretrieved") == "bottom"
        levels += [*([each] for each in others), *([True] for _ in range(lost))] if bottom else [[True] * lost + others]
    for level in levels:
        needed = wanted - found
        if sum(level) >= needed:  # averaged over all positions of the relevant documents
            ways = list(combinations(range(len(level)), sum(level)))
            before = Fraction(sum(places[needed - 1] - (needed - 1) for places in ways), len(ways))
            return in_vain + before + (wanted if spec.word("count") == "all" else 0)
        found, in_vain = found + sum(level), in_vain + level.count(False)
    return None


@measures("RankedHalfLife")
def ranked_half_life(view: View, spec: Spec) -> Number | None:
    run, _ = gains_of(view, spec)
    half, so_far = sum(run, ZERO) / 2, ZERO
    for before, gain in enumerate(run):
        if gain and so_far + gain >= half:
            return before + (half - so_far) / gain
        so_far += gain
    return None


def beside_itself(values: list[Fraction], spec: Spec) -> Number | None:
    """Divide cumulated values by those of the same list in descending order."""
    if not any(values):
        return None
    best, k = sorted(values, reverse=True), spec.k or 1
    ratios = [sum(values[:i]) / sum(best[:i]) for i in range(1, k + 1)]
    return sum(ratios) / k if spec.word("average") == "ranks" else ratios[-1]


@measures("SlidingRatio", "Satisfaction", "Frustration", "SFTotal")
def list_order(view: View, spec: Spec) -> Number | None:
    run, _ = gains_of(view, spec)
    marks = [is_relevant(grade, spec) for grade in view.ranked]
    satisfied = [gain if mark else ZERO for gain, mark in zip(run, marks, strict=True)]
    frustrated = [Fraction(int(not mark)) for mark in marks]
    if spec.name != "SFTotal":
        values = {"SlidingRatio": run, "Satisfaction": satisfied, "Frustration": frustrated}
        return beside_itself(values[spec.name], spec)
    w, one, other = spec.number("w", 0.5), beside_itself(satisfied, spec), beside_itself(frustrated, spec)
    if (w and one is None) or (w < 1 and other is None):
        return None
    return (w * one if w else ZERO) + ((1 - w) * (1 - other) if w < 1 else ZERO)  # type: ignore[operator]


@measures("NDPM")
def ndpm(view: View, spec: Spec) -> Number | None:
    placed = []
    for place, level in enumerate(tied_levels(view, spec, "expected")):
        placed += [(place, grade) for grade in level if grade is not None]
    placed += [(len(view.documents), grade) for grade in view.missed]
    pairs = [(one, other) for one, other in combinations(placed, 2) if one[1] != other[1]]
    wrong = sum((one[0] - other[0]) * (one[1] - other[1]) > 0 for one, other in pairs)
    tied = sum(one[0] == other[0] for one, other in pairs)
    return divided(Fraction(2 * wrong + tied), 2 * len(pairs))


@measures("RelativeRelevance")
def relative_relevance(view: View, spec: Spec) -> Number | None:
    u, s = gains_of(view, spec)[0], [score or ZERO for score in view.scores]
    su, ss, uu = (sum((a * b for a, b in zip(x, y, strict=True)), ZERO) for x, y in ((s, u), (s, s), (u, u)))
    return divided(su, ss + uu - su if spec.word("coef") == "jaccard" else math.sqrt(ss * uu))


@measures("SwetsE")
def swets_e(view: View, spec: Spec) -> Number | None:
    kinds: dict[bool, list[Fraction]] = {True: [], False: []}
    for grade, score in zip(view.ranked, view.scores, strict=True):
        if grade is not None:
            kinds[is_relevant(grade, spec)].append(score or ZERO)
    if not kinds[True] or not kinds[False]:
        return None
    spread = sum(math.sqrt(statistics.pvariance(each)) for each in kinds.values()) / 2
    return divided(statistics.mean(kinds[True]) - statistics.mean(kinds[False]), spread)


@measures("VanRijsbergenE", "Fallout", "Generality")
def contingency(view: View, spec: Spec) -> Number | None:
    found, base, seen = len(relevant_ranks(view, spec)), recall_base(view, spec), len(view.documents[: spec.k])
    if spec.name == "Generality":
        return Fraction(base, spec.whole("N")) if "N" in spec else None
    if spec.name == "Fallout":
        return divided(Fraction(seen - found), spec.whole("N") - base) if "N" in spec else None
    if not base or not found:
        return ONE if base else None
    alpha = spec.number("alpha", 0.5)
    return 1 - 1 / (alpha / Fraction(found, spec.k or seen) + (1 - alpha) / Fraction(found, base))


# --- Generalised precision and recall, many grades ------------------------------------------------------------------


@measures("gP", "gR", "gIPrec", "gIAP")
def generalised(view: View, spec: Spec) -> Number | None:
    most = highest_gain(spec, view.scale, "scaled") or ONE
    run, ideal = gains_of(view, spec, "scaled")
    found, base = [gain / most for gain in run], sum(ideal, ZERO) / most
    if spec.name == "gP":
        return sum(found[: spec.k], ZERO) / (spec.k or 1)
    if not base or spec.name == "gR":
        return divided(sum(found[: spec.k], ZERO), base)
    curve = [(sum(found[:rank]) / base, sum(found[:rank]) / rank) for rank in range(1, len(found) + 1)]

    def best_from(level: Fraction) -> Fraction:
        return max((precision for recall, precision in curve if recall >= level), default=ZERO)

    if spec.name == "gIPrec":
        return best_from(spec.number("recall"))
    return sum((best_from(Fraction(tenth, 10)) for tenth in range(11)), ZERO) / 11


@measures("muAP")
def ap_over_levels(view: View, spec: Spec) -> Number | None:
    if not any(grade > 0 for grade in view.judged):
        return None
    levels = view.levels if spec.word("levels") == "all" else view.judged
    weighted = lower = ZERO
    for level in sorted({level for level in levels if level > 0}):
        weighted += (level - lower) * (by_ranks(view, Spec("AP", {"rel": str(level)})) or 0)
        lower = level
    return weighted / lower


@measures("NDCNG")
def ndcng(view: View, spec: Spec) -> Number | None:
    highest = max(view.judged, default=ZERO)
    if highest <= 0:
        return None

    def gains(grades: list[Fraction | None]) -> list[Fraction]:
        return [Fraction(2 ** float(g / highest) - 1) if g is not None and g > 0 else ZERO for g in grades]

    run, ideal = gains(view.ranked), sorted(gains(list(view.judged)), reverse=True)
    k = spec.k or max(len(run), len(ideal))
    plain = Spec("DCG", {})
    vector = [a / b for a, b in zip(cumulated(run, plain, k), cumulated(ideal, plain, k), strict=True)]
    return sum(vector) / k if spec.word("average") == "ranks" else vector[-1]


# --- Distances on continuous scores ---------------------------------------------------------------------------------


def system_scores(scores: list[Fraction], spec: Spec) -> list[Fraction]:
    srs = spec.word("srs", "rank")
    if srs == "rank":
        return [1 - Fraction(rank - 1, spec.k or 1000) for rank in range(1, len(scores) + 1)]
    if srs == "minmax":
        low, high = min(scores, default=ZERO), max(scores, default=ZERO)
        return [(score - low) / (high - low) if high > low else ONE for score in scores]
    if srs == "score" and any(not 0 <= score <= 1 for score in scores):
        raise Refusal("score-outside-0-1")
    high = max(scores, default=ZERO)
    ways: dict[str, Callable[[Fraction], Fraction]] = {
        "score": lambda score: score,
        "max": lambda score: score / high if high else ZERO,
        "ratio": lambda score: score / (1 + score),
        "exp": lambda score: Fraction(1 - math.exp(-score)),
    }
    return list(map(ways[srs], scores))


def user_score(grade: Fraction | None, spec: Spec, view: View) -> Fraction:
    if grade is None or grade < 0:
        return ZERO
    urs = spec.word("urs", "scaled")
    if urs == "given":
        return grade
    scaled = Spec("", {"gain": urs})
    return mapped(grade, urs, view.scale) / (highest_gain(scaled, view.scale) or ONE)


def in_levels(score: Fraction, levels: str) -> Fraction:
    return Fraction(min(math.floor(score * int(levels)), int(levels) - 1), int(levels) - 1) if levels else score


def points_of(view: View, spec: Spec) -> tuple[list[tuple[Fraction, Fraction]], int]:
    """Return (SRS, URS) of all documents that count, and the number of others at (0, 0)."""
    cut = spec.k or 1000
    ranked = view.documents[:cut]
    scores = [score or ZERO for score in view.scores[:cut]]
    estimates = dict(zip(ranked, system_scores(scores, spec), strict=True))
    relevant = {document for document, grade in view.grade.items() if is_relevant(grade, spec)}
    over = spec.word("over", "retrieved+relevant")
    chosen = {"retrieved": set(ranked), "relevant": relevant, "judged": set(view.grade)}.get(
        over, relevant | set(ranked)
    )
    points = [
        (
            in_levels(estimates.get(document, ZERO), spec.word("srs_levels")),
            in_levels(user_score(view.grade.get(document), spec, view), spec.word("urs_levels")),
        )
        for document in chosen
    ]
    return points, int(over) - len(points) if over.isdigit() else 0


@measures("ADM", "ADP", "ADR")
def average_distance(view: View, spec: Spec) -> Number | None:
    points, rest = points_of(view, spec)
    power = 2 if spec.word("distance") == "squared" else 1
    kinds = {"ADM": points, "ADP": [p for p in points if p[0] > p[1]], "ADR": [p for p in points if p[0] < p[1]]}
    mean = divided(sum((abs(srs - urs) ** power for srs, urs in kinds[spec.name]), ZERO), len(points) + rest)
    return None if mean is None else 1 - mean


@measures("Pstar", "Rstar")
def agreement(view: View, spec: Spec) -> Number | None:
    points, rest = points_of(view, spec)
    t = spec.number("t", 0.1)
    agree = sum(abs(srs - urs) <= t for srs, urs in points) + rest
    beyond = sum((srs - urs if spec.name == "Pstar" else urs - srs) > t for srs, urs in points)
    return divided(Fraction(agree), agree + beyond)


@measures("ThresholdP", "ThresholdR", "PRmean")
def thresholds(view: View, spec: Spec) -> Number | None:
    points, _ = points_of(view, spec)
    retrieved = [srs >= spec.number("srs_threshold", 0.5) for srs, _ in points]
    relevant = [urs >= spec.number("urs_threshold", 0.5) for _, urs in points]
    both = Fraction(sum(one and other for one, other in zip(retrieved, relevant, strict=True)))
    precision, recall = divided(both, sum(retrieved)), divided(both, sum(relevant))
    if spec.name == "PRmean":
        return None if precision is None or recall is None else (precision + recall) / 2
    return precision if spec.name == "ThresholdP" else recall


# --- Sessions -------------------------------------------------------------------------------------------------------


@dataclass
class Session:
    """One session with the parameters of a measure."""

    queries: list[Json]
    grade: dict[str, Fraction]
    by_subtopic: dict[str, dict[str, Fraction]]
    scale: Fraction
    condensed: bool
    spec: Spec = field(default_factory=lambda: Spec("", {}))

    def shown(self, query: Json) -> list[str]:
        results: list[str] = query["results"]
        return [document for document in results if document in self.grade or not self.condensed]

    @property
    def is_jiang(self) -> bool:
        return self.spec.word("variant") == "jiang2016"

    def gain(self, grade: Fraction | None, default: str = "linear") -> Fraction:
        if not self.is_jiang or grade is None:
            return gain_of(grade, self.spec, self.scale, default)
        chosen = not {"rel", "level"} & set(self.spec.given) or is_relevant(grade, self.spec)
        return Fraction(2.0 ** float(grade)) - 1 if chosen else ZERO

    def depth(self, query: Json, whole: int) -> int:
        """Return the depth of a list."""
        if self.spec.word("scan") == "recorded" and "scanned" in query:
            return int(query["scanned"])
        return self.spec.k or whole

    def seen(self, query: Json) -> list[str]:
        shown = self.shown(query)
        return shown[: self.depth(query, len(shown))]

    def positions(self, query: Json, depth: int) -> int:
        short = self.spec.word("short", "pad")
        least = {"pad": depth, "asis": 0}.get(short)
        least = int(short.removeprefix("min:")) if least is None else least
        return min(depth, max(len(self.shown(query)), least))

    def discount(self, position: int, parameter: str, default: int) -> Fraction:
        base = self.spec.base(parameter, default)
        return Fraction(log(position + base - 1, base) if self.is_jiang else 1 + log(position, base))

    def weight(self, q: int, r: int) -> Fraction:
        return 1 / self.discount(r, "base", 2) / self.discount(q, "query_base", 4)

    def gains(self) -> list[list[Fraction]]:
        """Return by query the gain of each document within the depth."""
        before: set[str] = set()
        found = []
        for query in self.queries:
            documents = self.seen(query)
            again = before if self.spec.word("repeats") == "first" else set()
            found.append([ZERO if d in again else self.gain(self.grade.get(d)) for d in documents])
            before |= set(documents)
        return found

    def ideals(self) -> list[tuple[list[Fraction], int]]:
        """Return by query the ideal gains and their depth, perhaps for more queries than the session has."""
        best = sorted(map(self.gain, self.grade.values()), reverse=True)
        best = best if self.is_jiang else [gain for gain in best if gain > 0]
        asked = self.spec.word("ideal_queries", "session")
        deals = self.spec.word("repeats") == "first" and self.spec.word("normalise") != "query"
        found, dealt = [], 0
        for q in range(max(len(self.queries), int(asked) if asked.isdigit() else 0)):
            if q < len(self.queries):
                depth = self.depth(self.queries[q], max(len(self.shown(self.queries[q])), len(best)))
            else:
                depth = self.spec.k or len(best)
            start = dealt if deals else 0
            found.append((best[start : start + depth], depth))
            dealt += depth
        return found


Sessions = Callable[[Session], Number | None]
SESSION_MEASURES: dict[str, Sessions] = {}


def session_measures(*names: str) -> Callable[[Sessions], Sessions]:
    def enter(function: Sessions) -> Sessions:
        SESSION_MEASURES.update(dict.fromkeys(names, function))
        return function

    return enter


def share(own: Fraction, best: Fraction) -> Number | None:
    """Divide; undefined unless the ideal gain is above 0 (jiang2016 has negative gains)."""
    return own / best if best > 0 else None


def query_by_query(one: Session) -> list[Number | None]:
    """Return the value of each query; for nsDCG, relative to its own ideal list."""
    values: list[Number | None] = []
    for q, (gains, (ideal, depth)) in enumerate(zip(one.gains(), one.ideals(), strict=False), start=1):
        own = sum((gain * one.weight(q, r) for r, gain in enumerate(gains, start=1)), ZERO)
        cut = ideal[: one.positions(one.queries[q - 1], depth)]
        best = sum((gain * one.weight(q, r) for r, gain in enumerate(cut, start=1)), ZERO)
        values.append(own if one.spec.name == "sDCG" else share(own, best))
    return values


@session_measures("sDCG", "nsDCG")
def session_gain(one: Session) -> Number | None:
    spec, summary = one.spec, one.spec.word("summary", "final")
    if summary in ("best", "last") or spec.word("normalise") == "query":
        values = query_by_query(one)
        if summary == "last":
            return values[-1]
        weighed = [(1 / one.discount(q, "query_base", 4), v) for q, v in enumerate(values, start=1) if v is not None]
        if summary == "best":
            return max((value for _, value in weighed), default=None)
        return divided(sum((w * v for w, v in weighed), ZERO), sum((w for w, _ in weighed), ZERO))
    own: list[Fraction] = []
    best: list[Fraction] = []
    gains, total, ideal_before = one.gains(), ZERO, ZERO
    for q, (ideal, depth) in enumerate(one.ideals(), start=1):
        is_asked = q <= len(gains)
        ideal_total = ideal_before
        for r in range(1, (one.positions(one.queries[q - 1], depth) if is_asked else depth) + 1):
            total += gains[q - 1][r - 1] * one.weight(q, r) if is_asked and r <= len(gains[q - 1]) else ZERO
            ideal_total += ideal[r - 1] * one.weight(q, r) if r <= len(ideal) else ZERO
            own.append(total)
            best.append(ideal_total)
        ideal_before += sum((gain * one.weight(q, r) for r, gain in enumerate(ideal, start=1)), ZERO)
    vector = own if spec.name == "sDCG" else [share(a, b) for a, b in zip(own, best, strict=True)]
    if not vector:
        return ZERO if spec.name == "sDCG" else None
    if summary == "final":
        return vector[-1]
    exist = [value for value in vector if value is not None]
    return divided(sum(exist, ZERO), len(exist))


@session_measures("sRBP")
def session_rbp(one: Session) -> Number | None:
    p, b, total = one.spec.number("p", 0.8), one.spec.number("b", 0.5), ZERO
    for q, query in enumerate(one.queries):
        for r, document in enumerate(one.seen(query)):
            gain = one.gain(one.grade.get(document), "binary")
            total += ((p - b * p) / (1 - b * p)) ** q * (b * p) ** r * gain
    return (1 - p) * total


@session_measures("InstanceRecall")
def instance_recall(one: Session) -> Number | None:
    covers = {d: {s for s, g in of.items() if is_relevant(g, one.spec)} for d, of in one.by_subtopic.items()}
    seen = {document for query in one.queries for document in one.seen(query)}
    found = set().union(*(covers.get(document, set()) for document in seen))
    return divided(Fraction(len(found)), len(set().union(*covers.values())))


@session_measures("QueriesToFirst", "DocumentsToFirst", "QueriesToGain", "DocumentsToGain")
def effort(one: Session) -> Number | None:
    before, so_far = 0, ZERO
    for q, (query, gains) in enumerate(zip(one.queries, one.gains(), strict=True), start=1):
        for r, (document, gain) in enumerate(zip(one.seen(query), gains, strict=True), start=1):
            so_far += gain
            first = is_relevant(one.grade.get(document), one.spec)
            if first if one.spec.name.endswith("First") else so_far >= one.spec.number("wanted", 1):
                return Fraction(q if one.spec.name.startswith("Queries") else before + r)
        whole = len(one.shown(query))
        short = one.spec.word("short", "pad")
        least = int(short.removeprefix("min:")) if short.startswith("min:") else 0
        before += one.positions(query, one.depth(query, max(whole, least)))
    return None


@session_measures("SessionCost", "GainPerCost")
def session_cost(one: Session) -> Number | None:
    cost, per_query = ZERO, one.spec.word("cost_query", "1")
    for query in one.queries:
        if per_query == "recorded" and "cost" not in query:
            return None
        cost += exact(query["cost"]) if per_query == "recorded" else exact(per_query)
        cost += one.spec.number("cost_document", 0) * len(one.seen(query))
    return cost if one.spec.name == "SessionCost" else divided(sum(map(sum, one.gains()), ZERO), cost)


# --- From a vector to its answers -----------------------------------------------------------------------------------

# --- Recommendation -------------------------------------------------------------------------------------------------

#: Columns that identify items instead of describing them.
TITLES = ("title", "name", "text", "description", "url")


def attributes(view: View, item: str, spec: Spec) -> set[tuple[str, str]]:
    """Return an item's attributes in column by=..., or in all but titles; | separates values."""
    columns = view.items.get(item, {})
    chosen = [spec.word("by")] if "by" in spec else [name for name in columns if name not in TITLES]
    return {(name, part) for name in chosen for part in columns.get(name, "").split("|") if part}


def similarity(one: set[tuple[str, str]], other: set[tuple[str, str]], spec: Spec) -> Number:
    if spec.word("coef", "cosine") == "jaccard":
        return Fraction(len(one & other), len(one | other))
    return len(one & other) / math.sqrt(len(one) * len(other))


@measures("Novelty")
def mean_self_information(view: View, spec: Spec) -> Number | None:
    """Items without users count as if they had one; repeated users count once."""
    had = [(user, item) for user, items in view.training.items() for item in dict.fromkeys(items)]
    whole = len(view.training) if spec.word("share", "users") == "users" else len(had)
    shown = view.whole[: spec.k]
    bits = [-math.log2(max(sum(item == each for _, item in had), 1) / whole) for each in shown]
    return math.fsum(bits) / len(bits) if bits else None


@measures("ILD")
def intra_list_diversity(view: View, spec: Spec) -> Number | None:
    known = [found for item in view.whole[: spec.k] if (found := attributes(view, item, spec))]
    distances = [1 - similarity(one, other, spec) for one, other in combinations(known, 2)]
    return math.fsum(map(float, distances)) / len(distances) if distances else None


@measures("Serendipity")
def serendipity(view: View, spec: Spec) -> Number | None:
    past = [found for item in view.past if (found := attributes(view, item, spec))]
    if not past:
        return None
    unexpected = []
    for item in view.whole[: spec.k]:
        own = attributes(view, item, spec)
        if own and is_relevant(view.grade.get(item), spec):
            unexpected.append(1 - math.fsum(float(similarity(own, each, spec)) for each in past) / len(past))
    return math.fsum(unexpected) / (spec.k or 1)


def sorted_ids(vector: Json) -> list[str]:
    return sorted(vector["judgments"], key=str.encode)


def of_all_lists(vector: Json, spec: Spec) -> Number | None:
    """Return Coverage, Gini or Entropy of the items' shares of positions down to rank k in judged users' lists."""
    shown: dict[str, int] = {}
    for user in sorted_ids(vector):
        for item, *_ in ranked_list(vector["run"].get(user, []), policy_of(vector), [])[: spec.k]:
            shown[item] = shown.get(item, 0) + 1
    if spec.name == "Entropy":
        shares = [count / sum(shown.values()) for count in shown.values()]
        return math.fsum(share * math.log2(1 / share) for share in shares) if shares else None
    catalogue = set(vector.get("items") or {item for items in vector.get("training", {}).values() for item in items})
    places = [count for item, count in shown.items() if "N" in spec or item in catalogue]
    n = spec.whole("N") if "N" in spec else len(catalogue)
    if spec.name == "Coverage":
        return Fraction(len(places), n)
    if not places or n == 1:
        return None
    # Half of the mean difference between two items' shares, relative to the mean, over n (n - 1) pairs.
    every = [Fraction(count, sum(places)) for count in places] + [ZERO] * (n - len(places))
    return sum((abs(one - other) for one, other in combinations(every, 2)), ZERO) / (n - 1)


#: Worst values other than 0; None if there is none, so that the query is excluded.
WORST: dict[str, Fraction | None] = {
    **dict.fromkeys(("NDPM", "VanRijsbergenE", "Fallout", "Frustration"), ONE),
    **dict.fromkeys(("ASL", "ESL", "RankedHalfLife", "SwetsE", "Utility", "SessionCost")),
    **dict.fromkeys(("QueriesToFirst", "DocumentsToFirst", "QueriesToGain", "DocumentsToGain")),
}
#: Neither better nor worse, or possibly negative: an unanswered query scores like an empty list.
OF_EMPTY_LISTS = (
    *("idealDCG", "Judged", "Unjudged", "RBPResidual", "CWL", "Generality", "Utility", "RelativeRelevance", "SwetsE"),
    *("NumQ", "NumRet", "NumRel", "NumNonRelJudgedRet"),
)


def settled(raw: Number | None, spec: Spec, policy: dict[str, str], is_answered: bool) -> Number | None:
    """Return the value under the policy; None if the query is excluded."""
    worst = WORST.get(spec.name, ZERO)
    if not is_answered:
        if policy["missing"] == "error":
            raise Refusal("missing")
        if policy["missing"] == "skip":
            return None
        return worst if raw is None or spec.name not in OF_EMPTY_LISTS else raw
    if raw is None:
        if policy["undefined"] == "error":
            raise Refusal("undefined")
        return worst if policy["undefined"] == "zero" else None
    return raw


def aggregate(values: list[Number], name: str) -> float | None:
    """Return the mean over queries; for counts the sum, for GM measures the geometric mean."""
    if name.startswith("Num"):
        return float(sum(values))
    if not values:
        return None
    if name.startswith("GM"):  # floor of small values: a single 0 would make the mean 0
        return math.exp(math.fsum(math.log(max(float(value), 1e-5)) for value in values) / len(values))
    return float(sum(map(Fraction, values)) / len(values))


#: Measures of a rank: under a budget, that of the last document that fits.
OF_A_RANK = (
    *("P", "R", "F", "RelP", "Unjudged", "gP", "gR", "alpha-DCG", "ERR-IA", "P-IA", "StRecall"),
    *("INST", "INSQ", "BPM", "ScaledDCG", "NERR8", "NERR9", "NERR10", "NERR11", "CWL", "Novelty", "ILD", "Serendipity"),
    "UDCG",
)


def within(ranked: list[Ranked], budget: str, items: dict[str, dict[str, str]]) -> list[Ranked]:
    """Return the documents from the top whose lengths together fit a budget such as 400t."""
    amount, unit = re.findall(r"[\d.]+|[a-z]\w*", budget)
    lengths = [exact(items[document][UNITS.get(unit, unit)]) for document, _, _ in ranked]
    return [row for i, row in enumerate(ranked) if sum(lengths[: i + 1]) <= exact(amount)]


def policy_of(vector: Json) -> dict[str, str]:
    return {**DEFAULTS, **DIALECTS.get(vector.get("dialect", ""), {}), **vector.get("policy", {})}


def mean_of(values: list[Number | None]) -> Number | None:
    """Return the mean over orders; one value as it is, None if any is."""
    if len(values) == 1 or None in values:
        return values[0] if len(values) == 1 else None
    return sum(Fraction(value) for value in values if value is not None) / len(values)


def values_of_lists(vector: Json, spec: Spec) -> dict[str, Number | None]:
    policy = policy_of(vector)
    judgments = Judgments(vector["judgments"], policy)
    if policy["extra"] == "error" and set(vector["run"]) - set(judgments.queries):
        raise Refusal("extra")
    levels = judgments.levels
    refuse_grades(levels, spec)
    condensed = spec.word("unjudged", policy["unjudged"]) == "condensed"
    values = {}
    for query in judgments.queries:
        spans = [document for document, *_ in vector["judgments"][query]]
        ranked = ranked_list(vector["run"].get(query, []), policy, spans)
        grade = judgments.grades(query)
        raw: list[Number | None] = []
        for whole in arrangements(ranked, grade, policy):
            kept, seen, of_list = [row for row in whole if row[0] in grade or not condensed], whole, spec
            if "budget" in spec:
                kept, seen = (within(rows, spec.given["budget"], vector["items"]) for rows in (kept, whole))
                length = len(seen if spec.name in ("Unjudged", "Novelty", "ILD", "Serendipity") else kept)
                if spec.name in OF_A_RANK or "average" in spec:
                    of_list = Spec(spec.name, {**spec.given, "cutoff": str(max(1, length))})
            view = View(
                [document for document, _, _ in kept],
                [score for _, score, _ in kept],
                grade,
                [document for document, _, _ in seen],
                judgments.scale,
                judgments.pool(query),
                levels,
                policy["recall-cut"],
                judgments.by_subtopic[query] if policy["subtopics"] == "yes" else None,
                policy["order"] == "score",
                {subtopic: exact(share) for subtopic, share in vector.get("intents", {}).get(query, {}).items()},
                vector.get("items", {}),
                vector.get("training", {}),
                list(dict.fromkeys(vector.get("training", {}).get(query, []))),
                {document: share for document, _, share in kept},
                judgments.read,
            )
            size = spec.word("N") or spec.word("over")
            if size.isdigit() and int(size) < len({*view.documents, *grade}):
                raise Refusal("collection-too-small")
            raw.append(MEASURES[spec.name](view, of_list))
        values[query] = settled(mean_of(raw), spec, policy, query in vector["run"])
    return values


def values_of_sessions(vector: Json, spec: Spec) -> dict[str, Number | None]:
    policy = policy_of(vector)
    judgments = Judgments(vector["judgments"], policy)
    refuse_grades(judgments.levels, spec)
    condensed = spec.word("unjudged", policy["unjudged"]) == "condensed"
    condensed = condensed and spec.name not in ("SessionCost", "GainPerCost")  # unjudged documents were read too
    values = {}
    for name, session in vector["sessions"].items():
        grade, by_subtopic = judgments.grades(session["topic"]), judgments.by_subtopic[session["topic"]]
        one = Session(session["queries"], grade, by_subtopic, judgments.scale, condensed, spec)
        values[name] = settled(SESSION_MEASURES[spec.name](one), spec, policy, True)
    return values


def answer(vector: Json, text: str) -> Json:
    """Return the value per query and the aggregate of a measure, or an error."""
    spec = Spec.of(text)
    if spec.name in ("Coverage", "Gini", "Entropy"):  # one value for all lists together
        found = of_all_lists(vector, spec)
        return {"aggregate": None if found is None else float(found), "queries": dict.fromkeys(sorted_ids(vector))}
    try:
        values = (values_of_sessions if "sessions" in vector else values_of_lists)(vector, spec)
    except Refusal as refusal:
        return {"error": str(refusal)}
    whole = aggregate([value for value in values.values() if value is not None], spec.name)
    queries = {query: None if value is None else float(value) for query, value in values.items()}
    return {"aggregate": whole, "queries": queries}


# --- The files ------------------------------------------------------------------------------------------------------

HERE = Path(__file__).parent
FILES = sorted(path for path in HERE.glob("*.json") if path.name != "schema.json")


def answered(document: Json) -> Json:
    """Return the vectors with all answers computed."""
    vectors = []
    for vector in document["vectors"]:
        answers = {text: {**answer(vector, text), **_told(told)} for text, told in vector["answers"].items()}
        mistakes = {text: {**told, **answer(vector, text)} for text, told in vector.get("mistakes", {}).items()}
        vectors.append({**vector, "answers": answers, **({"mistakes": mistakes} if mistakes else {})})
    return {**document, "vectors": vectors}


def _told(told: Json) -> Json:
    """Return the notes on an answer: peers and papers."""
    return {key: value for key, value in told.items() if key not in ("aggregate", "queries", "error")}


def written(value: Any, depth: int = 0) -> str:
    """Format JSON with one line for everything that fits in it."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, (dict, list)) or (len(line) + 2 * depth <= 116 and depth > 2) or not value:
        return line
    inside = "  " * (depth + 1)
    if isinstance(value, list):
        lines = [written(each, depth + 1) for each in value]
    else:
        lines = [f"{json.dumps(key, ensure_ascii=False)}: {written(each, depth + 1)}" for key, each in value.items()]
    ends = "[]" if isinstance(value, list) else "{}"
    return f"{ends[0]}\n{inside}" + f",\n{inside}".join(lines) + f"\n{'  ' * depth}{ends[1]}"


def main(arguments: list[str]) -> int:
    """Write all answers, or report differences from the stored ones."""
    differ = []
    for path in FILES:
        before = path.read_text(encoding="utf-8")
        after = written(answered(json.loads(before))) + "\n"
        if before != after:
            differ.append(path.name)
            if "--check" not in arguments:
                path.write_text(after, encoding="utf-8")
    for name in differ:
        print(f"{name}: {'differs' if '--check' in arguments else 'written'}")
    return int(bool(differ) and "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
