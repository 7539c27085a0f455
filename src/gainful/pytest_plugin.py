"""A pytest plugin: the fixture ``gainful_gate`` is :func:`gainful.testing.assert_no_regression`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from gainful.tasks.gate.gate_report import GateReport


@pytest.fixture
def gainful_gate() -> Callable[..., GateReport]:
    """Return a function of a gate, judgments and a run that fails if the run has regressed from the baseline."""
    from gainful.testing import assert_no_regression

    return assert_no_regression
