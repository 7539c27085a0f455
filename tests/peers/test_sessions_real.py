"""Real sessions: a user study, the log of TREC's Session Track 2013, and the conversations of CAsT 2021."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path
from xml.etree import ElementTree

import pytest
from scipy import stats

from gainful import Qrels, Sessions, compare, evaluate_sessions
from gainful.io.records import read_ratings

CAST_RUNS = ("org_convdr", "org_convdr_bert", "org_manual_ance", "org_manual_ance_bert", "org_manual_bm25")


def lists_of(sessions: Sessions) -> dict[tuple[str, int], list[str]]:
    """The documents of every query, by session and number, as they stand."""
    lists, found = sessions.lists, {}
    for i, session in enumerate(sessions.ids):
        first, end = sessions.turn_offsets[i : i + 2].tolist()
        for turn in range(first, end):
            rows = range(*lists.list_offsets[turn : turn + 2].tolist())
            found[session, turn - first + 1] = [lists.document(row).decode() for row in rows]
    return found


@pytest.mark.parametrize(
    "columns",
    [None, {"session": "SessionID", "query": "Qno", "rank": "rank", "doc": "URL"}],
    ids=["recognised", "given"],
)
def test_the_sessions_of_a_user_study(shared_data: Path, columns: dict[str, str] | None) -> None:
    path = shared_data / "sessions" / "results.tsv"
    expected: dict[tuple[str, int], list[str]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            shown = expected.setdefault((row["SessionID"], int(row["Qno"])), [])
            if row["rank"] != "0":
                assert int(row["rank"]) == len(shown) + 1
                shown.append(row["URL"])
    found = Sessions.read(path, columns=columns)
    assert len(found) == 36
    assert lists_of(found) == expected
    assert sum(not shown for shown in expected.values()) == 2


def test_its_judgments_are_by_session(shared_data: Path) -> None:
    path = shared_data / "sessions" / "qrels.tsv"
    given = {"query": "SessionID", "document": "URL", "grade": "Relevance"}
    recognised, named = Qrels.read(path), Qrels.read(path, columns=given)
    assert recognised.queries == named.queries == Sessions.read(shared_data / "sessions" / "results.tsv").ids
    assert len(recognised) == len(named) == 3096
    assert recognised.levels == (-1, 0, 1, 2)


def test_its_ratings(shared_data: Path) -> None:
    path = shared_data / "sessions" / "session.tsv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    for column in ("Performance", "Difficulty"):
        assert read_ratings(path, column) == {row["SessionID"]: float(row[column]) for row in rows}
    assert len(rows) == 36


def test_the_log_of_2013(shared_data: Path) -> None:
    path = shared_data / "session-track-2013" / "sessiontrack2013.xml.gz"
    found = Sessions.read(path)
    root = ElementTree.fromstring(gzip.decompress(path.read_bytes()))
    expected = {
        (session.attrib["num"], int(interaction.attrib["num"])): [
            str(result.findtext("clueweb12id")) for result in interaction.iterfind("results/result")
        ]
        for session in root
        for interaction in session.iterfind("interaction")
    }
    assert (len(found), len(found.lists.query_ids), len(found.lists)) == (133, 401, 4449)
    assert lists_of(found) == expected
    topics = {session.attrib["num"]: topic.attrib["num"] for session in root for topic in session.iterfind("topic")}
    assert dict(zip(found.ids, found.topics, strict=True)) == {s: topic.encode() for s, topic in topics.items()}
    texts = [
        str(interaction.findtext("query")).strip()
        for session in sorted(root, key=lambda session: session.attrib["num"])
        for interaction in session.iterfind("interaction")
    ]
    assert list(found.texts) == texts
    parts = list(Sessions.read_parts(path, size=50))
    assert [len(part) for part in parts] == [50, 50, 33]


@pytest.mark.parametrize("name", CAST_RUNS)
def test_the_conversations_of_cast_2021(shared_data: Path, name: str) -> None:
    path = shared_data / "cast2021" / "runs" / f"{name}.run.gz"
    expected: dict[tuple[str, int], list[str]] = {}
    for line in gzip.decompress(path.read_bytes()).decode().splitlines():
        query, _, document, *_ = line.split()
        session, turn = query.rsplit("_", 1)
        expected.setdefault((session, int(turn)), []).append(document)
    found = Sessions.read(path)
    assert lists_of(found) == expected
    assert found.lists.queries == [f"{session}_{turn}" for session, turn in sorted(expected)]
    # Judgments are by turn, and name turns as the runs do.
    judged = Qrels.read(shared_data / "cast2021" / "qrels.cast2021-docs.txt").queries
    assert len(judged) == 158
    assert set(judged) < set(found.lists.queries)


def test_its_sessions_compared(shared_data: Path) -> None:
    """36 sessions, given to two systems by turns: the page's numbers are those of SciPy on the same scores."""
    folder = shared_data / "sessions"
    with (folder / "session.tsv").open(encoding="utf-8", newline="") as file:
        rows = sorted(csv.DictReader(file, delimiter="\t"), key=lambda row: row["SessionID"])
    whole = Sessions.read(folder / "results.tsv").with_topics(str(folder / "session.tsv"))
    halves = {name: [row["SessionID"] for row in rows[i::2]] for i, name in enumerate(("even", "odd"))}
    parts = {name: whole.select(ids) for name, ids in halves.items()}
    evaluations = evaluate_sessions(folder / "qrels.tsv", parts, "nsDCG@10", judged_by="session")
    values = [list(evaluation.by_query("nsDCG@10").values()) for evaluation in evaluations.values()]
    result = compare(evaluations, test="welch").unpaired["nsDCG@10"]
    theirs = stats.ttest_ind(values[1], values[0], equal_var=False)
    assert result.pairs[0].p == pytest.approx(theirs.pvalue, rel=1e-9) and result.pairs[0].n == 36
    by_labels = compare(evaluations).unpaired["nsDCG@10"].pairs[0]
    topics = [{row["Topic"] for row in rows[i::2]} for i in (0, 1)]
    assert by_labels.topics == len(topics[0] & topics[1]) and by_labels.test.draws == 10_000
    table = compare(evaluations, procedure="anova").unpaired["nsDCG@10"].anova
    assert table is not None and set(table.effects) == {"system", "topic", "user"}
