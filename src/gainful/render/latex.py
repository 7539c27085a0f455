"""LaTeX: tables in the style of booktabs, the best in bold; everything that is not a table is a comment."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TextIO

from gainful.render.charts import Chart
from gainful.render.page import Showable, Table
from gainful.render.shown import Group, Paragraph, Shown, explained, groups, plain, shown_rows

#: A hyphen that is a minus sign.
_MINUS = re.compile(r"(?<!\S)-(?=\d)")

#: Letters and signs that no text font of LaTeX has, each with its command; other Greek capitals look as Latin ones.
_SIGNS = """
α alpha β beta γ gamma δ delta ε epsilon ζ zeta η eta θ theta ι iota κ kappa λ lambda μ mu ν nu ξ xi π pi ρ rho
ς varsigma σ sigma τ tau υ upsilon φ phi χ chi ψ psi ω omega
Γ Gamma Δ Delta Θ Theta Λ Lambda Ξ Xi Π Pi Σ Sigma Υ Upsilon Φ Phi Ψ Psi Ω Omega
µ mu × times ± pm · cdot ≤ leq ≥ geq ≠ neq ≈ approx ∞ infty ∈ in ∑ sum √ surd
→ rightarrow ← leftarrow ↑ uparrow ↓ downarrow † dagger ‡ ddagger
"""

#: Punctuation that older LaTeX does not know as a character.
_PUNCTUATION = {"–": "--", "—": "---", "…": r"\ldots{}", "−": "$-$", "′": "$'$", "″": "$''$", "ο": "o"}

#: What would be a command, a line break's argument, a ligature or another glyph.
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


def write(content: Showable, out: TextIO) -> None:
    """The tables one after the other; titles, paragraphs and notes as comments."""
    page = content.page()
    blocks = [
        map(_comment, Paragraph.of(part).lines)
        if isinstance(part, str)
        else _table(part)
        if isinstance(part, Table)
        else _figure(part)
        for part in page.parts_for_people
    ]
    notes = [map(_comment, page.notes)] if page.notes else []
    texts = ["\n".join(block) for block in [*blocks, *notes]]
    # An empty line ends a paragraph: tables come below each other.
    out.write("\n".join([r"% \usepackage{booktabs}", "\n\n".join(texts), ""]))


def _table(table: Table) -> Iterator[str]:
    columns = groups(table)
    if table.title:
        yield _comment(table.title)
    yield rf"\begin{{tabular}}{{@{{}}{''.join(map(_alignment, columns))}@{{}}}}"
    yield r"\toprule"
    yield _row([_header(group) for group in columns])
    yield r"\midrule"
    for row in shown_rows(table, columns):
        yield _row([_cell(cell, group) for cell, group in zip(row, columns, strict=True)])
    yield r"\bottomrule"
    yield r"\end{tabular}"
    yield from map(_comment, table.notes)


def _figure(chart: Chart) -> Iterator[str]:
    """Where a figure belongs, and how to have it: text drawings are not for papers."""
    yield _comment(f"figure: {chart.title}" if chart.title else "figure")
    yield _comment(r"\includegraphics{figure.pdf}, drawn with --figure figure.pdf, of papers with --out")


def _alignment(group: Group) -> str:
    if group.has_marks:
        return "r@{}l"
    return "l" if group.is_text else "r" if group.difference is None else "r@{ }r"


def _header(group: Group) -> str:
    name = _escaped(group.column.name)
    is_wide = group.difference is not None or group.has_marks
    return rf"\multicolumn{{2}}{{r}}{{{name}}}" if is_wide else name


def _row(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _cell(cell: Shown, group: Group) -> str:
    text = _text(cell.text) if group.is_text else _number(cell.text)
    bold = rf"\textbf{{{text}}}" if cell.is_marked else text
    if group.has_marks:
        return f"{bold} & {_raised(cell.marks)}".rstrip()
    return bold if group.difference is None else f"{bold} & {_number(cell.difference)}"


def _text(text: str) -> str:
    """A text, a dash where there is none: the same one as for numbers."""
    return "--" if text == "-" else _MINUS.sub("$-$", _escaped(text))


def _raised(marks: str) -> str:
    """Letters and daggers as papers have them."""
    daggers = {"†": r"\dagger", "‡": r"\ddagger"}
    inside = "".join(daggers.get(mark, rf"\mathrm{{{_escaped(mark)}}}") for mark in marks)
    return f"$^{{{inside}}}$" if marks else ""


def _number(text: str) -> str:
    """A number with a minus sign in place of the hyphen, a dash where there is none."""
    return "--" if text == "-" else _escaped(text).replace("-", "$-$")


def _escaped(text: str) -> str:
    return plain(text).replace("--", "-\0-").translate(_ESCAPES).replace("\0", "{}")


def _comment(text: str) -> str:
    return f"% {plain(explained(text, 'bold'))}"
