"""What jarvelin2002 was done with: its topics, its weights, and its measures for judgments on any scale.

The order of runs by one setting and another, as rows of tables: what the discussion of jarvelin2002 compares.
Half a figure of jarvelin2002: the curves of all runs under one weighting scheme, and what can be read off them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gainful.data.graded import GradedRun
from gainful.data.judged import Judged
from gainful.data.qrels import Qrels
from gainful.errors import InputError
from gainful.evaluation.evaluate import evaluate_graded
from gainful.evaluation.results import Evaluation
from gainful.gains import Gain
from gainful.measures.base import Measure
from gainful.measures.cumulated_gain import CG, DCG, NCG, NDCG, CumulatedGain
from gainful.notation import count_of, number_text, text_of_id
from gainful.pages.charts import shortened
from gainful.pages.page import Cell as TableCell, Column, Table
from gainful.papers.readings import graded_levels
from gainful.tasks.curves.averages import GainCurve
from gainful.tasks.curves.gain_curves import GainCurves
from gainful.tasks.sensitivity.sensitivity_findings import Cell, ranks_of, tau_of_ranks
from gainful.tasks.sensitivity.sensitivity_grid import GradeLevels

KEY = "jarvelin2002"

#: The topics of the case study (its footnote 2), and how many documents are relevant to them in all (section 3.2).
TOPICS = frozenset(
    "351 353 355 358 360 362 364 365 372 373 377 378 384 385 387 392 393 396 399 400".split()  # noqa: SIM905
)
RELEVANT = 1182
#: The shares of its relevant documents by level, 1 to 3.
SHARES = (0.494, 0.305, 0.201)

_KINDS: dict[str, type[CumulatedGain]] = {"CG": CG, "DCG": DCG, "nCG": NCG, "nDCG": NDCG}


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
        if len(levels.levels) - len(absent) < 2:
            raise InputError(
                f"{judged.qrels.name}: {KEY} expects documents of two or more grades above 0, found one",
                "the paper's judgments have the grades 0, 1, 2 and 3",
            )
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


def measure(kind: str, gain: Gain, at: int, *, over_ranks: bool = False, base: float | str = 2.0) -> CumulatedGain:
    """CG, DCG, nCG or nDCG as the article defines it, @k; ``over_ranks`` averages it over ranks 1 to k.

    >>> measure("nDCG", Gain.of("0-1-1-1"), 200, over_ranks=True)
    nDCG(gain=0-1-1-1, discount=jarvelin2002, average=ranks)@200
    """
    average = "ranks" if over_ranks else None
    if "D" in kind:
        return _KINDS[kind](gain=gain, discount="jarvelin2002", base=base, average=average, cutoff=at)  # type: ignore[call-arg]
    return _KINDS[kind](gain=gain, average=average, cutoff=at)  # type: ignore[call-arg]


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
    what = (
        f"{base_name(judged.qrels)}: {count_of(queries, 'query', 'queries')}, {count_of(runs, 'run')}, grades up to "
        f"{number_text(weights.levels.levels[-1])}" + (f", no document of grade {absent}" if absent else "")
    )
    if has_own_judgments(judged, weights):
        return (
            f"{what}. The topics are the paper's own, and so are the judgments, by their number of relevant documents "
            f"({RELEVANT:,}). Its five runs are known as A to E only: what it says of runs is for orientation."
        )
    if has_own_topics(judged):
        found = sum(relevant_by_level(judged, weights))
        return (
            f"{what}. The topics are the paper's own, the judgments are not ({found:,} relevant documents, the paper "
            f"has {RELEVANT:,}): its figures are for orientation only."
        )
    return (
        f"{what}. Not the paper's data (20 topics of TREC-7, judged again on four levels, and five runs that it calls "
        "A to E): its figures are for orientation only."
    )


def best_runs(cell: Cell) -> str:
    """The run that is ahead; of several at most two are named."""
    names = [shortened(run) for run in cell.winners]
    return ", ".join(names) if len(names) < 3 else f"{names[0]} and {len(names) - 1} others"


#: An order of more systems than these is not written out.
_MOST_NAMED = 6


def evaluated(graded: Mapping[str, GradedRun], measures: Sequence[Measure]) -> dict[str, Evaluation]:
    """Every run by these measures."""
    return {name: evaluate_graded(run, measures) for name, run in graded.items()}


def all_means(cells: Iterable[Cell]) -> Table:
    """Every run's mean and place in every setting, for machines."""
    columns = (
        Column("measure", for_machines=True),
        Column("run", for_machines=True),
        Column("mean", "number", for_machines=True),
        Column("place", "count", for_machines=True),
    )
    return Table(columns, tuple((str(cell.measure), *score) for cell in cells for score in cell.scores))


def cell_columns(reference: str) -> tuple[Column, ...]:
    """The columns of :func:`cell_row`."""
    return (
        Column("best run"),
        Column("its mean", "number", 3),
        Column("lead", "number", 3),
        Column(f"tau with {reference}", "number", 2),
        Column("order"),
    )


def cell_row(cell: Cell, reference: Cell) -> tuple[TableCell, ...]:
    """Who is best by a setting, by how much, and how far its order is that of another one."""
    return best_runs(cell) or None, cell.value, cell.lead, tau_between(cell, reference), _order(cell)


def _order(cell: Cell) -> str:
    """The runs, best first; of many only the first ones."""
    groups = ["=".join(shortened(run) for run in group) for group in cell.order]
    return " > ".join(groups) if len(cell.scores) <= _MOST_NAMED else " > ".join([*groups[:3], "..."])


def tau_between(one: Cell, other: Cell) -> float | None:
    """Kendall's tau-b of the orders by two settings."""
    return tau_of_ranks(one.ranks, other.ranks)


def tau_text(tau: float | None) -> str:
    """As people read it."""
    return "undefined" if tau is None else f"{tau:.2f}"


#: The last rank of the figures.
DEPTH = 100


class Panel:
    """One half of a figure: the curves of all runs, and the ideal's, under one weighting scheme."""

    def __init__(self, curves: GainCurves, letter: str, kind: str, gain: object) -> None:
        self.letter, self.kind, self.gain = letter, kind, str(gain)
        self.curves = curves
        self.measure: CumulatedGain = curves.measure(
            next(each for each in curves.measures if each.name == kind and str(each.gain) == str(gain))
        )
        self.runs = [curves.curve(run, self.measure) for run in curves.runs]
        self.ideal = None if self.measure.normalised else curves.ideal(self.measure)

    @property
    def all(self) -> list[GainCurve]:
        """The ideal's curve, where it is not 1 everywhere, and the runs'."""
        return [*([self.ideal] if self.ideal else []), *self.runs]

    def at(self, rank: int) -> list[float]:
        """The runs' values at a rank."""
        return [float(curve.values[rank - 1]) for curve in self.runs]

    @property
    def has_gain(self) -> bool:
        """Whether any run gains anything at all."""
        return max(self.at(DEPTH)) > 0

    @property
    def best(self) -> GainCurve:
        """The run that has the most at the last rank."""
        values = self.at(DEPTH)
        return self.runs[values.index(max(values))]

    def places(self) -> list[int | None]:
        """The runs' places at the last rank."""
        return ranks_of(list(self.at(DEPTH)))

    def below_ideal(self) -> list[float]:
        """How far the best run is below the ideal, by rank."""
        assert self.ideal is not None
        return [float(value) for value in (self.ideal.values - self.best.values).tolist()]

    def below_best(self) -> list[float]:
        """How far the other runs are below the best one, at all ranks."""
        best = self.best
        others = [curve for curve in self.runs if curve.run != best.run]
        return [float(value) for curve in others for value in (best.values - curve.values).tolist()]

    def widest(self) -> float:
        """The largest distance between two runs at any rank."""
        ranks = range(1, DEPTH + 1)
        return max(max(self.at(rank)) - min(self.at(rank)) for rank in ranks)
