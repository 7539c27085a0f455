"""Real collections beside the checkout: read by plain Python, and their runs by gainful, once for all tests."""

from __future__ import annotations

import gzip
from collections import defaultdict
from functools import cache
from pathlib import Path

from gainful import Run

SHARED_DATA = Path(__file__).parents[2].parent / "shared" / "data"
#: Judgments and runs.
COLLECTIONS = {
    "robust2005": ("robust2005/qrels.robust2005.txt", "robust2005/runs/*.gz"),
    "trec-covid/round1": ("trec-covid/round1/qrels.covid-round1.txt", "trec-covid/round1/runs/*.gz"),
    "dl-hard/passage": ("dl-hard/dl_hard-passage.qrels", "dl-hard/passage/*.run.gz"),
}


def qrels_path(name: str) -> Path:
    return SHARED_DATA / COLLECTIONS[name][0]


def run_paths(name: str) -> dict[str, Path]:
    return {path.name.removesuffix(".gz"): path for path in sorted(SHARED_DATA.glob(COLLECTIONS[name][1]))}


@cache
def runs(name: str) -> dict[str, Run]:
    """Studies of files read them again and again."""
    return {run: Run.read(path) for run, path in run_paths(name).items()}


@cache
def judgments(name: str) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for line in qrels_path(name).read_text().splitlines():
        query, _, document, grade = line.split()
        found.setdefault(query, {})[document] = int(grade)
    return found


@cache
def ranked(path: Path) -> dict[str, list[str]]:
    """The lists of a compressed run file: by falling score, equals by falling document id."""
    fields = gzip.decompress(path.read_bytes()).decode().split()
    assert len(fields) % 6 == 0
    lists: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for query, document, score in zip(fields[0::6], fields[2::6], map(float, fields[4::6]), strict=True):
        lists[query].append((score, document))
    return {query: [document for _, document in sorted(pairs, reverse=True)] for query, pairs in lists.items()}
