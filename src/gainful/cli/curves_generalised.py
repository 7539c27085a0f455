"""`gainful curves --kind generalised`: generalised precision at generalised recall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gainful.cli.collection import Collection
from gainful.cli.progress import ProgressBar
from gainful.errors import UsageError
from gainful.notation import choose

if TYPE_CHECKING:
    from gainful.measures.base import Measure
    from gainful.render.page import Page

DEFAULTS: Mapping[str, object] = {
    "measures": ("gIPrec",),
    "points": 11,
    "baseline": None,
    "queries": (),
    "by_query": False,
}


def page(collection: Collection, options: Mapping[str, Any]) -> Page:
    """The curve as a page; what is worth knowing about the runs goes to the collection's notices."""
    collection = collection.of_queries(options["queries"])
    average = _average(options["measures"])
    from gainful.curves.generalised_recall import generalised_recall_judged
    from gainful.render.recall_page import generalised_page

    with ProgressBar("reading runs", wanted=not collection.quiet) as progress:
        found = generalised_recall_judged(
            collection.judged,
            collection.runs,
            average,
            points=options["points"],
            baseline=options["baseline"],
            threads=collection.threads,
            progress=progress,
        )
    # The points of the curve are undefined where their average is.
    collection.notice(replace(e, measures=(average,), raw=e.raw[:1]) for e in found.evaluations)
    return generalised_page(found, options["by_query"], options["places"])


def _average(texts: Sequence[str]) -> Measure:
    """The average of the curve that was asked for: gIPrec has it drawn at all recalls, so that @ has no meaning."""
    if len(texts) > 1:
        raise UsageError(f"--measure: expected one measure, found {len(texts)}: {', '.join(texts)}")
    text = texts[0].strip()
    name = choose(text.partition("(")[0].partition("@")[0].strip(), ("gIPrec", "gIAP"), "--measure")
    if "@" in text:
        raise UsageError(
            f"--measure: expected {name} without @, found '{text}': the curve goes through all recalls",
            "--points says at how many",
        )
    from gainful.measures.grammar import parse

    return parse("gIAP" + text.removeprefix(name))
