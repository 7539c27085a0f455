"""A reproduction as a folder: the report, a file for every table, a figure for every section with charts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gainful.errors import InputError, UsageError
from gainful.io.atomic import atomic_output
from gainful.notation import choose
from gainful.papers.sections import Section
from gainful.render.page import Page, Table

if TYPE_CHECKING:
    from gainful.papers.reproduction import Reproduction

#: What figures can be.
FIGURES = ("svg", "png", "pdf")


def check_folder(folder: str, figures: str) -> None:
    """Refuses a folder that cannot be written into, and figures that cannot be drawn, before any work begins."""
    from gainful.render.figure import check_path

    if os.path.exists(folder) and not os.path.isdir(folder):
        raise UsageError(f"{folder}: expected a folder to write into, found a file")
    above = os.path.dirname(os.path.abspath(folder))
    if not os.path.isdir(above):
        raise InputError(f"{folder}: cannot be made (there is no folder {above})")
    check_path(f"{folder}/x.{choose(figures, FIGURES, 'figures')}")


def write_folder(found: Reproduction, folder: str, figures: str) -> list[str]:
    """Writes all files, each whole or not at all, and returns their names; others in the folder are left alone."""
    check_folder(folder, figures)
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made ({error.strerror})") from error
    written = ["report.md"]
    text = [f"# {found.paper.key}\n", f"{found.paper.citation}\n"]
    first_of_study = found.study.sections[0] if found.study and found.study.sections else None
    for section in found.sections:
        if section is first_of_study and found.study:
            text.append(f"{found.study.data}\n")
        text.append(f"## {section.name}\n")
        if section.about:
            text.append(f"{section.about}\n")
        tables = dict(_tables(section))
        for name, table in tables.items():
            Page("papers", (table,)).save(os.path.join(folder, name))
        written += tables
        conventions = found.study.conventions if found.study and section in found.study.sections else ()
        charts = Page("papers", section.parts, conventions)
        if any(charts.charts):
            name = f"{section.file_name}.{figures}"
            charts.save(os.path.join(folder, name))
            written.append(name)
            text.append(f"![{section.name}]({name})\n")
        words = tuple(part for part in section.parts if isinstance(part, (str, Table)))
        if words:
            text.append(Page("papers", words).text("markdown"))
        if tables:
            text.append(
                "; ".join(
                    f"[{name}]({name})" + (f" {table.title}" if table.title else "") for name, table in tables.items()
                )
                + "\n"
            )
    text += [f"{note}\n" for note in found.page().notes]
    with atomic_output(os.path.join(folder, "report.md")) as out:
        out.write("\n".join(text))
    return written


def _tables(section: Section) -> Iterator[tuple[str, Table]]:
    """The tables with everything in them by the names of their files, numbered where there are several."""
    tables = list(Page("papers", section.parts).tables_for_machines)
    for number, table in enumerate(tables, 1):
        yield f"{section.file_name}{f'-{number}' if len(tables) > 1 else ''}.csv", table
