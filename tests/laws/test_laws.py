"""What every measure of the catalogue must obey, whatever it measures.

A measure is excused from a law by name in its class attribute ``exempt``; single variants are excused in ``EXCUSED``
below, each with the reason. A law that a measure is excused from is shown to be broken, so that no excuse outlives its
reason.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import chain
from typing import Any

import pytest

from gainful import Measure, Policy, Qrels, evaluate, parse
from gainful.measures.catalog import FAMILIES, MEASURES
from tests.together import together

#: Measures of diversity want sub-topics: here all documents have the same one, which others do not see.
POLICY = Policy(subtopics=True)

#: Measures of recommendation want to know documents, which others do not look at.
ITEMS = {"d": {"genres": "d"}} | {
    f"{kind}{i}": {"genres": f"{kind}|g{i % 3}|h{i % 2}"} for kind in "dxy" for i in range(40)
}
TRAINING = {f"q{i}": ["d1", "x1", "d9"] for i in range(500)} | {f"u{i}": [f"d{i % 7}", "x2"] for i in range(99)}

LAWS = ("bounds", "perfect", "swap", "rename", "cutoff", "append")

_GAINS = [
    "",
    "gain=exp2",
    "gain=binary",
    "gain=scaled",
    "gain=0-1-10-100",
    "gain=0-3-0-1",
    "gain={0:0.5,1:1,2:4,3:4.5}",
]
_CHOSEN = ["", "rel=2", "level=1", "unjudged=condensed", "rel=2, unjudged=condensed"]
_DISCOUNTS = [
    "base=10",
    "discount=jarvelin2002",
    "discount=jarvelin2002, base=10",
    "discount=jarvelin2000",
    "discount=jarvelin2000, base=1.2",
    "discount=jarvelin2000, base=10",
    "discount=jarvelin2008, base=4",
    "discount=rank",
    "discount=none",
]


def _written(name: str, inside: str, at: str = "") -> str:
    return f"{name}({inside}){at}" if inside else name + at


def _gain_variants(name: str) -> list[str]:
    by_default = f"gain={MEASURES[name].parameters()['gain']}"
    gains = ["gain=linear" if gain == by_default else gain for gain in _GAINS]
    insides = [
        *gains,
        *_CHOSEN[1:],
        "gain=binary, level=2",
        *(_DISCOUNTS if "discount" in MEASURES[name].parameters() else []),
    ]
    plain = [_written(name, inside, at) for inside in insides for at in ("", "@1", "@4")]
    if "average" not in MEASURES[name].parameters():
        return plain if MEASURES[name].at_parameter() else [_written(name, inside) for inside in insides]
    averaged = [
        _written(name, ", ".join(filter(None, [inside, "average=ranks"])), at)
        for inside in insides
        for at in ("@3", "@30")
    ]
    return plain + averaged


def _binary_variants(name: str, *ats: str, extra: tuple[str, ...] = ()) -> list[str]:
    return [_written(name, inside, at) for inside in [*_CHOSEN, *extra] for at in ats]


def _rank_biased_variants(name: str) -> list[str]:
    graded = ["gain=scaled", "gain=0-0.5-1-0.25", "gain=linear, scale=query", "gain=exp2, scale=query, rel=2"]
    insides = [*_CHOSEN, "p=0", "p=0.5", "p=0.95, gain=scaled, level=2", *graded]
    return [_written(name, inside, at) for inside in insides for at in ("", "@1", "@4")]


def _scaled_variants(name: str, *ats: str) -> list[str]:
    own = {"T": ["T=2.5"], "K": ["K=2, T=3"], "p": ["p=0.5"]}
    insides = [*_CHOSEN, "gain=binary", "gain=0-0.5-1-0.25"]
    insides += [text for key, texts in own.items() if key in MEASURES[name].parameters() for text in texts]
    if name == "CWL":
        insides += [f"model={model}" for model in ("P", "AP", "RR", "INST", "BPM", "NERR9")]
        insides += [f"model=INST, report={report}" for report in ("total", "depth", "cost", "residual")]
    return [_written(name, inside, at) for inside in insides for at in ats]


def _diverse_variants(name: str) -> list[str]:
    own = {"gain": "gain=exp2", "alpha": "alpha=0.9", "beta": "beta=0.8", "gamma": "gamma=0.5"}
    insides = ["", "rel=2", "unjudged=condensed"]
    insides += [text for key, text in own.items() if key in MEASURES[name].parameters()]
    ats = ["@1", "@4"] if MEASURES[name].at_parameter() else []
    return [
        _written(name, inside, at) for inside in insides for at in (*([] if MEASURES[name].needs_at else [""]), *ats)
    ]


_SIZED = ["", "N=1000", "N=1000, unretrieved=bottom", "N=1000, tied=expected", "N=1000, rel=2", "N=1000, level=1"]
_SIZED += ["N=1000, unjudged=condensed", "tied=expected, rel=2, unjudged=condensed"]
_WANTED = ["n=2", "n=3, N=1000", "n=2, count=all, N=1000, unretrieved=bottom", "tied=policy, N=1000"]


def _order_variants(name: str, *insides: str) -> list[str]:
    plain = [_written(name, inside, at) for inside in [*insides, *_CHOSEN] for at in ("@1", "@4", "@30")]
    return [
        *plain,
        *(_written(name, ", ".join(filter(None, [i, "average=ranks"])), "@3") for i in [*insides, *_CHOSEN]),
    ]


def _written_out(name: str, insides: Sequence[str], ats: Sequence[str]) -> list[str]:
    return [_written(name, inside, at) for inside in insides for at in ats]


def _generalised_variants(name: str, *ats: str) -> list[str]:
    insides = ["", "gain=linear", *(gain for gain in _GAINS[1:] if gain != "gain=scaled"), *_CHOSEN[1:]]
    return _written_out(name, [*insides, "gain=exp2, level=2"], ats)


def _distance_variants(name: str, *own: str) -> list[str]:
    insides = [
        *("", "over=retrieved", "over=relevant", "over=judged", "over=100", "rel=2", "over=relevant, rel=2"),
        *("srs=score", "srs=minmax", "srs=max", "srs=ratio", "srs=exp", "over=judged, srs=minmax"),
        *("urs=binary", "urs=exp2", "urs=0-3-0-1", "unjudged=condensed", "srs_levels=2, urs_levels=2", *own),
    ]
    return _written_out(name, insides, ["", "@1", "@4", "@30"])


CUTS = ("@1", "@3", "@30")
VARIANTS: dict[str, list[str]] = {
    **{name: _gain_variants(name) for name in ("CG", "DCG", "nCG", "nDCG", "idealDCG")},
    **{name: _gain_variants(name) for name in ("nDCGrel", "RnDCG", "G", "ERR", "nERR")},
    **{name: _rank_biased_variants(name) for name in ("RBP", "RBPResidual")},
    **{
        name: _gain_variants(name) + [f"{name}(beta={beta})" for beta in (0, 3)]
        for name in ("Q", "O", "P-measure", "P+")
    },
    **{name: _scaled_variants(name, "", "@1", "@4") for name in ("INST", "INSQ", "BPM", "NERR10", "NERR11", "CWL")},
    **{name: _scaled_variants(name, "@1", "@4") for name in ("ScaledDCG", "NERR8", "NERR9")},
    **{name: _diverse_variants(name) for name in FAMILIES["Diversity"]},
    "RBO": _written_out("RBO", ["", "p=0.5", "extrapolate=true", "unjudged=condensed", "p=0.5, depth=3"], [""]),
    "Compat": _written_out("Compat", ["", "p=0.5", "normalize=false", "unjudged=condensed", "p=0.5, depth=3"], [""]),
    "PairAccuracy": _binary_variants("PairAccuracy", "", *CUTS),
    "Novelty": _written_out("Novelty", ["", "share=interactions"], CUTS),
    "ILD": _written_out("ILD", ["", "coef=jaccard", "by=genres"], CUTS),
    "Serendipity": _written_out("Serendipity", ["", "coef=jaccard", "rel=2"], CUTS),
    "UserCoverage": ["UserCoverage", "UserCoverage@1", "UserCoverage@3"],
    "NCU": [*_gain_variants("NCU"), *_written_out("NCU", ["stop=rank", "stop=rank, gamma=0.5", "stops=exp2"], CUTS)],
    **{name: _gain_variants(name) for name in ("GAP", "EBR", "iRBU")},
    **{name: _binary_variants(name, *CUTS) for name in ("P", "R", "RelP")},
    "F": _binary_variants("F", *CUTS, extra=("beta=2", "beta=0.5")),
    **{name: _binary_variants(name, "", *CUTS) for name in ("Success", "AP", "GMAP", "RR")},
    **{name: _binary_variants(name, "") for name in ("Rprec", "SetP", "SetR", "SetAP", "SetRelP", "binG", "InfAP")},
    **{name: [name, f"{name}(rel=2)", f"{name}(level=1)"] for name in ("Bpref", "GMBpref", "NumNonRelJudgedRet")},
    "Utility": _binary_variants("Utility", "", extra=("a=2, c=-0.5", "b=-0.1, d=0.01, N=100", "a=3, b=-2, rel=3")),
    "RprecMult": _binary_variants("RprecMult", "@0.2", "@1", "@2.5"),
    "IAP": _binary_variants("IAP", "", extra=("points=0.25-0.5-0.75", "points=1")),
    "Unjudged": ["Unjudged@1", "Unjudged@3", "Unjudged@30"],
    "SetF": _binary_variants("SetF", "", extra=("beta=2", "beta=0.5")),
    "Judged": ["Judged", "Judged@1", "Judged@3", "Judged@30"],
    "IPrec": _binary_variants("IPrec", "@0", "@0.1", "@0.5", "@1"),
    **{name: [_written(name, i) for i in _SIZED] for name in ("ASL", "NormRecall", "NormPrecision")},
    "ESL": [_written("ESL", inside) for inside in [*_SIZED[:3], *_SIZED[4:7], *_WANTED]],
    "RankedHalfLife": [_written("RankedHalfLife", inside) for inside in [*_GAINS, *_CHOSEN[1:]]],
    "SlidingRatio": _order_variants("SlidingRatio", *_GAINS[1:]),
    # Not with a gain for documents that are not relevant, nor for the total without one for some that are.
    "Satisfaction": _order_variants("Satisfaction", *_GAINS[1:6]),
    "Frustration": _order_variants("Frustration"),
    "SFTotal": _order_variants("SFTotal", *_GAINS[1:5], "w=0", "w=0.3", "w=1"),
    "NDPM": ["NDPM"],
    "RelativeRelevance": [
        _written("RelativeRelevance", ", ".join(filter(None, [inside, coefficient])))
        for inside in [*_GAINS, *_CHOSEN[1:]]
        for coefficient in ("", "coef=jaccard")
    ],
    "SwetsE": ["SwetsE", "SwetsE(rel=2)", "SwetsE(level=1)"],
    "VanRijsbergenE": _binary_variants("VanRijsbergenE", "", *CUTS, extra=("alpha=0", "alpha=0.2", "alpha=1")),
    "Fallout": [_written("Fallout", f"N=1000, {i}".strip(", "), at) for i in _CHOSEN for at in ("", *CUTS)]
    + ["Fallout"],
    "Generality": ["Generality", "Generality(N=1000)", "Generality(N=1000, rel=2)", "Generality(N=1000, level=1)"],
    **{name: _generalised_variants(name, "@1", "@4", "@30") for name in ("gP", "gR")},
    "gIPrec": _generalised_variants("gIPrec", "@0", "@0.3", "@1"),
    "gIAP": _generalised_variants("gIAP", ""),
    "muAP": _written_out("muAP", ["", "levels=all", "unjudged=condensed"], [""]),
    "NDCNG": [
        *_written_out("NDCNG", ["", "unjudged=condensed"], ["", "@1", "@4", "@30"]),
        *_written_out("NDCNG", ["average=ranks", "average=ranks, unjudged=condensed"], ["@3", "@30"]),
    ],
    **{name: _distance_variants(name, "distance=squared") for name in ("ADM", "ADP", "ADR")},
    **{name: _distance_variants(name, "t=0", "t=0.5") for name in ("Pstar", "Rstar")},
    **{name: _distance_variants(name, "urs_threshold=1") for name in ("ThresholdP", "ThresholdR", "PRmean")},
    "NumQ": ["NumQ"],
    "NumRet": ["NumRet", "NumRet(unjudged=condensed)"],
    "NumRel": ["NumRel", "NumRel(rel=2)", "NumRel(level=1)"],
    "NumRelRet": ["NumRelRet", "NumRelRet(rel=2)", "NumRelRet(level=1)"],
}
READ = {name: [parse(text) for text in texts] for name, texts in VARIANTS.items()}
ALL = [*chain.from_iterable(READ.values())]


def _boosts(measure: Measure) -> bool:
    return getattr(measure, "discount", None) == "jarvelin2000" and getattr(measure, "base", 2) == 10


#: Law -> which variants are excused, and why.
_BOOSTS = (_boosts, "jarvelin2000 boosts ranks 2 to b - 1, so the ideal list is not the best one when b > 2")
EXCUSED: dict[str, tuple[Callable[[Measure], bool], str]] = {"bounds": _BOOSTS, "perfect": _BOOSTS, "swap": _BOOSTS}


@cache
def bound_by(law: str, *names: str) -> tuple[Measure, ...]:
    """The variants of measures that have to obey a law."""
    excused = EXCUSED.get(law, (lambda _: False, ""))[0]
    bound = (name for name in names if law not in MEASURES[name].exempt)
    return tuple(measure for name in bound for measure in READ[name] if not excused(measure))


GOOD = [name for name, measure in MEASURES.items() if measure.better != "neither"]


def families_bound_by(law: str, names: Iterable[str]) -> pytest.MarkDecorator:
    """A test for every family of measures, those of one module, that have to obey a law: where each measure wants lists
    of its own, most are those of its family."""
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
    """Random ones, after those that are often wrong: nothing relevant, nothing retrieved."""
    rng = random.Random(seed)
    often_wrong: list[Query] = [({"d0": 0}, []), ({"d0": -1}, ["d0"]), ({"d0": 1}, []), ({"d0": 1}, ["x0"])]
    return [*([] if options.get("retrieved") else often_wrong), *(query(rng, **options) for _ in range(count))]


def raw(measures: Sequence[Measure], lists: Sequence[Query]) -> list[list[float]]:
    """Of each measure the scores of all lists, NaN where undefined. A document of grade 3 elsewhere keeps the scale at
    3."""
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
    """The raw scores of some measures for all lists that are asked for, which are evaluated together."""

    def __init__(self, measures: Sequence[Measure]) -> None:
        self._measures = measures
        self._lists: dict[tuple[int, tuple[str, ...]], Query] = {}
        self._known: dict[Measure, dict[tuple[int, tuple[str, ...]], float]] = {}

    def ask(self, number: int, judged: dict[str, int], ranking: list[str]) -> tuple[int, tuple[str, ...]]:
        """Asks for a list of a query, which has a number, and gives the key of its scores."""
        key = number, tuple(ranking)
        self._lists.setdefault(key, (judged, ranking))
        return key

    def of(self, measure: Measure) -> dict[tuple[int, tuple[str, ...]], float]:
        """Those of a measure by key, of all that was asked for before."""
        if not self._known:
            found = raw(self._measures, list(self._lists.values()))
            self._known = {
                each: dict(zip(self._lists, scores, strict=True))
                for each, scores in zip(self._measures, found, strict=True)
            }
        return self._known[measure]


def same(one: float, other: float) -> bool:
    return one == other or (math.isnan(one) and math.isnan(other))


#: Measures to which every grade is worth more than any lower one, whatever the parameters.
BY_GRADE = {"muAP", "NDCNG", "Compat", "RBO"}


@cache
def worths(measure: Measure) -> dict[int | None, float]:
    """What a document of each grade is worth to a measure."""
    return {grade: worth(measure, grade) for grade in (None, -1, 0, 1, 2, 3)}


def worth(measure: Measure, grade: int | None) -> float:
    """What a document of a grade is worth to a measure: by its own definition of relevance and gain."""
    rel, level, gain = (getattr(measure, name, None) for name in ("rel", "level", "gain"))
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
    """The list as the measure sees it: without unjudged documents where it condenses."""
    condensed = getattr(measure, "unjudged", None) == "condensed"
    return [document for document in ranking if document in judged or not condensed]


def test_every_measure_has_variants() -> None:
    assert set(VARIANTS) == set(MEASURES)
    assert all(type(measure) is MEASURES[name] for name, measures in READ.items() for measure in measures)


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
    ] == []


def test_the_excuse_from_the_bounds() -> None:
    assert parse("nDCG(discount=jarvelin2000, base=10)").score([1, 2]) > 1


#: Measures whose best list scores the best bound, and which cut-offs prevent that when more is relevant than they show.
REACHES_BEST = {
    *(
        "nCG",
        "nDCG",
        "nDCGrel",
        "RnDCG",
        "binG",
        "nERR",
        "Rprec",
        "Success",
        "SetP",
        "SetR",
        "SetF",
        "SetAP",
        "SetRelP",
    ),
    *("AP", "GMAP", "RR", "IPrec", "IAP", "R", "RelP", "Bpref", "GMBpref"),
    *("NormRecall", "NormPrecision", "SlidingRatio", "Satisfaction", "VanRijsbergenE", "Fallout"),
    *("gR", "muAP", "NDCNG", "Q", "O", "P-measure", "P+", "GAP"),
}


@families_bound_by("perfect", GOOD)
def test_perfect(names: tuple[str, ...]) -> None:
    """No list beats the one of all relevant documents, best first; it scores the upper bound where that is possible."""
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
            continue  # where it should be a number is tested below
        for rival in others:
            assert math.isnan(found[rival]) or sign * found[rival] <= sign * top + 1e-12, (str(measure), rival)
        divides_by_all = measure.name in ("R", "AP", "GMAP", "gR", "GAP")
        cut = divides_by_all and measure.rank_cutoff is not None and measure.rank_cutoff < base
        cut |= measure.name == "VanRijsbergenE" and measure.rank_cutoff not in (None, base)
        cut |= getattr(measure, "levels", "") == "all"  # another query has higher levels
        if measure.name in REACHES_BEST and not cut:
            assert abs(top - measure.bounds[0 if sign < 0 else 1]) <= 1e-12, (str(measure), best_list)


def test_the_excuse_from_perfection() -> None:
    measure = parse("nDCG(discount=jarvelin2000, base=10)")
    assert measure.score([1, 2]) > measure.score([2, 1])
    assert parse("Judged").score([0, 0]) == parse("Judged").score([3, 3])
    # What is little is had soon; what is all relevant frustrates nobody, and no order of it is the worst.
    assert parse("RankedHalfLife").score([1], unretrieved=[1, 1]) < parse("RankedHalfLife").score([1, 1, 1])
    assert math.isnan(parse("Frustration@1").score([1, 1])) and parse("Frustration@1").score([1, 0]) == 0
    assert math.isnan(parse("SFTotal@1").score([1, 1])) and parse("SFTotal@1").score([1, 0]) == 1
    assert parse("NDPM").score([1, 0, -1]) < parse("NDPM").score([1], unretrieved=[0, -1])
    # Most users stop at the grade that gains less.
    stops = parse("NCU(stops=0-9-1)@1")
    assert stops.score([1, 2]) > stops.score([2, 1])

    def scored(measure: str, *scores: float) -> float:
        """Two relevant documents and another one, or the first of them."""
        run = {"q": dict(zip("abc", scores, strict=False))}
        return float(evaluate({"q": {"a": 1, "b": 1, "c": 0}}, run, measure).raw[0, 0])

    assert scored("RelativeRelevance", 1.0) > scored("RelativeRelevance", 9.0, 1.0)
    assert scored("SwetsE", 2.0, 1.0, -9.0) > scored("SwetsE", 2.0, 1.0, 0.0)


#: Measures to which unjudged documents are not the same as others that are not relevant, whatever the policy says.
TELLS_UNJUDGED = {"Bpref", "GMBpref", "InfAP"}


def test_swap() -> None:
    """A better document changes places with a worse one above it: that never hurts."""
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
                continue  # in the list that it sees, one document would move alone
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
    assert broken == []


@together(
    ("measure", "before", "after"),
    [
        ("nDCG", [0, 2], [2, 0]),
        ("nDCG", [1, 2], [2, 1]),
        ("DCG", [1, 2], [2, 1]),
        ("nCG@1", [1, 2], [2, 1]),
        ("AP", [0, 1], [1, 0]),
        ("RR", [0, 1], [1, 0]),
        ("P@1", [0, 1], [1, 0]),
        ("Bpref", [0, 1], [1, 0]),
        ("InfAP", [0, 1], [1, 0]),
        ("IAP", [0, 1], [1, 0]),
        ("RprecMult@1", [0, 1], [1, 0]),
        ("binG", [0, 1], [1, 0]),
        ("G", [1, 2], [2, 1]),
        ("RnDCG", [1, 2], [2, 1]),
        ("RBP", [0, 1], [1, 0]),
        ("RBP(gain=scaled)", [1, 2], [2, 1]),
        ("ERR", [1, 2], [2, 1]),
        ("nERR", [1, 2], [2, 1]),
        ("nDCG(level=1)", [3, 1], [1, 3]),
        ("nDCG(gain=0-3-0-1)", [3, 1], [1, 3]),
        ("gP@1", [1, 2], [2, 1]),
        ("gR@1", [1, 2], [2, 1]),
        ("gIPrec@0.5", [1, 2], [2, 1]),
        ("gIAP", [1, 2], [2, 1]),
        ("muAP", [1, 2], [2, 1]),
        ("NDCNG", [1, 2], [2, 1]),
    ],
)
def test_a_swap_that_helps(measure: str, before: list[int], after: list[int]) -> None:
    """The law above is not empty: these swaps raise the score."""
    assert parse(measure).score(after, scale=3) > parse(measure).score(before, scale=3)


def test_the_excuse_from_swapping() -> None:
    measure = parse("DCG(discount=jarvelin2000, base=10)")
    assert measure.score([0, 1]) > measure.score([1, 0])
    # nDCG@1 counts as soon as a document of grade 1 stands there; before, nDCG@2 and nDCG@3 did.
    assert parse("nDCGrel").score([0, 3, 1]) > parse("nDCGrel").score([1, 3, 0])
    # Documents of gain 3 and 7 change places.
    before, after = ([1, 1, 2, 1, 3], [1, 1, 3, 1, 2])
    assert parse("G(gain=exp2)").score(before, unretrieved=[2]) > parse("G(gain=exp2)").score(after, unretrieved=[2])
    # The unjudged document and that of grade 0 change places: a worse one comes before that of grade 1.
    assert parse("NDPM").score([None, 1, 0]) < parse("NDPM").score([0, 1, None])
    # The first document settles the sub-topic, or is measured against an ideal that goes on; further down all is had.
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
    # A relevant document takes the place of an unjudged one far above: the deviation grows more than the mean.
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
    # Who had d1 expects d5, which has one genre more in common with it.
    assert scored("Serendipity@1", "d0", "d5") > scored("Serendipity@1", "d5", "d0")
    for text in ("Novelty@1", "ILD@2", "Serendipity@1"):
        other: dict[str, Any] = {"items": {"d0": "a", "d1": "b"}, "training": {"q0": ["d1"], "q1": ["d7"]}}
        assert scored(text, "d0", "d1") != scored(text, "d0", "d1", **other)
    assert scored("UserCoverage@2", "d0", "d5") != scored("UserCoverage@2", "d0")


#: Lists as grades and missed grades of at most 10: what each law says of a measure of distances does not hold.
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
    assert shown == {(name, laws[law]) for name in DISTANCES | COUNTED for law in MEASURES[name].exempt}


def collection(rng: random.Random) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Several queries with judgments and scored lists, with ties, unanswered queries and one that is not judged."""
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
        """The same with longer names, shuffled; a common beginning keeps the order of ids."""
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
    """Where no scores tie, names do not matter at all."""
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
    ] == []


@families_bound_by("cutoff", [name for name, measure in MEASURES.items() if measure.at == "cutoff"])
def test_cutoff(names: tuple[str, ...]) -> None:
    """@k sees only the first k documents: whatever stands below can be removed, mixed or replaced."""
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
        "CG",
        "DCG",
        "nCG",
        "nDCG",
        "P",
        "R",
        "F",
        "RelP",
        "Success",
        "AP",
        "RR",
        "RBP",
        "ERR",
        "nERR",
        "gP",
        "gR",
        "NDCNG",
    ],
)
def test_a_document_above_the_cutoff_counts(measure: str) -> None:
    """The law above is not empty: at rank k a relevant document counts, at rank k + 1 it does not."""
    assert parse(f"{measure}@3").score([0, 0, 1]) > 0
    assert parse(f"{measure}@2").score([0, 0, 1]) == 0


@together("measure", ["SlidingRatio@2", "Satisfaction@2", "Frustration@2", "SFTotal@2"])
def test_the_excuse_from_the_cutoff(measure: str) -> None:
    """What comes below the first two could stand among them, and is worth more, or nothing."""
    assert parse(measure).score([1, 0]) != parse(measure).score([1, 0, 2, 0])


#: Measures of how much was retrieved: what unjudged documents at the end make of n documents, of which j are judged.
COUNTS_THE_LIST = {"SetP", "SetF", "SetAP", "SetRelP", "Utility", "NumRet", "Judged", "Unjudged"}


def test_append() -> None:
    """Unjudged documents at the end change nothing, unless a measure counts what was retrieved."""
    measures, rng, shorter = bound_by("append", *MEASURES), random.Random(11), queries(12)
    more = [rng.randint(1, 40) for _ in shorter]
    longer = [
        (judged, [*ranking, *(f"y{i}" for i in range(count))])
        for (judged, ranking), count in zip(shorter, more, strict=True)
    ]
    changed = []
    for measure, *scores in zip(measures, raw(measures, shorter), raw(measures, longer), strict=True):
        if measure.name not in COUNTS_THE_LIST or "condensed" in str(measure):
            if not all(map(same, *scores)):
                changed.append((str(measure), *scores))
            continue
        for (judged, ranking), count, before, after in zip(longer, more, *scores, strict=True):
            assert_longer_lists_count(measure, judged, ranking, count, before, after)
    assert changed == []


def assert_longer_lists_count(
    measure: Measure, judged: dict[str, int], longer: list[str], more: int, before: float, after: float
) -> None:
    if measure.name == "NumRet":
        assert after == before + more
    elif measure.name == "Judged":
        shown = longer[: measure.rank_cutoff or len(longer)]
        assert after == sum(document in judged for document in shown) / len(shown)
    elif measure.name == "Unjudged":
        shown = longer[: measure.rank_cutoff]
        assert after == sum(document not in judged for document in shown) / (measure.rank_cutoff or 1)
    elif measure.name == "SetRelP" and not math.isnan(before):
        # The best list of that length gets no better once it holds all that is relevant.
        assert after <= before, str(measure)
    elif not math.isnan(before):
        assert after < before or before == 0, str(measure)


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
    """What a list misses is at the bottom of the collection, however long the list is."""
    inside = "N=9, unretrieved=bottom"
    sized = parse(measure.replace(")", f", {inside})") if ")" in measure else f"{measure}({inside})")
    assert sized.score([0, 1, 0], [1, 1]) == sized.score([0, 1, 0, None, None], [1, 1])


def test_the_excuse_from_appending() -> None:
    assert parse("PairAccuracy").score([0, 1]) < parse("PairAccuracy").score([0, 1, None])
    # nDCG@1 = 1/2 and nDCG@2 = x: their mean, and with the end of the longer list that of 1/2, x and x.
    x = parse("nDCG@2").score([1, 2])
    assert parse("RnDCG").score([1, 2]) == pytest.approx((0.5 + x) / 2)
    assert parse("RnDCG").score([1, 2, None, None]) == pytest.approx((0.5 + 2 * x) / 3)


# --- Undefined exactly where the documentation says so --------------------------------------------------------------

EMPTY_BASE = {
    *FAMILIES["Diversity"],
    *("Q", "NCU", "GAP"),
    *("nCG", "nDCG", "nDCGrel", "RnDCG", "G", "binG", "nERR"),
    *("R", "F", "Rprec", "RprecMult", "RelP", "SetR", "SetF", "SetAP", "SetRelP"),
    *("AP", "GMAP", "IPrec", "IAP", "Bpref", "GMBpref", "InfAP"),
    *("gR", "gIPrec", "gIAP", "muAP", "NDCNG"),
}
EMPTY_LIST = {"Novelty", "SetP", "SetRelP", "Judged"}


class Seen:
    """A list as a measure sees it: how many documents it has, how many relevant, and how many are relevant at all."""

    def __init__(self, measure: Measure, judged: dict[str, int], ranking: list[str]) -> None:
        documents = seen_documents(measure, judged, ranking)
        self.length = len(documents)
        by_grade = worths(measure)
        self.found = sum(by_grade[judged.get(document)] > 0 for document in documents)
        self.base = sum(by_grade[grade] > 0 for grade in judged.values())
        self.others = sum(document in judged for document in documents) - self.found
        self.grades = len(set(judged.values()))
        top = [by_grade[judged.get(document)] > 0 for document in documents[: measure.rank_cutoff]]
        self.has_pairs = any(top) and not all(top)
        self.known = getattr(measure, "N", None) is not None
        self.sure = self.known or self.found == self.base
        self.measure: Any = measure


def _no_area(seen: Seen) -> bool:
    return not seen.base or not seen.sure or (not seen.known and seen.length == seen.base)


def _no_total(seen: Seen) -> bool:
    return (seen.measure.w > 0 and not seen.found) or (seen.measure.w < 1 and seen.found == seen.length)


#: Where measures with more to ask for than a recall base are undefined.
UNDEFINED: dict[str, Callable[[Seen], bool]] = {
    "ASL": lambda seen: not seen.base or not seen.sure,
    "ESL": lambda seen: seen.base < seen.measure.n or not (seen.known or seen.found >= seen.measure.n),
    "NormRecall": _no_area,
    "NormPrecision": _no_area,
    **dict.fromkeys(("RankedHalfLife", "SlidingRatio", "Satisfaction"), lambda seen: not seen.found),
    "Frustration": lambda seen: seen.found == seen.length,
    "SFTotal": _no_total,
    "NDPM": lambda seen: seen.grades < 2,
    "PairAccuracy": lambda seen: not seen.has_pairs,
    "ILD": lambda seen: min(seen.length, seen.measure.cutoff) < 2,
    "RelativeRelevance": lambda seen: not (seen.found if seen.measure.coef == "cosine" else seen.length),
    "SwetsE": lambda seen: 0 in (seen.found, seen.others) or seen.found == seen.others == 1,
    "VanRijsbergenE": lambda seen: not seen.base,
    **dict.fromkeys(("Fallout", "Generality"), lambda seen: not seen.known),
}
#: Undefined where there is no document to compare; and where none is on the right side: see their naive computation.
DISTANCES = {"ADM", "ADP", "ADR"}
COUNTED = {"Pstar", "Rstar", "ThresholdP", "ThresholdR", "PRmean"}


def nothing_to_compare(measure: Any, judged: dict[str, int], ranking: list[str]) -> bool:
    relevant = any(grade >= measure.rel if measure.rel is not None else grade > 0 for grade in judged.values())
    compares = {"retrieved": bool(ranking), "relevant": relevant, "judged": bool(judged), 100: True}
    return not compares.get(measure.over, bool(ranking) or relevant)


def test_undefined() -> None:
    measures, lists = (
        bound_by("undefined", *(name for name in MEASURES if name not in COUNTED)),
        queries(13, max_judged=3),
    )
    wrong = []
    for measure, scores in zip(measures, raw(measures, lists), strict=True):
        name, by_grade = measure.name, worths(measure)
        for (judged, ranking), score in zip(lists, scores, strict=True):
            no_base = name in EMPTY_BASE and not any(by_grade[grade] > 0 for grade in judged.values())
            seen = seen_documents(measure, judged, ranking)
            no_list = name in EMPTY_LIST and not seen
            no_document = name in DISTANCES and nothing_to_compare(measure, judged, seen)
            other = name in UNDEFINED and UNDEFINED[name](Seen(measure, judged, ranking))
            is_undefined = no_base or no_list or no_document or other
            if math.isnan(score) != is_undefined:
                wrong.append((str(measure), judged, ranking, score))
    assert wrong == []


def test_never_undefined() -> None:
    never = set(MEASURES) - EMPTY_BASE - EMPTY_LIST - set(UNDEFINED) - DISTANCES - COUNTED
    measures = bound_by("undefined", *sorted(never))
    for measure, [score] in zip(measures, raw(measures, [({"d0": 0}, [])]), strict=True):
        assert not math.isnan(score), str(measure)


def test_undefined_without_anything() -> None:
    """Nothing relevant and nothing retrieved: NaN, and not a word of complaint."""
    measures = bound_by("undefined", *sorted(EMPTY_BASE | EMPTY_LIST))
    for measure, [score] in zip(measures, raw(measures, [({"d0": -1}, [])]), strict=True):
        assert math.isnan(score), str(measure)


def test_help_says_when_it_is_undefined() -> None:
    for name in EMPTY_BASE | EMPTY_LIST | set(UNDEFINED) | DISTANCES | COUNTED:
        said = "nothing retrieved: undefined" if name in EMPTY_LIST else "undefined"
        assert said in MEASURES[name].help_text(), name


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
