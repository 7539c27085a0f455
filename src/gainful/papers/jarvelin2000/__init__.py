"""Järvelin and Kekäläinen: IR evaluation methods for retrieving highly relevant documents (SIGIR 2000), run again."""

from __future__ import annotations

from collections.abc import Mapping

from gainful.data.collection import require_runs
from gainful.data.judged import Judged
from gainful.data.run import RunLike
from gainful.errors import InputError, UsageError
from gainful.evaluation.evaluate import readable_again
from gainful.evaluation.report import Report
from gainful.kernel.parallel import Progress
from gainful.notation import count_of
from gainful.papers.claims import Study
from gainful.papers.jarvelin2000.curve_readings import section_3_6, section_3_7
from gainful.papers.jarvelin2000.printed_vectors import examples
from gainful.papers.jarvelin2000.recall_bases import (
    Weightings,
    figure_1,
    figure_2,
    figures_3,
    has_the_papers_bases,
    recall_bases,
    recall_bases_text,
    table_1_section,
)
from gainful.papers.readings import graded_levels
from gainful.tasks.curves.gain_curves import gain_curves
from gainful.tasks.curves.recall_levels import RecallLevels, checked_baseline, recall_levels

__all__ = ["examples", "study"]

_KEY = "jarvelin2000"


def study(
    judged: Judged,
    runs: Mapping[str, RunLike],
    *,
    baseline: str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Study:
    """The case study of section 3 on these runs: recall bases, Table 1, Figures 1 to 3, and what is read off them.

    Differences are to ``baseline``, else to the first run; what depends on which that is, is then undecided. Runs are
    read twice.

    >>> from gainful import Policy, Qrels
    >>> judged = Judged(Qrels.from_dict({"q1": {"a": 2, "b": 1}, "q2": {"a": 1, "c": 2}}), Policy())
    >>> found = study(judged, {"one": {"q1": ["a", "b"], "q2": ["c", "a"]}, "two": {"q1": ["b", "a"], "q2": ["a"]}})
    >>> [section.name for section in found.sections][:3]
    ['Section 3.2', 'Table 1', 'Figure 1']
    """
    require_runs(runs)
    if len(runs) < 2:
        raise UsageError(
            f"{_KEY}: expected two or more runs to compare, found {len(runs)}",
            "--runs takes a folder, a pattern, or may be repeated",
        )
    checked_baseline(runs, baseline)
    occurring = [grade for grade in judged.levels.tolist() if grade > 0]
    weightings = Weightings.of(graded_levels(judged, _KEY), occurring)
    if len(occurring) < 2:
        raise InputError(
            f"{judged.qrels.name}: {_KEY} expects documents of two or more grades above 0, found one",
            "the paper's judgments have the grades 0, 1, 2 and 3",
        )
    kept = {name: readable_again(run) for name, run in runs.items()}
    levels = recall_levels(judged, kept, by="level", baseline=baseline, threads=threads, progress=progress)
    curves = gain_curves(judged, kept, weightings.measures, draws=0, threads=threads, progress=progress)
    sections = (
        recall_bases(levels),
        table_1_section(levels, is_chosen=baseline is not None),
        figure_1(levels),
        figure_2(curves, weightings),
        section_3_6(curves, weightings),
        *figures_3(curves, weightings),
        section_3_7(curves, weightings),
    )
    # Queries without a document of a level, which are skipped, are in the tables by level, where it is said; gain has
    # the policy that was asked for.
    return Study(_data(levels), sections, curves.evaluations, tuple(Report(curves.evaluations).signatures))


def _data(levels: RecallLevels) -> str:
    there = f"{count_of(len(levels.runs), 'run')}, {recall_bases_text(levels)}."
    if has_the_papers_bases(levels):
        return (
            f"{there} These are the paper's recall bases; that the runs are its query types nobody can tell, so its "
            "other figures stand beside for orientation."
        )
    return (
        f"{there} These are not the paper's (30 requests with 857, 700 and 366 documents of levels 1, 2 and 3): its "
        "figures are of other data, and stand beside for orientation."
    )
