"""Sections of a paper, claims with verdicts, and their tables; also helpers that several papers share.

A claim compares a statement of a paper with the result of gainful; its constructors apply the rules for verdicts.
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

#: One part of a section, or several in order.
Part: TypeAlias = Table | Chart | str
Parts: TypeAlias = Part | Iterable[Part]


class LateParts(Sequence[Any]):
    """Parts that are expensive to compute: they are computed on first access."""

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
    """A table, figure or example of a paper. Its ``name`` ("Table 2") also names its files.

    ``about`` describes it in a sentence; ``parts`` are tables, charts and paragraphs. ``conventions`` replace those of
    the study.
    """

    name: str
    about: str
    parts: Sequence[Part]
    conventions: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, about: str, *parts: Parts) -> Section:
        """Build a section from parts and groups of parts, without empty paragraphs.

        >>> Section.of("Table 2", "", "one", ("two", "three"), "").parts
        ('one', 'two', 'three')
        """
        return cls(name, about, tuple(flat(*parts)))

    @property
    def file_name(self) -> str:
        """Name of its files, without suffix.

        >>> Section("Table 2", "", ()).file_name, Section("Section 3.1", "", ()).file_name
        ('table-2', 'section-3.1')
        """
        # Keep the dot, so that section 3, file 1 and section 3.1 have different names.
        return "-".join("".join(c if c.isalnum() or c == "." else " " for c in self.name.lower()).split())

    @property
    def page(self) -> Page:
        return Page("papers", tuple(self.parts))

    def verdicts(self) -> Iterator[tuple[str, str]]:
        """Yield each verdict with the subject of its claim."""
        for table in self.page.tables_for_machines:
            names = [column.name for column in table.columns]
            if "verdict" in names:
                yield from ((str(row[names.index("verdict")]), str(row[0])) for row in table.rows)


def flat(*parts: Parts) -> Iterator[Part]:
    """Yield parts and the members of groups, without empty paragraphs."""
    for part in parts:
        group = (part,) if isinstance(part, (str, Table)) or not isinstance(part, Iterable) else part
        yield from (each for each in group if each != "")


@dataclass(frozen=True)
class Study:
    """Results of a paper's experiment on some data.

    ``data`` describes the data in a sentence, and states whether they are the paper's own. ``evaluations`` are the
    runs' scores and their notices.
    """

    data: str
    sections: tuple[Section, ...]
    evaluations: Mapping[str, Evaluation] = field(default_factory=dict)
    conventions: tuple[str, ...] = ()


#: ``agrees``: equal to the digits that the paper prints. ``truncated``: equal if the paper truncated instead of
#: rounding. ``erratum``: the paper's value cannot be right; a note gives the reason. ``differs``: not equal, for an
#: unknown reason. ``holds``, ``fails``: a statement is or is not supported. ``not seen``: an effect that the paper
#: observed or considers possible does not occur here, or these data cannot decide. ``same collection``: the paper's
#: value is from this collection but from other runs. ``other data``: it is from other data.
Verdict: TypeAlias = Literal[
    "agrees", "truncated", "erratum", "differs", "holds", "fails", "not seen", "same collection", "other data"
]

#: All verdicts, in the order in which they are counted.
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)

_EPSILON = 1e-9


@dataclass(frozen=True)
class Claim:
    """A statement of a paper, the result of gainful, the verdict, and an optional note."""

    what: str
    says: str
    finds: str
    verdict: Verdict
    note: str = ""

    @classmethod
    def number(cls, what: str, says: float, finds: float, places: int = 2, erratum: str = "") -> Claim:
        """Compare a number that the paper prints with ``places`` decimals.

        >>> Claim.number("muAP", 0.448, 0.44792, 3).verdict, Claim.number("mean", 0.465, 0.4652, 3).finds
        ('agrees', '0.465')
        """
        return cls.vector(what, (says,), (finds,), places, erratum)

    @classmethod
    def vector(
        cls, what: str, says: Sequence[float], finds: Sequence[float], places: int = 2, erratum: str = ""
    ) -> Claim:
        """Compare numbers in order. ``erratum`` explains an error in the paper; it is rejected if the numbers agree.

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
        """Compare two texts, which must be equal.

        >>> Claim.text("significant pairs", "D > A*", "D > A*").verdict
        'agrees'
        """
        return cls(what, says, finds, "agrees" if says == finds else "differs")._or_erratum(erratum)

    def _or_erratum(self, erratum: str) -> Claim:
        if erratum and self.verdict == "agrees":
            raise UsageError(f"{self.what}: the numbers agree, so there is no erratum")
        return replace(self, verdict="erratum", note=erratum) if erratum else self

    @classmethod
    def statement(cls, what: str, says: str, finds: str, holds: bool | None, note: str = "") -> Claim:
        """Check a statement of the paper; None means that these data cannot decide it."""
        return cls(what, says, finds, "not seen" if holds is None else "holds" if holds else "fails", note)

    @classmethod
    def remark(cls, what: str, says: str, finds: str, seen: bool, note: str = "") -> Claim:
        """Check for an effect that the paper observed or considers possible; its absence refutes nothing."""
        return cls(what, says, finds, "holds" if seen else "not seen", note)

    @classmethod
    def undecided(cls, what: str, says: str, finds: str, note: str = "") -> Claim:
        """Record a statement that these data can neither support nor refute."""
        return cls(what, says, finds, "not seen", note)

    @classmethod
    def comparison(cls, what: str, says: str, finds: str, note: str = "", *, same_collection: bool = False) -> Claim:
        """Show a value from other data than the paper's, or from part of its data, for comparison only."""
        return cls(what, says, finds, "same collection" if same_collection else "other data", note)

    @classmethod
    def order(cls, what: str, says: str, one: Order, other: Order, *, changes: bool) -> Claim:
        """Check whether two settings change the order of runs (``changes``), or do not change it markedly.

        As in the paper, means define the order. A swap that no test confirms is within noise, so it is not marked.
        """
        moved, pairs = moved_pairs(one.ranks, other.ranks), count_of(math.comb(len(one.ranks), 2), "pair")
        shown = 0 if one.leads is None or other.leads is None else int(one.leads.reversed_in(other.leads).sum())
        if min(len(one.order), len(other.order)) < 2:
            return cls.undecided(what, says, "no two runs differ")
        note = "by means; within noise: Holm-corrected paired t tests do not confirm both orders"
        if not changes:
            note += "; holds if all swaps are within noise"
        noise = f"{shown} beyond noise" if shown else "within noise"
        swap = "swaps" if moved == 1 else "swap"
        finds = f"{moved} of {pairs} {swap} places, {noise}" if moved else "no pair swaps places"
        return cls.remark(what, says, finds, moved > 0 if changes else not shown, note if moved else "")

    @classmethod
    def rising(cls, what: str, says: str, finds: str, values: Sequence[float], scale: float, note: str = "") -> Claim:
        """Check that each value exceeds the previous one; a single, equal or missing value is ``not seen``.

        >>> cases = [1, 2, 3], [1, 3, 2], [0.3, 0.1 + 0.2, 1], [1, math.nan], [1]
        >>> [Claim.rising("gain", "grows", "", values, 1.0).verdict for values in cases]
        ['holds', 'not seen', 'not seen', 'not seen', 'not seen']
        """
        is_known = len(values) > 1 and not any(map(math.isnan, values))
        steps = pairwise(settled(values, scale)) if is_known else ()
        return cls.remark(what, says, finds, is_known and all(one < two for one, two in steps), note)


#: Longest text that is shown in a column of its own.
_LONG = 40


def claims_tables(title: str, claims: Iterable[Claim]) -> tuple[Table, ...]:
    """Return the claims as tables. For people, long values are stacked, so that digits can be compared by eye.

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
    # Print a note once if several claims share it.
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
    """Build a table; ``columns`` may be a text for :func:`head`, to which ``for_machines`` applies."""
    known = head(columns, for_machines=for_machines) if isinstance(columns, str) else tuple(columns)
    return Table(known, tuple(tuple(row) for row in rows), title, notes, **others)


def numbers(values: Iterable[float], places: int = 2, between: str = ", ", sign: str = "") -> str:
    """Join formatted numbers, with a dash for NaN.

    >>> numbers([4.2, math.nan], 1)
    '4.2, -'
    """
    return between.join("-" if math.isnan(value) else f"{value:{sign}.{places}f}" for value in values)


def moved_pairs(one: Sequence[int | None], other: Sequence[int | None]) -> int:
    """Count the pairs of systems that two rankings order differently; ties do not count.

    >>> moved_pairs([1, 2, 3], [2, 1, 3]), moved_pairs([1, 1], [1, 2])
    (1, 0)
    """
    both = [(x, y) for x, y in zip(one, other, strict=True) if x is not None and y is not None]
    return sum((a - b) * (c - d) < 0 for (a, c), (b, d) in combinations(both, 2))


def tau_text(tau: float | None, places: int = 2) -> str:
    """Format a correlation."""
    return "undefined" if tau is None else f"{tau:.{places}f}"


def by_rank(measure: str, grades: Sequence[float], missed: Sequence[float] = (), to: int | None = None) -> list[float]:
    """Score a list of grades at each rank from 1, as in worked examples; ``missed`` are grades not in the list.

    >>> by_rank("CG", [3, 2, 3])
    [3.0, 5.0, 8.0]
    """
    return [parse(f"{measure}@{rank}").score(grades, missed) for rank in range(1, (to or len(grades)) + 1)]


def added(cumulated: Sequence[float]) -> list[float]:
    """Return the increments of a cumulated vector.

    >>> added([3, 5, 8])
    [3.0, 2, 3]
    """
    return [here - before for before, here in pairwise((0.0, *cumulated))]


@dataclass(frozen=True)
class Case:
    """Judgments, runs and threads of a case study; runs can be read several times."""

    judged: Judged
    runs: Mapping[str, Any]
    threads: int | None

    @classmethod
    def of(cls, paper: str, judged: Judged, runs: Mapping[str, RunLike], threads: int | None) -> Case:
        """Build a case from two or more runs."""
        require_several_runs(paper, runs, "two", "--runs takes a folder or a pattern, and is repeatable")
        return cls(judged, {name: RunSource.of(run).at_hand() for name, run in runs.items()}, threads)

    def evaluate(self, measures: Iterable[Measure]) -> dict[str, Evaluation]:
        """Evaluate every run."""
        return evaluate_runs(self.judged, self.runs, measures, threads=self.threads)

    def gain_curves(self, measures: Sequence[Measure], average: str = "ratios") -> GainCurves:
        """Compute gain curves without bands."""
        return gain_curves(self.judged, self.runs, measures, average=average, draws=0, threads=self.threads)


def require_several_runs(paper: str, runs: Mapping[str, RunLike], fewest: Literal["two", "three"], hint: str) -> None:
    """Raise UsageError unless ``runs`` is a mapping with at least ``fewest`` runs."""
    require_runs(runs)
    if len(runs) < {"two": 2, "three": 3}[fewest]:
        raise UsageError(f"{paper}: expected {fewest} or more runs to compare, found {len(runs)}", hint)


#: Largest number of levels for which default weights are made.
MOST_LEVELS = 9


def gains_for(
    paper: str, judged: Judged, levels: GradeLevels, given: Sequence[object] | None = None
) -> tuple[Gain, ...]:
    """Return the given weights, or the equivalents of 0-1-1-1, 0-1-10-100 and 0-0-0-1 on this scale, each once."""
    if not levels.levels:
        raise InputError(f"{judged.qrels.name}: {paper} needs grades above 0, but there are none")
    if given is not None:
        read = dict.fromkeys(levels.read(each, "gain") for each in given)
        for gain in read:
            levels.check(gain, judged)
        return tuple(read)
    if not levels.is_whole or len(levels.levels) > MOST_LEVELS:
        return Gain("binary"), Gain("linear")
    return tuple(dict.fromkeys(map(levels.named, ("flat", "tenfold", "top"))))


def worth_text(levels: GradeLevels, gain: Gain) -> str:
    """Return a sentence on the gain of the highest grade, unless it is the paper's."""
    highest = levels.levels[-1]
    worth, grade = gain.of_grades(np.array([highest]), highest)[0], number_text(highest)
    if worth == 100 and len(levels.levels) == 3:
        return ""
    return (
        f"Grade {grade} is worth {worth:,g} ({gain}); the paper's highest, 3, is worth 100. --gain sets other weights."
    )


def check_last_rank(at: int | None) -> None:
    """Raise UsageError for a last rank outside the range of the papers' readings; their vectors have 200 components."""
    if at is not None and not 20 <= read_whole(at, "at") <= 200:
        raise UsageError(f"at: expected a rank from 20 to 200, found {at}")


def without_empty_bases(judged: Judged) -> Judged:
    """Return the judgments with ``undefined=skip`` in place of ``zero``: both papers leave empty queries out."""
    is_zero = judged.policy.undefined == "zero"
    return Judged(judged.qrels, judged.policy.replace(undefined="skip"), judged.index) if is_zero else judged


#: Largest number of runs that are all named in a chart; of more, the best three and the worst of each panel are.
MOST_NAMED = 8


def with_few_names(plots: Iterable[Plot], panels: Sequence[Mapping[str, float]]) -> Iterator[Plot]:
    """Yield the plots; if there are many runs, only the best and worst by ``panels`` are named, the others grey."""
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
    """Return the values, with those made equal that differ only by rounding; ``scale`` is the size of the operands.

    >>> settled([0.1 + 0.2, 0.3])
    [0.3, 0.3]
    """
    # Adding 0.0 turns -0.0 into 0.0, which prints without a sign.
    return [float(value) + 0.0 for value in settle(np.array(values, np.float64), scale)]


def highest(values: Mapping[str, float]) -> str:
    """Return the name with the highest value: the first of several that differ only by rounding.

    >>> highest({"a": 0.3, "b": 0.1, "c": 0.1 + 0.2})
    'a'
    """
    known = dict(zip(values, settled(list(values.values())), strict=True))
    return max(known, key=known.__getitem__)
