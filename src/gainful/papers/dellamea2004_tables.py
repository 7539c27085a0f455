"""Systems, correlations of measures and groups compared: Table 3 of Della Mea and Mizzaro (2004), and around it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from gainful.notation import count_of
from gainful.papers.claims import Claim, beside, claims_tables, number_claim, statement
from gainful.papers.dellamea2004_experiment import Experiment
from gainful.papers.dellamea2004_sets import MEASURES
from gainful.papers.dellamea2004_systems import GROUPS, REFERENCES
from gainful.papers.sections import Section
from gainful.render.difference_words import p_words
from gainful.render.page import Cell, Column, Table
from gainful.stats.groups import GroupComparison, compare_groups
from gainful.stats.measure_agreement import kendall_tau

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
#: What the paper calls significant, and how near means of correlations are "of the same order".
_SIGNIFICANT, _NEAR = 0.0001, 0.1
_MOST_SHOWN = 10


def systems_section(found: Experiment) -> Section:
    """Which systems there are, which of them make URS'', which are left out, and the groups."""
    systems = found.systems
    counts = (
        ("systems", 129, len(systems.names)),
        ("systems whose mean SRS is in URS''", 10, len(systems.chosen)),
        ("systems left out for short lists", 20, len(systems.short)),
        ("systems that remain", 109, len(systems.kept)),
        *((f"{group} systems", _SIZES[group], len(systems.groups[group])) for group in GROUPS),
    )
    claims = [number_beside(what, says, finds, 0, found.is_own) for what, says, finds in counts]
    claims.append(_range_claim(found))
    parts: tuple[Table | str, ...] = (
        " ".join(_choices(found)),
        *claims_tables("Systems", claims),
        _chosen_table(found),
        *((_short_table(found),) if systems.short else ()),
    )
    return Section("Experimental results", "the systems, and what became of them", parts)


def _choices(found: Experiment) -> Iterator[str]:
    """How the systems came into their groups, in sentences."""
    systems, number = found.systems, len(found.systems.chosen)
    if systems.was_given:
        yield f"URS'' is made with {count_of(number, 'system')} named as best."
    else:
        few = "" if number == 10 else " (ten, or half of the systems where there are fewer than 15)"
        yield f"URS'' is made with the {count_of(number, 'system')} of highest average precision{few}."
    if systems.short:
        yield (
            f"Then {count_of(len(systems.short), 'system')} with less than {systems.depth:,} documents, the longest "
            "list, for some judged query went."
        )
    else:
        yield f"No system has less than {systems.depth:,} documents, the longest list, for any judged query."
    share = systems.worst_share
    where = "every query" if share is None else f"at least {100 * share:g} % of queries"
    yield (
        f"Best are those of the chosen that remain; Worst have an average precision below the median of all "
        f"{len(systems.names)} systems on {where}; Normal are the others."
    )
    silent = systems.queries - systems.telling
    if silent:
        verb = "tells" if silent == 1 else "tell"
        yield f"{count_of(silent, 'query', 'queries')} with a median of 0 {verb} nothing, because none can be below."
    empty = [group for group in GROUPS if not systems.groups[group]]
    if empty:
        hint = "; a worst share below 1 asks for less than every query" if "Worst" in empty and share is None else ""
        yield f"No system is {' or '.join(empty)}{hint}."


def _range_claim(found: Experiment) -> Claim:
    values = np.concatenate([found.scores[name] for name in MEASURES])
    low, high = float(values.min()), float(values.max())
    what, says, finds = "ADM values lie", "between 0.45 and 0.6", f"{low:.3f} to {high:.3f}"
    if not found.is_own:
        return beside(what, says, finds)
    return statement(what, says, finds, low >= 0.445 and high <= 0.605)


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
        f"short for: queries with less than {found.systems.depth:,} documents; unanswered: those of them with none",
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
        tau_claim(f"{row} and {column}", _TABLE_3[row, column], tau, found.is_own)
        for (row, column), tau in taus.items()
    ]
    parts = (
        _triangle(taus, f"Kendall's tau-b here, {kept}"),
        _triangle(_TABLE_3, "Kendall's tau in the paper, TREC-8 ad hoc, 109 systems"),
        long,
        *(claims_tables("Correlations", pairs) if found.is_own else ()),
        *claims_tables("What the paper concludes", _conclusions(taus)),
    )
    return Section("Table 3", "Kendall's correlation between ADM', ADM'' and the reference measures", parts)


def _triangle(taus: dict[tuple[str, str], float | None] | dict[tuple[str, str], float], title: str) -> Table:
    """The lower triangle as the paper prints it."""
    columns = (Column("measure"), *(Column(name, "number", 3, none="") for name in ALL_MEASURES[:-1]))
    rows = tuple((row, *(taus.get((row, column)) for column in ALL_MEASURES[:-1])) for row in ALL_MEASURES[1:])
    return Table(columns, rows, title, for_people=True)


def _conclusions(taus: dict[tuple[str, str], float | None]) -> Iterator[Claim]:
    if any(tau is None for tau in taus.values()):
        return
    known = {pair: tau for pair, tau in taus.items() if tau is not None}
    with_adm = [known[name, adm] for name in REFERENCES for adm in MEASURES]
    between = [known[row, column] for column, row in combinations(REFERENCES, 2)]
    means = sum(with_adm) / len(with_adm), sum(between) / len(between)
    yield statement(
        "ADMs with references, beside references among themselves",
        "of the same order",
        f"{_ends(with_adm)} beside {_ends(between)}",
        means[0] >= means[1] - _NEAR,
        f"holds if the mean of the first is less than {_NEAR:g} below the mean of the second",
    )
    recall = [known["Rel-Ret", adm] for adm in MEASURES]
    others = [known["AvgPrec", "Rel-Ret"], known["R-Prec", "Rel-Ret"]]
    yield _comparison(
        "Rel-Ret with ADMs, beside AvgPrec and R-Prec", "higher", recall, others, min(recall) > max(others)
    )
    first, second = ([known[name, adm] for name in REFERENCES] for adm in MEASURES)
    is_higher = all(one >= other for one, other in zip(first, second, strict=True)) and sum(first) > sum(second)
    yield _comparison(
        "references with ADM', beside ADM''",
        "slightly higher",
        first,
        second,
        is_higher,
        "in the paper Rel-Ret has the same tau with both",
    )


def _comparison(
    what: str, says: str, one: Sequence[float], other: Sequence[float], holds: bool, note: str = ""
) -> Claim:
    """Some correlations beside others; where all are the same there is nothing to tell."""
    finds = f"{_list(one)} beside {_list(other)}"
    if len({*one, *other}) == 1:
        return beside(what, says, finds, "all the same: too few systems to tell")
    return statement(what, says, finds, holds, note)


def first_hypothesis(found: Experiment) -> Section:
    """The groups by ADM' and ADM'': all at once, and two by two."""
    compared = {name: compare_groups(groups) for name in MEASURES if len(groups := _lists(found, name)) > 1}
    about = "whether the groups differ by ADM' and ADM''"
    if not compared:
        return Section("First hypothesis", about, ("There is only one group with members: nothing to compare.",))
    parts: tuple[Table | str, ...] = (
        "Descriptive: the groups were chosen by a measure of the same runs, so that significance is foregone, and runs "
        "of one team are not independent.",
        _tests_table(compared),
        *claims_tables("Kruskal-Wallis and Mann-Whitney", list(_test_claims(compared))),
    )
    return Section("First hypothesis", about, parts)


def _lists(found: Experiment, name: str) -> dict[str, list[float]]:
    return {group: values.tolist() for group, values in found.by_group(name).items()}


def _tests_table(compared: dict[str, GroupComparison]) -> Table:
    columns = (
        Column("measure"),
        Column("groups"),
        Column("test"),
        Column("sizes"),
        Column("statistic", "number", 2),
        Column("P"),
        Column("P value", "number", for_machines=True),
    )
    rows: list[tuple[Cell, ...]] = []
    for name, comparison in compared.items():
        overall = comparison.overall
        sizes = ", ".join(map(str, overall.sizes))
        groups = ", ".join(comparison.names)
        rows.append((name, groups, "Kruskal-Wallis H", sizes, overall.h, p_words(overall.p), overall.p))
        for one, other, test in comparison.pairs:
            kind = "Mann-Whitney U" + (", exact" if test.is_exact else "")
            both = ", ".join(map(str, test.sizes))
            rows.append((name, f"{one}, {other}", kind, both, test.u, p_words(test.p), test.p))
    notes = ("two-sided; Mann-Whitney is exact for groups of at most 8 without ties, else normal with continuity",)
    return Table(columns, tuple(rows), "Groups compared by rank", notes)


def _test_claims(compared: dict[str, GroupComparison]) -> Iterator[Claim]:
    for name, comparison in compared.items():
        overall = comparison.overall
        # Two groups are two groups, whichever test compares them; of three the smallest P is far below.
        least = _least_p(*overall.sizes) if len(overall.sizes) == 2 else 0.0
        yield _test_claim(f"{name}: Kruskal-Wallis, {' '.join(comparison.names)}", overall.p, least)
        for one, other, test in comparison.pairs:
            yield _test_claim(f"{name}: Mann-Whitney, {one} {other}", test.p, _least_p(*test.sizes))


def _test_claim(what: str, p: float, least: float) -> Claim:
    says, finds = f"P < {_SIGNIFICANT}", f"P = {p_words(p)}"
    if least >= _SIGNIFICANT:
        return beside(what, says, finds, f"groups of these sizes have P = {p_words(least)} (exact) at the least")
    return statement(what, says, finds, p < _SIGNIFICANT)


def _least_p(one: int, other: int) -> float:
    """The exact two-sided P of two groups that do not overlap."""
    return min(1.0, 2 / math.comb(one + other, one))


def tau_claim(what: str, says: float, finds: float | None, is_own: bool) -> Claim:
    """A correlation; where there is none, all systems are alike."""
    if finds is None:
        return beside(what, f"{says:.3f}", tau_text(None))
    return number_beside(what, says, finds, 3, is_own)


def number_beside(what: str, says: float, finds: float, places: int, is_own: bool) -> Claim:
    """A number that has to be the paper's on its own data, and stands beside it on others."""
    if is_own:
        return number_claim(what, says, finds, places)
    return beside(what, f"{says:.{places}f}", f"{finds:.{places}f}")


def tau_text(tau: float | None) -> str:
    """Three places, as the paper has."""
    return "undefined" if tau is None else f"{tau:.3f}"


def _list(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.3f}" for value in values)


def _ends(values: Sequence[float]) -> str:
    return f"{min(values):.3f} to {max(values):.3f}"
