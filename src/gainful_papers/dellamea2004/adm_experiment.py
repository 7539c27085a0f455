"""The experiment of Della Mea and Mizzaro (2004) on any runs: its systems, ADM' and ADM'', and the sets of Table 4.

All retrieved documents count, not only judged documents.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import NamedTuple

import numpy as np

from gainful import Evaluation, Gain, GradedRun, InputError, Measure, Qrels, Run, RunLike, UsageError, parse
from gainful.data.collection import no_such_run
from gainful.data.judged import Judged
from gainful.evaluation.evaluate import evaluate_graded, join_each
from gainful.kernel import core
from gainful.kernel.parallel import current_progress
from gainful.notation import count_of, number_text, printable, read_number
from gainful.stats.agreement import kendall_tau
from gainful.stats.repeatable import check_draws, settle, stream
from gainful.stats.stability import Spread, order_of_topics, settled_means
from gainful_papers.claims import Claim, Floats, Ints, require_several_runs

#: The two measures: based on judgments, and on judgments combined with the best systems.
MEASURES = ("ADM'", "ADM''")
#: Reference measures, under the paper's names.
REFERENCES: Mapping[str, Measure] = {"Rel-Ret": parse("NumRelRet"), "AvgPrec": parse("AP"), "R-Prec": parse("Rprec")}
GROUPS = ("Best", "Normal", "Worst")

#: Number of best systems; half of all systems if there are not more than this.
TEN = 10
_FEWEST = 3
#: Largest number of draws: scores of all queries are kept for each.
_MOST_DRAWS = 1_000

#: Characteristics of the paper's collection, TREC-8 ad hoc.
_OWN_TOPICS = tuple(str(topic) for topic in range(401, 451))
_OWN_RUNS, _OWN_RELEVANT, _OWN_DEPTH = 129, 4728, 1000
#: Reason why values that depend on URS'' may differ even on the paper's data.
_NOT_NAMED = "the paper's best systems, which define URS'' and the group Best, are unnamed manual runs"


class Short(NamedTuple):
    """A system with short lists, which is left out: queries with short lists, unanswered queries, shortest list."""

    name: str
    queries: int
    unanswered: int
    fewest: int


@dataclass(frozen=True)
class Systems:
    """All systems by average precision, best first; the systems chosen for URS''; those left out; and the groups."""

    names: tuple[str, ...]
    means: Mapping[str, float]  # average precision
    chosen: tuple[str, ...]
    was_given: bool
    depth: int
    short: tuple[Short, ...]
    kept: tuple[str, ...]
    groups: Mapping[str, tuple[str, ...]]
    worst_share: float | None
    telling: int  # queries with a median above 0, on which a system can be below it

    def places(self, group: str) -> Ints:
        """Return the indices of a group's systems among the kept systems."""
        return np.array([self.kept.index(name) for name in self.groups[group]], np.int64)


class SetAgreement(NamedTuple):
    """A set of Table 4, and the agreement of its order of systems with the order on the whole set.

    ``documents`` is the average number per system. ``tau`` has one value per measure: for random sets, the mean of the
    ``spread`` over draws.
    """

    number: int
    what: str
    documents: float
    tau: tuple[float | None, ...]
    spread: tuple[Spread | None, ...] | None = None


@dataclass(frozen=True, eq=False)
class Sets:
    """All sets of Table 4, and the means on sets 1 and 3 that Figure 9 shows (measures x systems)."""

    rows: tuple[SetAgreement, ...]
    first_topics: tuple[int, int]  # topics in sets 1 and 2
    by_number: bool  # whether topics are ordered as numbers
    whole: Floats
    set_1: Floats
    set_3: Floats


@dataclass(frozen=True, eq=False)
class Experiment:
    """Results: the systems, the five measures' scores of kept systems (best first), and the sets."""

    systems: Systems
    scores: Mapping[str, Floats]
    sets: Sets
    evaluations: Mapping[str, Evaluation]
    queries: tuple[str, ...]
    relevant: int
    pairs: int  # retrieved or relevant documents over all queries
    draws: int
    seed: int

    @property
    def is_own_collection(self) -> bool:
        """Whether the topics and, by the number of relevant documents, the judgments are the paper's."""
        return (self.queries, self.relevant) == (_OWN_TOPICS, _OWN_RELEVANT)

    @property
    def is_own(self) -> bool:
        """Whether these are also all of the paper's runs."""
        systems = self.systems
        return self.is_own_collection and (len(systems.names), systems.depth) == (_OWN_RUNS, _OWN_DEPTH)

    @property
    def _runs_there(self) -> str:
        number = len(self.systems.names)
        return f"same collection, {number} of {_OWN_RUNS} runs" if number <= _OWN_RUNS else f"{number} runs, not 129"

    @property
    def data(self) -> str:
        """Description of the data."""
        order, _ = order_of_topics(self.queries)
        first, last = self.queries[order[0]], self.queries[order[-1]]
        here = (
            f"{count_of(len(self.systems.names), 'run')}, "
            f"{count_of(len(self.queries), 'judged query', 'judged queries')} ({first} to {last}), "
            f"{count_of(self.relevant, 'relevant document')}, lists of {self.systems.depth:,}"
        )
        if self.is_own:
            return (
                f"{here}: judging by these numbers, the paper's data (TREC-8 ad hoc). Its best systems are unnamed "
                "manual runs, so results that depend on URS'' may differ."
            )
        if self.is_own_collection:
            return (
                f"{here}: judging by topics and relevant documents, the paper's collection (TREC-8 ad hoc; "
                f"{self._runs_there}; the paper has lists of {_OWN_DEPTH:,}). The paper's numbers are for all its runs."
            )
        return (
            f"{here}. The paper used other data (TREC-8 ad hoc: {_OWN_RUNS} runs, topics {_OWN_TOPICS[0]} to "
            f"{_OWN_TOPICS[-1]}, {_OWN_RELEVANT:,} relevant documents, lists of {_OWN_DEPTH:,}): its numbers are for "
            "comparison only."
        )

    def number(self, what: str, says: float, finds: float | None, places: int = 0, needs_best: bool = False) -> Claim:
        """Check a number on the paper's data; on other data, show it for comparison.

        Values that depend on the ten best systems may differ even on the paper's data. None is an undefined tau.
        """
        if finds is None:
            return Claim.undecided(what, f"{says:.{places}f}", "undefined", "all systems are equal")
        claim = Claim.number(what, says, finds, places)
        if not self.is_own:
            return self.comparison(what, claim.says, claim.finds)
        is_other = needs_best and claim.verdict == "differs"
        return Claim.comparison(what, claim.says, claim.finds, _NOT_NAMED) if is_other else claim

    def comparison(self, what: str, says: str, finds: str) -> Claim:
        """Show a number for comparison only."""
        is_same = self.is_own_collection
        return Claim.comparison(what, says, finds, self._runs_there if is_same else "", same_collection=is_same)

    def by_group(self, measure: str) -> dict[str, Floats]:
        """Return the scores of each nonempty group."""
        groups = {group: self.systems.places(group) for group in GROUPS}
        return {group: self.scores[measure][places] for group, places in groups.items() if places.size}


def run_experiment(
    judged: Judged,
    runs: Mapping[str, RunLike],
    best: str | Sequence[str],
    worst_share: float | None,
    draws: int,
    seed: int,
    threads: int | None,
) -> Experiment:
    """Read the runs, choose the systems, and compare them by all measures and on all sets."""
    require_several_runs("dellamea2004", runs, "three", "give several runs or a folder; the paper has 129")
    check_draws(draws, seed)
    if draws > _MOST_DRAWS:
        raise UsageError(f"draws: expected at most {_MOST_DRAWS:,}, found {draws:,}")
    if judged.policy.unjudged == "condensed":
        raise UsageError(
            "dellamea2004: unjudged=condensed cannot be used",
            "ADM averages over all retrieved documents; use unjudged=zero",
        )
    if not (judged.grade > 0).any():
        raise InputError(
            f"{os.path.basename(judged.qrels.name)}: dellamea2004 needs relevant documents (grades above 0), but there "
            "are none",
            "ADM averages over retrieved and relevant documents, and the reference measures count relevant documents",
        )
    lists, relevant = read_lists(judged, runs, threads)
    evaluations = evaluate_lists(lists)
    systems = _choose_systems(judged, lists, evaluations, best, worst_share)
    queries = tuple(next(iter(evaluations.values())).queries)
    found = measure_distances(judged, lists, relevant, systems, draws, seed)
    sets = _agree_on_sets(found, queries, systems.depth)
    scores = dict(zip(MEASURES, sets.whole, strict=True))
    for name, measure in REFERENCES.items():
        scores[name] = settle(np.array([evaluations[system].aggregate(measure) for system in systems.kept]))
    return Experiment(systems, scores, sets, evaluations, queries, relevant.size, found.pairs, draws, seed)


class SystemLists(NamedTuple):
    """A system's lists, joined with the judgments and ordered by the policy, and the numbers of all documents."""

    graded: GradedRun
    documents: Ints


def read_lists(judged: Judged, runs: Mapping[str, RunLike], threads: int | None) -> tuple[dict[str, SystemLists], Ints]:
    """Read the lists of all runs in parallel, and number their documents and the relevant ones in byte order of IDs."""
    numbers: dict[bytes, int] = {}
    numbering = Lock()

    def number(documents: Qrels | Run, rows: Ints) -> Ints:
        ids, place = core.number_ids(documents.data, documents.document_start[rows], documents.document_length[rows])
        with numbering:
            return np.array([numbers.setdefault(document, len(numbers)) for document in ids], np.int64)[place]

    def read(name: str, graded: GradedRun) -> SystemLists:
        assert graded.run is not None
        # Release the run: the text of 129 runs would need a gigabyte.
        return SystemLists(replace(graded, row=graded.row[:0], run=None), number(graded.run, graded.row))

    first_row = np.unique(judged.item, return_index=True)[1]
    relevant = number(judged.qrels, first_row[judged.grade > 0])
    found = join_each(judged, runs, read, frozenset({"ties", "documents"}), threads=threads)
    in_order = np.empty(len(numbers), np.int64)
    in_order[[numbers[document] for document in sorted(numbers)]] = np.arange(len(numbers))
    lists = {name: each._replace(documents=in_order[each.documents]) for name, each in found.items()}
    return lists, in_order[relevant]


def evaluate_lists(lists: Mapping[str, SystemLists]) -> dict[str, Evaluation]:
    """Evaluate all systems by the reference measures, and by ADM at the depth of the longest list."""
    depth = _depth(lists)
    if not depth:
        raise InputError("runs: no documents are retrieved for any judged query")
    measures = (*REFERENCES.values(), parse(f"ADM@{depth}"))
    # Use copies: measures cache several times the size of the run.
    return {name: evaluate_graded(replace(each.graded), measures) for name, each in lists.items()}


def _depth(lists: Mapping[str, SystemLists]) -> int:
    return max(int(each.graded.retrieved.max(initial=0)) for each in lists.values())


def _choose_systems(
    judged: Judged,
    lists: Mapping[str, SystemLists],
    evaluations: Mapping[str, Evaluation],
    best: str | Sequence[str],
    worst_share: float | None,
) -> Systems:
    share = 1.0 if worst_share is None else read_number(worst_share, "worst_share")
    if not 0 < share <= 1:
        raise UsageError(f"worst_share: expected a number above 0 and up to 1, found {number_text(share)}")
    given = [best] if isinstance(best, str) or not isinstance(best, Iterable) else list(best)
    if strange := [name for name in given if not isinstance(name, str)]:
        raise UsageError(f"best: expected names of runs, found {type(strange[0]).__name__}")
    average_precision = REFERENCES["AvgPrec"]
    # Systems without a defined mean rank last.
    found = np.array([evaluation.mean(average_precision) for evaluation in evaluations.values()])
    settled = settle(np.where(np.isnan(found), -1.0, found), 1.0)
    means = dict(zip(evaluations, settled.tolist(), strict=True))
    names = tuple(sorted(lists, key=lambda name: (-means[name], name)))
    for name in given:
        if name not in names:
            raise no_such_run(name, sorted(names), "best")
    chosen = tuple(name for name in names if name in given)
    if not given:
        chosen = names[: TEN if len(names) > TEN else max(1, len(names) // 2)]
    depth = _depth(lists)
    lengths = {name: lists[name].graded.retrieved for name in names}
    short = tuple(
        Short(name, int((length < depth).sum()), int((length == 0).sum()), int(length.min()))
        for name, length in lengths.items()
        if (length < depth).any()
    )
    left_out = {each.name for each in short}
    kept = tuple(name for name in names if name not in left_out)
    if len(kept) < _FEWEST:
        raise _too_few([printable(query) for query in judged.qrels.query_ids], lengths, len(kept), depth)
    # Ignore queries with a median of 0: no system can be below it.
    columns = [evaluations[name].by_query(average_precision).values() for name in names]
    scores = np.array([[np.nan if value is None else value for value in column] for column in columns]).T
    scores = settle(scores[~np.isnan(scores).all(axis=1)], 1.0)
    medians = settle(np.array([np.median(row[~np.isnan(row)]) for row in scores]), 1.0)
    tells = medians > 0
    telling = int(np.count_nonzero(tells))
    below = np.count_nonzero(scores[tells] < medians[tells, np.newaxis], axis=0) / max(1, telling)
    worst = {name for name, each in zip(names, below.tolist(), strict=True) if telling and each >= share}
    groups = {
        "Best": tuple(name for name in kept if name in chosen),
        "Normal": tuple(name for name in kept if name not in chosen and name not in worst),
        "Worst": tuple(name for name in kept if name not in chosen and name in worst),
    }
    return Systems(names, means, chosen, bool(given), depth, short, kept, groups, worst_share, telling)


def _too_few(queries: Sequence[str], of_systems: Mapping[str, Ints], kept: int, depth: int) -> InputError:
    lengths = np.stack(list(of_systems.values()))  # systems x queries
    common = int(np.sort(lengths.min(axis=1))[-_FEWEST])
    if common:
        remain = int(np.count_nonzero(lengths.min(axis=1) >= common))
        hint = f"with depth={common} (--depth {common}), {remain} systems remain"
    else:
        unanswered = np.count_nonzero(lengths == 0, axis=0)
        worst = int(np.argmax(unanswered))
        runs = count_of(int(unanswered[worst]), "run has", "runs have")
        hint = f"{runs} no documents for query '{queries[worst]}': leave out its judgments, or these runs"
    return InputError(
        f"runs: dellamea2004 expects at least {_FEWEST} systems that retrieve {count_of(depth, 'document')} (the "
        f"longest list) for each of the {count_of(len(queries), 'judged query', 'judged queries')}, found {kept} of "
        f"{len(lengths)}",
        hint,
    )


#: A random number puts each pair into one of four parts: below 0.1, 0.2 or 0.5, or the rest. The first part is a tenth
#: of all pairs, the first three are half.
_ENDS = np.array([0.1, 0.2, 0.5])
_PARTS = 4
_TENTH, _HALF = slice(0, 1), slice(0, 3)


class Distances(NamedTuple):
    """ADM' and ADM'', shape (measures, queries, systems), over all, retrieved, and relevant documents.

    ``drawn`` are sums of |SRS - URS| over parts of the documents, shape (draws, measures, queries, systems, parts);
    ``drawn_count`` are numbers of documents, without the measure axis.
    """

    whole: Floats
    retrieved: Floats
    relevant: Floats
    missed: Ints  # relevant documents not retrieved, shape (queries, systems)
    recall_base: Ints
    pairs: int
    drawn: Floats
    drawn_count: Ints


def measure_distances(
    judged: Judged, lists: Mapping[str, SystemLists], relevant_documents: Ints, systems: Systems, draws: int, seed: int
) -> Distances:
    """Compute ADM' and ADM'' of kept systems; the mean SRS of chosen systems enters URS''.

    Each draw puts each pair of query and document into a part, in the order of their IDs.
    """
    names = list(dict.fromkeys((*systems.kept, *systems.chosen)))
    chosen = [names.index(name) for name in systems.chosen]
    depth, kept, queries = systems.depth, len(systems.kept), len(judged.qrels.query_ids)
    whole, retrieved, relevant = (np.empty((len(MEASURES), queries, kept)) for _ in range(3))
    missed, recall_base = np.empty((queries, kept), np.int64), np.empty(queries, np.int64)
    drawn = np.empty((draws, len(MEASURES), queries, kept, _PARTS))
    drawn_count = np.empty((draws, queries, kept, _PARTS), np.int64)
    streams, pairs = [stream(seed, draw) for draw in range(1, draws + 1)], 0
    srs = (depth - np.arange(0.0, depth)) / depth
    by_system = _PARTS * np.arange(kept)[:, np.newaxis]
    progress = current_progress()
    progress.total += queries * kept * depth
    # Grades that count as unjudged are NaN, so they are not above 0.
    relevant_urs = Gain("scaled").scaled_to_1(judged.grade[judged.grade > 0], judged.scale)
    bounds = np.searchsorted(np.flatnonzero(judged.grade > 0), judged.item_offsets)
    for query in range(queries):
        own = slice(bounds[query], bounds[query + 1])
        every = [relevant_documents[own]]
        for name in names:
            start, end = lists[name].graded.list_offsets[query : query + 2]
            every.append(lists[name].documents[start:end])
        pool, place = np.unique(np.concatenate(every), return_inverse=True)
        wanted, *ranked = np.split(place, np.cumsum([each.size for each in every])[:-1])
        listed = np.stack(ranked[:kept])
        is_wanted, grades = np.zeros(pool.size, bool), np.zeros(pool.size)
        is_wanted[wanted], grades[wanted] = True, relevant_urs[own]
        # The mean of 1 - (rank - 1) / depth over the chosen systems, 0 for documents not retrieved. Integer sums do
        # not depend on the order of systems.
        steps = np.zeros(pool.size, np.int64)
        for system in chosen:
            steps[ranked[system]] += depth - np.arange(ranked[system].size)
        is_found = is_wanted[listed]
        missed[query], recall_base[query] = wanted.size - np.count_nonzero(is_found, axis=1), wanted.size
        parts = [np.searchsorted(_ENDS, numbers.random(pool.size), "right") for numbers in streams]
        cells = [(part.astype(np.uint8)[listed] + by_system).ravel() for part in parts]
        for draw, (part, cell) in enumerate(zip(parts, cells, strict=True)):
            found = np.bincount(cell, (~is_found).ravel(), kept * _PARTS).reshape(kept, _PARTS)
            drawn_count[draw, query] = found + np.bincount(part[wanted], minlength=_PARTS)
        for measure, urs in enumerate((grades, (3 * grades + steps / (depth * len(chosen))) / 4)):
            off = np.abs(srs - urs[listed])
            # Count all relevant documents as missed, at distance URS from 0, then correct for the retrieved ones.
            more, all_missed = off - np.where(is_found, urs[listed], 0.0), math.fsum(urs[wanted])
            whole[measure, query] = 1 - (more.sum(axis=1) + all_missed) / (depth + missed[query])
            retrieved[measure, query] = 1 - off.sum(axis=1) / depth
            of_relevant = np.where(is_found, more, 0.0).sum(axis=1) + all_missed
            relevant[measure, query] = 1 - of_relevant / wanted.size if wanted.size else np.nan
            for draw, (part, cell) in enumerate(zip(parts, cells, strict=True)):
                sums = np.bincount(cell, more.ravel(), kept * _PARTS).reshape(kept, _PARTS)
                drawn[draw, measure, query] = sums + np.bincount(part[wanted], urs[wanted], _PARTS)
        pairs += pool.size
        progress.advance(kept * depth)
    return Distances(whole, retrieved, relevant, missed, recall_base, pairs, drawn, drawn_count)


def _agree_on_sets(found: Distances, queries: Sequence[str], depth: int) -> Sets:
    order, by_number = order_of_topics(queries)
    half, fifth = (order[: max(1, math.floor(share * len(queries) + 0.5))] for share in (0.5, 0.2))
    every, whole, count = np.arange(len(queries)), _means(found.whole), depth + found.missed

    def taus(matrices: Floats) -> tuple[float | None, ...]:
        return tuple(kendall_tau(means, of_all) for means, of_all in zip(_means(matrices), whole, strict=True))

    def documents(counts: Ints) -> float:
        return float(counts.sum(axis=0).mean())

    def drawn_set(number: int, what: str, parts: slice, topics: Ints) -> SetAgreement:
        drawn = [taus(_averages(found, draw, parts, topics)) for draw in range(len(found.drawn))]
        spread = tuple(Spread.of([each[place] for each in drawn]) for place in range(len(MEASURES)))
        size = documents(found.drawn_count[0][topics][:, :, parts].sum(axis=2))
        return SetAgreement(number, what, size, tuple(each and each.mean for each in spread), spread)

    rows = (
        SetAgreement(0, "all", documents(count), (1.0, 1.0)),
        SetAgreement(1, "first 50% of topics", documents(count[half]), taus(found.whole[:, half])),
        SetAgreement(2, "first 20% of topics", documents(count[fifth]), taus(found.whole[:, fifth])),
        drawn_set(3, "50% of documents", _HALF, every),
        drawn_set(4, "10% of documents", _TENTH, every),
        drawn_set(5, "50% of documents, first 50% of topics", _HALF, half),
        SetAgreement(6, "retrieved documents only", depth * len(queries), taus(found.retrieved)),
        SetAgreement(7, "relevant documents only", float(found.recall_base.sum()), taus(found.relevant)),
    )
    set_1, set_3 = _means(found.whole[:, half]), _means(_averages(found, 0, _HALF, every))
    return Sets(rows, (half.size, fifth.size), by_number, whole, set_1, set_3)


def _averages(found: Distances, draw: int, parts: slice, topics: Ints) -> Floats:
    """Return ADM' and ADM'' over parts of a draw, shape (measures, topics, systems); NaN if no document is left."""
    sums = found.drawn[draw][:, topics][..., parts].sum(axis=-1)
    count = found.drawn_count[draw][topics][..., parts].sum(axis=-1)
    return np.asarray(1 - np.divide(sums, count, out=np.full(sums.shape, np.nan), where=count > 0))


def _means(matrices: Floats) -> Floats:
    """Return settled means over the topics on which all systems have a value; zeros if there are none."""
    defined = [matrix[~np.isnan(matrix).any(axis=1)] for matrix in matrices]
    return np.stack([settled_means(each) if len(each) else np.zeros(matrices.shape[2]) for each in defined])
