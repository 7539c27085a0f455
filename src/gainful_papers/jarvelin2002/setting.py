"""Topics, weights and measures of jarvelin2002, adapted to judgments on any scale."""

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

#: Topics of the case study (footnote 2), and their number of relevant documents (section 3.2).
TOPICS = frozenset(
    "351 353 355 358 360 362 364 365 372 373 377 378 384 385 387 392 393 396 399 400".split()  # noqa: SIM905
)
RELEVANT = 1182
#: Shares of the relevant documents at levels 1 to 3.
SHARES = (0.494, 0.305, 0.201)
#: Documents at levels 2 and 3 per topic (section 3.4).
HIGHER_PER_TOPIC = 29.9

#: Last rank of the figures, and of the averages in Table 2.
DEPTH, LAST_RANK = 100, 200


class Weights:
    """Weighting schemes, bases and depths: the article's, adapted to the levels of the judgments, or others.

    Figures show the first two schemes, (a) and (b), and the first base. ``counts`` are documents per level above 0.
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
        #: Whether the scale is the article's; levels may lack documents.
        self.are_the_papers = len(self.levels) == 3
        #: Whether the topics and, by their number of relevant documents, the judgments are the article's.
        self.of_its_topics = {text_of_id(each) for each in judged.qrels.query_ids} == TOPICS
        is_complete = self.are_the_papers and all(self.counts) and sum(self.counts) == RELEVANT
        self.of_its_judgments = self.of_its_topics and is_complete

    def measure(self, kind: str, gain: Gain, at: int | None = None, base: str = "") -> Measure:
        """Return CG, DCG, nCG or nDCG as in the article; by default the first base, to the last rank of the figures."""
        discount = {"discount": "jarvelin2002", "base": base or self.bases[0]} if "D" in kind else {}
        return parse(kind).replace(gain=gain, **discount, cutoff=at or self.depth)

    def average(self, kind: str, gain: Gain, last: int | None = None, base: str = "") -> Measure:
        """Return nCG or nDCG averaged over ranks 1 to the last."""
        return self.measure(kind, gain, last or self.last_rank, base).replace(average="ranks")


def base_name(qrels: Qrels) -> str:
    """Return the file name of judgments, without the folder."""
    return os.path.basename(qrels.name) or qrels.name


def data_sentence(judged: Judged, weights: Weights, runs: int) -> str:
    """Describe the data, and how far they are comparable with the article's."""
    if weights.of_its_judgments:
        worth = (
            "The topics and, by their number of relevant documents "
            f"({RELEVANT:,}), the judgments are the paper's. Its five runs are known only as A to E: its statements "
            "about runs are for comparison only."
        )
    elif weights.of_its_topics:
        worth = (
            f"The topics are the paper's, the judgments are not ({sum(weights.counts):,} relevant documents; the "
            f"paper has {RELEVANT:,}): its numbers are for comparison only."
        )
    else:
        worth = (
            "The paper used other data (20 TREC-7 topics, rejudged on four levels, and five runs A to E): its numbers "
            "are for comparison only."
        )
    levels = zip(weights.levels, weights.counts, strict=True)
    absent = " and ".join(number_text(level) for level, count in levels if not count)
    grades = number_text(weights.levels[-1]) + (f", no document of grade {absent}" if absent else "")
    queries = count_of(len(judged.qrels.query_ids), "query", "queries")
    data = f"{base_name(judged.qrels)}: {queries}, {count_of(runs, 'run')}, grades up to {grades}."
    return f"{data} {worth} {weights.worth}".rstrip()
