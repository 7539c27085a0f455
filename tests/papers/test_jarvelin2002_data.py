"""`gainful papers jarvelin2002` on real collections, beside NumPy and SciPy."""

from __future__ import annotations

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

from .real_collections import COLLECTIONS, SHARED_DATA, judgments, qrels_path, ranked, run_paths, runs

pytestmark = pytest.mark.skipif(not SHARED_DATA.is_dir(), reason="no real collections beside the checkout")


def names_of(name: str) -> list[str]:
    """All 19 runs of robust2005, eight of the others."""
    return list(run_paths(name))[: None if name == "robust2005" else 8]


@cache
def sections(name: str) -> dict[str, Section]:
    found = study(Judged(Qrels.read(qrels_path(name)), Policy()), {run: runs(name)[run] for run in names_of(name)})
    return {section.name: section for section in found.sections}


@cache
def listed_grades(name: str) -> dict[str, list[list[int]]]:
    """Every run's grades, by query in the order of ids: whole lists."""
    gained = {
        query: {document: grade for document, grade in grades.items() if grade > 0}
        for query, grades in sorted(judgments(name).items())
    }
    return {
        run: [[of.get(document, 0) for document in lists.get(query, ())] for query, of in gained.items()]
        for run, lists in ((run, ranked(run_paths(name)[run])) for run in names_of(name))
    }


@cache
def grades(name: str) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Every run's grades (queries x 200), and those of the ideal."""
    qrels = judgments(name)
    found = {}
    for run, lists in listed_grades(name).items():
        found[run] = np.zeros((len(qrels), 200), int)
        for row, listed in enumerate(lists):
            found[run][row, : len(listed[:200])] = listed[:200]
    ideal = np.zeros((len(qrels), 200), int)
    for row, query in enumerate(sorted(qrels)):
        best = sorted((max(grade, 0) for grade in qrels[query].values()), reverse=True)[:200]
        ideal[row, : len(best)] = best
    return found, ideal


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
    assert systems == names_of(name)
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


def claims(name: str, section: str) -> dict[str, tuple[str, str]]:
    """What is found and the verdict, by what it is about."""
    found = {}
    for table in Page("papers", sections(name)[section].parts).tables_for_machines:
        names = [column.name for column in table.columns]
        if "verdict" in names:
            at, verdict = names.index("gainful finds"), names.index("verdict")
            found.update({row[0]: (row[at], row[verdict]) for row in table.rows})
    return found


@pytest.mark.parametrize("name", COLLECTIONS)
def test_gaps_and_where_curves_start(name):
    runs, ideal = grades(name)
    flat, tenfold, _ = SCHEMES[name].values()
    gaps, starts = [], []
    for weights in (flat, tenfold):
        of_figures = []
        for is_discounted in (False, True):
            curves = np.array(
                [cumulated(each[:, :100], weights, is_discounted=is_discounted).mean(axis=0) for each in runs.values()]
            )
            of_figures.append(np.ptp(curves, axis=0).max())
        gaps.append(of_figures)
        best = cumulated(ideal, weights, is_discounted=False)[:, 0].mean()
        starts.append([np.array(weights)[each[:, 0]].mean() / best for each in runs.values()])
    is_narrower = all(discounted < plain for plain, discounted in gaps)
    found = claims(name, "Figure 2")["widest gap between two runs, Figures 1 and 2"]
    assert found[1] == ("holds" if is_narrower else "fails")
    shown = [float(number) for part in found[0].split("; ") for number in part[4:].split(", ")]
    assert shown == pytest.approx(np.ravel(gaps), rel=0.05)
    lower = [two < one for one, two in zip(*starts, strict=True)]
    verdict = "holds" if all(lower) else "fails"
    assert claims(name, "Figure 3")["curves that start lower in (b)"] == (f"{sum(lower)} of {len(lower)}", verdict)


@pytest.mark.parametrize("name", COLLECTIONS)
def test_where_the_best_run_is_furthest_below_the_ideal(name):
    runs, ideal = grades(name)
    furthest = []
    for weights in list(SCHEMES[name].values())[:2]:
        curves = [cumulated(each[:, :100], weights, is_discounted=False).mean(axis=0) for each in runs.values()]
        best = max(curves, key=lambda curve: curve[-1])
        below = cumulated(ideal, weights, is_discounted=False)[:, :100].mean(axis=0) - best
        furthest.append(int(below.argmax()) + 1)
    finds = f"(a) {furthest[0]}, (b) {furthest[1]}"
    found = claims(name, "Figure 1")["rank of the greatest distance to the ideal"]
    assert found == (finds, "holds" if max(furthest) < 100 else "not seen")


def order_change(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> tuple[str, int]:
    """What is found of two settings, and how many pairs are significantly the other way round."""
    before, after = told_apart(one), told_apart(other)
    both = np.triu((before | before.T) & (after | after.T)).sum()
    reversed_pairs = int((before & after.T).sum())
    means = [np.array([each.mean() for each in setting.values()]) for setting in (one, other)]
    apart = [np.triu(np.subtract.outer(each, each), 1) for each in means]
    by_means = int((apart[0] * apart[1] < 0).sum())
    return f"{reversed_pairs} of {both} pairs reversed ({by_means} by means)", reversed_pairs


@pytest.mark.parametrize("name", ["robust2005", "trec-covid/round1"])
def test_orders_that_a_test_shows_to_be_others(name):
    flat, tenfold, _ = SCHEMES[name].values()
    texts = list(SCHEMES[name])
    two, none, light = (
        over_ranks(name, weights, is_discounted=is_discounted)
        for weights, is_discounted in ((tenfold, True), (tenfold, False), (flat, True))
    )
    for section, what, settings in (
        ("Section 4, gain values", f"nDCG, {texts[0]} to {texts[1]}", (light, two)),
        ("Section 4, base", "nDCG, b = 2, and nCG", (two, none)),
    ):
        finds, reversed_pairs = order_change(*settings)
        assert claims(name, section)[what] == (finds, "holds" if reversed_pairs else "fails")


@pytest.mark.parametrize("name", ["robust2005", "trec-covid/round1"])
def test_what_the_last_rank_decides(name):
    said = claims(name, "Section 4, last rank")
    for text, weights in list(SCHEMES[name].items())[:2]:
        told = {
            (kind, k): told_apart(over_ranks(name, weights, is_discounted=kind == "nDCG", depth=k))
            for kind in ("nCG", "nDCG")
            for k in (10, 100)
        }
        # Systems x systems, one direction each: a pair told apart the other way round is lost, too.
        lost = told["nCG", 10] & ~told["nCG", 100]
        found = said[f"{text}: pairs apart by nCG to 10, not to 100"]
        assert found == (f"{lost.sum()} of {told['nCG', 10].sum()}", "holds" if lost.any() else "not seen")
        kept = (lost & told["nDCG", 10] & told["nDCG", 100]).sum()
        verdict = "holds" if kept > lost.sum() / 2 else "fails"
        assert said[f"{text}: those pairs by nDCG"] == (f"{kept} of {lost.sum()} preserved", verdict)
        both = told["nCG", 10] & told["nDCG", 10]
        ncg, ndcg = ((both & ~told[kind, 100]).sum() for kind in ("nCG", "nDCG"))
        finds = f"nCG {ncg}, nDCG {ndcg} of {both.sum()}"
        assert said[f"{text}: pairs lost from 10 to 100"] == (finds, "holds" if ncg > ndcg else "fails")


def test_a_table_of_19_systems_can_be_read():
    text = render_text(Page("papers", sections("robust2005")["Table 2"].parts))
    assert max(len(line) for line in text.splitlines()) < 150
    assert "How many systems each one beats / is beaten by" in text


def test_wins_and_losses_of_19_systems():
    scores = over_ranks("robust2005", [0, 1, 1], is_discounted=False)
    wins = told_apart(scores)
    tables = [part for part in sections("robust2005")["Table 2"].parts if not isinstance(part, str)]
    shown = {row[0]: row[1] for row in next(table for table in tables if "How many" in table.title).rows}
    for place, system in enumerate(scores):
        assert shown[system] == f"{wins[place].sum()} / {wins[:, place].sum()}"
