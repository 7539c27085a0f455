"""The vectors of one system's sessions by one measure, gathered block by block, and the curves made of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from gainful.data.sessions import Sessions
from gainful.errors import UsageError
from gainful.evaluation.evaluations import Evaluation
from gainful.kernel.arrays import Bools, Floats, Ints
from gainful.kernel.exact_sums import RankSums
from gainful.measures.block import condenses
from gainful.measures.session_block import SessionBlock
from gainful.measures.session_cumulation import SessionGain, gained_and_ideal
from gainful.notation import bytes_of_id, text_of_id
from gainful.tasks.curves.averages import (
    FEWEST,
    MEAN,
    RATIO_OF_MEANS,
    Band,
    Curve,
    Resampling,
    band_ranks,
    percentile_band,
    resampled,
    widened,
)

#: Up to so many positions there is a band at every one.
_EVERY_POSITION_TO = 200

SessionCurve: TypeAlias = Curve[SessionGain]


@dataclass(frozen=True, eq=False, repr=False)
class OneSession(Curve[SessionGain]):
    """The vector of one session, which has so many queries; of one that is not there nobody knows how many."""

    session: str = ""
    queries: int | None = None


def seen_by(measure: SessionGain, block: SessionBlock) -> SessionBlock:
    """The sessions as a measure sees them: as they are, or without what has no grade."""
    return block.condensed() if condenses(measure, block.judged.policy) else block


def is_last_turn(block: SessionBlock) -> Bools:
    """Which turns are the last of their session."""
    is_last = np.zeros(block.session.size, bool)
    is_last[block.turn_offsets[1:][block.queries > 0] - 1] = True
    return is_last


class PositionVectors:
    """The vectors of last queries, of earlier ones and of each session's best, added up; only what has judgments
    counts. Of equally good queries the later one is the best."""

    def __init__(self, measure: SessionGain) -> None:
        if measure.cutoff is None:
            raise UsageError(f"{measure}: expected a cutoff, found none", f"write {measure.name}@100")
        self._measure, self._depth = measure, measure.cutoff
        self._sums = {of: RankSums(self._depth) for of in ("last query", "earlier queries", "best query")}
        self._counts = dict.fromkeys(self._sums, 0)
        self.longest = 0

    def add(self, part: Sessions, chosen: slice, block: SessionBlock) -> None:
        """Takes a block's queries in."""
        measure, is_last = self._measure, is_last_turn(block)
        for which, some in seen_by(measure, block).parts(block.queries * self._depth):
            first = int(block.turn_offsets[which.start])
            turns = slice(first, first + some.session.size)
            worth = measure.worth(some, measure.depths(some))
            steps = np.zeros((some.session.size, self._depth))
            inside = worth.rank <= self._depth  # a recorded depth can be beyond k
            values = worth.value / measure.divisors_at(some.position)[worth.turn]
            steps[worth.turn[inside], worth.rank[inside] - 1] = values[inside]
            vectors, counted = np.cumsum(steps, axis=1), block.is_judged_turn[turns]
            places = np.flatnonzero(counted)
            order = places[np.lexsort((places, vectors[places, -1], some.session[places]))]
            is_best = np.zeros(some.session.size, bool)
            is_best[order[np.flatnonzero(np.diff(some.session[order], append=-1))]] = True
            for of, wanted in zip(self._sums, (is_last[turns], ~is_last[turns], is_best), strict=True):
                rows = vectors[wanted & counted]
                self._sums[of].add(rows)
                self._counts[of] += rows.shape[0]
        self.longest = max(self.longest, int(block.queries[block.is_judged].max(initial=0)))

    def curves(self, run: str) -> Iterator[SessionCurve]:
        """The means; NaN where there is no such query."""
        for of, sums in self._sums.items():
            count = self._counts[of]
            yield Curve(run, self._measure, MEAN, of, sums.total / (count or np.nan), count)


class SessionVectors:
    """Every judged session's vector and the ideal one, down to the last of so many queries."""

    def __init__(self, measure: SessionGain, queries: int) -> None:
        self._measure, self._queries = measure, queries
        self._ids: list[bytes] = []
        self._counts: list[Ints] = []
        self._gained: list[Floats] = []
        self._ideal: list[Floats] = []
        self.longest = 0

    def add(self, part: Sessions, chosen: slice, block: SessionBlock) -> None:
        """Takes a block's sessions in."""
        measure, counted = self._measure, block.is_judged
        # As short as they can be: after the longest session nothing changes but for an ideal one that goes on.
        queries = self._queries
        if measure.ideal_queries == "session":
            queries = min(queries, max(1, int(block.queries.max(initial=1))))
        gained, ideal = gained_and_ideal(seen_by(measure, block), measure, queries)
        ids = part.session_ids[chosen]
        self._ids += [each for each, is_judged in zip(ids, counted.tolist(), strict=True) if is_judged]
        self._counts.append(block.queries[counted])
        self._gained.append(gained[counted])
        if measure.normalised:
            self._ideal.append(ideal[counted])
        self.longest = max(self.longest, int(block.queries[counted].max(initial=0)))

    def settled(self, evaluation: Evaluation, queries: int) -> SettledVectors:
        """All vectors to the last of so many queries, sessions in byte order, after the policy."""
        width, policy = queries * (self._measure.cutoff or 0), evaluation.policy
        order = sorted(range(len(self._ids)), key=self._ids.__getitem__)
        gathered = set(self._ids)

        def joined(parts: Sequence[Floats]) -> Floats:
            return np.concatenate([np.zeros((0, width)), *(widened(part, width) for part in parts)])[order]

        gained = joined(self._gained)
        return SettledVectors(
            self._measure,
            [text_of_id(self._ids[i]) for i in order],
            np.concatenate([np.zeros(0, np.int64), *self._counts])[order],
            gained,
            joined(self._ideal) if self._measure.normalised else gained,
            policy.undefined == "zero",
            [s for s in evaluation.missing if policy.missing == "zero" and bytes_of_id(s) not in gathered],
        )


@dataclass(frozen=True, eq=False)
class SettledVectors:
    """Vectors of sessions x positions; ``missing`` sessions, which gain nothing, come on top of them."""

    measure: SessionGain
    sessions: Sequence[str]
    counts: Ints  # how many queries each session has
    gained: Floats
    ideal: Floats
    undefined_is_zero: bool
    missing: Sequence[str]

    def _shares(self, gained: Floats, ideal: Floats) -> Floats:
        """What the policy makes of the shares of the ideal."""
        shares = self.measure.ratio(gained, ideal)
        return np.where(np.isnan(shares), 0.0, shares) if self.undefined_is_zero else shares

    @cached_property
    def _values(self) -> Floats:
        return self._shares(self.gained, self.ideal) if self.measure.normalised else self.gained

    def each(self, run: str) -> Iterator[SessionCurve]:
        """Every session, in byte order."""
        nothing = np.zeros(self._values.shape[1])
        found: dict[str, tuple[int | None, Floats]] = dict.fromkeys(self.missing, (None, nothing))
        found.update(zip(self.sessions, zip(self.counts.tolist(), self._values, strict=True), strict=True))
        for session in sorted(found, key=bytes_of_id):
            queries, values = found[session]
            yield OneSession(run, self.measure, "", f"session {session}", values, 1, None, session, queries)

    def average(self, run: str, average: str, at_least: int, resampling: Resampling) -> SessionCurve:
        """The average over the sessions with at least so many queries, and its band."""
        chosen = self.counts >= at_least
        if average == RATIO_OF_MEANS:
            # A session that is not there has no part: nobody knows how long its ideal would be.
            parts, wholes = self.gained[chosen], self.ideal[chosen]
            count = int(np.count_nonzero(chosen))
            values = self._shares(_sums(parts), _sums(wholes))
        else:
            # How many queries a session has that is not there, nobody knows.
            nothing = np.zeros((0 if at_least else len(self.missing), self._values.shape[1]))
            known = np.concatenate((self._values[chosen], nothing))
            # Of a session without a first relevant query the ratio begins later.
            counted = ~np.isnan(known)
            parts, wholes = np.where(counted, known, 0.0), counted.astype(np.float64)
            count = int(np.count_nonzero(counted[:, -1])) if counted.size else 0
            with np.errstate(invalid="ignore"):
                values = np.asarray(_sums(parts) / _sums(wholes))
        of = f"at least {at_least} queries" if at_least else "all sessions"
        if not count:
            return Curve(run, self.measure, average, of, np.full(values.size, np.nan), 0)
        band: Band | None = None
        resamples = resampling.resamples(parts.shape[0]) if count >= FEWEST else None
        if resamples is not None:
            places = np.arange(1, values.size + 1) if values.size <= _EVERY_POSITION_TO else band_ranks(values.size)
            below = wholes[:, places - 1]
            below = below[:, 0] if (below == below[:, :1]).all() else below
            band = percentile_band(places, resampled(resamples, parts[:, places - 1], below), resampling.confidence)
        return Curve(run, self.measure, average, of, values, count, band)


def _sums(rows: Floats) -> Floats:
    sums = RankSums(rows.shape[1])
    sums.add(rows)
    return sums.total
