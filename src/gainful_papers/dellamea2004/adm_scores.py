"""Scores in place of ranks, which Della Mea and Mizzaro (2004) left to future work: as they are, and calibrated.

SRS is then what the system says itself: its scores from 0 to 1 within each query, or what documents of such scores were
worth in other queries. ADP and ADR, which the paper did not consider either, stand beside.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from gainful import Gain, UsageError
from gainful.data.judged import Judged
from gainful.notation import count_of
from gainful.pages.charts import Axis, Line, Plot
from gainful.pages.page import head
from gainful.stats.agreement import kendall_tau
from gainful_papers.claims import Floats, Ints, Section, table
from gainful_papers.dellamea2004.adm_sets import SystemLists

WAYS = ("ranks", "min-max", "calibrated")
_FOLDS = 5
_MOST_SHOWN = 10
#: Orders of systems with such a tau are usually taken for nearly the same (Voorhees, 2001).
_NEARLY_SAME = 0.9


class ScoredSystem(NamedTuple):
    """A system by each way to have SRS: ADM, ADP and ADR, how far SRS is from what it means, and its reliability."""

    distances: Mapping[str, tuple[float, float, float]]
    errors: Mapping[str, float]
    curves: Mapping[str, tuple[Floats, Floats]]


def score_systems(judged: Judged, systems: Mapping[str, SystemLists], depth: int) -> dict[str, ScoredSystem]:
    """All systems, of ``depth`` documents a query each; nothing where one has no scores, or there is one query."""
    queries = len(judged.qrels.query_ids)
    if queries < 2 or any(not each.graded.score.size for each in systems.values()):
        return {}
    # Queries in turn: every fold has early and late ones.
    fold = np.repeat(np.arange(queries) % min(_FOLDS, queries), depth)
    urs_of_item = Gain("scaled").scaled_to_1(np.where(judged.grade > 0, judged.grade, 0.0), judged.scale)
    query_of_item = np.repeat(np.arange(queries), np.diff(judged.item_offsets))
    wanted = np.bincount(query_of_item, urs_of_item, queries)
    relevant = np.bincount(query_of_item, urs_of_item > 0, queries)
    found = {}
    for name, lists in systems.items():
        graded = lists.graded
        urs = np.zeros((queries, depth))
        query = np.repeat(np.arange(queries), np.diff(graded.hit_offsets))
        urs[query, graded.hit_rank - 1] = urs_of_item[graded.hit_item]
        missed = np.maximum(wanted - urs.sum(axis=1), 0.0), relevant - np.count_nonzero(urs, axis=1)
        raw = graded.score.reshape(queries, depth)
        low, high = raw.min(axis=1, keepdims=True), raw.max(axis=1, keepdims=True)
        # Within each query, 1 where all are the same, as ADM(srs=minmax) has it.
        scores: Floats = np.divide(raw - low, high - low, out=np.ones(raw.shape), where=high > low)
        calibrated = cross_calibrated(scores.ravel(), urs.ravel(), fold).reshape(urs.shape)
        by_rank = np.broadcast_to((depth - np.arange(float(depth))) / depth, urs.shape)
        ways = dict(zip(WAYS, (by_rank, scores, calibrated), strict=True))
        found[name] = ScoredSystem(
            {way: _distances(srs, urs, *missed) for way, srs in ways.items()},
            {way: calibration_error(srs.ravel(), urs.ravel()) for way, srs in ways.items()},
            {way: reliability(srs.ravel(), urs.ravel())[:2] for way, srs in ways.items()},
        )
    return found


def _distances(srs: Floats, urs: Floats, missed_urs: Floats, missed: Floats) -> tuple[float, float, float]:
    """ADM, ADP and ADR, means over queries: over retrieved and relevant documents."""
    documents = srs.shape[1] + missed
    over = np.maximum(srs - urs, 0.0).sum(axis=1) / documents
    under = (np.maximum(urs - srs, 0.0).sum(axis=1) + missed_urs) / documents
    adm, adp, adr = (float(1 - each.mean()) for each in (over + under, over, under))
    return adm, adp, adr


def scores_section(found: Mapping[str, ScoredSystem], references: Mapping[str, Sequence[float]]) -> Section:
    """How ADM orders systems by their scores, beside ranks and the reference measures; reliability of the first one."""
    about = (
        "SRS is made of systems' scores instead of their ranks, as they are and calibrated (the paper's future work)."
    )
    if not found:
        return Section("Scores instead of ranks", about, ("There are systems without scores, or one query only.",))
    names = ("ADM", "ADP", "ADR")
    values: dict[str, Sequence[float]] = {
        f"{name}, {way}": [each.distances[way][i] for each in found.values()]
        for way in WAYS
        for i, name in enumerate(names)
        if way == "ranks" or name == "ADM"
    }
    values |= references
    taus = {
        (row, column): kendall_tau(np.round(values[row], 12), np.round(values[column], 12))
        for column, row in combinations(values, 2)
    }
    errors = {way: float(np.mean([each.errors[way] for each in found.values()])) for way in WAYS}
    tau, order = taus["ADM, calibrated", "ADM, ranks"], ""
    if tau is not None:
        alike = "nearly as" if tau >= _NEARLY_SAME else "differently than"
        order = f" With calibrated scores ADM orders systems {alike} with ranks (tau-b {tau:.3f})."
    first, *_ = found
    columns = list(values)
    return Section.of(
        "Scores instead of ranks",
        about,
        f"Calibrated: an isotonic regression of URS' on the min-max scores, fitted on other queries ({_FOLDS} folds). "
        f"Means over {count_of(len(found), 'system')}: "
        + "; ".join(
            f"{way}, ADM {np.mean([each.distances[way][0] for each in found.values()]):.3f}, calibration error "
            f"{errors[way]:.3f}"
            for way in WAYS
        )
        + ".",
        f"The calibration error is lowest for {min(errors, key=errors.__getitem__)}.{order}",
        table(
            "Kendall's tau-b with ADP, ADR and scores",
            (*head("measure"), *head((f"{name} .3" for name in columns[:-1]), none="")),
            ((row, *(taus.get((row, column)) for column in columns[:-1])) for row in columns[1:]),
        ),
        table(
            "ADM by ranks and by scores",
            f"system | {' | '.join(f'ADM, {way} .3' for way in WAYS)} | "
            f"{' | '.join(f'error, {way} .3' for way in WAYS)}",
            (
                (name, *(each.distances[way][0] for way in WAYS), *(each.errors[way] for way in WAYS))
                for name, each in found.items()
            ),
            "error: the mean distance of SRS and URS' over ten bins of SRS, by how many documents each holds",
            *([f"{_MOST_SHOWN} of {len(found)} systems; all in csv and jsonl"] if len(found) > _MOST_SHOWN else []),
            most=_MOST_SHOWN,
        ),
        Plot(
            f"Reliability of {first}: what documents of an SRS are worth",
            Axis("mean SRS", 0.0, 1.0),
            Axis("mean URS'", 0.0, 1.0),
            (
                Line("", (0.0, 1.0), (0.0, 1.0), "guide"),
                *(Line(way, tuple(x.tolist()), tuple(y.tolist())) for way, (x, y) in found[first].curves.items()),
            ),
        ),
    )


#: Bins of equal width from 0 to 1 for reliability curves and their error.
_BINS = 10


def cross_calibrated(scores: Floats, truth: Floats, fold: Ints) -> Floats:
    """What scores are worth by an isotonic regression of ``truth`` on the scores of all other folds.

    Between two known scores it goes straight; beyond them it is level.

    >>> scores, fold = np.array([0.1, 0.5, 0.9, 0.2, 0.5, 0.8]), np.array([0, 0, 0, 1, 1, 1])
    >>> cross_calibrated(scores, np.array([0.0, 0, 1, 0, 1, 1]), fold).round(6).tolist()
    [0.0, 1.0, 1.0, 0.0, 0.0, 0.75]
    """
    from scipy.optimize import isotonic_regression

    found = np.empty(scores.size)
    for each in np.unique(fold).tolist():
        others = fold != each
        if not others.any():
            raise UsageError("fold: expected several folds to calibrate by, found one")
        known, place, times = np.unique(scores[others], return_inverse=True, return_counts=True)
        means = np.bincount(place, truth[others]) / times
        fitted = isotonic_regression(means, weights=times).x
        found[~others] = np.interp(scores[~others], known, fitted)
    return found


def reliability(scores: Floats, truth: Floats) -> tuple[Floats, Floats, Ints]:
    """Ten bins of scores from 0 to 1: the mean score and the mean truth of those that hold some, and how many.

    >>> reliability(np.array([0.05, 0.95, 1.0]), np.array([0.0, 1.0, 0.5]))[1].tolist()
    [0.0, 0.75]
    """
    place = np.minimum((scores * _BINS).astype(np.int64), _BINS - 1)
    count = np.bincount(place, minlength=_BINS)
    some = count > 0
    means = [np.bincount(place, values, _BINS)[some] / count[some] for values in (scores, truth)]
    return means[0], means[1], count[some]


def calibration_error(scores: Floats, truth: Floats) -> float:
    """The mean distance of both means over all bins, by how many each holds: 0 where scores mean what they say.

    >>> round(calibration_error(np.array([0.9, 0.9, 0.1]), np.array([1.0, 0.0, 0.1])), 4)
    0.2667
    """
    mean_score, mean_truth, count = reliability(scores, truth)
    return float(np.average(np.abs(mean_score - mean_truth), weights=count))
