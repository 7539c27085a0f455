"""What is generated and where it lies. Loads nothing heavy: see `processes.py` for why."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / "build" / "bench"
GENERATOR = HERE / "generate.py"


@dataclass(frozen=True)
class Dataset:
    """A run of `queries` lists of `depth` documents; of `judged` documents a query, `found` are in its list."""

    queries: int
    depth: int
    judged: int
    found: int

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
        """Whether both files are there and no older than what describes them."""
        recipe = max(file.stat().st_mtime for file in (GENERATOR, Path(__file__)))
        return all(file.exists() and file.stat().st_mtime >= recipe for file in (self.qrels, self.run))


#: As TREC Deep Learning: few queries, some 200 judged documents each.
SMALL = Dataset(50, 1000, judged=200, found=130)
#: Deeply judged, as a pooled collection of many topics.
JUDGED = Dataset(1000, 1000, judged=600, found=400)
#: As the MS MARCO passage ranking development set: many queries, few judged documents.
LARGE = Dataset(6980, 1000, judged=3, found=2)
#: A tenth of the large one, to see what grows.
TENTH = Dataset(698, 1000, judged=3, found=2)

DATASETS = {dataset.name: dataset for dataset in (SMALL, JUDGED, TENTH, LARGE)}


def make(dataset: Dataset) -> None:
    """Generates what is not there yet."""
    if not dataset.is_ready():
        print(f"generating {dataset.name}", file=sys.stderr, flush=True)
        subprocess.run([sys.executable, str(GENERATOR), dataset.name], check=True)


def warm(*files: Path) -> None:
    """Reads files once, so that no tool pays for the disk."""
    for file in files:
        with file.open("rb", buffering=0) as stream:
            while stream.read(1 << 20):
                pass
