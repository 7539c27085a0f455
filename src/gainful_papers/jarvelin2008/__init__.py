"""Järvelin, Price, Delcambre and Nielsen, ECIR 2008: gain over whole sessions, with a discount by query.

K. Järvelin, S. L. Price, L. M. L. Delcambre and M. Lykke Nielsen, Discounted cumulated gain based evaluation of
multiple-query IR sessions, ECIR 2008, 4-15.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from gainful import SessionMeasure, Sessions, evaluate_sessions, parse
from gainful.tasks.sessions.session_positions import length_tables
from gainful_papers.claims import Claim, Section, added, by_rank, claims_tables, numbers
from gainful_papers.jarvelin2008.session_experiment import (
    PAPER_AVERAGES,
    PAPER_QUERIES,
    PAPER_SESSIONS,
    paper_systems,
    study,
)

__all__ = ["examples", "study"]

#: G' of the appendix, and what is printed for it.
_GAINS = (3, 2, 3, 0, 0, 1, 2, 2, 3, 0)
_PRINTED_CG = (3, 5, 8, 8, 8, 9, 11, 13, 16, 16)
_PRINTED_DCG = (3, 4, 5.67, 5.67, 5.67, 6.11, 6.94, 8.14, 9.30, 9.30)
_RANKS = range(1, len(_GAINS) + 1)
#: What is printed with two places can be off by so much, twice, in a difference.
_ROUNDING = 0.0101
#: So many queries the longest session of the paper has.
_LONGEST = 11


@cache
def examples() -> tuple[Section, ...]:
    """What the paper prints of its formulas, and what it says of them; nothing of this needs data.

    >>> [section.name for section in examples()]
    ['Section 2.1', 'Section 2.2', 'Section 3', 'Section 3.1', 'Appendix']
    """
    return _rank_discount(), _query_discount(), _behaviour(), _printed_lengths(), _appendix()


def _divisors(discount: str) -> list[float]:
    measure = f"DCG(discount={discount}, base=4)"
    return [1 / parse(f"{measure}@{rank}").score([*[0] * (rank - 1), 1]) for rank in _RANKS]


def _rank_discount() -> Section:
    """The discount by rank beside that of 2002."""
    of_2002, of_2008 = map(_divisors, ("jarvelin2002", "jarvelin2008"))
    spared = [rank for rank, divisor in zip(_RANKS, of_2002, strict=True) if not divisor > 1]
    discounted = [rank for rank, divisor in zip(_RANKS, of_2008, strict=True) if divisor > 1]
    claims = (
        Claim.statement("2002", "CG up to the rank of the base", f"b = 4: at {_ranks(spared)}", spared == [1, 2, 3, 4]),
        Claim.text(
            "2008",
            "all are discounted, early ones too",
            f"those at {_ranks(discounted)}",
            "1 + log_b 1 is 1: what stands at rank 1 is not discounted",
        ),
    )
    about = "The discount by rank is not that of 2002: it begins at once and has no bend at the base."
    return Section("Section 2.1", about, claims_tables("What the paper says of both", claims))


def _ranks(ranks: Sequence[int]) -> str:
    return f"ranks {' '.join(map(str, ranks))}"


def _query_discount() -> Section:
    """Formula (1)."""
    queries = range(1, _LONGEST + 1)
    left: dict[int, list[float]] = {}
    for base in (2, 4, 10):
        measure = parse(f"sDCG(query_base={base})@1")
        assert isinstance(measure, SessionMeasure)
        left[base] = [measure.score_session([*[[]] * (number - 1), [1]]) for number in queries]
    falls = [later < sooner for values in left.values() for sooner, later in pairwise(values)]
    keeps_less = all(small < large for small, large in zip(left[2][1:], left[10][1:], strict=True))
    finds = f"{sum(falls)} of {len(falls)} below the one before", f"Q2 keeps {left[2][1]:.2f}, {left[10][1]:.2f}"
    claims = (
        Claim.statement("later queries", "progressively less valuable", finds[0], all(falls)),
        Claim.statement("bq = 2, bq = 10", "impatient, patient searchers", finds[1], keeps_less),
    )
    about = "Formula (1): what the q-th query gives is divided by 1 + log_bq q. The paper prints no numbers of it."
    return Section("Section 2.2", about, claims_tables("What the paper says of it", claims))


def _behaviour() -> Section:
    """What sections 3, 3.3 and 4 say of sessions, tried with sessions made by hand."""
    pages = [[*(f"x{i}" for i in range(above)), "a"] for above in range(10)]
    worth_more = [_score("sDCG@10", [page]) > _score("sDCG@10", [[], page]) for page in pages]
    ideal = ["a", "b", "c"]
    once, again, stopped = (_score("sDCG@10", lists) for lists in ([ideal], [ideal, ideal], [ideal, []]))
    shares = [_score("nsDCG@10", [ideal] * count) for count in range(1, _LONGEST + 1)]
    claims = (
        Claim.statement(
            "the same rank",
            "worth more in an earlier query",
            f"Q1 above Q2 at {sum(worth_more)} of {len(worth_more)} ranks",
            all(worth_more),
        ),
        Claim.statement(
            "a document that comes again",
            "counts every time",
            f"sDCG {once:.2f}, with it {again:.2f}",
            again > once,
            "repeats=first counts it once only",
        ),
        Claim.statement(
            "the ideal session",
            "the ideal list, once a query",
            f"1 to {_LONGEST} queries: nsDCG {min(shares):.4f} to {max(shares):.4f}",
            all(abs(value - 1) < 1e-12 for value in shares),
        ),
        Claim.statement(
            "the final gain",
            "does not change after stopping",
            f"sDCG {once:.2f}, after an empty page {stopped:.2f}",
            once == stopped,
            "an empty page is a query, so that nsDCG falls with it: the ideal session goes on",
        ),
    )
    about = "What sections 3, 3.3 and 4 say of sessions, on sessions that find documents of grades 3, 2 and 1."
    return Section("Section 3", about, claims_tables("What the paper says of sessions", claims))


def _score(measure: str, lists: Sequence[Sequence[str]]) -> float:
    session = Sessions.of({"session": "s", "queries": [{"results": list(each)} for each in lists]})
    return evaluate_sessions({"s": {"a": 3, "b": 2, "c": 1}}, session, measure).mean(measure)


def _printed_lengths() -> Section:
    """The averages of Table 2 from its own counts."""
    systems = paper_systems()
    claims = []
    for (name, found), average in zip(systems.items(), PAPER_AVERAGES, strict=True):
        claims.append(Claim.number(f"{name}, sessions", PAPER_SESSIONS, found.sessions, 0))
        claims.append(Claim.number(f"{name}, queries per session", average, found.average))
    claims.append(Claim.number("queries in all", PAPER_QUERIES, sum(found.queries for found in systems.values()), 0))
    misprint = Claim.text(
        "range of the base of the query discount",
        "1.5 <= b <= 10",
        "1.5 <= bq <= 10",
        "b is the base of the discount by rank, whose range stands above it; formula (1) allows 1 < bq < 1000",
    )
    return Section.of(
        "Section 3.1",
        "The paper's sessions are not public, but what its Table 2 adds up to can be checked.",
        length_tables(systems),
        claims_tables("Sums and averages of the printed counts", claims),
        claims_tables("A misprint", [misprint]),
    )


def _appendix() -> Section:
    """CG and DCG of the printed gains, and the misprints."""
    cumulated = by_rank("CG", _GAINS)
    right = by_rank("DCG(discount=jarvelin2008, base=4)", _GAINS)
    steps = zip(_RANKS, added(right), added(_PRINTED_DCG), strict=True)
    wrong = [rank for rank, step, printed in steps if abs(step - printed) > _ROUNDING]
    # What the formula says as it is printed: the whole sum divided by the discount of the last rank.
    literal = [total / divisor for total, divisor in zip(cumulated, _divisors("jarvelin2008"), strict=True)]
    claims = (
        Claim.vector("CG'", _PRINTED_CG, cumulated, 0),
        Claim.vector(
            "DCG', b = 4",
            _PRINTED_DCG,
            right,
            erratum=f"what is added at {_ranks(wrong)} is not what the formula gives, and so all later values are off",
        ),
    )
    misprints = (
        Claim.text(
            "discount in formula (2)",
            "1 + log_b i",
            "1 + log_b j",
            f"in the text at hand; j is the rank that is summed: with i G' would have {numbers(literal, 2, ' ')}, "
            "which falls where nothing is gained, and the example does not follow it",
        ),
        Claim.text(
            "reference of the original DCG and of its normalisation",
            "[9]",
            "[5]",
            "[9] is of another author; Section 4 has [5], the article of 2002",
        ),
    )
    return Section.of(
        "Appendix",
        "The example of the appendix, where it departs from its formula, and two misprints.",
        claims_tables("G' = 3 2 3 0 0 1 2 2 3 0", claims),
        claims_tables("Misprints", misprints),
    )
