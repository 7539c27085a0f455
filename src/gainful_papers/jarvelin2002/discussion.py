"""Sections 2.4 and 4 of jarvelin2002 on runs: the earlier measures; what last rank, gain values and base decide."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

from gainful import Evaluation, InputError, Measure, parse
from gainful.notation import count_of
from gainful.pages.charts import shortened
from gainful.pages.page import Cell as TableCell, Table, head
from gainful.stats.leads import Leads
from gainful.tasks.sensitivity.sensitivity_grid import Cell, cell_of, tau_of_ranks
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
    """All that the sections below are made of."""
    gains = (weights.flat, weights.linear, weights.tenfold, weights.top)
    wanted = [
        *(each.measure for each in earlier),
        _RECALL,
        *(average(kind, gain) for kind in ("nCG", "nDCG") for gain in gains),
        *(average(kind, gain, k) for kind in ("nCG", "nDCG") for gain in gains[::2] for k in (_EARLY, _LATE)),
        *(average("nDCG", weights.tenfold, base=base) for base in _BASES),
    ]
    return list(dict.fromkeys(wanted))


def earlier_section(evaluations: Mapping[str, Evaluation], earlier: list[Earlier]) -> Section:
    """Section 2.4: means by the earlier measures, and the orders that they make."""
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
    cells = [cell_of(each.short, each.measure, (), evaluations) for each in earlier]
    rows: list[tuple[TableCell, ...]] = []
    for each, cell in zip(earlier, cells, strict=True):
        without = sum(len(evaluation.undefined(each.measure)) for evaluation in evaluations.values())
        found: list[TableCell] = [None, None, None]
        if each.is_known:
            found = [_best_runs(cell), *(tau_of_ranks(cell.ranks, other.ranks) for other in cells[:2])]
        rows.append((each.short, str(each.measure), each.measure.better, *found, without))
    orders = table(
        "The order of runs by each measure",
        (
            *head("measure | in gainful"),
            *head("better", for_machines=True),
            *head("best run | tau with nCG .2 | tau with nDCG .2 | lists without a value #"),
        ),
        rows,
        "tau: Kendall's tau-b between the orders of the runs, best first in both",
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
    return Section.of("Section 2.4", about, means, orders, no_size, no_scores)


#: The article contrasts ranks 1 to 10 with ranks 1 to 100.
_EARLY, _LATE = 10, 100
_BASES: tuple[float | str, ...] = (2.0, "e", 10.0, 100.0)


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
    """What the weights decide: flat, the grade itself, tenfold, and the highest level alone."""
    gains = dict.fromkeys((weights.flat, weights.linear, weights.tenfold, weights.top))
    rows: list[Setting] = []
    for kind in ("nCG", "nDCG"):
        cells = [cell_of("", average(kind, gain), (), evaluations) for gain in gains]
        rows += [((kind, str(gain)), cell, cells[0]) for gain, cell in zip(gains, cells, strict=True)]
    flat, tenfold = (Ordered.of(evaluations, average("nDCG", gain)) for gain in (weights.flat, weights.tenfold))
    names = f"{weights.flat} to {weights.tenfold}"
    claims = (
        Claim.order(f"nDCG, {names}", "weighting affects the order", flat, tenfold, changes=True),
        standing_out(f"best run by nDCG, {names}", list(evaluations), flat, tenfold),
    )
    title = f"Averages over ranks 1 to {LAST_RANK} under other weights"
    return Section.of(
        "Section 4, gain values",
        "Whether the gain values matter: the same runs, from flat weights to the highest level alone.",
        _orders_table(title, "measure | weights", f"tau with {weights.flat}", rows),
        claims_tables("Said of gain values", claims),
        _all_means(rows),
    )


def base_section(evaluations: Mapping[str, Evaluation], weights: Weights) -> Section:
    """What the base of the discount decides."""
    by_base = [average("nDCG", weights.tenfold, base=base) for base in _BASES]
    wanted = dict(zip(("b = 2", "b = e", "b = 10", "b = 100"), by_base, strict=True))
    wanted["CG, no discount"] = average("nCG", weights.tenfold)
    cells = {name: cell_of("", each, (), evaluations) for name, each in wanted.items()}
    rows: list[Setting] = [((name,), cell, cells["b = 2"]) for name, cell in cells.items()]
    two, ten, undiscounted = (Ordered.of(evaluations, wanted[name]) for name in ("b = 2", "b = 10", "CG, no discount"))
    claims = (
        Claim.order("bases 2 and 10", "results do not vary markedly", two, ten, changes=False),
        Claim.order("nDCG, b = 2, and nCG", "discounting affects the order", two, undiscounted, changes=True),
    )
    title = f"nDCG, {weights.tenfold}, averaged over ranks 1 to {LAST_RANK}, by base"
    return Section.of(
        "Section 4, base",
        "Whether the base of the discount matters, from the impatient user (2) to hardly any discount (100).",
        _orders_table(title, "discount", "tau with b = 2", rows),
        claims_tables("Said of the base", claims),
        _all_means(rows),
    )


#: An order of more systems than these is not written out.
_MOST_NAMED = 6


#: What a setting is called, the order of runs by it, and the order that it is compared with.
Setting: TypeAlias = tuple[tuple[str, ...], Cell, Cell]


def _orders_table(title: str, columns: str, tau: str, settings: Iterable[Setting]) -> Table:
    """Which run is best by each setting, by how much, and how far its order is that of another setting."""
    rows: list[tuple[TableCell, ...]] = []
    for names, cell, reference in settings:
        groups = ["=".join(shortened(run) for run in group) for group in cell.order]
        order = " > ".join(groups if len(cell.scores) <= _MOST_NAMED else [*groups[:3], "..."])
        found = tau_of_ranks(cell.ranks, reference.ranks)
        rows.append((*names, _best_runs(cell), cell.value, cell.lead, found, order))
    return table(title, head(f"{columns} | best run | its mean .3 | lead .3 | {tau} .2 | order"), rows)


def _all_means(settings: Iterable[Setting]) -> Table:
    """Every run's mean and place in every setting, for machines."""
    rows = ((str(cell.measure), *score) for _, cell, _ in settings for score in cell.scores)
    return table("", "measure | run | mean . | place #", rows, for_machines=True)


def _best_runs(cell: Cell) -> str | None:
    """The run that is ahead; of several at most two are named."""
    names = [shortened(run) for run in cell.winners]
    return (", ".join(names) if len(names) < 3 else f"{names[0]} and {len(names) - 1} others") or None
