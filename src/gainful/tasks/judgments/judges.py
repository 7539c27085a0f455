"""Agreement of two sets of judgments (assessors, a language model and people, old and new), and its effect on the order
of systems."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import compress
from typing import Annotated, NamedTuple, get_type_hints

import numpy as np

from gainful.data.judged import Judged
from gainful.data.lists import is_relevant
from gainful.data.qrels import Qrels, QrelsLike
from gainful.data.run import RunLike, RunSource
from gainful.errors import InputError, UsageError, for_asker, warns
from gainful.evaluation.evaluate import evaluate_runs
from gainful.evaluation.notices import notices
from gainful.frozen import dataclass, field, replace
from gainful.kernel import core
from gainful.kernel.arrays import Floats, Ints, distinct
from gainful.kernel.parallel import Progress
from gainful.measures.base import Measure
from gainful.measures.catalog import parse_all
from gainful.notation import count_of, number_text, printable, read_number, text_of_id
from gainful.pages.page import Cell, Conventions, Table, head, values_of
from gainful.policy import Policy
from gainful.question import question
from gainful.render import Page, Showable
from gainful.stats.agreement import Cells, Swap, coefficients, kendall_tau_b, swaps
from gainful.stats.distributions import t_quantile
from gainful.stats.repeatable import counts_of_draws
from gainful.tasks.judgments import (
    MOST_SHOWN,
    JudgmentDescription,
    conventions,
    describe_judgments,
    means_relevant,
    side_parts,
    spread_table,
)
from gainful.tasks.run_questions import JudgeOptions


@dataclass(frozen=True, eq=False, repr=False)
class CommonDocuments:
    """Both grades of every document in two sets of judgments, by query, with queries sorted by ID.

    ``only_a`` and ``only_b`` count the documents missing in the other set. Documents that the policy treats as unjudged
    are in neither.
    """

    query_ids: tuple[bytes, ...]  # with a common document
    query: Ints  # document -> position in query_ids
    a: Floats
    b: Floats
    levels: Floats  # of both sets, including documents not in common
    only_a: int = 0
    only_b: int = 0

    @classmethod
    def of(cls, a: Judged, b: Judged) -> CommonDocuments:
        """Join two sets of judgments; raise InputError if they have nothing in common."""
        # The core joins the documents of B as lists with the judgments of A: retrieved and judged documents are common.
        rows = np.empty(int(b.item_offsets[-1]), np.int64)
        rows[b.item] = np.arange(b.item.size)
        spans = b.qrels.data, b.qrels.document_start[rows], b.qrels.document_length[rows]
        columns = core.ListColumns(list(b.qrels.query_ids), b.item_offsets, *spans, np.zeros(rows.size), np.zeros(0))
        # In input order, ranks are positions in the list.
        joined = core.join_columns(columns, a.index, Policy(order="input").join_options(), 1, Progress().cells)
        place_in_b = {identifier: i for i, identifier in enumerate(b.qrels.query_ids)}
        start = np.array([b.item_offsets[place_in_b.get(each, 0)] for each in a.qrels.query_ids], np.int64)
        query = np.repeat(np.arange(start.size), np.diff(joined["hit_offsets"]))
        item_a, item_b = joined["hit_item"].astype(np.int64), start[query] + joined["hit_rank"] - 1
        met = query.size
        graded = ~(np.isnan(a.grade[item_a]) | np.isnan(b.grade[item_b]))
        query, item_a, item_b = query[graded], item_a[graded], item_b[graded]
        if not query.size:
            raise _nothing_common(a, b, met)
        has_some = np.bincount(query, minlength=len(a.qrels.query_ids)) > 0
        ids = tuple(compress(a.qrels.query_ids, has_some.tolist()))
        places, levels = (np.cumsum(has_some) - 1)[query], distinct(np.concatenate((a.levels, b.levels)))
        alone = (int(np.count_nonzero(~np.isnan(side.grade))) - query.size for side in (a, b))
        return cls(ids, places, a.grade[item_a], b.grade[item_b], levels, *alone)

    @cached_property
    def _tally(self) -> tuple[Cells, Ints, Ints, Floats]:
        """Cells (pairs of grades), the first entry of each, and the query and number of documents of every entry."""
        level_a, level_b = np.searchsorted(self.levels, self.a), np.searchsorted(self.levels, self.b)
        order = np.lexsort((self.query, level_b, level_a))
        columns = np.stack((level_a, level_b, self.query))[:, order]
        is_new = np.diff(columns, axis=1, prepend=-1) != 0
        entries = np.flatnonzero(is_new.any(axis=0))
        starts = np.flatnonzero(is_new[:2].any(axis=0))
        cells = Cells(self.levels, columns[0, starts], columns[1, starts])
        counts = np.diff(entries, append=order.size).astype(np.float64)
        return cells, np.searchsorted(entries, starts), columns[2, entries], counts

    def weights(self, times: Ints) -> Floats:
        """Count how often each cell occurs, samples x cells, if query j is drawn ``times[:, j]`` times."""
        _, first_of_cell, query, count = self._tally
        return np.asarray(np.add.reduceat(times[:, query] * count, first_of_cell, axis=1))

    def grade_pairs(self) -> tuple[GradePair, ...]:
        cells, documents = self._tally[0], self.weights(np.ones((1, len(self.query_ids)), np.int64))[0]
        columns = (self.levels[cells.a], self.levels[cells.b], documents.astype(np.int64))
        return tuple(GradePair(*cell) for cell in zip(*(column.tolist() for column in columns), strict=True))

    def estimates(self, rel: float | None, draws: int, seed: int) -> dict[str, Estimate]:
        cells, _, query, _ = self._tally
        relevant, queries = is_relevant(self.levels, rel, None), len(self.query_ids)
        values = coefficients(cells, self.weights(np.ones((1, queries), np.int64)), relevant)
        # Resamples of a single query would have no variance, as if nothing were uncertain.
        at_once = max(1, _CHUNK // max(query.size, self.levels.size, queries))
        drawn_counts = () if queries == 1 else counts_of_draws(np.random.default_rng(seed), draws, queries, at_once)
        samples = [coefficients(cells, self.weights(times), relevant) for times in drawn_counts]
        widest = float(self.levels[-1] - self.levels[0])
        found = {}
        for name, value in values.items():
            drawn = np.concatenate([sample[name] for sample in samples] or [np.zeros(0)])
            highest = widest if name.startswith("mean") else 1.0
            is_signed = "kappa" in name or "alpha" in name or name in ("mean_difference", "relevance_difference")
            found[name] = _estimate(float(value[0]), drawn, (-highest if is_signed else 0.0, highest), queries)
        return found


def _nothing_common(a: Judged, b: Judged, met: int) -> InputError:
    """Return the error if no document has a grade in both sets, although ``met`` documents occur in both."""
    if met:
        return InputError(
            f"{b.qrels.name}: no document has a grade here and in {a.qrels.name}: "
            f"{count_of(met, 'common document')} with a grade below 0 on one side, excluded by negative=unjudged",
            "--negative judged counts them as not relevant",
        )
    shared = sorted(set(a.qrels.query_ids).intersection(b.qrels.query_ids))

    def example(judged: Judged) -> str:
        """Return a document, of a shared query if there is one; the same for any order of the input."""
        qrels = judged.qrels
        places = [qrels.query_ids.index(query) for query in (*shared, *qrels.query_ids)]
        place = next(place for place in places if (qrels.query == place).any())
        document = min(qrels.document(row) for row in np.flatnonzero(qrels.query == place).tolist())
        return f"{qrels.name} has document '{printable(document)}' for query '{printable(qrels.query_ids[place])}'"

    hint = "check that both judge the same queries and documents; IDs must be equal byte by byte"
    return InputError(f"{b.qrels.name}: no document is also judged in {a.qrels.name}: {example(a)}, {example(b)}", hint)


#: Confidence level of the intervals, for a population of queries.
CONFIDENCE = 0.95

#: Maximum number of values per batch, to stay in the processor's cache.
_CHUNK = 1 << 18


class Estimate(NamedTuple):
    """A value and its 95% CI.

    All are None if the statistic is undefined; ``low`` and ``high`` also for a single query, or without resamples.
    """

    value: float | None
    low: float | None = None
    high: float | None = None


class GradePair(NamedTuple):
    """Number of documents with grade ``a`` in A and grade ``b`` in B."""

    a: float
    b: float
    documents: int


class QueryAgreement(NamedTuple):
    """Agreement on one query's common documents; differences are B's grade minus A's."""

    query: str
    documents: int
    agreement: float
    mean_difference: float
    mean_absolute_difference: float


@dataclass(frozen=True)
class JudgmentComparison(Showable):
    """Result of :func:`compare_judgments`.

    Differences are B's grade minus A's; shares are of the common documents.

    ``agreement``             share of equal grades
    ``one_level_apart``       share one step apart in ``levels``; ``further_apart`` more than one
    ``kappa``                 Cohen's; ``kappa_linear`` and ``kappa_quadratic`` weight a disagreement by the difference
                              between the grades, or its square; ``kappa_fleiss`` is Fleiss', for two judges Scott's pi
    ``alpha_nominal``         Krippendorff's; also ``alpha_ordinal`` and ``alpha_interval``
    ``mean_difference``       B's bias; ``higher`` and ``lower`` are the shares that B grades higher and lower
    ``relevant_a``            share relevant in A; ``relevant_b`` in B
    ``relevance_difference``  B's share of relevant documents minus A's
    ``relevance_agreement``   share relevant in both or in neither; ``relevance_kappa`` corrects it for chance

    Annotations are the labels in the table.
    """

    a: str
    b: str
    documents: int
    queries: int
    only_a: int
    only_b: int
    levels_a: tuple[float, ...]  # all grades in A, including documents not in common
    levels_b: tuple[float, ...]
    scale_a: float  # the highest possible grade
    scale_b: float
    grade_pairs: tuple[GradePair, ...] = field(repr=False)  # pairs that occur, ascending
    by_query: tuple[QueryAgreement, ...] = field(repr=False)
    agreement: Annotated[Estimate, "exact agreement"]
    one_level_apart: Annotated[Estimate, "one level apart"]
    further_apart: Annotated[Estimate, "further apart"]
    kappa: Annotated[Estimate, "Cohen's kappa"]
    kappa_linear: Annotated[Estimate, "kappa, linear weights"]
    kappa_quadratic: Annotated[Estimate, "kappa, quadratic weights"]
    kappa_fleiss: Annotated[Estimate, "Fleiss' kappa"]
    alpha_nominal: Annotated[Estimate, "Krippendorff's alpha, nominal"]
    alpha_ordinal: Annotated[Estimate, "alpha, ordinal"]
    alpha_interval: Annotated[Estimate, "alpha, interval"]
    mean_difference: Annotated[Estimate, "mean difference, B - A"]
    mean_absolute_difference: Annotated[Estimate, "mean absolute difference"]
    higher: Annotated[Estimate, "B grades higher"]
    lower: Annotated[Estimate, "B grades lower"]
    relevant_a: Annotated[Estimate, "relevant by A"]
    relevant_b: Annotated[Estimate, "relevant by B"]
    relevance_difference: Annotated[Estimate, "difference in relevant, B - A"]
    relevance_agreement: Annotated[Estimate, "agreement on relevance"]
    relevance_kappa: Annotated[Estimate, "kappa on relevance"]
    rel: float | None
    draws: int
    seed: int
    sides: tuple[JudgmentDescription, JudgmentDescription] = field(repr=False)
    orders: tuple[OrderComparison, ...] = field(repr=False)  # of the given runs, one per measure
    notices: tuple[str, ...] = field(repr=False)

    @property
    def levels(self) -> tuple[float, ...]:
        """The grades of both sets, ascending: the steps used for distances."""
        return tuple(sorted({*self.levels_a, *self.levels_b}))

    def cross_table(self) -> tuple[tuple[int, ...], ...]:
        """Count the documents by grade: one row per level of B, one column per level of A.

        Each column is the distribution of B's grades for one grade of A, as in Table 1 of Järvelin and Kekäläinen
        (2002), where A are the original judgments and B the new ones.
        """
        count = {(pair.a, pair.b): pair.documents for pair in self.grade_pairs}
        return tuple(tuple(count.get((a, b), 0) for a in self.levels_a) for b in self.levels_b)

    def page(self, by_query: bool = False) -> Page:
        """Return agreement, the contents of both sets, and the orders of systems; queries listed or summarised."""
        # Steps between levels are meaningless if almost every document has a grade of its own.
        is_scale = max(len(self.levels_a), len(self.levels_b)) <= MOST_SHOWN
        parts: list[Table | str] = [*sentences(self, is_scale), *([cross_table(self)] if is_scale else [])]
        left_out = () if is_scale else ("one_level_apart", "further_apart")
        hints = get_type_hints(type(self), include_extras=True)
        labels = {name: hint.__metadata__[0] for name, hint in hints.items() if hasattr(hint, "__metadata__")}
        rows = [(label, *getattr(self, name)) for name, label in labels.items() if name not in left_out]
        notes = ["weights: difference between the grades, or its square"]
        notes.append(f"relevant: {means_relevant(self.rel)}")
        if self.agreement.low is not None:
            notes.insert(0, f"low, high: 95% CI, {self.draws:,} resamples of the queries, seed {self.seed}")
        if self.kappa.value is None:
            notes.append("undefined (-): only one level occurs")
        elif self.relevance_kappa.value is None:
            notes.append("undefined (-): all documents are relevant in both, or in neither")
        parts.append(Table(head("statistic | value . | low . | high ."), rows, "Agreement", tuple(notes)))
        names = ("agreement", "mean difference", "mean absolute difference")
        if by_query:
            columns = head("query | documents # | agreement % | mean difference . | mean absolute difference .")
            parts.append(Table(columns, self.by_query, "Agreement by query"))
        elif self.queries > 1:
            queries, _, *values = zip(*self.by_query, strict=True)
            spread = dict(zip(names, values, strict=True))
            parts.append(spread_table("Agreement by query", "statistic", queries, spread, 4))
        parts += side_parts(*self.sides, by_query)
        parts += [part for order in self.orders for part in order.parts()]
        header = values_of(self, "a | b | documents | queries | only_a | only_b | draws | seed")
        if self.orders:
            notes = [*self.orders[0].signatures]
        else:
            notes = [conventions(side.policy) for side in self.sides]
            notes = notes[:1] if notes[0] == notes[1] else [f"A: {notes[0]}", f"B: {notes[1]}"]
        return Page("judgments", tuple(parts), tuple(notes), header)


@warns
@question(JudgeOptions)
def compare_judgments(asked: JudgeOptions) -> JudgmentComparison:
    """Measure how far two sets of judgments agree on their common documents.

    ``policy`` decides conflicts and negative grades, as in :func:`gainful.evaluate` (prepared judgments have their
    own); ``rel`` is the lowest grade that counts as relevant (by default, any above 0), ``scale`` the highest possible
    grade. With ``runs``, also compares the orders of systems under both sets by ``measures`` (by default, nDCG@10).

    Intervals are Student's t times the standard deviation of ``draws`` bootstrap samples of *queries*, because
    judgments of one query are not independent, on the logit scale of the statistic's range; resamples in which a
    coefficient is undefined (one level only) are ignored for it. The same seed gives the same intervals. Raises
    :class:`InputError` if the sets have nothing in common.

    >>> human = {"q1": {"d1": 2, "d2": 0, "d3": 1}, "q2": {"d4": 1}}
    >>> model = {"q1": {"d1": 1, "d2": 0, "d3": 1}, "q2": {"d4": 1, "d5": 2}}
    >>> found = compare_judgments(human, model)
    >>> found.documents, found.only_b, found.agreement.value, found.lower.value
    (4, 1, 0.75, 0.25)
    >>> found.cross_table()
    ((1, 0, 0), (0, 2, 1), (0, 0, 0))
    """
    runs, measures, scale = asked.runs, asked.measures, asked.scale
    least = None if asked.rel is None else read_number(asked.rel, for_asker("--rel", "rel"))
    if runs and asked.b is None:
        message = f"{for_asker('--run', 'runs')}: two sets of judgments are needed to compare orders of systems"
        raise UsageError(message, "gainful judgments A B --run RUN; to score runs with one set, use gainful eval")
    if measures is not None and not runs:
        message = f"{for_asker('--measure', 'measures')}: runs to score are missing"
        raise UsageError(message, for_asker("add --run FILE", "add runs="))

    def prepared(side: Judged | QrelsLike) -> Judged:
        if isinstance(side, Judged):
            return side
        qrels = Qrels.of(side)
        # Grades above the given scale are reported as unusual, not refused.
        return Judged.of(qrels if scale is None or scale < qrels.scale else replace(qrels, scale=scale), asked.policy)

    judged_a, judged_b = prepared(asked.a), prepared(asked.b)
    common = CommonDocuments.of(judged_a, judged_b)
    wanted = parse_all(measures or "nDCG@10") if runs else []
    orders, suspicious = compare_orders(judged_a, judged_b, runs, wanted) if runs else ((), ())
    side_a, side_b = (describe_judgments(side, rel=least, scale=scale) for side in (judged_a, judged_b))
    return JudgmentComparison(
        a=judged_a.qrels.name,
        b=judged_b.qrels.name,
        documents=int(common.query.size),
        queries=len(common.query_ids),
        only_a=common.only_a,
        only_b=common.only_b,
        levels_a=tuple(judged_a.levels.tolist()),
        levels_b=tuple(judged_b.levels.tolist()),
        scale_a=judged_a.scale,
        scale_b=judged_b.scale,
        grade_pairs=common.grade_pairs(),
        by_query=_by_query(common),
        rel=least,
        draws=asked.draws,
        seed=asked.seed,
        sides=(side_a, side_b),
        orders=orders,
        notices=suspicious,
        **common.estimates(least, asked.draws, asked.seed),
    )


def _estimate(value: float, drawn: Floats, limits: tuple[float, float], queries: int) -> Estimate:
    """Return the value with an interval that is symmetric on the logit scale, so that it respects the limits."""
    if np.isnan(value):
        return Estimate(None)
    drawn = drawn[~np.isnan(drawn)]
    if not drawn.size:
        return Estimate(value)
    lowest, highest = limits
    sd = float(drawn.std(ddof=1)) if drawn.size > 1 else 0.0
    # The variance of bootstrap means is too small by the factor (n - 1) / n.
    reach = t_quantile((1 + CONFIDENCE) / 2, queries - 1) * sd * math.sqrt(queries / (queries - 1))
    slope = (value - lowest) * (highest - value)
    if not slope > 0:
        return Estimate(value, max(lowest, value - reach), min(highest, value + reach))
    middle, half = math.log((value - lowest) / (highest - value)), reach * (highest - lowest) / slope
    low, high = (lowest + (highest - lowest) * (1 + math.tanh(at / 2)) / 2 for at in (middle - half, middle + half))
    return Estimate(value, min(low, value), max(high, value))


def _by_query(common: CommonDocuments) -> tuple[QueryAgreement, ...]:
    queries = len(common.query_ids)
    # Sort, so that sums do not depend on the order of the input.
    difference = common.b - common.a
    order = np.lexsort((difference, common.query))
    query, difference = common.query[order], difference[order]
    documents = np.bincount(query, minlength=queries)
    sums = [np.bincount(query, values, queries) for values in (difference == 0, difference, np.abs(difference))]
    columns = [documents.tolist(), *((total / documents).tolist() for total in sums)]
    names = map(text_of_id, common.query_ids)
    return tuple(QueryAgreement(*row) for row in zip(names, *columns, strict=True))


def sentences(found: JudgmentComparison, is_scale: bool) -> Iterator[str]:
    """Yield the main results; ``is_scale`` if grades are levels of a scale rather than measurements."""
    alone = [f"; only {name} judges {n:,} more" for name, n in (("A", found.only_a), ("B", found.only_b)) if n]
    judged = count_of(found.documents, "document")
    both = f"Both judge {judged} for {count_of(found.queries, 'query', 'queries')}{''.join(alone)}."
    yield f"A is {printable(found.a, 80)}, B is {printable(found.b, 80)}. {both}"
    one_scale = found.scale_a == found.scale_b
    if not one_scale:
        yield (
            f"The highest grade is {number_text(found.scale_a)} in A and {number_text(found.scale_b)} in B. If these "
            "are different scales, equal grades differ in meaning, and only relevance can be compared; use --scale "
            "if both share one scale."
        )
    apart = f"their grades are {found.mean_absolute_difference.value:.4f} apart on average"
    if is_scale:
        one, more = _percentage(found.one_level_apart), _percentage(found.further_apart)
        apart = f"{one} differ by one level, {more} by more"
    line = f"The judges agree exactly on {_percentage(found.agreement)} of {judged}; {apart}."
    # The stricter judge, if the interval of the mean difference excludes 0.
    lower, higher = f"{_percentage(found.lower)} lower", f"{_percentage(found.higher)} higher"
    verdict = _verdict(found.mean_difference)
    direction = f"Neither is clearly stricter: B grades {lower} and {higher}."
    if not found.lower.value and not found.higher.value:
        direction = "No grade differs."
    elif verdict is not None:
        is_stricter = (found.mean_difference.value or 0.0) < 0
        direction = f"{verdict}: it grades " + (f"{lower} and {higher}." if is_stricter else f"{higher} and {lower}.")
    yield f"{line} {direction}" if one_scale else line
    shares = [_percentage(share) for share in (found.relevance_agreement, found.relevant_a, found.relevant_b)]
    agreed = f"On relevance ({means_relevant(found.rel)}) they agree on {shares[0]}"
    line = f"{agreed}: {shares[1]} are relevant in A, {shares[2]} in B."
    # If the scales differ, compare the shares of relevant documents instead of the grades.
    yield line if one_scale else f"{line} {_verdict(found.relevance_difference) or 'Neither is clearly stricter'}."


def _verdict(difference: Estimate) -> str | None:
    """Return the verdict on B from a difference, B - A, if its interval excludes 0."""
    value, low, high = difference
    if not value or (low is not None and high is not None and low <= 0 <= high):
        return None
    where = "" if low is not None else " on these documents"  # without an interval
    return f"B is {'stricter' if value < 0 else 'more generous'}{where}"


def _percentage(share: Estimate) -> str:
    return f"{100 * (share.value or 0.0):.1f}%"


def cross_table(found: JudgmentComparison) -> Table:
    """Return one row per level of B, one column per level of A with its percentages, and totals."""
    table = found.cross_table()
    sums = (*map(sum, zip(*table, strict=True)), found.documents)
    names = [*(f"A {number_text(level)}" for level in found.levels_a), "total"]
    levels = [number_text(level) for level in found.levels_b]
    rows: list[tuple[Cell, ...]] = []
    for name, counts in zip([*levels, "total"], [*((*row, sum(row)) for row in table), sums], strict=True):
        shares = (count / total if total else None for count, total in zip(counts, sums, strict=True))
        rows.append((name, *(value for pair in zip(counts, shares, strict=True) for value in pair)))
    columns = head(["B", *(text for name in names for text in (f"{name} #", f"% of {name} %"))])
    return Table(columns, rows, "Grades by B for each level of A")


#: Decimals at which means are compared, so that rounding errors do not break ties, and number of swaps shown.
_PLACES, _MOST_SWAPS = 12, 20


class SystemScores(NamedTuple):
    """A system's means under both sets, and its ranks: 1 is best, ties share a rank; None without a scored query."""

    name: str
    mean_a: float | None
    mean_b: float | None
    rank_a: int | None
    rank_b: int | None


@dataclass(frozen=True)
class OrderComparison:
    """Orders of the same systems under two sets of judgments by one measure, on the queries that both judge.

    ``systems`` are in A's order; ``tau`` is Kendall's tau-b of the means, None if all systems are tied in one order;
    ``swaps`` are the pairs in opposite order, clearest first.
    """

    measure: Measure
    queries: int
    systems: tuple[SystemScores, ...]
    tau: float | None
    swaps: tuple[Swap, ...]

    signatures: tuple[Conventions, ...] = ()  # one if A and B have the same

    @property
    def pairs(self) -> int:
        return math.comb(len(self.systems), 2)

    def parts(self) -> Iterator[Table | str]:
        """Yield the systems' means and ranks, the number of pairs in opposite order, and these pairs."""
        columns = head("run | mean by A . | mean by B . | rank by A # | rank by B #")
        moved = frozenset((i, 4) for i, system in enumerate(self.systems) if system.rank_a != system.rank_b)
        notes = [f"means over {count_of(self.queries, 'query', 'queries')} that both judge"]
        notes += ["* rank differs from rank by A"] if moved else []
        yield Table(columns, self.systems, f"Systems by {self.measure}", tuple(notes), moved)
        tau = "undefined, because all systems are tied under A or B" if self.tau is None else f"{self.tau:.4f}"
        changing = "No two systems swap"
        if self.swaps:
            verb = "swaps" if len(self.swaps) == 1 else "swap"
            changing = f"{len(self.swaps):,} of {count_of(self.pairs, 'pair')} of systems {verb}"
        sentence = f"{changing} by {self.measure}: Kendall's tau is {tau}."
        yield sentence if self.pairs else "A single system has no order."
        if self.swaps:
            names = head("better by A | better by B | lead by A . | lead by B .")
            more = (f"the clearest of {len(self.swaps):,}",) if len(self.swaps) > _MOST_SWAPS else ()
            yield Table(names, self.swaps[:_MOST_SWAPS], f"Systems that swap by {self.measure}", more)


def compare_orders(
    a: Judged, b: Judged, runs: Mapping[str, RunLike], measures: Sequence[Measure]
) -> tuple[tuple[OrderComparison, ...], tuple[str, ...]]:
    """Score runs under two sets of judgments, on the queries that both judge, and compare the orders of systems by each
    measure. Also returns notices about the runs.

    For these queries, all judgments of each set are used, including documents that only one set judges.

    >>> from gainful import Policy, Qrels, parse
    >>> a, b = (Judged(Qrels.from_dict({"q": {"d": x, "e": 1 - x}}), Policy()) for x in (0, 1))
    >>> runs = {"one": {"q": ["d", "e"]}, "two": {"q": ["e", "d"]}}
    >>> [found], _ = compare_orders(a, b, runs, [parse("RR")])
    >>> found.tau, found.swaps
    (-1.0, (Swap(better_by_a='two', better_by_b='one', lead_a=0.5, lead_b=0.5),))
    """
    for measure in measures:
        if measure.better == "neither":
            raise UsageError(f"{measure}: the measure cannot order systems: neither higher nor lower is better")
    common = sorted(set(a.qrels.query_ids).intersection(b.qrels.query_ids))
    if not common:
        there = ", ".join(f"{each.name} has '{printable(each.query_ids[0])}'" for each in (a.qrels, b.qrels))
        raise InputError(f"{b.qrels.name}: no query is also judged in {a.qrels.name}: {there}")
    kept = {name: RunSource.of(run, name=name).at_hand() for name, run in runs.items()}
    by_a, by_b = (
        tuple(evaluate_runs(Judged(side.qrels.select(common), side.policy), kept, measures).values()) for side in (a, b)
    )
    by_side, is_one = (("A", by_a), ("B", by_b)), by_a[0].signature() == by_b[0].signature()
    signatures = tuple(side[0].signature().note("" if is_one else f"{name}: ") for name, side in by_side)
    signatures = signatures[:1] if is_one else signatures
    orders = []
    for measure in measures:
        means, goodness, ranks = [], [], []
        for side in (by_a, by_b):
            values = [evaluation.aggregate(measure) for evaluation in side]
            means.append([None if math.isnan(value) else value for value in values])
            # Signed so that higher is better; -inf if undefined.
            signed = [-value if measure.better == "lower" else value for value in values]
            good = [-math.inf if math.isnan(value) else round(value, _PLACES) for value in signed]
            goodness.append(good)
            places = [1 + sum(other > value for other in good) for value in good]
            ranks.append([None if math.isnan(value) else place for value, place in zip(values, places, strict=True)])
        rows = zip([evaluation.run for evaluation in by_a], *means, *ranks, strict=True)
        systems = [(SystemScores(*row), *good) for row, *good in zip(rows, *goodness, strict=True)]
        systems.sort(key=lambda each: (each[0].rank_a is None, each[0].rank_a))
        scored = [(each.name, a, b) for each, a, b in systems if each.mean_a is not None and each.mean_b is not None]
        names, good_a, good_b = zip(*scored, strict=True) if scored else ((), (), ())
        changing = sorted(swaps(names, good_a, good_b), key=lambda swap: -min(swap.lead_a, swap.lead_b))
        of_systems, tau = tuple(each[0] for each in systems), kendall_tau_b(good_a, good_b)
        orders.append(OrderComparison(measure, len(common), of_systems, tau, tuple(changing), signatures))
    return tuple(orders), tuple(f"by {name}: {line}" for name, side in by_side for line in notices(side))
