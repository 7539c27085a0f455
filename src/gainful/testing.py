"""For tests: an assertion that a run has not fallen from a gate's baseline, by the rule of `gainful gate check`."""

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
    """Fails with the gate's message where a run has fallen, or cannot be compared; else returns the report.

    ``run`` is what :func:`gainful.evaluate` takes, or a list of several runs of the same system.
    """
    from gainful.tasks.gate.baseline import check_gate

    report = check_gate(gate, qrels, run, strict=strict)
    if report.exit_code:
        raise AssertionError(report.text())
    return report
