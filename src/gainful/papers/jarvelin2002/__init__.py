"""Järvelin and Kekäläinen: Cumulated gain-based evaluation of IR techniques. ACM TOIS 20(4), 2002."""

from __future__ import annotations

from collections.abc import Mapping

from gainful.data.collection import require_runs
from gainful.data.graded import GradedRun
from gainful.data.judged import Judged
from gainful.data.qrels import Qrels, QrelsLike
from gainful.data.run import RunLike
from gainful.errors import UsageError
from gainful.evaluation.evaluate import evaluate_graded, join_each, readable_again
from gainful.evaluation.report import Report
from gainful.kernel.parallel import Progress
from gainful.measures.base import read_whole
from gainful.papers.claims import Section, Study
from gainful.papers.jarvelin2002.discussion import base_section, gain_section, last_rank_section, scenario_section
from gainful.papers.jarvelin2002.earlier_measures import CutLists, earlier_section
from gainful.papers.jarvelin2002.equations import discount_section, list_section, printed_sections, vector_sections
from gainful.papers.jarvelin2002.gain_figures import figure_curves, figure_sections
from gainful.papers.jarvelin2002.setting import KEY, Weights, data_sentence, measure
from gainful.papers.jarvelin2002.significance import (
    LAST_RANK,
    recall_section,
    table_1_section,
    table_2_measures,
    table_2_section,
)
from gainful.tasks.sensitivity import assess_sensitivity
from gainful.tasks.sensitivity.sensitivity_findings import Sweep


def examples() -> tuple[Section, ...]:
    """All that can be computed without data: the worked vectors, errata, a false claim with its counter-example."""
    return (*vector_sections(), list_section(), *printed_sections(), discount_section())


def study(
    judged: Judged,
    runs: Mapping[str, RunLike],
    *,
    other: QrelsLike | None = None,
    collection_size: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Study:
    """The case study on any graded judgments and runs: tables, figures, and the points that the article makes.

    ``other`` are judgments of the same documents by somebody else, for Table 1; ``collection_size`` is the number of
    documents in the collection, which some of the earlier measures need. Runs are read several times.
    """
    require_runs(runs)
    if len(runs) < 2:
        raise UsageError(
            f"{KEY}: expected two or more runs to compare, found {len(runs)}",
            "--runs takes a folder, a pattern, or may be repeated",
        )
    size = None if collection_size is None else read_whole(collection_size, "collection size")
    weights = Weights.of(judged)
    again = {name: readable_again(run) for name, run in runs.items()}
    curves = figure_curves(judged, again, weights, threads, progress)
    cut = CutLists.of(judged, again, threads, progress)
    sweep = _sweep(judged, again, weights, threads, progress)
    graded = join_each(judged, again, _kept, frozenset({"ties"}), threads=threads, progress=progress)
    table_2 = list(table_2_measures(weights).values())
    evaluations = {name: evaluate_graded(run, table_2) for name, run in graded.items()}
    # What the highest level alone leaves undefined is said once, beside Table 2, not of every run.
    noted = {name: evaluate_graded(run, table_2[:2]) for name, run in graded.items()}
    sections = (
        recall_section(judged, weights),
        *(() if other is None else (table_1_section(judged, Qrels.of(other)),)),
        *figure_sections(curves, weights),
        table_2_section(judged, weights, evaluations),
        earlier_section(graded, cut, size),
        last_rank_section(graded, weights),
        gain_section(graded, weights, sweep),
        base_section(graded, weights),
        scenario_section(judged, graded),
    )
    return Study(data_sentence(judged, weights, len(runs)), sections, noted, tuple(Report(noted).signatures))


def _kept(name: str, graded: GradedRun) -> GradedRun:
    return graded


def _sweep(
    judged: Judged,
    runs: Mapping[str, RunLike],
    weights: Weights,
    threads: int | None,
    progress: Progress | None,
) -> Sweep | None:
    """nDCG while the highest level gains weight."""
    varied = measure("nDCG", weights.flat, LAST_RANK, over_ranks=True).replace(gain="linear")
    return assess_sensitivity(judged, runs, measure=varied, gains=["flat"], threads=threads, progress=progress).sweep
