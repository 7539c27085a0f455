"""Results in parquet on local[2], in the folders FEW, MANY and perhaps MOST: nDCG@10, AP and RR by gainful.spark.

Beside it the rows shuffled and sorted by query for a function that only reads; the measures as the package
recommenders computes them, a job each: lists by user and RankingMetrics of MLlib, and RR, which it has not, of the same
lists; and all three as formulas in one query of Spark SQL.
"""

import math
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from pyspark.mllib.evaluation import RankingMetrics
from pyspark.sql import SparkSession

import gainful.spark

os.environ["PYSPARK_PYTHON"] = sys.executable
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


def turns(works: Mapping[str, Callable[[], Sequence[float]]], repetitions: int) -> dict[str, float]:
    """The best time of each, measured in turns; the results are the same."""
    times: dict[str, float] = {}
    for _ in range(repetitions):
        answers = {}
        for name, work in works.items():
            start = time.perf_counter()
            answers[name] = work()
            times[name] = min(time.perf_counter() - start, times.get(name, math.inf))
        for answer in answers.values():
            assert not answer or np.allclose(answer, answers["gainful"], rtol=0, atol=1e-9), answers
    return times


def session_of(settings: Mapping[str, str]) -> SparkSession:
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(f"spark.{name}", value)
    return builder.getOrCreate()


def works_on(session: SparkSession, folder: str) -> dict[str, Callable[[], Sequence[float]]]:
    """Measurements on the results in a folder."""
    judgments, results = (session.read.parquet(f"{folder}/{name}.parquet") for name in ("judgments", "results"))
    judgments.createOrReplaceTempView("judgments")
    results.createOrReplaceTempView("results")

    def ours() -> Sequence[float]:
        found = gainful.spark.evaluate(judgments, results, ["nDCG@10", "AP", "RR"])
        values = found.aggregates()
        found.unpersist()
        return list(values.values())

    def empty(batches):
        for batch in batches:
            yield batch.slice(0, 0).select(["query"])

    def read() -> Sequence[float]:
        rows = judgments.withColumnRenamed("grade", "score").unionByName(results)
        rows.repartition("query").sortWithinPartitions("query").mapInArrow(empty, "query string").count()
        return ()

    def recommenders() -> Sequence[float]:
        ndcg = RankingMetrics(session.sql(LISTS).rdd).ndcgAt(10)
        ap = RankingMetrics(session.sql(LISTS).rdd).meanAveragePrecision
        (rr,) = session.sql(f"SELECT avg({RR}) FROM ({LISTS})").first()
        return ndcg, ap, rr

    def formulas() -> Sequence[float]:
        return tuple(session.sql(SQL).first())

    return {"gainful": ours, "shuffle": read, "recommenders": recommenders, "Spark SQL": formulas}


def main(few: str, many: str, most: str | None = None) -> None:
    settings = {"ui.enabled": "false", "ui.showConsoleProgress": "false", "driver.memory": "4g"}
    settings |= {"sql.shuffle.partitions": "8", "log.level": "ERROR", "pyspark.python": sys.executable}
    session = session_of(settings)
    # The fewer first: so all are warm where it counts.
    found = {f"{name}, few": seconds for name, seconds in turns(works_on(session, few), 3).items()}
    found |= turns(works_on(session, many), 2)
    if most:
        found |= {"gainful, most": turns({"gainful": works_on(session, most)["gainful"]}, 1)["gainful"]}
    for what, seconds in found.items():
        print("seconds", what, seconds, sep="\t", flush=True)
    session.stop()


main(*sys.argv[1:])
