"""A gate's verdict as a page: one sentence first, then what fell, what improved, and the numbers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from gainful.errors import for_asker
from gainful.evaluation.results import short_conventions
from gainful.notation import count_of, printable
from gainful.pages.page import Column, Table, head
from gainful.render import Page
from gainful.stats.regression_rule import LEVEL
from gainful.tasks.compare.compare_words import limits_text, p_words, places_for
from gainful.tasks.gate.gate_file import COLLAPSED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gainful.tasks.gate import Finding, GateReport, QueryChange
    from gainful.tasks.gate.gate_file import Accepted, Gate

#: So many queries are shown that fell or rose most, and so many characters of their texts.
_MOST, _TEXT = 5, 50
_WORDS = {"pass": "Pass", "warning": "Warning", "regression": "Regression", "refused": "Cannot be measured"}


def gate_page(report: GateReport) -> Page:
    """All that there is to say of a run at the gate."""
    parts: list[Table | str] = [verdict_text(report)]
    if report.findings:
        parts += list(_query_tables(report))
        parts.append(_findings("The measures", report.findings))
    elif report.means:
        parts.append(_means(report))
    if report.groups:
        by = report.gate.rule.by or "group"
        parts.append(_findings(f"By {printable(by, 40)}", report.groups, by))
    blind = [f"note: {report.blind}"] if report.blind else []
    notes = (*blind, *_rule_notes(report.gate), _conventions(report.gate))
    return Page("gate", tuple(parts), notes, _header(report))


def verdict_text(report: GateReport) -> str:
    """The verdict and its reasons, a line each: what decided it first."""
    broken = [f"{each.broken}." for each in report.promises if each.broken]
    if report.refusal is not None:
        failed = [f"{_WORDS['regression']}: {broken[0]}", *broken[1:]] if broken else []
        said = f"{'Not compared with the baseline' if failed else _WORDS['refused']}: {report.refusal}."
        return "\n".join([*failed, said, *([f"Hint: {report.hint}."] if report.hint else [])])
    rest = [each for each in report.findings if each.verdict != report.verdict]
    deciding = [sentence(report, each) for each in report.findings if each.verdict == report.verdict]
    failing = [sentence(report, each) for each in report.groups if each.verdict == "regression"]
    lines = [*deciding, *broken, *failing] if report.verdict == "regression" else deciding
    lines = [f"{_WORDS[report.verdict]}: {lines[0]}", *lines[1:], *(sentence(report, each) for each in rest)]
    collapsed = len({each.query for each in report.collapsed})
    if collapsed:
        share = f"{COLLAPSED:.0%}".replace("%", " %")
        lines.append(f"{count_of(collapsed, 'query', 'queries')} collapsed (lost at least {share} of the score).")
    if report.verdict == "warning" and not report.is_strict:
        lines.append(f"A warning does not fail; {for_asker('with --strict', 'with strict=True')} it does.")
    return "\n".join(lines)


def sentence(report: GateReport, finding: Finding) -> str:
    """What became of a measure, in one sentence."""
    change, name = finding.change, printable(finding.name, 80)
    low, high = change.interval
    if not change.difference and low == high == 0:
        return f"{name} did not change ({change.baseline:.4f}, {_queries(change.n)})."
    places = places_for(change.difference)
    verb = "rose" if change.difference > 0 else "fell"
    sign = 1 if change.difference >= 0 else -1
    limits = sorted((sign * low, sign * high))
    inside = [f"95 % interval {limits_text(limits[0], limits[1], places)}"]
    if change.relative is not None:
        inside.insert(0, f"{100 * change.relative:+.1f} %")
    if not change.is_higher_better:
        inside.append("lower is better")
    inside += _by_groups(report, finding)
    size = f"{verb} by {abs(change.difference):.{places}f}" if change.difference else "is the same on average"
    after = ""
    if finding.verdict == "warning":
        after = f": a loss of {report.gate.rule.margin_text} cannot be excluded"
    elif change.is_improvement:
        after = ", a significant improvement"
    return f"{name} {size} ({', '.join(inside)}){after}."


def _by_groups(report: GateReport, finding: Finding) -> list[str]:
    """In how many groups a measure became worse, and where most."""
    own = [each for each in report.groups if each.measure == finding.measure]
    fell = sorted((each for each in own if each.change.drop > 0), key=lambda each: -each.change.drop)
    if finding.group is not None or not fell:
        return []
    worst = fell[0]
    size = f"{worst.change.difference:+.{places_for(worst.change.difference)}f}"
    of = f"{len(fell)} of {count_of(len(own), 'group')}"
    return [f"worse in {of}, most in {printable(worst.group or '', 40)}: {size}"]


def _queries(number: int) -> str:
    return count_of(number, "query", "queries")


def _query_tables(report: GateReport) -> Iterator[Table]:
    """Collapsed queries, then those that fell and those that improved most."""
    collapsed = report.collapsed
    if collapsed:
        yield _changes("Collapsed queries", report, collapsed, len(collapsed))
    fell = [each for each in report.queries if each.gain < 0 and not each.has_collapsed]
    rose = [each for each in reversed(report.queries) if each.gain > 0]
    for title, changes in (("Queries that lost most", fell), ("Queries that gained most", rose)):
        if changes:
            yield _changes(title, report, changes, _MOST)


def _changes(title: str, report: GateReport, changes: Sequence[QueryChange], most: int) -> Table:
    has_text = any(each.text for each in changes)
    by = report.gate.rule.by
    columns = (
        Column("query"),
        *(
            (Column("text", none="", get=lambda each: None if each.text is None else printable(each.text, _TEXT)),)
            if has_text
            else ()
        ),
        *((Column(by, none="", get=lambda each: each.group),) if by is not None else ()),
        *head("measure | baseline . | new . | difference ."),
    )
    return Table.of(columns, changes, title=title, most=most)


def _findings(title: str, findings: Sequence[Finding], by: str | None = None) -> Table:
    def p_text(each: Finding) -> str:
        return p_words(each.change.p_fell)

    columns = (
        Column("measure"),
        *((Column(by, get=lambda each: each.group),) if by is not None else ()),
        *head("queries # ← change.n | baseline . ← change.baseline | new . ← change.new"),
        *head("difference . ← change.difference"),
        Column("95 % interval", get=_interval_text),
        Column("one-sided p", get=p_text),
        Column("margin", "number", get=lambda each: each.change.margin),
        Column("verdict", get=_verdict),
    )
    return Table.of(columns, findings, title=title)


def _means(report: GateReport) -> Table:
    """The means of the baseline and of a run that is not compared with it."""
    before = report.gate.history[-1].means
    rows = [(measure, before[measure], mean) for measure, mean in report.means.items()]
    return Table((Column("measure"), Column("baseline", "number"), Column("new", "number")), rows, title="The measures")


def _interval_text(each: Finding) -> str:
    low, high = each.change.interval
    return limits_text(low, high, 4)


def _verdict(each: Finding) -> str:
    return "pass, improved" if each.verdict == "pass" and each.change.is_improvement else each.verdict


def _rule_notes(gate: Gate) -> Iterator[str]:
    rule = gate.rule
    groups = f" (of groups {LEVEL:g} / their number)" if rule.by is not None else ""
    yield (
        f"margin {rule.margin_text}; regression: one-sided p <= {LEVEL:g}{groups} and a loss of a quarter of the "
        "margin, or a loss of the margin beyond chance; warning: a loss of the margin cannot be excluded (one-sided "
        "95 % limit)"
    )
    last = gate.history[-1]
    yield f"baseline: {printable(last.run, 60)}, {last.date}, {printable(last.reason, 60)}"


def _conventions(gate: Gate) -> str:
    facts = {"scale": f"{gate.scale:g}", "queries": str(len(gate.queries)), "gainful": gate.version}
    if gate.rule.weights is not None:
        facts["weights"] = gate.rule.weights
    return short_conventions(gate.conventions.differences(), facts)


def _header(report: GateReport) -> dict[str, object]:
    return {"verdict": report.verdict, "exit": report.exit_code, "refusal": report.refusal, "runs": list(report.runs)}


def frozen_text(gate: Gate) -> str:
    """What was frozen, in short."""
    last = gate.history[-1]
    means = ", ".join(f"{measure} {mean:.4f}" for measure, mean in last.means.items())
    return f"{means} over {_queries(len(gate.queries))}, margin {gate.rule.margin_text}"


def _mean_of(measure: str, accepted: Accepted) -> float | None:
    return accepted.means.get(measure)


def history_page(gate: Gate) -> Page:
    """The baselines over time: a table, and a line a measure."""
    from gainful.pages.charts import Axis, Line, Plot

    columns = (
        Column("date"),
        Column("reason", get=lambda each: printable(each.reason, 60)),
        Column("run", get=lambda each: printable(each.run, 40)),
        *(Column(measure, "number", get=partial(_mean_of, measure)) for measure in gate.measures),
    )
    table = Table.of(columns, gate.history, title="Baselines")
    places = tuple(float(i) for i in range(1, len(gate.history) + 1))
    lines = tuple(
        Line(measure, places, tuple(each.means.get(measure, float("nan")) for each in gate.history))
        for measure in gate.measures
    )
    ticks = tuple((place, each.date) for place, each in zip(places, gate.history, strict=True))
    axis = Axis("baseline", ticks=ticks if len(ticks) <= 8 else (ticks[0], ticks[-1]), is_whole=True)
    chart = Plot("Means of the baselines", axis, Axis("mean"), lines)
    return Page("gate", (table, chart), (_conventions(gate),))
