"""A gate's verdict for machines: JSON, JUnit, OpenMetrics, GitHub's annotations; and Markdown for a pull request."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from gainful._version import __version__
from gainful.notation import printable
from gainful.pages.page import Table
from gainful.render import Page, text
from gainful.tasks.gate.gate_page import gate_page, sentence, verdict_text

if TYPE_CHECKING:
    from gainful.tasks.gate import Finding, GateReport

#: The form of the JSON; docs/gate.md has it.
JSON_SCHEMA = "gainful-gate-check/1"
_SIGNS = {"pass": "✅", "warning": "⚠️", "regression": "❌", "refused": "🚫"}
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
        "measures": [_finding(each) for each in report.findings],
        "groups": [_finding(each) for each in report.groups],
        "broken": list(report.broken),
        "queries": [{**asdict(each), "difference": each.difference} for each in report.queries],
        "notices": list(report.notices),
    }
    return json.dumps(value, ensure_ascii=False, indent=1, default=str, allow_nan=False) + "\n"


#: The numbers of a change under their names.
_NUMBERS = ("n", "baseline", "new", "difference", "relative", "drop", "p_fell", "p_rose", "margin", "noise", "level")


def _finding(each: Finding) -> dict[str, object]:
    change = each.change
    low, high, most = (None if math.isinf(limit) else limit for limit in (*change.interval, change.most_dropped))
    return {
        "measure": each.measure,
        "group": each.group,
        "verdict": each.verdict,
        "improved": change.is_improvement,
        **{name: getattr(change, name) for name in _NUMBERS},
        "low": low,
        "high": high,
        "most_dropped": most,
        "spread": change.spread,
        "test": change.test,
    }


def as_junit(report: GateReport) -> str:
    """A test case a measure and group; a refusal is an error, a regression a failure."""
    cases = list(_cases(report))
    counts = {kind: sum(f"<{kind} " in case for case in cases) for kind in ("failure", "error")}
    attributes = f'tests="{len(cases)}" failures="{counts["failure"]}" errors="{counts["error"]}" skipped="0"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name="gainful gate" {attributes.replace(chr(32) + "skipped=" + chr(34) + "0" + chr(34), "")}>',
        f'  <testsuite name="gainful gate" {attributes} time="0">',
        *cases,
        "  </testsuite>",
        "</testsuites>",
    ]
    return "\n".join(lines) + "\n"


def _cases(report: GateReport) -> Iterator[str]:
    if report.refusal is not None:
        yield _case("measurable", "error", f"{report.refusal}. {report.hint or ''}".strip())
    for each in (*report.findings, *report.groups):
        failed = each.verdict == "regression" or (each.verdict == "warning" and report.is_strict)
        yield _case(each.name, "failure" if failed else None, sentence(report, each))
    for broken in report.broken:
        yield _case(broken.split(" ", 1)[0], "failure", broken)


def _case(name: str, kind: str | None, message: str) -> str:
    start = f'    <testcase classname="gainful.gate" name={quoteattr(_xml(name))} time="0"'
    if kind is None:
        return f"{start}>\n      <system-out>{escape(_xml(message))}</system-out>\n    </testcase>"
    inside = f"<{kind} message={quoteattr(_xml(message))} type={quoteattr(kind)}>{escape(_xml(message))}</{kind}>"
    return f"{start}>\n      {inside}\n    </testcase>"


def _xml(value: str) -> str:
    """Text without the characters that XML cannot hold."""
    return printable(value, 10_000)


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
            shown = ",".join(f'{key}="{_label(value)}"' for key, value in labels.items())
            lines.append(f"{name}{{{shown}}} {get(each)!r}")
    lines += ["# TYPE gainful_gate_exit_code gauge", "# HELP gainful_gate_exit_code 0 pass, 1 regression, 3 refused."]
    return "\n".join([*lines, f"gainful_gate_exit_code {report.exit_code}", "# EOF", ""])


def _label(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def as_markdown(report: GateReport) -> str:
    """A comment for a pull request: the verdict, the measures, and the rest to unfold."""
    page = gate_page(report)
    [verdict, *parts] = page.parts
    tables = [part for part in parts if isinstance(part, Table)]
    main = [table for table in tables if table.title == "The measures"]
    rest = tuple(replace(table, most=None) for table in tables if table.title != "The measures")
    title = f"## {_SIGNS[report.verdict]} gainful gate: {'cannot be measured' if report.refusal else report.verdict}\n"
    shown = text(Page("gate", (verdict, *main)), "markdown")
    notes = text(Page("gate", rest, page.notes), "markdown")
    return f"{title}\n{shown}\n<details>\n<summary>Queries, groups and the rule</summary>\n\n{notes}\n</details>\n"


def as_github(report: GateReport) -> str:
    """Annotations for GitHub's log; the job's summary is written, too, where there is one."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if path:
        with open(path, "a", encoding="utf-8") as out:
            out.write(as_markdown(report))
    lines = []
    if report.refusal is not None:
        lines.append(_annotation("error", "cannot be measured", f"{report.refusal}. {report.hint or ''}".strip()))
    lines += [
        _annotation(_COMMANDS[each.verdict], each.name, sentence(report, each))
        for each in (*report.findings, *report.groups)
        if each.group is None or each.verdict != "pass"
    ]
    lines += [_annotation("error", "promise", broken) for broken in report.broken]
    return "\n".join(lines) + "\n"


def _annotation(command: str, title: str, message: str) -> str:
    def escaped(value: str, marks: str) -> str:
        for mark in marks:
            value = value.replace(mark, f"%{ord(mark):02X}")
        return value

    return f"::{command} title={escaped(f'gainful gate: {title}', chr(37) + chr(13) + chr(10) + ':,')}::" + escaped(
        message, "%\r\n"
    )


#: The formats of a verdict beside those of pages.
FORMATS: dict[str, Callable[[GateReport], str]] = {
    "markdown": as_markdown,
    "json": as_json,
    "junit": as_junit,
    "openmetrics": as_openmetrics,
    "github": as_github,
}
