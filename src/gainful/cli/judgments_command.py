"""`gainful judgments`: a summary of judgments, or the agreement between two sets."""

from __future__ import annotations

from typing import Any

import click

from gainful.cli import help_groups
from gainful.cli.flags import INPUT, flags_of, given, takes
from gainful.cli.inputs import CollectionOptions
from gainful.cli.options import MeasureOptions, Output, measures_of
from gainful.data.collection import named_runs
from gainful.errors import UsageError
from gainful.frozen import dataclass
from gainful.question import setting
from gainful.tasks.run_questions import JudgeOptions


@dataclass(frozen=True, kw_only=True)
class _Runs:
    runs: tuple[str, ...] = setting(
        (), "Run to score with both sets (repeatable).", kind="file", flag="--run", repeatable=True
    )


@dataclass(frozen=True, kw_only=True)
class _Shown:
    by_query: bool = setting(False, "Show each query, not only the distribution.")
    merge: str | None = setting(
        None, "Write A with the judgments of this file added, as TREC text.", kind="file", metavar="FILE"
    )


@help_groups.command("judgments")
@click.argument("a", type=INPUT)
@click.argument("b", type=INPUT, required=False)
@takes(
    scored=_Runs,
    wanted=measures_of(("nDCG@10",), rel_help="Lowest relevant grade.  [default: any above 0]"),
    output=Output,
    shown=_Shown,
)
@flags_of(JudgeOptions)
@takes(reading=CollectionOptions)
def command(
    a: str,
    b: str | None,
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
    Krippendorff's alpha and bias, with bootstrap intervals over queries. With --run: whether the system order changes.

    Example: gainful judgments human.txt model.txt --run bm25.run --run dense.run

    Example: gainful judgments qrels.txt --merge next.csv -o merged.txt
    """
    inputs, rel, files = reading.inputs, wanted.rel, named_runs(scored.runs, reading.names)
    if not files and inputs.exclude is not None:
        raise UsageError("--exclude needs runs", "--run names one")
    from gainful.tasks.judgments import describe_judgments, merge_judgments
    from gainful.tasks.judgments.judges import compare_judgments

    if shown.merge is not None:
        if b is not None or files:
            raise UsageError("--merge cannot be used with B or --run", "gainful judgments A --merge FILE -o merged.txt")
        with output.opened() as out:
            out.write(merge_judgments(inputs.read_qrels(a), inputs.read_qrels(shown.merge)))
        return
    if b is None and not files and not wanted.measures:
        found = describe_judgments(inputs.read_qrels(a), rel=rel, policy=reading.policy, scale=reading.scale)
        output.show(found.page(shown.by_query))
        return
    compared = compare_judgments(
        inputs.read_qrels(a),
        None if b is None else inputs.read_qrels(b),
        runs=inputs.runs(files),
        measures=wanted.parsed() if files or wanted.measures else None,
        rel=rel,
        policy=reading.policy,
        scale=reading.scale,
        **given(JudgeOptions, params),
    )
    output.show(compared.page(shown.by_query), compared.notices)
