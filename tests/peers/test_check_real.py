"""The doctor on real collections, whose troubles are known or counted here by other code."""

from __future__ import annotations

import gzip
import struct
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from gainful import Policy, evaluate, examine

# The rank column of these two contradicts the score; in the first it is its very opposite.
CONTRADICTED = {"ERST_QUESTION", "RUIR-doc2vec"}


def rows_of(path: Path) -> dict[str, list[tuple[str, float, float]]]:
    """Query -> its documents with rank and score, read by code that is not ours."""
    lists: dict[str, list[tuple[str, float, float]]] = {}
    for line in gzip.decompress(path.read_bytes()).decode().splitlines():
        query, _, document, rank, score, _ = line.split()
        lists.setdefault(query, []).append((document, float(rank), float(score)))
    return lists


def queries_of(path: Path) -> set[str]:
    return {line.split(maxsplit=1)[0].decode() for line in gzip.decompress(path.read_bytes()).splitlines()}


@pytest.fixture(scope="module")
def examined(collection: Callable[[str], Any]) -> Callable[[str], Any]:
    """What is found of all runs of a collection."""
    return cache(lambda name: examine(collection(name).qrels_path, collection(name).run_paths))


def as_float32(value: float) -> float:
    return float(struct.unpack("f", struct.pack("f", value))[0])


def test_ranks_against_scores(collection: Callable[[str], Any], examined: Any) -> None:
    covid, found = collection("trec-covid/round1"), examined("trec-covid/round1")
    contradicted = {each.run for each in found.findings if each.check in ("rank-conflicts", "reversed-scores")}
    assert contradicted == CONTRADICTED
    [reversed_run] = found.about("reversed-scores")
    assert (reversed_run.run, reversed_run.severity, reversed_run.count) == ("ERST_QUESTION", "serious", 30)
    for rows in rows_of(covid.run_paths["ERST_QUESTION"]).values():
        by_rank = sorted(rows, key=lambda row: row[1])
        assert by_rank == sorted(rows, key=lambda row: row[2])
    [conflicts] = found.about("rank-conflicts")
    evaluation = evaluate(covid.qrels_path, covid.run_paths["RUIR-doc2vec"], "P@5")
    assert conflicts.count == evaluation.facts.rank_conflicts


@pytest.mark.parametrize("name", ["robust2005", "trec-covid/round1"])
def test_ties_of_both_kinds(collection: Callable[[str], Any], examined: Any, name: str) -> None:
    real, found = collection(name), examined(name)
    paths = dict(list(real.run_paths.items())[::3])
    seen = 0
    for run, path in paths.items():
        lists = {query: rows for query, rows in rows_of(path).items() if query in real.qrels}
        rounded_ties = tied = 0
        for rows in lists.values():
            counts = Counter(score for _, _, score in rows)
            tied += sum(count for count in counts.values() if count > 1)
            values: dict[float, Counter[float]] = {}
            for score, count in counts.items():
                values.setdefault(as_float32(score), Counter())[score] += count
            rounded_ties += sum(of_value.total() for of_value in values.values() if len(of_value) > 1)
        total = sum(map(len, lists.values()))
        by_check = {each.check: each for each in found.findings if each.run == run}
        assert (by_check["float32-ties"].count if "float32-ties" in by_check else 0) == rounded_ties
        if tied > 0.05 * total:
            assert (by_check["tied-documents"].severity, by_check["tied-documents"].count) == ("warning", tied)
        seen += rounded_ties
    assert seen > 0


def test_float32_ties_are_those_that_eval_counts(collection: Callable[[str], Any], examined: Any) -> None:
    robust = collection("robust2005")
    found = {each.run: each.count for each in examined("robust2005").about("float32-ties")}
    assert found
    for run, count in found.items():
        evaluation = evaluate(robust.qrels_path, robust.run_paths[run], "P@5", policy=Policy(scores="float32"))
        assert evaluation.facts.float32_ties == count


@pytest.mark.parametrize("name", ["robust2005", "dl-hard/passage", "trec-web-2012"])
def test_published_runs_are_never_serious(examined: Any, name: str) -> None:
    found = examined(name)
    assert not found.is_serious, [str(each) for each in found.findings if each.severity == "serious"]


def test_missing_queries(collection: Callable[[str], Any], examined: Any) -> None:
    robust = collection("robust2005")
    found = {each.run: each.count for each in examined("robust2005").about("missing-queries")}
    expected = {run: len(robust.qrels.keys() - queries_of(path)) for run, path in robust.run_paths.items()}
    assert found == {run: count for run, count in expected.items() if count}
