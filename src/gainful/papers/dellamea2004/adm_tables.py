"""Systems, correlations of measures and groups compared: Table 3 of Della Mea and Mizzaro (2004), and around it.

Table 4 of Della Mea and Mizzaro (2004): the order of systems on parts of the documents and of the topics.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from gainful.kernel.arrays import Floats
from gainful.notation import count_of
from gainful.pages.page import Cell, Column, Table
from gainful.papers.claims import Claim, Section, beside, claims_tables, number_claim, statement, undecided
from gainful.papers.dellamea2004.adm_experiment import EPSILON, GROUPS, REFERENCES, TEN, Experiment, Systems, concluded
from gainful.papers.dellamea2004.adm_sets import MEASURES, SetAgreement
from gainful.stats.agreement import kendall_tau
from gainful.stats.stability import Spread

#: The five measures in the order of Table 3, and the table's lower triangle.
ALL_MEASURES = (*MEASURES, *REFERENCES)
_TABLE_3 = {
    ("ADM''", "ADM'"): 0.874,
    ("Rel-Ret", "ADM'"): 0.891,
    ("Rel-Ret", "ADM''"): 0.891,
    ("AvgPrec", "ADM'"): 0.876,
    ("AvgPrec", "ADM''"): 0.857,
    ("AvgPrec", "Rel-Ret"): 0.824,
    ("R-Prec", "ADM'"): 0.844,
    ("R-Prec", "ADM''"): 0.814,
    ("R-Prec", "Rel-Ret"): 0.807,
    ("R-Prec", "AvgPrec"): 0.902,
}
_SIZES = {"Best": 7, "Normal": 83, "Worst": 19}
#: How near means of correlations are "of the same order of magnitude", and how much higher is "slightly".
_NEAR, _SLIGHTLY = 0.1, 0.05
_MOST_SHOWN = 10


def systems_section(found: Experiment) -> Section:
    """Which systems there are, which of them make URS'', which are left out, and the groups."""
    systems = found.systems
    claims = [
        _count_claim(found, "systems", 129, len(systems.names)),
        _count_claim(found, "systems whose mean SRS is in URS''", TEN, len(systems.chosen)),
        _count_claim(found, "systems left out for short lists", 20, len(systems.short)),
        _count_claim(found, "systems that remain", 109, len(systems.kept)),
        *(_count_claim(found, f"{group} systems", _SIZES[group], len(systems.groups[group]), True) for group in GROUPS),
        _range_claim(found),
    ]
    parts: tuple[Table | str, ...] = (
        " ".join(_choices(found)),
        *claims_tables("Systems", claims),
        _chosen_table(found),
        *((_short_table(found),) if systems.short else ()),
    )
    return Section("Experimental results", "These are the systems, and what became of them.", parts)


def _count_claim(found: Experiment, what: str, says: int, finds: int, depends_on_best: bool = False) -> Claim:
    return number_beside(what, says, finds, 0, found.is_own, depends_on_best)


def _choices(found: Experiment) -> Iterator[str]:
    """How the systems came into their groups, in sentences."""
    systems, number = found.systems, len(found.systems.chosen)
    if systems.was_given:
        yield f"URS'' is made with {count_of(number, 'system')} named as best."
    else:
        few = "" if number == TEN else " (ten, or half of the systems where there are no more than ten)"
        yield f"URS'' is made with the {count_of(number, 'system')} of highest average precision{few}."
    depth = f"{count_of(systems.depth, 'document')}, the longest list,"
    if systems.short:
        yield f"Then {count_of(len(systems.short), 'system')} without {depth} for every judged query went."
    else:
        yield f"Every system has {depth} for every judged query."
    yield from _groups_made(systems)


def _groups_made(systems: Systems) -> Iterator[str]:
    share, telling = systems.worst_share, count_of(systems.telling, "query", "queries")
    # The share is of the queries that tell something, which may not be all.
    all_tell = not (systems.silent or systems.skipped)
    where = "every query" if share is None else f"at least {100 * share:g} % of queries"
    which = "" if all_tell else f" ({telling} {'tells' if systems.telling == 1 else 'tell'} something)"
    yield (
        f"Best are those of the chosen that remain; Worst have an average precision below the median of all "
        f"{len(systems.names)} systems on {where}{which}; Normal are the others."
    )
    if systems.silent:
        verb = "tells" if systems.silent == 1 else "tell"
        silent = count_of(systems.silent, "query", "queries")
        yield f"{silent} with a median of 0 {verb} nothing, because none can be below."
    if systems.skipped:
        skipped = count_of(systems.skipped, "query has", "queries have")
        yield f"{skipped} no average precision by the policy."
    empty = [group for group in GROUPS if not systems.groups[group]]
    if empty:
        hint = "; a worst share below 1 asks for less than every query" if "Worst" in empty and share is None else ""
        fewer = "; naming fewer as best leaves others" if "Normal" in empty and "Best" not in empty else ""
        yield f"No system is {' or '.join(empty)}{hint}{fewer}."


def _range_claim(found: Experiment) -> Claim:
    values = np.concatenate([found.scores[name] for name in MEASURES])
    what, says, finds = "ADM values lie", "between 0.45 and 0.6", f"{values.min():.3f} to {values.max():.3f}"
    if not found.is_own:
        return beside(what, says, finds)
    first, second = (_is_in_range(found.scores[name]) for name in MEASURES)
    return beside(what, says, finds, NOT_NAMED) if first and not second else statement(what, says, finds, first)


def _is_in_range(values: Floats) -> bool:
    return bool(values.min() >= 0.445 and values.max() <= 0.605)


def _chosen_table(found: Experiment) -> Table:
    systems, short = found.systems, {each.name for each in found.systems.short}
    rows = tuple((name, systems.means[name], "left out" if name in short else "Best") for name in systems.chosen)
    columns = (Column("best system"), Column("AvgPrec", "number"), Column("group"))
    return Table(columns, rows, "Systems whose mean SRS is in URS''")


def _short_table(found: Experiment) -> Table:
    columns = (
        Column("system"),
        Column("short for", "count"),
        Column("unanswered", "count"),
        Column("fewest documents", "count"),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(tuple(each) for each in found.systems.short)
    hidden = len(rows) - _MOST_SHOWN
    notes = (
        f"short for: queries without {count_of(found.systems.depth, 'document')}; unanswered: those of them with none",
        *((f"{hidden:,} more in csv and jsonl",) if hidden > 0 else ()),
    )
    return Table(columns, rows, "Systems left out", notes, most=_MOST_SHOWN)


def table_3(found: Experiment) -> Section:
    """Kendall's tau-b between the five measures, the paper's beside, and what it concludes."""
    taus = {
        (row, column): kendall_tau(found.scores[row], found.scores[column])
        for column, row in combinations(ALL_MEASURES, 2)
    }
    kept = count_of(len(found.systems.kept), "system")
    long = Table(
        (
            *(Column(name, for_machines=True) for name in ("measure", "with")),
            *(Column(name, "number", for_machines=True) for name in ("tau", "the paper's tau")),
        ),
        tuple((*pair, tau, _TABLE_3[pair]) for pair, tau in taus.items()),
        "Table 3",
    )
    pairs = [
        tau_claim(f"{row} and {column}", _TABLE_3[row, column], tau, "ADM''" in (row, column))
        for (row, column), tau in taus.items()
    ]
    parts = (
        _triangle(taus, f"Kendall's tau-b here, {kept}"),
        _triangle(_TABLE_3, "Kendall's tau in the paper, TREC-8 ad hoc, 109 systems"),
        long,
        *(claims_tables("Correlations", pairs) if found.is_own else ()),
        *claims_tables("What the paper concludes", _conclusions(taus, len(found.systems.kept))),
    )
    about = "Kendall's correlation is computed between ADM', ADM'' and the reference measures."
    return Section("Table 3", about, parts)


def _triangle(taus: dict[tuple[str, str], float | None] | dict[tuple[str, str], float], title: str) -> Table:
    """The lower triangle as the paper prints it."""
    columns = (Column("measure"), *(Column(name, "number", 3, none="") for name in ALL_MEASURES[:-1]))
    rows = tuple((row, *(taus.get((row, column)) for column in ALL_MEASURES[:-1])) for row in ALL_MEASURES[1:])
    return Table(columns, rows, title, for_people=True)


def _conclusions(taus: dict[tuple[str, str], float | None], systems: int) -> Iterator[Claim]:
    known = {pair: tau for pair, tau in taus.items() if tau is not None}
    same_order = ("ADMs with references, beside references among themselves", "of the same order of magnitude")
    recall = ("Rel-Ret with ADMs, beside AvgPrec and R-Prec", "higher")
    circular = ("references with ADM', beside ADM''", "slightly higher")
    if len(known) < len(taus):
        for what, says in (same_order, recall, circular):
            yield undecided(what, says, "undefined", "by some measure all systems are alike")
        return
    with_adm = [known[name, adm] for name in REFERENCES for adm in MEASURES]
    between = [known[row, column] for column, row in combinations(REFERENCES, 2)]
    rule = f"holds if the mean of the first is less than {_NEAR:g} below the mean of the second"
    finds = f"{_ends(with_adm)} beside {_ends(between)}"
    yield concluded(*same_order, finds, _mean(with_adm) - _mean(between) + _NEAR, rule, systems, _NEAR)
    of_adms = [known["Rel-Ret", adm] for adm in MEASURES]
    others = [known["AvgPrec", "Rel-Ret"], known["R-Prec", "Rel-Ret"]]
    rule = "holds if all of the first are above all of the second"
    yield _comparison(*recall, of_adms, others, min(of_adms) - max(others), rule, systems, _NEAR)
    first, second = ([known[name, adm] for name in REFERENCES] for adm in MEASURES)
    ahead = _mean(first) - _mean(second)
    # One that is the same with both is not lower, as Rel-Ret in the paper: it has no margin, and needs none.
    lower = [one - other for one, other in zip(first, second, strict=True) if one < other - EPSILON]
    margin = min(ahead, _SLIGHTLY - ahead, *lower)
    rule = (
        f"holds if none is lower with ADM' and the mean is higher, by at most {_SLIGHTLY:g}; in the paper it is by "
        "0.016, and Rel-Ret has the same tau with both"
    )
    yield _comparison(*circular, first, second, margin, rule, systems, _SLIGHTLY / 2)


def _comparison(
    what: str,
    says: str,
    one: Sequence[float],
    other: Sequence[float],
    margin: float,
    rule: str,
    systems: int,
    fine: float,
) -> Claim:
    """Some correlations beside others; where all are the same there is nothing to tell."""
    finds = f"{_list(one)} beside {_list(other)}"
    if len({*one, *other}) == 1:
        return undecided(what, says, finds, "all the same: these systems cannot tell")
    return concluded(what, says, finds, margin, rule, systems, fine)


#: Why what has to do with URS'' need not be the paper's on its own data.
NOT_NAMED = "the paper does not name its ten best systems, which make URS'' and the group Best"


def tau_claim(what: str, says: float, finds: float | None, depends_on_best: bool) -> Claim:
    """A correlation on the paper's own data; where there is none, all systems are alike."""
    if finds is None:
        return undecided(what, f"{says:.3f}", tau_text(None), "all systems are alike")
    return number_beside(what, says, finds, 3, True, depends_on_best)


def number_beside(
    what: str, says: float, finds: float, places: int, is_own: bool, depends_on_best: bool = False
) -> Claim:
    """A number that has to be the paper's on its own data, and stands beside it on others.

    What depends on the ten best systems may differ even there.
    """
    if is_own:
        claim = number_claim(what, says, finds, places)
        is_other = depends_on_best and claim.verdict == "differs"
        return beside(what, claim.says, claim.finds, NOT_NAMED) if is_other else claim
    return beside(what, f"{says:.{places}f}", f"{finds:.{places}f}")


def tau_text(tau: float | None) -> str:
    """Three places, as the paper has."""
    return "undefined" if tau is None else f"{tau:.3f}"


def _list(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.3f}" for value in values)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _ends(values: Sequence[float]) -> str:
    return f"{min(values):.3f} to {max(values):.3f}"


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
        whole = row.tau if row.spread is None else tuple(_set_tables_mean(each) for each in row.spread)
        apart = row.apart if row.spread_apart is None else tuple(_set_tables_mean(each) for each in row.spread_apart)
        cells.append((row.number, *(value for both in zip(whole, apart, strict=True) for value in both)))
    notes = (
        "another part: as large, with nothing in common (next topics, other documents); sets 3 to 5: means of draws",
        "a part agrees with the whole also because it is in it: the other column has no such help",
    )
    return Table(columns, tuple(cells), "A part with the whole, and with another part", notes)


def _set_tables_mean(spread: Spread | None) -> float | None:
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
            tau = row.tau[place] if row.spread is None else _set_tables_mean(row.spread[place])
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
