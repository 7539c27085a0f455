"""Results know the hashes of their sources, if there are any."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from gainful import Qrels, Run, evaluate

QRELS, FIRST, SECOND = b"q 0 d 1\n", b"q Q0 d 1 1 t\n", b"q Q0 e 1 1 t\n"


def digest(content: bytes) -> str:
    return sha256(content).hexdigest()


def test_files_that_are_read_again_once_they_have_changed(tmp_path: Path) -> None:
    path = tmp_path / "some.run"
    path.write_bytes(FIRST)
    first = Run.read(path)
    known = evaluate(QRELS, first).sha256
    path.write_bytes(SECOND)
    second = Run.read(path)
    assert known == {"judgments": digest(QRELS), "run": digest(FIRST)}
    assert evaluate(QRELS, first).sha256["run"] is None, "what it was read from is no longer there"
    assert evaluate(QRELS, second).sha256["run"] == evaluate(QRELS, path).sha256["run"] == digest(SECOND)


def test_bytes() -> None:
    qrels, first = Qrels.read(QRELS), Run.read(FIRST)
    Run.read(SECOND)
    assert evaluate(qrels, first).sha256 == {"judgments": digest(QRELS), "run": digest(FIRST)}
    assert evaluate(QRELS, FIRST).sha256 == {"judgments": digest(QRELS), "run": digest(FIRST)}
    several = evaluate(qrels, {"first": FIRST, "second": SECOND})
    assert [each.sha256["run"] for each in several.values()] == [None, None]


def test_what_came_from_no_file() -> None:
    assert evaluate({"q": {"d": 1}}, {"q": ["d"]}).sha256 == {"judgments": None, "run": None}
