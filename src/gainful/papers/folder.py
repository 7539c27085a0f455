"""A reproduction as a folder: the report, a file for every table, a figure for every section with charts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gainful.errors import InputError, UsageError
from gainful.io.atomic import atomic_output
from gainful.notation import choose
from gainful.papers.sections import Section
from gainful.render.markdown import escaped
from gainful.render.page import Page, Table

if TYPE_CHECKING:
    from gainful.papers.reproduction import Reproduction

#: What figures can be.
FIGURES = ("svg", "png", "pdf")


def check_folder(folder: str, figures: str, has_charts: bool = True) -> None:
    """Refuses a folder that cannot be written into, and figures that cannot be drawn, before any work begins."""
    choose(figures, FIGURES, "figures")
    if not folder:
        raise UsageError("--out: expected a folder to write into, found no name")
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise UsageError(f"{folder}: expected a folder to write into, found a file")
    above = os.path.dirname(os.path.abspath(folder))
    if not os.path.isdir(above):
        raise InputError(f"{folder}: cannot be made (there is no folder {above})")
    if has_charts:
        from gainful.render.figure import check_path

        check_path(f"x.{figures}")


def write_folder(found: Reproduction, folder: str, figures: str) -> list[str]:
    """Writes all files, each whole or not at all, and returns their names; others in the folder are left alone."""
    check_folder(folder, figures, any(found.page().charts))
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made ({error.strerror})") from error
    written = ["report.md"]
    blocks = [f"# {found.paper.key}", _markdown(found.paper.citation)]
    for section in found.examples:
        blocks += _written(section, folder, figures, (), written)
    if found.study is not None:
        blocks.append(_markdown(found.study.data))
        for section in found.study.sections:
            blocks += _written(section, folder, figures, found.study.conventions, written)
    blocks.append(Page("papers", (), found.page().notes).text("markdown").strip("\n"))
    with atomic_output(os.path.join(folder, "report.md")) as out:
        out.write("\n\n".join(block for block in blocks if block) + "\n")
    return written


def _written(
    section: Section, folder: str, figures: str, conventions: tuple[str, ...], written: list[str]
) -> Iterator[str]:
    """Writes the files of a section and adds their names; what the report has of it."""
    yield f"## {escaped(section.name)}"
    yield _markdown(section.about)
    charts = Page("papers", section.parts, conventions)
    if any(charts.charts):
        name = f"{section.file_name}.{figures}"
        charts.save(os.path.join(folder, name))
        written.append(name)
        yield f"![{escaped(section.name)}]({name})"
    yield _markdown(*(part for part in section.parts if isinstance(part, (str, Table))))
    links = []
    for name, table in _tables(section):
        Page("papers", (table,)).save(os.path.join(folder, name))
        written.append(name)
        links.append(f"[{name}]({name}) {escaped(table.title)}".rstrip())
    yield "; ".join(links)


def _tables(section: Section) -> Iterator[tuple[str, Table]]:
    """The tables with everything in them by the names of their files, numbered where there are several."""
    tables = list(Page("papers", section.parts).tables_for_machines)
    for number, table in enumerate(tables, 1):
        yield f"{section.file_name}{f'-{number}' if len(tables) > 1 else ''}.csv", table


def _markdown(*parts: str | Table) -> str:
    return Page("papers", parts).text("markdown").strip("\n")
