"""Sections 2.4 and 4 of jarvelin2002 on runs: the earlier measures; what last rank, gain values and base decide."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from gainful import Evaluation, InputError, Measure, parse
from gainful.notation import count_of
from gainful.pages.page import head
from gainful.stats.leads import Leads
from gainful_papers.claims import Case, Claim, Ordered, Section, claims_tables, table
from gainful_papers.jarvelin2002.setting import LAST_RANK, Weights, average, standing_out

#: SR and its kin need lists that are longer than this.
_DEPTH = 20
_RECALL = parse("SetR")


class Earlier(NamedTuple):
    """A measure, what the article calls it, its decimal places, and whether it has a value for these data."""

    short: str
    measure: Measure
    places: int = 3
    is_known: bool = True


def earlier_measures(case: Case, size: int | None) -> list[Earlier]:
    """nCG and nDCG, then the measures that the article compares them with; ``size`` is that of the collection.

    The last one compares scores with grades: it is left out if a run has no scores.
    """
    of_size = "" if size is None else f"N={size}"
    found = [
        Earlier("nCG", parse(f"nCG@{_DEPTH}")),
        Earlier("nDCG", parse(f"nDCG(discount=jarvelin2002)@{_DEPTH}")),
        Earlier("ASL", parse(f"ASL({of_size})"), 1, size is not None),
        Earlier("ESL", parse(f"ESL(n=1, count=all{of_size and f', {of_size}'})"), 2),
        Earlier("NR", parse(f"NormRecall({of_size})"), 3, size is not None),
        Earlier("SR", parse(f"SlidingRatio@{_DEPTH}")),
        Earlier("S", parse(f"Satisfaction@{_DEPTH}")),
        Earlier("F", parse(f"Frustration@{_DEPTH}")),
        Earlier("T", parse(f"SFTotal@{_DEPTH}")),
        Earlier("RHL", parse("RankedHalfLife"), 1),
    ]
    relative = Earlier("RR", parse("RelativeRelevance"))
    try:
        case.evaluate([relative.measure])
    except InputError:
        return found
    return [*found, relative]


def measures_of_runs(earlier: Iterable[Earlier], weights: Weights) -> list[Measure]:
    """What the sections below are made of, beside the measures of Table 2."""
    gains = (weights.flat, weights.tenfold)
    return [
        *(each.measure for each in earlier),
        _RECALL,
        *(average(kind, gain, k) for kind in ("nCG", "nDCG") for gain in gains for k in (_EARLY, _LATE)),
        average("nDCG", weights.tenfold, base=_LARGE_BASE),
    ]


def earlier_section(evaluations: Mapping[str, Evaluation], earlier: list[Earlier]) -> Section:
    """Section 2.4: means by the earlier measures."""
    means = table(
        "Means by earlier measures",
        (*head("run"), *head(f"{each.short} .{each.places}" for each in earlier)),
        (
            (name, *(evaluation.mean(each.measure) if each.is_known else None for each in earlier))
            for name, evaluation in evaluations.items()
        ),
        f"SR, S (satisfaction), F (frustration), T (their total), nCG and nDCG at rank {_DEPTH}",
        "lower is better: ASL, ESL, F, RHL; with the grades as gains S is SR",
        "RR (relative relevance) is of the size of scores, not of ranks: not really a measure of performance",
    )
    no_size = no_scores = ""
    if not all(each.is_known for each in earlier):
        recalls = [evaluation.raw[evaluation.measures.index(_RECALL)] for evaluation in evaluations.values()]
        lists = count_of(sum(recall.size for recall in recalls), "list")
        no_size = (
            "ASL and NR need the size of the collection (--collection-size N) for relevant documents that were not "
            f"retrieved: {int(sum((recall < 1).sum() for recall in recalls)):,} of {lists} miss some. "
            "Without it there are no means of them here."
        )
    if earlier[-1].short != "RR":
        no_scores = "RR compares scores with grades; not every run has scores, so it is left out."
    about = (
        "The measures that came before, on the same runs. Gains are the grades; nDCG has base 2; ESL counts the "
        "documents that a user sees down to the first relevant one."
    )
    return Section.of("Section 2.4", about, means, no_size, no_scores)


#: The article contrasts ranks 1 to 10 with ranks 1 to 100.
_EARLY, _LATE = 10, 100
#: Beside base 2, which all other measures have.
_LARGE_BASE = 10.0


def last_rank_section(evaluations: Mapping[str, Evaluation], weights: Weights) -> Section:
    """What the last rank considered decides."""
    claims: list[Claim] = []
    for gain in (weights.flat, weights.tenfold):
        early, late = (
            [Ordered.of(evaluations, average(kind, gain, k)).leads for kind in ("nCG", "nDCG")] for k in (_EARLY, _LATE)
        )
        claims += last_rank_claims(str(gain), *zip(early, late, strict=True))
    about = f"Whether the last rank considered matters: averages over ranks 1 to {_EARLY}, and over ranks 1 to {_LATE}."
    return Section.of("Section 4, last rank", about, claims_tables("Said of the last rank", claims))


def last_rank_claims(gain: str, ncg: tuple[Leads, Leads], ndcg: tuple[Leads, Leads]) -> Iterator[Claim]:
    """What the article says of pairs by nCG and by nDCG, each over few ranks and over many, under some weights."""
    (early, late), (early_ndcg, late_ndcg) = ncg, ndcg
    lost, none_differs = early.not_in(late), f"no pair is significantly different to {_EARLY}"
    what, says = f"{gain}: pairs apart by nCG to {_EARLY}, not to {_LATE}", "there may be some"
    if early.number:
        yield Claim.remark(what, says, f"{lost.sum()} of {early.number}", bool(lost.any()))
    else:
        yield Claim.undecided(what, says, none_differs)
    # "If one uses nDCG in the previous case the difference earned by the method A would be preserved".
    what, says = f"{gain}: those pairs by nDCG", "the difference would be preserved"
    kept = int((lost & early.also_in(early_ndcg) & early.also_in(late_ndcg)).sum())
    if lost.any():
        note = (
            f"preserved: nDCG finds the pair different both to {_EARLY} and to {_LATE}; it holds where most of them are"
        )
        yield Claim.statement(what, says, f"{kept} of {lost.sum()} preserved", 2 * kept > lost.sum(), note)
    else:
        yield Claim.undecided(what, says, "nCG loses none")
    what, says = f"{gain}: pairs lost from {_EARLY} to {_LATE}", "it matters, particularly for nCG"
    both = early.also_in(early_ndcg)
    by_ncg, by_ndcg = int((both & lost).sum()), int((both & early_ndcg.not_in(late_ndcg)).sum())
    if not both.any():
        yield Claim.undecided(what, says, none_differs)
        return
    finds = f"nCG {by_ncg}, nDCG {by_ndcg} of {both.sum()}"
    note = (
        f"of the pairs that differ significantly by both to {_EARLY}; it holds where nCG loses more of them than nDCG"
    )
    if by_ncg or by_ndcg:
        yield Claim.statement(what, says, finds, by_ncg > by_ndcg, note)
    else:
        yield Claim.undecided(what, says, finds)


def gain_section(evaluations: Mapping[str, Evaluation], weights: Weights) -> Section:
    """What the weights decide: flat and tenfold ones."""
    flat, tenfold = (Ordered.of(evaluations, average("nDCG", gain)) for gain in (weights.flat, weights.tenfold))
    names = f"{weights.flat} to {weights.tenfold}"
    claims = (
        Claim.order(f"nDCG, {names}", "weighting affects the order", flat, tenfold, changes=True),
        standing_out(f"best run by nDCG, {names}", list(evaluations), flat, tenfold),
    )
    about = f"Whether the gain values matter: averages over ranks 1 to {LAST_RANK} with flat and with tenfold weights."
    return Section.of("Section 4, gain values", about, claims_tables("Said of gain values", claims))


def base_section(evaluations: Mapping[str, Evaluation], weights: Weights) -> Section:
    """What the base of the discount decides."""
    gain = weights.tenfold
    measures = average("nDCG", gain), average("nDCG", gain, base=_LARGE_BASE), average("nCG", gain)
    two, ten, undiscounted = (Ordered.of(evaluations, each) for each in measures)
    claims = (
        Claim.order("bases 2 and 10", "results do not vary markedly", two, ten, changes=False),
        Claim.order("nDCG, b = 2, and nCG", "discounting affects the order", two, undiscounted, changes=True),
    )
    about = f"Whether the base of the discount matters: averages over ranks 1 to {LAST_RANK} with the weights {gain}."
    return Section.of("Section 4, base", about, claims_tables("Said of the base", claims))
