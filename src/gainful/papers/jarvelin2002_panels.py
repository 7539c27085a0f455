"""Half a figure of jarvelin2002: the curves of all runs under one weighting scheme, and what can be read off them."""

from __future__ import annotations

from gainful.curves.averages import GainCurve
from gainful.curves.gain_curves import GainCurves
from gainful.measures.cumulated_gain import CumulatedGain
from gainful.sensitivity.cells import ranks_of

#: The last rank of the figures.
DEPTH = 100


class Panel:
    """One half of a figure: the curves of all runs, and the ideal's, under one weighting scheme."""

    def __init__(self, curves: GainCurves, letter: str, kind: str, gain: object) -> None:
        self.letter, self.kind, self.gain = letter, kind, str(gain)
        self.curves = curves
        self.measure: CumulatedGain = curves.measure(
            next(each for each in curves.measures if each.name == kind and str(each.gain) == str(gain))
        )
        self.runs = [curves.curve(run, self.measure) for run in curves.runs]
        self.ideal = None if self.measure.normalised else curves.ideal(self.measure)

    @property
    def all(self) -> list[GainCurve]:
        """The ideal's curve, where it is not 1 everywhere, and the runs'."""
        return [*([self.ideal] if self.ideal else []), *self.runs]

    def at(self, rank: int) -> list[float]:
        """The runs' values at a rank."""
        return [float(curve.values[rank - 1]) for curve in self.runs]

    @property
    def has_gain(self) -> bool:
        """Whether any run gains anything at all."""
        return max(self.at(DEPTH)) > 0

    @property
    def best(self) -> GainCurve:
        """The run that has the most at the last rank."""
        values = self.at(DEPTH)
        return self.runs[values.index(max(values))]

    def places(self) -> list[int | None]:
        """The runs' places at the last rank."""
        return ranks_of(list(self.at(DEPTH)))

    def below_ideal(self) -> list[float]:
        """How far the best run is below the ideal, by rank."""
        assert self.ideal is not None
        return [float(value) for value in (self.ideal.values - self.best.values).tolist()]

    def below_best(self) -> list[float]:
        """How far the other runs are below the best one, at all ranks."""
        best = self.best
        others = [curve for curve in self.runs if curve.run != best.run]
        return [float(value) for curve in others for value in (best.values - curve.values).tolist()]

    def widest(self) -> float:
        """The largest distance between two runs at any rank."""
        ranks = range(1, DEPTH + 1)
        return max(max(self.at(rank)) - min(self.at(rank)) for rank in ranks)
