"""`gainful gate`: has a run fallen from a frozen baseline? A check for CI."""

from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING, Any

import click

from gainful.cli import help_groups, options
from gainful.cli.inputs import (
    CollectionOptions,
    GivenCollection,
    input_options,
    print_notices,
    takes_collection,
    takes_queries,
)
from gainful.cli.progress_bar import ProgressBar
from gainful.cli.typed_hints import without_options
from gainful.data.collection import Inputs, named_runs
from gainful.errors import InputError, UsageError
from gainful.io.atomic import write_bytes

if TYPE_CHECKING:
    from gainful.data.queries import Queries
    from gainful.kernel.parallel import Progress
    from gainful.tasks.gate.gate_file import Gate

_FORMATS = ("table", "markdown", "json", "junit", "openmetrics", "github")
_GATE = click.Path(dir_okay=False)


_gate_argument = click.argument("gate", type=_GATE)


@click.group("gate")
def command() -> None:
    """Check in CI that a system has not fallen from a frozen baseline.

    init freezes the scores of a run, check compares another run with them, update replaces them with a reason.
    """


@command.command("init", cls=help_groups.GroupedCommand)
@click.argument("qrels", type=options.INPUT)
@click.argument("runs", type=options.INPUT, nargs=-1, required=True)
@options.several_measures_option(("nDCG@10",))
@options.rel_option
@click.option("-o", "--output", "gate", type=_GATE, default="gate.json", show_default=True, help="The gate to write.")
@click.option("--margin", default="2%", show_default=True, metavar="SIZE", help="A drop that matters: 2% or 0.01.")
@options.floor_option
@options.file_option("--must-hold", "Queries that may not fall at all, by their ids.")
@click.option("--missing-at-most", type=click.IntRange(0), default=0, help="Queries a run may leave out.  [default: 0]")
@options.number_option("--judged-at-least", "The least share of judged documents in the top ranks.", "SHARE", "0")
@options.number_option("--judged-drop", "How much less of them may be judged than with the baseline.", "SHARE", "0.05")
@options.number_option("--spread", "How far queries differ by a small change, relative to the mean.", "SHARE", "0.13")
@options.text_option("--by", "--queries: groups that have a verdict of their own.", "COLUMN")
@takes_queries
@takes_collection()
def init(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    rel: str | None,
    gate: str,
    margin: str,
    floors: tuple[str, ...],
    must_hold: str | None,
    queries: Queries | None,
    reading: CollectionOptions,
    **rest: Any,
) -> None:
    """Freeze the scores of a run as the baseline of a gate. Several RUNS are repeats of one system.

    Example: gainful gate init qrels.txt baseline.run -m nDCG@10 -m R@100 -o gate.json
    """
    from gainful.tasks.gate.gate_file import Rule, refuse_existing

    refuse_existing(gate)
    _refuse_exclusion(reading.inputs)
    options.check_written(gate, "--output", (qrels, *runs))
    with ProgressBar("reading runs", wanted=not reading.quiet) as progress:
        collection = reading.started(qrels, named_runs(runs, reading.names), progress)
        from gainful.tasks.gate.baseline import INIT, RefusalError, freeze_gate  # loaded while the core reads

        wanted = options.measures_from(measures or ("nDCG@10",), rel)
        rule = Rule.of(margin, options.floors_from(floors, measures), must_hold or (), **rest)
        try:
            how: dict[str, Any] = {"threads": collection.threads, "progress": progress}
            frozen = freeze_gate(collection.judged, collection.runs, wanted, rule=rule, queries=queries, **how)
        except RefusalError as refusal:
            # The hint has the command as it was typed, with the options that allow what is refused.
            typed = without_options(click.get_current_context().obj, (refusal.allowed_by or "").split()[::2])
            hint = refusal.hint and refusal.hint.replace(INIT, f"gainful {shlex.join(typed)}")
            raise InputError(refusal.message, hint) from refusal
    _save(frozen, gate, reading.quiet)


def _save(frozen: Gate, gate: str, quiet: bool) -> None:
    frozen.save(gate)
    click.echo(f"Wrote {gate}: {frozen.summary}")
    print_notices(frozen.notices, quiet)


def _refuse_exclusion(inputs: Inputs) -> None:
    if inputs.exclude is not None:
        raise UsageError("--exclude: has no meaning with a gate", "leave the documents out where the run is made")
    if inputs.items or inputs.training:
        raise UsageError("--items, --training: have no meaning with a gate", "gate what judgments alone can measure")


def _collection(
    gate: Gate, qrels: str, runs: tuple[str, ...], given: dict[str, Any], progress: Progress, scale: float | None
) -> GivenCollection:
    """Judgments and runs under the conventions of a gate, being read."""
    _refuse_exclusion(given["inputs"])
    how = {name: given[name] for name in ("threads", "quiet", "inputs")}
    return GivenCollection(qrels, named_runs(runs), gate.conventions, scale=scale, progress=progress, **how)


_takes_reading = options.takes(
    input_options, options.threads_option, options.quiet_option("No notices, no bar."), inputs=Inputs.taken_from
)


@command.command("check", cls=help_groups.GroupedCommand)
@_gate_argument
@click.argument("qrels", type=options.INPUT)
@click.argument("runs", type=options.INPUT, nargs=-1, required=True)
@click.option("--strict", is_flag=True, help="A warning fails, too.")
@options.choice_option("--format", _FORMATS, "What to write.", default="table", name="format_")
@click.option("-o", "--output", type=_GATE, metavar="FILE", help="Write it to this file, and a table to the terminal.")
@_takes_reading
def check(
    gate: str, qrels: str, runs: tuple[str, ...], strict: bool, format_: str, output: str | None, **given: Any
) -> int:
    """Compare RUNS (several are repeats of one system) with the baseline of GATE.

    Exit codes: 0 pass, 1 regression, 3 cannot be measured.

    Example: gainful gate check gate.json qrels.txt new.run

    Example: gainful gate check gate.json qrels.txt new.run --format junit -o gate.xml
    """
    if output is not None:
        options.check_written(output, "--output", (gate, qrels, *runs))
    from gainful.tasks.gate.gate_file import Gate

    frozen = Gate.read(gate)
    with ProgressBar("reading runs", wanted=not given["quiet"]) as progress:
        collection = _collection(frozen, qrels, runs, given, progress, frozen.scale)
        from gainful.tasks.gate.baseline import check_gate  # loaded while the core reads

        how: dict[str, Any] = {"threads": collection.threads, "progress": progress}
        report = check_gate(frozen, collection.judged, collection.runs, strict=strict, **how)
    try:
        if format_ != "table":
            from gainful.tasks.gate.gate_report import FORMATS

            written = FORMATS[format_](report)
            if output is None:
                click.echo(written, nl=False)
            else:
                write_bytes(output, written.encode("utf-8", "surrogateescape"))
        elif output is not None:
            report.save(output, "table")
        if format_ == "table" or output is not None:
            options.Output("table", None).write(report)
        print_notices(report.notices, given["quiet"])
        sys.stdout.flush()
    except BrokenPipeError:  # who read it has seen enough; the verdict stands
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - closed with the process
    return report.exit_code


@command.command("update", cls=help_groups.GroupedCommand)
@_gate_argument
@click.argument("files", type=options.INPUT, nargs=-1, required=True, metavar="[QRELS] RUNS...")
@click.option("--reason", required=True, metavar="TEXT", help="Why the baseline changes; the history keeps it.")
@click.option("--new-judgments", is_flag=True, help="Take other judgments, too.")
@_takes_reading
def update(gate: str, files: tuple[str, ...], reason: str, new_judgments: bool, **given: Any) -> None:
    """Replace the baseline of GATE by that of a run. Of several files the first are the judgments.

    Example: gainful gate update gate.json new.run --reason "reranker v3"
    """
    from gainful.tasks.gate.baseline import update_gate
    from gainful.tasks.gate.gate_file import Gate

    frozen = Gate.read(gate)
    qrels, runs = (files[0], files[1:]) if len(files) > 1 else (frozen.qrels_path, files)
    with ProgressBar("reading runs", wanted=not given["quiet"]) as progress:
        collection = _collection(frozen, qrels, runs, given, progress, None if new_judgments else frozen.scale)
        how: dict[str, Any] = {"threads": collection.threads, "progress": progress}
        changed = update_gate(frozen, collection.judged, collection.runs, reason, new_judgments=new_judgments, **how)
    _save(changed, gate, given["quiet"])


@command.command("history", cls=help_groups.GroupedCommand)
@_gate_argument
@options.quiet_option("No notices.")
@options.takes_output_and_figure
def history(gate: str, quiet: bool, output: options.Output, figure: options.FigureOutput) -> None:
    """Show the baselines of GATE over time."""
    from gainful.tasks.gate.gate_file import Gate
    from gainful.tasks.gate.gate_report import history_page

    page = history_page(Gate.read(gate))
    output.write(page)
    figure.write(page)


@command.command("selftest", cls=help_groups.GroupedCommand)
@_gate_argument
@click.argument("qrels", type=options.INPUT)
@click.argument("run", type=options.INPUT)
@click.option("--seed", type=click.IntRange(0), default=0, help="Another seed, other draws.  [default: 0]")
@options.takes_output_and_figure
@_takes_reading
def selftest(
    gate: str, qrels: str, run: str, seed: int, output: options.Output, figure: options.FigureOutput, **given: Any
) -> None:
    """Try GATE on the run of its own baseline: how often it is alarmed by nothing, and which faults it finds.

    Example: gainful gate selftest gate.json qrels.txt baseline.run
    """
    from gainful.tasks.gate.gate_file import Gate
    from gainful.tasks.gate.selftest import selftest as tried

    frozen = Gate.read(gate)
    inputs = given["inputs"]
    _refuse_exclusion(inputs)
    with ProgressBar("trying", wanted=not given["quiet"], in_bytes=False) as progress:
        judgments = inputs.read_qrels(qrels, scale=frozen.scale)
        found = tried(frozen, judgments, inputs.single_run(run), seed=seed, progress=progress)
    output.write(found)
    figure.write(found)
