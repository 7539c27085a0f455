"""Where bytes come from: files, pipes, standard input, memory; plain, compressed, damaged or absent."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import random
import sys
import threading

import numpy as np
import pytest
import zstandard

from gainful.errors import InputError, MissingExtraError, UsageError
from gainful.io.sources import open_source

TEXT = b"q1 0 d1 1\nq1 0 d2 \xff\n" * 1000
COMPRESSIONS = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress, "zstd": zstandard.compress}


def test_a_path(tmp_path):
    path = tmp_path / "some.run"
    path.write_bytes(TEXT)
    for source in path, str(path):
        text = open_source(source)
        assert text.data.tobytes() == TEXT
        assert text.data.dtype == np.uint8
        assert text.name == str(path)


def test_a_file_is_mapped_and_cannot_be_changed(tmp_path):
    path = tmp_path / "some.run"
    path.write_bytes(TEXT)
    data = open_source(path).data
    assert not data.flags.writeable
    assert not data.flags.owndata


def test_a_relative_path(tmp_path, monkeypatch):
    (tmp_path / "some.run").write_bytes(TEXT)
    monkeypatch.chdir(tmp_path)
    assert open_source("some.run").name == "some.run"
    assert open_source("some.run", "the run").name == "the run"


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_bytes(kind):
    text = open_source(kind(TEXT))
    assert (text.data.tobytes(), text.name) == (TEXT, "<bytes>")
    assert open_source(kind(TEXT), "judgments").name == "judgments"


def test_bytes_that_change_later():
    changing = bytearray(TEXT)
    text = open_source(changing)
    changing[:2] = b"zz"
    assert text.data.tobytes() == TEXT


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT)))
    text = open_source("-")
    assert (text.data.tobytes(), text.name) == (TEXT, "<stdin>")


@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_compressed(tmp_path, monkeypatch, kind):
    packed = COMPRESSIONS[kind](TEXT)
    assert len(packed) < len(TEXT)
    path = tmp_path / "no-telling-name"
    path.write_bytes(packed)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(packed)))
    for source in path, packed, "-":
        assert open_source(source).data.tobytes() == TEXT


@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_compressed_in_several_pieces(kind):
    compress = COMPRESSIONS[kind]
    assert open_source(compress(TEXT) + compress(b"") + compress(TEXT[::-1])).data.tobytes() == TEXT + TEXT[::-1]


@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_compressed_nothing(kind):
    assert open_source(COMPRESSIONS[kind](b"")).data.size == 0


def test_zstd_without_its_size_in_the_header():
    compressor = zstandard.ZstdCompressor(write_content_size=False)
    assert open_source(compressor.compress(TEXT)).data.tobytes() == TEXT


@pytest.mark.parametrize("kind", COMPRESSIONS)
@pytest.mark.parametrize("cut", [10, -1, -5, "half"])
def test_truncated(kind, cut):
    packed = COMPRESSIONS[kind](random.Random(1).randbytes(1 << 18).hex().encode())  # long enough for several blocks
    damaged = packed[: len(packed) // 2 if cut == "half" else cut]
    with pytest.raises(InputError, match=rf"^some\.run: expected {kind} data, found a damaged file \("):
        open_source(damaged, "some.run")


@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_corrupted(kind):
    packed = bytearray(COMPRESSIONS[kind](TEXT))
    for i in range(len(packed) // 2, len(packed) // 2 + 8):
        packed[i] ^= 0xFF
    with pytest.raises(InputError, match=f"expected {kind} data, found a damaged file"):
        open_source(bytes(packed))


@pytest.mark.parametrize("text", [b"BZh 0 d1 1\n", b"BZhou-7 0 d1 1\n", b"BZh9 0 d1 1\n", b"BZ 0 d1 1\n"])
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


def test_nothing_there(tmp_path):
    path = tmp_path / "nothing.run"
    with pytest.raises(InputError) as caught:
        open_source(path)
    assert str(caught.value) == f"{path}: no such file"
    assert caught.value.exit_code == 3


def test_a_directory(tmp_path):
    with pytest.raises(InputError) as caught:
        open_source(tmp_path)
    assert str(caught.value) == f"{tmp_path}: cannot be read (Is a directory)"


def test_a_path_that_cannot_be():
    with pytest.raises(InputError, match="cannot be read"):
        open_source("a\0b")


def test_zstd_without_its_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingExtraError) as caught:
        open_source(zstandard.compress(TEXT))
    assert str(caught.value) == (
        "<bytes>: reading zstd needs the package zstandard\nhint: install it with: pip install 'gainful[zstd]'"
    )
    assert caught.value.exit_code == 2
    assert isinstance(caught.value, UsageError)
    assert isinstance(caught.value, ImportError)


def test_other_compressions_need_no_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    for kind in "gzip", "bzip2", "xz":
        assert open_source(COMPRESSIONS[kind](TEXT)).data.tobytes() == TEXT
