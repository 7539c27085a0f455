"""Ids that are nearly the same: what would have to be done to those of a run or of the judgments to make them meet."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import NamedTuple, TypeAlias

Change: TypeAlias = Callable[[str], str]

_SEPARATORS = "#_-:/.|@"
_DIGITS = "0123456789"
_WHOLE_NUMBER = re.compile(r"[+-]?0*(\d+)(?:\.0*)?", re.ASCII)
_URL = re.compile(r"(?:[a-z]+://)?(?:www\.)?(.*?)/?", re.IGNORECASE | re.DOTALL)
#: Fewer than this share of the smaller side could be chance.
_ENOUGH = 0.02
#: A change that makes most ids equal would make anything match.
_KEPT_APART = 0.2


@dataclass(frozen=True)
class NearMiss:
    """What makes ids match: how, how many of how many, and a pair that does; then all pairs."""

    how: str
    count: int
    total: int
    found: str
    wanted: str
    pairs: tuple[tuple[str, str], ...] = field(default=(), repr=False, compare=False)


class _Attempt(NamedTuple):
    """One way to make ids meet: a change to those of the run and one to those of the judgments."""

    how: str
    of_run: Change
    of_judged: Change


def near_miss(found: Sequence[str], wanted: Sequence[str]) -> NearMiss | None:
    """The change that makes most ids of a run match those of the judgments, the simplest of equals; None if none does.

    >>> near_miss(["DOC1", "DOC2"], ["doc1", "doc2", "doc3"])
    NearMiss(how='if case is ignored', count=2, total=2, found='DOC1', wanted='doc1')
    >>> near_miss(["a1", "a2"], ["x3", "x4"]) is None
    True
    """
    run, judged = sorted(set(found)), sorted(set(wanted))
    best: NearMiss | None = None
    for attempt in _attempts(run, judged):
        match = _matched(attempt, run, judged)
        if match is not None and (best is None or match.count > best.count):
            best = match
    return best


def _matched(attempt: _Attempt, run: Sequence[str], judged: Sequence[str]) -> NearMiss | None:
    changed_run = [attempt.of_run(identifier) for identifier in run]
    by_changed = {attempt.of_judged(identifier): identifier for identifier in reversed(judged)}
    if len(by_changed) < _KEPT_APART * len(judged) or len(set(changed_run)) < _KEPT_APART * len(run):
        return None
    matches = [i for i, changed in enumerate(changed_run) if changed in by_changed]
    if not matches or len(matches) < _ENOUGH * min(len(run), len(judged)):
        return None
    pairs = tuple((run[i], by_changed[changed_run[i]]) for i in matches)
    return NearMiss(attempt.how, len(matches), len(run), *pairs[0], pairs)


def _attempts(run: Sequence[str], judged: Sequence[str]) -> Iterator[_Attempt]:
    """All ways that are tried, simple ones first."""
    yield _Attempt("if case is ignored", str.casefold, str.casefold)
    yield _Attempt("without blanks and quotation marks around them", _bare, _bare)
    yield _Attempt("as numbers, without leading zeros and '.0'", _as_number, _as_number)
    yield _Attempt("without http://, www. and a slash at the end", _as_url, _as_url)
    of_run = [_Attempt(how, change, _same) for how, change in _shortenings(run, "run's")]
    of_judged = [_Attempt(how, _same, change) for how, change in _shortenings(judged, "judgments'")]
    yield from (one_sided := [*of_run, *of_judged])
    # Two things at once: ids of one side longer, and written differently beside.
    for also, change in ((" and if case is ignored", str.casefold), (" and as numbers", _as_number)):
        for attempt in one_sided:
            yield _Attempt(attempt.how + also, _both(attempt.of_run, change), _both(attempt.of_judged, change))


def _shortenings(ids: Sequence[str], whose: str) -> Iterator[tuple[str, Change]]:
    """Without what all ids of one side begin or end with; then only what stands before or after a separator, such as
    the document of a passage `d12#3`."""
    for prefix in _prefixes(ids):
        yield f"without the {whose} prefix '{prefix}'", _without_prefix(prefix)
    for suffix in _suffixes(ids):
        yield f"without the {whose} suffix '{suffix}'", _without_suffix(suffix)
    present = set("".join(ids))
    for separator in filter(present.__contains__, _SEPARATORS):
        yield f"with only what stands before the {whose} last '{separator}'", _before(separator)
        yield f"with only what stands after the {whose} last '{separator}'", _after(separator)


def _same(identifier: str) -> str:
    return identifier


def _both(first: Change, second: Change) -> Change:
    return lambda identifier: second(first(identifier))


def _bare(identifier: str) -> str:
    return identifier.strip().strip("\"'").strip()


def _as_number(identifier: str) -> str:
    number = _WHOLE_NUMBER.fullmatch(identifier)
    return number[1] if number else identifier


def _as_url(identifier: str) -> str:
    address = _URL.fullmatch(identifier)
    return address[1] if address else identifier


def _without_prefix(prefix: str) -> Change:
    return lambda identifier: identifier.removeprefix(prefix)


def _without_suffix(suffix: str) -> Change:
    return lambda identifier: identifier.removesuffix(suffix)


def _before(separator: str) -> Change:
    return lambda identifier: identifier.rpartition(separator)[0] or identifier


def _after(separator: str) -> Change:
    return lambda identifier: identifier.rpartition(separator)[2]


def _prefixes(ids: Sequence[str]) -> list[str]:
    """What all ids begin with, longest first: up to its last character that is no digit, and up to each separator."""
    common = _common_start(ids)
    ends = {i + 1 for i, character in enumerate(common) if character in _SEPARATORS}
    ends.add(len(common.rstrip(_DIGITS)))
    return [common[:end] for end in sorted(ends, reverse=True) if end]


def _suffixes(ids: Sequence[str]) -> list[str]:
    """What all ids end with, longest first: from its first character that is no digit, and from each separator on."""
    common = _common_start([identifier[::-1] for identifier in ids])[::-1]
    starts = {i for i, character in enumerate(common) if character in _SEPARATORS}
    starts.add(len(common) - len(common.lstrip(_DIGITS)))
    return [common[start:] for start in sorted(starts) if start < len(common)]


def _common_start(ids: Sequence[str]) -> str:
    """What all ids begin with, short of a whole id."""
    least, greatest = min(ids), max(ids)
    same = takewhile(lambda pair: pair[0] == pair[1], zip(least, greatest, strict=False))
    shortest = min(map(len, ids))
    return "".join(character for character, _ in same)[: shortest - 1]
