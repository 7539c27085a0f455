"""Flags from declared settings: what a question's options class says once becomes click's options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import Field
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from gainful.cli.options import INPUT
from gainful.notation import number_text
from gainful.question import Setting, settings_of

_Command = TypeVar("_Command", bound=Callable[..., Any])


def flags_of(options: type) -> Callable[[_Command], _Command]:
    """Add a flag for each setting of an options class, in their order."""

    def decorate(command: _Command) -> _Command:
        for field, how in reversed(settings_of(options).values()):
            command = _flag(field, how)(command)
        return command

    return decorate


def given(options: type, params: dict[str, Any]) -> dict[str, Any]:
    """Take the settings of a class out of a command's parameters; only those that were typed are kept.

    Defaults are the class's own: nothing is filled in here.
    """
    context = click.get_current_context()
    values = {name: params.pop(name) for name in settings_of(options)}
    return {
        name: value
        for name, value in values.items()
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT
    }


def flag_name(name: str, how: Setting) -> str:
    """The flag of a setting."""
    return how.flag or f"--{name.replace('_', '-')}"


def _flag(field: Field[Any], how: Setting) -> Callable[[_Command], _Command]:
    flag, default = flag_name(field.name, how), field.default
    if how.kind == "flag":
        return click.option(flag, field.name, is_flag=True, help=how.help)
    has_text = default not in (None, ()) and how.shown is None
    spelt = {choice.replace("_", "-"): choice for choice in how.choices}
    kind: Any = None
    if how.choices:
        kind = click.Choice(list(spelt))
    elif how.kind == "whole":
        kind = click.IntRange(how.least)
    elif how.kind == "file":
        kind = INPUT

    def read(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
        if how.read_all is not None:
            return how.read_all(value, flag) if value else None
        if how.read is None or value is None:
            return value
        return tuple(how.read(each, flag) for each in value) if how.repeatable else how.read(value, flag)

    return click.option(
        flag,
        field.name,
        type=kind,
        multiple=how.repeatable or how.read_all is not None,
        nargs=how.values,
        metavar=how.metavar,
        callback=read,
        default=_default_text(default) if has_text else None,
        show_default=has_text,
        help=how.help + ("" if how.shown is None else f"  [default: {how.shown}]"),
    )


def _default_text(value: Any) -> Any:
    """A default as somebody would type it."""
    if isinstance(value, (tuple, list)):
        return ",".join(map(str, map(_default_text, value)))
    if isinstance(value, str):
        return value.replace("_", "-")
    return value if isinstance(value, int) else number_text(value)
