"""Queries are computed in blocks that fit the cache; the blocks must not change any digit."""

from __future__ import annotations

import random

import numpy as np
import pytest

from gainful import Measure, Policy
from gainful.data.graded import GradedRun, join
from gainful.data.judged import Judged
from gainful.data.qrels import Qrels
from gainful.measures.block import CELLS, blocks
from tests.laws.test_laws import READ

#: Six to eleven variants of every measure, or all it has.
ALL = [measure for variants in READ.values() for measure in variants[:: max(1, len(variants) // 6)]]


def graded_run(queries: int = 24) -> GradedRun:
    """Lists from no documents to forty-six, recall bases from none to twelve."""
    rng = random.Random(2002)
    qrels, run = {}, {}
    for i in range(queries):
        judged = rng.sample(range(60), rng.randint(1, 12))
        qrels[f"q{i}"] = {f"d{d}": rng.choice([0, 0, 1, 2, 3]) for d in judged}
        if i % 7:
            run[f"q{i}"] = {f"d{d}": rng.choice([rng.random(), 0.1, 0.7]) for d in rng.sample(range(60), 2 * i)}
    policy = Policy(subtopics=True)  # the same for all documents, for diversity measures
    items = {f"d{i}": {"genres": f"d{i}|d{i % 7}", "words": 7 * i, "characters": i} for i in range(60)}
    had = {f"q{i}": [f"d{i}", f"d{i % 7}"] for i in range(60)}
    judged = Judged(Qrels.from_dict(qrels).with_items(items, had), policy)
    return join(judged, run, policy, want_scores=True, want_rows=True)


@pytest.fixture(scope="module")
def graded() -> GradedRun:
    return graded_run()


def scores(graded: GradedRun, measures: list[Measure], cells: int) -> np.ndarray:
    """Return measures x queries; as in an evaluation, all measures share a block."""
    values = np.full((len(measures), len(graded.query_ids)), -1.0)
    for block in blocks(graded, cells):
        for row, measure in enumerate(measures):
            values[row, block.queries] = measure.compute(block)
    return values


def test_block_sizes_change_nothing(graded: GradedRun) -> None:
    for view in (graded, graded.condensed()):
        whole = scores(view, ALL, CELLS)
        for cells in (1, 50, 200):
            found = scores(view, ALL, cells)
            for measure, one, other in zip(ALL, found, whole, strict=True):
                np.testing.assert_array_equal(one, other, str(measure))


@pytest.mark.parametrize("cells", [1, 2, 13, 50, 200, 10**6])
def test_every_query_is_in_one_block(graded: GradedRun, cells: int) -> None:
    found = [int(query) for block in blocks(graded, cells) for query in block.queries]
    assert sorted(found) == list(range(len(graded.query_ids)))


@pytest.mark.parametrize("cells", [13, 50, 200])
def test_blocks_fit(graded: GradedRun, cells: int) -> None:
    """Blocks have as many queries as fit, but at least one."""
    cut = list(blocks(graded, cells))
    assert all(block.size == 1 or block.size * block.width <= cells for block in cut)
    assert len(list(blocks(graded, 10**6))) == 1
    assert len(list(blocks(graded, 1))) == len(graded.query_ids)


def test_arrays_of_a_block() -> None:
    """The arrays of two queries, by hand."""
    policy = Policy()
    judged = Judged(Qrels.from_dict({"q1": {"a": 1, "b": 3, "c": -1}, "q2": {"a": 2}}), policy)
    run = {"q1": {"c": 9.0, "x": 8.0, "a": 7.0}, "q2": {"y": 1.0, "a": 0.5}}
    [block] = blocks(join(judged, run, policy, want_scores=True))
    nan = np.nan
    assert (block.size, block.width, block.scale) == (2, 3, 3)
    assert block.retrieved.tolist() == [3, 2]
    assert np.array_equal(block.grades(), [[-1, nan, 1], [nan, 2, nan]], equal_nan=True)
    assert block.gains().tolist() == [[0, 0, 1], [0, 2, 0]]
    assert block.gains("exp2", depth=4).tolist() == [[0, 0, 1], [0, 3, 0]]  # nothing comes after the width
    assert block.ideal().tolist() == [[3, 1, 0], [2, 0, 0]]
    assert block.ideal(depth=1).tolist() == [[3], [2]]
    assert np.array_equal(block.scores(), [[9, 8, 7], [1, 0.5, nan]], equal_nan=True)
    assert block.recall_base().tolist() == [2, 1]
    assert block.recall_base(rel=2).tolist() == [1, 1]
    assert block.recall_base(level=1).tolist() == [1, 0]
    assert block.relevant().rank.tolist() == [3, 2]
    assert block.judged.grade.tolist() == [3, 1, -1, 2]
    assert block.judged.rank.tolist() == [1, 2, 3, 1]


def test_missed_documents_and_ties() -> None:
    policy = Policy(depth=4)
    judged = Judged(Qrels.from_dict({"q1": {"a": 1, "b": 3, "c": -1, "d": 2}, "q2": {"a": 2}, "q3": {"z": 1}}), policy)
    run = {"q1": {"c": 5.0, "x": 7.0, "a": 7.0, "y": 5.0, "d": 1.0}, "q2": {"y": 1.0, "a": 1.0}}
    graded = join(judged, run, policy, want_scores=True)
    [block] = blocks(graded)
    assert (block.missed.row.tolist(), block.missed.grade.tolist()) == ([0, 0, 2], [3, 2, 1])  # d is below the depth
    assert block.missed.rank.tolist() == [1, 2, 1]
    assert (block.found.row.tolist(), block.found.grade.tolist()) == ([0, 0, 1], [1, -1, 2])
    assert block.found.rank.tolist() == [1, 2, 1]
    rows, scores = block.list_scores
    assert (rows.tolist(), scores.tolist()) == ([0, 0, 0, 0, 1, 1], [7, 7, 5, 5, 1, 1])
    # Ties go by descending id: x a | y c for q1, y a for q2.
    assert (block.hits.rank.tolist(), block.hits.grade.tolist()) == ([2, 4, 2], [1, -1, 2])
    first, last = block.hit_ties
    assert (first.tolist(), last.tolist()) == ([1, 3, 1], [2, 4, 2])
    [condensed] = blocks(graded.condensed())
    assert [ranks.tolist() for ranks in condensed.hit_ties] == [[1, 2, 1], [1, 2, 1]]
    for lists in ({"q1": ["c", "a"]}, run):
        order = Policy(order="input")
        [alone] = blocks(join(judged, lists, order))
        assert [ranks.tolist() for ranks in alone.hit_ties] == [alone.hits.rank.tolist()] * 2
