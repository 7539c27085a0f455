"""Freeze a baseline, check a run against it, replace it with a reason."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from gainful._version import __version__
from gainful.data.judged import Judged
from gainful.data.qrels import Qrels, QrelsLike
from gainful.data.queries import UNKNOWN, Queries, QueriesLike, in_order
from gainful.data.run import RunLike, holds_objects, runs_by_name
from gainful.errors import InputError, UsageError
from gainful.evaluation.evaluate import MeasuresLike
from gainful.kernel.arrays import Floats
from gainful.kernel.parallel import Progress
from gainful.measures.base import Measure
from gainful.measures.catalog import parse_all
from gainful.notation import count_of, printable, some_of, today
from gainful.policy import Policy
from gainful.stats.regression_rule import LEVEL, RunNoise, assess_change, run_noise
from gainful.stats.repeatable import settled_differences
from gainful.tasks.gate import measured as measuring
from gainful.tasks.gate.gate_file import (
    COLLAPSED,
    COLLAPSED_FROM,
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
from gainful.tasks.gate.measured import Measured, RefusalError, as_number, measure_runs

#: A run, several of the same system, or several by name.
RepeatsLike: TypeAlias = "RunLike | Sequence[RunLike] | Mapping[str, RunLike]"

#: The names of groups.
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
    progress: Progress | None = None,
) -> Gate:
    """A gate with the scores of a run, or the means of several of the same system, as its baseline."""
    rule = rule or Rule()
    judged = Judged.of(qrels, policy)
    about = None if queries is None else Queries.of(queries)
    if rule.by is not None and about is None:
        raise UsageError("by: expected a table of queries, found none", "--queries FILE (queries= in Python)")
    found = measure_runs(judged, _repeats(run), parse_all(measures), about, threads, progress)
    known = {query: FrozenQuery("", []) for query in found.queries}
    notices: list[str] = []
    if about is not None:
        rule = replace(rule, weights=about.weights)
        notices = [*about.passed_over(judged.qrels.queries), *about.notices(found.queries)]
        segments = {} if rule.by is None else about.segments(rule.by, found.queries)
        groups = {found.queries[place]: group for group, places in segments.items() for place in places}
        weights = about.weights_of(found.queries)
        for i, query in enumerate(found.queries):
            weight = None if weights is None else float(weights[i])
            known[query] = FrozenQuery("", [], about.text(query), groups.get(query), weight)
    first = found.evaluations[0]
    gate = Gate([str(measure) for measure in found.measures], rule, first.policy.texts(), first.scale, {}, 0, known, [])
    measuring.check_named(rule, found.queries, gate.measures)
    return _with_baseline(gate, judged, found, reason, are_queries_new=True, notices=notices)


def check_gate(
    gate: Gate | str | os.PathLike[str],
    qrels: QrelsLike | Judged,
    run: RepeatsLike,
    *,
    strict: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> GateReport:
    """Whether a run, or the mean of several of the same system, has fallen from the baseline of a gate.

    What cannot be compared is not: the report's verdict is then ``refused``, and it says why.
    """
    frozen = gate if isinstance(gate, Gate) else Gate.read(gate)
    runs = _repeats(run)
    report = GateReport(frozen, tuple(runs), {}, is_strict=strict)
    try:
        judged = judged_for(frozen, qrels)
        refusal = measuring.incomparable(frozen, judged.qrels)
        if refusal is not None and frozen.queries.keys().isdisjoint(judged.qrels.queries):
            raise refusal
        found = measure_runs(judged, runs, frozen.parsed, Queries(only=list(frozen.queries)), threads, progress)
        report = replace(report, means=found.means(_weights(frozen, found.queries)))
        unjudged = measuring.unjudged(frozen.rule, found, frozen.judged)
        measuring.raise_all(refusal or measuring.unanswered(found, frozen.rule) or unjudged)
        compared = compare_with_baseline(frozen, found)
    except RefusalError as refused:
        floors = tuple(_floors(frozen, report.means)) if report.means else ()
        return replace(report, refusal=refused.message, hint=refused.hint, promises=floors)
    assessed = [finding for each in compared for finding in each.assess(frozen)]
    findings = tuple(each for each in assessed if each.group is None)
    changes = sorted((change for each in compared for change in each.changes(frozen)), key=lambda each: each.gain)
    blind = measuring.blind_spot(frozen)
    means = {each.measure: each.change.new for each in findings}
    return replace(
        report,
        means=means,
        findings=findings,
        groups=tuple(each for each in assessed if each.group is not None),
        queries=tuple(changes),
        promises=(*_floors(frozen, means), *_must_hold(frozen, changes)),
        blind=None if blind is None else blind.message,
        notices=tuple(found.notices),
    )


def update_gate(
    gate: Gate | str | os.PathLike[str],
    qrels: QrelsLike | Judged | None,
    run: RepeatsLike,
    reason: str,
    *,
    new_judgments: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Gate:
    """The gate with another baseline, and why. Without ``qrels``, by the judgments that it was frozen with; others are
    taken only where that is said."""
    if not reason.strip():
        raise UsageError("reason: expected why the baseline changes, found nothing")
    frozen = gate if isinstance(gate, Gate) else Gate.read(gate)
    runs, judged = _repeats(run), judged_for(frozen, frozen.qrels_path if qrels is None else qrels)
    if not new_judgments:
        found = comparable(frozen, judged, runs, threads, progress)
        changes = {str(each.measure): each.assess(frozen)[0].change for each in compare_with_baseline(frozen, found)}
        # How far queries differ from the baseline, relative to its mean: what accepted changes look like.
        spreads = {
            name: change.spread / abs(change.baseline)
            for name, change in changes.items()
            if change.baseline and change.spread
        }
        return _with_baseline(frozen, judged, found, reason, spreads)
    known = set(judged.qrels.queries)
    others = [query for query in frozen.judgments.get("others", ()) if query in known]  # left out on purpose
    left_out = Queries(exclude=others) if others else None
    found = measure_runs(judged, runs, frozen.parsed, left_out, threads, progress)
    strangers = [query for query in found.queries if query not in frozen.queries]
    if strangers and (frozen.rule.weights is not None or frozen.rule.by is not None):
        raise InputError(
            f"query '{printable(strangers[0])}' is new: the gate does not know its group or weight",
            "`gainful gate init` with --queries freezes it anew",
        )
    measuring.check_named(frozen.rule, found.queries, frozen.measures)
    frozen = replace(frozen, scale=judged.qrels.scale)
    return _with_baseline(frozen, judged, found, reason, are_queries_new=True)


def _repeats(run: RepeatsLike) -> dict[str, RunLike]:
    """Runs of one system by name."""
    if isinstance(run, (list, tuple)) and not holds_objects(run):
        if not run:
            raise UsageError("run: expected at least one, found none")
        names = [_name(each, i) for i, each in enumerate(run, 1)]
        return {
            name if names.count(name) == 1 else f"{name} ({i})": each
            for i, (name, each) in enumerate(zip(names, run, strict=True), 1)
        }
    several = runs_by_name(run)
    return dict(several) if several is not None else {_name(run, 1): run}


def _name(run: RunLike, place: int) -> str:
    return os.path.basename(run) if isinstance(run, (str, os.PathLike)) else f"run {place}"


def comparable(
    gate: Gate,
    judged: Judged,
    runs: Mapping[str, RunLike],
    threads: int | None = None,
    progress: Progress | None = None,
) -> Measured:
    """Runs on the frozen queries and judgments, or a refusal."""
    measuring.raise_all(measuring.incomparable(gate, judged.qrels))
    found = measure_runs(judged, runs, gate.parsed, Queries(only=list(gate.queries)), threads, progress)
    measuring.raise_all(measuring.unanswered(found, gate.rule))
    return found


def _weights(gate: Gate, queries: Iterable[str]) -> Floats:
    """How much each query counts, 1 where nobody said."""
    return np.array([gate.queries[query].weight or 1.0 for query in queries])


def judged_for(gate: Gate, qrels: QrelsLike | Judged) -> Judged:
    """Judgments under the gate's conventions."""
    if not isinstance(qrels, Judged):
        read = Qrels.of(qrels)
        # A copy does not know its file, whose hash saves those of its content.
        known = read if read.scale >= gate.scale else replace(read, scale=gate.scale)
        return Judged(known, gate.conventions)
    if qrels.policy != gate.conventions:
        raise RefusalError("the conventions differ from those of the baseline", f"these are {gate.conventions}")
    return qrels


def _with_baseline(
    gate: Gate,
    judged: Judged,
    found: Measured,
    reason: str,
    spreads: Mapping[str, float] | None = None,
    *,
    are_queries_new: bool = False,
    notices: Sequence[str] = (),
) -> Gate:
    """The gate with these scores and what tells their judgments, unless that breaks its own rule: the same run would
    not pass."""
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
    # How far several runs of one system vary as a whole, by measure.
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
    blind = measuring.blind_spot(gate)
    measuring.raise_all(*_broken_rules(gate, found if are_queries_new else None, blind))
    return replace(gate, notices=(*notices, *([] if blind is None else [blind.message])))


def _broken_rules(gate: Gate, found: Measured | None, blind: RefusalError | None) -> Iterator[RefusalError | None]:
    """How a baseline breaks its gate's rule; ``found`` is what was measured if the queries are new, too."""
    means = gate.history[-1].means
    if found is not None:
        yield measuring.unanswered(found, gate.rule)
        yield measuring.unjudged(gate.rule, found)
    for measure in gate.parsed:
        if means[str(measure)] == 0 and (measure.better == "higher" or gate.rule.is_relative):
            is_lower = measure.better == "lower"
            yield RefusalError(
                f"{measure}: expected a baseline other than 0, found 0: "
                + ("no share of it is a margin" if is_lower else "nothing can fall from it"),
                "an absolute margin such as --margin 0.01" if is_lower else None,
            )
    for floor in _floors(gate, means):
        if floor.broken:
            yield RefusalError(f"the baseline breaks its own rule: {floor.broken}", "choose another floor")
    if found is not None and not gate.rule.floors:  # these need no statistics; a note says what the queries can show
        yield blind


@dataclass(frozen=True, eq=False)
class Compared:
    """One measure: the queries that both have a score of, the baseline's and the new ones (queries x repeats)."""

    measure: Measure
    queries: tuple[str, ...]
    baseline: Floats
    new: Floats
    weights: Floats | None = None
    groups: Texts | None = None

    def assess(self, gate: Gate, draws: int | None = None) -> list[Finding]:
        """What became of all queries, and of each group at a level for their number."""
        every = slice(None)
        parts: list[tuple[str | None, Any]] = [(None, every)]
        if self.groups is not None:
            names = sorted(set(self.groups.tolist()), key=in_order)
            parts += [(name, self.groups == name) for name in names]
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
                spread=measuring.known_spread(gate, name, mean),
                level=LEVEL if group is None else LEVEL / (len(parts) - 1),
                draws=draws,
                runs=RunNoise(gate.run_variances.get(name, 0.0), gate.runs - 1, gate.runs),
            )
            found.append(Finding(name, change, group))
        return found

    def changes(self, gate: Gate) -> Iterator[QueryChange]:
        """The queries whose score changed, and what each gained, whichever direction is better; of repeats the mean."""
        sign = 1.0 if self.measure.better == "higher" else -1.0
        means = np.mean(self.new, axis=1)
        gains = sign * settled_differences(means, self.baseline)
        for place in np.flatnonzero(gains).tolist():
            query, before, gain = self.queries[place], float(self.baseline[place]), float(gains[place])
            has_collapsed = sign > 0 and before >= COLLAPSED_FROM and -gain >= COLLAPSED * before
            frozen, scores = gate.queries[query], (before, float(means[place]), gain)
            yield QueryChange(query, str(self.measure), *scores, frozen.text, frozen.group, has_collapsed)


def compare_with_baseline(gate: Gate, found: Measured) -> list[Compared]:
    """Every measure on the queries that have a score then and now; too many without one now are refused."""
    frozen = [gate.queries[query] for query in found.queries]
    compared = []
    for i, measure in enumerate(found.measures):
        baseline, new = np.array([as_number(each.scores[i]) for each in frozen]), found.scores[i]
        has_now = ~np.isnan(new).any(axis=1)
        lost = [found.queries[place] for place in np.flatnonzero(~np.isnan(baseline) & ~has_now).tolist()]
        if len(lost) > gate.rule.missing_at_most:
            raise RefusalError(
                f"{measure}: {count_of(len(lost), 'query', 'queries')} without a score now ({some_of(lost)}), at most "
                f"{gate.rule.missing_at_most} may be",
                "a measure that is undefined where nothing relevant is found cannot show that; nDCG or RR can",
            )
        kept = np.flatnonzero(~np.isnan(baseline) & has_now).tolist()
        if not kept:
            raise RefusalError(f"{measure}: no query has a score in both runs")
        names = tuple(found.queries[place] for place in kept)
        compared.append(Compared(measure, names, baseline[kept], new[kept], *weights_and_groups(gate, names)))
    return compared


def weights_and_groups(gate: Gate, queries: Iterable[str]) -> tuple[Floats | None, Texts | None]:
    """How much queries count and which groups they are in, where the rule asks for either."""
    groups = [gate.queries[query].group or UNKNOWN for query in queries]
    return (
        None if gate.rule.weights is None else _weights(gate, queries),
        None if gate.rule.by is None else np.array(groups),
    )


def _floors(gate: Gate, means: Mapping[str, float]) -> Iterator[Promise]:
    """The worst means that were agreed on."""
    for measure in gate.parsed:
        floor = gate.rule.floors.get(str(measure))
        if floor is not None:
            sign = "<=" if measure.better == "lower" else ">="
            yield Promise(f"{measure} {sign} {floor:g}", broken_floor(measure, floor, means[str(measure)]))


def _must_hold(gate: Gate, changes: Sequence[QueryChange]) -> Iterator[Promise]:
    """The queries that may not become worse."""
    worse = {each.query: each for each in reversed(changes) if each.gain < 0}
    for query in gate.rule.must_hold:
        change = worse.get(query)
        said = f"{printable(query)} must hold, but its " if change else ""
        broken = f"{said}{change.measure} went from {change.baseline:.4f} to {change.new:.4f}" if change else None
        yield Promise(f"{query} holds", broken)
