"""JSON lines: the machine interface, full precision."""

from __future__ import annotations

import json
from typing import TextIO

from gainful._version import __version__
from gainful.render.report import Cell, Report


def write(report: Report, out: TextIO) -> None:
    """A header that says what was done, then one line a value."""
    out.write(json.dumps(_header(report)) + "\n")
    for evaluation in report.evaluations:
        for cells in report.rows(evaluation):
            out.writelines(json.dumps(_row(cell)) + "\n" for cell in cells)


def _header(report: Report) -> dict[str, object]:
    first = report.evaluations[0]
    return {
        "gainful": __version__,
        "signature": str(first.signature()),
        "measures": {str(measure): str(first.signature(measure)) for measure in report.measures},
        "runs": [
            {
                "run": evaluation.run,
                "path": path,
                "queries": len(evaluation.query_ids),
                "missing": len(evaluation.missing),
                "extra": len(evaluation.facts.extra_ids),
                "unjudged@10": evaluation.facts.unjudged_share,
            }
            for evaluation, path in zip(report.evaluations, report.paths, strict=True)
        ],
    }


def _row(cell: Cell) -> dict[str, object]:
    row: dict[str, object] = {"run": cell.run, "query": cell.query, "measure": str(cell.measure), "value": cell.value}
    if cell.status is not None:
        row["status"] = cell.status
    if cell.difference is not None:
        row["difference"] = cell.difference
    if cell.measure.aggregate == "sum":
        return {key: int(value) if isinstance(value, float) else value for key, value in row.items()}
    return row
