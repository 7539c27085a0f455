"""Measures of sessions: their base class, and the block of judged sessions that they see as arrays."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from gainful.data.judged import HasCache, Judged
from gainful.data.lists import is_relevant, ordinal_in_row
from gainful.data.qrels import Qrels
from gainful.data.sessions import RankedSessions, judged_sessions, rank_sessions, refuse_repeats, sessions_from_lists
from gainful.errors import UsageError
from gainful.gains import Gain
from gainful.kernel import core
from gainful.kernel.arrays import Bools, Floats, Ints, offsets_of
from gainful.measures.base import Measure
from gainful.measures.block import CELLS, Block, condenses, require_list
from gainful.policy import Policy


class SessionDocuments(NamedTuple):
    """The documents that have a grade, by turn, then by rank."""

    place: Ints  # among all documents that the block's sessions show
    turn: Ints
    rank: Ints
    item: Ints  # the judged item, -1 where only the appearance itself has a grade
    grade: Floats


class SessionBlock(HasCache):
    """Some sessions. Turns are numbered through the block; ranks and positions count from 1.

    ``queries`` is each session's number of turns; they are ``turn_offsets[i] : turn_offsets[i + 1]``. Each turn has a
    ``session`` and a ``position`` in it; ``shown``, its number of documents; ``judged_query`` whose judgments apply, or
    -1; ``scanned``, how far the user looked, or -1 if unknown; ``cost``, or NaN if unknown.

    ``documents`` have a grade: from the judgments, or their own, which takes precedence.
    """

    def __init__(self, judged: Judged, sessions: RankedSessions, first: int, end: int, threads: int = 1) -> None:
        self.judged = judged
        self.sessions = sessions
        self.scale = judged.scale
        self.size = end - first
        self.threads = threads
        self._first = first
        table = sessions.sessions
        turns = slice(*table.turn_offsets[[first, end]].tolist())
        self.turn_offsets: Ints = table.turn_offsets[first : end + 1] - turns.start
        self.queries: Ints = np.diff(self.turn_offsets)
        self.session: Ints = np.repeat(np.arange(self.size), self.queries)
        self.position: Ints = np.arange(1, self.session.size + 1) - self.turn_offsets[:-1][self.session]
        self.judged_query: Ints = sessions.judged_query[turns]
        self.scanned: Ints = table.scanned[turns] if table.scanned.size else np.full(self.session.size, -1)
        self.cost: Floats = table.costs[turns] if table.costs.size else np.full(self.session.size, np.nan)
        offsets = sessions.list_offsets[turns.start : turns.stop + 1]
        self.list_offsets: Ints = offsets - offsets[0]
        self.shown: Ints = np.diff(offsets)
        self._rows = slice(int(offsets[0]), int(offsets[-1]))
        self._whole: SessionBlock | None = None  # of a condensed block, all that was shown
        self._cache = {}

    @cached_property
    def documents(self) -> SessionDocuments:
        sessions, rows = self.sessions, self._rows
        spans = sessions.spans(rows)
        found = self.judged.index.find_hits(self.judged_query, self.list_offsets, *spans, self.threads)
        place, turn, item, has_repeats = found
        if has_repeats and sessions.is_unchecked:
            refuse_repeats(sessions)
        given = sessions.grade[rows]
        if given.size:  # an appearance with a grade of its own need not be of a judged document
            items, has_grade = np.full(given.size, -1), ~np.isnan(given)
            items[place], has_grade[place] = item, True
            place = np.flatnonzero(has_grade)
            turn, item = np.repeat(np.arange(self.session.size), self.shown)[place], items[place]
        # One grade more, NaN, which -1 finds.
        grade = self.judged.cached("grade or none", lambda: np.append(self.judged.grade, np.nan))[item]
        if given.size:
            grade = np.where(np.isnan(given[place]), grade, given[place])
        if self.judged.policy.negative == "unjudged":
            counts = grade >= 0
            place, turn, item, grade = place[counts], turn[counts], item[counts], grade[counts]
        return SessionDocuments(place, turn, place - self.list_offsets[turn] + 1, item, grade)

    @cached_property
    def is_judged(self) -> Bools:
        """Which sessions have a judged turn, or a document with a grade of its own."""
        judged = judged_sessions(self.turn_offsets, self.judged_query)
        if self.sessions.grade.size:
            judged[self.session[self.documents.turn]] = True
        return judged

    @cached_property
    def is_judged_turn(self) -> Bools:
        """Which turns are judged: where judgments are by query those that have some, else all of judged sessions."""
        if self.sessions.judged_by != "query":
            return np.asarray(self.is_judged[self.session])
        judged = self.judged_query >= 0
        if self.sessions.grade.size:
            judged[self.documents.turn] = True
        return judged

    @cached_property
    def is_last_turn(self) -> Bools:
        """Which turns are the last of their session."""
        return np.asarray(np.diff(self.session, append=-1) != 0)

    def seen_by(self, measure: Measure) -> SessionBlock:
        """The sessions as a measure sees them: as they are, or without what has no grade."""
        return self.condensed if condenses(measure, self.judged.policy) else self

    @cached_property
    def condensed(self) -> SessionBlock:
        """The same sessions without the documents that have no grade, ranks closed up."""
        documents = self.documents
        block = copy.copy(self)
        block.shown = np.bincount(documents.turn, minlength=self.session.size)
        block.list_offsets = offsets_of(block.shown)
        block.documents = documents._replace(rank=ordinal_in_row(documents.turn))
        block._whole, block._cache = self, {}
        return block

    def parts(self, cells: Ints) -> Iterator[tuple[slice, SessionBlock]]:
        """The block in pieces that need few cells each; ``cells`` is what each session needs."""
        for chosen in _slices(cells, CELLS):
            is_whole = chosen.stop - chosen.start == self.size
            yield chosen, self if is_whole else self._part(chosen.start, chosen.stop)

    def _part(self, first: int, end: int) -> SessionBlock:
        if self._whole is not None:
            return self._whole._part(first, end).condensed
        block = SessionBlock(self.judged, self.sessions, self._first + first, self._first + end, self.threads)
        turns = self.turn_offsets[[first, end]]
        chosen = slice(*np.searchsorted(self.documents.turn, turns).tolist())
        place, turn, rank, item, grade = self.documents
        first_place = self.list_offsets[turns[0]]
        block.documents = SessionDocuments(
            place[chosen] - first_place, turn[chosen] - turns[0], rank[chosen], item[chosen], grade[chosen]
        )
        return block

    def is_repeat(self, cutoff: int | None, scan: str) -> Bools:
        """Which documents have been seen before in their session, as far as each turn is looked at."""
        return self.cached(("is_repeat", cutoff, scan), lambda: self._repeats(scan_depths(self, cutoff, scan)))

    def _repeats(self, depth: Ints) -> Bools:
        sessions = self.sessions
        turn = np.repeat(np.arange(self.session.size), self.shown)
        ordinal = np.arange(turn.size)
        seen = ordinal - self.list_offsets[turn] < depth[turn]
        place = ordinal[seen] if self._whole is None else self.documents.place[seen]
        counts = np.bincount(self.session[turn[seen]], minlength=self.size)
        rows = place + self._rows.start
        spans = sessions.spans(rows)
        is_repeat = np.zeros(self._rows.stop - self._rows.start, bool)
        is_repeat[place] = core.find_repeats(offsets_of(counts), *spans, self.threads)
        return np.asarray(is_repeat[self.documents.place])

    def gaining(self, gains: Floats | Bools, depth: Ints, cutoff: int | None, scan: str, repeats: str) -> Ints:
        """The documents with a gain that are looked at, with ``repeats=first`` where they come for the first time."""
        documents, counts = self.documents, gains != 0
        if depth.size and int(depth.min()) < int(self.shown.max()):
            counts &= documents.rank <= depth[documents.turn]
        if repeats == "first":
            counts &= ~self.is_repeat(cutoff, scan)
        return np.flatnonzero(counts)

    def relevant(self, rel: float | None = None, level: float | None = None) -> Bools:
        """Which of the documents are relevant: grade above 0, at least ``rel``, or exactly ``level``."""
        return self.cached(("relevant", rel, level), lambda: is_relevant(self.documents.grade, rel, level))

    def gains(self, gain: Gain, rel: float | None = None, level: float | None = None) -> Floats:
        """The gain of each of the documents. ``rel`` and ``level`` set all others to 0."""

        def made() -> Floats:
            gains = gain.of_grades(self.documents.grade, self.scale)
            return gains if rel is None and level is None else np.where(self.relevant(rel, level), gains, 0.0)

        return self.cached(("gains", gain, rel, level), made)


def session_blocks(
    judged: Judged, sessions: RankedSessions, threads: int = 1, cells: int = CELLS
) -> Iterator[tuple[slice, SessionBlock]]:
    """All sessions in blocks of few documents and turns: which they are, and their block."""
    needed = (sessions.list_offsets + np.arange(sessions.list_offsets.size))[sessions.sessions.turn_offsets]
    for chosen in _slices(np.diff(needed), cells):
        yield chosen, SessionBlock(judged, sessions, chosen.start, chosen.stop, threads)


def _slices(cells: Ints, most: int) -> Iterator[slice]:
    """Sessions one after the other that need at most so many cells together, but at least one."""
    needed, first = offsets_of(cells), 0
    while first < cells.size:
        end = max(first + 1, int(np.searchsorted(needed, needed[first] + most, "right")) - 1)
        yield slice(first, end)
        first = end


#: Nobody looks further: a depth that stands for the whole list, with which sums stay whole numbers.
WHOLE = 1 << 40


class SessionMeasure(Measure):
    """The definition of a number for one session. Its fields are its parameters, as those of any measure."""

    unit: ClassVar[str] = "session"

    @abstractmethod
    def compute_sessions(self, block: SessionBlock) -> Floats:
        """One score for every session of the block; NaN where the formula divides by 0."""

    def check_sessions(self, sessions: RankedSessions) -> None:
        """Refuses sessions that the measure has no value for."""

    def compute(self, block: Block) -> Floats:
        """Refused: a single list is no session."""
        raise UsageError(f"{self}: expected sessions, found single queries", "gainful.evaluate_sessions evaluates them")

    def score_session(
        self,
        lists: Sequence[Sequence[float | None]],
        unretrieved: Sequence[float] = (),
        *,
        scale: float | None = None,
        **policy: Any,
    ) -> float:
        """The raw score of one session, given as the grades of each query's list; None is an unjudged document.

        All documents are different; ``unretrieved`` are the grades of judged documents that no list holds. Further
        arguments are the policy's.

        >>> from gainful.measures.catalog import parse
        >>> parse("QueriesToFirst").score_session([[0, None], [0, 2]])
        2.0
        """
        require_list(lists, "lists")
        for values, what in (*((turn, "lists") for turn in lists), (unretrieved, "unretrieved")):
            require_list(values, what)
        turns = list(enumerate(lists))
        judged = {f"{q}-{r}": grade for q, turn in turns for r, grade in enumerate(turn) if grade is not None}
        judged.update({f"unretrieved{i}": grade for i, grade in enumerate(unretrieved)})
        # Judgments are never empty; a missed document of grade 0 changes no score.
        qrels = Qrels.from_dict({"session": judged or {"none": 0}}, scale=scale)
        documents = [[f"{q}-{r}" for r in range(len(turn))] for q, turn in turns]
        block = hand_made(qrels, {"session": documents}, **policy)
        check_session_measures(block.judged, block.sessions, [self])
        return float(raw_session_scores(block, [self])[0, 0])


def scan_depths(block: SessionBlock, cutoff: int | None, scan: str) -> Ints:
    """How far each turn is looked at: k documents, or as far as was recorded. ``WHOLE`` is the whole list."""
    depth = np.full(block.session.size, min(cutoff or WHOLE, WHOLE))
    return depth if scan == "k" else np.where(block.scanned >= 0, np.minimum(block.scanned, WHOLE), depth)


def count_positions(depth: Ints, shown: Ints, short: str) -> Ints:
    """How many positions each turn has in the session: ``short`` says what becomes of lists that end before."""
    if short == "pad":
        return depth
    least = 0 if short == "asis" else int(short.removeprefix("min:"))
    return np.minimum(depth, np.maximum(shown, least))


def before_turn(counts: Ints, turn_offsets: Ints, session: Ints) -> Ints:
    """The sum of the counts of all earlier turns of the same session."""
    total = offsets_of(counts)
    return np.asarray(total[:-1] - total[turn_offsets[:-1]][session])


def check_session_measures(judged: Judged, ranked: RankedSessions, measures: Sequence[SessionMeasure]) -> None:
    """Refuses measures that do not fit the judgments or the sessions."""
    levels = judged.levels
    if ranked.grade.size:
        levels = np.unique(np.concatenate((levels, ranked.grade[~np.isnan(ranked.grade)])))
    for measure in measures:
        measure.check(levels)
        measure.check_sessions(ranked)


def raw_session_scores(block: SessionBlock, measures: Sequence[SessionMeasure]) -> Floats:
    """Measures x sessions of a block, NaN where a formula is undefined."""
    scores = np.empty((len(measures), block.size))
    for i, measure in enumerate(measures):
        values = np.asarray(measure.compute_sessions(block.seen_by(measure)), np.float64)
        if values.shape != (block.size,) or np.isinf(values).any():
            raise UsageError(
                f"{measure}: expected compute_sessions to return one finite score (or NaN) a session, found {values!r}"
            )
        scores[i] = values
    return scores


def hand_made(qrels: Qrels, lists: Mapping[str, Sequence[Sequence[str]]], **policy: Any) -> SessionBlock:
    """A block of sessions that are judged by their ids, from lists of documents."""
    judged = Judged(qrels, Policy(**policy))
    ranked = rank_sessions(judged, sessions_from_lists(lists), "session")
    return SessionBlock(judged, ranked, 0, len(lists))
