"""How the page is given its numbers: a JSON text and arrays behind it, compressed, in letters."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

_KINDS = {np.dtype(dtype): kind for kind, dtype in {"u8": "<u1", "u16": "<u2", "u32": "<u4", "f64": "<f8"}.items()}
_ALIGNED = 8
#: A page of 20 systems is 4 % larger than with level 7, in a quarter of the time.
_LEVEL = 4


def pack(content: Mapping[str, object], arrays: Mapping[str, np.ndarray[Any, Any]]) -> str:
    """The length of the JSON, the JSON, which says where the arrays are, and the arrays; the same bytes for the same
    content."""
    where: dict[str, dict[str, object]] = {}
    pieces: list[bytes] = []
    at = 0
    for name, array in arrays.items():
        data = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
        where[name] = {"type": _KINDS[array.dtype], "at": at, "length": int(array.size)}
        pieces.append(data + b"\0" * (-len(data) % _ALIGNED))
        at += len(pieces[-1])
    text = json.dumps({**content, "arrays": where}, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    head = text.encode("utf-8", "replace")  # half a pair of surrogates is no text
    head += b" " * (-(4 + len(head)) % _ALIGNED)
    squeezer = zlib.compressobj(_LEVEL, zlib.DEFLATED, 31)
    packed = squeezer.compress(b"".join((len(head).to_bytes(4, "little"), head, *pieces))) + squeezer.flush()
    return base64.b64encode(packed).decode("ascii")
