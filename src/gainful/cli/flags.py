"""Click flags from option classes: each field becomes a flag, and the typed values become an object of the class."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable
from dataclasses import Field, field, fields
from functools import wraps
from typing import Any, TypeVar, cast

import click
from click.core import ParameterSource

from gainful.data.collection import read_once
from gainful.errors import UsageError
from gainful.notation import number_text
from gainful.question import Setting

_Command = TypeVar("_Command", bound=Callable[..., Any])
_Options = TypeVar("_Options")


class InputFile(click.Path):
    """An input file; the command's input files are remembered, and a second standard input is rejected."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if ctx is not None:
            ctx.meta[__name__] = inputs = [*ctx.meta.get(__name__, ()), value]
            read_once(*inputs)
            takes_measures = any("-m" in each.opts for each in ctx.command.params)
            if value != "-" and not os.path.lexists(value) and _is_measure(value):
                instead = f"-m {value} selects it" if takes_measures else f"gainful eval QRELS RUN -m {value}"
                raise UsageError(f"{value}: a measure, not a file", instead)
        return super().convert(value, param, ctx)


def _is_measure(text: str) -> bool:
    """Whether a text names a measure; a single letter in the wrong case counts as a file."""
    from gainful.measures.catalog import parse

    try:
        return parse(text).name == text or len(text) > 1
    except UsageError:
        return False


#: The type of every argument and option that names a file to be read.
INPUT = InputFile(readable=False, allow_dash=True)


def input_files() -> list[str]:
    """The files that the current command reads."""
    context = click.get_current_context(silent=True)
    return [] if context is None else list(context.meta.get(__name__, ()))


def takes(**groups: type) -> Callable[[_Command], _Command]:
    """Add the flags of option classes to a command, which receives an object of each class by name.

    A class that needs more than its own fields has a method ``taken_from``.
    """

    def decorate(command: _Command) -> _Command:
        @wraps(command)
        def with_objects(**params: Any) -> Any:
            objects = {}
            for name, group in groups.items():
                make = getattr(group, "taken_from", None)
                objects[name] = options_object(group, params) if make is None else make(params)
            return command(**objects, **params)

        decorated: Any = with_objects
        for group in reversed(groups.values()):
            decorated = flags_of(group)(decorated)
        return cast(_Command, decorated)

    return decorate


def group(flags: Callable[[Any], Any], make: Callable[[dict[str, Any]], object]) -> Any:
    """Declare a field made from several flags; ``make`` takes their values out of a command's parameters."""
    return field(metadata={"group": (flags, make)})


def options_object(options: type[_Options], params: dict[str, Any]) -> _Options:
    """Make an object of an options class from a command's parameters, and remove them; defaults are the class's own."""
    groups = {each.name: each.metadata["group"] for each in fields(cast(Any, options)) if "group" in each.metadata}
    made = {name: make(params) for name, (_, make) in groups.items()}
    return options(**given(options, params), **made)


def flags_of(options: type, only: Container[str] | None = None) -> Callable[[_Command], _Command]:
    """Add a flag for each setting of an options class, or only for those named, in their order."""

    def decorate(command: _Command) -> _Command:
        for each in reversed(fields(cast(Any, options))):
            if only is not None and each.name not in only:
                continue
            if "group" in each.metadata:
                command = each.metadata["group"][0](command)
            elif "setting" in each.metadata:
                command = _flag(each, each.metadata["setting"])(command)
        return command

    return decorate


def given(options: type, params: dict[str, Any]) -> dict[str, Any]:
    """Remove the fields of a class from a command's parameters and return those that were typed."""
    source = click.get_current_context().get_parameter_source
    typed = {each.name: params.pop(each.name) for each in fields(options) if each.name in params}
    return {name: value for name, value in typed.items() if source(name) is not ParameterSource.DEFAULT}


def refuse(names: Iterable[str], why: str) -> None:
    """Raise UsageError if any of the named parameters was given."""
    context = click.get_current_context()
    flags = {each.name: max(each.opts, key=len) for each in context.command.params}
    for name in names:
        # Before click 8.3, arguments that nobody typed also seem to come from the command line.
        if context.get_parameter_source(name) not in (None, ParameterSource.DEFAULT) and context.params[name] != ():
            raise UsageError(f"{flags[name]} {why}")


def flag_name(name: str, how: Setting) -> str:
    """Return the long flag of a setting."""
    return next(flag for flag in (how.flag or f"--{name.replace('_', '-')}").split() if flag.startswith("--"))


def _flag(declared: Field[Any], how: Setting) -> Callable[[_Command], _Command]:
    flag, default = flag_name(declared.name, how), declared.default
    flags = [*(how.flag or flag).split(), declared.name]
    about = how.help + ("" if how.shown is None else f"  [default: {how.shown}]")
    if how.kind == "flag":
        return click.option(*flags, is_flag=True, help=about)
    if how.kind == "switch":
        return click.option(f"{flag}/--no-{flag.removeprefix('--')}", declared.name, default=None, help=about)
    has_text = default not in (None, (), "") and how.shown is None
    kind: Any = None
    if how.choices:
        spelt = how.choices if how.keeps_spelling else [choice.replace("_", "-") for choice in how.choices]
        kind = click.Choice(spelt)
    elif how.kind == "whole":
        kind = click.INT if how.least is how.most is None else click.IntRange(how.least, how.most)
    elif how.kind == "file":
        kind = INPUT
    elif how.kind == "written":
        kind = click.Path(dir_okay=False, readable=False, allow_dash=True)

    def read(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
        if how.read_all is not None:
            return how.read_all(value, flag) if value else None
        if how.read is None or value is None:
            return value
        return tuple(how.read(each, flag) for each in value) if how.repeatable else how.read(value, flag)

    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
        return [] if how.complete is None else list(how.complete(incomplete))

    return click.option(
        *flags,
        type=kind,
        multiple=how.repeatable or how.read_all is not None,
        nargs=how.values,
        metavar=how.metavar or ("FILE" if how.kind in ("file", "written") else None),
        callback=read,
        default=_default_text(default) if has_text else None,
        show_default=has_text,
        help=about,
        shell_complete=None if how.complete is None else complete,
    )


def _default_text(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return ",".join(map(str, map(_default_text, value)))
    if isinstance(value, str):
        return value.replace("_", "-")
    return value if isinstance(value, int) else number_text(value)
