"""A small collection like LETOR 3.0's OHSUMED, written as its files, and the tables of what is found in it."""

from __future__ import annotations

import gzip
import math
import random
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from gainful.pages.page import Page, Table
from gainful_papers.claims import Study


class Document(NamedTuple):
    """A line of a LETOR file; NULL is below everything."""

    grade: float
    query: str
    name: str
    features: tuple[float, ...]


def line(document: Document) -> str:
    values = ("NULL" if math.isinf(value) else f"{value:.6f}" for value in document.features)
    features = " ".join(f"{number}:{value}" for number, value in enumerate(values, 1))
    return f"{document.grade:g} qid:{document.query} {features} #docid = {document.name}\n"


def made_up() -> list[Document]:
    """Five queries: one without anything relevant, one without the highest grade. Feature 41 may be NULL."""
    draw = random.Random(8)
    found = []
    for query, highest in (("1", 2), ("2", 2), ("3", 0), ("4", 1), ("10", 2)):
        for number in range(12):
            tf = float(draw.choice((0, 0, 1, 1, 2, 3)))
            bm25 = draw.uniform(1, 30) if tf else -math.inf
            features = [draw.uniform(0, 20) for _ in range(45)]
            features[0], features[8] = tf, round(tf * draw.uniform(2, 4), 3)
            features[4] = features[19] = float(query)
            features[40], features[41] = bm25, math.log(bm25) if tf else -math.inf
            rounded = tuple(value if math.isinf(value) else round(value, 6) for value in features)
            # The first two make sure of the grades.
            grade = highest if number == 0 else 1 if number == 1 and highest else draw.randint(0, highest)
            found.append(Document(float(grade), query, f"d{number:02}", rounded))
    return found


def write(folder: Path, documents: Sequence[Document], name: str = "Fold{}.testset.txt") -> Path:
    """Two files, the queries of which are not the same."""
    folder.mkdir(parents=True, exist_ok=True)
    first = {"1", "3"}
    for number, is_first in ((1, True), (2, False)):
        text = "".join(line(each) for each in documents if (each.query in first) == is_first)
        path = folder / name.format(number)
        if path.suffix == ".gz":
            path.write_bytes(gzip.compress(text.encode()))
        else:
            path.write_text(text.rstrip("\n"))  # the last line may lack its end
    return folder


def tables(found: Study, name: str) -> list[Table]:
    [section] = [section for section in found.sections if section.name == name]
    return list(Page("papers", section.parts).tables_for_machines)
