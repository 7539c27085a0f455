"""Contents of the sections of a paper: machine-readable tables, complete claims, and text."""

from __future__ import annotations

from typing import Any

from gainful.pages.page import Table
from gainful.render import text as render_text
from gainful_papers.claims import Section, Study


def section(found: Study, name: str) -> Section:
    return next(each for each in found.sections if each.name == name)


def tables(of: Section) -> list[Table]:
    return list(of.page.tables_for_machines)


def claims(of: Section) -> dict[str, dict[str, Any]]:
    """Every claim's columns, by what it is about."""
    found = {}
    for table in tables(of):
        names = [column.name for column in table.columns]
        if "verdict" in names:
            found.update({str(row[0]): dict(zip(names, row, strict=True)) for row in table.rows})
    return found


def text(found: Study) -> str:
    return "\n".join(render_text(each.page) for each in found.sections)
