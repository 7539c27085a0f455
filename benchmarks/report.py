"""Results: rows with or without a target, agreement of the numbers, and notes; as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from processes import Means, Measured

#: Means of tools that evaluate alike may differ by this much; trec_eval prints four decimals.
TOLERANCE = 1e-4

MEGABYTE = 1e6


@dataclass(frozen=True)
class Row:
    """A comparison of gainful with a peer, in seconds or bytes. The limit applies to the ratio or to the value."""

    case: str
    what: str
    gainful: float
    peer_name: str
    peer: float
    limit: float | None = None
    unit: str = "s"
    limit_on: str = "ratio"

    @property
    def ratio(self) -> float:
        return self.gainful / self.peer

    @property
    def verdict(self) -> str:
        if self.limit is None:
            return ""
        value = self.ratio if self.limit_on == "ratio" else self.gainful
        return "ok" if value <= self.limit else "MISSED"

    def cells(self) -> list[str]:
        target = ""
        if self.limit is not None:
            limit = _ratio(self.limit) if self.limit_on == "ratio" else _amount(self.limit, self.unit)
            target = f"<= {limit}"
        return [
            self.case,
            self.what,
            _amount(self.gainful, self.unit),
            self.peer_name,
            _amount(self.peer, self.unit),
            _ratio(self.ratio),
            target,
            self.verdict,
        ]

    def as_json(self) -> dict[str, object]:
        return {**vars(self), "ratio": self.ratio, "verdict": self.verdict}


@dataclass(frozen=True)
class Agreement:
    """Whether a tool's means equal gainful's."""

    case: str
    tool: str
    difference: float  # the largest, NaN if something is missing

    @property
    def agrees(self) -> bool:
        return self.difference <= TOLERANCE

    def __str__(self) -> str:
        verdict = "agrees" if self.agrees else "DISAGREES"
        return f"{self.case}: {self.tool} {verdict} with gainful (largest difference of a mean {self.difference:.1e})"


@dataclass
class Report:
    """Results of all cases."""

    rows: list[Row] = field(default_factory=list)
    measured: list[tuple[str, Measured]] = field(default_factory=list)
    agreements: list[Agreement] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @property
    def sound(self) -> bool:
        """Whether every tool worked and all numbers agree; a missed target is not a fault of the benchmark."""
        return not self.failures and all(agreement.agrees for agreement in self.agreements)

    def keep(self, case: str, measured: dict[str, Measured]) -> None:
        """Record measurements, and compare all means with the first tool's."""
        self.measured.extend((case, one) for one in measured.values())
        first, *others = measured.values()
        for other in others:
            if other.means:
                self.agreements.append(Agreement(case, other.tool, _largest_difference(first.means, other.means)))

    def text(self) -> str:
        parts = [
            _table(
                ["case", "what", "gainful", "beside", "", "ratio", "target", ""], [row.cells() for row in self.rows]
            ),
            _table(
                ["case", "process", "whole", "cpu", "import", "read", "evaluate", "peak"],
                [_process_cells(case, one) for case, one in self.measured],
            ),
            "\n".join(map(str, self.agreements)),
            "\n".join(f"note: {note}" for note in self.notes),
            "\n".join(f"FAILED {failure}" for failure in self.failures),
        ]
        return "\n\n".join(part for part in parts if part)

    def as_json(self) -> dict[str, object]:
        return {
            "rows": [row.as_json() for row in self.rows],
            "processes": [_process_json(case, one) for case, one in self.measured],
            "agreements": [{**vars(one), "agrees": one.agrees} for one in self.agreements],
            "notes": self.notes,
            "failures": self.failures,
        }


def _largest_difference(ours: Means, theirs: Means) -> float:
    keys = {(run, measure) for means in (ours, theirs) for run in means for measure in means[run]}
    nothing = float("nan")
    differences = [
        abs(ours.get(run, {}).get(measure, nothing) - theirs.get(run, {}).get(measure, nothing))
        for run, measure in keys
    ]
    # max() would lose a NaN, a sum keeps it.
    return max(differences) if sum(differences) >= 0 else nothing


def _process_cells(case: str, one: Measured) -> list[str]:
    phases = [one.inside(phase) for phase in ("import", "read", "evaluate")]
    times = ["" if seconds == 0 else _amount(seconds, "s") for seconds in phases]
    return [case, one.tool, _amount(one.seconds, "s"), _amount(one.cpu, "s"), *times, _amount(one.peak, "B")]


def _process_json(case: str, one: Measured) -> dict[str, object]:
    samples = [
        {"seconds": sample.seconds, "cpu": sample.cpu, "peak": sample.peak, "phases": sample.answer.phases}
        for sample in one.samples
    ]
    return {"case": case, "tool": one.tool, "means": one.means, "samples": samples}


def _amount(value: float, unit: str) -> str:
    if unit != "B":
        return f"{value:.3f} s"
    return f"{value:.0f} B" if abs(value) < MEGABYTE / 2 else f"{value / MEGABYTE:.0f} MB"


def _ratio(value: float) -> str:
    return f"1/{1 / value:.3g}" if 0 < value < 1 else f"{value:.3g}"


def _table(header: list[str], rows: Sequence[list[str]]) -> str:
    if not rows:
        return ""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = [header, ["-" * width for width in widths], *rows]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)
