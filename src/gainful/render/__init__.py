"""Pages as text, tables, LaTeX, HTML and figures. Renderers draw pages; they compute nothing."""

from __future__ import annotations

import importlib
import math
import os
from io import StringIO
from typing import TYPE_CHECKING, NamedTuple, TextIO

from gainful.errors import UsageError
from gainful.notation import choose, for_terminal, printable
from gainful.pages import page as data
from gainful.pages.page import HasPage

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
    from matplotlib.figure import Figure

    from gainful.render.cells import FrameColumn
    from gainful.render.figure_style import Size


class Format(NamedTuple):
    """An output format: the function that writes it (loaded on demand) and the extension of its files."""

    writer: str
    ending: str
    is_for_machines: bool = False


FORMATS = {
    "table": Format("text_formats.write_table", ".txt"),
    "trec": Format("text_formats.write_trec", ".trec", is_for_machines=True),
    "jsonl": Format("text_formats.write_jsonl", ".jsonl", is_for_machines=True),
    "csv": Format("text_formats.write_csv", ".csv", is_for_machines=True),
    "markdown": Format("markup.write_markdown", ".md"),
    "latex": Format("markup.write_latex", ".tex"),
    "html": Format("markup.write_html", ".html"),
}

#: Formats by file extension.
ENDINGS = {found.ending: name for name, found in FORMATS.items()}


def write(content: HasPage, format_: str, out: TextIO) -> None:
    """Write a page, or an object with a page, in a format."""
    chosen = FORMATS[choose(format_, FORMATS, "format")]
    module, _, function = chosen.writer.partition(".")
    write_page = getattr(importlib.import_module(f"gainful.render.{module}"), function)
    page = content.page() if chosen.is_for_machines else content.page().without_repeats()
    if format_ == "table" or not out.isatty():  # tables always escape their texts
        write_page(page, out)
    else:
        out.write(for_terminal(text(content, format_)))


def text(content: HasPage, format_: str = "table") -> str:
    """Return a page, or an object with a page, as text in a format."""
    out = StringIO()
    write(content, format_, out)
    return out.getvalue()


def save(content: HasPage, path: str | os.PathLike[str], format_: str | None = None) -> None:
    """Write a file atomically; by default its extension sets the format, and .svg, .png and .pdf are figures."""
    from gainful.io.atomic import atomic_output
    from gainful.render import figure

    if format_ is None and figure.ending_of(path) in figure.ENDINGS:
        figure.save(content.page(), path)
        return
    format_ = format_ or format_of(path)
    with atomic_output(path) as out:
        write(content.page().with_whole_conventions(), format_, out)


def format_of(path: str | os.PathLike[str]) -> str:
    """Return the format for a file name, ignoring compression.

    >>> format_of("results.csv"), format_of("table.TEX.gz")
    ('csv', 'latex')
    """
    name = os.fspath(path)
    ending = os.path.splitext(name.lower().removesuffix(".gz"))[1]
    if ending not in ENDINGS:
        hint = f"or set the format: {' | '.join(FORMATS)}"
        if ending in (".svg", ".png", ".pdf"):
            hint = f"use --figure {name} for figures (`gainful curves`, `gainful compare`, ...; papers: --out)"
        raise UsageError(f"{name}: expected a name that ends in {', '.join(ENDINGS)}, found '{ending}'", hint)
    return ENDINGS[ending]


class Framed:
    """A result that converts to data frames (needs gainful[frames]). Subclasses implement ``frame_columns``."""

    def frame_columns(self, table: str | None = None) -> dict[str, FrameColumn]:
        """Return the columns of the table with a title, or of the main table."""
        raise NotImplementedError

    def to_pandas(self, table: str | None = None) -> pandas.DataFrame:
        """Return the main table, or the one with a title, as a pandas frame; NaN if there is no value."""
        from gainful.render.cells import frame_library

        library = frame_library("pandas")
        series: dict[str, object] = {}
        for name, (kind, values) in self.frame_columns(table).items():
            if kind is str:
                series[name] = list(values)
            elif kind is bool:
                series[name] = library.Series(values, dtype="boolean" if None in values else "bool")
            else:
                present = [math.nan if value is None else value for value in values]
                is_whole = kind is int and None not in values
                series[name] = library.Series(present, dtype="int64" if is_whole else "float64")
        frame: pandas.DataFrame = library.DataFrame(series)
        return frame

    def to_polars(self, table: str | None = None) -> polars.DataFrame:
        """Return the main table, or the one with a title, as a polars frame; null if there is no value."""
        from gainful.render.cells import frame_library

        library, columns = frame_library("polars"), self.frame_columns(table)
        types = {str: library.String, bool: library.Boolean, int: library.Int64, float: library.Float64}
        data = {name: column.values for name, column in columns.items()}
        frame: polars.DataFrame = library.DataFrame(data, {name: types[each.type] for name, each in columns.items()})
        return frame

    def to_arrow(self, table: str | None = None) -> pyarrow.Table:
        """Return the main table, or the one with a title, as an Arrow table; null if there is no value."""
        from gainful.render.cells import frame_library

        library, columns = frame_library("pyarrow"), self.frame_columns(table)
        types = {str: library.string(), bool: library.bool_(), int: library.int64(), float: library.float64()}
        schema = library.schema({name: types[column.type] for name, column in columns.items()})
        found: pyarrow.Table = library.table({name: column.values for name, column in columns.items()}, schema=schema)
        return found

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return an Arrow stream, for libraries that read Arrow data, such as duckdb and polars."""
        stream: object = self.to_arrow().__arrow_c_stream__(requested_schema)
        return stream


class Showable(Framed):
    """A result that can be shown in every format and as data frames. Subclasses implement ``page``."""

    def page(self) -> data.Page:
        """Return the page that the formats draw."""
        raise NotImplementedError

    def text(self, format: str = "table", *, detail: bool = False) -> str:  # noqa: A002 - the name that users expect
        """Return the text in a format (table, csv, markdown, ...), optionally with details."""
        return text(self.page().detailed() if detail else self, format)

    def save(self, path: str | os.PathLike[str], format: str | None = None) -> None:  # noqa: A002
        """Write a file atomically; by default its extension (.csv, .md, .tex, ...) sets the format.

        Extensions .svg, .png and .pdf save figures of the charts.
        """
        save(self, path, format)

    def frame_columns(self, table: str | None = None) -> dict[str, FrameColumn]:
        """Return the machine-readable columns of the table with a title, or of the main table."""
        from gainful.render.cells import columns_of

        return columns_of(self.page(), table)

    def figure(self, size: Size | None = None, *, title: bool = True, signature: bool = True) -> Figure:
        """Return the charts as a matplotlib figure (needs gainful[plot]).

        ``size`` is 1 or 2 columns of a paper, or "slide". Without ``title`` and ``signature`` a caption can give them.
        """
        from gainful.render.figure import draw, for_caption

        return draw(for_caption(self.page().without_repeats(), title=title, signature=signature), size)

    def plot(self, chart: str | None = None, size: Size | None = None) -> Figure:
        """Return the charts as a matplotlib figure; some comparisons have several kinds of ``chart`` to choose from."""
        if chart is not None:
            raise UsageError(f"chart: '{printable(chart)}' cannot be chosen: this result has one kind of chart")
        return self.figure(size)

    def __str__(self) -> str:
        return self.text().rstrip("\n")

    def _repr_html_(self) -> str:
        from gainful.render.markup import fragment

        return fragment(self.page())


class Page(data.Page, Showable):
    """A page that shows itself.

    >>> column, table = data.Column("AP", "number", 2), data.Table
    >>> print(Page("demo", (table((data.Column("run"), column), (("a", 0.5), ("b", None))),)))
    run    AP
    ---  ----
    a    0.50
    b       -
    """
