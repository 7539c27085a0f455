"""`gainful papers`: the five papers run again, what they say beside what gainful finds."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from gainful.cli import asking, help_groups, inputs, options, progress_bar
from gainful.data.collection import named_runs, naming_strangers, run_paths
from gainful.errors import UsageError
from gainful.io.formats import GAPS, SEPARATOR, SESSION_FORMATS
from gainful.kernel.core import default_threads
from gainful.notation import choose, count_of
from gainful.policy import CHOICES
from gainful.question import number, setting
from gainful.render import Page
from gainful_papers.catalogue import FIGURES, PAPERS, Paper, check_given
from gainful_papers.table_and_plane_commands import plane_command, sweep_command, table_command

if TYPE_CHECKING:
    from gainful_papers.reproduction import Reproduction

_DATA = ("qrels", "runs", "sessions", "letor", "reference")
_WRITING = ("format", "path", "signature", "caption", "label")
#: What has a meaning with and without data.
_ALWAYS = ("paper", "examples", "only", "out", "figures", *_WRITING, "quiet", "threads")

#: What says how judgments are read, how runs and how sessions.
_BELONGING: Mapping[str, tuple[str, ...]] = {
    "qrels": ("scale", "qrels_format", "columns", "like", *(choice.field for choice in CHOICES)),
    "runs": ("names", "run_format", "feature"),
    "sessions": ("names", "session_format", "session_separator", "gaps"),
    "reference": ("qrels_format", "columns"),
}
#: The settings of all papers, which are called as their options are.
_SETTINGS = frozenset(name for paper in PAPERS.values() for name in (*paper.settings, *paper.settings_alone))


def _refuse_meaningless(paper: Paper | None, given: Sequence[str]) -> None:
    """Refuses options that have no meaning without a paper, for this paper, or without data, and a part of the data."""
    data = [name for name in _DATA if name in given]
    for name in given:
        flag = {"path": "output", "names": "name", "other": "other-qrels"}.get(name, name).replace("_", "-")
        if paper is None:
            if name not in (*_WRITING, "quiet"):
                raise UsageError(f"--{flag}: expected a paper, found none", f"one of {', '.join(PAPERS)}")
            continue
        wanted = {*_ALWAYS, "data", *paper.data, *paper.other_data, *paper.settings, *paper.settings_alone}
        wanted.update(each for known in paper.data_among(data) for each in _BELONGING.get(known, ()))
        if name not in wanted:
            needs = f"it needs {paper.options}: {paper.needs}"
            raise UsageError(f"--{flag}: has no meaning for {paper.key}", needs)
        if not data and name not in (*_ALWAYS, *paper.settings_alone):
            raise UsageError(f"--{flag}: has no meaning without data", f"{paper.key} needs {paper.options}")
    if paper is not None:
        check_given(paper, dict.fromkeys(data), [name for name in given if name in _SETTINGS])
        if "figures" in given and "out" not in given:
            raise UsageError("--figures: expected a folder, found none", "--out DIR writes figures")


@dataclass(frozen=True, kw_only=True)
class PaperFlags:
    """The data of a paper, what is shown of it, and the settings that papers have."""

    qrels: str = setting("", "Judgments.", kind="file")
    runs: tuple[str, ...] = setting(
        (), "A folder of runs, a file, or a pattern; may be repeated.", kind="file", metavar="DIR", repeatable=True
    )
    sessions: tuple[str, ...] = setting(
        (), "jarvelin2008: sessions, a file a system; repeatable.", kind="file", repeatable=True
    )
    letor: str | None = setting(None, "scheel2011: OHSUMED of LETOR 3.0, raw features.", metavar="DIR")
    reference: tuple[str, ...] = setting(
        (),
        "scheel2011: what plays the user: one of --runs, or a file of ratings or grades; may be repeated.",
        metavar="NAME",
        repeatable=True,
    )
    examples: bool = setting(False, "Only what needs no data: worked examples, errata.")
    data: bool = setting(False, "Only what the data give.")
    only: tuple[str, ...] = setting(
        (), "Only this, such as 'Table 2'; may be repeated.", metavar="SECTION", repeatable=True
    )
    out: str | None = setting(None, "Write a folder: reports, tables and figures (with [plot]).", metavar="DIR")
    figures: str | None = setting(None, "What figures in --out are.", choices=FIGURES, shown="svg")
    baseline: str | None = setting(
        None, "jarvelin2000: the run that others are compared with.", metavar="RUN", shown="first"
    )
    other: str | None = setting(
        None, "jarvelin2002: other judgments, for its Table 1.", kind="file", flag="--other-qrels"
    )
    judged_by: str | None = setting(None, "jarvelin2008: what judgments are by.", choices=["topic", "session", "query"])
    topics: str | None = setting(
        None, "jarvelin2008: a table with a header, one row a session: its topic.", kind="file"
    )
    topic: str | None = setting(
        None, "jarvelin2008: the topic of Figures 3 and 4.", metavar="ID", shown="of most sessions"
    )
    at_least: int | None = setting(
        None, "jarvelin2008: queries in Figure 3.", kind="whole", least=1, metavar="N", shown="4"
    )
    session_format: str | None = setting(
        None, "jarvelin2008: format of the sessions.", choices=SESSION_FORMATS, keeps_spelling=True
    )
    session_separator: str | None = setting(
        None, "jarvelin2008: in runs, between session and turn.", metavar="TEXT", shown=SEPARATOR
    )
    gaps: str | None = setting(None, "jarvelin2008: what a missing query number is.", choices=GAPS, shown="error")
    repetitions: int | None = setting(
        None, "scheel2011: of the experiment.", kind="whole", least=1, metavar="N", shown="100"
    )
    seed: int | None = setting(None, "scheel2011, dellamea2004: another seed.", kind="whole", least=0, shown="0")
    best: tuple[str, ...] = setting(
        (), "dellamea2004: a best system.", metavar="RUN", repeatable=True, shown="the first ten by AP"
    )
    worst_share: float | None = number(None, "dellamea2004: share of queries below the median.", "S", shown="1")
    draws: int | None = setting(
        None, "dellamea2004: samples of documents.", kind="whole", least=1, metavar="N", shown="20"
    )


@dataclass(frozen=True, kw_only=True)
class PaperOptions(PaperFlags):
    """The same with the paper asked for, its settings that were typed, and how files are read."""

    reading: inputs.CollectionOptions = asking.group(
        asking.flags_of(inputs.CollectionOptions), partial(asking.made_of, inputs.CollectionOptions)
    )
    paper: Paper
    settings: Mapping[str, Any]
    session_reading: inputs.SessionOptions

    @classmethod
    def taken_from(cls, params: dict[str, Any]) -> PaperOptions | None:
        """Take what was asked for out of a command's parameters; None where all papers are to be listed."""
        context = click.get_current_context()
        named = [name for name in context.params if context.get_parameter_source(name) == ParameterSource.COMMANDLINE]
        key = params.pop("paper")
        paper = None if key is None else PAPERS[choose(key, PAPERS, "paper")]
        _refuse_meaningless(paper, named)
        settings = {name: params[name] for name in named if name in _SETTINGS}
        session_reading = asking.made_of(inputs.SessionOptions, dict(params))
        if params["sessions"]:
            params["columns"] = ""  # what a header calls things means something else where sessions are read
        flags, reading = asking.made_of(PaperFlags, params), asking.made_of(inputs.CollectionOptions, params)
        if paper is None:
            return None
        return cls(**vars(flags), paper=paper, settings=settings, reading=reading, session_reading=session_reading)

    @cached_property
    def run_files(self) -> tuple[str, ...]:
        """The files of runs, those of folders and patterns one by one."""
        return tuple(run_paths(self.runs, self.qrels)) if self.runs else ()

    @cached_property
    def files(self) -> tuple[str, ...]:
        """All files that are read, so that none of them is written over."""
        single = (self.qrels, self.settings.get("other"), self.settings.get("topics"))
        inside: list[str] = []
        if self.letor is not None:
            inside = [os.path.join(above, name) for above, _, names in os.walk(self.letor) for name in names]
            inside += [] if os.path.isdir(self.letor) else [self.letor]
        references = [file for file in self.reference if os.path.exists(file)]
        return (*self.run_files, *references, *(file for file in (*single, *self.sessions, *inside) if file))

    def check_written(self, output: str | None) -> None:
        """Refuses a folder to write into that has files which are read, or links to them.

        And a file among those that --out writes, or among runs, where it would be taken for one.
        """
        if output is not None:
            folder = os.path.realpath(os.path.dirname(output) or ".")
            if self.out is not None and folder == os.path.realpath(self.out):
                raise UsageError(f"--output: expected a file outside of --out {self.out}, found {output}")
            if any(folder == os.path.realpath(source) for source in self.runs if os.path.isdir(source)):
                raise UsageError(f"--output: expected a file outside of the folder of runs, found {output}")
        if self.out is None:
            return
        read = {os.path.realpath(file): file for file in self.files}
        for name in os.listdir(self.out) if os.path.isdir(self.out) else []:
            if found := read.get(os.path.realpath(os.path.join(self.out, name))):
                raise UsageError(
                    f"--out: expected a folder of its own, found {self.out}, which has {found} that is read"
                )
        from gainful_papers.reproduction import check_folder

        draws = bool(self.qrels or self.runs or self.sessions or self.letor is not None) or self.paper.draws_alone
        check_folder(self.out, self.figures or "svg", are_wanted=draws and self.figures is not None)

    def reproduced(self) -> tuple[Reproduction, tuple[str, ...]]:
        """What is wanted of the paper run again, with a progress bar if it takes long, and what was noticed."""
        from gainful import Qrels
        from gainful_papers import reproduction

        asked, threads = dict(self.settings), self.reading.threads or default_threads()
        if "other" in asked:
            asked["other"] = Qrels.read(asked["other"], threads=threads)
        if self.letor is not None:
            asked["letor"] = self.letor
        elif self.sessions:
            read = self.session_reading.read(
                self.qrels,
                named_runs(self.sessions, self.reading.names),
                self.reading.policy,
                self.reading.scale,
                threads,
            )
            asked |= {"qrels": read.judged, "sessions": read.sessions}
            if "topics" in asked:
                asked["topics"] = read.topics
        elif self.reference:
            runs = self.reading.inputs.runs(named_runs(self.run_files, self.reading.names))
            users: dict[str, Any] = {}
            # What plays the user by name: runs, which are named, and judgments, which are read.
            for each in self.reference:
                if each in runs or not os.path.exists(each):
                    users[each] = each
                else:
                    [name] = named_runs([each])
                    is_taken = name in runs or name in users
                    users[each if is_taken else name] = self.reading.inputs.read_qrels(each, threads=threads)
            asked |= {"runs": runs, "reference": users}
        elif self.run_files:
            collection = self.reading.opened(self.qrels, self.run_files, ahead=False)
            asked |= {"qrels": collection.judged, "runs": collection.runs}
        bar = progress_bar.ProgressBar(self.paper.key, wanted=not self.reading.quiet, in_bytes=False)
        with bar as progress, naming_strangers(self.runs):
            found = reproduction.reproduce(self.paper.key, threads=threads, progress=progress, **asked)
            if self.examples or self.data:
                found = found.part(self.examples, self.data)
            shown = found.only(self.only) if self.only else found
            for section in shown.sections:
                len(section.parts)  # what takes long is done by now
        return shown, found.notices


class PapersCommand(help_groups.GroupedCommand):
    """The command that runs a paper again; what is called by one of ``commands`` in place of a paper is another one."""

    commands = {"table": table_command, "plane": plane_command, "sweep": sweep_command}

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """A context of this command, or of the one that is named first."""
        if args and args[0] in self.commands:
            return self.commands[args[0]].make_context(f"{info_name} {args[0]}", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


@click.command("papers", cls=PapersCommand)
@click.argument(
    "paper",
    required=False,
    shell_complete=lambda _, __, word: [p for p in (*PAPERS, *PapersCommand.commands) if p.startswith(word)],
)
@asking.takes(asked=PaperOptions, output=options.Output)
def command(asked: PaperOptions | None, output: options.Output) -> None:
    """Run one of the five PAPERS again, or list them; `papers table`, `plane` and `sweep`: a table and charts.

    Without data its worked examples and errata; with data its tables and figures on these.

    Example: gainful papers jarvelin2002

    Example: gainful papers jarvelin2002 --qrels qrels.txt --runs runs/ --out jarvelin2002/
    """
    if asked is None:
        output.write(_list_of_papers())
        return
    if output.file is not None:
        options.check_written(output.file, "--output", asked.files)
    asked.check_written(output.file)
    shown, noticed = asked.reproduced()
    if asked.out is None:
        output.write(shown)
    else:
        written = shown.save_all(asked.out, asked.figures or "svg")
        is_read_here = output.file is None and output.chosen_format == "table"
        output.write(replace(shown, folder=asked.out, written=tuple(written)) if is_read_here else shown)
        if not asked.reading.quiet:
            sys.stdout.flush()
            sys.stderr.write(f"wrote {count_of(len(written), 'file')} to {asked.out}: report.md shows all of them\n")
    inputs.print_notices(noticed, asked.reading.quiet)


def _list_of_papers() -> Page:
    """The five papers with what each can reproduce."""
    from gainful_papers.claims import table

    parts: list[Any] = []
    for paper in PAPERS.values():
        parts.append(f"{paper.key}: {paper.citation}")
        parts.append(
            f"    proposes      {paper.proposes}\n"
            f"    without data  {paper.alone}\n"
            f"    with data     {paper.with_data}\n"
            f"    needs         {paper.options}\n"
            f"                  {paper.needs}"
        )
    columns = "paper | citation | proposes | without data | with data | options | needs"
    rows = ((p.key, p.citation, p.proposes, p.alone, p.with_data, p.options, p.needs) for p in PAPERS.values())
    return Page("papers", (*parts, table("", columns, rows, for_machines=True)))
