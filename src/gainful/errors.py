"""What can go wrong, as few kinds as there are things to do about it; and warnings of what is legal but suspicious."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec, Protocol, TypeVar


class GainfulError(Exception):
    """The root of all errors that gainful raises on purpose. ``hint`` says what to do next."""

    #: What the command line exits with.
    exit_code = 70

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __reduce__(self) -> tuple[type[GainfulError], tuple[str, str | None]]:
        return type(self), (self.message, self.hint)  # so that the hint travels to other processes, too

    def __str__(self) -> str:
        # What is wrong and what to do come first: behind them may stand more lines than somebody reads.
        diagnosis, *lines = self.message.split("\n")
        return "\n".join([diagnosis, *([f"hint: {self.hint}"] if self.hint else []), *lines])


class UsageError(GainfulError, ValueError):
    """gainful was asked for something that it does not have or that makes no sense."""

    exit_code = 2


class MissingExtraError(UsageError, ImportError):
    """The request needs an optional package that is not installed."""


class InputError(GainfulError, ValueError):
    """The data is not what it has to be, or the policy forbids it."""

    exit_code = 3


class GainfulWarning(UserWarning):
    """Something is legal but suspicious: the notices of a call, as the command line prints them, a line each."""


class HasNotices(Protocol):
    """What knows the notices of the call that made it."""

    @property
    def notices(self) -> Sequence[str]:
        """What is legal but suspicious, one line each."""
        ...


class _Asker:
    """Who asks: somebody at the command line, or a program in Python."""

    is_command_line = False


@contextmanager
def at_command_line() -> Iterator[None]:
    """Makes messages name options as the command line has them. All threads are told: files are read by several."""
    before, _Asker.is_command_line = _Asker.is_command_line, True
    try:
        yield
    finally:
        _Asker.is_command_line = before


def option(name: str, value: object = None) -> str:
    """An option as whoever asks writes it, with a value if there is one to show.

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
    """What is said to whoever asks."""
    return command_line if _Asker.is_command_line else python


_Options = ParamSpec("_Options")
_Result = TypeVar("_Result", bound=HasNotices)
_is_quiet: ContextVar[bool] = ContextVar("_is_quiet", default=False)


@contextmanager
def quietly() -> Iterator[None]:
    """Keeps notices from being warnings: whoever calls tells them in another way."""
    before = _is_quiet.set(True)
    try:
        yield
    finally:
        _is_quiet.reset(before)


def warns(function: Callable[_Options, _Result]) -> Callable[_Options, _Result]:
    """Has a function warn of the notices of its result: once, and where it was called, whatever it calls itself."""

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
