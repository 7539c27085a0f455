"""What jarvelin2002 says of the last rank considered (section 4): which runs are told apart over few ranks and many."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from gainful.arrays import Bools
from gainful.data.graded import GradedRun
from gainful.gains import Gain
from gainful.measures.base import Measure
from gainful.notation import count_of
from gainful.papers.claims import Claim, claims_tables, remark, statement, undecided
from gainful.papers.jarvelin2002_orders import all_means, evaluated, tau_between
from gainful.papers.jarvelin2002_setting import Weights, best_runs, measure
from gainful.papers.sections import Section
from gainful.render.page import Cell as TableCell
from gainful.render.page import Column, Table
from gainful.results import Evaluation
from gainful.sensitivity.cells import Cell, cell_of
from gainful.stats.friedman import conover, friedman, protected
from gainful.stats.scores import ScoreMatrix

DEPTHS = (10, 50, 100, 200)
#: The article contrasts ranks 1 to 10 with ranks 1 to 100, "or down to lower positions"; its Table 2 has 200.
EARLY, LATE, LATER = 10, 100, 200

_ALPHA = 0.05


class ToldApart(NamedTuple):
    """A setting: the order of runs by it, which pairs of runs it tells apart, and who is the better of each pair."""

    cell: Cell
    told: Bools
    first_wins: Bools

    @classmethod
    def of(cls, each: Measure, evaluations: Mapping[str, Evaluation]) -> ToldApart:
        """Friedman and Conover as in Table 2."""
        found = friedman(ScoreMatrix.from_evaluations(evaluations, each).values)
        comparisons = conover(found)
        told = protected(found, comparisons, _ALPHA)
        return cls(cell_of("", each, (), evaluations), told, comparisons.difference > 0)

    def also_in(self, other: ToldApart) -> Bools:
        """The pairs that are told apart here and there, with the same run as the better one."""
        return np.asarray(self.told & other.told & (self.first_wins == other.first_wins))

    def not_in(self, other: ToldApart) -> Bools:
        """The pairs that are told apart here and no longer there, or the other way round."""
        return np.asarray(self.told & ~self.also_in(other))

    @property
    def pairs(self) -> int:
        """How many are told apart."""
        return int(self.told.sum())


def last_rank_section(graded: Mapping[str, GradedRun], weights: Weights) -> Section:
    """What the last rank considered decides: averages over ranks 1 to 10, 50, 100 and 200."""
    gains = (weights.flat, weights.tenfold)
    wanted = {
        (kind, gain, k): measure(kind, gain, k, over_ranks=True)
        for gain in gains
        for kind in ("nCG", "nDCG")
        for k in DEPTHS
    }
    evaluations = evaluated(graded, list(wanted.values()))
    tested = {key: ToldApart.of(each, evaluations) for key, each in wanted.items()}
    rows: list[tuple[TableCell, ...]] = []
    for (kind, gain, k), found in tested.items():
        lost = [int(found.not_in(tested[kind, gain, last]).sum()) if k < last else None for last in (LATE, LATER)]
        tau = tau_between(found.cell, tested[kind, gain, LATER].cell)
        rows.append((f"{kind} ({gain})", k, best_runs(found.cell) or None, found.pairs, *lost, tau))
    pairs = len(graded) * (len(graded) - 1) // 2
    columns = (
        Column("measure"),
        Column("to rank", "count"),
        Column("best run"),
        Column("pairs told apart", "count"),
        *(Column(f"not to {last}", "count") for last in (LATE, LATER)),
        Column(f"tau with {LATER}", "number", 2),
    )
    notes = (
        f"of {count_of(pairs, 'pair')}, by Friedman and Conover at {_ALPHA} (as Table 2)",
        f"not to {LATE}, not to {LATER}: pairs that are told apart here, and over so many ranks no longer",
    )
    table = Table(columns, tuple(rows), "Averages over ranks 1 to the last one", notes)
    claims = [claim for gain in gains for claim in depth_claims(str(gain), _of_gain(tested, gain))]
    about = (
        f"Whether the last rank considered matters. The article contrasts ranks 1 to {EARLY} with ranks 1 to {LATE}; "
        f"what is found for {LATER}, as in its Table 2, stands in parentheses."
    )
    means = all_means(found.cell for found in tested.values())
    return Section("Section 4, last rank", about, (table, *claims_tables("Said of the last rank", claims), means))


def _of_gain(tested: Mapping[tuple[str, Gain, int], ToldApart], gain: Gain) -> dict[tuple[str, int], ToldApart]:
    return {(kind, k): found for (kind, of, k), found in tested.items() if of == gain}


def depth_claims(gain: str, tested: Mapping[tuple[str, int], ToldApart]) -> tuple[Claim, ...]:
    """What the article says of nCG and nDCG, by measure and last rank, under one weighting scheme."""
    return (
        _lost_by_ncg(gain, tested),
        _preserved_by_ndcg(gain, tested),
        _particularly_ncg(gain, tested),
    )


def _lost_by_ncg(gain: str, tested: Mapping[tuple[str, int], ToldApart]) -> Claim:
    what, says = f"{gain}: pairs apart by nCG to {EARLY}, not to {LATE}", "there may be some"
    early = tested["nCG", EARLY]
    if not early.pairs:
        return undecided(what, says, f"none is told apart to {EARLY}")
    lost, later = (int(early.not_in(tested["nCG", last]).sum()) for last in (LATE, LATER))
    return remark(what, says, f"{lost} of {early.pairs} ({later})", lost > 0)


def _preserved_by_ndcg(gain: str, tested: Mapping[tuple[str, int], ToldApart]) -> Claim:
    """ "If one uses nDCG in the previous case the difference earned by the method A would be preserved": "may be
    statistically significant also for the ranks 1 - 100"."""
    what, says = f"{gain}: those pairs by nDCG", "the difference would be preserved"
    early = tested["nCG", EARLY]
    lost, kept = [], []
    for last in (LATE, LATER):
        gone = early.not_in(tested["nCG", last])
        stays = early.also_in(tested["nDCG", EARLY]) & early.also_in(tested["nDCG", last])
        lost.append(int(gone.sum()))
        kept.append(int((gone & stays).sum()))
    if not lost[0]:
        return undecided(what, says, "nCG loses none")
    return statement(
        what,
        says,
        f"{kept[0]} of {lost[0]} preserved ({kept[1]} of {lost[1]})",
        2 * kept[0] > lost[0],
        f"preserved: nDCG tells the pair apart both to {EARLY} and to {LATE}; it holds where most of them are",
    )


def _particularly_ncg(gain: str, tested: Mapping[tuple[str, int], ToldApart]) -> Claim:
    what, says = f"{gain}: pairs lost from {EARLY} to {LATE}", "it matters, particularly for nCG"
    both = tested["nCG", EARLY].also_in(tested["nDCG", EARLY])
    if not both.any():
        return undecided(what, says, f"none is told apart to {EARLY}")
    (ncg, ndcg), later = (
        [int((both & tested[kind, EARLY].not_in(tested[kind, last])).sum()) for kind in ("nCG", "nDCG")]
        for last in (LATE, LATER)
    )
    finds = f"nCG {ncg}, nDCG {ndcg} of {int(both.sum())} ({later[0]}, {later[1]})"
    if not ncg and not ndcg:
        return undecided(what, says, finds)
    return statement(
        what,
        says,
        finds,
        ncg > ndcg,
        f"of the pairs that both tell apart to {EARLY}; it holds where nCG loses more of them than nDCG",
    )
