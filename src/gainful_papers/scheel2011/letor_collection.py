"""OHSUMED from LETOR 3.0, read from a folder as grades and strategies."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from gainful import InputError, Qrels, Run, UsageError
from gainful.io.delimited import feature_count
from gainful.io.sources import open_source

#: Size of OHSUMED in LETOR 3.0.
QUERIES, PAIRS, FEATURES = 106, 16_140, 45

_FOLDER = "Feature-null"
_HINT = f"--letor needs OHSUMED from LETOR 3.0 with raw features: its folder {_FOLDER} (five test sets)"


class Strategy(NamedTuple):
    """A feature that ranks documents: its number in the paper and in LETOR 3.0, its name, and its text field."""

    printed: int
    feature: int
    what: str
    field: str

    @property
    def name(self) -> str:
        return f"{self.feature} {self.what} of {self.field}"


#: LETOR 3.0 has 15 features each for the title, the abstract and both; the paper's release had the first 10 for the
#: title and the abstract, and the last 5 for both.
STRATEGIES = (
    Strategy(1, 1, "TF", "title"),
    Strategy(5, 5, "IDF", "title"),
    Strategy(9, 9, "TF-IDF", "title"),
    Strategy(11, 16, "TF", "abstract"),
    Strategy(15, 20, "IDF", "abstract"),
    Strategy(19, 24, "TF-IDF", "abstract"),
    Strategy(21, 41, "BM25", "both"),
    Strategy(22, 42, "log BM25", "both"),
)


@dataclass(frozen=True, eq=False)
class Collection:
    """People's grades, and each strategy as a run, with documents in the same order."""

    grades: Qrels
    runs: Mapping[str, Run]

    @property
    def is_whole(self) -> bool:
        """Whether it has all queries and judged documents of LETOR 3.0."""
        return (len(self.grades.query_ids), len(self.grades)) == (QUERIES, PAIRS)


def read_collection(folder: str | os.PathLike[str]) -> Collection:
    """Read a collection from the test sets in a folder, which together are complete, or else from all files.

    The folder may be the parent of Feature-null. NULL is below all other values of a feature.
    """
    if not isinstance(folder, (str, os.PathLike)):
        raise UsageError(f"letor: expected the path of a folder, found {folder!r}", _HINT)
    root = Path(folder)
    if not root.is_dir():
        raise InputError(f"{folder}: {'not a folder' if root.exists() else 'no such folder'}", _HINT)
    root = next((path for path in (root / _FOLDER, root / "Feature_null") if path.is_dir()), root)
    files = sorted(path for path in root.rglob("[!.]*") if path.is_file() and path.stat().st_size)
    files = [path for path in files if "test" in path.name.lower()] or files
    if not files:
        raise InputError(f"{root}: no LETOR files", _HINT)
    for path in files:
        Run.read(path, format="letor", feature=1)  # errors then name the file, not the folder
    whole = open_source(b"\n".join(bytes(open_source(path).data) for path in files), str(root))
    grades, features = Qrels.read(whole, format="letor"), feature_count(whole)
    if features != FEATURES:
        raise InputError(f"{root}: expected {FEATURES} features, found {features}", _HINT)
    runs = {each.name: Run.read(whole, format="letor", feature=each.feature) for each in STRATEGIES}
    if all(run.score.max() <= 1 for run in runs.values()):
        raise InputError(f"{root}: features are normalised (all from 0 to 1), expected raw features", _HINT)
    return Collection(grades, runs)
