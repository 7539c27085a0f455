"""The experiment of scheel2011 on OHSUMED: strategies judged by people, and by two of the strategies themselves."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from gainful.arrays import distinct
from gainful.data.judged import Judged
from gainful.data.qrels import Qrels
from gainful.data.run import Run
from gainful.errors import InputError
from gainful.evaluation import evaluate_judged
from gainful.measures.base import Measure
from gainful.measures.grammar import parse, parse_all
from gainful.notation import number_text
from gainful.papers.claims import Claim, beside, claims_tables, number_claim, statement
from gainful.papers.scheel2011_collection import (
    PAIRS,
    QUERIES,
    STRATEGIES,
    Collection,
    Strategy,
    read_collection,
    values_of,
)
from gainful.papers.sections import Section, Study
from gainful.policy import Policy
from gainful.progress import Progress
from gainful.render.charts import Axis, Line, Plot, Points
from gainful.render.page import Cell, Column, Table
from gainful.results import Evaluation
from gainful.stats.agreement import pearson

_MEASURES: Mapping[str, Measure] = dict(
    zip(("muAP", "NDCG", "NDCNG"), parse_all(("muAP", "nDCG(gain=exp2)", "NDCNG")), strict=True)
)
_TF, _TF_IDF = (strategy for strategy in STRATEGIES if strategy.feature in (1, 9))
_OTHERS = tuple(strategy for strategy in STRATEGIES if strategy not in (_TF, _TF_IDF))

#: With so few thresholds each has its tick.
_FEW_THRESHOLDS = 10
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class _Judgment:
    """All strategies against one reference: the three measures, and MAP from each threshold on.

    ``maps`` are by strategy; each MAP is over the queries that have a document of that grade, ``reached`` in number.
    """

    reference: str
    evaluations: Mapping[str, Evaluation]
    thresholds: tuple[float, ...]
    reached: tuple[int, ...]
    maps: Mapping[str, tuple[float, ...]]

    def mean(self, run: Strategy | str, measure: str) -> float:
        return self.evaluations[run if isinstance(run, str) else run.name].mean(_MEASURES[measure])

    def mean_of_maps(self, strategy: Strategy) -> float:
        """The mean of MAP over the thresholds, by their distances."""
        return float(np.average(self.maps[strategy.name], weights=np.diff([0.0, *self.thresholds])))

    def others(self, measure: str) -> float:
        """The mean over the strategies that are nobody's reference."""
        return math.fsum(self.mean(strategy, measure) for strategy in _OTHERS) / len(_OTHERS)


def ohsumed(letor: str | os.PathLike[str], *, threads: int | None = None, progress: Progress | None = None) -> Study:
    """Figures 6 to 8, and what the paper says of the two strategies that play the user."""
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
        judgments.append(_judgment(name, qrels, judged_runs, threads))
        progress.advance(1)
    people, by_tf, by_tf_idf = judgments
    return Study(
        _data(collection),
        (
            _strategies(collection),
            _figure("Figure 6", "The strategies judged by people", people, _people_claims(people)),
            _figure("Figure 7", "TF of the title (feature 1) plays the user", by_tf, _tf_claims(by_tf)),
            _figure(
                "Figure 8",
                "TF-IDF of the title (feature 9) plays the user",
                by_tf_idf,
                _tf_idf_claims(by_tf, by_tf_idf),
            ),
        ),
        {f"{found.reference}: {run}": each for found in judgments for run, each in found.evaluations.items()},
        (
            "NULL (BM25 where no word of the query occurs) ranks below all values; equal scores rank by document id, "
            "descending",
            "all documents of a query are retrieved and judged; a query with nothing above grade 0, or of MAP with "
            "nothing from the threshold on, is left out (undefined=skip)",
        ),
    )


def _judgment(name: str, qrels: Qrels, runs: Mapping[str, Run], threads: int | None) -> _Judgment:
    thresholds = tuple(level for level in qrels.levels if level > 0)
    if not thresholds:
        raise InputError(f"{qrels.name}: expected grades above 0, found none", "is this a part of the collection?")
    averages = [parse("AP").replace(rel=threshold) for threshold in thresholds]
    judged = Judged(qrels, Policy(undefined="skip"))
    found = evaluate_judged(judged, runs, (*_MEASURES.values(), *averages), threads=threads)
    first = found[_TF.name]
    return _Judgment(
        name,
        # What is left out at single thresholds is told by numbers of queries, not by a notice each.
        {run: _with_measures(evaluation, tuple(_MEASURES.values())) for run, evaluation in found.items()},
        thresholds,
        tuple(first.count(average) for average in averages),
        {run: tuple(evaluation.mean(average) for average in averages) for run, evaluation in found.items()},
    )


def _with_measures(evaluation: Evaluation, measures: tuple[Measure, ...]) -> Evaluation:
    """The evaluation with its first measures only."""
    return replace(evaluation, measures=measures, raw=evaluation.raw[: len(measures)].copy())


def _data(collection: Collection) -> str:
    human = collection.human_grades()
    queries, pairs = len(human.query_ids), len(human)
    is_whole = (queries, pairs) == (QUERIES, PAIRS)
    return (
        f"OHSUMED of LETOR 3.0, {'all' if is_whole else 'only'} {queries:,} queries and {pairs:,} judged documents"
        f"{'' if is_whole else f' of {QUERIES} and {PAIRS:,}'}. The paper has its {QUERIES} queries from an earlier "
        "release with 25 features, not 45: its numbers of levels are for orientation only."
    )


def _strategies(collection: Collection) -> Section:
    rows: list[tuple[Cell, ...]] = []
    for strategy in STRATEGIES:
        values = values_of(collection.features[strategy.feature])
        nulls = collection.null_counts[strategy.feature]
        ranks = "no: one value a query" if collection.is_constant(strategy.feature) else "yes"
        levels = int(distinct(values).size) - (nulls > 0)
        rows.append((strategy.printed, strategy.feature, strategy.what, strategy.field, levels, nulls, ranks))
    columns = (
        Column("the paper's number", "count"),
        Column("LETOR 3.0", "count"),
        Column("what"),
        Column("of"),
        Column("values", "count"),
        Column("NULL", "count"),
        Column("can rank"),
    )
    notes = (
        "The paper's numbers are of a release with 25 features: most likely 10 of the title, 10 of the abstract, 5 of "
        "both; LETOR 3.0 has 15 of each. Only 1 (TF of the title) and 9 (TF-IDF of the title) are described in it.",
        "What cannot rank stands in the order of document ids. log BM25 ranks as BM25 does, but for rounding.",
    )
    tf, tf_idf = (values_of(collection.features[strategy.feature]) for strategy in (_TF, _TF_IDF))
    claims = [
        number_claim("Pearson of 1 and 9, all documents", 0.96, pearson(tf, tf_idf) or math.nan),
        *(
            beside(f"levels of feature {strategy.feature}", said, f"{distinct(values).size:,}", _LEVELS)
            for strategy, said, values in ((_TF, "9", tf), (_TF_IDF, "158", tf_idf))
        ),
    ]
    return Section(
        "Section 2.2",
        "The eight strategies, and the two of them that play the user",
        (Table(columns, rows, "Strategies", notes), *claims_tables("Virtual users", claims)),
    )


_LEVELS = "the paper's is of an earlier release; here the grade 0 is one of them, and all queries are taken together"


def _figure(name: str, about: str, found: _Judgment, claims: Iterator[Claim]) -> Section:
    return Section(
        name, about, (_left(found), _right(found), _means(found), *claims_tables("", claims), _by_threshold(found))
    )


def _left(found: _Judgment) -> Plot:
    thresholds = found.thresholds
    few = len(thresholds) <= _FEW_THRESHOLDS
    ticks = tuple((threshold, number_text(threshold)) for threshold in thresholds) if few else ()
    lines = tuple(Line(strategy.name, thresholds, found.maps[strategy.name]) for strategy in STRATEGIES)
    return Plot(
        f"MAP by threshold, judged by {found.reference}", Axis("threshold", ticks=ticks), Axis("MAP", 0, 1), lines
    )


def _right(found: _Judgment) -> Plot:
    places = tuple(float(place) for place in range(len(STRATEGIES)))
    ticks = tuple((place, str(strategy.feature)) for place, strategy in zip(places, STRATEGIES, strict=True))
    points = tuple(
        Points(measure, places, tuple(found.mean(strategy, measure) for strategy in STRATEGIES))
        for measure in _MEASURES
    )
    x = Axis("strategy", -0.5, len(STRATEGIES) - 0.5, ticks=ticks)
    return Plot(f"Means over queries, judged by {found.reference}", x, Axis("mean", 0, 1), points=points)


def _means(found: _Judgment) -> Table:
    columns = (
        Column("strategy"),
        *(Column(f"mean {measure}" if measure != "muAP" else "muMAP", "number") for measure in _MEASURES),
        Column("mean of MAPs", "number"),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            strategy.name,
            *(found.mean(strategy, measure) for measure in _MEASURES),
            found.mean_of_maps(strategy),
        )
        for strategy in STRATEGIES
    ]
    evaluation = found.evaluations[_TF.name]
    notes = (
        f"over {evaluation.count(_MEASURES['muAP'])} queries; {len(found.thresholds):,} thresholds",
        "muMAP: mean of muAP, which takes every query's own levels. mean of MAPs: over all thresholds, by their "
        "distances, each MAP over the queries that have such a document",
    )
    return Table(columns, rows, f"Means, judged by {found.reference}", notes)


def _by_threshold(found: _Judgment) -> Table:
    columns = (
        Column("threshold", "number", for_machines=True),
        Column("queries", "count", for_machines=True),
        *(Column(f"MAP {strategy.name}", "number", for_machines=True) for strategy in STRATEGIES),
    )
    by_strategy = [found.maps[strategy.name] for strategy in STRATEGIES]
    rows: list[tuple[Cell, ...]] = list(zip(found.thresholds, found.reached, *by_strategy, strict=True))
    return Table(columns, rows)


def _own_list(found: _Judgment, run: Strategy | str) -> Iterator[Claim]:
    for measure in _MEASURES:
        value = found.mean(run, measure)
        finds = "1" if abs(value - 1.0) < _ROUNDING else f"{value:.6f}"
        yield statement(f"{measure} of the reference itself", "1.0", finds, abs(value - 1.0) < _ROUNDING)


def _people_claims(found: _Judgment) -> Iterator[Claim]:
    yield from _own_list(found, found.reference)


def _tf_claims(found: _Judgment) -> Iterator[Claim]:
    yield from _own_list(found, _TF)
    for measure in _MEASURES:
        nearest = max((each for each in STRATEGIES if each != _TF), key=lambda each: found.mean(each, measure))
        value = found.mean(nearest, measure)
        finds = f"feature {nearest.feature}, {value:.3f}"
        yield statement(f"most similar to 1 by {measure}", "feature 9", finds, nearest == _TF_IDF)


def _tf_idf_claims(before: _Judgment, found: _Judgment) -> Iterator[Claim]:
    yield from _own_list(found, _TF_IDF)
    for measure in _MEASURES:
        nearest = before.mean(_TF_IDF, measure), found.mean(_TF, measure)
        finds = "{:.3f} and {:.3f}".format(*nearest)
        is_similar = abs(nearest[0] - nearest[1]) < _SIMILAR
        yield statement(f"{measure} of 9 by 1, and of 1 by 9", "very similar", finds, is_similar)
    changes = {measure: found.others(measure) / before.others(measure) - 1.0 for measure in _MEASURES}
    for measure, change in changes.items():
        finds = f"{before.others(measure):.3f} to {found.others(measure):.3f} ({change:+.0%})"
        if measure == "NDCG":
            says, holds = "falls out of proportion", change < -_LARGE_CHANGE
        else:
            says, holds = "does not differ much", abs(change) < _SMALL_CHANGE
        yield statement(f"{measure} of the others, Figure 7 to 8", says, finds, holds)


#: Means that differ by less are similar.
_SIMILAR = 0.1
#: What counts as little and as much, as a share of the mean in Figure 7.
_SMALL_CHANGE, _LARGE_CHANGE = 0.05, 0.2
