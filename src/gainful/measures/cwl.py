"""C/W/L: a user model is a continuation probability at each rank, from which all else follows.

C(i) is the probability of continuing from rank i to i + 1, given the documents seen so far. So rank i is reached with
probability V(i) = C(1) * ... * C(i - 1) and has weight W(i) = V(i) / sum of V. Expected gain per document, total gain,
depth, cost, and their residuals are sums over ranks with these (A. Moffat, P. Bailey, F. Scholer and P. Thomas,
Incorporating user expectations and behavior into the measurement of search effectiveness, TOIS 35(3), 2017).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import cast

import numpy as np

from gainful.data.lists import gather, highest_gain
from gainful.errors import UsageError
from gainful.gains import Gain
from gainful.kernel.arrays import Floats, Ints
from gainful.measures.base import SCALED, Graded
from gainful.measures.block import CELLS, Block
from gainful.measures.user_models import refuse_gains_above_1
from gainful.notation import number_text

#: Tolerance for reaching the wanted gain despite rounding.
_ROUNDING = 1e-10

#: The default rank at which all users stop.
HORIZON = 1000

#: Below this T, INST's continuation probability exceeds 1 if all documents seen are relevant.
_LEAST_OF_INST = 0.25


#: Maps gains (lists x ranks), ranks and a measure's parameters to continuation probabilities.
Continuation = Callable[[Floats, Floats, "UserModel"], Floats]


class UserModel(Graded):
    """Base of the C/W/L measures: gains from 0 to 1, and a horizon.

    Conventions:
        - gains are between 0 and 1: by default the grade divided by the scale
        - @k is the last rank that anyone reads; ranks past the end of a list have gain 0
    """

    sees_past_end = True
    gain: Gain = SCALED
    cutoff: int | None = HORIZON

    # The wanted gain, the maximum effort and the persistence, for models that have them.
    T, K, p = 1.0, 10.0, cast("float | None", None)

    @property
    def model(self) -> str:
        """The name of the model."""
        return self.name

    @property
    def persistence(self) -> float:
        """The continuation probability of models that have a constant one."""
        return self.p if self.p is not None else 0.9 if self.model == "NERR10" else 0.8

    def reached(self, gains: Floats) -> Floats:
        """Return V, the probability of reaching each rank; all users stop at the last one."""
        goes_on = MODELS[self.model](gains, np.arange(1.0, gains.shape[1] + 1.0), self)
        return np.asarray(np.cumprod(np.append(np.ones((len(gains), 1)), goes_on[:, :-1], axis=1), axis=1))

    def validate(self) -> None:
        super().validate()
        if self.model == "INST" and self.T < _LEAST_OF_INST:
            raise UsageError(
                f"{self.name}: T: expected at least {_LEAST_OF_INST}, found {number_text(self.T)}",
                "with less, the continuation probability exceeds 1 if all documents seen are relevant",
            )

    def check(self, levels: Floats) -> None:
        super().check(levels)
        refuse_gains_above_1(self, self.gain, levels, self.rel, self.level)

    def compute(self, block: Block) -> Floats:
        lists, end = self._run_lists(block), self.cutoff or HORIZON
        # Few lists at a time, because the horizon may be far past their ends.
        parts = np.array_split(np.arange(block.size), max(1, -(-block.size * end // CELLS)))
        return np.concatenate([self.value(lists.of_rows(rows).dense(end), block, rows) for rows in parts])

    @abstractmethod
    def value(self, gains: Floats, block: Block, rows: Ints) -> Floats:
        """Return the scores of some rows of a block."""


def _patient(ranks: Floats, t: Floats | float) -> Floats:
    """Return the adaptive continuation probability of INSQ and INST."""
    return np.asarray(((ranks + t - 1.0) / (ranks + t)) ** 2)


def _average_precision(gains: Floats, ranks: Floats, user: UserModel) -> Floats:
    rest = np.cumsum((gains / ranks)[:, ::-1], axis=1)[:, ::-1]
    after = np.append(rest[:, 1:], np.zeros((len(rest), 1)), axis=1)
    return np.where(rest > 0, after / np.where(rest > 0, rest, 1.0), 0.0)


#: The continuation probability of each model; ``P``, ``AP``, ``RR`` and ``RBP`` reproduce the measures of that name.
MODELS: Mapping[str, Continuation] = {
    "P": lambda gains, ranks, user: np.ones_like(gains),
    "AP": _average_precision,
    "RR": lambda gains, ranks, user: (np.cumsum(gains, axis=1) == 0).astype(np.float64),
    "RBP": lambda gains, ranks, user: np.full_like(gains, user.persistence),
    "INST": lambda gains, ranks, user: _patient(ranks, 2 * user.T - np.cumsum(gains, axis=1)),
    "INSQ": lambda gains, ranks, user: _patient(ranks, 2 * user.T) + np.zeros_like(gains),
    "BPM": lambda gains, ranks, user: np.where(ranks < user.K, np.cumsum(gains, axis=1) < user.T - _ROUNDING, 0.0),
    "ScaledDCG": lambda gains, ranks, user: np.log2(ranks + 1.0) / np.log2(ranks + 2.0) + np.zeros_like(gains),
    "NERR8": lambda gains, ranks, user: 1.0 - gains,
    "NERR9": lambda gains, ranks, user: ranks / (ranks + 1.0) * (1.0 - gains),
    "NERR10": lambda gains, ranks, user: user.persistence * (1.0 - gains),
    "NERR11": lambda gains, ranks, user: _patient(ranks, 2 * user.T) * (1.0 - gains),
}


def _sums(values: Floats) -> Floats:
    """Sum each row from the left, so that the result does not depend on the number of rows."""
    return np.asarray(np.cumsum(values, axis=1)[:, -1])


class _ExpectedGain(UserModel):
    """Base of the measures of expected gain per document.

    Formula:

    The value is the sum of W(i) G[i], where W(i) is the weight of rank i (see CWL).

    Conventions:
        - no relevant documents: 0

    Agrees with:
        cwl-eval and ir_measures {name}, with gains = grades / highest grade
    """

    def value(self, gains: Floats, block: Block, rows: Ints) -> Floats:
        seen = self.reached(gains)
        return np.asarray(_sums(seen * gains) / _sums(seen))


class INST(_ExpectedGain, takes="T"):
    """INST: expected gain per document of a user who wants gain T and adapts as it is found.

    Formula:
        C(i) = ((i + 2T - CG[i] - 1) / (i + 2T - CG[i]))^2

    Conventions:
        - T is at least 0.25: with less, C(i) would exceed 1 if all documents seen are relevant

    Reference:
        Moffat, Bailey, Scholer and Thomas, INST: an adaptive metric for information retrieval evaluation, ADCS 2015

    Example:
        Two ranks and T = 1, a relevant document at rank 1: C(1) = (1/2)^2, so 1 / (1 + 1/4).

        >>> gainful.parse("INST@2").score([1, 0])
        0.8
    """

    name = "INST"


class INSQ(_ExpectedGain, takes="T"):
    """INSQ: expected gain per document of a user who wants gain T and grows more patient with rank.

    Formula:
        C(i) = ((i + 2T - 1) / (i + 2T))^2

    Reference:
        Moffat, Scholer and Thomas, Models and metrics: IR evaluation as a user process, ADCS 2012

    Example:
        Two ranks and T = 1, a relevant document at rank 1: C(1) = (2/3)^2, so 1 / (1 + 4/9).

        >>> round(gainful.parse("INSQ@2").score([1, 0]), 4)
        0.6923
    """

    name = "INSQ"


class BPM(_ExpectedGain, takes="T K"):
    """Bejeweled player model: mean gain down to the rank where a user has gained T or read K documents.

    Formula:
        C(i) = 1 while CG[i] < T and i < K, then 0

    Conventions:
        - static BPM: T and K are constant

    Reference:
        Zhang, Liu, Li, Zhang, Xu and Ma, Evaluating web search with a bejeweled player model, SIGIR 2017

    Example:
        The user wants a gain of 1 and has it at rank 2: (0 + 1) / 2.

        >>> gainful.parse("BPM(T=1, K=10)").score([0, 1, 1])
        0.5
    """

    name = "BPM"


class ScaledDCG(_ExpectedGain):
    """Scaled DCG: expected gain per document if attention decays like the discount of DCG.

    Formula:
        C(i) = log2(i + 1) / log2(i + 2), i < k; so ScaledDCG@k = DCG@k / (sum over i <= k of 1 / log2(i + 1))

    Conventions:
        - no ideal list: only k documents of the highest grade score 1

    Reference:
        Järvelin and Kekäläinen, TOIS 2002, scaled as in Moffat et al., TOIS 2017

    Example:
        Two ranks, a relevant document at rank 1: 1 / (1 + 1/log2(3)).

        >>> round(gainful.parse("ScaledDCG@2").score([1, 0]), 4)
        0.6131
    """

    name = "ScaledDCG"
    needs_at = True
    cutoff: int | None = None


class _NearlyERR(_ExpectedGain):
    """Base of the measures of a user whom a document satisfies with probability G.

    Reference:
        Azzopardi, Mackenzie and Moffat, ERR is not C/W/L, ICTIR 2021
    """


class NERR8(_NearlyERR):
    """Not (but nearly) ERR, equation 8: expected gain per document of a user who stops with probability G.

    Formula:
        C(i) = 1 - G[i] for i < k

    Example:
        Grade 1 of 2 at both ranks: (1/2 + 1/2 * 1/2) / (1 + 1/2).

        >>> gainful.parse("NERR8@2").score([1, 1], scale=2)
        0.5
    """

    name = "NERR8"
    needs_at = True
    cutoff: int | None = None


class NERR9(_NearlyERR):
    """Not (but nearly) ERR, equation 9: as NERR8, with patience that also decays as 1/rank.

    Formula:
        C(i) = i / (i + 1) * (1 - G[i]) for i < k

    Example:
        Nothing at rank 1, grade 2 of 2 at rank 2: 1/2 / (1 + 1/2).

        >>> round(gainful.parse("NERR9@2").score([0, 2]), 4)
        0.3333
    """

    name = "NERR9"
    needs_at = True
    cutoff: int | None = None


class NERR10(_NearlyERR):
    """Not (but nearly) ERR, equation 10: as NERR8, for a user who also gives up with probability 1 - p at each rank.

    Formula:
        C(i) = p (1 - G[i])

    Example:
        Two ranks and p = 0.5, grade 2 of 2 at rank 2: 1/2 / (1 + 1/2).

        >>> round(gainful.parse("NERR10(p=0.5)@2").score([0, 2]), 4)
        0.3333
    """

    name = "NERR10"
    p: float = 0.9


class NERR11(_NearlyERR, takes="T"):
    """Not (but nearly) ERR, equation 11: as NERR8, with the patience of INSQ.

    Formula:
        C(i) = ((i + 2T - 1) / (i + 2T))^2 * (1 - G[i])

    Example:
        Two ranks and T = 1, grade 2 of 2 at rank 2: 4/9 / (1 + 4/9).

        >>> round(gainful.parse("NERR11@2").score([0, 2]), 4)
        0.3077
    """

    name = "NERR11"


class CWL(UserModel, takes="model report T K p cost_document"):
    """Expectations of a C/W/L user model: gain per document, total gain, depth, cost, and their residuals.

    Formula:
        utility = sum of W(i) G[i]          W(i) = V(i) / sum of V
        total = sum of V(i) G[i]            V(i) = C(1) * ... * C(i - 1)
        depth = sum of V(i)                 cost = depth * cost_document
        residual = utility if unjudged documents had the highest gain - utility; likewise for the others

    C(i) is the probability of continuing from rank i to i + 1, set by model: P (always 1), AP (in proportion to the
    rest of the list), RR (until a relevant document), RBP (p), or INST, INSQ, BPM, ScaledDCG, NERR8 to NERR11.

    Conventions:
        - for residuals, ranks past the end of a list count as unjudged
        - T, K and p (RBP, NERR10) are parameters of the model; models without them ignore them
        - depth-residual and cost-residual are negative if users who find more stop earlier
        - no relevant documents: 0 for utility and total

    Agrees with:
        - with binary gains, P@k, RR@k, and AP if all relevant documents are retrieved
        - RBP@k / (1 - p^k), because weights sum to 1 over k ranks; at the default of 1000 ranks it is RBP
        - with report=residual, (RBPResidual@k - p^k) / (1 - p^k) for a highest gain of 1
        - cwl-eval's EU and ED, and their residuals
    Differs from:
        cwl-eval's total utility and cost, which ignore users who reach the last rank

    Reference:
        Moffat et al., Incorporating user expectations and behavior into the measurement of search effectiveness, TOIS
        35(3), 2017

    Example:
        Under the RR model, the user reads two documents.

        >>> gainful.parse("CWL(model=RR, report=depth)").score([0, 1, 1])
        2.0
    """

    name = "CWL"
    better = "neither"
    bounds = (-math.inf, math.inf)
    meanings = {
        "p": "continuation probability of RBP (0.8 by default) and NERR10 (0.9)",
        "cutoff": "`@k`: the last rank that users read",
    }
    model = "RBP"
    report = "utility"
    cost_document = 1.0

    def value(self, gains: Floats, block: Block, rows: Ints) -> Floats:
        found = self._expected(gains)
        if not self.report.endswith("residual"):
            return found
        # The same lists, with the highest gain for unjudged documents.
        best = np.full_like(gains, highest_gain(self.gain, block.scale, self.rel, self.level))
        row, place = gather(np.append(0, np.cumsum(np.bincount(block.hits.row, minlength=block.size))), rows)
        rank = block.hits.rank[place]
        row, rank = row[rank <= gains.shape[1]], rank[rank <= gains.shape[1]]
        best[row, rank - 1] = gains[row, rank - 1]
        return self._expected(best) - found

    def _expected(self, gains: Floats) -> Floats:
        seen = self.reached(gains)
        looks, gained = _sums(seen), _sums(seen * gains)
        what = self.report.removesuffix("residual").rstrip("-") or "utility"
        return {"utility": gained / looks, "total": gained, "depth": looks, "cost": looks * self.cost_document}[what]
