"""What a gate measures: the scores of a run on the frozen queries, and everything that forbids to compare them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gainful.data.judged import Judged
from gainful.data.qrels import Qrels
from gainful.data.queries import Queries
from gainful.data.run import RunLike
from gainful.errors import InputError, UsageError, for_asker
from gainful.evaluation.evaluate import evaluate_runs
from gainful.evaluation.evaluations import Evaluation
from gainful.evaluation.notices import notices
from gainful.kernel.arrays import Floats
from gainful.kernel.exact_sums import weighted_mean
from gainful.kernel.parallel import Progress
from gainful.measures.base import Measure
from gainful.measures.catalog import parse
from gainful.notation import count_of, printable, some_of
from gainful.stats.regression_rule import KNOWN_FROM, LEVEL, noise_of
from gainful.tasks.gate.gate_file import NUMBERS, Gate, Rule, hashes_of

_DEFAULT_DEPTH = 10


#: How a command begins that freezes a gate; the dots are what was typed.
INIT = "gainful gate init ..."


class RefusalError(InputError):
    """Something cannot be measured, so that nothing is compared. ``advice`` says what can be done about it, and
    ``allowed_by`` which options of `gate init` allow it."""

    def __init__(self, message: str, advice: str | None = None, allowed_by: str | None = None) -> None:
        way_out = f"{advice}, or allow it: {for_asker(f'{INIT} ', '')}{allowed_by}"
        super().__init__(message, way_out if allowed_by else advice)
        self.advice, self.allowed_by = advice, allowed_by


@dataclass(frozen=True, eq=False)
class Measured:
    """A system on all queries: runs of it (several are repeats), their scores, and what says whether they count.

    ``scores`` are measures x queries x repeats, NaN where the policy leaves a query out.
    """

    evaluations: tuple[Evaluation, ...]
    measures: tuple[Measure, ...]
    scores: Floats
    judged: float
    depth: int

    @property
    def queries(self) -> list[str]:
        """The queries."""
        return self.evaluations[0].queries

    @property
    def notices(self) -> list[str]:
        """What is legal but suspicious."""
        return notices(self.evaluations)

    def means(self, weights: Floats) -> dict[str, float]:
        """The mean of each measure over the queries with a score; of repeats that of their means."""
        found = {}
        for measure, scores in zip(self.measures, np.mean(self.scores, axis=2), strict=True):
            scored = ~np.isnan(scores)
            found[str(measure)] = weighted_mean(scores[scored], weights[scored]) if scored.any() else 0.0
        return found


def measure_runs(
    judged: Judged,
    runs: Mapping[str, RunLike],
    measures: Sequence[Measure],
    queries: Queries | None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Measured:
    """Scores runs of one system by measures that have a mean and a better side, and how much of them is judged."""
    for measure in measures:
        if measure.better == "neither" or measure.aggregate != "mean":
            raise UsageError(
                f"{measure}: expected a measure whose mean can fall, found one without a better side or mean"
            )
    cutoffs = [cutoff for measure in measures if (cutoff := getattr(measure, "cutoff", None))]
    depth = min(cutoffs, default=_DEFAULT_DEPTH)
    coverage = parse(f"Judged@{depth}")
    wanted = [*measures, *([] if coverage in measures else [coverage])]
    found = evaluate_runs(judged, runs, wanted, queries=queries, threads=threads, progress=progress)
    evaluations = tuple(found.values())
    scores = np.array(
        [[[as_number(value) for value in each.by_query(m).values()] for each in evaluations] for m in measures]
    )
    share = math.fsum(each.mean(coverage) for each in evaluations) / len(evaluations)
    share = 0.0 if math.isnan(share) else share
    return Measured(evaluations, tuple(measures), scores.transpose(0, 2, 1), share, depth)


def as_number(value: float | None) -> float:
    """A score, NaN where there is none."""
    return math.nan if value is None else value


def raise_all(*refusals: RefusalError | None) -> None:
    """Raises what there is as one refusal, with all options that allow it."""
    found = [each for each in refusals if each is not None]
    if found:
        advice = ", ".join(each.advice for each in found if each.advice)
        options = [each.allowed_by for each in found if each.allowed_by]
        allowed_by = for_asker(" ", ", ").join(options) if len(options) == len(found) else None
        raise RefusalError("; ".join(each.message for each in found), advice or None, allowed_by)


def incomparable(gate: Gate, qrels: Qrels) -> RefusalError | None:
    """What forbids any comparison with the baseline: numbers of another version, or other judgments than the frozen
    ones, with the queries that came, went or changed."""
    if gate.numbers != NUMBERS:
        return RefusalError(
            f"the baseline was made by gainful {gate.version}, whose numbers differ from this version's",
            "freeze it anew with `gainful gate init`, from the same run",
        )
    if qrels.scale != gate.scale:
        return RefusalError(f"the judgments have the scale {qrels.scale:g}, those of the baseline had {gate.scale:g}")
    if qrels.content is not None and gate.judgments.get("file") == qrels.content.sha256():
        return None
    now = hashes_of(qrels)
    others = set(gate.judgments.get("others", ()))
    came = [query for query in now if query not in gate.queries and query not in others]
    went = [query for query in gate.queries if query not in now]
    changed = [query for query, frozen in gate.queries.items() if query in now and now[query] != frozen.judgments]
    parts = [
        f"{count_of(len(queries), 'query', 'queries')} {what} ({some_of(queries)})"
        for queries, what in ((came, "came"), (went, "went"), (changed, "changed grades or documents"))
        if queries
    ]
    if not parts:
        return None
    return RefusalError(
        f"the judgments differ from those of the baseline: {', '.join(parts)}",
        "`gainful gate update GATE QRELS RUN --new-judgments --reason ...` freezes a baseline on the new ones",
    )


def unanswered(measured: Measured, rule: Rule) -> RefusalError | None:
    """What is said of the run that leaves out most queries, if these are more than the rule allows."""
    worst = max(measured.evaluations, key=lambda each: len(each.missing))
    count, most = len(worst.missing), rule.missing_at_most
    if count <= most:
        return None
    return RefusalError(
        f"{worst.run}: no results for {count:,} of {count_of(len(worst.queries), 'query', 'queries')} "
        f"({some_of(worst.missing)}); the gate allows {f'at most {most}' if most else 'none'}",
        "see whether the system failed",
        for_asker(f"--missing-at-most {count}", f"missing_at_most={count}"),
    )


def unjudged(rule: Rule, measured: Measured, baseline: float = 0.0) -> RefusalError | None:
    """What is said of runs with too few judged documents, also beside a baseline's: holes look like a regression. Where
    only relevant documents are judged, nothing is: fewer of them are no holes, but a regression."""
    share = measured.judged
    if share < rule.judged_at_least:
        why = f"at least {rule.judged_at_least:.0%} have to be"
    elif share < baseline - rule.judged_drop and all(each.facts.others_judged for each in measured.evaluations):
        why = f"{baseline:.1%} were with the baseline: holes in the judgments can look like a regression"
    else:
        return None
    return RefusalError(
        f"only {share:.1%} of the documents in the top {measured.depth} are judged, {why}",
        "judge them, then `gainful gate update GATE QRELS RUN --new-judgments --reason ...`",
    )


def known_spread(gate: Gate, measure: str, baseline: float) -> float | None:
    """The median spread of accepted changes, absolute; None while there are too few. One large change among small ones
    does not make the gate blind."""
    known = [each.spreads[measure] for each in gate.history if each.spreads.get(measure)]
    return float(np.median(known)) * abs(baseline) if len(known) >= KNOWN_FROM else None


def blind_spot(gate: Gate) -> RefusalError | None:
    """What the queries cannot show though the rule says so; None where they can.

    Goes by the spread of accepted changes, if it is known, else by what the rule says of it.
    """
    worst, share_of_worst = None, 0.0
    for i, measure in enumerate(gate.measures):
        if not gate.history[-1].means[measure]:
            continue  # nothing can fall from it, and no query may have a score
        pairs = [(each.scores[i], each.weight or 1.0) for each in gate.queries.values()]
        scores, weights = (np.array(each) for each in zip(*((s, w) for s, w in pairs if s is not None), strict=True))
        mean = abs(weighted_mean(scores, weights))
        # So many queries of equal weight would show as much (Kish 1965).
        effective = float(weights.sum()) ** 2 / float((weights**2).sum())
        spread = known_spread(gate, measure, mean) or gate.rule.spread * mean
        margin, noise = gate.rule.margin_of(mean), noise_of(spread, effective, LEVEL)
        if noise > margin * (1 + 1e-9) and noise / mean > share_of_worst:
            share_of_worst = noise / mean
            share = math.ceil(1000 * share_of_worst) / 10
            unequal = f", whose weights make them worth {effective:.0f}," if effective < 0.99 * scores.size else ""
            worst = RefusalError(
                f"{measure}: {count_of(scores.size, 'query', 'queries')}{unequal} can only show drops above "
                f"{noise:.3f} ({share:g} %), not the margin of {gate.rule.margin_text} ({margin:.3f})",
                f"judge about {math.ceil(scores.size * (noise / margin) ** 2):,} queries",
                for_asker(f"--margin {share:g}%", f"margin={share / 100:g}"),
            )
    return worst


def check_named(rule: Rule, queries: Iterable[str], measures: Sequence[str]) -> None:
    """Refuses floors of measures that are not gated, and queries that must hold but are not there."""
    known = set(queries)
    lost = [query for query in rule.must_hold if query not in known]
    if lost:
        raise InputError(f"must-hold: expected judged queries, found {some_of(lost)}, not judged")
    for measure in rule.floors:
        if measure not in measures:
            raise UsageError(f"floor: expected a gated measure, found {printable(measure)}", f"-m {measure} gates it")
