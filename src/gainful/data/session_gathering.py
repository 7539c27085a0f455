"""Sessions from sources of any kind: records gathered into columns, some at a time, and the parts as one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import Any, TypeAlias

import numpy as np

from gainful.data.run import Run
from gainful.data.session_rows import sessions_of_rows, sessions_of_run
from gainful.data.session_table import SessionTable, join_tables, offsets_of, turn_ids
from gainful.errors import InputError
from gainful.io.formats import Reading
from gainful.io.frames import read_session_frame
from gainful.io.readers import read_session_content
from gainful.io.rows import Frame, ItemRows, Rows, packed
from gainful.io.session_objects import read_session_objects
from gainful.io.session_records import OF_SEVERAL, SessionRecord, SessionRows, TurnRecord, shown_line
from gainful.io.sources import Source, Text, as_source, open_source
from gainful.notation import printable

#: How many sessions are read at a time.
PART_SIZE = 4096


#: Reads the same records again, where that is possible, to say where something stood first.
Again: TypeAlias = Callable[[], Iterable[SessionRecord]] | None


def gather_sessions(
    records: Iterable[SessionRecord], name: str, separator: str, size: int, again: Again = None
) -> Iterator[SessionTable]:
    """Sessions of at most ``size`` records each. What has to differ between sessions does between all of them."""
    checked = _distinct(records, again)
    part = list(islice(checked, size))
    if not part:
        raise InputError(f"{name}: expected at least one session, found none")
    while part:
        systems = tuple(dict.fromkeys(record.system for record in part if record.system is not None))
        found = _gathered(sorted(part, key=lambda record: record.session), name, separator)
        yield replace(found, system_order=systems)
        part = list(islice(checked, size))


def _distinct(records: Iterable[SessionRecord], again: Again) -> Iterator[SessionRecord]:
    """The records, as long as no session and no query's id comes twice and all results have scores, or none has.

    Of all that was read only ids are kept.
    """
    sessions: set[bytes] = set()
    ids: set[bytes] = set()
    first: TurnRecord | None = None

    def first_place(identifier: bytes, found: Iterable[tuple[str, bytes | None]]) -> str:
        return next((f" (first: {where})" for where, each in found if each == identifier), "")

    for record in records:
        if record.session in sessions:
            found = ((each.where, each.session) for each in again()) if again else ()
            raise InputError(
                f"{record.where}: expected every session once, found '{printable(record.session)}' again"
                f"{first_place(record.session, found)}{shown_line(record.line)}",
                OF_SEVERAL,
            )
        sessions.add(record.session)
        for turn in record.turns:
            if turn.id is not None and turn.id in ids:
                turns = ((each.where, each.id) for earlier in again() for each in earlier.turns) if again else ()
                raise InputError(
                    f"{turn.where}: expected every query's id once, found '{printable(turn.id)}' again"
                    f"{first_place(turn.id, turns)}{shown_line(record.line)}"
                )
            if turn.id is not None:
                ids.add(turn.id)
            if len(turn.documents):
                first = first or turn._replace(documents=())
                if (first.scores is None) != (turn.scores is None):
                    has = "without" if turn.scores is None else "with"
                    raise InputError(
                        f"{turn.where}: expected scores for all results or for none, found results {has} them, "
                        f"unlike those of {first.where}{shown_line(record.line)}"
                    )
        yield record


def _gathered(records: Sequence[SessionRecord], name: str, separator: str) -> SessionTable:
    """The records, in byte order of their sessions, as columns."""
    turns = [turn for record in records for turn in record.turns]
    lines = [record.line for record in records for _ in record.turns]
    turn_offsets = offsets_of([len(record.turns) for record in records])
    session_ids = tuple(record.session for record in records)
    ids = turn_ids(session_ids, turn_offsets, separator)
    place_of: dict[bytes, str] = {}
    for i, turn in enumerate(turns):
        ids[i] = ids[i] if turn.id is None else turn.id
        if ids[i] in place_of:  # given to one query and made for another
            raise InputError(
                f"{turn.where}: expected every query's id once, found '{printable(ids[i])}' again "
                f"(first: {place_of[ids[i]]}){shown_line(lines[i])}",
                "queries without an id are called by their session and number",
            )
        place_of[ids[i]] = turn.where
    list_offsets = offsets_of([len(turn.documents) for turn in turns])
    origin = ItemRows(name, list_offsets, [turn.where for turn in turns])
    bad: list[bytes] = []

    def where(row: int) -> str:
        at = origin.place_of(row)
        bad.append(lines[at])
        return f"{turns[at].where}.results[{row - int(list_offsets[at])}]"

    try:
        documents = packed(list(chain.from_iterable(turn.documents for turn in turns)), where)
    except InputError as error:
        raise InputError(error.message + shown_line(bad[-1]), error.hint) from error
    scores = np.array([score for turn in turns for score in turn.scores or ()], np.float64)
    unknown = [np.nan]
    grades = [g for turn in turns for g in (unknown * len(turn.documents) if turn.grades is None else turn.grades)]
    labels = {role: tuple(getattr(record, role) for record in records) for role in ("topic", "user", "system")}
    topics, users, systems = (each if any(label is not None for label in each) else () for each in labels.values())
    scanned = np.array([turn.scanned for turn in turns], np.int64)
    texts = tuple(turn.text for turn in turns)
    costs = np.array([turn.cost for turn in turns], np.float64)
    return SessionTable(
        name,
        session_ids,
        turn_offsets,
        Run(name, tuple(ids), list_offsets, *documents, scores, origin=origin, notes=records[0].notes),
        topics,
        np.zeros(0) if all(turn.grades is None for turn in turns) else np.array(grades, np.float64),
        scanned if (scanned >= 0).any() else scanned[:0],
        texts if any(texts) else (),
        users,
        systems,
        {
            rating: np.array([record.ratings.get(rating, np.nan) for record in records], np.float64)
            for rating in sorted({rating for record in records for rating in record.ratings})
        },
        costs[:0] if np.isnan(costs).all() else costs,
        records[0].gap,
    )


def parts_of_source(
    source: Source | Text, how: Reading, threads: int, size: int | None = None
) -> Iterator[SessionTable]:
    """The sessions of a source, at most ``size`` at a time; without a size as they are read best."""
    given = as_source(source, "Sessions")
    text = open_source(given)
    content = read_session_content(text, how._replace(threads=threads))
    if not isinstance(content, (SessionRows, Rows)):
        again = partial(_records, text, how)
        yield from gather_sessions(content, text.name, how.separator, size or PART_SIZE, again)
        return
    if isinstance(content, SessionRows):
        whole = sessions_of_rows(content, text.name, how)
    else:
        whole = sessions_of_run(Run.from_rows(content).read_from(text.name), how)
    size = size or len(whole)
    for first in range(0, len(whole), size):
        yield whole if size >= len(whole) else whole.part(first, first + size)


def _records(text: Text, how: Reading) -> Iterable[SessionRecord]:
    content = read_session_content(text, how)
    return () if isinstance(content, (SessionRows, Rows)) else content


def parts_of_objects(values: Iterable[Any], name: str = "<list>") -> Iterator[SessionTable]:
    """Sessions from dicts as JSON lines have them."""
    how = Reading.of_sessions()
    # What can be walked through only once cannot be asked where something stood first.
    again = None if iter(values) is values else partial(read_session_objects, values, how, name)
    return gather_sessions(read_session_objects(values, how, name), name, how.separator, PART_SIZE, again)


def sessions_of_frame(frame: Frame, how: Reading, name: str) -> SessionTable:
    """Sessions from a data frame, one row a result, or of a log."""
    found = read_session_frame(frame, how, name)
    if isinstance(found, SessionRows):
        return sessions_of_rows(found, name, how)
    return join_tables(gather_sessions(found, name, how.separator, PART_SIZE))
