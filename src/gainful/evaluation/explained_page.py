"""Explanations as pages: definitions, what there was to be found, and the arithmetic of a query, rank by rank."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np

from gainful.data.qrels import Qrels
from gainful.data.run import Run
from gainful.discounts import DISCOUNTS
from gainful.errors import UsageError
from gainful.evaluation.results import Score, Signature
from gainful.gains import Gain
from gainful.kernel.arrays import Bools, Floats, Ints, distinct
from gainful.measures.arithmetic import Arithmetic, Step, figure
from gainful.measures.base import Measure, value_text
from gainful.measures.help import SECTIONS, Help, differences_of, gain_meaning, meaning, parameter_text, reading
from gainful.measures.names_trec_eval import Translation
from gainful.notation import count_of, number_text
from gainful.pages.charts import Axis, Line, Plot, Role
from gainful.pages.page import Cell, Column, Conventions, Detail, Table
from gainful.policy import Policy
from gainful.render import Page, Showable

#: Judgments with more different grades than this are not shown grade by grade.
_GRADES = 12
_LISTED = 10
#: The sections of a measure's help that are about other tools.
_OF_OTHERS = ("Agrees with", "Differs from")


@dataclass(frozen=True, eq=False, repr=False)
class Judgments:
    """The judgments of one query: their grades, best first, and what the measure makes of each.

    ``worth`` is the gain, of binary measures 1 for relevant and 0 for not; None where a measure asks for neither.
    """

    grades: Floats
    worth: Floats | None
    is_gain: bool

    @property
    def recall_base(self) -> int | None:
        """How many documents there are to be found."""
        return None if self.worth is None else int(np.count_nonzero(self.worth))


@dataclass(frozen=True, eq=False, repr=False)
class ExplainedList:
    """One run's list for the query, as the measure sees it, and how its score comes about."""

    run: str
    documents: tuple[str, ...]  # in rank order, without the unjudged if they are removed
    grades: Floats  # NaN is unjudged
    in_run: Ints  # each document's rank in the run: its own, unless unjudged documents are removed
    retrieved: int  # in the run, removed ones included
    unjudged: Ints  # ranks in the run
    tied: tuple[tuple[int, int], ...]  # first and last ranks in the run that have equal scores
    is_condensed: bool
    raw: float  # NaN is undefined
    score: Score
    policy: Policy
    arithmetic: Arithmetic

    @property
    def depth(self) -> int:
        """The last rank that the arithmetic looks at."""
        return self.arithmetic.depth or len(self.documents)


@dataclass(eq=False, repr=False)
class Explanation(Showable):
    """What a measure means and, for a query, how the scores of one or several runs come about.

    ``str()`` is a text for people, ``text("markdown")`` and the other formats are for papers and slides; a notebook
    shows tables.
    """

    measure: Measure
    query: str | None = None
    judgments: Judgments | None = None
    lists: tuple[ExplainedList, ...] = ()
    signature: Signature | None = None
    translations: tuple[Translation, ...] = ()  # the names of other tools under which the measure was asked for
    named: str = ""  # what the query is called, if not by its id
    collection: tuple[Qrels, Mapping[str, Run]] | None = None  # the judgments, and the query's list in every run

    def __repr__(self) -> str:
        of = "" if self.query is None else f" for query {self.query}"
        return f"<Explanation of {self.measure}{of}>"

    @property
    def subject(self) -> str:
        """What is explained."""
        return self.named or f"query {self.query}"

    @property
    def value(self) -> float | None:
        """The score of the (first) run after the policy; None where the policy leaves the query out."""
        return self._first.score.value

    @property
    def steps(self) -> tuple[Step, ...]:
        """The lines of arithmetic of the (first) run; the last one's value is the score."""
        return self._first.arithmetic.steps

    @property
    def columns(self) -> Mapping[str, Floats]:
        """What the arithmetic of the (first) run has at every rank, from rank 1 on."""
        return self._first.arithmetic.columns

    @property
    def _first(self) -> ExplainedList:
        if not self.lists:
            raise UsageError(f"{self.measure}: expected an explanation of a query, found the definition only")
        return self.lists[0]

    def page(self, all_ranks: bool = False, places: int = 4) -> Page:
        """The data that the formats draw: the ranks that add something, or all, with so many decimal places."""
        return explanation_page([self], all_ranks, places)


def explanation_page(explanations: Sequence[Explanation], all_ranks: bool = False, places: int = 4) -> Page:
    """One explanation after the other; what a measure means is said once."""
    parts: list[Table | Detail | str] = []
    introduced: set[Measure] = set()
    translated: set[str] = set()
    for explanation in explanations:
        for translation in explanation.translations:
            if translation.text not in translated:
                # Typed grades have no ties, no scores and no missing queries.
                parts += [translation.claim, *(() if explanation.named else map(str, translation.settings))]
                translated.add(translation.text)
        if explanation.query is None:
            parts += _definition(explanation.measure)
            continue
        if explanation.measure not in introduced:
            parts += introduction(explanation.measure)
            introduced.add(explanation.measure)
        parts += _arithmetic(explanation, all_ranks, places)
    return Page("explain", tuple(parts), signatures(explanations), {"explanations": [_data(e) for e in explanations]})


def signatures(explanations: Iterable[Explanation]) -> tuple[Conventions, ...]:
    """By which conventions the numbers came about, each said once."""
    found = dict.fromkeys(
        replace(explanation.signature, policy=one.policy)
        for explanation in explanations
        for one in explanation.lists
        if explanation.signature is not None
    )
    return tuple(signature.note() for signature in found)


def running_plots(explanations: Iterable[Explanation], places: int = 4) -> Iterator[Plot]:
    """What a measure has gathered by every rank, of each list and, where it has one, of the ideal list."""
    for explanation in explanations:
        if explanation.query is None:
            raise UsageError("--figure: expected a list to draw, found none", "--grades 3,2,0,1 gives one")
        depth = table_depth(explanation)
        lines: list[Line] = []
        ideals: dict[tuple[float, ...], str] = {}
        for one in explanation.lists:
            columns, axis = one.arithmetic.columns, one.arithmetic.running or ""
            if axis in columns:
                lines.append(_line(one.run, columns[axis][:depth]))
                ideals.setdefault(tuple(columns.get(f"ideal {axis}", np.zeros(0))[:depth].tolist()), one.run)
                name = axis
        if not lines:
            raise UsageError(f"--figure: {explanation.measure} has no value by rank to draw", "nDCG and AP have one")
        best = [(values, "ideal" + f" of {run}" * (len(ideals) > 1)) for values, run in ideals.items() if values]
        yield Plot(
            f"{explanation.measure}: {name} by rank, {explanation.subject}",
            Axis("rank", 1.0, float(depth), is_whole=True),
            Axis(name, 0.0),
            (*(_line(name, values, "ideal") for values, name in best), *lines),
            caption=". ".join(text for one in explanation.lists for text in _conclusion(explanation, one, places)),
        )


def _line(name: str, values: Floats | Sequence[float], role: Role = "system") -> Line:
    return Line(name, tuple(map(float, range(1, len(values) + 1))), tuple(map(float, values)), role)


def _definition(measure: Measure) -> Iterator[Table | Detail | str]:
    text = Help.of(measure)
    yield f"{measure}: {text.claim}"
    yield from _sections(text, [name for name in SECTIONS if name not in _OF_OTHERS], f"Definition of {measure}")
    others = (*_sections(text, _OF_OTHERS, f"{measure} and other tools"), *_differences(measure))
    if others:
        yield Detail(others)
    names = list(measure.parameters())
    if names:
        columns = (Column("parameter"), Column("value"), Column("meaning"))
        rows_of_names = tuple((name, parameter_text(measure, name), meaning(measure, name)) for name in names)
        yield Table(columns, rows_of_names, f"Parameters of {measure}")
    yield reading(measure)
    if names:
        yield f"Written out: {measure.full_text()}"


def _sections(text: Help, names: Sequence[str], title: str) -> Iterator[Table]:
    rows = [
        (name.lower() if i == 0 else None, paragraph)
        for name in names
        for i, paragraph in enumerate(text.paragraphs(name))
    ]
    if rows:
        yield Table((Column("about", none=""), Column("definition")), tuple(rows), title)


def _differences(measure: Measure) -> Iterator[Table]:
    """What the tests, or a reading of the tools, know beyond the docstring."""
    found = differences_of(measure.name)
    if found:
        rows = tuple((f"{each.tool}: {each.measure}", str(each)) for each in found)
        title = f"What other tools do differently from {measure.name}"
        yield Table((Column("another tool"), Column("its difference")), rows, title)


#: Parameters that the introduction, the table or the measure's own name show.
_SAID_ELSEWHERE = {"gain", "discount", "base", "average", "rel", "level", "unjudged", "cutoff", "recall", "multiple"}


def introduction(measure: Measure) -> Iterator[str]:
    """What a measure is, in the words that its arithmetic needs."""
    text = Help.of(measure)
    yield f"{measure}: {text.claim}"
    yield from text.paragraphs("Formula")[:1]
    gain, said = getattr(measure, "gain", None), []
    if isinstance(gain, Gain):
        said.append(f"Gain: {gain_meaning(gain)}{_without_gain(measure)}.")
    discount = DISCOUNTS.get(getattr(measure, "discount", "")) if "discount" in measure.parameters() else None
    if discount is not None:
        base = f", b = {value_text(getattr(measure, 'base', 2))}" if discount.has_base else ""
        said.append(f"Discount at rank j: {discount.formula}{base}.")
    if getattr(measure, "average", None) is not None:
        said.append(f"The value is the mean of {measure.name}[1] to {measure.name}[{measure.rank_cutoff}].")
    if said:
        yield " ".join(said)
    chosen = [name for name, default in measure.parameters().items() if getattr(measure, name) not in (default, None)]
    for name in chosen:
        if name not in _SAID_ELSEWHERE:
            yield f"{name}={value_text(getattr(measure, name))}: {meaning(measure, name)}."


def _without_gain(measure: Measure) -> str:
    """Which grades have no gain, whatever the gain map says."""
    rel, level = getattr(measure, "rel", None), getattr(measure, "level", None)
    if level is not None:
        return f"; of grades other than {number_text(level)} it is 0 (level={number_text(level)})"
    return "" if rel is None else f"; of grades below {number_text(rel)} it is 0 (rel={number_text(rel)})"


def _arithmetic(explanation: Explanation, all_ranks: bool, places: int) -> Iterator[Table | str]:
    ranks, judgments = rank_table(explanation, all_ranks, places), _judgments_table(explanation, places)
    yield from (table for table in (ranks, judgments) if table is not None)
    yield from _recall_base(explanation)
    for one in explanation.lists:
        yield from _about_list(explanation, one)
    if len(explanation.lists) > 1:
        yield from _parting(explanation, places)
    yield _steps_table(explanation, places)
    for one in explanation.lists:
        yield from _conclusion(explanation, one, places)


def _judgments_table(explanation: Explanation, places: int) -> Table | None:
    """How many documents of every grade were judged, retrieved, and seen."""
    judgments = _of_query(explanation)
    grades = distinct(judgments.grades)[::-1].tolist()
    if not 0 < len(grades) <= _GRADES:
        return None
    # One column after the other: a value for every grade, then one for unjudged documents.
    columns: list[tuple[Column, Sequence[Cell]]] = [
        (Column("documents"), [*(f"grade {number_text(grade)}" for grade in grades), "unjudged"])
    ]
    if judgments.worth is not None:
        worth = [*(_worth(judgments)[grade] for grade in grades), 0.0]
        name, is_whole = "gain" if judgments.is_gain else "relevant", all(value == int(value) for value in worth)
        columns.append((Column(name, "count") if is_whole else Column(name, "number", places), worth))
    columns.append((Column("judged", "count", none=""), [*(int((judgments.grades == g).sum()) for g in grades), None]))
    for one in explanation.lists:
        prefix = f"{one.run}: " if len(explanation.lists) > 1 else ""
        found = [*(int((one.grades == grade).sum()) for grade in grades), int(one.unjudged.size)]
        columns.append((Column(f"{prefix}retrieved", "count"), found))
        for what, cut in _top(explanation.measure):
            seen = one.grades[:cut]
            counts = [*(int((seen == grade).sum()) for grade in grades), int(np.isnan(seen).sum())]
            columns.append((Column(prefix + what, "count"), counts))
    rows: list[tuple[Cell, ...]] = list(zip(*(cells for _, cells in columns), strict=True))
    if not any(one.unjudged.size for one in explanation.lists):
        rows.pop()
    return Table(tuple(column for column, _ in columns), tuple(rows), f"Judgments of {explanation.subject}")


def _recall_base(explanation: Explanation) -> Iterator[str]:
    """What there was to be found, and how much of it was."""
    judgments, measure = _of_query(explanation), explanation.measure
    base = judgments.recall_base
    if base is None:
        return
    worth = _worth(judgments)
    if not judgments.grades.size:
        yield "Recall base: no document is judged."
        return
    has = "has" if base == 1 or judgments.grades.size == 1 else "have"
    what = f"{has} {'a gain above 0' if judgments.is_gain else _relevant(measure)}"
    text = f"Recall base: {_or_none(base)} of {count_of(judgments.grades.size, 'judged document')} {what}"
    for one in explanation.lists if base else ():
        counts = np.array([worth.get(grade, 0.0) > 0 for grade in one.grades.tolist()], bool)
        tops = "".join(f", {_or_none(counts[:cut].sum())} {what}" for what, cut in _top(measure))
        text += f"; {one.run} retrieved {_or_none(counts.sum())} of them{tops}"
    zero = number_text(explanation.lists[0].policy.grade_zero) if explanation.lists else "0"
    yield f"{text}." + ("" if zero == "0" else f" Grades are what is above {zero} (grade-zero={zero}).")


def _relevant(measure: Measure) -> str:
    rel, level = getattr(measure, "rel", None), getattr(measure, "level", None)
    if level is not None:
        return f"grade {number_text(level)}"
    return "a grade above 0" if rel is None else f"a grade of at least {number_text(rel)}"


def _about_list(explanation: Explanation, one: ExplainedList) -> Iterator[str]:
    """What was unjudged, where the list ends, and what decided between equal scores."""
    of = f" in {one.run}" if len(explanation.lists) > 1 else ""
    depth, length = table_depth(explanation), len(one.documents)
    unjudged = f"Unjudged{of}: {_or_none(one.unjudged.size)} of {count_of(one.retrieved, 'document')}"
    if one.is_condensed and one.retrieved:
        yield f"{unjudged}; they are removed before ranks are counted (unjudged=condensed)."
    elif one.retrieved:
        seen = one.unjudged[one.unjudged <= depth]
        tops = "".join(f", {_or_none((seen <= cut).sum())} {what}" for what, cut in _top(explanation.measure))
        ranks = f" (rank{'s' if seen.size > 1 else ''} {_listed([str(rank) for rank in seen])})" if seen.size else ""
        yield f"{unjudged}{tops}{ranks}."
    if one.score.status != "missing" and length < (explanation.measure.rank_cutoff or 1):
        yield f"The list{of} " + (f"ends at rank {length}." if length else "is empty.")
    ties = [f"{first}-{last}" for first, last in one.tied if _is_seen(one, first, last, depth)]
    if ties:
        ranks = f"ranks {_listed(ties)}" + (" of the run" if one.is_condensed else "")
        yield f"Equal scores{of} at {ranks}: ties={one.policy.ties} orders them."


def _is_seen(one: ExplainedList, first: int, last: int, depth: int) -> bool:
    """Whether what orders these ranks of the run orders anything down to a depth of the list that is scored."""
    kept = np.flatnonzero((one.in_run >= first) & (one.in_run <= last))
    return kept.size > 1 and bool(kept[0] < depth)


def _parting(explanation: Explanation, places: int) -> Iterator[str]:
    """Where the lists, and where their running values part."""
    depth, names = table_depth(explanation), [one.run for one in explanation.lists]
    documents = [[*one.documents[:depth], *["no document"] * (depth - len(one.documents))] for one in explanation.lists]
    rank = next((i for i, here in enumerate(zip(*documents, strict=True)) if len(set(here)) > 1), None)
    if rank is None:
        yield f"The lists are the same down to rank {depth}."
        return
    yield f"The lists part at rank {rank + 1}: {_each(names, [column[rank] for column in documents])}."
    name = explanation.lists[0].arithmetic.running or ""
    running = [one.arithmetic.columns.get(name) for one in explanation.lists]
    values = np.array([_held(each, depth) for each in running if each is not None])
    if len(values) < len(names) or np.isnan(values).any():
        return
    parted = np.flatnonzero(values.max(axis=0) - values.min(axis=0) > 1e-12)
    if parted.size:
        figures = [figure(value, places) for value in values[:, parted[0]].tolist()]
        yield f"Their {name} parts at rank {parted[0] + 1}: {_each(names, figures)}."
    else:
        yield f"Their {name} is the same at every rank."


def _held(values: Floats, depth: int) -> Floats:
    """The values down to a rank; after the last one they stay as they are."""
    return np.append(values[:depth], np.full(max(0, depth - values.size), values[-1] if values.size else 0.0))


def _steps_table(explanation: Explanation, places: int) -> Table:
    rows = tuple(
        (one.run, step.name, None if math.isnan(step.value) else step.value, _from(step, places))
        for one in explanation.lists
        for step in one.arithmetic.steps
    )
    counts = explanation.measure.aggregate == "sum" and all(float(row[2] or 0).is_integer() for row in rows)
    value = Column("value", "count") if counts else Column("value", "number", places)
    columns = (Column("run"), Column("step"), value, Column("from"))
    title = f"Steps of {explanation.measure} for {explanation.subject}"
    if len(explanation.lists) > 1:
        return Table(columns, rows, title)
    return Table(columns[1:], tuple(row[1:] for row in rows), title)


def _from(step: Step, places: int) -> str:
    return " ".join(filter(None, [step.working(places), f"({step.note})" if step.note else ""]))


def _conclusion(explanation: Explanation, one: ExplainedList, places: int) -> Iterator[str]:
    """The last step in full, and what the policy made of it."""
    step = one.arithmetic.steps[-1]
    yield (f"{one.run}: " if len(explanation.lists) > 1 else "") + step.text(places)
    if one.score.status is None:
        return
    what = {
        "missing": f"{one.run} does not answer {explanation.subject}",
        "undefined": f"{explanation.measure} is undefined for {explanation.subject}",
    }[one.score.status]
    choice = getattr(one.policy, one.score.status)
    does = {
        "zero": f"scores it {figure(one.score.value or 0.0, places)}",
        "skip": "leaves it out of the mean",
        "error": "refuses to evaluate the run",
    }[choice]
    if choice == "zero" and one.score.value is None:
        does = "leaves it out, because no value is the worst"
    yield f"{what}: {one.score.status}={choice} {does}."


def _data(explanation: Explanation) -> dict[str, object]:
    """What opens the JSON lines."""
    measure = explanation.measure
    found: dict[str, object] = {"measure": str(measure), "query": explanation.query}
    if explanation.translations:
        found["translations"] = [_translation_data(translation) for translation in explanation.translations]
    if explanation.query is None:
        text = Help.of(type(measure))
        return {
            **found,
            "full": measure.full_text(),
            "claim": text.claim,
            **{section.lower(): text.paragraphs(section) for section in SECTIONS},
            "differences": [
                {"tool": each.tool, "measure": each.measure, "why": each.why, "recorded": each.recorded}
                for each in differences_of(measure.name)
            ],
            "parameters": {name: _text_or_none(getattr(measure, name)) for name in measure.parameters()},
            "better": measure.better,
            "bounds": [bound if math.isfinite(bound) else None for bound in measure.bounds],
            "aggregate": measure.aggregate,
        }
    judgments = _of_query(explanation)
    return {
        **found,
        "signature": str(explanation.signature),
        "judged": int(judgments.grades.size),
        "recall_base": judgments.recall_base,
        "runs": [list_data(one) for one in explanation.lists],
    }


def _translation_data(translation: Translation) -> dict[str, object]:
    settings = [{"tool": each.tool, "flags": each.flags, "note": each.note} for each in translation.settings]
    return {"name": translation.text, "measures": [str(each) for each in translation.measures], "settings": settings}


def list_data(one: ExplainedList) -> dict[str, object]:
    """A list's value and steps, for machines."""
    return {
        "run": one.run,
        "value": one.score.value,
        "status": one.score.status,
        "retrieved": one.retrieved,
        "unjudged": int(one.unjudged.size),
        "steps": [
            {"name": step.name, "text": step.text(), "value": None if math.isnan(step.value) else step.value}
            for step in one.arithmetic.steps
        ],
    }


def _of_query(explanation: Explanation) -> Judgments:
    return explanation.judgments or Judgments(np.zeros(0), None, False)


def _worth(judgments: Judgments) -> Mapping[float, float]:
    """What a document of each grade is worth."""
    worth = np.zeros(judgments.grades.size) if judgments.worth is None else judgments.worth
    return dict(zip(judgments.grades.tolist(), worth.tolist(), strict=True))


def _top(measure: Measure) -> list[tuple[str, int]]:
    return [] if measure.rank_cutoff is None else [(f"in the top {measure.rank_cutoff}", measure.rank_cutoff)]


def _each(names: Sequence[str], values: Sequence[str]) -> str:
    return ", ".join(f"{value} ({name})" for name, value in zip(names, values, strict=True))


def _or_none(count: int | np.integer) -> str:
    return f"{int(count):,}" if count else "none"


def _listed(texts: Sequence[str]) -> str:
    return ", ".join(texts[:_LISTED]) + (", ..." if len(texts) > _LISTED else "")


def _text_or_none(value: object) -> str | None:
    return None if value is None else value_text(value)


#: Tables down to this rank are shown whole; longer ones down to the second, and then what adds something.
_WHOLE, _FIRST = 20, 10

#: A rank, or the first and last of several that are shown as one row.
Shown: TypeAlias = int | tuple[int, int]


class ByRank(NamedTuple):
    """A column with its value at every rank."""

    column: Column
    cells: Sequence[Cell]
    of: ExplainedList | None = None  # the list whose documents these are


def rank_table(explanation: Explanation, all_ranks: bool, places: int) -> Table | None:
    """Rank by rank what was found and what it adds; None where there is no rank to look at."""
    depth = table_depth(explanation)
    if not depth or not any(one.arithmetic.columns for one in explanation.lists):
        return None
    columns = [ByRank(Column("rank", "count"), list(range(1, depth + 1))), *_columns(explanation, depth, places)]
    several = len(explanation.lists) > 1
    of = "" if several else f" of {explanation.lists[0].run}"
    return Table(
        tuple(values.column for values in columns),
        tuple(_row(columns, shown) for shown in _shown(explanation, depth, all_ranks)),
        f"{explanation.measure}{of} for {explanation.subject}",
        tuple(dict.fromkeys(one.arithmetic.note for one in explanation.lists if one.arithmetic.note)),
    )


def table_depth(explanation: Explanation) -> int:
    """The last rank that the measure looks at in any of the lists."""
    cutoff = explanation.measure.rank_cutoff
    return max((min(one.depth, cutoff or one.depth) for one in explanation.lists), default=0)


def _columns(explanation: Explanation, depth: int, places: int) -> Iterator[ByRank]:
    several = len(explanation.lists) > 1
    for one in explanation.lists:
        arithmetic, prefix = one.arithmetic, f"{one.run}: " if several else ""
        documents = [*one.documents[:depth], *[None] * (depth - len(one.documents))]
        yield ByRank(Column(f"{prefix}document"), documents, one)
        if one.is_condensed:
            yield numbers_by_rank(f"{prefix}rank in run", one.in_run.astype(np.float64), depth, places)
        yield numbers_by_rank(f"{prefix}grade", one.grades, depth, places, none="-")
        for name, values in arithmetic.columns.items():
            if not several or name in (arithmetic.adds, arithmetic.running):
                yield numbers_by_rank(prefix + name, values, depth, places)
    first = explanation.lists[0].arithmetic
    for name, values in first.columns.items() if several else ():
        if name in first.shared:
            yield numbers_by_rank(name, values, depth, places)


def numbers_by_rank(name: str, values: Floats, depth: int, places: int, none: str = "") -> ByRank:
    """A column of numbers; where all are whole, without a point."""
    is_whole = bool(np.all(np.isnan(values) | (values == np.floor(values))))
    column = Column(name, "count", none=none) if is_whole else Column(name, "number", places, none)
    cells: list[Cell] = [None if np.isnan(value) else value for value in values[:depth].tolist()]
    if is_whole:
        cells = [None if cell is None else int(cell) for cell in cells]
    return ByRank(column, [*cells, *[None] * (depth - len(cells))])


def _shown(explanation: Explanation, depth: int, all_ranks: bool) -> Iterator[Shown]:
    """The ranks to be shown, and the stretches between them."""
    wanted = np.ones(depth, bool)
    if depth > _WHOLE and not all_ranks:
        wanted = _adding(explanation, depth)
        wanted[:_FIRST] = True
        # Where there is an ideal list, its last value is half of the result.
        wanted[-1] |= any(one.arithmetic.shared for one in explanation.lists)
    edges = np.flatnonzero(np.diff(wanted, prepend=True, append=True)).tolist()
    first = 1
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        yield from range(first, start + 1)
        yield (start + 1, end) if end > start + 1 else end
        first = end + 1
    yield from range(first, depth + 1)


def _adding(explanation: Explanation, depth: int) -> Bools:
    """Where any of the lists adds something."""
    adds = np.zeros(depth, bool)
    for one in explanation.lists:
        values = one.arithmetic.columns.get(one.arithmetic.adds or "", np.zeros(0)) != 0
        adds[: values.size] |= values[:depth]
    return adds


def _row(columns: list[ByRank], shown: Shown) -> tuple[Cell, ...]:
    if isinstance(shown, int):
        return tuple(values.cells[shown - 1] for values in columns)
    first, last = shown
    rest = (_stretch(values, first, last) for values in columns[1:])
    return (f"{first}-{last}", *rest)


def _stretch(values: ByRank, first: int, last: int) -> Cell:
    """What stands for several ranks in a column."""
    if values.of is None:
        return "" if values.column.none else None
    documents = max(0, min(last, len(values.of.documents)) - first + 1)
    if not documents:
        return "past the end of the list"
    return count_of(documents, "document") + (" that adds nothing" if documents == 1 else " that add nothing")
