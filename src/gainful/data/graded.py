"""The join of a run with judgments, made once for all measures."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence, Set
from functools import cached_property, partial
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from gainful.data.judged import Judged
from gainful.data.lists import Documents, ItemLists, gather, running_sums
from gainful.data.near_misses import near_miss
from gainful.data.parents import chunks_of
from gainful.data.run import (
    Run,
    RunLike,
    RunSource,
    UnsortedError,
    empty_run,
    fitting_policy,
    join_columns,
    not_together,
)
from gainful.data.spans import credit_spans, span_of
from gainful.errors import InputError, UsageError, for_asker, option
from gainful.frozen import dataclass, field, fields, replace
from gainful.io.formats import FORMATS, PER_QUERY, PER_ROW
from gainful.io.rows import ids_of, raise_faults
from gainful.io.sources import Text, max_list_bytes, require_memory
from gainful.kernel import core
from gainful.kernel.arrays import Bools, Floats, Ints, offsets_of
from gainful.kernel.parallel import Progress
from gainful.notation import Budget, lookalikes_of, printable, text_of_id
from gainful.policy import Policy

if TYPE_CHECKING:
    from gainful.kernel.core import Joined


#: Minimum number of rows per block that the core joins.
BLOCK = 1 << 19
#: Number of standard errors beyond which a mean is not due to chance.
_NO_CHANCE = 4
#: Below this number of judged documents per query, a sample of IDs is checked for chunks.
_HARDLY_ANY, _SAMPLE = 0.05, 20_000
#: Relative positions in a list are rounded to this many steps.
_STEPS = 1 << 20


@dataclass(frozen=True)
class JoinFacts:
    """Counts that the join collects, mostly for notices."""

    extra_ids: tuple[bytes, ...] = ()  # queries of the run without judgments
    duplicate_count: int = 0  # rows that duplicates=first dropped
    rank_conflicts: int = 0  # rows whose rank column contradicts the score
    float32_ties: int = 0  # rows tied only because scores were rounded
    shown_at_10: int = 0  # documents in the top 10 of all lists, and the number of unjudged ones among them
    unjudged_at_10: int = 0
    extra_turns: tuple[bytes, ...] = ()  # judged by query: queries of scored sessions without judgments
    unanswered_turns: tuple[bytes, ...] = ()  # judged queries after the end of their sessions
    unplaced_turns: tuple[bytes, ...] = ()  # judged queries of unknown sessions
    excluded_count: int = 0  # rows removed before ranks were counted
    #: Counts of the grades of judged documents that no list can contain for that reason.
    excluded_grades: Counter[float] = field(default_factory=Counter)
    #: Counts of the lengths of judged queries' lists, before and after exclusion.
    excluded_lengths: Counter[tuple[int, int]] = field(default_factory=Counter)
    intents: int = 0  # sub-topics with known probabilities
    exclusions: int = 0  # pairs of query and document to exclude
    notes: tuple[str, ...] = ()  # repairs and assumptions made while reading judgments and run
    relevant_hits: int = 0  # relevant documents in lists of several, and the sum of their relative ranks, 0 to 1
    relevant_places: float = 0.0
    inexact_ties: int = 0  # rows tied at scores of 2^53 or more, where floats do not represent every integer
    tied_count: int = 0  # rows that share their score with another of the list, and the number of all rows
    ranked_count: int = 0
    others_judged: bool = False  # whether nonrelevant documents are judged
    has_users: bool = field(default=False, compare=False)  # queries are users, and documents items
    sampled: int = 0  # number of other documents per list if they appear to be sampled; else 0

    @property
    def unjudged_share(self) -> float:
        return self.unjudged_at_10 / self.shown_at_10 if self.shown_at_10 else 0.0

    @property
    def unjudged_tells(self) -> bool:
        """Whether the share of unjudged documents is informative.

        If all judged documents are relevant, every other one is unjudged, and the share only measures precision. A
        share of 1 suggests that IDs are written differently.
        """
        return self.others_judged or self.unjudged_share == 1

    @property
    def relevant_place(self) -> float | None:
        """Mean relative rank of relevant documents, 0 to 1 (end of list); None if it may be due to chance."""
        mean = self.relevant_places / self.relevant_hits if self.relevant_hits else 0.5
        return mean if abs(mean - 0.5) * math.sqrt(12 * self.relevant_hits) > _NO_CHANCE else None

    def merge(self, other: JoinFacts, judged_ids: Set[bytes]) -> JoinFacts:
        """Merge the facts of two partitions; a query judged in either is not extra."""
        return replace(
            JoinFacts(
                tuple(sorted({*self.extra_ids, *other.extra_ids} - judged_ids)),
                *(_together(getattr(self, f.name), getattr(other, f.name)) for f in fields(self)[1:]),
            ),
            intents=max(self.intents, other.intents),  # the same for all partitions, as are exclusions
            exclusions=max(self.exclusions, other.exclusions),
            others_judged=self.others_judged or other.others_judged,
            has_users=self.has_users or other.has_users,
            sampled=self.sampled if self.sampled == other.sampled else 0,
        )


def _together(one: Any, other: Any) -> Any:
    """Add numbers and counts; merge IDs in byte order without duplicates."""
    return tuple(sorted({*one, *other})) if isinstance(one, tuple) else one + other


@dataclass(frozen=True, eq=False, repr=False)
class GradedRun:
    """For every judged query, the number of documents that the run retrieved, and the ranks and grades of judged ones.

    A *hit* is a retrieved document that is judged. Hits of query i are ``hit_offsets[i] : hit_offsets[i + 1]``, by
    rank. ``judged`` holds all judgments, retrieved or not.
    """

    name: str
    source: str  # path of the run, or its name in messages
    judged: Judged
    policy: Policy
    answered: Bools
    retrieved: Ints
    hit_offsets: Ints
    hit_rank: Ints
    hit_grade: Floats
    hit_item: Ints  # number of the judged item
    hit_first: Ints  # first and last rank of its group of equal scores; empty if no documents are tied
    hit_last: Ints
    score: Floats  # of all retrieved, in rank order, if requested
    row: Ints  # rows in the Run, in rank order, if requested
    facts: JoinFacts = JoinFacts()
    pooled: tuple[Ints, Ints] | None = None  # documents unjudged because of a negative grade: offsets and ranks
    run: Run | None = None  # the Run of ``row``

    @property
    def query_ids(self) -> tuple[bytes, ...]:
        return self.judged.query_ids

    @cached_property
    def list_offsets(self) -> Ints:
        return offsets_of(self.retrieved)

    @cached_property
    def hit_place(self) -> Ints:
        """Position of every hit among all retrieved documents."""
        return np.repeat(self.list_offsets[:-1], np.diff(self.hit_offsets)) + self.hit_rank - 1

    @cached_property
    def items(self) -> ItemLists:
        """Items of the lists; only for measures that need ``"documents"``."""
        if self.run is None:
            raise UsageError('documents are kept only for measures that need "documents"')
        run, known = self.run, self.judged.qrels.items
        ids, number = core.number_ids(run.data, run.document_start, run.document_length)
        if known is None:
            return ItemLists(self.list_offsets, number[self.row], len(ids))
        place = known.places(ids)
        if ids and place.min() >= len(known.ids) and not self.judged.qrels.is_part:
            raise InputError(
                f"{self.source}: no item occurs in {known.name}: the run has '{printable(ids[0])}', "
                f"{known.name} has '{printable(known.ids[0])}'",
                _SAME_IDS,
            )
        size, training = len(known.ids) + len(ids), known.interactions if known.has_training else None
        return ItemLists(self.list_offsets, place[number[self.row]], size, known.catalogue, training, known.name)

    @cached_property
    def missed(self) -> tuple[Ints, Documents]:
        """Judged documents missing from each list, best first: offsets by query, and the documents."""
        return self.judged.best_first_of(self.is_missed_after(np.inf))

    @cached_property
    def found(self) -> tuple[Ints, Documents]:
        """Hits, best first instead of by rank: offsets by query, and the documents."""
        return self.judged.best_first_of(~self.is_missed_after(np.inf))

    def missed_after(self, cutoff: int) -> tuple[Ints, Documents]:
        """Return the judged documents below rank ``cutoff`` or not retrieved, best first: offsets, and documents."""
        if cutoff not in self._missed_after:
            is_cut = bool((self.hit_rank > cutoff).any())
            self._missed_after[cutoff] = (
                self.judged.best_first_of(self.is_missed_after(cutoff)) if is_cut else self.missed
            )
        return self._missed_after[cutoff]

    def is_missed_after(self, cutoff: float) -> Bools:
        """Return whether each judged item is outside the first ``cutoff`` of its list."""
        is_missed = np.ones(self.judged.grade.size, bool)
        is_missed[self.hit_item[self.hit_rank <= cutoff]] = False
        return is_missed

    @cached_property
    def _missed_after(self) -> dict[int, tuple[Ints, Documents]]:
        return {}

    @cached_property
    def hit_ties(self) -> tuple[Ints, Ints]:
        """The first and the last rank of each hit's group of equal scores; its own rank if nothing is tied with it."""
        return (self.hit_first, self.hit_last) if self.hit_first.size else (self.hit_rank, self.hit_rank)

    def by_grade(self, best_first: bool) -> GradedRun:
        """Return the lists with equal scores ordered by grade: above 0, unjudged, others; or the reverse.

        Rows, if kept, follow.
        """
        tied = np.flatnonzero(self.hit_last > self.hit_first) if self.hit_first.size else self.hit_first
        if not tied.size:
            return self
        first, last, was = self.hit_first[tied], self.hit_last[tied], self.hit_rank[tied]
        before = np.repeat(self.list_offsets[:-1], np.diff(self.hit_offsets))[tied] - 1
        starts = np.append(True, np.diff(before + first) != 0)
        group = np.cumsum(starts) - 1
        order = np.lexsort((-self.hit_grade[tied] if best_first else self.hit_grade[tied], group))
        rank, grade, item = self.hit_rank.copy(), self.hit_grade.copy(), self.hit_item.copy()
        grade[tied], item[tied] = grade[tied[order]], item[tied[order]]
        behind = np.where((grade[tied] > 0) == best_first, 0, last - first + 1 - np.bincount(group)[group])
        now = first + np.arange(group.size) - np.flatnonzero(starts)[group] + behind
        rank[tied] = now
        rows = self.row.copy()
        if rows.size:
            is_old, is_new = np.zeros((2, rows.size), bool)
            is_old[before + was] = is_new[before + now] = True
            rows[before + now], rows[~is_new] = self.row[(before + was)[order]], self.row[~is_old]
        return replace(self, hit_rank=rank, hit_grade=grade, hit_item=item, row=rows)

    def shuffled(self) -> GradedRun:
        """Return the lists with all documents tied, so that scores are means over all orders."""
        last = np.repeat(self.retrieved, np.diff(self.hit_offsets))
        policy = replace(self.policy, ties="expected", depth=None, order="score", spans="none")  # of lists as they are
        return replace(self, policy=policy, hit_first=np.ones_like(last), hit_last=last)

    def condensed(self) -> GradedRun:
        """Return the lists without unjudged documents, with ranks closed up."""
        is_hit = np.zeros(int(self.list_offsets[-1]), bool)
        is_hit[self.hit_place] = True
        return replace(self.only(is_hit), pooled=None)

    def within(self, budget: Budget) -> GradedRun:
        """Return the lists to the last document whose cumulated length fits the budget."""
        length = self.lengths(budget.unit, f"@{budget}")
        # Sums of decimals, such as prices, are rounded. A document of unknown length does not fit a used-up budget.
        length = np.nan_to_num(length, nan=3e-12 * budget.amount)
        fits = running_sums(self.list_offsets, length) <= budget.amount * (1 + 1e-12)
        self.lengths(budget.unit, f"@{budget}", np.flatnonzero(fits))
        return self.only(fits)

    def lengths(self, unit: str, what: str, known_at: Ints | Sequence[int] = ()) -> Floats:
        """Return the lengths of all retrieved documents, NaN where unknown; some must be known, for ``what``."""
        table = self.judged.qrels.items
        if table is None or not table.has_attributes:
            given = for_asker("--items", "items= or Qrels.with_items")
            raise UsageError(f"{what}: a table of documents with their lengths is required ({given})")
        length = np.append(table.lengths(unit), np.nan)[np.minimum(self.items.item, len(table.ids))]
        unknown = [place for place in known_at if np.isnan(length[place])]
        if unknown and self.run is not None:
            document, query = self.run.document(int(self.row[unknown[0]])), int(np.sum(self.list_offsets <= unknown[0]))
            raise InputError(
                f"{table.name}: no length of document '{printable(document)}', which {self.source} retrieves for query "
                f"'{printable(self.query_ids[query - 1])}'",
                f"{what} needs the lengths of all documents that it counts",
            )
        return length

    def only(self, kept: Bools) -> GradedRun:
        """Return the lists with some of their documents, and ranks closed up."""
        size, pooled, hits = self.retrieved.size, self.pooled, kept[self.hit_place]
        retrieved = np.bincount(np.repeat(np.arange(size), self.retrieved)[kept], minlength=size)
        rank: Ints = np.cumsum(kept) - np.repeat(offsets_of(retrieved)[:-1], self.retrieved)
        query, place = np.repeat(np.arange(size), np.diff(self.hit_offsets))[hits], self.hit_place[hits]
        before = (place - self.hit_rank[hits])[: self.hit_first.size]
        first, last = (before + bound[hits[: bound.size]] for bound in (self.hit_first, self.hit_last))
        if pooled is not None:
            of_pooled = np.repeat(np.arange(size), np.diff(pooled[0]))
            at = self.list_offsets[of_pooled] + pooled[1] - 1
            pooled = offsets_of(np.bincount(of_pooled[kept[at]], minlength=size)), rank[at[kept[at]]]
        return replace(
            self,
            retrieved=retrieved,
            hit_offsets=offsets_of(np.bincount(query, minlength=size)),
            hit_rank=rank[place],
            hit_grade=self.hit_grade[hits],
            hit_item=self.hit_item[hits],
            hit_first=rank[first] - kept[first] + 1,
            hit_last=rank[last],
            score=self.score[kept] if self.score.size else self.score,
            row=self.row[kept] if self.row.size else self.row,
            pooled=pooled,
        )


def with_hits(graded: GradedRun, row: Ints, rank: Ints, grade: Floats, item: Ints, **others: Any) -> GradedRun:
    """Return the lists with other hits, by query and rank; ties, rows and, by default, ``pooled`` are dropped."""
    none, retrieved = np.zeros(0, np.int64), others.get("retrieved", graded.retrieved)
    others = {"hit_first": none, "hit_last": none, "row": none, "pooled": None, **others}
    offsets = offsets_of(np.bincount(row, minlength=retrieved.size))
    return replace(graded, hit_offsets=offsets, hit_rank=rank, hit_grade=grade, hit_item=item, **others)


def join(
    judged: Judged,
    run: RunLike,
    policy: Policy,
    *,
    want_scores: bool = False,
    want_rows: bool = False,
    threads: int = 1,
    progress: Progress | None = None,
    name: str | None = None,
) -> GradedRun:
    """Order a run by the policy and join it with the judgments; TREC text is joined without creating a Run.

    ``want_scores`` requires scores; ``want_rows`` keeps the :class:`Run` for later inspection.
    """
    source, progress = RunSource.of(run, name=name).credited(policy), progress or Progress()
    if source.ranked is not None:
        joined, documents = source.ranked(judged)
        return _graded(name or "", source.name or "", judged, policy, joined, (), documents)
    text = None if want_rows or policy.spans != "none" else source.trec_text()
    if text is not None:
        joined = join_text(judged, source, text, policy, threads, progress, want_scores=want_scores)

        def documents_of_text(rows: int) -> Collection[bytes]:
            fields = (line.split(None, 3) for line in islice(text.lines(), rows))
            return {line[2] for line in fields if len(line) > 2}

        return _graded(name or text.name, text.name, judged, policy, joined, (), documents_of_text)

    def join_block(block: Run, fitting: Policy) -> Joined:
        progress.total += len(block)
        wants = {"want_scores": want_scores, "want_rows": want_rows or policy.spans == "share"}
        return join_columns(judged.index, judged.qrels.query_ids, block, fitting, threads, progress, **wants)

    join_blocks = partial(_join_blocks, judged, policy, join_block, name, source.name or "")
    if want_rows or policy.spans != "none":
        whole = source.read(threads)
        if policy.spans == "none":
            return replace(join_blocks([whole]), run=whole)
        credited, share = credit_spans(whole, judged, policy.least_share)
        graded = replace(join_blocks([credited]), run=whole if want_rows else None)
        if policy.spans == "share":
            graded = replace(graded, hit_grade=graded.hit_grade * share[graded.row[graded.hit_place]])
        return graded
    try:
        # Each join allocates for all judged queries: blocks should not be smaller than that.
        block = min(BLOCK, max_list_bytes() // PER_ROW)
        return join_blocks(source.open(max(block, len(judged.qrels.query_ids)), threads))
    except InputError as error:
        if not source.is_in_pieces:
            raise
        # Errors are reported for the whole file, in which line numbers are known.
        graded = join_blocks([source.read(threads)])
        note = f"{graded.source}: not sorted by query, so read whole; sorting it would save memory"
        notes = (*graded.facts.notes, note) if isinstance(error, UnsortedError) else graded.facts.notes
        return replace(graded, facts=replace(graded.facts, notes=notes))


def _tie_bounds(joined: Joined) -> tuple[Ints, Ints]:
    """Return the first and the last rank of each hit's group of equal scores."""
    first, last = joined["hit_rank"].astype(np.int64), joined["hit_rank"].astype(np.int64)
    first[joined["tied_hit"]], last[joined["tied_hit"]] = joined["tied_first"], joined["tied_last"]
    return first, last


def _join_blocks(
    judged: Judged,
    policy: Policy,
    join_block: Callable[[Run, Policy], Joined],
    name: str | None,
    source: str,
    blocks: Iterable[Run],
) -> GradedRun:
    """Join a run that comes in blocks of different queries, keeping little of each block."""
    qrels, none = judged.qrels, np.zeros(0, np.int64)
    answered, retrieved, hits = np.zeros(len(qrels.query_ids), bool), *np.zeros((2, len(qrels.query_ids)), np.int64)
    extra: set[bytes] = set()
    order: list[Ints] = []  # judged queries in the order of the run
    kept: list[Joined] = []
    notes: dict[str, None] = {}
    excluded_count, excluded_lengths = 0, Counter[tuple[int, int]]()
    last: tuple[Run, Joined] | None = None
    for run in blocks:
        policy = fitting_policy(run, policy)
        joined = join_block(run, policy)
        again = answered & joined["answered"]
        if again.any() or not extra.isdisjoint(joined["extra_ids"]):
            finished = extra.union(qrels.query_ids[at] for at in np.flatnonzero(again).tolist())
            place, query = next((i, query) for i, query in enumerate(run.query_ids) if query in finished)
            raise not_together(run.origin.where(int(run.list_offsets[place])), query)
        last = run, joined
        order.append(np.flatnonzero(joined["answered"]))
        answered |= joined["answered"]
        retrieved += joined["retrieved"]
        hits += np.diff(joined["hit_offsets"])
        extra.update(joined["extra_ids"])
        require_memory(run.name, PER_QUERY * len(extra))
        # Do not keep arrays of the size of all judgments for each block.
        kept.append({**joined, "answered": none > 0, "retrieved": none, "hit_offsets": none, "extra_ids": []})
        notes |= dict.fromkeys(run.notes)
        if run.excluded_by is not None:
            excluded_count += int(run.excluded.sum())
            known = judged.cached("judged queries", lambda: frozenset(qrels.query_ids))
            lists = zip(run.query_ids, run.excluded.tolist(), np.diff(run.list_offsets).tolist(), strict=True)
            excluded_lengths.update((left + now, now) for query, left, now in lists if left and query in known)
    if last is None:
        raise empty_run(source)
    (run, joined), is_whole, came = last, len(kept) == 1, np.concatenate(order)

    def together(column: Callable[[Joined], Any], counts: Ints) -> Any:
        """Return a column of all blocks in the order of the judged queries."""
        values = np.concatenate([column(joined) for joined in kept])
        if not values.size or np.all(came[1:] > came[:-1]):
            return values
        return values[gather(offsets_of(counts[came]), np.argsort(came))[1]]

    def documents(rows: int) -> Collection[bytes]:
        # Only the last block is still in memory: judgments serve to estimate the number of documents.
        data, start, length = run.document_spans if is_whole else qrels.document_spans
        first = slice(rows if is_whole else None)
        return core.number_ids(data, start[first], length[first])[0]

    if not is_whole:
        first = together(lambda joined: _tie_bounds(joined)[0], hits)
        end = together(lambda joined: _tie_bounds(joined)[1], hits)
        tied = np.flatnonzero(end > first)
        joined = {
            **kept[0],
            "answered": answered,
            "retrieved": retrieved,
            "hit_offsets": offsets_of(hits),
            "hit_rank": together(itemgetter("hit_rank"), hits),
            "hit_item": together(itemgetter("hit_item"), hits),
            "tied_hit": tied,
            "tied_first": first[tied],
            "tied_last": end[tied],
            "scores": together(itemgetter("scores"), retrieved),
            "extra_ids": sorted(extra),
        }
        for count in ("list_count", "row_count", "duplicate_count", "rank_conflicts", "float32_ties", "tied_count"):
            joined[count] = sum(each[count] for each in kept)
        joined["inexact_ties"] = sum(each["inexact_ties"] for each in kept)
    found, by = _graded(name or run.name, run.name, judged, policy, joined, tuple(notes), documents), run.excluded_by
    if by is None:
        return found

    def excluded_grades() -> Counter[float]:
        """Return counts of the grades of judged documents that no list can contain."""
        ids = [qrels.query_ids[at] for at in qrels.query.tolist()]
        return Counter(qrels.grade[by.find(ids, np.arange(len(ids) + 1), qrels)].tolist())

    facts = replace(
        found.facts,
        excluded_count=excluded_count,
        excluded_grades=judged.cached(by, excluded_grades),
        excluded_lengths=excluded_lengths,
        exclusions=by.size,
    )
    return replace(found, facts=facts)


def join_text(
    judged: Judged,
    source: RunSource,
    text: Text,
    policy: Policy,
    threads: int,
    progress: Progress,
    *,
    want_scores: bool = False,
    want_facts: bool = False,
) -> Joined:
    """Join TREC text: take the join read ahead if it fits, else read in blocks if possible, else in memory."""
    joined = None if want_scores or source.ahead is None else source.ahead.take(judged, policy)
    options = policy.join_options(want_scores=want_scores, want_facts=want_facts)
    if joined is None and not text.is_held and not want_facts and hasattr(core, "TextBlocks"):
        # Holds only one block of the text at a time; returns None if that is not possible.
        before = progress.total
        if text.path is not None:
            progress.total += text.file_size
            path = os.fsencode(text.path)
            joined = core.join_file(path, judged.index, options, threads, progress.cells, max_list_bytes())
            if joined is not None:
                text.refuse_changed()
        else:
            blocks = core.TextBlocks(judged.index, options, threads, progress.cells, max_list_bytes())
            for piece in text.pieces():
                progress.total += len(piece)
                if not blocks.feed(piece):
                    break
            joined = blocks.finish()
            del blocks
        if joined is None:
            progress.total = before
    if joined is None:
        text.require_memory(FORMATS["trec"].per_line)
        progress.total += text.data.size
        joined = core.join_text(text.data, judged.index, options, threads, progress.cells)
    if joined["fault_count"]:
        raise_faults(text.name, text.data, joined["faults"], joined["fault_count"], run=True)
    if not joined["list_count"]:
        raise empty_run(text.name)
    return joined


#: Number of queries of each side that are compared.
_COMPARED = 10_000
_SAME_IDS = "write ids the same way in both files"


def disjoint(source: str, judgments: str, wanted: Sequence[bytes], found: Sequence[bytes]) -> InputError:
    """The error for a run without any judged query."""
    of_run, of_judged = ([text_of_id(each) for each in ids[:_COMPARED]] for ids in (found, wanted))
    lookalikes, match = lookalikes_of(of_run, of_judged), near_miss(of_run, of_judged)
    one, other = (of_run[0], of_judged[0]) if match is None or lookalikes else (match.found, match.wanted)
    hint = "do the judgments and the run belong to the same collection?"
    if lookalikes:
        one_form, other_form, how = lookalikes[0]
        hint = f"'{one_form}' in the run and '{other_form}' in the judgments differ {how}: {_SAME_IDS}"
    elif match is not None:
        hint = f"{match.count:,} of {match.total:,} queries match {match.how}: {_SAME_IDS}"
    return InputError(
        f"{source}: none of its queries is judged: the run has '{printable(one)}', "
        f"{judgments} has '{printable(other)}'",
        hint,
    )


def _near_documents(found: Sequence[bytes], judged: Sequence[bytes], policy: Policy, is_none: bool) -> str | None:
    """Return a note if IDs of chunks, of spans or in another notation explain why hardly any documents match."""
    alike = chunks_of(found, judged)
    if alike is None and policy.spans == "none" and all(map(span_of, (*found, *judged))):
        return f"the IDs are spans: {option('spans', 0.5)} credits chunks to the spans of which they cover half"
    if alike is None and found and is_none and {*found}.isdisjoint(judged):
        match = near_miss(*([text_of_id(each) for each in ids[:_COMPARED]] for ids in (found, judged)))
        if match and 2 * match.count >= min(match.total, len(judged)):
            return f"{match.count:,} of {match.total:,} documents match {match.how}: {_SAME_IDS}"
    return alike


def _graded(
    name: str,
    source: str,
    judged: Judged,
    policy: Policy,
    joined: Joined,
    notes: tuple[str, ...],
    documents: Callable[[int], Collection[bytes]],
) -> GradedRun:
    qrels = judged.qrels
    if len(joined["extra_ids"]) == joined["list_count"] and not qrels.is_part:
        raise disjoint(source, qrels.name, qrels.query_ids, joined["extra_ids"])
    if judged.policy.subtopics and len(qrels.subtopic_ids) == 1 and not qrels.is_part:
        only = printable(qrels.subtopic_ids[0])
        found = f"subtopics=yes, but all judgments have the same sub-topic, '{only}': does column 2 hold sub-topics?"
        notes = f"{qrels.name}: {found}", *notes
    item = joined["hit_item"].astype(np.int64)
    if item.size <= _HARDLY_ANY * np.count_nonzero(joined["answered"]):
        some = ids_of((qrels.data, qrels.document_start[:_SAMPLE], qrels.document_length[:_SAMPLE]))
        if (alike := _near_documents([*documents(_SAMPLE)], some, judged.policy, not item.size)) is not None:
            notes = f"{source}: hardly any retrieved document is judged, but {alike}", *notes
    hit_grade = judged.grade[item]
    offsets, rank = joined["hit_offsets"], joined["hit_rank"].astype(np.int64)
    # Without ties the bounds stay empty.
    first, last = _tie_bounds(joined) if joined["tied_hit"].size else (item[:0], item[:0])
    counts, pooled = np.isfinite(hit_grade), None
    if not counts.all():
        # negative=unjudged: these documents were judged but count as unjudged.
        kept_before = offsets_of(counts)
        pooled = offsets - kept_before[offsets], rank[~counts]
        offsets, rank, hit_grade, item = kept_before[offsets], rank[counts], hit_grade[counts], item[counts]
        first, last = (bound[counts] if bound.size else bound for bound in (first, last))
    shown = int(np.minimum(joined["retrieved"], 10).sum())
    others = np.repeat(joined["retrieved"] - 1, np.diff(offsets))
    tells = (hit_grade > 0) & (others > 0)
    # Rounded to steps, so that the sum does not depend on how it is partitioned.
    places = np.round((rank[tells] - 1) / others[tells] * _STEPS) / _STEPS
    list_of = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))[tells]
    facts = JoinFacts(
        tuple(identifier for identifier in joined["extra_ids"] if identifier not in qrels.left_out),
        joined["duplicate_count"],
        joined["rank_conflicts"],
        joined["float32_ties"],
        shown,
        shown - int(np.count_nonzero(rank <= 10)),
        intents=sum(map(len, (qrels.intents or {}).values())),
        notes=(*qrels.notes, *notes),
        tied_count=joined["tied_count"],
        inexact_ties=joined["inexact_ties"],
        ranked_count=int(joined["retrieved"].sum()),
        relevant_hits=places.size,
        relevant_places=float(places.sum()),
        others_judged=qrels.levels[0] <= 0,
        has_users=qrels.has_users,
        sampled=_sampled(judged, joined, list_of, places, documents),
    )
    lists = joined["answered"], joined["retrieved"], offsets, rank, hit_grade, item, first, last
    graded = GradedRun(name, source, judged, policy, *lists, joined["scores"], joined["rows"], facts, pooled)
    return graded.by_grade(policy.ties == "best") if policy.ties in ("best", "worst") else graded


#: Sampled evaluation is recognised only with at least this many lists. Lists were not cut from longer ones if this many
#: relevant documents are in the second half, or if lists of more than a few documents differ in length or have a length
#: that is not round.
_SAMPLED_LISTS, _SAMPLED_LATE, _SHORT, _ROUND = 10, 5, 20, 5


def _sampled(
    judged: Judged, joined: Joined, row: Ints, places: Floats, documents: Callable[[int], Collection[bytes]]
) -> int:
    """Return the number of other documents per list if they appear to be sampled for it; else 0.

    That is so if all lists are shorter than the collection, have equally many of them and contain everything relevant,
    but were not cut from a longer ranking, which would lose relevant documents at late ranks. ``row`` is the list of
    every relevant document found, ``places`` its relative rank from 0 to 1; ``documents`` returns the distinct
    documents in the first rows of the run.
    """
    retrieved, lists = joined["retrieved"], joined["answered"]
    found = np.bincount(row, minlength=retrieved.size)
    others = (retrieved - found)[lists]
    if others.size < _SAMPLED_LISTS or others[0] == 0 or (others != others[0]).any():
        return 0
    longest = int(retrieved.max())
    is_whole = longest > _SHORT and (longest % _ROUND > 0 or longest > retrieved[lists].min())
    is_whole = is_whole or np.count_nonzero(places > 0.5) >= _SAMPLED_LATE
    if not is_whole or (found != judged.recall_base(None, None))[lists].any():
        return 0
    # Two lists that both contain all documents have the same ones.
    return int(others[0]) if len(documents(2 * longest)) > longest else 0
