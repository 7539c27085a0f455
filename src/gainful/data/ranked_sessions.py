"""Sessions under a policy: every list in its order, and the judgments that each turn is judged by."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gainful.data.graded import JoinFacts, fitting_policy, join_columns, unordered_ranks
from gainful.data.judged import Judged
from gainful.data.qrels import Qrels
from gainful.data.run import Run
from gainful.data.sessions import Sessions, refuse_repeated_ranks
from gainful.errors import InputError
from gainful.kernel import core
from gainful.kernel.arrays import Bools, Bytes, Floats, Ints
from gainful.kernel.parallel import Progress
from gainful.notation import number_text
from gainful.policy import Policy

if TYPE_CHECKING:
    from gainful.kernel.core import Joined

#: What a turn's results are judged by.
JUDGED_BY = ("topic", "session", "query")


class RankedSessions(NamedTuple):
    """Sessions whose lists stand in rank order, freed of duplicates and cut as the policy says."""

    sessions: Sessions
    policy: Policy
    turn_offsets: Ints
    judged_query: Ints  # by turn: position among the judged queries, -1 where there is none
    scanned: Ints  # by turn, -1 where it is not known
    list_offsets: Ints
    data: Bytes
    document_start: Ints
    document_length: Ints
    grade: Floats  # by document, or empty
    judged_by: str
    facts: JoinFacts
    is_unchecked: bool  # whether a list may still have a document twice, which is then an error


def rank_sessions(
    judged: Judged,
    sessions: Sessions,
    judged_by: str,
    policy: Policy,
    threads: int = 1,
    judged_query: Ints | None = None,
) -> RankedSessions:
    """Orders every list by the policy and finds what judges it, unless that is known."""
    lists = sessions.lists
    settled = fitting_policy(lists, policy)
    if settled.order == "rank" and lists.has_ranks and len(lists):
        refuse_repeated_ranks(lists)
    rows, offsets, facts = _ranked_rows(lists, settled, threads)
    turns = int(sessions.turn_offsets[-1])
    return RankedSessions(
        sessions,
        settled,
        sessions.turn_offsets,
        judged_turns(judged.qrels, sessions, judged_by) if judged_query is None else judged_query,
        sessions.scanned if sessions.scanned.size else np.broadcast_to(np.int64(-1), turns),
        offsets,
        lists.data,
        lists.document_start if rows is None else lists.document_start[rows],
        lists.document_length if rows is None else lists.document_length[rows],
        _given_grades(sessions, judged, rows),
        judged_by,
        facts,
        rows is None and settled.duplicates == "error",
    )


def _given_grades(sessions: Sessions, judged: Judged, rows: Ints | None) -> Floats:
    """The grades of the appearances themselves, in the units of the judgments."""
    grade = sessions.grade
    if not grade.size:
        return grade
    highest, zero = grade[~np.isnan(grade)].max(initial=-np.inf), judged.policy.grade_zero
    if highest > judged.qrels.scale:
        row = int(np.nanargmax(grade))
        lists = sessions.lists
        where, shown = (lists.name, "") if lists.origin is None else (lists.origin.where(row), lists.origin.shown(row))
        raise InputError(
            f"{where}: expected grades up to the scale of the judgments, {number_text(judged.qrels.scale)}, "
            f"found {number_text(highest)}{shown}",
            f"--scale {number_text(highest)} (scale={number_text(highest)} in Python) makes room for it",
        )
    grade = np.maximum(grade - zero, 0.0) if zero else grade
    return grade if rows is None else grade[rows]


def judged_turns(qrels: Qrels, sessions: Sessions, judged_by: str) -> Ints:
    """For every turn the place of its judgments among all judged queries, -1 where there are none."""
    place: dict[bytes | None, int] = {identifier: i for i, identifier in enumerate(qrels.query_ids)}

    def places(ids: Sequence[bytes | None]) -> Ints:
        # No id is None: a session without a topic finds nothing.
        return np.fromiter(map(place.get, ids, repeat(-1)), np.int64, len(ids))

    if judged_by == "query":
        return places(sessions.lists.query_ids)
    return np.repeat(places(_ids(sessions, judged_by)), sessions.query_counts)


def judged_sessions(sessions: Sessions, judged_query: Ints) -> Bools:
    """Which sessions have judgments for at least one of their turns."""
    before = np.concatenate(([0], np.cumsum(judged_query >= 0)))[sessions.turn_offsets]
    return np.asarray(np.diff(before) > 0)


def _ids(sessions: Sessions, judged_by: str) -> Sequence[bytes | None]:
    """What judgments call each session."""
    if judged_by == "session":
        return sessions.session_ids
    return sessions.topics or [None] * len(sessions)


def _ranked_rows(lists: Run, policy: Policy, threads: int) -> tuple[Ints | None, Ints, JoinFacts]:
    """The rows in rank order with where each list starts among them; None where they are in order as they stand."""
    if policy.order == "input" and policy.depth is None:
        # Where a repeated document is an error, it is found together with the judgments, in the same walk.
        spans = lists.data, lists.document_start, lists.document_length
        if policy.duplicates == "error" or not core.find_repeats(lists.list_offsets, *spans, threads).any():
            conflicts = unordered_ranks(lists, set(lists.query_ids)) if lists.has_ranks and len(lists) else 0
            return None, lists.list_offsets, JoinFacts(rank_conflicts=conflicts)
    joined = _ordered(lists, policy, threads)
    facts = JoinFacts((), joined["duplicate_count"], joined["rank_conflicts"], joined["float32_ties"])
    return joined["rows"], np.concatenate(([0], np.cumsum(joined["retrieved"]))), facts


def refuse_repeats(ranked: RankedSessions) -> None:
    """Raises the error of lists that have a document twice."""
    _ordered(ranked.sessions.lists, ranked.policy, 1)


def _ordered(lists: Run, policy: Policy, threads: int) -> Joined:
    # The join orders lists of judged queries: here every list is of one, with nothing judged.
    nothing = Judged(_unjudged(lists), policy)
    return join_columns(nothing, lists, policy, threads, Progress(), want_rows=True)


def _unjudged(lists: Run) -> Qrels:
    none = np.zeros(0, np.int64)
    data = np.zeros(0, np.uint8)
    return Qrels(lists.name, lists.query_ids, none, data, none, none, (), none, np.zeros(0), 0.0, ())
