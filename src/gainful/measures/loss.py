"""Where a score is lost: the best orders of ever longer parts of each list, up to the ideal list.

A measure that rewards better documents at higher ranks, and nothing else, is highest over all orders of the first n
documents if the best of them come first. These scores rise with n, so that their differences split 1 - score exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from gainful.data.graded import GradedRun, with_hits
from gainful.data.lists import ordinal_in_row
from gainful.kernel.arrays import Floats
from gainful.measures.base import Measure
from gainful.measures.block import condenses, gains_of, raw_scores, seen_lists
from gainful.measures.session_block import SessionBlock
from gainful.measures.session_gain import NSDCG

#: Measures that only reward better documents at higher ranks, and are at most 1.
_SPLIT = {*"nCG nDCG NDCNG nERR ERR RBP AP GAP muAP R P RelP SetR Rprec RprecMult RR Success Complete".split()}  # noqa: SIM905 - shorter


def is_split(measure: Measure) -> bool:
    """Whether the loss of a measure can be split."""
    if isinstance(measure, NSDCG):  # repeats or negative gains make the best order of a list depend on other lists
        return (measure.repeats, measure.variant) == ("every", "jarvelin2008")
    return measure.name in _SPLIT and not getattr(measure, "favours_rank_2", False)


def reranked(graded: GradedRun, measure: Measure, last: float) -> GradedRun:
    """Return the lists with the best of their first ``last`` documents first, and later ones in place."""
    row = np.repeat(np.arange(graded.retrieved.size), np.diff(graded.hit_offsets))
    gains = gains_of(measure, graded.hit_grade, graded.judged.scale)
    # Documents without gain are left out, unless a measure closes the ranks of unjudged ones.
    hits = np.arange(row.size) if condenses(measure, graded.policy) else np.flatnonzero(gains > 0)
    row, rank = row[hits], graded.hit_rank[hits]
    is_first = rank <= last
    first = hits[is_first]
    order = np.lexsort((-graded.hit_grade[first], -gains[first], row[is_first]))
    hits[is_first], rank[is_first] = first[order], ordinal_in_row(row[is_first])
    return with_hits(graded, row, rank, graded.hit_grade[hits], graded.hit_item[hits], score=graded.score[:0])


def ends_of(measure: Measure, ranks: Sequence[int], longest: int) -> dict[str, int]:
    """Return the last rank of each part by its name: the cutoff, each later one of ``ranks``, and the end."""
    cutoff = measure.rank_cutoff
    ends = sorted({cutoff or min(ranks, default=longest or 1), *(rank for rank in ranks if rank > (cutoff or 0))})
    names = [str(end) if end == start + 1 else f"{start + 1}-{end}" for start, end in pairwise([0, *ends])]
    names[:1] = ["order"] if cutoff else names[:1]
    return dict(zip(names, ends, strict=True)) | ({f"after {ends[-1]}": longest} if longest > ends[-1] else {})


def best_of_sessions(block: SessionBlock, measure: NSDCG, last: int) -> Floats:
    """Return the raw scores of the best orders of the first ``last`` documents of each list of a session."""
    block = block.seen_by(measure)
    return measure.compute_sessions(block._reranked(measure._gains(block), last))


def best_scores(graded: GradedRun, measure: Measure, ranks: Sequence[int]) -> dict[str, Floats]:
    """Return the raw scores of the best orders of the lists down to the end of each part, and of all judged documents;
    by the name of what the order before had lost."""
    graded, judged = seen_lists(graded, measure), graded.judged
    parts = ends_of(measure, ranks, int(graded.retrieved.max(initial=0)))

    def ideal() -> Floats:
        offsets, best = judged.best_first
        item = judged.items_best_first(np.ones(judged.grade.size, bool))
        every = with_hits(graded, best.row, best.rank, best.grade, item, retrieved=np.diff(offsets))
        return np.asarray(raw_scores(reranked(every, measure, np.inf), [measure])[0])

    graded = reranked(graded, measure, 0)  # leaves out documents without gain once for all
    found = {name: raw_scores(reranked(graded, measure, end), [measure])[0] for name, end in parts.items()}
    return {**found, "not retrieved": judged.cached(("score of the ideal list", measure), ideal)}
