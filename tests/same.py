"""Comparison of two evaluations to the last digit and word."""

from __future__ import annotations

import numpy as np

from gainful import Evaluation


def assert_same(one: Evaluation, other: Evaluation) -> None:
    assert one.query_ids == other.query_ids and one.policy == other.policy
    np.testing.assert_array_equal(one.raw, other.raw)
    np.testing.assert_array_equal(one.answered, other.answered)
    assert one.facts == other.facts and one.notices == other.notices
    for measure in one.measures:
        assert one.aggregate(measure) == other.aggregate(measure)
        assert str(one.signature(measure)) == str(other.signature(measure))
