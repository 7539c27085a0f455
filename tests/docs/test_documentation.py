"""Every command and every Python example in the documentation is run, in the folder that the demo makes."""

from __future__ import annotations

import doctest
import glob
import importlib.util
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import gainful
from gainful import parse
from gainful.cli.main import run

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "RELEASING.md",
    ROOT / "SECURITY.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
#: `make outputs` writes what commands print into the pages, instead of comparing.
REWRITE = bool(os.environ.get("GAINFUL_REWRITE_DOCS"))
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What writes to the standard input of a command, the command, and what the shell does with what it prints: a file and
# another command, or a filter.
TYPED = re.compile(
    r"(?:(.*) \| (?=gainful ))?(.*?)(?:(?: > (\S+))?(;| &&) ((?:echo|head|cat) .*)| \| (.*))?", re.DOTALL
)
QUOTED = re.compile(r"'[^']*'|\"[^\"$`\\]*\"")
HERE = re.compile(r"<<'(\w+)'$")
# The day on which the pages were written: gates remember theirs.
TODAY = {"SOURCE_DATE_EPOCH": "1763251200"}
# So many digits of a power any scipy computes: it has them from series and searches.
SURE_DIGITS = 7
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def commands(page: Path) -> list[tuple[str, str]]:
    """The commands of a page with what they print, in order."""
    found = []
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        found += [_split(part) for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    return found


def as_compared(page: Path, output: str) -> str:
    """What must be the same on every machine: of the numbers of power, which are printed in full, the first digits."""
    if page.name != "power.md":
        return output
    return re.sub(r"\d\.\d{10,}", lambda number: f"{float(number[0]):.{SURE_DIGITS}g}", output)


def _split(part: str) -> tuple[str, str]:
    """A command, which is one line or has a text for its standard input below it, and what it prints."""
    command, _, output = part.partition("\n")
    here = HERE.search(command)
    if here is None:
        return command, output
    text, end, output = output.partition(f"{here[1]}\n")
    return f"{command}\n{text}{end}", output


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory, demo_files: Path) -> Path:
    return shutil.copytree(demo_files, tmp_path_factory.mktemp("docs") / "gainful-demo")


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A PATH on which `gainful` is the one under test."""
    folder = tmp_path_factory.mktemp("bin")
    script = folder / "gainful"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gainful "$@"\n')
    script.chmod(0o755)
    return {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", **TODAY}


def test_there_are_commands_to_run() -> None:
    assert sum(len(commands(page)) for page in PAGES) >= 10


def plain_arguments(command: str) -> list[str] | None:
    """The arguments of a `gainful` that needs no shell but for names of files; None of any other command."""
    # A star in quotes is no pattern: it stands aside until names are found.
    marked = QUOTED.sub(lambda quoted: quoted[0].replace("*", "\0"), command)
    words = shlex.shlex(marked, posix=True, punctuation_chars=True)
    words.whitespace_split, words.commenters = True, ""
    name, *arguments = words
    unquoted = QUOTED.sub("", command)
    if name != "gainful" or re.search(r"[$`\\;&|<>(){}?~\n]", unquoted):
        return None
    found = [name for each in arguments for name in (sorted(glob.glob(each)) if "*" in each else [each])]
    return [each.replace("\0", "*") for each in found]


def test_only_stars_outside_of_quotes_are_patterns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.run", "b.run"):
        Path(name).touch()
    assert plain_arguments("gainful x *.run '*.run' --runs \"*\"") == ["x", "a.run", "b.run", "*.run", "--runs", "*"]


def typed(
    command: str, environment: dict[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> str:
    """What a command prints in this folder. Starting Python for each would take most of the time, so what needs no
    shell, or only to be given its input, and to keep, filter or follow what it prints, runs in this process; the others
    are whole processes."""
    source, first, file, joint, then, filters = TYPED.fullmatch(command).groups()
    arguments = plain_arguments(first)
    if arguments is None:
        done = subprocess.run(command, shell=True, env=environment, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr
    if source:
        given = subprocess.run(source, shell=True, env=environment, stdout=subprocess.PIPE, check=True).stdout
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
    capsys.readouterr()
    code = run(arguments)
    printed = capsys.readouterr()
    if file:
        Path(file).write_text(printed.out)
    if then:
        done = subprocess.run(f"(exit {code}){joint} {then}", shell=True, capture_output=True, text=True, check=True)
        return ("" if file else printed.out) + done.stdout + printed.err + done.stderr
    if not filters:
        return printed.out + printed.err
    done = subprocess.run(filters, shell=True, input=printed.out, capture_output=True, text=True, check=True)
    return done.stdout + printed.err + done.stderr


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=lambda page: page.name)
def test_commands_print_what_the_page_shows(
    demo: Path,
    environment: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    page: Path,
) -> None:
    """One after the other in a fresh copy of the demo, as a reader of the page would type them."""
    monkeypatch.chdir(shutil.copytree(demo, tmp_path / "gainful-demo"))
    monkeypatch.setenv(*next(iter(TODAY.items())))
    rewritten = text = page.read_text(encoding="utf-8")
    for command, output in commands(page):
        printed = typed(command, environment, capsys, monkeypatch)
        if REWRITE:
            typed_in = f"$ {command}" if command.endswith("\n") else f"$ {command}\n"
            rewritten = rewritten.replace(typed_in + output, typed_in + printed, 1)
        else:
            assert (command, as_compared(page, printed)) == (command, as_compared(page, output))
    if rewritten != text:
        page.write_text(rewritten, encoding="utf-8")


@pytest.mark.parametrize(
    "page", [page for page in PAGES if PYTHON.search(page.read_text())], ids=lambda page: str(page.relative_to(ROOT))
)
def test_python_examples(demo: Path, monkeypatch: pytest.MonkeyPatch, page: Path) -> None:
    monkeypatch.chdir(demo)
    examples = "\n".join(PYTHON.findall(page.read_text(encoding="utf-8")))
    known = {"gainful": gainful} if page.parent.name == "measures" else {}
    test = doctest.DocTestParser().get_doctest(examples, known, page.name, str(page), 0)
    assert doctest.DocTestRunner().run(test).failed == 0


def test_a_notebook_runs(environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands run although the notebook's matplotlib backend is not installed beside gainful."""
    monkeypatch.chdir(tmp_path)
    inside = {**environment, "MPLBACKEND": "module://matplotlib_inline.backend_inline"}
    names: dict[str, object] = {}
    for cell in json.loads((ROOT / "docs" / "tutorials" / "paper.ipynb").read_text(encoding="utf-8"))["cells"]:
        source = cell["source"]
        if source.startswith("%%bash\n"):
            subprocess.run(["bash", "-c", source.partition("\n")[2]], env=inside, capture_output=True, check=True)
        elif source.startswith("!gainful demo"):
            subprocess.run(["gainful", "demo"], env=inside, capture_output=True, check=True)
            monkeypatch.chdir("gainful-demo")
        elif cell["cell_type"] == "code":
            exec(source, names)
    assert Path("results.tex").exists() and "curves" in names


ROW = re.compile(r"^\| (`[^|]+`) \| (`[^|]+`) \|", re.MULTILINE)


def test_names_of_other_tools_stand_for_what_the_page_says() -> None:
    rows = ROW.findall((ROOT / "docs" / "reference" / "other-tools.md").read_text(encoding="utf-8"))
    pairs = [
        (theirs, ours)
        for cells in rows
        for theirs, ours in zip(*(re.findall("`([^`]+)`", cell) for cell in cells), strict=True)
        if not theirs.startswith("-")
    ]
    assert len(pairs) >= 30
    assert [(theirs, str(parse(theirs))) for theirs, _ in pairs] == pairs


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and the site derive them."""
    text = re.sub(r"^(```+).*?^\1$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    found: dict[str, int] = {}
    slugs = set()
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*]", r"\1", heading)
        slug = re.sub(r"[^\w -]", "", words.lower().strip()).replace(" ", "-")
        slugs.add(f"{slug}-{found[slug]}" if slug in found else slug)
        found[slug] = found.get(slug, 0) + 1
    return slugs


def test_links_and_anchors_lead_somewhere() -> None:
    for page in PAGES:
        text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for target, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)", text):
            path = page.parent / target if target else page
            assert path.exists(), f"{page.name}: {target}"
            assert not anchor or anchor in anchors(path), f"{page.name}: {target}#{anchor}"


def test_pictures_have_a_text() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert re.findall(r"!\[\s*\]\(.*?\)", text) == [], page.name
        for picture in re.findall(r"<img[^>]*>", text):
            assert re.search(r'alt="[^"]+"', picture), f"{page.name}: {picture}"


def test_every_public_name_has_an_entry() -> None:
    listed = re.findall(
        r"^- `(\w+)`$", (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert sorted(listed) == [name for name in gainful.__all__ if not name.startswith("_")]


def test_every_page_is_in_the_list_of_all_pages() -> None:
    folders = ("tutorials", "how-to", "explanation", "reference")
    pages = {page for folder in folders for page in (ROOT / "docs" / folder).glob("*.md")}
    listed = re.findall(r"\]\(([^)#]+\.md)\)", (ROOT / "docs" / "index.md").read_text(encoding="utf-8"))
    assert pages <= {ROOT / "docs" / target for target in listed}


def test_words_are_spelled_well() -> None:
    command = [
        "codespell_lib",
        "--ignore-words",
        "tests/docs/words.txt",
        "--skip",
        "*.svg,*.js,*.css,words.txt,__pycache__",
    ]
    folders = ["docs", "src", "tests", *(str(page.relative_to(ROOT)) for page in ROOT.glob("*.md"))]
    done = subprocess.run(
        [sys.executable, "-m", *command, *folders], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines() == [], done.stderr


def test_guides_name_what_there_is() -> None:
    """Files that the guides for developers name exist, and have the names that stand before or after them."""
    for page in (ROOT / "docs" / "reference" / "design.md", ROOT / "CONTRIBUTING.md"):
        text = " ".join(page.read_text(encoding="utf-8").split())
        found = re.findall(r"(?:`([A-Za-z_.]+)(?:\(\))?`,? (?:\(|in |of ))?`([\w/]+\.(?:py|hpp|toml))`", text)
        assert len(found) > 20
        for name, file in found:
            matching = [*ROOT.glob(file), *(ROOT / "src").glob(f"**/{file}")]
            assert matching, f"{page.name}: there is no {file}"
            last = name.split(".")[-1]
            assert any(last in path.read_text() for path in matching), f"{page.name}: {file} has no {name}"


def test_generated_pages_are_current() -> None:
    spec = importlib.util.spec_from_file_location("make_pages", ROOT / "docs" / "make_pages.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    pages: dict[Path, str] = module.pages()
    expected = {path for path in pages if path.parent.name == "measures"}
    assert set((ROOT / "docs" / "reference" / "measures").glob("*.md")) == expected, "run `make docs`"
    for path, text in pages.items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: run `make docs`"


def test_what_builds_the_documentation_stays_short() -> None:
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in (ROOT / "docs").glob("*.py")) <= 600


def test_version_is_said_once() -> None:
    import tomllib

    from gainful import __version__

    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == __version__
    assert f"version: {__version__}" in (ROOT / "CITATION.cff").read_text()


def test_promises_name_tests_that_exist() -> None:
    named = re.findall(
        r"`(tests/[\w/.]+)`", (ROOT / "docs" / "reference" / "reliability.md").read_text(encoding="utf-8")
    )
    assert len(named) > 10
    assert [path for path in named if not (ROOT / path).is_file()] == []
