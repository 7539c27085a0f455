"""Measure speed and memory against other tools: `make bench`, or `python benchmarks/run.py [--quick] [--only NAME]`.

Prints tables and writes `build/bench/results.json`. Only ratios within one run mean something. The exit code is 1 if a
tool failed or numbers disagree; a missed target is shown, not punished, because a busy machine misses some.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys

from cases import CASES, Settings
from datasets import BUILD
from processes import Repetitions, ToolFailedError
from report import Report
from tools import gainful_command, versions


def main() -> int:
    options = _options()
    BUILD.mkdir(parents=True, exist_ok=True)
    try:
        machine = _machine()
    except subprocess.CalledProcessError as error:
        print(f"gainful does not start: {error.stderr}", file=sys.stderr)
        return 1
    print("\n".join(f"{name}: {value}" for name, value in machine.items()), end="\n\n", flush=True)
    settings = Settings(Repetitions(2, 1) if options.quick else Repetitions(), options.all)
    report = Report()
    for name in options.only or CASES:
        print(f"measuring {name}", file=sys.stderr, flush=True)
        try:
            CASES[name](report, settings)
        except (ToolFailedError, subprocess.CalledProcessError) as error:
            report.failures.append(f"{name}: {error}")
    if "C++" not in machine["core"]:
        report.notes.append("gainful has no compiled core here: the targets are for the compiled one")
    print(report.text())
    results = BUILD / "results.json"
    results.write_text(json.dumps({"machine": machine, **report.as_json()}, indent=1) + "\n")
    return 0 if report.sound else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure speed and memory, compared with other tools.")
    parser.add_argument("--quick", action="store_true", help="two repetitions, one of slow cases")
    parser.add_argument("--all", action="store_true", help="also run every peer on the largest data")
    parser.add_argument("--only", action="append", choices=list(CASES), help="one case; may be repeated")
    return parser.parse_args()


def _machine() -> dict[str, str]:
    core = subprocess.run(gainful_command("--version"), capture_output=True, text=True, check=True).stdout.strip()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    packages = ", ".join(f"{name} {version}" for name, version in versions().items())
    return {"core": core, "machine": f"{platform.system()} {platform.machine()}, {cores} cores", "with": packages}


if __name__ == "__main__":
    sys.exit(main())
