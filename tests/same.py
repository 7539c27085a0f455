"""Comparison of two evaluations to the last digit and word."""

from __future__ import annotations

import numpy as np

from gainful import Evaluation


def assert_same(one: Evaluation, other: Evaluation) -> None:
    """Compare evaluations; the range of ties is unknown where scores come from a cluster."""
    assert one.query_ids == other.query_ids and one.policy == other.policy
    np.testing.assert_array_equal(one.raw, other.raw)
    np.testing.assert_array_equal(one.answered, other.answered)
    known = [
        [line for line in each.notices if one.tied is not None or "ties leave" not in line] for each in (one, other)
    ]
    assert one.facts == other.facts and known[0] == known[1]
    for measure in one.measures:
        assert one.aggregate(measure) == other.aggregate(measure)
        assert str(one.signature(measure)) == str(other.signature(measure))
