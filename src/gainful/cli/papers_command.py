"""What `gainful papers` reads: which files, so that none of them is written over, and what is in them.

`gainful papers`: the five papers run again, what they say beside what gainful finds.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.core import ParameterSource

from gainful.cli.inputs import collection_from, collection_options
from gainful.cli.options import Output, output_from, output_options
from gainful.cli.progress_bar import ProgressBar
from gainful.cli.session_inputs import session_inputs
from gainful.data.collection import named_runs, naming_strangers, run_paths
from gainful.errors import UsageError
from gainful.io.formats import GAPS, SEPARATOR, SESSION_FORMATS
from gainful.kernel.core import default_threads
from gainful.notation import choose, count_of, read_number
from gainful.papers.reproduction import PAPERS, Paper, check_folder
from gainful.policy import CHOICES

if TYPE_CHECKING:
    from gainful.pages.page import Page
    from gainful.papers.reproduction import Reproduction

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
    files = named_runs(options["sessions"], options["names"])
    inputs = session_inputs(options["qrels"], files, options, threads)
    data: dict[str, Any] = {"qrels": inputs.judged, "sessions": inputs.sessions}
    return data if inputs.topics is None else {**data, "topics": inputs.topics}


_PATH = click.Path()
_DATA = ("qrels", "runs", "sessions", "letor")
#: What has a meaning with and without data.
_ALWAYS = ("paper", "only", "out", "figures", "format_", "output", "quiet", "threads")

#: What says how judgments are read, how runs and how sessions.
_BELONGING: Mapping[str, tuple[str, ...]] = {
    "qrels": ("scale", "qrels_format", "columns", "like", *(choice.field for choice in CHOICES)),
    "runs": ("names", "run_format", "feature"),
    "sessions": ("names", "session_format", "session_separator", "gaps"),
}
#: The settings of papers, by the names of their options.
_SETTINGS = {
    "baseline": "baseline",
    "other_qrels": "other",
    "collection_size": "collection_size",
    "judged_by": "judged_by",
    "topics": "topics",
    "topic": "topic",
    "at_least": "at_least",
    "repetitions": "repetitions",
    "seed": "seed",
    "best": "best",
    "worst_share": "worst_share",
    "draws": "draws",
}


@click.command("papers")
@click.argument(
    "paper", required=False, shell_complete=lambda ctx, param, word: [p for p in PAPERS if p.startswith(word)]
)
@click.option("--qrels", type=_PATH, metavar="FILE", help="Judgments.")
@click.option(
    "--runs", type=_PATH, multiple=True, metavar="DIR", help="A folder of runs, a file, or a pattern; may be repeated."
)
@click.option(
    "--sessions", type=_PATH, multiple=True, metavar="FILE", help="jarvelin2008: sessions, a file a system; repeatable."
)
@click.option("--letor", type=_PATH, metavar="DIR", help="scheel2011: OHSUMED of LETOR 3.0, raw features.")
@click.option("--only", multiple=True, metavar="SECTION", help="Only this, such as 'Table 2'; may be repeated.")
@click.option(
    "--out", type=click.Path(), metavar="DIR", help="Write a folder: report, tables and figures (needs [plot])."
)
@click.option("--figures", type=click.Choice(["svg", "png", "pdf"]), help="What figures in --out are.  [default: svg]")
@click.option(
    "--baseline", metavar="RUN", help="jarvelin2000: the run that others are compared with.  [default: first]"
)
@click.option("--other-qrels", type=_PATH, metavar="FILE", help="jarvelin2002: other judgments, for its Table 1.")
@click.option(
    "--collection-size", type=click.IntRange(1), metavar="N", help="jarvelin2002: documents in the collection."
)
@click.option(
    "--judged-by", type=click.Choice(["topic", "session", "query"]), help="jarvelin2008: what judgments are by."
)
@click.option(
    "--topics", type=_PATH, metavar="FILE", help="jarvelin2008: a table with a header, one row a session: its topic."
)
@click.option("--topic", metavar="ID", help="jarvelin2008: the topic of Figures 3 and 4.  [default: of most sessions]")
@click.option(
    "--at-least", type=click.IntRange(1), metavar="N", help="jarvelin2008: queries in Figure 3.  [default: 4]"
)
@click.option(
    "--session-format", type=click.Choice(list(SESSION_FORMATS)), help="jarvelin2008: format of the sessions."
)
@click.option(
    "--session-separator",
    metavar="TEXT",
    help=f"jarvelin2008: in runs, between session and turn.  [default: {SEPARATOR}]",
)
@click.option("--gaps", type=click.Choice(GAPS), help="jarvelin2008: what a missing query number is.  [default: error]")
@click.option(
    "--repetitions", type=click.IntRange(1), metavar="N", help="scheel2011: of the experiment.  [default: 100]"
)
@click.option("--seed", type=click.IntRange(0), help="scheel2011, dellamea2004: another seed.  [default: 0]")
@click.option(
    "--best", multiple=True, metavar="RUN", help="dellamea2004: a best system.  [default: the first ten by AP]"
)
@click.option("--worst-share", metavar="S", help="dellamea2004: share of queries below the median.  [default: 1]")
@click.option("--draws", type=click.IntRange(1), metavar="N", help="dellamea2004: samples of documents.  [default: 20]")
@output_options
@collection_options
def command(paper: str | None, **options: Any) -> None:
    """Run one of the five PAPERS again, or list them.

    Without data its worked examples and errata; with data its tables and figures on these.

    Example: gainful papers jarvelin2002

    Example: gainful papers jarvelin2002 --qrels qrels.txt --runs runs/ --out jarvelin2002/
    """
    ctx = click.get_current_context()
    given = [name for name in ctx.params if ctx.get_parameter_source(name) == ParameterSource.COMMANDLINE]
    if paper is None:
        _list(given, options)
        return
    about = PAPERS[choose(paper, PAPERS, "paper")]
    _check_options(about, given)
    settings = {_SETTINGS[name]: options[name] for name in given if name in _SETTINGS}
    has_data = _check_data(about, given, settings)
    if options["figures"] and options["out"] is None:
        raise UsageError("--figures: expected a folder, found none", "--out DIR writes figures")
    inputs = PaperInputs.of(options)
    output = output_from(options, *inputs.files)
    inputs.check_output(output.path, options["out"], options["runs"])
    if options["out"] is not None:
        inputs.check_folder(options["out"])
        check_folder(options["out"], options["figures"] or "svg", has_data or about.draws_alone)
    found = _reproduced(about, inputs, settings, options)
    _show(found.only(options["only"]) if options["only"] else found, output, options)
    if found.study is not None and not options["quiet"]:
        from gainful.evaluation.notices import notices

        sys.stdout.flush()
        sys.stderr.writelines(f"notice: {line}\n" for line in notices(found.study.evaluations.values()))


def _list(given: Iterable[str], options: dict[str, Any]) -> None:
    for name in given:
        if name not in ("format_", "output", "quiet"):
            raise UsageError(f"--{_flag(name)}: expected a paper, found none", f"one of {', '.join(PAPERS)}")
    output_from(options).write(papers_page())


def papers_page() -> Page:
    """The five papers with what each can reproduce."""
    from gainful.pages.page import Column, Page, Table

    parts: list[Table | str] = []
    for paper in PAPERS.values():
        parts += [
            f"{paper.key}: {paper.citation}",
            f"    proposes      {paper.proposes}\n"
            f"    without data  {paper.alone}\n"
            f"    with data     {paper.with_data}\n"
            f"    needs         {paper.options}\n"
            f"                  {paper.needs}",
        ]
    names = ("paper", "citation", "proposes", "without data", "with data", "options", "needs")
    rows = tuple(
        (paper.key, paper.citation, paper.proposes, paper.alone, paper.with_data, paper.options, paper.needs)
        for paper in PAPERS.values()
    )
    parts.append(Table(tuple(Column(name, for_machines=True) for name in names), rows))
    return Page("papers", tuple(parts))


def _check_options(paper: Paper, given: Iterable[str]) -> None:
    """Refuses options that have no meaning for this paper, or none without data."""
    own = [*paper.settings, *paper.settings_alone]
    wanted = {*_ALWAYS, *paper.data, *(option for option, setting in _SETTINGS.items() if setting in own)}
    for name, belonging in _BELONGING.items():
        if name in paper.data:
            wanted.update(belonging)
    has_data = any(name in given for name in _DATA)
    for name in given:
        if name not in wanted:
            raise UsageError(
                f"--{_flag(name)}: has no meaning for {paper.key}", f"it needs {paper.options}: {paper.needs}"
            )
        if not has_data and name not in (*_ALWAYS, *paper.settings_alone):
            raise UsageError(f"--{_flag(name)}: has no meaning without data", f"{paper.key} needs {paper.options}")


def _flag(name: str) -> str:
    return {"format_": "format", "names": "name"}.get(name, name).replace("_", "-")


def _check_data(paper: Paper, given: Iterable[str], settings: Mapping[str, Any]) -> bool:
    """Whether there are data; a part of them is refused."""
    from gainful.papers.reproduction import check_given

    named = [name for name in _DATA if name in given]
    check_given(paper, dict.fromkeys(named), settings)
    return bool(named)


def _reproduced(
    paper: Paper, inputs: PaperInputs, settings: dict[str, Any], options: Mapping[str, Any]
) -> Reproduction:
    """The paper run again, with a progress bar if it takes long."""
    from gainful.papers.reproduction import reproduction_of

    threads = options["threads"] or default_threads()
    if "worst_share" in settings:
        settings["worst_share"] = read_number(settings["worst_share"], "--worst-share")
    if "other" in settings:
        from gainful.data.qrels import Qrels

        settings["other"] = Qrels.read(settings["other"], threads=threads)
    data = inputs.data(options, threads)
    if "topics" in settings:
        settings["topics"] = data.pop("topics")
    bar = ProgressBar(paper.key, wanted=not options["quiet"], in_bytes=False)
    with bar as progress, naming_strangers(options["runs"]):
        return reproduction_of(paper, data, settings, threads=threads, progress=progress)


def _show(found: Reproduction, output: Output, options: Mapping[str, Any]) -> None:
    """Writes the folder, if one is wanted, and then the page: charts are in the folder then."""
    out = options["out"]
    if out is None:
        output.write(found)
        return
    written = found.save_all(out, options["figures"] or "svg")
    output.write(found.without_charts())
    if not options["quiet"]:
        sys.stdout.flush()
        sys.stderr.write(f"wrote {count_of(len(written), 'file')} to {out}: report.md shows all of them\n")
