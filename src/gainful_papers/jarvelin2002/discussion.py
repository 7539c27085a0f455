"""Statements of jarvelin2002 about the last rank (section 4) and the base (section 3.3), checked on runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from gainful import Evaluation, InputError, Measure, ScoreMatrix
from gainful.stats.rank_tests import friedman
from gainful.stats.stability import Leads
from gainful.tasks.sensitivity.sensitivity_grid import cell_of
from gainful_papers.claims import Claim, Section, claims_tables
from gainful_papers.jarvelin2002.setting import DEPTH, Weights
from gainful_papers.significance import also_in, leads_by_ranks

#: The article contrasts ranks 1 to 10 with ranks 1 to 100.
_EARLY = 10


def discussed_measures(weights: Weights) -> list[Measure]:
    """Return the measures that these sections need in addition to those of Table 2."""
    ends = (_EARLY, weights.depth)
    return [
        *(weights.average(kind, gain, k) for kind in ("nCG", "nDCG") for gain in (weights.a, weights.b) for k in ends),
        *(weights.average("nDCG", weights.b, base=base) for base in weights.bases[1:]),
    ]


def last_rank_section(evaluations: Mapping[str, Evaluation], weights: Weights) -> Section:
    """Check the effect of the last rank considered."""
    claims: list[Claim] = []
    last = weights.depth
    for gain in dict.fromkeys((weights.a, weights.b)):
        early, late = (
            [_leads(evaluations, weights.average(kind, gain, k)) for kind in ("nCG", "nDCG")] for k in (_EARLY, last)
        )
        claims += last_rank_claims(str(gain), *zip(early, late, strict=True), last=last)
    about = f"Effect of the last rank: averages over ranks 1 to {_EARLY} and over ranks 1 to {last}."
    return Section.of("Section 4, last rank", about, claims_tables("Statements about the last rank", claims))


def _leads(evaluations: Mapping[str, Evaluation], measure: Measure) -> Leads:
    """Return the significant pairs by Friedman's test; none if no query is scored for every run."""
    try:
        return leads_by_ranks(friedman(ScoreMatrix.from_evaluations(evaluations, measure).values))
    except InputError:
        return Leads(*np.zeros((2, math.comb(len(evaluations), 2)), bool))


def last_rank_claims(
    gain: str, ncg: tuple[Leads, Leads], ndcg: tuple[Leads, Leads], *, last: int = DEPTH
) -> Iterator[Claim]:
    """Compare pairs that differ by nCG and by nDCG, each averaged over few and over many ranks."""
    (early, late), (early_ndcg, late_ndcg) = ncg, ndcg
    lost, none_differs = early.shown & ~also_in(early, late), f"no pair differs significantly at {_EARLY}"
    what, says = f"{gain}: pairs that differ by nCG at {_EARLY}, not at {last}", "there may be some"
    finds = f"{lost.sum()} of {early.shown.sum()}" if early.shown.any() else none_differs
    yield Claim.remark(what, says, finds, bool(lost.any()))
    # "If one uses nDCG in the previous case the difference earned by the method A would be preserved".
    kept = int((lost & also_in(early, early_ndcg) & also_in(early, late_ndcg)).sum())
    what, says = f"{gain}: those pairs by nDCG", "the difference would be preserved"
    finds = f"{kept} of {lost.sum()} preserved" if lost.any() else "nCG loses none"
    note = f"preserved: the pair differs by nDCG both at {_EARLY} and at {last}; holds if most pairs do"
    yield Claim.statement(what, says, finds, bool(2 * kept > lost.sum()) if lost.any() else None, note)
    both = also_in(early, early_ndcg)
    lost_ndcg = early_ndcg.shown & ~also_in(early_ndcg, late_ndcg)
    by_ncg, by_ndcg = int((both & lost).sum()), int((both & lost_ndcg).sum())
    what, says = f"{gain}: pairs lost from {_EARLY} to {last}", "matters, particularly for nCG"
    finds = f"nCG {by_ncg}, nDCG {by_ndcg} of {both.sum()}" if both.any() else none_differs
    note = f"of the pairs that differ by both measures at {_EARLY}; holds if nCG loses more of them than nDCG"
    yield Claim.statement(what, says, finds, by_ncg > by_ndcg if by_ncg or by_ndcg else None, note)


def base_section(evaluations: Mapping[str, Evaluation], weights: Weights) -> Section:
    """Check the effect of the base of the discount."""
    says = "results do not vary markedly"
    (first, *others), gain = weights.bases, weights.b
    found = {
        base: cell_of("", weights.average("nDCG", gain, base=base), (), evaluations, tested=True)
        for base in weights.bases
    }
    claims = [
        Claim.order(f"bases {first} and {base}", says, found[first], found[base], changes=False) for base in others
    ]
    ranks = f"averages over ranks 1 to {weights.last_rank} with the weights {gain}"
    about = f"Effect of the base of the discount: {ranks}."
    return Section("Section 3.3", about, claims_tables("Statements about the base", claims))
