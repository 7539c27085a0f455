"""What can go wrong, as few kinds as there are things to do about it."""

from __future__ import annotations


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
