"""Järvelin, Price, Delcambre and Nielsen, ECIR 2008: gain over whole sessions, with a discount by query.

K. Järvelin, S. L. Price, L. M. L. Delcambre and M. Lykke Nielsen, Discounted cumulated gain based evaluation of
multiple-query IR sessions, ECIR 2008, 4-15.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from gainful.data.sessions import sessions_from_lists
from gainful.discounts import divisors
from gainful.measures.cumulated_gain import CG, DCG
from gainful.measures.session_block import SessionMeasure
from gainful.measures.session_gain import NSDCG, SDCG
from gainful.pages.page import Column, Table
from gainful.papers.claims import Section, claims_tables, number_claim, statement, text_claim, vector_claim
from gainful.papers.jarvelin2008.session_experiment import (
    PAPER_AVERAGES,
    PAPER_QUERIES,
    PAPER_SESSIONS,
    paper_systems,
    study,
)
from gainful.tasks.sessions.session_evaluation import evaluate_sessions
from gainful.tasks.sessions.session_page import length_tables

__all__ = ["examples", "study"]

#: G' of the appendix, and what is printed for it.
_GAINS = (3, 2, 3, 0, 0, 1, 2, 2, 3, 0)
_PRINTED_CG = (3, 5, 8, 8, 8, 9, 11, 13, 16, 16)
_PRINTED_DCG = (3, 4, 5.67, 5.67, 5.67, 6.11, 6.94, 8.14, 9.30, 9.30)
#: With other gains at ranks 2 and 8 the formula gives what is printed.
_SLIPPED_GAINS = (3, 1.5, 3, 0, 0, 1, 2, 3, 3, 0)
#: What is printed with two places can be off by so much, twice, in a difference.
_ROUNDING = 0.0101
#: So many queries the longest session of the paper has.
_LONGEST = 11


def examples() -> tuple[Section, ...]:
    """What the paper prints of its formulas, and what it says of them; nothing of this needs data.

    >>> [section.name for section in examples()]
    ['Section 2.1', 'Section 2.2', 'Section 3', 'Section 3.1', 'Appendix']
    """
    return _rank_discount(), _query_discount(), _behaviour(), _printed_lengths(), _appendix()


def _cumulated(gains: Sequence[float], discount: str, base: float = 4.0) -> tuple[float, ...]:
    return tuple(DCG(discount=discount, base=base, cutoff=i).score(gains) for i in range(1, len(gains) + 1))


def _rank_discount() -> Section:
    """The discount by rank beside that of 2002."""
    places = range(1, len(_GAINS) + 1)
    of_2002, of_2008 = (
        divisors(name, 4.0, np.array(places, np.float64)).tolist() for name in ("jarvelin2002", "jarvelin2008")
    )
    columns = (
        Column("rank", "count"),
        Column("gain", "count"),
        *(Column(f"{year} {what}", "number", 2) for year in (2002, 2008) for what in ("divisor", "DCG")),
    )
    old, new = (_cumulated(_GAINS, name) for name in ("jarvelin2002", "jarvelin2008"))
    table = Table(
        columns,
        tuple(zip(places, _GAINS, of_2002, old, of_2008, new, strict=True)),
        "The gains of the appendix under both discounts, b = 4",
        ("2002: 1 before rank b, from there on log_b j; 2008: 1 + log_b j",),
    )
    spared, discounted = (
        [rank for rank, divisor in zip(places, found, strict=True) if (divisor > 1) == is_discounted]
        for found, is_discounted in ((of_2002, False), (of_2008, True))
    )
    claims = (
        statement("2002", "CG up to the rank of the base", f"b = 4: at {_ranks(spared)}", spared == [1, 2, 3, 4]),
        text_claim(
            "2008",
            "all are discounted, early ones too",
            f"those at {_ranks(discounted)}",
            "1 + log_b 1 is 1: what stands at rank 1 is not discounted",
        ),
    )
    about = "The discount by rank is not that of 2002: it begins at once and has no bend at the base."
    return Section("Section 2.1", about, (table, *claims_tables("What the paper says of both", claims)))


def _ranks(ranks: Sequence[int]) -> str:
    return f"ranks {' '.join(map(str, ranks))}"


def _query_discount() -> Section:
    """Formula (1)."""
    bases, numbers = (2.0, 4.0, 10.0), range(1, _LONGEST + 1)
    left = {base: [_left_of_1(number, base) for number in numbers] for base in bases}
    table = Table(
        (Column("query", "count"), *(Column(f"bq = {base:g}", "number") for base in bases)),
        tuple((number, *(left[base][number - 1] for base in bases)) for number in numbers),
        "What is left of a gain of 1 that the q-th query of a session gives at rank 1",
    )
    falls = [later < sooner for values in left.values() for sooner, later in pairwise(values)]
    claims = (
        statement(
            "later queries",
            "progressively less valuable",
            f"{sum(falls)} of {len(falls)} below the one before",
            all(falls),
        ),
        statement(
            "bq = 2, bq = 10",
            "impatient, patient searchers",
            f"Q2 keeps {left[2.0][1]:.2f}, {left[10.0][1]:.2f}",
            all(small < large for small, large in zip(left[2.0][1:], left[10.0][1:], strict=True)),
        ),
    )
    about = "Formula (1): what the q-th query gives is divided by 1 + log_bq q. The paper prints no numbers of it."
    return Section("Section 2.2", about, (table, *claims_tables("What the paper says of it", claims)))


def _left_of_1(number: int, query_base: float) -> float:
    failed: list[list[float]] = [[] for _ in range(number - 1)]
    return SDCG(query_base=query_base, cutoff=1).score_session([*failed, [1]])


def _behaviour() -> Section:
    """What sections 3, 3.3 and 4 say of sessions, tried with sessions made by hand."""
    gained, share = SDCG(cutoff=10), NSDCG(cutoff=10)
    pages = [[*(f"x{i}" for i in range(above)), "a"] for above in range(10)]
    sooner, later = ([_score(gained, [page]) for page in pages], [_score(gained, [[], page]) for page in pages])
    ideal = ["a", "b", "c"]
    once, again = _score(gained, [ideal]), _score(gained, [ideal, ideal])
    stopped = _score(gained, [ideal, []])
    shares = [_score(share, [ideal] * count) for count in range(1, _LONGEST + 1)]
    worth_more = [first > second for first, second in zip(sooner, later, strict=True)]
    claims = (
        statement(
            "the same rank",
            "worth more in an earlier query",
            f"Q1 above Q2 at {sum(worth_more)} of {len(worth_more)} ranks",
            all(worth_more),
        ),
        statement(
            "a document that comes again",
            "counts every time",
            f"sDCG {once:.2f}, with it {again:.2f}",
            again > once,
            "repeats=first counts it once only",
        ),
        statement(
            "the ideal session",
            "the ideal list, once a query",
            f"1 to {_LONGEST} queries: nsDCG {min(shares):.4f} to {max(shares):.4f}",
            all(abs(value - 1) < 1e-12 for value in shares),
        ),
        statement(
            "the final gain",
            "does not change after stopping",
            f"sDCG {once:.2f}, after an empty page {stopped:.2f}",
            once == stopped,
            "an empty page is a query, so that nsDCG falls with it: the ideal session goes on",
        ),
    )
    about = "What sections 3, 3.3 and 4 say of sessions, on sessions that find documents of grades 3, 2 and 1."
    return Section("Section 3", about, claims_tables("What the paper says of sessions", claims))


def _score(measure: SessionMeasure, lists: Sequence[Sequence[str]]) -> float:
    found = evaluate_sessions({"s": {"a": 3, "b": 2, "c": 1}}, sessions_from_lists({"s": lists}), [measure])
    return found.mean(measure)


def _printed_lengths() -> Section:
    """The averages of Table 2 from its own counts."""
    systems = paper_systems()
    claims = [
        claim
        for (name, found), average in zip(systems.items(), PAPER_AVERAGES, strict=True)
        for claim in (
            number_claim(f"{name}, sessions", PAPER_SESSIONS, found.sessions, 0),
            number_claim(f"{name}, queries per session", average, found.average),
        )
    ]
    claims.append(number_claim("queries in all", PAPER_QUERIES, sum(found.queries for found in systems.values()), 0))
    misprint = text_claim(
        "range of the base of the query discount",
        "1.5 <= b <= 10",
        "1.5 <= bq <= 10",
        "b is the base of the discount by rank, whose range stands above it; formula (1) allows 1 < bq < 1000",
    )
    about = "The paper's sessions are not public, but what its Table 2 adds up to can be checked."
    parts = (
        *length_tables(systems),
        *claims_tables("Sums and averages of the printed counts", claims),
        *claims_tables("A misprint", [misprint]),
    )
    return Section("Section 3.1", about, parts)


def _appendix() -> Section:
    """CG and DCG of the printed gains, and the misprints."""
    places = range(1, len(_GAINS) + 1)
    right, slipped = (_cumulated(gains, "jarvelin2008") for gains in (_GAINS, _SLIPPED_GAINS))
    steps, printed_steps = ([b - a for a, b in pairwise((0.0, *vector))] for vector in (right, _PRINTED_DCG))
    wrong = [rank for rank, a, b in zip(places, steps, printed_steps, strict=True) if abs(a - b) > _ROUNDING]
    # What the formula says as it is printed: the whole sum divided by the discount of the last rank.
    divided = divisors("jarvelin2008", 4.0, np.array(places, np.float64))
    literal = [CG(cutoff=i).score(_GAINS) / float(divisor) for i, divisor in enumerate(divided, 1)]
    claims = (
        vector_claim("CG'", _PRINTED_CG, [CG(cutoff=i).score(_GAINS) for i in places], 0),
        vector_claim(
            "DCG', b = 4",
            _PRINTED_DCG,
            right,
            erratum=f"what is added at {_ranks(wrong)} is not what the formula gives, and so all later values are off",
        ),
    )
    misprints = (
        text_claim(
            "discount in formula (2)",
            "1 + log_b i",
            "1 + log_b j",
            f"j is the rank that is summed; as printed, G' would have {_vector(literal)}, which falls where nothing is "
            "gained, and the example does not follow it",
        ),
        text_claim(
            "reference of the original DCG and of its normalisation",
            "[9]",
            "[5]",
            "[9] is of another author; Section 4 has [5], the article of 2002",
        ),
    )
    adds = Table(
        (
            Column("rank", "count"),
            Column("gain", "count"),
            Column("by the formula", "number", 2),
            Column("as printed", "number", 2),
        ),
        tuple(zip(places, _GAINS, steps, printed_steps, strict=True)),
        "What each rank adds to DCG', b = 4",
    )
    odd = ", ".join(
        f"{gain:g} at rank {rank}"
        for rank, before, gain in zip(places, _GAINS, _SLIPPED_GAINS, strict=True)
        if gain != before
    )
    conjecture = f"With other gains, {odd}, the formula would give {_vector(slipped)}: this is our guess at the slip."
    about = "The example of the appendix, where it departs from its formula, and two misprints."
    parts: tuple[Table | str, ...] = (
        *claims_tables("G' = 3 2 3 0 0 1 2 2 3 0", claims),
        adds,
        conjecture,
        *claims_tables("Misprints", misprints),
    )
    return Section("Appendix", about, parts)


def _vector(values: Sequence[float]) -> str:
    return " ".join(f"{value:.2f}" for value in values)
