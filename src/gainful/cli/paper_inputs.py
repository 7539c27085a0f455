"""What `gainful papers` reads: which files, so that none of them is written over, and what is in them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
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

    def check_folder(self, out: str) -> None:
        """Refuses a folder to write into that has files which are read, or links to them."""
        read = {os.path.realpath(file): file for file in self.files}
        inside = [os.path.join(out, name) for name in os.listdir(out)] if os.path.isdir(out) else []
        for path in inside:
            if os.path.realpath(path) in read:
                name = read[os.path.realpath(path)]
                raise UsageError(f"--out: expected a folder of its own, found {out}, which has {name} that is read")

    def check_output(self, output: str | None, out: str | None, runs: Sequence[str]) -> None:
        """Refuses a file among the files that --out writes, or among runs, where it would be taken for one."""
        if output is None:
            return
        folder = os.path.realpath(os.path.dirname(output) or ".")
        if out is not None and folder == os.path.realpath(out):
            raise UsageError(f"--output: expected a file outside of --out {out}, found {output}")
        if any(folder == os.path.realpath(source) for source in runs if os.path.isdir(source)):
            raise UsageError(f"--output: expected a file outside of the folder of runs, found {output}")

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


def _judged_sessions(options: Mapping[str, Any], threads: int) -> dict[str, Any]:
    names = run_names(options["sessions"], options["names"])
    files = dict(zip(names, options["sessions"], strict=True))
    inputs = session_inputs(options["qrels"], files, options, threads)
    data: dict[str, Any] = {"qrels": inputs.judged, "sessions": inputs.sessions}
    return data if inputs.topics is None else {**data, "topics": inputs.topics}
