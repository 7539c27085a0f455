"""The files of runs that folders and patterns stand for."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from gainful.errors import InputError


def run_paths(sources: Sequence[str], judgments: str) -> list[str]:
    """The files of runs that folders, patterns and files name, each once; the judgments are none of them."""
    import glob  # loaded late: few commands need it

    found: list[str] = []
    for source in sources:
        if os.path.isdir(source):
            # A link that leads nowhere stays: whoever reads it says so.
            inside = [entry.path for entry in os.scandir(source) if not (entry.is_dir() or entry.name.startswith("."))]
            if not inside:
                raise InputError(f"{source}: expected runs, found a folder without files")
            found += sorted(inside)
        elif not os.path.exists(source) and glob.has_magic(source):
            matching = sorted(path for path in glob.glob(source) if not os.path.isdir(path))
            if not matching:
                raise InputError(f"{source}: expected runs, found no file of that pattern")
            found += matching
        elif not os.path.lexists(source) and source != "-":
            raise InputError(
                f"{source or '--runs'}: expected a folder of runs, a run or a pattern, found nothing of that name"
            )
        else:
            found.append(source)
    known = judgments if os.path.exists(judgments) else None
    files: dict[str, str] = {}
    for path in found:
        files.setdefault(path if path == "-" else os.path.realpath(path), path)
    kept = [path for path in files.values() if not (known and _is_same(path, known))]
    if not kept:
        raise InputError(f"--runs: expected runs, found only the judgments {judgments}")
    return kept


@contextmanager
def naming_strangers(sources: Sequence[str]) -> Iterator[None]:
    """Says of a file in a folder of runs that cannot be read as one how to leave it out."""
    try:
        yield
    except InputError as error:
        folders = [source for source in sources if os.path.isdir(source)]
        folder = next((each for each in folders if error.message.startswith(os.path.join(each, ""))), None)
        if folder is None:
            raise
        pattern = os.path.join(folder, "*.run*")
        hint = f"every file of a folder is a run; a pattern takes some of them: --runs '{pattern}'"
        raise InputError(error.message, hint) from None


def _is_same(path: str, other: str) -> bool:
    return os.path.exists(path) and os.path.samefile(path, other)
