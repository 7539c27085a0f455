"""Two systems on different sessions: is the difference real, and how large is it.

Topics that one system alone has say nothing; where most sessions of a system are of such topics, labels are shuffled
without topics.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from statistics import NormalDist

import numpy as np

from gainful.errors import InputError
from gainful.kernel.arrays import Floats, Ints
from gainful.notation import choose, count_of, number_text
from gainful.stats.catalogues import LABELS, MOST_FLIPPED, UNPAIRED_TESTS, WELCH, Interval, TestOutcome, UnpairedTest
from gainful.stats.distributions import detectable_noncentrality, noncentrality_interval
from gainful.stats.paired import (
    FEW_QUERIES,
    TestedPair,
    decided_within,
    hedges_factor,
    practical_size,
    too_few_draws,
)
from gainful.stats.paired_tests import USUAL_PLAN, PairPlan
from gainful.stats.two_groups import TwoGroups


@dataclass(frozen=True)
class UnpairedEffects:
    """Sizes of a difference that do not depend on the measure's unit. None where one is undefined.

    ``hedges_g``      difference / the spread within systems (and topics), without its bias in small samples
    ``cliffs_delta``  the share of pairs of sessions in which the system's is better minus that in which it is worse,
                      its interval Feng and Cliff's (2004)
    ``superiority``   (1 + Cliff's delta) / 2: the chance that the system's session is the better one (A12)
    """

    hedges_g: float | None
    hedges_g_interval: Interval | None
    cliffs_delta: float
    cliffs_delta_interval: Interval | None
    superiority: float


def unpaired_effects(groups: TwoGroups, better: str, alpha: float) -> UnpairedEffects:
    """All effect sizes of two systems on different sessions."""
    g = limits = None
    if groups.t is not None and groups.sd:
        factor = hedges_factor(groups.df) if groups.df > 1 else 1.0
        g = factor * groups.difference / groups.sd
        low, high = (limit / math.sqrt(groups.weight) for limit in noncentrality_interval(groups.t, groups.df, alpha))
        limits = Interval(low, high, alpha, "noncentral t")
    delta, delta_interval = _cliffs_delta(groups, 1 if better == "higher" else -1, alpha)
    return UnpairedEffects(g, limits, delta, delta_interval, (1 + delta) / 2)


def _cliffs_delta(groups: TwoGroups, sign: int, alpha: float) -> tuple[float, Interval | None]:
    n, m = groups.sizes
    first, second = (sign * side for side in groups.sides)
    of_first, of_second = _dominance(first, second), -_dominance(second, first)
    delta = math.fsum(of_first.tolist()) / n
    if n < 2 or m < 2 or abs(delta) == 1:
        return delta, None
    ordered = np.sort(second)
    tied = int((np.searchsorted(ordered, first, "right") - np.searchsorted(ordered, first, "left")).sum())
    around = m * m * float(((of_first - delta) ** 2).sum()) + n * n * float(((of_second - delta) ** 2).sum())
    cells = n * m
    variance = (around - (cells - tied - cells * delta**2)) / (cells * (n - 1) * (m - 1))
    variance = max(variance, (1 - delta**2) / (cells - 1))
    z = NormalDist().inv_cdf(1 - alpha / 2)
    spread = z * math.sqrt(variance) * math.sqrt((1 - delta**2) ** 2 + z**2 * variance)
    below = 1 - delta**2 + z**2 * variance
    low, high = ((delta - delta**3 + side * spread) / below for side in (-1, 1))
    return delta, Interval(low, high, alpha, "feng-cliff")


def _dominance(first: Floats, second: Floats) -> Floats:
    """Of each score the share of the others that are below minus the share above."""
    ordered = np.sort(second)
    below, up_to = (np.searchsorted(ordered, first, side=side) for side in ("left", "right"))
    return np.asarray((below + up_to) / second.size - 1)


@dataclass(frozen=True, eq=False, kw_only=True)
class UnpairedResult(TestedPair):
    """What was found of a system and its baseline that have sessions of their own.

    ``sizes`` count sessions, the system's first. ``topics`` is how many topics both have, 0 where labels were not kept
    within topics; ``alone`` how many sessions of topics that only one has took no part. ``difference`` is within topics
    where there are some.
    """

    sizes: tuple[int, int]
    topics: int
    alone: int
    effect: UnpairedEffects
    is_alike: bool


def compare_unpaired(
    a: Sequence[float] | Floats,
    b: Sequence[float] | Floats,
    topics: tuple[Sequence[str | None], Sequence[str | None]] | None = None,
    plan: PairPlan = USUAL_PLAN,
    *,
    names: tuple[str, str] = ("A", "B"),
    measure: str = "",
    better: str = "higher",
) -> UnpairedResult:
    """Compares system A with the baseline B, each on sessions of its own.

    With ``topics`` of both, labels are shuffled within those that both have, and other sessions take no part, unless
    these are most sessions of a system: then topics are not used. The test is ``labels`` (beyond 5,000 sessions that
    have no topics in common ``welch``) unless another of ``UNPAIRED_TESTS`` is named.

    >>> found = compare_unpaired([0.5, 0.7, 0.6, 0.9], [0.1, 0.2, 0.4, 0.3])
    >>> round(found.difference, 3), round(found.p, 4), found.verdict, found.effect.superiority
    (0.425, 0.0286, 'better', 1.0)
    """
    choose(better, ("higher", "lower"), "better")
    scores = tuple(np.asarray(each, np.float64) for each in (a, b))
    for each in scores:
        if not each.size or not np.isfinite(each).all():
            raise InputError("scores: expected finite numbers of both systems, found none or others")
    kept, shared = _of_shared_topics(topics)
    is_kept = kept is not None and all(2 * np.count_nonzero(codes >= 0) >= codes.size for codes in kept)
    chosen = (
        UNPAIRED_TESTS[choose(plan.test, UNPAIRED_TESTS, "test")]
        if plan.test
        else _default(scores[0], scores[1], is_kept)
    )
    is_blocked = is_kept and chosen is LABELS
    if kept is not None and is_blocked:
        blocks: tuple[Ints, Ints] | None = (kept[0][kept[0] >= 0], kept[1][kept[1] >= 0])
        used = tuple(each[codes >= 0] for each, codes in zip(scores, kept, strict=True))
    else:
        blocks, used = None, scores
    groups, alpha = TwoGroups(used[0], used[1], blocks, plan), plan.alpha
    _check_spread(groups, chosen, measure)
    outcome = chosen.outcome(groups)
    limits = chosen.limits(groups, alpha)
    means = [math.fsum(each.tolist()) / each.size for each in used]
    reach = detectable_noncentrality(groups.df, alpha=alpha) if groups.sd else None
    return UnpairedResult(
        names=names,
        measure=measure,
        better=better,
        alpha=alpha,
        seed=plan.seed,
        unit="session",
        n=sum(groups.sizes),
        sizes=groups.sizes,
        topics=shared if is_blocked else 0,
        alone=sum(int(each.size) for each in scores) - sum(groups.sizes),
        mean_system=means[0],
        mean_baseline=means[1],
        difference=groups.difference,
        sd=groups.sd,
        test=outcome,
        interval=limits,
        effect=unpaired_effects(groups, better, alpha),
        practical=practical_size(groups.difference, means[1], limits, outcome.p < alpha),
        detectable=reach * groups.sd / math.sqrt(groups.weight) if reach is not None and groups.sd else None,
        margin=decided_within(plan, outcome, partial(chosen.limits, groups), better),
        is_alike=bool(np.ptp(groups.pooled) == 0),
        warnings=tuple(_warnings(groups, outcome, limits, _of_unused_topics(kept, chosen, is_kept))),
    )


def _default(a: Floats, b: Floats, is_blocked: bool) -> UnpairedTest:
    is_many, varies = a.size + b.size > MOST_FLIPPED, min(a.size, b.size) > 1 and (np.ptp(a) > 0 or np.ptp(b) > 0)
    return WELCH if is_many and varies and not is_blocked else LABELS


def _of_unused_topics(kept: tuple[Ints, Ints] | None, test: UnpairedTest, is_kept: bool) -> list[str]:
    if kept is None or (is_kept and test is LABELS):
        return []
    if is_kept:
        return [f"both systems have sessions of the same topics, which {test.name} does not use; labels does"]
    first, second = (f"{np.count_nonzero(codes >= 0):,} of {codes.size:,}" for codes in kept)
    return [f"only {first} and {second} sessions are of topics that both systems have: topics are not used"]


def _of_shared_topics(
    topics: tuple[Sequence[str | None], Sequence[str | None]] | None,
) -> tuple[tuple[Ints, Ints] | None, int]:
    """The numbers of topics that both systems have, -1 for others, and how many there are; None where there is none."""
    if topics is None:
        return None, 0
    shared = set(topics[0]).intersection(topics[1]) - {None}
    if not shared:
        return None, 0
    number = {topic: i for i, topic in enumerate(sorted(topic for topic in shared if topic is not None))}
    first, second = (np.array([number.get(topic or "", -1) for topic in each], np.int64) for each in topics)
    return (first, second), len(shared)


def _check_spread(groups: TwoGroups, test: UnpairedTest, measure: str) -> None:
    if not test.needs_spread:
        return
    of = f"{measure}, " if measure else ""
    if min(groups.sizes) < 2:
        raise InputError(
            f"{of}test {test.name}: expected at least 2 sessions of each system, found {min(groups.sizes)}",
            "the test labels goes without a spread",
        )
    if not groups.sd and groups.difference:
        raise InputError(
            f"{of}test {test.name}: expected scores that vary, found the same for all sessions of each system",
            "the test labels goes without a spread",
        )


def _warnings(groups: TwoGroups, outcome: TestOutcome, interval: Interval, unused: list[str]) -> list[str]:
    alpha, test, n = groups.plan.alpha, outcome.test, sum(groups.sizes)
    level = f"{number_text(round(100 * alpha, 10))} %"
    found = []
    if np.ptp(groups.pooled) == 0:
        found.append("all sessions have the same score: there is no difference to test")
    elif test is LABELS and outcome.is_enumerated and 2 / groups.labellings.total >= alpha:
        found.append(
            f"{count_of(groups.labellings.total, 'way')} to give labels cannot reach {level}, however large "
            "differences are"
        )
    elif min(groups.sizes) < FEW_QUERIES:
        found.append(
            f"with {groups.sizes[0]:,} and {groups.sizes[1]:,} sessions only large differences can be "
            "detected: read the detectable difference first"
        )
    if not interval.is_bounded:
        found.append("the interval has no limits: sessions are too few for this level")
    if n > MOST_FLIPPED:
        found.append(f"with {n:,} sessions tiny differences are significant: read the interval, and give a margin")
    found += _of_uneven_spread(groups) if test is LABELS else ()
    found += unused
    if test.of != "mean":
        found.append(f"the test is of this: {test.hypothesis}; the interval is of the {interval.of}")
    if outcome.draws is not None and not outcome.is_enumerated and 2 / (outcome.draws + 1) >= alpha:
        found.append(too_few_draws(outcome.draws, alpha / 2))
    return found


#: From these ratios on of group sizes and of spreads, shuffled labels find too much or too little: docs/which-test.md.
_UNEVEN_SIZES, _UNEVEN_SPREADS = 1.5, 1.5


def _of_uneven_spread(groups: TwoGroups) -> list[str]:
    """Where labels may not be exchanged although means are equal: the systems vary unequally, and so do their sizes."""
    n, m = groups.sizes
    if min(n, m) < 2 or max(n, m) < _UNEVEN_SIZES * min(n, m):
        return []
    spreads = [float(np.std(each, ddof=1)) for each in groups.sides]
    if max(spreads) < _UNEVEN_SPREADS * min(spreads):
        return []
    finds = "much" if (spreads[0] > spreads[1]) == (n < m) else "little"
    return [
        f"the systems vary unequally (standard deviations {spreads[0]:.3g} and {spreads[1]:.3g}) and have more and "
        f"fewer sessions: labels find too {finds} then, welch does not"
    ]
