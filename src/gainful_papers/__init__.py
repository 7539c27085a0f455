"""Reproductions of the five papers behind gainful: one folder per paper, built on shared claims and sections.

>>> import gainful_papers
>>> gainful_papers.reproduce("jarvelin2000").only("Section 2.2").verdicts
{'agrees': 6}
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gainful_papers.dellamea2004.plane import (
        Plane as Plane,
        Planes as Planes,
        score_plane as score_plane,
        score_planes as score_planes,
    )
    from gainful_papers.jarvelin2002.weight_sweep import WeightSweep as WeightSweep, sweep_weight as sweep_weight
    from gainful_papers.reproduction import Reproduction as Reproduction, reproduce as reproduce
    from gainful_papers.significance import FriedmanTable as FriedmanTable, friedman_table as friedman_table

#: Module of each public name. Names are loaded on first use, so that help and usage errors do not import NumPy.
_HOMES = {
    "Plane": "dellamea2004.plane",
    "Planes": "dellamea2004.plane",
    "score_plane": "dellamea2004.plane",
    "score_planes": "dellamea2004.plane",
    "FriedmanTable": "significance",
    "friedman_table": "significance",
    "Reproduction": "reproduction",
    "reproduce": "reproduction",
    "WeightSweep": "jarvelin2002.weight_sweep",
    "sweep_weight": "jarvelin2002.weight_sweep",
}

__all__ = sorted(_HOMES)  # noqa: PLE0605 - a list


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'gainful_papers' has no attribute '{name}'")
    value = globals()[name] = getattr(importlib.import_module(f"gainful_papers.{_HOMES[name]}"), name)
    return value
