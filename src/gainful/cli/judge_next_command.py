"""`gainful judge-next`: the unjudged documents to judge next."""

from __future__ import annotations

from typing import Any

from gainful.cli import help_groups
from gainful.cli.flags import flags_of, given, takes
from gainful.cli.inputs import QueryOptions
from gainful.cli.options import MeasureOptions, Output, Places, measures_of
from gainful.cli.score_inputs import ScoreOptions, scores_argument
from gainful.tasks.score_questions import JudgeNextOptions


@help_groups.command("judge-next")
@scores_argument
@flags_of(JudgeNextOptions)
@takes(shown=Places, output=Output, of_queries=QueryOptions, wanted=measures_of(("nDCG@10",)), scores=ScoreOptions)
def command(
    shown: Places, output: Output, of_queries: QueryOptions, wanted: MeasureOptions, scores: ScoreOptions, **params: Any
) -> None:
    """List the unjudged documents whose judgments can change the comparison of RUNS most.

    Each is scored as if it alone were judged. With -o next.csv they are a table with an empty column for grades, for an
    assessor, a spreadsheet or a language model; gainful judgments QRELS --merge next.csv adds the grades.

    Example: gainful judge-next qrels.txt bm25.run dense.run -n 20 -o next.csv

    Example: gainful judge-next qrels.txt *.run --between bm25,dense --queries queries.csv
    """
    queries = of_queries.read(scores.inputs.columns["qrels"], next(iter(scores.qrels_and_runs), None))
    found = scores.require(scores.found(wanted, output, queries))
    import gainful

    with output.waiting("scoring judgments", in_bytes=False):
        result = gainful.judge_next(found, threads=scores.threads, **given(JudgeNextOptions, params))
    output.show(result.page(shown.places), result.notices)
