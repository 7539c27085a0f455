"""The options of the questions that start from scores: comparisons, power, agreement, stability.

Nothing here loads NumPy: help and usage errors come before anything is read.
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
    """What is asked of :func:`gainful.assess_power`."""

    scores: ScoresLike | None = None
    _: KW_ONLY
    pair: tuple[str, str] | None = setting(
        None, "Plan for these two.", metavar="SYSTEM,SYSTEM", read=read_pair, shown="if there are just two"
    )
    queries: Sequence[int] = setting(
        (), "What so many queries show.", metavar="N,...", read=_read_wholes, shown="as many as there are"
    )
    difference: Sequence[float] = setting(
        (), "How many queries a difference that would matter needs.", metavar="D,...", read=read_numbers
    )
    width: Sequence[float] = setting(
        (), "How many queries make the interval so wide, end to end.", metavar="W,...", read=read_numbers
    )
    systems: int | None = setting(
        None, "Analysis of variance and Tukey HSD of so many.", kind="whole", least=2, shown="as many as there are"
    )
    power: float = number(0.8, "The power wanted.", "P")
    alpha: float = number(0.05, "The level of the test.", "A")
    variance: str | float | None = setting(
        None,
        "Of the difference of two systems on a query: pair (of the two systems), residual (two-way, all systems), "
        "sakai2016 (one-way: larger, because the difficulty of queries counts), or a number.",
        metavar="KIND|V",
        read=_read_variance,
        shown="pair for two systems, else residual",
    )
    sd: float | None = number(None, "Without scores: the standard deviation of the difference of two systems.", "S")


@dataclass(frozen=True)
class AgreeOptions:
    """What is asked of :func:`gainful.assess_agreement`."""

    scores: ScoresLike
    _: KW_ONLY
    coefficient: Sequence[str] = setting(
        ("tau_b",),
        "Shown as a matrix and a heat map, the first in sentences, too; may be repeated.",
        choices=COEFFICIENTS,
        repeatable=True,
        shown="tau-b",
    )
    scatter: Sequence[tuple[str, str]] = setting(
        (),
        "Draw the means by these two against each other; may be repeated.",
        metavar="MEASURE MEASURE",
        values=2,
        repeatable=True,
        shown="the least agreeing two",
    )
    persistence: float = number(0.9, "How far down RBO looks, between 0 and 1.", "P")
    draws: int = setting(1000, "Resamples for the intervals, 0 for none.", kind="whole", least=0)
    seed: int = setting(0, "Another seed, other resamples.", kind="whole", least=0)


@dataclass(frozen=True)
class StabilityOptions:
    """What is asked of :func:`gainful.assess_stability`."""

    scores: ScoresLike
    _: KW_ONLY
    topics: str = setting(
        "random",
        "Which queries make a subset; first is one subset, by number if all ids are numbers, else in byte order.",
        choices=TOPICS,
    )
    shares: Sequence[float] = setting((0.5, 0.2), "How large subsets are.", metavar="S,...", read=read_numbers)
    draws: int = setting(1000, "Random subsets of queries.", kind="whole", least=1)
    documents: bool = setting(False, "Also with parts of the judged documents; needs QRELS and RUNS.")
    document_draws: int | None = setting(
        None, "Random parts of the judgments; runs are scored again for each.", kind="whole", least=1, shown="20"
    )
    coefficient: str = setting("tau_b", "What orders are compared by.", choices=SYMMETRIC)
    set_size: int | None = setting(None, "Queries in a set for swap rates.", kind="whole", least=1, shown="half of all")
    fuzziness: float = number(0.05, "Tied below this share of the higher mean.", "F")
    swaps: float = number(0.05, "Name the difference with at most so many swaps.", "RATE")
    test: str = setting(
        "t", "Discriminative power by the paired t test, or by randomised Tukey HSD.", choices=DISCRIMINATING
    )
    alpha: float = number(0.05, "Discriminative power: the level.", "A")
    seed: int = setting(0, "Another seed, other draws.", kind="whole", least=0)
    threads: int | None = None


def _titles(catalogue: Mapping[str, Any]) -> str:
    """The titles of all members of a catalogue, as a list for people."""
    *first, last = (member.title for member in catalogue.values())
    return f"{', '.join(first)}, or {last}"


#: The pairs that are printed unless more are asked for.
FEW_PAIRS = 15


@dataclass(frozen=True, kw_only=True)
class _Level:
    alpha: float = number(0.05, "The level.", "P")


@dataclass(frozen=True, kw_only=True)
class _Drawn(_Level):
    draws: int | None = setting(
        None,
        "Flips, samples or permutations.",
        kind="whole",
        least=1,
        shown="100,000 flips, 10,000 samples or permutations",
    )
    seed: int = setting(0, "Another seed, other draws.", kind="whole", least=0, shown="0")


@dataclass(frozen=True, kw_only=True)
class _Baseline:
    baseline: str | None = setting(None, "What others are compared with.", metavar="SYSTEM", shown="of two, the first")


@dataclass(frozen=True, kw_only=True)
class _AllPairs:
    all_pairs: bool = setting(False, "Several systems: print every pair.", flag="--all")


@dataclass(frozen=True, kw_only=True)
class _Pairs(_AllPairs, _Level, _Baseline):
    pairs: Sequence[tuple[str, str]] = setting(
        (), "Several systems: print this pair; may be repeated.", metavar="A,B", read=read_pair, repeatable=True
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
    margin: float | None = number(
        None, "Differences below D count as equal: verdicts are superior, equivalent and so on.", "D"
    )


@dataclass(frozen=True, kw_only=True)
class _Test:
    test: str | None = setting(
        None,
        f"The test of a pair: {_titles(ASKED_AS_TESTS)}.",
        choices=ASKED_AS_TESTS,
        shown="randomisation; beyond 5,000 queries of two systems t",
    )


@dataclass(frozen=True, kw_only=True)
class _QueryGroups:
    by: str | None = setting(None, "--queries: show every group of queries by this column, too.", metavar="COLUMN")


@dataclass(frozen=True)
class PairOptions(_QueryGroups, _AllPairs, _Drawn, _Margin, _Test, _Baseline):
    """The options of :func:`gainful.compare_two`."""

    scores: ScoresLike
    _: KW_ONLY
    interval: str | None = setting(
        None, f"Two systems: the interval: {_titles(INTERVALS)}.", choices=INTERVALS, shown="the test's own"
    )
    most: int | None = setting(None, "Two systems: how many queries for each.", kind="whole", least=1, shown="5")


@dataclass(frozen=True)
class UnpairedOptions(_Pairs, _Drawn, _Margin, _Test, _Baseline):
    """The options of :func:`gainful.compare_unpaired`."""

    scores: ScoresLike
    _: KW_ONLY
    procedure: str | None = setting(None, f"Several systems: {_titles(PROCEDURES)}.", choices=PROCEDURES, shown="maxt")
    correction: str | None = setting(
        None,
        f"Several systems: the correction for their number: {_titles(CORRECTIONS)}.",
        choices=CORRECTIONS,
        shown="maxt, of other tests holm",
    )
    family: str = setting("each", "all: one family of all measures.", choices=["each", "all"])


@dataclass(frozen=True)
class SystemsOptions(_QueryGroups, UnpairedOptions):
    """The options of :func:`gainful.compare_several`."""

    _: KW_ONLY
    groups: Mapping[str, Sequence[str]] | Sequence[str] = setting(
        (),
        "Groups of systems to compare; or a FILE of such lines.",
        kind="file",
        metavar="NAME=A,B,...",
        repeatable=True,
    )
    threads: int | None = None


@dataclass(frozen=True)
class FactorOptions(_Drawn):
    """The options of :func:`gainful.compare_factors`."""

    scores: ScoresLike
    _: KW_ONLY
    factors: Mapping[str, Mapping[str, str]] | str | None = setting(
        None,
        "Several systems: a table with a header, system and two factors: their effects and interaction.",
        kind="file",
        metavar="FILE",
    )


@dataclass(frozen=True)
class BeliefOptions(_Margin, _Pairs):
    """The options of :func:`gainful.compare_beliefs`."""

    scores: ScoresLike


@dataclass(frozen=True)
class SequenceOptions(_Pairs):
    """The options of :func:`gainful.compare_sequentially`."""

    scores: ScoresLike
    _: KW_ONLY
    arrival: Sequence[str] | str | None = setting(
        None,
        "--sequential: the order of queries, a line each that begins with its id, such as QRELS.",
        kind="file",
        metavar="FILE",
        shown="of ids",
    )


@dataclass(frozen=True)
class CompareOptions(SequenceOptions, FactorOptions, PairOptions, SystemsOptions):
    """The options of all kinds of comparison, and how judgments and runs are read."""

    scores: ScoresLike | QrelsLike  # type: ignore[assignment] # the only kind that takes judgments
    runs: Mapping[str, RunLike] | MeasuresLike | None = None  # a list of runs is several of one system
    measures: MeasuresLike | None = None
    _: KW_ONLY
    sequential: bool = setting(
        False, "Look after every query: intervals that hold however often one looks; of bounded measures."
    )
    policy: PolicyLike = policy_field()
    exclude: ExclusionLike | None = None
    items: ItemsLike | None = None
    training: ExclusionLike | None = None
    intents: ItemsLike | None = None
    columns: Mapping[str, str] | None = None
    queries: QueriesLike | None = None


#: The tables that can be shown alone, the marks beside a mean that differs, and the orders of systems in a table.
TABLES = ("leaderboard", "pairs", "means")
MARKS = ("letters", "daggers", "beaten")
ORDERS = ("best", "given")
#: The charts of two systems, and of several.
CHARTS_OF_PAIRS = ("differences",)
CHARTS_OF_SYSTEMS = ("leaderboard", "critical", "p", "differences")


@dataclass(frozen=True, kw_only=True)
class ShowOptions:
    """How a comparison is shown."""

    chart: Sequence[str] = setting((), "What to draw; may be repeated.", choices=CHARTS_OF_SYSTEMS, repeatable=True)
    only: str | None = setting(None, "Print this table and nothing else.", choices=TABLES)
    marks: str | None = setting(
        None,
        "Beside means: letters that systems share, daggers for better or worse than --baseline, or the systems beaten.",
        choices=MARKS,
        shown="daggers with --baseline, else letters",
    )
    sort: str = setting("best", "Rows: best first, or as given.", choices=ORDERS)
    places: int = setting(4, "Decimal places in tables.", kind="whole", least=0)
