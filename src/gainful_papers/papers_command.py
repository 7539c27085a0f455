"""`gainful papers`: the five papers run again, what they say beside what gainful finds."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from gainful.cli import help_groups, options
from gainful.cli.inputs import COLLECTION_OPTIONS, CollectionOptions, SessionOptions, print_notices
from gainful.cli.progress_bar import ProgressBar
from gainful.data.collection import Inputs, named_runs, naming_strangers, run_paths
from gainful.errors import UsageError
from gainful.io.formats import GAPS, SEPARATOR, SESSION_FORMATS
from gainful.kernel.core import default_threads
from gainful.notation import choose, count_of
from gainful.policy import CHOICES
from gainful.render import Page
from gainful_papers.catalogue import FIGURES, PAPERS, Paper, check_given
from gainful_papers.table_and_plane_commands import plane_command, sweep_command, table_command

if TYPE_CHECKING:
    from gainful_papers.reproduction import Reproduction

_DATA = ("qrels", "runs", "sessions", "letor", "reference")
_WRITING = ("format_", "output", "signature")
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
        flag = {"format_": "format", "names": "name", "other": "other-qrels"}.get(name, name).replace("_", "-")
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


@dataclass(frozen=True)
class PaperOptions:
    """What was asked for: the paper, data with how they are read, the paper's settings, and where results go."""

    paper: Paper
    qrels: str
    runs: tuple[str, ...]
    sessions: tuple[str, ...]
    letor: str | None
    reference: tuple[str, ...]
    examples: bool
    data: bool
    only: tuple[str, ...]
    out: str | None
    figures: str | None
    settings: Mapping[str, Any]
    reading: CollectionOptions
    session_reading: SessionOptions

    @classmethod
    def taken_from(cls, given: dict[str, Any]) -> PaperOptions | None:
        """What was asked for, or None where all papers are to be listed; what has no meaning is refused."""
        ctx = click.get_current_context()
        named = [name for name in ctx.params if ctx.get_parameter_source(name) == ParameterSource.COMMANDLINE]
        values = {name: given.pop(name) for name in ctx.params if name not in _WRITING}
        paper = None if values["paper"] is None else PAPERS[choose(values["paper"], PAPERS, "paper")]
        _refuse_meaningless(paper, named)
        if paper is None:
            return None
        values |= {"paper": paper, "settings": {name: values[name] for name in named if name in _SETTINGS}}
        values |= {"qrels": values["qrels"] or "", "policy": options.policy_from(values)}
        values["session_reading"] = options.made_of(SessionOptions, session_gap=None)(dict(values))
        # What a header calls things means something else where sessions are read.
        values["inputs"] = Inputs() if values["sessions"] else Inputs.taken_from(values)
        values["reading"] = options.made_of(CollectionOptions)(values)
        return options.made_of(cls)(values)

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
            inputs = self.session_reading.read(self.qrels, named_runs(self.sessions, self.reading.names), threads)
            asked |= {"qrels": inputs.judged, "sessions": inputs.sessions}
            if "topics" in asked:
                asked["topics"] = inputs.topics
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
        bar = ProgressBar(self.paper.key, wanted=not self.reading.quiet, in_bytes=False)
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
@options.file_option("--qrels", "Judgments.")
@options.file_option("--runs", "A folder of runs, a file, or a pattern; may be repeated.", metavar="DIR", multiple=True)
@options.file_option("--sessions", "jarvelin2008: sessions, a file a system; repeatable.", multiple=True)
@options.folder_option("--letor", "scheel2011: OHSUMED of LETOR 3.0, raw features.")
@options.text_option(
    "--reference",
    "scheel2011: what plays the user: one of --runs, or a file of ratings or grades; may be repeated.",
    "NAME",
    multiple=True,
)
@click.option("--examples", is_flag=True, help="Only what needs no data: worked examples, errata.")
@click.option("--data", is_flag=True, help="Only what the data give.")
@options.text_option("--only", "Only this, such as 'Table 2'; may be repeated.", "SECTION", multiple=True)
@options.folder_option("--out", "Write a folder: reports, tables and figures (with [plot]).")
@options.choice_option("--figures", FIGURES, "What figures in --out are.  [default: svg]")
@options.text_option("--baseline", "jarvelin2000: the run that others are compared with.  [default: first]", "RUN")
@options.file_option("--other-qrels", "jarvelin2002: other judgments, for its Table 1.", name="other")
@options.whole_option("--collection-size", 1, "jarvelin2002: documents in the collection.", metavar="N")
@options.choice_option("--judged-by", ["topic", "session", "query"], "jarvelin2008: what judgments are by.")
@options.file_option("--topics", "jarvelin2008: a table with a header, one row a session: its topic.")
@options.text_option("--topic", "jarvelin2008: the topic of Figures 3 and 4.  [default: of most sessions]", "ID")
@options.whole_option("--at-least", 1, "jarvelin2008: queries in Figure 3.  [default: 4]", metavar="N")
@options.choice_option(
    "--ideal",
    ["held", "running", "both"],
    "jarvelin2008: what becomes of the ideal of Figure 2 when a session stops.  [default: held]",
)
@options.choice_option("--session-format", SESSION_FORMATS, "jarvelin2008: format of the sessions.")
@options.text_option(
    "--session-separator", f"jarvelin2008: in runs, between session and turn.  [default: {SEPARATOR}]", "TEXT"
)
@options.choice_option("--gaps", GAPS, "jarvelin2008: what a missing query number is.  [default: error]")
@options.whole_option("--repetitions", 1, "scheel2011: of the experiment.  [default: 100]", metavar="N")
@options.whole_option("--seed", 0, "scheel2011, dellamea2004: another seed.  [default: 0]")
@options.text_option("--best", "dellamea2004: a best system.  [default: the first ten by AP]", "RUN", multiple=True)
@options.number_option("--worst-share", "dellamea2004: share of queries below the median.  [default: 1]", "S")
@options.whole_option("--draws", 1, "dellamea2004: samples of documents.  [default: 20]", metavar="N")
@options.output_options
@options.takes(*COLLECTION_OPTIONS, options.quiet_option("No notices, no progress bar."), asked=PaperOptions.taken_from)
def command(format_: str | None, output: str | None, signature: bool, asked: PaperOptions | None) -> None:
    """Run one of the five PAPERS again, or list them; `papers table`, `plane` and `sweep`: a table and charts.

    Without data its worked examples and errata; with data its tables and figures on these.

    Example: gainful papers jarvelin2002

    Example: gainful papers jarvelin2002 --qrels qrels.txt --runs runs/ --out jarvelin2002/
    """
    if asked is None:
        options.Output.of(format_, output, (), signature).write(_list_of_papers())
        return
    to = options.Output.of(format_, output, asked.files, signature)
    asked.check_written(to.path)
    shown, noticed = asked.reproduced()
    if asked.out is None:
        to.write(shown)
    else:
        written = shown.save_all(asked.out, asked.figures or "svg")
        is_read_here = to.path is None and to.format == "table"
        to.write(replace(shown, folder=asked.out, written=tuple(written)) if is_read_here else shown)
        if not asked.reading.quiet:
            sys.stdout.flush()
            sys.stderr.write(f"wrote {count_of(len(written), 'file')} to {asked.out}: report.md shows all of them\n")
    print_notices(noticed, asked.reading.quiet)


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
