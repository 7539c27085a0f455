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
from typing import NamedTuple

import numpy as np

from gainful.data.lists import gather, highest_gain
from gainful.errors import UsageError
from gainful.gains import Gain
from gainful.kernel.arrays import Floats, Ints
from gainful.measures.base import Graded
from gainful.measures.block import CELLS, Block
from gainful.measures.user_models import refuse_gains_above_1
from gainful.notation import number_text

_SCALED = Gain("scaled")

#: What is wanted is had, whatever its last bits are.
_ROUNDING = 1e-10

#: No user reads on for longer.
HORIZON = 1000

#: A user of INST who wants less and has only seen relevant documents would go on with a probability above 1.
_LEAST_OF_INST = 0.25


class User(NamedTuple):
    """What a model may depend on: the gain that is wanted, how much effort, a persistence, and where users end."""

    t: float = 1.0
    effort: float = 10.0
    p: float = 0.8
    end: int = HORIZON


#: The probability to go on after every rank, of lists x ranks of gains.
Continuation = Callable[[Floats, Floats, User], Floats]


def _patient(ranks: Floats, t: Floats | float) -> Floats:
    """The adaptive continuation of INSQ and INST, of a user who wants t."""
    return np.asarray(((ranks + t - 1.0) / (ranks + t)) ** 2)


def _average_precision(gains: Floats, ranks: Floats, user: User) -> Floats:
    rest = np.cumsum((gains / ranks)[:, ::-1], axis=1)[:, ::-1]
    after = np.append(rest[:, 1:], np.zeros((len(rest), 1)), axis=1)
    return np.where(rest > 0, after / np.where(rest > 0, rest, 1.0), 0.0)


def _bejewelled(gains: Floats, ranks: Floats, user: User) -> Floats:
    return ((np.cumsum(gains, axis=1) < user.t - _ROUNDING) & (ranks < user.effort)).astype(np.float64)


#: How users of every model go on. ``P``, ``AP``, ``RR`` and ``RBP`` are the measures of that name, seen so.
MODELS: Mapping[str, Continuation] = {
    "P": lambda gains, ranks, user: np.ones_like(gains),
    "AP": _average_precision,
    "RR": lambda gains, ranks, user: (np.cumsum(gains, axis=1) == 0).astype(np.float64),
    "RBP": lambda gains, ranks, user: np.full_like(gains, user.p),
    "INST": lambda gains, ranks, user: _patient(ranks, 2 * user.t - np.cumsum(gains, axis=1)),
    "INSQ": lambda gains, ranks, user: _patient(ranks, 2 * user.t) + np.zeros_like(gains),
    "BPM": _bejewelled,
    "ScaledDCG": lambda gains, ranks, user: np.log2(ranks + 1.0) / np.log2(ranks + 2.0) + np.zeros_like(gains),
    "NERR8": lambda gains, ranks, user: 1.0 - gains,
    "NERR9": lambda gains, ranks, user: ranks / (ranks + 1.0) * (1.0 - gains),
    "NERR10": lambda gains, ranks, user: user.p * (1.0 - gains),
    "NERR11": lambda gains, ranks, user: _patient(ranks, 2 * user.t) * (1.0 - gains),
}


def reached(model: str, gains: Floats, user: User) -> Floats:
    """V: the probability that every rank is reached. Nobody goes on from the last one."""
    ranks = np.arange(1.0, gains.shape[1] + 1.0)
    goes_on = MODELS[model](gains, ranks, user)
    return np.asarray(np.cumprod(np.append(np.ones((len(gains), 1)), goes_on[:, :-1], axis=1), axis=1))


class _UserModel(Graded):
    """What the measures of the family have in common: gains from 0 to 1, and a horizon.

    Conventions:
        - gains lie between 0 and 1: the grade divided by the scale, unless gain says otherwise
        - @k is the rank that nobody reads beyond; past the end of a list nothing is gained
    """

    sees_past_end = True
    gain: Gain = _SCALED
    cutoff: int | None = HORIZON

    def user(self) -> User:
        """The parameters of the model."""
        known = {"t": "T", "effort": "K", "p": "p"}
        given = {name: getattr(self, own, None) for name, own in known.items()}
        return User(**{name: value for name, value in given.items() if value is not None}, end=self.cutoff or HORIZON)

    def model_name(self) -> str:
        """Which of the models it is."""
        return self.name

    def validate(self) -> None:
        super().validate()
        wanted = self.user().t
        if self.model_name() == "INST" and wanted < _LEAST_OF_INST:
            raise UsageError(
                f"{self.name}: expected a T of at least {_LEAST_OF_INST}, found {number_text(wanted)}: with less, a "
                "user of INST who has only seen relevant documents would go on with a probability above 1"
            )

    def check(self, levels: Floats) -> None:
        super().check(levels)
        refuse_gains_above_1(self, self.gain, levels, self.rel, self.level)

    def compute(self, block: Block) -> Floats:
        user = self.user()
        lists = self._run_lists(block)
        # A few lists at a time: the horizon may be far past their ends.
        parts = np.array_split(np.arange(block.size), max(1, -(-block.size * user.end // CELLS)))
        return np.concatenate([self.value(lists.of_rows(rows).dense(user.end), user, block, rows) for rows in parts])

    @abstractmethod
    def value(self, gains: Floats, user: User, block: Block, rows: Ints) -> Floats:
        """What is measured of some lists of a block."""


def _sums(values: Floats) -> Floats:
    """The sum of every row, added from the left: it does not depend on how many rows there are."""
    return np.asarray(np.cumsum(values, axis=1)[:, -1])


class _ExpectedGain(_UserModel):
    """The gain that a look is expected to bring.

    Formula:

    The value is the sum of W(i) G[i], W(i) being the share of looks at rank i (see CWL).

    Conventions:
        - nothing relevant: 0

    Agrees with:
        cwl-eval and ir_measures {name}, where gains are grades divided by the highest
    """

    def value(self, gains: Floats, user: User, block: Block, rows: Ints) -> Floats:
        seen = reached(self.model_name(), gains, user)
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
        C(i) = log2(i + 1) / log2(i + 2) for i < k, so ScaledDCG@k = DCG@k / sum of 1 / log2(i + 1) for i = 1 to k

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


class CWL(_UserModel):
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

    def model_name(self) -> str:
        return self.model

    def user(self) -> User:
        user = super().user()
        return user._replace(p=NERR10.p) if self.model == "NERR10" and self.p is None else user

    def value(self, gains: Floats, user: User, block: Block, rows: Ints) -> Floats:
        found = self._expected(gains, user)
        return self._expected(self._at_best(gains, block, rows), user) - found if self._is_residual else found

    def _expected(self, gains: Floats, user: User) -> Floats:
        seen = reached(self.model, gains, user)
        looks, gained = _sums(seen), _sums(seen * gains)
        what = self.report.removesuffix("residual").rstrip("-") or "utility"
        return {"utility": gained / looks, "total": gained, "depth": looks, "cost": looks * self.cost_document}[what]

    @property
    def _is_residual(self) -> bool:
        return self.report.endswith("residual")

    def _at_best(self, gains: Floats, block: Block, rows: Ints) -> Floats:
        """The same lists, if all that is not judged gained as much as can be."""
        best = np.full_like(gains, highest_gain(self.gain, block.scale, self.rel, self.level))
        row, place = gather(np.append(0, np.cumsum(np.bincount(block.hits.row, minlength=block.size))), rows)
        rank = block.hits.rank[place]
        row, rank = row[rank <= gains.shape[1]], rank[rank <= gains.shape[1]]
        best[row, rank - 1] = gains[row, rank - 1]
        return best
