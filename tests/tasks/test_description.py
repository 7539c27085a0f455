"""Descriptions of one set of judgments."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from gainful import Policy, Qrels
from gainful.data.judged import Judged
from gainful.tasks.judgments import MOST_LEVELS, LevelCount, RecallBase, describe_judgments

QRELS = b"""\
q2 0 d1 0
q1 0 d1 2
q1 0 d2 1
q1 0 d3 2
q2 0 d2 0
q3 0 d1 1
"""


def test_levels_and_recall_bases() -> None:
    found = describe_judgments(QRELS)
    assert found.levels == (LevelCount(0, 2, 2 / 6, 1), LevelCount(1, 2, 2 / 6, 2), LevelCount(2, 2, 2 / 6, 1))
    assert found.by_query == (
        RecallBase("q1", 3, 3, (0, 1, 2)),
        RecallBase("q2", 2, 0, (2, 0, 0)),
        RecallBase("q3", 1, 1, (0, 1, 0)),
    )
    assert (found.judgments, found.documents, found.queries, found.scale) == (6, 6, 3, 2)
    assert found.without_relevant == ("q2",)
    assert found.judged_by_query == (1, 2, 3)
    assert found.relevant_by_query == (0, 1, 3)


def test_median_of_an_even_number_of_queries() -> None:
    assert describe_judgments({"q1": {"a": 1}, "q2": {"a": 1, "b": 1}}).judged_by_query == (1, 1.5, 2)


def test_relevant_from_a_level_on() -> None:
    found = describe_judgments(QRELS, rel=2)
    assert [base.relevant for base in found.by_query] == [2, 0, 0]
    assert found.without_relevant == ("q2", "q3")


def test_a_query_without_documents_is_there() -> None:
    found = describe_judgments({"q1": {"d": 1}, "q2": {}})
    assert found.by_query[1] == RecallBase("q2", 0, 0, (0,))
    assert found.judged_by_query.lowest == 0


def test_clean_judgments_have_nothing_odd() -> None:
    found = describe_judgments(QRELS)
    assert found.negative == found.fractional == ((), 0)
    assert (found.subtopics, found.repeated, found.conflicting, found.unjudged) == (1, 0, 0, 0)


def test_negative_grades() -> None:
    text = b"q 0 d1 -2\nq 0 d2 -1\nq 0 d3 -2\nq 0 d4 1\n"
    found = describe_judgments(text)
    assert found.negative == ((-2, -1), 3)
    assert (found.documents, found.unjudged) == (4, 0)
    left = describe_judgments(text, policy=Policy(negative="unjudged"))
    assert left.negative == ((-2, -1), 3)
    assert (left.documents, left.unjudged, left.levels) == (1, 3, (LevelCount(1, 1, 1, 1),))
    assert left.by_query == (RecallBase("q", 1, 1, (1,)),)


def test_all_negative_and_unjudged_leaves_nothing() -> None:
    found = describe_judgments({"q": {"d": -1}}, policy="trec_eval-9")
    assert (found.documents, found.levels, found.by_query) == (0, (), (RecallBase("q", 0, 0, ()),))


def test_fractions_among_whole_numbers() -> None:
    assert describe_judgments({"q": {"a": 1, "b": 0, "c": 2.5}}).fractional == ((2.5,), 1)
    # Where fractions are as frequent as whole numbers, they are what the judges meant.
    assert describe_judgments({"q": {"a": 1, "b": 0.5}}).fractional == ((), 0)


def test_repetitions_and_conflicts() -> None:
    text = b"q1 0 d1 1\nq1 0 d1 1\nq1 0 d1 2\nq1 0 d2 0\nq1 0 d2 0\nq2 0 d1 1\n"
    found = describe_judgments(text)
    assert (found.judgments, found.documents, found.repeated, found.conflicting) == (6, 3, 3, 1)
    assert found.by_query[0] == RecallBase("q1", 2, 1, (1, 0, 1))  # the highest of 1, 1, 2
    mean = describe_judgments(text, policy=Policy(judges="median"))
    assert [level.grade for level in mean.levels] == [0, 1]
    assert mean.conflicting == 1


def test_subtopics() -> None:
    text = b"q 1 d1 1\nq 2 d1 0\nq 2 d1 0\nq 3 d2 2\n"
    found = describe_judgments(text)
    assert (found.subtopics, found.repeated, found.conflicting) == (3, 2, 1)
    told_apart = describe_judgments(text, policy=Policy(subtopics=True))
    assert (told_apart.subtopics, told_apart.repeated, told_apart.conflicting) == (3, 1, 0)
    assert told_apart.by_query == (RecallBase("q", 2, 2, (1, 1)),)


def test_many_levels_are_not_counted_by_query() -> None:
    few = describe_judgments({"q": {f"d{i}": i for i in range(MOST_LEVELS)}})
    assert few.by_query[0].by_level == (1,) * MOST_LEVELS
    many = describe_judgments({"q": {f"d{i}": i / 7 for i in range(MOST_LEVELS + 1)}})
    assert many.by_query == (RecallBase("q", MOST_LEVELS + 1, MOST_LEVELS, ()),)
    assert len(many.levels) == MOST_LEVELS + 1


def test_grade_zero_moves_levels_and_scale() -> None:
    found = describe_judgments(QRELS, policy=Policy(grade_zero=1))
    assert [(level.grade, level.documents) for level in found.levels] == [(0, 4), (1, 2)]
    assert found.scale == 1


def test_a_given_scale_is_kept() -> None:
    found = describe_judgments(Qrels.read(QRELS, scale=5))
    assert (found.scale, found.reaches_scale) == (5, False)
    assert describe_judgments(QRELS).reaches_scale


def test_prepared_judgments_keep_their_policy() -> None:
    judged = Judged(Qrels.read(b"q 0 d 1\nq 0 d 3\n"), Policy(judges="min"))
    assert [level.grade for level in describe_judgments(judged).levels] == [1]


def test_against_counting_line_by_line() -> None:
    source = random.Random(2)
    rows = {(f"q{source.randint(1, 9)}", f"d{source.randint(1, 60)}"): source.choice([0, 0, 1, 3]) for _ in range(300)}
    lines = [f"{query} 0 {document} {grade}\n" for (query, document), grade in rows.items()]
    found = describe_judgments("".join(lines).encode())
    count = Counter((query, grade) for (query, _), grade in rows.items())
    queries = sorted({query for query, _ in rows})
    assert [(base.query, base.by_level) for base in found.by_query] == [
        (query, tuple(count[query, grade] for grade in (0, 1, 3))) for query in queries
    ]
    assert sum(level.share for level in found.levels) == pytest.approx(1)
    source.shuffle(lines)
    assert describe_judgments("".join(lines).encode()) == found


def test_explains_itself_when_printed() -> None:
    assert str(describe_judgments(QRELS)).startswith("<bytes> judges 6 documents for 3 queries, 1 to 3 per query")
