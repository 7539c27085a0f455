"""User code for pytrec_eval: QRELS RUN ... to means, with minimal imports."""

import gzip
import sys
import time


def main(qrels_path: str, run_paths: list[str]) -> None:
    start = time.perf_counter()
    import pytrec_eval

    imported = time.perf_counter()
    reading = evaluating = 0.0

    with open(qrels_path) as file:
        qrels = pytrec_eval.parse_qrel(file)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10", "map", "recip_rank"})
    reading += time.perf_counter() - imported
    for path in run_paths:
        began = time.perf_counter()
        with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as file:
            run = pytrec_eval.parse_run(file)
        read = time.perf_counter()
        scores = evaluator.evaluate(run)
        for measure, key in (("nDCG@10", "ndcg_cut_10"), ("AP", "map"), ("RR", "recip_rank")):
            # A judged query without an answer counts as 0, as with trec_eval -c.
            mean = sum(query[key] for query in scores.values()) / len(qrels)
            print("mean", path, measure, mean, sep="\t")
        evaluating += time.perf_counter() - read
        reading += read - began

    for phase, seconds in (("import", imported - start), ("read", reading), ("evaluate", evaluating)):
        print("seconds", phase, seconds, sep="\t")


main(sys.argv[1], sys.argv[2:])
