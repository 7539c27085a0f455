"""What commands need that take judgments and runs: the options, and the two sides ready to meet."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from gainful.cli.inputs import Inputs, input_options
from gainful.cli.names import run_names
from gainful.cli.options import policy_from, policy_options
from gainful.core import default_threads
from gainful.errors import UsageError
from gainful.notation import read_number

if TYPE_CHECKING:
    from gainful.data.judged import Judged
    from gainful.io.rows import RunFile
    from gainful.results import Evaluation

_Command = TypeVar("_Command", bound=Callable[..., Any])


class Collection(NamedTuple):
    """Judgments, prepared, and runs by name, not read yet. ``notices`` is for what is to be said when all is shown."""

    judged: Judged
    runs: Mapping[str, RunFile]
    threads: int
    quiet: bool
    notices: list[str]

    def of_queries(self, queries: Sequence[str]) -> Collection:
        """The same with the judgments of some of the queries only, or of all if none is named."""
        if not queries:
            return self
        from gainful.data.judged import Judged

        return self._replace(judged=Judged(self.judged.qrels.select(queries), self.judged.policy))

    def notice(self, evaluations: Iterable[Evaluation]) -> None:
        """Remembers what is legal but suspicious about runs."""
        from gainful.notices import notices

        self.notices.extend(notices(evaluations))

    def print_notices(self) -> None:
        """Tells what there was to notice, on standard error, below what is shown."""
        if not self.quiet:
            sys.stdout.flush()
            sys.stderr.writelines(f"notice: {line}\n" for line in self.notices)


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


def collection_from(qrels: str, runs: tuple[str, ...], options: dict[str, Any]) -> Collection:
    """Takes these options out of a command's options and reads the judgments."""
    policy, inputs = policy_from(options), Inputs.taken_from(options)
    scale, threads = options.pop("scale"), options.pop("threads") or default_threads()
    if [qrels, *runs].count("-") > 1:
        raise UsageError("standard input (-) can be read once, found it twice")
    names = run_names(runs, options.pop("names"))
    highest = None if scale is None else read_number(scale, "--scale")
    from gainful.data.judged import Judged

    judged = Judged(inputs.read_qrels(qrels, scale=highest, threads=threads), policy)
    return Collection(judged, inputs.runs(dict(zip(names, runs, strict=True))), threads, options.pop("quiet"), [])
