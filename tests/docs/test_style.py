"""Phrases that make prose hard to read, in pages, docstrings, comments and messages."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

#: What to write instead, and the phrases. A page or message with one of them was translated, not written.
FORBIDDEN = {
    "also, or nothing": r", too(?=[.,;:)]|$)",
    "and above; for ranks of at least": r"\bfrom (?:rank|grade|level|item) [\w.{}]+ on\b",
    "95%, without a blank; %": r"\d %(?![\w(<{-])|\bper cent\b",
    "if and only if": r"\bjust if\b",
    "state the fact": r"\bsaid aloud\b|\b(?:a|the|which a) note says\b|\b(?:says|said) so[.;,]|\bto be told apart\b",
    "per": r"\b(?:one|a) (?:line|row|file|value|panel) an? (?:query|run|system|value|line|file|measure|session)\b"
    r"|\bdocuments a (?:query|list|run)\b",
    "difference from, difference between": r"\b(?<!no )differences? to (?:the |a |an )?(?:baseline|ideal|mean|other)",
    "name the people": r"\bwhoever\b",
    "by default": r"\bunasked\b|\bunless told\b",
    "existing scores": r"\bscores that exist\b",
    "positively dependent": r"\bhang together\b",
    "plateaus": r"\bturns? horizontal\b",
    "based on means": r"\bgoe?s? by (?:the )?means\b",
    "queries that favour": r"\bspeaks? most for\b",
    "best in column": r"\bbest of (?:its|the) column\b",
    "could be best": r"\bmay be the best\b",
    "margin required": r"\bneeds margin\b",
    "non-inferior": r"\bnot inferior\b",
    "simultaneous 95% CI": r"\bsimultaneous intervals? of\b",
    "NumPy arrays, LaTeX commands, output formats": r"\barrays of NumPy\b|\bcommands of LaTeX\b|\bformats of output\b",
    "say what is missing or in conflict": r"\bexpected (?:none|a new)\b[^\n]*, found\b",
}
_OPENING = re.compile(r"(?:What|How|Where|Which|Who|Whose)\b(?!.*\?)")


def prose_of_page(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a Markdown page outside of code."""
    in_code = False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.lstrip().startswith(("```", "~~~")):
            in_code = not in_code
        elif not in_code:
            yield number, re.sub("`[^`]*`", "", line)


def prose_of_source(path: Path) -> Iterator[tuple[int, str]]:
    """The docstrings, comments and texts of a Python file. No docstring may open with a question word."""
    text = path.read_text()
    fragments: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.JoinedStr):
            fragments.update(map(id, node.values))
            yield node.lineno, "".join(str(v.value) if isinstance(v, ast.Constant) else "{}" for v in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in fragments:
            yield from enumerate(node.value.splitlines(), node.lineno)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef) and (docstring := ast.get_docstring(node)):
            assert not _OPENING.match(docstring.splitlines()[0]), f"{path}:{node.lineno}: {docstring.splitlines()[0]}"
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("#: ")


@pytest.mark.parametrize("where", ["pages", "package"])
def test_no_forbidden_phrase(where: str) -> None:
    # The changelog and the table of words in CONTRIBUTING name what is not to be written.
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    sources = [path for name in ("gainful", "gainful_papers") for path in (ROOT / "src" / name).rglob("*.py")]
    found = [
        f"{path.relative_to(ROOT)}:{number}: write '{better}': {line.strip()[:100]}"
        for path in (pages if where == "pages" else sources)
        for number, line in (prose_of_page(path) if where == "pages" else prose_of_source(path))
        for better, phrase in FORBIDDEN.items()
        if re.search(phrase, line)
    ]
    assert not found, "\n".join(found)
