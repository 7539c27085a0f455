"""What tests of papers share: the real collections, and what stands in a section."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gainful.pages.charts import Plot
from gainful.pages.page import Page
from gainful_papers.claims import Section, Study

from .real_collections import SHARED_DATA

Sections = Study | tuple[Section, ...]


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real collections; what asks for it is skipped where there is none."""
    if not SHARED_DATA.is_dir():
        pytest.skip("no real collections beside the checkout (../shared/data)")
    return SHARED_DATA


class Reading:
    """What stands in the sections of a paper; a section may be given itself, or where it is and its name."""

    @staticmethod
    def section(of: Sections, name: str) -> Section:
        return next(each for each in (of.sections if isinstance(of, Study) else of) if each.name == name)

    def rows(self, of: Section | Sections, *name_and_title: str) -> list[dict[str, Any]]:
        """The rows of the table for machines whose title begins so, by column."""
        *name, title = name_and_title
        found = self._found(of, *name)
        [table] = [each for each in Page("papers", found.parts).tables_for_machines if each.title.startswith(title)]
        names = [column.name for column in table.columns]
        return [dict(zip(names, row, strict=True)) for row in table.rows]

    def claims(self, of: Section | Sections, *name: str) -> dict[str, tuple[str, str, str]]:
        """By what they are of: what the paper says, what was found, and the verdict."""
        found = self._found(of, *name)
        return {
            row["what"]: (row["the paper says"], row["gainful finds"], row["verdict"])
            for table in Page("papers", found.parts).tables_for_machines
            if "verdict" in [column.name for column in table.columns]
            for row in self.rows(found, table.title)
        }

    def plots(self, of: Section | Sections, *name: str) -> list[Plot]:
        return [part for part in self._found(of, *name).parts if isinstance(part, Plot)]

    def _found(self, of: Section | Sections, *name: str) -> Section:
        return of if isinstance(of, Section) else self.section(of, *name)


@pytest.fixture(scope="session")
def reading() -> Reading:
    """Reads the sections of a paper."""
    return Reading()
