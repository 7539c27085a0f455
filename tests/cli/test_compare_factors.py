"""`gainful compare --factors`: the table of levels, effects and errors."""

from __future__ import annotations

import pytest

import gainful

LEVELS = "system,structure,expanded\na,weak,no\nb,weak,yes\nc,strong,no\nd,strong,yes\n"


@pytest.fixture
def files(command):
    rows = [f"q{i},{0.1 + i % 3 / 30},{0.15 + i % 4 / 40},{0.3 + i % 5 / 50},{0.8 - i % 3 / 60}" for i in range(12)]
    command.write("scores.csv", "query,a,b,c,d\n" + "\n".join(rows) + "\n")
    command.write("levels.csv", LEVELS)
    return command


def test_effects(files):
    result = files("compare", "--from", "scores.csv", "-m", "AP", "--factors", "levels.csv", "--quiet")
    assert result.code == 0, result.err
    assert "AP of 4 systems by structure and expanded, 12 queries." in result.words
    assert "The effect of structure depends on expanded (interaction p = " in result.words
    assert "AP by structure, one line per expanded" in result.words
    assert [line for line in result.out.splitlines() if line.startswith("strong     yes")]


def test_lines_for_machines(files):
    result = files("compare", "--from", "scores.csv", "-m", "AP", "--factors", "levels.csv", "--format", "jsonl")
    header, *rows = result.lines
    assert header["factors"] == ["structure", "expanded"] and header["enumerated"]
    effects = {row["source"]: row for row in rows if row.get("table") == "Effects, AP" and "source" in row}
    assert effects["structure"]["p_flips"] == 2 / 2**12 and effects["residual"]["df"] == 33


def test_python_reads_the_same_table(files):
    matrix = gainful.ScoreMatrix.of("AP", {name: [0.1, 0.4, 0.2 * i] for i, name in enumerate("abcd")})
    found = gainful.compare(matrix, factors=str(files.directory / "levels.csv"))
    assert found.factorial["AP"].levels == (("weak", "strong"), ("no", "yes"))
    with pytest.raises(gainful.InputError, match="nowhere"):
        gainful.compare(matrix, factors="nowhere.csv")


@pytest.mark.parametrize(
    ("levels", "more", "code", "message"),
    [
        (LEVELS + "e,weak,no\n", (), 2, "factors: unknown system 'e'"),
        (LEVELS + "a,weak,no\n", (), 3, "levels.csv: duplicate system 'a'"),
        ("system,structure\na\n", (), 3, "expected 2 fields as in the header"),
        (LEVELS, ("--baseline", "a"), 2, "baseline cannot be used with factors"),
    ],
)
def test_refused(files, levels, more, code, message):
    files.write("levels.csv", levels)
    result = files("compare", "--from", "scores.csv", "-m", "AP", "--factors", "levels.csv", *more)
    assert result.code == code and message in result.err
