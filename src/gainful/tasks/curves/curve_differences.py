"""How far runs are ahead of a baseline, rank by rank: paired differences with bands that hold at all ranks at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gainful.errors import UsageError
from gainful.kernel.arrays import Floats
from gainful.measures.base import Measure
from gainful.measures.cumulated_gain import CumulatedGain
from gainful.notation import count_of, listed, printable
from gainful.pages.charts import Axis, Line, Plot
from gainful.pages.page import Column, Table, head
from gainful.stats.repeatable import simultaneous_reach
from gainful.tasks.curves.averages import Band, Resampling
from gainful.tasks.curves.curve_parts import curve_line


@dataclass(frozen=True, eq=False, repr=False)
class CurveDifference:
    """A run's average curve minus the baseline's, over the queries that both have; the band is simultaneous."""

    run: str
    baseline: str
    measure: CumulatedGain  # without @k
    values: Floats
    queries: int
    band: Band | None

    def ranks(self, sign: int) -> list[tuple[int, int]]:
        """The first and the last of the ranks at which the band is above 0 (``sign`` 1) or below (-1)."""
        if self.band is None:
            return []
        beyond = self.band.low > 0 if sign > 0 else self.band.high < 0
        edges = np.flatnonzero(np.diff(np.concatenate(([False], beyond, [False])).astype(np.int64)))
        return [(int(first) + 1, int(last)) for first, last in edges.reshape(-1, 2)]

    def sentence(self, per_cent: str) -> str:
        """At which ranks the run is significantly ahead or behind."""
        names = printable(self.run, 40), printable(self.baseline, 40)
        over = f"simultaneous {per_cent} band over ranks 1 to {self.values.size:,}"
        if self.band is None:
            return f"{self.measure}: {names[0]} has no band, too few queries are shared with {names[1]}."
        told = [
            f"{word} {names[1]} at {_ranks(regions)}"
            for word, regions in (("ahead of", self.ranks(1)), ("behind", self.ranks(-1)))
            if regions
        ]
        if not told:
            return f"{self.measure}: no difference of {names[0]} and {names[1]} was shown at any rank ({over})."
        return f"{self.measure}: {names[0]} is significantly {' and '.join(told)} ({over})."


def _ranks(regions: Sequence[tuple[int, int]]) -> str:
    """
    >>> _ranks([(1, 3), (7, 7)])
    'ranks 1 to 3 and 7'
    """
    texts = [str(first) if first == last else f"{first} to {last}" for first, last in regions]
    return f"{'rank' if texts == [str(regions[0][0])] else 'ranks'} {listed(texts, most=6)}"


def curve_differences(
    vectors: Mapping[tuple[str | None, Measure], Floats],
    runs: Sequence[str],
    measures: Sequence[CumulatedGain],
    baseline: str,
    resampling: Resampling,
) -> Iterator[CurveDifference]:
    """Every run but the baseline, by every measure; ``vectors`` are queries x ranks, NaN where a query is left out."""
    if not resampling.draws:
        raise UsageError("baseline: expected draws for the bands of differences, found 0", "leave --draws as it is")
    for measure in measures:
        for run in runs:
            if run == baseline:
                continue
            apart = vectors[run, measure] - vectors[baseline, measure]
            apart = apart[~np.isnan(apart).any(axis=1)]
            mean = apart.mean(axis=0) if apart.size else np.full(apart.shape[1], np.nan)
            reach = simultaneous_reach(apart, resampling.draws, resampling.seed, resampling.confidence)
            band = None
            if reach is not None:
                band = Band(np.arange(1, mean.size + 1), mean - reach, mean + reach, resampling.draws)
            yield CurveDifference(run, baseline, measure, mean, apart.shape[0], band)


#: The ranks at which a table has differences with their bands; and the last.
_SOME_RANKS = (1, 5, 10)


def difference_parts(found: Sequence[CurveDifference], per_cent: str, places: int) -> Iterator[Plot | Table | str]:
    """Sentences, then for every measure a chart and a table of some ranks; for machines every value."""
    if not found:
        return
    yield "\n".join(each.sentence(per_cent) for each in found)
    for measure in dict.fromkeys(each.measure for each in found):
        yield from _of_measure([each for each in found if each.measure == measure], per_cent, places)
    yield Table(
        head("run | baseline | measure | rank # | difference . | low . | high .", for_machines=True),
        tuple(
            (each.run, each.baseline, str(each.measure), rank, float(each.values[rank - 1]), *ends)
            for each in found
            for rank in range(1, each.values.size + 1)
            for ends in ((None, None) if each.band is None else each.band.ends()[rank],)
        ),
        "Differences by rank",
    )


def _of_measure(found: Sequence[CurveDifference], per_cent: str, places: int) -> Iterator[Plot | Table]:
    first = found[0]
    at = [*(rank for rank in _SOME_RANKS if rank < first.values.size), first.values.size]
    what = f"{first.measure} minus that of {printable(first.baseline, 40)}"
    ends = (1.0, float(first.values.size))
    lines = (Line("", ends, (0.0, 0.0), "guide"), *(curve_line(each.run, each.values, each.band) for each in found))
    queries = count_of(first.queries, "query", "queries")
    about = f"band: {per_cent}, simultaneous over ranks, by flips of signs of {queries}"
    notes = f"in brackets: {per_cent} simultaneous band; one that does not hold 0 is a significant difference there"
    if all(each.band is None for each in found):
        about = notes = f"no band: {queries} {'is' if first.queries == 1 else 'are'} too few"
    yield Plot(f"{what}, by rank", Axis("rank", *ends, is_whole=True), Axis("difference"), lines, caption=about)
    rows = tuple((each.run, *(_with_band(each, rank, places) for rank in at)) for each in found)
    columns = (Column("run"), *(Column(str(rank)) for rank in at))
    yield Table(columns, rows, f"{what}, at some ranks", (notes,), for_people=True)


def _with_band(found: CurveDifference, rank: int, places: int) -> str:
    value = f"{found.values[rank - 1]:.{places}f}"
    if found.band is None:
        return value
    low, high = found.band.ends()[rank]
    return f"{value} [{low:.{places}f}, {high:.{places}f}]"
