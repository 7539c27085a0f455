"""What commands need that compare systems by scores: runs to score, or scores that exist; and where they are from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from gainful.cli.inputs import GivenCollection, collection_from, collection_options, print_notices
from gainful.cli.options import measures_from, rel_option, several_measures_option
from gainful.cli.progress_bar import ProgressBar
from gainful.data.collection import read_once
from gainful.errors import UsageError
from gainful.kernel.core import default_threads
from gainful.notation import count_of, printable, read_number
from gainful.policy import CHOICES

if TYPE_CHECKING:
    from gainful.evaluation.results import Evaluation
    from gainful.evaluation.score_matrix import ScoreMatrix

_Command = TypeVar("_Command", bound=Callable[..., Any])

_PATH = click.Path(allow_dash=True)
_SHOWN = 5
#: What has no meaning where no judgments and runs are read: the options by their parameters.
_OF_RUNS = ("like", "qrels_format", "run_format", "columns", "feature", "scale", "names", "rel")
_OF_SCORES = ("rows", "better")


class ScoreInputs(NamedTuple):
    """Scores by measure, the first being the primary one, and what there is to say about them.

    ``collection`` and ``evaluations`` are there if the scores come from judgments and runs.
    """

    matrices: Mapping[str, ScoreMatrix]
    sources: tuple[str, ...]
    threads: int
    quiet: bool
    notices: list[str]
    collection: GivenCollection | None = None
    evaluations: Mapping[str, Evaluation] | None = None

    def print_notices(self) -> None:
        """Tells what there was to notice."""
        print_notices(self.notices, self.quiet)


def score_options(default: Sequence[str]) -> Callable[[_Command], _Command]:
    """Adds QRELS and RUNS, ``--from`` instead of them, ``-m`` with a command's default, and how all is read."""

    def add(command: _Command) -> _Command:
        for option in (
            collection_options,
            click.option(
                "--better",
                type=click.Choice(["higher", "lower"]),
                help="--from: which values are better.  [default: what the measure says, else higher]",
            ),
            click.option(
                "--rows",
                type=click.Choice(["queries", "systems"]),
                help="--from: what the rows of a table are.  [default: found from ids, and said]",
            ),
            click.option(
                "--from",
                "score_files",
                multiple=True,
                type=_PATH,
                metavar="FILE",
                help="Scores that exist, instead of QRELS and RUNS: what eval --by-query writes as jsonl or csv, or a "
                "table of queries and systems; may be repeated.",
            ),
            rel_option,
            several_measures_option(default),
            click.argument("inputs", type=_PATH, nargs=-1, metavar="[QRELS RUNS...]"),
        ):
            command = option(command)
        return command

    return add


def input_files(options: Mapping[str, Any]) -> tuple[str, ...]:
    """All files that are going to be read, for :func:`gainful.cli.options.output_from`."""
    return (*options["inputs"], *options["score_files"])


def scores_from(options: dict[str, Any], default: Sequence[str]) -> ScoreInputs:
    """Takes these options out of a command's options and finds the scores."""
    inputs, files = options.pop("inputs"), options.pop("score_files")
    if files:
        if inputs:
            raise UsageError(f"--from: expected it instead of judgments and runs, found both: {inputs[0]}")
        return _read(files, options)
    _refuse({name: options.pop(name) for name in _OF_SCORES}, "has no meaning without --from")
    if len(inputs) < 2:
        found = f"found only {inputs[0]}" if inputs else "found none"
        raise UsageError(f"expected judgments and runs, or --from, {found}", "--from FILE reads scores that exist")
    return _evaluated(inputs[0], inputs[1:], options, default)


def _evaluated(qrels: str, runs: tuple[str, ...], options: dict[str, Any], default: Sequence[str]) -> ScoreInputs:
    measures = measures_from(options.pop("measures") or tuple(default), options.pop("rel"))
    collection = collection_from(qrels, runs, options)
    from gainful.evaluation.evaluate import evaluate_runs
    from gainful.evaluation.score_matrix import ScoreMatrix

    with ProgressBar("reading runs", wanted=not collection.quiet) as progress:
        evaluations = evaluate_runs(
            collection.judged, collection.runs, measures, threads=collection.threads, progress=progress
        )
    collection.notice(evaluations.values())
    matrices = {str(measure): ScoreMatrix.from_evaluations(evaluations, measure) for measure in measures}
    notices = [*collection.notices, *_about(matrices)]
    return ScoreInputs(matrices, (qrels, *runs), collection.threads, collection.quiet, notices, collection, evaluations)


def _read(files: tuple[str, ...], options: dict[str, Any]) -> ScoreInputs:
    unused = {name: options.pop(name) for name in (*_OF_RUNS, *(choice.field for choice in CHOICES))}
    _refuse(unused, "has no meaning with --from, where scores exist already")
    read_once(*files)
    from gainful.evaluation.score_matrix import read_all

    wanted, rows, better = (options.pop(name) for name in ("measures", "rows", "better"))
    matrices = read_all(files, measures=wanted, rows=rows, better=better)
    threads = options.pop("threads") or default_threads()
    return ScoreInputs(matrices, files, threads, options.pop("quiet"), _about(matrices))


def _refuse(given: Mapping[str, object], why: str) -> None:
    for name, value in given.items():
        if value not in (None, (), ""):
            flag = {"names": "name"}.get(name, name).replace("_", "-")
            raise UsageError(f"--{flag}: {why}")


def _about(matrices: Mapping[str, ScoreMatrix]) -> list[str]:
    """How files were understood, and which queries take no part."""
    lines = [f"{matrix.source}: {line}" for matrix in matrices.values() for line in matrix.reading.splitlines()]
    for measure, matrix in matrices.items():
        if matrix.left_out:
            shown = ", ".join(map(printable, matrix.left_out[:_SHOWN])) + (
                ", ..." if len(matrix.left_out) > _SHOWN else ""
            )
            lines.append(
                f"{measure}: {count_of(len(matrix.left_out), 'query', 'queries')} without a score of every system, "
                f"left out for all: {shown}"
            )
    return list(dict.fromkeys(lines))


def page_notes(inputs: ScoreInputs) -> tuple[tuple[str, ...], dict[str, object]]:
    """The notes below a page (the signature of evaluations), and what its header adds."""
    header: dict[str, object] = {"sources": list(inputs.sources)}
    if not inputs.evaluations:
        return (), header
    signature = next(iter(inputs.evaluations.values())).signature()
    return (signature.short(),), {"signature": str(signature), **header}


def read_numbers(text: str, option: str) -> list[float]:
    """Numbers between commas.

    >>> read_numbers("0.5, 0.2", "--shares")
    [0.5, 0.2]
    """
    return list(dict.fromkeys(read_number(part.strip(), option) for part in text.split(",")))
