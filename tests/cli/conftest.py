"""Shared fixtures of the command line: a directory with files, an in-process command, and both cores."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import gainful
from gainful.cli.main import run
from gainful.evaluation import simulation
from gainful.stats import anova, families, paired, paired_tests

SOURCES = str(Path(gainful.__file__).parents[1])


@dataclass(frozen=True)
class Result:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[dict[str, Any]]:
        """Standard output as JSON lines, of which the last says how many there are."""
        *lines, last = (json.loads(line) for line in self.out.splitlines())
        assert last == {"complete": True, "lines": len(lines)}
        return lines

    @property
    def words(self) -> str:
        """Standard output without line breaks, which depend on how wide lines are."""
        return " ".join(self.out.split())

    def rows(self, table: str) -> list[dict[str, Any]]:
        """The rows of a table, from JSON lines."""
        assert self.code == 0, self.err
        return [line for line in self.lines if line.get("table") == table and "note" not in line]

    def value(self, measure: str, query: str | None = None, run: str | None = None) -> float | None:
        """The value of one row of JSON lines."""
        assert self.code == 0, self.err
        [row] = [
            row
            for row in self.lines[1:]
            if row["measure"] == measure and row["query"] == query and run in (None, row["run"])
        ]
        return row["value"]


@dataclass
class Command:
    """The command line inside a directory of its own."""

    directory: Path
    capsys: pytest.CaptureFixture[str]
    monkeypatch: pytest.MonkeyPatch

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def __call__(self, *arguments: str, stdin: bytes = b"") -> Result:
        """Runs the command in this process."""
        self.monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        self.capsys.readouterr()
        code = run(arguments)
        captured = self.capsys.readouterr()
        return Result(code, captured.out, captured.err)

    def evaluate(self, qrels: str | bytes, lines: str | bytes, *arguments: str) -> Result:
        """Runs `gainful eval` on two texts, written to the files `qrels` and `r.run`."""
        self.write("qrels", qrels)
        self.write("r.run", lines)
        return self("eval", "qrels", "r.run", *arguments)

    def score(self, qrels: str, lines: str, measure: str, *arguments: str) -> float | None:
        """The aggregate of one measure on two texts."""
        result = self.evaluate(qrels, lines, "-m", measure, "--format", "jsonl", *arguments)
        assert result.code == 0, result.err
        assert len(result.lines) == 2
        return result.lines[1]["value"]

    def process(self, *arguments: str, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
        """Runs the command in a process of its own."""
        return subprocess.run(
            [sys.executable, "-m", "gainful", *arguments],
            input=stdin,
            capture_output=True,
            cwd=self.directory,
            env=process_environment(**environment),
            timeout=60,
            check=False,
        )


def process_environment(**more: str) -> dict[str, str]:
    """The environment in which a process finds the same gainful."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("GAINFUL_")}
    return {**ours, "PYTHONPATH": SOURCES, **more}


@pytest.fixture
def few_flips(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests of what a page looks like: 1,000 random sign flips instead of 100,000, unless others are asked for, and
    200 resamples instead of 2,000 where an effect is described."""
    for module in (anova, families, paired_tests):
        monkeypatch.setattr(module, "FLIPS", 1_000)
    monkeypatch.setattr(paired, "_DESCRIBING", 200)


@pytest.fixture
def found_once(monkeypatch: pytest.MonkeyPatch) -> Callable[[ModuleType, str], None]:
    """Lets a function of a module work once, for tests of formats: what is found knows nothing of them. It has to be
    asked for the same again."""

    def keep(module: ModuleType, name: str) -> None:
        computed, known = getattr(module, name), []

        def found(*given: Any, **how: Any) -> Any:
            asked = re.sub(r" at 0x\w+", "", repr((given, how)))
            if not known:
                known.extend([asked, computed(*given, **how)])
            assert asked == known[0]
            return known[1]

        monkeypatch.setattr(module, name, found)

    return keep


@pytest.fixture
def small_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that do not ask what the demo simulates: a tenth of its queries."""
    monkeypatch.setattr(simulation, "simulate", partial(simulation.simulate, queries=5, documents=500))


@pytest.fixture
def command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.chdir(tmp_path)
    return Command(tmp_path, capsys, monkeypatch)


@pytest.fixture(scope="session")
def environment() -> Callable[..., dict[str, str]]:
    return process_environment
