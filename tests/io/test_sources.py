"""Sources of bytes: files, pipes, standard input, memory; plain, compressed, damaged or missing."""

from __future__ import annotations

import bz2
import errno
import gzip
import hashlib
import io
import lzma
import os
import random
import re
import sys
import threading
import tracemalloc
from functools import cache, partial

import numpy as np
import pytest
import zstandard

from gainful import Run
from gainful.cli.main import run
from gainful.errors import InputError, MissingExtraError, UsageError
from gainful.io.sources import fingerprint_of, hash_ahead, open_source
from tests.together import together

TEXT = b"q1 0 d1 1\nq1 0 d2 \xff\n" * 1000
COMPRESSIONS = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": partial(lzma.compress, preset=0),
    "zstd": zstandard.compress,
}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "some.run"
    path.write_bytes(TEXT)
    return path


def test_paths_and_bytes(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT)))
    named = {path: str(path), str(path): str(path), "some.run": "some.run", "-": "<stdin>", TEXT: "<bytes>"}
    for source, name in [*named.items(), (bytearray(TEXT), "<bytes>"), (memoryview(TEXT), "<bytes>")]:
        text = open_source(source)
        assert (text.data.tobytes(), text.data.dtype, text.name) == (TEXT, np.uint8, name)
        if source != "-":
            assert open_source(source, "the run").name == "the run"


def test_bytes_do_not_change_after_reading(path):
    changing = bytearray(TEXT)
    text = open_source(changing)
    changing[:2] = b"zz"
    assert text.data.tobytes() == TEXT
    data = open_source(path).data
    assert not data.flags.writeable
    path.write_bytes(TEXT[::-1])
    assert data.tobytes() == TEXT
    os.truncate(path, 0)
    assert data.tobytes() == TEXT


def test_a_file_that_changes_while_it_is_read(path):
    for change in (lambda: os.truncate(path, 5), lambda: path.write_bytes(TEXT + b"more")):
        text = open_source(path)
        pieces = text.pieces()
        next(pieces)
        change()
        with pytest.raises(InputError) as caught:
            list(pieces)
        assert str(caught.value).startswith(f"{path}: changed while being read\nhint: ")
        assert caught.value.exit_code == 3
        with pytest.raises(InputError, match="changed while being read"):
            _ = text.data


def test_a_file_that_is_replaced_before_it_is_read(path):
    other = path.with_name("other.run")
    other.write_bytes(TEXT[::-1])
    text = open_source(path)
    other.replace(path)
    assert text.head == TEXT, "the beginning was read when it was opened"
    for read in (lambda: text.data, lambda: text.tail(10)):
        with pytest.raises(InputError, match="changed while being read"):
            read()


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")
def test_no_descriptor_stays_open(path):
    before = len(os.listdir("/proc/self/fd"))
    text = open_source(path)
    kept = [text.data, text.head, text.tail(10), list(text.pieces())]
    assert len(os.listdir("/proc/self/fd")) == before
    assert kept[2] == TEXT[-10:]


@pytest.mark.parametrize("kind", [None, *COMPRESSIONS])
def test_piece_by_piece(tmp_path, kind):
    # Several pieces, compressed too, where the first lines take most of the room.
    names = [*(random.Random(i).randbytes(100).hex().encode() for i in range(3000)), *[b"d" * 200] * 18_000]
    long = b"".join(b"q%d Q0 %b 1 1 t\n" % (i, name) for i, name in enumerate(names))
    packed = COMPRESSIONS[kind](long) if kind else long
    assert len(packed) > 1 << 18
    path = tmp_path / "some.run"
    path.write_bytes(packed)
    text = open_source(path)
    pieces = list(text.pieces())
    assert b"".join(pieces) == long
    assert len(pieces) > 1 or kind == "zstd"
    assert text.head == long[: 1 << 16]
    assert list(text.lines()) == long.split(b"\n")
    assert not text.is_held
    assert text.tail(100) == long[-100:]
    assert text.data.tobytes() == long
    assert list(text.lines()) == long.split(b"\n")


class TestMemory:
    """The limit is respected, and exceeding it is an error."""

    LIMITED = r"needs about [\d.]+ MB of memory or more; the limit is 1 MB"

    @pytest.fixture(autouse=True)
    def limit(self, monkeypatch):
        monkeypatch.setenv("GAINFUL_MAX_MEMORY", "1MB")

    @pytest.mark.parametrize("kind", [None, *COMPRESSIONS])
    def test_files(self, tmp_path, kind):
        zeros = b"0" * 1_000_001
        path = tmp_path / "zeros"
        path.write_bytes(COMPRESSIONS[kind](zeros) if kind else zeros)
        with pytest.raises(InputError) as caught:
            _ = open_source(path).data
        assert re.fullmatch(f"{re.escape(str(path))}: {self.LIMITED}", caught.value.message)
        assert "--max-memory" in str(caught.value)
        path.write_bytes(COMPRESSIONS[kind](zeros[:-1]) if kind else zeros[:-1])
        assert open_source(path).data.size == 1_000_000

    @pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs /dev/zero")
    def test_endless_input(self):
        with pytest.raises(InputError, match=f"^/dev/zero: {self.LIMITED}"):
            open_source("/dev/zero")

    def test_standard_input(self, monkeypatch):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(bytes(2_000_000))))
        with pytest.raises(InputError, match=f"^<stdin>: {self.LIMITED}"):
            open_source("-")

    def test_a_bomb_is_never_whole_in_memory(self, tmp_path):
        path = tmp_path / "bomb.gz"
        path.write_bytes(gzip.compress(b"0" * 50_000_000, 1))
        tracemalloc.start()
        with pytest.raises(InputError, match=self.LIMITED):
            _ = open_source(path).data
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 20_000_000


@pytest.mark.parametrize("compress", [COMPRESSIONS[kind] for kind in ("gzip", "xz", "zstd")])
def test_decompressing_holds_the_text_once(tmp_path, compress):
    text = TEXT * 1500  # 30 MB
    path = tmp_path / "large"
    path.write_bytes(compress(text))
    tracemalloc.start()
    data = open_source(path).data
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert data.size == len(text)
    assert peak < 1.3 * len(text) + 13_000_000  # what decompressors hold themselves, and pieces


@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_compressed(tmp_path, monkeypatch, kind):
    packed = COMPRESSIONS[kind](TEXT)
    assert len(packed) < len(TEXT)
    path = tmp_path / "no-telling-name"
    path.write_bytes(packed)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(packed)))
    for source in path, packed, "-":
        assert open_source(source).data.tobytes() == TEXT
    if kind == "zstd":
        without_size = zstandard.ZstdCompressor(write_content_size=False).compress(TEXT)
        assert open_source(without_size).data.tobytes() == TEXT


@together("kind", COMPRESSIONS)
def test_compressed_in_several_pieces(kind):
    compress = COMPRESSIONS[kind]
    assert open_source(compress(b"")).data.size == 0
    assert open_source(compress(TEXT) + compress(b"") + compress(TEXT[::-1])).data.tobytes() == TEXT + TEXT[::-1]


@pytest.mark.parametrize(("kind", "group"), [("gzip", 1), ("xz", 4)])
def test_zeros_after_compressed_data(kind, group):
    packed = COMPRESSIONS[kind](TEXT)
    for zeros in (group, 8 * group):
        assert open_source(packed + bytes(zeros) + packed + bytes(zeros)).data.tobytes() == 2 * TEXT
    if group > 1:
        with pytest.raises(InputError, match="damaged"):
            _ = open_source(packed + bytes(group + 1)).data


@cache
def long_packed(kind):
    """Long enough for several blocks."""
    return COMPRESSIONS[kind](random.Random(1).randbytes(1 << 18).hex().encode())


@together("kind", COMPRESSIONS)
@together("cut", [10, -1, -5, "half"])
def test_truncated(kind, cut):
    packed = long_packed(kind)
    damaged = packed[: len(packed) // 2 if cut == "half" else cut]
    with pytest.raises(InputError, match=rf"^some\.run: expected {kind} data, found a damaged file \("):
        _ = open_source(damaged, "some.run").data


@together("kind", COMPRESSIONS)
def test_corrupted(kind):
    packed = bytearray(COMPRESSIONS[kind](TEXT))
    for i in range(len(packed) // 2, len(packed) // 2 + 8):
        packed[i] ^= 0xFF
    with pytest.raises(InputError, match=f"expected {kind} data, found a damaged file"):
        _ = open_source(bytes(packed)).data


@together("text", [b"BZh 0 d1 1\n", b"BZhou-7 0 d1 1\n", b"BZh9 0 d1 1\n", b"BZ 0 d1 1\n"])
def test_text_that_begins_like_compressed_data(text):
    assert open_source(text).data.tobytes() == text


def test_empty(tmp_path):
    path = tmp_path / "empty"
    path.touch()
    for source in path, b"", os.devnull:
        data = open_source(source).data
        assert (data.size, data.dtype) == (0, np.uint8)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("content", [TEXT, gzip.compress(TEXT, mtime=0)])
def test_a_named_pipe(tmp_path, content):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(content,))
    writer.start()
    try:
        assert open_source(path).data.tobytes() == TEXT
    finally:
        writer.join()


@pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="needs /dev/fd")
def test_a_pipe_as_shells_substitute_processes():
    reading, writing = os.pipe()
    try:
        with os.fdopen(writing, "wb") as file:
            file.write(TEXT[:4000])
        assert open_source(f"/dev/fd/{reading}").data.tobytes() == TEXT[:4000]
    finally:
        os.close(reading)


def test_unreadable_sources_are_errors(tmp_path):
    nothing = tmp_path / "nothing.run"
    for path, message in (
        (nothing, f"{nothing}: no such file"),
        (tmp_path, f"{tmp_path}: cannot be read (Is a directory)"),
        ("a\0b", "a\0b: cannot be read (embedded null byte)"),
    ):
        with pytest.raises(InputError) as caught:
            open_source(path)
        assert (str(caught.value), caught.value.exit_code) == (message, 3)


def test_zstd_without_its_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingExtraError) as caught:
        _ = open_source(zstandard.compress(TEXT)).data
    assert str(caught.value) == (
        "<bytes>: reading zstd needs the package zstandard\nhint: install it with: pip install 'gainful[zstd]'"
    )
    assert caught.value.exit_code == 2
    assert isinstance(caught.value, UsageError) and isinstance(caught.value, ImportError)
    for kind in "gzip", "bzip2", "xz":
        assert open_source(COMPRESSIONS[kind](TEXT)).data.tobytes() == TEXT


def test_files_are_hashed_ahead(tmp_path):
    kept, changed = tmp_path / "kept.run", tmp_path / "changed.run.gz"
    kept.write_bytes(b"q1 Q0 d1 1 1 t\n" * 100_000)
    changed.write_bytes(gzip.compress(b"q1 Q0 d1 1 1 t\n"))
    for path in (kept, changed):
        open_source(path)
    changed.write_bytes(b"other")
    hash_ahead([str(kept), str(changed)])
    found = [fingerprint_of(str(path)) for path in (kept, changed)]
    assert [each and each.sha256() for each in found] == [hashlib.sha256(kept.read_bytes()).hexdigest(), None]


@pytest.mark.parametrize("command", [["eval", "qrels.txt", "folder"], ["eval", "folder", "some.run"]])
def test_folders_that_cannot_be_listed(tmp_path, monkeypatch, capsys, command):
    def refuse(path):
        raise PermissionError(errno.EACCES, "Permission denied", path)

    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\n")
    (tmp_path / "some.run").write_text("q1 Q0 a 1 1 t\n")
    monkeypatch.setattr(os, "listdir", refuse)
    monkeypatch.setattr(os, "scandir", refuse)
    assert run(command) == 3
    assert capsys.readouterr().err.startswith("folder: cannot be read (Permission denied)")


def test_a_guess_at_a_mistake_does_not_copy_a_long_line():
    text = b"x" * 20_000_000
    tracemalloc.start()
    with pytest.raises(InputError, match=r"<bytes>:1: expected 6 fields, found 1\n"):
        Run.read(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 30_000_000  # one copy, for the format's detection
