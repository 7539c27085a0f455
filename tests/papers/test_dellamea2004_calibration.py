"""Isotonic calibration on other folds, and reliability."""

from __future__ import annotations

import numpy as np
import pytest

from gainful.errors import UsageError
from gainful_papers.dellamea2004.adm_scores import calibration_error, cross_calibrated, reliability


def pooled(values: list[float], weights: list[int]) -> list[float]:
    """Pool adjacent violators, from its definition: neighbours in the wrong order become their mean."""
    blocks = [[value, weight, 1] for value, weight in zip(values, weights, strict=True)]
    at = 0
    while at + 1 < len(blocks):
        if blocks[at][0] > blocks[at + 1][0]:
            (a, m, i), (b, n, j) = blocks[at], blocks[at + 1]
            blocks[at : at + 2] = [[(a * m + b * n) / (m + n), m + n, i + j]]
            at = max(at - 1, 0)
        else:
            at += 1
    return [float(value) for value, _, count in blocks for _ in range(int(count))]


@pytest.mark.parametrize("seed", range(3))
def test_against_pooling_by_hand(seed: int) -> None:
    """Tied scores count as one, with the mean of what they are worth."""
    random = np.random.default_rng(seed)
    scores = np.round(random.random(60), 1 if seed else 3)
    truth = (random.random(60) < scores).astype(float)
    fold = np.arange(60) % 4
    found = cross_calibrated(scores, truth, fold)
    for i in range(60):
        others = [j for j in range(60) if fold[j] != fold[i]]
        known = sorted({float(scores[j]) for j in others})
        groups = [[truth[j] for j in others if scores[j] == score] for score in known]
        fitted = pooled([float(np.mean(group)) for group in groups], [len(group) for group in groups])
        assert found[i] == pytest.approx(np.interp(scores[i], known, fitted), abs=1e-12)


def test_calibrated_scores_mean_what_they_say() -> None:
    random = np.random.default_rng(0)
    scores = random.random(8000)
    truth = (random.random(8000) < scores**3).astype(float)
    found = cross_calibrated(scores, truth, np.arange(8000) % 5)
    assert calibration_error(found, truth) < 0.03 < 0.2 < calibration_error(scores, truth)
    means, worth, count = reliability(found, truth)
    assert count.sum() == 8000 and np.abs(means - worth).max() < 0.1


def test_one_fold_has_nothing_to_learn_from() -> None:
    with pytest.raises(UsageError, match="expected several folds"):
        cross_calibrated(np.array([0.1, 0.2]), np.array([0.0, 1.0]), np.array([0, 0]))
