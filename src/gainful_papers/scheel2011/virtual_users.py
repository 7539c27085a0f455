"""The virtual-user experiment of Scheel, Lommatzsch and Albayrak: scores stand in for the grades of a user.

A reference is a run whose scores are used as grades: a feature, another system, ratings, or people's judgments.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean
from typing import NamedTuple, TypeAlias

import numpy as np

from gainful import Evaluation, InputError, Policy, Qrels, QrelsLike, Run, RunLike, UsageError, evaluate, parse
from gainful.data.collection import no_such_run, require_runs
from gainful.kernel.parallel import counting
from gainful.notation import count_of, number_text, printable, some_of
from gainful.pages.charts import Axis, Line, Plot, Points
from gainful.pages.page import Table
from gainful.stats.agreement import pearson
from gainful_papers.claims import (
    MOST_NAMED,
    Claim,
    Parts,
    Section,
    Study,
    claims_tables,
    table,
    tau_text,
    with_few_names,
)

MEASURES = {"muMAP": parse("muAP"), "mean NDCG": parse("nDCG(gain=exp2)"), "mean NDCNG": parse("NDCNG")}
_ROUNDING = 1e-12
#: Largest number of thresholds with a tick each.
_FEW_THRESHOLDS = 10
#: Largest number of thresholds that are evaluated: a run can have as many scores as documents.
_MOST_THRESHOLDS = 100
#: Thresholds evaluated at once.
_PART = 100
#: Highest grade for which sums of gains 2^grade - 1 do not overflow.
_HIGHEST_GRADE = 1000.0

#: Names of runs or files of judgments; or a mapping of names to such names, runs, or judgments of any kind.
ReferencesLike: TypeAlias = str | Iterable[str] | Mapping[str, Run | QrelsLike]


def grades_of(run: Run, name: str) -> Qrels:
    """Return a run's scores as grades, shifted so that the lowest is 0 if any is negative."""
    grades = (run.score - min(float(run.score.min(initial=0.0)), 0.0)).tolist()
    lists = zip(run.query_ids, pairwise(run.list_offsets.tolist()), strict=True)
    by_query = {query: {run.document(row): grades[row] for row in range(*rows)} for query, rows in lists}
    return Qrels.from_dict(by_query, name=name)


def grades_by_query(qrels: Qrels) -> dict[bytes, dict[bytes, float]]:
    """Return grades by query and document; used as scores, they give the ideal ranking."""
    found: dict[bytes, dict[bytes, float]] = {query: {} for query in qrels.query_ids}
    for row, (query, grade) in enumerate(zip(qrels.query.tolist(), qrels.grade.tolist(), strict=True)):
        found[qrels.query_ids[query]][qrels.document(row)] = grade
    return found


def ordered_queries(run: Run) -> int:
    """Count the queries whose scores are not all equal."""
    return sum(
        bool(end > first and run.score[first:end].min() < run.score[first:end].max())
        for first, end in pairwise(run.list_offsets.tolist())
    )


@dataclass(frozen=True, eq=False)
class Judgment:
    """All runs evaluated against one reference: the three measures, and MAP at each threshold.

    ``reference`` is also a run; ``runs`` are shown. ``maps`` holds MAPs per run, each over the ``reached`` queries that
    have a document of that grade. ``decides`` is whether these data can confirm statements of the paper.
    """

    reference: str
    runs: tuple[str, ...]
    grades: Qrels
    evaluations: Mapping[str, Evaluation]
    thresholds: Sequence[float]
    reached: Sequence[int]
    maps: Mapping[str, Sequence[float]]
    decides: bool = True

    @classmethod
    def of(
        cls,
        reference: str,
        scored: Mapping[str, Run],
        runs: Iterable[str],
        *,
        most_thresholds: int | None = None,
        decides: bool = True,
        threads: int | None = None,
    ) -> Judgment:
        """Evaluate runs against a reference, at ``most_thresholds`` evenly spaced thresholds at most."""
        qrels = grades_of(scored[reference], reference)
        levels = [level for level in qrels.levels if level > 0]
        if not levels:
            raise InputError(f"{reference}: no grade is above 0", "is the collection complete?")
        if levels[-1] > _HIGHEST_GRADE:
            raise InputError(
                f"{reference}: expected grades up to {_HIGHEST_GRADE:g} for gains of 2^grade - 1, found "
                f"{number_text(levels[-1])}",
                "divide the scores by a constant; muAP and NDCNG do not depend on it",
            )
        if most_thresholds is not None and len(levels) > most_thresholds:
            places = np.searchsorted(levels, np.linspace(levels[0], levels[-1], most_thresholds))
            levels = [levels[i] for i in sorted(set(places.tolist()))]
        policy = Policy(undefined="skip")
        reached: list[int] = []
        maps: dict[str, list[float]] = {run: [] for run in scored}
        # Measures cache as much data as the run itself, so evaluate thresholds in parts.
        for first in range(0, len(levels), _PART):
            averages = [parse("AP").replace(rel=level) for level in levels[first : first + _PART]]
            found = evaluate(qrels, scored, averages, policy=policy, threads=threads)
            reached += map(found[reference].count, averages)
            for run, each in found.items():
                maps[run] += map(each.mean, averages)
        evaluations = evaluate(qrels, scored, list(MEASURES.values()), policy=policy, threads=threads)
        return cls(reference, tuple(runs), qrels, evaluations, levels, reached, maps, decides)

    @property
    def all_thresholds(self) -> int:
        """Number of thresholds of the reference, including those not evaluated."""
        return sum(level > 0 for level in self.grades.levels)

    def mean(self, run: str, measure: str) -> float:
        return self.evaluations[run].mean(MEASURES[measure])

    def mean_of_maps(self, run: str) -> float:
        """Return the mean of MAP over thresholds, weighted by their distances."""
        return float(np.average(self.maps[run], weights=np.diff([0.0, *self.thresholds])))

    def observation(self, what: str, says: str, finds: str, holds: bool) -> Claim:
        """Check an observation of the paper, if these data can confirm it."""
        return Claim.remark(what, says, finds, holds and self.decides)

    def own_list(self) -> Iterator[Claim]:
        """Check that the reference is its own ideal list."""
        for measure in MEASURES:
            value = self.mean(self.reference, measure)
            is_1 = abs(value - 1.0) < _ROUNDING
            yield Claim.statement(f"{measure} of the reference itself", "1.0", "1" if is_1 else f"{value:.6f}", is_1)


#: Difference below which means are similar.
_SIMILAR = 0.05
#: Small and large changes, relative to the mean by the reference with fewer levels.
_SMALL_CHANGE, _LARGE_CHANGE = 0.05, 0.2

PAIR_RULES = (
    f"Very similar: means less than {_SIMILAR} apart. The others are the {{others}} that are not references. Does not "
    f"differ much: their mean changes by less than {100 * _SMALL_CHANGE:.0f}%; falls out of proportion: it falls by "
    f"more than {100 * _LARGE_CHANGE:.0f}%."
)


def pair_claims(
    fewer: Judgment, more: Judgment, names: tuple[str, str], others: Sequence[str], change: str
) -> Iterator[Claim]:
    """Compare two references that differ mainly in their levels: by each other, and by the means of other runs."""
    one, other = names
    for measure in MEASURES:
        nearest = fewer.mean(more.reference, measure), more.mean(fewer.reference, measure)
        finds = "{:.3f} and {:.3f}".format(*nearest)
        is_similar = abs(nearest[0] - nearest[1]) < _SIMILAR
        yield more.observation(
            f"{measure} of {other} by {one}, and of {one} by {other}", "very similar", finds, is_similar
        )
    for measure in MEASURES if others else ():
        means = [fmean(found.mean(run, measure) for run in others) for found in (fewer, more)]
        grows = means[1] / means[0] - 1.0 if means[0] else 0.0
        finds = f"{means[0]:.3f} to {means[1]:.3f} ({100 * grows:+.1f}%)"
        if measure == "mean NDCG":
            says, holds = "falls out of proportion", grows < -_LARGE_CHANGE
        else:
            says, holds = "does not differ much", abs(grows) < _SMALL_CHANGE
        yield more.observation(f"{measure} of the others, {change}", says, finds, holds)


def figure(found: Judgment, name: str, about: str, labels: Mapping[str, str], what: str, *parts: Parts) -> Section:
    """Build a figure of the paper: MAP by threshold, the three means of each run, and further ``parts``.

    ``labels`` are the labels of runs on the axis; ``what`` is the label of the axis.
    """
    maps = [found.maps[run] for run in found.runs]
    by_threshold = table(
        "",
        f"threshold . | queries # | {' | '.join(f'MAP {run} .' for run in found.runs)}",
        zip(found.thresholds, found.reached, *maps, strict=True),
        for_machines=True,
    )
    few = len(found.thresholds) <= _FEW_THRESHOLDS
    ticks = tuple((threshold, number_text(threshold)) for threshold in found.thresholds) if few else ()
    curves = Plot(
        f"MAP by threshold, judged by {found.reference}",
        Axis("threshold", ticks=ticks),
        Axis("MAP", 0, 1),
        tuple(Line(run, tuple(found.thresholds), tuple(found.maps[run])) for run in found.runs),
    )
    places = tuple(float(place) for place in range(len(found.runs)))
    few = len(places) <= MOST_NAMED
    names = tuple((place, labels[run]) for place, run in zip(places, found.runs, strict=True)) if few else ()
    means = Plot(
        f"Means over queries, judged by {found.reference}",
        Axis(what if few else f"{what}, in table order", -0.5, len(places) - 0.5, ticks=names),
        Axis("mean", 0, 1),
        points=tuple(Points(each, places, tuple(found.mean(run, each) for run in found.runs)) for each in MEASURES),
    )
    with_names = with_few_names([curves], [{run: found.mean(run, "muMAP") for run in found.runs}])
    return Section.of(name, about, with_names, means, _means(found, what), *parts, by_threshold)


def _means(found: Judgment, what: str) -> Table:
    evaluation = found.evaluations[found.reference]
    queries, left_out = evaluation.undefined(MEASURES["muMAP"]), ""
    if queries:
        shown = some_of(queries)
        left_out = f"; left out, no grade above 0: {count_of(len(queries), 'query', 'queries')} ({shown})"
    drawn, known = len(found.thresholds), found.all_thresholds
    thresholds = f"{drawn:,} of " * (drawn < known) + count_of(known, "threshold")
    which = "all" if drawn == known else "these"
    return table(
        f"Means, judged by {found.reference}",
        f"{what} | muMAP . | mean NDCG . | mean NDCNG . | mean of MAPs .",
        ((run, *(found.mean(run, name) for name in MEASURES), found.mean_of_maps(run)) for run in found.runs),
        f"over {count_of(evaluation.count(MEASURES['muMAP']), 'query', 'queries')}; {thresholds}{left_out}",
        f"muMAP: mean of muAP, which uses the levels of each query. mean of MAPs: over {which} thresholds, weighted by "
        "their distances; each MAP is over the queries with a document of that grade",
    )


#: Lowest correlation at which two references are alike; the paper's have 0.96.
_ALIKE = 0.9


def study_of(runs: Mapping[str, RunLike], reference: ReferencesLike, *, threads: int | None = None) -> Study:
    """Run the experiment on any runs: each reference judges all of them, references with fewer levels first.

    ``reference`` names runs whose scores stand in for a user's grades, or files of judgments; or maps names to these.
    """
    require_runs(runs)
    given = {name: Run.of(run) for name, run in runs.items()}
    users = dict(_references(reference, given))
    scored = {**given, **users}
    judgments = []
    with counting(len(users)) as progress:
        for name in users:
            found = Judgment.of(name, scored, given, most_thresholds=_MOST_THRESHOLDS, threads=threads)
            judgments.append(found)
            progress.advance(1)
    judgments.sort(key=lambda found: found.all_thresholds)
    correlations = [_Correlation.of(*pair) for pair in pairwise(judgments)]
    return Study(
        f"{count_of(len(judgments), 'reference')} ({some_of(list(users))}) and {count_of(len(given), 'run')}: scores "
        "of references stand in for a user's grades. The paper used other data (OHSUMED).",
        (_users(judgments, users, correlations), *_judged(judgments, correlations)),
        judgments[0].evaluations,
        (
            "scores of a reference are its grades, shifted so that the lowest is 0 if any is negative",
            "documents missing from a reference have grade 0; queries with no grade above 0 (for MAP, no grade at or "
            "above the threshold) are left out (undefined=skip)",
        ),
    )


def _references(reference: ReferencesLike, runs: Mapping[str, Run]) -> Iterator[tuple[str, Run]]:
    """Yield references by name, as runs whose scores are grades; reject references that do not order documents."""
    if not isinstance(reference, Mapping):
        reference = {name: name for name in ([reference] if isinstance(reference, str) else reference)}
    if not reference:
        raise UsageError("reference: no run or file of judgments given")
    for name, value in reference.items():
        if isinstance(value, str) and value in runs:
            run = runs[value]
        elif isinstance(value, Run):
            run = value
        elif isinstance(value, str) and not os.path.exists(value) and not value.startswith("irds:"):
            raise no_such_run(value, runs, "reference")
        else:
            run = Run.from_dict(grades_by_query(Qrels.of(value)), name=name)
        if name in runs and run is not runs[name]:
            raise UsageError(f"reference: '{printable(name)}' is also the name of a run")
        if not run.has_scores:
            hint = "ranks cannot be used as grades, because they have no distances"
            raise InputError(f"reference {printable(name)}: the run has no scores", hint)
        if not ordered_queries(run):
            raise InputError(
                f"reference {printable(name)}: all documents of each query have the same score",
                "a reference needs ratings, scores or grades that differ within a query",
            )
        yield name, run


class _Correlation(NamedTuple):
    """Pearson's correlation between the grades of two references, over common documents."""

    names: tuple[str, str]
    documents: int
    value: float | None

    @classmethod
    def of(cls, one: Judgment, other: Judgment) -> _Correlation:
        others = grades_by_query(other.grades)
        common = [
            (grade, others[query][document])
            for query, grades in grades_by_query(one.grades).items()
            for document, grade in grades.items()
            if document in others.get(query, ())
        ]
        value = pearson(*zip(*common, strict=True)) if common else None
        return cls((one.reference, other.reference), len(common), value)


def _users(judgments: Sequence[Judgment], users: Mapping[str, Run], correlations: Iterable[_Correlation]) -> Section:
    rows = []
    for found in judgments:
        run, grades = users[found.reference], found.grades
        shift = grades.scale - float(run.score.max())
        counts = len(run.query_ids), ordered_queries(run), len(grades), len(grades.levels)
        rows.append((found.reference, *counts, grades.scale, shift))
    claims = [
        Claim.comparison(
            " and ".join(each.names),
            "0.96",
            tau_text(each.value),
            f"over {count_of(each.documents, 'common document')}",
        )
        for each in correlations
    ]
    return Section.of(
        "Virtual users",
        "Scores stand in for the grades of a user; references with fewer levels come first.",
        table(
            "References",
            "reference | queries # | ordered # | documents # | levels # | highest . | shifted by .",
            rows,
            "ordered: queries whose scores are not all equal; highest: the highest grade",
        ),
        claims_tables("Pearson's correlation", claims),
    )


def _judged(judgments: Sequence[Judgment], correlations: Sequence[_Correlation]) -> Iterator[Section]:
    """Yield one figure per reference; from the second, with the paper's statements about two references."""
    labels = {run: run for run in judgments[0].runs}
    others = [run for run in judgments[0].runs if run not in {found.reference for found in judgments}]
    for place, found in enumerate(judgments):
        claims, rules = [*found.own_list()], ""
        if place:
            fewer, correlation = judgments[place - 1], correlations[place - 1]
            why_not = ""
            if correlation.value is None or correlation.value < _ALIKE:
                why_not = (
                    "Not seen: the paper's two users differ in their levels but have a correlation of 0.96; these have "
                    f"{tau_text(correlation.value)}, and at least {_ALIKE} is required."
                )
            elif fewer.all_thresholds == found.all_thresholds:
                why_not = "Not seen: both references have the same number of levels."
            more = replace(found, decides=not why_not)
            claims += pair_claims(fewer, more, correlation.names, others, "{} to {}".format(*correlation.names))
            rules = why_not or PAIR_RULES.format(others="runs")
        about = f"The scores of {found.reference} stand in for a user's grades."
        yield figure(found, f"Judged by {found.reference}", about, labels, "run", claims_tables("", claims), rules)
