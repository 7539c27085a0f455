"""`gainful explain`: what a measure means, and where a number comes from."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from gainful.cli import help_groups, options
from gainful.cli.inputs import takes_inputs
from gainful.data.collection import Inputs, named_runs
from gainful.errors import InputError, UsageError
from gainful.notation import count_of
from gainful.policy import Policy

if TYPE_CHECKING:
    from gainful.data.qrels import Qrels
    from gainful.data.run import Run
    from gainful.evaluation.blackboard import Board, Change
    from gainful.evaluation.explanation import Explanation
    from gainful.measures.base import Measure
    from gainful.measures.names_trec_eval import Translation

    #: What is explained, and the judgments and lists that it is of.
    _Source = tuple[Explanation, Qrels, dict[str, Run]]


class _OnBoard(NamedTuple):
    """A list of grades, and what is changed in it."""

    board: Board
    changes: tuple[Change, ...]


def _blackboard_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds a list of grades instead of files, and what is changed in it."""
    for option in (
        _change_option("remove", "RANK", "Take a document out of the list; it stays judged."),
        _change_option("insert", "RANK[,GRADE]", "Put a document in: an unretrieved one, or a new one of a grade."),
        _change_option("swap", "RANK,RANK", "Let two documents change places."),
        options.text_option("--unretrieved", "With --grades: those of documents that were not found.", "GRADES"),
        options.text_option("--grades", "A list without files: its grades, such as 3,2,0,-,1.", "GRADES"),
    ):
        command = option(command)
    return command


def _change_option(name: str, metavar: str, about: str) -> Callable[[Any], Any]:
    """An option that changes the list of --grades. Changes are remembered in the order in which they are given."""

    def remember(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> None:
        if len(texts) > 1:
            raise UsageError(f"--{name}: expected one change of this kind, found {len(texts)}")
        ctx.meta.setdefault(__name__, []).extend((name, text) for text in texts)

    about = f"With --grades: {about[0].lower()}{about[1:]}"
    return click.option(f"--{name}", multiple=True, metavar=metavar, callback=remember, expose_value=False, help=about)


def _board(given: dict[str, Any]) -> _OnBoard | None:
    """What is on the blackboard, if anything is."""
    grades, unretrieved = given.pop("grades"), given.pop("unretrieved")
    changes = click.get_current_context().meta.get(__name__, [])
    if grades is None:
        alone = ["--unretrieved"] * (unretrieved is not None) + [f"--{name}" for name, _ in changes]
        if alone:
            raise UsageError(f"{alone[0]}: expected a list of grades, found none", "--grades 3,2,0,1 gives one")
        return None
    _refuse_grades(given["measures"], grades)
    if given["qrels"] or given["runs"] or given["queries"]:
        raise UsageError("--grades: expected no --qrels, --run or --query beside it, found one")
    from gainful.evaluation.blackboard import Board, Change

    return _OnBoard(Board.read(grades, unretrieved), tuple(getattr(Change, name)(text) for name, text in changes))


@help_groups.command("explain")
@click.argument("measures", nargs=-1, required=True, metavar="MEASURE...", shell_complete=options.complete_measure)
@options.file_option("--qrels", "The judgments.", metavar="QRELS")
@options.file_option("--run", "A run; several stand side by side.", metavar="RUN", multiple=True, name="runs")
@options.text_option("--query", "A query; may be repeated.", "ID", multiple=True, name="queries")
@options.takes(_blackboard_options, board=_board)
@click.option("--all", "all_ranks", is_flag=True, help="Every rank, those that add nothing, too.")
@options.detail_option("What other tools do differently, too, and compute for the same list.")
@options.places_option("Decimal places.")
@options.names_option
@options.rel_option
@options.scale_option
@options.takes_output_and_figure
@takes_inputs
@options.takes_policy
@options.quiet_option("No notices.")
def command(
    measures: tuple[str, ...],
    qrels: str | None,
    runs: tuple[str, ...],
    queries: tuple[str, ...],
    board: _OnBoard | None,
    all_ranks: bool,
    places: int,
    names: tuple[str, ...],
    rel: str | None,
    scale: float | None,
    output: options.Output,
    figure: options.FigureOutput,
    inputs: Inputs,
    policy: Policy,
    quiet: bool,
) -> None:
    """Say what MEASURE means; with judgments, runs and a query show its arithmetic, rank by rank.

    Example: gainful explain nDCG@10

    Example: gainful explain nDCG@10 --qrels qrels.txt --run bm25.run --run dense.run --query 301

    Example: gainful explain nDCG@5 --grades 3,2,0,1 --unretrieved 3 --swap 1,3
    """
    _refuse_files(measures, inputs)
    _refuse_grades(measures)
    wanted = _translated(measures, rel)
    missing = [flag for flag, given in (("--qrels", qrels), ("--run", runs), ("--query", queries)) if not given]
    if board is None and len(missing) in (1, 2):
        judged = inputs.read_qrels(qrels, scale=scale).queries if qrels and missing == ["--query"] else []
        raise UsageError(
            f"expected --qrels, --run and --query together, found no {' and no '.join(missing)}",
            f"--query {judged[0]} asks for the first of {count_of(len(judged), 'query', 'queries')}"
            if judged
            else "without any of them the measure is defined; with all of them its arithmetic is shown",
        )
    from gainful.data.run import Run
    from gainful.evaluation.explained_page import explanation_page, running_plots
    from gainful.evaluation.explanation import Explanation, explain_runs

    if board is not None and board.changes:
        from gainful.evaluation.blackboard import Changed, changed_page

        changes = [Changed.of(measure, *board, policy, scale) for measure in wanted]
        page, drawn = changed_page(changes, places), [each.both for each in changes]
        boards = {"before": board.board, "after": board.board.changed(board.changes)}
        collections = [(name, *each.collection(scale)) for name, each in boards.items()]
        sources: list[_Source] = [
            (one, judged, {name: listed})
            for each in changes
            for one, (name, judged, listed) in zip((each.before, each.after), collections, strict=True)
        ]
    else:
        if board is not None:
            judgments, listed = board.board.collection(scale)
            lists = {"the list": listed}
            drawn = [board.board.explained(measure, policy, scale) for measure in wanted]
        elif qrels:
            judgments = inputs.read_qrels(qrels, scale=scale)
            lists = {name: Run.of(file) for name, file in inputs.runs(named_runs(runs, names)).items()}
            asked = [(measure, query) for measure in wanted for query in dict.fromkeys(queries)]
            drawn = [explain_runs(measure, judgments, lists, query, policy) for measure, query in asked]
        else:
            drawn = [Explanation(measure) for measure in wanted]
        for explanation in drawn:
            explanation.translations = wanted[explanation.measure]
        page = explanation_page(drawn, all_ranks, places)
        sources = [(each, judgments, lists) for each in drawn if each.query is not None]
    if output.detail:
        from gainful.tasks.whydiff.conventions import others_tables

        others = (table for source in sources for table in others_tables(*source, policy, places))
        page = replace(page, parts=(*page.parts, *others))
    if figure.path is not None:
        if not sources:
            raise UsageError("--figure: expected a list to draw, found none", "--grades 3,2,0,1 gives one")
        figure.write(replace(page, parts=tuple(running_plots(drawn, places))))
    output.write(page)


def _refuse_files(measures: tuple[str, ...], inputs: Inputs) -> None:
    """Judgments and runs are named by options here: measures may be many."""
    files = [text for text in measures if os.path.isfile(text)]
    if files:
        runs = "".join(f" --run {file}" for file in files[1:]) or " --run RUN"
        others = [text for text in measures if text not in files]
        queries: list[str] = []
        with contextlib.suppress(InputError):
            judged = {*inputs.read_qrels(files[0]).queries}
            queries += [text for text in others if text in judged]
        named = shlex.join(text for text in others if text not in queries) or "MEASURE"
        asked = "".join(f" --query {shlex.quote(query)}" for query in queries) or " --query ID"
        raise UsageError(
            f"{files[0]}: expected a measure, found a file",
            f"gainful explain {named} --qrels {files[0]}{runs}{asked}",
        )


def _refuse_grades(measures: tuple[str, ...], first: str | None = None) -> None:
    """A list is given by an option, too, as one text; ``first`` is what the option has of it."""
    grades = [text for text in measures if re.fullmatch(r"[\d.,-]+", text)]
    if grades:
        named = shlex.join(text for text in measures if text not in grades) or "MEASURE"
        raise UsageError(
            f"expected a measure, found '{grades[0]}'",
            f"gainful explain {named} --grades {','.join(text.strip(',') for text in (first, *grades) if text)}",
        )


def _translated(texts: tuple[str, ...], rel: str | None) -> dict[Measure, tuple[Translation, ...]]:
    """The measures that were asked for, each with the names of other tools that stand for it."""
    from gainful.measures.catalog import translation_of

    wanted: dict[Measure, tuple[Translation, ...]] = {}
    for text in texts:
        translation = translation_of(text)
        for measure in options.measures_from((text,), rel):
            known = wanted.setdefault(measure, ())
            wanted[measure] = known if translation is None or translation in known else (*known, translation)
    return wanted
