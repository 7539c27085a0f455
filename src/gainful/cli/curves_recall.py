"""`gainful curves --kind recall`: precision at recall, for every grade level."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gainful.cli.collection import Collection
from gainful.cli.progress import ProgressBar

if TYPE_CHECKING:
    from gainful.render.page import Page

DEFAULTS: Mapping[str, object] = {
    "levels": None,
    "by": "both",
    "points": 11,
    "baseline": None,
    "queries": (),
    "by_query": False,
}


def page(collection: Collection, options: Mapping[str, Any]) -> Page:
    """All levels as a page; what is worth knowing about the runs goes to the collection's notices."""
    collection = collection.of_queries(options["queries"])
    from gainful.curves.recall_levels import recall_levels_judged
    from gainful.render.recall_page import recall_page

    levels = None if options["levels"] is None else [part.strip() for part in options["levels"].split(",")]
    with ProgressBar("reading runs", wanted=not collection.quiet) as progress:
        found = recall_levels_judged(
            collection.judged,
            collection.runs,
            levels=levels,
            by=options["by"],
            points=options["points"],
            baseline=options["baseline"],
            threads=collection.threads,
            progress=progress,
        )
    # Queries without a document of a level are on the page; there is no need to say it again of every run.
    collection.notice(replace(e, measures=(), raw=e.raw[:0]) for e in found.evaluations)
    return recall_page(found, options["by_query"], options["places"])
