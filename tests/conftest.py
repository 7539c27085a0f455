"""What all tests share: a choice of the two cores."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable

import pytest

#: The modules that call the core.
USERS = (
    "ahead",
    "data.qrels",
    "data.run",
    "data.graded",
    "data.judged",
    "data.session_rows",
    "io.rows",
    "io.delimited",
    "io.letor",
    "io.frames",
    "io.datasets",
    "io.session_table",
    "doctor.inspected",
    "conventions.repeats",
)


@pytest.fixture
def use_core(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Makes this process use one of the two cores."""

    def use(name: str) -> None:
        try:
            module = importlib.import_module(f"gainful.{name}")
        except ImportError:
            if os.environ.get("GAINFUL_REQUIRE_CORE") == "1":
                raise
            pytest.skip("the compiled core is not built")
        for user in USERS:
            monkeypatch.setattr(importlib.import_module(f"gainful.{user}"), "core", module)

    return use


@pytest.fixture(params=["_core", "_pure"])
def core(request: pytest.FixtureRequest, use_core: Callable[[str], None]) -> str:
    """Runs a test over both cores."""
    use_core(request.param)
    return str(request.param)
