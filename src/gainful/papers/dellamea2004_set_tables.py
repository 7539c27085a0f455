"""Table 4 of Della Mea and Mizzaro (2004): the order of systems on parts of the documents and of the topics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gainful.notation import count_of
from gainful.papers.claims import Claim, beside, claims_tables, statement
from gainful.papers.dellamea2004_experiment import Experiment
from gainful.papers.dellamea2004_sets import MEASURES, SetAgreement
from gainful.papers.dellamea2004_tables import tau_claim, tau_text
from gainful.papers.sections import Section
from gainful.render.page import Cell, Column, Table
from gainful.stats.stability import Spread

#: Table 4: documents (about), tau by ADM' and by ADM''.
_TABLE_4 = (
    (53_000, 1.0, 1.0),
    (26_000, 0.852, 0.911),
    (10_000, 0.674, 0.765),
    (26_000, 0.910, 0.948),
    (5_000, 0.802, 0.870),
    (13_000, 0.807, 0.888),
    (50_000, 0.935, 0.976),
    (4_728, 0.846, 0.886),
)


def table_4(found: Experiment) -> Section:
    """The sets, Kendall's tau with the whole set, and the paper's values beside."""
    rows = found.sets.rows
    topics = found.sets.first_topics
    order = "numbers" if found.sets.by_number else "bytes"
    explained = (
        f"Sets 1 and 2 are the first {topics[0]} and {topics[1]} queries by id (in the order of {order}). In sets 3 to "
        f"5 each of {found.pairs:,} pairs of a query and a document that some system retrieves or that is relevant is "
        "kept with the given chance, the same for all systems; a document keeps the SRS of its rank in the whole list. "
        f"Seed {found.seed}; the spread is over {count_of(found.draws, 'further draw')}. Documents are what a system "
        "is judged by, on average."
    )
    claims = list(_set_statements(rows))
    if found.is_own:
        claims = [*_set_claims(rows), *claims]
    parts: tuple[Table | str, ...] = (
        explained,
        _sets_table(rows),
        _spread_table(rows),
        _apart_table(rows),
        *claims_tables("What the paper concludes", claims),
    )
    return Section("Table 4", "Kendall's correlation of ADMs on parts of the data with those on all", parts)


def _sets_table(rows: Sequence[SetAgreement]) -> Table:
    columns = (
        Column("set", "count"),
        Column("of what"),
        Column("documents", "count"),
        *(Column(f"{name} tau", "number", 3) for name in MEASURES),
        Column("paper: documents", "count"),
        *(Column(f"paper: {name}", "number", 3) for name in MEASURES),
    )
    cells = tuple((row.number, row.what, round(row.documents), *row.tau, *_TABLE_4[row.number]) for row in rows)
    return Table(columns, cells, "Sets and the whole")


def _spread_table(rows: Sequence[SetAgreement]) -> Table:
    columns = (
        Column("set", "count"),
        Column("measure"),
        *(Column(name, "number", 3) for name in ("mean tau", "sd", "lowest", "highest")),
        Column("draws", "count"),
        Column("paper", "number", 3),
    )
    cells: list[tuple[Cell, ...]] = []
    for row in rows:
        for place, spread in enumerate(row.spread or ()):
            cells.append((row.number, MEASURES[place], *_spread_cells(spread), _TABLE_4[row.number][1 + place]))
    return Table(columns, tuple(cells), "Sets 3 to 5 drawn again")


def _spread_cells(spread: Spread | None) -> tuple[Cell, ...]:
    return (None, None, None, None, 0) if spread is None else (*spread[:4], spread.draws)


def _apart_table(rows: Sequence[SetAgreement]) -> Table:
    columns = (
        Column("set", "count"),
        *(
            Column(f"{name} {what}", "number", 3)
            for name in MEASURES
            for what in ("with the whole", "with another part")
        ),
    )
    cells: list[tuple[Cell, ...]] = []
    for row in rows:
        if row.apart is None:
            continue
        # Of what can be drawn again, means over the draws.
        whole = row.tau if row.spread is None else tuple(_mean(each) for each in row.spread)
        apart = row.apart if row.spread_apart is None else tuple(_mean(each) for each in row.spread_apart)
        cells.append((row.number, *(value for both in zip(whole, apart, strict=True) for value in both)))
    notes = (
        "another part: as large, with nothing in common (next topics, other documents); sets 3 to 5: means of draws",
        "a part agrees with the whole also because it is in it: the other column has no such help",
    )
    return Table(columns, tuple(cells), "A part with the whole, and with another part", notes)


def _mean(spread: Spread | None) -> float | None:
    return None if spread is None else spread.mean


def _set_claims(rows: Sequence[SetAgreement]) -> Iterator[Claim]:
    """The paper's own data: what is not drawn has to be the same."""
    for row in rows[1:]:
        for place, name in enumerate(MEASURES):
            what, says = f"set {row.number}, {name}", _TABLE_4[row.number][1 + place]
            if row.spread is None:
                yield tau_claim(what, says, row.tau[place], True)
            else:
                yield beside(what, f"{says:.3f}", tau_text(row.tau[place]), "another draw than the paper's")


def _set_statements(rows: Sequence[SetAgreement]) -> Iterator[Claim]:
    for place, name in enumerate(MEASURES):
        # What is drawn counts by the mean of its draws: one draw is chance.
        taus = {row.number: row.tau[place] if row.spread is None else _mean(row.spread[place]) for row in rows[1:]}
        known = {number: tau for number, tau in taus.items() if tau is not None}
        if len(known) < len(taus):
            continue
        best = max(known, key=lambda number: (known[number], number == 6))
        yield statement(
            f"{name}: set 6 (retrieved only) resembles the whole best",
            f"{_TABLE_4[6][1 + place]:.3f}",
            f"{known[6]:.3f}; highest is set {best}, {known[best]:.3f}",
            known[6] >= known[best],
        )
        what = f"{name}: set 3 (half of documents) beside set 1 (half of topics)"
        says = f"{_TABLE_4[3][1 + place]:.3f} above {_TABLE_4[1][1 + place]:.3f}"
        finds = f"{known[3]:.3f} beside {known[1]:.3f}"
        yield beside(what, says, finds) if known[3] == known[1] else statement(what, says, finds, known[3] > known[1])
