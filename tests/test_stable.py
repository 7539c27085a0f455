"""The promises of docs/reference/stable.md hold: signatures and formats equal those recorded in stable.txt.

Run `GAINFUL_RENEW_STABLE=1 python -m pytest tests/test_stable.py` after an intended change, look at the difference, and
name it in the changelog.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import gainful
from gainful.cli.main import run

SNAPSHOT = Path(__file__).parent / "stable.txt"

ALL = "qrels.txt bm25.run dense.run.gz hybrid.run"
#: Commands that write JSON lines and CSV, run in the demo's folder.
COMMANDS = (
    "eval qrels.txt bm25.run --by-query",
    "compare qrels.txt bm25.run dense.run.gz",
    f"compare {ALL}",
    "curves qrels.txt bm25.run dense.run.gz --baseline bm25",
    "curves qrels.txt bm25.run --kind recall",
    "sessions topics.txt sessions.jsonl --by-session",
    "explain nDCG@10",
    "explain nDCG@10 --qrels qrels.txt --run bm25.run --query q001",
    "measures",
    "check qrels.txt ties.run",
    "judgments qrels.txt",
    "diff bm25.run dense.run.gz",
    "sensitivity qrels.txt bm25.run dense.run.gz",
    f"agree {ALL}",
    "power qrels.txt bm25.run dense.run.gz",
    f"stability {ALL}",
    "gate history gate.json",
)
#: Objects whose keys are names, and keys that are names wherever they are.
BY_NAME = (".measures", ".tests", ".depths", ".averages", ".parameters")
IS_NAME = re.compile(r"@|^(AP|RR|bm25|dense|hybrid)\b")


def parameters(value: Callable[..., Any]) -> str:
    """A signature without annotations."""
    found = inspect.signature(value).parameters.values()
    return str(inspect.Signature([each.replace(annotation=each.empty) for each in found]))


def members(kind: type) -> Iterator[str]:
    """The public methods, properties and fields that a class has from gainful."""
    owners = [each for each in kind.__mro__ if each.__module__.startswith("gainful")]
    names = {name for each in owners for name in (*vars(each), *getattr(each, "__annotations__", ()))}
    for name in sorted(name for name in names if not name.startswith("_")):
        value = inspect.getattr_static(kind, name, None)
        function = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
        yield name + (parameters(function) if inspect.isfunction(function) else "")


def public_names() -> Iterator[str]:
    for name in sorted(gainful.__all__):
        value = getattr(gainful, name)
        if inspect.isfunction(value):
            yield f"{name}{parameters(value)}"
        elif inspect.isclass(value):
            made_of = "" if issubclass(value, (Warning, dict)) else ", ".join(inspect.signature(value).parameters)
            yield f"class {name}({made_of})"
            yield from (f"    {member}" for member in members(value))
        else:
            yield name


def fields(value: Any, path: str = "") -> Iterator[str]:
    """The paths of the fields in a JSON value. Keys that name systems, measures and parameters become *."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from fields(inner, f"{path}.{'*' if path in BY_NAME or IS_NAME.search(key) else key}")
    elif isinstance(value, list) and value and isinstance(value[0], (dict, list)):
        for inner in value:
            yield from fields(inner, f"{path}[]")
    else:
        yield path.removeprefix(".")


def records(text: str) -> Iterator[str]:
    """The kinds of lines in JSON lines, each with its fields."""
    kinds: dict[str, None] = {}
    for line in text.splitlines():
        kinds[f"    {', '.join(dict.fromkeys(fields(json.loads(line))))}"] = None
    yield from kinds


@pytest.fixture
def folder(demo_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The demo, with a gate, a run full of ties, and sessions."""
    found = shutil.copytree(demo_files, tmp_path / "demo")
    monkeypatch.chdir(found)
    Path("ties.run").write_text("".join(f"q001 Q0 d{i:06d} {i} 1 ties\n" for i in range(1, 60)))
    Path("topics.txt").write_text("t 0 a 2\nt 0 b 1\n")
    queries = [{"query": "one", "results": ["x", "b"]}, {"query": "two", "results": ["a"]}]
    Path("sessions.jsonl").write_text(json.dumps({"session": "s", "topic": "t", "queries": queries}) + "\n")
    assert run(shlex.split("gate init qrels.txt bm25.run -m nDCG@10 -o gate.json -q")) == 0
    return found


def formats(capsys: pytest.CaptureFixture[str]) -> Iterator[str]:
    capsys.readouterr()
    for command in COMMANDS:
        yield f"gainful {command} --format jsonl"
        code = run([*shlex.split(command), "--format", "jsonl", "-q"])
        printed = capsys.readouterr()
        assert code in (0, 1), (command, printed.err)
        yield from records(printed.out)
        assert run([*shlex.split(command), "--format", "csv", "-q"]) == code
        header = next(line for line in capsys.readouterr().out.splitlines() if not line.startswith("#"))
        yield f"    csv: {header}"
    yield "gate.json"
    yield from records(json.dumps(json.loads(Path("gate.json").read_text(encoding="utf-8"))))


def test_exit_codes_are_stable() -> None:
    page = (Path(__file__).parents[1] / "docs" / "reference" / "stable.md").read_text(encoding="utf-8")
    errors = (gainful.GainfulError, gainful.UsageError, gainful.InputError, gainful.MissingExtraError)
    assert [each.exit_code for each in errors] == [70, 2, 3, 2]
    assert re.findall(r"^\| (\d+) \|", page, re.MULTILINE) == ["0", "1", "2", "3", "70", "129", "130", "143"]


def test_public_names_and_formats_are_stable(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = "\n".join(["# Public names", "", *public_names(), "", "# Formats", "", *formats(capsys), ""])
    if os.environ.get("GAINFUL_RENEW_STABLE"):
        SNAPSHOT.write_text(found, encoding="utf-8")
    renew = "intended? GAINFUL_RENEW_STABLE=1 python -m pytest tests/test_stable.py"
    assert found.splitlines() == SNAPSHOT.read_text(encoding="utf-8").splitlines(), renew
