"""`gainful papers jarvelin2002` on real collections, beside NumPy and SciPy."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import numpy as np
import pytest
from scipy import stats

from gainful import Policy, Qrels
from gainful.data.judged import Judged
from gainful.pages.page import Page
from gainful.render import text as render_text
from gainful_papers.claims import Section
from gainful_papers.jarvelin2002 import study

from .paper_sections import claims
from .real_collections import SHARED_DATA, judgments, qrels_path, ranked, run_paths, runs

pytestmark = pytest.mark.skipif(not SHARED_DATA.is_dir(), reason="no real collections beside the checkout")


def names_of(name: str) -> list[str]:
    """All runs of two collections, eight of the others."""
    return list(run_paths(name))[: 8 if name.startswith("dl-hard") else None]


@cache
def sections(name: str) -> dict[str, Section]:
    found = study(Judged(Qrels.read(qrels_path(name)), Policy()), {run: runs(name)[run] for run in names_of(name)})
    return {section.name: section for section in found.sections}


@cache
def grades(name: str) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Every run's grades (queries x 200), and those of the ideal."""
    qrels = dict(sorted(judgments(name).items()))

    def rows(lists: Iterable[list[int]]) -> np.ndarray:
        return np.array([([max(grade, 0) for grade in each] + [0] * 200)[:200] for each in lists])

    found = {}
    for run in names_of(name):
        lists = ranked(run_paths(name)[run])
        found[run] = rows([[of.get(each, 0) for each in lists.get(query, ())] for query, of in qrels.items()])
    return found, rows([sorted(of.values(), reverse=True) for of in qrels.values()])


def cumulated(found: np.ndarray, weights: list[int], *, is_discounted: bool) -> np.ndarray:
    ranks = np.arange(1, found.shape[1] + 1)
    divisor = np.maximum(np.log2(ranks), 1.0) if is_discounted else np.ones(ranks.size)
    return np.cumsum(np.array(weights)[found] / divisor, axis=1)


def over_ranks(name: str, weights: list[int], *, is_discounted: bool, depth: int = 200) -> dict[str, np.ndarray]:
    """nCG or nDCG of every query, averaged over ranks 1 to 200 or to a depth; 0 where nothing can be gained."""
    runs, ideal = grades(name)
    best = cumulated(ideal, weights, is_discounted=is_discounted)
    some = best[:, -1] > 0
    found = {}
    for run, each in runs.items():
        values = cumulated(each, weights, is_discounted=is_discounted)
        found[run] = np.zeros(some.size)
        found[run][some] = (values[some] / best[some])[:, :depth].mean(axis=1)
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


SCHEMES = {"0-1-1": [0, 1, 1], "0-1-10": [0, 1, 10]}


@pytest.mark.parametrize("name", ["robust2005", "trec-covid/round1"])
def test_what_the_last_rank_decides(name):
    last = sections(name)["Section 4, last rank"]
    said = {what: (row["gainful finds"], row["verdict"]) for what, row in claims(last).items()}
    for text, weights in SCHEMES.items():
        told = {
            (kind, k): told_apart(over_ranks(name, weights, is_discounted=kind == "nDCG", depth=k))
            for kind in ("nCG", "nDCG")
            for k in (10, 100)
        }
        # Systems x systems, by direction: a pair that differs in the other direction is also lost.
        lost = told["nCG", 10] & ~told["nCG", 100]
        found = said[f"{text}: pairs that differ by nCG at 10, not at 100"]
        assert found == (f"{lost.sum()} of {told['nCG', 10].sum()}", "holds" if lost.any() else "not seen")
        kept = (lost & told["nDCG", 10] & told["nDCG", 100]).sum()
        verdict = "holds" if kept > lost.sum() / 2 else "fails"
        assert said[f"{text}: those pairs by nDCG"] == (f"{kept} of {lost.sum()} preserved", verdict)
        both = told["nCG", 10] & told["nDCG", 10]
        ncg, ndcg = ((both & ~told[kind, 100]).sum() for kind in ("nCG", "nDCG"))
        finds = f"nCG {ncg}, nDCG {ndcg} of {both.sum()}"
        assert said[f"{text}: pairs lost from 10 to 100"] == (finds, "holds" if ncg > ndcg else "fails")


def shown_orders(values: np.ndarray) -> np.ndarray:
    """Systems x systems: whether the first beats the second by paired t tests, corrected by Holm."""
    count = values.shape[0]
    pairs = [(i, j) for i in range(count) for j in range(i + 1, count)]
    p = np.array([stats.ttest_rel(values[i], values[j]).pvalue for i, j in pairs])
    shown, largest = np.zeros((count, count), bool), 0.0
    for place, pair in enumerate(np.argsort(p)):
        largest = max(largest, p[pair] * (len(pairs) - place))
        i, j = pairs[pair]
        ahead = (i, j) if values[i].mean() > values[j].mean() else (j, i)
        shown[ahead] = largest < 0.05
    return shown


@pytest.mark.parametrize("name", ["robust2005", "trec-covid/round1"])
def test_weights_change_the_order_of_means(name):
    """The paper speaks of mean curves: what happened to its runs is seen by means, and no test has to show it."""
    scores = [
        np.array([cumulated(each, weights, is_discounted=True)[:, 99] for each in grades(name)[0].values()])
        for weights in SCHEMES.values()
    ]
    above = [each.mean(axis=1)[:, None] > each.mean(axis=1)[None, :] + 1e-12 for each in scores]
    moved = int((above[0] & above[1].T).sum())
    assert moved > 1 and not (shown_orders(scores[0]) & shown_orders(scores[1]).T).any()
    found = claims(sections(name)["Figure 4"])["runs at rank 100, (a) and (b)"]
    pairs = len(scores[0]) * (len(scores[0]) - 1) // 2
    assert found["gainful finds"] == f"{moved} of {pairs} pairs swap places, within noise"
    assert found["verdict"] == "holds"


@pytest.mark.parametrize("name", ["robust2005", "trec-covid/round1"])
def test_what_happened_to_the_papers_own_runs_does_not_fail(name):
    found = {section: {row["verdict"] for row in claims(each).values()} for section, each in sections(name).items()}
    assert [section for section, verdicts in found.items() if "fails" in verdicts] == ["Section 4, last rank"]


def test_a_table_of_19_systems_can_be_read():
    text = render_text(Page("papers", sections("robust2005")["Table 2"].parts))
    assert max(len(line) for line in text.splitlines()) < 150
    assert "Significant pairs" not in text
