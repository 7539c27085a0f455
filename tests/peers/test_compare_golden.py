"""Golden values of published score matrices, computed through the command."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from gainful.cli.main import run

Compare = Callable[..., list[dict]]

FIVE = ("uogTrDwl", "Terran", "CiirAll1", "utbase", "udel_itu")


@pytest.fixture
def tables(shared_data: Path) -> Path:
    folder = shared_data / "published-tables"
    if not folder.is_dir():
        pytest.skip("no published tables beside the checkout")
    return folder


@pytest.fixture
def compare(capsys: pytest.CaptureFixture[str]) -> Compare:
    def compared(*arguments: object) -> list[dict]:
        code = run(["compare", *map(str, arguments), "--format", "jsonl"])
        captured = capsys.readouterr()
        assert code == 0, captured.err
        return [json.loads(line) for line in captured.out.splitlines()[:-1]]

    return compared


def rows(lines: list[dict], title: str) -> list[dict]:
    return [line for line in lines if line.get("table") == title and "note" not in line]


def some(source: Path, names: tuple[str, ...], target: Path) -> Path:
    """A published matrix of systems by queries with some of its systems."""
    header, *lines = source.read_text().splitlines()
    chosen = {line.split(",", 1)[0].strip('"'): line for line in lines}
    target.write_text("\n".join([header, *(chosen[name] for name in names)]) + "\n")
    return target


def columns(source: Path, names: tuple[str, ...], target: Path) -> Path:
    """A published matrix of queries by systems with some of its systems."""
    header, *lines = (line.replace('"', "").split(",") for line in source.read_text().splitlines())
    places = [header.index(name) for name in names]
    target.write_text("".join(",".join(line[i] for i in places) + "\n" for line in [header, *lines]))
    return target


def test_two_systems(tables: Path, tmp_path: Path, compare: Compare) -> None:
    path = columns(tables / "urbano.web2013_ndcg20.csv", ("run15", "run1"), tmp_path / "g1.csv")
    [found] = rows(compare("--from", path, "-m", "nDCG@20"), "pairs")
    assert (found["system"], found["baseline"], found["queries"], found["nonzero"]) == ("run1", "run15", 50, 48)
    assert found["mean_system"] == pytest.approx(0.310014, abs=5e-7) and found["mean_baseline"] == pytest.approx(
        0.244352, abs=5e-7
    )
    assert found["difference"] == pytest.approx(0.0656626, abs=5e-8)
    assert found["p"] == pytest.approx(0.0209653, abs=0.0018)
    assert (found["low"], found["high"]) == pytest.approx((0.0104, 0.1211), abs=0.0008)
    assert (found["wins"], found["ties"], found["losses"]) == (30, 2, 18)
    assert found["d_z"] == pytest.approx(0.336995, abs=5e-7) and found["g_z"] == pytest.approx(0.331806, abs=5e-7)
    assert (found["d_z_low"], found["d_z_high"]) == pytest.approx((0.0503118, 0.620427), abs=5e-7)
    assert found["d_av"] == pytest.approx(0.323335, abs=5e-7)
    assert found["rank_biserial"] == pytest.approx(0.358844, abs=5e-7)
    assert found["detectable"] == pytest.approx(0.0787541, abs=5e-8)
    assert found["relative"] == pytest.approx(0.269, abs=5e-4)
    [turned] = rows(compare("--from", path, "--baseline", "run1"), "pairs")
    assert turned["relative"] == pytest.approx(-0.212, abs=5e-4) and turned["p"] == found["p"]


def test_five_systems(tables: Path, tmp_path: Path, compare: Compare) -> None:
    path = some(tables / "NewBestSub.WEB14GD.csv", FIVE, tmp_path / "g3.csv")
    lines = compare("--from", path, "--draws", "40000")
    assert [(row["system"], row["best_place"], row["worst_place"]) for row in rows(lines, "systems")] == [
        ("uogTrDwl", 1, 2),
        ("Terran", 1, 3),
        ("CiirAll1", 2, 5),
        ("utbase", 3, 5),
        ("udel_itu", 3, 5),
    ]
    assert lines[0]["measures"]["ndcg_at_20"]["half_width"] == pytest.approx(0.0713, abs=0.001)
    adjusted = {(row["system"], row["other"]): row["adjusted_p"] for row in rows(lines, "pairs")}
    for pair, expected in {("uogTrDwl", "CiirAll1"): 0.0332, ("Terran", "utbase"): 0.0435}.items():
        assert adjusted[pair] == pytest.approx(expected, abs=5 * math.sqrt(expected / 36000))


def test_named_procedures(tables: Path, tmp_path: Path, compare: Compare) -> None:
    path = some(tables / "NewBestSub.WEB14GD.csv", FIVE, tmp_path / "g3.csv")
    tukey = compare("--from", path, "--procedure", "tukey")
    assert tukey[0]["measures"]["ndcg_at_20"]["threshold"] == pytest.approx(0.0733751, abs=5e-8)
    assert rows(tukey, "pairs")[1]["adjusted_p"] == pytest.approx(0.0454330, abs=5e-8)
    friedman = compare("--from", path, "--procedure", "friedman")
    overall, f = rows(friedman, "Ranks within queries, ndcg_at_20")
    assert overall["statistic"] == pytest.approx(38.0754, abs=5e-5) and f["p value"] == pytest.approx(
        2.01942e-8, rel=1e-5
    )
    first = rows(friedman, "pairs")[0]
    assert (first["system"], first["other"]) == ("uogTrDwl", "Terran")
    assert (first["adjusted_p"], first["conover_p"]) == pytest.approx((0.0429090, 0.00228415), rel=2e-6)
    assert first["rank_difference"] == pytest.approx(1.93 - 2.81)
    anova = rows(compare("--from", path, "--procedure", "anova"), "Two-way analysis of variance of ndcg_at_20")
    assert anova[0]["F"] == pytest.approx(7.28117579, abs=5e-9) and anova[0]["p value"] == pytest.approx(1.73644592e-5)
    holm = compare("--from", path, "--test", "t", "--correction", "holm")
    assert rows(holm, "pairs")[1]["adjusted_p"] == pytest.approx(0.0596687, abs=5e-8)


def test_baseline(tables: Path, tmp_path: Path, compare: Compare) -> None:
    path = some(tables / "NewBestSub.WEB14GD.csv", FIVE, tmp_path / "g3.csv")
    found = rows(compare("--from", path, "--baseline", "Terran", "--test", "t"), "pairs")
    assert [row["adjusted_p"] for row in found] == pytest.approx([0.225786, 0.225786, 0.0419218, 0.00939997], abs=5e-7)


def test_ties_that_floats_hide(tables: Path, tmp_path: Path, compare: Compare) -> None:
    path = columns(tables / "urbano.adhoc8_p10.csv", ("run94", "run95"), tmp_path / "g5.csv")
    [found] = rows(compare("--from", path), "pairs")
    assert (found["p"], found["draws"], found["nonzero"]) == (0.125, 16, 4)


def test_orientations(tables: Path, compare: Compare) -> None:
    systems = compare("--from", tables / "NewBestSub.WEB14GD.csv", "--procedure", "anova")[0]
    assert len(systems["systems"]) == 30 and systems["measures"]["ndcg_at_20"]["queries"] == 50
    queries = compare("--from", tables / "urbano.web2013_ndcg20.csv", "--procedure", "anova", "-m", "nDCG@20")[0]
    assert len(queries["systems"]) == 34 and queries["measures"]["nDCG@20"]["queries"] == 50


def test_coarse_draws_are_refused(tables: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", "--from", str(tables / "NewBestSub.R04.csv"), "--correction", "holm"]) == 2
    assert "use at least 1,199,000 sign flips" in capsys.readouterr().err
