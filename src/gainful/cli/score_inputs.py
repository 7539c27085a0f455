"""Scores for commands that compare systems: computed from runs or sessions, or read from files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from gainful.cli import help_groups
from gainful.cli.flags import INPUT, flags_of, given, options_object, refuse, takes
from gainful.cli.inputs import CollectionOptions, InputOptions, SessionInputs, SessionOptions
from gainful.cli.options import FigureOutput, MeasureOptions, Places, Quiet, measures_of
from gainful.data.collection import named_runs, named_systems, runs_apart
from gainful.errors import UsageError
from gainful.frozen import dataclass, fields, replace
from gainful.kernel.core import default_threads
from gainful.policy import Policy
from gainful.question import setting, settings_of

if TYPE_CHECKING:
    from gainful.data.queries import Queries
    from gainful.evaluation.score_matrix import Better
    from gainful.evaluation.scores import Scores

#: Options for reading judgments and runs.
_OF_RUNS = (*settings_of(InputOptions), "like", *settings_of(Policy), "scale", "names", "rel")
_OF_SCORES = ("rows", "better")
_READS_SCORES = "--from FILE reads existing scores"


@dataclass(frozen=True, kw_only=True)
class ScoreFiles:
    """Files of existing scores, and their layout."""

    score_files: tuple[str, ...] = setting(
        (),
        "Existing scores instead of QRELS and RUNS; from eval --by-query or sessions --by-session as jsonl or csv, "
        "or a table of queries and systems (repeatable).",
        kind="file",
        flag="--from",
        repeatable=True,
    )
    rows: str | None = setting(
        None,
        "--from table: rows are queries or systems.",
        choices=["queries", "systems"],
        shown="inferred from IDs, with a note",
    )
    better: Better | None = setting(
        None,
        "--from: higher or lower values are better.",
        choices=["higher", "lower"],
        shown="the measure's direction, else higher",
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class ScoreOptions(CollectionOptions, ScoreFiles):
    """Judgments and runs to score, or files of existing scores."""

    qrels_and_runs: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        return (*self.qrels_and_runs, *self.score_files)

    def found(
        self, wanted: MeasureOptions, noticed: Quiet, queries: Queries | None = None, *, repeats: bool = False
    ) -> Scores | None:
        """Compute or read scores, limited to ``queries``; None if no files are named. ``repeats`` allows several runs
        per system."""
        if not self.files:
            refuse((*_OF_RUNS, *_OF_SCORES, "measures"), "needs scores: QRELS and RUNS, or --from")
            return None
        if self.score_files:
            if self.qrels_and_runs:
                raise UsageError(f"--from cannot be combined with judgments and runs ({self.qrels_and_runs[0]})")
            refuse(_OF_RUNS, "cannot be used with --from")
            from gainful.evaluation.scores import Scores

            how: Any = {"measures": wanted.measures, "rows": self.rows, "better": self.better, "queries": queries}
            return Scores.read(*self.score_files, **how)
        refuse(_OF_SCORES, "needs --from")
        if len(self.qrels_and_runs) < 2:
            raise UsageError(f"no runs besides the judgments {self.qrels_and_runs[0]}", _READS_SCORES)
        qrels, *runs = self.qrels_and_runs
        files, runs_of = runs_apart((named_systems if repeats else named_runs)(runs, self.names))
        collection = self.started(qrels, files)
        # Loaded late, like everything that needs NumPy: the core is already reading.
        measures = wanted.parsed()
        collection.opened()
        from gainful.evaluation.evaluate import evaluate_runs
        from gainful.evaluation.evaluations import Evaluations
        from gainful.evaluation.scores import Scores

        with noticed.waiting("reading runs"):
            found = evaluate_runs(
                collection.judged, collection.runs, measures, queries=queries, threads=collection.threads
            )
        evaluations = Evaluations(found)
        scores = Scores.of(evaluations, measures).with_repeats(runs_of)
        return replace(scores, files=self.qrels_and_runs, notices=(*evaluations.notices, *scores.notices))

    def require(self, found: Scores | None) -> Scores:
        """Return the scores; raise UsageError if there are none."""
        if found is None:
            raise UsageError("no judgments and runs were given", _READS_SCORES)
        return found


scores_argument = click.argument("qrels_and_runs", type=INPUT, nargs=-1, metavar="[QRELS RUNS...]")


def score_command(
    name: str, asks: type, function: str, *, default: Sequence[str], waiting: str
) -> Callable[[Callable[[], None]], click.Command]:
    """Declare a command that answers one question about scores with a public function of gainful.

    ``asks`` declares the options of ``function``; ``default`` lists the default measures.
    """

    def decorate(described: Callable[[], None]) -> click.Command:
        @help_groups.command(name)
        @flags_of(asks)
        @scores_argument
        @takes(shown=Places, output=FigureOutput, wanted=measures_of(default), scores=ScoreOptions)
        @wraps(described)
        def command(
            shown: Places, output: FigureOutput, wanted: MeasureOptions, scores: ScoreOptions, **asked: Any
        ) -> None:
            typed = given(asks, asked)
            found = scores.found(wanted, output)
            is_optional = next(iter(fields(asks))).default is None
            import gainful

            with output.waiting(waiting, in_bytes=False):
                report = getattr(gainful, function)(found if is_optional else scores.require(found), **typed)
            output.show(report.page(shown.places), report.notices)

        return command

    return decorate


_NOT_SESSIONS = ("score_files", "rows", "better", "run_format", "feature", "exclude", "items", "training", "intents")


@dataclass(frozen=True, kw_only=True)
class _AreSessions:
    sessions: bool = setting(False, "Treat the files after QRELS as session logs.")


@dataclass(frozen=True, eq=False, kw_only=True)
class SessionReading(SessionOptions, _AreSessions):
    """Session options of commands that also take runs."""

    @classmethod
    def taken_from(cls, params: dict[str, Any]) -> SessionReading | None:
        """Take the session options out of a command's parameters; None without --sessions."""
        asked = options_object(cls, dict(params))
        for name in settings_of(cls):
            del params[name]
        if not asked.sessions:
            refuse(settings_of(SessionOptions), "needs --sessions")
            return None
        refuse(_NOT_SESSIONS, "cannot be used with --sessions")
        params["columns"] = ""  # these roles apply to sessions
        return asked

    def inputs(self, reading: CollectionOptions, qrels: str, files: Sequence[str]) -> SessionInputs:
        threads = reading.threads or default_threads()
        return self.read(qrels, named_runs(files, reading.names), reading.policy, reading.scale, threads)
