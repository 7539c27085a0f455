"""What statistics there are, by name: tests and intervals of two systems, corrections, procedures, coefficients.

One object a member, from which flags, help, checks, sentences and docs follow. Formulas are loaded when they are first
used, and NumPy with them: what only lists the members does not pay for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    from gainful.kernel.arrays import Floats
    from gainful.stats.families import SystemScores
    from gainful.stats.family_results import FamilyResult
    from gainful.stats.paired_tests import Finding, Interval, PairedScores
    from gainful.stats.procedures import SystemsPlan, SystemsResult

#: A coefficient of two scorings of the same systems; None where it is undefined.
Coefficient: TypeAlias = "Callable[[Floats, Floats], float | None]"


@dataclass(frozen=True)
class Late:
    """A function of a module of this room, which is loaded when it is first called."""

    module: str
    name: str

    @cached_property
    def function(self) -> Callable[..., Any]:
        """The function itself."""
        found: Callable[..., Any] = getattr(import_module(f"gainful.stats.{self.module}"), self.name)
        return found

    def __call__(self, *args: Any) -> Any:
        return self.function(*args)


class _Named(Protocol):
    @property
    def name(self) -> str: ...


_Member = TypeVar("_Member", bound=_Named)


def _by_name(*members: _Member) -> dict[str, _Member]:
    return {member.name: member for member in members}


def _no_caution(scores: PairedScores) -> str:
    return ""


@dataclass(frozen=True, repr=False)
class PairedTest:
    """A test of two systems' scores on the same queries.

    ``title`` stands in lists, ``about`` says in a line when to take it, ``said`` is it in a sentence, ``hypothesis``
    what it holds true until the scores say otherwise. ``of`` is what it goes by; but for the mean, that may be on the
    side of the system whose mean is the worse one, and ``statistic`` names it. ``interval`` is its own one; where there
    is none, that of the default test. ``draws`` names what p is counted from; ``needs_spread``: it divides by the
    spread of differences, and so refuses those that are all equal, but for 0; ``caution`` says where else the scores
    give the test no ground; ``takes_weights``: queries may count more and less.
    """

    name: str
    title: str
    about: str
    said: str
    hypothesis: str
    formula: Callable[[Any], Finding]
    of: Literal["mean", "trimmed mean", "median", "ranks"] = "mean"
    interval: str = "randomisation"
    draws: Literal["", "flip", "sample", "shuffle"] = ""
    needs_spread: bool = False
    caution: Callable[[Any], str] = _no_caution
    statistic: str = "mean difference"
    takes_weights: bool = False

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    @property
    def is_of_ranks(self) -> bool:
        """Whether it goes by the order of differences, not by how large they are."""
        return self.of in ("median", "ranks")

    @property
    def is_for_families(self) -> bool:
        """Whether it can be made of every pair of many systems; drawing samples for each takes too long."""
        return self.draws != "sample"

    @property
    def is_two_tailed(self) -> bool:
        """Whether p is twice that of the smaller tail, so that draws cannot give less than two of them."""
        return self.draws == "shuffle"


RANDOMISATION = PairedTest(
    "randomisation",
    "randomisation",
    "means, whatever their distribution; p and interval never disagree",
    "the randomisation test",
    "differences are symmetric about 0: each might as well have had the other sign",
    Late("resampling", "randomisation"),
    draws="flip",
    takes_weights=True,
)
STUDENT = PairedTest(
    "t",
    "Student's t",
    "means, over thousands of queries, or where p has to be free of draws",
    "Student's test",
    "the mean difference is 0",
    Late("paired_tests", "student"),
    interval="t",
    needs_spread=True,
    takes_weights=True,
)
WILCOXON = PairedTest(
    "wilcoxon",
    "Wilcoxon's signed ranks",
    "systems that are exchangeable query by query; not their means",
    "Wilcoxon's test",
    "differences are symmetric about 0 (their ranks, not their mean)",
    Late("rank_tests", "wilcoxon_finding"),
    of="ranks",
    statistic="rank-biserial correlation",
)
SIGN = PairedTest(
    "sign",
    "the sign test",
    "on how many queries a system is better, not by how much",
    "the sign test",
    "the median difference is 0 (how often, not how much)",
    Late("rank_tests", "sign_finding"),
    of="median",
    statistic="share won minus lost",
)
BOOTSTRAP = PairedTest(
    "bootstrap",
    "studentised bootstrap",
    "means, where queries are a sample and signs are not to be flipped",
    "the bootstrap test",
    "the mean difference is 0",
    Late("resampling", "bootstrap"),
    interval="bootstrap-t",
    draws="sample",
    needs_spread=True,
)
YUEN = PairedTest(
    "yuen",
    "Yuen's trimmed means",
    "few queries of which some fail altogether: the middle 60 % of the differences decide",
    "Yuen's test",
    "the mean of the differences without the largest and the smallest fifth of them is 0",
    Late("paired_tests", "yuen"),
    of="trimmed mean",
    interval="yuen",
    needs_spread=True,
    caution=Late("paired_tests", "without_middle_spread"),
    statistic="trimmed mean difference",
)

#: All tests of two systems.
TESTS = _by_name(RANDOMISATION, STUDENT, WILCOXON, SIGN, BOOTSTRAP, YUEN)


class UnpairedTest(PairedTest):
    """A test of two systems' scores on sessions of their own, of which nothing is paired."""


LABELS = UnpairedTest(
    "labels",
    "shuffled labels",
    "unpaired sessions: means, whatever their distribution; within topics where both systems have them",
    "the test of shuffled labels",
    "which system a session is of makes no difference: each might as well have been the other's",
    Late("unpaired", "labels"),
    interval="labels",
    draws="shuffle",
)
WELCH = UnpairedTest(
    "welch",
    "Welch's t",
    "unpaired sessions: means of systems that vary unequally, or thousands of sessions",
    "Welch's test",
    "the means are equal",
    Late("unpaired", "welch"),
    interval="welch",
    needs_spread=True,
)
MANN_WHITNEY = UnpairedTest(
    "mann-whitney",
    "Mann and Whitney's U",
    "unpaired sessions: how often a session of one system is better, not by how much",
    "the Mann-Whitney test",
    "a session of either system is as likely to be the better one (their ranks, not their means)",
    Late("unpaired", "mann_whitney_finding"),
    of="ranks",
    interval="hodges-lehmann",
    statistic="Cliff's delta",
)

#: All tests of two systems that have sessions of their own.
UNPAIRED_TESTS = _by_name(LABELS, WELCH, MANN_WHITNEY)


@dataclass(frozen=True)
class Belief:
    """What is asked for like a test but is none: it gives probabilities in place of p."""

    name: str
    title: str
    about: str


BAYES = Belief(
    "bayes",
    "Bayesian (with --margin)",
    "how probable it is that a system is worse, equivalent or better; no p",
)

#: What ``--test`` offers.
ASKED_AS_TESTS: dict[str, PairedTest | Belief] = {**TESTS, **UNPAIRED_TESTS, BAYES.name: BAYES}


@dataclass(frozen=True)
class IntervalKind:
    """An interval of the difference of two systems: its name, when to take it, its formula, and what it is of."""

    name: str
    title: str
    about: str
    formula: Callable[[Any, float], Interval]
    of: Literal["mean", "trimmed mean", "median"] = "mean"
    takes_weights: bool = False


RANDOMISATION_INTERVAL = IntervalKind(
    "randomisation",
    "inverted randomisation",
    "the shifts that the randomisation test does not reject",
    Late("resampling", "randomisation_interval"),
    takes_weights=True,
)
STUDENT_INTERVAL = IntervalKind(
    "t",
    "Student's t",
    "that of the t test; holds what it promises even on skewed scores",
    Late("paired_tests", "student_interval"),
    takes_weights=True,
)
PERCENTILE = IntervalKind(
    "percentile",
    "percentile",
    "for comparison with others' numbers: misses too often below 50 queries",
    Late("resampling", "percentile_interval"),
)
BCA = IntervalKind(
    "bca",
    "BCa",
    "percentiles corrected for bias and skewness: misses too often below 50 queries, too",
    Late("resampling", "bca_interval"),
)
STUDENTISED = IntervalKind(
    "bootstrap-t", "bootstrap-t", "that of the bootstrap test", Late("resampling", "studentised_interval")
)
YUEN_INTERVAL = IntervalKind(
    "yuen",
    "trimmed mean",
    "that of Yuen's test: of the trimmed mean, not of the mean",
    Late("paired_tests", "yuen_interval"),
    of="trimmed mean",
)

#: All intervals of the difference of two systems: what ``--interval`` offers.
INTERVALS = _by_name(RANDOMISATION_INTERVAL, STUDENT_INTERVAL, PERCENTILE, BCA, STUDENTISED, YUEN_INTERVAL)

#: The intervals of two systems that have sessions of their own: each is that of its test.
UNPAIRED_INTERVALS = _by_name(
    IntervalKind(
        "labels", "inverted labels", "the shifts that the test does not reject", Late("unpaired", "labels_interval")
    ),
    IntervalKind("welch", "Welch's t", "that of Welch's test", Late("unpaired", "welch_interval")),
    IntervalKind(
        "hodges-lehmann",
        "Hodges-Lehmann",
        "that of the Mann-Whitney test: of the median of all differences of two sessions",
        Late("unpaired", "hodges_lehmann_interval"),
        of="median",
    ),
)


def interval_of(method: str) -> str:
    """What an interval is of, by its name.

    >>> interval_of("t"), interval_of("hodges-lehmann")
    ('mean', 'median')
    """
    return (INTERVALS.get(method) or UNPAIRED_INTERVALS[method]).of


@dataclass(frozen=True)
class Correction:
    """A correction of p for the number of comparisons: its name, title, when to take it, what corrected p promise.

    ``steps`` makes the p of a family, ascending, into corrected ones; None where the correction is made of the flips
    themselves. ``is_simultaneous``: it bounds the chance of any false finding, so that all findings hold together.
    ``multiplies``: the smallest p by as much as the family is large, so that draws have to be many.
    """

    name: str
    title: str
    about: str
    promise: str
    steps: Callable[[Floats], Floats] | None
    is_simultaneous: bool = True
    multiplies: bool = False


_ANY_FALSE = "the chance of any false finding in the family is at most alpha"

#: All corrections: what ``--correction`` offers.
CORRECTIONS = _by_name(
    Correction(
        "maxt",
        "step-down maxT",
        "flips of signs: one threshold for all pairs, no limit by the number of draws",
        "",
        None,
    ),
    Correction(
        "holm",
        "Holm",
        "any test, whatever the dependence",
        _ANY_FALSE,
        Late("corrections", "holm"),
        multiplies=True,
    ),
    Correction(
        "hochberg",
        "Hochberg",
        "a few tests that are independent or hang together positively, as of one baseline: never finds less than Holm",
        f"{_ANY_FALSE}, if tests are independent or positively dependent",
        Late("corrections", "hochberg"),
        multiplies=True,
    ),
    Correction(
        "bh",
        "Benjamini-Hochberg",
        "to explore: a share of the findings may be false",
        "of the findings a share of at most alpha is expected to be false; not the chance of any",
        Late("corrections", "benjamini_hochberg"),
        is_simultaneous=False,
    ),
    Correction(
        "by",
        "Benjamini-Yekutieli",
        "to explore, whatever the dependence",
        "of the findings a share of at most alpha is expected to be false, whatever the dependence",
        Late("corrections", "benjamini_yekutieli"),
        is_simultaneous=False,
    ),
    Correction(
        "bonferroni",
        "Bonferroni",
        "for comparison with others' numbers: Holm finds more",
        _ANY_FALSE,
        Late("corrections", "bonferroni"),
        multiplies=True,
    ),
    Correction(
        "none",
        "no correction",
        "a single pair that was named before looking",
        "each p stands for itself: the more tests, the more false findings",
        Late("corrections", "uncorrected"),
        is_simultaneous=False,
    ),
)


@dataclass(frozen=True)
class Procedure:
    """A way to compare several systems: its name, what it is called in lists, when to take it, and what it finds.

    ``said`` is what decides, in words, where that is no correction. ``is_of_the_pool``: the p of a pair changes with
    the other systems.
    """

    name: str
    title: str
    about: str
    find: Callable[[SystemScores, FamilyResult, SystemsPlan], SystemsResult]
    said: str = ""
    is_of_the_pool: bool = False


#: All procedures: what ``--procedure`` offers.
PROCEDURES = _by_name(
    Procedure(
        "maxt",
        "step-down maxT",
        "pairs, each by a test, corrected for their number",
        Late("procedures", "by_flips"),
    ),
    Procedure(
        "tukey",
        "Tukey HSD",
        "one yardstick for all pairs, where they vary alike",
        Late("procedures", "by_tukey"),
        "Tukey HSD",
        is_of_the_pool=True,
    ),
    Procedure(
        "rthsd",
        "randomised Tukey HSD",
        "to compare with papers that have it (Carterette 2012)",
        Late("procedures", "by_randomised_tukey"),
        "randomised Tukey HSD",
        is_of_the_pool=True,
    ),
    Procedure(
        "friedman",
        "Friedman with Nemenyi and Conover",
        "ranks within queries, not means",
        Late("procedures", "by_ranks"),
        "Nemenyi",
        is_of_the_pool=True,
    ),
    Procedure(
        "anova",
        "two-way ANOVA",
        "whether systems differ at all, then pairs as with maxt",
        Late("procedures", "by_anova"),
    ),
)


class OrderCoefficient(NamedTuple):
    """A coefficient of two orders: what people call it, its formula, and whether it is the same both ways.

    ``has_interval``: one from resampled queries holds 95 %; those that weigh the top are too far off for that.
    """

    title: str
    formula: Coefficient
    is_symmetric: bool = True
    has_interval: bool = True


#: All coefficients by name: what ``--coefficient`` offers, with a hyphen for an underscore.
COEFFICIENTS = {
    "tau_b": OrderCoefficient("tau-b", Late("agreement", "kendall_tau_b")),
    "tau_a": OrderCoefficient("tau-a", Late("agreement", "kendall_tau_a")),
    "tau_ap": OrderCoefficient("tau_AP", Late("agreement", "tau_ap"), is_symmetric=False, has_interval=False),
    "tau_ap_b": OrderCoefficient("tau_AP,b", Late("agreement", "tau_ap_b"), has_interval=False),
    "rbo": OrderCoefficient("RBO", Late("agreement", "rbo"), has_interval=False),
    "pearson": OrderCoefficient("Pearson", Late("agreement", "pearson")),
}
#: Those that are the same both ways; they allow ties, too.
SYMMETRIC = {name: each for name, each in COEFFICIENTS.items() if each.is_symmetric}

#: How the queries of a subset are chosen: at random, or the first ones in order.
TOPICS = ("random", "first")

#: The tests that discriminative power can be by: paired t, randomised Tukey HSD.
DISCRIMINATING = ("t", "rthsd")

#: Where the variance of a difference comes from, and what it is.
VARIANCES = {
    "pair": "of the differences of these two systems",
    "residual": "twice the residual mean square of systems and queries: the average over pairs of these systems",
    "sakai2016": "twice the mean square within systems, for designs without known pairs (Sakai 2016): the difficulty "
    "of queries counts as noise, so that it is larger",
}
