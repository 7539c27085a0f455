"""Atomic output: files are replaced completely or not at all."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterator
from io import TextIOWrapper
from typing import IO, TYPE_CHECKING, TextIO

from gainful.errors import InputError

if TYPE_CHECKING:
    from gzip import GzipFile


#: Temporary files being written, for a signal handler that ends the process.
unfinished: set[str] = set()
_TEMPORARY = re.compile(r"\..*\.[0-9a-f]{12}\.gainful\.tmp")


@contextlib.contextmanager
def atomic_output(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    """Open a text for writing that replaces the file when the block ends; on failure or interruption nothing changes.

    The target of a link is replaced, not the link; an existing file keeps its permissions. Pipes and terminals are
    written directly. A name that ends in .gz is compressed. Text is UTF-8, and IDs that are not valid UTF-8 keep their
    bytes.
    """
    with _file(os.fspath(path)) as file, _text(file, os.fspath(path)) as out:
        yield out


def write_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    """Replace the content of a file, like :func:`atomic_output`."""
    with _file(os.fspath(path)) as file:
        file.write(content)


@contextlib.contextmanager
def _file(name: str) -> Iterator[IO[bytes]]:
    # /dev/stdout may be a regular file that the parent process has opened.
    is_special = os.path.abspath(name).startswith(("/dev/", "/proc/"))
    is_special = is_special or (os.path.exists(name) and not os.path.isfile(name))
    try:
        with open(name, "ab") if is_special else _replacing(os.path.realpath(name)) as file:
            yield file
    except BrokenPipeError:
        raise
    except OSError as error:
        folder = os.path.dirname(os.path.abspath(name))
        is_lost = isinstance(error, FileNotFoundError) and not os.path.isdir(folder)
        reason = f"there is no folder {folder}" if is_lost else error.strerror or str(error)
        raise InputError(f"{name}: cannot be written ({reason})") from error


@contextlib.contextmanager
def _replacing(target: str) -> Iterator[IO[bytes]]:
    old_mode = stat.S_IMODE(os.stat(target).st_mode) if os.path.exists(target) else None
    if old_mode is not None and not os.access(target, os.W_OK):
        raise PermissionError(None, "the file is read-only")
    directory, name = os.path.split(target)
    _remove_abandoned(directory)
    temporary, lock = "", -1
    try:
        while True:
            temporary = os.path.join(directory, f".{name[:40]}.{os.urandom(6).hex()}.gainful.tmp")
            unfinished.add(temporary)
            # Unlike with the tempfile module, permissions follow the umask.
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
            is_locked = _lock(descriptor, waits=True)
            if os.path.exists(temporary):
                break
            os.close(descriptor)  # another process removed it as abandoned before it was locked
        lock = os.dup(descriptor) if is_locked else -1
        with open(descriptor, "wb") as file:
            yield file
            file.flush()
            if old_mode is not None:
                os.chmod(temporary, old_mode)
            os.fsync(file.fileno())
        os.replace(temporary, target)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary)  # exists only after a failure
        unfinished.discard(temporary)
        if lock >= 0:
            os.close(lock)


def _lock(descriptor: int, *, waits: bool) -> bool:
    """Lock a file until all of its descriptors are closed, and return whether that succeeded."""
    try:
        import fcntl  # not on Windows

        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
    except (ImportError, OSError):
        return False
    return True


def _remove_abandoned(directory: str) -> None:
    with contextlib.suppress(OSError):
        for path in [os.path.join(directory, each) for each in os.listdir(directory) if _TEMPORARY.fullmatch(each)]:
            with contextlib.suppress(OSError), open(path, "rb") as file:
                if _lock(file.fileno(), waits=False):
                    os.unlink(path)


@contextlib.contextmanager
def _text(file: IO[bytes], name: str) -> Iterator[TextIO]:
    """Write UTF-8 with LF line ends, compressed if the name ends in .gz; equal text always gives equal bytes."""
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
