"""The base class of session measures, and blocks of judged sessions as arrays."""

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
from gainful.measures.base import Measure, Usual
from gainful.measures.block import CELLS, Block, condenses, require_list
from gainful.policy import Policy


class SessionDocuments(NamedTuple):
    """The documents with a grade, by turn, then by rank."""

    place: Ints  # index among all documents shown in the block
    turn: Ints
    rank: Ints
    item: Ints  # the judged item, -1 if only the log has a grade
    grade: Floats


class SessionBlock(HasCache):
    """Some sessions. Turns are numbered across the block; ranks and positions count from 1.

    By session: ``queries`` number of turns; these are ``turn_offsets[i] : turn_offsets[i + 1]``. By turn:
    ``session``; ``position`` in it; ``shown`` number of documents; ``judged_query`` whose judgments apply, or -1;
    ``scanned`` recorded depth, or -1; ``cost`` recorded cost, or NaN.
    ``documents`` are those with a grade, from the log or else from the judgments.
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
        self._places = self.list_offsets  # number ``place``, also in a condensed block
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
        if given.size:  # a document with a grade in the log need not be judged
            items, has_grade = np.full(given.size, -1), ~np.isnan(given)
            items[place], has_grade[place] = item, True
            place = np.flatnonzero(has_grade)
            turn, item = np.repeat(np.arange(self.session.size), self.shown)[place], items[place]
        # Append NaN as the grade of item -1.
        grade = self.judged.cached("grade or none", lambda: np.append(self.judged.grade, np.nan))[item]
        if given.size:
            grade = np.where(np.isnan(given[place]), grade, given[place])
        if self.judged.policy.negative == "unjudged":
            counts = grade >= 0
            place, turn, item, grade = place[counts], turn[counts], item[counts], grade[counts]
        return SessionDocuments(place, turn, place - self.list_offsets[turn] + 1, item, grade)

    @cached_property
    def is_judged(self) -> Bools:
        """Whether each session has a judged turn, or a document with a grade in the log."""
        judged = judged_sessions(self.turn_offsets, self.judged_query)
        if self.sessions.grade.size:
            judged[self.session[self.documents.turn]] = True
        return judged

    @cached_property
    def is_judged_turn(self) -> Bools:
        """Whether each turn is judged: with judgments by query if it has some, else if its session is judged."""
        if self.sessions.judged_by != "query":
            return np.asarray(self.is_judged[self.session])
        judged = self.judged_query >= 0
        if self.sessions.grade.size:
            judged[self.documents.turn] = True
        return judged

    @cached_property
    def is_last_turn(self) -> Bools:
        """Whether each turn is the last of its session."""
        return np.asarray(np.diff(self.session, append=-1) != 0)

    def seen_by(self, measure: Measure) -> SessionBlock:
        """Return the block that a measure uses: as it is, or condensed."""
        return self.condensed if condenses(measure, self.judged.policy) else self

    @cached_property
    def condensed(self) -> SessionBlock:
        """The same sessions without ungraded documents, renumbering ranks."""
        documents = self.documents
        block = copy.copy(self)
        block.shown = np.bincount(documents.turn, minlength=self.session.size)
        block.list_offsets = offsets_of(block.shown)
        return block._with(documents._replace(rank=ordinal_in_row(documents.turn)))

    def _with(self, documents: SessionDocuments) -> SessionBlock:
        block = copy.copy(self)
        block.documents, block._cache = documents, {}
        return block

    def filled(self, grade: float) -> SessionBlock:
        """The same sessions, in which every document without a grade has this one."""
        known, place = self.documents, np.arange(int(self.list_offsets[-1]))
        turn = np.repeat(np.arange(self.session.size), self.shown)
        grades, items = np.full(place.size, grade), np.full(place.size, -1)
        shown = self.list_offsets[known.turn] + known.rank - 1
        grades[shown], items[shown] = known.grade, known.item
        return self._with(SessionDocuments(place, turn, place - self.list_offsets[turn] + 1, items, grades))

    def _reranked(self, gains: Floats, last: int) -> SessionBlock:
        """The same sessions with the best of the first ``last`` documents of each list first, if they have a gain."""
        place, turn, rank, item, grade = self.documents
        order = np.flatnonzero(gains)
        ranks = rank[order]
        is_first = ranks <= last
        first = order[is_first]
        order[is_first] = first[np.lexsort((-gains[first], turn[first]))]
        ranks[is_first] = ordinal_in_row(turn[first])
        return self._with(SessionDocuments(place[order], turn[order], ranks, item[order], grade[order]))

    def parts(self, cells: Ints) -> Iterator[tuple[slice, SessionBlock]]:
        """Yield the block in parts of limited size; ``cells`` is the size of each session."""
        for chosen in _slices(cells, CELLS):
            is_whole = chosen.stop - chosen.start == self.size
            yield chosen, self if is_whole else self._part(chosen.start, chosen.stop)

    def _part(self, first: int, end: int) -> SessionBlock:
        block = SessionBlock(self.judged, self.sessions, self._first + first, self._first + end, self.threads)
        turns = self.turn_offsets[[first, end]]
        chosen = slice(*np.searchsorted(self.documents.turn, turns).tolist())
        place, turn, rank, item, grade = self.documents
        block.shown = self.shown[slice(*turns.tolist())]
        block.list_offsets = block._places if self.list_offsets is self._places else offsets_of(block.shown)
        place, turn = place[chosen] - self._places[turns[0]], turn[chosen] - turns[0]
        return block._with(SessionDocuments(place, turn, rank[chosen], item[chosen], grade[chosen]))

    def is_repeat(self, cutoff: int | None, scan: str) -> Bools:
        """Return whether each document was seen earlier in its session, within the depth of each turn."""
        return self.cached(("is_repeat", cutoff, scan), lambda: self._repeats(scan_depths(self, cutoff, scan)))

    def _repeats(self, depth: Ints) -> Bools:
        sessions = self.sessions
        turn = np.repeat(np.arange(self.session.size), self.shown)
        ordinal = np.arange(turn.size)
        seen = ordinal - self.list_offsets[turn] < depth[turn]
        place = ordinal[seen] if self.list_offsets is self._places else self.documents.place[seen]
        counts = np.bincount(self.session[turn[seen]], minlength=self.size)
        spans = sessions.spans(place + self._rows.start)
        is_repeat = np.zeros(self._rows.stop - self._rows.start, bool)
        is_repeat[place] = core.find_repeats(offsets_of(counts), *spans, self.threads)
        return np.asarray(is_repeat[self.documents.place])

    def gaining(self, gains: Floats | Bools, depth: Ints, cutoff: int | None, scan: str, repeats: str) -> Ints:
        """Select documents with a gain within the depth; with ``repeats=first``, only first occurrences."""
        documents, counts = self.documents, gains != 0
        if depth.size and int(depth.min()) < int(self.shown.max()):
            counts &= documents.rank <= depth[documents.turn]
        if repeats == "first":
            counts &= ~self.is_repeat(cutoff, scan)
        return np.flatnonzero(counts)

    def relevant(self, rel: float | None = None, level: float | None = None) -> Bools:
        """Return whether each document is relevant: grade above 0, at least ``rel``, or exactly ``level``."""
        return self.cached(("relevant", rel, level), lambda: is_relevant(self.documents.grade, rel, level))

    def gains(self, gain: Gain, rel: float | None = None, level: float | None = None) -> Floats:
        """Return the gain of each document. ``rel`` and ``level`` set other gains to 0."""

        def gains() -> Floats:
            found = gain.of_grades(self.documents.grade, self.scale)
            return found if rel is None and level is None else np.where(self.relevant(rel, level), found, 0.0)

        return self.cached(("gains", gain, rel, level), gains)


def session_blocks(
    judged: Judged, sessions: RankedSessions, threads: int = 1, cells: int = CELLS
) -> Iterator[tuple[slice, SessionBlock]]:
    """Yield all sessions in blocks with limited numbers of documents and turns, with their indices."""
    needed = (sessions.list_offsets + np.arange(sessions.list_offsets.size))[sessions.sessions.turn_offsets]
    for chosen in _slices(np.diff(needed), cells):
        yield chosen, SessionBlock(judged, sessions, chosen.start, chosen.stop, threads)


def _slices(cells: Ints, most: int) -> Iterator[slice]:
    """Yield consecutive sessions with at most ``most`` cells in total, but at least one session."""
    needed, first = offsets_of(cells), 0
    while first < cells.size:
        end = max(first + 1, int(np.searchsorted(needed, needed[first] + most, "right")) - 1)
        yield slice(first, end)
        first = end


#: A depth that means the whole list, and whose sums remain exact integers.
WHOLE = 1 << 40


class SessionMeasure(Measure):
    """The definition of a score for one session. Its fields are its parameters."""

    unit: ClassVar[str] = "session"

    @abstractmethod
    def compute_sessions(self, block: SessionBlock) -> Floats:
        """Return one score per session of the block; NaN if the formula divides by 0."""

    def check_sessions(self, sessions: RankedSessions) -> None:
        """Reject sessions for which the measure is not defined."""

    def compute(self, block: Block) -> Floats:
        """Raise UsageError, because a single list is not a session."""
        raise UsageError(f"{self}: requires sessions, not single queries", "use gainful.evaluate_sessions")

    def score_session(
        self,
        lists: Sequence[Sequence[float | None]],
        unretrieved: Sequence[float] = (),
        *,
        scale: float | None = None,
        **policy: Any,
    ) -> float:
        """Return the raw score of one session, given as the grades of each query's list; None is an unjudged document.

        All documents are distinct; ``unretrieved`` are grades of judged documents in no list. Further arguments are
        passed to the policy.

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
        # Judgments must not be empty; a missed document of grade 0 changes no score.
        qrels = Qrels.from_dict({"session": judged or {"none": 0}}, scale=scale)
        documents = [[f"{q}-{r}" for r in range(len(turn))] for q, turn in turns]
        block = hand_made(qrels, {"session": documents}, **policy)
        check_session_measures(block.judged, block.sessions, [self])
        return float(raw_session_scores(block, [self])[0, 0])


class OfSessions(SessionMeasure, Usual):
    """A measure of sessions; subclasses take these parameters and the usual ones."""

    repeats, short, scan = "every", "pad", "k"


def scan_depths(block: SessionBlock, cutoff: int | None, scan: str) -> Ints:
    """Return the depth of each turn: k, or the recorded depth. ``WHOLE`` is the whole list."""
    depth = np.full(block.session.size, min(cutoff or WHOLE, WHOLE))
    return depth if scan == "k" else np.where(block.scanned >= 0, np.minimum(block.scanned, WHOLE), depth)


def count_positions(depth: Ints, shown: Ints, short: str) -> Ints:
    """Return the number of positions of each turn; ``short`` sets the number for short lists."""
    if short == "pad":
        return depth
    least = 0 if short == "asis" else int(short.removeprefix("min:"))
    return np.minimum(depth, np.maximum(shown, least))


def before_turn(counts: Ints, turn_offsets: Ints, session: Ints) -> Ints:
    """Return the sum of counts over earlier turns of the same session."""
    total = offsets_of(counts)
    return np.asarray(total[:-1] - total[turn_offsets[:-1]][session])


def check_session_measures(judged: Judged, ranked: RankedSessions, measures: Sequence[SessionMeasure]) -> None:
    """Reject measures that are not defined for the judgments or the sessions."""
    levels = judged.levels
    if ranked.grade.size:
        levels = np.unique(np.concatenate((levels, ranked.grade[~np.isnan(ranked.grade)])))
    for measure in measures:
        measure.check(levels)
        measure.check_sessions(ranked)


def raw_session_scores(block: SessionBlock, measures: Sequence[SessionMeasure]) -> Floats:
    """Return measures x sessions of a block; NaN if a formula is undefined."""
    scores = np.empty((len(measures), block.size))
    for i, measure in enumerate(measures):
        values = np.asarray(measure.compute_sessions(block.seen_by(measure)), np.float64)
        if values.shape != (block.size,) or np.isinf(values).any():
            raise UsageError(
                f"{measure}: expected compute_sessions to return a finite score (or NaN) per session, found {values!r}"
            )
        scores[i] = values
    return scores


def hand_made(qrels: Qrels, lists: Mapping[str, Sequence[Sequence[str]]], **policy: Any) -> SessionBlock:
    """Create a block of sessions, judged by session ID, from lists of documents."""
    judged = Judged(qrels, Policy(**policy))
    return SessionBlock(judged, rank_sessions(judged, sessions_from_lists(lists), "session"), 0, len(lists))
