"""Option classes that several commands share: measures, policy, output and display."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar, TextIO, TypeVar

import click

from gainful.cli.flags import flags_of, given, input_files
from gainful.cli.progress_bar import progress_bar
from gainful.errors import InputError, UsageError
from gainful.frozen import dataclass, replace
from gainful.measures.catalog import DEFAULT_MEASURES, MEASURES, SHORT_NAMES
from gainful.notation import read_number
from gainful.policy import DIALECTS, Policy
from gainful.question import differs, setting, settings_of
from gainful.render import FORMATS, format_of, write

if TYPE_CHECKING:
    from gainful.kernel.parallel import Progress
    from gainful.measures.base import Measure
    from gainful.pages.page import HasPage, Page

_Command = TypeVar("_Command", bound=Callable[..., Any])


def policy_flags(command: _Command) -> _Command:
    """Add a flag for each choice of the policy, and ``--like``."""
    dialects = click.Choice(list(DIALECTS))
    like = click.option("--like", type=dialects, help="Conventions of a tool; explicit flags win.")
    return like(flags_of(Policy)(command))


def policy_from(params: dict[str, Any]) -> Policy:
    """Take the policy out of a command's parameters."""
    like, explicit = params.pop("like"), given(Policy, params)
    return Policy.like(like, **explicit) if like else Policy(**explicit)


def complete_measure(incomplete: str) -> list[str]:
    """Return the names of measures that begin with a text."""
    return [name for name in [*MEASURES, *SHORT_NAMES] if name.startswith(incomplete)]


def measure_setting(default: str) -> str:
    """Declare ``-m`` for a single measure; a second one is an error, never silently preferred."""

    def read(texts: Sequence[str], flag: str) -> str:
        if len(texts) > 1:
            raise UsageError(f"--measure: expected one measure, found {len(texts)}: {', '.join(texts)}")
        return texts[0]

    return setting(
        default,
        "Measure.",
        flag="-m --measure",
        metavar="MEASURE",
        read_all=read,
        complete=complete_measure,
        shown=default,
    )


@dataclass(frozen=True, kw_only=True)
class MeasureOptions:
    """The measures named, and the lowest grade that counts as relevant for those that have none."""

    default: ClassVar[tuple[str, ...]] = DEFAULT_MEASURES
    measures: tuple[str, ...] = ()
    rel: str | None = None

    def parsed(self) -> list[Measure]:
        """Return the measures, or the defaults, with ``--rel`` set where it applies."""
        return measures_from(self.measures or self.default, self.rel)


REL = "Lowest grade that counts as relevant; for measures that take rel and set none."


def measures_of(by_default: Sequence[str], example: str = "nDCG@10", rel_help: str = REL) -> type[MeasureOptions]:
    """Declare ``-m``, with a command's default measures, and ``--rel``."""

    @dataclass(frozen=True, kw_only=True)
    class WantedMeasures(MeasureOptions):
        default = tuple(by_default)
        measures: tuple[str, ...] = setting(
            (),
            f"Measure, such as {example} (repeatable).",
            flag="-m --measure",
            metavar="MEASURE",
            repeatable=True,
            complete=complete_measure,
            shown=", ".join(by_default),
        )
        rel: str | None = setting(None, rel_help, metavar="G")

    return WantedMeasures


def measures_from(texts: tuple[str, ...], rel: str | None) -> list[Measure]:
    """Parse measures, with ``rel`` set where it applies."""
    from gainful.measures.catalog import parse_all

    measures = parse_all(texts)
    if rel is None:
        return measures
    level, found = read_number(rel, "--rel"), {}
    for measure in measures:
        is_free = getattr(measure, "rel", None) is None and getattr(measure, "level", None) is None
        found[measure.replace(rel=level) if "rel" in measure.parameters() and is_free else measure] = True
    return list(found)


@dataclass(frozen=True, kw_only=True)
class Floors:
    """The worst means that pass."""

    floors: tuple[str, ...] = setting(
        (), "Fail below a minimum mean, such as nDCG@10>=0.40.", flag="--floor", repeatable=True, metavar="M>=X"
    )


def floors_from(texts: tuple[str, ...], measures: Sequence[str] = ()) -> dict[str, float]:
    """Return the worst means that ``--floor`` allows, by measure."""
    if not texts:
        return {}
    from gainful.tasks.gate import read_floors

    for text in texts:
        if len(measures) == 1 and re.fullmatch(r"[\d.]+", text):
            sign = ">=" if measures_from((measures[0],), None)[0].better == "higher" else "<="
            hint = f"--floor {shlex.quote(f'{measures[0]}{sign}{text}')}"
            raise UsageError(f"--floor: expected a measure and its worst acceptable mean, found '{text}'", hint)
    return read_floors(texts)


@dataclass(frozen=True, kw_only=True)
class Places:
    """Decimal places in tables."""

    places: int = setting(4, "Decimal places in tables.", kind="whole", least=0, most=17)


@dataclass(frozen=True, kw_only=True)
class Quiet:
    """The choice to suppress notices and progress bars."""

    quiet: bool = setting(False, "Suppress notices and the progress bar.", flag="--quiet -q")

    def waiting(self, what: str, *, in_bytes: bool = True) -> AbstractContextManager[Progress]:
        """Return a progress bar for work that is about to begin."""
        return progress_bar(what, wanted=not self.quiet, in_bytes=in_bytes)

    def notify(self, notices: Iterable[str]) -> None:
        """Print notices on standard error, each once, below the results."""
        if not self.quiet:
            from gainful.render.text_formats import messages

            lines = (f"notice: {line}" for line in dict.fromkeys(notices))
            sys.stdout.flush()
            sys.stderr.writelines(f"{line}\n" for line in messages(lines, sys.stderr))


@dataclass(frozen=True, kw_only=True)
class Output(Quiet):
    """The format and destination of results; files contain all conventions."""

    format: str | None = setting(None, "Output format.", choices=FORMATS, shown="table")
    signature: bool = setting(False, "Print all conventions; by default only changes. Files contain all.")
    path: str | None = setting(
        None, "Write to a file; its extension sets the format.", kind="written", flag="--output -o"
    )
    caption: str | None = setting(None, "LaTeX: caption of the table.", metavar="TEXT")
    label: tuple[str, ...] = setting(
        (), "Heading for a measure; without =, label of the LaTeX table.", metavar="MEASURE=LABEL", repeatable=True
    )

    def __post_init__(self) -> None:
        """Reject an unwritable output before the work begins."""
        if self.file is not None:
            check_written(self.file, "--output")
        for name, value in (("caption", self.caption), ("label", self.table_label)):
            if value is not None and self.chosen_format != "latex":
                hint = "add --format latex or -o x.tex"
                raise UsageError(f"--{name} cannot be used with --format {self.chosen_format}", hint)
        _ = self.chosen_format

    @property
    def file(self) -> str | None:
        """The output file; None for standard output."""
        return None if self.path == "-" else self.path

    @property
    def chosen_format(self) -> str:
        """The requested format, or the one of the file's extension."""
        return self.format or ("table" if self.file is None else format_of(self.file))

    @property
    def table_label(self) -> str | None:
        return next((each for each in self.label if "=" not in each), None)

    def page_of(self, content: HasPage) -> Page:
        """Return the page of results, with measures named as they were typed or labelled."""
        from gainful.measures.catalog import asked_names

        page, context = content.page(), click.get_current_context()
        flags = {each.name for each in context.command.params if isinstance(each, click.Option)}
        names = asked_names(context.params.get("measures", ()) if "measures" in flags else ())
        ours = {asked: name for name, asked in names.items()}
        labels = [each.rpartition("=") for each in self.label if "=" in each]
        names |= {ours.get(name, name): label for name, _, label in labels}
        used: set[str] = set()
        renamed = page.renamed(names, used)
        if unknown := [name for name, _, _ in labels if ours.get(name, name) not in used]:
            raise UsageError(f"--label: unknown measure '{unknown[0]}'", "use NAME=FILE to name a run")
        if self.chosen_format == "jsonl":  # programs get canonical names, and the typed ones separately
            return replace(page, header={**page.header, "names": names}) if names else page
        return page if self.chosen_format == "trec" else renamed

    @contextmanager
    def opened(self) -> Iterator[TextIO]:
        """Open standard output, or a file that is replaced once all is written."""
        if self.file is None:
            yield sys.stdout
            return
        from gainful.io.atomic import atomic_output

        with atomic_output(self.file) as out:
            yield out

    def show(self, content: HasPage, notices: Sequence[str] = (), *, detail: bool = False) -> None:
        """Write a command's results, then print its notices; HTML pages also contain the notices."""
        page = self.page_of(content)
        if self.caption is not None or self.table_label is not None:
            page = replace(page, caption=self.caption, label=self.table_label)
        if self.chosen_format == "html":
            page = replace(page, notes=(*page.notes, *(f"notice: {line}" for line in dict.fromkeys(notices))))
        page = page.detailed() if detail else page
        is_whole = self.signature or self.file is not None
        with self.opened() as out:
            write(page.with_whole_conventions() if is_whole else page, self.chosen_format, out)
        self.notify(notices)


def shown(page: Callable[..., object], show: dict[str, Any], declared: type) -> dict[str, Any]:
    """Return the display options that a page takes; reject others unless they have their default."""
    known, settings = signature(page).parameters, settings_of(declared)
    for name, value in show.items():
        if name not in known and differs(value, settings[name][0].default):
            raise UsageError(f"{name} does not apply to this result")
    return {name: value for name, value in show.items() if name in known}


def check_written(path: str, option: str, inputs: Sequence[str] = ()) -> None:
    """Reject a file that cannot be written or that the command reads (an argument or one of ``inputs``)."""
    for source in (*inputs, *input_files()):
        if os.path.isfile(source) and os.path.isfile(path) and os.path.samefile(source, path):
            raise UsageError(f"{option}: {path} is also an input file")
    folder = os.path.dirname(path) or "."
    if "://" not in path and not os.path.isdir(folder):
        raise InputError(f"{path}: cannot be written (folder {folder} does not exist)")


@dataclass(frozen=True, kw_only=True)
class FigureOutput(Output):
    """The destination of results and of an optional figure."""

    figure: str | None = setting(None, "Also save a figure (.svg, .png or .pdf); needs gainful[plot].", kind="written")
    figure_size: str | None = setting(
        None,
        "Figure width in paper columns (1, 2), or slide.",
        choices=["1", "2", "slide"],
        shown="1; 2 for several charts",
    )
    no_title: bool = setting(False, "Omit titles from the figure; for use with a caption.")
    no_signature: bool = setting(False, "Omit conventions from the figure; for use with a caption.")

    def __post_init__(self) -> None:
        """Reject an unwritable figure before the work begins."""
        super().__post_init__()
        if self.figure is not None:
            from gainful.render.figure import check_path

            check_written(self.figure, "--figure")
            if self.file is not None and os.path.realpath(self.file) == os.path.realpath(self.figure):
                raise UsageError(f"--figure: {self.figure} is also the --output file", "use two file names")
            check_path(self.figure)
            return
        for name in ("figure-size", "no-title", "no-signature"):
            if getattr(self, name.replace("-", "_")):
                raise UsageError(f"--{name} needs --figure", "for example --figure out.pdf")

    def show(
        self, content: HasPage, notices: Sequence[str] = (), *, detail: bool = False, drawn: HasPage | None = None
    ) -> None:
        """Write the results and print the notices; also save a figure of their charts, or of ``drawn``."""
        if self.figure is not None:
            from gainful.io.atomic import write_bytes
            from gainful.render.figure import ending_of, figure_bytes, for_caption

            page = self.page_of(drawn or content).without_repeats()
            page = for_caption(page, title=not self.no_title, signature=not self.no_signature)
            size: Any = int(self.figure_size) if self.figure_size in ("1", "2") else self.figure_size
            image = figure_bytes(page, ending_of(self.figure), size)
        super().show(content, notices, detail=detail)
        if self.figure is not None:
            write_bytes(self.figure, image)
