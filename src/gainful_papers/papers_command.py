"""`gainful papers`: one command per paper, which reproduces it and compares the results."""

from __future__ import annotations

import glob
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import click
from click.core import ParameterSource

from gainful.cli import flags, help_groups, inputs, options
from gainful.data.collection import Inputs, named_runs
from gainful.errors import InputError, UsageError
from gainful.io.formats import FORMATS
from gainful.kernel.core import default_threads
from gainful.notation import count_of
from gainful.question import number, setting
from gainful.render import Page
from gainful.tasks.run_questions import read_values
from gainful_papers.catalogue import FIGURES, PAPERS, Paper, check_given
from gainful_papers.table_and_plane_commands import plane_command, sweep_command, table_command


def run_paths(sources: Sequence[str], judgments: str) -> list[str]:
    """Return the distinct files of runs that folders, patterns and files denote, without the judgments."""
    found: list[str] = []
    for source in sources:
        if os.path.isdir(source):
            # Keep dangling links: reading them raises the error.
            inside = [entry.path for entry in os.scandir(source) if not (entry.is_dir() or entry.name.startswith("."))]
            if not inside:
                raise InputError(f"{source}: the folder contains no files")
            found += sorted(inside)
        elif not os.path.exists(source) and glob.has_magic(source):
            matching = sorted(path for path in glob.glob(source) if not os.path.isdir(path))
            if not matching:
                raise InputError(f"{source}: no file matches this pattern")
            found += matching
        elif not os.path.lexists(source) and source != "-":
            raise InputError(f"{source or '--runs'}: no such folder, run or pattern")
        else:
            found.append(source)
    files: dict[str, str] = {}
    for path in found:
        files.setdefault(path if path == "-" else os.path.realpath(path), path)
    is_there = os.path.exists(judgments)
    kept = [
        path for path in files.values() if not (is_there and os.path.exists(path) and os.path.samefile(path, judgments))
    ]
    if not kept:
        raise InputError(f"--runs: no runs other than the judgments {judgments}")
    return kept


@contextmanager
def hint_at_pattern(sources: Sequence[str]) -> Iterator[None]:
    """Add a hint to errors in a folder of runs: a pattern can exclude the file."""
    try:
        yield
    except InputError as error:
        folders = [source for source in sources if os.path.isdir(source)]
        folder = next((each for each in folders if error.message.startswith(os.path.join(each, ""))), None)
        if folder is None:
            raise
        pattern = os.path.join(folder, "*.run*")
        hint = f"every file in a folder is read as a run; select files with a pattern: --runs '{pattern}'"
        raise InputError(error.message, hint) from None


@dataclass(frozen=True, kw_only=True)
class _Shown:
    """Sections to show, and the folder to write."""

    examples: bool = setting(False, "Show only worked examples and errata.")
    data: bool = setting(False, "Show only results on the given data.")
    only: tuple[str, ...] = setting(
        (), "Show one section, such as 'Table 2' (repeatable).", metavar="SECTION", repeatable=True
    )
    out: str | None = setting(None, "Write reports, tables and figures to a folder.", metavar="DIR")
    figures: str | None = setting(None, "Format of the figures in --out.", choices=FIGURES, shown="svg")


@dataclass(frozen=True, kw_only=True)
class _PaperOptions(inputs.Work):
    """Data and settings of a paper.

    Subclasses define ``read_data``, and ``files``: all files that are read, which must not be overwritten.
    """


_SEVERAL: Any = {"read_all": read_values, "shown": "the paper's"}
_RUNS = setting((), "Folder, file or pattern of runs (repeatable).", kind="file", metavar="DIR", repeatable=True)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Graded(_PaperOptions, inputs.CollectionOptions):
    qrels: str = setting("", "Judgments.", kind="file")
    runs: tuple[str, ...] = _RUNS

    @cached_property
    def files(self) -> tuple[str, ...]:
        return (self.qrels, *(run_paths(self.runs, self.qrels) if self.runs else ()))

    def read_data(self, threads: int) -> dict[str, Any]:
        collection = self.opened(self.qrels, self.files[1:], ahead=False)
        return {"qrels": collection.judged, "runs": collection.runs}


@dataclass(frozen=True, eq=False, kw_only=True)
class _Weighed(_Graded):
    gain: list[object] | None = setting(
        None, "Weights, as in 0-1-10-100, or flat, tenfold, top.", metavar="G,...", **_SEVERAL
    )
    base: list[object] | None = setting(None, "Bases; figures show the first.", metavar="B,...", **_SEVERAL)
    at: int | None = setting(None, "Last rank, 20 to 200.", kind="whole", metavar="K", shown="the paper's")


@dataclass(frozen=True, eq=False, kw_only=True)
class _Jarvelin2000(_Weighed):
    baseline: str | None = setting(None, "Run with which the others are compared.", metavar="RUN", shown="first")
    factors: str | None = setting(None, "Table of runs and two factors, such as structure, expansion.", kind="file")


@dataclass(frozen=True, eq=False, kw_only=True)
class _Jarvelin2002(_Weighed):
    other: str | None = setting(None, "Second set of judgments, for Table 1.", kind="file", flag="--other-qrels")

    @cached_property
    def files(self) -> tuple[str, ...]:
        return (*super().files, *([] if self.other is None else [self.other]))


@dataclass(frozen=True, eq=False, kw_only=True)
class _Dellamea2004(_Graded):
    best: tuple[str, ...] = setting((), "Best system (repeatable).", metavar="RUN", repeatable=True, shown="ten by AP")
    worst_share: float | None = number(None, "Share of queries on which Worst is below the median.", "S", shown="1")
    draws: int | None = setting(None, "Number of document samples.", kind="whole", least=1, metavar="N", shown="20")
    seed: int | None = setting(None, "Random seed.", kind="whole", least=0, shown="0")


@dataclass(frozen=True, eq=False, kw_only=True)
class _Jarvelin2008(_PaperOptions, inputs.PolicyOptions, inputs.SessionOptions):
    qrels: str = setting("", "Judgments.", kind="file")
    sessions: tuple[str, ...] = setting((), "Sessions, one file per system (repeatable).", kind="file", repeatable=True)
    topic: str | None = setting(None, "Topic of Figures 3 and 4.", metavar="ID", shown="most sessions")
    at_least: int | None = setting(None, "Fewest queries in Figure 3.", kind="whole", least=1, metavar="N", shown="4")
    gain: list[object] | None = setting(None, "Weights of grades.", metavar="G", **_SEVERAL)
    base: str | None = setting(None, "Base b of the discount by rank.", metavar="B", shown="2")
    query_base: str | None = setting(None, "Base bq of the discount by query.", metavar="B", shown="4")
    at: int | None = setting(None, "Ranks per query.", kind="whole", least=1, metavar="K", shown="10")
    qrels_format: str | None = setting(
        None, "Format of the judgments.", choices=FORMATS, keeps_spelling=True, shown="recognised"
    )
    columns: str = setting("", "Column names in the header.", metavar="ROLE=NAME,...")

    @cached_property
    def files(self) -> tuple[str, ...]:
        return tuple(file for file in (self.qrels, self.topics, *self.sessions) if file)

    def read_data(self, threads: int) -> dict[str, Any]:
        files = named_runs(self.sessions, self.names)
        found = self.read(self.qrels, files, self.policy, self.scale, threads)
        topics = {} if found.topics is None else {"topics": found.topics}
        return {"qrels": found.judged, "sessions": found.sessions, **topics}


@dataclass(frozen=True, eq=False, kw_only=True)
class _Scheel2011(_PaperOptions):
    qrels: str = setting("", "Judgments used as a reference.", kind="file")
    letor: str | None = setting(None, "OHSUMED from LETOR 3.0, raw features.", metavar="DIR")
    runs: tuple[str, ...] = _RUNS
    reference: tuple[str, ...] = setting(
        (), "Virtual user: one of --runs, or a file of grades (repeatable).", metavar="NAME", repeatable=True
    )
    names: tuple[str, ...] = setting((), "Name of a run; once per run, in order.", flag="--name", repeatable=True)
    inputs: Inputs = flags.group(flags.flags_of(inputs.InputOptions), inputs.InputOptions.taken_from)
    repetitions: int | None = setting(None, "Repetitions per point.", kind="whole", least=1, metavar="N", shown="100")
    seed: int | None = setting(None, "Random seed.", kind="whole", least=0, shown="0")

    def __post_init__(self) -> None:
        object.__setattr__(self, "reference", (*self.reference, *filter(None, [self.qrels])))

    @cached_property
    def files(self) -> tuple[str, ...]:
        inside: list[str] = []
        if self.letor is not None:
            inside = [os.path.join(above, name) for above, _, names in os.walk(self.letor) for name in names]
            inside += [] if os.path.isdir(self.letor) else [self.letor]
        references = [file for file in self.reference if os.path.exists(file)]
        return (*(run_paths(self.runs, "") if self.runs else ()), *references, *inside)

    def read_data(self, threads: int) -> dict[str, Any]:
        if self.letor is not None:
            return {"letor": self.letor}
        runs = self.inputs.runs(named_runs(run_paths(self.runs, ""), self.names))
        users: dict[str, Any] = {}
        # References are names of runs, or files of judgments to be read.
        for each in self.reference:
            if each in runs or not os.path.exists(each):
                users[each] = each
            else:
                [name] = named_runs([each])
                is_taken = name in runs or name in users
                users[each if is_taken else name] = self.inputs.read_qrels(each, threads=threads)
        return {"runs": runs, "reference": users}


def _check_written(asked: Any, shown: _Shown, output: str | None, draws: bool) -> None:
    """Raise UsageError if outputs would overwrite inputs, or if --output would be a file among runs or in --out."""
    if output is not None:
        options.check_written(output, "--output", asked.files)
        folder = os.path.realpath(os.path.dirname(output) or ".")
        if shown.out is not None and folder == os.path.realpath(shown.out):
            raise UsageError(f"--output: {output} is in the folder of --out")
        if any(folder == os.path.realpath(source) for source in getattr(asked, "runs", ()) if os.path.isdir(source)):
            raise UsageError(f"--output: {output} is in the folder of runs")
    if shown.out is None:
        if shown.figures is not None:
            raise UsageError("--figures cannot be used without --out", "--out DIR writes figures")
        return
    read = {os.path.realpath(file): file for file in asked.files}
    for name in os.listdir(shown.out) if os.path.isdir(shown.out) else []:
        if found := read.get(os.path.realpath(os.path.join(shown.out, name))):
            raise UsageError(f"--out: {shown.out} contains {found}, which is an input", "choose another folder")
    from gainful_papers.reproduction import check_folder

    check_folder(shown.out, shown.figures or "svg", are_wanted=draws and shown.figures is not None)


def _run_paper(paper: Paper, asked: Any, shown: _Shown, output: options.Output) -> None:
    data = [name for name in (*paper.data, *paper.other_data) if getattr(asked, name)]
    if not data:
        alone = {each.name for each in (*fields(_Shown), *fields(options.Output), *fields(inputs.Work))} - {"data"}
        for name, flag in _typed(click.get_current_context()).items():
            if name not in {*alone, "max_memory", *paper.settings_alone}:
                raise UsageError(f"{flag} cannot be used without data", f"{paper.key} needs {paper.options}")
    check_given(paper, data)
    for name in ("items", "training", "intents"):
        if getattr(getattr(asked, "inputs", None), name, None) is not None:
            raise UsageError(f"--{name} cannot be used with papers: none of their measures needs it")
    _check_written(asked, shown, output.file, bool(data) or paper.draws_alone)
    from gainful_papers import reproduction

    threads = asked.threads or default_threads()
    typed = {name: getattr(asked, name, None) for name in reproduction.settings_of(paper, data)}
    given = {name: value for name, value in typed.items() if value not in (None, ())}
    given |= asked.read_data(threads) if data else {}
    with output.waiting(paper.key, in_bytes=False), hint_at_pattern(getattr(asked, "runs", ())):
        whole = reproduction.reproduce(paper.key, threads=threads, **given)
        found = whole.part(shown.examples, shown.data) if shown.examples or shown.data else whole
        found = found.only(shown.only) if shown.only else found
        for section in found.sections:
            len(section.parts)  # compute late parts while the progress bar is shown
    if shown.out is None:
        output.show(found, whole.notices)
    else:
        written = found.save_all(shown.out, shown.figures or "svg")
        is_read_here = output.file is None and output.chosen_format == "table"
        if not output.quiet:
            sys.stderr.write(f"wrote {count_of(len(written), 'file')} to {shown.out}; start with report.md\n")
        output.show(replace(found, folder=shown.out, written=tuple(written)) if is_read_here else found, whole.notices)


@click.group("papers", invoke_without_command=True)
@flags.takes(output=options.Output)
@click.pass_context
def command(context: click.Context, output: options.Output) -> None:
    """Reproduce the five papers behind gainful.

    Without a command, list the papers. Without data, a paper's worked examples and errata are shown; with data, also
    its tables and figures. `papers table`, `plane` and `sweep` draw single tables and charts.

    Example: gainful papers jarvelin2002 --qrels qrels.txt --runs runs/ --out jarvelin2002/
    """
    if context.invoked_subcommand is None:
        output.show(_list_of_papers())
    elif typed := list(_typed(context).values()):
        hint = f"gainful papers {context.invoked_subcommand} {typed[0]} ..."
        raise UsageError(f"{typed[0]}: options must follow the name of the paper", hint)


def _typed(context: click.Context) -> dict[str, str]:
    """Return the flags of the options given on the command line, by name."""
    flags = {str(each.name): max(each.opts, key=len) for each in context.command.params}
    return {n: flag for n, flag in flags.items() if context.get_parameter_source(n) == ParameterSource.COMMANDLINE}


def _list_of_papers() -> Page:
    from gainful_papers.claims import table

    names = ("paper", "citation", "proposes", "without data", "with data", "options", "needs")
    rows = [(p.key, p.citation, p.proposes, p.alone, p.with_data, p.options, p.needs) for p in PAPERS.values()]
    parts: list[Any] = []
    for key, citation, *facts in rows:
        labels = (*names[2:5], "needs", "")
        listed = "\n".join(f"    {label:12}  {fact}" for label, fact in zip(labels, facts, strict=True))
        parts += [f"{key}: {citation}", listed]
    return Page("papers", (*parts, table("", " | ".join(names), rows, for_machines=True)))


def _paper_command(paper: Paper, declared: type[_PaperOptions]) -> click.Command:
    @help_groups.command(paper.key)
    @flags.takes(asked=declared, shown=_Shown, output=options.Output)
    def run(asked: _PaperOptions, shown: _Shown, output: options.Output) -> None:
        _run_paper(paper, asked, shown, output)

    example = f"Example: gainful papers {paper.key}"
    run.help = (
        f"Reproduce {paper.citation}\n\n{example}\n\n{example} {paper.options.partition(' or ')[0]} --out {paper.key}/"
    )
    run.short_help = paper.proposes
    return run


_DECLARED: dict[str, type[_PaperOptions]] = {
    "jarvelin2000": _Jarvelin2000,
    "jarvelin2002": _Jarvelin2002,
    "jarvelin2008": _Jarvelin2008,
    "scheel2011": _Scheel2011,
    "dellamea2004": _Dellamea2004,
}
for _paper in PAPERS.values():
    command.add_command(_paper_command(_paper, _DECLARED[_paper.key]))
for _other in (table_command, plane_command, sweep_command):
    _other.short_help = str(_other.help).partition("\n\n")[0]
    command.add_command(_other)
