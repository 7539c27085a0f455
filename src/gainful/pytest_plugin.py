"""A plugin for pytest: the fixture ``gainful_gate``, which is :func:`gainful.testing.assert_no_regression`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from gainful.tasks.gate.gate_report import GateReport


@pytest.fixture
def gainful_gate() -> Callable[..., GateReport]:
    """Call it with a gate, judgments and a run: it fails where the run has fallen from the baseline."""
    from gainful.testing import assert_no_regression

    return assert_no_regression
