"""Dimensions in which two computations of a measure can differ, and the scores for given settings.

Known tools and papers are dialects: their conventions, read from their source or text. A dimension that is not listed
is left to the user; several values are several ways to use the tool. The default divisor is the measure's.

Scores are computed by the engine that `evaluate` uses. Most settings are choices of a :class:`Policy` or parameters of
the measure. The few that should not be chosen are modelled through the engine's inputs: judgments without the documents
that a list misses, and grades that are already gains.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from gainful.data.graded import GradedRun, join
from gainful.data.judged import Judged
from gainful.data.lists import highest_gain
from gainful.data.qrels import Qrels
from gainful.data.run import Run
from gainful.discounts import DISCOUNTS, Base, divisors, read_base
from gainful.errors import InputError
from gainful.frozen import dataclass, fields, replace
from gainful.gains import Gain
from gainful.kernel import core
from gainful.kernel.arrays import Floats
from gainful.measures.average_precision import AP, IPrec
from gainful.measures.base import Measure, value_text
from gainful.measures.block import raw_scores
from gainful.measures.cumulated_gain import CG, DCG, NCG, NDCG, CumulatedGain
from gainful.measures.precision import P, R
from gainful.notation import grouped, number_text
from gainful.policy import BY_GRADE, Policy

#: The meaning of every value; dimensions, and their values, are in descending order of likelihood. Gains, discounts and
#: relevance levels that are not listed explain themselves.
MEANINGS: Mapping[str, Mapping[str, str]] = {
    "gain": {
        "linear": "the gain is the grade",
        "exp2": "the gain is 2^grade - 1",
        "binary": "every relevant document has gain 1",
        "scaled": "the gain is grade / scale",
    },
    "ideal": {
        "judged": "the ideal list contains all judged documents, cut at k",
        "retrieved": "the ideal list contains retrieved documents only",
        "shown": "the ideal list contains the first k retrieved documents only",
        "uncut": "the ideal list contains all judged documents, not cut at k",
        "highest": "the ideal list has k documents of the highest gain",
    },
    "divisor": {
        "relevant": "divided by all relevant documents",
        "k": "divided by k",
        "retrieved": "AP divided by the relevant documents retrieved, P by min(k, retrieved)",
        "capped": "divided by min(relevant documents, k)",
    },
    "discount": {},
    "missing": {"zero": "unanswered queries score 0", "skip": "unanswered queries are omitted"},
    "undefined": {
        "zero": "queries with division by 0 score 0",
        "skip": "queries with division by 0 are omitted",
        "one": "queries with division by 0 score 1",
    },
    "rel": {"none": "every grade above 0 is relevant"},
    "ties": {
        "docid-desc": "equal scores are ordered by document ID, descending",
        "docid-asc": "equal scores are ordered by document ID, ascending",
        "input": "equal scores stay in input order",
        "rank": "equal scores are ordered by the rank column",
        "expected": "documents with equal scores share the mean of their gains",
    },
    "unjudged": {
        "zero": "unjudged documents keep their ranks",
        "condensed": "unjudged documents are removed before scoring",
    },
    "order": {
        "score": "lists are ordered by score",
        "rank": "lists are ordered by the rank column",
        "input": "lists stay in input order",
    },
    "scores": {"float64": "scores are 64-bit floats", "float32": "scores are rounded to 32-bit floats"},
    "duplicates": {
        "first": "the best rank of a duplicate document counts",
        "last": "the last line of a duplicate document counts",
    },
    "negative": {"judged": "grades below 0 are judgments", "unjudged": "grades below 0 mean unjudged"},
    "recall-cut": {
        "exact": "recall levels are compared exactly",
        "round": "recall levels are rounded to whole documents",
        "ceil0.9": "recall levels times relevant documents plus 0.9 are truncated",
    },
}

#: With more levels, grades are treated as continuous, and thresholds are not searched.
_MOST_LEVELS = 10

#: Maximum length of an ideal list of hypothetical documents.
_DEEPEST_IDEAL = 100_000

_BASES: tuple[Base, ...] = (2.0, "e", 10.0)


class Dimension(NamedTuple):
    """A convention with several values. The first value is the start of the search."""

    name: str
    values: tuple[str, ...]


def meaning(dimension: str, value: str) -> str:
    """Return the meaning of a value, in words."""
    known = MEANINGS[dimension].get(value)
    if known is not None:
        return known
    if dimension == "rel":
        return f"only grades {value} and above count"
    if dimension == "discount":
        name, base = discount_of(value)
        based = f", b = {value_text(base)}" if " base " in value else ""
        return f"a gain at rank j is divided by {DISCOUNTS[name].formula}{based}"
    return f"the gain is the weight of the grade in {value}"


def dimensions_for(measure: Measure, policy: Policy, graded: GradedRun, run: Run) -> tuple[Dimension, ...]:
    """Return the dimensions of a measure on some data; ``measure`` and ``policy`` are the start of the search."""
    levels = Judged(graded.judged.qrels, graded.policy.replace(negative="judged")).levels
    values = _of_measure(measure, levels)
    # "error" gives no number, so the search starts from the default instead.
    missing, undefined = (value.replace("error", "zero") for value in (policy.missing, policy.undefined))
    values |= {"missing": [missing, "zero", "skip"], "undefined": [undefined, "zero", "skip"]}
    if measure.bounds[1] == 1.0 and measure.better == "higher":
        values["undefined"].append("one")
    ranks = ["rank"] if run.has_ranks and not np.isnan(run.rank).any() else []
    if run.has_scores:
        averaged = ["expected"] if is_cumulated(measure) else []
        values["order"] = [policy.order, "score", *ranks, "input"]
        values["ties"] = [policy.ties, "docid-desc", "docid-asc", "input", *ranks, *averaged]
        values["scores"] = [policy.scores, "float64", "float32"]
    elif ranks:
        values["order"] = ["rank" if policy.order == "score" else policy.order, *ranks, "input"]
    if not measure.whole_list:
        values["unjudged"] = [getattr(measure, "unjudged", None) or policy.unjudged, "zero", "condensed"]
    if graded.facts.duplicate_count:
        values["duplicates"] = ["first", "last"]
    if (levels < 0).any():
        values["negative"] = [policy.negative, "judged", "unjudged"]
    if isinstance(measure, IPrec):
        values["recall-cut"] = [policy.recall_cut, "exact", "round", "ceil0.9"]
    found = {name: tuple(dict.fromkeys(values[name])) for name in MEANINGS if name in values}
    return tuple(Dimension(name, alternatives) for name, alternatives in found.items() if len(alternatives) > 1)


def _of_measure(measure: Measure, levels: Floats) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    parameters = measure.parameters()
    if "gain" in parameters:
        values["gain"] = [str(measure.gain)]  # type: ignore[attr-defined]
        for gain in ("linear", "exp2", "binary", *(() if is_normalised(measure) else ("scaled",))):
            # exp2 refuses grades whose powers lose precision.
            with suppress(InputError):
                Gain.of(gain).check(levels)
                values["gain"].append(gain)
    if "discount" in parameters and "base" in parameters:
        given: tuple[str, Base] = measure.discount, measure.base  # type: ignore[attr-defined]
        tried = [(name, base) for name, each in DISCOUNTS.items() for base in _BASES[: 3 if each.has_base else 1]]
        values["discount"] = []
        for name, base in (given, *tried):
            has_base = DISCOUNTS[name].has_base and not (name == "burges2005" and is_normalised(measure))
            values["discount"].append(f"{name} base {value_text(base)}" if has_base else name)
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
        rel = measure.rel  # type: ignore[attr-defined]
        positive = levels[levels > 0].tolist()
        steps = positive[1:] if len(positive) <= _MOST_LEVELS else []
        values["rel"] = ["none" if rel is None else number_text(rel), "none", *map(number_text, steps)]
    return values


def usual_divisor(measure: Measure) -> str:
    """Return the measure's own divisor, if it has a choice."""
    return "k" if isinstance(measure, P) else "relevant"


def is_cumulated(measure: Measure) -> bool:
    """Whether a measure adds gains, which tied documents can share."""
    return isinstance(measure, (CG, DCG, NCG, NDCG))


def is_normalised(measure: Measure) -> bool:
    """Whether a common factor of all gains cancels out."""
    return isinstance(measure, (NCG, NDCG))


def discount_of(text: str) -> tuple[str, Base]:
    """Return the discount and base of a value of that dimension."""
    name, _, base = text.partition(" base ")
    return name, read_base(base or "2")


Values = Mapping[str, tuple[str, ...]]


def _of(**values: str) -> Values:
    """Return values from keywords: ``|`` separates values, ``_`` in a name becomes ``-``."""
    return {name.replace("_", "-"): tuple(text.split("|")) for name, text in values.items()}


@dataclass(frozen=True)
class Dialect:
    """The conventions of a tool or paper for some measures: allowed values by dimension.

    ``measures`` are names, with ``@k`` if there is a cutoff. ``averages``: whether ``average=ranks`` is included.
    """

    name: str
    measures: str
    values: Values
    averages: bool = False

    @classmethod
    def of(cls, name: str, measures: str, *given: Values, averages: bool = False, **own: str) -> Dialect:
        """Return a dialect from shared settings and its own."""
        values = {dimension: allowed for each in (*given, _of(**own)) for dimension, allowed in each.items()}
        return cls(name, measures, values, averages)

    def computes(self, measure: Measure) -> bool:
        name = measure.name if measure.rank_cutoff is None else f"{measure.name}@k"
        averages = getattr(measure, "average", None) is not None
        by_level = getattr(measure, "level", None) is not None
        return name in self.measures.split() and not by_level and (self.averages or not averages)

    def leaves_open(self, name: str) -> bool:
        """Whether a dimension is left to the user."""
        return name not in self.values


_NDCG = "nDCG nDCG@k"
_GRADED = f"{_NDCG} DCG DCG@k"
_TREC = f"{_NDCG} AP AP@k P@k R@k RR Rprec Success@k IPrec SetP SetR NumQ NumRet NumRel NumRelRet"
_TREC_EVAL_ITSELF = f"{_TREC} DCG"  # not cut at k
_TREC_EVAL_NOW = "trec_eval 10.0"
_RANX = f"{_GRADED} AP AP@k P@k R@k RR RR@k Rprec Success@k"

#: The plain textbook formula.
_PLAIN = _of(gain="linear", ideal="judged", discount="burges2005|burges2005 base 2", rel="none", unjudged="zero")
_EXPONENTIAL = {**_PLAIN, **_of(gain="exp2")}
#: Sorted by score; ties keep input order.
_STABLE = _of(order="score", ties="input", scores="float64")
#: Libraries that see only the documents passed to them: they skip an unanswered query unless the caller adds a 0.
_LIST_ONLY = _of(ideal="retrieved", order="score", missing="skip|zero")
#: Not a value of the search: the tool refuses lists with duplicates.
_REFUSED = "refused"

_TREC_EVAL = {
    **_PLAIN,
    **_of(undefined="zero", ties="docid-desc", order="score", duplicates=_REFUSED, negative="unjudged"),
}
_TREC_EVAL_9 = {**_TREC_EVAL, **_of(scores="float32", recall_cut="ceil0.9")}
_TREC_EVAL_10 = {**_TREC_EVAL, **_of(scores="float64", recall_cut="round")}

_TRECTOOLS = _of(ties="input", order="score|input", missing="skip", undefined="skip")
_LENSKIT = _of(gain="linear|binary", discount="jarvelin2002 base 2", undefined="zero|skip", order="score")


def _based(discount: str, bases: str) -> str:
    return "|".join(f"{discount} base {base}" for base in bases.split())


DIALECTS: tuple[Dialect, ...] = (
    # trec_eval 9.0.8 omits unanswered queries without -c; 10.0 then exits with an error, so its numbers include them.
    # pytrec_eval bundles 9.0.8 and scores queries that have both judgments and results.
    Dialect.of("trec_eval 9.0.8", _TREC_EVAL_ITSELF, _TREC_EVAL_9, missing="skip"),
    Dialect.of("pytrec_eval", _TREC, _TREC_EVAL_9, missing="skip"),
    Dialect.of("trec_eval 9.0.8 -c", _TREC_EVAL_ITSELF, _TREC_EVAL_9, missing="zero"),
    Dialect.of(_TREC_EVAL_NOW, _TREC_EVAL_ITSELF, _TREC_EVAL_10, missing="zero"),
    # ir_measures uses pytrec_eval and scores unanswered queries 0; its RR@k breaks ties in the opposite direction.
    Dialect.of("ir_measures", _TREC, _TREC_EVAL_9, missing="zero"),
    Dialect.of("ir_measures", "RR@k", _TREC_EVAL_10, missing="zero", ties="docid-asc", negative="judged"),
    Dialect.of("gdeval", "nDCG@k", _EXPONENTIAL, ties="docid-desc", order="score", scores="float64"),
    Dialect.of("ranx", _RANX, _PLAIN, _STABLE, missing="zero", undefined="zero"),
    Dialect.of("ranx ndcg_burges", _GRADED, _EXPONENTIAL, _STABLE, missing="zero", undefined="zero"),
    # trectools' nDCG keeps the file's order and drops NaN.
    Dialect.of("trectools", _NDCG, _PLAIN, _TRECTOOLS),
    Dialect.of("trectools (trec_eval=False)", _NDCG, _EXPONENTIAL, _TRECTOOLS),
    # scikit-learn and the next tools see only the documents passed to them: no judged document that was not retrieved.
    Dialect.of("scikit-learn", _GRADED, _PLAIN, _LIST_ONLY, ties="expected", scores="float64", undefined="zero"),
    Dialect.of("torchmetrics", _NDCG, _PLAIN, _LIST_ONLY, ties="expected", scores="float32", undefined="zero"),
    Dialect.of(
        "torchmetrics", "AP AP@k", _PLAIN, divisor="retrieved", order="score", undefined="zero", missing="skip|zero"
    ),
    Dialect.of("LightGBM", _NDCG, _EXPONENTIAL, _LIST_ONLY, ties="input", scores="float64", undefined="one"),
    Dialect.of("TF-Ranking", _NDCG, _EXPONENTIAL, _LIST_ONLY, scores="float32", undefined="zero"),
    # Recommendation: gains are binary; LensKit's discount is log2(max(j, 2)), the ideal of RecTools has k ones.
    Dialect.of("LensKit", _GRADED, _PLAIN, _LENSKIT),
    Dialect.of("Microsoft recommenders", "nDCG@k", _PLAIN, _STABLE, gain="binary", missing="skip"),
    Dialect.of("RecTools", "nDCG@k", _PLAIN, gain="binary", ideal="highest", missing="skip"),
    Dialect.of("RecTools (divide_by_k)", "AP@k", _PLAIN, divisor="k", missing="skip"),
    Dialect.of("elinor", _NDCG, _PLAIN, _STABLE, undefined="one"),
    Dialect.of("elinor Burges", _NDCG, _EXPONENTIAL, _STABLE, undefined="one"),
    # NTCIREVAL keeps the given order; gains are the user's choice. MATTERS' default weights are 0, 5, 10, ...
    Dialect.of("NTCIREVAL", "AP@k", _PLAIN, divisor="capped", order="rank|input"),
    Dialect.of("NTCIREVAL MSnDCG", "nDCG@k", _PLAIN, order="rank|input"),
    Dialect.of("NTCIREVAL nDCG", "nDCG@k", _PLAIN, discount=_based("jarvelin2002", "2 e 10"), order="rank|input"),
    Dialect.of("MATTERS", _NDCG, _PLAIN, discount="jarvelin2002 base 10", scores="float32", undefined="skip"),
    Dialect.of("BEIR R_cap", "R@k", _PLAIN, divisor="capped", order="score"),
    # The papers define discounted gains and the ideal list only.
    Dialect.of("Burges et al. 2005", _GRADED, _EXPONENTIAL),
    *(
        Dialect.of(name, _GRADED, _PLAIN, averages=True, discount=_based(discount, bases))
        for name, discount, bases in (
            ("Järvelin and Kekäläinen 2000", "jarvelin2000", "2 e 10"),
            ("Järvelin and Kekäläinen 2002", "jarvelin2002", "2 10"),
            ("Järvelin et al. 2008", "jarvelin2008", "2 e 10"),
        )
    ),
)


def dialects_for(measure: Measure, dimensions: Iterable[Dimension], answers_all: bool) -> tuple[Dialect, ...]:
    """Return the dialects that have a measure; first gainful's: the measure as given, all choices at their defaults."""
    starts = {dimension.name: dimension.values[0] for dimension in dimensions}
    own = {name: (text,) for name, text in Policy().texts().items() if name in MEANINGS}
    own |= {name: (starts[name],) for name in ("gain", "ideal", "discount", "rel") if name in starts}
    if "scores" not in starts:  # a run without scores has several orders only if it has ranks
        own["order"] = ("rank",)
    divisor = {"divisor": (usual_divisor(measure),)}
    found = [Dialect("gainful", "", own), *(dialect for dialect in DIALECTS if dialect.computes(measure))]
    # trec_eval 10.0 has a number for runs with unanswered queries only with -c.
    named = {} if answers_all else {_TREC_EVAL_NOW: f"{_TREC_EVAL_NOW} -c"}
    return tuple(replace(of, name=named.get(of.name, of.name), values={**divisor, **of.values}) for of in found)


#: Dimensions that determine the lists, and dimensions that determine the formula.
_DECIDE_LISTS = ("order", "ties", "scores", "duplicates", "negative", "unjudged")
DECIDE_FORMULA = ("gain", "ideal", "divisor", "discount", "rel", "recall-cut")


class Formula(NamedTuple):
    """A measure, an ideal list and divisor that are not its parameters, and the policy's ``recall_cut``."""

    measure: Measure
    ideal: str
    divisor: str
    recall_cut: str

    @classmethod
    def of(cls, measure: Measure, usual_cut: str, *settings: str | None) -> Formula:
        """Return the formula for settings in the order of ``DECIDE_FORMULA``; None keeps the measure's own value."""
        gain, ideal, divisor, discount, rel, recall_cut = settings
        changes: dict[str, object] = {"gain": gain} if gain else {}
        if discount:
            changes["discount"], changes["base"] = discount_of(discount)
        if rel:
            changes["rel"] = None if rel == "none" else rel
        if "unjudged" in measure.parameters():
            changes["unjudged"] = None  # lists come with or without their unjudged documents
        changed = measure.replace(**changes) if changes else measure
        return cls(changed, ideal or "judged", divisor or usual_divisor(measure), recall_cut or usual_cut)


def formula_scores(lists: GradedRun, formulas: Sequence[Formula]) -> dict[Formula, Floats]:
    """Return the raw scores of all queries for every formula, NaN if undefined."""
    together = grouped(((_judged_to(formula), formula.recall_cut), formula) for formula in formulas)
    found: dict[Formula, Floats] = {}
    for (last, recall_cut), alike in together.items():
        graded = replace(lists, policy=lists.policy.replace(recall_cut=recall_cut))
        if last is not None:
            shown = graded.hit_rank <= last
            judged = Judged(graded.judged.qrels, graded.judged.policy, graded.judged.index)
            judged.grade = np.full(graded.judged.grade.size, np.nan)
            judged.grade[graded.hit_item[shown]] = graded.hit_grade[shown]
            graded = replace(graded, judged=judged)
        measures = [_computed(formula, graded.policy) for formula in alike]
        with np.errstate(invalid="ignore", divide="ignore"):
            for formula, measure, raw in zip(alike, measures, raw_scores(graded, measures), strict=True):
                found[formula] = raw / _divisor(formula, measure, graded)
    return found


def _computed(formula: Formula, policy: Policy) -> Measure:
    """Return the measure to compute: an unnormalised sum if the ideal differs."""
    measure = formula.measure
    if not is_cumulated(measure):
        return measure
    kind: type[Measure] = type(measure)
    if formula.ideal in ("uncut", "highest"):
        kind = CG if isinstance(measure, NCG) else DCG
    elif is_normalised(measure) and policy.ties == "expected":
        kind = _BeatableNCG if isinstance(measure, NCG) else _BeatableNDCG
    if kind is type(measure):
        return measure
    return kind(**{field.name: getattr(measure, field.name) for field in fields(measure)})


def _judged_to(formula: Formula) -> float | None:
    """Return the last rank that counts as judged; None if all judgments count."""
    if formula.ideal == "shown" or (formula.divisor == "retrieved" and isinstance(formula.measure, AP)):
        return formula.measure.rank_cutoff or np.inf
    return np.inf if formula.ideal == "retrieved" else None


class _Beatable(CumulatedGain):
    """A measure that can exceed its ideal: documents can share gains of tied documents below the cutoff."""

    def capped(self, scores: Floats) -> Floats:
        return np.where(np.isfinite(scores), scores, np.nan)


class _BeatableNCG(_Beatable, NCG):
    pass


class _BeatableNDCG(_Beatable, NDCG):
    pass


def _divisor(formula: Formula, computed: Measure, graded: GradedRun) -> Floats | float:
    measure, k = formula.measure, formula.measure.rank_cutoff or 1
    if isinstance(computed, (CG, DCG)) and computed.name != measure.name:
        discounts = partial(divisors, computed.discount, computed.base)
        if formula.ideal == "highest":
            best = highest_gain(measure.gain, graded.judged.scale)  # type: ignore[attr-defined]
            return float((best / discounts(np.arange(1.0, k + 1.0))).sum())
        return graded.judged.ideal_lists(computed.gain, computed.rel, computed.level).total(discounts, None)
    if isinstance(measure, P) and formula.divisor == "retrieved":
        return np.minimum(graded.retrieved, k) / k
    if isinstance(measure, (AP, R)) and formula.divisor in ("capped", "k"):
        base = graded.judged.recall_base(measure.rel, measure.level)
        return np.asarray((np.minimum(base, k) if formula.divisor == "capped" else k) / base)
    return 1.0


class ListsBySettings:
    """A run joined with judgments under different settings; equal lists are kept once."""

    def __init__(self, qrels: Qrels, run: Run, policy: Policy, *, keeps_scores: bool, threads: int) -> None:
        self._qrels, self._run, self._keeps_scores, self._threads = qrels, run, keeps_scores, threads
        # Runs with duplicates can be scored, and unjudged documents are removed after the join.
        self._policy = policy.replace(duplicates="first", unjudged="zero")
        if policy.order == "score" and not run.has_scores:
            self._policy = self._policy.replace(order="input")
        self._joined: dict[object, GradedRun] = {}
        self._lists: dict[object, GradedRun | None] = {}
        self._different: dict[bytes, GradedRun] = {}

    @cached_property
    def first(self) -> GradedRun:
        """The lists under the policy, without duplicates."""
        return self._join(self._policy, self._run)

    def lists(self, settings: Mapping[str, str]) -> GradedRun | None:
        """Return the lists for some settings; None if the settings contradict each other."""
        key = tuple(settings.get(name) for name in _DECIDE_LISTS)
        if key not in self._lists:
            self._lists[key] = self._new_lists(settings)
        return self._lists[key]

    def _new_lists(self, settings: Mapping[str, str]) -> GradedRun | None:
        chosen = {name: settings[name] for name in ("order", "ties", "scores", "negative") if name in settings}
        if chosen.get("ties", self._policy.ties) in BY_GRADE and chosen.get("order", self._policy.order) != "score":
            if chosen.get("ties") != self._policy.ties:
                return None
            chosen["ties"] = "docid-desc"
        policy = self._policy.replace(**chosen)
        # Settings without effect are set to a default, to avoid duplicate work.
        if policy.order != "score":
            ties = "docid-desc" if policy.order == "input" or policy.ties == "rank" else policy.ties
            policy = policy.replace(scores="float64", ties=ties)
        run = self._last_lines if settings.get("duplicates") == "last" else self._run
        graded = self._join(policy, run)
        graded = graded.condensed() if settings.get("unjudged") == "condensed" else graded
        averages = policy.ties == "expected" and bool((graded.hit_last > graded.hit_first).any())
        if not averages:
            graded = replace(graded, policy=policy.replace(ties="docid-desc"))
        bounds = (graded.hit_first, graded.hit_last) if averages or self._keeps_scores else ()
        # Scores affect ties only if they determine the order.
        tied = self._keeps_scores and policy.order == "score"
        digest = hashlib.blake2b(str((averages, tied)).encode())
        lists = graded.retrieved, graded.hit_offsets, graded.hit_rank, graded.hit_grade, graded.score
        for column in (*lists, *bounds):
            digest.update(np.ascontiguousarray(column).tobytes())
        return self._different.setdefault(digest.digest(), graded)

    def _join(self, policy: Policy, run: Run) -> GradedRun:
        if (key := (policy, id(run))) not in self._joined:
            judged = Judged(self._qrels, policy)
            self._joined[key] = join(judged, run, policy, want_scores=self._keeps_scores, threads=self._threads)
        return self._joined[key]

    @cached_property
    def _last_lines(self) -> Run:
        """The run with the last line of each document, as a dict would keep it."""
        run = self._run
        # JudgmentIndex also numbers the documents of lists: equal documents of a list share a number.
        item = core.JudgmentIndex(list(run.query_ids), run.query_of_rows, *run.document_spans).item
        last = np.zeros(int(item.max(initial=-1)) + 1, np.int64)
        last[item] = np.arange(len(run))
        rows = np.sort(last)
        return run.with_rows(rows, np.searchsorted(rows, run.list_offsets))
