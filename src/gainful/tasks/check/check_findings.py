"""What an examination found.

From where the core found something to what a person can look up: query, document and line.
A run as the doctor sees it: what is remarkable about its lists, and what they share with the judgments.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np

from gainful.data.collection import ReadRun
from gainful.data.graded import fitting_policy, join_columns, open_run
from gainful.data.judged import Judged
from gainful.data.qrels import Qrels
from gainful.data.run import Run, RunLike, empty_run
from gainful.io.rows import fields_at, raise_faults
from gainful.io.sources import Text
from gainful.kernel import core
from gainful.kernel.arrays import Bools, Bytes, Ints
from gainful.kernel.parallel import Progress
from gainful.notation import count_of, number_text, printable, text_of_id
from gainful.pages.page import Cell, Column, Page, Table
from gainful.policy import Policy
from gainful.render.showable import Showable

if TYPE_CHECKING:
    from gainful.kernel.core import Joined, ListFacts

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


_BLOCK = 1 << 18
_PIECE = 1 << 14
_WIDEST_ID = 32


class Row(NamedTuple):
    """One row of a run as it was read."""

    query: bytes
    document: bytes
    rank: str
    score: str
    place: str  # the line or row, where there is one


class Places(Protocol):
    """Looks up rows of a run by what the core calls their place."""

    def row(self, where: int) -> Row: ...

    def documents(self, where: int, most: int) -> list[bytes]:
        """Some documents of the list whose first row is at a place."""
        ...

    @property
    def tag(self) -> str | None:
        """What the run calls itself."""
        ...


class LineNumbers:
    """The number, from 1, of the line that starts at an offset; no part of the data is counted through twice."""

    def __init__(self, data: Bytes) -> None:
        self._data = data
        self._feeds = [0]  # line feeds before each block

    def __call__(self, offset: int) -> int:
        block = offset // _BLOCK
        while len(self._feeds) <= block:
            start = (len(self._feeds) - 1) * _BLOCK
            self._feeds.append(self._feeds[-1] + self._count(start, start + _BLOCK))
        return 1 + self._feeds[block] + self._count(block * _BLOCK, offset)

    def _count(self, start: int, end: int) -> int:
        return int(np.count_nonzero(self._data[start:end] == 10))


class TextPlaces:
    """Places in TREC text: offsets of lines."""

    def __init__(self, data: Bytes) -> None:
        self._data = data
        self._line_number = LineNumbers(data)

    def row(self, where: int) -> Row:
        query, _, document, rank, score, _ = fields_at(self._data, where)
        place = f"line {self._line_number(where)}"
        return Row(query, document, printable(rank), number_text(float(score)), place)

    def documents(self, where: int, most: int) -> list[bytes]:
        found: list[bytes] = []
        query = b""
        for fields in self._lines(where):
            query = query or fields[0]
            if fields[0] != query or len(found) == most:
                break
            found.append(fields[2])
        return found

    @property
    def tag(self) -> str | None:
        fields = next(self._lines(0), None)
        return None if fields is None else text_of_id(fields[5])

    def _lines(self, where: int) -> Iterator[list[bytes]]:
        """The fields of the lines from an offset on; long lines and long lists are read in pieces."""
        rest = b""
        for at in range(where, self._data.size, _PIECE):
            *lines, rest = (rest + self._data[at : at + _PIECE].tobytes()).split(b"\n")
            yield from _well_formed(lines)
        yield from _well_formed([rest])


def _well_formed(lines: list[bytes]) -> Iterator[list[bytes]]:
    for line in lines:
        fields = line.removesuffix(b"\r").replace(b"\t", b" ").split(b" ")
        found = [field for field in fields if field]
        if len(found) == 6 and not found[0].startswith(b"#"):
            yield found


class RowPlaces:
    """Places in a run that is in columns: rows."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def row(self, where: int) -> Row:
        run = self._run
        rank = number_text(run.rank[where]) if run.has_ranks and not np.isnan(run.rank[where]) else ""
        score = number_text(run.score[where]) if run.has_scores else ""
        place = "" if run.origin is None else run.origin.place(where)
        return Row(run.query_of(where), run.document(where), rank, score, place)

    def documents(self, where: int, most: int) -> list[bytes]:
        end = self._run.list_offsets[np.searchsorted(self._run.list_offsets, where, "right")]
        return [self._run.document(row) for row in range(where, min(int(end), where + most))]

    @property
    def tag(self) -> str | None:
        return None


def at_row(row: Row, detail: str = "") -> Example:
    """A row of a run as an example, with something to say about it."""
    return _example(row.query, row.document, row.place, detail)


def at_judgment(qrels: Qrels, row: int, detail: str = "") -> Example:
    """A judgment as an example, with something to say about it."""
    place = "" if qrels.origin is None else qrels.origin.place(row)
    return _example(qrels.query_ids[int(qrels.query[row])], qrels.document(row), place, detail)


def at_query(query: bytes, detail: str = "") -> Example:
    """A query as an example, with something to say about it."""
    return Example(f"query {shown_id(query)}{detail}", text_of_id(query))


def _example(query: bytes, document: bytes, place: str, detail: str) -> Example:
    where = f"{place}: " if place else ""
    text = f"{where}{shown_id(query)} {shown_id(document)}{detail}"
    return Example(text, text_of_id(query), text_of_id(document), place)


def shown_id(identifier: bytes) -> str:
    """An id as it can be shown beside others."""
    return printable(identifier, _WIDEST_ID)


TOP = 10


@dataclass(frozen=True, eq=False)
class InspectedRun:
    """One run, list by list. ``policy`` is the user's, as this run can carry it."""

    name: str
    judged: Judged
    policy: Policy
    joined: Joined
    lists: ListFacts
    places: Places
    has_scores: bool

    @property
    def size(self) -> int:
        """How many lists there are."""
        return len(self.lists["query_ids"])

    @property
    def by_score(self) -> bool:
        """Whether scores decide the order of the lists."""
        return self.policy.order == "score"

    @cached_property
    def is_judged(self) -> Bools:
        """The lists whose queries have judgments."""
        return np.asarray(self.lists["query"] >= 0)

    @cached_property
    def counts(self) -> Bools:
        """The lists that make numbers: those with judgments; all of them when none has any."""
        return self.is_judged if self.is_judged.any() else np.ones(self.size, bool)

    def total(self, lists: Bools | None = None) -> int:
        """How many distinct documents some lists hold, before depth; those of all lists that count by default."""
        distinct = self.lists["rows"] - self.lists["duplicates"]
        return int(distinct[self.counts if lists is None else lists].sum())

    def rows_at(self, lists: Bools, *places: str) -> list[Row]:
        """The rows of the example that stands first in the input, among some lists."""
        chosen = np.flatnonzero(lists)
        where = self.column(places[0])[chosen]
        first = chosen[int(np.argmin(where))]
        return [self.places.row(int(self.column(place)[first])) for place in places]

    def column(self, name: str) -> Ints:
        """One fact of all lists."""
        values: Ints = self.lists[name]  # type: ignore[literal-required]
        return values

    @property
    def missing(self) -> list[bytes]:
        """Judged queries that the run does not answer, in byte order."""
        unanswered = np.flatnonzero(~self.joined["answered"]).tolist()
        return [self.judged.qrels.query_ids[i] for i in unanswered]

    @cached_property
    def _counting_hits(self) -> Bools:
        """The retrieved documents that are judged, except those that the policy counts as unjudged."""
        return np.asarray(~np.isnan(self.judged.grade[self.joined["hit_item"]]))

    @cached_property
    def hits(self) -> int:
        """How many retrieved documents are judged."""
        return int(np.count_nonzero(self._counting_hits))

    @cached_property
    def possible_hits(self) -> int:
        """How many could be: as many as are judged, and as many as are retrieved."""
        items = np.diff(self.judged.item_offsets)
        return int(np.minimum(items, self.joined["retrieved"]).sum())

    @cached_property
    def shown(self) -> int:
        """How many documents stand in the first ten of the judged lists."""
        return int(np.minimum(self.joined["retrieved"], TOP).sum())

    @cached_property
    def unjudged(self) -> int:
        """How many of them are unjudged."""
        seen = self._counting_hits & (self.joined["hit_rank"] <= TOP)
        return self.shown - int(np.count_nonzero(seen))

    @cached_property
    def usual_depth(self) -> int:
        """The median length of the lists that count."""
        return int(np.median(self.lists["retrieved"][self.counts])) if self.counts.any() else 0

    def fingerprint(self) -> bytes:
        """Equal for runs that have the same judged documents at the same ranks, and as many others."""
        digest = hashlib.blake2b(digest_size=16)
        for name in ("answered", "retrieved", "hit_offsets", "hit_rank", "hit_item"):
            digest.update(self.joined[name].tobytes())
        return digest.digest()


def inspect(
    judged: Judged,
    run: RunLike | Text,
    name: str,
    policy: Policy,
    *,
    threads: int = 1,
    progress: Progress | None = None,
) -> InspectedRun:
    """Orders a run's lists as the judgments' policy says, and looks each of them over."""
    progress = progress or Progress()
    opened = open_run(run, name, threads=threads)
    if isinstance(opened, Run):
        progress.total += len(opened)
        fitting = fitting_policy(opened, judged.policy)
        in_rows = join_columns(judged, opened, fitting, (False, False), threads, progress, want_facts=True)
        return _inspected(name, judged, fitting_policy(opened, policy), in_rows, RowPlaces(opened), opened.has_scores)
    joined = opened.joined(judged, judged.policy) if isinstance(opened, ReadRun) else None
    text = opened.source if isinstance(opened, ReadRun) else opened
    if joined is None:
        progress.total += text.data.size
        options = judged.policy.join_options()
        joined = core.join_text(text.data, judged.index, *options, False, False, threads, progress.cells, True)
    raise_faults(text.name, text.data, joined["faults"], joined["fault_count"], run=True)
    if not joined["list_count"]:
        raise empty_run(text.name)
    return _inspected(name, judged, policy, joined, TextPlaces(text.data), True)


def _inspected(
    name: str, judged: Judged, policy: Policy, joined: Joined, places: Places, has_scores: bool
) -> InspectedRun:
    lists = joined["facts"]
    if lists is None:
        raise TypeError("the join was not asked for facts")
    return InspectedRun(name, judged, policy, joined, lists, places, has_scores)
