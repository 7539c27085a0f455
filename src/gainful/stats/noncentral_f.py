"""The noncentral F distribution, as a mixture: scipy's is not the same in all versions that gainful allows."""

from __future__ import annotations

import math

import numpy as np

_REACH = 12  # standard deviations of the mixing distribution on either side: the rest is below 1e-15


def noncentral_f_above(f: float, df: float, df_against: float, noncentrality: float) -> float:
    """The chance that a noncentral F is above ``f``.

    The sum over j of Poisson(j; noncentrality / 2) times the chance of a beta(df / 2 + j, df_against / 2) variable to
    be above df f / (df f + df_against).

    >>> round(noncentral_f_above(4.0, 1, 49, 0.0), 6), round(noncentral_f_above(4.0, 1, 49, 9.0), 2)
    (0.051059, 0.84)
    """
    from scipy.special import betaincc, gammaln

    half = noncentrality / 2
    around = _REACH * (math.sqrt(half) + 1)
    j = np.arange(max(0, math.floor(half - around)), math.ceil(half + around) + 1)
    log_weight = j * math.log(half) - half - gammaln(j + 1) if half else np.where(j == 0, 0.0, -np.inf)
    weight = np.exp(log_weight - log_weight.max())  # far out the logarithms are so large that their last digits matter
    below = df * f / (df * f + df_against)
    return min(1.0, math.fsum(weight * betaincc(df / 2 + j, df_against / 2, below)) / math.fsum(weight))
