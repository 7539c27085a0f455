"""Side tables: lines end in LF, CR LF or CR, and only ASCII blanks around fields are removed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from gainful.data.exclusion import Exclusion
from gainful.data.items import Items
from gainful.data.queries import Queries, read_ids
from gainful.data.sessions import Sessions
from gainful.evaluation.score_files import read_scores
from gainful.io.records import read_intents, read_ratings, read_topics
from gainful.notation import text_of_id
from gainful.tasks.compare.factors import read_factors
from gainful.tasks.compare.several_systems import read_groups
from gainful.tasks.report.page_data import DocumentTitles

#: Python splits lines or strips texts at each of these characters.
NO_BLANKS = "\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2003\u2028\u2029\u3000"
IDS = [text for each in NO_BLANKS for text in (f"a{each}b", f"{each}a", f"a{each}")]


def texts(*ids: Iterable[bytes]) -> list[str]:
    return [text_of_id(each) for some in ids for each in some]


def scores(content: bytes) -> list[str]:
    [found] = read_scores(content, None, None, {"q9"}, any_measure=True)
    return list(next(iter(found.scores.values())))


def groups(content: bytes) -> list[str]:
    Path("groups.txt").write_bytes(content)
    return [text for name, systems in read_groups(["groups.txt"]).items() for text in (name, *systems)]


def sessions(content: bytes) -> list[str]:
    found = Sessions.read(content)
    return [*texts(found.session_ids), *found.texts]


#: By table its lines, in which ID stands for an id or a text, and what is read from it.
TABLES: dict[str, tuple[list[str], Callable[[bytes], list[str]]]] = {
    "ids": (["ID", "q9"], lambda table: read_ids(table, "exclude")),
    "ids with texts": (["q1\tID", "q9"], lambda table: [str(Queries(table).text("q1")), *read_ids(table, "exclude")]),
    "queries, commas": (["# made by hand", "kind,qid", "long,ID"], lambda table: read_ids(table, "only")),
    "queries, tabs": (["qid\tkind", "ID\tlong"], lambda table: read_ids(table, "only")),
    "segments": (["qid;kind", "q1;ID"], lambda table: list(Queries(table).segments("kind", ["q1"]))),
    "items": (["item,genre", "ID,film"], lambda table: texts(Items(table).ids)),
    "ratings": (["session,rated", "ID,3"], lambda table: list(read_ratings(table, "rated"))),
    "topics": (
        ["session,user,topic", "ID,ID,ID"],
        lambda table: [text for found in read_topics(table) for text in texts(found, found.values())],
    ),
    "intents": (
        ["query,subtopic,probability", "ID,ID,0.5"],
        lambda table: texts(read_intents(table, {}), *read_intents(table, {}).values()),
    ),
    "intents without a header": (
        ["ID ID 0.5 navigational"],
        lambda table: texts(read_intents(table, {}), *read_intents(table, {}).values()),
    ),
    "factors": (
        ["system,stem", "ID,ID"],
        lambda table: [*read_factors(table)["stem"], *read_factors(table)["stem"].values()],
    ),
    "groups": (["# made by hand", "ID=ID,bm25", "new=dense"], groups),
    "scores by row": (["query,one,two", "ID,0.5,0.25", "q9,0,0"], scores),
    "scores by run": (["run,query,AP", "one,ID,0.5"], scores),
    "titles": (["docno,title", "ID,high"], lambda table: list(DocumentTitles(table, {})._titles)),
    # The core reads these, and JSON; a CR alone is refused there.
    "scores in JSON lines": (['{"run": "one", "query": "ID", "measure": "AP", "value": 0.5}'], scores),
    "queries in JSON lines": (['{"qid": "ID", "kind": "long"}'], lambda table: read_ids(table, "only")),
    "excluded documents": (["user,item", "ID,d1"], lambda table: texts(Exclusion.of(table)._place)),
    "excluded run": (["ID Q0 d1 1 0.5 t"], lambda table: texts(Exclusion.of(table)._place)),
    "session table": (["session,query,rank,document", "ID,1,1,d1"], sessions),
    "session log": (["session,time,text,document", "ID,1,ID,d1"], sessions),
    "session track": (
        [
            '<log><session num="ID"><interaction num="1"><query>ID</query><results><result>',
            "<docno>d1</docno></result></results></interaction></session></log>",
        ],
        sessions,
    ),
}
OF_LINES = list(TABLES)[: list(TABLES).index("scores in JSON lines")]


@pytest.mark.parametrize("table", TABLES)
def test_only_lf_cr_and_ascii_blanks_separate(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines, read = TABLES[table]
    content = "\n".join([*lines, ""])
    plain = read(content.replace("ID", "plain").encode())
    assert "plain" in plain
    # XML has no control characters, and JSON escapes them.
    control = "\x1f" if "JSON" in table or "track" in table else ""
    for text in (each for each in IDS if each.strip("ab") > control):
        assert read(content.replace("ID", text).encode()) == [text if each == "plain" else each for each in plain]
    if table in OF_LINES:
        assert read(content.replace("ID", " plain ").encode()) == plain
        assert read(content.replace("ID", "plain").replace("\n", "\r").encode()) == plain
    assert read(content.replace("ID", "plain").replace("\n", "\r\n").encode()) == plain
