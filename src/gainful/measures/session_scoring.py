"""What measures say of sessions: raw scores, NaN where a formula is undefined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gainful.data.judged import Judged
from gainful.data.qrels import Qrels
from gainful.data.sessions import RankedSessions, rank_sessions, sessions_from_lists
from gainful.errors import UsageError
from gainful.kernel.arrays import Floats
from gainful.measures.scoring import condenses
from gainful.measures.session_block import SessionBlock, SessionMeasure
from gainful.policy import Policy


def check_session_measures(judged: Judged, ranked: RankedSessions, measures: Sequence[SessionMeasure]) -> None:
    """Refuses measures that do not fit the judgments or the sessions."""
    levels = judged.levels
    if ranked.grade.size:
        given = ranked.grade[~np.isnan(ranked.grade)]
        levels = np.unique(np.concatenate((levels, given)))
    for measure in measures:
        measure.check(levels)
        measure.check_sessions(ranked)


def raw_session_scores(block: SessionBlock, measures: Sequence[SessionMeasure]) -> Floats:
    """Measures x sessions of a block, NaN where a formula is undefined."""
    scores = np.empty((len(measures), block.size))
    condensed: SessionBlock | None = None
    for i, measure in enumerate(measures):
        seen = block
        if condenses(measure, block.judged.policy):
            seen = condensed = condensed or block.condensed()
        values = np.asarray(measure.compute_sessions(seen), np.float64)
        if values.shape != (block.size,) or np.isinf(values).any():
            raise UsageError(
                f"{measure}: expected compute_sessions to return one finite score (or NaN) a session, found {values!r}"
            )
        scores[i] = values
    return scores


def hand_made(qrels: Qrels, lists: Mapping[str, Sequence[Sequence[str]]], **policy: Any) -> SessionBlock:
    """A block of sessions that are judged by their ids, from lists of documents."""
    judged = Judged(qrels, Policy(**policy))
    ranked = rank_sessions(judged, sessions_from_lists(lists), "session", judged.policy)
    return SessionBlock(judged, ranked, 0, len(lists))


def score_session(
    measure: SessionMeasure,
    lists: Sequence[Sequence[float | None]],
    unretrieved: Sequence[float],
    scale: float | None,
    policy: Mapping[str, Any],
) -> float:
    """The raw score of one session that is given by its grades."""
    judged = {f"{q}-{r}": grade for q, turn in enumerate(lists) for r, grade in enumerate(turn) if grade is not None}
    judged.update({f"unretrieved{i}": grade for i, grade in enumerate(unretrieved)})
    # Judgments are never empty; a missed document of grade 0 changes no score.
    qrels = Qrels.from_dict({"session": judged or {"none": 0}}, scale=scale)
    documents = [[f"{q}-{r}" for r in range(len(turn))] for q, turn in enumerate(lists)]
    block = hand_made(qrels, {"session": documents}, **policy)
    check_session_measures(block.judged, block.sessions, [measure])
    return float(raw_session_scores(block, [measure])[0, 0])
