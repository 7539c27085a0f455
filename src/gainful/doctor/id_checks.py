"""Whether the queries and documents of a run are those of the judgments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gainful.arrays import Ints
from gainful.doctor.findings import Example, Finding, Severity
from gainful.doctor.inspected import InspectedRun
from gainful.doctor.near_misses import NearMiss, near_miss
from gainful.doctor.places import at_query, shown_id
from gainful.notation import bytes_of_id, text_of_id

#: How many ids of each side, and documents of how many lists, are compared for near misses.
_SAMPLE, _LISTS = 10_000, 1_000
#: Judged documents found, of those that could be: below the first share near misses are looked for, below the second
#: there is a warning anyway.
_FEW, _HARDLY_ANY = 0.05, 0.01
#: Near misses must outnumber what matches as it is.
_MORE = 3
_DONE_MISSING = {
    "zero": "missing=zero scores each 0 and keeps it in the mean, which is lower by that share.",
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
    consequence = "gainful eval refuses the run."
    remedy = _alike(match, "queries") or "Are these judgments and this run of the same collection?"
    yield Finding("unmatched-queries", "serious", run.name, run.size, run.size, example, consequence, remedy)
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
    severity: Severity = "serious" if unlike == total else "warning"
    consequence = "Were the queries written alike, hardly anything that the run retrieved would be judged."
    remedy = str(_alike(match, "documents"))
    yield Finding("unmatched-documents", severity, run.name, unlike, total, _pair(match), consequence, remedy)


def missing_queries(run: InspectedRun) -> Iterator[Finding]:
    """Judged queries that the run does not answer."""
    missing, total = run.missing, len(run.judged.qrels.query_ids)
    if not missing or not run.is_judged.any():
        return
    match = _near_miss(run.joined["extra_ids"], missing)
    choice = run.policy.missing
    severity: Severity = "serious" if choice == "error" else "warning"
    example = _pair(match) if match else at_query(missing[0])
    remedy = (
        _alike(match, "queries") or "Run the system on all judged queries; --missing skip averages over the others."
    )
    yield Finding("missing-queries", severity, run.name, len(missing), total, example, _DONE_MISSING[choice], remedy)


def extra_queries(run: InspectedRun) -> Iterator[Finding]:
    """Queries of the run without judgments."""
    extra = run.joined["extra_ids"]
    if not extra or not run.is_judged.any():
        return
    # As long as all judged queries are answered this is a larger set of queries, of which some were judged.
    severity: Severity = "warning" if run.missing else "note"
    consequence = "extra=ignore leaves them aside."
    if run.policy.extra == "error":
        severity, consequence = "serious", "extra=error: gainful eval refuses the run."
    remedy = "Nothing need be done, if only some queries were meant to be judged."
    yield Finding("extra-queries", severity, run.name, len(extra), run.size, at_query(extra[0]), consequence, remedy)


def unmatched_documents(run: InspectedRun) -> Iterator[Finding]:
    """No retrieved document is judged, or hardly any."""
    if not run.is_judged.any() or run.hits > _FEW * run.possible_hits or not run.possible_hits:
        return
    lists = np.flatnonzero(run.is_judged & (run.lists["rows"] > 0))
    found, judged = _sampled_documents(run, lists, run.lists["query"][lists])
    match = _nearer_than_equal(found, judged)
    if run.hits and not match and run.hits > _HARDLY_ANY * run.possible_hits:
        return
    total = run.total()
    severity: Severity = "serious" if not run.hits else "warning"
    example = _pair(match) if match else _unlike(found[0], judged[0])
    consequence = (
        "Nothing that the run retrieved is judged: every score is 0."
        if not run.hits
        else "Hardly anything that the run retrieved is judged: scores say little."
    )
    remedy = _alike(match, "documents") or "Are these judgments and this run of the same collection?"
    yield Finding("unmatched-documents", severity, run.name, total - run.hits, total, example, consequence, remedy)


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
    return Example(f"'{shown_id(found)}' in the run, '{shown_id(wanted)}' in the judgments")


def _pair(match: NearMiss) -> Example:
    return _unlike(bytes_of_id(match.found), bytes_of_id(match.wanted))


def _alike(match: NearMiss | None, what: str) -> str | None:
    if match is None:
        return None
    return f"{match.count:,} of {match.total:,} {what} looked at match {match.how}: write ids alike in both files."
