"""The coefficients by which two orders of the same systems can be held against each other, by name."""

from __future__ import annotations

from gainful.notation import choose
from gainful.stats.agreement import pearson, rbo, tau_ap_b
from gainful.stats.measure_agreement import Coefficient, kendall_tau

#: What they are called where people read them.
SYMMETRIC = {"tau_b": "tau-b", "tau_ap_b": "tau_AP,b", "rbo": "RBO", "pearson": "Pearson"}


def coefficient_of(name: str) -> Coefficient:
    """The coefficient of a name: all are the same both ways, and allow ties.

    >>> round(coefficient_of("tau_b")([3, 2, 1], [2, 3, 1]), 4)
    0.3333
    """
    known: dict[str, Coefficient] = {"tau_b": kendall_tau, "tau_ap_b": tau_ap_b, "rbo": rbo, "pearson": pearson}
    return known[choose(name, known, "coefficient")]
