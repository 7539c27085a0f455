"""Comparison of several systems on the same queries: which could be best, critical differences, and all pairs."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from operator import attrgetter
from typing import TYPE_CHECKING, ClassVar, get_args

import numpy as np

from gainful.errors import UsageError, for_asker, warns
from gainful.evaluation.score_matrix import ScoreMatrix, aligned
from gainful.evaluation.scores import Scores
from gainful.frozen import dataclass, replace
from gainful.io.sources import BLANKS, open_source, text_lines
from gainful.kernel.parallel import current_progress
from gainful.notation import count_of, listed, nearest, number_text, percent_text, plural_of, printable, units
from gainful.pages.charts import Axis, Chart, CriticalDiagram, HeatMap, IntervalRow, Intervals, Rule
from gainful.pages.page import Cell, Column, Detail, Table, head, values_of
from gainful.question import question
from gainful.render import Page
from gainful.stats import families
from gainful.stats.catalogues import MOST_FLIPPED, TESTS, Verdict
from gainful.stats.families import OF_INTERVALS, PairRecord, SystemsPlan, SystemsResult
from gainful.stats.paired_tests import PairPlan
from gainful.stats.rank_tests import GroupComparison, compare_groups
from gainful.stats.repeatable import FLIPS, settled_differences
from gainful.tasks.compare import (
    PairedComparison,
    Standing,
    check_known,
    check_pairs,
    compare_words as words,
    marks_of,
    means_table,
    paired_matrices,
)
from gainful.tasks.compare.two_systems import Segments, compare_segments, difference_plot, table_of_runs
from gainful.tasks.score_questions import CHARTS_OF_SYSTEMS, FEW_PAIRS, ShowOptions, SystemsOptions

if TYPE_CHECKING:
    from gainful.kernel.arrays import Floats

_MOST_NAMES = 6
_EFFECT = "Effect size: difference / residual SD; unadjusted noncentral-t 95% CI."


@dataclass(frozen=True, eq=False, repr=False)
class SystemsComparison(PairedComparison):
    """The comparison of several systems, by measure, with p corrected for the number of pairs.

    ``compared`` are the scores tested, ``groups`` comparisons of groups of systems, ``segments`` of groups of queries.
    """

    charts: ClassVar = CHARTS_OF_SYSTEMS
    asked: SystemsOptions
    compared: Mapping[str, ScoreMatrix]
    systems: Mapping[str, SystemsResult]
    groups: Mapping[str, GroupComparison]
    segments: Segments | None = None

    @property
    def matrices(self) -> Mapping[str, ScoreMatrix]:
        return self.compared

    @property
    def shown_pairs(self) -> tuple[tuple[str, str], ...] | None:
        """The pairs named, or all with a baseline that the procedure does not use; None for all pairs."""
        if self.asked.all_pairs:
            return None
        baseline = self.asked.baseline
        if baseline is not None and not self.asked.pairs and self.systems[self.primary].family.baseline is None:
            return tuple((system, baseline) for system in self.scores.systems if system != baseline)
        return tuple(self.asked.pairs)

    @property
    def against(self) -> list[tuple[str, str]]:
        """The pairs shown query by query: those named, or each system with the baseline or the best system."""
        best_first = self.compared[self.primary].best_first
        other = self.asked.baseline or best_first[0]
        return list(self.asked.pairs) or [(system, other) for system in best_first if system != other]

    @property
    def by_query(self) -> ScoreMatrix:
        """The unweighted scores of queries by the primary measure."""
        return self.scores.matrices[self.primary].select(queries=self.compared[self.primary].queries)

    def whole_page(self, show: ShowOptions) -> Page:
        charts = show.chart or ("leaderboard",)
        for result in self.systems.values() if "critical" in charts else ():
            # Bars over systems that do not differ significantly require one threshold for all pairs.
            if not result.is_single_threshold:
                raise UsageError(
                    "chart: 'critical' needs a procedure with a single threshold for all pairs, found "
                    f"{result.family.correction}" + (" with a baseline" if result.family.baseline else ""),
                    "these are maxt, tukey, rthsd and friedman, without a baseline; leaderboard and p show any",
                )
        parts: list[Table | Chart | Detail | str] = []
        several = len(self.systems) > 1
        if several:
            parts.append(means_table(self, show))
        of_systems: list[tuple[Cell, ...]] = []
        of_pairs: list[tuple[Cell, ...]] = []
        warnings: dict[str, list[str]] = {}
        for name, result in self.systems.items():
            family = result.family
            parts += _measure_parts(self, name, result, show)
            if name == self.primary:
                parts += (drawn for chart in charts for drawn in _DRAWN[chart](self, result))
                parts.append(Detail((worst_queries(self, result, show.places),)))
            for place, i in enumerate(family.order):
                span = family.rank_intervals[i] if family.rank_intervals else (None, None)
                mark = result.letters[place] if result.letters else None
                of_systems.append((name, family.systems[i], float(result.scores.means[i]), place + 1, *span, mark))
            of_pairs += [(name, *result.record(a, b)) for a, b in _pairs_in_order(result)]
            has_intervals = show.only != "means" and (show.only != "leaderboard" or family.baseline is not None)
            for warning in result.warnings:
                if has_intervals or not warning.startswith(OF_INTERVALS):
                    warnings.setdefault(warning, []).append(family.measure)
        first = self.systems[self.primary].family
        columns = "measure | system | mean . | place # | best_place # | worst_place # | letters"
        parts.append(Table(head(columns, for_machines=True), of_systems, "systems"))
        kinds = {"verdict": "", "wins": " #", "ties": " #", "losses": " #"}
        numbers = (name + kinds.get(name, " .") for name in PairRecord._fields[2:])
        names = ("measure", "system", "other" if first.baseline is None else "baseline", *numbers)
        parts.append(Table(head(names, for_machines=True), of_pairs, "pairs"))
        if self.segments is not None:
            parts += self.segments.parts(show.places)
        notes = []
        for warning, measures in warnings.items():
            of = f"{', '.join(measures)}: " if len(measures) < len(self.systems) else ""
            notes.append(f"note: {of}{warning}")
        sizes = [result.family.p.size for result in self.systems.values()]
        is_one = self.asked.family == "all"
        families = "one family" if is_one or not several else f"{len(sizes)} families"
        counted = f" ({' + '.join(f'{size:,}' for size in sizes)})" if several else ""
        separately = ", corrected separately" if several and not is_one else ""
        notes += self.secondary_notes()
        notes += [f"{count_of(sum(sizes), 'test')} in {families}{counted}{separately}"] if several else []
        header: dict[str, object] = {"systems": list(first.systems), "baseline": first.baseline}
        header |= {"primary": self.primary, "family": self.asked.family}
        header |= values_of(first, "alpha | margin | seed")
        header["measures"] = {name: _measure_header(result) for name, result in self.systems.items()}
        return Page("compare", tuple(parts), (*notes, *self.scores.conventions), header)

    def standing(self, measure: str, sort: str) -> Standing:
        result, family = self.systems[measure], self.systems[measure].family
        best_first = [family.systems[i] for i in family.order]

        def beats(one: str, other: str) -> bool:
            pair = None if one == other else family.pair(one, other)
            found = pair and (pair.tested if pair.verdict == "margin required" else pair.verdict)
            return found in ("better", "superior")

        letters = dict(zip(best_first, result.letters, strict=True)) if result.letters else {}
        systems = family.systems if sort == "given" else best_first
        return Standing(systems, family.baseline, beats, letters, is_corrected=True)

    def tested(self) -> list[str]:
        return list(dict.fromkeys(f"significant: {result.tested}" for result in self.systems.values()))

    def tables_of(self, only: str, page: Page, show: ShowOptions) -> list[Table]:
        if only == "pairs":
            return [pair_table(result, self.shown_pairs or None, show.places) for result in self.systems.values()]
        return [leaderboard(self, measure, show) for measure in self.systems]


@warns
@question(SystemsOptions)
def compare_several(asked: SystemsOptions) -> SystemsComparison:
    """Compare all pairs of systems on the same queries, or each with ``baseline``, corrected for their number.

    ``procedure`` is one of :data:`gainful.stats.catalogues.PROCEDURES`, ``correction`` (for maxt and anova) one of
    :data:`gainful.stats.catalogues.CORRECTIONS`; ``family="all"`` corrects for all measures together. ``groups`` of
    systems are compared by the ranks of their means.

    >>> from gainful import ScoreMatrix
    >>> scores = ScoreMatrix.of("RR", {"a": [1, 1, 1, 1], "b": [0.5, 1, 0.5, 0.2], "c": [0.1, 0.2, 0.1, 0.2]})
    >>> compare_several(scores).systems["RR"].family.p.size
    3
    """
    scores = Scores.of(asked.scores)
    matrices, systems = paired_matrices(scores), scores.systems
    check_known(asked.baseline, systems, "baseline")
    check_pairs(asked.pairs, systems)
    groups = asked.groups if isinstance(asked.groups, Mapping) else read_groups(asked.groups)
    if len(groups) == 1:
        raise UsageError("groups: expected at least two groups, found one")
    seen: set[str] = set()
    for member in (member for members in groups.values() for member in members):
        if member not in systems:
            raise UsageError(f"groups: unknown system '{printable(member)}'", nearest(member, systems))
        if member in seen:
            raise UsageError(f"groups: system '{printable(member)}' is in more than one group")
        seen.add(member)
    if any(matrix.weights is not None for matrix in matrices.values()):
        refused = {"groups": groups, "correction": asked.correction, "family": asked.family != "each"}
        for name, value in refused.items():
            if value:
                raise UsageError(f"{name} cannot be used with weights")
        if (asked.procedure or "maxt") != "maxt":
            raise UsageError(f"weights cannot be used with {asked.procedure}", "maxt supports them")
    names = "baseline | test | correction | family | alpha | draws | seed | threads | margin"
    plan = SystemsPlan(asked.procedure or "maxt", **values_of(asked, names))
    if asked.family == "all":
        compared = dict(zip(matrices, aligned(list(matrices.values())), strict=True))
    else:
        compared = {name: matrix.times_weights() for name, matrix in matrices.items()}
    progress = current_progress()
    progress.total += (asked.draws or FLIPS) * (len(compared) if asked.family == "each" else 1)
    found = families.compare_several(compared, plan, progress)
    by_groups = {}
    for name, matrix in matrices.items() if groups else ():
        means = dict(zip(matrix.systems, matrix.means.tolist(), strict=True))
        by_groups[name] = compare_groups({group: [means[each] for each in groups[group]] for group in groups})
    segments = None
    if asked.by is not None:
        pair_plan = PairPlan(**values_of(asked, "test | alpha | draws | seed | margin"))
        segments = compare_segments(matrices, pair_plan, asked.baseline, asked.by)
    return SystemsComparison(scores, asked, compared, found, by_groups, segments)


def read_groups(texts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Read groups of systems from ``NAME=a,b,c`` texts, or from files with one per line and ``#`` for comments.

    >>> read_groups(["old=a,b", "new=c"])
    {'old': ('a', 'b'), 'new': ('c',)}
    """
    lines: list[str] = []
    for text in texts:
        if "=" not in text or os.path.isfile(text):
            content = bytes(open_source(text).data).decode("utf-8", "surrogateescape")
            stripped = (line.strip(BLANKS) for line in text_lines(content) if not line.startswith("#"))
            lines += filter(None, stripped)
        else:
            lines.append(text)
    found: dict[str, tuple[str, ...]] = {}
    for line in lines:
        name, equals, members = line.partition("=")
        name, parts = name.strip(BLANKS), tuple(part.strip(BLANKS) for part in members.split(","))
        if not equals or not name or not all(parts):
            raise UsageError(f"groups: expected NAME=SYSTEM,SYSTEM,..., found '{printable(line)}'")
        if name in found:
            raise UsageError(f"groups: duplicate group '{printable(name)}'")
        found[name] = parts
    return found


def _measure_parts(
    found: SystemsComparison, name: str, result: SystemsResult, show: ShowOptions
) -> Iterator[Table | Chart | str]:
    """Yield the parts for one measure: sentences, tables of the procedure, leaderboard, pairs, groups of systems."""
    family, pairs, places = result.family, found.shown_pairs, show.places
    all_units, measure = plural_of(family.unit), family.measure
    yield " ".join(conclusions(result))
    if result.anova is not None and result.procedure == "anova":
        table, spread, notes = result.anova, result.anova.spread, []
        if table.corrected_p is not None:
            corrected = words.p_words(table.corrected_p)
            notes.append(f"Greenhouse-Geisser correction: epsilon {table.epsilon:.3f}, p of systems {corrected}.")
        if spread is not None:
            notes.append(
                f"SD of paired differences: {spread.low:.4f} to {spread.high:.4f} (5th to 95th percentile of pairs), "
                f"median {spread.median:.4f}; the model assumes {spread.pooled:.4f} for all pairs."
            )
        notes.append(f"The residual includes interactions of systems and {all_units}.")
        sources = (("systems", table.systems), (all_units, table.queries), ("residual", table.residual))
        title = f"Two-way analysis of variance of {measure}"
        yield Table.of(words.anova_columns(places), sources, title=title, notes=tuple(notes))
    if result.friedman is not None:
        ranks, (df, rest) = result.friedman, result.friedman.df
        rows: list[tuple[Cell, ...]] = [
            ("Friedman chi2", ranks.chi2, str(df), words.p_words(ranks.chi2_p), ranks.chi2_p),
            ("Iman-Davenport F", ranks.f, f"{df}, {rest}", words.p_words(ranks.p), ranks.p),
        ]
        columns = (*head("test | statistic . | df | p"), *head("p value .", for_machines=True))
        note = f"Kendall's W: {ranks.w:.4f} (0: random order per {family.unit}, 1: the same order), corrected for ties."
        yield Table(columns, rows, f"Ranks within {all_units}, {measure}", (note,))
    board, is_of_all = leaderboard(found, name, show), family.baseline is None
    has_pairs = pairs is None or bool(pairs) or (is_of_all and name == found.primary and family.p.size <= FEW_PAIRS)
    if is_of_all and not has_pairs:
        how = for_asker("--all prints all {}, --pairs A,B one", 'all_pairs=True prints all {}, pairs=[("A", "B")] one')
        which = f"To see which pairs differ: {how.format(f'{family.p.size:,}')}."
        board = replace(board, notes=(*board.notes, *_notes_of_tests(result, places), which))
    yield board
    yield from table_of_runs(found.matrices[name], places)
    if has_pairs:
        yield pair_table(result, pairs or None, places)
    if name in found.groups:
        groups, overall = found.groups[name], found.groups[name].overall
        rows = list(zip(groups.names, overall.sizes, overall.medians, overall.mean_ranks, strict=True))
        below = (
            f"Kruskal-Wallis H {overall.h:.4f}, df {overall.df}, p {words.p_words(overall.p)}; rank 1: lowest mean.",
            "Descriptive: the units are systems, and groups chosen by scores of the same runs always differ.",
        )
        columns = head(f"group | systems # | median .{places} | mean rank .2")
        yield Table(columns, rows, f"Groups of systems, mean {name}", below)
        columns = (
            *head("group ← 0 | other ← 1 | Mann-Whitney U .1 ← 2.u"),
            Column("p", get=lambda pair: words.p_words(pair[2].p)),
            Column("by", get=lambda pair: "exact" if pair[2].is_exact else "normal"),
            *head("p value . ← 2.p", for_machines=True),
        )
        yield Table.of(columns, groups.pairs, title=f"Groups two by two, mean {name}")


def conclusions(result: SystemsResult) -> list[str]:
    """Summarise which systems could be best or differ from the baseline, and how many pairs differ significantly.

    A non-significant result is never reported as "no difference".
    """
    family, left_out = result.family, len(result.scores.left_out)
    which = "that all systems have" if left_out else "the same for all systems"
    same = f", {which}, paired" if family.unit == "session" else ""
    scores, count, baseline = result.scores, family.p.size, family.baseline
    over = words.units_text(family.n, left_out, family.unit, scores.unanswered.items(), scores.worth)
    about = f"({family.measure}, {over}{same})"
    if np.allclose(scores.values, scores.values[:, :1], rtol=1e-9, atol=0.0):
        return [f"All systems have the same score on each {family.unit} {about}: there is nothing to test."]
    found, level = int(family.is_significant.sum()), f"at the {percent_text(family.alpha)} level"
    everything = "Both" if count == 2 else f"All {count:,}"
    if baseline is not None:
        subject = f"{found:,} of {count_of(count, 'system')}" if 0 < found < count else f"{everything} systems"
        differ = f"{subject} {'differs' if found == 1 else 'differ'}" if found else "No system differs"
        sentences = [f"{differ} significantly from {words.name_text(baseline, family.systems)} {about}."]
    else:
        sentences = [f"{_best(result).removesuffix('.')} {about}."] if family.rank_intervals else []
        whole = f"{everything} pairs" if count > 1 else "The pair"
        subject = f"{found:,} of {count:,} pairs" if found < count else whole
        differ = f"{subject} {'differs' if 1 in (found, count) else 'differ'}" if found else "No pair differs"
        sentences.append(f"{differ} significantly {level}{'' if sentences else f' {about}'}.")
    if found < count:
        sentences.append(
            f"For the other{'' if count - found == 1 else 's'} no difference was shown."
            if found
            else "This does not show that the systems are equal."
        )
    if family.threshold is not None and not math.isfinite(family.threshold):
        sentences.append(f"With so few {plural_of(family.unit)}, no difference can be significant.")
    if family.margin is not None:
        verdicts = Counter(family.pair(a, b).verdict for a, b in _pairs_in_order(result))
        parts = [f"{each} in {verdicts[each]:,}" for each in get_args(Verdict) if verdicts[each]]
        who = "the better system" if family.baseline is None else "the system"
        pairs = count_of(family.p.size, "pair")
        sentences.append(f"With a margin of {number_text(family.margin)}, {who} is {listed(parts)} of {pairs}.")
    return sentences


def _notes_of_tests(result: SystemsResult, places: int) -> list[str]:
    """Describe the test, the adjustment of p, and the difference above which all pairs are significant."""
    family, test = result.family, TESTS[result.family.test]
    if any(len(names) == len(family.systems) for names in result.identical):
        return []
    draws = drawn = ""
    if family.draws is not None and not result.depends_on_pool:
        flips = count_of(family.draws, "sign flip")
        draws = f", all {flips}" if family.is_enumerated else f", {flips}, seed {family.seed}"
    if result.randomised is not None:
        drawn = f", {result.randomised.draws:,} permutations, seed {result.randomised.seed}"
    note = f"p: {test.noun.removeprefix('the ')}{draws}; p adj.: {result.deciding}{drawn}, "
    note += f"{count_of(family.tests, 'test')} in one family"
    # The threshold of maxT belongs to the first step, which assumes that all systems are equal; later steps, which
    # exclude pairs that differ, have lower ones.
    if family.threshold is not None and math.isfinite(family.threshold):
        above = math.ceil(family.threshold * 10**places) / 10**places  # rounded up, to hold for printed differences
        significant = np.abs(family.difference[family.is_significant])
        more = ""
        if family.correction == "maxt" and significant.size:
            smaller = ", smaller ones may be" if significant.size < family.p.size else ""
            more = ", some smaller ones are too" if (significant < family.threshold).any() else smaller
        what = "difference between mean ranks" if result.friedman is not None else "difference"
        note += f"; any {what} above {above:.{places}f} {'is' if significant.size else 'would be'} significant{more}"
    return [f"{note}."]


def decision(result: SystemsResult) -> str:
    """Name the best of several systems in one sentence without statistics."""
    family, means, best = result.family, result.scores.means.tolist(), result.family.may_be_best
    first, second = family.order[:2]
    leader, runner_up = (words.name_text(family.systems[i], family.systems) for i in (first, second))
    count, difference = len(family.systems), means[first] - means[second]
    if family.baseline is not None:
        different = f"{family.is_significant.sum():,} of {count - 1} systems differ clearly from"
        return f"{leader} leads; {different} {words.name_text(family.baseline, family.systems)}."
    if max(means) == min(means):
        return f"No clear winner: all {count} have the same mean {family.measure}."
    if len(best) > 1:
        found = f"{len(best)} of {count} systems" if len(best) < count else f"any of the {count} systems"
        return f"No clear winner: {found} could be best; {leader} leads."
    if not best or family.margin is not None or family.n > MOST_FLIPPED or result.friedman is not None:
        return _best(result)
    by = words.gap_text(difference, difference / means[second] if means[second] > 0 else None, family.measure)
    return f"{leader} is clearly the best, {by} ahead of {runner_up}."


def _best(result: SystemsResult) -> str:
    """Name the systems that could be best; with very many queries, one always is, even by a negligible difference."""
    family = result.family
    could_be = (family.systems[i] for i in family.order if family.systems[i] in family.may_be_best)
    best = [words.name_text(each, family.systems) for each in could_be]
    if not best:
        return "No system is the best: each is beaten by another."
    if len(best) == len(family.systems):
        return f"Any of the {len(best)} systems could be the best."
    names = listed(best, most=_MOST_NAMES)
    if len(best) > 1:
        return f"Could be best: {names}." if family.is_simultaneous else f"Could be best, unadjusted: {names}."
    if not family.is_simultaneous:
        return f"No other system is significantly better than {names}, unadjusted."
    if family.margin is None:
        if family.n <= MOST_FLIPPED:
            others = len(family.systems) - 1
            than = {1: "the other system", 2: "both other systems"}.get(others, f"all {others} other systems")
            return f"{names} is significantly better than {than}."
        how = "may be negligible" if family.half_width is None else "may be negligible; --margin D sets what matters"
        return f"{names} is ahead of all others; with so many {plural_of(family.unit)}, the difference {how}."
    margin = number_text(family.margin)
    winner = family.may_be_best[0]
    pairs = [family.pair(winner, system) for system in family.systems if system != winner]
    if equivalent := [printable(pair.other, 40) for pair in pairs if pair.verdict == "equivalent"]:
        return f"{names} is the best; equivalent to it within {margin}: {listed(equivalent, most=_MOST_NAMES)}."
    is_enough = all(pair.verdict == "superior" for pair in pairs)
    return f"{names} is the best, {'by' if is_enough else 'but perhaps not by'} more than {margin}."


def _measure_header(result: SystemsResult) -> dict[str, object]:
    def finite(value: float | None) -> float | None:
        return value if value is not None and math.isfinite(value) else None

    family = result.family
    entry: dict[str, object] = {
        "procedure": result.procedure,
        **values_of(family, "test | correction | tests | pairs ← p.size"),
        "different": int(family.is_significant.sum()),
        **values_of(family, "draws | enumerated ← is_enumerated"),
        "threshold": finite(family.threshold),
        "half_width": None if family.half_width is None else finite(float(family.half_width.max())),
        "queries": family.n,
        "effective_queries": result.scores.worth or family.n,
        "unanswered": dict(result.scores.unanswered),
        "queries_left_out": len(result.scores.left_out),
        "depends_on_pool": result.depends_on_pool,
    }
    if result.randomised is not None:
        ranges = result.randomised.ranges
        entry["permutations"] = result.randomised.draws
        entry["null"] = {"median": float(ranges[len(ranges) // 2]), "critical": finite(result.randomised.critical)}
    elif family.threshold is not None:
        entry["null"] = {"critical": finite(family.threshold)}
    return entry


def leaderboard(found: SystemsComparison, measure: str, show: ShowOptions) -> Table:
    """Return the table of systems with their rank ranges, or their comparisons with the baseline."""
    result, places = found.systems[measure], show.places
    family, standing = result.family, found.standing(measure, show.sort)
    baseline, marks = family.baseline, marks_of(standing, show.marks)
    place = {system: i for i, system in enumerate(family.systems)}

    def numbers(name: str, values: Floats) -> Column:
        return Column(name, "number", places, get=lambda system: float(values[place[system]]))

    named = (*marks.letters, Column("system", get=lambda system: system))
    mean = numbers("mean", result.scores.means)
    if baseline is not None:
        records = {system: result.record(system, baseline) for system in family.systems if system != baseline}

        def by_system(column: Column, of_baseline: Cell) -> Column:
            get: Callable[[PairRecord], Cell] = column.get or attrgetter(column.name)
            return replace(column, get=lambda system: get(records[system]) if system in records else of_baseline)

        columns = (
            *named,
            mean,
            *marks.columns(""),
            *(by_system(each, None if each.kind == "number" else "") for each in _tested_columns(result, places)),
            *(by_system(each, "") for each in _p_columns(result)),
            by_system(Column("verdict", get=lambda pair: pair.verdict), "baseline"),
        )
        effect = (_EFFECT,) if result.effects is not None else ()
        notes = (*marks.notes, *_interval_note(result), *_notes_of_tests(result, places), *effect)
        title = f"{family.measure} compared with {printable(baseline, 40)}"
        return Table.of(columns, standing.systems, title=title, notes=notes, for_people=True)
    spans = dict(zip(family.systems, family.rank_intervals, strict=True))
    together = "jointly" if family.is_simultaneous else "unadjusted"
    notes = (f"Rank range: ranks consistent with all significant differences, {together}.",)
    tested: tuple[Column, ...] = ()
    if family.direction is not None:
        statistic = TESTS[family.test].statistic
        tested = (numbers(statistic, family.standing),)
        notes += (f"Systems are in order of the {statistic}, averaged over all other systems.",)
    columns = (
        *named,
        *tested,
        *((numbers("mean rank", family.means),) if result.friedman is not None else ()),
        mean,
        *marks.columns("letters"),
        Column("rank range", get=lambda system: words.places_text(spans[system])),
        Column("could be best", get=lambda system: "yes" if spans[system].best == 1 else ""),
    )
    title = f"Leaderboard ({family.measure})"
    return Table.of(columns, standing.systems, title=title, notes=(*notes, *marks.notes), for_people=True)


def pair_table(result: SystemsResult, shown: Sequence[tuple[str, str]] | None, places: int) -> Table:
    """Return the table of pairs, the better system first: difference, interval, p, adjusted p and verdict."""
    family = result.family
    columns = [Column("system"), Column("vs", get=attrgetter("other")), *_tested_columns(result, places)]
    columns += _p_columns(result)
    if result.has_conover:
        columns += [
            Column("p Conover", get=lambda pair: words.p_words(pair.conover_p)),
            Column("p Conover-Holm", get=lambda pair: words.p_words(pair.conover_holm_p)),
        ]

    def verdict(pair: PairRecord) -> str:
        # The verdict names the better system if it does not have the better mean.
        tested = family.pair(pair.system, pair.other).tested
        if family.margin is not None:
            return pair.verdict
        if tested == "inconclusive":
            return tested
        shown = (pair.rank_difference, pair.statistic, pair.difference)
        difference = next(each for each in shown if each is not None)
        leads = (difference > 0) == (family.better == "higher")
        if difference and leads == (tested == "better"):
            return "different"
        return f"different: {printable(pair.system if tested == 'better' else pair.other, 40)} is better"

    columns.append(Column("verdict", get=verdict))
    pairs = [result.record(a, b) for a, b in (_pairs_in_order(result) if shown is None else shown)]
    has_effects = result.conover is None and result.effects is not None
    notes = (*_interval_note(result), *_notes_of_tests(result, places), *((_EFFECT,) if has_effects else ()))
    return Table.of(columns, pairs, title=f"Pairs ({family.measure})", notes=notes, for_people=True)


def _interval_note(result: SystemsResult) -> list[str]:
    family = result.family
    over = "pairs" if family.baseline is None else "systems"
    note = f"{percent_text(1 - family.alpha)} CI: simultaneous over all {over}."
    return [] if family.half_width is None else [note]


def _p_columns(result: SystemsResult) -> tuple[Column, Column]:
    return (
        Column("p", get=lambda pair: words.p_words(pair.p, result.family.least_p)),
        Column("p adj.", get=lambda pair: words.p_words(pair.adjusted_p, result.least_p)),
    )


def _tested_columns(result: SystemsResult, places: int) -> Iterator[Column]:
    """Yield the columns of the quantity tested: difference, interval and effect size, or the statistic of the test."""

    def limits(low: float | None, high: float | None, places: int) -> str:
        return "-" if low is None or high is None else words.limits_text(low, high, places)

    def effect(pair: PairRecord) -> str:
        shown = limits(pair.effect_low, pair.effect_high, 2)
        return "-" if pair.effect is None or shown == "-" else f"{pair.effect:.2f} ({shown})"

    family = result.family
    if result.conover is not None:
        yield Column("difference between mean ranks", "number", places, get=lambda pair: pair.rank_difference)
        return
    if family.direction is not None:
        yield Column("wins/ties/losses", get=lambda pair: f"{pair.wins}/{pair.ties}/{pair.losses}")
        yield Column(TESTS[family.test].statistic, "number", places, get=lambda pair: pair.statistic)
        return
    yield Column("difference", "number", places, get=lambda pair: pair.difference, signed=True)
    if family.half_width is not None:
        yield Column(f"{percent_text(1 - family.alpha)} CI", get=lambda pair: limits(pair.low, pair.high, places))
    if result.effects is not None:
        yield Column("effect size", get=effect)


def _pairs_in_order(result: SystemsResult) -> Iterator[tuple[str, str]]:
    family = result.family
    names = [family.systems[i] for i in family.order]
    if family.baseline is not None:
        return ((name, family.baseline) for name in names if name != family.baseline)
    return combinations(names, 2)


#: With more systems charts are illegible; they show the best.
_MOST_ROWS, _MOST_BARS, _MOST_CELLS, _MOST_TEXTS = 60, 30, 40, 12
_MOST_PANELS, _MOST_WORST = 12, 3
_STRONGEST = 4.0  # end of the scale of -log10 p


def leaderboard_chart(found: SystemsResult) -> Intervals:
    """Draw differences from the baseline, or means with half the critical difference, or rank ranges."""
    family, baseline, cut = found.family, found.family.baseline, _cut(found, _MOST_ROWS)
    if baseline is not None:
        rows = []
        for system in (family.systems[i] for i in family.order if family.systems[i] != baseline):
            pair = family.pair(system, baseline)
            low, high = (pair.difference if end is None else end for end in (pair.low, pair.high))
            p = f"p {words.p_words(pair.adjusted, found.least_p)}"
            rows.append(IntervalRow(system, pair.difference, low, high, p))
        zero, level = printable(baseline, 40), f"{100 * (1 - family.alpha):g}%"
        caption = f"Lines: simultaneous {level} CIs." if family.half_width is not None else ""
        title, rules = f"{family.measure}: difference from {zero}", (Rule(zero, x=0.0),)
        return Intervals(title, Axis("difference"), tuple(rows[:_MOST_ROWS]), "p adj.", rules, caption + cut)
    order = family.order[:_MOST_ROWS]
    places = [family.rank_intervals[i] for i in order]
    texts = [words.places_text(place) for place in places]
    if family.threshold is not None and math.isfinite(family.threshold):
        reach = family.threshold / 2
        lines = tuple(
            IntervalRow(family.systems[i], mean := float(family.means[i]), mean - reach, mean + reach, text)
            for i, text in zip(order, texts, strict=True)
        )
        what = "mean rank (1 is best)" if found.friedman is not None else f"mean {family.measure}"
        is_smaller = np.abs(family.difference[family.is_significant]) < family.threshold
        others = "; some whose bars overlap also do, at later steps" if is_smaller.any() else ""
        caption = f"Systems whose bars do not overlap differ significantly{others}.{cut}"
        return Intervals(_title(found), Axis(what), lines, "rank range", caption=caption)
    lines = tuple(
        # Rank tests may order systems differently from their means.
        IntervalRow(family.systems[i], float(min(max(rank, best), worst)), float(best), float(worst), text)
        for rank, (i, (best, worst), text) in enumerate(zip(order, places, texts, strict=True), 1)
    )
    count = len(family.systems)
    ticks = tuple((float(i), str(i)) for i in range(1, count + 1)) if count <= _MOST_TEXTS else ()
    axis = Axis("rank", 1.0, ticks=ticks)
    return Intervals(_title(found), axis, lines, "rank range", caption="Lines: rank ranges." + cut)


def critical_diagram(found: SystemsResult) -> CriticalDiagram:
    """Draw systems at their means or mean ranks, with bars over those that do not differ significantly."""
    family = found.family
    order = family.order[:_MOST_BARS]
    return CriticalDiagram(
        _title(found),
        Axis(family.measure if found.friedman is None else "mean rank"),
        tuple(family.systems[i] for i in order),
        tuple(float(family.means[i]) for i in order),
        found.bars(_MOST_BARS),
        math.inf if family.threshold is None else family.threshold,
        family.better == "higher",
        f"Bars: systems that do not differ significantly ({found.deciding}); equality is not shown."
        + _cut(found, _MOST_BARS),
    )


def p_map(found: SystemsResult) -> HeatMap:
    """Draw the adjusted p of all pairs; smaller is darker, significant is outlined."""
    family = found.family
    order = family.order[:_MOST_CELLS]
    names, size = [family.systems[i] for i in order], len(order)
    values = [[math.nan] * size for _ in range(size)]
    texts = [[""] * size for _ in range(size)]
    outlined = set()
    for i, one in enumerate(names):
        for j, other in enumerate(names):
            if i == j or (family.baseline is not None and family.baseline not in (one, other)):
                continue
            p = family.pair(one, other).adjusted
            values[i][j] = min(_STRONGEST, -math.log10(p)) + 0.0
            texts[i][j] = words.p_words(p, found.least_p).replace("< ", "<") if p < 0.001 else f"{p:.3f}"
            if p < family.alpha:
                outlined.add((i, j))
    has_texts, at = size <= _MOST_TEXTS, -math.log10(family.alpha)
    below = f"outlined: below {family.alpha:g}" if has_texts else f"{at:.2f} corresponds to {family.alpha:g}"
    return HeatMap(
        f"{family.measure}: adjusted p per pair",
        tuple(names),
        tuple(names),
        tuple(map(tuple, values)),
        tuple(map(tuple, texts)) if has_texts else (),
        value_label="-log10 of adjusted p",
        low=0.0,
        high=_STRONGEST,
        outlined=frozenset(outlined if has_texts else ()),
        caption=f"{found.deciding}; {below}." + _cut(found, _MOST_CELLS),
    )


def _title(found: SystemsResult) -> str:
    return f"{found.family.measure}, {units(found.family.n, found.family.unit)}"


def _cut(found: SystemsResult, most: int) -> str:
    count = len(found.family.systems)
    return f" The best {most} of {count}." if count > most else ""


def difference_plots(found: SystemsComparison, result: SystemsResult) -> list[Chart]:
    """Draw the difference on each query: one panel per pair, with a common axis."""
    matrix, pairs = found.by_query, found.against[:_MOST_PANELS]
    values = [matrix.column(a) - matrix.column(b) for a, b in pairs]
    low, high = (float(end(each, initial=0.0)) for end, each in ((np.min, values), (np.max, values)))
    room = 0.12 * (high - low)
    axis = Axis("difference", low - room, high + room) if room else Axis("difference")
    means = dict(zip(result.scores.systems, result.scores.means.tolist(), strict=True))
    plots = [difference_plot(matrix, (a, b), means[a] - means[b], axis) for a, b in pairs]
    if len(pairs) < len(found.against):
        plots[-1] = replace(plots[-1], caption=f"{plots[-1].caption} The first {len(pairs)} of {len(found.against)}.")
    return [*plots]


def worst_queries(found: SystemsComparison, result: SystemsResult, places: int) -> Table:
    """Return the queries on which each system is furthest behind the baseline or the best system."""
    matrix, family, rows = found.by_query, result.family, list[tuple[Cell, ...]]()
    about = matrix.about if matrix.about is not None and matrix.about.has_texts else None
    for a, b in found.against:
        one, other = matrix.column(a), matrix.column(b)
        differences = settled_differences(one, other)
        behind = differences if family.better == "higher" else -differences
        for i in (place for place in behind.argsort(kind="stable")[:_MOST_WORST].tolist() if behind[place] < 0):
            text = () if about is None else (printable(about.text(matrix.queries[i]) or "", 40),)
            rows.append((a, b, matrix.queries[i], *text, *map(float, (one[i], other[i], differences[i]))))
    text = () if about is None else ("text",)
    numbers = (f"score .{places}", f"reference score .{places}", f"difference +{places}")
    names = ("system", "vs", family.unit, *text, *numbers)
    return Table(head(names), rows, f"Worst {plural_of(family.unit)} per system ({family.measure})", for_people=True)


_DRAWN: dict[str, Callable[[SystemsComparison, SystemsResult], Sequence[Chart]]] = {
    "leaderboard": lambda _, result: [leaderboard_chart(result)],
    "critical": lambda _, result: [critical_diagram(result)],
    "p": lambda _, result: [p_map(result)],
    "differences": difference_plots,
}
