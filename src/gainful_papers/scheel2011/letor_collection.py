"""OHSUMED as LETOR 3.0 has it: found in a folder, checked, and read as grades and strategies."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gainful.data.qrels import Qrels
from gainful.data.run import Run
from gainful.errors import InputError, UsageError
from gainful.io.delimited import feature_count, null_count, read_letor
from gainful.io.formats import Reading, first_line
from gainful.io.rows import MOST_SHOWN, Rows, duplicate_message, input_error, line_text
from gainful.io.sources import Text, open_source
from gainful.kernel import core
from gainful.kernel.arrays import Floats
from gainful.notation import printable

#: What LETOR 3.0 has of OHSUMED.
QUERIES, PAIRS, FEATURES = 106, 16_140, 45

_FOLDER = "Feature-null"
_HINT = f"--letor wants the OHSUMED collection of LETOR 3.0 with raw features: its folder {_FOLDER} (five test sets)"

#: A line that has everything once, and what begins with a feature's number.
_COMPLETE = re.compile(
    rb"\S+[ \t]+qid:\S+%s[ \t]+#[ \t]*docid[ \t]*=[ \t]*\S"
    % b"".join(rb"[ \t]+%d:\S+" % feature for feature in range(1, FEATURES + 1))
)
_FEATURE = re.compile(rb"(?<=[ \t])(\d+):")


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
    """Judged documents as vectors of features; ``text`` has all of them, wherever they came from."""

    text: Text

    @cached_property
    def human(self) -> Rows:
        """What people judged."""
        return read_letor(self.text, Reading("letor"), run=False)

    @cached_property
    def features(self) -> dict[int, Rows]:
        """The strategies' scores by the number of the feature; NULL is below all other values."""
        return {
            strategy.feature: read_letor(self.text, Reading("letor", feature=strategy.feature), run=True)
            for strategy in STRATEGIES
        }

    @cached_property
    def null_counts(self) -> dict[int, int]:
        """How many documents have no value of a feature."""
        return {feature: null_count(self.text, feature) for feature in self.features}

    def runs(self) -> dict[str, Run]:
        """Every strategy as a run."""
        return {strategy.name: Run.from_rows(self.features[strategy.feature], strategy.name) for strategy in STRATEGIES}

    @cached_property
    def is_whole(self) -> bool:
        """Whether it has as many queries and judged documents as LETOR 3.0."""
        human = self.human_run
        return (len(human.query_ids), len(human)) == (QUERIES, PAIRS)

    @cached_property
    def human_run(self) -> Run:
        """The documents in the order of people's grades."""
        return Run.from_rows(self.human, "human grades")


def values_of(rows: Rows) -> Floats:
    """The values of rows that have them."""
    return np.zeros(0) if rows.value is None else rows.value


def read_collection(folder: str | os.PathLike[str]) -> Collection:
    """The collection in a folder: in its files, or in those of the folder Feature-null that it has."""
    if not isinstance(folder, (str, os.PathLike)):
        raise UsageError(f"letor: expected the path of a folder, found {folder!r}", _HINT)
    root = Path(folder)
    if not root.is_dir():
        found = "a file" if root.exists() else "nothing there"
        raise InputError(f"{folder}: expected a folder with LETOR files, found {found}", _HINT)
    root = next((path for path in (root / _FOLDER, root / "Feature_null") if path.is_dir()), root)
    texts = list(_letor_texts(root))
    if not texts:
        raise InputError(f"{root}: expected LETOR files, found none", _HINT)
    collection = Collection(_together(texts, str(root)))
    _check(collection)
    return collection


def _letor_texts(root: Path) -> Iterator[Text]:
    """The test sets, which together are everything; where no file says that it is one, all files."""
    files = sorted(path for path in root.rglob("*") if path.is_file() and not path.name.startswith("."))
    for path in [path for path in files if "test" in path.name.lower()] or files:
        text = open_source(path)
        fields = first_line(text.head).split()
        if len(fields) > 1 and fields[1].startswith(b"qid:"):
            yield text


def _together(texts: list[Text], name: str) -> Text:
    """One text of several; each is read by itself first, so that messages name its file."""
    seen: dict[bytes, str] = {}
    for text in texts:
        rows = read_letor(text, Reading("letor"), run=False)
        _check_features(text)
        _check_documents(rows)
        for query in Qrels.from_rows(rows, text.name).query_ids:
            if query in seen:
                raise InputError(
                    f"{text.name}: expected every query in one file, found '{printable(query)}', "
                    f"which {seen[query]} has, too",
                    "the five test sets are the whole collection; training sets repeat it",
                )
            seen[query] = text.name
    ended = [part for text in texts for part in (text.data, np.frombuffer(b"\n", np.uint8))]
    return Text.of_view(np.concatenate(ended), name)


def _check_features(text: Text) -> None:
    """Refuses other collections, and lines that lack something: elsewhere in LETOR what is missing is 0, but here every
    line has everything, unless it was cut off."""
    features = feature_count(text)
    if features != FEATURES:
        raise InputError(f"{text.name}: expected {FEATURES} features, found {features}", _HINT)
    messages: list[str] = []
    count = offset = 0
    is_cut = False
    for number, line in enumerate(text.data.tobytes().split(b"\n"), 1):
        fault = "" if _COMPLETE.match(line) else _fault(line)
        if fault:
            count += 1
            is_cut = is_cut or fault.startswith("no ")
            if len(messages) < MOST_SHOWN:
                messages.append(
                    f"{text.name}:{number}: expected the features 1 to {FEATURES} and `#docid = document`, "
                    f"found {fault}\n    {line_text(text.data, offset)}"
                )
        offset += len(line) + 1
    if count:
        once = "a line of OHSUMED in LETOR 3.0 has each of these once"
        raise input_error(messages, count, f"was the file cut off? {once}" if is_cut else once)


def _fault(line: bytes) -> str:
    """The first thing that a line lacks, or has twice; nothing if its features are only in another order, or if it has
    no row."""
    fields, _, comment = line.partition(b"#")
    if not fields.strip(b" \t\r\xef\xbb\xbf"):
        return ""
    counts = Counter(map(int, _FEATURE.findall(fields)))
    for feature in range(1, FEATURES + 1):
        if not counts[feature]:
            return f"no feature {feature}"
    if not re.search(rb"\bdocid[ \t]*=[ \t]*\S", comment):
        return "no document"
    return next((f"feature {feature} {_times(count)}" for feature, count in counts.items() if count > 1), "")


def _times(count: int) -> str:
    return "twice" if count == 2 else f"{count} times"


def _check_documents(rows: Rows) -> None:
    """Refuses a document that stands twice in a query, whether its grades are the same or not."""
    query_ids, query = core.number_ids(*rows.query)
    document_ids, document = core.number_ids(*rows.document)
    first_row: dict[tuple[int, int], int] = {}
    messages: list[str] = []
    count = 0
    for row, pair in enumerate(zip(query.tolist(), document.tolist(), strict=True)):
        first = first_row.setdefault(pair, row)
        if first != row:
            count += 1
            if len(messages) < MOST_SHOWN:
                found = duplicate_message(document_ids[pair[1]], query_ids[pair[0]], rows.origin.place(first))
                messages.append(f"{rows.origin.where(row)}: {found}{rows.origin.shown(row)}")
    if count:
        raise input_error(messages, count, "keep one of the lines: in LETOR 3.0 a query has every document once")


def _check(collection: Collection) -> None:
    is_normalised = all(
        values.min() >= 0 and values.max() <= 1 for values in map(values_of, collection.features.values())
    )
    if is_normalised:
        raise InputError(
            f"{collection.text.name}: expected raw features, found normalised ones, all from 0 to 1", _HINT
        )
