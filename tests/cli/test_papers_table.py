"""`gainful papers table`: means, significant differences by Friedman and Conover, and analyses of variance."""

from __future__ import annotations

import random

import pytest
from scipy import stats

from gainful import ScoreMatrix, UsageError
from gainful_papers import friedman_table

QUERIES = [f"q{i}" for i in range(25)]


def scores(seed: int = 1, systems: int = 4) -> dict[str, list[float]]:
    rng = random.Random(seed)
    return {f"s{i}": [round(rng.random() + 0.1 * i, 3) for _ in QUERIES] for i in range(systems)}


@pytest.fixture
def asked(command):
    """The command on two measures."""
    for name in ("AP", "RR"):
        rows = zip(QUERIES, *scores().values(), strict=True)
        lines = [",".join(map(str, row)) for row in (("query", *scores()), *rows)]
        command.write(f"{name}.csv", "\n".join(lines) + "\n")
    return lambda *more: command("papers", "table", "--from", "AP.csv", "--from", "RR.csv", *more)


def test_rows_and_tests(asked):
    lines = asked("--format", "jsonl").lines
    assert (lines[0]["command"], lines[0]["measures"], lines[0]["queries"]) == ("papers", ["AP", "RR"], 25)
    means = [row for row in lines[1:] if "statistical significance" in row]
    assert [row["measure"] for row in means] == ["AP", "RR"]
    overall = next(row for row in lines[1:] if "one-way p value" in row)
    assert overall["one-way p value"] == pytest.approx(stats.f_oneway(*scores().values()).pvalue)


@pytest.mark.parametrize("form", ["table", "latex", "markdown"])
def test_stars_are_explained_in_every_format(asked, form):
    out = asked("--format", form).out
    assert "stars: one for p" in out and "0.01" in out and "bold" not in out


def test_no_pair_is_named_where_friedman_finds_nothing():
    rng = random.Random(1)
    matrix = ScoreMatrix.of("AP", {f"s{i}": [round(rng.random(), 3) for _ in range(20)] for i in range(6)})
    [row] = friedman_table({"AP": matrix}).rows
    assert row.friedman_p > 0.05 and row.verdict == ""


def test_only_queries_of_all_count():
    one, other = ({name: dict(zip(QUERIES, each, strict=True)) for name, each in scores().items()} for _ in range(2))
    for of_system in other.values():
        del of_system["q3"]
    found = friedman_table({"AP": ScoreMatrix.of("AP", one), "RR": ScoreMatrix.of("RR", other)})
    assert [(row.queries, row.left_out) for row in found.rows] == [(24, 1), (24, 0)]
    assert repr(found) == "<FriedmanTable of 4 systems by AP, RR>"
    with pytest.raises(UsageError, match="two or more systems"):
        friedman_table({"AP": ScoreMatrix.of("AP", {"a": one["s0"]})})
