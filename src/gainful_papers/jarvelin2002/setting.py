"""What jarvelin2002 was done with: its topics, its weights, and its measures for judgments on any scale."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gainful import Evaluation, Gain, GradedRun, Measure, Qrels, parse
from gainful.data.judged import Judged
from gainful.evaluation.evaluate import evaluate_graded
from gainful.notation import count_of, number_text, text_of_id
from gainful.pages.charts import shortened
from gainful.tasks.sensitivity.sensitivity_grid import Cell, GradeLevels
from gainful_papers.claims import Claim, Ordered, graded_levels

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


@dataclass(frozen=True)
class Weights:
    """The article's weighting schemes, for as many levels as the judgments have; with four they are its own.

    ``absent`` are levels below the highest that no document has.
    """

    levels: GradeLevels
    flat: Gain
    tenfold: Gain
    top: Gain
    absent: tuple[float, ...] = ()

    @classmethod
    def of(cls, judged: Judged) -> Weights:
        """The weights for these judgments; judgments without several levels are refused."""
        levels = graded_levels(judged, KEY)
        flat, tenfold, top = (levels.named(word) for word in ("flat", "tenfold", "top"))
        there = {float(grade) for grade in judged.levels.tolist()}
        absent = tuple(level for level in levels.levels if level not in there)
        return cls(levels, flat, tenfold, top, absent)

    @property
    def are_the_papers(self) -> bool:
        """Whether grades go up to 3, as in the article; there need not be a document of every level."""
        return len(self.levels.levels) == 3

    @property
    def shown(self) -> str:
        """What a section has to say of the weights."""
        used = f"{self.flat}, {self.tenfold} and {self.top}"
        if self.are_the_papers:
            return f"The weights are the paper's: {used}."
        highest = number_text(self.levels.levels[-1])
        return f"Grades go up to {highest} here: {used} stand for the paper's 0-1-1-1, 0-1-10-100 and 0-0-0-1."


def measure(kind: str, gain: Gain, at: int, *, over_ranks: bool = False, base: float | str = 2.0) -> Measure:
    """CG, DCG, nCG or nDCG as the article defines it, @k; ``over_ranks`` averages it over ranks 1 to k.

    >>> measure("nDCG", Gain.of("0-1-1-1"), 200, over_ranks=True)
    nDCG(gain=0-1-1-1, discount=jarvelin2002, average=ranks)@200
    """
    discount = {"discount": "jarvelin2002", "base": base} if "D" in kind else {}
    return parse(kind).replace(gain=gain, **discount, average="ranks" if over_ranks else None, cutoff=at)


def base_name(qrels: Qrels) -> str:
    """What judgments are called on a page: their file, without its folder."""
    return os.path.basename(qrels.name) or qrels.name


def has_own_topics(judged: Judged) -> bool:
    """Whether these are the article's topics."""
    return {text_of_id(identifier) for identifier in judged.qrels.query_ids} == TOPICS


def relevant_by_level(judged: Judged, weights: Weights) -> list[int]:
    """How many documents each level above 0 has."""
    return [int(np.count_nonzero(judged.grade == level)) for level in weights.levels.levels]


def has_own_judgments(judged: Judged, weights: Weights) -> bool:
    """Whether these can be the article's judgments: its topics, documents of each of its levels, and as many in all."""
    is_so = has_own_topics(judged) and weights.are_the_papers and not weights.absent
    return is_so and sum(relevant_by_level(judged, weights)) == RELEVANT


def data_sentence(judged: Judged, weights: Weights, runs: int) -> str:
    """Which data these are, and what the article's figures are worth beside them."""
    queries, absent = len(judged.qrels.query_ids), " and ".join(number_text(level) for level in weights.absent)
    relevant = sum(relevant_by_level(judged, weights))
    if has_own_judgments(judged, weights):
        worth = (
            "The topics are the paper's own, and so are the judgments, by their number of relevant documents "
            f"({RELEVANT:,}). Its five runs are known as A to E only: what it says of runs is for orientation."
        )
    elif has_own_topics(judged):
        worth = (
            f"The topics are the paper's own, the judgments are not ({relevant:,} relevant documents, the paper has "
            f"{RELEVANT:,}): its figures are for orientation only."
        )
    else:
        worth = (
            "Not the paper's data (20 topics of TREC-7, judged again on four levels, and five runs that it calls A to "
            "E): its figures are for orientation only."
        )
    grades = number_text(weights.levels.levels[-1]) + (f", no document of grade {absent}" if absent else "")
    there = f"{count_of(queries, 'query', 'queries')}, {count_of(runs, 'run')}, grades up to {grades}"
    return f"{base_name(judged.qrels)}: {there}. {worth}"


def best_runs(cell: Cell) -> str:
    """The run that is ahead; of several at most two are named."""
    names = [shortened(run) for run in cell.winners]
    return ", ".join(names) if len(names) < 3 else f"{names[0]} and {len(names) - 1} others"


def evaluated(graded: Mapping[str, GradedRun], measures: Sequence[Measure]) -> dict[str, Evaluation]:
    """Every run by these measures."""
    return {name: evaluate_graded(run, measures) for name, run in graded.items()}


def standing_out(what: str, runs: Sequence[str], flat: Ordered, weighted: Ordered) -> Claim:
    """Whether the run that is best with weights is significantly ahead of more others then: the article's run D."""
    says = "run D then appears more effective"
    best = [place for place, rank in enumerate(weighted.places) if rank == 1]
    if len(best) != 1:
        return Claim.undecided(what, says, "no run leads with weights")
    [first] = best
    before, after = (ordered.leads.wins_and_losses(len(runs))[0][first] for ordered in (flat, weighted))
    finds = f"{shortened(runs[first])} beats {before}, then {after}"
    if not before and not after:
        return Claim.undecided(what, says, finds)
    note = "how many runs the best with weights is significantly ahead of; it holds where there are more with weights"
    return Claim.statement(what, says, finds, after > before, note)
