"""Detectable differences, and the number of queries needed, from scores or from a standard deviation.

There is deliberately no observed power, because it only restates p (Hoenig & Heisey 2001).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gainful.errors import InputError, UsageError, for_asker, warns
from gainful.evaluation.scores import ScoreReport, Scores, check_size
from gainful.frozen import dataclass, replace
from gainful.notation import choose, number_text, plural_of, printable, units
from gainful.pages.charts import Axis, Chart, Line, Plot, Rule, shortened
from gainful.pages.page import Table, head, values_of
from gainful.question import question
from gainful.render import Page
from gainful.stats.catalogues import VARIANCES
from gainful.stats.power import AnovaF, PairedT, TukeyHsd, expected_width, queries_for_interval, variance_of_difference
from gainful.stats.repeatable import check_alpha
from gainful.tasks.score_questions import PowerOptions


@dataclass(frozen=True)
class Basis:
    """The standard deviation of per-query differences between two systems, and its source.

    ``others`` are the standard deviations by all kinds of variance; ``queries`` and ``systems`` describe the scores,
    None and 2 without scores.
    """

    measure: str
    kind: str
    sd: float
    pair: tuple[str, str] | None = None
    queries: int | None = None
    systems: int = 2
    others: Mapping[str, float] | None = None

    @property
    def is_paired(self) -> bool:
        """Whether the variance excludes the difficulty of queries."""
        return self.kind != "sakai2016"

    @property
    def origin(self) -> str:
        if self.pair is None:
            return "as given" if self.kind == "given" else f"of {self.systems} systems, {self.kind}"
        of = f"of {' and '.join(printable(name, 40) for name in self.pair)}"
        return of if self.kind == "pair" else f"{of}, {self.kind}"


class Shown(NamedTuple):
    """The differences that a number of queries can detect; None if there are only two systems."""

    queries: int
    difference: float  # between two systems
    gap: float | None  # between the best and the worst of several systems
    width: float  # expected, of the confidence interval of a difference
    tukey: float | None  # difference between two of several systems by Tukey's HSD


class Needed(NamedTuple):
    """The queries needed to detect a difference and their power, and the power of one query less (None below 2).

    The analysis of variance and Tukey's HSD are for several systems; None for two.
    """

    difference: float
    queries: int
    power: float
    power_before: float | None
    anova_queries: int | None
    anova_power: float | None
    tukey_queries: int | None
    tukey_power: float | None


class Width(NamedTuple):
    """The queries needed for an interval of some expected width."""

    width: float
    queries: int
    expected: float


@dataclass(frozen=True, eq=False, repr=False)
class PowerReport(ScoreReport):
    """Detectable differences and queries needed, computed from the ``bases``, one per measure."""

    asked: PowerOptions
    bases: tuple[Basis, ...]

    def page(self, places: int = 4) -> Page:
        """Return sentences, tables of detectable differences, queries needed and variances, and power curves."""
        sentences = [" ".join(_sentences(self, basis, places)) for basis in self.bases]
        parts: list[Table | Chart | str] = [*filter(None, sentences), _NOT_OBSERVED]
        parts += [table for table in _power_tables(self, places) if table.rows]
        for basis in self.bases[:_MOST_PLOTS]:
            parts += power_plots(self, basis)
        bases = []
        for basis in self.bases:
            known = {"measure": basis.measure or None, **values_of(basis, "variance ← kind | sd | pair | queries")}
            bases.append(known | {"pair": basis.pair and list(basis.pair), "systems": self.several(basis) or 2})
        return self.page_of("power", parts, values_of(self.asked, "power | alpha") | {"bases": bases})

    def sizes_of(self, basis: Basis) -> tuple[int, ...]:
        """Return the numbers of queries to plan for, by default that of the scores."""
        return tuple(self.asked.queries) or (() if basis.queries is None else (basis.queries,))

    def several(self, basis: Basis) -> int | None:
        """Return the number of systems of an analysis of variance; None for two, which a t test compares."""
        wanted = self.asked.systems or (2 if basis.pair else basis.systems)
        return wanted if wanted > 2 else None

    def _of_several(self, basis: Basis) -> tuple[AnovaF, TukeyHsd] | None:
        many = self.several(basis)
        if many is None:
            return None
        how = (basis.sd, self.asked.alpha, many, basis.is_paired)
        return AnovaF(*how), TukeyHsd(*how)

    def shown(self, basis: Basis) -> tuple[Shown, ...]:
        """Return the detectable differences for each number of queries."""
        power, alpha = self.asked.power, self.asked.alpha
        found = []
        for n in self.sizes_of(basis):
            difference = PairedT(basis.sd, alpha).detectable(n, power)
            gap, tukey = [design.detectable(n, power) for design in self._of_several(basis) or ()] or (None, None)
            found.append(Shown(n, difference, gap, expected_width(n, basis.sd, 1 - alpha), tukey))
        return tuple(found)

    def needed(self, basis: Basis) -> tuple[Needed, ...]:
        """Return the queries needed to detect each difference."""
        power, found = self.asked.power, []
        for difference in self.asked.difference:
            n = PairedT(basis.sd, self.asked.alpha).queries_needed(difference, power)
            before = self.power_at(basis, n - 1, difference) if n > 2 else None
            of_several: list[Any] = []
            for design in self._of_several(basis) or ():
                queries = design.queries_needed(difference, power)
                of_several += [queries, design.power(queries, difference)]
            four = of_several or [None] * 4
            found.append(Needed(difference, n, self.power_at(basis, n, difference), before, *four))
        return tuple(found)

    def power_at(self, basis: Basis, queries: int, difference: float) -> float:
        """Return the power of a number of queries; for a difference of 0, the significance level."""
        return PairedT(basis.sd, self.asked.alpha).power(queries, difference) if difference else self.asked.alpha

    def widths(self, basis: Basis) -> tuple[Width, ...]:
        """Return the queries needed for intervals of each expected width."""
        found = []
        for width in self.asked.width:
            n = queries_for_interval(width, basis.sd, 1 - self.asked.alpha)
            found.append(Width(width, n, expected_width(n, basis.sd, 1 - self.asked.alpha)))
        return tuple(found)


@warns
@question(PowerOptions)
def assess_power(asked: PowerOptions) -> PowerReport:
    """Estimate detectable differences, and the number of queries needed for a difference or an interval.

    The variance of per-query differences is that of a ``pair`` of systems (the default for two systems), of all systems
    (``variance="residual"``, or ``"sakai2016"`` for designs without known pairs), or given as ``sd`` or as a number
    ``variance``. ``queries`` defaults to the number in the scores. ``systems`` is the number of systems for analysis of
    variance and Tukey's HSD. ``difference`` is one or more differences that would matter, not the observed one.

    >>> report = assess_power(sd=0.194848, queries=[50], difference=[0.05])
    >>> [basis] = report.bases
    >>> round(report.shown(basis)[0].difference, 4), report.needed(basis)[0].queries
    (0.0788, 122)
    """
    check_alpha(asked.alpha)
    if not asked.alpha < asked.power < 1:
        raise UsageError(f"power: expected a number between alpha ({asked.alpha:g}) and 1, found {asked.power:g}")
    sd, given_by = asked.sd, "sd"
    if not (asked.variance is None or isinstance(asked.variance, str)):
        if sd is not None:
            raise UsageError("sd cannot be used with a variance")
        sd, given_by = math.sqrt(asked.variance) if asked.variance > 0 else asked.variance, "variance"
    given = () if sd is None else (sd,)
    for what, values in (("difference", asked.difference), ("width", asked.width), (given_by, given)):
        for value in values:
            if not 0 < value < math.inf:
                raise UsageError(f"{what}: expected a number above 0, found {number_text(value)}")
    for what, counts in (("queries", asked.queries), ("systems", () if asked.systems is None else (asked.systems,))):
        for count in counts:
            if count < 2:
                raise UsageError(f"{what}: expected at least 2, found {count}")
    if asked.scores is None:
        if sd is None:
            hint = for_asker("gainful power QRELS RUN RUN, --from FILE, or --sd 0.2", "such as sd=0.2")
            raise UsageError("power: scores or a standard deviation are required", hint)
        if asked.pair:
            raise UsageError("pair requires scores")
        if not (asked.queries or asked.difference or asked.width):
            hint = "--queries N reports what N queries detect, --difference D and --width W the queries needed"
            raise UsageError("power: queries, difference or width is required", hint)
        return PowerReport(Scores(), asked, (Basis("", "given", sd),))
    scores = Scores.of(asked.scores)
    if sd is not None:
        where = f", found {scores.files[0]}" if scores.files else ""
        raise UsageError(f"{given_by} cannot be used with scores{where}")
    if asked.pair and asked.pair[0] == asked.pair[1]:
        raise UsageError(f"pair: expected two systems, found '{asked.pair[0]}' twice")
    kind = None if asked.variance is None else choose(asked.variance, VARIANCES, "variance")
    bases, notices = [], list(scores.notices)
    for name, every in scores.matrices.items():
        matrix = every.select(asked.pair) if asked.pair else every
        check_size([matrix], queries=2)
        two = (matrix.systems[0], matrix.systems[1]) if len(matrix.systems) == 2 else None
        if kind == "pair" and two is None:
            found = len(matrix.systems)
            raise UsageError(f"variance: expected two systems for 'pair', found {found}", "--pair A,B names two")
        kinds = [each for each in VARIANCES if each != "pair" or two]
        sds = {each: math.sqrt(variance_of_difference(matrix.values, each)) for each in kinds}
        chosen = kind or ("pair" if two else "residual")
        if not sds[chosen] > 0:
            alike = f"all systems differ by the same on every {matrix.unit}"
            raise InputError(f"{matrix.origin}: {alike}", "planning requires differences that vary")
        bases.append(Basis(name, chosen, sds[chosen], two, len(matrix.queries), len(matrix.systems), sds))
        # Warn of observed power, which only restates p.
        lead = float(matrix.means.max() - matrix.means.min())
        notices += [
            f"{name}: {number_text(difference)} is the observed difference, at which power only restates p; use a "
            "difference that would matter, chosen without looking at the scores"
            for difference in asked.difference
            if two and lead and math.isclose(difference, lead, rel_tol=2e-3)
        ]
    return PowerReport(replace(scores, notices=tuple(notices)), asked, tuple(bases))


_POINTS, _MOST_LINES = 60, 6
_FAR_APART = 4  # ratio of numbers of queries above which the axis is logarithmic


def power_plots(report: PowerReport, basis: Basis) -> Iterator[Plot]:
    """Plot power by number of queries, one line per difference, and by true difference, one line per number."""
    asked, queries, sizes = report.asked, plural_of(report.unit), report.sizes_of(basis)
    of = f", {shortened(basis.measure)}" if basis.measure else ""
    wanted = Rule(f"power {number_text(asked.power)}", y=asked.power)
    caption = f"Paired t test at {number_text(asked.alpha)}; SD of differences {basis.sd:.4f} ({basis.kind})."
    needed = report.needed(basis)[:_MOST_LINES]
    if needed:
        most = max(each.queries for each in needed)
        is_log = most > _FAR_APART * min(each.queries for each in needed)
        end = max([1.5 * most, *(1.1 * n for n in sizes if n <= 4 * most)])
        steps = [i / (_POINTS - 1) for i in range(_POINTS)]
        spread = [2 * (end / 2) ** step if is_log else 2 + (end - 2) * step for step in steps]
        numbers = sorted({math.ceil(value - 1e-9) for value in spread})
        wholes, given = tuple(map(float, numbers)), [each.difference for each in needed]
        lines = tuple(
            Line(f"difference {number_text(each)}", wholes, tuple(report.power_at(basis, n, each) for n in numbers))
            for each in given
        )
        # Short labels, because longer ones would overlap the line of the target power.
        marks = (Rule(f"n = {n:,}", x=float(n)) for n in sizes if n <= numbers[-1])
        x = Axis(queries, float(numbers[0]), float(numbers[-1]), is_log=is_log)
        title = f"Power by number of {queries}{of}"
        yield Plot(title, x, Axis("power", 0.0, 1.0), lines, rules=(wanted, *marks), caption=caption)
    if sizes:
        sizes = sizes[:_MOST_LINES] if len(sizes) > 1 else (sizes[0], 2 * sizes[0], 4 * sizes[0])
        shown = max(found.difference for found in report.shown(basis))
        end = max([2 * shown, *(1.1 * each for each in asked.difference if each <= 4 * shown)])
        places = tuple(end * i / _POINTS for i in range(_POINTS + 1))
        lines = tuple(
            Line(f"{n:,} {queries}", places, tuple(report.power_at(basis, n, each) for each in places)) for n in sizes
        )
        x = Axis("true difference", 0.0, end)
        title = f"Power by true difference{of}"
        yield Plot(title, x, Axis("power", 0.0, 1.0), lines, rules=(wanted,), caption=caption)


_MOST_PLOTS = 4
_NOT_OBSERVED = (
    "Choose a difference that would matter, without looking at the scores. Power at the observed difference only "
    "restates p (Hoenig & Heisey 2001) and is not reported."
)


def _sentences(report: PowerReport, basis: Basis, places: int) -> Iterator[str]:
    of = f"{basis.measure}: " if basis.measure else ""
    level = f"{100 * report.asked.power:g}% power, {100 * report.asked.alpha:g}% level"
    many = report.several(basis)
    test = f" ({level}, paired t test, SD of differences {basis.sd:.{places}f} {basis.origin})"
    for found in report.shown(basis):
        yield (
            f"{of}{units(found.queries, report.unit)} can detect a difference of {found.difference:.{places}f} or more "
            f"between two systems{test}."
        )
        if found.gap is not None:
            yield (
                f"Among {many} systems, they can detect a gap of {found.gap:.{places}f} between best and worst "
                f"(analysis of variance), and a difference of {found.tukey:.{places}f} between two of them (Tukey HSD)."
            )
        of = test = ""
    sd = "" if not test else f" with an SD of {basis.sd:.{places}f} {basis.origin}"
    for need in report.needed(basis):
        before = "" if need.power_before is None else f"; with {need.queries - 1:,}, {100 * need.power_before:.2f}%"
        anova = ""
        if need.anova_queries is not None:
            anova = f", {need.anova_queries:,} as a gap between best and worst of {many} systems"
            anova += f", {need.tukey_queries:,} between two of them by Tukey HSD"
        queries = units(need.queries, report.unit)
        yield (
            f"{of}A difference of {number_text(need.difference)} needs {queries}{sd} "
            f"(power {100 * need.power:.2f}%{before}){anova}."
        )
        of = sd = ""
    for wide in report.widths(basis):
        yield (
            f"{of}A {100 * (1 - report.asked.alpha):g}% CI of width {number_text(wide.width)} needs "
            f"{units(wide.queries, report.unit)}{sd}."
        )
        of = sd = ""


def _power_tables(report: PowerReport, places: int) -> Iterator[Table]:
    """Yield tables of detectable differences, of queries needed for differences and widths, and of variances."""
    number, queries = f".{places} ← 2", plural_of(report.unit)
    power, level, interval = (100 * each for each in (report.asked.power, report.asked.alpha, 1 - report.asked.alpha))
    has_several = any(map(report.several, report.bases))
    design = "two-way" if any(basis.is_paired for basis in report.bases) else "one-way"
    gap = f"between best and worst of these systems, the rest in the middle; {design} ANOVA (Nagata; Sakai 2016)"
    tukey = "tukey: between two of these systems, whatever the others do; power of a pair by Tukey HSD"

    def of_bases(columns: list[str], find: Callable[[Basis], Sequence[Any]], title: str, *notes: str) -> Table:
        """Return a table of what ``find`` returns (2) for each basis, with its measure (0) and systems (1)."""
        named = ["measure ← 0"] if any(basis.measure for basis in report.bases) else []
        rows = [(basis.measure, report.several(basis), found) for basis in report.bases for found in find(basis)]
        return Table.of(head([*named, *columns]), rows, title=title, notes=notes)

    shown = [f"{queries} # ← 2.queries", f"difference {number}.difference"]
    needed = [f"difference {number}.difference", f"{queries} # ← 2.queries", "power %2 ← 2.power"]
    needed.append("one less %2 ← 2.power_before")
    if has_several:
        shown += ["systems # ← 1", f"gap {number}.gap", f"tukey {number}.tukey"]
        needed += ["systems # ← 1", f"anova {queries} # ← 2.anova_queries", "anova power %2 ← 2.anova_power"]
        needed += [f"tukey {queries} # ← 2.tukey_queries", "tukey power %2 ← 2.tukey_power"]
    yield of_bases(
        [*shown, f"interval {number}.width"],
        report.shown,
        "Detectable differences",
        f"difference: minimum detectable difference with {power:g}% power; paired t test at the {level:g}% level",
        *((f"gap: {gap}", tukey) if has_several else ()),
        f"interval: expected width of the {interval:g}% t interval of a difference, end to end",
    )
    yield of_bases(
        needed,
        report.needed,
        f"{queries.capitalize()} needed for {power:g}% power",
        f"one less: power with one {report.unit} less, which is not enough",
        *((f"anova: difference {gap}", tukey) if has_several else ()),
    )
    yield of_bases(
        [f"width {number}.width", f"{queries} # ← 2.queries", f"expected width {number}.expected"],
        report.widths,
        f"{queries.capitalize()} needed for a {interval:g}% CI of some width",
    )

    def spreads(basis: Basis) -> list[tuple[str, bool, float, float | None]]:
        """Return each kind of variance, if it was used, its SD, and the difference detectable with it."""
        first = next((found.difference for found in report.shown(basis)), None)
        return [
            (kind, kind == basis.kind, sd, None if first is None else first * (sd / basis.sd))
            for kind, sd in (basis.others or {}).items()
        ]

    kinds = [spread[:2] for basis in report.bases for spread in spreads(basis)]
    notes = [f"{kind}: {VARIANCES[kind].replace('queries', queries)}" for kind, _ in kinds]
    table = of_bases(
        ["variance ← 2.0", f"sd {number}.2", f"detectable {number}.3"],
        spreads,
        f"SD of the difference between two systems on a {report.unit}",
        *dict.fromkeys([*notes, *(["* used above"] if any(used for _, used in kinds) else [])]),
    )
    marked = frozenset((i, len(table.columns) - 2) for i, (_, used) in enumerate(kinds) if used)
    yield replace(table, marked=marked)
