"""`gainful curves --kind gain`: gain by rank, and the same read sideways."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gainful.cli.collection import Collection
from gainful.cli.progress import ProgressBar
from gainful.errors import UsageError
from gainful.notation import read_number

if TYPE_CHECKING:
    from gainful.render.page import Page

DEFAULTS: Mapping[str, object] = {
    "measures": ("CG", "nDCG"),
    "average": "ratios",
    "reference": None,
    "at": None,
    "regions": None,
    "draws": 1000,
    "seed": 0,
    "confidence": "95",
    "queries": (),
    "by_query": False,
}

_REGION = re.compile(r"\s*(\d+)\s*-\s*(\d+)\s*", re.ASCII)


def page(collection: Collection, options: Mapping[str, Any]) -> Page:
    """The curves of all runs as a page; what is worth knowing goes to the collection's notices."""
    at, regions = _ranks(options["at"]), _regions(options["regions"])
    confidence = _confidence(options["confidence"])
    collection = collection.of_queries(options["queries"])
    # Loaded late: this is what needs NumPy.
    from gainful.curves.gain_curves import gain_curves_judged

    with ProgressBar("reading runs", wanted=not collection.quiet) as progress:
        curves = gain_curves_judged(
            collection.judged,
            collection.runs,
            options["measures"],
            average=options["average"],
            draws=options["draws"],
            seed=options["seed"],
            confidence=confidence,
            by_query=options["by_query"],
            threads=collection.threads,
            progress=progress,
        )
    collection.notice(curves.evaluations.values())
    return curves.page(options["places"], options["reference"], at, regions)


def _ranks(text: str | None) -> list[int] | None:
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and part.isascii() and int(part) for part in parts):
        raise UsageError(f"--at: expected ranks like 5,10,20, found '{text}'")
    return [int(part) for part in parts]


def _regions(text: str | None) -> list[tuple[int, int]] | None:
    if text is None:
        return None
    found = [_REGION.fullmatch(part) for part in text.split(",")]
    if not all(found):
        raise UsageError(f"--regions: expected ranks like 1-10,11-50, found '{text}'")
    return [(int(match[1]), int(match[2])) for match in found if match]


def _confidence(text: str) -> float:
    per_cent = read_number(text, "--confidence")
    if not 1 <= per_cent < 100:
        raise UsageError(f"--confidence: expected per cent from 1 to below 100, found {text}", "95 is 95 %")
    return per_cent / 100
