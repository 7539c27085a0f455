"""Whether queries and documents of a run are those of the judgments, and what would make ids meet that nearly do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import takewhile
from operator import methodcaller
from typing import TypeAlias

import numpy as np

from gainful.kernel.arrays import Ints
from gainful.notation import (
    ONLY_IN_ENCODING,
    ONLY_IN_FORM,
    as_meant,
    bytes_of_id,
    lookalikes_of,
    normal_form,
    text_of_id,
)
from gainful.tasks.check import Example, Finding, Severity, at_query, shown_id
from gainful.tasks.check.list_checks import InspectedRun

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


def near_miss(found: Sequence[str], wanted: Sequence[str]) -> NearMiss | None:
    """The change that makes most ids of a run match those of the judgments, the simplest of equals; None if none does.

    >>> near_miss(["DOC1", "DOC2"], ["doc1", "doc2", "doc3"])
    NearMiss(how='if case is ignored', count=2, total=2, found='DOC1', wanted='doc1')
    >>> near_miss(["a1", "a2"], ["x3", "x4"]) is None
    True
    """
    run, judged = sorted(set(found)), sorted(set(wanted))
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
    """All ways to make ids meet, simple ones first: how, a change to those of the run and one to the judgments'."""

    def same(identifier: str) -> str:
        return identifier

    def after(first: Change, second: Change) -> Change:
        return lambda identifier: second(first(identifier))

    def as_number(identifier: str) -> str:
        number = _WHOLE_NUMBER.fullmatch(identifier)
        return number[1] if number else identifier

    def as_url(identifier: str) -> str:
        address = _URL.fullmatch(identifier)
        return address[1] if address else identifier

    for how, change in (
        ("if case is ignored", str.casefold),
        (f"as NFC (they differ {ONLY_IN_FORM})", normal_form),
        (f"in one encoding (they differ {ONLY_IN_ENCODING})", as_meant),
        ("without blanks and quotation marks around them", lambda each: each.strip().strip("\"'").strip()),
        ("as numbers, without leading zeros and '.0'", as_number),
        ("without http://, www. and a slash at the end", as_url),
    ):
        yield how, change, change
    one_sided = [
        *((how, change, same) for how, change in _shortenings(run, "run's")),
        *((how, same, change) for how, change in _shortenings(judged, "judgments'")),
    ]
    yield from one_sided
    # Two things at once: ids of one side longer, and written differently beside.
    for also, change in ((" and if case is ignored", str.casefold), (" and as numbers", as_number)):
        for how, of_run, of_judged in one_sided:
            yield how + also, after(of_run, change), after(of_judged, change)


def _shortenings(ids: Sequence[str], whose: str) -> Iterator[tuple[str, Change]]:
    """Without what all ids of one side begin or end with, longest first: up to a character that is no digit, and up to
    each separator; then only what stands before or after a separator, such as the document of a passage `d12#3`."""
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
        yield f"with only what stands before the {whose} last '{mark}'", partial(_part, mark, 0)
        yield f"with only what stands after the {whose} last '{mark}'", partial(_part, mark, 2)


def _part(mark: str, which: int, identifier: str) -> str:
    return identifier.rpartition(mark)[which] or (identifier if which == 0 else "")


def _common_start(ids: Sequence[str]) -> str:
    same = takewhile(lambda pair: pair[0] == pair[1], zip(min(ids), max(ids), strict=False))
    return "".join(character for character, _ in same)[: min(map(len, ids)) - 1]


#: How many ids of each side, and documents of how many lists, are compared for near misses.
_SAMPLE, _LISTS = 10_000, 1_000
#: Judged documents found, of those that could be: below the first share near misses are looked for, below the second
#: there is a warning anyway.
_FEW, _HARDLY_ANY = 0.05, 0.01
#: Near misses must outnumber what matches as it is.
_MORE = 3
_DONE_MISSING = {
    "skip": "missing=skip leaves them out: the means of runs are then over different queries.",
    "error": "missing=error: gainful eval refuses the run.",
}


def check_queries(run: InspectedRun) -> Iterator[Finding]:
    """Queries of the run without judgments, or none with any; and judged queries that the run does not answer."""
    judged = run.judged.qrels.query_ids
    if not run.is_judged.any():
        found = run.lists["query_ids"]
        match = _near_miss(found, judged)
        example = _pair(match) if match else _unlike(found[0], judged[0])
        yield run.found("unmatched-queries", run.size, run.size, example, remedy=_alike(match, "queries"))
        yield from _documents_of_unmatched_queries(run, match)
        return
    missing, extra = run.missing, run.joined["extra_ids"]
    if missing:
        match, choice = _near_miss(extra, missing), run.policy.missing
        yield run.found(
            "missing-queries",
            len(missing),
            len(judged),
            _pair(match) if match else at_query(missing[0]),
            severity="serious" if choice == "error" else "warning",
            consequence=_DONE_MISSING.get(choice),
            remedy=_alike(match, "queries"),
        )
    if extra:
        # As long as all judged queries are answered this is a larger set of queries, of which some were judged.
        severity: Severity = "warning" if missing else "note"
        consequence = None
        if run.policy.extra == "error":
            severity, consequence = "serious", "extra=error: gainful eval refuses the run."
        said = {"severity": severity, "consequence": consequence}
        yield run.found("extra-queries", len(extra), run.size, at_query(extra[0]), **said)


def _documents_of_unmatched_queries(run: InspectedRun, queries: NearMiss | None) -> Iterator[Finding]:
    """Documents that would not match either; of queries that nearly do, if there are any. Where they are unlike
    altogether, the queries have said enough."""
    is_filled, judged_ids = run.lists["rows"] > 0, run.judged.qrels.query_ids
    lists, of_judged = np.flatnonzero(is_filled), np.arange(len(judged_ids))
    if queries:
        place = {identifier: i for i, identifier in enumerate(run.lists["query_ids"])}
        judged_place = {identifier: i for i, identifier in enumerate(judged_ids)}
        lists = np.array([place[bytes_of_id(found)] for found, _ in queries.pairs])
        of_judged = np.array([judged_place[bytes_of_id(wanted)] for _, wanted in queries.pairs])[is_filled[lists]]
        lists = lists[is_filled[lists]]
    found, judged = _sampled_documents(run, lists, of_judged)
    match = _nearer_than_equal(found, judged)
    if match is None:
        return
    unlike, total = len(set(found) - set(judged)), len(set(found))
    yield run.found(
        "unmatched-documents",
        unlike,
        total,
        _pair(match),
        severity="serious" if unlike == total else "warning",
        consequence="Were the queries written alike, hardly anything that the run retrieved would be judged.",
        remedy=_alike(match, "documents"),
    )


def check_ids(run: InspectedRun) -> Iterator[Finding]:
    """Documents of which hardly any is judged, and judged documents that are several in one."""
    lists = np.flatnonzero(run.is_judged & (run.lists["rows"] > 0))
    if not lists.size:
        return
    found, judged = _sampled_documents(run, lists, run.lists["query"][lists])
    if run.possible_hits and run.hits <= _FEW * run.possible_hits:
        match = _nearer_than_equal(found, judged)
        if match or run.hits <= _HARDLY_ANY * run.possible_hits:
            otherwise: dict[str, str | None] = {"remedy": _alike(match, "documents")}
            if run.hits:
                consequence = "Hardly anything that the run retrieved is judged: scores say little."
                otherwise |= {"severity": "warning", "consequence": consequence}
            example = _pair(match) if match else _unlike(found[0], judged[0])
            yield run.found("unmatched-documents", run.total - run.hits, run.total, example, **otherwise)
    retrieved = set(found)
    joined = [
        each
        for each in dict.fromkeys(judged)
        if each not in retrieved and len(retrieved.intersection(re.split(rb"\s*[;|,]\s*", each))) > 1
    ]
    if joined:
        example = Example(f"'{shown_id(joined[0])}' in the judgments, its parts in the run")
        yield run.found("several-in-one", len(joined), len(set(judged)), example)


def _nearer_than_equal(found: Sequence[bytes], wanted: Sequence[bytes]) -> NearMiss | None:
    match = _near_miss(found, wanted)
    return match if match and match.count > _MORE * len(set(found).intersection(wanted)) else None


def _near_miss(found: Sequence[bytes], wanted: Sequence[bytes]) -> NearMiss | None:
    if not found or not wanted:
        return None
    some = ([text_of_id(ids[i]) for i in _spread(len(ids), _SAMPLE)] for ids in (found, wanted))
    return near_miss(*some)


def _spread(size: int, most: int) -> list[int]:
    """Positions from the first to the last, evenly apart, no more than there may be."""
    return np.linspace(0, size - 1, min(size, most)).astype(int).tolist() if size else []


def _sampled_documents(run: InspectedRun, lists: Ints, queries: Ints) -> tuple[list[bytes], list[bytes]]:
    """Some retrieved documents of lists that are not empty, and some that are judged for queries; if there are as many
    queries as lists, of the same."""
    chosen: Ints = lists[_spread(lists.size, _LISTS)]
    each = max(1, _SAMPLE // max(1, chosen.size))
    found = [document for i in chosen for document in run.places.documents(int(run.lists["first"][i]), each)]
    qrels = run.judged.qrels
    of_chosen = np.zeros(len(qrels.query_ids), bool)
    of_chosen[queries[_spread(queries.size, _LISTS)]] = True
    rows = np.flatnonzero(of_chosen[qrels.query])
    return found, [qrels.document(int(rows[i])) for i in _spread(rows.size, _SAMPLE)]


def _unlike(found: bytes, wanted: bytes) -> Example:
    lookalikes = lookalikes_of([text_of_id(found)], [text_of_id(wanted)])
    of_run, of_judged = lookalikes[0][:2] if lookalikes else (shown_id(found), shown_id(wanted))
    return Example(f"'{of_run}' in the run, '{of_judged}' in the judgments")


def _pair(match: NearMiss) -> Example:
    return _unlike(bytes_of_id(match.found), bytes_of_id(match.wanted))


def _alike(match: NearMiss | None, what: str) -> str | None:
    if match is None:
        return None
    return f"{match.count:,} of {match.total:,} {what} looked at match {match.how}: write ids alike in both files."
