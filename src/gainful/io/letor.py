"""LETOR text: judged documents as vectors of features. Its grades are judgments, any feature is a system."""

from __future__ import annotations

import numpy as np

from gainful.arrays import Floats
from gainful.core import core
from gainful.errors import InputError, UsageError
from gainful.io.delimited import EMPTY
from gainful.io.origin import TextLines, line_number, line_text
from gainful.io.rows import Reading, Rows
from gainful.io.sources import Text
from gainful.io.trec import FIELDS, fields_at, input_error
from gainful.notation import printable

LETOR_LINE = "grade qid:query 1:value 2:value ... #docid = document"


def read_letor(text: Text, reading: Reading, *, run: bool) -> Rows:
    """The grades as judgments, or one feature as a run's scores."""
    feature = reading.feature or 0
    if run and not feature:
        raise UsageError(
            f"{text.name}: expected the feature that is the score, found none", "--feature 1, or --feature all"
        )
    columns = core.read_letor(text.data, feature if run else 0)
    if columns["fault_count"]:
        messages = [_message(text, *fault) for fault in columns["faults"]]
        raise input_error(messages, columns["fault_count"], f"a line is `{LETOR_LINE}`")
    if run and feature > columns["feature_count"]:
        raise InputError(f"{text.name}: expected a feature {feature}, found {columns['feature_count']} features")
    values = _below_all(columns["value"]) if run else columns["grade"]
    origin = TextLines(text.name, text.data, columns["line"])
    return Rows(columns["query"], columns["document"], values, origin)


def feature_count(text: Text) -> int:
    """How many features a LETOR text has."""
    return int(core.read_letor(text.data, 0)["feature_count"])


def null_count(text: Text, feature: int) -> int:
    """How many lines of a LETOR text have NULL for a feature."""
    return int(np.count_nonzero(np.isnan(core.read_letor(text.data, feature)["value"])))


def _below_all(values: Floats) -> Floats:
    """NULL is worse than any value: it becomes a number below the lowest of the file."""
    known = values[~np.isnan(values)]
    lowest = float(known.min()) if known.size else 0.0
    return np.where(np.isnan(values), lowest - max(1.0, abs(lowest)), values)


def _message(text: Text, offset: int, code: int, detail: int) -> str:
    where = f"{text.name}:{line_number(text.data, offset)}: "
    shown = f"\n    {line_text(text.data, offset)}"
    if code == FIELDS:
        return f"{where}expected `grade qid:query` at the start of the line, found none{shown}"
    if code == EMPTY:
        return f"{where}expected a query behind qid:, found nothing{shown}"
    field = printable(fields_at(text.data, offset)[detail])
    what = "a number as grade" if detail == 0 else f"feature:value (field {detail + 1})"
    return f"{where}expected {what}, found '{field}'{shown}"
