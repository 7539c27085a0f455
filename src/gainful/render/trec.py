"""trec_eval's lines: name, query and value. Measures that trec_eval has go by its names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from gainful.render.page import Cell, Column, Page, Showable
from gainful.render.report import Report, Value
from gainful.render.shown import present

#: What would end a field or a line, and its escape.
_ENDS = str.maketrans({character: character.encode("unicode_escape").decode() for character in "\t\n\v\f\r"})

#: What trec_eval prints of all queries together only: a query has no number of queries, and no geometric mean.
_OF_ALL = {"num_q", "gm_map", "gm_bpref"}


def write(content: Showable, out: TextIO) -> None:
    """Evaluations run by run as trec_eval prints them; of any other table a line for every row and value."""
    out.writelines(_report_lines(content) if isinstance(content, Report) else _page_lines(content.page()))


def _report_lines(report: Report) -> Iterator[str]:
    names = [measure.trec_eval_name() or str(measure) for measure in report.measures]
    for evaluation in report.evaluations:
        yield _line("runid", "all", evaluation.run)
        for values in report.rows(evaluation):
            for name, value in zip(names, values, strict=True):
                # A query that the policy leaves out has no value.
                if value.value is not None and (name not in _OF_ALL or value.query is None):
                    yield _line(name, "all" if value.query is None else value.query, _value_text(value, report.places))


def _value_text(value: Value, places: int) -> str:
    return str(value.cell) if value.measure.aggregate == "sum" else f"{value.value:6.{places}f}"


def _page_lines(page: Page) -> Iterator[str]:
    for table in page.tables_for_machines:
        labels = table.labels
        for row in table.rows:
            label = " ".join(_text(cell, column) for cell, column in zip(row[:labels], table.columns, strict=False))
            for cell, column in zip(row[labels:], table.columns[labels:], strict=True):
                if present(cell) is not None:
                    yield _line(column.name, label, _text(cell, column))


def _text(cell: Cell, column: Column) -> str:
    cell = present(cell)
    if cell is None:
        return column.none
    if isinstance(cell, str) or column.kind == "text":
        return str(cell)
    # A share stays the fraction that it is, as exactly as people see it.
    places = max(4, column.decimals + 2) if column.kind == "share" else column.decimals
    return f"{cell:.{places}f}"


def _line(name: str, query: str, value: str) -> str:
    return f"{name.translate(_ENDS):<22}\t{query.translate(_ENDS)}\t{value.translate(_ENDS)}\n"
