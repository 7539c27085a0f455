"""The job that reads ahead gives the same results as single calls, never blocks, and can be dropped."""

from __future__ import annotations

import os
import subprocess
import sys
from array import array
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

core = pytest.importorskip("gainful.kernel._core", reason="only the compiled core reads ahead")

QRELS = b"q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 2\n"
RUNS = [b"q1 Q0 d2 1 3 t\nq1 Q0 d1 2 2 t\n", b"q2 Q0 d1 1 1 t\nq3 Q0 d9 1 1 t\n", b"q1 Q0 d1\n"]
OPTIONS = core.JoinOptions(0, 0, False, False, 0)


def cells() -> array[int]:
    return array("q", [0, 0])


def as_array(data: bytes) -> np.ndarray:
    return np.frombuffer(data, np.uint8)


def same(one: dict[str, object], other: dict[str, object]) -> bool:
    return (
        all(np.array_equal(np.asarray(one[key]), np.asarray(other[key])) for key in one) and one.keys() == other.keys()
    )


@pytest.fixture
def paths(tmp_path: Path) -> list[bytes]:
    """The runs as files."""
    for i, run in enumerate(RUNS):
        (tmp_path / f"{i}.run").write_bytes(run)
    return [bytes(tmp_path / f"{i}.run") for i in range(len(RUNS))]


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_a_job_gives_the_same_as_calls(paths: list[bytes], threads: int) -> None:
    progress = cells()
    job = core.JoinJob(QRELS, paths, OPTIONS, threads, progress)
    judgments = core.read_judgments(as_array(QRELS), 1)
    assert same(job.judgments(), judgments)
    columns = [judgments[key] for key in ("document_start", "document_length")]
    index = core.JudgmentIndex(judgments["query_ids"], judgments["query"], as_array(QRELS), *columns)
    assert np.array_equal(job.index().item, index.item)
    for i, run in enumerate(RUNS[:2]):
        joined, text = job.joined(i)
        assert same(joined, core.join_text(as_array(run), index, OPTIONS, 1, cells()))
        assert text is None
    assert job.joined(2) == (None, None), "who reads it whole says what is wrong with it"
    assert progress[0] == sum(map(len, RUNS[:2]))


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_a_run_in_pieces_is_joined_like_a_file(paths: list[bytes], size: int) -> None:
    def pieces(text: bytes) -> Iterator[bytes]:
        for at in range(0, len(text), size):
            yield text[at : at + size]
            yield b""

    progress = cells()
    job = core.JoinJob(QRELS, [*map(pieces, RUNS), *paths], OPTIONS, 2, progress)
    job.judgments()
    for i in range(2):
        assert same(job.joined(i)[0], job.joined(len(RUNS) + i)[0])
    assert job.joined(2) == (None, None)
    assert progress[0] == 2 * sum(map(len, RUNS[:2]))


def test_errors_of_an_iterator_are_reported_on_the_next_read() -> None:
    def failing() -> Iterator[bytes]:
        yield RUNS[0]
        raise ValueError("damaged")

    job = core.JoinJob(QRELS, [failing(), iter([RUNS[0], "text"])], OPTIONS, 1, cells())
    assert job.joined(0) == job.joined(1) == (None, None)
    with pytest.raises(ValueError, match="places in a text need the whole text"):
        core.JoinJob(QRELS, [failing()], core.JoinOptions(0, 0, False, False, 0, want_facts=True), 1, cells())


def test_a_job_that_waits_for_an_endless_iterator_can_be_dropped_and_does_not_outlive_the_interpreter() -> None:
    code = (
        "from array import array; from itertools import repeat; from gainful.kernel import _core;"
        "start = lambda: _core.JoinJob(b'q 0 d 1', [repeat(b'#')] * 2, _core.JoinOptions(0, 0, False, False, 0), 2,"
        "                              array('q', [0, 0]));"
        "job = start(); del job; job = start(); job.judgments()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    for options in (OPTIONS, core.JoinOptions(0, 0, False, False, 0, want_facts=True)):
        job = core.JoinJob(QRELS, [bytes(tmp_path / "nothing"), bytes(tmp_path)], options, 1, cells())
        assert job.joined(0) == job.joined(1) == (None, None)


def test_judgments_with_faults_have_no_joins(paths: list[bytes]) -> None:
    job = core.JoinJob(b"q1 0 d1\n", paths[:1], OPTIONS, 2, cells())
    assert job.judgments()["faults"] == [(0, 1, 3)]
    for ask in (job.index, lambda: job.joined(0)):
        with pytest.raises(ValueError, match="the judgments have faults"):
            ask()


def test_there_is_no_other_run() -> None:
    job = core.JoinJob(QRELS, [], OPTIONS, 1, cells())
    with pytest.raises(ValueError, match="there is no such run"):
        job.joined(0)


def test_a_dropped_job_gives_up_and_leaves_the_caller_be(tmp_path: Path) -> None:
    run = b"".join(b"q%d Q0 d%d 1 1 t\n" % (i % 1000, i) for i in range(200_000))
    progress = cells()
    path = tmp_path / "long.run"
    path.write_bytes(run)
    job = core.JoinJob(QRELS, [bytes(path)] * 8, OPTIONS, 2, progress)
    del job
    assert progress[0] < 8 * len(run)
    assert progress[1] == 0, "what the caller does next is not cancelled"


def test_a_result_is_given_once(paths: list[bytes]) -> None:
    job = core.JoinJob(QRELS, paths[:1], OPTIONS, 1, cells())
    for ask, what in ((job.judgments, "the judgments were"), (lambda: job.joined(0), "the join was")):
        ask()
        with pytest.raises(ValueError, match=f"{what} asked for already"):
            ask()
    assert job.index().item.size == 3


@pytest.mark.skipif(sys.platform != "linux", reason="asks the system for its size in Linux's way")
@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="the sanitizer needs all the addresses")
def test_a_job_without_memory_raises_memory_error() -> None:
    code = """
import resource, sys
from array import array
from collections.abc import Iterator
from gainful.kernel import _core
def run(runs):
    options = _core.JoinOptions(0, 0, False, False, 0)
    _core.JoinJob(b"q 0 d 1", runs, options, 1, array("q", [0, 0])).judgments()
run([b"nothing"] * 10)  # leaves room for what is small
many = [b"nothing"] * 400_000
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + 8 * 2**20, resource.RLIM_INFINITY))
try:
    run(many)
except MemoryError:
    print("MemoryError")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "MemoryError\n"), done.stderr


def test_a_cancelled_job_says_so(paths: list[bytes]) -> None:
    progress = array("q", [0, 1])
    job = core.JoinJob(QRELS, paths[:1], OPTIONS, 1, progress)
    with pytest.raises(RuntimeError, match="cancelled"):
        job.joined(0)


def test_starting_needs_no_numpy() -> None:
    code = (
        "import sys; from array import array; from gainful.kernel import _core;"
        "options = _core.JoinOptions(0, 0, False, False, 0);"
        "job = _core.JoinJob(b'q 0 d 1', [], options, 1, array('q', [0, 0]));"
        "assert 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
