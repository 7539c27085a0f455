"""Laws that all measures of the catalogue must obey.

A measure is excused from a law by name in its class attribute ``exempt``; single variants are excused in ``EXCUSED``
below, each with the reason. A law that a measure is excused from is shown to be broken, so that no excuse outlives its
reason.
"""

from __future__ import annotations

import contextlib
import math
import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, product
from typing import Any

import numpy as np
import pytest

from gainful import Measure, Policy, Qrels, evaluate, parse
from gainful.errors import GainfulError
from gainful.measures.catalog import FAMILIES, MEASURES
from gainful.measures.help import Help
from tests.together import together

#: Diversity measures require sub-topics: here all documents have the same one, which other measures ignore.
POLICY = Policy(subtopics=True)

#: Tables for measures of recommendation and of readers, which other measures ignore.
ITEMS = {"d": {"genres": "d", "words": 9, "characters": 50}} | {
    f"{kind}{i}": {"genres": f"{kind}|g{i % 3}|h{i % 2}", "words": 100 * (i % 3), "characters": 400 * (i % 4)}
    for kind in "dxy"
    for i in range(40)
}
TRAINING = {f"q{i}": ["d1", "x1", "d9"] for i in range(500)} | {f"u{i}": [f"d{i % 7}", "x2"] for i in range(99)}

#: Advice on a measure that breaks a law.
BROKEN_LAW = "broken by these; declare exceptions with the reason in `exempt` of the class"

LAWS = ("bounds", "perfect", "swap", "rename", "cutoff", "append")

#: Values of parameters; a measure is tested with all that it has and accepts.
INSIDES = (
    "",
    *(f"gain={gain}" for gain in ("linear", "exp2", "binary", "scaled", "0-1-10-100", "0-3-0-1", "0-0.5-1-0.25")),
    "gain={0:0.5,1:1,2:4,3:4.5}",
    *("rel=2", "level=1", "unjudged=condensed", "rel=2, unjudged=condensed", "gain=binary, level=2"),
    *("base=10", "discount=rank", "discount=none", "discount=jarvelin2002", "discount=jarvelin2002, base=10"),
    *("discount=jarvelin2000", "discount=jarvelin2000, base=1.2", "discount=jarvelin2000, base=10"),
    *("discount=jarvelin2008, base=4", "discount=jarvelin2008, base=e"),
    *("beta=0", "beta=0.5", "beta=0.8", "beta=2", "alpha=0", "alpha=0.2", "alpha=0.9", "alpha=1", "gamma=0.5"),
    *("p=0", "p=0.5", "p=0.95, gain=scaled, level=2", "p=0.5, depth=3"),
    *("gain=linear, scale=query", "gain=exp2, scale=query, rel=2"),
    *("T=2.5", "K=2, T=3", "cost_document=2, report=cost", "normalize=false", "extrapolate=true"),
    *(f"model={model}" for model in ("P", "AP", "RR", "INST", "INSQ", "BPM", "ScaledDCG", "NERR8", "NERR9", "NERR10")),
    *(f"model=INST, report={what}" for what in ("total", "depth", "cost", "residual", "total-residual")),
    *("share=interactions", "coef=jaccard", "by=genres", "coef=jaccard, rel=2", "coef=jaccard, gain=exp2"),
    *("stop=rank", "stop=rank, gamma=0.5", "stops=exp2", "points=0.25-0.5-0.75", "points=1"),
    *("a=2, c=-0.5", "b=-0.1, d=0.01, N=100", "a=3, b=-2, rel=3"),
    *("N=1000", "N=1000, unretrieved=bottom", "N=1000, tied=expected", "N=1000, tied=policy", "N=1000, rel=2"),
    *("N=1000, level=1", "N=1000, unjudged=condensed", "tied=expected, rel=2, unjudged=condensed"),
    *("forbidden=-1", "forbidden=0", "forbidden=2"),
    *("gamma=1, gain=exp2", "gamma=0.2"),
    *("n=2", "n=3, N=1000", "n=2, count=all, N=1000, unretrieved=bottom"),
    *("w=0", "w=0.3", "w=1", "levels=all"),
    *(f"over={over}" for over in ("retrieved", "relevant", "judged", "100", "relevant, rel=2", "judged, srs=minmax")),
    *("srs=score", "srs=minmax", "srs=max", "srs=ratio", "srs=exp", "urs=binary", "urs=exp2", "urs=0-3-0-1"),
    *("half_life=60, p_click=0.5", "t_summary=1, t_word=0.1, t_document=0", "p_click_other=0.9, p_save=1"),
    *("L=2000, c_snippet=10", "p_read=1", "column=characters", "column=words"),
    *("srs_levels=2, urs_levels=2", "distance=squared", "t=0", "t=0.5", "urs_threshold=1", "srs_threshold=0.2"),
)
#: Values after @, by the parameter that it sets.
ATS = {"cutoff": ("@1", "@4", "@30"), "recall": ("@0", "@0.1", "@0.5", "@1"), "multiple": ("@0.2", "@1", "@2.5")}
#: Satisfaction requires gains of relevant documents only, SFTotal a gain for each of them.
NOT_TRIED = {"Satisfaction": ("gain={0",), "SFTotal": ("gain={0", "gain=0-3-0-1", "gain=0-0.5-1")}


def variants_of(name: str) -> Iterator[Measure]:
    """Yield the variants of a measure."""
    kind = MEASURES[name]
    at, known = kind.at_parameter(), kind.parameters()
    ats = () if at is None else ATS.get(at, ("@1", "@4"))
    averages = ("", "average=ranks") if "average" in known else ("",)
    for inside, average in product(INSIDES, averages):
        keys = re.findall(r"(\w+)=", re.sub(r"\{.*\}", "", inside))
        if not all(key in known for key in keys) or inside.startswith(NOT_TRIED.get(name, "?")):
            continue
        together = ", ".join(filter(None, [inside, average]))
        for cut in ats[1:] if average else (*(() if kind.needs_at else ("",)), *ats):
            with contextlib.suppress(GainfulError):
                measure = parse(f"{name}({together}){cut}")
                measure.check(np.array([-1.0, 0.0, 1.0, 2.0, 3.0]))
                yield measure


#: The variants of each measure, without duplicate texts.
READ: dict[str, list[Measure]] = {}
for _name in MEASURES:
    by_text: dict[str, Measure] = {}
    for _variant in variants_of(_name):
        by_text.setdefault(str(_variant), _variant)
    READ[_name] = list(by_text.values())
ALL = [*chain.from_iterable(READ.values())]


def _boosts(measure: Measure) -> bool:
    return getattr(measure, "discount", None) == "jarvelin2000" and getattr(measure, "base", 2) == 10


#: Law -> exempt variants with reasons.
_BOOSTS = (_boosts, "jarvelin2000 boosts ranks 2 to b - 1, so the ideal list is not the best one when b > 2")
EXCUSED: dict[str, tuple[Callable[[Measure], bool], str]] = {"bounds": _BOOSTS, "perfect": _BOOSTS, "swap": _BOOSTS}


@cache
def bound_by(law: str, *names: str) -> tuple[Measure, ...]:
    """Return the variants that must obey a law."""
    excused = EXCUSED.get(law, (lambda _: False, ""))[0]
    bound = (name for name in names if law not in MEASURES[name].exempt)
    return tuple(measure for name in bound for measure in READ[name] if not excused(measure))


GOOD = [name for name, measure in MEASURES.items() if measure.better != "neither"]


def families_bound_by(law: str, names: Iterable[str]) -> pytest.MarkDecorator:
    """Parametrise a test by family (module) of the measures that must obey a law; measures of a family share lists."""
    families: dict[str, list[str]] = {}
    for name in names:
        if bound_by(law, name):
            families.setdefault(MEASURES[name].__module__.rpartition(".")[2], []).append(name)
    return pytest.mark.parametrize("names", [pytest.param(tuple(family), id=key) for key, family in families.items()])


# --- Random judgments and lists -------------------------------------------------------------------------------------

# Documents d0, d1, ... are judged with the grades of a list; x0, x1, ... are not judged.
Query = tuple[dict[str, int], list[str]]


def query(rng: random.Random, *, max_judged: int = 8, retrieved: int = 0) -> Query:
    """Judgments of one query, and a ranked list of some of its documents and unjudged ones, ``retrieved`` at least."""
    grades = rng.choices([0, 1, 2, 3, -1], k=rng.randint(max(1, retrieved), max_judged))
    judged = {f"d{i}": grade for i, grade in enumerate(grades)}
    pool = [*judged, *(f"x{i}" for i in range(rng.randint(0, 5)))]
    return judged, rng.sample(pool, rng.randint(retrieved, len(pool)))


def queries(seed: int, count: int = 40, **options: int) -> list[Query]:
    """Return random lists after edge cases: no relevant documents, no retrieved documents."""
    rng = random.Random(seed)
    often_wrong: list[Query] = [({"d0": 0}, []), ({"d0": -1}, ["d0"]), ({"d0": 1}, []), ({"d0": 1}, ["x0"])]
    return [*([] if options.get("retrieved") else often_wrong), *(query(rng, **options) for _ in range(count))]


def raw(measures: Sequence[Measure], lists: Sequence[Query]) -> list[list[float]]:
    """Return each measure's scores of all lists, NaN if undefined; a document of grade 3 elsewhere fixes the scale."""
    qrels = {f"q{i}": judged for i, (judged, _) in enumerate(lists)}
    run = {
        f"q{i}": {document: 1 - place / 1000 for place, document in enumerate(ranking)}
        for i, (_, ranking) in enumerate(lists)
    }
    tables: dict[str, Any] = {"policy": POLICY, "items": ITEMS, "training": TRAINING}
    result = evaluate({**qrels, "other": {"d": 3}}, {**run, "other": {"d": 1.0}}, measures, **tables)
    places = [result.queries.index(query) for query in qrels]
    return [[float(scores[place]) for place in places] for scores in result.raw]


class Scores:
    """Raw scores of measures for all requested lists, evaluated together."""

    def __init__(self, measures: Sequence[Measure]) -> None:
        self._measures = measures
        self._lists: dict[tuple[int, tuple[str, ...]], Query] = {}
        self._known: dict[Measure, dict[tuple[int, tuple[str, ...]], float]] = {}

    def ask(self, number: int, judged: dict[str, int], ranking: list[str]) -> tuple[int, tuple[str, ...]]:
        """Request a list of a numbered query, and return the key of its scores."""
        key = number, tuple(ranking)
        self._lists.setdefault(key, (judged, ranking))
        return key

    def of(self, measure: Measure) -> dict[tuple[int, tuple[str, ...]], float]:
        """Return the scores of a measure by key, for all lists requested before."""
        if not self._known:
            found = raw(self._measures, list(self._lists.values()))
            self._known = {
                each: dict(zip(self._lists, scores, strict=True))
                for each, scores in zip(self._measures, found, strict=True)
            }
        return self._known[measure]


def same(one: float, other: float) -> bool:
    return one == other or (math.isnan(one) and math.isnan(other))


#: Measures for which higher grades are always worth more.
BY_GRADE = {"muAP", "NDCNG", "Compat", "RBO"}


@cache
def worths(measure: Measure) -> dict[int | None, float]:
    """Return the worth of each grade to a measure."""
    return {grade: worth(measure, grade) for grade in (None, -1, 0, 1, 2, 3)}


def worth(measure: Measure, grade: int | None) -> float:
    """Return the worth of a grade to a measure, by its definition of relevance and gain."""
    rel, level, gain = (getattr(measure, name, None) for name in ("rel", "level", "gain"))
    if measure.name == "UDCG" and grade is not None and grade < 0:
        return -measure.gamma * worth(measure, -grade)  # type: ignore[attr-defined, no-any-return]
    if measure.name == "Leak" and grade is not None and measure.is_forbidden(grade):  # type: ignore[attr-defined]
        return -1.0
    if grade is None or grade < 0 or (level is not None and grade != level) or (rel is not None and grade < rel):
        return 0.0
    if measure.name in BY_GRADE:
        return float(grade)
    if gain is None:
        return 1.0 if rel is not None or level is not None or grade > 0 else 0.0
    weights = {
        "0-1-10-100": [0, 1, 10, 100],
        "0-3-0-1": [0, 3, 0, 1],
        "0-0.5-1-0.25": [0, 0.5, 1, 0.25],
        "{0:0.5,1:1,2:4,3:4.5}": [0.5, 1, 4, 4.5],
    }
    if str(gain) in weights:
        return float(weights[str(gain)][grade])
    return {"linear": grade, "exp2": 2.0**grade - 1, "binary": float(grade > 0), "scaled": grade / 3}[str(gain)]


def seen_documents(measure: Measure, judged: dict[str, int], ranking: list[str]) -> list[str]:
    """Return the list that a measure uses: condensed, if it condenses."""
    condensed = getattr(measure, "unjudged", None) == "condensed"
    return [document for document in ranking if document in judged or not condensed]


def test_every_parameter_is_tried() -> None:
    for name, measure in MEASURES.items():
        tried = {
            key for each in READ[name] for key, value in measure.parameters().items() if getattr(each, key) != value
        }
        missing = sorted(set(measure.parameters()) - tried)
        assert not missing, f"{name}: INSIDES in tests/laws/test_laws.py has no value to try {', '.join(missing)} with"


def test_measures_are_excused_only_from_laws_there_are() -> None:
    for measure in MEASURES.values():
        assert set(measure.exempt) <= set(LAWS)
        assert all(measure.exempt.values())


# --- The laws -------------------------------------------------------------------------------------------------------


def test_bounds() -> None:
    """A score lies within the bounds that its measure declares."""
    measures = bound_by("bounds", *MEASURES)
    assert [
        (str(measure), measure.bounds, scores)
        for measure, scores in zip(measures, raw(measures, queries(1)), strict=True)
        if not all(math.isnan(score) or measure.bounds[0] <= score <= measure.bounds[1] + 1e-12 for score in scores)
    ] == [], BROKEN_LAW


def test_the_excuse_from_the_bounds() -> None:
    assert parse("nDCG(discount=jarvelin2000, base=10)").score([1, 2]) > 1


def test_bounds_of_holes() -> None:
    """A score lies within its bounds, whatever the grades of unjudged documents turn out to be."""
    rng, lists = random.Random(9), queries(9)
    qrels = {f"q{i}": judged for i, (judged, _) in enumerate(lists)} | {"other": {"d": 3}}
    run = {
        f"q{i}": {document: 1 - place / 1000 for place, document in enumerate(ranking)}
        for i, (_, ranking) in enumerate([*lists, ({}, ["d"])])
    }
    run["other"] = run.pop(f"q{len(lists)}")
    graded = {
        query: judged | {each: rng.choice([0, 1, 2, 3]) for each in run[query] if each not in judged}
        for query, judged in qrels.items()
    }
    measures = [
        each
        for each in ALL
        if each.aggregate != "whole" and not each.tables and getattr(each, "unjudged", None) != "condensed"
    ]
    tables: dict[str, Any] = {"policy": POLICY, "items": ITEMS, "training": TRAINING}
    bounded = evaluate(qrels, run, measures, bounds=True, **tables)
    scores = [(each, each.by_query) for each in (bounded, evaluate(graded, run, measures, **tables))]
    outside = [
        (str(measure), query, bounds, value)
        for measure in measures
        for query, bounds in bounded.beside_by_query("bounds", measure).items()
        for _, by_query in scores
        if (value := by_query(measure)[query]) is not None
        and bounds["lowest"] is not None
        and not bounds["lowest"] - 1e-12 <= value <= bounds["highest"] + 1e-12
    ]
    assert outside == [], BROKEN_LAW


#: Measures whose best list scores the upper bound, with the cut-offs below which it cannot.
REACHES_BEST = {
    *("nCG", "nDCG", "nDCGrel", "RnDCG", "binG", "nERR", "Rprec", "Success", "SetP", "SetR", "SetF", "SetAP"),
    *("SetRelP", "AP", "GMAP", "RR", "IPrec", "IAP", "R", "RelP", "Bpref", "GMBpref", "NormRecall", "NormPrecision"),
    *("SlidingRatio", "Satisfaction", "VanRijsbergenE", "Fallout", "gR", "muAP", "NDCNG", "Q", "O", "P-measure"),
    *("P+", "GAP", "Complete"),
}


@families_bound_by("perfect", GOOD)
def test_perfect(names: tuple[str, ...]) -> None:
    """No list beats all relevant documents, best first; it scores the upper bound if that is possible."""
    measures, rng = bound_by("perfect", *names), random.Random(2)
    scores, asked = Scores(measures), []
    for number, (judged, ranking) in enumerate(queries(3)):
        shuffled = rng.sample(list(judged), len(judged))
        rivals = [scores.ask(number, judged, rival) for rival in (ranking, shuffled)]
        for measure in measures:
            by_grade = worths(measure)
            by_worth = sorted((-by_grade[grade], place) for place, grade in enumerate(judged.values()))
            best = [f"d{place}" for value, place in by_worth if value < 0]
            if best:
                longer = scores.ask(number, judged, [*best, "x0"])
                asked.append((measure, len(best), scores.ask(number, judged, best), [*rivals, longer]))
    for measure, base, best_list, others in asked:
        found, sign = scores.of(measure), -1 if measure.better == "lower" else 1
        top = found[best_list]
        if math.isnan(top):
            continue  # defined values are tested below
        for rival in others:
            assert math.isnan(found[rival]) or sign * found[rival] <= sign * top + 1e-12, (str(measure), rival)
        divides_by_all = measure.name in ("R", "AP", "GMAP", "gR", "GAP", "Complete")
        cut = divides_by_all and measure.rank_cutoff is not None and measure.rank_cutoff < base
        cut |= measure.name == "VanRijsbergenE" and measure.rank_cutoff not in (None, base)
        cut |= getattr(measure, "levels", "") == "all"  # another query has higher levels
        if measure.name in REACHES_BEST and not cut:
            assert abs(top - measure.bounds[0 if sign < 0 else 1]) <= 1e-12, (str(measure), best_list)


def test_the_excuse_from_perfection() -> None:
    measure = parse("nDCG(discount=jarvelin2000, base=10)")
    assert measure.score([1, 2]) > measure.score([2, 1])
    assert parse("Judged").score([0, 0]) == parse("Judged").score([3, 3])
    # Little gain is reached soon; an all-relevant list has no frustration, and no worst order.
    assert parse("RankedHalfLife").score([1], unretrieved=[1, 1]) < parse("RankedHalfLife").score([1, 1, 1])
    assert math.isnan(parse("Frustration@1").score([1, 1])) and parse("Frustration@1").score([1, 0]) == 0
    assert math.isnan(parse("SFTotal@1").score([1, 1])) and parse("SFTotal@1").score([1, 0]) == 1
    assert parse("NDPM").score([1, 0, -1]) < parse("NDPM").score([1], unretrieved=[0, -1])
    # Most users stop at the grade with less gain.
    stops = parse("NCU(stops=0-9-1)@1")
    assert stops.score([1, 2]) > stops.score([2, 1])

    def scored(measure: str, *scores: float) -> float:
        """Score two relevant documents and another one, or only the first of them."""
        run = {"q": dict(zip("abc", scores, strict=False))}
        return float(evaluate({"q": {"a": 1, "b": 1, "c": 0}}, run, measure).raw[0, 0])

    assert scored("RelativeRelevance", 1.0) > scored("RelativeRelevance", 9.0, 1.0)
    assert scored("SwetsE", 2.0, 1.0, -9.0) > scored("SwetsE", 2.0, 1.0, 0.0)


#: Measures that distinguish unjudged from non-relevant documents under any policy.
TELLS_UNJUDGED = {"Bpref", "GMBpref", "InfAP"}


def test_swap() -> None:
    """Swapping a better document with a worse one above it never lowers the score."""
    measures, rng = bound_by("swap", *GOOD), random.Random(4)
    cases, before_swaps = [], queries(5, retrieved=2)
    for judged, ranking in before_swaps:
        above, below = sorted(rng.sample(range(len(ranking)), 2))
        swapped = list(ranking)
        swapped[above], swapped[below] = swapped[below], swapped[above]
        cases.append((judged, swapped, ranking[above], ranking[below]))
    broken, befores = [], raw(measures, before_swaps)
    afters = raw(measures, [(judged, swapped) for judged, swapped, _, _ in cases])
    for measure, *scores in zip(measures, befores, afters, strict=True):
        sees_judged = "condensed" in str(measure) or measure.name in TELLS_UNJUDGED
        sign, by_grade = -1 if measure.better == "lower" else 1, worths(measure)
        for (judged, swapped, above, below), before, after in zip(cases, *scores, strict=True):
            if sees_judged and not {above, below} <= judged.keys():
                continue  # in the condensed list, one document would move alone
            upper, lower = by_grade[judged.get(above)], by_grade[judged.get(below)]
            if math.isnan(before) or math.isnan(after):
                holds = math.isnan(before) and math.isnan(after)
            elif lower > upper:
                holds = sign * after >= sign * before - 1e-12
            elif lower < upper:
                holds = sign * after <= sign * before + 1e-12
            else:
                holds = abs(after - before) <= 1e-12
            if not holds:
                broken.append((str(measure), judged, swapped, before, after))
    assert broken == [], BROKEN_LAW


#: Grades of two documents, and measures that a swap of these improves.
HELPFUL_SWAPS = {
    (0, 1): "AP RR P@1 Bpref InfAP IAP RprecMult@1 binG RBP",
    (0, 2): "nDCG",
    (1, 2): "nDCG DCG nCG@1 G RnDCG RBP(gain=scaled) ERR nERR gP@1 gR@1 gIPrec@0.5 gIAP muAP NDCNG",
    (3, 1): "nDCG(level=1) nDCG(gain=0-3-0-1)",
}


@together(("upper", "lower"), HELPFUL_SWAPS)
def test_a_swap_that_helps(upper: int, lower: int) -> None:
    """The swap law is not vacuous: these swaps raise the score."""
    for measure in HELPFUL_SWAPS[upper, lower].split():
        after, before = (parse(measure).score(grades, scale=3) for grades in ([lower, upper], [upper, lower]))
        assert after > before, measure


def test_the_excuse_from_swapping() -> None:
    measure = parse("DCG(discount=jarvelin2000, base=10)")
    assert measure.score([0, 1]) > measure.score([1, 0])
    # nDCG@1 counts once a document of grade 1 is at rank 1; before, nDCG@2 and nDCG@3 did.
    assert parse("nDCGrel").score([0, 3, 1]) > parse("nDCGrel").score([1, 3, 0])
    # Documents of gain 3 and 7 are swapped.
    before, after = ([1, 1, 2, 1, 3], [1, 1, 3, 1, 2])
    assert parse("G(gain=exp2)").score(before, unretrieved=[2]) > parse("G(gain=exp2)").score(after, unretrieved=[2])
    # The unjudged document and the one of grade 0 are swapped: a worse one comes before grade 1.
    assert parse("NDPM").score([None, 1, 0]) < parse("NDPM").score([0, 1, None])
    # The first document covers the sub-topic, or is compared with a longer ideal.
    for text in ("Q(gain=exp2)", "P+(gain=exp2)"):
        assert parse(text).score([0, 0, 0, 3, 1], [2]) > parse(text).score([1, 0, 0, 3, 0], [2])
    assert parse("EBR").score([0, 0, 0, 1, 3, 1], [2, 2]) > parse("EBR").score([0, 0, 0, 3, 1, 1], [2, 2])
    assert parse("O").score([0, 0, 3, 1, 0], [1]) > parse("O").score([0, 1, 3, 0, 0], [1])
    qrels, policy = Qrels.read(b"q 1 a 1\nq 1 b 3\n"), Policy(subtopics=True)
    lists = ({"q": ["x", "b", "a"]}, {"q": ["a", "b", "x"]})
    text = "alpha-nDCG(gain=exp2)"
    before, after = (evaluate(qrels, run, text, policy=policy).mean(text) for run in lists)
    assert before > after
    # The only pair leaves the first two.
    assert parse("PairAccuracy@2").score([1, 0, 1]) == 1 and math.isnan(parse("PairAccuracy@2").score([1, 1, 0]))
    # A relevant document moves far up: the deviation grows more than the mean.
    judged, scores = {"a": 1, "b": 1, "c": 0, "d": 0}, {"x": 100.0, "a": 3.0, "b": 2.0, "c": 1.0, "d": 0.0}
    lists = ({"q": scores}, {"q": {**scores, "b": 100.0, "x": 2.0}})
    before, after = (evaluate({"q": judged}, run, "SwetsE").mean("SwetsE") for run in lists)
    assert before == 4 > after


def test_the_excuses_of_recommendation() -> None:
    def scored(text: str, *documents: str, **tables: Any) -> float:
        qrels = {"q0": {"d0": 1, "d1": 0, "d5": 1}}
        found = evaluate(qrels, {"q0": documents}, text, **{"items": ITEMS, "training": TRAINING, **tables})
        return float(found.raw[0, 0])

    for text in ("Novelty@1", "Novelty(share=interactions)@1"):
        assert scored(text, "y1", "d0") > scored(text, "d0", "y1")
        assert scored(text.replace("1", "2"), "d0") != scored(text.replace("1", "2"), "d0", "y1")
    for text in ("ILD@2", "ILD(coef=jaccard)@2"):
        assert scored(text, "d1", "y2", "d5") > scored(text, "d5", "d1", "y2")
        assert scored(text.replace("2", "3"), "d1", "y2") != scored(text.replace("2", "3"), "d1", "y2", "x1")
    # A user with d1 expects d5, which shares one more genre with it.
    assert scored("Serendipity@1", "d0", "d5") > scored("Serendipity@1", "d5", "d0")
    for text in ("Novelty@1", "ILD@2", "Serendipity@1"):
        other: dict[str, Any] = {"items": {"d0": "a", "d1": "b"}, "training": {"q0": ["d1"], "q1": ["d7"]}}
        assert scored(text, "d0", "d1") != scored(text, "d0", "d1", **other)
    assert scored("UserCoverage@2", "d0", "d5") != scored("UserCoverage@2", "d0")


def test_the_excuses_of_readers() -> None:
    """Of two relevant documents, the shorter one should come first, even if it is worse."""
    lengths = {"words": 0, "characters": 0}
    items = {"long": {"words": 9000, "characters": 600_000}, "short": lengths, "other": lengths}
    for text, judged in (("TBG", {"long": 1, "short": 1, "other": 0}), ("U", {"long": 3, "short": 2, "other": 0})):

        def scored(*documents: str, items: Any = items, text: str = text, judged: dict[str, int] = judged) -> float:
            return evaluate({"q": judged}, {"q": documents}, text, items=items).mean(text)

        assert scored("short", "long") > scored("long", "short")
        assert scored("other", "short", "long") > scored("long", "short", "other")
        renamed = {**items, "long": lengths}
        assert scored("long", "short") != scored("long", "short", items=renamed)


#: Grades and missed grades of at most 10, for which a distance measure breaks each law.
PERFECT, SWAP, APPEND = "the best list is beaten", "a better document moves up and it hurts", "it changes"
BROKEN: list[tuple[str, str, tuple[list[Any], list[int]], tuple[list[Any], list[int]]]] = [
    *((PERFECT, name, ([10, 3], []), ([10], [3])) for name in ("ADM", "ADP", "Pstar", "ThresholdP", "PRmean")),
    (PERFECT, "ADR", ([10, 10], []), ([10, 10, None], [])),
    (PERFECT, "Rstar(t=0.3)@4", ([10, 10, 10], []), ([10, 10, 10, None], [])),
    (PERFECT, "ThresholdR(srs=minmax)", ([10, 10], []), ([10, 10, None], [])),
    *((SWAP, name, ([0, 1], []), ([1, 0], [])) for name in ("ADM@1", "ADP@1", "Pstar@1")),
    (SWAP, "ADR@2", ([None, None, 2], [10, 10, 10]), ([None, 2, None], [10, 10, 10])),
    (SWAP, "Rstar@1", ([0, 1], [10]), ([1, 0], [10])),
    (SWAP, "ThresholdR(over=retrieved)@4", ([10, None, None, None, 10], []), ([10, None, None, 10, None], [])),
    *(
        (SWAP, f"{name}(over=judged)@4", ([None, 10, None, 3], []), ([3, 10, None, None], []))
        for name in ("ThresholdP", "PRmean")
    ),
    *((APPEND, name, ([10], []), ([10, None], [])) for name in ("ADM", "ADP", "Pstar", "ThresholdP", "PRmean")),
    (APPEND, "ADR", ([10, 10], []), ([10, 10, None], [])),
    (APPEND, "Rstar(t=0.3)@4", ([10, 10, 10], []), ([10, 10, 10, None], [])),
    (APPEND, "ThresholdR(srs=minmax)", ([10, 10], []), ([10, 10, None], [])),
]


@together(("how", "measure", "one", "other"), BROKEN)
def test_the_excuses_of_distances(how: str, measure: str, one: tuple[Any, Any], other: tuple[Any, Any]) -> None:
    first, second = parse(measure).score(*one, scale=10), parse(measure).score(*other, scale=10)
    assert {PERFECT: second > first, SWAP: second < first, APPEND: second != first}[how]


def test_every_excuse_of_distances_is_shown() -> None:
    shown = {(parse(measure).name, how) for how, measure, _, _ in BROKEN}
    laws = {"perfect": PERFECT, "swap": SWAP, "append": APPEND}
    assert shown == {
        (name, laws[law]) for name in FAMILIES["Distances on continuous scores"] for law in MEASURES[name].exempt
    }


def collection(rng: random.Random) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Return several queries with judgments and scored lists, including ties, unanswered and unjudged queries."""
    qrels, run = {}, {}
    for i in range(12):
        judged, ranking = query(rng, max_judged=5)
        qrels[f"q{i}"] = judged
        if i == 0 or rng.random() < 0.7:
            run[f"q{i}"] = {document: rng.randint(0, 3) / 4 for document in ranking}
    run["unjudged"] = {"d0": 1.0}
    return qrels, run


def test_rename() -> None:
    """New names that sort like the old ones, and another order of the input, change nothing."""
    measures, rng = bound_by("rename", *MEASURES), random.Random(6)
    qrels, run = collection(rng)

    def renamed(lists: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        """Return the same data shuffled, with longer names; a common prefix keeps the order of IDs."""
        return {
            f"topic-{query}": {f"doc/{name}": documents[name] for name in rng.sample(list(documents), len(documents))}
            for query, documents in rng.sample(list(lists.items()), len(lists))
        }

    before = evaluate(qrels, run, measures, policy=POLICY)
    after = evaluate(renamed(qrels), renamed(run), measures, policy=POLICY)
    for measure in measures:
        old = [(f"topic-{score.query}", score.value, score.status) for score in before.scores(measure)]
        assert [(score.query, score.value, score.status) for score in after.scores(measure)] == old, str(measure)
        assert same(before.aggregate(measure), after.aggregate(measure)), str(measure)


def test_rename_at_will_without_ties() -> None:
    """Without ties, names do not matter."""
    measures, rng, before = bound_by("rename", *MEASURES), random.Random(7), queries(8)
    again: list[Query] = []
    for judged, ranking in before:
        old = sorted({*judged, *ranking})
        new = dict(zip(old, rng.sample([f"n{i}" for i in range(len(old))], len(old)), strict=True))
        again.append(({new[name]: grade for name, grade in judged.items()}, [new[name] for name in ranking]))
    assert [
        (str(measure), *scores)
        for measure, *scores in zip(measures, raw(measures, before), raw(measures, again), strict=True)
        if not all(map(same, *scores))
    ] == [], BROKEN_LAW


@families_bound_by("cutoff", [name for name, measure in MEASURES.items() if measure.at_parameter() == "cutoff"])
def test_cutoff(names: tuple[str, ...]) -> None:
    """@k uses only the first k documents: those below can be removed, shuffled or replaced."""
    measures = [measure for measure in bound_by("cutoff", *names) if measure.rank_cutoff is not None]
    scores, asked, rng = Scores(measures), [], random.Random(9)
    for number, (judged, ranking) in enumerate(queries(10)):
        whole, tails = scores.ask(number, judged, ranking), dict[int, list[str]]()
        for measure in measures:
            seen = seen_documents(measure, judged, ranking)
            if len(seen) < (measure.rank_cutoff or 0):
                continue
            # The last document that counts, and with it the part of the list that has to stay.
            kept = ranking[: ranking.index(seen[(measure.rank_cutoff or 1) - 1]) + 1]
            rest = [document for document in [*judged, "y0", "y1"] if document not in kept]
            mixed = tails.setdefault(len(kept), rng.sample(rest, len(rest)))
            changed = [scores.ask(number, judged, [*kept, *tail]) for tail in ([], mixed, ["y0", "y1"])]
            asked.append((measure, whole, changed))
    for measure, whole, changed in asked:
        found = scores.of(measure)
        assert all(same(found[whole], found[other]) for other in changed), (str(measure), whole)


@together(
    "measure",
    [
        *("CG", "DCG", "nCG", "nDCG", "P", "R", "F", "RelP", "Success", "AP", "RR", "RBP", "ERR", "nERR", "gP", "gR"),
        "NDCNG",
    ],
)
def test_a_document_above_the_cutoff_counts(measure: str) -> None:
    """The cutoff law is not vacuous: a relevant document counts at rank k, and not at rank k + 1."""
    assert parse(f"{measure}@3").score([0, 0, 1]) > 0
    assert parse(f"{measure}@2").score([0, 0, 1]) == 0


@together("measure", ["SlidingRatio@2", "Satisfaction@2", "Frustration@2", "SFTotal@2"])
def test_the_excuse_from_the_cutoff(measure: str) -> None:
    """Documents below the first two could be among them, with more gain, or none."""
    assert parse(measure).score([1, 0]) != parse(measure).score([1, 0, 2, 0])


#: Measures of the number of retrieved documents.
COUNTS_THE_LIST = {"SetP", "SetF", "SetAP", "SetRelP", "Utility", "NumRet", "Judged", "Unjudged"}


def test_append() -> None:
    """Unjudged documents at the end change nothing, unless a measure counts what was retrieved."""
    measures = [
        measure
        for measure in bound_by("append", *MEASURES)
        if measure.name not in COUNTS_THE_LIST or "condensed" in str(measure)
    ]
    rng, shorter = random.Random(11), queries(12)
    longer = [(judged, [*ranking, *(f"y{i}" for i in range(rng.randint(1, 40)))]) for judged, ranking in shorter]
    assert [
        (str(measure), *scores)
        for measure, *scores in zip(measures, raw(measures, shorter), raw(measures, longer), strict=True)
        if not all(map(same, *scores))
    ] == [], BROKEN_LAW


@together(
    "measure",
    [
        *("ASL(N=9)", "ESL(n=2, N=9)", "NormRecall(N=9)", "NormPrecision(N=9)", "Frustration@2", "SFTotal@2"),
        *("RelativeRelevance", "VanRijsbergenE", "Fallout(N=9)"),
    ],
)
def test_the_excuse_from_appending_to_lists(measure: str) -> None:
    judged, lists = {"a": 1, "b": 0, "c": 1}, ({"a": 9.0, "b": 8.0}, {"a": 9.0, "b": 8.0, "x": 7.0, "y": 6.0})
    before, after = (float(evaluate({"q": judged}, {"q": scores}, measure).raw[0, 0]) for scores in lists)
    assert before != after and not math.isnan(before + after)


@together("measure", ["ASL", "ESL(n=2)", "NormRecall", "NormPrecision"])
def test_appending_where_the_last_places_are_known(measure: str) -> None:
    """Missed documents are at the bottom of the collection, whatever the length of the list."""
    inside = "N=9, unretrieved=bottom"
    sized = parse(measure.replace(")", f", {inside})") if ")" in measure else f"{measure}({inside})")
    assert sized.score([0, 1, 0], [1, 1]) == sized.score([0, 1, 0, None, None], [1, 1])


def test_the_excuse_from_appending() -> None:
    assert parse("PairAccuracy").score([0, 1]) < parse("PairAccuracy").score([0, 1, None])
    # The mean of nDCG@1 = 1/2 and nDCG@2 = x, then of 1/2, x and x with the end of the longer list.
    x = parse("nDCG@2").score([1, 2])
    assert parse("RnDCG").score([1, 2]) == pytest.approx((0.5 + x) / 2)
    assert parse("RnDCG").score([1, 2, None, None]) == pytest.approx((0.5 + 2 * x) / 3)


# --- Undefined: where exactly, the naive definitions know -------------------------------------------------------------


def test_help_says_where_it_is_undefined() -> None:
    lists = [*queries(13, max_judged=3), ({"d0": -1}, []), ({"d0": 1}, ["d0"])]
    undefined = {
        measure.name
        for measure, scores in zip(ALL, raw(ALL, lists), strict=True)
        if any(math.isnan(score) for score in scores)
    }
    for name in undefined:
        says = "undefined" in Help.of(MEASURES[name]).sections.get("Conventions", "")
        assert says, f"{name}: its conventions do not say where it is undefined"


# --- Texts ----------------------------------------------------------------------------------------------------------


def test_text_round_trip() -> None:
    for measure in ALL:
        shown, full = str(measure), measure.full_text()
        for text in {shown, repr(measure), full}:
            again = parse(text)
            assert again == measure
            assert hash(again) == hash(measure)
            assert str(again) == shown
            assert again.full_text() == full


def test_variants_are_all_different() -> None:
    assert len(set(ALL)) == len(ALL)
    assert len({str(measure) for measure in ALL}) == len(ALL)
    assert len({measure.full_text() for measure in ALL}) == len(ALL)
