"""A list of grades as one writes it on a blackboard: its arithmetic, and what a swap does to it, term by term."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gainful.data.qrels import Qrels
from gainful.data.run import Run
from gainful.errors import UsageError
from gainful.evaluation.explained_page import (
    ByRank,
    ExplainedList,
    Explanation,
    introduction,
    list_data,
    numbers_by_rank,
    signatures,
    table_depth,
)
from gainful.evaluation.explanation import explain_runs
from gainful.measures.arithmetic import figure
from gainful.measures.base import Measure
from gainful.notation import count_of, read_number, whole_number
from gainful.pages.page import Cell, Column, Table
from gainful.policy import Policy
from gainful.render import Page

_QUERY = "grades"
#: Columns that depend on the rank alone.
_OF_RANKS = ("discount", "weight", "ideal gain")
_SEPARATOR = re.compile(r"\s*[,;\s]\s*")


class Document(NamedTuple):
    """A document that is known by its place and its grade; None is unjudged."""

    name: str
    grade: float | None


class Board(NamedTuple):
    """The documents of a list from rank 1 on, and those that it did not find.

    >>> explanation = Board.read("3,2,0,1", "3").explain("nDCG@5", Policy())
    >>> print(explanation.steps[-1])
    nDCG@5 = 4.6925 / 6.3235 = 0.7421
    """

    listed: tuple[Document, ...]
    unretrieved: tuple[Document, ...] = ()
    scale: float | None = None

    @classmethod
    def read(cls, grades: str, unretrieved: str | None = None, scale: float | None = None) -> Board:
        """From grades with commas or blanks between them; ``-`` is an unjudged document."""
        listed = (None if text == "-" else read_number(text, "--grades") for text in _SEPARATOR.split(grades.strip()))
        missed = () if unretrieved is None else _SEPARATOR.split(unretrieved.strip())
        board = cls(
            tuple(Document(f"d{place}", grade) for place, grade in enumerate(listed, 1)),
            tuple(Document(f"u{i}", read_number(text, "--unretrieved")) for i, text in enumerate(missed, 1)),
            scale,
        )
        if all(document.grade is None for document in (*board.listed, *board.unretrieved)):
            raise UsageError("--grades: expected at least one document with a grade, found only unjudged ones")
        return board

    def swapped(self, ranks: str) -> tuple[Board, str]:
        """The list in which the documents at two ranks, written ``1,3``, have changed places; and that in words."""
        parts = _SEPARATOR.split(ranks.strip())
        if len(parts) != 2:
            raise UsageError(f"--swap: expected two ranks such as 1,3, found '{ranks}'")
        first, second = (whole_number(part, "--swap") for part in parts)
        listed, length = list(self.listed), len(self.listed)
        for rank in (first, second):
            if rank > length:
                raise UsageError(f"--swap: expected a rank of the list, found {rank} in {count_of(length, 'document')}")
        listed[first - 1], listed[second - 1] = listed[second - 1], listed[first - 1]
        return self._replace(listed=tuple(listed)), f"Swapping ranks {first} and {second}"

    def explain(self, measure: str | Measure, policy: Policy, name: str = "the list") -> Explanation:
        """The arithmetic of the list."""
        documents = (*self.listed, *self.unretrieved)
        grades = {document.name: document.grade for document in documents if document.grade is not None}
        qrels = Qrels.from_dict({_QUERY: grades}, scale=self.scale, name="--grades")
        run = Run.from_dict({_QUERY: [document.name for document in self.listed]}, name="--grades")
        return replace(explain_runs(measure, qrels, {name: run}, _QUERY, policy), named="these grades")


class Changed(NamedTuple):
    """A measure of the same list before and after a change, which ``words`` name."""

    words: str
    before: Explanation
    after: Explanation

    @property
    def lists(self) -> tuple[ExplainedList, ExplainedList]:
        """The list before and after."""
        return self.before.lists[0], self.after.lists[0]

    @property
    def difference(self) -> float | None:
        """What the change is worth; None where the measure has no value."""
        before, after = self.before.value, self.after.value
        return None if before is None or after is None else after - before


def changed_page(changes: Sequence[Changed], places: int = 4) -> Page:
    """Before, after and the difference: rank by rank, step by step, and in a sentence."""
    parts: list[Table | str] = []
    for changed in changes:
        measure = changed.before.measure
        columns = list(_columns_by_rank(changed, places))
        term = changed.lists[0].arithmetic.term
        parts += [
            *introduction(measure),
            Table(
                tuple(each.column for each in columns),
                tuple(zip(*(each.cells for each in columns), strict=True)),
                f"{measure} before and after, rank by rank",
                () if term in (None, "adds") else (f"adds: {term}",),
            ),
            Table(
                (Column("step"), *(Column(name, "number", places) for name in ("before", "after", "difference"))),
                tuple(_step_rows(changed)),
                f"Steps of {measure} before and after",
            ),
            _sentence(changed, places),
        ]
    notes = signatures(explanation for changed in changes for explanation in (changed.before, changed.after))
    return Page("explain", tuple(parts), notes, {"changes": [_data(changed) for changed in changes]})


def _columns_by_rank(changed: Changed, places: int) -> Iterator[ByRank]:
    """The documents and their grades with the terms of the measure, and how these differ."""
    depth = max(table_depth(changed.before), table_depth(changed.after))
    before, after = (one.arithmetic.columns for one in changed.lists)
    # What a rank is worth whatever stands there: discounts, weights, the ideal list.
    shared = {name: before[name] for name in _OF_RANKS if name in before and np.array_equal(before[name], after[name])}
    terms = []
    yield numbers_by_rank("rank", np.arange(1.0, depth + 1.0), depth, places)
    yield from (numbers_by_rank(name, values, depth, places) for name, values in shared.items() if "ideal" not in name)
    for one in changed.lists:
        grades = ("-" if math.isnan(grade) else figure(grade) for grade in one.grades.tolist())
        documents = (f"{name}: {grade}" for name, grade in zip(one.documents, grades, strict=True))
        yield ByRank(Column(one.run), [*documents, *[None] * depth][:depth])
        values = one.arithmetic.columns.get(one.arithmetic.term or "")
        if values is not None:
            terms.append(np.append(values[:depth], np.zeros(max(0, depth - values.size))))
            yield numbers_by_rank(f"adds {one.run}", values, depth, places)
    if len(terms) == 2:
        yield numbers_by_rank("difference", np.nan_to_num(terms[1]) - np.nan_to_num(terms[0]), depth, places)
    yield from (numbers_by_rank(name, values, depth, places) for name, values in shared.items() if "ideal" in name)


def _step_rows(changed: Changed) -> Iterator[tuple[Cell, ...]]:
    """The steps by name, in the order in which they come; one that only one of the lists has differs by nothing."""
    before, after = ({step.name: step.value for step in one.arithmetic.steps} for one in changed.lists)
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
