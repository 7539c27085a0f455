"""Session measures on real sessions, against computations written here from the published definitions.

36 sessions of a user study, judged by session, and the conversations of CAsT 2021, judged by turn.
"""

from __future__ import annotations

import csv
import gzip
import math
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from gainful import Policy, Run, Sessions, evaluate_sessions, parse

Queries = dict[str, list[list[str]]]
Grades = dict[str, dict[str, float]]


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)


@cache
def _study(folder: Path) -> tuple[Queries, Grades]:
    pages: dict[str, dict[int, dict[int, str]]] = {}
    for row in _rows(folder / "results.tsv"):
        page = pages.setdefault(row["SessionID"], {}).setdefault(int(row["Qno"]), {})
        if row["rank"] != "0":
            page[int(row["rank"])] = row["URL"]
    grades: Grades = {}
    for row in _rows(folder / "qrels.tsv"):
        grades.setdefault(row["SessionID"], {})[row["URL"]] = float(row["Relevance"])
    queries = {
        session: [[page[rank] for rank in sorted(page)] for _, page in sorted(found.items())]
        for session, found in pages.items()
    }
    return queries, grades


@pytest.fixture
def study(shared_data: Path) -> tuple[Queries, Grades]:
    return _study(shared_data / "sessions")


def as_sessions(queries: Queries) -> Sessions:
    ordered = sorted(queries)
    lists = {f"{session}_{q}": found for session in ordered for q, found in enumerate(queries[session], 1)}
    counts = [len(queries[session]) for session in ordered]
    return Sessions("study", tuple(map(str.encode, ordered)), np.cumsum([0, *counts]), Run.from_dict(lists))


# -- definitions of others ---------------------------------------------------------------------------------------------


def jiang(queries: list[list[str]], grades: dict[str, float], k: int, b: float = 2, bq: float = 4) -> float:
    """The gain 2^g - 1, divided by log_b(r + b - 1) and log_bq(q + bq - 1)."""
    return sum(
        (2 ** grades[document] - 1) / math.log(r + b - 1, b) / math.log(q + bq - 1, bq)
        for q, found in enumerate(queries, 1)
        for r, document in enumerate(found[:k], 1)
        if document in grades
    )


def jig(queries: list[list[str]], grades: dict[str, float], k: int, b: float = 2, bq: float = 4) -> float:
    """The grade, divided by 1 + log_b r and 1 + log_bq q; as the article has it."""
    return sum(
        max(grades.get(document, 0), 0) / (1 + math.log(r, b)) / (1 + math.log(q, bq))
        for q, found in enumerate(queries, 1)
        for r, document in enumerate(found[:k], 1)
    )


def ideal(definition: Callable[..., float], queries: list[list[str]], grades: dict[str, float], k: int) -> float:
    """The same ideal list again for every query."""
    best = sorted(grades, key=lambda document: -grades[document])
    return definition([best] * len(queries), grades, k)


VARIANTS = {"jarvelin2008": jig, "jiang2016": jiang}


@pytest.mark.parametrize("k", [1, 5, 10])
@pytest.mark.parametrize("variant", VARIANTS)
def test_all_sessions_of_the_study(study: tuple[Queries, Grades], variant: str, k: int) -> None:
    queries, grades = study
    assert len(queries) == 36
    measures = [parse(f"{name}(variant={variant})@{k}") for name in ("sDCG", "nsDCG")]
    found = evaluate_sessions(grades, as_sessions(queries), measures)
    assert found.judged_by == "session" and len(found.query_ids) == 36 and not found.missing
    definition = VARIANTS[variant]
    values = [found.by_query(measure) for measure in measures]
    for session, lists in queries.items():
        expected = definition(lists, grades[session], k)
        assert values[0][session] == pytest.approx(expected, rel=1e-12)
        assert values[1][session] == pytest.approx(expected / ideal(definition, lists, grades[session], k), rel=1e-12)


def test_the_study_has_what_could_go_wrong(study: tuple[Queries, Grades]) -> None:
    queries, grades = study
    assert any(not found for lists in queries.values() for found in lists), "no empty page"
    assert any(grade < 0 for found in grades.values() for grade in found.values()), "no negative grade"
    again = [s for s, lists in queries.items() if len({d for f in lists for d in f}) < sum(map(len, lists))]
    assert again, "no document comes again"


def test_documents_that_come_again(study: tuple[Queries, Grades]) -> None:
    queries, grades = study
    measure = "sDCG(repeats=first)@10"
    found = evaluate_sessions(grades, as_sessions(queries), measure).by_query(measure)
    for session, lists in queries.items():
        seen: set[str] = set()
        total = 0.0
        for q, page in enumerate(lists, 1):
            for r, document in enumerate(page[:10], 1):
                gain = 0 if document in seen else max(grades[session].get(document, 0), 0)
                total += gain / (1 + math.log2(r)) / (1 + math.log(q, 4))
                seen.add(document)
        assert found[session] == pytest.approx(total, rel=1e-12)


# -- conversations -----------------------------------------------------------------------------------------------------


@cache
def _cast_grades(path: Path) -> Grades:
    grades: Grades = {}
    for line in path.read_text().splitlines():
        turn, _, document, grade = line.split()
        grades.setdefault(turn, {})[document] = float(grade)
    return grades


def _conversations(path: Path) -> tuple[Sessions, dict[str, dict[str, list[str]]]]:
    """Turns in the order of their numbers; each list ordered by score, ties by descending id."""
    scores: dict[str, dict[str, float]] = {}
    for line in gzip.decompress(path.read_bytes()).decode().splitlines():
        turn, _, document, _, score, _ = line.split()
        scores.setdefault(turn, {})[document] = float(score)
    order = sorted(scores, key=lambda turn: (turn.split("_")[0], int(turn.split("_")[1])))
    ranked: dict[str, dict[str, list[str]]] = {}
    for turn in order:
        by_id = sorted(scores[turn], key=str.encode, reverse=True)
        ranked.setdefault(turn.split("_")[0], {})[turn] = sorted(by_id, key=lambda d, t=turn: -scores[t][d])  # type: ignore[misc]
    counts = [len(turns) for turns in ranked.values()]
    lists = Run.from_dict({turn: scores[turn] for turn in order})
    return Sessions(path.name, tuple(map(str.encode, ranked)), np.cumsum([0, *counts]), lists), ranked


def test_conversations_of_cast_judged_by_turn(shared_data: Path) -> None:
    folder = shared_data / "cast2021"
    grades = _cast_grades(folder / "qrels.cast2021-docs.txt")
    systems = {path.name: _conversations(path) for path in sorted((folder / "runs").glob("*.gz"))}
    assert len(systems) == 5
    measures = ["sDCG@10", "nsDCG@10", "nsDCG(summary=last)@3"]
    found = evaluate_sessions(
        grades, {name: sessions for name, (sessions, _) in systems.items()}, measures, policy=Policy(undefined="skip")
    )
    for name, (_, ranked) in systems.items():
        result = found[name]
        assert result.judged_by == "query" and len(result.query_ids) == 19
        # 7 conversations have no judgments at all; of the 19 others some turns have none.
        assert (len(result.facts.extra_ids), len(result.facts.extra_turns)) == (7, 27)
        values = {measure: result.by_query(measure) for measure in measures}
        for conversation, turns in ranked.items():
            if not any(turn in grades for turn in turns):
                assert conversation not in result.queries
                continue
            gained = best = 0.0
            for q, (turn, documents) in enumerate(turns.items(), 1):
                judged = grades.get(turn, {})
                ideal_list = sorted(judged.values(), reverse=True)[:10]
                gained += dcg([judged.get(d, 0) for d in documents[:10]]) / (1 + math.log(q, 4))
                best += dcg(ideal_list) / (1 + math.log(q, 4))
            assert values["sDCG@10"][conversation] == pytest.approx(gained, rel=1e-12)
            assert values["nsDCG@10"][conversation] == pytest.approx(gained / best, rel=1e-12)
            judged = grades.get(turn, {})
            last = dcg(sorted(judged.values(), reverse=True)[:3])
            expected = dcg([judged.get(d, 0) for d in documents[:3]]) / last if last else None
            assert values["nsDCG(summary=last)@3"][conversation] == (
                None if expected is None else pytest.approx(expected, rel=1e-12)
            )


def dcg(gains: list[float]) -> float:
    return sum(gain / (1 + math.log2(r)) for r, gain in enumerate(gains, 1))
