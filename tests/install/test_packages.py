"""What would go to a package index: what the build backend makes, and `twine check` has nothing to say about it."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_NEEDED = ("twine", "scikit_build_core", "nanobind")
_MISSING = [name for name in _NEEDED if importlib.util.find_spec(name) is None]

pytestmark = pytest.mark.skipif(bool(_MISSING), reason=f"packages are not checked: there is no {', '.join(_MISSING)}")


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source archive and, without the core, which other tests build, a wheel."""
    folder = tmp_path_factory.mktemp("dist")
    # What `python -m build --no-isolation` has the backend do, in one process instead of six.
    script = (
        "import sys; from scikit_build_core.build import build_sdist, build_wheel; build_sdist(sys.argv[1]); "
        "build_wheel(sys.argv[1], {'wheel.cmake': 'false', 'wheel.py-api': 'py3'})"
    )
    command = [sys.executable, "-c", script, str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def metadata(packages: Path) -> Message:
    [wheel] = packages.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return message_from_bytes(archive.read(name))


def test_twine_has_nothing_to_say(packages: Path) -> None:
    files = [str(path) for path in packages.iterdir()]
    assert len(files) == 2
    command = [sys.executable, "-m", "twine", "check", "--strict", *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("PASSED") == 2


def test_the_metadata_are_those_of_the_project(metadata: Message) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert (metadata["Name"], metadata["Version"]) == (project["name"], project["version"])
    assert metadata["Author"] == "gainful contributors"
    assert set(metadata.get_all("Provides-Extra") or ()) == set(project["optional-dependencies"])
    assert "# gainful" in str(metadata.get_payload())


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the stable ABI that the core needs begins with Python 3.12")
def test_the_core_is_for_later_pythons_too() -> None:
    core = pytest.importorskip("gainful.kernel._core")
    assert core.__file__.endswith((".abi3.so", ".pyd"))


def test_the_core_needs_no_macro_that_the_stable_abi_lacks() -> None:
    # Python 3.11 has them all, so that its builds would not tell: from 3.12 on the core would not compile.
    for path in (ROOT / "native").iterdir():
        assert not re.findall(r"\bPy\w+_(?:GET|SET|AS)_[A-Z]+\b", path.read_text()), path


def test_a_wheel_for_any_machine_has_no_core(packages: Path) -> None:
    [wheel] = packages.glob("*-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert not [name for name in archive.namelist() if name.endswith(".so")]
        assert {"gainful/py.typed", "gainful_papers/py.typed"} <= set(archive.namelist())


def test_the_source_archive_has_all_that_a_build_needs(packages: Path) -> None:
    [source] = packages.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {"pyproject.toml", "CMakeLists.txt", "LICENSE", "README.md", "src/gainful/kernel/_core.pyi"}
    wanted |= {f"native/{path.name}" for path in (ROOT / "native").iterdir()}
    assert wanted <= names
    assert not [name for name in names if name.endswith((".so", ".pyc"))]
