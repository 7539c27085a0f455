"""Near misses: IDs of a run that would match those of the judgments if they were written alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import takewhile
from operator import methodcaller
from typing import TypeAlias

from gainful.frozen import dataclass, field
from gainful.notation import ONLY_IN_ENCODING, ONLY_IN_FORM, as_meant, normal_form

Change: TypeAlias = Callable[[str], str]

_SEPARATORS = "#_-:/.|@"
_DIGITS = "0123456789"
_WHOLE_NUMBER = re.compile(r"[+-]?0*(\d+)(?:\.0*)?", re.ASCII)
_URL = re.compile(r"(?:[a-z]+://)?(?:www\.)?(.*?)/?", re.IGNORECASE | re.DOTALL)
#: Matches of a smaller share of the smaller side could be due to chance.
_ENOUGH = 0.02
#: A change that leaves a smaller share of distinct IDs is rejected, since it would make anything match.
_KEPT_APART = 0.2
#: Number of characters compared: each change copies them.
_LONGEST = 1000


@dataclass(frozen=True)
class NearMiss:
    """A change that makes IDs match: its description, the matches and the total, an example, and all pairs."""

    how: str
    count: int
    total: int
    found: str
    wanted: str
    pairs: tuple[tuple[str, str], ...] = field(default=(), repr=False, compare=False)


def near_miss(found: Sequence[str], wanted: Sequence[str]) -> NearMiss | None:
    """Return the simplest change that makes most IDs of a run match those of the judgments; None if none does.

    >>> near_miss(["DOC1", "DOC2"], ["doc1", "doc2", "doc3"])
    NearMiss(how='if case is ignored', count=2, total=2, found='DOC1', wanted='doc1')
    >>> near_miss(["a1", "a2"], ["x3", "x4"]) is None
    True
    """
    run, judged = (sorted({each[:_LONGEST] for each in ids}) for ids in (found, wanted))
    best: NearMiss | None = None
    for how, of_run, of_judged in _attempts(run, judged):
        changed_run = [of_run(identifier) for identifier in run]
        by_changed = {of_judged(identifier): identifier for identifier in reversed(judged)}
        if len(by_changed) < _KEPT_APART * len(judged) or len(set(changed_run)) < _KEPT_APART * len(run):
            continue
        pairs = [(run[i], by_changed[changed]) for i, changed in enumerate(changed_run) if changed in by_changed]
        is_enough = len(pairs) >= _ENOUGH * min(len(run), len(judged))
        if pairs and is_enough and (best is None or len(pairs) > best.count):
            best = NearMiss(how, len(pairs), len(run), *pairs[0], tuple(pairs))
    return best


def _attempts(run: Sequence[str], judged: Sequence[str]) -> Iterator[tuple[str, Change, Change]]:
    """Yield changes, simple ones first: the description, and a function for each side."""

    def after(first: Change, second: Change) -> Change:
        return lambda identifier: second(first(identifier))

    def inside(pattern: re.Pattern[str]) -> Change:
        return lambda identifier: found[1] if (found := pattern.fullmatch(identifier)) else identifier

    as_number, as_url = inside(_WHOLE_NUMBER), inside(_URL)
    for how, change in (
        ("if case is ignored", str.casefold),
        (f"as NFC (they differ {ONLY_IN_FORM})", normal_form),
        (f"in one encoding (they differ {ONLY_IN_ENCODING})", as_meant),
        ("without blanks and quotation marks around them", lambda each: each.strip().strip("\"'").strip()),
        ("as numbers, without leading zeros and '.0'", as_number),
        ("without http://, www. and a slash at the end", as_url),
    ):
        yield how, change, change
    same: Change = str
    one_sided = [
        *((how, change, same) for how, change in _shortenings(run, "run's")),
        *((how, same, change) for how, change in _shortenings(judged, "judgments'")),
    ]
    yield from one_sided
    # Combinations: a prefix or suffix on one side, and a different notation.
    for also, change in ((" and if case is ignored", str.casefold), (" and as numbers", as_number)):
        for how, of_run, of_judged in one_sided:
            yield how + also, after(of_run, change), after(of_judged, change)


def _shortenings(ids: Sequence[str], whose: str) -> Iterator[tuple[str, Change]]:
    """Yield changes that remove a common prefix or suffix, longest first, or a part at a separator."""
    start = _common_start(ids)
    ends = {len(start.rstrip(_DIGITS)), *(i + 1 for i, character in enumerate(start) if character in _SEPARATORS)}
    for prefix in (start[:end] for end in sorted(ends, reverse=True) if end):
        yield f"without the {whose} prefix '{prefix}'", methodcaller("removeprefix", prefix)
    end = _common_start([identifier[::-1] for identifier in ids])[::-1]
    starts = {len(end) - len(end.lstrip(_DIGITS)), *(i for i, character in enumerate(end) if character in _SEPARATORS)}
    for suffix in (end[at:] for at in sorted(starts) if at < len(end)):
        yield f"without the {whose} suffix '{suffix}'", methodcaller("removesuffix", suffix)
    present = set("".join(ids))
    for mark in filter(present.__contains__, _SEPARATORS):
        yield f"using only the part before the last '{mark}' of the {whose} ids", partial(_part, mark, 0)
        yield f"using only the part after the last '{mark}' of the {whose} ids", partial(_part, mark, 2)


def _part(mark: str, which: int, identifier: str) -> str:
    return identifier.rpartition(mark)[which] or (identifier if which == 0 else "")


def _common_start(ids: Sequence[str]) -> str:
    same = takewhile(lambda pair: pair[0] == pair[1], zip(min(ids), max(ids), strict=False))
    return "".join(character for character, _ in same)[: min(map(len, ids)) - 1]
