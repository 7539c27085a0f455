"""Each check of the doctor fires on a crafted case, with the right count, example and severity, and else is silent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import gainful
from gainful import Policy, Qrels, Run, examine, simulate
from gainful.tasks.check import CHECKS, Examination, Finding
from tests.together import together

QUERIES = [f"q{i}" for i in range(1, 11)]
DEPTH = 20

Line = tuple[str, str, object, object]  # query, document, rank, score


def clean_qrels() -> dict[str, dict[str, float]]:
    """Ten queries; of each the first twelve documents of its list are judged, with grades 0, 1 and 2."""
    return {query: {f"{query}-d{j}": [0, 1, 2][j % 3] for j in range(1, 13)} for query in QUERIES}


def clean_lines() -> list[Line]:
    """Lists of twenty documents, ranks from 1, scores that fall."""
    return [(query, f"{query}-d{j}", j, 50 - j) for query in QUERIES for j in range(1, DEPTH + 1)]


def qrels_text(judgments: Mapping[str, Mapping[str, object]]) -> bytes:
    return "".join(f"{q} 0 {d} {grade}\n" for q, grades in judgments.items() for d, grade in grades.items()).encode()


def run_text(lines: list[Line], tag: str = "tag") -> bytes:
    return "".join(f"{q} Q0 {d} {rank} {score} {tag}\n" for q, d, rank, score in lines).encode()


def found_in(
    lines: list[Line] | None = None, qrels: Mapping[str, Mapping[str, object]] | bytes | None = None, **options: Any
) -> list[Finding]:
    judgments = clean_qrels() if qrels is None else qrels
    text = judgments if isinstance(judgments, bytes) else qrels_text(judgments)
    run = run_text(clean_lines() if lines is None else lines)
    return list(examine(text, {"r": run}, **options).findings)


def only(findings: list[Finding], check: str) -> Finding:
    """The one finding there is, and it is this one."""
    assert [finding.check for finding in findings] == [check]
    return findings[0]


def summary(finding: Finding) -> tuple[str, int, int]:
    return finding.severity, finding.count, finding.total


def of_query(lines: list[Line], query: str) -> list[int]:
    return [i for i, line in enumerate(lines) if line[0] == query]


# -- Clean data --------------------------------------------------------------------------------------------------------


def test_nothing_is_said_of_clean_data() -> None:
    assert found_in() == []


def test_the_order_of_lines_does_not_matter() -> None:
    lines = clean_lines()
    assert found_in(lines[::-1]) == []
    lines[3] = ("q1", "q1-d3", 4, 47)
    findings = [only(found_in(order), "repeated-documents") for order in (lines, lines[::-1])]
    assert [summary(each) for each in findings] == [("serious", 1, 200)] * 2


@pytest.mark.parametrize("seed", range(3))
def test_simulated_collections_are_clean(seed: int) -> None:
    collection = simulate(seed=seed)
    examination = examine(collection.qrels, collection.runs)
    assert not examination.is_serious
    assert [finding for finding in examination.findings if finding.severity == "warning"] == []
    assert len(examination.findings) <= 2


def test_the_same_from_text_dicts_and_columns(tmp_path: Path) -> None:
    lines = [("q1", f"q1-d{j}", j, 1) for j in range(1, 6)] + clean_lines()[DEPTH:]
    path = tmp_path / "r.run"
    path.write_bytes(run_text(lines))
    as_dict = {q: {d: s for query, d, _, s in lines if query == q} for q in QUERIES}
    qrels = clean_qrels()
    forms = [path, str(path), path.read_bytes(), Run.read(path), as_dict, Run.from_dict(as_dict)]
    found = [examine(qrels, {"r": form}).findings for form in forms]
    assert [[(each.check, *summary(each)) for each in findings] for findings in found] == [
        [("constant-scores", "warning", 1, 10), ("short-lists", "note", 1, 10)]
    ] * len(forms)
    assert [str(findings[0].example) for findings in found[:4]] == ["line 5: q1 q1-d5, score 1 as all others"] * 4
    assert str(found[4][0].example) == "item 5: q1 q1-d5, score 1 as all others"


def test_without_scores_nothing_is_said_of_scores() -> None:
    ranking = {query: [f"{query}-d{j}" for j in range(1, DEPTH + 1)] for query in QUERIES}
    assert examine(clean_qrels(), {"r": ranking}).findings == ()


# -- Documents ---------------------------------------------------------------------------------------------------------


def test_repeated_documents() -> None:
    lines = clean_lines()
    lines[41] = ("q3", "q3-d1", 2, 48)  # line 42; first in line 41
    lines[199] = ("q10", "q10-d1", 20, 30)
    finding = only(found_in(lines), "repeated-documents")
    assert summary(finding) == ("serious", 2, 200)
    assert str(finding.example) == "line 42: q3 q3-d1 again (first: line 41)"
    assert (finding.example.query, finding.example.document, finding.example.place) == ("q3", "q3-d1", "line 42")
    assert "refuses" in finding.consequence and "--duplicates first" in finding.remedy
    with pytest.raises(gainful.InputError, match="again"):
        gainful.evaluate(clean_qrels(), run_text(lines))
    assert only(found_in(lines, policy=Policy(duplicates="first")), "repeated-documents").severity == "note"


def test_repeated_documents_of_queries_without_judgments_are_refused_too() -> None:
    lines = [*clean_lines(), ("q99", "d", 1, 2), ("q99", "d", 2, 1)]
    findings = found_in(lines)
    assert [(each.check, *summary(each)) for each in findings] == [
        ("repeated-documents", "serious", 1, 202),
        ("extra-queries", "note", 1, 11),
    ]


@together(
    ("write", "how"),
    [
        (str.upper, "if case is ignored"),
        (lambda d: f"msmarco_doc_{d}", "without the run's prefix 'msmarco_doc_'"),
        (lambda d: f"{d}.txt", "without the run's suffix '.txt'"),
        (lambda d: f"{d}#0", "without the run's suffix '#0'"),
    ],
)
def test_documents_that_match_nowhere(write: Callable[[str], str], how: str) -> None:
    lines = [(q, write(d), rank, score) for q, d, rank, score in clean_lines()]
    finding = only(found_in(lines), "unmatched-documents")
    assert summary(finding) == ("serious", 200, 200)
    assert str(finding.example) == f"'{write('q1-d1')}' in the run, 'q1-d1' in the judgments"
    # Of the twenty documents of each list twelve are judged.
    assert finding.remedy.startswith(f"120 of 200 documents looked at match {how}:")


def test_documents_that_match_nowhere_and_not_nearly() -> None:
    lines = [(q, f"other{i}", rank, score) for i, (q, _, rank, score) in enumerate(clean_lines())]
    finding = only(found_in(lines), "unmatched-documents")
    assert summary(finding) == ("serious", 200, 200)
    assert str(finding.example) == "'other0' in the run, 'q1-d1' in the judgments"
    assert "same collection" in finding.remedy


def test_several_documents_in_one_id() -> None:
    qrels = clean_qrels()
    qrels["q1"] = {**qrels["q1"], "q1-d13;q1-d14": 1, "q1-d15|q1-d16": 1, "q1-d17,elsewhere": 1}
    [finding] = [each for each in found_in(qrels=qrels) if each.check == "several-in-one"]
    assert (finding.severity, finding.count) == ("serious", 2)
    assert str(finding.example) == "'q1-d13;q1-d14' in the judgments, its parts in the run"


def test_hardly_any_document_matches() -> None:
    lines = [(q, d if i == 0 else d.upper(), rank, score) for i, (q, d, rank, score) in enumerate(clean_lines())]
    findings = found_in(lines)
    assert [(each.check, *summary(each)) for each in findings] == [
        ("unmatched-documents", "warning", 199, 200),
        ("unjudged-top-10", "warning", 99, 100),
    ]
    assert "if case is ignored" in findings[0].remedy


def test_a_few_judged_documents_are_no_mismatch() -> None:
    # One judged document a query, at the end of its list, and for half of the queries not found at all.
    qrels = {query: {f"{query}-d20" if i % 2 else "elsewhere": 1} for i, query in enumerate(QUERIES)}
    assert [each.check for each in found_in(qrels=qrels)] == ["unjudged-top-10", "equal-grades"]


def test_self_hits() -> None:
    lines = clean_lines()
    lines[of_query(lines, "q2")[4]] = ("q2", "q2", 5, 45)
    finding = only(found_in(lines), "self-hits")
    assert (finding.severity, finding.count, finding.total) == ("warning", 1, 10)
    assert str(finding.example) == "line 25: q2 q2"


def test_a_chance_self_hit_is_a_note() -> None:
    queries = [f"q{i}" for i in range(1, 41)]
    qrels = {query: {f"{query}-d{j}": j % 2 for j in range(1, 13)} for query in queries}
    lines = [(query, f"{query}-d{j}", j, -j) for query in queries for j in range(1, 11)]
    lines[5] = ("q1", "q1", 6, -6)
    finding = only(found_in(lines, qrels), "self-hits")
    assert summary(finding) == ("note", 1, 40)


NUMBERED_LETOR = "".join(
    f"{(query + place) % 3} qid:{query} 1:{(7 * place) % 23}\n" for query in range(1, 11) for place in range(1, 13)
)


def test_numbers_that_stand_for_names_are_no_self_hits() -> None:
    run = Run.read(NUMBERED_LETOR.encode(), feature=1)
    assert (run.query_of(0), run.document(0), run.document(11)) == (b"1", b"1", b"12")
    found = examine(Qrels.read(NUMBERED_LETOR.encode()), {"r": run})
    assert found.about("self-hits") == []


def test_numbers_of_users_and_of_films_are_the_same_by_chance() -> None:
    users = [str(user) for user in range(100, 110)]
    lists = {user: [f"{rank}{user}" for rank in range(1, 9)] for user in users}
    lists["104"][3] = "104"
    found = examine({user: {f"1{user}": 1} for user in users}, {"r": lists})
    assert found.about("self-hits") == []


def test_names_that_are_numbers_are_self_hits() -> None:
    text = "".join(f"{line} #docid = {1 + (5 * i) % 12}\n" for i, line in enumerate(NUMBERED_LETOR.splitlines()))
    found = examine(Qrels.read(text.encode()), {"r": Run.read(text.encode(), feature=1)})
    assert [summary(each) for each in found.about("self-hits")] == [("warning", 10, 10)]


def test_unjudged_documents_in_the_top_10() -> None:
    qrels = {query: {f"{query}-d{j}": j % 2 for j in range(8, 20)} for query in QUERIES}
    finding = only(found_in(qrels=qrels), "unjudged-top-10")
    assert summary(finding) == ("warning", 70, 100)
    assert str(finding.example) == "line 1: q1 q1-d1"
    qrels = {query: {f"{query}-d{j}": j % 2 for j in range(4, 20)} for query in QUERIES}
    assert summary(only(found_in(qrels=qrels), "unjudged-top-10")) == ("note", 30, 100)
    qrels = {query: {f"{query}-d{j}": j % 2 for j in range(3, 20)} for query in QUERIES}
    assert found_in(qrels=qrels) == []


def test_negative_grades_can_count_as_unjudged() -> None:
    qrels = {query: {d: -1 if grade == 0 else grade for d, grade in of.items()} for query, of in clean_qrels().items()}
    assert only(found_in(qrels=qrels), "negative-grades")
    findings = found_in(qrels=qrels, policy=Policy(negative="unjudged"))
    assert [(each.check, *summary(each)) for each in findings] == [
        ("unjudged-top-10", "note", 30, 100),
        ("negative-grades", "note", 40, 120),
    ]
    assert str(findings[0].example) == "line 3: q1 q1-d3"


# -- Queries -----------------------------------------------------------------------------------------------------------


def test_queries_that_match_nowhere() -> None:
    lines = [(q.removeprefix("q").zfill(3), d, rank, score) for q, d, rank, score in clean_lines()]
    finding = only(found_in(lines), "unmatched-queries")
    assert summary(finding) == ("serious", 10, 10)
    assert finding.remedy.startswith("10 of 10 queries looked at match without the judgments' prefix 'q'")
    with pytest.raises(gainful.InputError, match="expected queries that are judged"):
        gainful.evaluate(clean_qrels(), run_text(lines))


def test_neither_queries_nor_documents_match() -> None:
    lines = [(f"topic-{q}", d.upper(), rank, score) for q, d, rank, score in clean_lines()]
    queries, documents = found_in(lines)
    assert (queries.check, *summary(queries)) == ("unmatched-queries", "serious", 10, 10)
    assert (documents.check, *summary(documents)) == ("unmatched-documents", "serious", 200, 200)
    assert str(documents.example) == "'Q1-D1' in the run, 'q1-d1' in the judgments"
    assert documents.remedy.startswith("120 of 200 documents looked at match if case is ignored")


def test_documents_nearly_match_though_queries_do_not_at_all() -> None:
    lines = [(f"{7 * len(q)}{ord(q[-1])}", f"{d}.txt", rank, score) for q, d, rank, score in clean_lines()[:40]]
    queries, documents = (each for each in found_in(lines) if each.check.startswith("unmatched"))
    assert queries.remedy.endswith("of the same collection?")
    assert "without the run's suffix '.txt'" in documents.remedy


def test_queries_that_match_nowhere_and_not_nearly() -> None:
    finding = only(found_in([("topic", "d", 1, 1)]), "unmatched-queries")
    assert summary(finding) == ("serious", 1, 1)
    assert str(finding.example) == "'topic' in the run, 'q1' in the judgments"


@pytest.mark.parametrize(
    ("choice", "severity", "said"),
    [("zero", "warning", "scores each 0"), ("skip", "warning", "leaves them out"), ("error", "serious", "refuses")],
)
def test_missing_queries(choice: str, severity: str, said: str) -> None:
    lines = [line for line in clean_lines() if line[0] not in ("q2", "q7")]
    finding = only(found_in(lines, policy=Policy(missing=choice)), "missing-queries")
    assert summary(finding) == (severity, 2, 10)
    assert finding.example.query == "q2"
    assert said in finding.consequence


def test_missing_queries_under_another_name() -> None:
    lines = [(q.upper() if q in ("q2", "q7") else q, d, rank, score) for q, d, rank, score in clean_lines()]
    missing, extra = found_in(lines)
    assert (missing.check, *summary(missing)) == ("missing-queries", "warning", 2, 10)
    assert str(missing.example) == "'Q2' in the run, 'q2' in the judgments"
    assert "if case is ignored" in missing.remedy
    assert (extra.check, *summary(extra)) == ("extra-queries", "warning", 2, 10)


def test_extra_queries() -> None:
    lines = [*clean_lines(), ("q11", "d", 1, 1)]
    assert summary(only(found_in(lines), "extra-queries")) == ("note", 1, 11)
    assert summary(only(found_in(lines, policy=Policy(extra="error")), "extra-queries")) == ("serious", 1, 11)


def test_empty_lists() -> None:
    run = {query: {f"{query}-d{j}": -j for j in range(1, 11)} for query in QUERIES}
    finding = only(list(examine(clean_qrels(), {"r": {**run, "q3": {}}}).findings), "empty-lists")
    assert (*summary(finding), finding.example.query) == ("warning", 1, 10, "q3")
    nothing = examine(clean_qrels(), {"r": {query: {} for query in QUERIES}})
    assert summary(only(list(nothing.findings), "empty-lists")) == ("serious", 10, 10)


# -- Scores and ranks --------------------------------------------------------------------------------------------------


def test_rank_conflicts() -> None:
    lines = clean_lines()
    lines[0], lines[1] = ("q1", "q1-d1", 2, 49), ("q1", "q1-d2", 1, 48)
    finding = only(found_in(lines), "rank-conflicts")
    assert summary(finding) == ("warning", 1, 200)
    assert str(finding.example) == "line 2: q1 q1-d2, rank 1 has 48, rank 2 has 49"
    by_rank = only(found_in(lines, policy=Policy(order="rank")), "rank-conflicts")
    assert (by_rank.severity, by_rank.consequence) == ("note", "order=rank does not go by the scores.")


def test_ranks_that_contradict_the_order_of_lines_without_scores() -> None:
    qrels, run = {"q": {"a": 1, "b": 0, "c": 0}}, b"query,doc,rank\nq,a,1\nq,b,3\nq,c,2\nx,b,2\nx,a,1\n"
    finding = examine(qrels, {"r": run}).about("rank-conflicts")[0]
    assert summary(finding) == ("note", 1, 3)
    assert str(finding.example) == "line 4: q c, rank 2, comes after rank 3"
    assert finding.consequence == "Without scores, order=rank goes by the ranks, not by the lines."
    by_line = examine(qrels, {"r": run}, policy=Policy(order="input")).about("rank-conflicts")[0]
    assert (by_line.severity, by_line.consequence) == (
        "warning",
        "Without scores, order=input goes by the lines, not by the ranks.",
    )
    assert not examine(qrels, {"r": {"q": ["b", "a"]}}).about("rank-conflicts")


def test_rank_conflicts_are_those_that_eval_counts() -> None:
    lines = [(q, d, (7 * rank) % 20, score) for q, d, rank, score in clean_lines()]
    lines.append(("q99", "x", 2, 9))
    lines.append(("q99", "y", 1, 8))
    conflicts = next(each for each in found_in(lines) if each.check == "rank-conflicts")
    evaluation = gainful.evaluate(clean_qrels(), run_text(lines), "P@5")
    assert conflicts.count == evaluation.facts.rank_conflicts > 0


def test_reversed_scores() -> None:
    lines = [(q, d, rank, -score) for q, d, rank, score in clean_lines()]
    finding, unjudged = found_in(lines)
    assert (finding.check, *summary(finding)) == ("reversed-scores", "serious", 10, 10)
    assert unjudged.check == "unjudged-top-10"  # the ends of the lists, which now come first
    assert str(finding.example) == "line 19: q1 q1-d19, rank 19 has -31, rank 20 has -30"
    assert "--order rank" in finding.remedy
    assert only(found_in(lines, policy=Policy(order="rank")), "rank-conflicts").severity == "note"


@together(
    ("lists", "check"),
    [
        ({"q1": (2, 1), "q2": (1, 2)}, "rank-conflicts"),
        ({"q1": (2, 1)}, "rank-conflicts"),
        ({"q1": (2, 1), "q2": (2, 1)}, "rank-conflicts"),
        ({"q1": (3, 2, 1)}, "rank-conflicts"),
        ({"q1": (5, 4, 3, 2, 1), "q2": (1, 2, 3, 4, 5)}, "rank-conflicts"),
        ({"q1": (5, 4, 3, 2, 1)}, "reversed-scores"),
        ({"q1": (3, 2, 1), "q2": (3, 2, 1)}, "reversed-scores"),
        ({"q1": (5, 4, 3, 2, 1), "q2": (2, 1)}, "reversed-scores"),
    ],
)
def test_only_a_whole_run_is_reversed(lists: dict[str, tuple[int, ...]], check: str) -> None:
    # The ranks of documents whose scores fall.
    lines: list[Line] = [(q, f"{q}-d{j}", r, 9 - j) for q, ranks in lists.items() for j, r in enumerate(ranks, 1)]
    checks = [each.check for each in found_in(lines, {q: clean_qrels()[q] for q in lists})]
    assert [each for each in checks if each in ("rank-conflicts", "reversed-scores")] == [check]


def test_examples_show_scores_that_hardly_differ() -> None:
    lines = clean_lines()
    lines[0], lines[1] = ("q1", "q1-d1", 2, "100.000000002"), ("q1", "q1-d2", 1, "100.000000001" + 60 * "0")
    conflicts = next(each for each in found_in(lines) if each.check == "rank-conflicts")
    assert str(conflicts.example) == "line 2: q1 q1-d2, rank 1 has 100.000000001, rank 2 has 100.000000002"


def test_reversed_scores_without_ranks() -> None:
    lines = [(q, d, 0, -score) for q, d, _, score in clean_lines()]
    findings = found_in(lines)
    assert [(each.check, *summary(each)) for each in findings] == [
        ("reversed-scores", "warning", 10, 10),
        ("unjudged-top-10", "warning", 80, 100),
        ("ranks-not-from-1", "note", 10, 10),
        ("uneven-ranks", "note", 10, 10),
    ]
    assert str(findings[0].example) == "line 1: q1 q1-d1 comes first with score -49"
    assert "--order input" in findings[0].remedy


def test_short_lists_in_rising_order_say_nothing_without_ranks() -> None:
    run = {query: {f"{query}-d1": 0.1, f"{query}-d2": 0.2} for query in QUERIES}
    assert examine(clean_qrels(), {"r": run}).findings == ()


def test_some_reversed_lists_are_conflicts() -> None:
    lines = [(q, d, rank, -score if q == "q1" else score) for q, d, rank, score in clean_lines()]
    assert summary(only(found_in(lines), "rank-conflicts")) == ("warning", 19, 200)


def test_constant_scores() -> None:
    lines = [(q, d, rank, 0) for q, d, rank, _ in clean_lines()]
    finding = only(found_in(lines), "constant-scores")
    assert summary(finding) == ("serious", 10, 10)
    assert "ties=docid-desc" in finding.consequence
    assert found_in(lines, policy=Policy(order="rank")) == []
    some = [(q, d, rank, 0 if q == "q5" else score) for q, d, rank, score in clean_lines()]
    finding = only(found_in(some), "constant-scores")
    assert (*summary(finding), finding.example.query) == ("warning", 1, 10, "q5")


@pytest.mark.parametrize(("pairs", "expected"), [(1, None), (2, ("note", 4, 200)), (6, ("warning", 12, 200))])
def test_tied_documents(pairs: int, expected: tuple[str, int, int] | None) -> None:
    lines = clean_lines()
    for i in range(pairs):
        at = of_query(lines, QUERIES[i])[5]
        lines[at] = (*lines[at][:3], lines[at - 1][3])
    findings = found_in(lines)
    if expected is None:
        assert findings == []
        return
    finding = only(findings, "tied-documents")
    assert summary(finding) == expected
    # Documents 5 and 6 have the same score; the later id comes first.
    assert str(finding.example) == "line 6: q1 q1-d6 and q1-d5"


def test_float32_ties() -> None:
    lines = clean_lines()
    lines[20] = ("q2", "q2-d1", 1, "48.0000001")
    finding = only(found_in(lines), "float32-ties")
    assert summary(finding) == ("note", 2, 200)
    assert str(finding.example) == "line 21: q2 q2-d1 and q2-d2"
    assert "trec_eval 9" in finding.consequence
    rounded = only(found_in(lines, policy=Policy(scores="float32")), "float32-ties")
    assert rounded.consequence == "scores=float32 makes ties of them, which ties=docid-desc orders."
    evaluation = gainful.evaluate(clean_qrels(), run_text(lines), "P@5", policy=Policy(scores="float32"))
    assert evaluation.facts.float32_ties == 2


def test_ranks_from_zero_and_with_gaps() -> None:
    from_zero = [(q, d, int(str(rank)) - 1, score) for q, d, rank, score in clean_lines()]
    finding = only(found_in(from_zero), "ranks-not-from-1")
    assert summary(finding) == ("note", 10, 10)
    assert str(finding.example) == "query q1: ranks 0 to 19 for 20 documents"
    lines = clean_lines()
    lines[39] = (*lines[39][:2], 25, lines[39][3])
    finding = only(found_in(lines), "uneven-ranks")
    assert (*summary(finding), str(finding.example)) == ("note", 1, 10, "query q2: ranks 1 to 25 for 20 documents")


def test_ranks_that_are_not_numbers_do_not_matter_until_they_are_needed() -> None:
    lines = [(q, d, "-", score) for q, d, _, score in clean_lines()]
    assert found_in(lines) == []
    with pytest.raises(gainful.InputError, match="expected a number as rank"):
        found_in(lines, policy=Policy(order="rank"))


def test_short_lists() -> None:
    lines = clean_lines()
    lines = [line for line in lines if line[0] != "q4" or int(str(line[2])) <= 9]
    finding = only(found_in(lines), "short-lists")
    assert summary(finding) == ("note", 1, 10)
    assert str(finding.example) == "query q4: 9 documents, usually 20"
    lines = [line for line in lines if line[0] != "q5" or int(str(line[2])) <= 3]
    finding = only(found_in(lines), "short-lists")
    assert (*summary(finding), str(finding.example)) == ("warning", 2, 10, "query q5: 3 documents, usually 20")
    assert found_in(lines, policy=Policy(depth=3)) == []


# -- Judgments ---------------------------------------------------------------------------------------------------------


def test_conflicting_judgments() -> None:
    text = qrels_text(clean_qrels()) + b"q3 0 q3-d1 2\n"
    finding = only(found_in(qrels=text), "conflicting-judgments")
    assert summary(finding) == ("serious", 1, 121)
    assert str(finding.example) == "line 121: q3 q3-d1, grade 2 after 1"
    assert "--judges" in finding.remedy
    with pytest.raises(gainful.InputError, match="expected one grade"):
        gainful.evaluate(text, run_text(clean_lines()))
    settled = only(found_in(qrels=text, policy=Policy(judges="mean")), "conflicting-judgments")
    assert (settled.severity, settled.consequence) == ("note", "judges=mean makes one grade of them.")


def test_conflicts_between_subtopics() -> None:
    text = qrels_text(clean_qrels()) + b"q3 7 q3-d1 2\n"
    assert "--subtopics" in only(found_in(qrels=text), "conflicting-judgments").remedy
    assert found_in(qrels=text, policy=Policy(subtopics=True)) == []
    twice = text + b"q3 7 q3-d1 0\n"
    finding = only(found_in(qrels=twice, policy=Policy(subtopics=True)), "conflicting-judgments")
    assert str(finding.example) == "line 122: q3 q3-d1, grade 0 after 2"


def test_repeated_judgments() -> None:
    text = qrels_text(clean_qrels()) + b"q3 0 q3-d1 1\nq3 0 q3-d1 1\n"
    finding = only(found_in(qrels=text), "repeated-judgments")
    assert (*summary(finding), str(finding.example)) == ("note", 2, 122, "line 121: q3 q3-d1 again")


def changed(judgments: dict[str, dict[str, float]], **grades: float) -> dict[str, dict[str, float]]:
    """The judgments with other grades for the first documents of some queries."""
    return {
        query: {d: grades.get(query, g) if d == f"{query}-d1" else g for d, g in of.items()}
        for query, of in judgments.items()
    }


def regraded(regrade: Callable[[float], float]) -> dict[str, dict[str, float]]:
    return {query: {d: regrade(grade) for d, grade in of.items()} for query, of in clean_qrels().items()}


def test_negative_grades() -> None:
    finding = only(found_in(qrels=changed(clean_qrels(), q2=-1, q5=-2)), "negative-grades")
    assert summary(finding) == ("note", 2, 120)
    assert str(finding.example) == "line 13: q2 q2-d1, grade -1"


def test_fractional_grades() -> None:
    finding = only(found_in(qrels=changed(clean_qrels(), q2=1.5)), "fractional-grades")
    assert (*summary(finding), str(finding.example)) == ("warning", 1, 120, "line 13: q2 q2-d1, grade 1.5")
    assert only(found_in(qrels=changed(clean_qrels(), q2=1.5, q3=0.5)), "fractional-grades").severity == "note"
    assert found_in(qrels=regraded(lambda grade: grade / 3)) == []


@pytest.mark.parametrize("slip", [100, 22, -50])
def test_outlying_grades(slip: float) -> None:
    findings = found_in(qrels=changed(clean_qrels(), q2=slip))
    finding = findings[0]
    assert (finding.check, *summary(finding)) == ("outlying-grades", "warning", 1, 120)
    assert str(finding.example) == f"line 13: q2 q2-d1, grade {slip}"
    assert [each.check for each in findings[1:]] == (["negative-grades"] if slip < 0 else [])


@pytest.mark.parametrize("slips", [(100, 1000), (100, 101), (-50, -5000)])
def test_outlying_grades_do_not_hide_each_other(slips: tuple[float, float]) -> None:
    finding = found_in(qrels=changed(clean_qrels(), q2=slips[0], q5=slips[1]))[0]
    assert (finding.check, *summary(finding)) == ("outlying-grades", "warning", 2, 120)
    assert finding.consequence == "The others go from 0 to 2: they outweigh them."
    few = {"q1": dict(zip("abcdefg", (0, 1, 2, 1, 2, *slips), strict=True))}
    assert found_in([("q1", "a", 1, 1)], few)[0].count == 2


@pytest.mark.parametrize("slips", [(100, -1000), (100, -100)])
def test_outlying_grades_at_both_ends(slips: tuple[float, float]) -> None:
    findings = found_in(qrels=changed(clean_qrels(), q2=slips[0], q5=slips[1]))
    assert [each.example.query for each in findings if each.check == "outlying-grades"] == ["q2", "q5"]


def test_an_outlier_among_fractions() -> None:
    grades = {f"q1-d{j}": (j * j % 101) / 101 for j in range(1, 51)}
    assert found_in([("q1", "q1-d1", 1, 1)], {"q1": grades}) == []
    finding = only(found_in([("q1", "q1-d1", 1, 1)], {"q1": {**grades, "q1-d7": 50}}), "outlying-grades")
    assert str(finding.example) == "line 7: q1 q1-d7, grade 50"


def test_few_judgments_on_a_scale_that_grows() -> None:
    qrels = {"q1": dict(zip("abcdefgh", (0, 0, 0, 1, 1, 1, 10, 100), strict=True))}
    assert [each.check for each in found_in([("q1", "a", 1, 1)], qrels)] == []


@pytest.mark.parametrize("weights", [(0, 1, 10, 100), (0, 1, 2, 4), (0, 1, 2, 3)])
def test_scales_that_grow_are_no_outliers(weights: tuple[int, ...]) -> None:
    qrels = regraded(lambda grade: weights[int(grade)])
    qrels["q1"]["q1-d1"] = weights[3]
    assert found_in(qrels=qrels) == []


def test_grades_above_the_given_scale() -> None:
    finding = only(found_in(scale=1), "grades-above-scale")
    assert summary(finding) == ("serious", 40, 120)
    assert str(finding.example) == "line 2: q1 q1-d2, grade 2"
    assert found_in(scale=2) == found_in(scale=5) == []


def test_equal_grades() -> None:
    finding = only(found_in(qrels=regraded(lambda grade: 1)), "equal-grades")
    assert summary(finding) == ("note", 120, 120)


@pytest.mark.parametrize("grade", [0, -1])
def test_nothing_relevant(grade: int) -> None:
    findings = found_in(qrels=regraded(lambda _: grade))
    assert (findings[0].check, *summary(findings[0])) == ("nothing-relevant", "serious", 10, 10)
    assert [each.check for each in findings[1:]] == (["negative-grades"] if grade < 0 else [])
    assert f"highest grade is {grade}" in findings[0].remedy


def test_nothing_relevant_after_grade_zero() -> None:
    finding = only(found_in(policy=Policy(grade_zero=2)), "nothing-relevant")
    assert "No grade is above 2" in finding.consequence


def test_a_scale_without_zero() -> None:
    stars = regraded(lambda grade: grade + 1)
    finding = only(found_in(qrels=stars), "no-zero-grade")
    assert summary(finding) == ("note", 40, 120)
    assert "--grade-zero 1" in finding.remedy
    assert found_in(qrels=stars, policy=Policy(grade_zero=1)) == []


@pytest.mark.parametrize(
    ("undefined", "without", "severity", "said"),
    [
        ("zero", 1, "warning", "score 0"),
        ("skip", 3, "warning", "left out of the mean"),
        ("error", 1, "serious", "refuses"),
    ],
)
def test_queries_without_relevant_documents(undefined: str, without: int, severity: str, said: str) -> None:
    qrels = clean_qrels()
    for query in QUERIES[1 : 1 + without]:
        qrels[query] = dict.fromkeys(qrels[query], 0)
    finding = only(found_in(qrels=qrels, policy=Policy(undefined=undefined)), "queries-without-relevant")
    assert (*summary(finding), finding.example.query) == (severity, without, 10, "q2")
    assert said in finding.consequence


# -- Runs beside each other --------------------------------------------------------------------------------------------


def several(**runs: list[Line]) -> list[Finding]:
    texts = {name: run_text(lines, tag=name) for name, lines in runs.items()}
    return list(examine(qrels_text(clean_qrels()), texts).findings)


def swapped(lines: list[Line]) -> list[Line]:
    """The same lists with their first two documents exchanged."""
    flipped = {1: 2, 2: 1}
    return [
        (q, f"{q}-d{flipped.get(int(str(rank)), rank)}" if d.startswith(q) else d, rank, s) for q, d, rank, s in lines
    ]


def test_runs_that_differ_are_fine() -> None:
    assert several(a=clean_lines(), b=swapped(clean_lines())) == []


def test_different_depths() -> None:
    shallow = [line for line in swapped(clean_lines()) if int(str(line[2])) <= 10]
    finding = only(several(deep=clean_lines(), shallow=shallow), "different-depths")
    assert summary(finding) == ("warning", 1, 2)
    assert str(finding.example) == "shallow 10, deep 20 documents a query"
    assert finding.run is None
    assert "--depth 10" in finding.remedy
    a_little = [line for line in swapped(clean_lines()) if int(str(line[2])) <= 15]
    assert only(several(deep=clean_lines(), shallow=a_little), "different-depths").severity == "note"


def test_unjudged_bias() -> None:
    unseen = [
        (q, f"new{i}" if int(str(rank)) in (2, 4, 6) else d, rank, s) for i, (q, d, rank, s) in enumerate(clean_lines())
    ]
    bias, unjudged = several(old=clean_lines(), new=unseen)
    assert (bias.check, *summary(bias)) == ("unjudged-bias", "warning", 1, 2)
    assert str(bias.example) == "new 30%, old 0%"
    assert (unjudged.check, unjudged.run, *summary(unjudged)) == ("unjudged-top-10", "new", "note", 30, 100)


def test_identical_runs() -> None:
    finding = only(several(a=clean_lines(), b=swapped(clean_lines()), c=clean_lines()), "identical-runs")
    assert (*summary(finding), str(finding.example)) == ("note", 2, 3, "a, c")


def test_equal_tags() -> None:
    runs = {"a": run_text(clean_lines(), "bm25"), "b": run_text(swapped(clean_lines()), "bm25")}
    finding = only(list(examine(clean_qrels(), runs).findings), "equal-tags")
    assert (*summary(finding), str(finding.example)) == ("note", 2, 2, "a, b call themselves bm25")


# -- The examination as a whole ----------------------------------------------------------------------------------------


def broken() -> Examination:
    lines = clean_lines()
    lines[3] = ("q1", "q1-d3", 4, 47)
    lines = [line for line in lines if line[0] != "q9"]
    return examine(changed(clean_qrels(), q2=-1), {"mine": run_text(lines), "other": run_text(swapped(clean_lines()))})


def test_findings_come_by_severity() -> None:
    found = broken()
    assert [(each.severity, each.check, each.run) for each in found.findings] == [
        ("serious", "repeated-documents", "mine"),
        ("warning", "missing-queries", "mine"),
        ("note", "negative-grades", None),
        ("note", "equal-tags", None),
    ]
    assert found.is_serious
    assert not found.without("serious").is_serious
    assert found.about("missing-queries", "mine") == found.about("missing-queries") == [found.findings[1]]
    assert found.about("missing-queries", "other") == []


def test_it_can_be_shown() -> None:
    found = broken()
    assert found.summary() == "10 queries, 120 judgments, 2 runs: 1 serious finding, 1 warning, 2 notes."
    page = found.page()
    [table] = page.tables
    names = ["severity", "check", "run", "count", "of", "example", "consequence", "remedy"]
    assert [column.name for column in table.columns] == names
    assert table.rows[0] == (
        "serious",
        "repeated-documents",
        "mine",
        1,
        180,
        "line 4: q1 q1-d3 again (first: line 3)",
        "gainful eval refuses the run.",
        "Remove the repeats, or let --duplicates first keep the best ranked.",
    )
    assert page.parts[0] == found.summary()
    assert page.parts[2] == (
        "repeated-documents: gainful eval refuses the run. Remove the repeats, or let --duplicates first keep the "
        "best ranked."
    )
    assert page.header == {"judgments": "<dict>", "runs": ["mine", "other"], "serious": 1, "warning": 1, "note": 2}
    assert str(found).startswith(found.summary())


def test_a_clean_examination_can_be_shown() -> None:
    clean = examine(clean_qrels(), {"r": run_text(clean_lines())})
    assert str(clean) == "10 queries, 120 judgments, 1 run: nothing suspicious."


def test_every_finding_says_what_to_do() -> None:
    for finding in broken().findings:
        assert finding.consequence.endswith(".") and finding.remedy.endswith((".", "?"))
        assert finding.check in CHECKS
        assert 0 < finding.share <= 1


def test_every_check_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "check.md").read_text(encoding="utf-8")
    assert [line.split("`")[1] for line in page.splitlines() if line.startswith("| `")] == list(CHECKS)


def test_threads_do_not_matter() -> None:
    lines = [(q, d, (7 * rank) % 20, score // 2) for q, d, rank, score in clean_lines()]
    runs = {name: run_text(lines) for name in "abc"}
    assert examine(clean_qrels(), runs, threads=1) == examine(clean_qrels(), runs, threads=8)


def test_wrong_usage_and_bad_input() -> None:
    with pytest.raises(gainful.UsageError, match="expected a dict of names and runs"):
        examine(clean_qrels(), b"q Q0 d 1 1 t\n")  # type: ignore[arg-type]
    with pytest.raises(gainful.InputError, match="expected 6 fields, found 5"):
        found_in(qrels=clean_qrels(), lines=[("q1", "d 1", "", "")])
    with pytest.raises(gainful.InputError, match="expected at least one ranked document"):
        examine(clean_qrels(), {"r": b"# nothing\n"})
    with pytest.raises(gainful.UsageError):
        examine(clean_qrels(), {"r": run_text(clean_lines())}, policy="no such tool")


def test_parts_of_judgments_are_examined_alone() -> None:
    qrels = Qrels.from_dict(clean_qrels()).select(["q1", "q2"])
    finding = only(list(examine(qrels, {"r": run_text(clean_lines())}).findings), "extra-queries")
    assert summary(finding) == ("note", 8, 10)
