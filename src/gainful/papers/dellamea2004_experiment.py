"""The experiment of Della Mea and Mizzaro (2004) on any runs: what its tables and figures are made of."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gainful.ahead import ReadRun
from gainful.arrays import Floats
from gainful.data.judged import Judged
from gainful.data.run import RunLike
from gainful.errors import InputError, UsageError
from gainful.evaluation import evaluate_graded
from gainful.measures.grammar import parse
from gainful.named_runs import require_runs
from gainful.notation import count_of
from gainful.papers.dellamea2004_lists import SystemLists, read_lists
from gainful.papers.dellamea2004_sets import MEASURES, Sets, agree_on_sets, distances
from gainful.papers.dellamea2004_systems import FEWEST, REFERENCES, Systems, choose_systems
from gainful.progress import Progress
from gainful.results import Evaluation
from gainful.stats.draws import check_draws
from gainful.stats.settled import settle
from gainful.stats.stability import order_of_topics

#: By what the paper's own collection is known: TREC-8 ad hoc.
_OWN_TOPICS = tuple(str(topic) for topic in range(401, 451))
_OWN_RUNS, _OWN_RELEVANT, _OWN_DEPTH = 129, 4728, 1000

#: Scores of all queries are kept for each of them.
_MOST_DRAWS = 1_000


@dataclass(frozen=True, eq=False)
class Experiment:
    """What was found: the systems, their scores by the five measures (those that are kept, best first), the sets.

    ``is_own``: these are the data of the paper, as far as topics, runs and relevant documents tell.
    """

    systems: Systems
    scores: Mapping[str, Floats]
    sets: Sets
    evaluations: Mapping[str, Evaluation]
    queries: tuple[str, ...]
    relevant: int
    pairs: int
    draws: int
    seed: int

    @property
    def is_own(self) -> bool:
        systems = self.systems
        found = (self.queries, len(systems.names), self.relevant, systems.depth)
        return found == (_OWN_TOPICS, _OWN_RUNS, _OWN_RELEVANT, _OWN_DEPTH)

    @property
    def data(self) -> str:
        """What data these are, in a sentence."""
        runs, topics = (
            count_of(len(self.systems.names), "run"),
            count_of(len(self.queries), "judged query", "judged queries"),
        )
        order, _ = order_of_topics(self.queries)
        first, last = self.queries[order[0]], self.queries[order[-1]]
        here = (
            f"{runs}, {topics} ({first} to {last}), {count_of(self.relevant, 'relevant document')}, lists of "
            f"{self.systems.depth:,}"
        )
        if self.is_own:
            return (
                f"{here}: by these numbers TREC-8 ad hoc, the paper's own data. It does not name its ten best systems, "
                "so that what depends on URS'' may differ."
            )
        return (
            f"{here}. The paper has TREC-8 ad hoc: {_OWN_RUNS} runs, topics {_OWN_TOPICS[0]} to {_OWN_TOPICS[-1]}, "
            f"{_OWN_RELEVANT:,} relevant documents, lists of {_OWN_DEPTH:,}. These are other data, and its figures are "
            "for orientation only."
        )

    def by_group(self, measure: str) -> dict[str, Floats]:
        """The scores of every group that has members."""
        return {
            group: self.scores[measure][self.systems.places(group)]
            for group, members in self.systems.groups.items()
            if members
        }


def run_experiment(
    judged: Judged,
    runs: Mapping[str, RunLike | ReadRun],
    best: str | Sequence[str],
    worst_share: float | None,
    draws: int,
    seed: int,
    threads: int | None,
    progress: Progress,
) -> Experiment:
    """Reads the runs, chooses the systems, and compares them by all measures and on all sets."""
    require_runs(runs)
    if len(runs) < FEWEST:
        raise UsageError(
            f"dellamea2004: expected three or more runs to compare, found {len(runs)}",
            "give several, or a folder of them; the paper has 129",
        )
    check_draws(draws, seed)
    if draws > _MOST_DRAWS:
        raise UsageError(f"draws: expected at most {_MOST_DRAWS:,}, found {draws:,}: each compares all documents anew")
    if judged.policy.unjudged == "condensed":
        raise UsageError(
            "dellamea2004: expected unjudged documents to count, found unjudged=condensed",
            "ADM is over all retrieved documents: leave the policy at unjudged=zero",
        )
    if not (judged.grade > 0).any():
        raise InputError(
            f"{os.path.basename(judged.qrels.name)}: dellamea2004 expects relevant documents (a grade above 0), "
            "found none for any query",
            "ADM is over retrieved and relevant documents, and what it is compared with counts relevant ones",
        )
    lists = read_lists(judged, runs, threads, progress)
    evaluations = evaluate_lists(lists)
    systems = choose_systems(judged, lists, evaluations, best, worst_share)
    kept, chosen = ([lists[name] for name in names] for names in (systems.kept, systems.chosen))
    queries = tuple(next(iter(evaluations.values())).queries)
    progress.total += len(queries) * len(kept) * systems.depth
    found = distances(judged, kept, chosen, systems.depth, draws, seed, progress)
    sets = agree_on_sets(found, queries, systems.depth)
    scores = dict(zip(MEASURES, sets.whole, strict=True))
    for name, measure in REFERENCES.items():
        scores[name] = settle(np.array([evaluations[system].aggregate(measure) for system in systems.kept]))
    relevant = int(found.recall_base.sum())
    return Experiment(systems, scores, sets, evaluations, queries, relevant, found.pairs, draws, seed)


def evaluate_lists(lists: Mapping[str, SystemLists]) -> dict[str, Evaluation]:
    """All systems by the reference measures and by ADM at the depth of the longest list."""
    depth = max(int(each.length.max(initial=0)) for each in lists.values())
    if not depth:
        raise InputError("runs: dellamea2004 expects retrieved documents, found none for any judged query")
    measures = (*REFERENCES.values(), parse(f"ADM@{depth}"))
    # A copy each: what the measures keep beside a run would be several times the run.
    return {name: evaluate_graded(replace(each.graded), measures) for name, each in lists.items()}
