"""What every format is read into: rows, and how a source is to be read."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from gainful.arrays import Bytes, Floats, Ints
from gainful.core import core
from gainful.errors import UsageError
from gainful.io.objects import read_id
from gainful.io.origin import Origin
from gainful.io.sources import Source, Text

#: Ids as spans of bytes: id i is data[start[i] : start[i] + length[i]].
Spans: TypeAlias = tuple[Bytes, Ints, Ints]


class Rows(NamedTuple):
    """One row a judgment or a retrieved document, in the order of the source.

    ``value`` is the grade or the score, None where the format has none; ``subtopic`` only judgments can have, ``rank``
    only runs.
    """

    query: Spans
    document: Spans
    value: Floats | None
    origin: Origin
    rank: Floats | None = None
    subtopic: Spans | None = None


class Entry(NamedTuple):
    """What a nested format says of one query: documents with values, or documents alone; and where it says so."""

    query: object
    documents: Sequence[object]
    values: Sequence[object] | None
    where: str


def packed(values: Sequence[object], where: Callable[[int], str]) -> Spans:
    """Ids as spans; ``where`` names the place of one that is none."""
    data, start, length, bad = core.pack_ids(list(values))
    if bad >= 0:
        read_id(values[bad], where(bad))  # says what is wrong
    return data, start, length


#: A data frame of any library.
Frame: TypeAlias = Any


class Reading(NamedTuple):
    """How a source is to be read, as far as it is not recognised: its format, what its columns are called (role to
    name), and which LETOR feature is the score."""

    format: str | None = None
    columns: Mapping[str, str] = MappingProxyType({})
    feature: int | None = None


class RunFile(NamedTuple):
    """A run that is still to be read, and how."""

    source: Source | Text
    how: Reading

    @classmethod
    def of(cls, value: object) -> RunFile:
        """A run's source, if that is what a value is."""
        if isinstance(value, RunFile):
            return value
        return cls(as_source(value, "a Run"), Reading())


def as_source(value: object, or_else: str) -> Source | Text:
    """The value, if it is something to read from."""
    if isinstance(value, (str, os.PathLike, bytes, bytearray, memoryview, Text)):
        return value
    raise UsageError(
        f"expected a path, bytes, a dict, a data frame or {or_else}, found {type(value).__name__}",
        "call .collect() first" if hasattr(value, "collect") else None,
    )


def is_frame(value: object) -> bool:
    """Whether a value is a data frame of some kind."""
    return hasattr(value, "__arrow_c_stream__") or is_pandas(value)


def is_pandas(value: object) -> bool:
    """Whether a value is a frame of pandas, which has the Arrow interface only beside pyarrow."""
    return hasattr(value, "iloc") and hasattr(value, "columns") and hasattr(value, "dtypes")
