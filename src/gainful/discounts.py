"""Discounts: the divisor of a gain at every rank."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from gainful.errors import UsageError
from gainful.kernel.arrays import Floats
from gainful.notation import choose, number_text, read_number

#: A base of logarithms: a number above 1, or ``e``.
Base = float | str


class Discount(NamedTuple):
    """The divisor at rank j as a formula, with its source."""

    formula: str
    source: str
    has_base: bool = True


DISCOUNTS: Mapping[str, Discount] = {
    "burges2005": Discount("log_b(j + 1)", "Burges et al., ICML 2005; what most tools mean by nDCG"),
    "jarvelin2002": Discount("1 for j < b, else log_b j", "Järvelin and Kekäläinen, TOIS 2002, eq. 2"),
    "jarvelin2000": Discount("1 for j = 1, else log_b j", "Järvelin and Kekäläinen, SIGIR 2000, eq. 2"),
    "jarvelin2008": Discount("1 + log_b j", "Järvelin et al., ECIR 2008, appendix"),
    "rank": Discount("j", "the sharp case that the papers mention", has_base=False),
    "none": Discount("1", "no discount: DCG is CG", has_base=False),
}


def read_base(value: object, what: str = "base") -> Base:
    """Read a base from a number, its text, or ``e``.

    >>> read_base("2"), read_base("e")
    (2.0, 'e')
    """
    if value == "e":
        return "e"
    base = read_number(value, what)
    if base <= 1:
        raise UsageError(f"{what}: expected a number above 1 or e, found {number_text(base)}")
    return base


#: Other tools' names of discounts.
_ELSEWHERE: Mapping[str, str] = {
    "log log2 log10 logarithmic standard": "burges2005, log_b(j + 1), is what most tools have; jarvelin2002 is 1 for "
    "j < b, else log_b j",
    "linear reciprocal 1/rank j": "rank divides by the rank j",
    "no off constant 1": "none",
}


def read_discount(value: object, what: str = "discount") -> str:
    """Return the name of a discount; for other tools' names raise UsageError with a hint."""
    for words, meant in _ELSEWHERE.items():
        if isinstance(value, str) and value.casefold() in words.split():
            raise UsageError(f"{what}: expected {' | '.join(DISCOUNTS)}, found '{value}'", meant)
    return choose(value, DISCOUNTS, what)


def divisors(discount: str, base: Base, ranks: Floats) -> Floats:
    """Return the divisor at every rank, counted from 1.

    >>> divisors("jarvelin2002", 2, np.array([1.0, 2.0, 4.0])).tolist()
    [1.0, 1.0, 2.0]
    """
    choose(discount, DISCOUNTS, "discount")
    if discount == "burges2005":
        return logarithms(ranks + 1.0, base)
    if discount == "jarvelin2008":
        return 1.0 + logarithms(ranks, base)
    if discount == "rank":
        return ranks
    if discount == "none":
        return np.ones_like(ranks)
    first = 2.0 if discount == "jarvelin2000" else (math.e if base == "e" else float(base))
    return np.where(ranks < first, 1.0, logarithms(ranks, base))


def logarithms(values: Floats, base: Base) -> Floats:
    """Return logarithms to a base."""
    # Special functions for some bases are exact at powers of the base.
    if base == "e":
        return np.log(values)
    if base == 2:
        return np.log2(values)
    if base == 10:
        return np.log10(values)
    return np.log(values) / math.log(float(base))
