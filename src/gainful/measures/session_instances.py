"""Instance recall: how many of the answers that a topic has a session has found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gainful.arrays import Floats, Ints
from gainful.data.judged import Judged
from gainful.data.lists import gather, is_relevant
from gainful.data.ranked_sessions import RankedSessions
from gainful.errors import UsageError
from gainful.measures.session_base import SessionMeasure, scan_depths
from gainful.measures.session_block import SessionBlock


class _Instances(NamedTuple):
    """The sub-topics that judged documents cover, numbered through all queries."""

    offsets: Ints  # by item
    instance: Ints
    every: Ints  # by judged query
    total: int


@dataclass(frozen=True, eq=False, repr=False)
class InstanceRecall(SessionMeasure):
    """The share of a topic's instances (sub-topics) that the session has covered.

    Formula:
        InstanceRecall = distinct sub-topics that a document seen in the session covers / all sub-topics of the topic

    Conventions:
        - a document covers a sub-topic if its grade for it is above 0, with rel=g at least g; all sub-topics are those
          that some judged document covers
        - needs judgments with sub-topics: subtopics=yes (--subtopics), and column 2 of the judgments names them
        - k documents of every query are looked at; scan=recorded takes a recorded depth instead of k; without @k the
          whole lists count
        - a grade that the appearance of a document carries says nothing about sub-topics: it is not used
        - judged by query: the sub-topics of all judged queries of the session together
        - no sub-topic is covered by any judged document: undefined

    Agrees with:
        sub-topic recall (ndeval strec) of all documents that the session shows, as one list

    Reference:
        Over, TREC-7 interactive track report, 1999; Järvelin, Price, Delcambre and Lykke Nielsen, ECIR 2008, section 1

    Example:
        Of three instances the session finds 1 (twice) and 2.

        >>> from gainful import Policy, Qrels, evaluate_sessions
        >>> from gainful.sessions.lists import sessions_from_lists
        >>> qrels = Qrels.read(b"t 1 a 1\\nt 2 b 1\\nt 3 c 1\\nt 1 d 1\\n")
        >>> sessions = sessions_from_lists({"t": [["a", "x"], ["b", "d"]]})
        >>> found = evaluate_sessions(qrels, sessions, "InstanceRecall", policy=Policy(subtopics=True))
        >>> round(found.mean("InstanceRecall"), 4)
        0.6667
    """

    name = "InstanceRecall"
    scan: str = "k"
    rel: float | None = None
    unjudged: str | None = None
    cutoff: int | None = None

    def check_sessions(self, sessions: RankedSessions) -> None:
        if not sessions.policy.subtopics:
            raise UsageError(
                f"{self}: expected judgments with sub-topics, found subtopics=no",
                "subtopics=yes (--subtopics) makes column 2 of the judgments the sub-topic",
            )

    def compute_sessions(self, block: SessionBlock) -> Floats:
        instances = block.judged.cached(("instances", self.rel), lambda: _instances(block.judged, self.rel))
        documents, depth = block.documents, scan_depths(block, self.cutoff, self.scan)
        seen = (documents.item >= 0) & (documents.rank <= depth[documents.turn])
        document, place = gather(instances.offsets, documents.item[seen])
        session = block.session[documents.turn[seen]][document]
        covered = _count_distinct(session, instances.instance[place], instances.total, block.size)
        queries = len(block.judged.qrels.query_ids)
        asked = block.judged_query >= 0
        pairs = _distinct_pairs(block.session[asked], block.judged_query[asked], queries)
        every = np.bincount(pairs // queries, instances.every[pairs % queries], minlength=block.size)
        return np.where(every > 0, covered / np.maximum(every, 1.0), np.nan)


def _instances(judged: Judged, rel: float | None) -> _Instances:
    item, subtopic, grade = judged.by_subtopic
    covers = is_relevant(grade, rel, None)
    item, subtopic = item[covers], subtopic[covers]
    query = np.searchsorted(judged.item_offsets, item, "right") - 1
    instance = query * len(judged.qrels.subtopic_ids) + subtopic
    items, queries = int(judged.item_offsets[-1]), len(judged.qrels.query_ids)
    offsets = np.concatenate(([0], np.cumsum(np.bincount(item, minlength=items))))
    total = queries * len(judged.qrels.subtopic_ids)
    count = _count_distinct(query, instance, total, queries)
    return _Instances(offsets, instance, count, total)


def _distinct_pairs(row: Ints, value: Ints, values: int) -> Ints:
    """Every pair of a row and a value once, as one number."""
    pairs = np.sort(row * values + value)
    return np.asarray(pairs[np.diff(pairs, prepend=-1) != 0])


def _count_distinct(row: Ints, value: Ints, values: int, rows: int) -> Ints:
    """How many different values each row has."""
    return np.bincount(_distinct_pairs(row, value, values) // max(values, 1), minlength=rows)
