"""What a paper's run is made of: sections that are called as in the paper, and the evaluations behind them.

What a paper says beside what gainful finds, and whether that is the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from gainful.errors import UsageError
from gainful.evaluation.results import Evaluation
from gainful.pages.charts import Chart
from gainful.pages.page import Cell, Column, Table


@dataclass(frozen=True)
class Section:
    """A table, a figure or an example of a paper. Its ``name`` ("Table 2") also names its files.

    ``about`` says in a sentence what is to be seen; ``parts`` are tables, charts and paragraphs.
    """

    name: str
    about: str
    parts: tuple[Table | Chart | str, ...]

    @property
    def file_name(self) -> str:
        """The name of its files, without an ending.

        >>> Section("Table 2", "", ()).file_name, Section("Section 3.1", "", ()).file_name
        ('table-2', 'section-3.1')
        """
        # A dot stays: what is numbered within section 3 must not have the name of section 3.1.
        return "-".join("".join(c if c.isalnum() or c == "." else " " for c in self.name.lower()).split())


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
#: why. ``holds`` and ``fails``: of a statement. ``not seen``: of a remark that something can happen, which it does not
#: here, or of a statement that these data cannot decide. ``other data``: the paper's figure is of other data.
Verdict: TypeAlias = Literal["agrees", "truncated", "erratum", "differs", "holds", "fails", "not seen", "other data"]

_EPSILON = 1e-9


@dataclass(frozen=True)
class Claim:
    """One thing that a paper says, what gainful finds, the verdict, and a note where there is one."""

    what: str
    says: str
    finds: str
    verdict: Verdict
    note: str = ""


def number_claim(what: str, says: float, finds: float, places: int = 2, erratum: str = "") -> Claim:
    """A single number that a paper prints with so many decimal places.

    >>> number_claim("muAP", 0.448, 0.44792, 3).verdict, number_claim("mean", 0.465, 0.4652, 3).finds
    ('agrees', '0.465')
    """
    return vector_claim(what, (says,), (finds,), places, erratum)


def vector_claim(what: str, says: Sequence[float], finds: Sequence[float], places: int = 2, erratum: str = "") -> Claim:
    """Numbers in order. ``erratum`` says why the paper's cannot be right; it is refused where they agree.

    >>> vector_claim("CG", (3, 5, 8), (3.0, 5.0, 8.0), 0).says
    '3 5 8'
    >>> vector_claim("ideal", (9.75, 10.52), (9.7509, 10.5246)).verdict, vector_claim("x", (0.87,), (0.8799,)).verdict
    ('agrees', 'truncated')
    """
    if len(says) != len(finds):
        raise UsageError(f"{what}: expected {len(says)} numbers, found {len(finds)}")
    verdict = _verdict(says, finds, places)
    if erratum and verdict == "agrees":
        raise UsageError(f"{what}: expected a difference that needs an erratum, found none")
    if erratum:
        verdict = "erratum"
    return Claim(what, _joined(says, places), _joined(finds, places), verdict, erratum)


def text_claim(what: str, says: str, finds: str, erratum: str = "") -> Claim:
    """Words that have to be the same.

    >>> text_claim("who beats whom", "D > A*", "D > A*").verdict
    'agrees'
    """
    if erratum and says == finds:
        raise UsageError(f"{what}: expected a difference that needs an erratum, found none")
    return Claim(what, says, finds, "erratum" if erratum else "agrees" if says == finds else "differs", erratum)


def statement(what: str, says: str, finds: str, holds: bool, note: str = "") -> Claim:
    """A statement of the paper, and whether what was found bears it out."""
    return Claim(what, says, finds, "holds" if holds else "fails", note)


def remark(what: str, says: str, finds: str, seen: bool, note: str = "") -> Claim:
    """A remark that something can happen: it does in these data, or it is not seen there, which refutes nothing."""
    return Claim(what, says, finds, "holds" if seen else "not seen", note)


def undecided(what: str, says: str, finds: str, note: str = "") -> Claim:
    """A statement that these data can neither bear out nor refute: too few systems or queries, nothing found."""
    return Claim(what, says, finds, "not seen", note)


def beside(what: str, says: str, finds: str, note: str = "") -> Claim:
    """A figure of other data than the paper's, which stands beside for orientation."""
    return Claim(what, says, finds, "other data", note)


def claims_tables(title: str, claims: Iterable[Claim]) -> tuple[Table, ...]:
    """The claims as a table; long ones one below the other, for people, so that digits can be compared by eye.

    Where there is no claim there is no table.

    >>> claims_tables("Readings", [])
    ()
    """
    claims = tuple(claims)
    if not claims:
        return ()
    has_notes = any(claim.note for claim in claims)
    notes = _notes(claims)
    is_long = any(len(claim.says) > _LONG or len(claim.finds) > _LONG for claim in claims)
    side_by_side = Table(
        (
            Column("what", for_machines=is_long),
            Column("the paper says", for_machines=is_long),
            Column("gainful finds", for_machines=is_long),
            Column("verdict", for_machines=is_long),
            *((Column("note", none="", for_machines=True),) if has_notes else ()),
        ),
        tuple(
            (claim.what, claim.says, claim.finds, claim.verdict, *((claim.note,) if has_notes else ()))
            for claim in claims
        ),
        title,
        () if is_long else notes,
    )
    if not is_long:
        return (side_by_side,)
    stacked = Table(
        (Column("what"), Column("who"), Column("values"), Column("verdict", none="")),
        tuple(row for claim in claims for row in _stacked(claim)),
        title,
        notes,
        for_people=True,
    )
    return (stacked, side_by_side)


def _notes(claims: Sequence[Claim]) -> tuple[str, ...]:
    """What belongs to several claims, or to all of them, is said once."""
    noted = dict.fromkeys(claim.note for claim in claims if claim.note)
    of_note = {note: [claim.what for claim in claims if claim.note == note] for note in noted}
    return tuple(
        f"{'all' if len(whats) == len(claims) > 1 else '; '.join(dict.fromkeys(whats))}: {note}"
        for note, whats in of_note.items()
    )


#: Texts longer than these do not stand side by side.
_LONG = 40


def _stacked(claim: Claim) -> tuple[tuple[Cell, ...], tuple[Cell, ...]]:
    return (claim.what, "the paper says", claim.says, None), ("", "gainful finds", claim.finds, claim.verdict)


def _verdict(says: Sequence[float], finds: Sequence[float], places: int) -> Verdict:
    pairs = list(zip(says, finds, strict=True))
    if all(_is_rounded(said, found, places) for said, found in pairs):
        return "agrees"
    if all(_is_rounded(said, found, places) or _is_cut(said, found, places) for said, found in pairs):
        return "truncated"
    return "differs"


def _is_rounded(said: float, found: float, places: int) -> bool:
    return abs(said - found) <= 0.5 * 10.0**-places + _EPSILON


def _is_cut(said: float, found: float, places: int) -> bool:
    unit = 10.0**places
    return abs(math.floor(found * unit + _EPSILON) / unit - said) < _EPSILON


def _joined(values: Sequence[float], places: int) -> str:
    return " ".join(f"{value:.{places}f}" for value in values)
