"""Arrays give what the same data as dicts give, to the last bit; and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from gainful import Evaluation, GainfulWarning, InputError, Policy, UsageError, evaluate, evaluate_arrays

MEASURES = ["nDCG@5", "AP", "RR", "R@3", "bpref", "NumRet", "NDPM", "SwetsE"]
RANKED = [each for each in MEASURES if each != "SwetsE"]  # it needs scores
pytestmark = pytest.mark.filterwarnings("ignore::gainful.GainfulWarning")


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


@pytest.mark.filterwarnings("default::gainful.GainfulWarning")
def test_minus_infinity_is_not_ranked_and_a_mask_that_takes_relevant_items_away_is_noticed() -> None:
    scores, grades = np.full((1, 10), -np.inf), np.zeros((1, 10))
    scores[0, :2], grades[0, [1, 5, 6, 7]] = [2, 1], 1
    wanted = evaluate({"0": {at: grades[0, at] for at in range(10)}}, {"0": {0: 2.0, 1: 1.0}}, ["R@5", "NumRet"])
    assert wanted.by_query("R@5") == {"0": 0.25}
    found = evaluate_arrays(scores, grades, ["R@5", "NumRet"])
    np.testing.assert_array_equal(found.raw, wanted.raw)
    assert not any("mask" in line for line in found.notices)
    with pytest.warns(GainfulWarning, match="mask leaves out 3 relevant items"):
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


def test_torch() -> None:
    torch = pytest.importorskip("torch")
    scores = torch.tensor([[0.1, 0.9], [0.2, 0.1]], requires_grad=True)
    with pytest.raises(InputError, match=r"scores: expected an array .* found Tensor .*gradient"):
        evaluate_arrays(scores, torch.tensor([[1, 0], [1, 0]]), "RR")
    assert evaluate_arrays(scores.detach(), torch.tensor([[1, 0], [1, 0]]), "RR").mean("RR") == 0.75


def test_what_is_refused() -> None:
    scores, grades = np.array([[0.1, 0.9], [0.2, np.inf]]), np.array([[1, 0], [1, 0]])
    cases: list[tuple[dict[str, Any], str]] = [
        ({"scores": scores}, "expected relevance or relevant_items, found neither"),
        ({"relevance": grades}, "expected scores or ranked_items, found neither"),
        ({"scores": scores, "ranked_items": grades, "relevance": grades}, "found both"),
        ({"scores": scores, "relevance": grades}, r"scores\[1\]\[1\]: expected a finite number as score, found inf"),
        ({"ranked_items": [[1, 2]], "relevance": grades}, "as many rows of truth as of results, 1, found 2"),
        ({"scores": [[1.0, 2.0]], "relevance": [[1, 0, 0]]}, r"each of 2 candidates in relevance\[0\], found 3"),
        ({"scores": [[7, 3], [5, 9]], "relevance": [[3, 5], [5]]}, r"relevance\[1\], found 1\nhint: .*ranked_items="),
        ({"ranked_items": [[1.5]], "relevant_items": [[1]]}, "ranked_items: expected whole numbers, found float64"),
        ({"scores": [["a"]], "relevance": [[1]]}, "scores: expected numbers, found <U1"),
        ({"scores": np.zeros(3), "relevance": grades}, "scores: expected two dimensions, rows and columns, found 1"),
        ({"scores": {"a": 1}, "relevance": grades}, "scores: expected two dimensions, rows and columns, found dict"),
        ({"scores": csr_matrix(grades), "relevance": grades}, r"found csr_matrix\nhint: m.toarray\(\)"),
        ({"scores": np.ma.array(grades, mask=grades > 0), "relevance": grades}, r"a masked one\nhint: .*mask=~x.mask"),
        ({"scores": [[[1.0]]], "relevance": [[1]]}, "scores: expected rows of one dimension"),
        ({"scores": grades, "relevance": grades, "mask": [[True, False]]}, "mask: expected a value for every cell"),
        ({"scores": grades, "relevance": grades, "mask": np.zeros((2, 2))}, "mask: expected True and False"),
        ({"ranked_items": [[1]], "relevant_items": (np.array([1]), np.array([0, 2]))}, "values and their offsets"),
        ({"ranked_items": [[1]], "relevant_items": (np.array([1]),)}, "values and their offsets"),
        ({"ranked_items": [[1]], "relevant_items": [[1, 2]], "relevance": [[1]]}, "a value for each of relevant_items"),
        ({"ranked_items": [[1]], "relevant_items": [np.array([2**63], np.uint64)]}, "below 2"),
        ({"ranked_items": [[1]], "relevant_items": [[]]}, "at least one judgment"),
        (
            {"ranked_items": [[4], [1, 2, 1]], "relevant_items": [[1], [2]]},
            r"ranked_items\[1\]\[2\]: .*'1' again for query '1'.*ranked_items\[1\]\[0\]",
        ),
        (
            {"ranked_items": [[4], [-1, 2, 2]], "relevant_items": [[1], [2]]},
            r"ranked_items\[1\]\[2\]: .*first: ranked_items\[1\]\[1\]",
        ),
        (
            {"ranked_items": [[1]], "relevant_items": [[1, 1]], "relevance": [[1, 2]]},
            r"relevant_items\[0\]\[1\]: expected one grade",
        ),
    ]
    for arguments, message in cases:
        with pytest.raises((InputError, UsageError), match=message):
            evaluate_arrays(**arguments, measures="RR")
    kept = evaluate_arrays(scores, grades, "RR", mask=np.isfinite(scores))
    assert kept.by_query("RR") == {"0": 0.5, "1": 1.0}
