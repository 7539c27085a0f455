"""The gallery shows what the commands draw today."""

from __future__ import annotations

import importlib.util
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_figures", DOCS / "make_figures.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def words(path: Path) -> list[str]:
    """Every text of a figure: what it says, whatever version of matplotlib drew it."""
    return re.findall(r"<!-- (.*?) -->", path.read_text(encoding="utf-8"))


@pytest.fixture
def without_demo(script: ModuleType, demo_files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the demo writes is there already."""
    started = script._run

    def start(arguments: Sequence[str]) -> None:
        if list(arguments) == ["demo", "--out", "."]:
            shutil.copytree(demo_files, ".", dirs_exist_ok=True)
        else:
            started(arguments)

    monkeypatch.setattr(script, "_run", start)


@pytest.mark.usefixtures("without_demo")
def test_figures_are_current(script: ModuleType, tmp_path: Path) -> None:
    script.draw(tmp_path)
    names = [name for name, _ in script.gallery_commands()]
    assert {path.stem for path in (DOCS / "figures").glob("*.svg")} == set(names) and len(names) > 10
    for name in names:
        assert words(DOCS / "figures" / f"{name}.svg") == words(tmp_path / f"{name}.svg"), "make figures"


@pytest.mark.usefixtures("without_demo")
def test_figures_of_papers_are_current(script: ModuleType, tmp_path: Path) -> None:
    # What a figure says does not depend on how often an experiment is repeated.
    script.draw_papers(tmp_path, {"scheel2011": "--repetitions 10"})
    drawn = {path.name for path in tmp_path.iterdir()}
    assert {path.name for path in (DOCS / "explanation" / "papers" / "figures").iterdir()} == drawn and len(drawn) > 10
    for file in drawn:
        assert words(DOCS / "explanation" / "papers" / "figures" / file) == words(tmp_path / file), "make figures"


def test_the_gallery_shows_every_figure_that_it_draws(script: ModuleType) -> None:
    page = (DOCS / "figures" / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"!\[[^\]]+\]\((\w+)\.svg\)", page) == [name for name, _ in script.gallery_commands()]
