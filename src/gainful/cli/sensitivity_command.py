"""`gainful sensitivity`: whether other gains, discounts or depths change the ranking of systems."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import click

from gainful.cli import help_groups
from gainful.cli.flags import INPUT, flags_of, given, refuse, takes
from gainful.cli.inputs import CollectionOptions
from gainful.cli.options import FigureOutput, Places, measure_setting
from gainful.cli.score_inputs import SessionReading
from gainful.frozen import dataclass
from gainful.tasks.run_questions import SensitivityOptions, SessionSensitivityOptions


@dataclass(frozen=True, kw_only=True)
class _Measure:
    measure: str = measure_setting("nDCG")


@help_groups.command("sensitivity")
@click.argument("qrels", type=INPUT)
@click.argument("runs", type=INPUT, nargs=-1, required=True)
@takes(of=_Measure)
@flags_of(SensitivityOptions)
@takes(shown=Places, output=FigureOutput, sessions=SessionReading, reading=CollectionOptions)
def command(
    qrels: str,
    runs: tuple[str, ...],
    of: _Measure,
    shown: Places,
    output: FigureOutput,
    sessions: SessionReading | None,
    reading: CollectionOptions,
    **params: Any,
) -> None:
    """Test whether gains, discounts or depth change the ranking of RUNS (or --sessions) judged by QRELS.

    Evaluates every combination and reports who wins where, what changes the winner, and how similar the rankings are
    (Kendall's tau). Parameters set with -m, as in nDCG(gain=exp2)@20, stay fixed.

    Example: gainful sensitivity qrels.txt bm25.run dense.run --gain flat,tenfold --at 10,100

    Example: gainful sensitivity qrels.txt bm25.run dense.run --scenario impatient --scenario patient

    Example: gainful sensitivity qrels.txt bm25.run dense.run -m ADM --figure adm.svg

    Example: gainful sensitivity qrels.txt old.jsonl new.jsonl --sessions --vary query_base=2,4,10
    """
    import gainful

    ask: Callable[..., Any]
    if sessions is None:
        wanted, read = given(SensitivityOptions, params), reading.opened(qrels, runs)
        ask = partial(gainful.assess_sensitivity, read.judged, read.runs, measure=of.measure, threads=read.threads)
    else:
        refuse(("discount", "scenario", "scenarios"), "cannot be used with --sessions")
        wanted, of_sessions = given(SessionSensitivityOptions, params), sessions.inputs(reading, qrels, runs)
        wanted |= {**of_sessions.how, "measure": "nsDCG" if of.measure == "nDCG" else of.measure}
        ask = partial(gainful.assess_session_sensitivity, of_sessions.judged, of_sessions.sessions)
    with output.waiting("reading runs" if sessions is None else "scoring sessions", in_bytes=sessions is None):
        found = ask(**wanted)
    output.show(found.page(shown.places), found.notices)
