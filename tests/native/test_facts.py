"""Facts about each list from both cores equal their definition in ``_core.pyi``."""

from __future__ import annotations

import math
import random
from array import array
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.together import together

#: order, ties, float32, keep_first, depth
DEFAULTS = (0, 0, False, True, 0)


def as_array(data: bytes) -> Any:
    return np.frombuffer(data, dtype=np.uint8)


def no_progress() -> Any:
    return np.zeros(2, dtype=np.int64)


def index_of(core: Any, judgments: bytes) -> Any:
    data = as_array(judgments)
    columns = core.read_judgments(data, 1)
    spans = columns["document_start"], columns["document_length"]
    return core.JudgmentIndex(columns["query_ids"], columns["query"], data, *spans)


def facts_of(core: Any, run: str, judgments: str = "q 0 judged 1\n", options: tuple[Any, ...] = DEFAULTS) -> list[Any]:
    """The facts of every list as a dict, from text; columns must agree, with rows instead of offsets."""
    data, index = as_array(run.encode()), index_of(core, judgments.encode())
    wanted = core.JoinOptions(*options, want_facts=True)
    facts = core.join_text(data, index, wanted, 1, no_progress())["facts"]
    text = core.read_run(data, 1)
    columns = [text[name] for name in ("document_start", "document_length", "score", "rank")]
    ids, offsets = text["query_ids"], text["list_offsets"]
    lists = core.ListColumns(ids, offsets, data, *columns)
    by_row = core.join_columns(lists, index, wanted, 1, no_progress())["facts"]
    line = text["line"].tolist()
    for name in facts.keys() - {"query_ids"}:
        is_place = name == "first" or name.endswith(("_at", "_with", "_of"))
        same = [line[row] if is_place and row >= 0 else row for row in by_row[name].tolist()]
        np.testing.assert_array_equal(facts[name], same, err_msg=name)
    assert facts["query_ids"] == by_row["query_ids"] == ids
    arrays = {name: value.tolist() for name, value in facts.items() if name != "query_ids"}
    return [{name: values[i] for name, values in arrays.items()} for i in range(len(ids))]


def lines(*rows: tuple[str, str, object, object]) -> str:
    return "".join(f"{query} Q0 {document} {rank} {score} tag\n" for query, document, rank, score in rows)


def line_starts(run: str) -> list[int]:
    return [at for at in range(len(run)) if at == 0 or run[at - 1] == "\n"]


def test_a_clean_list(core: Any) -> None:
    [facts] = facts_of(core, lines(("q", "judged", 1, 3), ("q", "b", 2, 2), ("q", "c", 3, 1)))
    assert facts == {
        "query": 0,
        "rows": 3,
        "first": 0,
        "retrieved": 3,
        "duplicates": 0,
        "duplicate_at": -1,
        "duplicate_of": -1,
        "tied": 0,
        "tied_at": -1,
        "tied_with": -1,
        "float32_tied": 0,
        "float32_at": -1,
        "float32_with": -1,
        "rank_conflicts": 0,
        "conflict_at": -1,
        "conflict_with": -1,
        "unranked": 0,
        "constant": 0,
        "reversed": 0,
        "self_rank": 0,
        "self_at": -1,
        "unjudged_at": line_starts(lines(("q", "judged", 1, 3)) + "x")[1],
        "lowest_rank": 1.0,
        "highest_rank": 3.0,
    }


def test_duplicates(core: Any) -> None:
    run = lines(("q", "a", 1, 3), ("q", "b", 2, 2), ("q", "b", 3, 2), ("q", "a", 4, 1), ("q", "b", 5, 1))
    at = line_starts(run)
    [facts] = facts_of(core, run)
    assert (facts["duplicates"], facts["duplicate_at"], facts["duplicate_of"]) == (3, at[2], at[1])
    assert (facts["rows"], facts["retrieved"]) == (5, 2)
    assert facts["tied"] == 0  # a document is not tied with itself


def test_ties_of_both_precisions(core: Any) -> None:
    run = lines(
        ("q", "a", 1, "3.000000001"), ("q", "b", 2, "3"), ("q", "c", 3, "3"), ("q", "d", 4, "2"), ("q", "e", 5, "1")
    )
    at = line_starts(run)
    [facts] = facts_of(core, run)
    # Among equal scores the later id comes first.
    assert (facts["tied"], facts["tied_at"], facts["tied_with"]) == (2, at[2], at[1])
    assert (facts["float32_tied"], facts["float32_at"], facts["float32_with"]) == (3, at[0], at[2])
    assert facts["constant"] == 0


@together(("scores", "constant"), [(["2"], 0), (["2", "2.0"], 1), (["0", "-0", "0"], 1), ("12", 0)])
def test_constant_scores(core: Any, scores: list[str], constant: int) -> None:
    run = lines(*(("q", f"d{i}", i, score) for i, score in enumerate(scores)))
    assert [facts["constant"] for facts in facts_of(core, run)] == [constant]


def test_ranks_against_scores(core: Any) -> None:
    run = lines(("q", "a", 1, 1), ("q", "b", 3, 9), ("q", "c", 2, 5), ("q", "d", 4, 0.5))
    at = line_starts(run)
    [facts] = facts_of(core, run)
    # By score b c a d, ranked 3 2 1 4: c and a stand before b.
    assert (facts["rank_conflicts"], facts["conflict_at"], facts["conflict_with"]) == (2, at[2], at[1])
    assert facts["reversed"] == 0


@together(
    ("ranks", "lowest", "highest", "unranked"),
    [("123", 1, 3, 0), ("012", 0, 2, 0), ("119", 1, 9, 0), ("x24", 2, 4, 1), ("xyz", math.nan, math.nan, 3)],
)
def test_rank_column(core: Any, ranks: str, lowest: float, highest: float, unranked: int) -> None:
    run = lines(*(("q", f"d{i}", rank, -i) for i, rank in enumerate(ranks)))
    [facts] = facts_of(core, run)
    np.testing.assert_array_equal(
        [facts["lowest_rank"], facts["highest_rank"], facts["unranked"]], [lowest, highest, unranked]
    )


def test_of_ranks_0_and_minus_0_the_first_in_order_counts(core: Any) -> None:
    by_input = (2, *DEFAULTS[1:])
    [facts] = facts_of(core, lines(("q", "a", "-0", 1), ("q", "b", "0", 2)), options=by_input)
    assert [math.copysign(1, facts[name]) for name in ("lowest_rank", "highest_rank")] == [-1, -1]


@together(
    ("ranks", "scores", "is_reversed"),
    [
        ([1, 2, 3], [1, 2, 3], 1),
        ([1, 2, 3], [3, 2, 1], 0),
        ([1, 2, 3], [1, 1, 3], 1),  # ties do not hide it
        ([1, 2, 3], [1, 3, 2], 0),
        ([1, 2, 3], [1, 1, 1], 0),
        ([3, 2, 1], [1, 2, 3], 0),  # the file is upside down, the ranks are right
        ([0, 0, 0], [1, 2, 3], 1),  # no rank tells them apart, the order of the file does
        (["x", 2, 3], [1, 2, 3], 1),
        (["x", 2, 3], [3, 2, 1], 0),
        ([1], [1], 0),
    ],
)
def test_reversed_scores(core: Any, ranks: list[object], scores: list[int], is_reversed: int) -> None:
    run = lines(*(("q", f"d{i}", rank, score) for i, (rank, score) in enumerate(zip(ranks, scores, strict=True))))
    assert [facts["reversed"] for facts in facts_of(core, run)] == [is_reversed]


def test_a_query_that_finds_itself(core: Any) -> None:
    run = lines(("d2", "d1", 1, 2), ("d2", "d2", 2, 1), ("d1", "d2", 1, 1), ("q", "qq", 1, 1))
    found = {facts["self_rank"]: facts["self_at"] for facts in facts_of(core, run)}
    assert found == {0: -1, 2: line_starts(run)[1]}


def test_unjudged_in_the_first_ten(core: Any) -> None:
    judgments = "".join(f"q 0 d{i} 1\n" for i in range(10))
    shown = [("q", f"d{i}", i, -i) for i in range(10)]
    run = lines(*shown, ("q", "x", 11, -11), ("extra", "x", 1, 1))
    assert [facts["unjudged_at"] for facts in facts_of(core, run, judgments)] == [-1, -1]
    run = lines(*shown[:9], ("q", "x", 10, -10), ("q", "y", 11, -11))
    assert facts_of(core, run, judgments)[0]["unjudged_at"] == line_starts(run)[9]
    cut = (*DEFAULTS[:4], 9, *DEFAULTS[5:])
    assert facts_of(core, run, judgments, cut)[0]["unjudged_at"] == -1


def test_other_orders_do_not_change_facts_about_scores(core: Any) -> None:
    run = lines(("q", "a", 1, 1), ("q", "b", 2, 2), ("q", "c", 3, 2))
    for order in (0, 1, 2):
        for float32 in (False, True):
            [facts] = facts_of(core, run, options=(order, 0, float32, *DEFAULTS[3:]))
            assert (facts["tied"], facts["rank_conflicts"], facts["reversed"]) == (2, 1, 1)
            assert facts["unjudged_at"] == line_starts(run)[0 if order else 2]


def test_without_asking_there_are_none(core: Any) -> None:
    run, index = as_array(b"q Q0 d 1 1 t\n"), index_of(core, b"q 0 d 1\n")
    assert core.join_text(run, index, core.JoinOptions(*DEFAULTS), 1, no_progress())["facts"] is None


def definition(rows: list[tuple[str, float, float]]) -> dict[str, int]:
    """Counts for one list of distinct documents (ID, rank, score) by comparing all pairs."""
    others = {i: [other for j, other in enumerate(rows) if j != i] for i in range(len(rows))}
    single = [np.float32(score) for _, _, score in rows]
    float32_tied = 0
    for i in range(len(rows)):
        group = [rows[j][2] for j in range(len(rows)) if single[j] == single[i]]
        float32_tied += any(score != group[0] for score in group)
    return {
        "tied": sum(any(other[2] == row[2] for other in others[i]) for i, row in enumerate(rows)),
        "float32_tied": float32_tied,
        "rank_conflicts": sum(
            any(other[2] > row[2] and other[1] > row[1] for other in others[i]) for i, row in enumerate(rows)
        ),
        "constant": int(len(rows) > 1 and len({score for _, _, score in rows}) == 1),
        "reversed": int(
            len({score for _, _, score in rows}) > 1
            and len({rank for _, rank, _ in rows}) > 1
            and all(
                (row[1] < other[1]) == (row[2] < other[2]) and (row[1] == other[1]) <= (row[2] == other[2])
                for i, row in enumerate(rows)
                for other in others[i]
                if row[2] != other[2]
            )
        ),
    }


def test_counts_against_their_definition(core: Any) -> None:
    chance = random.Random(5)
    scores = ["1", "1.00000000001", "2", "0", "-0.0", "3.5"]
    found_any = dict.fromkeys(definition([]), 0)
    for _ in range(400):
        size = chance.choice([1, 2, 3, 3, 4, 8])
        ranks = [chance.randint(1, 4) for _ in range(size)] if chance.random() < 0.5 else list(range(1, size + 1))
        drawn = [chance.choice(scores) for _ in range(size)]
        if chance.random() < 0.3:
            drawn.sort(key=float)
        if len(set(ranks)) == 1 and size > 1:
            continue  # then the order of the input decides, see above
        run = lines(*(("q", f"d{i}", rank, score) for i, (rank, score) in enumerate(zip(ranks, drawn, strict=True))))
        [facts] = facts_of(core, run)
        rows = [(f"d{i}", float(ranks[i]), float(drawn[i])) for i in range(size)]
        expected = definition(rows)
        assert {name: facts[name] for name in expected} == expected, run
        for name, value in expected.items():
            found_any[name] += value > 0
    assert all(count > 10 for count in found_any.values()), found_any


def test_a_job_can_collect_facts(tmp_path: Path) -> None:
    core = pytest.importorskip("gainful.kernel._core", reason="only the compiled core reads ahead")
    qrels, run = b"q 0 a 1\n", lines(("q", "a", 1, 1), ("q", "b", 2, 1), ("p", "p", 0, 1)).encode()
    options = core.JoinOptions(*DEFAULTS, want_facts=True)
    path = tmp_path / "some.run"
    path.write_bytes(run)
    job = core.JoinJob(qrels, [bytes(path)], options, 2, array("q", [0, 0]))
    job.judgments()
    joined, text = job.joined(0)
    assert text.tobytes() == run
    found = joined["facts"]
    alone = core.join_text(as_array(run), index_of(core, qrels), options, 1, no_progress())["facts"]
    assert found["query_ids"] == alone["query_ids"] == [b"p", b"q"]
    for name in alone.keys() - {"query_ids"}:
        np.testing.assert_array_equal(found[name], alone[name])
