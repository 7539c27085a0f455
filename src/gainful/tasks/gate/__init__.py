"""A gate for CI: a frozen baseline, and whether a new run has fallen from it."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, TypeAlias

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
from gainful.notation import count_of, printable, some_of, text_of_id, today
from gainful.policy import Policy
from gainful.render import Page, Showable
from gainful.stats.regression_rule import KNOWN_FROM, LEVEL, Change, assess_change, run_noise
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
from gainful.tasks.gate.measured import Measured, RefusalError, as_number, measure_runs

#: A run, several of the same system, or several by name.
RepeatsLike: TypeAlias = "RunLike | Sequence[RunLike] | Mapping[str, RunLike]"

_EXIT_CODES = {"pass": 0, "warning": 0, "regression": 1, "refused": 3}


class QueryChange(NamedTuple):
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


class Promise(NamedTuple):
    """A floor, or a query that must hold; ``broken`` says how it does not, if so."""

    name: str
    broken: str | None = None


class Finding(NamedTuple):
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
        """Of a group only a regression counts: small ones can hardly exclude a drop, and the smallest show nothing."""
        verdict = self.change.verdict
        if self.group is None or verdict == "regression":
            return verdict
        return "too few queries" if self.change.is_too_small else "pass"


@dataclass(frozen=True, eq=False, repr=False)
class GateReport(Showable):
    """What a gate says of a run: its :attr:`verdict` is pass, warning, regression or refused.

    ``means`` are those of the run. ``findings`` are those of the measures, ``groups`` those of groups of queries;
    ``queries`` all that changed, those that lost most first. ``promises`` are floors, and queries that must hold.
    ``refusal`` and ``hint`` say why nothing could be compared with the baseline; floors are checked all the same.
    ``blind`` says that the queries are too few for the margin, if they are.
    """

    gate: Gate
    runs: tuple[str, ...]
    means: dict[str, float]
    findings: tuple[Finding, ...] = ()
    groups: tuple[Finding, ...] = ()
    queries: tuple[QueryChange, ...] = ()
    promises: tuple[Promise, ...] = ()
    blind: str | None = None
    notices: tuple[str, ...] = ()
    refusal: str | None = None
    hint: str | None = None
    is_strict: bool = False

    def __repr__(self) -> str:
        return f"<GateReport: {self.verdict}>"

    @cached_property
    def verdict(self) -> str:
        """The worst of all."""
        found = {each.verdict for each in (*self.findings, *self.groups)}
        if "regression" in found or any(each.broken for each in self.promises):
            return "regression"
        if self.refusal is not None:
            return "refused"
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
    rule = replace(rule, weights=None if about is None else about.weights)
    found = measure_runs(judged, _repeats(run), parse_all(measures), None, about, threads, progress)
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
    return _kept_to(_with_baseline(gate, judged, found, reason, {}), found)


def _kept_to(gate: Gate, found: Measured | None = None) -> Gate:
    """A gate with a new baseline, unless that breaks its own rule: the same run would not pass. ``found`` is what was
    measured if the queries are new, too."""
    measuring.raise_all(*_broken_rules(gate, found))
    return gate


def _broken_rules(gate: Gate, found: Measured | None) -> Iterator[RefusalError | None]:
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
        yield measuring.blind_spot(gate)


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
    means: dict[str, float] = {}
    try:
        judged = judged_for(frozen, qrels)
        refusal = _incomparable(frozen, judged)
        if refusal is not None and frozen.queries.keys().isdisjoint(judged.qrels.queries):
            raise refusal
        found = _on_frozen_queries(frozen, judged, runs, threads, progress)
        means = found.means(_weights(frozen, found.queries))
        unjudged = measuring.unjudged(frozen.rule, found, frozen.judged)
        measuring.raise_all(refusal or measuring.unanswered(found, frozen.rule) or unjudged)
        compared = _compared(frozen, found)
    except RefusalError as refused:
        report = GateReport(frozen, tuple(runs), means, refusal=refused.message, hint=refused.hint, is_strict=strict)
        return replace(report, promises=tuple(_floors(frozen, means)) if means else ())
    blind = measuring.blind_spot(frozen)
    return replace(
        _report(frozen, tuple(runs), compared),
        blind=None if blind is None else blind.message,
        notices=tuple(found.notices),
        is_strict=strict,
    )


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
    runs, judged = _repeats(run), judged_for(frozen, qrels)
    if not new_judgments:
        found = comparable(frozen, judged, runs, threads, progress)
        spreads = _spreads(frozen, _compared(frozen, found))
        return _kept_to(_with_baseline(frozen, judged, found, reason, spreads))
    others = gate_others(frozen, judged)
    queries = Queries(exclude=others) if others else None
    found = measure_runs(judged, runs, frozen.parsed, None, queries, threads, progress)
    strangers = [query for query in found.queries if query not in frozen.queries]
    if strangers and (frozen.rule.weights is not None or frozen.rule.by is not None):
        raise InputError(
            f"query '{printable(strangers[0])}' is new: the gate does not know its group or weight",
            "`gainful gate init` with --queries freezes it anew",
        )
    measuring.check_named(frozen.rule, found.queries, frozen.measures)
    changed = _with_baseline(replace(frozen, scale=judged.qrels.scale), judged, found, reason, {})
    return _kept_to(changed, found)


def gate_others(gate: Gate, judged: Judged) -> list[str]:
    """The judged queries that were left out of a gate on purpose."""
    known = set(map(text_of_id, judged.qrels.query_ids))
    return [query for query in gate.judgments.get("others", ()) if query in known]


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
    threads: int | None,
    progress: Progress | None,
) -> Measured:
    """Runs on the frozen queries and judgments, or a refusal."""
    measuring.raise_all(_incomparable(gate, judged))
    found = _on_frozen_queries(gate, judged, runs, threads, progress)
    measuring.raise_all(measuring.unanswered(found, gate.rule))
    return found


def _incomparable(gate: Gate, judged: Judged) -> RefusalError | None:
    """What forbids any comparison with the baseline."""
    return measuring.other_version(gate) or measuring.other_judgments(gate, judged.qrels)


def _on_frozen_queries(
    gate: Gate, judged: Judged, runs: Mapping[str, RunLike], threads: int | None, progress: Progress | None
) -> Measured:
    return measure_runs(judged, runs, gate.parsed, None, Queries(only=list(gate.queries)), threads, progress)


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
    gate = replace(gate, queries=queries)
    weights = _weights(gate, queries)
    accepted = Accepted(today(), reason, names, first.sha256["run"], found.means(weights), spreads)
    return replace(
        gate,
        judgments=judgments,
        judged=found.judged,
        history=[*gate.history, accepted],
        runs=found.scores.shape[2],
        run_variances=_run_variances(gate, found, weights),
        version=__version__,
        numbers=NUMBERS,
    )


def _run_variances(gate: Gate, found: Measured, weights: Floats) -> dict[str, float]:
    """How far several runs of one system vary as a whole, by measure."""
    if found.scores.shape[2] < 2:
        return {}
    variances = {}
    for measure, scores in zip(gate.measures, found.scores, strict=True):
        scored = ~np.isnan(scores).any(axis=1)
        counts = weights[scored] * (scored.sum() / weights[scored].sum())
        variances[measure] = run_noise(scores[scored], None if gate.rule.weights is None else counts).variance
    return variances


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
            runs=gate.run_noise(str(self.measure)),
        )


def _compared(gate: Gate, found: Measured) -> list[_Compared]:
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
        weights = None if gate.rule.weights is None else np.array([frozen[place].weight or 0.0 for place in kept])
        names = tuple(found.queries[place] for place in kept)
        compared.append(_Compared(measure, names, baseline[kept], new[kept], weights))
    return compared


def _spreads(gate: Gate, compared: Sequence[_Compared]) -> dict[str, float]:
    """How far queries differ from the baseline, relative to its mean: what accepted changes look like."""
    changes = {str(each.measure): each.assess(gate) for each in compared}
    return {
        name: change.spread / abs(change.baseline)
        for name, change in changes.items()
        if change.baseline and change.spread
    }


def _report(gate: Gate, runs: tuple[str, ...], compared: Sequence[_Compared]) -> GateReport:
    findings = tuple(Finding(str(each.measure), each.assess(gate)) for each in compared)
    groups = []
    for each in compared if gate.rule.by is not None else ():
        places: dict[str, list[int]] = {}
        for place, query in enumerate(each.queries):
            places.setdefault(gate.queries[query].group or UNKNOWN, []).append(place)
        groups += [
            Finding(str(each.measure), each.assess(gate, places[group], len(places)), group)
            for group in sorted(places, key=in_order)
        ]
    changes = sorted((change for each in compared for change in _changes(gate, each)), key=lambda each: each.gain)
    means = {each.measure: each.change.new for each in findings}
    promises = (*_floors(gate, means), *_kept(gate, changes))
    return GateReport(gate, runs, means, findings, tuple(groups), tuple(changes), promises)


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


def _floors(gate: Gate, means: Mapping[str, float]) -> Iterator[Promise]:
    """The worst means that were agreed on."""
    for measure in gate.parsed:
        floor = gate.rule.floors.get(str(measure))
        if floor is not None:
            sign = "<=" if measure.better == "lower" else ">="
            yield Promise(f"{measure} {sign} {floor:g}", broken_floor(measure, floor, means[str(measure)]))


def _kept(gate: Gate, changes: Sequence[QueryChange]) -> Iterator[Promise]:
    """The queries that may not become worse."""
    worse = {each.query: each for each in reversed(changes) if each.gain < 0}
    for query in gate.rule.must_hold:
        change = worse.get(query)
        said = f"{printable(query)} must hold, but its " if change else ""
        broken = f"{said}{change.measure} went from {change.baseline:.4f} to {change.new:.4f}" if change else None
        yield Promise(f"{query} holds", broken)
