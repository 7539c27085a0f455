"""A clean copy in a new directory without a compiler: it installs, says so, and gives the same numbers.

What the Python core itself does is held against the compiled one by all tests that ask for both.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gainful.cli.main import run

ROOT = Path(__file__).parents[2]
MADE = shutil.ignore_patterns(
    ".venv*", "build", "dist", ".git", "*.so", "__pycache__", ".*_cache", ".hypothesis", "gainful-demo", "node_modules"
)
#: What a machine has where nobody ever installed a compiler. Modules that no test imports are not compiled by Python.
NO_COMPILER = {"CC": "/nonexistent/cc", "CXX": "/nonexistent/c++", "PIP_COMPILE": "0"}


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
    """`make demo` in an environment that finds what gainful needs, and pip, where this process finds it."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", clone / ".venv"], check=True)
    [packages] = clone.glob(".venv/lib/*/site-packages")
    (packages / "outer.pth").write_text("".join(f"{path}\n" for path in sys.path if path.endswith("site-packages")))
    command = ["make", "demo", f"PYTHON={sys.executable}"]
    return subprocess.run(command, cwd=clone, env=environment(), capture_output=True, text=True, check=False)


def test_demo_works_and_says_which_core_runs(demo: subprocess.CompletedProcess[str]) -> None:
    assert demo.returncode == 0, demo.stderr
    assert "Python core" in demo.stdout
    assert "reranker" in demo.stdout


def test_demo_says_how_far_it_is(demo: subprocess.CompletedProcess[str]) -> None:
    told = ("Installing gainful into .venv", "Building wheel for gainful", "Successfully installed gainful")
    assert [line for line in told if line not in demo.stdout] == []


def test_demo_gives_the_same_numbers(demo: subprocess.CompletedProcess[str], clone: Path, demo_files: Path) -> None:
    assert demo.returncode == 0, demo.stderr
    here, there = (folder / "results.jsonl" for folder in (demo_files, clone / "gainful-demo"))
    assert here.read_text().replace(str(demo_files), "gainful-demo") == there.read_text()


def test_what_is_known_of_other_tools_is_installed(demo: subprocess.CompletedProcess[str], clone: Path) -> None:
    assert demo.returncode == 0, demo.stderr
    gainful = clone / ".venv" / "bin" / "gainful"
    done = subprocess.run(
        [gainful, "explain", "set_F", "--detail"], env=environment(), capture_output=True, text=True, check=True
    )
    assert "trec_eval's set_F is SetF here." in done.stdout
    assert "ir_measures: SetF(beta=2.0)" in done.stdout


def test_the_wheel_is_for_any_machine(demo: subprocess.CompletedProcess[str], clone: Path) -> None:
    assert demo.returncode == 0, demo.stderr
    [wheel] = clone.glob(".venv/lib/*/site-packages/gainful-*.dist-info/WHEEL")
    assert "Tag: py3-none-any" in wheel.read_text()
    assert not list(clone.glob(".venv/lib/*/site-packages/gainful/**/*.so"))


SESSION = '{"session": "s", "topic": "t", "queries": [{"results": ["x", "a"]}, {"results": ["a", "b"]}]}\n'


@pytest.mark.parametrize(
    "arguments",
    [
        ("eval", "qrels.txt", "bm25.run", "dense.run.gz", "--by-query", "--format", "jsonl"),
        ("compare", "qrels.txt", "bm25.run", "hybrid.run", "--format", "csv"),
        ("sessions", "judged.txt", "log.jsonl", "--format", "jsonl"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_commands_print_the_same(
    demo: subprocess.CompletedProcess[str],
    clone: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
    arguments: tuple[str, ...],
) -> None:
    assert demo.returncode == 0, demo.stderr
    folder = clone / "gainful-demo"
    (folder / "judged.txt").write_text("t 0 a 3\nt 0 b 1\n")
    (folder / "log.jsonl").write_text(SESSION)
    monkeypatch.chdir(folder)
    assert run(arguments) == 0
    ours = capfdbinary.readouterr()
    python = clone / ".venv" / "bin" / "python"
    theirs = subprocess.run([python, "-m", "gainful", *arguments], env=environment(), capture_output=True, check=True)
    assert ours.out
    assert (ours.out, ours.err) == (theirs.stdout, theirs.stderr)


def test_a_core_that_is_required_must_build(clone: Path, tmp_path: Path) -> None:
    """Tools to build with are those that are here, if they are; `make demo` has them brought by pip."""
    here = all(importlib.util.find_spec(name) for name in ("scikit_build_core", "nanobind"))
    how = ["--no-deps", *(["--no-build-isolation"] if here else []), "--target", str(tmp_path)]
    command = [sys.executable, "-m", "pip", "-q", "install", *how, str(clone)]
    done = subprocess.run(
        command, env=environment(GAINFUL_REQUIRE_CORE="1"), capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert not (tmp_path / "gainful").exists()
    assert "CMAKE_CXX_COMPILER" in done.stderr, done.stderr  # for want of a compiler, and of nothing else
