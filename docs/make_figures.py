"""Draw the figures of the gallery, by the commands on its page, and those on the papers' pages.

Run it through `make figures`. A new figure is a command and a picture on the page.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from gainful import simulate
from gainful.cli.main import run
from gainful.evaluation.simulation import System

GALLERY = Path(__file__).parent / "figures"
PAPERS = Path(__file__).parent / "explanation" / "papers"
#: Each paper's data.
PAPERS_DATA = {
    "jarvelin2000": "--qrels qrels.txt --runs '*.run*'",
    "jarvelin2002": "--qrels qrels.txt --runs '*.run*'",
    "jarvelin2008": "--qrels qrels.txt --sessions bm25-users.jsonl --sessions hybrid-users.jsonl",
    "scheel2011": "",
    "dellamea2004": "--qrels many/qrels.txt --runs many/runs --worst-share 0.9",
}
#: The systems that each agent tries, in this order.
AGENTS = {"keyword": ("tfidf", "bm25", "hybrid"), "neural": ("dense", "hybrid", "reranker")}
#: Per session: id, topic, results of the possible queries, number of results read.
_Sessions = Iterable[tuple[str, str, list[list[str]], int]]


def gallery_commands() -> list[tuple[str, str]]:
    """The name of each figure in the gallery, and the command that draws it."""
    page = (GALLERY / "README.md").read_text(encoding="utf-8")
    return [(name, command) for command, name in re.findall(r"^gainful (.* (\w+)\.svg)$", page, re.MULTILINE)]


def paper_figures(paper: str) -> list[str]:
    """The figures on a paper's page: figure-1, figure-2 and so on."""
    page = (PAPERS / f"{paper}.md").read_text(encoding="utf-8")
    return re.findall(rf"\(figures/{paper}-(\S+)\.svg\)", page)


def write_sessions() -> None:
    """Write the sessions of two agents with every topic; each stops at the second document of grade 3 in a top 5."""
    demo = simulate()
    for agent, systems in AGENTS.items():
        sessions = ((topic, topic, [list(demo.runs[system][topic]) for system in systems], 5) for topic in demo.qrels)
        _write(agent, sessions, demo.qrels)


def write_users() -> None:
    """Write the sessions of 15 users with each of two systems and four topics, as in jarvelin2008.

    A user's first queries are unlucky: their results begin at rank 40, 30, ... of the system's. Users look
    at the top 3 to the top 7 of each and stop at their second document of grade 3.
    """
    demo = simulate()
    for system in ("bm25", "hybrid"):
        sessions = (
            (f"{topic}-{user}", topic, [found[start:] for start in range(10 * (user % 5), -1, -10)], 3 + user % 5)
            for topic in list(demo.qrels)[:4]
            for found in [list(demo.runs[system][topic])]
            for user in range(15)
        )
        _write(f"{system}-users", sessions, demo.qrels)


def _write(name: str, sessions: _Sessions, qrels: dict[str, dict[str, int]]) -> None:
    with open(f"{name}.jsonl", "w", encoding="utf-8") as file:
        for session, topic, pages, depth in sessions:
            queries: list[dict[str, object]] = []
            for number, page in enumerate(pages, 1):
                queries.append({"query": f"query {number}", "results": page[:20]})
                if [qrels[topic].get(document) for document in page[:depth]].count(3) >= 2:
                    break
            file.write(json.dumps({"session": session, "topic": topic, "queries": queries}) + "\n")


def write_many_systems() -> None:
    """Write judgments and 30 simulated systems, better with each number."""
    systems = [System(f"system{i:02d}", 0.5 + i / 8) for i in range(30)]
    simulate(documents=1500, depth=200, systems=systems).write(Path("many/runs"))
    Path("many/runs/qrels.txt").rename("many/qrels.txt")


def draw(folder: Path) -> None:
    """Draw the gallery's figures into a folder."""
    with _in_demo():
        write_sessions()
        for name, command in gallery_commands():
            _run(shlex.split(command))
            shutil.copy(f"{name}.svg", folder)


def draw_papers(folder: Path, extra: dict[str, str] | None = None) -> None:
    """Draw the figures of the papers' pages into a folder; ``extra`` are more options of some."""
    with _in_demo():
        write_users()
        write_many_systems()
        for paper, data in PAPERS_DATA.items():
            options = shlex.split(f"{data} {(extra or {}).get(paper, '')}")
            only = [part for figure in paper_figures(paper) for part in ("--only", figure)]
            _run(["papers", paper, *options, *only, "--out", paper])
            for figure in paper_figures(paper):
                shutil.copy(f"{paper}/{figure}.svg", folder / f"{paper}-{figure}.svg")


@contextlib.contextmanager
def _in_demo() -> Iterator[None]:
    with tempfile.TemporaryDirectory() as demo, contextlib.chdir(demo):
        _run(["demo", "--out", "."])
        yield


def _run(arguments: Sequence[str]) -> None:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as errors:
        code = run(arguments)
    if code:
        sys.exit(f"{shlex.join(arguments)}\n{errors.getvalue()}")


if __name__ == "__main__":
    draw(GALLERY)
    draw_papers(PAPERS / "figures")
