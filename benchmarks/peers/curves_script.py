"""QRELS RUN: gain curves of a hundred runs by gainful and by a plain loop over queries, in one process.

The hundred runs are the one that is given, its scores disturbed. The loop would take long, so it is measured on a part
and scaled: its curves by the number of runs, its bootstrap by runs and draws. Checks that both find the same curves.
"""

import math
import random
import sys
import time

RUNS, DEPTH, DRAWS = 100, 1000, 1000
#: Data for the loop.
SOME_RUNS, SOME_DRAWS = 2, 20
REPETITIONS = 3


def read(path, fields):
    lists = {}
    with open(path) as lines:
        for line in lines:
            parts = line.split()
            query, document, value = (parts[i] for i in fields)
            lists.setdefault(query, {})[document] = float(value)
    return lists


def disturbed(run, seed):
    rng = random.Random(seed)
    return {query: {d: score * rng.uniform(0.5, 1.5) for d, score in found.items()} for query, found in run.items()}


def cumulated(gains, divisors):
    vector, total = [], 0.0
    for gain, divisor in zip(gains, divisors, strict=True):
        total += gain / divisor
        vector.append(total)
    return vector


def vectors_of_query(judged, found, divisors):
    """CG, DCG, nCG and nDCG of one query at every rank."""
    ranked = sorted(found, key=lambda document: (-found[document], document))[:DEPTH]
    gains = [max(judged.get(document, 0.0), 0.0) for document in ranked]
    best = sorted((grade for grade in judged.values() if grade > 0), reverse=True)[:DEPTH]
    gains += [0.0] * (DEPTH - len(gains))
    best += [0.0] * (DEPTH - len(best))
    ones = [1.0] * DEPTH
    cg, dcg, ideal_cg, ideal_dcg = (cumulated(g, by) for g in (gains, best) for by in (ones, divisors))
    ncg = [a / b for a, b in zip(cg, ideal_cg, strict=True)]
    ndcg = [a / b for a, b in zip(dcg, ideal_dcg, strict=True)]
    return cg, dcg, ncg, ndcg


def loop(qrels, run, divisors):
    """Every query's vectors, and their means: four curves."""
    by_query = [vectors_of_query(judged, run.get(query, {}), divisors) for query, judged in qrels.items()]
    count = len(by_query)
    means = [[sum(values) / count for values in zip(*(v[i] for v in by_query), strict=True)] for i in range(4)]
    return by_query, means


def bootstrap(by_query, ranks, draws):
    """The bands of four curves at some ranks, from resampled queries."""
    rng, count = random.Random(0), len(by_query)
    chosen = [[[vectors[i][rank - 1] for rank in ranks] for i in range(4)] for vectors in by_query]
    drawn = [[] for _ in range(4)]
    for _ in range(draws):
        sample = rng.choices(chosen, k=count)
        for i in range(4):
            drawn[i].append([sum(values) / count for values in zip(*(each[i] for each in sample), strict=True)])
    bands = []
    for values in drawn:
        ordered = [sorted(column) for column in zip(*values, strict=True)]
        bands.append([(column[int(0.025 * draws)], column[math.ceil(0.975 * draws) - 1]) for column in ordered])
    return bands


def main(qrels_path, run_path):
    import gainful
    from gainful.tasks.curves.averages import band_ranks

    qrels, run = read(qrels_path, (0, 2, 3)), read(run_path, (0, 2, 4))
    dicts = [disturbed(run, seed) for seed in range(RUNS)]
    judgments = gainful.Qrels.from_dict(qrels)
    runs = {f"run{i}": gainful.Run.from_dict(found) for i, found in enumerate(dicts)}
    names = ("CG", "DCG", "nCG", "nDCG")
    measures = [f"{name}@{DEPTH}" for name in names]

    ours = []
    for _ in range(REPETITIONS):
        start = time.perf_counter()
        curves = gainful.gain_curves(judgments, runs, measures, draws=DRAWS)
        ours.append(time.perf_counter() - start)

    divisors = [math.log2(rank + 1) for rank in range(1, DEPTH + 1)]
    ranks = band_ranks(DEPTH).tolist()
    start = time.perf_counter()
    looped = [loop(qrels, found, divisors) for found in dicts[:SOME_RUNS]]
    between = time.perf_counter()
    for by_query, _ in looped:
        bootstrap(by_query, ranks, SOME_DRAWS)
    done = time.perf_counter()

    for i, (_, means) in enumerate(looped):
        for name, mean in zip(names, means, strict=True):
            found = curves.curve(f"run{i}", name).values.tolist()
            if any(abs(a - b) > 1e-9 for a, b in zip(found, mean, strict=True)):
                sys.exit(f"{name}: the numbers are not the same")

    per_run = RUNS / SOME_RUNS
    print("seconds", "gainful", min(ours), sep="\t")
    print("seconds", "loop", (between - start) * per_run + (done - between) * per_run * DRAWS / SOME_DRAWS, sep="\t")


main(*sys.argv[1:])
