"""What an examination found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from gainful.notation import count_of, printable
from gainful.render.page import Cell, Column, Page, Showable, Table

#: ``serious``: eval refuses the files, or its numbers would mean nothing. ``warning``: numbers are affected.
#: ``note``: good to know.
Severity: TypeAlias = Literal["serious", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("serious", "warning", "note")

#: Everything that is looked for, in the order of reports: first what eval refuses or what makes its numbers void.
CHECKS = (
    "conflicting-judgments",
    "grades-above-scale",
    "nothing-relevant",
    "unmatched-queries",
    "unmatched-documents",
    "repeated-documents",
    "reversed-scores",
    "constant-scores",
    "empty-lists",
    "missing-queries",
    "extra-queries",
    "rank-conflicts",
    "tied-documents",
    "float32-ties",
    "unjudged-top-10",
    "unjudged-bias",
    "different-depths",
    "short-lists",
    "self-hits",
    "queries-without-relevant",
    "outlying-grades",
    "fractional-grades",
    "negative-grades",
    "equal-grades",
    "no-zero-grade",
    "repeated-judgments",
    "ranks-not-from-1",
    "uneven-ranks",
    "identical-runs",
    "equal-tags",
)


@dataclass(frozen=True)
class Example:
    """One case of a finding, in words and, where it is one document or query of a file, in parts."""

    text: str
    query: str | None = None
    document: str | None = None
    place: str = ""  # the line or row, where there is one

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Finding:
    """Something suspicious: what it is, how often, an example, what it does to the numbers, and what to do about it.

    ``run`` is None where the judgments, or several runs together, are meant. ``check`` is the name of what was looked
    for; it says what is counted in ``count`` and ``total``.
    """

    check: str
    severity: Severity
    run: str | None
    count: int
    total: int
    example: Example
    consequence: str
    remedy: str

    @property
    def share(self) -> float:
        """How much of what was looked at is concerned."""
        return self.count / self.total if self.total else 0.0

    def __str__(self) -> str:
        where = "" if self.run is None else f" in {self.run}"
        return f"{self.severity}: {self.check}{where}: {self.count:,} of {self.total:,}, such as {self.example}"


@dataclass(frozen=True)
class Examination(Showable):
    """The findings about judgments and runs, serious ones first. Printed, it is a table with advice below."""

    qrels: str
    queries: int
    judgments: int
    runs: tuple[str, ...]
    findings: tuple[Finding, ...]

    __str__ = Showable.__str__

    @classmethod
    def of(
        cls, qrels: str, queries: int, judgments: int, runs: Sequence[str], findings: Iterable[Finding]
    ) -> Examination:
        """Puts findings in order: by severity, then kind by kind, then in the order of the runs."""
        ordered = sorted(findings, key=lambda each: (SEVERITIES.index(each.severity), CHECKS.index(each.check)))
        return cls(qrels, queries, judgments, tuple(runs), tuple(ordered))

    @property
    def is_serious(self) -> bool:
        """Whether something serious was found."""
        return any(finding.severity == "serious" for finding in self.findings)

    def about(self, check: str, run: str | None = None) -> list[Finding]:
        """The findings of one kind, of all runs or of one."""
        return [each for each in self.findings if each.check == check and run in (None, each.run)]

    def without(self, severity: Severity) -> Examination:
        """The same without the findings of one severity."""
        return replace(self, findings=tuple(each for each in self.findings if each.severity != severity))

    def page(self) -> Page:
        """A sentence, a table of the findings, and for each kind of them what it means and what to do."""
        header: dict[str, object] = {"judgments": self.qrels, "runs": list(self.runs)}
        header.update(self._counts())
        advice = dict.fromkeys(f"{each.check}: {each.consequence} {each.remedy}" for each in self.findings)
        return Page("check", (self.summary(), self._table(), *advice), header=header)

    def _table(self) -> Table:
        """The findings. People read the advice below; without findings only machines want to see the columns."""
        texts, counts = ("severity", "check", "run"), ("count", "of")
        shown = (*map(Column, texts), *(Column(name, "count") for name in counts), Column("example"))
        if not self.findings:
            shown = tuple(replace(column, for_machines=True) for column in shown)
        advice = (Column("consequence", for_machines=True), Column("remedy", for_machines=True))
        return Table((*shown, *advice), tuple(map(_row, self.findings)))

    def _counts(self) -> dict[str, int]:
        return {severity: sum(each.severity == severity for each in self.findings) for severity in SEVERITIES}

    def summary(self) -> str:
        """One sentence: what was looked at and how much was found."""
        judgments = count_of(self.judgments, "judgment")
        looked_at = f"{count_of(self.queries, 'query', 'queries')}, {judgments}, {count_of(len(self.runs), 'run')}"
        if not self.findings:
            return f"{looked_at}: nothing suspicious."
        nouns = {"serious": "serious finding", "warning": "warning", "note": "note"}
        found = [count_of(count, nouns[severity]) for severity, count in self._counts().items() if count]
        return f"{looked_at}: {', '.join(found)}."


def _row(found: Finding) -> tuple[Cell, ...]:
    example = str(found.example)
    return (
        *(found.severity, found.check, _short(found.run), found.count, found.total, example),
        *(found.consequence, found.remedy),
    )


def _short(name: str | None) -> str | None:
    return None if name is None else printable(name, 32)
