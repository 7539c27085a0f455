"""Scheel, Lommatzsch and Albayrak, SPIM 2011: measures that do not depend on how many grades there are.

Its worked examples, and its experiment on OHSUMED: strategies judged by people, and by two of the strategies
themselves.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np

from gainful.data.judged import Judged
from gainful.data.qrels import Qrels
from gainful.data.run import Run
from gainful.errors import InputError
from gainful.evaluation.evaluate import evaluate, evaluate_runs
from gainful.evaluation.results import Evaluation
from gainful.kernel.arrays import distinct
from gainful.kernel.parallel import Progress
from gainful.measures.catalog import parse, parse_all
from gainful.notation import count_of, number_text, some_of
from gainful.pages.charts import Axis, Line, Plot, Points
from gainful.pages.page import Table
from gainful.papers.claims import (
    Claim,
    Section,
    Study,
    added,
    beside,
    by_rank,
    claims_tables,
    number_claim,
    statement,
    table,
    text_claim,
    undecided,
    vector_claim,
)
from gainful.papers.scheel2011.artificial import figures
from gainful.papers.scheel2011.letor_collection import (
    PAIRS,
    QUERIES,
    STRATEGIES,
    Collection,
    Strategy,
    read_collection,
    values_of,
)
from gainful.policy import Policy
from gainful.stats.agreement import pearson

#: Tables 1 and 2: the list A ... H.
_GRADES = (1.0, 0.0, 3.0, 3.0, 2.0, 0.0, 1.0, 4.0)

_DCG = "DCG(gain=exp2, base=10)"
_ROUNDING = 1e-12


def examples(
    *, repetitions: int = 100, seed: int = 0, threads: int | None = None, progress: Progress | None = None
) -> tuple[Section, ...]:
    """Tables 1 and 2, the example after equation 4, the artificial experiment (Figures 4 and 5), and two levels only.

    >>> [section.name for section in examples(repetitions=1)]
    ['Table 1', 'Section 3.1', 'Table 2', 'Figure 4', 'Figure 5', 'Section 5']
    """
    artificial = figures(repetitions, seed, threads, progress)
    return _table_1(), _distances(), _table_2(), *artificial, _two_levels()


def _table_1() -> Section:
    by_threshold = {5: 0.0, 4: 0.125, 3: 0.403, 2: 0.483, 1: 0.780, 0: 1.0}
    documents = "ABCDEFGH"
    measures = [f"AP(rel={threshold})" for threshold in by_threshold]
    qrels = {"list": dict(zip(documents, _GRADES, strict=True))}
    evaluation = evaluate(qrels, {"list": list(documents)}, [*measures, "muAP"])
    found = [evaluation.mean(measure) for measure in measures]
    claims = [
        *(
            number_claim(f"AP, t = {t}", said, mean, 3)
            for (t, said), mean in zip(by_threshold.items(), found, strict=True)
        ),
        number_claim("mean of all six", 0.465, fmean(found), 3),
        number_claim("muAP (mean of 5 > t > 0)", 0.448, evaluation.mean("muAP"), 3),
    ]
    return Section.of(
        "Table 1",
        "AP of the grades 1 0 3 3 2 0 1 4, where all from a threshold t on are relevant.",
        claims_tables("", claims),
        "muAP is the mean over the thresholds that tell documents apart. The mean of all six is not muAP: the "
        "threshold 5 makes nothing relevant (undefined, which counts as 0 here) and the threshold 0 everything.",
    )


def _distances() -> Section:
    """What the example after equation 4 calls AP is a distance: shown by lists on which the two differ."""
    average, mu_ap = parse("AP(rel=0.3)"), parse("muAP")
    best = [1.0, 0.3, 0.0]
    # Of a list without the document of grade 1 the higher level's AP is 0, and only the lower level's share is left.
    lower = mu_ap.score([0.3, 0.0], [1.0]) / average.score([0.3, 0.0], [1.0])
    higher = mu_ap.score(best) - lower * average.score(best)
    reason = "{}, which the paper computes, is the distance d of the level from the one below; AP depends on the list"
    claims = (
        number_claim("AP of 1.0 0.3 0.0, t = 0.3", 0.3, average.score(best), 1, reason.format("0.3 - 0.0")),
        number_claim("AP of 1.0 0.3 0.0, t = 1.0", 0.7, parse("AP(rel=1)").score(best), 1, reason.format("1.0 - 0.3")),
        number_claim("d, t = 0.3", 0.3, lower, 1),
        number_claim("d, t = 1.0", 0.7, higher, 1),
        text_claim(
            "d of the level i = 1",
            "none (d is for i > 1 and i = 0)",
            f"{lower:.1f} (t = 0.3)",
            "i > 1 has to be i > 0: the example itself takes 0.3 - 0.0 for the level after 0.0",
        ),
    )
    about = "The example after equation 4 has the levels 0.0, 0.3 and 1.0."
    return Section("Section 3.1", about, claims_tables("", claims))


@dataclass(frozen=True)
class _Example:
    """An example of Table 2: a list with all that is printed of it, by rank and for the ideal list.

    ``split`` is at which rank the printed DCGs change from two places to none, ``measure`` what makes the shares, of
    the grades ``of``.
    """

    title: str
    grades: tuple[float, ...]
    gains: tuple[tuple[float, ...], tuple[float, ...]]
    dcg: tuple[float, ...]
    ideal_dcg: tuple[float, ...]
    shares: tuple[float, ...]
    mean: float
    measure: str
    of: tuple[float, ...]
    gain_places: int = 0
    split: int | None = None

    def claims(self) -> Iterator[Claim]:
        """All that is printed beside all that is computed."""
        best = sorted(self.grades, reverse=True)
        for what, says, grades in zip(("gain", "gain, ideal"), self.gains, (self.grades, best), strict=True):
            yield vector_claim(what, says, added(by_rank("CG", grades)), self.gain_places)
        found, ideal, split = by_rank(_DCG, self.grades), by_rank(_DCG, best), self.split
        if split is None:
            yield vector_claim("dcg", self.dcg, found)
        else:
            yield vector_claim("dcg, ranks 1 and 2", self.dcg[:split], found[:split])
            yield vector_claim("dcg, ranks 3 to 8", self.dcg[split:], found[split:], 0)
        yield vector_claim("dcg, ideal", self.ideal_dcg, ideal, 2 if split is None else 0)
        yield vector_claim("ndcg", self.shares, by_rank(self.measure, self.of))
        over_ranks = parse(f"{self.measure}@{len(self.of)}").replace(average="ranks")
        yield number_claim("ndcg, mean over ranks", self.mean, over_ranks.score(self.of))


_DOUBLED = tuple(2 * grade for grade in _GRADES)
_TABLE_2 = (
    _Example(
        "Example one: the gain is the grade",
        _GRADES,
        ((1, 0, 3, 3, 2, 0, 1, 4), (4, 3, 3, 2, 1, 1, 0, 0)),
        (3.32, 3.32, 14.95, 24.96, 28.82, 28.82, 29.93, 45.65),
        (49.83, 64.50, 76.13, 80.42, 81.70, 82.89, 82.89, 82.89),
        (0.07, 0.05, 0.20, 0.31, 0.35, 0.35, 0.36, 0.55),
        0.28,
        "nDCG(gain=exp2)",
        _GRADES,
    ),
    _Example(
        "Example two: the gain is twice the grade",
        _DOUBLED,
        ((2, 0, 6, 6, 4, 0, 2, 8), (8, 6, 6, 4, 2, 2, 0, 0)),
        (9.97, 9.97, 114, 204, 224, 224, 227, 494),
        (847, 979, 1083, 1105, 1109, 1112, 1112, 1112),
        (0.01, 0.01, 0.11, 0.19, 0.20, 0.20, 0.20, 0.44),
        0.17,
        "nDCG(gain=exp2)",
        _DOUBLED,
        split=2,
    ),
    _Example(
        "Example three: gains relative to the highest grade (NDCNG)",
        tuple(grade / max(_GRADES) for grade in _GRADES),
        ((0.25, 0, 0.75, 0.75, 0.5, 0, 0.25, 1), (1, 0.75, 0.75, 0.5, 0.25, 0.25, 0, 0)),
        (0.63, 0.63, 1.76, 2.74, 3.27, 3.27, 3.48, 4.53),
        (3.32, 4.75, 5.88, 6.48, 6.72, 6.94, 6.94, 6.94),
        (0.19, 0.13, 0.30, 0.42, 0.49, 0.47, 0.50, 0.65),
        0.39,
        "NDCNG",
        _GRADES,  # the grades themselves: to make gains relative is the measure's work
        gain_places=2,
    ),
)


def _table_2() -> Section:
    ideal_10, ideal_2 = (parse(f"DCG(gain=exp2, base={base})@1").score([max(_GRADES)]) for base in (10, 2))
    return Section.of(
        "Table 2",
        "NDCG when all grades are doubled, and when gains are relative to the highest grade (NDCNG).",
        (part for example in _TABLE_2 for part in claims_tables(example.title, example.claims())),
        f"Equation 3 has no base; the printed DCGs have logarithms to the base 10: the first ideal one is "
        f"{ideal_10:.2f}, with base 2 it is {ideal_2:.2f}. The ratio does not show it. Where example two prints "
        f"whole numbers, they are cut off, not rounded.",
        claims_tables("Scales", (*_scale_claims(), _doubled_levels())),
    )


def _scale_claims() -> Iterator[Claim]:
    for name, measure, depends in (
        ("NDCG over ranks", "nDCG(gain=exp2, average=ranks)@8", True),
        ("NDCNG over ranks", "NDCNG(average=ranks)@8", False),
        ("muAP", "muAP", False),
    ):
        one, two = (parse(measure).score(grades) for grades in (_GRADES, _DOUBLED))
        is_same = abs(one - two) < _ROUNDING
        says = "smaller for doubled grades" if depends else "the same for doubled grades"
        yield statement(name, says, f"{one:.3f}, doubled {two:.3f}", two < one if depends else is_same)


def _doubled_levels() -> Claim:
    scales = [1 + max(grades) for grades in (_GRADES, _DOUBLED)]
    return number_claim(
        "levels of the scale, doubled",
        2 * scales[0],
        scales[1],
        0,
        "grades from 0 to 4 are 5 levels, from 0 to 8 they are 9: the highest grade is doubled, not the number of "
        "levels",
    )


def _two_levels() -> Section:
    """The list of Table 1 with two levels, 0 and the threshold."""
    claims = []
    for threshold in (1.0, 2.0, 3.0, 4.0):
        grades = [threshold if grade >= threshold else 0.0 for grade in _GRADES]
        found, average = parse("muAP").score(grades), parse("AP").score(grades)
        what, is_same = f"muAP of the grades 0 and {threshold:g}", abs(found - average) < _ROUNDING
        claims.append(statement(what, "the same as AP", f"{found:.3f}, AP {average:.3f}", is_same))
    about = "With two levels muAP is AP: the list of Table 1, all from a threshold on relevant."
    return Section("Section 5", about, claims_tables("", claims))


_MEASURES = dict(
    zip(("muMAP", "mean NDCG", "mean NDCNG"), parse_all(("muAP", "nDCG(gain=exp2)", "NDCNG")), strict=True)
)
_TF, _TF_IDF = (strategy for strategy in STRATEGIES if strategy.feature in (1, 9))
_OTHERS = tuple(strategy for strategy in STRATEGIES if strategy not in (_TF, _TF_IDF))


#: With so few thresholds each has its tick.
_FEW_THRESHOLDS = 10


@dataclass(frozen=True, eq=False)
class _Judgment:
    """All strategies against one reference: the three measures, and MAP from each threshold on.

    ``is_whole`` is whether the reference judges the whole collection, so that it can bear out what the paper says.
    ``maps`` are by strategy; each MAP is over the queries that have a document of that grade, ``reached`` in number.
    """

    reference: str
    is_whole: bool
    evaluations: Mapping[str, Evaluation]
    thresholds: tuple[float, ...]
    reached: tuple[int, ...]
    maps: Mapping[str, tuple[float, ...]]

    @classmethod
    def of(cls, name: str, is_whole: bool, qrels: Qrels, runs: Mapping[str, Run], threads: int | None) -> _Judgment:
        thresholds = tuple(level for level in qrels.levels if level > 0)
        if not thresholds:
            raise InputError(f"{qrels.name}: expected grades above 0, found none", "is this a part of the collection?")
        measures = tuple(_MEASURES.values())
        averages = [parse("AP").replace(rel=threshold) for threshold in thresholds]
        found = evaluate_runs(Judged(qrels, Policy(undefined="skip")), runs, (*measures, *averages), threads=threads)
        return cls(
            name,
            is_whole,
            # What is left out at single thresholds is told by numbers of queries, not by a notice each.
            {
                run: replace(each, measures=measures, raw=each.raw[: len(measures)].copy())
                for run, each in found.items()
            },
            thresholds,
            tuple(found[_TF.name].count(average) for average in averages),
            {run: tuple(each.mean(average) for average in averages) for run, each in found.items()},
        )

    def mean(self, run: Strategy | str, measure: str) -> float:
        return self.evaluations[run if isinstance(run, str) else run.name].mean(_MEASURES[measure])

    def mean_of_maps(self, strategy: Strategy) -> float:
        """The mean of MAP over the thresholds, by their distances."""
        return float(np.average(self.maps[strategy.name], weights=np.diff([0.0, *self.thresholds])))

    def others(self, measure: str) -> float:
        """The mean over the strategies that are nobody's reference."""
        return fmean(self.mean(strategy, measure) for strategy in _OTHERS)

    def said(self, what: str, says: str, finds: str, holds: bool, note: str = "") -> Claim:
        """What the paper says of the collection, which a part of it cannot decide."""
        return statement(what, says, finds, holds, note) if self.is_whole else undecided(what, says, finds)


def study(letor: str | os.PathLike[str], *, threads: int | None = None, progress: Progress | None = None) -> Study:
    """Figures 6 to 8: eight features of OHSUMED judged by people, by the first and by the ninth feature.

    ``letor`` is the folder of LETOR 3.0's OHSUMED with raw features: Feature-null, or the folder above it.
    """
    collection, progress = read_collection(letor), progress or Progress()
    runs = collection.runs()
    references = {
        "human grades": (collection.human_grades(), {**runs, "human grades": collection.human_run()}),
        "feature 1": (collection.grades_of(1), runs),
        "feature 9": (collection.grades_of(9), runs),
    }
    progress.total += len(references)
    judgments = []
    for name, (qrels, judged_runs) in references.items():
        judgments.append(_Judgment.of(name, collection.is_whole, qrels, judged_runs, threads))
        progress.advance(1)
    people, by_tf, by_tf_idf = judgments
    title, said = "of the title (feature {}) plays the user.", _tf_idf_claims(by_tf, by_tf_idf)
    return Study(
        _data(collection),
        (
            _strategies(collection),
            _figure("Figure 6", "The strategies are judged by people.", people, _people_claims(people)),
            _figure("Figure 7", f"TF {title.format(1)}", by_tf, _tf_claims(by_tf)),
            _figure("Figure 8", f"TF-IDF {title.format(9)}", by_tf_idf, said, _RULES),
        ),
        # Each run once, as people judge it: what other references leave out is said below their means.
        people.evaluations,
        (
            "NULL (BM25 where no word of the query occurs) ranks below all values; equal scores rank by document id, "
            "descending",
            "all documents of a query are retrieved and judged; a query with nothing above grade 0, or of MAP with "
            "nothing from the threshold on, is left out (undefined=skip)",
        ),
    )


def _data(collection: Collection) -> str:
    human = collection.human_grades()
    found = f"{count_of(len(human.query_ids), 'query', 'queries')} and {count_of(len(human), 'judged document')}"
    part = "" if collection.is_whole else f" of {QUERIES} and {PAIRS:,}, which decide nothing on the whole"
    return (
        f"OHSUMED of LETOR 3.0, {'all' if collection.is_whole else 'only'} {found}{part}. The paper has its {QUERIES} "
        "queries from an earlier release with 25 features, not 45: its numbers of levels are for orientation only."
    )


def _strategies(collection: Collection) -> Section:
    rows = []
    for strategy in STRATEGIES:
        levels = int(distinct(values_of(collection.features[strategy.feature])).size)
        nulls = collection.null_counts[strategy.feature]
        ranks = "no: one value a query" if collection.is_constant(strategy.feature) else "yes"
        rows.append((*strategy, levels - (nulls > 0), nulls, ranks))
    tf, tf_idf = (values_of(collection.features[strategy.feature]) for strategy in (_TF, _TF_IDF))
    what, correlation = "Pearson of 1 and 9, all documents", pearson(tf, tf_idf)
    if collection.is_whole and correlation is not None:
        same = number_claim(what, 0.96, correlation)
    else:
        finds = "undefined" if correlation is None else f"{correlation:.2f}"
        same = beside(what, "0.96", finds, "of a part of the collection")
    note = "the paper's is of an earlier release; both count the grade 0 (the paper's 9 levels make 8 MAPs)"
    levels_of = [
        beside(f"levels of feature {strategy.feature}", said, f"{distinct(values).size:,}", note)
        for strategy, said, values in ((_TF, "9", tf), (_TF_IDF, "158", tf_idf))
    ]
    return Section.of(
        "Section 2.2",
        "Eight features are strategies, and two of them play the user.",
        table(
            "Strategies",
            "the paper's number # | LETOR 3.0 # | what | of | values # | NULL # | can rank",
            rows,
            "The paper's numbers are of a release with 25 features: most likely 10 of the title, 10 of the abstract, 5 "
            "of both; LETOR 3.0 has 15 of each. Only 1 (TF of the title) and 9 (TF-IDF of the title) are described in "
            "it.",
            "What cannot rank stands in the order of document ids. log BM25 ranks as BM25 does, but for rounding.",
        ),
        claims_tables("Virtual users", [same, *levels_of]),
    )


def _figure(name: str, about: str, found: _Judgment, claims: Iterator[Claim], rules: str = "") -> Section:
    maps = [found.maps[strategy.name] for strategy in STRATEGIES]
    by_threshold = table(
        "",
        f"threshold . | queries # | {' | '.join(f'MAP {strategy.name} .' for strategy in STRATEGIES)}",
        zip(found.thresholds, found.reached, *maps, strict=True),
        for_machines=True,
    )
    said = claims_tables("", claims)
    return Section.of(
        name, about, _by_threshold(found, maps), _by_strategy(found), _means(found), said, rules, by_threshold
    )


def _by_threshold(found: _Judgment, maps: Sequence[tuple[float, ...]]) -> Plot:
    few = len(found.thresholds) <= _FEW_THRESHOLDS
    ticks = tuple((threshold, number_text(threshold)) for threshold in found.thresholds) if few else ()
    lines = tuple(Line(each.name, found.thresholds, of_each) for each, of_each in zip(STRATEGIES, maps, strict=True))
    x, y = Axis("threshold", ticks=ticks), Axis("MAP", 0, 1)
    return Plot(f"MAP by threshold, judged by {found.reference}", x, y, lines)


def _by_strategy(found: _Judgment) -> Plot:
    places = tuple(float(place) for place in range(len(STRATEGIES)))
    ticks = tuple((place, str(strategy.feature)) for place, strategy in zip(places, STRATEGIES, strict=True))
    points = tuple(
        Points(measure, places, tuple(found.mean(strategy, measure) for strategy in STRATEGIES))
        for measure in _MEASURES
    )
    x = Axis("strategy", -0.5, len(STRATEGIES) - 0.5, ticks=ticks)
    return Plot(f"Means over queries, judged by {found.reference}", x, Axis("mean", 0, 1), points=points)


def _means(found: _Judgment) -> Table:
    evaluation = found.evaluations[_TF.name]
    queries, left_out = evaluation.undefined(_MEASURES["muMAP"]), ""
    if queries:
        shown = some_of(queries)
        left_out = f"; left out is what has no grade above 0: {count_of(len(queries), 'query', 'queries')} ({shown})"
    return table(
        f"Means, judged by {found.reference}",
        "strategy | muMAP . | mean NDCG . | mean NDCNG . | mean of MAPs .",
        ((each.name, *(found.mean(each, name) for name in _MEASURES), found.mean_of_maps(each)) for each in STRATEGIES),
        f"over {count_of(evaluation.count(_MEASURES['muMAP']), 'query', 'queries')}; "
        f"{count_of(len(found.thresholds), 'threshold')}{left_out}",
        "muMAP: mean of muAP, which takes every query's own levels. mean of MAPs: over all thresholds, by their "
        "distances, each MAP over the queries that have such a document",
    )


def _own_list(found: _Judgment, run: Strategy | str) -> Iterator[Claim]:
    for measure in _MEASURES:
        value = found.mean(run, measure)
        is_1 = abs(value - 1.0) < _ROUNDING
        yield statement(f"{measure} of the reference itself", "1.0", "1" if is_1 else f"{value:.6f}", is_1)


def _people_claims(found: _Judgment) -> Iterator[Claim]:
    yield from _own_list(found, found.reference)
    what, says = "relevance levels of OHSUMED", "three, and further on two"
    levels = f"{1 + len(found.thresholds)}, with 0"
    if found.is_whole:
        yield text_claim(what, says, levels, "two are the thresholds, t = 1 and t = 2; levels are three")
    else:
        yield undecided(what, says, levels)
    widest = max(STRATEGIES, key=lambda each: abs(found.mean(each, "muMAP") - found.mean_of_maps(each)))
    mean, mean_of_maps = found.mean(widest, "muMAP"), found.mean_of_maps(widest)
    yield found.said(
        "muMAP",
        "the mean of the MAPs at t = 1 and 2",
        f"{mean:.3f} and {mean_of_maps:.3f} (feature {widest.feature})",
        abs(mean - mean_of_maps) < _ROUNDING,
        "muAP takes every query's own levels (equation 4), and some queries have no document of grade 2",
    )


def _tf_claims(found: _Judgment) -> Iterator[Claim]:
    yield from _own_list(found, _TF)
    for measure in _MEASURES:
        nearest = max((each for each in STRATEGIES if each != _TF), key=lambda each: found.mean(each, measure))
        finds = f"feature {nearest.feature}, {found.mean(nearest, measure):.3f}"
        yield found.said(f"most similar to 1 by {measure}", "feature 9", finds, nearest == _TF_IDF)
    thresholds, note = f"{len(found.thresholds):,}", "the paper's is of an earlier release"
    yield beside("MAPs that muMAP is the mean of", "8", thresholds, note)


def _tf_idf_claims(before: _Judgment, found: _Judgment) -> Iterator[Claim]:
    yield from _own_list(found, _TF_IDF)
    for measure in _MEASURES:
        nearest = before.mean(_TF_IDF, measure), found.mean(_TF, measure)
        finds = "{:.3f} and {:.3f}".format(*nearest)
        is_similar = abs(nearest[0] - nearest[1]) < _SIMILAR
        yield found.said(f"{measure} of 9 by 1, and of 1 by 9", "very similar", finds, is_similar)
    for measure in _MEASURES:
        means = before.others(measure), found.others(measure)
        change = means[1] / means[0] - 1.0
        finds = f"{means[0]:.3f} to {means[1]:.3f} ({100 * change:+.1f} %)"
        if measure == "mean NDCG":
            says, holds = "falls out of proportion", change < -_LARGE_CHANGE
        else:
            says, holds = "does not differ much", abs(change) < _SMALL_CHANGE
        yield found.said(f"{measure} of the others, Figure 7 to 8", says, finds, holds)


#: Means that differ by less are similar.
_SIMILAR = 0.05
#: What counts as little and as much, as a share of the mean in Figure 7.
_SMALL_CHANGE, _LARGE_CHANGE = 0.05, 0.2

_RULES = (
    f"Very similar are means less than {_SIMILAR} apart. The others are the six strategies that nobody's grades come "
    f"from: their mean does not differ much if it changes by less than {100 * _SMALL_CHANGE:.0f} %, and falls out of "
    f"proportion if by more than {100 * _LARGE_CHANGE:.0f} %."
)
