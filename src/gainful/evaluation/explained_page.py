"""Explanations as pages: definitions, recall bases, and the arithmetic of a query, rank by rank."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gainful.data.qrels import Qrels
from gainful.data.run import Run
from gainful.discounts import DISCOUNTS
from gainful.errors import UsageError, for_asker
from gainful.evaluation.results import Score, Signature
from gainful.gains import Gain
from gainful.kernel.arrays import Floats, Ints, distinct
from gainful.measures.arithmetic import Arithmetic, Step, figure
from gainful.measures.base import Measure, value_text
from gainful.measures.help import SECTIONS, Help, differences_of, gain_meaning, meaning, parameter_text, reading
from gainful.measures.names_trec_eval import Translation
from gainful.notation import count_of, number_text
from gainful.pages.charts import Axis, Line, Plot, Role
from gainful.pages.page import Cell, Column, Detail, Table, head, values_of
from gainful.policy import Policy
from gainful.render import Page, Showable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gainful.render.figure_style import Size

#: Judgments with more distinct grades than this are not shown grade by grade.
_MOST_GRADES = 12
_MOST_LISTED = 10
#: Tables are shown whole down to the first depth; longer ones to the second, then only ranks that add something.
_WHOLE, _FIRST = 20, 10
#: Help sections about other tools.
_OF_OTHERS = ("Agrees with", "Differs from")
#: Parameters already shown in the introduction, the table or the measure's name.
_SHOWN_ELSEWHERE = {"gain", "discount", "base", "average", "rel", "level", "unjudged", "cutoff", "recall", "multiple"}
#: Columns that depend only on the rank.
_OF_RANKS = ("discount", "weight", "ideal gain")


@dataclass(frozen=True, eq=False, repr=False)
class Judgments:
    """The judgments of one query: its grades, best first, and the value of each grade.

    ``worth`` is the gain, or 1 (relevant) and 0 for binary measures; None if the measure uses neither.
    """

    grades: Floats = field(default_factory=lambda: np.zeros(0))
    worth: Mapping[float, float] | None = None
    is_gain: bool = False

    @property
    def recall_base(self) -> int | None:
        """The number of documents with a value."""
        return None if self.worth is None else sum(self.worth[grade] != 0 for grade in self.grades.tolist())


@dataclass(frozen=True, eq=False, repr=False)
class ExplainedList:
    """One run's list for the query, as the measure sees it, with the arithmetic of its score."""

    run: str
    documents: tuple[str, ...]  # in rank order, without removed unjudged documents
    grades: Floats  # NaN if unjudged
    in_run: Ints  # each document's rank in the run
    retrieved: int  # in the run, with removed documents
    unjudged: Ints  # ranks in the run
    tied: tuple[tuple[int, int], ...]  # first and last ranks of equal scores in the run
    is_condensed: bool
    raw: float  # NaN if undefined
    score: Score
    policy: Policy
    arithmetic: Arithmetic
    lengths: Floats | None = None  # under a budget


@dataclass(eq=False, repr=False)
class Explanation(Showable):
    """The definition of a measure and, for a query, the arithmetic of the scores of one or several runs.

    ``str()`` returns text, ``text("markdown")`` and other formats suit papers and slides; notebooks show tables.
    """

    measure: Measure
    query: str | None = None
    judgments: Judgments = field(default_factory=Judgments)
    lists: tuple[ExplainedList, ...] = ()
    signature: Signature | None = None
    translations: tuple[Translation, ...] = ()  # other tools' names by which the measure was requested
    named: str = ""  # the query's name in texts, if not its ID
    collection: tuple[Qrels, Mapping[str, Run]] | None = None  # the judgments, and the query's list in every run
    change: str = ""  # the change from the first list to the second, in words
    alternative: str = ""  # a sentence on the score under another convention

    def __repr__(self) -> str:
        of = "" if self.query is None else f" for query {self.query}"
        return f"<Explanation of {self.measure}{of}>"

    @property
    def subject(self) -> str:
        """The explained query, in words."""
        return self.named or f"query {self.query}"

    @property
    def value(self) -> float | None:
        """The score of the (first) run after the policy; None if the policy leaves the query out."""
        return self._first.score.value

    @property
    def steps(self) -> tuple[Step, ...]:
        """The lines of arithmetic of the (first) run; the last value is the score."""
        return self._first.arithmetic.steps

    @property
    def columns(self) -> Mapping[str, Floats]:
        """The arithmetic of the (first) run at every rank, by column name."""
        return self._first.arithmetic.columns

    @property
    def _first(self) -> ExplainedList:
        if not self.lists:
            raise UsageError(f"{self.measure}: only the definition was explained, without a query")
        return self.lists[0]

    @property
    def depth(self) -> int:
        """The last rank that the measure uses in any of the lists."""
        depths = (one.arithmetic.depth or len(one.documents) for one in self.lists)
        return max((min(depth, self.measure.rank_cutoff or depth) for depth in depths), default=0)

    def page(self, all_ranks: bool = False, places: int = 4) -> Page:
        """Return the page, with the ranks that add something or all ranks."""
        return explanation_page([self], all_ranks, places)

    def figure(self, size: Size | None = None, *, title: bool = True, signature: bool = True) -> Figure:
        page = replace(self.page(), parts=tuple(running_plots([self])))
        return page.figure(size, title=title, signature=signature)


class _ByRank(NamedTuple):
    """A table column with its value at every rank."""

    column: Column
    cells: Sequence[Cell]
    of: ExplainedList | None = None  # the list that these documents belong to


def explanation_page(explanations: Sequence[Explanation], all_ranks: bool = False, places: int = 4) -> Page:
    """Combine explanations into one page; each measure is introduced once."""
    parts: list[Table | Detail | str] = []
    introduced: set[Measure] = set()
    translated: set[str] = set()
    for explanation in explanations:
        for translation in explanation.translations:
            if translation.text not in translated:
                # Typed grades have no ties, scores or missing queries.
                parts += [translation.claim, *(() if explanation.named else map(str, translation.settings))]
                translated.add(translation.text)
        if explanation.query is None:
            parts += _definition(explanation.measure)
            continue
        if explanation.measure not in introduced:
            parts += _introduction(explanation.measure)
            introduced.add(explanation.measure)
        if explanation.change:
            parts += _changed_parts(explanation, places)
            continue
        parts += _rank_table(explanation, all_ranks, places)
        parts += _judgments_table(explanation, places)
        parts += _recall_base(explanation)
        parts += (text for one in explanation.lists for text in _about_list(explanation, one))
        parts += [explanation.alternative] if explanation.alternative else []
        if len(explanation.lists) > 1:
            parts += _divergence(explanation, places)
        parts.append(_steps_table(explanation, places))
        parts += (text for one in explanation.lists for text in _conclusion(explanation, one, places))
    data = [_explanation_data(each) for each in explanations]
    header = {"changes" if any(each.change for each in explanations) else "explanations": data}
    lists = [(each.signature, one) for each in explanations for one in each.lists if each.signature is not None]
    signatures = dict.fromkeys(replace(signature, policy=one.policy) for signature, one in lists)
    return Page("explain", tuple(parts), tuple(signature.note() for signature in signatures), header)


def _changed_parts(explanation: Explanation, places: int) -> Iterator[Table | str]:
    """Yield the lists before and after, their differences rank by rank and step by step, and a sentence."""
    measure, lists = explanation.measure, explanation.lists
    columns = list(_changed_columns(explanation, places))
    term = lists[0].arithmetic.term
    yield Table(
        tuple(each.column for each in columns),
        tuple(zip(*(each.cells for each in columns), strict=True)),
        f"{measure} before and after, rank by rank",
        () if term in (None, "adds") else (f"adds: {term}",),
    )
    before, after = ({step.name: step.value for step in one.arithmetic.steps} for one in lists)
    steps: list[tuple[Cell, ...]] = []
    for name in dict.fromkeys([*before, *after]):
        one, other = before.get(name, math.nan), after.get(name, math.nan)
        steps.append((name, *(None if math.isnan(number) else number for number in (one, other, other - one))))
    numbers = head(f"step | before .{places} | after .{places} | difference .{places}")
    yield Table(numbers, tuple(steps), f"Steps of {measure} before and after")
    was, is_now = ("undefined" if one.score.value is None else figure(one.score.value, places) for one in lists)
    difference = _difference(explanation)
    if difference is None:
        yield f"{explanation.change}: {measure} was {was} and is {is_now}."
    elif math.isclose(difference, 0.0, abs_tol=1e-12):
        yield f"{explanation.change} leaves {measure} at {is_now}."
    else:
        does = f"{'raises' if difference > 0 else 'lowers'} {measure} by {figure(abs(difference), places)}"
        yield f"{explanation.change} {does}, from {was} to {is_now}."


def _difference(explanation: Explanation) -> float | None:
    before, after = (one.score.value for one in explanation.lists)
    return None if before is None or after is None else after - before


def _changed_columns(explanation: Explanation, places: int) -> Iterator[_ByRank]:
    """Yield columns of documents, grades and terms of the measure, and the differences between terms."""
    depth, lists = explanation.depth, explanation.lists
    before, after = (one.arithmetic.columns for one in lists)
    # The columns that depend only on the rank: discounts, weights, the ideal list.
    shared = {name: before[name] for name in _OF_RANKS if name in before and np.array_equal(before[name], after[name])}
    terms = []
    yield _numbers_by_rank("rank", np.arange(1.0, depth + 1.0), depth, places)
    yield from (_numbers_by_rank(name, values, depth, places) for name, values in shared.items() if "ideal" not in name)
    for one in lists:
        grades = ("-" if math.isnan(grade) else figure(grade) for grade in one.grades.tolist())
        documents = (f"{name}: {grade}" for name, grade in zip(one.documents, grades, strict=True))
        yield _ByRank(Column(one.run), [*documents, *[None] * depth][:depth])
        values = one.arithmetic.columns.get(one.arithmetic.term or "")
        if values is not None:
            terms.append(np.append(values[:depth], np.zeros(max(0, depth - values.size))))
            yield _numbers_by_rank(f"adds {one.run}", values, depth, places)
    if len(terms) == 2:
        yield _numbers_by_rank("difference", np.nan_to_num(terms[1]) - np.nan_to_num(terms[0]), depth, places)
    yield from (_numbers_by_rank(name, values, depth, places) for name, values in shared.items() if "ideal" in name)


def running_plots(explanations: Iterable[Explanation], places: int = 4) -> Iterator[Plot]:
    """Yield charts of the cumulated value of each list by rank, with the ideal if there is one."""

    def line(name: str, values: Sequence[float], role: Role = "system") -> Line:
        return Line(name, tuple(map(float, range(1, len(values) + 1))), tuple(values), role)

    for explanation in explanations:
        if explanation.query is None:
            hint = for_asker("--grades 3,2,0,1 gives a list to draw", "explain(measure, qrels, run, query) has one")
            raise UsageError(f"{explanation.measure}: a definition has no chart", hint)
        depth, lists = explanation.depth, explanation.lists
        # The cumulated value and, if it is a different column, the measure: DCG and nDCG.
        names = dict.fromkeys([*(one.arithmetic.running or "" for one in lists), explanation.measure.name])
        found = [name for name in names if any(name in one.arithmetic.columns for one in lists)]
        if not found:
            raise UsageError(f"{explanation.measure} has no value per rank to plot", "nDCG and AP have one")
        for name in found:
            lines: list[Line] = []
            ideals: dict[tuple[float, ...], str] = {}
            for one in (each for each in lists if name in each.arithmetic.columns):
                columns = dict(one.arithmetic.columns)
                if f"ideal {one.arithmetic.running}" in columns:  # the measure is a share of this ideal
                    columns[f"ideal {explanation.measure.name}"] = np.ones(depth)
                lines.append(line(one.run, columns[name][:depth].tolist()))
                ideals.setdefault(tuple(columns.get(f"ideal {name}", np.zeros(0))[:depth].tolist()), one.run)
            best = [(values, "ideal" + f" of {run}" * (len(ideals) > 1)) for values, run in ideals.items() if values]
            yield Plot(
                f"{explanation.measure}: {name} by rank, {explanation.subject}",
                Axis("rank", 1.0, float(depth), is_whole=True),
                Axis(name, 0.0),
                (*(line(name, values, "ideal") for values, name in best), *lines),
                caption=". ".join(text for one in lists for text in _conclusion(explanation, one, places)),
            )


def _definition(measure: Measure) -> Iterator[Table | Detail | str]:
    text = Help.of(measure)

    def sections(names: Sequence[str], title: str) -> Iterator[Table]:
        rows = [
            (name.lower() if i == 0 else None, paragraph)
            for name in names
            for i, paragraph in enumerate(text.paragraphs(name))
        ]
        if rows:
            yield Table((Column("about", none=""), Column("definition")), tuple(rows), title)

    yield f"{measure}: {text.claim}"
    yield from sections([name for name in SECTIONS if name not in _OF_OTHERS], f"Definition of {measure}")
    others = [*sections(_OF_OTHERS, f"{measure} and other tools")]
    # Differences that the tests or a study of other tools recorded, in addition to the docstring.
    if differences := tuple((f"{each.tool}: {each.measure}", str(each)) for each in differences_of(measure.name)):
        title = f"How other tools differ from {measure.name}"
        others.append(Table((Column("tool"), Column("difference")), differences, title))
    if others:
        yield Detail(tuple(others))
    names = list(measure.parameters())
    if names:
        rows = tuple((name, parameter_text(measure, name), meaning(measure, name)) for name in names)
        yield Table(head("parameter | value | meaning"), rows, f"Parameters of {measure}")
    yield reading(measure)
    if names:
        yield f"In full: {measure.full_text()}"


def _introduction(measure: Measure) -> Iterator[str]:
    """Yield the sentences about a measure that its arithmetic needs."""
    text = Help.of(measure)
    yield f"{measure}: {text.claim}"
    yield from text.paragraphs("Formula")[:1]
    gain, rel, level = (getattr(measure, name, None) for name in ("gain", "rel", "level"))
    sentences = []
    if isinstance(gain, Gain):
        none = ""
        if level is not None:
            none = f"; 0 for grades other than {number_text(level)} (level={number_text(level)})"
        elif rel is not None:
            none = f"; 0 for grades below {number_text(rel)} (rel={number_text(rel)})"
        sentences.append(f"Gain: {gain_meaning(gain)}{none}.")
    discount = DISCOUNTS.get(getattr(measure, "discount", "")) if "discount" in measure.parameters() else None
    if discount is not None:
        base = f", b = {value_text(getattr(measure, 'base', 2))}" if discount.has_base else ""
        sentences.append(f"Discount at rank j: {discount.formula}{base}.")
    if getattr(measure, "average", None) is not None:
        sentences.append(f"The value is the mean of {measure.name}[1] to {measure.name}[{measure.rank_cutoff}].")
    if sentences:
        yield " ".join(sentences)
    for name, default in measure.parameters().items():
        if name not in _SHOWN_ELSEWHERE and (value := getattr(measure, name)) not in (default, None):
            yield f"{name}={value_text(value)}: {meaning(measure, name)}."


def _rank_table(explanation: Explanation, all_ranks: bool, places: int) -> Iterator[Table]:
    """Yield the table of documents and values by rank, if there are any."""
    lists, depth = explanation.lists, explanation.depth
    if not depth or not any(one.arithmetic.columns for one in lists):
        return
    columns = [_ByRank(Column("rank", "count"), list(range(1, depth + 1)))]
    for one in lists:
        arithmetic, prefix = one.arithmetic, f"{one.run}: " if len(lists) > 1 else ""
        documents = [*one.documents[:depth], *[None] * (depth - len(one.documents))]
        columns.append(_ByRank(Column(f"{prefix}document"), documents, one))
        if one.is_condensed:
            columns.append(_numbers_by_rank(f"{prefix}rank in run", one.in_run.astype(np.float64), depth, places))
        if one.lengths is not None:
            columns.append(_numbers_by_rank(f"{prefix}length", one.lengths, depth, places))
        columns.append(_numbers_by_rank(f"{prefix}grade", one.grades, depth, places, none="-"))
        for name, values in arithmetic.columns.items():
            if len(lists) == 1 or name in (arithmetic.adds, arithmetic.running):
                columns.append(_numbers_by_rank(prefix + name, values, depth, places))
    first = lists[0].arithmetic
    for name, values in first.columns.items() if len(lists) > 1 else ():
        if name in first.shared:
            columns.append(_numbers_by_rank(name, values, depth, places))
    # Long lists show the first ranks, the ranks at which any list adds something, and, if there is an ideal list, the
    # last rank, whose value is half of the result.
    is_shown = np.full(depth, all_ranks or depth <= _WHOLE)
    is_shown[:_FIRST] = True
    for one in lists:
        adds = one.arithmetic.columns.get(one.arithmetic.adds or "", np.zeros(0))[:depth]
        is_shown[: adds.size] |= adds != 0
        is_shown[-1] |= bool(one.arithmetic.shared)
    rows: list[tuple[Cell, ...]] = []
    for shown, group in groupby(range(1, depth + 1), lambda rank: is_shown[rank - 1]):
        ranks = list(group)
        if shown or len(ranks) == 1:
            rows += [tuple(values.cells[rank - 1] for values in columns) for rank in ranks]
        else:
            left_out = (_ranks_left_out(values, ranks) for values in columns[1:])
            rows.append((f"{ranks[0]}-{ranks[-1]}", *left_out))
    yield Table(
        tuple(values.column for values in columns),
        tuple(rows),
        f"{explanation.measure}{'' if len(lists) > 1 else f' of {lists[0].run}'} for {explanation.subject}",
        tuple(dict.fromkeys(one.arithmetic.note for one in lists if one.arithmetic.note)),
    )


def _ranks_left_out(values: _ByRank, ranks: Sequence[int]) -> Cell:
    """Return the cell of a row that summarises several ranks."""
    if values.of is None:
        return "" if values.column.none else None
    documents = sum(rank <= len(values.of.documents) for rank in ranks)
    if not documents:
        return "past the end of the list"
    return count_of(documents, "document") + (" that adds nothing" if documents == 1 else " that add nothing")


def _numbers_by_rank(name: str, values: Floats, depth: int, places: int, none: str = "") -> _ByRank:
    is_whole = bool(np.all(np.isnan(values) | (values == np.floor(values))))
    column = Column(name, "count", none=none) if is_whole else Column(name, "number", places, none)
    cells: list[Cell] = [
        None if math.isnan(value) else int(value) if is_whole else value for value in values[:depth].tolist()
    ]
    return _ByRank(column, [*cells, *[None] * (depth - len(cells))])


def _judgments_table(explanation: Explanation, places: int) -> Iterator[Table]:
    """Yield a table of the documents judged, retrieved and seen per grade."""
    judgments = explanation.judgments
    grades = distinct(judgments.grades)[::-1].tolist()
    if not 0 < len(grades) <= _MOST_GRADES:
        return
    # Each column has one value per grade, then one for unjudged documents.
    columns: list[tuple[Column, Sequence[Cell]]] = [
        (Column("documents"), [*(f"grade {number_text(grade)}" for grade in grades), "unjudged"])
    ]
    if judgments.worth is not None:
        worth = [*(judgments.worth[grade] for grade in grades), 0.0]
        name, is_whole = "gain" if judgments.is_gain else "relevant", all(value == int(value) for value in worth)
        columns.append((Column(name, "count") if is_whole else Column(name, "number", places), worth))
    columns.append((Column("judged", "count", none=""), [*(int((judgments.grades == g).sum()) for g in grades), None]))
    for one in explanation.lists:
        prefix = f"{one.run}: " if len(explanation.lists) > 1 else ""
        found = [*(int((one.grades == grade).sum()) for grade in grades), int(one.unjudged.size)]
        columns.append((Column(f"{prefix}{_within(explanation) or 'retrieved'}", "count"), found))
        if cut := explanation.measure.rank_cutoff:
            seen = one.grades[:cut]
            counts = [*(int((seen == grade).sum()) for grade in grades), int(np.isnan(seen).sum())]
            columns.append((Column(f"{prefix}in the top {cut}", "count"), counts))
    rows: list[tuple[Cell, ...]] = list(zip(*(cells for _, cells in columns), strict=True))
    if not any(one.unjudged.size for one in explanation.lists):
        rows.pop()
    yield Table(tuple(column for column, _ in columns), tuple(rows), f"Judgments of {explanation.subject}")


def _recall_base(explanation: Explanation) -> Iterator[str]:
    """Yield a sentence about the relevant documents that exist and were retrieved."""
    judgments, measure = explanation.judgments, explanation.measure
    worth, base, cut = judgments.worth, judgments.recall_base, measure.rank_cutoff
    if worth is None:
        return
    if not judgments.grades.size:
        yield "Recall base: no document is judged."
        return
    rel, level = getattr(measure, "rel", None), getattr(measure, "level", None)
    if judgments.is_gain:
        what = "a gain above 0"
    elif level is not None:
        what = f"grade {number_text(level)}"
    else:
        what = "a grade above 0" if rel is None else f"a grade of {number_text(rel)} or more"
    has = "has" if base == 1 or judgments.grades.size == 1 else "have"
    text = f"Recall base: {_or_none(base)} of {count_of(judgments.grades.size, 'judged document')} {has} {what}"
    for one in explanation.lists if base else ():
        counts = [worth.get(grade, 0.0) > 0 for grade in one.grades.tolist()]
        top = "" if cut is None else f", {_or_none(sum(counts[:cut]))} in the top {cut}"
        text += f"; {one.run} retrieved {_or_none(sum(counts))} of them {_within(explanation)}".rstrip() + top
    zero = number_text(explanation.lists[0].policy.grade_zero) if explanation.lists else "0"
    yield f"{text}." + ("" if zero == "0" else f" Grades are counted from {zero} (grade-zero={zero}).")


def _about_list(explanation: Explanation, one: ExplainedList) -> Iterator[str]:
    """Yield sentences about unjudged documents, the end of the list, and ties."""
    of = f" in {one.run}" if len(explanation.lists) > 1 else ""
    depth, length, cut = explanation.depth, len(one.documents), explanation.measure.rank_cutoff
    unjudged = f"Unjudged{of}: {_or_none(one.unjudged.size)} of {count_of(one.retrieved, 'document')}"
    unjudged = f"{unjudged} {_within(explanation)}".rstrip()
    if one.is_condensed and one.retrieved:
        yield f"{unjudged}; they are removed before ranks are counted (unjudged=condensed)."
    elif one.retrieved:
        seen = one.unjudged[one.unjudged <= depth].tolist()
        top = "" if cut is None else f", {_or_none(sum(rank <= cut for rank in seen))} in the top {cut}"
        ranks = f" (rank{'s' if len(seen) > 1 else ''} {_listed(seen)})" if seen else ""
        yield f"{unjudged}{top}{ranks}."
    if one.score.status != "missing" and length < (cut or 1):
        yield f"The list{of} " + (f"ends at rank {length}." if length else "is empty.")
    ties = []
    for first, last in one.tied:
        # Skip ties that do not affect the scored part of the list.
        kept = np.flatnonzero((one.in_run >= first) & (one.in_run <= last))
        if kept.size > 1 and kept[0] < depth:
            ties.append(f"{first}-{last}")
    if ties:
        ranks = f"ranks {_listed(ties)}" + (" of the run" if one.is_condensed else "")
        effect = "averaged over their orders" if one.policy.ties == "expected" else "ordered"
        yield f"Equal scores{of} at {ranks}: {effect} by ties={one.policy.ties}."


def _divergence(explanation: Explanation, places: int) -> Iterator[str]:
    """Yield the first ranks at which the lists, and their running values, differ."""
    depth, lists = explanation.depth, explanation.lists

    def each(values: Sequence[str]) -> str:
        return ", ".join(f"{value} ({one.run})" for one, value in zip(lists, values, strict=True))

    documents = [[*one.documents[:depth], *["no document"] * (depth - len(one.documents))] for one in lists]
    rank = next((i for i, here in enumerate(zip(*documents, strict=True)) if len(set(here)) > 1), None)
    if rank is None:
        yield f"The lists are identical down to rank {depth}."
        return
    yield f"The lists differ from rank {rank + 1}: {each([column[rank] for column in documents])}."
    name = lists[0].arithmetic.running or ""
    running = [one.arithmetic.columns[name] for one in lists if name in one.arithmetic.columns]
    # Values stay constant after the end of a list.
    held = [np.append(of[:depth], np.full(max(0, depth - of.size), of[-1] if of.size else 0.0)) for of in running]
    values = np.array(held)
    if len(values) < len(lists) or np.isnan(values).any():
        return
    parted = np.flatnonzero(values.max(axis=0) - values.min(axis=0) > 1e-12)
    if parted.size:
        figures = [figure(value, places) for value in values[:, parted[0]].tolist()]
        yield f"Their {name} differs from rank {parted[0] + 1}: {each(figures)}."
    else:
        yield f"Their {name} is the same at every rank."


def _steps_table(explanation: Explanation, places: int) -> Table:
    rows = []
    for one in explanation.lists:
        for step in one.arithmetic.steps:
            origin = " ".join(filter(None, [step.working(places), f"({step.note})" if step.note else ""]))
            rows.append((one.run, step.name, None if math.isnan(step.value) else step.value, origin))
    counts = explanation.measure.aggregate == "sum" and all(float(row[2] or 0).is_integer() for row in rows)
    columns = head(f"run | step | value {'#' if counts else f'.{places}'} | from")
    first = 0 if len(explanation.lists) > 1 else 1
    title = f"Steps of {explanation.measure} for {explanation.subject}"
    return Table(columns[first:], tuple(row[first:] for row in rows), title)


def _conclusion(explanation: Explanation, one: ExplainedList, places: int) -> Iterator[str]:
    """Yield the last step in full, and the effect of the policy."""
    step, status = one.arithmetic.steps[-1], one.score.status
    yield (f"{one.run}: " if len(explanation.lists) > 1 else "") + step.text(places)
    if status is None:
        return
    what = {
        "missing": f"{one.run} does not answer {explanation.subject}",
        "undefined": f"{explanation.measure} is undefined for {explanation.subject}",
    }[status]
    choice = getattr(one.policy, status)
    does = {
        "zero": f"scores it {figure(one.score.value or 0.0, places)}",
        "skip": "leaves it out of the mean",
        "error": "refuses to evaluate the run",
    }[choice]
    if choice == "zero" and one.score.value is None:
        does = "leaves it out, because the measure has no worst value"
    yield f"{what}: {status}={choice} {does}."


def _explanation_data(explanation: Explanation) -> dict[str, object]:
    measure = explanation.measure
    if explanation.change:
        before, after = map(_list_data, explanation.lists)
        data = {"measure": str(measure), "change": explanation.change, "before": before, "after": after}
        return {**data, "difference": _difference(explanation)}
    found: dict[str, object] = {"measure": str(measure), "query": explanation.query}
    if explanation.translations:
        found["translations"] = [
            {
                "name": translation.text,
                "measures": [str(each) for each in translation.measures],
                "settings": [values_of(each, "tool | flags | note") for each in translation.settings],
            }
            for translation in explanation.translations
        ]
    if explanation.query is None:
        text = Help.of(type(measure))
        values = {name: getattr(measure, name) for name in measure.parameters()}
        return {
            **found,
            "full": measure.full_text(),
            "claim": text.claim,
            **{section.lower(): text.paragraphs(section) for section in SECTIONS},
            "differences": [
                values_of(each, "tool | measure | why | recorded") for each in differences_of(measure.name)
            ],
            "parameters": {name: None if value is None else value_text(value) for name, value in values.items()},
            "better": measure.better,
            "bounds": [bound if math.isfinite(bound) else None for bound in measure.bounds],
            "aggregate": measure.aggregate,
        }
    return {
        **found,
        "signature": str(explanation.signature),
        "judged": int(explanation.judgments.grades.size),
        "recall_base": explanation.judgments.recall_base,
        "runs": [_list_data(one) for one in explanation.lists],
    }


def _list_data(one: ExplainedList) -> dict[str, object]:
    return {
        **values_of(one, "run | value ← score.value | status ← score.status | retrieved"),
        "unjudged": int(one.unjudged.size),
        "steps": [
            {"name": step.name, "text": step.text(), "value": None if math.isnan(step.value) else step.value}
            for step in one.arithmetic.steps
        ],
    }


def _within(explanation: Explanation) -> str:
    return f"within {explanation.measure.budget}" if explanation.measure.budget else ""


def _or_none(count: int | None) -> str:
    return f"{count:,}" if count else "none"


def _listed(values: Sequence[object]) -> str:
    return ", ".join(map(str, values[:_MOST_LISTED])) + (", ..." if len(values) > _MOST_LISTED else "")
