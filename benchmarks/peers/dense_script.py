"""100,000 users x 100 ranked items with 10 relevant each as arrays: nDCG@10 and Recall@10, compared with peers;
and 6,000 users x 3,700 scores, cut at 10 and 20, compared with selecting the first 20 of each row with NumPy.

pytrec_eval is given dicts, with and without the time to build them; ranx its own objects, after a first evaluation that
compiles; torchmetrics flat tensors with the number of the user. Slow ones do a share of the users, and are scaled.
"""

import gc
import importlib.util
import time
from collections.abc import Callable

import numpy as np

USERS, RANKED, RELEVANT, ITEMS = 100_000, 100, 10, 1 << 14
REPETITIONS = 5
SHARE = {"pytrec_eval": 5, "ranx": 20, "torchmetrics": 100}


def best_of(work: Callable[[], object], repetitions: int = REPETITIONS) -> float:
    times = []
    for _ in range(repetitions):
        gc.collect()
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def say(what: str, seconds: float) -> None:
    print("seconds", what, seconds, sep="\t", flush=True)


def scores() -> None:
    """Truth as lists of items, and as a matrix of labels; all numbers are checked by a full sort."""
    import gainful

    rng, (users, items, judged) = np.random.default_rng(0), (6_000, 3_700, 20)
    values, labels = rng.random((users, items)), np.zeros((users, items))
    relevant = np.stack([rng.permutation(items)[:judged] for _ in range(users)])
    np.put_along_axis(labels, relevant, rng.integers(1, 4, relevant.shape).astype(float), 1)
    measures = ["nDCG@10", "nDCG@20", "R@20"]
    first = np.take_along_axis(labels, np.argsort(-values, axis=1)[:, :20], 1)
    discounts = np.log2(np.arange(2, 22))
    best = -np.sort(-np.take_along_axis(labels, relevant, 1), axis=1)
    ndcg = [float(np.mean((first / discounts)[:, :k].sum(1) / (best / discounts)[:, :k].sum(1))) for k in (10, 20)]
    for what, truth in (("items", {"relevant_items": relevant}), ("labels", {"relevance": labels})):
        found = gainful.evaluate_arrays(values, measures=measures, **truth)
        assert abs(found.mean("R@20") - (first > 0).mean() * 20 / judged) < 1e-9
        if what == "labels":
            assert np.allclose([found.mean("nDCG@10"), found.mean("nDCG@20")], ndcg)
        say(
            f"gainful, {what}", best_of(lambda truth=truth: gainful.evaluate_arrays(values, measures=measures, **truth))
        )
    say("argpartition", best_of(lambda: np.argpartition(-values, 20, axis=1)[:, :20]))


def main() -> None:
    import gainful

    rng = np.random.default_rng(0)

    def distinct(first: np.ndarray, size: int) -> np.ndarray:
        """Items in steps that share no factor with their number, so that a row has none twice."""
        return (first + (2 * rng.integers(0, ITEMS // 2, (USERS, 1)) + 1) * np.arange(size)) % ITEMS

    ranked = distinct(rng.integers(0, ITEMS, (USERS, 1)), RANKED)
    relevant = distinct(ranked[:, 3:4], RELEVANT)
    measures = ["nDCG@10", "R@10"]
    kwargs = {"ranked_items": ranked, "relevant_items": relevant, "measures": measures}
    found = gainful.evaluate_arrays(**kwargs)
    say("gainful", best_of(lambda: gainful.evaluate_arrays(**kwargs)))

    def dicts(users: int) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
        qrels = {str(u): {str(item): 1 for item in relevant[u].tolist()} for u in range(users)}
        scores = [float(RANKED - rank) for rank in range(RANKED)]
        run = {str(u): dict(zip(map(str, ranked[u].tolist()), scores, strict=True)) for u in range(users)}
        return qrels, run

    def means(ndcg: float, recall: float, users: int) -> None:
        for measure, mean in zip(measures, (ndcg, recall), strict=True):
            by_user = found.by_query(measure)
            ours = np.mean([by_user[str(user)] for user in range(users)])
            assert abs(ours - mean) < 1e-5, (measure, ours, mean)

    if importlib.util.find_spec("pytrec_eval"):
        import pytrec_eval

        share = SHARE["pytrec_eval"]
        qrels, run = dicts(USERS // share)
        evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10", "recall.10"})
        values = evaluator.evaluate(run).values()
        means(*(np.mean([each[name] for each in values]) for name in ("ndcg_cut_10", "recall_10")), USERS // share)
        alone = best_of(lambda: evaluator.evaluate(run), 2) * share
        say("pytrec_eval, dicts built", alone)
        say("pytrec_eval with dicts", alone + best_of(lambda: dicts(USERS // share), 2) * share)
    if importlib.util.find_spec("ranx"):
        from ranx import Qrels, Run, evaluate

        share = SHARE["ranx"]
        qrels, run = dicts(USERS // share)
        objects = Qrels(qrels), Run(run)
        values = evaluate(*objects, ["ndcg@10", "recall@10"])
        means(values["ndcg@10"], values["recall@10"], USERS // share)
        say("ranx warm", best_of(lambda: evaluate(*objects, ["ndcg@10", "recall@10"])) * share)
    if importlib.util.find_spec("torchmetrics"):
        import torch
        from torchmetrics.retrieval import RetrievalNormalizedDCG, RetrievalRecall

        share = SHARE["torchmetrics"]
        users = USERS // share
        hits = (ranked[:users, :, None] == relevant[:users, None, :]).any(axis=2)
        # Relevant items that no list has are not known to it: they are put last, so that its ideal has them.
        missed = [RELEVANT - row.sum() for row in hits]
        target = np.concatenate([np.append(row, np.ones(count, bool)) for row, count in zip(hits, missed, strict=True)])
        index = np.repeat(np.arange(users), [RANKED + count for count in missed])
        # Above 0: other scores do not count as retrieved.
        score = np.concatenate([np.arange(RANKED + count, 0, -1, dtype=np.float32) for count in missed])
        tensors = torch.from_numpy(score), torch.from_numpy(target.astype(np.int64)), torch.from_numpy(index)
        metrics = RetrievalNormalizedDCG(top_k=10), RetrievalRecall(top_k=10)

        def all_of_them() -> list[float]:
            values = []
            for metric in metrics:
                metric.reset()
                metric.update(tensors[0], tensors[1], indexes=tensors[2])
                values.append(float(metric.compute()))
            return values

        means(*all_of_them(), users)
        say("torchmetrics", best_of(all_of_them, 2) * share)
    scores()


main()
