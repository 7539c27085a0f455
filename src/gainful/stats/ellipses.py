"""Ellipses around points: where a group's points lie, without its few outliers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from gainful.errors import UsageError

#: What rounding leaves of a covariance that is singular.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Ellipse:
    """An ellipse around points.

    ``x`` and ``y`` are its outline, which ends where it begins; ``half_axes`` the longer and the shorter one; ``angle``
    how far the longer one is turned from the horizontal, in radians; ``inside`` how many points lie in or on it, of
    ``count``.
    """

    x: tuple[float, ...]
    y: tuple[float, ...]
    centre: tuple[float, float]
    half_axes: tuple[float, float]
    angle: float
    inside: int
    count: int


def density_ellipse(x: Sequence[float], y: Sequence[float], share: float = 0.95, points: int = 120) -> Ellipse | None:
    """The smallest ellipse around the mean, of the shape of the covariance, that holds at least a share of the points.

    With the mean m and the sample covariance S (divided by n - 1) of the n points p, it is

        {q: (q - m)' S^-1 (q - m) <= r^2},   r = the ceil(share n)-th smallest of sqrt((p - m)' S^-1 (p - m)),

    so that its outline goes through a point. No distribution is assumed. The 95 % density ellipses of dellamea2004
    (Figure 7) are the smallest that hold at least so many points; of which shape they are it leaves open.

    A point of which a value is not finite is left out. None if there are fewer than three points, or if all are on one
    line: then the covariance has no inverse. ``points`` is how many different ones the outline has.

    >>> found = density_ellipse([1, -1, 0, 0], [0, 0, 2, -2])
    >>> found.centre, [round(half, 9) for half in found.half_axes], found.inside
    ((0.0, 0.0), [2.0, 1.0], 4)
    >>> density_ellipse([1, 2, 3], [1, 2, 3]) is None
    True
    """
    _check(x, y, share, points)
    pairs = [(float(a), float(b)) for a, b in zip(x, y, strict=True) if math.isfinite(a) and math.isfinite(b)]
    if len(pairs) < 3:
        return None
    centre = _mean([a for a, _ in pairs]), _mean([b for _, b in pairs])
    away = [(a - centre[0], b - centre[1]) for a, b in pairs]
    xx, xy, yy = (
        math.fsum(values) / (len(pairs) - 1) for values in zip(*((a * a, a * b, b * b) for a, b in away), strict=True)
    )
    largest = max(abs(a) for a, _ in pairs), max(abs(b) for _, b in pairs)
    determinant = xx * yy - xy * xy
    has_no_width = any(math.sqrt(value) <= _ROUNDING * far for value, far in zip((xx, yy), largest, strict=True))
    if has_no_width or determinant <= _ROUNDING * xx * yy:
        return None
    distances = sorted((yy * a * a - 2 * xy * a * b + xx * b * b) / determinant for a, b in away)
    # Of 20 points 95 % are 19, whatever rounding makes of the product.
    reach = distances[max(1, math.ceil(share * len(pairs) - 1e-9)) - 1]
    inside = sum(distance <= reach * (1 + _ROUNDING) for distance in distances)
    long = (xx + yy) / 2 + math.hypot((xx - yy) / 2, xy)
    half_axes = math.sqrt(reach * long), math.sqrt(reach * determinant / long)
    angle = math.atan2(2 * xy, xx - yy) / 2
    outline = _outline(centre, half_axes, angle, points)
    return Ellipse(*outline, centre, half_axes, angle, inside, len(pairs))


def _check(x: Sequence[float], y: Sequence[float], share: float, points: int) -> None:
    if len(x) != len(y):
        raise UsageError(f"density_ellipse: expected as many x as y, found {len(x)} and {len(y)}")
    if not 0 < share <= 1:
        raise UsageError(f"density_ellipse: expected a share above 0 and at most 1, found {share}")
    if points < 3:
        raise UsageError(f"density_ellipse: expected at least 3 points of an outline, found {points}")


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)


def _outline(
    centre: tuple[float, float], half_axes: tuple[float, float], angle: float, points: int
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Points of an ellipse in equal steps of the angle in the circle that it is a picture of; the first comes again."""
    cosine, sine = math.cos(angle), math.sin(angle)
    steps = [2 * math.pi * i / points for i in range(points)]
    around = [(half_axes[0] * math.cos(step), half_axes[1] * math.sin(step)) for step in steps]
    x = [centre[0] + a * cosine - b * sine for a, b in around]
    y = [centre[1] + a * sine + b * cosine for a, b in around]
    return (*x, x[0]), (*y, y[0])
