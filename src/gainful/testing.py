"""An assertion for tests that a run has not regressed from the baseline of a gate."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gainful.data.qrels import QrelsLike
    from gainful.tasks.gate.baseline import RepeatsLike
    from gainful.tasks.gate.gate_report import GateReport


def assert_no_regression(
    gate: str | os.PathLike[str], qrels: QrelsLike, run: RepeatsLike, *, strict: bool = False
) -> GateReport:
    """Raise AssertionError if a run has regressed from the baseline or cannot be compared; otherwise return the report.

    ``run`` is a run as :func:`gainful.evaluate` takes it, or a list of repeated runs of one system.
    """
    from gainful.tasks.gate.baseline import check_gate

    report = check_gate(gate, qrels, run, strict=strict)
    if report.exit_code:
        raise AssertionError(report.text())
    return report
