"""`gainful curves`: gain by rank, precision by recall, system by user; a function makes the page of each kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from gainful.cli import help_groups, options
from gainful.cli.inputs import CollectionOptions, GivenCollection, takes_collection
from gainful.cli.progress_bar import ProgressBar
from gainful.errors import UsageError
from gainful.notation import choose, read_number, some_of

if TYPE_CHECKING:
    from gainful.measures.base import Measure
    from gainful.pages.page import Page

#: The kinds of curve.
KINDS = {
    "gain": "what a user has gained by each rank: CG, DCG, nCG, nDCG, and the ideal",
    "recall": "precision at recall, for every grade level (always with undefined=skip)",
    "generalised": "generalised precision at generalised recall",
    "plane": "one query's documents by the user's and by the system's score (ADM)",
}


_REGION = re.compile(r"\s*(\d+)\s*-\s*(\d+)\s*", re.ASCII)


def _found(collection: GivenCollection, find: Callable[..., Any], *args: object, **how: Any) -> Any:
    """What is found in all runs; what is worth knowing about them goes to the collection's notices."""
    with ProgressBar("reading runs", wanted=not collection.quiet) as progress:
        found = find(collection.judged, collection.runs, *args, threads=collection.threads, progress=progress, **how)
    collection.notices.extend(found.notices)
    return found


def _gain_page(
    collection: GivenCollection,
    places: int,
    queries: Sequence[str] = (),
    measures: Sequence[str] = ("CG", "nDCG"),
    reference: str | None = None,
    at: str | None = None,
    regions: str | None = None,
    confidence: str = "95",
    **how: Any,
) -> Page:
    """Gain by rank, and the same read sideways."""
    sideways, how["confidence"] = (reference, _ranks(at), _regions(regions)), _confidence(confidence)
    collection = collection.of_queries(queries)
    # Loaded late: this is what needs NumPy.
    from gainful.tasks.curves.gain_curves import gain_curves

    page: Page = _found(collection, gain_curves, measures, **how).page(places, *sideways)
    return page


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


def _recall_page(
    collection: GivenCollection,
    places: int,
    queries: Sequence[str] = (),
    levels: str | None = None,
    by_query: bool = False,
    **how: Any,
) -> Page:
    """Precision at recall, for every grade level."""
    collection = collection.of_queries(queries)
    from gainful.tasks.curves.recall_levels import recall_levels
    from gainful.tasks.curves.recall_page import recall_page

    grades = None if levels is None else [part.strip() for part in levels.split(",")]
    return recall_page(_found(collection, recall_levels, levels=grades, **how), by_query, places)


def _generalised_page(
    collection: GivenCollection,
    places: int,
    queries: Sequence[str] = (),
    measures: Sequence[str] = ("gIPrec",),
    by_query: bool = False,
    **how: Any,
) -> Page:
    """Generalised precision at generalised recall."""
    collection = collection.of_queries(queries)
    average = _average(measures)
    from gainful.tasks.curves.recall_levels import generalised_recall
    from gainful.tasks.curves.recall_page import generalised_page

    return generalised_page(_found(collection, generalised_recall, measure=average, **how), by_query, places)


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


def _plane_page(
    collection: GivenCollection,
    places: int,
    queries: Sequence[str] = (),
    measures: Sequence[str] = ("ADM",),
    threshold: str = "0.5",
) -> Page:
    """Where each document of a query stands between the user's and the system's score."""
    from gainful.tasks.curves.plane import score_planes

    if len(measures) > 1:
        raise UsageError(f"--measure: expected one measure, found {', '.join(measures)}")
    qrels, policy = collection.judged.qrels, collection.judged.policy
    if not queries:
        few = some_of(qrels.query_ids, 3)
        raise UsageError("--query: expected at least one query for --kind plane, found none", f"judged are {few}")
    how: dict[str, Any] = {"threshold": read_number(threshold, "--threshold"), "policy": policy}
    with ProgressBar("reading runs", wanted=not collection.quiet, in_bytes=False) as progress:
        planes = score_planes(qrels, collection.runs, queries, measures[0], progress=progress, **how)
    collection.notices.extend(planes.notices)
    return planes.page(places)


#: How the page of each kind is made, and the options that it has.
_KINDS: Mapping[str, tuple[Callable[..., Page], str]] = {
    "gain": (
        _gain_page,
        "measures average reference at regions draws seed confidence baseline queries by_query",
    ),
    "recall": (_recall_page, "levels by points baseline queries by_query"),
    "generalised": (_generalised_page, "measures points baseline queries by_query"),
    "plane": (_plane_page, "measures threshold queries"),
}


def _asked(given: dict[str, Any]) -> partial[Page]:
    """What makes the page of a kind with its options; one that belongs to another kind is refused, not ignored."""
    kind, values = given.pop("kind"), {}
    make, known = _KINDS[kind]
    of_any = {name for _, names in _KINDS.values() for name in names.split()}
    for option in command.params:
        name = option.name or ""
        if name not in of_any or (value := given.pop(name)) in (None, ()):
            continue
        if name not in known.split():
            raise UsageError(
                f"{option.opts[-1]}: has no meaning with --kind {kind}", "gainful curves --help says what has"
            )
        values[name] = value
    return partial(make, **values)


@help_groups.command("curves")
@click.argument("qrels", type=options.INPUT)
@click.argument("runs", type=options.INPUT, nargs=-1, required=True)
@options.choice_option(
    "--kind",
    KINDS,
    "What to draw: " + "; ".join(f"{name}: {about}" for name, about in KINDS.items()) + ".",
    default="gain",
)
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="MEASURE",
    shell_complete=options.complete_measure,
    help="gain: CG, DCG, nCG or nDCG, @k is the depth; generalised: gIPrec; plane: ADM, Pstar; with parameters.",
)
@options.choice_option(
    "--average", ["ratios", "means", "both"], "gain: how nCG and nDCG are averaged.  [default: ratios]"
)
@options.text_option("--reference", "gain: the run that others have to catch up with.  [default: ideal]", "RUN")
@options.text_option("--at", "gain: the reference's ranks to catch up with.  [default: 5,10,20]", "R,...")
@options.text_option(
    "--regions", "gain: ranks for the distance to the ideal.  [default: 1-10, 11-50, 51-100, ...]", "R-R,..."
)
@options.whole_option("--draws", 0, "gain: resamples for the bands, 0 for none.  [default: 1000]")
@options.whole_option("--seed", 0, "gain: another seed, other resamples.  [default: 0]")
@options.text_option("--confidence", "gain: what the bands hold.  [default: 95]", "PERCENT")
@options.text_option("--levels", "recall: the grade levels.  [default: all above 0]", "G,...")
@options.choice_option("--by", ["level", "rel", "both"], "recall: a level alone, or it and all above.  [default: both]")
@options.whole_option("--points", 2, "recall, generalised: how many recall levels.  [default: 11]")
@options.text_option("--baseline", "The run that others are compared with; gain: by rank.", "RUN")
@options.text_option("--threshold", "plane: relevant from this on, on both axes.  [default: 0.5]", "T")
@options.text_option("--query", "Only this query; may be repeated.", "ID", multiple=True, name="queries")
@click.option("--by-query", is_flag=True, default=None, help="Every query's curve, too (jsonl and csv).")
@options.places_option("Decimal places in tables.")
@options.takes_output_and_figure
@options.takes(asked=_asked)
@takes_collection()
def command(
    qrels: str,
    runs: tuple[str, ...],
    places: int,
    output: options.Output,
    figure: options.FigureOutput,
    asked: partial[Page],
    reading: CollectionOptions,
) -> None:
    """Draw curves of RUNS judged by QRELS: as text, as data, as a figure, and in sentences.

    Example: gainful curves qrels.txt bm25.run dense.run -m nDCG@100 --figure ndcg.pdf

    Example: gainful curves qrels.txt bm25.run dense.run --kind recall --figure levels.svg
    """
    collection = reading.opened(qrels, runs, ahead=not asked.keywords.get("queries"))
    page = asked(collection, places)
    figure.write(page)
    output.write(page, collection.notices)
    collection.print_notices()
