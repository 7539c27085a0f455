"""Tables 3 and 4 of Della Mea and Mizzaro (2004): systems, correlations between measures, and on parts of the data."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import chain, combinations
from statistics import fmean

import numpy as np

from gainful.notation import count_of
from gainful.pages.page import Cell, Table, head
from gainful.stats.agreement import kendall_tau
from gainful_papers.claims import Claim, Section, claims_tables, numbers, table, tau_text
from gainful_papers.dellamea2004.adm_experiment import GROUPS, MEASURES, REFERENCES, TEN, Experiment

#: Tolerance for a margin that equals one exchange.
_EPSILON = 1e-9


def _exchange(systems: int) -> float:
    return 4 / (systems * (systems - 1))


def exchange_rule(systems: int) -> str:
    """Describe the rule for conclusions from tau."""
    return (
        "tau: conclusions with a margin below one exchange of neighbours are not seen; it is 4 / (m (m - 1)) = "
        f"{_fine(_exchange(systems))} for m = {systems} systems"
    )


def _fine(value: float) -> str:
    """Format with three places, or two significant digits below 0.001.

    >>> _fine(0.2), _fine(4 / (109 * 108)), _fine(0.0)
    ('0.200', '0.00034', '0.000')
    """
    return f"{value:.{1 - math.floor(math.log10(value)) if _EPSILON < value < 0.001 else 3}f}"


def concluded(what: str, says: str, finds: str, margin: float, rule: str, systems: int, fine: float = 0.1) -> Claim:
    """Check an observation of the paper by a rule and its margin; ``not seen`` within one exchange.

    Undecided if one exchange changes tau by more than ``fine``.

    >>> concluded("a part", "resembles the whole", "tau 0.952", 0.952 - 0.9, "tau ≥ 0.9", 7).verdict
    'not seen'
    >>> concluded("a part", "resembles the whole", "tau 0.952", 0.952 - 0.9, "tau ≥ 0.9", 20).verdict
    'holds'
    """
    step = _exchange(systems)
    if step > fine:
        rule = f"with {systems} systems, one exchange of neighbours changes tau by {step:.3f}, too much to decide"
    elif abs(margin) < step - _EPSILON:
        rule += f"; the margin here, {_fine(abs(margin))}, is less than one exchange"
    return Claim.remark(what, says, finds, step <= fine and margin >= step - _EPSILON, rule)


#: The five measures in the order of Table 3, and its lower triangle.
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
#: Interpretation of "of the same order of magnitude" and "slightly higher", as differences between means.
_NEAR, _SLIGHTLY = 0.1, 0.05
_MOST_SHOWN = 10


def systems_section(found: Experiment) -> Section:
    """List the systems: those chosen for URS'', those left out, and the groups."""
    systems = found.systems
    counts = (
        ("systems", 129, len(systems.names)),
        ("systems chosen for URS''", TEN, len(systems.chosen)),
        ("systems left out for short lists", 20, len(systems.short)),
        ("remaining systems", 109, len(systems.kept)),
    )
    claims = [
        *(found.number(*count) for count in counts),
        *(
            found.number(f"{group} systems", _SIZES[group], len(systems.groups[group]), needs_best=True)
            for group in GROUPS
        ),
    ]
    values = np.concatenate([found.scores[name] for name in MEASURES])
    in_range = "ADM values", "between 0.45 and 0.6", f"{values.min():.3f} to {values.max():.3f}"
    if found.is_own:
        first = found.scores["ADM'"]
        note = "for ADM' only: ADM'' depends on the best systems, which the paper does not name"
        claims.append(Claim.statement(*in_range, bool(first.min() >= 0.445 and first.max() <= 0.605), note))
    else:
        claims.append(found.comparison(*in_range))
    short = {each.name for each in systems.short}
    hidden = len(short) - _MOST_SHOWN
    left_out = table(
        "Systems left out",
        "system | short for # | unanswered # | fewest documents #",
        systems.short,
        f"short for: queries with fewer than {count_of(systems.depth, 'document')}; unanswered: of these, with none",
        *((f"{hidden:,} more in csv and jsonl",) if hidden > 0 else ()),
        most=_MOST_SHOWN,
    )
    return Section.of(
        "Experimental results",
        "The systems and their groups.",
        " ".join(_choices(found)),
        claims_tables("Systems", claims),
        table(
            "Systems chosen for URS''",
            "best system | AvgPrec . | group",
            ((name, systems.means[name], "left out" if name in short else "Best") for name in systems.chosen),
        ),
        left_out if short else (),
    )


def _choices(found: Experiment) -> Iterator[str]:
    systems, number, share = found.systems, len(found.systems.chosen), found.systems.worst_share
    if systems.was_given:
        yield f"URS'' uses {count_of(number, 'system')} named as best."
    else:
        few = "" if number == TEN else " (ten, or half of at most ten systems)"
        yield f"URS'' uses the {count_of(number, 'system')} of highest average precision{few}."
    depth = f"{count_of(systems.depth, 'document')}, the longest list,"
    if systems.short:
        short = count_of(len(systems.short), "system is", "systems are")
        yield f"{short} left out for lists shorter than {depth} for some judged query."
    else:
        yield f"Every system retrieves {depth} for every judged query."
    where = "every query" if share is None else f"at least {100 * share:g}% of queries"
    # The share is of queries with a median above 0: only there can a system be below it.
    is_all = systems.telling == len(found.queries)
    which = "" if is_all else f" with a median above 0 ({systems.telling:,})"
    yield (
        f"Best: the remaining systems among these. Worst: average precision below the median of all "
        f"{len(systems.names)} systems on {where}{which}. Normal: all others."
    )
    empty = [group for group in GROUPS if not systems.groups[group]]
    if empty:
        hint = "; a worst share below 1 requires fewer queries" if "Worst" in empty and share is None else ""
        yield f"No system is {' or '.join(empty)}{hint}."
    worst, said = len(systems.groups["Worst"]), _SIZES["Worst"]
    if found.is_own_collection and worst != said:
        yield (
            f'The paper has {said} Worst, "systematically performing worse than median precision on every topic"; '
            f"by that rule {count_of(worst, 'system is', 'systems are')} Worst here."
        )


def table_3(found: Experiment) -> Section:
    """Compare Kendall's tau-b between the five measures with the paper, and check its conclusions."""
    taus = {
        (row, column): kendall_tau(found.scores[row], found.scores[column])
        for column, row in combinations(ALL_MEASURES, 2)
    }
    pairs = [
        found.number(f"{row} and {column}", _TABLE_3[row, column], tau, 3, "ADM''" in (row, column))
        for (row, column), tau in taus.items()
    ]
    return Section.of(
        "Table 3",
        "Kendall's correlation between ADM', ADM'' and the reference measures.",
        _triangle(taus, f"Kendall's tau-b, {count_of(len(found.systems.kept), 'system')}"),
        _triangle(_TABLE_3, "Kendall's tau as printed, TREC-8 ad hoc, 109 systems"),
        claims_tables("Correlations", pairs) if found.is_own_collection else (),
        claims_tables("Conclusions of the paper", _conclusions(taus, len(found.systems.kept))),
    )


def _triangle(taus: Mapping[tuple[str, str], float | None], title: str) -> Table:
    columns = (*head("measure"), *head((f"{name} .3" for name in ALL_MEASURES[:-1]), none=""))
    rows = ((row, *(taus.get((row, column)) for column in ALL_MEASURES[:-1])) for row in ALL_MEASURES[1:])
    return table(title, columns, rows)


def _conclusions(taus: dict[tuple[str, str], float | None], systems: int) -> Iterator[Claim]:
    known = {pair: tau for pair, tau in taus.items() if tau is not None}
    same_order = ("ADMs with references vs references with each other", "of the same order of magnitude")
    recall = ("Rel-Ret with ADMs vs with AvgPrec and R-Prec", "higher")
    circular = ("references with ADM' vs with ADM''", "slightly higher")
    if len(known) < len(taus):
        for what, says in (same_order, recall, circular):
            yield Claim.undecided(what, says, "undefined", "by some measure all systems are equal")
        return

    def versus(statement: tuple[str, str], one: list[float], other: list[float], margin: float, rule: str) -> Claim:
        finds = f"{numbers(one, 3)} vs {numbers(other, 3)}"
        fine = _NEAR if statement is recall else _SLIGHTLY / 2
        return concluded(*statement, finds, margin, rule, systems, fine)

    with_adm = [known[name, adm] for name in REFERENCES for adm in MEASURES]
    between = [known[row, column] for column, row in combinations(REFERENCES, 2)]
    rule = f"holds if the first mean is less than {_NEAR:g} below the second"
    finds = " vs ".join(f"{min(values):.3f} to {max(values):.3f}" for values in (with_adm, between))
    yield concluded(*same_order, finds, fmean(with_adm) - fmean(between) + _NEAR, rule, systems)
    of_adms = [known["Rel-Ret", adm] for adm in MEASURES]
    others = [known["AvgPrec", "Rel-Ret"], known["R-Prec", "Rel-Ret"]]
    rule = "holds if all first values are above all second values"
    yield versus(recall, of_adms, others, min(of_adms) - max(others), rule)
    first, second = ([known[name, adm] for name in REFERENCES] for adm in MEASURES)
    ahead = fmean(first) - fmean(second)
    # A measure with equal tau for both, as Rel-Ret in the paper, is not lower and needs no margin.
    lower = [one - other for one, other in zip(first, second, strict=True) if one < other - _EPSILON]
    margin = min(ahead, _SLIGHTLY - ahead, *lower)
    rule = (
        f"holds if none is lower with ADM' and the mean is higher by at most {_SLIGHTLY:g}; in the paper by 0.016, "
        "with equal tau for Rel-Ret"
    )
    yield versus(circular, first, second, margin, rule)


#: Table 4: approximate documents, tau by ADM' and by ADM''.
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
    """Compare Kendall's tau between each set and the whole set with the paper's values."""
    rows, topics = found.sets.rows, found.sets.first_topics
    shown: list[tuple[Cell, ...]] = []
    for row in rows:
        spreads = [None if each is None or each.draws < 2 else each.sd for each in row.spread or (None, None)]
        pairs = chain(*zip(row.tau, spreads, strict=True))
        shown.append((row.number, row.what, round(row.documents), *pairs, *_TABLE_4[row.number]))
    order = "numbers" if found.sets.by_number else "bytes"
    return Section.of(
        "Table 4",
        "Kendall's correlation between ADMs on parts of the data and on all data.",
        f"Sets 1 and 2 are the first {topics[0]} and {topics[1]} queries by ID (in the order of {order}). Sets 3 to 5 "
        f"keep each of {found.pairs:,} pairs of a query and a retrieved or relevant document with the given "
        "probability, the same pairs for all systems; a document keeps the SRS of its rank in the whole list. tau is "
        f"the mean of {count_of(found.draws, 'draw')} (seed {found.seed}); the paper has one. Documents: average per "
        "system.",
        table(
            "Correlation with the whole set",
            "set # | contents | documents # | ADM' tau .3 | ADM' sd .3 | ADM'' tau .3 | ADM'' sd .3 | "
            "paper: documents # | paper: ADM' .3 | paper: ADM'' .3",
            shown,
        ),
        claims_tables("Correlations", _set_claims(found)) if found.is_own_collection else (),
        claims_tables("Conclusions of the paper", _set_statements(found)),
    )


def _set_claims(found: Experiment) -> Iterator[Claim]:
    """Check sets that are not random against the paper; compare random sets with the range of draws."""
    for row in found.sets.rows[1:]:
        for place, name in enumerate(MEASURES):
            what, says = f"set {row.number}, {name}", _TABLE_4[row.number][1 + place]
            spread = row.spread[place] if row.spread else None
            if spread is None:
                yield found.number(what, says, row.tau[place], 3, name == "ADM''")
            else:
                finds = f"{spread.lowest:.3f} to {spread.highest:.3f} in {spread.draws} draws"
                yield found.comparison(what, f"{says:.3f}", finds)


#: Statements about three sets, and the tau at which they are considered to hold.
_READINGS = (
    (6, "retrieved documents only", "resembles the whole very well", 0.9),
    (3, "half of the documents", "can be used in a reliable way", 0.9),
    (1, "half of the topics", "high enough to reflect on fewer topics", 0.8),
)


def _set_statements(found: Experiment) -> Iterator[Claim]:
    for place, name in enumerate(MEASURES):
        for number, which, says, enough in _READINGS:
            tau = found.sets.rows[number].tau[place]
            what, finds = f"{name}: set {number}, {which}", f"tau {tau_text(tau, 3)}"
            if tau is None:
                yield Claim.undecided(what, says, finds, "all systems are equal")
            elif number == 1 and found.sets.first_topics[0] == len(found.queries):
                yield Claim.undecided(what, says, finds, "there is only one topic")
            else:
                rule = f"holds if tau ≥ {enough:g}; the paper has {_TABLE_4[number][1 + place]:.3f}"
                yield concluded(what, says, finds, tau - enough, rule, len(found.systems.kept))
