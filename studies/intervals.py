"""How often intervals of coefficients hold what they are of: the value on all queries, of which samples are drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matrices import markdown, read, share

from gainful.evaluation.score_matrix import on_common, upward
from gainful.stats.agreement import agreement_of_measures

#: Two measures of the same systems and queries.
_MEASURES = {
    "ad hoc 1999, AP and P@10": ("urbano.adhoc8_ap", "urbano.adhoc8_p10"),
    "robust 2004, nDCG and AP": ("urbano.robust2004_ndcg", "urbano.robust2004_ap"),
    "web 2013, nDCG@20 and ERR@20": ("urbano.web2013_ndcg20", "urbano.web2013_err20"),
}


def orders(folder: Path, samples: int = 300, draws: int = 200) -> str:
    """How often the intervals of tau-b and Pearson's correlation hold the value on all queries, and how wide they are."""
    rng = np.random.default_rng(5)
    rows = []
    for title, files in _MEASURES.items():
        matrices, _ = on_common([read(folder, name) for name in files])
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
