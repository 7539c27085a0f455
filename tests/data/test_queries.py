"""Tables of queries: sources, segments, weights, selection and exclusion."""

from __future__ import annotations

import itertools
import json
import math
import re

import numpy as np
import pandas
import pytest
from scipy import stats

import gainful
from gainful import InputError, Queries, ScoreMatrix, UsageError
from gainful.cli.main import run
from gainful.data.queries import read_ids
from gainful.errors import GainfulWarning
from gainful.evaluation.results import Signature
from tests.stats.two_systems import compare_pair
from tests.together import together

QRELS = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
# RR: 1, 1/2, 1/4
RUN = {"q1": ["a"], "q2": ["b", "a"], "q3": ["b", "c", "d", "a"]}
KNOWN = {"q1": {"kind": "long", "visits": 1}, "q2": {"kind": "short", "visits": 2}, "q3": {"kind": "long", "visits": 5}}
CSV = b'qid,text,kind,visits\nq1,"one, two",long,1\nq2,three,short,2\nq3,,long,5\n'


@together(
    "content",
    [
        CSV,
        CSV.replace(b'"one, two"', b"one / two").replace(b",", b"\t"),
        CSV.replace(b'"one, two"', b"one / two").replace(b",", b";"),
        b"\xef\xbb\xbf" + CSV.replace(b"\n", b"\r\n"),
        b'{"qid": "q1", "kind": "long"}\n{"qid": "q2", "kind": "short"}\n{"qid": "q3", "kind": "long"}\n',
        b'[{"id": "q1", "kind": "long"}, {"id": "q2", "kind": "short"}, {"id": "q3", "kind": "long"}]',
        b'{"q1": {"kind": "long"}, "q2": {"kind": "short"}, "q3": {"kind": "long"}}',
    ],
)
def test_tables_of_all_kinds(content):
    assert Queries(content).segments("kind", ["q1", "q2", "q3", "q9"]) == {"long": [0, 2], "short": [1], "(none)": [3]}


def test_frames():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    columns = {"qid": [1, 2, 3], "kind": ["b", None, "a"], "visits": [1.0, math.nan, 2.0]}
    for frame in (pandas.DataFrame(columns), polars.DataFrame(columns), polars.DataFrame(columns).to_arrow()):
        assert Queries(frame).segments("kind", ["1", "2", "3"]) == {"a": [2], "b": [0], "(none)": [1]}
        with pytest.raises(InputError, match="weight for query '2'"):
            Queries(frame, weights="visits").weights_of(["1", "2"])


def test_texts():
    queries = Queries(b"q1\tfoxes in the city\nq2\tbears\n")
    assert [queries.text(query) for query in ("q1", "q2", "q3")] == ["foxes in the city", "bears", None]
    assert Queries(b"query_id,query\n7,what is a fox\n").text("7") == "what is a fox"


def test_segments_are_in_order_of_numbers():
    assert Queries(b"qid,kind\nq1,a\nq1,a\nq2,b\n").segments("kind", ["q1", "q2"]) == {"a": [0], "b": [1]}
    table = Queries({"a": {"length": 10}, "b": {"length": 9}, "c": {"length": "x"}})
    assert list(table.segments("length", ["a", "b", "c", "d"])) == ["9", "10", "x", "(none)"]


@together(
    ("content", "message"),
    [
        (b"qid,kind\nq1,a\nq1,b\n", r"duplicate query 'q1' \(first: "),
        (b"qid,kind\nq1\n", "expected 2 fields as in the header, found 1"),
        (b"qid,kind,kind\nq1,a,b\n", "duplicate column 'kind'"),
        (b"frage,art\nq1,a\n", r"queries: no column for query \(query_id, qid, "),
        (b"qid,kind\n", "the table of queries is empty"),
        (b"", "the table of queries is empty"),
        (b'qid,kind\nq1,"open\n', "misplaced quotes"),
        (b"[1, 2]", "an object with names and values"),
        (b"qid,kind\n\x81,a\n", "UTF-8"),
    ],
)
def test_bad_tables(content, message):
    with pytest.raises(InputError, match=message):
        _ = Queries(content).columns
    for weight, said in ((-1, "at least 0"), (math.inf, "finite"), ("x", "a number")):
        with pytest.raises(InputError, match=said):
            Queries({"q1": {"visits": weight}}, weights="visits").weights_of(["q1"])
    with pytest.raises(InputError, match="found x"):
        gainful.evaluate(QRELS, RUN, "RR", queries={"x": "text"})
    with pytest.warns(GainfulWarning, match="1 query not in the table: q3"):
        gainful.evaluate(QRELS, RUN, "RR", queries={"q1": "a", "q2": "b"})


JUDGED = b"Search Term,Product ID,grade,Device\na b,d1,1,phone\na b,d2,0,phone\nc,d1,0,desk\nc,d2,1,desk\n"
LISTS = {"a b": ["d1", "d2"], "c": ["d1", "d2"]}


@pytest.mark.parametrize("called", [{}, {"query": "Search Term", "document": "Product ID"}])
def test_only_constant_columns_of_judgments_are_used(called):
    content = JUDGED if not called else JUDGED.replace(b"Product ID", b"Nummer").replace(b"Search Term", b"Wort")
    called = {"query": "Wort", "document": "Nummer"} if called else {}
    table = Queries(content, called=called)
    assert (table.columns, table.segments("Device", ["a b", "c"])) == (["Device"], {"desk": [1], "phone": [0]})
    with pytest.raises(UsageError, match=r"no column 'grade' in queries; columns: Device\nhint: use"):
        table.segments("grade", ["a b"])


def test_segments_come_from_the_judgments_themselves(tmp_path, capsys):
    (tmp_path / "gold.csv").write_bytes(JUDGED)
    (tmp_path / "x.json").write_text(json.dumps(LISTS))
    gold, found = str(tmp_path / "gold.csv"), str(tmp_path / "x.json")
    assert run(["eval", gold, found, "-m", "RR", "--by", "Device", "--format", "csv"]) == 0
    assert [line for line in capsys.readouterr().out.splitlines() if line.startswith(("phone", "desk"))] == [
        "desk,x,1,0.5",
        "phone,x,1,1.0",
    ]
    for judgments in (gold, pandas.read_csv(gold)):
        compared = gainful.compare(judgments, {"a": LISTS, "b": {"a b": ["d2", "d1"], "c": ["d2"]}}, "RR", by="Device")
        assert {each.segment: each.result.difference for each in compared.segments["RR"]} == {
            "desk": 0.5,
            "phone": -0.5,
        }
    (tmp_path / "qrels.txt").write_text("c 0 d1 1\n")
    assert run(["eval", str(tmp_path / "qrels.txt"), found, "--by", "Device"]) == 2
    assert "by needs a table of queries" in capsys.readouterr().err


def test_unknown_columns_are_named():
    with pytest.raises(UsageError, match="columns: text, kind, visits") as error:
        Queries(CSV, weights="visit")
    assert error.value.hint == "did you mean visits?"
    with pytest.raises(UsageError, match="weights: requires a table of queries"):
        Queries(weights="visits")


def test_a_file_in_place_of_a_column_has_a_hint(tmp_path, capsys):
    table, qrels = tmp_path / "visits.csv", tmp_path / "qrels.txt"
    table.write_text("query;kind;visits\nq1;a;1,5\nq2;b;0,5\n")
    qrels.write_text("q1 0 d1 1\nq2 0 d1 1\n")
    assert run(["eval", str(qrels), str(qrels), "--weights", str(table)]) == 2
    told = capsys.readouterr().err
    assert f"hint: --queries {table} --weights COLUMN; its columns: kind, visits\n" in told
    with pytest.raises(UsageError) as error:
        Queries(CSV, weights=str(table))
    assert error.value.hint == f"Queries('{table}', weights='COLUMN'); its columns: kind, visits"
    assert Queries(str(table), weights="visits").weights_of(["q1", "q2"]).tolist() == [1.5, 0.5]
    with pytest.raises(InputError, match="expected a number"):
        Queries(b'query,visits\nq1,"1,500"\n', weights="visits").weights_of(["q1"])


def test_weighted_mean_and_signature():
    found = gainful.evaluate(QRELS, RUN, "RR", queries=Queries(KNOWN, weights="visits"))
    assert found.mean("RR") == (1 * 1 + 2 * 0.5 + 5 * 0.25) / 8
    signature = found.signature()
    assert "weights:visits" in str(signature)
    assert gainful.Signature.parse(str(signature)) == gainful.Signature.parse(signature.short()) == signature
    frame = found.to_pandas()
    assert (frame.RR * frame.weight).mean() == pytest.approx(found.mean("RR"))
    assert found.at([0, 1]).merge(found.at([2])).mean("RR") == found.mean("RR")
    huge = {query: {"visits": 1e308} for query in QRELS}
    assert gainful.evaluate(QRELS, RUN, "RR", queries=Queries(huge, weights="visits")).mean("RR") == 1.75 / 3
    # A query of weight 0 is left out.
    found = gainful.evaluate(QRELS, RUN, "RR", queries=Queries({**KNOWN, "q3": {"visits": 0}}, weights="visits"))
    assert (found.queries, found.signature().of_queries) == (["q1", "q2"], 3)


def test_scores_that_were_weighted_say_so_when_they_are_read(tmp_path):
    found = gainful.evaluate(QRELS, {"one": RUN, "two": RUN}, "RR", queries=Queries(KNOWN, weights="visits"))
    for name in ("s.csv", "s.jsonl"):
        gainful.Report(found, by_query=True).save(tmp_path / name)
        matrix = ScoreMatrix.read(tmp_path / name)
        assert "weighted by visits when computed" in matrix.reading
    texts = {query: {**about, "text": "a, b"} for query, about in KNOWN.items()}
    found = gainful.evaluate(QRELS, {"one": RUN}, "RR", queries=texts)
    gainful.Report(found, by_query=True).save(tmp_path / "t.csv")
    assert ScoreMatrix.read(tmp_path / "t.csv").measure == "RR"


def test_only_and_exclude():
    for chosen in (Queries(only=b"q1\nq3\n"), Queries(exclude=["q2"]), Queries(only=["q1", "q2", "q3"], exclude=b"q2")):
        found = gainful.evaluate(QRELS, RUN, "RR", queries=chosen)
        assert found.by_query("RR") == {"q1": 1, "q3": 0.25}
        # sha256 of "q1\\nq3"
        assert "queries:2|of:3|chosen:bb545a93|" in str(found.signature())
        assert Signature.parse(str(found.signature())) == found.signature()
    with pytest.raises(InputError, match="none of the 3 queries is left"):
        gainful.evaluate(QRELS, RUN, "RR", queries=Queries(exclude=["q1", "q2", "q3"]))
    for chosen in (Queries(only=["x"]), Queries(exclude=["x"])):
        with pytest.raises(InputError, match="found x") as raised:
            gainful.evaluate(QRELS, RUN, "RR", queries=chosen)
        assert "lines must begin with query ids" in str(raised.value)


def test_unknown_ids_are_reported():
    some, few = Queries(only=["q1", "q2", "a", "b", "c", "d"]), Queries(exclude=["q1", "x"])
    for chosen, line in (
        (some, "only: 4 queries not judged, ignored: a, b, c, ..."),
        (few, "exclude: 1 query not judged, ignored: x"),
    ):
        with pytest.warns(GainfulWarning, match=re.escape(line)):
            gainful.evaluate(QRELS, RUN, "RR", queries=chosen)
        scores = {"q1": 1.0, "q2": 0.5, "q3": 0.25}
        assert line in ScoreMatrix.of("RR", {"a": scores, "b": scores}).chosen(chosen).reading


def test_ids_from_lines_of_any_kind():
    assert read_ids(b"301 0 FT1 1\n301 0 FT2 0\n\n302 0 FT1 0\n", "only") == ["301", "302"]
    assert read_ids(b"q3,how old,question\nq4,who,question\n", "only") == ["q3", "q4"]
    assert read_ids(CSV, "only") == ["q1", "q2", "q3"]
    assert read_ids([3, "q"], "only") == ["3", "q"]


def test_segments_of_a_report():
    found = gainful.evaluate(QRELS, {"one": RUN}, "RR", queries=KNOWN)
    report = gainful.Report(found, by="kind", places=3)
    table = list(report.page().tables)[1]
    assert table.rows == [("long", "one", 2, 0.625), ("short", "one", 1, 0.5)]
    with pytest.raises(UsageError, match="by needs a table of queries"):
        gainful.Report(gainful.evaluate(QRELS, RUN, "RR"), by="kind").page()


# -- The weighted test -------------------------------------------------------------------------------------------------


def naive_p(differences, weights, shift=0.0):
    """All sign flips of w (d - shift)."""
    terms = [w * (d - shift) for w, d in zip(weights, differences, strict=True)]
    observed = abs(math.fsum(terms))
    flips = list(itertools.product((1, -1), repeat=len(terms)))
    sums = (abs(math.fsum(s * t for s, t in zip(signs, terms, strict=True))) for signs in flips)
    return sum(total >= observed - 1e-12 for total in sums) / len(flips)


@together("seed", range(6))
def test_weighted_randomisation_is_that_of_all_flips(seed):
    generator = np.random.default_rng(seed)
    n = 9
    a, b = generator.integers(0, 9, (2, n)) / 8
    weights = generator.integers(1, 20, n).astype(float)
    weights *= n / weights.sum()
    found = compare_pair(a, b, weights=weights, alpha=0.1)
    d = a - b
    assert found.difference == pytest.approx((weights * d).sum() / weights.sum(), abs=1e-14)
    assert found.p == naive_p(d, weights)
    # The interval holds just the shifts that the test does not reject.
    width = found.interval.high - found.interval.low
    for limit, outward in ((found.interval.low, -1), (found.interval.high, 1)):
        assert naive_p(d, weights, limit + outward * 1e-6 * width) < 0.1
        assert naive_p(d, weights, limit - outward * 1e-6 * width) >= 0.1


def test_weighted_t_is_that_of_a_regression_with_robust_errors():
    regression = pytest.importorskip("statsmodels.api")
    generator = np.random.default_rng(1)
    a, b, weights = generator.random((3, 40))
    weights *= 40 / weights.sum()
    found = compare_pair(a, b, weights=weights, test="t")
    fitted = regression.WLS(a - b, np.ones(40), weights=weights).fit(cov_type="HC3", use_t=True)
    [mean], [error], df = fitted.params, fitted.bse, 40**2 / (weights**2).sum() - 1
    reach = stats.t.ppf(0.975, df) * error
    assert found.effective == pytest.approx(df + 1)
    assert found.p == pytest.approx(2 * stats.t.sf(abs(mean) / error, df), rel=1e-9)
    assert (found.interval.low, found.interval.high) == pytest.approx((mean - reach, mean + reach), rel=1e-9)
    power = stats.nct.sf(stats.t.ppf(0.975, df), df, found.detectable / error)
    assert power == pytest.approx(0.8, abs=1e-3)


@pytest.mark.parametrize("n", [25, 200])
def test_weighted_t_holds_its_level_with_weights_as_uneven_as_traffic(n):
    # The table of docs/how-to/queries.md in small: the variance without leverages covers in about 80%.
    generator = np.random.default_rng(n)
    held = []
    for _ in range(400):
        scores = generator.beta(0.6, 0.4, (2, n)) * (generator.random((2, n)) < 0.7)
        weights = generator.permutation(1 / np.arange(1, n + 1))
        found = compare_pair(*scores, weights=weights * n / weights.sum(), test="t").interval
        held.append(found.low <= 0 <= found.high)
    assert 0.93 <= np.mean(held) <= 0.98


def test_a_query_with_all_of_the_weight_sets_no_limits():
    for most in (1e3, 1e6, 1e20):
        found = compare_pair(
            [0.5, 0.1, 0.3], [0.2, 0.2, 0.1], weights=np.array([most, 1, 1]) * 3 / (most + 2), test="t"
        )
        assert (found.sd, found.p, found.detectable, found.interval.is_bounded) == (None, 1.0, None, False)


def test_weights_say_how_many_queries_they_leave():
    generator = np.random.default_rng(3)
    scores = {name: dict(zip(map(str, range(50)), generator.random(50), strict=True)) for name in "abc"}
    table = Queries({str(i): {"visits": 1 / (1 + i)} for i in range(50)}, weights="visits")
    worth = sum(1 / (1 + i) for i in range(50)) ** 2 / sum(1 / (1 + i) ** 2 for i in range(50))
    said = f"50 queries, effective sample size {worth:.0f}"
    two = gainful.compare(ScoreMatrix.of("RR", {name: scores[name] for name in "ab"}), queries=table)
    several = gainful.compare(ScoreMatrix.of("RR", scores), queries=table)
    for found in (two, several):
        assert said in str(found).replace("\n", " ")
    assert two.pairs["RR"].effective == pytest.approx(worth)
    alike = Queries({query: {"visits": 3} for query in scores["a"]}, weights="visits")
    assert "worth" not in str(gainful.compare(ScoreMatrix.of("RR", scores), queries=alike))


def test_equal_weights_change_nothing():
    generator = np.random.default_rng(2)
    a, b = generator.random((2, 30))
    plain, weighted = compare_pair(a, b), compare_pair(a, b, weights=np.ones(30))
    assert (plain.p, plain.interval.low, plain.interval.high) == pytest.approx(
        (weighted.p, weighted.interval.low, weighted.interval.high), rel=1e-12
    )


def test_order_of_queries_does_not_matter_to_weights():
    generator = np.random.default_rng(3)
    a, b, weights = generator.random((3, 12))
    weights *= 12 / weights.sum()
    ids = [f"q{i}" for i in range(12)]
    order = generator.permutation(12)
    one = compare_pair(a, b, ids, weights=weights)
    other = compare_pair(a[order], b[order], [ids[i] for i in order], weights=weights[order])
    assert (one.p, one.difference, one.interval) == (other.p, other.difference, other.interval)


@together("test", ["wilcoxon", "sign", "bootstrap", "yuen"])
def test_tests_without_weights_say_so(test):
    with pytest.raises(UsageError, match=f"weights cannot be used with the test {test}"):
        compare_pair([1.0, 0.5, 0.2], [0.5, 0.2, 0.1], weights=np.ones(3), test=test)


def test_weights_reach_comparisons_of_several_systems():
    scores = {
        "a": {"q1": 1, "q2": 0.5, "q3": 0.25},
        "b": {"q1": 0, "q2": 0.5, "q3": 1},
        "c": {"q1": 0, "q2": 0, "q3": 0},
    }
    found = gainful.compare(ScoreMatrix.of("RR", scores), queries=Queries(KNOWN, weights="visits"))
    means = found.systems["RR"].scores.means.tolist()
    assert means == pytest.approx([(1 + 1 + 1.25) / 8, (0 + 1 + 5) / 8, 0])
    for what, asked in (
        ("tukey", {"procedure": "tukey"}),
        ("bayes", {"test": "bayes", "margin": 0.1}),
        ("sequential", {"sequential": True}),
    ):
        with pytest.raises(UsageError, match=rf"weights cannot be used with .*{what}"):
            gainful.compare(ScoreMatrix.of("RR", scores), queries=Queries(KNOWN, weights="visits"), **asked)


def test_a_column_is_found_whatever_its_capital_letters() -> None:
    table = Queries({"a": {"Segment": "x", "Visits": 3}, "b": {"Segment": "y", "Visits": 1}}, weights="visits")
    assert table.segments("segment", ["a", "b"]) == {"x": [0], "y": [1]}
    weights = table.weights_of(["a", "b"])
    assert weights is not None and weights.tolist() == [1.5, 0.5]
    both = Queries({"a": {"Kind": "x", "KIND": "z"}})
    assert both.segments("Kind", ["a"]) == {"x": [0]}
    with pytest.raises(UsageError, match=r"no column 'kind' in "):
        both.segments("kind", ["a"])
