"""What runs are called: short names that tell them apart."""

from __future__ import annotations

import os.path
from collections.abc import Sequence

from gainful.errors import UsageError
from gainful.io.sources import COMPRESSED_ENDINGS
from gainful.notation import count_of

_FORMATS = (".run", ".res", ".txt", ".trec", ".json", ".jsonl", ".tsv", ".csv", ".parquet", ".letor", ".xml")


def run_names(paths: Sequence[str], given: Sequence[str] = ()) -> list[str]:
    """A name for every run: given, or the file's name without directory, compression and format.

    >>> run_names(["a/bm25.run.gz", "b/bm25.run", "dense.0.5.res", "log.xml"])
    ['a/bm25', 'b/bm25', 'dense.0.5', 'log']
    """
    if given:
        if len(given) != len(paths):
            raise UsageError(f"--name: expected one for each of {count_of(len(paths), 'run')}, found {len(given)}")
        return _distinct(list(given))
    names = [_short_name(path) for path in paths]
    clashing = [name for name in names if names.count(name) > 1]
    named = [
        f"{os.path.basename(os.path.dirname(os.path.abspath(path)))}/{name}" if name in clashing else name
        for path, name in zip(paths, names, strict=True)
    ]
    if len(set(named)) < len(named):
        named = list(paths)
    return _distinct(named)


def _short_name(path: str) -> str:
    if path == "-":
        return "stdin"
    name = os.path.basename(path)
    for endings in (COMPRESSED_ENDINGS, _FORMATS):
        stem, ending = os.path.splitext(name)
        if ending.lower() in endings:
            name = stem
    return name


def _distinct(names: list[str]) -> list[str]:
    if "" in names:
        raise UsageError("--name: expected a name, found an empty one")
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"expected every run under a name of its own, found '{name}' twice", "--name gives names")
    return names
