"""`gainful report`: one page that people open in a browser."""

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
    output: str = setting("report.html", "The page to write.", kind="written", flag="--output -o")
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
    """Write one page about RUNS (or --sessions) judged by QRELS that a browser opens: a file that needs nothing else.

    It says who is better and how surely, and lets its reader ask: what if highly relevant counted ten times, what if
    users were impatient, which queries decide it, what did the systems show for this one?

    Example: gainful report qrels.txt bm25.run dense.run.gz -o report.html

    Example: gainful report qrels.txt *.run --baseline bm25 --queries queries.csv --documents titles.csv --open

    Example: gainful report qrels.txt old.jsonl new.jsonl --sessions
    """
    if not runs:
        raise UsageError(
            "report: expected judgments and at least one run, found no run", "gainful report QRELS RUNS..."
        )
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
        refuse((*settings_of(QueryOptions), "documents"), "has no meaning with --sessions")
        read = sessions.inputs(reading, qrels, runs)
        asked["judged_by"] = sessions.judged_by
        make, systems = report_sessions, read.sessions
        systems = systems if read.topics is None else read.topics.given_to_all(systems)
    from gainful.render.text_formats import hanging, prose_width

    measures = wanted.parsed() if wanted.measures or sessions is None else None
    with page.waiting("making the page", in_bytes=False):
        made = make(read.judged, systems, measures, **asked)
    made.save(page.output)
    if not page.quiet:
        click.echo("\n".join(hanging(f"Wrote {page.output}: {made.data.title}", prose_width(sys.stdout))))
    no_browser = ["no browser was found to open the page"] if page.opens and not show(page.output) else []
    page.notify([*made.notices, *no_browser])
