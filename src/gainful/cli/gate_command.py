"""`gainful gate`: fail CI when a run falls below a frozen baseline."""

from __future__ import annotations

import os
import shlex
import sys
from typing import Any

import click

from gainful.cli import help_groups
from gainful.cli.flags import INPUT, flags_of, given, group, takes
from gainful.cli.inputs import CollectionOptions, GroupedQueries, InputOptions, Work
from gainful.cli.options import (
    FigureOutput,
    Floors,
    MeasureOptions,
    Output,
    Quiet,
    check_written,
    floors_from,
    measures_of,
)
from gainful.cli.typed_hints import without_options
from gainful.data.collection import Collection, Inputs, named_runs
from gainful.errors import InputError, UsageError
from gainful.frozen import dataclass
from gainful.io.atomic import write_bytes
from gainful.question import setting
from gainful.tasks.gate import Gate, Rule, refuse_existing

_FORMATS = ("table", "markdown", "json", "junit", "openmetrics", "github")
_gate_argument = click.argument("gate", type=INPUT)


@click.group("gate")
def command() -> None:
    """Fail CI when a system regresses from a frozen baseline.

    init freezes the scores of a run, check compares a new run with them, update replaces them and records a reason.
    """


@dataclass(frozen=True, kw_only=True)
class _RuleOptions(Floors, Quiet):
    gate: str = setting("gate.json", "Gate file to write.", kind="written", flag="-o --output")
    margin: str | None = setting(
        None, "Drop that matters, such as 2% or 0.01; by default, what the queries can detect.", metavar="SIZE"
    )
    must_hold: str | None = setting(None, "File of query IDs that must not fall at all.", kind="file")


@dataclass(frozen=True, kw_only=True)
class _Segments(GroupedQueries):
    by: str | None = setting(None, "Query groups with verdicts of their own.", metavar="COLUMN")


@command.command("init", cls=help_groups.GroupedCommand)
@click.argument("qrels", type=INPUT)
@click.argument("runs", type=INPUT, nargs=-1, required=True)
@takes(wanted=measures_of(("nDCG@10",)), asked=_RuleOptions)
@flags_of(Rule)
@takes(of_queries=_Segments, reading=CollectionOptions)
def init(
    qrels: str,
    runs: tuple[str, ...],
    wanted: MeasureOptions,
    asked: _RuleOptions,
    of_queries: _Segments,
    reading: CollectionOptions,
    **params: Any,
) -> None:
    """Freeze the scores of a run as the baseline of a gate. Several RUNS are repeats of one system.

    Example: gainful gate init qrels.txt baseline.run -m nDCG@10 -m R@100 -o gate.json
    """
    gate = asked.gate
    refuse_existing(gate)
    _refuse_exclusion(reading.inputs)
    check_written(gate, "--output")
    queries = of_queries.read(reading.inputs.columns["qrels"], qrels, of_queries.by)
    with asked.waiting("reading runs"):
        collection = reading.started(qrels, named_runs(runs, reading.names))
        from gainful.tasks.gate.baseline import INIT, RefusalError, freeze_gate  # loaded while the core reads

        measures = wanted.parsed()
        floors, must_hold = floors_from(asked.floors, wanted.measures), asked.must_hold or ()
        rule = Rule.of(asked.margin, floors, must_hold, by=of_queries.by, **given(Rule, params))
        try:
            judged, threads = collection.judged, collection.threads
            frozen = freeze_gate(judged, collection.runs, measures, rule=rule, queries=queries, threads=threads)
        except RefusalError as refusal:
            # The hint repeats the typed command with the options that would allow it.
            typed = without_options(click.get_current_context().obj, (refusal.allowed_by or "").split()[::2])
            hint = refusal.hint and refusal.hint.replace(INIT, f"gainful {shlex.join(typed)}")
            raise InputError(refusal.message, hint) from refusal
    _save(frozen, gate, asked)


def _save(frozen: Gate, gate: str, noticed: Quiet) -> None:
    frozen.save(gate)
    click.echo(f"Wrote {gate}: {frozen.summary}")
    noticed.notify(frozen.notices)


def _refuse_exclusion(inputs: Inputs) -> None:
    if inputs.exclude is not None:
        raise UsageError("--exclude cannot be used with a gate", "remove the documents when the run is made")
    if inputs.items or inputs.training or inputs.intents:
        hint = "choose measures that need only judgments"
        raise UsageError("--items, --training and --intents cannot be used with a gate", hint)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Reading(Work):
    """Input options; the gate sets the conventions."""

    inputs: Inputs = group(flags_of(InputOptions), InputOptions.taken_from)

    def started(self, gate: Gate, qrels: str, runs: tuple[str, ...], scale: float | None) -> Collection:
        _refuse_exclusion(self.inputs)
        files, policy = named_runs(runs), gate.conventions
        return Collection(qrels, files, policy, self.inputs, scale=scale, threads=self.threads)


@dataclass(frozen=True, kw_only=True)
class _CheckOptions(Quiet):
    strict: bool = setting(False, "Treat warnings as failures.")
    format: str = setting("table", "Output format.", choices=_FORMATS)
    output: str | None = setting(
        None, "Write to this file; the table is still printed.", kind="written", flag="-o --output", metavar="FILE"
    )


@command.command("check", cls=help_groups.GroupedCommand)
@_gate_argument
@click.argument("qrels", type=INPUT)
@click.argument("runs", type=INPUT, nargs=-1, required=True)
@takes(asked=_CheckOptions, reading=_Reading)
def check(gate: str, qrels: str, runs: tuple[str, ...], asked: _CheckOptions, reading: _Reading) -> int:
    """Compare RUNS (several are repeats of one system) with the baseline of GATE.

    Exit codes: 0 pass, 1 regression, 3 cannot be measured.

    Example: gainful gate check gate.json qrels.txt new.run

    Example: gainful gate check gate.json qrels.txt new.run --format junit -o gate.xml
    """
    if asked.output is not None:
        check_written(asked.output, "--output")
    frozen = Gate.read(gate)
    with asked.waiting("reading runs"):
        collection = reading.started(frozen, qrels, runs, frozen.scale)
        from gainful.tasks.gate.baseline import check_gate  # loaded while the core reads

        report = check_gate(frozen, collection.judged, collection.runs, strict=asked.strict, threads=collection.threads)
    try:
        if asked.format != "table":
            from gainful.tasks.gate.gate_report import FORMATS

            written = FORMATS[asked.format](report)
            if asked.output is None:
                click.echo(written, nl=False)
            else:
                write_bytes(asked.output, written.encode("utf-8", "surrogateescape"))
        elif asked.output is not None:
            report.save(asked.output, "table")
        if asked.format == "table" or asked.output is not None:
            Output(format="table").show(report)
        asked.notify(report.notices)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader closed the pipe; the exit code still counts
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - closed with the process
    return report.exit_code


@command.command("update", cls=help_groups.GroupedCommand)
@_gate_argument
@click.argument("files", type=INPUT, nargs=-1, required=True, metavar="[QRELS] RUNS...")
@click.option("--reason", required=True, metavar="TEXT", help="Reason for the change; kept in the history.")
@click.option("--new-judgments", is_flag=True, help="Accept other judgments.")
@takes(noticed=Quiet, reading=_Reading)
def update(
    gate: str, files: tuple[str, ...], reason: str, new_judgments: bool, noticed: Quiet, reading: _Reading
) -> None:
    """Replace the baseline of GATE with a new run. If several files are given, the first are the judgments.

    Example: gainful gate update gate.json new.run --reason "reranker v3"
    """
    from gainful.tasks.gate.baseline import update_gate

    frozen = Gate.read(gate)
    qrels, runs = (files[0], files[1:]) if len(files) > 1 else (frozen.qrels_path, files)
    with noticed.waiting("reading runs"):
        collection = reading.started(frozen, qrels, runs, None if new_judgments else frozen.scale)
        threads, judged = collection.threads, collection.judged
        changed = update_gate(frozen, judged, collection.runs, reason, new_judgments=new_judgments, threads=threads)
    _save(changed, gate, noticed)


@command.command("history", cls=help_groups.GroupedCommand)
@_gate_argument
@takes(output=FigureOutput)
def history(gate: str, output: FigureOutput) -> None:
    """Show the baselines of GATE over time."""
    from gainful.tasks.gate.gate_report import history_page

    output.show(history_page(Gate.read(gate)))


@command.command("selftest", cls=help_groups.GroupedCommand)
@_gate_argument
@click.argument("qrels", type=INPUT)
@click.argument("run", type=INPUT)
@click.option("--seed", type=click.IntRange(0), default=0, help="Random seed.  [default: 0]")
@takes(output=FigureOutput, reading=_Reading)
def selftest(gate: str, qrels: str, run: str, seed: int, output: FigureOutput, reading: _Reading) -> None:
    """Test GATE on its baseline's own run: the rate of false alarms, and the faults that are found.

    Example: gainful gate selftest gate.json qrels.txt baseline.run
    """
    from gainful.tasks.gate.selftest import selftest as run_selftest

    frozen = Gate.read(gate)
    inputs = reading.inputs
    _refuse_exclusion(inputs)
    with output.waiting("testing the gate", in_bytes=False):
        judgments = inputs.read_qrels(qrels, scale=frozen.scale)
        found = run_selftest(frozen, judgments, inputs.single_run(run), seed=seed)
    output.show(found)


# Taken by the common options of inputs, and refused.
for _parameter in (each for subcommand in command.commands.values() for each in subcommand.params):
    if isinstance(_parameter, click.Option) and _parameter.name in ("exclude", "items", "training", "intents"):
        _parameter.hidden = True
