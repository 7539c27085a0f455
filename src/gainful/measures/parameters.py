"""The parameters shared by measures: their parsers and meanings."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import numpy as np

from gainful.discounts import Base, read_base, read_discount
from gainful.errors import UsageError
from gainful.gains import Gain
from gainful.notation import NUMBER, choose, nearest, number_text, read_cutoff, read_number, read_whole


class Parameter(NamedTuple):
    """A parser, which takes the given value and a prefix for errors, and the meaning in words."""

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
_read_cost = _read_number("of at least 0", lambda number: number >= 0)


def _read_points(value: object, what: str) -> str:
    """Read recall levels from 0 to 1, as text like 0.25-0.5-0.75 or as numbers, into ascending text."""
    parts = value.split("-") if isinstance(value, str) else value if isinstance(value, Iterable) else [value]
    points = sorted(PARAMETERS["recall"].read(part, what) for part in parts)  # type: ignore[type-var]
    if not points or len(set(points)) < len(points):
        raise UsageError(f"{what}: expected distinct recall levels like 0.25-0.5-0.75, found {value}")
    return "-".join(np.format_float_positional(point, trim="-") for point in points)  # type: ignore[arg-type]


def _read_query_base(value: object, what: str) -> Base:
    base = read_base(value, what)
    if base != "e" and float(base) >= 1000:
        raise UsageError(f"{what}: expected a number above 1 and below 1000, or e, found {number_text(float(base))}")
    return base


def _read_short(value: object, what: str) -> str:
    """Read the treatment of short lists: a word, or ``min:m``."""
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


#: Maximum cutoff of measures that count ranks past the end of lists.
MOST_RANKS = 1_000_000

#: Maximum length of an ideal session.
_MOST_QUERIES = 1_000_000

#: Measures whose user models CWL has.
_MODELS = ("P", "AP", "RR", "RBP", "INST", "INSQ", "BPM", "ScaledDCG", "NERR8", "NERR9", "NERR10", "NERR11")

#: Named sets of documents for distances.
_OVER = ("retrieved+relevant", "retrieved", "relevant", "judged")


def _read_over(value: object, what: str) -> str | int:
    """Read the documents that count: one of the words, or the size of the collection."""
    if isinstance(value, str) and not NUMBER.fullmatch(value.strip()) and value not in _OVER:
        message = f"{what}: expected {' | '.join(_OVER)}, or the size of the collection, found '{value}'"
        raise UsageError(message, nearest(value, _OVER))
    return value if isinstance(value, str) and value in _OVER else read_whole(value, what)


def _read_urs(value: object, what: str) -> Gain | str:
    """Read a gain map, or ``given``."""
    if value == "given":
        return "given"
    try:
        return Gain.of(value, what)
    except UsageError as error:
        raise UsageError(error.message, error.hint or "`given` uses grades unchanged") from None


def _read_level_count(value: object, what: str) -> int:
    number = read_whole(value, what)
    if number == 1:
        raise UsageError(f"{what}: expected at least 2, found 1")
    return number


PARAMETERS: Mapping[str, Parameter] = {
    "gain": Parameter(Gain.of, "gain map"),
    "discount": Parameter(read_discount, "discount function"),
    "base": Parameter(read_base, "base of the discount's logarithm: a number above 1, or `e`"),
    "average": Parameter(_one_of("ranks"), "`ranks`: mean over ranks 1 to k"),
    "rel": Parameter(_read_between(0, math.inf), "lowest relevant grade (gain measures: lower grades have gain 0)"),
    "level": Parameter(_read_between(0, math.inf), "the only relevant grade (gain measures: others have gain 0)"),
    "forbidden": Parameter(read_number, "highest forbidden grade; by default, grades below 0 are forbidden"),
    "unjudged": Parameter(_one_of("zero", "condensed"), "overrides the policy: `zero` or `condensed`"),
    "beta": Parameter(_read_between(0, 1e100), "weight of recall: above 1 favours recall, below 1 precision"),
    "alpha": Parameter(_read_between(0, 1), "weight of precision against recall, from 0 to 1"),
    "w": Parameter(_read_between(0, 1), "weight of satisfaction against frustration, from 0 to 1"),
    "n": Parameter(read_whole, "number of relevant documents wanted"),
    "unretrieved": Parameter(
        _one_of("expected", "bottom"),
        "ranks of relevant documents not retrieved: `expected` (mean rank in the rest of the collection) or `bottom` "
        "(last ranks)",
    ),
    "tied": Parameter(_one_of("policy", "expected"), "ties: broken by the `policy`, or `expected` over all orders"),
    "count": Parameter(_one_of("nonrelevant", "all"), "documents that count: `nonrelevant` or `all`"),
    "coef": Parameter(_one_of("cosine", "jaccard"), "similarity coefficient: `cosine` or `jaccard`"),
    "share": Parameter(_one_of("users", "interactions"), "popularity as a share of `users` or of `interactions`"),
    "levels": Parameter(_one_of("query", "all"), "levels of relevance: grades of the `query`, or of `all` queries"),
    "distance": Parameter(_one_of("absolute", "squared"), "distance of two scores: `absolute` or `squared`"),
    "over": Parameter(
        _read_over,
        "documents that count: `retrieved+relevant`, `retrieved`, `relevant`, `judged`, or the size of the collection",
    ),
    "srs": Parameter(
        _one_of("rank", "score", "minmax", "max", "ratio", "exp"),
        "the system's relevance score: from `rank`, the `score` itself, or scaled by `minmax`, `max`, `ratio` or `exp`",
    ),
    "urs": Parameter(_read_urs, "the user's relevance score: a gain map, scaled to 1, or `given` (the grade itself)"),
    "srs_levels": Parameter(_read_level_count, "number of equidistant SRS levels"),
    "urs_levels": Parameter(_read_level_count, "number of equidistant URS levels"),
    "srs_threshold": Parameter(_read_threshold, "lowest SRS of a retrieved document"),
    "urs_threshold": Parameter(_read_threshold, "lowest URS of a relevant document"),
    "t": Parameter(_read_between(0, 1), "largest distance between SRS and URS that agree"),
    "cutoff": Parameter(read_cutoff, "`@k`: only the first k documents count"),
    "recall": Parameter(_read_between(0, 1), "`@r`: a recall level from 0 to 1"),
    "multiple": Parameter(_read_between(0, 1e6), "`@m`: the first m n documents count, for n relevant ones"),
    "points": Parameter(_read_points, "recall levels, from 0 to 1"),
    "p": Parameter(_read_persistence, "probability that the user continues to the next document"),
    "scale": Parameter(_one_of("query"), "`query`: gains above 1 are divided by the highest gain of the query"),
    "a": Parameter(read_number, "weight of relevant documents in the list"),
    "b": Parameter(read_number, "weight of non-relevant documents in the list"),
    "c": Parameter(read_number, "weight of relevant documents not in the list"),
    "d": Parameter(read_number, "weight of non-relevant documents not in the list (requires N)"),
    "model": Parameter(_one_of(*_MODELS), "user model, named by its measure"),
    "report": Parameter(
        _one_of(
            *("utility", "total", "depth", "cost"), *("residual", "total-residual", "depth-residual", "cost-residual")
        ),
        "expectation: `utility` (gain per document), `total` (gain), `depth`, `cost`; or its residual from unjudged "
        "documents: `residual` (of utility), `total-residual`, `depth-residual`, `cost-residual`",
    ),
    "T": Parameter(_read_positive, "gain that the user wants, above 0"),
    "K": Parameter(_read_between(1, 1e6), "most documents that the user reads"),
    "depth": Parameter(_read_depth, "depth of comparison: ranks, or `lists` (to the end of the longer list)"),
    "stop": Parameter(_one_of("graded", "rank"), "users stop more often at better grades (`graded`), or by `rank`"),
    "stops": Parameter(Gain.of, "gain map of stopping weights by grade"),
    "gamma": Parameter(_read_between(0, 1), "decay of stopping weights, from 0 to 1: below 1 users are content sooner"),
    "N": Parameter(read_whole, "number of documents in the collection"),
    "query_base": Parameter(_read_query_base, "base of the query discount's logarithm: above 1 and below 1000, or `e`"),
    "repeats": Parameter(_one_of("every", "first"), "repeated documents count `every` time, or only the `first` time"),
    "short": Parameter(_read_short, "positions of short lists: `pad` (k), `asis` (their length), `min:m` (at least m)"),
    "ideal_queries": Parameter(_read_ideal_queries, "length of the ideal session: `session`, or a number of queries"),
    "normalise": Parameter(_one_of("session", "query"), "normalise the `session`, or each `query` before averaging"),
    "variant": Parameter(
        _one_of("jarvelin2008", "jiang2016"), "`jarvelin2008`, or `jiang2016` (other gains, discounts)"
    ),
    "summary": Parameter(
        _one_of("final", "average", "best", "last"),
        "`final` value of the session's vector, `average` over positions, or only the `best` or `last` query",
    ),
    "scan": Parameter(_one_of("k", "recorded"), "depth of lists: `k`, or the `recorded` depth (k if there is none)"),
    "cost_query": Parameter(_read_cost_of_query, "cost of a query: a number, or `recorded` in the log (column cost)"),
    "cost_document": Parameter(_read_cost, "cost of reading a document"),
    "half_life": Parameter(_read_positive, "time after which gain is worth half, in seconds"),
    "t_summary": Parameter(_read_cost, "time to read a summary, in seconds"),
    "t_word": Parameter(_read_cost, "time to read a unit of length, in seconds"),
    "t_document": Parameter(_read_cost, "time to open a document, in seconds"),
    "p_click": Parameter(_read_between(0, 1), "probability of opening a relevant document"),
    "p_click_other": Parameter(_read_between(0, 1), "probability of opening another document"),
    "p_save": Parameter(_read_between(0, 1), "probability of saving a relevant document that is open"),
    "L": Parameter(_read_positive, "length of text after which nobody reads on"),
    "c_snippet": Parameter(_read_cost, "length of a snippet"),
    "p_read": Parameter(_read_between(0, 1), "share of a relevant document that is read"),
    "wanted": Parameter(_read_positive, "gain that the user wants"),
}
