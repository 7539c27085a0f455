"""What users said of their sessions: a table with a header, one row a session."""

from __future__ import annotations

import numpy as np

from gainful.errors import InputError
from gainful.io.columns import Names, find_role, missing_column
from gainful.io.delimited import open_table, read_columns
from gainful.io.session_columns import SESSION_NAMES
from gainful.io.sources import Source, Text, open_source
from gainful.notation import printable, text_of_id

_NAMES: Names = {"session": SESSION_NAMES["session"], "rating": ()}


def read_ratings(source: Source | Text, column: str, session_column: str | None = None) -> dict[str, float]:
    """One column of a table by session; sessions without a rating are left out.

    >>> read_ratings(b"SessionID,Performance,Difficulty\\n22,3,5\\n23,,4\\n", "Performance")
    {'22': 3.0}
    """
    text = source if isinstance(source, Text) else open_source(source)
    given = {"rating": column} if session_column is None else {"rating": column, "session": session_column}
    table = open_table(text, None, lambda names: column in names)
    found = {role: find_role(role, table.names, given, table.where, _NAMES) for role in ("rating", "session")}
    roles = {role: field for role, field in found.items() if field is not None}
    if "session" not in roles:
        raise missing_column("session", table.names, table.where, _NAMES)
    spans, numbers, origin = read_columns(table, roles, ("rating",), ("rating",))
    data, start, length = spans["session"]
    whole = data.tobytes()
    first_row: dict[bytes, int] = {}
    ratings: dict[str, float] = {}
    for row, (at, size) in enumerate(zip(start.tolist(), length.tolist(), strict=True)):
        session = whole[at : at + size]
        if session in first_row:
            raise InputError(
                f"{origin.where(row)}: expected every session once, found '{printable(session)}' again "
                f"(first: {origin.place(first_row[session])}){origin.shown(row)}"
            )
        first_row[session] = row
        if not np.isnan(numbers["rating"][row]):
            ratings[text_of_id(session)] = float(numbers["rating"][row])
    if not ratings:
        raise InputError(f"{text.name}: expected ratings in column '{column}', found none")
    return ratings
