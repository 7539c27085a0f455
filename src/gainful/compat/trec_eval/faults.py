"""What trec_eval returns when something is wrong."""

from __future__ import annotations

from gainful.errors import GainfulError, UsageError

USAGE, FILE, CALCULATION, NOTHING_SHARED = 1, 2, 4, 7


class RefusedError(GainfulError):
    """An error with the return code that trec_eval has for it."""

    def __init__(self, code: int, message: str, hint: str | None = None) -> None:
        super().__init__(message, hint)
        self.code = code


def code_of(error: GainfulError) -> int:
    """The return code for an error, ours or trec_eval's."""
    if isinstance(error, RefusedError):
        return error.code
    return USAGE if isinstance(error, UsageError) else FILE
