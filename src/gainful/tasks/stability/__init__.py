"""Stability of the order of systems with other queries or fewer judgments, and its page.

Fewer judgments are random parts of the judged documents, or one kind of document only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from gainful.data.judged import Judged
from gainful.data.qrels import Qrels, QrelsLike
from gainful.data.run import Run, RunLike
from gainful.errors import InputError, UsageError, option, warns
from gainful.evaluation.evaluate import MeasuresLike, check_measures, evaluate_graded, join_each
from gainful.evaluation.score_matrix import ScoreMatrix, upward
from gainful.evaluation.scores import ScoreReport, Scores, check_size
from gainful.frozen import dataclass
from gainful.kernel.arrays import Floats, Ints
from gainful.kernel.parallel import current_progress
from gainful.measures.base import Measure
from gainful.measures.catalog import parse_all
from gainful.notation import choose, count_of, number_text, percent_text, plural_of, units
from gainful.pages.charts import Axis, Chart, Line, Plot, Rule
from gainful.pages.page import Cell, Column, Table, head, values_of
from gainful.policy import Policy
from gainful.question import question
from gainful.render import Page
from gainful.stats.catalogues import SYMMETRIC
from gainful.stats.repeatable import check_alpha, check_draws, stream
from gainful.stats.stability import (
    BINS,
    LEAST_COMPARISONS,
    LEAST_SYSTEMS,
    DiscriminativePower,
    Spread,
    SubsetStability,
    SwapRates,
    discriminative_power,
    order_of_topics,
    settled_means,
    stability_over_queries,
    swap_rates,
)
from gainful.tasks.score_questions import StabilityOptions

_DOCUMENT_DRAWS = 20
#: The smallest p shown, and the maximum number of points on a curve of p.
_LEAST_P, _MOST_POINTS = 1e-6, 300
#: Document sets for measures that compare estimates of documents, with their labels.
_ONLY = {"retrieved": "retrieved only", "relevant": "relevant only"}


class OnlyPart(NamedTuple):
    """A measure computed over one kind of document, and its agreement with the order by the measure itself."""

    part: str
    measure: str
    value: float | None


@dataclass(frozen=True)
class DocumentStability:
    """The order of systems by one measure with fewer judged documents.

    ``parts`` are random parts of the ``judged`` pairs of query and document; ``only`` are retrieved or relevant
    documents only, for measures that can be limited to them.
    """

    judged: int
    parts: tuple[SubsetStability, ...]
    only: tuple[OnlyPart, ...]


def assess_documents(
    qrels: QrelsLike | Judged,
    runs: Mapping[str, RunLike],
    measures: MeasuresLike,
    shares: Sequence[float] = (0.5, 0.2),
    *,
    draws: int = _DOCUMENT_DRAWS,
    seed: int = 0,
    coefficient: str = "tau_b",
    policy: Policy | str | None = None,
    threads: int | None = None,
) -> dict[str, DocumentStability]:
    """Compare the order of systems by each measure with the orders under random parts of the judgments.

    A pair of query and document is kept with probability ``share``; others are treated as unjudged under the policy
    (prepared judgments keep their own policy). Split halves are two parts without a common document.

    >>> qrels = {"q": {f"d{i}": 1 for i in range(40)}}
    >>> runs = {"all": {"q": [f"d{i}" for i in range(40)]}, "few": {"q": ["d1", "x", "y"]}, "none": {"q": ["x"]}}
    >>> found = assess_documents(qrels, runs, "AP", [0.5], draws=3)["AP"]
    >>> found.judged, found.parts[0].part_whole.lowest > 0.8
    (40, True)
    """
    judged = qrels if isinstance(qrels, Judged) else Judged(Qrels.of(qrels), Policy.of(policy))
    measures = parse_all(measures)
    check_draws(draws, seed)
    if len(runs) < 2:
        raise UsageError(f"runs: at least 2 are needed to have an order, found {len(runs)}")
    agree = SYMMETRIC[choose(coefficient, SYMMETRIC, "coefficient")].formula
    kept = {name: Run.of(run, policy=judged.policy) for name, run in runs.items()}  # read once, scored many times
    variants = {
        measure: {over: measure.replace(over=over) for over in _ONLY if getattr(measure, "over", None) != over}
        if "over" in measure.parameters()
        else {}
        for measure in measures
    }
    everything = list(dict.fromkeys([*measures, *(each for found in variants.values() for each in found.values())]))
    check_measures(everything, judged)
    progress = current_progress()
    progress.total += draws * len(shares)
    whole = _means_of(judged, kept, everything, threads)
    thinning = Thinning(judged.qrels)
    parts: dict[Measure, list[SubsetStability]] = {measure: [] for measure in measures}

    def agreed(one: Floats | None, other: Floats | None) -> float | None:
        return None if one is None or other is None else agree(one, other)

    for share in shares:
        part_whole: dict[Measure, list[float | None]] = {measure: [] for measure in measures}
        split_half: dict[Measure, list[float | None]] = {measure: [] for measure in measures}
        for draw in range(draws):
            part, other = thinning.parts(share, draw=draw, seed=seed)
            means = _means_of(Judged(part, judged.policy), kept, measures, threads)
            other_means = {} if other is None else _means_of(Judged(other, judged.policy), kept, measures, threads)
            for measure in measures:
                part_whole[measure].append(agreed(means[measure], whole[measure]))
                split_half[measure] += [agreed(means[measure], other_means[measure])] if other_means else []
            progress.advance(1)
        for measure in measures:
            spreads = Spread.of(part_whole[measure]), Spread.of(split_half[measure])
            parts[measure].append(SubsetStability(share, share * thinning.pairs, *spreads))
    found = {}
    for measure, each in variants.items():
        only = (OnlyPart(_ONLY[over], str(one), agreed(whole[one], whole[measure])) for over, one in each.items())
        found[str(measure)] = DocumentStability(thinning.pairs, tuple(parts[measure]), tuple(only))
    return found


def _means_of(
    judged: Judged, runs: Mapping[str, RunLike], measures: Sequence[Measure], threads: int | None
) -> dict[Measure, Floats | None]:
    """Return the systems' means by each measure, higher is better; None if no query has a score for every system."""
    # Measures are not checked again, because a part of the judgments may lack a grade that a measure refers to.
    needed = frozenset(need for measure in measures for need in measure.needed())
    evaluations = join_each(judged, runs, lambda _, graded: evaluate_graded(graded, measures), needed, threads=threads)
    found: dict[Measure, Floats | None] = {}
    for measure in measures:
        try:
            found[measure] = settled_means(upward(ScoreMatrix.from_evaluations(evaluations, measure)))
        except InputError:  # no query counts for all systems
            found[measure] = None
    return found


@dataclass(frozen=True, eq=False, repr=False)
class StabilityReport(ScoreReport):
    """Stability of the order of systems by each measure, on the same systems and queries for all measures.

    ``queries`` are results for subsets of the queries, ``documents`` for parts of the judged documents (empty unless
    requested), ``swap_rates`` for swaps of two systems, ``power`` for significant pairs; all by measure.
    """

    asked: StabilityOptions
    queries: Mapping[str, tuple[SubsetStability, ...]]
    documents: Mapping[str, DocumentStability]
    swap_rates: Mapping[str, SwapRates]
    power: Mapping[str, DiscriminativePower]

    @property
    def first(self) -> ScoreMatrix:
        """The matrix of the first measure; systems and queries are the same in all."""
        return next(iter(self.matrices.values()))

    def page(self, places: int = 4) -> Page:
        """Return sentences by measure, results for parts of queries and documents, swaps, and discriminative power."""
        first, swaps, power = self.first, next(iter(self.swap_rates.values())), next(iter(self.power.values()))
        systems, queries = count_of(len(first.systems), "system"), units(len(first.queries), self.unit)
        begin = f"Stability of the order of {systems} on {queries} by {', '.join(self.matrices)}."
        parts: list[Table | Chart | str] = [begin]
        for measure in list(self.matrices)[:_MOST_LISTED]:
            parts.append(f"{measure}: {' '.join(_stability_sentences(self, measure, places))}")
        parts.append(_subset_table(self, places))
        columns = (
            *head("measure ← 0 | set # ← 1.queries | error rate % ← 1.error_rate | tie rate % ← 1.tie_rate"),
            Column("difference needed", "number", places, get=lambda row: row[1].difference_for(self.asked.swaps)),
        )
        notes = (
            f"error rate, tie rate (Buckley & Voorhees 2000): over random sets of {plural_of(self.unit)}; systems "
            f"within {100 * swaps.fuzziness:g}% of the higher mean are tied (fuzziness), otherwise the less frequent "
            "order is the error",
            "difference needed (Voorhees & Buckley 2002): of pairs with at least this difference on one set, at most "
            f"{100 * self.asked.swaps:g}% are reversed on another; requires at least {LEAST_SYSTEMS} systems, and "
            f"{LEAST_COMPARISONS} comparisons per difference",
        )
        parts.append(Table.of(columns, self.swap_rates.items(), title="Swaps of two systems", notes=notes))
        if any(each.comparisons for found in self.swap_rates.values() for each in found.bins):
            lines = []
            for measure, found in self.swap_rates.items():
                known = [each for each in found.bins if each.rate is not None]
                # The open bin has no midpoint and is omitted unless it is the only one.
                known = [each for each in known if math.isfinite(each.high)] or known
                middles = ((each.low + each.high) / 2 if math.isfinite(each.high) else each.low for each in known)
                lines.append(Line(measure, tuple(middles), tuple(100 * (each.rate or 0.0) for each in known)))
            sets = f"Two disjoint sets of {units(swaps.queries, self.unit)}"
            plot = Plot(
                "Swaps by difference between two systems",
                Axis(f"difference on one set of {plural_of(self.unit)}", 0.0),
                Axis("swaps on another set (%)", 0.0),
                tuple(lines),
                rules=(Rule(percent_text(self.asked.swaps), y=100 * self.asked.swaps),),
                caption=f"{sets}, {count_of(swaps.draws, 'resample')}.",
            )
            parts.append(plot)
        columns = (
            *head("measure ← 0 | test ← 1.test | pairs # ← 1.pairs | significant # ← 1.significant"),
            *head(f"share % ← 1.share | threshold .{places} ← 1.threshold", none="none"),
        )
        notes = (
            f"significant: p <= {number_text(power.alpha)}, by definition (Sakai 2006) not corrected for multiple "
            "tests: it compares measures and does not show that any single pair differs",
            "threshold: every pair with at least this difference between means is significantly different",
        )
        parts.append(Table.of(columns, self.power.items(), title="Discriminative power", notes=notes))
        if len(first.systems) > 2:  # a single pair makes no curve
            count = min(power.pairs, _MOST_POINTS)
            ranks = sorted({round(i * (power.pairs - 1) / max(1, count - 1)) for i in range(count)})
            x = tuple(float(i + 1) for i in ranks)
            curves = tuple(
                Line(measure, x, tuple(max(float(found.curve[i]), _LEAST_P) for i in ranks))
                for measure, found in self.power.items()
            )
            least = min((y for line in curves for y in line.y), default=_LEAST_P)
            plot = Plot(
                f"Sorted p of {count_of(power.pairs, 'pair')} of systems",
                Axis("pairs of systems", 1.0),
                Axis(f"p ({power.test})", _LEAST_P if least <= _LEAST_P else None, 1.0, is_log=True),
                curves,
                rules=(Rule(number_text(power.alpha), y=power.alpha),),
                caption=f"Not corrected for multiple tests. A p below {_LEAST_P:g} is drawn at the lower end.",
            )
            parts.append(plot)
        every = ((measure, each) for measure, found in self.swap_rates.items() for each in found.bins)
        bins = [(measure, each, each.high if each.high < math.inf else None) for measure, each in every]
        names = "measure ← 0 | from difference . ← 1.low | below . ← 2 | comparisons # ← 1.comparisons"
        columns = head(f"{names} | swaps # ← 1.swaps | rate % ← 1.rate", for_machines=True)
        parts.append(Table.of(columns, bins, title="Swaps by difference"))
        sorted_p = [(measure, i, float(p)) for measure, each in self.power.items() for i, p in enumerate(each.curve, 1)]
        parts.append(Table(head("measure | pair # | p .", for_machines=True), sorted_p, "Sorted p"))
        header = {"measures": list(self.matrices), "systems": list(first.systems), "queries": len(first.queries)}
        header |= values_of(self.asked, "coefficient | topics | draws | seed")
        header |= values_of(swaps, "set_size ← queries | fuzziness") | {"most_swaps": self.asked.swaps}
        return self.page_of("stability", parts, header | values_of(power, "test | alpha"))


@warns
@question(StabilityOptions)
def assess_stability(asked: StabilityOptions) -> StabilityReport:
    """Test whether the order of systems is stable on other queries: subsets, swap rates, discriminative power.

    ``topics`` takes the ``first`` or ``random`` queries for subsets of the given ``shares``; first by number if all IDs
    are whole numbers, otherwise by ID. Swap rates are over sets of ``set_size`` queries (by default, half of all);
    ``fuzziness`` is the difference, as a share of the higher mean, below which two systems are tied. ``documents`` also
    scores the runs with parts of their judgments, as :func:`gainful.assess_documents` does.

    >>> matrix = ScoreMatrix.of("P@5", {"a": [0.4, 0.6, 0.4, 0.6], "b": [0.2, 0.4, 0.4, 0.2], "c": [0, 0.2, 0, 0]})
    >>> report = assess_stability(matrix, draws=10)
    >>> report.queries["P@5"][0].part_whole.mean > 0.8, report.swap_rates["P@5"].error_rate
    (True, 0.0)
    """
    check_alpha(asked.alpha)
    if not asked.shares:
        raise UsageError("shares: at least one is required")
    if not 0 < asked.swaps < 1:
        raise UsageError(f"swaps: expected a rate between 0 and 1, found {asked.swaps:g}")
    if asked.document_draws is not None and not asked.documents:
        raise UsageError(f"{option('document_draws')}: needs documents")
    scores = Scores.of(asked.scores).on_common()
    matrices = scores.matrices
    check_size(list(matrices.values()), queries=2)
    first = next(iter(matrices.values()))
    half = len(first.queries) // 2
    if asked.set_size is not None and not 1 <= asked.set_size <= half:
        two_fit = f"at most half of all {plural_of(first.unit)}"
        raise UsageError(f"set size: expected 1 to {half}, {two_fit}, found {asked.set_size}")
    documents: dict[str, DocumentStability] = {}
    if asked.documents:
        judged, runs = scores.judged_and_runs(option("documents"))
        how = values_of(asked, "seed | coefficient | threads") | {"draws": asked.document_draws or _DOCUMENT_DRAWS}
        documents = assess_documents(judged, runs, list(matrices), asked.shares, **how)
    agree = SYMMETRIC[asked.coefficient].formula
    progress = current_progress()
    progress.total += 3 * len(matrices)
    subsets, swaps, power = {}, {}, {}
    for name, matrix in matrices.items():
        values = upward(matrix)
        ordered = values[order_of_topics(matrix.queries)[0]] if asked.topics == "first" else values
        # Bins of 0.01 for scores up to 1, multiplied by a power of 10 for larger scores.
        largest = float(abs(values).max())
        unit = 10.0 ** math.ceil(math.log10(largest)) if largest > 1 else 1.0
        bins = tuple(edge * unit for edge in BINS)
        how = values_of(asked, "draws | seed")
        subsets[name] = stability_over_queries(ordered, asked.shares, topics=asked.topics, coefficient=agree, **how)
        progress.advance(1)
        swaps[name] = swap_rates(values, queries=asked.set_size, fuzziness=asked.fuzziness, bins=bins, **how)
        progress.advance(1)
        power[name] = discriminative_power(values, asked.test, **values_of(asked, "alpha | seed | threads"))
        progress.advance(1)
    return StabilityReport(scores, asked, subsets, documents, swaps, power)


class Thinning:
    """Random parts of judgments: a pair of query and document is kept or dropped for all systems.

    The choice depends on the IDs and the seed, not on the order of the judgments; all rows of a pair (judges,
    sub-topics) stay together, and every query stays judged, even without documents.

    >>> thinning = Thinning(Qrels.from_dict({"q": {f"d{i}": 1 for i in range(100)}}))
    >>> part, other = thinning.parts(0.5)
    >>> thinning.pairs, len(part) + len(other), 30 < len(part) < 70
    (100, 100, True)
    """

    def __init__(self, qrels: Qrels) -> None:
        self.qrels = qrels
        keys = [(query, qrels.document(row)) for row, query in enumerate(qrels.query.tolist())]
        place = {key: number for number, key in enumerate(sorted(set(keys)))}
        self.pairs = len(place)
        self._pair: Ints = np.array([place[key] for key in keys], np.int64)

    def parts(self, share: float, *, draw: int = 0, seed: int = 0) -> tuple[Qrels, Qrels | None]:
        """Return judgments with each pair kept with probability ``share``, and a disjoint part of the same size.

        The second part is None if two do not fit into the whole. A larger share includes a smaller one.
        """
        if not 0 < share <= 1:
            raise UsageError(f"share: expected a number above 0 and up to 1, found {share!r}")
        chance = stream(seed, draw).random(self.pairs)[self._pair]
        others = np.flatnonzero((chance >= share) & (chance < 2 * share))
        return self.qrels.take(np.flatnonzero(chance < share)), self.qrels.take(others) if 2 * share <= 1 else None


_MOST_LISTED = 6


def _stability_sentences(report: StabilityReport, measure: str, places: int) -> Iterator[str]:
    found = report.queries[measure][0]
    is_random, all_units = report.asked.topics == "random", plural_of(report.unit)
    part = f"{'a random' if is_random else 'the first'} {100 * found.share:g}% of the {all_units}"
    title, average = SYMMETRIC[report.asked.coefficient].title, ", on average" if is_random else ""
    others = []
    if found.split_half is not None:
        others.append(f"{found.split_half.mean:.{places}f} with the order on another such part")
    if found.part_whole is not None:
        others.append(f"{found.part_whole.mean:.{places}f} with the order on all {all_units} (inflated)")
    agreement = f"the order of systems has an agreement of {', '.join(others)}{average}; 1 is the same order ({title})"
    tied = f"{title} is undefined, because all systems are tied"
    yield f"On {part} ({found.size:,.0f} of {len(report.first.queries):,}), {agreement if others else tied}."
    swaps = report.swap_rates[measure]
    needed, rate = swaps.difference_for(report.asked.swaps), f"{100 * report.asked.swaps:g}%"
    between = f"between sets of {units(swaps.queries, report.unit)}"
    if not any(each.comparisons for each in swaps.bins):
        yield f"No two systems differ on any set of {units(swaps.queries, report.unit)}."
    elif swaps.systems < LEAST_SYSTEMS:
        few = f"requires at least {LEAST_SYSTEMS} systems, found {swaps.systems}"
        yield f"The difference needed for at most {rate} swaps {few}."
    elif needed is None:
        yield f"No difference is large enough for at most {rate} swaps {between}."
    elif needed == 0:
        yield f"Systems with any difference swap in at most {rate} of cases {between}."
    else:
        yield f"Systems that differ by {needed:.4g} or more swap in at most {rate} of cases {between}."
    power = report.power[measure]
    yield (
        f"The {power.test} test finds {100 * power.share:.1f}% of {count_of(power.pairs, 'pair')} significantly "
        f"different (p <= {number_text(power.alpha)}, unadjusted)."
    )


def _subset_table(report: StabilityReport, places: int) -> Table:
    """Return rows by measure and part, as in Table 4 of Della Mea and Mizzaro (2004)."""
    names = ("part-whole", "part-whole sd", "split-half", "split-half sd")
    columns = (
        *head(["measure", "of", "part", "size .0", *(f"{name} .{places}" for name in names)]),
        *head("part-whole lowest . | part-whole highest .", for_machines=True),
        *head("split-half lowest . | split-half highest .", for_machines=True),
        *head("draws # | undefined # | split-half undefined #", for_machines=True),
    )
    all_units = plural_of(report.unit)
    rows: list[tuple[Cell, ...]] = []
    for measure, subsets in report.queries.items():
        documents = report.documents.get(measure)
        parts = [(all_units, report.asked.topics, each) for each in subsets]
        parts += [("documents", "random", each) for each in documents.parts] if documents else []
        for of, which, found in parts:
            whole, half = (
                (s.mean, s.sd if s.draws > 1 else None, s.lowest, s.highest, s.undefined) if s else [None] * 5
                for s in (found.part_whole, found.split_half)
            )  # a single draw has no standard deviation
            draws = next((s.draws for s in (found.part_whole, found.split_half) if s), 0)
            numbers = (found.size, *whole[:2], *half[:2], *whole[2:4], *half[2:4], draws, whole[4], half[4])
            rows.append((measure, of, f"{which} {100 * found.share:g}%", *numbers))
        for only in documents.only if documents else ():
            rows.append((measure, "documents", only.part, None, only.value, *[None] * (len(columns) - 5)))
    notes = [
        f"{SYMMETRIC[report.asked.coefficient].title} of the systems' means",
        "part-whole: agreement between a part and the whole that contains it; inflated, because they "
        f"share data, and not informative about other {all_units} or documents",
        "split-half: agreement between two disjoint parts of the same size",
    ]
    if any(row[6] is None for row in rows):
        notes.append("-: two such parts do not fit into the whole, or there is a single comparison")
    if report.asked.topics == "first":
        by = "number" if order_of_topics(report.first.queries)[1] else "byte order of their IDs"
        notes.append(f"first: {all_units} by {by}")
    if report.documents:
        notes.append(
            "documents: judged pairs of query and document, all others unjudged; retrieved only, relevant only: the "
            "measure over these documents, compared with the measure itself"
        )
    title = f"The order on parts of the {all_units}{' and of the judged documents' if report.documents else ''}"
    return Table(columns, tuple(rows), title, tuple(notes))
