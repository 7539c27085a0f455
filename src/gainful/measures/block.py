"""Blocks of queries as arrays, and the raw scores of a run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from functools import cached_property
from numbers import Real
from typing import Any, ClassVar, Protocol

import numpy as np

from gainful.data.graded import GradedRun, join
from gainful.data.judged import HasCache, Judged
from gainful.data.lists import Documents, GainLists, TiedGainLists, gather, is_relevant, ordinal_in_row, sum_by
from gainful.data.qrels import Qrels
from gainful.errors import UsageError
from gainful.gains import Gain
from gainful.kernel.arrays import Floats, Ints
from gainful.measures.expected import TieGroups, expected_counts, expected_precisions
from gainful.notation import Budget
from gainful.policy import Policy

#: Blocks of at most this many cells (queries x ranks) fit in the processor's cache and limit memory.
CELLS = 1 << 18


class Computing(Protocol):
    """The methods of a measure that scoring needs."""

    whole_list: ClassVar[bool]
    budget: ClassVar[Budget | None]

    def needed(self) -> frozenset[str]: ...
    def check(self, levels: Floats) -> None: ...
    def compute(self, block: Block) -> Floats: ...
    def at_end(self, length: int) -> Computing: ...


class Block(HasCache):
    """Some queries of a graded run. Rows are queries; ranks count from 1; a grade of NaN is unjudged.

    ``retrieved``  number of documents in each list
    ``hits``       the retrieved judged documents
    ``judged``     all judged documents of each query, best first (``rank`` is the position in that order)
    ``width``      the longest list or number of judged documents: later ranks change nothing
    """

    def __init__(self, graded: GradedRun, queries: Ints) -> None:
        self.graded = graded
        self.queries = queries
        self.size = int(queries.size)
        self.scale = graded.judged.scale
        self.policy = graded.policy
        self.retrieved: Ints = graded.retrieved[queries]
        self._cache = {}

    @cached_property
    def hits(self) -> Documents:
        if self.size == len(self.graded.query_ids):
            row = np.repeat(self.queries, np.diff(self.graded.hit_offsets))
            return Documents(row, self.graded.hit_rank, self.graded.hit_grade)
        row, place = gather(self.graded.hit_offsets, self.queries)
        return Documents(row, self.graded.hit_rank[place], self.graded.hit_grade[place])

    @cached_property
    def judged(self) -> Documents:
        return self._chosen(self.graded.judged.best_first)

    def _chosen(self, of_all: tuple[Ints, Documents]) -> Documents:
        row, place = gather(of_all[0], self.queries)
        return Documents(row, of_all[1].rank[place], of_all[1].grade[place])

    @cached_property
    def judged_counts(self) -> Ints:
        """The number of judged documents per query."""
        return self.graded.judged.counts[self.queries]

    @cached_property
    def condensed_rank(self) -> Ints:
        """The rank of each hit if unjudged documents were removed."""
        return ordinal_in_row(self.hits.row)

    @cached_property
    def pooled(self) -> tuple[Ints, Ints]:
        """Row and rank of the retrieved documents that are unjudged because of negative=unjudged."""
        if self.graded.pooled is None:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        row, place = gather(self.graded.pooled[0], self.queries)
        return row, self.graded.pooled[1][place]

    @cached_property
    def missed(self) -> Documents:
        """The judged documents not in the lists, best first (``rank`` is the position in that order)."""
        return self._chosen(self.graded.missed)

    def missed_after(self, cutoff: int) -> Documents:
        """Return the judged documents not in the top ``cutoff`` of their list, best first."""
        return self._chosen(self.graded.missed_after(cutoff))

    @cached_property
    def found(self) -> Documents:
        """The hits, best first (``rank`` is the position in that order)."""
        return self._chosen(self.graded.found)

    @cached_property
    def hit_ties(self) -> tuple[Ints, Ints]:
        """The first and last rank of each hit's group of equal scores, for measures that need ``"ties"``.

        A run without scores has no ties.
        """
        place = gather(self.graded.hit_offsets, self.queries)[1]
        first, last = self.graded.hit_ties
        return first[place], last[place]

    @cached_property
    def hit_scores(self) -> Floats:
        """The system's score of each hit; only for measures that need ``"scores"``."""
        self._require_scores()
        return self.graded.score[self.graded.hit_place[gather(self.graded.hit_offsets, self.queries)[1]]]

    @cached_property
    def list_scores(self) -> tuple[Ints, Floats]:
        """Row and score of each retrieved document, by rank; only for measures that need ``"scores"``."""
        self._require_scores()
        row, place = gather(self.graded.list_offsets, self.queries)
        return row, self.graded.score[place]

    @cached_property
    def width(self) -> int:
        return max(1, int(self.retrieved.max(initial=0)), int(self.judged_counts.max(initial=0)))

    def relevant(self, rel: float | None = None, level: float | None = None) -> Documents:
        """Return the relevant hits: grade above 0, at least ``rel``, or exactly ``level``."""
        return self.cached(("relevant", rel, level), lambda: self.hits.relevant(rel, level))

    def recall_base(self, rel: float | None = None, level: float | None = None) -> Ints:
        """Return the number of relevant judged documents per query."""
        return self.graded.judged.recall_base(rel, level)[self.queries]

    def gain_lists(
        self, gain: Gain | str = "linear", rel: float | None = None, level: float | None = None
    ) -> GainLists:
        """Return the gains of the run's lists. ``rel`` and ``level`` set other gains to 0."""

        def gain_lists() -> GainLists:
            # Only weights can give grade 0 a gain; with other maps, the relevant hits are shared with other measures.
            chosen = rel is not None or level is not None or not Gain.of(gain).weights
            documents = self.relevant(rel, level) if chosen else self.hits
            return self.with_ties(GainLists.of(documents, self.size, gain, self.scale, None, None))

        return self.cached(("gain", gain, rel, level), gain_lists)

    @cached_property
    def averages_ties(self) -> bool:
        """Whether scores are means over all orders of documents with equal scores."""
        return self.policy.ties == "expected" and self.graded.hit_first.size > 0

    def ties_of(self, row: Ints, rank: Ints) -> tuple[Ints, Ints]:
        """Return the first and the last rank of the group of equal scores of some hits."""

        def bounds() -> tuple[Ints, Ints, Ints]:
            stride = self.width + 1
            place = np.searchsorted(self.hits.row * stride + self.hits.rank, row * stride + rank)
            return row, self.hit_ties[0][place], self.hit_ties[1][place]

        # Measures share the arrays of relevant documents; the cache keeps them, so that their ids stay theirs.
        return self.cached(("ties", id(row)), bounds)[1:]

    def with_ties(self, lists: GainLists) -> GainLists:
        """Return gain lists of hits, which know the ties of these if scores are means over them."""
        if not self.averages_ties:
            return lists
        return TiedGainLists(lists.size, lists.row, lists.rank, lists.gain, *self.ties_of(lists.row, lists.rank))

    def groups(self, documents: Documents) -> TieGroups:
        """Return the groups of equal scores that hold these hits."""
        return TieGroups.of_documents(documents.row, *self.ties_of(documents.row, documents.rank))

    def ideal_lists(
        self, gain: Gain | str = "linear", rel: float | None = None, level: float | None = None
    ) -> GainLists:
        """Return the gains of the ideal lists: all judged gains in descending order."""

        def chosen() -> GainLists:
            lists = self.graded.judged.ideal_lists(gain, rel, level)
            return lists if self.size == lists.size else lists.of_rows(self.queries)

        return self.cached(("ideal", gain, rel, level), chosen)

    def gains(self, gain: Gain | str = "linear", depth: int | None = None) -> Floats:
        """Return gains as queries x ranks (at most ``width``); 0 if unjudged or past the end of a list."""
        return self.gain_lists(gain).dense(self.depth_to(depth))

    def ideal(self, gain: Gain | str = "linear", depth: int | None = None) -> Floats:
        """Return the gains of the ideal lists as queries x ranks."""
        return self.ideal_lists(gain).dense(self.depth_to(depth))

    def depth_to(self, wanted: int | None) -> int:
        """Limit a depth to ``width``."""
        return min(wanted or self.width, self.width)

    def grades(self, depth: int | None = None) -> Floats:
        """Return grades as queries x ranks; NaN if unjudged."""
        hits, depth = self.hits, self.depth_to(depth)
        shown = hits.rank <= depth
        values = np.full((self.size, depth), np.nan)
        values[hits.row[shown], hits.rank[shown] - 1] = hits.grade[shown]
        return values

    def scores(self, depth: int | None = None) -> Floats:
        """Return the system's scores as queries x ranks, NaN past the end of a list; requires ``"scores"``."""
        self._require_scores()
        offsets = self.graded.list_offsets
        row, place = gather(offsets, self.queries)
        rank, depth = place - offsets[self.queries][row] + 1, self.depth_to(depth)
        shown = rank <= depth
        values = np.full((self.size, depth), np.nan)
        values[row[shown], rank[shown] - 1] = self.graded.score[place[shown]]
        return values

    def _require_scores(self) -> None:
        if self.graded.score.size != self.graded.list_offsets[-1]:
            raise UsageError('scores are available only to measures with "scores" in needs')

    def count(self, documents: Documents, cutoff: int | Ints | Floats | None = None) -> Ints | Floats:
        """Return the number of these documents per query, down to ``cutoff`` (one per query, or one for all)."""
        if cutoff is None:
            return np.bincount(documents.row, minlength=self.size)
        if self.averages_ties:
            return expected_counts(self.groups(documents), cutoff, self.size)
        at = cutoff if isinstance(cutoff, int) else cutoff[documents.row]
        return np.bincount(documents.row[documents.rank <= at], minlength=self.size)

    def precision_sums(self, relevant: Documents, cutoff: int | None = None) -> Floats:
        """Return the sum, per query, of the precisions at the ranks of relevant documents down to ``cutoff``."""
        if self.averages_ties:
            return expected_precisions(self.groups(relevant), cutoff, self.size)
        precisions = relevant.ordinal / relevant.rank
        if cutoff is not None:
            precisions = np.where(relevant.rank <= cutoff, precisions, 0.0)
        return sum_by(relevant.row, precisions, self.size)


def gains_of(measure: object, grades: Floats, scale: float) -> Floats:
    """Return the gain of each grade for a measure; 1 or 0 if only relevance counts."""
    rel, level, gain = (getattr(measure, name, None) for name in ("rel", "level", "gain"))
    is_forbidden = getattr(measure, "is_forbidden", None)
    counts = is_relevant(grades, rel, level) if is_forbidden is None else is_forbidden(grades)
    if not isinstance(gain, Gain):
        return counts.astype(np.float64)
    gains = gain.of_grades(grades, scale)
    return gains if rel is level is None else np.where(counts, gains, 0.0)


def ratios(numerators: Ints | Floats, divisors: Ints | Floats | float) -> Floats:
    """Divide element by element; NaN if the divisor is 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(np.asarray(divisors) == 0, np.nan, numerators / divisors)


def blocks(graded: GradedRun, cells: int = CELLS, queries: Ints | None = None) -> Iterator[Block]:
    """Yield blocks of all or some queries of a graded run, grouped by length."""
    widths = np.maximum(np.maximum(graded.retrieved, graded.judged.counts), 1)
    order = np.argsort(widths if queries is None else widths[queries], kind="stable")
    if queries is not None:
        order = queries[order]
    first = 0
    while first < order.size:
        # Rows times the widest row must fit; the product increases with ascending widths.
        candidates = widths[order[first : first + cells]]
        products = np.arange(1, candidates.size + 1) * candidates
        rows = max(1, int(np.searchsorted(products, cells, "right")))
        yield Block(graded, np.sort(order[first : first + rows]))
        first += rows


def raw_scores(graded: GradedRun, measures: Sequence[Computing], *, only_answered: bool = False) -> Floats:
    """Return measures x queries; NaN if a formula is undefined or a query was skipped."""
    scores = np.full((len(measures), len(graded.query_ids)), np.nan)
    queries = np.flatnonzero(graded.answered) if only_answered else None
    for block, seen_by in seen_blocks(graded, measures, queries):
        for i in seen_by:
            scores[i, block.queries] = computed(measures[i], block)
    return scores


def seen_blocks(
    graded: GradedRun, measures: Sequence[Computing], queries: Ints | None = None
) -> Iterator[tuple[Block, list[int]]]:
    """Yield the blocks of a run, whole and condensed, each with the indices of the measures that use it."""
    views = [(condenses(measure, graded.policy), measure.budget) for measure in measures]
    for view in dict.fromkeys(views):
        seen_by = [i for i, each in enumerate(views) if each == view]
        for block in blocks(seen_lists(graded, measures[seen_by[0]]), queries=queries):
            yield block, seen_by


def seen_lists(graded: GradedRun, measure: Computing) -> GradedRun:
    """Return the lists as a measure uses them: condensed, and cut by its budget."""
    lists = graded.condensed() if condenses(measure, graded.policy) else graded
    return lists if measure.budget is None else lists.within(measure.budget)


def computed(measure: Computing, block: Block) -> Floats:
    """Return a measure's scores of a block, checked to be one finite number or NaN per query."""
    if measure.at_end(1) is measure:
        found = measure.compute(block)
    else:  # its cutoff is the rank of the last document within the budget
        found = np.full(block.size, np.nan)
        for length in {*block.retrieved.tolist()}:
            rows = np.flatnonzero(block.retrieved == length)
            found[rows] = measure.at_end(length).compute(Block(block.graded, block.queries[rows]))
    with suppress(TypeError, ValueError):
        if isinstance(mask := getattr(found, "mask", None), np.ndarray):  # masked scores are undefined
            found = np.where(mask, np.nan, np.asarray(found))
        if (values := np.asarray(found)).dtype.kind in "biufO":  # NumPy would drop imaginary parts and parse strings
            values = values.astype(np.float64, copy=False)
            if values.shape == (block.size,) and not np.isinf(values).any():
                return values
    raise UsageError(f"{measure}: expected compute to return one finite score (or NaN) per query, found {found!r}")


def score_list(
    measure: Computing,
    grades: Sequence[float | None],
    unretrieved: Sequence[float],
    scale: float | None,
    policy: Mapping[str, Any],
) -> float:
    """Return the raw score of one list, given by its grades."""
    require_list(grades, "grades")
    require_list(unretrieved, "unretrieved")
    for what, values in (("grades", grades), ("unretrieved", unretrieved)):
        for i, grade in enumerate(values):
            if grade is not None and not isinstance(grade, Real):
                raise UsageError(f"{what}[{i}]: expected a number, or None if unjudged, found {grade!r}")
    judged = {f"found{i}": grade for i, grade in enumerate(grades) if grade is not None}
    judged.update({f"unretrieved{i}": grade for i, grade in enumerate(unretrieved)})
    # Judgments must not be empty; a missed document of grade 0 changes no score.
    qrels = Qrels.from_dict({"query": judged or {"none": 0}}, scale=scale)
    settled = Policy(**policy)
    prepared = Judged(qrels, settled)
    measure.check(prepared.levels)
    run = {f"found{i}": -float(i) for i in range(len(grades))}
    graded = join(prepared, {"query": run}, settled, want_scores=True, want_rows="documents" in measure.needed())
    return float(raw_scores(graded, [measure])[0, 0])


def require_list(values: object, what: str) -> None:
    """Reject anything but a list of values."""
    if not isinstance(values, Collection) or isinstance(values, (str, bytes, Mapping, Set)):
        raise UsageError(f"{what}: expected a list of numbers, found {values!r}")


def condenses(measure: Computing, policy: Policy) -> bool:
    """Whether a measure uses lists without unjudged documents."""
    return not measure.whole_list and (getattr(measure, "unjudged", None) or policy.unjudged) == "condensed"
