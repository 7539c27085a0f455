"""Sessions made by hand, from lists of documents or of grades."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gainful.data.judged import Judged
from gainful.data.qrels import Qrels
from gainful.data.ranked_sessions import rank_sessions
from gainful.data.run import Run
from gainful.data.sessions import Sessions
from gainful.measures.session_base import SessionMeasure
from gainful.measures.session_block import SessionBlock
from gainful.notation import bytes_of_id
from gainful.policy import Policy
from gainful.sessions.evaluation import check_session_measures, raw_session_scores


def sessions_from_lists(
    lists: Mapping[str, Sequence[Sequence[str]]],
    topics: Mapping[str, str] | None = None,
    *,
    name: str = "<dict>",
    separator: str = "_",
) -> Sessions:
    """Sessions from ``{session: [[document, ...], ...]}``: for every query its results in rank order.

    >>> sessions_from_lists({"s1": [["d1", "d2"], []]})
    <Sessions <dict>: 1 with 2 queries>
    """
    ordered = sorted(lists, key=bytes_of_id)
    turns = {f"{session}{separator}{i}": list(turn) for session in ordered for i, turn in enumerate(lists[session], 1)}
    return Sessions(
        name,
        tuple(map(bytes_of_id, ordered)),
        np.concatenate(([0], np.cumsum([len(lists[session]) for session in ordered]))).astype(np.int64),
        Run.from_dict(turns, name=name),
        () if topics is None else tuple(bytes_of_id(topics[s]) if s in topics else None for s in ordered),
    )


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
