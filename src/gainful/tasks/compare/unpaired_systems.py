"""Comparison of systems with different sessions: unpaired tests of all pairs, corrected for their number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property, partial
from statistics import median
from typing import Any

import numpy as np

from gainful.errors import UsageError, option, warns
from gainful.evaluation.score_matrix import farthest_apart
from gainful.evaluation.scores import Scores, SessionScores
from gainful.frozen import dataclass, replace
from gainful.notation import choose, count_of, percent_text, printable, units
from gainful.pages.charts import Chart, Rule
from gainful.pages.page import Column, Detail, Table, head, values_of
from gainful.question import question
from gainful.render import Page
from gainful.stats import unpaired
from gainful.stats.anova import FactorAnova, by_factors
from gainful.stats.catalogues import CORRECTIONS, corrected
from gainful.stats.paired_tests import PairPlan
from gainful.stats.unpaired import UnpairedResult
from gainful.tasks.compare import Comparison, compare_words as words, compared_pairs, interval_chart, table_of_pairs
from gainful.tasks.compare.two_systems import notes_of_test
from gainful.tasks.score_questions import UnpairedOptions


@dataclass(frozen=True, eq=False, kw_only=True)
class AdjustedPair(UnpairedResult):
    """A pair of systems with its adjusted p."""

    adjusted: float

    @property
    def adjusted_verdict(self) -> str:
        """The verdict by adjusted p, or with a margin by the interval of the pair."""
        if self.margin is not None or self.adjusted < self.alpha or not self.is_significant:
            return self.verdict
        return "inconclusive"


@dataclass(frozen=True, eq=False)
class UnpairedSystems:
    """All pairs of systems by one measure, and the analysis of variance by system, topic and user, if requested."""

    scores: SessionScores
    pairs: tuple[AdjustedPair, ...]
    correction: str
    anova: FactorAnova | None

    @property
    def adjusted(self) -> tuple[float, ...]:
        return tuple(pair.adjusted for pair in self.pairs)

    @cached_property
    def compared(self) -> SessionScores:
        """The scores that were compared.

        If labels of two systems are shuffled within topics, sessions of topics that only one system has are left out.
        With several systems, every pair may leave out others, and none are left out here.
        """
        scores = self.scores
        if len(scores.systems) > 2 or not self.pairs[0].alone:
            return scores
        topics = [{*scores.factor("topic", system)} - {None} for system in scores.systems]
        shared = topics[0] & topics[1]
        kept = {}
        for system, values in scores.scores.items():
            of_topics = zip(values.items(), scores.factor("topic", system), strict=True)
            kept[system] = {session: value for (session, value), topic in of_topics if topic in shared}
        return replace(scores, scores=kept)

    @property
    def repeated(self) -> list[str]:
        """The factors that several sessions of a system share, except topics if labels are shuffled within them."""
        used = {"topic"} if all(pair.topics for pair in self.pairs) else set()
        found = []
        for name in self.scores.factors:
            levels = ([each for each in self.scores.factor(name, s) if each is not None] for s in self.scores.systems)
            if name not in used and any(len(set(each)) < len(each) for each in levels):
                found.append(name)
        return found


@dataclass(frozen=True, eq=False, repr=False)
class UnpairedComparison(Comparison):
    """The comparison of systems with different sessions, by measure."""

    asked: UnpairedOptions
    unpaired: Mapping[str, UnpairedSystems]

    def page(self, *, places: int = 4) -> Page:
        parts: list[Table | Chart | Detail | str] = []
        primary = self.unpaired[self.primary]
        notes: dict[str, None] = {}
        for systems in self.unpaired.values():
            pairs = systems.pairs
            parts += _parts_of(systems, places, self.asked.most_shown, systems is primary)
            if systems is primary:
                texts = [pairs[0].test.p_cell] if len(pairs) == 1 else [words.p_words(pair.adjusted) for pair in pairs]
                lines = f"{words.level_text(pairs[0].interval)} CIs, unadjusted"
                parts.append(interval_chart(pairs, texts, "p", (Rule("", x=0.0),), lines))
            parts.append(Table.of(_UNPAIRED_RECORD, pairs, title="unpaired"))
            for pair in pairs:
                of = f"{pair.measure}: " if len(self.unpaired) > 1 else ""
                of += f"{printable(pair.system, 40)} and {printable(pair.baseline, 40)}: " if len(pairs) > 1 else ""
                notes.update(dict.fromkeys(f"note: {of}{each}" for each in pair.warnings))
        if primary.repeated:
            hint = "" if primary.anova is not None else "; --procedure anova accounts for them"
            shared = f"sessions of the same {' or '.join(primary.repeated)}"
            notes[f"note: {shared} are treated as independent, but may not be{hint}"] = None
        first = primary.pairs[0]
        header: dict[str, object] = {
            "design": "unpaired",
            "systems": {name: len(each) for name, each in primary.compared.scores.items()},
            "primary": self.primary,
            **values_of(first.test, "test ← name | hypothesis"),
            "correction": primary.correction,
            "family": self.asked.family,
            **values_of(first, "alpha | seed"),
        }
        return Page("compare", tuple(parts), (*notes, *self.secondary_notes(), *self.scores.conventions), header)


@warns
@question(UnpairedOptions)
def compare_unpaired(asked: UnpairedOptions) -> UnpairedComparison:
    """Compare systems that have different sessions by unpaired tests, corrected for the number of pairs.

    ``family="all"`` corrects for the pairs of all measures together; ``procedure="anova"`` adds an analysis of variance
    by system, topic and user.
    """
    scores = Scores.of(asked.scores)
    if not scores.sessions:
        raise UsageError("compare_unpaired: expected scores of sessions, found scores of queries")
    if asked.procedure not in (None, "anova"):
        raise UsageError(f"procedure {asked.procedure} cannot be used with unpaired sessions", "anova can")
    if len(scores.systems) < 2:
        hint = f"give one file per system, or the log's column of systems: {option('columns', {'system': 'NAME'})}"
        raise UsageError(f"compare: expected at least two systems, found {len(scores.systems)}", hint)
    correction = asked.correction or "holm"
    choose(correction, [name for name, each in CORRECTIONS.items() if each.steps], "correction")
    plan = PairPlan(**values_of(asked, "test | alpha | draws | seed | margin"))
    found: dict[str, list[UnpairedResult]] = {name: [] for name in scores.sessions}
    for name, each in scores.sessions.items():
        for a, b in compared_pairs(each, asked):
            topics = each.factor("topic", a), each.factor("topic", b)
            how: Any = {"names": (a, b), "measure": each.measure, "better": each.better}
            how["farthest"] = farthest_apart(each.measure, each.bounds, [each.mean(a), each.mean(b)])
            found[name].append(unpaired.compare_unpaired(each.values(a), each.values(b), topics, plan, **how))
    anovas = {}
    for name, each in scores.sessions.items() if asked.procedure == "anova" else ():
        factors: dict[str, list[str | None]] = {"system": [name for name in each.systems for _ in each.scores[name]]}
        for factor in each.factors:
            factors[factor] = [level for system in each.systems for level in each.factor(factor, system)]
        values = np.concatenate([each.values(system) for system in each.systems])
        anovas[name] = by_factors(values, {name: levels for name, levels in factors.items() if None not in levels})
    families = [list(found)] if asked.family == "all" else [[name] for name in found]
    by_measure = {}
    for names in families:
        p = iter(corrected(np.array([pair.p for name in names for pair in found[name]]), correction).tolist())
        for name in names:
            pairs = tuple(AdjustedPair(**vars(pair), adjusted=next(p)) for pair in found[name])
            by_measure[name] = UnpairedSystems(scores.sessions[name], pairs, correction, anovas.get(name))
    return UnpairedComparison(scores, asked, by_measure)


def _parts_of(found: UnpairedSystems, places: int, most: int | None, is_main: bool) -> Iterator[Table | Detail | str]:
    """Yield the parts for one measure: a sentence, systems, pairs, analysis of variance, and effect sizes."""
    pairs, scores, compared = found.pairs, found.scores, found.compared
    first, several = pairs[0], len(pairs) > 1
    sentence = words.difference_sentence(first)
    if several:
        count = sum(pair.adjusted < first.alpha for pair in pairs)
        others = "; for the others no difference was shown" if count else "; no difference was shown"
        sentence = (
            f"{first.measure} of {count_of(len(scores.systems), 'system')} on different sessions. Significantly "
            f"different: {count:,} of {count_of(len(pairs), 'pair')} ({first.test.test.title}, "
            f"{CORRECTIONS[found.correction].title}, {percent_text(first.alpha)} level)"
            f"{'' if count == len(pairs) else others}."
        )
    yield f"{sentence}\n{_design(found)}" if is_main else sentence
    columns = (
        Column("system", get=lambda name: name),
        Column("sessions", "count", get=lambda name: len(compared.scores[name])),
        *(Column(f"{factor}s", "count", get=partial(compared.levels, factor)) for factor in compared.factors),
        Column("mean", "number", places, get=compared.mean),
        Column("median", "number", places, get=lambda name: median(compared.scores[name].values())),
    )
    yield Table.of(columns, compared.systems, title=f"Systems ({compared.measure})", for_people=True)
    columns = (
        words.interval_column(first.interval, places),
        *head("p ← test.p_cell"),
        *((Column("p adj.", get=lambda pair: words.p_words(pair.adjusted)),) if several else ()),
        Column("verdict", get=lambda pair: pair.adjusted_verdict),
    )
    notes = notes_of_test(first)
    if several:
        notes.append(f"p adj.: {CORRECTIONS[found.correction].title} correction, {count_of(len(pairs), 'pair')}.")
    if first.topics:
        notes.append("Difference: within topics, weighted by 1 / (1 / sessions of one + 1 / sessions of the other).")
    if several and any(pair.alone for pair in pairs):
        notes.append("Sessions of topics that only one of two systems has do not contribute to their difference.")
    yield table_of_pairs("Result", pairs, columns, tuple(notes), places, most)
    if found.anova is not None:
        effects = found.anova.effects
        notes = ["Each source is adjusted for all others (sums of squares of type II)."]
        lost = [source for source, each in effects.items() if not each.df]
        if lost:
            notes.append(f"No degrees of freedom, determined by the other factors: {', '.join(lost)}.")
        sources = [*effects.items(), ("residual", found.anova.residual)]
        title = f"Analysis of variance of {scores.measure}"
        yield Table.of(words.anova_columns(places), sources, title=title, notes=tuple(notes))
    columns = (
        *head("system | vs ← baseline"),
        Column("relative difference", get=lambda pair: words.relative_text(pair.practical)),
        *head(f"Hedges' g .{places} ← effect.hedges_g"),
        Column("CI of g", get=lambda pair: words.limits_or_none(pair.effect.hedges_g_interval, places)),
        *head(f"Cliff's delta .{places} ← effect.cliffs_delta"),
        Column("CI of delta", get=lambda pair: words.limits_or_none(pair.effect.cliffs_delta_interval, places)),
        *head(f"sessions won % ← effect.superiority | minimum detectable difference .{places} ← detectable"),
    )
    notes = [
        "Hedges' g: difference / SD within systems (and topics), corrected for bias.",
        "Sessions won: probability that the system's session is the better of two, ties counted half (A12).",
        "Minimum detectable difference: 80% power with this many sessions, t test.",
        *dict.fromkeys(f"H0: {pair.test.hypothesis}." for pair in pairs),
    ]
    title = f"Effect sizes ({first.measure})"
    yield Detail((Table.of(columns, pairs, title=title, notes=tuple(notes), for_people=True),))


def _design(systems: UnpairedSystems) -> str:
    """Explain why sessions are unpaired, and state the assumption of the test."""
    first, scores = systems.pairs[0], systems.scores
    design = "Each session belongs to one system, so the comparison is unpaired: "
    if scores.conflict is not None:
        design = f"Systems share session IDs, but not sessions ({scores.conflict}), so the comparison is unpaired: "
    elif scores.pairing != "none":
        design = f"Sessions that systems share are not paired by the test {first.test.name}: "
    if not first.topics:
        return f"{design}{first.test.test.noun} assumes independent sessions."
    alone = first.alone if len(systems.pairs) == 1 else 0
    is_same = len({pair.topics for pair in systems.pairs}) == 1
    topics = count_of(first.topics, "topic") if is_same else "the topics"
    out = f" ({units(alone, 'session')} of other topics left out)" if alone else ""
    return f"{design}labels are shuffled within {topics} that both systems have{out}."


#: A pair for machines.
_UNPAIRED_RECORD = head(
    "measure | system | baseline | better | verdict ← adjusted_verdict | test ← test.name | "
    "enumerated ← test.is_enumerated | interval ← interval.method | label ← practical.label | topics # | alone # | "
    "sessions_system # ← sizes.0 | sessions_baseline # ← sizes.1 | draws # ← test.draws | mean_system . | "
    "mean_baseline . | difference . | sd . | alpha . | p . | adjusted_p . ← adjusted | statistic . ← test.statistic | "
    "low . ← interval.low | high . ← interval.high | detectable . | practical_relative . ← practical.relative | "
    "practical_low . ← practical.low | practical_high . ← practical.high | hedges_g . ← effect.hedges_g | "
    "hedges_g_low . ← effect.hedges_g_interval.low | hedges_g_high . ← effect.hedges_g_interval.high | "
    "cliffs_delta . ← effect.cliffs_delta | cliffs_delta_low . ← effect.cliffs_delta_interval.low | "
    "cliffs_delta_high . ← effect.cliffs_delta_interval.high | superiority . ← effect.superiority | "
    "margin . ← margin.margin",
    for_machines=True,
)
