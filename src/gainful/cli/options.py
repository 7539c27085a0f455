"""Options that several commands share: the policy, the measures, where results go and how they look.

Options that belong together reach a command as one object: ``@takes_output`` adds the flags and hands over an
:class:`Output`, ``@takes_policy`` a :class:`~gainful.policy.Policy`, and so on. Objects are made in the order in which
a command's decorators stand.
"""

from __future__ import annotations

import inspect
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO, TypeVar, cast

import click

from gainful.data.collection import read_once
from gainful.errors import InputError, UsageError
from gainful.kernel.core import MOST_THREADS
from gainful.measures.catalog import DEFAULT_MEASURES, MEASURES, SHORT_NAMES
from gainful.notation import read_number
from gainful.policy import CHOICES, DIALECTS, Policy
from gainful.question import differs, settings_of
from gainful.render import FORMATS, format_of, write

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from gainful.measures.base import Measure
    from gainful.pages.page import HasPage

_Command = TypeVar("_Command", bound=Callable[..., Any])
_Made = TypeVar("_Made")


class InputFile(click.Path):
    """A file to be read. All that a command is given are remembered, and standard input is one of them at most."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if ctx is not None:
            ctx.meta[__name__] = inputs = [*ctx.meta.get(__name__, ()), value]
            read_once(*inputs)
            takes_measures = any("-m" in each.opts for each in ctx.command.params)
            if value != "-" and not os.path.lexists(value) and _is_measure(value):
                instead = f"-m {value} asks for it" if takes_measures else f"gainful eval QRELS RUN -m {value}"
                raise UsageError(f"{value}: no such file, but a measure", instead)
        return super().convert(value, param, ctx)


def _is_measure(text: str) -> bool:
    """Whether a text reads as a measure; a letter in another case is rather a file."""
    from gainful.measures.catalog import parse

    try:
        return parse(text).name == text or len(text) > 1
    except UsageError:
        return False


#: The type of every argument and option that names a file to be read.
INPUT = InputFile(allow_dash=True)


def takes(*adds: Callable[[Any], Any], **makers: Callable[[dict[str, Any]], object]) -> Callable[[_Command], _Command]:
    """Adds options to a command, which is handed the objects that are made of them, one after another, by name.

    A maker takes what it needs out of the options; what is made is there for the next one.
    """

    def decorate(command: _Command) -> _Command:
        @wraps(command)
        def with_objects(**options: Any) -> Any:
            for name, make in makers.items():
                options[name] = make(options)
            return command(**options)

        decorated: Any = with_objects
        for add in reversed(adds):
            decorated = add(decorated)
        return cast(_Command, decorated)

    return decorate


def made_of(kind: Callable[..., _Made], **more: object) -> Callable[[dict[str, Any]], _Made]:
    """Makes an object of a dataclass from the options that are called like its fields, and from what else is said."""
    names = [field.name for field in fields(cast(Any, kind)) if field.name not in more]
    return lambda options: kind(**{name: options.pop(name) for name in names}, **more)


def _inputs() -> list[str]:
    """The files that the command at hand is going to read."""
    return list(click.get_current_context().meta.get(__name__, ()))


def complete_measure(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The names of measures that begin like this."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(name) for name in [*MEASURES, *SHORT_NAMES] if name.startswith(incomplete)]


def policy_options(command: _Command) -> _Command:
    """Adds a flag for every choice of the policy, and ``--like``."""
    for choice in reversed(CHOICES):
        flag, about = f"--{choice.name}", choice.about[0].upper() + choice.about[1:]
        help_text = f"{about}.  [default: {choice.default}]"
        if choice.values == ("no", "yes"):
            option = click.option(f"{flag}/--no-{choice.name}", default=None, help=help_text)
        elif len(choice.values) > 1:
            option = click.option(flag, type=click.Choice(choice.values), help=help_text)
        else:
            option = click.option(flag, metavar="N", help=help_text)
        command = option(command)
    dialects = click.Choice(list(DIALECTS))
    return click.option("--like", type=dialects, help="Another tool's conventions; an explicit flag beats it.")(command)


def policy_from(options: dict[str, Any]) -> Policy:
    """Takes the policy's options out of a command's options."""
    given = {choice.field: options.pop(choice.field) for choice in CHOICES}
    explicit = {field: value for field, value in given.items() if value is not None}
    like = options.pop("like")
    return Policy.like(like, **explicit) if like else Policy(**explicit)


#: Adds the flags of the policy and hands over ``policy``.
takes_policy = takes(policy_options, policy=policy_from)


def number_option(
    flag: str, about: str, metavar: str = "G", default: str | None = None
) -> Callable[[_Command], _Command]:
    """Adds an option that is a number, or None."""
    return read_option(flag, about, metavar, read_number, default)


def read_option(
    flag: str, about: str, metavar: str, read: Callable[[str, str], object], default: str | None = None
) -> Callable[[_Command], _Command]:
    """Adds an option whose text is read at once, by a function that is told the flag, too; or None."""

    def value(ctx: click.Context, param: click.Parameter, text: str | None) -> object:
        return None if text is None else read(text, flag)

    return click.option(
        flag, metavar=metavar, callback=value, default=default, show_default=default is not None, help=about
    )


def choice_option(flag: str, values: Iterable[str], about: str, **how: Any) -> Callable[[_Command], _Command]:
    """Adds an option that is one of some words; ``how`` is as click has it, and a default is shown."""
    return _option(flag, click.Choice(list(values)), about, **how)


def file_option(flag: str, about: str, *, metavar: str = "FILE", **how: Any) -> Callable[[_Command], _Command]:
    """Adds an option that names a file to be read."""
    return _option(flag, INPUT, about, metavar=metavar, **how)


def whole_option(flag: str, least: int, about: str, **how: Any) -> Callable[[_Command], _Command]:
    """Adds an option that is a whole number, from some least one on."""
    return _option(flag, click.IntRange(least), about, **how)


def folder_option(flag: str, about: str, **how: Any) -> Callable[[_Command], _Command]:
    """Adds an option that names a folder."""
    return _option(flag, click.Path(), about, metavar="DIR", **how)


def text_option(flag: str, about: str, metavar: str, **how: Any) -> Callable[[_Command], _Command]:
    """Adds an option that is any text."""
    return _option(flag, None, about, metavar=metavar, **how)


def _option(flag: str, kind: Any, about: str, name: str | None = None, **how: Any) -> Callable[[_Command], _Command]:
    return click.option(flag, *filter(None, [name]), type=kind, help=about, show_default="default" in how, **how)


scale_option = number_option("--scale", "The highest grade there can be.  [default: the highest in the judgments]")
names_option = click.option("--name", "names", multiple=True, help="A run's name; once for every run, in their order.")
rel_option = click.option(
    "--rel", metavar="G", help="Relevant from grade G on, for every measure that takes rel and has none."
)
floor_option = click.option(
    "--floor", "floors", multiple=True, metavar="M>=X", help="Fail below a least mean, such as nDCG@10>=0.40."
)
threads_option = click.option(
    "--threads", type=click.IntRange(1, MOST_THREADS), help="How many threads to use.  [default: all cores]"
)


def places_option(about: str) -> Callable[[_Command], _Command]:
    """Adds ``--places``."""
    return click.option("--places", type=click.IntRange(0, 17), default=4, show_default=True, help=about)


def quiet_option(about: str) -> Callable[[_Command], _Command]:
    """Adds ``--quiet``, which says what is left out."""
    return click.option("--quiet", "-q", is_flag=True, help=about)


@dataclass(frozen=True)
class WantedMeasures:
    """The measures named, and the lowest grade that counts as relevant for those that have none."""

    measures: tuple[str, ...]
    rel: str | None

    def parsed(self, default: Sequence[str] = DEFAULT_MEASURES) -> list[Measure]:
        """The measures, or the default ones."""
        return measures_from(self.measures or tuple(default), self.rel)


def several_measures_option(default: Sequence[str], example: str = "nDCG@10") -> Callable[[_Command], _Command]:
    """Adds ``-m`` with the default that a command has."""
    return click.option(
        "-m",
        "--measure",
        "measures",
        multiple=True,
        metavar="MEASURE",
        shell_complete=complete_measure,
        help=f"A measure such as {example}; may be repeated.  [default: {', '.join(default)}]",
    )


#: Adds ``-m`` and ``--rel`` and hands over ``wanted``.
takes_measures = takes(several_measures_option(DEFAULT_MEASURES), rel_option, wanted=made_of(WantedMeasures))


def measure_option(default: str) -> Callable[[_Command], _Command]:
    """Adds ``-m`` for a single measure; a second one is refused rather than taken instead of the first."""

    def single(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> str:
        if len(values) > 1:
            raise UsageError(f"--measure: expected one measure, found {len(values)}: {', '.join(values)}")
        return values[0] if values else default

    return click.option(
        "-m",
        "--measure",
        multiple=True,
        callback=single,
        metavar="MEASURE",
        shell_complete=complete_measure,
        help=f"The measure.  [default: {default}]",
    )


def measures_from(texts: tuple[str, ...], rel: str | None) -> list[Measure]:
    """The measures that were asked for, with ``--rel`` set where it applies."""
    from gainful.measures.catalog import parse_all

    measures = parse_all(texts or DEFAULT_MEASURES)
    if rel is None:
        return measures
    level = read_number(rel, "--rel")
    return list(dict.fromkeys(_with_rel(measure, level) for measure in measures))


def _with_rel(measure: Measure, rel: float) -> Measure:
    takes = "rel" in measure.parameters()
    free = getattr(measure, "rel", None) is None and getattr(measure, "level", None) is None
    return measure.replace(rel=rel) if takes and free else measure


def floors_from(texts: tuple[str, ...], measures: Sequence[str] = ()) -> dict[str, float]:
    """The worst means that ``--floor`` allows, by measure."""
    from gainful.tasks.gate.gate_file import read_floors

    for text in texts:
        if len(measures) == 1 and re.fullmatch(r"[\d.]+", text):
            sign = ">=" if measures_from((measures[0],), None)[0].better == "higher" else "<="
            hint = f"--floor {shlex.quote(f'{measures[0]}{sign}{text}')}"
            raise UsageError(f"--floor: expected a measure and the worst mean it may have, found '{text}'", hint)
    return read_floors(texts)


def output_options(command: _Command) -> _Command:
    """Adds ``--format``, ``--signature`` and ``--output``."""
    path, ending = click.Path(dir_okay=False, allow_dash=True), "Write a file instead; its ending chooses the format."
    command = click.option("--output", "-o", type=path, help=ending)(command)
    whole = "All conventions; unasked those that are not the defaults. Files have all."
    command = click.option("--signature", is_flag=True, help=whole)(command)
    formats, how = click.Choice(list(FORMATS)), "How to write results.  [default: table]"
    return click.option("--format", "format_", type=formats, help=how)(command)


def caption_options(command: _Command) -> _Command:
    """Adds what a paper calls its table."""
    label = click.option("--label", metavar="NAME", help="LaTeX: a whole table environment with this label.")
    return click.option("--caption", metavar="TEXT", help="LaTeX: the same with this caption.")(label(command))


class Output(NamedTuple):
    """Where a command's results go, in which format, with all conventions, with details or without, and what a paper
    calls its table."""

    format: str
    path: str | None
    signature: bool = False
    detail: bool = False
    caption: str | None = None
    label: str | None = None

    @contextmanager
    def opened(self) -> Iterator[TextIO]:
        """The file, which is replaced when all is written, or standard output."""
        if self.path is None:
            yield sys.stdout
            return
        from gainful.io.atomic import atomic_output

        with atomic_output(self.path) as out:
            yield out

    def write(self, content: HasPage, notices: Iterable[str] = ()) -> None:
        """Writes all that a command has to show. A page for browsers, which is passed on, has the notices, too."""
        if self.caption is not None or self.label is not None:
            content = replace(content.page(), caption=self.caption, label=self.label)
        if self.format == "html":
            noted = (f"notice: {line}" for line in dict.fromkeys(notices))
            content = replace(content.page(), notes=(*content.page().notes, *noted))
        with self.opened() as out:
            page = content.page().detailed() if self.detail else content.page()
            write(page.with_whole_conventions() if self.signature else page, self.format, out)

    @classmethod
    def of(
        cls, format_: str | None, path: str | None, inputs: Sequence[str], signature: bool = False, detail: bool = False
    ) -> Output:
        """What was asked for; a file that cannot be written, or that is read, is refused before the work begins."""
        if path is None or path == "-":
            return cls(format_ or "table", None, signature, detail)
        check_written(path, "--output", inputs)
        return cls(format_ or format_of(path), path, True, detail)


def _output(options: dict[str, Any]) -> Output:
    how = options.pop("signature"), options.pop("detail", False)
    format_, path = options.pop("format_"), options.pop("output")
    if options.get("engine") == "spark" and (path or "").endswith(".parquet"):
        format_ = format_ or "table"  # of what is printed: Spark writes the file
    output = Output.of(format_, path, _inputs(), *how)
    captions = {name: options.pop(name) for name in ("caption", "label")}
    for name, given in captions.items():
        if given is not None and output.format != "latex":
            raise UsageError(
                f"--{name}: expected a table for LaTeX, found --format {output.format}",
                "add --format latex or -o x.tex",
            )
    return output._replace(**captions)


def shown(page: Callable[..., object], show: dict[str, Any], declared: type) -> dict[str, Any]:
    """How a page is to be shown; what it cannot do is refused, unless it is the default."""
    known, settings = inspect.signature(page).parameters, settings_of(declared)
    for name, value in show.items():
        if name not in known and differs(value, settings[name][0].default):
            raise UsageError(f"{name}: has no meaning with what is shown here")
    return {name: value for name, value in show.items() if name in known}


def detail_option(about: str) -> Callable[[_Command], _Command]:
    """Adds ``--detail``, which says what else is shown; ``output`` takes care of it."""
    return click.option("--detail", is_flag=True, help=about)


#: Adds ``--format``, ``--output``, ``--caption`` and ``--label`` and hands over ``output``, which is none of the files
#: that are read.
takes_output = takes(output_options, caption_options, output=_output)


def check_written(path: str, option: str, inputs: Sequence[str]) -> None:
    """Refuses a file that cannot be written, or is one of those that are read."""
    for source in inputs:
        if os.path.isfile(source) and os.path.isfile(path) and os.path.samefile(source, path):
            raise UsageError(f"{option}: expected a file of its own, found {path}, which is read")
    folder = os.path.dirname(path) or "."
    if "://" not in path and not os.path.isdir(folder):
        raise InputError(f"{path}: cannot be written (there is no folder {folder})")


def figure_options(command: _Command) -> _Command:
    """Adds ``--figure`` and how it looks."""
    for flag, what in (("--no-signature", "The conventions are"), ("--no-title", "Titles are")):
        command = click.option(flag, is_flag=True, help=f"{what} not in the figure: a caption has them.")(command)
    wide = "The figure's width in columns of a paper.  [default: 1, with several charts 2]"
    command = click.option("--columns-wide", "figure_columns", type=click.Choice(["1", "2"]), help=wide)(command)
    draw = "Draw a figure, too: .svg, .png or .pdf (needs gainful[plot])."
    return click.option("--figure", type=click.Path(dir_okay=False), metavar="FILE", help=draw)(command)


class FigureOutput(NamedTuple):
    """The file that a figure is drawn into, if one is wanted, how many columns of a paper it is wide, and whether it
    has titles and a signature."""

    path: str | None
    columns: int | None
    title: bool
    signature: bool

    def write(self, content: HasPage) -> None:
        """Draws the charts of what a command has to show."""
        if self.path is not None:
            from gainful.render.figure import for_caption, save

            page = for_caption(content.page().without_repeats(), title=self.title, signature=self.signature)
            save(page, self.path, self.columns)


def _figure(options: dict[str, Any]) -> FigureOutput:
    """What cannot work is refused before the work begins."""
    path, columns = options.pop("figure"), options.pop("figure_columns")
    bare = {f"--{name.replace('_', '-')}": options.pop(name) for name in ("no_title", "no_signature")}
    for flag, given in {"--columns-wide": columns, **bare}.items():
        if path is None and given:
            raise UsageError(f"{flag}: expected a figure, found none", "--figure out.pdf draws one")
    if path is not None:
        from gainful.render.figure import check_path

        check_written(path, "--figure", _inputs())
        check_path(path)
    columns = None if columns is None else int(columns)
    return FigureOutput(path, columns, *(not given for given in bare.values()))


#: Adds what says where a figure and all results go, and hands over ``output`` and ``figure``.
takes_output_and_figure = takes(figure_options, output_options, caption_options, output=_output, figure=_figure)
