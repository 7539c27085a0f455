"""Reading a file in any format takes no more memory than ``--max-memory`` allows."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

from gainful.errors import InputError
from gainful.io.delimited import _whole_lines
from gainful.io.sources import Text, open_source, read_size

pytestmark = pytest.mark.skipif(not hasattr(os, "wait4"), reason="needs the peak of a process")

#: What Python, NumPy and the blocks of the reader may take beside the limit.
SLACK = 64_000_000
#: A process of its own starts the command: the peak of one that was forked begins with its parent's.
LAUNCHER = """
import os, sys
child = os.fork()
if not child:
    os.execv(sys.argv[1], sys.argv[1:])
_, status, usage = os.wait4(child, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024)
"""
ROWS = 250_000


def rows(count: int, kind: str) -> Iterator[tuple[str, str, int]]:
    """Queries of 1,000 documents, interleaved queries, or one query per row."""
    queries = max(1, count // 1000)
    for i in range(count):
        query = {"grouped": i // 1000, "mixed": i % queries, "distinct": i}[kind]
        yield f"q{query}", "d" if kind == "distinct" else f"doc{i}", 1 + i % 1000


def lists(count: int, kind: str) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for query, document, value in rows(count, kind):
        found.setdefault(query, {})[document] = value
    return found


def parquet(count: int, kind: str) -> bytes:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet as writer

    query, document, score = zip(*rows(count, kind), strict=True)
    sink = pyarrow.BufferOutputStream()
    writer.write_table(pyarrow.table({"query": query, "document": document, "score": score}), sink)
    return sink.getvalue().to_pybytes()


def session(name: str, count: int) -> dict[str, object]:
    return {"session": name, "queries": [{"query": "x", "results": [f"doc{i}" for i in range(count)]}]}


def xml(sessions: int, results: int) -> str:
    result = "<result><clueweb12id>d{}</clueweb12id></result>"
    shown = "".join(map(result.format, range(results)))
    one = '<session num="s{}"><interaction num="1"><query>x</query><results>' + shown
    return f"<log>{''.join(f'{one.format(i)}</results></interaction></session>' for i in range(sessions))}</log>"


def text_of(line: str) -> object:
    return lambda count, kind: "".join(line.format(*row) for row in rows(count, kind))


RUNS = {
    "trec": text_of("{0} Q0 {1} 1 {2} t\n"),
    "csv": lambda count, kind: "query,document,score\n" + text_of("{0},{1},{2}\n")(count, kind),
    "msmarco": text_of("{0}\t{1}\t{2}\n"),
    "letor": text_of("1 qid:{0} 1:{2} #docid = {1}\n"),
    "json": lambda count, kind: json.dumps(lists(count, kind)),
    "jsonl": lambda count, kind: "".join(
        json.dumps({"query": query, "results": [*found.items()]}) + "\n" for query, found in lists(count, kind).items()
    ),
    "rows.jsonl": lambda count, kind: "".join(
        json.dumps({"query": query, "document": document, "score": score}) + "\n"
        for query, document, score in rows(count, kind)
    ),
    "parquet": parquet,
}
JUDGMENTS = {
    "trec": text_of("{0} 0 {1} 1\n"),
    "movielens": lambda count, _: "".join(f"{i // 100}\t{i}\t{1 + i % 5}\t881250949\n" for i in range(count)),
    "ntcir": lambda count, _: "".join(f"t{i // 100} d{i} L1\n" for i in range(count)),
}
SESSIONS = {
    "csv": lambda count, _: (
        "session,query,rank,document\n" + "".join(f"s{i // 10},1,{1 + i % 10},d{i}\n" for i in range(count // 4))
    ),
    "log.csv": lambda count, _: (
        "session,time,query,document\n" + "".join(f"s{i // 4},{i},text {i},d{i}\n" for i in range(count // 4))
    ),
    "jsonl": lambda count, _: "".join(json.dumps(session(f"s{i}", 10)) + "\n" for i in range(1 + count // 10)),
    "line.jsonl": lambda count, _: json.dumps(session("s0", 1 + count * 10)),
    "json": lambda count, _: json.dumps([session(f"s{i}", 10) for i in range(1 + count // 10)]),
    "xml": lambda count, _: xml(1 + count // 10, 10),
    "one.xml": lambda count, _: xml(1, 1 + count),
}
CASES = [
    *(("run", format_, "distinct") for format_ in RUNS),
    ("run", "trec", "grouped"),
    ("run", "parquet", "grouped"),
    ("run", "trec", "mixed"),
    ("judgments", "trec", "distinct"),
    *(("judgments", format_, "grouped") for format_ in JUDGMENTS if format_ != "trec"),
    *(("sessions", format_, "grouped") for format_ in SESSIONS),
]


def peak_of(folder, side: str, format_: str, name: str, limit: int) -> tuple[int, int, str]:
    """Exit code, peak memory and messages of a command that reads a file under a limit."""
    files = {"judgments": [name, "r.run"], "table": ["qrels", "r.run", "--queries", name]}.get(side, ["qrels", name])
    command = ["sessions", *files, "-m", "sDCG"] if side == "sessions" else ["eval", *files, "-m", "AP"]
    feature = ["--feature", "1"] if format_ == "letor" else []
    gainful = [sys.executable, "-m", "gainful", *command, *feature, "--threads", "2", "--max-memory", str(limit)]
    done = subprocess.run(
        [sys.executable, "-S", "-c", LAUNCHER, *gainful], cwd=folder, capture_output=True, text=True, check=True
    )
    code, peak = done.stdout.split()[-2:]
    return int(code), int(peak), done.stderr


@pytest.mark.parametrize(("side", "format_", "kind"), CASES)
def test_no_process_takes_more_than_the_limit(tmp_path, side, format_, kind):
    (tmp_path / "qrels").write_text("q0 0 doc0 1\nq0 0 d 1\ns0 0 doc0 1\n")
    (tmp_path / "r.run").write_text("q0 Q0 doc0 1 1 t\n0 Q0 0 1 1 t\nt0 Q0 d0 1 1 t\n")
    make = {"run": RUNS, "judgments": JUDGMENTS, "sessions": SESSIONS}[side][format_]
    for name, count in (("tiny", 10), ("large", ROWS)):
        content = make(count, kind)
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    _, before, _ = peak_of(tmp_path, side, format_, "tiny", 10**9)
    limit = 10**7
    for _ in range(6):
        code, peak, errors = peak_of(tmp_path, side, format_, "large", limit)
        assert peak - before <= limit + SLACK, (limit, errors)
        needed = re.search(r"needs about ([\d.]+ \w*B)", errors)
        if not needed:
            break
        assert code == 3
        # The least that is enough, where the message has it; else soon more.
        limit = max(int(1.01 * read_size(needed[1], "needed")), 4 * limit)
    assert code == 0, errors
    assert limit < 10**9


LONG = 50_000_000
LONG_LINES = {
    "fields": ("run", lambda: b"q0 Q0 doc0 1 1 t\n" + b"x" * LONG, "line:2: expected 6 fields, found 1"),
    "query": ("run", lambda: b"q0 Q0 doc0 1 1 t\n" + b"1" * LONG + b" Q0 d 1 1 t\n", ""),
    "score": ("run", lambda: b"q0 Q0 doc0 1 " + b"1" * LONG + b" t\n", "fits a 64-bit float"),
    "judged": ("judgments", lambda: b"q0 0 doc0 1\n" + b"1" * LONG + b" 0 d 1\n", ""),
    "queries": ("judgments", lambda: b"q0 0 d 1\n" + b"".join(b"%0900d 0 d 1\n" % i for i in range(LONG // 909)), ""),
    "JSON": ("sessions", lambda: b'{"session": "s0", "queries": []}\n' + b"a " * (LONG // 2), "expected"),
    "documents": (
        "sessions",
        lambda: b'{"session": "s0", "queries": [{"results": [%b0]}]}' % (b'"d",' * (LONG // 8)),
        "duplicate document",
    ),
    "tags": ("sessions", lambda: b"<log>" + b"<a/>" * (LONG // 12), "expected XML"),
    "attributes": (
        "sessions",
        lambda: b"<log><a " + b"".join(b'a%d="1" ' % i for i in range(LONG // 12)),
        "expected XML",
    ),
    "XML lines": ("sessions", lambda: b"<log>" + b"\n" * LONG, f"line:{LONG + 1}: expected XML"),
    "table": ("table", lambda: b"query,text\n" + b"".join(b"q%d,t\n" % i for i in range(LONG // 60)), ""),
    "text": ("table", lambda: "query,text\nq0,\N{GRINNING FACE}".encode() + b"x" * (LONG // 2), "field larger"),
}


@pytest.mark.parametrize("kind", LONG_LINES)
def test_long_lines_and_side_tables_keep_to_the_limit(tmp_path, kind):
    (tmp_path / "qrels").write_text("q0 0 doc0 1\ns0 0 doc0 1\n")
    (tmp_path / "r.run").write_text("q0 Q0 doc0 1 1 t\n")
    side, content, error = LONG_LINES[kind]
    (tmp_path / "line").write_bytes(content())
    before = peak_of(tmp_path, "run", "trec", "r.run", 10**9)[1]
    for limit in (13 * LONG // 10, 4 * LONG, 10**10):
        code, peak, errors = peak_of(tmp_path, side, "", "line", limit)
        assert peak - before <= limit + SLACK, (limit, errors)
        assert (code == 3 and "needs about" in errors) or (error in errors and code == 3 * bool(error)), errors
    assert "needs about" not in errors


@pytest.mark.parametrize("content", [b"\n", b"\0", b" ", b"# nothing\n"], ids=["blank", "NUL", "blanks", "comments"])
@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_compressed_data_without_rows_is_refused(tmp_path, content, kind):
    compress = gzip.compress if kind == "gzip" else pytest.importorskip("zstandard").compress
    path = tmp_path / "bomb"
    path.write_bytes(compress(b"q Q0 d 1 1 t\n" + content * (100_000_000 // len(content))))
    read = 0
    with pytest.raises(InputError, match=f"expected rows in the {kind[0]}.* data, found .* of blanks, comments or NUL"):
        for piece in open_source(path).pieces():
            read += len(piece)
    assert read < 90_000_000


def test_rows_may_be_compressed_as_well_as_they_can_be(tmp_path):
    path = tmp_path / "same.gz"
    path.write_bytes(gzip.compress(b"# nothing\n" * 1000 + b"q Q0 d 1 1 t\n" * 8_000_000))
    assert sum(map(len, open_source(path).pieces())) == 10_000 + 13 * 8_000_000


def test_a_line_of_many_pieces_costs_its_length(tmp_path):
    line = b"a" * 9_000_000
    path = tmp_path / "line"
    path.write_bytes(b"b\n" + line + b"\n\n" + line)
    assert list(open_source(path).lines()) == [b"b", line, b"", line]


def test_pieces_under_a_low_limit_are_small(monkeypatch):
    monkeypatch.setenv("GAINFUL_MAX_MEMORY", "200MB")
    rows = [b'q%d,"a ""b""\nc",%d\n' % (i, i) for i in range(500_000)]
    pieces = [bytes(piece) for piece in _whole_lines(Text.of_view(b"".join(rows), "t"))]
    assert b"".join(pieces) == b"".join(rows)
    assert len(pieces) > 1
    assert all(piece.startswith(b"q") and piece.endswith(b"\n") and piece.count(b'"') % 2 == 0 for piece in pieces)
