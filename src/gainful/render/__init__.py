"""What commands show, as text. Data first (a Page, or a Report of evaluations), drawing second: a renderer never
computes a measure."""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, TextIO

from gainful.errors import UsageError
from gainful.notation import choose

if TYPE_CHECKING:
    from gainful.render.page import Showable

#: Each format has a file of its own with a function `write`; it is loaded when it is asked for.
FORMATS = ("table", "trec", "jsonl", "csv", "markdown", "latex", "html")

#: How files of each format end.
ENDINGS = {
    ".txt": "table",
    ".trec": "trec",
    ".jsonl": "jsonl",
    ".csv": "csv",
    ".md": "markdown",
    ".tex": "latex",
    ".html": "html",
}


def write(content: Showable, format_: str, out: TextIO) -> None:
    """Writes a page, a report, or what else can be shown in one of the formats."""
    importlib.import_module(f"gainful.render.{choose(format_, FORMATS, 'format')}").write(content, out)


def format_of(path: str | os.PathLike[str]) -> str:
    """The format that a file's name asks for; compression does not count.

    >>> format_of("results.csv"), format_of("table.TEX.gz")
    ('csv', 'latex')
    """
    name = os.fspath(path)
    ending = os.path.splitext(name.lower().removesuffix(".gz"))[1]
    if ending not in ENDINGS:
        raise UsageError(
            f"{name}: expected a name that ends in {', '.join(ENDINGS)}, found '{ending}'",
            "--figure draws figures, in `gainful papers` --out"
            if ending in (".svg", ".png", ".pdf")
            else f"or say the format: {' | '.join(FORMATS)}",
        )
    return ENDINGS[ending]
