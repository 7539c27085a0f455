"""JSON lines: the machine interface, full precision."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TextIO

from gainful._version import __version__
from gainful.render.page import Cell, Heading, Page, Showable, Table
from gainful.render.report import Report, Value
from gainful.render.shown import exact


def write(content: Showable, out: TextIO) -> None:
    """A header that says what was done, then one line a value (of evaluations) or a row."""
    lines = _report_lines(content) if isinstance(content, Report) else _page_lines(content.page())
    out.writelines(json.dumps(line) + "\n" for line in lines)


def _report_lines(report: Report) -> Iterator[Mapping[str, object]]:
    first = report.evaluations[0]
    yield {
        "gainful": __version__,
        "signature": str(first.signature()),
        "measures": {str(measure): str(first.signature(measure)) for measure in report.measures},
        "runs": [
            {
                "run": evaluation.run,
                "path": evaluation.source,
                "queries" if first.unit == "query" else "sessions": len(evaluation.query_ids),
                "missing": len(evaluation.missing),
                "extra": len(evaluation.facts.extra_ids),
                "unjudged@10": evaluation.facts.unjudged_share,
            }
            for evaluation in report.evaluations
        ],
        **report.further_header,
    }
    for evaluation in report.evaluations:
        for values in report.rows(evaluation):
            yield from (_value(value, report.unit) for value in values)
    yield from _part_lines(report.further)
    yield from ({"note": note} for note in report.further_notes)


def _value(value: Value, unit: str) -> dict[str, object]:
    row: dict[str, object] = {
        "run": value.run,
        unit: value.query,
        "measure": str(value.measure),
        "value": value.cell,
    }
    if value.status is not None:
        row["status"] = value.status
    if value.difference is not None:
        row["difference"] = value.difference_cell
    return row


def _page_lines(page: Page) -> Iterator[Mapping[str, object]]:
    """The header, then rows (with their table's title, if it has one) and paragraphs in order, then notes."""
    yield {"gainful": __version__, "command": page.command, **page.header}
    yield from _part_lines(page.parts)
    yield from ({"note": note} for note in page.notes)


def _part_lines(parts: Iterable[object]) -> Iterator[Mapping[str, object]]:
    for part in parts:
        if isinstance(part, str):
            yield {"heading" if isinstance(part, Heading) else "text": part}
        elif isinstance(part, Table) and not part.for_people:
            yield from _table_lines(part)


def _table_lines(table: Table) -> Iterator[Mapping[str, object]]:
    title: dict[str, object] = {"table": table.title} if table.title else {}
    for row in table.rows:
        yield {**title, **{c.name: _finite(exact(cell, c)) for cell, c in zip(row, table.columns, strict=True)}}
    yield from ({**title, "note": note} for note in table.notes)


def _finite(cell: Cell) -> Cell:
    """JSON has no infinity: it becomes a text."""
    return str(cell) if isinstance(cell, float) and math.isinf(cell) else cell
