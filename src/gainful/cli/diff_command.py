"""`gainful diff`: changes between runs, found without judgments."""

from __future__ import annotations

from typing import Any

import click

from gainful.cli import help_groups
from gainful.cli.flags import INPUT, flags_of, given, takes
from gainful.cli.inputs import GroupedQueries, ListOptions
from gainful.cli.options import Output, Places
from gainful.data.collection import named_runs
from gainful.frozen import dataclass
from gainful.question import setting
from gainful.tasks.run_questions import DiffOptions


@dataclass(frozen=True, kw_only=True)
class _Shown(Places):
    most: int = setting(10, "Queries to list.", kind="whole", least=0)
    detail: bool = setting(False, "Also list the documents that came, went and moved.")


@help_groups.command("diff")
@click.argument("old", type=INPUT)
@click.argument("new", type=INPUT, nargs=-1, required=True)
@flags_of(DiffOptions)
@takes(shown=_Shown, output=Output, of_queries=GroupedQueries, reading=ListOptions)
def command(
    old: str,
    new: tuple[str, ...],
    shown: _Shown,
    output: Output,
    of_queries: GroupedQueries,
    reading: ListOptions,
    **params: Any,
) -> int:
    """List the changes from the run OLD to each run NEW, without judgments.

    Overlap at k, rank-biased overlap with ties, and the documents that came into the top k, went out of it or moved, by
    query, most changed first. With --fail-above 0.3, exits with 1 if more than 30% of the top k changed on average.

    Example: gainful diff bm25.run dense.run.gz

    Example: gainful diff old.run new.run --k 5,20 --queries queries.csv --by kind --fail-above 0.3
    """
    from gainful.tasks.diff import diff_runs

    with output.waiting("reading runs"):
        (first, before), *others = reading.inputs.runs(named_runs((old, *new), reading.names)).items()
        queries = of_queries.read(reading.inputs.columns["run"], None, of_queries.by)
        asked = {**given(DiffOptions, params), "queries": queries, "by": of_queries.by, "policy": reading.policy}
        found = diff_runs({first: before}, dict(others), threads=reading.threads, **asked)
    output.show(found.page(shown.places, shown.most), found.notices, detail=shown.detail)
    return 1 if found.is_above else 0
