"""A clean copy in a new directory without a compiler: it installs, says so, and gives the same numbers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MADE = shutil.ignore_patterns(
    ".venv*", "build", "dist", ".git", "*.so", "__pycache__", ".*_cache", ".hypothesis", "gainful-demo"
)
#: What a machine has where nobody ever installed a compiler.
NO_COMPILER = {"CC": "/nonexistent/cc", "CXX": "/nonexistent/c++"}


def environment(**more: str) -> dict[str, str]:
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("GAINFUL_", "PYTHON", "VIRTUAL_"))
    }
    return {**kept, **NO_COMPILER, **more}


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clean") / "gainful"
    shutil.copytree(ROOT, folder, ignore=MADE)
    return folder


@pytest.fixture(scope="module")
def demo(clone: Path) -> subprocess.CompletedProcess[str]:
    command = ["make", "demo", f"PYTHON={sys.executable}"]
    return subprocess.run(command, cwd=clone, env=environment(), capture_output=True, text=True, check=False)


def test_demo_works_and_says_which_core_runs(demo: subprocess.CompletedProcess[str]) -> None:
    assert demo.returncode == 0, demo.stderr
    assert "Python core" in demo.stdout
    assert "reranker" in demo.stdout


def test_demo_gives_the_same_numbers(demo: subprocess.CompletedProcess[str], clone: Path, tmp_path: Path) -> None:
    assert demo.returncode == 0, demo.stderr
    subprocess.run([sys.executable, "-m", "gainful", "demo", "--out", "gainful-demo"], cwd=tmp_path, check=True)
    here, there = (folder / "gainful-demo" / "results.jsonl" for folder in (tmp_path, clone))
    assert here.read_text() == there.read_text()


def test_what_is_known_of_other_tools_is_installed(demo: subprocess.CompletedProcess[str], clone: Path) -> None:
    assert demo.returncode == 0, demo.stderr
    gainful = clone / ".venv" / "bin" / "gainful"
    done = subprocess.run([gainful, "explain", "set_F"], env=environment(), capture_output=True, text=True, check=True)
    assert "trec_eval's set_F is SetF here." in done.stdout
    assert "ir_measures: SetF(beta=2.0)" in done.stdout


def test_tests_pass_with_the_python_core(demo: subprocess.CompletedProcess[str], clone: Path) -> None:
    assert demo.returncode == 0, demo.stderr
    python = clone / ".venv" / "bin" / "python"
    needed = ("pytest", "hypothesis", "zstandard", "pandas", "polars", "pyarrow", "duckdb", "matplotlib")
    install = [python, "-m", "pip", "-q", "install"]
    subprocess.run([*install, *needed], env=environment(), check=True)
    # The documentation shows gainful inside of ir_measures; what that needs for itself may need a compiler.
    subprocess.run([*install, "--no-deps", "ir_measures==0.4.3"], env=environment(), check=True)
    command = [
        python,
        "-m",
        "pytest",
        "-q",
        # Tests of units ask for both cores themselves; the papers' pages, which are documentation, run the papers.
        "tests/native",
        "tests/cli",
        "tests/io",
        "tests/docs",
    ]
    done = subprocess.run(command, cwd=clone, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]


def test_a_core_that_is_required_must_build(clone: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "-q", "install", "--no-deps", "--target", str(tmp_path), str(clone)]
    done = subprocess.run(
        command, env=environment(GAINFUL_REQUIRE_CORE="1"), capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert not (tmp_path / "gainful").exists()
