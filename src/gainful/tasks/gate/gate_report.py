"""The report of a gate: a page, JSON, JUnit, OpenMetrics, GitHub annotations, and Markdown for pull requests."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

from gainful._version import __version__
from gainful.errors import for_asker
from gainful.evaluation.results import short_conventions
from gainful.frozen import asdict, dataclass, replace
from gainful.notation import count_of, printable
from gainful.pages.page import Column, Table, head, values_of
from gainful.render import Page, Showable, text
from gainful.stats.regression_rule import LEVEL, MARGIN_LEVEL, Change
from gainful.tasks.compare.compare_words import limits_text, p_words, places_for
from gainful.tasks.gate import COLLAPSED, Gate

_MOST, _TEXT = 5, 50  # queries listed, and characters of their texts


class Verdict(NamedTuple):
    """The name of a verdict, its exit code, its sign in Markdown, and GitHub's command for its messages."""

    word: str
    exit_code: int
    sign: str
    command: str


VERDICTS = {
    "pass": Verdict("Pass", 0, "✅", "notice"),
    "warning": Verdict("Warning", 0, "⚠️", "warning"),
    "regression": Verdict("Regression", 1, "❌", "error"),
    "refused": Verdict("Cannot be measured", 3, "🚫", "error"),
}


class QueryChange(NamedTuple):
    """The score of a query by one measure, before and after; ``gain`` is positive if it improved."""

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
        return self.new - self.baseline


class Promise(NamedTuple):
    """A floor, or a query that must hold; ``broken`` describes how it was broken, if it was."""

    name: str
    broken: str | None = None


class Finding(NamedTuple):
    """The assessment of one measure, on all queries or in one group."""

    measure: str
    change: Change
    group: str | None = None

    @property
    def name(self) -> str:
        return self.measure if self.group is None else f"{self.measure}, {self.group}"

    @property
    def verdict(self) -> str:
        # For groups, only regressions count: small groups can hardly exclude a drop.
        verdict = self.change.verdict
        if self.group is None or verdict == "regression":
            return verdict
        return "too few queries" if self.change.is_too_small else "pass"


@dataclass(frozen=True, eq=False, repr=False)
class GateReport(Showable):
    """The result of checking a run against a gate: its ``verdict`` is pass, warning, regression or refused."""

    gate: Gate
    runs: tuple[str, ...]
    means: dict[str, float]  # of the run
    findings: tuple[Finding, ...] = ()  # one per measure, on all queries
    groups: tuple[Finding, ...] = ()
    queries: tuple[QueryChange, ...] = ()  # largest loss first
    promises: tuple[Promise, ...] = ()  # floors, and queries that must hold
    blind: str | None = None  # a warning if the queries are too few for the margin
    notices: tuple[str, ...] = ()
    refusal: str | None = None  # why the run cannot be compared; floors are still checked
    hint: str | None = None
    is_strict: bool = False

    def __repr__(self) -> str:
        return f"<GateReport: {self.verdict}>"

    @cached_property
    def verdict(self) -> str:
        found = {each.verdict for each in (*self.findings, *self.groups)}
        if "regression" in found or any(each.broken for each in self.promises):
            return "regression"
        if self.refusal is not None:
            return "refused"
        return "warning" if "warning" in found else "pass"

    @property
    def exit_code(self) -> int:
        """0 for pass, 1 for regression (if strict, also for warning), 3 for refused."""
        return 1 if self.verdict == "warning" and self.is_strict else VERDICTS[self.verdict].exit_code

    @property
    def collapsed(self) -> tuple[QueryChange, ...]:
        """The queries that lost nearly all of their score."""
        return tuple(each for each in self.queries if each.has_collapsed)

    def page(self) -> Page:
        gate, rule, last = self.gate, self.gate.rule, self.gate.history[-1]
        parts: list[Table | str] = [verdict_text(self)]
        if self.findings:
            fell = [each for each in self.queries if each.gain < 0 and not each.has_collapsed]
            rose = [each for each in reversed(self.queries) if each.gain > 0]
            for title, changes, most in (
                ("Collapsed queries", self.collapsed, None),
                ("Largest losses", fell, _MOST),
                ("Largest gains", rose, _MOST),
            ):
                if changes:
                    texts = [_TEXT_COLUMN] if any(each.text for each in changes) else []
                    group = [] if rule.by is None else [Column(rule.by, none="", get=lambda each: each.group)]
                    columns = (Column("query"), *texts, *group, *head("measure | baseline . | new . | difference ."))
                    parts.append(Table.of(columns, changes, title=title, most=most))
            parts.append(Table.of(_FINDING, self.findings, title="Measures"))
        elif self.means:  # the comparison was refused
            rows = [(measure, last.means[measure], mean) for measure, mean in self.means.items()]
            parts.append(Table(head("measure | baseline . | new ."), rows, title="Measures"))
        if self.groups:
            by = rule.by or "group"
            columns = (_FINDING[0], Column(by, get=lambda each: each.group), *_FINDING[1:])
            parts.append(Table.of(columns, self.groups, title=f"By {printable(by, 40)}"))
        groups = "; levels for groups are divided by their number" if rule.by is not None else ""
        notes = (
            *([f"note: {self.blind}"] if self.blind else []),
            f"margin {rule.margin_text}; regression: one-sided p <= {LEVEL:g} and a loss of at least a quarter of the "
            f"margin, or p <= {MARGIN_LEVEL:g} and a loss of at least the margin{groups}; warning: a loss of the "
            "margin cannot be excluded (one-sided 95% limit)",
            f"baseline: {printable(last.run, 60)}, {last.date}, {printable(last.reason, 60)}",
            _conventions(gate),
        )
        header = values_of(self, "verdict | exit ← exit_code | refusal") | {"runs": list(self.runs)}
        return Page("gate", tuple(parts), notes, header)


def verdict_text(report: GateReport) -> str:
    """Return the verdict and its reasons, one per line, the decisive reason first."""
    broken = [f"{each.broken}." for each in report.promises if each.broken]
    if report.refusal is not None:
        failed = [f"{VERDICTS['regression'].word}: {broken[0]}", *broken[1:]] if broken else []
        reason = f"{'Not compared with the baseline' if failed else VERDICTS['refused'].word}: {report.refusal}."
        return "\n".join([*failed, reason, *([f"Hint: {report.hint}."] if report.hint else [])])
    rest = [each for each in report.findings if each.verdict != report.verdict]
    deciding = [sentence(report, each) for each in report.findings if each.verdict == report.verdict]
    failing = [sentence(report, each) for each in report.groups if each.verdict == "regression"]
    lines = [*deciding, *broken, *failing] if report.verdict == "regression" else deciding
    lines = [f"{VERDICTS[report.verdict].word}: {lines[0]}", *lines[1:], *(sentence(report, each) for each in rest)]
    collapsed = len({each.query for each in report.collapsed})
    if collapsed:
        share = f"{COLLAPSED:.0%}"
        lines.append(f"{count_of(collapsed, 'query', 'queries')} collapsed (lost at least {share} of the score).")
    if report.verdict == "warning" and not report.is_strict:
        lines.append(f"Warnings do not fail the check; use {for_asker('--strict', 'strict=True')} to make them fail.")
    return "\n".join(lines)


def sentence(report: GateReport, finding: Finding) -> str:
    """Describe the change of a measure in one sentence."""
    change, name = finding.change, printable(finding.name, 80)
    low, high = change.interval
    if not change.difference and low == high == 0:
        return f"{name} did not change ({change.baseline:.4f}, {count_of(change.n, 'query', 'queries')})."
    places = places_for(change.difference)
    verb = "rose" if change.difference > 0 else "fell"
    limits = (-high, -low) if change.difference < 0 else (low, high)
    inside = [f"95% CI {limits_text(*limits, places)}"]
    if change.relative is not None:
        inside.insert(0, f"{100 * change.relative:+.1f}%")
    if not change.is_higher_better:
        inside.append("lower is better")
    own = [each for each in report.groups if each.measure == finding.measure and finding.group is None]
    fell = sorted((each for each in own if each.change.drop > 0), key=lambda each: -each.change.drop)
    if fell:
        worst = fell[0].change.difference
        where = f"{printable(fell[0].group or '', 40)}: {worst:+.{places_for(worst)}f}"
        inside.append(f"worse in {len(fell)} of {count_of(len(own), 'group')}, most in {where}")
    size = f"{verb} by {abs(change.difference):.{places}f}" if change.difference else "is the same on average"
    after, p = "", p_words(change.p_fell)
    p = f"one-sided p {p}" if p.startswith("<") else f"one-sided p = {p}"
    if finding.verdict == "warning":
        after = f": a loss of {report.gate.rule.margin_text} cannot be excluded"
    elif change.clause == "test":
        after = f": {p}, at most {change.level:.2g}"
    elif change.clause == "margin":
        after = f": at least the margin, and {p}, at most {change.margin_level:.2g}"
    elif change.is_improvement:
        after = ", a significant improvement"
    return f"{name} {size} ({', '.join(inside)}){after}."


_TEXT_COLUMN = Column("text", none="", get=lambda each: None if each.text is None else printable(each.text, _TEXT))
#: The columns of a measure, or of a group.
_FINDING = (
    Column("measure"),
    *head("queries # ← change.n | baseline . ← change.baseline | new . ← change.new"),
    *head("difference . ← change.difference"),
    Column("95% CI", get=lambda each: limits_text(each.change.interval[0], each.change.interval[1], 4)),
    Column("one-sided p", get=lambda each: p_words(each.change.p_fell)),
    *head("margin . ← change.margin"),
    Column(
        "verdict",
        get=lambda each: "pass, improved" if each.verdict == "pass" and each.change.is_improvement else each.verdict,
    ),
)


def _conventions(gate: Gate) -> str:
    facts = {"scale": f"{gate.scale:g}", "queries": str(len(gate.queries)), "gainful": gate.version}
    weights = {} if gate.rule.weights is None else {"weights": gate.rule.weights}
    return short_conventions(gate.conventions.differences(), facts | weights)


def history_page(gate: Gate) -> Page:
    """Return the baselines over time: a table, and a chart with one line per measure."""
    from gainful.pages.charts import Axis, Line, Plot

    rows = [
        (each.date, printable(each.reason, 60), printable(each.run, 40), *map(each.means.get, gate.measures))
        for each in gate.history
    ]
    columns = (*head("date | reason | run"), *(Column(name, "number") for name in gate.measures))
    table = Table(columns, rows, title="Baselines")
    places = tuple(float(i) for i in range(1, len(gate.history) + 1))
    series = {name: tuple(each.means.get(name, math.nan) for each in gate.history) for name in gate.measures}
    lines = tuple(Line(name, places, means) for name, means in series.items())
    ticks = tuple((place, each.date) for place, each in zip(places, gate.history, strict=True))
    axis = Axis("baseline", ticks=ticks if len(ticks) <= 8 else (ticks[0], ticks[-1]), is_whole=True)
    chart = Plot("Means of the baselines", axis, Axis("mean"), lines)
    return Page("gate", (table, chart), (_conventions(gate),))


#: The version of the JSON schema, documented in docs/how-to/gate.md.
JSON_SCHEMA = "gainful-gate-check/1"
#: The first line of a comment, by which the next one replaces it; the tables not folded away; rows per table.
MARKER, _MAIN, _MOST_ROWS = "<!-- gainful gate -->", ("Collapsed queries", "Measures"), 20


def as_json(report: GateReport) -> str:
    """Return the whole report as JSON, with stable names."""
    value = {
        "schema": JSON_SCHEMA,
        "gainful": __version__,
        **values_of(report, "verdict | exit ← exit_code"),
        "sentence": verdict_text(report),
        **values_of(report, "refusal | hint"),
        "runs": list(report.runs),
        "baseline": asdict(report.gate.history[-1]),
        "rule": asdict(report.gate.rule),
        "means": report.means,
        "measures": [_finding(each) for each in report.findings],
        "groups": [_finding(each) for each in report.groups],
        "promises": [each._asdict() for each in report.promises],
        "blind": report.blind,
        "queries": [{**each._asdict(), "difference": each.difference} for each in report.queries],
        "notices": list(report.notices),
    }
    return json.dumps(value, ensure_ascii=False, indent=1, default=str, allow_nan=False) + "\n"


def _finding(each: Finding) -> dict[str, object]:
    names = "n | baseline | new | difference | relative | drop | p_fell | p_rose | margin | level | spread"
    numbers = values_of(each.change, f"{names} | low ← interval.0 | high ← interval.1 | most_dropped")
    finite = {name: None if value is None or math.isinf(value) else value for name, value in numbers.items()}
    texts = values_of(each, "measure | group | verdict | improved ← change.is_improvement | clause ← change.clause")
    return {**texts, **finite, "test": each.change.test}


def _messages(report: GateReport) -> list[tuple[str, str, str]]:
    """Return the name, verdict and message of every check: refusal, measures, groups and promises."""
    refusals = [] if report.refusal is None else [f"{report.refusal}. {report.hint or ''}".strip()]
    return [
        *(("can be measured", "refused", refusal) for refusal in refusals),
        *((each.name, each.verdict, sentence(report, each)) for each in (*report.findings, *report.groups)),
        *((name, "regression" if broken else "pass", broken or "It holds.") for name, broken in report.promises),
    ]


def as_junit(report: GateReport) -> str:
    """Return JUnit XML: one test case per measure, group and promise; refusals are errors, regressions failures."""
    from xml.sax.saxutils import escape, quoteattr

    of_verdict = {"refused": "error", "regression": "failure", "warning": "failure" if report.is_strict else None}
    found = _messages(report)
    kinds = [of_verdict.get(verdict) for _, verdict, _ in found]
    counts = f'failures="{kinds.count("failure")}" errors="{kinds.count("error")}"'
    attributes = f'name="gainful gate" tests="{len(found)}" {counts}'
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<testsuites {attributes}>"]
    lines.append(f'  <testsuite {attributes} skipped="0" time="0">')
    for (name, _, written), kind in zip(found, kinds, strict=True):
        # XML cannot hold control characters.
        message, shown = printable(written, 10_000), quoteattr(printable(name, 10_000))
        inside = f"<system-out>{escape(message)}</system-out>"
        if kind is not None:
            inside = f"<{kind} message={quoteattr(message)} type={quoteattr(kind)}>{escape(message)}</{kind}>"
        start = f'    <testcase classname="gainful.gate" name={shown} time="0">'
        lines += [start, f"      {inside}", "    </testcase>"]
    return "\n".join([*lines, "  </testsuite>", "</testsuites>", ""])


def as_openmetrics(report: GateReport) -> str:
    """Return means, differences and the verdict in the OpenMetrics format of Prometheus."""
    metrics: dict[str, tuple[str, Callable[[Finding], float]]] = {
        "gainful_gate_mean": ("Mean of the new run.", lambda each: each.change.new),
        "gainful_gate_baseline": ("Mean of the baseline.", lambda each: each.change.baseline),
        "gainful_gate_difference": ("New minus baseline.", lambda each: each.change.difference),
        "gainful_gate_p_fell": ("One-sided p of a drop.", lambda each: each.change.p_fell),
        "gainful_gate_regression": ("1 for a regression.", lambda each: float(each.verdict == "regression")),
    }
    lines = []
    for name, (about, get) in metrics.items():
        lines += [f"# TYPE {name} gauge", f"# HELP {name} {about}"]
        for each in (*report.findings, *report.groups):
            labels = {"measure": each.measure, **({} if each.group is None else {"group": each.group})}
            for key, value in labels.items():
                labels[key] = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
            shown = ",".join(f'{key}="{value}"' for key, value in labels.items())
            lines.append(f"{name}{{{shown}}} {get(each)!r}")
    lines += ["# TYPE gainful_gate_exit_code gauge", "# HELP gainful_gate_exit_code 0 pass, 1 regression, 3 refused."]
    return "\n".join([*lines, f"gainful_gate_exit_code {report.exit_code}", "# EOF", ""])


def as_markdown(report: GateReport) -> str:
    """Return a comment for a pull request: the verdict, collapsed queries, measures, and folded details."""
    page = report.page()
    [verdict, *parts] = page.parts
    main, rest = [], []
    for table in (replace(part, most=_MOST_ROWS) for part in parts if isinstance(part, Table)):
        hidden = len(table.rows) - _MOST_ROWS
        if table.title in _MAIN:
            main.append(replace(table, notes=(*table.notes, f"… {hidden:,} more")) if hidden > 0 else table)
        else:
            rest.append(table)
    word, _, sign, _ = VERDICTS[report.verdict]
    title = f"## {sign} gainful gate: {word.lower()}\n"
    shown = text(Page("gate", (verdict, *main)), "markdown")
    below = text(Page("gate", tuple(rest), page.notes), "markdown")
    unfold = f"<details>\n<summary>Queries, groups and the rule</summary>\n\n{below}\n</details>\n"
    return f"{MARKER}\n{title}\n{shown}\n{unfold}"


def as_github(report: GateReport) -> str:
    """Return annotations for GitHub's log; also append to the job summary, if there is one."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if path:
        with open(path, "a", encoding="utf-8") as out:
            out.write(as_markdown(report))
    measures = {each.measure for each in report.findings}
    # GitHub's escapes; titles need two more.
    marks = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
    of_title = {**marks, **str.maketrans({":": "%3A", ",": "%2C"})}
    lines = []
    for name, verdict, message in _messages(report):
        if name in measures or verdict in ("refused", "regression"):
            title = f"gainful gate: {'cannot be measured' if verdict == 'refused' else name}".translate(of_title)
            lines.append(f"::{VERDICTS[verdict].command} title={title}::{message.translate(marks)}")
    return "\n".join(lines) + "\n"


#: Formats in addition to those of pages.
FORMATS: dict[str, Callable[[GateReport], str]] = {
    "markdown": as_markdown,
    "json": as_json,
    "junit": as_junit,
    "openmetrics": as_openmetrics,
    "github": as_github,
}
