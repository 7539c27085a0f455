"""A text that arrives in pieces is joined like the whole text, or not at all."""

from __future__ import annotations

import random
from array import array
from pathlib import Path

import numpy as np
import pytest

core = pytest.importorskip("gainful.kernel._core", reason="only the compiled core joins blocks")

QRELS = b"".join(b"q%d 0 d%d %d\n" % (q, d, (q + d) % 3) for q in range(12) for d in range(8))
PLAIN = core.JoinOptions(0, 0, False, True, 0)


def as_array(data: bytes) -> np.ndarray:
    return np.frombuffer(data, np.uint8)


@pytest.fixture(scope="module")
def index() -> object:
    read = core.read_judgments(as_array(QRELS), 1)
    return core.JudgmentIndex(
        read["query_ids"], read["query"], as_array(QRELS), read["document_start"], read["document_length"]
    )


def drawn(rng: random.Random, *, mixed: float = 0.0) -> bytes:
    """A run with comments, blank lines, judged and other queries, repeated documents; perhaps mixed lists."""
    lists = []
    for q in rng.sample(range(20), rng.randint(0, 15)):
        lines = [
            f"q{q} Q0 d{rng.randint(0, 15)} {rank} {rng.randint(0, 5)} tag" for rank in range(1, rng.randint(2, 30))
        ]
        lists.append(lines)
    lines = [line for each in lists for line in each]
    for _ in range(int(mixed * len(lines))):
        a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
        lines[a], lines[b] = lines[b], lines[a]
    for _ in range(rng.randint(0, 5)):
        lines.insert(rng.randint(0, len(lines)), rng.choice(["", "# a comment", "   "]))
    return rng.choice(["", "\ufeff"]).encode() + "\n".join(lines).encode() + rng.choice([b"", b"\n", b"\r\n"])


def same(one: dict[str, object], other: dict[str, object]) -> bool:
    return all(np.array_equal(np.asarray(one[key]), np.asarray(other[key])) for key in other)


def test_blocks_of_any_size_equal_the_whole_text(index: object) -> None:
    rng = random.Random(1)
    joined, refused = 0, 0
    for case in range(600):
        text = drawn(rng, mixed=rng.choice([0, 0, 0, 0.1]))
        options = core.JoinOptions(rng.randint(0, 2), rng.randint(0, 3), False, True, rng.choice([0, 5]), case % 2 == 0)
        progress, threads = array("q", [0, 0]), rng.randint(1, 3)
        blocks = core.TextBlocks(index, options, threads, progress, 2**31, rng.choice([1, 7, 100, 1000, 10**6]))
        rest = text
        while rest:
            size = rng.choice([1, 5, 50, 500, len(rest)])
            if not blocks.feed(rest[:size]):
                break
            rest = rest[size:]
        found = blocks.finish()
        if found is None:
            refused += 1
            assert progress[0] == 0, "what has to be done again is not done"
            continue
        joined += 1
        assert same(found, core.join_text(as_array(text), index, options, 1, array("q", [0, 0]))), text
        assert progress[0] == len(text)
    assert joined > 400 and refused > 20


@pytest.mark.parametrize("query", [b"q1", b"x"])
def test_lists_that_come_back(index: object, query: bytes) -> None:
    others = b"".join(b"q%d Q0 d1 1 1 t\n" % i for i in range(2, 100))
    once, twice = query + b" Q0 d1 1 1 t\n" + others, query + b" Q0 d1 1 1 t\n" + others + query + b" Q0 d2 2 0 t\n"
    for text, size, fits in ((once, 1, True), (twice, 1, False), (twice, 10**6, True)):
        blocks = core.TextBlocks(index, PLAIN, 1, array("q", [0, 0]), 2**31, size)
        for at in range(0, len(text), 15):
            blocks.feed(text[at : at + 15])
        assert (blocks.finish() is not None) == fits


@pytest.mark.parametrize("text", [b"q1 Q0 d1 1 1\n", b"q1 Q0 d1 1 x t\n", b"q1 Q0 d1 1 1 t\nq1 Q0 d1 2 0 t\n"])
def test_faults_are_for_who_has_the_whole_text(index: object, text: bytes, tmp_path: Path) -> None:
    options = core.JoinOptions(0, 0, False, False, 0)
    blocks = core.TextBlocks(index, options, 1, array("q", [0, 0]))
    assert blocks.feed(text)
    assert blocks.finish() is None
    path = tmp_path / "some.run"
    path.write_bytes(text)
    assert core.join_file(bytes(path), index, options, 1, array("q", [0, 0])) is None
    assert core.join_text(as_array(text), index, options, 1, array("q", [0, 0]))["fault_count"] == 1


def test_a_list_of_more_bytes_than_may_be_held(index: object, tmp_path: Path) -> None:
    text = b"".join(b"q1 Q0 d%d 1 1 t\n" % i for i in range(10_000))
    for most, fits in ((2**31, True), (50_000, False)):
        blocks = core.TextBlocks(index, PLAIN, 1, array("q", [0, 0]), most, 1000)
        assert blocks.feed(text) == fits
        assert (blocks.finish() is not None) == fits


def test_a_file(index: object, tmp_path: Path) -> None:
    text = drawn(random.Random(5))
    path = tmp_path / "some.run"
    path.write_bytes(text)
    found = core.join_file(bytes(path), index, PLAIN, 2, array("q", [0, 0]))
    assert same(found, core.join_text(as_array(text), index, PLAIN, 1, array("q", [0, 0])))
    assert core.join_file(bytes(tmp_path / "nothing"), index, PLAIN, 2, array("q", [0, 0])) is None


def test_places_need_the_whole_text(index: object) -> None:
    for wish in ("want_rows", "want_facts"):
        with pytest.raises(ValueError, match="need the whole text"):
            core.TextBlocks(index, core.JoinOptions(0, 0, False, True, 0, **{wish: True}), 1, array("q", [0, 0]))
