"""Which systems are the best, which are left out, and the three groups of Della Mea and Mizzaro (2004)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gainful.arrays import Floats, Ints
from gainful.data.judged import Judged
from gainful.errors import InputError, UsageError
from gainful.measures.base import Measure
from gainful.measures.grammar import parse
from gainful.named_runs import no_such_run
from gainful.notation import count_of, number_text, read_number
from gainful.papers.dellamea2004_lists import SystemLists
from gainful.results import Evaluation
from gainful.stats.settled import settle

#: The measures that the paper compares with, under its names.
REFERENCES: Mapping[str, Measure] = {"Rel-Ret": parse("NumRelRet"), "AvgPrec": parse("AP"), "R-Prec": parse("Rprec")}

GROUPS = ("Best", "Normal", "Worst")

#: So many systems are the best, where there are enough; of fewer systems half of them are.
_TEN, _ENOUGH = 10, 15
_FEWEST = 3


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
    queries: int

    def places(self, group: str) -> Ints:
        """Where the systems of a group stand among those that are kept."""
        place = {name: i for i, name in enumerate(self.kept)}
        return np.array([place[name] for name in self.groups[group]], np.int64)


def choose_systems(
    judged: Judged,
    lists: Mapping[str, SystemLists],
    evaluations: Mapping[str, Evaluation],
    best: Sequence[str],
    worst_share: float | None,
) -> Systems:
    """The best first, then those that fall short are left out, then the rest is put into groups."""
    share = _checked_share(worst_share)
    means = _average_precision(evaluations)
    names = tuple(sorted(lists, key=lambda name: (-means[name], name)))
    chosen = _best(names, best)
    depth = max(int(each.length.max(initial=0)) for each in lists.values())
    short = tuple(found for name in names if (found := _shortage(name, lists[name], depth)))
    left_out = {each.name for each in short}
    kept = tuple(name for name in names if name not in left_out)
    _refuse_few(judged, lists, kept, short, depth)
    below, telling = _share_below_median(names, evaluations)
    worst = {name for name in kept if telling and below[name] >= share and name not in chosen}
    groups = {
        "Best": tuple(name for name in kept if name in chosen),
        "Normal": tuple(name for name in kept if name not in chosen and name not in worst),
        "Worst": tuple(name for name in kept if name in worst),
    }
    queries = len(judged.qrels.query_ids)
    return Systems(names, means, chosen, bool(best), depth, short, kept, groups, worst_share, telling, queries)


def _checked_share(worst_share: float | None) -> float:
    share = 1.0 if worst_share is None else read_number(worst_share, "worst-share")
    if not 0 < share <= 1:
        raise UsageError(f"worst-share: expected a number above 0 and up to 1, found {number_text(share)}")
    return share


def _average_precision(evaluations: Mapping[str, Evaluation]) -> dict[str, float]:
    """The means, settled; where no query counts, below all others."""
    found = np.array([evaluation.mean(REFERENCES["AvgPrec"]) for evaluation in evaluations.values()])
    means = settle(np.where(np.isnan(found), -1.0, found), 1.0)
    return dict(zip(evaluations, means.tolist(), strict=True))


def _best(names: Sequence[str], given: Sequence[str]) -> tuple[str, ...]:
    for name in given:
        if name not in names:
            raise no_such_run(name, sorted(names), "best")
    if given:
        return tuple(name for name in names if name in given)
    return tuple(names[: _TEN if len(names) >= _ENOUGH else max(1, len(names) // 2)])


def _shortage(name: str, lists: SystemLists, depth: int) -> Short | None:
    is_short = lists.length < depth
    if not is_short.any():
        return None
    unanswered = int(np.count_nonzero(lists.length == 0))
    return Short(name, int(np.count_nonzero(is_short)), unanswered, int(lists.length.min()))


def _refuse_few(
    judged: Judged, lists: Mapping[str, SystemLists], kept: Sequence[str], short: Sequence[Short], depth: int
) -> None:
    if len(kept) >= _FEWEST:
        return
    queries = count_of(len(judged.qrels.query_ids), "judged query", "judged queries")
    raise InputError(
        f"runs: dellamea2004 expects at least {_FEWEST} systems that retrieve {depth:,} documents (the longest list) "
        f"for each of the {queries}, found {len(kept)} of {len(lists)}",
        f"{short[0].name} retrieves {short[0].fewest:,} for some query; depth=N (--depth N) cuts all lists alike"
        if short
        else "the paper has 129 runs",
    )


def _share_below_median(names: Sequence[str], evaluations: Mapping[str, Evaluation]) -> tuple[dict[str, float], int]:
    """On which share of queries each system's average precision is below the median of all systems', and of how many.

    Where the median is 0 no system can be below it: such a query tells nothing.
    """
    scores = settle(_by_query(names, evaluations), 1.0)
    counted = ~np.isnan(scores)
    scores = scores[counted.any(axis=1)]
    medians = settle(np.array([np.median(row[~np.isnan(row)]) for row in scores]), 1.0)
    telling = medians > 0
    below = np.count_nonzero(scores[telling] < medians[telling, np.newaxis], axis=0)
    number = int(np.count_nonzero(telling))
    return dict(zip(names, (below / max(1, number)).tolist(), strict=True)), number


def _by_query(names: Sequence[str], evaluations: Mapping[str, Evaluation]) -> Floats:
    """Average precision after the policy, queries x systems; NaN where it leaves a query out."""
    columns = [evaluations[name].by_query(REFERENCES["AvgPrec"]).values() for name in names]
    return np.array([[np.nan if value is None else value for value in column] for column in columns]).T
