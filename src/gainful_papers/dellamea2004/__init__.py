"""Della Mea and Mizzaro: Measuring retrieval effectiveness: a new proposal and a first experimental validation (2004).

Its worked examples (Tables 1 and 2, Figures 2, 4, 5 and 6), and its experiment on any runs (in the paper, TREC-8).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from gainful import Qrels, RunLike, evaluate, parse
from gainful.data.judged import Judged
from gainful.pages.charts import Points
from gainful.pages.page import Table, head
from gainful_papers.claims import Claim, Section, Study, claims_tables, table
from gainful_papers.dellamea2004.adm_experiment import run_experiment
from gainful_papers.dellamea2004.adm_figures import figure_7, figure_8, figure_9, first_hypothesis
from gainful_papers.dellamea2004.adm_tables import exchange_rule, systems_section, table_3, table_4
from gainful_papers.dellamea2004.plane import Plane, plane_plot, score_planes


@cache
def examples() -> tuple[Section, ...]:
    """Check Tables 1 and 2, the planes of Figures 4 and 5, and the formulas between them.

    >>> [section.name for section in examples()][:3]
    ['Figure 2', 'Table 1', 'Figure 4']
    """
    differences = {"(a) small differences": _TABLE_2A, "(b) large differences": _TABLE_2B}
    return (
        _sectors(),
        _table_1(),
        _figure("Figure 4", "Table 1", {"Table 1": _TABLE_1}),
        _categories(),
        _table_2(),
        _figure("Figure 5", "Table 2", differences),
        _over_and_under(),
        _ranks(),
        _second_limitation(),
    )


def study(
    judged: Judged,
    runs: Mapping[str, RunLike],
    *,
    best: str | Sequence[str] = (),
    worst_share: float | None = None,
    draws: int = 20,
    seed: int = 0,
    threads: int | None = None,
) -> Study:
    """Compare ADM' and ADM'' with Rel-Ret, AvgPrec and R-Prec, also on parts of the documents and topics.

    ``best`` names the systems whose mean SRS enters URS'' (by default ten by average precision, or the better half of
    at most ten runs); ``worst_share`` is the share of queries on which a Worst system is below the median (default 1).
    """
    found = run_experiment(judged, runs, best, worst_share, draws, seed, threads)
    sections = (
        systems_section(found),
        table_3(found),
        figure_7(found),
        first_hypothesis(found),
        figure_8(found),
        table_4(found),
        figure_9(found),
    )
    depth = found.systems.depth
    conventions = (
        f"SRS = 1 - (rank - 1) / {depth}, 0 if not retrieved; URS' = grade / scale; URS'' = (3 URS' + mean SRS of the "
        "best systems) / 4",
        exchange_rule(len(found.systems.kept)),
        next(iter(found.evaluations.values())).signature().note(),
    )
    return Study(found.data, sections, found.evaluations, conventions)


#: Parameters for using both scores as given.
_WAY = "srs=score, urs=given"
_QUERY = "q"

#: The paper's columns and their measures.
_COLUMNS = {"P": "ThresholdP", "R": "ThresholdR", "E": "PRmean", "ADM": "ADM"}


@dataclass(frozen=True)
class _Case:
    """Documents with user scores (URS), scores of several systems (SRS), and the paper's printed values."""

    name: str
    urs: tuple[float, ...]
    srs: Mapping[str, tuple[float, ...]]
    prints: Mapping[str, tuple[float, float, float, float]]


_TABLE_1 = _Case(
    "Table 1",
    (0.8, 0.4, 0.1),
    {"IRS1": (0.9, 0.5, 0.2), "IRS2": (1.0, 0.6, 0.3), "IRS3": (0.8, 0.4, 1.0)},
    {"IRS1": (0.5, 1, 0.75, 0.9), "IRS2": (0.5, 1, 0.75, 0.8), "IRS3": (0.5, 1, 0.75, 0.7)},
)
#: Table 2 uses the points of Figure 5, which prints no numbers: these were chosen to reproduce the table.
_TABLE_2A = _Case(
    "Table 2 (a)",
    (0.3, 0.7, 0.6),
    {"IRS1": (0.5, 0.5, 0.5), "IRS2": (0.49, 0.5, 0.49), "IRS3": (0.511, 0.489, 0.5)},
    {"IRS1": (0.67, 1, 0.84, 0.83), "IRS2": (1, 0.5, 0.75, 0.83), "IRS3": (0.5, 0.5, 0.5, 0.826)},
)
_TABLE_2B = _Case(
    "Table 2 (b)", (1.0, 0.5), {"IRS1": (1.0, 0.5), "IRS2": (0.5, 1.0)}, {"IRS1": (1, 1, 1, 1), "IRS2": (1, 1, 1, 0.5)}
)
_ERRATA = {("Table 2 (a)", "IRS1", "E"): "mean of R and of P rounded to 0.67; the mean of 2/3 and 1 is 0.8333"}
_PLACES = {("Table 2 (a)", "IRS3", "ADM"): 3}


def _values(case: _Case, system: str, *measures: str, way: str = _WAY) -> list[float]:
    """Score one system; NaN if a measure is undefined."""
    user = Qrels.from_dict({_QUERY: _named(case.urs)}, scale=1)
    wanted = [f"{measure}({way})" for measure in measures]
    found = evaluate(user, {_QUERY: _named(case.srs[system])}, wanted)
    return [float(value) for value in found.raw[:, 0]]


def _named(scores: Sequence[float]) -> dict[str, float]:
    return {f"d{i}": score for i, score in enumerate(scores, 1)}


def _claims(case: _Case) -> list[Claim]:
    claims = []
    for system, prints in case.prints.items():
        for (column, measure), says in zip(_COLUMNS.items(), prints, strict=True):
            key = (case.name, system, column)
            [finds] = _values(case, system, measure)
            claims.append(Claim.number(f"{system} {column}", says, finds, _PLACES.get(key, 2), _ERRATA.get(key, "")))
    return claims


def _table_1() -> Section:
    claims = claims_tables("P, R, E and ADM, thresholds at 0.5", _claims(_TABLE_1))
    about = "Three systems have equal P, R and E but different ADM."
    return Section.of("Table 1", about, _documents(_TABLE_1), claims)


def _table_2() -> Section:
    return Section.of(
        "Table 2",
        "P, R and E respond to differences in SRS differently from ADM.",
        "The paper prints no scores for Figure 5. These points were chosen to reproduce the table, so agreement is not "
        "a test of the measures; it shows that one set of points yields all four values for each system.",
        _documents(_TABLE_2A),
        claims_tables("(a): small differences in SRS", _claims(_TABLE_2A)),
        _documents(_TABLE_2B),
        claims_tables("(b): large differences in SRS", _claims(_TABLE_2B)),
        claims_tables("Conclusions of the paper", _spreads()),
    )


def _spreads() -> list[Claim]:

    def spread(case: _Case, measure: str) -> float:
        values = [_values(case, system, measure)[0] for system in case.srs]
        return max(values) - min(values)

    small, large = (spread(case, "ADM") for case in (_TABLE_2A, _TABLE_2B))
    small_e, large_e = (spread(case, "PRmean") for case in (_TABLE_2A, _TABLE_2B))
    return [
        Claim.statement(
            "(a) small differences",
            "can change E much, do not affect ADM",
            f"E differs by {small_e:.2f}, ADM by {small:.3f}",
            small_e > 0.1 and small < 0.01,
        ),
        Claim.statement(
            "(b) large differences",
            "may leave E the same, do affect ADM",
            f"E differs by {large_e:.2f}, ADM by {large:.2f}",
            large_e < 1e-9 and large > 0.1,
        ),
    ]


def _documents(case: _Case) -> Table:
    return table(
        f"{case.name}: user and system scores",
        (*head("score"), *head(f"{name} .3" for name in _named(case.urs))),
        ((name, *scores) for name, scores in {"URS": case.urs, **case.srs}.items()),
    )


def _figure(name: str, of: str, cases: Mapping[str, _Case]) -> Section:
    planes = {title: _planes(case) for title, case in cases.items()}
    points = table(
        "Points of the planes",
        "figure | system | document | URS . | SRS . | distance .",
        (
            (title, plane.run, placed.document, placed.urs, placed.srs, placed.distance)
            for title, of_case in planes.items()
            for plane in of_case
            for placed in sorted(plane.documents)
        ),
        for_machines=True,
    )
    plots = []
    for title, of_case in planes.items():
        drawn = tuple(
            Points(plane.run, tuple(d.urs for d in plane.documents), tuple(d.srs for d in plane.documents))
            for plane in of_case
        )
        caption = f"ADM: {', '.join(f'{plane.run} {plane.adm:.3f}' for plane in of_case)}."
        # Axes and guides are the same for each system.
        plots.append(replace(plane_plot(of_case[0]), title=title, points=drawn, caption=caption))
    return Section.of(name, f"{of} in the plane of URS and SRS.", plots, points)


def _planes(case: _Case) -> tuple[Plane, ...]:
    user = Qrels.from_dict({_QUERY: _named(case.urs)}, scale=1)
    runs = {system: {_QUERY: _named(srs)} for system, srs in case.srs.items()}
    return tuple(score_planes(user, runs, [_QUERY], f"ADM({_WAY})"))


def _sectors() -> Section:
    """Check the formula of precision in Figure 2, with which Table 2 was not computed."""
    [plane, *_] = _planes(_TABLE_2A)
    alpha, beta = plane.sectors.only_retrieved, plane.sectors.retrieved_relevant
    printed = _TABLE_2A.prints["IRS1"][0]
    claim = Claim.text(
        "precision",
        "|α| / (|α| + |β|)",
        "|β| / (|α| + |β|)",
        "in the available text; α are retrieved irrelevant and β retrieved relevant documents, as in its formulas of "
        f"recall |β| / (|β| + |δ|) and fallout |α| / (|α| + |γ|); with |α| = {alpha} and |β| = {beta} for IRS1 in "
        f"Table 2 (a), its formula would give {alpha / (alpha + beta):.2f}, but the table has {printed:.2f}",
    )
    about = "The plane has four sectors; the formula of precision has an erratum."
    return Section("Figure 2", about, claims_tables("Precision by sectors", [claim]))


def _categories() -> Section:
    """Check ADM^(2)_(2): distances are 0 or 1, so it counts documents in sectors α and δ."""
    finds = []
    for case in (_TABLE_1, _TABLE_2A, _TABLE_2B):
        for system, plane in zip(case.srs, _planes(case), strict=True):
            wrong = plane.sectors.only_retrieved + plane.sectors.only_relevant
            [value] = _values(case, system, "ADM", way=f"{_WAY}, urs_levels=2, srs_levels=2")
            finds.append(math.isclose(value, 1 - wrong / plane.count, abs_tol=1e-12))
    claim = Claim.statement(
        "ADM with 2 categories on both sides",
        "distances are 0 or 1",
        f"1 - (|α| + |δ|) / documents for {sum(finds)} of {len(finds)} systems in Tables 1 and 2",
        all(finds),
        "x becomes min(floor(2x), 1): a threshold at 0.5",
    )
    about = "ADM with binary relevance and binary retrieval."
    return Section("ADM(2)(2)", about, claims_tables("Distances", [claim]))


def _over_and_under() -> Section:
    sums = []
    for case in (_TABLE_1, _TABLE_2A):
        for system in case.srs:
            adm, adp, adr = _values(case, system, "ADM", "ADP", "ADR")
            what, finds = f"{case.name}, {system}: ADM = ADP + ADR - 1", f"{adm:.3f} = {adp:.3f} + {adr:.3f} - 1"
            is_sum = math.isclose(adm, adp + adr - 1, abs_tol=1e-12)
            sums.append(Claim.statement(what, "for every query", finds, is_sum))
    about = "ADP and ADR separate over- and underestimated documents."
    return Section("Figure 6", about, claims_tables("Sums", sums))


def _ranks() -> Section:
    # ADM of a single document with URS 1 is its SRS.
    adm = parse("ADM(over=relevant)")
    claims = [
        Claim.number(f"SRS at rank {rank:,}", says, adm.score([*[None] * (rank - 1), 1]), places)
        for rank, says, places in ((1, 1, 3), (2, 0.999, 3), (100, 0.9, 1), (1000, 0.001, 3))
    ]
    claims.append(
        Claim.text(
            "based on binary relevance",
            "URS''",
            "URS'",
            "in the available text; the next sentence states that URS'' is not based on binary relevance",
        )
    )
    about = "SRS is computed from the rank; a sentence about URS has an erratum."
    return Section("SRS and URS", about, claims_tables("By rank", claims))


#: Example of the second limitation in the last section, which prints no numbers: binary relevance, a good system.
_BINARY = _Case("Conclusions", (1, 1, 0, 0), {"IRS1": (0.9, 0.7, 0.3, 0.1)}, {})


def _second_limitation() -> Section:
    """Compare a system that keeps its scores (IRS1) with the same scores collapsed to 0 or 1 (IRS2)."""
    [kept] = _values(_BINARY, "IRS1", "ADM")
    [collapsed] = _values(_BINARY, "IRS1", "ADM", way=f"{_WAY}, srs_levels=2")
    claim = Claim.text(
        "higher ADM, although the other's scores are useful for ranking",
        "IRS1",
        "IRS2" if collapsed > kept else "IRS1",
        f"the paper swaps the two names in this sentence: ADM is {kept:.2f} with the original scores and "
        f"{collapsed:.2f} with 0 and 1",
    )
    about = (
        "URS is 0 or 1. IRS1 keeps its scores; IRS2 collapses them at 0.5. The paper prints no numbers; this example "
        "is a good system with URS 1 1 0 0 and SRS 0.9 0.7 0.3 0.1."
    )
    return Section("Conclusions", about, claims_tables("The second limitation", [claim]))
