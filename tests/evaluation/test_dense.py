"""Arrays give the same bits as dicts with the same data; and errors."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from gainful import Evaluation, GainfulWarning, InputError, Policy, UsageError, evaluate, evaluate_arrays
from gainful.evaluation import dense
from gainful.kernel.arrays import Floats
from gainful.measures.base import Measure
from gainful.measures.block import Block

MEASURES = ["nDCG@5", "AP", "RR", "R@3", "bpref", "NumRet", "NDPM", "SwetsE"]
RANKED = [each for each in MEASURES if each != "SwetsE"]  # it needs scores
pytestmark = pytest.mark.filterwarnings("ignore::gainful.GainfulWarning")
#: Words of notices about arrays.
OF_USERS = {"queries": "users", "query": "user", "document": "item"}


def assert_same(one: Evaluation, other: Evaluation) -> None:
    assert one.query_ids == other.query_ids and one.policy == other.policy
    np.testing.assert_array_equal(one.raw, other.raw)
    np.testing.assert_array_equal(one.answered, other.answered)
    for measure in one.measures:
        assert str(one.signature(measure)) == str(other.signature(measure))


@pytest.fixture(params=[1, 64, 1 << 19])
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gainful.data.graded.BLOCK", request.param)


@pytest.mark.usefixtures("block", "core")
def test_scores_and_grades() -> None:
    random = np.random.default_rng(1)
    scores = random.integers(0, 5, (13, 15)) / 2  # ties, also between columns 9 and 10
    grades = random.integers(-1, 4, (13, 15)).astype(float)
    grades[random.random((13, 15)) < 0.3] = np.nan
    grades[3] = np.nan
    mask = random.random((13, 15)) < 0.8
    mask[5] = False
    for counts in (np.ones_like(mask), mask):
        judged = counts & ~np.isnan(grades)
        qrels = {row: {at: grades[row, at] for at in np.flatnonzero(judged[row]).tolist()} for row in range(13)}
        run = {row: {at: scores[row, at] for at in np.flatnonzero(counts[row]).tolist()} for row in range(13)}
        for policy in (None, Policy(ties="docid-asc"), Policy(ties="input", depth=4, negative="unjudged")):
            assert_same(
                evaluate_arrays(scores, grades, MEASURES, mask=counts, policy=policy),
                evaluate(qrels, run, MEASURES, policy=policy),
            )
    as_32 = scores.astype(np.float32)
    assert_same(evaluate_arrays(as_32, grades, MEASURES), evaluate_arrays(scores, grades, MEASURES))
    assert_same(evaluate_arrays(scores.T.copy().T, grades, MEASURES), evaluate_arrays(scores, grades, MEASURES))


CUT = ["nDCG@5", "nDCG(gain=exp2)@3", "AP@4", "RR@12", "P(rel=2)@3", "R@30", "Judged@7", "RBP@9", "ERR@6"]


@pytest.fixture
def unordered(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any) -> None:
        raise AssertionError("lists were put in order")

    monkeypatch.setattr(dense, "_runs", never)


def as_dicts(values: Any, counts: Any) -> dict[int, dict[int, float]]:
    return {
        row: {at: float(values[row][at]) for at in np.flatnonzero(counts[row]).tolist()} for row in range(len(values))
    }


@pytest.mark.usefixtures("unordered")
@pytest.mark.parametrize("cells", [1, 1 << 18])
@pytest.mark.parametrize("seed", range(12))
def test_ranks_are_found_without_putting_lists_in_order(seed: int, cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense, "_CELLS", cells)
    random = np.random.default_rng(seed)
    shape = (11, 37)
    scores = [random.random(shape), random.integers(0, 9, shape), random.random(shape).astype(np.float32)][seed % 3]
    ranked = random.random(shape) < (1 if seed % 2 else 0.8)
    ranked[2] = seed % 4 > 0
    if scores.dtype.kind == "f":
        scores[~ranked] = -np.inf
        arguments = {}
    else:
        arguments = {"mask": ranked}
    grades = random.integers(-1 if seed % 5 == 0 else 0, 4, shape) * (random.random(shape) < 0.2).astype(float)
    judged = np.ones(shape, bool) if seed % 4 < 2 else random.random(shape) < 0.5
    grades[~judged] = np.nan
    run = as_dicts(scores, ranked)
    qrels = as_dicts(grades, judged & ranked if arguments else judged)
    for policy in (
        Policy(),
        Policy(ties="docid-asc", grade_zero=1),
        Policy(ties="input", negative="unjudged", scores="float32" if scores.dtype == np.float32 else "float64"),
    ):
        found, wanted = (
            evaluate_arrays(scores, grades, CUT, policy=policy, **arguments),
            evaluate(qrels, run, CUT, policy=policy),
        )
        assert_same(found, wanted)
        assert replace(found.facts, notes=()) == replace(wanted.facts, notes=())
    few = np.where(random.random(shape) < 0.1, grades, np.nan)
    few[0, 0] = 1
    for measures in (["nDCG", "AP", "RR", "bpref", "NumRet"], CUT):
        for policy in (Policy(unjudged="condensed"), Policy(ties="docid-asc")):
            wanted = evaluate(
                as_dicts(few, ~np.isnan(few) & (ranked if arguments else True)), run, measures, policy=policy
            )
            assert_same(evaluate_arrays(scores, few, measures, policy=policy, **arguments), wanted)
            items = [np.flatnonzero(~np.isnan(row)) for row in few]
            values = [row[~np.isnan(row)] for row in few]
            if not arguments:
                listed = evaluate_arrays(scores, values, measures, relevant_items=items, policy=policy)
                assert_same(listed, wanted)
                assert replace(listed.facts, notes=()) == replace(wanted.facts, notes=())


@pytest.mark.parametrize("seed", range(6))
def test_lists_are_put_in_order_where_ranks_are_not_enough(seed: int) -> None:
    random = np.random.default_rng(seed)
    shape = (12, 25)
    scores = random.integers(0, 40, shape) + 1e-9 * random.integers(0, 2, shape)
    grades = random.integers(1, 4, shape) * (random.random(shape) < 0.1).astype(float)
    few = np.where(grades > 0, grades, np.nan)
    few[0, 0] = 0
    items = [[*np.flatnonzero(row > 0).tolist(), 25 + seed % 2] for row in grades]
    everywhere, in_lists = np.ones(shape, bool), {row: dict.fromkeys(each, 1.0) for row, each in enumerate(items)}
    run = as_dicts(scores, everywhere)
    for policy in (Policy(depth=6), Policy(scores="float32"), Policy(order="input"), Policy(), Policy(missing="skip")):
        for measures in (["P@1"], ["NDPM", "RR@3"], ["SwetsE"], ["bpref", "AP"]):
            if measures[0].startswith("SwetsE") and policy.order != "score":
                continue
            for truth, qrels in (
                ({"relevance": grades}, as_dicts(grades, everywhere)),
                ({"relevance": few}, as_dicts(few, ~np.isnan(few))),
                ({"relevant_items": items}, in_lists),
            ):
                found = evaluate_arrays(scores, measures=measures, policy=policy, **truth)
                wanted = evaluate(qrels, run, measures, policy=policy)
                assert_same(found, wanted)
                assert replace(found.facts, notes=()) == replace(wanted.facts, notes=())


class Zeros(Measure):
    """How many judged documents have grade 0: nothing that a cutoff limits."""

    name = "Zeros"
    cutoff: int | None = None

    def compute(self, block: Block) -> Floats:
        return block.count(block.judged.relevant(None, 0.0)) / 1000.0


class Missed(Measure):
    """How many judged documents the first ranks lack."""

    name = "Missed"
    cutoff: int | None = None

    def compute(self, block: Block) -> Floats:
        return block.count(block.missed_after(self.cutoff or 1)) / 1000.0


class Counted(Measure):
    """How many documents are judged."""

    name = "Counted"
    cutoff: int | None = None

    def compute(self, block: Block) -> Floats:
        return block.judged_counts / 1000.0 + block.graded.judged.levels.size


SEEN = [Zeros(3), Missed(3), Counted(3), "P(rel=0)@3", "R(level=0)@3", "nDCG(gain=1-2-3-4)@50", "infAP", "Compat"]


@pytest.mark.parametrize("measure", SEEN)
def test_grades_of_0_are_there_for_who_looks_at_them(measure: Any) -> None:
    random = np.random.default_rng(5)
    shape = (12, 60)  # row 10 comes before row 2
    scores, grades = random.random(shape), random.integers(0, 4, shape) * (random.random(shape) < 0.6)
    scores[grades > 0] += 1
    grades[7:9, 30:] = 2
    grades = np.where(random.random(shape) < 0.02 * np.arange(12)[:, None], np.nan, grades)
    everywhere = np.ones(scores.shape, bool)
    found = evaluate_arrays(scores, grades, [measure, "RR@3"])
    judged = ~np.isnan(grades)
    wanted = evaluate(as_dicts(grades, judged), as_dicts(scores, everywhere), [measure, "RR@3"])
    assert_same(found, wanted)
    unlisted = evaluate_arrays(scores, grades, ["nDCG@3"])
    assert str(unlisted.explain("nDCG@3", 2)) == str(
        evaluate(as_dicts(grades, judged), {"<arrays>": as_dicts(scores, everywhere)}, ["nDCG@3"])["<arrays>"].explain(
            "nDCG@3", 2
        )
    )


def test_samples_of_candidates_are_noticed_in_arrays() -> None:
    """Twelve users with 22 items of 100 each, one of them relevant, late in some lists."""
    scores, grades = np.full((12, 100), -np.inf), np.zeros((12, 100))
    for row in range(12):
        scores[row, 7 * row : 7 * row + 22] = np.arange(22)
        grades[row, 7 * row + row] = 1
    found = evaluate_arrays(scores, grades, "nDCG@10")
    run = as_dicts(scores, np.isfinite(scores))
    wanted = evaluate(as_dicts(grades, grades >= 0), run, "nDCG@10")
    assert found.facts.sampled == wanted.facts.sampled == 21
    same, one = np.where(np.arange(100) < 22, np.arange(100.0), -np.inf) + np.zeros((12, 1)), np.zeros((12, 100))
    one[np.arange(12), np.arange(12)] = 1
    assert evaluate_arrays(same, one, "nDCG@10").facts.sampled == 0
    everything = np.where(np.isfinite(scores), scores, -1 - np.arange(100.0))
    assert evaluate_arrays(everything, grades, "nDCG@10").facts.sampled == 0


def test_ranks_of_cells_are_those_of_sorted_rows() -> None:
    random = np.random.default_rng(3)
    for width, levels in ((1, 2), (2, 2), (9, 3), (64, 1000), (64, 5)):
        score = random.integers(0, levels, (20, width)).astype(float)
        score[random.random(score.shape) < 0.2] = np.nan
        tie = random.permutation(width)
        ranks = dense.RowRanks(score, tie)
        wanted, tied = np.zeros(score.shape, int), 0
        for row, values in enumerate(score.tolist()):
            there = [at for at in range(width) if values[at] == values[at]]
            there.sort(key=lambda at: (-values[at], tie[at]))
            wanted[row, there] = range(1, len(there) + 1)
            tied += sum(values.count(values[at]) > 1 for at in there)
            for first in (1, 3, 100):
                shown = {values[at] for at in there[:first]}
                assert [values[at] in shown for at in range(width)] == ranks.among(first)[row].tolist()
        cells = np.sort(random.choice(score.size, score.size // 2, replace=False))
        assert ranks.of(cells).tolist() == wanted.reshape(-1)[cells].tolist()
        assert ranks.tied == tied


@pytest.mark.filterwarnings("default::gainful.GainfulWarning")
def test_minus_infinity_is_not_ranked_and_a_mask_that_takes_relevant_items_away_is_noticed() -> None:
    scores, grades = np.full((1, 10), -np.inf), np.zeros((1, 10))
    scores[0, :2], grades[0, [1, 5, 6, 7]] = [2, 1], 1
    wanted = evaluate({"0": {at: grades[0, at] for at in range(10)}}, {"0": {0: 2.0, 1: 1.0}}, ["R@5", "NumRet"])
    assert wanted.by_query("R@5") == {"0": 0.25}
    found = evaluate_arrays(scores, grades, ["R@5", "NumRet"])
    np.testing.assert_array_equal(found.raw, wanted.raw)
    assert not any("mask" in line for line in found.notices)
    with pytest.warns(GainfulWarning, match="mask excludes 3 relevant items"):
        masked = evaluate_arrays(scores, grades, "R@5", mask=np.isfinite(scores))
    assert masked.by_query("R@5") == {"0": 1.0}


@pytest.mark.usefixtures("block")
@pytest.mark.parametrize("spread", [1, 10**12])
def test_ranked_items_and_ragged_truth(spread: int) -> None:
    random = np.random.default_rng(2)
    ranked = np.array([random.permutation(40)[:9] for _ in range(12)]) * spread
    ranked[4, 6:] = -1  # a shorter list
    relevant = [random.permutation(40)[: random.integers(0, 6)] * spread for _ in range(12)]
    grades = [random.integers(1, 4, each.size) for each in relevant]
    run = {row: [item for item in items.tolist() if item >= 0] for row, items in enumerate(ranked)}
    binary = evaluate({row: dict.fromkeys(items.tolist(), 1) for row, items in enumerate(relevant)}, run, RANKED)
    offsets = np.cumsum([0, *map(len, relevant)])
    longest = max(map(len, relevant))
    padded = np.array([[*items.tolist(), *[-1] * (longest - len(items))] for items in relevant])
    for truth in (relevant, (np.concatenate(relevant), offsets), padded, [each.tolist() for each in relevant]):
        assert_same(evaluate_arrays(ranked_items=ranked, relevant_items=truth, measures=RANKED), binary)
    by_grade = {row: dict(zip(relevant[row].tolist(), grades[row].tolist(), strict=True)) for row in range(12)}
    graded = evaluate_arrays(ranked_items=ranked, relevant_items=relevant, relevance=grades, measures=RANKED)
    assert_same(graded, evaluate(by_grade, run, RANKED))
    lists = [items[items >= 0] for items in ranked]
    assert_same(evaluate_arrays(ranked_items=lists, relevant_items=relevant, measures=RANKED), binary)
    assert_same(
        evaluate_arrays(ranked_items=ranked, relevant_items=relevant, measures=RANKED, mask=ranked >= 0), binary
    )


def test_scores_with_items_and_items_with_grades() -> None:
    scores = np.array([[0.1, 0.9, 0.5], [0.3, 0.2, 0.1]])
    relevant, grades = [[2], [0, 1]], np.array([[0, 0, 1], [1, 1, 0]])
    top = np.argsort(-scores, axis=1)
    expected = {"0": 0.5, "1": 1.0}
    for found in (
        evaluate_arrays(scores, grades, "RR"),
        evaluate_arrays(scores, relevant_items=relevant, measures="RR"),
        evaluate_arrays(ranked_items=top, relevance=grades, measures="RR"),
        evaluate_arrays(ranked_items=top, relevant_items=relevant, measures="RR"),
        evaluate_arrays([scores[0], scores[1]], (grades.reshape(-1), np.array([0, 3, 6])), "RR"),
    ):
        assert found.by_query("RR") == expected
    many = evaluate_arrays(np.zeros((12, 3)), np.ones((12, 3)), "RR")
    assert many.queries == ["0", "1", "10", "11", "2", "3", "4", "5", "6", "7", "8", "9"]
    assert many.explain("RR", 11).value == 1.0


def test_large_numbers_of_items_without_a_sign() -> None:
    """Such as hashes; as floats, which NumPy makes of them beside others, neighbours would be one item."""
    near = 2**53
    for ranked, relevant in (([near, 5], [near + 1]), ([near, near + 1], [near + 1])):
        for kind in (np.uint64, np.int64):
            arrays = {"ranked_items": np.array([ranked], np.uint64), "relevant_items": np.array([relevant], kind)}
            expected = evaluate({"0": {str(relevant[0]): 1}}, {"0": list(map(str, ranked))}, "RR").mean("RR")
            assert evaluate_arrays(**arrays, measures="RR").mean("RR") == expected
    many = 2**60 + np.arange(100, dtype=np.uint64) * np.uint64(37)
    found = evaluate_arrays(
        ranked_items=many.reshape(10, 10), relevant_items=many.reshape(10, 10)[:, 3:4], measures="RR"
    )
    assert found.mean("RR") == 0.25


class Tensor:
    """What speaks DLPack and nothing else; one of another device copies only where it is asked to."""

    def __init__(self, array: Any, is_far: bool = False) -> None:
        self._array, self._is_far = np.asarray(array), is_far

    def __dlpack__(self, **how: Any) -> Any:
        if self._is_far and how.get("dl_device") != (1, 0):
            raise BufferError("it is on a GPU")
        return self._array.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, 0) if self._is_far else (1, 0)


def test_all_that_speaks_dlpack() -> None:
    scores, grades, mask = np.array([[0.1, 0.9], [0.2, 0.1]]), np.array([[1, 0], [1, 0]]), np.array([[1, 0], [1, 1]])
    near = evaluate_arrays(Tensor(scores), Tensor(grades), "RR", mask=Tensor(mask))
    assert near.by_query("RR") == {"0": 1.0, "1": 1.0}
    assert evaluate_arrays(Tensor(scores), [Tensor([1, 0]), Tensor([1, 0])], "RR").mean("RR") == 0.75
    if np.lib.NumpyVersion(np.__version__) >= "2.1.0":
        assert evaluate_arrays(Tensor(scores, True), grades, "RR").mean("RR") == 0.75


class TorchTensor(Tensor):
    """A tensor as PyTorch has it: on a GPU or with a gradient, NumPy reads it only once it is detached and copied."""

    is_detached = False

    def detach(self) -> TorchTensor:
        detached = TorchTensor(self._array, self._is_far)
        detached.is_detached = True
        return detached

    def cpu(self) -> Tensor:
        assert self.is_detached
        return Tensor(self._array)

    def __dlpack__(self, **_: Any) -> Any:
        raise BufferError("it has a gradient, or is on a GPU")


def test_tensors_of_torch_on_any_device() -> None:
    scores, grades = TorchTensor([[0.1, 0.9], [0.2, 0.1]], True), TorchTensor([[1, 0], [1, 0]])
    assert evaluate_arrays(scores, grades, "RR").mean("RR") == 0.75
    seen = TorchTensor([[False, True], [False, False]], True)
    assert evaluate_arrays(scores, grades, "RR", exclude=seen).mean("RR") == 1


def test_torch() -> None:
    torch = pytest.importorskip("torch")
    scores = torch.tensor([[0.1, 0.9], [0.2, 0.1]], requires_grad=True)
    assert evaluate_arrays(scores, torch.tensor([[1, 0], [1, 0]]), "RR").mean("RR") == 0.75
    with pytest.raises(InputError, match=r"scores: expected an array .* found Tensor .*\n.*float"):
        evaluate_arrays(scores.bfloat16(), torch.tensor([[1, 0], [1, 0]]), "RR")


USERS = ["nDCG@5", "R@5", "Novelty@4", "Serendipity@4", "ILD@4", "Coverage@4", "Gini@4", "HitRate@3"]


@pytest.mark.usefixtures("block")
@pytest.mark.parametrize("measures", [USERS, ["Coverage@4", "Novelty@4"], ["nDCG@5", "R@30"]])
def test_what_users_had_before(measures: list[str]) -> None:
    """Rows 3 and 12 had nothing, row 5 had all, and 12 of the items are in no list."""
    random = np.random.default_rng(4)
    scores, shape = random.random((13, 30)), (13, 30)
    scores[:, 18:] = -np.inf
    grades = random.integers(0, 3, shape) * (random.random(shape) < 0.3)
    seen = random.random(shape) < 0.3
    seen[[3, 12]], seen[5] = False, True
    kinds = {item: "|".join(kind for kind in "abcd" if (item + ord(kind)) % 3) for item in range(20)}
    had = {row: np.flatnonzero(seen[row]).tolist() for row in range(13) if seen[row].any()}
    run = as_dicts(scores, np.isfinite(scores))
    wanted = evaluate(as_dicts(grades, grades >= 0), run, measures, exclude=had, training=had, items=kinds)
    again = np.argwhere(seen)[random.permutation(np.count_nonzero(seen))]
    for form in (
        seen,
        seen.astype(np.float32),
        np.where(seen, 2.5, np.nan),
        seen.astype(int),
        [*seen],
        again,
        np.concatenate([again, again]).astype(np.uint32),
        np.nonzero(seen),
        csr_matrix(seen),
        Tensor(seen.astype(np.uint8)),
    ):
        found = evaluate_arrays(scores, grades, measures, exclude=form, training=form, items=kinds)
        assert_same(found, wanted)
        assert replace(found.facts, notes=()) == replace(wanted.facts, notes=())
        expected = [re.sub("|".join(OF_USERS), lambda word: OF_USERS[word[0]], line) for line in wanted.notices]
        assert [line.replace("<arrays>", "<dict>") for line in found.notices] == expected
    # Lists of items, and a mask of their form; what it leaves out was retrieved at all.
    order = np.argsort(-scores[:, :18], axis=1)
    order[4, 9:] = -1
    lists = {row: [item for item in items.tolist() if item >= 0] for row, items in enumerate(order)}
    gone = np.take_along_axis(seen, order, axis=1) & (order >= 0)
    of_lists = {row: order[row][gone[row]].tolist() for row in range(13) if gone[row].any()}
    truth = as_dicts(grades, grades >= 0)
    wanted = evaluate(truth, lists, measures, exclude=of_lists, training=had, items=kinds)
    found = evaluate_arrays(
        ranked_items=order,
        relevance=grades,
        measures=measures,
        exclude=np.take_along_axis(seen, order, axis=1),
        training=seen,
        items=kinds,
    )
    assert_same(found, wanted)
    assert replace(found.facts, notes=()) == replace(wanted.facts, notes=())


def test_items_that_a_user_had_leave_the_list_and_not_the_recall_base() -> None:
    """User 0 had item 1, the best. Of two users in training one had item 0, and one had item 1: 1 bit each."""
    scores, grades = np.array([[0.2, 0.9, 0.1], [0.7, 0.4, 0.5]]), np.array([[1, 1, 0], [0, 0, 1]])
    found = evaluate_arrays(scores, grades, ["R@2", "RR"], exclude=(np.array([0]), np.array([1])))
    assert found.explain("RR", 0).value == 1
    assert found.by_query("R@2") == {"0": 0.5, "1": 1.0} and found.by_query("RR") == {"0": 1.0, "1": 0.5}
    assert "1 retrieved item removed (exclude)" in "\n".join(found.notices)
    assert "1 relevant item excluded: no run can retrieve it" in "\n".join(found.notices)
    for nothing in (np.zeros((2, 3), bool), csr_matrix((2, 3))):
        nobody = evaluate_arrays(scores, grades, ["R@2", "RR"], exclude=nothing)
        assert nobody.by_query("RR") == {"0": 1.0, "1": 0.5} and not any("exclude" in line for line in nobody.notices)
    bits = evaluate_arrays(scores, grades, "Novelty@1", training=np.array([[0, 0], [0, 2], [7, 2], [7, 1]]))
    assert bits.by_query("Novelty@1") == {"0": 1.0, "1": 1.0}


def test_what_is_refused() -> None:
    scores, grades = np.array([[0.1, 0.9], [0.2, np.inf]]), np.array([[1, 0], [1, 0]])
    cases: list[tuple[dict[str, Any], str]] = [
        ({"scores": scores}, "relevance or relevant_items is needed"),
        ({"relevance": grades}, "one of scores and ranked_items is needed, not none"),
        ({"scores": scores, "ranked_items": grades, "relevance": grades}, "not both"),
        ({"scores": scores, "relevance": grades}, r"scores\[1\]\[1\]: expected a finite number as score, found inf"),
        ({"ranked_items": [[1, 2]], "relevance": grades}, "results have 1 rows, but the truth has 2"),
        ({"scores": [[1.0, 2.0]], "relevance": [[1, 0, 0]]}, r"relevance\[0\] has 3 grades for 2 candidates"),
        (
            {"scores": [[7, 3], [5, 9]], "relevance": [[3, 5], [5]]},
            r"relevance\[1\] has 1 grades.*\nhint: .*ranked_items=",
        ),
        ({"ranked_items": [[1.5]], "relevant_items": [[1]]}, "ranked_items: expected whole numbers, found float64"),
        ({"scores": [["a"]], "relevance": [[1]]}, "scores: expected numbers, found <U1"),
        ({"scores": np.zeros(3), "relevance": grades}, "scores: expected two dimensions, rows and columns, found 1"),
        ({"scores": {"a": 1}, "relevance": grades}, "scores: expected two dimensions, rows and columns, found dict"),
        ({"scores": csr_matrix(grades), "relevance": grades}, r"found csr_matrix\nhint: m.toarray\(\)"),
        (
            {"scores": np.ma.array(grades, mask=grades > 0), "relevance": grades},
            r"masked arrays are not supported\nhint: .*mask=~x.mask",
        ),
        ({"scores": [[[1.0]]], "relevance": [[1]]}, "scores: expected one-dimensional rows"),
        ({"scores": grades, "relevance": grades, "mask": [[True, False]]}, "mask: expected the shape of the results"),
        ({"scores": grades, "relevance": grades, "mask": np.zeros((2, 2))}, "mask: expected True and False"),
        ({"ranked_items": [[1]], "relevant_items": (np.array([1]), np.array([0, 2]))}, "expected values, and offsets"),
        ({"ranked_items": [[1]], "relevant_items": (np.array([1]),)}, "expected values, and offsets"),
        (
            {"ranked_items": [[1]], "relevant_items": [[1, 2]], "relevance": [[1]]},
            "expected the shape of relevant_items",
        ),
        ({"ranked_items": [[1]], "relevant_items": [np.array([2**63], np.uint64)]}, "below 2"),
        ({"ranked_items": [[1]], "relevant_items": [[]]}, "no judgments"),
        (
            {"scores": grades, "relevance": grades, "exclude": np.zeros((2, 3))},
            r"exclude: matrix and results have different shapes\nhint: pass matrix.nonzero\(\)",
        ),
        ({"scores": grades, "relevance": grades, "exclude": np.array([[0, -1]])}, "exclude: expected equally many row"),
        (
            {"scores": grades, "relevance": grades, "exclude": [[0, 1], [1]]},
            "exclude: lists of integers could be index",
        ),
        ({"scores": grades, "relevance": grades, "training": ([1], [0, 1])}, "training: expected equally many row"),
        ({"scores": grades, "relevance": grades, "training": ([0.5], [1])}, "training: expected whole numbers"),
        (
            {"ranked_items": [[4], [1, 2, 1]], "relevant_items": [[1], [2]]},
            r"ranked_items\[1\]\[2\]: .*duplicate document '1' for query '1'.*ranked_items\[1\]\[0\]",
        ),
        (
            {"ranked_items": [[4], [-1, 2, 2]], "relevant_items": [[1], [2]]},
            r"ranked_items\[1\]\[2\]: .*first: ranked_items\[1\]\[1\]",
        ),
        (
            {"ranked_items": [[1]], "relevant_items": [[1, 1]], "relevance": [[1, 2]]},
            r"relevant_items\[0\]\[1\]: conflicting grades",
        ),
    ]
    for arguments, message in cases:
        with pytest.raises((InputError, UsageError), match=message):
            evaluate_arrays(**arguments, measures="RR")
    kept = evaluate_arrays(scores, grades, "RR", mask=np.isfinite(scores))
    assert kept.by_query("RR") == {"0": 0.5, "1": 1.0}
