"""Option classes for reading judgments, runs, queries and sessions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from gainful.cli import options
from gainful.cli.flags import flags_of, given, group, options_object
from gainful.data.collection import Collection, Inputs, named_runs
from gainful.errors import UsageError
from gainful.frozen import dataclass
from gainful.io.columns import RUN_SIDES, SESSION_SIDES, columns_by_side
from gainful.io.formats import FORMATS, GAPS, SEPARATOR, SESSION_FORMATS, Reading
from gainful.kernel.core import MOST_THREADS
from gainful.notation import read_number
from gainful.policy import LIST_CHOICES, Policy
from gainful.question import number, setting

if TYPE_CHECKING:
    from gainful.data.judged import Judged
    from gainful.data.queries import Queries
    from gainful.data.sessions import Sessions, SessionTopics
    from gainful.measures.base import Measure
    from gainful.tasks.sessions import SessionStudy


def read_grades(text: str | None) -> Mapping[str, float]:
    """Parse the grades of words from WORD=GRADE,..."""
    pairs = [part.rpartition("=") for part in (text or "").split(",") if part.strip()]
    if not all(word.strip() for word, _, _ in pairs):
        hint = (
            f"gainful explain nDCG@6 --grades {text} --detail takes a list of grades" if "=" not in str(text) else None
        )
        raise UsageError(f"--grades: expected WORD=GRADE, such as Perfect=3,Good=2, found '{text}'", hint)
    return {word.strip(): read_number(grade.strip(), f"--grades: {word.strip()}") for word, _, grade in pairs}


@dataclass(frozen=True, kw_only=True)
class FileOptions:
    """The files and columns of judgments, runs and items."""

    qrels_format: str | None = setting(
        None,
        "Format of the judgments; run: a run in place of judgments, for RBO.",
        choices=[*FORMATS, "run"],
        keeps_spelling=True,
        shown="recognised",
    )
    run_format: str | None = setting(
        None, "Format of the runs.", choices=FORMATS, keeps_spelling=True, shown="recognised"
    )
    columns: str = setting(
        "",
        "Column names in headers; roles: query, document, grade, subtopic, score and rank. A prefix limits a role to "
        "one file: qrels.query=..., run.query=..., exclude.query=..., training.query=..., items.document=..., "
        "documents.text=..., intents.query=...",
        metavar="ROLE=NAME,...",
    )
    feature: str | None = setting(
        None, "LETOR feature used as the score; 1,5,9 or all: one run per feature.", metavar="N"
    )
    exclude: str | None = setting(
        None, "Documents to remove from runs; per query or user, such as those seen before. Any format.", kind="file"
    )
    items: str | None = setting(
        None, "Table of items; attributes for ILD, Coverage and others, lengths for TBG and nDCG@4000t.", kind="file"
    )
    training: str | None = setting(
        None, "Items users had before; for Novelty, Serendipity, Coverage and Gini. Any format.", kind="file"
    )
    intents: str | None = setting(
        None, "Sub-topic probabilities; query, sub-topic, probability, for measures of diversity.", kind="file"
    )

    @classmethod
    def taken_from(cls, params: dict[str, Any]) -> Inputs:
        """Take the input options out of a command's parameters."""
        asked = options_object(cls, params)
        columns = columns_by_side(asked.columns, RUN_SIDES)
        return Inputs(
            Reading(asked.qrels_format, columns["qrels"], grades=read_grades(getattr(asked, "grades", None))),
            Reading(asked.run_format, columns["run"]),
            asked.feature,
            asked.exclude,
            asked.items,
            asked.training,
            asked.intents,
            columns,
        )


#: Shared, because `explain` has another option of that name, and sessions have no run files.
GRADES = setting(None, "Grades that words stand for.", metavar="WORD=GRADE,...")


@dataclass(frozen=True, kw_only=True)
class InputOptions(FileOptions):
    """Input options with judgments whose grades may be words."""

    grades: str | None = GRADES


@dataclass(frozen=True, kw_only=True)
class Work:
    """The number of threads."""

    threads: int | None = setting(
        None, "Number of threads.", kind="whole", least=1, most=MOST_THREADS, shown="all cores"
    )


RUN_NAMES: tuple[str, ...] = setting(
    (), "Name of a run; repeat once per run, in order.", flag="--name", repeatable=True
)


@dataclass(frozen=True, kw_only=True)
class PolicyOptions:
    """Run names, scale and policy."""

    names: tuple[str, ...] = RUN_NAMES
    scale: float | None = number(None, "Highest possible grade.", "G", shown="the highest in the judgments")
    policy: Policy = group(options.policy_flags, options.policy_from)


@dataclass(frozen=True, eq=False, kw_only=True)
class CollectionOptions(Work, PolicyOptions):
    """Options for reading judgments and runs, with names, scale and policy."""

    inputs: Inputs = group(flags_of(InputOptions), InputOptions.taken_from)

    def started(self, qrels: str, files: Mapping[str, str], *, ahead: bool = True, hashed: bool = False) -> Collection:
        return Collection(
            qrels, files, self.policy, self.inputs, scale=self.scale, threads=self.threads, ahead=ahead, hashed=hashed
        )

    def opened(self, qrels: str, runs: Sequence[str], *, ahead: bool = True) -> Collection:
        """Read the judgments; runs are read ahead or on demand."""
        return self.started(qrels, named_runs(runs, self.names), ahead=ahead).opened()


@dataclass(frozen=True, eq=False, kw_only=True)
class ListOptions(Work):
    """Options for reading runs without judgments."""

    names: tuple[str, ...] = RUN_NAMES
    policy: Policy = group(flags_of(Policy, LIST_CHOICES), lambda params: Policy(**given(Policy, params)))
    inputs: Inputs = group(
        flags_of(FileOptions, ("run_format", "columns", "feature", "exclude")), FileOptions.taken_from
    )


@dataclass(frozen=True, kw_only=True)
class QueryOptions:
    """Selection, weights and attributes of queries."""

    queries: str | None = setting(
        None, "Table of queries; IDs, and any of texts, columns to group by and weights.", kind="file"
    )
    weights: str | None = setting(None, "Column of query weights for means; such as traffic.", metavar="COLUMN")
    only_queries: str | None = setting(None, "Keep only these queries; lines begin with IDs.", kind="file")
    exclude_queries: str | None = setting(None, "Drop these queries; lines begin with IDs.", kind="file")

    def read(self, columns: Mapping[str, str], qrels: str | None, by: str | None = None) -> Queries | None:
        """Return the query options, None if there are none; judgments may contain groups and weights."""
        given = (self.queries, self.weights, self.only_queries, self.exclude_queries)
        if by is None and all(value is None for value in given):
            return None
        from gainful.data.queries import Queries, judgments_about_queries

        found = None
        if self.queries is None and (by or self.weights):
            found = judgments_about_queries(qrels, columns)
        table = self.queries if found is None else found.table
        if table is None and all(value is None for value in given):
            return None
        return Queries(table, self.weights, self.only_queries, self.exclude_queries, columns)


@dataclass(frozen=True, kw_only=True)
class _Grouped:
    by: str | None = setting(None, "Also report each query group of this column.", metavar="COLUMN")


@dataclass(frozen=True, kw_only=True)
class GroupedQueries(QueryOptions, _Grouped):
    """Query options with a grouping column."""


class SessionInputs(NamedTuple):
    """Prepared judgments; sessions by system, read part by part; their topics; and the column names of sessions."""

    judged: Judged
    sessions: Mapping[str, Iterator[Sessions]]
    topics: SessionTopics | None
    columns: Mapping[str, str]
    how: Mapping[str, Any]  # judged_by, topics and threads

    def study(self, measures: Sequence[Measure], **asked: Any) -> SessionStudy:
        """Score the sessions of each system that they name."""
        from gainful.tasks.sessions import study_sessions

        return study_sessions(self.judged, self.sessions, measures, by_system=True, **self.how, **asked)


@dataclass(frozen=True, eq=False, kw_only=True)
class SessionOptions:
    """Options for reading session files."""

    judged_by: str | None = setting(
        None,
        "Match session judgments by topic, session, query or text.",
        choices=["topic", "session", "query", "text"],
        shown="inferred",
    )
    topics: str | None = setting(None, "Table of session topics; one row per session, with a header.", kind="file")
    session_gap: str | None = setting(
        None, "Idle time that ends a session in a log; 30m, 90s, 1h.", metavar="TIME", shown="30m, by user only"
    )
    gaps: str | None = setting(None, "Treatment of missing query numbers.", choices=GAPS, shown="error")
    session_separator: str | None = setting(
        None, "Separator of session and turn in runs.", metavar="TEXT", shown=SEPARATOR
    )
    session_format: str | None = setting(
        None, "Format of the sessions.", choices=SESSION_FORMATS, keeps_spelling=True, shown="recognised"
    )

    qrels_format: str | None = None
    columns: str = ""
    grades: str | None = None

    def read(
        self, qrels: str, files: Mapping[str, str], policy: Policy, scale: float | None, threads: int
    ) -> SessionInputs:
        """Read judgments and topics; sessions are read on demand."""
        named = columns_by_side(self.columns, SESSION_SIDES)
        of_sessions = named["sessions"]
        # Loaded late, because it needs NumPy.
        from gainful.data.judged import Judged
        from gainful.data.qrels import Qrels
        from gainful.data.sessions import Sessions, SessionTopics

        judgments = Qrels.read(
            qrels,
            format=self.qrels_format,
            columns=named["qrels"],
            grades=read_grades(self.grades),
            scale=scale,
            threads=threads,
        )
        topics = None
        if self.topics is not None:
            topics = SessionTopics.of(self.topics, of_sessions)
            of_sessions.pop("topic", None)  # a column of the topics table

        def parts(path: str) -> Iterator[Sessions]:
            return Sessions.read_parts(
                path,
                format=self.session_format,
                columns=of_sessions,
                separator=self.session_separator,
                gaps=self.gaps or "error",
                session_gap=self.session_gap,
                threads=threads,
            )

        sessions = {name: parts(path) for name, path in files.items()}
        how = {"judged_by": self.judged_by, "topics": topics, "threads": threads}
        return SessionInputs(Judged(judgments, policy), sessions, topics, of_sessions, how)
