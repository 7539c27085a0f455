"""Gain by rank as the page shows it before, or without, its script: the same arithmetic over the same lists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import numpy as np

from gainful.discounts import divisors
from gainful.evaluation.results import settled
from gainful.kernel.arrays import Floats
from gainful.measures.cumulated_gain import CG, CumulatedGain
from gainful.notation import units
from gainful.pages.charts import Axis, Plot
from gainful.tasks.curves.gain_page import curve_line
from gainful.tasks.report.page_data import gains_of
from gainful.tasks.report.report_data import ReportData
from gainful.tasks.report.report_lists import FIRST_LEVEL

#: More lines cannot be told from each other.
_MOST = 8


def curve_plots(data: ReportData) -> Iterator[Plot]:
    """The curves of the measure that the page starts with, and of its gain without discount, with the ideal."""
    live = cast(CumulatedGain, data.live.replace(cutoff=None))
    plain = CG(gain=live.gain, rel=live.rel, level=live.level)
    shown = data.order[:_MOST]
    if data.baseline is not None and (base := data.systems.index(data.baseline)) not in shown:
        shown[-1] = base
    cut = f"{len(shown)} of {len(data.systems)} systems." if len(shown) < len(data.systems) else ""
    for measure in dict.fromkeys((live, plain)):
        ideal = _ideal(data, measure)
        lines = [curve_line(data.systems[i], _mean_curve(data, i, measure, ideal)) for i in sorted(shown)]
        if not measure.normalised:
            lines.insert(0, curve_line("ideal", _mean(data, ideal), role="ideal"))
        yield Plot(
            f"{measure} by rank, mean over {units(len(data.first.query_ids), 'query')}",
            Axis("rank", 1.0, float(data.depth), is_whole=True),
            Axis(measure.name, 0.0, 1.0 if measure.normalised and measure.discount != "jarvelin2000" else None),
            tuple(lines),
            caption=cut,
        )


def _ideal(data: ReportData, measure: CumulatedGain) -> Floats:
    lists = data.judged.ideal_lists(measure.gain, measure.rel, measure.level)
    return measure.cumulated(lists.of_rows(data.places), data.depth)


def _mean_curve(data: ReportData, place: int, measure: CumulatedGain, ideal: Floats) -> Floats:
    gains = np.concatenate((np.zeros(FIRST_LEVEL), gains_of(measure.gain, measure.rel, measure.level, data.judged)))
    by_rank = gains[data.codes[place]] / divisors(measure.discount, measure.base, np.arange(1.0, data.depth + 1.0))
    vectors = np.cumsum(by_rank, axis=1)
    policy = data.first.policy
    raw = measure.share(vectors, ideal) if measure.normalised else vectors
    undefined = 0.0 if policy.undefined == "zero" else np.nan
    answered = data.evaluations[data.systems[place]].answered[:, None]
    return _mean(data, settled(raw, answered, measure, policy.missing, undefined))


def _mean(data: ReportData, vectors: Floats) -> Floats:
    """The mean over the queries that count at a rank; NaN where none does."""
    weights = np.ones(len(vectors)) if data.first.weights is None else data.first.weights
    counted = ~np.isnan(vectors)
    with np.errstate(invalid="ignore"):
        return np.asarray((weights @ np.where(counted, vectors, 0.0)) / (weights @ counted))
