"""All measures by family and name, and their short names.

A measure belongs to the family of its file, which is imported when one of its measures is needed.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gainful.measures.base import Measure

#: The families in listing order, and the files of their measures.
_FILES: Mapping[str, str] = {
    "Cumulated gain": "cumulated_gain relative_gain",
    "Precision and recall": "precision",
    "Ranks of relevant documents": "average_precision",
    "Incomplete judgments": "incomplete",
    "User models": "user_models",
    "C/W/L": "cwl",
    "NTCIR": "ntcir",
    "Diversity": "diversity",
    "Similarity to the ideal": "similarity",
    "Recommendation": "recommendation",
    "Earlier measures": "search_length list_order score_based contingency",
    "Generalised precision and recall": "generalised",
    "Many grades": "many_grades",
    "Distances on continuous scores": "distance",
    "Counts": "counts",
}
#: The same for measures of all lists of a system together, and for measures of sessions.
_SYSTEM_FILES: Mapping[str, str] = {"Recommendation: systems": "recommendation_systems"}
_SESSION_FILES: Mapping[str, str] = {"Sessions of several queries": "session_gain session_measures"}

_NAME_LINE = re.compile(rb'\n    name = "([^"]+)"\n')


@cache
def _names_in(file: str) -> tuple[str, ...]:
    """Find the names of measures in a file's text, so that completion and lookup need not import NumPy."""
    text: bytes = globals()["__loader__"].get_data(os.path.join(os.path.dirname(__file__), f"{file}.py"))
    return tuple(name.decode() for name in _NAME_LINE.findall(text))


class _Families(Mapping[str, Sequence[str]]):
    """The names of each family's measures, found on demand."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = files

    def __getitem__(self, family: str) -> Sequence[str]:
        return [name for file in self._files[family].split() for name in _names_in(file)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


class _Measures(Mapping[str, "type[Measure]"]):
    """The measures by name, imported on lookup."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = " ".join(files.values()).split()

    @cached_property
    def _homes(self) -> Mapping[str, str]:
        return {name: file for file in self._files for name in _names_in(file)}

    def __getitem__(self, name: str) -> type[Measure]:
        defined = vars(importlib.import_module(f"gainful.measures.{self._homes[name]}")).values()
        return next(each for each in defined if isinstance(each, type) and vars(each).get("name") == name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __len__(self) -> int:
        return len(self._homes)


#: The measures of queries.
FAMILIES: Mapping[str, Sequence[str]] = _Families(_FILES)
MEASURES: Mapping[str, type[Measure]] = _Measures(_FILES)

#: All measures, in listing order.
_ALL_FILES = {**_FILES, **_SYSTEM_FILES, **_SESSION_FILES}
ALL_FAMILIES: Mapping[str, Sequence[str]] = _Families(_ALL_FILES)
ALL_MEASURES: Mapping[str, type[Measure]] = _Measures(_ALL_FILES)

#: Short and customary names, and the measures that they denote; the long form is printed.
SHORT_NAMES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "AnCG": ("nCG", {"average": "ranks"}),
    "AnDCG": ("nDCG", {"average": "ranks"}),
    "D#-Q": ("D-Q", {"gamma": "0.5"}),
    "D#-nDCG": ("D-nDCG", {"gamma": "0.5"}),
    "HitRate": ("Success", {}),
    "I-rec": ("StRecall", {}),
    "MAP": ("AP", {}),
    "MAP-IA": ("AP-IA", {}),
    "MRR": ("RR", {}),
    "MSnDCG": ("nDCG", {}),
    "NCUguBR": ("NCU", {}),
    "NCUguP": ("NCU", {"beta": "0"}),
    "NCUrbBR": ("NCU", {"stop": "rank"}),
    "NCUrbP": ("NCU", {"beta": "0", "stop": "rank"}),
    "NDCG": ("nDCG", {}),
    "Precision": ("P", {}),
    "Recall": ("R", {}),
}


def is_ours(name: str) -> bool:
    """Whether it is the name or short name of a measure in the catalogue."""
    return name in ALL_MEASURES or name in SHORT_NAMES
