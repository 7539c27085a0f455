"""`gainful compare`: is the difference real?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gainful.cli import help_groups, options
from gainful.cli.asking import flags_of, given
from gainful.cli.inputs import print_notices, takes_queries
from gainful.cli.progress_bar import ProgressBar
from gainful.cli.score_inputs import ScoreOptions, SessionReading, takes_scores, takes_session_reading
from gainful.errors import UsageError
from gainful.kernel.core import default_threads
from gainful.tasks.score_questions import CompareOptions, ShowOptions

if TYPE_CHECKING:
    from gainful.data.queries import Queries
    from gainful.evaluation.scores import Scores

#: The primary measure of queries and of sessions, unless another is named.
_MEASURES, _OF_SESSIONS = ("nDCG@10",), ("nsDCG@10",)


def _session_scores(sessions: SessionReading, scores: ScoreOptions) -> Scores:
    """The sessions' scores, and what is known of sessions."""
    reading, (qrels, *files) = scores.reading, scores.qrels_and_runs or ("",)
    if not files:
        raise UsageError(f"--sessions: expected judgments and sessions, found {f'only {qrels}' if qrels else 'none'}")
    threads = reading.threads or default_threads()
    measures = options.measures_from(scores.measures or _OF_SESSIONS, scores.rel)
    inputs = sessions.inputs(reading, qrels, files, threads)
    from gainful.evaluation.scores import Scores
    from gainful.tasks.sessions import study_sessions

    with ProgressBar("scoring sessions", wanted=not reading.quiet, in_bytes=False) as progress:
        study = study_sessions(
            inputs.judged,
            inputs.sessions,
            measures,
            judged_by=sessions.judged_by,
            topics=inputs.topics,
            by_system=True,
            threads=threads,
            progress=progress,
        )
    made = Scores.of(study.evaluations, measures)
    return replace(made, files=scores.qrels_and_runs, notices=(*study.notices, *made.notices))


@help_groups.command("compare")
@flags_of(CompareOptions)
@flags_of(ShowOptions)
@options.detail_option("Two systems: effect sizes, H0 and a chart, too.")
@options.takes_output_and_figure
@takes_queries
@takes_session_reading
@takes_scores(_MEASURES)
def command(
    output: options.Output,
    figure: options.FigureOutput,
    queries: Queries | None,
    sessions: SessionReading | None,
    scores: ScoreOptions,
    **asked: Any,
) -> None:
    """Ask whether systems differ: RUNS judged by QRELS, scores --from files, or --sessions.

    Two systems: the second is compared with the first, in one sentence and then in numbers. More: all pairs, or each
    with --baseline, corrected for their number. Sessions that belong to one system each are compared unpaired.

    Example: gainful compare qrels.txt bm25.run dense.run

    Example: gainful compare qrels.txt *.run -m nDCG@10 -m AP --baseline bm25 --format latex

    Example: gainful compare --from scores.csv --rows systems --figure leaderboard.pdf
    """
    wanted, show = given(CompareOptions, asked), given(ShowOptions, asked)
    if sessions is not None and queries is not None:
        raise UsageError("--queries: has no meaning with sessions")
    found = scores.require(scores.found(queries)) if sessions is None else _session_scores(sessions, scores)
    quiet = scores.reading.quiet
    import gainful

    with ProgressBar("flipping signs", wanted=not quiet, in_bytes=False):
        result = gainful.compare(found, threads=scores.reading.threads, **wanted)
    page = result.page(**options.shown(result.page, show, ShowOptions))
    output.write(page, found.notices)
    figure.write(page)
    is_part = figure.path is not None and len(found.measures) > 1
    part = [f"the figure shows {found.measures[0]}, the first measure; -m chooses another"] if is_part else []
    print_notices(dict.fromkeys([*found.notices, *part]), quiet)
