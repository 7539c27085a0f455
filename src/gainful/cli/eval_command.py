"""`gainful eval`: from two files to a table."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from gainful.cli import help_groups, options
from gainful.cli.inputs import CollectionOptions, by_option, print_notices, takes_collection, takes_queries
from gainful.cli.progress_bar import ProgressBar
from gainful.data.collection import named_runs, no_such_run
from gainful.errors import UsageError
from gainful.notation import printable

if TYPE_CHECKING:
    from gainful.data.queries import Queries
    from gainful.evaluation.evaluations import Evaluation
    from gainful.measures.base import Measure


@dataclass(frozen=True)
class SparkOptions:
    """Whether Spark computes, and where it runs."""

    engine: str
    master: str | None

    def __post_init__(self) -> None:
        if self.engine == "local" and self.master is not None:
            raise UsageError("--master: expected with --engine spark, found without")


_takes_spark = options.takes(
    click.option(
        "--engine", type=click.Choice(["local", "spark"]), default="local", help="What computes it.  [default: local]"
    ),
    options.text_option(
        "--master", "--engine spark: local[4], spark://..., yarn, sc://...  [default: as set up]", "URL"
    ),
    spark=options.made_of(SparkOptions),
)


@help_groups.command("eval")
@click.argument("qrels", type=options.INPUT)
@click.argument("runs", type=options.INPUT, nargs=-1, required=True)
@options.takes_measures
@options.takes_output
@click.option("--by-query", is_flag=True, help="Every query's value, too.")
@options.places_option("Decimal places in tables.")
@options.text_option("--baseline", "Add every run's difference to this one.", "RUN")
@options.floor_option
@by_option
@takes_queries
@_takes_spark
@takes_collection("No notices, no progress bar. Values by query are --by-query.")
def command(
    qrels: str,
    runs: tuple[str, ...],
    wanted: options.WantedMeasures,
    output: options.Output,
    floors: tuple[str, ...],
    queries: Queries | None,
    spark: SparkOptions,
    reading: CollectionOptions,
    **shown: Any,
) -> int:
    """Score RUNS against the judgments QRELS and print a table, best values marked.

    Files are TREC text (judgments `query subtopic document grade`, runs `query Q0 document rank score tag`), CSV or
    TSV with a header, JSON, JSON lines, MS MARCO, LETOR, NTCIR or parquet, recognised by their content; plain or
    compressed (gz, bz2, xz, zst); `-` is standard input. With --engine spark they are parquet, CSV or JSON that Spark
    reads (folders, patterns, object stores), and --by-query -o FOLDER.parquet is written by it.

    Example: gainful eval qrels.txt bm25.run dense.run.gz -m nDCG@10 -m AP

    Example: gainful eval qrels.txt new.run --floor 'R@5>=0.45'
    """
    files, baseline = named_runs(runs, reading.names), shown["baseline"]
    if reading.inputs.features is None:
        _check_baseline(baseline, files)
    with ProgressBar("reading runs", wanted=not reading.quiet) as progress:
        collection = reading.started(qrels, files, progress) if spark.engine == "local" else None
        found = options.floors_from(floors, wanted.measures) if floors else {}
        least = {options.measures_from((name,), wanted.rel)[0]: floor for name, floor in found.items()}
        named = wanted.parsed() if wanted.measures or not least else []
        measures = list(dict.fromkeys([*named, *least]))
        if collection is None:
            from gainful.cli.spark_engine import evaluate_on_spark

            folder = output.path if output.path is not None and output.path.endswith(".parquet") else None
            if folder is not None and not shown["by_query"]:
                raise UsageError(
                    f"--output {folder}: expected --by-query, found none: Spark writes the values of queries as parquet"
                )
            evaluations = evaluate_on_spark(qrels, files, measures, reading, spark.master, folder, queries)
            if folder is not None:
                output, shown["by_query"] = output._replace(path=None), False
        else:
            # Loaded late, as is all that needs NumPy: by now the core has long been reading.
            from gainful.evaluation.evaluate import evaluate_runs

            judged = collection.judged
            _check_baseline(baseline, collection.runs)
            evaluations = evaluate_runs(
                judged, collection.runs, measures, queries=queries, threads=collection.threads, progress=progress
            )
    from gainful.evaluation.notices import notices
    from gainful.evaluation.report import Report

    lines = notices(evaluations.values())
    output.write(Report(evaluations, **shown), lines)
    if baseline is not None and output.format == "latex":
        lines.append(
            f"differences are not tested here; gainful compare --baseline {baseline} --format latex tests them"
        )
    print_notices(lines, reading.quiet)
    broken = list(_broken(evaluations, least))
    sys.stdout.flush()
    sys.stderr.writelines(f"{line}\n" for line in broken)
    return 1 if broken else 0


def _broken(evaluations: Mapping[str, Evaluation], least: Mapping[Measure, float]) -> Iterator[str]:
    """What is said of runs below a floor."""
    for measure, floor in least.items():
        from gainful.tasks.gate.gate_file import broken_floor

        for run, evaluation in evaluations.items():
            broken = broken_floor(measure, floor, evaluation.aggregate(measure))
            if broken is not None:
                yield f"{printable(run, 80)}: {broken}"


def _check_baseline(wanted: str | None, names: Iterable[str]) -> None:
    names = list(names)
    if wanted is not None and wanted not in names:
        raise no_such_run(wanted, names, "--baseline")
