"""Table 4 of Della Mea and Mizzaro (2004): the order of systems on parts of the documents and of the topics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gainful.notation import count_of
from gainful.papers.claims import Claim, beside, claims_tables, statement, undecided
from gainful.papers.dellamea2004_exchange import concluded
from gainful.papers.dellamea2004_experiment import Experiment
from gainful.papers.dellamea2004_sets import MEASURES, SetAgreement
from gainful.papers.dellamea2004_tables import NOT_NAMED, tau_claim, tau_text
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
    parts: tuple[Table | str, ...] = (
        explained,
        _sets_table(rows),
        _spread_table(rows),
        _apart_table(rows),
        *(claims_tables("Correlations", _set_claims(rows)) if found.is_own else ()),
        *claims_tables("What the paper concludes", _set_statements(found)),
    )
    about = "Kendall's correlation is computed between ADMs on parts of the data and ADMs on all."
    return Section("Table 4", about, parts)


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
    if spread is None:
        return None, None, None, None, 0
    sd = spread.sd if spread.draws > 1 else None
    return spread.mean, sd, spread.lowest, spread.highest, spread.draws


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
    """The paper's own data: what is not drawn has to be the same, what is drawn within what draws give."""
    for row in rows[1:]:
        for place, name in enumerate(MEASURES):
            what, says = f"set {row.number}, {name}", _TABLE_4[row.number][1 + place]
            depends_on_best = name == "ADM''"
            if row.spread is None:
                yield tau_claim(what, says, row.tau[place], depends_on_best)
            else:
                yield _drawn_claim(what, says, row.tau[place], row.spread[place], depends_on_best)


#: One more draw lies outside of what 19 have in one case of ten.
_ENOUGH_DRAWS = 19


def _drawn_claim(what: str, says: float, first: float | None, spread: Spread | None, depends_on_best: bool) -> Claim:
    """Whether the paper's draw may be one more of those that were made here."""
    if first is None or spread is None:
        return undecided(what, f"{says:.3f}", tau_text(None), "all systems are alike")
    draws = 1 + spread.draws
    low, high = min(first, spread.lowest), max(first, spread.highest)
    finds = f"{low:.3f} to {high:.3f} in {draws} draws"
    if round(low, 3) <= says <= round(high, 3):
        return statement(what, f"{says:.3f}", finds, True, "the paper's draw is another one: holds if it is within")
    if depends_on_best:
        return beside(what, f"{says:.3f}", finds, NOT_NAMED)
    chance = f"the paper's draw is another one, and outside by chance in 2 of {draws + 1} cases"
    if draws < _ENOUGH_DRAWS:
        return undecided(what, f"{says:.3f}", finds, chance)
    return statement(what, f"{says:.3f}", finds, False, chance)


#: What the paper says of three sets, and the tau at which that is taken to hold.
_READINGS = (
    (6, "retrieved documents only", "resembles the whole very well", 0.9),
    (3, "half of the documents", "can be used in a reliable way", 0.9),
    (1, "half of the topics", "high enough to reflect on fewer topics", 0.8),
)
#: Where one exchange of neighbours changes tau by more than this, what is well and what is not cannot be told.
_COARSE = 0.1


def _set_statements(found: Experiment) -> Iterator[Claim]:
    for place, name in enumerate(MEASURES):
        for number, which, says, enough in _READINGS:
            row = found.sets.rows[number]
            # What is drawn counts by the mean of its draws: one draw is chance.
            tau = row.tau[place] if row.spread is None else _mean(row.spread[place])
            what, finds = f"{name}: set {number}, {which}", f"tau {tau_text(tau)}"
            why_not = _undecided_because(found, number, tau)
            if tau is None or why_not:
                yield undecided(what, says, finds, why_not)
            else:
                printed = f"{_TABLE_4[number][1 + place]:.3f}"
                rule = f"taken to hold from a tau of {enough:g} on; the paper has {printed}"
                yield concluded(what, says, finds, tau - enough, rule, len(found.systems.kept), _COARSE)


def _undecided_because(found: Experiment, number: int, tau: float | None) -> str:
    """Why the data cannot tell; empty where they can."""
    if tau is None:
        return "all systems are alike"
    if number == 1 and found.sets.first_topics[0] == len(found.queries):
        return "the half is the whole"
    return ""
