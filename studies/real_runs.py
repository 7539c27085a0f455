"""Where public runs lose nDCG@10, and what a random order of their documents keeps."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from matrices import markdown

from gainful import Evaluations, evaluate

_MEASURE = "nDCG@10"
#: Judgments and the folder of runs of each collection, beside the score matrices.
_COLLECTIONS = {
    "TREC 2005 Robust": ("robust2005/qrels.robust2005.txt", "robust2005/runs"),
    "DL-HARD": ("dl-hard/dl_hard-passage.qrels", "dl-hard/passage"),
    "TREC-COVID round 1": ("trec-covid/round1/qrels.covid-round1.txt", "trec-covid/round1/runs"),
}


def _evaluated(folder: Path, **options: object) -> Iterator[tuple[str, Evaluations]]:
    for title, (qrels, runs) in _COLLECTIONS.items():
        files = {each.name: each for each in sorted((folder.parent / runs).glob("*.gz")) if ".eval." not in each.name}
        yield title, evaluate(folder.parent / qrels, files, _MEASURE, **options)  # type: ignore[call-overload]


def losses(folder: Path) -> str:
    """Return the median shares of the parts of 1 - nDCG@10."""
    parts = ("order", "11-100", "101-1000", "not retrieved")
    found = {}
    for title, runs in _evaluated(folder, loss=True):
        lost = [each.beside("loss", _MEASURE) for each in runs.values()]
        found[title] = np.array([[each[part] / sum(each.values()) for part in parts] for each in lost])
    found["all"] = np.concatenate([*found.values()])
    rows = [[title, str(len(of)), *(f"{share:.0%}" for share in np.median(of, axis=0))] for title, of in found.items()]
    return markdown(["collection", "runs", *parts], rows)


def shuffled(folder: Path) -> str:
    """Return the share of nDCG@10 that runs keep on average if their top 100 are shuffled."""
    found = {}
    for title, runs in _evaluated(folder, chance=True, depth=100):
        found[title] = np.array(
            [each.beside("chance", _MEASURE)["chance"] / each.mean(_MEASURE) for each in runs.values()]
        )
    found["all"] = np.concatenate([*found.values()])
    rows = [
        [title, str(kept.size), *(f"{share:.0%}" for share in (np.median(kept), kept.min(), kept.max()))]
        for title, kept in found.items()
    ]
    return markdown(["collection", "runs", "median", "lowest", "highest"], rows)
