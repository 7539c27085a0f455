"""`gainful eval`: score runs and print a table."""

from __future__ import annotations

import sys

import click

from gainful.cli import help_groups
from gainful.cli.flags import INPUT, takes
from gainful.cli.inputs import CollectionOptions, GroupedQueries
from gainful.cli.options import Floors, MeasureOptions, Output, Places, floors_from, measures_from, measures_of
from gainful.data.collection import named_runs
from gainful.errors import UsageError
from gainful.evaluation.beside import Beside
from gainful.frozen import dataclass, replace
from gainful.measures.catalog import DEFAULT_MEASURES
from gainful.notation import printable
from gainful.question import setting


@dataclass(frozen=True, kw_only=True)
class _SparkOptions:
    engine: str = setting("local", "Engine that computes the scores.", choices=["local", "spark"])
    master: str | None = setting(
        None, "Spark master, such as local[4]; also spark://..., yarn, sc://...", metavar="URL", shown="as set up"
    )

    def __post_init__(self) -> None:
        if self.engine == "local" and self.master is not None:
            raise UsageError("--master needs --engine spark")


@dataclass(frozen=True, kw_only=True)
class _EvalOutput(Output):
    quiet: bool = setting(
        False, "Suppress notices and the progress bar; --by-query prints per-query values.", flag="--quiet -q"
    )

    @property
    def chosen_format(self) -> str:
        """The output format; parquet is written by Spark."""
        is_spark = click.get_current_context().params["engine"] == "spark"
        return self.format or "table" if is_spark and self.spark_folder else super().chosen_format

    @property
    def spark_folder(self) -> str | None:
        """The folder that Spark writes."""
        return self.path if self.path is not None and self.path.endswith(".parquet") else None


@dataclass(frozen=True, kw_only=True)
class _Shown(Places):
    by_query: bool = setting(False, "Also print per-query values.")
    baseline: str | None = setting(None, "Add each run's difference from this run.", metavar="RUN")


@help_groups.command("eval")
@click.argument("qrels", type=INPUT)
@click.argument("runs", type=INPUT, nargs=-1, required=True)
@takes(
    wanted=measures_of(DEFAULT_MEASURES),
    output=_EvalOutput,
    shown=_Shown,
    floor=Floors,
    beside=Beside,
    of_queries=GroupedQueries,
    spark=_SparkOptions,
    reading=CollectionOptions,
)
def command(
    qrels: str,
    runs: tuple[str, ...],
    wanted: MeasureOptions,
    output: _EvalOutput,
    shown: _Shown,
    floor: Floors,
    beside: Beside,
    of_queries: GroupedQueries,
    spark: _SparkOptions,
    reading: CollectionOptions,
) -> int:
    """Score RUNS against the judgments QRELS and print a table with the best values marked.

    Files are TREC text (judgments `query subtopic document grade`, runs `query Q0 document rank score tag`), CSV or
    TSV with a header, JSON, JSON lines, MS MARCO, LETOR, NTCIR or parquet, recognised by their content; plain or
    compressed (gz, bz2, xz, zst); `-` is standard input. With --engine spark, Spark reads parquet, CSV or JSON
    (folders, patterns, object stores), and --by-query -o FOLDER.parquet writes per-query values with Spark.

    Example: gainful eval qrels.txt bm25.run dense.run.gz -m nDCG@10 -m AP

    Example: gainful eval qrels.txt new.run --floor 'R@5>=0.45'
    """
    if beside != Beside() and output.chosen_format == "trec":
        raise UsageError("--bounds, --chance and --loss have no lines in trec_eval's format", "use --format jsonl")
    files, baseline = named_runs(runs, reading.names), shown.baseline
    queries = of_queries.read(reading.inputs.columns["qrels"], qrels, of_queries.by)
    with output.waiting("reading runs"):
        hashed = output.chosen_format == "jsonl"  # the only format with hashes
        collection = reading.started(qrels, files, hashed=hashed) if spark.engine == "local" else None
        floors = floors_from(floor.floors, wanted.measures)
        least = {measures_from((name,), wanted.rel)[0]: worst for name, worst in floors.items()}
        named = wanted.parsed() if wanted.measures or not least else []
        measures = list(dict.fromkeys([*named, *least]))
        if collection is None:
            from gainful.cli.spark_engine import evaluate_on_spark

            if beside != Beside():
                raise UsageError("--bounds, --chance and --loss are not computed by Spark")
            folder = output.spark_folder
            if folder is not None and not shown.by_query:
                raise UsageError(f"--output {folder} needs --by-query: Spark writes per-query values as parquet")
            evaluations = evaluate_on_spark(qrels, files, measures, reading, spark.master, folder, queries)
            if folder is not None:
                output, shown = replace(output, path=None), replace(shown, by_query=False)
        else:
            # Loaded late, like everything that needs NumPy: the core is already reading.
            from gainful.evaluation.evaluate import evaluate_runs

            evaluations = evaluate_runs(
                collection.judged, collection.runs, measures, queries=queries, beside=beside, threads=collection.threads
            )
    from gainful.evaluation.evaluation_page import Report
    from gainful.evaluation.notices import notices

    # HTML pages contain the notices even if they are not printed; computing the range of ties takes time.
    lines = notices(evaluations.values()) if output.chosen_format == "html" or not output.quiet else []
    if baseline is not None and output.chosen_format == "latex":
        lines.append(f"differences are not tested; use gainful compare --baseline {baseline} --format latex")
    output.show(Report(evaluations, shown.by_query, shown.places, baseline, of_queries.by), lines)
    if click.get_current_context().find_root().obj[1:2] == ("-q",) and not shown.by_query and wanted.measures:
        from gainful.measures.catalog import translation_of

        if all(map(translation_of, wanted.measures)):  # trec_eval's measure names and its -q
            sys.stderr.write("hint: -q means --quiet; --by-query prints per-query values, like trec_eval -q\n")
    broken = []
    for measure, worst in least.items():
        from gainful.tasks.gate import broken_floor

        found = {run: broken_floor(measure, worst, each.aggregate(measure)) for run, each in evaluations.items()}
        broken += [f"{printable(run, 80)}: {why}\n" for run, why in found.items() if why is not None]
    sys.stdout.flush()
    sys.stderr.writelines(broken)
    return 1 if broken else 0
