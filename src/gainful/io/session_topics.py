"""What sessions are about: a table with a header, one row a session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gainful.errors import InputError
from gainful.io.columns import Names, find_role, has_header, missing_column
from gainful.io.delimited import open_table, read_columns
from gainful.io.session_columns import SESSION_NAMES
from gainful.io.sources import Source, Text, open_source
from gainful.notation import printable

_NAMES: Names = {role: SESSION_NAMES[role] for role in ("session", "topic")}


def read_topics(source: Source | Text, columns: Mapping[str, str] | None = None) -> dict[bytes, bytes]:
    """The topic of every session in a table.

    ``columns`` maps session and topic to the names that its header has for them; names that it has not are those of
    the sessions' own table, and left alone.

    >>> read_topics(b"SessionID,User,Topic\\n22,S05,11\\n23,S05,4\\n")
    {b'22': b'11', b'23': b'4'}
    """
    text = source if isinstance(source, Text) else open_source(source)
    wanted = {role: name for role, name in (columns or {}).items() if role in _NAMES}
    table = open_table(text, None, lambda names: has_header(names, _known(wanted, names), tuple(_NAMES), _NAMES))
    given = _known(wanted, table.names)
    roles: dict[str, int] = {}
    for role in _NAMES:
        field = find_role(role, table.names, given, table.where, _NAMES)
        if field is None:
            raise missing_column(role, table.names, table.where, _NAMES)
        roles[role] = field
    spans, _, origin = read_columns(table, roles, ())
    sessions, topics = (
        [data[at : at + size].tobytes() for at, size in zip(start.tolist(), length.tolist(), strict=True)]
        for data, start, length in (spans["session"], spans["topic"])
    )
    first_row: dict[bytes, int] = {}
    for row, session in enumerate(sessions):
        first = first_row.setdefault(session, row)
        if first != row:
            raise InputError(
                f"{origin.where(row)}: expected every session once, found '{printable(session)}' again "
                f"(first: {origin.place(first)}){origin.shown(row)}"
            )
    if not sessions:
        raise InputError(f"{text.name}: expected topics of sessions, found none")
    return dict(zip(sessions, topics, strict=True))


def _known(wanted: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    return {role: name for role, name in wanted.items() if name in names}
