"""The discussion's cases of the discount, on G'; and its claim about the base, with the lists that refute it."""

from __future__ import annotations

from gainful.measures.grammar import parse
from gainful.papers.claims import claims_tables, statement
from gainful.papers.jarvelin2002_examples import GRADES, vector
from gainful.papers.sections import Section
from gainful.render.page import Cell, Column, Table

#: The two lists of the counter-example.
EARLY, LATE = (1, 0, 0, 0), (0, 0, 0, 3)

_NO_CUT = "jarvelin2000"
_CASES = (
    ("df = 1 (CG)", "none", ""),
    ("df = i", "rank", ""),
    *(
        (f"log, b = {base}", "jarvelin2002", f", base={base}")
        for base in ("1.0001", "1.1", "1.5", "2", "e", "10", "100", "1000000")
    ),
)
_SHOWN = (1, 2, 3, 6, 7, 8, 9, 10)


def discount_section() -> Section:
    """Section 4, "Discounting Factor", as far as it needs no data."""
    about = (
        "Three cases of the discount, the base at its borders, and the remark that without the cut-off at rank b the "
        "base could not change the order of systems, which is false."
    )
    return Section("Section 4, discount", about, (*_cases(), *_refuted()))


def _cases() -> tuple[Table, ...]:
    vectors = {name: vector(f"DCG(discount={discount}{base})") for name, discount, base in _CASES}
    rows: list[tuple[Cell, ...]] = [
        (name, *(values[rank - 1] for rank in _SHOWN), values[0] / values[-1]) for name, values in vectors.items()
    ]
    columns = (
        Column("discount"),
        *(Column(str(rank), "number", 2) for rank in _SHOWN),
        Column("from rank 1", "share"),
    )
    notes = (
        "from rank 1: the part of DCG at rank 10 that the first document gives",
        "G' has no gain at ranks 4, 5 and 10",
    )
    cg, at_1 = vector("CG"), vectors["df = 1 (CG)"]
    near_1, sharp = vectors["log, b = 1.0001"], vectors["df = i"]
    two_hundred = [1] * 200
    kept = {
        base: parse(f"DCG(discount=jarvelin2002, base={base})@200").score(two_hundred) / 200 for base in (2, 10, 100)
    }
    boost = parse(f"DCG(discount={_NO_CUT}, base=10)@2").score([0, 1])
    claims = (
        statement("df = 1", "DCG = CG", f"{at_1[-1]:g} at rank 10, CG is {cg[-1]:g}", at_1 == cg),
        statement(
            "df = i",
            "a very sharp discount",
            f"{sharp[-1]:.2f} at rank 10, {100 * sum(_parts(sharp)[:3]) / sharp[-1]:.0f} % from ranks 1-3",
            sharp[-1] < vectors["log, b = 2"][-1],
        ),
        statement(
            "b approaches 1",
            "finally only the first document matters",
            f"b = 1.0001: {100 * GRADES[0] / near_1[-1]:.2f} % from rank 1",
            GRADES[0] / near_1[-1] > 0.99,
        ),
        statement(
            "b approaches infinity",
            "DCG approaches CG",
            f"b = 1000000: {vectors['log, b = 1000000'][-1]:g} at rank 10",
            vectors["log, b = 1000000"] == cg,
            "up to rank b nothing is discounted, so at rank 10 it is CG from b = 10 on",
        ),
        statement(
            "b above 100",
            "a very marginal discount",
            f"{100 * kept[100]:.1f} % of CG left at rank 200",
            kept[100] > 0.9,
            f"200 documents of equal gain; with base 10 {100 * kept[10]:.1f} %, with base 2 {100 * kept[2]:.1f} %",
        ),
        statement(
            "ranks 2 to b without the cut-off",
            "a boost instead of a discount",
            f"b = 10: rank 2 counts {boost:.2f} times",
            boost > 1,
        ),
    )
    table = Table(columns, tuple(rows), "DCG' by rank under each discount", notes)
    return (table, *claims_tables("Said of the discount", claims))


def _parts(cumulated: list[float]) -> list[float]:
    return [later - before for before, later in zip([0.0, *cumulated], cumulated, strict=False)]


def _refuted() -> tuple[Table | str, ...]:
    rows: list[tuple[Cell, ...]] = []
    orders: dict[str, set[str]] = {}
    for discount in (_NO_CUT, "burges2005"):
        for base in ("1.2", "2"):
            measure = parse(f"DCG(discount={discount}, base={base})@4")
            early, late = measure.score(EARLY), measure.score(LATE)
            better = "1 0 0 0" if early > late else "0 0 0 3"
            orders.setdefault(discount, set()).add(better)
            rows.append((discount, base, early, late, better))
    columns = (
        Column("discount"),
        Column("b"),
        Column("1 0 0 0", "number", 2),
        Column("0 0 0 3", "number", 2),
        Column("the better list"),
    )
    table = Table(columns, tuple(rows), "Two lists, the grades 1 0 0 0 and 0 0 0 3, by DCG at rank 4")
    claims = (
        statement(
            "jarvelin2000: log_b i from rank 2 on",
            "the base does not affect the order",
            "it does" if len(orders[_NO_CUT]) > 1 else "it does not",
            len(orders[_NO_CUT]) == 1,
            "a change of the base multiplies all divisors alike, except that of rank 1, which stays 1",
        ),
    )
    others = len(orders["burges2005"])
    burges = (
        "With log_b (i + 1) from rank 1 on (burges2005), which the article does not have, a change of the base "
        f"multiplies every divisor alike: here it makes {'no difference' if others == 1 else 'a difference'}."
    )
    return (table, *claims_tables("The claim about the base without the cut-off", claims), burges)
