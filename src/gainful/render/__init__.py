"""Evaluations as text. Data first (a Report), drawing second: a renderer never computes a measure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TextIO

from gainful.render.jsonl import write_jsonl
from gainful.render.report import Report
from gainful.render.table import write_table

__all__ = ["FORMATS", "Report"]

FORMATS: Mapping[str, Callable[[Report, TextIO], None]] = {"table": write_table, "jsonl": write_jsonl}
