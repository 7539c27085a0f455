"""Arrow arrays as columns of ids and numbers in the pure-Python kernel. ``_core.pyi`` has the contract.

Tables from the Arrow C stream interface in the pure-Python kernel. ``_core.pyi`` has the contract.

The structures are read with ctypes, so this module is only imported when it is needed.
"""

from __future__ import annotations

import ctypes
import weakref
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from gainful.kernel.pure_tables import FAULTS_KEPT

if TYPE_CHECKING:
    from gainful.kernel._core import Bytes, Floats, Ints

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from gainful.kernel._core import Bytes, Floats, Ints
    from gainful.kernel.arrays import Bools

    #: One chunk of a column: of ids where they start and how long they are, of numbers the values and which are valid.
    Piece = tuple[NDArray[Any], NDArray[Any]]

_INTEGERS: dict[str, DTypeLike] = {
    "c": np.int8,
    "C": np.uint8,
    "s": np.int16,
    "S": np.uint16,
    "i": np.int32,
    "I": np.uint32,
    "l": np.int64,
    "L": np.uint64,
}
_NUMBERS: dict[str, DTypeLike] = {**_INTEGERS, "e": np.float16, "f": np.float32, "g": np.float64}
_OFFSETS: dict[str, DTypeLike] = {"u": np.int32, "z": np.int32, "U": np.int64, "Z": np.int64}
_VIEWS = ("vu", "vz")
_VIEW_SIZE, _INLINE_SIZE = 16, 12


def is_integer(layout: str) -> bool:
    """Whether a format is one of the integers."""
    return layout in _INTEGERS


def demand(condition: bool, what: str) -> None:
    """Raises ValueError when a producer breaks the rules."""
    if not condition:
        raise ValueError(f"the Arrow stream is broken: {what}")


def _bits(packed: Bytes, first: int, count: int) -> Bools:
    return np.unpackbits(packed, bitorder="little")[first : first + count].astype(np.bool_)


class Stretch:
    """Some values of an array: ``count`` of them from ``first`` on, with the array's own offset counted in."""

    def __init__(self, array: Any, first: int, count: int) -> None:
        self._array, self._first, self.count = array, first, count

    @property
    def buffer_count(self) -> int:
        """How many buffers the array has."""
        return int(self._array.n_buffers)

    def buffer(self, at: int, dtype: DTypeLike, first: int, count: int) -> NDArray[Any]:
        """Some items of a buffer, without a copy."""
        demand(at < self.buffer_count, "an array lacks a buffer")
        address = self._array.buffers[at]
        demand(address is not None, "a buffer is missing")
        size = np.dtype(dtype).itemsize
        memory: Any = (ctypes.c_char * (size * count)).from_address(address + size * first)
        items: NDArray[Any] = np.frombuffer(memory, dtype)
        return items

    def values(self, dtype: DTypeLike, at: int = 1, width: int = 1, more: int = 0) -> NDArray[Any]:
        """The items of this stretch in a buffer, each of a width, and some more."""
        return self.buffer(at, dtype, width * self._first, width * (self.count + more))

    def bits(self, at: int) -> Bools:
        """The bits of this stretch in a buffer."""
        skipped = self._first // 8
        last = (self._first + self.count + 7) // 8
        return _bits(self.buffer(at, np.uint8, skipped, last - skipped), self._first % 8, self.count)

    def is_valid(self) -> Bools:
        """Which values are not null."""
        if self.count == 0 or self._array.null_count == 0 or self.buffer_count == 0 or not self._array.buffers[0]:
            return np.ones(self.count, dtype=np.bool_)
        return self.bits(0)

    def positions(self, layout: str, size: int) -> Ints:
        """The positions in a dictionary of that size, -1 where they are null."""
        if self.count == 0:
            return np.empty(0, dtype=np.int64)
        positions, valid = self.values(_INTEGERS[layout]), self.is_valid()
        demand(not np.any(valid & ((positions < 0) | (positions >= size))), "a position leaves the dictionary")
        return np.where(valid, positions.astype(np.int64), -1)


class ArrowIds:
    """Ids one behind the other. Those of nulls are empty, at 0."""

    what = "ids"

    def __init__(self) -> None:
        self._data: list[Bytes] = []
        self._size = 0
        self._pieces: list[Piece] = []

    @staticmethod
    def reads(layout: str) -> bool:
        """Whether a format holds ids."""
        return layout in _INTEGERS or layout in _OFFSETS or layout in _VIEWS

    def decoded(self, layout: str, values: Stretch) -> Piece:
        """Where each value stands; its bytes are put down."""
        if values.count == 0:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        if layout in _OFFSETS:
            data, start, length = _strings(_OFFSETS[layout], values)
        elif layout in _VIEWS:
            data, start, length = _viewed_strings(values)
        else:
            data, start, length = _decimals(_INTEGERS[layout], values)
        valid = values.is_valid()
        self._data.append(data)
        self._size += data.size
        return np.where(valid, start + self._size - data.size, 0), np.where(valid, length, 0)

    @staticmethod
    def taken(words: Piece, positions: Ints) -> Piece:
        """The words of a dictionary at some positions."""
        start, length = (np.append(column, 0)[positions] for column in words)
        return start, length

    def add(self, piece: Piece, valid: Bools) -> None:
        """Adds rows, of which some may be null as a whole."""
        start, length = piece
        self._pieces.append((np.where(valid, start, 0), np.where(valid, length, 0)))

    def result(self) -> tuple[Bytes, Ints, Ints, Ints]:
        """All the ids, and the first rows where they are empty."""
        nothing = np.empty(0, dtype=np.int64)
        start, length = (np.concatenate([nothing, *(piece[i] for piece in self._pieces)]) for i in range(2))
        data = np.concatenate([np.empty(0, dtype=np.uint8), *self._data])
        return data, start, length, np.flatnonzero(length == 0)[:FAULTS_KEPT]


def _strings(dtype: DTypeLike, values: Stretch) -> tuple[Bytes, Ints, Ints]:
    demand(values.buffer_count >= 3, "an array lacks a buffer")
    offsets = values.values(dtype, more=1).astype(np.int64)
    length = np.diff(offsets)
    demand(offsets[0] >= 0, "an offset is negative")
    demand(bool(np.all(length >= 0)), "the offsets decrease")
    size = int(offsets[-1] - offsets[0])
    data = values.buffer(2, np.uint8, int(offsets[0]), size).copy() if size else np.empty(0, dtype=np.uint8)
    return data, offsets[:-1] - offsets[0], length


def _viewed_strings(values: Stretch) -> tuple[Bytes, Ints, Ints]:
    """A view is a length and 12 bytes: the string, or its first 4 bytes and in which buffer it stands from where on."""
    demand(values.buffer_count >= 3, "an array lacks a buffer")
    views = values.values(np.uint8, width=_VIEW_SIZE)
    length, _, number, at = views.view(np.int32).reshape(-1, 4).astype(np.int64).T
    length = np.where(values.is_valid(), length, 0)
    demand(bool(np.all(length >= 0)), "a length is negative")
    start = np.cumsum(length) - length
    data = np.empty(int(length.sum()), dtype=np.uint8)
    short = np.flatnonzero(length <= _INLINE_SIZE)
    _copy(views, _VIEW_SIZE * short + 4, length[short], data, start[short])
    for buffer in set(number[length > _INLINE_SIZE].tolist()):
        demand(0 <= buffer < values.buffer_count - 3, "a view has no buffer")
        size = int(values.buffer(values.buffer_count - 1, np.int64, buffer, 1)[0])
        here = np.flatnonzero((length > _INLINE_SIZE) & (number == buffer))
        demand(bool(np.all((at[here] >= 0) & (at[here] + length[here] <= size))), "a view leaves its buffer")
        _copy(values.buffer(2 + buffer, np.uint8, 0, size), at[here], length[here], data, start[here])
    return data, start, length


def _copy(source: Bytes, at: Ints, length: Ints, target: Bytes, start: Ints) -> None:
    """Copies many strings at once, byte by byte."""
    within = np.arange(int(length.sum())) - np.repeat(np.cumsum(length) - length, length)
    target[np.repeat(start, length) + within] = source[np.repeat(at, length) + within]


def _decimals(dtype: DTypeLike, values: Stretch) -> tuple[Bytes, Ints, Ints]:
    rows = zip(values.values(dtype).tolist(), values.is_valid().tolist(), strict=True)
    texts = [b"%d" % value if valid else b"" for value, valid in rows]
    length = np.array([len(text) for text in texts], dtype=np.int64)
    return np.frombuffer(b"".join(texts), dtype=np.uint8), np.cumsum(length) - length, length


class ArrowNumbers:
    """Numbers, NaN where they are null, and the first rows where they are."""

    what = "numbers"

    def __init__(self) -> None:
        self._pieces: list[Piece] = []

    @staticmethod
    def reads(layout: str) -> bool:
        """Whether a format holds numbers."""
        return layout in _NUMBERS or layout == "b"

    @staticmethod
    def decoded(layout: str, values: Stretch) -> Piece:
        """The values, and which of them are valid."""
        if values.count == 0:
            return np.empty(0, dtype=np.float64), np.empty(0, dtype=np.bool_)
        numbers = values.bits(1) if layout == "b" else values.values(_NUMBERS[layout])
        with np.errstate(all="ignore"):  # a signalling NaN is a NaN like any other
            return numbers.astype(np.float64), values.is_valid()

    @staticmethod
    def taken(words: Piece, positions: Ints) -> Piece:
        """The words of a dictionary at some positions."""
        numbers, valid = words
        return np.append(numbers, np.nan)[positions], np.append(valid, False)[positions]

    def add(self, piece: Piece, valid: Bools) -> None:
        """Adds rows, of which some may be null as a whole."""
        numbers, own = piece
        self._pieces.append((np.where(own & valid, numbers, np.nan), own & valid))

    def result(self) -> tuple[Floats, Ints]:
        """All the numbers, and the first rows where they are null."""
        numbers = np.concatenate([np.empty(0, dtype=np.float64), *(piece[0] for piece in self._pieces)])
        valid = np.concatenate([np.empty(0, dtype=np.bool_), *(piece[1] for piece in self._pieces)])
        return numbers, np.flatnonzero(~valid)[:FAULTS_KEPT]


_Column = TypeVar("_Column", ArrowIds, ArrowNumbers)

_CAPSULE_NAME = b"arrow_array_stream"


class _Schema(ctypes.Structure):
    pass


class _Array(ctypes.Structure):
    pass


class _Stream(ctypes.Structure):
    _fields_ = [
        ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)),
        ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)),
        ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)),
        ("release", ctypes.c_void_p),
        ("private_data", ctypes.c_void_p),
    ]


_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
    ("dictionary", ctypes.POINTER(_Schema)),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]
_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.POINTER(_Array)),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]

_is_capsule_of = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_IsValid", ctypes.pythonapi)
)
_pointer_in = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def _take_stream(capsule: object) -> _Stream:
    """Takes the stream out of its capsule, which is left with nothing to release."""
    if type(capsule).__name__ != "PyCapsule":
        raise TypeError("expected a PyCapsule")
    if not _is_capsule_of(capsule, _CAPSULE_NAME):
        raise ValueError("expected a PyCapsule named arrow_array_stream")
    address = _pointer_in(capsule, _CAPSULE_NAME)
    source, taken = _Stream.from_address(address), _Stream()
    if not source.release:
        raise ValueError("the Arrow stream was consumed already")
    ctypes.memmove(ctypes.addressof(taken), address, ctypes.sizeof(_Stream))
    source.release = None
    return taken


def _release(structures: list[Any]) -> None:
    """Hands structures back to their producer, each of them once."""
    while structures:
        structure = structures.pop()
        if structure.release:
            ctypes.CFUNCTYPE(None, ctypes.c_void_p)(structure.release)(ctypes.addressof(structure))


def _check_call(stream: _Stream, error: int) -> None:
    if error:
        message = stream.get_last_error(ctypes.addressof(stream)) if stream.get_last_error else None
        raise ValueError((message or b"the Arrow stream failed with error %d" % error).decode(errors="replace"))


def _check_chunk(chunk: _Array, schemas: list[Any]) -> None:
    demand(chunk.n_children == len(schemas), "a chunk lacks a column")
    demand(chunk.length >= 0 and chunk.offset >= 0, "a chunk has a negative length")
    for i, schema in enumerate(schemas):
        child = chunk.children[i].contents
        demand(child.offset >= 0 and child.length - chunk.offset >= chunk.length, "a column is shorter than its chunk")
        if schema.dictionary:
            demand(bool(child.dictionary), "a dictionary is missing")
            words = child.dictionary.contents
            demand(words.length >= 0 and words.offset >= 0, "a dictionary has a negative length")


def _identity(array: Any) -> tuple[Any, ...]:
    """What tells whether two arrays are the same memory: producers often send one dictionary with every chunk."""
    return array.length, array.offset, *(array.buffers[i] for i in range(array.n_buffers))


class ArrowTable:
    """The columns of an Arrow C stream."""

    def __init__(self, capsule: object) -> None:
        stream, schema = _take_stream(capsule), _Schema()
        self._chunks: list[Any] = []
        self._schemas: list[Any] = []
        kept: list[Any] = [schema]
        try:
            _check_call(stream, stream.get_schema(ctypes.addressof(stream), ctypes.addressof(schema)))
            if schema.format != b"+s":
                raise ValueError(f"expected an Arrow stream of structs, found format {_text(schema.format)}")
            self._schemas += [schema.children[i].contents for i in range(schema.n_children)]
            for each in self._schemas:
                has_formats = each.format and (not each.dictionary or each.dictionary.contents.format)
                demand(bool(has_formats), "a column has no format")
            while True:
                chunk = _Array()
                _check_call(stream, stream.get_next(ctypes.addressof(stream), ctypes.addressof(chunk)))
                if not chunk.release:
                    break
                kept.append(chunk)
                _check_chunk(chunk, self._schemas)
                self._chunks.append(chunk)
        except BaseException:
            _release(kept)
            raise
        finally:
            _release([stream])
        weakref.finalize(self, _release, kept)

    @property
    def names(self) -> list[str]:
        """What the columns are called."""
        return [_text(schema.name) for schema in self._schemas]

    @property
    def formats(self) -> list[str]:
        """Arrow's format strings."""
        return [
            f"dictionary of {_text(schema.dictionary.contents.format)}" if schema.dictionary else _text(schema.format)
            for schema in self._schemas
        ]

    @property
    def rows(self) -> int:
        """How many there are."""
        return sum(chunk.length for chunk in self._chunks)

    def ids(self, column: int) -> tuple[Bytes, Ints, Ints, Ints]:
        """Ids as spans, and the first ten rows that are null, or empty."""
        return self._read(column, ArrowIds()).result()

    def numbers(self, column: int) -> tuple[Floats, Ints]:
        """Float64 values, and the first ten rows that are null."""
        return self._read(column, ArrowNumbers()).result()

    def _read(self, column: int, into: _Column) -> _Column:
        if not 0 <= column < len(self._schemas):
            raise IndexError("there is no such column")
        schema = self._schemas[column]
        layout = _text(schema.format)
        words_schema = schema.dictionary.contents if schema.dictionary else None
        if words_schema:
            is_read = is_integer(layout) and into.reads(_text(words_schema.format)) and not words_schema.dictionary
        else:
            is_read = into.reads(layout)
        if not is_read:
            raise TypeError(f"cannot read {into.what} from Arrow format {self.formats[column]}")
        known: tuple[Any, ...] = ()
        words: Piece = np.empty(0), np.empty(0)
        for chunk in self._chunks:
            child = chunk.children[column].contents
            # What lies outside of a struct's slice is in its children all the same.
            values = Stretch(child, child.offset + chunk.offset, chunk.length)
            if words_schema:
                entries = child.dictionary.contents
                if _identity(entries) != known:
                    known = _identity(entries)
                    words = into.decoded(_text(words_schema.format), Stretch(entries, entries.offset, entries.length))
                piece = into.taken(words, values.positions(layout, entries.length))
            else:
                piece = into.decoded(layout, values)
            # Rows that are null as a whole are null in all columns.
            into.add(piece, Stretch(chunk, chunk.offset, chunk.length).is_valid())
        return into


def _text(name: bytes | None) -> str:
    return (name or b"").decode("utf-8", "surrogateescape")
