"""`--engine spark`: runs and judgments that Spark reads, and scores that it writes."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gainful.cli.inputs import CollectionOptions
from gainful.errors import InputError, MissingExtraError, UsageError
from gainful.io.formats import Reading

if TYPE_CHECKING:
    from gainful.data.queries import Queries
    from gainful.evaluation.evaluations import Evaluation
    from gainful.measures.base import Measure

_JAVA = "install Java 17 or later (Debian, Ubuntu: apt install openjdk-17-jre-headless), or set JAVA_HOME"
#: One of these is in the environment where Spark is set up, or has started us.
_SET_UP = ("PYSPARK_GATEWAY_PORT", "SPARK_HOME", "SPARK_CONF_DIR", "SPARK_REMOTE")
#: What Spark reads by the ending of a path; folders and patterns without any are parquet.
_READERS = {".parquet": "parquet", ".csv": "csv", ".tsv": "csv", ".json": "json", ".jsonl": "json"}


def evaluate_on_spark(
    qrels: str,
    files: Mapping[str, str],
    measures: Sequence[Measure],
    reading: CollectionOptions,
    master: str | None,
    written_to: str | None,
    queries: Queries | None,
) -> dict[str, Evaluation]:
    """The evaluations of runs; Spark writes the values of all queries to a folder, if one is named."""
    inputs = reading.inputs
    for name, given in (("exclude", inputs.exclude), ("feature", inputs.features)):
        if given is not None:
            raise UsageError(f"--{name}: not with --engine spark")
    try:
        from pyspark.sql import SparkSession

        from gainful import spark
    except ImportError as error:
        hint = f"pip install 'gainful[spark]'; {_JAVA}"
        raise MissingExtraError("--engine spark needs the packages pyspark and pyarrow", hint) from error
    session = _session(SparkSession, master)
    # Judgments that Spark reads, or those of a file here in any other format.
    if os.path.isfile(qrels) and _reader(qrels, inputs.qrels) is None:
        judgments = inputs.read_qrels(qrels, scale=reading.scale)
    elif reading.scale is not None:
        raise UsageError("--scale: with --engine spark for judgments in a file of this machine")
    else:
        judgments = _read(session, qrels, inputs.qrels, run=False)
    columns = {f"run.{role}": name for role, name in inputs.run.columns.items()}
    columns |= {f"qrels.{role}": name for role, name in inputs.qrels.columns.items()}
    found: dict[str, Evaluation] = {}
    for name, path in files.items():
        frame = _read(session, path, inputs.run, run=True)
        evaluation = spark.evaluate(judgments, frame, measures, policy=reading.policy, columns=columns, name=name)
        collected = replace(evaluation.collect(), source=path)
        found[name] = collected if queries is None else collected.chosen(queries)
        if written_to is not None:
            try:
                evaluation.by_query.write.mode("error" if len(found) == 1 else "append").parquet(written_to)
            except Exception as error:  # Spark has its own
                raise InputError(f"{written_to}: cannot be written by Spark ({_first_line(error)})") from error
        evaluation.unpersist()
    return found


def _session(builder: Any, master: str | None) -> Any:
    how = builder.builder.appName("gainful")
    # Without a master Spark is local, too, unless it is set up otherwise.
    is_local = os.environ.keys().isdisjoint(_SET_UP) if master is None else master.startswith("local")
    if is_local:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # its workers are of this Python
    if master is not None:
        how = how.remote(master) if master.startswith("sc://") else how.master(master)
    try:
        return how.getOrCreate()
    except Exception as error:  # of Spark, of its gateway to Java, of the network
        if "JAVA_GATEWAY_EXITED" in str(error) or isinstance(error, FileNotFoundError):
            raise InputError("--engine spark: Java could not be started", _JAVA) from error
        hint = "--master names the cluster, such as local[4]"
        raise InputError(f"--engine spark: {_first_line(error)}", hint) from error


def _reader(path: str, how: Reading) -> str | None:
    """The ending of what Spark is to read; None of what it does not."""
    stem = path.rstrip("/").removesuffix(".gz").removesuffix(".zst")
    ending = os.path.splitext(stem)[1].lower() if how.format is None else f".{how.format}"
    return ending if ending in _READERS else None


def _read(session: Any, path: str, how: Reading, *, run: bool) -> Any:
    from gainful.io.columns import find_roles

    ending = _reader(path, how)
    if path == "-":
        raise UsageError("-: standard input is not what Spark reads", "without --engine spark it is read")
    if ending is None and os.path.isfile(path):
        raise InputError(
            f"{path}: expected parquet, CSV or JSON, which Spark reads, found another format",
            "without --engine spark all formats are read",
        )
    kind = _READERS[ending or ".parquet"]
    options = {"header": "true", "sep": "\t" if ending == ".tsv" else ","} if kind == "csv" else {}
    try:
        frame = session.read.format(kind).options(**options).load(path)
        names = frame.columns
    except Exception as error:  # Spark has its own
        raise InputError(f"{path}: cannot be read by Spark ({_first_line(error)})") from error
    if kind != "csv":
        return frame
    # All of it is text: ids keep their zeros, and what is no number becomes null, which is refused.
    roles = find_roles(names, how.columns, run=run, where=path)
    numbers = {names[at] for role, at in roles.items() if role in ("grade", "score", "rank")}
    number = "try_cast(`{0}` AS DOUBLE) AS `{0}`"
    return frame.selectExpr(*(number.format(name) if name in numbers else f"`{name}`" for name in names))


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
