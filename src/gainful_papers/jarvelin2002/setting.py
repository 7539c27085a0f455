"""What jarvelin2002 was done with: its topics, its weights, and its measures for judgments on any scale."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from gainful import Gain, Measure, Qrels, parse
from gainful.data.judged import Judged
from gainful.notation import count_of, number_text, text_of_id
from gainful.tasks.sensitivity.sensitivity_grid import GradeLevels
from gainful_papers.claims import check_last_rank, gains_for, worth_text

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

#: The last rank of the figures, and the one to which Table 2 averages.
DEPTH, LAST_RANK = 100, 200


class Weights:
    """The article's weighting schemes, for as many levels as the judgments have, its bases and depths; or others.

    Figures have the first two schemes, (a) and (b), and the first base. ``counts`` are the documents of each level
    above 0.
    """

    def __init__(
        self,
        judged: Judged,
        gain: Sequence[object] | None = None,
        base: Sequence[object] = (2, 10),
        at: int | None = None,
    ) -> None:
        grades = GradeLevels.of(judged)
        self.levels, self.bases = grades.levels, tuple(map(str, base))
        self.gains = gains_for(KEY, judged, grades, gain)
        check_last_rank(at)
        self.a, self.b = self.gains[0], self.gains[min(1, len(self.gains) - 1)]
        self.worth = "" if gain is not None else worth_text(grades, self.b)
        self.depth, self.last_rank = (DEPTH, LAST_RANK) if at is None else (at, at)
        self.counts = [int(np.count_nonzero(judged.grade == level)) for level in self.levels]
        #: Whether grades go up to 3, as in the article; there need not be a document of every level.
        self.are_the_papers = len(self.levels) == 3
        #: Whether these are the article's topics; and also its judgments, by their number at its three levels.
        self.of_its_topics = {text_of_id(each) for each in judged.qrels.query_ids} == TOPICS
        is_complete = self.are_the_papers and all(self.counts) and sum(self.counts) == RELEVANT
        self.of_its_judgments = self.of_its_topics and is_complete

    def measure(self, kind: str, gain: Gain, at: int | None = None, base: str = "") -> Measure:
        """CG, DCG, nCG or nDCG as the article defines it, by the first base and down to the figures' last rank."""
        discount = {"discount": "jarvelin2002", "base": base or self.bases[0]} if "D" in kind else {}
        return parse(kind).replace(gain=gain, **discount, cutoff=at or self.depth)

    def average(self, kind: str, gain: Gain, last: int | None = None, base: str = "") -> Measure:
        """nCG or nDCG averaged over ranks 1 to the last one."""
        return self.measure(kind, gain, last or self.last_rank, base).replace(average="ranks")


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
    data = f"{base_name(judged.qrels)}: {queries}, {count_of(runs, 'run')}, grades up to {grades}."
    return f"{data} {worth} {weights.worth}".rstrip()
