"""`gainful explain`: the definition of a measure, and the arithmetic of a score."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
from typing import TYPE_CHECKING

import click

from gainful.cli import help_groups
from gainful.cli.flags import flags_of, group, takes
from gainful.cli.inputs import CollectionOptions, FileOptions, read_grades
from gainful.cli.options import REL, FigureOutput, complete_measure, measures_from
from gainful.data.collection import named_runs
from gainful.errors import InputError, UsageError
from gainful.frozen import dataclass, replace
from gainful.question import setting

if TYPE_CHECKING:
    from gainful.data.collection import Inputs
    from gainful.measures.base import Measure
    from gainful.measures.names_trec_eval import Translation


@dataclass(frozen=True, kw_only=True)
class _Lists:
    """The lists to explain: queries of runs, or grades typed on the command line."""

    qrels: str | None = setting(None, "Judgments.", kind="file", metavar="QRELS")
    runs: tuple[str, ...] = setting(
        (),
        "Run (repeatable); several are shown next to each other.",
        kind="file",
        flag="--run",
        metavar="RUN",
        repeatable=True,
    )
    queries: tuple[str, ...] = setting((), "Query (repeatable).", flag="--query", metavar="ID", repeatable=True)
    grades: str | None = setting(
        None, "Grades of a list, as 3,2,0,-,1; with --qrels the grades of words: Good=1,Bad=0.", metavar="GRADES"
    )
    unretrieved: str | None = setting(None, "With --grades: grades of documents not retrieved.", metavar="GRADES")
    swap: str | None = setting(None, "With --grades: swap the documents at two ranks.", metavar="RANK,RANK")

    def __post_init__(self) -> None:
        """Reject grades together with files, and options of grades without any."""
        if self.grades is not None and "=" not in self.grades and (self.qrels or self.runs or self.queries):
            raise UsageError("--grades: a list of grades cannot be combined with --qrels, --run or --query")
        for flag, value in (("--unretrieved", self.unretrieved), ("--swap", self.swap)):
            if value is not None and self.grades is None:
                raise UsageError(f"{flag} needs --grades", "for example --grades 3,2,0,1")


@dataclass(frozen=True, kw_only=True)
class _Shown:
    all_ranks: bool = setting(False, "Show every rank, also those that add nothing.", flag="--all")
    detail: bool = setting(False, "Also show other tools' results for the same list; and how they differ.")
    places: int = setting(4, "Decimal places.", kind="whole", least=0, most=17)
    rel: str | None = setting(None, REL, metavar="G")


@dataclass(frozen=True, eq=False, kw_only=True)
class _Reading(CollectionOptions):
    inputs: Inputs = group(flags_of(FileOptions), FileOptions.taken_from)


@help_groups.command("explain")
@click.argument(
    "measures",
    nargs=-1,
    required=True,
    metavar="MEASURE...",
    shell_complete=lambda context, parameter, typed: complete_measure(typed),
)
@takes(lists=_Lists, shown=_Shown, output=FigureOutput, reading=_Reading)
def command(measures: tuple[str, ...], lists: _Lists, shown: _Shown, output: FigureOutput, reading: _Reading) -> None:
    """Define MEASURE; with judgments, runs and a query, show its arithmetic rank by rank.

    Example: gainful explain nDCG@10

    Example: gainful explain nDCG@10 --qrels qrels.txt --run bm25.run --run dense.run --query 301

    Example: gainful explain nDCG@5 --grades 3,2,0,1 --unretrieved 3 --swap 1,3
    """
    inputs, policy = reading.inputs, reading.policy
    _refuse_files(measures, inputs)
    _refuse_grades(measures, lists.grades)
    from gainful.measures.catalog import translation_of

    wanted: dict[Measure, tuple[Translation, ...]] = {}  # with the names of other tools that were typed for it
    for text in measures:
        translation = translation_of(text)
        for measure in measures_from((text,), shown.rel):
            known = wanted.setdefault(measure, ())
            wanted[measure] = known if translation is None or translation in known else (*known, translation)
    from gainful.evaluation.explained_page import explanation_page, running_plots
    from gainful.evaluation.explanation import Board, explain

    if lists.grades is not None and lists.qrels is None:
        board = Board.read(lists.grades, lists.unretrieved, reading.scale)
        explained = [board.explain(measure, policy, lists.swap) for measure in wanted]
    else:
        from gainful.data.run import Run

        inputs = inputs._replace(qrels=inputs.qrels._replace(grades=read_grades(lists.grades)))
        judgments = None if lists.qrels is None else inputs.read_qrels(lists.qrels, scale=reading.scale)
        files = inputs.runs(named_runs(lists.runs, reading.names))
        runs = {name: Run.of(file, policy=policy) for name, file in files.items()}
        queries = dict.fromkeys(lists.queries or (None,))
        asked = [(measure, query) for measure in wanted for query in queries]
        explained = [explain(measure, judgments, runs or None, query, policy) for measure, query in asked]
    for explanation in explained:
        explanation.translations = wanted[explanation.measure]
    page = explanation_page(explained, shown.all_ranks, shown.places)
    if shown.detail:
        from gainful.tasks.whydiff import others_tables

        sources = [(each, *each.collection) for each in explained if each.collection is not None]
        others = (table for source in sources for table in others_tables(*source, policy, shown.places))
        page = replace(page, parts=(*page.parts, *others))
    plots = None if output.figure is None else replace(page, parts=tuple(running_plots(explained, shown.places)))
    output.show(page, detail=shown.detail, drawn=plots)


def _refuse_files(measures: tuple[str, ...], inputs: Inputs) -> None:
    """Reject files among the measures; options name judgments and runs here."""
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
        hint = f"gainful explain {named} --qrels {files[0]}{runs}{asked}"
        raise UsageError(f"{files[0]}: a file, not a measure", hint)


def _refuse_grades(measures: tuple[str, ...], first: str | None = None) -> None:
    """Reject grades among the measures; ``first`` is the value of ``--grades``."""
    grades = [text for text in measures if re.fullmatch(r"[\d.,-]+", text)]
    if grades:
        named = shlex.join(text for text in measures if text not in grades) or "MEASURE"
        hint = f"gainful explain {named} --grades {','.join(text.strip(',') for text in (first, *grades) if text)}"
        raise UsageError(f"expected a measure, found '{grades[0]}'", hint)
