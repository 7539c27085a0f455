"""A million rows from a data frame: gainful's Run, and the dicts that pytrec_eval needs, in one process."""

import gc
import random
import sys
import time
from collections.abc import Callable
from typing import Any

QUERIES = DOCUMENTS = 1_000
REPETITIONS = 5


def columns() -> dict[str, list[Any]]:
    rng = random.Random(0)
    pool = [f"MARCO_{number:08}" for number in rng.sample(range(10**8), 50_000)]
    queries = [f"q{number:06}" for number in range(QUERIES) for _ in range(DOCUMENTS)]
    documents = [document for _ in range(QUERIES) for document in rng.sample(pool, DOCUMENTS)]
    scores = [score for _ in range(QUERIES) for score in sorted((rng.random() for _ in range(DOCUMENTS)), reverse=True)]
    return {"query_id": queries, "doc_id": documents, "score": scores}


def frame(library: str, data: dict[str, list[Any]]) -> Any:
    if library == "pandas":
        import pandas

        return pandas.DataFrame(data)
    if library == "polars":
        import polars

        return polars.DataFrame(data)
    import pyarrow

    return pyarrow.table(data)


def dicts(library: str, data: Any) -> dict[str, dict[str, float]]:
    """Fast user code for pytrec_eval: columns as lists, one pass."""
    names = ("query_id", "doc_id", "score")
    lists = [data[name].to_pylist() if library == "pyarrow" else data[name].to_list() for name in names]
    run: dict[str, dict[str, float]] = {}
    for query, document, score in zip(*lists, strict=True):
        run.setdefault(query, {})[document] = score
    return run


def best(work: Callable[[], object]) -> float:
    times = []
    for _ in range(REPETITIONS):
        gc.collect()
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def main(library: str) -> None:
    import gainful

    data = frame(library, columns())
    run = gainful.Run.of(data)
    expected = dicts(library, data)
    assert len(run) == QUERIES * DOCUMENTS
    assert run.queries == sorted(expected)
    judgments = {query: dict.fromkeys(list(found)[::100], 1) for query, found in expected.items()}
    qrels = gainful.Qrels.of(judgments)
    print("seconds", "read", best(lambda: gainful.Run.of(data)), sep="\t")
    print("seconds", "evaluate", best(lambda: gainful.evaluate(qrels, data, ["nDCG@10", "AP", "RR"])), sep="\t")
    print("seconds", "dicts", best(lambda: dicts(library, data)), sep="\t")


main(sys.argv[1])
