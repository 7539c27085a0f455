"""Tables from the Arrow C stream interface in the pure-Python kernel. ``_core.pyi`` has the contract.

The structures are read with ctypes, so this module is only imported when it is needed.
"""

from __future__ import annotations

import ctypes
import weakref
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from gainful._pure_arrow_columns import ArrowIds, ArrowNumbers, Stretch, demand, is_integer

if TYPE_CHECKING:
    from gainful._core import Bytes, Floats, Ints
    from gainful._pure_arrow_columns import Piece

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
