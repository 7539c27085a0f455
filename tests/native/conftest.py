"""The two cores: tests with ``core`` run on each, tests with ``cores`` receive both."""

from __future__ import annotations

import importlib
import os
from typing import Any

import pytest

MODULES = {"C++": "gainful.kernel._core", "Python": "gainful.kernel.pure"}


def load(kind: str) -> Any:
    try:
        module = importlib.import_module(MODULES[kind])
    except ImportError:
        if kind == "Python" or os.environ.get("GAINFUL_REQUIRE_CORE") == "1":
            raise
        pytest.skip("the compiled core is not built")
    assert kind == module.KIND
    return module


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Only the compiled core reads Arrow streams directly."""
    if "core" in metafunc.fixturenames:
        kinds = ["C++"] if "arrow" in metafunc.module.__name__ else list(MODULES)
        metafunc.parametrize("core", kinds, indirect=True, scope="session")


@pytest.fixture(scope="session")
def core(request: pytest.FixtureRequest) -> Any:
    return load(request.param)


@pytest.fixture(scope="session")
def cores() -> tuple[Any, Any]:
    return load("Python"), load("C++")
