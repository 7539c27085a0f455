"""`gainful report`: an interactive HTML report."""

from __future__ import annotations

import sys
from typing import Any

import click

from gainful.cli import help_groups
from gainful.cli.flags import INPUT, flags_of, given, refuse, takes
from gainful.cli.inputs import CollectionOptions, QueryOptions, SessionInputs
from gainful.cli.options import MeasureOptions, Quiet, check_written, measures_of
from gainful.cli.score_inputs import SessionReading
from gainful.data.collection import Collection
from gainful.errors import UsageError
from gainful.frozen import dataclass
from gainful.kernel.core import default_threads
from gainful.measures.catalog import DEFAULT_MEASURES
from gainful.question import setting, settings_of
from gainful.tasks.run_questions import ReportOptions


@dataclass(frozen=True, kw_only=True)
class _PageOutput(Quiet):
    output: str = setting("report.html", "Page to write.", kind="written", flag="--output -o")
    opens: bool = setting(False, "Open the page in a browser.", flag="--open")


@help_groups.command("report")
@click.argument("qrels", type=INPUT)
@click.argument("runs", type=INPUT, nargs=-1)
@takes(wanted=measures_of(DEFAULT_MEASURES))
@flags_of(ReportOptions)
@takes(page=_PageOutput, of_queries=QueryOptions, sessions=SessionReading, reading=CollectionOptions)
def command(
    qrels: str,
    runs: tuple[str, ...],
    wanted: MeasureOptions,
    page: _PageOutput,
    of_queries: QueryOptions,
    sessions: SessionReading | None,
    reading: CollectionOptions,
    **params: Any,
) -> None:
    """Write an interactive report about RUNS (or --sessions) judged by QRELS: one HTML file without dependencies.

    It states which system is better and with what certainty. Readers can change its assumptions (highly relevant
    documents count ten times as much, users are impatient), find the queries that decide, and see each query's results.

    Example: gainful report qrels.txt bm25.run dense.run.gz -o report.html

    Example: gainful report qrels.txt *.run --baseline bm25 --queries queries.csv --documents titles.csv --open

    Example: gainful report qrels.txt old.jsonl new.jsonl --sessions
    """
    if not runs:
        raise UsageError("report needs judgments and at least one run", "gainful report QRELS RUNS...")
    asked: dict[str, Any] = given(ReportOptions, params)
    documents = asked.get("documents")
    check_written(page.output, "--output")
    from gainful.tasks.report import check_page, report, report_sessions, show
    from gainful.tasks.report.page_data import DocumentTitles

    check_page(page.output)
    asked["threads"] = reading.threads or default_threads()
    read: Collection | SessionInputs
    make: Any
    systems: Any
    if sessions is None:
        read = reading.opened(qrels, runs, ahead=False)
        asked["queries"] = of_queries.read(reading.inputs.columns["qrels"], qrels)
        if documents is not None:
            asked["documents"] = DocumentTitles(documents, reading.inputs.columns["documents"])
        make, systems = report, read.runs
    else:
        refuse((*settings_of(QueryOptions), "documents"), "cannot be used with --sessions")
        read = sessions.inputs(reading, qrels, runs)
        asked["judged_by"] = sessions.judged_by
        make, systems = report_sessions, read.sessions
        systems = systems if read.topics is None else read.topics.given_to_all(systems)
    from gainful.render.text_formats import hanging, prose_width

    measures = wanted.parsed() if wanted.measures or sessions is None else None
    with page.waiting("writing the report", in_bytes=False):
        built = make(read.judged, systems, measures, **asked)
    built.save(page.output)
    if not page.quiet:
        click.echo("\n".join(hanging(f"Wrote {page.output}: {built.data.title}", prose_width(sys.stdout))))
    no_browser = ["no browser was found to open the page"] if page.opens and not show(page.output) else []
    page.notify([*built.notices, *no_browser])
