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
    entries = script.FIGURES
    script.draw(entries, tmp_path)
    for entry in entries:
        assert words(DOCS / "figures" / f"{entry.name}.svg") == words(tmp_path / f"{entry.name}.svg"), "make figures"


@pytest.mark.usefixtures("without_demo")
def test_figures_of_papers_are_current(script: ModuleType, tmp_path: Path) -> None:
    entries, folder = script.PAPER_FIGURES, DOCS / "explanation" / "papers" / "figures"
    # What a figure says does not depend on how often an experiment is repeated.
    fewer = {"scheel2011": "--repetitions 10"}
    script.draw_papers([each._replace(options=fewer.get(each.paper, each.options)) for each in entries], tmp_path)
    files = {file for entry in entries for file in entry.files}
    assert {path.name for path in folder.iterdir()} == files
    for file in files:
        assert words(folder / file) == words(tmp_path / file), "make figures"


def test_papers_show_their_figures(script: ModuleType) -> None:
    for entry in script.PAPER_FIGURES:
        page = (DOCS / "explanation" / "papers" / f"{entry.paper}.md").read_text(encoding="utf-8")
        assert set(re.findall(r"\(figures/(\S+\.svg)\)", page)) == set(entry.files)


def test_page_is_current(script: ModuleType) -> None:
    page = script.gallery_page(script.FIGURES)
    assert (DOCS / "figures" / "README.md").read_text(encoding="utf-8") == page, "make figures"
    assert {path.stem for path in (DOCS / "figures").glob("*.svg")} == set(re.findall(r"!\[(\w+)\]", page))
