"""Options of the tasks that start from scores: comparison, power, agreement and stability.

Does not import NumPy, so that help and usage errors appear before anything is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gainful.errors import UsageError
from gainful.frozen import KW_ONLY, dataclass
from gainful.notation import NUMBER, read_number, read_numbers, read_pair
from gainful.policy import policy_field
from gainful.question import number, setting
from gainful.stats.catalogues import (
    ASKED_AS_TESTS,
    COEFFICIENTS,
    CORRECTIONS,
    DISCRIMINATING,
    INTERVALS,
    PROCEDURES,
    SYMMETRIC,
    TOPICS,
    VARIANCES,
)

if TYPE_CHECKING:
    from gainful.data.exclusion import ExclusionLike
    from gainful.data.items import ItemsLike
    from gainful.data.qrels import QrelsLike
    from gainful.data.queries import QueriesLike
    from gainful.data.run import RunLike
    from gainful.evaluation.evaluate import MeasuresLike
    from gainful.evaluation.score_matrix import ScoreMatrix
    from gainful.evaluation.scores import ScoresLike
    from gainful.policy import PolicyLike


def _read_wholes(text: str, option: str) -> list[int]:
    numbers = read_numbers(text, option)
    if any(each != int(each) for each in numbers):
        raise UsageError(f"{option}: expected whole numbers, found '{text}'")
    return [int(each) for each in numbers]


def _read_variance(text: str, option: str) -> str | float:
    if text in VARIANCES:
        return text
    if not NUMBER.fullmatch(text.strip()):
        raise UsageError(f"{option}: expected {' | '.join(VARIANCES)} or a number, found '{text}'")
    return read_number(text, option)


@dataclass(frozen=True)
class PowerOptions:
    """Options of :func:`gainful.assess_power`."""

    scores: ScoresLike | None = None
    _: KW_ONLY
    pair: tuple[str, str] | None = setting(
        None, "Plan for this pair of systems.", metavar="SYSTEM,SYSTEM", read=read_pair, shown="the only two systems"
    )
    queries: Sequence[int] = setting(
        (), "Differences that N queries can detect.", metavar="N,...", read=_read_wholes, shown="queries in the scores"
    )
    difference: Sequence[float] = setting((), "Queries needed for a difference D.", metavar="D,...", read=read_numbers)
    width: Sequence[float] = setting(
        (), "Queries needed for a confidence interval of width W.", metavar="W,...", read=read_numbers
    )
    systems: int | None = setting(
        None, "Number of systems for ANOVA and Tukey HSD.", kind="whole", least=2, shown="systems in the scores"
    )
    power: float = number(0.8, "Target power.", "P")
    alpha: float = number(0.05, "Significance level.", "A")
    variance: str | float | None = setting(
        None,
        "Variance of per-query differences; pair: of the two systems, residual: two-way over all systems, sakai2016: "
        "one-way (larger, because it includes the difficulty of queries), or a number.",
        metavar="KIND|V",
        read=_read_variance,
        shown="pair for two systems, else residual",
    )
    sd: float | None = number(None, "Without scores: SD of per-query differences.", "S")


@dataclass(frozen=True)
class AgreeOptions:
    """Options of :func:`gainful.assess_agreement`."""

    scores: ScoresLike
    _: KW_ONLY
    coefficient: Sequence[str] = setting(
        ("tau_b",),
        "Coefficient for the matrix and heat map; the first is also used in sentences (repeatable).",
        choices=COEFFICIENTS,
        repeatable=True,
        shown="tau-b",
    )
    scatter: Sequence[tuple[str, str]] = setting(
        (),
        "Plot the means of two measures against each other (repeatable).",
        metavar="MEASURE MEASURE",
        values=2,
        repeatable=True,
        shown="the two that agree least",
    )
    persistence: float = number(0.9, "RBO persistence, above 0 (top rank only) and below 1.", "P")
    draws: int = setting(1000, "Resamples for the intervals; 0 for none.", kind="whole", least=0)
    seed: int = setting(0, "Random seed.", kind="whole", least=0)


@dataclass(frozen=True)
class StabilityOptions:
    """Options of :func:`gainful.assess_stability`."""

    scores: ScoresLike
    _: KW_ONLY
    topics: str = setting(
        "random",
        "How subsets of queries are chosen; first is one subset, by number if all IDs are numbers, else in byte order.",
        choices=TOPICS,
    )
    shares: Sequence[float] = setting((0.5, 0.2), "Sizes of subsets.", metavar="S,...", read=read_numbers)
    draws: int = setting(1000, "Random subsets of queries.", kind="whole", least=1)
    documents: bool = setting(False, "Also use samples of the judged documents; needs QRELS and RUNS.")
    document_draws: int | None = setting(
        None, "Random samples of the judgments; runs are rescored for each.", kind="whole", least=1, shown="20"
    )
    coefficient: str = setting("tau_b", "Coefficient for comparing orders.", choices=SYMMETRIC)
    set_size: int | None = setting(None, "Queries per set for swap rates.", kind="whole", least=1, shown="half of all")
    fuzziness: float = number(0.05, "Means are tied below this share of the higher one.", "F")
    swaps: float = number(0.05, "Report the difference with at most this swap rate.", "RATE")
    test: str = setting("t", "Test for discriminative power: paired t or randomised Tukey HSD.", choices=DISCRIMINATING)
    alpha: float = number(0.05, "Significance level for discriminative power.", "A")
    seed: int = setting(0, "Random seed.", kind="whole", least=0)
    threads: int | None = None


def _titles(catalogue: Mapping[str, Any]) -> str:
    *first, last = (member.title for member in catalogue.values())
    return f"{', '.join(first)}, or {last}"


#: The number of pairs printed by default.
FEW_PAIRS = 15


@dataclass(frozen=True, kw_only=True)
class _Level:
    alpha: float = number(0.05, "Significance level.", "P")


@dataclass(frozen=True, kw_only=True)
class _Drawn(_Level):
    draws: int | None = setting(
        None,
        "Number of sign flips, resamples or permutations.",
        kind="whole",
        least=1,
        shown="100,000 sign flips; 10,000 resamples or permutations",
    )
    seed: int = setting(0, "Random seed.", kind="whole", least=0, shown="0")


@dataclass(frozen=True, kw_only=True)
class _Baseline:
    baseline: str | None = setting(None, "System to compare with.", metavar="SYSTEM", shown="the first of two")


@dataclass(frozen=True, kw_only=True)
class _AllPairs:
    all_pairs: bool = setting(False, "Several systems: print every pair.", flag="--all")


@dataclass(frozen=True, kw_only=True)
class _Pairs(_AllPairs, _Level, _Baseline):
    pairs: Sequence[tuple[str, str]] = setting(
        (), "Several systems: print this pair (repeatable).", metavar="A,B", read=read_pair, repeatable=True
    )

    def __post_init__(self) -> None:
        if len(self.pairs) == 2 and all(isinstance(each, str) for each in self.pairs):  # one pair
            object.__setattr__(self, "pairs", (tuple(self.pairs),))

    @property
    def most_shown(self) -> int | None:
        """The number of pairs to print; None for all."""
        return None if self.all_pairs or self.pairs else FEW_PAIRS


@dataclass(frozen=True, kw_only=True)
class _Margin:
    margin: float | None = number(None, "Smallest difference that matters; adds verdicts such as equivalent.", "D")


@dataclass(frozen=True, kw_only=True)
class _Test:
    test: str | None = setting(
        None,
        f"Test for a pair: {_titles(ASKED_AS_TESTS)}.",
        choices=ASKED_AS_TESTS,
        shown="randomisation; t for two systems on more than 5,000 queries",
    )


@dataclass(frozen=True, kw_only=True)
class _QueryGroups:
    by: str | None = setting(None, "Also compare by group: a column of --queries.", metavar="COLUMN")


@dataclass(frozen=True)
class PairOptions(_QueryGroups, _AllPairs, _Drawn, _Margin, _Test, _Baseline):
    """Options of :func:`gainful.compare_two`."""

    scores: ScoresLike
    _: KW_ONLY
    interval: str | None = setting(
        None, f"Confidence interval of two systems: {_titles(INTERVALS)}.", choices=INTERVALS, shown="that of the test"
    )
    most: int | None = setting(None, "Two systems: queries listed for each.", kind="whole", least=1, shown="5")
    bounds: bool = setting(False, "Two systems: add whether unjudged documents could reverse the order.")
    loss: bool = setting(False, "Two systems: split the difference into finding and ordering relevant documents.")
    judged_again: Sequence[QrelsLike] = setting(
        (),
        "Two systems: same judge, judged again (repeatable); how much its noise decides.",
        kind="file",
        repeatable=True,
    )


@dataclass(frozen=True)
class JudgeNextOptions:
    """Options of :func:`gainful.judge_next`."""

    scores: ScoresLike
    _: KW_ONLY
    number: int = setting(50, "Documents to propose.", kind="whole", least=1, flag="-n --number")
    between: tuple[str, str] | None = setting(
        None, "Two systems whose difference counts.", metavar="A,B", read=read_pair, shown="all pairs"
    )
    prior: Any = setting(
        None,
        "Table of the probabilities of grades: query, document, p0, p1, ...",
        kind="file",
        shown="lowest or highest",
    )
    threads: int | None = None


@dataclass(frozen=True)
class UnpairedOptions(_Pairs, _Drawn, _Margin, _Test, _Baseline):
    """Options of :func:`gainful.compare_unpaired`."""

    scores: ScoresLike
    _: KW_ONLY
    procedure: str | None = setting(
        None, f"Procedure for several systems: {_titles(PROCEDURES)}.", choices=PROCEDURES, shown="maxt"
    )
    correction: str | None = setting(
        None,
        f"Correction for the number of pairs: {_titles(CORRECTIONS)}.",
        choices=CORRECTIONS,
        shown="maxt; holm for other tests",
    )
    family: str = setting("each", "Correct p for each measure alone, or for all.", choices=["each", "all"])


@dataclass(frozen=True)
class SystemsOptions(_QueryGroups, UnpairedOptions):
    """Options of :func:`gainful.compare_several`."""

    _: KW_ONLY
    groups: Mapping[str, Sequence[str]] | Sequence[str] = setting(
        (),
        "Groups of systems to compare, or a FILE with one per line (repeatable).",
        kind="file",
        metavar="NAME=A,B,...",
        repeatable=True,
    )
    threads: int | None = None


@dataclass(frozen=True)
class FactorOptions(_Drawn):
    """Options of :func:`gainful.compare_factors`."""

    scores: ScoresLike
    _: KW_ONLY
    factors: Mapping[str, Mapping[str, str]] | str | None = setting(
        None,
        "Test two factors of systems and their interaction: a table with a header, systems first.",
        kind="file",
        metavar="FILE",
    )


@dataclass(frozen=True)
class BeliefOptions(_Margin, _Pairs):
    """Options of :func:`gainful.compare_beliefs`."""

    scores: ScoresLike


@dataclass(frozen=True)
class SequenceOptions(_Pairs):
    """Options of :func:`gainful.compare_sequentially`."""

    scores: ScoresLike
    _: KW_ONLY
    arrival: Sequence[str] | str | None = setting(
        None,
        "--sequential: order of queries; each line begins with a query ID, as in QRELS.",
        kind="file",
        metavar="FILE",
        shown="order of IDs",
    )


@dataclass(frozen=True)
class CostOptions(_Drawn):
    """Options of :func:`gainful.compare_cost`."""

    scores: ScoresLike
    _: KW_ONLY
    cost: ScoreMatrix | Mapping[str, Mapping[str, float]] | str | None = setting(
        None, "Compare gain with cost: a table of seconds, money or the like; per query and system.", kind="file"
    )
    threads: int | None = None


@dataclass(frozen=True)
class CompareOptions(SequenceOptions, CostOptions, FactorOptions, PairOptions, SystemsOptions):
    """Options of all comparisons, and of reading judgments and runs."""

    scores: ScoresLike | QrelsLike  # type: ignore[assignment] # the only kind that takes judgments
    runs: Mapping[str, RunLike] | MeasuresLike | None = None  # a list of runs repeats one system
    measures: MeasuresLike | None = None
    _: KW_ONLY
    sequential: bool = setting(False, "Sequential analysis: intervals valid after every query, for bounded measures.")
    policy: PolicyLike = policy_field()
    exclude: ExclusionLike | None = None
    items: ItemsLike | None = None
    training: ExclusionLike | None = None
    intents: ItemsLike | None = None
    columns: Mapping[str, str] | None = None
    queries: QueriesLike | None = None


TABLES = ("leaderboard", "pairs", "means")
MARKS = ("letters", "daggers", "beaten")
ORDERS = ("best", "given")
CHARTS_OF_PAIRS = ("differences",)
CHARTS_OF_SYSTEMS = ("leaderboard", "critical", "p", "differences")


@dataclass(frozen=True, kw_only=True)
class ShowOptions:
    """Options for showing a comparison."""

    chart: Sequence[str] = setting((), "Chart to draw (repeatable).", choices=CHARTS_OF_SYSTEMS, repeatable=True)
    only: str | None = setting(None, "Print only this table.", choices=TABLES)
    marks: str | None = setting(
        None,
        "Symbols after each mean: letters (shared unless significantly different), daggers (better or worse than "
        "--baseline), or the systems beaten.",
        choices=MARKS,
        shown="daggers with --baseline, else letters",
    )
    sort: str = setting("best", "Order of rows: best first, or as given.", choices=ORDERS)
    places: int = setting(4, "Decimal places in tables.", kind="whole", least=0)
