"""Compare the results of both cores on random inputs: ``make fuzz-cores``.

A case is a kind, some texts and the options of the call. Case ``n`` of a seed is always the same one, so that the
seed tells all of them; of a case on which the cores differ, the texts are cut down as long as they still do.
"""

from __future__ import annotations

import argparse
import faulthandler
import importlib
import math
import random
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import numpy as np

MARK = b"\xef\xbb\xbf"
REFUSED = "refused"


@dataclass(frozen=True)
class Case:
    """A call to the cores."""

    kind: str
    texts: tuple[bytes, ...]
    options: tuple[Any, ...] = ()


# -- Texts -------------------------------------------------------------------------------------------------------------

FEW_IDS = [b"a", b"b", b"ab"]
IDS = [*FEW_IDS, b"a\x00", b"\x00", b"\xff", b"\xc3\xa9", b"q\rq", b"1", b"#", b"a#", MARK + b"a", b"\x0b", b"n" * 70]
NUMBERS = b"0 -0 1 2 2.0 1.00000000001 -1 .5 3. 1e2 1e39 1e40 1e-400".split()
NOT_NUMBERS = [*b"1e309 nan inf 1e . 0x1 1_0 x - +1e999999999999999999999".split(), b"1\r"]
# Scores that are equal as float32.
CLOSE_NUMBERS = b"1 1.00000000001 2 1e39 1e40".split()
LINE_ENDS = [b"\n"] * 5 + [b"\r\n", b" \n", b"\r\r\n", b"\n\n", b"\n#c\n", b"\n \t#a b c d\n"]
BYTES = b"  \t\r\n\n#1.e+-ab\xff\x00"


def noise(rng: Random, most: int, alphabet: bytes = BYTES) -> bytes:
    return bytes(rng.choices(alphabet, k=rng.randint(0, most)))


def lines(rng: Random, most: int, fields: Callable[[], list[bytes]]) -> bytes:
    """Lines of these fields, with any separators and line ends."""
    text = b""
    for _ in range(rng.randint(0, most)):
        gap = rng.choice([b" ", b" ", b" ", b"\t", b" \t "])
        text += rng.choice([b""] * 6 + [b" ", b"\t"]) + gap.join(fields()) + rng.choice(LINE_ENDS)
    return text


def corrupted(rng: Random, text: bytes) -> bytes:
    """A text in which a few bytes are sometimes replaced, removed or added."""
    for _ in range(rng.choice([0, 0, 0, 1, 3])):
        at = rng.randint(0, len(text))
        text = text[:at] + noise(rng, 2) + text[at + rng.randint(0, 2) :]
    return rng.choice([b"", b"", b"", MARK]) + text


def document(rng: Random) -> bytes:
    return rng.choice(IDS) if rng.random() < 0.5 else b"d%d" % rng.randint(0, 60)


def decimal(rng: Random) -> bytes:
    """Nearly always a number: of any length and size, up to the limits of floats."""

    def digits() -> bytes:
        return rng.choice([b"", b"0" * rng.randint(0, 400), bytes(rng.choices(b"0123456789", k=rng.randint(1, 25)))])

    exponent = rng.choice([b"", b"", b"e%d" % rng.randint(-345, 320), bytes(rng.choices(b"eE+-019", k=4))])
    return rng.choice([b"", b"", b"+", b"-"]) + digits() + rng.choice([b"", b"."]) + digits() + digits() + exponent


def number(rng: Random) -> bytes:
    kind = rng.random()
    return rng.choice(NUMBERS if kind < 0.8 else NOT_NUMBERS) if kind < 0.95 else decimal(rng) or b"."


# If all documents are judged, the hits show the complete order of a list.
DENSE_JUDGMENTS = b"".join(b"%b 0 %b 1\n" % (query, found) for query in FEW_IDS for found in IDS)


def sound_judgments(rng: Random) -> bytes:
    text = lines(rng, 20, lambda: [rng.choice(IDS), b"%d" % rng.randint(0, 3), document(rng), rng.choice(NUMBERS)])
    return text + rng.choice([b"", DENSE_JUDGMENTS])


def any_judgments(rng: Random) -> bytes:
    if rng.random() < 0.1:
        return noise(rng, 120)
    return corrupted(rng, lines(rng, 15, lambda: [rng.choice(IDS), b"0", document(rng), number(rng)]))


def sound_run(rng: Random) -> bytes:
    def dense() -> list[bytes]:
        rank, score = b"%d" % rng.randint(0, 3), rng.choice(CLOSE_NUMBERS)
        return [rng.choice(FEW_IDS), b"Q0", rng.choice(IDS), rank, score, b"t"]

    def sparse() -> list[bytes]:
        rank = b"%d" % rng.randint(0, 3) if rng.random() < 0.9 else rng.choice(NOT_NUMBERS)
        return [rng.choice(IDS), b"Q0", document(rng), rank, rng.choice(NUMBERS), b"t"]

    return lines(rng, 30, rng.choice([dense, sparse]))


def any_run(rng: Random) -> bytes:
    kind = rng.random()
    if kind < 0.1:
        return noise(rng, 120)
    if kind < 0.5:
        return sound_run(rng)
    if kind < 0.7:
        return corrupted(rng, sound_run(rng))
    return corrupted(
        rng, lines(rng, 15, lambda: [rng.choice(IDS), b"Q0", document(rng), number(rng), number(rng), b"t"])
    )


def policy(rng: Random) -> tuple[Any, ...]:
    """The order, the rule for ties, float32, keep_first, the depth, and whether scores, rows and facts are wanted."""
    flips = [rng.random() < 0.5 for _ in range(4)]
    depth = rng.choice([0, 0, 1, 2, 5, 10**12])
    return (rng.choice([0, 0, 1, 2]), rng.randint(0, 3), flips[0], rng.random() < 0.7, depth, *flips[1:])


# -- Kinds of cases: how one is drawn, and how a core answers it -------------------------------------------------------


def as_array(data: bytes) -> Any:
    return np.frombuffer(data, dtype=np.uint8)


def ints(values: list[int]) -> Any:
    return np.array(values, dtype=np.int64)


def index_of(core: Any, judgments: bytes) -> Any:
    data = as_array(judgments)
    text = core.read_judgments(data, 1)
    return core.JudgmentIndex(text["query_ids"], text["query"], data, text["document_start"], text["document_length"])


def draw_texts(rng: Random) -> Case:
    judgments = sound_judgments(rng) if rng.random() < 0.7 else any_judgments(rng)
    return Case("texts", (judgments, any_run(rng)), (policy(rng), rng.choice([1, 2, 8])))


def ask_texts(core: Any, case: Case) -> Any:
    """Judgments and a run, both read, and joined."""
    (judgments, run), (options, threads) = case.texts, case.options
    data = as_array(run)
    judged, columns = core.read_judgments(as_array(judgments), threads), core.read_run(data, threads)
    yield judged, columns
    if judged["fault_count"]:
        return
    index = index_of(core, judgments)
    yield index.item, index.item_offsets
    progress = ints([0, 0])
    yield core.join_text(data, index, core.JoinOptions(*options), threads, progress)
    yield progress
    if columns["fault_count"] == 0:
        spans = (columns["list_offsets"], data, columns["document_start"], columns["document_length"], threads)
        yield core.find_repeats(*spans)
        yield index.find_hits(ints([i % 2 - 1 for i in range(len(columns["query_ids"]))]), *spans)


def draw_columns(rng: Random) -> Case:
    """Lines of a query, a document, a score and a rank."""
    scores = [b"0", b"-0", b"1", b"1.0000000000009095", b"1e39", b"1e300", b"-1e300", b"5e-324", b"-2", b"0.1"]
    ranks = [b"0", b"1", b"1", b"2", b"3.5", b"-1", b"1e300", *rng.choice([[], [b"nan"]])]

    def row() -> list[bytes]:
        return [rng.choice(FEW_IDS), document(rng), rng.choice(scores), rng.choice(ranks)]

    rows = b"".join(b" ".join(row()) + b"\n" for _ in range(rng.randint(0, 25)))
    options = policy(rng)
    has_ranks = options[0] == 1 or options[1] == 2 or rng.random() < 0.5
    return Case("columns", (sound_judgments(rng), rows), (options, has_ranks, rng.choice([1, 2, 8])))


def ask_columns(core: Any, case: Case) -> Any:
    """A run in columns, joined."""
    (judgments, text), (options, has_ranks, threads) = case.texts, case.options
    lists: dict[bytes, list[tuple[int, int, float, float]]] = {}
    at = 0
    for line in text.split(b"\n"):
        if len(fields := line.split(b" ")) == 4:
            lists.setdefault(fields[0], []).append(
                (at + len(fields[0]) + 1, len(fields[1]), as_float(fields[2]), as_float(fields[3]))
            )
        at += len(line) + 1
    start, length, score, rank = ([row[i] for rows in lists.values() for row in rows] for i in range(4))
    offsets = np.cumsum([0, *map(len, lists.values())], dtype=np.int64)
    columns = (np.array(score, dtype=np.float64), np.array(rank if has_ranks else [], dtype=np.float64))
    run = core.ListColumns(list(lists), offsets, as_array(text), ints(start), ints(length), *columns)
    progress = ints([0, 0])
    yield core.join_columns(run, index_of(core, judgments), core.JoinOptions(*options), threads, progress)
    yield progress


def as_float(text: bytes) -> float:
    """0 for a text that is not a number after shortening."""
    try:
        return float(text)
    except ValueError:
        return 0.0


def draw_index(rng: Random) -> Case:
    """Lines of a query and an optional span."""
    queries, size = rng.choice([0, 1, 2, 3, 4, 4]), rng.randint(0, 8)
    rows = []
    for _ in range(rng.randint(0, 12)):
        start = rng.randint(0, size)
        row = [rng.randint(0, max(0, queries - 1)), start, rng.randint(0, min(2, size - start))]
        if rng.random() < 0.03:
            row[rng.randint(0, 2)] += rng.choice([-9, 9, 2**62])
        rows.append(b"%d %d %d\n" % tuple(row))
    return Case("index", (noise(rng, 8).ljust(size), b"".join(rows)), (queries,))


def ask_index(core: Any, case: Case) -> Any:
    """An index of judgments in columns."""
    rows = [[int(as_float(field)) for field in line.split(b" ")] for line in case.texts[1].split(b"\n")]
    columns = [ints([row[i] for row in rows if len(row) == 3]) for i in range(3)]
    query_ids = sorted(IDS[: case.options[0]])
    index = core.JudgmentIndex(query_ids, columns[0], as_array(case.texts[0]), *columns[1:])
    yield index.item, index.item_offsets


CELLS = [b'"1"', b'"b"', b'"c""d"', b'"e,\tf\n"', b' "g" ', b'h"', b'""', b'"k', b'"l"m', b'"\r\n"']
CELLS += [b"a", b"1", b"-2.5", b" 3 ", b"", b"i j", b"\xff", b"#", b"\r", b"1e999", b"nan", b"\x00", b"n" * 20]


def draw_table(rng: Random) -> Case:
    def row() -> bytes:
        cells = [rng.choice(CELLS) for _ in range(3)]
        return rng.choice([b",", b",", b",", b",", b"\t", b" ", b";"]).join(cells) + rng.choice(LINE_ENDS)

    def some() -> list[int]:
        return [rng.randint(0, 2) for _ in range(rng.randint(0, 3))]

    rows = b"".join(row() for _ in range(rng.randint(0, 12)))
    text = corrupted(rng, rows) if rng.random() < 0.7 else noise(rng, 120, b'"",,,' + BYTES)
    separator = rng.choice([0, 9, 32, 44, 44, 44, 59, 97])
    first = rng.choice([0, 0, rng.randint(0, len(text))])
    return Case("table", (text,), (first, separator, rng.choice([3, 3, 3, 4]), some(), some(), some()))


def ask_table(core: Any, case: Case) -> Any:
    """A delimited table."""
    text, (first, *shape) = case.texts[0], case.options
    yield core.read_table(as_array(text), min(first, len(text)), *shape)


def draw_letor(rng: Random) -> Case:
    words = b"1 0 -2.5 x 1e999 qid:1 qid:1 qid:a qid: 1:2 1:2 2:0.5 2:NULL 3:1e999 0:1 12: : # #docid docid = docid=d"
    odd = [*words.split(), b"#docid=e", b"d", b"\xff", b"\r", b"9" * rng.randint(17, 20) + b":1"]

    def row() -> list[bytes]:
        if rng.random() < 0.25:
            return rng.choices(odd, k=rng.randint(0, 6))
        features = rng.choices([b"1:2", b"2:NULL", b"2:-3", b"10:0", b"2:" + number(rng)], k=rng.randint(0, 3))
        comment = rng.choice([b"", b"#docid = d", b"# docid=e", b"#docid =", b"#x", b"#docid = " + document(rng)])
        return [rng.choice([b"0", b"1", b"2.5"]), rng.choice([b"qid:1", b"qid:2", b"qid:\xff"]), *features, comment]

    text = lines(rng, 12, row) if rng.random() < 0.8 else noise(rng, 80, b"1 qid:1 1:2#docid=a" + BYTES)
    return Case("letor", (corrupted(rng, text),), (rng.choice([0, 2, 10]),))


def ask_letor(core: Any, case: Case) -> Any:
    """A LETOR text."""
    yield core.read_letor(as_array(case.texts[0]), case.options[0])


def draw_numbers(rng: Random) -> Case:
    return Case("numbers", (b"".join(b"q 0 d %b\n" % decimal(rng) for _ in range(10)),))


def ask_numbers(core: Any, case: Case) -> Any:
    """Grades in any notation, one per line, since numbers are not returned if there are faults."""
    for line in case.texts[0].split(b"\n"):
        yield core.read_judgments(as_array(line), 1)


Draw = Callable[[Random], Case]
Ask = Callable[[Any, Case], Iterator[Any]]
KINDS: dict[str, tuple[int, Draw, Ask]] = {
    "texts": (5, draw_texts, ask_texts),
    "columns": (2, draw_columns, ask_columns),
    "index": (1, draw_index, ask_index),
    "table": (3, draw_table, ask_table),
    "letor": (3, draw_letor, ask_letor),
    "numbers": (1, draw_numbers, ask_numbers),
}


def case_of(seed: int, number: int) -> Case:
    """Case ``number`` of a seed."""
    rng = Random(f"{seed}/{number}")
    (_, draw, _) = rng.choices(list(KINDS.values()), [weight for weight, _, _ in KINDS.values()])[0]
    return draw(rng)


# -- Comparing ---------------------------------------------------------------------------------------------------------


def answers(core: Any, case: Case) -> list[Any]:
    """The result of a core, or its error."""
    found: list[Any] = []
    try:
        found.extend(KINDS[case.kind][2](core, case))
    except ValueError:
        found.append(REFUSED)
    return found


def difference(ours: Any, theirs: Any, where: str = "answer") -> str | None:
    """Return the path to the first difference in value or type."""
    if type(ours) is not type(theirs):
        return f"{where}: {type(ours).__name__} and {type(theirs).__name__}"
    if isinstance(ours, np.ndarray):
        alike = ours.dtype == theirs.dtype and ours.shape == theirs.shape and _same_values(ours, theirs)
        return None if alike else f"{where}: {ours!r} and {theirs!r}"
    if isinstance(ours, dict):
        if ours.keys() != theirs.keys():
            return f"{where}: keys {sorted(ours)} and {sorted(theirs)}"
        # The rest of a text with faults is not used.
        keys = ["faults", "fault_count"] if ours.get("fault_count") and "ids" not in ours else list(ours)
        pairs = [(ours[key], theirs[key], f"{where}[{key!r}]") for key in keys]
    elif isinstance(ours, list | tuple):
        if len(ours) != len(theirs):
            return f"{where}: {ours!r} and {theirs!r}"
        pairs = [(*pair, f"{where}[{i}]") for i, pair in enumerate(zip(ours, theirs, strict=True))]
    else:
        same = ours == theirs or (isinstance(ours, float) and math.isnan(ours) and math.isnan(theirs))
        return None if same else f"{where}: {ours!r} and {theirs!r}"
    return next((found for pair in pairs if (found := difference(*pair))), None)


def _same_values(ours: Any, theirs: Any) -> bool:
    if ours.dtype.kind != "f":
        return bool(np.array_equal(ours, theirs))
    # -0 is not 0, though it is equal.
    return bool(np.array_equal(ours, theirs, equal_nan=True) and np.array_equal(np.signbit(ours), np.signbit(theirs)))


def compare(cores: tuple[Any, Any], case: Case) -> str | None:
    """Return the difference between the cores on a case, if any."""
    return difference(*(answers(core, case) for core in cores))


def smallest(case: Case, fails: Callable[[Case], object]) -> Case:
    """Shrink a failing case by removing pieces of text, from large ones down to single bytes."""
    for i in range(len(case.texts)):
        size = len(case.texts[i])
        while size > 0:
            at = 0
            while at < len(case.texts[i]):
                text = case.texts[i][:at] + case.texts[i][at + size :]
                shorter = replace(case, texts=(*case.texts[:i], text, *case.texts[i + 1 :]))
                if fails(shorter):
                    case = shorter
                else:
                    at += size
            size //= 2
    return case


def load_cores() -> tuple[Any, Any]:
    """The Python core and the compiled one."""
    return importlib.import_module("gainful.kernel.pure"), importlib.import_module("gainful.kernel._core")


def main() -> int:
    """Compare for the given time."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.randrange(10**9), help="default: another one every time")
    chosen = parser.parse_args()
    faulthandler.enable()
    print(f"seed {chosen.seed}", flush=True)
    cores = load_cores()
    end = time.monotonic() + chosen.seconds
    number = 0
    while time.monotonic() < end:
        case = case_of(chosen.seed, number)
        if compare(cores, case):
            found = smallest(case, lambda each: compare(cores, each))
            print(
                f"case {number}: the cores differ, Python's and the compiled one, on\n{found}\n{compare(cores, found)}"
            )
            return 1
        number += 1
    print(f"{number} cases: the cores agree")
    return 0


if __name__ == "__main__":
    sys.exit(main())
