"""The arithmetic of measures that have none written down, derived from their scores of shorter lists."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from gainful.data.graded import GradedRun
from gainful.kernel.arrays import Bools, Ints
from gainful.measures.arithmetic import Arithmetic, Step
from gainful.measures.base import Measure
from gainful.measures.block import Block, computed
from gainful.measures.help import Help

#: Arithmetic is derived down to this rank: every rank costs two scores.
_DERIVED_RANKS = 1000
#: Differences between scores that are no larger than this are rounding.
_ROUNDING = 1e-12


def derived_arithmetic(measure: Measure, graded: GradedRun) -> Arithmetic:
    """The arithmetic of a run's only list by the scores of shorter lists.

    At every rank: the score without that document, what the document changes, and the score of the list down to there.
    """

    def score_of(kept: Bools) -> float:
        return float(computed(measure, Block(_shortened(graded, kept), np.zeros(1, np.int64)))[0])

    ranks = np.arange(1, int(graded.retrieved[0]) + 1)
    shown = ranks[: min(measure.rank_cutoff or _DERIVED_RANKS, _DERIVED_RANKS)].tolist()
    score = score_of(ranks > 0)
    without = np.array([score_of(ranks != rank) for rank in shown])
    so_far = np.array([score_of(ranks <= rank) for rank in shown])
    change = score - without
    change[np.abs(change) <= _ROUNDING] = 0.0
    columns = {"without it": without, "change": change, measure.name: so_far}
    step = Step(str(measure), "", (), score, _why_undefined(measure) if math.isnan(score) else "")
    note = f"without it: the score of the list without that document; {measure.name}: of the list down to there"
    return Arithmetic(columns, (step,), adds="change", running=measure.name, note=note)


def _shortened(graded: GradedRun, kept: Bools) -> GradedRun:
    """A run's only list with some of its documents, ranks closed up."""
    rank: Ints = np.cumsum(kept, dtype=np.int64)
    hits = kept[graded.hit_rank - 1]
    pooled = np.zeros(0, np.int64) if graded.pooled is None else graded.pooled[1]
    pooled = rank[pooled[kept[pooled - 1]] - 1]
    return replace(
        graded,
        retrieved=rank[-1:] if rank.size else graded.retrieved,
        hit_offsets=np.array([0, np.count_nonzero(hits)]),
        hit_rank=rank[graded.hit_rank[hits] - 1],
        hit_grade=graded.hit_grade[hits],
        hit_item=graded.hit_item[hits],
        score=graded.score[kept] if graded.score.size else graded.score,
        row=graded.row[kept] if graded.row.size else graded.row,
        pooled=None if graded.pooled is None else (np.array([0, pooled.size]), pooled),
    )


def _why_undefined(measure: Measure) -> str:
    """The conventions of the measure's help that say where it has no value."""
    said = [text for text in Help.of(measure).paragraphs("Conventions") if "undefined" in text]
    return "; ".join(text.removesuffix(": undefined") for text in said)
