"""The options of the questions that start from scores: power, agreement, stability. Nothing here loads NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from gainful.errors import UsageError
from gainful.notation import NUMBER, read_number, read_numbers, read_pair
from gainful.question import number, setting
from gainful.stats.catalogues import COEFFICIENTS, DISCRIMINATING, SYMMETRIC, TOPICS, VARIANCES

if TYPE_CHECKING:
    from gainful.evaluation.scores import ScoresLike


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
