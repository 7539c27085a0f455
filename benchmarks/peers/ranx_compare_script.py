"""User code for ranx: PERMUTATIONS QRELS RUN ... to all pairs by Fisher's randomisation test."""

import sys
import time


def main(permutations: str, qrels_path: str, run_paths: list[str]) -> None:
    start = time.perf_counter()
    from ranx import Qrels, Run, compare

    imported = time.perf_counter()
    qrels = Qrels.from_file(qrels_path, kind="trec")
    runs = [Run.from_file(path, kind="trec") for path in run_paths]
    for path, run in zip(run_paths, runs, strict=True):
        run.name = path
    read = time.perf_counter()
    report = compare(
        qrels, runs, ["ndcg@10"], stat_test="fisher", n_permutations=int(permutations), make_comparable=True
    )
    done = time.perf_counter()
    for path in run_paths:
        print("mean", path, "nDCG@10", float(report.results[path]["ndcg@10"]), sep="\t")
    for phase, seconds in (("import", imported - start), ("read", read - imported), ("evaluate", done - read)):
        print("seconds", phase, seconds, sep="\t")


main(sys.argv[1], sys.argv[2], sys.argv[3:])
