"""Errors, one class per kind of remedy; and warnings about legal but suspicious input."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec, Protocol, TypeVar


class GainfulError(Exception):
    """Base class of all errors raised by gainful. ``hint`` suggests what to do next."""

    #: Exit code of the command line.
    exit_code = 70

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __reduce__(self) -> tuple[type[GainfulError], tuple[str, str | None]]:
        return type(self), (self.message, self.hint)  # keep the hint when pickled

    def __str__(self) -> str:
        # Diagnosis and hint first: the lines after them may scroll out of view.
        diagnosis, *lines = self.message.split("\n")
        return "\n".join([diagnosis, *([f"hint: {self.hint}"] if self.hint else []), *lines])


class UsageError(GainfulError, ValueError):
    """A request that is invalid or does not make sense."""

    exit_code = 2


class MissingExtraError(UsageError, ImportError):
    """A request that needs an optional package that is not installed."""


class InputError(GainfulError, ValueError):
    """Data that is invalid, or rejected by the policy."""

    exit_code = 3


class GainfulWarning(UserWarning):
    """A notice about legal but suspicious input, one line each, as on the command line."""


class HasNotices(Protocol):
    """An object that carries the notices of its call."""

    @property
    def notices(self) -> Sequence[str]: ...


class _Asker:
    """Whether messages are for the command line or for Python."""

    is_command_line = False


@contextmanager
def at_command_line() -> Iterator[None]:
    """Make messages in all threads name options as on the command line."""
    before, _Asker.is_command_line = _Asker.is_command_line, True
    try:
        yield
    finally:
        _Asker.is_command_line = before


def option(name: str, value: object = None) -> str:
    """Format an option for the command line or Python, optionally with a value.

    >>> option("session_gap", "30m"), option("columns", {"query": "user"}), option("columns")
    ("session_gap='30m'", "columns={'query': 'user'}", 'columns=')
    >>> with at_command_line():
    ...     option("session_gap", "30m"), option("columns", {"query": "user"}), option("columns")
    ('--session-gap 30m', '--columns query=user', '--columns')
    >>> with at_command_line():
    ...     option("columns", {"query": "Search Term"})
    "--columns 'query=Search Term'"
    """
    if isinstance(value, float):
        value = int(value) if value.is_integer() else value
    shown = ",".join(f"{key}={each}" for key, each in value.items()) if isinstance(value, dict) else value
    flag = f"--{name.replace('_', '-')}" + ("" if shown is None else f" {shlex.quote(str(shown))}")
    return for_asker(flag, f"{name}={'' if value is None else repr(value)}")


def for_asker(command_line: str, python: str) -> str:
    """Return the text for the command line or for Python, whichever is in use."""
    return command_line if _Asker.is_command_line else python


_Options = ParamSpec("_Options")
_Result = TypeVar("_Result", bound=HasNotices)
_is_quiet: ContextVar[bool] = ContextVar("_is_quiet", default=False)


@contextmanager
def quietly() -> Iterator[None]:
    """Suppress warnings, for callers that show notices in another way."""
    before = _is_quiet.set(True)
    try:
        yield
    finally:
        _is_quiet.reset(before)


def warns(function: Callable[_Options, _Result]) -> Callable[_Options, _Result]:
    """Decorate a function to warn of its result's notices, once, at the caller's line."""

    @wraps(function)
    def warned(*args: _Options.args, **options: _Options.kwargs) -> _Result:
        if _is_quiet.get():
            return function(*args, **options)
        with quietly():
            result = function(*args, **options)
        if notices := result.notices:
            warnings.warn("\n".join(notices), GainfulWarning, stacklevel=2)
        return result

    return warned
