"""Models of a user who reads down a list: rank-biased precision, cascade models, and readers of known texts.

In rank-biased precision the continuation probability is fixed; in a cascade it falls with the document's grade. Gain of
a reader falls with the time or the text before it.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import cast

import numpy as np

from gainful.data.lists import (
    GainLists,
    TiedGainLists,
    gather,
    highest_gain,
    in_columns,
    is_relevant,
    ordinal_in_row,
    sum_by,
)
from gainful.errors import InputError, UsageError
from gainful.frozen import replace
from gainful.gains import Gain
from gainful.kernel.arrays import Bools, Floats, Ints
from gainful.measures.arithmetic import Arithmetic, Step, last, ranks_of
from gainful.measures.base import BINARY, Graded, Measure, OfGains
from gainful.measures.block import Block, ratios
from gainful.measures.expected import expected_cascade
from gainful.notation import number_text


def refuse_gains_above_1(measure: Measure, gain: Gain, levels: Floats, rel: float | None, level: float | None) -> None:
    """Reject judgments with a gain above 1."""
    if gain.text == "scaled":
        return
    if rel is not None or level is not None:
        levels = levels[is_relevant(levels, rel, level)]
    gains = gain.of_grades(levels, 1.0)
    if gains.max(initial=0.0) > 1:
        raise InputError(
            f"{measure}: expected gains from 0 to 1, found {number_text(gains.max())} for grade "
            f"{number_text(levels[gains.argmax()])}",
            "gain=scaled divides grades by the highest grade",
        )


class _RankBiased(OfGains, takes="p gain scale rel level unjudged cutoff"):
    p, gain = 0.8, BINARY
    scale = cast("str | None", None)

    def validate(self) -> None:
        super().validate()
        if self.scale is not None and self.gain.text == "scaled":
            message = f"{self.name}: gain=scaled divides by the scale of all judgments; scale={self.scale} conflicts"
            raise UsageError(message, "write gain=linear, scale=query")

    def check(self, levels: Floats) -> None:
        super().check(levels)
        if self.scale is None:
            refuse_gains_above_1(self, self.gain, levels, self.rel, self.level)

    def _weights(self, depth: int) -> Floats:
        """Return each rank's share of the user's attention."""
        return np.asarray((1.0 - self.p) * self.p ** np.arange(depth))


class RBP(_RankBiased):
    """Rank-biased precision: the expected gain per document of a user who continues with probability p.

    Formula:
        RBP = (1 - p) * sum over ranks i of G[i] * p^(i - 1)

    G[i] is 1 for a relevant document, else 0; with gain=scaled it is the grade divided by the scale.

    Conventions:
        - gains, and so RBP, are between 0 and 1; other gains are an error
        - ranks past the end of a list have gain 0; RBP@k stops at rank k
        - scale=query divides gains above 1 by the highest gain judged in the query
        - no relevant documents: 0

    Agrees with:
        ir_measures RBP(rel=1); trec_eval 10 rbp with p=0.9, gain=linear, scale=query (for grades 0 and 1, p=0.9)
    Differs from:
        - CWL(model=RBP)@k, whose weights sum to 1 over the first k ranks: it is RBP@k / (1 - p^k)
        - trec_eval 10 for higher grades, where the value depends on how it was compiled
        - ranx rbp, whose gains are grades, so values can exceed 1

    Reference:
        Moffat and Zobel, Rank-biased precision for measurement of retrieval effectiveness, TOIS 27(1), 2008

    Example:
        Relevant documents at ranks 1 and 3: 0.5 * (1 + 0.5^2).

        >>> gainful.parse("RBP(p=0.5)").score([2, 0, 1, 0])
        0.625
    """

    name = "RBP"

    def _lists(self, block: Block) -> GainLists:
        lists = self._run_lists(block)
        if self.scale is None:
            return lists
        ideal = block.ideal_lists(self.gain)
        highest = np.ones(block.size)
        first = ideal.rank == 1
        highest[ideal.row[first]] = np.maximum(ideal.gain[first], 1.0)
        return replace(lists, gain=lists.gain / highest[lists.row])

    def compute(self, block: Block) -> Floats:
        # Rounding must not lift a sum of shares above 1.
        return np.minimum(self._lists(block).weighted(self._weights, self.cutoff), 1.0)

    def arithmetic(self, block: Block) -> Arithmetic:
        gains = self._lists(block).dense(block.depth_to(self.cutoff))[0]
        weights = self._weights(gains.size)
        terms = gains * weights
        columns = {"gain": gains, "weight": weights, "gain * weight": terms, "RBP": np.cumsum(terms)}
        steps = (Step.sum_of(str(self), terms, min(last(columns["RBP"]), 1.0)),)
        return Arithmetic(columns, steps, frozenset({"weight"}), "gain", "RBP")


class RBPResidual(_RankBiased):
    """RBP residual: how much RBP would rise if unjudged and unretrieved documents had the highest gain.

    Formula:
        RBPResidual = g * (1 - (1 - p) * sum over ranks i of judged documents of p^(i - 1))

    g is the highest possible gain: 1 unless weights or level lower it. Ranks past the end of the list, or past rank k,
    are included: p^d after d ranks.

    Conventions:
        - has the parameters of RBP; RBP + RBPResidual is the maximum that RBP can reach
        - no judged documents in the list: g
        - negative=unjudged treats negative grades as unjudged

    Agrees with:
        trec_eval 10 rbp_resid with p=0.9
    Differs from:
        - trec_eval 10, where it is 0 if all documents in the list are judged or the query is unanswered
        - CWL(model=RBP, report=residual)@k, which excludes ranks past k: (RBPResidual@k - p^k) / (1 - p^k)

    Reference:
        Moffat and Zobel, Rank-biased precision for measurement of retrieval effectiveness, TOIS 27(1), 2008

    Example:
        The second of three documents is unjudged: 0.5 * 0.5, plus 0.5^3 for the ranks after them.

        >>> gainful.parse("RBPResidual(p=0.5)").score([1, None, 0])
        0.375
    """

    name = "RBPResidual"
    better = "neither"

    def compute(self, block: Block) -> Floats:
        hits = block.hits
        shown = hits.rank <= (self.cutoff or block.width)
        row, rank = hits.row[shown], hits.rank[shown]
        last_rank = np.zeros(block.size, np.int64)
        last_rank[row] = rank  # ranks ascend within a row, so the last one stays
        before = np.where(ordinal_in_row(row) == 1, 0, np.roll(rank, 1))
        # The ranks between two judged documents weigh p^(rank of the first) - p^(rank before the second).
        gaps = np.bincount(row, self._beyond(before) - self._beyond(rank - 1), minlength=block.size)
        highest = 1.0 if self.scale is not None else highest_gain(self.gain, block.scale, self.rel, self.level)
        return highest * np.minimum(gaps + self._beyond(last_rank), 1.0)

    def _beyond(self, ranks: Ints) -> Floats:
        """Return the total weight of all later ranks."""
        return np.asarray((self.p ** np.arange(int(ranks.max(initial=0)) + 1))[ranks])


def cascade(row: Ints, satisfied: Floats, size: int) -> Floats:
    """Return the probability of stopping at each document, for users who read until one satisfies them."""
    by_place, place = in_columns(row, satisfied, size)
    reaches = np.cumprod(1.0 - by_place, axis=1)
    return np.asarray(satisfied * np.where(place == 0, 1.0, reaches[row, np.maximum(place, 1) - 1]))


class _Cascade(Graded, takes="cutoff"):
    gain: Gain = Gain("exp2")

    def _divisor(self, block: Block) -> float:
        return 1.0 + highest_gain(self.gain, block.scale)

    def _expected(self, lists: GainLists, divisor: float) -> Floats:
        if isinstance(lists, TiedGainLists):
            return expected_cascade(lists, divisor, self.cutoff)
        row, rank, gain = lists.to(self.cutoff)
        return sum_by(row, cascade(row, gain / divisor, lists.size) / rank, lists.size)


class ERR(_Cascade):
    """Expected reciprocal rank of the document that satisfies a user who reads from the top.

    Formula:
        ERR = sum over ranks i of 1/i * S[i] * (1 - S[1]) * ... * (1 - S[i - 1])

    S[i] = (2^g - 1) / 2^scale is the probability that the document at rank i, of grade g, satisfies the user; with
    another gain map, S = gain / (1 + highest gain).

    Conventions:
        - scale is the highest grade of the judgments unless scale= sets it
        - unjudged documents and negative grades have S = 0
        - ERR@k stops at rank k
        - no relevant documents: 0

    Agrees with:
        gdeval err@k and ir_measures ERR@k if scale is 4 (they round to 5 digits)
    Differs from:
        NTCIREVAL, where S = gain / (1 + highest gain): use gain=linear

    Reference:
        Chapelle, Metzler, Zhang and Grinspan, Expected reciprocal rank for graded relevance, CIKM 2009

    Example:
        Grades 1 and 2 of at most 2: S = 1/4 and 3/4, so 1/4 + 1/2 * 3/4 * 3/4.

        >>> gainful.parse("ERR").score([1, 2], scale=2)
        0.53125
    """

    name = "ERR"

    def compute(self, block: Block) -> Floats:
        return self._expected(self._run_lists(block), self._divisor(block))

    def arithmetic(self, block: Block) -> Arithmetic:
        gains = self._run_lists(block).dense(block.depth_to(self.cutoff))[0]
        stops = gains / self._divisor(block)
        reached = np.append(1.0, np.cumprod(1.0 - stops)[:-1])
        terms = stops * reached / ranks_of(stops)
        columns = {"gain": gains, "stops": stops, "reached": reached, "adds": terms, "ERR": np.cumsum(terms)}
        steps = (Step.sum_of(str(self), columns["adds"], last(columns["ERR"])),)
        return Arithmetic(columns, steps, adds="gain", running="ERR")


class NERR(_Cascade):
    """Normalised expected reciprocal rank: ERR divided by the ERR of the ideal list.

    Formula:
        nERR@k = ERR@k / ERR@k of the ideal list

    The ideal list has all judged documents, best first.

    Conventions:
        - list and ideal list are both cut at k; the judgments never are
        - no document with a gain above 0: undefined

    Differs from:
        ir_measures NERR8 to NERR11, which are different measures

    Reference:
        Chapelle et al., CIKM 2009; normalised as nDCG

    Example:
        Grades 1 and 2 in the wrong order: (1/4 + 1/2 * 3/4 * 3/4) / (3/4 + 1/2 * 1/4 * 1/4).

        >>> gainful.parse("nERR").score([1, 2], scale=2)
        0.68
    """

    name = "nERR"

    def compute(self, block: Block) -> Floats:
        divisor = self._divisor(block)
        ideal = self._expected(self._ideal_lists(block), divisor)
        # The same gains added in another order may differ in the last bit.
        return np.minimum(ratios(self._expected(self._run_lists(block), divisor), ideal), 1.0)


class _Reader(Graded, takes="column cutoff"):
    """A user who reads documents of known lengths.

    Conventions:
        - lengths are a column of the table of items: column names it, or its unit, as in a budget
        - every length down to the last relevant document must be known
        - relevant documents are those with a gain above 0; no relevant documents: 0
    """

    needs = frozenset({"documents"})
    tables = frozenset({"items"})
    bounds = (0.0, math.inf)
    meanings = {"column": "column of lengths; `t`, `c`, `w`, `s` are tokens, characters, words, seconds"}
    exempt = {
        "perfect": "a short document first can beat a better one that is long",
        "swap": "a better document that is longer delays those below it",
        "rename": "tables identify documents by name",
    }
    column = "w"

    @abstractmethod
    def _reading(self, is_relevant: Bools, length: Floats) -> tuple[Floats, Floats]:
        """Return the time or text before each document's gain, and the gain's weight (queries x ranks)."""

    def _columns(self, block: Block) -> dict[str, Floats]:
        lists, depth = self._run_lists(block), block.depth_to(self.cutoff)
        row, place = gather(block.graded.list_offsets, block.queries)
        rank, gain, length = ordinal_in_row(row), lists.dense(depth), np.full((block.size, depth), np.nan)
        known = rank <= lists.last_rank(depth)[row]
        length[row[known], rank[known] - 1] = block.graded.lengths(self.column, str(self), place[known])[place[known]]
        before, weight = self._reading(gain > 0, length)
        added = np.nan_to_num(gain * weight)  # lengths after the last gain are not read
        return {"gain": gain, "length": length, "before": before, "weight": weight, "gain * weight": added}

    def compute(self, block: Block) -> Floats:
        return np.asarray(np.cumsum(self._columns(block)["gain * weight"], axis=1)[:, -1])

    def arithmetic(self, block: Block) -> Arithmetic:
        columns = {name: values[0] for name, values in self._columns(block).items()}
        columns[self.name] = np.cumsum(columns["gain * weight"])
        step = Step.sum_of(str(self), columns["gain * weight"], last(columns[self.name]))
        return Arithmetic(columns, (step,), adds="gain", running=self.name)


class TBG(_Reader):
    """Time-biased gain: the relevant documents that a user saves, discounted by the time to reach them.

    Formula:
        TBG = sum over ranks i of G[i] * p_click * p_save * 2^(-T[i] / half_life)
        T[i] = sum over j < i of t_summary + (t_word * length[j] + t_document) * P[j]

    G is 1 for a relevant document. A user opens it with probability P = p_click, other documents with p_click_other.

    Conventions:
        - defaults are the paper's, for lengths in words and times in seconds
        - near-duplicates have gain, unlike in the paper

    Agrees with:
        hTBG -t
    Differs from:
        cwl-eval TBG, whose weights sum to 1

    Reference:
        Smucker and Clarke, Time-based calibration of effectiveness measures, SIGIR 2012

    Example:
        The second document is reached after 4.4 + (0.018 * 500 + 7.8) * 0.39 = 10.952 s: 0.4928 * 2^(-10.952 / 224).

        >>> words = {"a": {"words": 500}, "b": {"words": 100}}
        >>> round(gainful.evaluate({"q": {"b": 1}}, {"q": ["a", "b"]}, "TBG", items=words).mean("TBG"), 4)
        0.4764
    """

    name = "TBG"
    gain: Gain = BINARY
    half_life: float = 224.0
    t_summary: float = 4.4
    t_word: float = 0.018
    t_document: float = 7.8
    p_click: float = 0.64
    p_click_other: float = 0.39
    p_save: float = 0.77

    def _reading(self, is_relevant: Bools, length: Floats) -> tuple[Floats, Floats]:
        opened = np.where(is_relevant, self.p_click, self.p_click_other)
        spent = self.t_summary + (self.t_word * length + self.t_document) * opened
        time = np.cumsum(spent, axis=1) - spent
        return time, self.p_click * self.p_save * 2.0 ** (-time / self.half_life)


class U(_Reader):
    """U-measure: gain discounted by the text that a user has read: all snippets, and part of the relevant documents.

    Formula:
        U = sum over ranks i of G[i] * max(0, 1 - pos[i] / L)
        pos[i] = c_snippet * i + p_read * (lengths of the relevant documents down to rank i)

    Conventions:
        - defaults are the paper's for web search, in characters; c_snippet=0, p_read=1 reads relevant documents whole
        - G is the grade, or its gain in a gain map; not normalised

    Differs from:
        cwl-eval U, whose weights sum to 1, and are those before the document is read

    Reference:
        Sakai and Dou, Summaries, ranked retrieval and sessions, SIGIR 2013

    Example:
        A document of grade 2 at rank 2 has been read after 2 * 200 + 0.2 * 1000 = 600 characters: 2 * (1 - 600 / 6000).

        >>> lengths = {"a": {"characters": 9000}, "b": {"characters": 1000}}
        >>> gainful.evaluate({"q": {"b": 2}}, {"q": ["a", "b"]}, "U(L=6000)", items=lengths).mean("U(L=6000)")
        1.8
    """

    name = "U"
    L: float = 132_000.0
    c_snippet: float = 200.0
    p_read: float = 0.2
    column: str = "c"

    def _reading(self, is_relevant: Bools, length: Floats) -> tuple[Floats, Floats]:
        position = np.cumsum(self.c_snippet + self.p_read * length * is_relevant, axis=1)
        return position, np.maximum(0.0, 1.0 - position / self.L)


class UDCG(OfGains, takes="gain gamma cutoff"):
    """UDCG, utility- and distraction-aware cumulative gain: the mean utility of the documents that a model reads.

    Formula:
        UDCG@k = 1 / (1 + exp(-m)), m = sum over i <= k of u[i] / k

    Conventions:
        - u[i] is the gain of a grade; of a grade below 0, a distractor's, -gamma times the gain of its amount
        - all ranks weigh the same, as in the authors' code; the paper also fits weights by rank to a model's answers
        - unjudged documents and ranks past the end have u = 0; a list of them scores 0.5

    Reference:
        Trappolini et al., Redefining retrieval evaluation in the era of LLMs, EACL 2026

    Example:
        >>> round(gainful.parse("UDCG@2").score([0.9, -0.6]), 4)  # m = (0.9 - 0.6/3) / 2
        0.5866
    """

    name = "UDCG"
    needs_at = True
    gamma = 1 / 3
    meanings = {"gamma": "weight of distractors, from 0 to 1"}

    def check(self, levels: Floats) -> None:
        super().check(np.abs(levels))

    def compute(self, block: Block) -> Floats:
        hits, k = block.hits, self.cutoff or 1
        utility = self.gain.of_grades(np.abs(hits.grade), block.scale) * np.where(hits.grade < 0, -self.gamma, 1.0)
        mean = sum_by(hits.row, np.where(hits.rank <= k, utility, 0.0), block.size) / k
        return np.asarray(0.5 + 0.5 * np.tanh(0.5 * mean))  # which large numbers do not overflow
