"""Workflows test every supported Python, run targets that exist, and pin the versions of actions."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def steps(workflow: Path) -> list[dict[str, Any]]:
    jobs = yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"].values()
    return [step for job in jobs for step in job.get("steps", ())]


def test_actions_have_a_version() -> None:
    assert len(WORKFLOWS) == 3
    actions = [step["uses"] for workflow in WORKFLOWS for step in steps(workflow) if "uses" in step]
    assert [each for each in actions if not re.fullmatch(r"[\w-]+/[\w-]+@v\d[\d.]*", each)] == []


def test_all_supported_pythons_are_tested() -> None:
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["classifiers"]
    pythons = [each.rpartition(" ")[2] for each in classifiers if re.search(r":: 3\.\d+$", each)]
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8"))["jobs"]
    assert [job["strategy"]["matrix"]["python"] for job in jobs.values()] == [pythons, pythons]


def test_what_they_run_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    commands = [step["run"] for workflow in WORKFLOWS for step in steps(workflow) if "run" in step]
    targets = [target for command in commands for target in re.findall(r"^make (\w+)", command)]
    assert {"test", "site"} <= set(targets)
    assert [target for target in targets if f"\n{target}:" not in makefile] == []
    paths = [path for command in commands for path in re.findall(r"\btests/\S+", command)]
    assert paths and [path for path in paths if not (ROOT / path).exists()] == []
