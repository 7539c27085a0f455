"""What jarvelin2002 was done with: its topics, its weights, and its measures for judgments on any scale."""

from __future__ import annotations

import os

import numpy as np

from gainful import Gain, Measure, Qrels, parse
from gainful.data.judged import Judged
from gainful.notation import count_of, number_text, text_of_id
from gainful_papers.claims import graded_levels

KEY = "jarvelin2002"

#: The topics of the case study (its footnote 2), and how many documents are relevant to them in all (section 3.2).
TOPICS = frozenset(
    "351 353 355 358 360 362 364 365 372 373 377 378 384 385 387 392 393 396 399 400".split()  # noqa: SIM905
)
RELEVANT = 1182
#: The shares of its relevant documents by level, 1 to 3.
SHARES = (0.494, 0.305, 0.201)
#: Documents at levels 2 and 3 per topic (section 3.4).
HIGHER_PER_TOPIC = 29.9

#: Table 2 and the discussion average over ranks 1 to this one.
LAST_RANK = 200


class Weights:
    """The article's weighting schemes, for as many levels as the judgments have; with four they are its own.

    Judgments without several levels are refused. ``counts`` are the documents of each level above 0.
    """

    def __init__(self, judged: Judged) -> None:
        grades = graded_levels(judged, KEY)
        self.levels = grades.levels
        self.flat, self.tenfold, self.top = (grades.named(word) for word in ("flat", "tenfold", "top"))
        self.counts = [int(np.count_nonzero(judged.grade == level)) for level in self.levels]
        #: Whether grades go up to 3, as in the article; there need not be a document of every level.
        self.are_the_papers = len(self.levels) == 3
        #: Whether these are the article's topics; and also its judgments, by their number at its three levels.
        self.of_its_topics = {text_of_id(each) for each in judged.qrels.query_ids} == TOPICS
        is_complete = self.are_the_papers and all(self.counts) and sum(self.counts) == RELEVANT
        self.of_its_judgments = self.of_its_topics and is_complete


def measure(kind: str, gain: Gain, at: int, *, over_ranks: bool = False, base: float | str = 2.0) -> Measure:
    """CG, DCG, nCG or nDCG as the article defines it, @k; ``over_ranks`` averages it over ranks 1 to k.

    >>> measure("nDCG", Gain.of("0-1-1-1"), 200, over_ranks=True)
    nDCG(gain=0-1-1-1, discount=jarvelin2002, average=ranks)@200
    """
    discount = {"discount": "jarvelin2002", "base": base} if "D" in kind else {}
    return parse(kind).replace(gain=gain, **discount, average="ranks" if over_ranks else None, cutoff=at)


def average(kind: str, gain: Gain, last: int = LAST_RANK, base: float | str = 2.0) -> Measure:
    """nCG or nDCG averaged over ranks 1 to the last one."""
    return measure(kind, gain, last, over_ranks=True, base=base)


def base_name(qrels: Qrels) -> str:
    """What judgments are called on a page: their file, without its folder."""
    return os.path.basename(qrels.name) or qrels.name


def data_sentence(judged: Judged, weights: Weights, runs: int) -> str:
    """Which data these are, and what the article's figures are worth beside them."""
    if weights.of_its_judgments:
        worth = (
            "The topics are the paper's own, and so are the judgments, by their number of relevant documents "
            f"({RELEVANT:,}). Its five runs are known as A to E only: what it says of runs is for orientation."
        )
    elif weights.of_its_topics:
        worth = (
            f"The topics are the paper's own, the judgments are not ({sum(weights.counts):,} relevant documents, the "
            f"paper has {RELEVANT:,}): its figures are for orientation only."
        )
    else:
        worth = (
            "Not the paper's data (20 topics of TREC-7, judged again on four levels, and five runs that it calls A to "
            "E): its figures are for orientation only."
        )
    levels = zip(weights.levels, weights.counts, strict=True)
    absent = " and ".join(number_text(level) for level, count in levels if not count)
    grades = number_text(weights.levels[-1]) + (f", no document of grade {absent}" if absent else "")
    queries = count_of(len(judged.qrels.query_ids), "query", "queries")
    return f"{base_name(judged.qrels)}: {queries}, {count_of(runs, 'run')}, grades up to {grades}. {worth}"
