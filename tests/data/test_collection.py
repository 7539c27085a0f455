"""Inputs of a command: standard input, names, and judgments and runs that are read ahead."""

from __future__ import annotations

import bz2
import gzip
import lzma
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gainful import InputError, Policy, Qrels, Run, UsageError
from gainful.data.collection import Collection, Inputs, read_once
from gainful.data.graded import join
from gainful.data.judged import Judged
from gainful.evaluation.evaluate import evaluate_runs
from gainful.io.formats import Reading
from gainful.kernel import core
from gainful.measures.catalog import parse

QRELS = "q1 0 a 2\nq1 0 b 1\nq2 0 c 1\n"
RUN = "q1 Q0 b 1 3 x\nq1 Q0 a 2 2 x\nq2 Q0 x 1 3 x\nq2 Q0 c 2 2 x\n"


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, dict[str, str]]:
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "mine.run").write_text(RUN)
    return str(tmp_path / "qrels.txt"), {"mine": str(tmp_path / "mine.run")}


def collected(files: tuple[str, dict[str, str]], inputs: Inputs = Inputs()) -> Collection:  # noqa: B008 - immutable
    found = Collection(*files, Policy(), inputs, threads=1)
    if not hasattr(core, "JoinJob"):
        pytest.skip("this core does not read ahead")
    return found


def test_standard_input_stands_for_one_file() -> None:
    read_once("-", "q.txt", None, None)
    for paths in (("-", "-"), ("q.txt", "-", None, "-")):
        with pytest.raises(UsageError, match=r"standard input \(-\) is given twice, but can be read only once"):
            read_once(*paths)


def test_plain_text_is_read_ahead_and_the_same_comes_out(files: tuple[str, dict[str, str]]) -> None:
    collection = collected(files)
    assert all(run.ahead for run in collection.runs.values())
    [ahead] = evaluate_runs(collection.judged, collection.runs, [parse("RR"), parse("nDCG@10")]).values()
    whole = evaluate_runs(Judged(Qrels.read(files[0]), Policy()), files[1], [parse("RR"), parse("nDCG@10")])
    assert np.array_equal(ahead.raw, whole["mine"].raw)


def test_compressed_and_described_text_is_read_ahead_like_plain_text(files: tuple[str, dict[str, str]]) -> None:
    folder = Path(files[0]).parent
    (folder / "1.gz").write_bytes(gzip.compress(RUN[:30].encode()) + gzip.compress(RUN[30:].encode()))
    (folder / "2.xz").write_bytes(lzma.compress(RUN.encode()))
    (folder / "3").write_text(f"<SYSDESC>mine</SYSDESC>\n{RUN}")
    (folder / "qrels.bz2").write_bytes(bz2.compress(QRELS.encode()))
    runs = {name: str(folder / name) for name in ("1.gz", "2.xz", "3")}
    collection = collected((str(folder / "qrels.bz2"), files[1] | runs))
    assert all(run.ahead for run in collection.runs.values())
    found = evaluate_runs(collection.judged, collection.runs, [parse("AP")])
    assert [each.raw.tolist() for each in found.values()] == 4 * [[[1.0, 0.5]]]
    assert collection.runs["mine"].ahead.progress.total == 4 * len(RUN) + len("<SYSDESC>mine</SYSDESC>\n")
    facts = Collection(files[0], runs, Policy(), Inputs(), want_facts=True)
    assert not any(run.ahead for run in facts.runs.values()), "facts are places in a text that is held"


def test_a_damaged_run_that_is_read_ahead_says_where_it_ends(files: tuple[str, dict[str, str]]) -> None:
    path = Path(files[0]).parent / "cut.gz"
    path.write_bytes(gzip.compress(RUN.encode())[:-9])
    collection = collected((files[0], {"cut": str(path)}))
    with pytest.raises(InputError, match=r"cut\.gz: expected gzip data, found a damaged file \(truncated"):
        evaluate_runs(collection.judged, collection.runs, [parse("AP")])


def test_other_formats_are_not_read_ahead(files: tuple[str, dict[str, str]]) -> None:
    collection = collected(files, Inputs(run=Reading("msmarco")))
    assert not any(run.ahead for run in collection.runs.values())
    assert collection.judged.qrels.queries == ["q1", "q2"]


def test_a_run_that_is_read_ahead_serves_other_judgments_policies_and_times(
    files: tuple[str, dict[str, str]],
) -> None:
    collection = collected(files)
    judged, run = collection.judged, collection.runs["mine"]
    first, again = (join(judged, run, judged.policy) for _ in range(2))
    assert first.hit_rank.tolist() == again.hit_rank.tolist() == [1, 2, 2]
    one = collection.of_queries(["q2"])
    assert one.judged.qrels.queries == ["q2"]
    assert join(one.judged, one.runs["mine"], one.judged.policy).hit_rank.tolist() == [2]
    other = collected(files)
    shallow = join(other.judged, other.runs["mine"], Policy(depth=1))
    assert shallow.hit_rank.tolist() == [1]
    assert join(other.judged, other.runs["mine"], Policy()).hit_rank.tolist() == [1, 2, 2]
    assert Run.of(other.runs["mine"]).queries == ["q1", "q2"]


HELP = """
import sys
from gainful.cli.main import COMMANDS, run

for name in COMMANDS:
    if run([name, "--help"]) or "numpy" in sys.modules:
        sys.exit(f"{name} loads NumPy")
"""


def test_no_help_loads_numpy() -> None:
    found = subprocess.run([sys.executable, "-c", HELP], check=False, capture_output=True, text=True)
    assert (found.returncode, found.stderr) == (0, "")


STARTED = """
import sys
from gainful.cli.main import run
from gainful.data.collection import ReadAhead

def start(*files, **how):
    sys.exit(print("NumPy was there before" if "numpy" in sys.modules else "the core was first"))

ReadAhead.start = start
run(sys.argv[1:])
"""


@pytest.mark.parametrize("command", ["check", "curves", "eval", "sensitivity"])
def test_a_command_loads_numpy_only_when_the_core_is_reading(files: tuple[str, dict[str, str]], command: str) -> None:
    arguments = [sys.executable, "-c", STARTED, command, files[0], files[1]["mine"]]
    found = subprocess.run(arguments, check=False, capture_output=True, text=True)
    assert (found.stdout, found.stderr) == ("the core was first\n", "")
