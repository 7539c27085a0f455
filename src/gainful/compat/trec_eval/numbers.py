"""Numbers as C's atol and atof read them: as much of a text as makes sense, else 0."""

from __future__ import annotations

import re

_WHOLE = re.compile(r"\s*([+-]?\d+)", re.ASCII)
_REAL = re.compile(r"\s*([+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|inf(?:inity)?|nan))", re.ASCII | re.IGNORECASE)


def leading_whole(text: str) -> int:
    """The whole number that a text begins with.

    >>> leading_whole("2.7"), leading_whole("1e2"), leading_whole("x"), leading_whole("-0.5")
    (2, 1, 0, 0)
    """
    match = _WHOLE.match(text)
    return int(match[1]) if match else 0


def leading_real(text: str) -> float:
    """The number that a text begins with.

    >>> leading_real(".25"), leading_real("2,5"), leading_real("x")
    (0.25, 2.0, 0.0)
    """
    match = _REAL.match(text)
    return float(match[1]) if match else 0.0
