"""Section 2.4 of jarvelin2002: the earlier measures beside nCG and nDCG, and what it holds against them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import fmean
from typing import NamedTuple

import numpy as np

from gainful import Evaluation, GradedRun, Measure, parse
from gainful.data.judged import Judged
from gainful.evaluation.evaluate import evaluate_runs
from gainful.notation import count_of, number_text
from gainful.pages.charts import shortened
from gainful.pages.page import Cell, Table, head
from gainful.tasks.sensitivity.sensitivity_grid import cell_of, tau_of_ranks
from gainful_papers.claims import Case, Claim, Section, claims_tables, table
from gainful_papers.jarvelin2002.setting import best_runs, evaluated

#: SR and its kin need lists that are longer than this.
_DEPTH = 20
_NCG, _NDCG = f"nCG@{_DEPTH}", f"nDCG(discount=jarvelin2002)@{_DEPTH}"

#: Lists are cut after so many documents to see what depends on their length, and looked at down to this rank.
_CUTS, _SEEN_TO = (20, 100), 10

#: Half-lives that are no further apart, in ranks, are the same; nDCGs that are at least so far apart are not.
_SAME_HALF_LIFE, _OTHER_NDCG = 0.5, 0.1


class Earlier(NamedTuple):
    """A measure, what the article calls it, its decimal places, and whether it needs the size of the collection."""

    short: str
    measure: Measure
    places: int = 3
    needs_size: bool = False


def earlier_measures(size: int | None) -> tuple[Earlier, ...]:
    """nCG and nDCG, then the measures that the article compares them with; ``size`` is that of the collection."""
    of_size = "" if size is None else f"N={size}"
    also = "" if size is None else f", N={size}"
    return (
        Earlier("nCG", parse(_NCG)),
        Earlier("nDCG", parse(_NDCG)),
        Earlier("ASL", parse(f"ASL({of_size})"), 1, needs_size=True),
        Earlier("ESL", parse(f"ESL(n=1, count=all{also})"), 2),
        Earlier("NR", parse(f"NormRecall({of_size})"), needs_size=True),
        Earlier("SR", parse(f"SlidingRatio@{_DEPTH}")),
        Earlier("S", parse(f"Satisfaction@{_DEPTH}")),
        Earlier("F", parse(f"Frustration@{_DEPTH}")),
        Earlier("T", parse(f"SFTotal@{_DEPTH}")),
        Earlier("RHL", parse("RankedHalfLife"), 1),
        Earlier("RR", parse("RelativeRelevance")),
    )


@dataclass(frozen=True)
class CutLists:
    """Sliding ratio and nCG at a rank, on the same lists cut at some depths; the last are whole."""

    cuts: tuple[int | None, ...]
    evaluations: tuple[Mapping[str, Evaluation], ...]

    @classmethod
    def of(cls, case: Case) -> CutLists:
        """Reads the runs once for every depth."""
        judged = case.judged
        whole = judged.policy.depth
        cuts = (*(cut for cut in _CUTS if whole is None or cut < whole), whole)
        measures = [parse(name) for name in cls.measures()]
        found = []
        for cut in cuts:
            at_cut = Judged(judged.qrels, judged.policy.replace(depth=cut), judged.index)
            found.append(evaluate_runs(at_cut, case.runs, measures, **case.how))
        return cls(cuts, tuple(found))

    @staticmethod
    def measures() -> tuple[str, str]:
        return f"SlidingRatio@{_SEEN_TO}", f"nCG@{_SEEN_TO}"

    def means(self, measure: str, run: str) -> list[float]:
        """The run's mean at every depth."""
        return [evaluations[run].mean(measure) for evaluations in self.evaluations]

    def widest_change(self, measure: str) -> float:
        """The largest difference between two depths of any run's mean; 0 where no run has one."""
        means = [self.means(measure, run) for run in self.evaluations[0]]
        return max((max(values) - min(values) for values in means if not any(map(math.isnan, values))), default=0.0)


def earlier_section(graded: Mapping[str, GradedRun], cut: CutLists, size: int | None) -> Section:
    """Section 2.4: means, orders, and its points as statements about these runs."""
    wanted = [each for each in earlier_measures(size) if each.short != "RR" or _have_scores(graded)]
    evaluations = evaluated(graded, [each.measure for each in wanted])
    known = {each.short: size is not None or not each.needs_size for each in wanted}
    claims = _half_life_claims(evaluations)
    if len(cut.cuts) > 1:
        ratio, ncg = (cut.widest_change(name) for name in cut.measures())
        what, says = f"longer lists and rank {_SEEN_TO}", "SR depends on the list, nCG does not"
        finds = f"SR changes by up to {ratio:.3f}, nCG by {ncg:.3f}"
        undecidable = Claim.undecided(what, says, "no list is longer, or finds more")
        claims.insert(0, Claim.statement(what, says, finds, ratio > 0 and ncg == 0) if ratio or ncg else undecidable)
    no_size = no_scores = ""
    if size is not None:
        claims.append(_outlier_claim(graded, size))
    else:
        missed = 0
        for run in graded.values():
            has_hits = np.diff(run.hit_offsets) > 0
            found = np.add.reduceat(np.append(run.hit_grade > 0, False), run.hit_offsets[:-1]) * has_hits
            missed += int(np.count_nonzero(found < run.judged.recall_base(None, None)))
        queries = len(next(iter(graded.values())).judged.qrels.query_ids)
        no_size = (
            "ASL and NR need the size of the collection (--collection-size N) for relevant documents that were not "
            f"retrieved: {missed:,} of {count_of(len(graded) * queries, 'list')} miss some. "
            "Without it there are no means of them here, and no statement about outliers."
        )
    if not _have_scores(graded):
        no_scores = "RR compares scores with grades; not every run has scores, so it is left out."
    depths = [f"list of {number_text(each)}" if each else "whole" for each in cut.cuts]
    return Section.of(
        "Section 2.4",
        "The measures that came before, on the same runs. Gains are the grades; nDCG has base 2; ESL counts the "
        "documents that a user sees down to the first relevant one.",
        _means(wanted, known, evaluations),
        _orders(wanted, known, evaluations),
        no_size,
        no_scores,
        table(
            f"SR and nCG at rank {_SEEN_TO} while the list gets longer",
            (*head("run"), *head(f"{short}, {name} .3" for short in ("SR", "nCG") for name in depths)),
            ((run, *(mean for each in cut.measures() for mean in cut.means(each, run))) for run in cut.evaluations[0]),
        ),
        claims_tables("Said of the earlier measures", claims),
    )


def _have_scores(graded: Mapping[str, GradedRun]) -> bool:
    return all(run.score.size == run.list_offsets[-1] for run in graded.values())


def _means(wanted: list[Earlier], known: Mapping[str, bool], evaluations: Mapping[str, Evaluation]) -> Table:
    return table(
        "Means by earlier measures",
        (*head("run"), *head(f"{each.short} .{each.places}" for each in wanted)),
        (
            (name, *(evaluation.mean(each.measure) if known[each.short] else None for each in wanted))
            for name, evaluation in evaluations.items()
        ),
        f"SR, S (satisfaction), F (frustration), T (their total), nCG and nDCG at rank {_DEPTH}",
        "lower is better: ASL, ESL, F, RHL; with the grades as gains S is SR",
        "RR (relative relevance) is of the size of scores, not of ranks: not really a measure of performance",
    )


def _orders(wanted: list[Earlier], known: Mapping[str, bool], evaluations: Mapping[str, Evaluation]) -> Table:
    cells = {each.short: cell_of(each.short, each.measure, (), evaluations) for each in wanted}
    rows: list[tuple[Cell, ...]] = []
    for each in wanted:
        without = sum(len(evaluation.undefined(each.measure)) for evaluation in evaluations.values())
        taus: list[Cell] = [None, None]
        best: Cell = None
        if known[each.short]:
            taus = [tau_of_ranks(cells[each.short].ranks, cells[other].ranks) for other in ("nCG", "nDCG")]
            best = best_runs(cells[each.short]) or None
        rows.append((each.short, str(each.measure), each.measure.better, best, *taus, without))
    return table(
        "The order of runs by each measure",
        (
            *head("measure | in gainful"),
            *head("better", for_machines=True),
            *head("best run | tau with nCG .2 | tau with nDCG .2 | lists without a value #"),
        ),
        rows,
        "tau: Kendall's tau-b between the orders of the runs, best first in both",
    )


def _half_life_claims(evaluations: Mapping[str, Evaluation]) -> list[Claim]:
    """Lists for the same query with the same half-life and far apart by nDCG."""
    first = next(iter(evaluations.values()))
    names, queries = list(evaluations), first.queries
    half, ndcg = (
        np.array([evaluation.raw[evaluation.measures.index(parse(name))] for evaluation in evaluations.values()])
        for name in ("RankedHalfLife", _NDCG)
    )
    same, other, widest, where = 0, 0, 0.0, ""
    for i, j in combinations(range(len(names)), 2):
        is_same = np.abs(half[i] - half[j]) < _SAME_HALF_LIFE
        apart = np.where(is_same, np.abs(ndcg[i] - ndcg[j]), 0.0)
        same += int(np.count_nonzero(is_same))
        other += int(np.count_nonzero(apart >= _OTHER_NDCG))
        at = int(apart.argmax())
        if apart[at] > widest:
            widest = float(apart[at])
            pair = " and ".join(f"{ndcg[k, at]:.2f} by {shortened(names[k], 16)}" for k in (i, j))
            where = f"query {queries[at]}, RHL {half[i, at]:.1f} and {half[j, at]:.1f}: nDCG {pair}"
    what, says = f"pairs of lists with RHL within {_SAME_HALF_LIFE} ranks", "RHL may be the same for different lists"
    if not same:
        return [Claim.undecided(what, says, "there are none")]
    finds = f"{other:,} of {same:,} differ by {_OTHER_NDCG} or more in nDCG"
    return [Claim.remark(what, says, finds, other > 0, f"furthest apart: {where}" if where else "")]


def _outlier_claim(graded: Mapping[str, GradedRun], size: int) -> Claim:
    """The last relevant document that each list has, moved to the end of the collection."""
    what, says = "last document found, to the collection's end", "ASL and NR depend on it, nCG and nDCG do not much"
    if not any(((run.hit_grade > 0) & (run.hit_rank > _DEPTH)).any() for run in graded.values()):
        return Claim.undecided(what, says, f"no list has a relevant document after rank {_DEPTH}")
    at_the_end = f"(N={size}, unretrieved=bottom)"
    names = (f"ASL{at_the_end}", f"NormRecall{at_the_end}", _NCG, _NDCG)
    measures = [parse(name) for name in names]
    before = evaluated(graded, measures)
    after = evaluated({name: _without_last_found(run) for name, run in graded.items()}, measures)
    changes = []
    for each in measures:
        means = [(before[run].mean(each), after[run].mean(each)) for run in graded]
        shares = [abs(new - old) / old for old, new in means if old]
        changes.append(fmean(shares) if shares else 0.0)
    asl, recall, ncg, ndcg = changes
    return Claim.statement(
        what,
        says,
        f"ASL {_per_cent(asl)}, NR {_per_cent(recall)}, nCG {_per_cent(ncg)}, nDCG {_per_cent(ndcg)}",
        min(asl, recall) > max(ncg, ndcg),
        "the last relevant document of every list, moved to the end of the collection: by how much the runs' means "
        f"change on average; it holds where both change more than nCG and nDCG at rank {_DEPTH}",
    )


def _per_cent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 0.995 else f"{100 * share:.0f} %"


def _without_last_found(run: GradedRun) -> GradedRun:
    """The same lists without the last relevant document of each; those behind it move up."""
    counts, relevant = np.diff(run.hit_offsets), np.flatnonzero(run.hit_grade > 0)
    query = np.repeat(np.arange(counts.size), counts)
    last = relevant[np.diff(query[relevant], append=counts.size) > 0]
    removed_rank = np.full(counts.size, np.iinfo(np.int64).max)
    removed_rank[query[last]] = run.hit_rank[last]
    kept = np.ones(query.size, bool)
    kept[last] = False
    removed = np.bincount(query[last], minlength=counts.size)
    return replace(
        run,
        retrieved=run.retrieved - removed,
        hit_offsets=np.concatenate(([0], np.cumsum(counts - removed))),
        hit_rank=(run.hit_rank - (run.hit_rank > removed_rank[query]))[kept],
        hit_grade=run.hit_grade[kept],
        hit_item=run.hit_item[kept],
        score=np.zeros(0),
        pooled=None,
    )
