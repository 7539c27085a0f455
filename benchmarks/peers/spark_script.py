"""ROWS results in parquet on local[2]: nDCG@10, AP and RR by gainful.spark.

Beside it the same job with a partition function that only reads; nDCG@10 and AP (it has no RR) as the package
recommenders computes them, lists by user and RankingMetrics of MLlib; and all three as formulas in Spark SQL.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

DEPTH, RELEVANT, REPETITIONS = 100, 10, 3
SQL = """
WITH ranked AS (
    SELECT query, document, row_number() OVER (PARTITION BY query ORDER BY score DESC, document DESC) AS rank
    FROM results
), hits AS (
    SELECT *, row_number() OVER (PARTITION BY query ORDER BY rank) AS hit
    FROM ranked JOIN judgments USING (query, document)
), bases AS (
    SELECT query, count(*) AS relevant FROM judgments GROUP BY query
), ideal AS (
    SELECT query, relevant, aggregate(sequence(1, least(relevant, 10)), 0D, (sum, i) -> sum + 1 / log2(i + 1)) AS best
    FROM bases
), scores AS (
    SELECT query, sum(IF(rank <= 10, 1 / log2(rank + 1), 0)) / first(best) AS ndcg,
           sum(hit / rank) / first(relevant) AS ap, max(1 / rank) AS rr
    FROM ideal LEFT JOIN hits USING (query) GROUP BY query
)
SELECT avg(coalesce(ndcg, 0)) AS ndcg, avg(coalesce(ap, 0)) AS ap, avg(coalesce(rr, 0)) AS rr FROM scores
"""

LISTS = """
SELECT ranked, relevant FROM (
    SELECT query, collect_list(document) AS ranked FROM (
        SELECT query, document, row_number() OVER (PARTITION BY query ORDER BY score DESC) AS rank FROM results
    ) WHERE rank <= 100 GROUP BY query
) JOIN (SELECT query, collect_list(document) AS relevant FROM judgments GROUP BY query) USING (query)
"""


def best(work: Callable[[], object]) -> float:
    times = []
    for _ in range(REPETITIONS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def write(folder: Path, rows: int) -> None:
    rng = np.random.default_rng(0)
    queries = rows // DEPTH
    with pq.ParquetWriter(folder / "results.parquet", _schema("score")) as writer:
        for first in range(0, queries, 10_000):
            query = np.repeat(np.arange(first, min(queries, first + 10_000)), DEPTH)
            document = (np.tile(np.arange(DEPTH) * 7919, query.size // DEPTH) + query * 31) % 1_000_003
            columns = [pa.array(query).cast("string"), pa.array(document).cast("string"), rng.random(query.size)]
            writer.write_table(pa.table(columns, schema=_schema("score")))
    query = np.repeat(np.arange(queries), RELEVANT)
    document = (np.tile(np.arange(RELEVANT) * 7919 * 13, queries) + query * 31) % 1_000_003
    columns = [pa.array(query).cast("string"), pa.array(document).cast("string"), np.ones(query.size)]
    pq.write_table(pa.table(columns, schema=_schema("grade")), folder / "judgments.parquet")


def _schema(value: str) -> pa.Schema:
    return pa.schema([("query", pa.string()), ("document", pa.string()), (value, pa.float64())])


def main(rows: int) -> None:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    import gainful.spark

    settings = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.driver.memory": "4g"}
    settings |= {
        "spark.sql.shuffle.partitions": "8",
        "spark.log.level": "ERROR",
        "spark.pyspark.python": sys.executable,
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), rows)
        judgments, results = (session.read.parquet(f"{folder}/{name}.parquet") for name in ("judgments", "results"))
        judgments.createOrReplaceTempView("judgments")
        results.createOrReplaceTempView("results")

        def ours() -> dict[str, float]:
            found = gainful.spark.evaluate(judgments, results, ["nDCG@10", "AP", "RR"])
            values = found.aggregates()
            found.unpersist()
            return values

        def empty(batches):
            for batch in batches:
                yield batch.slice(0, 0).select(["query"])

        def read() -> None:
            found = gainful.spark.evaluate(judgments, results, ["nDCG@10", "AP", "RR"])
            found._job.rows.mapInArrow(empty, "query string").count()

        def recommenders() -> tuple[float, float]:
            from pyspark.mllib.evaluation import RankingMetrics

            return RankingMetrics(session.sql(LISTS).rdd).ndcgAt(10), RankingMetrics(
                session.sql(LISTS).rdd
            ).meanAveragePrecision

        assert np.allclose(list(ours().values())[:2], recommenders(), atol=1e-9), (ours(), recommenders())
        (formulas,) = session.sql(SQL).collect()
        assert np.allclose(list(ours().values()), list(formulas), atol=1e-9), (ours(), formulas)
        sql = ("Spark SQL", lambda: session.sql(SQL).collect())
        for what, work in (("gainful", ours), ("shuffle", read), ("recommenders", recommenders), sql):
            print("seconds", what, best(work), sep="\t", flush=True)
    session.stop()


main(int(float(sys.argv[1])))
