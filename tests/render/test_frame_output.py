"""Tables of results as data frames: the main table, or one by title, with typed columns."""

from __future__ import annotations

import polars
import pyarrow
import pytest

from gainful import ScoreMatrix, UsageError, compare
from gainful.pages.page import Column, Heading, Table
from gainful.render import Page

FIRST = Table(
    (Column("run"), Column("documents", "count"), Column("share", "share"), Column("sorted")),
    (("one\udcff", 3, 0.5, True), ("two", None, float("nan"), False)),
    title="Runs",
)
SECOND = Table((Column("query"), Column("AP", "number")), (("q1", 1), ("q2", 0.25)), title="Queries")
PEOPLE = Table((Column("remark"),), (("all is well",),), title="Remarks", for_people=True)
PAGE = Page("check", (PEOPLE, FIRST, Heading("More"), SECOND))


def test_the_first_table_for_machines_with_the_types_of_its_values() -> None:
    assert PAGE.to_polars().to_dict(as_series=False) == {
        "run": [r"one\xff", "two"],
        "documents": [3, None],
        "share": [0.5, None],
        "sorted": [True, False],
    }
    assert PAGE.to_polars().dtypes == [polars.String, polars.Int64, polars.Float64, polars.Boolean]
    assert [str(field.type) for field in PAGE.to_arrow().schema] == ["string", "int64", "double", "bool"]
    frame = PAGE.to_pandas()
    assert [str(frame[name].dtype) for name in ("documents", "share", "sorted")] == ["float64", "float64", "bool"]
    assert pyarrow.table(PAGE).to_pydict() == PAGE.to_arrow().to_pydict()


def test_a_table_by_its_title() -> None:
    assert PAGE.to_arrow("More: Queries").to_pydict() == {"query": ["q1", "q2"], "AP": [1.0, 0.25]}
    with pytest.raises(UsageError, match=r"no table 'Querys'; tables are: Runs \| More: Queries"):
        PAGE.to_arrow("Querys")
    with pytest.raises(UsageError, match="a frame needs a result with a table"):
        Page("check", ("Nothing.", PEOPLE)).to_pandas()


def test_a_table_without_rows_keeps_its_columns() -> None:
    empty = Page("check", (Table(FIRST.columns[:3], ()),))
    assert empty.to_polars().schema == {"run": polars.String, "documents": polars.Int64, "share": polars.Float64}


def test_a_comparison_gives_its_pairs_and_its_queries() -> None:
    found = compare(ScoreMatrix.of("P@5", {"old": [0.2, 0.4, 0.4, 0.2], "new": [0.6, 0.4, 0.8, 0.4]}))
    frame = found.to_pandas()
    [row] = frame.to_dict("records")
    assert (row["system"], row["baseline"], row["wins"], row["enumerated"]) == ("new", "old", 3, True)
    assert found.to_pandas("queries")["difference"].tolist() == pytest.approx([0.4, 0.0, 0.4, 0.2])
    several = compare(ScoreMatrix.of("P@5", {name: [0.1 * i, 0.2, 0.3] for i, name in enumerate("abc")}), draws=99)
    assert several.to_pandas().columns[:3].tolist() == ["measure", "system", "mean"]
    assert len(several.to_pandas("pairs")) == 3
