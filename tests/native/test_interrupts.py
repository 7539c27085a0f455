"""An interrupt at any time ends in KeyboardInterrupt or a clean exit, never in a crash.

Each script forks as often as it is interrupted: what is loaded is loaded once, and every child ends as a whole process.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and signals")

COMMON = """
import os, random, signal, sys, threading, time
import gainful
random.seed(int(sys.argv[1]))
qrels = gainful.Qrels.read("qrels")
runs = {str(i): "some.run" for i in range(3)}
def work():
    return gainful.evaluate(qrels, runs, ["nDCG@10", "AP"], threads=2)
expected = {name: result.mean("AP") for name, result in work().items()}
"""

#: Interrupted again and again, a process goes on as if nothing had been.
AGAIN = """
signal.signal(signal.SIGALRM, signal.default_int_handler)
caught = 0
for trial in range(120):
    try:
        signal.setitimer(signal.ITIMER_REAL, random.uniform(0.0001, 0.01))
        while True:
            work()
    except KeyboardInterrupt:
        caught += 1
assert {name: result.mean("AP") for name, result in work().items()} == expected
print(caught)
"""

#: What children do: the first is interrupted and does nothing about it, the second ends while others still work.
CHILDREN = """
ends = {}
for trial in range(24):
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        delay = random.uniform(0.001, 0.02)
        if sys.argv[2] == "interrupted":
            signal.signal(signal.SIGALRM, signal.default_int_handler)
            signal.setitimer(signal.ITIMER_REAL, delay)
            since = time.monotonic()
            while time.monotonic() < since + 10:
                work()
            sys.exit("the interrupt was lost")
        def forever():
            while True:
                work()
        for _ in range(2):
            threading.Thread(target=forever, daemon=True).start()
        time.sleep(delay)
        sys.exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    ends[status] = ends.get(status, 0) + 1
print(ends)
"""

#: Children of a process whose other threads work: those are gone in the child, and nobody may wait for them.
FORKED = """
def forever():
    while True:
        work()
for _ in range(2):
    threading.Thread(target=forever, daemon=True).start()
ended = 0
for trial in range(16):
    child = os.fork()
    if child == 0:
        work()
        sys.exit(0)
    since = time.monotonic()
    while os.waitpid(child, os.WNOHANG)[0] == 0:
        if time.monotonic() > since + 20:
            os.kill(child, signal.SIGKILL)
            sys.exit("a child hangs")
        time.sleep(0.001)
    ended += 1
print(ended)
"""


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    queries, documents = range(60), range(100)
    (tmp_path / "qrels").write_text("".join(f"q{q} 0 d{d} {(q + d) % 4}\n" for q in queries for d in documents))
    (tmp_path / "some.run").write_text(
        "".join(f"q{q} Q0 d{(d * 7 + q) % 150} {d} {-d} t\n" for q in queries for d in documents)
    )
    return tmp_path


def output_of(script: str, directory: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", COMMON + script, "1", *arguments],
        cwd=directory,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_process_that_is_interrupted_goes_on(directory: Path) -> None:
    assert output_of(AGAIN, directory) == "120"


def test_a_process_that_is_interrupted_ends_as_pythons_do(directory: Path) -> None:
    # Python answers an interrupt that nobody catches by ending itself with the signal.
    assert output_of(CHILDREN, directory, "interrupted") == "{-2: 24}"


def test_a_process_ends_while_its_threads_work(directory: Path) -> None:
    assert output_of(CHILDREN, directory, "ends") == "{0: 24}"


def test_children_of_a_process_whose_threads_work(directory: Path) -> None:
    assert output_of(FORKED, directory) == "16"
