"""How the parameters of measures are read: from texts, or as what they are."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from gainful.discounts import DISCOUNTS, Base, read_base
from gainful.errors import UsageError
from gainful.gains import Gain
from gainful.notation import NUMBER, choose, nearest, number_text, read_number


def read_whole(value: object, what: str) -> int:
    """A whole number of at least 1."""
    if isinstance(value, str) and "," in value:
        raise UsageError(f"{what}: expected a number, found '{value}'", "several measures are given by several -m")
    number = read_number(value, what)
    if number != int(number) or not 1 <= number <= 2**53:
        raise UsageError(f"{what}: expected a whole number from 1 to 2^53, found {value}")
    return int(number)


def _read_between(low: float, high: float) -> Callable[[object, str], float]:
    def read(value: object, what: str) -> float:
        number = read_number(value, what)
        if not low <= number <= high:
            limit = (
                f"from {number_text(low)} to {number_text(high)}"
                if high < math.inf
                else f"of at least {number_text(low)}"
            )
            raise UsageError(f"{what}: expected a number {limit}, found {number_text(number)}")
        return number

    return read


def _read_points(value: object, what: str) -> str:
    """Recall levels from 0 to 1, as a text like 0.25-0.5-0.75 or as numbers; written in ascending order."""
    parts = value.split("-") if isinstance(value, str) else value if isinstance(value, Iterable) else [value]
    points = sorted(READERS["recall"](part, what) for part in parts)  # type: ignore[type-var]
    if not points or len(set(points)) < len(points):
        raise UsageError(f"{what}: expected different recall levels like 0.25-0.5-0.75, found {value}")
    return "-".join(np.format_float_positional(point, trim="-") for point in points)  # type: ignore[arg-type]


def _read_persistence(value: object, what: str) -> float:
    number = read_number(value, what)
    if not 0 <= number < 1:
        raise UsageError(f"{what}: expected a number of at least 0 and below 1, found {number_text(number)}")
    return number


def _read_query_base(value: object, what: str) -> Base:
    base = read_base(value, what)
    if base != "e" and float(base) >= 1000:
        raise UsageError(f"{what}: expected a number above 1 and below 1000, or e, found {number_text(float(base))}")
    return base


def _read_short(value: object, what: str) -> str:
    """What becomes of short lists: a word, or ``min:m``."""
    if isinstance(value, str) and value.startswith("min:"):
        return f"min:{read_whole(value.removeprefix('min:'), what)}"
    return choose(value, ("pad", "asis", "min:m"), what)


def _read_ideal_queries(value: object, what: str) -> str | int:
    if value == "session":
        return "session"
    if isinstance(value, str) and not NUMBER.fullmatch(value.strip()):
        raise UsageError(f"{what}: expected session or a number of queries, found '{value}'")
    number = read_whole(value, what)
    if number > _MOST_QUERIES:
        raise UsageError(f"{what}: expected at most {_MOST_QUERIES:,}, found {number:,}")
    return number


#: An ideal session does not go on for longer.
_MOST_QUERIES = 1_000_000

#: What the documents of a distance can be.
_OVER = ("retrieved+relevant", "retrieved", "relevant", "judged")


def _read_over(value: object, what: str) -> str | int:
    """Which documents count: one of the words, or the size of the collection."""
    if isinstance(value, str) and not NUMBER.fullmatch(value.strip()) and value not in _OVER:
        raise UsageError(
            f"{what}: expected {' | '.join(_OVER)}, or the size of the collection, found '{value}'",
            nearest(value, _OVER),
        )
    return value if isinstance(value, str) and value in _OVER else read_whole(value, what)


def _read_urs(value: object, what: str) -> Gain | str:
    """A gain map, or the word for grades that are what the user gave."""
    if value == "given":
        return "given"
    try:
        return Gain.of(value, what)
    except UsageError as error:
        raise UsageError(error.message, error.hint or "`given` takes grades as they are") from None


def _read_level_count(value: object, what: str) -> int:
    number = read_whole(value, what)
    if number == 1:
        raise UsageError(f"{what}: expected at least 2, found 1")
    return number


def _read_threshold(value: object, what: str) -> float:
    number = read_number(value, what)
    if not 0 < number <= 1:
        raise UsageError(f"{what}: expected a number above 0 and up to 1, found {number_text(number)}")
    return number


#: How the parameters that many measures share are read.
READERS: Mapping[str, Callable[[object, str], object]] = {
    "cutoff": read_whole,
    "N": read_whole,
    "n": read_whole,
    "rel": _read_between(0, math.inf),
    "level": _read_between(0, math.inf),
    "recall": _read_between(0, 1),
    "beta": _read_between(0, 1e100),
    "multiple": _read_between(0, 1e6),
    "points": _read_points,
    "p": _read_persistence,
    "scale": lambda value, what: choose(value, ("query",), what),
    **dict.fromkeys("abcd", read_number),
    "alpha": _read_between(0, 1),
    "w": _read_between(0, 1),
    "gain": Gain.of,
    "base": read_base,
    "discount": lambda value, what: choose(value, DISCOUNTS, what),
    "average": lambda value, what: choose(value, ("ranks",), what),
    "unjudged": lambda value, what: choose(value, ("zero", "condensed"), what),
    "unretrieved": lambda value, what: choose(value, ("expected", "bottom"), what),
    "tied": lambda value, what: choose(value, ("policy", "expected"), what),
    "count": lambda value, what: choose(value, ("nonrelevant", "all"), what),
    "coef": lambda value, what: choose(value, ("cosine", "jaccard"), what),
    "levels": lambda value, what: choose(value, ("query", "all"), what),
    "distance": lambda value, what: choose(value, ("absolute", "squared"), what),
    "over": _read_over,
    "srs": lambda value, what: choose(value, ("rank", "score", "minmax", "max", "ratio", "exp"), what),
    "urs": _read_urs,
    "srs_levels": _read_level_count,
    "urs_levels": _read_level_count,
    "srs_threshold": _read_threshold,
    "urs_threshold": _read_threshold,
    "t": _read_between(0, 1),
    "query_base": _read_query_base,
    "repeats": lambda value, what: choose(value, ("every", "first"), what),
    "short": _read_short,
    "ideal_queries": _read_ideal_queries,
    "variant": lambda value, what: choose(value, ("jarvelin2008", "jiang2016"), what),
    "summary": lambda value, what: choose(value, ("final", "average", "best", "last"), what),
    "scan": lambda value, what: choose(value, ("k", "recorded"), what),
    "wanted": read_number,
}
