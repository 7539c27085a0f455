"""Files are replaced completely or not at all."""

from __future__ import annotations

import errno
import gzip
import os
import signal
import stat
import subprocess
import sys
import threading

import pytest

from gainful.errors import InputError
from gainful.io import atomic
from gainful.io.atomic import atomic_output


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "results.csv"
    path.write_text("old\n")
    return path


def test_a_new_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in (tmp_path / "new.txt", "new.txt"):
        with atomic_output(path) as out:
            out.write("é\udcff\n")
        assert (tmp_path / "new.txt").read_bytes() == b"\xc3\xa9\xff\n"
        assert os.listdir(tmp_path) == ["new.txt"]
        os.unlink(path)


def test_the_old_file_remains_until_the_end(old):
    with atomic_output(old) as out:
        out.write("new\n" * 100_000)
        out.flush()
        assert old.read_text() == "old\n"
    assert old.read_text() == "new\n" * 100_000
    assert os.listdir(old.parent) == [old.name]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("name", ["results.csv", "results.csv.gz", "other.csv"])
def test_failures_change_nothing(old, error, name):
    (old.parent / "results.csv.gz").write_text("old\n")
    with pytest.raises(error), atomic_output(old.parent / name) as out:
        out.write("new\n" * 100_000)
        raise error
    assert {path.name: path.read_text() for path in old.parent.iterdir()} == {
        "results.csv": "old\n",
        "results.csv.gz": "old\n",
    }


@pytest.mark.parametrize("call", ["replace", "fsync"])
def test_a_full_disk(old, monkeypatch, call):
    def fail(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device", "some temporary name")

    monkeypatch.setattr(os, call, fail)
    message = r"results\.csv: cannot be written \(No space left on device\)"
    with pytest.raises(InputError, match=message), atomic_output(old) as out:
        out.write("new\n")
    assert (old.read_text(), os.listdir(old.parent)) == ("old\n", [old.name])


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals")
def test_killed_in_the_middle(old):
    code = (
        "import os, signal, sys\n"
        "from gainful.io.atomic import atomic_output\n"
        "with atomic_output(sys.argv[1]) as out:\n"
        "    out.write('new\\n' * 100000)\n"
        "    out.flush()\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(old)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert old.read_text() == "old\n"
    [left] = set(os.listdir(old.parent)) - {old.name}
    others = [old.with_name(name) for name in (".results.csv.tmp", f"{left}.txt", left[1:])]
    for other in others:
        other.write_text("of somebody else")
    # The next write removes it, whatever it writes, and nothing else.
    with atomic_output(old.with_name("new.csv")) as out:
        assert left not in os.listdir(old.parent)
        out.write("new\n")
    assert set(os.listdir(old.parent)) == {old.name, "new.csv", *(other.name for other in others)}


@pytest.mark.skipif(sys.platform == "win32", reason="needs locks")
def test_files_being_written_are_not_abandoned(old):
    """Temporary files are removed once no process, such as a killed one, holds their lock."""
    code = (
        "import sys\n"
        "from gainful.io.atomic import atomic_output\n"
        "with atomic_output(sys.argv[1]) as out:\n"
        "    print('begun', flush=True)\n"
        "    out.write(sys.stdin.readline())\n"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", code, str(old)], **pipes) as other:
        assert other.stdout.readline() == "begun\n"
        with atomic_output(old.with_name("mine.csv")) as mine:
            mine.write("mine\n")
            mine.flush()
            with atomic_output(old.with_name("third.csv")) as third:
                third.write("third\n")
        other.communicate("theirs\n")
    assert other.returncode == 0
    found = {path.name: path.read_text() for path in old.parent.iterdir()}
    assert found == {"results.csv": "theirs\n", "mine.csv": "mine\n", "third.csv": "third\n"}


def test_removed_before_it_was_locked(old, monkeypatch):
    """Another process may consider a file abandoned before it is locked."""
    lock = atomic._lock

    def remove_first(descriptor, *, waits):
        monkeypatch.setattr(atomic, "_lock", lock)
        [left] = set(os.listdir(old.parent)) - {old.name}
        old.with_name(left).unlink()
        return lock(descriptor, waits=waits)

    monkeypatch.setattr(atomic, "_lock", remove_first)
    with atomic_output(old) as out:
        out.write("new\n")
    assert (old.read_text(), os.listdir(old.parent)) == ("new\n", [old.name])


@pytest.mark.parametrize(("name", "mode"), [("results.csv", 0o604), ("new", 0o640)])
def test_an_existing_file_keeps_its_permissions_and_a_new_one_has_those_of_the_umask(old, name, mode):
    old.chmod(0o604)
    before = os.umask(0o027)
    try:
        with atomic_output(old.with_name(name)) as out:
            out.write("new\n")
    finally:
        os.umask(before)
    assert stat.S_IMODE(old.with_name(name).stat().st_mode) == mode


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_stays_a_link(tmp_path, exists):
    (tmp_path / "far").mkdir()
    target, link = tmp_path / "far" / "target.csv", tmp_path / "link.csv"
    if exists:
        target.write_text("old\n")
    link.symlink_to("far/target.csv")
    with atomic_output(link) as out:
        out.write("new\n")
    assert link.is_symlink() and target.read_text() == "new\n"
    assert (sorted(os.listdir(tmp_path)), os.listdir(tmp_path / "far")) == (["far", "link.csv"], ["target.csv"])


def test_compressed_by_its_ending(tmp_path):
    for name in ("one.csv.gz", "two.csv.GZ"):
        with atomic_output(tmp_path / name) as out:
            out.write("new\n")
    one, two = ((tmp_path / name).read_bytes() for name in ("one.csv.gz", "two.csv.GZ"))
    assert gzip.decompress(one) == b"new\n"
    assert one == two, "neither name nor time is part of it"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_written_directly(tmp_path):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
    reader.start()
    with atomic_output(pipe) as out:
        out.write("new\n")
    reader.join(10)
    assert read == ["new\n"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="needs /dev/stdout")
def test_standard_output_by_its_name_is_not_replaced(old):
    code = "from gainful.io.atomic import atomic_output\nwith atomic_output('/dev/stdout') as out: out.write('new\\n')"
    with old.open("ab") as file:
        subprocess.run([sys.executable, "-c", code], stdout=file, check=True)
    assert old.read_text() == "old\nnew\n"


def test_a_file_that_may_not_be_written(old, monkeypatch):
    # Who runs tests as root may write everything.
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    message = r"results.csv: cannot be written \(the file is read-only\)"
    with pytest.raises(InputError, match=message), atomic_output(old) as out:
        out.write("new\n")
    assert (old.read_text(), os.listdir(old.parent)) == ("old\n", [old.name])


def test_unwritable_files_are_errors(tmp_path):
    path = tmp_path / "none" / "results.csv"
    reasons = {path: f"there is no folder {path.parent}", tmp_path: "Is a directory"}
    if os.path.exists("/dev/full"):
        reasons["/dev/full"] = "No space left on device"
    for each, reason in reasons.items():
        with pytest.raises(InputError) as caught, atomic_output(each) as out:
            out.write("new\n")
        assert str(caught.value) == f"{each}: cannot be written ({reason})"
