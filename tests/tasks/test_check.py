"""Each check of `gainful check` fires on a crafted case with the right count, example and severity, and only there."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import gainful
from gainful import Policy, Qrels, Run, examine, simulate
from gainful.tasks.check import CHECKS, Examination, Finding
from tests.together import together

QUERIES = [f"q{i}" for i in range(1, 11)]
DEPTH = 20

Line = tuple[str, str, object, object]  # query, document, rank, score


def clean_qrels() -> dict[str, dict[str, float]]:
    """Ten queries; the first twelve documents of each list are judged 0, 1 or 2, and one that is missing."""
    return {query: {f"{query}-d{j}": [0, 1, 2][j % 3] for j in (*range(1, 13), 25)} for query in QUERIES}


def clean_lines() -> list[Line]:
    """Lists of twenty documents, ranks from 1, falling scores."""
    return [(query, f"{query}-d{j}", j, 50 - j) for query in QUERIES for j in range(1, DEPTH + 1)]


def qrels_text(judgments: Mapping[str, Mapping[str, object]]) -> bytes:
    return "".join(f"{q} 0 {d} {grade}\n" for q, grades in judgments.items() for d, grade in grades.items()).encode()


def run_text(lines: list[Line], tag: str = "tag") -> bytes:
    return "".join(f"{q} Q0 {d} {rank} {score} {tag}\n" for q, d, rank, score in lines).encode()


def found_in(
    lines: Any = None, qrels: Mapping[str, Mapping[str, object]] | bytes | None = None, **options: Any
) -> list[Finding]:
    judgments = clean_qrels() if qrels is None else qrels
    text = judgments if isinstance(judgments, bytes) else qrels_text(judgments)
    lines = clean_lines() if lines is None else lines
    run = run_text(lines) if isinstance(lines, list) else lines
    return list(examine(text, {"r": run}, **options).findings)


def only(findings: list[Finding], check: str) -> Finding:
    """Return the finding after checking that it is the only one."""
    assert [finding.check for finding in findings] == [check]
    return findings[0]


def summary(finding: Finding) -> tuple[str, int, int]:
    return finding.severity, finding.count, finding.total


def lines_with(changes: Mapping[int, Line]) -> list[Line]:
    """Return the clean lines, some of them replaced (counted from 0)."""
    return [changes.get(i, line) for i, line in enumerate(clean_lines())]


def lines_by(change: Callable[[str, str, int, int], Line]) -> list[Line]:
    """Return the clean lines, each changed."""
    return [change(query, document, int(str(rank)), int(str(score))) for query, document, rank, score in clean_lines()]


def grades_by(change: Callable[[float], float]) -> dict[str, dict[str, float]]:
    return {query: {d: change(grade) for d, grade in of.items()} for query, of in clean_qrels().items()}


def first_graded(**grades: float) -> dict[str, dict[str, float]]:
    """Return the judgments with other grades for the first documents of some queries."""
    return {
        query: {d: grades.get(query, g) if d == f"{query}-d1" else g for d, g in of.items()}
        for query, of in clean_qrels().items()
    }


def graded(*grades: float) -> dict[str, dict[str, float]]:
    """One query with documents of these grades."""
    return {"q1": {f"d{j}": grade for j, grade in enumerate(grades, 1)}}


def first_graded_on(weights: Sequence[float]) -> dict[str, dict[str, float]]:
    """Return the judgments on another scale, whose highest grade one document has."""
    qrels = grades_by(lambda grade: weights[int(grade)])
    qrels["q1"]["q1-d1"] = weights[-1]
    return qrels


def judged_from(first: int) -> dict[str, dict[str, float]]:
    """Return judgments of the documents from a position."""
    return {query: {f"{query}-d{j}": j % 2 for j in (*range(first, 20), 25)} for query in QUERIES}


class Case(NamedTuple):
    """Expected findings as printed (``*`` stands for any example), and the advice of the first."""

    found: list[str]
    advice: str = ""
    lines: Any = None
    qrels: Mapping[str, Mapping[str, object]] | bytes | None = None
    policy: Policy | None = None
    scale: float | None = None


RANKED = {query: {f"{query}-d{j}": -j for j in range(1, 11)} for query in QUERIES}
ONE_LINE: list[Line] = [("q1", "d1", 1, 1)]
REPEATED = lines_with({41: ("q3", "q3-d1", 2, 48), 199: ("q10", "q10-d1", 20, 30)})
TWO_MISSING = [line for line in clean_lines() if line[0] not in ("q2", "q7")]
EXTRA = [*clean_lines(), ("q11", "d", 1, 1)]
SELF = lines_with({24: ("q2", "q2", 5, 45)})
FORTY = [f"q{i}" for i in range(1, 41)]
SELF_OF_FORTY = [(q, "q1" if (q, j) == ("q1", 6) else f"{q}-d{j}", j, -j) for q in FORTY for j in range(1, 11)]
SWAPPED_RANKS = lines_with({0: ("q1", "q1-d1", 2, 49), 1: ("q1", "q1-d2", 1, 48)})
HARDLY = lines_with({0: ("q1", "q1-d1", 2, "100.000000002"), 1: ("q1", "q1-d2", 1, "100.000000001" + 60 * "0")})
REVERSED = lines_by(lambda q, d, rank, score: (q, d, rank, -score))
CONSTANT = lines_by(lambda q, d, rank, score: (q, d, rank, 0))
FLOAT32 = lines_with({20: ("q2", "q2-d1", 1, "48.0000001")})
SHORT = [line for line in clean_lines() if line[0] != "q4" or int(str(line[2])) <= 9]
SHORTER = [line for line in SHORT if line[0] != "q5" or int(str(line[2])) <= 3]
CONFLICTING = qrels_text(clean_qrels()) + b"q3 0 q3-d1 2\n"
BY_SUBTOPIC = qrels_text(clean_qrels()) + b"q3 7 q3-d1 2\n"
STARS = grades_by(lambda grade: grade + 1)
NEGATIVE = grades_by(lambda grade: grade or -1)


def tied(pairs: int) -> list[Line]:
    """The sixth document of some lists has the score of the fifth."""
    return lines_by(lambda q, d, rank, score: (q, d, rank, score + (rank == 6 and q in QUERIES[:pairs])))


def without_relevant(count: int) -> dict[str, dict[str, float]]:
    nothing = QUERIES[1 : 1 + count]
    return {q: dict.fromkeys(of, 0) if q in nothing else of for q, of in clean_qrels().items()}


CASES = [
    # Clean data, in any order
    Case([]),
    Case([], lines=clean_lines()[::-1]),
    Case(["serious: repeated-documents in r: 1 of 200, *"], lines=lines_with({3: ("q1", "q1-d3", 4, 47)})[::-1]),
    # Documents
    Case(
        ["serious: repeated-documents in r: 2 of 200, such as line 42: q3 q3-d1 again (first: line 41)"],
        "gainful eval refuses the run. Remove the repeats, or use --duplicates first",
        REPEATED,
    ),
    Case(["note: repeated-documents in r: 2 of 200, *"], lines=REPEATED, policy=Policy(duplicates="first")),
    Case(
        ["serious: repeated-documents in r: 1 of 202, *", "note: extra-queries in r: 1 of 11, *"],
        lines=[*clean_lines(), ("q99", "d", 1, 2), ("q99", "d", 2, 1)],
    ),
    *(
        Case(
            [f"serious: unmatched-documents in r: 200 of 200, such as '{write('q1-d1')}' in the run, 'q1-d1' in the *"],
            f"120 of 200 sampled documents match {how}:",  # of the twenty documents of each list twelve are judged
            lines_by(lambda q, d, rank, score, write=write: (q, write(d), rank, score)),
        )
        for write, how in (
            (str.upper, "if case is ignored"),
            ("msmarco_doc_{}".format, "without the run's prefix 'msmarco_doc_'"),
            ("{}.txt".format, "without the run's suffix '.txt'"),
            ("{}#0".format, "without the run's suffix '#0'"),
        )
    ),
    Case(
        ["serious: unmatched-documents in r: 200 of 200, such as 'other1' in the run, 'q1-d1' in the judgments"],
        "same collection",
        lines_by(lambda q, d, rank, score: (q, f"other{d.replace('q', '').replace('-d', '')[1:]}", rank, score)),
    ),
    Case(
        ["warning: unmatched-documents in r: 199 of 200, *", "warning: unjudged-top-10 in r: 99 of 100, *"],
        "if case is ignored",
        lines_by(lambda q, d, rank, score: (q, d if d == "q1-d1" else d.upper(), rank, score)),
    ),
    # One judged document a query, at the end of its list, and for half of the queries not found at all
    Case(
        ["note: unjudged-top-10 in r: *", "note: equal-grades: *"],
        qrels={query: {f"{query}-d20" if i % 2 else "elsewhere": 1} for i, query in enumerate(QUERIES)},
    ),
    Case(["warning: self-hits in r: 1 of 10, such as line 25: q2 q2"], lines=SELF),
    Case(
        ["note: self-hits in r: 1 of 40, *"],
        lines=SELF_OF_FORTY,
        qrels={query: {f"{query}-d{j}": j % 2 for j in range(1, 13)} for query in FORTY},
    ),
    Case(["warning: unjudged-top-10 in r: 70 of 100, such as line 1: q1 q1-d1"], qrels=judged_from(8)),
    Case(["note: unjudged-top-10 in r: 30 of 100, *"], qrels=judged_from(4)),
    Case([], qrels=judged_from(3)),
    Case(["note: negative-grades: *"], "counts them as judged not relevant", qrels=NEGATIVE),
    Case(
        ["note: unjudged-top-10 in r: 30 of 100, such as line 3: q1 q1-d3", "note: negative-grades: 40 of 130, *"],
        qrels=NEGATIVE,
        policy=Policy(negative="unjudged"),
    ),
    # Queries
    Case(
        ["serious: unmatched-queries in r: 10 of 10, *"],
        "10 of 10 sampled queries match without the judgments' prefix 'q'",
        lines_by(lambda q, d, rank, score: (q.removeprefix("q").zfill(3), d, rank, score)),
    ),
    Case(
        [
            "serious: unmatched-queries in r: 10 of 10, *",
            "serious: unmatched-documents in r: 200 of 200, such as 'Q1-D1' in the run, 'q1-d1' in the judgments",
        ],
        lines=lines_by(lambda q, d, rank, score: (f"topic-{q}", d.upper(), rank, score)),
    ),
    Case(
        ["serious: unmatched-queries in r: 1 of 1, such as 'topic' in the run, 'q1' in the judgments"],
        lines=[("topic", "d", 1, 1)],
    ),
    *(
        Case([f"{severity}: missing-queries in r: 2 of 10, such as query q2"], said, TWO_MISSING, policy=policy)
        for policy, severity, said in (
            (Policy(missing="zero"), "warning", "scores each 0"),
            (Policy(missing="skip"), "warning", "omits them"),
            (Policy(missing="error"), "serious", "refuses"),
        )
    ),
    Case(
        [
            "warning: missing-queries in r: 2 of 10, such as 'Q2' in the run, 'q2' in the judgments",
            "warning: extra-queries in r: 2 of 10, *",
        ],
        "if case is ignored",
        lines_by(lambda q, d, rank, score: (q.upper() if q in ("q2", "q7") else q, d, rank, score)),
    ),
    Case(["note: extra-queries in r: 1 of 11, *"], lines=EXTRA),
    Case(["warning: empty-lists in r: 1 of 10, such as query q3"], lines={**RANKED, "q3": {}}),
    Case(["serious: empty-lists in r: 10 of 10, *"], lines={query: {} for query in QUERIES}),
    # Of lists without scores nothing is said of scores; short ones that rise without ranks say nothing
    Case([], lines={query: list(documents) for query, documents in RANKED.items()}),
    Case([], lines={query: {f"{query}-d1": 0.1, f"{query}-d2": 0.2} for query in QUERIES}),
    Case(["serious: extra-queries in r: 1 of 11, *"], lines=EXTRA, policy=Policy(extra="error")),
    # Scores and ranks
    Case(
        ["warning: rank-conflicts in r: 1 of 200, such as line 2: q1 q1-d2, rank 1 has 48, rank 2 has 49"],
        lines=SWAPPED_RANKS,
    ),
    Case(
        ["note: rank-conflicts in r: *"],
        "order=rank does not use the scores.",
        SWAPPED_RANKS,
        policy=Policy(order="rank"),
    ),
    Case(["warning: rank-conflicts in r: * rank 1 has 100.000000001, rank 2 has 100.000000002", "*"], lines=HARDLY),
    Case(
        [
            "serious: reversed-scores in r: 10 of 10, such as line 19: q1 q1-d19, rank 19 has -31, rank 20 has -30",
            "warning: unjudged-top-10 in r: *",  # the ends of the lists, which now come first
        ],
        "--order rank",
        REVERSED,
    ),
    Case(["note: rank-conflicts in r: *"], lines=REVERSED, policy=Policy(order="rank")),
    Case(
        [
            "warning: reversed-scores in r: 10 of 10, such as line 1: q1 q1-d1 comes first with score -49",
            "warning: unjudged-top-10 in r: 80 of 100, *",
            "note: ranks-not-from-1 in r: 10 of 10, *",
            "note: uneven-ranks in r: 10 of 10, *",
        ],
        "--order input",
        lines_by(lambda q, d, rank, score: (q, d, 0, -score)),
    ),
    Case(
        ["warning: rank-conflicts in r: 19 of 200, *"],
        lines=lines_by(lambda q, d, rank, score: (q, d, rank, -score if q == "q1" else score)),
    ),
    Case(["serious: constant-scores in r: 10 of 10, *"], "ties=docid-desc", CONSTANT),
    Case([], lines=CONSTANT, policy=Policy(order="rank")),
    Case(
        ["warning: constant-scores in r: 1 of 10, such as line 89: q5 q5-d9, *"],
        lines=lines_by(lambda q, d, rank, score: (q, d, rank, 0 if q == "q5" else score)),
    ),
    Case([], lines=tied(1)),
    # Documents 5 and 6 have the same score; the later id comes first
    Case(["note: tied-documents in r: 4 of 200, such as line 6: q1 q1-d6 and q1-d5"], lines=tied(2)),
    Case(["warning: tied-documents in r: 12 of 200, *"], lines=tied(6)),
    Case(["note: float32-ties in r: 2 of 200, such as line 21: q2 q2-d1 and q2-d2"], "trec_eval 9", FLOAT32),
    Case(
        ["note: float32-ties in r: *"],
        "scores=float32 turns them into ties, which ties=docid-desc orders.",
        FLOAT32,
        policy=Policy(scores="float32"),
    ),
    Case(
        ["note: ranks-not-from-1 in r: 10 of 10, such as query q1: ranks 0 to 19 for 20 documents"],
        lines=lines_by(lambda q, d, rank, score: (q, d, rank - 1, score)),
    ),
    Case(
        ["note: uneven-ranks in r: 1 of 10, such as query q2: ranks 1 to 25 for 20 documents"],
        lines=lines_with({39: ("q2", "q2-d20", 25, 30)}),
    ),
    Case([], lines=lines_by(lambda q, d, rank, score: (q, d, "-", score))),
    Case(["note: short-lists in r: 1 of 10, such as query q4: 9 documents, median 20"], lines=SHORT),
    Case(["warning: short-lists in r: 2 of 10, such as query q5: 3 documents, median 20"], lines=SHORTER),
    Case([], lines=SHORTER, policy=Policy(depth=3)),
    # Judgments
    Case(
        ["serious: conflicting-judgments: 1 of 131, such as line 131: q3 q3-d1, grade 2 after 1"],
        "--judges",
        qrels=CONFLICTING,
    ),
    Case(
        ["note: conflicting-judgments: *"],
        "judges=mean merges them.",
        qrels=CONFLICTING,
        policy=Policy(judges="mean"),
    ),
    Case(["serious: conflicting-judgments: *"], "--subtopics", qrels=BY_SUBTOPIC),
    Case([], qrels=BY_SUBTOPIC, policy=Policy(subtopics=True)),
    Case(
        ["serious: conflicting-judgments: * such as line 132: q3 q3-d1, grade 0 after 2"],
        qrels=BY_SUBTOPIC + b"q3 7 q3-d1 0\n",
        policy=Policy(subtopics=True),
    ),
    Case(
        ["note: repeated-judgments: 2 of 132, such as line 131: q3 q3-d1 again"],
        qrels=qrels_text(clean_qrels()) + b"q3 0 q3-d1 1\nq3 0 q3-d1 1\n",
    ),
    Case(["note: negative-grades: 2 of 130, such as line 14: q2 q2-d1, grade -1"], qrels=first_graded(q2=-1, q5=-2)),
    Case(["warning: fractional-grades: 1 of 130, such as line 14: q2 q2-d1, grade 1.5"], qrels=first_graded(q2=1.5)),
    Case(["note: fractional-grades: *"], qrels=first_graded(q2=1.5, q3=0.5)),
    Case([], qrels=grades_by(lambda grade: grade / 3)),
    *(
        Case(
            [
                f"warning: outlying-grades: 1 of 130, such as line 14: q2 q2-d1, grade {slip}",
                *(["note: negative-grades: *"] if slip < 0 else []),
            ],
            qrels=first_graded(q2=slip),
        )
        for slip in (100, 22, -50)
    ),
    *(
        Case(
            ["warning: outlying-grades: 2 of 130, *", *(["note: negative-grades: *"] if one < 0 else [])],
            "The others range from 0 to 2: they outweigh them.",
            qrels=first_graded(q2=one, q5=other),
        )
        for one, other in ((100, 1000), (100, 101), (-50, -5000))
    ),
    *(
        Case(
            [
                "warning: outlying-grades: 1 of 130, such as line 14: *",
                "warning: outlying-grades: 1 of 130, such as line 53: *",
                "note: negative-grades: *",
            ],
            qrels=first_graded(q2=100, q5=low),
        )
        for low in (-1000, -100)
    ),
    Case(["warning: outlying-grades: 2 of 7, *"], lines=ONE_LINE, qrels=graded(0, 1, 2, 1, 2, 100, 1000)),
    Case([], lines=ONE_LINE, qrels=graded(*(j * j % 101 / 101 for j in range(1, 51)))),
    Case(
        ["warning: outlying-grades: 1 of 51, such as line 51: q1 d51, grade 50"],
        lines=ONE_LINE,
        qrels=graded(*(j * j % 101 / 101 for j in range(1, 51)), 50),
    ),
    # On scales that grow every grade is far from those before
    Case([], lines=ONE_LINE, qrels=graded(0, 0, 0, 1, 1, 1, 10, 100)),
    *(Case([], qrels=first_graded_on(weights)) for weights in ((0, 1, 10, 100), (0, 1, 2, 4), (0, 1, 2, 3))),
    Case(["serious: grades-above-scale: 40 of 130, such as line 2: q1 q1-d2, grade 2"], scale=1),
    Case([], scale=2),
    Case([], scale=5),
    Case(["note: equal-grades: 130 of 130, *"], qrels=grades_by(lambda grade: 1)),
    Case(["serious: nothing-relevant: 10 of 10, *"], "highest grade is 0", qrels=grades_by(lambda grade: 0)),
    Case(
        ["serious: nothing-relevant: 10 of 10, *", "note: negative-grades: *"],
        "highest grade is -1",
        qrels=grades_by(lambda grade: -1),
    ),
    Case(["serious: nothing-relevant: *"], "No grade is above 2", policy=Policy(grade_zero=2)),
    Case(["note: no-zero-grade: 40 of 130, *"], "--grade-zero 1", qrels=STARS),
    Case([], qrels=STARS, policy=Policy(grade_zero=1)),
    *(
        Case(
            [f"{severity}: queries-without-relevant: {count} of 10, such as query q2"],
            said,
            qrels=without_relevant(count),
            policy=policy,
        )
        for policy, count, severity, said in (
            (Policy(undefined="zero"), 1, "warning", "score 0"),
            (Policy(undefined="skip"), 3, "warning", "omitted from the mean"),
            (Policy(undefined="error"), 1, "serious", "refuses"),
        )
    ),
]


@together("case", CASES)
def test_what_is_found(case: Case) -> None:
    found = found_in(case.lines, case.qrels, policy=case.policy, scale=case.scale)
    assert len(found) == len(case.found), found
    for finding, expected in zip(found, case.found, strict=True):
        assert re.fullmatch(re.escape(expected).replace(r"\*", ".*"), str(finding)), (str(finding), expected)
    if case.advice:
        assert case.advice in f"{found[0].consequence} {found[0].remedy}"


def test_refused_by_eval_means_serious() -> None:
    for qrels, lines, message in (
        (qrels_text(clean_qrels()), REPEATED, "duplicate document"),
        (CONFLICTING, clean_lines(), "conflicting grades"),
        (qrels_text(clean_qrels()), [("topic", "d", 1, 1)], "none of its queries is judged"),
    ):
        assert [each.severity for each in found_in(lines, qrels)] == ["serious"]
        with pytest.raises(gainful.InputError, match=message):
            gainful.evaluate(qrels, run_text(lines))


def test_lists_that_hold_all_relevant_documents() -> None:
    lines = [line for line in clean_lines() if line[2] in range(1, 13)]
    complete = {query: {f"{query}-d{j}": j % 3 for j in range(1, 13)} for query in QUERIES}
    finding = only(found_in(lines, complete), "all-candidates")
    assert summary(finding) == ("warning", 10, 10)
    assert finding.example == "query q1: 8 among 12 documents" and "if k is 12 or more" in finding.consequence
    # Half of the lists are shorter: their recall is 1 from a smaller k.
    short = [line for line in lines if line[0] not in QUERIES[:5] or line[2] < 9]
    fewer = {**complete, **{query: {f"{query}-d{j}": j % 3 for j in range(1, 9)} for query in QUERIES[:5]}}
    assert (
        "if k is 8 or more for half of them, 12 for all" in only(found_in(short, fewer), "all-candidates").consequence
    )
    # Lists cut at rank 12 may have found the only relevant document by merit.
    one = {query: {f"{query}-d3": 1} for query in QUERIES}
    assert "all-candidates" not in {each.check for each in found_in(lines, one)}
    # A query that lacks a relevant document does not count, half of the queries are too few, and so are four.
    assert only(found_in(lines, {**complete, "q1": clean_qrels()["q1"]}), "all-candidates").count == 9
    assert not found_in(lines, {**complete, **{query: clean_qrels()[query] for query in QUERIES[:5]}})
    few = {query: complete[query] for query in QUERIES[:4]}
    assert not found_in([line for line in lines if line[0] in few], few)
    # Nor do queries without relevant documents, or lists of more than 100 documents.
    longer = [*lines, *((query, f"x{j}", j, 30 - j) for query in QUERIES for j in range(13, 102))]
    none = {query: dict.fromkeys(grades, 0) for query, grades in complete.items()}
    found = [*found_in(longer, complete), *found_in(lines, none)]
    assert {each.check for each in found} == {"nothing-relevant"}


def test_counts_are_those_of_eval() -> None:
    lines = lines_by(lambda q, d, rank, score: (q, d, (7 * rank) % 20, score))
    lines += [("q99", "x", 2, 9), ("q99", "y", 1, 8)]
    conflicts = next(each for each in found_in(lines) if each.check == "rank-conflicts")
    assert conflicts.count == gainful.evaluate(clean_qrels(), run_text(lines), "P@5").facts.rank_conflicts > 0
    evaluation = gainful.evaluate(clean_qrels(), run_text(FLOAT32), "P@5", policy=Policy(scores="float32"))
    assert evaluation.facts.float32_ties == 2


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
    assert [str(findings[0].example) for findings in found[:4]] == ["line 5: q1 q1-d5, score 1 like all others"] * 4
    assert str(found[4][0].example) == "item 5: q1 q1-d5, score 1 like all others"


def test_several_documents_in_one_id() -> None:
    qrels = clean_qrels()
    qrels["q1"] = {**qrels["q1"], "q1-d13;q1-d14": 1, "q1-d15|q1-d16": 1, "q1-d17,elsewhere": 1}
    [finding] = [each for each in found_in(qrels=qrels) if each.check == "several-in-one"]
    assert (finding.severity, finding.count) == ("serious", 2)
    assert str(finding.example) == "'q1-d13;q1-d14' in the judgments, its parts in the run"


NUMBERED_LETOR = "".join(
    f"{(query + place) % 3} qid:{query} 1:{(7 * place) % 23}\n" for query in range(1, 11) for place in range(1, 13)
)


def test_positions_as_ids_are_not_self_hits() -> None:
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


def test_documents_nearly_match_though_queries_do_not_at_all() -> None:
    lines = [(f"{7 * len(q)}{ord(q[-1])}", f"{d}.txt", rank, score) for q, d, rank, score in clean_lines()[:40]]
    queries, documents = (each for each in found_in(lines) if each.check.startswith("unmatched"))
    assert queries.remedy.endswith("of the same collection.")
    assert "without the run's suffix '.txt'" in documents.remedy


def test_ranks_that_contradict_the_order_of_lines_without_scores() -> None:
    qrels, run = {"q": {"a": 1, "b": 0, "c": 0}}, b"query,doc,rank\nq,a,1\nq,b,3\nq,c,2\nx,b,2\nx,a,1\n"
    finding = examine(qrels, {"r": run}).about("rank-conflicts")[0]
    assert summary(finding) == ("note", 1, 3)
    assert str(finding.example) == "line 4: q c, rank 2, comes after rank 3"
    assert finding.consequence == "Without scores, order=rank uses the ranks and ignores the lines."
    by_line = examine(qrels, {"r": run}, policy=Policy(order="input")).about("rank-conflicts")[0]
    assert (by_line.severity, by_line.consequence) == (
        "warning",
        "Without scores, order=input uses the lines and ignores the ranks.",
    )
    assert not examine(qrels, {"r": {"q": ["b", "a"]}}).about("rank-conflicts")


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


# -- Runs beside each other --------------------------------------------------------------------------------------------


def several(**runs: list[Line]) -> list[Finding]:
    texts = {name: run_text(lines, tag=name) for name, lines in runs.items()}
    return list(examine(qrels_text(clean_qrels()), texts).findings)


def swapped(lines: list[Line]) -> list[Line]:
    """Return the same lists with their first two documents exchanged."""
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
    assert str(finding.example) == "shallow 10, deep 20 documents per query"
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
    assert (*summary(finding), str(finding.example)) == ("note", 2, 2, "a, b have the tag bm25")


# -- The examination as a whole ----------------------------------------------------------------------------------------


def broken() -> Examination:
    lines = clean_lines()
    lines[3] = ("q1", "q1-d3", 4, 47)
    lines = [line for line in lines if line[0] != "q9"]
    return examine(first_graded(q2=-1), {"mine": run_text(lines), "other": run_text(swapped(clean_lines()))})


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
    assert found.summary() == "10 queries, 130 judgments, 2 runs: 1 serious finding, 1 warning, 2 notes."
    page = found.page()
    [table] = page.tables
    assert [column.name for column in table.columns if column.for_machines] == ["consequence", "remedy"]
    assert page.parts[0] == found.summary()
    assert page.parts[2] == (
        "repeated-documents: gainful eval refuses the run. Remove the repeats, or use --duplicates first to keep the "
        "best rank."
    )
    assert page.header == {"judgments": "<dict>", "runs": ["mine", "other"], "serious": 1, "warning": 1, "note": 2}
    assert str(found).startswith(found.summary())


def test_a_clean_examination_can_be_shown() -> None:
    clean = examine(clean_qrels(), {"r": run_text(clean_lines())})
    assert str(clean) == "10 queries, 130 judgments, 1 run: no problems found."


def test_every_finding_has_a_remedy() -> None:
    for finding in broken().findings:
        assert finding.consequence.endswith(".") and finding.remedy.endswith((".", "?"))
        assert finding.check in CHECKS
        assert 0 < finding.share <= 1


def test_every_check_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "check.md").read_text(encoding="utf-8")
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
    with pytest.raises(gainful.InputError, match="no ranked documents"):
        examine(clean_qrels(), {"r": b"# nothing\n"})
    with pytest.raises(gainful.UsageError):
        examine(clean_qrels(), {"r": run_text(clean_lines())}, policy="no such tool")
    with pytest.raises(gainful.InputError, match="expected a number as rank"):  # until they are needed, they may be
        found_in(lines_by(lambda q, d, rank, score: (q, d, "-", score)), policy=Policy(order="rank"))


def test_parts_of_judgments_are_examined_alone() -> None:
    qrels = Qrels.from_dict(clean_qrels()).select(["q1", "q2"])
    finding = only(list(examine(qrels, {"r": run_text(clean_lines())}).findings), "extra-queries")
    assert summary(finding) == ("note", 8, 10)
