"""What the columns of a table with a header mean.

Which format a text is in, by its first line. Nothing here loads NumPy: it is asked before reading starts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from gainful.errors import InputError, UsageError
from gainful.notation import choose, nearest

#: The names that each role is known by, best first: an id beats a column that may hold the query's text.
Names: TypeAlias = Mapping[str, tuple[tuple[str, ...], ...]]
NAMES: Names = {
    "query": (("query_id", "query-id", "qid", "q_id", "topic", "topic_id"), ("query",)),
    "document": (
        ("docno",),
        ("doc_id", "doc-id", "document_id", "document-id", "docid", "corpus-id", "corpus_id", "pid"),
        ("document", "doc"),
        ("url",),
    ),
    "grade": (("grade", "relevance", "rel", "label"), ("score",)),
    "score": (("score",),),
    "rank": (("rank",),),
    "subtopic": (("subtopic", "sub-topic", "subtopic_id", "iteration"),),
}
#: Judgments may be by session; a run whose queries are sessions would mix the results of different queries.
JUDGMENT_NAMES: Names = {
    **NAMES,
    "query": (*NAMES["query"], ("session_id", "session-id", "sessionid"), ("session",)),
}
SIDES = ("qrels", "run")
_JUDGMENT_ROLES = ("query", "document", "grade", "subtopic")
_RUN_ROLES = ("query", "document", "score", "rank")
_NEEDED = ("query", "document", "grade")
_KNOWN = {name for tiers in NAMES.values() for tier in tiers for name in tier}


def read_mapping(text: str, side: str) -> dict[str, str]:
    """The roles and names that a text gives to one side; ``qrels.`` or ``run.`` before a role is for that side alone.

    >>> read_mapping("query=SessionID,doc=URL,run.score=similarity", "qrels")
    {'query': 'SessionID', 'document': 'URL'}
    """
    mapping: dict[str, str] = {}
    for part in filter(str.strip, text.split(",")):
        role, equals, name = (piece.strip() for piece in part.partition("="))
        if not equals or not name:
            raise UsageError(f"--columns: expected role=name, found '{part}'", f"the roles are {', '.join(NAMES)}")
        of_side, dot, of_role = role.rpartition(".")
        if dot:
            choose(of_side, SIDES, "--columns")
        known = read_role(of_role, "--columns")
        if not dot or of_side == side:
            mapping[known] = name
    return mapping


def checked_columns(columns: Mapping[str, object] | None, known: Names = NAMES) -> dict[str, str]:
    """The roles and names that a caller gives, if they are roles.

    >>> checked_columns({"doc": "URL"})
    {'document': 'URL'}
    """
    return {read_role(role, "columns", known): str(name) for role, name in (columns or {}).items()}


def read_role(text: str, what: str, known: Names = NAMES) -> str:
    """The role that a text names; ``doc`` is short for document."""
    return choose({"doc": "document"}.get(text, text), known, what)


def find_roles(names: Sequence[str], given: Mapping[str, str], *, run: bool, where: str) -> dict[str, int]:
    """Which column is what. A role that judgments or runs need and that no column has is an error.

    >>> find_roles(["qid", "query", "docno", "score"], {}, run=True, where="run.csv")
    {'query': 0, 'document': 2, 'score': 3}
    """
    roles: dict[str, int] = {}
    known = NAMES if run else JUDGMENT_NAMES
    for role in _RUN_ROLES if run else _JUDGMENT_ROLES:
        found = find_role(role, names, given, where, known)
        if found is not None:
            roles[role] = found
        elif role in _NEEDED:
            raise missing_column(role, names, where, known)
    if run and "score" not in roles and "rank" not in roles:
        _refuse_unknown(names, roles, where)
    return roles


def find_role(
    role: str, names: Sequence[str], given: Mapping[str, str], where: str, known: Names = NAMES
) -> int | None:
    """The column of a role, given or known by its name; None if there is none."""
    if role in given:
        return _given(role, given[role], names, where)
    return _known(role, names, given, where, known[role])


def has_header(
    names: Sequence[str],
    given: Mapping[str, str],
    needed: Sequence[str] = ("query", "document"),
    known: Names = JUDGMENT_NAMES,
) -> bool:
    """Whether names look like a header: one of them is the query, another the document."""
    folded = {_folded(name) for name in names}
    return all(
        given[role] in names if role in given else any(name in folded for tier in known[role] for name in tier)
        for role in needed
    )


def _folded(name: str) -> str:
    return name.strip().casefold().replace(" ", "_")


def _given(role: str, name: str, names: Sequence[str], where: str) -> int:
    found = [i for i, each in enumerate(names) if each == name]
    if len(found) > 1:
        raise InputError(
            f"{where}: expected one column '{name}', found {len(found)} of that name", "rename all but one"
        )
    if not found:
        close = nearest(name, names)
        raise InputError(f"{where}: expected a column '{name}' for {role}, found {', '.join(names)}", close)
    return found[0]


def _known(
    role: str, names: Sequence[str], given: Mapping[str, str], where: str, tiers: Sequence[Sequence[str]]
) -> int | None:
    taken = set(given.values())
    for tier in tiers:
        found = [i for i, name in enumerate(names) if _folded(name) in tier and name not in taken]
        if len(found) > 1:
            listed = [names[i] for i in found]
            choose_one = f"--columns {role}={listed[0]} (columns= in Python) chooses one"
            raise InputError(
                f"{where}: expected one column for {role}, found {' and '.join(listed)}",
                choose_one if len(set(listed)) == len(listed) else "rename all but one",
            )
        if found:
            return found[0]
    return None


def missing_column(role: str, names: Sequence[str], where: str, known: Names = NAMES) -> InputError:
    """What is said of a header without a column that has to be there."""
    listed = ", ".join(name for tier in known[role] for name in tier)
    return InputError(
        f"{where}: expected a column for {role} ({listed}), found {', '.join(names) or 'none'}",
        f"--columns {role}=NAME (columns= in Python) names it",
    )


def _refuse_unknown(names: Sequence[str], roles: Mapping[str, int], where: str) -> None:
    """A run may come without scores, but then no other column should be left that could hold them."""
    others = [name for i, name in enumerate(names) if i not in roles.values() and _folded(name) not in _KNOWN]
    if any(others):
        raise InputError(
            f"{where}: expected a column for score or rank, found {', '.join(names)}",
            f"--columns score={next(filter(None, others))} (columns= in Python) names it; lists in rank order have no "
            "other columns",
        )


#: The formats, each with what its lines look like.
FORMATS: Mapping[str, str] = {
    "trec": "query subtopic document grade; query Q0 document rank score tag",
    "msmarco": "query document rank",
    "json": '{"q1": {"d3": 2.5}}',
    "jsonl": '{"query": "q1", "results": ["d3"]}; {"query": "q1", "judgments": {"d3": 2.5}}',
    "tsv": "a header, then fields between tabs",
    "csv": "a header, then fields between commas or semicolons",
    "letor": "grade qid:query 1:value 2:value ... #docid = document",
    "ntcir": "document L2, or topic document L2 (.rel); document (.res)",
    "parquet": "a table, read with pyarrow or polars",
}

#: How much of a source is looked at.
HEAD = 1 << 16

_BOM = b"\xef\xbb\xbf"
#: What spreadsheets may write first: which separator follows.
SEPARATOR_LINE = re.compile(rb"sep=.")
_LEVEL = re.compile(rb"L\d+")
_SCALAR_FIRST = re.compile(rb'\{\s*"(?:[^"\\]|\\.)*"\s*:\s*[^\s\[{]')
_WHOLE = re.compile(rb"\d+")


def recognise(head: bytes, name: str, *, run: bool, columns: Mapping[str, str]) -> str:
    """The format of a source that begins like this; ``trec`` where nothing else fits."""
    if head.startswith(b"PAR1"):
        return "parquet"
    refuse_binary(head, name)
    line = first_line(head)
    fields = line.split()
    if not fields:
        return "trec"
    if fields[0][:1] in b"{[":
        return _json_or_lines(line)
    if len(fields) > 1 and fields[1].startswith(b"qid:"):
        return "letor"
    separator = header_separator(line, lambda names: has_header(names, columns))
    if separator:
        return "tsv" if separator == "\t" else "csv"
    return _by_fields(fields, name, run)


def header_separator(line: bytes, is_header: Callable[[Sequence[str]], bool]) -> str | None:
    """What separates the names of a header; None if the line is not one."""
    text = line.decode("utf-8", "replace")
    for separator in "\t,;":
        names = [field.strip().strip('"') for field in text.split(separator)]
        if len(names) > 1 and is_header(names):
            return separator
    return None


def first_line(head: bytes) -> bytes:
    """The first line that is neither blank nor a comment."""
    for line in head.removeprefix(_BOM).split(b"\n"):
        stripped = line.strip(b" \t\r")
        if stripped and not stripped.startswith(b"#") and not SEPARATOR_LINE.fullmatch(stripped):
            return line.strip(b" \r")
    return b""


def _json_or_lines(line: bytes) -> str:
    """One large value has lists or objects under its queries' names; an object with an id is one line of many."""
    import json

    try:
        value = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        # Cut off, or one value over several lines: all there is to look at is the first name's value.
        return "jsonl" if _SCALAR_FIRST.match(line) else "json"
    scalar = isinstance(value, dict) and any(not isinstance(each, (dict, list)) for each in value.values())
    return "jsonl" if scalar else "json"


def _by_fields(fields: list[bytes], name: str, run: bool) -> str:
    if run:
        if len(fields) == 3 and _WHOLE.fullmatch(fields[2]):
            return "msmarco"
        alone = len(fields) == 1 and b"," not in fields[0]
        return "ntcir" if alone and ".res" in name.rsplit("/", 1)[-1] else "trec"
    return "ntcir" if len(fields) in (2, 3) and _LEVEL.fullmatch(fields[-1]) else "trec"


def refuse_binary(head: bytes, name: str) -> None:
    """Refuses what is no text in UTF-8."""
    if head.startswith(b"PK\x03\x04"):
        raise InputError(
            f"{name}: expected text or parquet, found a zip file or a spreadsheet", "save the sheet as CSV, or unzip it"
        )
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise InputError(
            f"{name}: expected UTF-8 text, found other bytes",
            "this looks like UTF-16; convert it: iconv -f utf-16 -t utf-8",
        )
