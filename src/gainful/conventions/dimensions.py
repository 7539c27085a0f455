"""What two computations of the same measure can do differently: the dimensions of the search, and their values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from gainful.discounts import DISCOUNTS, Base, read_base
from gainful.errors import InputError
from gainful.gains import Gain
from gainful.measures.average_precision import AP, IPrec
from gainful.measures.base import Measure, value_text
from gainful.measures.cumulated_gain import CG, DCG, NCG, NDCG
from gainful.measures.precision import P, R
from gainful.notation import number_text
from gainful.policy import Policy

#: Every dimension's values in the order in which they are likely, with what each means. The dimensions themselves stand
#: in that order, too. Gains, discounts and relevance levels that are not listed here explain themselves.
MEANINGS: Mapping[str, Mapping[str, str]] = {
    "gain": {
        "linear": "the gain is the grade",
        "exp2": "the gain is 2^grade - 1",
        "binary": "every relevant document has gain 1",
        "scaled": "the gain is grade / scale",
    },
    "ideal": {
        "judged": "the ideal list is made of all judged documents and cut at k",
        "retrieved": "the ideal list is made of the retrieved documents only",
        "shown": "the ideal list is made of the first k retrieved documents only",
        "uncut": "the ideal list is made of all judged documents and not cut at k",
        "highest": "the ideal list has k documents of the highest gain",
    },
    "divisor": {
        "relevant": "divided by all relevant documents",
        "k": "divided by k",
        "retrieved": "divided by what was found: of AP the relevant documents retrieved, of P min(k, retrieved)",
        "capped": "divided by min(relevant documents, k)",
    },
    "discount": {},
    "missing": {
        "zero": "a query that the run does not answer scores 0",
        "skip": "a query that the run does not answer is left out",
    },
    "undefined": {
        "zero": "a query for which the formula divides by 0 scores 0",
        "skip": "a query for which the formula divides by 0 is left out",
        "one": "a query for which the formula divides by 0 scores 1",
    },
    "rel": {"none": "every grade above 0 is relevant"},
    "ties": {
        "docid-desc": "equal scores are ordered by document id, descending",
        "docid-asc": "equal scores are ordered by document id, ascending",
        "input": "equal scores stay in the order of the input",
        "rank": "equal scores are ordered by the rank column",
        "averaged": "documents of equal score share the mean of their gains",
    },
    "unjudged": {
        "zero": "unjudged documents keep their ranks",
        "condensed": "unjudged documents are removed before scoring",
    },
    "order": {
        "score": "lists are ordered by score",
        "rank": "lists are ordered by the rank column",
        "input": "lists stay in the order of the input",
    },
    "scores": {"float64": "scores are 64-bit floats", "float32": "scores are rounded to 32-bit floats"},
    "duplicates": {
        "first": "of a document that is in a list twice the best ranked counts",
        "last": "of a document that is in a list twice the last line counts",
        "all": "a document that is in a list twice counts twice",
    },
    "negative": {"judged": "a grade below 0 is a judgment", "unjudged": "a grade below 0 is no judgment"},
    "recall-cut": {
        "round": "recall levels are rounded to documents",
        "ceil0.9": "recall levels are turned into documents by adding 0.9 and truncating",
    },
}

#: More levels than these are a continuum, not steps that somebody would draw the line at.
_MOST_LEVELS = 10

#: An ideal list of documents that are not there is not made longer than this.
_DEEPEST_IDEAL = 100_000

_BASES: tuple[Base, ...] = (2.0, "e", 10.0)


@dataclass(frozen=True)
class Dimension:
    """Something that can be done in several ways. The first value is where the search starts."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class DataFacts:
    """What of the data decides which conventions can make a difference at all."""

    has_scores: bool
    has_ranks: bool
    has_duplicates: bool
    has_negative: bool
    levels: tuple[float, ...]  # the distinct grades, ascending


def meaning(dimension: str, value: str) -> str:
    """What a value says, in words."""
    known = MEANINGS[dimension].get(value)
    if known is not None:
        return known
    if dimension == "rel":
        return f"only grades from {value} on count"
    if dimension == "discount":
        name, base = discount_of(value)
        based = f", b = {value_text(base)}" if " base " in value else ""
        return f"a gain at rank j is divided by {DISCOUNTS[name].formula}{based}"
    return f"the gain is the weight of the grade in {value}"


def dimensions_for(measure: Measure, policy: Policy, facts: DataFacts) -> tuple[Dimension, ...]:
    """The dimensions that a measure has on some data; ``measure`` and ``policy`` are where the search starts."""
    values = {**_of_measure(measure, facts), **_of_policy(measure, policy, facts)}
    found = {name: tuple(dict.fromkeys(values[name])) for name in MEANINGS if name in values}
    return tuple(Dimension(name, alternatives) for name, alternatives in found.items() if len(alternatives) > 1)


def _of_measure(measure: Measure, facts: DataFacts) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    parameters = measure.parameters()
    if "gain" in parameters:
        named = ["linear", "exp2", "binary", *([] if is_normalised(measure) else ["scaled"])]
        # exp2 cannot carry grades whose powers do not add up any more.
        usable = [gain for gain in named if _can_carry(gain, facts.levels)]
        values["gain"] = [str(measure.gain), *usable]  # type: ignore[attr-defined]
    if "discount" in parameters and "base" in parameters:
        values["discount"] = [discount_text(measure), *_discounts(measure)]
    if isinstance(measure, (NCG, NDCG)):
        values["ideal"] = ["judged", "retrieved"]
        if measure.cutoff is not None:
            values["ideal"].append("shown")
            values["ideal"] += ["uncut"] if measure.average is None else []
            values["ideal"] += ["highest"] if measure.average is None and measure.cutoff <= _DEEPEST_IDEAL else []
    if isinstance(measure, AP):
        values["divisor"] = ["relevant", "retrieved", *(["capped", "k"] if measure.cutoff else [])]
    elif isinstance(measure, R):
        values["divisor"] = ["relevant", "capped"]
    elif isinstance(measure, P):
        values["divisor"] = ["k", "retrieved"]
    if "rel" in parameters and getattr(measure, "level", None) is None:
        given = measure.rel  # type: ignore[attr-defined]
        values["rel"] = ["none" if given is None else number_text(given), "none", *_levels(facts.levels)]
    return values


def _of_policy(measure: Measure, policy: Policy, facts: DataFacts) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {
        # An error is no number: where it would be one, the search starts from what is common.
        "missing": [_unless_error(policy.missing, "zero"), "zero", "skip"],
        "undefined": [_unless_error(policy.undefined, "zero"), "zero", "skip"],
    }
    if measure.bounds[1] == 1.0 and measure.better == "higher":
        values["undefined"].append("one")
    ranks = ["rank"] if facts.has_ranks else []
    if facts.has_scores:
        averaged = ["averaged"] if is_cumulated(measure) else []
        values["order"] = [policy.order, "score", *ranks, "input"]
        values["ties"] = [policy.ties, "docid-desc", "docid-asc", "input", *ranks, *averaged]
        values["scores"] = [policy.scores, "float64", "float32"]
    elif ranks:
        values["order"] = ["input" if policy.order == "score" else policy.order, "input", *ranks]
    if not measure.whole_list:
        own = getattr(measure, "unjudged", None)
        values["unjudged"] = [own or policy.unjudged, "zero", "condensed"]
    if facts.has_duplicates:
        values["duplicates"] = ["first", "last", "all"]
    if facts.has_negative:
        values["negative"] = [policy.negative, "judged", "unjudged"]
    if isinstance(measure, IPrec):
        values["recall-cut"] = [policy.recall_cut, "round", "ceil0.9"]
    return values


def usual_divisor(measure: Measure) -> str:
    """What the measure itself divides by, as far as that is a dimension."""
    return "k" if isinstance(measure, P) else "relevant"


def is_cumulated(measure: Measure) -> bool:
    """Whether a measure adds up gains, so that documents can share theirs."""
    return isinstance(measure, (CG, DCG, NCG, NDCG))


def is_normalised(measure: Measure) -> bool:
    """Whether a factor on all gains cancels out."""
    return isinstance(measure, (NCG, NDCG))


def discount_text(measure: Measure) -> str:
    """A measure's discount as a value of its dimension."""
    return _discount_text(measure, measure.discount, measure.base)  # type: ignore[attr-defined]


def discount_of(text: str) -> tuple[str, Base]:
    """The discount and base that a value of that dimension stands for."""
    name, _, base = text.partition(" base ")
    return name, read_base(base or "2")


def _discount_text(measure: Measure, discount: str, base: Base) -> str:
    cancels = discount == "burges2005" and is_normalised(measure)
    return discount if cancels or not DISCOUNTS[discount].has_base else f"{discount} base {value_text(base)}"


def _discounts(measure: Measure) -> list[str]:
    return [
        _discount_text(measure, name, base)
        for name, discount in DISCOUNTS.items()
        for base in (_BASES if discount.has_base else _BASES[:1])
    ]


def _can_carry(gain: str, levels: Iterable[float]) -> bool:
    try:
        Gain.of(gain).check(np.array(list(levels)))
    except InputError:
        return False
    return True


def _levels(levels: Iterable[float]) -> list[str]:
    positive = [level for level in levels if level > 0]
    return [number_text(level) for level in positive[1:]] if len(positive) <= _MOST_LEVELS else []


def _unless_error(value: str, otherwise: str) -> str:
    return otherwise if value == "error" else value
