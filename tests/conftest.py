"""What all tests share: a choice of the two cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest

from gainful.kernel import core as active


@pytest.fixture
def use_core() -> Iterator[Callable[[str], None]]:
    """Makes this process use one of the two cores, until the test ends."""
    before = "c++" if active.KIND == "C++" else "python"

    def use(name: str) -> None:
        try:
            active.use(name)
        except ImportError:
            if os.environ.get("GAINFUL_REQUIRE_CORE") == "1":
                raise
            pytest.skip("the compiled core is not built")

    yield use
    active.use(before)


@pytest.fixture(params=["c++", "python"])
def core(request: pytest.FixtureRequest, use_core: Callable[[str], None]) -> str:
    """Runs a test over both cores."""
    use_core(request.param)
    return str(request.param)
