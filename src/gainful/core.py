"""Which core runs: the compiled one, or its Python twin on machines where none was built.

``GAINFUL_CORE=python`` or ``GAINFUL_CORE=c++`` in the environment asks for one of them.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING

from gainful.errors import UsageError

if TYPE_CHECKING:
    import gainful._core as core
else:

    def _load() -> object:
        wanted = os.environ.get("GAINFUL_CORE", "").lower()
        if wanted not in ("", "c++", "python"):
            raise UsageError(f"GAINFUL_CORE: expected c++ | python, found '{wanted}'")
        if wanted != "python":
            try:
                return importlib.import_module("gainful._core")
            except ImportError:
                if wanted == "c++":
                    raise
        return importlib.import_module("gainful._pure")

    core = _load()

__all__ = ["core"]


def default_threads() -> int:
    """All the cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
