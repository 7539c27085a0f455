"""`gainful curves --kind plane`: where each document of a query stands between the user's and the system's score."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gainful.cli.progress import ProgressBar
from gainful.errors import UsageError
from gainful.notation import count_of, printable, read_number

if TYPE_CHECKING:
    from gainful.cli.collection import Collection
    from gainful.curves.plane import Planes
    from gainful.render.page import Page

_SHOWN = 5

DEFAULTS: dict[str, object] = {"measures": ("ADM",), "threshold": "0.5", "queries": ()}


def page(collection: Collection, options: dict[str, Any]) -> Page:
    """The planes of all runs and queries that were asked for."""
    from gainful.curves.plane import score_planes

    if len(options["measures"]) > 1:
        raise UsageError(f"--measure: expected one measure, found {', '.join(options['measures'])}")
    qrels = collection.judged.qrels
    if not options["queries"]:
        few = ", ".join(map(printable, qrels.query_ids[:3])) + (", ..." if len(qrels.query_ids) > 3 else "")
        raise UsageError("--query: expected at least one query for --kind plane, found none", f"judged are {few}")
    with ProgressBar("reading runs", wanted=not collection.quiet, in_bytes=False) as progress:
        planes = score_planes(
            qrels,
            collection.runs,
            options["queries"],
            options["measures"][0],
            threshold=read_number(options["threshold"], "--threshold"),
            policy=collection.judged.policy,
            progress=progress,
        )
    _notice(collection, planes)
    return planes.page(options["places"])


def _notice(collection: Collection, planes: Planes) -> None:
    """What is worth knowing about the runs. A query that is not answered is drawn, whatever becomes of its score; what
    is undefined the page says."""
    evaluations = []
    for name in collection.runs:
        own = [plane for plane in planes if plane.run == name]
        missing = [plane.query for plane in own if not plane.is_answered]
        if missing:
            count = count_of(len(missing), "judged query", "judged queries")
            listed = ", ".join(map(printable, missing[:_SHOWN])) + (", ..." if len(missing) > _SHOWN else "")
            collection.notices.append(
                f"{printable(name, 80)}: {count} not answered, drawn as if nothing were retrieved: {listed}"
            )
        answered = [plane.evaluation for plane in own if plane.is_answered]
        if answered:
            whole = answered[0].merge(*answered[1:])
            evaluations.append(replace(whole, measures=(), raw=whole.raw[:0]))
    collection.notice(evaluations)
