"""Checks of a run: its queries, documents, scores and ranks.

Uses the facts that the core collects about each list and its overlap with the judgments. Positions in the input become
query, document and line for display. For IDs without a match, a change that would make them match is suggested.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice, takewhile
from typing import Any, NamedTuple

import numpy as np

from gainful.data.graded import join_text
from gainful.data.judged import Judged
from gainful.data.near_misses import NearMiss, near_miss
from gainful.data.parents import chunks_of
from gainful.data.run import Run, RunSource, falling_ranks, fitting_policy, join_columns
from gainful.data.spans import credit_spans
from gainful.io.rows import fields_at, line_number
from gainful.kernel.arrays import Bools, Bytes, Ints
from gainful.kernel.parallel import Progress
from gainful.notation import bytes_of_id, lookalikes_of, number_text, printable, text_of_id
from gainful.policy import Policy
from gainful.tasks.check import Finding, Severity, at_judgment, at_query, example_of, shown_id

_PIECE = 1 << 14


class Row(NamedTuple):
    """One row of a run as read."""

    query: bytes
    document: bytes
    rank: str
    score: str
    place: str  # line or row, if known


class TextPlaces:
    """Access to rows of a run in TREC text by position, the offset of a line."""

    def __init__(self, data: Bytes) -> None:
        self._data = data

    def row(self, where: int) -> Row:
        query, _, document, rank, score, _ = fields_at(self._data, where)
        place = f"line {line_number(self._data, where)}"
        return Row(query, document, printable(rank), number_text(float(score)), place)

    def documents(self, where: int, most: int) -> list[bytes]:
        lines = self._lines(where)
        first = next(lines)
        same = takewhile(lambda fields: fields[0] == first[0], lines)
        return [fields[2] for fields in islice(chain([first], same), most)]

    @property
    def tag(self) -> str | None:
        fields = next(self._lines(0), None)
        return None if fields is None else text_of_id(fields[5])

    def _lines(self, where: int) -> Iterator[list[bytes]]:
        rest = b""
        for at in range(where, self._data.size, _PIECE):
            lines = (rest + self._data[at : at + _PIECE].tobytes()).split(b"\n")
            rest = lines.pop() if at + _PIECE < self._data.size else b""
            for line in lines:
                fields = line.removesuffix(b"\r").replace(b"\t", b" ").split(b" ")
                found = [field for field in fields if field]
                if len(found) == 6 and not found[0].startswith(b"#"):
                    yield found


class RowPlaces:
    """Access to rows of a run in columns by position, the row number."""

    tag: str | None = None

    def __init__(self, run: Run) -> None:
        self.run = run

    def row(self, where: int) -> Row:
        run = self.run
        rank = number_text(run.rank[where]) if run.has_ranks and not np.isnan(run.rank[where]) else ""
        score = number_text(run.score[where]) if run.has_scores else ""
        return Row(run.query_of(where), run.document(where), rank, score, run.origin.place(where))

    def documents(self, where: int, most: int) -> list[bytes]:
        end = self.run.list_offsets[np.searchsorted(self.run.list_offsets, where, "right")]
        return [self.run.document(row) for row in range(where, min(int(end), where + most))]


def at_row(row: Row, detail: str = "") -> str:
    """Return a row of a run as an example, with a detail."""
    return example_of(row.query, row.document, row.place, detail)


TOP = 10


class InspectedRun:
    """One run, list by list, ordered by the judgments' policy; ``policy`` is the user's, adapted to this run.

    ``lists``        facts from the core about each list
    ``counts``       lists that affect scores: those with judgments (``is_judged``), or all if none has any
    ``distinct``     different documents of each list, before depth; ``total`` over all lists that count
    ``hits``         retrieved documents that are judged, of ``possible_hits``
    ``shown``        documents in the top 10 of the judged lists; ``unjudged`` of them are unjudged
    ``usual_depth``  median length of the lists that count
    ``missing``      judged queries that the run does not answer, sorted by ID
    """

    def __init__(
        self, judged: Judged, source: RunSource, name: str, policy: Policy, threads: int, progress: Progress
    ) -> None:
        self.name, self.judged = name, judged
        self.places: TextPlaces | RowPlaces
        source = source.credited(policy)
        text = source.trec_text() if policy.spans == "none" else None
        if text is None:
            run = source.read(threads)
            if policy.spans != "none":
                run, _ = credit_spans(run, judged, policy.least_share)
            progress.total += len(run)
            ids, fitting = judged.qrels.query_ids, fitting_policy(run, judged.policy)
            joined = join_columns(judged.index, ids, run, fitting, threads, progress, want_facts=True)
            policy, self.places, self.has_scores = fitting_policy(run, policy), RowPlaces(run), run.has_scores
        else:
            joined = join_text(judged, source, text, judged.policy, threads, progress, want_facts=True)
            self.places, self.has_scores = TextPlaces(text.data), True
        if joined["facts"] is None:
            raise TypeError("the join returned no facts")
        self.policy, self.joined, self.lists = policy, joined, joined["facts"]
        self.by_score = policy.order == "score"
        self.size = len(self.lists["query_ids"])
        self.is_judged: Bools = self.lists["query"] >= 0
        self.counts: Bools = self.is_judged if self.is_judged.any() else np.ones(self.size, bool)
        self.distinct: Ints = self.lists["rows"] - self.lists["duplicates"]
        self.total = int(self.distinct[self.counts].sum())
        self.usual_depth = int(np.median(self.lists["retrieved"][self.counts])) if self.counts.any() else 0
        self.missing = [judged.qrels.query_ids[i] for i in np.flatnonzero(~joined["answered"]).tolist()]
        # Retrieved documents with a judgment, except those that the policy treats as unjudged.
        is_hit = ~np.isnan(judged.grade[joined["hit_item"]])
        self.hits = _count(is_hit)
        self.possible_hits = int(np.minimum(np.diff(judged.item_offsets), joined["retrieved"]).sum())
        self.shown = int(np.minimum(joined["retrieved"], TOP).sum())
        self.unjudged = self.shown - _count(is_hit & (joined["hit_rank"] <= TOP))
        #: Whether fewer than ten documents per query are judged.
        self.is_sparse = len(judged.qrels) < TOP * len(judged.qrels.query_ids)

    def found(self, check: str, count: int, total: int, example: str, **otherwise: Any) -> Finding:
        """Return a finding about this run; see :meth:`Finding.of`."""
        return Finding.of(check, count, total, example, run=self.name, ties=self.policy.ties, **otherwise)

    def rows_at(self, lists: Bools, *places: str) -> list[Row]:
        """Return the rows of the first example in the input, among some lists."""
        chosen = np.flatnonzero(lists)
        first = chosen[int(np.argmin(self.column(places[0])[chosen]))]
        return [self.places.row(int(self.column(place)[first])) for place in places]

    def column(self, name: str) -> Ints:
        values: Ints = self.lists[name]  # type: ignore[literal-required]
        return values

    def fingerprint(self) -> bytes:
        """Return a digest that is equal for runs with equal list lengths and the same judged documents and ranks."""
        digest = hashlib.blake2b(digest_size=16)
        for name in ("answered", "retrieved", "hit_offsets", "hit_rank", "hit_item"):
            digest.update(self.joined[name].tobytes())
        return digest.digest()


#: Shares above which a finding is a warning, or is reported at all.
_MANY_TIES, _SOME_TIES = 0.05, 0.01
_MANY_SHORT, _SHORT = 0.1, 0.5
_MANY_SELF = 0.05
_MANY_UNJUDGED, _SOME_UNJUDGED = 0.5, 0.2
#: Lists are not short if the usual length is below the first, nor all candidates if they are longer than the second.
_USUAL, _DEEPEST = 4, 100
#: Minimum length of a list that is unlikely to have rising scores by chance; and if ranks confirm the order.
_TELLING, _TELLING_RANKED = 5, 3
#: Minimum share of such lists for the scores of a run to count as reversed.
_MOST = 0.8
#: Documents per list inspected for names that are only positions.
_NUMBERED = 20


def check_documents(run: InspectedRun) -> Iterator[Finding]:
    """Yield empty and short lists, repeated and unjudged documents, and queries that retrieve themselves."""
    lists, total = run.lists, _count(run.counts)
    empty = run.counts & (lists["rows"] == 0)
    if empty.any():
        count, example = _count(empty), at_query(lists["query_ids"][int(np.argmax(empty))])
        yield run.found("empty-lists", count, total, example, severity="serious" if count == total else "warning")
    short = run.counts & (lists["rows"] > 0) & (lists["retrieved"] < _SHORT * run.usual_depth)
    if run.usual_depth >= _USUAL and short.any():
        shortest = int(np.argmin(np.where(short, lists["retrieved"], np.iinfo(np.int64).max)))
        detail = f": {lists['retrieved'][shortest]:,} documents, median {run.usual_depth:,}"
        example, severity = at_query(lists["query_ids"][shortest], detail), _if_many(_count(short), _MANY_SHORT * total)
        yield run.found("short-lists", _count(short), total, example, severity=severity)
    length, is_relevant = run.joined["retrieved"], run.judged.grade[run.joined["hit_item"]] > 0
    found = np.diff(np.append(0, np.cumsum(is_relevant))[run.joined["hit_offsets"]])
    base, every = run.judged.recall_base(None, None), np.diff(run.judged.item_offsets)
    # A list of the usual length may be cut from a good ranking, unless it also holds what is judged nonrelevant.
    is_cut = (length == run.usual_depth) & ((np.diff(run.joined["hit_offsets"]) < every) | (every == base))
    whole = (found > 0) & (found == base) & (length <= _DEEPEST) & ~is_cut
    if 2 * _count(whole) > total >= _TELLING:
        one = int(np.argmax(whole))
        example = at_query(run.judged.qrels.query_ids[one], f": {found[one]:,} among {length[one]:,} documents")
        half, last = np.quantile(length[whole], (0.5, 1), method="lower").tolist()
        depth = f"{last:,} or more" if half == last else f"{half:,} or more for half of them, {last:,} for all"
        yield run.found("all-candidates", _count(whole), total, example, depth=depth)
    repeats = lists["duplicates"]
    if repeats.any() and not run.policy.credits_chunks:
        later, first = run.rows_at(repeats > 0, "duplicate_at", "duplicate_of")
        example = at_row(later, " again" + (f" (first: {first.place})" if first.place else ""))
        kept = {"severity": "note", "consequence": "duplicates=first keeps the best rank."}
        otherwise = kept if run.policy.duplicates == "first" else {}
        yield run.found("repeated-documents", int(repeats.sum()), int(lists["rows"].sum()), example, **otherwise)
    own = run.counts & (lists["self_rank"] > 0)
    own[[i for i in np.flatnonzero(own).tolist() if _is_numbered(run, i)]] = False
    # Users and items may have numbers, some of which are equal by coincidence.
    are_numbers = all(lists["query_ids"][i].isdigit() for i in np.flatnonzero(own).tolist())
    if own.any() and not (are_numbers and 2 * _count(own) < total):
        row, severity = run.rows_at(own, "self_at")[0], _if_many(_count(own), _MANY_SELF * total)
        yield run.found("self-hits", _count(own), total, at_row(row), severity=severity)
    if run.hits and run.unjudged > _SOME_UNJUDGED * run.shown:
        severity, consequence = _if_many(run.unjudged, _MANY_UNJUDGED * run.shown), None
        if run.is_sparse:
            # If fewer than ten documents per query are judged, most of the top 10 must be unjudged.
            each = len(run.judged.qrels) / len(run.judged.qrels.query_ids)
            most = f"With {each:.1f} judgments per query most of the top 10 must be unjudged"
            severity, consequence = "note", f"{most} and may include relevant documents."
        if (lists["unjudged_at"] >= 0).any():
            example = at_row(run.rows_at(lists["unjudged_at"] >= 0, "unjudged_at")[0])
        else:
            # All have a judgment, but negative=unjudged treats some as unjudged.
            grade = run.judged.grade[run.joined["hit_item"]]
            item = run.joined["hit_item"][int(np.argmax(np.isnan(grade) & (run.joined["hit_rank"] <= TOP)))]
            example = at_judgment(run.judged.qrels, int(np.argmax(run.judged.item == item)))
        yield run.found("unjudged-top-10", run.unjudged, run.shown, example, severity=severity, consequence=consequence)


def check_scores(run: InspectedRun) -> Iterator[Finding]:
    """Yield lists with reversed or constant scores, and tied documents."""
    lists, different = run.lists, _with_different_scores(run)
    reversed_ = _upside_down(run)
    if reversed_.any():
        otherwise: dict[str, str] = {}
        if np.all(lists["conflict_at"][reversed_] >= 0):
            row, other = run.rows_at(reversed_, "conflict_at", "conflict_with")
            example = at_row(row, f", rank {row.rank} has {row.score}, rank {other.rank} has {other.score}")
        else:
            # Evidence from the order of the file only, which may not be meaningful.
            row = run.rows_at(reversed_, "first")[0]
            example = at_row(row, f" comes first with score {row.score}")
            remedy = "If the best document comes first, negate the scores, or use --order input."
            otherwise = {"severity": "warning", "remedy": remedy}
        yield run.found("reversed-scores", _count(reversed_), _count(different), example, **otherwise)
    if not run.by_score:
        return
    constant = run.counts & (lists["constant"] > 0)
    if constant.any():
        count, total = _count(constant), _count(run.counts & (run.distinct > 1))
        row = run.rows_at(constant, "tied_at")[0]
        example = at_row(row, f", score {row.score} like all others")
        yield run.found("constant-scores", count, total, example, severity="serious" if count == total else "warning")
    rounded = f"scores=float32 turns them into ties, which ties={run.policy.ties} orders."
    for check, fact, place, some, concerned, consequence in (
        ("tied-documents", "tied", "tied", _SOME_TIES * run.total, lists["constant"] == 0, None),
        ("float32-ties", "float32_tied", "float32", 0, True, rounded if run.policy.scores == "float32" else None),
    ):
        tied = run.counts & concerned & (run.column(fact) > 0)
        count = int(run.column(fact)[tied].sum())
        if count > some:
            row, other = run.rows_at(tied, f"{place}_at", f"{place}_with")
            example, severity = at_row(row, f" and {shown_id(other.document)}"), _if_many(count, _MANY_TIES * run.total)
            yield run.found(check, count, run.total, example, severity=severity, consequence=consequence)


def check_ranks(run: InspectedRun) -> Iterator[Finding]:
    """Yield ranks that contradict scores or the order of lines, do not start at 1, or have gaps."""
    lists, order = run.lists, run.policy.order
    conflicts = np.where(run.counts & ~_upside_down(run), lists["rank_conflicts"], 0)
    if run.has_scores and conflicts.any():
        row, other = run.rows_at(conflicts > 0, "conflict_at", "conflict_with")
        example = at_row(row, f", rank {row.rank} has {row.score}, rank {other.rank} has {other.score}")
        harmless = {"severity": "note", "consequence": f"order={order} does not use the scores."}
        otherwise = {} if run.by_score else harmless
        yield run.found("rank-conflicts", int(conflicts.sum()), run.total, example, **otherwise)
    elif isinstance(run.places, RowPlaces) and not run.has_scores and run.places.run.has_ranks:
        ids = {query for query, is_counted in zip(lists["query_ids"], run.counts.tolist(), strict=True) if is_counted}
        rows = np.flatnonzero(falling_ranks(run.places.run, ids))
        if rows.size:
            row, before = run.places.row(int(rows[0])), run.places.row(int(rows[0]) - 1)
            wins, loses, way = ("ranks", "lines", "input") if order == "rank" else ("lines", "ranks", "rank")
            yield run.found(
                "rank-conflicts",
                rows.size,
                run.total,
                at_row(row, f", rank {row.rank}, comes after rank {before.rank}"),
                severity="note" if wins == "ranks" else "warning",
                consequence=f"Without scores, order={order} uses the {wins} and ignores the {loses}.",
                remedy=f"Correct if the {wins} are right; otherwise use --order {way} for the {loses}.",
            )
    ranked = run.counts & np.isfinite(lists["lowest_rank"])
    span = lists["highest_rank"] - lists["lowest_rank"] + 1
    uneven = ranked & (lists["duplicates"] == 0) & (span != run.distinct - lists["unranked"])
    consequence = None
    if run.policy.needs_rank:
        consequence = "Only the order of ranks matters here; ties are broken by document ID."
    for check, concerned in (("ranks-not-from-1", ranked & (lists["lowest_rank"] != 1)), ("uneven-ranks", uneven)):
        if concerned.any():
            first = int(np.flatnonzero(concerned)[0])
            bounds = number_text(lists["lowest_rank"][first]), number_text(lists["highest_rank"][first])
            detail = f": ranks {bounds[0]} to {bounds[1]} for {run.distinct[first]:,} documents"
            example = at_query(lists["query_ids"][first], detail)
            yield run.found(check, _count(concerned), _count(ranked), example, consequence=consequence)


def _count(lists: Bools) -> int:
    return int(np.count_nonzero(lists))


def _if_many(count: int, many: float) -> Severity:
    return "warning" if count > many else "note"


def _is_numbered(run: InspectedRun, one: int) -> bool:
    """Whether document IDs are only positions, as for LETOR lines without names."""
    identifier = run.lists["query_ids"][one]
    if not identifier.isdigit() or len(identifier) > len(b"%d" % run.lists["rows"][one]):
        return False
    documents = run.places.documents(int(run.lists["first"][one]), _NUMBERED)
    return all(document == b"%d" % place for place, document in enumerate(documents, 1))


def _with_different_scores(run: InspectedRun) -> Bools:
    return np.asarray(run.counts & (run.distinct > 1) & (run.lists["constant"] == 0))


def _upside_down(run: InspectedRun) -> Bools:
    """Return the lists with rising scores, if most lists of sufficient length rise; otherwise none."""
    distinct, lists = run.distinct, run.lists
    ranked = (lists["unranked"] == 0) & (lists["lowest_rank"] < lists["highest_rank"])
    telling = _with_different_scores(run) & (distinct >= np.where(ranked, _TELLING_RANKED, _TELLING))
    rising = telling & (lists["reversed"] > 0)
    is_rule = run.by_score and np.count_nonzero(rising) >= _MOST * np.count_nonzero(telling)
    if not is_rule or distinct[rising].sum() < _TELLING:
        return np.zeros(run.size, bool)
    return np.asarray(rising | (run.counts & ranked & (lists["reversed"] > 0)))


#: Number of IDs of each side, and of lists, sampled for near misses.
_SAMPLE, _LISTS = 10_000, 1_000
#: Share of possible hits that are found: below the first, near misses are searched; below the second, a warning is
#: given in any case.
_FEW, _HARDLY_ANY = 0.05, 0.01
#: Near misses must be this many times as frequent as exact matches.
_MORE = 3
_DONE_MISSING = {
    "skip": "missing=skip omits them: means of runs may then cover different queries.",
    "error": "missing=error: gainful eval refuses the run.",
}


def check_queries(run: InspectedRun) -> Iterator[Finding]:
    """Yield unmatched and extra queries of the run, and judged queries that it does not answer."""
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
        # If all judged queries are answered, the run simply covers more queries.
        severity: Severity = "warning" if missing else "note"
        consequence = None
        if run.policy.extra == "error":
            severity, consequence = "serious", "extra=error: gainful eval refuses the run."
        example = at_query(extra[0])
        yield run.found("extra-queries", len(extra), run.size, example, severity=severity, consequence=consequence)


def _documents_of_unmatched_queries(run: InspectedRun, queries: NearMiss | None) -> Iterator[Finding]:
    """Yield documents that would not match even if query IDs did, unless the IDs are not similar at all."""
    is_filled, judged_ids = run.lists["rows"] > 0, run.judged.qrels.query_ids
    lists, of_judged = np.flatnonzero(is_filled), np.arange(len(judged_ids))
    if queries:
        place = {identifier: i for i, identifier in enumerate(run.lists["query_ids"])}
        judged_place = {identifier: i for i, identifier in enumerate(judged_ids)}
        lists = np.array([place[bytes_of_id(found)] for found, _ in queries.pairs])
        of_judged = np.array([judged_place[bytes_of_id(wanted)] for _, wanted in queries.pairs])[is_filled[lists]]
        lists = lists[is_filled[lists]]
    found, judged = _sampled_documents(run, lists, of_judged)
    match = _near_miss(found, judged)
    if match is None:
        return
    unlike, total = len(set(found) - set(judged)), len(set(found))
    yield run.found(
        "unmatched-documents",
        unlike,
        total,
        _pair(match),
        severity="serious" if unlike == total else "warning",
        consequence="Even with matching query IDs, almost no retrieved document would be judged.",
        remedy=_alike(match, "documents"),
    )


def check_ids(run: InspectedRun) -> Iterator[Finding]:
    """Yield findings about documents that are hardly ever judged, and about judged IDs made of several IDs."""
    lists = np.flatnonzero(run.is_judged & (run.lists["rows"] > 0))
    if not lists.size:
        return
    found, judged = _sampled_documents(run, lists, run.lists["query"][lists])
    if run.possible_hits and run.hits <= _FEW * run.possible_hits:
        match = _near_miss(found, judged)
        if match or run.hits <= _HARDLY_ANY * run.possible_hits:
            otherwise: dict[str, str | None] = {"remedy": _alike(match, "documents")}
            if run.hits:
                consequence = "Almost no retrieved document is judged: scores are unreliable."
                otherwise |= {"severity": "warning", "consequence": consequence}
            if (alike := chunks_of(found, judged)) is not None:
                chunks = f"The run may contain chunks of judged documents: {alike}."
                otherwise["remedy"] = f"{otherwise['remedy']} {chunks}" if match else chunks
            example = _pair(match) if match else _unlike(found[0], judged[0])
            yield run.found("unmatched-documents", run.total - run.hits, run.total, example, **otherwise)
    retrieved = set(found)
    joined = [
        each
        for each in dict.fromkeys(judged)
        if each not in retrieved and len(retrieved.intersection(re.split(rb"\s*[;|,]\s*", each))) > 1
    ]
    if joined:
        example = f"'{shown_id(joined[0])}' in the judgments, its parts in the run"
        yield run.found("several-in-one", len(joined), len(set(judged)), example)


def _near_miss(found: Sequence[bytes], wanted: Sequence[bytes]) -> NearMiss | None:
    """Return the change that makes IDs match, if it gives more matches than there are."""
    if not found or not wanted:
        return None
    some = ([text_of_id(ids[i]) for i in _evenly_spaced(len(ids), _SAMPLE)] for ids in (found, wanted))
    match = near_miss(*some)
    return match if match and match.count > _MORE * len(set(found).intersection(wanted)) else None


def _evenly_spaced(size: int, most: int) -> list[int]:
    return np.linspace(0, size - 1, min(size, most)).astype(int).tolist() if size else []


def _sampled_documents(run: InspectedRun, lists: Ints, queries: Ints) -> tuple[list[bytes], list[bytes]]:
    chosen: Ints = lists[_evenly_spaced(lists.size, _LISTS)]
    each = max(1, _SAMPLE // max(1, chosen.size))
    found = [document for i in chosen for document in run.places.documents(int(run.lists["first"][i]), each)]
    qrels = run.judged.qrels
    of_chosen = np.zeros(len(qrels.query_ids), bool)
    of_chosen[queries[_evenly_spaced(queries.size, _LISTS)]] = True
    rows = np.flatnonzero(of_chosen[qrels.query])
    return found, [qrels.document(int(rows[i])) for i in _evenly_spaced(rows.size, _SAMPLE)]


def _unlike(found: bytes, wanted: bytes) -> str:
    lookalikes = lookalikes_of([text_of_id(found)], [text_of_id(wanted)])
    of_run, of_judged = lookalikes[0][:2] if lookalikes else (shown_id(found), shown_id(wanted))
    return f"'{of_run}' in the run, '{of_judged}' in the judgments"


def _pair(match: NearMiss) -> str:
    return _unlike(bytes_of_id(match.found), bytes_of_id(match.wanted))


def _alike(match: NearMiss | None, what: str) -> str | None:
    if match is None:
        return None
    return f"{match.count:,} of {match.total:,} sampled {what} match {match.how}: write IDs alike in both files."
