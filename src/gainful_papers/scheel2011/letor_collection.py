"""OHSUMED as LETOR 3.0 has it: found in a folder, checked, and read as grades and strategies."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from gainful import InputError, Run, UsageError
from gainful.io.sources import open_source

#: What LETOR 3.0 has of OHSUMED.
QUERIES, PAIRS, FEATURES = 106, 16_140, 45

_FOLDER = "Feature-null"
_HINT = f"--letor wants the OHSUMED collection of LETOR 3.0 with raw features: its folder {_FOLDER} (five test sets)"
#: So many lines with a fault are shown.
_MOST_SHOWN = 3
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)

Values = dict[str, dict[str, float]]


class Strategy(NamedTuple):
    """A feature that ranks documents: its number in the paper and in LETOR 3.0, what it is, and of which text."""

    printed: int
    feature: int
    what: str
    field: str

    @property
    def name(self) -> str:
        return f"{self.feature} {self.what} of {self.field}"


#: LETOR 3.0 has 15 features each of the title, the abstract and both; the paper's release had the first 10 of the title
#: and of the abstract, and the last 5 of both.
STRATEGIES = (
    Strategy(1, 1, "TF", "title"),
    Strategy(5, 5, "IDF", "title"),
    Strategy(9, 9, "TF-IDF", "title"),
    Strategy(11, 16, "TF", "abstract"),
    Strategy(15, 20, "IDF", "abstract"),
    Strategy(19, 24, "TF-IDF", "abstract"),
    Strategy(21, 41, "BM25", "both"),
    Strategy(22, 42, "log BM25", "both"),
)


@dataclass(frozen=True, eq=False)
class Collection:
    """Judged documents by query: what people say of each, and its features; NULL is below all other values."""

    grades: Values
    features: Mapping[int, Values]
    null_counts: Mapping[int, int]

    def runs(self) -> dict[str, Run]:
        """Every strategy as a run."""
        return {each.name: Run.from_dict(self.features[each.feature], name=each.name) for each in STRATEGIES}

    def values(self, feature: int) -> list[float]:
        """A feature of all documents, always in the same order."""
        return [self.features[feature][query][document] for query, of in self.grades.items() for document in of]

    @property
    def pairs(self) -> int:
        """How many documents are judged, over all queries."""
        return sum(map(len, self.grades.values()))

    @property
    def is_whole(self) -> bool:
        """Whether it has as many queries and judged documents as LETOR 3.0."""
        return (len(self.grades), self.pairs) == (QUERIES, PAIRS)


def read_collection(folder: str | os.PathLike[str]) -> Collection:
    """The collection in a folder: in its files, or in those of the folder Feature-null that it has."""
    if not isinstance(folder, (str, os.PathLike)):
        raise UsageError(f"letor: expected the path of a folder, found {folder!r}", _HINT)
    root = Path(folder)
    if not root.is_dir():
        found = "a file" if root.exists() else "nothing there"
        raise InputError(f"{folder}: expected a folder with LETOR files, found {found}", _HINT)
    root = next((path for path in (root / _FOLDER, root / "Feature_null") if path.is_dir()), root)
    grades: Values = {}
    features: dict[int, Values] = {strategy.feature: {} for strategy in STRATEGIES}
    nulls: dict[int, list[tuple[str, str]]] = {feature: [] for feature in features}
    homes: dict[str, Path] = {}
    for path, lines in _letor_files(root):
        for grade, query, document, texts in _rows(path, lines):
            if homes.setdefault(query, path) != path:
                raise InputError(
                    f"{path}: expected every query in one file, found '{query}', which {homes[query]} has, too",
                    "the five test sets are the whole collection; training sets repeat it",
                )
            grades.setdefault(query, {})[document] = grade
            for feature, values in features.items():
                if texts[feature] == "NULL":
                    nulls[feature].append((query, document))
                else:
                    values.setdefault(query, {})[document] = float(texts[feature])
    if not grades:
        raise InputError(f"{root}: expected LETOR files, found none", _HINT)
    known = {
        feature: [value for of in values.values() for value in of.values()] for feature, values in features.items()
    }
    if all(0 <= value <= 1 for values in known.values() for value in values):
        raise InputError(f"{root}: expected raw features, found normalised ones, all from 0 to 1", _HINT)
    for feature, without in nulls.items():
        for query, document in without:
            features[feature].setdefault(query, {})[document] = min(known[feature], default=0.0) - 1
    return Collection(grades, features, {feature: len(without) for feature, without in nulls.items()})


def _letor_files(root: Path) -> Iterator[tuple[Path, list[str]]]:
    """The test sets, which together are everything, with their lines; where no file says that it is one, all files."""
    files = sorted(path for path in root.rglob("*") if path.is_file() and not path.name.startswith("."))
    for path in [path for path in files if "test" in path.name.lower()] or files:
        content = bytes(open_source(path).data).decode("utf-8-sig", "replace")
        lines = content.replace("\r\n", "\n").split("\n")
        first = next((line.split() for line in lines if line.partition("#")[0].strip()), [])
        if len(first) > 1 and first[1].startswith("qid:"):
            yield path, lines


#: A line: its grade, query and document, and the texts of its features.
_Row = tuple[float, str, str, dict[int, str]]


def _rows(path: Path, lines: list[str]) -> list[_Row]:
    """The rows of a file; lines that lack something, or have it twice, are refused together.

    Elsewhere in LETOR what is missing is 0, but here every line has everything, unless it was cut off.
    """
    faults: list[str] = []
    is_cut = False
    seen: dict[tuple[str, str], int] = {}
    rows: list[_Row] = []
    for number, line in enumerate(lines, 1):
        fields, _, comment = line.partition("#")
        if not fields.strip():
            continue
        grade, query, *pairs = [*fields.split(), ""] if len(fields.split()) == 1 else fields.split()
        query, document = query.removeprefix("qid:"), comment.partition("docid")[2].strip(" \t=").partition(" ")[0]
        features = [(int(name), text) for name, _, text in (pair.partition(":") for pair in pairs) if name.isdecimal()]
        counts = Counter(feature for feature, _ in features)
        if len(counts) > FEATURES:
            raise InputError(f"{path}: expected {FEATURES} features, found {len(counts)}", _HINT)
        missing = next((feature for feature in range(1, FEATURES + 1) if not counts[feature]), None)
        twice = next(((feature, count) for feature, count in counts.items() if count > 1), None)
        values = [grade, *(text for _, text in features if text != "NULL")]
        wrong = [text for text in values if not _NUMBER.fullmatch(text)]
        first = seen.setdefault((query, document), number)
        expected, found = f"the features 1 to {FEATURES} and `#docid = document`", ""
        if wrong:
            expected, found = "numbers", f"'{wrong[0]}'"
        elif missing or not document:
            is_cut, found = True, f"no feature {missing}" if missing else "no document"
        elif twice:
            found = f"feature {twice[0]} {'twice' if twice[1] == 2 else f'{twice[1]} times'}"
        elif first != number:
            expected = "every document once"
            found = f"'{document}' again for query '{query}' (first: line {first})"
        if found:
            faults.append(f"{path}:{number}: expected {expected}, found {found}\n    {line[:100]}")
        else:
            rows.append((float(grade), query, document, dict(features)))
    if faults:
        more = len(faults) - _MOST_SHOWN
        shown = [*faults[:_MOST_SHOWN], *([f"... and {more} more like these"] if more > 0 else [])]
        once = "a line of OHSUMED in LETOR 3.0 has each of these once, and a query every document"
        raise InputError(
            "\n".join(shown), f"was the file cut off? {once}" if is_cut else f"keep one of the lines: {once}"
        )
    return rows
