"""`gainful compare`: whether systems differ significantly."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from gainful.cli import help_groups
from gainful.cli.flags import flags_of, given, refuse, takes
from gainful.cli.inputs import QueryOptions
from gainful.cli.options import FigureOutput, MeasureOptions, Quiet, measures_from, measures_of, shown
from gainful.cli.score_inputs import ScoreOptions, SessionReading, scores_argument
from gainful.errors import UsageError
from gainful.question import settings_of
from gainful.tasks.score_questions import CompareOptions, ShowOptions

if TYPE_CHECKING:
    from gainful.evaluation.scores import Scores

#: The default measures of queries and of sessions.
_MEASURES, _OF_SESSIONS = ("nDCG@10",), ("nsDCG@10",)


def _session_scores(sessions: SessionReading, wanted: MeasureOptions, scores: ScoreOptions, noticed: Quiet) -> Scores:
    qrels, *files = scores.qrels_and_runs or ("",)
    if not files:
        raise UsageError("--sessions needs judgments and sessions" + (f", not only {qrels}" if qrels else ""))
    measures = measures_from(wanted.measures or _OF_SESSIONS, wanted.rel)
    inputs = sessions.inputs(scores, qrels, files)
    from gainful.evaluation.scores import Scores

    with noticed.waiting("scoring sessions", in_bytes=False):
        study = inputs.study(measures)
    scored = Scores.of(study.evaluations, measures)
    return replace(scored, files=scores.qrels_and_runs, notices=(*study.notices, *scored.notices))


@help_groups.command("compare")
@scores_argument
@flags_of(CompareOptions)
@flags_of(ShowOptions)
@click.option(
    "--detail",
    is_flag=True,
    help="Also print effect sizes, H0 and a chart; with several systems, the worst queries of each.",
)
@takes(output=FigureOutput, of_queries=QueryOptions, sessions=SessionReading)
@takes(wanted=measures_of(_MEASURES), scores=ScoreOptions)
def command(
    detail: bool,
    output: FigureOutput,
    of_queries: QueryOptions,
    sessions: SessionReading | None,
    wanted: MeasureOptions,
    scores: ScoreOptions,
    **params: Any,
) -> None:
    """Test whether systems differ: RUNS judged by QRELS, existing scores (--from), or --sessions.

    With two systems, the second is compared with the first, in one sentence and then in numbers. With more, all pairs
    are compared, or each system with --baseline, corrected for their number. NAME=RUN,RUN,... is a system that was run
    several times; the noise between its runs counts. Sessions of different systems are compared unpaired.

    Example: gainful compare qrels.txt bm25.run dense.run

    Example: gainful compare qrels.txt *.run -m nDCG@10 -m AP --baseline bm25 --format latex

    Example: gainful compare qrels.txt bm25.run llm=seed1.run,seed2.run,seed3.run

    Example: gainful compare --from scores.csv --rows systems --figure leaderboard.pdf
    """
    asked, show = given(CompareOptions, params), given(ShowOptions, params)
    if sessions is not None:
        refuse(settings_of(QueryOptions), "cannot be used with --sessions")
        found = _session_scores(sessions, wanted, scores, output)
    else:
        qrels = next(iter(scores.qrels_and_runs), None)
        queries = of_queries.read(scores.inputs.columns["qrels"], qrels, asked.get("by"))
        found = scores.require(scores.found(wanted, output, queries, repeats=True))
    import gainful

    with output.waiting("flipping signs", in_bytes=False):
        result = gainful.compare(found, threads=scores.threads, **asked)
    output.show(result.page(**shown(result.page, show, ShowOptions)), result.notices, detail=detail)
    if output.figure is not None and len(found.measures) > 1:
        output.notify([f"the figure shows {found.measures[0]}, the first measure; use -m to choose another"])
