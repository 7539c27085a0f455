"""Fixtures for tests of papers: the real collections, and a reader of sections."""

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
    """Return the folder of real collections, or skip the test."""
    if not SHARED_DATA.is_dir():
        pytest.skip("no real collections beside the checkout (../shared/data)")
    return SHARED_DATA


class Reading:
    """Reader of sections; a section is given directly, or by a container and its name."""

    @staticmethod
    def section(of: Sections, name: str) -> Section:
        return next(each for each in (of.sections if isinstance(of, Study) else of) if each.name == name)

    def rows(self, of: Section | Sections, *name_and_title: str) -> list[dict[str, Any]]:
        """Return the rows, by column, of the machine-readable table whose title starts with this text."""
        *name, title = name_and_title
        found = self._found(of, *name)
        [table] = [each for each in Page("papers", found.parts).tables_for_machines if each.title.startswith(title)]
        names = [column.name for column in table.columns]
        return [dict(zip(names, row, strict=True)) for row in table.rows]

    def claims(self, of: Section | Sections, *name: str) -> dict[str, tuple[str, str, str]]:
        """Return the paper's statement, the result and the verdict of each claim, by subject."""
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
    """Return a reader of sections."""
    return Reading()
