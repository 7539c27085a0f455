"""`gainful papers jarvelin2008` on real sessions, against loops written here from the published definitions.

36 sessions of a user study, judged by session with grades from -1 to 2, and conversations of CAsT 2021, judged by turn.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from gainful.cli.main import run

from .real_collections import ranked

Grades = dict[str, dict[str, float]]
Lines = list[dict[str, Any]]


@pytest.fixture
def lines(capsys: pytest.CaptureFixture[str]) -> Any:
    """The JSON lines of `gainful papers jarvelin2008` with these arguments."""

    def call(*arguments: object) -> Lines:
        code = run(["papers", "jarvelin2008", *map(str, arguments), "--format", "jsonl", "--quiet"])
        out, err = capsys.readouterr()
        assert code == 0, err
        return [json.loads(line) for line in out.splitlines()[:-1]]

    return call


def table(found: Lines, title: str) -> Lines:
    return [line for line in found if line.get("table") == title and "note" not in line]


def values(found: Lines, **wanted: object) -> list[float]:
    rows = [row for row in table(found, "Curves") if all(row[name] == value for name, value in wanted.items())]
    return [row["value"] for row in rows]


def mean(numbers: list[float]) -> float:
    return math.fsum(numbers) / len(numbers)


def by_rank(page: list[str], gains: dict[str, float], q: int, k: int) -> list[float]:
    """The gain of a query at each rank, b = 2, bq = 4."""
    steps = [gains.get(document, 0.0) / (1 + math.log2(r)) for r, document in enumerate(page[:k], 1)]
    steps += [0.0] * (k - len(steps))
    return [math.fsum(steps[:i]) / (1 + math.log(q, 4)) for i in range(1, k + 1)]


def vector(pages: list[list[str]], gains: list[dict[str, float]], queries: int) -> list[float]:
    """Ten positions a query; after the last one the value stays."""
    found: list[float] = []
    for q, (page, of) in enumerate(zip(pages, gains, strict=True), 1):
        start = found[-1] if found else 0.0
        found += [start + value for value in by_rank(page, of, q, 10)]
    return (found + found[-1:] * (10 * queries))[: 10 * queries]


# -- a user study ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(shared_data: Path) -> Path:
    return shared_data / "sessions"


# -- conversations -----------------------------------------------------------------------------------------------------


def test_conversations_judged_by_turn(lines: Any, shared_data: Path) -> None:
    """Turns without judgments count for their positions only."""
    folder = shared_data / "cast2021"
    names = ("org_manual_bm25", "org_convdr_bert")
    weights = {"0": 0.0, "1": 1.0, "2": 10.0, "3": 100.0, "4": 1000.0}
    gains: Grades = {}
    for line in (folder / "qrels.cast2021-docs.txt").read_text().splitlines():
        turn, _, document, grade = line.split()
        gains.setdefault(turn, {})[document] = weights[grade]
    files = [argument for name in names for argument in ("--sessions", folder / "runs" / f"{name}.run.gz")]
    base = ("--qrels", folder / "qrels.cast2021-docs.txt", *files)
    first, second = (lines(*base, "--only", figure) for figure in ("Figure 1", "Figure 2"))
    for name in names:
        turns = ranked(folder / "runs" / f"{name}.run.gz")
        conversations: dict[str, list[str]] = {}
        for turn in sorted(turns, key=lambda each: tuple(map(int, each.split("_")))):
            conversations.setdefault(turn.split("_")[0], []).append(turn)
        last, earlier, ratios = [], [], []
        for of in conversations.values():
            assert [int(turn.split("_")[1]) for turn in of] == list(range(1, len(of) + 1))
            pages = [turns[turn] for turn in of]
            for q, (turn, page) in enumerate(zip(of, pages, strict=True), 1):
                if turn in gains:
                    (last if q == len(of) else earlier).append(by_rank(page, gains[turn], q, 100))
            own = [gains.get(turn, {}) for turn in of]
            if any(own):
                ideal = [sorted(each, key=lambda document, of=each: -of[document]) for each in own]  # type: ignore[misc]
                gained, most = vector(pages, own, 13), vector(ideal, own, 13)
                ratios.append([a / b if b else math.nan for a, b in zip(gained, most, strict=True)])
        for of_what, vectors in (("last query", last), ("earlier queries", earlier)):
            expected = [mean([each[i] for each in vectors]) for i in range(100)]
            assert values(first, run=name, of=of_what) == pytest.approx(expected)
        # Before its first judged turn a conversation has no ratio: undefined is 0.
        expected = [mean([0.0 if math.isnan(each[i]) else each[i] for each in ratios]) for i in range(130)]
        assert values(second, run=name, average="mean of ratios") == pytest.approx(expected)


# -- what is not there -------------------------------------------------------------------------------------------------


def test_sessions_without_judgments(capsys: pytest.CaptureFixture[str], shared_data: Path, folder: Path) -> None:
    """The Session Track of 2013 has numbers for sessions as the user study has, but other documents."""
    track = str(shared_data / "session-track-2013" / "sessiontrack2013.xml.gz")
    assert run(["papers", "jarvelin2008", "--sessions", track]) == 2
    assert "jarvelin2008: missing judgments" in capsys.readouterr().err
    assert run(["papers", "jarvelin2008", "--sessions", track, "--qrels", str(folder / "qrels.tsv")]) == 3
    assert "no document in the top 10 of any session is judged" in capsys.readouterr().err
    cast = str(shared_data / "cast2021" / "qrels.cast2021-docs.txt")
    assert run(["papers", "jarvelin2008", "--sessions", str(folder / "results.tsv"), "--qrels", cast]) == 3
    assert "no session is judged by topic, session, query or text" in capsys.readouterr().err
