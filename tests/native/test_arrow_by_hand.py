"""Arrow streams built with ctypes: input that no library sends, and counts of releases."""

from __future__ import annotations

import ctypes
import gc
import struct
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from tests.together import together


class CSchema(ctypes.Structure):
    pass


class CArray(ctypes.Structure):
    pass


class CStream(ctypes.Structure):
    pass


RELEASE_SCHEMA = ctypes.CFUNCTYPE(None, ctypes.POINTER(CSchema))
RELEASE_ARRAY = ctypes.CFUNCTYPE(None, ctypes.POINTER(CArray))
RELEASE_STREAM = ctypes.CFUNCTYPE(None, ctypes.POINTER(CStream))
GET_SCHEMA = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(CStream), ctypes.POINTER(CSchema))
GET_NEXT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(CStream), ctypes.POINTER(CArray))
GET_ERROR = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(CStream))

CSchema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(CSchema))),
    ("dictionary", ctypes.POINTER(CSchema)),
    ("release", RELEASE_SCHEMA),
    ("private_data", ctypes.c_void_p),
]
CArray._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(CArray))),
    ("dictionary", ctypes.POINTER(CArray)),
    ("release", RELEASE_ARRAY),
    ("private_data", ctypes.c_void_p),
]
CStream._fields_ = [
    ("get_schema", GET_SCHEMA),
    ("get_next", GET_NEXT),
    ("get_last_error", GET_ERROR),
    ("release", RELEASE_STREAM),
    ("private_data", ctypes.c_void_p),
]
new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)


#: What was handed out must live until it is released, which may be when a test is over.
PRODUCERS: list[Producer] = []


@dataclass
class Values:
    """An array, with its columns if it has any."""

    length: int
    buffers: list[bytes | None]
    offset: int = 0
    null_count: int = -1
    columns: list[Values] = field(default_factory=list)
    words: Values | None = None


@dataclass
class Producer:
    """A stream of these chunks that counts what is released. Formats are (name, format, format of the dictionary)."""

    formats: list[tuple[bytes | None, bytes | None, bytes | None]]
    chunks: list[Values]
    root: bytes = b"+s"
    schema_error: int = 0
    end_error: int = 0
    message: bytes | None = b"out of paper"
    shift: int = 0  # how many bytes of every buffer are not part of it
    released: Counter[str] = field(default_factory=Counter)
    opened: Counter[str] = field(default_factory=Counter)
    _kept: list[Any] = field(default_factory=list)

    def capsule(self) -> object:
        PRODUCERS.append(self)
        message = ctypes.create_string_buffer(self.message) if self.message is not None else None
        waiting = list(self.chunks)

        @GET_SCHEMA
        def get_schema(_: Any, out: Any) -> int:
            if not self.schema_error:
                self._fill_schema(out.contents)
            return self.schema_error

        @GET_NEXT
        def get_next(_: Any, out: Any) -> int:
            if waiting:
                self._fill_chunk(out.contents, waiting.pop(0))
                return 0
            out.contents.release = RELEASE_ARRAY()
            return self.end_error

        @GET_ERROR
        def get_last_error(_: Any) -> int | None:
            return ctypes.addressof(message) if message else None

        release = self._releaser("stream", RELEASE_STREAM)
        stream = CStream(get_schema, get_next, get_last_error, release, None)
        self.opened["stream"] += 1
        self._kept += [message, get_schema, get_next, get_last_error, stream]
        return new_capsule(ctypes.addressof(stream), b"arrow_array_stream", None)

    def _releaser(self, what: str, kind: Any) -> Any:
        def release(structure: Any) -> None:
            self.released[what] += 1
            structure.contents.release = kind()

        callback = kind(release)
        self._kept.append(callback)
        return callback

    def _fill_schema(self, out: Any) -> None:
        children = []
        for name, layout, words in self.formats:
            child = CSchema(format=layout, name=name)
            if words is not None:
                dictionary = CSchema(format=words)
                child.dictionary = ctypes.pointer(dictionary)
            children.append(ctypes.pointer(child))
        pointers = (ctypes.POINTER(CSchema) * len(children))(*children)
        out.format, out.n_children, out.children = self.root, len(children), pointers
        out.release = self._releaser("schema", RELEASE_SCHEMA)
        self.opened["schema"] += 1
        self._kept += [children, pointers]

    def _fill_chunk(self, out: Any, values: Values) -> None:
        self._fill_array(out, values)
        out.release = self._releaser("chunk", RELEASE_ARRAY)
        self.opened["chunk"] += 1

    def _fill_array(self, out: Any, values: Values) -> None:
        memory = [ctypes.create_string_buffer(part or b"", len(part or b"_")) for part in values.buffers]
        addresses = [
            None if part is None else ctypes.addressof(copy) + self.shift
            for part, copy in zip(values.buffers, memory, strict=True)
        ]
        buffers = (ctypes.c_void_p * len(addresses))(*addresses)
        columns = []
        for column in values.columns:
            child = CArray()
            self._fill_array(child, column)
            columns.append(ctypes.pointer(child))
        children = (ctypes.POINTER(CArray) * len(columns))(*columns)
        out.length, out.null_count, out.offset = values.length, values.null_count, values.offset
        out.n_buffers, out.buffers = len(addresses), buffers
        out.n_children, out.children = len(columns), children
        if values.words:
            words = CArray()
            self._fill_array(words, values.words)
            out.dictionary = ctypes.pointer(words)
            self._kept.append(words)
        self._kept += [memory, buffers, columns, children]


def chunk(*columns: Values, length: int | None = None, **more: Any) -> Values:
    rows = columns[0].length if length is None else length
    return Values(rows, more.pop("buffers", [None]), columns=list(columns), **more)


def int32s(*values: int) -> bytes:
    return struct.pack(f"={len(values)}i", *values)


def strings(*texts: bytes, **more: Any) -> Values:
    offsets = np.cumsum([0, *map(len, texts)])
    return Values(len(texts), [None, int32s(*offsets.tolist()), b"".join(texts)], **more)


def ids_of(found: Any) -> list[bytes]:
    data, start, length, _ = found
    text = data.tobytes()
    return [text[at : at + size] for at, size in zip(start.tolist(), length.tolist(), strict=True)]


TEXT: tuple[bytes | None, bytes | None, bytes | None] = (b"x", b"u", None)
WORD: tuple[bytes | None, bytes | None, bytes | None] = (b"x", b"i", b"u")


def test_each_structure_is_released_once(core: Any) -> None:
    producer = Producer([TEXT], [chunk(strings(b"a", b"b")), chunk(strings(b"c"))])
    capsule = producer.capsule()
    table = core.ArrowTable(capsule)
    assert ids_of(table.ids(0)) == [b"a", b"b", b"c"]
    assert producer.released == {"stream": 1}
    del table, capsule
    gc.collect()
    assert producer.released == producer.opened == {"stream": 1, "schema": 1, "chunk": 2}


@together(
    ("producer", "message"),
    [
        (Producer([TEXT], [], schema_error=5), "out of paper"),
        (Producer([TEXT], [chunk(strings(b"a"))], end_error=5), "out of paper"),
        (Producer([TEXT], [chunk(strings(b"a"))], end_error=5, message=None), "failed with error 5"),
        (Producer([TEXT], [], root=b"u"), "expected an Arrow stream of structs, found format u"),
        (Producer([(b"x", None, None)], []), "a column has no format"),
        (Producer([TEXT], [chunk(strings(b"a")), chunk(strings(b"a"), strings(b"a"))]), "a chunk lacks a column"),
        (Producer([TEXT], [chunk(length=1)]), "a chunk lacks a column"),
        (Producer([TEXT], [chunk(strings(b"a"), length=-1)]), "negative length"),
        (Producer([TEXT], [chunk(strings(b"a"), offset=-1)]), "negative length"),
        (Producer([TEXT], [chunk(strings(b"a"), length=2)]), "a column is shorter than its chunk"),
        (Producer([TEXT], [chunk(strings(b"a"), offset=1)]), "a column is shorter than its chunk"),
        (Producer([TEXT], [chunk(strings(b"a", offset=-1))]), "a column is shorter than its chunk"),
        (Producer([WORD], [chunk(Values(1, [None, int32s(0)]))]), "a dictionary is missing"),
        (
            Producer([WORD], [chunk(Values(1, [None, int32s(0)], words=Values(-1, [])))]),
            "negative length",
        ),
    ],
)
def test_streams_that_fail_are_released_too(core: Any, producer: Producer, message: str) -> None:
    producer.released.clear()
    producer.opened.clear()
    with pytest.raises(ValueError, match=message):
        core.ArrowTable(producer.capsule())
    gc.collect()
    assert producer.released == producer.opened
    assert producer.released["stream"] == 1


def view(length: int, number: int, start: int) -> bytes:
    return int32s(length, 0, number, start)


BROKEN_IDS: list[tuple[bytes, Values, str]] = [
    (b"u", Values(2, [None, int32s(0, 2, 1), b"ab"]), "the offsets decrease"),
    (b"u", Values(1, [None, int32s(-1, 1), b"ab"]), "an offset is negative"),
    (b"u", Values(1, [None, int32s(0, 1), None]), "a buffer is missing"),
    (b"u", Values(1, [None, None, b"a"]), "a buffer is missing"),
    (b"u", Values(1, [None, int32s(0, 1)]), "an array lacks a buffer"),
    (b"U", Values(1, [None, struct.pack("=2q", 3, 1), b"ab"]), "the offsets decrease"),
    (b"l", Values(1, [None]), "an array lacks a buffer"),
    (b"l", Values(1, [None, None]), "a buffer is missing"),
    (b"vu", Values(1, [None, view(-1, 0, 0), b""]), "a length is negative"),
    (b"vu", Values(1, [None, view(13, 0, 0), b""]), "a view has no buffer"),
    (b"vu", Values(1, [None, view(13, -1, 0), b"x" * 13, struct.pack("=q", 13)]), "a view has no buffer"),
    (b"vu", Values(1, [None, view(13, 1, 0), b"x" * 13, struct.pack("=q", 13)]), "a view has no buffer"),
    (b"vu", Values(1, [None, view(13, 0, 1), b"x" * 13, struct.pack("=q", 13)]), "a view leaves its buffer"),
    (b"vu", Values(1, [None, view(13, 0, -1), b"x" * 13, struct.pack("=q", 13)]), "a view leaves its buffer"),
    (b"vu", Values(1, [None, view(13, 0, 0), None, struct.pack("=q", 13)]), "a buffer is missing"),
    (b"vu", Values(1, [None, view(1, 0, 0)]), "an array lacks a buffer"),
]


@together(("layout", "values", "message"), BROKEN_IDS)
def test_broken_columns(core: Any, layout: bytes, values: Values, message: str) -> None:
    table = core.ArrowTable(Producer([(b"x", layout, None)], [chunk(values)]).capsule())
    with pytest.raises(ValueError, match=message):
        table.ids(0)


@together(("layout", "position"), [(b"i", int32s(2)), (b"i", int32s(-1)), (b"L", b"\xff" * 8), (b"c", b"\x80")])
def test_positions_outside_of_the_dictionary(core: Any, layout: bytes, position: bytes) -> None:
    columns = [
        Values(1, [None, position], words=strings(b"a", b"b")),
        Values(1, [None, position], words=Values(2, [None, b"12"])),
    ]
    table = core.ArrowTable(Producer([(b"x", layout, b"u"), (b"y", layout, b"c")], [chunk(*columns)]).capsule())
    for read, column in ((table.ids, 0), (table.numbers, 1)):
        with pytest.raises(ValueError, match="a position leaves the dictionary"):
            read(column)


def test_a_position_that_is_null_may_be_anything(core: Any) -> None:
    values = Values(2, [b"\x02", int32s(-7, 1)], words=strings(b"a", b"b"))
    table = core.ArrowTable(Producer([WORD], [chunk(values)]).capsule())
    assert ids_of(table.ids(0)) == [b"", b"b"]


def test_a_view_that_is_null_may_be_anything(core: Any) -> None:
    views = view(-5, 9, -9) + int32s(3) + b"abc".ljust(12, b"\0") + view(2**30, 9, 9)
    table = core.ArrowTable(Producer([(b"x", b"vu", None)], [chunk(Values(3, [b"\x02", views, b""]))]).capsule())
    assert ids_of(table.ids(0)) == [b"", b"abc", b""]
    assert table.ids(0)[3].tolist() == [0, 2]


def test_counts_of_nulls_may_be_unknown(core: Any) -> None:
    values = [strings(b"a", b"b", null_count=-1), strings(b"a", b"b", null_count=-1)]
    values[1].buffers[0] = b"\x01"
    table = core.ArrowTable(Producer([TEXT, TEXT], [chunk(*values)]).capsule())
    assert [ids_of(table.ids(column)) for column in range(2)] == [[b"a", b"b"], [b"a", b""]]


def test_offsets_of_rows_and_columns_add_up(core: Any) -> None:
    texts = strings(*(b"%d" % i for i in range(20)), offset=3)
    texts.length = 17
    numbers = Values(20, [None, struct.pack("=20d", *range(20))])
    rows = chunk(texts, numbers, length=9, offset=5, buffers=[bytes([0b11011111, 0b11111110])])
    table = core.ArrowTable(Producer([TEXT, (b"y", b"g", None)], [rows]).capsule())
    # Row i of the table is bit i + 5 of the rows' validity, text i + 5 + 3, number i + 5.
    assert ids_of(table.ids(0)) == [b"", b"9", b"10", b"", *(b"%d" % i for i in range(12, 17))]
    numbers_found, missing = table.numbers(1)
    np.testing.assert_array_equal(numbers_found, [np.nan, 6, 7, np.nan, 9, 10, 11, 12, 13])
    assert missing.tolist() == [0, 3]


def test_buffers_need_not_be_aligned(core: Any) -> None:
    producer = Producer([(b"x", b"l", None)], [chunk(Values(2, [None, b"_" + struct.pack("=2q", -5, 7)]))], shift=1)
    table = core.ArrowTable(producer.capsule())
    assert (ids_of(table.ids(0)), table.numbers(0)[0].tolist()) == ([b"-5", b"7"], [-5, 7])


def test_arrays_without_values_need_no_buffers(core: Any) -> None:
    layouts = [b"u", b"U", b"vu", b"l"]
    columns = [Values(0, []) for _ in layouts]
    table = core.ArrowTable(Producer([(b"x", layout, None) for layout in layouts], [chunk(*columns)]).capsule())
    assert [ids_of(table.ids(column)) for column in range(4)] == [[], [], [], []]
    assert table.numbers(3)[0].tolist() == []


def test_names_may_be_missing_or_no_utf8(core: Any) -> None:
    table = core.ArrowTable(Producer([(None, b"u", None), (b"\xff", b"i", b"g")], []).capsule())
    assert (table.names, table.formats) == (["", "\udcff"], ["u", "dictionary of g"])


def test_dictionaries_of_dictionaries_and_odd_positions_are_refused(core: Any) -> None:
    table = core.ArrowTable(Producer([(b"x", b"u", b"u"), (b"y", b"g", b"g")], []).capsule())
    for read, column in ((table.ids, 0), (table.numbers, 1)):
        with pytest.raises(TypeError, match="dictionary of"):
            read(column)
