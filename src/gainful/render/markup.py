"""Pages as Markdown (GitHub's tables), HTML (a page, or a fragment for notebooks) and LaTeX.

The best values are bold. LaTeX output has booktabs tables, inside `table` environments if a caption or label is given;
everything else becomes a comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from itertools import count
from typing import TextIO

from gainful.pages.charts import Chart, system_numbers
from gainful.pages.page import Heading, Page, Table
from gainful.render.cells import Group, Paragraph, Shown, as_code, explained, groups, plain, shown_rows
from gainful.render.chart_text import chart_lines
from gainful.render.figure import CHART_STYLE, chart_html

_SPECIAL = re.compile(r"([\\`*_\[\]<>|~&$])")


def write_markdown(page: Page, out: TextIO) -> None:
    """Write titles as headings, then tables, paragraphs and notes."""
    numbers = system_numbers(page.charts)
    blocks = page.drawn(_markdown_paragraph, _markdown_table, lambda chart: _fenced(chart_lines(chart, numbers)))
    out.write("\n\n".join([*blocks, *map(_markdown_note, page.notes)]) + "\n")


def _markdown_table(table: Table) -> str:
    columns = groups(table)
    rows = [[escaped(group.column.name) for group in columns]]
    for row in shown_rows(table, columns):
        rows.append([])
        for cell in row:
            text = escaped(cell.text)
            bold = f"**{text}**" if cell.is_marked and text else text
            marks = f" <sup>{escaped(cell.marks)}</sup>" if cell.marks else ""
            rows[-1].append(f"{bold} {cell.difference}".rstrip() + marks)
    for i, group in enumerate(columns):
        width = max(3, *(len(row[i]) for row in rows))
        for texts in rows:
            texts[i] = texts[i].ljust(width) if group.is_text else texts[i].rjust(width)
    ends = ["-" if group.is_text else ":" for group in columns]
    rule = ["-" * (len(name) - 1) + end for name, end in zip(rows[0], ends, strict=True)]
    lines = "\n".join(f"| {' | '.join(row)} |" for row in (rows[0], rule, *rows[1:]))
    title = [f"### {escaped(table.title)}"] if table.title else []
    return "\n\n".join([*title, lines, *map(_markdown_note, table.notes)])


def _markdown_paragraph(text: str) -> str:
    if isinstance(text, Heading):
        return f"## {escaped(text)}"
    lines, is_verbatim = Paragraph.of(text)
    return _fenced([line[4:] for line in lines]) if is_verbatim else "\n".join(map(escaped, lines))


def _fenced(lines: list[str]) -> str:
    if not lines:
        return ""
    # The fence must be longer than any backticks in names.
    longest = max((len(ticks) for line in lines for ticks in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([f"{fence}text", *lines, fence])


def _markdown_note(note: str) -> str:
    pieces = as_code(explained(note, "bold"))
    return " ".join(f"`{plain(piece)}`" if code and "`" not in piece else escaped(piece) for piece, code in pieces)


def escaped(text: str) -> str:
    """Escape Markdown's special characters."""
    return _SPECIAL.sub(r"\\\1", plain(text))


_PAGE_STYLE = """\
:root { color-scheme: light dark; }
body { margin: 2rem auto; max-width: 72rem; padding: 0 1rem; background: Canvas; color: CanvasText; }
"""

#: Colours derive from the text colour, so that light and dark pages both work.
_STYLE = """\
.gainful { font: 15px/1.5 system-ui, sans-serif; overflow-x: auto; }
.gainful table { border-collapse: collapse; margin: 1rem 0; border-block: 2px solid; }
.gainful table { font-variant-numeric: tabular-nums; }
.gainful caption { text-align: left; font-weight: 600; padding-bottom: .4rem; white-space: nowrap; }
.gainful th, .gainful td { padding: .2rem .8rem; text-align: left; vertical-align: baseline; border: 0; }
.gainful th:first-child, .gainful td:first-child { padding-left: .2rem; }
.gainful thead th { border-bottom: 1px solid; font-weight: 600; }
.gainful tbody th { font-weight: inherit; }
.gainful tbody tr:nth-child(n) { background: none; }
.gainful tbody tr:hover { background: color-mix(in srgb, currentColor 8%, transparent); }
.gainful .number { text-align: right; white-space: nowrap; }
.gainful .marked { font-weight: 700; }
.gainful .difference { display: inline-block; min-width: 5.5em; opacity: .7; font-weight: 400; }
.gainful .note { font-size: .8em; opacity: .7; margin: .3rem 0; overflow-wrap: anywhere; }
"""


def write_html(page: Page, out: TextIO) -> None:
    """Write a self-contained page with its charts."""
    out.write(
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>gainful {escape(plain(page.command))}</title>\n"
        f"<style>\n{_PAGE_STYLE}{_STYLE}{CHART_STYLE}</style>\n</head>\n"
        f'<body class="gainful">\n{_body(page)}</body>\n</html>\n'
    )


def fragment(page: Page) -> str:
    """Return the part of a page that notebooks show, with its style."""
    return f'<div class="gainful">\n<style>\n{_STYLE}{CHART_STYLE}</style>\n{_body(page)}</div>\n'


def _body(page: Page) -> str:
    systems = tuple(system_numbers(page.charts))
    blocks = page.drawn(_html_paragraph, html_table, lambda chart: chart_html(chart, systems))
    return "".join(f"{block}\n" for block in [*blocks, *map(_html_note, page.notes)])


def _html_paragraph(text: str) -> str:
    if isinstance(text, Heading):
        return f"<h2>{escape(plain(text))}</h2>"
    lines, is_verbatim = Paragraph.of(text)
    if is_verbatim:
        return "<pre>" + "\n".join(escape(line[4:]) for line in lines) + "</pre>"
    return "<p>" + "<br>\n".join(map(escape, lines)) + "</p>"


def html_table(table: Table) -> str:
    """Return a table with its title above and its notes below."""
    columns = groups(table)
    title = f"<caption>{escape(plain(table.title))}</caption>\n" if table.title else ""
    kinds = ["" if group.is_text else ' class="number"' for group in columns]
    names = (escape(plain(group.column.name)) for group in columns)
    header = "".join(f'<th scope="col"{kind}>{name}</th>' for kind, name in zip(kinds, names, strict=True))
    rows = []
    for row in shown_rows(table, columns):
        cells = ""
        for cell, group, kind in zip(row, columns, kinds, strict=True):
            marked = kind if not cell.is_marked else f' class="{"" if group.is_text else "number "}marked"'
            beside = "" if group.difference is None else f' <span class="difference">{escape(cell.difference)}</span>'
            beside += f"<sup>{escape(cell.marks)}</sup>" if cell.marks else ""
            tag, scope = ("td", "") if group.place or not group.is_text else ("th", ' scope="row"')
            cells += f"<{tag}{scope}{marked}>{escape(cell.text)}{beside}</{tag}>"
        rows.append(f"<tr>{cells}</tr>\n")
    body = f"<table>\n{title}<thead>\n<tr>{header}</tr>\n</thead>\n<tbody>\n{''.join(rows)}</tbody>\n</table>"
    return "\n".join([body, *map(_html_note, table.notes)])


def _html_note(note: str) -> str:
    pieces = [(escape(plain(piece)), code) for piece, code in as_code(explained(note, "bold"))]
    return f'<p class="note">{" ".join(f"<code>{text}</code>" if code else text for text, code in pieces)}</p>'


#: A hyphen that is a minus sign.
_MINUS = re.compile(r"(?<![^\s(])-(?=\d)")

#: A number with a power of ten.
_POWER = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)e([+-]\d+)(?![\w.])")


#: Letters and signs missing from LaTeX text fonts, with their commands; other Greek capitals look like Latin ones.
_SIGNS = """
α alpha β beta γ gamma δ delta ε epsilon ζ zeta η eta θ theta ι iota κ kappa λ lambda μ mu ν nu ξ xi π pi ρ rho
ς varsigma σ sigma τ tau υ upsilon φ phi χ chi ψ psi ω omega
Γ Gamma Δ Delta Θ Theta Λ Lambda Ξ Xi Π Pi Σ Sigma Υ Upsilon Φ Phi Ψ Psi Ω Omega
µ mu × times ± pm · cdot ≤ leq ≥ geq ≠ neq ≈ approx ∞ infty ∈ in ∑ sum √ surd
→ rightarrow ← leftarrow ↑ uparrow ↓ downarrow † dagger ‡ ddagger
"""

#: Punctuation that older LaTeX versions do not read.
_PUNCTUATION = {"–": "--", "—": "---", "…": r"\ldots{}", "−": "$-$", "′": "$'$", "″": "$''$", "ο": "o"}

#: Characters that LaTeX would read as commands, arguments of line breaks, ligatures or other glyphs.
_ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "[": "{[}",
        "]": "{]}",
        "*": "{*}",
        "`": r"\textasciigrave{}",
        **{character: f"\\{character}" for character in "&%$#_{}"},
        **{sign: rf"$\{name}$" for sign, name in zip(_SIGNS.split()[::2], _SIGNS.split()[1::2], strict=True)},
        **_PUNCTUATION,
    }
)


#: Estimated widths in points: the text column of a two-column paper, a letter, and the space between table columns.
_COLUMN, _LETTER, _BETWEEN = 240.0, 5.0, 12.0


def write_latex(page: Page, out: TextIO) -> None:
    """Write the tables in order, with titles, paragraphs and notes as comments."""
    numbers = count()

    def chart_comment(chart: Chart) -> Iterator[str]:
        """Yield comments on where a figure belongs and how to make it."""
        yield _comment(f"figure: {chart.title}" if chart.title else "figure")
        yield _comment(r"\includegraphics{figure.pdf}, made with --figure figure.pdf (papers: --out)")

    blocks = page.drawn(
        lambda text: map(_comment, Paragraph.of(text).lines),
        lambda table: _latex_table(page, table, next(numbers)),
        chart_comment,
    )
    notes = [map(_comment, page.notes)] if page.notes else []
    texts = ["\n".join(block) for block in [*blocks, *notes]]
    packages = "booktabs,graphicx" if any(r"\resizebox" in text for text in texts) else "booktabs"
    # An empty line ends a paragraph: tables come below each other.
    out.write("\n".join([rf"% \usepackage{{{packages}}}", "\n\n".join(texts), ""]))


def _latex_table(page: Page, table: Table, number: int) -> Iterator[str]:
    """Yield a tabular, or a table environment if a caption or label is given; wide tables are scaled to fit."""
    columns = groups(table)
    rows = shown_rows(table, columns)
    lines = list(_tabular(columns, rows))
    # Estimate the width, which only TeX knows exactly.
    letters = [
        max(len(group.column.name), *(len(row[i].text + row[i].difference + row[i].marks) for row in rows), 0)
        for i, group in enumerate(columns)
    ]
    if sum(letters) * _LETTER + (len(columns) - 1) * _BETWEEN > _COLUMN:
        fits = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
        lines = [fits, *lines[:-1], lines[-1] + "}"]
    if page.caption is None and page.label is None:
        title = [_comment(table.title)] if table.title else []
        yield from [*title, *lines, *map(_comment, table.notes)]
        return
    yield r"\begin{table}"
    yield r"\centering"
    caption = table.title if number or page.caption is None else page.caption
    if caption:
        yield rf"\caption{{{_escaped(caption) if caption is not page.caption else caption}}}"
    if page.label is not None:
        yield rf"\label{{{page.label}{f'-{number + 1}' if number else ''}}}"
    yield from lines
    if table.notes:
        yield r"\par\smallskip\footnotesize"
        yield " \\\\\n".join(_text(explained(note, "bold")) for note in table.notes)
    yield r"\end{table}"


def _tabular(columns: list[Group], rows: list[tuple[Shown, ...]]) -> Iterator[str]:
    """Yield the lines of a table; differences and marks have narrow columns of their own."""
    kinds, names = [], []
    for each in columns:
        kind = "r@{}l" if each.has_marks else "l" if each.is_text else "r" if each.difference is None else "r@{ }r"
        name = _escaped(each.column.name)
        kinds.append(kind)
        names.append(name if len(kind) == 1 else rf"\multicolumn{{2}}{{r}}{{{name}}}")
    yield rf"\begin{{tabular}}{{@{{}}{''.join(kinds)}@{{}}}}"
    yield r"\toprule"
    yield " & ".join(names) + r" \\"
    yield r"\midrule"
    for row in rows:
        cells = []
        for cell, group in zip(row, columns, strict=True):
            text = _text(cell.text)
            bold = rf"\textbf{{{text}}}" if cell.is_marked else text
            if group.has_marks:
                bold = f"{bold} & {_raised(cell.marks)}".rstrip()
            elif group.difference is not None:
                bold = f"{bold} & {_text(cell.difference)}"
            cells.append(bold)
        yield " & ".join(cells) + r" \\"
    yield r"\bottomrule"
    yield r"\end{tabular}"


def _text(text: str) -> str:
    """Format a text or number with minus signs, or a dash if missing."""
    if text == "-":
        return "--"
    powers = _POWER.sub(lambda found: rf"${found[1]}\times10^{{{int(found[2])}}}$", _escaped(text))
    return _MINUS.sub("$-$", powers)


def _raised(marks: str) -> str:
    daggers = {"†": r"\dagger", "‡": r"\ddagger"}
    inside = "".join(daggers.get(mark, rf"\mathrm{{{_escaped(mark)}}}") for mark in marks)
    return f"$^{{{inside}}}$" if marks else ""


def _escaped(text: str) -> str:
    return plain(text).replace("--", "-\0-").translate(_ESCAPES).replace("\0", "{}")


def _comment(text: str) -> str:
    return f"% {plain(explained(text, 'bold'))}"
