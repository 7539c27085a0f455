"""Changes that make nearly equal IDs match, and none if there is no such change."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from unicodedata import normalize

from gainful.data.near_misses import NearMiss, near_miss
from tests.together import together

PLAIN = [f"d{i}" for i in range(1, 31)]
NUMBERS = [str(i) for i in range(1, 31)]
MIXED = [f"{'wiki' if i % 2 else 'news'}-{i}x" for i in range(1, 31)]
ACCENTED = [f"\u00e9t\u00e9-{i}" for i in range(1, 31)]
URLS = [f"example.org/page{i}" for i in range(1, 31)]

CASES: list[tuple[Callable[[str], str], list[str], str]] = [
    (str.upper, PLAIN, "if case is ignored"),
    (partial(normalize, "NFD"), ACCENTED, "as NFC (they differ only in Unicode normal form)"),
    (lambda d: f" {d} ", PLAIN, "without blanks and quotation marks around them"),
    (lambda d: f'"{d}"', PLAIN, "without blanks and quotation marks around them"),
    (lambda d: d.zfill(8), NUMBERS, "as numbers, without leading zeros and '.0'"),
    (lambda d: f"{d}.0", NUMBERS, "as numbers, without leading zeros and '.0'"),
    (lambda d: f"http://www.{d}", URLS, "without http://, www. and a slash at the end"),
    (lambda d: f"https://{d}/", URLS, "without http://, www. and a slash at the end"),
    (lambda d: f"msmarco_doc_{d}", NUMBERS, "without the run's prefix 'msmarco_doc_'"),
    (lambda d: f"D{d}", NUMBERS, "without the run's prefix 'D'"),
    (lambda d: f"{d}.txt", PLAIN, "without the run's suffix '.txt'"),
    (lambda d: f"{d}#0", PLAIN, "without the run's suffix '#0'"),
    (lambda d: f"{d}#{len(d)}", MIXED, "using only the part before the last '#' of the run's ids"),
    (lambda d: f"{len(d)}:{d}", MIXED, "using only the part after the last ':' of the run's ids"),
    (lambda d: f"doc_{d.zfill(5)}", NUMBERS, "without the run's prefix 'doc_' and as numbers"),
    (lambda d: f"DOC_{d.upper()}", MIXED, "without the run's prefix 'DOC_' and if case is ignored"),
]


@together(("write", "ids", "how"), CASES)
def test_the_change_is_named(write: Callable[[str], str], ids: list[str], how: str) -> None:
    found = near_miss([write(identifier) for identifier in ids], ids)
    first = min(write(identifier) for identifier in ids)
    assert found is not None
    assert (found.how, found.count, found.total, found.found) == (how, 30, 30, first)
    assert write(found.wanted) == found.found


@together(("write", "ids", "how"), CASES)
def test_it_works_in_both_directions(write: Callable[[str], str], ids: list[str], how: str) -> None:
    found = near_miss(ids, [write(identifier) for identifier in ids])
    assert found is not None
    assert (found.how, found.count) == (how.replace("the run's", "the judgments'"), 30)


def test_the_order_of_ids_does_not_matter() -> None:
    upper = [identifier.upper() for identifier in PLAIN]
    assert near_miss(upper, PLAIN) == near_miss(upper[::-1] + upper, PLAIN[::-1])


def test_some_of_many() -> None:
    run = [f"x{i}" for i in range(1000)] + ["D1", "D2"]
    assert near_miss(run, PLAIN) == NearMiss("if case is ignored", 2, 1002, "D1", "d1")


@together(
    ("run", "judged"),
    [
        (["a", "b"], ["x", "y"]),
        ([f"a-{i}" for i in range(9)], [f"b-x{i}" for i in range(9)]),
        # All would be 'clueweb' before the first separator, which says nothing.
        ([f"clueweb-{i}" for i in range(20)], [f"clueweb_{i + 100}" for i in range(20)]),
        ([""], ["a"]),
        (["a"], ["b"]),
    ],
)
def test_nothing_in_common(run: list[str], judged: list[str]) -> None:
    assert near_miss(run, judged) is None


def test_one_chance_match_of_many_is_none() -> None:
    run, judged = [f"x{i}" for i in range(200)], [f"y{i}-" for i in range(200)]
    assert near_miss([*run, "ONE"], [*judged, "one"]) is None
