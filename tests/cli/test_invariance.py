"""Output is independent of threads, the core, the order of lines and their notation."""

from __future__ import annotations

import bz2
import gzip
import lzma
import random
import re
from dataclasses import replace

import pytest
import zstandard

CORES = ("c++", "python")
MEASURES = ("nDCG@10", "AP", "RR@5", "Rprec", "Judged@10", "IPrec@0.3", "nCG(average=ranks)@20", "NumRet", "NumRelRet")
FLAGS = [text for measure in MEASURES for text in ("-m", measure)]


def judgments(rng: random.Random, queries: int, documents: int) -> list[str]:
    return [
        f"q{query} 0 d{document} {rng.choice(['0', '0', '1', '2', '0.5', '-1'])}"
        for query in range(queries)
        for document in sorted(rng.sample(range(documents), documents // 2))
    ]


def ranked(rng: random.Random, queries: int, documents: int, size: int) -> list[str]:
    """Lists with many equal scores, ranks that do not follow them, and scores that only float64 tells apart."""
    lines = []
    for query in range(1, queries + 2):  # one judged query is not answered, two are not judged
        ranks = list(range(1, size + 1))
        rng.shuffle(ranks)
        for rank, document in zip(ranks, rng.sample(range(documents), size), strict=True):
            score = rng.choice(["1", "1.0", "1.00000001", "2", "2.5", "-3", "1e-3"])
            lines.append(f"q{query} Q0 d{document} {rank} {score} tag")
    return lines


def text(lines: list[str], end: str = "\n") -> bytes:
    return "".join(line + end for line in lines).encode()


@pytest.fixture(scope="module")
def small() -> tuple[list[str], list[str]]:
    rng = random.Random(1)
    return judgments(rng, 12, 60), ranked(rng, 12, 60, 40)


def outputs(command, use_core, *arguments: str, threads: tuple[str, ...] = ("2",)):
    """What both cores say, with every number of threads."""
    found = []
    for core in CORES:
        use_core(core)
        for number in threads:
            result = command("eval", "qrels", "r.run", *FLAGS, *arguments, "--threads", number)
            assert result.code == 0, result.err
            # Other files may hold the same lines in another order.
            found.append(replace(result, out=re.sub(r'"sha256": "\w{64}"', '"sha256": ""', result.out)))
    return found


def assert_all_equal(results) -> None:
    assert [result == results[0] for result in results] == [True] * len(results)


@pytest.mark.parametrize(
    "policy",
    [
        "",
        "--ties docid-asc",
        "--ties rank",
        "--order rank",
        "--scores float32",
        "--like trec_eval-9",
        "--unjudged condensed --depth 15",
        "--negative unjudged --undefined skip --missing skip",
    ],
)
def test_shuffled_lines(command, use_core, small, policy):
    qrels, lines = small
    results = []
    for seed in range(4):
        rng = random.Random(seed)
        if seed:
            qrels, lines = rng.sample(qrels, len(qrels)), rng.sample(lines, len(lines))
        command.write("qrels", text(qrels))
        command.write("r.run", text(lines))
        results += outputs(command, use_core, *policy.split(), "--by-query", "--format", "jsonl")
    assert_all_equal(results)


def test_shuffled_lines_with_several_judges_and_repeats(command, use_core, small):
    qrels, lines = small
    rng = random.Random(5)
    # Three more judges of some documents, and some documents again with a lower score.
    qrels = qrels + [
        line[: line.rindex(" ")] + f" {rng.random()}" for line in qrels for _ in range(3) if rng.random() < 0.3
    ]
    lines = lines + [" ".join([*line.split()[:3], "999", "-10", "tag"]) for line in lines if rng.random() < 0.2]
    for judges in "mean", "median":
        results = []
        for _ in range(3):
            command.write("qrels", text(rng.sample(qrels, len(qrels))))
            command.write("r.run", text(rng.sample(lines, len(lines))))
            results += outputs(
                command, use_core, "--judges", judges, "--duplicates", "first", "--by-query", "--format", "jsonl"
            )
        assert_all_equal(results)


@pytest.mark.parametrize("threads", [("1", "2", "8")])
def test_threads_on_files_large_enough_to_be_split(command, use_core, threads):
    rng = random.Random(2)
    command.write("qrels", text(judgments(rng, 60, 400)))
    lines = ranked(rng, 60, 400, 300)
    data = text(rng.sample(lines, len(lines)))
    assert len(data) > 4 * (1 << 16)  # the core gives a thread at least this much
    command.write("r.run", data)
    results = outputs(command, use_core, "--by-query", "--format", "jsonl", threads=threads)
    assert_all_equal(results)
    assert len(results[0].lines) == 1 + len(MEASURES) * 61
    results = outputs(command, use_core, threads=threads)
    assert_all_equal(results)


@pytest.mark.parametrize("threads", ["1", "2", "8"])
def test_threads_and_several_runs(command, use_core, small, threads):
    command.write("qrels", text(small[0]))
    names = [f"run{i}" for i in range(5)]
    for i, name in enumerate(names):
        command.write(name, text(ranked(random.Random(i), 12, 60, 30)))
    expected = command("eval", "qrels", *names, "--format", "jsonl", "--by-query")
    assert expected.code == 0
    for core in CORES:
        use_core(core)
        assert command("eval", "qrels", *names, "--format", "jsonl", "--by-query", "--threads", threads) == expected


def test_messages_do_not_depend_on_threads(command, use_core):
    lines = [f"q{i % 7} Q0 d{i} {i} {i / 3:.6f} tag" for i in range(20_000)]
    for i in range(500, 20_000, 1000):
        lines[i] = lines[i].replace(" tag", "")
    for i in range(777, 20_000, 1500):
        lines[i] = lines[i].replace(" tag", "x tag")
    command.write("qrels", "q1 0 d1 1\n")
    command.write("r.run", text(lines))
    found = []
    for core in CORES:
        use_core(core)
        found += [command("eval", "qrels", "r.run", "--threads", threads) for threads in ("1", "2", "8")]
    assert_all_equal(found)
    assert found[0].code == 3
    assert found[0].err.startswith("r.run:501: expected 6 fields, found 5\nhint: ")
    assert "\n    q3 Q0 d500 500 166.666667\n" in found[0].err
    assert "... and 30 more like these\n" in found[0].err


WRITINGS = {
    "CRLF": lambda lines: text(lines, "\r\n"),
    "tabs": lambda lines: text([line.replace(" ", "\t") for line in lines]),
    "wide gaps": lambda lines: text([f"  {line}".replace(" ", " \t ") + " \t" for line in lines]),
    "byte order mark": lambda lines: b"\xef\xbb\xbf" + text(lines),
    "comments": lambda lines: text([line for each in lines for line in (each, "# q1 0 d1 1", "  #")]),
    "blank lines": lambda lines: text([line for each in lines for line in (each, "", " \t")]),
    "no final newline": lambda lines: text(lines)[:-1],
    "no final newline, CRLF": lambda lines: text(lines, "\r\n")[:-2],
    "gzip": lambda lines: gzip.compress(text(lines)),
    "two gzip members": lambda lines: gzip.compress(text(lines[:99])) + gzip.compress(text(lines[99:])),
    "xz": lambda lines: lzma.compress(text(lines)),
    "zstd": lambda lines: zstandard.compress(text(lines)),
    "two bzip2 streams": lambda lines: bz2.compress(text(lines[:99])) + bz2.compress(text(lines[99:])),
}


@pytest.mark.parametrize("writing", WRITINGS)
def test_ways_of_writing(command, use_core, small, writing):
    qrels, lines = small
    command.write("qrels", text(qrels))
    command.write("r.run", text(lines))
    plain = outputs(command, use_core, "--by-query")
    command.write("qrels", WRITINGS[writing](qrels))
    command.write("r.run", WRITINGS[writing](lines))
    assert_all_equal(plain + outputs(command, use_core, "--by-query"))


def test_processes(command, small):
    # Threads, cores and the seed of Python's hashes, each in a process of its own.
    qrels, lines = small
    command.write("qrels", text(qrels))
    command.write("r.run", text(lines))
    arguments = ("eval", "qrels", "r.run", *FLAGS, "--by-query", "--format", "jsonl")
    expected = command(*arguments)
    for threads, core, seed in (("1", "python", "1"), ("8", "python", "2"), ("2", "", "3")):
        found = command.process(*arguments, "--threads", threads, GAINFUL_CORE=core, PYTHONHASHSEED=seed)
        assert (found.returncode, found.stdout.decode(), found.stderr.decode()) == (0, expected.out, expected.err)
