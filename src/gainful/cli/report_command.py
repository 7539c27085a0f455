"""`gainful report`: one page that people open in a browser."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import click

from gainful.cli import help_groups
from gainful.cli.asking import INPUT, refuse, takes
from gainful.cli.inputs import CollectionOptions, QueryOptions, SessionInputs
from gainful.cli.options import MeasureOptions, Quiet, check_written, measures_of
from gainful.cli.score_inputs import SessionReading
from gainful.data.collection import Collection
from gainful.errors import UsageError
from gainful.kernel.core import default_threads
from gainful.measures.catalog import DEFAULT_MEASURES
from gainful.question import setting, settings_of


@dataclass(frozen=True, kw_only=True)
class _PageOptions(Quiet):
    baseline: str | None = setting(None, "The run that others are compared with.", metavar="RUN")
    documents: str | None = setting(None, "A table of documents: their ids, and titles or texts to show.", kind="file")
    ranks: int = setting(100, "How many ranks of every list the page keeps.", kind="whole", least=1, most=10_000)
    output: str = setting("report.html", "The page to write.", kind="written", flag="--output -o")
    opens: bool = setting(False, "Open the page in a browser.", flag="--open")


@help_groups.command("report")
@click.argument("qrels", type=INPUT)
@click.argument("runs", type=INPUT, nargs=-1)
@takes(
    wanted=measures_of(DEFAULT_MEASURES),
    asked=_PageOptions,
    of_queries=QueryOptions,
    sessions=SessionReading,
    reading=CollectionOptions,
)
def command(
    qrels: str,
    runs: tuple[str, ...],
    wanted: MeasureOptions,
    asked: _PageOptions,
    of_queries: QueryOptions,
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
    output, documents = asked.output, asked.documents
    check_written(output, "--output", [qrels, *runs, *filter(None, [documents])])
    from gainful.tasks.report import check_page, report, report_sessions, show
    from gainful.tasks.report.page_data import DocumentTitles

    check_page(output)
    threads = reading.threads or default_threads()
    given: Collection | SessionInputs
    make: Any
    systems: Any
    how: dict[str, Any]
    if sessions is None:
        queries = of_queries.read(reading.inputs.columns["qrels"], qrels)
        given = reading.opened(qrels, runs, ahead=False)
        titles = None if documents is None else DocumentTitles(documents, reading.inputs.columns["documents"])
        make, systems, how = report, given.runs, {"queries": queries, "documents": titles}
    else:
        refuse((*settings_of(QueryOptions), "documents"), "has no meaning with --sessions")
        given = sessions.inputs(reading, qrels, runs)
        systems = given.sessions if given.topics is None else given.topics.given_to_all(given.sessions)
        make, how = report_sessions, {"judged_by": sessions.judged_by}
    from gainful.render.text_formats import hanging, prose_width

    measures = wanted.parsed() if wanted.measures or sessions is None else None
    with asked.waiting("making the page", in_bytes=False):
        page = make(given.judged, systems, measures, baseline=asked.baseline, ranks=asked.ranks, threads=threads, **how)
    page.save(output)
    if not asked.quiet:
        click.echo("\n".join(hanging(f"Wrote {output}: {page.data.title}", prose_width(sys.stdout))))
    no_browser = ["no browser was found to open the page"] if asked.opens and not show(output) else []
    asked.notify([*page.notices, *no_browser])
