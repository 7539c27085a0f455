"""The engine of the papers: sections called as in the paper, claims with a verdict, and the tables that show them.

A claim is what a paper says beside what gainful finds; its constructors are the rules of the verdict. What
several papers do alike stands here, too: vectors of worked examples, heads of tables, charts of many runs, and numbers
compared as in exact arithmetic, where rounding decides nothing.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import combinations, pairwise
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from gainful import Evaluation, Gain, GainCurves, InputError, Measure, RunLike, UsageError, gain_curves, parse
from gainful.data.collection import require_runs
from gainful.data.judged import Judged
from gainful.data.run import RunSource
from gainful.evaluation.evaluate import evaluate_runs
from gainful.notation import count_of, number_text, read_whole
from gainful.pages.charts import Chart, Line, Plot
from gainful.pages.page import Cell, Column, Table, head
from gainful.render import Page
from gainful.stats.repeatable import settle
from gainful.tasks.sensitivity.sensitivity_grid import Cell as Order, GradeLevels

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]

#: What a section is made of: single parts, and several together, which follow one another.
Part: TypeAlias = Table | Chart | str
Parts: TypeAlias = Part | Iterable[Part]


class LateParts(Sequence[Any]):
    """Parts that take long: they are made when somebody first looks at them."""

    def __init__(self, make: Callable[[], Iterable[Part]]) -> None:
        self._made = cache(lambda: tuple(make()))

    def __len__(self) -> int:
        return len(self._made())

    def __getitem__(self, place: Any) -> Any:
        return self._made()[place]

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        return tuple, (self._made(),)


@dataclass(frozen=True)
class Section:
    """A table, a figure or an example of a paper. Its ``name`` ("Table 2") also names its files.

    ``about`` says in a sentence what is to be seen; ``parts`` are tables, charts and paragraphs. ``conventions`` are
    its own, where they are not the study's.
    """

    name: str
    about: str
    parts: Sequence[Part]
    conventions: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, about: str, *parts: Parts) -> Section:
        """From parts and groups of parts; an empty paragraph is none.

        >>> Section.of("Table 2", "", "one", ("two", "three"), "").parts
        ('one', 'two', 'three')
        """
        return cls(name, about, tuple(flat(*parts)))

    @property
    def file_name(self) -> str:
        """The name of its files, without an ending.

        >>> Section("Table 2", "", ()).file_name, Section("Section 3.1", "", ()).file_name
        ('table-2', 'section-3.1')
        """
        # A dot stays: what is numbered within section 3 must not have the name of section 3.1.
        return "-".join("".join(c if c.isalnum() or c == "." else " " for c in self.name.lower()).split())

    @property
    def page(self) -> Page:
        return Page("papers", tuple(self.parts))

    def verdicts(self) -> Iterator[tuple[str, str]]:
        """Its verdicts, each with what it is about."""
        for table in self.page.tables_for_machines:
            names = [column.name for column in table.columns]
            if "verdict" in names:
                yield from ((str(row[names.index("verdict")]), str(row[0])) for row in table.rows)


def flat(*parts: Parts) -> Iterator[Part]:
    """Parts and the parts of groups, one after the other; an empty paragraph is none."""
    for part in parts:
        group = (part,) if isinstance(part, (str, Table)) or not isinstance(part, Iterable) else part
        yield from (each for each in group if each != "")


@dataclass(frozen=True)
class Study:
    """What a paper's experiment gave on some data.

    ``data`` says in a sentence what data these were, and whether they are the paper's own or its figures are for
    orientation only. ``evaluations`` are the runs' scores with all that was noticed on the way.
    """

    data: str
    sections: tuple[Section, ...]
    evaluations: Mapping[str, Evaluation] = field(default_factory=dict)
    conventions: tuple[str, ...] = ()


#: ``agrees``: to the digits that the paper prints. ``truncated``: so if the paper cut digits off instead of rounding.
#: ``erratum``: the paper's figure cannot be right, a note says why. ``differs``: it is not the same, and nobody knows
#: why. ``holds`` and ``fails``: of a statement. ``not seen``: of what can happen or happened to the paper's runs, and
#: does not here, or of a statement that these data cannot decide. ``same collection``: the paper's figure is of this
#: collection, but not of these runs alone. ``other data``: it is of other data.
Verdict: TypeAlias = Literal[
    "agrees", "truncated", "erratum", "differs", "holds", "fails", "not seen", "same collection", "other data"
]

#: All verdicts, in the order in which they are counted.
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

_EPSILON = 1e-9


@dataclass(frozen=True)
class Claim:
    """One thing that a paper says, what gainful finds, the verdict, and a note where there is one.

    Its constructors are the rules of the verdict.
    """

    what: str
    says: str
    finds: str
    verdict: Verdict
    note: str = ""

    @classmethod
    def number(cls, what: str, says: float, finds: float, places: int = 2, erratum: str = "") -> Claim:
        """A single number that a paper prints with so many decimal places.

        >>> Claim.number("muAP", 0.448, 0.44792, 3).verdict, Claim.number("mean", 0.465, 0.4652, 3).finds
        ('agrees', '0.465')
        """
        return cls.vector(what, (says,), (finds,), places, erratum)

    @classmethod
    def vector(
        cls, what: str, says: Sequence[float], finds: Sequence[float], places: int = 2, erratum: str = ""
    ) -> Claim:
        """Numbers in order. ``erratum`` says why the paper's cannot be right; it is refused where they agree.

        >>> Claim.vector("CG", (3, 5, 8), (3.0, 5.0, 8.0), 0).says
        '3 5 8'
        >>> [Claim.vector("x", (said,), (found,)).verdict for said, found in ((9.75, 9.7509), (0.87, 0.8799))]
        ['agrees', 'truncated']
        """
        if len(says) != len(finds):
            raise UsageError(f"{what}: expected {len(says)} numbers, found {len(finds)}")
        unit, both = 10.0**places, list(zip(says, finds, strict=True))
        cut = [abs(math.floor(found * unit + _EPSILON) / unit - said) < _EPSILON for said, found in both]
        rounded = [abs(said - found) <= 0.5 / unit + _EPSILON for said, found in both]
        verdict: Verdict = "truncated" if all(map(operator.or_, rounded, cut)) else "differs"
        verdict = "agrees" if all(rounded) else verdict
        return cls(what, numbers(says, places, " "), numbers(finds, places, " "), verdict)._or_erratum(erratum)

    @classmethod
    def text(cls, what: str, says: str, finds: str, erratum: str = "") -> Claim:
        """Words that have to be the same.

        >>> Claim.text("who beats whom", "D > A*", "D > A*").verdict
        'agrees'
        """
        return cls(what, says, finds, "agrees" if says == finds else "differs")._or_erratum(erratum)

    def _or_erratum(self, erratum: str) -> Claim:
        if erratum and self.verdict == "agrees":
            raise UsageError(f"{self.what}: expected a difference that needs an erratum, found none")
        return replace(self, verdict="erratum", note=erratum) if erratum else self

    @classmethod
    def statement(cls, what: str, says: str, finds: str, holds: bool | None, note: str = "") -> Claim:
        """A statement of the paper, and whether what was found bears it out; None: these data cannot decide."""
        return cls(what, says, finds, "not seen" if holds is None else "holds" if holds else "fails", note)

    @classmethod
    def remark(cls, what: str, says: str, finds: str, seen: bool, note: str = "") -> Claim:
        """What can happen, or happened to the paper's runs: it is so here, or it is not seen, which refutes nothing."""
        return cls(what, says, finds, "holds" if seen else "not seen", note)

    @classmethod
    def undecided(cls, what: str, says: str, finds: str, note: str = "") -> Claim:
        """A statement that these data can neither bear out nor refute: too few systems or queries, nothing found."""
        return cls(what, says, finds, "not seen", note)

    @classmethod
    def beside(cls, what: str, says: str, finds: str, note: str = "", *, same_collection: bool = False) -> Claim:
        """A figure of other data than the paper's, or of a part of its own, which stands beside for orientation."""
        return cls(what, says, finds, "same collection" if same_collection else "other data", note)

    @classmethod
    def order(cls, what: str, says: str, one: Order, other: Order, *, changes: bool) -> Claim:
        """What two settings did to the order of the paper's runs: it changed (``changes``), or not markedly.

        The paper speaks of mean curves, so that means decide who swaps places. What no test shows is within noise:
        it is a change, but no marked one.
        """
        moved, pairs = moved_pairs(one.ranks, other.ranks), count_of(math.comb(len(one.ranks), 2), "pair")
        shown = 0 if one.leads is None or other.leads is None else int(one.leads.reversed_in(other.leads).sum())
        if min(len(one.order), len(other.order)) < 2:
            return cls.undecided(what, says, "no two runs differ")
        note = "by means; within noise: paired t tests, corrected by Holm, do not show both orders"
        if not changes:
            note += "; it holds where all are"
        noise = f"{shown} beyond noise" if shown else "within noise"
        swap = "swaps" if moved == 1 else "swap"
        finds = f"{moved} of {pairs} {swap} places, {noise}" if moved else "no pair swaps places"
        return cls.remark(what, says, finds, moved > 0 if changes else not shown, note if moved else "")

    @classmethod
    def rising(cls, what: str, says: str, finds: str, values: Sequence[float], scale: float, note: str = "") -> Claim:
        """Each value of the paper's runs is larger than the one before; not seen in a lone, equal or missing one.

        >>> cases = [1, 2, 3], [1, 3, 2], [0.3, 0.1 + 0.2, 1], [1, math.nan], [1]
        >>> [Claim.rising("gain", "grows", "", values, 1.0).verdict for values in cases]
        ['holds', 'not seen', 'not seen', 'not seen', 'not seen']
        """
        is_known = len(values) > 1 and not any(map(math.isnan, values))
        steps = pairwise(settled(values, scale)) if is_known else ()
        return cls.remark(what, says, finds, is_known and all(one < two for one, two in steps), note)


#: Texts longer than these do not stand side by side.
_LONG = 40


def claims_tables(title: str, claims: Iterable[Claim]) -> tuple[Table, ...]:
    """The claims as a table; long ones one below the other, for people, so that digits can be compared by eye.

    Where there is no claim there is no table.

    >>> claims_tables("Readings", [])
    ()
    """
    claims = tuple(claims)
    if not claims:
        return ()
    is_long = any(len(claim.says) > _LONG or len(claim.finds) > _LONG for claim in claims)
    of_note: dict[str, list[str]] = {}
    for claim in claims:
        of_note.setdefault(claim.note, []).append(claim.what)
    # What belongs to several claims, or to all of them, is said once.
    notes = tuple(
        f"{'all' if len(whats) == len(claims) > 1 else '; '.join(dict.fromkeys(whats))}: {note}"
        for note, whats in of_note.items()
        if note
    )
    columns = head("what | the paper says | gainful finds | verdict", for_machines=is_long)
    rows: list[tuple[Cell, ...]] = [(claim.what, claim.says, claim.finds, claim.verdict) for claim in claims]
    if notes:
        columns = (*columns, *head("note", for_machines=True, none=""))
        rows = [(*row, claim.note) for row, claim in zip(rows, claims, strict=True)]
    side_by_side = Table(columns, tuple(rows), title, () if is_long else notes)
    if not is_long:
        return (side_by_side,)
    stacked: list[tuple[Cell, ...]] = []
    for claim in claims:
        stacked.append((claim.what, "the paper says", claim.says, None))
        stacked.append(("", "gainful finds", claim.finds, claim.verdict))
    below = (*head("what | who | values"), *head("verdict", none=""))
    return Table(below, tuple(stacked), title, notes, for_people=True), side_by_side


def table(
    title: str,
    columns: str | Iterable[Column],
    rows: Iterable[Iterable[Cell]],
    *notes: str,
    for_machines: bool = False,
    **others: Any,
) -> Table:
    """A table whose columns are given as its :func:`head`; ``for_machines`` holds for all of them."""
    known = head(columns, for_machines=for_machines) if isinstance(columns, str) else tuple(columns)
    return Table(known, tuple(tuple(row) for row in rows), title, notes, **others)


def numbers(values: Iterable[float], places: int = 2, between: str = ", ", sign: str = "") -> str:
    """Numbers in a row, with a dash where there is none.

    >>> numbers([4.2, math.nan], 1)
    '4.2, -'
    """
    return between.join("-" if math.isnan(value) else f"{value:{sign}.{places}f}" for value in values)


def moved_pairs(one: Sequence[int | None], other: Sequence[int | None]) -> int:
    """Count the pairs of systems that stand the other way round in two orders; ties are in neither.

    >>> moved_pairs([1, 2, 3], [2, 1, 3]), moved_pairs([1, 1], [1, 2])
    (1, 0)
    """
    both = [(x, y) for x, y in zip(one, other, strict=True) if x is not None and y is not None]
    return sum((a - b) * (c - d) < 0 for (a, c), (b, d) in combinations(both, 2))


def tau_text(tau: float | None, places: int = 2) -> str:
    """A correlation as people read it."""
    return "undefined" if tau is None else f"{tau:.{places}f}"


def by_rank(measure: str, grades: Sequence[float], missed: Sequence[float] = (), to: int | None = None) -> list[float]:
    """A measure at rank 1, 2, and so on of a list that is given by its grades: the vectors of worked examples.

    ``missed`` are the grades of judged documents that the list does not have.

    >>> by_rank("CG", [3, 2, 3])
    [3.0, 5.0, 8.0]
    """
    return [parse(f"{measure}@{rank}").score(grades, missed) for rank in range(1, (to or len(grades)) + 1)]


def added(cumulated: Sequence[float]) -> list[float]:
    """What each rank adds to a cumulated vector.

    >>> added([3, 5, 8])
    [3.0, 2, 3]
    """
    return [here - before for before, here in pairwise((0.0, *cumulated))]


@dataclass(frozen=True)
class Case:
    """The judgments and runs of a paper's case study, which may be read several times, and on how many threads."""

    judged: Judged
    runs: Mapping[str, Any]
    threads: int | None

    @classmethod
    def of(cls, paper: str, judged: Judged, runs: Mapping[str, RunLike], threads: int | None) -> Case:
        """Of two or more runs."""
        require_several_runs(paper, runs, "two", "--runs takes a folder, a pattern, or may be repeated")
        return cls(judged, {name: RunSource.of(run).at_hand() for name, run in runs.items()}, threads)

    def evaluate(self, measures: Iterable[Measure]) -> dict[str, Evaluation]:
        """Every run by these measures."""
        return evaluate_runs(self.judged, self.runs, measures, threads=self.threads)

    def gain_curves(self, measures: Sequence[Measure], average: str = "ratios") -> GainCurves:
        """What the runs give by rank, without bands."""
        return gain_curves(self.judged, self.runs, measures, average=average, draws=0, threads=self.threads)


def require_several_runs(paper: str, runs: Mapping[str, RunLike], fewest: Literal["two", "three"], hint: str) -> None:
    """Refuses what is no mapping of names to runs, and fewer runs than a paper compares."""
    require_runs(runs)
    if len(runs) < {"two": 2, "three": 3}[fewest]:
        raise UsageError(f"{paper}: expected {fewest} or more runs to compare, found {len(runs)}", hint)


#: Of more levels than these nobody makes weights.
MOST_LEVELS = 9


def gains_for(
    paper: str, judged: Judged, levels: GradeLevels, given: Sequence[object] | None = None
) -> tuple[Gain, ...]:
    """The weights that were given, or else what 0-1-1-1, 0-1-10-100 and 0-0-0-1 are on this scale, each once."""
    if not levels.levels:
        raise InputError(f"{judged.qrels.name}: {paper} expects grades above 0, found none")
    if given is not None:
        read = dict.fromkeys(levels.read(each, "gain") for each in given)
        for gain in read:
            levels.check(gain, judged)
        return tuple(read)
    if not levels.is_whole or len(levels.levels) > MOST_LEVELS:
        return Gain("binary"), Gain("linear")
    return tuple(dict.fromkeys(map(levels.named, ("flat", "tenfold", "top"))))


def worth_text(levels: GradeLevels, gain: Gain) -> str:
    """What the highest grade is worth in a sentence, unless it is what the paper's is."""
    highest = levels.levels[-1]
    worth, grade = gain.of_grades(np.array([highest]), highest)[0], number_text(highest)
    if worth == 100 and len(levels.levels) == 3:
        return ""
    return (
        f"Grade {grade} is worth {worth:,g} ({gain}); the paper's highest, 3, is worth 100. --gain sets other weights."
    )


def check_last_rank(at: int | None) -> None:
    """Refuses a last rank that the papers' readings have no place in; their vectors have 200 components."""
    if at is not None and not 20 <= read_whole(at, "at") <= 200:
        raise UsageError(f"at: expected a rank from 20 to 200, found {at}")


def without_empty_bases(judged: Judged) -> Judged:
    """The judgments under one rule of both papers: a query without a document that counts is left out, no 0."""
    is_zero = judged.policy.undefined == "zero"
    return Judged(judged.qrels, judged.policy.replace(undefined="skip"), judged.index) if is_zero else judged


#: Of more runs than these only the best three and the worst of each panel are named.
MOST_NAMED = 8


def with_few_names(plots: Iterable[Plot], panels: Sequence[Mapping[str, float]]) -> Iterator[Plot]:
    """The plots, in which of many runs only the best and the worst have names; ``panels`` are the runs' values."""
    named: set[str] = set()
    for values in panels:
        ordered = sorted(values, key=lambda run: -values[run])
        named.update(ordered if len(values) <= MOST_NAMED else (*ordered[:3], ordered[-1]))
    for plot in plots:
        others = [line for line in plot.lines if line.role == "system" and line.name not in named]
        grey = [Line("", line.x, line.y, "guide") for line in others]
        kept = [line for line in plot.lines if line not in others]
        about = f"in grey: {len(others)} other runs"
        caption = f"{plot.caption}; {about}" if plot.caption else about
        yield replace(plot, lines=(*grey, *kept), caption=caption) if others else plot


def settled(values: Sequence[float], scale: float | None = None) -> list[float]:
    """The values, equal where they are equal but for rounding. ``scale`` is how large what they were made of is.

    >>> settled([0.1 + 0.2, 0.3])
    [0.3, 0.3]
    """
    # + 0.0 makes -0.0 a 0.0, which prints without a sign.
    return [float(value) + 0.0 for value in settle(np.array(values, np.float64), scale)]


def highest(values: Mapping[str, float]) -> str:
    """The name with the highest value, the first of those that share it but for rounding.

    >>> highest({"a": 0.3, "b": 0.1, "c": 0.1 + 0.2})
    'a'
    """
    known = dict(zip(values, settled(list(values.values())), strict=True))
    return max(known, key=known.__getitem__)
