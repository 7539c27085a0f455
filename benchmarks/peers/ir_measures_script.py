"""User code for ir_measures: QRELS RUN ... to means."""

import sys
import time


def main(qrels_path: str, run_paths: list[str]) -> None:
    start = time.perf_counter()
    import ir_measures
    from ir_measures import AP, RR, nDCG

    imported = time.perf_counter()
    # The readers are lazy: files are read during evaluation, so the two are one phase.
    for path in run_paths:
        qrels = ir_measures.read_trec_qrels(qrels_path)
        run = ir_measures.read_trec_run(path)
        means = ir_measures.calc_aggregate([nDCG @ 10, AP, RR], qrels, run)
        for measure, mean in means.items():
            print("mean", path, measure, mean, sep="\t")
    done = time.perf_counter()

    print("seconds", "import", imported - start, sep="\t")
    print("seconds", "evaluate", done - imported, sep="\t")


main(sys.argv[1], sys.argv[2:])
