"""Spark gives the same digits, notices (but the range of ties), signatures and errors as one machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet
import pytest

import gainful
from gainful import InputError, Policy, UsageError, spark as on_spark
from gainful.cli.main import run as command
from tests.same import assert_same

pytestmark = pytest.mark.filterwarnings("ignore")
BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"
SHARED_DATA = Path(__file__).parents[2].parent / "shared" / "data"
MEASURES = ["nDCG@10", "AP", "RR", "NumRet", "GMAP", "NDPM", "SwetsE"]


def collection(seed: int) -> tuple[pa.Table, pa.Table]:
    """Judgments, and results with ties, ranks, queries without judgments and one with half of all rows."""
    random = np.random.default_rng(seed)
    judged: dict[str, list[Any]] = {"query": [], "document": [], "grade": []}
    found: dict[str, list[Any]] = {"query": [], "document": [], "score": []}
    for place in range(24):
        query = f"q{place * 7 % 24}"
        if place < 20:
            judged["query"] += [query] * 12
            judged["document"] += [f"d{d}" for d in random.permutation(60)[:12]]
            judged["grade"] += random.integers(0, 3 if place else 4, 12).tolist()  # the highest grade is in one query
        if place > 2:
            size = 400 if place == 5 else 20
            found["query"] += [query] * size
            found["document"] += [f"d{d}" for d in random.permutation(size)]
            found["score"] += (random.integers(0, 9, size) / 3).tolist()
    order = random.permutation(len(found["query"]))
    return pa.table(judged), pa.table(found).take(order)


@pytest.fixture(scope="module")
def frames(spark: Any) -> tuple[pa.Table, pa.Table, Any, Any]:
    qrels, run = collection(1)
    return qrels, run, spark.createDataFrame(qrels), spark.createDataFrame(run)


def test_the_same_as_on_one_machine(frames: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    qrels, run, judged, results = frames
    for partitions, block, policy in (
        (None, 1 << 18, None),
        (1, 30, Policy(missing="skip", depth=10, ties="docid-asc")),
        (25, 1, Policy(undefined="skip", unjudged="condensed")),  # more than there are queries
    ):
        monkeypatch.setattr(on_spark, "BLOCK", block)
        whole = gainful.evaluate(qrels, run, MEASURES, policy=policy, name="run")
        found = on_spark.evaluate(judged, results, MEASURES, policy=policy, partitions=partitions)
        assert_same(found.collect(), whole)
        if partitions != 25:
            for measure, value in found.aggregates().items():
                np.testing.assert_equal(value, whole.aggregate(measure))
            rows = found.by_query.toArrow().to_pylist()
            assert {row["run"] for row in rows} == {"run"} and len(rows) == len(MEASURES) * 20
            for each in whole.measures:
                by_query = {row["query"]: row["value"] for row in rows if row["measure"] == str(each)}
                assert by_query == whole.by_query(each)
        found.unpersist()


def test_blocks_without_judgments_say_nothing_of_judgments(spark: Any) -> None:
    """Only relevant documents are judged, of 3 of 30 queries: most partitions have results alone."""
    qrels = pa.table({"query": ["q0", "q1", "q2"], "document": ["d0"] * 3, "grade": [1] * 3})
    queries = [f"q{query}" for query in range(30) for _ in range(5)]
    run = pa.table({"query": queries, "document": [f"d{d}" for d in range(5)] * 30, "score": [1.0, 2, 3, 4, 5] * 30})
    found = on_spark.evaluate(spark.createDataFrame(qrels), spark.createDataFrame(run), "AP", partitions=16).collect()
    assert_same(found, gainful.evaluate(qrels, run, "AP", name="run"))
    assert not any("unjudged" in notice for notice in found.notices)


def test_several_systems(spark: Any, frames: Any) -> None:
    qrels, run, judged, _ = frames
    tables = {"b m's": run, "a\\b": run.slice(0, 300), "short": run.filter(pa.compute.equal(run["query"], "q5"))}
    together = pa.concat_tables(
        [table.append_column("system", pa.array([name] * table.num_rows)) for name, table in tables.items()]
    )
    results = spark.createDataFrame(together)
    found = on_spark.evaluate_runs(judged, results, ["AP", "R@5"], system="system").collect()
    assert sorted(found) == sorted(tables)
    for name, table in tables.items():
        assert_same(found[name], gainful.evaluate(qrels, table, ["AP", "R@5"], name=name))
    some = on_spark.evaluate_runs(judged, results, "AP", system="system", systems=["short"])
    assert list(some.aggregates()) == ["short"]
    with pytest.raises(UsageError, match="system: expected a column of query, document, score, system, found 'tag'"):
        on_spark.evaluate_runs(judged, results, "AP", system="tag")
    gaps = spark.createDataFrame(together.set_column(3, "system", pa.array([None] * together.num_rows, pa.string())))
    with pytest.raises(InputError, match="column 'system' contains null"):
        on_spark.evaluate_runs(judged, gaps, "AP", system="system")


@pytest.mark.parametrize("name", ["robust2005", "dl-hard"])
def test_real_collections(spark: Any, name: str) -> None:
    if not SHARED_DATA.is_dir():
        pytest.skip("no real collections beside the checkout (../shared/data)")
    folder = SHARED_DATA / name
    qrels = gainful.Qrels.read(next(path for path in sorted(folder.glob("*qrels*")) if path.is_file()))
    runs = [path for path in sorted(folder.rglob("*.gz")) if ".eval" not in path.name]
    run = gainful.Run.read(runs[0])
    query = np.repeat(run.queries, np.diff(run.list_offsets))
    documents = [run.document(row).decode() for row in range(len(run))]
    table = pa.table({"query": query, "document": documents, "score": run.score, "rank": run.rank})
    spark.conf.set(BATCH, "1000")  # 50 are for small tables
    try:
        found = on_spark.evaluate(qrels, spark.createDataFrame(table), ["nDCG@10", "AP", "RR"]).collect()
    finally:
        spark.conf.unset(BATCH)
    assert_same(found, gainful.evaluate(qrels, table, ["nDCG@10", "AP", "RR"], name="run"))


def test_other_columns_and_local_judgments(spark: Any, frames: Any) -> None:
    qrels, run, _, _ = frames
    numbers = pa.array(range(run.num_rows))
    named = run.rename_columns(["visitor", "item's `id`", "stars"]).append_column("rank", numbers)
    columns = {"run.query": "visitor", "run.document": "item's `id`", "run.score": "stars"}
    found = on_spark.evaluate(qrels, spark.createDataFrame(named), "AP", columns=columns).collect()
    assert_same(found, gainful.evaluate(qrels, named, "AP", columns=columns, name="run"))
    assert found.facts.rank_conflicts
    ranked = pa.table({"query": run["query"], "document": run["document"], "rank": numbers})
    ungraded = qrels.drop_columns(["grade"])
    found = on_spark.evaluate(spark.createDataFrame(ungraded), spark.createDataFrame(ranked), "AP").collect()
    whole = gainful.evaluate(gainful.Qrels.from_frame(ungraded, name="judgments"), ranked, "AP", name="run")
    assert_same(found, whole)
    numbered = {1: {7: 1}, 2: {8: 0.5}}
    results = spark.createDataFrame(pa.table({"query": [1, 1, 2], "document": [7, 9, 8], "score": [1.0, 2.0, 1.0]}))
    assert on_spark.evaluate(numbered, results, "RR").collect().by_query("RR") == {"1": 0.5, "2": 1.0}


def test_errors(spark: Any, frames: Any) -> None:
    qrels, run, judged, results = frames

    def refused(message: str, judgments: Any = judged, rows: Any = results, **how: Any) -> None:
        frame = spark.createDataFrame(rows) if isinstance(rows, pa.Table) else rows
        with pytest.raises((InputError, UsageError), match=message):
            on_spark.evaluate(judgments, frame, how.pop("measures", "AP"), **how).collect()

    at, query, document = 100, run["query"][100].as_py(), run["document"][100].as_py()
    named = f"run: query '{query}', document '{document}': "
    twice = pa.concat_tables([run, run.slice(at, 1)])
    refused(f"{named}duplicate document '{document}'", rows=twice)
    for bad in (None, float("nan")):
        scores = [bad if i == at else score for i, score in enumerate(run["score"].to_pylist())]
        with_bad = run.set_column(2, "score", pa.array(scores))
        refused(f"{named}expected a finite number as score in column 'score', found null, NaN", rows=with_bad)
    nobody = run.set_column(1, "document", pa.array([None if i == at else str(i) for i in range(run.num_rows)]))
    refused(f"query '{query}', document 'None': expected an id as document", rows=nobody)
    refused("an id as query", rows=run.set_column(0, "query", pa.array([None] * run.num_rows, pa.string())))
    refused("a number as score in column 'score', found texts", rows=run.set_column(2, "score", run["document"]))
    refused("expected a column for the document|document", rows=run.drop_columns(["document"]))
    refused("no ranked documents", rows=run.slice(0, 0))
    strangers = run.set_column(0, "query", pa.array([f"x{each}" for each in run["query"].to_pylist()]))
    refused("none of its queries is judged: the run has 'xq1', judgments has 'q0'", rows=strangers)
    again = pa.concat_tables([qrels, qrels.slice(0, 1).set_column(2, "grade", pa.array([9]))])
    where = f"query '{qrels['query'][0].as_py()}', document '{qrels['document'][0].as_py()}'"
    refused(f"judgments: {where}: conflicting grades .*: (9|[0-3]) after", spark.createDataFrame(again))
    refused("at least one judgment", spark.createDataFrame(qrels.slice(0, 0)))
    refused("expected a column for the score or the rank|score", rows=run.drop_columns(["score"]))
    refused("ties=input: the rows of a Spark DataFrame have no order", policy=Policy(ties="input"))
    refused("unknown measure", measures="nonsense")
    refused("partitions: expected at least 1, found 0", partitions=0)
    named_runs = results.selectExpr("*", "'a' AS run")
    for systems, said in (
        ("ab", "found the text 'ab'"),
        ([], "no ranked documents"),
        (["a", "a"], "duplicate name 'a'"),
    ):
        with pytest.raises((InputError, UsageError), match=said):
            on_spark.evaluate_runs(judged, named_runs, "AP", systems=systems)
    refused("found DataFrame|found dict", rows={"q": {}})
    refused("has no judged documents", {"q1": {"d1": 1}, "q2": {}})
    for policy, said in (("missing", r"3 queries \('q"), ("extra", r"4 queries \('q"), ("undefined", "undefined for")):
        measures = ["SwetsE"] if policy == "undefined" else ["AP"]
        refused(f"run: .*{said}.*{policy}=error forbids it", policy=Policy(**{policy: "error"}), measures=measures)
    strict = on_spark.evaluate(judged, results, "AP", policy=Policy(missing="error"))
    for ask in (lambda: strict.by_query, strict.aggregates):
        with pytest.raises(InputError, match="missing=error forbids it"):
            ask()
    found = on_spark.evaluate(judged, spark.createDataFrame(twice), "AP")
    with pytest.raises(Exception, match="duplicate document"):
        found.by_query.count()
        found.by_query.toArrow()


def test_a_task_that_fails_and_runs_again_counts_nothing_twice(
    frames: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    qrels, run, judged, results = frames
    original, mark = on_spark._scored_partition, str(tmp_path / "has failed")

    def failing_once(task: Any, batches: Any) -> Any:
        for batch in original(task, batches):
            yield batch
            if not os.path.exists(mark):
                open(mark, "w").close()
                os._exit(1)

    monkeypatch.setattr(on_spark, "_scored_partition", failing_once)
    found = on_spark.evaluate(judged, results, "AP", partitions=2)
    assert_same(found.collect(), gainful.evaluate(qrels, run, "AP", name="run"))
    assert os.path.exists(mark)


def test_rows_come_in_large_batches_unless_somebody_sets_their_size(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original, sizes = on_spark._scored_partition, tmp_path / "sizes"

    def measuring(task: Any, batches: Any) -> Any:
        def seen() -> Any:
            for batch in batches:
                with sizes.open("a") as out:
                    print(batch.num_rows, file=out)
                yield batch

        return original(task, seen())

    monkeypatch.setattr(on_spark, "_scored_partition", measuring)
    rows = pa.table({"query": ["q"] * 20_000, "document": range(20_000), "score": range(20_000)})
    results = spark.createDataFrame(rows)
    try:
        for most, expected in (("10000", 20_001), ("5000", 5_000)):
            spark.conf.set(BATCH, most)
            sizes.write_text("")
            found = on_spark.evaluate({"q": {"19999": 1}}, results, "RR", partitions=1)
            assert found.aggregates() == {"RR": 1.0}
            found.unpersist()
            assert (spark.conf.get(BATCH), max(map(int, sizes.read_text().split()))) == (most, expected)
    finally:
        spark.conf.unset(BATCH)


def test_few_rows_are_few_partitions(spark: Any, frames: Any) -> None:
    """However many Spark is set up for: what is kept of scores is as adaptive execution has it."""
    name = "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning"
    before, partitions = spark.conf.get(name), "spark.sql.shuffle.partitions"
    spark.conf.set(partitions, "60")
    try:
        found = on_spark.evaluate(frames[2], frames[3], "AP")
        found.collect()
        assert found._scored.rdd.getNumPartitions() < 10
        assert spark.conf.get(name) == before
    finally:
        spark.conf.set(partitions, "3")
        found.unpersist()


def test_command(
    spark: Any, frames: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    at = {name: str(tmp_path / name) for name in ("qrels", "bm25.parquet", "dense.csv", "out.parquet")}  # Spark stays
    qrels, run, judged, results = frames
    judged.write.parquet(at["qrels"])
    results.write.parquet(at["bm25.parquet"])
    results.write.option("header", True).csv(at["dense.csv"])
    lines = zip(*qrels.to_pydict().values(), strict=True)
    Path("qrels.txt").write_text("".join(f"{query} 0 {document} {grade}\n" for query, document, grade in lines))
    pyarrow.parquet.write_table(run, "local.parquet")
    asked = ("--name", "x", "-m", "nDCG@10", "-m", "AP", "--format", "csv")
    outputs = []
    for files in (("qrels.txt", "local.parquet"), (at["qrels"], at["bm25.parquet"]), ("qrels.txt", at["dense.csv"])):
        engine = () if files[1] == "local.parquet" else ("--engine", "spark", "--master", "local[2]")
        assert command(["eval", *files, *asked, *engine]) == 0
        outputs.append(capsys.readouterr())
    assert outputs[0].out == outputs[1].out == outputs[2].out
    local = "".join(line for line in outputs[0].err.splitlines(True) if "ties leave" not in line)
    assert local == outputs[1].err == outputs[2].err != ""
    by_query = ["eval", "qrels.txt", at["bm25.parquet"], "--engine", "spark", "-m", "AP", "--by-query"]
    assert command([*by_query, "-o", at["out.parquet"]]) == 0
    written = spark.read.parquet(at["out.parquet"]).toArrow().to_pylist()
    assert {row["query"]: row["value"] for row in written} == gainful.evaluate(qrels, run, "AP").by_query("AP")
    capsys.readouterr()
    for arguments, code, said in (
        ([*by_query, "-o", at["out.parquet"]], 2, "is a directory"),
        (["eval", "qrels.txt", "nothing.parquet", "--engine", "spark"], 3, "nothing.parquet: cannot be read by Spark"),
        (
            ["eval", "qrels.txt", "qrels.txt", "--engine", "spark"],
            3,
            "qrels.txt: Spark reads only parquet, CSV or JSON",
        ),
        (["eval", "qrels.txt", "-", "--engine", "spark"], 2, "-: Spark cannot read standard input"),
        (["eval", "qrels.txt", "local.parquet", "--engine", "spark", "-o", "x.parquet"], 2, "needs --by-query"),
        ([*by_query, "--loss"], 2, "--bounds, --chance and --loss are not computed by Spark"),
        ([*by_query, "--exclude", "qrels.txt"], 2, "--exclude cannot be used with --engine spark"),
        ([*by_query, "--items", "qrels.txt"], 2, "--items cannot be used with --engine spark"),
        ([*by_query, "-m", "ILD@10"], 2, "ILD@10: needs all documents of the lists, which Spark does not keep"),
        (["eval", "qrels.txt", "local.parquet", "--master", "local"], 2, "--master needs --engine spark"),
    ):
        assert command(arguments) == code
        assert said in capsys.readouterr().err


CONNECT = """
import sys
import pyarrow as pa
from pyspark.sql import SparkSession
import gainful, gainful.spark
session = SparkSession.builder.remote(sys.argv[1]).config("spark.sql.shuffle.partitions", "2").getOrCreate()
qrels = pa.table({"query": ["q1", "q2"], "document": ["d1", "d2"], "grade": [1, 2]})
run = pa.table({"query": ["q1", "q1", "q3"], "document": ["d2", "d1", "d1"], "score": [2.0, 1.0, 1.0]})
found = gainful.spark.evaluate(session.createDataFrame(qrels), session.createDataFrame(run), ["RR", "nDCG@5"])
whole = gainful.evaluate(qrels, run, ["RR", "nDCG@5"], name="run")
assert type(session).__module__.startswith("pyspark.sql.connect")
assert found.collect().raw.tolist() == whole.raw.tolist() and found.collect().notices == whole.notices
assert found.aggregates() == {"RR": 0.25, "nDCG@5": whole.mean("nDCG@5")}
assert found.by_query.count() == 4
print("connected")
session.stop()
"""


def test_spark_connect(spark: Any, connect_port: int, tmp_path: Path) -> None:
    pytest.importorskip("grpc", reason="Spark Connect needs grpcio (pip install 'pyspark[connect]')")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CONNECT, f"sc://localhost:{connect_port}"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=200,
        check=False,
    )
    assert "connected" in done.stdout, done.stderr


def test_without_java_or_pyspark(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    assert command(["eval", "qrels", "run.parquet", "--engine", "spark"]) == 2
    said = capsys.readouterr().err
    assert "--engine spark needs the packages pyspark and pyarrow" in said and "pip install 'gainful[spark]'" in said
    builder = Mock()
    builder.appName.return_value.getOrCreate.side_effect = RuntimeError("[JAVA_GATEWAY_EXITED] Java gateway exited")
    monkeypatch.setitem(sys.modules, "pyspark.sql", Mock(SparkSession=Mock(builder=builder)))
    assert command(["eval", "qrels", "run.parquet", "--engine", "spark"]) == 3
    said = capsys.readouterr().err
    assert "Java could not be started" in said and "openjdk-17-jre-headless" in said
