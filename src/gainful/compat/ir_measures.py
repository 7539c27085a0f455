"""gainful as a provider of ir_measures: importing this module is all there is to do.

>>> import ir_measures
>>> import gainful.compat.ir_measures
>>> qrels, run = {"q1": {"d1": 1, "d2": 0}}, {"q1": {"d1": 2.0, "d2": 2.0}}
>>> ir_measures.calc_aggregate([ir_measures.RR, ir_measures.RR @ 10], qrels, run)[ir_measures.RR @ 10]
0.5

From then on ordinary calls of ir_measures take the measures that gainful has from it, and all others from the providers
that they came from before. Equal scores are ordered by descending document id whatever the measure; everything else is
as ir_measures has it: the conventions of trec_eval 9.0.8, and 0 for queries that the run does not answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from gainful.data.graded import GradedRun, join
from gainful.data.judged import Judged
from gainful.data.qrels import Qrels
from gainful.data.run import Run
from gainful.errors import InputError, MissingExtraError, UsageError
from gainful.gains import Gain
from gainful.io.rows import FrameRows, Rows, packed, read_id
from gainful.kernel.core import default_threads
from gainful.measures.base import Measure
from gainful.measures.block import raw_scores
from gainful.measures.catalog import find
from gainful.measures.names_ir_measures_ranx import NAMES
from gainful.policy import Policy

try:
    import ir_measures
    from ir_measures import measures as theirs, providers
except ImportError as error:
    raise MissingExtraError("gainful.compat.ir_measures needs ir_measures", "pip install ir_measures") from error

NOT_PROVIDED = providers.base.NOT_PROVIDED

#: trec_eval's conventions, which most ir_measures scores follow.
_USUAL = Policy.like("trec_eval-9")
#: The conventions with negative grades counted as judged.
_JUDGED = _USUAL.replace(negative="judged")

#: The highest grade that gdeval knows, independent of the judgments.
_GDEVAL_SCALE = 4.0

#: Judgments by sub-topic, ignoring sub-topics without relevant judged documents.
_DIVERSE = _USUAL.replace(subtopics=True)

#: gainful's names of ir_measures' measure classes.
_OURS: Mapping[type, str] = {
    getattr(theirs, f"_{name}"): known.ours for name, known in NAMES.items() if hasattr(theirs, f"_{name}")
}
_BY_SUBTOPIC = {each for each in _OURS if each.__module__.endswith("diversity")}


class Meaning(NamedTuple):
    """The gainful equivalent of an ir_measures measure (possibly depending on the grades in the judgments), and how to
    read the judgments for it."""

    measure: Callable[[list[float]], Measure]
    policy: Policy = _USUAL
    least_scale: float = 0.0


def meaning_of(measure: Any) -> Meaning | None:
    """Return the gainful equivalent of an ir_measures measure; None if there is none."""
    ours = _OURS.get(type(measure))
    if ours is None:
        return None
    # Most parameters have the same names and meanings.
    given = {name: measure[name] for name in measure.SUPPORTED_PARAMS if measure[name] not in (NOT_PROVIDED, None)}
    if given.pop("judged_only", False):
        given["unjudged"] = "condensed"
    if ours == "nDCG":
        return _meaning_of_ndcg(given)
    policy, is_of_cwl = _USUAL, "max_rel" in measure.SUPPORTED_PARAMS
    if is_of_cwl:  # it scales gains between two grades, and its dcg is always log2
        policy = _JUDGED
        given["gain"] = f"{given.pop('min_rel')}..{given.pop('max_rel', None)}"
        given.pop("dcg", None)
        if ours == "BPM" and "cutoff" in given:
            given["K"] = given.pop("cutoff")
    elif type(measure) in _BY_SUBTOPIC:
        policy = _DIVERSE
        if given["rel"] == 1:
            del given["rel"]  # gainful's default, whatever the grades
    elif ours == "Judged":
        policy = _JUDGED
    elif ours == "RBP" and "rel" not in given:
        given["gain"] = "scaled"
    elif ours == "NumRet" and "rel" in given:
        ours = "NumRelRet"
    elif ours == "SetP" and given.pop("relative"):
        ours = "SetRelP"
    elif ours == "SetF":
        # ir_measures hands beta to trec_eval, which has it where the formula has beta^2.
        given["beta"] = math.sqrt(given["beta"])
    elif ours == "Compat":
        given["depth"] = "lists"
    try:
        fixed = find(ours).measure.from_parameters(given)
    except UsageError:
        if not is_of_cwl:
            raise
        return None  # what gainful refuses and cwl-eval does not, such as an INST of users who want next to nothing
    return Meaning(lambda _: fixed, policy, _GDEVAL_SCALE if ours == "ERR" else 0.0)


def _meaning_of_ndcg(given: dict[str, Any]) -> Meaning | None:
    gains, is_exponential = given.pop("gains", {}), given.pop("dcg") == "exp-log2"
    if any(number < 0 for pair in gains.items() for number in pair):
        return None  # gains of unjudged documents, and judgments revoked

    def gain(levels: list[float]) -> Gain:
        if not gains:
            return Gain("exp2" if is_exponential else "linear")
        weights = {level: gains.get(level, level) for level in levels if level >= 0}
        return Gain.of({level: 2.0**weight - 1 if is_exponential else weight for level, weight in weights.items()})

    fixed = find("nDCG").measure.from_parameters(given)
    return Meaning(lambda levels: fixed.replace(gain=gain(levels)))


class GainfulProvider(providers.Provider):
    """The provider of gainful's measures for ir_measures."""

    NAME = "gainful"

    def supports(self, measure: Any) -> bool:
        """Whether gainful has a measure with these parameters."""
        measure.validate_params()
        return meaning_of(measure) is not None

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> GainfulEvaluator:
        return GainfulEvaluator(list(measures), ir_measures.util.QrelsConverter(qrels))


class _Group(NamedTuple):
    """Measures that read the judgments in the same way."""

    judged: Judged
    theirs: list[Any]
    ours: list[Measure]


class GainfulEvaluator(providers.Evaluator):
    """An evaluator of runs against judgments that are prepared once."""

    def __init__(self, measures: list[Any], converter: Any) -> None:
        queries, self._groups = _prepared(measures, converter)
        super().__init__(measures, queries)
        self._query_of = {read_id(query, "qrels"): query for query in queries}

    def iter_calc(self, run: Any) -> Iterator[Any]:
        """Yield the scores of a run, 0 if missing, except for pairs, which are left out as in ir_measures."""
        self._paired: set[Any] = set()
        for score in super().iter_calc(run):
            if type(score.measure) is not theirs._Accuracy or (score.query_id, score.measure) in self._paired:
                yield score

    def _iter_calc(self, run: Any) -> Iterator[Any]:
        for group, graded in zip(self._groups, self._join(ir_measures.util.RunConverter(run)), strict=False):
            scores = raw_scores(graded, group.ours, only_answered=True)
            without = np.isnan(scores)
            scores[without] = 0.0
            for place in np.flatnonzero(graded.answered).tolist():
                query = self._query_of[graded.query_ids[place]]
                for i, (measure, value) in enumerate(zip(group.theirs, scores[:, place].tolist(), strict=True)):
                    if not without[i, place]:
                        self._paired.add((query, measure))
                    yield ir_measures.Metric(query_id=query, measure=measure, value=value)

    def _join(self, converter: Any) -> list[GradedRun]:
        """Join the run with the judgments of every group; empty if they share no query."""
        if converter.predict_type()[0] == "pd_dataframe":
            try:
                return self._join_run(Run.from_frame(converter.run, columns=_RUN_COLUMNS, name="run"))
            except InputError:
                pass  # duplicate documents: the last one counts, as always in ir_measures
        lists = converter.as_dict_of_dict()
        return self._join_run(Run.from_dict(lists, name="run")) if lists else []

    def _join_run(self, run: Run) -> list[GradedRun]:
        if not self._groups or set(run.query_ids).isdisjoint(self._groups[0].judged.qrels.query_ids):
            return []
        threads = default_threads()
        return [join(group.judged, run, group.judged.policy, threads=threads) for group in self._groups]


_QRELS_COLUMNS = {"query": "query_id", "document": "doc_id", "grade": "relevance"}
_RUN_COLUMNS = {"query": "query_id", "document": "doc_id", "score": "score"}


def _prepared(measures: list[Any], converter: Any) -> tuple[list[Any], list[_Group]]:
    """Return the queries as given, and the prepared judgments; empty if nothing is judged."""
    diverse = [measure for measure in measures if type(measure) in _BY_SUBTOPIC]
    if not diverse:
        return _prepared_by_document(measures, converter)
    # The last grade of a document and sub-topic counts, as always in ir_measures.
    known = {(row.query_id, row.doc_id, getattr(row, "iteration", "0")): row for row in converter.as_namedtuple_iter()}
    rows = list(known.values())
    others = [measure for measure in measures if measure not in diverse]
    queries, groups = _prepared_by_document(others, ir_measures.util.QrelsConverter(rows))
    if rows:
        # Iterations are sub-topics; without any, all documents have the same one.
        place = FrameRows("qrels")
        names = {"query": "query_id", "document": "doc_id", "subtopic": "iteration"}
        columns: dict[str, Any] = {
            role: packed([getattr(row, name, "0") for row in rows], place.where) for role, name in names.items()
        }
        columns["grade"] = np.array([row.relevance for row in rows], np.float64)
        groups += _grouped(diverse, Qrels.from_rows(Rows.of_columns(columns, place)))
    return queries, groups


def _prepared_by_document(measures: list[Any], converter: Any) -> tuple[list[Any], list[_Group]]:
    if converter.predict_type()[0] == "pd_dataframe":
        frame = converter.qrels[list(_QRELS_COLUMNS.values())]
        try:
            groups = list(_grouped(measures, Qrels.from_frame(frame, columns=_QRELS_COLUMNS, name="qrels")))
        except InputError:
            pass  # duplicate judgments: the last one counts, as always in ir_measures
        else:
            return frame["query_id"].unique().tolist(), groups
    judgments = converter.as_dict_of_dict()
    with_grades = {query: grades for query, grades in judgments.items() if grades}
    groups = list(_grouped(measures, Qrels.from_dict(with_grades, name="qrels"))) if with_grades else []
    return list(judgments), groups


def _grouped(measures: Iterable[Any], qrels: Qrels) -> Iterator[_Group]:
    by_reading: dict[tuple[Policy, float], list[tuple[Any, Meaning]]] = {}
    for measure in measures:
        meaning = meaning_of(measure)
        if meaning is None:
            raise ValueError(f"unsupported measure {measure}")
        by_reading.setdefault((meaning.policy, meaning.least_scale), []).append((measure, meaning))
    for (policy, least_scale), pairs in by_reading.items():
        judged = Judged(replace(qrels, scale=max(qrels.scale, least_scale)), policy)
        levels = judged.levels.tolist()
        ours = [meaning.measure(levels) for _, meaning in pairs]
        for measure in ours:
            measure.check(judged.levels)
        yield _Group(judged, [measure for measure, _ in pairs], ours)


# Register before all other providers, once.
_provider = providers.register(GainfulProvider())
ir_measures.DefaultPipeline.providers = [
    _provider,
    *(other for other in ir_measures.DefaultPipeline.providers if other.NAME != _provider.NAME),
]
