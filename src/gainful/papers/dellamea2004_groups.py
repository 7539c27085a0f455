"""The first hypothesis of Della Mea and Mizzaro (2004): groups of systems compared by ADM' and ADM''."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import permutations

from gainful.papers.claims import Claim, claims_tables, statement, undecided
from gainful.papers.dellamea2004_experiment import Experiment
from gainful.papers.dellamea2004_sets import MEASURES
from gainful.papers.sections import Section
from gainful.render.difference_words import listed, p_words
from gainful.render.page import Cell, Column, Table
from gainful.stats.groups import GroupComparison, compare_groups, exact_mann_whitney, kruskal_wallis, mann_whitney

#: What the paper calls significant.
_SIGNIFICANT = 0.0001

_Groups = dict[str, list[float]]


def first_hypothesis(found: Experiment) -> Section:
    """The groups by ADM' and ADM'': all at once, and two by two."""
    about = "The groups are compared by ADM' and ADM''."
    groups = {name: {group: each.tolist() for group, each in found.by_group(name).items()} for name in MEASURES}
    if min(map(len, groups.values())) < 2:
        return Section("First hypothesis", about, ("There is only one group with members: nothing to compare.",))
    compared = {name: compare_groups(each) for name, each in groups.items()}
    parts: tuple[Table | str, ...] = (
        "Descriptive: the groups were chosen by a measure of the same runs, so that significance is foregone, and runs "
        "of one team are not independent.",
        _tests_table(compared),
        "Claims of Mann-Whitney are judged by the exact P where no values are equal, whatever the sizes: of the "
        "paper's 7 Best and 19 Worst systems the normal approximation cannot have P below 0.0001, even if all Best are "
        "above all Worst. Where no order of the values would make P fall below 0.0001, nothing is decided.",
        *claims_tables("Kruskal-Wallis and Mann-Whitney", list(_test_claims(groups, compared))),
    )
    return Section("First hypothesis", about, parts)


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


def _test_claims(groups: dict[str, _Groups], compared: dict[str, GroupComparison]) -> Iterator[Claim]:
    for name, comparison in compared.items():
        members = groups[name]
        yield significance_claim(
            f"{name}: Kruskal-Wallis, {' '.join(comparison.names)}", list(members.values()), _chi_square
        )
        for one, other, _ in comparison.pairs:
            both = [members[one], members[other]]
            is_exact = exact_mann_whitney(*both) is not None
            yield significance_claim(f"{name}: Mann-Whitney, {one} {other}", both, _exact if is_exact else _normal)


#: A test: P of some groups, and what its P is called.
_Test = Callable[[Sequence[Sequence[float]]], tuple[float, str]]


def significance_claim(what: str, groups: Sequence[Sequence[float]], test: _Test) -> Claim:
    """Whether P is below what the paper has; not decided where no order of the values would make it so."""
    p, kind = test(groups)
    says, finds = f"P < {_SIGNIFICANT}", f"{_p_text(p)} ({kind})"
    least = least_p(groups, test)
    if least >= _SIGNIFICANT:
        sizes = listed([str(len(group)) for group in groups])
        return undecided(what, says, finds, f"groups of {sizes} have {_p_text(least)} ({kind}) at the least")
    return statement(what, says, finds, p < _SIGNIFICANT)


def least_p(groups: Sequence[Sequence[float]], test: _Test) -> float:
    """The P that a test would have if groups of these sizes did not overlap, one above the other in the best order."""
    values = sorted(value for group in groups for value in group)

    def apart(sizes: Sequence[int]) -> list[list[float]]:
        ends = [sum(sizes[: i + 1]) for i in range(len(sizes))]
        return [values[end - size : end] for end, size in zip(ends, sizes, strict=True)]

    orders = sorted(set(permutations(len(group) for group in groups)))
    return min(test(apart(sizes))[0] for sizes in orders)


def _chi_square(groups: Sequence[Sequence[float]]) -> tuple[float, str]:
    return kruskal_wallis(groups).p, "chi-square"


def _normal(groups: Sequence[Sequence[float]]) -> tuple[float, str]:
    one, other = groups
    return mann_whitney(one, other).p, "normal"


def _exact(groups: Sequence[Sequence[float]]) -> tuple[float, str]:
    one, other = groups
    found = exact_mann_whitney(one, other)
    return (found.p, "exact") if found else _normal(groups)


def _p_text(p: float) -> str:
    words = p_words(p)
    return f"P {words}" if words.startswith("<") else f"P = {words}"
