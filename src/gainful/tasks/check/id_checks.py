"""Whether queries and documents of a run are those of the judgments, and what would make ids meet that nearly do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from operator import methodcaller
from typing import NamedTuple, TypeAlias

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
    yield _Attempt(f"as NFC (they differ {ONLY_IN_FORM})", normal_form, normal_form)
    yield _Attempt(f"in one encoding (they differ {ONLY_IN_ENCODING})", as_meant, as_meant)
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
        yield f"without the {whose} prefix '{prefix}'", methodcaller("removeprefix", prefix)
    for suffix in _suffixes(ids):
        yield f"without the {whose} suffix '{suffix}'", methodcaller("removesuffix", suffix)
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


def unmatched_queries(run: InspectedRun) -> Iterator[Finding]:
    """No query of the run has judgments."""
    if run.is_judged.any():
        return
    found, judged = run.lists["query_ids"], run.judged.qrels.query_ids
    match = _near_miss(found, judged)
    example = _pair(match) if match else _unlike(found[0], judged[0])
    yield run.found("unmatched-queries", run.size, run.size, example, remedy=_alike(match, "queries"))
    yield from _documents_of_unmatched_queries(run, match)


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


def missing_queries(run: InspectedRun) -> Iterator[Finding]:
    """Judged queries that the run does not answer."""
    missing, total = run.missing, len(run.judged.qrels.query_ids)
    if not missing or not run.is_judged.any():
        return
    match, choice = _near_miss(run.joined["extra_ids"], missing), run.policy.missing
    yield run.found(
        "missing-queries",
        len(missing),
        total,
        _pair(match) if match else at_query(missing[0]),
        severity="serious" if choice == "error" else "warning",
        consequence=_DONE_MISSING.get(choice),
        remedy=_alike(match, "queries"),
    )


def extra_queries(run: InspectedRun) -> Iterator[Finding]:
    """Queries of the run without judgments."""
    extra = run.joined["extra_ids"]
    if not extra or not run.is_judged.any():
        return
    # As long as all judged queries are answered this is a larger set of queries, of which some were judged.
    severity: Severity = "warning" if run.missing else "note"
    consequence = None
    if run.policy.extra == "error":
        severity, consequence = "serious", "extra=error: gainful eval refuses the run."
    example = at_query(extra[0])
    yield run.found("extra-queries", len(extra), run.size, example, severity=severity, consequence=consequence)


def unmatched_documents(run: InspectedRun) -> Iterator[Finding]:
    """No retrieved document is judged, or hardly any."""
    if not run.is_judged.any() or run.hits > _FEW * run.possible_hits or not run.possible_hits:
        return
    lists = np.flatnonzero(run.is_judged & (run.lists["rows"] > 0))
    found, judged = _sampled_documents(run, lists, run.lists["query"][lists])
    match = _nearer_than_equal(found, judged)
    if run.hits and not match and run.hits > _HARDLY_ANY * run.possible_hits:
        return
    otherwise: dict[str, str] = {}
    if run.hits:
        consequence = "Hardly anything that the run retrieved is judged: scores say little."
        otherwise = {"severity": "warning", "consequence": consequence}
    example = _pair(match) if match else _unlike(found[0], judged[0])
    remedy = _alike(match, "documents")
    yield run.found("unmatched-documents", run.total - run.hits, run.total, example, remedy=remedy, **otherwise)


def several_in_one(run: InspectedRun) -> Iterator[Finding]:
    """Judged documents that no list has, but several of whose parts are retrieved."""
    lists = np.flatnonzero(run.is_judged & (run.lists["rows"] > 0))
    if not lists.size:
        return
    found, judged = _sampled_documents(run, lists, run.lists["query"][lists])
    there = set(found)
    joined = [
        each
        for each in dict.fromkeys(judged)
        if each not in there and len(there.intersection(re.split(rb"\s*[;|,]\s*", each))) > 1
    ]
    if joined:
        example = Example(f"'{shown_id(joined[0])}' in the judgments, its parts in the run")
        yield run.found("several-in-one", len(joined), len(set(judged)), example)


def _nearer_than_equal(found: Sequence[bytes], wanted: Sequence[bytes]) -> NearMiss | None:
    match = _near_miss(found, wanted)
    return match if match and match.count > _MORE * len(set(found).intersection(wanted)) else None


def _near_miss(found: Sequence[bytes], wanted: Sequence[bytes]) -> NearMiss | None:
    return near_miss(_texts(found), _texts(wanted)) if found and wanted else None


def _texts(ids: Sequence[bytes]) -> list[str]:
    return [text_of_id(ids[i]) for i in _spread(len(ids), _SAMPLE)]


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
