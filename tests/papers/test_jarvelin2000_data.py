"""jarvelin2000 on real collections, against plain Python that reads the files itself."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from gainful import Policy, Qrels
from gainful.data.judged import Judged
from gainful.pages.charts import Plot
from gainful.pages.page import Page, Table
from gainful.render import save as render_save
from gainful_papers.claims import Study
from gainful_papers.jarvelin2000 import study

from .real_collections import judgments, qrels_path, ranked, run_paths, runs

#: The grades above 0.
LEVELS = {"robust2005": (1, 2), "trec-covid/round1": (1, 2), "dl-hard/passage": (1, 2, 3)}


class Real(NamedTuple):
    """A collection, what the study found there, and the same read by the test: documents in their order."""

    found: Study
    levels: tuple[int, ...]
    qrels: dict[str, dict[str, int]]
    runs: dict[str, dict[str, list[str]]]

    def average_precision(self, run: str, level: int) -> list[float]:
        """Of the queries with a document of the level, in order."""
        scores = []
        for query in sorted(self.qrels):
            relevant = {document for document, grade in self.qrels[query].items() if grade == level}
            if not relevant:
                continue
            hits, total = 0, 0.0
            for rank, document in enumerate(self.runs[run].get(query, []), 1):
                if document in relevant:
                    hits += 1
                    total += hits / rank
            scores.append(total / len(relevant))
        return scores

    def mean_gain(self, run: str, rank: int, base: float | None) -> float:
        """The average (D)CG at a rank, when only the highest level counts; of no run the ideal's."""
        totals = []
        for query, grades in self.qrels.items():
            top = self.levels[-1]
            if run:
                gains = [top * (grades.get(document, 0) == top) for document in self.runs[run].get(query, [])[:rank]]
            else:
                gains = [top] * min(rank, sum(grade == top for grade in grades.values()))
            divisors = [1.0 if j == 1 or base is None else math.log(j) / math.log(base) for j in range(1, rank + 1)]
            totals.append(math.fsum(gain / divisor for gain, divisor in zip(gains, divisors, strict=False)))
        return math.fsum(totals) / len(totals)


@pytest.fixture(scope="module")
def real(shared_data: Path) -> Callable[[str], Real]:
    """A collection by its name; some of its runs are read by the test."""

    @cache
    def get(name: str) -> Real:
        paths = run_paths(name)
        assert paths
        some = {run: ranked(path) for run, path in list(paths.items())[:: max(1, len(paths) // 4)]}
        judged = Judged(Qrels.read(qrels_path(name)), Policy())
        return Real(study(judged, runs(name)), LEVELS[name], judgments(name), some)

    return get


each_collection = pytest.mark.parametrize("name", LEVELS)


@each_collection
def test_average_precision_by_level(real: Any, reading: Any, name: str) -> None:
    collection = real(name)
    rows = {
        (row["run"], row["grade"]): row["AvP"]
        for row in reading.rows(collection.found, "Table 1", "AvP by run and level")
    }
    for run in collection.runs:
        for level in collection.levels:
            scores = collection.average_precision(run, level)
            assert rows[run, str(level)] == pytest.approx(math.fsum(scores) / len(scores), abs=1e-12)


@each_collection
@pytest.mark.parametrize(
    ("figure", "rank", "base"),
    [
        ("Figure 2", 100, None),
        ("Figure 3", 50, 2.0),
    ],
)
def test_gain_of_the_highest_level(
    real: Any, reading: Any, name: str, figure: str, rank: int, base: float | None
) -> None:
    collection = real(name)
    top = f"gain={'0-' * collection.levels[-1]}{collection.levels[-1]}"
    values = {
        row["run"]: row["value"]
        for row in reading.rows(collection.found, figure, "Average gain by rank")
        if top in str(row["measure"]) and row["rank"] == rank
    }
    assert values["(ideal)"] == pytest.approx(collection.mean_gain("", rank, base))
    for run in collection.runs:
        assert values[run] == pytest.approx(collection.mean_gain(run, rank, base), abs=1e-9)


@pytest.mark.parametrize("name", ["robust2005", "dl-hard/passage"])  # many runs, many levels
def test_figures_can_be_drawn(real: Any, name: str, tmp_path: Path) -> None:
    collection = real(name)
    for section in collection.found.sections:
        if any(isinstance(part, Plot) for part in section.parts):
            render_save(Page("papers", section.parts), tmp_path / f"{section.file_name}.svg")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["figure-1.svg", "figure-2.svg", "figure-3.svg"]


def test_many_runs_have_counts_of_pairs_few_have_names(real: Any, reading: Any) -> None:
    many, few = (
        next(
            part
            for part in reading.section(real(name).found, "Table 1").parts
            if isinstance(part, Table) and "Fried" in part.title
        )
        for name in ("robust2005", "dl-hard/passage")
    )
    assert [column.for_machines for column in (many.columns[-1], few.columns[-1])] == [True, False]
    assert all(" > " in str(row[-1]) for row in many.rows)
