"""Sessions from data frames of all kinds."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from gainful import Sessions
from tests.together import together

from .conftest import table
from .session_samples import HEADER, plain_of, rows_of, sample, shuffled

pytestmark = pytest.mark.usefixtures("core")


def frames_of(rows: list[Any], header: list[str]) -> dict[str, Any]:
    frame = pd.DataFrame(rows, columns=header)
    out = io.BytesIO()
    parquet.write_table(pa.table(frame), out)
    return {
        "pandas": frame,
        "pandas, objects": frame.astype({"session": object, "document": object}),
        "polars": pl.DataFrame(rows, schema=header, orient="row"),
        "pyarrow": pa.table(frame),
        "parquet": out.getvalue(),
    }


@together("kind", frames_of([("s", 1, 1, "d")], HEADER))
def test_data_frames(kind: str) -> None:
    sessions = sample(hard=True)
    assert plain_of(Sessions.of(frames_of(shuffled(rows_of(sessions)), HEADER)[kind])) == sessions


@together("kind", frames_of([("s", 1, 1, "d")], HEADER))
def test_frames_may_lack_optional_cells(kind: str) -> None:
    header = [*HEADER, "topic", "user", "score", "grade", "scanned", "time"]
    rows = [
        ("a", 1, 0, None, "t1", None, None, None, None, None),
        ("a", 2, 1, "d1", None, "u", 2.5, None, 7, 1.5),
        ("a", 2, 2, "d2", "t1", None, 1.5, 3.0, None, 2.5),
    ]
    found = Sessions.of(frames_of(rows, header)[kind])
    assert plain_of(found) == {"a": [[], ["d1", "d2"]]}
    assert (found.topics, found.users, found.systems) == ((b"t1",), ("u",), ())
    np.testing.assert_array_equal(found.grade, [np.nan, 3])
    assert (found.scanned.tolist(), found.lists.score.tolist()) == ([-1, 7], [2.5, 1.5])


@pytest.mark.parametrize("kind", [*frames_of([("s", 1, 1, "d")], HEADER), "pandas without pyarrow"])
def test_dates_and_times_of_frames(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def frame(*moments: datetime | None) -> Any:
        rows = [("a", number, 1, "d", moment) for number, moment in enumerate(moments, 1)]
        return frames_of(rows, [*HEADER, "time"])[kind.removesuffix(" without pyarrow")]

    day = datetime(2024, 5, 1, tzinfo=UTC)
    forth, back = frame(day, None, day + timedelta(1)), frame(day, None, day - timedelta(1))
    if kind == "pandas without pyarrow":
        monkeypatch.setattr(pd.DataFrame, "__arrow_c_stream__", no_pyarrow)
    assert Sessions.of(forth).query_counts.tolist() == [3]
    with pytest.raises(ValueError, match=r"row 2 .*time 2024-04-30.* is earlier than 2024-05-01"):
        Sessions.of(back)


def no_pyarrow(*_: Any, **__: Any) -> Any:
    raise ImportError("pyarrow is not there")


def test_pandas_without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = sample(hard=True)
    header = [*HEADER, "topic", "grade", "time"]
    rows = [(s, n, r, d if r else None, "t" if n == 1 else None, r or None, str(n)) for s, n, r, d in rows_of(sessions)]
    frame = pd.DataFrame(shuffled(rows), columns=header).astype({"topic": object, "grade": object})
    monkeypatch.setattr(pd.DataFrame, "__arrow_c_stream__", no_pyarrow)
    found = Sessions.of(frame)
    assert plain_of(found) == sessions
    assert set(found.topics) == {b"t"}
    assert found.grade.tolist() == found.lists.rank.tolist()
    for column, wrong in (("topic", 1.5), ("grade", "good"), ("document", 1.5)):
        spoilt = frame.assign(**{column: [wrong, *frame[column].tolist()[1:]]})
        with pytest.raises(ValueError, match=rf"row 0 .* in column '{column}', found {wrong!r}"):
            Sessions.of(spoilt)


def test_columns_of_frames_and_tables_can_be_named() -> None:
    columns = {"session": "visit", "query": "step", "rank": "at", "doc": "page"}
    rows = [("v", 1, 1, "d1"), ("v", 1, 2, "d2"), ("v", 2, 1, "d1")]
    names = ["visit", "step", "at", "page"]
    frame = pd.DataFrame(rows, columns=names)
    for found in (
        Sessions.from_frame(frame, columns=columns),
        Sessions.read(table(rows, names, ","), columns=columns),
        Sessions.read(table([("x", *row) for row in rows], ["session", *names], "\t"), columns=columns),
    ):
        assert plain_of(found) == {"v": [["d1", "d2"], ["d1"]]}
    assert Sessions.from_frame(
        frame.iloc[[0, 1]].assign(step=2), columns=columns, gaps="empty"
    ).query_counts.tolist() == [2]
