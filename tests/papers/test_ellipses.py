"""Ellipses around points against a naive computation: the inverse of the covariance, distance by distance."""

from __future__ import annotations

import math
import random
import statistics

import pytest

from gainful_papers.dellamea2004.adm_figures import Ellipse, density_ellipse


def cloud(seed: int, count: int, slope: float = 0.5, scale: float = 1.0) -> tuple[list[float], list[float]]:
    draws = random.Random(seed)
    x = [draws.gauss(3.0, 2.0) for _ in range(count)]
    return [scale * value for value in x], [slope * value + draws.gauss(-1.0, 0.7) for value in x]


def distances(x: list[float], y: list[float], at: list[tuple[float, float]]) -> list[float]:
    """Mahalanobis' distances of places from the mean of points, through the inverse matrix written out."""
    a, b = statistics.variance(x), statistics.covariance(x, y)
    c, d = b, statistics.variance(y)
    inverse = [[d / (a * d - b * c), -b / (a * d - b * c)], [-c / (a * d - b * c), a / (a * d - b * c)]]
    found = []
    for place in at:
        away = [place[0] - statistics.mean(x), place[1] - statistics.mean(y)]
        squared = sum(away[i] * inverse[i][j] * away[j] for i in range(2) for j in range(2))
        found.append(math.sqrt(squared))
    return found


def ellipse(x: list[float], y: list[float], share: float = 0.95, points: int = 120) -> Ellipse:
    found = density_ellipse(x, y, share, points)
    assert found is not None
    return found


CLOUDS = [(1, 7, 0.5, 1.0), (2, 83, -2.0, 1.0), (3, 19, 0.0, 1.0), (4, 40, 1e-4, 5000.0)]


class TestAgainstTheDefinition:
    @pytest.mark.parametrize("case", CLOUDS)
    @pytest.mark.parametrize("share", [0.5, 0.95, 1.0])
    def test_the_outline_is_as_far_as_the_point_that_completes_the_share(self, case, share):
        x, y = cloud(*case)
        ordered = sorted(distances(x, y, list(zip(x, y, strict=True))))
        needed = next(k for k in range(1, len(x) + 1) if k / len(x) >= share)
        found = ellipse(x, y, share)
        outline = distances(x, y, list(zip(found.x, found.y, strict=True)))
        assert outline == pytest.approx([ordered[needed - 1]] * 121, rel=1e-9)
        assert (found.inside, found.count) == (needed, len(x))
        assert found.centre == pytest.approx((statistics.mean(x), statistics.mean(y)))

    @pytest.mark.parametrize("case", CLOUDS)
    def test_half_axes_are_the_furthest_and_the_nearest_of_the_outline(self, case):
        x, y = cloud(*case)
        found = ellipse(x, y, points=20000)
        away = [math.dist(found.centre, place) for place in zip(found.x, found.y, strict=True)]
        assert found.half_axes == pytest.approx((max(away), min(away)), rel=1e-6)
        furthest = away.index(max(away))
        across, up = found.x[furthest] - found.centre[0], found.y[furthest] - found.centre[1]
        assert math.sin(math.atan2(up, across) - found.angle) == pytest.approx(0.0, abs=1e-3)

    def test_nineteen_of_twenty_are_95_per_cent(self):
        x, y = cloud(5, 20)
        assert ellipse(x, y).inside == 19
        for count in (40, 60, 100, 140, 180):
            assert ellipse(*cloud(6, count)).inside == count * 19 // 20

    def test_points_at_the_same_distance_are_all_inside(self):
        assert ellipse([1, -1, 0, 0], [0, 0, 2, -2], 0.25).inside == 4


class TestOutline:
    def test_it_ends_where_it_begins(self):
        found = ellipse(*cloud(1, 10), points=7)
        assert len(found.x) == len(found.y) == 8
        assert (found.x[0], found.y[0]) == (found.x[-1], found.y[-1])
        assert len(set(zip(found.x, found.y, strict=True))) == 7

    def test_the_order_of_points_does_not_matter(self):
        x, y = cloud(7, 30)
        order = random.Random(1).sample(range(30), 30)
        assert ellipse([x[i] for i in order], [y[i] for i in order]) == ellipse(x, y)

    def test_another_unit_only_stretches_it(self):
        x, y = cloud(8, 30)
        found, stretched = ellipse(x, y), ellipse([1000 * value for value in x], y)
        assert stretched.inside == found.inside
        assert max(stretched.x) == pytest.approx(1000 * max(found.x), rel=1e-2)
        assert max(stretched.y) == pytest.approx(max(found.y), rel=1e-2)

    def test_what_is_not_finite_is_left_out(self):
        x, y = cloud(9, 12)
        assert ellipse([*x, math.nan, 1.0], [*y, 0.0, math.inf]) == ellipse(x, y)


class TestNone:
    @pytest.mark.parametrize(
        ("x", "y"),
        [
            ([], []),
            ([1.0, 2.0], [0.3, 0.1]),
            ([1.0, 2.0, math.nan], [0.3, 0.1, 0.2]),
            ([0.1, 0.2, 0.3, 0.7], [0.3, 0.6, 0.9, 2.1]),
            ([0.1] * 7, [0.3, 0.1, 0.2, 0.5, 0.9, 0.7, 0.8]),
            ([0.3, 0.1, 0.2, 0.5, 0.9, 0.7, 0.8], [0.1] * 7),
            ([0.1] * 7, [0.1] * 7),
        ],
    )
    def test_too_few_points_or_all_on_a_line(self, x, y):
        assert density_ellipse(x, y) is None

    def test_three_points_that_are_a_triangle_are_enough(self):
        assert ellipse([0.0, 1.0, 0.0], [0.0, 0.0, 1.0]).inside == 3
