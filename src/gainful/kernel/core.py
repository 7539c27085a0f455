"""Selection of the core: the compiled one, or its Python twin if none was built.

Callers use ``core.join_columns(...)`` with this module as ``core``, so that :func:`use` switches all of them at once.
The environment variable ``GAINFUL_CORE`` selects a core: ``python`` or ``c++``.
"""

from __future__ import annotations

import importlib
import os
from types import ModuleType
from typing import TYPE_CHECKING

from gainful._version import __version__
from gainful.errors import UsageError

if TYPE_CHECKING:
    from gainful.kernel._core import *  # noqa: F403 - the contract of both cores

#: Upper limit on the number of threads.
MOST_THREADS = 1 << 16

_MODULES = {"c++": "gainful.kernel._core", "python": "gainful.kernel.pure"}
_in_use: ModuleType | None = None


def use(name: str) -> None:
    """Use the core named c++ or python from now on."""
    global _in_use  # noqa: PLW0603 - the only place that sets the core
    _in_use = importlib.import_module(_MODULES[name])


def _use_available() -> None:
    wanted = os.environ.get("GAINFUL_CORE", "").lower()
    if wanted not in ("", *_MODULES):
        raise UsageError(f"GAINFUL_CORE: expected {' | '.join(_MODULES)}, found '{wanted}'")
    try:
        use(wanted or "c++")
    except ImportError:
        if wanted:
            raise
        use("python")


def __getattr__(name: str) -> object:
    """Return an attribute of the core in use; optional ones can be tested with ``hasattr``."""
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(_in_use, name)


def version_line() -> str:
    """Return the version and the core in use."""
    kind = getattr(_in_use, "KIND")  # noqa: B009 - both modules define it
    about = "compiled" if kind == "C++" else "no compiled core: slower, same numbers"
    return f"gainful {__version__} ({kind} core, {about})"


def default_threads() -> int:
    """Return the number of CPU cores available to this process."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def thread_count(asked: object) -> int:
    """Return the requested number of threads; None means all CPU cores available to this process."""
    from gainful.notation import whole_number  # imported late: `--version` does not need it

    return default_threads() if asked is None else whole_number(asked, "threads", MOST_THREADS)


_use_available()
