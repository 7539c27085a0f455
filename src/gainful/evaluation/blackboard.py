"""A list of grades as one writes it on a blackboard: its arithmetic, and what a change does to it, term by term."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np

from gainful.data.qrels import Qrels
from gainful.data.run import Run
from gainful.errors import UsageError
from gainful.evaluation.explained_page import ByRank, introduction, list_data, numbers_by_rank, signatures, table_depth
from gainful.evaluation.explanation import ExplainedList, Explanation, explain_runs
from gainful.kernel.arrays import Floats
from gainful.measures.arithmetic import figure
from gainful.measures.base import Measure
from gainful.notation import count_of, read_number, whole_number
from gainful.pages.page import Cell, Column, Table
from gainful.policy import Policy
from gainful.render import Page

_QUERY = "grades"
_OF_RANKS = ("discount", "weight", "ideal gain")
_SEPARATOR = re.compile(r"\s*[,;\s]\s*")


class Document(NamedTuple):
    """A document that is known by its place and its grade; None is unjudged."""

    name: str
    grade: float | None


class Board(NamedTuple):
    """The documents of a list from rank 1 on, and those that it did not find.

    >>> explanation = Board.read("3,2,0,1", "3").explained("nDCG@5", Policy())
    >>> print(explanation.steps[-1])
    nDCG@5 = 4.6925 / 6.3235 = 0.7421
    """

    listed: tuple[Document, ...]
    unretrieved: tuple[Document, ...] = ()

    @classmethod
    def read(cls, grades: str, unretrieved: str | None = None) -> Board:
        """From grades with commas or blanks between them; ``-`` is an unjudged document."""
        listed = (None if text == "-" else read_number(text, "--grades") for text in _SEPARATOR.split(grades.strip()))
        missed = () if unretrieved is None else _SEPARATOR.split(unretrieved.strip())
        board = cls(
            tuple(Document(f"d{place}", grade) for place, grade in enumerate(listed, 1)),
            tuple(Document(f"u{i}", read_number(text, "--unretrieved")) for i, text in enumerate(missed, 1)),
        )
        if all(document.grade is None for document in board.documents):
            raise UsageError("--grades: expected at least one document with a grade, found only unjudged ones")
        return board

    @property
    def documents(self) -> tuple[Document, ...]:
        """All of them."""
        return (*self.listed, *self.unretrieved)

    def changed(self, changes: Sequence[Change]) -> Board:
        """When the changes are made, one after the other."""
        board = self
        for change in changes:
            board = change.apply(board)
        return board

    def explained(
        self, measure: str | Measure, policy: Policy, scale: float | None = None, name: str = "the list"
    ) -> Explanation:
        """The arithmetic of the list."""
        qrels, run = self.collection(scale)
        return replace(explain_runs(measure, qrels, {name: run}, _QUERY, policy), named="these grades")

    def collection(self, scale: float | None = None) -> tuple[Qrels, Run]:
        """The judgments of the one query that there is, and its list."""
        grades = {document.name: document.grade for document in self.documents if document.grade is not None}
        qrels = Qrels.from_dict({_QUERY: grades}, scale=scale, name="--grades")
        return qrels, Run.from_dict({_QUERY: [document.name for document in self.listed]}, name="--grades")


Edit: TypeAlias = Callable[[Board], Board]


class Change(NamedTuple):
    """What is done to a list, in words, and how."""

    words: str
    apply: Edit

    @classmethod
    def swap(cls, text: str, flag: str = "--swap") -> Change:
        """Two documents change places."""
        first, second = (whole_number(part, flag) for part in _parts(text, flag, "two ranks such as 1,3", 2, 2))

        def apply(board: Board) -> Board:
            listed = list(board.listed)
            a, b = _place(board, first, flag), _place(board, second, flag)
            listed[a], listed[b] = listed[b], listed[a]
            return board._replace(listed=tuple(listed))

        return cls(f"swapping ranks {first} and {second}", apply)

    @classmethod
    def remove(cls, text: str, flag: str = "--remove") -> Change:
        """A document is no longer found; it stays judged."""
        rank = whole_number(text, flag)

        def apply(board: Board) -> Board:
            place = _place(board, rank, flag)
            listed = (*board.listed[:place], *board.listed[place + 1 :])
            return Board(listed, (*board.unretrieved, board.listed[place]))

        return cls(f"removing rank {rank}", apply)

    @classmethod
    def insert(cls, text: str, flag: str = "--insert") -> Change:
        """A document is found: one of the unretrieved of that grade, if there is one, otherwise a new one."""
        place, *grades = _parts(text, flag, "a rank and a grade such as 2,3", 1, 2)
        rank = whole_number(place, flag)
        grade = None if grades in ([], ["-"]) else read_number(grades[0], flag)

        def apply(board: Board) -> Board:
            at = _place(board, rank, flag, beyond=1)
            found = next((one for one in board.unretrieved if one.grade == grade or not grades), None)
            if found is None and not grades:
                raise UsageError(f"{flag}: expected a grade, found none, and no unretrieved document", "--insert 2,3")
            listed = (*board.listed[:at], found or Document("new", grade), *board.listed[at:])
            return Board(listed, tuple(one for one in board.unretrieved if one is not found))

        what = "the first unretrieved document" if not grades else "an unjudged document"
        return cls(f"inserting {what if grade is None else f'grade {figure(grade)}'} at rank {rank}", apply)


def _parts(text: str, flag: str, expected: str, least: int, most: int) -> list[str]:
    parts = _SEPARATOR.split(text.strip())
    if not least <= len(parts) <= most:
        raise UsageError(f"{flag}: expected {expected}, found '{text}'")
    return parts


def _place(board: Board, rank: int, flag: str, beyond: int = 0) -> int:
    """Where a rank is in the list."""
    length = len(board.listed)
    if rank > length + beyond:
        raise UsageError(f"{flag}: expected a rank of the list, found {rank} in {count_of(length, 'document')}")
    return rank - 1


class Changed(NamedTuple):
    """A measure of the same list before and after changes."""

    words: str
    before: Explanation
    after: Explanation

    @classmethod
    def of(
        cls, measure: Measure, board: Board, changes: Sequence[Change], policy: Policy, scale: float | None
    ) -> Changed:
        """Explains a list as it is, and once more when the changes are made."""
        changed = board.changed(changes)
        words = ", then ".join(change.words for change in changes)
        before, after = (
            one.explained(measure, policy, scale, name) for one, name in ((board, "before"), (changed, "after"))
        )
        return cls(words[0].upper() + words[1:], before, after)

    @property
    def lists(self) -> tuple[ExplainedList, ExplainedList]:
        """The list before and after."""
        return self.before.lists[0], self.after.lists[0]

    @property
    def both(self) -> Explanation:
        """The two lists side by side."""
        return replace(self.before, lists=self.lists)

    @property
    def difference(self) -> float | None:
        """What the changes are worth; None where the measure has no value."""
        before, after = self.before.value, self.after.value
        return None if before is None or after is None else after - before


def changed_page(changes: Sequence[Changed], places: int = 4) -> Page:
    """Before, after and the difference: rank by rank, step by step, and in a sentence."""
    parts: list[Table | str] = []
    for changed in changes:
        parts += [*introduction(changed.before.measure), *_tables(changed, places), _sentence(changed, places)]
    notes = signatures(explanation for changed in changes for explanation in (changed.before, changed.after))
    return Page("explain", tuple(parts), notes, {"changes": [_data(changed) for changed in changes]})


def _tables(changed: Changed, places: int) -> Iterator[Table]:
    measure, depth = changed.before.measure, max(table_depth(changed.before), table_depth(changed.after))
    columns = list(_by_rank(changed, depth, places))
    if columns:
        rows = tuple(zip(*(each.cells for each in columns), strict=True))
        arithmetic = changed.lists[0].arithmetic
        notes = () if arithmetic is None or arithmetic.term in (None, "adds") else (f"adds: {arithmetic.term}",)
        yield Table(tuple(each.column for each in columns), rows, f"{measure} before and after, rank by rank", notes)
    numbers = (Column(name, "number", places) for name in ("before", "after", "difference"))
    yield Table((Column("step"), *numbers), tuple(_steps(changed)), f"Steps of {measure} before and after")


def _by_rank(changed: Changed, depth: int, places: int) -> Iterator[ByRank]:
    """The documents and their grades with the terms of the measure, and how these differ."""
    terms = []
    yield numbers_by_rank("rank", np.arange(1.0, depth + 1.0), depth, places)
    shared = _shared(changed)
    yield from (numbers_by_rank(name, values, depth, places) for name, values in shared.items() if "ideal" not in name)
    for one in changed.lists:
        documents = (f"{name}: {_grade(grade)}" for name, grade in zip(one.documents, one.grades.tolist(), strict=True))
        yield ByRank(Column(one.run), [*documents, *[None] * depth][:depth])
        if one.arithmetic is not None and one.arithmetic.term is not None:
            values = one.arithmetic.columns[one.arithmetic.term]
            terms.append(np.append(values[:depth], np.zeros(max(0, depth - values.size))))
            yield numbers_by_rank(f"adds {one.run}", values, depth, places)
    if len(terms) == 2:
        yield numbers_by_rank("difference", np.nan_to_num(terms[1]) - np.nan_to_num(terms[0]), depth, places)
    yield from (numbers_by_rank(name, values, depth, places) for name, values in shared.items() if "ideal" in name)


def _shared(changed: Changed) -> dict[str, Floats]:
    """What a rank is worth whatever stands there: discounts, weights, the ideal list."""
    before, after = (one.arithmetic.columns if one.arithmetic else {} for one in changed.lists)
    return {name: before[name] for name in _OF_RANKS if name in before and np.array_equal(before[name], after[name])}


def _grade(grade: float) -> str:
    return "-" if math.isnan(grade) else figure(grade)


def _steps(changed: Changed) -> Iterator[tuple[Cell, ...]]:
    """The steps by name, in the order in which they come; one that only one of the lists has differs by nothing."""
    before, after = ({step.name: step.value for step in one.steps} for one in changed.lists)
    for name in dict.fromkeys([*before, *after]):
        values = (before.get(name, math.nan), after.get(name, math.nan))
        yield (name, *(None if math.isnan(value) else value for value in (*values, values[1] - values[0])))


def _sentence(changed: Changed, places: int) -> str:
    measure, difference = changed.before.measure, changed.difference
    before, after = (
        "undefined" if one.score.value is None else figure(one.score.value, places) for one in changed.lists
    )
    if difference is None:
        return f"{changed.words}: {measure} was {before} and is {after}."
    if math.isclose(difference, 0.0, abs_tol=1e-12):
        return f"{changed.words} leaves {measure} at {after}."
    does = "raises" if difference > 0 else "lowers"
    return f"{changed.words} {does} {measure} by {figure(abs(difference), places)}, from {before} to {after}."


def _data(changed: Changed) -> dict[str, object]:
    """What opens the JSON lines."""
    before, after = map(list_data, changed.lists)
    measure = str(changed.before.measure)
    return {
        "measure": measure,
        "change": changed.words,
        "before": before,
        "after": after,
        "difference": changed.difference,
    }
