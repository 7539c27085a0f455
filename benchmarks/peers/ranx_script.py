"""User code for ranx: QRELS RUN ... to means. numba compiles on the first run, then uses its cache."""

import sys
import time


def main(qrels_path: str, run_paths: list[str]) -> None:
    start = time.perf_counter()
    from ranx import Qrels, Run, evaluate

    imported = time.perf_counter()
    reading = evaluating = 0.0

    qrels = Qrels.from_file(qrels_path, kind="trec")
    reading += time.perf_counter() - imported
    for path in run_paths:
        began = time.perf_counter()
        run = Run.from_file(path, kind="trec")
        read = time.perf_counter()
        means = evaluate(qrels, run, ["ndcg@10", "map", "mrr"])
        for measure, key in (("nDCG@10", "ndcg@10"), ("AP", "map"), ("RR", "mrr")):
            print("mean", path, measure, float(means[key]), sep="\t")
        evaluating += time.perf_counter() - read
        reading += read - began

    for phase, seconds in (("import", imported - start), ("read", reading), ("evaluate", evaluating)):
        print("seconds", phase, seconds, sep="\t")


main(sys.argv[1], sys.argv[2:])
