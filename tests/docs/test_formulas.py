"""Typeset formulas equal their text."""

from __future__ import annotations

import importlib.util
import re
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import pytest

from gainful.measures.catalog import ALL_MEASURES

DOCS = Path(__file__).parents[2] / "docs"
spec = importlib.util.spec_from_file_location("formulas", DOCS / "formulas.py")
assert spec is not None and spec.loader is not None
formulas = importlib.util.module_from_spec(spec)
spec.loader.exec_module(formulas)


def of(measure: str) -> str:
    page = (DOCS / "reference" / "measures" / f"{measure}.md").read_text(encoding="utf-8")
    return page.partition("## Formula\n")[2].partition("```text\n")[2].partition("```")[0]


def letters(text: str) -> str:
    """Letters and digits in their order, without the words that signs replace."""
    for letter, name in (("α", "alpha"), ("β", "beta"), ("γ", "gamma")):
        text = text.replace(letter, name)
    return re.sub(r"\b(sum|over|of|divided|by|sqrt)\b|\W|_", "", text)


@pytest.mark.parametrize("measure", ALL_MEASURES)
def test_nothing_is_lost_or_moved(measure: str) -> None:
    shown = unescape(re.sub(r"<[^>]*>", " ", formulas.typeset(of(measure))))
    assert letters(shown) == letters(of(measure))


def written(element: ElementTree.Element) -> str:
    """The text of an element; operands of fractions, powers, sums and roots are separated."""
    inner = [written(child) + (child.tail or "") for child in element]
    if element.tag in ("mfrac", "msup", "munder", "msqrt"):
        return f"<{element.tag}>{';'.join(inner)}</{element.tag}>"
    return (element.text or "") + "".join(inner)


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("P = a b / k", "P=<mfrac>a b;k</mfrac>"),
        ("x = (a + b) / (2 c)", "x=<mfrac>a+b;2 c</mfrac>"),
        ("x = a / b * c", "x=<mfrac>a;b</mfrac>·c"),
        ("x = 1/i * c^(i - 1)", "x=<mfrac>1;i</mfrac>·<msup>c;i−1</msup>"),
        (
            "x = sum over ranks i of hits of p^i / 2",
            "x=<munder>∑;ranks i of hits</munder> <mfrac><msup>p;i</msup>;2</mfrac>",
        ),
        ("x = a + b, divided by the sum of c", "x=<mfrac>a+b;the sum of c</mfrac>"),
        ("x = (1 - a)^2 sqrt(b)", "x=<msup>(1−a);2</msup> <msqrt>b</msqrt>"),
        ("x = documents with s >= .5 / n", "x=<mfrac>documents with s≥.5;n</mfrac>"),
    ],
)
def test_shapes(text: str, shape: str) -> None:
    math = re.sub(r"<mspace[^>]*>", " ", formulas.typeset(text))
    assert written(ElementTree.fromstring(math)) == shape
