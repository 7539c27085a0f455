"""User code for gainful: QRELS RUN ... to means. Reading and evaluating are one call."""

import sys
import time


def main(qrels_path: str, run_paths: list[str]) -> None:
    start = time.perf_counter()
    import gainful

    imported = time.perf_counter()
    for path in run_paths:
        result = gainful.evaluate(qrels_path, path, ["nDCG@10", "AP", "RR"])
        for measure in ("nDCG@10", "AP", "RR"):
            print("mean", path, measure, result.mean(measure), sep="\t")
    done = time.perf_counter()

    print("seconds", "import", imported - start, sep="\t")
    print("seconds", "evaluate", done - imported, sep="\t")


main(sys.argv[1], sys.argv[2:])
