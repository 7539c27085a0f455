"""`gainful judgments`: a summary of judgments, the agreement between two sets, or a calibration of one by another."""

from __future__ import annotations

import os
from typing import Any

import click

from gainful.cli import help_groups
from gainful.cli.flags import INPUT, flags_of, given, refuse, takes
from gainful.cli.inputs import CollectionOptions
from gainful.cli.options import MeasureOptions, Output, measures_of
from gainful.data.collection import named_runs, named_systems
from gainful.errors import UsageError
from gainful.frozen import dataclass
from gainful.question import setting
from gainful.tasks.run_questions import CalibrationOptions, JudgeOptions


@dataclass(frozen=True, kw_only=True)
class _Runs:
    calibrate: bool = setting(False, "Score RUNS as human judgments A would, given model judgments B of more queries.")
    runs: tuple[str, ...] = setting(
        (), "Run to score with both sets (repeatable).", kind="file", flag="--run", repeatable=True
    )


@dataclass(frozen=True, kw_only=True)
class _Shown:
    by_query: bool = setting(False, "Show each query, not only the distribution.")
    merge: str | None = setting(
        None, "Write A with the judgments of this file added, as TREC text.", kind="file", metavar="FILE"
    )


#: Parameters that apply with ``--merge``.
_OF_MERGE = {"a", "merge", "path", "format", "quiet", "qrels_format", "columns", "grades"}


@help_groups.command("judgments")
@click.argument("a", type=INPUT)
@click.argument("b", type=INPUT, required=False)
@click.argument("more_runs", metavar="[RUNS]...", type=INPUT, nargs=-1)
@takes(scored=_Runs, wanted=measures_of(("nDCG@10",), rel_help="Lowest relevant grade.  [default: any above 0]"))
@takes(output=Output, shown=_Shown)
@flags_of(JudgeOptions)
@flags_of(CalibrationOptions)
@takes(reading=CollectionOptions)
def command(
    a: str,
    b: str | None,
    more_runs: tuple[str, ...],
    scored: _Runs,
    wanted: MeasureOptions,
    output: Output,
    shown: _Shown,
    reading: CollectionOptions,
    **params: Any,
) -> None:
    """Summarise the judgments A: levels, recall bases, oddities. With B, measure how far the two agree.

    A and B may be two assessors, people and a language model, old and new. On the documents that both judge: a table of
    grades with the percentage of each level of A, exact agreement and agreement by distance, Cohen's kappa,
    Krippendorff's alpha and bias, with bootstrap intervals over queries. With RUNS: whether the system order changes.

    With --calibrate, A are human judgments of some queries and B a model's of all (NAME=FILE,FILE: judged repeatedly):
    means, differences and the order of RUNS as human judgments would give them, with intervals.

    Example: gainful judgments human.txt model.txt bm25.run dense.run

    Example: gainful judgments --calibrate human.txt model.txt bm25.run dense.run -m nDCG@10

    Example: gainful judgments qrels.txt --merge next.csv -o merged.txt
    """
    inputs, rel, files = reading.inputs, wanted.rel, named_runs((*scored.runs, *more_runs), reading.names)
    if not files and inputs.exclude is not None:
        raise UsageError("--exclude needs runs", "--run names one")
    from gainful.tasks.judgments import describe_judgments, merge_judgments
    from gainful.tasks.judgments.calibration import calibrate_judgments
    from gainful.tasks.judgments.judges import compare_judgments

    if shown.merge is not None:
        if b is not None or files:
            raise UsageError("--merge cannot be used with B or --run", "gainful judgments A --merge FILE -o merged.txt")
        refuse([n for n in click.get_current_context().params if n not in _OF_MERGE], "cannot be used with --merge")
        if output.chosen_format not in ("table", "trec"):
            raise UsageError(f"--merge writes TREC text, not {output.chosen_format}")
        answers = inputs.read_qrels(shown.merge)
        try:
            judged = inputs.read_qrels(a)
        except UsageError:  # words of the answers alone
            if not os.path.isfile(a):  # read only once
                raise
            judged = inputs._replace(qrels=inputs.qrels._replace(grades={})).read_qrels(a)
        with output.opened() as out:
            out.write(merge_judgments(judged, answers))
        output.notify((*judged.notes, *answers.notes))
        return
    asked, of_calibration = given(JudgeOptions, params), given(CalibrationOptions, params)
    shared: dict[str, Any] = {"policy": reading.policy, "scale": reading.scale}
    for name in asked if scored.calibrate else of_calibration:
        raise UsageError(f"--{name} {'cannot be used with' if scored.calibrate else 'requires'} --calibrate")
    if scored.calibrate:
        refuse(["by_query"], "cannot be used with --calibrate")
        if b is None or not files:
            raise UsageError("--calibrate needs human judgments, model judgments and runs")
        [model] = named_systems([b]).values()
        repeated = tuple(inputs.read_qrels(each) for each in ([model] if isinstance(model, str) else model))
        runs, measures = inputs.runs(files), wanted.parsed()
        of_calibration |= {**shared, "threads": reading.threads}
        calibrated = calibrate_judgments(inputs.read_qrels(a), repeated, runs, measures, **of_calibration)
        output.show(calibrated.page(), calibrated.notices)
        return
    if b is None and not files and not wanted.measures:
        output.show(describe_judgments(inputs.read_qrels(a), rel=rel, **shared).page(shown.by_query))
        return
    both = inputs.read_qrels(a), None if b is None else inputs.read_qrels(b)
    asked |= {"measures": wanted.parsed() if files or wanted.measures else None, "rel": rel, **shared}
    compared = compare_judgments(*both, runs=inputs.runs(files), **asked)
    output.show(compared.page(shown.by_query), compared.notices)
