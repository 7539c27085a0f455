"""Runs whole processes and takes their time and peak memory.

Nothing heavy is loaded here, nor in any module that `run.py` loads: Linux counts what the parent holds when it starts a
child into the child's peak memory. A parent that is smaller than every child leaves no trace.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

#: Run -> measure -> mean.
Means: TypeAlias = dict[str, dict[str, float]]

#: Unit of peak memory in getrusage.
_PEAK_UNIT = 1 if sys.platform == "darwin" else 1024


class ToolFailedError(Exception):
    """A process ended with an error."""


@dataclass(frozen=True)
class Answer:
    """Output of a tool: its means, and the seconds of its phases, if measured."""

    means: Means = field(default_factory=dict)
    phases: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Tool:
    """A process to be measured and how its output is read."""

    name: str
    command: Sequence[str]
    read: Callable[[str], Answer] = lambda _: Answer()
    slow: bool = False


@dataclass(frozen=True)
class Sample:
    """One run of a process."""

    seconds: float
    cpu: float  # of all its threads
    peak: int
    answer: Answer


@dataclass(frozen=True)
class Measured:
    """All runs of a process. The best time is the one that the rest of the machine disturbed least."""

    tool: str
    samples: tuple[Sample, ...]

    @property
    def seconds(self) -> float:
        """The whole process, from its start to its end."""
        return min(sample.seconds for sample in self.samples)

    @property
    def cpu(self) -> float:
        """Processor seconds, which other processes disturb less than the time."""
        return min(sample.cpu for sample in self.samples)

    @property
    def peak(self) -> int:
        """Peak memory in bytes."""
        return max(sample.peak for sample in self.samples)

    @property
    def means(self) -> Means:
        return self.samples[0].answer.means

    def inside(self, *phases: str) -> float:
        """The best time of some phases together, as the process itself took it."""
        return min(sum(sample.answer.phases.get(phase, 0.0) for phase in phases) for sample in self.samples)


@dataclass(frozen=True)
class Repetitions:
    """Number of runs of a process."""

    fast: int = 5
    slow: int = 2


def measure(tools: Sequence[Tool], repetitions: Repetitions) -> dict[str, Measured]:
    """Runs tools in turns, so that a slow minute of the machine does not meet one of them only."""
    times = {tool.name: repetitions.slow if tool.slow else repetitions.fast for tool in tools}
    samples: dict[str, list[Sample]] = {tool.name: [] for tool in tools}
    for turn in range(max(times.values())):
        for tool in tools:
            if turn < times[tool.name]:
                samples[tool.name].append(run_once(tool))
    return {name: Measured(name, tuple(taken)) for name, taken in samples.items()}


def run_once(tool: Tool) -> Sample:
    """Runs a process from its start to its end."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        process = subprocess.Popen(tool.command, stdin=subprocess.DEVNULL, stdout=out, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        errors.seek(0)
        output, complaint = out.read().decode(), errors.read().decode(errors="replace")
    if process.returncode:
        raise ToolFailedError(f"{tool.name}: exit code {process.returncode}\n{complaint}")
    return Sample(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * _PEAK_UNIT, tool.read(output))
