"""Real sessions: the log of TREC's Session Track 2013, and a user study with unpaired sessions."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path
from xml.etree import ElementTree

import pytest
from scipy import stats

from gainful import Sessions, compare, evaluate_sessions
from tests.io.session_samples import plain_of


def test_the_log_of_2013(shared_data: Path) -> None:
    path = shared_data / "session-track-2013" / "sessiontrack2013.xml.gz"
    found = Sessions.read(path)
    root = ElementTree.fromstring(gzip.decompress(path.read_bytes()))
    expected = {
        session.attrib["num"]: [
            [str(result.findtext("clueweb12id")) for result in interaction.iterfind("results/result")]
            for interaction in session.iterfind("interaction")
        ]
        for session in root
    }
    assert (len(found), len(found.lists.query_ids), len(found.lists)) == (133, 401, 4449)
    assert plain_of(found) == expected
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
