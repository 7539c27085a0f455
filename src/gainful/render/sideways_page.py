"""Curves read sideways, as tables and in sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from gainful.notation import count_of, number_text, printable
from gainful.render.page import Cell, Column, Page, Table

if TYPE_CHECKING:
    from gainful.curves.sideways import LastRise, Reach, Sideways

#: With more runs than these a sentence names only the first and the last.
_NAMED = 6
_WIDEST = 80


def sideways_page(found: Sideways, places: int = 4) -> Page:
    """Sentences, and the tables behind them."""
    parts: tuple[Table | str, ...] = (*sentences(found), *sideways_tables(found, places))
    return Page("sideways", parts, found.conventions, sideways_data(found))


def sideways_data(found: Sideways) -> dict[str, object]:
    """All of it for machines."""
    return {
        "measure": str(found.measure),
        "average": found.average,
        "reference": found.reference,
        "depth": found.depth,
        "stopping_rank": found.stopping_rank,
        "reaches": [_finite(asdict(each)) for each in found.reaches],
        "last_rises": [_finite(asdict(each)) for each in found.last_rises],
        "areas": [_finite(asdict(each)) for each in found.areas],
        "distances": [_finite(asdict(each)) for each in found.distances],
    }


def _finite(values: Mapping[str, object]) -> dict[str, object]:
    return {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in values.items()}


def sentences(found: Sideways, *, is_one_of_several: bool = False) -> list[str]:
    """One for every rank of the reference, then where the ideal stops; of several measures each begins with its own."""
    if is_one_of_several:
        return [f"By {found.measure}: {sentence[0].lower()}{sentence[1:]}" for sentence in sentences(found)]
    said = [sentence for at in found.at for sentence in _of_rank(found, at)]
    ideal = next((rise for rise in found.last_rises if rise.run is None), None)
    return said if ideal is None else [*said, _stop(ideal, found.depth)]


def _of_rank(found: Sideways, at: int) -> Iterator[str]:
    reaches = [reach for reach in found.reaches if reach.at == at and reach.gain > 0]
    if not reaches:
        return
    there = sorted((reach for reach in reaches if reach.rank is not None), key=lambda reach: reach.rank or 0)
    never = [reach.run for reach in reaches if reach.rank is None]
    whose = f"{_the(found.reference)} gives"
    goal = f"To gain what {whose} in {count_of(at, 'document')}"
    if found.measure.normalised:
        goal = f"To reach the {found.measure} that {_the(found.reference)} has at rank {at}"
    yield f"{goal}, {_reading(there, never, found.depth)}."
    times = number_text(round(there[-1].times_best or 1.0, 1)) if there else "1"
    if times != "1":
        yield f"There {_name(there[-1].run)} takes {times} times as long as {_name(there[0].run)}."


def _reading(there: Sequence[Reach], never: Sequence[str], depth: int) -> str:
    documents = count_of(depth, "document")
    if not there:
        whom = f"any of {len(never):,} runs" if len(never) > _NAMED else _listed(list(map(_name, never)), "or")
        return f"{documents} {'is' if depth == 1 else 'are'} not enough with {whom}"
    if len(there) > _NAMED:
        fewest, most = there[0], there[-1]
        shown = f"{fewest.rank:,} with {_name(fewest.run)} and {most.rank:,} with {_name(most.run)}"
        text = f"a user reads between {shown} ({len(there):,} runs)"
    else:
        text = f"a user reads {_listed([f'{reach.rank:,} with {_name(reach.run)}' for reach in there], 'and')}"
    if not never:
        return text
    whom = f"{len(never):,} other runs" if len(never) > _NAMED else _listed(list(map(_name, never)), "or")
    return f"{text}; with {whom} {documents} {'is' if depth == 1 else 'are'} not enough"


def _stop(ideal: LastRise, depth: int) -> str:
    if ideal.rank is None:
        return "There is nothing to gain: no judged document has a gain above 0."
    if ideal.still_rises:
        return f"The ideal still rises at rank {depth:,}, the last one looked at."
    return f"The ideal turns horizontal at rank {ideal.rank:,}: no query has more documents to gain from."


def sideways_tables(found: Sideways, places: int, *, for_people: bool = False) -> Iterator[Table]:
    """Ranks that gain as much, areas and stopping ranks, distances by region."""
    yield _reach_table(found, for_people)
    yield _area_table(found, places, for_people)
    yield _distance_table(found, places, for_people)


def _reach_table(found: Sideways, for_people: bool) -> Table:
    reference = "ideal" if found.reference is None else found.reference
    columns = [Column("run")]
    rows: dict[str, list[Cell]] = {run: [] for run in found.runs}
    for at in found.at:
        columns += [
            Column(f"for {at}", "count", none=f"not within {found.depth}"),
            Column(f"{at}: x {reference}", "number", 2),
            Column(f"{at}: x best", "number", 2),
        ]
    for reach in found.reaches:
        rows[reach.run] += [reach.rank, reach.times_reference, reach.times_best]
    title = f"Rank at which {_what(found)} reaches what {_the(found.reference)} has at rank {_ranks(found.at)}"
    return Table(
        tuple(columns), tuple((run, *cells) for run, cells in rows.items()), title, _gains(found), for_people=for_people
    )


def _gains(found: Sideways) -> tuple[str, ...]:
    gains = {at: {reach.gain for reach in found.reaches if reach.at == at} for at in found.at}
    times = f"x: times as far as {_the(found.reference)}, as the best run"
    notes = [f"the ideal is that of each run's own queries; {times}"]
    if all(len(values) == 1 for values in gains.values()):
        notes = [
            f"{_the(found.reference)}: {', '.join(f'{gain:.4f} at {at}' for at, [gain] in gains.items())}; {times}"
        ]
    if found.measure.normalised:
        notes.append(f"{found.measure} can fall with rank: a run that starts high may be there at once")
    return tuple(notes)


def _what(found: Sideways) -> str:
    """The measure; of a normalised one with how it was averaged."""
    return f"{found.measure} ({found.average})" if found.measure.normalised else str(found.measure)


def _area_table(found: Sideways, places: int, for_people: bool) -> Table:
    rises = {rise.run: rise for rise in found.last_rises}
    columns = [Column("run"), Column("area", "number", places), Column("share of ideal", "share")]
    rows: list[tuple[Cell, ...]] = [(area.run, area.area, area.share) for area in found.areas]
    if rises:
        columns.append(Column("last rise", "count", none=f"rises at {found.depth}"))
        rows = [("(ideal)", None, None), *rows]
        ranks = [rises[None], *(rises[area.run] for area in found.areas)]
        rows = [(*row, _last_rise(rise)) for row, rise in zip(rows, ranks, strict=True)]
    title = f"Area between {_what(found)} and the ideal, ranks 1-{found.depth}"
    return Table(tuple(columns), tuple(rows), title, for_people=for_people)


def _last_rise(rise: LastRise) -> int | None:
    """The rank; 0 for a curve that never rises, none for one that may go on."""
    return None if rise.still_rises else rise.rank or 0


def _distance_table(found: Sideways, places: int, for_people: bool) -> Table:
    columns = (
        Column("run"),
        Column("ranks"),
        Column("least", "number", places),
        Column("most", "number", places),
        Column("least of ideal", "share"),
        Column("most of ideal", "share"),
    )
    rows = tuple(
        (each.run, f"{each.first}-{each.last}", each.least, each.most, each.least_share, each.most_share)
        for run in (area.run for area in found.areas)
        for each in found.distances
        if each.run == run
    )
    title = f"Distance of {_what(found)} to the ideal, in points and in per cent"
    return Table(columns, rows, title, for_people=for_people)


def _the(reference: str | None) -> str:
    return "the ideal" if reference is None else _name(reference)


def _name(run: str) -> str:
    return printable(run, _WIDEST)


def _ranks(ranks: Sequence[int]) -> str:
    return _listed([str(rank) for rank in ranks], "or")


def _listed(texts: Sequence[str], conjunction: str) -> str:
    """a, b and c.

    >>> _listed(["a", "b", "c"], "and")
    'a, b and c'
    """
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} {conjunction} {texts[-1]}"
