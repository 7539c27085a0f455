"""Chunks that are relevant by how much of a judged span they cover."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import gainful
from gainful import InputError, Policy, UsageError, evaluate, examine, explain

GOLD = {"q1": {"a.pdf[100:200]": 2, "b.pdf[0:50]": 1}, "q2": {"a.pdf[0:10]": 1}}
#: Shares by hand: 0.5 of a.pdf[100:200], 0.6 of it again, all of b.pdf[0:50], no span; half of a.pdf[0:10].
CHUNKS = {
    "q1": ["a.pdf[150:400]", "a.pdf[0:160]", "b.pdf[0:50]", "c.pdf[0:5]"],
    "q2": ["a.pdf[5:15]", "a.pdf[100:200]"],
}


def scores(gold: Any, chunks: Any, measure: str, **options: Any) -> dict[str, float | None]:
    return evaluate(gold, chunks, [measure], **options).by_query(measure)


@pytest.mark.filterwarnings("ignore:.*chunk dropped")
@pytest.mark.parametrize(
    ("spans", "lists"),
    [
        ("0.5", {"q1": [2, 1, 0], "q2": [1, 0]}),
        ("0.55", {"q1": [0, 2, 1, 0], "q2": [0, 0]}),
        ("1", {"q1": [0, 0, 1, 0], "q2": [0, 0]}),
        ("share", {"q1": [1, 1, 0], "q2": [0.5, 0]}),
    ],
)
def test_grades_by_hand(core: str, spans: str, lists: dict[str, list[float]]) -> None:
    """The first chunk that covers enough of a span counts, later ones are dropped and ranks closed up."""
    expected = {query: sum(grade / rank for rank, grade in enumerate(grades, 1)) for query, grades in lists.items()}
    found = scores(GOLD, CHUNKS, "DCG(discount=rank)@10", spans=spans)
    assert found == pytest.approx(expected, abs=1e-15)


def naive(gold: dict[str, int], chunks: list[str], least: float, by_share: bool) -> list[float]:
    """Grades by rank, position by position."""

    def positions(identifier: str) -> set[tuple[str, int]]:
        document, _, rest = identifier.rpartition("[")
        start, _, end = rest.rstrip("]").partition(":")
        return {(document, at) for at in range(int(start), int(end))}

    credited: list[str] = []
    grades: list[float] = []
    for chunk in chunks:
        shares = {span: len(positions(span) & positions(chunk)) / len(positions(span)) for span in gold}
        best = max(shares, key=lambda span: (shares[span], len(positions(span)), span))
        if shares[best] == 0 or shares[best] < least:
            grades.append(0.0)
        elif best not in credited:
            credited.append(best)
            grades.append(gold[best] * (shares[best] if by_share else 1))
    return grades


@pytest.mark.filterwarnings("ignore:.*chunk.* dropped")
@pytest.mark.parametrize("spans", ["share", "0.3", "0.8"])
def test_random_chunks_agree_with_a_naive_computation(core: str, spans: str) -> None:
    rng = random.Random(7)
    gold, chunks = dict[str, dict[str, int]](), dict[str, list[str]]()
    for query in (f"q{i}" for i in range(60)):
        starts = rng.sample(range(0, 200, 20), 4)
        gold[query] = {f"d{rng.randrange(2)}[{at}:{at + rng.randrange(5, 40)}]": rng.randrange(1, 4) for at in starts}
        edges = [(rng.randrange(2), at, at + rng.randrange(10, 80)) for at in rng.sample(range(180), 12)]
        chunks[query] = [f"d{document}[{start}:{end}]" for document, start, end in edges]
    least, by_share = (0.0, True) if spans == "share" else (float(spans), False)
    expected = {
        query: sum(grade / rank for rank, grade in enumerate(naive(gold[query], chunks[query], least, by_share), 1))
        for query in gold
    }
    assert scores(gold, chunks, "DCG(discount=rank)@100", spans=spans) == pytest.approx(expected, abs=1e-12)


def test_ids_are_made_of_columns(tmp_path: Path) -> None:
    gold, run = tmp_path / "gold.csv", tmp_path / "run.jsonl"
    rows = [
        (query, *identifier.rstrip("]").replace("[", ":").split(":"), grade)
        for query, grades in GOLD.items()
        for identifier, grade in grades.items()
    ]
    gold.write_text("query,doc,start,end,grade\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    lists = {
        query: [
            {"metadata": {"source": document, "start_index": int(start), "end_index": int(end)}, "score": 9 - rank}
            for rank, chunk in enumerate(chunks)
            for document, start, end in [chunk.rstrip("]").replace("[", ":").split(":")]
        ]
        for query, chunks in CHUNKS.items()
    }
    run.write_text("".join(json.dumps({"query": q, "results": each}) + "\n" for q, each in lists.items()))
    columns = {
        "qrels.document": "doc[start:end]",
        "run.document": "metadata.source[metadata.start_index:metadata.end_index]",
    }
    expected = scores(GOLD, CHUNKS, "nDCG@10", spans="1")
    assert scores(gold, run, "nDCG@10", spans="1", columns=columns) == expected
    frame = pd.DataFrame(rows, columns=["query", "doc", "start", "end", "grade"])
    assert scores(frame, lists, "nDCG@10", spans="1", columns=columns) == expected


def test_columns_of_positions_are_not_grades(tmp_path: Path) -> None:
    gold = tmp_path / "gold.csv"
    gold.write_text("query,doc,start,end\nq1,a.pdf,100,200\n")
    with pytest.raises(InputError, match="no column for the grade among query, doc, start, end") as caught:
        evaluate(gold, CHUNKS, "RR", spans=0.5)
    columns = {"document": "doc[start:end]"}
    assert caught.value.hint == f"for passages, use columns={columns} with spans=0.5"
    with pytest.warns(UserWarning, match="no column for the grade; every listed document counts as relevant"):
        assert evaluate(gold, CHUNKS, "RR", spans=0.5, columns=columns).mean("RR") == 1


def test_a_part_of_a_run_without_positions_is_noticed() -> None:
    with pytest.warns(UserWarning, match=r"1 of 2 ids without positions, such as 'b'"):
        evaluate(GOLD, {"q1": ["a.pdf[150:400]", "b"]}, ["RR"], spans="0.5")


def test_without_positions_there_is_nothing_to_cover() -> None:
    with pytest.raises(InputError, match="no id has positions, such as 'a'") as caught:
        evaluate({"q1": {"a": 1}}, {"q1": ["a[0:5]"]}, ["RR"], spans="0.5")
    assert "{'document': 'doc[start:end]'}" in str(caught.value.hint)
    with pytest.raises(InputError, match="no id has positions, such as 'a'"):
        evaluate({"q1": {"a[0:5]": 1}}, {"q1": ["a"]}, ["RR"], spans="0.5")


@pytest.mark.parametrize("spans", ["0", "1.5", "half", -1])
def test_a_share_is_above_0_and_at_most_1(spans: object) -> None:
    with pytest.raises(UsageError, match="spans"):
        Policy.of({"spans": spans})


@pytest.mark.filterwarnings("ignore:.*chunk dropped")
def test_what_follows_the_policy() -> None:
    """Signatures have the choice, explanations show the chunk with its grade, and checks know what is judged."""
    result = evaluate(GOLD, CHUNKS, ["nDCG@10"], spans="share")
    assert "spans:share" in str(result.signature())
    explained = explain("nDCG@10", GOLD, CHUNKS, "q1", Policy(spans="share"))
    assert "a.pdf[150:400]" in str(explained) and explained.value == pytest.approx(result.by_query("nDCG@10")["q1"])
    found = examine(GOLD, {"mine": CHUNKS}, policy={"spans": "0.5"})
    assert "unmatched-documents" not in str(found)
    with pytest.raises(UsageError, match=r"spans= cannot be used with sessions"):
        log = b'{"session": "s1", "topic": "q1", "queries": [{"results": ["a.pdf[0:5]"]}]}'
        gainful.evaluate_sessions(GOLD, log, ["sDCG@10"], policy={"spans": "share"})


def test_the_order_of_the_input_does_not_matter() -> None:
    """Of tied chunks of a span the largest share counts; of spans covered alike the longest one."""
    for documents in (["a[0:50]", "a[0:100]"], ["a[0:100]", "a[0:50]"]):
        run = {"q": dict.fromkeys(documents, 1.0)}
        with pytest.warns(UserWarning, match="1 chunk dropped"):
            assert scores({"q": {"a[0:100]": 2}}, run, "CG", spans="share") == {"q": 2.0}
    for spans in ({"a[0:100]": 3, "a[10:20]": 1}, {"a[10:20]": 1, "a[0:100]": 3}):
        assert scores({"q": spans}, {"q": ["a[0:100]"]}, "CG", spans="share") == {"q": 3.0}
    with pytest.raises(UsageError, match="ties=best cannot be used with spans=share"):
        Policy(ties="best", spans="share")


def test_positions_may_be_whole_floats() -> None:
    """A column of a frame with an empty cell elsewhere has floats; longer numbers are no positions."""
    frame = pd.DataFrame({"query": ["q"], "doc": ["a"], "start": [0.0], "end": [100.0], "grade": [2]})
    columns = {"qrels.document": "doc[start:end]"}
    assert scores(frame, {"q": ["a[0:100]"]}, "CG", spans="1", columns=columns) == {"q": 2.0}
    with pytest.raises(InputError, match="no id has positions"):
        scores({"q": {"a[0:9]": 1}}, {"q": [f"a[0:{'9' * 5000}]"]}, "CG", spans="1")
