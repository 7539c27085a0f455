"""Evaluations as text. Data first (a Report), drawing second: a renderer never computes a measure."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from gainful.render.report import Report

#: Each format has a file of its own with a function `write`; it is loaded when it is asked for.
FORMATS = ("table", "jsonl")


def write(report: Report, format_: str, out: TextIO) -> None:
    """Writes a report in one of the formats."""
    importlib.import_module(f"gainful.render.{format_}").write(report, out)
