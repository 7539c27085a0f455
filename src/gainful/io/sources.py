"""Sources of bytes: files, standard input or memory, compressed or not, within a memory limit.

Bytes are copied out of a file and no descriptor stays open; a file that changes while it is read is an error. A text
can be read in pieces, so that only the requested part is held.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, cached_property, partial
from importlib import import_module
from io import StringIO
from itertools import chain, islice
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeGuard

from gainful.errors import InputError, MissingExtraError, UsageError
from gainful.notation import printable

if TYPE_CHECKING:
    from gainful.kernel.arrays import Bytes

#: The beginning of the first line of an NTCIR run.
_DESCRIPTION = b"<SYSDESC>"
COMPRESSED_ENDINGS = (".gz", ".bz2", ".xz", ".zst")
#: Number of bytes inspected to recognise a source.
HEAD = 1 << 16
#: Bytes read at a time, and the first read of compressed data.
_PIECE, _FIRST_INPUT = 1 << 22, 1 << 14
_SMALLEST_STEP = 128
#: Bytes split into lines at a time.
_PART = 1 << 18
#: Upper bounds: the copies of an ID, in addition to the text; bytes of memory per row and cell of a side table.
_COPIES, _PER_RECORD, _PER_CELL = 3, 700, 150
#: Lines of up to this many bytes have short IDs, which are counted by line.
_SHORT = 64
_LONG = re.compile(rb"(?m)^[^\n]{%d,}" % _SHORT)
#: Number of directory entries searched for a similar name.
_MOST_ENTRIES = 10_000

#: Stripped from the fields of a side table; other characters, including Unicode's blanks, belong to the field.
BLANKS = " \t\r\n"

#: Number of characters of a line that messages quote.
WIDEST_LINE = 120
#: A text rarely contains more control characters than this; the escapes of terminals (ESC) are not counted.
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_MOST_CONTROLS = 2

#: Limits on data without rows: its size, and the ratio of that to the compressed size.
_LARGEST_GAP, _LARGEST_RATIO = 1 << 26, 500
_CONTENT = re.compile(rb"^[ \t\r\0]*+[^\s\0#]", re.MULTILINE)

#: Environment variable for the memory limit, such as 8GB.
SETTING = "GAINFUL_MAX_MEMORY"
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)\s*([kmgt]?)b?", re.IGNORECASE | re.ASCII)
HINT = f"set the limit with --max-memory ({SETTING}); TREC runs grouped by query need the least memory"

#: A path (``-`` is standard input), or the bytes themselves.
Source: TypeAlias = str | os.PathLike[str] | bytes | bytearray | memoryview


class Text:
    """The (decompressed) bytes of a source, with its name for messages."""

    def __init__(
        self,
        name: str,
        pieces: Callable[[], Iterator[bytes]],
        path: str | None = None,
        state: os.stat_result | None = None,
        source_bytes: int = 0,
    ) -> None:
        self.name = name
        #: Number of bytes in memory from which the text is decompressed.
        self._source_bytes = source_bytes
        #: Path of a regular file, and the state in which it was found.
        self.path = path
        self._state = state
        self._pieces = pieces

    @classmethod
    def of_view(cls, view: bytes | bytearray | memoryview | Bytes, name: str) -> Text:
        """Return a text over any bytes, without a copy."""
        text = cls(name, lambda: iter(()))
        text.hold(view)
        return text

    @cached_property
    def buffer(self) -> bytes | bytearray | memoryview:
        """All bytes, kept in memory from the first use."""
        whole = _collected(self._pieces(), self.name, self.file_size, self._source_bytes)
        self._source_bytes += len(whole)
        return whole

    def require_memory(self, per_line: int, more: int = 0) -> None:
        """Raise InputError if the text, ``per_line`` bytes for each line, copies of long fields and ``more`` exceed the
        memory limit."""
        size, most = max(len(self.buffer), self._source_bytes), most_memory()
        if most is None or size + (_COPIES + per_line) * (1 + len(self.buffer)) + more <= most:
            return  # even if every line is empty
        needed = size + per_line * (1 + self._line_ends) + more
        if needed + _COPIES * len(self.buffer) > most:
            needed += _COPIES * sum(each.end() - each.start() - _SHORT for each in _LONG.finditer(self.buffer))
        require_memory(self.name, needed)

    def require_table_memory(self) -> None:
        """Raise InputError if the rows of a table as Python objects exceed the memory limit."""
        data = self.content
        cells = _PER_CELL * sum(map(data.count, (b"\t", b",", b";"))) + _PER_RECORD * data.count(b"\r")
        self.require_memory(_PER_RECORD, 4 * character_width(data) * len(data) + cells)

    @cached_property
    def _line_ends(self) -> int:
        return self.content.count(b"\n")

    @property
    def content(self) -> bytes | bytearray:
        """All bytes, as an object with the methods of bytes, which a view lacks."""
        return bytes(self.buffer) if isinstance(self.buffer, memoryview) else self.buffer

    @property
    def file_size(self) -> int:
        return 0 if self._state is None else self._state.st_size

    @property
    def is_held(self) -> bool:
        return "buffer" in self.__dict__

    def hold(self, view: bytes | bytearray | memoryview | Bytes) -> None:
        self.__dict__["buffer"] = view if isinstance(view, (bytes, bytearray, memoryview)) else view.data

    @cached_property
    def data(self) -> Bytes:
        import numpy as np

        found = np.frombuffer(self.buffer, np.uint8)
        found.flags.writeable = False
        return found

    @cached_property
    def head(self) -> bytes:
        if self.is_held:
            return bytes(memoryview(self.buffer)[:HEAD])
        found = b""
        for piece in self._pieces():
            found += piece
            if len(found) >= HEAD:
                break
        return found[:HEAD]

    def refuse_changed(self) -> None:
        """Raise InputError if the file has changed since it was opened, as when another library has read it."""
        if self.path is not None and self._state is not None:
            with _opened(self.path) as file:
                _refuse_changed(file, self._state, self.path)

    def tail(self, size: int) -> bytes:
        if self._state is None or self.path is None or self.is_held:
            return bytes(memoryview(self.buffer)[-size:])
        with _opened(self.path) as file:
            _refuse_changed(file, self._state, self.path)
            file.seek(max(0, self._state.st_size - size))
            return file.read()

    def pieces(self, size: int = _PIECE) -> Iterator[bytes]:
        """Yield all bytes in pieces, without keeping more than is already in memory."""
        for piece in [self.buffer] if self.is_held else self._pieces():
            view = memoryview(piece)
            for at in range(0, len(view), size):
                yield piece if isinstance(piece, bytes) and len(piece) <= size else bytes(view[at : at + size])

    def lines(self, kept: Callable[[bytes], int] | None = None) -> Iterator[bytes]:
        """Yield the lines without their LF, holding only a few at a time. ``kept`` returns the bytes of memory that the
        caller keeps of each part of the text."""
        size, total, line = 0, 0, [b""]
        # Small parts, because all lines of a part are held at a time.
        for part in self.pieces(_PART):
            first, *others = part.split(b"\n")
            size += len(first)
            total += 0 if kept is None else kept(part)
            require_memory(self.name, 2 * size + total)
            line.append(first)
            if others:
                line = [b"".join(line)]
                yield line.pop()  # not held here
                yield from others[:-1]
                line.append(others[-1])
                size = len(others[-1])
        yield b"".join(line)


def character_width(data: bytes | bytearray) -> int:
    """Return the bytes that each character of a UTF-8 text takes as a Python text."""
    return 1 if data.isascii() else 4 if any(data.count(lead) for lead in range(0xF0, 0xF5)) else 2


def text_lines(text: str) -> Iterator[str]:
    """Yield the lines of a side table with their ends: LF, CR LF or CR, and no other character.

    >>> list(text_lines("a\\u2028b\\r\\nc"))
    ['a\\u2028b\\r\\n', 'c']
    """
    return StringIO(text, newline="")


def shown_text(line: bytes) -> str:
    """Return a line as messages quote it; binary content is only named.

    >>> print(shown_text(b"q1 0 d1 1"), shown_text(b"\\x89PNG\\r\\n\\x1a\\x00\\x00\\x0d"))
    q1 0 d1 1 (binary content)
    """
    return "(binary content)" if len(_CONTROL.findall(line)) > _MOST_CONTROLS else printable(line, WIDEST_LINE)


class Fingerprint(NamedTuple):
    """Identification of the content of a source: the state of a file when it was read, or a digest of other bytes."""

    path: str
    state: os.stat_result | None = None
    digest: str | None = None
    ahead: Callable[[], str | None] | None = None  # waits for the hash computed on another thread

    def sha256(self) -> str | None:
        """Return the hash of the stored bytes, as `sha256sum` prints it; None if the file has changed since."""
        if self.ahead is not None:
            return self.ahead()
        if self.state is None:
            return self.digest
        from hashlib import sha256

        found = sha256()
        try:
            for piece in _file_pieces(self.path, self.state):
                found.update(piece)
        except InputError:
            return None
        return found.hexdigest()


#: Fingerprint of the source last read under each name; the oldest are dropped.
_FINGERPRINTS: dict[str, Fingerprint] = {}
_MOST_REMEMBERED = 100_000


def fingerprint_of(name: str) -> Fingerprint | None:
    """Return the fingerprint of the source last read under this name."""
    return _FINGERPRINTS.get(name)


def hash_ahead(names: Iterable[str]) -> None:
    """Hash these sources on another thread while they are read and scored."""
    from threading import Thread

    sources = {name: _FINGERPRINTS[name] for name in names}
    digests = dict[str, str | None]()
    thread = Thread(target=lambda: digests.update((name, each.sha256()) for name, each in sources.items()), daemon=True)
    thread.start()

    def digest(name: str) -> str | None:
        thread.join()
        return digests[name]

    for name, each in sources.items():
        _FINGERPRINTS[name] = each._replace(ahead=partial(digest, name))


def _remember(name: str, fingerprint: Fingerprint) -> None:
    _FINGERPRINTS.pop(name, None)
    _FINGERPRINTS[name] = fingerprint
    if len(_FINGERPRINTS) > _MOST_REMEMBERED:
        del _FINGERPRINTS[next(iter(_FINGERPRINTS))]


def open_source(source: Source | Text, name: str | None = None) -> Text:
    """Return the (decompressed) bytes of a source. ``name`` replaces its path in messages."""
    if isinstance(source, Text):
        return source
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _in_memory(bytes(source), name or "<bytes>")
    path = os.fspath(source)
    if path == "-":
        if sys.stdin is None:
            raise InputError("<stdin>: cannot be read (closed)")
        return _in_memory(_collected(_blocks(sys.stdin.buffer), "<stdin>"), name or "<stdin>")
    with _opened(path) as file:
        state = os.fstat(file.fileno())
        if not stat.S_ISREG(state.st_mode) or state.st_size == 0:
            # Pipes and some special files have size 0 but do have content, which can be read only once.
            return _in_memory(_collected(_blocks(file), path), name or path)
        start = file.read(HEAD)
    shown, compression = name or path, _compression(start)
    _remember(shown, Fingerprint(path, state))
    if compression is not None:
        return Text(shown, lambda: _undescribed(_decompressed(_file_pieces(path, state), compression, shown)))
    if start.startswith(_DESCRIPTION):
        return Text(shown, lambda: _undescribed(_file_pieces(path, state)))
    text = Text(shown, lambda: _file_pieces(path, state), path, state)
    text.__dict__["head"] = start
    return text


def _in_memory(data: bytes | bytearray, name: str) -> Text:
    from hashlib import sha256

    _remember(name, Fingerprint(name, digest=sha256(data).hexdigest()))
    compression = _compression(bytes(data[:10]))
    if compression is not None:
        return Text(name, lambda: _undescribed(_decompressed([data], compression, name)), source_bytes=len(data))
    if data.startswith(_DESCRIPTION):
        return Text(name, lambda: _undescribed(iter([bytes(data)])), source_bytes=2 * len(data))
    return Text.of_view(data, name)


def _undescribed(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Replace the system description in the first line of an NTCIR run with blanks, to keep line numbers."""
    start = next(pieces, b"")
    if start.startswith(_DESCRIPTION):
        line, end, rest = start.partition(b"\n")
        start = b" " * len(line) + end + rest
    yield start
    yield from pieces


def _collected(pieces: Iterable[bytes], name: str, expected: int = 0, source_bytes: int = 0) -> bytearray:
    """Join pieces of at least the expected total size; raise InputError if they exceed the memory limit."""
    whole = bytearray()  # unused room of a growing bytearray takes no memory
    try:
        for piece in chain([b""], pieces):
            require_memory(name, source_bytes + max(expected, len(whole) + len(piece)))
            whole += piece
    except MemoryError as error:
        raise InputError(f"{name}: not enough memory", HINT) from error
    return whole


def _blocks(file: IO[bytes]) -> Iterator[bytes]:
    return iter(lambda: file.read(_PIECE), b"")


@contextmanager
def _opened(path: str) -> Iterator[IO[bytes]]:
    try:
        with open(path, "rb", buffering=0) as file:
            yield file
    except InputError:  # a ValueError
        raise
    except FileNotFoundError as error:
        near = nearest_path(path)
        hint = f"did you mean {printable(near, 200)}?" if near else None
        if near and os.path.join(os.path.dirname(os.path.dirname(near)), os.path.basename(near)) == path:
            hint = f"{printable(os.path.basename(path), 200)} is in {printable(os.path.dirname(near), 200)}/"
        raise InputError(f"{path}: no such file", hint) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{path}: cannot be read ({reason})") from error


def nearest_path(path: str) -> str | None:
    """Return an existing path that resembles a missing one; None if there is none, or too many entries to search."""
    if not path or os.path.exists(path):
        return path
    folder, name = os.path.split(path)
    near = nearest_path(folder) if folder != path else None
    if found := _elsewhere(folder, name):
        return found
    if near is None or not os.path.isdir(near or "."):
        return None
    if os.path.exists(os.path.join(near, name)):
        return os.path.join(near, name)
    import difflib

    try:
        with os.scandir(near or ".") as entries:
            names = [entry.name for entry in islice(entries, _MOST_ENTRIES)]
    except OSError:
        return None
    folded = {each.casefold(): each for each in sorted(names, reverse=True)}
    begin_so = [each for each in sorted(folded) if name and each.startswith(f"{name.casefold()}.")]
    close = begin_so or difflib.get_close_matches(name.casefold(), folded, n=1)
    return os.path.join(near, folded[close[0]]) if close else None


def _elsewhere(folder: str, name: str) -> str | None:
    """Return the file of this name in a subfolder; None if there is none, or too many entries to search."""
    with suppress(OSError), os.scandir(folder or ".") as entries:
        found = (os.path.join(folder, each.name, name) for each in islice(entries, _MOST_ENTRIES) if each.is_dir())
        return min(filter(os.path.isfile, found), default=None)
    return None


def _file_pieces(path: str, state: os.stat_result) -> Iterator[bytes]:
    """Yield the bytes of a file that must be in this state before and after."""
    with _opened(path) as file:
        _refuse_changed(file, state, path)
        yield from _blocks(file)
        _refuse_changed(file, state, path)


def _refuse_changed(file: IO[bytes], state: os.stat_result, path: str) -> None:
    now = os.fstat(file.fileno())
    if any(getattr(now, name) != getattr(state, name) for name in ("st_ino", "st_size", "st_mtime_ns", "st_ctime_ns")):
        raise InputError(f"{path}: changed while being read", "run the command again once the file is complete")


def file_text(path: str) -> Text | None:
    """Return the text of a file that can be read repeatedly; None for anything else, or if reading fails."""
    if not os.path.isfile(path):
        return None
    try:
        text = open_source(path)
        return text if text.head else None
    except InputError:
        return None


def is_stream(source: object) -> TypeGuard[str | os.PathLike[str]]:
    """Return whether reading a source may block, as for standard input and pipes."""
    if not isinstance(source, (str, os.PathLike)):
        return False
    return str(source) == "-" or (os.path.exists(source) and not os.path.isfile(source) and not os.path.isdir(source))


class _Decompressor:
    """The interface of bz2.BZ2Decompressor over a decompressor of one member or frame that lacks parts of it."""

    def __init__(self, stream: Any) -> None:
        self._stream, self._waiting = stream, b""

    @property
    def eof(self) -> bool:
        return bool(self._stream.eof)

    @property
    def needs_input(self) -> bool:
        return not self._waiting

    @property
    def unused_data(self) -> bytes:
        return bytes(self._stream.unused_data + self._waiting)


class _Gzip(_Decompressor):
    def __init__(self) -> None:
        import zlib

        super().__init__(zlib.decompressobj(wbits=31))

    def decompress(self, data: bytes, max_length: int) -> bytes:
        found: bytes = self._stream.decompress(self._waiting + data, max_length)
        self._waiting = self._stream.unconsumed_tail
        return found


class _Zstd(_Decompressor):
    """A zstd decompressor. The library returns all output of its input, so that input that expands a lot is passed in
    small steps: four bytes can become 128 KB."""

    def __init__(self) -> None:
        import zstandard

        super().__init__(zstandard.ZstdDecompressor(max_window_size=_window(1 << 27)).decompressobj())
        self._step = _SMALLEST_STEP

    def decompress(self, data: bytes, max_length: int) -> bytes:
        self._waiting += data
        found = bytearray()
        while self._waiting and len(found) < max_length and not self.eof:
            given, self._waiting = self._waiting[: self._step], self._waiting[self._step :]
            piece = self._stream.decompress(given)
            self._step = _SMALLEST_STEP if len(piece) > 64 * len(given) else 2 * self._step
            found += piece
        return bytes(found)


def _window(most: int) -> int:
    """Return the memory for a decompression window: a quarter of the limit, but at least what common files need."""
    return max(min((most_memory() or most) // 4, most), 1 << 24)


class _Compression(NamedTuple):
    """A compression format: its magic bytes and decompressor, and the zero padding allowed between and after streams, a
    multiple of ``padding`` bytes (0: none)."""

    magic: re.Pattern[bytes]
    kind: str
    new: Callable[[], Any]  # returns an object with the methods of bz2.BZ2Decompressor; imported when needed
    padding: int = 0
    input_size: int = 1 << 18


_COMPRESSIONS = (
    _Compression(re.compile(rb"\x1f\x8b"), "gzip", _Gzip, padding=1),
    _Compression(
        re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"), "bzip2", lambda: import_module("bz2").BZ2Decompressor()
    ),
    _Compression(
        re.compile(rb"\xfd7zXZ\x00"),
        "xz",
        lambda: import_module("lzma").LZMADecompressor(memlimit=_window(1 << 32)),
        padding=4,
    ),
    _Compression(re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"), "zstd", _Zstd, input_size=1 << 12),
)


def _compression(start: bytes) -> _Compression | None:
    return next((compression for compression in _COMPRESSIONS if compression.magic.match(start)), None)


def _decompressed(raw: Iterable[bytes | bytearray], compression: _Compression, name: str) -> Iterator[bytes]:
    read = 0

    def parts() -> Iterator[bytes]:
        nonlocal read
        size = min(_FIRST_INPUT, compression.input_size)  # the head needs little input
        for piece in raw:
            at = 0
            while part := bytes(memoryview(piece)[at : at + size]):
                at, size = at + size, min(2 * size, compression.input_size)
                read += len(part)
                yield part

    try:
        most, begin, empty, in_comment = min(most_memory() or _LARGEST_GAP, _LARGEST_GAP), 0, 0, False
        for piece in _streams(parts(), compression):
            # Repeated rows may expand without limit, but data without rows may not.
            if _CONTENT.search(b"#" + piece if in_comment else piece):
                begin, empty, in_comment = read, 0, False
            else:
                empty += len(piece)
                in_comment = piece[piece.rfind(b"\n") + 1 :].lstrip(b" \t\r\0")[:1] == b"#" or (
                    in_comment and b"\n" not in piece
                )
                if empty > max(most, _LARGEST_RATIO * (read - begin)):
                    found = f"{size_text(empty)} of blanks, comments or NUL bytes"
                    hint = "is this the right file? Compress it again without them"
                    raise InputError(f"{name}: expected rows in the {compression.kind} data, found {found}", hint)
            yield piece
    except (InputError, MemoryError):
        raise
    except ImportError as error:
        install = "install it with: pip install 'gainful[zstd]'"
        raise MissingExtraError(f"{name}: reading zstd needs the package zstandard", install) from error
    except Exception as error:  # each library has its own exception types for damaged data
        if "memory" in str(error).lower():
            raise InputError(f"{name}: decompression exceeds the memory limit", HINT) from error
        found = f"a damaged file ({error})"
        raise InputError(f"{name}: expected {compression.kind} data, found {found}") from error


def _streams(parts: Iterator[bytes], compression: _Compression) -> Iterator[bytes]:
    """Yield the output of all consecutive streams. Truncated or invalid streams are errors, never skipped."""
    rest = b""
    while data := rest or next(parts, b""):
        decompressor = compression.new()
        while True:
            piece = decompressor.decompress(data, _PIECE)
            if piece:
                yield piece
            if decompressor.eof:
                break
            data = next(parts, b"") if decompressor.needs_input else b""
            if decompressor.needs_input and not data:
                raise EOFError("truncated")
        rest = decompressor.unused_data
        if compression.padding:
            zeros = 0
            while rest := rest or next(parts, b""):
                stripped = rest.lstrip(b"\0")
                zeros += len(rest) - len(stripped)
                rest = stripped
                if rest:
                    break
            rest = bytes(zeros % compression.padding) + rest


def read_size(text: str, what: str) -> int:
    """Parse a size in bytes: 500MB, 8GB, 1.5g.

    >>> read_size("1.5GB", "--max-memory")
    1500000000
    """
    match = _SIZE.fullmatch(text.strip())
    size = int(float(match[1]) * _UNITS[match[2].lower()]) if match else 0
    if size <= 0:
        raise UsageError(f"{what}: expected a size such as 500MB or 8GB, found '{text}'")
    return size


def size_text(size: float) -> str:
    """Format a number of bytes for messages.

    >>> size_text(17_580_000_000), size_text(512)
    ('17.6 GB', '512 bytes')
    """
    unit = next((unit for unit in "tgmk" if size >= _UNITS[unit]), "")
    return f"{size / _UNITS[unit]:.3g} {unit.upper()}B" if unit else f"{size:g} bytes"


def most_memory() -> int | None:
    """Return the memory limit for a source; None if available memory is unknown."""
    setting = os.environ.get(SETTING)
    return read_size(setting, SETTING) if setting else _three_quarters_of_free_memory()


@cache
def _three_quarters_of_free_memory() -> int | None:
    """Return three quarters of the memory that was free at first, of the machine or of this process's share."""
    found = []
    with suppress(OSError, ValueError, IndexError):
        with open("/proc/meminfo", encoding="ascii") as file:
            lines = dict(line.split(":", 1) for line in file)
        found.append(int(lines["MemAvailable"].split()[0]) * 1024)
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        with suppress(OSError, ValueError), open(path, encoding="ascii") as file:
            found.append(int(file.read()))
    if not found and hasattr(os, "sysconf"):
        with suppress(OSError, ValueError):
            found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return min(found) * 3 // 4 if found else None


def require_memory(name: str, size: float) -> None:
    """Raise InputError if a source would exceed the memory limit; called before the memory is allocated."""
    most = most_memory()
    if most is not None and size > most:
        found = f"needs about {size_text(size)} of memory or more; the limit is {size_text(most)}"
        raise InputError(f"{name}: {found}", HINT)


def max_list_bytes() -> int:
    """Return the bytes of text that may be held at a time for one list; its rows take more than that."""
    most = most_memory()
    return 1 << 31 if most is None else min(most // 4, 1 << 31)


def as_source(value: object, or_else: str) -> Source | Text:
    """Return the value if it is something to read from; otherwise raise UsageError."""
    if isinstance(value, (str, os.PathLike, bytes, bytearray, memoryview, Text)):
        return value
    hint = "call .collect() first" if hasattr(value, "collect") else None
    if isinstance(value, list) and or_else != "a table":
        hint = "each dict of a list must hold a query and its documents, or one row of a table"
    elif isinstance(value, dict):
        hint = "use from_dict for a dict"
    elif hasattr(value, "__array__"):
        hint = "use gainful.evaluate_arrays(scores, relevance) for arrays with one row per query"
    raise UsageError(f"expected a path, bytes, a dict, a data frame or {or_else}, found {type(value).__name__}", hint)
