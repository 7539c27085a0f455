"""Results in a FOLDER as parquet on local[2]: nDCG@10, AP and RR by gainful.spark.

Beside it the rows shuffled and sorted by query for a function that only reads; the measures as the package
recommenders computes them, a job each: lists by user and RankingMetrics of MLlib, and RR, which it has not, of the same
lists; and all three as formulas in one query of Spark SQL.
"""

import math
import os
import sys
import time
from collections.abc import Callable, Mapping

import numpy as np

REPETITIONS = 3
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

RR = """
coalesce(1 / array_min(filter(transform(relevant, each -> array_position(ranked, each)), place -> place > 0)), 0)
"""


def best(works: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """The best time of each, taken in turns."""
    times: dict[str, float] = {}
    for _ in range(REPETITIONS):
        for name, work in works.items():
            start = time.perf_counter()
            work()
            times[name] = min(time.perf_counter() - start, times.get(name, math.inf))
    return times


def main(folder: str) -> None:
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
        rows = judgments.withColumnRenamed("grade", "score").unionByName(results)
        rows.repartition("query").sortWithinPartitions("query").mapInArrow(empty, "query string").count()

    def recommenders() -> tuple[float, ...]:
        from pyspark.mllib.evaluation import RankingMetrics

        ndcg = RankingMetrics(session.sql(LISTS).rdd).ndcgAt(10)
        ap = RankingMetrics(session.sql(LISTS).rdd).meanAveragePrecision
        (rr,) = session.sql(f"SELECT avg({RR}) FROM ({LISTS})").first()
        return ndcg, ap, rr

    assert np.allclose(list(ours().values()), recommenders(), atol=1e-9), (ours(), recommenders())
    (formulas,) = session.sql(SQL).collect()
    assert np.allclose(list(ours().values()), list(formulas), atol=1e-9), (ours(), formulas)
    works = {"gainful": ours, "shuffle": read, "recommenders": recommenders}
    works["Spark SQL"] = lambda: session.sql(SQL).collect()
    for what, seconds in best(works).items():
        print("seconds", what, seconds, sep="\t", flush=True)
    session.stop()


main(sys.argv[1])
