"""The experiment of scheel2011 on OHSUMED: strategies judged by people, and by two of the strategies themselves."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from gainful.data.judged import Judged
from gainful.data.qrels import Qrels
from gainful.data.run import Run
from gainful.errors import InputError
from gainful.evaluation.evaluate import evaluate_judged
from gainful.evaluation.results import Evaluation
from gainful.kernel.arrays import Floats, distinct
from gainful.kernel.parallel import Progress
from gainful.measures.base import Measure
from gainful.measures.catalog import parse, parse_all
from gainful.notation import count_of, number_text, printable
from gainful.pages.charts import Axis, Line, Plot, Points
from gainful.pages.page import Cell, Column, Table
from gainful.papers.claims import (
    Claim,
    Section,
    Study,
    beside,
    claims_tables,
    number_claim,
    statement,
    text_claim,
    undecided,
)
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

_MEASURES: Mapping[str, Measure] = dict(
    zip(("muMAP", "mean NDCG", "mean NDCNG"), parse_all(("muAP", "nDCG(gain=exp2)", "NDCNG")), strict=True)
)
_TF, _TF_IDF = (strategy for strategy in STRATEGIES if strategy.feature in (1, 9))
_OTHERS = tuple(strategy for strategy in STRATEGIES if strategy not in (_TF, _TF_IDF))

#: So many queries that are left out are named.
_MOST_QUERIES = 5

#: With so few thresholds each has its tick.
_FEW_THRESHOLDS = 10
_ROUNDING = 1e-12


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
        judgments.append(_judgment(name, collection.is_whole, qrels, judged_runs, threads))
        progress.advance(1)
    people, by_tf, by_tf_idf = judgments
    return Study(
        _data(collection),
        (
            _strategies(collection),
            _figure("Figure 6", "The strategies are judged by people.", people, _people_claims(people)),
            _figure("Figure 7", "TF of the title (feature 1) plays the user.", by_tf, _tf_claims(by_tf)),
            _figure(
                "Figure 8",
                "TF-IDF of the title (feature 9) plays the user.",
                by_tf_idf,
                _tf_idf_claims(by_tf, by_tf_idf),
                _RULES,
            ),
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


def _judgment(name: str, is_whole: bool, qrels: Qrels, runs: Mapping[str, Run], threads: int | None) -> _Judgment:
    thresholds = tuple(level for level in qrels.levels if level > 0)
    if not thresholds:
        raise InputError(f"{qrels.name}: expected grades above 0, found none", "is this a part of the collection?")
    averages = [parse("AP").replace(rel=threshold) for threshold in thresholds]
    judged = Judged(qrels, Policy(undefined="skip"))
    found = evaluate_judged(judged, runs, (*_MEASURES.values(), *averages), threads=threads)
    first = found[_TF.name]
    return _Judgment(
        name,
        is_whole,
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
    found = f"{count_of(queries, 'query', 'queries')} and {count_of(pairs, 'judged document')}"
    part = "" if collection.is_whole else f" of {QUERIES} and {PAIRS:,}, which decide nothing on the whole"
    return (
        f"OHSUMED of LETOR 3.0, {'all' if collection.is_whole else 'only'} {found}{part}. The paper has its {QUERIES} "
        "queries from an earlier release with 25 features, not 45: its numbers of levels are for orientation only."
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
        _correlation(tf, tf_idf, collection.is_whole),
        *(
            beside(f"levels of feature {strategy.feature}", said, f"{distinct(values).size:,}", _LEVELS)
            for strategy, said, values in ((_TF, "9", tf), (_TF_IDF, "158", tf_idf))
        ),
    ]
    return Section(
        "Section 2.2",
        "Eight features are strategies, and two of them play the user.",
        (Table(columns, rows, "Strategies", notes), *claims_tables("Virtual users", claims)),
    )


_LEVELS = "the paper's is of an earlier release; both count the grade 0 (the paper's 9 levels make 8 MAPs)"


def _correlation(tf: Floats, tf_idf: Floats, is_whole: bool) -> Claim:
    what, found = "Pearson of 1 and 9, all documents", pearson(tf, tf_idf)
    if is_whole and found is not None:
        return number_claim(what, 0.96, found)
    return beside(what, "0.96", "undefined" if found is None else f"{found:.2f}", "of a part of the collection")


def _figure(name: str, about: str, found: _Judgment, claims: Iterator[Claim], rules: str = "") -> Section:
    said = (*claims_tables("", claims), *((rules,) if rules else ()))
    return Section(name, about, (_left(found), _right(found), _means(found), *said, _by_threshold(found)))


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
        *(Column(measure, "number") for measure in _MEASURES),
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
        f"over {count_of(evaluation.count(_MEASURES['muMAP']), 'query', 'queries')}; "
        f"{count_of(len(found.thresholds), 'threshold')}{_left_out(evaluation)}",
        "muMAP: mean of muAP, which takes every query's own levels. mean of MAPs: over all thresholds, by their "
        "distances, each MAP over the queries that have such a document",
    )
    return Table(columns, rows, f"Means, judged by {found.reference}", notes)


def _left_out(evaluation: Evaluation) -> str:
    queries = evaluation.undefined(_MEASURES["muMAP"])
    if not queries:
        return ""
    shown = ", ".join(map(printable, queries[:_MOST_QUERIES])) + (", ..." if len(queries) > _MOST_QUERIES else "")
    return f"; left out is what has no grade above 0: {count_of(len(queries), 'query', 'queries')} ({shown})"


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


def _said(found: _Judgment, what: str, says: str, finds: str, holds: bool, note: str = "") -> Claim:
    """What the paper says of the collection, which a part of it cannot decide."""
    if not found.is_whole:
        return undecided(what, says, finds)
    return statement(what, says, finds, holds, note)


def _people_claims(found: _Judgment) -> Iterator[Claim]:
    yield from _own_list(found, found.reference)
    what, says = "relevance levels of OHSUMED", "three, and further on two"
    levels = f"{1 + len(found.thresholds)}, with 0"
    if found.is_whole:
        yield text_claim(what, says, levels, "two are the thresholds, t = 1 and t = 2; levels are three")
    else:
        yield _said(found, what, says, levels, False)
    widest = max(STRATEGIES, key=lambda each: abs(found.mean(each, "muMAP") - found.mean_of_maps(each)))
    mean, mean_of_maps = found.mean(widest, "muMAP"), found.mean_of_maps(widest)
    yield _said(
        found,
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
        yield _said(found, f"most similar to 1 by {measure}", "feature 9", finds, nearest == _TF_IDF)
    yield beside(
        "MAPs that muMAP is the mean of", "8", f"{len(found.thresholds):,}", "the paper's is of an earlier release"
    )


def _tf_idf_claims(before: _Judgment, found: _Judgment) -> Iterator[Claim]:
    yield from _own_list(found, _TF_IDF)
    for measure in _MEASURES:
        nearest = before.mean(_TF_IDF, measure), found.mean(_TF, measure)
        finds = "{:.3f} and {:.3f}".format(*nearest)
        is_similar = abs(nearest[0] - nearest[1]) < _SIMILAR
        yield _said(found, f"{measure} of 9 by 1, and of 1 by 9", "very similar", finds, is_similar)
    for measure in _MEASURES:
        means = before.others(measure), found.others(measure)
        change = means[1] / means[0] - 1.0
        finds = f"{means[0]:.3f} to {means[1]:.3f} ({100 * change:+.1f} %)"
        if measure == "mean NDCG":
            says, holds = "falls out of proportion", change < -_LARGE_CHANGE
        else:
            says, holds = "does not differ much", abs(change) < _SMALL_CHANGE
        yield _said(found, f"{measure} of the others, Figure 7 to 8", says, finds, holds)


#: Means that differ by less are similar.
_SIMILAR = 0.05
#: What counts as little and as much, as a share of the mean in Figure 7.
_SMALL_CHANGE, _LARGE_CHANGE = 0.05, 0.2

_RULES = (
    f"Very similar are means less than {_SIMILAR} apart. The others are the six strategies that nobody's grades come "
    f"from: their mean does not differ much if it changes by less than {100 * _SMALL_CHANGE:.0f} %, and falls out of "
    f"proportion if by more than {100 * _LARGE_CHANGE:.0f} %."
)
