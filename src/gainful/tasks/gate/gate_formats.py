"""A gate's verdict for machines: JSON, JUnit, OpenMetrics, GitHub's annotations; and Markdown for a pull request."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from dataclasses import asdict, replace
from xml.sax.saxutils import escape, quoteattr

from gainful._version import __version__
from gainful.notation import printable
from gainful.pages.page import Table
from gainful.render import Page, text
from gainful.tasks.gate.gate_report import Finding, GateReport, sentence, verdict_text

#: The form of the JSON; docs/gate.md has it.
JSON_SCHEMA = "gainful-gate-check/1"
_SIGNS = {"pass": "✅", "warning": "⚠️", "regression": "❌", "refused": "🚫"}
#: What a comment begins with, so that the next one replaces it; the tables outside of what unfolds; rows of a table.
MARKER, _MAIN, _MOST = "<!-- gainful gate -->", ("Collapsed queries", "The measures"), 20
#: What GitHub calls a message by the verdict that it is of.
_COMMANDS = {"pass": "notice", "warning": "warning", "regression": "error", "refused": "error"}


def as_json(report: GateReport) -> str:
    """Everything, under names that stay."""
    value = {
        "schema": JSON_SCHEMA,
        "gainful": __version__,
        "verdict": report.verdict,
        "exit": report.exit_code,
        "sentence": verdict_text(report),
        "refusal": report.refusal,
        "hint": report.hint,
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


#: The numbers of a change under their names.
_NUMBERS = (
    *("n", "baseline", "new", "difference", "relative", "drop", "p_fell", "p_rose"),
    *("margin", "noise", "level", "spread"),
)


def _finding(each: Finding) -> dict[str, object]:
    change = each.change
    numbers = {name: getattr(change, name) for name in _NUMBERS}
    numbers |= {"low": change.interval[0], "high": change.interval[1], "most_dropped": change.most_dropped}
    finite = {name: None if value is None or math.isinf(value) else value for name, value in numbers.items()}
    said = {"measure": each.measure, "group": each.group, "verdict": each.verdict, "improved": change.is_improvement}
    return {**said, **finite, "test": change.test}


def as_junit(report: GateReport) -> str:
    """A test case a measure, group and promise; a refusal is an error, a regression a failure."""
    found: list[tuple[str, str | None, str]] = []
    if report.refusal is not None:
        found.append(("can be measured", "error", _refused(report)))
    for each in (*report.findings, *report.groups):
        failed = each.verdict == "regression" or (each.verdict == "warning" and report.is_strict)
        found.append((each.name, "failure" if failed else None, sentence(report, each)))
    for promise in report.promises:
        found.append((promise.name, "failure" if promise.broken else None, promise.broken or "It holds."))
    cases = []
    for name, kind, message in found:
        # Without the characters that XML cannot hold.
        said, shown = printable(message, 10_000), quoteattr(printable(name, 10_000))
        inside = f"<system-out>{escape(said)}</system-out>"
        if kind is not None:
            inside = f"<{kind} message={quoteattr(said)} type={quoteattr(kind)}>{escape(said)}</{kind}>"
        start = f'    <testcase classname="gainful.gate" name={shown} time="0">'
        cases.append(f"{start}\n      {inside}\n    </testcase>")
    kinds = [kind for _, kind, _ in found]
    counts = f'failures="{kinds.count("failure")}" errors="{kinds.count("error")}"'
    attributes = f'name="gainful gate" tests="{len(cases)}" {counts}'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f"<testsuites {attributes}>",
        f'  <testsuite {attributes} skipped="0" time="0">',
        *cases,
        "  </testsuite>",
        "</testsuites>",
    ]
    return "\n".join(lines) + "\n"


def _refused(report: GateReport) -> str:
    return f"{report.refusal}. {report.hint or ''}".strip()


def as_openmetrics(report: GateReport) -> str:
    """Means, differences and the verdict, as Prometheus scrapes them."""
    metrics: dict[str, tuple[str, Callable[[Finding], float]]] = {
        "gainful_gate_mean": ("The mean of the new run.", lambda each: each.change.new),
        "gainful_gate_baseline": ("The mean of the baseline.", lambda each: each.change.baseline),
        "gainful_gate_difference": ("New minus baseline.", lambda each: each.change.difference),
        "gainful_gate_p_fell": ("One-sided p that it fell.", lambda each: each.change.p_fell),
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
    """A comment for a pull request: the verdict, what collapsed, the measures, and the rest to unfold."""
    page = report.page()
    [verdict, *parts] = page.parts
    main, rest = [], []
    for table in (replace(part, most=_MOST) for part in parts if isinstance(part, Table)):
        hidden = len(table.rows) - _MOST
        if table.title in _MAIN:
            main.append(replace(table, notes=(*table.notes, f"… {hidden:,} more")) if hidden > 0 else table)
        else:
            rest.append(table)
    verdict_word = "cannot be measured" if report.verdict == "refused" else report.verdict
    title = f"## {_SIGNS[report.verdict]} gainful gate: {verdict_word}\n"
    shown = text(Page("gate", (verdict, *main)), "markdown")
    below = text(Page("gate", tuple(rest), page.notes), "markdown")
    unfold = f"<details>\n<summary>Queries, groups and the rule</summary>\n\n{below}\n</details>\n"
    return f"{MARKER}\n{title}\n{shown}\n{unfold}"


def as_github(report: GateReport) -> str:
    """Annotations for GitHub's log; the job's summary is written, too, where there is one."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if path:
        with open(path, "a", encoding="utf-8") as out:
            out.write(as_markdown(report))
    lines = []
    if report.refusal is not None:
        lines.append(_annotation("error", "cannot be measured", _refused(report)))
    lines += [
        _annotation(_COMMANDS[each.verdict], each.name, sentence(report, each))
        for each in (*report.findings, *report.groups)
        if each.group is None or each.verdict == "regression"
    ]
    lines += [_annotation("error", each.name, each.broken) for each in report.promises if each.broken]
    return "\n".join(lines) + "\n"


_LINES = "%\r\n"


def _annotation(command: str, title: str, message: str) -> str:
    def escaped(value: str, marks: str) -> str:
        for mark in marks:
            value = value.replace(mark, f"%{ord(mark):02X}")
        return value

    head = escaped(f"gainful gate: {title}", f"{_LINES}:,")
    return f"::{command} title={head}::{escaped(message, _LINES)}"


#: The formats of a verdict beside those of pages.
FORMATS: dict[str, Callable[[GateReport], str]] = {
    "markdown": as_markdown,
    "json": as_json,
    "junit": as_junit,
    "openmetrics": as_openmetrics,
    "github": as_github,
}
