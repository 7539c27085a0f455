"""The tables of Järvelin and Kekäläinen (2000, 2002): means of systems, and who beats whom after Friedman's test.

Several systems by a procedure of one's choice, in one form: who is told apart, by which yardstick.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gainful.errors import UsageError
from gainful.evaluation.score_matrix import ScoreMatrix, aligned
from gainful.kernel.arrays import Bools, Floats
from gainful.kernel.parallel import Progress
from gainful.notation import choose, count_of, number_text, printable
from gainful.stats.anova import OneWayAnova, PairSpread, TwoWayAnova, one_way, two_way
from gainful.stats.families import compare_family, compare_measures
from gainful.stats.groups import MOST_WITH_LETTERS, FamilyResult, letters
from gainful.stats.paired import MOST_RANKED
from gainful.stats.rank_tests import Friedman, RankComparisons, conover, friedman, nemenyi, stars_text
from gainful.stats.settled import settle
from gainful.stats.tukey import RandomisedTukeyTest, TukeyTest, randomised_tukey, tukey


@dataclass(frozen=True, eq=False)
class PaperRow:
    """A measure: the systems' means, Friedman's test, who beats whom as text, and both analyses of variance beside."""

    measure: str
    systems: tuple[str, ...]
    queries: int
    means: Floats
    friedman: Friedman
    verdict: str
    one_way: OneWayAnova
    two_way: TwoWayAnova

    @property
    def friedman_p(self) -> float | None:
        """That of Friedman's F; None where there is nothing to test, as of the analyses of variance."""
        return None if self.friedman.f is None else self.friedman.p


def paper_rows(matrices: Mapping[str, ScoreMatrix]) -> tuple[PaperRow, ...]:
    """One row a measure. Comparisons are Conover's without correction, protected by Friedman's test in its F form.

    >>> [row] = paper_rows({"RR": ScoreMatrix.of("RR", {"A": [0.1] * 6, "B": [0.2] * 6, "C": [0.3] * 6})})
    >>> row.verdict
    'B,C > A**; C > B**'
    """
    rows = []
    for measure, matrix in matrices.items():
        overall = friedman(matrix.values if matrix.better == "higher" else -matrix.values)
        rows.append(
            PaperRow(
                measure,
                matrix.systems,
                len(matrix.queries),
                matrix.means,
                overall,
                stars_text(overall, matrix.systems),
                one_way(matrix.values),
                two_way(matrix.values),
            )
        )
    return tuple(rows)


#: Each procedure in words.
PROCEDURES = {
    "maxt": "randomisation tests of pairs, corrected together (or by another correction)",
    "tukey": "Tukey's honestly significant difference on paired scores",
    "rthsd": "randomised Tukey HSD (Carterette 2012)",
    "friedman": "Friedman's test of ranks within queries, then Nemenyi and Conover",
    "anova": "two-way analysis of variance, then pairs as maxt",
}

#: Procedures whose p of a pair changes with the other systems.
OF_THE_POOL = ("tukey", "rthsd", "friedman")

_FLIPS = 10_000
_SHOWN = 5


@dataclass(frozen=True, eq=False)
class SystemsResult:
    """What a procedure found of several systems by one measure.

    ``family`` is what decides: its ``p`` are those of pairs alone (randomisation), its ``adjusted`` those of the
    procedure; of Friedman's, its ``means`` are mean ranks, and Nemenyi decides. ``identical`` are systems with the same
    score on every query. ``warnings`` is what to know before trusting the numbers.
    """

    scores: ScoreMatrix
    procedure: str
    family: FamilyResult
    anova: TwoWayAnova | None = None
    one_way: OneWayAnova | None = None
    tukey: TukeyTest | None = None
    randomised: RandomisedTukeyTest | None = None
    friedman: Friedman | None = None
    conover: RankComparisons | None = None
    identical: tuple[tuple[str, ...], ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def depends_on_pool(self) -> bool:
        """Whether the p of a pair would be another one beside other systems."""
        return self.procedure in OF_THE_POOL

    @property
    def is_single_threshold(self) -> bool:
        """Whether one number decides: systems further apart than this differ, so that bars over systems are legal."""
        return self.family.threshold is not None and self.family.baseline is None

    @cached_property
    def apart(self) -> Bools:
        """Systems x systems, in the order of the leaderboard: which are told apart."""
        family = self.family
        place = {system: i for i, system in enumerate(family.order)}
        relation = np.zeros((len(place), len(place)), bool)
        for i, j in zip(
            family.first[family.is_significant].tolist(), family.second[family.is_significant].tolist(), strict=True
        ):
            relation[place[i], place[j]] = relation[place[j], place[i]] = True
        return relation

    @cached_property
    def letters(self) -> tuple[str, ...]:
        """The letters of each system in the order of the leaderboard: two share one just if they are not told apart.
        Empty with more than 12 systems, and against a baseline, where most pairs are not looked at."""
        if len(self.family.systems) > MOST_WITH_LETTERS or self.family.baseline is not None:
            return ()
        return letters(self.apart).texts


@dataclass(frozen=True)
class SystemsPlan:
    """How several systems are to be compared."""

    procedure: str = "maxt"
    baseline: str | None = None
    test: str | None = None
    correction: str | None = None
    family: str = "each"
    alpha: float = 0.05
    draws: int | None = None
    seed: int = 0
    threads: int | None = None

    def __post_init__(self) -> None:
        choose(self.procedure, PROCEDURES, "procedure")
        choose(self.family, ("each", "all"), "family")
        if self.procedure in OF_THE_POOL:
            for name in ("test", "correction"):
                if getattr(self, name) is not None:
                    raise UsageError(
                        f"{name}: has no meaning with the procedure {self.procedure}, which has its own",
                        "the procedure maxt takes a test and a correction",
                    )
            if self.family == "all":
                raise UsageError(
                    f"family: expected each with the procedure {self.procedure}, found all",
                    "only maxt and the corrections look at pairs of several measures together",
                )

    @property
    def settled_test(self) -> str:
        return self.test or "randomisation"

    @property
    def settled_correction(self) -> str:
        """The correction: that of the flips, or of other tests Holm's; a procedure of the pool has its own."""
        if self.procedure in OF_THE_POOL:
            return "none"
        return self.correction or ("maxt" if self.settled_test == "randomisation" else "holm")


def compare_several(
    matrices: Mapping[str, ScoreMatrix], plan: SystemsPlan, progress: Progress | None = None
) -> dict[str, SystemsResult]:
    """Compares the systems of each measure; families are those of a measure, unless the plan makes all one family.

    >>> matrix = ScoreMatrix.of("RR", {"a": [1, 1, 0.5, 1, 1, 0.5], "b": [0.1] * 6, "c": [0.2] * 6})
    >>> compare_several({"RR": matrix}, SystemsPlan())["RR"].letters
    ('a', 'b', 'c')
    """
    # Against a baseline a procedure of the pool still looks at all pairs: that is what it is.
    baseline = None if plan.procedure in OF_THE_POOL else plan.baseline
    how = {
        "baseline": baseline,
        "test": plan.settled_test,
        "correction": plan.settled_correction,
        "alpha": plan.alpha,
        "draws": plan.draws or _FLIPS,
        "seed": plan.seed,
        "progress": progress,
    }
    if plan.family == "all":
        matrices = dict(zip(matrices, aligned(list(matrices.values())), strict=True))
        families = compare_measures(matrices, family="all", **how)  # type: ignore[arg-type]
    else:
        families = {name: compare_family(matrix, **how) for name, matrix in matrices.items()}  # type: ignore[arg-type]
    found = {}
    for name, family in families.items():
        matrix = matrices[name]
        result = _by_procedure(matrix, family, plan)
        found[name] = replace(
            result, identical=identical_systems(matrix), warnings=tuple(_warnings(result, plan, matrix))
        )
    return found


def identical_systems(matrix: ScoreMatrix) -> tuple[tuple[str, ...], ...]:
    """Systems that score every query alike, in groups of at least two.

    >>> identical_systems(ScoreMatrix.of("RR", {"a": [1, 0.3], "b": [1, 0], "c": [1, 0.1 + 0.2]}))
    (('a', 'c'),)
    """
    groups: dict[bytes, list[str]] = {}
    settled = settle(matrix.values) + 0.0
    for system, column in zip(matrix.systems, settled.T, strict=True):
        groups.setdefault(column.tobytes(), []).append(system)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def _by_procedure(matrix: ScoreMatrix, family: FamilyResult, plan: SystemsPlan) -> SystemsResult:
    if plan.procedure == "tukey":
        test = tukey(matrix.values, alpha=plan.alpha)
        decided = _decided(family, test.p, test.critical, "tukey")
        reach = np.full(test.p.size, test.critical)
        return SystemsResult(matrix, "tukey", replace(decided, half_width=reach), anova=test.anova, tukey=test)
    if plan.procedure == "rthsd":
        randomised = randomised_tukey(
            matrix.values, draws=plan.draws or _FLIPS, seed=plan.seed, alpha=plan.alpha, threads=plan.threads
        )
        decided = _decided(family, randomised.p, randomised.critical, "rthsd")
        return SystemsResult(matrix, "rthsd", replace(decided, half_width=None), randomised=randomised)
    if plan.procedure == "friedman":
        return _by_ranks(matrix, family, plan.alpha)
    if plan.procedure == "anova":
        return SystemsResult(matrix, "anova", family, anova=two_way(matrix.values), one_way=one_way(matrix.values))
    return SystemsResult(matrix, "maxt", family)


def _decided(family: FamilyResult, p: Floats, threshold: float, name: str) -> FamilyResult:
    """The family with the p of another procedure; pairs are the same, in the same order."""
    return replace(family, adjusted=p, threshold=threshold, correction=name, notes=())


def _by_ranks(matrix: ScoreMatrix, family: FamilyResult, alpha: float) -> SystemsResult:
    overall = friedman(matrix.values if matrix.better == "higher" else -matrix.values)
    by_range = nemenyi(overall, alpha=alpha)
    ranks = overall.mean_ranks
    decided = replace(
        _decided(family, by_range.adjusted_p, by_range.critical, "nemenyi"),
        means=ranks,
        better="lower",
        difference=np.asarray(ranks[family.first] - ranks[family.second]),
        half_width=None,
    )
    return SystemsResult(matrix, "friedman", decided, friedman=overall, conover=conover(overall, alpha=alpha))


def _warnings(result: SystemsResult, plan: SystemsPlan, matrix: ScoreMatrix) -> list[str]:
    family, n = result.family, len(matrix.queries)
    level = f"{number_text(round(100 * plan.alpha, 10))} %"
    found = list(family.notes)
    if result.depends_on_pool:
        found.append(
            f"{family.correction}: p depends on the systems compared, and would be another one beside others; "
            "the p of a pair alone stands beside it"
        )
    if result.procedure == "friedman":
        found.append(
            "friedman is of this: within a query every order of the systems is as likely as any other "
            "(their ranks, not their means)"
        )
        if n > MOST_RANKED:
            found.append(
                f"with {n:,} queries a rank test often calls systems different whose means are equal: "
                "it answers another question"
            )
    elif family.test == "randomisation" and 2.0 ** (1 - n) >= plan.alpha and result.procedure in ("maxt", "anova"):
        found.append(f"with {count_of(n, 'query', 'queries')} flips of signs cannot reach {level}: nothing can be told")
    draws = result.randomised.draws if result.randomised else family.draws
    if draws is not None and not (family.is_enumerated and not result.randomised) and 1 / (draws + 1) >= plan.alpha:
        found.append(
            f"{count_of(draws, 'draw')} cannot reach {level}: at least {math.floor(1 / plan.alpha):,} are needed"
        )
    if result.anova is not None and result.anova.spread is not None and result.anova.spread.is_uneven:
        found.append(_uneven(result.anova.spread))
    if (
        family.half_width is not None
        and (family.is_significant & (np.abs(family.difference) <= family.half_width)).any()
    ):
        found.append(
            "simultaneous intervals are of one step, the correction of several: an interval may hold 0 where the pair "
            "is told apart"
        )
    found += _against_means(family)
    for group in identical_systems(matrix)[:_SHOWN]:
        found.append(
            f"{' = '.join(printable(name, 40) for name in group)}: the same score on every query; "
            "p = 1, and counted in the family"
        )
    return found


def _against_means(family: FamilyResult) -> list[str]:
    """Pairs of which the rank test finds the one better whose mean is the worse, or no better."""
    places = np.flatnonzero(family.is_against_mean).tolist()
    found = []
    for place in places[:_SHOWN]:
        pair = family.pair(family.systems[family.first[place]], family.systems[family.second[place]])
        ahead, behind = (pair.a, pair.b) if pair.verdict == "better" else (pair.b, pair.a)
        better, worse = (printable(name, 40) for name in (ahead, behind))
        mean = f"the mean of {worse} is better" if pair.difference else "their means are equal"
        found.append(f"by the {family.test} test {better} beats {worse}, although {mean}")
    if len(places) > _SHOWN:
        found.append(f"and {count_of(len(places) - _SHOWN, 'pair')} more against their means: places go by the test")
    if family.baseline is None and not family.may_be_best:
        found.append("the test has systems beat each other in a circle: by ranks there is no best one")
    return found


def _uneven(spread: PairSpread) -> str:
    return (
        f"pairs of systems vary unevenly: standard deviations of differences from {spread.lowest:.4f} to "
        f"{spread.highest:.4f}, pooled {spread.pooled:.4f}; one yardstick for all misjudges some"
    )


def read_groups(texts: Sequence[str], systems: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Groups of systems from ``NAME=a,b,c`` texts; each system must be there, and in one group only.

    >>> read_groups(["old=a,b", "new=c"], ["a", "b", "c"])
    {'old': ('a', 'b'), 'new': ('c',)}
    """
    found: dict[str, tuple[str, ...]] = {}
    for text in texts:
        name, equals, members = text.partition("=")
        parts = tuple(part.strip() for part in members.split(","))
        if not equals or not name.strip() or not all(parts):
            raise UsageError(f"groups: expected NAME=SYSTEM,SYSTEM,..., found '{printable(text)}'")
        if name.strip() in found:
            raise UsageError(f"groups: expected every name once, found '{printable(name.strip())}' twice")
        found[name.strip()] = parts
    check_groups(found, systems)
    return found


def check_groups(groups: Mapping[str, Sequence[str]], systems: Sequence[str]) -> None:
    """Refuses groups of unknown systems, and systems that are in two of them."""
    from gainful.notation import nearest

    if len(groups) < 2:
        raise UsageError(f"groups: expected at least 2, found {len(groups)}")
    seen: set[str] = set()
    for members in groups.values():
        for member in members:
            if member not in systems:
                raise UsageError(f"groups: unknown system '{printable(member)}'", nearest(member, systems))
            if member in seen:
                raise UsageError(f"groups: expected every system in one group, found '{printable(member)}' in two")
            seen.add(member)
