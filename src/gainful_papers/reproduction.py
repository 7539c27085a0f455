"""Reproduction of a paper: its worked examples and, given data, its experiment; shown, or written to a folder."""

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

#: Verdicts that contradict the paper.
_FAILED = ("differs", "fails")


@dataclass(frozen=True, eq=False, repr=False)
class Reproduction(Showable):
    """A reproduced paper: sections that need no data, and the study of the data, if any were given.

    ``written`` are the files saved to ``folder``, if any; only the summary is then shown.
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
        """Warnings about the data, one per line."""
        return () if self.study is None else Evaluations(self.study.evaluations).notices

    def section(self, name: str) -> Section:
        """Find a section by its name, ignoring case, or by its file name ("table-2")."""
        for section in self.sections:
            if name.casefold() in (section.name.casefold(), section.file_name):
                return section
        names = [section.name for section in self.sections]
        # Some sections exist only with certain data or settings.
        needs = f"{self.paper.options} adds {self.paper.with_data}"
        raise UsageError(
            f"{self.paper.key}: no section '{name}'; sections are {'; '.join(names)}",
            " ".join(filter(None, (nearest(name, names), needs))),
        )

    def only(self, names: str | Iterable[str]) -> Reproduction:
        """Return a copy with only some sections."""
        wanted = [self.section(name) for name in ([names] if isinstance(names, str) else names)]
        kept = tuple(section for section in self.study.sections if section in wanted) if self.study else ()
        study = replace(self.study, sections=kept) if self.study and kept else None
        return replace(self, examples=tuple(each for each in self.examples if each in wanted), study=study)

    def part(self, examples: bool, data: bool) -> Reproduction:
        """Return a copy with the examples, with the study of the data, or with both."""
        return replace(self, examples=self.examples if examples else (), study=self.study if data else None)

    @property
    def verdicts(self) -> dict[str, int]:
        """Number of claims per verdict."""
        found = Counter(verdict for section in self.sections for verdict, _ in section.verdicts())
        return {verdict: found[verdict] for verdict in VERDICTS if found[verdict]}

    def summary(self, *, where: bool = True) -> Iterator[Table | str]:
        """Yield the citation, data, counts of verdicts, disagreements and, if ``where``, the files of figures; then the
        verdicts by section."""
        counted = self.verdicts
        beginning = [self.paper.citation, *([self.study.data] if self.study else [])]
        if counted:
            counts = ", ".join(f"{verdict} {count}" for verdict, count in counted.items())
            beginning.append(f"Verdicts: {counts}.")
        found = {section.name: list(section.verdicts()) for section in self.sections}
        failed = {name: [what for verdict, what in each if verdict in _FAILED] for name, each in found.items()}
        named = [f"{name}: {'; '.join(whats)}" for name, whats in failed.items() if whats]
        if named:
            beginning.append(f"Disagreements with the paper: {'. '.join(named)}.")
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
        there = f"Figures in {self.folder}: {drawn}."
        missing = "No figures: they need the package matplotlib (pip install 'gainful[plot]')."
        return f"{there if drawn else missing} The full report is in report.md and report.html."

    def page(self) -> Page:
        """Return the summary followed by the sections, those that need no data first."""
        sections = [section.name for section in self.sections]
        header: dict[str, object] = {"paper": self.paper.key, "sections": sections, "verdicts": self.verdicts}
        parts = *self.summary(), *(() if self.written else self._shown())
        return Page("papers", parts, self._conventions, header)

    def _shown(self) -> Iterator[Any]:
        for section in self.sections:
            yield Heading(section.name)
            yield from [section.about] if section.about else []
            yield from section.parts

    @property
    def _conventions(self) -> tuple[str, ...]:
        """The study's conventions, then those of single sections, preceded by the names of these."""
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
        """Write report.md, report.html, one .csv per table and one figure per section with charts to a folder.

        Return the names of the files. Each is written completely or not at all; other files are left alone. Figures
        (svg, png or pdf) and the charts embedded in report.html need gainful[plot]; without it, charts are text.
        """
        folder = os.fspath(folder)
        check_folder(folder, figures)
        try:
            os.makedirs(folder, exist_ok=True)
        except OSError as error:
            raise InputError(f"{folder}: cannot be created ({error.strerror})") from error
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
            # The complete tables, numbered if there are several.
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
    """Raise an error before any work begins if the folder cannot be written or, if ``are_wanted``, figures cannot."""
    choose(figures, FIGURES, "figures")
    if not folder:
        raise UsageError("--out: the name of the folder is empty")
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise UsageError(f"{folder}: expected a folder, found a file")
    above = os.path.dirname(os.path.abspath(folder))
    if not os.path.isdir(above):
        raise InputError(f"{folder}: cannot be created (no folder {above})")
    if are_wanted:
        check_path(f"x.{figures}")


def _markdown(*parts: Part) -> str:
    return text(Page("papers", parts), "markdown").strip("\n")


def settings_of(paper: Paper, data: Iterable[str]) -> list[str]:
    """Return the settings of a paper with such data: the other parameters of its study, except ``threads``."""
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
    """Reproduce one of the five papers: its worked examples and, if data are given, its experiment.

    ``qrels`` and ``runs`` are as in :func:`gainful.evaluate`; ``sessions`` maps systems to the input of
    :meth:`gainful.Sessions.of`; ``letor`` is the folder of a LETOR collection; ``reference`` names runs or files of
    grades that stand in for users, or maps names to judgments or runs. Settings depend on the paper. jarvelin2000:
    baseline, factors, gain, base, at; jarvelin2002: other (judgments), gain, base, at; jarvelin2008: judged_by, topics,
    topic, at_least, gain, base, query_base, at; scheel2011: repetitions, seed (``qrels`` are a reference);
    dellamea2004: best, worst_share, draws, seed.

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
            raise UsageError(f"{paper}: no setting {name}", f"settings are {', '.join(known)}")
        if not data and name not in about.settings_alone:
            raise UsageError(f"{paper}: {name} cannot be used without data", f"it needs {about.options}")
    if policy is not None and not ("qrels" in names and data):
        why, hint = ("judgments", "leave it out") if data else ("data", f"it needs {about.options}")
        raise UsageError(f"{paper}: policy cannot be used without {why}", hint)
    for name in ("runs", "sessions"):
        if not isinstance(data.get(name, {}), Mapping):
            raise UsageError(f"{name}: expected a mapping of names to {name}, found {type(data[name]).__name__}")
    if "qrels" in data:
        data["qrels"] = qrels if isinstance(qrels, Judged) else Judged(Qrels.of(data["qrels"]), Policy.of(policy))
    study = None
    if data:  # first, so that invalid data fail early
        wanted = {name: value for name, value in settings.items() if name not in about.settings_alone}
        study = _study_of(about, data)(*(data[name] for name in names), **wanted, threads=threads)
    alone = {name: settings[name] for name in about.settings_alone if name in settings}
    examples = importlib.import_module(f"gainful_papers.{about.key}").examples
    return Reproduction(about, examples(**alone, threads=threads) if about.settings_alone else examples(), study)
