"""Queries are computed in blocks that fit the cache. How they are cut into blocks must not change a digit."""

from __future__ import annotations

import random

import numpy as np
import pytest

from gainful import Measure, Policy, parse
from gainful.data.graded import GradedRun, join
from gainful.data.judged import Judged
from gainful.data.qrels import Qrels
from gainful.measures.block import CELLS, blocks
from gainful.measures.catalog import MEASURES

TEXTS = [
    *(f"{name}{at}" for name in ("CG", "DCG", "nCG", "nDCG") for at in ("", "@1", "@5", "@100")),
    *(f"{name}(average=ranks)@{k}" for name in ("CG", "DCG", "nCG", "nDCG") for k in (1, 5, 20, 100)),
    "nDCG(gain=exp2, discount=jarvelin2002)@10",
    "nDCG(gain=0-5-1-3, discount=jarvelin2008, base=3)",
    "DCG(gain=scaled, base=e, rel=2, average=ranks)@50",
    *("P@1", "P@10", "R@3", "F@5", "Rprec", "Success@2", "Success", "SetP", "SetR", "SetF(beta=2)", "Judged@10"),
    *("Judged", "AP", "AP(rel=2)@5", "RR", "RR(level=1)@3", "IPrec@0", "IPrec@0.5", "IPrec@1"),
    *("NumQ", "NumRet", "NumRel", "NumRelRet", "NumNonRelJudgedRet"),
    *("idealDCG", "idealDCG(gain=scaled)@5", "nDCGrel", "nDCGrel(gain=scaled)", "RnDCG", "RnDCG(gain=scaled, rel=2)"),
    *("G", "G(gain=exp2)", "G(gain=scaled)", "binG", "binG(level=2)"),
    *("RprecMult@0.5", "RprecMult@2", "RelP@5", "SetRelP", "SetAP", "Utility(b=-0.1, c=-0.3)", "Unjudged@10"),
    *("IAP", "IAP(points=0.25-0.5)", "GMAP", "Bpref", "GMBpref(rel=2)", "InfAP"),
    *("RBP", "RBP(p=0.5, gain=scaled)@10", "RBP(gain=linear, scale=query)", "RBPResidual", "RBPResidual@5"),
    *("ERR", "ERR(gain=linear)@5", "nERR", "nERR@5"),
    *(f"{name}({inside})" for name in ("ASL", "NormRecall", "NormPrecision") for inside in ("N=90", "tied=expected")),
    *("ASL(N=90, unretrieved=bottom)", "NormPrecision(N=90, unretrieved=bottom, tied=expected)"),
    *("ESL", "ESL(n=3, N=90)", "ESL(n=2, count=all, N=90, unretrieved=bottom, tied=policy)"),
    *("RankedHalfLife", "RankedHalfLife(gain=scaled, rel=2)", "NDPM", "SwetsE", "SwetsE(level=1)"),
    *(f"{name}@{k}" for name in ("SlidingRatio", "Satisfaction", "Frustration", "SFTotal") for k in (1, 5, 50)),
    *(f"{name}(average=ranks)@{k}" for name in ("SlidingRatio", "Frustration", "SFTotal") for k in (3, 50)),
    *("RelativeRelevance", "RelativeRelevance(gain=exp2, coef=jaccard)", "VanRijsbergenE", "VanRijsbergenE@4"),
    *("Q", "Q(beta=3)@5", "O", "P-measure", "P+@5", "NCU", "NCU(stop=rank, gamma=0.5)", "GAP", "EBR", "iRBU@5"),
    *("INST", "INSQ@20", "BPM", "ScaledDCG@5", "NERR8@5", "NERR9@5", "NERR10", "NERR11", "CWL(report=residual)"),
    *("alpha-DCG@5", "alpha-nDCG", "ERR-IA@5", "nERR-IA@20", "NRBP", "nNRBP", "P-IA@5", "AP-IA", "StRecall@5"),
    *("D-nDCG", "D-nDCG(gamma=0.5)@5", "D-Q", "Compat", "Compat(depth=lists)", "PairAccuracy", "PairAccuracy@5"),
    "RBO(extrapolate=true)",
    *("Novelty@5", "ILD@5", "ILD(coef=jaccard)@20", "Serendipity@5", "UserCoverage@20"),
    *("Fallout(N=90)", "Fallout(N=90)@4", "Generality(N=90)"),
    *("gP@5", "gR(gain=0-1-10-100)@5", "gIPrec(gain=exp2)@0.5", "gIPrec@1", "gIAP"),
    *("muAP", "muAP(levels=all)", "NDCNG", "NDCNG@5", "NDCNG(average=ranks)@20"),
    *("ADM", "ADM(over=judged)@5", "ADM(srs=minmax)", "ADM(srs=max, distance=squared)@5", "ADP(over=100)", "ADR@10"),
    *("Pstar@20", "Rstar(srs=score)", "ThresholdP@30", "ThresholdR(over=relevant, rel=2)@30", "PRmean(srs=exp)"),
]
ALL = [parse(text) for text in TEXTS]


def graded_run(queries: int = 24) -> GradedRun:
    """Lists from no documents to forty-six, recall bases from none to twelve."""
    rng = random.Random(2002)
    qrels, run = {}, {}
    for i in range(queries):
        judged = rng.sample(range(60), rng.randint(1, 12))
        qrels[f"q{i}"] = {f"d{d}": rng.choice([0, 0, 1, 2, 3]) for d in judged}
        if i % 7:
            run[f"q{i}"] = {f"d{d}": rng.choice([rng.random(), 0.1, 0.7]) for d in rng.sample(range(60), 2 * i)}
    policy = Policy(subtopics=True)  # one for all documents, for measures of diversity
    genres, had = ({f"{kind}{i}": [f"d{i}", f"d{i % 7}"] for i in range(60)} for kind in "dq")
    judged = Judged(Qrels.from_dict(qrels).with_items(genres, had), policy)
    return join(judged, run, policy, want_scores=True, want_rows=True)


@pytest.fixture(scope="module")
def graded() -> GradedRun:
    return graded_run()


def scores(graded: GradedRun, measures: list[Measure], cells: int) -> np.ndarray:
    """Measures x queries; as in an evaluation, all measures look at the same block."""
    values = np.full((len(measures), len(graded.query_ids)), -1.0)
    for block in blocks(graded, cells):
        for row, measure in enumerate(measures):
            values[row, block.queries] = measure.compute(block)
    return values


def test_all_measures_are_looked_at() -> None:
    assert {measure.name for measure in ALL} == set(MEASURES)


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
    """As many queries as fit, but at least one."""
    cut = list(blocks(graded, cells))
    assert all(block.size == 1 or block.size * block.width <= cells for block in cut)
    assert len(list(blocks(graded, 10**6))) == 1
    assert len(list(blocks(graded, 1))) == len(graded.query_ids)


def test_arrays_of_a_block() -> None:
    """What a measure sees of two queries, by hand."""
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


def test_what_lists_miss_and_where_they_tie() -> None:
    policy = Policy(depth=4)
    judged = Judged(Qrels.from_dict({"q1": {"a": 1, "b": 3, "c": -1, "d": 2}, "q2": {"a": 2}, "q3": {"z": 1}}), policy)
    run = {"q1": {"c": 5.0, "x": 7.0, "a": 7.0, "y": 5.0, "d": 1.0}, "q2": {"y": 1.0, "a": 1.0}}
    graded = join(judged, run, policy, want_ties=True)
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
        [alone] = blocks(join(judged, lists, order, want_ties=True))
        assert [ranks.tolist() for ranks in alone.hit_ties] == [alone.hits.rank.tolist()] * 2
