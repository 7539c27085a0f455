"""The experiment of Della Mea and Mizzaro (2004) on any runs: what its tables and figures are made of.

Which systems are the best, which are left out, the three groups, and what few systems can tell of Kendall's tau.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from gainful import Evaluation, InputError, Measure, RunLike, UsageError, parse
from gainful.data.collection import no_such_run
from gainful.data.judged import Judged
from gainful.evaluation.evaluate import evaluate_graded
from gainful.kernel.parallel import Progress
from gainful.notation import count_of, number_text, printable, read_number
from gainful.stats.repeatable import check_draws, settle
from gainful.stats.stability import order_of_topics
from gainful_papers.claims import Claim, Floats, Ints, require_several_runs
from gainful_papers.dellamea2004.adm_scores import ScoredSystem, score_systems
from gainful_papers.dellamea2004.adm_sets import MEASURES, Sets, SystemLists, agree_on_sets, distances, read_lists

#: A margin of one exchange is one, however it was rounded.
EPSILON = 1e-9


def exchange(systems: int) -> float:
    """By how much tau changes when two neighbours change places.

    >>> exchange(5)
    0.2
    """
    return 4 / (systems * (systems - 1))


def exchange_rule(systems: int) -> str:
    """The rule for all that is concluded from tau, in words."""
    return (
        "tau: a conclusion is not seen if its margin is less than one exchange of neighbours, 4 / (m (m - 1)) = "
        f"{_fine(exchange(systems))} for m = {systems} systems"
    )


def _fine(value: float) -> str:
    """Three places, and of what is less than a thousandth as many as two digits need.

    >>> _fine(0.2), _fine(4 / (109 * 108)), _fine(0.0)
    ('0.200', '0.00034', '0.000')
    """
    return f"{value:.{1 - math.floor(math.log10(value)) if EPSILON < value < 0.001 else 3}f}"


def concluded(what: str, says: str, finds: str, margin: float, rule: str, systems: int, fine: float) -> Claim:
    """What holds by a rule, by so much (or fails, where that is negative); undecided within one exchange.

    ``fine`` is how fine the steps of tau have to be for the rule: where one exchange changes tau by more, the statement
    could fail and hardly hold, so that nothing is told at all.

    >>> concluded("a part", "resembles the whole", "tau 0.852", 0.852 - 0.9, "from 0.9 on", 7, 0.1).verdict
    'not seen'
    >>> concluded("a part", "resembles the whole", "tau 0.852", 0.852 - 0.9, "from 0.9 on", 20, 0.1).verdict
    'fails'
    """
    step = exchange(systems)
    if step > fine:
        few = f"with {systems} systems one exchange of neighbours changes tau by {step:.3f}: too much to tell"
        return Claim.undecided(what, says, finds, few)
    if abs(margin) < step - EPSILON:
        return Claim.undecided(
            what, says, finds, f"{rule}; here the margin is {_fine(abs(margin))}, less than one exchange"
        )
    return Claim.statement(what, says, finds, margin > 0, rule)


#: The measures that the paper compares with, under its names.
REFERENCES: Mapping[str, Measure] = {"Rel-Ret": parse("NumRelRet"), "AvgPrec": parse("AP"), "R-Prec": parse("Rprec")}

GROUPS = ("Best", "Normal", "Worst")

#: So many systems are the best, where there are more; of fewer systems half of them are.
TEN = 10
FEWEST = 3


class Short(NamedTuple):
    """A system that is left out: for so many queries it retrieves less than others, at worst so few documents."""

    name: str
    queries: int
    unanswered: int
    fewest: int


@dataclass(frozen=True)
class Systems:
    """All systems by average precision, best first; those that make URS''; those left out; and the others in groups."""

    names: tuple[str, ...]
    means: Mapping[str, float]  # average precision
    chosen: tuple[str, ...]
    was_given: bool
    depth: int
    short: tuple[Short, ...]
    kept: tuple[str, ...]
    groups: Mapping[str, tuple[str, ...]]
    worst_share: float | None
    telling: int  # queries on which a system can be below the median
    silent: int  # those with a median of 0
    skipped: int  # those that the policy leaves out
    below: Mapping[str, float]  # on which share of the telling queries each is below the median

    def share_of_worst(self, number: int) -> tuple[float, int] | None:
        """The highest share of queries, in whole per cent, from which on so many would be Worst, and how many are then;
        None where there are not so many."""
        shares = sorted((self.below[name] for name in self.kept if name not in self.chosen), reverse=True)
        if number > len(shares):
            return None
        share = math.floor(100 * shares[number - 1] + EPSILON) / 100
        return share, sum(each >= share for each in shares)

    def places(self, group: str) -> Ints:
        """Where the systems of a group stand among those that are kept."""
        place = {name: i for i, name in enumerate(self.kept)}
        return np.array([place[name] for name in self.groups[group]], np.int64)


def choose_systems(
    judged: Judged,
    lists: Mapping[str, SystemLists],
    evaluations: Mapping[str, Evaluation],
    best: str | Sequence[str],
    worst_share: float | None,
) -> Systems:
    """The best first, then those that fall short are left out, then the rest is put into groups."""
    share = 1.0 if worst_share is None else read_number(worst_share, "worst_share")
    if not 0 < share <= 1:
        raise UsageError(f"worst_share: expected a number above 0 and up to 1, found {number_text(share)}")
    given = _checked_names(best)
    # Where no query counts a mean is below all others.
    means_found = np.array([evaluation.mean(REFERENCES["AvgPrec"]) for evaluation in evaluations.values()])
    settled = settle(np.where(np.isnan(means_found), -1.0, means_found), 1.0)
    means = dict(zip(evaluations, settled.tolist(), strict=True))
    names = tuple(sorted(lists, key=lambda name: (-means[name], name)))
    for name in given:
        if name not in names:
            raise no_such_run(name, sorted(names), "best")
    chosen = tuple(name for name in names if name in given)
    if not given:
        chosen = names[: TEN if len(names) > TEN else max(1, len(names) // 2)]
    depth = max(int(each.length.max(initial=0)) for each in lists.values())
    lengths = {name: lists[name].length for name in names}
    short = tuple(
        Short(name, int((length < depth).sum()), int((length == 0).sum()), int(length.min()))
        for name, length in lengths.items()
        if (length < depth).any()
    )
    left_out = {each.name for each in short}
    kept = tuple(name for name in names if name not in left_out)
    _refuse_few(judged, lists, kept, depth)
    below, telling, silent = _share_below_median(names, evaluations)
    worst = {name for name in kept if telling and below[name] >= share and name not in chosen}
    groups = {
        "Best": tuple(name for name in kept if name in chosen),
        "Normal": tuple(name for name in kept if name not in chosen and name not in worst),
        "Worst": tuple(name for name in kept if name in worst),
    }
    skipped = len(judged.qrels.query_ids) - telling - silent
    queries = telling, silent, skipped
    return Systems(names, means, chosen, bool(given), depth, short, kept, groups, worst_share, *queries, below)


def _checked_names(best: object) -> tuple[str, ...]:
    """One name or several."""
    if isinstance(best, str):
        return (best,)
    if isinstance(best, Iterable):
        names = tuple(best)
        strange = next((name for name in names if not isinstance(name, str)), None)
        if strange is None:
            return names
        best = strange
    raise UsageError(f"best: expected names of runs, found {type(best).__name__}")


def _refuse_few(judged: Judged, lists: Mapping[str, SystemLists], kept: Sequence[str], depth: int) -> None:
    if len(kept) >= FEWEST:
        return
    lengths = np.stack([each.length for each in lists.values()])  # systems x queries
    ids = [printable(query) for query in judged.qrels.query_ids]
    nobody = [query for query, longest in zip(ids, lengths.max(axis=0).tolist(), strict=True) if not longest]
    if nobody:
        more = f" and {count_of(len(nobody) - 1, 'other query', 'other queries')}" if len(nobody) > 1 else ""
        raise InputError(
            f"runs: dellamea2004 expects documents for every judged query, found none by any of the {len(lists)} runs "
            f"for query '{nobody[0]}'{more}",
            "leave the judgments of such queries out: all systems would be left out as short",
        )
    common = int(np.sort(lengths.min(axis=1))[-FEWEST])
    if common:
        remain = int(np.count_nonzero(lengths.min(axis=1) >= common))
        hint = f"depth={common} (--depth {common}) cuts all lists alike: {remain} systems then remain"
    else:
        unanswered = np.count_nonzero(lengths == 0, axis=0)
        worst = int(np.argmax(unanswered))
        hint = (
            f"{count_of(int(unanswered[worst]), 'run has', 'runs have')} nothing for query '{ids[worst]}': leave out "
            "the judgments of queries that runs do not answer, or these runs"
        )
    raise InputError(
        f"runs: dellamea2004 expects at least {FEWEST} systems that retrieve {count_of(depth, 'document')} (the "
        f"longest list) for each of the {count_of(len(ids), 'judged query', 'judged queries')}, found {len(kept)} of "
        f"{len(lists)}",
        hint,
    )


def _share_below_median(
    names: Sequence[str], evaluations: Mapping[str, Evaluation]
) -> tuple[dict[str, float], int, int]:
    """On which share of queries each system's average precision is below the median of all systems', and of how many.

    Where the median is 0 no system can be below it: such a query tells nothing, and there are so many of these.
    """
    columns = [evaluations[name].by_query(REFERENCES["AvgPrec"]).values() for name in names]
    scores = np.array([[np.nan if value is None else value for value in column] for column in columns]).T
    scores = settle(scores[~np.isnan(scores).all(axis=1)], 1.0)
    medians = settle(np.array([np.median(row[~np.isnan(row)]) for row in scores]), 1.0)
    telling = medians > 0
    below = np.count_nonzero(scores[telling] < medians[telling, np.newaxis], axis=0)
    number = int(np.count_nonzero(telling))
    shares = dict(zip(names, (below / max(1, number)).tolist(), strict=True))
    return shares, number, int(telling.size) - number


#: By what the paper's own collection is known: TREC-8 ad hoc.
_OWN_TOPICS = tuple(str(topic) for topic in range(401, 451))
_OWN_RUNS, _OWN_RELEVANT, _OWN_DEPTH = 129, 4728, 1000

#: Scores of all queries are kept for each of them.
_MOST_DRAWS = 1_000


@dataclass(frozen=True, eq=False)
class Experiment:
    """What was found: the systems, their scores by the five measures (those that are kept, best first), the sets.

    ``is_own_collection``: these are the topics and judgments of the paper, as far as the number of relevant documents
    tells; ``is_own``: all of its runs, too.
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
    by_scores: Mapping[str, ScoredSystem]

    @property
    def is_own_collection(self) -> bool:
        return (self.queries, self.relevant) == (_OWN_TOPICS, _OWN_RELEVANT)

    @property
    def is_own(self) -> bool:
        systems = self.systems
        return self.is_own_collection and (len(systems.names), systems.depth) == (_OWN_RUNS, _OWN_DEPTH)

    @property
    def runs_there(self) -> str:
        """How many of the paper's runs these are, if they are of its collection."""
        number = len(self.systems.names)
        return f"same collection, {number} of {_OWN_RUNS} runs" if number <= _OWN_RUNS else f"{number} runs, not 129"

    @property
    def data(self) -> str:
        """What data these are, in a sentence."""
        order, _ = order_of_topics(self.queries)
        first, last = self.queries[order[0]], self.queries[order[-1]]
        topics = f"{count_of(len(self.queries), 'judged query', 'judged queries')} ({first} to {last})"
        here = (
            f"{count_of(len(self.systems.names), 'run')}, {topics}, {count_of(self.relevant, 'relevant document')}, "
            f"lists of {self.systems.depth:,}"
        )
        if self.is_own:
            return (
                f"{here}: by these numbers TREC-8 ad hoc, the paper's own data. It does not name its ten best systems, "
                "so that what depends on URS'' may differ."
            )
        if self.is_own_collection:
            return (
                f"{here}: by its topics and relevant documents TREC-8 ad hoc, the paper's own collection "
                f"({self.runs_there}; the paper has lists of {_OWN_DEPTH:,}). Its figures are of all runs."
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
    runs: Mapping[str, RunLike],
    best: str | Sequence[str],
    worst_share: float | None,
    draws: int,
    seed: int,
    threads: int | None,
    progress: Progress,
) -> Experiment:
    """Reads the runs, chooses the systems, and compares them by all measures and on all sets."""
    require_several_runs("dellamea2004", runs, "three", "give several, or a folder of them; the paper has 129")
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
    by_scores = score_systems(judged, {name: lists[name] for name in systems.kept}, systems.depth)
    return Experiment(systems, scores, sets, evaluations, queries, relevant, found.pairs, draws, seed, by_scores)


def evaluate_lists(lists: Mapping[str, SystemLists]) -> dict[str, Evaluation]:
    """All systems by the reference measures and by ADM at the depth of the longest list."""
    depth = max(int(each.length.max(initial=0)) for each in lists.values())
    if not depth:
        raise InputError("runs: dellamea2004 expects retrieved documents, found none for any judged query")
    measures = (*REFERENCES.values(), parse(f"ADM@{depth}"))
    # A copy each: what the measures keep beside a run would be several times the run.
    return {name: evaluate_graded(replace(each.graded), measures) for name, each in lists.items()}
