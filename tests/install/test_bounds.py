"""What `make test-oldest` installs is what the package says it can do with."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def release(version: str) -> list[int]:
    """The numbers of a version, without zeros at its end."""
    numbers = [int(number) for number in version.split(".")]
    while numbers[-1] == 0:
        numbers.pop()
    return numbers


def test_the_oldest_versions_are_the_lower_bounds() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"].values()
    wanted = [
        *project["build-system"]["requires"],
        *project["project"]["dependencies"],
        *(one for all_ in extras for one in all_),
    ]
    bounds = dict(requirement.split(">=") for requirement in wanted if ">=" in requirement)
    pins = dict(re.findall(r"^([\w-]+)==([\d.]+)$", (ROOT / "constraints-oldest.txt").read_text(), re.MULTILINE))
    for name, bound in bounds.items():
        assert release(pins[name]) == release(bound), name
    unbounded = [each for each in wanted if not re.search(r">=|==|^gainful\[", each)]
    assert unbounded == []
