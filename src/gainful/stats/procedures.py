"""Several systems by a procedure of one's choice, in one form: which pairs are significantly different, by which
yardstick.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gainful.errors import UsageError
from gainful.kernel.arrays import Bools, Floats
from gainful.kernel.parallel import Progress
from gainful.notation import count_of, percent_text, printable, units
from gainful.stats.anova import PairComparisons, TwoWayAnova, two_way
from gainful.stats.catalogues import CORRECTIONS, MOST_WITH_LETTERS, PROCEDURES, TESTS, Verdict, corrected
from gainful.stats.distributions import noncentrality_intervals
from gainful.stats.families import OF_INTERVALS, FamilyResult, SystemsPlan, families_of, letters
from gainful.stats.paired import FROM_RANKED, rank_warning, too_few_draws
from gainful.stats.paired_tests import PairedScores, SystemScores
from gainful.stats.rank_tests import Friedman, conover, friedman, nemenyi
from gainful.stats.repeatable import settle
from gainful.stats.tukey import PERMUTATIONS, RandomisedTukeyTest, TukeyTest, randomised_tukey, tukey

_SHOWN = 5


class PairRecord(NamedTuple):
    """All numbers of two systems; None where the procedure has no such number.

    ``difference`` is of means, the system's minus the other's; ``p`` is of the pair alone; the errors are what other
    seeds would change; ``q`` is Tukey's, ``statistic`` that of a test that does not go by means.
    """

    system: str
    other: str
    difference: float
    low: float | None
    high: float | None
    p: float
    adjusted_p: float
    monte_carlo_error: float | None
    rank_difference: float | None
    conover_p: float | None
    conover_holm_p: float | None
    q: float | None
    effect: float | None
    effect_low: float | None
    effect_high: float | None
    adjusted_p_error: float | None
    statistic: float | None
    wins: int
    ties: int
    losses: int
    verdict: Verdict


@dataclass(frozen=True, eq=False)
class SystemsResult:
    """What a procedure found of several systems by one measure.

    ``family`` is what decides: its ``p`` are those of pairs alone (randomisation), its ``adjusted`` those of the
    procedure; of Friedman's, its ``means`` are mean ranks, and Nemenyi decides. ``identical`` are systems with the same
    score on every query. ``warnings`` is what to know before trusting the numbers.
    """

    scores: SystemScores
    procedure: str
    family: FamilyResult
    anova: TwoWayAnova | None = None
    tukey: TukeyTest | None = None
    randomised: RandomisedTukeyTest | None = None
    friedman: Friedman | None = None
    conover: PairComparisons | None = None
    identical: tuple[tuple[str, ...], ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def depends_on_pool(self) -> bool:
        return PROCEDURES[self.procedure].is_of_the_pool

    @property
    def deciding(self) -> str:
        found = CORRECTIONS.get(self.family.correction)
        return found.title if found else PROCEDURES[self.procedure].said

    @property
    def tested(self) -> str:
        by = () if self.depends_on_pool else (TESTS[self.family.test].said.removeprefix("the "),)
        return ", ".join((*by, self.deciding, percent_text(self.family.alpha)))

    @property
    def has_conover(self) -> bool:
        """Whether Conover's comparisons may be looked at: only where Friedman's test itself is significant."""
        return self.friedman is not None and self.friedman.p < self.family.alpha

    @property
    def least_p(self) -> float | None:
        """What the least adjusted p that draws can give is below; None where p are exact, or multiplied."""
        if self.randomised is not None:
            return 1 / self.randomised.draws
        is_multiplied = self.depends_on_pool or CORRECTIONS[self.family.correction].multiplies
        return None if is_multiplied else self.family.least_p

    def record(self, a: str, b: str) -> PairRecord:
        family, pair, scores = self.family, self.family.pair(a, b), self.scores
        place, sign = family.where(a, b)

        def at(values: Floats | None) -> float | None:
            return None if values is None else float(values[place])

        means = scores.means.tolist()
        size = low = high = None
        if self.effects is not None:
            size, *limits = (sign * float(each[place]) for each in self.effects)
            low, high = sorted(limits)
        won = PairedScores.of(scores, a, b)
        above, below = won.above, won.nonzero - won.above
        wins, losses = (above, below) if scores.better == "higher" else (below, above)
        conover = self.conover if self.has_conover else None
        return PairRecord(
            a,
            b,
            pair.difference if self.conover is None else means[scores.place(a)] - means[scores.place(b)],
            pair.low,
            pair.high,
            pair.p,
            pair.adjusted,
            at(family.monte_carlo_error),
            None if self.conover is None else pair.difference,
            at(conover.p) if conover else None,
            at(self.conover_holm) if conover else None,
            at(self.tukey.statistic) if self.tukey else None,
            size,
            low,
            high,
            at(self.randomised.error) if self.randomised else None,
            None if family.direction is None else sign * float(family.direction[place]),
            wins,
            won.n - above - below,
            losses,
            pair.verdict,
        )

    @cached_property
    def conover_holm(self) -> Floats | None:
        return None if self.conover is None else corrected(self.conover.p, "holm")

    @cached_property
    def effects(self) -> tuple[Floats, Floats, Floats] | None:
        """For each pair (mean_i - mean_j) / sqrt(V), V the residual mean square of systems and queries (Sakai), and the
        limits of what it estimates, each pair by itself; None where nothing is left over, and of tests that
        do not go by means.

        t = effect sqrt(n / 2) is noncentral on the residual's degrees of freedom, and its limits are those of t divided
        by sqrt(n / 2).
        """
        family, residual = self.family, two_way(self.scores.values).residual
        if not residual.mean_square or family.direction is not None:
            return None
        means, per_query = self.scores.means, math.sqrt(family.n / 2)
        sizes = (means[family.first] - means[family.second]) / math.sqrt(residual.mean_square)
        low, high = noncentrality_intervals(sizes * per_query, residual.df, family.alpha)
        return sizes, low / per_query, high / per_query

    def bars(self, most: int) -> tuple[tuple[int, int], ...]:
        """The longest stretches of the leaderboard without a significant difference, from first to last place."""
        apart = self.apart[:most, :most]
        bars: list[tuple[int, int]] = []
        for first in range(len(apart)):
            last = first
            while last + 1 < len(apart) and not apart[first : last + 1, last + 1].any():
                last += 1
            if last > first and (not bars or last > bars[-1][1]):
                bars.append((first, last))
        return tuple(bars)

    @property
    def is_single_threshold(self) -> bool:
        """Whether one number decides: systems further apart than this differ, so that bars over systems are legal."""
        return self.family.threshold is not None and bool(self.family.rank_intervals)

    @cached_property
    def apart(self) -> Bools:
        """Systems x systems, in the order of the leaderboard: which are significantly different."""
        family = self.family
        relation = np.zeros((len(family.systems), len(family.systems)), bool)
        relation[family.first, family.second] = relation[family.second, family.first] = family.is_significant
        return relation[np.ix_(family.order, family.order)]

    @cached_property
    def letters(self) -> tuple[str, ...]:
        """The letters of each system in the order of the leaderboard: two share one just if they are not significantly
        different. Empty with more than 12 systems, and against a baseline, where most pairs are not looked at."""
        if len(self.family.systems) > MOST_WITH_LETTERS or not self.family.rank_intervals:
            return ()
        return letters(self.apart)


def compare_several(
    matrices: Mapping[str, SystemScores], plan: SystemsPlan, progress: Progress | None = None
) -> dict[str, SystemsResult]:
    """Compares the systems of each measure; families are those of a measure, unless the plan makes all one family:
    matrices then have the same queries and systems.

    >>> from gainful import ScoreMatrix
    >>> matrix = ScoreMatrix.of("RR", {"a": [1, 1, 0.5, 1, 1, 0.5], "b": [0.1] * 6, "c": [0.2] * 6})
    >>> compare_several({"RR": matrix}, SystemsPlan())["RR"].letters
    ('a', 'b', 'c')
    """
    families = families_of(list(matrices.values()), plan, progress)
    found = {}
    for (name, matrix), family in zip(matrices.items(), families, strict=True):
        result = PROCEDURES[plan.procedure].find(matrix, family, plan)
        if plan.margin is not None and result.family.half_width is None:
            raise UsageError(
                f"margin: expected a procedure with simultaneous intervals, found {result.deciding}",
                "these are maxt and tukey; --test randomisation has them with any correction",
            )
        identical = identical_systems(matrix)
        found[name] = replace(result, identical=identical, warnings=tuple(_warnings(result, plan, identical)))
    return found


def identical_systems(matrix: SystemScores) -> tuple[tuple[str, ...], ...]:
    """Systems that score every query alike, in groups of at least two.

    >>> from gainful import ScoreMatrix
    >>> identical_systems(ScoreMatrix.of("RR", {"a": [1, 0.3], "b": [1, 0], "c": [1, 0.1 + 0.2]}))
    (('a', 'c'),)
    """
    groups: dict[bytes, list[str]] = {}
    settled = settle(matrix.values) + 0.0
    for system, column in zip(matrix.systems, settled.T, strict=True):
        groups.setdefault(column.tobytes(), []).append(system)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def by_flips(matrix: SystemScores, family: FamilyResult, plan: SystemsPlan) -> SystemsResult:
    """Pairs by a test, corrected: the family as it is."""
    return SystemsResult(matrix, plan.procedure, family)


def by_tukey(matrix: SystemScores, family: FamilyResult, plan: SystemsPlan) -> SystemsResult:
    """Tukey's p and interval of every pair."""
    test = tukey(matrix.values, alpha=plan.alpha)
    decided = _decided(family, test.p, test.critical, "tukey", np.full(test.p.size, test.critical))
    return SystemsResult(matrix, plan.procedure, decided, anova=test.anova, tukey=test)


def by_randomised_tukey(matrix: SystemScores, family: FamilyResult, plan: SystemsPlan) -> SystemsResult:
    """Randomised Tukey's p of every pair."""
    randomised = randomised_tukey(
        matrix.values, draws=plan.draws or PERMUTATIONS, seed=plan.seed, alpha=plan.alpha, threads=plan.threads
    )
    decided = _decided(family, randomised.p, randomised.critical, "rthsd")
    return SystemsResult(matrix, plan.procedure, decided, randomised=randomised)


def by_ranks(matrix: SystemScores, family: FamilyResult, plan: SystemsPlan) -> SystemsResult:
    """Nemenyi's p of every pair after Friedman's test, Conover's beside."""
    overall = friedman(matrix.values if matrix.better == "higher" else -matrix.values)
    by_range = nemenyi(overall, alpha=plan.alpha)
    ranks = overall.mean_ranks
    decided = replace(
        _decided(family, by_range.p, by_range.critical, "nemenyi"),
        means=ranks,
        better="lower",
        difference=np.asarray(ranks[family.first] - ranks[family.second]),
    )
    conovers = conover(overall, alpha=plan.alpha)
    return SystemsResult(matrix, plan.procedure, decided, friedman=overall, conover=conovers)


def by_anova(matrix: SystemScores, family: FamilyResult, plan: SystemsPlan) -> SystemsResult:
    """The analysis of variance, and pairs by a test, corrected."""
    return SystemsResult(matrix, plan.procedure, family, anova=two_way(matrix.values))


def _decided(
    family: FamilyResult, p: Floats, threshold: float, name: str, half_width: Floats | None = None
) -> FamilyResult:
    """The family with the p of another procedure; pairs are the same, in the same order."""
    return replace(family, adjusted=p, threshold=threshold, correction=name, half_width=half_width, notes=())


def _warnings(result: SystemsResult, plan: SystemsPlan, identical: Sequence[Sequence[str]]) -> list[str]:
    family, n = result.family, result.family.n
    level = percent_text(plan.alpha)
    found = list(family.notes)
    if result.depends_on_pool:
        found.append(
            f"{family.correction}: p depends on the systems compared, and would be another one beside others; "
            "the p of a pair alone stands beside it"
        )
    if result.friedman is not None:
        found.append(
            f"friedman is of this: within a {family.unit} every order of the systems is as likely as any other "
            "(their ranks, not their means)"
        )
        if not result.has_conover:
            found.append(f"Friedman's test is not significant at {level}: Conover's comparisons are not made")
        if n >= FROM_RANKED:
            found.append(rank_warning(units(n, family.unit), "5 systems: 8 to 75 % by Nemenyi's"))
    elif family.draws is not None and 2.0 ** (1 - n) >= plan.alpha and not result.depends_on_pool:
        found.append(
            f"with {units(n, family.unit)} flips of signs cannot reach {level}: no difference can be significant"
        )
    draws = result.randomised.draws if result.randomised else family.draws
    if draws is not None and not (family.is_enumerated and not result.randomised) and 1 / (draws + 1) >= plan.alpha:
        found.append(too_few_draws(draws, plan.alpha))
    if result.anova is not None and result.anova.spread is not None and result.anova.spread.is_uneven:
        spread = result.anova.spread
        found.append(
            f"pairs of systems vary unevenly: standard deviations of differences from {spread.lowest:.4f} to "
            f"{spread.highest:.4f}, pooled {spread.pooled:.4f}; one yardstick for all misjudges some"
        )
    if (
        family.half_width is not None
        and (family.is_significant & (np.abs(family.difference) <= family.half_width)).any()
    ):
        found.append(
            f"{OF_INTERVALS} are of one step, the correction of several: an interval may hold 0 where the pair "
            "is significantly different"
        )
    # From so many systems on Tukey's yardstick, and up to so many queries Holm on t, finds too much (which-test.md).
    systems = len(family.systems)
    if result.tukey is not None or result.randomised is not None:
        name, measured, is_liberal = result.deciding, "10 or 20 real systems", systems >= 10
    else:
        name, measured = f"{result.deciding} on t", "20 real systems and 25 or 50 queries"
        is_of_t = family.test == "t" and family.correction in ("holm", "hochberg", "bonferroni")
        is_liberal = is_of_t and family.baseline is None and systems >= 15 and n <= 50
    if is_liberal:
        found.append(
            f"with {count_of(systems, 'system')} {name} finds more than it should: of samples of {measured}, made "
            "equal, 6 to 12 % had a false finding at the 5 % level; the default, maxt, holds the level"
        )
    found += _against_means(family)
    for group in identical[:_SHOWN]:
        found.append(
            f"{' = '.join(printable(name, 40) for name in group)}: the same score on every {family.unit}; "
            "p = 1, and counted in the family"
        )
    return found


def _against_means(family: FamilyResult) -> list[str]:
    """Pairs of which the rank test finds the one better whose mean is the worse, or no better."""
    places = np.flatnonzero(family.is_against_mean).tolist()
    found = []
    for place in places[:_SHOWN]:
        pair = family.pair(family.systems[family.first[place]], family.systems[family.second[place]])
        ahead, behind = (pair.system, pair.other) if pair.tested == "better" else (pair.other, pair.system)
        better, worse = (printable(name, 40) for name in (ahead, behind))
        mean = f"the mean of {worse} is better" if pair.difference else "their means are equal"
        found.append(f"by the {family.test} test {better} beats {worse}, although {mean}")
    if len(places) > _SHOWN:
        found.append(f"and {count_of(len(places) - _SHOWN, 'pair')} more against their means: places go by the test")
    if family.rank_intervals and not family.may_be_best:
        found.append("the test has systems beat each other in a circle: by ranks there is no best one")
    return found
