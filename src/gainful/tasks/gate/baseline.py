"""Freeze a baseline, check a run against it, or replace it with a reason; refuse invalid comparisons."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from gainful._version import __version__
from gainful.data.judged import Judged
from gainful.data.qrels import Qrels, QrelsLike
from gainful.data.queries import UNKNOWN, Queries, QueriesLike, in_order
from gainful.data.run import RunLike, holds_objects, runs_by_name
from gainful.errors import InputError, UsageError, for_asker
from gainful.evaluation.beside import Beside
from gainful.evaluation.evaluate import MeasuresLike, evaluate_runs
from gainful.evaluation.evaluations import Evaluation
from gainful.evaluation.notices import notices
from gainful.frozen import dataclass, replace
from gainful.kernel.arrays import Floats
from gainful.kernel.exact_sums import effective_number, weighted_mean
from gainful.measures.base import Measure
from gainful.measures.catalog import parse, parse_all
from gainful.notation import count_of, percent_text, printable, some_of, today, worth_text
from gainful.policy import Policy
from gainful.stats.regression_rule import LEAST_FALLEN, LEVEL, assess_change, least_shown
from gainful.stats.repeatable import settled_differences
from gainful.stats.run_noise import RunNoise, run_noise
from gainful.tasks.gate import (
    COLLAPSED,
    COLLAPSED_FROM,
    MARGIN,
    NUMBERS,
    Accepted,
    FrozenQuery,
    Gate,
    Rule,
    broken_floor,
    content_hash,
    hashes_of,
)
from gainful.tasks.gate.gate_report import Finding, GateReport, Promise, QueryChange

#: The command that freezes a gate; the command line replaces the dots with its arguments.
INIT = "gainful gate init ..."
#: With this many accepted changes, their spread replaces that of the rule.
_KNOWN_FROM = 5
#: The share of scores of 0 or 1 that a small change flips; see docs/explanation/gate-rule.md.
_FLIPPED = 0.05


class RefusalError(InputError):
    """The comparison is invalid; ``allowed_by`` are options of `gate init` that allow it nevertheless."""

    instead: tuple[float, str] | None = None  # a detectable margin and a notice

    def __init__(self, message: str, advice: str | None = None, allowed_by: str | None = None) -> None:
        way_out = f"{advice}, or allow it: {for_asker(f'{INIT} ', '')}{allowed_by}"
        super().__init__(message, way_out if allowed_by else advice)
        self.advice, self.allowed_by = advice, allowed_by


@dataclass(frozen=True, eq=False)
class Measured:
    """A system's runs (several are repeats), their scores, and the share of judged documents to rank ``depth``.

    ``scores`` are measures x queries x repeats, NaN if the policy leaves a query out.
    """

    evaluations: tuple[Evaluation, ...]
    measures: tuple[Measure, ...]
    scores: Floats
    judged: float
    depth: int

    @property
    def queries(self) -> list[str]:
        return self.evaluations[0].queries

    def means(self, weights: Floats) -> dict[str, float]:
        """Return the mean of each measure over the queries with a score, averaged over repeats."""
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
    threads: int | None,
    rule: Rule,
) -> Measured:
    """Score runs of one system by measures that have a mean and a direction, with the share of judged documents."""
    for measure in measures:
        if measure.better == "neither" or measure.aggregate != "mean":
            raise UsageError(f"{measure} cannot be gated: it has no mean, or neither direction is better")
    cutoffs = [cutoff for measure in measures if (cutoff := getattr(measure, "cutoff", None))]
    depth = min(cutoffs, default=10)
    coverage = parse(f"Judged@{depth}")
    wanted = [*dict.fromkeys([*measures, coverage, *([parse(rule.forbid)] if rule.forbid else [])])]
    evaluations = tuple(evaluate_runs(judged, runs, wanted, queries=queries, threads=threads).values())
    scores = np.array([[each.settled_scores(measure) for each in evaluations] for measure in measures])
    share = math.fsum(each.mean(coverage) for each in evaluations) / len(evaluations)
    share = 0.0 if math.isnan(share) else share
    return Measured(evaluations, tuple(measures), scores.transpose(0, 2, 1), share, depth)


def frozen_scores(gate: Gate, queries: Iterable[str]) -> Floats:
    """Return the baseline's scores, measures x queries; NaN if the policy left a query out."""
    return np.array([gate.queries[query].scores for query in queries], np.float64).T


def _raise_refusals(*refusals: RefusalError | None) -> None:
    """Raise all refusals as one, with the options that allow them."""
    found = [each for each in refusals if each is not None]
    if found:
        advice = ", ".join(each.advice for each in found if each.advice)
        options = [each.allowed_by for each in found if each.allowed_by]
        allowed_by = for_asker(" ", ", ").join(options) if len(options) == len(found) else None
        raise RefusalError("; ".join(each.message for each in found), advice or None, allowed_by)


#: A run, several of the same system, or several by name.
RepeatsLike: TypeAlias = "RunLike | Sequence[RunLike] | Mapping[str, RunLike]"

Texts: TypeAlias = "np.ndarray[Any, np.dtype[np.str_]]"


def freeze_gate(
    qrels: QrelsLike | Judged,
    run: RepeatsLike,
    measures: MeasuresLike = "nDCG@10",
    *,
    rule: Rule | None = None,
    policy: Policy | str | None = None,
    queries: QueriesLike | None = None,
    reason: str = "first baseline",
    threads: int | None = None,
) -> Gate:
    """Return a gate whose baseline is a run, or the mean of several runs of one system."""
    rule = rule or Rule()
    judged = Judged.of(qrels, policy)
    about = None if queries is None else Queries.of(queries)
    if rule.by is not None and about is None:
        raise UsageError("by requires a table of queries", "--queries FILE (queries= in Python)")
    found = measure_runs(judged, _repeats(run), parse_all(measures), about, threads, rule)
    known = {query: FrozenQuery("", []) for query in found.queries}
    suspicious: list[str] = []
    if about is not None:
        rule = replace(rule, weights=about.weights)
        suspicious = [*about.passed_over(judged.qrels.queries), *about.notices(found.queries)]
        nothing = [None] * len(found.queries)
        groups = nothing if rule.by is None else about.segment_of_each(rule.by, found.queries)
        weights = about.weights_of(found.queries)
        for query, group, weight in zip(known, groups, nothing if weights is None else weights.tolist(), strict=True):
            known[query] = FrozenQuery("", [], about.text(query), group, weight)
    first = found.evaluations[0]
    gate = Gate([str(measure) for measure in found.measures], rule, first.policy.texts(), first.scale, {}, 0, known, [])
    _check_named(rule, found.queries, gate.measures)
    return _with_baseline(gate, judged, found, reason, are_queries_new=True, suspicious=suspicious)


def check_gate(
    gate: Gate | str | os.PathLike[str],
    qrels: QrelsLike | Judged,
    run: RepeatsLike,
    *,
    strict: bool = False,
    threads: int | None = None,
) -> GateReport:
    """Check whether a run, or the mean of several runs of one system, has regressed from the baseline of a gate.

    If the run cannot be compared with the baseline, the verdict of the report is ``refused``, with the reason.
    """
    frozen = gate if isinstance(gate, Gate) else Gate.read(gate)
    runs = _repeats(run)
    report = GateReport(frozen, tuple(runs), {}, is_strict=strict)
    try:
        judged = judged_for(frozen, qrels)
        refusal = _other_judgments(frozen, judged.qrels)
        if refusal is not None and frozen.queries.keys().isdisjoint(judged.qrels.queries):
            raise refusal
        found = measure_runs(judged, runs, frozen.parsed, Queries(only=list(frozen.queries)), threads, frozen.rule)
        report = replace(report, means=found.means(_weights(frozen, found.queries)))
        _raise_refusals(refusal or _too_few_answered(found, frozen.rule))
        refusal = _too_few_judged(frozen.rule, found, frozen.judged)
        whole = _assessed(report, found)
        if refusal is None:
            return whole
        ends = [_assessed(report, each) for each in _at_bounds(found, judged, runs, threads)]
        may_leak = frozen.rule.forbid and whole.verdict != "regression"  # an unjudged document can be forbidden
        if may_leak or {each.verdict for each in ends} != {whole.verdict}:
            raise refusal
        means = ", ".join(f"{name} {ends[0].means[name]:.4f} or {ends[1].means[name]:.4f}" for name in whole.means)
        few = refusal.message.partition(", ")[0]
        note = f"{few}; the verdict is the same if the others have the worst or the best grades: {means}"
        return replace(whole, notices=(*whole.notices, note))
    except RefusalError as refused:
        floors = tuple(_floors(frozen, report.means)) if report.means else ()
        return replace(report, refusal=refused.message, hint=refused.hint, promises=floors)


def _assessed(report: GateReport, found: Measured) -> GateReport:
    frozen, compared = report.gate, compare_with_baseline(report.gate, found)
    assessed = [finding for each in compared for finding in each.assess(frozen)]
    findings = tuple(each for each in assessed if each.group is None)
    changes = sorted((change for each in compared for change in each.changes(frozen)), key=lambda each: each.gain)
    worse = {each.query: each for each in reversed(changes) if each.gain < 0}
    held = []
    for query in frozen.rule.must_hold:
        fell = worse.get(query)
        went = fell and f"its {fell.measure} went from {fell.baseline:.4f} to {fell.new:.4f}"
        held.append(Promise(f"{query} holds", went and f"{printable(query)} must hold, but {went}"))
    blind = _blind_spot(frozen)
    means = {each.measure: each.change.new for each in findings}
    return replace(
        report,
        means=means,
        findings=findings,
        groups=tuple(each for each in assessed if each.group is not None),
        queries=tuple(changes),
        promises=(*_floors(frozen, means), *held, *_leaks(frozen, found)),
        blind=None if blind is None else blind.message,
        notices=tuple(notices(found.evaluations)),
    )


def update_gate(
    gate: Gate | str | os.PathLike[str],
    qrels: QrelsLike | Judged | None,
    run: RepeatsLike,
    reason: str,
    *,
    new_judgments: bool = False,
    threads: int | None = None,
) -> Gate:
    """Return the gate with a new baseline, and the reason for it.

    Without ``qrels``, the judgments are those of the old baseline; other judgments require ``new_judgments``.
    """
    if not reason.strip():
        raise UsageError("reason: must not be empty")
    frozen = gate if isinstance(gate, Gate) else Gate.read(gate)
    runs, judged = _repeats(run), judged_for(frozen, frozen.qrels_path if qrels is None else qrels)
    if not new_judgments:
        found = comparable(frozen, judged, runs, threads)
        changes = {str(each.measure): each.assess(frozen)[0].change for each in compare_with_baseline(frozen, found)}
        # The spread of this accepted change, relative to the mean.
        moved = {name: each for name, each in changes.items() if each.baseline and each.spread}
        spreads = {name: each.spread / abs(each.baseline) for name, each in moved.items()}
        return _with_baseline(frozen, judged, found, reason, spreads)
    known = set(judged.qrels.queries)
    others = [query for query in frozen.judgments.get("others", ()) if query in known]  # deliberately left out
    left_out = Queries(exclude=others) if others else None
    found = measure_runs(judged, runs, frozen.parsed, left_out, threads, frozen.rule)
    strangers = [query for query in found.queries if query not in frozen.queries]
    if strangers and (frozen.rule.weights is not None or frozen.rule.by is not None):
        hint = "`gainful gate init` with --queries freezes a new baseline"
        raise InputError(f"query '{printable(strangers[0])}' is new: its group or weight is unknown", hint)
    _check_named(frozen.rule, found.queries, frozen.measures)
    frozen = replace(frozen, scale=judged.qrels.scale)
    return _with_baseline(frozen, judged, found, reason, are_queries_new=True)


def _repeats(run: RepeatsLike) -> dict[str, RunLike]:
    def name_of(run: RunLike, place: int) -> str:
        return os.path.basename(run) if isinstance(run, (str, os.PathLike)) else f"run {place}"

    if isinstance(run, (list, tuple)) and not holds_objects(run):
        if not run:
            raise UsageError("run: at least one run is required")
        names = [name_of(each, i) for i, each in enumerate(run, 1)]
        return {
            name if names.count(name) == 1 else f"{name} ({i})": each
            for i, (name, each) in enumerate(zip(names, run, strict=True), 1)
        }
    several = runs_by_name(run)
    return dict(several) if several is not None else {name_of(run, 1): run}


def comparable(gate: Gate, judged: Judged, runs: Mapping[str, RunLike], threads: int | None = None) -> Measured:
    """Score runs on the frozen queries; raise RefusalError if they cannot be compared with the baseline."""
    _raise_refusals(_other_judgments(gate, judged.qrels))
    found = measure_runs(judged, runs, gate.parsed, Queries(only=list(gate.queries)), threads, gate.rule)
    _raise_refusals(_too_few_answered(found, gate.rule))
    return found


def _at_bounds(found: Measured, judged: Judged, runs: Mapping[str, RunLike], threads: int | None) -> Iterator[Measured]:
    """Yield the runs with the worst and with the best possible scores if unjudged documents had any grades."""
    queries, beside = Queries(only=found.queries), Beside(bounds=True)
    try:
        each = evaluate_runs(judged, runs, found.measures, queries=queries, beside=beside, threads=threads).values()
    except UsageError:  # the conventions allow no bounds
        return
    parts = [[one.besides["bounds"].get(str(measure)) or {} for one in each] for measure in found.measures]
    if not all(map(all, parts)):  # no finite bounds
        return
    for end in ("lowest", "highest"), ("highest", "lowest"):
        ends = [end[measure.better == "lower"] for measure in found.measures]
        scores = np.array([[part[name] for part in row] for name, row in zip(ends, parts, strict=True)])
        yield replace(found, scores=scores.transpose(0, 2, 1))


def _weights(gate: Gate, queries: Iterable[str]) -> Floats:
    return np.array([gate.queries[query].weight or 1.0 for query in queries])


def judged_for(gate: Gate, qrels: QrelsLike | Judged) -> Judged:
    """Return judgments under the gate's conventions."""
    if not isinstance(qrels, Judged):
        read = Qrels.of(qrels)
        # Copy only if necessary: a copy loses its file, whose hash makes hashing the content unnecessary.
        known = read if read.scale >= gate.scale else replace(read, scale=gate.scale)
        return Judged(known, gate.conventions)
    if qrels.policy != gate.conventions:
        raise RefusalError("the conventions differ from the baseline", f"its conventions are {gate.conventions}")
    return qrels


def _with_baseline(
    gate: Gate,
    judged: Judged,
    found: Measured,
    reason: str,
    spreads: Mapping[str, float] | None = None,
    *,
    are_queries_new: bool = False,
    suspicious: Sequence[str] = (),
) -> Gate:
    """Return the gate with these scores as its baseline, which must satisfy the rule."""
    hashes = hashes_of(judged.qrels)
    means = np.mean(found.scores, axis=2)
    queries = {}
    for i, query in enumerate(found.queries):
        values = [None if math.isnan(value) else value for value in means[:, i].tolist()]
        before = gate.queries.get(query) or FrozenQuery("", [])
        queries[query] = replace(before, judgments=hashes[query], scores=values)
    gate = replace(gate, queries=queries)
    first, weights = found.evaluations[0], _weights(gate, queries)
    names = " ".join(each.run for each in found.evaluations)
    accepted = Accepted(today(), reason, names, first.sha256["run"], found.means(weights), dict(spreads or {}))
    # The variance between repeated runs, by measure.
    variances = {}
    for measure, scores in zip(gate.measures, found.scores, strict=True) if found.scores.shape[2] > 1 else ():
        scored = ~np.isnan(scores).any(axis=1)
        counts = weights[scored] * (scored.sum() / weights[scored].sum())
        variances[measure] = run_noise(scores[scored], None if gate.rule.weights is None else counts).variance
    gate = replace(
        gate,
        judgments={
            "path": judged.qrels.name,
            "file": first.sha256["judgments"],
            "content": content_hash({query: each.judgments for query, each in queries.items()}),
            "others": sorted(query for query in hashes if query not in queries),
        },
        judged=found.judged,
        history=[*gate.history, accepted],
        runs=found.scores.shape[2],
        run_variances=variances,
        version=__version__,
        numbers=NUMBERS,
    )
    blind, gate_notices = _blind_spot(gate), list(suspicious)
    if gate.rule.margin is None:  # choose one that the queries can detect
        margin, notice = (blind and blind.instead) or (MARGIN, None)
        gate = replace(gate, rule=replace(gate.rule, margin=margin))
        if notice is not None:
            gate_notices, blind = [*gate_notices, notice], None
    leaks = [f"the baseline breaks its own rule: {each.broken}" for each in _leaks(gate, found) if each.broken]
    _raise_refusals(*_broken_rules(gate, found if are_queries_new else None, blind), *map(RefusalError, leaks))
    return replace(gate, notices=(*gate_notices, *([] if blind is None else [blind.message])))


def _broken_rules(gate: Gate, found: Measured | None, blind: RefusalError | None) -> Iterator[RefusalError | None]:
    """Yield the ways in which a baseline breaks its rule; ``found`` are the measured runs if the queries are new."""
    means = gate.history[-1].means
    if found is not None:
        yield _too_few_answered(found, gate.rule)
        yield _too_few_judged(gate.rule, found)
    for measure in gate.parsed:
        if means[str(measure)] == 0 and (measure.better == "higher" or gate.rule.is_relative):
            relative = "a relative margin is impossible", "set an absolute margin such as --margin 0.01"
            why, hint = relative if measure.better == "lower" else ("it cannot fall", None)
            yield RefusalError(f"{measure}: the mean of the baseline is 0: {why}", hint)
    for floor in _floors(gate, means):
        if floor.broken:
            yield RefusalError(f"the baseline breaks its own rule: {floor.broken}", "choose another floor")
    if found is not None and not gate.rule.floors:  # floors need no statistics; a note reports the detectable drop
        yield blind


def _other_judgments(gate: Gate, qrels: Qrels) -> RefusalError | None:
    """Return a refusal if scores of another version, or added, removed or changed queries, prevent a comparison."""
    if gate.numbers != NUMBERS:
        message = f"the baseline was frozen by gainful {gate.version}, whose scores differ from this version"
        return RefusalError(message, "freeze it again with `gainful gate init`, from the same run")
    if qrels.scale != gate.scale:
        return RefusalError(f"the judgments have the scale {qrels.scale:g}, the baseline has {gate.scale:g}")
    if qrels.content is not None and gate.judgments.get("file") == qrels.content.sha256():
        return None
    now = hashes_of(qrels)
    others = set(gate.judgments.get("others", ()))
    came = [query for query in now if query not in gate.queries and query not in others]
    went = [query for query in gate.queries if query not in now]
    changed = [query for query, frozen in gate.queries.items() if query in now and now[query] != frozen.judgments]
    parts = [
        f"{count_of(len(queries), 'query', 'queries')} {what} ({some_of(queries)})"
        for queries, what in ((came, "added"), (went, "removed"), (changed, "with changed grades or documents"))
        if queries
    ]
    if not parts:
        return None
    hint = "`gainful gate update GATE QRELS RUN --new-judgments --reason ...` freezes a baseline on the new judgments"
    return RefusalError(f"the judgments differ from the baseline: {', '.join(parts)}", hint)


def _too_few_answered(measured: Measured, rule: Rule) -> RefusalError | None:
    """Return a refusal if a run leaves out more queries than the rule allows."""
    worst = max(measured.evaluations, key=lambda each: len(each.missing))
    count, most = len(worst.missing), rule.missing_at_most
    if count <= most:
        return None
    return RefusalError(
        f"{worst.run}: no results for {count:,} of {count_of(len(worst.queries), 'query', 'queries')} "
        f"({some_of(worst.missing)}); the gate allows {f'at most {most}' if most else 'none'}",
        "check whether the system failed",
        for_asker(f"--missing-at-most {count}", f"missing_at_most={count}"),
    )


def _too_few_judged(rule: Rule, measured: Measured, baseline: float = 0.0) -> RefusalError | None:
    """Return a refusal if too few documents are judged, because unjudged documents can look like a regression."""
    share = measured.judged
    if share < rule.judged_at_least:
        why = f"at least {rule.judged_at_least:.0%} are required"
    # If all judged documents are relevant, fewer of them are a regression.
    elif share < baseline - rule.judged_drop and all(each.facts.others_judged for each in measured.evaluations):
        why = f"{baseline:.1%} in the baseline: unjudged documents can look like a regression"
    else:
        return None
    hint = "judge them, then `gainful gate update GATE QRELS RUN --new-judgments --reason ...`"
    return RefusalError(f"only {share:.1%} of the documents in the top {measured.depth} are judged, {why}", hint)


def are_zero_or_one(scores: Floats) -> bool:
    """Whether all scores are 0 or 1, so that changes flip them."""
    return bool(np.isin(scores, (0.0, 1.0)).all())


def usual_spread(gate: Gate, measure: str, scores: Floats, mean: float) -> float:
    """Return the standard deviation of per-query differences caused by a small change, from the history if possible."""
    known = [each.spreads[measure] for each in gate.history if each.spreads.get(measure)]
    if len(known) >= _KNOWN_FROM:  # the median, so that one large change does not blind the gate
        return float(np.median(known)) * abs(mean)
    return max(gate.rule.spread * abs(mean), math.sqrt(_FLIPPED) if are_zero_or_one(scores) else 0.0)


def _blind_spot(gate: Gate) -> RefusalError | None:
    """Return a refusal if the queries cannot detect the margin, given the spread of small changes."""
    worst, share_of_worst = None, 0.0
    for parsed, frozen in zip(gate.parsed, frozen_scores(gate, gate.queries), strict=True):
        measure = str(parsed)
        if not gate.history[-1].means[measure]:
            continue  # a mean of 0 cannot fall
        scored = ~np.isnan(frozen)
        scores, weights = frozen[scored], _weights(gate, gate.queries)[scored]
        mean = abs(weighted_mean(scores, weights))
        effective = effective_number(weights)
        can_fall = scores.size if parsed.better == "lower" else int(np.count_nonzero(scores > 0))
        if can_fall < LEAST_FALLEN:
            few = f"{measure}: only {count_of(can_fall, 'query', 'queries')} can fall, too few to detect a drop"
            return RefusalError(few, f"judge queries until at least {LEAST_FALLEN} can fall, or set a floor")
        spread = usual_spread(gate, measure, scores, mean)
        by_spread, drop = (least_shown(spread, effective, flips) for flips in (False, are_zero_or_one(scores)))
        margin = gate.rule.margin_of(mean)
        if drop > margin * (1 + 1e-9) and drop / mean > share_of_worst:
            share_of_worst = drop / mean
            share = math.ceil(1000 * share_of_worst) / 10
            worth = worth_text(scores.size, effective)
            able = f"{count_of(scores.size, 'query', 'queries')}{worth}{',' if worth else ''} can"
            advice = f"judge about {math.ceil(scores.size * max((by_spread / margin) ** 2, drop / margin)):,} queries"
            worst = RefusalError(
                f"{measure}: {able} only detect drops above {drop:.3f} ({share:g}%), not the margin of "
                f"{gate.rule.margin_text} ({margin:.3f})",
                advice,
                for_asker(f"--margin {share:g}%", f"margin={share / 100:g}"),
            )
            notice = f"margin {share:g}%: the drop of {measure} that {able} detect; {advice} for {percent_text(MARGIN)}"
            worst.instead = share / 100, notice
    return worst


def _check_named(rule: Rule, queries: Iterable[str], measures: Sequence[str]) -> None:
    """Raise an error for floors of measures that are not gated, and for unknown queries that must hold."""
    known = set(queries)
    lost = [query for query in rule.must_hold if query not in known]
    if lost:
        raise InputError(f"must-hold: queries without judgments: {some_of(lost)}")
    for measure in rule.floors:
        if measure not in measures:
            raise UsageError(f"floor: {printable(measure)} is not gated", f"-m {measure} gates it")


@dataclass(frozen=True, eq=False)
class Compared:
    """The queries with both scores by one measure: baseline, and new (queries x repeats)."""

    measure: Measure
    queries: tuple[str, ...]
    baseline: Floats
    new: Floats
    weights: Floats | None = None
    groups: Texts | None = None

    def assess(self, gate: Gate, draws: int | None = None) -> list[Finding]:
        """Assess the change on all queries and in each group; they share the significance level."""
        parts: list[tuple[str | None, Any]] = [(None, slice(None))]
        if self.groups is not None:
            names = sorted(set(self.groups.tolist()), key=in_order)
            parts += [(name, self.groups == name) for name in names]
        # With groups, all queries get half of the level, and the groups share the other half.
        shares = (1, 1) if len(parts) == 1 else (2, 2 * (len(parts) - 1))
        name, found = str(self.measure), []
        for group, rows in parts:
            baseline, weights = self.baseline[rows], None
            if self.weights is not None:
                weights = self.weights[rows] * (baseline.size / self.weights[rows].sum())
            mean = float(np.average(baseline, weights=weights))
            change = assess_change(
                baseline,
                self.new[rows],
                gate.rule.margin_of(mean),
                better=self.measure.better,
                weights=weights,
                level=LEVEL / shares[group is not None],
                draws=draws,
                runs=RunNoise(gate.run_variances.get(name, 0.0), gate.runs - 1, gate.runs),
            )
            found.append(Finding(name, change, group))
        return found

    def changes(self, gate: Gate) -> Iterator[QueryChange]:
        """Yield the queries whose score changed, averaged over repeats; gains are positive if the query improved."""
        sign = 1.0 if self.measure.better == "higher" else -1.0
        means = np.mean(self.new, axis=1)
        gains = sign * settled_differences(means, self.baseline)
        for place in np.flatnonzero(gains).tolist():
            query, before, gain = self.queries[place], float(self.baseline[place]), float(gains[place])
            has_collapsed = sign > 0 and before >= COLLAPSED_FROM and -gain >= COLLAPSED * before
            frozen, scores = gate.queries[query], (before, float(means[place]), gain)
            yield QueryChange(query, str(self.measure), *scores, frozen.text, frozen.group, has_collapsed)


def compare_with_baseline(gate: Gate, found: Measured) -> list[Compared]:
    """Pair the scores of baseline and run by each measure; refuse if too many queries have lost their score."""
    compared = []
    frozen = frozen_scores(gate, found.queries)
    for measure, baseline, new in zip(found.measures, frozen, found.scores, strict=True):
        has_now = ~np.isnan(new).any(axis=1)
        lost = [found.queries[place] for place in np.flatnonzero(~np.isnan(baseline) & ~has_now).tolist()]
        if len(lost) > gate.rule.missing_at_most:
            raise RefusalError(
                f"{measure}: {count_of(len(lost), 'query', 'queries')} without a score ({some_of(lost)}); the gate "
                f"allows at most {gate.rule.missing_at_most}",
                "a measure that is undefined if nothing relevant is found hides such failures; nDCG or RR do not",
            )
        kept = np.flatnonzero(~np.isnan(baseline) & has_now).tolist()
        if not kept:
            raise RefusalError(f"{measure}: no query has a score in both runs")
        names = tuple(found.queries[place] for place in kept)
        compared.append(Compared(measure, names, baseline[kept], new[kept], *weights_and_groups(gate, names)))
    return compared


def weights_and_groups(gate: Gate, queries: Iterable[str]) -> tuple[Floats | None, Texts | None]:
    """Return the weights and groups of queries; None without a rule for them."""
    weights = None if gate.rule.weights is None else _weights(gate, queries)
    groups = [gate.queries[query].group or UNKNOWN for query in queries]
    return weights, None if gate.rule.by is None else np.array(groups)


def _floors(gate: Gate, means: Mapping[str, float]) -> Iterator[Promise]:
    for measure in gate.parsed:
        floor = gate.rule.floors.get(str(measure))
        if floor is not None:
            sign = "<=" if measure.better == "lower" else ">="
            yield Promise(f"{measure} {sign} {floor:g}", broken_floor(measure, floor, means[str(measure)]))


def _leaks(gate: Gate, found: Measured) -> Iterator[Promise]:
    """Yield the promise that no query has a forbidden document."""
    if gate.rule.forbid:
        leak = parse(gate.rule.forbid)
        raw = np.max([each.raw[each.measures.index(leak)] for each in found.evaluations], axis=0)  # no answer: no leak
        shown = [found.queries[place] for place in np.flatnonzero(raw > 0).tolist()]
        where = f"{leak}: forbidden documents in {count_of(len(shown), 'query', 'queries')} ({some_of(shown)})"
        none = f"{leak} is undefined: the judgments forbid no document"
        yield Promise(f"{leak} = 0", none if np.isnan(raw).any() else where if shown else None)
