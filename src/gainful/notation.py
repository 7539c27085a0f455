"""Reading and writing of numbers and names in measures, policies and signatures."""

from __future__ import annotations

import contextlib
import math
import os
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from numbers import Integral, Real
from typing import Any, NamedTuple, TypeVar

from gainful.errors import UsageError

#: The number syntax accepted everywhere: decimal, finite, no words, no underscores.
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)

_K = TypeVar("_K")
_V = TypeVar("_V")


def number_text(value: float) -> str:
    """Return the shortest text that reads back as the same number; integers without ``.0``.

    >>> number_text(2.0), number_text(0.1), number_text(1e22)
    ('2', '0.1', '1e+22')
    """
    if value == int(value) and abs(value) < 1e16:
        return str(int(value))
    return repr(float(value))


def percent_text(share: float) -> str:
    """Format a share as a percentage.

    >>> percent_text(0.05), percent_text(0.999)
    ('5%', '99.9%')
    """
    return f"{number_text(round(100 * share, 10))}%"


def read_number(value: object, what: str) -> float:
    """Read a finite number from a number or text.

    >>> read_number("2.5", "rel")
    2.5
    """
    is_text = isinstance(value, str) and NUMBER.fullmatch(value.strip())
    if not is_text and (isinstance(value, bool) or not isinstance(value, Real)):
        raise UsageError(f"{what}: expected a number, found {value!r}")
    try:
        number = float(value)  # type: ignore[arg-type]
    except OverflowError as error:
        raise UsageError(f"{what}: expected a number that fits a 64-bit float, found a larger one") from error
    if not math.isfinite(number):
        raise UsageError(f"{what}: expected a finite number, found {value!r}")
    return number


def read_numbers(text: str, what: str) -> list[float]:
    """Read comma-separated numbers.

    >>> read_numbers("0.5, 0.2", "shares")
    [0.5, 0.2]
    """
    return list(dict.fromkeys(read_number(part.strip(), what) for part in text.split(",")))


def read_pair(text: str, what: str) -> tuple[str, str]:
    """Read two comma-separated systems.

    >>> read_pair("bm25, dense", "pair")
    ('bm25', 'dense')
    """
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 2 or not all(parts):
        raise UsageError(f"{what}: expected two systems like bm25,dense, found '{text}'")
    return parts[0], parts[1]


def letter(number: int) -> str:
    """Return a, ..., z, then a1, ..., z1 and so on, which stay distinguishable when joined."""
    turn, place = divmod(number, 26)
    return chr(ord("a") + place) + (str(turn) if turn else "")


_DURATION = re.compile(r"(\S+?)\s*([a-z]*)", re.IGNORECASE)
#: Units of time in seconds, largest first; longer spellings are accepted.
_SECONDS = {"d": 86400, "h": 3600, "m": 60, "s": 1}
_UNITS = re.compile(r"(d)(ays?)?|(h)(rs?|ours?)?|(m)(ins?|inutes?)?|(s)(ecs?|econds?)?", re.IGNORECASE)


def read_duration(value: object, what: str) -> float:
    """Read a duration in seconds from a number with a unit.

    >>> read_duration("30m", "gap"), read_duration("30 minutes", "gap"), read_duration("1 h", "gap")
    (1800.0, 1800.0, 3600.0)
    """
    number, unit = found.groups() if (found := _DURATION.fullmatch(str(value).strip())) else ("", "")
    is_positive = NUMBER.fullmatch(number) is not None and float(number) > 0
    if not is_positive or not _UNITS.fullmatch(unit):
        hint = f"{number}m are minutes, {number}s seconds" if is_positive and not unit else None
        raise UsageError(f"{what}: expected a time with a unit, such as 30m, found '{printable(str(value))}'", hint)
    return float(number) * _SECONDS[unit[0].lower()]


def duration_text(seconds: float) -> str:
    """Format a duration in the largest unit that gives a whole number.

    >>> duration_text(1800.0), duration_text(7200.0), duration_text(90.5)
    ('30m', '2h', '90.5s')
    """
    unit = next((unit for unit, size in _SECONDS.items() if seconds % size == 0), "s")
    return f"{number_text(seconds / _SECONDS[unit])}{unit}"


#: Largest number up to which 64-bit floats represent every integer.
_MOST = 2**53


def whole_number(value: object, what: str, most: int = _MOST) -> int:
    """Read a whole number of at least 1.

    >>> whole_number("3", "threads")
    3
    """
    number = read_number(value, what)
    if not number.is_integer() or not 1 <= number <= most:
        limit = "2^53" if most == _MOST else f"{most:,}"
        raise UsageError(f"{what}: expected a whole number from 1 to {limit}, found {value}")
    return int(number)


def read_whole(value: object, what: str) -> int:
    """Read a whole number of at least 1; hint at several measures if there are commas."""
    if isinstance(value, str) and "," in value:
        name, _, parameter = what.partition(": ")
        each = [f" -m {name}@{part.strip()}" for part in value.split(",")] if parameter == "cutoff" else []
        hint = "use -m several times for several measures" + (":" if each else "") + "".join(each)
        raise UsageError(f"{what}: expected a number, found '{value}'", hint)
    return whole_number(value, what)


def read_ranks(text: str, option: str) -> list[int]:
    """Read ranks with commas between them."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and part.isascii() and int(part) for part in parts):
        raise UsageError(f"{option}: expected ranks like 5,10,20, found '{text}'")
    return [int(part) for part in parts]


class Budget(NamedTuple):
    """A limit on the total length of documents; its unit is t, c, w, s or the name of a column of lengths."""

    amount: float
    unit: str

    def __str__(self) -> str:
        return f"{number_text(self.amount)}{self.unit}"


_BUDGET = re.compile(rf"(?P<amount>{NUMBER.pattern})(?P<unit>[tcws]|[A-Za-z_]\w+)", re.ASCII)


def read_cutoff(value: object, what: str) -> int | Budget:
    """Read a rank, or a budget with its unit."""
    text = str(value).strip()
    if NUMBER.fullmatch(text) or (found := _BUDGET.fullmatch(text)) is None:
        if NUMBER.match(text) and not NUMBER.fullmatch(text) and "," not in text:
            units = "t, c, w, s or the name of a column of two or more letters, digits and _"
            raise UsageError(f"{what}: expected a number or a budget, found '{value}'", f"units of budgets: {units}")
        return read_whole(value, what)
    if (amount := read_number(found["amount"], what)) <= 0:
        raise UsageError(f"{what}: expected a budget above 0, found '{value}'")
    return Budget(amount, found["unit"])


def check_whole(value: object, what: str, least: int | None = None, most: int | None = None) -> None:
    """Raise UsageError unless a value is a whole number within optional limits.

    >>> check_whole(2.5, "draws", 1)
    Traceback (most recent call last):
    gainful.errors.UsageError: draws: expected a whole number from 1, found 2.5
    """
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_whole or not (least is None or value >= least) or not (most is None or value <= most):  # type: ignore[operator]
        limits = "".join(f" {word} {limit}" for word, limit in (("from", least), ("to", most)) if limit is not None)
        raise UsageError(f"{what}: expected a whole number{limits}, found {value!r}")


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return a hint with the known words closest to an unknown one; None if none is close."""
    import difflib

    known = list(known)
    if lookalikes := lookalikes_of([word], known):
        return f"did you mean {lookalikes[0][1]}? {lookalikes[0][0]} differs {lookalikes[0][2]}"
    by_folded = {folded: names[0] for folded, names in grouped((name.casefold(), name) for name in known).items()}
    meant, place = difflib.SequenceMatcher(b=word.casefold()), {name: i for i, name in enumerate(by_folded)}
    close = difflib.get_close_matches(word.casefold(), by_folded, n=max(1, len(place)), cutoff=0.5)

    def far(name: str) -> tuple[float, int]:
        meant.set_seq1(name)
        return -meant.ratio(), place[name]

    # Equally close names keep their order.
    shown = [by_folded[name] for name in sorted(close, key=far)[:3]]
    return f"did you mean {' or '.join(shown)}?" if shown else None


def choose(value: object, known: Iterable[str], what: str) -> str:
    """Return the value if it is a known word; raise UsageError otherwise."""
    known = list(known)
    if isinstance(value, str) and value in known:
        return value
    found = f"'{value}'" if isinstance(value, str) else repr(value)
    raise UsageError(f"{what}: expected {' | '.join(known)}, found {found}", nearest(str(value), known))


def count_of(number: int, singular: str, plural: str | None = None) -> str:
    """Format a number with its noun.

    >>> count_of(1, "query", "queries"), count_of(1200, "line")
    ('1 query', '1,200 lines')
    """
    noun = singular if number == 1 else plural or singular + "s"
    return f"{number:,} {noun}"


def worth_text(count: int, effective: float | None) -> str:
    """Describe the effective number of queries, if weights reduce it."""
    if effective is None or effective == count:
        return ""
    return f", effective sample size {effective:,.{0 if effective >= 10 else 1}f}"


def units(number: int, unit: str) -> str:
    """Format a number of queries or sessions.

    >>> units(1, "query"), units(2, "query"), units(3, "session")
    ('1 query', '2 queries', '3 sessions')
    """
    return count_of(number, unit, plural_of(unit))


def plural_of(unit: str) -> str:
    """Return the plural of a unit of scores.

    >>> plural_of("judged query"), plural_of("session")
    ('judged queries', 'sessions')
    """
    return f"{unit.removesuffix('y')}ies" if unit.endswith("y") else f"{unit}s"


def listed(words: Sequence[str], conjunction: str = "and", most: int | None = None) -> str:
    """Join words with commas and a conjunction; beyond ``most``, count the rest.

    >>> listed(["a", "b", "c"]), listed(["a", "b", "c", "d"], most=2)
    ('a, b and c', 'a, b and 2 more')
    """
    *first, last = words if most is None or len(words) <= most else [*words[:most], f"{len(words) - most:,} more"]
    return f"{', '.join(first)} {conjunction} {last}" if first else last


def grouped(pairs: Iterable[tuple[_K, _V]]) -> dict[_K, list[_V]]:
    """Collect the values of each key, in the order of first occurrence."""
    found: dict[_K, list[_V]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def printable(raw: bytes | str, width: int = 60) -> str:
    """Return bytes or an ID for display: unprintable characters are escaped, long texts cut.

    >>> print(printable(b"d1" + bytes([27, 255])), printable("x" * 70, 10))
    d1\\x1b\\xff xxxxxxx...
    """
    raw = raw[: 4 * (width + 1)]  # a character has at most 4 bytes; a text may be as long as a file
    if isinstance(raw, str):
        with contextlib.suppress(UnicodeEncodeError):  # an unpaired surrogate
            raw = bytes_of_id(raw)
    text = raw if isinstance(raw, str) else raw.decode("utf-8", "backslashreplace")
    shown = "".join(c if c.isprintable() or c == "\t" else c.encode("unicode_escape").decode() for c in text)
    return shown if len(shown) <= width else shown[: width - 3] + "..."


#: A width larger than any text.
ENDLESS = 1 << 60


def for_terminal(text: str) -> str:
    """Escape unprintable characters (except tabs) of lines for a terminal, without cutting.

    >>> for_terminal("map\\tall\\x1b[2J\\n")
    'map\\tall\\\\x1b[2J\\n'
    """
    return "\n".join(line if line.isprintable() else printable(line, ENDLESS) for line in text.split("\n"))


#: Texts that spreadsheets would run as formulas, unless they are numbers; leading apostrophes are ignored, so that
#: writing can add one and reading remove it.
_FORMULA = re.compile(r"'*[=+\-@\t\r\n].", re.DOTALL)


def as_cell(text: str) -> str:
    """Return a text as a CSV cell that no spreadsheet runs: an apostrophe precedes what looks like a formula.

    >>> as_cell("=1+1"), as_cell("-x"), as_cell("'@x"), as_cell("-1.5"), as_cell("d=1")
    ("'=1+1", "'-x", "''@x", '-1.5', 'd=1')
    """
    return f"'{text}" if _FORMULA.match(text) and not NUMBER.fullmatch(text) else text


def text_of_cell(cell: str) -> str:
    """The inverse of :func:`as_cell`."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


#: Descriptions of IDs that look alike but differ.
ONLY_IN_FORM = "only in Unicode normal form"
ONLY_IN_ENCODING = "only in their encoding (UTF-8 and Latin-1)"


def normal_form(text: str) -> str:
    """Normalise a text to Unicode NFC, in which equal-looking texts are equal.

    >>> normal_form("e\u0301") == "\u00e9"
    True
    """
    if text.isascii():
        return text
    import unicodedata  # loaded late, because few IDs need it

    return unicodedata.normalize("NFC", text)


def as_meant(text: str) -> str:
    """Guess the intended ID: decode bytes that are not UTF-8 as Latin-1, undo UTF-8 read as Latin-1, apply NFC.

    >>> as_meant("caf\u00c3\u00a9") == as_meant("cafe\u0301") == "caf\u00e9"
    True
    """
    if text.isascii():
        return text
    raw = bytes_of_id(text)
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return normal_form(raw.decode("cp1252", "replace"))
    with contextlib.suppress(UnicodeError):
        text = text.encode("cp1252").decode()
    return normal_form(text)


def lookalikes_of(found: Iterable[str], wanted: Iterable[str]) -> list[tuple[str, str, str]]:
    """Return pairs that differ only in Unicode normal form or encoding, escaped to show how, with the kind.

    >>> print(*lookalikes_of(["caf\u00e9", "tea"], ["cafe\u0301", "tea"])[0])
    caf\\xe9 cafe\\u0301 only in Unicode normal form
    """
    by_form = {as_meant(text): text for text in wanted}
    pairs = [(text, by_form.get(as_meant(text), text)) for text in found]
    return [
        (_escaped(text), _escaped(twin), ONLY_IN_FORM if normal_form(text) == normal_form(twin) else ONLY_IN_ENCODING)
        for text, twin in pairs
        if text != twin
    ]


def _escaped(text: str) -> str:
    return printable(text.encode("ascii", "backslashreplace"))


def some_of(names: Sequence[bytes | str], most: int = 5) -> str:
    """List the first IDs or names, with dots if there are more; quoted if one contains a comma.

    >>> some_of(["q1", "q2", "q3"], 2), some_of(["who, and when?", "why?"])
    ('q1, q2, ...', "'who, and when?', 'why?'")
    """
    shown = [printable(name) for name in names[:most]]
    quote = "'" if any("," in name for name in shown) else ""
    return ", ".join(f"{quote}{name}{quote}" for name in shown) + (", ..." if len(names) > most else "")


def text_of_id(identifier: bytes) -> str:
    """Decode an ID as UTF-8, keeping invalid bytes as surrogates."""
    return identifier.decode("utf-8", "surrogateescape")


def bytes_of_id(identifier: str) -> bytes:
    """The inverse of :func:`text_of_id`."""
    return identifier.encode("utf-8", "surrogateescape")


def numbered(count: int) -> list[str]:
    """Name queries without IDs by their positions from 1, padded so that byte order is numeric order.

    >>> numbered(10)[::9]
    ['01', '10']
    """
    width = len(str(count))
    return [f"{place:0{width}d}" for place in range(1, count + 1)]


def load_json(text: str | bytes | bytearray, **how: Any) -> Any:
    """Parse JSON; unpaired surrogates, which no file can hold, also raise ValueError."""
    import json

    value = json.loads(text, **how)
    marks: Any = ("\\ud", "\\uD") if isinstance(text, str) else (b"\\ud", b"\\uD")
    if any(mark in text for mark in marks):
        try:
            bytes_of_id(json.dumps(value, ensure_ascii=False))
        except UnicodeEncodeError as error:
            raise ValueError(f"unpaired surrogate {printable(error.object[error.start])}") from error
    return value


def json_or_none(text: str | bytes | bytearray) -> object:
    """Parse JSON; return None if the text is invalid."""
    try:
        return load_json(text)
    except (ValueError, RecursionError):
        return None


def today() -> str:
    """Return the date, or that of ``SOURCE_DATE_EPOCH`` for reproducible builds."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    if epoch and not epoch.isdecimal():
        raise UsageError(f"SOURCE_DATE_EPOCH: expected seconds, found '{printable(epoch)}'")
    now = datetime.fromtimestamp(int(epoch), UTC) if epoch else datetime.now(UTC)
    return now.date().isoformat()
