"""What measures say of graded runs: raw scores, NaN where a formula is undefined."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gainful.data.graded import GradedRun, join
from gainful.data.judged import Judged
from gainful.data.qrels import Qrels
from gainful.errors import UsageError
from gainful.kernel.arrays import Floats, Ints
from gainful.measures.base import Measure
from gainful.measures.block import Block, blocks
from gainful.policy import Policy


def raw_scores(graded: GradedRun, measures: Sequence[Measure], *, only_answered: bool = False) -> Floats:
    """Measures x queries, NaN where a formula is undefined, and where a query was not looked at."""
    scores = np.full((len(measures), len(graded.query_ids)), np.nan)
    queries = np.flatnonzero(graded.answered) if only_answered else None
    for block, seen_by in seen_blocks(graded, measures, queries):
        for i in seen_by:
            scores[i, block.queries] = computed(measures[i], block)
    return scores


def seen_blocks(
    graded: GradedRun, measures: Sequence[Measure], queries: Ints | None = None
) -> Iterator[tuple[Block, list[int]]]:
    """The blocks of a run, each with the places of the measures that see lists so: whole, or condensed."""
    condensed = [condenses(measure, graded.policy) for measure in measures]
    for view in dict.fromkeys(condensed):
        seen_by = [i for i, is_condensed in enumerate(condensed) if is_condensed == view]
        for block in blocks(graded.condensed() if view else graded, queries=queries):
            yield block, seen_by


def computed(measure: Measure, block: Block) -> Floats:
    """What a measure says of a block, held to what it has to return."""
    values = np.asarray(measure.compute(block), np.float64)
    if values.shape != (block.size,) or np.isinf(values).any():
        raise UsageError(f"{measure}: expected compute to return one finite score (or NaN) a query, found {values!r}")
    return values


def score_list(
    measure: Measure,
    grades: Sequence[float | None],
    unretrieved: Sequence[float],
    scale: float | None,
    policy: Mapping[str, Any],
) -> float:
    """The raw score of one list that is given by its grades."""
    judged = {f"found{i}": grade for i, grade in enumerate(grades) if grade is not None}
    judged.update({f"unretrieved{i}": grade for i, grade in enumerate(unretrieved)})
    # Judgments are never empty; a missed document of grade 0 changes no score.
    qrels = Qrels.from_dict({"query": judged or {"none": 0}}, scale=scale)
    settled = Policy(**policy)
    prepared = Judged(qrels, settled)
    measure.check(prepared.levels)
    run = {f"found{i}": -float(i) for i in range(len(grades))}
    graded = join(prepared, {"query": run}, settled, want_scores=True)
    return float(raw_scores(graded, [measure])[0, 0])


def condenses(measure: Measure, policy: Policy) -> bool:
    """Whether a measure sees lists without their unjudged documents."""
    return not measure.whole_list and (getattr(measure, "unjudged", None) or policy.unjudged) == "condensed"
