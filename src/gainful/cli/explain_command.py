"""`gainful explain`: what a measure means, and where a number comes from."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from gainful.cli import help_groups, options
from gainful.cli.inputs import takes_inputs
from gainful.data.collection import Inputs, named_runs
from gainful.errors import InputError, UsageError
from gainful.notation import count_of
from gainful.policy import Policy

if TYPE_CHECKING:
    from gainful.evaluation.explained_page import Explanation
    from gainful.evaluation.explanation import Board
    from gainful.measures.base import Measure
    from gainful.measures.names_trec_eval import Translation


@dataclass(frozen=True)
class TypedList:
    """A list typed as grades, without files."""

    grades: str | None
    unretrieved: str | None
    swap: str | None
    scale: float | None

    def board(self) -> Board | None:
        """The list, if there is one."""
        if self.grades is None:
            for flag, given in (("--unretrieved", self.unretrieved), ("--swap", self.swap)):
                if given is not None:
                    raise UsageError(f"{flag}: expected a list of grades, found none", "--grades 3,2,0,1 gives one")
            return None
        from gainful.evaluation.explanation import Board

        return Board.read(self.grades, self.unretrieved, self.scale)


@dataclass(frozen=True, eq=False)
class QueriesOfRuns:
    """Judgments, runs and the queries whose arithmetic is shown."""

    qrels: str | None
    runs: tuple[str, ...]
    queries: tuple[str, ...]
    names: tuple[str, ...]
    inputs: Inputs

    def check_whole(self) -> None:
        """Arithmetic needs judgments, a run and a query; a definition none of them."""
        given = (("--qrels", self.qrels), ("--run", self.runs), ("--query", self.queries))
        missing = [flag for flag, value in given if not value]
        if len(missing) in (1, 2):
            judged = self.inputs.read_qrels(self.qrels).queries if self.qrels and missing == ["--query"] else []
            raise UsageError(
                f"expected --qrels, --run and --query together, found no {' and no '.join(missing)}",
                f"--query {judged[0]} asks for the first of {count_of(len(judged), 'query', 'queries')}"
                if judged
                else "without any of them the measure is defined; with all of them its arithmetic is shown",
            )

    def explain(self, measures: Iterable[Measure], policy: Policy, scale: float | None) -> list[Explanation]:
        """The arithmetic of each query by each measure."""
        from gainful.data.run import Run
        from gainful.evaluation.explanation import explain_runs

        assert self.qrels is not None
        judgments = self.inputs.read_qrels(self.qrels, scale=scale)
        lists = {name: Run.of(file) for name, file in self.inputs.runs(named_runs(self.runs, self.names)).items()}
        asked = [(measure, query) for measure in measures for query in dict.fromkeys(self.queries)]
        return [explain_runs(measure, judgments, lists, query, policy) for measure, query in asked]


@help_groups.command("explain")
@click.argument("measures", nargs=-1, required=True, metavar="MEASURE...", shell_complete=options.complete_measure)
@options.takes(
    options.file_option("--qrels", "The judgments.", metavar="QRELS"),
    options.file_option("--run", "A run; several stand side by side.", metavar="RUN", multiple=True, name="runs"),
    options.text_option("--query", "A query; may be repeated.", "ID", multiple=True, name="queries"),
    options.text_option("--grades", "A list without files: its grades, such as 3,2,0,-,1.", "GRADES"),
    options.text_option("--unretrieved", "With --grades: those of documents that were not found.", "GRADES"),
    options.text_option("--swap", "With --grades: let two documents change places.", "RANK,RANK"),
    click.option("--all", "all_ranks", is_flag=True, help="Every rank, those that add nothing, too."),
    options.detail_option("What other tools do differently, too, and compute for the same list."),
    options.places_option("Decimal places."),
    options.names_option,
    options.rel_option,
    options.scale_option,
    options.takes_output_and_figure,
    takes_inputs,
    typed=options.made_of(TypedList),
    files=options.made_of(QueriesOfRuns),
)
@options.takes_policy
@options.quiet_option("No notices.")
def command(
    measures: tuple[str, ...],
    files: QueriesOfRuns,
    typed: TypedList,
    all_ranks: bool,
    places: int,
    rel: str | None,
    output: options.Output,
    figure: options.FigureOutput,
    policy: Policy,
    quiet: bool,
) -> None:
    """Say what MEASURE means; with judgments, runs and a query show its arithmetic, rank by rank.

    Example: gainful explain nDCG@10

    Example: gainful explain nDCG@10 --qrels qrels.txt --run bm25.run --run dense.run --query 301

    Example: gainful explain nDCG@5 --grades 3,2,0,1 --unretrieved 3 --swap 1,3
    """
    _refuse_files(measures, files.inputs)
    _refuse_grades(measures, typed.grades)
    wanted = _translated(measures, rel)
    if typed.grades is None:
        files.check_whole()
    elif files.qrels or files.runs or files.queries:
        raise UsageError("--grades: expected no --qrels, --run or --query beside it, found one")
    board = typed.board()
    from gainful.evaluation.explained_page import Changed, Explanation, changed_page, explanation_page, running_plots

    if board is not None and typed.swap is not None:
        swapped, words = board.swapped(typed.swap)
        before = [board.explain(measure, policy, "before") for measure in wanted]
        after = [swapped.explain(measure, policy, "after") for measure in wanted]
        changes = [Changed(words, *lists) for lists in zip(before, after, strict=True)]
        page = changed_page(changes, places)
        explained = [one for each in changes for one in (each.before, each.after)]
        drawn = [replace(each.before, lists=each.lists) for each in changes]
    else:
        if board is not None:
            drawn = [board.explain(measure, policy) for measure in wanted]
        elif files.qrels:
            drawn = files.explain(wanted, policy, typed.scale)
        else:
            drawn = [Explanation(measure) for measure in wanted]
        for explanation in drawn:
            explanation.translations = wanted[explanation.measure]
        page, explained = explanation_page(drawn, all_ranks, places), drawn
    if output.detail:
        from gainful.tasks.whydiff.conventions import others_tables

        sources = [(each, *each.collection) for each in explained if each.collection is not None]
        others = (table for source in sources for table in others_tables(*source, policy, places))
        page = replace(page, parts=(*page.parts, *others))
    if figure.path is not None:
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
