"""A gate for CI: a frozen baseline, and whether a new run has fallen from it."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np

from gainful.data.judged import Judged
from gainful.data.qrels import QrelsLike
from gainful.data.queries import Queries, QueriesLike
from gainful.data.run import RunLike, runs_by_name
from gainful.errors import InputError, UsageError
from gainful.evaluation.evaluate import MeasuresLike
from gainful.kernel.arrays import Floats
from gainful.kernel.parallel import Progress
from gainful.measures.base import Measure
from gainful.measures.catalog import parse_all
from gainful.notation import printable
from gainful.policy import Policy
from gainful.render import Page, Showable
from gainful.stats.regression_rule import KNOWN_FROM, LEVEL, Change, assess_change
from gainful.stats.repeatable import settled_differences
from gainful.tasks.gate import measured as measuring
from gainful.tasks.gate.gate_file import Accepted, FrozenQuery, Gate, Rule, content_hash, hashes_of, today
from gainful.tasks.gate.measured import Measured, RefusalError, measure_runs

#: A query collapsed that lost this share of a score of at least so much.
COLLAPSED, COLLAPSED_FROM = 0.8, 0.1

#: A run, several of the same system, or several by name.
RepeatsLike: TypeAlias = "RunLike | Sequence[RunLike] | Mapping[str, RunLike]"

_EXIT_CODES = {"pass": 0, "warning": 0, "regression": 1, "refused": 3}


@dataclass(frozen=True)
class QueryChange:
    """A query by one measure, before and after; ``gain`` is above 0 where it became better."""

    query: str
    measure: str
    baseline: float
    new: float
    gain: float
    text: str | None = None
    group: str | None = None
    has_collapsed: bool = False

    @property
    def difference(self) -> float:
        """The new score minus the baseline's."""
        return self.new - self.baseline


@dataclass(frozen=True)
class Finding:
    """What was found of one measure, of all queries or of one group."""

    measure: str
    change: Change
    group: str | None = None

    @property
    def name(self) -> str:
        """The measure, and the group if it is of one."""
        return self.measure if self.group is None else f"{self.measure}, {self.group}"

    @property
    def verdict(self) -> str:
        """Of a group only a regression counts: small groups can hardly exclude a drop."""
        verdict = self.change.verdict
        return "pass" if self.group is not None and verdict == "warning" else verdict


@dataclass(frozen=True, eq=False, repr=False)
class GateReport(Showable):
    """What a gate says of a run: its :attr:`verdict` is pass, warning, regression or refused.

    ``findings`` are those of the measures, ``groups`` those of groups of queries; ``queries`` all that changed, those
    that fell most first. ``broken`` are promises that do not hold: floors, and queries that must hold. ``refusal`` and
    ``hint`` say why nothing could be measured.
    """

    gate: Gate
    runs: tuple[str, ...]
    findings: tuple[Finding, ...] = ()
    groups: tuple[Finding, ...] = ()
    queries: tuple[QueryChange, ...] = ()
    broken: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    refusal: str | None = None
    hint: str | None = None
    is_strict: bool = False

    def __repr__(self) -> str:
        return f"<GateReport: {self.verdict}>"

    @cached_property
    def verdict(self) -> str:
        """The worst of all."""
        if self.refusal is not None:
            return "refused"
        found = {each.verdict for each in (*self.findings, *self.groups)}
        if "regression" in found or self.broken:
            return "regression"
        return "warning" if "warning" in found else "pass"

    @property
    def exit_code(self) -> int:
        """0 pass, 1 regression (where it is strict a warning, too), 3 cannot be measured."""
        return 1 if self.verdict == "warning" and self.is_strict else _EXIT_CODES[self.verdict]

    @property
    def collapsed(self) -> tuple[QueryChange, ...]:
        """The queries that lost nearly all of their score."""
        return tuple(each for each in self.queries if each.has_collapsed)

    def page(self) -> Page:
        from gainful.tasks.gate.gate_page import gate_page

        return gate_page(self)


def freeze_gate(
    qrels: QrelsLike | Judged,
    run: RepeatsLike,
    measures: MeasuresLike,
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
    rule = rule if about is None else replace(rule, weights=about.weights)
    found = measure_runs(judged, _repeats(run), parse_all(measures), None, about, threads, progress)
    measuring.refuse_missing(found, rule)
    names = [str(measure) for measure in found.measures]
    measuring.check_named(rule, found.queries, names)
    groups = {} if about is None or rule.by is None else _group_of(about, rule.by, found.queries)
    weights = None if about is None else about.weights_of(found.queries)
    known = {
        query: FrozenQuery(
            "",
            [],
            None if about is None else about.text(query),
            groups.get(query),
            None if weights is None else float(weights[i]),
        )
        for i, query in enumerate(found.queries)
    }
    first = found.evaluations[0]
    gate = Gate(names, rule, first.policy.texts(), first.scale, {}, 0.0, known, [])
    gate = _with_baseline(gate, judged, found, reason, {})
    if any(mean == 0 for mean in found.means.values()):
        empty = next(name for name, mean in found.means.items() if mean == 0)
        raise InputError(f"{empty}: expected a baseline that scores above 0, found 0: nothing can fall from it")
    measuring.refuse_blind(gate, 0)
    return gate


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
    try:
        found = _comparable(frozen, qrels, runs, threads, progress)
        measuring.refuse_unjudged(frozen, found)
    except RefusalError as refusal:
        return GateReport(frozen, tuple(runs), refusal=refusal.message, hint=refusal.hint, is_strict=strict)
    report = replace(_report(frozen, tuple(runs), found), notices=tuple(found.notices), is_strict=strict)
    if report.verdict == "regression":
        return report
    try:
        measuring.refuse_blind(frozen, KNOWN_FROM)
    except RefusalError as refusal:
        return replace(report, refusal=refusal.message, hint=refusal.hint)
    return report


def update_gate(
    gate: Gate | str | os.PathLike[str],
    qrels: QrelsLike | Judged,
    run: RepeatsLike,
    reason: str,
    *,
    new_judgments: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Gate:
    """The gate with another baseline, and why. Other judgments are taken only where that is said."""
    if not reason.strip():
        raise UsageError("reason: expected why the baseline changes, found nothing")
    frozen = gate if isinstance(gate, Gate) else Gate.read(gate)
    runs, judged = _repeats(run), _judged(frozen, qrels)
    if not new_judgments:
        found = _comparable(frozen, judged, runs, threads, progress)
        return _with_baseline(frozen, judged, found, reason, _spreads(frozen, found))
    found = measure_runs(judged, runs, frozen.parsed, None, None, threads, progress)
    measuring.refuse_missing(found, frozen.rule)
    if frozen.rule.weights is not None or frozen.rule.by is not None:
        strangers = [query for query in found.queries if query not in frozen.queries]
        if strangers:
            raise InputError(
                f"query '{printable(strangers[0])}' is new: the gate does not know its group or weight",
                "`gainful gate init` with --queries freezes it anew",
            )
    return _with_baseline(replace(frozen, scale=judged.qrels.scale), judged, found, reason, {})


def _repeats(run: RepeatsLike) -> dict[str, RunLike]:
    """Runs of one system by name."""
    if isinstance(run, (list, tuple)):
        if not run:
            raise UsageError("run: expected at least one, found none")
        return {_name(each, i): each for i, each in enumerate(run, 1)}
    several = runs_by_name(run)
    return dict(several) if several is not None else {_name(run, 1): run}


def _name(run: RunLike, place: int) -> str:
    return os.path.basename(run) if isinstance(run, (str, os.PathLike)) else f"run {place}"


def _comparable(
    gate: Gate,
    qrels: QrelsLike | Judged,
    runs: Mapping[str, RunLike],
    threads: int | None,
    progress: Progress | None,
) -> Measured:
    """Runs on the frozen queries and judgments, or a refusal."""
    measuring.refuse_version(gate)
    judged = _judged(gate, qrels)
    measuring.refuse_judgments(gate, judged.qrels)
    queries = Queries(only=list(gate.queries))
    found = measure_runs(judged, runs, gate.parsed, None, queries, threads, progress)
    measuring.refuse_missing(found, gate.rule)
    return found


def _judged(gate: Gate, qrels: QrelsLike | Judged) -> Judged:
    """Judgments under the gate's conventions."""
    if not isinstance(qrels, Judged):
        return Judged.of(qrels, gate.conventions)
    if qrels.policy != gate.conventions:
        raise RefusalError("the conventions differ from those of the baseline", f"these are {gate.conventions}")
    return qrels


def _group_of(about: Queries, by: str, queries: Sequence[str]) -> dict[str, str]:
    return {queries[place]: group for group, places in about.segments(by, queries).items() for place in places}


def _with_baseline(gate: Gate, judged: Judged, found: Measured, reason: str, spreads: dict[str, float]) -> Gate:
    """The gate with these scores, and what tells their judgments."""
    hashes = hashes_of(judged.qrels)
    means = np.mean(found.scores, axis=2)
    queries = {}
    for i, query in enumerate(found.queries):
        values = [None if math.isnan(value) else value for value in means[:, i].tolist()]
        before = gate.queries.get(query) or FrozenQuery("", [])
        queries[query] = replace(before, judgments=hashes[query], scores=values)
    first = found.evaluations[0]
    judgments = {
        "path": judged.qrels.name,
        "file": first.sha256["judgments"],
        "content": content_hash({query: each.judgments for query, each in queries.items()}),
        "others": sorted(query for query in hashes if query not in queries),
    }
    names = " ".join(each.run for each in found.evaluations)
    weighted = _weighted_means(gate.measures, queries)
    accepted = Accepted(today(), reason, names, first.sha256["run"], weighted, spreads)
    return replace(gate, judgments=judgments, judged=found.judged, queries=queries, history=[*gate.history, accepted])


def _weighted_means(measures: Sequence[str], queries: Mapping[str, FrozenQuery]) -> dict[str, float]:
    found = {}
    for i, measure in enumerate(measures):
        pairs = [(each.scores[i], each.weight or 1.0) for each in queries.values() if each.scores[i] is not None]
        total = math.fsum(weight for _, weight in pairs)
        found[measure] = math.fsum((score or 0.0) * weight for score, weight in pairs) / total if pairs else 0.0
    return found


@dataclass(frozen=True, eq=False)
class _Compared:
    """One measure: the queries that both have a score of, the baseline's and the new ones."""

    measure: Measure
    queries: tuple[str, ...]
    baseline: Floats
    new: Floats  # queries x repeats
    weights: Floats | None

    @property
    def gains(self) -> Floats:
        """What each query gained, whichever direction is better; of repeats their mean."""
        sign = 1.0 if self.measure.better == "higher" else -1.0
        return sign * settled_differences(np.mean(self.new, axis=1), self.baseline)

    def assess(self, gate: Gate, places: Sequence[int] | None = None, groups: int = 1) -> Change:
        """What became of all queries, or of a group, at a level for their number."""
        rows = slice(None) if places is None else list(places)
        baseline = self.baseline[rows]
        weights = None if self.weights is None else self.weights[rows] * (baseline.size / self.weights[rows].sum())
        mean = float(np.average(baseline, weights=weights))
        return assess_change(
            baseline,
            self.new[rows],
            gate.rule.margin_of(mean),
            better=self.measure.better,
            weights=weights,
            spread=gate.known_spread(str(self.measure), mean, KNOWN_FROM),
            level=LEVEL / groups,
        )


def _compared(gate: Gate, found: Measured) -> list[_Compared]:
    compared = []
    for i, measure in enumerate(found.measures):
        baseline = np.array([_number(each.scores[i]) for each in gate.queries.values()])
        new = found.scores[i]
        kept = np.flatnonzero(~(np.isnan(baseline) | np.isnan(new).any(axis=1))).tolist()
        if not kept:
            raise InputError(f"{measure}: expected a query that both runs have a score of, found none")
        frozen = list(gate.queries.values())
        weights = None if gate.rule.weights is None else np.array([frozen[place].weight or 0.0 for place in kept])
        names = tuple(found.queries[place] for place in kept)
        compared.append(_Compared(measure, names, baseline[kept], new[kept], weights))
    return compared


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _spreads(gate: Gate, found: Measured) -> dict[str, float]:
    """How far queries differ from the baseline, relative to its mean: what accepted changes look like."""
    changes = {str(each.measure): each.assess(gate) for each in _compared(gate, found)}
    return {name: change.spread / abs(change.baseline) for name, change in changes.items() if change.baseline}


def _report(gate: Gate, runs: tuple[str, ...], found: Measured) -> GateReport:
    compared = _compared(gate, found)
    findings = tuple(Finding(str(each.measure), each.assess(gate)) for each in compared)
    groups = []
    for each in compared if gate.rule.by is not None else ():
        places: dict[str, list[int]] = {}
        for place, query in enumerate(each.queries):
            places.setdefault(gate.queries[query].group or "", []).append(place)
        groups += [
            Finding(str(each.measure), each.assess(gate, rows, len(places)), group) for group, rows in places.items()
        ]
    changes = sorted((change for each in compared for change in _changes(gate, each)), key=lambda each: each.gain)
    return GateReport(gate, runs, findings, tuple(groups), tuple(changes), tuple(_broken(gate, findings, changes)))


def _changes(gate: Gate, compared: _Compared) -> list[QueryChange]:
    """The queries whose score changed."""
    found = []
    new, gains = np.mean(compared.new, axis=1).tolist(), compared.gains.tolist()
    for place in np.flatnonzero(compared.gains).tolist():
        query, before, gain = compared.queries[place], float(compared.baseline[place]), gains[place]
        has_collapsed = compared.measure.better == "higher" and before >= COLLAPSED_FROM and -gain >= COLLAPSED * before
        frozen = gate.queries[query]
        found.append(
            QueryChange(
                query, str(compared.measure), before, new[place], gain, frozen.text, frozen.group, has_collapsed
            )
        )
    return found


def _broken(gate: Gate, findings: Sequence[Finding], changes: Sequence[QueryChange]) -> list[str]:
    """Promises that do not hold."""
    means = {each.measure: each.change.new for each in findings}
    found = [
        f"{measure} is {means[measure]:.4f}, below its floor of {floor:g}"
        for measure, floor in gate.rule.floors.items()
        if means[measure] < floor
    ]
    must_hold = set(gate.rule.must_hold)
    for each in changes:
        if each.gain < 0 and each.query in must_hold:
            found.append(
                f"{each.query} must hold, but its {each.measure} fell from {each.baseline:.4f} to {each.new:.4f}"
            )
    return found
