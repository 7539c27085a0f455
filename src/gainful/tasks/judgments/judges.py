"""How far two sets of judgments agree (assessors, a language model and people, old and new), and whether they put
systems into another order."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
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
from gainful.pages.page import Cell, Conventions, Table, head
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
    """Both grades of every document that two sets of judgments have; by query, in byte order of the queries.

    ``only_a`` and ``only_b`` count the documents that the other set does not have. A document whose grade the policy
    calls unjudged is in neither.
    """

    query_ids: tuple[bytes, ...]  # those with a common document
    query: Ints  # document -> position in query_ids
    a: Floats
    b: Floats
    levels: Floats  # of both sets, on common documents or not
    only_a: int = 0
    only_b: int = 0

    @classmethod
    def of(cls, a: Judged, b: Judged) -> CommonDocuments:
        """Meets two sets of judgments; nothing in common is an error."""
        query, item_a, item_b = _common_items(a, b)
        met = query.size
        graded = ~(np.isnan(a.grade[item_a]) | np.isnan(b.grade[item_b]))
        query, item_a, item_b = query[graded], item_a[graded], item_b[graded]
        if not query.size:
            raise _nothing_common(a, b, met)
        has_some = np.bincount(query, minlength=len(a.qrels.query_ids)) > 0
        return cls(
            tuple(identifier for identifier, kept in zip(a.qrels.query_ids, has_some.tolist(), strict=True) if kept),
            (np.cumsum(has_some) - 1)[query],
            a.grade[item_a],
            b.grade[item_b],
            distinct(np.concatenate((a.levels, b.levels))),
            int(np.count_nonzero(~np.isnan(a.grade))) - query.size,
            int(np.count_nonzero(~np.isnan(b.grade))) - query.size,
        )

    @cached_property
    def _tally(self) -> tuple[Cells, Ints, Ints, Floats]:
        """How often which two grades met in which query: all that any resampling of queries needs.

        Cells are pairs of grades. With them comes the first entry of each, and for every entry, by cell, then by query,
        its query and how many documents it counts.
        """
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
        """Samples x cells: how often each cell occurs when query j is taken ``times[:, j]`` times."""
        _, first_of_cell, query, count = self._tally
        return np.asarray(np.add.reduceat(times[:, query] * count, first_of_cell, axis=1))

    def grade_pairs(self) -> tuple[GradePair, ...]:
        cells, documents = self._tally[0], self.weights(np.ones((1, len(self.query_ids)), np.int64))[0]
        columns = (self.levels[cells.a], self.levels[cells.b], documents.astype(np.int64))
        return tuple(GradePair(*cell) for cell in zip(*(column.tolist() for column in columns), strict=True))

    def estimates(self, rel: float | None, draws: int, seed: int) -> dict[str, Estimate]:
        """Every statistic with its interval."""
        cells, _, query, _ = self._tally
        relevant, queries = is_relevant(self.levels, rel, None), len(self.query_ids)
        values = coefficients(cells, self.weights(np.ones((1, queries), np.int64)), relevant)
        # One query, drawn again and again, would seem to leave no doubt at all.
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


def _common_items(a: Judged, b: Judged) -> tuple[Ints, Ints, Ints]:
    """For every common document its query (as A counts them) and its item on either side.

    To the core the documents of B are lists that meet the judgments of A: what is retrieved and judged is common.
    """
    row_of_item = np.empty(int(b.item_offsets[-1]), np.int64)
    row_of_item[b.item] = np.arange(b.item.size)
    columns = core.ListColumns(
        list(b.qrels.query_ids),
        b.item_offsets,
        b.qrels.data,
        b.qrels.document_start[row_of_item],
        b.qrels.document_length[row_of_item],
        np.zeros(row_of_item.size),
        np.zeros(0),
    )
    # In the order of the input ranks are places in the list.
    joined = core.join_columns(columns, a.index, Policy(order="input").join_options(), 1, Progress().cells)
    place_in_b = {identifier: i for i, identifier in enumerate(b.qrels.query_ids)}
    start = np.array([b.item_offsets[place_in_b.get(identifier, 0)] for identifier in a.qrels.query_ids], np.int64)
    query = np.repeat(np.arange(start.size), np.diff(joined["hit_offsets"]))
    return query, joined["hit_item"].astype(np.int64), start[query] + joined["hit_rank"] - 1


def _nothing_common(a: Judged, b: Judged, met: int) -> InputError:
    """Why no document has a grade in both; ``met`` documents are in both all the same."""
    if met:
        return InputError(
            f"{b.qrels.name}: expected documents that {a.qrels.name} grades too, found "
            f"{count_of(met, 'common document')} with a grade below 0 on one side, and negative=unjudged leaves these "
            "out",
            "--negative judged counts them as not relevant",
        )
    shared = sorted(set(a.qrels.query_ids).intersection(b.qrels.query_ids))

    def example(judged: Judged) -> str:
        """A document of a shared query if there is one; the same in any order of the input."""
        qrels = judged.qrels
        places = [qrels.query_ids.index(query) for query in (*shared, *qrels.query_ids)]
        place = next(place for place in places if (qrels.query == place).any())
        document = min(qrels.document(row) for row in np.flatnonzero(qrels.query == place).tolist())
        return f"{qrels.name} has document '{printable(document)}' for query '{printable(qrels.query_ids[place])}'"

    return InputError(
        f"{b.qrels.name}: expected documents that {a.qrels.name} judges too, found none: {example(a)}, {example(b)}",
        "are these judgments of the same queries and documents? Ids have to be equal to the byte",
    )


#: How often an interval is to hold the value on all queries there could be.
CONFIDENCE = 0.95

#: At most so many numbers are worked on at once, so that they stay in the processor's cache.
_CHUNK = 1 << 18


class Estimate(NamedTuple):
    """A value and its 95% CI.

    ``value`` is None where the statistic is undefined; ``low`` and ``high`` are None then, too, and where there is no
    interval: a single query, or no draws.
    """

    value: float | None
    low: float | None = None
    high: float | None = None


class GradePair(NamedTuple):
    """So many documents have grade ``a`` in A and grade ``b`` in B."""

    a: float
    b: float
    documents: int


class QueryAgreement(NamedTuple):
    """The agreement on one query's common documents; differences are B's grade minus A's."""

    query: str
    documents: int
    agreement: float
    mean_difference: float
    mean_absolute_difference: float


@dataclass(frozen=True)
class JudgmentComparison(Showable):
    """What :func:`compare_judgments` found; printed, it explains itself.

    Differences are B's grade minus A's; shares are of the common documents.

    ``agreement``             share of equal grades
    ``one_level_apart``       share one step apart in ``levels``; ``further_apart`` more than that
    ``kappa``                 Cohen's; ``kappa_linear`` and ``kappa_quadratic`` weigh a disagreement by how much the
                              grades differ, or its square; ``kappa_fleiss`` is Fleiss', of two judges Scott's pi
    ``alpha_nominal``         Krippendorff's; also ``alpha_ordinal`` and ``alpha_interval``
    ``mean_difference``       B's bias; ``higher`` and ``lower`` are the shares that B grades so
    ``relevant_a``            share that A calls relevant; ``relevant_b`` that B does
    ``relevance_difference``  by how much B's share is the larger
    ``relevance_agreement``   share on which both say relevant or both not; ``relevance_kappa`` corrects it for chance

    Statistics carry the label that they have in the table.
    """

    a: str
    b: str
    documents: int
    queries: int
    only_a: int
    only_b: int
    levels_a: tuple[float, ...]  # all grades in A, on common documents or not
    levels_b: tuple[float, ...]
    scale_a: float  # the highest grade there can be
    scale_b: float
    grade_pairs: tuple[GradePair, ...] = field(repr=False)  # those that occur, ascending
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
    orders: tuple[OrderComparison, ...] = field(repr=False)  # of the runs that were given, by each measure
    notices: tuple[str, ...] = field(repr=False)

    @property
    def levels(self) -> tuple[float, ...]:
        """The grades of both, ascending: the steps in which distance is counted."""
        return tuple(sorted({*self.levels_a, *self.levels_b}))

    def cross_table(self) -> tuple[tuple[int, ...], ...]:
        """How many documents have which grades: one row a level of B, one column a level of A.

        So each column says what B made of the documents that A graded alike, as in Table 1 of Järvelin and Kekäläinen
        (2002), where A are the original judgments and B the new ones.
        """
        count = {(pair.a, pair.b): pair.documents for pair in self.grade_pairs}
        return tuple(tuple(count.get((a, b), 0) for a in self.levels_a) for b in self.levels_b)

    def page(self, by_query: bool = False) -> Page:
        """Agreement, what is in either set, and the orders of systems; queries one by one, or how they are spread."""
        # Steps between levels mean nothing where almost every grade is a level of its own.
        is_scale = max(len(self.levels_a), len(self.levels_b)) <= MOST_SHOWN
        parts: list[Table | str] = [*sentences(self, is_scale), *([cross_table(self)] if is_scale else [])]
        left_out = () if is_scale else ("one_level_apart", "further_apart")
        hints = get_type_hints(type(self), include_extras=True)
        labels = {name: hint.__metadata__[0] for name, hint in hints.items() if hasattr(hint, "__metadata__")}
        rows = [(label, *getattr(self, name)) for name, label in labels.items() if name not in left_out]
        notes = ["weights: by how much the grades differ, or the square of that"]
        notes.append(f"relevant: {means_relevant(self.rel)}")
        if self.agreement.low is not None:
            notes.insert(0, f"low, high: 95% CI, {self.draws:,} resamples of the queries, seed {self.seed}")
        if self.kappa.value is None:
            notes.append("undefined (-): there is only one level")
        elif self.relevance_kappa.value is None:
            notes.append("undefined (-): both call all documents relevant, or both none")
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
        shown = ("a", "b", "documents", "queries", "only_a", "only_b", "draws", "seed")
        if self.orders:
            notes = [*self.orders[0].signatures]
        else:
            notes = [conventions(side.policy) for side in self.sides]
            notes = notes[:1] if notes[0] == notes[1] else [f"A: {notes[0]}", f"B: {notes[1]}"]
        return Page("judgments", tuple(parts), tuple(notes), {name: getattr(self, name) for name in shown})


@warns
@question(JudgeOptions)
def compare_judgments(asked: JudgeOptions) -> JudgmentComparison:
    """How far two sets of judgments agree on the documents that both have.

    ``policy`` makes one grade of several and says what a negative one means, as in :func:`gainful.evaluate` (judgments
    that are prepared bring their own); ``rel`` is the lowest grade that counts as relevant (else any above 0),
    ``scale`` the highest grade there can be. With ``runs``, the orders in which both put them by ``measures`` (else
    nDCG@10) are compared, too.

    Intervals are Student's t times the standard deviation of ``draws`` bootstrap samples of *queries*, because the
    judgments of one query are not independent of each other, on the logit scale of the range a value can be in; a draw
    in which a coefficient is undefined (one level only) does not count for it. The same seed gives the same intervals.
    Nothing in common is an :class:`InputError`.

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
        what = for_asker("--run", "runs")
        raise UsageError(
            f"{what}: expected two sets of judgments that may order systems differently, found one",
            "gainful judgments A B --run RUN; gainful eval scores runs by one set",
        )
    if measures is not None and not runs:
        what = for_asker("--measure", "measures")
        raise UsageError(f"{what}: expected runs to be scored, found none", for_asker("--run names one", "runs= does"))

    def prepared(side: Judged | QrelsLike) -> Judged:
        if isinstance(side, Judged):
            return side
        qrels = Qrels.of(side)
        # Grades that exceed the scale that was given are found odd, not refused.
        return Judged.of(qrels if scale is None or scale < qrels.scale else replace(qrels, scale=scale), asked.policy)

    judged_a, judged_b = prepared(asked.a), prepared(asked.b)
    common = CommonDocuments.of(judged_a, judged_b)
    wanted = parse_all(measures or "nDCG@10") if runs else []
    orders, suspicious = compare_orders(judged_a, judged_b, runs, wanted) if runs else ((), ())
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
        sides=(
            describe_judgments(judged_a, rel=least, scale=scale),
            describe_judgments(judged_b, rel=least, scale=scale),
        ),
        orders=orders,
        notices=suspicious,
        **common.estimates(least, asked.draws, asked.seed),
    )


def _estimate(value: float, drawn: Floats, limits: tuple[float, float], queries: int) -> Estimate:
    """A value with its interval: symmetric on the logit scale between the limits, so that it stays inside them."""
    if np.isnan(value):
        return Estimate(None)
    drawn = drawn[~np.isnan(drawn)]
    if not drawn.size:
        return Estimate(value)
    lowest, highest = limits
    sd = float(drawn.std(ddof=1)) if drawn.size > 1 else 0.0
    # Samples of n queries from n vary less than those from all, by the root of n - 1 to n.
    reach = t_quantile((1 + CONFIDENCE) / 2, queries - 1) * sd * math.sqrt(queries / (queries - 1))
    slope = (value - lowest) * (highest - value)
    if not slope > 0:
        return Estimate(value, max(lowest, value - reach), min(highest, value + reach))
    middle, half = math.log((value - lowest) / (highest - value)), reach * (highest - lowest) / slope
    low, high = (lowest + (highest - lowest) * (1 + math.tanh(at / 2)) / 2 for at in (middle - half, middle + half))
    return Estimate(value, min(low, value), max(high, value))


def _by_query(common: CommonDocuments) -> tuple[QueryAgreement, ...]:
    queries = len(common.query_ids)
    # Sorted, so that a query's sums do not depend on the order of the input.
    difference = common.b - common.a
    order = np.lexsort((difference, common.query))
    query, difference = common.query[order], difference[order]
    documents = np.bincount(query, minlength=queries)
    sums = [np.bincount(query, values, queries) for values in (difference == 0, difference, np.abs(difference))]
    columns = [documents.tolist(), *((total / documents).tolist() for total in sums)]
    names = map(text_of_id, common.query_ids)
    return tuple(QueryAgreement(*row) for row in zip(names, *columns, strict=True))


def sentences(found: JudgmentComparison, is_scale: bool) -> Iterator[str]:
    """What a person wants to know first; ``is_scale`` if grades are levels of a scale rather than measurements."""
    alone = [f"; {name} alone judges {n:,} more" for name, n in (("A", found.only_a), ("B", found.only_b)) if n]
    judged = count_of(found.documents, "document")
    both = f"Both judge {judged} of {count_of(found.queries, 'query', 'queries')}{''.join(alone)}."
    yield f"A is {printable(found.a, 80)}, B is {printable(found.b, 80)}. {both}"
    one_scale = found.scale_a == found.scale_b
    if not one_scale:
        yield (
            f"A goes up to grade {number_text(found.scale_a)}, B to {number_text(found.scale_b)}. If these are "
            "different scales, equal grades mean different things, and only relevance can be compared; "
            "--scale says they are one."
        )
    apart = f"their grades are {found.mean_absolute_difference.value:.4f} apart on average"
    if is_scale:
        one, more = _per_cent(found.one_level_apart), _per_cent(found.further_apart)
        apart = f"{one} differ by one level, {more} by more"
    line = f"The judges agree exactly on {_per_cent(found.agreement)} of {judged}; {apart}."
    # Which judge is stricter, if the interval of the mean difference leaves no doubt.
    lower, higher = f"{_per_cent(found.lower)} lower", f"{_per_cent(found.higher)} higher"
    verdict = _verdict(found.mean_difference)
    direction = f"Neither is clearly stricter: B grades {lower} and {higher}."
    if not found.lower.value and not found.higher.value:
        direction = "No grade differs."
    elif verdict is not None:
        is_stricter = (found.mean_difference.value or 0.0) < 0
        direction = f"{verdict}: it grades " + (f"{lower} and {higher}." if is_stricter else f"{higher} and {lower}.")
    yield f"{line} {direction}" if one_scale else line
    shares = [_per_cent(share) for share in (found.relevance_agreement, found.relevant_a, found.relevant_b)]
    agreed = f"On relevance ({means_relevant(found.rel)}) they agree in {shares[0]}"
    line = f"{agreed}: A calls {shares[1]} relevant, B {shares[2]}."
    # Where grades of different scales cannot say it, the shares of relevant documents do.
    yield line if one_scale else f"{line} {_verdict(found.relevance_difference) or 'Neither is clearly stricter'}."


def _verdict(difference: Estimate) -> str | None:
    """What a difference, B - A, says of B, if its interval leaves no doubt."""
    value, low, high = difference
    if not value or (low is not None and high is not None and low <= 0 <= high):
        return None
    # Without an interval these documents are all that can be spoken of.
    where = "" if low is not None else " on these documents"
    return f"B is {'stricter' if value < 0 else 'more generous'}{where}"


def _per_cent(share: Estimate) -> str:
    return f"{100 * (share.value or 0.0):.1f}%"


def cross_table(found: JudgmentComparison) -> Table:
    """One row a level of B, one column a level of A with its per cent, and the totals."""
    table = found.cross_table()
    sums = (*map(sum, zip(*table, strict=True)), found.documents)
    names = [*(f"A {number_text(level)}" for level in found.levels_a), "total"]
    levels = [number_text(level) for level in found.levels_b]
    rows: list[tuple[Cell, ...]] = []
    for name, counts in zip([*levels, "total"], [*((*row, sum(row)) for row in table), sums], strict=True):
        shares = (count / total if total else None for count, total in zip(counts, sums, strict=True))
        rows.append((name, *(value for pair in zip(counts, shares, strict=True) for value in pair)))
    columns = head(["B", *(text for name in names for text in (f"{name} #", f"% of {name} %"))])
    return Table(columns, rows, "What B made of each level of A")


#: Means closer than this are equal: the difference is what adding up in another order makes. So many swaps are shown.
_PLACES, _MOST_SWAPS = 12, 20


class SystemScores(NamedTuple):
    """A system's mean by either judgments, and its place: 1 is best, equals share a place. None: no query counts."""

    name: str
    mean_a: float | None
    mean_b: float | None
    rank_a: int | None
    rank_b: int | None


@dataclass(frozen=True)
class OrderComparison:
    """How two sets of judgments order the same systems by one measure, on the queries that both judge.

    ``systems`` stand in A's order; ``tau`` is Kendall's tau-b of the means, None where either judges all systems alike;
    ``swaps`` are the pairs that change places, clearest first.
    """

    measure: Measure
    queries: int
    systems: tuple[SystemScores, ...]
    tau: float | None
    swaps: tuple[Swap, ...]

    signatures: tuple[Conventions, ...] = ()  # one where A and B have the same

    @property
    def pairs(self) -> int:
        return math.comb(len(self.systems), 2)

    def parts(self) -> Iterator[Table | str]:
        """The systems by either judgments, whether they change places, and which do."""
        columns = head("run | mean by A . | mean by B . | rank by A # | rank by B #")
        moved = frozenset((i, 4) for i, system in enumerate(self.systems) if system.rank_a != system.rank_b)
        notes = [f"means over {count_of(self.queries, 'query', 'queries')} that both judge"]
        notes += ["* another place than by A"] if moved else []
        yield Table(columns, self.systems, f"Systems by {self.measure}", tuple(notes), moved)
        tau = "undefined, since one of the judges scores all alike" if self.tau is None else f"{self.tau:.4f}"
        changing = "No two systems change"
        if self.swaps:
            verb = "changes" if len(self.swaps) == 1 else "change"
            changing = f"{len(self.swaps):,} of {count_of(self.pairs, 'pair')} of systems {verb}"
        sentence = f"{changing} places by {self.measure}: Kendall's tau is {tau}."
        yield sentence if self.pairs else "One system alone has no order."
        if self.swaps:
            names = head("better by A | better by B | lead by A . | lead by B .")
            more = (f"the clearest of {len(self.swaps):,}",) if len(self.swaps) > _MOST_SWAPS else ()
            yield Table(names, self.swaps[:_MOST_SWAPS], f"Systems that change places by {self.measure}", more)


def compare_orders(
    a: Judged, b: Judged, runs: Mapping[str, RunLike], measures: Sequence[Measure]
) -> tuple[tuple[OrderComparison, ...], tuple[str, ...]]:
    """Scores runs by two sets of judgments, on the queries that both judge, and compares the orders of systems: by each
    measure, and what is suspicious of the runs.

    Each set is taken whole for these queries, also where it judges a document that the other does not.

    >>> from gainful import Policy, Qrels, parse
    >>> a, b = (Judged(Qrels.from_dict({"q": {"d": x, "e": 1 - x}}), Policy()) for x in (0, 1))
    >>> runs = {"one": {"q": ["d", "e"]}, "two": {"q": ["e", "d"]}}
    >>> [found], _ = compare_orders(a, b, runs, [parse("RR")])
    >>> found.tau, found.swaps
    (-1.0, (Swap(better_by_a='two', better_by_b='one', lead_a=0.5, lead_b=0.5),))
    """
    for measure in measures:
        if measure.better == "neither":
            raise UsageError(f"{measure}: expected a measure that can order systems, found one without a better side")
    common = sorted(set(a.qrels.query_ids).intersection(b.qrels.query_ids))
    if not common:
        raise InputError(
            f"{b.qrels.name}: expected queries that {a.qrels.name} judges too, found none: {a.qrels.name} has "
            f"'{printable(a.qrels.query_ids[0])}', {b.qrels.name} has '{printable(b.qrels.query_ids[0])}'"
        )
    kept = {name: RunSource.of(run, name=name).at_hand() for name, run in runs.items()}
    by_a, by_b = (
        tuple(evaluate_runs(Judged(side.qrels.select(common), side.policy), kept, measures).values()) for side in (a, b)
    )
    by_side = (("A", by_a), ("B", by_b))
    signatures = tuple(side[0].signature().note(f"{name}: ") for name, side in by_side)
    if by_a[0].signature() == by_b[0].signature():
        signatures = (by_a[0].signature().note(),)
    orders = []
    for measure in measures:
        means, goodness, ranks = [], [], []
        for side in (by_a, by_b):
            values = [evaluation.aggregate(measure) for evaluation in side]
            means.append([None if math.isnan(value) else value for value in values])
            # Higher is better, for any measure; -inf for what has no mean.
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
