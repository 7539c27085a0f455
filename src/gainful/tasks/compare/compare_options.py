"""What can be asked of a comparison. Nothing here loads NumPy: options are made before files are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gainful.errors import UsageError

#: What systems are compared by unless somebody says otherwise.
DEFAULT_MEASURES = ("nDCG@10",)

#: What can be drawn: of two systems, and of several.
CHARTS_OF_PAIRS = ("differences",)
CHARTS_OF_SYSTEMS = ("leaderboard", "critical", "p")
CHARTS = (*CHARTS_OF_PAIRS, *CHARTS_OF_SYSTEMS)

#: The tables that can be asked for alone, what marks a mean that differs, and the order of systems in a table.
TABLES = ("leaderboard", "pairs", "means")
MARKS = ("letters", "daggers", "beaten")
ORDERS = ("best", "given")

#: What only tests of hypotheses have.
OF_TESTS = ("procedure", "correction", "interval", "family", "groups", "contrasts", "draws", "seed", "most", "chart")

#: What only tables of means and of pairs have.
OF_TABLES = ("only", "marks", "sort")


@dataclass(frozen=True)
class CompareOptions:
    """What is asked of a comparison; the fields are the options of :func:`compare`."""

    baseline: str | None = None
    procedure: str | None = None
    test: str | None = None
    interval: str | None = None
    correction: str | None = None
    family: str = "each"
    alpha: float = 0.05
    draws: int | None = None
    seed: int = 0
    margin: float | None = None
    groups: Mapping[str, Sequence[str]] | None = None
    contrasts: tuple[str, ...] = ()
    factors: Mapping[str, Mapping[str, str]] | None = None
    sequential: bool = False
    arrival: Sequence[str] | None = None
    pairs: Sequence[tuple[str, str]] | None = ()
    chart: tuple[str, ...] = ()
    only: str | None = None
    marks: str | None = None
    sort: str = "best"
    most: int | None = None
    by: str | None = None
    places: int = 4
    threads: int | None = None

    def refuse(self, why: str, *names: str) -> None:
        """Refuses options that have no meaning here."""
        for name in names:
            if getattr(self, name) not in (None, (), getattr(CompareOptions, name)):
                raise UsageError(f"{name}: has no meaning with {why}")

    def refuse_charts(self, others: Sequence[str], what: str, there: Sequence[str]) -> None:
        """Refuses to draw what there is not here."""
        for chart in self.chart:
            if chart in others:
                raise UsageError(f"chart: '{chart}' has no meaning with {what}", f"there is {' | '.join(there)}")
