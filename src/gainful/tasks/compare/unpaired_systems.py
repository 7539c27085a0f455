"""Systems with sessions of their own: every pair by a test that needs no pairs, corrected for their number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import median
from typing import NamedTuple

import numpy as np

from gainful.errors import UsageError, option, warns
from gainful.evaluation.scores import Scores, SessionScores
from gainful.notation import choose, count_of, percent_text, printable, units
from gainful.pages.charts import Chart, Rule
from gainful.pages.page import Column, Detail, Table, head
from gainful.question import question
from gainful.render import Page
from gainful.stats import unpaired
from gainful.stats.anova import FactorAnova, by_factors
from gainful.stats.catalogues import CORRECTIONS, corrected
from gainful.stats.paired_tests import PairPlan
from gainful.stats.unpaired import UnpairedResult
from gainful.tasks.compare import FEW_PAIRS, Comparison, compared_pairs, interval_chart
from gainful.tasks.compare.compare_words import (
    anova_columns,
    detectable_in_range,
    difference_sentence,
    direction_text,
    interval_text,
    level_text,
    p_words,
)
from gainful.tasks.compare.two_systems import limits_or_none, note_of_test, relative_text
from gainful.tasks.score_questions import UnpairedOptions


class _AdjustedPair(NamedTuple):
    """A pair with its p among all."""

    pair: UnpairedResult
    adjusted: float

    @property
    def verdict(self) -> str:
        """What the corrected p makes of it; a margin's verdict goes by the interval of the pair."""
        pair = self.pair
        if pair.margin is not None or self.adjusted < pair.alpha or not pair.is_significant:
            return pair.verdict
        return "cannot tell"


@dataclass(frozen=True, eq=False)
class UnpairedSystems:
    """What was found of systems by one measure: every pair, p corrected for their number, and where it was asked for
    the analysis of variance by system, topic and user. ``repeated`` are what several sessions of a system share, and
    the test does not use; ``compared`` are the scores that took part."""

    scores: SessionScores
    compared: SessionScores
    pairs: tuple[UnpairedResult, ...]
    adjusted: tuple[float, ...]
    correction: str
    anova: FactorAnova | None
    repeated: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class UnpairedComparison(Comparison):
    """Systems that have sessions of their own, by measure; ``is_whole``: all of many pairs are printed."""

    asked: UnpairedOptions
    unpaired: Mapping[str, UnpairedSystems]

    def page(self, *, places: int = 4) -> Page:
        parts: list[Table | Chart | Detail | str] = []
        is_whole = self.asked.all_pairs or bool(self.asked.pairs)
        for name, systems in self.unpaired.items():
            rows = [_AdjustedPair(pair, p) for pair, p in zip(systems.pairs, systems.adjusted, strict=True)]
            is_primary = name == self.primary
            parts += [_unpaired_sentence(systems, rows) + (f"\n{_design(rows, systems.scores)}" if is_primary else "")]
            parts += [_unpaired_means(systems.compared, places), _unpaired_pairs(rows, systems, places, is_whole)]
            if systems.anova is not None:
                table = systems.anova
                notes = ["each source after all others (sums of squares of type II)"]
                lost = [source for source, each in table.effects.items() if not each.df]
                if lost:
                    notes.append(f"nothing is left of {', '.join(lost)}: the other factors determine it")
                sources = [*table.effects.items(), ("residual", table.residual)]
                title = f"Analysis of variance of {systems.scores.measure}"
                parts.append(Table.of(anova_columns(places), sources, title=title, notes=tuple(notes)))
            parts.append(Detail((_unpaired_sizes(rows, places),)))
            if is_primary:
                texts = [rows[0].pair.test.p_cell] if len(rows) == 1 else [p_words(row.adjusted) for row in rows]
                lines = f"{level_text(rows[0].pair.interval)} intervals, each pair by itself"
                parts.append(interval_chart([row.pair for row in rows], texts, "p", (Rule("", x=0.0),), lines))
            parts.append(Table.of(_UNPAIRED_RECORD, rows, title="unpaired"))
        primary = self.unpaired[self.primary]
        first = primary.pairs[0]
        header: dict[str, object] = {
            "design": "unpaired",
            "systems": {name: len(each) for name, each in primary.compared.scores.items()},
            "primary": self.primary,
            "test": first.test.name,
            "hypothesis": first.test.hypothesis,
            "correction": primary.correction,
            "family": self.asked.family,
            "alpha": first.alpha,
            "seed": first.seed,
        }
        return Page("compare", tuple(parts), (*_unpaired_notes(self), *self.scores.conventions), header)


@warns
@question(UnpairedOptions)
def compare_unpaired(asked: UnpairedOptions) -> UnpairedComparison:
    """Compare systems that have sessions of their own by a test that needs no pairs, corrected for their number.

    With ``family="all"``, p are corrected for the pairs of all measures; ``procedure="anova"`` adds the analysis of
    variance by system, topic and user.
    """
    scores = Scores.of(asked.scores)
    if not scores.sessions:
        raise UsageError("compare_unpaired: expected scores of sessions, found those of queries")
    if asked.procedure not in (None, "anova"):
        raise UsageError(f"procedure: expected anova or none of sessions that are not paired, found {asked.procedure}")
    if len(scores.systems) < 2:
        told = option("columns", {"system": "NAME"})
        raise UsageError(
            f"compare: expected at least two systems, found {len(scores.systems)}",
            f"a file each, or {told} for the column of a log that tells them",
        )
    correction = asked.correction or "holm"
    choose(correction, [name for name, each in CORRECTIONS.items() if each.steps], "correction")
    plan = PairPlan(asked.test, alpha=asked.alpha, draws=asked.draws, seed=asked.seed, margin=asked.margin)
    found = {
        name: tuple(
            unpaired.compare_unpaired(
                each.values(a),
                each.values(b),
                (each.factor("topic", a), each.factor("topic", b)),
                plan,
                names=(a, b),
                measure=each.measure,
                better=each.better,
            )
            for a, b in compared_pairs(each, asked)
        )
        for name, each in scores.sessions.items()
    }
    families = [list(found)] if asked.family == "all" else [[name] for name in found]
    adjusted: dict[str, tuple[float, ...]] = {}
    for names in families:
        p = corrected(np.array([pair.p for name in names for pair in found[name]]), correction).tolist()
        for name in names:
            adjusted[name], p = tuple(p[: len(found[name])]), p[len(found[name]) :]
    by_measure = {}
    for name, each in scores.sessions.items():
        pairs, anova = found[name], _anova_of(each) if asked.procedure == "anova" else None
        compared, repeated = _taking_part(each, pairs), _repeated(each, pairs)
        by_measure[name] = UnpairedSystems(each, compared, pairs, adjusted[name], correction, anova, repeated)
    return UnpairedComparison(scores, asked, by_measure)


def _taking_part(scores: SessionScores, pairs: Sequence[UnpairedResult]) -> SessionScores:
    """Of two systems the scores that were compared: without sessions of topics that one alone has, where labels are
    kept within topics. Of several every pair may leave others out."""
    if len(scores.systems) > 2 or not pairs[0].alone:
        return scores
    topics = [{*scores.factor("topic", system)} - {None} for system in scores.systems]
    shared = topics[0] & topics[1]
    return replace(
        scores,
        scores={
            system: {
                session: value
                for (session, value), topic in zip(values.items(), scores.factor("topic", system), strict=True)
                if topic in shared
            }
            for system, values in scores.scores.items()
        },
    )


def _repeated(scores: SessionScores, pairs: Sequence[UnpairedResult]) -> tuple[str, ...]:
    """The factors that some sessions of a system share, but for topics where labels are kept within them."""
    used = {"topic"} if all(pair.topics for pair in pairs) else set()
    return tuple(
        name
        for name in scores.factors
        if name not in used
        and any(
            count > 1
            for system in scores.systems
            for count in Counter(each for each in scores.factor(name, system) if each is not None).values()
        )
    )


def _anova_of(scores: SessionScores) -> FactorAnova:
    values = np.concatenate([scores.values(system) for system in scores.systems])
    factors: dict[str, list[str | None]] = {"system": [name for name in scores.systems for _ in scores.scores[name]]}
    for name in scores.factors:
        factors[name] = [each for system in scores.systems for each in scores.factor(name, system)]
    return by_factors(values, {name: each for name, each in factors.items() if None not in each})


def _design(rows: list[_AdjustedPair], scores: SessionScores) -> str:
    first = rows[0].pair
    design = "Each session belongs to one system, so nothing is paired: "
    if scores.conflict is not None:
        design = f"Systems share ids, but not their sessions ({scores.conflict}), so nothing is paired: "
    elif scores.pairing != "none":
        design = f"Sessions that systems share are not paired, as {first.test.name} was asked for: "
    if not first.topics:
        return f"{design}{first.test.test.said} assumes independent sessions."
    over = {row.pair.topics for row in rows}
    alone = first.alone if len(rows) == 1 else 0
    topics = count_of(first.topics, "topic") if len(over) == 1 else "the topics"
    out = f" ({units(alone, 'session')} of other topics take no part)" if alone else ""
    return f"{design}labels are shuffled within {topics} that both systems have{out}."


def _unpaired_sentence(systems: UnpairedSystems, rows: list[_AdjustedPair]) -> str:
    first = rows[0].pair
    if len(rows) == 1:
        return difference_sentence(first)
    told = sum(row.adjusted < first.alpha for row in rows)
    others = "for the others no difference was shown" if told else "no difference was shown"
    return (
        f"{first.measure} of {count_of(len(systems.scores.systems), 'system')} on sessions of their own. Significantly "
        f"different: {told:,} of {count_of(len(rows), 'pair')} ({first.test.test.title}, "
        f"{CORRECTIONS[systems.correction].title}, {percent_text(first.alpha)})"
        f"{'' if told == len(rows) else f'; {others}'}."
    )


def _unpaired_means(scores: SessionScores, places: int) -> Table:
    columns = (
        Column("system", get=lambda name: name),
        Column("sessions", "count", get=lambda name: len(scores.scores[name])),
        *(Column(f"{factor}s", "count", get=partial(scores.levels, factor)) for factor in scores.factors),
        Column("mean", "number", places, get=scores.mean),
        Column("median", "number", places, get=lambda name: median(scores.scores[name].values())),
    )
    return Table.of(columns, scores.systems, title=f"Systems, {scores.measure}", for_people=True)


def _unpaired_pairs(rows: list[_AdjustedPair], systems: UnpairedSystems, places: int, is_all: bool) -> Table:
    first = rows[0].pair
    of = first.interval.of
    columns = (
        *head(f"system ← pair.system | against ← pair.baseline | difference .{places} ← pair.difference"),
        Column(
            f"{level_text(first.interval)} interval" + ("" if of == "mean" else f" of the {of}"),
            get=lambda row: interval_text(row.pair.interval, places),
        ),
        *head("p ← pair.test.p_cell"),
        *((Column(f"p {systems.correction}", get=lambda row: p_words(row.adjusted)),) if len(rows) > 1 else ()),
        Column("verdict"),
    )
    notes = [note_of_test(first)]
    if first.topics:
        notes.append("difference: within topics, each weighed by 1 / (1 / sessions of one + 1 / sessions of the other)")
    if len(rows) > 1 and any(row.pair.alone for row in rows):
        notes.append("sessions of topics that one of two systems alone has take no part in their difference")
    title = f"The difference, {first.measure}{direction_text(first.better)}"
    return Table.of(columns, rows, title=title, notes=tuple(notes), most=None if is_all else FEW_PAIRS, for_people=True)


def _unpaired_sizes(rows: list[_AdjustedPair], places: int) -> Table:
    columns = (
        *head("system ← pair.system | against ← pair.baseline"),
        Column("relative", get=lambda row: "-" if (size := row.pair.practical) is None else relative_text(size)),
        *head(f"Hedges' g .{places} ← pair.effect.hedges_g"),
        Column("interval of g", get=lambda row: limits_or_none(row.pair.effect.hedges_g_interval, places)),
        *head(f"Cliff's delta .{places} ← pair.effect.cliffs_delta"),
        Column("interval of delta", get=lambda row: limits_or_none(row.pair.effect.cliffs_delta_interval, places)),
        *head("sessions won % ← pair.effect.superiority"),
        Column("detectable", "number", places, get=lambda row: detectable_in_range(row.pair)),
    )
    notes = (
        "Hedges' g: difference / spread within systems (and topics), without its bias",
        "sessions won: the chance that of two sessions the system's is better, ties counted half (A12)",
        "detectable: the smallest difference detectable with 80 % power with this many sessions (t test)",
        *dict.fromkeys(f"H0: {row.pair.test.hypothesis}" for row in rows),
    )
    return Table.of(columns, rows, title=f"How large it is, {rows[0].pair.measure}", notes=notes, for_people=True)


def _unpaired_notes(found: UnpairedComparison) -> Iterator[str]:
    several = len(found.unpaired) > 1
    seen: dict[str, None] = {}
    for systems in found.unpaired.values():
        for pair in systems.pairs:
            of = f"{printable(pair.system, 40)} and {printable(pair.baseline, 40)}: " if len(systems.pairs) > 1 else ""
            seen.update(dict.fromkeys(f"{f'{pair.measure}: ' if several else ''}{of}{each}" for each in pair.warnings))
    yield from (f"note: {each}" for each in seen)
    systems = found.unpaired[found.primary]
    if systems.repeated:
        shared = " or ".join(systems.repeated)
        hint = "" if systems.anova is not None else "; --procedure anova looks at them"
        yield f"note: sessions of the same {shared} count as independent, which they may not be{hint}"
    yield from found.secondary_notes()


#: Every number of a pair under a name.
_UNPAIRED_RECORD = head(
    "measure ← pair.measure | system ← pair.system | baseline ← pair.baseline | better ← pair.better | verdict | "
    "test ← pair.test.name | enumerated ← pair.test.is_enumerated | interval ← pair.interval.method | "
    "label ← pair.practical.label | topics # ← pair.topics | alone # ← pair.alone | "
    "sessions_system # ← pair.sizes.0 | sessions_baseline # ← pair.sizes.1 | draws # ← pair.test.draws | "
    "mean_system . ← pair.mean_system | mean_baseline . ← pair.mean_baseline | difference . ← pair.difference | "
    "sd . ← pair.sd | alpha . ← pair.alpha | p . ← pair.p | adjusted_p . ← adjusted | "
    "statistic . ← pair.test.statistic | low . ← pair.interval.low | high . ← pair.interval.high | "
    "detectable . ← pair.detectable | practical_relative . ← pair.practical.relative | "
    "practical_low . ← pair.practical.low | practical_high . ← pair.practical.high | "
    "hedges_g . ← pair.effect.hedges_g | hedges_g_low . ← pair.effect.hedges_g_interval.low | "
    "hedges_g_high . ← pair.effect.hedges_g_interval.high | cliffs_delta . ← pair.effect.cliffs_delta | "
    "cliffs_delta_low . ← pair.effect.cliffs_delta_interval.low | "
    "cliffs_delta_high . ← pair.effect.cliffs_delta_interval.high | superiority . ← pair.effect.superiority | "
    "margin . ← pair.margin.margin",
    for_machines=True,
)
