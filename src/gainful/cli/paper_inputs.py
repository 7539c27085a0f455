"""What `gainful papers` reads: which files, so that none of them is written over, and what is in them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from gainful.cli.collection import collection_from
from gainful.cli.names import run_names
from gainful.cli.run_paths import run_paths
from gainful.cli.session_inputs import session_inputs
from gainful.errors import UsageError

if TYPE_CHECKING:
    pass


class PaperInputs(NamedTuple):
    """The files that are read: all of them, and those of runs."""

    files: tuple[str, ...]
    runs: tuple[str, ...]

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> PaperInputs:
        """The files that the options name, those of folders and patterns one by one."""
        runs = tuple(run_paths(options["runs"], options["qrels"])) if options["runs"] else ()
        single = (options[name] for name in ("qrels", "other_qrels", "topics"))
        named = [*single, *options["sessions"], *_inside(options["letor"])]
        return cls((*runs, *(file for file in named if file is not None)), runs)

    def check_folder(self, out: str, output: str | None) -> None:
        """Refuses a folder to write into that has files which are read, or that another option writes into."""
        for file in self.files:
            if os.path.isdir(out) and _is_in(file, out):
                raise UsageError(f"--out: expected a folder of its own, found {out}, which has {file} that is read")
        if output is not None and os.path.abspath(os.path.dirname(output) or ".") == os.path.abspath(out):
            raise UsageError(f"--output: expected a file outside of --out {out}, found {output}")

    def data(self, options: Mapping[str, Any], threads: int) -> dict[str, Any]:
        """What the files hold, read as far as it has to be, by name; nothing if no file is named."""
        if options["letor"] is not None:
            return {"letor": options["letor"]}
        if options["sessions"]:
            return _judged_sessions(options, threads)
        if not self.runs:
            return {}
        collection = collection_from(options["qrels"], self.runs, dict(options))
        return {"qrels": collection.judged, "runs": collection.runs}


def _inside(folder: str | None) -> Iterator[str]:
    """The files of a folder and of those in it; a file is itself."""
    if folder is None:
        return
    if not os.path.isdir(folder):
        yield folder
    for above, _, names in os.walk(folder):
        yield from (os.path.join(above, name) for name in names)


def _is_in(file: str, folder: str) -> bool:
    return os.path.exists(file) and os.path.samefile(os.path.dirname(os.path.realpath(file)), folder)


def _judged_sessions(options: Mapping[str, Any], threads: int) -> dict[str, Any]:
    names = run_names(options["sessions"], options["names"])
    files = dict(zip(names, options["sessions"], strict=True))
    inputs = session_inputs(options["qrels"], files, options, threads)
    data: dict[str, Any] = {"qrels": inputs.judged, "sessions": inputs.sessions}
    return data if inputs.topics is None else {**data, "topics": inputs.topics}
