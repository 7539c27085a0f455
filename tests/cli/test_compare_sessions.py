"""`gainful compare` of sessions: directly, from files of `gainful sessions`, and errors."""

from __future__ import annotations

import json
import random

import pytest

QRELS = "".join(f"t{i} 0 a 2\nt{i} 0 b 1\n" for i in range(4))


def log() -> str:
    rng = random.Random(1)
    rows = []
    for i in range(16):
        system = ("old", "new")[i % 2]
        share = 0.8 if system == "new" else 0.3
        pages = [["a" if rng.random() < share else "x", "b"] for _ in range(rng.randint(1, 3))]
        queries = [{"results": page} for page in pages]
        rows.append({"session": f"u{i}", "topic": f"t{i // 2 % 4}", "system": system, "queries": queries})
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def files(command):
    command.write("qrels.txt", QRELS)
    command.write("log.jsonl", log())
    return command


def test_in_one_step_and_from_a_file(files):
    once = files("compare", "--sessions", "qrels.txt", "log.jsonl", "--baseline", "old", "--quiet")
    assert once.code == 0, once.err
    assert "new" in once.words and "8 and 8 sessions of 4 topics" in once.words
    assert "labels are shuffled within 4 topics that both systems have" in once.words
    for name in ("s.jsonl", "s.csv"):
        assert files("sessions", "qrels.txt", "log.jsonl", "--by-session", "-o", name, "--quiet").code == 0
        again = files("compare", "--from", name, "-m", "nsDCG@10", "--baseline", "old", "--quiet")
        assert again.code == 0 and again.words.split(" conventions:")[0] in once.words


def test_conventions_count_the_sessions_of_every_system(files):
    few = "".join(line + "\n" for i, line in enumerate(log().splitlines()) if i not in (0, 2))
    files.write("log.jsonl", few)
    result = files("compare", "--sessions", "qrels.txt", "log.jsonl", "--quiet")
    notes = [line for line in result.out.splitlines() if "conventions:" in line]
    assert [line.split(":")[0] for line in notes] == ["new", "old"]
    assert "sessions:8" in result.words and "sessions:6" in result.words
    refused = files("compare", "--sessions", "qrels.txt", "log.jsonl", "--by", "length")
    assert refused.code == 2 and "by cannot be used with unpaired sessions" in refused.err


def test_lines_for_machines(files):
    result = files("compare", "--sessions", "qrels.txt", "log.jsonl", "--test", "welch", "--format", "jsonl", "--quiet")
    header, [record] = result.lines[0], result.rows("unpaired")
    assert header["design"] == "unpaired"
    assert list(header["systems"].items()) == [("old", 8), ("new", 8)]  # as they stand in the file
    assert record["test"] == "welch" and record["system"] == "new" and 0 < record["p"] < 1


def test_paired_sessions_are_said_to_be_sessions(command):
    command.write("turns.txt", "c1_1 0 a 1\nc1_2 0 b 1\nc2_1 0 a 1\nc3_1 0 a 1\n")
    command.write("one.run", "c1_1 Q0 a 1 9 me\nc1_2 Q0 b 1 9 me\nc2_1 Q0 x 1 9 me\nc3_1 Q0 x 1 9 me\n")
    command.write("two.run", "c1_1 Q0 x 1 9 me\nc1_2 Q0 x 1 9 me\nc2_1 Q0 a 1 9 me\nc3_1 Q0 a 1 9 me\n")
    result = command("compare", "--sessions", "turns.txt", "one.run", "two.run", "--quiet")
    assert result.code == 0, result.err
    assert "3 sessions" in result.words and "Sessions that favour two" in result.words
    assert "quer" not in result.words.replace("judged-by:query", "")


def test_other_commands_take_paired_sessions_only(files):
    files("sessions", "qrels.txt", "log.jsonl", "--by-session", "-o", "s.jsonl", "--quiet")
    refused = files("power", "--from", "s.jsonl")
    assert refused.code == 3 and "no session is shared by all systems" in refused.err
    assert "use gainful compare, which has tests for unpaired sessions" in refused.err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (("--sessions", "qrels.txt"), "--sessions needs judgments and sessions, not only qrels.txt"),
        (("qrels.txt", "log.jsonl", "--topics", "log.jsonl"), "--topics needs --sessions"),
        (("--sessions", "--from", "log.jsonl"), "--from cannot be used with --sessions"),
        (("--sessions", "qrels.txt", "log.jsonl", "--test", "t"), "test t: no two systems have sessions in common"),
        (("--sessions", "qrels.txt", "log.jsonl", "-m", "AP"), "AP: a measure of single queries cannot score sessions"),
    ],
)
def test_refused(files, line, message):
    result = files("compare", *line)
    assert result.code == 2 and message in result.err


def test_users_from_the_table_of_topics(files):
    files.write("study.csv", "session,topic,user\n" + "".join(f"u{i},t{i // 2 % 4},p{i // 4}\n" for i in range(16)))
    result = files(
        "compare", "--sessions", "qrels.txt", "log.jsonl", "--topics", "study.csv", "--procedure", "anova", "--quiet"
    )
    assert result.code == 0, result.err
    assert "Analysis of variance of nsDCG@10" in result.out and "\nuser " in result.out


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (
            ("power", "--difference", "0.2", "--width", "0.3"),
            ("8 sessions can detect a difference of", "anova sessions"),
        ),
        (("agree", "--draws", "20"), ("order 3 systems on 8 sessions", "resamples of the sessions")),
        (
            ("stability", "--draws", "20", "--topics", "first"),
            ("3 systems on 8 sessions", "% of the sessions (4 of 8)"),
        ),
    ],
)
def test_scores_of_the_same_sessions_are_called_so(command, asked, says):
    """Three systems replay the same eight sessions: no output mentions queries."""
    command.write("qrels", "".join(f"t{t} 0 d{d} {(t + d) % 3}\n" for t in range(3) for d in range(8)))
    for step in (1, 3, 5):
        sessions = [
            {
                "session": f"s{i}",
                "topic": f"t{i % 3}",
                "queries": [{"query": "x", "results": [f"d{(i * i + step * k) % 11}" for k in range(5)]}],
            }
            for i in range(8)
        ]
        command.write(f"{step}.jsonl", "".join(json.dumps(each) + "\n" for each in sessions))
    made = "sessions", "qrels", "1.jsonl", "3.jsonl", "5.jsonl", "-m", "sDCG@3", "-m", "nsDCG@5", "--by-session", "-q"
    assert command(*made, "-o", "s.jsonl").code == 0
    shown = command(*asked, "--from", "s.jsonl")
    told = " ".join(shown.out.split())
    assert shown.code == 0 and all(each in told for each in says)
    assert "quer" not in told


#: What users typed, and which of two documents they were shown: the first is relevant.
ASKED = {"maps": "ab", "trains": "ab", "ships": "ba"}


def searches(arms: str, shift: int = 0, column: str = "variant") -> str:
    """A log of 12 users, each with a session of two queries; ``shift`` changes the queries."""
    rows, texts = [f"user,time,query,doc,rank,{column}"], list(ASKED)
    for i in range(12 * len(arms)):
        user, arm = divmod(i, len(arms))
        for turn in range(2):
            text = texts[(user + turn + shift) % 3]
            for rank, document in enumerate(ASKED[text] if arms[arm] != "B" else "xa", 1):
                rows.append(f"u{i},2024-05-01T10:0{turn}:00Z,{text},{document},{rank},{arms[arm]}")
    return "\n".join(rows) + "\n"


@pytest.fixture
def logs(command):
    command.write("qrels.csv", "query,doc,grade\n" + "".join(f"{text},a,1\n{text},b,0\n" for text in ASKED))
    command.write("old.csv", searches("B"))
    command.write("new.csv", searches("A"))
    command.write("other.csv", searches("A", shift=1))
    return command


def test_sessions_cut_from_logs_are_paired_only_if_their_queries_are_the_same(logs):
    same = logs("compare", "--sessions", "qrels.csv", "old.csv", "new.csv", "--quiet")
    assert "; paired on the same sessions." in same.words
    said = (
        "Systems share session IDs, but not sessions "
        "('u0/1' with queries maps, trains of old and trains, ships of other)"
    )
    assert said in logs("compare", "--sessions", "qrels.csv", "old.csv", "other.csv", "--quiet").words
    for ending in ("jsonl", "csv"):
        files = [f"{name}-scores.{ending}" for name in ("old", "other")]
        for name, file in zip(("old", "other"), files, strict=True):
            logs("sessions", "qrels.csv", f"{name}.csv", "--by-session", "-o", file, "--quiet")
        again = logs("compare", *(part for file in files for part in ("--from", file)), "-m", "nsDCG@10", "--quiet")
        assert said in again.words
    refused = logs("compare", "--sessions", "qrels.csv", "old.csv", "other.csv", "--test", "t")
    assert (refused.code, "no two systems have sessions in common" in refused.err) == (2, True)


@pytest.mark.parametrize(("column", "by", "is_paired"), [("topic", "maps", True), ("page", "u{}/1", False)])
def test_sessions_cut_from_logs_without_texts_are_paired_by_topic_alone(logs, column, by, is_paired):
    logs.write("by.csv", "query,doc,grade\n" + "".join(f"{by.format(i)},{d},{g}\n" for i in range(12) for d, g in
               (("a", 1), ("b", 0)) if i == 0 or "{" in by))  # fmt: skip
    for name in ("old", "new"):
        text = (logs.directory / f"{name}.csv").read_text().replace(",query,", f",{column},")
        logs.write(f"{name}-texts.csv", text.replace(",trains,", ",maps,").replace(",ships,", ",maps,"))
    found = logs("compare", "--sessions", "by.csv", "old-texts.csv", "new-texts.csv", "--quiet")
    assert ("; paired on the same sessions." in found.words) == is_paired
    assert ("with queries 2, not known, in old-texts.csv of old-texts and" in found.words) != is_paired


def test_a_log_of_several_systems(logs):
    for column in ("variant", "Arm", "bucket", "experiment", "algorithm", "model", "engine", "run", "system"):
        logs.write("ab.csv", searches("BA", column=column))
        found = logs("compare", "--sessions", "qrels.csv", "ab.csv", "--quiet")
        assert found.words.startswith("A beats B by"), column  # B is the first in the file
    # The test of shuffled labels has a smallest p, which the chart says as the table does.
    assert found.words.count("< 0.0002") == 3 and " 0.0002" not in found.words.replace("< 0.0002", "")
    for text in (searches("BA", column="thing"), searches("B"), searches("BA").replace("u1,", "u0,")):
        logs.write("one.csv", text)
        refused = logs("compare", "--sessions", "qrels.csv", "one.csv")
        assert (refused.code, "--columns system=NAME" in refused.err) == (2, True)
    named = logs("compare", "--sessions", "qrels.csv", "ab.csv", "--quiet", "--columns", f"system={column}")
    assert named.words == found.words


def test_the_gap_of_a_log_is_in_the_signature(logs):
    whole = logs("sessions", "qrels.csv", "old.csv", "--signature", "--quiet").words
    assert "recall-cut:exact|session-gap:30m|" in whole
    assert "order:input, session-gap:30m |" in logs("sessions", "qrels.csv", "old.csv", "--quiet").words
    assert "order:input, session-gap:30s |" in logs("sessions", "qrels.csv", "old.csv", "--session-gap", "30s").words
    header = logs("sessions", "qrels.csv", "old.csv", "--session-gap", "2 h", "--format", "jsonl").lines[0]
    assert "|session-gap:2h|" in header["signature"]
    hint = logs("sessions", "qrels.csv", "old.csv", "--gap", "30m").err
    assert "hint: use --session-gap" in hint
