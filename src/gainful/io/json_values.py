"""JSON read strictly: names stand once in an object, numbers are numbers, and errors say where they are."""

from __future__ import annotations

import json
from typing import Any

from gainful.errors import InputError
from gainful.io.formats import not_utf8
from gainful.notation import printable


def parse_json(data: bytes, name: str, where: str) -> Any:
    """The value that a text is, at a place in the source of a name."""
    if not json.detect_encoding(data).startswith("utf-8"):
        raise not_utf8(name)
    try:
        return json.loads(data, object_pairs_hook=_distinct, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise _no_json(error, name, where) from error
    except RecursionError as error:
        raise InputError(f"{where}: expected JSON, found values within values, too many to read") from error
    except (_RepeatedError, ValueError) as error:
        raise InputError(f"{where}: expected JSON, found {error}") from error


def _no_json(error: json.JSONDecodeError, name: str, where: str) -> InputError:
    """What is said of a text that is no JSON; one that ends too early is shown by its last line."""
    text = error.doc.rstrip()
    at = min(error.pos, len(text))
    start = text.rfind("\n", 0, at) + 1
    line = text[start:].partition("\n")[0]
    found = "the end of the text" if text and at == len(text) else error.msg.lower().removesuffix(" at")
    place = where if where != name else f"{name}:{text.count(chr(10), 0, at) + 1}"
    from gainful.io.rows import shown_text  # loaded late: it loads NumPy

    shown = shown_text(line.encode("utf-8", "surrogatepass"))
    return InputError(
        f"{place}: expected JSON, found {found} at column {at - start + 1}\n    {shown}",
        "several values, one a line, are JSON lines: format jsonl" if error.msg == "Extra data" else None,
    )


class _RepeatedError(Exception):
    """A name that stands twice in one object."""


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _RepeatedError(f"'{printable(key)}' twice in one object")
            seen.add(key)
    return found


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name}, which is not a number")
