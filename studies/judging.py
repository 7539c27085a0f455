"""Judgments until the order of systems is that of all judgments, for several orders of judging."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matrices import markdown

from gainful import GainfulWarning, Qrels, Run, evaluate, judge_next
from gainful.kernel.arrays import Floats
from gainful.notation import text_of_id
from gainful.pages.charts import Axis, Line, Plot
from gainful.render import Page
from gainful.stats.catalogues import SYMMETRIC

COLLECTIONS = {
    "robust2005": ("robust2005/qrels.robust2005.txt", "robust2005/runs/*"),
    "dl-hard": ("dl-hard/dl_hard-passage.qrels", "dl-hard/passage/*.run.gz"),
    "trec-covid": ("trec-covid/round1/qrels.covid-round1.txt", "trec-covid/round1/runs/*"),
}
FIGURE = Path(__file__).parents[1] / "docs" / "how-to" / "judging.svg"
_MEASURE, _DEPTH, _BATCH = "nDCG@10", 10, 50


class Pool(NamedTuple):
    """The top 10 of every run: lists by run and query, and the grades of all documents in them."""

    lists: dict[str, dict[str, list[str]]]
    grades: dict[tuple[str, str], float]

    @classmethod
    def read(cls, folder: Path, name: str) -> Pool:
        qrels, runs = COLLECTIONS[name]
        judged = Qrels.read(folder / qrels)
        rows = zip(judged.query.tolist(), judged.documents(np.arange(len(judged))), judged.grade.tolist(), strict=True)
        known = {(judged.queries[query], text_of_id(document)): max(grade, 0.0) for query, document, grade in rows}
        lists: dict[str, dict[str, list[str]]] = {}
        for path in sorted(folder.glob(runs)):
            run = Run.read(path)
            found = lists[path.name] = {}
            for i, query in enumerate(run.queries):
                rows_of = np.arange(*run.list_offsets[i : i + 2])
                best = rows_of[np.argsort(-run.score[rows_of], kind="stable")][:_DEPTH]
                if query in set(judged.queries):
                    found[query] = [text_of_id(each) for each in run.documents(best)]
        pairs = {(query, each) for of in lists.values() for query, documents in of.items() for each in documents}
        return cls(lists, {pair: known.get(pair, 0.0) for pair in sorted(pairs)})

    def means(self, chosen: set[tuple[str, str]]) -> Floats:
        return np.array([each.mean(_MEASURE) for each in self.scored(chosen).values()])

    def scored(self, chosen: set[tuple[str, str]]) -> dict:  # type: ignore[type-arg]
        judged: dict[str, dict[str, float]] = {query: {"no document": 0.0} for query, _ in self.grades}
        for query, document in chosen:
            judged[query][document] = self.grades[query, document]
        qrels = Qrels.from_dict(judged, scale=max(self.grades.values()))
        return evaluate(qrels, self.lists, _MEASURE)


#: Returns the next documents, given those judged.
Order = Callable[[Pool, set[tuple[str, str]]], list[tuple[str, str]]]


def decisive(pool: Pool, judged: set[tuple[str, str]], prior: object = None) -> list[tuple[str, str]]:
    pairs = judge_next(pool.scored(judged), number=_BATCH, prior=prior).pairs
    return pairs or [pair for pair in pool.grades if pair not in judged][:_BATCH]


def by_depth(pool: Pool, judged: set[tuple[str, str]]) -> list[tuple[str, str]]:
    best: dict[tuple[str, str], int] = {}
    for of in pool.lists.values():
        for query, documents in of.items():
            for rank, document in enumerate(documents):
                best[query, document] = min(rank, best.get((query, document), _DEPTH))
    return sorted((pair for pair in best if pair not in judged), key=lambda pair: (best[pair], pair))[:_BATCH]


def by_chance(pool: Pool, judged: set[tuple[str, str]]) -> list[tuple[str, str]]:
    left = [pair for pair in pool.grades if pair not in judged]
    return [left[i] for i in np.random.default_rng(len(judged)).permutation(len(left))[:_BATCH]]


def moved_to_front(pool: Pool, judged: set[tuple[str, str]]) -> list[tuple[str, str]]:
    """Cormack, Palmer and Clarke, SIGIR 1998: a run is left for the next one when it finds nothing relevant."""
    left, chosen = set(pool.grades) - judged, list[tuple[str, str]]()
    failures = {
        (name, query): sum(pool.grades[query, each] == 0 for each in documents if (query, each) in judged)
        for name, of in pool.lists.items()
        for query, documents in of.items()
    }
    queries = sorted({query for query, _ in pool.grades})
    while left and len(chosen) < _BATCH:
        for query in queries:
            names = [
                name for name, of in pool.lists.items() if any((query, each) in left for each in of.get(query, []))
            ]
            if not names or len(chosen) == _BATCH:
                continue
            name = min(names, key=lambda each: (failures[each, query], each))
            document = next(each for each in pool.lists[name][query] if (query, each) in left)
            left.remove((query, document))
            chosen.append((query, document))
            failures[name, query] += pool.grades[query, document] == 0
    return chosen


class Model(NamedTuple):
    """Calibrated probabilities of grades: those that follow from the grade with normal noise of one grade."""

    rows: list[dict[str, object]]
    entropy: dict[tuple[str, str], float]

    @classmethod
    def of(cls, pool: Pool) -> Model:
        grades = np.array(list(pool.grades.values()))
        levels, counts = np.unique(grades, return_counts=True)
        seen = grades + np.random.default_rng(11).normal(size=grades.size)
        share = counts * np.exp(-((seen[:, None] - levels) ** 2) / 2)
        share /= share.sum(axis=1, keepdims=True)
        entropy = -(share * np.log(np.maximum(share, 1e-300))).sum(axis=1)
        names = [f"p{level:g}" for level in levels]
        rows = [
            {"query": query, "document": document, **dict(zip(names, row, strict=True))}
            for (query, document), row in zip(pool.grades, share.tolist(), strict=True)
        ]
        return cls(rows, dict(zip(pool.grades, entropy.tolist(), strict=True)))

    def decisive(self, pool: Pool, judged: set[tuple[str, str]]) -> list[tuple[str, str]]:
        return decisive(pool, judged, [each for each in self.rows if (each["query"], each["document"]) not in judged])

    def uncertain(self, pool: Pool, judged: set[tuple[str, str]]) -> list[tuple[str, str]]:
        left = (pair for pair in pool.grades if pair not in judged)
        return sorted(left, key=lambda pair: (-self.entropy[pair], pair))[:_BATCH]


def judging(folder: Path, collections: Sequence[str] = tuple(COLLECTIONS), figure: Path | None = FIGURE) -> str:
    """Count the judgments of the pool until the order of systems stays at tau >= 0.9, and until it stays the same."""
    rows, plots = [], []
    for name in collections:
        pool = Pool.read(folder.parent, name)
        model = Model.of(pool)
        orders: dict[str, Order] = {
            "judge-next": decisive,
            "depth pooling": by_depth,
            "move to front": moved_to_front,
            "chance": by_chance,
            "judge-next, model": model.decisive,
            "uncertain label, model": model.uncertain,
        }
        curves = {title: [*_taus(pool, order)] for title, order in orders.items()}
        for title, curve in curves.items():
            rows.append([f"{name}, {title}", f"{len(pool.grades):,}", *_needed(curve, len(pool.grades))])
        lines = [Line(title, *zip(*curve, strict=True)) for title, curve in curves.items()]
        plots.append(Plot(name, Axis("judgments", 0.0), Axis("Kendall's tau", 0.0, 1.0), tuple(lines)))
    if figure is not None:
        Page("judge-next", tuple(plots)).save(figure)
    return markdown(["collection, order", "documents", "until tau >= 0.9", "until the same order", "mean tau"], rows)


def _needed(curve: list[tuple[float, float]], documents: int) -> list[str]:
    at_least = [next(n for n, tau in reversed(curve) if tau < least) + _BATCH for least in (0.9, 1 - 1e-9)]
    counts = [f"{min(each, documents):,.0f}" for each in at_least]
    return [*counts, f"{np.mean([tau for _, tau in curve]):.3f}"]


def _taus(pool: Pool, order: Order) -> Iterator[tuple[float, float]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GainfulWarning)
        true, judged = pool.means(set(pool.grades)), set[tuple[str, str]]()
        while len(judged) < len(pool.grades):
            tau = SYMMETRIC["tau_b"].formula(pool.means(judged), true)
            yield float(len(judged)), 0.0 if tau is None else tau
            judged.update(order(pool, judged))
