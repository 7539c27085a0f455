"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from io import TextIOWrapper
from typing import IO, TYPE_CHECKING, TextIO

from gainful.errors import InputError

if TYPE_CHECKING:
    from gzip import GzipFile


@contextlib.contextmanager
def atomic_output(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    """A text to write to that replaces the file when the block ends; if it fails or is interrupted, nothing changes.

    A link's target is replaced, not the link; an existing file keeps its permissions. What is not a file (a pipe, a
    terminal) is written directly. A name that ends in .gz is compressed. Text is UTF-8, and ids that are not are
    written as the bytes they were.
    """
    with _file(os.fspath(path)) as file, _text(file, os.fspath(path)) as out:
        yield out


def write_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    """Replaces a file by these bytes, whole or not at all, in the way of :func:`atomic_output`."""
    with _file(os.fspath(path)) as file:
        file.write(content)


@contextlib.contextmanager
def _file(name: str) -> Iterator[IO[bytes]]:
    try:
        with _directly(name) if _is_special(name) else _replacing(os.path.realpath(name)) as file:
            yield file
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(f"{name}: cannot be written ({_reason(error, name)})") from error


def _is_special(name: str) -> bool:
    # /dev/stdout may be a file, but one that somebody else has opened and is writing to.
    if os.path.abspath(name).startswith(("/dev/", "/proc/")):
        return True
    return os.path.exists(name) and not os.path.isfile(name)


def _directly(name: str) -> IO[bytes]:
    return open(name, "ab")


@contextlib.contextmanager
def _replacing(target: str) -> Iterator[IO[bytes]]:
    old_mode = _mode_of(target)
    directory, name = os.path.split(target)
    temporary = os.path.join(directory, f".{name[:100]}.{os.urandom(6).hex()}.tmp")
    is_whole = False
    try:
        # Unlike the standard library's temporary files, a new file gets the permissions that the umask gives.
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:
            yield file
            file.flush()
            if old_mode is not None:
                os.chmod(temporary, old_mode)
            os.fsync(file.fileno())
        os.replace(temporary, target)
        is_whole = True
    finally:
        if not is_whole:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def _mode_of(target: str) -> int | None:
    """The permissions of an existing file, which must allow to write it."""
    try:
        mode = stat.S_IMODE(os.stat(target).st_mode)
    except FileNotFoundError:
        return None
    if not os.access(target, os.W_OK):
        raise PermissionError(None, "the file is read-only")
    return mode


@contextlib.contextmanager
def _text(file: IO[bytes], name: str) -> Iterator[TextIO]:
    """UTF-8 with LF line ends, compressed if the name says so, always with the same bytes for the same text."""
    if name.lower().endswith(".gz"):
        import gzip

        with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed, _utf8(packed) as out:
            yield out
        return
    out = _utf8(file)
    try:
        yield out
    finally:
        out.detach()  # flushes, and leaves the file open


def _utf8(file: IO[bytes] | GzipFile) -> TextIOWrapper:
    return TextIOWrapper(file, encoding="utf-8", errors="surrogateescape", newline="\n")


def _reason(error: OSError, name: str) -> str:
    directory = os.path.dirname(os.path.abspath(name))
    if isinstance(error, FileNotFoundError) and not os.path.isdir(directory):
        return f"there is no folder {directory}"
    return error.strerror or str(error)
