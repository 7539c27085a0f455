"""Examples in docstrings of measures assume ``import gainful``."""

from __future__ import annotations

import pytest

import gainful


@pytest.fixture(autouse=True)
def _import_gainful(doctest_namespace: dict[str, object]) -> None:
    doctest_namespace["gainful"] = gainful
