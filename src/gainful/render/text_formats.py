"""Pages as plain text: tables for people, and CSV, JSON lines and trec_eval lines for machines.

Tables have aligned columns, marked best values and the conventions below. Machine formats have full precision: CSV has
one line per row (RFC 4180, LF line ends, no spreadsheet formulas), JSON lines contain everything, and trec_eval lines
have name, query and value, under trec_eval's names if they exist.
"""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, islice, zip_longest
from typing import TYPE_CHECKING, TextIO

from gainful._version import __version__
from gainful.notation import as_cell
from gainful.pages.page import Cell, Column, Conventions, Heading, Page, ScoreLine, Table, whole_note
from gainful.render.cells import Group, Paragraph, Shown, exact, groups, is_code, plain, present, shown_rows

if TYPE_CHECKING:
    from gainful.pages.charts import Chart

_WIDEST_LABEL, _WIDEST_TEXT, _WIDEST_LINE = 80, 60, 100
#: Width of prose without a terminal; minimum widths of a text column and of a terminal.
_USUAL, _NARROWEST_TEXT, _NARROWEST = 80, 20, 40
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"
_BEFORE_VALUE = re.compile(r" *(?:\S+(?: \S+)*  +)?")


def write_table(page: Page, out: TextIO) -> None:
    """Write tables and paragraphs, with marked cells (an asterisk; bold on terminals), then notes.

    On a terminal everything fits its width. In files and pipes prose has the usual width, and tables their full width.
    """
    bold = out.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    room = _terminal_width(out)
    prose = prose_width(out)

    def draw_chart(chart: Chart) -> list[str]:
        from gainful.pages.charts import system_numbers
        from gainful.render.chart_text import chart_lines

        return chart_lines(chart, system_numbers(page.charts), prose)

    drawn = page.drawn(
        lambda text: _paragraph(text, prose, room),
        lambda table: _table(table, bold, page.keeps_places, room, prose),
        draw_chart,
    )
    if page.notes:
        drawn.append([line for note in page.notes for line in _note(note, prose, room)])
    out.write("\n\n".join("\n".join(block) for block in drawn) + "\n")


def _terminal_width(out: TextIO) -> int | None:
    """Return the width of the terminal or COLUMNS; None for files, which have no limit."""
    if out.isatty() or (out is sys.stdout and os.environ.get("COLUMNS")):
        from shutil import get_terminal_size

        return max(_NARROWEST, get_terminal_size((_USUAL, 24)).columns)
    return None


def prose_width(out: TextIO) -> int:
    """Return the width of prose: the terminal's, up to a readable limit."""
    return min(_terminal_width(out) or _USUAL, _WIDEST_LINE)


def _paragraph(text: str, prose: int, room: int | None) -> list[str]:
    if isinstance(text, Heading):
        title = _wrapped(plain(text), prose)
        return [*title, "=" * max(map(len, title))]
    lines, is_verbatim = Paragraph.of(text)
    if not is_verbatim:
        return [piece for line in lines for piece in _wrapped(line, prose)]
    return [piece for line in lines for piece in (hanging(line, room) if room and len(line) > room else [line])]


def hanging(line: str, width: int) -> list[str]:
    """Wrap a line; the continuation is indented to where its value begins.

    >>> hanging("  P   Precision: the share of relevant documents.", 30)
    ['  P   Precision: the share of', '      relevant documents.']
    """
    begin = _BEFORE_VALUE.match(line)
    indent = begin.end() if begin else 0
    return _wrapped(line, width, " " * (indent if indent < width // 2 else 8))


#: A command to paste: its name, options with values, placeholders, quoted texts, and words that look like files.
_COMMAND = re.compile(
    r"gainful(?: [a-z_]+(?![^\s,;:)])){1,2}"
    r"(?: (?:--?[\w-]+(?: (?!-)'[^']*'| (?!-)\S+)?|'[^']*'|[A-Z]\S*|\S*[./=@*\d]\S*))*"
)


def messages(lines: Iterable[str], out: TextIO) -> list[str]:
    """Wrap messages for a terminal without breaking commands that may be pasted; other outputs get them unchanged."""
    if not out.isatty():
        return list(lines)
    width = prose_width(out)
    kept = (_COMMAND.sub(lambda found: found[0].replace(" ", "\0"), line) for line in lines)
    return [piece.replace("\0", " ") for line in kept for piece in hanging(line, width)]


def _note(note: str, prose: int, room: int | None) -> list[str]:
    """Wrap a note; conventions break after a bar, and signatures, which have no blanks, only on terminals."""
    if isinstance(note, Conventions):
        return [line.replace("\0", " ") for line in _wrapped(plain(note).replace(" |", "\0|"), prose)]
    note = plain(note)
    if not any(map(is_code, note.split(" "))):
        return _wrapped(note, prose)
    return [note] if room is None else [line.replace("| ", "|") for line in _wrapped(note.replace("|", "| "), room)]


def _table(table: Table, bold: bool, always: bool, room: int | None, prose: int) -> list[str]:
    columns, labels = groups(table), table.labels
    marked = {place for _, place in table.marked}
    has_marks = [not group.is_text and (always or group.place in marked) for group in columns]
    header = [plain(group.column.name) for group in columns]
    cells = shown_rows(table, columns)
    raised = [max((len(row[i].marks) for row in cells), default=0) for i in range(len(columns))]
    texts = [[_text(*each) for each in zip(row, columns, has_marks, raised, strict=True)] for row in cells]
    is_left = [group.is_text for group in columns]
    shown = _wrapped(plain(table.title), prose) if table.title else []
    first_line = len(shown)
    for places, limits in _fitted(header, texts, is_left, labels, room):
        left = [is_left[i] for i in places]
        names = _physical_lines([header[i] for i in places], limits, [True] * len(places), at_end=True)
        rows = [_physical_lines([row[i] for i in places], limits, left) for row in texts]
        widths = [max(map(len, each)) for each in zip(*names, *chain.from_iterable(rows), strict=True)]
        shown += [""] if len(shown) > first_line else []
        shown += [*(_line(line, widths, left) for line in names), "  ".join("-" * width for width in widths)]
        for row, (first, *others) in zip(cells, rows, strict=True):
            shown.append(_line(first, widths, left, [bold and row[i].is_marked for i in places]))
            shown += [_line(line, widths, left) for line in others]
    if table.notes:
        shown += ["", *(line for note in table.notes for line in _note(note, prose, room))]
    return shown


def _fitted(
    header: Sequence[str], texts: Sequence[Sequence[str]], is_text: Sequence[bool], labels: int, room: int | None
) -> Iterator[tuple[list[int], list[int]]]:
    """Yield groups of columns that fit next to each other, with their widths.

    All columns, with narrower texts if needed; otherwise as many as fit, then the next ones below, each time repeating
    the columns that identify a row. Rows are never broken.
    """
    cells = list(zip(*texts, strict=True)) or [()] * len(header)
    widest = [max(map(len, column), default=0) for column in cells]
    for i in (i for i, width in enumerate(widest) if is_text[i] and width > _WIDEST_TEXT):
        limit = _WIDEST_LABEL if i < labels else max(_WIDEST_TEXT, _longest_word(cells[i]))
        widest[i] = min(widest[i], limit)
    natural = [max(len(name), width) for name, width in zip(header, widest, strict=True)]
    if room is None or _together(natural) <= room:
        yield list(range(len(header))), natural
        return
    # Column names may wrap at words; texts only while they stay readable.
    narrow = [
        max(_longest_word([name]), max(min(width, _NARROWEST_TEXT), _longest_word(column)) if text else width)
        for name, column, text, width in zip(header, cells, is_text, widest, strict=True)
    ]
    least = [min(width, room // 2) for width in narrow]
    if _together(least) <= room:
        yield list(range(len(header))), _widest_fit(natural, least, room)
        return
    labels = _repeated(texts, least, labels, room)
    places = list(range(labels))
    for i in range(labels, len(header)):
        places.append(i)
        if i + 1 == len(header) or _together([least[at] for at in (*places, i + 1)]) > room:
            yield places, _widest_fit([natural[at] for at in places], [least[at] for at in places], room)
            places = list(range(labels))


def _repeated(texts: Sequence[Sequence[str]], least: Sequence[int], labels: int, room: int) -> int:
    """Return the number of leading columns that each piece of a table repeats: those that identify rows, if the others
    fit next to them, and further labels while all take at most a third of the width."""
    telling = next((n for n in range(1, len(least)) if len({tuple(row[:n]) for row in texts}) == len(texts)), 0)
    if _together([*least[:telling], max(least[telling:])]) > room:
        telling = 0
    while labels > max(1, telling) and _together(least[:labels]) > room // 3:
        labels -= 1
    return max(labels, telling)


def _widest_fit(natural: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Cut column widths to the highest common limit at which they fit, but not below ``least``."""
    for limit in range(_WIDEST_LABEL, 0, -1):
        widths = [min(width, max(limit, floor)) for width, floor in zip(natural, least, strict=True)]
        if _together(widths) <= room:
            return widths
    return list(least)


def _together(widths: Sequence[int]) -> int:
    return sum(widths) + 2 * (len(widths) - 1)


def _longest_word(texts: Iterable[str]) -> int:
    return max((len(word) for text in texts for word in text.split()), default=0)


def _physical_lines(
    row: Sequence[str], limits: Sequence[int], is_text: Sequence[bool], at_end: bool = False
) -> Sequence[Sequence[str]]:
    """Split a row with long texts into several lines; short texts are ``at_end`` or at the beginning."""
    if all(len(text) <= limit for text, limit in zip(row, limits, strict=True)):
        return [row]
    pieces = []
    for text, limit, wraps in zip(row, limits, is_text, strict=True):
        lines = _wrapped(text, limit) if wraps else [text]
        # Sentences wrap; long IDs are cut.
        pieces.append([line if not wraps or len(line) <= limit else line[: limit - 3] + "..." for line in lines])
    if not at_end:
        return list(zip_longest(*pieces, fillvalue=""))
    return list(zip_longest(*(piece[::-1] for piece in pieces), fillvalue=""))[::-1]


def _text(cell: Shown, group: Group, has_marks: bool, raised: int) -> str:
    """Format a value with space for its mark and, if the column has any, differences or letters."""
    text = cell.text + ("*" if cell.is_marked else " " if has_marks else "")
    if raised:
        return f"{text} {cell.marks.ljust(raised)}"
    if group.difference is None:
        return text
    return f"{text} {cell.difference or ' ' * len(f'({0.0:+.{group.difference.decimals}f})')}"


def _line(texts: Sequence[str], widths: Sequence[int], is_left: Sequence[bool], bold: Sequence[bool] = ()) -> str:
    columns = zip(texts, widths, is_left, strict=True)
    cells = [text.ljust(width) if left else text.rjust(width) for text, width, left in columns]
    for i, emphasised in enumerate(bold):
        if emphasised:
            value, mark, rest = cells[i].rpartition("*")
            indent = len(value) - len(value.lstrip())
            cells[i] = f"{value[:indent]}{_BOLD}{value[indent:]}{mark}{_PLAIN}{rest}"
    return "  ".join(cells).rstrip()


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    from textwrap import wrap

    return wrap(text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False) or [""]


_NEEDS_QUOTES = re.compile(r'[",\r\n]')
_CELL_IN_TITLE = re.compile(r",(?=[=+\-@])")


def write_csv(page: Page, out: TextIO) -> None:
    """Write the tables, separated by empty lines; several tables have titles (``# title``), and the full conventions
    come first. Other notes are left out."""
    tables = list(page.titled_tables)
    out.writelines(f"# {plain(note.whole)}\n" for note in page.notes if isinstance(note, Conventions))
    for i, (title, table) in enumerate(tables):
        out.write("\n" if i else "")
        if title and len(tables) > 1:
            # A comma starts a cell; the blank keeps it from being a formula.
            out.write(f"# {_CELL_IN_TITLE.sub(', ', plain(title))}\n")
        out.write(_csv_line(_quoted(column.name) for column in table.columns))
        by_column = zip(*table.rows, strict=True)
        fields = [_fields(column, cells) for column, cells in zip(table.columns, by_column, strict=False)]
        out.writelines(map(_csv_line, zip(*fields, strict=True)))


def _fields(column: Column, cells: Iterable[Cell]) -> list[str]:
    # Numbers are the most frequent cells of long tables: format them without further checks.
    is_number = column.kind == "number"
    return [
        repr(cell) if is_number and type(cell) is float and not math.isnan(cell) else _field(exact(cell, column))
        for cell in cells
    ]


def _csv_line(fields: Iterable[str]) -> str:
    # Quote a single empty field, because empty lines separate tables.
    return (",".join(fields) or '""') + "\n"


def _field(cell: Cell) -> str:
    if isinstance(cell, bool):
        return str(cell).lower()
    return "" if cell is None else _quoted(cell) if isinstance(cell, str) else repr(cell)


def _quoted(text: str) -> str:
    text = as_cell(text)
    return '"' + text.replace('"', '""') + '"' if _NEEDS_QUOTES.search(text) else text


def write_jsonl(page: Page, out: TextIO) -> None:
    """Write the header, then scores, rows (with their table's title) and paragraphs in order, then notes, and last the
    number of lines, so that incomplete files are recognised."""
    from importlib.metadata import version
    from json import dumps

    # Loaded modules know their version, which is faster to read.
    loaded = {name: getattr(sys.modules.get(name), "__version__", None) for name in ("numpy", "scipy")}
    libraries = {name: known or version(name) for name, known in loaded.items()}
    about = {} if page.scores is not None else {"command": page.command}
    notes = page.notes if page.notes_for_machines is None else page.notes_for_machines
    parts = _part_lines(islice(page.all_parts, 0 if page.scores is None else 1, None))
    lines = chain(
        # Values that take time to compute are functions.
        [dumps({"gainful": __version__, **libraries, **about, **page.header}, default=lambda find: find()) + "\n"],
        _score_objects(page.scores(), page.unit) if page.scores is not None else (),
        (dumps(line) + "\n" for line in (*parts, *({"note": whole_note(note)} for note in notes))),
    )
    write_counted(lines, out)


def write_counted(lines: Iterable[str], out: TextIO) -> None:
    """Write JSON lines, and a last line with their number."""
    count = 0
    for count, line in enumerate(lines, 1):  # noqa: B007 - used after the loop
        out.write(line)
    out.write(f'{{"complete": true, "lines": {count}}}\n')


def _score_objects(scores: Iterable[ScoreLine], unit: str) -> Iterator[str]:
    """Yield one JSON object per score; recurring texts are encoded once, because there may be very many scores."""
    from json import dumps

    encoded = cache(dumps)
    for run, query, measure, _, value, status, difference, beside in scores:
        line = f'{{"run": {encoded(run)}, "{unit}": {dumps(query)}, "measure": {encoded(measure)}, "value": '
        line += float.__repr__(value) if isinstance(value, float) and math.isfinite(value) else dumps(value)
        if status is not None:
            line += f', "status": {encoded(status)}'
        if difference is not None:
            line += f', "difference": {dumps(difference)}'
        if beside:
            line += f", {dumps(beside)[1:-1]}"
        yield line + "}\n"


def _part_lines(parts: Iterable[object]) -> Iterator[Mapping[str, object]]:
    for part in parts:
        if isinstance(part, str):
            yield {"heading" if isinstance(part, Heading) else "text": part}
        elif isinstance(part, Table) and not part.for_people:
            title: dict[str, object] = {"table": part.title} if part.title else {}
            for row in part.rows:
                cells = {each.name: exact(cell, each) for cell, each in zip(row, part.columns, strict=True)}
                # JSON has no infinity: write it as a text.
                infinite = {name: str(cell) for name, cell in cells.items() if cell in (math.inf, -math.inf)}
                yield {**title, **cells, **infinite}
            yield from ({**title, "note": note} for note in part.notes)


#: Characters that would end a field or a line, with their escapes.
_ENDS = str.maketrans({character: character.encode("unicode_escape").decode() for character in "\t\n\v\f\r"})

#: trec_eval's values that exist only for all queries together, such as geometric means.
_OF_ALL = {"num_q", "gm_map", "gm_bpref"}


def write_trec(page: Page, out: TextIO) -> None:
    """Write evaluations run by run as trec_eval prints them; other tables get one line per row and value."""
    if page.scores is None:
        for table in page.tables_for_machines:
            labels = table.labels
            for row in table.rows:
                texts = [_trec_text(cell, column) for cell, column in zip(row, table.columns, strict=True)]
                for i in range(labels, len(row)):
                    if present(row[i]) is not None:
                        out.write(_trec_line(table.columns[i].name, " ".join(texts[:labels]), texts[i]))
        return
    places = {column.name: column.decimals for column in next(page.tables).columns if column.kind != "count"}
    run = None
    for score in page.scores():
        if score.run != run:
            run = score.run
            out.write(_trec_line("runid", "all", run))
        # Queries that the policy leaves out have no value.
        name = score.trec_name()
        if score.value is not None and (name not in _OF_ALL or score.query is None):
            is_count = score.measure not in places
            text = str(score.value) if is_count else f"{score.value:6.{places[score.measure]}f}"
            out.write(_trec_line(name, "all" if score.query is None else score.query, text))


def _trec_text(cell: Cell, column: Column) -> str:
    cell = present(cell)
    if cell is None:
        return column.none
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, str) or column.kind in ("text", "exact"):
        return str(cell)
    # Shares stay fractions, with the precision that people see.
    places = max(4, column.decimals + 2) if column.kind == "share" else column.decimals
    return f"{cell:.{places}f}"


def _trec_line(*fields: str) -> str:
    name, query, value = (text if text.isprintable() else text.translate(_ENDS) for text in fields)
    return f"{name:<22}\t{query}\t{value}\n"
