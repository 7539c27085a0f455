"""Catalogues of statistics: tests and intervals for two systems, corrections, procedures, coefficients.

One object per member; flags, help, checks, sentences and documentation are derived from it. A short formula is defined
next to its member and imports NumPy inside the function; a long one has its own file, which `Late` loads at the first
call. Listing the members therefore never loads NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from importlib import import_module
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypeVar

from gainful.errors import UsageError
from gainful.frozen import dataclass
from gainful.notation import choose
from gainful.stats.findings import Finding, Interval

if TYPE_CHECKING:
    from gainful.kernel.arrays import Floats
    from gainful.stats.paired_tests import PairedScores

Verdict: TypeAlias = Literal[
    "better", "worse", "superior", "inferior", "equivalent",
    "non-inferior", "non-superior", "inconclusive", "margin required",
]  # fmt: skip
#: Above this many queries, use Student's t: it agrees with sign flips, and nearly every difference is significant.
MOST_FLIPPED = 5_000


def bound_text(bound: float) -> str:
    """Format a positive bound with two significant digits, rounded up so that smaller values are also below the text.

    >>> bound_text(1 / 10_000), bound_text(1 / 999), bound_text(1 / 300_000)
    ('0.0001', '0.0011', '0.0000034')
    """
    places = max(1, 1 - math.floor(math.log10(bound)))
    # Rounding first removes the floating-point error of the bound, which must not be rounded up.
    shown = math.ceil(round(bound * 10.0**places, 9)) / float(10**places)
    return f"{shown:.{places}f}".rstrip("0")


#: A smaller p is printed as a bound.
_LEAST_P = 1e-5


def p_figures(p: float) -> str:
    """Format p with four decimals, or with two significant digits if it is small.

    >>> p_figures(0.02109), p_figures(0.00028), p_figures(0.00002), p_figures(1e-9)
    ('0.0211', '0.00028', '0.00002', '< 0.00001')
    """
    if p < _LEAST_P:
        return f"< {bound_text(_LEAST_P)}"
    return f"{p:.4f}" if p >= 0.001 else f"{p:.{1 - math.floor(math.log10(p))}f}".rstrip("0")


#: A correlation coefficient of two score lists for the same systems; None if undefined.
Coefficient: TypeAlias = "Callable[[Floats, Floats], float | None]"


@dataclass(frozen=True)
class Late:
    """A function in a module of this package that is loaded at the first call."""

    module: str
    name: str

    def __call__(self, *args: Any) -> Any:
        return getattr(import_module(f"gainful.stats.{self.module}"), self.name)(*args)


@dataclass(frozen=True, repr=False)
class Member:
    """A member of a catalogue: name, title in lists, and one line on when to use it."""

    name: str
    title: str
    about: str

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"


_Member = TypeVar("_Member", bound=Member)


def _by_name(*members: _Member) -> dict[str, _Member]:
    return {member.name: member for member in members}


@dataclass(frozen=True, repr=False)
class PairedTest(Member):
    """A paired test of two systems' per-query scores.

    Attributes:
        noun: Name in sentences, with its article.
        hypothesis: The null hypothesis.
        of: The quantity tested. If not the mean, the test may favour the system with the worse mean.
        interval: Name of its interval in ``INTERVALS``.
        draws: The kind of resampling behind p; empty if p has a formula. "sample" is too slow for many pairs.
        needs_spread: Whether constant nonzero differences are rejected.
        caution: Returns a warning if the scores violate the test's assumptions, else an empty text.
        statistic: Name of the effect in tables.
        takes_weights: Whether queries may have weights.
    """

    noun: str
    hypothesis: str
    of: Literal["mean", "trimmed mean", "median", "ranks"]
    formula: Callable[[Any], Finding]
    interval: str = "randomisation"
    draws: Literal["", "flip", "sample", "shuffle"] = ""
    needs_spread: bool = False
    caution: Callable[[Any], str] | None = None
    statistic: str = "mean difference"
    takes_weights: bool = False

    @property
    def is_of_ranks(self) -> bool:
        """Whether the test uses ranks or signs of differences instead of their sizes."""
        return self.of in ("median", "ranks")


@dataclass(frozen=True, kw_only=True)
class TestOutcome(Finding):
    """The result of a test, together with the test."""

    __test__ = False  # not a pytest class

    test: PairedTest

    @property
    def name(self) -> str:
        return self.test.name

    @property
    def hypothesis(self) -> str:
        return self.test.hypothesis

    @property
    def least_p(self) -> float:
        """The smallest p possible with this number of resamples or, if all were enumerated, with these scores."""
        if self.draws is None:
            return 0.0
        return 2 / self.draws if self.is_enumerated else (2 if self.test.draws == "shuffle" else 1) / (self.draws + 1)

    @property
    def p_text(self) -> str:
        """p for a sentence.

        >>> [TestOutcome(test=STUDENT, p=p, effect=0.1, draws=100_000).p_text for p in (1 / 100_001, 0.0210988)]
        ['p < 0.00001', 'p = 0.0211']
        """
        return f"p {self.p_cell}" if self.p_cell.startswith("<") else f"p = {self.p_cell}"

    @property
    def p_cell(self) -> str:
        """p for a table: four decimals or two digits; the smallest value that resamples can give is shown as a bound.

        For shuffled labels, p is twice the smaller tail, so its minimum is twice as large.
        """
        least = (2 if self.test.draws == "shuffle" else 1) / (self.draws or math.inf)
        if self.monte_carlo_error is not None and self.p <= least:
            return f"< {bound_text(least)}"
        return p_figures(self.p)


RANDOMISATION = PairedTest(
    "randomisation",
    "randomisation",
    "means, whatever their distribution; p and interval never disagree",
    "the randomisation test",
    "differences are symmetric about 0: each could equally have had the opposite sign",
    "mean",
    Late("paired_tests", "randomisation"),
    draws="flip",
    takes_weights=True,
)
STUDENT = PairedTest(
    "t",
    "Student's t",
    "means, over thousands of queries, or where p must not depend on random numbers",
    "Student's test",
    "the mean difference is 0",
    "mean",
    Late("paired_tests", "student"),
    interval="t",
    needs_spread=True,
    takes_weights=True,
)
WILCOXON = PairedTest(
    "wilcoxon",
    "Wilcoxon's signed ranks",
    "exchangeability of the systems on each query; not means",
    "Wilcoxon's test",
    "differences are symmetric about 0 (their ranks, not their mean)",
    "ranks",
    Late("rank_tests", "wilcoxon"),
    statistic="rank-biserial correlation",
)


def _sign(scores: PairedScores) -> Finding:
    """Exact two-sided sign test; ties are dropped."""
    from scipy.special import bdtr

    above, below = scores.above, scores.nonzero - scores.above
    p = min(1.0, 2 * float(bdtr(min(above, below), scores.nonzero, 0.5))) if scores.nonzero else 1.0
    return Finding(p, (above - below) / max(1, scores.nonzero), float(above))


SIGN = PairedTest(
    "sign",
    "the sign test",
    "the number of queries on which a system is better, not by how much",
    "the sign test",
    "the median difference is 0 (how often, not how much)",
    "median",
    _sign,
    statistic="share won minus lost",
)
BOOTSTRAP = PairedTest(
    "bootstrap",
    "studentised bootstrap",
    "means, if queries are a sample and signs should not be flipped",
    "the bootstrap test",
    "the mean difference is 0",
    "mean",
    Late("paired_tests", "bootstrap"),
    interval="bootstrap-t",
    draws="sample",
    needs_spread=True,
)
YUEN = PairedTest(
    "yuen",
    "Yuen's trimmed means",
    "few queries, some of which fail completely: only the middle 60% of the differences count",
    "Yuen's test",
    "the mean difference without the largest and smallest fifth is 0",
    "trimmed mean",
    Late("paired_tests", "yuen"),
    interval="yuen",
    needs_spread=True,
    caution=Late("paired_tests", "without_middle_spread"),
    statistic="trimmed mean difference",
)
#: All tests for two systems.
TESTS = _by_name(RANDOMISATION, STUDENT, WILCOXON, SIGN, BOOTSTRAP, YUEN)


@dataclass(frozen=True, repr=False)
class UnpairedTest(PairedTest):
    """A test of two systems' scores on different sessions, with its interval; nothing is paired."""

    limits: Callable[[Any, float], Interval] = Late("unpaired", "labels_interval")


LABELS = UnpairedTest(
    "labels",
    "shuffled labels",
    "unpaired sessions: means, whatever their distribution, by Welch's t; within topics that both systems share",
    "the test of shuffled labels",
    "labels are exchangeable: each session could equally have come from the other system",
    "mean",
    Late("unpaired", "labels"),
    draws="shuffle",
)
WELCH = UnpairedTest(
    "welch",
    "Welch's t",
    "unpaired sessions: means of systems with very different variances, or thousands of sessions",
    "Welch's test",
    "the means are equal",
    "mean",
    Late("unpaired", "welch"),
    needs_spread=True,
    limits=Late("unpaired", "welch_interval"),
)
MANN_WHITNEY = UnpairedTest(
    "mann-whitney",
    "Mann and Whitney's U",
    "unpaired sessions: the proportion of pairs of sessions that a system wins, not by how much",
    "the Mann-Whitney test",
    "a session of either system is equally likely to be the better one (ranks, not means)",
    "ranks",
    Late("unpaired", "mann_whitney"),
    statistic="Cliff's delta",
    limits=Late("unpaired", "hodges_lehmann_interval"),
)
#: All tests for two systems on different sessions.
UNPAIRED_TESTS = _by_name(LABELS, WELCH, MANN_WHITNEY)
#: Selected like a test, but gives probabilities instead of p.
BAYES = Member("bayes", "Bayesian (with --margin)", "probabilities that a system is worse, equivalent or better; no p")
#: Choices for ``--test``.
ASKED_AS_TESTS: dict[str, Member] = {**TESTS, **UNPAIRED_TESTS, BAYES.name: BAYES}


@dataclass(frozen=True, repr=False)
class IntervalKind(Member):
    """A confidence interval for the difference between two systems, and its formula."""

    formula: Callable[[Any, float], Interval]
    takes_weights: bool = False


RANDOMISATION_INTERVAL = IntervalKind(
    "randomisation",
    "inverted randomisation",
    "the randomisation test: contains every shift that it does not reject",
    Late("paired_tests", "randomisation_interval"),
    takes_weights=True,
)
STUDENT_INTERVAL = IntervalKind(
    "t",
    "Student's t",
    "the t test; keeps its coverage even on skewed scores",
    Late("paired_tests", "student_interval"),
    takes_weights=True,
)
#: All intervals for the difference between two systems: the choices for ``--interval``.
INTERVALS = _by_name(
    RANDOMISATION_INTERVAL,
    STUDENT_INTERVAL,
    IntervalKind(
        "percentile",
        "percentile",
        "comparison with published numbers; coverage too low below 50 queries",
        Late("paired_tests", "percentile_interval"),
    ),
    IntervalKind(
        "bca",
        "BCa",
        "the same, corrected for bias and skewness; coverage also too low below 50 queries",
        Late("paired_tests", "bca_interval"),
    ),
    IntervalKind("bootstrap-t", "bootstrap-t", "the bootstrap test", Late("paired_tests", "bootstrap_t_interval")),
    IntervalKind(
        "yuen", "trimmed mean", "Yuen's test: the trimmed mean, not the mean", Late("paired_tests", "yuen_interval")
    ),
)


@dataclass(frozen=True, repr=False)
class Correction(Member):
    """A correction of p for multiple comparisons."""

    promise: str  # the error rate that corrected p control
    #: Corrects the ascending p of a family; None if the correction uses the sign flips themselves.
    steps: Callable[[Sequence[float]], Sequence[float]] | None
    #: Whether the probability of any false finding is bounded, so that all findings hold jointly.
    is_simultaneous: bool = True
    #: Whether the smallest p is multiplied by the size of the family, which then needs many resamples.
    multiplies: bool = False


def _holm(p: Sequence[float]) -> list[float]:
    """max over j <= i of (m - j + 1) p_(j) (Holm 1979)."""
    return list(accumulate(((len(p) - i) * each for i, each in enumerate(p)), max))


def _hochberg(p: Sequence[float]) -> list[float]:
    """min over j >= i of (m - j + 1) p_(j) (Hochberg 1988)."""
    return list(accumulate(((i + 1) * each for i, each in enumerate(reversed(p))), min))[::-1]


def _benjamini_hochberg(p: Sequence[float], share: float = 1.0) -> list[float]:
    """min over j >= i of m p_(j) / j (Benjamini & Hochberg 1995)."""
    stepped = [share * len(p) * each / i for i, each in enumerate(p, 1)]
    return list(accumulate(reversed(stepped), min))[::-1]


def _benjamini_yekutieli(p: Sequence[float]) -> list[float]:
    """As Benjamini and Hochberg's, times 1 + 1/2 + ... + 1/m (Benjamini & Yekutieli 2001)."""
    return _benjamini_hochberg(p, math.fsum(1 / i for i in range(1, len(p) + 1)))


_ANY_FALSE = "the probability of any false finding in the family is at most alpha"
#: All corrections: the choices for ``--correction``.
CORRECTIONS = _by_name(
    Correction(
        "maxt",
        "step-down maxT",
        "random sign flips: one threshold for all pairs, not limited by the number of flips",
        "",
        None,
    ),
    Correction("holm", "Holm", "any test, whatever the dependence", _ANY_FALSE, _holm, multiplies=True),
    Correction(
        "hochberg",
        "Hochberg",
        "a few independent or positively dependent tests, as against one baseline: never finds less than Holm",
        f"{_ANY_FALSE}, if tests are independent or positively dependent",
        _hochberg,
        multiplies=True,
    ),
    Correction(
        "bh",
        "Benjamini-Hochberg",
        "exploration: a share of the findings may be false",
        "the expected share of false findings is at most alpha; the probability of any false finding is not bounded",
        _benjamini_hochberg,
        is_simultaneous=False,
    ),
    Correction(
        "by",
        "Benjamini-Yekutieli",
        "exploration, whatever the dependence",
        "the expected share of false findings is at most alpha, whatever the dependence",
        _benjamini_yekutieli,
        is_simultaneous=False,
    ),
    Correction(
        "bonferroni",
        "Bonferroni",
        "comparison with published numbers: Holm finds more",
        _ANY_FALSE,
        lambda p: [len(p) * each for each in p],
        multiplies=True,
    ),
    Correction(
        "none",
        "no correction",
        "a single pair chosen before looking at the data",
        "p (unadjusted): the more tests, the more false findings",
        lambda p: p,
        is_simultaneous=False,
    ),
)


@dataclass(frozen=True, repr=False)
class Procedure(Member):
    """A way to compare several systems, and the function that does it."""

    find: Callable[..., Any]
    deciding: str = ""  # name of the deciding test, if the p of a pair depends on the other systems

    @property
    def is_of_the_pool(self) -> bool:
        return bool(self.deciding)


#: With more systems than this, letters are harder to read than the pairs they summarise.
MOST_WITH_LETTERS = 12
#: All procedures: the choices for ``--procedure``.
PROCEDURES = _by_name(
    Procedure(
        "maxt", "step-down maxT", "pairs, each with a test, corrected for their number", Late("families", "by_flips")
    ),
    Procedure(
        "tukey",
        "Tukey HSD",
        "all pairs with one threshold, if their variances are similar",
        Late("families", "by_tukey"),
        "Tukey HSD",
    ),
    Procedure(
        "rthsd",
        "randomised Tukey HSD",
        "comparison with papers that use it (Carterette 2012)",
        Late("families", "by_randomised_tukey"),
        "randomised Tukey HSD",
    ),
    Procedure(
        "friedman",
        "Friedman with Nemenyi and Conover",
        "ranks within queries, not means",
        Late("families", "by_ranks"),
        "Nemenyi",
    ),
    Procedure(
        "anova",
        "two-way ANOVA",
        "testing whether systems differ at all, then pairs as with maxt",
        Late("families", "by_anova"),
    ),
)


class OrderCoefficient(NamedTuple):
    """A rank correlation coefficient: title, formula, and whether exchanging the two orders changes it."""

    title: str
    formula: Coefficient
    is_symmetric: bool = True
    #: Whether its bootstrap interval has 95% coverage; top-weighted coefficients fall too short of it.
    has_interval: bool = True


#: All coefficients by name: the choices for ``--coefficient``, with a hyphen for an underscore.
COEFFICIENTS = {
    "tau_b": OrderCoefficient("tau-b", Late("agreement", "kendall_tau_b")),
    "tau_a": OrderCoefficient("tau-a", Late("agreement", "kendall_tau_a")),
    "tau_ap": OrderCoefficient("tau_AP", Late("agreement", "tau_ap"), is_symmetric=False, has_interval=False),
    "tau_ap_b": OrderCoefficient("tau_AP,b", Late("agreement", "tau_ap_b"), has_interval=False),
    "rbo": OrderCoefficient("RBO", Late("agreement", "rbo"), has_interval=False),
    "pearson": OrderCoefficient("Pearson", Late("agreement", "pearson")),
}
#: Symmetric coefficients, which also allow ties.
SYMMETRIC = {name: each for name, each in COEFFICIENTS.items() if each.is_symmetric}
#: How the queries of a subset are chosen: at random, or the first ones in order.
TOPICS = ("random", "first")
#: Tests for discriminative power: paired t, randomised Tukey HSD.
DISCRIMINATING = ("t", "rthsd")
#: Sources of the variance of a difference.
VARIANCES = {
    "pair": "of the differences between these two systems",
    "residual": "twice the residual mean square of systems and queries: the average over pairs of these systems",
    "sakai2016": "twice the mean square within systems, for designs without known pairs (Sakai 2016): larger, "
    "because the difficulty of queries counts as noise",
}


def corrected(p: Floats, correction: str) -> Floats:
    """Correct p for all tests of a family, with any correction that works on p alone.

    >>> import numpy as np
    >>> p = np.array([0.01, 0.04, 0.03])
    >>> corrected(p, "holm").tolist(), corrected(p, "hochberg").tolist()
    ([0.03, 0.06, 0.06], [0.03, 0.04, 0.04])
    """
    import numpy as np

    steps = CORRECTIONS[
        choose(correction, (each.name for each in CORRECTIONS.values() if each.steps), "correction")
    ].steps
    if np.isnan(p).any() or (p <= 0).any() or (p > 1).any():
        raise UsageError("p: values must be above 0 and at most 1")
    order = np.argsort(p, kind="stable")
    found = np.empty(p.size)
    if steps and p.size:
        found[order] = np.minimum(1.0, steps(p[order].tolist()))
    return found
