"""Which core runs: the compiled one, or its Python twin on machines where none was built.

Everything that calls the core says ``core.join_columns(...)`` with this module as ``core``, so that :func:`use`
switches all of it at once. ``GAINFUL_CORE=python`` or ``GAINFUL_CORE=c++`` in the environment asks for one of them.
"""

from __future__ import annotations

import importlib
import os
from types import ModuleType
from typing import TYPE_CHECKING

from gainful._version import __version__
from gainful.errors import UsageError

if TYPE_CHECKING:
    from gainful.kernel._core import *  # noqa: F403 - the contract that both cores keep

#: More threads than this nobody has work for.
MOST_THREADS = 1 << 16

_MODULES = {"c++": "gainful.kernel._core", "python": "gainful.kernel.pure"}
_in_use: ModuleType | None = None


def use(name: str) -> None:
    """Takes the core called c++ or python from now on."""
    global _in_use  # noqa: PLW0603 - the one place that says which core runs
    _in_use = importlib.import_module(_MODULES[name])


def _use_what_is_there() -> None:
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
    """What the core in use has under this name; a core need not have everything (``hasattr`` tells)."""
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(_in_use, name)


def version_line() -> str:
    """The version and the core in use."""
    kind = getattr(_in_use, "KIND")  # noqa: B009 - either module has it
    about = "compiled" if kind == "C++" else "no compiled core: slower, same numbers"
    return f"gainful {__version__} ({kind} core, {about})"


def default_threads() -> int:
    """All the cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def thread_count(asked: object) -> int:
    """How many threads are asked for; None asks for all the cores this process may use."""
    from gainful.notation import whole_number  # loaded late: `--version` is answered without it

    return default_threads() if asked is None else whole_number(asked, "threads", MOST_THREADS)


_use_what_is_there()
