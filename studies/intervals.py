"""Coverage of intervals for coefficients: the target is the value on all queries, from which samples are drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matrices import markdown, read, share

from gainful.data.qrels import Qrels
from gainful.evaluation.score_matrix import upward
from gainful.evaluation.scores import Scores
from gainful.kernel.arrays import Floats
from gainful.stats.agreement import agreement_of_measures
from gainful.tasks.judgments.judges import CommonDocuments, Estimate

#: Two measures of the same systems and queries.
_MEASURES = {
    "ad hoc 1999, AP and P@10": ("urbano.adhoc8_ap", "urbano.adhoc8_p10"),
    "robust 2004, nDCG and AP": ("urbano.robust2004_ndcg", "urbano.robust2004_ap"),
    "web 2013, nDCG@20 and ERR@20": ("urbano.web2013_ndcg20", "urbano.web2013_err20"),
}


def orders(folder: Path, samples: int = 300, draws: int = 200) -> str:
    """Measure the coverage and width of intervals for tau-b and Pearson's correlation."""
    rng = np.random.default_rng(5)
    rows = []
    for title, files in _MEASURES.items():
        matrices = Scores.of([read(folder, name) for name in files]).on_common().matrices
        scores = {name: upward(matrix) for name, matrix in matrices.items()}
        [(queries, systems)] = {matrix.shape for matrix in scores.values()}
        for m in (5, 10, 30):
            cells = []
            for n in (25, 50):
                held, width = {"tau_b": 0, "pearson": 0}, {"tau_b": 0.0, "pearson": 0.0}
                for sample in range(samples):
                    chosen = rng.choice(systems, m, replace=False)
                    names = [str(system) for system in chosen]
                    drawn = rng.integers(0, queries, n)
                    all_of_them = {name: matrix[:, chosen] for name, matrix in scores.items()}
                    some = {name: matrix[drawn] for name, matrix in all_of_them.items()}
                    [true] = agreement_of_measures(all_of_them, names, draws=0).agreements
                    [found] = agreement_of_measures(some, names, draws=draws, seed=sample).agreements
                    for name in held:
                        value, low, high = getattr(true, name).value, *getattr(found, name)[1:3]
                        held[name] += low <= value <= high
                        width[name] += high - low
                cells.append([f"{share(held[name], samples)} ({width[name] / samples:.2f})" for name in held])
            rows.append([title, str(m), *(cell for pair in zip(*cells, strict=True) for cell in pair)])
    return markdown(["scores", "systems", "tau-b, 25 queries", "tau-b, 50", "Pearson, 25 queries", "Pearson, 50"], rows)


#: Judgments, in a sibling of the folder of matrices.
_JUDGMENTS = ("qrels.dl20-passage.txt.gz", "qrels.web.201-250.txt.gz", "qrels.beir-v1.0.0-trec-covid.test.txt.gz")


def judges(folder: Path, samples: int = 300, draws: int = 300) -> str:
    """Measure the coverage of intervals for the agreement between two judges, the second of which is simulated."""
    names = {
        "kappa": "Cohen's kappa",
        "kappa_quadratic": "kappa, quadratic weights",
        "alpha_ordinal": "alpha, ordinal",
        "agreement": "exact agreement",
        "higher": "B grades higher",
    }
    rng = np.random.default_rng(8)
    populations = [
        _two_judges(Qrels.read(folder.parent / "qrels" / name), kind, rng)
        for name in _JUDGMENTS
        for kind in ("lower", "near", "chance")
    ]
    rows = []
    for n in (10, 25, 50):
        held, of = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
        for queries in populations:
            true = _agreement(queries, 0, 0)
            for sample in range(samples):
                found = _agreement([queries[i] for i in rng.integers(0, len(queries), n)], draws, sample)
                for name in names:
                    value, low, high = true[name].value, found[name].low, found[name].high
                    if value and low is not None and high is not None:
                        held[name] += low <= value <= high
                        of[name] += 1
        rows.append([str(n), *(share(held[name], of[name]) for name in names)])
    return markdown(["queries", *names.values()], rows)


def _two_judges(qrels: Qrels, kind: str, rng: np.random.Generator) -> list[tuple[Floats, Floats]]:
    """Each query's grades, and grades of a second judge whose error rate varies strongly between queries."""
    made = []
    for query in range(len(qrels.query_ids)):
        first = np.maximum(qrels.grade[qrels.query == query], 0.0)
        errs = rng.random(first.size) < rng.beta(1, 4)
        other = {
            "lower": np.floor(first / 2),
            "near": np.clip(first + rng.choice([-1.0, 1.0], first.size), 0.0, first.max()),
            "chance": rng.choice(first, first.size),
        }[kind]
        made.append((first, np.where(errs, other, first)))
    return made


def _agreement(queries: list[tuple[Floats, Floats]], draws: int, seed: int) -> dict[str, Estimate]:
    a, b = (np.concatenate(side) for side in zip(*queries, strict=True))
    query = np.repeat(np.arange(len(queries)), [grades.size for grades, _ in queries])
    common = CommonDocuments(tuple(b"%d" % i for i in range(len(queries))), query, a, b, np.unique([a, b]))
    return common.estimates(None, draws, seed)
