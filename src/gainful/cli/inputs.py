"""Options that say how judgments and runs are to be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from gainful.errors import UsageError
from gainful.io.columns import read_mapping
from gainful.io.recognise import FORMATS, recognise

if TYPE_CHECKING:
    from gainful.data.qrels import Qrels
    from gainful.io.rows import RunFile

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
        from gainful.io.letor import feature_count
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
