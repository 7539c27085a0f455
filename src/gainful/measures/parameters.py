"""The parameters that many measures share: how each is read, and what it means."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import numpy as np

from gainful.discounts import Base, read_base, read_discount
from gainful.errors import UsageError
from gainful.gains import Gain
from gainful.notation import NUMBER, choose, nearest, number_text, read_number, read_whole


class Parameter(NamedTuple):
    """How a value is read from what was given, with what a refusal begins with; and what it means, in words."""

    read: Callable[[object, str], object]
    meaning: str


def _one_of(*words: str) -> Callable[[object, str], str]:
    return lambda value, what: choose(value, words, what)


def _read_number(limit: str, fits: Callable[[float], bool]) -> Callable[[object, str], float]:
    def read(value: object, what: str) -> float:
        number = read_number(value, what)
        if not fits(number):
            raise UsageError(f"{what}: expected a number {limit}, found {number_text(number)}")
        return number

    return read


def _read_between(low: float, high: float) -> Callable[[object, str], float]:
    start = number_text(low)
    limit = f"from {start} to {number_text(high)}" if high < math.inf else f"of at least {start}"
    return _read_number(limit, lambda number: low <= number <= high)


_read_persistence = _read_number("of at least 0 and below 1", lambda number: 0 <= number < 1)
_read_threshold = _read_number("above 0 and up to 1", lambda number: 0 < number <= 1)
_read_positive = _read_number("above 0", lambda number: number > 0)
_read_cost = _read_number("from 0 on", lambda number: number >= 0)


def _read_points(value: object, what: str) -> str:
    """Recall levels from 0 to 1, as a text like 0.25-0.5-0.75 or as numbers; written in ascending order."""
    parts = value.split("-") if isinstance(value, str) else value if isinstance(value, Iterable) else [value]
    points = sorted(PARAMETERS["recall"].read(part, what) for part in parts)  # type: ignore[type-var]
    if not points or len(set(points)) < len(points):
        raise UsageError(f"{what}: expected different recall levels like 0.25-0.5-0.75, found {value}")
    return "-".join(np.format_float_positional(point, trim="-") for point in points)  # type: ignore[arg-type]


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


def _read_depth(value: object, what: str) -> str:
    if value == "lists":
        return "lists"
    if (depth := read_whole(value, what)) > MOST_RANKS:
        raise UsageError(f"{what}: expected at most {MOST_RANKS:,}, or lists, found {depth:,}")
    return str(depth)


def _read_cost_of_query(value: object, what: str) -> str | float:
    return "recorded" if value == "recorded" else _read_cost(value, what)


#: What counts past the end of lists is not looked at further down.
MOST_RANKS = 1_000_000

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


PARAMETERS: Mapping[str, Parameter] = {
    "gain": Parameter(Gain.of, "the gain map"),
    "discount": Parameter(read_discount, "the discount"),
    "base": Parameter(read_base, "the base of the discount's logarithm: a number above 1, or `e`"),
    "average": Parameter(_one_of("ranks"), "`ranks`: the mean of the values at ranks 1 to k"),
    "rel": Parameter(_read_between(0, math.inf), "relevant from this grade on (gain measures: other gains are 0)"),
    "level": Parameter(_read_between(0, math.inf), "relevant at exactly this grade (gain measures: other gains are 0)"),
    "unjudged": Parameter(_one_of("zero", "condensed"), "`zero` or `condensed`, instead of the policy's"),
    "beta": Parameter(_read_between(0, 1e100), "above 1 favours recall, below 1 precision"),
    "alpha": Parameter(_read_between(0, 1), "the weight of precision beside recall: from 0 to 1"),
    "w": Parameter(_read_between(0, 1), "the weight of satisfaction beside frustration: from 0 to 1"),
    "n": Parameter(read_whole, "how many relevant documents are wanted"),
    "unretrieved": Parameter(
        _one_of("expected", "bottom"),
        "where relevant documents stand that were not retrieved: `expected` (anywhere in the rest of the "
        "collection) or `bottom` (at its end)",
    ),
    "tied": Parameter(
        _one_of("policy", "expected"),
        "equal scores: `policy` (as the policy orders them) or `expected` (the mean over all their orders)",
    ),
    "count": Parameter(_one_of("nonrelevant", "all"), "what is counted: `nonrelevant` documents, or `all`"),
    "coef": Parameter(_one_of("cosine", "jaccard"), "the coefficient: `cosine` or `jaccard`"),
    "share": Parameter(
        _one_of("users", "interactions"), "what popularity is a share of: `users`, or `interactions` of them"
    ),
    "levels": Parameter(
        _one_of("query", "all"),
        "whose grades are the levels: `query` (those in its judgments) or `all` (those in the whole file)",
    ),
    "distance": Parameter(_one_of("absolute", "squared"), "of two scores: `absolute`, or `squared`"),
    "over": Parameter(
        _read_over,
        "the documents that count: `retrieved+relevant`, `retrieved`, `relevant`, `judged`, or a number: all of a "
        "collection of this size",
    ),
    "srs": Parameter(
        _one_of("rank", "score", "minmax", "max", "ratio", "exp"),
        "the system's relevance score: by `rank`, the `score` itself, or `minmax`, `max`, `ratio`, `exp` of scores",
    ),
    "urs": Parameter(_read_urs, "the user's relevance score: a gain map, scaled to 1, or `given` (the grade itself)"),
    "srs_levels": Parameter(_read_level_count, "how many different SRS are distinguished, at equal distances"),
    "urs_levels": Parameter(_read_level_count, "how many different URS are distinguished, at equal distances"),
    "srs_threshold": Parameter(_read_threshold, "retrieved from this SRS on"),
    "urs_threshold": Parameter(_read_threshold, "relevant from this URS on"),
    "t": Parameter(_read_between(0, 1), "how far SRS and URS may lie apart and still agree"),
    "cutoff": Parameter(read_whole, "`@k`: look at the first k documents"),
    "recall": Parameter(_read_between(0, 1), "`@r`: a recall level from 0 to 1"),
    "multiple": Parameter(_read_between(0, 1e6), "`@m`: look at m times as many documents as are relevant"),
    "points": Parameter(_read_points, "the recall levels, each from 0 to 1"),
    "p": Parameter(_read_persistence, "the probability with which the user goes on to the next document"),
    "scale": Parameter(
        _one_of("query"), "`query`: gains above 1 are divided by the highest gain judged in their query"
    ),
    "a": Parameter(read_number, "what a relevant document in the list is worth"),
    "b": Parameter(read_number, "what a document in the list that is not relevant is worth"),
    "c": Parameter(read_number, "what a relevant document that is missed is worth"),
    "d": Parameter(read_number, "what a document that is neither relevant nor in the list is worth (needs N)"),
    "model": Parameter(
        _one_of("P", "AP", "RR", "RBP", "INST", "INSQ", "BPM", "ScaledDCG", "NERR8", "NERR9", "NERR10", "NERR11"),
        "who reads: a user of this measure",
    ),
    "report": Parameter(
        _one_of(
            *("utility", "total", "depth", "cost"), *("residual", "total-residual", "depth-residual", "cost-residual")
        ),
        "what to expect: `utility` (gain a look), `total` (gain in all), `depth`, `cost`; or what unjudged documents "
        "could change of it: `residual` (of utility), `total-residual`, `depth-residual`, `cost-residual`",
    ),
    "T": Parameter(_read_positive, "the gain that the user wants: above 0"),
    "K": Parameter(_read_between(1, 1e6), "how many documents the user reads at most"),
    "depth": Parameter(
        _read_depth, "how deep lists are compared: a number of ranks, or `lists`: to the longer one's end"
    ),
    "stop": Parameter(
        _one_of("graded", "rank"), "where users stop: `graded` (more often at better grades), or by `rank`"
    ),
    "stops": Parameter(Gain.of, "how often users stop at each grade, as a gain map"),
    "gamma": Parameter(_read_between(0, 1), "below 1 users are soon content: from 0 to 1"),
    "N": Parameter(read_whole, "how many documents the collection has"),
    "query_base": Parameter(
        _read_query_base, "the base of the query discount's logarithm: a number above 1 and below 1000, or `e`"
    ),
    "repeats": Parameter(
        _one_of("every", "first"),
        "a document that comes again in the session: counts `every` time, or the `first` time only",
    ),
    "short": Parameter(
        _read_short,
        "lists that end before k: `pad` (positions up to k), `asis` (as many as documents), `min:m` (at least m)",
    ),
    "ideal_queries": Parameter(
        _read_ideal_queries, "how long the ideal session is: as the `session`, or a number of queries"
    ),
    "normalise": Parameter(
        _one_of("session", "query"),
        "what is compared with the ideal: the whole `session`, or each `query`, which are then averaged",
    ),
    "variant": Parameter(
        _one_of("jarvelin2008", "jiang2016"), "`jarvelin2008`, or `jiang2016` with a gain and discounts of its own"
    ),
    "summary": Parameter(
        _one_of("final", "average", "best", "last"),
        "what of the session's vector: its `final` value, the `average` over its positions, the `best` or the "
        "`last` query alone",
    ),
    "scan": Parameter(
        _one_of("k", "recorded"),
        "how far lists are looked at: to `k`, or as far as was `recorded` (to k where nothing was)",
    ),
    "cost_query": Parameter(
        _read_cost_of_query, "what a query costs: a number, or as `recorded` in the log (its column cost)"
    ),
    "cost_document": Parameter(_read_cost, "what reading a document costs"),
    "wanted": Parameter(read_number, "the gain that the user wants"),
}
