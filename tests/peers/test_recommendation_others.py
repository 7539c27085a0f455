"""Measures of recommendation against SciPy's and scikit-learn's distances and entropies, over vectors of 0 and 1."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from scipy.stats import entropy
from sklearn.metrics.pairwise import cosine_similarity

from gainful import evaluate

GENRES, K = "abcdef", 6
ITEMS = [f"i{place}" for place in range(30)]


@pytest.mark.parametrize("seed", range(4))
def test_distances_and_shares(seed: int) -> None:
    rng = random.Random(seed)
    genres = {item: rng.sample(GENRES, rng.randint(1, 4)) for item in ITEMS}
    vectors = {item: [float(genre in of) for genre in GENRES] for item, of in genres.items()}
    users = [f"u{place}" for place in range(20)]
    run = {user: rng.sample(ITEMS, rng.randint(K, 12)) for user in users[2:]}
    qrels = {user: {item: rng.choice([0, 1]) for item in rng.sample(ITEMS, 12)} for user in users}
    past = {user: rng.sample(ITEMS, 4) for user in users}
    names = [f"{name}@{K}" for name in ("ILD", "ILD(coef=jaccard)", "Serendipity", "Gini", "Entropy")]
    found = evaluate(qrels, run, [*names, "UserCoverage"], items=genres, training=past)

    for user, items in run.items():
        shown = np.array([vectors[item] for item in items[:K]])
        assert found.by_query(names[0])[user] == pytest.approx(pdist(shown, "cosine").mean())
        assert found.by_query(names[1])[user] == pytest.approx(pdist(shown.astype(bool), "jaccard").mean())
        # As recommenders has it: unexpectedness of each item times its relevance, by the length of the list.
        unexpected = 1 - cosine_similarity(shown, np.array([vectors[item] for item in past[user]])).mean(axis=1)
        relevant = np.array([qrels[user].get(item, 0) for item in items[:K]])
        assert found.by_query(names[2])[user] == pytest.approx((unexpected * relevant).mean())

    exposure = Counter(item for items in run.values() for item in items[:K])
    counts = np.array([[float(exposure[item])] for item in ITEMS])
    # The mean difference of two items, by twice their mean.
    assert found[names[3]] == pytest.approx(pdist(counts, "cityblock").mean() / (2 * counts.mean()))
    assert found[names[4]] == pytest.approx(entropy(counts.ravel(), base=2))
    assert found.mean("UserCoverage") == len(run) / len(users)
