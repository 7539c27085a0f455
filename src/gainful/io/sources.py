"""Where bytes come from: a file, standard input, or memory; compressed or not."""

from __future__ import annotations

import mmap
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from gainful.arrays import Bytes
from gainful.errors import InputError, MissingExtraError

#: A path (``-`` is standard input), or the bytes themselves.
Source: TypeAlias = str | os.PathLike[str] | bytes | bytearray | memoryview


@dataclass(frozen=True)
class Text:
    """Bytes and what to call them in messages. Files that are not compressed stay mapped, not copied."""

    data: Bytes
    name: str


def open_source(source: Source, name: str | None = None) -> Text:
    """The (decompressed) bytes of a source. ``name`` is what messages call it instead of its path."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return Text(_decompressed(np.frombuffer(bytes(source), np.uint8), name or "<bytes>"), name or "<bytes>")
    if str(source) == "-":
        return Text(_decompressed(np.frombuffer(sys.stdin.buffer.read(), np.uint8), "<stdin>"), name or "<stdin>")
    path = Path(source)
    return Text(_decompressed(_mapped(path), str(path)), name or str(path))


def _mapped(path: Path) -> Bytes:
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                # Pipes and some special files have no size but do have content.
                return np.frombuffer(file.read(), np.uint8)
            return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{path}: cannot be read ({reason})") from error


def _gunzip(data: bytes) -> bytes:
    import gzip

    return gzip.decompress(data)


def _bunzip(data: bytes) -> bytes:
    import bz2

    return bz2.decompress(data)


def _unxz(data: bytes) -> bytes:
    import lzma

    return lzma.decompress(data)


def _unzstd(data: bytes) -> bytes:
    try:
        import zstandard
    except ImportError as error:
        raise MissingExtraError(
            "reading zstd needs the package zstandard", "install it with: pip install 'gainful[zstd]'"
        ) from error
    import io

    with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data), read_across_frames=True) as reader:
        return reader.read()


#: How a compressed file begins, what it is called, and what undoes it.
_COMPRESSIONS: tuple[tuple[bytes, str, Callable[[bytes], bytes]], ...] = (
    (b"\x1f\x8b", "gzip", _gunzip),
    (b"BZh", "bzip2", _bunzip),
    (b"\xfd7zXZ\x00", "xz", _unxz),
    (b"\x28\xb5\x2f\xfd", "zstd", _unzstd),
)


def _decompressed(data: Bytes, name: str) -> Bytes:
    start = data[:6].tobytes()
    for magic, kind, decompress in _COMPRESSIONS:
        if start.startswith(magic):
            try:
                return np.frombuffer(decompress(data.tobytes()), np.uint8)
            except MissingExtraError:
                raise
            except Exception as error:  # each library has its own exceptions for damaged data
                raise InputError(f"{name}: expected {kind} data, found a damaged file ({error})") from error
    return data
