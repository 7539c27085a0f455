"""`gainful papers jarvelin2002` on real collections, beside NumPy and SciPy."""

from __future__ import annotations

import gzip
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from gainful import Policy, Qrels
from gainful.data.judged import Judged
from gainful.papers.jarvelin2002 import study
from gainful.papers.sections import Section
from gainful.render.page import Page

SHARED_DATA = Path(__file__).parents[2].parent / "shared" / "data"
COLLECTIONS = {
    "robust2005": ("robust2005/qrels.robust2005.txt", "robust2005/runs/*.gz"),
    "trec-covid/round1": ("trec-covid/round1/qrels.covid-round1.txt", "trec-covid/round1/runs/*.gz"),
    "dl-hard/passage": ("dl-hard/dl_hard-passage.qrels", "dl-hard/passage/*.run.gz"),
}
pytestmark = pytest.mark.skipif(not SHARED_DATA.is_dir(), reason="no real collections beside the checkout")


def paths(name: str) -> tuple[Path, dict[str, Path]]:
    qrels, runs = COLLECTIONS[name]
    return SHARED_DATA / qrels, {path.name.removesuffix(".gz"): path for path in sorted(SHARED_DATA.glob(runs))}


@cache
def sections(name: str) -> dict[str, Section]:
    qrels, runs = paths(name)
    found = study(Judged(Qrels.read(qrels), Policy()), runs)
    return {section.name: section for section in found.sections}


@cache
def judgments(name: str) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for line in paths(name)[0].read_text().splitlines():
        query, _, document, grade = line.split()
        found.setdefault(query, {})[document] = int(grade)
    return found


@cache
def grades(name: str) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Every run's grades (queries x 200), and those of the ideal."""
    qrels = judgments(name)
    found = {}
    for run, path in paths(name)[1].items():
        lists: dict[str, list[tuple[float, str]]] = {}
        for line in gzip.decompress(path.read_bytes()).decode().splitlines():
            query, _, document, _, score, _ = line.split()
            lists.setdefault(query, []).append((float(score), document))
        found[run] = np.zeros((len(qrels), 200), int)
        for row, query in enumerate(sorted(qrels)):
            ranked = sorted(lists.get(query, ()), reverse=True)[:200]
            found[run][row, : len(ranked)] = [max(qrels[query].get(document, 0), 0) for _, document in ranked]
    ideal = np.zeros((len(qrels), 200), int)
    for row, query in enumerate(sorted(qrels)):
        best = sorted((max(grade, 0) for grade in qrels[query].values()), reverse=True)[:200]
        ideal[row, : len(best)] = best
    return found, ideal


def cumulated(found: np.ndarray, weights: list[int], *, is_discounted: bool) -> np.ndarray:
    ranks = np.arange(1, found.shape[1] + 1)
    divisor = np.maximum(np.log2(ranks), 1.0) if is_discounted else np.ones(ranks.size)
    return np.cumsum(np.array(weights)[found] / divisor, axis=1)


def over_ranks(name: str, weights: list[int], *, is_discounted: bool) -> dict[str, np.ndarray]:
    """nCG or nDCG of every query, averaged over ranks 1 to 200; 0 where nothing can be gained."""
    runs, ideal = grades(name)
    best = cumulated(ideal, weights, is_discounted=is_discounted)
    some = best[:, -1] > 0
    found = {}
    for run, each in runs.items():
        values = cumulated(each, weights, is_discounted=is_discounted)
        found[run] = np.zeros(some.size)
        found[run][some] = (values[some] / best[some]).mean(axis=1)
    return found


def told_apart(scores: dict[str, np.ndarray]) -> np.ndarray:
    """Systems x systems: whether the first beats the second by Conover at 0.05, protected by Friedman."""
    values = np.round(np.array(list(scores.values())).T, 12)
    (n, m), ranks = values.shape, stats.rankdata(values, axis=1)
    sums, squares = ranks.sum(axis=0), (ranks**2).sum()
    middle = n * m * (m + 1) ** 2 / 4
    chi2 = (m - 1) * ((sums**2).sum() - n * middle) / (squares - middle)
    f = (n - 1) * chi2 / (n * (m - 1) - chi2)
    assert stats.f.sf(f, m - 1, (m - 1) * (n - 1)) < 0.05
    error = np.sqrt(2 * (n * squares - (sums**2).sum()) / ((n - 1) * (m - 1)))
    apart = sums[:, None] - sums[None, :]
    return (apart > 0) & (2 * stats.t.sf(np.abs(apart) / error, (n - 1) * (m - 1)) < 0.05)


SCHEMES = {
    "robust2005": {"0-1-1": [0, 1, 1], "0-1-10": [0, 1, 10], "0-0-1": [0, 0, 1]},
    "trec-covid/round1": {"0-1-1": [0, 1, 1], "0-1-10": [0, 1, 10], "0-0-1": [0, 0, 1]},
    "dl-hard/passage": {"0-1-1-1": [0, 1, 1, 1], "0-1-10-100": [0, 1, 10, 100], "0-0-0-1": [0, 0, 0, 1]},
}


@pytest.mark.parametrize("name", COLLECTIONS)
def test_table_2(name):
    table = next(iter(Page("papers", sections(name)["Table 2"].parts).tables_for_machines))
    systems = [column.name for column in table.columns][1:-1]
    rows = {row[0]: row[1:] for row in table.rows}
    assert systems == list(paths(name)[1])
    for text, weights in SCHEMES[name].items():
        for kind in ("nCG", "nDCG"):
            scores = over_ranks(name, weights, is_discounted=kind == "nDCG")
            assert rows[f"{kind} ({text})"][:-1] == pytest.approx([scores[system].mean() for system in systems])
            wins = told_apart({system: scores[system] for system in systems})
            verdict = rows[f"{kind} ({text})"][-1]
            found = {
                (winner, part.split(" > ")[1].rstrip("*"))
                for part in verdict.split("; ")
                for winner in part.split(" > ")[0].split(",")
            }
            assert found == {(systems[i], systems[j]) for i, j in np.argwhere(wins)}


@pytest.mark.parametrize("name", COLLECTIONS)
def test_figures(name):
    runs, ideal = grades(name)
    texts = list(SCHEMES[name])
    for figure, kind in (("Figure 1", "CG"), ("Figure 2", "DCG"), ("Figure 3", "nCG"), ("Figure 4", "nDCG")):
        table = list(Page("papers", sections(name)[figure].parts).tables_for_machines)[-1]
        values: dict[tuple[str, str], list[float]] = {}
        for panel, measure, _, run, _, value in table.rows:
            assert measure.startswith(kind)
            values.setdefault((panel, run), []).append(value)
        for panel, text in zip(("(a)", "(b)"), texts, strict=False):
            weights, is_discounted = SCHEMES[name][text], "D" in kind
            best = cumulated(ideal[:, :100], weights, is_discounted=is_discounted).mean(axis=0)
            for run, each in runs.items():
                curve = cumulated(each[:, :100], weights, is_discounted=is_discounted).mean(axis=0)
                assert values[panel, run] == pytest.approx((curve / best if kind[0] == "n" else curve).tolist())


def test_robust2005_in_what_the_paper_reads_off_its_figures():
    """What the article found on TREC-7 can be seen on these data, too."""
    rows = {}
    for name in ("Figure 1", "Figure 2", "Figure 3", "Section 2.4", "Section 4, gain values"):
        for table in Page("papers", sections("robust2005")[name].parts).tables_for_machines:
            if "verdict" in [column.name for column in table.columns]:
                rows.update({(name, row[0]): row for row in table.rows})
    holds = {key for key, row in rows.items() if "holds" in row}
    assert ("Figure 2", "widest gap between two runs, Figures 1 and 2") in holds
    assert ("Figure 3", "curves that start lower in (b)") in holds
    assert ("Section 2.4", "longer lists and rank 10") in holds
    assert ("Section 4, gain values", "nDCG under other weights") in holds


def test_a_table_of_19_systems_can_be_read():
    text = Page("papers", sections("robust2005")["Table 2"].parts).text()
    assert max(len(line) for line in text.splitlines()) < 150
    assert "How many systems each one beats / is beaten by" in text


def test_wins_and_losses_of_19_systems():
    scores = over_ranks("robust2005", [0, 1, 1], is_discounted=False)
    wins = told_apart(scores)
    tables = [part for part in sections("robust2005")["Table 2"].parts if not isinstance(part, str)]
    shown = {row[0]: row[1] for row in next(table for table in tables if "How many" in table.title).rows}
    for place, system in enumerate(scores):
        assert shown[system] == f"{wins[place].sum()} / {wins[:, place].sum()}"
