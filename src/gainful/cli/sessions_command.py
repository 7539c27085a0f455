"""`gainful sessions`: whole sessions scored, their queries by position, their curves, and what users said of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from gainful.cli import help_groups, options
from gainful.cli.inputs import SessionOptions, print_notices, takes_sessions
from gainful.cli.progress_bar import ProgressBar
from gainful.data.collection import named_runs
from gainful.errors import UsageError
from gainful.kernel.core import default_threads
from gainful.measures.catalog import DEFAULT_SESSION_MEASURES
from gainful.notation import nearest, printable, read_number

if TYPE_CHECKING:
    from gainful.measures.base import Measure
    from gainful.tasks.curves.averages import Resampling
    from gainful.tasks.sessions import SessionStudy
    from gainful.tasks.sessions.session_curves import WantedCurves

    _Choice = click.Choice[str]
else:
    _Choice = click.Choice  # generic in newer versions only

#: The kinds of curve, in short; the same names as in gainful.tasks.sessions.session_curves, which needs NumPy.
_KINDS = {
    "average": "by system",
    "subset": "all sessions and those with --at-least queries",
    "individual": "every session",
    "positions": "last, earlier and best queries by rank",
    "cost": "gain by what it cost (--cost-query, --cost-document)",
}

#: What there is to say of costs.
_COSTED = ("SessionCost", "GainPerCost")


class _CurvesChoice(_Choice):
    """The kinds of curve; says what to do where a file stands in their place."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            raise UsageError(
                f"--curves: expected {' | '.join(_KINDS)}, or nothing, found '{value}'",
                nearest(str(value), list(_KINDS)) or "before files write --curves average, or put --curves last",
            ) from error


@dataclass(frozen=True)
class StudyOptions:
    """What is to be found out, of which sessions, and how it is shown; how files are read is not among it."""

    measures: tuple[str, ...]
    rel: str | None
    judged_by: str | None
    by_session: bool
    chosen_sessions: tuple[str, ...]
    chosen_topics: tuple[str, ...]
    at_least: int | None
    curves: str | None
    cost_query: str | None
    cost_document: str | None
    average: str | None
    queries: int | None
    draws: int | None
    seed: int | None
    confidence: str | None
    ratings: str | None
    rating: str | None
    places: int
    baseline: str | None
    names: tuple[str, ...]
    threads: int | None
    quiet: bool

    def wanted_curves(self, measures: list[Measure]) -> WantedCurves | None:
        """The curves that are to be drawn, if any."""
        if self.curves is None:
            for name in ("average", "queries", "draws", "seed"):
                if getattr(self, name) is not None:
                    raise UsageError(f"--{name}: has no meaning without --curves", "--curves draws session vectors")
            if self.confidence is not None and self.rating is None:
                raise UsageError(
                    "--confidence: has no meaning without --curves or --rating", "it is of their intervals"
                )
            return None
        if self.curves == "cost":
            return None
        from gainful.tasks.sessions.session_curves import WantedCurves, drawable

        return WantedCurves.of(
            drawable(measures, self.curves),
            kind=self.curves,
            average=self.average or "ratios",
            queries=self.queries,
            at_least=self.at_least if self.curves == "subset" else None,
            resampling=self.resampling,
        )

    @property
    def resampling(self) -> Resampling:
        """How the bands of curves are made."""
        from gainful.tasks.curves.averages import Resampling

        return Resampling.of(1000 if self.draws is None else self.draws, self.seed or 0, self.share)

    def with_costs(self, measures: list[Measure]) -> list[Measure]:
        """The measures, and where costs are given what sessions cost and give for it, to the depth of the others."""
        given = {"cost_query": self.cost_query, "cost_document": self.cost_document}
        is_given = any(value is not None for value in given.values())
        if self.curves == "cost" and not is_given and not any(measure.name == "GainPerCost" for measure in measures):
            raise UsageError(
                "--curves cost: expected what queries and documents cost, found nothing",
                "--cost-query 20 --cost-document 5, or --cost-query recorded for the column cost of the log",
            )
        if not is_given:
            return measures
        known = [f"{name}={0 if value is None else value}" for name, value in given.items()]
        depth = next((cutoff for each in measures if (cutoff := getattr(each, "cutoff", None))), None)
        at = "" if depth is None else f"@{depth}"
        return [*measures, *options.measures_from(tuple(f"{name}({', '.join(known)}){at}" for name in _COSTED), None)]

    @property
    def share(self) -> float:
        """The confidence as a share."""
        per_cent = read_number(self.confidence or "95", "--confidence")
        if not 0 < per_cent < 100:
            raise UsageError(f"--confidence: expected per cent between 0 and 100, found {self.confidence}")
        return per_cent / 100


@help_groups.command("sessions")
@click.argument("qrels", type=options.INPUT)
@click.argument("sessions", type=options.INPUT, nargs=-1, required=True)
@options.several_measures_option(DEFAULT_SESSION_MEASURES, "sDCG@10")
@options.rel_option
@click.option("--by-session", is_flag=True, help="Every session's value, too.")
@options.text_option("--session", "Only this session; may be repeated.", "ID", multiple=True, name="chosen_sessions")
@options.text_option(
    "--topic", "Only sessions of this topic; may be repeated.", "ID", multiple=True, name="chosen_topics"
)
@options.whole_option("--at-least", 1, "Only sessions with at least N queries.", metavar="N")
@click.option(
    "--curves",
    is_flag=False,
    flag_value="average",
    type=_CurvesChoice(list(_KINDS)),
    help="Session vectors: " + "; ".join(f"{name}: {about}" for name, about in _KINDS.items()) + ".",
)
@options.text_option(
    "--cost-query", "What a query costs; recorded: as the log has it, in its column cost.  [default: 0]", "C"
)
@options.text_option("--cost-document", "What reading a document costs.  [default: 0]", "C")
@options.choice_option("--average", ["ratios", "means", "both"], "How curves of nsDCG are averaged.")
@options.whole_option("--queries", 1, "Curves over N queries.  [default: all, at most 20]", metavar="N")
@options.whole_option("--draws", 0, "Resamples for the curves' bands, 0: none.  [default: 1000]")
@options.whole_option("--seed", 0, "Another seed, other resamples.  [default: 0]")
@options.text_option("--confidence", "What bands and the intervals of --rating hold.  [default: 95]", "PERCENT")
@options.file_option("--ratings", "A table with a header, one row a session: what users said.")
@options.text_option("--rating", "Correlate with this column of --ratings, or with the sessions' own ratings.", "NAME")
@options.places_option("Decimal places in tables.")
@options.text_option("--baseline", "Add every run's difference to this one.", "RUN")
@click.option("--name", "names", multiple=True, help="A run's name; once for every file, in their order.")
@options.scale_option
@options.takes_output_and_figure
@takes_sessions
@options.threads_option
@options.quiet_option("No notices, no progress bar.")
@options.takes(asked=options.made_of(StudyOptions))
def command(
    qrels: str,
    sessions: tuple[str, ...],
    output: options.Output,
    figure: options.FigureOutput,
    reading: SessionOptions,
    asked: StudyOptions,
) -> None:
    """Score whole SESSIONS, one file a system, against the judgments QRELS.

    Sessions are JSON lines (one session with its queries and their results), a table with a header (session, query
    number, rank, document), a log (user or session, time, query text, documents) as CSV, TSV or JSON lines, a run whose
    query ids are session and turn, or TREC's session log; judgments as those of `gainful eval`, by topic, session,
    query or query text. Where sessions name their system, each system has a row.

    Example: gainful sessions qrels.txt agent.jsonl -m sDCG@10 -m nsDCG@10 --curves --figure sessions.pdf
    """
    if asked.ratings is not None and asked.rating is None:
        raise UsageError("--ratings: expected --rating COLUMN, found none", "--rating says which column is correlated")
    if figure.path is not None and asked.curves is None:
        asked = replace(asked, curves="average")  # a figure is one of curves
    files = named_runs(sessions, asked.names)
    study = _study(qrels, files, asked, reading)
    _check_names(asked, files, study)
    report = study.report(asked.by_session, asked.places, asked.baseline)
    output.write(report, study.notices)
    figure.write(report)
    print_notices(study.notices, asked.quiet)


def _study(qrels: str, files: Mapping[str, str], asked: StudyOptions, reading: SessionOptions) -> SessionStudy:
    threads = asked.threads or default_threads()
    measures = asked.with_costs(options.measures_from(asked.measures or DEFAULT_SESSION_MEASURES, asked.rel))
    curves = asked.wanted_curves(measures)
    inputs = reading.read(qrels, files, threads)
    # Loaded late: this is what needs NumPy.
    from gainful.tasks.sessions import study_sessions
    from gainful.tasks.sessions.session_choice import SessionChoice

    ratings = None
    if asked.ratings is not None and asked.rating is not None:
        from gainful.io.delimited import read_ratings

        ratings = read_ratings(asked.ratings, asked.rating, inputs.columns.get("session"))
    at_least = None if asked.curves == "subset" else asked.at_least
    with ProgressBar("scoring sessions", wanted=not asked.quiet, in_bytes=False) as progress:
        return study_sessions(
            inputs.judged,
            inputs.sessions,
            measures,
            judged_by=asked.judged_by,
            choice=SessionChoice(asked.chosen_sessions, asked.chosen_topics, at_least),
            curves=curves,
            cost_curves=asked.resampling if asked.curves == "cost" else None,
            rating=asked.rating,
            ratings=ratings,
            topics=inputs.topics,
            confidence=asked.share,
            by_system=True,
            threads=threads,
            progress=progress,
        )


def _check_names(asked: StudyOptions, files: Mapping[str, str], study: SessionStudy) -> None:
    names, wanted = list(study.evaluations), asked.baseline
    for name in asked.names:
        if name not in [*names, *study.left_out]:
            raise UsageError(
                f"--name: {files[name]} names its systems itself, '{name}' is none of them",
                f"there are {', '.join(map(printable, names))}",
            )
    if wanted is not None and wanted not in names:
        raise UsageError(
            f"--baseline: no run is called '{wanted}'; there are {', '.join(names)}", nearest(wanted, names)
        )
