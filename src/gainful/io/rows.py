"""Rows of IDs and numbers that every format is read into, with the place in the source that each came from."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, islice, pairwise
from numbers import Real
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self, TypeAlias

import numpy as np

from gainful.errors import InputError, UsageError, for_asker, option
from gainful.frozen import dataclass, field, replace
from gainful.io.columns import (
    LOOKS_LIKE_A_RUN,
    LOOKS_LIKE_JUDGMENTS,
    USERS,
    find_roles,
    folded,
    is_called,
    is_list_name,
)
from gainful.io.sources import BLANKS, WIDEST_LINE, Fingerprint, Text, fingerprint_of, shown_text
from gainful.kernel import core
from gainful.kernel.arrays import Bytes, Floats, Ints, offsets_of
from gainful.notation import NUMBER as DECIMAL, bytes_of_id, json_or_none, printable, some_of, text_of_id

if TYPE_CHECKING:
    from gainful.io.formats import Reading
    from gainful.kernel.core import Fault, JudgmentText

#: Number of places that an error lists; the rest are counted.
MOST_SHOWN = 3


@dataclass(frozen=True, eq=False)
class Origin:
    """The places of rows in their source."""

    name: str
    first: int = field(default=0, kw_only=True)  # number of rows of the source before these
    number: Ints | None = field(default=None, kw_only=True)  # row numbers, if rows are selected or reordered

    def where(self, row: int) -> str:
        """Return the source and the place in it."""
        return f"{self.name}: {self.place(row)}"

    def place(self, row: int) -> str:
        """Return the place without the source."""
        raise NotImplementedError

    def shown(self, row: int) -> str:
        """Return the quoted row on a line of its own, or an empty text if it cannot be quoted."""
        return ""

    def take(self, rows: Ints) -> Self:
        return replace(self, number=self.first + rows if self.number is None else self.number[rows])

    def number_of(self, row: int) -> int:
        return self.first + row if self.number is None else int(self.number[row])


@dataclass(frozen=True, eq=False)
class TextLines(Origin):
    """Rows that are lines of a text, identified by the offsets of their first bytes."""

    data: Bytes
    offset: Ints

    def where(self, row: int) -> str:
        return f"{self.name}:{line_number(self.data, int(self.offset[row]))}"

    def place(self, row: int) -> str:
        return f"line {line_number(self.data, int(self.offset[row]))}"

    def shown(self, row: int) -> str:
        return f"\n    {line_text(self.data, int(self.offset[row]))}"

    def take(self, rows: Ints) -> TextLines:
        return replace(self, offset=self.offset[rows])


@dataclass(frozen=True, eq=False)
class FrameRows(Origin):
    """Rows of a data frame, counted from 0 as in the frame."""

    def place(self, row: int) -> str:
        return f"row {self.number_of(row)} (counting from 0)"


#: The origin of data without rows.
NOWHERE = FrameRows("")


@dataclass(frozen=True, eq=False)
class NamedRows(Origin):
    """Rows with one named place each."""

    places: Sequence[str]

    def where(self, row: int) -> str:
        return self.places[self.number_of(row)]

    def place(self, row: int) -> str:
        place = self.where(row).removeprefix(f"{self.name}:")
        return f"line {place}" if place.isdecimal() else place


@dataclass(frozen=True, eq=False)
class ItemRows(Origin):
    """Rows that are the items of consecutive named places."""

    offsets: Ints  # items of place i are offsets[i] : offsets[i + 1]
    places: Sequence[str]

    def where(self, row: int) -> str:
        return f"{self.places[self.place_of(row)]}: {self.place(row)}"

    def place(self, row: int) -> str:
        return f"item {self.number_of(row) - int(self.offsets[self.place_of(row)]) + 1}"

    def place_of(self, row: int) -> int:
        return int(np.searchsorted(self.offsets, self.number_of(row), "right")) - 1


def line_number(data: Bytes, offset: int) -> int:
    """Return the number, from 1, of the line that starts at an offset."""
    step = 1 << 24
    return 1 + sum(int(np.count_nonzero(data[at : min(at + step, offset)] == 10)) for at in range(0, offset, step))


def line_text(data: Bytes, offset: int) -> str:
    """Return the line that starts at an offset, in printable form."""
    piece = data[offset : offset + 4 * WIDEST_LINE].tobytes().split(b"\n", 1)[0].removesuffix(b"\r")
    return shown_text(piece)


def read_id(value: object, where: str) -> bytes:
    """Return an ID as bytes. Integers become their decimal text."""
    if isinstance(value, str):
        try:
            identifier = bytes_of_id(value)
        except UnicodeEncodeError as error:
            raise InputError(f"{where}: expected an id that can be written as UTF-8, found {value!r}") from error
    elif isinstance(value, bytes):
        identifier = value
    elif isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        identifier = _integer_text(int(value), where).encode()
    else:
        raise InputError(f"{where}: expected a text, bytes or an integer as id, found {value!r}")
    if not identifier:
        raise InputError(f"{where}: expected an id, found an empty one")
    return identifier


def read_value(value: object, where: str, what: str) -> float:
    """Return a finite grade or score from a Python number."""
    if isinstance(value, Real) and not isinstance(value, bool):
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if math.isfinite(number):
            return number
    found = _integer_text(value, where).lower() if isinstance(value, int) else repr(value)
    raise InputError(f"{where}: expected a finite number as {what}, found {found}")


def _integer_text(value: int, where: str) -> str:
    """Return the digits of an integer; Python limits their number."""
    try:
        return str(value)
    except ValueError as error:
        raise InputError(f"{where}: expected a number of at most 4,300 digits, found a larger one") from error


RUN_LINE = "query Q0 document rank score tag"
QRELS_LINE = "query subtopic document grade"

FIELDS, NUMBER, OVERFLOW, RANK, DUPLICATE = 1, 2, 3, 4, 5
_FIELD_OR_FEED = re.compile(rb"[^ \t\n]+|\n")
#: Numbers of fields and bytes of a line that are inspected to guess its format.
_MOST_FIELDS, _MOST_BYTES = 1000, 1 << 20


def fields_at(data: Bytes, offset: int) -> Iterator[bytes]:
    """Yield the fields of the line that starts at an offset, one by one to limit memory."""
    for match in _FIELD_OR_FEED.finditer(data.data, offset):
        start, end = match.span()
        field = data[start : min(end, start + _MOST_BYTES)].tobytes()
        if field == b"\n":
            return
        if field.endswith(b"\r") and data[end : end + 1].tobytes() in (b"\n", b""):
            field = field[:-1]
        if field:
            yield field


def input_error(messages: Sequence[str], count: int, hint: str | None) -> InputError:
    """Return one error for several places, with the rest counted."""
    shown, rest = messages[:MOST_SHOWN], count - min(len(messages), MOST_SHOWN)
    return InputError("\n".join([*shown, f"... and {rest:,} more like these"] if rest else shown), hint)


def refuse_rows(rows: Sequence[int] | Ints, message: Callable[[int], str], hint: str | None) -> None:
    """Raise one error for the rows, if any: a message for each of the first, and a count of the rest."""
    if len(rows):
        raise input_error([message(int(row)) for row in rows[:MOST_SHOWN]], len(rows), hint)


def raise_faults(name: str, data: Bytes, faults: Sequence[Fault], count: int, *, run: bool) -> None:
    """Raise InputError for the core's faults in a text, if any."""
    if count:
        hint = _likely_mistake(data, faults[0], run) or hint_for(faults[0][1], run=run)
        raise fault_error(name, data, faults, count, lambda fault: _message(data, fault, run), hint)


def fault_error(
    name: str, data: Bytes, faults: Sequence[Fault], count: int, describe: Callable[[Fault], str], hint: str | None
) -> InputError:
    """Return one error for the unreadable lines of a text, each with its number and quoted."""
    messages = [
        f"{name}:{line_number(data, fault[0])}: {describe(fault)}\n    {line_text(data, fault[0])}" for fault in faults
    ]
    return input_error(messages, count, hint)


def _likely_mistake(data: Bytes, fault: Fault, run: bool) -> str | None:
    if fault[1] != FIELDS:
        return None
    line = list(islice(fields_at(data[: fault[0] + _MOST_BYTES], fault[0]), _MOST_FIELDS))
    if len(line) == 4 and run and not re.fullmatch(rb"\d+", line[2]) and re.fullmatch(rb"-?\d+", line[3]):
        return LOOKS_LIKE_JUDGMENTS
    if len(line) == 3 and line[1] == b"all":
        return "this looks like trec_eval output: scores, not a run"
    if len(line) == 6 and not run:
        return LOOKS_LIKE_A_RUN
    if max(b" ".join(line).count(separator) for separator in (b",", b";", b"|", b"\t")) > 1:
        return (
            "a table separated by commas, semicolons or tabs needs a header with the columns query, document and "
            f"{'score' if run else 'grade'}; use {option('columns')} for other names"
        )
    return None


def _message(data: Bytes, fault: Fault, run: bool) -> str:
    offset, code, detail = fault
    if code == FIELDS:
        return f"expected {6 if run else 4} fields, found {detail}"
    fields = list(islice(fields_at(data, offset), 6))
    what, value = ("score", fields[4]) if run else ("grade", fields[3])
    if code == NUMBER:
        return f"expected a number as {what}, found '{printable(value)}'"
    if code == OVERFLOW:
        return f"expected a {what} that fits a 64-bit float, found '{printable(value)}'"
    if code == RANK:
        return f"expected a number as rank, found '{printable(fields[3])}'"
    return duplicate_message(fields[2], fields[0], f"line {line_number(data, detail)}")


def duplicate_message(document: bytes, query: bytes, first: str) -> str:
    """Return the message for a document that occurs twice in one list."""
    return f"duplicate document '{printable(document)}' for query '{printable(query)}' (first: {first})"


def hint_for(code: int, *, run: bool) -> str:
    """Return the hint for a kind of fault."""
    if code == FIELDS:
        return f"a run line is `{RUN_LINE}`" if run else f"a judgment line is `{QRELS_LINE}`"
    if code == RANK:
        return "order=rank and ties=rank need the rank column"
    if code == DUPLICATE:
        return f"use {option('duplicates', 'first')} to keep the best-ranked occurrence"
    return "numbers are decimal, such as 2, -0.5 or 1e-3"


#: IDs as spans of bytes: ID i is data[start[i] : start[i] + length[i]].
Spans: TypeAlias = tuple[Bytes, Ints, Ints]


class Rows(NamedTuple):
    """One row per judgment or retrieved document, in source order: the common form of every format.

    ``query`` is the position of a row's query in ``query_ids``; a query may have no rows. ``value`` is the grade or
    score, None if the format has neither; ``subtopic`` (IDs, and positions among them) is for judgments only, ``rank``
    for runs only. ``notes`` report any repair or guess made while reading.
    """

    query_ids: Sequence[bytes]
    query: Ints
    document: Spans
    value: Floats | None
    origin: Origin
    rank: Floats | None = None
    subtopic: tuple[Sequence[bytes], Ints] | None = None
    notes: tuple[str, ...] = ()
    has_users: bool = False  # whether queries are users, and documents items
    intents: Mapping[bytes, Mapping[bytes, float]] | None = None  # sub-topic probabilities, if the source has them

    @classmethod
    def of_columns(cls, columns: Mapping[str, Any], origin: Origin, notes: tuple[str, ...] = ()) -> Rows:
        """Create rows from columns by role: IDs as spans, numbers as arrays."""
        value = columns.get("grade", columns.get("score"))
        subtopic = core.number_ids(*columns["subtopic"]) if "subtopic" in columns else None
        query_ids, query = core.number_ids(*columns["query"])
        return cls(query_ids, query, columns["document"], value, origin, columns.get("rank"), subtopic, notes)

    @property
    def size(self) -> int:
        return int(self.query.size)

    def by_query_id(self) -> Rows:
        if all(one <= other for one, other in pairwise(self.query_ids)):
            return self
        order = sorted(range(len(self.query_ids)), key=self.query_ids.__getitem__)
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        return self._replace(query_ids=[self.query_ids[i] for i in order], query=place[self.query])


def read_trec(text: Text, how: Reading, *, run: bool) -> Rows:
    """Read TREC text with the core."""
    if not run:
        return judgment_rows(text, core.read_judgments(text.data, how.threads))
    columns = core.read_run(text.data, how.threads)
    raise_faults(text.name, text.data, columns["faults"], columns["fault_count"], run=True)
    return Rows(
        columns["query_ids"],
        rows_of_lists(columns["list_offsets"]),
        (text.data, columns["document_start"], columns["document_length"]),
        columns["score"],
        TextLines(text.name, text.data, columns["line"]),
        columns["rank"],
    )


def judgment_rows(text: Text, columns: JudgmentText) -> Rows:
    """Return the rows of judgments that the core has read from TREC text."""
    raise_faults(text.name, text.data, columns["faults"], columns["fault_count"], run=False)
    return Rows(
        columns["query_ids"],
        columns["query"],
        (text.data, columns["document_start"], columns["document_length"]),
        columns["grade"],
        TextLines(text.name, text.data, columns["line"]),
        subtopic=(columns["subtopic_ids"], columns["subtopic"]),
    )


class _ColumnsType(type):
    """The type of Qrels and Run: calls accept a dict, and unknown constructors name the right one."""

    _CONSTRUCTORS: ClassVar[Mapping[str, str]] = {
        "from_file": "read",
        "from_parquet": "read",
        "from_ir_datasets": "read",
        "from_df": "from_frame",
        "from_pandas": "from_frame",
    }

    def __call__(cls, *args: Any, **fields: Any) -> Any:
        if len(args) == 1 and isinstance(args[0], Mapping):
            return cls.from_dict(*args, **fields)
        if len(args) == 1:
            hint = f"{cls.__name__}.of accepts every supported input"
            raise UsageError(f"{cls.__name__}: expected a dict, found {type(args[0]).__name__}", hint)
        return super().__call__(*args, **fields)

    def __getattr__(cls, name: str) -> Any:
        known = _ColumnsType._CONSTRUCTORS.get(name)
        also = f"; use {cls.__name__}.{known}" if known else ""
        raise AttributeError(f"type object '{cls.__name__}' has no attribute '{name}'{also}")


class DocumentColumns(metaclass=_ColumnsType):
    """The common part of judgments and runs: queries, and a document in every row."""

    name: str
    query_ids: tuple[bytes, ...]
    data: Bytes
    document_start: Ints
    document_length: Ints
    #: Identifies the content of the file that they were read from.
    content: ClassVar[Fingerprint | None] = None

    def read_from(self, name: str) -> Self:
        """Record the content of the named source, which was just read, and return ``self``."""
        object.__setattr__(self, "content", fingerprint_of(name))
        return self

    @property
    def queries(self) -> list[str]:
        """The query IDs in order: judged queries in byte order."""
        return [text_of_id(identifier) for identifier in self.query_ids]

    @property
    def query_of_rows(self) -> Ints:
        """Position in ``query_ids`` of each row's query."""
        raise NotImplementedError

    @property
    def document_spans(self) -> Spans:
        """Document IDs of all rows."""
        return self.data, self.document_start, self.document_length

    def document(self, row: int) -> bytes:
        """Return the document ID of a row."""
        start = int(self.document_start[row])
        return self.data[start : start + int(self.document_length[row])].tobytes()

    def documents(self, rows: Ints) -> list[bytes]:
        """Return the document IDs of the given rows."""
        return ids_of((self.data, self.document_start[rows], self.document_length[rows]))


def wanted_ids(values: Iterable[object], name: str, one: str, several: str) -> set[bytes]:
    """Return the IDs of the queries or documents to select."""
    is_text = isinstance(values, (str, bytes))
    if is_text or not isinstance(values, Iterable):
        found = f"one text, {values!r}" if is_text else repr(values)
        raise UsageError(f"{name}: expected several {several} to select, found {found}")
    return {read_id(value, f"{name}: {one}") for value in values}


class Entry(NamedTuple):
    """The documents of one query in a nested format, with or without values, and their place."""

    query: object
    documents: Sequence[object]
    values: Sequence[object] | None
    where: str


def packed(values: Sequence[object], where: Callable[[int], str]) -> Spans:
    """Return IDs as spans; ``where`` names the place of an invalid one."""
    data, start, length, bad = core.pack_ids(list(values))
    if bad >= 0:
        read_id(values[bad], where(bad))  # raises the error
    return data, start, length


def joined_spans(parts: Sequence[Spans]) -> Spans:
    """Return the IDs of several texts, one after the other."""
    data, starts, lengths = zip(*parts, strict=True)
    before = np.cumsum([0, *(each.size for each in data[:-1])])
    shifted = [start + offset for start, offset in zip(starts, before, strict=True)]
    return np.concatenate(data), np.concatenate(shifted), np.concatenate(lengths)


def ids_of(spans: Spans) -> list[bytes]:
    """Return the IDs of spans."""
    data, start, length = spans
    seen = data.data  # slicing a memoryview costs half as much as slicing an array
    return [seen[at : at + size].tobytes() for at, size in zip(start.tolist(), length.tolist(), strict=True)]


_LIST = re.compile(rb"\[.*\]", re.DOTALL)
_QUOTED = re.compile(rb"""'([^']*)'|"([^"]*)\"""")
_MARKS = (b";", b"|", b",")
#: Number of rows sampled to recognise the contents of cells.
_SAMPLE = 100


def rows_of_table(
    names: Sequence[str],
    how: Reading,
    where: str,
    values: Callable[[int], Iterable[object]],
    read: Callable[[Mapping[str, int]], Rows],
    *,
    run: bool,
) -> Rows:
    """Read a table with named columns: ``values`` returns the first cells of a column, ``read`` reads by role."""
    roles = find_roles(names, how.columns, run=run, where=where, pairs_only=how.pairs_only, values=values)
    found = read_closely(_with_grades(read, roles, how.grades), names, roles, run=run)
    return found._replace(has_users="query" in roles and is_called(names[roles["query"]], USERS))


def _with_grades(
    read: Callable[[Mapping[str, int]], Rows], roles: Mapping[str, int], given: Mapping[str, float]
) -> Rows:
    """Read rows whose grades are numbers, or words of a known scale or of the caller's."""
    if "grade" not in roles:
        return read(roles)
    if not given:
        with suppress(InputError):
            return read(roles)
    others = {role: place for role, place in roles.items() if role != "grade"}
    words, graded = list[str](), None
    with suppress(InputError):  # empty cells or malformed rows
        ids, place = read({**others, "subtopic": roles["grade"]}).subtopic or ([], ())
        words = [text_of_id(each) for each in ids]
        graded = numbers_of_words(words, given)
    if graded is None:
        try:
            return read(roles)
        except InputError as error:
            raise InputError(error.message, hint_at_grades(words, given) or error.hint) from None
    rows = read(others)
    notes = (*rows.notes, f"{rows.origin.name}: {graded[1]}") if graded[1] else rows.notes
    return rows._replace(value=np.array(graded[0])[np.asarray(place)], notes=notes)


def read_closely(rows: Rows, names: Sequence[str], roles: Mapping[str, int], *, run: bool) -> Rows:
    """Apply conventions of tables: split cells with several documents, add a note about ratings."""
    is_rated = "grade" in roles and folded(names[roles["grade"]]) in ("rating", "ratings", "stars", "userrating")
    if is_rated and rows.value is not None and rows.size > 1:
        lowest, highest = float(rows.value.min()), float(rows.value.max())
        if 0 < lowest < max(0.8 * highest, 1):
            least = f"{max(0.8 * highest, 1):.3g}"
            how = for_asker(f"--rel {least}", f'"R(rel={least})@10"')
            found = f"even {lowest:g} of {highest:g} ({rows.origin.name})"
            note = f"{ALL_RATINGS_COUNT}, {found}; use {how} to count only ratings of {least} and above"
            rows = rows._replace(notes=(*rows.notes, note))
    return _split_lists(rows, names[roles["document"]], run=run)


#: Scales of judgment words, worst first. A scale comes before longer ones that contain it.
_SCALES = (
    ("bad", "fair", "good", "perfect"),
    ("bad", "fair", "good", "excellent", "perfect"),
    ("irrelevant", "complement", "substitute", "exact"),
    ("irrelevant", "relevant"),
    ("not relevant", "relevant"),
    ("irrelevant", "partially relevant", "relevant", "highly relevant"),
    ("not relevant", "partially relevant", "relevant", "highly relevant"),
    ("no", "yes"),
    ("false", "true"),
)
#: Number of words that a hint lists.
_MOST_WORDS = 20
#: First letters of the labels in the Shopping Queries data, and how many of them must occur to recognise it.
_LETTERS, _FEWEST_LETTERS = ("i", "c", "s", "e"), 3


def numbers_of_words(words: Sequence[str], given: Mapping[str, float]) -> tuple[list[float], str] | None:
    """Return the grade of each word, by the caller's mapping or a known scale, and a note on the latter; None if a word
    has no grade.

    >>> numbers_of_words(["Good", "Bad"], {}), numbers_of_words(["Good", "3"], {})
    (([2.0, 0.0], "grades are words, read as grades={'Bad': 0, 'Good': 2}"), None)
    >>> numbers_of_words(["Top", "0.5"], {"top": 1})
    ([1.0, 0.5], '')
    """
    if given:
        known = {word.casefold(): value for word, value in given.items()}
        found = [known.get(word.casefold(), word) for word in words]
        if words and found == words:
            there = some_of([f"'{word}'" for word in words])
            raise UsageError(f"{option('grades')}: none of its words occurs in the grades {there}")
        if all(isinstance(each, (int, float)) or DECIMAL.fullmatch(each) for each in found):
            return [float(each) for each in found], ""
        return None
    folded_words = {word.casefold() for word in words}
    scales = (*_SCALES, _LETTERS) if len(folded_words) >= _FEWEST_LETTERS else _SCALES
    scale = next((scale for scale in scales if folded_words <= {*scale}), None)
    if not folded_words or scale is None:
        return None
    grades = [scale.index(word.casefold()) for word in words]
    mapping = {word: grade for grade, word in sorted(zip(grades, words, strict=True))}
    return [float(grade) for grade in grades], f"grades are words, read as {option('grades', mapping)}"


def hint_at_grades(words: Iterable[str], given: Mapping[str, float]) -> str | None:
    """Return the hint for words in place of grades; None for numbers in another notation."""
    found = sorted(word for word in set(words) if not DECIMAL.fullmatch(word))[:_MOST_WORDS]
    if not found or (not given and any(re.search(r"\d", word) for word in found)):
        return None
    known = {word: int(grade) if grade == int(grade) else grade for word, grade in given.items()}
    asked = {word: known.get(word, "N") for word in found}
    return f"give each word a grade, 0 for not relevant: {option('grades', asked)}"


#: The beginning of the note on ratings, which only concerns binary measures.
ALL_RATINGS_COUNT = "every rating counts as relevant"


def _split_lists(rows: Rows, column: str, *, run: bool) -> Rows:
    """Split cells that hold several documents: lists in brackets, or IDs separated by ``;``, ``|`` or ``,``.

    Cells are split if the name of the column implies lists, or if every query has one row and no value that could
    belong to a single document. Otherwise they are kept, with a note on cells that look like several IDs.
    """
    if rows.rank is not None or (run and rows.value is not None):
        return rows
    is_named = is_list_name(column, run=run)
    if not is_named and (rows.value is not None or len(rows.query_ids) < rows.size):
        return _note_unsplit(rows, column, run)
    cells = ids_of(rows.document)
    refuse_rows(
        [row for row, cell in enumerate(cells) if cell == b"[]"],
        lambda row: f"{rows.origin.where(row)}: expected an id as document, found an empty list",
        "delete the rows of queries without documents",
    )
    parts = [_listed(cell) or [cell] for cell in cells]
    mark = next((mark for mark in _MARKS if any(len(each) == 1 and mark in each[0] for each in parts)), None)
    if mark is not None:
        split = [each if len(each) > 1 else _between(each[0], mark) or each for each in parts]
        # IDs contain no blanks and differ in number between cells, unlike the words of a title.
        are_ids = len(set(map(len, split))) > 1 and not any(b" " in part for each in split for part in each)
        if is_named or are_ids:
            parts = split
        else:
            rows = _note_unsplit(rows, column, run)
    if parts == [[cell] for cell in cells]:
        return rows
    place = np.repeat(np.arange(len(parts)), [len(each) for each in parts])
    note = f"{rows.origin.name}: cells with several documents split (column '{printable(column)}')"
    return rows._replace(
        query=rows.query[place],
        document=packed(list(chain.from_iterable(parts)), rows.origin.where),
        value=None if rows.value is None else rows.value[place],
        origin=rows.origin.take(place),
        subtopic=None if rows.subtopic is None else (rows.subtopic[0], rows.subtopic[1][place]),
        notes=(*rows.notes, note),
    )


def _between(cell: bytes, mark: bytes) -> list[bytes]:
    parts = (part.strip(BLANKS.encode()) for part in cell.split(mark))
    return [part for part in parts if part]


def _listed(cell: bytes) -> list[bytes]:
    """Return the IDs of a list in JSON, Python or NumPy notation; an empty list for anything else."""
    if not _LIST.fullmatch(cell):
        return []
    found = json_or_none(cell)
    if isinstance(found, list) and all(isinstance(each, (str, int)) for each in found):
        return [bytes_of_id(str(each)) for each in found]
    return [one or other for one, other in _QUOTED.findall(cell)]


def _note_unsplit(rows: Rows, column: str, run: bool) -> Rows:
    """Return the rows unchanged, with a note if most cells look like several IDs."""
    data, start, length = rows.document
    cells = ids_of((data, start[:_SAMPLE], length[:_SAMPLE]))
    for mark in _MARKS:
        several = [cell for cell in cells if len(_between(cell, mark)) > 1]
        if 2 * len(several) > len(cells) and not any(b" " in part for part in _between(several[0], mark)):
            found = f"'{printable(several[0], 40)}' in column '{printable(column)}' was read as one document ID"
            name = "retrieved_ids" if run else "relevant_ids"
            note = f"{rows.origin.name}: {found}; if it holds several, name the column {name}"
            return rows._replace(notes=(*rows.notes, note))
    return rows


#: A data frame of any library.
Frame: TypeAlias = Any


class ArrowFrame(Protocol):
    """A data frame of any library with the Arrow PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return the data as an Arrow stream."""
        ...


def is_frame(value: object) -> bool:
    """Return whether a value is a data frame of some kind."""
    return hasattr(value, "__arrow_c_stream__") or is_pandas(value)


def is_pandas(value: object) -> bool:
    """Return whether a value is a pandas frame, which has the Arrow interface only if pyarrow is installed."""
    return hasattr(value, "iloc") and hasattr(value, "columns") and hasattr(value, "dtypes")


def dicts_of_frame(frame: Frame) -> list[dict[str, Any]]:
    """Return the rows of a frame as dicts, with None for missing cells."""
    if not is_pandas(frame):
        return list(frame.to_dicts() if hasattr(frame, "to_dicts") else frame.to_pylist())
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    # pandas returns parquet lists as arrays.
    return [
        {str(name): cell.tolist() if isinstance(cell, np.ndarray) else cell for name, cell in row.items()}
        for row in rows
    ]


def gather_dicts(dicts: Mapping[Any, Any], name: str, *, only_texts: bool = False) -> Rows | None:
    """Return the rows of ``{query: {document: value}}`` in one step; None if items must be read one by one, or if
    ``only_texts`` is set and an ID is not a text."""
    if not isinstance(dicts, Mapping):
        raise UsageError(f"{name}: expected a dict keyed by query, found {type(dicts).__name__}")
    columns = core.pack_dicts(list(dicts.values()))
    if columns is None:
        return None
    data, start, length, value, offsets, all_texts = columns
    if only_texts and not (all_texts and all(isinstance(query, str) for query in dicts)):
        return None
    try:
        query_ids = [read_id(query, name) for query in dicts]
    except InputError:
        return None
    if len(set(query_ids)) < len(query_ids):
        return None
    origin = ItemRows(name, offsets, [place_in(name, query) for query in dicts])
    return Rows(query_ids, rows_of_lists(offsets), (data, start, length), value, origin)


def rows_of_lists(offsets: Ints) -> Ints:
    """Return the list number of every row: rows of list i are ``offsets[i] : offsets[i + 1]``."""
    return np.repeat(np.arange(offsets.size - 1), np.diff(offsets))


def place_in(name: str, query: object) -> str:
    """Return the name of a query's entry in a dict, for messages."""
    return f"{name}[{query!r}]"


def gather_entries(
    entries: Iterable[Entry], name: str, what: str, grades: Mapping[str, float] = MappingProxyType({})
) -> Rows:
    """Return the rows of entries; ``what`` is the kind of values: "grade" (words are allowed) or "score"."""
    by_query: dict[bytes, Entry] = {}
    for entry in entries:
        query = read_id(entry.query, f"{entry.where}: query")
        if query in by_query:
            raise InputError(f"{entry.where}: duplicate query {entry.query!r}")
        by_query[query] = entry
    ordered = list(by_query.values())
    offsets = offsets_of([len(entry.documents) for entry in ordered])
    origin = ItemRows(name, offsets, [entry.where for entry in ordered])
    documents = list(chain.from_iterable(entry.documents for entry in ordered))
    spans = packed(documents, lambda row: ordered[origin.place_of(row)].where)
    with_values = [entry for entry in ordered if entry.values is not None]
    without = next((entry for entry in ordered if entry.documents and entry.values is None), None)
    if without is not None and any(entry.documents for entry in with_values):
        raise InputError(f"{without.where}: no {what}s, but other lists have them")
    numbers, notes = None, ""
    if without is None:
        values = list(chain.from_iterable(entry.values or () for entry in with_values))
        if what == "grade" and (grades or any(isinstance(value, str) for value in values)):
            words = list(dict.fromkeys(map(str, values)))
            if graded := numbers_of_words(words, grades):
                by_word = dict(zip(words, graded[0], strict=True))
                values, notes = [by_word[str(value)] for value in values], graded[1]
        kinds = set(map(type, values))
        if bool not in kinds and all(issubclass(kind, (int, float, np.integer, np.floating)) for kind in kinds):
            with suppress(OverflowError):
                numbers = np.array(values, np.float64)
        if numbers is None or not np.isfinite(numbers).all():
            numbered = [
                read_value(value, f"{entry.where}[{document!r}]", what)
                for entry in with_values
                for document, value in zip(entry.documents, entry.values or (), strict=True)
            ]
            numbers = np.array(numbered, np.float64)
    noted = (f"{name}: {notes}",) if notes else ()
    return Rows(list(by_query), rows_of_lists(offsets), spans, numbers, origin, notes=noted)
