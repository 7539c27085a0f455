"""Järvelin, Price, Delcambre and Nielsen, ECIR 2008: gain over whole sessions, with a discount by query.

K. Järvelin, S. L. Price, L. M. L. Delcambre and M. Lykke Nielsen, Discounted cumulated gain based evaluation of
multiple-query IR sessions, ECIR 2008, 4-15.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from gainful.discounts import divisors
from gainful.measures.cumulated_gain import CG, DCG
from gainful.measures.session_base import SessionMeasure
from gainful.measures.session_gain import NSDCG, SDCG
from gainful.papers.claims import claims_tables, number_claim, statement, vector_claim
from gainful.papers.jarvelin2008_study import study
from gainful.papers.jarvelin2008_table import PAPER_AVERAGES, PAPER_QUERIES, PAPER_SESSIONS, paper_systems
from gainful.papers.sections import Section
from gainful.render.page import Column, Table
from gainful.render.session_page import length_tables
from gainful.sessions.evaluation import evaluate_sessions
from gainful.sessions.lists import sessions_from_lists

__all__ = ["examples", "study"]

#: G' of the appendix, and what is printed for it.
_GAINS = (3, 2, 3, 0, 0, 1, 2, 2, 3, 0)
_PRINTED_CG = (3, 5, 8, 8, 8, 9, 11, 13, 16, 16)
_PRINTED_DCG = (3, 4, 5.67, 5.67, 5.67, 6.11, 6.94, 8.14, 9.30, 9.30)
#: With other gains at ranks 2 and 8 the formula gives what is printed.
_SLIPPED_GAINS = (3, 1.5, 3, 0, 0, 1, 2, 3, 3, 0)
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
        statement(
            "2002", "CG up to the rank of the base", f"b = 4: CG at ranks 1 to {len(spared)}", spared == [1, 2, 3, 4]
        ),
        statement(
            "2008",
            "discounts all, early ones too",
            f"all from rank {discounted[0]} on",
            discounted == list(places)[1:],
            "what stands at rank 1 is divided by 1 in both",
        ),
    )
    about = "The discount by rank is not that of 2002: it begins at once and has no bend at the base."
    return Section("Section 2.1", about, (table, *claims_tables("What the paper says of both", claims)))


def _query_discount() -> Section:
    """Formula (1)."""
    bases, numbers = (2.0, 4.0, 10.0), range(1, _LONGEST + 1)
    left = {base: [_left_of_1(number, base) for number in numbers] for base in bases}
    table = Table(
        (Column("query", "count"), *(Column(f"bq = {base:g}", "number") for base in bases)),
        tuple((number, *(left[base][number - 1] for base in bases)) for number in numbers),
        "What is left of a gain of 1 that the q-th query of a session gives at rank 1",
    )
    claims = (
        statement(
            "later queries",
            "progressively less valuable",
            f"each of Q2 to Q{_LONGEST} below the one before",
            all(later < sooner for values in left.values() for sooner, later in pairwise(values)),
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
    claims = (
        statement(
            "the same rank",
            "worth more in an earlier query",
            "Q1 above Q2 at ranks 1 to 10",
            all(first > second for first, second in zip(sooner, later, strict=True)),
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
            f"nsDCG 1 with 1 to {_LONGEST} queries",
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
    about = "The paper's sessions are not public, but what its Table 2 adds up to can be checked."
    parts = (*length_tables(systems), *claims_tables("Sums and averages of the printed counts", claims))
    return Section("Section 3.1", about, parts)


def _appendix() -> Section:
    """CG and DCG of the printed gains."""
    right, slipped = (_cumulated(gains, "jarvelin2008") for gains in (_GAINS, _SLIPPED_GAINS))
    steps, printed_steps = ([b - a for a, b in pairwise((0.0, *vector))] for vector in (right, _PRINTED_DCG))
    # What the formula says as it is printed: the whole sum divided by the discount of the last rank.
    divided = divisors("jarvelin2008", 4.0, np.arange(1.0, len(_GAINS) + 1))
    literal = [CG(cutoff=i).score(_GAINS) / float(divisor) for i, divisor in enumerate(divided, 1)]
    claims = (
        vector_claim("CG'", _PRINTED_CG, [CG(cutoff=i).score(_GAINS) for i in range(1, len(_GAINS) + 1)], 0),
        vector_claim(
            "DCG', b = 4",
            _PRINTED_DCG,
            right,
            erratum="formula (2) has log_b i for the log_b j of the summed rank, and ranks 2 and 8 are wrong",
        ),
        vector_claim(
            "what each rank adds",
            printed_steps,
            steps,
            erratum="2 / 1.5 = 1.33 at rank 2 is printed as 1.00, 2 / 2.5 = 0.80 at rank 8 as 1.20",
        ),
        vector_claim("DCG', gains 1.5 at rank 2, 3 at rank 8", _PRINTED_DCG, slipped),
        vector_claim(
            "formula (2) as printed",
            _PRINTED_DCG,
            literal,
            erratum="log_b i lets values fall, as at ranks 4 and 5, and the example does not follow it",
        ),
    )
    about = "The example of the appendix, and where it departs from its formula."
    return Section("Appendix", about, claims_tables("G' = 3 2 3 0 0 1 2 2 3 0", claims))
