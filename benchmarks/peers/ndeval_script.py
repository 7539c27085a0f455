"""QRELS: alpha-nDCG@20 of a simulated run with 1,000 documents per query, in gainful and pyndeval, from memory."""

import random
import sys
import time

import pyndeval

from gainful import Policy, Qrels, Run, evaluate

MEASURE, REPETITIONS = "alpha-nDCG@20", 5


def main(path: str) -> None:
    qrels, rng = Qrels.read(path), random.Random(1)
    rows = [
        (
            qrels.query_ids[int(qrels.query[row])].decode(),
            qrels.subtopic_ids[int(qrels.subtopic[row])].decode(),
            qrels.document(row).decode(),
            int(qrels.grade[row] > 0),
        )
        for row in range(len(qrels))
    ]
    judged: dict[str, set[str]] = {}
    for query, _, document, _ in rows:
        judged.setdefault(query, set()).add(document)
    lists = {
        query: [*rng.sample(sorted(documents), min(200, len(documents))), *(f"x{i}" for i in range(800))]
        for query, documents in judged.items()
    }
    scored = [
        (query, document, -float(rank)) for query, ranked in lists.items() for rank, document in enumerate(ranked)
    ]
    run, policy = Run.from_dict(lists), Policy(subtopics=True)
    ours, theirs = [], []
    for _ in range(REPETITIONS):
        start = time.perf_counter()
        found = evaluate(qrels, run, MEASURE, policy=policy)
        ours.append(time.perf_counter() - start)
        start = time.perf_counter()
        expected = pyndeval.ndeval(rows, scored, measures=[MEASURE])
        theirs.append(time.perf_counter() - start)
    values = found.by_query(MEASURE)
    if any(abs(values[query] - scores[MEASURE]) > 1e-9 for query, scores in expected.items()):
        raise SystemExit("values differ")
    print("seconds", "gainful", min(ours), sep="\t")
    print("seconds", "pyndeval", min(theirs), sep="\t")


main(*sys.argv[1:])
