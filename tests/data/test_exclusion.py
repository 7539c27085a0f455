"""Documents removed from runs before ranks are counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from gainful import Policy, Qrels, Run, evaluate
from gainful.data.exclusion import Exclusion
from gainful.errors import InputError, UsageError
from gainful.evaluation.notices import notices
from gainful.evaluation.results import Signature
from tests.together import together

QRELS = {"u1": {"a": 1, "b": 1}, "u2": {"c": 1}}
RUN = {"u1": {"x": 9.0, "a": 8.0, "y": 7.0, "b": 6.0}, "u2": {"x": 2.0, "c": 1.0}, "u3": {"x": 1.0}}
SEEN = {"u1": ["x", "y", "never shown"], "u9": ["c"]}
#: The same in the order of another tool.
BYTES = b"u1 Q0 x 1 9 t\nu1 Q0 a 2 8 t\nu1 Q0 y 3 7 t\nu1 Q0 b 4 6 t\nu2 Q0 x 1 2 t\nu2 Q0 c 2 1 t\nu3 Q0 x 1 1 t\n"
MEASURES = ["RR", "P@2", "NumRet", "AP"]


def values(result: Any) -> dict[str, dict[str, float]]:
    return {str(measure): result.by_query(measure) for measure in result.measures}


@pytest.mark.usefixtures("core")
@together("run", [RUN, BYTES, {q: list(docs) for q, docs in RUN.items()}])
def test_ranks_are_counted_without_them(run: Any) -> None:
    result = evaluate(QRELS, run, MEASURES, exclude=SEEN)
    assert values(result) == {
        "RR": {"u1": 1.0, "u2": 0.5},
        "P@2": {"u1": 1.0, "u2": 0.5},
        "NumRet": {"u1": 2.0, "u2": 2.0},
        "AP": {"u1": 1.0, "u2": 0.5},
    }
    assert result.facts.excluded_count == 2
    assert "2 retrieved documents removed (exclude)" in notices([result])[-1]
    nothing = evaluate(QRELS, run, "RR", exclude={"u7": ["x"]})
    assert "0 retrieved documents removed (exclude)" in notices([nothing])[1]


def test_the_signature_says_so() -> None:
    result = evaluate(QRELS, RUN, "RR", exclude=SEEN)
    line = str(result.signature("RR"))
    assert "|excluded:4|" in line
    assert Signature.parse(line).excluded == 4
    assert "excluded" not in str(evaluate(QRELS, RUN, "RR").signature("RR"))
    with pytest.raises(UsageError, match="expected a whole number as excluded, found 'x'"):
        Signature.parse(line.replace("excluded:4", "excluded:x"))


@pytest.mark.usefixtures("core")
@together(
    "seen",
    [
        b"u1 0 x 5\nu1 0 y 3\nu1 0 z 1\nu9 0 c 1\n",
        b"u1 Q0 x 1 5 t\nu1 Q0 y 2 3 t\nu1 Q0 z 3 1 t\nu9 Q0 c 1 1 t\n",
        b"u1 x 1\nu1 y 2\nu1 z 3\nu9 c 1\n",
        b"query,document\nu1,x\nu1,y\nu1,z\nu9,c\n",
        b"query_id\ttimestamp\tdoc_id\trating\nu1\t1\tx\t5\nu1\t2\ty\t5\nu1\t1\tz\t5\nu9\t7\tc\t1\n",
        b'{"u1": ["x", "y", "z"], "u9": ["c"]}',
        b'{"u1": {"x": 5, "y": 4, "z": 1}, "u9": {"c": 1}}',
        b'{"query": "u1", "results": ["x", "y", "z"]}\n{"query": "u9", "results": ["c"]}\n',
        b'{"query": "u1", "judgments": {"x": 1, "y": 1, "z": 0}}\n{"query": "u9", "judgments": {"c": 1}}\n',
        b'[{"qid": "u1", "doc": "x"}, {"qid": "u1", "doc": "y"}, {"qid": "u1", "doc": "z"}, {"qid": "u9", "doc": "c"}]',
        {"u1": {"x", "y", "z"}, "u9": {"c"}},
        {"u1": {"x": 5, "y": 3, "z": 0}, "u9": {"c": 1}},
        Run.from_dict({"u9": ["c"], "u1": ["x", "y", "z"]}),
        Qrels.from_dict({"u1": {"x": 1, "y": 0, "z": 2}, "u9": {"c": 1}}),
        pd.DataFrame({"query": ["u9", "u1", "u1", "u1"], "doc": ["c", "x", "z", "y"], "when": [1, 2, 3, 4]}),
    ],
)
def test_any_format(seen: Any) -> None:
    assert Exclusion.of(seen).size == 4
    assert evaluate(QRELS, RUN, "RR", exclude=seen).by_query("RR") == {"u1": 1.0, "u2": 0.5}


def test_a_list_may_lose_everything() -> None:
    result = evaluate(QRELS, RUN, ["NumRet", "RR"], exclude={"u1": ["x", "a", "y", "b"]})
    assert result.by_query("NumRet") == {"u1": 0.0, "u2": 2.0}
    assert result.missing == []  # it is answered, with nothing
    assert "2 relevant documents excluded: no run can retrieve them" in "\n".join(notices([result]))


def test_scores_ties_and_explanations_after_exclusion() -> None:
    both = evaluate(QRELS, {"a": RUN, "b": BYTES}, ["nDCG@10", "Judged@10"], exclude=SEEN)
    left = {"u1": {"a": 8.0, "b": 6.0}, "u2": RUN["u2"], "u3": RUN["u3"]}
    plain = evaluate(QRELS, left, ["nDCG@10", "Judged@10"])
    for result in both.values():
        assert values(result) == values(plain)
    shown = both["a"].explain("nDCG@10", "u1")
    assert shown.lists[0].documents == ("a", "b")
    assert shown.signature is not None
    assert shown.signature.excluded == 4


@pytest.mark.usefixtures("core")
def test_ranks_close_up() -> None:
    run = Run.read(b"q Q0 b 3 1 t\nq Q0 a 1 9 t\nq Q0 x 2 5 t\nq Q0 c 7 0 t\np Q0 x 1 2 t\np Q0 y 2 1 t\n")
    left = run.without(Exclusion.of({"q": ["x"], "p": ["x", "y"], "r": ["a"]}))
    rows = {left.document(row): rank for row, rank in enumerate(left.rank.tolist())}
    assert rows == {b"a": 1.0, b"b": 2.0, b"c": 6.0}  # a gap of the run's own stays
    assert left.excluded.sum() == 3
    assert evaluate({"q": {"b": 1}}, run, "RR", policy=Policy(order="rank"), exclude={"q": ["x"]}).mean("RR") == 0.5


def test_duplicates_of_excluded_documents_are_no_errors(tmp_path: Path) -> None:
    run = BYTES + b"u1 Q0 x 5 1 t\n"
    assert evaluate(QRELS, run, "RR", exclude=SEEN).by_query("RR") == {"u1": 1.0, "u2": 0.5}
    with pytest.raises(InputError, match="duplicate document 'x'"):
        evaluate(QRELS, run, "RR")
    path = tmp_path / "seen.json"
    path.write_text(json.dumps(SEEN))
    assert evaluate(QRELS, run, "RR", exclude=path).by_query("RR") == {"u1": 1.0, "u2": 0.5}


def test_relevant_documents_that_no_run_can_have_are_those_of_the_measures() -> None:
    """Grades of 4 and above if measures require them; the largest number if measures differ."""
    qrels, seen = {"u": {"a": 5, "b": 3, "c": 4, "d": 0}}, {"u": ["b", "c", "d"]}
    for measures, count in (("P(rel=4)@1", "1 relevant document "), (["P(rel=4)@1", "P@1"], "2 relevant documents ")):
        said = "\n".join(evaluate(qrels, {"u": ["a", "b"]}, measures, exclude=seen).notices)
        assert f"{count}excluded: no run" in said
    assert "no run can" not in "\n".join(evaluate(qrels, {"u": ["a"]}, "P(rel=5)@1", exclude=seen).notices)


def test_lists_that_fall_below_the_cutoff() -> None:
    """Lists that were short before, or of unjudged queries, are not counted."""
    run = {"u1": ["a", "b", "c"], "u2": ["a", "b", "c"], "u3": ["a"], "u4": ["a", "b", "c"], "u5": ["a", "b"]}
    qrels = {user: {"c": 1} for user in ("u1", "u2", "u3", "u4")}
    seen = {"u1": ["a", "b"], "u2": ["b"], "u3": ["a"], "u5": ["a", "b"]}
    said = evaluate(qrels, run, ["P@2", "P@1", "AP"], exclude=seen).notices
    assert "<dict>: 1 list with fewer than 2 documents remain: let the system return more than 2" in said
    assert not any("that leaves" in line for line in evaluate(qrels, run, "AP", exclude=seen).notices)


def test_wrong_values() -> None:
    with pytest.raises(UsageError, match="exclude: expected several documents for 'u1', found one text, 'x'"):
        evaluate(QRELS, RUN, "RR", exclude={"u1": "x"})
    with pytest.raises(InputError, match=r"no column for document"):
        Exclusion.of(pd.DataFrame({"query": ["u1"], "title": ["x"]}))
