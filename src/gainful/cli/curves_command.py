"""`gainful curves`: gain by rank and precision–recall curves; each kind is a question of its own."""

from __future__ import annotations

from typing import Any

import click

from gainful.cli import help_groups
from gainful.cli.flags import INPUT, flag_name, flags_of, given, takes
from gainful.cli.inputs import CollectionOptions
from gainful.cli.options import FigureOutput, Places, complete_measure
from gainful.errors import UsageError
from gainful.frozen import dataclass, fields
from gainful.question import setting, settings_of
from gainful.tasks.run_questions import (
    AbstentionOptions,
    GainCurveOptions,
    GeneralisedRecallOptions,
    RecallLevelOptions,
    SidewaysOptions,
)

#: Kinds of curves: their options, the function that computes them, and what they show.
KINDS = {
    "gain": (GainCurveOptions, "gain_curves", "CG, DCG, nCG and nDCG by rank, with the ideal"),
    "recall": (RecallLevelOptions, "recall_levels", "precision–recall per grade level (always undefined=skip)"),
    "generalised": (GeneralisedRecallOptions, "generalised_recall", "generalised precision–recall"),
    "abstain": (AbstentionOptions, "abstention_curves", "answers by threshold on the top score"),
}


@dataclass(frozen=True)
class _EveryKind(AbstentionOptions, GeneralisedRecallOptions, RecallLevelOptions, GainCurveOptions, SidewaysOptions):
    """The options of all kinds, without duplicates."""


@dataclass(frozen=True, kw_only=True)
class _Kind:
    kind: str | None = setting(
        None,
        "Kind of curve; " + "; ".join(f"{name}: {about}" for name, (*_, about) in KINDS.items()) + ".",
        choices=KINDS,
        shown="gain",
    )
    abstain: bool = setting(False, "Systems that may answer nothing; the same as --kind abstain.")
    measures: tuple[str, ...] = setting(
        (),
        "Measure to draw, with parameters; gain: CG, DCG, nCG or nDCG, @k is the depth; generalised: gIPrec; abstain: "
        "any from 0 to 1.",
        flag="-m --measure",
        metavar="MEASURE",
        repeatable=True,
        complete=complete_measure,
    )


@dataclass(frozen=True, kw_only=True)
class _Queries(Places):
    queries: tuple[str, ...] = setting(
        (), "Only this query (repeatable).", flag="--query", metavar="ID", repeatable=True
    )


@help_groups.command("curves")
@click.argument("qrels", type=INPUT)
@click.argument("runs", type=INPUT, nargs=-1, required=True)
@takes(chosen=_Kind)
@flags_of(_EveryKind)
@takes(shown=_Queries, output=FigureOutput, reading=CollectionOptions)
def command(
    qrels: str,
    runs: tuple[str, ...],
    chosen: _Kind,
    shown: _Queries,
    output: FigureOutput,
    reading: CollectionOptions,
    **params: Any,
) -> None:
    """Plot curves of RUNS judged by QRELS: in sentences, as text, as data and as a figure.

    Example: gainful curves qrels.txt bm25.run dense.run -m nDCG@100 --figure ndcg.pdf

    Example: gainful curves qrels.txt bm25.run dense.run --kind recall --figure levels.svg
    """
    wanted, kind = given(_EveryKind, params), chosen.kind or ("abstain" if chosen.abstain else "gain")
    if chosen.abstain and kind != "abstain":
        raise UsageError(f"--abstain cannot be used with --kind {kind}")
    if chosen.measures:
        wanted["measures"] = chosen.measures
    show = {name: wanted.pop(name) for name in settings_of(SidewaysOptions) if name in wanted and kind == "gain"}
    asks, function, _ = KINDS[kind]
    for name in wanted:
        if name not in {each.name for each in fields(asks)}:
            flag = "--measure" if name == "measures" else flag_name(name, settings_of(_EveryKind)[name][1])
            raise UsageError(f"{flag} cannot be used with --kind {kind}", "gainful curves --help lists the options")
    collection = reading.opened(qrels, runs, ahead=not shown.queries and kind != "abstain").of_queries(shown.queries)
    import gainful

    with output.waiting("reading runs"):
        found = getattr(gainful, function)(collection.judged, collection.runs, threads=collection.threads, **wanted)
    output.show(found.page(shown.places, **show), found.notices)
