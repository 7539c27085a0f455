"""K. Järvelin, S. L. Price, L. M. L. Delcambre and M. Lykke Nielsen: Discounted cumulated gain based evaluation of
multiple-query IR sessions. ECIR 2008, 4-15.
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

#: G' of the appendix, and its printed vectors.
_GAINS = (3, 2, 3, 0, 0, 1, 2, 2, 3, 0)
_PRINTED_CG = (3, 5, 8, 8, 8, 9, 11, 13, 16, 16)
_PRINTED_DCG = (3, 4, 5.67, 5.67, 5.67, 6.11, 6.94, 8.14, 9.30, 9.30)
_RANKS = range(1, len(_GAINS) + 1)
#: Tolerance for a difference between two values that are printed with two places.
_ROUNDING = 0.0101
#: Queries in the paper's longest session.
_LONGEST = 11


@cache
def examples() -> tuple[Section, ...]:
    """Check the formulas' printed examples, and statements about them that need no data.

    >>> [section.name for section in examples()]
    ['Section 2.1', 'Section 2.2', 'Section 3', 'Section 3.1', 'Appendix']
    """
    return _rank_discount(), _query_discount(), _behaviour(), _printed_lengths(), _appendix()


def _divisors(discount: str) -> list[float]:
    measure = f"DCG(discount={discount}, base=4)"
    return [1 / parse(f"{measure}@{rank}").score([*[0] * (rank - 1), 1]) for rank in _RANKS]


def _rank_discount() -> Section:
    of_2002, of_2008 = map(_divisors, ("jarvelin2002", "jarvelin2008"))
    spared = [rank for rank, divisor in zip(_RANKS, of_2002, strict=True) if not divisor > 1]
    discounted = [rank for rank, divisor in zip(_RANKS, of_2008, strict=True) if divisor > 1]
    claims = (
        Claim.statement("2002", "CG up to the rank of the base", f"b = 4: at {_ranks(spared)}", spared == [1, 2, 3, 4]),
        Claim.text(
            "2008",
            "all are discounted, early ones too",
            f"only {_ranks(discounted)}",
            "1 + log_b 1 is 1, so rank 1 is not discounted",
        ),
    )
    about = "The discount by rank differs from that of 2002: it starts at rank 2, whatever the base."
    return Section("Section 2.1", about, claims_tables("Statements about both", claims))


def _ranks(ranks: Sequence[int]) -> str:
    return f"ranks {' '.join(map(str, ranks))}"


def _query_discount() -> Section:
    queries = range(1, _LONGEST + 1)
    left: dict[int, list[float]] = {}
    for base in (2, 4, 10):
        measure = parse(f"sDCG(query_base={base})@1")
        assert isinstance(measure, SessionMeasure)
        left[base] = [measure.score_session([*[[]] * (number - 1), [1]]) for number in queries]
    falls = [later < sooner for values in left.values() for sooner, later in pairwise(values)]
    keeps_less = all(small < large for small, large in zip(left[2][1:], left[10][1:], strict=True))
    finds = f"{sum(falls)} of {len(falls)} below the previous one", f"Q2 keeps {left[2][1]:.2f}, {left[10][1]:.2f}"
    claims = (
        Claim.statement("later queries", "progressively less valuable", finds[0], all(falls)),
        Claim.statement("bq = 2, bq = 10", "impatient, patient searchers", finds[1], keeps_less),
    )
    about = "Formula (1): the gain of the q-th query is divided by 1 + log_bq q. The paper prints no numbers for it."
    return Section("Section 2.2", about, claims_tables("Statements about the query discount", claims))


def _behaviour() -> Section:
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
            "a repeated document",
            "counts every time",
            f"sDCG {once:.2f}, repeated {again:.2f}",
            again > once,
            "repeats=first counts only the first occurrence",
        ),
        Claim.statement(
            "the ideal session",
            "the ideal list for every query",
            f"1 to {_LONGEST} queries: nsDCG {min(shares):.4f} to {max(shares):.4f}",
            all(abs(value - 1) < 1e-12 for value in shares),
        ),
        Claim.statement(
            "the final gain",
            "does not change after stopping",
            f"sDCG {once:.2f}, after an empty page {stopped:.2f}",
            once == stopped,
            "an empty page is a query, so nsDCG decreases: the ideal session continues",
        ),
    )
    about = "Statements of sections 3, 3.3 and 4, checked on sessions that find documents of grades 3, 2 and 1."
    return Section("Section 3", about, claims_tables("Statements about sessions", claims))


def _score(measure: str, lists: Sequence[Sequence[str]]) -> float:
    session = Sessions.of({"session": "s", "queries": [{"results": list(each)} for each in lists]})
    return evaluate_sessions({"s": {"a": 3, "b": 2, "c": 1}}, session, measure).mean(measure)


def _printed_lengths() -> Section:
    systems = paper_systems()
    claims = []
    for (name, found), average in zip(systems.items(), PAPER_AVERAGES, strict=True):
        claims.append(Claim.number(f"{name}, sessions", PAPER_SESSIONS, found.sessions, 0))
        claims.append(Claim.number(f"{name}, queries per session", average, found.average))
    claims.append(Claim.number("total queries", PAPER_QUERIES, sum(found.queries for found in systems.values()), 0))
    misprint = Claim.text(
        "range of the base of the query discount",
        "1.5 <= b <= 10",
        "1.5 <= bq <= 10",
        "b is the base of the discount by rank, whose range is given before; formula (1) allows 1 < bq < 1000",
    )
    return Section.of(
        "Section 3.1",
        "The paper's sessions are not public, but the sums and averages of its Table 2 can be checked.",
        length_tables(systems),
        claims_tables("Sums and averages of the printed counts", claims),
        claims_tables("A misprint", [misprint]),
    )


def _appendix() -> Section:
    cumulated = by_rank("CG", _GAINS)
    right = by_rank("DCG(discount=jarvelin2008, base=4)", _GAINS)
    steps = zip(_RANKS, added(right), added(_PRINTED_DCG), strict=True)
    wrong = [rank for rank, step, printed in steps if abs(step - printed) > _ROUNDING]
    # The formula as printed: the whole sum divided by the discount of the last rank.
    literal = [total / divisor for total, divisor in zip(cumulated, _divisors("jarvelin2008"), strict=True)]
    claims = (
        Claim.vector("CG'", _PRINTED_CG, cumulated, 0),
        Claim.vector(
            "DCG', b = 4",
            _PRINTED_DCG,
            right,
            erratum=f"the increments at {_ranks(wrong)} do not follow the formula, so all later values are wrong",
        ),
    )
    misprints = (
        Claim.text(
            "discount in formula (2)",
            "1 + log_b i",
            "1 + log_b j",
            f"in the available text; j is the summation index: with i, G' would have {numbers(literal, 2, ' ')}, "
            "which decreases where nothing is gained and differs from the example",
        ),
        Claim.text(
            "reference for the original DCG and its normalisation",
            "[9]",
            "[5]",
            "[9] is by other authors; Section 4 cites [5], the article of 2002",
        ),
    )
    return Section.of(
        "Appendix",
        "The example of the appendix, its deviations from the formula, and two misprints.",
        claims_tables("G' = 3 2 3 0 0 1 2 2 3 0", claims),
        claims_tables("Misprints", misprints),
    )
