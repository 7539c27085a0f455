"""C/W/L: a user is a probability to go on after every rank, and all else follows from it.

C(i) is the probability to go on from rank i to rank i + 1, given what was seen by then. So rank i is reached with
probability V(i) = C(1) * ... * C(i - 1), and has the share W(i) = V(i) / sum of V of all looks. Gain per look, gain in
all, depth, cost, and what unjudged documents could change are sums over ranks with these (A. Moffat, P. Bailey, F.
Scholer and P. Thomas, Incorporating user expectations and behavior into the measurement of search effectiveness, TOIS
35(3), 2017).
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

#: What is wanted is had, whatever its last bits are.
_ROUNDING = 1e-10

#: No user reads on for longer.
HORIZON = 1000

#: A user of INST who wants less and has only seen relevant documents would go on with a probability above 1.
_LEAST_OF_INST = 0.25


#: The probability to go on after every rank, of lists x ranks of gains, for a user with the parameters of a measure.
Continuation = Callable[[Floats, Floats, "UserModel"], Floats]


class UserModel(Graded):
    """What the measures of the family have in common: gains from 0 to 1, and a horizon.

    Conventions:
        - gains lie between 0 and 1: the grade divided by the scale, unless gain says otherwise
        - @k is the rank that nobody reads beyond; past the end of a list nothing is gained
    """

    sees_past_end = True
    gain: Gain = SCALED
    cutoff: int | None = HORIZON

    # The gain that is wanted, the most effort, and a persistence, of models that have them.
    T, K, p = 1.0, 10.0, cast("float | None", None)

    @property
    def model(self) -> str:
        """Which of the models it is."""
        return self.name

    @property
    def persistence(self) -> float:
        """The probability to go on where it is the same at all ranks."""
        return self.p if self.p is not None else 0.9 if self.model == "NERR10" else 0.8

    def reached(self, gains: Floats) -> Floats:
        """V: the probability that every rank is reached. Nobody goes on from the last one."""
        goes_on = MODELS[self.model](gains, np.arange(1.0, gains.shape[1] + 1.0), self)
        return np.asarray(np.cumprod(np.append(np.ones((len(gains), 1)), goes_on[:, :-1], axis=1), axis=1))

    def validate(self) -> None:
        super().validate()
        if self.model == "INST" and self.T < _LEAST_OF_INST:
            raise UsageError(
                f"{self.name}: expected a T of at least {_LEAST_OF_INST}, found {number_text(self.T)}: with less, a "
                "user of INST who has only seen relevant documents would go on with a probability above 1"
            )

    def check(self, levels: Floats) -> None:
        super().check(levels)
        refuse_gains_above_1(self, self.gain, levels, self.rel, self.level)

    def compute(self, block: Block) -> Floats:
        lists, end = self._run_lists(block), self.cutoff or HORIZON
        # A few lists at a time: the horizon may be far past their ends.
        parts = np.array_split(np.arange(block.size), max(1, -(-block.size * end // CELLS)))
        return np.concatenate([self.value(lists.of_rows(rows).dense(end), block, rows) for rows in parts])

    @abstractmethod
    def value(self, gains: Floats, block: Block, rows: Ints) -> Floats:
        """What is measured of some lists of a block."""


def _patient(ranks: Floats, t: Floats | float) -> Floats:
    """The adaptive continuation of INSQ and INST, of a user who wants t."""
    return np.asarray(((ranks + t - 1.0) / (ranks + t)) ** 2)


def _average_precision(gains: Floats, ranks: Floats, user: UserModel) -> Floats:
    rest = np.cumsum((gains / ranks)[:, ::-1], axis=1)[:, ::-1]
    after = np.append(rest[:, 1:], np.zeros((len(rest), 1)), axis=1)
    return np.where(rest > 0, after / np.where(rest > 0, rest, 1.0), 0.0)


def _bejewelled(gains: Floats, ranks: Floats, user: UserModel) -> Floats:
    return ((np.cumsum(gains, axis=1) < user.T - _ROUNDING) & (ranks < user.K)).astype(np.float64)


#: How users of every model go on. ``P``, ``AP``, ``RR`` and ``RBP`` are the measures of that name, seen so.
MODELS: Mapping[str, Continuation] = {
    "P": lambda gains, ranks, user: np.ones_like(gains),
    "AP": _average_precision,
    "RR": lambda gains, ranks, user: (np.cumsum(gains, axis=1) == 0).astype(np.float64),
    "RBP": lambda gains, ranks, user: np.full_like(gains, user.persistence),
    "INST": lambda gains, ranks, user: _patient(ranks, 2 * user.T - np.cumsum(gains, axis=1)),
    "INSQ": lambda gains, ranks, user: _patient(ranks, 2 * user.T) + np.zeros_like(gains),
    "BPM": _bejewelled,
    "ScaledDCG": lambda gains, ranks, user: np.log2(ranks + 1.0) / np.log2(ranks + 2.0) + np.zeros_like(gains),
    "NERR8": lambda gains, ranks, user: 1.0 - gains,
    "NERR9": lambda gains, ranks, user: ranks / (ranks + 1.0) * (1.0 - gains),
    "NERR10": lambda gains, ranks, user: user.persistence * (1.0 - gains),
    "NERR11": lambda gains, ranks, user: _patient(ranks, 2 * user.T) * (1.0 - gains),
}


def _sums(values: Floats) -> Floats:
    """The sum of every row, added from the left: it does not depend on how many rows there are."""
    return np.asarray(np.cumsum(values, axis=1)[:, -1])


class _ExpectedGain(UserModel):
    """The gain that a look is expected to bring.

    Formula:

    The value is the sum of W(i) G[i], W(i) being the share of looks at rank i (see CWL).

    Conventions:
        - nothing relevant: 0

    Agrees with:
        cwl-eval and ir_measures {name}, where gains are grades divided by the highest
    """

    def value(self, gains: Floats, block: Block, rows: Ints) -> Floats:
        seen = self.reached(gains)
        return np.asarray(_sums(seen * gains) / _sums(seen))


class INST(_ExpectedGain):
    """INST: the gain a look brings to a user who wants T of it, and goes on the longer the more is missing.

    Formula:
        C(i) = ((i + 2T - CG[i] - 1) / (i + 2T - CG[i]))^2

    Conventions:
        - T is at least 0.25: with less, C(i) would be above 1 where all that was seen is relevant

    Reference:
        Moffat, Bailey, Scholer and Thomas, INST: an adaptive metric for information retrieval evaluation, ADCS 2015

    Example:
        Two ranks and T = 1, relevant at rank 1: C(1) = (1/2)^2, so 1 / (1 + 1/4).

        >>> from gainful import parse
        >>> parse("INST@2").score([1, 0])
        0.8
    """

    name = "INST"
    T: float = 1.0


class INSQ(_ExpectedGain):
    """INSQ: the gain a look brings to a user who wants T of it, and is the more patient the further down they are.

    Formula:
        C(i) = ((i + 2T - 1) / (i + 2T))^2

    Reference:
        Moffat, Scholer and Thomas, Models and metrics: IR evaluation as a user process, ADCS 2012

    Example:
        Two ranks and T = 1, relevant at rank 1: C(1) = (2/3)^2, so 1 / (1 + 4/9).

        >>> from gainful import parse
        >>> round(parse("INSQ@2").score([1, 0]), 4)
        0.6923
    """

    name = "INSQ"
    T: float = 1.0


class BPM(_ExpectedGain):
    """Bejeweled player model: the mean gain down to where a user has enough of it, or has spent the effort.

    Formula:
        C(i) = 1 while CG[i] < T and i < K, then 0

    Conventions:
        - static: neither T nor K changes on the way

    Reference:
        Zhang, Liu, Li, Zhang, Xu and Ma, Evaluating web search with a bejeweled player model, SIGIR 2017

    Example:
        The user wants 1 and has it at rank 2: (0 + 1) / 2.

        >>> from gainful import parse
        >>> parse("BPM(T=1, K=10)").score([0, 1, 1])
        0.5
    """

    name = "BPM"
    T: float = 1.0
    K: float = 10.0


class ScaledDCG(_ExpectedGain):
    """Scaled DCG: the gain a look brings if looks fall with rank as the discount of DCG does.

    Formula:
        C(i) = log2(i + 1) / log2(i + 2), i < k; so ScaledDCG@k = DCG@k / (sum over i <= k of 1 / log2(i + 1))

    Conventions:
        - takes no ideal list: 1 needs k documents of the highest grade

    Reference:
        Järvelin and Kekäläinen, TOIS 2002, scaled as in Moffat et al., TOIS 2017

    Example:
        Two ranks, relevant at rank 1: 1 / (1 + 1/log2(3)).

        >>> from gainful import parse
        >>> round(parse("ScaledDCG@2").score([1, 0]), 4)
        0.6131
    """

    name = "ScaledDCG"
    needs_at = True
    cutoff: int | None = None


class _NearlyERR(_ExpectedGain):
    """Models of a user whom a document satisfies with probability G.

    Reference:
        Azzopardi, Mackenzie and Moffat, ERR is not C/W/L, ICTIR 2021
    """


class NERR8(_NearlyERR):
    """Not (but nearly) ERR: the gain a look brings to a user whom a document satisfies with probability G.

    Formula:
        C(i) = 1 - G[i] for i < k

    Example:
        Grade 1 of 2 at both ranks: (1/2 + 1/2 * 1/2) / (1 + 1/2).

        >>> from gainful import parse
        >>> parse("NERR8@2").score([1, 1], scale=2)
        0.5
    """

    name = "NERR8"
    needs_at = True
    cutoff: int | None = None


class NERR9(_NearlyERR):
    """Not (but nearly) ERR: as NERR8, for a user who also loses patience as 1/rank does.

    Formula:
        C(i) = i / (i + 1) * (1 - G[i]) for i < k

    Example:
        Nothing at rank 1, grade 2 of 2 at rank 2: 1/2 / (1 + 1/2).

        >>> from gainful import parse
        >>> round(parse("NERR9@2").score([0, 2]), 4)
        0.3333
    """

    name = "NERR9"
    needs_at = True
    cutoff: int | None = None


class NERR10(_NearlyERR):
    """Not (but nearly) ERR: as NERR8, for a user who also gives up with probability 1 - p after every rank.

    Formula:
        C(i) = p (1 - G[i])

    Example:
        Two ranks and p = 0.5, grade 2 of 2 at rank 2: 1/2 / (1 + 1/2).

        >>> from gainful import parse
        >>> round(parse("NERR10(p=0.5)@2").score([0, 2]), 4)
        0.3333
    """

    name = "NERR10"
    p: float = 0.9


class NERR11(_NearlyERR):
    """Not (but nearly) ERR: as NERR8, for a user who is as patient as that of INSQ.

    Formula:
        C(i) = ((i + 2T - 1) / (i + 2T))^2 * (1 - G[i])

    Example:
        Two ranks and T = 1, grade 2 of 2 at rank 2: 4/9 / (1 + 4/9).

        >>> from gainful import parse
        >>> round(parse("NERR11@2").score([0, 2]), 4)
        0.3077
    """

    name = "NERR11"
    T: float = 1.0


class CWL(UserModel):
    """What a user of a C/W/L model is to expect: gain a look or in all, how deep they read, what it costs.

    Formula:
        utility = sum of W(i) G[i]          W(i) = V(i) / sum of V
        total = sum of V(i) G[i]            V(i) = C(1) * ... * C(i - 1)
        depth = sum of V(i)                 cost = depth * cost_document
        residual = utility if all that is not judged were of the highest gain - utility, and so for the others

    C(i) is the probability to go on from rank i to i + 1; model names who has it: P (always), AP (as the rest of the
    list deserves), RR (until something is found), RBP (p), and INST, INSQ, BPM, ScaledDCG, NERR8 to NERR11 as they are.

    Conventions:
        - for the residual nothing is judged past the end of a list
        - T, K and p are those of the model, p of NERR10 too; a model that has none ignores them
        - depth-residual and cost-residual are below 0 where who finds more stops earlier
        - nothing relevant: 0 for utility and total

    Agrees with:
        - of binary gains P@k, RR@k, and AP where all relevant documents are retrieved
        - RBP@k / (1 - p^k), because all looks end at rank k: at the 1000 ranks of the default that is RBP
        - with report=residual (RBPResidual@k - p^k) / (1 - p^k), for a highest gain of 1
        - cwl-eval's EU and ED, and their residuals
    Differs from:
        cwl-eval's total utility and cost, in which who reaches the last rank counts for nothing

    Reference:
        Moffat, Bailey, Scholer and Thomas, Incorporating user expectations and behavior into the measurement of search
        effectiveness, TOIS 35(3), 2017

    Example:
        A user of RR reads two documents to find one.

        >>> from gainful import parse
        >>> parse("CWL(model=RR, report=depth)").score([0, 1, 1]), parse("CWL(model=RR)").score([0, 1, 1])
        (2.0, 0.5)
    """

    name = "CWL"
    better = "neither"
    bounds = (-math.inf, math.inf)
    meanings = {
        "p": "the probability with which the user of RBP or NERR10 goes on: 0.8 and 0.9 unless given",
        "cutoff": "`@k`: nobody reads on from rank k",
    }
    model: str = "RBP"
    report: str = "utility"
    T: float = 1.0
    K: float = 10.0
    p: float | None = None
    cost_document: float = 1.0

    def value(self, gains: Floats, block: Block, rows: Ints) -> Floats:
        found = self._expected(gains)
        if not self.report.endswith("residual"):
            return found
        # The same lists, if all that is not judged gained as much as can be.
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
