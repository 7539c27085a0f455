"""Figure panels of gain by rank: the average curves of all runs and of the ideal list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gainful import GainCurves, Measure
from gainful.pages.charts import Axis, Plot
from gainful.tasks.curves.gain_curves import GainCurve, gain_line
from gainful_papers.claims import with_few_names


class GainPanel:
    """A panel: curves of all runs by one measure and, unless the measure is normalised, the ideal curve."""

    def __init__(self, curves: GainCurves, measure: Measure, depth: int, title: str) -> None:
        self.curves, self.depth, self.title = curves, depth, title
        self.measure = curves.measure(measure)
        self.runs = [curves.curve(run, self.measure).cut(depth) for run in curves.runs]
        self.ideal = None if self.measure.normalised else curves.ideal(self.measure).cut(depth)

    @property
    def shown(self) -> list[GainCurve]:
        """The ideal curve, if any, and the curves of the runs."""
        return [*([] if self.ideal is None else [self.ideal]), *self.runs]

    def at(self, rank: int) -> dict[str, float]:
        """Return the value of each run at a rank."""
        return {str(curve.run): float(curve.values[rank - 1]) for curve in self.runs}

    def needed(self, at: int, reference: str | None = None) -> list[int | None]:
        """Return the documents each run needs for the gain of the ideal (or a run) at a rank; None if not reached."""
        reading = self.curves.sideways(self.measure, reference=reference, at=[at])
        return [reading.rank(run, at) for run in reading.runs]

    def rows(self) -> Iterator[tuple[str, str, str, int, float]]:
        """Yield every value as run, measure, average, rank and value."""
        for curve in self.shown:
            for rank, value in enumerate(curve.values.tolist(), 1):
                yield curve.run or "(ideal)", str(curve.measure), curve.average, rank, value


def needed_text(ranks: Sequence[int | None], depth: int) -> str:
    """Format the fewest and the most documents that runs need.

    >>> needed_text([7, 12], 100), needed_text([7, None], 100), needed_text([None], 100)
    ('7 to 12', '7 to not within 100', 'none within 100')
    """
    there = [rank for rank in ranks if rank is not None]
    if not there:
        return f"none within {depth}"
    most = str(max(there)) if len(there) == len(ranks) else f"not within {depth}"
    return most if most == str(min(there)) else f"{min(there)} to {most}"


def panel_plots(panels: Sequence[GainPanel]) -> Iterator[Plot]:
    """Yield the charts of a figure's panels; of many runs, only the best and worst are named."""
    plots = []
    for panel in panels:
        x, most = Axis("rank", 1.0, float(panel.depth), is_whole=True), 1.0 if panel.ideal is None else None
        plots.append(Plot(panel.title, x, Axis(panel.measure.name, 0.0, most), tuple(map(gain_line, panel.shown))))
    return with_few_names(plots, [panel.at(panel.depth) for panel in panels])
