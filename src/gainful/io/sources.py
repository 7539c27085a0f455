"""Where bytes come from: a file, standard input, or memory; compressed or not."""

from __future__ import annotations

import mmap
import os
import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias, TypeGuard

from gainful.errors import InputError, MissingExtraError, UsageError

if TYPE_CHECKING:
    from gainful.kernel.arrays import Bytes

COMPRESSED_ENDINGS = (".gz", ".bz2", ".xz", ".zst")

#: A path (``-`` is standard input), or the bytes themselves.
Source: TypeAlias = str | os.PathLike[str] | bytes | bytearray | memoryview


class Text(NamedTuple):
    """Bytes and what to call them in messages. Files that are not compressed stay mapped, not copied."""

    data: Bytes
    name: str

    @classmethod
    def of_view(cls, view: bytes | bytearray | memoryview | mmap.mmap, name: str) -> Text:
        """A text over any bytes, without a copy."""
        import numpy as np

        return cls(np.frombuffer(view, np.uint8), name)


def open_source(source: Source, name: str | None = None) -> Text:
    """The (decompressed) bytes of a source. ``name`` is what messages call it instead of its path."""
    data: bytes | mmap.mmap
    if isinstance(source, (bytes, bytearray, memoryview)):
        data, found = bytes(source), "<bytes>"
    elif str(source) == "-":
        data, found = _standard_input(), "<stdin>"
    else:
        data, found = _mapped(os.fspath(source)), os.fspath(source)
    return Text.of_view(_decompressed(data, name or found), name or found)


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise InputError("<stdin>: cannot be read (closed)")
    return sys.stdin.buffer.read()


def forget(data: Bytes, end: int) -> None:
    """Gives back the memory of a mapped file up to a place that has been read; what is asked for again is read again.

    Does nothing to bytes that are not a file's, or where the system has no way to do it.
    """
    mapped = getattr(data.base, "obj", None)
    whole = end - end % mmap.PAGESIZE
    if isinstance(mapped, mmap.mmap) and hasattr(mapped, "madvise") and whole:
        mapped.madvise(mmap.MADV_DONTNEED, 0, whole)


def plain_view(path: str) -> memoryview | None:
    """The bytes of a file that needs nothing but mapping; None for anything that takes more or fails."""
    if not os.path.isfile(path):
        return None
    try:
        data = _mapped(path)
    except InputError:
        return None
    return memoryview(data) if len(data) and not _compression(data[:10]) else None


def is_stream(source: object) -> TypeGuard[str | os.PathLike[str]]:
    """Whether reading a source may have to wait for somebody else: standard input, pipes and the like."""
    if not isinstance(source, (str, os.PathLike)):
        return False
    return str(source) == "-" or (os.path.exists(source) and not os.path.isfile(source) and not os.path.isdir(source))


def _mapped(path: str) -> bytes | mmap.mmap:
    try:
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                # Pipes and some special files have no size but do have content.
                return file.read()
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{path}: cannot be read ({reason})") from error


class _Decompressor(Protocol):
    """What the decompressors of the standard library and of zstandard have in common."""

    def decompress(self, data: bytes) -> bytes: ...

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...


def _streams(data: bytes, new_decompressor: Callable[[], _Decompressor]) -> bytes:
    """All streams of a file, one after the other. What is cut off or not a stream at all is an error, never skipped."""
    pieces = []
    while data:
        decompressor = new_decompressor()
        pieces.append(decompressor.decompress(data))
        if not decompressor.eof:
            raise EOFError("it ends in the middle")
        data = decompressor.unused_data
    return b"".join(pieces)


def _gunzip(data: bytes) -> bytes:
    import gzip

    return gzip.decompress(data)


def _bunzip(data: bytes) -> bytes:
    import bz2

    return _streams(data, bz2.BZ2Decompressor)


def _unxz(data: bytes) -> bytes:
    import lzma

    # An xz file may be padded with zeros.
    unpadded = data.rstrip(b"\0")
    padding = (len(data) - len(unpadded)) // 4 * 4
    return _streams(data[: len(data) - padding], lzma.LZMADecompressor)


def _unzstd(data: bytes) -> bytes:
    import zstandard

    return _streams(data, zstandard.ZstdDecompressor().decompressobj)


#: How a compressed file begins, what it is called, and what undoes it.
_COMPRESSIONS: tuple[tuple[re.Pattern[bytes], str, Callable[[bytes], bytes]], ...] = (
    (re.compile(rb"\x1f\x8b"), "gzip", _gunzip),
    (re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"), "bzip2", _bunzip),
    (re.compile(rb"\xfd7zXZ\x00"), "xz", _unxz),
    (re.compile(rb"\x28\xb5\x2f\xfd"), "zstd", _unzstd),
)


def _compression(start: bytes) -> tuple[str, Callable[[bytes], bytes]] | None:
    return next(((kind, undo) for magic, kind, undo in _COMPRESSIONS if magic.match(start)), None)


def _decompressed(data: bytes | mmap.mmap, name: str) -> bytes | mmap.mmap:
    compression = _compression(data[:10])
    if compression is None:
        return data
    kind, decompress = compression
    try:
        return decompress(bytes(data))
    except ImportError as error:
        raise MissingExtraError(
            f"{name}: reading zstd needs the package zstandard", "install it with: pip install 'gainful[zstd]'"
        ) from error
    except Exception as error:  # each library has its own exceptions for damaged data
        raise InputError(f"{name}: expected {kind} data, found a damaged file ({error})") from error


def as_source(value: object, or_else: str) -> Source | Text:
    """The value, if it is something to read from."""
    if isinstance(value, (str, os.PathLike, bytes, bytearray, memoryview, Text)):
        return value
    raise UsageError(
        f"expected a path, bytes, a dict, a data frame or {or_else}, found {type(value).__name__}",
        "call .collect() first" if hasattr(value, "collect") else None,
    )
