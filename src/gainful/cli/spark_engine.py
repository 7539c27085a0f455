"""`--engine spark`: runs and judgments read by Spark, and scores written by Spark."""

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
#: Any of these in the environment shows that Spark is configured or has started this process.
_SET_UP = ("PYSPARK_GATEWAY_PORT", "SPARK_HOME", "SPARK_CONF_DIR", "SPARK_REMOTE")
#: Spark's reader by file extension; folders and patterns without an extension are parquet.
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
    """Evaluate runs on Spark, which also writes per-query values to the folder ``written_to``, if given."""
    inputs = reading.inputs
    for name in ("exclude", "features", "items", "training", "intents"):
        if getattr(inputs, name) is not None:
            raise UsageError(f"--{name.replace('features', 'feature')} cannot be used with --engine spark")
    try:
        from pyspark.sql import SparkSession

        from gainful import spark
    except ImportError as error:
        hint = f"pip install 'gainful[spark]'; {_JAVA}"
        raise MissingExtraError("--engine spark needs the packages pyspark and pyarrow", hint) from error
    session = _session(SparkSession, master)
    # Read local judgments in a format that Spark cannot read.
    if os.path.isfile(qrels) and _reader(qrels, inputs.qrels) is None:
        judgments = inputs.read_qrels(qrels, scale=reading.scale)
    elif reading.scale is not None:
        raise UsageError("--scale cannot be used with judgments read by Spark")
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
            except Exception as error:  # Spark raises exceptions of its own
                raise InputError(f"{written_to}: cannot be written by Spark ({_first_line(error)})") from error
        evaluation.unpersist()
    return found


def _session(builder: Any, master: str | None) -> Any:
    how = builder.builder.appName("gainful")
    # Without a master, Spark runs locally unless it is configured otherwise.
    is_local = os.environ.keys().isdisjoint(_SET_UP) if master is None else master.startswith("local")
    if is_local:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers use this Python
    if master is not None:
        how = how.remote(master) if master.startswith("sc://") else how.master(master)
    try:
        return how.getOrCreate()
    except Exception as error:  # from Spark, its Java gateway or the network
        if "JAVA_GATEWAY_EXITED" in str(error) or isinstance(error, FileNotFoundError):
            raise InputError("--engine spark: Java could not be started", _JAVA) from error
        hint = "--master names the cluster, such as local[4]"
        raise InputError(f"--engine spark: {_first_line(error)}", hint) from error


def _reader(path: str, how: Reading) -> str | None:
    """Return the extension if Spark reads the file, else None."""
    stem = path.rstrip("/").removesuffix(".gz").removesuffix(".zst")
    ending = os.path.splitext(stem)[1].lower() if how.format is None else f".{how.format}"
    return ending if ending in _READERS else None


def _read(session: Any, path: str, how: Reading, *, run: bool) -> Any:
    from gainful.io.columns import find_roles

    ending = _reader(path, how)
    if path == "-":
        raise UsageError("-: Spark cannot read standard input", "leave out --engine spark")
    if ending is None and os.path.isfile(path):
        raise InputError(f"{path}: Spark reads only parquet, CSV or JSON", "leave out --engine spark for other formats")
    kind = _READERS[ending or ".parquet"]
    options = {"header": "true", "sep": "\t" if ending == ".tsv" else ","} if kind == "csv" else {}
    try:
        frame = session.read.format(kind).options(**options).load(path)
        names = frame.columns
    except Exception as error:  # Spark raises exceptions of its own
        raise InputError(f"{path}: cannot be read by Spark ({_first_line(error)})") from error
    if kind != "csv":
        return frame
    # Read text, so that IDs keep leading zeros; invalid numbers become null, which is rejected later.
    roles = find_roles(names, how.columns, run=run, where=path)
    numbers = {names[at] for role, at in roles.items() if role in ("grade", "score", "rank")}
    number = "try_cast(`{0}` AS DOUBLE) AS `{0}`"
    return frame.selectExpr(*(number.format(name) if name in numbers else f"`{name}`" for name in names))


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
