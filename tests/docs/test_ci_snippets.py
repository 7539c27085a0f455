"""What the page on gates says to paste into CI is run: the scripts of the action and of every snippet."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from gainful import freeze_gate

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "gate.md").read_text(encoding="utf-8")
QRELS = "".join(f"q{i} 0 a 2\nq{i} 0 b 0\n" for i in range(50))
GOOD, BAD = ("".join(f"q{i} Q0 {one} 1 2 t\nq{i} Q0 {two} 2 1 t\n" for i in range(50)) for one, two in ("ab", "ba"))


@pytest.fixture
def job(tmp_path, monkeypatch):
    """A checkout with a gate and a retriever, and what a runner has on its PATH; what it was told is remembered."""
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "base.run").write_text(GOOD)
    freeze_gate(str(tmp_path / "qrels.txt"), str(tmp_path / "base.run"), "nDCG@10").save(tmp_path / "gate.json")
    tools = tmp_path / "bin"
    tools.mkdir()
    scripts = {
        "gainful": f'exec "{sys.executable}" -m gainful "$@"',
        "pip": "true",
        "python3": "true",
        "gh": f'echo "$@" >> {tmp_path}/gh.txt; case "$*" in *--paginate*) cat {tmp_path}/before.txt;; esac',
    }
    for name, script in scripts.items():
        (tools / name).write_text(f"#!/bin/sh\n{script}\n")
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))

    def retrieve(content: str) -> Path:
        (tmp_path / "retrieve.sh").write_text(f"#!/bin/sh\ncat <<'END'\n{content}END\n")
        (tmp_path / "retrieve.sh").chmod(0o755)
        (tmp_path / "new.run").write_text(content)
        return tmp_path

    return retrieve


def bash(script: str, folder: Path, **environment: str) -> int:
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env={**os.environ, **environment},
        check=False,
        capture_output=True,
    ).returncode


def block(kind: str, word: str) -> str:
    [found] = [text for text in re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL) if word in text]
    return found


@pytest.mark.parametrize(("content", "code"), [(GOOD, 0), (BAD, 1)])
def test_action(job, content, code):
    folder = job(content)
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    steps = {step["name"]: step for step in action["runs"]["steps"]}
    given = {"GATE": "gate.json", "QRELS": "qrels.txt", "RUNS": "new.run", "STRICT": "", "PACKAGE": "gainful"}
    given |= {"ITEMS": "", "REPORT": str(folder / "report.md"), "NUMBER": "7", "REPOSITORY": "us/search"}
    (folder / "before.txt").write_text("")
    assert {name for step in steps.values() for name in step["env"]} - {"GH_TOKEN"} == set(given)
    assert bash(steps["Install"]["run"], folder, **given) == 0
    assert bash(steps["Check"]["run"], folder, **given) == code
    assert bash(steps["Comment"]["run"], folder, **given) == 0
    assert (folder / "report.md").read_text().startswith("<!-- gainful gate -->\n## ")
    assert (folder / "summary.md").read_text() == (folder / "report.md").read_text()
    assert (folder / "gh.txt").read_text().splitlines()[-1].startswith("pr comment 7 --body-file")
    (folder / "before.txt").write_text("11\n12\n")  # the next one replaces it
    assert bash(steps["Comment"]["run"], folder, **given) == 0
    last = (folder / "gh.txt").read_text().splitlines()[-1]
    assert last.startswith("api --method PATCH repos/us/search/issues/comments/11 --field body=@")
    step = yaml.safe_load(block("yaml", "gainful-gate\n        with"))["jobs"]["gate"]["steps"][-1]
    assert set(step["with"]) <= set(action["inputs"])
    # The folders that the page has one fill are those that are used.
    filled = block("sh", "action.yml")
    assert f"{step['uses'].removeprefix('./')}/\n" in filled and "--wheel-dir wheels " in filled
    assert step["with"]["package"] == "wheels/*.whl" and "OWNER" not in PAGE


@pytest.mark.parametrize(("content", "code"), [(GOOD, 0), (BAD, 1)])
def test_gitlab_and_jenkins(job, content, code):
    folder = job(content)
    gitlab = yaml.safe_load(block("yaml", "artifacts:"))["gate"]
    assert bash("\n".join(gitlab["script"]), folder) == code
    assert (folder / gitlab["artifacts"]["reports"]["junit"]).read_text().startswith("<?xml")
    (folder / "gate.xml").unlink()
    assert bash("\n".join(re.findall(r"sh '(.*)'", block("groovy", "stage"))), folder) == code
    assert (folder / "gate.xml").exists()


@pytest.mark.parametrize(("content", "code"), [(GOOD, 0), (BAD, 1)])
def test_pre_commit(job, content, code):
    folder = job(content)
    [hook] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    [used] = yaml.safe_load(block("yaml", "hooks:"))["repos"][0]["hooks"]
    assert used["entry"] == hook["entry"] and used["pass_filenames"] is hook["pass_filenames"] is False
    assert bash(shlex.join([*used["entry"].split(), *used["args"]]), folder) == code


def test_pytest(job):
    folder = job(BAD)
    snippet = block("python", "gainful_gate").replace('{"q1": ["passage-7", "passage-2"]}', '"new.run"')
    (folder / "test_retrieval.py").write_text(snippet)
    plugin = ["-p", "gainful.pytest_plugin", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *plugin, "test_retrieval.py"],
        cwd=folder,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "Regression: nDCG@10 fell by" in done.stdout
