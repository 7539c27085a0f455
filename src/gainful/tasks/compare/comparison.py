"""Is the difference real? Two systems, or several, by one measure or several, as something to print and to draw."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from gainful.data.collection import require_runs
from gainful.data.qrels import QrelsLike
from gainful.data.run import RunsLike
from gainful.errors import InputError, UsageError, warns
from gainful.evaluation.evaluate import MeasuresLike, evaluate_runs
from gainful.evaluation.notices import notices
from gainful.evaluation.results import Evaluation
from gainful.evaluation.score_matrix import ScoreMatrix, aligned, bounds_of, matrices_of, matrix_notices
from gainful.kernel.arrays import Floats
from gainful.kernel.parallel import Progress
from gainful.measures.base import Measure
from gainful.notation import choose, count_of, nearest, printable
from gainful.policy import Policy
from gainful.render import Page, Showable
from gainful.stats.bayes import Posterior, posterior
from gainful.stats.catalogues import BAYES
from gainful.stats.paired import PairResult, compare_pair
from gainful.stats.procedures import PaperRow, SystemsPlan, SystemsResult, compare_several, paper_rows
from gainful.stats.rank_tests import GroupComparison, compare_groups
from gainful.stats.sequential import ConfidenceSequence, confidence_sequence
from gainful.tasks.compare.compare_options import (
    CHARTS,
    CHARTS_OF_PAIRS,
    CHARTS_OF_SYSTEMS,
    DEFAULT_MEASURES,
    MARKS,
    ORDERS,
    TABLES,
    CompareOptions,
)


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Showable):
    """What :func:`compare` found, by measure; the first measure is the primary one.

    ``pairs`` are results of two systems, ``systems`` those of several, ``posteriors`` those of pairs whose probability
    was asked for, ``sequences`` those of pairs that were watched query by query: one of them is there. ``papers`` are
    the rows of the papers' table, ``groups`` the comparisons of groups of systems that were named. ``shown`` are the
    pairs that people want to see, all of them if None; ``charts`` what is drawn. ``only`` is the one table that is
    wanted, ``marks`` what stands beside means that differ, ``sort`` the order of systems. ``notices`` say what is legal
    but suspicious of the scores.
    """

    scores: Mapping[str, ScoreMatrix]
    pairs: Mapping[str, PairResult]
    systems: Mapping[str, SystemsResult]
    papers: tuple[PaperRow, ...] = ()
    posteriors: Mapping[str, tuple[Posterior, ...]] = field(default_factory=dict)
    sequences: Mapping[str, tuple[ConfidenceSequence, ...]] = field(default_factory=dict)
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

    def __repr__(self) -> str:
        results = {**self.pairs, **self.systems, **self.posteriors, **self.sequences}
        what = ", ".join(results) or ", ".join(row.measure for row in self.papers)
        systems = next(iter(self.scores.values())).systems
        return f"<Comparison of {count_of(len(systems), 'system')} by {what}>"

    @property
    def primary(self) -> str:
        """The first measure."""
        return next(iter(self.scores))

    @property
    def is_pair(self) -> bool:
        """Whether two systems were compared as two."""
        return bool(self.pairs)

    @cached_property
    def tests(self) -> int:
        """How many tests of pairs were made in all."""
        return len(self.pairs) + sum(result.family.p.size for result in self.systems.values())

    def page(self) -> Page:
        if self.only is not None:
            from gainful.tasks.compare.paper_table import single_table

            return single_table(self, self._whole_page())
        return self._whole_page()

    def _whole_page(self) -> Page:
        if self.papers:
            from gainful.tasks.compare.pair_page import papers_page

            return papers_page(self)
        if self.posteriors:
            from gainful.tasks.compare.belief_page import posterior_page

            return posterior_page(self)
        if self.sequences:
            from gainful.tasks.compare.sequence_page import sequence_page

            return sequence_page(self)
        if self.is_pair:
            from gainful.tasks.compare.pair_page import pair_page

            return pair_page(self)
        from gainful.tasks.compare.systems_page import systems_page

        return systems_page(self)


@warns
def compare(
    qrels: QrelsLike | ScoreMatrix | Mapping[str, ScoreMatrix] | Mapping[str, Evaluation],
    runs: RunsLike | Mapping[str, Evaluation] | MeasuresLike | None = None,
    measures: MeasuresLike | None = None,
    *,
    policy: Policy | str | None = None,
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
) -> Comparison:
    """Compares systems on the same queries: ``compare("qrels.txt", {"bm25": "bm25.run", "dense": "dense.run"}, "AP")``.

    Judgments, runs, ``measures`` and ``policy`` are as :func:`gainful.evaluate` takes them; without measures it is
    nDCG@10. Scores that exist already stand in the place of judgments and runs: what :func:`gainful.evaluate` returned
    of several runs, a :class:`gainful.ScoreMatrix`, or a dict of these by measure; ``compare(results, "AP")`` then says
    by which of their measures, else by all. The first measure is the primary one.

    Two systems: the second against the first, or against ``baseline``, by a ``test`` of
    :data:`gainful.stats.catalogues.TESTS` with an ``interval`` of ``INTERVALS`` (there, too), and within what
    ``margin`` they count as equal. More, or two with a ``procedure`` or ``correction``: all pairs, or each system
    against ``baseline``. ``test="bayes"`` gives probabilities of worse, equivalent within ``margin``, and better in
    place of p, of two systems or of several; ``sequential=True`` gives intervals that hold after every query, however
    often one looks, queries in the order of their ``arrival`` (else of their ids). ``procedure`` is one of
    :data:`gainful.stats.catalogues.PROCEDURES`, ``correction`` (of maxt and anova) one of
    :data:`gainful.stats.catalogues.CORRECTIONS`. ``papers`` makes the table of the papers instead: Friedman, then
    Conover. ``contrasts`` such as ``new = mean(a, b)`` are compared instead of pairs, as one family. ``pairs`` are the
    ones to print, None for all; ``most`` is how many queries of two systems are named that speak for either; ``chart``
    is what to draw: differences, leaderboard, critical or p. ``only`` is the one table to print (leaderboard, pairs or
    means), ``marks`` what stands beside its means (letters, daggers or beaten: the systems that this one beats),
    ``sort`` the order of its systems (best or given).

    >>> judgments = {"q1": {"d1": 1}, "q2": {"d1": 1}}
    >>> runs = {"old": {"q1": ["d2", "d1"], "q2": ["d1"]}, "new": {"q1": ["d1"], "q2": ["d1"]}}
    >>> found = compare(judgments, runs, "RR")
    >>> found.pairs["RR"].system, found.pairs["RR"].difference
    ('new', 0.25)
    >>> found = compare(ScoreMatrix.of("P@5", {"old": [0.2, 0.4, 0.4, 0.2], "new": [0.6, 0.4, 0.8, 0.4]}))
    >>> found.pairs["P@5"].wins, found.pairs["P@5"].p
    (3, 0.25)
    """
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
        papers=papers,
        sequential=sequential,
        arrival=arrival,
        pairs=pairs,
        chart=charts,
        only=only,
        marks=marks,
        sort=sort,
        most=most,
        places=places,
        threads=threads,
    )
    given = _given(qrels, runs, measures, policy, threads)
    return replace(compare_matrices(given.matrices, how), signatures=given.signatures, notices=given.notices)


def compare_matrices(
    matrices: Mapping[str, ScoreMatrix], how: CompareOptions, progress: Progress | None = None
) -> Comparison:
    """Compares the systems of some matrices, by measure: as papers do, in sequence, by posteriors, as two or more."""
    _check_same_systems(matrices)
    systems = next(iter(matrices.values())).systems
    if len(systems) < 2:
        raise UsageError(f"compare: expected at least two systems, found {len(systems)}")
    _check_known(how.baseline, systems, "baseline")
    for chart in how.chart:
        choose(chart, CHARTS, "chart")
    for value, known, what in ((how.only, TABLES, "only"), (how.marks, MARKS, "marks"), (how.sort, ORDERS, "sort")):
        if value is not None:
            choose(value, known, what)
    if how.papers:
        return _as_papers(matrices, how)
    if how.sequential:
        return _in_sequence(matrices, how)
    how.refuse("a comparison that is not sequential", "arrival")
    if how.test == BAYES.name:
        return _by_posterior(matrices, how)
    if how.contrasts:
        return _by_contrasts(matrices, how, progress)
    if len(systems) == 2 and how.family == "each" and not (how.procedure or how.correction or how.groups):
        return _two(matrices, how)
    return _several(matrices, how, progress)


def _as_papers(matrices: Mapping[str, ScoreMatrix], how: CompareOptions) -> Comparison:
    of_others = ("procedure", "correction", "groups", "contrasts", "baseline", "test", "chart", "family", "pairs")
    how.refuse("papers", "interval", "margin", "most", "sequential", "arrival", *of_others, *_OF_TABLES)
    same = dict(zip(matrices, aligned(list(matrices.values())), strict=True))
    return Comparison(same, {}, {}, paper_rows(same), places=how.places)


#: So many pairs are watched at once.
MOST_IN_SEQUENCE = 100

#: What only tests of hypotheses have.
_OF_TESTS = ("procedure", "correction", "interval", "family", "groups", "contrasts", "draws", "seed", "most", "chart")


#: What only tables of means and of pairs have.
_OF_TABLES = ("only", "marks", "sort")


def _by_posterior(matrices: Mapping[str, ScoreMatrix], how: CompareOptions) -> Comparison:
    how.refuse("the test bayes", *_OF_TESTS, *_OF_TABLES)
    if how.margin is None:
        raise UsageError(
            "margin: expected with the test bayes the difference below which systems count as equal, found none",
            "that two means are exactly equal has no probability; --margin 0.01 asks for differences that matter",
        )
    margin = how.margin
    found = {
        name: tuple(
            posterior(
                matrix.column(a),
                matrix.column(b),
                margin,
                names=(a, b),
                measure=name,
                better=matrix.better,
                alpha=how.alpha,
                left_out=len(matrix.left_out),
            )
            for a, b in _asked_pairs(matrix, how)
        )
        for name, matrix in matrices.items()
    }
    return Comparison(matrices, {}, {}, posteriors=found, shown=_rows_shown(how), places=how.places)


def _in_sequence(matrices: Mapping[str, ScoreMatrix], how: CompareOptions) -> Comparison:
    how.refuse("sequential", "test", "margin", *_OF_TESTS, *_OF_TABLES)
    found = {}
    for name, matrix in matrices.items():
        bounds, rows, pairs = bounds_of(matrix), _in_order(matrix, how.arrival), _asked_pairs(matrix, how)
        if len(pairs) > MOST_IN_SEQUENCE:
            raise UsageError(
                f"sequential: expected at most {MOST_IN_SEQUENCE} pairs, found {len(pairs):,}",
                "each makes the limits of all others wider; --baseline or --pairs says which ones matter",
            )
        found[name] = tuple(
            confidence_sequence(
                matrix.column(a)[rows],
                matrix.column(b)[rows],
                [matrix.queries[row] for row in rows],
                bounds,
                names=(a, b),
                measure=name,
                better=matrix.better,
                alpha=how.alpha,
                pairs=len(pairs),
                left_out=len(matrix.left_out),
            )
            for a, b in pairs
        )
    return Comparison(matrices, {}, {}, sequences=found, shown=_rows_shown(how), places=how.places)


def _in_order(matrix: ScoreMatrix, arrival: Sequence[str] | None) -> list[int]:
    """The rows of a matrix as their queries arrived; all of them have to be there, and more may be."""
    if arrival is None:
        return list(range(len(matrix.queries)))
    places = {query: place for place, query in enumerate(dict.fromkeys(arrival))}
    for query in matrix.queries:
        if query not in places:
            raise InputError(
                f"arrival: expected every query of {matrix.origin}, found no '{printable(query)}'",
                "a file has a line a query, its id first, as judgments do, too",
            )
    return sorted(range(len(matrix.queries)), key=lambda row: places[matrix.queries[row]])


def _asked_pairs(matrix: ScoreMatrix, how: CompareOptions) -> list[tuple[str, str]]:
    """The pairs named, each system and the baseline, or all; of two systems the first is the baseline."""
    if how.pairs:
        if how.baseline is not None:
            raise UsageError("pairs: expected pairs or a baseline, found both")
        return list(_shown(how.pairs, None, matrix.systems) or ())
    sign = -1 if matrix.better == "higher" else 1
    best_first = [matrix.systems[i] for i in (sign * matrix.means).argsort(kind="stable").tolist()]
    baseline = matrix.systems[0] if len(matrix.systems) == 2 and how.baseline is None else how.baseline
    if baseline is None:
        return list(combinations(best_first, 2))
    return [(system, baseline) for system in best_first if system != baseline]


def _rows_shown(how: CompareOptions) -> tuple[tuple[str, str], ...] | None:
    """None, all rows, where pairs were asked for; else the page decides."""
    return None if how.pairs is None or how.pairs else ()


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
        matrices, found, {}, charts=how.chart, places=how.places, only=how.only, marks=how.marks, sort=how.sort
    )


def _by_contrasts(matrices: Mapping[str, ScoreMatrix], how: CompareOptions, progress: Progress | None) -> Comparison:
    """Each side of a contrast is a system or a mean of some, query by query; then they are systems like others."""
    how.refuse("contrasts", "baseline", "procedure", "groups", "pairs", "marks")
    how.refuse_charts((*CHARTS_OF_PAIRS, "critical", "p"), "contrasts", ("leaderboard",))
    sides = [read_contrast(text, next(iter(matrices.values())).systems) for text in how.contrasts]
    once = [frozenset(map(side_text, contrast)) for contrast in sides]
    twice = next((how.contrasts[i] for i, both in enumerate(once) if both in once[:i]), None)
    if twice is not None:
        raise UsageError(f"contrast: expected every contrast once, found '{printable(twice)}' again")
    columns = {side_text(side): side for contrast in sides for side in contrast}
    made = {
        name: replace(
            matrix,
            systems=tuple(columns),
            values=np.column_stack([_mean_of([matrix.column(system) for system in side]) for side in columns.values()]),
        )
        for name, matrix in matrices.items()
    }
    named = tuple((side_text(one), side_text(other)) for one, other in sides)
    return _several(made, replace(how, contrasts=()), progress, named)


def _mean_of(columns: Sequence[Floats]) -> Floats:
    """The mean of some systems' scores, query by query, correctly rounded."""
    return np.array([math.fsum(scores) / len(columns) for scores in zip(*columns, strict=True)])


def side_text(side: Sequence[str]) -> str:
    """A side of a contrast as people write it."""
    return side[0] if len(side) == 1 else f"mean({', '.join(side)})"


def read_contrast(text: str, systems: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The systems on either side of a contrast such as ``new = mean(a, b)``.

    >>> read_contrast("new = mean(a, b)", ["a", "b", "new"])
    (('new',), ('a', 'b'))
    """
    one, equals, other = text.partition("=")
    if not equals:
        raise UsageError(f"contrast: expected something like 'new = mean(a, b)', found '{printable(text)}'")
    sides = tuple(_side_of(part.strip()) for part in (one, other))
    for system in (*sides[0], *sides[1]):
        _check_known(system, systems, "contrast")
    both = set(sides[0]) & set(sides[1])
    if both:
        raise UsageError(f"contrast: expected other systems on either side, found '{printable(min(both))}' on both")
    return sides[0], sides[1]


def _side_of(text: str) -> tuple[str, ...]:
    if not (text.startswith("mean(") and text.endswith(")")):
        return (text,)
    members = tuple(part.strip() for part in text[5:-1].split(","))
    if not all(members):
        raise UsageError(f"contrast: expected systems like mean(a, b), found '{printable(text)}'")
    if len(set(members)) < len(members):
        raise UsageError(f"contrast: expected every system once, found one twice in '{printable(text)}'")
    return members


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
        compared = dict(matrices)
    several = compare_several(compared, plan, progress)
    _check_single(how.chart, several)
    return Comparison(
        compared,
        {},
        several,
        groups={} if groups is None else {name: _grouped(matrix, groups) for name, matrix in matrices.items()},
        members=groups or {},
        family=how.family,
        shown=named or _shown(how.pairs, how.baseline if plan.is_of_the_pool else None, systems),
        charts=how.chart or ("leaderboard",),
        places=how.places,
        only=how.only,
        marks=how.marks,
        sort=how.sort,
    )


def compare_systems(scores: ScoreMatrix, a: str, b: str, **options: Any) -> PairResult:
    """Compares two systems of a matrix; b is the baseline. ``options`` are those of
    :func:`gainful.stats.paired.compare_pair`.

    >>> matrix = ScoreMatrix.of("P@5", {"new": [0.6, 0.4, 0.8], "old": [0.2, 0.4, 0.4]})
    >>> found = compare_systems(matrix, "new", "old")
    >>> found.names, found.measure, found.wins, found.ties
    (('new', 'old'), 'P@5', 2, 1)
    """
    return compare_pair(
        scores.column(a),
        scores.column(b),
        scores.queries,
        names=(a, b),
        measure=scores.measure,
        better=scores.better,
        left_out=len(scores.left_out),
        **options,
    )


class _Given(NamedTuple):
    """Matrices by measure, those wanted, in the order wanted; the signature of runs, and what there is to notice."""

    matrices: dict[str, ScoreMatrix]
    signatures: tuple[str, ...]
    notices: tuple[str, ...]

    @classmethod
    def of_evaluations(
        cls, evaluations: Mapping[str, Evaluation], measures: MeasuresLike | None, noticed: Sequence[str] = ()
    ) -> _Given:
        matrices = matrices_of(evaluations, None if measures is None else _listed(measures))
        signature = next(iter(evaluations.values())).signature().short()
        return cls(matrices, (signature,), (*noticed, *matrix_notices(matrices)))


def _given(
    qrels: QrelsLike | ScoreMatrix | Mapping[str, ScoreMatrix] | Mapping[str, Evaluation],
    runs: RunsLike | Mapping[str, Evaluation] | MeasuresLike | None,
    measures: MeasuresLike | None,
    policy: Policy | str | None,
    threads: int | None,
) -> _Given:
    """Scores to compare from whatever was given. What is suspicious of evaluations was said when they were made."""
    scores: Any = runs if _holds(runs, Evaluation) else qrels
    is_evaluations, is_matrix = _holds(scores, Evaluation), isinstance(scores, ScoreMatrix)
    if is_evaluations or is_matrix or _holds(scores, ScoreMatrix):
        if policy is not None:
            raise UsageError("policy: has no meaning with scores that exist already")
        if scores is qrels and runs is not None:
            if isinstance(runs, Mapping) or measures is not None:
                raise UsageError("runs: expected none beside scores that exist already, found some")
            measures = runs
        if is_evaluations:
            return _Given.of_evaluations(scores, measures)
        matrices = _wanted({scores.measure: scores} if is_matrix else scores, measures)
        return _Given(matrices, (), tuple(matrix_notices(matrices)))
    if runs is None:
        raise UsageError(
            f"compare: expected judgments and runs, or scores, found only {type(qrels).__name__}",
            'compare(qrels, {"old": run, "new": run}, "AP"), or evaluations by name, or a ScoreMatrix',
        )
    require_runs(runs)
    assert isinstance(runs, Mapping)  # so mypy knows it, too
    wanted = _listed(DEFAULT_MEASURES if measures is None else measures)
    evaluations = evaluate_runs(qrels, runs, wanted, policy=policy, threads=threads)
    return _Given.of_evaluations(evaluations, wanted, notices(evaluations.values()))


def _holds(value: object, kind: type) -> bool:
    """Whether a value is a dict of such things."""
    return isinstance(value, Mapping) and bool(value) and all(isinstance(each, kind) for each in value.values())


def _wanted(found: Mapping[str, ScoreMatrix], measures: MeasuresLike | None) -> dict[str, ScoreMatrix]:
    names = list(found) if measures is None else [str(measure) for measure in _listed(measures)]
    for name in names:
        if name not in found:
            raise UsageError(f"measures: no scores by '{printable(name)}'; there are {', '.join(found)}")
    return {name: found[name] for name in names}


def _listed(measures: MeasuresLike) -> list[str | Measure]:
    return [measures] if isinstance(measures, (str, Measure)) else list(measures)


def _check_same_systems(matrices: Mapping[str, ScoreMatrix]) -> None:
    first, *others = matrices.values()
    for other in others:
        only = sorted(set(first.systems).symmetric_difference(other.systems))
        if only:
            raise InputError(
                f"{other.origin}: expected the same systems as {first.origin} has, "
                f"found '{printable(only[0])}' in one of them only"
            )


def _check_known(system: str | None, systems: Sequence[str], what: str) -> None:
    if system is not None and system not in systems:
        raise UsageError(
            f"{what}: no system is called '{printable(system)}'; there are {', '.join(map(printable, systems[:20]))}",
            nearest(system, systems),
        )


def _check_single(charts: Sequence[str], found: Mapping[str, SystemsResult]) -> None:
    """Bars over systems that are not told apart are true only where one number decides."""
    if "critical" in charts:
        for result in found.values():
            if not result.is_single_threshold:
                raise UsageError(
                    "chart: 'critical' needs a procedure with a single threshold for all pairs, found "
                    f"{result.family.correction}" + (" against a baseline" if result.family.baseline else ""),
                    "these are maxt, tukey, rthsd and friedman, without a baseline; leaderboard and p show any",
                )


def _shown(
    pairs: Sequence[tuple[str, str]] | None, of: str | None, systems: Sequence[str]
) -> tuple[tuple[str, str], ...] | None:
    if pairs is None:
        return None
    for pair in pairs:
        for system in pair:
            _check_known(system, systems, "pairs")
        if pair[0] == pair[1]:
            raise UsageError(f"pairs: expected two systems, found '{printable(pair[0])}' twice")
    if of is not None and not pairs:
        return tuple((system, of) for system in systems if system != of)
    return tuple(pairs)


def _grouped(matrix: ScoreMatrix, groups: Mapping[str, Sequence[str]]) -> GroupComparison:
    means = dict(zip(matrix.systems, matrix.means.tolist(), strict=True))
    return compare_groups({name: [means[member] for member in members] for name, members in groups.items()})


def read_groups(texts: Sequence[str], systems: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Groups of systems from ``NAME=a,b,c`` texts; each system must be there, and in one group only.

    >>> read_groups(["old=a,b", "new=c"], ["a", "b", "c"])
    {'old': ('a', 'b'), 'new': ('c',)}
    """
    found: dict[str, tuple[str, ...]] = {}
    for text in texts:
        name, equals, members = text.partition("=")
        parts = tuple(part.strip() for part in members.split(","))
        if not equals or not name.strip() or not all(parts):
            raise UsageError(f"groups: expected NAME=SYSTEM,SYSTEM,..., found '{printable(text)}'")
        if name.strip() in found:
            raise UsageError(f"groups: expected every name once, found '{printable(name.strip())}' twice")
        found[name.strip()] = parts
    check_groups(found, systems)
    return found


def check_groups(groups: Mapping[str, Sequence[str]], systems: Sequence[str]) -> None:
    """Refuses groups of unknown systems, and systems that are in two of them."""
    if len(groups) < 2:
        raise UsageError(f"groups: expected at least 2, found {len(groups)}")
    seen: set[str] = set()
    for members in groups.values():
        for member in members:
            if member not in systems:
                raise UsageError(f"groups: unknown system '{printable(member)}'", nearest(member, systems))
            if member in seen:
                raise UsageError(f"groups: expected every system in one group, found '{printable(member)}' in two")
            seen.add(member)
