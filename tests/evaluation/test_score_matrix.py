"""Score matrices from evaluations, tables and JSON lines, always paired by ID."""

from __future__ import annotations

import gzip
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from gainful import InputError, Measure, Policy, UsageError, evaluate
from gainful.evaluation.evaluation_page import Report
from gainful.evaluation.score_matrix import ScoreMatrix, aligned, better_of
from gainful.evaluation.scores import Scores
from gainful.measures.base import Better
from gainful.measures.block import Block

QRELS = {"q1": {"a": 1}, "q2": {"a": 1, "b": 1}, "q10": {"c": 1}}
RUNS = {"one": {"q1": ["a"], "q2": ["b", "a"], "q10": ["a", "c"]}, "two": {"q1": ["b", "a"], "q2": ["a"]}}


@dataclass(frozen=True, eq=False, repr=False)
class Costs(Measure):
    """What a list costs: 1 for each of its documents."""

    name: ClassVar[str] = "Costs"
    better: ClassVar[Better] = "lower"
    bounds: ClassVar[tuple[float, float]] = (0.0, math.inf)

    def compute(self, block: Block) -> Any:
        return np.asarray(block.retrieved, float)


class TestMatrix:
    def test_queries_stand_in_byte_order(self) -> None:
        matrix = ScoreMatrix("RR", "higher", ("q2", "q10", "q1"), ("s",), np.array([[2.0], [10.0], [1.0]]))
        assert matrix.queries == ("q1", "q10", "q2")
        assert matrix.values[:, 0].tolist() == [1.0, 10.0, 2.0]

    def test_is_read_only(self) -> None:
        given = np.array([[0.5]])
        matrix = ScoreMatrix("RR", "higher", ("q",), ("s",), given)
        with pytest.raises(ValueError, match="read-only"):
            matrix.values[0, 0] = 1
        given[0, 0] = 1.0
        assert matrix.values[0, 0] == 0.5

    def test_what_lacks_a_score_is_left_out_for_all(self) -> None:
        scores = {"a": {"q1": 1, "q2": None, "q3": 0.5, "q4": math.nan}, "b": {"q1": 0, "q2": 1, "q4": 1, "q3": 1}}
        matrix = ScoreMatrix.of("RR", scores)
        assert (matrix.queries, matrix.left_out) == (("q1", "q3"), ("q2", "q4"))
        assert matrix.values.tolist() == [[1.0, 0.0], [0.5, 1.0]]

    def test_sequences_without_ids_are_numbered(self) -> None:
        matrix = ScoreMatrix.of("RR", {"a": list(range(12)), "b": [0.0] * 12})
        assert matrix.is_numbered
        assert matrix.queries[:2] == ("01", "02")
        assert matrix.column("a").tolist() == list(range(12))
        named = ScoreMatrix.of("RR", {"a": [1, 2]}, ["x", "b"])
        assert (named.is_numbered, named.queries, named.column("a").tolist()) == (False, ("b", "x"), [2.0, 1.0])

    def test_means_are_correctly_rounded(self) -> None:
        values = np.random.default_rng(0).random((999, 2))
        matrix = ScoreMatrix.of("RR", {"a": values[:, 0].tolist(), "b": values[:, 1].tolist()})
        assert matrix.means.tolist() == [math.fsum(values[:, i]) / 999 for i in (0, 1)]

    def test_select(self) -> None:
        matrix = ScoreMatrix.of("RR", {"a": [1, 2, 3], "b": [4, 5, 6], "c": [7, 8, 9]}, ["q1", "q2", "q3"])
        some = matrix.select(["c", "a"], ["q3", "q1"])
        assert (some.systems, some.queries, some.values.tolist()) == (("c", "a"), ("q1", "q3"), [[7, 1], [9, 3]])
        with pytest.raises(UsageError, match="unknown system"):
            matrix.select(["d"])
        with pytest.raises(UsageError, match="unknown query"):
            matrix.select(queries=["q4"])

    @pytest.mark.parametrize(
        ("queries", "systems", "values", "words"),
        [
            (("q",), ("s",), [[0.0, 1.0]], "1 x 1 scores"),
            (("q", "q"), ("s",), [[0.0], [1.0]], "duplicate query 'q'"),
            (("q",), ("s", "s"), [[0.0, 1.0]], "duplicate system 's'"),
            (("q",), ("s",), [[math.inf]], "finite scores, found inf for query 'q' of system 's'"),
        ],
    )
    def test_refusals(self, queries: Any, systems: Any, values: Any, words: str) -> None:
        with pytest.raises((InputError, UsageError), match=words):
            ScoreMatrix("RR", "higher", queries, systems, np.array(values))

    def test_better_is_what_the_catalogue_says(self) -> None:
        assert better_of("AP") == "higher"
        assert better_of("some column") == "higher"
        with pytest.raises(UsageError, match="neither direction is better"):
            better_of("NumRet")


class TestAligned:
    def test_by_id_never_by_place(self) -> None:
        one = ScoreMatrix.of("AP", {"a": {"q1": 1, "q2": 2, "q3": 3}, "b": {"q1": 4, "q2": 5, "q3": 6}})
        other = ScoreMatrix.of("RR", {"b": {"q3": 60, "q2": 50}, "a": {"q2": 20, "q3": 30}, "c": {"q2": 0, "q3": 0}})
        first, second = aligned([one, other])
        assert first.systems == second.systems == ("a", "b")
        assert first.queries == second.queries == ("q2", "q3")
        assert (second.values == 10 * first.values).all()

    def test_refusals(self) -> None:
        with_ids, without = ScoreMatrix.of("AP", {"a": {"q1": 1}}), ScoreMatrix.of("RR", {"a": [1]})
        with pytest.raises(InputError, match="never paired by position"):
            aligned([with_ids, without])
        with pytest.raises(InputError, match="2 rows, but RR has 1"):
            aligned([without, ScoreMatrix.of("P@1", {"a": [1, 0]})])
        with pytest.raises(InputError, match="no systems in common"):
            aligned([with_ids, ScoreMatrix.of("RR", {"b": {"q1": 1}})])
        with pytest.raises(InputError, match="no queries in common"):
            aligned([with_ids, ScoreMatrix.of("RR", {"a": {"q2": 1}})])


class TestEvaluations:
    def test_scores_are_after_the_policy(self) -> None:
        evaluations = evaluate(QRELS, RUNS, "RR")
        matrix = ScoreMatrix.from_evaluations(evaluations, "RR")
        assert matrix.queries == ("q1", "q10", "q2")
        assert matrix.values.tolist() == [[1.0, 0.5], [0.5, 0.0], [1.0, 1.0]]
        assert (matrix.measure, matrix.better, matrix.left_out) == ("RR", "higher", ())

    def test_what_the_policy_leaves_out_for_one_is_left_out_for_all(self) -> None:
        evaluations = evaluate(QRELS, RUNS, "RR", policy=Policy(missing="skip"))
        matrix = ScoreMatrix.from_evaluations(evaluations, "RR")
        assert (matrix.queries, matrix.left_out) == (("q1", "q2"), ("q10",))

    def test_lower_is_better(self) -> None:
        evaluations = evaluate(QRELS, RUNS, [Costs()])
        assert ScoreMatrix.from_evaluations(evaluations, Costs()).better == "lower"

    def test_refusals(self) -> None:
        evaluations = evaluate(QRELS, RUNS, ["NumRet", "GMAP"])
        with pytest.raises(UsageError, match="neither direction is better"):
            ScoreMatrix.from_evaluations(evaluations, "NumRet")
        with pytest.raises(UsageError, match="geometric"):
            ScoreMatrix.from_evaluations(evaluations, "GMAP")
        with pytest.raises(UsageError, match="evaluations: none were given"):
            ScoreMatrix.from_evaluations({}, "RR")


class TestTables:
    def test_queries_by_systems(self) -> None:
        matrix = ScoreMatrix.read(b"query,bm25,dense\nq2,0.5,0.75\nq1,1e-1,1\n")
        assert (matrix.systems, matrix.queries) == (("bm25", "dense"), ("q1", "q2"))
        assert matrix.values.tolist() == [[0.1, 1.0], [0.5, 0.75]]
        assert matrix.reading == ""

    @pytest.mark.parametrize("separator", [",", "\t", ";"])
    @pytest.mark.parametrize("end", ["\n", "\r\n"])
    def test_separators_ends_quotes_and_blanks(self, separator: str, end: str) -> None:
        lines = [["system", '"q 1"', " q2 "], ["bm25", " 0.5", "1"], [], ["dense", "0.25", "0"]]
        text = "\ufeff" + end.join(separator.join(line) for line in lines) + end
        matrix = ScoreMatrix.read(text.encode())
        assert matrix.queries == ("q 1", "q2")
        assert matrix.values.tolist() == [[0.5, 0.25], [1.0, 0.0]]

    def test_the_corner_may_name_the_measure_and_ids_the_queries(self) -> None:
        matrix = ScoreMatrix.read(b"AP,301,302,303\nbm25,0.1,0.2,0.3\ndense,0.4,0.5,0.6\n")
        assert (matrix.measure, matrix.systems, matrix.queries) == ("AP", ("bm25", "dense"), ("301", "302", "303"))
        assert "rows are treated as systems" in matrix.reading
        upright = ScoreMatrix.read(b"AP,bm25,dense\n301,0.1,0.4\n302,0.2,0.5\n303,0.3,0.6\n")
        assert (upright.values == matrix.values).all()
        assert "rows are treated as queries" in upright.reading

    def test_without_ids_rows_are_queries(self, tmp_path: Path) -> None:
        file = tmp_path / "adhoc_ap.csv.gz"
        file.write_bytes(gzip.compress(b"run1,run2,run3\n0.1,0.2,0.3\n0.4,0.5,0.6\n"))
        matrix = ScoreMatrix.read(file)
        assert (matrix.measure, matrix.queries, matrix.is_numbered) == ("adhoc_ap", ("1", "2"), True)
        assert "no IDs" in matrix.reading
        with pytest.raises(UsageError, match="rows without"):
            ScoreMatrix.read(file, rows="systems")

    def test_r_leaves_the_corner_out(self) -> None:
        matrix = ScoreMatrix.read(b'"bm25","dense"\n"q1",0.5,1\n"q2",0.25,0\n', rows="queries")
        assert (matrix.queries, matrix.systems) == (("q1", "q2"), ("bm25", "dense"))

    def test_who_says_wins(self) -> None:
        square = b"AP,q1,q2\nbm25,0.1,0.2\ndense,0.3,0.4\n"
        assert ScoreMatrix.read(square, rows="systems").values.tolist() == [[0.1, 0.3], [0.2, 0.4]]
        assert ScoreMatrix.read(square, rows="queries").systems == ("q1", "q2")
        known = ScoreMatrix.read(square, queries=["q1", "q7"])
        assert known.systems == ("bm25", "dense")
        assert "other input" in known.reading

    @pytest.mark.parametrize(
        "text",
        [
            b"AP,q1,q2\nbm25,0.1,0.2\ndense,0.3,0.4\n",  # square
            b"AP,301,302\nbm25,0.1,0.2\ndense,0.3,0.4\n",  # square, though one side's names are numbers
            b"AP,q1,q2,q3\nbm25,0.1,0.2,1\ndense,0.3,0.4,1\n",  # names that could be either
            b"AP,1,2,3\n7,0.1,0.2,1\n8,0.3,0.4,1\n",
        ],
    )
    def test_what_is_unclear_is_asked_for(self, text: bytes) -> None:
        with pytest.raises(InputError, match="rows are queries or systems"):
            ScoreMatrix.read(text)

    def test_cells_without_a_score(self) -> None:
        matrix = ScoreMatrix.read(b"query,a,b\nq1,0.5,\nq2,0.5,NaN\nq3,1,0\n")
        assert (matrix.queries, matrix.left_out) == (("q3",), ("q1", "q2"))

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            (b"query,a,b\nq1,0.5,high\n", r"<bytes>:2: expected a number in column 3 \('b'\), found 'high'"),
            (b"query,a,b\n\nq1,0.5,inf\n", r"<bytes>:3: expected a number in column 3"),
            (b"a,b\n0.5,x1\n", r"could not infer|column"),
            (b"query,a,b\nq1,0.5\n", "expected 3 fields as on line 1|expected"),
            (b"query,a,b\nq1,0.5,1\nq2,0.5\n", "<bytes>:3: expected 3 fields, found 2"),
            (b"query,a,a\nq1,0.5,1\n", "<bytes>:1: duplicate column 'a'"),
            (b"query,a,b\nq1,0.5,1\nq1,0.5,1\n", "<bytes>:3: duplicate row 'q1'"),
            (b"query,a,b\n", "a header and rows"),
            (b"", "a header and rows"),
            (b"query,a,b\nq1,,1\n", "has a score of every system"),
            (b'query,a,b\nq1,"0.5,1\n', "expected"),
        ],
    )
    def test_refusals_name_the_place(self, text: bytes, words: str) -> None:
        with pytest.raises(InputError, match=words):
            ScoreMatrix.read(text)


class TestWhatEvalWrites:
    @pytest.mark.parametrize("format_", ["jsonl", "csv"])
    def test_reads_back_as_it_was(self, format_: str, tmp_path: Path) -> None:
        evaluations = evaluate(QRELS, RUNS, ["RR", "nDCG@10"], policy=Policy(missing="skip"))
        file = tmp_path / f"scores.{format_}"
        Report(list(evaluations.values()), by_query=True).save(file)
        found = Scores.read(file).queries
        assert list(found) == ["RR", "nDCG@10"]
        for measure, matrix in found.items():
            expected = ScoreMatrix.from_evaluations(evaluations, measure)
            assert matrix.values.tolist() == expected.values.tolist()
            assert (matrix.queries, matrix.left_out) == (("q1", "q2"), ("q10",))
        assert ScoreMatrix.read(file, measure="RR").measure == "RR"
        with pytest.raises(UsageError, match="several measures"):
            ScoreMatrix.read(file)
        with pytest.raises(UsageError, match="no measure 'AP'"):
            ScoreMatrix.read(file, measure="AP")

    @pytest.mark.parametrize("format_", ["jsonl", "csv"])
    def test_ids_come_back_that_a_spreadsheet_would_run(self, format_: str, tmp_path: Path) -> None:
        queries = ["=1+1", "+x", "-x", "@x", "\tx", "\rx", "\nx", "'=x", "''@", "'x", "-1", "+2.5e3", "=", "-", "'-1"]
        queries += ['=HYPERLINK("http://x,y")', "a\x0bb", "a\x85b", "a\u2028b", "q,=1", "#", "e\x1b[2J", "\udcff"]
        qrels, run = ({query: {"d1": 1} for query in queries} for _ in range(2))
        evaluations = evaluate(qrels, {"=run": run, "-1": run}, "RR")
        file = tmp_path / f"scores.{format_}"
        Report(list(evaluations.values()), by_query=True).save(file)
        matrix = ScoreMatrix.read(file)
        assert set(matrix.queries) == set(queries)
        assert matrix.systems == ("=run", "-1")

    @pytest.mark.parametrize(
        ("line", "words"),
        [
            ('{"run": "a", "query": "q", "measure": "RR", "value": "x"}', ":3: expected a number or null"),
            ('{"run": "a", "query": "q1", "measure": "RR", "value": 1}', ":3: duplicate RR"),
            ('{"run": "a", "query": "q", "measure": "RR", "value": 1%s}' % ("0" * 400), ":3: expected a number"),
            ('{"run": "\\ud800", "query": "q", "measure": "RR", "value": 1}', ":3: expected JSON"),
            ('{"run": "a", "query": "q1"}', ":3: expected run, query, measure, value"),
            ('{"run": "a"', ":3: expected JSON"),
        ],
    )
    def test_refusals_name_the_line(self, line: str, words: str) -> None:
        text = '{"gainful": "1.0.0rc1"}\n{"run": "a", "query": "q1", "measure": "RR", "value": 0.5}\n' + line + "\n"
        with pytest.raises(InputError, match=words):
            ScoreMatrix.read(text.encode())

    def test_a_part_is_not_taken_for_the_whole(self) -> None:
        score = '{"run": "a", "query": "q%d", "measure": "RR", "value": 0.5}\n'
        whole = '{"gainful": "1.0.0rc1"}\n' + score % 1 + score % 2 + '{"complete": true, "lines": 3}\n'
        assert ScoreMatrix.read(whole.encode()).queries == ("q1", "q2")
        lines = whole.splitlines(keepends=True)
        more = whole.replace("q1", "q3").replace("q2", "q4")
        assert len(ScoreMatrix.read((whole + more).encode()).queries) == 4
        for part in (
            lines[:-1],
            lines[:-2],
            [lines[0], *lines[2:]],
            [*lines[:-1], more],
            [whole, *more.splitlines(keepends=True)[:-1]],
            lines[1:],
            [whole, more.splitlines(keepends=True)[1]],
        ):
            with pytest.raises(InputError, match=r":\d: the file is incomplete"):
                ScoreMatrix.read("".join(part).encode())

    def test_means_alone_are_no_scores(self) -> None:
        with pytest.raises(InputError, match="no per-query scores"):
            ScoreMatrix.read(b'{"run": "a", "query": null, "measure": "RR", "value": 0.5}\n')
