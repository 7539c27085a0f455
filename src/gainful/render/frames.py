"""Evaluations as data frames: one row a query, one column a measure. Each library is loaded when it is asked for."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from gainful.errors import MissingExtraError
from gainful.notation import bytes_of_id

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from gainful.results import Evaluation


class _Column(NamedTuple):
    name: str
    values: Sequence[float | None]
    is_whole: bool


def pandas_frame(evaluation: Evaluation) -> pandas.DataFrame:
    """NaN where the policy leaves a query out; counts are integers where it leaves none out."""
    library = _library("pandas")
    columns: dict[str, Any] = _labels(evaluation)
    for name, values, is_whole in _columns(evaluation):
        present = [math.nan if value is None else value for value in values]
        columns[name] = library.Series(present, dtype="int64" if is_whole and None not in values else "float64")
    frame: pandas.DataFrame = library.DataFrame(columns)
    return frame


def polars_frame(evaluation: Evaluation) -> polars.DataFrame:
    """Null where the policy leaves a query out; counts are integers."""
    library = _library("polars")
    data: dict[str, Any] = _labels(evaluation)
    schema = dict.fromkeys(data, library.String)
    for name, values, is_whole in _columns(evaluation):
        data[name], schema[name] = values, library.Int64 if is_whole else library.Float64
    frame: polars.DataFrame = library.DataFrame(data, schema=schema)
    return frame


def arrow_table(evaluation: Evaluation) -> pyarrow.Table:
    """Null where the policy leaves a query out; counts are integers."""
    library = _library("pyarrow")
    data: dict[str, Any] = _labels(evaluation)
    schema = dict.fromkeys(data, library.string())
    for name, values, is_whole in _columns(evaluation):
        data[name], schema[name] = values, library.int64() if is_whole else library.float64()
    table: pyarrow.Table = library.table(data, schema=library.schema(schema))
    return table


def _labels(evaluation: Evaluation) -> dict[str, list[Any]]:
    return {
        "run": [_readable(evaluation.run)] * len(evaluation.query_ids),
        evaluation.unit: [_readable(query) for query in evaluation.queries],
    }


def _columns(evaluation: Evaluation) -> Iterator[_Column]:
    for measure in evaluation.measures:
        values = [score.value for score in evaluation.scores(measure)]
        is_whole = measure.aggregate == "sum" and all(value is None or value.is_integer() for value in values)
        whole = [None if value is None else int(value) for value in values] if is_whole else values
        yield _Column(str(measure), whole, is_whole)


def _readable(identifier: str) -> str:
    """Frames hold UTF-8: bytes that are not are written ``\\xff``."""
    return bytes_of_id(identifier).decode("utf-8", "backslashreplace")


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingExtraError(
            f"a frame of {name} needs the package {name}", "install it with: pip install 'gainful[frames]'"
        ) from error
