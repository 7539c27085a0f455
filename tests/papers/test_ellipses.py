"""Ellipses around points against a naive computation: the inverse of the covariance, distance by distance."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gainful_papers.dellamea2004.adm_figures import density_ellipse
from tests.together import together


def cloud(seed: int, count: int, slope: float = 0.5, scale: float = 1.0) -> np.ndarray:
    draws = np.random.default_rng(seed)
    x = draws.normal(3.0, 2.0, count)
    return np.stack((scale * x, slope * x + draws.normal(-1.0, 0.7, count)))


def distances(points: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Mahalanobis' distances of places from the mean of points."""
    inverse, away = np.linalg.inv(np.cov(points)), places - points.mean(axis=1, keepdims=True)
    return np.sqrt(np.einsum("ik,ij,jk->k", away, inverse, away))


@together("case", [(1, 7, 0.5, 1.0), (2, 83, -2.0, 1.0), (3, 19, 0.0, 1.0), (4, 40, 1e-4, 5000.0), (5, 20), (6, 3)])
@together("share", [0.5, 0.95, 1.0])
def test_the_outline_is_as_far_as_the_point_that_completes_the_share(case, share):
    """It goes all the way round and ends where it begins. Of 20 points 95% are 19."""
    points = cloud(*case)
    outline = density_ellipse(*points, share)
    assert outline is not None
    needed = next(k for k in range(1, points.shape[1] + 1) if k / points.shape[1] >= share)
    reached = np.sort(distances(points, points))[needed - 1]
    assert distances(points, np.stack(outline)) == pytest.approx(np.full(121, reached), rel=1e-9)
    away = np.stack(outline) - points.mean(axis=1, keepdims=True)
    turned = np.unwrap(np.arctan2(away[1], away[0]))
    assert abs(turned[-1] - turned[0]) == pytest.approx(2 * math.pi)


@together(
    ("x", "y"),
    [
        ([], []),
        ([1.0, 2.0], [0.3, 0.1]),
        ([0.1, 0.2, 0.3, 0.7], [0.3, 0.6, 0.9, 2.1]),
        ([0.1] * 7, [0.3, 0.1, 0.2, 0.5, 0.9, 0.7, 0.8]),
        ([0.3, 0.1, 0.2, 0.5, 0.9, 0.7, 0.8], [0.1] * 7),
        ([0.1] * 7, [0.1] * 7),
    ],
)
def test_too_few_points_or_all_on_a_line(x, y):
    assert density_ellipse(np.array(x), np.array(y)) is None
