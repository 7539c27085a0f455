"""What curves of sessions are made of, gathered block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np

from gainful.evaluation.results import Evaluation
from gainful.kernel.arrays import Bools, Floats, Ints
from gainful.kernel.exact_sums import RankSums
from gainful.measures.scoring import condenses
from gainful.measures.session_block import SessionBlock
from gainful.measures.session_cumulation import SessionGain, gained_and_ideal
from gainful.notation import bytes_of_id, text_of_id
from gainful.tasks.curves.averages import (
    RATIO_OF_MEANS,
    Band,
    Resamples,
    Resampling,
    band_ranks,
    percentile_band,
    resampled,
)
from gainful.tasks.sessions.session_positions import LastAndEarlier, LastSums

#: With fewer sessions there is nothing to resample.
_FEWEST = 2
#: Up to so many positions there is a band at every one.
_EVERY_POSITION_TO = 200


class LastGathered:
    """The vectors of last queries and of earlier ones, by rank."""

    def __init__(self, measure: SessionGain) -> None:
        self._sums = LastSums(measure)
        self.longest = 0

    def add(self, session_ids: Sequence[bytes], block: SessionBlock) -> None:
        """Takes a block's queries in."""
        self._sums.add(block)
        self.longest = max(self.longest, _longest(block))

    def found(self) -> LastAndEarlier:
        """The means."""
        return self._sums.found()


class VectorsGathered:
    """Every judged session's vector and the ideal one, down to the last of so many queries."""

    def __init__(self, measure: SessionGain, queries: int) -> None:
        self._measure, self._queries = measure, queries
        self._ids: list[bytes] = []
        self._counts: list[Ints] = []
        self._gained: list[Floats] = []
        self._ideal: list[Floats] = []
        self.longest = 0

    def add(self, session_ids: Sequence[bytes], block: SessionBlock) -> None:
        """Takes a block's sessions in."""
        seen = block.condensed() if condenses(self._measure, block.judged.policy) else block
        counted = block.is_judged
        # As short as they can be: after the longest session nothing changes but for an ideal one that goes on.
        queries = self._queries
        if self._measure.ideal_queries == "session":
            queries = min(queries, max(1, int(block.queries.max(initial=1))))
        gained, ideal = gained_and_ideal(seen, self._measure, queries)
        self._ids += [each for each, is_judged in zip(session_ids, counted.tolist(), strict=True) if is_judged]
        self._counts.append(block.queries[counted])
        self._gained.append(gained[counted])
        if self._measure.normalised:
            self._ideal.append(ideal[counted])
        self.longest = max(self.longest, _longest(block))

    def settled(self, evaluation: Evaluation, queries: int) -> SessionVectors:
        """All vectors to the last of so many queries, sessions in byte order, after the policy."""
        width = queries * (self._measure.cutoff or 0)
        order = sorted(range(len(self._ids)), key=self._ids.__getitem__)
        gained = _widened(self._gained, width)[order]
        ideal = _widened(self._ideal, width)[order] if self._measure.normalised else gained
        policy = evaluation.policy
        gathered = set(self._ids)
        missing = [] if policy.missing != "zero" else [s for s in evaluation.missing if bytes_of_id(s) not in gathered]
        return SessionVectors(
            self._measure,
            [text_of_id(self._ids[i]) for i in order],
            np.concatenate(self._counts)[order] if order else np.zeros(0, np.int64),
            gained,
            ideal,
            policy.undefined == "zero",
            missing,
        )


#: What gathers one measure's curves.
Gathered: TypeAlias = LastGathered | VectorsGathered


class SessionVectors:
    """Vectors of sessions x positions; ``missing`` sessions, which gain nothing, come on top of them."""

    def __init__(
        self,
        measure: SessionGain,
        sessions: Sequence[str],
        counts: Ints,
        gained: Floats,
        ideal: Floats,
        undefined_is_zero: bool,
        missing: Sequence[str],
    ) -> None:
        self._measure, self._sessions, self._counts, self._missing = measure, sessions, counts, missing
        self._gained, self._ideal, self._undefined_is_zero = gained, ideal, undefined_is_zero
        values = measure.ratio(gained, ideal) if measure.normalised else gained
        self._values = np.where(np.isnan(values), 0.0, values) if undefined_is_zero else values

    def each(self) -> Iterator[tuple[str, int | None, Floats]]:
        """Every session: its id, how many queries it has (of one that is not there nobody knows), and its vector."""
        found: dict[str, tuple[int | None, Floats]] = {
            s: (None, np.zeros(self._values.shape[1])) for s in self._missing
        }
        found.update(zip(self._sessions, zip(self._counts.tolist(), self._values, strict=True), strict=True))
        for session in sorted(found, key=bytes_of_id):
            yield session, *found[session]

    def average(
        self, average: str, at_least: int, resampling: Resampling
    ) -> tuple[Floats, int, None, None, Band | None]:
        """The average over the sessions with at least so many queries, and over how many it is.

        In a ratio of means a session that is not there has no part: nobody knows how long its ideal would be.
        """
        chosen = self._counts >= at_least
        if average == RATIO_OF_MEANS:
            parts, wholes = self._gained[chosen], self._ideal[chosen]
            count = int(np.count_nonzero(chosen))
        else:
            # Of a session without a first relevant query the ratio begins later.
            values = self._with_missing(self._values[chosen], at_least)
            counted: Bools = ~np.isnan(values)
            parts, wholes = np.where(counted, values, 0.0), counted.astype(np.float64)
            count = int(np.count_nonzero(counted[:, -1])) if counted.size else 0
        values = self._shares(average, _sums(parts), _sums(wholes))
        if count == 0:
            values = np.full(values.size, np.nan)
        return values, count, None, None, self._band(average, parts, wholes, resampling) if count >= _FEWEST else None

    def _with_missing(self, values: Floats, at_least: int) -> Floats:
        # How many queries a session has that is not there, nobody knows.
        missing = 0 if at_least else len(self._missing)
        return np.concatenate((values, np.zeros((missing, values.shape[1])))) if missing else values

    def _shares(self, average: str, parts: Floats, wholes: Floats) -> Floats:
        if average == RATIO_OF_MEANS:
            shares = self._measure.ratio(parts, wholes)
            return np.where(np.isnan(shares), 0.0, shares) if self._undefined_is_zero else shares
        with np.errstate(invalid="ignore"):
            return np.asarray(parts / wholes)

    def _band(self, average: str, parts: Floats, wholes: Floats, resampling: Resampling) -> Band | None:
        if not resampling.draws:
            return None
        width = parts.shape[1]
        places = np.arange(1, width + 1) if width <= _EVERY_POSITION_TO else band_ranks(width)
        below = wholes[:, places - 1]
        resamples = Resamples(parts.shape[0], resampling.draws, resampling.seed)
        with np.errstate(invalid="ignore", divide="ignore"):
            drawn = resampled(resamples, parts[:, places - 1], below[:, 0] if (below == below[:, :1]).all() else below)
        drawn = drawn[:, np.isfinite(drawn).all(axis=0)]
        return percentile_band(places, drawn, resampling.confidence)


def _longest(block: SessionBlock) -> int:
    return int(block.queries[block.is_judged].max(initial=0))


def _sums(rows: Floats) -> Floats:
    sums = RankSums(rows.shape[1])
    sums.add(rows)
    return sums.total


def _widened(parts: Sequence[Floats], width: int) -> Floats:
    """All parts as one, each to the same last position: there a vector stays as it was."""
    if not parts:
        return np.zeros((0, width))
    rows = [np.pad(part[:, :width], ((0, 0), (0, max(0, width - part.shape[1]))), "edge") for part in parts]
    return np.concatenate(rows)
