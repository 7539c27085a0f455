"""`gainful report`: one page that people open in a browser."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from gainful.cli import help_groups, options
from gainful.cli.inputs import CollectionOptions, SessionInputs, print_notices, takes_collection, takes_queries
from gainful.cli.progress_bar import ProgressBar
from gainful.cli.score_inputs import SessionReading, refuse, takes_session_reading
from gainful.data.collection import Collection
from gainful.errors import UsageError
from gainful.kernel.core import default_threads

if TYPE_CHECKING:
    from gainful.data.queries import Queries

_NAME = "report.html"


@help_groups.command("report")
@click.argument("qrels", type=options.INPUT)
@click.argument("runs", type=options.INPUT, nargs=-1)
@options.takes_measures
@options.text_option("--baseline", "The run that others are compared with.", "RUN")
@options.file_option("--documents", "A table of documents: their ids, and titles or texts to show.")
@click.option(
    "--ranks",
    type=click.IntRange(1, 10_000),
    default=100,
    show_default=True,
    help="How many ranks of every list the page keeps.",
)
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False),
    default=_NAME,
    show_default=True,
    help="The page to write.",
)
@click.option("--open", "opens", is_flag=True, help="Open the page in a browser.")
@takes_queries
@takes_session_reading
@takes_collection()
def command(
    qrels: str,
    runs: tuple[str, ...],
    wanted: options.WantedMeasures,
    baseline: str | None,
    documents: str | None,
    ranks: int,
    output: str,
    opens: bool,
    queries: Queries | None,
    sessions: SessionReading | None,
    reading: CollectionOptions,
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
    options.check_written(output, "--output", [qrels, *runs, *filter(None, [documents])])
    from gainful.tasks.report import check_page, report, report_sessions, show
    from gainful.tasks.report.page_data import DocumentTitles

    check_page(output)
    threads = reading.threads or default_threads()
    given: Collection | SessionInputs
    make: Any
    systems: Any
    how: dict[str, Any]
    if sessions is None:
        given = reading.opened(qrels, runs, ahead=False)
        titles = None if documents is None else DocumentTitles(documents, reading.inputs.columns["documents"])
        make, systems, how = report, given.runs, {"queries": queries, "documents": titles}
    else:
        refuse(("queries", "weights", "only_queries", "exclude_queries", "documents"), "has no meaning with --sessions")
        given = sessions.inputs(reading, qrels, runs, threads)
        systems = given.sessions if given.topics is None else given.topics.given_to_all(given.sessions)
        make, how = report_sessions, {"judged_by": sessions.judged_by}
    from gainful.render.text_formats import hanging, prose_width

    measures = wanted.parsed() if wanted.measures or sessions is None else None
    with ProgressBar("making the page", wanted=not reading.quiet, in_bytes=False):
        page = make(given.judged, systems, measures, baseline=baseline, ranks=ranks, threads=threads, **how)
    page.save(output)
    if not reading.quiet:
        click.echo("\n".join(hanging(f"Wrote {output}: {page.data.title}", prose_width(sys.stdout))))
    no_browser = ["no browser was found to open the page"] if opens and not show(output) else []
    print_notices([*page.notices, *no_browser], reading.quiet)
