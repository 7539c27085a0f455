"""Draws the gallery: one figure a command, from the data that `gainful demo` makes, and the page that shows them; and
the figures of the papers' pages.

Run it through `make figures`. A figure more is an entry more in FIGURES.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from gainful.cli.main import run
from gainful.evaluation.simulation import System, simulate

GALLERY = Path(__file__).parent / "figures"
PAPERS = Path(__file__).parent / "explanation" / "papers" / "figures"


class Entry(NamedTuple):
    """A figure: its file's name, what is to be seen, and the command without `--figure`."""

    name: str
    about: str
    command: str

    @property
    def full_command(self) -> str:
        return f"gainful {self.command} --figure {self.name}.svg"


_ALL = "tfidf.run bm25.run dense.run.gz hybrid.run reranker.run"

FIGURES = (
    Entry(
        "gain",
        "What a user has gained by each rank, beside what the ideal list gives. Bands hold 95% of the bootstrap over "
        "queries.",
        f"curves qrels.txt {_ALL} -m CG -m nDCG@100",
    ),
    Entry(
        "ahead",
        "How far runs are ahead of a baseline, rank by rank: paired differences, with bands for all ranks at once.",
        f"curves qrels.txt {_ALL} -m nDCG@50 --baseline hybrid",
    ),
    Entry(
        "recall",
        "Precision at recall for every grade by itself, and for it and all above it.",
        f"curves qrels.txt {_ALL} --kind recall",
    ),
    Entry(
        "generalised",
        "Generalised precision at generalised recall: one curve for all grades.",
        f"curves qrels.txt {_ALL} --kind generalised",
    ),
    Entry(
        "plane",
        "Each document between the user's and the system's score: what is far from the line is over- or "
        "underestimated.",
        "papers plane qrels.txt bm25.run reranker.run --query q003 -m 'ADM(srs=minmax, over=judged)@100'",
    ),
    Entry(
        "sensitivity",
        "Who wins under which gains, discounts and depths, and how alike the orders of systems are.",
        f"sensitivity qrels.txt {_ALL} --gain flat,linear,tenfold --base 2,10 --at 10,100",
    ),
    Entry(
        "sessions",
        "What two agents have found after every document of every search. Their sessions are made of the demo's runs "
        "(`write_sessions` in docs/make_figures.py): an agent goes from one system to the next until it is content.",
        "sessions qrels.txt keyword.jsonl neural.jsonl",
    ),
    Entry(
        "positions",
        "The same agents' last searches, earlier ones and the best of each session by rank: what did they stop for?",
        "sessions qrels.txt keyword.jsonl neural.jsonl -m sDCG@20 --curves positions",
    ),
    Entry(
        "differences",
        "Two systems query by query: how many queries speak for which, and how much.",
        "compare qrels.txt bm25.run dense.run.gz",
    ),
    Entry(
        "leaderboard",
        "Several systems: lines that do not overlap are significantly different; beside them the rank range of each.",
        f"compare qrels.txt {_ALL} -m RR",
    ),
    Entry(
        "critical",
        "A critical-difference diagram, and the corrected p of every pair: randomised Tukey HSD.",
        f"compare qrels.txt {_ALL} --procedure rthsd --chart critical --chart p",
    ),
    Entry(
        "posterior",
        "What the scores make of a mean difference; between the lines the systems count as equivalent.",
        "compare qrels.txt hybrid.run reranker.run -m RR --test bayes --margin 0.05",
    ),
    Entry(
        "sequence",
        "A difference watched query by query, with limits that are valid however often one looks.",
        "compare qrels.txt tfidf.run reranker.run -m RR --sequential",
    ),
)


class PaperFigures(NamedTuple):
    """Figures of a paper that its page shows: what is computed, and the names of the figures."""

    paper: str
    options: str
    figures: tuple[str, ...]

    @property
    def files(self) -> list[str]:
        return [f"{self.paper}-{figure}.svg" for figure in self.figures]


PAPER_FIGURES = (
    PaperFigures("jarvelin2000", "--qrels qrels.txt --runs '*.run*'", ("figure-1", "figure-2", "figure-3")),
    PaperFigures("jarvelin2002", "--qrels qrels.txt --runs '*.run*'", ("figure-1", "figure-2", "figure-3", "figure-4")),
    PaperFigures(
        "jarvelin2008",
        "--qrels qrels.txt --sessions bm25-users.jsonl --sessions hybrid-users.jsonl",
        ("figure-1", "figure-2", "figure-3", "figure-4"),
    ),
    PaperFigures("scheel2011", "", ("figure-4", "figure-5")),
    PaperFigures(
        "dellamea2004",
        "--qrels many/qrels.txt --runs many/runs --worst-share 0.9",
        ("figure-7", "figure-8", "figure-9"),
    ),
)

#: Which systems each agent tries, one after the other.
AGENTS = {"keyword": ("tfidf", "bm25", "hybrid"), "neural": ("dense", "hybrid", "reranker")}


def write_sessions() -> None:
    """Sessions of two agents with all tasks of the demo; each stops at the second document of grade 3 in a top 5."""
    grades, found = _graded(), _found()
    for agent, systems in AGENTS.items():
        with open(f"{agent}.jsonl", "w", encoding="utf-8") as file:
            for topic, judged in grades.items():
                queries = _queries([found[system][topic][:20] for system in systems], judged, 5)
                file.write(json.dumps({"session": topic, "topic": topic, "queries": queries}) + "\n")


def write_users() -> None:
    """Sessions of 15 users with each of two systems and four tasks, as in jarvelin2008.

    A user's first queries are unlucky: they find what the system has from rank 40, 30, ... on. Users stop at the second
    document of grade 3 in what they look at, which is a top 3 to a top 7.
    """
    grades, found = _graded(), _found()
    for system in ("bm25", "hybrid"):
        with open(f"{system}-users.jsonl", "w", encoding="utf-8") as file:
            for topic in list(grades)[:4]:
                for user in range(15):
                    starts = range(10 * (user % 5), -1, -10)
                    pages = [found[system][topic][start : start + 20] for start in starts]
                    queries = _queries(pages, grades[topic], 3 + user % 5)
                    file.write(json.dumps({"session": f"{topic}-{user}", "topic": topic, "queries": queries}) + "\n")


def _queries(pages: Sequence[list[str]], judged: dict[str, str], seen: int) -> list[dict[str, object]]:
    """Queries with these results, up to the one that has two documents of grade 3 among the first ``seen``."""
    queries: list[dict[str, object]] = []
    for number, page in enumerate(pages, 1):
        queries.append({"query": f"query {number}", "results": page})
        if [judged.get(document) for document in page[:seen]].count("3") >= 2:
            break
    return queries


def _graded() -> dict[str, dict[str, str]]:
    grades: dict[str, dict[str, str]] = {}
    for topic, _, document, grade in _rows(Path("qrels.txt")):
        grades.setdefault(topic, {})[document] = grade
    return grades


def _found() -> dict[str, dict[str, list[str]]]:
    return {path.name.split(".")[0]: _ranked(path) for path in Path().glob("*.run*")}


def write_many_systems() -> None:
    """Judgments and 30 simulated systems, the better the higher their number, for what five systems are too few."""
    systems = [System(f"system{i:02d}", 0.5 + i / 8) for i in range(30)]
    folder = Path("many/runs")
    folder.mkdir(parents=True)
    simulate(documents=1500, depth=200, systems=systems).write(folder)
    (folder / "qrels.txt").rename("many/qrels.txt")


def _rows(path: Path) -> Iterator[list[str]]:
    data = path.read_bytes()
    text = gzip.decompress(data) if path.suffix == ".gz" else data
    return (line.split() for line in text.decode().splitlines())


def _ranked(path: Path) -> dict[str, list[str]]:
    """The documents of every query of a run, best first."""
    ranked: dict[str, dict[int, str]] = {}
    for topic, _, document, rank, *_ in _rows(path):
        ranked.setdefault(topic, {})[int(rank)] = document
    return {topic: [found[rank] for rank in sorted(found)] for topic, found in ranked.items()}


def gallery_page(entries: Sequence[Entry]) -> str:
    """The page that shows all figures, each with its command."""
    lines = [
        "# Gallery",
        "",
        "Figures as `gainful` draws them, from the collection that `gainful demo` makes. `make figures` draws them",
        "again; [Figures for papers and slides](../how-to/figures.md) says what can be chosen.",
        "",
    ]
    for entry in entries:
        lines += [entry.about, "", f"    {entry.full_command}", "", f"![{entry.name}]({entry.name}.svg)", ""]
    return "\n".join(lines)


def draw(entries: Sequence[Entry], folder: Path) -> None:
    """Draws figures into a folder that exists."""
    with tempfile.TemporaryDirectory() as demo, contextlib.chdir(demo):
        _run(["demo", "--out", "."])
        write_sessions()
        for entry in entries:
            _run(shlex.split(entry.full_command)[1:])
            shutil.copy(f"{entry.name}.svg", folder)


def draw_papers(entries: Sequence[PaperFigures], folder: Path) -> None:
    """Draws the figures of the papers' pages into a folder that exists."""
    with tempfile.TemporaryDirectory() as demo, contextlib.chdir(demo):
        _run(["demo", "--out", "."])
        write_users()
        write_many_systems()
        for entry in entries:
            only = [part for figure in entry.figures for part in ("--only", figure)]
            _run(["papers", entry.paper, *shlex.split(entry.options), *only, "--out", entry.paper])
            for figure, file in zip(entry.figures, entry.files, strict=True):
                shutil.copy(f"{entry.paper}/{figure}.svg", folder / file)


def _run(arguments: Sequence[str]) -> None:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as errors:
        code = run(arguments)
    if code:
        sys.exit(f"{shlex.join(arguments)}\n{errors.getvalue()}")


def main() -> None:
    GALLERY.mkdir(exist_ok=True)
    draw(FIGURES, GALLERY)
    for entry in FIGURES:
        print(f"docs/figures/{entry.name}.svg: {(GALLERY / f'{entry.name}.svg').stat().st_size / 1024:.0f} KB")
    (GALLERY / "README.md").write_text(gallery_page(FIGURES), encoding="utf-8")
    PAPERS.mkdir(exist_ok=True)
    draw_papers(PAPER_FIGURES, PAPERS)
    for file in (file for entry in PAPER_FIGURES for file in entry.files):
        print(f"docs/explanation/papers/figures/{file}: {(PAPERS / file).stat().st_size / 1024:.0f} KB")


if __name__ == "__main__":
    main()
