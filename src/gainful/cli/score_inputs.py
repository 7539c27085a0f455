"""What commands need that compare systems by scores: runs to score, or scores that exist; and where they are from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from gainful.cli import help_groups, options
from gainful.cli.asking import flags_of, given
from gainful.cli.inputs import (
    CollectionOptions,
    SessionInputs,
    SessionOptions,
    print_notices,
    session_options,
    takes_collection,
)
from gainful.cli.progress_bar import ProgressBar
from gainful.data.collection import named_runs
from gainful.errors import UsageError
from gainful.policy import CHOICES

if TYPE_CHECKING:
    from gainful.data.queries import Queries
    from gainful.evaluation.score_matrix import Better
    from gainful.evaluation.scores import Scores

_Command = TypeVar("_Command", bound=Callable[..., Any])

#: What has no meaning where no judgments and runs are read: the options by their parameters.
OF_RUNS = (
    *("like", "qrels_format", "run_format", "columns", "feature", "exclude", "items", "training", "scale"),
    *("names", "rel"),
    *(choice.field for choice in CHOICES),
)
#: What has no meaning where no scores are read.
OF_SCORES = ("rows", "better")
_READS_SCORES = "--from FILE reads scores that exist"


@dataclass(frozen=True)
class ScoreOptions:
    """Judgments and runs to score, or files of scores, and how they are read; ``default`` is what to score by."""

    default: tuple[str, ...]
    qrels_and_runs: tuple[str, ...]
    score_files: tuple[str, ...]
    measures: tuple[str, ...]
    rel: str | None
    rows: str | None
    better: Better | None
    reading: CollectionOptions

    @property
    def files(self) -> tuple[str, ...]:
        """All files that are going to be read."""
        return (*self.qrels_and_runs, *self.score_files)

    def found(self, queries: Queries | None = None) -> Scores | None:
        """The scores, computed or read, of the queries wanted; None where no files are named."""
        if not self.files:
            refuse((*OF_RUNS, *OF_SCORES, "measures"), "has no meaning where no scores are read")
            return None
        if self.score_files:
            if self.qrels_and_runs:
                raise UsageError(
                    f"--from: expected it instead of judgments and runs, found both: {self.qrels_and_runs[0]}"
                )
            refuse(OF_RUNS, "has no meaning with --from, where scores exist already")
            from gainful.evaluation.scores import Scores

            how: Any = {"measures": self.measures, "rows": self.rows, "better": self.better, "queries": queries}
            return Scores.read(*self.score_files, **how)
        refuse(OF_SCORES, "has no meaning without --from")
        if len(self.qrels_and_runs) < 2:
            raise UsageError(
                f"expected judgments and runs, or --from, found only {self.qrels_and_runs[0]}", _READS_SCORES
            )
        return self._evaluated(queries)

    def _evaluated(self, queries: Queries | None) -> Scores:
        qrels, *runs = self.qrels_and_runs
        collection = self.reading.started(qrels, named_runs(runs, self.reading.names))
        # Loaded late, as is all that needs NumPy: by now the core is reading.
        measures = options.measures_from(self.measures or self.default, self.rel)
        collection.opened()
        from gainful.evaluation.evaluate import evaluate_runs
        from gainful.evaluation.evaluations import Evaluations
        from gainful.evaluation.scores import Scores

        with ProgressBar("reading runs", wanted=not self.reading.quiet) as progress:
            evaluations = Evaluations(
                evaluate_runs(
                    collection.judged,
                    collection.runs,
                    measures,
                    queries=queries,
                    threads=collection.threads,
                    progress=progress,
                )
            )
        scores = Scores.of(evaluations, measures)
        return replace(scores, files=self.qrels_and_runs, notices=(*evaluations.notices, *scores.notices))

    def require(self, found: Scores | None) -> Scores:
        """The scores, of which there have to be some."""
        if found is None:
            raise UsageError("expected judgments and runs, or --from, found none", _READS_SCORES)
        return found


def score_command(
    name: str, asks: type, function: str, *, default: Sequence[str], waiting: str
) -> Callable[[Callable[[], None]], click.Command]:
    """A command that asks one question of scores: reads or computes them, calls the public function, shows the answer.

    ``asks`` declares the options of that ``function`` of gainful, ``default`` are the measures unless named.
    """

    def decorate(described: Callable[[], None]) -> click.Command:
        @help_groups.command(name)
        @flags_of(asks)
        @options.places_option("Decimal places in tables.")
        @options.takes_output_and_figure
        @takes_scores(default)
        @wraps(described)
        def command(
            places: int,
            output: options.Output,
            figure: options.FigureOutput,
            scores: ScoreOptions,
            **asked: Any,
        ) -> None:
            wanted = given(asks, asked)
            found, quiet = scores.found(), scores.reading.quiet
            is_optional = next(iter(fields(asks))).default is None
            import gainful

            with ProgressBar(waiting, wanted=not quiet, in_bytes=False):
                report = getattr(gainful, function)(found if is_optional else scores.require(found), **wanted)
            page = report.page(places)
            output.write(page, report.notices)
            figure.write(page)
            print_notices(dict.fromkeys(report.notices), quiet)

        return command

    return decorate


def refuse(names: Iterable[str], why: str) -> None:
    """Refuses options that were given, by their parameters."""
    given = click.get_current_context().params
    for name in names:
        if given.get(name) not in (None, (), ""):
            flag = {"names": "name", "measures": "measure", "score_files": "from"}.get(name, name).replace("_", "-")
            raise UsageError(f"--{flag}: {why}")


#: What has a meaning with sessions only, and what has none with them.
_ONLY_SESSIONS = ("judged_by", "topics", "session_gap", "gaps", "session_separator", "session_format")
_NOT_SESSIONS = ("score_files", "rows", "better", "run_format", "feature", "exclude", "items", "training")


class SessionReading(NamedTuple):
    """How sessions are read: all but the policy and the scale."""

    judged_by: str | None
    options: Mapping[str, Any]

    @classmethod
    def taken_from(cls, params: dict[str, Any]) -> SessionReading | None:
        """Takes the options that say so out of the command's; None where no sessions are read."""
        is_wanted = params.pop("sessions")
        how = {name: params.pop(name) for name in _ONLY_SESSIONS}
        if not is_wanted:
            refuse(_ONLY_SESSIONS, "has no meaning without --sessions")
            return None
        refuse(_NOT_SESSIONS, "has no meaning with --sessions")
        how |= {"qrels_format": params["qrels_format"], "columns": params["columns"]}
        params["columns"] = ""  # its roles are those of sessions
        return cls(how.pop("judged_by"), how)

    def inputs(self, reading: CollectionOptions, qrels: str, files: Sequence[str], threads: int) -> SessionInputs:
        """Judgments and sessions by system."""
        how = SessionOptions(policy=reading.policy, scale=reading.scale, **self.options)
        return how.read(qrels, named_runs(files, reading.names), threads)


#: Adds ``--sessions`` and how they are read, and hands over ``sessions``, None where they are not wanted.
takes_session_reading = options.takes(
    click.option("--sessions", is_flag=True, help="What follows QRELS are SESSIONS, as `gainful sessions` reads them."),
    session_options,
    sessions=SessionReading.taken_from,
)


def takes_scores(default: Sequence[str]) -> Callable[[_Command], _Command]:
    """Adds QRELS and RUNS, ``--from`` instead of them, ``-m`` with a command's default, and how all is read.

    A command is handed ``scores``.
    """
    return options.takes(
        click.argument("qrels_and_runs", type=options.INPUT, nargs=-1, metavar="[QRELS RUNS...]"),
        options.several_measures_option(default),
        options.rel_option,
        options.file_option(
            "--from",
            "Scores that exist, instead of QRELS and RUNS: what eval --by-query or sessions --by-session writes "
            "as jsonl or csv, or a table of queries and systems; may be repeated.",
            multiple=True,
            name="score_files",
        ),
        options.choice_option(
            "--rows",
            ["queries", "systems"],
            "--from: what the rows of a table are.  [default: found from ids, and said]",
        ),
        options.choice_option(
            "--better",
            ["higher", "lower"],
            "--from: which values are better.  [default: what the measure says, else higher]",
        ),
        takes_collection(),
        scores=options.made_of(ScoreOptions, default=tuple(default)),
    )
