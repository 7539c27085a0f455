"""Changes between runs, found without judgments: `gainful diff`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from gainful.data.queries import Queries
from gainful.data.run import Run, RunSource, runs_by_name
from gainful.errors import InputError, UsageError, for_asker
from gainful.frozen import dataclass, replace
from gainful.kernel.arrays import Floats, Ints
from gainful.kernel.core import thread_count
from gainful.notation import count_of, number_text, printable, read_number, some_of, text_of_id, whole_number
from gainful.pages.page import Detail, Row, RowsOnDemand, Table, head
from gainful.policy import BY_GRADE, LIST_CHOICES, Policy
from gainful.question import question
from gainful.render import Page, Showable
from gainful.tasks.diff.tied_overlap import RankedLists, depth_of, rank_biased_overlap
from gainful.tasks.judgments import conventions
from gainful.tasks.run_questions import DiffOptions

_WIDEST_TEXT = 40


class Churn(NamedTuple):
    """By query, the numbers of documents that came into the top k, went out of it and moved inside, and the share that
    changed: 1 - overlap at k, that is, documents in both top k / documents in the longer one."""

    k: int
    came: Ints
    went: Ints
    moved: Ints
    share: Floats

    @property
    def changes(self) -> Ints:
        return self.came + self.went + self.moved


@dataclass(frozen=True, eq=False)
class RunChange:
    """The changes from one run to another: ``churn`` by k and ``rbo``, over ``queries`` that both answer."""

    name: str
    queries: tuple[str, ...]
    only_old: tuple[str, ...]
    only_new: tuple[str, ...]
    churn: Mapping[int, Churn]
    rbo: Floats
    weights: Floats | None
    lists: tuple[RankedLists, RankedLists]

    @property
    def first(self) -> Churn:
        return next(iter(self.churn.values()))

    def mean(self, values: Floats | Ints, places: Sequence[int] | slice = slice(None)) -> float:
        """Return the (weighted) mean over the queries, or over those at some places."""
        weights = np.ones(len(self.queries)) if self.weights is None else self.weights
        return math.fsum((weights * values)[places].tolist()) / math.fsum(weights[places].tolist())

    def documents(self, order: Ints) -> Iterator[Row]:
        """Yield run, query, change, document and both ranks of what changed in the first top k of some queries."""
        k, (_, *rows) = self.first.k, self.lists[0].shared(self.lists[1], thread_count(None))
        elsewhere = [np.zeros(lists.row.size, np.int64) for lists in self.lists]
        for mine in (0, 1):
            elsewhere[mine][rows[mine]] = self.lists[1 - mine].rank[rows[1 - mine]]
        for query in order.tolist():
            for mine, lists in enumerate(self.lists):
                begin, end = lists.offsets[query : query + 2].tolist()
                for rank, row in enumerate(range(begin, min(end, begin + k)), 1):
                    other = int(elsewhere[mine][row]) or None
                    stays = other is not None and other <= k
                    if stays and (mine or other == rank):
                        continue
                    change = "moved" if stays else ("went", "came")[mine]
                    document = text_of_id(lists.run.document(int(lists.row[row])))
                    ranks = (other, rank) if mine else (rank, other)
                    yield self.name, self.queries[query], change, document, *ranks


@dataclass(frozen=True, eq=False, repr=False)
class RunDiff(Showable):
    """Result of :func:`diff_runs`: ``runs`` has the changes from the run ``old`` to each other run."""

    old: str
    runs: tuple[RunChange, ...]
    asked: DiffOptions
    table: Queries
    policy: Policy
    notices: tuple[str, ...]

    @property
    def is_above(self) -> bool:
        """Whether a run changes a larger share of the first top k than ``fail_above``; all of it if a query is lost."""
        return any(self._limited(run)[1] for run in self.runs)

    def _limited(self, run: RunChange) -> tuple[float, bool]:
        """Return the share of the first top k that changed, all of it for lost queries, and whether it is too large."""
        weights, limit = self.table.weights_of((*run.queries, *run.only_old)), self.asked.fail_above
        share = float(np.average([*run.first.share, *(1.0 for _ in run.only_old)], weights=weights))
        return share, limit is not None and share > limit + 1e-12  # it may exceed an equal limit by rounding

    def page(self, places: int = 4, most: int = 10) -> Page:
        """Return a sentence per run, summaries by run and segment, the ``most`` changed queries and their documents."""
        summary: list[Row] = []
        segments: list[Row] = []
        for run in self.runs:
            for k, of in run.churn.items():
                means = [run.mean(each) for each in (of.share, of.came, of.went, of.moved)]
                summary.append((run.name, k, *means, *_alike(of), run.mean(run.rbo)))
            if self.asked.by is not None:
                for name, at in self.table.segments(self.asked.by, run.queries).items():
                    segments.append((run.name, name, len(at), run.mean(run.first.share, at), run.mean(run.rbo, at)))
        names = "run | top # | changed % | came .1 | went .1 | moved .1 | unchanged # | reordered #"
        notes = (
            "came, went, moved: documents per query; unchanged, reordered: queries with the same documents in the same "
            "and in another order",
            f"RBO: extrapolated rank-biased overlap of whole lists, persistence {number_text(self.asked.persistence)}, "
            f"ties as {self.asked.rbo_ties}",
        )
        table = Table(head(f"{names} | RBO .{places}"), summary, f"Changes from {self.old}", notes)
        parts: list[Table | Detail | str] = [*(line for run in self.runs for line in self._sentences(run)), table]
        if segments:
            columns = head(f"run | {self.asked.by} | queries # | changed % | RBO .{places}")
            parts.append(Table(columns, segments, f"Changes in the top {self.runs[0].first.k} by {self.asked.by}"))
        parts += (part for run in self.runs for part in self._by_query(run, places, most))
        header: dict[str, object] = {"old": self.old, "runs": [run.name for run in self.runs]}
        header |= {"persistence": self.asked.persistence, "rbo_ties": self.asked.rbo_ties}
        for name in ("only_old", "only_new"):
            header[name] = {run.name: list(getattr(run, name)) for run in self.runs}
        note = conventions(self.policy, LIST_CHOICES)
        return Page("diff", tuple(parts), (note,), header, systems=(self.old, *(run.name for run in self.runs)))

    def _sentences(self, run: RunChange) -> Iterator[str]:
        of, name, count = run.first, printable(run.name), count_of(len(run.queries), "query", "queries")
        same, reordered = _alike(of)
        mean = "mean" if run.weights is None else "weighted mean"
        line = f"{name} changes {100 * run.mean(of.share):.1f}% of the top {of.k} ({mean} over {count})"
        alike = f"{count_of(same, 'query', 'queries')} did not change"
        yield f"{line}; {alike}, {reordered:,} only in order." if reordered else f"{line}; {alike}."
        for each, only in ((self.old, run.only_old), (run.name, run.only_new)):
            if only:
                there = f"{count_of(len(only), 'query is', 'queries are')} only in {printable(each)}"
                yield f"{there} ({some_of(only)}) and not counted."
        if self.asked.fail_above is not None:
            share, is_above = self._limited(run)
            line = f"{100 * share:.4g}% {'exceeds' if is_above else 'is within'} the limit of"
            counted = "With lost queries counted as changed, " if run.only_old else ""
            yield f"{counted}{line} {100 * self.asked.fail_above:g}%."

    def _by_query(self, run: RunChange, places: int, most: int) -> Iterator[Table | Detail]:
        """Yield a table of the queries that changed, most changed first, and a table of their documents."""
        of = run.first
        order = np.lexsort((run.rbo, -of.share))
        order = order[of.changes[order] > 0]
        if not order.size:
            return
        rows: list[Row] = []
        for query in order.tolist():
            text = (printable(self.table.text(run.queries[query]) or "", _WIDEST_TEXT),) if self.table.has_texts else ()
            values = [each[query].item() for each in (of.share, of.came, of.went, of.moved, run.rbo)]
            rows.append((run.name, run.queries[query], *text, *values))
        about = "" if len(self.runs) == 1 else f": {run.name}"
        name = head("run", for_machines=True)
        names = f"query{' | text' * self.table.has_texts} | changed % | came # | went # | moved # | RBO .{places}"
        yield Table((*name, *head(names)), rows, f"Most changed in the top {of.k}{about}", most=most)
        counts = of.changes[order]
        found = RowsOnDemand(int(counts.sum()), lambda: run.documents(order))
        columns = (*name, *head("query | change | document | old rank # | new rank #"))
        yield Detail((Table(columns, found, f"Documents{about}", most=int(counts[:most].sum())),))


def _alike(of: Churn) -> tuple[int, int]:
    """Return the numbers of queries with the same documents in the top k, in the same and in another order."""
    has_moved = (of.moved > 0) & (of.moved == of.changes)
    return int(np.count_nonzero(of.changes == 0)), int(np.count_nonzero(has_moved))


@question(DiffOptions)
def diff_runs(asked: DiffOptions) -> RunDiff:
    """Compare runs with an older one by their documents alone, without judgments.

    ``old`` and ``new`` are runs in any form, or dicts of runs by name. Overlap at ``k`` is the number of documents in
    the top k of both lists, divided by the number in the longer top k; the rest changed. Means are over the queries
    that both runs answer. The first ``k`` orders the queries and is compared with ``fail_above``.

    >>> found = diff_runs({"q1": ["d1", "d2"], "q2": ["d4"]}, {"q1": ["d1", "d3"], "q2": ["d4"]}, k=2)
    >>> found.runs[0].first.share.tolist(), found.runs[0].rbo.round(2).tolist()
    ([0.5, 0.0], [0.55, 1.0])
    """
    policy, threads = Policy.of(asked.policy), thread_count(asked.threads)
    table = Queries() if asked.queries is None else Queries.of(asked.queries)
    ranks = tuple(whole_number(k, "k") for k in asked.k)
    asked = replace(asked, k=ranks, persistence=read_number(asked.persistence, "persistence"))
    if not ranks:
        raise UsageError("k: at least one rank is required")
    if not 0 < asked.persistence < 1:
        raise UsageError(f"persistence: expected a number between 0 and 1, found {asked.persistence}")
    if asked.fail_above is not None and not 0 <= asked.fail_above <= 1:
        name = for_asker("--fail-above", "fail_above")
        raise UsageError(f"{name}: expected a share from 0 to 1, found {asked.fail_above}")
    if policy.ties in BY_GRADE:
        raise UsageError(f"ties={policy.ties} needs judgments", "use --rbo-ties to choose the treatment of ties by RBO")
    if asked.by is not None and asked.queries is None:
        raise UsageError("by: requires a table of queries", "use --queries FILE (queries= in Python)")
    before = runs_by_name(asked.old) or {"old": asked.old}
    if len(before) != 1:
        raise UsageError(f"old: expected one run, found {len(before)}")
    (old_name, old), *new = (
        (name, RunSource.of(source).credited(policy).read(threads))
        for name, source in (*before.items(), *(runs_by_name(asked.new) or {"new": asked.new}).items())
    )
    found = tuple(_change((old_name, name), (old, run), policy, table, asked) for name, run in new)
    notices = [*old.notes, *(note for _, run in new for note in run.notes), *table.notices(found[0].queries)]
    return RunDiff(old_name, found, asked, table, policy, tuple(dict.fromkeys(notices)))


def _change(
    names: tuple[str, str], runs: tuple[Run, Run], policy: Policy, table: Queries, asked: DiffOptions
) -> RunChange:
    every = sorted({*runs[0].query_ids, *runs[1].query_ids})
    kept = table.kept([text_of_id(each) for each in every])
    every = every if kept is None else [each for each, keep in zip(every, kept.tolist(), strict=True) if keep]
    place_of = [{query: place for place, query in enumerate(run.query_ids)} for run in runs]
    common = [query for query in every if query in place_of[0] and query in place_of[1]]
    if not common:
        there = [f"{name} has {some_of(run.query_ids, 3)}" for name, run in zip(names, runs, strict=True)]
        raise InputError(f"{names[0]} and {names[1]} have no common query: {', '.join(there)}")
    queries, threads = tuple(map(text_of_id, common)), thread_count(asked.threads)
    table.check(queries)
    both = (
        run if list(run.query_ids) == common else run.take(np.array([place[query] for query in common], np.int64))
        for run, place in zip(runs, place_of, strict=True)
    )
    old, new = (RankedLists.of(run, policy, threads) for run in both)
    query, *rows = shared = old.shared(new, threads, max(*asked.k, depth_of(asked.persistence)))
    ranks, lengths = (old.rank[rows[0]], new.rank[rows[1]]), (np.diff(old.offsets), np.diff(new.offsets))
    churn = {}
    for k in asked.k:
        inside = np.maximum(*ranks) <= k
        both_and_moved = inside, inside & (ranks[0] != ranks[1])
        same, moved = (np.bincount(query[chosen], minlength=len(common)) for chosen in both_and_moved)
        before, after = (np.minimum(length, k) for length in lengths)
        longer = np.maximum(before, after)
        churn[k] = Churn(k, after - same, before - same, moved, (longer - same) / np.maximum(longer, 1))
    only = [tuple(text_of_id(each) for each in every if each not in place) for place in reversed(place_of)]
    rbo = rank_biased_overlap(old, new, shared, asked.persistence, asked.rbo_ties)
    return RunChange(names[1], queries, only[0], only[1], churn, rbo, table.weights_of(queries), (old, new))
