"""Arrow tables without the compiled core, through pyarrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gainful.kernel.pure_tables import pack_ids

if TYPE_CHECKING:
    from gainful.kernel._core import Bytes, Floats, Ints

_MOST_ROWS = 10
#: Arrow's format strings by how the names of pyarrow's types begin, as far as anybody asks for them.
_FORMATS = {
    "decimal": "d:",
    "halffloat": "e",
    "float": "f",
    "double": "g",
    "bool": "b",
    "null": "n",
    "string_view": "vu",
    "string": "u",
    "large_string": "U",
    "binary_view": "vz",
    "binary": "z",
    "large_binary": "Z",
    "date": "td",
    "time": "tt",
    "duration": "tD",
    "list": "+l",
    "large_list": "+L",
    "struct": "+s",
    "map": "+m",
}


class ArrowTable:
    """The columns of an Arrow C stream; ImportError where there is no pyarrow."""

    def __init__(self, capsule: object) -> None:
        import pyarrow

        self._table = pyarrow.RecordBatchReader._import_from_c_capsule(capsule).read_all()
        is_dictionary = pyarrow.types.is_dictionary
        self._kinds = [kind.value_type if is_dictionary(kind) else kind for kind in self._table.schema.types]
        self.names: list[str] = self._table.column_names
        self.formats = [
            next((found for start, found in _FORMATS.items() if str(kind).startswith(start)), str(kind))
            for kind in self._kinds
        ]

    def _values(self, column: int) -> Any:
        """The values without a dictionary, texts as bytes: they need not be UTF-8."""
        import pyarrow

        kind = pyarrow.large_binary() if self._is_text(column) else self._kinds[column]
        chunks = []
        for chunk in self._table.column(column).chunks:
            is_dictionary = pyarrow.types.is_dictionary(chunk.type)
            words = (chunk.dictionary if is_dictionary else chunk).cast(kind)
            chunks.append(words.take(chunk.indices) if is_dictionary else words)
        return pyarrow.chunked_array(chunks, kind)

    def _is_text(self, column: int) -> bool:
        return self.formats[column].removeprefix("v") in ("u", "U", "z", "Z")

    def ids(self, column: int) -> tuple[Bytes, Ints, Ints, Ints]:
        """Ids as spans, and the first rows that have none."""
        from pyarrow import types

        if not (self._is_text(column) or types.is_integer(self._kinds[column])):
            raise TypeError("not ids")
        data, start, length, _ = pack_ids(self._values(column).to_pylist())
        return data, start, length, np.flatnonzero(length == 0)[:_MOST_ROWS]

    def numbers(self, column: int) -> tuple[Floats, Ints]:
        """Float64 values, NaN where there is none, and the first rows that have none."""
        from pyarrow import types

        is_number = (types.is_integer, types.is_floating, types.is_boolean)
        if not any(is_kind(self._kinds[column]) for is_kind in is_number):
            raise TypeError("not numbers")
        found = self._values(column)
        with np.errstate(all="ignore"):  # a signalling NaN is a NaN like any other
            numbers = np.array(found.to_numpy(), np.float64)  # None becomes NaN
        return numbers, np.flatnonzero(found.is_null().to_numpy())[:_MOST_ROWS]
