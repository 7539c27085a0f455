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
from typing import Any

import numpy as np

from gainful._version import __version__
from gainful.compat.trec_eval.trec_eval_options import Options, RefusedError
from gainful.compat.trec_eval.trec_eval_values import Line, report_lines
from gainful.data.graded import GradedRun, join
from gainful.data.judged import Judged
from gainful.data.qrels import Qrels
from gainful.data.run import Run
from gainful.errors import InputError, UsageError
from gainful.evaluation.results import LEAST_FACTOR
from gainful.io.readers import read_dict
from gainful.io.rows import Rows, gather_dicts
from gainful.kernel.arrays import Floats, Ints
from gainful.kernel.core import default_threads
from gainful.measures.block import raw_scores
from gainful.measures.names_trec_eval import FAMILIES, GROUPS
from gainful.notation import nearest
from gainful.policy import Policy

__all__ = [
    "RelevanceEvaluator",
    "__version__",
    "compute_aggregated_measure",
    "parse_qrel",
    "parse_run",
    "supported_measures",
    "supported_nicknames",
]

#: The supported measures: those of trec_eval 9, in its output order.
_NAMES = [
    name
    for name, family in FAMILIES.items()
    if not family.is_new and family.reads in ("any", "grades") and name != "yaap"
]
supported_measures: set[str] = set(_NAMES)

#: Names of several measures; groups for preferences and several judges contain unsupported ones.
supported_nicknames: dict[str, set[str]] = {
    group: {name for name in names if not FAMILIES[name].is_new} for group, names in GROUPS.items()
}

_NUMBERS = r"[0-9]+(?:\.[0-9]+)?(?:,[0-9]+(?:\.[0-9]+)?)*"
_WITH_PARAMETERS = re.compile(f"({'|'.join(map(re.escape, sorted(_NAMES, reverse=True)))})[._]({_NUMBERS})")


def lines_of(measures: Iterable[str], level: float) -> list[Line]:
    """Return the values of each query, in trec_eval's order.

    Measures are written ``P``, ``P_5``, ``P.5`` or ``P.5,10``, or as the nickname of a group. Parameters of repeated
    measures are combined, and replace the defaults.
    """
    texts_of: dict[str, set[str]] = {}
    for measure in measures:
        for name in supported_nicknames.get(measure, (measure,)):
            match = _WITH_PARAMETERS.match(name)
            if name in _NAMES:
                texts_of.setdefault(name, set())
            elif match is not None:
                texts_of.setdefault(match[1], set()).update(match[2].split(","))
            else:
                raise UsageError(f"unsupported measure {name}", nearest(name, [*_NAMES, *supported_nicknames]))
    parameters = {name: sorted(texts) for name, texts in texts_of.items() if texts}
    if len(coefficients := parameters.get("utility", [])) == 4:
        # pytrec_eval counts only retrieved or relevant documents, so the number of others is negative:
        # their coefficient is subtracted from the others.
        parameters["utility"] = [str(float(text) - float(coefficients[3])) for text in coefficients]
    joined = {name: ",".join(texts) for name, texts in parameters.items()}
    options = Options(compat="9.0.8", level=level, names={*texts_of}, parameters=joined)
    try:
        return report_lines(options, ())
    except RefusedError as error:
        raise UsageError(error.message, error.hint) from None


class WrongTypeError(UsageError, TypeError):
    """An argument of the wrong type; a TypeError, as in pytrec_eval."""


class RepeatedError(InputError, AssertionError):
    """A duplicate document in a query's list; an AssertionError, as in pytrec_eval."""


class RelevanceEvaluator:
    """An evaluator of runs against judgments that are prepared once.

    ``measures`` are trec_eval names (``map``), with parameters (``P.5,10`` or ``P_5``), or nicknames (``official``).
    Documents with at least ``relevance_level`` are relevant; ``judged_docs_only_flag`` removes unjudged documents from
    the lists. Queries without judgments are ignored.
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
        level: object = relevance_level
        if not isinstance(level, Real) or not 0 < float(level) < math.inf:
            raise WrongTypeError(f"relevance_level: expected a number above 0, found {level!r}")
        policy = Policy.like("trec_eval-9", unjudged="condensed" if judged_docs_only_flag else "zero")
        self._level = float(level)
        # Levels with the same text share a key, and the last one counts; other parameters are not in keys.
        lines = lines_of(measures, self._level)
        self._lines = {line.name if line.family.takes in ("cutoffs", "levels") else line.of: line for line in lines}
        # Compute every measure once, even with several keys.
        self._measures = list(dict.fromkeys(line.measure for line in lines if line.measure is not None))
        self._judged: Judged | None = None
        self._place_of: dict[str, int] = {}
        judgments = {query: grades for query, grades in query_relevance.items() if len(grades) > 0}
        if judgments:
            self._judged = Judged(Qrels.from_rows(_rows_of_dicts(judgments, "qrel", "grade")), policy)
            self._place_of = {query: place for place, query in enumerate(self._judged.qrels.queries)}

    def evaluate(self, scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
        """Return the scores of a run, given as ``{query: {document: score}}``, by query and measure name."""
        if not scores:
            return {}
        if not isinstance(scores, Mapping):
            raise WrongTypeError(f"scores: expected a dict of queries, found {type(scores).__name__}")
        run = Run.from_rows(_rows_of_dicts(scores, "run", "score"))
        queries = [query for query in scores if query in self._place_of]
        if not queries or self._judged is None:
            return {}
        graded = join(self._judged, run, self._judged.policy, threads=default_threads())
        values = self._values(graded, np.array([self._place_of[query] for query in queries], np.int64))
        by_query = zip(queries, values.tolist(), strict=True)
        return {query: dict(zip(self._lines, found, strict=True)) for query, found in by_query}

    def _values(self, graded: GradedRun, places: Ints) -> Floats:
        """Return the values of some judged queries (queries x keys), 0 if undefined."""
        raw = raw_scores(graded, self._measures, only_answered=True)[:, places]
        raw[np.isnan(raw)] = 0.0
        by_measure = dict(zip(self._measures, raw, strict=True))
        values = np.zeros((places.size, len(self._lines)))
        for i, line in enumerate(self._lines.values()):
            if line.measure is None:
                continue
            values[:, i] = by_measure[line.measure]
            if line.family.summary == "geometric":
                values[:, i] = np.log(np.maximum(values[:, i], LEAST_FACTOR))
            elif line.of == "Rndcg":
                values[graded.judged.recall_base(self._level, None)[places] == 0, i] = 0.0
        return values


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """Parse a run from lines ``query Q0 document rank score tag`` into dicts.

    >>> dict(parse_run(["q1 Q0 d7 1 2.5 mine"]))
    {'q1': {'d7': 2.5}}
    """
    again = "every document once in a query's list, found {} again"
    return _parsed("run", f_run, "query Q0 document rank score tag", 4, float, again)


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, float]]:
    """Parse judgments from lines ``query 0 document grade`` into dicts; grades are integers if possible.

    >>> dict(parse_qrel(["q1 0 d7 2", "q1 0 d8 0.5"]))
    {'q1': {'d7': 2, 'd8': 0.5}}
    """

    def grade(text: str) -> float:
        try:
            return int(text)
        except ValueError:
            return float(text)

    again = "one grade for every document, found another for {}"
    return _parsed("qrel", f_qrel, "query 0 document grade", 3, grade, again)


def _parsed(
    name: str, lines: Iterable[str], form: str, column: int, read: Callable[[str], float], again: str
) -> dict[str, dict[str, float]]:
    """Parse values by query and document from lines; ``again`` is the message for duplicate documents."""
    found: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for number, line in enumerate(lines, 1):
        fields = line.split()
        if not fields:
            continue
        try:
            if len(fields) != len(form.split()):
                raise ValueError
            query, document, value = fields[0], fields[2], read(fields[column])
        except ValueError:
            raise InputError(f"{name}:{number}: expected `{form}`, found {line.strip()!r}") from None
        if document in found[query]:
            raise RepeatedError(f"{name}:{number}: expected {again.format(document)}")
        found[query][document] = value
    return found


def compute_aggregated_measure(measure: str, values: Iterable[float]) -> float:
    """Aggregate the values of many queries: sums of counts (``num_...``), geometric (``gm_...``) or plain means.

    >>> compute_aggregated_measure("map", [0.5, 1.0]), compute_aggregated_measure("num_ret", [3, 4])
    (0.75, 7.0)
    """
    numbers = [float(value) for value in values]
    total = math.fsum(numbers)
    if measure.startswith("num_"):
        return total
    mean = total / len(numbers) if numbers else math.nan
    return math.exp(mean) if measure.startswith("gm_") else mean


def _rows_of_dicts(found: Mapping[Any, Any], name: str, what: str) -> Rows:
    """Return the entries of a dict of dicts, with the largest finite score for infinite ones (equal in float32)."""
    plain = gather_dicts(found, name, only_texts=True)
    if plain is not None:
        return plain
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
    if what == "grade":
        return read_dict({query: dict(grades) for query, grades in found.items()}, name, run=False)
    largest = sys.float_info.max
    finite = {
        query: {d: math.copysign(largest, score) if math.isinf(score) else score for d, score in scores.items()}
        for query, scores in found.items()
    }
    return read_dict(finite, name, run=True)
