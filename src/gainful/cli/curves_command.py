"""`gainful curves`: gain by rank, precision by recall, system by user.

`gainful curves --kind gain`: gain by rank, and the same read sideways.
`gainful curves --kind generalised`: generalised precision at generalised recall.
`gainful curves --kind plane`: where each document of a query stands between the user's and the system's score.
`gainful curves --kind recall`: precision at recall, for every grade level.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from gainful.cli.inputs import GivenCollection, collection_from, collection_options
from gainful.cli.options import complete_measure, figure_from, figure_options, output_from, output_options
from gainful.cli.progress_bar import ProgressBar
from gainful.errors import UsageError
from gainful.notation import choose, count_of, printable, read_number

if TYPE_CHECKING:
    from gainful.measures.base import Measure
    from gainful.pages.page import Page
    from gainful.tasks.curves.plane import Planes

_PATH = click.Path(allow_dash=True)

#: The kinds of curve.
KINDS = {
    "gain": "what a user has gained by each rank: CG, DCG, nCG, nDCG, and the ideal",
    "recall": "precision at recall, for every grade level (always with undefined=skip)",
    "generalised": "generalised precision at generalised recall",
    "plane": "one query's documents by the user's and by the system's score (ADM)",
}

_OF_KINDS: tuple[str, ...] = (
    "measures",
    "average",
    "reference",
    "at",
    "regions",
    "draws",
    "seed",
    "confidence",
    "levels",
    "by",
    "points",
    "baseline",
    "threshold",
    "queries",
    "by_query",
)


@click.command("curves")
@click.argument("qrels", type=_PATH)
@click.argument("runs", type=_PATH, nargs=-1, required=True)
@click.option(
    "--kind",
    type=click.Choice(list(KINDS)),
    default="gain",
    show_default=True,
    help="; ".join(f"{name}: {about}" for name, about in KINDS.items()) + ".",
)
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="MEASURE",
    shell_complete=complete_measure,
    help="gain: CG, DCG, nCG or nDCG, @k is the depth; generalised: gIPrec; plane: ADM; with parameters.",
)
@click.option(
    "--average",
    type=click.Choice(["ratios", "means", "both"]),
    help="gain: how nCG and nDCG are averaged.  [default: ratios]",
)
@click.option("--reference", metavar="RUN", help="gain: the run that others have to catch up with.  [default: ideal]")
@click.option("--at", metavar="R,...", help="gain: the reference's ranks to catch up with.  [default: 5,10,20]")
@click.option(
    "--regions",
    metavar="R-R,...",
    help="gain: ranks for the distance to the ideal.  [default: 1-10, 11-50, 51-100, ...]",
)
@click.option("--draws", type=click.IntRange(0), help="gain: resamples for the bands, 0 for none.  [default: 1000]")
@click.option("--seed", type=click.IntRange(0), help="gain: another seed, other resamples.  [default: 0]")
@click.option("--confidence", metavar="PERCENT", help="gain: what the bands hold.  [default: 95]")
@click.option("--levels", metavar="G,...", help="recall: the grade levels.  [default: all above 0]")
@click.option(
    "--by",
    type=click.Choice(["level", "rel", "both"]),
    help="recall: a level alone, or it and all above.  [default: both]",
)
@click.option("--points", type=click.IntRange(2), help="recall, generalised: how many recall levels.  [default: 11]")
@click.option("--baseline", metavar="RUN", help="recall, generalised: the run that others are compared with.")
@click.option("--threshold", metavar="T", help="plane: relevant from this on, on both axes.  [default: 0.5]")
@click.option("--query", "queries", multiple=True, metavar="ID", help="Only this query; may be repeated.")
@click.option("--by-query", is_flag=True, default=None, help="Every query's curve, too (jsonl and csv).")
@click.option("--places", type=click.IntRange(0, 17), default=4, show_default=True, help="Decimal places in tables.")
@figure_options
@output_options
@collection_options
def command(qrels: str, runs: tuple[str, ...], kind: str, **options: Any) -> None:
    """Draw curves of RUNS judged by QRELS: as text, as data, as a figure, and in sentences.

    Example: gainful curves qrels.txt bm25.run dense.run -m nDCG@100 --figure ndcg.pdf

    Example: gainful curves qrels.txt bm25.run dense.run --kind recall --figure levels.svg
    """
    output, figure = output_from(options, qrels, *runs), figure_from(options, qrels, *runs)
    make_page, defaults = _PAGES[kind]
    settled = _settled(kind, defaults, options)
    collection = collection_from(qrels, runs, options)
    page = make_page(collection, {**options, **settled})
    figure.write(page)
    output.write(page)
    collection.print_notices()


def _settled(kind: str, defaults: Mapping[str, object], options: dict[str, Any]) -> dict[str, object]:
    """The options of a kind; one that belongs to another kind is refused, not ignored."""
    given = {name: options.pop(name) for name in _OF_KINDS}
    for name, value in given.items():
        if value not in (None, ()) and name not in defaults:
            flag = {"queries": "query", "measures": "measure"}.get(name, name).replace("_", "-")
            raise UsageError(f"--{flag}: has no meaning with --kind {kind}", "gainful curves --help says what has")
    return {name: default if given[name] in (None, ()) else given[name] for name, default in defaults.items()}


_GAIN_DEFAULTS: Mapping[str, object] = {
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


def _gain_page(collection: GivenCollection, options: Mapping[str, Any]) -> Page:
    """The curves of all runs as a page; what is worth knowing goes to the collection's notices."""
    at, regions = _ranks(options["at"]), _regions(options["regions"])
    confidence = _confidence(options["confidence"])
    collection = collection.of_queries(options["queries"])
    # Loaded late: this is what needs NumPy.
    from gainful.tasks.curves.gain_curves import gain_curves_judged

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


_GENERALISED_DEFAULTS: Mapping[str, object] = {
    "measures": ("gIPrec",),
    "points": 11,
    "baseline": None,
    "queries": (),
    "by_query": False,
}


def _generalised_page(collection: GivenCollection, options: Mapping[str, Any]) -> Page:
    """The curve as a page; what is worth knowing about the runs goes to the collection's notices."""
    collection = collection.of_queries(options["queries"])
    average = _average(options["measures"])
    from gainful.tasks.curves.recall_levels import generalised_recall_judged
    from gainful.tasks.curves.recall_page import generalised_page

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
    from gainful.measures.catalog import parse

    return parse("gIAP" + text.removeprefix(name))


_SHOWN = 5

_PLANE_DEFAULTS: Mapping[str, object] = {"measures": ("ADM",), "threshold": "0.5", "queries": ()}


def _plane_page(collection: GivenCollection, options: Mapping[str, Any]) -> Page:
    """The planes of all runs and queries that were asked for."""
    from gainful.tasks.curves.plane import score_planes

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


def _notice(collection: GivenCollection, planes: Planes) -> None:
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


_RECALL_DEFAULTS: Mapping[str, object] = {
    "levels": None,
    "by": "both",
    "points": 11,
    "baseline": None,
    "queries": (),
    "by_query": False,
}


def _recall_page(collection: GivenCollection, options: Mapping[str, Any]) -> Page:
    """All levels as a page; what is worth knowing about the runs goes to the collection's notices."""
    collection = collection.of_queries(options["queries"])
    from gainful.tasks.curves.recall_levels import recall_levels_judged
    from gainful.tasks.curves.recall_page import recall_page

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


#: How the page of each kind is made, and the options that it takes with what they are if not given.
_PAGES: Mapping[str, tuple[Callable[[GivenCollection, Mapping[str, Any]], Page], Mapping[str, object]]] = {
    "gain": (_gain_page, _GAIN_DEFAULTS),
    "recall": (_recall_page, _RECALL_DEFAULTS),
    "generalised": (_generalised_page, _GENERALISED_DEFAULTS),
    "plane": (_plane_page, _PLANE_DEFAULTS),
}
