"""The formats of sessions, and what the columns of their tables mean; JSON has the same names for the same things."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gainful.errors import UsageError
from gainful.io.columns import NAMES as RUN_NAMES
from gainful.io.columns import Names, find_role, has_header, missing_column, read_role
from gainful.notation import choose

#: The formats of sessions, each with what it looks like. In runs of any format a query's id is session and turn.
SESSION_FORMATS: Mapping[str, str] = {
    "jsonl": '{"session": "s1", "queries": [{"query": "port arthur", "results": ["d1"]}]}',
    "json": "a list of such objects",
    "tsv": "a header (session, query, rank, document, ...), then fields between tabs",
    "csv": "a header (session, query, rank, document, ...), then fields between commas or semicolons",
    "parquet": "such a table, read with pyarrow or polars",
    "xml": "the log of TREC's Session Track",
    "trec": "session_turn Q0 document rank score tag",
    "msmarco": "session_turn document rank",
}
#: What a missing query number means: that something is wrong, or an empty result page.
GAPS = ("error", "empty")
#: What stands between session and turn in a query's id.
SEPARATOR = "_"

#: The names that each role is known by, best first. The role ``query`` is the query's number in its session,
#: ``query_id`` what judgments by query call it.
SESSION_NAMES: Names = {
    "session": (("session_id", "session-id", "sessionid", "session_num"), ("session",)),
    "query": (
        ("qno", "query_number", "query-number", "query_no", "query_num", "turn_number", "turn_no", "turn"),
        ("query", "interaction"),
    ),
    "query_id": (("query_id", "query-id", "queryid"), ("turn_id", "turn-id")),
    "rank": RUN_NAMES["rank"],
    "document": RUN_NAMES["document"],
    "topic": (("topic_id", "topic-id", "topicid", "topic_num"), ("topic",)),
    "user": (("user_id", "user-id", "userid"), ("user",)),
    "system": (("system_id", "system-id"), ("system",)),
    "score": RUN_NAMES["score"],
    "grade": (("grade", "relevance", "rel", "label"),),
    "scanned": (("scanned",),),
    "time": (("time", "timestamp", "start_time", "starttime"),),
}
_SIDES = ("qrels", "sessions")
_NEEDED = ("session", "query", "document")


def is_session_header(names: Sequence[str], given: Mapping[str, str]) -> bool:
    """Whether names look like the header of a table of sessions.

    >>> is_session_header(["SessionID", "Qno", "rank", "URL"], {}), is_session_header(["qid", "docno", "score"], {})
    (True, False)
    """
    return has_header(names, given, ("session", "document"), SESSION_NAMES)


def find_session_roles(names: Sequence[str], given: Mapping[str, str], where: str) -> dict[str, int]:
    """Which column is what. Without a rank there has to be a score, as rows may stand in any order."""
    found = {role: find_role(role, names, given, where, SESSION_NAMES) for role in SESSION_NAMES}
    roles = {role: column for role, column in found.items() if column is not None}
    for role in _NEEDED:
        if role not in roles:
            raise missing_column(role, names, where, SESSION_NAMES)
    if "rank" not in roles and "score" not in roles:
        raise missing_column("rank", names, where, SESSION_NAMES)
    return roles


def read_session_mapping(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """What ``--columns`` says of sessions, and of judgments where ``qrels.`` stands before a role.

    >>> read_session_mapping("session=SessionID,query=Qno,doc=URL,qrels.query=SessionID")
    ({'session': 'SessionID', 'query': 'Qno', 'document': 'URL'}, {'query': 'SessionID'})
    """
    sessions: dict[str, str] = {}
    qrels: dict[str, str] = {}
    for part in filter(str.strip, text.split(",")):
        role, equals, name = (piece.strip() for piece in part.partition("="))
        if not equals or not name:
            listed = ", ".join(SESSION_NAMES)
            raise UsageError(f"--columns: expected role=name, found '{part}'", f"the roles are {listed}")
        of_side, dot, of_role = role.rpartition(".")
        if dot and choose(of_side, _SIDES, "--columns") == "qrels":
            qrels[read_role(of_role, "--columns")] = name
        else:
            sessions[read_role(of_role, "--columns", SESSION_NAMES)] = name
    return sessions, qrels
