"""The tables of measured error rates are those that the studies make."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))


@pytest.fixture
def studies(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(ROOT / "studies"))
    spec = importlib.util.spec_from_file_location("tables", ROOT / "studies" / "tables.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    for name in (
        "abstention",
        "calibration",
        "matrices",
        "beyond",
        "gates",
        "intervals",
        "judging",
        "real_runs",
        "sessions",
    ):
        sys.modules.pop(name, None)


def written() -> str:
    return "".join(page.read_text(encoding="utf-8") for page in PAGES)


def table(name: str) -> str:
    [found] = re.findall(rf"<!-- study: {name} -->\n\n(.*?)\n\n<!-- end of {name} -->", written(), re.DOTALL)
    return found


def test_every_study_has_a_table(studies: ModuleType) -> None:
    assert sorted(re.findall(r"<!-- study: (\S+) -->", written())) == sorted(studies.STUDIES)
    for name in studies.STUDIES:
        assert table(name).startswith("| ")


def test_what_needs_no_data_is_current(studies: ModuleType) -> None:
    assert studies.few(Path()) == table("few")
    assert studies.abstention(Path(), samples=4).count("\n") == 5
    assert studies.calibration(Path(), samples=2, draws=9, population=50).count("\n") == 9


def test_small_samples_run(studies: ModuleType) -> None:
    data = ROOT.parent / "shared" / "data" / "published-tables"
    if not data.is_dir():
        pytest.skip("no published tables beside the checkout")
    assert studies.coverage(data, pairs=1, samples=2, draws=50).count("\n") == 5
    assert studies.weights(data, samples=1, draws=50).count("\n") == 9
    assert studies.families(data, samples=2, m=4, draws=50).count("\n") == 7
    assert studies.rank_tests(data, samples=2).count("\n") == 5
    found = studies.judging(data, ("dl-hard",), None).splitlines()
    assert len(found) == 8 and {*found} <= {*table("judging").splitlines()}
    assert studies.posterior_coverage(data, samples=2, draws=50).count("\n") == 10
    assert studies.posterior_calibration(data, samples=9).count("\n") == 7
    assert studies.sequence_widths(data, samples=1).count("\n") == 16
    assert studies.sequence_errors(data, samples=1, n=20).count("\n") == 4
    assert studies.gate_errors(data, samples=1).count("\n") == 17
    assert studies.gate_misses(data, samples=1).count("\n") == 17
    assert studies.gate_rules(data, samples=1, samples_of_drops=1).count("\n") == 7
    assert studies.gate_commits(data, samples=1, commits=2).count("\n") == 3
    assert studies.judges(data, samples=1, draws=20).count("\n") == 4
    assert studies.many(data, samples=1, draws=50, systems=(4,)).count("\n") == 4
    assert studies.measures(data, samples=1, draws=50).count("\n") == 3
    assert studies.orders(data, samples=1, draws=20).count("\n") == 10
    assert studies.unpaired(data, samples=1, draws=20).count("\n") == 9
    assert studies.repeats(data, samples=1).count("\n") == 16
    assert studies.losses(data) == table("losses")
    assert studies.shuffled(data) == table("shuffled")
    assert "| randomisation test of the pair | 0.0081 | 0.0081 | 0.0081 |" in studies.pool(data, times=1)


def test_without_data_the_page_stays(tmp_path: Path) -> None:
    before = written()
    command = [sys.executable, str(ROOT / "studies" / "run.py"), "--data", str(tmp_path / "none")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert "nothing is measured" in done.stdout and written() == before
