"""Comparison of two systems on the same queries: significance, size, and the queries with the largest differences."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gainful.errors import InputError, UsageError
from gainful.frozen import dataclass, replace
from gainful.kernel.arrays import Floats
from gainful.notation import choose, count_of, listed, percent_text, units
from gainful.stats.catalogues import (
    INTERVALS,
    MOST_FLIPPED,
    RANDOMISATION,
    RANDOMISATION_INTERVAL,
    STUDENT,
    STUDENT_INTERVAL,
    TESTS,
    IntervalKind,
    PairedTest,
    TestOutcome,
    Verdict,
)
from gainful.stats.distributions import detectable_noncentrality, noncentrality_interval
from gainful.stats.findings import Interval
from gainful.stats.paired_tests import (
    USUAL_PLAN,
    PairedScores,
    PairPlan,
    SystemScores,
    rank_biserial,
    resampled_rows,
    trimmed_mean,
)

Limits: TypeAlias = Callable[[float], Interval]


@dataclass(frozen=True, kw_only=True)
class NamedPair:
    """Facts about a comparison: the two systems, measure and level."""

    names: tuple[str, str] = ("A", "B")
    measure: str = ""
    better: str = "higher"
    alpha: float = 0.05
    left_out: int = 0  # number of queries without a score of either system
    unanswered: tuple[int, int] = (0, 0)  # number of scored queries that each system did not answer
    #: The unit of a score, e.g. query or session.
    unit: str = "query"

    @property
    def system(self) -> str:
        return self.names[0]

    @property
    def baseline(self) -> str:
        return self.names[1]


@dataclass(frozen=True)
class MarginVerdict:
    """The verdict with a margin within which systems count as equivalent."""

    margin: float
    #: "equivalent" if the interval is inside the margin on both sides (two one-sided tests); "non-inferior" if it is
    #: above the lower end; "superior" or "inferior" if the test's own interval is entirely beyond the margin; "better"
    #: and "worse" are significant, perhaps by less than the margin.
    verdict: Verdict
    is_not_inferior: bool
    interval: Interval  # the interval at level 1 - 2 alpha


def signed_verdict(is_significant: bool, difference: float, better: str) -> Verdict:
    """Return "better" or "worse" by the sign of a significant difference, else "inconclusive".

    >>> signed_verdict(True, -0.1, "lower"), signed_verdict(False, -0.1, "lower")
    ('better', 'inconclusive')
    """
    if not is_significant or not difference:
        return "inconclusive"
    return "better" if (difference > 0) == (better == "higher") else "worse"


def margin_verdict(
    low: float, high: float, margin: float, signed: Verdict, better: str, of_test: Interval | None = None
) -> Verdict:
    """Return the verdict for an interval and a margin within which systems count as equivalent.

    ``signed`` is the test's verdict, ``of_test`` its interval if different from the one given. A significant difference
    inside the margin is equivalent: too small to matter.

    >>> [margin_verdict(0.002, high, 0.01, "better", "higher") for high in (0.02, 0.009)]
    ['better', 'equivalent']
    >>> margin_verdict(0.02, 0.03, 0.01, "better", "higher"), margin_verdict(0.02, 0.03, 0.01, "worse", "lower")
    ('superior', 'inferior')
    >>> [margin_verdict(low, 0.02, 0.01, "inconclusive", "higher") for low in (-0.005, -1)]
    ['non-inferior', 'inconclusive']
    """
    least, most = (low, high) if better == "higher" else (-high, -low)
    if -margin < least and most < margin:
        return "equivalent"
    if signed != "inconclusive":
        low, high = (low, high) if of_test is None else (of_test.low, of_test.high)
        if (low if (signed == "better") == (better == "higher") else -high) <= margin:
            return signed
        return "superior" if signed == "better" else "inferior"
    if least > -margin:
        return "non-inferior"
    return "non-superior" if most < margin else "inconclusive"


def described(scores: SystemScores, system: str, baseline: str, alpha: float) -> dict[str, Any]:
    """Return the fields of a :class:`NamedPair`."""
    of = {"measure": scores.measure, "better": scores.better, "unit": scores.unit}
    unanswered = tuple(scores.unanswered.get(name, 0) for name in (system, baseline))
    counts = {"left_out": len(scores.left_out), "unanswered": unanswered}
    return {"names": (system, baseline), **of, **counts, "alpha": alpha}


#: From this many queries, rank tests often call systems with equal means different.
FROM_RANKED = 50
FEW_QUERIES = 10
_DECIDERS = 5
_DESCRIBING = 2_000  # enough for a descriptive interval
#: Words for relative differences (Spärck Jones 1974, Järvelin & Kekäläinen 2002) and their lower limits.
_SIZE_WORDS = ("marginal", "noticeable", "substantial")
_NOTICEABLE, _ESSENTIAL = 0.05, 0.10
#: A larger multiple of the baseline's mean only shows that this mean is close to 0.
_LARGEST_RATIO = 10


@dataclass(frozen=True)
class EffectSizes:
    """Effect sizes that do not depend on the measure's unit; None if undefined."""

    d_z: float | None  # mean / standard deviation of the differences, as in the t test
    d_z_interval: Interval | None
    g_z: float | None  # d_z without its bias in small samples (Hedges 1981, exact factor)
    d_av: float | None  # mean / root mean variance of both systems: comparable with unpaired studies
    rank_biserial: float | None  # (W+ - W-) / (W+ + W-) of the signed ranks (Kerby 2014), with a bootstrap interval
    rank_biserial_interval: Interval | None
    share_won: float  # (wins + ties / 2) / queries


@dataclass(frozen=True)
class PracticalSize:
    """A difference and its interval relative to the baseline's mean; unbounded without an interval for the mean."""

    relative: float
    low: float
    high: float
    label: str | None  # the word for the size, None unless it is the same for all of the interval


class Decider(NamedTuple):
    """A query, both scores, system minus baseline, and the share of total absolute difference."""

    query: str
    system: float
    baseline: float
    difference: float
    share: float


@dataclass(frozen=True, eq=False, kw_only=True)
class TestedPair(NamedPair):
    """The result of a test of a system against its baseline."""

    __test__ = False  # not a pytest class

    seed: int
    n: int
    mean_system: float
    mean_baseline: float
    difference: float  # the system's mean minus the baseline's, even if lower scores are better
    sd: float | None  # standard deviation of the differences, as used by the test
    test: TestOutcome
    interval: Interval
    practical: PracticalSize | None
    #: Minimum detectable difference with 80% power, by Student's t for tests of means; infinite if no difference can be
    #: detected, None if undefined, as for ranks.
    detectable: float | None
    margin: MarginVerdict | None
    warnings: tuple[str, ...]

    @property
    def p(self) -> float:
        return self.test.p

    @property
    def is_significant(self) -> bool:
        """Whether p < alpha; equivalently, for a test with its own interval, whether that excludes 0."""
        return self.p < self.alpha

    @property
    def verdict(self) -> Verdict:
        """``better``, ``worse`` (than the baseline) or ``inconclusive``; with a margin, see :func:`margin_verdict`.

        ``margin required`` with over 5,000 queries and no margin, because any difference is then significant.
        """
        if self.margin:
            return self.margin.verdict
        if self.n > MOST_FLIPPED:
            return "margin required"
        return signed_verdict(self.is_significant, self.direction, self.better)

    @property
    def direction(self) -> float:
        """The quantity tested, above 0 if it favours the system: the mean difference, or a rank test's statistic."""
        return self.test.effect

    @property
    def is_against_mean(self) -> bool:
        """Whether a rank test favours the system whose mean is not better."""
        return self.is_significant and bool(self.direction) and self.direction * self.difference <= 0


def tested_fields(
    scores: Any, test: PairedTest, limits: Limits, means: Sequence[float], better: str, farthest: float
) -> dict[str, Any]:
    """Return the fields of a :class:`TestedPair` from a test, its limits, and paired scores or two groups.

    Differences are at most ``farthest``.
    """
    plan, alpha = scores.plan, scores.plan.alpha
    outcome, interval = TestOutcome(**vars(test.formula(scores)), test=test), limits(alpha).within(farthest)
    detectable = decided = None
    error, df = scores.standard_error, scores.df
    if test.of == "trimmed mean":
        error, df = scores.once(trimmed_mean).error, scores.once(trimmed_mean).kept - 1
    if error and not test.is_of_ranks:
        detectable = error * detectable_noncentrality(df, alpha=alpha)
    if (detectable or 0.0) > farthest or (outcome.least_p >= alpha and (scores.sd or scores.mean)):
        detectable = math.inf
    if plan.margin is not None:
        # Two one-sided tests; a replacement interval never decides.
        within = limits(2 * alpha).within(farthest)
        signed = signed_verdict(outcome.p < alpha, outcome.effect, better)
        least = within.low if better == "higher" else -within.high
        verdict = margin_verdict(within.low, within.high, plan.margin, signed, better, interval)
        decided = MarginVerdict(
            plan.margin, signed if within.is_stopgap else verdict, least > -plan.margin, interval=within
        )
    return {
        "seed": plan.seed,
        "mean_system": means[0],
        "mean_baseline": means[1],
        "difference": scores.mean,
        "sd": scores.sd,
        "test": outcome,
        "interval": interval,
        "practical": practical_size(scores.mean, means[1], interval, outcome.p < alpha),
        "detectable": detectable,
        "margin": decided,
    }


@dataclass(frozen=True, eq=False, kw_only=True)
class PairResult(TestedPair):
    """The comparison of a system with its baseline on the same queries."""

    effective: float  # number of equally weighted queries with the same precision
    nonzero: int  # number of nonzero differences
    runs: Sequence[int]
    wins: int  # queries that the system wins
    ties: int
    losses: int
    effect: EffectSizes
    for_system: tuple[Decider, ...]  # queries with the largest differences in favour of either
    for_baseline: tuple[Decider, ...]

    @property
    def is_alike(self) -> bool:
        return not self.nonzero


def compare_pair(matrix: SystemScores, system: str, baseline: str, plan: PairPlan = USUAL_PLAN) -> PairResult:
    """Compare a system with its baseline on the same queries.

    By default the test is ``randomisation`` (``t`` for more than 5,000 queries), with the interval that inverts it.
    Weighted queries allow these two tests only, several runs of a system only t, which includes the noise between runs.

    >>> from gainful import ScoreMatrix
    >>> found = compare_pair(ScoreMatrix.of("RR", {"a": [0.5, 0.7, 0.4], "b": [0.4, 0.5, 0.1]}), "a", "b")
    >>> round(found.difference, 3), found.wins, found.p, found.verdict
    (0.2, 3, 0.25, 'inconclusive')
    """
    scores, alpha = PairedScores.of(matrix, system, baseline, plan), plan.alpha
    is_by_t = scores.runs is not None or (scores.n > MOST_FLIPPED and not scores.is_constant)
    usual_test = STUDENT if is_by_t else RANDOMISATION
    chosen = TESTS[choose(plan.test, TESTS, "test")] if plan.test else usual_test
    if chosen.needs_spread and scores.is_constant:
        raise InputError(
            f"{f'{matrix.measure}, ' if matrix.measure else ''}test {chosen.name}: the difference is {scores.mean:g} "
            f"on all {units(scores.n, matrix.unit)}, so there is no spread to use",
            "the test randomisation works without a spread",
        )
    own = INTERVALS[chosen.interval]
    # With too few nonzero differences sign flips give no limits; use Student's.
    usual = STUDENT_INTERVAL if own is RANDOMISATION_INTERVAL and not scores.can_reach(alpha) else own
    kind = INTERVALS[choose(plan.interval, INTERVALS, "interval")] if plan.interval else usual
    known: tuple[tuple[str, PairedTest | IntervalKind, Mapping[str, PairedTest | IntervalKind]], ...]
    known = (("test", chosen, TESTS), ("interval", kind, INTERVALS))
    for what, wanted, others in known if scores.weights is not None else ():
        if not wanted.takes_weights:
            weighted = listed([each.name for each in others.values() if each.takes_weights], "or")
            raise UsageError(f"weights cannot be used with the {what} {wanted.name}", f"use the {what} {weighted}")
    for what, wanted, _ in known if scores.runs is not None else ():
        if wanted.name != STUDENT.name:
            raise UsageError(f"{what} {wanted.name}: cannot account for noise between several runs of a system; t can")
    is_stopgap = plan.interval is None and kind is not own
    means = [math.fsum(scores.weighted(each)) / scores.n for each in (scores.a, scores.b)]

    def limits(level: float) -> Interval:
        if is_stopgap and scores.nonzero and (scores.n < 3 or not scores.sd):
            return Interval(-math.inf, math.inf, level, kind.name, is_stopgap)  # no spread to use
        return replace(kind.formula(scores, level), is_stopgap=is_stopgap)

    tested = tested_fields(scores, chosen, limits, means, matrix.better, matrix.farthest)
    is_higher = matrix.better == "higher"
    wins, losses = (scores.above, scores.nonzero - scores.above)[:: 1 if is_higher else -1]
    for_system, for_baseline = _deciders(matrix.queries, scores, is_higher)
    return PairResult(
        **described(matrix, system, baseline, alpha),
        **tested,
        n=scores.n,
        effective=scores.weight,
        nonzero=scores.nonzero,
        runs=[matrix.repeats[name].shape[1] if name in matrix.repeats else 1 for name in (system, baseline)],
        wins=wins,
        ties=scores.n - wins - losses,
        losses=losses,
        effect=effect_sizes(scores, (1 + (wins - losses) / scores.n) / 2),
        for_system=for_system,
        for_baseline=for_baseline,
        warnings=tuple(_warnings(scores, tested["test"], tested["interval"])),
    )


def _deciders(
    queries: Sequence[str], scores: PairedScores, is_higher: bool
) -> tuple[tuple[Decider, ...], tuple[Decider, ...]]:
    """Return the queries with the largest differences in favour of either system; ties in byte order."""
    most = scores.plan.most or (_DECIDERS if scores.can_reach(scores.plan.alpha) else scores.n)
    whole = math.fsum(np.abs(scores.differences)) or 1.0
    columns = (scores.a.tolist(), scores.b.tolist(), scores.plain_differences.tolist(), scores.differences.tolist())
    rows = [Decider(query, a, b, d, abs(w) / whole) for query, a, b, d, w in zip(queries, *columns, strict=True)]
    favours = scores.differences if is_higher else -scores.differences
    either = []
    for side in (favours, -favours):
        places = [i for i in np.argsort(-side, kind="stable").tolist() if side[i] > 0]
        either.append(tuple(rows[i] for i in places[:most]))
    return either[0], either[1]


def _warnings(scores: PairedScores, outcome: TestOutcome, interval: Interval) -> list[str]:
    test, alpha = outcome.test, scores.plan.alpha
    level = percent_text(alpha)
    unit = scores.unit
    queries = units(scores.n, unit)
    can_reach = scores.can_reach(alpha) or not (test.draws == "flip" or test.is_of_ranks)
    disagree, caution = (outcome.p < alpha) != (0.0 not in interval), test.caution(scores) if test.caution else ""
    found = []
    if not scores.nonzero:
        found.append(f"both systems have the same score on every {unit}: there is no difference to test")
    elif not can_reach:
        cause = f"with {queries} "
        if scores.nonzero < scores.n:
            are = "is" if scores.nonzero == 1 else "are"
            cause = f"only {scores.nonzero:,} of {count_of(scores.n, 'difference')} {are} nonzero: "
        found.append(f"{cause}{'random sign flips' if test.draws else test.noun} cannot reach {level}")
    if interval.is_stopgap and interval.is_bounded and scores.nonzero:
        found.append("the interval is Student's, as a guide only: there are too few nonzero differences for limits")
        if 0.0 not in interval:
            found.append("p and the interval disagree; rely on p")
    if not interval.is_bounded and not caution:
        found.append(f"the interval is unbounded: {queries} {'is' if scores.n == 1 else 'are'} too few for this level")
    if can_reach and scores.n < FEW_QUERIES:
        found.append(f"with {queries} only large differences can be detected: see the minimum detectable difference")
    if scores.n > MOST_FLIPPED:
        found.append(f"with {queries} tiny differences are significant: read the interval, and set a margin")
    if test.of != "mean":
        found.append(f"null hypothesis: {test.hypothesis}; the interval is for the {interval.of} difference")
        if test.is_of_ranks and scores.n >= FROM_RANKED:
            found.append(rank_warning(queries))
        if disagree:
            found.append("p and the interval answer different questions here, and disagree")
    elif disagree and interval.method != test.interval and not interval.is_stopgap:
        found.append(f"p and the interval disagree; rely on p: {interval.method} is not the interval of this test")
    found += [caution] if caution else []
    if outcome.draws is not None and not outcome.is_enumerated and 1 / (outcome.draws + 1) >= alpha:
        found.append(too_few_draws(outcome.draws, alpha))
    return found


def rank_warning(queries: str, measured: str = "50 queries: up to 18% by Wilcoxon's, 49% by the sign test") -> str:
    """Return the warning about rank tests on many queries; its error rates are from docs/explanation/which-test.md."""
    return (
        f"with {queries} a rank test often finds differences between systems whose means are equal (false findings at "
        f"the 5% level with {measured}): it does not test means"
    )


def too_few_draws(draws: int, alpha: float) -> str:
    """Return the warning that p from this many resamples cannot be below a level, with the number needed."""
    needed = math.floor(1 / alpha)
    return f"{count_of(draws, 'resample')} cannot reach {percent_text(alpha)}: at least {needed:,} are needed"


def effect_sizes(scores: PairedScores, share_won: float) -> EffectSizes:
    """Compute all effect sizes of the differences between two systems."""
    n, mean, alpha = scores.n, scores.mean, scores.plan.alpha
    d_z = limits = None
    # Noise between runs is no part of the spread of differences, so only queries count.
    root, df = math.sqrt(scores.weight), scores.weight - 1
    if scores.sd:
        d_z = mean / scores.sd
        low, high = (limit / root for limit in noncentrality_interval(d_z * root, df, alpha))
        limits = Interval(low, high, alpha, "noncentral t")
    by_ranks = rank_biserial(scores.differences)
    variances = [
        math.fsum((side - math.fsum(side) / n) ** 2) / (n - 1) if side.min() < side.max() else 0.0
        for side in (scores.a, scores.b)
    ]
    spread = math.sqrt(sum(variances) / 2)
    return EffectSizes(
        d_z,
        limits,
        None if d_z is None or df <= 1 else d_z * hedges_factor(df),
        mean / spread if spread else None,
        by_ranks,
        None if by_ranks is None else _rank_biserial_interval(scores.differences, alpha, scores.plan.seed),
        share_won,
    )


def hedges_factor(df: float) -> float:
    """Return Gamma(v/2) / (sqrt(v/2) Gamma((v-1)/2)), which removes the bias of a standardised difference.

    >>> round(hedges_factor(49), 6)
    0.984602
    """
    return math.exp(math.lgamma(df / 2) - math.lgamma((df - 1) / 2)) / math.sqrt(df / 2)


def practical_size(
    difference: float, baseline_mean: float, interval: Interval, is_significant: bool
) -> PracticalSize | None:
    """Return a difference relative to the baseline's mean; None if this mean is too close to 0 for a ratio.

    There is no label if the interval is not the test's own or disagrees with p.

    >>> practical_size(0.5, 2.0, Interval(0.25, 0.75, 0.05, "t"), True)
    PracticalSize(relative=0.25, low=0.125, high=0.375, label='substantial')
    >>> practical_size(0.25, 2.0, Interval(0.125, 0.375, 0.05, "t"), True).label
    """
    if baseline_mean <= 0 or abs(difference) > _LARGEST_RATIO * baseline_mean:
        return None
    low, high = -math.inf, math.inf
    if interval.of == "mean":
        low, high = interval.low / baseline_mean, interval.high / baseline_mean
    least, most = 0.0 if low < 0 < high else min(abs(low), abs(high)), max(abs(low), abs(high))
    # Ratios of printed scores that equal 5% or 10% up to rounding count as equal.
    words = {_SIZE_WORDS[(s >= _NOTICEABLE) + (s > _ESSENTIAL)] for s in (round(least, 12), round(most, 12))}
    is_ground = not interval.is_stopgap and is_significant == (0.0 not in interval)
    return PracticalSize(difference / baseline_mean, low, high, words.pop() if len(words) == 1 and is_ground else None)


def _rank_biserial_interval(differences: Floats, alpha: float, seed: int) -> Interval:
    """Return percentiles over resampled queries; a resample's ranks follow from the count of each size."""
    sizes = np.abs(differences)
    ordered = np.sort(sizes[sizes > 0])
    distinct = ordered[np.append(True, ordered[1:] != ordered[:-1])]
    groups = distinct.size
    # Codes: positive sizes first, then negative ones, zeros last.
    code = np.where(sizes > 0, np.searchsorted(distinct, sizes) + groups * (differences < 0), 2 * groups)
    values = []
    for rows in resampled_rows(differences.size, _DESCRIBING, seed):
        width = 2 * groups + 1
        cells = code[rows] + width * np.arange(len(rows))[:, np.newaxis]
        counts = np.bincount(cells.ravel(), minlength=width * len(rows)).reshape(len(rows), width)
        positive, negative = counts[:, :groups], counts[:, groups : 2 * groups]
        both = positive + negative
        ranks = np.cumsum(both, axis=1) - (both - 1) / 2
        ranked = (ranks * both).sum(axis=1)
        apart = (ranks * (positive - negative)).sum(axis=1)
        values.append(np.divide(apart, ranked, out=np.zeros(len(rows)), where=ranked > 0))
    low, high = np.quantile(np.concatenate(values), [alpha / 2, 1 - alpha / 2]).tolist()
    return Interval(low, high, alpha, "percentile")
