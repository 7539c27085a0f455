"""The studentised range against scipy, against Student's t and against tables."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr, stdtr
from scipy.stats import studentized_range

from gainful.errors import UsageError
from gainful.stats.tukey import studentised_range_critical, studentised_range_sf
from tests.together import together


@together(
    ("q", "systems", "df"),
    [
        (0.5, 3, 2),
        (3.0, 3, 2),
        (40.0, 3, 2),
        (3.5, 5, 196),
        (6.6, 5, 196),
        (4.0, 20, 10),
        (1.0, 20, 950),
        (5.5, 110, 27032),
        (4.0, 30, math.inf),
        (0.1, 4, math.inf),
    ],
)
def test_is_that_of_scipy(q: float, systems: int, df: float) -> None:
    found = studentised_range_sf(np.array([q]), systems, df)[0]
    assert found == pytest.approx(studentized_range.sf(q, systems, df), abs=1e-9)


@together("df", [1, 2, 5, 30, 1000, 1e6])
def test_two_systems_are_student_s_t(df: float) -> None:
    q = np.array([0.01, 0.7, 2.0, 3.5, 6.0, 9.0, 15.0])
    assert studentised_range_sf(q, 2, df) == pytest.approx(2 * stdtr(df, -q / math.sqrt(2)), rel=1e-7, abs=1e-11)


def test_two_systems_and_a_known_spread_are_normal() -> None:
    q = np.array([0.01, 1.0, 4.0, 10.0, 30.0])
    assert studentised_range_sf(q, 2) == pytest.approx(2 * ndtr(-q / math.sqrt(2)), rel=1e-9)


@together(
    ("systems", "df", "table"), [(2, 10, 3.151), (3, 10, 3.877), (5, 20, 4.232), (10, 60, 4.646), (20, math.inf, 5.012)]
)
def test_critical_values_of_the_tables(systems: int, df: float, table: float) -> None:
    critical = studentised_range_critical(0.05, systems, df)
    assert critical == pytest.approx(table, abs=0.0011)
    assert studentised_range_sf(np.array([critical]), systems, df)[0] == pytest.approx(0.05, rel=1e-9)


@together(("systems", "df"), [(2, 1), (5, 196), (110, 27032), (30, math.inf), (6, 5)])
def test_many_values_at_once_are_those_one_by_one(systems: int, df: float) -> None:
    q = np.linspace(0, 30, 801)
    together = studentised_range_sf(q, systems, df)
    assert together[::80] == pytest.approx(studentised_range_sf(q[::80], systems, df), rel=1e-8, abs=1e-10)
    assert (np.diff(together) <= 1e-10).all()


def test_ends() -> None:
    assert studentised_range_sf(np.array([0.0, math.inf, -1.0]), 4, 10).tolist() == [1, 0, 1]
    assert studentised_range_sf(np.zeros(0), 4, 10).size == 0
    assert studentised_range_sf(np.full(1000, 2.0), 4, 10) == pytest.approx(
        studentised_range_sf(np.array([2.0]), 4, 10)[0]
    )


@pytest.mark.parametrize(("systems", "df"), [(1, 5), (3, 0)])
def test_refuses(systems: int, df: float) -> None:
    with pytest.raises(UsageError, match="expected"):
        studentised_range_sf(np.array([1.0]), systems, df)
    with pytest.raises(UsageError, match="expected"):
        studentised_range_critical(0.05, systems, df)


def test_refuses_nan_and_levels_that_are_none() -> None:
    with pytest.raises(UsageError, match="NaN"):
        studentised_range_sf(np.array([math.nan]), 3, 5)
    with pytest.raises(UsageError, match="alpha"):
        studentised_range_critical(1.0, 3, 5)
