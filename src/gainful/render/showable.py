"""What can be shown in every format."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from gainful.pages.page import Page
from gainful.render import save, text

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Showable:
    """What can be shown in every format. A subclass says what its page is."""

    def page(self) -> Page:
        """The data that the formats draw."""
        raise NotImplementedError

    def text(self, format: str = "table") -> str:  # noqa: A002 - the word that users know
        """The text in one of the formats table, trec, jsonl, csv, markdown, latex and html."""
        return text(self, format)

    def save(self, path: str | os.PathLike[str], format: str | None = None) -> None:  # noqa: A002
        """Writes a file, whole or not at all; without a format its ending (.csv, .md, .tex, ...) decides.

        .svg, .png and .pdf are figures of the charts.
        """
        save(self, path, format)

    def figure(self, columns: int | None = None) -> Figure:
        """The charts as a figure of matplotlib, ``columns`` (1 or 2) of a paper wide; needs gainful[plot]."""
        from gainful.render.figure import draw

        return draw(self.page(), columns)

    def __str__(self) -> str:
        return self.text().rstrip("\n")

    def _repr_html_(self) -> str:
        from gainful.render.markup import fragment

        return fragment(self.page())
