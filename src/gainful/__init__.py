"""gainful: evaluation of search, RAG and recommender systems with graded relevance.

>>> import gainful
>>> gainful.evaluate({"q1": {"d1": 3, "d2": 1}}, {"q1": {"d2": 2.0, "d1": 1.0}}, "nDCG@10").mean("nDCG@10")
0.7967075809905066
"""

from __future__ import annotations

import importlib
import os

from gainful._version import __version__ as __version__

#: Modules of the public names, read from the stub on first use, so that `import gainful` is instant and commands handle
#: signals early.
_HOMES: dict[str, str] = {}


def __getattr__(name: str) -> object:
    if not _HOMES:
        import re

        with open(os.path.splitext(__file__)[0] + ".pyi", encoding="utf-8") as stub:  # faster than pathlib
            found = re.findall(r"from (\S+) import (\([^)]*\)|.*)", stub.read())
        _HOMES.update({each: module for module, names in found for each in re.findall(r"(\w+) as", names)})
    if name == "__all__":
        return sorted(_HOMES)
    if name not in _HOMES:
        raise AttributeError(f"module 'gainful' has no attribute '{name}'")
    try:
        value = getattr(importlib.import_module(_HOMES[name]), name)
    except RuntimeError as error:  # Python 3.11 wraps interrupts during class creation
        if isinstance(error.__cause__, KeyboardInterrupt):
            raise error.__cause__ from None
        raise
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__getattr__("__all__"))  # type: ignore[call-overload]
