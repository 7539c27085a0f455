"""Is the difference real? Two systems, or several, by one measure or several, as something to print and to draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from gainful.data.exclusion import ExclusionLike
from gainful.data.qrels import QrelsLike
from gainful.data.queries import judgments_about_queries
from gainful.data.run import RunsLike
from gainful.errors import InputError, UsageError, for_asker, warns
from gainful.evaluation.evaluate import MeasuresLike, unknown_option
from gainful.evaluation.results import Evaluation
from gainful.evaluation.score_matrix import ScoreMatrix, aligned
from gainful.evaluation.session_scores import SessionScores
from gainful.io.columns import columns_by_side
from gainful.kernel.parallel import Progress
from gainful.notation import choose, count_of, printable
from gainful.policy import Policy
from gainful.render import Page, Showable
from gainful.stats.bayes import Posterior
from gainful.stats.catalogues import BAYES
from gainful.stats.factorial import FactorialResult, compare_factors
from gainful.stats.paired import PairResult, compare_pair
from gainful.stats.procedures import PaperRow, SystemsPlan, SystemsResult, compare_several, paper_rows
from gainful.stats.rank_tests import GroupComparison
from gainful.stats.samples import PairPlan
from gainful.stats.sequential import ConfidenceSequence
from gainful.tasks.compare.compare_options import (
    CHARTS,
    CHARTS_OF_PAIRS,
    CHARTS_OF_SYSTEMS,
    MARKS,
    OF_TABLES,
    ORDERS,
    TABLES,
    CompareOptions,
)
from gainful.tasks.compare.score_sources import HOW_TO_COMPARE, RUNS_IN_A_DICT, given_scores
from gainful.tasks.compare.segments import SegmentResult, compare_segments, segment_parts
from gainful.tasks.compare.system_pairs import (
    check_groups,
    check_known,
    contrasted,
    grouped,
    posteriors_of,
    read_factors,
    rows_shown,
    sequences_of,
    shown_pairs,
)
from gainful.tasks.compare.unpaired_sessions import UnpairedSystems, compare_unpaired_systems, is_unpaired

if TYPE_CHECKING:
    from gainful.data.items import ItemsLike
    from gainful.data.queries import QueriesLike


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Showable):
    """What :func:`compare` found, by measure; the first measure is the primary one.

    ``pairs`` are results of two systems, ``systems`` those of several, ``posteriors`` those of pairs whose probability
    was asked for, ``sequences`` those of pairs that were watched query by query, ``unpaired`` those of systems that
    have sessions of their own, ``factorial`` those of two factors: one of them is there. ``papers`` are
    the rows of the papers' table, ``groups`` the comparisons of groups of systems that were named. ``shown`` are the
    pairs that people want to see, all of them if None; ``charts`` what is drawn. ``only`` is the one table that is
    wanted, ``marks`` what stands beside means that differ, ``sort`` the order of systems. ``notices`` say what is legal
    but suspicious of the scores. ``segments`` are the results of groups of queries, by the column ``by``.
    """

    scores: Mapping[str, ScoreMatrix]
    pairs: Mapping[str, PairResult] = field(default_factory=dict)
    systems: Mapping[str, SystemsResult] = field(default_factory=dict)
    papers: tuple[PaperRow, ...] = ()
    posteriors: Mapping[str, tuple[Posterior, ...]] = field(default_factory=dict)
    sequences: Mapping[str, tuple[ConfidenceSequence, ...]] = field(default_factory=dict)
    unpaired: Mapping[str, UnpairedSystems] = field(default_factory=dict)
    factorial: Mapping[str, FactorialResult] = field(default_factory=dict)
    groups: Mapping[str, GroupComparison] = field(default_factory=dict)
    members: Mapping[str, Sequence[str]] = field(default_factory=dict)
    family: str = "each"
    shown: tuple[tuple[str, str], ...] | None = ()
    charts: tuple[str, ...] = ()
    places: int = 4
    signatures: tuple[str, ...] = ()
    only: str | None = None
    marks: str | None = None
    sort: str = "best"
    notices: tuple[str, ...] = ()
    segments: Mapping[str, tuple[SegmentResult, ...]] = field(default_factory=dict)
    by: str | None = None
    alpha: float = 0.05

    def __repr__(self) -> str:
        results = {**self.pairs, **self.systems, **self.posteriors, **self.sequences, **self.unpaired, **self.factorial}
        what = ", ".join(results) or ", ".join(row.measure for row in self.papers)
        scores = self.unpaired[self.primary].scores if self.unpaired else self.scores[self.primary]
        systems = scores.systems
        return f"<Comparison of {count_of(len(systems), 'system')} by {what}>"

    @property
    def primary(self) -> str:
        """The first measure."""
        return next(iter(self.scores or self.unpaired))

    @property
    def unit(self) -> str:
        """What scores are of: queries, or sessions."""
        return "session" if self.unpaired else self.scores[self.primary].unit

    @property
    def is_pair(self) -> bool:
        """Whether two systems were compared as two."""
        return bool(self.pairs)

    @cached_property
    def tests(self) -> int:
        """How many tests of pairs were made in all."""
        others = sum(len(result.pairs) for result in self.unpaired.values())
        return len(self.pairs) + others + sum(result.family.p.size for result in self.systems.values())

    def page(self) -> Page:
        page = self._whole_page()
        if self.only is not None:
            from gainful.tasks.compare.paper_table import single_table

            return single_table(self, page)
        if self.by is None:
            return page
        groups = segment_parts(self.segments, self.by, self.alpha, self.places)
        return replace(page, parts=(*page.parts, *groups))

    def _whole_page(self) -> Page:
        module, name = next(where for held, where in _PAGES.items() if getattr(self, held))
        page: Page = getattr(import_module(f"gainful.tasks.compare.{module}"), name)(self)
        return page


#: What a comparison may hold, and what makes a page of it, which is loaded when it is shown.
_PAGES = {
    "papers": ("pair_page", "papers_page"),
    "posteriors": ("belief_page", "posterior_page"),
    "sequences": ("sequence_page", "sequence_page"),
    "factorial": ("factorial_page", "factorial_page"),
    "unpaired": ("unpaired_page", "unpaired_page"),
    "pairs": ("pair_page", "pair_page"),
    "systems": ("systems_page", "systems_page"),
}


@warns
def compare(
    qrels: QrelsLike | ScoreMatrix | Mapping[str, ScoreMatrix] | Mapping[str, Evaluation],
    runs: RunsLike | Mapping[str, Evaluation] | MeasuresLike | None = None,
    measures: MeasuresLike | None = None,
    *others: object,
    policy: Policy | str | None = None,
    exclude: ExclusionLike | None = None,
    items: ItemsLike | None = None,
    training: ExclusionLike | None = None,
    columns: Mapping[str, str] | None = None,
    queries: QueriesLike | None = None,
    by: str | None = None,
    baseline: str | None = None,
    procedure: str | None = None,
    test: str | None = None,
    interval: str | None = None,
    correction: str | None = None,
    family: str = "each",
    alpha: float = 0.05,
    draws: int | None = None,
    seed: int = 0,
    margin: float | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
    contrasts: Sequence[str] = (),
    factors: Mapping[str, Mapping[str, str]] | str | None = None,
    papers: bool = False,
    sequential: bool = False,
    arrival: Sequence[str] | None = None,
    pairs: Sequence[tuple[str, str]] | None = (),
    chart: str | Sequence[str] | None = None,
    only: str | None = None,
    marks: str | None = None,
    sort: str = "best",
    most: int | None = None,
    places: int = 4,
    threads: int | None = None,
    **unknown: object,
) -> Comparison:
    """Compares systems on the same queries: ``compare("qrels.txt", {"bm25": "bm25.run", "dense": "dense.run"}, "AP")``.

    Judgments, runs, ``measures``, ``policy``, ``exclude``, ``items``, ``training`` and ``columns`` are as
    :func:`gainful.evaluate` takes them; without measures it is nDCG@10. Scores that exist already stand in the place of
    judgments and runs: what :func:`gainful.evaluate` returned of several runs, or :func:`gainful.evaluate_sessions` of
    several systems, a :class:`gainful.ScoreMatrix`, or a dict of these by measure; ``compare(results, "AP")`` then says
    by which of their measures, else by all. The first measure is the primary one.

    Two systems: the second against the first, or against ``baseline``, by a ``test`` of
    :data:`gainful.stats.catalogues.TESTS` with an ``interval`` of ``INTERVALS`` (there, too), and within what
    ``margin`` they count as equal. More, or two with a ``procedure`` or ``correction``: all pairs, or each system
    against ``baseline``. ``test="bayes"`` gives probabilities of worse, equivalent within ``margin``, and better in
    place of p, of two systems or of several; ``sequential=True`` gives intervals that hold after every query, however
    often one looks, queries in the order of their ``arrival`` (else of their ids). ``procedure`` is one of
    :data:`gainful.stats.catalogues.PROCEDURES`, ``correction`` (of maxt and anova) one of
    :data:`gainful.stats.catalogues.CORRECTIONS`. ``papers`` makes the table of the papers instead: Friedman, then
    Conover. ``factors`` are two, each with a level by system, or a table of these: their effects and interaction.
    ``contrasts`` such as ``new = mean(a, b)`` are compared instead of pairs, as one family. ``pairs`` are the
    ones to print, None for all; ``most`` is how many queries of two systems are named that speak for either; ``chart``
    is what to draw: differences, leaderboard, critical or p. ``only`` is the one table to print (leaderboard, pairs or
    means), ``marks`` what stands beside its means (letters, daggers or beaten: the systems that this one beats),
    ``sort`` the order of its systems (best or given). ``queries`` is a table of queries (:class:`gainful.Queries`),
    ``by`` the column of it by which two systems, or each and the baseline, are compared group by group, too.

    >>> judgments = {"q1": {"d1": 1}, "q2": {"d1": 1}}
    >>> runs = {"old": {"q1": ["d2", "d1"], "q2": ["d1"]}, "new": {"q1": ["d1"], "q2": ["d1"]}}
    >>> found = compare(judgments, runs, "RR")
    >>> found.pairs["RR"].system, found.pairs["RR"].difference
    ('new', 0.25)
    >>> found = compare(ScoreMatrix.of("P@5", {"old": [0.2, 0.4, 0.4, 0.2], "new": [0.6, 0.4, 0.8, 0.4]}))
    >>> found.pairs["P@5"].wins, found.pairs["P@5"].p
    (3, 0.25)
    """
    if unknown:
        raise unknown_option("compare", next(iter(unknown)))
    charts = (chart,) if isinstance(chart, str) else tuple(chart or ())
    how = CompareOptions(
        baseline=baseline,
        procedure=procedure,
        test=test,
        interval=interval,
        correction=correction,
        family=family,
        alpha=alpha,
        draws=draws,
        seed=seed,
        margin=margin,
        groups=groups,
        contrasts=(contrasts,) if isinstance(contrasts, str) else tuple(contrasts),
        factors=factors if factors is None or isinstance(factors, Mapping) else read_factors(factors),
        papers=papers,
        sequential=sequential,
        arrival=arrival,
        pairs=pairs,
        chart=charts,
        only=only,
        marks=marks,
        sort=sort,
        most=most,
        by=by,
        places=places,
        threads=threads,
    )
    if others:
        raise UsageError(f"compare: {RUNS_IN_A_DICT}, found {3 + len(others)} arguments", HOW_TO_COMPARE)
    reading = {"policy": policy, "exclude": exclude, "items": items, "training": training, "columns": columns}
    wanted = {what: value for what, value in reading.items() if value is not None}
    if by is not None and queries is None:
        queries = judgments_about_queries(qrels, columns_by_side(columns)["qrels"])
    given = given_scores(qrels, runs, measures, wanted, threads, queries)
    found = compare_sessions(given.sessions, how) if given.sessions else compare_matrices(given.matrices, how)
    return replace(found, signatures=given.signatures, notices=given.notices)


def compare_sessions(
    scores: Mapping[str, SessionScores], how: CompareOptions, progress: Progress | None = None
) -> Comparison:
    """Compares systems on sessions: on the same ones as on queries, on their own by tests that need no pairs."""
    if not is_unpaired(next(iter(scores.values())), how.test):
        return compare_matrices({name: each.matrix() for name, each in scores.items()}, how, progress)
    found = compare_unpaired_systems(scores, how)
    return Comparison({}, unpaired=found, family=how.family, shown=rows_shown(how), places=how.places)


def compare_matrices(
    matrices: Mapping[str, ScoreMatrix], how: CompareOptions, progress: Progress | None = None
) -> Comparison:
    """Compares the systems of some matrices, by measure: as papers do, in sequence, by posteriors, as two or more."""
    _check_same_systems(matrices)
    systems = next(iter(matrices.values())).systems
    if len(systems) < 2:
        scores_one = for_asker("gainful eval QRELS RUN scores one", "evaluate scores one")
        raise UsageError(f"compare: expected at least two systems, found {len(systems)}", scores_one)
    check_known(how.baseline, systems, "baseline")
    for chart in how.chart:
        choose(chart, CHARTS, "chart")
    for value, known, what in ((how.only, TABLES, "only"), (how.marks, MARKS, "marks"), (how.sort, ORDERS, "sort")):
        if value is not None:
            choose(value, known, what)
    _check_weights(matrices, how)
    if how.by is not None:
        how.refuse("by", "papers", "sequential", "contrasts", "pairs", "groups", "interval", "procedure", "family")
        if how.test == BAYES.name:
            raise UsageError("by: has no meaning with the test bayes")
        segments = compare_segments(matrices, how, compare_systems)
        return replace(_by_mode(matrices, how, progress), segments=segments, by=how.by, alpha=how.alpha)
    return _by_mode(matrices, how, progress)


def _by_mode(matrices: Mapping[str, ScoreMatrix], how: CompareOptions, progress: Progress | None) -> Comparison:
    systems = next(iter(matrices.values())).systems
    if how.papers:
        return _as_papers(matrices, how)
    if how.sequential:
        return Comparison(matrices, sequences=sequences_of(matrices, how), shown=rows_shown(how), places=how.places)
    how.refuse("a comparison that is not sequential", "arrival")
    if how.test == BAYES.name:
        return Comparison(matrices, posteriors=posteriors_of(matrices, how), shown=rows_shown(how), places=how.places)
    if how.factors is not None:
        how.refuse("factors", *_NOT_OF_FACTORS)
        compared = {name: _factorial(matrix, how, how.factors) for name, matrix in matrices.items()}
        return Comparison(matrices, factorial=compared, places=how.places)
    if how.contrasts:
        return _by_contrasts(matrices, how, progress)
    is_pair = len(systems) == 2 and how.family == "each" and not (how.procedure or how.correction or how.groups)
    return _two(matrices, how) if is_pair else _several(matrices, how, progress)


def _check_weights(matrices: Mapping[str, ScoreMatrix], how: CompareOptions) -> None:
    """Refuses weights where numbers would not know of them."""
    if any(matrix.weights is not None for matrix in matrices.values()):
        how.refuse("weights", "papers", "sequential", "groups", "correction", "family")
        if how.test == BAYES.name or (how.procedure or "maxt") != "maxt":
            raise UsageError(f"weights: have no meaning with {how.test or how.procedure}", "maxt has them")


def _as_papers(matrices: Mapping[str, ScoreMatrix], how: CompareOptions) -> Comparison:
    of_others = ("procedure", "correction", "groups", "contrasts", "baseline", "test", "chart", "family", "pairs")
    how.refuse("papers", "interval", "margin", "most", "sequential", "arrival", *of_others, *OF_TABLES)
    same = dict(zip(matrices, aligned(list(matrices.values())), strict=True))
    return Comparison(same, papers=paper_rows(same), places=how.places)


def _two(matrices: Mapping[str, ScoreMatrix], how: CompareOptions) -> Comparison:
    how.refuse("two systems", "pairs")
    how.refuse_charts(CHARTS_OF_SYSTEMS, "two systems", CHARTS_OF_PAIRS)
    one, other = next(iter(matrices.values())).systems
    a, b = (one, other) if how.baseline == other else (other, one)
    found = {
        name: compare_systems(
            matrix,
            a,
            b,
            test=how.test,
            interval=how.interval,
            alpha=how.alpha,
            draws=how.draws,
            seed=how.seed,
            margin=how.margin,
            most=how.most,
        )
        for name, matrix in matrices.items()
    }
    return Comparison(
        matrices, found, charts=how.chart, places=how.places, only=how.only, marks=how.marks, sort=how.sort
    )


#: What has no meaning where two factors of systems are looked at.
_NOT_OF_FACTORS = (
    *("baseline", "procedure", "test", "interval", "correction", "family", "margin", "groups", "contrasts", "pairs"),
    *("chart", "most", *OF_TABLES),
)


def _factorial(matrix: ScoreMatrix, how: CompareOptions, factors: Mapping[str, Mapping[str, str]]) -> FactorialResult:
    for system in dict.fromkeys(system for levels in factors.values() for system in levels):
        check_known(system, matrix.systems, "factors")
    return compare_factors(
        matrix.values,
        matrix.systems,
        factors,
        measure=matrix.measure,
        better=matrix.better,
        alpha=how.alpha,
        draws=how.draws,
        seed=how.seed,
        unit=matrix.unit,
        left_out=len(matrix.left_out),
    )


def _by_contrasts(matrices: Mapping[str, ScoreMatrix], how: CompareOptions, progress: Progress | None) -> Comparison:
    """Each side of a contrast is a system or a mean of some, query by query; then they are systems like others."""
    how.refuse("contrasts", "baseline", "procedure", "groups", "pairs", "marks")
    how.refuse_charts((*CHARTS_OF_PAIRS, "critical", "p"), "contrasts", ("leaderboard",))
    made, named = contrasted(matrices, how.contrasts)
    return _several(made, replace(how, contrasts=()), progress, named)


def _several(
    matrices: Mapping[str, ScoreMatrix],
    how: CompareOptions,
    progress: Progress | None,
    named: tuple[tuple[str, str], ...] = (),
) -> Comparison:
    how.refuse("several systems", "interval", "most")
    how.refuse_charts(CHARTS_OF_PAIRS, "several systems", CHARTS_OF_SYSTEMS)
    plan = SystemsPlan(
        how.procedure or "maxt",
        how.baseline,
        how.test,
        how.correction,
        how.family,
        how.alpha,
        how.draws,
        how.seed,
        how.threads,
        how.margin,
        named,
    )
    systems, groups = next(iter(matrices.values())).systems, how.groups
    if groups is not None:
        check_groups(groups, systems)
    if how.family == "all":
        compared = dict(zip(matrices, aligned(list(matrices.values())), strict=True))
    else:
        compared = {name: matrix.times_weights() for name, matrix in matrices.items()}
    several = compare_several(compared, plan, progress)
    _check_single(how.chart, several)
    return Comparison(
        compared,
        systems=several,
        groups={} if groups is None else {name: grouped(matrix, groups) for name, matrix in matrices.items()},
        members=groups or {},
        family=how.family,
        shown=named or shown_pairs(how.pairs, how.baseline if plan.is_of_the_pool else None, systems),
        charts=how.chart or ("leaderboard",),
        places=how.places,
        only=how.only,
        marks=how.marks,
        sort=how.sort,
    )


def compare_systems(scores: ScoreMatrix, a: str, b: str, **options: Any) -> PairResult:
    """Compares two systems of a matrix; b is the baseline. ``options`` are those of a plan
    (:class:`gainful.stats.samples.PairPlan`).

    >>> matrix = ScoreMatrix.of("P@5", {"new": [0.6, 0.4, 0.8], "old": [0.2, 0.4, 0.4]})
    >>> found = compare_systems(matrix, "new", "old")
    >>> found.names, found.measure, found.wins, found.ties
    (('new', 'old'), 'P@5', 2, 1)
    """
    return compare_pair(scores, a, b, PairPlan(**options))


def _check_same_systems(matrices: Mapping[str, ScoreMatrix]) -> None:
    first, *others = matrices.values()
    for other in others:
        only = sorted(set(first.systems).symmetric_difference(other.systems))
        if only:
            raise InputError(
                f"{other.origin}: expected the same systems as {first.origin} has, "
                f"found '{printable(only[0])}' in one of them only"
            )


def _check_single(charts: Sequence[str], found: Mapping[str, SystemsResult]) -> None:
    """Bars over systems that are not significantly different are true only where one number decides."""
    if "critical" in charts:
        for result in found.values():
            if not result.is_single_threshold:
                raise UsageError(
                    "chart: 'critical' needs a procedure with a single threshold for all pairs, found "
                    f"{result.family.correction}" + (" against a baseline" if result.family.baseline else ""),
                    "these are maxt, tukey, rthsd and friedman, without a baseline; leaderboard and p show any",
                )
