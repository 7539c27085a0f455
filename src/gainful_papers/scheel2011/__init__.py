"""Scheel, Lommatzsch and Albayrak: Performance measures for multi-graded relevance. SPIM 2011.

Its worked examples, and its experiment on OHSUMED: strategies judged by people, and by two of the strategies.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from gainful import Run, evaluate, parse
from gainful.kernel.parallel import counting
from gainful.notation import count_of
from gainful.stats.agreement import pearson
from gainful_papers.claims import Claim, Section, Study, added, by_rank, claims_tables, table
from gainful_papers.scheel2011.artificial import figures
from gainful_papers.scheel2011.letor_collection import PAIRS, QUERIES, STRATEGIES, Collection, read_collection
from gainful_papers.scheel2011.virtual_users import (
    MEASURES,
    PAIR_RULES,
    Judgment,
    figure,
    grades_by_query,
    ordered_queries,
    pair_claims,
    study_of,
)

__all__ = ["examples", "study", "study_of"]

#: Tables 1 and 2: the list A ... H.
_GRADES = (1.0, 0.0, 3.0, 3.0, 2.0, 0.0, 1.0, 4.0)

_DCG = "DCG(gain=exp2, base=10)"
_ROUNDING = 1e-12


def examples(*, repetitions: int = 100, seed: int = 0, threads: int | None = None) -> tuple[Section, ...]:
    """Check Tables 1 and 2, the example after equation 4, the artificial experiment, and the case of two levels.

    >>> [section.name for section in examples(repetitions=1)]
    ['Table 1', 'Section 3.1', 'Table 2', 'Figure 4', 'Figure 5', 'Section 5']
    """
    artificial = figures(repetitions, seed, threads)
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
            Claim.number(f"AP, t = {t}", said, mean, 3)
            for (t, said), mean in zip(by_threshold.items(), found, strict=True)
        ),
        Claim.number("mean of all six", 0.465, fmean(found), 3),
        Claim.number("muAP (mean of 5 > t > 0)", 0.448, evaluation.mean("muAP"), 3),
    ]
    return Section.of(
        "Table 1",
        "AP of the grades 1 0 3 3 2 0 1 4; grades of at least t are relevant.",
        claims_tables("", claims),
        "muAP is the mean over the thresholds that separate documents: with t = 5 nothing is relevant (undefined, here "
        "0), with t = 0 everything.",
    )


def _distances() -> Section:
    """Derive the distances d of equation 4 from muAP of two lists."""
    average, mu_ap = parse("AP(rel=0.3)"), parse("muAP")
    best = [1.0, 0.3, 0.0]
    # In a list without the document of grade 1, AP of the higher level is 0, so muAP is the lower level's share.
    lower = mu_ap.score([0.3, 0.0], [1.0]) / average.score([0.3, 0.0], [1.0])
    higher = mu_ap.score(best) - lower * average.score(best)
    claims = Claim.number("d, t = 0.3", 0.3, lower, 1), Claim.number("d, t = 1.0", 0.7, higher, 1)
    about = "The example after equation 4 has the levels 0.0, 0.3 and 1.0."
    return Section("Section 3.1", about, claims_tables("", claims))


@dataclass(frozen=True)
class _Example:
    """An example of Table 2: a list and its printed values, by rank and for the ideal list.

    ``split`` is the rank at which the printed DCGs change from two places to none; ``measure`` computes the shares from
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
        best = sorted(self.grades, reverse=True)
        for what, says, grades in zip(("gain", "gain, ideal"), self.gains, (self.grades, best), strict=True):
            yield Claim.vector(what, says, added(by_rank("CG", grades)), self.gain_places)
        found, ideal, split = by_rank(_DCG, self.grades), by_rank(_DCG, best), self.split
        if split is None:
            yield Claim.vector("dcg", self.dcg, found)
        else:
            yield Claim.vector("dcg, ranks 1 and 2", self.dcg[:split], found[:split])
            yield Claim.vector("dcg, ranks 3 to 8", self.dcg[split:], found[split:], 0)
        yield Claim.vector("dcg, ideal", self.ideal_dcg, ideal, 2 if split is None else 0)
        yield Claim.vector("ndcg", self.shares, by_rank(self.measure, self.of))
        over_ranks = parse(f"{self.measure}@{len(self.of)}").replace(average="ranks")
        yield Claim.number("ndcg, mean over ranks", self.mean, over_ranks.score(self.of))


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
        _GRADES,  # unscaled: the measure divides by the highest grade
        gain_places=2,
    ),
)


def _table_2() -> Section:
    ideal_10, ideal_2 = (parse(f"DCG(gain=exp2, base={base})@1").score([max(_GRADES)]) for base in (10, 2))
    return Section.of(
        "Table 2",
        "NDCG when all grades are doubled, and when gains are relative to the highest grade (NDCNG).",
        (part for example in _TABLE_2 for part in claims_tables(example.title, example.claims())),
        f"Equation 3 does not state a base. The printed DCGs use base 10: the first ideal value is {ideal_10:.2f} "
        f"({ideal_2:.2f} with base 2); ratios do not depend on it. Whole numbers in example two are truncated, not "
        "rounded.",
        claims_tables("Scales", _scale_claims()),
    )


def _scale_claims() -> Iterator[Claim]:
    for name, measure, depends in (
        ("NDCG over ranks", "nDCG(gain=exp2, average=ranks)@8", True),
        ("NDCNG over ranks", "NDCNG(average=ranks)@8", False),
        ("muAP", "muAP", False),
    ):
        one, two = (parse(measure).score(grades) for grades in (_GRADES, _DOUBLED))
        is_same = abs(one - two) < _ROUNDING
        says = "lower for doubled grades" if depends else "equal for doubled grades"
        yield Claim.statement(name, says, f"{one:.3f}, doubled {two:.3f}", two < one if depends else is_same)
    scales = [1 + max(grades) for grades in (_GRADES, _DOUBLED)]
    finds = "from {:.0f} to {:.0f}".format(*scales)
    note = "grades 0 to 4 are 5 levels, grades 0 to 8 are 9: the highest grade is doubled, not the number of levels"
    yield Claim.text("the number of relevance levels in example two", "is doubled", finds, note)


def _two_levels() -> Section:
    claims = []
    for threshold in (1.0, 2.0, 3.0, 4.0):
        grades = [threshold if grade >= threshold else 0.0 for grade in _GRADES]
        found, average = parse("muAP").score(grades), parse("AP").score(grades)
        what, is_same = f"muAP of the grades 0 and {threshold:g}", abs(found - average) < _ROUNDING
        claims.append(Claim.statement(what, "equal to AP", f"{found:.3f}, AP {average:.3f}", is_same))
    about = "With two levels, muAP is AP: the list of Table 1 with the grades 0 and a threshold."
    return Section("Section 5", about, claims_tables("", claims))


_TF, _TF_IDF = (strategy for strategy in STRATEGIES if strategy.feature in (1, 9))


def study(letor: str | os.PathLike[str], *, threads: int | None = None) -> Study:
    """Compute Figures 6 to 8: eight features of OHSUMED judged by people, by feature 1 and by feature 9.

    ``letor`` is the folder of OHSUMED from LETOR 3.0 with raw features: Feature-null, or its parent.
    """
    collection = read_collection(letor)
    runs, grades = collection.runs, collection.grades
    references = "human grades", _TF.name, _TF_IDF.name
    judgments = []
    with counting(len(references)) as progress:
        for name in references:
            scored = runs if name in runs else {**runs, name: Run.from_dict(grades_by_query(grades), name=name)}
            judgments.append(Judgment.of(name, scored, runs, decides=collection.is_whole, threads=threads))
            progress.advance(1)
    people, by_tf, by_tf_idf = judgments
    title = "of the title (feature {}) is the virtual user."
    others = [run for run in runs if run not in (_TF.name, _TF_IDF.name)]
    said = *by_tf_idf.own_list(), *pair_claims(by_tf, by_tf_idf, ("1", "9"), others, "Figure 7 to 8")
    rules = PAIR_RULES.format(others="six strategies")
    part = "" if collection.is_whole else f" of {QUERIES} and {PAIRS:,}, so statements are undecided"
    data = (
        f"OHSUMED from LETOR 3.0, {'all' if collection.is_whole else 'only'} "
        f"{count_of(len(grades.query_ids), 'query', 'queries')} and {count_of(len(grades), 'judged document')}"
        f"{part}. The paper used an earlier release with the same {QUERIES} queries but 25 features instead of 45: its "
        "numbers of levels are for comparison only."
    )
    return Study(
        data,
        (
            _strategies(collection),
            _figure("Figure 6", "Strategies judged by people.", people, _people_claims(people)),
            _figure("Figure 7", f"TF {title.format(1)}", by_tf, _tf_claims(by_tf)),
            _figure("Figure 8", f"TF-IDF {title.format(9)}", by_tf_idf, said, rules),
        ),
        # Notices for people's judgments only; queries left out by other references are noted below their means.
        people.evaluations,
        (
            "NULL (BM25 if no query word occurs) ranks below all values; equal scores rank by document ID, descending",
            "all documents of a query are retrieved and judged; queries with no grade above 0 (for MAP, no grade at or "
            "above the threshold) are left out (undefined=skip)",
        ),
    )


def _strategies(collection: Collection) -> Section:
    can_rank = {
        name: "yes" if ordered_queries(run) else "no: one value per query" for name, run in collection.runs.items()
    }
    tf, tf_idf = (collection.runs[strategy.name].score for strategy in (_TF, _TF_IDF))
    what, correlation = "Pearson correlation of 1 and 9", pearson(tf, tf_idf)
    if collection.is_whole and correlation is not None:
        same = Claim.number(what, 0.96, correlation)
    else:
        finds = "undefined" if correlation is None else f"{correlation:.2f}"
        same = Claim.comparison(what, "0.96", finds, "from part of the collection")
    note = "the paper used an earlier release; both numbers include grade 0 (the paper's 9 levels give 8 MAPs)"
    levels_of = [
        Claim.comparison(f"levels of feature {strategy.feature}", said, f"{len(np.unique(values)):,}", note)
        for strategy, said, values in ((_TF, "9", tf), (_TF_IDF, "158", tf_idf))
    ]
    return Section.of(
        "Section 2.2",
        "Eight features are strategies; two of them are also virtual users.",
        table(
            "Strategies",
            "number in paper # | LETOR 3.0 # | feature | text | can rank",
            ((*strategy, can_rank[strategy.name]) for strategy in STRATEGIES),
            "The paper's release has 25 features: most likely 10 of the title, 10 of the abstract, 5 of both; LETOR "
            "3.0 has 15 of each. The paper describes only 1 (TF of the title) and 9 (TF-IDF of the title).",
            "Features that cannot rank are ordered by document ID. Apart from rounding, log BM25 ranks like BM25.",
        ),
        claims_tables("Virtual users", [same, *levels_of]),
    )


def _figure(name: str, about: str, found: Judgment, claims: Iterable[Claim], rules: str = "") -> Section:
    labels = {strategy.name: str(strategy.feature) for strategy in STRATEGIES}
    return figure(found, name, about, labels, "strategy", claims_tables("", claims), rules)


def _people_claims(found: Judgment) -> Iterator[Claim]:
    yield from found.own_list()
    what, says = "relevance levels of OHSUMED", "three, later two"
    levels = f"{1 + len(found.thresholds)}, including 0"
    note = "there are two thresholds, t = 1 and t = 2, but three levels"
    yield Claim.text(what, says, levels, note) if found.decides else Claim.undecided(what, says, levels)
    widest = max(STRATEGIES, key=lambda each: abs(found.mean(each.name, "muMAP") - found.mean_of_maps(each.name)))
    mean, mean_of_maps = found.mean(widest.name, "muMAP"), found.mean_of_maps(widest.name)
    yield Claim.statement(
        "muMAP",
        "the mean of the MAPs at t = 1 and 2",
        f"{mean:.3f} and {mean_of_maps:.3f} (feature {widest.feature})",
        abs(mean - mean_of_maps) < _ROUNDING if found.decides else None,
        "muAP uses the levels of each query (equation 4), and some queries have no document of grade 2",
    )


def _tf_claims(found: Judgment) -> Iterator[Claim]:
    yield from found.own_list()
    for measure in MEASURES:
        nearest = max((each for each in STRATEGIES if each != _TF), key=lambda each: found.mean(each.name, measure))
        finds = f"feature {nearest.feature}, {found.mean(nearest.name, measure):.3f}"
        yield found.observation(f"most similar to 1 by {measure}", "feature 9", finds, nearest == _TF_IDF)
    thresholds, note = f"{len(found.thresholds):,}", "the paper used an earlier release"
    yield Claim.comparison("MAPs averaged by muMAP", "8", thresholds, note)
