"""Runs in batches: bit-identical to whole frames for any batch size; and errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import polars
import pyarrow as pa
import pytest

from gainful import InputError, Policy, Run, UsageError, evaluate, evaluate_batches
from tests.same import assert_same

MEASURES = ["nDCG@10", "AP", "RR", "R@5", "bpref", "NumRet", "NormRecall(tied=expected)", "NDPM", "SwetsE"]
#: Judged: some without results, some without anything relevant; results: some without judgments.
QUERIES = [f"q{i}" for i in (3, 1, 20, 10, 2, 7, 11, 5)]


def made(seed: int, per_query: int = 40, ids: Callable[[int], Any] = "d{}".format) -> tuple[dict[str, Any], pa.Table]:
    """Judgments, and results by query with ties, whose queries are in no order; one has half of all rows."""
    random = np.random.default_rng(seed)
    qrels = {
        query: {ids(d): int(g) for d, g in zip(random.permutation(60)[:12], random.integers(0, 4, 12), strict=True)}
        for query in [*QUERIES[:5], "q99"]
    }
    qrels["q98"] = {ids(1): 0}
    columns: dict[str, list[Any]] = {"query": [], "document": [], "score": []}
    for place, query in enumerate(QUERIES):
        size = per_query * (len(QUERIES) if place == 2 else 1)
        columns["query"] += [query] * size
        columns["document"] += [ids(d) for d in random.permutation(size)]
        columns["score"] += random.integers(0, 9, size).astype(float).tolist()
    return qrels, pa.table(columns)


@pytest.fixture(params=[1, 7, 100, 1 << 19])
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Blocks of about so many rows."""
    monkeypatch.setattr("gainful.data.graded.BLOCK", request.param)
    return int(request.param)


@pytest.mark.filterwarnings("ignore::gainful.GainfulWarning")
def test_batches_give_what_the_frame_gives(core: str, block: int) -> None:
    qrels, table = made(1)
    policies: list[Policy | str | None] = [None, Policy(missing="skip", depth=20), Policy(ties="input"), "trec_eval-9"]
    for policy in policies if core == "c++" else policies[:1]:
        whole = evaluate(qrels, table, MEASURES, policy=policy, name="run")
        for rows in (5, 13, 1000) if policy is None else (13,):
            batches = table.to_batches(max_chunksize=rows)
            assert_same(evaluate_batches(qrels, batches, MEASURES, policy=policy, name="run"), whole)


@pytest.mark.filterwarnings("ignore::gainful.GainfulWarning")
def test_all_that_speaks_arrow(block: int) -> None:
    qrels, table = made(2)
    whole = evaluate(qrels, table, "AP", name="run")
    frame = polars.DataFrame(table)

    def stream() -> Iterator[pa.RecordBatch]:
        yield table.slice(0, 0)
        yield from table.slice(0, 0).to_batches()
        yield from table.to_batches(max_chunksize=50)

    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=9))
    for batches in (table, reader, stream(), frame, frame.iter_slices(31), table.to_pandas(), [table.to_pandas()]):
        assert_same(evaluate_batches(qrels, batches, "AP", name="run"), whole)
    ids = table.set_column(0, "query", table["query"].dictionary_encode())
    assert_same(evaluate_batches(qrels, ids.to_batches(max_chunksize=30), "AP", name="run"), whole)


@pytest.mark.filterwarnings("ignore::gainful.GainfulWarning")
def test_what_else_can_be_asked(block: int) -> None:
    qrels, table = made(3, ids=int)
    named = table.rename_columns(["visitor", "item", "stars"])
    columns = {"run.query": "visitor", "run.document": "item", "run.score": "stars"}
    seen = {"q3": [1, 2, 3], "q20": [4]}
    whole = evaluate(qrels, named, "AP", name="run", columns=columns, exclude=seen)
    found = evaluate_batches(qrels, named.to_batches(max_chunksize=11), "AP", name="run", columns=columns, exclude=seen)
    assert_same(found, whole)
    assert found.facts.excluded_count > 0
    ranked = pa.table({"query": table["query"], "document": table["document"], "rank": list(range(table.num_rows))})
    assert_same(
        evaluate_batches(qrels, ranked.to_batches(max_chunksize=11), "AP", name="run"),
        evaluate(qrels, ranked, "AP", name="run"),
    )
    with pytest.raises(UsageError, match="the run run cannot be read again"):
        found.explain("AP", "q3")


def test_errors_are_those_of_the_frame(block: int) -> None:
    qrels, table = made(4)
    twice = pa.concat_tables([table.slice(0, 50), table.slice(49, 1), table.slice(50)])
    null = table.set_column(2, "score", pa.array([None if i == 77 else 1.0 for i in range(table.num_rows)]))
    nan = table.set_column(2, "score", pa.array([float("nan") if i == 200 else 1.0 for i in range(table.num_rows)]))
    nobody = table.set_column(1, "document", pa.array([None if i == 60 else str(i) for i in range(table.num_rows)]))
    texts = table.set_column(2, "score", table["score"].cast(pa.string()))
    strangers = table.set_column(0, "query", pa.array([f"x{query}" for query in table["query"].to_pylist()]))
    for bad, said in (
        (twice, r"row 50 .*duplicate document 'd\d+' for query 'q1' \(first: row 49"),
        (null, "row 77 .*a finite number as score.*null, NaN or infinity"),
        (nan, "row 200 .*a finite number as score"),
        (nobody, "row 60 .*an id as document in column 'document', found null"),
        (texts, "a number as score in column 'score', found texts"),
        (table.slice(0, 0), "no ranked documents"),
        (table.drop_columns(["document"]), "document"),
        (strangers, "none of its queries is judged"),
    ):
        messages = []
        for score in (
            lambda bad=bad: evaluate(qrels, bad, "AP", name="run"),
            lambda bad=bad: evaluate_batches(qrels, bad.to_batches(max_chunksize=16), "AP", name="run"),
        ):
            with pytest.raises(InputError, match=said) as error:
                score()
            messages.append(str(error.value))
        assert messages[0] == messages[1]


@pytest.mark.parametrize("known", [True, False])
def test_a_query_that_comes_back_is_refused(block: int, known: bool) -> None:
    qrels, table = made(5, per_query=10)
    first = 0 if known else table.num_rows - 10  # of the first query, or of the last, which is not judged
    again = pa.concat_tables([table.slice(first, 10), table, table.slice(first, 1)])
    name, row = ("q3", table.num_rows + 10) if known else ("q5", table.num_rows)
    with pytest.raises(InputError, match=rf"row {row} .*not sorted by query: query '{name}' occurs again") as error:
        evaluate_batches(qrels, again.to_batches(max_chunksize=3), "AP", policy=Policy(duplicates="first"))
    assert "sort by query first" in str(error.value)


def test_what_are_no_batches() -> None:
    for batches in ("run.parquet", 7):
        with pytest.raises(UsageError, match="<batches>: expected Arrow batches"):
            evaluate_batches({"q1": {"d1": 1}}, batches)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"expected a data frame .* found tuple"):
        evaluate_batches({"q1": {"d1": 1}}, [("q1", "d1", 1.0)])  # type: ignore[list-item]
    parts = [{"query": ["q1"], "document": ["d1"], "score": [2.0]}, {"query": ["q1"], "document": ["d2"], "rank": [2]}]
    with pytest.raises(InputError, match=r"row 1 .*batches have different columns: no scores"):
        evaluate_batches({"q1": {"d1": 1}}, [pa.table(part) for part in parts])


def test_memory_does_not_grow_with_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """No run has more rows than a block and its last query, and no more than two are held at a time."""
    import weakref

    alive: list[weakref.ref[Run]] = []
    sizes: list[int] = []
    original = Run.from_rows.__func__  # type: ignore[attr-defined]

    def watched(cls: type[Run], rows: Any, name: str, *, together: bool = False) -> Run:
        run: Run = original(cls, rows, name, together=together)
        alive.append(weakref.ref(run))
        sizes.append(len(run))
        assert sum(each() is not None for each in alive) <= 2
        return run

    monkeypatch.setattr(Run, "from_rows", classmethod(watched))
    monkeypatch.setattr("gainful.data.graded.BLOCK", 300)

    def stream() -> Iterator[pa.RecordBatch]:
        for query in range(200):
            yield pa.record_batch({"query": [f"q{query}"] * 50, "document": list(range(50)), "score": [1.0] * 50})

    evaluate_batches({f"q{query}": {3: 1} for query in range(200)}, stream(), "RR")
    assert sum(sizes) == 200 * 50 and max(sizes) <= 350


def test_batches_of_several_libraries() -> None:
    columns = {"query": ["q1"], "document": ["d1"], "score": [1.0]}
    empty = pa.record_batch(
        {"query": pa.array([], "str"), "document": pa.array([], "str"), "score": pa.array([], "f8")}
    )
    frame = polars.DataFrame({**columns, "document": ["d2"]})
    parts = [empty, frame, empty, pa.table({**columns, "document": ["d3"]}).to_pandas(), pa.record_batch(columns)]
    assert evaluate_batches({"q1": {"d1": 1}}, parts, "NumRet").mean("NumRet") == 3
