"""`gainful compare`: is the difference real?"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from gainful.cli import help_groups, options
from gainful.cli.inputs import by_option, print_notices, takes_queries
from gainful.cli.progress_bar import ProgressBar
from gainful.cli.score_inputs import ScoreOptions, SessionReading, takes_scores, takes_session_reading
from gainful.errors import UsageError
from gainful.io.sources import open_source
from gainful.kernel.core import default_threads
from gainful.notation import read_pair
from gainful.stats.catalogues import ASKED_AS_TESTS, CORRECTIONS, INTERVALS, PROCEDURES
from gainful.tasks.compare.compare_options import CHARTS, DEFAULT_MEASURES, MARKS, ORDERS, TABLES, CompareOptions

if TYPE_CHECKING:
    from gainful.data.queries import Queries
    from gainful.evaluation.score_matrix import ScoreMatrix
    from gainful.evaluation.scores import Scores
    from gainful.evaluation.session_scores import SessionScores


def _titles(catalogue: Mapping[str, Any]) -> str:
    """All members of a catalogue as a list for people."""
    *first, last = (member.title for member in catalogue.values())
    return f"{', '.join(first)}, or {last}"


def _asked(given: dict[str, Any]) -> CompareOptions:
    """What to do with the scores, checked as far as it can be before they are read."""
    pairs = tuple(read_pair(text, "--pairs") for text in given.pop("pairs"))
    given |= {"pairs": None if given.pop("all_pairs") else pairs, "chart": given.pop("charts")}
    return options.made_of(CompareOptions, groups=None, arrival=None, factors=None, threads=None)(given)


#: Of sessions the primary measure, unless somebody says otherwise.
_OF_SESSIONS = ("nsDCG@10",)


def _found(sessions: SessionReading, scores: ScoreOptions) -> Scores:
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
@options.text_option("--baseline", "What others are compared with.  [default: of two, the first]", "SYSTEM")
@options.choice_option(
    "--test",
    ASKED_AS_TESTS,
    f"The test of a pair: {_titles(ASKED_AS_TESTS)}.  [default: randomisation; beyond 5,000 queries of two systems t]",
)
@options.choice_option(
    "--interval", INTERVALS, f"Two systems: the interval: {_titles(INTERVALS)}.  [default: the test's own]"
)
@options.number_option(
    "--margin", "Differences below D count as equal: verdicts are superior, equivalent and so on.", "D"
)
@options.choice_option("--procedure", PROCEDURES, f"Several systems: {_titles(PROCEDURES)}.  [default: maxt]")
@options.choice_option(
    "--correction",
    CORRECTIONS,
    f"Several systems: the correction for their number: {_titles(CORRECTIONS)}.  [default: maxt, of other tests holm]",
)
@click.option("--family", type=click.Choice(["each", "all"]), default="each", help="all: one family of all measures.")
@options.number_option("--alpha", "The level.", "P", "0.05")
@options.whole_option(
    "--draws", 1, "Flips, samples or permutations.  [default: 100,000 flips, 10,000 samples or permutations]"
)
@click.option("--seed", type=click.IntRange(0), default=0, help="Another seed, other draws.  [default: 0]")
@options.text_option("--pairs", "Several systems: print this pair; may be repeated.", "A,B", multiple=True)
@click.option("--all", "all_pairs", is_flag=True, help="Several systems: print every pair.")
@options.file_option(
    "--groups", "Groups of systems to compare; or a FILE of such lines.", metavar="NAME=A,B,...", multiple=True
)
@options.text_option(
    "--contrast",
    "Several systems: compare A with the mean of B and C instead of all pairs; may be repeated.",
    "'A = mean(B, C)'",
    multiple=True,
    name="contrasts",
)
@options.file_option(
    "--factors", "Several systems: a table with a header, system and two factors: their effects and interaction."
)
@click.option("--papers", is_flag=True, help="The papers' table: measures by systems, who beats whom by Friedman.")
@click.option(
    "--sequential",
    is_flag=True,
    help="Look after every query: intervals that hold however often one looks; of bounded measures.",
)
@options.file_option(
    "--arrival",
    "--sequential: the order of queries, a line each that begins with its id, such as QRELS.  [default: of ids]",
)
@options.choice_option("--chart", CHARTS, "What to draw; may be repeated.", multiple=True, name="charts")
@options.choice_option("--only", TABLES, "Print this table and nothing else.")
@options.choice_option(
    "--marks",
    MARKS,
    "Beside means: letters that systems share, daggers for better or worse than --baseline, or the systems "
    "beaten.  [default: daggers with --baseline, else letters]",
)
@click.option(
    "--sort", type=click.Choice(ORDERS), default="best", help="Rows: best first, or as given.  [default: best]"
)
@options.whole_option("--most", 1, "Two systems: how many queries for each.  [default: 5]")
@by_option
@options.detail_option("Two systems: effect sizes, H0 and a chart, too.")
@options.places_option("Decimal places in tables.")
@options.takes_output_and_figure
@options.takes(asked=_asked)
@takes_queries
@takes_session_reading
@takes_scores(DEFAULT_MEASURES)
def command(
    groups: tuple[str, ...],
    arrival: str | None,
    factors: str | None,
    output: options.Output,
    figure: options.FigureOutput,
    asked: CompareOptions,
    queries: Queries | None,
    sessions: SessionReading | None,
    scores: ScoreOptions,
) -> None:
    """Ask whether systems differ: RUNS judged by QRELS, scores --from files, or --sessions.

    Two systems: the second is compared with the first, in one sentence and then in numbers. More: all pairs, or each
    with --baseline, corrected for their number. Sessions that belong to one system each are compared unpaired.

    Example: gainful compare qrels.txt bm25.run dense.run

    Example: gainful compare qrels.txt *.run -m nDCG@10 -m AP --baseline bm25 --format latex

    Example: gainful compare --from scores.csv --rows systems --figure leaderboard.pdf
    """
    if sessions is not None and queries is not None:
        raise UsageError("--queries: has no meaning with sessions")
    inputs = scores.require(scores.found(queries)) if sessions is None else _found(sessions, scores)
    quiet = scores.reading.quiet
    from gainful.stats.flips import FLIPS
    from gainful.tasks.compare.comparison import compare_matrices, compare_sessions
    from gainful.tasks.compare.system_pairs import read_factors, read_groups

    measured: Mapping[str, SessionScores | ScoreMatrix] = inputs.sessions or inputs.queries
    if groups:
        systems = next(iter(measured.values())).systems
        asked = replace(asked, groups=read_groups(_group_lines(groups), systems))
    if factors is not None:
        asked = replace(asked, factors=read_factors(factors))
    if arrival is not None:
        from gainful.data.queries import read_ids

        asked = replace(asked, arrival=read_ids(arrival, "arrival"))
    with ProgressBar("flipping signs", wanted=not quiet, in_bytes=False) as progress:
        progress.total = (asked.draws or FLIPS) * (len(measured) if asked.family == "each" else 1)
        asked = replace(asked, threads=scores.reading.threads or default_threads())
        if inputs.sessions:
            found = compare_sessions(inputs.sessions, asked, progress)
        else:
            found = compare_matrices(inputs.queries, asked, progress)
    found = replace(found, signatures=inputs.conventions)
    output.write(found, inputs.notices)
    figure.write(found)
    first = next(iter(measured))
    is_part = figure.path is not None and len(measured) > 1 and not asked.papers
    part = [f"the figure shows {first}, the first measure; -m chooses another"] if is_part else []
    print_notices(dict.fromkeys([*inputs.notices, *part]), quiet)


def _group_lines(texts: Sequence[str]) -> list[str]:
    """The groups named, and those in files: a line each, ``#`` begins a comment."""
    lines: list[str] = []
    for text in texts:
        if "=" not in text or os.path.isfile(text):
            content = bytes(open_source(text).data).decode("utf-8", "surrogateescape")
            lines += [line.strip() for line in content.splitlines() if line.strip() and not line.startswith("#")]
        else:
            lines.append(text)
    return lines
