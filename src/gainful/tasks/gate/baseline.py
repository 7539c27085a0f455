"""Freeze a baseline, check a run against it, replace it with a reason, and refuse what cannot be compared."""

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

#: How a command begins that freezes a gate; the dots are what was typed.
INIT = "gainful gate init ..."
#: From so many accepted changes on, their spread is known; before, that of the rule stands for it.
_KNOWN_FROM = 5
#: Where scores are 0 or 1, a small change turns this share of them; see docs/explanation/gate-rule.md.
_FLIPPED = 0.05


class RefusalError(InputError):
    """Something cannot be measured, so that nothing is compared. ``advice`` says what can be done about it, and
    ``allowed_by`` which options of `gate init` allow it; ``instead`` is a margin that can be shown, and a notice."""

    instead: tuple[float, str] | None = None

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
        return self.evaluations[0].queries

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
) -> Measured:
    """Scores runs of one system by measures that have a mean and a better side, and how much of them is judged."""
    for measure in measures:
        if measure.better == "neither" or measure.aggregate != "mean":
            raise UsageError(
                f"{measure}: expected a measure whose mean can fall, found one without a better side or mean"
            )
    cutoffs = [cutoff for measure in measures if (cutoff := getattr(measure, "cutoff", None))]
    depth = min(cutoffs, default=10)
    coverage = parse(f"Judged@{depth}")
    wanted = [*measures, *([] if coverage in measures else [coverage])]
    found = evaluate_runs(judged, runs, wanted, queries=queries, threads=threads)
    evaluations = tuple(found.values())
    scores = np.array([[each.settled_scores(measure) for each in evaluations] for measure in measures])
    share = math.fsum(each.mean(coverage) for each in evaluations) / len(evaluations)
    share = 0.0 if math.isnan(share) else share
    return Measured(evaluations, tuple(measures), scores.transpose(0, 2, 1), share, depth)


def frozen_scores(gate: Gate, queries: Iterable[str]) -> Floats:
    """The baseline's scores, measures x queries; NaN where the policy left a query out."""
    return np.array([gate.queries[query].scores for query in queries], np.float64).T


def _raise_refusals(*refusals: RefusalError | None) -> None:
    """Raises what there is as one refusal, with all options that allow it."""
    found = [each for each in refusals if each is not None]
    if found:
        advice = ", ".join(each.advice for each in found if each.advice)
        options = [each.allowed_by for each in found if each.allowed_by]
        allowed_by = for_asker(" ", ", ").join(options) if len(options) == len(found) else None
        raise RefusalError("; ".join(each.message for each in found), advice or None, allowed_by)


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
) -> Gate:
    """A gate with the scores of a run, or the means of several of the same system, as its baseline."""
    rule = rule or Rule()
    judged = Judged.of(qrels, policy)
    about = None if queries is None else Queries.of(queries)
    if rule.by is not None and about is None:
        raise UsageError("by: expected a table of queries, found none", "--queries FILE (queries= in Python)")
    found = measure_runs(judged, _repeats(run), parse_all(measures), about, threads)
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
    """Whether a run, or the mean of several of the same system, has fallen from the baseline of a gate.

    What cannot be compared is not: the report's verdict is then ``refused``, and it says why.
    """
    frozen = gate if isinstance(gate, Gate) else Gate.read(gate)
    runs = _repeats(run)
    report = GateReport(frozen, tuple(runs), {}, is_strict=strict)
    try:
        judged = judged_for(frozen, qrels)
        refusal = _other_judgments(frozen, judged.qrels)
        if refusal is not None and frozen.queries.keys().isdisjoint(judged.qrels.queries):
            raise refusal
        found = measure_runs(judged, runs, frozen.parsed, Queries(only=list(frozen.queries)), threads)
        report = replace(report, means=found.means(_weights(frozen, found.queries)))
        refusal = refusal or _too_few_answered(found, frozen.rule)
        _raise_refusals(refusal or _too_few_judged(frozen.rule, found, frozen.judged))
        compared = compare_with_baseline(frozen, found)
    except RefusalError as refused:
        floors = tuple(_floors(frozen, report.means)) if report.means else ()
        return replace(report, refusal=refused.message, hint=refused.hint, promises=floors)
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
        promises=(*_floors(frozen, means), *held),
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
    """The gate with another baseline, and why. Without ``qrels``, by the judgments that it was frozen with; others are
    taken only where that is said."""
    if not reason.strip():
        raise UsageError("reason: expected why the baseline changes, found nothing")
    frozen = gate if isinstance(gate, Gate) else Gate.read(gate)
    runs, judged = _repeats(run), judged_for(frozen, frozen.qrels_path if qrels is None else qrels)
    if not new_judgments:
        found = comparable(frozen, judged, runs, threads)
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
    found = measure_runs(judged, runs, frozen.parsed, left_out, threads)
    strangers = [query for query in found.queries if query not in frozen.queries]
    if strangers and (frozen.rule.weights is not None or frozen.rule.by is not None):
        raise InputError(
            f"query '{printable(strangers[0])}' is new: the gate does not know its group or weight",
            "`gainful gate init` with --queries freezes it anew",
        )
    _check_named(frozen.rule, found.queries, frozen.measures)
    frozen = replace(frozen, scale=judged.qrels.scale)
    return _with_baseline(frozen, judged, found, reason, are_queries_new=True)


def _repeats(run: RepeatsLike) -> dict[str, RunLike]:

    def name_of(run: RunLike, place: int) -> str:
        return os.path.basename(run) if isinstance(run, (str, os.PathLike)) else f"run {place}"

    if isinstance(run, (list, tuple)) and not holds_objects(run):
        if not run:
            raise UsageError("run: expected at least one, found none")
        names = [name_of(each, i) for i, each in enumerate(run, 1)]
        return {
            name if names.count(name) == 1 else f"{name} ({i})": each
            for i, (name, each) in enumerate(zip(names, run, strict=True), 1)
        }
    several = runs_by_name(run)
    return dict(several) if several is not None else {name_of(run, 1): run}


def comparable(
    gate: Gate,
    judged: Judged,
    runs: Mapping[str, RunLike],
    threads: int | None = None,
) -> Measured:
    """Runs on the frozen queries and judgments, or a refusal."""
    _raise_refusals(_other_judgments(gate, judged.qrels))
    found = measure_runs(judged, runs, gate.parsed, Queries(only=list(gate.queries)), threads)
    _raise_refusals(_too_few_answered(found, gate.rule))
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
    suspicious: Sequence[str] = (),
) -> Gate:
    """The gate with these scores as its baseline; refused where the same run would break its rule."""
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
    blind, said = _blind_spot(gate), list(suspicious)
    if gate.rule.margin is None:  # nobody chose one: the queries do
        margin, notice = (blind and blind.instead) or (MARGIN, None)
        gate = replace(gate, rule=replace(gate.rule, margin=margin))
        if notice is not None:
            said, blind = [*said, notice], None
    _raise_refusals(*_broken_rules(gate, found if are_queries_new else None, blind))
    return replace(gate, notices=(*said, *([] if blind is None else [blind.message])))


def _broken_rules(gate: Gate, found: Measured | None, blind: RefusalError | None) -> Iterator[RefusalError | None]:
    """How a baseline breaks its gate's rule; ``found`` is what was measured if the queries are new, too."""
    means = gate.history[-1].means
    if found is not None:
        yield _too_few_answered(found, gate.rule)
        yield _too_few_judged(gate.rule, found)
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


def _other_judgments(gate: Gate, qrels: Qrels) -> RefusalError | None:
    """What forbids any comparison: numbers of another version, or queries that came, went or changed."""
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


def _too_few_answered(measured: Measured, rule: Rule) -> RefusalError | None:
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


def _too_few_judged(rule: Rule, measured: Measured, baseline: float = 0.0) -> RefusalError | None:
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


def are_zero_or_one(scores: Floats) -> bool:
    """Whether queries either succeed or do not, so that changes turn scores over rather than move them."""
    return bool(np.isin(scores, (0.0, 1.0)).all())


def usual_spread(gate: Gate, measure: str, scores: Floats, mean: float) -> float:
    """How far queries differ by a small change, absolute: the median of accepted changes, if they are enough (one large
    one among them does not make the gate blind), or what is usual for such scores."""
    known = [each.spreads[measure] for each in gate.history if each.spreads.get(measure)]
    if len(known) >= _KNOWN_FROM:
        return float(np.median(known)) * abs(mean)
    return max(gate.rule.spread * abs(mean), math.sqrt(_FLIPPED) if are_zero_or_one(scores) else 0.0)


def _blind_spot(gate: Gate) -> RefusalError | None:
    """The margin that the queries cannot show, by the spread of small changes; None if they can."""
    worst, share_of_worst = None, 0.0
    for parsed, frozen in zip(gate.parsed, frozen_scores(gate, gate.queries), strict=True):
        measure = str(parsed)
        if not gate.history[-1].means[measure]:
            continue  # nothing can fall from it, and no query may have a score
        scored = ~np.isnan(frozen)
        scores, weights = frozen[scored], _weights(gate, gate.queries)[scored]
        mean = abs(weighted_mean(scores, weights))
        effective = effective_number(weights)
        can_fall = scores.size if parsed.better == "lower" else int(np.count_nonzero(scores > 0))
        if can_fall < LEAST_FALLEN:
            few = f"{measure}: {count_of(can_fall, 'query that can fall', 'queries that can fall')} cannot show a drop"
            return RefusalError(few, f"judge queries until at least {LEAST_FALLEN} can fall, or promise a floor")
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
                f"{measure}: {able} only show drops above {drop:.3f} ({share:g}%), not the margin of "
                f"{gate.rule.margin_text} ({margin:.3f})",
                advice,
                for_asker(f"--margin {share:g}%", f"margin={share / 100:g}"),
            )
            notice = f"margin {share:g}%: what {able} show of {measure}; {advice} for {percent_text(MARGIN)}"
            worst.instead = share / 100, notice
    return worst


def _check_named(rule: Rule, queries: Iterable[str], measures: Sequence[str]) -> None:
    """Refuses floors of measures that are not gated, and queries that must hold but are not there."""
    known = set(queries)
    lost = [query for query in rule.must_hold if query not in known]
    if lost:
        raise InputError(f"must-hold: expected judged queries, found {some_of(lost)}, not judged")
    for measure in rule.floors:
        if measure not in measures:
            raise UsageError(f"floor: expected a gated measure, found {printable(measure)}", f"-m {measure} gates it")


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
        """What became of all queries, and of each group; all of them share the level."""
        every = slice(None)
        parts: list[tuple[str | None, Any]] = [(None, every)]
        if self.groups is not None:
            names = sorted(set(self.groups.tolist()), key=in_order)
            parts += [(name, self.groups == name) for name in names]
        # With groups, half of the level is for all queries, and the groups share the other half.
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
    compared = []
    frozen = frozen_scores(gate, found.queries)
    for measure, baseline, new in zip(found.measures, frozen, found.scores, strict=True):
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
