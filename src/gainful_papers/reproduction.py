"""One of the five papers run again: its worked examples, and its experiment if there are data for it.

A reproduction can be shown, or written as a folder: the report, as Markdown and as HTML with its figures inside, a file
for every table, a figure for every section with charts.
"""

from __future__ import annotations

import importlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

from gainful import Evaluations, InputError, Policy, Qrels, QrelsLike, RunLike, UsageError
from gainful.data.judged import Judged
from gainful.errors import warns
from gainful.io.atomic import atomic_output
from gainful.notation import choose, nearest
from gainful.pages.charts import system_numbers
from gainful.pages.page import Conventions, Heading, Table, head
from gainful.render import Page, Showable, save, text
from gainful.render.figure import can_draw, check_path
from gainful.render.markup import escaped
from gainful_papers.catalogue import FIGURES, PAPERS, Paper, check_given
from gainful_papers.claims import VERDICTS, Part, Section, Study

#: Verdicts of what is not as the paper says.
_FAILED = ("differs", "fails")


@dataclass(frozen=True, eq=False, repr=False)
class Reproduction(Showable):
    """What became of a paper: sections that need no data, and the study of some data if there were any.

    ``written`` are the files of a folder that has all of it, if there is one: only the beginning is then shown.
    """

    paper: Paper
    examples: tuple[Section, ...]
    study: Study | None = None
    folder: str = ""
    written: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Reproduction of {self.paper.key}: {'; '.join(section.name for section in self.sections)}>"

    @property
    def sections(self) -> tuple[Section, ...]:
        """All sections, those that need no data first."""
        return (*self.examples, *(self.study.sections if self.study else ()))

    @property
    def notices(self) -> tuple[str, ...]:
        """What is legal but suspicious of the data, one line each."""
        return () if self.study is None else Evaluations(self.study.evaluations).notices

    def section(self, name: str) -> Section:
        """A section by its name, in small letters or not, or by the name of its files ("table-2")."""
        for section in self.sections:
            if name.casefold() in (section.name.casefold(), section.file_name):
                return section
        names = [section.name for section in self.sections]
        # A part of a paper is there with some data or settings only: who asks for it is told so.
        needs = f"{self.paper.options} gives {self.paper.with_data}"
        raise UsageError(
            f"{self.paper.key}: no section is called '{name}'; there are {'; '.join(names)}",
            " ".join(filter(None, (nearest(name, names), needs))),
        )

    def only(self, names: str | Iterable[str]) -> Reproduction:
        """The same with some of its sections only."""
        wanted = [self.section(name) for name in ([names] if isinstance(names, str) else names)]
        kept = tuple(section for section in self.study.sections if section in wanted) if self.study else ()
        study = replace(self.study, sections=kept) if self.study and kept else None
        return replace(self, examples=tuple(each for each in self.examples if each in wanted), study=study)

    def part(self, examples: bool, data: bool) -> Reproduction:
        """The same with its examples, with what the data gave, or with both."""
        return replace(self, examples=self.examples if examples else (), study=self.study if data else None)

    @property
    def verdicts(self) -> dict[str, int]:
        """How often the paper and gainful agree, and how often not."""
        found = Counter(verdict for section in self.sections for verdict, _ in section.verdicts())
        return {verdict: found[verdict] for verdict in VERDICTS if found[verdict]}

    def summary(self, *, where: bool = True) -> Iterator[Table | str]:
        """What was run and on what, how often it is as the paper says, all that is not, and ``where`` figures are; then
        verdicts by section."""
        counted = self.verdicts
        beginning = [self.paper.citation, *([self.study.data] if self.study else [])]
        if counted:
            counts = ", ".join(f"{verdict} {count}" for verdict, count in counted.items())
            beginning.append(f"The paper says, gainful finds: {counts}.")
        found = {section.name: list(section.verdicts()) for section in self.sections}
        failed = {name: [what for verdict, what in each if verdict in _FAILED] for name, each in found.items()}
        named = [f"{name}: {'; '.join(whats)}" for name, whats in failed.items() if whats]
        if named:
            beginning.append(f"Not as the paper says: {'. '.join(named)}.")
        beginning += filter(None, [self._where_figures_are()] if where else [])
        yield from beginning if self.study is None else ["\n".join(beginning)]
        by_section = {name: Counter(verdict for verdict, _ in each) for name, each in found.items()}
        rows = [(name, *(each[verdict] or None for verdict in counted)) for name, each in by_section.items() if each]
        if len(rows) > 1:
            columns = head(["section", *(f"{verdict} #" for verdict in counted)], none="")
            yield Table(columns, rows, "Summary", for_people=True)

    def _where_figures_are(self) -> str:
        names = [section.name for section in self.sections if any(section.page.charts)]
        if not names or not (self.written or self.study):
            return ""
        if not self.written:
            return f"Drawn below: {', '.join(names)}. --out DIR writes them as figures."
        drawn = ", ".join(name for name in self.written if name.endswith(tuple(f".{each}" for each in FIGURES)))
        there = f"Figures are in {self.folder}: {drawn}."
        missing = "No figures: they need the package matplotlib (pip install 'gainful[plot]')."
        return f"{there if drawn else missing} report.md and report.html have all of it."

    def page(self) -> Page:
        """The beginning, then the sections one below the other; those that need no data first."""
        sections = [section.name for section in self.sections]
        header: dict[str, object] = {"paper": self.paper.key, "sections": sections, "verdicts": self.verdicts}
        parts = *self.summary(), *(() if self.written else self._shown())
        return Page("papers", parts, self._conventions, header)

    def _shown(self) -> Iterator[Any]:
        """All sections as a page has them."""
        for section in self.sections:
            yield Heading(section.name)
            yield from [section.about] if section.about else []
            yield from section.parts

    @property
    def _conventions(self) -> tuple[str, ...]:
        """Those of the study, then those that some sections have of their own, after the names of these."""
        if self.study is None:
            return ()
        own: dict[str, list[str]] = {}
        for section in self.study.sections:
            for note in section.conventions:
                own.setdefault(note, []).append(section.name)
        if all(section.conventions for section in self.study.sections):
            return tuple(own)
        after: list[str] = []
        for note, names in own.items():
            of = f"{', '.join(names)}: "
            after.append(Conventions(of + note, of + note.whole) if isinstance(note, Conventions) else of + note)
        return *self.study.conventions, *after

    def save_all(self, folder: str | os.PathLike[str], figures: str = "svg") -> list[str]:
        """Writes a folder: report.md, a .csv for every table and a figure for every section with charts; report.html
        has the charts inside.

        Returns the names of the files, each of which is written whole or not at all; others in the folder are left
        alone. Figures (svg, png or pdf) and the charts of report.html need gainful[plot]; report.md has charts as text
        without it.
        """
        folder = os.fspath(folder)
        check_folder(folder, figures)
        try:
            os.makedirs(folder, exist_ok=True)
        except OSError as error:
            raise InputError(f"{folder}: cannot be made ({error.strerror})") from error
        written = ["report.md", "report.html"]
        systems = tuple(system_numbers(self.page().charts))
        beginning = tuple(self.summary(where=False))
        blocks = [f"# {self.paper.key}", _markdown(*beginning)]
        for section in self.sections:
            shared = self.study.conventions if self.study and section in self.study.sections else ()
            page = replace(section.page, notes=section.conventions or shared, systems=systems)
            blocks += [f"## {escaped(section.name)}", _markdown(section.about)]
            shown = tuple(section.parts)
            if any(page.charts) and can_draw():
                name = f"{section.file_name}.{figures}"
                save(page, os.path.join(folder, name))
                written.append(name)
                blocks.append(f"![{escaped(section.name)}]({name})")
                shown = tuple(part for part in shown if isinstance(part, (str, Table)))
            blocks.append(_markdown(*shown))
            # The tables with everything in them, numbered where there are several.
            tables, links = list(page.tables_for_machines), []
            for number, table in enumerate(tables, 1):
                name = f"{section.file_name}{f'-{number}' if len(tables) > 1 else ''}.csv"
                save(Page("papers", (table,)), os.path.join(folder, name))
                written.append(name)
                links.append(f"[{name}]({name}) {escaped(table.title)}".rstrip())
            blocks.append("; ".join(links))
        blocks.append(text(Page("papers", (), self.page().notes).with_whole_conventions(), "markdown").strip("\n"))
        with atomic_output(os.path.join(folder, "report.md")) as out:
            out.write("\n\n".join(block for block in blocks if block) + "\n")
        save(replace(self.page(), parts=(*beginning, *self._shown())), os.path.join(folder, "report.html"))
        return written


def check_folder(folder: str, figures: str, are_wanted: bool = False) -> None:
    """Refuses a folder that cannot be written into, before any work begins, and figures that cannot be drawn, if they
    are what somebody wants."""
    choose(figures, FIGURES, "figures")
    if not folder:
        raise UsageError("--out: expected a folder to write into, found no name")
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise UsageError(f"{folder}: expected a folder to write into, found a file")
    above = os.path.dirname(os.path.abspath(folder))
    if not os.path.isdir(above):
        raise InputError(f"{folder}: cannot be made (there is no folder {above})")
    if are_wanted:
        check_path(f"x.{figures}")


def _markdown(*parts: Part) -> str:
    return text(Page("papers", parts), "markdown").strip("\n")


def settings_of(paper: Paper, data: Iterable[str]) -> list[str]:
    """The settings of a paper with such data: what its study takes after these, but for how the work is done."""
    taken = list(signature(_study_of(paper, data)).parameters)[len(paper.data_among(data)) :]
    return [*paper.settings_alone, *(each for each in taken if each != "threads")]


def _study_of(paper: Paper, data: Iterable[str]) -> Any:
    module = importlib.import_module(f"gainful_papers.{paper.key}")
    return module.study if paper.data_among(data) == paper.data else module.study_of


@warns
def reproduce(
    paper: str,
    *,
    qrels: QrelsLike | Judged | None = None,
    runs: Mapping[str, RunLike] | None = None,
    sessions: Mapping[str, Any] | None = None,
    letor: str | os.PathLike[str] | None = None,
    reference: Any = None,
    policy: Policy | str | None = None,
    threads: int | None = None,
    **settings: Any,
) -> Reproduction:
    """Runs one of the five papers again: its worked examples, and its experiment where data for it are given.

    ``qrels`` and ``runs`` are what :func:`gainful.evaluate` takes, ``sessions`` are by system what
    :meth:`gainful.Sessions.of` takes, ``letor`` is the folder of a LETOR collection; ``reference`` names
    runs or files of grades that play the user, or has judgments or runs by name. Settings are those of the paper:
    jarvelin2000 has baseline, factors, gain, base, at; jarvelin2002 other (judgments), gain, base, at;
    jarvelin2008 judged_by, topics, topic, at_least, gain, base, query_base, at; scheel2011 repetitions, seed (its
    ``qrels`` are a reference); dellamea2004 best, worst_share, draws, seed.

    >>> found = reproduce("jarvelin2000")
    >>> found.study is None, "differs" in found.verdicts
    (True, False)
    """
    given = {"qrels": qrels, "runs": runs, "sessions": sessions, "letor": letor, "reference": reference}
    data: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    about = PAPERS[choose(paper, PAPERS, "paper")]
    if "reference" in about.other_data and qrels is not None and reference is None:
        data["reference"] = {"judgments": data.pop("qrels")}
    check_given(about, data)
    names, known = about.data_among(data), settings_of(about, data)
    for name in settings:
        if name not in known:
            raise UsageError(f"{paper}: has no setting {name}", f"it has {', '.join(known)}")
        if not data and name not in about.settings_alone:
            raise UsageError(f"{paper}: {name} has no meaning without data", f"it needs {about.options}")
    if policy is not None and not ("qrels" in names and data):
        why, hint = ("judgments", "leave it out") if data else ("data", f"it needs {about.options}")
        raise UsageError(f"{paper}: policy has no meaning without {why}", hint)
    for name in ("runs", "sessions"):
        if not isinstance(data.get(name, {}), Mapping):
            raise UsageError(f"{name}: expected a mapping of names to {name}, found {type(data[name]).__name__}")
    if "qrels" in data:
        data["qrels"] = qrels if isinstance(qrels, Judged) else Judged(Qrels.of(data["qrels"]), Policy.of(policy))
    study = None
    if data:  # first, because data can be wrong
        wanted = {name: value for name, value in settings.items() if name not in about.settings_alone}
        study = _study_of(about, data)(*(data[name] for name in names), **wanted, threads=threads)
    alone = {name: settings[name] for name in about.settings_alone if name in settings}
    examples = importlib.import_module(f"gainful_papers.{about.key}").examples
    return Reproduction(about, examples(**alone, threads=threads) if about.settings_alone else examples(), study)
