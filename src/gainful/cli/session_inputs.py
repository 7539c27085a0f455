"""What commands need that take judgments and sessions: the two sides, and what sessions are about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from gainful.cli.options import policy_from
from gainful.io.columns import read_session_mapping
from gainful.notation import read_number

if TYPE_CHECKING:
    from gainful.data.judged import Judged
    from gainful.data.sessions import Sessions, SessionTopics


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
