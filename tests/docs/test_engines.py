"""The examples of other engines in docs/how-to/python.md, run: the same numbers as of the file."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import gainful

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "python.md"
EXAMPLES = re.findall(r"```python\n(# (\w+).*?)```", PAGE.read_text(), re.DOTALL)


def test_all_three_are_there() -> None:
    assert [engine for _, engine in EXAMPLES] == ["DuckDB", "Polars", "Dask"]


@pytest.mark.parametrize(("code", "engine"), EXAMPLES, ids=[engine for _, engine in EXAMPLES])
@pytest.mark.filterwarnings("ignore")
def test_engines(code: str, engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = pytest.importorskip(engine.lower(), reason=f"{engine} is not installed: its example is not run")
    if engine == "Polars" and not hasattr(module.LazyFrame, "collect_batches"):
        pytest.skip("this version of Polars does not give batches: its example is not run")
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(1)
    query = random.permutation(np.repeat([f"q{i}" for i in range(30)], 40))
    columns = {"query": query, "document": [f"d{i}" for i in range(1200)], "score": random.random(1200)}
    pa.parquet.write_table(pa.table(columns), "results.parquet", row_group_size=100)
    judged = (f"{name} 0 d{i} {i % 3}\n" for i, name in enumerate(query) if i % 5 == 0)
    Path("qrels.txt").write_text("".join(judged))
    there = {"gainful": gainful}
    exec(code, there)
    found, whole = there["found"], gainful.evaluate("qrels.txt", "results.parquet", ["nDCG@10", "AP"])
    np.testing.assert_array_equal(found.raw, whole.raw)  # type: ignore[attr-defined]
