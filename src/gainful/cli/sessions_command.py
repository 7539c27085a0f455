"""`gainful sessions`: scores of multi-query sessions, positions of queries, curves and user ratings."""

from __future__ import annotations

from typing import Any

import click

from gainful.cli import help_groups
from gainful.cli.flags import INPUT, flags_of, given, takes
from gainful.cli.inputs import GRADES, PolicyOptions, SessionOptions, Work
from gainful.cli.options import FigureOutput, MeasureOptions, Places, measures_of
from gainful.data.collection import named_runs
from gainful.errors import UsageError
from gainful.frozen import dataclass
from gainful.io.formats import FORMATS
from gainful.kernel.core import default_threads
from gainful.measures.catalog import DEFAULT_SESSION_MEASURES
from gainful.notation import printable
from gainful.question import setting
from gainful.tasks.run_questions import SESSION_CURVES, SessionStudyOptions

_CURVES = {**SESSION_CURVES, "cost": "gain by cost (--cost-query, --cost-document)"}


@dataclass(frozen=True, kw_only=True)
class _Shown(Places):
    by_session: bool = setting(False, "Also print per-session values.")
    baseline: str | None = setting(None, "Add each run's difference from this run.", metavar="RUN")
    ratings: str | None = setting(None, "Table of user ratings; one row per session, with a header.", kind="file")


@dataclass(frozen=True, eq=False, kw_only=True)
class _Reading(Work, PolicyOptions, SessionOptions):
    qrels_format: str | None = setting(
        None, "Format of the judgments.", choices=FORMATS, keeps_spelling=True, shown="recognised"
    )
    columns: str = setting(
        "",
        "Column names in headers; roles: session, query (its number), rank, document, topic and so on; "
        "qrels.query=... applies to judgments.",
        metavar="ROLE=NAME,...",
    )
    grades: str | None = GRADES


@help_groups.command("sessions")
@click.argument("qrels", type=INPUT)
@click.argument("sessions", type=INPUT, nargs=-1, required=True)
@takes(wanted=measures_of(DEFAULT_SESSION_MEASURES, "sDCG@10"))
@click.option(
    "--curves",
    is_flag=False,
    flag_value="average",
    type=click.Choice(list(_CURVES)),
    help="Session curves; " + "; ".join(f"{name}: {about}" for name, about in _CURVES.items()) + ".",
)
@flags_of(SessionStudyOptions)
@takes(shown=_Shown, output=FigureOutput, reading=_Reading)
def command(
    qrels: str,
    sessions: tuple[str, ...],
    wanted: MeasureOptions,
    curves: str | None,
    shown: _Shown,
    output: FigureOutput,
    reading: _Reading,
    **params: Any,
) -> None:
    """Score multi-query SESSIONS, one file per system, against the judgments QRELS.

    Sessions are JSON lines (one session with its queries and results), a table with a header (session, query number,
    rank, document), a log (user or session, time, query text, documents) as CSV, TSV or JSON lines, a run whose query
    IDs are session and turn, or TREC's session log. Judgments are read as by `gainful eval`, per topic, session, query
    or query text. If sessions name their system, each system gets a row.

    Example: gainful sessions qrels.txt agent.jsonl -m sDCG@10 -m nsDCG@10 --curves --figure sessions.pdf
    """
    asked = given(SessionStudyOptions, params)
    rating, ratings = asked.get("rating"), None
    if shown.ratings is not None and rating is None:
        raise UsageError("--ratings needs --rating", "--rating COLUMN names the column to correlate")
    # Figures always show curves.
    curves = curves or (None if output.figure is None else "average")
    files, threads = named_runs(sessions, reading.names), reading.threads or default_threads()
    SessionStudyOptions(qrels, files, curves=curves, **asked)  # rejects invalid combinations before anything is read
    chosen = wanted.parsed()
    inputs = reading.read(qrels, files, reading.policy, reading.scale, threads)
    if shown.ratings is not None:
        from gainful.io.records import read_ratings

        ratings = read_ratings(shown.ratings, str(rating), inputs.columns.get("session"))
    with output.waiting("scoring sessions", in_bytes=False):
        study = inputs.study(chosen, curves=curves, ratings=ratings, **asked)
    names = list(study.evaluations)
    for name in reading.names:
        if name not in [*names, *study.left_out]:
            hint = f"the systems are {', '.join(map(printable, names))}"
            raise UsageError(f"--name: '{name}' is not one of the systems that {files[name]} names", hint)
    output.show(study.report(shown.by_session, shown.places, shown.baseline), study.notices)
