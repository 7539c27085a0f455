"""A paper run again: its worked examples, and its experiment if there are data for it."""

from __future__ import annotations

import importlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gainful.errors import UsageError
from gainful.notation import choose, nearest
from gainful.papers.library import PAPERS, Paper
from gainful.papers.sections import Section, Study
from gainful.progress import Progress
from gainful.render.page import Heading, Page, Showable, Table

if TYPE_CHECKING:
    from gainful.data.qrels import QrelsLike
    from gainful.data.run import RunLike
    from gainful.policy import Policy

#: Verdicts in the order in which they are counted.
_VERDICTS = ("agrees", "truncated", "erratum", "differs", "holds", "fails", "not seen", "other data")


@dataclass(frozen=True, eq=False, repr=False)
class Reproduction(Showable):
    """What became of a paper: sections that need no data, and the study of some data if there were any.

    ``has_charts`` is False where charts are left out, because they are drawn elsewhere.
    """

    paper: Paper
    examples: tuple[Section, ...]
    study: Study | None = None
    has_charts: bool = True

    def __repr__(self) -> str:
        return f"<Reproduction of {self.paper.key}: {'; '.join(section.name for section in self.sections)}>"

    @property
    def sections(self) -> tuple[Section, ...]:
        """All sections, those that need no data first."""
        return (*self.examples, *(self.study.sections if self.study else ()))

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
        of_study = _kept(self.study.sections, wanted) if self.study else ()
        study = replace(self.study, sections=of_study) if self.study and of_study else None
        return replace(self, examples=_kept(self.examples, wanted), study=study)

    def without_charts(self) -> Reproduction:
        """The same without charts."""
        return replace(self, has_charts=False)

    @property
    def verdicts(self) -> dict[str, int]:
        """How often the paper and gainful agree, and how often not."""
        found = Counter(verdict for section in self.sections for verdict in _verdicts(section))
        return {verdict: found[verdict] for verdict in _VERDICTS if found[verdict]}

    def page(self) -> Page:
        """The sections one below the other."""
        parts: list[Any] = [self.paper.citation]
        for section in self.examples:
            parts += self._parts(section)
        if self.study is not None:
            parts.append(self.study.data)
            for section in self.study.sections:
                parts += self._parts(section)
        counted = ", ".join(f"{verdict} {count}" for verdict, count in self.verdicts.items())
        notes = (f"the paper says, gainful finds: {counted}",) if counted else ()
        conventions = self.study.conventions if self.study else ()
        header: dict[str, object] = {"paper": self.paper.key, "sections": [section.name for section in self.sections]}
        return Page("papers", tuple(parts), (*notes, *conventions), header)

    def _parts(self, section: Section) -> Iterator[Any]:
        yield Heading(section.name)
        if section.about:
            yield section.about
        for part in section.parts:
            if self.has_charts or isinstance(part, (str, Table)):
                yield part

    def save_all(self, folder: str | os.PathLike[str], figures: str = "svg") -> list[str]:
        """Writes a folder: report.md, a .csv for every table and a figure for every section with charts.

        Returns the names of the files. Figures (svg, png or pdf) need gainful[plot].
        """
        from gainful.papers.folder import write_folder

        return write_folder(self, os.fspath(folder), figures)


def _kept(sections: tuple[Section, ...], wanted: Sequence[Section]) -> tuple[Section, ...]:
    return tuple(section for section in sections if section in wanted)


def _verdicts(section: Section) -> Iterator[str]:
    for table in Page("papers", section.parts).tables_for_machines:
        names = [column.name for column in table.columns]
        if "verdict" in names:
            place = names.index("verdict")
            yield from (str(row[place]) for row in table.rows)


def reproduce(
    paper: str,
    *,
    qrels: QrelsLike | None = None,
    runs: Mapping[str, RunLike] | None = None,
    sessions: Mapping[str, Any] | None = None,
    letor: str | os.PathLike[str] | None = None,
    policy: Policy | str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> Reproduction:
    """Runs one of the five papers again: its worked examples, and its experiment where data for it are given.

    ``qrels`` and ``runs`` are what :func:`gainful.evaluate_runs` takes, ``sessions`` are by system what
    :meth:`gainful.Sessions.of` takes, ``letor`` is the folder of a LETOR collection. Settings are those of the paper:
    jarvelin2000 has baseline; jarvelin2002 other (judgments), collection_size; jarvelin2008 judged_by, topics, topic,
    at_least; scheel2011 repetitions, seed; dellamea2004 best, worst_share, draws, seed.

    >>> found = reproduce("jarvelin2000")
    >>> found.study is None, "differs" in found.verdicts
    (True, False)
    """
    about = PAPERS[choose(paper, PAPERS, "paper")]
    given = {"qrels": qrels, "runs": runs, "sessions": sessions, "letor": letor}
    return reproduction_of(
        about,
        {name: value for name, value in given.items() if value is not None},
        settings,
        policy=policy,
        threads=threads,
        progress=progress,
    )


def reproduction_of(
    paper: Paper,
    data: Mapping[str, Any],
    settings: Mapping[str, Any],
    *,
    policy: Policy | str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Reproduction:
    """:func:`reproduce` with data by name; judgments may be prepared already."""
    check_given(paper, data, settings)
    if policy is not None and not data:
        raise UsageError(f"{paper.key}: policy has no meaning without data", f"it needs {paper.options}")
    module = importlib.import_module(f"gainful.papers.{paper.key}")
    how: dict[str, Any] = {"threads": threads, "progress": progress}
    alone = {name: settings[name] for name in paper.settings_alone if name in settings}
    study = None
    if data:  # first, because data can be wrong
        wanted = {name: settings[name] for name in paper.settings if name in settings}
        study = module.study(*(_prepared(name, data[name], policy) for name in paper.data), **wanted, **how)
    examples = module.examples(**alone, **how) if paper.settings_alone else module.examples()
    return Reproduction(paper, examples, study)


def check_given(paper: Paper, data: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    """Refuses data and settings that the paper has no use for, and data of which a part is missing."""
    words = {"qrels": "judgments", "runs": "runs", "sessions": "sessions", "letor": "a LETOR collection"}
    for name in data:
        if name not in paper.data:
            raise UsageError(f"{paper.key}: has no use for {words[name]}", f"it needs {paper.options}: {paper.needs}")
    missing = [name for name in paper.data if name not in data]
    if data and missing:
        raise UsageError(
            f"{paper.key}: expected {' and '.join(words[name] for name in paper.data)}, "
            f"found no {' and no '.join(words[name] for name in missing)}",
            f"it needs {paper.options}: {paper.needs}",
        )
    for name in settings:
        if name in paper.settings_alone:
            continue
        if name not in paper.settings:
            known = (*paper.settings_alone, *paper.settings)
            raise UsageError(
                f"{paper.key}: has no setting {name}", f"it has {', '.join(known)}" if known else "it has none"
            )
        if not data:
            raise UsageError(f"{paper.key}: {name} has no meaning without data", f"it needs {paper.options}")


def _prepared(name: str, value: Any, policy: Policy | str | None) -> Any:
    """Judgments ready to meet runs; all else as it is, if it can be."""
    if name in ("runs", "sessions") and not isinstance(value, Mapping):
        raise UsageError(f"{name}: expected a mapping of names to {name}, found {type(value).__name__}")
    if name != "qrels":
        return value
    from gainful.data.judged import Judged
    from gainful.data.qrels import Qrels
    from gainful.policy import Policy

    return value if isinstance(value, Judged) else Judged(Qrels.of(value), Policy.of(policy))
