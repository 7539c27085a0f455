"""A small collection for dellamea2004, and its measures computed naively."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.stats import kendalltau

from gainful import Qrels
from gainful.data.judged import Judged
from gainful.pages.page import Table
from gainful.policy import Policy
from gainful.stats.repeatable import stream
from gainful_papers.claims import Section
from gainful_papers.dellamea2004.adm_experiment import Experiment, run_experiment

Judgments = dict[str, dict[str, float]]
Lists = dict[str, dict[str, list[str]]]


def table_of(section: Section, title: str) -> Table:
    [table] = [
        part for part in section.parts if isinstance(part, Table) and part.title == title and not part.for_people
    ]
    return table


def rows_of(section: Section, title: str) -> list[dict[str, Any]]:
    table = table_of(section, title)
    return [dict(zip([column.name for column in table.columns], row, strict=True)) for row in table.rows]


def claims_of(section: Section, title: str) -> dict[str, tuple[str, str, str]]:
    return {
        row["what"]: (row["the paper says"], row["gainful finds"], row["verdict"]) for row in rows_of(section, title)
    }


DEPTH = 20
SYSTEMS = 18


def collection() -> tuple[Judgments, Lists]:
    """Systems of rising quality on 8 queries, two of them with short lists, one of these the best of all."""
    chance = random.Random(7)
    judgments: Judgments = {}
    lists: Lists = {f"s{i:02d}": {} for i in range(SYSTEMS)}
    for query in ("1", "2", "3", "4", "5", "6", "10", "11"):
        documents = [f"d{i}" for i in range(60)]
        grades = {document: chance.choice((0, 0, 1, 2)) for document in documents[:25]}
        judgments[query] = {document: float(grade) for document, grade in grades.items()}
        for i, system in enumerate(lists):
            quality = 9.0 if i == SYSTEMS - 1 else i / 9
            score = {d: quality * grades.get(d, 0) + chance.gauss(0, 1) for d in documents}
            lists[system][query] = sorted(documents, key=lambda d: -score[d])[:DEPTH]
    lists["s17"]["3"] = lists["s17"]["3"][:12]
    lists["s04"]["10"] = lists["s04"]["10"][:19]
    del lists["s04"]["2"]
    return judgments, lists


JUDGMENTS, LISTS = collection()
SCALE = 2.0


def average_precision(system: str, query: str) -> float:
    relevant = {d for d, grade in JUDGMENTS[query].items() if grade > 0}
    found, total = 0, 0.0
    for rank, document in enumerate(LISTS[system].get(query, []), 1):
        if document in relevant:
            found += 1
            total += found / rank
    return total / len(relevant)


def mean_precision(system: str) -> float:
    return statistics.fmean(average_precision(system, query) for query in JUDGMENTS)


BY_PRECISION = sorted(LISTS, key=lambda system: -mean_precision(system))
CHOSEN = BY_PRECISION[:10]
KEPT = [name for name in BY_PRECISION if name not in ("s17", "s04")]


def srs_of(system: str, query: str) -> dict[str, float]:
    return {d: 1 - (rank - 1) / DEPTH for rank, d in enumerate(LISTS[system].get(query, []), 1)}


def urs_of(query: str, with_systems: bool) -> Callable[[str], float]:
    chosen = [srs_of(system, query) for system in CHOSEN]

    def urs(document: str) -> float:
        said = JUDGMENTS[query].get(document, 0.0) / SCALE
        if not with_systems:
            return said
        return (3 * said + statistics.fmean(srs.get(document, 0.0) for srs in chosen)) / 4

    return urs


def naive_adm(
    system: str,
    with_systems: bool,
    queries: Sequence[str] = tuple(JUDGMENTS),
    keeps: Callable[[str, str], bool] = lambda query, document: True,
    over: str = "both",
) -> float:
    values = []
    for query in queries:
        srs, urs = srs_of(system, query), urs_of(query, with_systems)
        relevant = {d for d, grade in JUDGMENTS[query].items() if grade > 0}
        counted = {"both": {*srs, *relevant}, "retrieved": set(srs), "relevant": relevant}[over]
        kept = [d for d in counted if keeps(query, d)]
        values.append(1 - statistics.fmean(abs(srs.get(d, 0.0) - urs(d)) for d in kept))
    return statistics.fmean(values)


def tau(one: Sequence[float], other: Sequence[float]) -> float:
    return float(kendalltau(np.round(one, 12), np.round(other, 12)).statistic)


def judged(judgments: Mapping[str, Mapping[str, float]] = JUDGMENTS, policy: Policy | None = None) -> Judged:
    return Judged(Qrels.from_dict(judgments, scale=SCALE), policy or Policy())


def experiment(lists: Mapping[str, Any] = LISTS, **changes: Any) -> Experiment:
    settings: dict[str, Any] = {"best": (), "worst_share": None, "draws": 3, "seed": 0, "threads": 1}
    return run_experiment(judged(), lists, **{**settings, **changes})


def documents_of(system: str, query: str) -> set[str]:
    return {*LISTS[system].get(query, []), *(d for d, grade in JUDGMENTS[query].items() if grade > 0)}


def naive_chances(seed: int, draw: int) -> dict[tuple[str, str], float]:
    """One number for every pair that a system in use retrieves or that is relevant, in byte order of both ids."""
    numbers = stream(seed, draw)
    chances = {}
    for query in sorted(JUDGMENTS):
        documents = set[str]().union(*(documents_of(system, query) for system in {*KEPT, *CHOSEN}))
        for document in sorted(documents):
            chances[query, document] = numbers.random()
    return chances


def grouped(found: Experiment, values: Mapping[str, Sequence[float]]) -> Experiment:
    """Systems in groups, with the same scores by all measures."""
    names = {group: tuple(f"{group}{i}" for i in range(len(each))) for group, each in values.items()}
    kept = tuple(name for each in names.values() for name in each)
    scores = np.array([value for each in values.values() for value in each])
    groups = {group: names.get(group, ()) for group in ("Best", "Normal", "Worst")}
    systems = replace(found.systems, kept=kept, groups=groups)
    return replace(found, systems=systems, scores=dict.fromkeys(found.scores, scores))


def order_with_exchanges(number: int, exchanged: int) -> Any:
    """0, 1, 2, ... in which so many pairs stand the other way round: neighbours change places one by one.

    From one of these orders to another it is as many exchanges as their numbers differ.
    """
    values = list(range(number))
    while exchanged:
        for i in range(number - 1):
            if exchanged and values[i] < values[i + 1]:
                values[i], values[i + 1] = values[i + 1], values[i]
                exchanged -= 1
    return np.argsort(values).astype(float)
