"""Headings of a page in every format that has them."""

from __future__ import annotations

import json

from gainful.pages.page import Column, Heading, Page, Table
from gainful.render import text as render_text

TABLE = Table((Column("run"), Column("AP", "number")), (("a", 0.5),), "Means")
PAGE = Page("demo", ("first", Heading("Table 2 & more"), "below", TABLE, Heading("Next"), TABLE))


def test_text_underlines_them() -> None:
    assert "\n\nTable 2 & more\n==============\n\nbelow\n\nMeans\n" in render_text(PAGE)


def test_markdown_html_and_latex() -> None:
    assert "\n\n## Table 2 \\& more\n\nbelow\n\n### Means\n" in render_text(PAGE, "markdown")
    assert "<h2>Table 2 &amp; more</h2>\n<p>below</p>" in render_text(PAGE, "html")
    assert "% Table 2 & more" in render_text(PAGE, "latex")


def test_tables_of_machines_say_what_they_stand_under() -> None:
    assert render_text(PAGE, "csv") == "# Table 2 & more: Means\nrun,AP\na,0.5\n\n# Next: Means\nrun,AP\na,0.5\n"
    lines = [json.loads(line) for line in render_text(PAGE, "jsonl").splitlines()]
    assert [line["heading"] for line in lines if "heading" in line] == ["Table 2 & more", "Next"]
    assert [line["text"] for line in lines if "text" in line] == ["first", "below"]
