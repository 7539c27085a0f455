"""Tables as papers print them: systems by measures, marks beside means that differ, and one table of a comparison."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from gainful.errors import UsageError, option
from gainful.notation import number_text, printable
from gainful.pages.page import Column, Table
from gainful.render import Page
from gainful.stats.family_results import MOST_WITH_LETTERS, letter

if TYPE_CHECKING:
    from gainful.tasks.compare.comparison import Comparison

BETTER, WORSE = "†", "‡"
_LETTERS = "letters: systems that share one are not significantly different, which does not make them equal"
_BEATEN = "raised: the systems that this one is significantly better than, by their letters"

#: The table for machines that has what one for people has.
_FOR_MACHINES = {"leaderboard": "systems", "means": "systems", "pairs": "pairs"}


class Marks(NamedTuple):
    """What stands beside the mean of each system, and what it says; ``names`` are letters that systems go by."""

    of: Callable[[str], str]
    note: str
    names: dict[str, str]

    def columns(self, name: str) -> tuple[Column, ...]:
        """The column of marks."""
        return (Column(name, "marks", get=self.of),)

    @property
    def letters(self) -> tuple[Column, ...]:
        """The column of what systems are called, if they are."""
        return (Column("#", get=self.names.__getitem__),) if self.names else ()


def rows_of(found: Comparison, measure: str) -> list[str]:
    """The systems in the order that is wanted."""
    matrix = found.scores[measure]
    if found.sort == "given":
        return list(matrix.systems)
    if measure in found.systems:
        family = found.systems[measure].family
        return [family.systems[i] for i in family.order]
    sign = -1 if matrix.better == "higher" else 1
    return [matrix.systems[i] for i in (sign * matrix.means).argsort(kind="stable").tolist()]


def marks_of(found: Comparison, measure: str, rows: Sequence[str]) -> Marks | None:
    """The marks that are wanted: against a baseline daggers, among all letters, unless others are asked for."""
    result, baseline = found.systems.get(measure), _baseline(found, measure)
    if found.marks == "beaten":
        names = {system: letter(i) for i, system in enumerate(rows)}

        def beaten_by(one: str) -> Iterator[str]:
            return (other for other in rows if baseline in (None, one, other) and _beats(found, measure, one, other))

        return Marks(lambda one: "".join(map(names.__getitem__, beaten_by(one))), _BEATEN, names)
    if found.marks == "daggers" or (found.marks is None and baseline is not None):
        if baseline is None:
            raise UsageError(
                "marks: expected a baseline with daggers, found none", f"name it: {option('baseline', 'SYSTEM')}"
            )
        note = f"{BETTER} better, {WORSE} worse than {printable(baseline, 40)}" + ", after correction" * (
            not found.is_pair
        )
        return Marks(lambda one: _dagger(found, measure, one, baseline), note, {})
    if result is not None and result.letters:
        return Marks(
            lambda one: result.letters[result.family.order.index(result.family.systems.index(one))], _LETTERS, {}
        )
    if found.marks is not None:
        raise UsageError(
            f"marks: expected all pairs of 3 to {MOST_WITH_LETTERS} systems with letters, found "
            + ("more systems" if baseline is None else f"pairs with {printable(baseline, 40)} only"),
            f"{option('marks', 'beaten')} names the systems that each one is better than",
        )
    return None


def _baseline(found: Comparison, measure: str) -> str | None:
    return found.pairs[measure].names[1] if found.is_pair else found.systems[measure].family.baseline


def _beats(found: Comparison, measure: str, one: str, other: str) -> bool:
    """Whether a system is significantly better than another one."""
    if one == other:
        return False
    if not found.is_pair:
        pair = found.systems[measure].family.pair(one, other)
        return (pair.tested if pair.verdict == "needs margin" else pair.verdict) in ("better", "superior")
    result = found.pairs[measure]
    return result.verdict in (("better", "superior") if one == result.names[0] else ("worse", "inferior"))


def _dagger(found: Comparison, measure: str, one: str, baseline: str) -> str:
    if one == baseline:
        return ""
    return BETTER if _beats(found, measure, one, baseline) else WORSE if _beats(found, measure, baseline, one) else ""


def means_table(found: Comparison) -> Table:
    """Systems by all measures: marks after correction, the best emphasised."""
    rows = rows_of(found, found.primary)
    marks = {measure: marks_of(found, measure, rows) for measure in found.scores}
    columns = [*next((each.letters for each in marks.values() if each is not None), ())]
    columns.append(Column("system", get=lambda name: name))
    bests: dict[int, float] = {}
    for measure, matrix in found.scores.items():
        means = dict(zip(matrix.systems, matrix.means.tolist(), strict=True))
        bests[len(columns)] = (max if matrix.better == "higher" else min)(means.values())
        columns.append(Column(matrix.measure, "number", found.places, get=means.__getitem__))
        beside = marks[measure]
        if beside is not None:
            columns += beside.columns(f"{matrix.measure} marks")
    notes = ["* best of its column", *dict.fromkeys(each.note for each in marks.values() if each is not None)]
    if not any(marks.values()) and len(rows) > MOST_WITH_LETTERS:
        notes.append(f"no marks with more than {MOST_WITH_LETTERS} systems: {option('marks', 'beaten')} gives some")
    table = Table.of(columns, rows, title="Means", notes=tuple(notes), for_people=True)
    marked = {(i, column) for i, row in enumerate(table.rows) for column, best in bests.items() if row[column] == best}
    return replace(table, marked=frozenset(marked))


def single_table(found: Comparison, page: Page) -> Page:
    """The page with the one table that is asked for, of every measure where it is of one."""
    only = found.only or ""
    tables = [means_table(found)] if only == "means" else list(_of_measures(found, page))
    if only != "pairs":
        tables = [replace(table, notes=(*table.notes, *_tested(found))) for table in tables]
    for_machines = (t for t in page.tables if not t.for_people and t.title == _FOR_MACHINES[only])
    return replace(page, parts=(*tables, *for_machines))


def _tested(found: Comparison) -> Iterator[str]:
    """By what marks were found: a table by itself has no sentence that says so."""
    for pair in found.pairs.values():
        yield f"significant: {pair.test.test.said.removeprefix('the ')}, {number_text(round(100 * pair.alpha, 10))} %"
        return
    yield from dict.fromkeys(f"significant: {result.tested}" for result in found.systems.values())


def _of_measures(found: Comparison, page: Page) -> Iterator[Table]:
    if found.is_pair:
        if found.only == "leaderboard":
            raise UsageError("only: 'leaderboard' has no meaning with two systems", "there is pairs | means")
        yield next(page.tables)
        return
    from gainful.tasks.compare.systems_page import baseline_table, leaderboard, pair_table

    for measure, result in found.systems.items():
        if found.only == "pairs":
            yield pair_table(result, found.shown or None, found.places)
        elif result.family.is_of_named:
            raise UsageError("only: 'leaderboard' has no meaning with contrasts", "there is pairs | means")
        else:
            yield (leaderboard if result.family.baseline is None else baseline_table)(found, measure)
