"""`gainful check` on real collections, whose problems are known or counted independently."""

from __future__ import annotations

import gzip
import struct
from collections import Counter
from collections.abc import Callable, Collection
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from gainful import Policy, evaluate, examine

# The rank column of these two contradicts the score; in the first it is its very opposite.
CONTRADICTED = {"ERST_QUESTION", "RUIR-doc2vec"}


def queries_of(path: Path) -> set[str]:
    return {line.split(maxsplit=1)[0].decode() for line in gzip.decompress(path.read_bytes()).splitlines()}


@pytest.fixture(scope="module")
def examined(collection: Callable[[str], Any]) -> Callable[[str], Any]:
    """What is found of all runs of a collection."""
    return cache(lambda name: examine(collection(name).qrels_path, collection(name).run_paths))


def as_float32(values: Collection[float]) -> tuple[float, ...]:
    return struct.unpack(f"{len(values)}f", struct.pack(f"{len(values)}f", *values))


def test_ranks_against_scores(collection: Callable[[str], Any], examined: Any) -> None:
    covid, found = collection("trec-covid/round1"), examined("trec-covid/round1")
    contradicted = {each.run for each in found.findings if each.check in ("rank-conflicts", "reversed-scores")}
    assert contradicted == CONTRADICTED
    [reversed_run] = found.about("reversed-scores")
    assert (reversed_run.run, reversed_run.severity, reversed_run.count) == ("ERST_QUESTION", "serious", 30)
    fields = covid.fields("ERST_QUESTION")
    ranks, scores = ([float(field) for field in fields[column::6]] for column in (3, 4))
    rows = list(zip(fields[0::6], ranks, scores, strict=True))
    assert sorted(rows, key=lambda row: (row[0], row[1])) == sorted(rows, key=lambda row: (row[0], row[2]))
    [conflicts] = found.about("rank-conflicts")
    evaluation = evaluate(covid.qrels_path, covid.run_paths["RUIR-doc2vec"], "P@5")
    assert conflicts.count == evaluation.facts.rank_conflicts


@pytest.mark.parametrize("name", ["robust2005", "trec-covid/round1"])
def test_ties_of_both_kinds(collection: Callable[[str], Any], examined: Any, name: str) -> None:
    real, found = collection(name), examined(name)
    seen = 0
    for run in list(real.run_paths)[::4]:
        lists = {query: scores for query, scores in real.run(run).items() if query in real.qrels}
        rounded_ties = tied = 0
        for scores in lists.values():
            counts = Counter(scores.values())
            tied += sum(count for count in counts.values() if count > 1)
            rounded = as_float32(counts)
            distinct, documents = Counter(rounded), Counter[float]()
            for value, count in zip(rounded, counts.values(), strict=True):
                documents[value] += count
            rounded_ties += sum(documents[value] for value, number in distinct.items() if number > 1)
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
