"""What commands need that compare systems by scores: runs to score, or scores that exist; and where they are from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from gainful.cli import options
from gainful.cli.inputs import (
    CollectionOptions,
    GivenCollection,
    SessionInputs,
    SessionOptions,
    print_notices,
    session_options,
    takes_collection,
)
from gainful.cli.progress_bar import ProgressBar
from gainful.data.collection import named_runs
from gainful.errors import UsageError
from gainful.kernel.core import default_threads
from gainful.notation import read_number
from gainful.policy import CHOICES

if TYPE_CHECKING:
    from gainful.data.queries import Queries
    from gainful.evaluation.results import Evaluation
    from gainful.evaluation.score_matrix import Better, ScoreMatrix
    from gainful.evaluation.session_scores import SessionScores
    from gainful.tasks.agree import AgreementReport
    from gainful.tasks.power import PowerReport
    from gainful.tasks.stability import StabilityReport

_Command = TypeVar("_Command", bound=Callable[..., Any])

#: What has no meaning where no judgments and runs are read: the options by their parameters.
OF_RUNS = (
    *("like", "qrels_format", "run_format", "columns", "feature", "exclude", "items", "training", "scale"),
    *("names", "rel"),
    *(choice.field for choice in CHOICES),
)
#: What has no meaning where no scores are read.
OF_SCORES = ("rows", "better")


class Scores(NamedTuple):
    """Scores by measure, the first being the primary one, and what there is to say about them.

    ``collection`` and ``evaluations`` are there if the scores come from judgments and runs, ``sessions`` if they are of
    sessions; matrices are then those of sessions that all systems have, or none are made.
    """

    matrices: Mapping[str, ScoreMatrix]
    sources: tuple[str, ...]
    threads: int
    quiet: bool
    notices: list[str]
    collection: GivenCollection | None = None
    evaluations: Mapping[str, Evaluation] | None = None
    sessions: Mapping[str, SessionScores] | None = None

    @classmethod
    def of_sessions(
        cls, sessions: Mapping[str, SessionScores], sources: tuple[str, ...], threads: int, quiet: bool, unpaired: bool
    ) -> Scores:
        """Scores of sessions, with their matrices unless these are not wanted."""
        from gainful.evaluation.score_matrix import matrix_notices

        matrices = {} if unpaired else {name: each.matrix() for name, each in sessions.items()}
        noticed = [line for each in sessions.values() for line in each.notices()] + matrix_notices(matrices)
        return cls(matrices, sources, threads, quiet, noticed, sessions=sessions)

    def print_notices(self, more: Iterable[str] = ()) -> None:
        """Tells what there was to notice, once."""
        print_notices(dict.fromkeys([*self.notices, *more]), self.quiet)

    def show(
        self,
        report: AgreementReport | PowerReport | StabilityReport,
        places: int,
        output: options.Output,
        figure: options.FigureOutput,
    ) -> None:
        """Writes the page of a report on these scores, its figure, and what there was to notice."""
        page = report.page(places, *self.page_notes())
        output.write(page, [*self.notices, *report.notices])
        figure.write(page)
        self.print_notices(report.notices)

    def page_notes(self) -> tuple[tuple[str, ...], dict[str, object]]:
        """The notes below a page (the signature of evaluations), and what its header adds."""
        header: dict[str, object] = {"sources": list(self.sources)}
        if not self.evaluations:
            return (), header
        signature = next(iter(self.evaluations.values())).signature()
        notes: tuple[str, ...] = (signature.note(),)
        if self.sessions:  # of which systems may have more or fewer
            from gainful.evaluation.report import conventions_of

            notes = tuple(conventions_of(self.evaluations.items()))
        return notes, {"signature": str(signature), **header}


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

    def found(self, queries: Queries | None = None, *, unpaired: bool = False) -> Scores:
        """The scores, made or read; of the queries wanted, with what is known of them. ``unpaired``: of sessions no
        matrices are made, which need not be systems' own."""
        if self.score_files:
            if self.qrels_and_runs:
                raise UsageError(
                    f"--from: expected it instead of judgments and runs, found both: {self.qrels_and_runs[0]}"
                )
            refuse(OF_RUNS, "has no meaning with --from, where scores exist already")
            return self._read(queries, unpaired)
        refuse(OF_SCORES, "has no meaning without --from")
        if len(self.qrels_and_runs) < 2:
            found = f"found only {self.qrels_and_runs[0]}" if self.qrels_and_runs else "found none"
            raise UsageError(f"expected judgments and runs, or --from, {found}", "--from FILE reads scores that exist")
        return self._evaluated(queries)

    def _evaluated(self, queries: Queries | None) -> Scores:
        files = named_runs(self.qrels_and_runs[1:], self.reading.names)
        collection = self.reading.started(self.qrels_and_runs[0], files)
        # Loaded late, as is all that needs NumPy: by now the core is reading.
        measures = options.measures_from(self.measures or self.default, self.rel)
        collection.opened()
        from gainful.evaluation.evaluate import evaluate_runs
        from gainful.evaluation.score_matrix import ScoreMatrix, matrix_notices

        threads, quiet = collection.threads, collection.quiet
        with ProgressBar("reading runs", wanted=not quiet) as progress:
            evaluations = evaluate_runs(
                collection.judged, collection.runs, measures, queries=queries, threads=threads, progress=progress
            )
        collection.notice(evaluations.values())
        matrices = {str(measure): ScoreMatrix.from_evaluations(evaluations, measure) for measure in measures}
        notices = [*collection.notices, *matrix_notices(matrices)]
        return Scores(matrices, self.qrels_and_runs, threads, quiet, notices, collection, evaluations)

    def _read(self, queries: Queries | None, unpaired: bool) -> Scores:
        from gainful.evaluation.score_files import of_sessions
        from gainful.evaluation.score_matrix import matrix_notices, read_all
        from gainful.evaluation.session_scores import read_session_scores
        from gainful.io.sources import open_source

        files = [open_source(path) for path in self.score_files]
        threads, quiet = self.reading.threads or default_threads(), self.reading.quiet
        if not any(map(of_sessions, files)):
            matrices = read_all(files, measures=self.measures, rows=self.rows, better=self.better)
            if queries is not None:
                matrices = {name: matrix.chosen(queries) for name, matrix in matrices.items()}
            return Scores(matrices, self.score_files, threads, quiet, matrix_notices(matrices))
        refuse(("rows",), "has no meaning with scores of sessions")
        if queries is not None:
            raise UsageError("--queries: has no meaning with sessions")
        sessions = read_session_scores(files, measures=self.measures, better=self.better)
        return Scores.of_sessions(sessions, self.score_files, threads, quiet, unpaired)


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
    def taken_from(cls, given: dict[str, Any]) -> SessionReading | None:
        """Takes the options that say so out of the command's; None where no sessions are read."""
        is_wanted = given.pop("sessions")
        how = {name: given.pop(name) for name in _ONLY_SESSIONS}
        if not is_wanted:
            refuse(_ONLY_SESSIONS, "has no meaning without --sessions")
            return None
        refuse(_NOT_SESSIONS, "has no meaning with --sessions")
        how |= {"qrels_format": given["qrels_format"], "columns": given["columns"]}
        given["columns"] = ""  # its roles are those of sessions
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


def read_pair(text: str, option: str) -> tuple[str, str]:
    """Two systems with a comma between them."""
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 2 or not all(parts):
        raise UsageError(f"{option}: expected two systems like bm25,dense, found '{text}'")
    return parts[0], parts[1]


def read_numbers(text: str, option: str) -> list[float]:
    """Numbers between commas.

    >>> read_numbers("0.5, 0.2", "--shares")
    [0.5, 0.2]
    """
    return list(dict.fromkeys(read_number(part.strip(), option) for part in text.split(",")))
