"""Systems that have sessions of their own: every pair by a test that needs no pairs, corrected for their number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gainful.errors import InputError, UsageError, option
from gainful.evaluation.session_scores import SessionScores
from gainful.notation import choose
from gainful.stats.anova import FactorAnova, by_factors
from gainful.stats.catalogues import CORRECTIONS, UNPAIRED_TESTS
from gainful.stats.corrections import corrected
from gainful.stats.samples import PairPlan
from gainful.stats.unpaired import UnpairedResult, compare_unpaired
from gainful.tasks.compare.compare_options import OF_TABLES, CompareOptions
from gainful.tasks.compare.system_pairs import check_known, pairs_of_systems

#: What has no meaning where nothing is paired.
_OF_PAIRED = (
    *("interval", "by", "groups", "contrasts", "factors", "papers", "sequential", "arrival", "most", "chart"),
    *OF_TABLES,
)


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


def is_unpaired(scores: SessionScores, test: str | None) -> bool:
    """Whether systems are compared by what needs no pairs: by whether they have the same sessions, or by the test."""
    is_asked = None if test is None else test in UNPAIRED_TESTS
    if scores.pairing == "none" and is_asked is False:
        raise UsageError(
            f"test {test}: expected the same sessions under all systems, found none that two of them have",
            f"of systems with sessions of their own there is {' | '.join(UNPAIRED_TESTS)}",
        )
    if scores.pairing == "some" and is_asked is None:
        raise InputError(
            f"{scores.source or scores.measure}: expected the same sessions under all systems, or none under two, "
            f"found {len(scores.common):,} that all have",
            "--test randomisation compares on these, --test labels takes all sessions for the systems' own",
        )
    return scores.pairing == "none" if is_asked is None else is_asked


def compare_unpaired_systems(scores: Mapping[str, SessionScores], how: CompareOptions) -> dict[str, UnpairedSystems]:
    """Compares systems by each measure; with ``family`` all, p are corrected for the pairs of all measures."""
    how.refuse("sessions that are not paired", *_OF_PAIRED)
    if how.procedure not in (None, "anova"):
        raise UsageError(f"procedure: expected anova or none of sessions that are not paired, found {how.procedure}")
    systems = next(iter(scores.values())).systems
    if len(systems) < 2:
        told = option("columns", {"system": "NAME"})
        raise UsageError(
            f"compare: expected at least two systems, found {len(systems)}",
            f"a file each, or {told} for the column of a log that tells them",
        )
    check_known(how.baseline, systems, "baseline")
    correction = how.correction or "holm"
    choose(correction, [name for name, each in CORRECTIONS.items() if each.steps], "correction")
    found = {name: _pairs(each, how) for name, each in scores.items()}
    families = [list(found)] if how.family == "all" else [[name] for name in found]
    adjusted: dict[str, tuple[float, ...]] = {}
    for names in families:
        p = corrected(np.array([pair.p for name in names for pair in found[name]]), correction).tolist()
        for name in names:
            adjusted[name], p = tuple(p[: len(found[name])]), p[len(found[name]) :]
    return {
        name: UnpairedSystems(
            each,
            _taking_part(each, found[name]),
            found[name],
            adjusted[name],
            correction,
            _anova(each) if how.procedure == "anova" else None,
            _repeated(each, found[name]),
        )
        for name, each in scores.items()
    }


def _pairs(scores: SessionScores, how: CompareOptions) -> tuple[UnpairedResult, ...]:
    means = [scores.mean(system) for system in scores.systems]
    plan = PairPlan(how.test, alpha=how.alpha, draws=how.draws, seed=how.seed, margin=how.margin)
    return tuple(
        compare_unpaired(
            scores.values(a),
            scores.values(b),
            (scores.factor("topic", a), scores.factor("topic", b)),
            plan,
            names=(a, b),
            measure=scores.measure,
            better=scores.better,
        )
        for a, b in pairs_of_systems(scores.systems, means, scores.better, how)
    )


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


def _anova(scores: SessionScores) -> FactorAnova:
    """By system and by what is known of all sessions."""
    values = np.concatenate([scores.values(system) for system in scores.systems])
    factors: dict[str, list[str | None]] = {"system": [name for name in scores.systems for _ in scores.scores[name]]}
    for name in scores.factors:
        factors[name] = [each for system in scores.systems for each in scores.factor(name, system)]
    return by_factors(values, {name: each for name, each in factors.items() if None not in each})
