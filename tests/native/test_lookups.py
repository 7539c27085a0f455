"""Lists that share judgments, and repeated documents: both cores against dicts and sets."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from tests.together import together


def packed(core: Any, ids: list[bytes]) -> tuple[Any, Any, Any]:
    data, start, length, bad = core.pack_ids(list(ids))
    assert bad == -1
    return data, start, length


def offsets(lists: list[list[bytes]]) -> Any:
    return np.concatenate(([0], np.cumsum([len(documents) for documents in lists]))).astype(np.int64)


def cases(count: int) -> list[tuple[list[tuple[int, bytes]], list[int], list[list[bytes]]]]:
    """Judged pairs of query and document, the query of every list, and the lists."""
    made = []
    for seed in range(count):
        random_ = random.Random(seed)
        ids = [b"d%d" % i for i in range(random_.randint(1, 12))] + [b"a-rather-long-document-id-%d" % seed]
        queries = random_.randint(1, 4)
        judged = [(random_.randrange(queries), random_.choice(ids)) for _ in range(random_.randint(1, 20))]
        lists = [[random_.choice(ids) for _ in range(random_.randint(0, 9))] for _ in range(random_.randint(0, 8))]
        made.append((judged, [random_.randint(-1, queries - 1) for _ in lists], lists))
    return made


@together("threads", [1, 3])
def test_judged_documents_of_lists_that_share_judgments(core: Any, threads: int) -> None:
    for judged, query_of_list, lists in cases(60):
        queries = max(query for query, _ in judged) + 1
        rows = np.array([query for query, _ in judged], np.int64)
        index = core.JudgmentIndex(
            [b"q%d" % i for i in range(queries)], rows, *packed(core, [document for _, document in judged])
        )
        known = [min(query, queries - 1) for query in query_of_list]
        place, of_list, item, has_repeats = index.find_hits(
            np.array(known, np.int64),
            offsets(lists),
            *packed(core, [document for documents in lists for document in documents]),
            threads=threads,
        )
        item_of = dict(zip(judged, index.item.tolist(), strict=True))
        rows = [(i, document) for i, documents in enumerate(lists) for document in documents]
        expected = [
            (row, i, item_of[known[i], document])
            for row, (i, document) in enumerate(rows)
            if (known[i], document) in item_of
        ]
        assert {place.dtype, of_list.dtype, item.dtype} == {np.dtype(np.int64)}
        assert list(zip(place.tolist(), of_list.tolist(), item.tolist(), strict=True)) == expected
        assert has_repeats is any(len(set(documents)) < len(documents) for documents in lists)


@together("length", [31, 32, 33])
def test_more_lists_than_a_piece_of_work_has_and_longer_ones(core: Any, length: int) -> None:
    """Without repeats, with one in an unjudged list, and with judged documents in every list."""
    lists = [[b"%d" % (i + j) for j in range(length)] for i in range(2100)]
    index = core.JudgmentIndex([b"q"], np.zeros(2, np.int64), *packed(core, [b"2099", b"7"]))
    for repeated in (False, True):
        if repeated:
            lists[1999][length - 1] = lists[1999][0]
        queries = np.where(np.arange(2100) == 1999, -1, 0)
        rows = packed(core, [document for documents in lists for document in documents])
        expected = [
            (i * length + j, i, 0 if document == b"2099" else 1)
            for i, documents in enumerate(lists)
            for j, document in enumerate(documents)
            if document in (b"2099", b"7") and i != 1999
        ]
        for threads in (1, 3):
            place, of_list, item, has_repeats = index.find_hits(queries, offsets(lists), *rows, threads=threads)
            assert list(zip(place.tolist(), of_list.tolist(), item.tolist(), strict=True)) == expected
            assert has_repeats is repeated
            found = core.find_repeats(offsets(lists), *rows, threads=threads)
            assert np.flatnonzero(found).tolist() == ([2000 * length - 1] if repeated else [])


@together("threads", [1, 3])
def test_repeats_within_groups(core: Any, threads: int) -> None:
    groups = [documents for _, _, lists in cases(60) for documents in lists] * 20  # more than one piece of work
    found = core.find_repeats(
        offsets(groups), *packed(core, [document for group in groups for document in group]), threads=threads
    )
    expected = [document in group[:i] for group in groups for i, document in enumerate(group)]
    assert found.dtype == np.bool_
    assert found.tolist() == expected


def test_inconsistent_arrays_are_errors(core: Any) -> None:
    index = core.JudgmentIndex([b"q"], np.zeros(1, np.int64), *packed(core, [b"d"]))
    ids = packed(core, [b"d", b"e"])
    for query, bounds in (([0], [0, 1]), ([0], [0, 3]), ([0, 0], [0, 2, 1]), ([1], [0, 2]), ([0], [0, 1, 2]), ([], [])):
        with pytest.raises(ValueError, match=r"offsets|position"):
            index.find_hits(np.array(query, np.int64), np.array(bounds, np.int64), *ids, threads=1)
    with pytest.raises(ValueError, match="offsets"):
        core.find_repeats(np.array([0, 1], np.int64), *ids, threads=1)
    with pytest.raises(ValueError, match="span"):
        core.find_repeats(np.array([0, 2], np.int64), ids[0], ids[1], ids[2] + 5, threads=1)
