"""jarvelin2000 on real collections: figures of many runs and of many levels."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from gainful import Policy, Qrels
from gainful.data.judged import Judged
from gainful.pages.charts import Plot
from gainful.pages.page import Page, Table
from gainful.render import save as render_save
from gainful_papers.claims import Study
from gainful_papers.jarvelin2000 import study

from .real_collections import SHARED_DATA, qrels_path, runs

pytestmark = pytest.mark.skipif(not SHARED_DATA.is_dir(), reason="no real collections beside the checkout")


@cache
def found(name: str) -> Study:
    return study(Judged(Qrels.read(qrels_path(name)), Policy()), runs(name))


@pytest.mark.parametrize("name", ["robust2005", "dl-hard/passage"])  # many runs, many levels
def test_figures_can_be_drawn(name: str, tmp_path: Path) -> None:
    for section in found(name).sections:
        if any(isinstance(part, Plot) for part in section.parts):
            render_save(Page("papers", section.parts), tmp_path / f"{section.file_name}.svg")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["figure-1.svg", "figure-2.svg", "figure-3.svg"]


def test_many_runs_have_counts_of_pairs_few_have_names(reading: Any) -> None:
    many, few = (
        next(
            part
            for part in reading.section(found(name), "Table 1").parts
            if isinstance(part, Table) and "Fried" in part.title
        )
        for name in ("robust2005", "dl-hard/passage")
    )
    assert [column.for_machines for column in (many.columns[-1], few.columns[-1])] == [True, False]
    assert all(" > " in str(row[-1]) for row in many.rows)
