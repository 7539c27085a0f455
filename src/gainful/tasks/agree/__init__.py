"""How far measures agree on the order of systems, from score matrices, as something to show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from gainful.errors import UsageError, warns
from gainful.evaluation.score_matrix import MatricesLike, ScoreMatrix, check_size, on_common, upward
from gainful.kernel.parallel import Progress
from gainful.notation import choose, nearest
from gainful.render import Page, Showable
from gainful.stats.agreement import PERSISTENCE, MeasureAgreement, OrderAgreement, agreement_of_measures
from gainful.stats.catalogues import COEFFICIENTS


class ClearSwap(NamedTuple):
    """Two systems that two measures put into opposite order, and how clearly: the smaller lead as a share of a range.

    By measure ``a``, ``better`` is ahead of ``worse`` by ``lead_a``; by measure ``b`` it is behind by ``lead_b``.
    """

    a: str
    b: str
    better: str
    worse: str
    lead_a: float
    lead_b: float
    clearness: float


@dataclass(frozen=True, eq=False, repr=False)
class AgreementReport(Showable):
    """How far every two measures agree; ``found`` has all coefficients, ``matrices`` what they were made from.

    ``coefficients`` are those whose matrices are shown, the first is what sentences speak of; ``scatters`` the pairs
    of measures whose means are drawn against each other.
    """

    found: MeasureAgreement
    matrices: Mapping[str, ScoreMatrix]
    coefficients: tuple[str, ...]
    scatters: tuple[tuple[str, str], ...]
    notices: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<AgreementReport of {', '.join(self.found.measures)}: {len(self.found.systems)} systems>"

    @property
    def unit(self) -> str:
        """What scores are of: query or session."""
        return next(iter(self.matrices.values())).unit

    def page(self, places: int = 4, notes: Sequence[str] = (), header: Mapping[str, object] | None = None) -> Page:
        """Sentences, matrices, pairs of measures, swaps, and the means behind them."""
        from gainful.tasks.agree.agreement_page import agreement_page

        return agreement_page(self, places, notes, header or {})

    def value(self, estimated: str, reference: str, coefficient: str | None = None) -> float | None:
        """One coefficient of two measures; only tau_AP depends on which of the two orders is read against the other."""
        name = coefficient or self.coefficients[0]
        if estimated == reference:
            return 1.0
        pair = self.found.of(estimated, reference)
        if name == "tau_ap":
            return pair.tau_ap if pair.a == reference else pair.tau_ap_reverse
        value: float | None = getattr(pair, name).value
        return value

    def matrix(self, coefficient: str | None = None) -> tuple[tuple[float | None, ...], ...]:
        """Measures x measures; of tau_AP a row's order is read against a column's."""
        measures = self.found.measures
        return tuple(tuple(self.value(row, column, coefficient) for column in measures) for row in measures)

    @cached_property
    def ranked(self) -> tuple[tuple[float, OrderAgreement], ...]:
        """The pairs of measures by the first coefficient (of tau_AP the mean of both ways), most agreeing first."""
        found = []
        for pair in self.found.agreements:
            both = (self.value(pair.a, pair.b), self.value(pair.b, pair.a))
            defined = [value for value in both if value is not None]
            if len(defined) == len(both):
                found.append((sum(defined) / 2, pair))
        return tuple(sorted(found, key=lambda each: -each[0]))

    @cached_property
    def swaps(self) -> tuple[ClearSwap, ...]:
        """All swaps of all pairs of measures, clearest first."""
        found = []
        for pair in self.found.agreements:
            ranges = [float(means.max() - means.min()) for means in (pair.means_a, pair.means_b)]
            found += [
                ClearSwap(
                    pair.a,
                    pair.b,
                    swap.better_by_a,
                    swap.better_by_b,
                    swap.lead_a,
                    swap.lead_b,
                    min(swap.lead_a / ranges[0], swap.lead_b / ranges[1]),
                )
                for swap in pair.swaps
            ]
        return tuple(sorted(found, key=lambda swap: -swap.clearness))

    @cached_property
    def ranks(self) -> dict[str, tuple[int, ...]]:
        """Every system's place by each measure: 1 is best, equals share a place."""
        means = {pair.a: pair.means_a for pair in self.found.agreements}
        means |= {pair.b: pair.means_b for pair in self.found.agreements}
        return {name: tuple(1 + int((found > mean).sum()) for mean in found) for name, found in means.items()}


@warns
def assess_agreement(
    scores: MatricesLike,
    *,
    coefficients: Sequence[str] = ("tau_b",),
    scatters: Sequence[tuple[str, str]] = (),
    persistence: float = PERSISTENCE,
    draws: int = 1000,
    seed: int = 0,
    progress: Progress | None = None,
) -> AgreementReport:
    """How far measures agree on the order of systems: every coefficient between every two of them.

    Matrices are paired by system and query id. Intervals are from ``draws`` resamples of the queries. ``coefficients``
    and ``scatters`` (pairs of measures; the least agreeing ones unless given) say what is shown in full.

    >>> one = ScoreMatrix.of("P@5", {"a": [0.4, 0.6], "b": [0.2, 0.4], "c": [0.0, 0.2]})
    >>> other = ScoreMatrix.of("RR", {"a": [0.5, 0.5], "b": [1, 1], "c": [0.1, 0.2]})
    >>> report = assess_agreement([one, other], draws=0)
    >>> round(report.value("P@5", "RR"), 4), report.swaps[0].better, report.swaps[0].worse
    (0.3333, 'a', 'b')
    """
    names = tuple(dict.fromkeys(choose(name, COEFFICIENTS, "coefficient") for name in coefficients))
    if not names:
        raise UsageError("coefficient: expected at least one, found none")
    matrices, notices = on_common(scores)
    if len(matrices) < 2:
        raise UsageError(
            f"agreement: expected at least two measures, found {next(iter(matrices))} alone", "-m names measures"
        )
    check_size(list(matrices.values()))
    for pair in scatters:
        _check_pair(pair, matrices)
    first = next(iter(matrices.values()))
    found = agreement_of_measures(
        {name: upward(matrix) for name, matrix in matrices.items()},
        first.systems,
        persistence=persistence,
        draws=draws,
        seed=seed,
        progress=progress,
    )
    if draws and len(first.queries) == 1:
        notices.append(f"one {first.unit}: no intervals, because resamples of one {first.unit} are all the same")
    report = AgreementReport(found, matrices, names, tuple(scatters), tuple(notices))
    if scatters:
        return report
    least = report.ranked[-1][1] if report.ranked else max(found.agreements, key=lambda pair: len(pair.swaps))
    return replace(report, scatters=((least.a, least.b),))


def _check_pair(pair: tuple[str, str], matrices: Mapping[str, ScoreMatrix]) -> None:
    for name in pair:
        if name not in matrices:
            raise UsageError(f"scatter: unknown measure '{name}'", nearest(name, matrices))
    if pair[0] == pair[1]:
        raise UsageError(f"scatter: expected two measures, found '{pair[0]}' twice")
