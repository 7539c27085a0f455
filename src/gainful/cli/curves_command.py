"""`gainful curves`: gain by rank, precision by recall; the options of each kind are a class."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import click

from gainful.cli import help_groups, options
from gainful.cli.inputs import CollectionOptions, GivenCollection, takes_collection
from gainful.cli.progress_bar import ProgressBar
from gainful.errors import UsageError
from gainful.notation import choose, read_number

if TYPE_CHECKING:
    from gainful.measures.base import Measure
    from gainful.pages.page import Page

#: The kinds of curve.
KINDS = {
    "gain": "what a user has gained by each rank: CG, DCG, nCG, nDCG, and the ideal",
    "recall": "precision at recall, for every grade level (always with undefined=skip)",
    "generalised": "generalised precision at generalised recall",
}


_REGION = re.compile(r"\s*(\d+)\s*-\s*(\d+)\s*", re.ASCII)


@dataclass(frozen=True)
class _GainOptions:
    """Gain by rank, and the same read sideways."""

    measures: Sequence[str] = ("CG", "nDCG")
    average: str = "ratios"
    reference: str | None = None
    at: str | None = None
    regions: str | None = None
    draws: int = 1000
    seed: int = 0
    confidence: str = "95"
    baseline: str | None = None
    queries: Sequence[str] = ()
    by_query: bool = False

    def page(self, collection: GivenCollection, places: int) -> Page:
        """The curves of all runs as a page; what is worth knowing goes to the collection's notices."""
        at, regions, confidence = _ranks(self.at), _regions(self.regions), _confidence(self.confidence)
        collection = collection.of_queries(self.queries)
        # Loaded late: this is what needs NumPy.
        from gainful.tasks.curves.gain_curves import gain_curves

        with ProgressBar("reading runs", wanted=not collection.quiet) as progress:
            curves = gain_curves(
                collection.judged,
                collection.runs,
                self.measures,
                average=self.average,
                draws=self.draws,
                seed=self.seed,
                confidence=confidence,
                by_query=self.by_query,
                baseline=self.baseline,
                threads=collection.threads,
                progress=progress,
            )
        collection.notices.extend(curves.notices)
        return curves.page(places, self.reference, at, regions)


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


@dataclass(frozen=True)
class _RecallOptions:
    """Precision at recall, for every grade level."""

    levels: str | None = None
    by: str = "both"
    points: int = 11
    baseline: str | None = None
    queries: Sequence[str] = ()
    by_query: bool = False

    def page(self, collection: GivenCollection, places: int) -> Page:
        """All levels as a page; what is worth knowing about the runs goes to the collection's notices."""
        collection = collection.of_queries(self.queries)
        from gainful.tasks.curves.recall_levels import recall_levels

        with ProgressBar("reading runs", wanted=not collection.quiet) as progress:
            found = recall_levels(
                collection.judged,
                collection.runs,
                levels=None if self.levels is None else [part.strip() for part in self.levels.split(",")],
                by=self.by,
                points=self.points,
                baseline=self.baseline,
                threads=collection.threads,
                progress=progress,
            )
        collection.notices.extend(found.notices)
        return found.page(self.by_query, places)


@dataclass(frozen=True)
class _GeneralisedOptions:
    """Generalised precision at generalised recall."""

    measures: Sequence[str] = ("gIPrec",)
    points: int = 11
    baseline: str | None = None
    queries: Sequence[str] = ()
    by_query: bool = False

    def page(self, collection: GivenCollection, places: int) -> Page:
        """The curve as a page; what is worth knowing about the runs goes to the collection's notices."""
        collection = collection.of_queries(self.queries)
        average = _average(self.measures)
        from gainful.tasks.curves.recall_levels import generalised_recall

        with ProgressBar("reading runs", wanted=not collection.quiet) as progress:
            found = generalised_recall(
                collection.judged,
                collection.runs,
                measure=average,
                points=self.points,
                baseline=self.baseline,
                threads=collection.threads,
                progress=progress,
            )
        collection.notices.extend(found.notices)
        return found.page(self.by_query, places)


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


_Asked = _GainOptions | _RecallOptions | _GeneralisedOptions

#: The options of each kind, with what they are if not given, and how its page is made of them.
_OPTIONS: Mapping[str, type[_Asked]] = {
    "gain": _GainOptions,
    "recall": _RecallOptions,
    "generalised": _GeneralisedOptions,
}


def _asked(given: dict[str, Any]) -> _Asked:
    """The options of a kind; one that belongs to another kind is refused, not ignored."""
    of_kinds = {name: {field.name for field in fields(kind)} for name, kind in _OPTIONS.items()}
    kind, values = given.pop("kind"), {}
    for option in command.params:
        name = option.name or ""
        if not any(name in names for names in of_kinds.values()) or (value := given.pop(name)) in (None, ()):
            continue
        if name not in of_kinds[kind]:
            raise UsageError(
                f"{option.opts[-1]}: has no meaning with --kind {kind}", "gainful curves --help says what has"
            )
        values[name] = value
    return _OPTIONS[kind](**values)


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
    help="gain: CG, DCG, nCG or nDCG, @k is the depth; generalised: gIPrec; with parameters.",
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
    asked: _Asked,
    reading: CollectionOptions,
) -> None:
    """Draw curves of RUNS judged by QRELS: as text, as data, as a figure, and in sentences.

    Example: gainful curves qrels.txt bm25.run dense.run -m nDCG@100 --figure ndcg.pdf

    Example: gainful curves qrels.txt bm25.run dense.run --kind recall --figure levels.svg
    """
    collection = reading.opened(qrels, runs, ahead=not asked.queries)
    page = asked.page(collection, places)
    figure.write(page)
    output.write(page, collection.notices)
    collection.print_notices()
