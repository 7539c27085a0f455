"""Tables 3 and 4 of Della Mea and Mizzaro (2004): which systems, how measures correlate, and on parts of the data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from statistics import fmean

import numpy as np

from gainful.notation import count_of
from gainful.pages.page import Cell, Table, head
from gainful.stats.agreement import kendall_tau
from gainful.stats.stability import Spread
from gainful_papers.claims import Claim, Section, claims_tables, numbers, table, tau_text
from gainful_papers.dellamea2004.adm_experiment import EPSILON, GROUPS, REFERENCES, TEN, Experiment, Systems, concluded
from gainful_papers.dellamea2004.adm_sets import MEASURES, mean_of

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
    counts = (
        ("systems", 129, len(systems.names)),
        ("systems whose mean SRS is in URS''", TEN, len(systems.chosen)),
        ("systems left out for short lists", 20, len(systems.short)),
        ("systems that remain", 109, len(systems.kept)),
    )
    claims = [
        *(number_beside(found, *count, 0) for count in counts),
        *(
            number_beside(found, f"{group} systems", _SIZES[group], len(systems.groups[group]), 0, True)
            for group in GROUPS
        ),
        _range_claim(found),
    ]
    short = {each.name for each in systems.short}
    hidden = len(short) - _MOST_SHOWN
    left_out = table(
        "Systems left out",
        "system | short for # | unanswered # | fewest documents #",
        systems.short,
        f"short for: queries without {count_of(systems.depth, 'document')}; unanswered: those of them with none",
        *((f"{hidden:,} more in csv and jsonl",) if hidden > 0 else ()),
        most=_MOST_SHOWN,
    )
    return Section.of(
        "Experimental results",
        "These are the systems, and what became of them.",
        " ".join(_choices(found)),
        claims_tables("Systems", claims),
        table(
            "Systems whose mean SRS is in URS''",
            "best system | AvgPrec . | group",
            ((name, systems.means[name], "left out" if name in short else "Best") for name in systems.chosen),
        ),
        left_out if short else (),
    )


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
    worst, said = len(systems.groups["Worst"]), _SIZES["Worst"]
    if found.is_own_collection and worst != said:
        # The paper's rule, as it is printed, does not give as many Worst as the paper has.
        yield (
            f'The paper has {said} Worst, "systematically performing worse than median precision on every topic"; '
            f"by that rule there {'is' if worst == 1 else 'are'} {worst} here."
        )
        if weaker := systems.share_of_worst(said):
            share, enough = weaker
            yield f"Below the median on at least {100 * share:.0f} % of queries (--worst-share {share:g}) are {enough}."


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
        return _beside_it(found, what, says, finds)
    first, second = (bool(found.scores[name].min() >= 0.445 and found.scores[name].max() <= 0.605) for name in MEASURES)
    return (
        Claim.beside(what, says, finds, NOT_NAMED)
        if first and not second
        else Claim.statement(what, says, finds, first)
    )


def table_3(found: Experiment) -> Section:
    """Kendall's tau-b between the five measures, the paper's beside, and what it concludes."""
    taus = {
        (row, column): kendall_tau(found.scores[row], found.scores[column])
        for column, row in combinations(ALL_MEASURES, 2)
    }
    pairs = [
        tau_claim(found, f"{row} and {column}", _TABLE_3[row, column], tau, "ADM''" in (row, column))
        for (row, column), tau in taus.items()
    ]
    return Section.of(
        "Table 3",
        "Kendall's correlation is computed between ADM', ADM'' and the reference measures.",
        _triangle(taus, f"Kendall's tau-b here, {count_of(len(found.systems.kept), 'system')}"),
        _triangle(_TABLE_3, "Kendall's tau in the paper, TREC-8 ad hoc, 109 systems"),
        table(
            "Table 3",
            "measure | with | tau . | the paper's tau .",
            ((*pair, tau, _TABLE_3[pair]) for pair, tau in taus.items()),
            for_machines=True,
        ),
        claims_tables("Correlations", pairs) if found.is_own_collection else (),
        claims_tables("What the paper concludes", _conclusions(taus, len(found.systems.kept))),
    )


def _triangle(taus: Mapping[tuple[str, str], float | None], title: str) -> Table:
    """The lower triangle as the paper prints it."""
    columns = (*head("measure"), *head((f"{name} .3" for name in ALL_MEASURES[:-1]), none=""))
    rows = ((row, *(taus.get((row, column)) for column in ALL_MEASURES[:-1])) for row in ALL_MEASURES[1:])
    return table(title, columns, rows, for_people=True)


def _conclusions(taus: dict[tuple[str, str], float | None], systems: int) -> Iterator[Claim]:
    known = {pair: tau for pair, tau in taus.items() if tau is not None}
    same_order = ("ADMs with references, beside references among themselves", "of the same order of magnitude")
    recall = ("Rel-Ret with ADMs, beside AvgPrec and R-Prec", "higher")
    circular = ("references with ADM', beside ADM''", "slightly higher")
    if len(known) < len(taus):
        for what, says in (same_order, recall, circular):
            yield Claim.undecided(what, says, "undefined", "by some measure all systems are alike")
        return
    with_adm = [known[name, adm] for name in REFERENCES for adm in MEASURES]
    between = [known[row, column] for column, row in combinations(REFERENCES, 2)]
    rule = f"holds if the mean of the first is less than {_NEAR:g} below the mean of the second"
    finds = " beside ".join(f"{min(values):.3f} to {max(values):.3f}" for values in (with_adm, between))
    yield concluded(*same_order, finds, fmean(with_adm) - fmean(between) + _NEAR, rule, systems, _NEAR)
    of_adms = [known["Rel-Ret", adm] for adm in MEASURES]
    others = [known["AvgPrec", "Rel-Ret"], known["R-Prec", "Rel-Ret"]]
    rule = "holds if all of the first are above all of the second"
    yield _comparison(*recall, of_adms, others, min(of_adms) - max(others), rule, systems, _NEAR)
    first, second = ([known[name, adm] for name in REFERENCES] for adm in MEASURES)
    ahead = fmean(first) - fmean(second)
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
    finds = f"{numbers(one, 3)} beside {numbers(other, 3)}"
    if len({*one, *other}) == 1:
        return Claim.undecided(what, says, finds, "all the same: these systems cannot tell")
    return concluded(what, says, finds, margin, rule, systems, fine)


#: Why what has to do with URS'' need not be the paper's on its own data.
NOT_NAMED = "the paper does not name its ten best systems, which make URS'' and the group Best"


def tau_claim(found: Experiment, what: str, says: float, finds: float | None, depends_on_best: bool) -> Claim:
    """A correlation on the paper's own collection; where there is none, all systems are alike."""
    if finds is None:
        return Claim.undecided(what, f"{says:.3f}", tau_text(None), "all systems are alike")
    return number_beside(found, what, says, finds, 3, depends_on_best)


def number_beside(
    found: Experiment, what: str, says: float, finds: float, places: int, depends_on_best: bool = False
) -> Claim:
    """A number that has to be the paper's on its own data, and stands beside it on others.

    What depends on the ten best systems may differ even there.
    """
    if found.is_own:
        claim = Claim.number(what, says, finds, places)
        is_other = depends_on_best and claim.verdict == "differs"
        return Claim.beside(what, claim.says, claim.finds, NOT_NAMED) if is_other else claim
    return _beside_it(found, what, f"{says:.{places}f}", f"{finds:.{places}f}")


def _beside_it(found: Experiment, what: str, says: str, finds: str) -> Claim:
    is_same = found.is_own_collection
    return Claim.beside(what, says, finds, found.runs_there if is_same else "", same_collection=is_same)


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
    rows, topics = found.sets.rows, found.sets.first_topics
    drawn: list[tuple[Cell, ...]] = []
    apart = []
    for row in rows:
        for place, spread in enumerate(row.spread or ()):
            values: tuple[Cell, ...] = (None, None, None, None, 0)
            if spread is not None:
                sd = spread.sd if spread.draws > 1 else None
                values = spread.mean, sd, spread.lowest, spread.highest, spread.draws
            drawn.append((row.number, MEASURES[place], *values, _TABLE_4[row.number][1 + place]))
        if row.apart is not None:
            # Of what can be drawn again, means over the draws.
            with_whole = row.tau if row.spread is None else map(mean_of, row.spread)
            with_other = row.apart if row.spread_apart is None else map(mean_of, row.spread_apart)
            apart.append((row.number, *(tau for both in zip(with_whole, with_other, strict=True) for tau in both)))
    order = "numbers" if found.sets.by_number else "bytes"
    return Section.of(
        "Table 4",
        "Kendall's correlation is computed between ADMs on parts of the data and ADMs on all.",
        f"Sets 1 and 2 are the first {topics[0]} and {topics[1]} queries by id (in the order of {order}). In sets 3 to "
        f"5 each of {found.pairs:,} pairs of a query and a document that some system retrieves or that is relevant is "
        "kept with the given chance, the same for all systems; a document keeps the SRS of its rank in the whole list. "
        f"Seed {found.seed}; the spread is over {count_of(found.draws, 'further draw')}. Documents are what a system "
        "is judged by, on average.",
        table(
            "Sets and the whole",
            "set # | of what | documents # | ADM' tau .3 | ADM'' tau .3 | paper: documents # | paper: ADM' .3 | "
            "paper: ADM'' .3",
            ((row.number, row.what, round(row.documents), *row.tau, *_TABLE_4[row.number]) for row in rows),
        ),
        table(
            "Sets 3 to 5 drawn again",
            "set # | measure | mean tau .3 | sd .3 | lowest .3 | highest .3 | draws # | paper .3",
            drawn,
        ),
        table(
            "A part with the whole, and with another part",
            "set # | ADM' with the whole .3 | ADM' with another part .3 | ADM'' with the whole .3 | "
            "ADM'' with another part .3",
            apart,
            "another part: as large, with nothing in common (next topics, other documents); sets 3 to 5: means of "
            "draws",
            "a part agrees with the whole also because it is in it: the other column has no such help",
        ),
        claims_tables("Correlations", _set_claims(found)) if found.is_own_collection else (),
        claims_tables("What the paper concludes", _set_statements(found)),
    )


def _set_claims(found: Experiment) -> Iterator[Claim]:
    """The paper's own data: what is not drawn has to be the same, what is drawn within what draws give."""
    for row in found.sets.rows[1:]:
        for place, name in enumerate(MEASURES):
            what, says = f"set {row.number}, {name}", _TABLE_4[row.number][1 + place]
            depends_on_best = name == "ADM''"
            if row.spread is None:
                yield tau_claim(found, what, says, row.tau[place], depends_on_best)
            else:
                yield _drawn_claim(found, what, says, row.tau[place], row.spread[place], depends_on_best)


#: One more draw lies outside of what 19 have in one case of ten.
_ENOUGH_DRAWS = 19


def _drawn_claim(
    found: Experiment, what: str, says: float, first: float | None, spread: Spread | None, depends_on_best: bool
) -> Claim:
    """Whether the paper's draw may be one more of those that were made here."""
    if first is None or spread is None:
        return Claim.undecided(what, f"{says:.3f}", tau_text(None), "all systems are alike")
    draws = 1 + spread.draws
    low, high = min(first, spread.lowest), max(first, spread.highest)
    finds = f"{low:.3f} to {high:.3f} in {draws} draws"
    if not found.is_own:
        return _beside_it(found, what, f"{says:.3f}", finds)
    if round(low, 3) <= says <= round(high, 3):
        return Claim.statement(
            what, f"{says:.3f}", finds, True, "the paper's draw is another one: holds if it is within"
        )
    if depends_on_best:
        return Claim.beside(what, f"{says:.3f}", finds, NOT_NAMED)
    chance = f"the paper's draw is another one, and outside by chance in 2 of {draws + 1} cases"
    if draws < _ENOUGH_DRAWS:
        return Claim.undecided(what, f"{says:.3f}", finds, chance)
    return Claim.statement(what, f"{says:.3f}", finds, False, chance)


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
            tau = row.tau[place] if row.spread is None else mean_of(row.spread[place])
            what, finds = f"{name}: set {number}, {which}", f"tau {tau_text(tau, 3)}"
            if tau is None:
                yield Claim.undecided(what, says, finds, "all systems are alike")
            elif number == 1 and found.sets.first_topics[0] == len(found.queries):
                yield Claim.undecided(what, says, finds, "the half is the whole")
            else:
                printed = f"{_TABLE_4[number][1 + place]:.3f}"
                rule = f"taken to hold from a tau of {enough:g} on; the paper has {printed}"
                yield concluded(what, says, finds, tau - enough, rule, len(found.systems.kept), _COARSE)
