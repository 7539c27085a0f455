"""The scores that are compared, from whatever was given: judgments and runs, evaluations, or matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from gainful.data.collection import require_runs
from gainful.data.qrels import QrelsLike
from gainful.data.run import RunsLike, runs_by_name
from gainful.errors import UsageError
from gainful.evaluation.evaluate import MeasuresLike, evaluate_runs, table_of
from gainful.evaluation.notices import notices
from gainful.evaluation.report import conventions_of
from gainful.evaluation.results import Evaluation
from gainful.evaluation.score_matrix import ScoreMatrix, matrix_notices
from gainful.evaluation.scores import Scores
from gainful.evaluation.session_scores import SessionScores, scores_of_sessions
from gainful.measures.base import Measure
from gainful.notation import printable
from gainful.tasks.compare.compare_options import DEFAULT_MEASURES

if TYPE_CHECKING:
    from gainful.data.queries import QueriesLike

RUNS_IN_A_DICT = "expected the runs in a dict by their names"
HOW_TO_COMPARE = 'compare(qrels, {"old": run, "new": run}, "AP"), or evaluations by name, or a ScoreMatrix'


class GivenScores(NamedTuple):
    """Matrices by measure, those wanted, in the order wanted; the signature of runs, and what there is to notice. Of
    sessions there are no matrices, but ``sessions`` by measure."""

    matrices: dict[str, ScoreMatrix]
    signatures: tuple[str, ...]
    notices: tuple[str, ...]
    sessions: Mapping[str, SessionScores] = MappingProxyType({})

    @classmethod
    def of_evaluations(
        cls, evaluations: Mapping[str, Evaluation], measures: MeasuresLike | None, noticed: Sequence[str] = ()
    ) -> GivenScores:
        wanted = None if measures is None else _listed(measures)
        first = next(iter(evaluations.values()))
        if first.unit == "session":
            sessions = scores_of_sessions(evaluations, wanted)
            said = [line for each in sessions.values() for line in each.notices()]
            return cls({}, tuple(conventions_of(evaluations.items())), (*noticed, *said), sessions)
        scores = Scores.of(evaluations, wanted)
        return cls(dict(scores.queries), scores.conventions, (*noticed, *scores.notices))


def given_scores(
    qrels: QrelsLike | ScoreMatrix | Mapping[str, ScoreMatrix] | Mapping[str, Evaluation],
    runs: RunsLike | Mapping[str, Evaluation] | MeasuresLike | None,
    measures: MeasuresLike | None,
    reading: Mapping[str, Any],
    threads: int | None,
    queries: QueriesLike | None = None,
) -> GivenScores:
    """Scores to compare from whatever was given; ``reading`` says how runs are evaluated. What is suspicious of
    evaluations was said when they were made."""
    scores: Any = runs if _holds(runs, Evaluation) else qrels
    is_evaluations, is_matrix = _holds(scores, Evaluation), isinstance(scores, ScoreMatrix)
    if is_evaluations or is_matrix or _holds(scores, ScoreMatrix):
        if reading:
            raise UsageError(f"{next(iter(reading))}: has no meaning with scores that exist already")
        if scores is qrels and runs is not None:
            if isinstance(runs, Mapping) or measures is not None:
                raise UsageError("runs: expected none beside scores that exist already, found some")
            measures = runs
        about = None if queries is None else table_of(queries)
        if is_evaluations:
            evaluated: Mapping[str, Evaluation] = scores
            chosen = evaluated if about is None else {name: each.chosen(about) for name, each in evaluated.items()}
            return GivenScores.of_evaluations(chosen, measures)
        matrices = _wanted({scores.measure: scores} if is_matrix else scores, measures)
        if about is not None:
            matrices = {name: matrix.chosen(about) for name, matrix in matrices.items()}
        return GivenScores(matrices, (), tuple(matrix_notices(matrices)))
    if runs is None:
        raise UsageError(
            f"compare: expected judgments and runs, or scores, found only {type(qrels).__name__}",
            HOW_TO_COMPARE,
        )
    if not isinstance(runs, Mapping):
        raise UsageError(f"compare: {RUNS_IN_A_DICT}, found {type(runs).__name__}", HOW_TO_COMPARE)
    require_runs(runs)
    if isinstance(measures, Mapping) or runs_by_name(runs) is None:
        raise UsageError(f"compare: {RUNS_IN_A_DICT}, found one run after the other", HOW_TO_COMPARE)
    wanted = _listed(DEFAULT_MEASURES if measures is None else measures)
    evaluations = evaluate_runs(qrels, runs, wanted, **reading, queries=queries, threads=threads)
    return GivenScores.of_evaluations(evaluations, wanted, notices(evaluations.values()))


def _holds(value: object, kind: type) -> bool:
    """Whether a value is a dict of such things."""
    return isinstance(value, Mapping) and bool(value) and all(isinstance(each, kind) for each in value.values())


def _wanted(found: Mapping[str, ScoreMatrix], measures: MeasuresLike | None) -> dict[str, ScoreMatrix]:
    names = list(found) if measures is None else [str(measure) for measure in _listed(measures)]
    for name in names:
        if name not in found:
            raise UsageError(f"measures: no scores by '{printable(name)}'; there are {', '.join(found)}")
    return {name: found[name] for name in names}


def _listed(measures: MeasuresLike) -> list[str | Measure]:
    return [measures] if isinstance(measures, (str, Measure)) else list(measures)
