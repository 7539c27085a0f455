"""Options that say how judgments and runs are read, and what commands have that take them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from gainful.cli.options import policy_from, policy_options
from gainful.data.collection import Collection, Inputs, named_runs
from gainful.io.columns import read_session_mapping
from gainful.io.formats import FORMATS
from gainful.notation import read_number

if TYPE_CHECKING:
    from gainful.data.judged import Judged
    from gainful.data.sessions import Sessions, SessionTopics
    from gainful.evaluation.results import Evaluation

_Command = TypeVar("_Command", bound=Callable[..., Any])
_FORMAT = click.Choice(list(FORMATS))


def input_options(command: _Command) -> _Command:
    """Adds ``--qrels-format``, ``--run-format``, ``--columns`` and ``--feature``."""
    for option in (
        click.option(
            "--feature", metavar="N", help="LETOR runs: the feature that is the score; 1,5,9 or all: as many."
        ),
        click.option(
            "--columns",
            metavar="ROLE=NAME,...",
            default="",
            help="What a header calls query, document, grade, subtopic, score, rank; qrels.query=... for one side.",
        ),
        click.option("--run-format", type=_FORMAT, help="Format of the runs.  [default: recognised]"),
        click.option("--qrels-format", type=_FORMAT, help="Format of the judgments.  [default: recognised]"),
    ):
        command = option(command)
    return command


class GivenCollection(Collection):
    """A collection with what there is to say about it when all is shown, unless that is to be kept quiet."""

    def __init__(self, *args: Any, quiet: bool, **options: Any) -> None:
        super().__init__(*args, **options)
        self.quiet = quiet
        self.notices: list[str] = []

    def notice(self, evaluations: Iterable[Evaluation]) -> None:
        """Remembers what is legal but suspicious about runs."""
        from gainful.evaluation.notices import notices

        self.notices.extend(notices(evaluations))

    def print_notices(self) -> None:
        """Tells what there was to notice."""
        print_notices(self.notices, self.quiet)


def print_notices(notices: Iterable[str], quiet: bool) -> None:
    """Tells what there was to notice, on standard error, below what is shown."""
    if not quiet:
        sys.stdout.flush()
        sys.stderr.writelines(f"notice: {line}\n" for line in notices)


def collection_options(command: _Command) -> _Command:
    """Adds what says how judgments and runs are read: names, scale, formats, policy, threads, and ``--quiet``."""
    for option in (
        click.option("--quiet", "-q", is_flag=True, help="No notices, no progress bar."),
        click.option("--threads", type=click.IntRange(1), help="How many threads to use.  [default: all cores]"),
        policy_options,
        input_options,
        click.option(
            "--scale", metavar="G", help="The highest grade there can be.  [default: the highest in the judgments]"
        ),
        click.option("--name", "names", multiple=True, help="A run's name; once for every run, in their order."),
    ):
        command = option(command)
    return command


def collection_from(qrels: str, runs: tuple[str, ...], options: dict[str, Any]) -> GivenCollection:
    """Takes these options out of a command's options and begins to read."""
    policy, inputs, scale = policy_from(options), Inputs.taken_from(options), options.pop("scale")
    files = named_runs(runs, options.pop("names"), beside=[qrels])
    return GivenCollection(
        qrels,
        files,
        policy,
        inputs,
        scale=None if scale is None else read_number(scale, "--scale"),
        threads=options.pop("threads"),
        quiet=options.pop("quiet"),
    ).opened()


class SessionInputs(NamedTuple):
    """Judgments, prepared; sessions by system, which are read part by part; their topics, if a table has them.

    ``columns`` are what a header calls things in the sessions.
    """

    judged: Judged
    sessions: Mapping[str, Iterator[Sessions]]
    topics: SessionTopics | None
    columns: Mapping[str, str]


def session_inputs(qrels: str, files: Mapping[str, str], options: Mapping[str, Any], threads: int) -> SessionInputs:
    """Reads judgments and topics; sessions are read when they are used."""
    named = read_session_mapping(options["columns"])
    columns = named["sessions"]
    scale = None if options["scale"] is None else read_number(options["scale"], "--scale")
    policy = policy_from(dict(options))
    # Loaded late: this is what needs NumPy.
    from gainful.data.judged import Judged
    from gainful.data.qrels import Qrels
    from gainful.data.sessions import Sessions, SessionTopics

    read = Qrels.read(qrels, format=options["qrels_format"], columns=named["qrels"], scale=scale, threads=threads)
    topics = None
    if options["topics"] is not None:
        topics = SessionTopics.of(options["topics"], columns)
        columns.pop("topic", None)  # it is of that table

    def parts(path: str) -> Iterator[Sessions]:
        return Sessions.read_parts(
            path,
            format=options["session_format"],
            columns=columns,
            separator=options["session_separator"],
            gaps=options["gaps"] or "error",
            threads=threads,
        )

    return SessionInputs(Judged(read, policy), {name: parts(path) for name, path in files.items()}, topics, columns)
