"""`gainful curves --kind plane`: where each document of a query stands between the user's and the system's score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gainful.errors import UsageError
from gainful.notation import printable, read_number

if TYPE_CHECKING:
    from gainful.cli.collection import Collection
    from gainful.render.page import Page

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
    planes = score_planes(
        qrels,
        collection.runs,
        options["queries"],
        options["measures"][0],
        threshold=read_number(options["threshold"], "--threshold"),
        policy=collection.judged.policy,
    )
    return planes.page(options["places"])
