"""Options that say how judgments and runs are read, and what commands have that take them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from gainful.cli import options
from gainful.data.collection import Collection, Inputs, named_runs
from gainful.io.columns import RUN_SIDES, SESSION_SIDES, columns_by_side
from gainful.io.formats import FORMATS, GAPS, SEPARATOR, SESSION_FORMATS
from gainful.kernel.parallel import Progress
from gainful.policy import Policy

if TYPE_CHECKING:
    from gainful.data.judged import Judged
    from gainful.data.queries import Queries
    from gainful.data.sessions import Sessions, SessionTopics
    from gainful.evaluation.evaluations import Evaluation

_Command = TypeVar("_Command", bound=Callable[..., Any])
_FORMAT = click.Choice(list(FORMATS))
_qrels_format_option = click.option(
    "--qrels-format", type=_FORMAT, help="Format of the judgments.  [default: recognised]"
)
_qrels_or_run_option = options.choice_option(
    "--qrels-format",
    [*FORMATS, "run"],
    "Format of the judgments; run: a run in their place, for RBO.  [default: recognised]",
)


def input_options(command: _Command) -> _Command:
    """Adds ``--qrels-format``, ``--run-format``, ``--columns``, ``--feature``, ``--exclude``, ``--items`` and
    ``--training``."""
    for option in (
        options.file_option(
            "--training", "What users had before, for Novelty, Serendipity, Coverage and Gini. Any format."
        ),
        options.file_option(
            "--items", "A table of items with their attributes, for ILD, Serendipity, Coverage and Gini."
        ),
        options.file_option(
            "--exclude", "Documents by query (or user) that are left out of runs: what was seen before. Any format."
        ),
        options.text_option("--feature", "LETOR runs: the feature that is the score; 1,5,9 or all: as many.", "N"),
        click.option(
            "--columns",
            metavar="ROLE=NAME,...",
            default="",
            help="What a header calls query, document, grade, subtopic, score, rank; qrels.query=..., run.query=..., "
            "exclude.query=..., training.query=..., items.document=... or documents.text=... for one side.",
        ),
        click.option("--run-format", type=_FORMAT, help="Format of the runs.  [default: recognised]"),
        _qrels_or_run_option,
    ):
        command = option(command)
    return command


def _queries_from(given: dict[str, Any]) -> Queries | None:
    """What is said of queries; None if nothing is."""
    values = {name: given.pop(name) for name in ("queries", "weights", "only_queries", "exclude_queries")}
    by = given["asked"].by if "asked" in given else given.get("by")
    if by is None and all(value is None for value in values.values()):
        return None
    from gainful.data.queries import Queries, judgments_about_queries

    called = {} if given.get("sessions") else columns_by_side(given["columns"], RUN_SIDES)["qrels"]
    table, weights, only, exclude = values.values()
    if table is None and (by or weights):
        qrels = given.get("qrels") or next(iter(given.get("qrels_and_runs", ())), None)
        found = judgments_about_queries(qrels, called)
        table = None if found is None else found.table
    chosen = [value for value in (table, weights, only, exclude) if value is not None]
    return Queries(table, weights, only, exclude, called) if chosen else None


#: Adds what says something of queries and hands over ``queries``.
takes_queries = options.takes(
    options.file_option("--queries", "A table of queries: their ids, and any of texts, columns to group by, weights."),
    options.text_option("--weights", "--queries: how much each query counts in means, such as its traffic.", "COLUMN"),
    options.file_option("--only-queries", "Take these queries alone; lines begin with ids."),
    options.file_option("--exclude-queries", "Leave these queries out."),
    queries=_queries_from,
)
by_option = options.text_option("--by", "--queries: show every group of queries by this column, too.", "COLUMN")


#: Adds how judgments and runs are read and hands over ``inputs``.
takes_inputs = options.takes(input_options, inputs=Inputs.taken_from)


class GivenCollection(Collection):
    """A collection with what there is to say about it when all is shown, unless that is to be kept quiet."""

    def __init__(self, *args: Any, quiet: bool, **how: Any) -> None:
        super().__init__(*args, **how)
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
        from gainful.render.text_formats import messages

        sys.stdout.flush()
        sys.stderr.writelines(f"{line}\n" for line in messages((f"notice: {line}" for line in notices), sys.stderr))


@dataclass(frozen=True, eq=False)
class CollectionOptions:
    """How judgments and runs are read, what runs are called, and whether notices are printed."""

    policy: Policy
    inputs: Inputs
    scale: float | None
    names: tuple[str, ...]
    threads: int | None
    quiet: bool

    def started(
        self, qrels: str, files: Mapping[str, str], progress: Progress | None = None, *, ahead: bool = True
    ) -> GivenCollection:
        """The judgments and the runs by name, which are being read."""
        return GivenCollection(
            qrels,
            files,
            self.policy,
            self.inputs,
            scale=self.scale,
            threads=self.threads,
            progress=progress,
            ahead=ahead,
            quiet=self.quiet,
        )

    def opened(self, qrels: str, runs: Sequence[str], *, ahead: bool = True) -> GivenCollection:
        """The judgments, read, and the runs, which are being read ahead or when they are needed."""
        return self.started(qrels, named_runs(runs, self.names), ahead=ahead).opened()


#: What says how judgments and runs are read, in the order of the help.
COLLECTION_OPTIONS = (
    options.names_option,
    options.scale_option,
    input_options,
    options.policy_options,
    options.threads_option,
)


def takes_collection(quiet: str = "No notices, no progress bar.") -> Callable[[_Command], _Command]:
    """Adds them and ``--quiet``, which says what is left out, and hands over ``reading``."""
    return options.takes(
        *COLLECTION_OPTIONS,
        options.quiet_option(quiet),
        policy=options.policy_from,
        inputs=Inputs.taken_from,
        reading=options.made_of(CollectionOptions),
    )


class SessionInputs(NamedTuple):
    """Judgments, prepared; sessions by system, which are read part by part; their topics, if a table has them.

    ``columns`` are what a header calls things in the sessions.
    """

    judged: Judged
    sessions: Mapping[str, Iterator[Sessions]]
    topics: SessionTopics | None
    columns: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class SessionOptions:
    """How judgments and sessions are read."""

    policy: Policy
    scale: float | None
    qrels_format: str | None
    columns: str
    topics: str | None
    session_format: str | None
    session_separator: str | None
    gaps: str | None
    session_gap: str | None

    def read(self, qrels: str, files: Mapping[str, str], threads: int) -> SessionInputs:
        """Reads judgments and topics; sessions are read when they are used."""
        named = columns_by_side(self.columns, SESSION_SIDES)
        columns = named["sessions"]
        # Loaded late: this is what needs NumPy.
        from gainful.data.judged import Judged
        from gainful.data.qrels import Qrels
        from gainful.data.sessions import Sessions, SessionTopics

        read = Qrels.read(qrels, format=self.qrels_format, columns=named["qrels"], scale=self.scale, threads=threads)
        topics = None
        if self.topics is not None:
            topics = SessionTopics.of(self.topics, columns)
            columns.pop("topic", None)  # it is of that table

        def parts(path: str) -> Iterator[Sessions]:
            return Sessions.read_parts(
                path,
                format=self.session_format,
                columns=columns,
                separator=self.session_separator,
                gaps=self.gaps or "error",
                session_gap=self.session_gap,
                threads=threads,
            )

        sessions = {name: parts(path) for name, path in files.items()}
        return SessionInputs(Judged(read, self.policy), sessions, topics, columns)


def session_options(command: _Command) -> _Command:
    """Adds what says how sessions are read, and what nothing else is read by."""
    for option in (
        options.choice_option(
            "--judged-by",
            ["topic", "session", "query", "text"],
            "What judgments of sessions are by.  [default: what fits]",
        ),
        options.file_option("--topics", "A table with a header, one row a session: what each is about."),
        options.text_option(
            "--session-gap",
            "In logs: a session ends after so long without a query: 30m, 90s, 1h.  [default: 30m, by user only]",
            "TIME",
        ),
        options.choice_option("--gaps", GAPS, "What a missing query number is.  [default: error]"),
        options.text_option(
            "--session-separator", f"In runs: between session and turn.  [default: {SEPARATOR}]", "TEXT"
        ),
        options.choice_option("--session-format", SESSION_FORMATS, "Format of the sessions.  [default: recognised]"),
    ):
        command = option(command)
    return command


#: Adds what says how sessions are read, and hands over ``reading``.
takes_sessions = options.takes(
    session_options,
    _qrels_format_option,
    click.option(
        "--columns",
        metavar="ROLE=NAME,...",
        default="",
        help="What a header calls session, query (its number), rank, document, topic, ...; qrels.query=... in "
        "judgments.",
    ),
    options.policy_options,
    policy=options.policy_from,
    reading=options.made_of(SessionOptions),
)
