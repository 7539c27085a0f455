"""What is generated and where it lies. Loads nothing heavy: see `processes.py` for why."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / "build" / "bench"
GENERATOR = HERE / "generate.py"
PARQUET_GENERATOR = HERE / "generate_parquet.py"


@dataclass(frozen=True)
class Dataset:
    """A run of `queries` lists of `depth` documents; of `judged` documents a query, `found` are in its list.

    Where many are judged, they are a pool, of which most are not relevant."""

    queries: int
    depth: int
    judged: int
    found: int
    pooled: bool = True

    @property
    def name(self) -> str:
        return f"{self.queries}x{self.depth}"

    @property
    def qrels(self) -> Path:
        return BUILD / "generated" / f"{self.name}.qrels"

    @property
    def run(self) -> Path:
        return BUILD / "generated" / f"{self.name}.run"

    def is_ready(self) -> bool:
        """Whether both files exist and are no older than their description."""
        recipe = max(file.stat().st_mtime for file in (GENERATOR, Path(__file__)))
        return all(file.exists() and file.stat().st_mtime >= recipe for file in (self.qrels, self.run))


#: As TREC Deep Learning: few queries, some 200 judged documents each.
SMALL = Dataset(50, 1000, judged=200, found=130)
#: Deeply judged, as a pooled collection of many topics.
JUDGED = Dataset(1000, 1000, judged=600, found=400)
#: As the MS MARCO passage ranking development set: many queries, few judged documents.
LARGE = Dataset(6980, 1000, judged=3, found=2)
#: A tenth of the large one, to show growth.
TENTH = Dataset(698, 1000, judged=3, found=2)

#: As a gate in CI has it: many queries, short lists.
GATED = Dataset(1000, 100, judged=20, found=15)

#: As many rows and judgments, once in very many small queries, once in few large ones.
MANY, FEW = Dataset(2_000_000, 3, judged=3, found=2), Dataset(6_000, 1000, judged=1000, found=667, pooled=False)

DATASETS = {dataset.name: dataset for dataset in (SMALL, JUDGED, TENTH, LARGE, GATED, MANY, FEW)}


def make(dataset: Dataset) -> None:
    """Generates what is not there yet."""
    if not dataset.is_ready():
        print(f"generating {dataset.name}", file=sys.stderr, flush=True)
        subprocess.run([sys.executable, str(GENERATOR), dataset.name], check=True)


def make_sessions(count: int) -> tuple[Path, Path]:
    """Judgments of 50 topics and, as JSON lines, sessions of 4 queries x 10 documents: what is not there is written."""
    qrels, sessions = (BUILD / "generated" / f"{count}-sessions.{ending}" for ending in ("qrels", "jsonl"))
    recipe = Path(__file__).stat().st_mtime
    if all(file.exists() and file.stat().st_mtime >= recipe for file in (qrels, sessions)):
        return qrels, sessions
    qrels.parent.mkdir(parents=True, exist_ok=True)
    judged = (f"t{topic} 0 t{topic}-d{i} {i % 4}\n" for topic in range(50) for i in range(0, 1000, 7))
    qrels.write_text("".join(judged), encoding="utf-8")
    with sessions.open("w", encoding="utf-8") as out:
        out.writelines(json.dumps(_session(i)) + "\n" for i in range(count))
    return qrels, sessions


def make_systems(count: int) -> Path:
    """A folder with judgments and the runs of so many systems, 50 queries x 1,000 documents each."""
    folder, generator = BUILD / "generated" / f"{count}-systems", HERE / "generate_systems.py"
    complete = folder / "complete"
    if not complete.exists() or complete.stat().st_mtime < generator.stat().st_mtime:
        print(f"generating {count} systems", file=sys.stderr, flush=True)
        subprocess.run([sys.executable, str(generator), str(folder), str(count)], check=True)
    return folder


def make_parquet(rows: int, depth: int) -> Path:
    """A folder with judgments and as many results as parquet, sorted by query, so many a query."""
    folder = BUILD / "generated" / f"{rows // depth}x{depth}-parquet"
    complete = folder / "complete"
    if not complete.exists() or complete.stat().st_mtime < PARQUET_GENERATOR.stat().st_mtime:
        print(f"generating {folder.name}", file=sys.stderr, flush=True)
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, str(PARQUET_GENERATOR), str(folder), str(rows), str(depth)], check=True)
        complete.touch()
    return folder


def as_parquet(dataset: Dataset) -> Path:
    """The run of a dataset as parquet."""
    make(dataset)
    target = dataset.run.with_suffix(".parquet")
    if not target.exists() or target.stat().st_mtime < dataset.run.stat().st_mtime:
        subprocess.run([sys.executable, str(PARQUET_GENERATOR), str(dataset.run), str(target)], check=True)
    return target


def _session(number: int) -> dict[str, object]:
    topic = number % 50
    pages = [[f"t{topic}-d{(number * 7 + q * 13 + r) % 1000}" for r in range(10)] for q in range(4)]
    queries = [{"query": f"query {q}", "results": page} for q, page in enumerate(pages)]
    return {"session": f"s{number:07d}", "topic": f"t{topic}", "queries": queries}


def warm(*files: Path) -> None:
    """Reads files once, so that no tool pays for the disk."""
    for file in files:
        with file.open("rb", buffering=0) as stream:
            while stream.read(1 << 20):
                pass
