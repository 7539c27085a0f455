"""Tables for people: aligned columns, the best marked, the conventions below."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TextIO

from gainful.notation import printable
from gainful.render.report import Cell, Report

_WIDEST = 80
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"


def write(report: Report, out: TextIO) -> None:
    """One row a run (and query, if wanted), the best aggregate of each column marked by an asterisk."""
    header = ["run", *(["query"] if report.by_query else []), *map(str, report.measures)]
    rows = [_row(report, cells) for evaluation in report.evaluations for cells in report.rows(evaluation)]
    labels = len(header) - len(report.measures)
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    lines = [_line(header, widths, labels), "  ".join("-" * width for width in widths)]
    lines += [_line(row, widths, labels) for row in rows]
    if out.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb":
        lines = [_emphasised(line) for line in lines]
    footer = ["* best of its column"] if report.best else []
    if report.baseline is not None:
        footer.append(f"(+/-) difference to {report.baseline}")
    if report.counted:
        counts = ", ".join(f"{printable(run, _WIDEST)} {count}" for run, count in report.counted.items())
        footer.append(f"means over different numbers of queries: {counts}")
    signature = report.evaluations[0].signature().short()
    out.write("\n".join([*lines, "", *(["; ".join(footer)] if footer else []), signature]) + "\n")


def _row(report: Report, cells: Sequence[Cell]) -> list[str]:
    query = cells[0].query
    labels = [cells[0].run, *(["(all)" if query is None else query] if report.by_query else [])]
    return [printable(label, _WIDEST) for label in labels] + [_text(report, cell) for cell in cells]


def _text(report: Report, cell: Cell) -> str:
    """The value, a place for the mark, and with a baseline a place for the difference."""
    places = 0 if cell.measure.aggregate == "sum" else report.places
    is_best = cell.query is None and report.best.get(cell.measure) == cell.value
    text = ("-" if cell.value is None else f"{cell.value:.{places}f}") + ("*" if is_best else " ")
    if report.baseline is None:
        return text
    empty = " " * len(f" ({0.0:+.{places}f})")
    return text + (empty if cell.difference is None else f" ({cell.difference:+.{places}f})")


def _line(texts: Sequence[str], widths: Sequence[int], labels: int) -> str:
    left = [text.ljust(width) for text, width in zip(texts[:labels], widths[:labels], strict=True)]
    right = [text.rjust(width) for text, width in zip(texts[labels:], widths[labels:], strict=True)]
    return "  ".join([*left, *right]).rstrip()


def _emphasised(line: str) -> str:
    """The marked numbers in bold, for terminals."""
    return " ".join(f"{_BOLD}{word}{_PLAIN}" if word.endswith("*") else word for word in line.split(" "))
