"""pytrec_eval's interface over gainful: change the import and nothing else.

>>> import gainful.compat.pytrec_eval as pytrec_eval
>>> qrel = {"q1": {"d1": 1, "d2": 0, "d3": 2}}
>>> evaluator = pytrec_eval.RelevanceEvaluator(qrel, {"map", "P.1,2"})
>>> evaluator.evaluate({"q1": {"d2": 3.0, "d1": 2.0, "d9": 1.0}})
{'q1': {'map': 0.25, 'P_1': 0.0, 'P_2': 0.5}}

Keys and values are those of pytrec_eval with trec_eval 9.0.8. What it does better: every call of an evaluator gives the
same answer, threads may share one, grades may be real numbers, and a query without documents scores as an empty list.
"""

from __future__ import annotations

import math
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np

from gainful._version import __version__
from gainful.data.graded import GradedRun, join
from gainful.data.judged import Judged
from gainful.data.qrels import Qrels
from gainful.data.run import Run
from gainful.errors import InputError, UsageError
from gainful.evaluation.results import LEAST_FACTOR
from gainful.io.rows import gather_dicts
from gainful.kernel.arrays import Floats, Ints
from gainful.kernel.core import default_threads
from gainful.measures.base import Measure
from gainful.measures.block import raw_scores
from gainful.measures.catalog import MEASURES
from gainful.measures.names_trec_eval import FAMILIES, GROUPS, Family, Takes, build
from gainful.notation import nearest
from gainful.policy import Policy

#: What becomes of a measure's value: nothing, its logarithm, or 0 where nothing is relevant.
Finish = Literal["as it is", "logarithm", "needs relevant"]


class Column(NamedTuple):
    """One value of every query: its key, the measure (None: always 0), and what is still to be done to it."""

    key: str
    measure: Measure | None
    finish: Finish = "as it is"


class _Asked(NamedTuple):
    """A measure as it was asked for: its name, the texts of its parameters in order, and the relevance level."""

    name: str
    texts: tuple[str, ...]
    level: float

    @property
    def family(self) -> Family:
        return FAMILIES[self.name]

    def refuse(self, expected: str) -> UsageError:
        return UsageError(f"{self.name}: expected {expected}, found {','.join(self.texts)}")

    def measure(self, **parameters: object) -> Measure:
        """Ours, with the level if it has one; ``at`` is what ``@`` sets."""
        if "at" in parameters:
            parameters["@"] = parameters.pop("at")
        if self.family.has_level and "rel" in MEASURES[self.family.of_topic].parameters():
            parameters["rel"] = self.level
        return build(self.family.of_topic, parameters)

    def one(self, finish: Finish = "as it is", **parameters: object) -> list[Column]:
        return [Column(self.name, self.measure(**parameters), finish)]


def _plain(asked: _Asked) -> list[Column]:
    """A measure without parameters; trec_eval ignores what is given all the same. Texts have no value here."""
    if not asked.family.ours:
        return [Column(asked.name, None)]
    return asked.one("logarithm" if asked.family.summary == "geometric" else "as it is")


def _graded(asked: _Asked) -> list[Column]:
    """A measure of gains. Its parameters would be pairs, which no name can hold."""
    if asked.texts:
        raise asked.refuse("no parameters")
    return asked.one("needs relevant" if asked.name == "Rndcg" else "as it is")


def _at_cutoffs(asked: _Asked) -> list[Column]:
    # trec_eval reads whole numbers and leaves what comes after them.
    cutoffs = sorted(int(text.split(".")[0]) for text in asked.texts) or [*map(int, asked.family.defaults)]
    if cutoffs[0] < 1 or len(set(cutoffs)) < len(cutoffs):
        raise asked.refuse("different cutoffs of at least 1")
    return [Column(f"{asked.name}_{cutoff}", asked.measure(at=cutoff)) for cutoff in cutoffs]


def _at_shares(asked: _Asked) -> list[Column]:
    # Two that are written alike have one key; the later one stays.
    shares = _shares(asked) or asked.family.defaults
    named = {f"{asked.name}_{share:.2f}": asked.measure(at=share) for share in shares}
    return [Column(key, measure) for key, measure in named.items()]


def _shares(asked: _Asked) -> list[float]:
    shares = sorted(map(float, asked.texts))
    if len(set(shares)) < len(shares):
        raise asked.refuse("different numbers")
    return shares


def _interpolated_average(asked: _Asked) -> list[Column]:
    return asked.one(points="-".join(map(str, _shares(asked)))) if asked.texts else asked.one()


def _set_f(asked: _Asked) -> list[Column]:
    """trec_eval has x where the formula has beta^2, and looks at the first parameter only."""
    return asked.one(beta=math.sqrt(float(asked.texts[0]) if asked.texts else 1.0))


def _utility(asked: _Asked) -> list[Column]:
    if len(asked.texts) not in (0, 4):
        raise asked.refuse("four coefficients that are different and in the order of their texts")
    a, b, c, d = map(float, asked.texts or ("1", "-1", "0", "0"))
    # pytrec_eval knows no collection beyond the documents retrieved or relevant, so that of the rest there are less
    # than none: their coefficient is taken off the others.
    return asked.one(a=a - d, b=b - d, c=c - d)


#: By what a measure takes.
_COLUMNS: Mapping[Takes, Callable[[_Asked], list[Column]]] = {
    "nothing": _plain,
    "length": _plain,
    "gains": _graded,
    "cutoffs": _at_cutoffs,
    "levels": _at_shares,
    "points": _interpolated_average,
    "weight": _set_f,
    "utility": _utility,
}

#: The measures that can be asked for: those of trec_eval 9, in the order in which it prints them.
_NAMES = [
    name
    for name, family in FAMILIES.items()
    if not family.is_new and family.reads in ("any", "grades") and name != "yaap"
]

#: Names of several measures; those of preferences and of several judges hold measures that nobody supports.
NICKNAMES: Mapping[str, frozenset[str]] = {
    group: frozenset(name for name in names if not FAMILIES[name].is_new) for group, names in GROUPS.items()
}

_NUMBERS = r"[0-9]+(?:\.[0-9]+)?(?:,[0-9]+(?:\.[0-9]+)?)*"
_WITH_PARAMETERS = re.compile(f"({'|'.join(map(re.escape, sorted(_NAMES, reverse=True)))})[._]({_NUMBERS})")


def columns_of(measures: Iterable[str], level: float) -> list[Column]:
    """The columns that measures stand for, in trec_eval's order.

    A measure is given as ``P``, ``P_5``, ``P.5`` or ``P.5,10``, or by the nickname of several. Parameters from several
    places come together; beside them, those that a measure has by default do not count.
    """
    texts_of: dict[str, set[str]] = {}
    for measure in measures:
        for name in NICKNAMES.get(measure, (measure,)):
            family, texts = _split(name)
            texts_of.setdefault(family, set()).update(texts)
    return [
        column
        for name in _NAMES
        if name in texts_of
        for column in _COLUMNS[FAMILIES[name].takes](_Asked(name, tuple(sorted(texts_of[name])), level))
    ]


def _split(name: str) -> tuple[str, list[str]]:
    if name in _NAMES:
        return name, []
    match = _WITH_PARAMETERS.match(name)
    if match is None:
        raise UsageError(f"unsupported measure {name}", nearest(name, [*_NAMES, *NICKNAMES]))
    return match[1], match[2].split(",")


__all__ = [
    "RelevanceEvaluator",
    "__version__",
    "compute_aggregated_measure",
    "parse_qrel",
    "parse_run",
    "supported_measures",
    "supported_nicknames",
]

#: The measures that can be asked for, and nicknames with those that they stand for.
supported_measures: set[str] = set(_NAMES)
supported_nicknames: dict[str, set[str]] = {name: set(measures) for name, measures in NICKNAMES.items()}


class WrongTypeError(UsageError, TypeError):
    """An argument is not of the type that it has to be; a TypeError, as in pytrec_eval."""


class RepeatedError(InputError, AssertionError):
    """A document stands twice in a query's list; an AssertionError, as in pytrec_eval."""


class RelevanceEvaluator:
    """Scores runs against judgments, which are prepared once.

    ``measures`` are names of trec_eval (``map``), with parameters (``P.5,10`` or ``P_5``), or nicknames (``official``).
    A document of at least ``relevance_level`` is relevant; with ``judged_docs_only_flag`` unjudged documents are left
    out of the lists. Queries without judgments are left aside.
    """

    def __init__(
        self,
        query_relevance: Mapping[str, Mapping[str, float]],
        measures: Iterable[str],
        relevance_level: float = 1,
        judged_docs_only_flag: bool = False,
    ) -> None:
        if not isinstance(judged_docs_only_flag, (int, np.bool_)):
            raise WrongTypeError(f"judged_docs_only_flag: expected True or False, found {judged_docs_only_flag!r}")
        policy = Policy.like("trec_eval-9", unjudged="condensed" if judged_docs_only_flag else "zero")
        self._level = _relevance_level(relevance_level)
        self._columns = columns_of(measures, self._level)
        # Every measure once, however many columns are made of it.
        self._measures = list(dict.fromkeys(column.measure for column in self._columns if column.measure is not None))
        self._row_of = [None if measure is None else self._measures.index(measure) for _, measure, _ in self._columns]
        self._judged: Judged | None = None
        self._place_of: dict[str, int] = {}
        judgments = {query: grades for query, grades in query_relevance.items() if len(grades) > 0}
        if judgments:
            self._judged = Judged(_qrels(judgments), policy)
            self._place_of = {query: place for place, query in enumerate(self._judged.qrels.queries)}

    def evaluate(self, scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
        """The values of a run, given as ``{query: {document: score}}``, by query and name of measure."""
        if not scores:
            return {}
        if not isinstance(scores, Mapping):
            raise WrongTypeError(f"scores: expected a dict of queries, found {type(scores).__name__}")
        run = _run(scores)
        queries = [query for query in scores if query in self._place_of]
        if not queries or self._judged is None:
            return {}
        graded = join(self._judged, run, self._judged.policy, threads=default_threads())
        values = self._values(graded, np.array([self._place_of[query] for query in queries], np.int64))
        keys = [column.key for column in self._columns]
        return {
            query: dict(zip(keys, found, strict=True)) for query, found in zip(queries, values.tolist(), strict=True)
        }

    def _values(self, graded: GradedRun, places: Ints) -> Floats:
        """Queries x columns, of the judged queries at some places."""
        raw = raw_scores(graded, self._measures, only_answered=True)[:, places]
        raw[np.isnan(raw)] = 0.0
        values = np.zeros((places.size, len(self._columns)))
        for i, (row, column) in enumerate(zip(self._row_of, self._columns, strict=True)):
            if row is None:
                continue
            values[:, i] = raw[row]
            if column.finish == "logarithm":
                values[:, i] = np.log(np.maximum(raw[row], LEAST_FACTOR))
            elif column.finish == "needs relevant":
                values[graded.judged.recall_base(self._level, None)[places] == 0, i] = 0.0
        return values


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """A run as dicts from lines ``query Q0 document rank score tag``.

    >>> dict(parse_run(["q1 Q0 d7 1 2.5 mine"]))
    {'q1': {'d7': 2.5}}
    """

    def row(fields: list[str]) -> tuple[str, str, float]:
        query, _, document, _, score, _ = fields
        return query, document, float(score)

    again = "every document once in a query's list, found {} again"
    return _parsed("run", f_run, row, "query Q0 document rank score tag", again)


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, float]]:
    """Judgments as dicts from lines ``query 0 document grade``; grades are integers wherever they can be.

    >>> dict(parse_qrel(["q1 0 d7 2", "q1 0 d8 0.5"]))
    {'q1': {'d7': 2, 'd8': 0.5}}
    """

    def row(fields: list[str]) -> tuple[str, str, float]:
        query, _, document, grade = fields
        return query, document, _grade(grade)

    again = "one grade for every document, found another for {}"
    return _parsed("qrel", f_qrel, row, "query 0 document grade", again)


def _parsed(
    name: str, lines: Iterable[str], row: Callable[[list[str]], tuple[str, str, float]], form: str, again: str
) -> dict[str, dict[str, float]]:
    """Values by query and document, from lines that ``row`` reads; ``again`` is what is said of repeats."""
    found: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for number, line in enumerate(lines, 1):
        try:
            query, document, value = row(line.split())
        except ValueError:
            if line.strip():
                raise InputError(f"{name}:{number}: expected `{form}`, found {line.strip()!r}") from None
            continue
        if document in found[query]:
            raise RepeatedError(f"{name}:{number}: expected {again.format(document)}")
        found[query][document] = value
    return found


def compute_aggregated_measure(measure: str, values: Iterable[float]) -> float:
    """What a table shows of many queries: the sum of counts (``num_...``), else the mean, ``gm_...`` of logarithms.

    >>> compute_aggregated_measure("map", [0.5, 1.0]), compute_aggregated_measure("num_ret", [3, 4])
    (0.75, 7.0)
    """
    numbers = [float(value) for value in values]
    total = math.fsum(numbers)
    if measure.startswith("num_"):
        return total
    mean = total / len(numbers) if numbers else math.nan
    return math.exp(mean) if measure.startswith("gm_") else mean


def _grade(text: str) -> float:
    try:
        return int(text)
    except ValueError:
        return float(text)


def _relevance_level(value: object) -> float:
    if isinstance(value, Real) and 0 < float(value) < math.inf:
        return float(value)
    raise WrongTypeError(f"relevance_level: expected a number above 0, found {value!r}")


def _run(scores: Mapping[str, Any]) -> Run:
    plain = gather_dicts(scores, "run", only_texts=True)
    if plain is not None:
        return Run.from_rows(plain)
    return Run.from_dict(_checked(scores, "run", "score"), name="run")


def _qrels(judgments: Mapping[str, Any]) -> Qrels:
    plain = gather_dicts(judgments, "qrel", only_texts=True)
    if plain is not None:
        return Qrels.from_rows(plain)
    return Qrels.from_dict(_checked(judgments, "qrel", "grade"), name="qrel")


def _checked(found: Mapping[Any, Any], name: str, what: str) -> dict[str, dict[str, float]]:
    """The same entries, after a look at each. Scores may be infinite: no number is further up or down."""
    checked: dict[str, dict[str, float]] = {}
    for query, values in found.items():
        if not isinstance(query, str):
            raise WrongTypeError(f"{name}: expected texts as queries, found {query!r}")
        if not isinstance(values, Mapping):
            raise WrongTypeError(f"{name}[{query!r}]: expected a dict of documents and {what}s, found {values!r}")
        for document, value in values.items():
            if not isinstance(document, str):
                raise WrongTypeError(f"{name}[{query!r}]: expected texts as documents, found {document!r}")
            if not isinstance(value, (Real, np.bool_)):
                raise WrongTypeError(f"{name}[{query!r}][{document!r}]: expected a number as {what}, found {value!r}")
        checked[query] = {d: _finite(value) for d, value in values.items()} if what == "score" else dict(values)
    return checked


def _finite(score: float) -> float:
    """A score that is finite as float64 and the same as float32, in which scores are compared."""
    return math.copysign(sys.float_info.max, score) if math.isinf(score) else score
