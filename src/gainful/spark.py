"""Evaluation of Spark DataFrames on the cluster.

Judgments and results are shuffled by query, so that each partition has both sides of its queries; the core joins them
block by block. Partitions return one row per run and query, and summaries of their blocks.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, partial, reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gainful.data.graded import JoinFacts, disjoint, join
from gainful.data.judged import Judged
from gainful.data.qrels import Qrels
from gainful.data.run import Run, empty_run
from gainful.errors import InputError, UsageError
from gainful.evaluation.evaluate import MeasuresLike, check_measures, evaluate_graded
from gainful.evaluation.evaluations import Evaluation, Evaluations
from gainful.evaluation.results import LEAST_FACTOR
from gainful.frozen import dataclass, replace
from gainful.io.columns import columns_by_side, find_roles
from gainful.io.formats import Reading
from gainful.io.frames import read_frame
from gainful.io.rows import Origin, Rows, ids_of
from gainful.kernel.arrays import Bools, Floats
from gainful.kernel.exact_sums import unrounded_sum
from gainful.measures.base import Measure
from gainful.measures.catalog import DEFAULT_MEASURES, parse_all
from gainful.notation import printable, text_of_id
from gainful.policy import Policy

if TYPE_CHECKING:
    from fractions import Fraction

#: Minimum rows per block, for efficient work in the core.
BLOCK = 1 << 18
#: In place of a system's number: a judgment, or an unrequested system.
_JUDGED, _UNKNOWN = -1, -2
#: One row per run and query, and one row per run and block, without a query, with its summary or error.
_SCHEMA = (
    "run string, query string, answered boolean, raw array<double>, value array<double>, facts binary, "
    "error string, hint string"
)


def evaluate(
    qrels: Any,
    run: Any,
    measures: MeasuresLike = DEFAULT_MEASURES,
    *,
    policy: Policy | str | None = None,
    columns: Mapping[str, str] | None = None,
    name: str = "run",
    partitions: int | None = None,
) -> SparkEvaluation:
    """Score a run in a Spark DataFrame; judgments are another, or anything that :func:`gainful.evaluate` accepts.

    Computation is lazy. ``columns`` names columns as in :func:`gainful.evaluate`; ``partitions`` is the number of
    partitions by query, by default Spark's setting.
    """
    return SparkEvaluation(*_prepared(qrels, run, measures, policy, columns, [name], partitions))


def evaluate_runs(
    qrels: Any,
    runs: Any,
    measures: MeasuresLike = DEFAULT_MEASURES,
    *,
    system: str = "run",
    systems: Sequence[str] | None = None,
    policy: Policy | str | None = None,
    columns: Mapping[str, str] | None = None,
    partitions: int | None = None,
) -> SparkEvaluations:
    """Score several runs in one DataFrame, whose column ``system`` names the run.

    ``systems`` lists their names; by default they are collected from the column first.
    """
    if system not in runs.columns:
        raise UsageError(f"system: expected a column of {', '.join(runs.columns)}, found '{system}'")
    if systems is None:
        named = runs.selectExpr(f"{_as_text(system)} AS run").distinct().toArrow()["run"].to_pylist()
        systems = sorted(each for each in named if each is not None)
        if None in named:
            raise InputError(f"runs: column '{system}' contains null")
    if isinstance(systems, str):
        raise UsageError(f"systems: expected a list of names, found the text '{systems}'")
    if not systems:
        raise empty_run("runs")
    if repeated := next((each for at, each in enumerate(systems) if each in systems[:at]), None):
        raise UsageError(f"systems: duplicate name '{repeated}'")
    return SparkEvaluations(*_prepared(qrels, runs, measures, policy, columns, systems, partitions, system))


class SparkEvaluations:
    """The scores of several runs, on the cluster.

    ``rows`` are judgments and results by query, ``task`` is the work of partitions, and ``policy`` the requested policy
    with its errors.
    """

    def __init__(self, rows: Any, task: _Task, policy: Policy) -> None:
        self._rows, self._task, self._policy = rows, task, policy

    @property
    def by_query(self) -> Any:
        """A DataFrame of per-query values under the policy: run, query, measure, value (null if left out)."""
        self._refuse()
        names = ", ".join(_text(str(measure)) for measure in self._task.measures)
        value = "IF(error IS NOT NULL, CAST(raise_error(error) AS ARRAY<DOUBLE>), value)"
        rows = self._scored.where("query IS NOT NULL OR error IS NOT NULL")
        exploded = rows.selectExpr("run", "query", f"posexplode({value}) AS (place, value)")
        return exploded.selectExpr("run", "query", f"element_at(array({names}), place + 1) AS measure", "value")

    def collect(self) -> Evaluations:
        """Collect ordinary evaluations of all queries on this machine."""
        from pyarrow import compute

        with _with_settings(self._rows.sparkSession, _LARGE_PIECES):
            found = self._scored.toArrow()
        seen, measures = self._seen(found), self._task.measures
        policy = self._policy if "score" in self._task.results.columns else self._policy.replace(order="rank")
        evaluations = {}
        for system in self._task.systems:
            rows = found.filter(compute.and_(compute.equal(found["run"], system), found["query"].is_valid()))
            ids = [text.encode() for text in rows["query"].to_pylist()]
            order = sorted(range(len(ids)), key=ids.__getitem__)
            raw = rows["raw"].combine_chunks().flatten().to_numpy().reshape(len(ids), len(measures))
            scores = np.ascontiguousarray(raw[order].T), rows["answered"].to_numpy()[order]
            queries, scale, facts = tuple(ids[at] for at in order), self._task.scale, seen[system].facts
            evaluations[system] = Evaluation(system, system, queries, measures, *scores, policy, scale, facts)
        return Evaluations(evaluations)

    def aggregates(self) -> dict[str, dict[str, float]]:
        """Return the aggregates by run and measure; only sums leave the cluster, so any number of queries is fine."""
        self._refuse()
        with _with_settings(self._rows.sparkSession, _LARGE_PIECES):
            found = self._scored.where("query IS NULL").toArrow()
        names = [str(measure) for measure in self._task.measures]
        return {
            system: dict(zip(names, map(_aggregate, self._task.measures, seen.sums), strict=True))
            for system, seen in self._seen(found).items()
        }

    def unpersist(self) -> None:
        """Remove the cached scores from Spark."""
        self._scored.unpersist()

    def _refuse(self) -> None:
        """Raise the policy's errors, which are known only once all queries are."""
        if "error" in (self._policy.missing, self._policy.undefined, self._policy.extra):
            self.collect()

    @cached_property
    def _scored(self) -> Any:
        scored = self._rows.mapInArrow(partial(_scored_partition, self._task), _SCHEMA)
        with _with_settings(scored.sparkSession, _MERGED_PARTITIONS):
            return scored.persist()

    def _seen(self, found: Any) -> dict[str, _Seen]:
        """Combine the summaries of all blocks by run; raise the first error of any block."""
        wrong = found.filter(found["error"].is_valid())
        if wrong.num_rows:
            message, hint = min(zip(wrong["error"].to_pylist(), wrong["hint"].to_pylist(), strict=True))
            raise InputError(message, hint or None)
        blocks = found.filter(found["facts"].is_valid())
        seen: dict[str, list[_Seen]] = {system: [] for system in self._task.systems}
        for system, packed in zip(blocks["run"].to_pylist(), blocks["facts"].to_pylist(), strict=True):
            seen[system].append(pickle.loads(packed))
        return {system: self._together(system, parts) for system, parts in seen.items()}

    def _together(self, system: str, parts: Sequence[_Seen]) -> _Seen:
        judged = min((part.judged for part in parts if part.judged is not None), default=None)
        extra = sorted(query for part in parts for query in part.facts.extra_ids)
        if judged is None:
            raise InputError(f"{self._task.judgments.name}: expected at least one judgment, found none")
        if not any(part.has_answers for part in parts):
            raise disjoint(system, self._task.judgments.name, [judged], extra) if extra else empty_run(system)
        facts = reduce(lambda one, other: one.merge(other, set()), (replace(p.facts, extra_ids=()) for p in parts))
        sums = [
            (sum(total for total, _ in of_parts), sum(count for _, count in of_parts))
            for of_parts in zip(*(part.sums for part in parts), strict=True)
        ]
        return _Seen(replace(facts, extra_ids=tuple(extra)), sums, judged, True)


class SparkEvaluation(SparkEvaluations):
    """The scores of one run, on the cluster."""

    def collect(self) -> Evaluation:  # type: ignore[override]
        """Collect an ordinary evaluation of all queries on this machine."""
        (found,) = super().collect().values()
        return found

    def aggregates(self) -> dict[str, float]:  # type: ignore[override]
        """Return the aggregates by measure; only sums leave the cluster, so any number of queries is fine."""
        (found,) = super().aggregates().values()
        return found


#: Spark settings: default values, and better ones for this task.
_LARGE_PIECES = {
    # Ten times the rows per batch take a sixth of the time.
    "spark.sql.execution.arrow.maxRecordsPerBatch": ("10000", "100000"),
    # Merge partitions only up to Spark's usual size; one per core would be slow to sort.
    "spark.sql.adaptive.coalescePartitions.parallelismFirst": ("true", "false"),
}
#: Without this setting cached data keeps Spark's configured number of partitions, even for few rows.
_MERGED_PARTITIONS = {"spark.sql.optimizer.canChangeCachedPlanOutputPartitioning": ("false", "true")}


@contextmanager
def _with_settings(session: Any, settings: Mapping[str, tuple[str, str]]) -> Iterator[None]:
    """Change some Spark settings temporarily, except those that the user has changed."""
    changed = {name: usual for name, (usual, _) in settings.items() if session.conf.get(name) == usual}
    for name in changed:
        session.conf.set(name, settings[name][1])
    try:
        yield
    finally:
        for name, usual in changed.items():
            session.conf.set(name, usual)


class _Side(NamedTuple):
    """The name of judgments or results in messages, and their DataFrame columns by role."""

    name: str
    columns: Mapping[str, str]


class _Task(NamedTuple):
    judgments: _Side
    results: _Side
    systems: tuple[str, ...]
    measures: tuple[Measure, ...]
    policy: Policy
    scale: float
    levels: tuple[float, ...]
    block: int


class _Seen(NamedTuple):
    """The summary of a block for one run."""

    facts: JoinFacts
    sums: Sequence[tuple[Fraction | int, int]]  # by measure: the sum, and its number of queries
    judged: bytes | None  # the first judged query
    has_answers: bool  # whether any judged query is answered


def _aggregate(measure: Measure, summed: tuple[Fraction | int, int]) -> float:
    """Return the value of :meth:`gainful.Evaluation.aggregate` for the same queries."""
    total, count = summed
    if measure.aggregate == "sum":
        return float(total)
    mean = float(total) / count if count else math.nan
    return math.exp(mean) if measure.aggregate == "geometric" else mean


def _prepared(
    qrels: Any,
    run: Any,
    measures: MeasuresLike,
    policy: Policy | str | None,
    columns: Mapping[str, str] | None,
    systems: Sequence[str],
    partitions: int | None,
    system: str | None = None,
) -> tuple[Any, _Task, Policy]:
    called, settled, wanted = columns_by_side(columns), Policy.of(policy), tuple(parse_all(measures))
    if not hasattr(run, "mapInArrow") or not hasattr(run, "toArrow"):
        raise UsageError(f"run: expected a DataFrame of Spark 4 or later, found {type(run).__name__}")
    if partitions is not None and partitions < 1:
        raise UsageError(f"partitions: expected at least 1, found {partitions}")
    results = _side(run, called["run"], systems[0] if system is None else "runs", run=True)
    for choice in ("order", "ties"):
        if getattr(settled, choice) == "input":
            message = f"{choice}=input: the rows of a Spark DataFrame have no order"
            raise UsageError(message, "add a column for the rank")
    if not {"score", "rank"} & results.columns.keys():
        raise InputError(f"{results.name}: a column for the score or the rank is needed")
    scale = None
    if not hasattr(qrels, "mapInArrow"):
        known = Qrels.of(qrels, called["qrels"])
        qrels, scale, called["qrels"] = _spark_frame(known, run.sparkSession), known.scale, {}
    judgments = _side(qrels, called["qrels"], "judgments", run=False)
    levels = {str(place): level for place, level in enumerate(_levels(qrels, judgments))}
    some = Qrels.from_dict({"-": levels}, scale=scale)
    check_measures(wanted, Judged(some, settled))
    if measure := next((each for each in wanted if "documents" in each.needed()), None):
        raise UsageError(f"{measure}: needs all documents of the lists, which Spark does not keep")
    # Partitions forgive what the policy forbids; errors are raised once all queries are known.
    instead = {"missing": "zero", "undefined": "zero", "extra": "ignore"}
    forgiving = settled.replace(**{name: each for name, each in instead.items() if getattr(settled, name) == "error"})
    task = _Task(judgments, results, tuple(systems), wanted, forgiving, some.scale, some.levels, BLOCK)
    roles = ["query", "document", "value", *({"rank", "subtopic"} & {*results.columns, *judgments.columns})]
    place = (
        "0" if system is None else f"array_position(array({', '.join(map(_text, systems))}), {_as_text(system)}) - 1"
    )
    rows = _selected(qrels, judgments, roles, f"{_JUDGED} AS place").unionByName(
        _selected(run, results, roles, f"CAST(IF({place} < 0, {_UNKNOWN}, {place}) AS INT) AS place")
    )
    shared = rows.repartition("query") if partitions is None else rows.repartition(partitions, "query")
    return shared.sortWithinPartitions("query"), task, settled


def _side(frame: Any, given: Mapping[str, str], name: str, *, run: bool) -> _Side:
    """Find the relevant columns and check that :func:`gainful.evaluate` accepts their types."""
    read_frame(frame.limit(0).toArrow(), Reading(columns=given), run=run, name=name)
    roles = find_roles(frame.columns, given, run=run, where=name)
    return _Side(name, {role: frame.columns[at] for role, at in roles.items()})


def _levels(qrels: Any, judgments: _Side) -> list[float]:
    if "grade" not in judgments.columns:
        return [1.0]
    grade = f"CAST({_quoted(judgments.columns['grade'])} AS DOUBLE) AS grade"
    found = qrels.selectExpr(grade).distinct().toArrow()["grade"].to_numpy()
    levels: list[float] = found[np.isfinite(found)].tolist()
    return levels or [1.0]  # without judgments a partition raises the error


def _spark_frame(qrels: Qrels, session: Any) -> Any:
    import pyarrow

    without = np.flatnonzero(np.bincount(qrels.query, minlength=len(qrels.query_ids)) == 0)
    if without.size:
        query = printable(qrels.query_ids[int(without[0])])
        raise InputError(f"{qrels.name}: query '{query}' has no judged documents, which Spark needs")
    queries, subtopics = (np.array([text_of_id(each) for each in ids]) for ids in (qrels.query_ids, qrels.subtopic_ids))
    columns = {
        "query": queries[qrels.query],
        "document": [text_of_id(each) for each in ids_of(qrels.document_spans)],
        "subtopic": subtopics[qrels.subtopic],
        "grade": qrels.grade,
    }
    return session.createDataFrame(pyarrow.table(columns))


def _selected(frame: Any, side: _Side, roles: Sequence[str], *others: str) -> Any:
    """Select columns by role (null if missing), and others."""
    called = {"value": side.columns.get("grade", side.columns.get("score")), **side.columns}
    kinds = {"value": "DOUBLE", "rank": "DOUBLE"}
    columns = [(called.get(role), kinds.get(role, "STRING"), role) for role in roles]
    return frame.selectExpr(
        *(f"CAST({'NULL' if name is None else _quoted(name)} AS {kind}) AS {role}" for name, kind, role in columns),
        *others,
    )


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _as_text(name: str) -> str:
    return f"CAST({_quoted(name)} AS STRING)"


def _text(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


# The rest of this module runs in the partitions.


def _scored_partition(task: _Task, batches: Iterable[Any]) -> Iterator[Any]:
    """Yield the scores of a partition, whose rows are sorted by query, and summaries of its blocks."""
    batches = iter(batches)
    try:
        for block in _whole_queries(batches, task.block):
            yield from _scored_block(task, block)
    except InputError as error:
        # Return the error as a row, because Spark would retry, and show a traceback instead of the message.
        yield _batch(1, error=[error.message], hint=[error.hint or ""])
        for _ in batches:
            pass


def _whole_queries(batches: Iterator[Any], least: int) -> Iterator[Any]:
    """Yield the rows in tables of complete queries; a query in several batches is held until its end."""
    import pyarrow
    from pyarrow import compute

    held: list[Any] = []
    count, wanted = 0, least
    for batch in batches:
        held.append(batch)
        count += batch.num_rows
        if count >= wanted:
            table = pyarrow.Table.from_batches(held)
            cut = max(0, compute.index(table["query"], table["query"][-1]).as_py())
            if cut:
                yield table.slice(0, cut)
            held, count = table.slice(cut).to_batches(), count - cut
            wanted = max(least, 2 * count)  # avoid copying a long query at every batch
    if count:
        yield pyarrow.Table.from_batches(held)


def _scored_block(task: _Task, block: Any) -> Iterator[Any]:
    """Yield the scores of some queries: per run, a batch of scores and a row with its summary."""
    place = block["place"].fill_null(_UNKNOWN).to_numpy()
    judgments = block.take(np.flatnonzero(place == _JUDGED))
    judged, known = _judged(task, judgments), judgments.num_rows > 0
    needed = {need for measure in task.measures for need in measure.needed()}
    for at, name in enumerate(task.systems):
        rows = block.take(np.flatnonzero(place == at))
        side = task.results._replace(name=name)
        run = Run.from_rows(_read(rows, side, run=True), name) if rows.num_rows else Run.without_lists(name)
        graded = join(judged, run, task.policy, want_scores="scores" in needed)
        found = evaluate_graded(graded, task.measures)
        if known:
            yield _scores(found)
        sums = [_sum(measure, found.counted(measure)[0]) if known else (0, 0) for measure in task.measures]
        seen = _Seen(found.facts, sums, found.query_ids[0] if known else None, bool(found.answered.any()))
        yield _batch(1, run=[name], facts=[pickle.dumps(seen)])


def _judged(task: _Task, rows: Any) -> Judged:
    """Return the judgments of a block; a block without any gets those of a query that no run has, so that its lists
    are still checked and counted."""
    if rows.num_rows:
        qrels = Qrels.from_rows(_read(rows, task.judgments, run=False), task.judgments.name)
    else:
        qrels = replace(Qrels.from_dict({"-": {"-": 0}}), query_ids=(b"",))
    return Judged(replace(qrels, scale=task.scale, levels=task.levels, is_part=True), task.policy)


def _read(rows: Any, side: _Side, *, run: bool) -> Rows:
    """Read judgments or a run from rows named like the DataFrame's columns."""
    names = {side.columns[role]: "value" if role in ("grade", "score") else role for role in side.columns}
    table = rows.select(list(names.values())).rename_columns(list(names))
    origin = _ClusterRows(side.name, rows)
    return read_frame(table, Reading(columns=side.columns), run=run, name=side.name, origin=origin)


@dataclass(frozen=True, eq=False)
class _ClusterRows(Origin):
    """Rows of a cluster; messages refer to them by query and document, because they have no numbers."""

    rows: Any

    def place(self, row: int) -> str:
        at = self.number_of(row)
        query, document = (printable(str(self.rows[column][at].as_py())) for column in ("query", "document"))
        return f"query '{query}', document '{document}'"


def _sum(measure: Measure, values: Floats) -> tuple[Fraction | int, int]:
    counted = np.log(np.maximum(values, LEAST_FACTOR)) if measure.aggregate == "geometric" else values
    return unrounded_sum(counted), int(values.size)


def _scores(found: Evaluation) -> Any:
    size, values = len(found.query_ids), np.stack([found.settled_scores(each) for each in found.measures], axis=1)
    columns = {"run": [found.run] * size, "query": found.queries, "answered": found.answered}
    return _batch(size, **columns, raw=_lists(found.raw.T), value=_lists(values, no_value=np.isnan(values)))


def _lists(rows: Floats, no_value: Bools | None = None) -> Any:
    import pyarrow

    flat = np.ascontiguousarray(rows).reshape(-1)
    offsets = np.arange(rows.shape[0] + 1, dtype=np.int32) * rows.shape[1]
    values = pyarrow.array(flat, mask=None if no_value is None else no_value.reshape(-1))
    return pyarrow.ListArray.from_arrays(offsets, values)


def _batch(size: int, **columns: Any) -> Any:
    import pyarrow

    text, number, values = pyarrow.string(), pyarrow.bool_(), pyarrow.list_(pyarrow.float64())
    kinds = {"run": text, "query": text, "answered": number, "raw": values, "value": values}
    kinds |= {"facts": pyarrow.binary(), "error": text, "hint": text}
    arrays = [
        pyarrow.array(columns[name], kind) if name in columns else pyarrow.nulls(size, kind)
        for name, kind in kinds.items()
    ]
    return pyarrow.RecordBatch.from_arrays(arrays, list(kinds))
