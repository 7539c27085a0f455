"""What runs are called: short names that tell them apart.

The files of runs that folders and patterns stand for.
Options that say how judgments and runs are to be read.
What commands need that take judgments and runs: the options, and the two sides ready to meet.
"""

from __future__ import annotations

import os
import os.path
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from gainful.cli.options import policy_from, policy_options
from gainful.errors import InputError, UsageError
from gainful.io.formats import FORMATS, read_mapping, recognise
from gainful.io.sources import COMPRESSED_ENDINGS
from gainful.kernel.core import default_threads
from gainful.notation import count_of, read_number

if TYPE_CHECKING:
    from gainful.data.judged import Judged
    from gainful.data.qrels import Qrels
    from gainful.evaluation.results import Evaluation
    from gainful.io.rows import RunFile

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


_Command = TypeVar("_Command", bound=Callable[..., Any])
_FORMAT = click.Choice(list(FORMATS))


def input_options(command: _Command) -> _Command:
    """Adds ``--qrels-format``, ``--run-format``, ``--columns`` and ``--feature``."""
    for option in (
        click.option(
            "--feature", metavar="N", help="LETOR runs: the feature that is the score; 1,5,9 or all: as many."
        ),
        click.option(
            "--columns",
            metavar="ROLE=NAME,...",
            default="",
            help="What a header calls query, document, grade, subtopic, score, rank; qrels.query=... for one side.",
        ),
        click.option("--run-format", type=_FORMAT, help="Format of the runs.  [default: recognised]"),
        click.option("--qrels-format", type=_FORMAT, help="Format of the judgments.  [default: recognised]"),
    ):
        command = option(command)
    return command


class Inputs(NamedTuple):
    """How judgments and runs are to be read."""

    qrels_format: str | None
    run_format: str | None
    qrels_columns: Mapping[str, str]
    run_columns: Mapping[str, str]
    features: str | None

    @classmethod
    def taken_from(cls, options: dict[str, Any]) -> Inputs:
        """Takes the input options out of a command's options."""
        columns = options.pop("columns")
        return cls(
            options.pop("qrels_format"),
            options.pop("run_format"),
            read_mapping(columns, "qrels"),
            read_mapping(columns, "run"),
            options.pop("feature"),
        )

    def is_trec(self, head: bytes, path: str, run: bool) -> bool:
        """Whether a file that begins like this is read as TREC text."""
        given = self.run_format if run else self.qrels_format
        columns = self.run_columns if run else self.qrels_columns
        return (given or recognise(head, path, run=run, columns=columns)) == "trec"

    def read_qrels(self, source: str, *, scale: float | None = None, threads: int | None = None) -> Qrels:
        """The judgments."""
        from gainful.data.qrels import Qrels

        return Qrels.read(source, format=self.qrels_format, columns=self.qrels_columns, scale=scale, threads=threads)

    def runs(self, runs: Mapping[str, str]) -> dict[str, RunFile]:
        """The runs by name, each with how to read it. Several LETOR features are as many runs."""
        from gainful.io.rows import Reading, RunFile

        how = Reading(self.run_format, self.run_columns)
        if self.features is None:
            return {name: RunFile(path, how) for name, path in runs.items()}
        return {feature: file for name, path in runs.items() for feature, file in self._features(name, path).items()}

    def single_run(self, path: str) -> RunFile:
        """The one run that a command takes."""
        [file, *others] = self.runs({path: path}).values()
        if others:
            raise UsageError(f"--feature: expected one feature, found {len(others) + 1}")
        return file

    def _features(self, name: str, path: str) -> dict[str, RunFile]:
        from gainful.io.delimited import feature_count
        from gainful.io.reader import format_of
        from gainful.io.rows import Reading, RunFile
        from gainful.io.sources import open_source

        text = open_source(path)
        if format_of(text, Reading(self.run_format, self.run_columns), run=True) != "letor":
            raise UsageError(f"--feature: expected LETOR runs, found {path}, which is not one")
        wanted = _read_features(self.features or "", lambda: feature_count(text))
        files = {feature: RunFile(text, Reading("letor", self.run_columns, feature)) for feature in wanted}
        return {name if len(files) == 1 else f"{name}:{feature}": file for feature, file in files.items()}


def _read_features(text: str, count: Callable[[], int]) -> Sequence[int]:
    if text == "all":
        return range(1, count() + 1)
    parts = [part.strip() for part in text.split(",")]
    features = [int(part) for part in parts if part.isdecimal() and int(part) > 0]
    if len(set(features)) < len(parts):
        raise UsageError(f"--feature: expected a number, several like 1,5,9, or all, found '{text}'")
    return features


class Collection(NamedTuple):
    """Judgments, prepared, and runs by name, not read yet. ``notices`` is for what is to be said when all is shown."""

    judged: Judged
    runs: Mapping[str, RunFile]
    threads: int
    quiet: bool
    notices: list[str]

    def of_queries(self, queries: Sequence[str]) -> Collection:
        """The same with the judgments of some of the queries only, or of all if none is named."""
        if not queries:
            return self
        from gainful.data.judged import Judged

        return self._replace(judged=Judged(self.judged.qrels.select(queries), self.judged.policy))

    def notice(self, evaluations: Iterable[Evaluation]) -> None:
        """Remembers what is legal but suspicious about runs."""
        from gainful.evaluation.notices import notices

        self.notices.extend(notices(evaluations))

    def print_notices(self) -> None:
        """Tells what there was to notice, on standard error, below what is shown."""
        if not self.quiet:
            sys.stdout.flush()
            sys.stderr.writelines(f"notice: {line}\n" for line in self.notices)


def collection_options(command: _Command) -> _Command:
    """Adds what says how judgments and runs are read: names, scale, formats, policy, threads, and ``--quiet``."""
    for option in (
        click.option("--quiet", "-q", is_flag=True, help="No notices, no progress bar."),
        click.option("--threads", type=click.IntRange(1), help="How many threads to use.  [default: all cores]"),
        policy_options,
        input_options,
        click.option(
            "--scale", metavar="G", help="The highest grade there can be.  [default: the highest in the judgments]"
        ),
        click.option("--name", "names", multiple=True, help="A run's name; once for every run, in their order."),
    ):
        command = option(command)
    return command


def collection_from(qrels: str, runs: tuple[str, ...], options: dict[str, Any]) -> Collection:
    """Takes these options out of a command's options and reads the judgments."""
    policy, inputs = policy_from(options), Inputs.taken_from(options)
    scale, threads = options.pop("scale"), options.pop("threads") or default_threads()
    if [qrels, *runs].count("-") > 1:
        raise UsageError("standard input (-) can be read once, found it twice")
    names = run_names(runs, options.pop("names"))
    highest = None if scale is None else read_number(scale, "--scale")
    from gainful.data.judged import Judged

    judged = Judged(inputs.read_qrels(qrels, scale=highest, threads=threads), policy)
    return Collection(judged, inputs.runs(dict(zip(names, runs, strict=True))), threads, options.pop("quiet"), [])
