"""Which systems are the best, which are left out, and the three groups of Della Mea and Mizzaro (2004)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gainful.arrays import Floats, Ints
from gainful.data.judged import Judged
from gainful.errors import InputError, UsageError
from gainful.measures.base import Measure
from gainful.measures.grammar import parse
from gainful.named_runs import no_such_run
from gainful.notation import count_of, number_text, printable, read_number
from gainful.papers.dellamea2004_lists import SystemLists
from gainful.results import Evaluation
from gainful.stats.settled import settle

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
    share = _checked_share(worst_share)
    given = _checked_names(best)
    means = _average_precision(evaluations)
    names = tuple(sorted(lists, key=lambda name: (-means[name], name)))
    chosen = _best(names, given)
    depth = max(int(each.length.max(initial=0)) for each in lists.values())
    short = tuple(found for name in names if (found := _shortage(name, lists[name], depth)))
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
    return Systems(names, means, chosen, bool(given), depth, short, kept, groups, worst_share, telling, silent, skipped)


def _checked_share(worst_share: float | None) -> float:
    share = 1.0 if worst_share is None else read_number(worst_share, "worst_share")
    if not 0 < share <= 1:
        raise UsageError(f"worst_share: expected a number above 0 and up to 1, found {number_text(share)}")
    return share


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
    return tuple(names[: TEN if len(names) > TEN else max(1, len(names) // 2)])


def _shortage(name: str, lists: SystemLists, depth: int) -> Short | None:
    is_short = lists.length < depth
    if not is_short.any():
        return None
    unanswered = int(np.count_nonzero(lists.length == 0))
    return Short(name, int(np.count_nonzero(is_short)), unanswered, int(lists.length.min()))


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
    raise InputError(
        f"runs: dellamea2004 expects at least {FEWEST} systems that retrieve {count_of(depth, 'document')} (the "
        f"longest list) for each of the {count_of(len(ids), 'judged query', 'judged queries')}, found {len(kept)} of "
        f"{len(lists)}",
        _how_to_keep(ids, lengths),
    )


def _how_to_keep(ids: Sequence[str], lengths: Ints) -> str:
    """The depth at which enough systems remain; if there is none, the query that most systems leave unanswered."""
    depth = int(np.sort(lengths.min(axis=1))[-FEWEST])
    if depth:
        remain = int(np.count_nonzero(lengths.min(axis=1) >= depth))
        return f"depth={depth} (--depth {depth}) cuts all lists alike: {remain} systems then remain"
    unanswered = np.count_nonzero(lengths == 0, axis=0)
    worst = int(np.argmax(unanswered))
    return (
        f"{count_of(int(unanswered[worst]), 'run has', 'runs have')} nothing for query '{ids[worst]}': leave "
        "out the judgments of queries that runs do not answer, or these runs"
    )


def _share_below_median(
    names: Sequence[str], evaluations: Mapping[str, Evaluation]
) -> tuple[dict[str, float], int, int]:
    """On which share of queries each system's average precision is below the median of all systems', and of how many.

    Where the median is 0 no system can be below it: such a query tells nothing, and there are so many of these.
    """
    scores = settle(_by_query(names, evaluations), 1.0)
    counted = ~np.isnan(scores)
    scores = scores[counted.any(axis=1)]
    medians = settle(np.array([np.median(row[~np.isnan(row)]) for row in scores]), 1.0)
    telling = medians > 0
    below = np.count_nonzero(scores[telling] < medians[telling, np.newaxis], axis=0)
    number = int(np.count_nonzero(telling))
    shares = dict(zip(names, (below / max(1, number)).tolist(), strict=True))
    return shares, number, int(telling.size) - number


def _by_query(names: Sequence[str], evaluations: Mapping[str, Evaluation]) -> Floats:
    """Average precision after the policy, queries x systems; NaN where it leaves a query out."""
    columns = [evaluations[name].by_query(REFERENCES["AvgPrec"]).values() for name in names]
    return np.array([[np.nan if value is None else value for value in column] for column in columns]).T
