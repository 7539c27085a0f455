"""Two systems on the same queries: is the difference real, how large is it, and which queries decide it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from gainful.errors import InputError, UsageError
from gainful.evaluation.score_files import numbered
from gainful.evaluation.score_matrix import ScoreMatrix
from gainful.kernel.arrays import Floats
from gainful.notation import bytes_of_id, choose, count_of, number_text, printable
from gainful.stats.effects import (
    MOST_FLIPPED,
    Decider,
    MarginVerdict,
    NullSummary,
    PairedScores,
    PairResult,
    TestOutcome,
    Verdict,
    effect_sizes,
    practical_size,
    signed_verdict,
)
from gainful.stats.flips import MOST_ENUMERATED, Flips, exact_extremes, exponent, on_grid
from gainful.stats.intervals import AllSubsets, FlippedSubsets, Interval, Resamples, t_interval
from gainful.stats.noncentral import check_alpha, detectable_effect
from gainful.stats.rank_tests import Zeros
from gainful.stats.settled import settle

Scores: TypeAlias = Mapping[str, float] | Sequence[float] | Floats

#: Each test and the interval that comes with it. Rank tests have none of the mean: theirs is the default's.
TESTS = {"randomisation": "randomisation", "t": "t", "wilcoxon": "randomisation", "sign": "randomisation"}
TESTS["bootstrap"] = "bootstrap-t"
INTERVALS = ("randomisation", "t", "percentile", "bca", "bootstrap-t")

#: Above, rank tests often call systems with equal means different.
MOST_RANKED = 200
FEW_QUERIES = 10

_FLIPS, _SAMPLES = 100_000, 10_000
_DECIDERS = 5


def compare_pair(
    a: Scores,
    b: Scores,
    queries: Sequence[str] | None = None,
    *,
    names: tuple[str, str] = ("A", "B"),
    measure: str = "",
    better: str = "higher",
    test: str | None = None,
    interval: str | None = None,
    alpha: float = 0.05,
    draws: int | None = None,
    seed: int = 0,
    margin: float | None = None,
    zeros: Zeros = "drop",
    continuity: bool = False,
) -> PairResult:
    """Compares system A with the baseline B on the same queries.

    Scores are dicts by query id, or sequences in the order of ``queries``. The test is ``randomisation`` (beyond 5,000
    queries ``t``) unless ``t``, ``wilcoxon``, ``sign`` or ``bootstrap`` is named; the interval is the one that inverts
    the test unless ``t``, ``percentile``, ``bca`` or ``bootstrap-t`` is named. ``draws`` are flips (100,000) or samples
    (10,000). ``zeros`` (``drop`` or ``pratt``) and ``continuity`` (of the normal form, which it asks for) are for
    Wilcoxon's test.

    >>> found = compare_pair({"q1": 0.5, "q2": 0.7, "q3": 0.4}, {"q3": 0.1, "q2": 0.5, "q1": 0.4})
    >>> round(found.difference, 3), found.wins, found.p, found.verdict
    (0.2, 3, 0.25, 'cannot tell')
    """
    check_alpha(alpha)
    choose(better, ("higher", "lower"), "better")
    choose(zeros, ("drop", "pratt"), "zeros")
    if margin is not None and not 0 < margin < math.inf:
        raise UsageError(f"margin: expected a number above 0, found {margin:g}")
    query_ids, scores = _paired_by_id(a, b, queries)
    data = _Drawn(scores, alpha, draws, seed)
    name = choose(test, TESTS, "test") if test else ("t" if scores.n > MOST_FLIPPED else "randomisation")
    kind = choose(interval, INTERVALS, "interval") if interval else _default_interval(data, name)
    is_stopgap = interval is None and kind != TESTS[name]
    outcome = data.outcome(name, zeros, continuity)
    limits = data.interval(kind, alpha, is_stopgap)
    favours = scores.differences if better == "higher" else -scores.differences
    wins, losses = int(np.count_nonzero(favours > 0)), int(np.count_nonzero(favours < 0))
    share_won = (1 + (wins - losses) / scores.n) / 2
    mean_b = math.fsum(scores.b) / scores.n
    for_a, for_b = _deciders(query_ids, scores, favours, _DECIDERS if data.can_reach else scores.n)
    return PairResult(
        names=names,
        measure=measure,
        better=better,
        alpha=alpha,
        seed=seed,
        n=scores.n,
        nonzero=scores.nonzero,
        mean_a=math.fsum(scores.a) / scores.n,
        mean_b=mean_b,
        difference=scores.mean,
        sd=scores.sd,
        wins=wins,
        ties=scores.n - wins - losses,
        losses=losses,
        test=outcome,
        interval=limits,
        effect=effect_sizes(scores, share_won, alpha, seed),
        practical=practical_size(scores.mean, mean_b, limits),
        detectable=detectable_effect(scores.n, alpha=alpha) * scores.sd if scores.sd else None,
        margin=None if margin is None else _with_margin(data, outcome, kind, is_stopgap, margin, better),
        for_a=for_a,
        for_b=for_b,
        warnings=tuple(_warnings(data, outcome, limits)),
    )


def compare_systems(scores: ScoreMatrix, a: str, b: str, **options: Any) -> PairResult:
    """Compares two systems of a matrix; b is the baseline. ``options`` are those of :func:`compare_pair`.

    >>> matrix = ScoreMatrix.of("P@5", {"new": [0.6, 0.4, 0.8], "old": [0.2, 0.4, 0.4]})
    >>> found = compare_systems(matrix, "new", "old")
    >>> found.names, found.measure, found.wins, found.ties
    (('new', 'old'), 'P@5', 2, 1)
    """
    return compare_pair(
        scores.column(a),
        scores.column(b),
        scores.queries,
        names=(a, b),
        measure=scores.measure,
        better=scores.better,
        **options,
    )


def _default_interval(data: _Drawn, test: str) -> str:
    """The test's own, but Student's where flips cannot be rare enough to set limits."""
    return "t" if TESTS[test] == "randomisation" and not data.can_reach else TESTS[test]


@dataclass(frozen=True, eq=False)
class _Drawn:
    """Two systems' scores, and what is drawn from them, once for p and interval."""

    scores: PairedScores
    alpha: float
    draws: int | None
    seed: int

    @property
    def can_reach(self) -> bool:
        """Whether flips of the differences that are not 0 can be rare enough at all: the rarest has p 2^(1-k)."""
        return 2.0 ** (1 - self.scores.nonzero) < self.alpha

    @cached_property
    def _subsets(self) -> AllSubsets | FlippedSubsets:
        if self.scores.nonzero <= MOST_ENUMERATED:
            return AllSubsets.of(self.scores.differences, self.scores.error)
        both = np.stack((self.scores.a, self.scores.b), axis=1)
        flips = Flips(self.scores.n, self.draws or _FLIPS, self.seed)
        return FlippedSubsets.of(on_grid(both, exponent(both)), flips)

    @cached_property
    def _samples(self) -> Resamples:
        return Resamples.of(self.scores.differences, self.draws or _SAMPLES, self.seed)

    def outcome(self, test: str, zeros: Zeros, continuity: bool) -> TestOutcome:
        """The test by its name."""
        if test == "randomisation":
            return self._randomisation()
        if test == "bootstrap":
            return TestOutcome(test, self._samples.p(), self.scores.t, self._samples.means.size)
        return self.scores.outcome(test, zeros, continuity)

    def _randomisation(self) -> TestOutcome:
        subsets, scores = self._subsets, self.scores
        sd = math.sqrt(math.fsum(scores.differences**2)) / scores.n
        null = NullSummary(sd, self._tidy(subsets.critical(self.alpha) / scores.n))
        if isinstance(subsets, AllSubsets):
            extreme, of = exact_extremes(scores.differences, scores.error)
            return TestOutcome("randomisation", extreme / of, scores.mean, of, True, null)
        p = float(subsets.flips.p(np.array(subsets.extreme)))
        return TestOutcome("randomisation", p, scores.mean, subsets.flips.count, False, null)

    def interval(self, kind: str, alpha: float, is_stopgap: bool = False) -> Interval:
        """The interval of the mean difference."""
        if kind == "randomisation":
            found = self._subsets.interval(alpha)
            return Interval(self._tidy(found.low), self._tidy(found.high), alpha, kind)
        if kind == "t":
            found = t_interval(self.scores.mean, self.scores.sd or 0.0, self.scores.n, alpha)
            return Interval(found.low, found.high, alpha, kind, is_stopgap)
        if kind == "bca":
            return self._samples.bca(self.scores.differences, alpha)
        return self._samples.studentised(alpha) if kind == "bootstrap-t" else self._samples.percentile(alpha)

    def _tidy(self, limit: float) -> float:
        """A limit without the traces of the grid; what is not 0 stays so, because it decides."""
        return float(settle(np.array(limit), self.scores.scale)) or limit


def _paired_by_id(a: Scores, b: Scores, queries: Sequence[str] | None) -> tuple[list[str], PairedScores]:
    """Ids in byte order, and both systems' scores in that order."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        only = sorted(set(a).symmetric_difference(b), key=bytes_of_id)
        if only:
            raise InputError(
                f"scores: expected both systems on the same queries, found '{printable(only[0])}' for one only"
                + (f" and {len(only) - 1:,} more" if len(only) > 1 else "")
            )
        queries, values_a = list(a), list(a.values())
        values_b = [b[query] for query in queries]
    elif isinstance(a, Mapping) or isinstance(b, Mapping):
        raise UsageError("scores: expected two dicts or two sequences, found one of each")
    else:
        values_a, values_b = list(a), list(b)
    if queries is None:
        queries = numbered(len(values_a))
    if not len(values_a) == len(values_b) == len(queries):
        raise UsageError(
            f"scores: expected one a query of both systems, found {len(values_a)} and {len(values_b)} "
            f"for {count_of(len(queries), 'query', 'queries')}"
        )
    if not queries:
        raise InputError("scores: expected at least one query, found none")
    if len(set(queries)) < len(queries):
        raise InputError("scores: expected every query once, found one twice")
    order = sorted(range(len(queries)), key=lambda i: bytes_of_id(queries[i]))
    both = np.array([values_a, values_b], np.float64)[:, order]
    if not np.isfinite(both).all():
        bad = queries[order[int(np.flatnonzero(~np.isfinite(both).all(axis=0))[0])]]
        raise InputError(f"scores: expected finite numbers, found something else for query '{printable(bad)}'")
    return [queries[i] for i in order], PairedScores(both[0], both[1])


def _deciders(
    queries: Sequence[str], scores: PairedScores, favours: Floats, most: int
) -> tuple[tuple[Decider, ...], tuple[Decider, ...]]:
    """The queries that speak most for A, and those that speak most for B; equals in byte order."""
    whole = math.fsum(np.abs(scores.differences)) or 1.0
    columns = (scores.a.tolist(), scores.b.tolist(), scores.differences.tolist())
    rows = [Decider(query, a, b, d, abs(d) / whole) for query, a, b, d in zip(queries, *columns, strict=True)]
    either = []
    for side in (favours, -favours):
        places = [i for i in np.argsort(-side, kind="stable").tolist() if side[i] > 0]
        either.append(tuple(rows[i] for i in places[:most]))
    return either[0], either[1]


def _with_margin(
    data: _Drawn, outcome: TestOutcome, kind: str, is_stopgap: bool, margin: float, better: str
) -> MarginVerdict:
    interval = data.interval(kind, 2 * data.alpha, is_stopgap)
    gain = interval if better == "higher" else interval.negated()
    verdict: Verdict
    if gain.low > -margin and gain.high < margin:
        verdict = "equivalent"
    else:
        direction = data.scores.mean if outcome.direction is None else outcome.direction
        verdict = signed_verdict(outcome.p < data.alpha, direction, better)
    return MarginVerdict(margin, verdict, gain.low > -margin, interval)


def _warnings(data: _Drawn, outcome: TestOutcome, interval: Interval) -> list[str]:
    """What to know before trusting the numbers."""
    level = f"{number_text(round(100 * data.alpha, 10))} %"
    queries = count_of(data.scores.n, "query", "queries")
    found = []
    if not data.scores.nonzero:
        found.append("both systems score every query alike: there is no difference to test")
    elif not data.can_reach:
        are = "is" if data.scores.nonzero == 1 else "are"
        found.append(
            f"of {count_of(data.scores.n, 'difference')} only {data.scores.nonzero:,} {are} not 0: "
            f"flips of signs cannot reach {level}, however large differences are"
        )
    if interval.is_stopgap and data.scores.nonzero:
        found.append("the interval is Student's, a guide only: flips of so few differences set no limits")
        if 0.0 not in interval:
            found.append("p and interval disagree here: go by p")
    if not interval.is_bounded:
        found.append(
            f"the interval has no limits: {queries} {'is' if data.scores.n == 1 else 'are'} too few for this level"
        )
    if data.can_reach and data.scores.n < FEW_QUERIES:
        found.append(f"with {queries} only large differences can be detected: read the detectable difference first")
    if data.scores.n > MOST_FLIPPED:
        found.append(f"with {queries} tiny differences are significant: read the interval, and give a margin")
    is_ranked = outcome.name in ("wilcoxon", "sign")
    is_mixed = interval.method != TESTS[outcome.name] and not interval.is_stopgap and not is_ranked
    if is_mixed and _disagree(data, outcome, interval):
        found.append(f"p and interval disagree here: {interval.method} is not the interval of this test; go by p")
    if is_ranked:
        found.extend(_warnings_of_ranks(data, outcome, interval))
    if outcome.name == "t" and data.scores.sd == 0 and data.scores.mean:
        found.append("all differences are equal: the t test has no spread to go by")
    if outcome.draws is not None and not outcome.is_enumerated and 1 / (outcome.draws + 1) >= data.alpha:
        needed = math.floor(1 / data.alpha)
        found.append(f"{count_of(outcome.draws, 'draw')} cannot reach {level}: at least {needed:,} are needed")
    return found


def _warnings_of_ranks(data: _Drawn, outcome: TestOutcome, interval: Interval) -> list[str]:
    found = [f"the test is of this: {outcome.hypothesis}; the interval is of the mean difference"]
    if data.scores.n > MOST_RANKED:
        found.append(
            f"with {data.scores.n:,} queries a rank test often calls systems different whose means are equal: "
            "it answers another question"
        )
    if _disagree(data, outcome, interval):
        found.append("p and interval answer different questions here, and differently")
    return found


def _disagree(data: _Drawn, outcome: TestOutcome, interval: Interval) -> bool:
    return (outcome.p < data.alpha) != (0.0 not in interval)
