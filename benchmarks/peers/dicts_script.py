"""QRELS RUN as dicts: gainful's and pytrec_eval's RelevanceEvaluator, in one process and in turns.

Checks first that all their numbers are the same.
"""

import gc
import sys
import time

REPETITIONS = 5
THREE = ("map", "ndcg_cut_10", "recip_rank")


def seconds(work, run) -> float:
    gc.collect()
    start = time.perf_counter()
    work(run)
    return time.perf_counter() - start


def differs(ours: dict[str, dict[str, float]], theirs: dict[str, dict[str, float]]) -> bool:
    if list(ours) != list(theirs):
        return True
    return any(
        list(ours[query]) != list(values)
        or any(abs(ours[query][name] - value) > 1e-9 for name, value in values.items())
        for query, values in theirs.items()
    )


def main(qrels_path: str, run_path: str) -> None:
    import pytrec_eval

    import gainful.compat.pytrec_eval as drop_in

    with open(qrels_path) as qrels_lines, open(run_path) as run_lines:
        qrels, run = pytrec_eval.parse_qrel(qrels_lines), pytrec_eval.parse_run(run_lines)
    for what, measures in (("three", THREE), ("all", pytrec_eval.supported_measures)):
        evaluators = {
            "gainful": drop_in.RelevanceEvaluator(qrels, measures),
            "pytrec_eval": pytrec_eval.RelevanceEvaluator(qrels, measures),
        }
        ours, theirs = (evaluator.evaluate(run) for evaluator in evaluators.values())
        if differs(ours, theirs):
            sys.exit(f"{what} measures: the numbers are not the same")
        times = {name: [] for name in evaluators}
        for _ in range(REPETITIONS):
            for name, evaluator in evaluators.items():
                times[name].append(seconds(evaluator.evaluate, run))
        for name, taken in times.items():
            print("seconds", f"{name}, {what}", min(taken), sep="\t")


main(*sys.argv[1:])
