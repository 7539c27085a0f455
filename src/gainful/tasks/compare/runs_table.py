"""How far the runs of systems vary that were run several times."""

from __future__ import annotations

import math
from statistics import stdev

from gainful.evaluation.score_matrix import ScoreMatrix
from gainful.notation import plural_of, printable
from gainful.pages.page import Column, Table
from gainful.stats.anova import system_by_query


def table_of_runs(matrix: ScoreMatrix, places: int) -> list[Table]:
    """How far the means of systems' runs vary, and whether the systems differ by query beyond that; none where no
    system was run several times."""
    if not matrix.repeats:
        return []
    counted = matrix.times_weights().repeats
    means = {name: [math.fsum(run) / run.size for run in each.T] for name, each in counted.items()}
    columns = (
        Column("system", get=lambda name: name),
        Column("runs", "count", get=lambda name: len(means.get(name, [0]))),
        Column("mean", "number", places, get=dict(zip(matrix.systems, matrix.means.tolist(), strict=True)).get),
        Column("lowest", "number", places, get=lambda name: min(means[name]) if name in means else None),
        Column("highest", "number", places, get=lambda name: max(means[name]) if name in means else None),
        Column("sd", "number", places + 1, get=lambda name: stdev(means[name]) if name in means else None),
    )
    notes = ["lowest, highest, sd: of the means of single runs; noise between runs enters test and interval"]
    single = [printable(name, 40) for name in matrix.systems if name not in means]
    if single:
        notes.append(f"one run only, which counts as if it could not vary: {', '.join(single)}")
    elif len(matrix.queries) > 1 and (found := system_by_query(matrix.values, list(matrix.repeats.values()))):
        effect, noise = found
        share = max(0.0, 1 - 1 / effect.f) if effect.f else 0.0
        notes.append(
            f"system by {matrix.unit}: F({effect.df:,}, {noise.df:,}) = {effect.f:.2f}, p = {effect.p:.2g}: of the "
            f"variance of differences between {plural_of(matrix.unit)}, {100 * share:.0f} % comes from the systems, "
            "the rest from noise between runs"
        )
    return [Table.of(columns, matrix.systems, title=f"Runs, {matrix.measure}", notes=tuple(notes))]
