"""`gainful sessions`: whole sessions scored, their queries by position, their curves, and what users said of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gainful.cli import help_groups, options
from gainful.cli.asking import flags_of, given
from gainful.cli.inputs import SessionOptions, print_notices, takes_sessions
from gainful.cli.progress_bar import ProgressBar
from gainful.data.collection import named_runs, no_such_run
from gainful.errors import UsageError
from gainful.kernel.core import default_threads
from gainful.measures.catalog import DEFAULT_SESSION_MEASURES
from gainful.notation import nearest, printable
from gainful.tasks.curve_questions import SESSION_CURVES, SessionStudyOptions

if TYPE_CHECKING:
    _Choice = click.Choice[str]
else:
    _Choice = click.Choice  # generic in newer versions only

_CURVES = {**SESSION_CURVES, "cost": "gain by what it cost (--cost-query, --cost-document)"}


class _CurvesChoice(_Choice):
    """The kinds of curve; says what to do where a file stands in their place."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            raise UsageError(
                f"--curves: expected {' | '.join(_CURVES)}, or nothing, found '{value}'",
                nearest(str(value), list(_CURVES)) or "before files write --curves average, or put --curves last",
            ) from error


@help_groups.command("sessions")
@click.argument("qrels", type=options.INPUT)
@click.argument("sessions", type=options.INPUT, nargs=-1, required=True)
@options.several_measures_option(DEFAULT_SESSION_MEASURES, "sDCG@10")
@options.rel_option
@click.option("--by-session", is_flag=True, help="Every session's value, too.")
@click.option(
    "--curves",
    is_flag=False,
    flag_value="average",
    type=_CurvesChoice(list(_CURVES)),
    help="Session vectors: " + "; ".join(f"{name}: {about}" for name, about in _CURVES.items()) + ".",
)
@flags_of(SessionStudyOptions)
@options.file_option("--ratings", "A table with a header, one row a session: what users said.")
@options.places_option("Decimal places in tables.")
@options.text_option("--baseline", "Add every run's difference to this one.", "RUN")
@click.option("--name", "names", multiple=True, help="A run's name; once for every file, in their order.")
@options.scale_option
@options.takes_output_and_figure
@takes_sessions
@options.threads_option
@options.quiet_option("No notices, no progress bar.")
def command(
    qrels: str,
    sessions: tuple[str, ...],
    measures: tuple[str, ...],
    rel: str | None,
    output: options.Output,
    figure: options.FigureOutput,
    reading: SessionOptions,
    **asked: Any,
) -> None:
    """Score whole SESSIONS, one file a system, against the judgments QRELS.

    Sessions are JSON lines (one session with its queries and their results), a table with a header (session, query
    number, rank, document), a log (user or session, time, query text, documents) as CSV, TSV or JSON lines, a run whose
    query ids are session and turn, or TREC's session log; judgments as those of `gainful eval`, by topic, session,
    query or query text. Where sessions name their system, each system has a row.

    Example: gainful sessions qrels.txt agent.jsonl -m sDCG@10 -m nsDCG@10 --curves --figure sessions.pdf
    """
    wanted, baseline, quiet = given(SessionStudyOptions, asked), asked["baseline"], asked["quiet"]
    rating, ratings = wanted.get("rating"), asked["ratings"]
    if ratings is not None and rating is None:
        raise UsageError("--ratings: expected --rating COLUMN, found none", "--rating says which column is correlated")
    # A figure is one of curves.
    curves = asked["curves"] or (None if figure.path is None else "average")
    files, threads = named_runs(sessions, asked["names"]), asked["threads"] or default_threads()
    SessionStudyOptions(qrels, files, curves=curves, **wanted)  # refuses what has no meaning before anything is read
    chosen = options.measures_from(measures or DEFAULT_SESSION_MEASURES, rel)
    inputs = reading.read(qrels, files, threads)
    if ratings is not None:
        from gainful.io.delimited import read_ratings

        ratings = read_ratings(ratings, str(rating), inputs.columns.get("session"))
    from gainful.tasks.sessions import study_sessions

    with ProgressBar("scoring sessions", wanted=not quiet, in_bytes=False):
        study = study_sessions(
            inputs.judged,
            inputs.sessions,
            chosen,
            curves=curves,
            ratings=ratings,
            topics=inputs.topics,
            judged_by=asked["judged_by"],
            by_system=True,
            threads=threads,
            **wanted,
        )
    names = list(study.evaluations)
    for name in asked["names"]:
        if name not in [*names, *study.left_out]:
            raise UsageError(
                f"--name: {files[name]} names its systems itself, '{name}' is none of them",
                f"there are {', '.join(map(printable, names))}",
            )
    if baseline is not None and baseline not in names:
        raise no_such_run(baseline, names, "--baseline")
    report = study.report(asked["by_session"], asked["places"], baseline)
    output.write(report, study.notices)
    figure.write(report)
    print_notices(study.notices, quiet)
